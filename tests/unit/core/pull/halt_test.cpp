#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};
using Action = ResolveHalted::Action;

/// A group that has stopped at its first message; with and without restarts, in small windows.
struct Halt : ::testing::TestWithParam<bool> {
  Halt() {
    rig.make("dead", {.fifo = true});
    rig.make("q", {.fifo = true, .dead_letters_to = "dead", .receives_max = 2, .halt = true});
    for (const char* body : {"a1", "a2", "a3", "a4"}) {
      ids[body] = rig.send("q", body, "a");
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(rig.receive("q", 1, second), (Bodies{"a1"}));
      rig.pass(second);
    }
    rig.run();
    again();
  }
  void again() {
    if (GetParam()) {
      rig.restart();
      rig.run();
    }
  }
  std::vector<HaltedListed::One> list() {
    return rig.run(ListHalted{tenant_one, "q"}).only<HaltedListed>().messages;
  }
  Result<void> resolve(Action action, const std::string& group = "a",
                       std::optional<std::string> body = {}) {
    const Ran ran = rig.run(ResolveHalted{tenant_one, "q", group, action, std::move(body)});
    return ran.replies.at(0) ? Result<void>{} : std::unexpected(ran.replies[0].error());
  }
  static Limits small_windows() {
    Limits small;
    small.lane_window_max = 2;
    small.lane_window_min = 2;
    return small;
  }
  PullRig rig{small_windows()};
  std::map<std::string, MessageId> ids;
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutRestarts, Halt, ::testing::Bool());

TEST_P(Halt, AGroupStopsAndTheOthersGoOn) {
  rig.send("q", "b1", "b");
  EXPECT_EQ(rig.receive("q"), (Bodies{"b1"}));
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.count("dead").visible, 0U);

  const auto halted = list();
  ASSERT_EQ(halted.size(), 1U);
  EXPECT_EQ(halted[0].group, "a");
  EXPECT_EQ(halted[0].id, ids["a1"]);
  EXPECT_EQ(halted[0].receives, 2U);
  const auto first = rig.run(Inspect{tenant_one, ids["a1"]}).only<Inspected>();
  ASSERT_EQ(first.holds.size(), 1U);
  EXPECT_EQ(first.holds[0].gate, "halted");
  const auto second_one = rig.run(Inspect{tenant_one, ids["a2"]}).only<Inspected>();
  ASSERT_EQ(second_one.holds.size(), 1U);
  EXPECT_EQ(second_one.holds[0].gate, "order");
}

TEST_P(Halt, ARetryGoesOutAsOftenAgainAndOldReceiptsStayOver) {
  const Receipt old = rig.receipts["a1"];
  EXPECT_TRUE(resolve(Action::retry).has_value());
  again();
  EXPECT_TRUE(list().empty());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.receive("q", 1, second), (Bodies{"a1"}));
    EXPECT_GT(rig.receipts["a1"].receive, old.receive);
    rig.pass(second);
    rig.run();
    again();
  }
  EXPECT_EQ(rig.receive("q"), Bodies{});
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(list()[0].receives, 4U);
  EXPECT_TRUE(resolve(Action::retry).has_value());
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a1"}));
  EXPECT_TRUE(rig.remove("q", "a1").has_value());
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a2"}));
}

TEST_P(Halt, AnEditedMessageKeepsItsIdPlaceAndGroup) {
  EXPECT_TRUE(resolve(Action::retry, "a", "mended").has_value());
  again();
  EXPECT_TRUE(list().empty());
  const auto stored = rig.reader.get<Message>(ids["a1"].seq);
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->body, "mended");

  EXPECT_EQ(rig.receive("q", 2), (Bodies{"mended", "a2"}));
  EXPECT_EQ(rig.receipts["mended"].id, ids["a1"]);
  EXPECT_EQ(rig.receipts["mended"].receive, 3U);
  EXPECT_EQ(rig.last["mended"].message->group, "a");
  EXPECT_TRUE(rig.remove("q", "mended").has_value());
  EXPECT_EQ(rig.counts().accepted, 4U);
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST_P(Halt, AnEditedMessageThatFailsAgainIsADeadLetterAsItIsThen) {
  EXPECT_TRUE(resolve(Action::retry, "a", "mended").has_value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.receive("q", 1, second), (Bodies{"mended"}));
    rig.pass(second);
    rig.run();
    again();
  }
  EXPECT_TRUE(resolve(Action::skip).has_value());
  again();
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"mended"}));
}

TEST_P(Halt, ABodyThatCannotBeChangesNothing) {
  PullSettings settings = *rig.reader.get<Queue>({tenant_one, "q"})->pull;
  settings.bytes_max = 1024;
  rig.run(SetPullSettings{tenant_one, "q", settings}).only<Done>();

  EXPECT_EQ(resolve(Action::retry, "a", std::string(1025, 'x')).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(resolve(Action::skip, "a", "x").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(resolve(Action::retry, "b", "x").error().kind, ErrorKind::not_found);
  again();
  EXPECT_EQ(list().size(), 1U);
  EXPECT_TRUE(resolve(Action::retry).has_value());
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a1"}));
}

TEST_P(Halt, WhatIsSkippedIsADeadLetterAndTheGroupGoesOn) {
  EXPECT_TRUE(resolve(Action::skip).has_value());
  again();
  EXPECT_TRUE(list().empty());
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a2"}));
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a1"}));
  EXPECT_EQ(resolve(Action::skip).error().kind, ErrorKind::not_found);
}

TEST_P(Halt, WithoutADeadLetterQueueWhatIsSkippedIsCancelled) {
  rig.run(DeleteQueueCommand{tenant_one, "dead"});
  EXPECT_TRUE(resolve(Action::skip).has_value());
  again();
  EXPECT_EQ(rig.counts().canceled, 1U);
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a2"}));
}

TEST_P(Halt, ChangedSettingsLetAGroupGoOn) {
  const struct {
    const char* name;
    std::uint32_t receives_max;
    bool halt;
    Bodies given;
  } rows[] = {{"still", 2, true, {}}, {"more receives", 3, true, {"a1"}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    PullSettings settings = *rig.reader.get<Queue>({tenant_one, "q"})->pull;
    settings.receives_max = row.receives_max;
    settings.halt = row.halt;
    rig.run(SetPullSettings{tenant_one, "q", settings}).only<Done>();
    EXPECT_EQ(rig.receive("q", 1, second), row.given);
  }
  rig.pass(second);
  rig.run();
  EXPECT_EQ(list().size(), 1U);
  PullSettings settings = *rig.reader.get<Queue>({tenant_one, "q"})->pull;
  settings.halt = false;
  rig.run(SetPullSettings{tenant_one, "q", settings}).only<Done>();
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a2"}));
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a1"}));
}

TEST_P(Halt, ACancelLetsTheGroupGoOn) {
  rig.run(CancelMessage{tenant_one, ids["a1"]});
  again();
  EXPECT_TRUE(list().empty());
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a2"}));
}

TEST(DeadLetterQueue, ThatIsItsOwnGoesOnHandingOut) {
  PullRig rig;
  rig.make("q", {.dead_letters_to = "q", .receives_max = 1});
  rig.send("q", "a");
  for (std::uint32_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(rig.receive("q", 10, second), (Bodies{"a"}));
    const Received::One& one = rig.last["a"];
    EXPECT_EQ(one.message->pull->receives_before + one.receive, i);
    rig.pass(second);
  }
}

TEST_P(Halt, ARetryForgivesWhatWasReceivedHereAndNoMore) {
  rig.make("last", {.fifo = true, .receives_max = 1, .halt = true});
  rig.make("first", {.fifo = true, .dead_letters_to = "last", .receives_max = 3});
  rig.send("first", "x", "g");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.receive("first", 1, second), (Bodies{"x"}));
    rig.pass(second);
  }
  EXPECT_EQ(rig.receive("first", 1, second), Bodies{});  // it has moved on
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.receive("last", 1, second), (Bodies{"x"}));
    rig.pass(second);
    rig.run();
    again();
    EXPECT_EQ(rig.receive("last", 1, second), Bodies{});
    rig.run(ResolveHalted{tenant_one, "last", "g", Action::retry}).only<Done>();
  }
}

TEST_P(Halt, WithoutAMaximumAGroupStopsAfterAsManyReceivesAsTheServerHas) {
  rig.make("plain", {.fifo = true, .halt = true});
  rig.make("other", {.fifo = true});
  for (const char* queue : {"plain", "other"}) {
    rig.send(queue, queue, "g");
    for (std::uint32_t i = 0; i < Limits{}.halt_after; ++i) {
      EXPECT_EQ(rig.receive(queue, 1, second), (Bodies{queue})) << i;
      rig.pass(second);
      rig.run();
      again();
    }
  }
  EXPECT_EQ(rig.receive("plain", 1, second), Bodies{});
  EXPECT_EQ(rig.receive("other", 1, second), Bodies{"other"});
  EXPECT_EQ(rig.run(ListHalted{tenant_one, "plain"}).only<HaltedListed>().messages.size(), 1U);

  rig.run(ResolveHalted{tenant_one, "plain", "g", Action::retry}).only<Done>();
  again();
  for (std::uint32_t i = 0; i < Limits{}.halt_after; ++i) {
    EXPECT_EQ(rig.receive("plain", 1, second), Bodies{"plain"}) << i;
    rig.pass(second);
  }
  EXPECT_EQ(rig.receive("plain", 1, second), Bodies{});
}

TEST_P(Halt, WhatIsPurgedCannotBeSkippedIntoTheDeadLetterQueue) {
  const Ran ran = rig.run(PurgeQueue{tenant_one, "q"}, ListHalted{tenant_one, "q"},
                          ResolveHalted{tenant_one, "q", "a", Action::skip});
  EXPECT_TRUE(ran.replies.at(1)->get<HaltedListed>().messages.empty());
  EXPECT_FALSE(ran.replies.at(2).has_value());
  EXPECT_EQ(rig.count("dead").visible, 0U);
}

TEST_P(Halt, AMoveTaskDoesNotTakeWhatAGroupHasStoppedAtSinceTheSettingsChanged) {
  rig.make("late", {.fifo = true});
  rig.send("late", "x", "g");
  EXPECT_EQ(rig.receive("late", 1, second), (Bodies{"x"}));
  rig.pass(second);
  rig.run();
  rig.run(SetPullSettings{
      tenant_one, "late", {.fifo = true, .receives_max = 1, .halt = true, .version = 1}});
  rig.run(StartMoveTask{tenant_one, "late", "dead"}).only<TaskStarted>();
  for (int i = 0; i < 5; ++i) {
    rig.run();
  }
  EXPECT_EQ(rig.count("dead").visible, 0U);
  EXPECT_EQ(rig.run(ListHalted{tenant_one, "late"}).only<HaltedListed>().messages.size(), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
