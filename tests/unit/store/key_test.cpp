#include "store/key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/random.h"

namespace hk::store {
namespace HK_TEST_FILE {

using core::LaneKey;
using core::LanePlace;
using core::Seq;
using core::TenantId;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) {
    out.push_back(static_cast<char>(value));
  }
  return out;
}

TEST(Key, TheLayoutIsWhatTheHeaderSays) {
  EXPECT_EQ(seq_key(Seq{0x0102}), bytes({0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(attempt_key(Seq{1}, 0x0203), bytes({0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 3}));
  EXPECT_EQ(tenant_key(TenantId{0x01020304}), bytes({1, 2, 3, 4}));
  EXPECT_EQ(named_key(TenantId{1}, "ab"), bytes({0, 0, 0, 1, 'a', 'b'}));
  EXPECT_EQ(expiry_key(moment_from_ms(5), 6),
            bytes({0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6}));
  EXPECT_EQ(dead_letter_key({TenantId{1}, moment_from_ms(2), Seq{3}}),
            bytes({0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(event_key(TenantId{1}, moment_from_ms(2), 3),
            bytes({0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(lane_entry_key({TenantId{1}, "q", std::string("\0", 1), "", "h"},
                           {moment_from_ms(2), Seq{3}}),
            bytes({0, 0, 0, 1, 'q', 0, 1, 0, 0xff, 0, 1, 0, 1, 'h', 0, 1,  //
                   0, 0, 0, 0, 0,   0, 0, 2, 0,    0, 0, 0, 0, 0,   0, 3}));
}

std::string random_text(Rng& rng) {
  // Few different bytes, the troublesome ones among them, so that texts often share prefixes.
  constexpr char alphabet[] = {'\x00', '\x01', '\x02', 'a', '\xfe', '\xff'};
  std::string text;
  for (std::uint64_t left = rng.below(4); left != 0; --left) {
    text.push_back(alphabet[rng.below(std::size(alphabet))]);
  }
  return text;
}

TEST(Key, LaneKeysAreOrderedLikeLanesAndParseBack) {
  SeededRng rng(7);
  std::vector<std::pair<LaneKey, LanePlace>> entries;
  for (int i = 0; i < 3000; ++i) {
    entries.emplace_back(
        LaneKey{TenantId{static_cast<std::uint32_t>(rng.below(3))}, random_text(rng),
                random_text(rng), random_text(rng), random_text(rng)},
        LanePlace{moment_from_ms(static_cast<std::int64_t>(rng.below(3))), Seq{rng.below(1000)}});
  }
  std::ranges::sort(entries);
  entries.erase(std::ranges::unique(entries).begin(), entries.end());

  std::string previous;
  for (const auto& [lane, place] : entries) {
    const std::string key = lane_entry_key(lane, place);
    ASSERT_LT(previous, key);
    ASSERT_TRUE(key.starts_with(lane_prefix(lane)));
    ASSERT_LT(key, prefix_end(lane_prefix(lane)));
    const auto parsed = parse_lane_entry_key(key);
    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(parsed->first, lane);
    ASSERT_EQ(parsed->second, place);
    previous = key;
  }
}

TEST(Key, TheEndOfALaneComesBeforeTheNextLane) {
  SeededRng rng(8);
  std::set<LaneKey> lanes;
  while (lanes.size() < 500) {
    lanes.insert({TenantId{1}, random_text(rng), random_text(rng), random_text(rng), ""});
  }
  for (auto lane = lanes.begin(); std::next(lane) != lanes.end(); ++lane) {
    EXPECT_LE(prefix_end(lane_prefix(*lane)), lane_prefix(*std::next(lane)));
  }
}

TEST(Key, EveryKindParsesBack) {
  EXPECT_EQ(parse_seq_key(seq_key(Seq{~0ULL})), Seq{~0ULL});
  EXPECT_EQ(parse_attempt_key(attempt_key(Seq{9}, 8)), (std::pair(Seq{9}, 8U)));
  EXPECT_EQ(parse_tenant_key(tenant_key(TenantId{7})), TenantId{7});
  EXPECT_EQ(parse_expiry_key(expiry_key(moment_from_ms(5), 6)),
            (std::pair(moment_from_ms(5), std::uint64_t{6})));
  const core::DeadLetterKey dead{TenantId{1}, moment_from_ms(2), Seq{3}};
  EXPECT_EQ(parse_dead_letter_key(dead_letter_key(dead)), dead);
  const auto event = parse_event_key(event_key(TenantId{1}, moment_from_ms(2), 3));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->tenant, TenantId{1});
  EXPECT_EQ(event->time, moment_from_ms(2));
  EXPECT_EQ(event->batch, 3U);
  const auto named = parse_named_key(named_key(TenantId{1}, std::string("\0x", 2)));
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->second, std::string("\0x", 2));
}

TEST(Key, ArbitraryBytesAreRefusedOrAreTheKeyOfWhatTheyParseTo) {
  SeededRng rng(9);
  std::size_t parsed_lanes = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string key;
    for (std::uint64_t left = rng.below(40); left != 0; --left) {
      constexpr char alphabet[] = {'\x00', '\x01', '\xff', 'a'};
      key.push_back(alphabet[rng.below(std::size(alphabet))]);
    }
    if (const auto lane = parse_lane_entry_key(key)) {
      ++parsed_lanes;
      ASSERT_EQ(lane_entry_key(lane->first, lane->second), key);
    }
    ASSERT_EQ(parse_seq_key(key).has_value(), key.size() == 8);
    ASSERT_EQ(parse_attempt_key(key).has_value(), key.size() == 12);
    ASSERT_EQ(parse_dead_letter_key(key).has_value(), key.size() == 20);
    ASSERT_EQ(parse_event_key(key).has_value(), key.size() == 20);
    ASSERT_EQ(parse_expiry_key(key).has_value(), key.size() == 16);
    ASSERT_EQ(parse_tenant_key(key).has_value(), key.size() == 4);
    ASSERT_EQ(parse_named_key(key).has_value(), key.size() >= 4);
  }
  EXPECT_GT(parsed_lanes, 0U);
}

TEST(Key, PrefixEndSkipsTrailingHighBytes) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end(bytes({1, 0xff, 0xff})), bytes({2}));
  EXPECT_EQ(prefix_end(bytes({0xff})), "");
  EXPECT_LT(std::string("a"), after_key("a"));
  EXPECT_LT(after_key("a"), std::string("a\0\0", 3));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
