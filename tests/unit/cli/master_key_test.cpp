#include "cli/master_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/reseal.h"
#include "engine/tenant_directory.h"
#include "store/codec.h"
#include "store/memory/sim_store.h"

namespace hk::cli {
namespace HK_TEST_FILE {

using security::MasterKey;

std::string digits(char one) { return std::string(64, one); }
MasterKey key(char one) { return MasterKey::from_hex(Secret{digits(one)}).value(); }

class OpenMasterKey : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-key-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    place_.data = name;
  }
  void TearDown() override { std::filesystem::remove_all(place_.data); }

  static void put_file(const std::string& path, char one) {
    std::ofstream(path) << digits(one);
    ::chmod(path.c_str(), 0600);
  }
  /// The digit of the key in that file; 0: there is none.
  static char in_file(const std::string& path) {
    std::ifstream file(path);
    char one = 0;
    file.get(one);
    return file ? one : '\0';
  }
  /// A tenant's secrets, as the first key of the directory has sealed them.
  void seal(const MasterKey& with) {
    const engine::TenantDirectory directory{with};
    tenant_ = directory.with_keys({.id = core::TenantId{1}, .name = "one"}, Secret{"now"},
                                  Secret{"next"});
    std::vector<store::Write> writes;
    store::encode(core::Put<core::Tenant>{tenant_}, writes);
    ASSERT_TRUE(store_.write(writes));
  }
  void rotate(const MasterKey& from, const MasterKey& to) {
    std::vector<store::Write> writes{store::put_pepper(to.taking_over_from(from).sealed_pepper())};
    store::encode(core::Put<core::Tenant>{engine::resealed(tenant_, from, to).value()}, writes);
    ASSERT_TRUE(store_.write(writes));
  }
  Result<MasterKey> open(IfMissing missing = IfMissing::make) {
    return open_master_key(place_, store_, missing);
  }

  KeyPlace place_;
  store::SimStore store_;
  core::Tenant tenant_;
};

TEST_F(OpenMasterKey, IsMadeWhereNothingIsSealedAndOnlyThere) {
  EXPECT_EQ(open(IfMissing::refuse).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(check_master_key(place_, store_).empty());
  EXPECT_TRUE(std::filesystem::is_empty(place_.data));

  EXPECT_TRUE(open());
  EXPECT_NE(in_file(place_.file()), '\0');
}

TEST_F(OpenMasterKey, IsNotReplacedWhenItIsMissing) {
  seal(key('a'));

  const auto missing = open();

  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_NE(missing.error().message.find("there is no file " + place_.file()), std::string::npos);
  EXPECT_EQ(check_master_key(place_, store_).size(), 1U);
  EXPECT_TRUE(std::filesystem::is_empty(place_.data));
}

TEST_F(OpenMasterKey, IsComparedWithWhatItSealed) {
  seal(key('a'));
  put_file(place_.file(), 'b');
  EXPECT_EQ(open().error().kind, ErrorKind::corruption);
  EXPECT_EQ(check_master_key(place_, store_).size(), 1U);

  put_file(place_.file(), 'a');
  EXPECT_TRUE(open());
  EXPECT_TRUE(check_master_key(place_, store_).empty());

  place_.setting = Secret{digits('b')};
  EXPECT_EQ(open().error().kind, ErrorKind::corruption);
  place_.setting = Secret{digits('a')};
  EXPECT_TRUE(open());
}

TEST_F(OpenMasterKey, ForgetsARotationThatHadSealedNothing) {
  seal(key('a'));
  put_file(place_.file(), 'a');
  put_file(place_.next_file(), 'b');

  const auto opened = open(IfMissing::refuse);

  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->token_digest("t"), key('a').token_digest("t"));
  EXPECT_EQ(in_file(place_.file()), 'a');
  EXPECT_FALSE(std::filesystem::exists(place_.next_file()));
}

TEST_F(OpenMasterKey, EndsARotationThatHadSealedEverything) {
  seal(key('a'));
  rotate(key('a'), key('b'));
  put_file(place_.file(), 'a');
  put_file(place_.next_file(), 'b');

  const auto opened = open(IfMissing::refuse);

  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->same_as(key('b')));
  EXPECT_EQ(opened->token_digest("t"), key('a').token_digest("t")) << "tokens go on";
  EXPECT_EQ(in_file(place_.file()), 'b');
  EXPECT_FALSE(std::filesystem::exists(place_.next_file()));
  EXPECT_TRUE(check_master_key(place_, store_).empty());
}

TEST_F(OpenMasterKey, LeavesBothFilesWhereNeitherFits) {
  seal(key('a'));
  put_file(place_.file(), 'b');
  put_file(place_.next_file(), 'c');

  EXPECT_EQ(open().error().kind, ErrorKind::corruption);
  EXPECT_EQ(in_file(place_.file()), 'b');
  EXPECT_EQ(in_file(place_.next_file()), 'c');
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
