#include "config/values.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::config {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;

TEST(Duration, IsASumOfNumbersWithUnits) {
  struct Row {
    std::string text;
    std::optional<std::int64_t> ms;
  };
  const Row rows[] = {
      {"0", 0},
      {"0s", 0},
      {"250ms", 250},
      {"10s", 10'000},
      {"2m", 120'000},
      {"2h", 7'200'000},
      {"3d", 259'200'000},
      {"1d10h30m", 124'200'000},
      {"1m30s500ms", 90'500},
      {"90s", 90'000},
      {"", {}},
      {"10", {}},
      {"s", {}},
      {"-1s", {}},
      {"+1s", {}},
      {"1.5s", 1500},
      {"1 s", {}},
      {" 1s", {}},
      {"1s ", {}},
      {"1s1m", 61'000},
      {"1s1s", 2000},
      {"1S", {}},
      {"1w", {}},
      {"1d10", {}},
      {"36500d", 3'153'600'000'000},
      {"36500d1ms", {}},
      {"9223372036854775807ms", {}},
      {"9223372036854775808ms", {}},
      {"106751991168d", {}},
      {"106751991167d23h", {}},
      {"99999999999999999999d", {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto parsed = parse_duration(row.text);
    ASSERT_EQ(parsed.has_value(), row.ms.has_value());
    if (parsed) {
      EXPECT_EQ(parsed->count(), *row.ms);
    }
  }
}

TEST(Bytes, HaveBinaryAndDecimalUnits) {
  struct Row {
    std::string text;
    std::optional<std::uint64_t> bytes;
  };
  const Row rows[] = {
      {"0", 0},
      {"1000", 1000},
      {"1B", 1},
      {"1KiB", 1024},
      {"64MiB", 64ULL << 20U},
      {"64mib", 64ULL << 20U},
      {"2GiB", 2ULL << 30U},
      {"1TiB", 1ULL << 40U},
      {"1kB", 1000},
      {"1MB", 1'000'000},
      {"3GB", 3'000'000'000},
      {"", {}},
      {"MiB", {}},
      {"1 MiB", {}},
      {"1.5MiB", {}},
      {"-1", {}},
      {"1M", {}},
      {"1MiB2", {}},
      {"0x10", {}},
      {"9223372036854775807", 9223372036854775807},
      {"9223372036854775808", {}},
      {"8388608TiB", {}},
      {"99999999999999999999", {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_bytes(row.text), row.bytes);
  }
}

TEST(Flag, IsOneOfAFewWords) {
  for (const auto* text : {"true", "TRUE", "yes", "on", "1"}) {
    EXPECT_EQ(parse_flag(text), true) << text;
  }
  for (const auto* text : {"false", "False", "no", "off", "0"}) {
    EXPECT_EQ(parse_flag(text), false) << text;
  }
  for (const auto* text : {"", "tru", "2", "yes ", "y"}) {
    EXPECT_EQ(parse_flag(text), std::nullopt) << text;
  }
}

TEST(Address, OfOneselfIsOneThatCanBeConnectedTo) {
  EXPECT_EQ(own_host("0.0.0.0"), "127.0.0.1");
  EXPECT_EQ(own_host("::"), "[::1]");
  EXPECT_EQ(own_host("0:0:0:0:0:0:0:0"), "[::1]");
  EXPECT_EQ(own_host("::1"), "[::1]");
  EXPECT_EQ(own_host("fd00::10"), "[fd00::10]");
  EXPECT_EQ(own_host("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(own_host("localhost"), "localhost");
}

TEST(Address, IsAHostAndAPort) {
  struct Row {
    std::string text;
    std::optional<HostPort> address;
  };
  const Row rows[] = {
      {"127.0.0.1:8080", HostPort{"127.0.0.1", 8080}},
      {"localhost:0", HostPort{"localhost", 0}},
      {"[::1]:8080", HostPort{"::1", 8080}},
      {"[::ffff:10.0.0.1]:65535", HostPort{"::ffff:10.0.0.1", 65535}},
      {"my-host_1.example:80", HostPort{"my-host_1.example", 80}},
      {"", {}},
      {":8080", {}},
      {"8080", {}},
      {"127.0.0.1", {}},
      {"127.0.0.1:", {}},
      {"127.0.0.1:65536", {}},
      {"127.0.0.1:-1", {}},
      {"127.0.0.1:80 ", {}},
      {"::1:8080", {}},
      {"[::1]", {}},
      {"[]:80", {}},
      {"[localhost]:80", {}},
      {"[::1]x:80", {}},
      {"http://localhost:80", {}},
      {"ho st:80", {}},
      {"host:80:90", {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_address(row.text), row.address);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::config
