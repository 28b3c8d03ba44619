#include <gtest/gtest.h>

#include "outbox/send/check_row.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

TEST(SendCheckRow, EndsARowThatCannotBeSent) {
  struct Case {
    std::optional<std::string> payload;
    bool is_json;
    std::string_view reason;
    int http_status;
  };
  const Case cases[] = {{"{}", true, "", 0},
                        {"{", false, "", 0},
                        {"", false, "", 0},
                        {"{", true, "PAYLOAD_INVALID", 400},
                        {std::nullopt, true, "PAYLOAD_TOO_LARGE", 413},
                        {std::nullopt, false, "PAYLOAD_TOO_LARGE", 413}};
  for (const Case& one : cases) {
    Row row;
    row.payload = one.payload;
    row.is_json = one.is_json;

    const auto bad = check_payload(row);

    EXPECT_EQ(bad.has_value(), !one.reason.empty());
    if (bad) {
      EXPECT_EQ(bad->ending, Ending::aborted);
      EXPECT_EQ(bad->reason_code, one.reason);
      EXPECT_EQ(bad->http_status, one.http_status);
      EXPECT_FALSE(bad->message.empty());
    }
  }
}

TEST(SendCheckRow, MakesAnyTextAFifoId) {
  EXPECT_EQ(fifo_id("order-1/\"~"), "order-1/\"~");
  EXPECT_EQ(fifo_id(std::string(128, 'x')), std::string(128, 'x'));
  const std::string others[] = {"", "a b", "caf\xc3\xa9", std::string(129, 'x'), "a\nb"};
  for (const std::string& text : others) {
    const std::string id = fifo_id(text);
    EXPECT_EQ(id.size(), 64U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_NE(fifo_id("a b"), fifo_id("a  b"));
}

TEST(SendCheckRow, TakesNamesThatAreNoPaths) {
  for (const std::string_view good : {"orders", "a.b-C_9", "..."}) {
    EXPECT_TRUE(is_plain_name(good)) << good;
  }
  for (const std::string_view bad : {"", ".", "..", "a/b", "a b", "a%2fb", "\xc3\xa4"}) {
    EXPECT_FALSE(is_plain_name(bad)) << bad;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
