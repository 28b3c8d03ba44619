#include "cli/descriptors.h"

#include <gtest/gtest.h>

namespace hk::cli {
namespace HK_TEST_FILE {

config::Options options_with(std::uint64_t connections, std::uint64_t attempts) {
  config::Options options;
  options.connections_max = connections;
  options.global_parallelism = attempts;
  return options;
}

TEST(ShareDescriptors, ClientsAndAttemptsGetWhatTheStoreLeaves) {
  struct Row {
    const char* name;
    std::uint64_t limit;
    std::uint64_t connections;
    std::uint64_t attempts;
    std::uint64_t connections_left;
    std::uint64_t attempts_left;
    bool word;
  };
  const Row rows[] = {
      {"plenty", 1'048'576, 16'000, 4'096, 16'000, 4'096, false},
      {"just enough", 20'736, 16'000, 4'096, 16'000, 4'096, false},
      {"one too few", 20'735, 16'000, 4'096, 15'999, 4'096, false},
      {"half of the connections", 8'740, 16'000, 100, 8'000, 100, false},
      {"less than half of them", 8'739, 16'000, 100, 7'999, 100, true},
      {"fewer attempts", 17'020, 16'000, 4'096, 12'285, 4'095, true},
      {"as few as it may be", 1'024, 16'000, 4'096, 288, 96, true},
      {"few, for small settings", 1'024, 200, 96, 200, 96, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    config::Options options = options_with(row.connections, row.attempts);

    const auto said = share_descriptors(row.limit, options);

    ASSERT_TRUE(said.has_value());
    EXPECT_EQ(options.connections_max, row.connections_left);
    EXPECT_EQ(options.global_parallelism, row.attempts_left);
    ASSERT_EQ(said->has_value(), row.word);
    if (row.word) {
      for (const std::uint64_t number : {row.limit, row.connections_left, row.attempts_left}) {
        EXPECT_NE((*said)->find(std::to_string(number)), std::string::npos) << **said;
      }
    }
  }
}

TEST(ShareDescriptors, WhateverTheLimitTheStoreKeepsItsOwn) {
  constexpr std::uint64_t of_the_store = 512;  // RocksDbOptions::open_files_max
  for (std::uint64_t limit = descriptors_min; limit < 30'000; limit += 97) {
    config::Options options = options_with(16'000, 4'096);

    ASSERT_TRUE(share_descriptors(limit, options).has_value());

    EXPECT_LT(options.connections_max + options.global_parallelism + of_the_store, limit);
    EXPECT_GT(options.connections_max, 0U);
    EXPECT_GT(options.global_parallelism, 0U);
  }
}

TEST(ShareDescriptors, TooFewAreRefusedAndChangeNothing) {
  config::Options options = options_with(16'000, 4'096);

  const auto said = share_descriptors(descriptors_min - 1, options);

  ASSERT_FALSE(said.has_value());
  EXPECT_EQ(said.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(said.error().message.find("is 1023"), std::string::npos) << said.error().message;
  EXPECT_NE(said.error().message.find("at least 1024"), std::string::npos) << said.error().message;
  EXPECT_EQ(options.connections_max, 16'000U);
  EXPECT_EQ(options.global_parallelism, 4'096U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
