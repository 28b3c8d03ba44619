#include "core/pull/delayed.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace hk::core {
namespace HK_TEST_FILE {

using Slots = std::vector<DelayedSecond::Slot>;

/// The same, counted by knowing each of them.
struct Each {
  std::multiset<std::int64_t> dues;

  [[nodiscard]] std::uint64_t count(std::int64_t now) const {
    return static_cast<std::uint64_t>(std::distance(dues.upper_bound(now), dues.end()));
  }
  std::set<std::int64_t> forget(std::int64_t now) {
    std::set<std::int64_t> gone;
    while (!dues.empty() && *dues.begin() / 1000 < now / 1000) {
      gone.insert(*dues.begin() / 1000);
      dues.erase(dues.begin());
    }
    return gone;
  }
  [[nodiscard]] std::set<std::int64_t> seconds() const {
    std::set<std::int64_t> seconds;
    for (const std::int64_t due : dues) {
      seconds.insert(due / 1000);
    }
    return seconds;
  }
};

TEST(Delayed, CountsAsIfEachWereKnown) {
  EXPECT_TRUE(rc::check([] {
    Delayed counted;
    Each each;
    std::int64_t now = 1'700'000'000'000 + *rc::gen::inRange<std::int64_t>(0, 20'000);
    const auto steps = *rc::gen::container<std::vector<std::pair<int, std::int64_t>>>(
        rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange<std::int64_t>(1, 20'000)));
    for (const auto& [what, ms] : steps) {
      if (what < 5) {
        const std::int64_t due = now + (what == 0 ? ms / 1000 * 1000 : ms);
        if (due > now) {
          counted.add(moment_from_ms(due));
          each.dues.insert(due);
        }
      } else if (what == 5 && !each.dues.empty()) {
        const auto last = std::prev(each.dues.end());
        RC_ASSERT(counted.remove(moment_from_ms(*last)));
        each.dues.erase(last);
      } else if (what == 6) {
        now += ms / 10;
        const auto gone = counted.forget(moment_from_ms(now));
        const auto expected = each.forget(now);
        RC_ASSERT(
            std::ranges::equal(gone, expected, {}, [](Moment at) { return to_ms(at) / 1000; }));
      } else {
        now += ms / 100;
      }
      RC_ASSERT(counted.count(moment_from_ms(now)) == each.count(now));
    }

    Delayed read;
    for (const std::int64_t second : each.seconds()) {
      const auto slots = counted.in_second(moment_from_ms(second * 1000));
      RC_ASSERT(!slots.empty());
      for (const auto& [ms, count] : slots) {
        read.add(moment_from_ms(second * 1000 + ms), count);
      }
    }
    RC_ASSERT(read.count(moment_from_ms(0)) == each.dues.size());
    RC_ASSERT(counted.empty() == each.dues.empty());
    counted.forget(never);
    RC_ASSERT(counted.empty());
  }));
}

TEST(Delayed, ASecondIsStoredByItsMillisecondsAndNothingElse) {
  Delayed counted;
  for (const std::int64_t due : {7'999, 8'000, 8'000, 8'017, 8'999, 9'000, 15'999, 16'000}) {
    counted.add(moment_from_ms(due));
  }
  EXPECT_EQ(counted.in_second(moment_from_ms(7000)), (Slots{{999, 1}}));
  EXPECT_EQ(counted.in_second(moment_from_ms(8000)), (Slots{{0, 2}, {17, 1}, {999, 1}}));
  EXPECT_EQ(counted.in_second(moment_from_ms(9000)), (Slots{{0, 1}}));
  EXPECT_EQ(counted.in_second(moment_from_ms(10000)), (Slots{}));
  EXPECT_EQ(counted.in_second(moment_from_ms(15000)), (Slots{{999, 1}}));
  EXPECT_EQ(counted.in_second(moment_from_ms(16000)), (Slots{{0, 1}}));
  EXPECT_FALSE(counted.remove(moment_from_ms(8'018)));
  EXPECT_TRUE(counted.remove(moment_from_ms(8'017)));
  EXPECT_EQ(counted.in_second(moment_from_ms(8000)), (Slots{{0, 2}, {999, 1}}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
