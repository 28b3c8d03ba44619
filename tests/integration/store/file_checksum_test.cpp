#include "store/rocksdb/file_checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::store {
namespace HK_TEST_FILE {

std::string checksum_of(rocksdb::FileChecksumGenerator& made, const std::string& content,
                        std::size_t piece) {
  for (std::size_t at = 0; at < content.size(); at += piece) {
    const std::string part = content.substr(at, piece);
    made.Update(part.data(), part.size());
  }
  made.Finalize();
  return made.GetChecksum();
}

/// Directories hold files with the checksums of both.
TEST(FileChecksum, IsTheOneOfRocksDbUnderItsName) {
  const auto ours = make_file_checksums();
  const auto theirs = rocksdb::GetFileChecksumGenCrc32cFactory();
  EXPECT_STREQ(ours->Name(), theirs->Name());

  std::string content;
  for (std::size_t i = 0; i < 100'000; ++i) {
    content.push_back(static_cast<char>(i * i >> 3U));
  }
  for (const std::size_t size : {0UL, 1UL, 7UL, 4096UL, 100'000UL}) {
    const std::string part = content.substr(0, size);
    const auto a = ours->CreateFileChecksumGenerator({});
    const auto b = theirs->CreateFileChecksumGenerator({});
    EXPECT_STREQ(a->Name(), b->Name());
    EXPECT_EQ(checksum_of(*a, part, 333), checksum_of(*b, part, 4096)) << size;
  }
}

TEST(FileChecksum, ComesUnderNoOtherName) {
  rocksdb::FileChecksumGenContext asked;
  asked.requested_checksum_func_name = rocksdb::kStandardDbFileChecksumFuncName;
  EXPECT_NE(make_file_checksums()->CreateFileChecksumGenerator(asked), nullptr);
  asked.requested_checksum_func_name = "another";
  EXPECT_EQ(make_file_checksums()->CreateFileChecksumGenerator(asked), nullptr);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
