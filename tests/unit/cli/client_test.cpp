#include "cli/client.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/development.h"
#include "cli/process.h"

namespace hk::cli {
namespace HK_TEST_FILE {

class Client : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-client-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name;
    environment_["HOME"] = home_;
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  void profile(const std::string& text, mode_t mode = 0600, const std::string& below = ".config") {
    const std::string folder = home_ + "/" + below + "/hikyaku";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/client.conf") << text;
    ::chmod((folder + "/client.conf").c_str(), mode);
  }
  Connection connect(const ClientFlags& flags = {}) {
    return make_connection(flags, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  std::string home_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Client, TheMostSpecialTokenWins) {
  EXPECT_TRUE(connect().token.empty());
  EXPECT_EQ(connect().url, "http://127.0.0.1:8080");
  environment_["QSTASH_TOKEN"] = "of qstash";
  EXPECT_EQ(connect().token.reveal(), "of qstash");
  environment_["HIKYAKU_TOKEN"] = "of the server";
  EXPECT_EQ(connect().token.reveal(), "of the server");
  profile("token = of the profile\nurl = https://h.example/\n");
  EXPECT_EQ(connect().token.reveal(), "of the profile");
  EXPECT_EQ(connect().url, "https://h.example");
  environment_["HIKYAKU_CLIENT_TOKEN"] = "of the client";
  EXPECT_EQ(connect().token.reveal(), "of the client");
  EXPECT_EQ(connect().url, "https://h.example");
  EXPECT_EQ(connect({.dev = true}).token.reveal(), dev_token().reveal());
  EXPECT_EQ(connect({.dev = true}).url, "http://127.0.0.1:8080");
  EXPECT_EQ(connect({.token = Secret{"flag"}, .dev = true}).token.reveal(), "flag");
}

TEST_F(Client, AnEmptyVariableIsNotSet) {
  environment_["HIKYAKU_CLIENT_TOKEN"] = "";
  environment_["HIKYAKU_URL"] = "";
  profile("token = t\nurl = http://p.example:1\n");

  EXPECT_EQ(connect().token.reveal(), "t");
  EXPECT_EQ(connect().url, "http://p.example:1");
}

TEST_F(Client, TheTokenOfAProfileGoesToItsServerOnly) {
  profile("url = https://p.example\ntoken = t\nca_file = /ca.pem\n");

  EXPECT_EQ(connect({.url = "https://p.example/"}).token.reveal(), "t");
  EXPECT_EQ(connect({.url = "https://p.example/"}).ca_file, "/ca.pem");
  EXPECT_TRUE(connect({.url = "https://other.example"}).token.empty());
  EXPECT_TRUE(connect({.url = "https://other.example"}).ca_file.empty());
  environment_["HIKYAKU_URL"] = "https://third.example";
  EXPECT_TRUE(connect().token.empty());
}

TEST_F(Client, TheBaseDirectoryOfXdgIsLookedIn) {
  environment_["XDG_CONFIG_HOME"] = home_ + "/xdg";
  profile("token = other\n");
  profile("token = t\n", 0600, "xdg");

  EXPECT_EQ(connect().token.reveal(), "t");
}

TEST_F(Client, AProfileThatCannotBeUsedIsSaidSo) {
  profile("token = t\n", 0640);
  EXPECT_NE(connect().problem.find("chmod 600"), std::string::npos) << connect().problem;
  EXPECT_TRUE(connect().token.empty());
  EXPECT_TRUE(connect({.dev = true}).problem.empty());

  profile("tokn = t\n");
  EXPECT_NE(connect().problem.find("line 1: there is no \"tokn\""), std::string::npos);
  profile("token\n");
  EXPECT_NE(connect().problem.find("there is no \"=\""), std::string::npos);
}

TEST(ShellQuoted, GivesOneWordBack) {
  EXPECT_EQ(shell_quoted("/usr/bin/hikyaku"), "/usr/bin/hikyaku");
  EXPECT_EQ(shell_quoted("/my files/it's"), R"('/my files/it'\''s')");
  EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
