#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "security/credentials.h"

namespace hk::security {
namespace HK_TEST_FILE {

class MasterKeyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-key-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = name + "/master.key";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& text, mode_t mode) const {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  std::string directory_;
  std::string path_;
};

TEST_F(MasterKeyFile, IsCreatedForItsOwnerOnlyAndReadAgain) {
  const auto created = MasterKey::from_file(path_, true);
  ASSERT_TRUE(created) << created.error().message;
  const auto again = MasterKey::from_file(path_, false);
  ASSERT_TRUE(again);

  EXPECT_EQ(created->token_digest("t"), again->token_digest("t"));
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_EQ(status.st_size, 65);
  EXPECT_EQ(files(), 1U);
}

TEST_F(MasterKeyFile, IsNotCreatedUnasked) {
  const auto key = MasterKey::from_file(path_, false);

  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().kind, ErrorKind::not_found);
  EXPECT_EQ(files(), 0U);
}

TEST_F(MasterKeyFile, IsRefusedWhenOthersCanReachIt) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0644U, 0666U, 0601U}) {
    write(std::string(64, 'a'), mode);

    const auto key = MasterKey::from_file(path_, true);

    ASSERT_FALSE(key) << mode;
    EXPECT_EQ(key.error().kind, ErrorKind::permission_denied);
    EXPECT_NE(key.error().message.find("chmod 600 " + path_), std::string::npos);
  }
}

TEST_F(MasterKeyFile, IsNeverReplacedEvenWhenItHoldsNoKey) {
  for (const std::string& content :
       {std::string(), std::string("\n"), std::string(63, 'a'), std::string(64, 'z'),
        std::string(64, 'a') + " more", std::string(64, 'a') + std::string(3, '\0'),
        std::string(9000, 'a')}) {
    write(content, 0600);

    const auto key = MasterKey::from_file(path_, true);

    ASSERT_FALSE(key) << content;
    EXPECT_EQ(key.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(key.error().message.find(path_), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(path_), content.size());
  }
}

TEST_F(MasterKeyFile, MayEndWithWhiteSpace) {
  write(std::string(64, 'a') + " \r\n", 0600);

  EXPECT_TRUE(MasterKey::from_file(path_, false));
}

TEST_F(MasterKeyFile, SaysWhyItCannotBeMade) {
  const auto missing = MasterKey::from_file(directory_ + "/no/such/directory/master.key", true);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("No such file or directory"), std::string::npos);

  const auto directory = MasterKey::from_file(directory_, true);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, ErrorKind::invalid_argument);
}

TEST_F(MasterKeyFile, IsWrittenInPlaceOfAnotherAndRenamed) {
  const MasterKey key = MasterKey::make();
  write(std::string(64, 'a'), 0600);

  ASSERT_TRUE(key.write_file(path_));
  EXPECT_EQ(files(), 1U);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_TRUE(MasterKey::from_file(path_, false)->same_as(key));

  const MasterKey next = MasterKey::make();
  ASSERT_TRUE(next.write_file(path_ + ".next"));
  ASSERT_TRUE(rename_key_file(path_ + ".next", path_));
  EXPECT_EQ(files(), 1U);
  EXPECT_TRUE(MasterKey::from_file(path_, false)->same_as(next));
  EXPECT_FALSE(rename_key_file(path_ + ".next", path_));
  EXPECT_FALSE(next.write_file(directory_ + "/no/such/directory/master.key"));
}

TEST_F(MasterKeyFile, IsOneKeyWhenManyCreateItAtOnce) {
  std::string digests[8];
  {
    std::vector<std::jthread> threads;
    for (auto& digest : digests) {
      threads.emplace_back([&digest, this] {
        const auto key = MasterKey::from_file(path_, true);
        digest = key ? key->token_digest("t") : key.error().message;
      });
    }
  }
  for (const auto& digest : digests) {
    EXPECT_EQ(digest, MasterKey::from_file(path_, false)->token_digest("t"));
  }
  EXPECT_EQ(files(), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::security
