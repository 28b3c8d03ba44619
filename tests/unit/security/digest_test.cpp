#include "security/digest.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <string>

#include "base/encoding.h"
#include "base/random.h"

namespace {
std::size_t bytes_compared = 0;
}

/// In place of OpenSSL's, in this binary: no clock can tell reliably whether a comparison takes the
/// same time for all inputs, but that it is made by the function that does can be seen.
extern "C" int CRYPTO_memcmp(const void* a, const void* b, std::size_t size) {
  bytes_compared += size;
  unsigned differs = 0;
  for (std::size_t i = 0; i < size; ++i) {
    differs |= static_cast<unsigned>(static_cast<const unsigned char*>(a)[i] ^
                                     static_cast<const unsigned char*>(b)[i]);
  }
  return static_cast<int>(differs);
}

namespace hk::security {
namespace {

std::string text(const Digest256& digest) {
  return hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string bytes(SeededRng& rng, std::size_t count) {
  std::string out;
  while (out.size() < count) {
    out.push_back(static_cast<char>(rng.below(256)));
  }
  return out;
}

TEST(Sha256, GivesTheDigestsOfFips180) {
  struct Row {
    std::string input;
    std::string_view digest;
  };
  const Row rows[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "opqrs"
       "mnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.input.size());
    EXPECT_EQ(text(sha256(row.input)), row.digest);
  }
}

TEST(Md5, GivesTheDigestsOfRfc1321) {
  struct Row {
    std::string_view input;
    std::string_view digest;
  };
  const Row rows[] = {
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a", "0cc175b9c0f1b6a831c399e269772661"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.input);
    const Digest128 digest = md5(row.input);
    EXPECT_EQ(hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size())),
              row.digest);
    EXPECT_EQ(text(sha256("abc")),  // the two do not disturb each other
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
}

TEST(Sha256, IsTheSameInPiecesOfAnySize) {
  SeededRng rng(1);
  const std::string whole = bytes(rng, 1000);

  for (const std::size_t piece : {1UL, 7UL, 63UL, 64UL, 65UL, 999UL, 1000UL}) {
    SCOPED_TRACE(piece);
    Sha256 hash;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
      hash.update(std::string_view(whole).substr(at, piece));
    }
    EXPECT_EQ(hash.finish(), sha256(whole));
  }
}

TEST(Sha256, IsNotDisturbedByOtherHashesBetweenItsPieces) {
  Sha256 hash;
  hash.update("a");
  sha256("something else");
  hmac_sha256("key", "and another");
  Sha256 moved = std::move(hash);
  moved.update("bc");

  EXPECT_EQ(moved.finish(), sha256("abc"));
}

TEST(HmacSha256, GivesTheCodesOfRfc4231) {
  struct Row {
    std::string_view name;
    std::string key;
    std::string data;
    std::string_view code;
  };
  std::string counting;
  for (int i = 1; i <= 25; ++i) {
    counting.push_back(static_cast<char>(i));
  }
  const Row rows[] = {
      {"case 1", std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"case 2: a key shorter than the digest", "Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {"case 3", std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {"case 4", counting, std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {"case 6: a key longer than a block", std::string(131, '\xaa'),
       "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {"case 7: key and data longer than a block", std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The "
       "key "
       "needs to be hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
      {"nothing at all", "", "",
       "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(text(hmac_sha256(row.key, row.data)), row.code);
  }
}

TEST(HmacSha256, TakesAKeyOfExactlyOneBlockAsItIs) {
  const std::string block(64, 'k');
  EXPECT_NE(hmac_sha256(block, "x"), hmac_sha256(block + "k", "x"));
  EXPECT_EQ(hmac_sha256(std::string(32, 'k'), "x"),
            hmac_sha256(std::string(32, 'k') + std::string(32, '\0'), "x"));
}

TEST(ConstantTimeEqual, ComparesContentAndSize) {
  EXPECT_TRUE(constant_time_equal("", ""));
  EXPECT_TRUE(constant_time_equal("same", std::string("same")));
  EXPECT_FALSE(constant_time_equal("same", "sama"));
  EXPECT_FALSE(constant_time_equal("same", "some"));
  EXPECT_FALSE(constant_time_equal("same", "samer"));
  EXPECT_FALSE(constant_time_equal("", "a"));
}

TEST(ConstantTimeEqual, LooksAtEveryByteWhereverTheFirstDifferenceIs) {
  const std::string secret(40, 's');
  for (std::size_t differs = 0; differs < secret.size(); ++differs) {
    std::string guess = secret;
    guess[differs] = 'x';
    const std::size_t before = bytes_compared;
    EXPECT_FALSE(constant_time_equal(secret, guess));
    EXPECT_EQ(bytes_compared - before, secret.size());
  }
}

TEST(Crc32c, GivesTheChecksumsOfRfc3720) {
  struct Row {
    std::string_view name;
    std::string input;
    std::uint32_t checksum;
  };
  std::string rising;
  for (int i = 0; i < 32; ++i) {
    rising.push_back(static_cast<char>(i));
  }
  const std::string falling(rising.rbegin(), rising.rend());
  const Row rows[] = {
      {"zeroes", std::string(32, '\0'), 0x8a9136aaU},
      {"ones", std::string(32, '\xff'), 0x62a8ab43U},
      {"rising", rising, 0x46dd794eU},
      {"falling", falling, 0x113fdb5cU},
      {"digits", "123456789", 0xe3069283U},
      {"nothing", "", 0U},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(crc32c(row.input), row.checksum);
    EXPECT_EQ(detail::crc32c_portable(row.input), row.checksum);
  }
}

TEST(Crc32c, IsTheSameWithAndWithoutTheInstructionAndInPieces) {
  SeededRng rng(2);
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string whole = bytes(rng, size);
    const std::size_t cut = rng.below(size + 1);
    const std::string_view view = whole;

    EXPECT_EQ(crc32c(whole), detail::crc32c_portable(whole));
    EXPECT_EQ(crc32c(view.substr(cut), crc32c(view.substr(0, cut))), crc32c(whole));
  }
}

}  // namespace
}  // namespace hk::security
