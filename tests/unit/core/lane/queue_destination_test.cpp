/// Queues keep their order and still respect what a destination can take.
#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Limits one_at_a_time() {
  Limits limits;
  limits.destination_parallelism = 1;
  return limits;
}

Message queued_to(std::string host, std::string queue, std::string group = {},
                  std::vector<Millis> waits = {}) {
  Message message = message_to(std::move(host), std::move(waits));
  message.queue = std::move(queue);
  message.group = std::move(group);
  return message;
}

TEST(QueueDestination, QueuesGroupsAndPlainMessagesShareTheSlotsOfAHost) {
  Limits limits;
  limits.destination_parallelism = 2;
  Rig rig(limits);

  const Ran ran =
      rig.run(Rig::publishing(queued_to("http://a", "q")),
              Rig::publishing(queued_to("http://a", "r", "g1")),
              Rig::publishing(queued_to("http://a", "r", "g2")),
              Rig::publishing(message_to("http://a")), Rig::publishing(queued_to("http://b", "s")));

  EXPECT_EQ(ran.started(), seqs({1, 2, 5}));
  const Ran next = rig.run(Rig::outcome(ran.starts.at(0), true));
  EXPECT_EQ(next.started(), seqs({3}));
  EXPECT_EQ(rig.run(Rig::outcome(next.starts.at(0), true)).started(), seqs({4}));
}

TEST(QueueDestination, TheHeadWaitsForItsHostAndNobodyOvertakesIt) {
  Rig rig(one_at_a_time());
  rig.run(UpsertQueue{tenant_one, "q", 3, {}});
  const Ran busy = rig.run(Rig::publishing(message_to("http://a")));
  EXPECT_TRUE(rig.run(Rig::publishing(queued_to("http://a", "q")),
                      Rig::publishing(queued_to("http://b", "q")))
                  .starts.empty());

  EXPECT_EQ(rig.run(Rig::outcome(busy.starts.at(0), true)).started(), seqs({2, 3}));
}

TEST(QueueDestination, ARetryKeepsItsSlotInTheQueueButNotAtTheHost) {
  Rig rig(one_at_a_time());
  const Ran first =
      rig.run(Rig::publishing(queued_to("http://a", "q", "", {Millis{100}})),
              Rig::publishing(queued_to("http://a", "q")), Rig::publishing(message_to("http://a")));
  ASSERT_EQ(first.started(), seqs({1}));

  const Ran other = rig.run(Rig::outcome(first.starts.at(0), false));
  EXPECT_EQ(other.started(), seqs({3}));
  rig.pass(Millis{100});
  EXPECT_TRUE(rig.run().starts.empty());  // the retry is due, the host is taken
  const Ran again = rig.run(Rig::outcome(other.starts.at(0), true));
  EXPECT_EQ(again.started(), seqs({1}));
  EXPECT_EQ(rig.run(Rig::outcome(again.starts.at(0), true)).started(), seqs({2}));
}

TEST(QueueDestination, ATurnIsNotLostWhenTheMessageThatWaitedIsCancelled) {
  // The freed slot wakes queue q; in the same batch, before q's turn comes, its head is cancelled.
  Rig rig(one_at_a_time());
  const Ran busy = rig.run(Rig::publishing(message_to("http://a")));
  const MessageId head = rig.publish(queued_to("http://a", "q"));
  rig.publish(queued_to("http://a", "r"));

  const Ran ran = rig.run(Rig::outcome(busy.starts.at(0), true), CancelMessage{tenant_one, head});

  EXPECT_EQ(ran.started(), seqs({3}));
}

TEST(QueueDestination, ATurnMayOutliveEverybodyWhoUsedTheDestination) {
  Rig rig(one_at_a_time());
  const Ran busy = rig.run(Rig::publishing(queued_to("http://a", "q")));
  const MessageId head = rig.publish(queued_to("http://a", "r"));
  rig.publish(queued_to("http://b", "r"));

  const Ran ran = rig.run(Rig::outcome(busy.starts.at(0), true), CancelMessage{tenant_one, head});

  EXPECT_EQ(ran.started(), seqs({3}));
  EXPECT_EQ(rig.run(Rig::publishing(message_to("http://a"))).started(), seqs({4}));
}

TEST(QueueDestination, HoldsAfterARestartAndBeyondTheWindow) {
  Limits limits = one_at_a_time();
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  Rig rig(limits);
  for (int i = 0; i < 6; ++i) {
    rig.publish(queued_to("http://a", "q"));
    rig.publish(queued_to("http://a", "r"));
  }
  rig.restart();

  std::vector<std::uint64_t> order;
  Ran ran = rig.run();
  for (int step = 0; step < 100 && order.size() < 12; ++step) {
    ASSERT_LE(rig.machine->in_flight(), 1U);
    if (ran.starts.empty()) {
      ran = rig.run();
      continue;
    }
    order.push_back(ran.starts.at(0).id.seq.value());
    ran = rig.run(Rig::outcome(ran.starts.at(0), true));
  }

  ASSERT_EQ(order.size(), 12U);
  std::vector<std::uint64_t> of_q;
  std::copy_if(order.begin(), order.end(), std::back_inserter(of_q),
               [](std::uint64_t seq) { return seq % 2 == 1; });
  EXPECT_EQ(of_q, seqs({1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(rig.counts().succeeded, 12U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
