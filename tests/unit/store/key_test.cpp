#include "store/key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
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

std::string lane_prefix(const LaneKey& lane) {
  return encode_range(core::Range<core::LaneRow>::of(lane)).from;
}

TEST(Key, TheLayoutIsWhatTheHeaderSays) {
  EXPECT_EQ(encode_key<core::Meta>({}), "meta");
  EXPECT_EQ(encode_key<core::Document>({TenantId{1}, "k", "n/m"}),
            bytes({0, 0, 0, 1, 'k', '/', 'n', '/', 'm'}));
  EXPECT_EQ(encode_key<core::ScheduleDue>({moment_from_ms(5), TenantId{1}, "ab"}),
            bytes({0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 'a', 'b'}));
  EXPECT_EQ(encode_key<core::Message>(Seq{0x0102}), bytes({0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(encode_key<core::Attempt>({Seq{1}, 0x0203}),
            bytes({0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 3}));
  EXPECT_EQ(encode_key<core::Tenant>(TenantId{0x01020304}), bytes({1, 2, 3, 4}));
  EXPECT_EQ(encode_key<core::Queue>({TenantId{1}, "ab"}), bytes({0, 0, 0, 1, 'a', 'b'}));
  EXPECT_EQ(encode_key<core::Expiry>({moment_from_ms(5), 6}),
            bytes({0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6}));
  EXPECT_EQ(encode_key<core::DeadLetterKey>({TenantId{1}, moment_from_ms(2), Seq{3}}),
            bytes({0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(encode_key<core::Events>({TenantId{1}, moment_from_ms(2), 3}),
            bytes({0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(encode_key<core::LaneRow>({LaneKey{TenantId{1}, "q", std::string("\0", 1), "", "h"},
                                       LanePlace{moment_from_ms(2), Seq{3}}}),
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
    const std::string key = encode_key<core::LaneRow>({lane, place});
    ASSERT_LT(previous, key);
    ASSERT_TRUE(key.starts_with(lane_prefix(lane)));
    ASSERT_LT(key, prefix_end(lane_prefix(lane)));
    const auto parsed = decode_key<core::LaneRow>(key);
    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(*parsed, std::tie(lane, place));
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
  EXPECT_EQ(decode_key<core::Message>(encode_key<core::Message>(Seq{~0ULL})), Seq{~0ULL});
  EXPECT_EQ(decode_key<core::Attempt>(encode_key<core::Attempt>({Seq{9}, 8})),
            (std::tuple(Seq{9}, 8U)));
  EXPECT_EQ(decode_key<core::Tenant>(encode_key<core::Tenant>(TenantId{7})), TenantId{7});
  EXPECT_EQ(decode_key<core::Expiry>(encode_key<core::Expiry>({moment_from_ms(5), 6})),
            (std::tuple(moment_from_ms(5), std::uint64_t{6})));
  const core::DeadLetterKey dead{TenantId{1}, moment_from_ms(2), Seq{3}};
  EXPECT_EQ(decode_key<core::DeadLetterKey>(encode_key<core::DeadLetterKey>(key_of(dead))),
            key_of(dead));
  const auto event =
      decode_key<core::Events>(encode_key<core::Events>({TenantId{1}, moment_from_ms(2), 3}));
  EXPECT_EQ(event, (std::tuple(TenantId{1}, moment_from_ms(2), std::uint64_t{3})));
  const auto named =
      decode_key<core::Queue>(encode_key<core::Queue>({TenantId{1}, std::string("\0x", 2)}));
  EXPECT_EQ(named, (std::tuple(TenantId{1}, std::string("\0x", 2))));
  const auto document =
      decode_key<core::Document>(encode_key<core::Document>({TenantId{1}, "k", "a/b"}));
  EXPECT_EQ(document, (std::tuple(TenantId{1}, core::Folder("k"), std::string("a/b"))));
  EXPECT_FALSE(decode_key<core::Document>(bytes({0, 0, 0, 1, 'k'})).has_value());
  EXPECT_TRUE(decode_key<core::Meta>("meta").has_value());
  EXPECT_FALSE(decode_key<core::Meta>("met").has_value());
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
    core::for_each_record([&]<class R>() {
      if (const auto parsed = decode_key<R>(key)) {
        parsed_lanes += std::is_same_v<R, core::LaneRow> ? 1 : 0;
        ASSERT_EQ(encode_key<R>(*parsed), key);
      }
    });
    ASSERT_EQ(decode_key<core::Message>(key).has_value(), key.size() == 8);
    ASSERT_EQ(decode_key<core::Attempt>(key).has_value(), key.size() == 12);
    ASSERT_EQ(decode_key<core::DeadLetterKey>(key).has_value(), key.size() == 20);
    ASSERT_EQ(decode_key<core::Events>(key).has_value(), key.size() == 20);
    ASSERT_EQ(decode_key<core::Expiry>(key).has_value(), key.size() == 16);
    ASSERT_EQ(decode_key<core::Tenant>(key).has_value(), key.size() == 4);
    ASSERT_EQ(decode_key<core::Queue>(key).has_value(), key.size() >= 4);
  }
  EXPECT_GT(parsed_lanes, 0U);
}

/// Some keys of a kind, from few and troublesome parts.
struct Random {
  Rng& rng;
  void operator()(std::uint32_t& part) const { part = static_cast<std::uint32_t>(rng.below(3)); }
  void operator()(std::uint64_t& part) const { part = rng.below(3); }
  void operator()(TenantId& part) const { part = TenantId{static_cast<unsigned>(rng.below(3))}; }
  void operator()(Seq& part) const { part = Seq{rng.below(3)}; }
  void operator()(Moment& part) const {
    part = moment_from_ms(static_cast<std::int64_t>(rng.below(3)));
  }
  void operator()(std::string& part) const { part = random_text(rng); }
  void operator()(core::Folder& part) const { part = std::string(1 + rng.below(2), 'k'); }
  void operator()(LanePlace& part) const {
    (*this)(part.due);
    (*this)(part.seq);
  }
  void operator()(LaneKey& part) const {
    (*this)(part.tenant);
    (*this)(part.queue);
    (*this)(part.host);
  }
  template <class... Parts>
  void operator()(std::tuple<Parts...>& key) const {
    std::apply([this](auto&... parts) { ((*this)(parts), ...); }, key);
  }
};

TEST(Key, TheOrderOfTheBytesIsTheOrderOfTheKeys) {
  SeededRng rng(10);
  core::for_each_record([&]<class R>() {
    SCOPED_TRACE(table_name(table_of<R>));
    for (int i = 0; i < 2000; ++i) {
      core::KeyOf<R> a{};
      core::KeyOf<R> b{};
      Random{rng}(a);
      Random{rng}(b);
      ASSERT_EQ(a < b, encode_key<R>(a) < encode_key<R>(b));
      ASSERT_EQ(decode_key<R>(encode_key<R>(a)), a);
    }
  });
}

/// Whether a row is in the range, by its key and by its bytes.
template <class R>
std::pair<bool, bool> in(const core::Range<R>& range, const core::KeyOf<R>& key) {
  const KeyRange bytes = encode_range(range);
  const std::string row = encode_key<R>(key);
  return {!range.begin().is_behind(key) && range.end().is_behind(key),
          !bytes.empty && bytes.from <= row && (bytes.to.empty() || row < bytes.to)};
}

TEST(Key, ARangeHoldsTheSameRowsInMemoryAndInBytes) {
  SeededRng rng(11);
  for (int i = 0; i < 20'000; ++i) {
    core::KeyOf<core::Events> a{};
    core::KeyOf<core::Events> b{};
    core::KeyOf<core::Events> row{};
    for (auto* const key : {&a, &b, &row}) {
      Random{rng}(*key);
    }
    const auto& [tenant, time, batch] = a;
    core::Range<core::Events> range;
    switch (rng.below(5)) {
      case 0: range = core::Range<core::Events>::of(tenant); break;
      case 1: range = core::Range<core::Events>::of(tenant).after(tenant, time, batch); break;
      case 2: range.after(tenant, time).up_to(std::get<0>(b), std::get<1>(b)); break;
      case 3:
        range.from(tenant, time - Millis{1}).before(tenant, std::get<1>(b) - Millis{1});
        break;
      default: range.after(tenant); break;
    }
    const auto [in_memory, in_bytes] = in(range, row);
    ASSERT_EQ(in_memory, in_bytes) << i;
  }
  EXPECT_FALSE(
      in(core::Range<core::Queue>::of(TenantId{1}).after(TenantId{1}, "a"), {TenantId{1}, "a"})
          .second);
  EXPECT_TRUE(in(core::Range<core::Queue>::of(TenantId{1}).after(TenantId{1}, "a"),
                 {TenantId{1}, std::string("a\0", 2)})
                  .second);
}

TEST(Key, ARangeOnlyBecomesNarrower) {
  using Queues = core::Range<core::Queue>;
  const TenantId one{1};
  const TenantId two{2};
  EXPECT_FALSE(in(Queues::of(one).up_to(two), {two, "q"}).first);
  EXPECT_FALSE(in(Queues::of(two).from(one), {one, "q"}).first);
  EXPECT_FALSE(in(Queues::of(one).after(one, "q").from(one), {one, "q"}).first);
  EXPECT_FALSE(in(Queues::of(one).before(one, "q").up_to(one), {one, "q"}).first);
  EXPECT_TRUE(encode_range(Queues::of(one).from(two)).empty);
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
