#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

struct Fifo : ::testing::Test {
  Fifo() { rig.make("q", {.fifo = true}); }
  void send(std::initializer_list<const char*> bodies) {
    for (const std::string body : bodies) {
      rig.send("q", body, body.substr(0, 1));
    }
  }
  PullRig rig;
};

TEST_F(Fifo, FillsUpFromOneGroupBeforeTheNext) {
  send({"a1", "b1", "a2", "a3"});
  EXPECT_EQ(rig.receive("q"), (Bodies{"a1", "a2", "a3", "b1"}));
}

TEST_F(Fifo, AGroupWaitsForWhatIsOut) {
  send({"a1", "a2", "b1"});
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a1"}));
  EXPECT_EQ(rig.receive("q"), (Bodies{"b1"}));
  send({"a3"});
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_TRUE(rig.remove("q", "a1").has_value());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a2", "a3"}));
}

TEST_F(Fifo, TheThirdWaitsForBothThatWereTaken) {
  send({"a1", "a2", "a3"});
  EXPECT_EQ(rig.receive("q", 2), (Bodies{"a1", "a2"}));
  EXPECT_TRUE(rig.remove("q", "a1").has_value());
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_TRUE(rig.remove("q", "a2").has_value());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a3"}));
}

TEST_F(Fifo, TheFirstGivenBackGoesAgainWhileTheSecondIsOut) {
  send({"a1", "a2", "a3"});
  rig.receive("q", 2);
  EXPECT_TRUE(rig.hide("q", "a1", Millis{0}).has_value());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a1"}));
}

TEST_F(Fifo, TheSecondGivenBackWaitsForTheFirst) {
  send({"a1", "a2"});
  rig.receive("q", 2);
  EXPECT_TRUE(rig.hide("q", "a2", Millis{0}).has_value());
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_TRUE(rig.remove("q", "a1").has_value());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a2"}));
}

TEST_F(Fifo, AnExtendedSecondHoldsBackTheThird) {
  send({"a1", "a2", "a3"});
  rig.receive("q", 3, second);
  EXPECT_TRUE(rig.hide("q", "a2", 5 * second).has_value());
  rig.pass(second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"a1"}));
}

TEST_F(Fifo, OrderIsAsBeforeWhenTheTimeoutPasses) {
  send({"a1", "a2", "a3"});
  rig.receive("q", 2, second);
  rig.pass(second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"a1", "a2", "a3"}));
}

TEST_F(Fifo, OrderIsAsBeforeAfterARestart) {
  send({"a1", "a2", "a3", "b1"});
  rig.receive("q", 2, 10 * second);
  rig.pass(second);
  rig.restart();
  EXPECT_EQ(rig.receive("q"), (Bodies{"b1"}));
  rig.pass(9 * second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"a1", "a2", "a3"}));
}

TEST_F(Fifo, WithoutHidingTheSameGoOutAgain) {
  send({"a1", "a2"});
  EXPECT_EQ(rig.receive("q", 10, Millis{0}), (Bodies{"a1", "a2"}));
  EXPECT_EQ(rig.receive("q", 10, Millis{0}), (Bodies{"a1", "a2"}));
  EXPECT_EQ(rig.last["a1"].receive, 2U);
}

TEST(DeadLetterQueue, TakesWhatWasReceivedTooOften) {
  PullRig rig;
  rig.make("dead");
  rig.make("q", {.dead_letters_to = "dead", .receives_max = 2});
  const MessageId id = rig.send("q", "a");
  rig.send("q", "b");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.receive("q", 1, second).size(), 1U);
    rig.pass(second);
  }
  rig.receive("q", 10, second);
  rig.pass(second);
  rig.receive("q", 10, second);
  rig.pass(second);

  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.receive("dead"), (Bodies{"a", "b"}));
  const Received::One& dead = rig.last["a"];
  EXPECT_EQ(dead.message->pull->first_id, id);
  EXPECT_EQ(dead.message->pull->moved_from, "q");
  EXPECT_EQ(dead.message->pull->receives_before + dead.receive, 3U);
  EXPECT_EQ(rig.counts().dead_letters, 0U);
  EXPECT_TRUE(rig.remove("dead", "a").has_value());
}

TEST(DeadLetterQueue, KeepsTheOrderOfAGroupAndLetsItGoOn) {
  PullRig rig;
  rig.make("dead", {.fifo = true});
  rig.make("q", {.fifo = true, .dead_letters_to = "dead", .receives_max = 1});
  rig.send("q", "a1", "g");
  rig.send("q", "a2", "g");
  rig.receive("q", 2, second);
  rig.send("q", "a3", "g");
  rig.pass(second);

  EXPECT_EQ(rig.receive("q"), (Bodies{"a3"}));
  EXPECT_EQ(rig.receive("dead"), (Bodies{"a1", "a2"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
