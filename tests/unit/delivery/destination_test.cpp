#include "delivery/destination.h"

#include <gtest/gtest.h>

#include "delivery/address.h"

namespace hk::delivery {
namespace HK_TEST_FILE {

TEST(Destination, TellsTheSchemeErrorInTheWordsOfTheService) {
  EXPECT_EQ(parse_destination("example.com").error().message,
            "invalid destination url: endpoint has invalid scheme, add http:// or https://");
  EXPECT_EQ(parse_destination("").error().message, "a non-empty destination must be provided");
}

TEST(Address, ANulByteDoesNotEndAnAddress) {
  for (const std::string_view text : {"192.0.2.1", "2001:db8::1"}) {
    EXPECT_TRUE(parse_address(text).has_value());
    EXPECT_FALSE(parse_address(std::string(text) + '\0').has_value());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
