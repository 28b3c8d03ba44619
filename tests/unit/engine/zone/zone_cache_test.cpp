#include "engine/zone/zone_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace hk::engine {
namespace HK_TEST_FILE {

TEST(ZoneCache, ReadsAZoneOnceAndDoesNotRememberUnknownNames) {
  const std::string path = testing::TempDir() + "zone-cache-" + std::to_string(::getpid());
  std::filesystem::create_directories(path);
  const std::string berlin = std::string(system_zone_directory) + "/Europe/Berlin";
  ZoneCache zones(path);
  EXPECT_NE(zones.find("UTC"), nullptr);
  EXPECT_EQ(zones.find("Berlin"), nullptr);
  EXPECT_EQ(zones.load("Berlin").error().kind, ErrorKind::invalid_argument);

  std::filesystem::copy_file(berlin, path + "/Berlin");
  const core::Zone* const found = zones.find("Berlin");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, *load_zone("Europe/Berlin"));

  std::filesystem::remove_all(path);
  EXPECT_EQ(zones.find("Berlin"), found);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
