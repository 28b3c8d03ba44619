#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

TEST(Pull, IsHandedOutInTheOrderSentAndHiddenMeanwhile) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.send("q", "b");
  rig.send("q", "c");

  EXPECT_EQ(rig.receive("q", 2), (Bodies{"a", "b"}));
  EXPECT_EQ(rig.receive("q", 2), (Bodies{"c"}));
  EXPECT_EQ(rig.receive("q", 2), Bodies{});
  EXPECT_EQ(rig.count("q").in_flight, 3U);

  EXPECT_TRUE(rig.remove("q", "b").has_value());
  rig.pass(30 * second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"a", "c"}));
  EXPECT_EQ(rig.last["a"].receive, 2U);
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST(Pull, AReceiverWaitsAndIsWokenByTheFirstMessage) {
  PullRig rig;
  rig.make("q");
  EXPECT_TRUE(rig.run(rig.asking("q", 10, {}, 20 * second)).handed_out.empty());
  EXPECT_TRUE(rig.run(rig.asking("q", 10, {}, 20 * second)).handed_out.empty());
  rig.pass(second);

  const Ran one = rig.run(PullRig::sending("q", "a"));
  ASSERT_EQ(one.handed_out.size(), 1U);  // one message wakes one of them: who came first
  EXPECT_EQ(one.handed_out[0].receiver, ReceiverId{1});

  const Ran both = rig.run(PullRig::sending("q", "b"), PullRig::sending("q", "c"));
  ASSERT_EQ(both.handed_out.size(), 1U);
  EXPECT_EQ(both.handed_out[0].receiver, ReceiverId{2});
  EXPECT_EQ(both.handed_out[0].messages.size(), 2U);
}

TEST(Pull, AWaitThatIsOverIsAnsweredWithNothing) {
  Limits limits;
  limits.expiry_poll = 60 * second;
  PullRig rig(limits);
  rig.make("q");
  rig.run(rig.asking("q", 1, {}, 5 * second));
  EXPECT_EQ(rig.machine->wake_at(), rig.now + 5 * second);
  rig.pass(5 * second);

  const Ran ran = rig.run();

  ASSERT_EQ(ran.handed_out.size(), 1U);
  EXPECT_TRUE(ran.handed_out[0].messages.empty());
  rig.run(PullRig::sending("q", "a"));
  EXPECT_EQ(rig.count("q").visible, 1U);
}

TEST(Pull, ADrainEndsEveryWaitAndHandsNothingOut) {
  PullRig rig;
  rig.make("q");
  rig.make("other");
  rig.send("q", "held");
  rig.receive("q");
  rig.run(rig.asking("q", 1, {}, 20 * second));
  rig.run(rig.asking("other", 1, {}, 20 * second));
  rig.machine->stop_starting();
  EXPECT_LE(*rig.machine->wake_at(), rig.now) << "nobody need come for that";

  const Ran ended = rig.run();

  ASSERT_EQ(ended.handed_out.size(), 2U);
  EXPECT_TRUE(ended.sent_away.empty());
  for (const Received& one : ended.handed_out) {
    EXPECT_TRUE(one.messages.empty());
  }
  EXPECT_GT(*rig.machine->wake_at(), rig.now) << "and it does not spin";

  rig.send("q", "new");
  EXPECT_EQ(rig.receive("q"), Bodies{});
  const Ran waits = rig.run(rig.asking("q", 1, {}, 20 * second));
  ASSERT_EQ(waits.handed_out.size(), 1U) << "it is told at once";
  EXPECT_TRUE(waits.handed_out[0].messages.empty());
  EXPECT_GT(*rig.machine->wake_at(), rig.now);

  EXPECT_TRUE(rig.remove("q", "held").has_value()) << "what is out can be settled";
  EXPECT_EQ(rig.counts().succeeded, 1U);
  rig.restart();
  EXPECT_EQ(rig.receive("q"), (Bodies{"new"}));
}

TEST(Pull, ADrainGivesNothingASecondTimeEither) {
  PullRig rig;
  rig.make("q.fifo", {.fifo = true});
  rig.send("q.fifo", "a", "g");
  Receive again = rig.asking("q.fifo", 1);
  again.attempt_id = "once";
  EXPECT_EQ(rig.take(rig.run(again)), (Bodies{"a"}));
  rig.machine->stop_starting();

  EXPECT_EQ(rig.take(rig.run(again)), Bodies{});
}

TEST(Pull, WhoWentAwayGetsNothing) {
  PullRig rig;
  rig.make("q");
  rig.run(rig.asking("q", 1, {}, 5 * second));
  rig.run(StopReceiving{tenant_one, "q", ReceiverId{1}});

  EXPECT_TRUE(rig.run(PullRig::sending("q", "a")).handed_out.empty());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
}

TEST(Pull, WhatNeverArrivedIsNotCounted) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q");
  rig.run(GiveBack{tenant_one, "q", ReceiverId{1}, {rig.receipts["a"]}});

  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
  EXPECT_EQ(rig.last["a"].receive, 1U);
}

TEST(Pull, ADelayedMessageHoldsUpNobody) {
  PullRig rig;
  rig.make("q", {.delay = 3 * second});
  rig.send("q", "late");
  Publish now = PullRig::sending("q", "now");
  now.delay = Millis{1};
  now.own_delay = true;
  rig.run(std::move(now));
  rig.pass(Millis{1});

  EXPECT_EQ(rig.receive("q"), (Bodies{"now"}));
  rig.pass(3 * second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"late"}));
}

TEST(Pull, ReceiptsFollowTheTable) {
  struct Row {
    const char* name;
    bool fifo;
    Millis wait;
    bool received_again;
    bool removed;  ///< by the first receipt
    bool remove_ok;
    bool hide_ok;
  };
  const Row rows[] = {
      {"in flight", false, {}, false, true, true, true},
      {"timeout passed, standard", false, 31 * second, false, true, true, true},
      {"timeout passed, FIFO", true, 31 * second, false, false, false, false},
      {"received again since", false, 31 * second, true, false, true, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    for (const bool removing : {true, false}) {
      PullRig rig;
      rig.make("q", {.fifo = row.fifo});
      rig.send("q", "a", row.fifo ? "g" : "");
      rig.receive("q");
      const Receipt first = rig.receipts["a"];
      rig.pass(row.wait);
      rig.run();
      if (row.received_again) {
        rig.receive("q");
        rig.receipts["a"] = first;
      }
      if (removing) {
        EXPECT_EQ(rig.remove("q", "a").has_value(), row.remove_ok);
        EXPECT_EQ(rig.counts().succeeded, row.removed ? 1U : 0U);
      } else {
        EXPECT_EQ(rig.hide("q", "a", 60 * second).has_value(), row.hide_ok);
      }
    }
  }
}

TEST(Pull, AMessageThatIsGoneCanBeDeletedButNotHidden) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q");
  EXPECT_TRUE(rig.remove("q", "a").has_value());

  EXPECT_TRUE(rig.remove("q", "a").has_value());
  EXPECT_FALSE(rig.hide("q", "a", second).has_value());
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST(Pull, HidingBeginsNowAndZeroGivesBack) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q", 1, 10 * second);
  rig.pass(9 * second);
  EXPECT_TRUE(rig.hide("q", "a", 10 * second).has_value());
  rig.pass(9 * second);
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_TRUE(rig.hide("q", "a", Millis{0}).has_value());
  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
  EXPECT_FALSE(rig.hide("q", "a", std::chrono::hours{13}).has_value());
}

TEST(Pull, LeasesCountsAndFirstTimesSurviveARestart) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.send("q", "b");
  const Moment first = rig.now;
  rig.receive("q", 1, 20 * second);
  rig.pass(5 * second);
  rig.restart();

  EXPECT_EQ(rig.receive("q"), (Bodies{"b"}));
  EXPECT_EQ(rig.count("q").in_flight, 2U);
  rig.pass(15 * second);
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"a"}));
  EXPECT_EQ(rig.last["a"].receive, 2U);
  EXPECT_EQ(rig.last["a"].first_received_at, first);
  rig.restart();
  EXPECT_TRUE(rig.remove("q", "a").has_value());
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST(Pull, AReceiptWorksBeyondTheWindowAfterARestart) {
  Limits small;
  small.lane_window_max = 2;
  small.lane_window_min = 2;
  PullRig rig(small);
  rig.make("q");
  for (const char* body : {"a", "b", "c", "d", "e", "f"}) {
    rig.send("q", body);
  }
  Bodies all;
  for (int i = 0; i < 6; ++i) {
    for (const std::string& body : rig.receive("q", 1, 60 * second)) {
      all.push_back(body);
    }
  }
  EXPECT_EQ(all, (Bodies{"a", "b", "c", "d", "e", "f"}));
  rig.pass(second);
  rig.run();
  rig.restart();

  EXPECT_TRUE(rig.remove("q", "f").has_value());
  EXPECT_EQ(rig.counts().succeeded, 1U);
  EXPECT_EQ(rig.receive("q"), Bodies{});
}

TEST(Pull, WhatIsTooOldIsNeverHandedOut) {
  PullRig rig;
  rig.make("q", {.retention = 60 * second});
  rig.send("q", "a");
  rig.pass(60 * second);

  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.counts().canceled, 1U);
}

TEST(Pull, WhatNobodyAsksForIsForgottenWhenItIsTooOld) {
  PullRig rig;
  rig.make("q", {.retention = 60 * second});
  rig.send("q", "a");
  rig.pass(second);
  rig.run();
  rig.pass(120 * second);
  rig.run();
  rig.run();

  EXPECT_EQ(rig.counts().canceled, 1U);
  EXPECT_EQ(rig.counts().pending, 0U);
}

TEST(Pull, APurgeLeavesNothingAndForgetsDedupIds) {
  PullRig rig;
  rig.make("q", {.fifo = true});
  const auto send = [&] {
    Publish one = PullRig::sending("q", "a", "g");
    one.message->dedup_id = "same";
    return rig.run(std::move(one)).only<Published>();
  };
  send();
  EXPECT_TRUE(send().deduplicated);
  rig.send("q", "b", "h");
  rig.receive("q", 1);
  rig.run(PurgeQueue{tenant_one, "q"});
  rig.run();
  rig.run();

  EXPECT_EQ(rig.counts().canceled, 2U);
  EXPECT_FALSE(send().deduplicated);
  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
}

TEST(Pull, ADeletedQueueEndsTheWaitsAndItsMessages) {
  PullRig rig;
  rig.make("q");
  rig.make("other");
  rig.run(rig.asking("q", 1, {}, 20 * second));
  const Ran ran = rig.run(DeleteQueueCommand{tenant_one, "q"});

  ASSERT_EQ(ran.sent_away.size(), 1U);
  EXPECT_EQ(ran.sent_away[0].kind, ErrorKind::not_found);
  const Ran refused = rig.run(PullRig::sending("q", "a"));
  EXPECT_EQ(refused.replies.at(0).error().kind, ErrorKind::not_found);
}

TEST(Pull, PushAndPullDoNotMix) {
  PullRig rig;
  rig.make("q");
  EXPECT_EQ(rig.run(Rig::publishing(queued("q"))).replies.at(0).error().kind, ErrorKind::conflict);
  rig.publish(queued("pushed"));
  EXPECT_EQ(rig.run(PullRig::sending("pushed", "a")).replies.at(0).error().kind,
            ErrorKind::conflict);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
