#include <gtest/gtest.h>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

const std::string hook = "http://h.example/x";

PullSettings pushing(std::uint32_t parallelism = 0, const std::string& url = hook) {
  PullSettings settings;
  settings.push = {.url = url, .parallelism = parallelism};
  return settings;
}

PullSettings in_order(PullSettings settings) {
  settings.fifo = true;
  return settings;
}

Bodies bodies(const Ran& ran) {
  Bodies all;
  for (const StartAttempt& start : ran.starts) {
    all.push_back(start.message->body);
  }
  return all;
}

struct PushRig : PullRig {
  using PullRig::PullRig;

  /// What is sent in one batch.
  Ran send_all(const std::string& queue, const Bodies& all, const std::string& group = {}) {
    PublishBatch batch;
    for (const std::string& body : all) {
      batch.items.push_back(sending(queue, body, group));
    }
    return run(std::move(batch));
  }
  Ran change(const std::string& queue, PullSettings settings) {
    settings.version = reader.get<Queue>({tenant_one, queue})->pull->version;
    return run(SetPullSettings{tenant_one, queue, std::move(settings)});
  }
  Ran end(const StartAttempt& start, bool delivered, std::optional<Millis> retry_after = {}) {
    CompleteAttempt report = outcome(start, delivered);
    report.retry_after = retry_after;
    return run(std::move(report));
  }
};

TEST(Push, SendsTheStoredMessageToTheUrlOfItsQueue) {
  PushRig rig;
  PullSettings settings = pushing();
  settings.visibility = Millis{60'000};
  rig.make("q", settings);
  const Ran ran = rig.run(PushRig::sending("q", "a", "g"));
  const MessageId id = ran.only<Published>().id;

  ASSERT_EQ(ran.starts.size(), 1U);
  const StartAttempt& start = ran.starts[0];
  EXPECT_EQ(start.id, id);
  EXPECT_EQ(start.tenant, tenant_one);
  EXPECT_EQ(start.fence, (Fence{rig.machine->epoch(), 1}));
  EXPECT_EQ(start.retried, 0U);
  EXPECT_EQ(start.message->body, "a");
  EXPECT_TRUE(start.message->url.empty());
  ASSERT_NE(start.to, nullptr);
  EXPECT_EQ(start.to->url, hook);
  EXPECT_EQ(start.to->host, "http://h.example");
  EXPECT_EQ(start.to->timeout, Millis{60'000});
  EXPECT_EQ(start.lease_until, rig.now + Millis{71'000});
  EXPECT_EQ(rig.count("q").in_flight, 1U);
  EXPECT_EQ(rig.machine->in_flight(), 1U);
}

TEST(Push, HasATimeoutBetweenASecondAndElevenHours) {
  const std::pair<Millis, Millis> rows[] = {{Millis{0}, Millis{1000}},
                                            {Millis{5000}, Millis{5000}},
                                            {std::chrono::hours{12}, std::chrono::hours{11}}};
  for (const auto& [visibility, timeout] : rows) {
    PushRig rig;
    PullSettings settings = pushing();
    settings.visibility = visibility;
    rig.make("q", settings);
    EXPECT_EQ(rig.run(PushRig::sending("q", "a")).starts.at(0).to->timeout, timeout);
  }
}

TEST(Push, HasNoMoreOnTheWireThanItsParallelism) {
  PushRig rig;
  rig.make("q", pushing(2));
  const Ran first = rig.send_all("q", {"a", "b", "c", "d"});
  EXPECT_EQ(bodies(first), (Bodies{"a", "b"}));
  EXPECT_TRUE(rig.run().starts.empty());
  const Ran second = rig.end(first.starts[1], true);
  EXPECT_EQ(bodies(second), Bodies{"c"});
  EXPECT_EQ(bodies(rig.end(first.starts[0], false)), Bodies{"d"});
  EXPECT_EQ(rig.machine->in_flight(), 2U);

  rig.make("r", pushing());
  EXPECT_EQ(rig.send_all("r", Bodies(12, "x")).starts.size(), 10U);
}

TEST(Push, WhatItWaitsForIsTold) {
  PushRig rig;
  rig.make("q", pushing(1));
  rig.send("q", "a");
  const MessageId second = rig.send("q", "b");
  const auto told = rig.run(Inspect{tenant_one, second}).only<Inspected>();
  ASSERT_EQ(told.holds.size(), 1U);
  EXPECT_EQ(told.holds[0].gate, "queue_parallelism");
  EXPECT_EQ(told.holds[0].detail, "q: 1 of 1 in flight");
}

TEST(Push, OfAFifoQueueOneOfEachGroupInOrder) {
  PushRig rig;
  rig.make("q", in_order(pushing()));
  const Ran a = rig.send_all("q", {"a1", "a2", "a3"}, "a");
  EXPECT_EQ(bodies(a), Bodies{"a1"});
  const Ran b = rig.send_all("q", {"b1", "b2"}, "b");
  EXPECT_EQ(bodies(b), Bodies{"b1"});
  const Ran failed = rig.end(a.starts[0], false);
  EXPECT_TRUE(failed.starts.empty());
  EXPECT_EQ(bodies(rig.end(b.starts[0], true)), Bodies{"b2"});
  rig.pass(Millis{1000});
  const Ran again = rig.run();
  EXPECT_EQ(bodies(again), Bodies{"a1"});
  EXPECT_EQ(again.starts[0].retried, 1U);
  EXPECT_EQ(bodies(rig.end(again.starts[0], true)), Bodies{"a2"});
}

TEST(Push, WhatIsDeliveredIsDeletedAndTheRestComesAgainLater) {
  PushRig rig;
  rig.make("q", pushing());
  Ran ran = rig.run(PushRig::sending("q", "a"));
  for (const std::int64_t seconds : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900}) {
    ASSERT_EQ(ran.starts.size(), 1U);
    EXPECT_TRUE(rig.end(ran.starts[0], false).starts.empty());
    EXPECT_EQ(rig.machine->in_flight(), 0U);
    EXPECT_EQ(rig.count("q").in_flight, 1U);
    rig.pass(Millis{seconds * 1000 - 1});
    EXPECT_TRUE(rig.run().starts.empty());
    rig.pass(Millis{1});
    ran = rig.run();
  }
  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].fence.attempt, 13U);
  rig.end(ran.starts[0], true);
  EXPECT_EQ(rig.count("q").in_flight, 0U);
  EXPECT_EQ(rig.counts().succeeded, 1U);
  EXPECT_EQ(rig.counts().attempts, 13U);
  EXPECT_EQ(rig.machine->in_memory(), 0U);
}

TEST(Push, AReceiverMayAskForAnotherTimeWithinBounds) {
  const std::pair<Millis, Millis> rows[] = {{Millis{7000}, Millis{7000}},
                                            {Millis{0}, Millis{0}},
                                            {std::chrono::hours{48}, std::chrono::hours{1}}};
  for (const auto& [asked, wait] : rows) {
    PushRig rig;
    rig.make("q", pushing());
    const Ran ran = rig.run(PushRig::sending("q", "a"));
    const Ran ended = rig.end(ran.starts.at(0), false, asked);
    if (wait == Millis{0}) {
      EXPECT_EQ(bodies(ended), Bodies{"a"});
      continue;
    }
    rig.pass(wait - Millis{1});
    EXPECT_TRUE(rig.run().starts.empty());
    rig.pass(Millis{1});
    EXPECT_EQ(bodies(rig.run()), Bodies{"a"});
  }
}

TEST(Push, CountsReceivesUntilItIsADeadLetter) {
  PushRig rig;
  rig.make("dead");
  PullSettings settings = pushing();
  settings.dead_letters_to = "dead";
  settings.receives_max = 2;
  rig.make("q", settings);
  Ran ran = rig.run(PushRig::sending("q", "a"));
  for (int i = 0; i < 2; ++i) {
    rig.end(ran.starts.at(0), false);
    rig.pass(Millis{2000});
    ran = rig.run();
  }
  EXPECT_TRUE(ran.starts.empty());
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  EXPECT_EQ(rig.receive("dead"), Bodies{"a"});
  EXPECT_EQ(rig.last["a"].message->pull->receives_before, 2U);
}

TEST(Push, StopsItsGroupWhereTheQueueHalts) {
  PushRig rig;
  PullSettings settings = in_order(pushing());
  settings.halt = true;
  settings.receives_max = 1;
  rig.make("q", settings);
  const Ran ran = rig.send_all("q", {"a", "b"}, "g");
  rig.end(ran.starts.at(0), false);
  rig.pass(Millis{1000});
  EXPECT_TRUE(rig.run().starts.empty());
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  EXPECT_EQ(rig.run(ListHalted{tenant_one, "q"}).only<HaltedListed>().messages.size(), 1U);
  EXPECT_EQ(bodies(rig.run(ResolveHalted{tenant_one, "q", "g", ResolveHalted::Action::retry})),
            Bodies{"a"});
}

TEST(Push, ALeaseThatRunsOutGivesItsPlaceBackAndIsPushedAgain) {
  PushRig rig;
  rig.make("q", pushing(1));
  const Ran ran = rig.send_all("q", {"a", "b"});
  rig.pass(ran.starts.at(0).lease_until - rig.now);
  const Ran again = rig.run();
  ASSERT_EQ(bodies(again), Bodies{"a"});
  EXPECT_EQ(again.starts[0].fence.attempt, 2U);
  EXPECT_EQ(rig.machine->in_flight(), 1U);

  const Ran late = rig.end(ran.starts[0], true);
  ASSERT_FALSE(late.replies.at(0).has_value());
  EXPECT_EQ(late.replies[0].error().kind, ErrorKind::conflict);
  EXPECT_EQ(bodies(rig.end(again.starts[0], true)), Bodies{"b"});
}

TEST(Push, ASecondOutcomeOfAFailedPushIsRefused) {
  PushRig rig;
  rig.make("q", pushing());
  const Ran ran = rig.run(PushRig::sending("q", "a"));
  rig.end(ran.starts.at(0), false);
  EXPECT_FALSE(rig.end(ran.starts[0], true).replies.at(0).has_value());
  EXPECT_EQ(rig.count("q").in_flight, 1U);
}

TEST(Push, ACrashIsOneMoreLeaseThatRunsOut) {
  PushRig rig;
  rig.make("q", pushing(1));
  const Ran ran = rig.run(PushRig::sending("q", "a"));
  rig.restart();
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  EXPECT_FALSE(rig.end(ran.starts.at(0), true).replies.at(0).has_value());
  EXPECT_EQ(bodies(rig.run(PushRig::sending("q", "b"))), Bodies{"b"});
  rig.pass(ran.starts[0].lease_until - rig.now);
  const Ran again = rig.run();
  ASSERT_EQ(again.starts.size(), 1U);
  EXPECT_GT(again.starts[0].fence.attempt, 1U);
}

TEST(Push, ChangesOfAQueueAreObeyed) {
  PushRig rig;
  rig.make("q");
  EXPECT_TRUE(rig.send_all("q", {"a", "b", "c", "d"}).starts.empty());
  const Ran first = rig.change("q", pushing(1, "http://one/x"));
  EXPECT_EQ(bodies(first), Bodies{"a"});

  const Ran second = rig.change("q", pushing(2, "http://two/x"));
  ASSERT_EQ(bodies(second), Bodies{"b"});  // the first one counts
  EXPECT_EQ(second.starts[0].to->url, "http://two/x");

  EXPECT_TRUE(rig.change("q", {}).starts.empty());
  EXPECT_TRUE(rig.end(first.starts[0], true).replies.at(0).has_value());
  EXPECT_TRUE(rig.end(second.starts[0], true).starts.empty());
  EXPECT_EQ(rig.receive("q", 1), Bodies{"c"});

  EXPECT_EQ(bodies(rig.change("q", pushing(1, "http://three/x"))), Bodies{"d"});
}

TEST(Push, APausedQueuePushesNothingUntilItGoesOn) {
  PushRig rig;
  rig.make("q", pushing());
  rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = true});
  EXPECT_TRUE(rig.run(PushRig::sending("q", "a")).starts.empty());
  EXPECT_EQ(bodies(rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = false})),
            Bodies{"a"});
}

TEST(Push, WhatIsGoneWithItsQueueGivesItsPlaceBack) {
  PushRig rig;
  rig.make("q", pushing(1));
  const Ran ran = rig.send_all("q", {"a", "b"});
  rig.pass(Millis{1000});
  rig.run();  // they have index entries
  rig.run(DeleteQueueCommand{tenant_one, "q"});
  rig.run();
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  EXPECT_EQ(rig.machine->pull_queues(), 0U);
  EXPECT_FALSE(rig.end(ran.starts.at(0), true).replies.at(0).has_value());

  rig.make("q", pushing(1));
  const Ran anew = rig.send_all("q", {"c", "d"});
  EXPECT_EQ(bodies(anew), Bodies{"c"});
  rig.pass(Millis{1000});
  rig.run();
  rig.run(PurgeQueue{tenant_one, "q"});
  rig.run();
  EXPECT_EQ(bodies(rig.run(PushRig::sending("q", "e"))), Bodies{"e"});
  EXPECT_EQ(rig.machine->in_flight(), 1U);
}

TEST(Push, OneThatIsCanceledOrDeletedGivesItsPlaceBack) {
  PushRig rig;
  rig.make("q", pushing(1));
  const Ran ran = rig.send_all("q", {"a", "b", "c"});
  const Ran second = rig.run(CancelMessage{tenant_one, ran.starts.at(0).id});
  ASSERT_EQ(bodies(second), Bodies{"b"});
  const Receipt receipt{second.starts[0].id, second.starts[0].fence.attempt};
  EXPECT_EQ(bodies(rig.run(DeleteReceived{tenant_one, "q", {receipt}})), Bodies{"c"});
  EXPECT_EQ(rig.machine->in_flight(), 1U);
}

TEST(Push, NothingIsLeasedForAUrlThatIsNotAllowedAnyMore) {
  PushRig rig;
  rig.make("q", pushing());
  rig.forbidden_url = hook;
  rig.restart();
  EXPECT_TRUE(rig.run(PushRig::sending("q", "a")).starts.empty());
  EXPECT_EQ(rig.receive("q", 10, Millis{0}), Bodies{"a"});
  rig.forbidden_url.clear();
  rig.restart();
  EXPECT_EQ(bodies(rig.run()), Bodies{"a"});
}

TEST(Push, AReceiverThatWaitsIsServedFirst) {
  PushRig rig;
  rig.make("q", pushing());
  rig.run(rig.asking("q", 1, {}, Millis{20'000}));
  const Ran ran = rig.send_all("q", {"a", "b"});
  EXPECT_EQ(rig.take(ran), Bodies{"a"});
  EXPECT_EQ(bodies(ran), Bodies{"b"});
}

TEST(Push, StartsNothingInADrainAndSettlesWhatIsOut) {
  PushRig rig;
  rig.make("q", pushing(1));
  const Ran ran = rig.send_all("q", {"a", "b"});
  rig.machine->stop_starting();
  const Ran ended = rig.end(ran.starts.at(0), true);
  EXPECT_TRUE(ended.replies.at(0).has_value());
  EXPECT_TRUE(ended.starts.empty());
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST(Push, PassesTheGateOfItsHostWithAllOtherAttempts) {
  Limits limits;
  limits.destination_parallelism = 2;
  PushRig rig(limits);
  rig.make("q", pushing());
  const Ran direct = rig.run(Rig::publishing(message_to("http://h.example")));
  ASSERT_EQ(direct.starts.size(), 1U);
  const Ran pushed = rig.send_all("q", {"a", "b"});
  EXPECT_EQ(bodies(pushed), Bodies{"a"});
  EXPECT_TRUE(rig.run(Rig::publishing(message_to("http://h.example"))).starts.empty());
  EXPECT_EQ(bodies(rig.end(pushed.starts[0], true)), Bodies{"b"});  // it has waited longer
  EXPECT_EQ(bodies(rig.end(direct.starts[0], true)), Bodies{"hello"});
  EXPECT_EQ(rig.machine->in_flight(), 2U);

  rig.make("other", pushing(10, "http://elsewhere/x"));
  EXPECT_EQ(rig.send_all("other", {"x", "y", "z"}).starts.size(), 2U);
}

TEST(Push, TakesTurnsWithOtherDeliveriesForThePlacesOfAll) {
  Limits limits;
  limits.global_parallelism = 1;
  PushRig rig(limits);
  rig.make("q", pushing());
  Ran ran = rig.run(Rig::publishing(message_to("http://other")));
  rig.run(Rig::publishing(message_to("http://other")));
  rig.run(Rig::publishing(message_to("http://other")));
  EXPECT_TRUE(rig.send_all("q", {"a", "b"}).starts.empty());
  Bodies order;
  for (int i = 0; i < 4; ++i) {
    ran = rig.end(ran.starts.at(0), true);
    ASSERT_EQ(ran.starts.size(), 1U);
    order.push_back(ran.starts[0].message->body);
  }
  EXPECT_EQ(order, (Bodies{"hello", "a", "hello", "b"}));
}

TEST(Push, ALargeBodyTakesSeveralPlaces) {
  Limits limits;
  limits.bytes_per_place = 10;
  PushRig rig(limits);
  rig.make("q", pushing());
  const Ran ran = rig.run(PushRig::sending("q", std::string(35, 'x')));
  EXPECT_EQ(rig.machine->places(), 4U);
  rig.end(ran.starts.at(0), false);
  EXPECT_EQ(rig.machine->places(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
