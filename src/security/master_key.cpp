#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "base/assert.h"
#include "base/encoding.h"
#include "security/bytes.h"
#include "security/credentials.h"
#include "security/digest.h"

namespace hk::security {
namespace {

constexpr std::size_t key_bytes = 32;

// A sealed record: version, salt, nonce, ciphertext, tag. Stored: the numbers never change meaning.
constexpr char version_1 = 1;
constexpr std::size_t salt_bytes = 16;
constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t header_bytes = 1 + salt_bytes + nonce_bytes;

constexpr std::string_view pepper_context = "pepper";

const EVP_CIPHER* aes_256_gcm() {
  static const EVP_CIPHER* const cipher = [] {
    EVP_CIPHER* fetched = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    HK_ASSERT(fetched != nullptr);
    return fetched;
  }();
  return cipher;
}

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

std::string as_string(const Digest256& digest) { return {digest.begin(), digest.end()}; }

int size_of(std::string_view text) {
  HK_ASSERT(text.size() < (std::size_t{1} << 30U));  // secrets are short; OpenSSL counts in int
  return static_cast<int>(text.size());
}

/// The label, the salt of fixed size and the context: no two records share a key, and the key of
/// one place opens nothing of another.
Secret record_key(const Secret& master, std::string_view salt, std::string_view context) {
  std::string input = "hikyaku/seal/v1";
  input.push_back('\0');
  input += salt;
  input += context;
  Digest256 digest = hmac_sha256(master.reveal(), input);
  Secret key(as_string(digest));
  OPENSSL_cleanse(digest.data(), digest.size());
  return key;
}

}  // namespace

MasterKey::MasterKey(Secret key) : key_(std::move(key)) {
  HK_ASSERT(key_.reveal().size() == key_bytes);
  pepper_ = Secret(as_string(hmac_sha256(key_.reveal(), "hikyaku/token/v1")));
}

Result<MasterKey> MasterKey::from_hex(const Secret& hex) {
  auto bytes = unhex(hex.reveal());
  if (!bytes || bytes->size() != key_bytes) {
    // The text is a secret, so the message counts it and does not show it.
    return fail(
        ErrorKind::invalid_argument,
        "the master key must be 64 hexadecimal digits (32 random bytes); what was given has " +
            std::to_string(hex.reveal().size()) + " characters" +
            (hex.reveal().size() == key_bytes * 2 ? " but not all are hexadecimal" : "") +
            ". \"openssl rand -hex 32\" makes one");
  }
  return MasterKey(Secret(std::move(*bytes)));
}

MasterKey MasterKey::make() {
  std::string bytes(key_bytes, '\0');
  fill_random(bytes.data(), bytes.size());
  return MasterKey(Secret(std::move(bytes)));
}

MasterKey MasterKey::taking_over_from(const MasterKey& before) const {
  MasterKey key = *this;
  key.pepper_ = before.pepper_;
  key.first_ = false;
  return key;
}

std::string MasterKey::sealed_pepper() const { return seal(pepper_, pepper_context); }

Result<MasterKey> MasterKey::with_pepper(std::string_view sealed) const {
  auto pepper = open(sealed, pepper_context);
  if (!pepper) {
    return std::unexpected(pepper.error());
  }
  MasterKey key = *this;
  key.pepper_ = std::move(*pepper);
  key.first_ = false;
  return key;
}

Secret MasterKey::derived_for(std::string_view place) const {
  const Digest256 digest =
      first_ ? hmac_sha256(token_digest("hikyaku/receipts"), place)
             : hmac_sha256(key_.reveal(), "hikyaku/derived/v1/" + std::string(place));
  return Secret(hex(as_string(digest)));
}

bool MasterKey::same_as(const MasterKey& other) const {
  return constant_time_equal(key_.reveal(), other.key_.reveal());
}

std::string MasterKey::token_digest(std::string_view token) const {
  return as_string(hmac_sha256(pepper_.reveal(), token));
}

std::string MasterKey::seal(const Secret& plain, std::string_view context) const {
  std::string out(header_bytes, version_1);
  fill_random(out.data() + 1, salt_bytes + nonce_bytes);
  const Secret key = record_key(key_, std::string_view(out).substr(1, salt_bytes), context);
  const std::string_view text = plain.reveal();
  out.resize(header_bytes + text.size() + tag_bytes);

  const CipherContext cipher(EVP_CIPHER_CTX_new());
  HK_ASSERT(cipher != nullptr);
  int written = 0;
  HK_ASSERT(EVP_EncryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key.reveal()),
                                bytes_of(out) + 1 + salt_bytes, nullptr) == 1);
  HK_ASSERT(EVP_EncryptUpdate(cipher.get(), nullptr, &written, bytes_of(out), 1) == 1);
  HK_ASSERT(
      EVP_EncryptUpdate(cipher.get(), nullptr, &written, bytes_of(context), size_of(context)) == 1);
  HK_ASSERT(EVP_EncryptUpdate(cipher.get(), bytes_of(out) + header_bytes, &written, bytes_of(text),
                              size_of(text)) == 1);
  HK_ASSERT(written == size_of(text));
  HK_ASSERT(
      EVP_EncryptFinal_ex(cipher.get(), bytes_of(out) + header_bytes + text.size(), &written) == 1);
  HK_ASSERT(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes,
                                bytes_of(out) + header_bytes + text.size()) == 1);
  return out;
}

Result<Secret> MasterKey::open(std::string_view sealed, std::string_view context) const {
  if (sealed.size() < header_bytes + tag_bytes) {
    return fail(ErrorKind::corruption,
                "a sealed secret is cut short: " + std::to_string(sealed.size()) + " bytes");
  }
  if (sealed.front() != version_1) {
    return fail(ErrorKind::corruption,
                "a sealed secret has format " +
                    std::to_string(static_cast<unsigned char>(sealed.front())) +
                    "; this version of hikyaku reads format 1");
  }

  const Secret key = record_key(key_, sealed.substr(1, salt_bytes), context);
  const std::string_view encrypted =
      sealed.substr(header_bytes, sealed.size() - header_bytes - tag_bytes);
  std::string tag(sealed.substr(sealed.size() - tag_bytes));
  std::string plain(encrypted.size(), '\0');

  const CipherContext cipher(EVP_CIPHER_CTX_new());
  HK_ASSERT(cipher != nullptr);
  int written = 0;
  HK_ASSERT(EVP_DecryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key.reveal()),
                                bytes_of(sealed) + 1 + salt_bytes, nullptr) == 1);
  HK_ASSERT(EVP_DecryptUpdate(cipher.get(), nullptr, &written, bytes_of(sealed), 1) == 1);
  HK_ASSERT(
      EVP_DecryptUpdate(cipher.get(), nullptr, &written, bytes_of(context), size_of(context)) == 1);
  HK_ASSERT(EVP_DecryptUpdate(cipher.get(), bytes_of(plain), &written, bytes_of(encrypted),
                              size_of(encrypted)) == 1);
  HK_ASSERT(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
  unsigned char nothing[EVP_MAX_BLOCK_LENGTH];
  if (EVP_DecryptFinal_ex(cipher.get(), nothing, &written) != 1) {
    OPENSSL_cleanse(plain.data(), plain.size());
    return fail(
        ErrorKind::corruption,
        "a sealed secret does not open: it was sealed with another master key or for another "
        "place, or its bytes were altered. Start with the master key the data was written with");
  }
  return Secret(std::move(plain));
}

}  // namespace hk::security
