#include "observe/log.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <thread>
#include <vector>

namespace hk::observe {
namespace HK_TEST_FILE {

namespace json = boost::json;

std::string text_of(const json::value& value) { return std::string(value.as_string()); }

/// Logs to a file of its own and reads the lines back.
class Log : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-log-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    ASSERT_TRUE(set_log_file(path()));
    set_log_level(Level::info);
  }
  void TearDown() override {
    set_log_file("");
    set_log_level(Level::info);
    std::filesystem::remove_all(directory_);
  }

  [[nodiscard]] std::string path() const { return directory_ + "/log"; }
  [[nodiscard]] std::vector<json::object> lines() const {
    std::vector<json::object> out;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) {
      out.push_back(
          json::parse(line).as_object());  // throws, and fails the test, when it is not JSON
    }
    return out;
  }
  /// What a reader of the log gets for a value.
  std::string through(std::string_view value) {
    log(Level::info, "test", {{"value", value}});
    return text_of(lines().back().at("value"));
  }

  std::string directory_;
};

TEST_F(Log, IsOneJsonObjectALineWithTimeLevelEventAndFields) {
  log(Level::warn, "delivery.attempt_failed",
      {{"message_id", "msg_1"},
       {"status", 503},
       {"bytes", std::numeric_limits<std::uint64_t>::max()},
       {"offset", std::int64_t{-7}},
       {"seconds", 0.25},
       {"again", true},
       {"reason", std::string("busy")},
       {"ratio", std::numeric_limits<double>::infinity()}});

  ASSERT_EQ(lines().size(), 1U);
  const json::object line = lines()[0];
  EXPECT_TRUE(
      std::regex_match(text_of(line.at("time")),
                       std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z)")));
  EXPECT_EQ(line.at("level"), "warn");
  EXPECT_EQ(line.at("event"), "delivery.attempt_failed");
  EXPECT_EQ(line.at("message_id"), "msg_1");
  EXPECT_EQ(line.at("status"), 503);
  EXPECT_EQ(line.at("bytes").as_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(line.at("offset"), -7);
  EXPECT_EQ(line.at("seconds"), 0.25);
  EXPECT_EQ(line.at("again"), true);
  EXPECT_EQ(line.at("reason"), "busy");
  EXPECT_TRUE(line.at("ratio").is_null());
}

TEST_F(Log, DropsLinesBelowItsLevel) {
  const Level levels[] = {Level::debug, Level::info, Level::warn, Level::error};
  for (const Level lowest : {Level::debug, Level::info, Level::warn, Level::error, Level::off}) {
    set_log_level(lowest);
    const std::size_t before = lines().size();
    std::size_t expected = 0;
    for (const Level level : levels) {
      EXPECT_EQ(log_enabled(level), level >= lowest);
      expected += level >= lowest ? 1 : 0;
      log(level, "test");
    }
    log(Level::off, "never");

    EXPECT_EQ(lines().size() - before, expected);
  }
}

TEST_F(Log, CannotBeForgedByAValue) {
  const std::string hostile = "x\"}\n{\"level\":\"error\",\"event\":\"forged\"}\r\n\t\\ \x1b[2J";

  EXPECT_EQ(through(hostile), hostile);
  log(Level::info, hostile, {{hostile, 1}});

  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(text_of(lines()[1].at("event")), hostile);
  EXPECT_EQ(lines()[1].at(hostile), 1);
  std::ifstream file(path());
  const std::string raw((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(raw.find('\x1b'), std::string::npos);
  EXPECT_EQ(raw.find('\r'), std::string::npos);
}

TEST_F(Log, ReplacesEachMalformedPieceOfUtf8) {
  struct Row {
    std::string_view name;
    std::string given;
    std::string read;
  };
  const std::string mark = "\xef\xbf\xbd";
  const Row rows[] = {
      {"nothing", "", ""},
      {"well-formed", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
       "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"the last character", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"a lone continuation", "a\x80z", "a" + mark + "z"},
      {"cut within a character", "a\xe2\x82", "a" + mark},
      {"cut and going on", "\xe2\x82z", mark + "z"},
      {"overlong slash", "\xc0\xaf", mark + mark},
      {"overlong of three", "\xe0\x80\xaf", mark + mark + mark},
      {"a surrogate", "\xed\xa0\x80", mark + mark + mark},
      {"beyond the last character", "\xf4\x90\x80\x80", mark + mark + mark + mark},
      {"bytes that never occur", "\xff\xfe", mark + mark},
      {"a null byte", std::string("a\0b", 3), std::string("a\0b", 3)},
      {"a C1 control",
       "\xc2\x9b"
       "31m",
       "\xc2\x9b"
       "31m"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(through(row.given), row.read);
  }
}

TEST_F(Log, CutsAValueAt2048BytesBetweenCharacters) {
  const std::string ellipsis = "\xe2\x80\xa6";
  const std::string euro = "\xe2\x82\xac";
  std::string euros;
  for (int i = 0; i < 1000; ++i) {
    euros += euro;
  }

  EXPECT_EQ(through(std::string(2048, 'x')), std::string(2048, 'x'));
  EXPECT_EQ(through(std::string(2049, 'x')), std::string(2045, 'x') + ellipsis);
  EXPECT_EQ(through(std::string(1 << 20, 'x')), std::string(2045, 'x') + ellipsis);
  EXPECT_EQ(through(euros), euros.substr(0, 2043) + ellipsis);
  EXPECT_EQ(through(std::string(2049, '\n')), std::string(2045, '\n') + ellipsis);
  EXPECT_LE(through(std::string(2048, '\xff')).size(), 2048U);
}

TEST_F(Log, KeepsTheLinesOfManyThreadsWhole) {
  constexpr int threads = 4;
  constexpr int each = 300;
  {
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([worker] {
        const std::string filling(1500, static_cast<char>('a' + worker));
        for (int i = 0; i < each; ++i) {
          log(Level::info, "test", {{"worker", worker}, {"i", i}, {"filling", filling}});
        }
      });
    }
  }

  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const json::object& line : lines()) {
    const auto worker = line.at("worker").as_int64();
    EXPECT_EQ(text_of(line.at("filling")), std::string(1500, static_cast<char>('a' + worker)));
    seen.emplace(worker, line.at("i").as_int64());
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(threads * each));
}

TEST_F(Log, SaysWhenAFileCannotBeOpenedAndStaysWhereItWas) {
  EXPECT_FALSE(set_log_file(directory_ + "/no/such/directory/log"));
  log(Level::info, "still here");

  EXPECT_EQ(lines().back().at("event"), "still here");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::observe
