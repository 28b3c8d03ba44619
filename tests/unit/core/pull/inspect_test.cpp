#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

std::vector<std::string> gates(const Inspected& inspected) {
  std::vector<std::string> names;
  for (const Hold& hold : inspected.holds) {
    names.push_back(hold.gate);
  }
  return names;
}

struct InspectPulled : ::testing::TestWithParam<bool> {
  Inspected inspect(MessageId id) {
    if (GetParam()) {
      rig.pass(second);
      rig.run();
      rig.restart();
    }
    return rig.run(Inspect{tenant_one, id}).only<Inspected>();
  }
  static Limits small_windows() {
    Limits small;
    small.lane_window_max = 2;
    small.lane_window_min = 2;
    return small;
  }
  PullRig rig{small_windows()};
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutRestarts, InspectPulled, ::testing::Bool());

using Gates = std::vector<std::string>;

TEST_P(InspectPulled, NobodyHasAskedForIt) {
  rig.make("q");
  MessageId last{};
  for (const char* body : {"a", "b", "c", "d"}) {
    last = rig.send("q", body);
  }
  EXPECT_EQ(gates(inspect(last)), (Gates{"waits_for_receiver"}));
}

TEST_P(InspectPulled, ItIsOut) {
  rig.make("q");
  const MessageId id = rig.send("q", "a");
  rig.receive("q", 1, 20 * second);
  const Moment until = rig.now + 20 * second;

  const Inspected inspected = inspect(id);

  EXPECT_TRUE(inspected.running);
  EXPECT_EQ(inspected.lease_until, until);
  ASSERT_EQ(gates(inspected), (Gates{"in_flight"}));
  EXPECT_EQ(inspected.holds[0].opens_at, until);
  EXPECT_TRUE(inspected.holds[0].detail.starts_with("receive 1"));
}

TEST_P(InspectPulled, ItIsNotDue) {
  rig.make("q", {.delay = 20 * second});
  const MessageId id = rig.send("q", "a");
  const Moment due = rig.now + 20 * second;

  const Inspected inspected = inspect(id);

  ASSERT_EQ(gates(inspected), (Gates{"delay"}));
  EXPECT_EQ(inspected.holds[0].opens_at, due);
}

TEST_P(InspectPulled, AnotherOneOfItsGroupIsOut) {
  rig.make("f", {.fifo = true});
  const MessageId first = rig.send("f", "a1", "g");
  for (const char* body : {"a2", "a3", "a4"}) {
    rig.send("f", body, "g");
  }
  const MessageId last = rig.send("f", "a5", "g");
  rig.receive("f", 1, 20 * second);

  const Inspected inspected = inspect(last);

  ASSERT_EQ(gates(inspected), (Gates{"order"}));
  EXPECT_NE(inspected.holds[0].detail.find(to_text(first)), std::string::npos);
}

TEST_P(InspectPulled, ItIsDone) {
  rig.make("q");
  const MessageId id = rig.send("q", "a");
  rig.receive("q");
  rig.remove("q", "a");
  EXPECT_TRUE(inspect(id).holds.empty());
}

TEST(CancelPulled, ItsReceiverIsToldApartFromWhatIsGone) {
  struct Row {
    const char* name;
    bool asked;
    bool timed_out;
    ErrorKind kind;
  };
  const Row rows[] = {
      {"cancelled while out", true, false, ErrorKind::conflict},
      {"cancelled when it was visible again", true, true, ErrorKind::conflict},
      {"purged", false, false, ErrorKind::invalid_argument},
      {"purged when it was visible again", false, true, ErrorKind::invalid_argument},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    PullRig rig;
    rig.make("q");
    const MessageId id = rig.send("q", "a");
    rig.receive("q", 1, 10 * second);
    rig.pass(row.timed_out ? 11 * second : second);
    rig.run();
    if (row.asked) {
      EXPECT_FALSE(rig.run(CancelMessage{tenant_one, id}).only<Canceled>().running);
    } else {
      rig.run(PurgeQueue{tenant_one, "q"});
      rig.run();
    }
    EXPECT_EQ(rig.counts().canceled, 1U);

    const Result<void> hidden = rig.hide("q", "a", second);
    ASSERT_FALSE(hidden.has_value());
    EXPECT_EQ(hidden.error().kind, row.kind);
    EXPECT_TRUE(rig.remove("q", "a").has_value());
    rig.restart();
    EXPECT_EQ(rig.hide("q", "a", second).error().kind, row.kind);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
