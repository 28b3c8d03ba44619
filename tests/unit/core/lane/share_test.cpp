#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/lane/yard.h"

namespace hk::core {
namespace HK_TEST_FILE {

using testing::of_queue;
using testing::seqs;
using testing::to_host;
using testing::Yard;
using testing::yard_time;

Limits of_tenant(std::uint32_t parallelism) {
  Limits limits;
  limits.tenant_parallelism = parallelism;
  return limits;
}

std::string host(std::uint64_t number) { return "hangs" + std::to_string(number); }

TEST(Share, HostsThatHangLeaveSomethingForTheOthersOfTheirTenant) {
  Yard yard(of_tenant(2048));
  std::uint64_t next = 1;
  for (int i = 0; i < 600; ++i) {
    for (std::uint64_t hanging = 0; hanging < 10; ++hanging) {
      yard.add(next++, to_host(host(hanging)));
    }
  }
  const std::size_t stuck = yard.start_all().size();
  EXPECT_GT(stuck, 1900U);  // four fifths and more are in use …
  EXPECT_LT(stuck, 2048U);  // … and never all

  const std::uint64_t healthy = next;
  yard.add(next++, to_host("answers"));
  EXPECT_EQ(yard.start_all(), seqs({healthy}));
  yard.end(healthy);
  EXPECT_TRUE(yard.start_all().empty());  // what it gave back is again for who holds little
}

TEST(Share, OneHostAloneGetsItsWholeParallelism) {
  Yard yard;
  for (std::uint64_t i = 1; i <= 600; ++i) {
    yard.add(i, to_host("a"));
  }
  EXPECT_EQ(yard.start_all().size(), yard.limits.destination_parallelism);
}

TEST(Share, SmallLimitsAreUsedWhole) {
  for (const std::uint32_t limit : {1U, 2U, 3U, 4U}) {
    Yard yard(of_tenant(limit));
    for (std::uint64_t i = 1; i <= 6; ++i) {
      yard.add(i, to_host("a"));
    }
    EXPECT_EQ(yard.start_all().size(), limit);
  }
}

TEST(Share, AHostAtItsShareGoesOnWhenAnotherGivesBack) {
  Yard yard(of_tenant(10));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    yard.add(i, to_host(i <= 2 ? "b" : "a"));
  }
  ASSERT_EQ(yard.start_all().size(), 9U);  // 2 and 7: more than four times the one that is left
  yard.end(1);
  EXPECT_EQ(yard.start_all(), seqs({10}));
  yard.end(2);
  EXPECT_TRUE(yard.start_all().empty());  // 8 are not less than four times two
}

TEST(Share, TheTurnGoesToTheNextHostIfTheFirstCannotUseIt) {
  Limits limits = of_tenant(8);
  limits.share = 1;
  Yard yard(limits);
  for (const std::uint64_t i : {1U, 2U}) {
    yard.add(i, to_host("c"));
  }
  for (const std::uint64_t i : {3U, 4U, 5U}) {
    yard.add(i, to_host("a", 1, "f"));
    yard.add(i + 3, to_host("b"));
  }
  ASSERT_EQ(yard.start_all().size(), 6U);  // two each, and two are left
  yard.scheduler.flow_gate(TenantId{1}, "f").parallelism = 2;
  yard.end(1);
  const auto started = yard.start_all();
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(yard.lives.at(started.front()).lane->key.host, "b");
}

TEST(Share, AQueueWaitsForTheShareOfItsMessagesHost) {
  Yard yard(of_tenant(5));
  for (std::uint64_t i = 1; i <= 6; ++i) {
    yard.add(i, to_host("a"));
  }
  ASSERT_EQ(yard.start_all(), seqs({1, 2, 3, 4}));
  Live& queued = yard.lives[7];
  queued.seq = Seq{7};
  queued.lane = &yard.scheduler.lane(of_queue("q"));
  queued.not_before = yard_time;
  queued.place = {Moment{}, Seq{7}};
  yard.scheduler.use_own_gates(queued, "a", "");
  yard.scheduler.place(queued, yard_time);
  EXPECT_TRUE(yard.start_all().empty());

  yard.end(1);
  EXPECT_EQ(yard.start_all(), seqs({5}));  // it came first
  yard.end(2);
  EXPECT_EQ(yard.start_all(), seqs({7}));
  yard.scheduler.release(queued, yard_time);
  yard.scheduler.unuse_own_gates(queued);
}

TEST(Share, TenantsThatHangLeaveSomethingForTheOthers) {
  Limits limits;
  limits.global_parallelism = 90;
  limits.tenant_parallelism = 60;
  limits.share = 1;
  Yard yard(limits);
  std::uint64_t next = 1;
  for (std::uint64_t i = 0; i < 60; ++i) {
    yard.add(next++, to_host(host(i % 20), 1));
    yard.add(next++, to_host(host(i % 20), 2));
  }
  const std::size_t stuck = yard.start_all().size();
  EXPECT_GE(stuck, 56U);  // a third each, and some, since they take turns
  EXPECT_LE(stuck, 64U);

  const std::uint64_t other = next;
  yard.add(next++, to_host("answers", 3));
  EXPECT_EQ(yard.start_all(), seqs({other}));
  yard.end(other);
  EXPECT_TRUE(yard.start_all().empty());
  yard.end(1);  // of the first tenant: it or the second may have that one
  EXPECT_EQ(yard.start_all().size(), 1U);
}

TEST(Share, ATenantAtItsShareGoesOnWhenAnotherGivesBack) {
  Limits limits;
  limits.global_parallelism = 3;
  limits.share = 1;
  Yard yard(limits);
  yard.add(1, to_host("a", 1));
  yard.add(2, to_host("a", 2));
  ASSERT_EQ(yard.start_all(), seqs({1, 2}));
  yard.add(3, to_host("b", 1));
  EXPECT_TRUE(yard.start_all().empty());  // it holds one, and one is left
  EXPECT_FALSE(yard.scheduler.has_runnable());
  yard.end(2);
  EXPECT_TRUE(yard.scheduler.has_runnable());
  EXPECT_EQ(yard.start_all(), seqs({3}));
}

TEST(Share, MorePlacesWakeEveryTenantThatMayHaveSome) {
  Limits limits;
  limits.global_parallelism = 12;
  limits.share = 1;
  limits.quantum = 1;
  Yard yard(limits);
  yard.scheduler.set_places_max(4);
  std::uint64_t next = 1;
  for (std::uint32_t tenant = 1; tenant <= 3; ++tenant) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      yard.add(next++, to_host(host(i), tenant));
    }
  }
  const std::size_t before = yard.start_all().size();
  EXPECT_LT(before, 4U);
  EXPECT_FALSE(yard.scheduler.has_runnable());
  EXPECT_TRUE(yard.scheduler.wants_places());

  yard.scheduler.set_places_max(12);

  EXPECT_TRUE(yard.scheduler.has_runnable());
  EXPECT_EQ(before + yard.start_all().size(), 6U);
}

TEST(Share, PlacesCanBeTakenAwayAndGivenBackBetweenTwoBatches) {
  Limits limits;
  limits.global_parallelism = 3;
  Yard yard(limits);
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    yard.add(seq, to_host(host(seq), 1));
  }
  yard.scheduler.set_places_max(1);
  EXPECT_EQ(yard.start_all(), seqs({1}));
  EXPECT_TRUE(yard.scheduler.wants_places());

  yard.scheduler.set_places_max(3);
  EXPECT_EQ(yard.start_all(), seqs({2, 3}));
  yard.scheduler.set_places_max(1);  // what runs may end
  yard.end(1);
  EXPECT_TRUE(yard.start_all().empty());
  EXPECT_TRUE(yard.scheduler.wants_places());
  yard.end(2);
  yard.end(3);
  EXPECT_EQ(yard.start_all(), seqs({4}));
  yard.scheduler.set_places_max(3);
  EXPECT_EQ(yard.start_all(), seqs({5}));
  EXPECT_FALSE(yard.scheduler.wants_places());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
