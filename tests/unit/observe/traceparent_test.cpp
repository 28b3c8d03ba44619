#include <gtest/gtest.h>

#include "observe/trace.h"

namespace hk::observe {
namespace HK_TEST_FILE {

constexpr std::string_view example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceParent, IsReadAndWrittenAsTheRecommendationSays) {
  const auto parent = parse_traceparent(example);

  ASSERT_TRUE(parent);
  EXPECT_EQ(hex(parent->trace_id.data(), 16), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex(parent->span_id.data(), 8), "00f067aa0ba902b7");
  EXPECT_EQ(parent->flags, 1);
  EXPECT_EQ(format_traceparent(*parent), example);
}

TEST(TraceParent, IsRefusedWhenItIsAnythingElse) {
  const std::string_view rows[] = {
      "",
      "00",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
      " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
      "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bx-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
  };

  for (const std::string_view row : rows) {
    SCOPED_TRACE(row);
    EXPECT_FALSE(parse_traceparent(row));
  }
}

TEST(TraceParent, KeepsEveryFlag) {
  auto parent = parse_traceparent(example).value();
  for (unsigned flags = 0; flags < 256; ++flags) {
    parent.flags = static_cast<std::uint8_t>(flags);
    EXPECT_EQ(parse_traceparent(format_traceparent(parent))->flags, flags);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::observe
