// What the simulator found.
#include "core/message/callback.h"
#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

Limits small_windows() {
  Limits small;
  small.lane_window_max = 2;
  small.lane_window_min = 2;
  return small;
}

TEST(PullEdges, DeadLetterQueuesInACircleComeToAnEnd) {
  PullRig rig;
  rig.make("q", {.dead_letters_to = "q", .receives_max = 1});
  rig.send("q", "a");
  rig.receive("q", 1, second);
  rig.pass(second);

  EXPECT_EQ(rig.receive("q", 1, second), (Bodies{"a"}));
  EXPECT_EQ(rig.last["a"].message->pull->receives_before + rig.last["a"].receive, 2U);
}

TEST(PullEdges, APurgeFindsWhatIsDueBehindNewerMessages) {
  Limits limits;
  limits.sweeps_per_batch = 1;
  PullRig rig(limits);
  rig.make("q");
  rig.send("q", "old");
  Publish late = PullRig::sending("q", "late");
  late.delay = 60 * second;
  rig.run(std::move(late));
  rig.run(PurgeQueue{tenant_one, "q"}, PullRig::sending("q", "new"));
  for (int i = 0; i < 10; ++i) {
    rig.pass(10 * second);
    rig.run();
  }

  EXPECT_EQ(rig.receive("q"), (Bodies{"new"}));
  EXPECT_EQ(rig.counts().canceled, 2U);
}

TEST(PullEdges, ALaneThatGoesAwayHandsItsTurnOn) {
  Limits limits;
  limits.sweeps_per_batch = 1;
  PullRig rig(limits);
  rig.make("q", {.fifo = true});
  for (const char* body : {"1", "2", "3"}) {
    rig.send("q", body, body);
  }
  rig.run(PurgeQueue{tenant_one, "q"});
  const MessageId first = rig.send("q", "a", "ga");
  rig.send("q", "b", "gb");
  EXPECT_EQ(rig.receive("q"), Bodies{});  // both wait for the end of the purge
  for (int i = 0; i < 10; ++i) {
    rig.pass(second);
    rig.run();
  }
  rig.run(CancelMessage{tenant_one, first});

  EXPECT_EQ(rig.receive("q"), (Bodies{"b"}));
}

TEST(PullEdges, NothingBeyondTheWindowOvertakesWhatIsNotReadYet) {
  PullRig rig(small_windows());
  rig.make("q", {.fifo = true});
  const Bodies sent{"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::string& body : sent) {
    rig.send("q", body, "g");
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    rig.receive("q", 10, Millis{0});  // what was received before stays in memory: more each time
  }
  ASSERT_EQ(rig.receive("q", 10, 60 * second), sent);
  rig.restart();
  const auto receipts = [&](const Bodies& bodies) {
    std::vector<Receipt> list;
    for (const std::string& body : bodies) {
      list.push_back(rig.receipts.at(body));
    }
    return list;
  };
  // All in one batch: nothing is read in between.
  const Ran ran =
      rig.run(ChangeVisibility{tenant_one, "q", {{rig.receipts.at("h"), Millis{0}}}},
              DeleteReceived{tenant_one, "q", receipts({"a", "b", "c", "d"})}, rig.asking("q", 10));
  EXPECT_EQ(rig.take(ran), Bodies{});
  EXPECT_EQ(rig.receive("q"), Bodies{});
  rig.run(DeleteReceived{tenant_one, "q", receipts({"e", "f", "g"})});
  EXPECT_EQ(rig.receive("q"), (Bodies{"h"}));
}

TEST(PullEdges, YoungMessagesBeyondTheWindowKeepTheirOrderInARestart) {
  Limits limits = small_windows();
  limits.meta_every_messages = 1;
  PullRig rig(limits);
  rig.make("q", {.fifo = true});
  Bodies sent;
  for (int i = 0; i < 9; ++i) {
    sent.push_back(std::to_string(i));
    rig.send("q", sent.back(), "g");
    if (i == 6) {
      rig.pass(limits.index_after);
      rig.run();  // these are in the index now, as the next start knows
    }
  }
  rig.restart();
  Bodies got;
  for (int i = 0; i < 30 && got.size() < sent.size(); ++i) {
    for (const std::string& body : rig.receive("q", 1)) {
      got.push_back(body);
      EXPECT_TRUE(rig.remove("q", body).has_value());
    }
  }
  EXPECT_EQ(got, sent);
}

TEST(PullEdges, AnExpiredReceiptHidesItsMessageAgainAfterARestart) {
  PullRig rig;
  rig.pass(std::chrono::hours{24});
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q", 1, second);
  rig.pass(2 * second);
  rig.restart();

  EXPECT_TRUE(rig.hide("q", "a", 10 * second).has_value());
  EXPECT_EQ(rig.receive("q"), Bodies{});
}

TEST(PullEdges, AReceiptOfAFifoQueueIsOverAtItsEndWhoeverLooksFirst) {
  PullRig rig;
  rig.make("q", {.fifo = true});
  rig.send("q", "a", "g");
  rig.receive("q", 1, second);
  rig.pass(second);  // and nothing has happened since

  EXPECT_FALSE(rig.remove("q", "a").has_value());
}

TEST(PullEdges, AQueueThatIsMadeAgainKnowsNoIdsOfBefore) {
  PullRig rig;
  rig.make("q", {.fifo = true});
  const auto send = [&] {
    Publish one = PullRig::sending("q", "a", "g");
    one.message->dedup_id = "same";
    return rig.run(std::move(one)).only<Published>();
  };
  send();
  rig.run(DeleteQueueCommand{tenant_one, "q"});
  for (int i = 0; i < 5; ++i) {
    rig.pass(second);
    rig.run();
  }
  rig.make("q", {.fifo = true});

  EXPECT_FALSE(send().deduplicated);
}

TEST(PullEdges, AQueueThatIsMadeAgainOfTheOtherKindDoesNotTouchWhatItHad) {
  PullRig rig;
  rig.make("q", {.fifo = true});
  rig.send("q", "a", "g");
  rig.receive("q", 1);
  const Ran pushed =
      rig.run(DeleteQueueCommand{tenant_one, "q"}, Rig::publishing(queued("q", "g")));
  const Ran started = rig.run();
  ASSERT_EQ(pushed.starts.size() + started.starts.size(), 1U);
  const StartAttempt start = (pushed.starts.empty() ? started : pushed).starts.at(0);

  rig.run(DeleteQueueCommand{tenant_one, "q"}, CreatePullQueue{tenant_one, "q", {.fifo = true}});
  rig.run(Rig::outcome(start, false));
  rig.send("q", "b", "g");
  EXPECT_EQ(rig.receive("q"), (Bodies{"b"}));
  EXPECT_EQ(rig.counts().canceled, 1U);
  EXPECT_EQ(rig.counts().dead_letters, 1U);  // it was pushed, and failed
}

TEST(PullEdges, TheLastReceiveIsStoredWithItsNumberAfterARestart) {
  PullRig rig;
  rig.make("q");
  const MessageId id = rig.send("q", "a");
  rig.receive("q", 1, second);
  rig.pass(2 * second);
  rig.restart();
  EXPECT_TRUE(rig.remove("q", "a").has_value());

  EXPECT_EQ(rig.reader.get<MessageState>(id.seq)->last->fence.attempt, 1U);
}

TEST(FailureIntoAQueue, PutsWhatCouldNotBePushedWhereItCanBePulled) {
  PullRig rig;
  rig.make("dead");
  for (const char* queue : {"dead", "gone"}) {
    Message message = message_to("http://a", {Millis{10}});
    message.body = queue;
    message.failure_callback = Callback{.url = std::string(queue_scheme) + queue};
    Ran ran = rig.run(Rig::publishing(std::move(message)));
    ran = rig.run(Rig::outcome(ran.starts.at(0), false));
    EXPECT_EQ(rig.count("dead").visible, 0U) << "there is a retry yet";
    rig.pass(Millis{10});
    ran = rig.run();
    rig.run(Rig::outcome(ran.starts.at(0), false));
    rig.restart();
    EXPECT_EQ(rig.receive("dead"), (queue == std::string("dead") ? Bodies{"dead"} : Bodies{}));
    rig.run(DeleteReceived{tenant_one, "dead", {rig.receipts.at("dead")}});
  }
  EXPECT_EQ(rig.counts().failed, 2U) << "both are dead letters as well";
  EXPECT_EQ(rig.counts().dead_letters, 2U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
