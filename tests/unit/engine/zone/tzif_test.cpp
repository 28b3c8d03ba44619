#include "engine/zone/tzif.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace hk::engine {
namespace HK_TEST_FILE {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_seconds;

/// Asia/Tokyo as the time-zone data 2025b has it.
constexpr std::string_view tokyo_hex =
    "545a69663200000000000000000000000000000000000004000000040000000000000009000000040000"
    "000c80000000d73e0270d7ed59f0d8f8fa70d9cd3bf0db0700f0dbad1df0dce6e2f0dd8cfff003010201"
    "020102010200008303000000008ca0010400007e90000800007e9000084c4d54004a4454004a53540000"
    "00000100000001545a696632000000000000000000000000000000000000040000000400000000000000"
    "09000000040000000cffffffff65c2a470ffffffffd73e0270ffffffffd7ed59f0ffffffffd8f8fa70ff"
    "ffffffd9cd3bf0ffffffffdb0700f0ffffffffdbad1df0ffffffffdce6e2f0ffffffffdd8cfff0030102"
    "01020102010200008303000000008ca0010400007e90000800007e9000084c4d54004a4454004a535400"
    "00000001000000010a4a53542d390a";

std::string unhex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string big_endian(std::int64_t value, int bytes) {
  std::string text;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> static_cast<unsigned>(shift));
  }
  return text;
}

/// What a file is made of; every field can be made wrong.
struct File {
  std::string magic = "TZif";
  char version = '2';
  std::array<std::int64_t, 6> counts{0, 0, 0, 2, 2, 4};  ///< as in the header
  std::vector<std::int64_t> times{1'000, 2'000};
  std::string indexes = std::string("\x01\x00", 2);
  std::vector<std::int32_t> offsets{3'600, -7'200};
  std::string names = std::string("ABC\0", 4);
  std::string leap_seconds{};
  std::string footer = "\nABC-1\n";

  [[nodiscard]] std::string header(const std::array<std::int64_t, 6>& numbers) const {
    std::string text = magic + version + std::string(15, '\0');
    for (const std::int64_t number : numbers) {
      text += big_endian(number, 4);
    }
    return text;
  }

  [[nodiscard]] std::string bytes() const {
    // An empty first block, as zic -b slim writes it.
    std::string text = header({0, 0, 0, 0, 1, 1}) + std::string(7, '\0') + header(counts);
    for (const std::int64_t time : times) {
      text += big_endian(time, 8);
    }
    text += indexes;
    for (const std::int32_t offset : offsets) {
      text += big_endian(offset, 4) + std::string(2, '\0');
    }
    return text + names + leap_seconds + footer;
  }
};

TEST(Tzif, ReadsARealFile) {
  const auto zone = parse_tzif(unhex(tokyo_hex));

  ASSERT_TRUE(zone.has_value()) << zone.error().message;
  const auto offset = [&zone](std::int64_t at) {
    return zone->period_at(sys_seconds{seconds{at}}).offset;
  };
  EXPECT_EQ(offset(-3'000'000'000), seconds{33'539});  // local mean time, until 1887
  EXPECT_EQ(offset(-2'587'712'400), hours{9});
  EXPECT_EQ(offset(-2'587'712'401), seconds{33'539});
  EXPECT_EQ(offset(-646'876'800), hours{10});  // July 1949
  EXPECT_EQ(offset(1'717'200'000), hours{9});
  EXPECT_EQ(offset(10'000'000'000), hours{9});
}

TEST(Tzif, ReadsTheTableAndTheRule) {
  const auto zone = parse_tzif(File{}.bytes());

  ASSERT_TRUE(zone.has_value()) << zone.error().message;
  const auto expected = core::Zone::make(
      hours{1}, {{sys_seconds{seconds{1'000}}, hours{-2}}, {sys_seconds{seconds{2'000}}, hours{1}}},
      core::ZoneRule{.standard = hours{1}});
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(*zone, *expected);
}

TEST(Tzif, TakesAnEmptyRuleAndAnEmptyTable) {
  File no_rule;
  no_rule.footer = "\n\n";
  EXPECT_TRUE(parse_tzif(no_rule.bytes()).has_value());

  File no_table{.counts = {0, 0, 0, 0, 1, 4}, .times = {}, .indexes = "", .offsets = {3'600}};
  const auto zone = parse_tzif(no_table.bytes());
  ASSERT_TRUE(zone.has_value()) << zone.error().message;
  EXPECT_EQ(zone->period_at(sys_seconds{}).offset, hours{1});
}

TEST(Tzif, TakesChangesAtTheBeginningAndTheEndOfTime) {
  File file;
  file.times = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};

  const auto zone = parse_tzif(file.bytes());

  ASSERT_TRUE(zone.has_value()) << zone.error().message;
  EXPECT_EQ(zone->period_at(sys_seconds{}).offset, hours{-2});
  EXPECT_EQ(zone->to_utc(std::chrono::local_seconds{}).first, sys_seconds{hours{2}});
}

TEST(Tzif, SaysWhatIsDamaged) {
  struct Row {
    std::string_view name;
    std::string bytes;
    ErrorKind kind;
    std::string_view message;
  };
  std::vector<Row> rows;
  const auto add = [&rows](std::string_view name, std::string_view message, auto change,
                           ErrorKind kind = ErrorKind::corruption) {
    File file;
    change(file);
    rows.push_back({name, file.bytes(), kind, message});
  };
  add("magic", "begin with a header", [](File& file) { file.magic = "TZiF"; });
  add("version", "version 1", [](File& file) { file.version = '\0'; });
  add("types", "has no type of local time", [](File& file) {
    file = File{.counts = {0, 0, 0, 0, 0, 4}, .times = {}, .indexes = "", .offsets = {}};
  });
  add("index", "change 1 has no type", [](File& file) { file.indexes[0] = '\x02'; });
  add("order", "do not ascend", [](File& file) { file.times = {2'000, 1'000}; });
  add("offset", "hours away from UTC", [](File& file) { file.offsets[1] = 100'000; });
  add("count", "second block is cut off", [](File& file) { file.counts[3] = 0xFFFF'FFFF; });
  add("names", "second block is cut off", [](File& file) { file.counts[5] = 1'000; });
  add("footer", "end with a rule", [](File& file) { file.footer = "\nABC-1"; });
  add("no footer", "end with a rule", [](File& file) { file.footer = ""; });
  add("two footers", "end with a rule", [](File& file) { file.footer = "\nABC-1\nABC-1\n"; });
  add("rule", "rule is not understood", [](File& file) { file.footer = "\nhello\n"; });
  add(
      "leap seconds", "counts leap seconds",
      [](File& file) {
        file.counts[2] = 1;
        file.leap_seconds = std::string(12, '\0');
      },
      ErrorKind::invalid_argument);
  rows.push_back({"empty", "", ErrorKind::corruption, "begin with a header"});
  rows.push_back(
      {"huge", std::string(tzif_bytes_max + 1, 'T'), ErrorKind::corruption, "more than"});
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);

    const auto zone = parse_tzif(row.bytes);

    ASSERT_FALSE(zone.has_value());
    EXPECT_EQ(zone.error().kind, row.kind);
    EXPECT_NE(zone.error().message.find(row.message), std::string::npos) << zone.error().message;
  }
}

TEST(Tzif, RefusesAFileThatEndsEarly) {
  for (const std::string& whole : {unhex(tokyo_hex), File{}.bytes()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(parse_tzif(whole.substr(0, size)).has_value()) << size;
    }
  }
}

TEST(Tzif, NeverStumblesOverDamage) {
  std::mt19937 random(1);  // NOLINT: the same damage in every run
  for (const std::string& whole : {unhex(tokyo_hex), File{}.bytes()}) {
    for (int i = 0; i < 20'000; ++i) {
      std::string damaged = whole;
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      const auto zone = parse_tzif(damaged);
      if (zone) {
        const core::Zone::Period period = zone->period_at(sys_seconds{seconds{random()}});
        EXPECT_LT(period.begin, period.end);
      }
    }
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
