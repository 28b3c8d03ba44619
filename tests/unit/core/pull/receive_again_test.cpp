#include <functional>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

struct ReceiveAgain : ::testing::Test {
  ReceiveAgain() {
    rig.make("q", {.fifo = true});
    rig.send("q", "a1", "a");
    rig.send("q", "a2", "a");
    rig.send("q", "b1", "b");
  }
  Bodies receive(const std::string& attempt_id, std::uint32_t max = 2) {
    Receive asking = rig.asking("q", max, 30 * second);
    asking.attempt_id = attempt_id;
    return rig.take(rig.run(std::move(asking)));
  }
  PullRig rig;
};

TEST_F(ReceiveAgain, GivesTheSameWithTheSameReceiptsAndANewTime) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  const Receipt first = rig.receipts["a1"];
  rig.pass(20 * second);

  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));

  EXPECT_EQ(rig.receipts["a1"].id, first.id);
  EXPECT_EQ(rig.receipts["a1"].receive, first.receive);
  EXPECT_EQ(rig.last["a1"].visible_at, rig.now + 30 * second);
  rig.pass(20 * second);
  EXPECT_EQ(rig.count("q").in_flight, 2U);
  EXPECT_TRUE(rig.remove("q", "a1").has_value());
}

TEST_F(ReceiveAgain, IsNotTakenBackByTheAnswerThatWasLost) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  const std::vector<Receipt> lost{rig.receipts["a1"], rig.receipts["a2"]};
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));

  rig.run(GiveBack{tenant_one, "q", ReceiverId{1}, lost});

  EXPECT_EQ(rig.count("q").in_flight, 2U);
  EXPECT_EQ(receive("other"), (Bodies{"b1"}));
  rig.run(GiveBack{tenant_one, "q", ReceiverId{2}, lost});
  EXPECT_EQ(receive("other still"), (Bodies{"a1", "a2"}));
}

TEST_F(ReceiveAgain, GivesNothingThatWasPurgedMeanwhile) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  Receive again = rig.asking("q", 2, 30 * second);
  again.attempt_id = "once";
  EXPECT_EQ(rig.take(rig.run(PurgeQueue{tenant_one, "q"}, std::move(again))), Bodies{});
}

TEST_F(ReceiveAgain, IsOfWhatItHoldsAlsoWhileTheQueueIsPaused) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = true});
  EXPECT_EQ(receive("other"), Bodies{});
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  rig.pass(30 * second);
  EXPECT_EQ(receive("once"), Bodies{}) << "it holds nothing any more";
}

TEST_F(ReceiveAgain, IsANewReceiveOnceTheTimeIsOver) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  const std::uint32_t first = rig.receipts["a1"].receive;
  rig.pass(30 * second);
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  EXPECT_EQ(rig.receipts["a1"].receive, first + 1);
}

TEST_F(ReceiveAgain, IsAnOrdinaryReceiveIfSomethingHappenedMeanwhile) {
  const struct {
    const char* name;
    std::function<void(PullRig&)> happens;
    Bodies given;
  } rows[] = {
      {"deleted", [](PullRig& r) { EXPECT_TRUE(r.remove("q", "a1").has_value()); }, {"b1"}},
      {"hidden longer",
       [](PullRig& r) { EXPECT_TRUE(r.hide("q", "a1", 99 * second).has_value()); },
       {"b1"}},
      {"visible again", [](PullRig& r) { r.pass(31 * second); }, {"a1", "a2"}},
      {"restarted", [](PullRig& r) { r.restart(); }, {"b1"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    PullRig fresh;
    fresh.make("q", {.fifo = true});
    for (const std::string body : {"a1", "a2", "b1"}) {
      fresh.send("q", body, body.substr(0, 1));
    }
    const auto ask = [&] {
      Receive asking = fresh.asking("q", 2, 30 * second);
      asking.attempt_id = "once";
      return fresh.take(fresh.run(std::move(asking)));
    };
    EXPECT_EQ(ask(), (Bodies{"a1", "a2"}));
    row.happens(fresh);
    EXPECT_EQ(ask(), row.given);
  }
}

TEST_F(ReceiveAgain, AnotherIdOrNoneIsAnotherReceive) {
  EXPECT_EQ(receive("once"), (Bodies{"a1", "a2"}));
  EXPECT_EQ(receive(""), (Bodies{"b1"}));
  EXPECT_EQ(receive("twice"), Bodies{});
}

TEST_F(ReceiveAgain, IsForgottenAfterFiveMinutes) {
  Receive asking = rig.asking("q", 2, 3600 * second);
  asking.attempt_id = "once";
  rig.take(rig.run(asking));
  rig.pass(300 * second - Millis{1});
  EXPECT_EQ(receive("once").size(), 2U);
  rig.pass(Millis{1});
  EXPECT_EQ(receive("once"), (Bodies{"b1"}));
}

TEST(ReceiveAgainOfMany, TheOldestIdsAreForgotten) {
  Limits few;
  few.receive_attempts_max = 2;
  PullRig rig(few);
  rig.make("q", {.fifo = true});
  const auto ask = [&](const std::string& id) {
    Receive asking = rig.asking("q", 1);
    asking.attempt_id = id;
    return rig.take(rig.run(std::move(asking)));
  };
  for (const std::string body : {"a", "b", "c"}) {
    rig.send("q", body, body);
    EXPECT_EQ(ask(body), (Bodies{body}));
  }
  EXPECT_EQ(ask("c"), (Bodies{"c"}));
  EXPECT_EQ(ask("b"), (Bodies{"b"}));
  EXPECT_EQ(ask("a"), Bodies{});
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
