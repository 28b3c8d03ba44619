#include "engine/zone/load_zone.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/schedule/cron.h"
#include "engine/zone/tzif.h"
#include "unit/core/schedule/zones.h"

namespace hk::engine {
namespace HK_TEST_FILE {

using core::utc;
using std::chrono::seconds;

/// A directory of its own, gone after the test.
class ZoneDirectory : public testing::Test {
 protected:
  ZoneDirectory()
      : path_(testing::TempDir() + "zones-" + std::to_string(::getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(path_);
  }
  ~ZoneDirectory() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ZoneDirectory(const ZoneDirectory&) = delete;
  ZoneDirectory& operator=(const ZoneDirectory&) = delete;

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
  }

  std::string path_;
};

/// The offsets were computed with Python's zoneinfo from the time-zone data 2025b. They are of
/// years about which nobody will change his mind, or follow from rules in force.
TEST(LoadZone, GivesTheOffsetsThatTheWorldUses) {
  struct Row {
    std::string_view zone;
    std::string_view at;
    int offset;
  };
  const Row rows[] = {
      {"America/New_York", "1975-02-23T06:59:59", -18000},
      {"America/New_York", "1975-02-23T07:00:00", -14400},
      {"America/New_York", "2006-04-02T07:00:00", -14400},
      {"America/New_York", "2024-03-10T06:59:59", -18000},
      {"America/New_York", "2024-03-10T07:00:00", -14400},
      {"America/New_York", "2024-11-03T05:59:59", -14400},
      {"America/New_York", "2024-11-03T06:00:00", -18000},
      {"America/New_York", "2037-12-01T00:00:00", -18000},
      {"America/New_York", "2038-03-14T07:00:00", -14400},
      {"America/New_York", "2038-07-01T00:00:00", -14400},
      {"America/New_York", "2100-11-07T05:59:59", -14400},
      {"America/New_York", "2100-11-07T06:00:00", -18000},
      {"America/New_York", "2500-07-04T12:00:00", -14400},
      {"Europe/Berlin", "1979-07-01T00:00:00", 3600},
      {"Europe/Berlin", "1980-07-01T00:00:00", 7200},
      {"Europe/Berlin", "2024-03-31T00:59:59", 3600},
      {"Europe/Berlin", "2024-03-31T01:00:00", 7200},
      {"Europe/Berlin", "2024-10-27T00:59:59", 7200},
      {"Europe/Berlin", "2024-10-27T01:00:00", 3600},
      {"Europe/Berlin", "2050-08-01T00:00:00", 7200},
      {"Europe/Dublin", "1970-01-01T00:00:00", 3600},
      {"Europe/Dublin", "2024-01-15T00:00:00", 0},
      {"Europe/Dublin", "2024-03-31T01:00:00", 3600},
      {"Europe/Dublin", "2024-10-27T01:00:00", 0},
      {"Europe/Dublin", "2060-07-01T00:00:00", 3600},
      {"Asia/Kolkata", "1970-01-01T00:00:00", 19800},
      {"Asia/Kolkata", "2024-06-01T00:00:00", 19800},
      {"Asia/Kolkata", "2090-01-01T00:00:00", 19800},
      {"Asia/Tokyo", "1949-07-01T00:00:00", 36000},
      {"Asia/Tokyo", "1951-07-01T00:00:00", 36000},
      {"Asia/Tokyo", "2024-06-01T00:00:00", 32400},
      {"Asia/Tokyo", "2090-01-01T00:00:00", 32400},
      {"Asia/Kathmandu", "1985-12-31T18:29:59", 19800},
      {"Asia/Kathmandu", "1985-12-31T18:30:00", 20700},
      {"Asia/Kathmandu", "2024-06-01T00:00:00", 20700},
      {"Australia/Lord_Howe", "2024-04-06T14:59:59", 39600},
      {"Australia/Lord_Howe", "2024-04-06T15:00:00", 37800},
      {"Australia/Lord_Howe", "2024-10-05T15:29:59", 37800},
      {"Australia/Lord_Howe", "2024-10-05T15:30:00", 39600},
      {"Australia/Lord_Howe", "2045-12-25T00:00:00", 39600},
      {"Australia/Lord_Howe", "2045-06-25T00:00:00", 37800},
      {"Australia/Sydney", "2024-04-06T15:59:59", 39600},
      {"Australia/Sydney", "2024-04-06T16:00:00", 36000},
      {"Australia/Sydney", "2024-10-05T15:59:59", 36000},
      {"Australia/Sydney", "2024-10-05T16:00:00", 39600},
      {"Australia/Sydney", "2099-01-01T00:00:00", 39600},
      {"America/Sao_Paulo", "2018-11-04T02:59:59", -10800},
      {"America/Sao_Paulo", "2018-11-04T03:00:00", -7200},
      {"America/Sao_Paulo", "2019-02-17T01:59:59", -7200},
      {"America/Sao_Paulo", "2019-02-17T02:00:00", -10800},
      {"America/Sao_Paulo", "2019-12-01T00:00:00", -10800},
      {"America/Sao_Paulo", "2045-12-01T00:00:00", -10800},
      {"Pacific/Apia", "2011-12-30T09:59:59", -36000},
      {"Pacific/Apia", "2011-12-30T10:00:00", 50400},
      {"Pacific/Apia", "2024-01-01T00:00:00", 46800},
      {"Africa/Monrovia", "1971-01-01T00:00:00", -2670},
      {"Africa/Monrovia", "1973-01-01T00:00:00", 0},
      {"Africa/Casablanca", "2024-03-10T01:59:59", 3600},
      {"Africa/Casablanca", "2024-03-10T02:00:00", 0},
      {"Africa/Casablanca", "2024-04-14T02:00:00", 3600},
      {"America/Nuuk", "2024-03-31T00:59:59", -7200},
      {"America/Nuuk", "2024-03-31T01:00:00", -3600},
      {"America/Nuuk", "2040-10-28T00:59:59", -3600},
      {"America/Nuuk", "2040-10-28T01:00:00", -7200},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.zone) + " at " + std::string(row.at));

    const auto zone = load_zone(row.zone);

    ASSERT_TRUE(zone.has_value()) << zone.error().message;
    EXPECT_EQ(zone->period_at(utc(row.at)).offset, seconds{row.offset});
  }
}

TEST(LoadZone, ServesAScheduleWithTheZoneItNames) {
  struct Row {
    std::string_view cron;
    std::string_view after;
    std::string_view next;
  };
  const Row rows[] = {
      {"CRON_TZ=America/New_York 0 4 * * *", "2024-03-09T12:00", "2024-03-10T08:00"},
      {"CRON_TZ=America/New_York 30 2 * * *", "2024-03-09T12:00", "2024-03-11T06:30"},
      {"CRON_TZ=America/New_York 30 1 * * *", "2024-11-03T05:30", "2024-11-04T06:30"},
      {"CRON_TZ=America/New_York 0 4 * * *", "2045-07-01T00:00", "2045-07-01T08:00"},
      {"TZ=Europe/Berlin 0 0 29 2 *", "2024-03-01T00:00", "2028-02-28T23:00"},
      {"CRON_TZ=Asia/Kolkata @daily", "2024-01-01T00:00", "2024-01-01T18:30"},
      {"CRON_TZ=Australia/Lord_Howe 45 1 * * *", "2024-04-06T14:45", "2024-04-07T15:15"},
      {"CRON_TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00", "2018-11-05T02:00"},
      {"CRON_TZ=Pacific/Apia 0 12 * * *", "2011-12-29T22:00", "2011-12-30T22:00"},
      {"CRON_TZ=Etc/GMT+5 0 0 * * *", "2024-07-01T00:00", "2024-07-01T05:00"},
      {"CRON_TZ=UTC 0 0 * * *", "2024-07-01T00:00", "2024-07-02T00:00"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.cron);
    const auto parsed = core::parse_cron(row.cron);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    const auto zone = load_zone(parsed->zone);
    ASSERT_TRUE(zone.has_value()) << zone.error().message;

    EXPECT_EQ(core::show(core::next_after(parsed->cron, utc(row.after), *zone)), row.next);
  }
}

TEST(LoadZone, NeedsNoFilesForUtc) {
  for (const std::string_view name : {"UTC", "Etc/UTC"}) {
    const auto zone = load_zone(name, "/nowhere");
    ASSERT_TRUE(zone.has_value()) << zone.error().message;
    EXPECT_EQ(*zone, core::Zone{});
  }
}

TEST(LoadZone, SaysThatZonesAreNotInstalled) {
  const auto zone = load_zone("Europe/Berlin", "/nowhere");

  ASSERT_FALSE(zone.has_value());
  EXPECT_EQ(zone.error().kind, ErrorKind::unavailable);
  EXPECT_NE(zone.error().message.find("tzdata"), std::string::npos);
}

TEST(LoadZone, RefusesWhatIsNoZone) {
  for (const std::string_view name :
       {"", "Mars/Olympus", "europe/berlin", "Europe", "localtime", "posixrules", "tzdata.zi",
        "zone.tab", "leapseconds", "../zoneinfo/UTC", "/etc/passwd", "Europe/Berlin/", "right/UTC",
        "Europe/Berlin/Mitte"}) {
    SCOPED_TRACE(name);

    const auto zone = load_zone(name);

    ASSERT_FALSE(zone.has_value());
    EXPECT_EQ(zone.error().kind, ErrorKind::invalid_argument) << zone.error().message;
  }
}

TEST_F(ZoneDirectory, ReadsOnlyFilesThatAreZonesOfASensibleSize) {
  struct Row {
    std::string name;
    std::string bytes;
    ErrorKind kind;
  };
  const Row rows[] = {
      {"Text", "not a zone", ErrorKind::invalid_argument},
      {"Empty", "", ErrorKind::invalid_argument},
      {"Cut", "TZif2", ErrorKind::corruption},
      {"Huge", "TZif2" + std::string(tzif_bytes_max, '\0'), ErrorKind::corruption},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    write(row.name, row.bytes);

    const auto zone = load_zone(row.name, path_);

    ASSERT_FALSE(zone.has_value());
    EXPECT_EQ(zone.error().kind, row.kind) << zone.error().message;
  }
}

TEST_F(ZoneDirectory, DoesNotLookOutsideOfIt) {
  const auto berlin = std::string(system_zone_directory) + "/Europe/Berlin";
  std::filesystem::create_directories(path_ + "/inside");
  std::filesystem::copy_file(berlin, path_ + "/Outside");

  EXPECT_FALSE(load_zone("../Outside", path_ + "/inside").has_value());
  EXPECT_TRUE(load_zone("Outside", path_).has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
