#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "fixture.h"
#include "observe/log.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

std::string text(const boost::json::object& line, std::string_view name) {
  return std::string(line.at(name).as_string());
}

/// What the log says of requests.
class AuthLog : public ApiTest {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-auth-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    ASSERT_TRUE(observe::set_log_file(directory_ + "/log"));
  }
  void TearDown() override {
    observe::set_log_file("");
    observe::set_log_level(observe::Level::info);
    std::filesystem::remove_all(directory_);
  }

  /// On a thread of its own, whose lines nobody has used up yet.
  std::vector<boost::json::object> lines_of(const std::function<void()>& work) {
    std::thread(work).join();
    std::vector<boost::json::object> out;
    std::ifstream file(directory_ + "/log");
    for (std::string line; std::getline(file, line);) {
      all_ += line;
      out.push_back(boost::json::parse(line).as_object());
    }
    return out;
  }

  std::string directory_;
  std::string all_;
};

TEST_F(AuthLog, EveryRefusalSaysWhoWhatAndWhyAndShowsNoSecret) {
  const auto lines = lines_of([&] {
    call_as("", "GET", "/v2/dlq");
    call_as("guessed-secret", "GET", "/v2/messages/msg_secret?qstash_token=query-secret");
    call_as("token-1", "POST", "/api/v1/admin/backup");
    call_as("", "POST", "/?Action=ListQueues&Secret=form-secret",
            {{"Authorization",
              "AWS4-HMAC-SHA256 Credential=HKNOBODY/20231114/us-east-1/sqs/aws4_request, "
              "SignedHeaders=host, Signature=signature-secret"}});
  });

  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"token", "no token", "/v2/dlq"},
      {"token", "unknown token", "/v2/messages/{messageId}"},
      {"admin_token", "not the admin token", "/api/v1/admin/backup"},
      {"signature", "", "ListQueues"},
  };
  ASSERT_EQ(lines.size(), std::size(rows));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [way, reason, asked_for] = rows[i];
    SCOPED_TRACE(boost::json::serialize(lines[i]));
    EXPECT_EQ(text(lines[i], "event"), "auth.refused");
    EXPECT_EQ(text(lines[i], "way"), way);
    EXPECT_EQ(text(lines[i], "asked_for"), asked_for);
    EXPECT_TRUE(lines[i].contains("peer"));
    if (!reason.empty()) {
      EXPECT_EQ(text(lines[i], "reason"), reason);
    }
  }
  EXPECT_NE(text(lines[3], "reason"), "");
  EXPECT_EQ(all_.find("secret"), std::string::npos);
  EXPECT_EQ(all_.find("token-1"), std::string::npos);
}

TEST_F(AuthLog, WhoeverGuessesFastIsCountedRatherThanWritten) {
  const auto begin = std::chrono::steady_clock::now();
  const auto lines = lines_of([&] {
    for (int i = 0; i < 500; ++i) {
      call_as("wrong", "GET", "/v2/dlq");
    }
  });
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);

  EXPECT_GE(lines.size(), 5U);
  EXPECT_LE(lines.size(), 5 * static_cast<std::size_t>(seconds.count() + 1));
}

TEST_F(AuthLog, WhoIsLetInIsWrittenIfAskedFor) {
  EXPECT_TRUE(lines_of([&] { call("GET", "/v2/dlq"); }).empty());
  observe::set_log_level(observe::Level::debug);

  const auto lines = lines_of([&] { call("GET", "/v2/dlq"); });

  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(text(lines[0], "event"), "auth.accepted");
  EXPECT_EQ(text(lines[0], "tenant"), "default");
  EXPECT_EQ(all_.find("token-1"), std::string::npos);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
