#include "core/message.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace hk::core {
namespace HK_TEST_FILE {

TEST(MessageIdText, ComesBackAsItWent) {
  EXPECT_TRUE(rc::check([](std::uint64_t seq, std::uint64_t nonce) {
    RC_PRE(seq != 0);
    const MessageId id{Seq{seq}, nonce};

    RC_ASSERT(parse_message_id(to_text(id)) == id);
  }));
}

TEST(MessageIdText, SortsAsTheIdsDo) {
  EXPECT_TRUE(rc::check([](std::uint64_t a, std::uint64_t b) {
    RC_PRE(a != 0 && b != 0);
    RC_ASSERT((to_text({Seq{a}, 5}) < to_text({Seq{b}, 5})) == (a < b));
  }));
}

TEST(MessageIdText, HasOneLengthAndAPrefix) {
  for (const MessageId id : {MessageId{Seq{1}, 0}, MessageId{Seq{UINT64_MAX}, UINT64_MAX}}) {
    const std::string text = to_text(id);
    EXPECT_EQ(text.size(), 26U);
    EXPECT_TRUE(text.starts_with("msg_"));
  }
}

TEST(MessageIdText, AUuidOfBothNumbersIsTheSameId) {
  EXPECT_EQ(parse_message_id("00000000-0000-004d-fedc-ba9876543210"),
            (MessageId{Seq{77}, 0xfedcba9876543210}));
  for (const char* text :
       {"00000000-0000-0000-fedc-ba9876543210", "00000000-0000-004D-fedc-ba9876543210",
        "00000000_0000-004d-fedc-ba9876543210", "0000000000000-004d-fedc-ba9876543210",
        "00000000-0000-004d-fedc-ba987654321g"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(parse_message_id(text), std::nullopt);
  }
}

TEST(MessageIdText, RefusesWhatIsNotOne) {
  const std::string good = to_text({Seq{77}, 99});
  struct Row {
    std::string_view name;
    std::string text;
  };
  const Row rows[] = {
      {"empty", ""},
      {"prefix only", "msg_"},
      {"too short", good.substr(0, good.size() - 1)},
      {"too long", good + "0"},
      {"other prefix", "job_" + good.substr(4)},
      {"prefix in capitals", "MSG_" + good.substr(4)},
      {"a character that is no digit", good.substr(0, 25) + "-"},
      {"a NUL", good.substr(0, 25) + std::string(1, '\0')},
      {"number zero", "msg_" + std::string(22, '0')},
      {"number beyond 64 bits", "msg_" + std::string(11, 'z') + good.substr(15)},
      {"nonce beyond 64 bits", good.substr(0, 15) + std::string(11, 'z')},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_FALSE(parse_message_id(row.text).has_value());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
