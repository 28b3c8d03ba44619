// An attempt holds its message in memory while it lasts: limits that are for memory's sake count
// places, of which a large body takes several.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Limits small() {
  Limits limits;
  limits.global_parallelism = 60;
  limits.tenant_parallelism = 40;
  limits.destination_parallelism = 8;
  limits.bytes_per_place = 100;
  return limits;
}

Message large(std::string host, std::size_t bytes) {
  Message message = message_to(std::move(host));
  message.body.assign(bytes, 'x');
  return message;
}

TEST(LargeBodies, AHostHoldsFewerOfThem) {
  Rig rig(small());
  const Ran ran =
      rig.run(Rig::publishing(large("http://a", 300)), Rig::publishing(large("http://a", 300)),
              Rig::publishing(large("http://a", 300)), Rig::publishing(large("http://b", 99)),
              Rig::publishing(large("http://b", 99)));
  EXPECT_EQ(ran.started(), seqs({1, 4, 2, 5}));  // four places each at a, one each at b
  EXPECT_EQ(rig.machine->in_flight(), 4U);

  EXPECT_EQ(rig.run(Rig::outcome(ran.starts.at(0), true)).started(), seqs({3}));
}

TEST(LargeBodies, WhatTheyHeldIsGivenBackWhole) {
  Rig rig(small());
  for (int round = 0; round < 20; ++round) {
    Ran ran = rig.run(Rig::publishing(large("http://a", 700)));
    ASSERT_EQ(ran.starts.size(), 1U) << round;
    rig.run(Rig::outcome(ran.starts[0], true));
  }
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  const Ran ran = rig.run(Rig::publishing(large("http://a", 0)));
  EXPECT_EQ(ran.starts.size(), 1U);
}

TEST(LargeBodies, OneThatIsLargerThanAnyLimitGoesAlone) {
  Rig rig(small());
  Ran ran = rig.run(Rig::publishing(large("http://a", 100'000)));
  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_TRUE(rig.run(Rig::publishing(large("http://b", 0))).starts.empty());
  ran = rig.run(Rig::outcome(ran.starts[0], true));
  EXPECT_EQ(ran.started(), seqs({2}));
}

TEST(LargeBodies, AFlowKeyCountsAttemptsAlone) {
  Rig rig(small());
  std::vector<StartAttempt> starts;
  for (const char* host : {"http://a", "http://b", "http://c"}) {
    Message message = large(host, 500);
    message.flow_key = "k";
    Publish command = Rig::publishing(std::move(message));
    command.flow = FlowKey{.parallelism = 2};
    Ran ran = rig.run(std::move(command));
    std::move(ran.starts.begin(), ran.starts.end(), std::back_inserter(starts));
  }
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(rig.run(Rig::outcome(starts[0], true)).started(), seqs({3}));
}

TEST(LargeBodies, AQueuesMessageTakesThemAtItsHost) {
  Rig rig(small());
  Message message = queued("q");
  message.url = message.host = "http://a";
  message.body.assign(750, 'x');
  Ran ran = rig.run(Rig::publishing(message), Rig::publishing(large("http://a", 0)));
  EXPECT_EQ(ran.started(), seqs({1}));  // all eight
  EXPECT_EQ(rig.run(Rig::outcome(ran.starts.at(0), true)).started(), seqs({2}));
}

TEST(LargeBodies, LeasesThatRunOutTogetherEndInSeveralBatches) {
  Limits limits;
  limits.bytes_per_place = 1;
  Rig rig(limits);
  for (int i = 0; i < 30; ++i) {
    rig.publish(large("http://" + std::to_string(i), 99));
  }
  ASSERT_EQ(rig.machine->in_flight(), 21U);  // of a tenant: the last began below 2,048
  rig.pass(Millis{86'400'000});
  const Ran ran = rig.run();
  EXPECT_EQ(rig.machine->in_flight() - ran.starts.size(), 10U);
  EXPECT_LE(*rig.machine->wake_at(), rig.now);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
