#include "base/byte_run.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace hk {
namespace HK_TEST_FILE {

TEST(BytesBefore, FindsTheFirstSpecialByteAtEveryPlace) {
  const auto special = [](EightBytes bytes) {
    return bytes.below(0x20) | bytes.equal('"') | bytes.equal(0x7f) | bytes.not_ascii();
  };
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string plain(size, 'x');
    EXPECT_EQ(bytes_before(plain, special), size);
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = plain;
        text[at] = static_cast<char>(byte);
        const bool stops = byte < 0x20 || byte == '"' || byte >= 0x7f;
        ASSERT_EQ(bytes_before(text, special), stops ? at : size) << size << " " << byte;
      }
    }
  }
}

TEST(BytesBefore, IsNotMisledByWhatComesAfter) {
  SeededRng rng(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t left = rng.below(30); left > 0; --left) {
      text += static_cast<char>(0x1e + rng.below(5));  // on both sides of the limit
    }
    std::size_t expected = 0;
    while (expected < text.size() && text[expected] >= 0x20 && text[expected] != '!') ++expected;

    ASSERT_EQ(bytes_before(text, [](EightBytes b) { return b.below(0x20) | b.equal('!'); }),
              expected);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk
