#include <gtest/gtest.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/id.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(base_test_mark)

namespace hk {
namespace HK_TEST_FILE {

TEST(Bytes, BigEndianKeepsTheOrderOfNumbers) {
  const std::uint64_t numbers[] = {0, 1, 255, 256, 65'535, 1ULL << 40U, UINT64_MAX};
  std::string previous;
  for (const std::uint64_t number : numbers) {
    std::string bytes;
    append_be(bytes, number);
    EXPECT_EQ(bytes.size(), 8U);
    EXPECT_EQ(read_be<std::uint64_t>(bytes), number);
    EXPECT_LT(previous, bytes);
    previous = bytes;
  }
}

TEST(SeededRng, TheSameSeedGivesTheSameNumbers) {
  SeededRng a(42);
  SeededRng b(42);
  SeededRng c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = a.next();
    EXPECT_EQ(number, b.next());
    differs = differs || number != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Secret, AMovedOneLeavesNothingBehind) {
  Secret first{"short"};
  const Secret second = std::move(first);

  EXPECT_EQ(second.reveal(), "short");
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(std::string(first.reveal().data(), 5), std::string(5, '\0'));
}

template <class T>
concept Comparable = requires(const T& a) { a == a; };
static_assert(!Comparable<Secret>);
static_assert(!std::is_convertible_v<Id<struct A, int>, int>);
static_assert(!std::is_convertible_v<int, Id<struct A, int>>);

TEST(Sometimes, CountsItsHits) {
  const auto before = SometimesMark::all().at("base_test_mark");
  HK_SOMETIMES(base_test_mark);
  EXPECT_EQ(SometimesMark::all().at("base_test_mark"), before + 1);
}

TEST(AssertDeathTest, ABrokenInvariantStopsTheProcessAndSaysWhere) {
  EXPECT_DEATH(HK_ASSERT(1 + 1 == 3), "invariant broken.*1 \\+ 1 == 3.*base_test.cpp");
}

}  // namespace HK_TEST_FILE
}  // namespace hk
