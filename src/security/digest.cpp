#include "security/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstring>

#include "base/assert.h"

namespace hk::security {
namespace {

constexpr std::size_t block_bytes = 64;

// OpenSSL 3 looks an algorithm up by name at every implicit fetch, which costs more than hashing a
// small message. Fetched once and kept for the life of the process.
const EVP_MD* fetch(const char* name, const char* properties) {
  const EVP_MD* const fetched = EVP_MD_fetch(nullptr, name, properties);
  HK_ASSERT(fetched != nullptr);
  return fetched;
}

const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = fetch("SHA256", nullptr);
  return algorithm;
}

// A checksum here, not a protection: also where the configuration of OpenSSL asks for FIPS.
const EVP_MD* md5_algorithm() {
  static const EVP_MD* const algorithm = fetch("MD5", "-fips");
  return algorithm;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context new_context() {
  Context context(EVP_MD_CTX_new());
  HK_ASSERT(context != nullptr);
  return context;
}

// The one-shot functions use a context of their thread, so that they allocate nothing.
EVP_MD_CTX* thread_context() {
  thread_local const Context context = new_context();
  return context.get();
}

void begin(EVP_MD_CTX* context, const EVP_MD* algorithm = sha256_algorithm()) {
  HK_ASSERT(EVP_DigestInit_ex2(context, algorithm, nullptr) == 1);
}

void add(EVP_MD_CTX* context, const void* bytes, std::size_t count) {
  HK_ASSERT(EVP_DigestUpdate(context, bytes, count) == 1);
}

template <class Digest = Digest256>
Digest end(EVP_MD_CTX* context) {
  Digest digest;
  unsigned int size = 0;
  HK_ASSERT(EVP_DigestFinal_ex(context, digest.data(), &size) == 1);
  HK_ASSERT(size == digest.size());
  return digest;
}

}  // namespace

Digest256 sha256(std::string_view bytes) {
  EVP_MD_CTX* const context = thread_context();
  begin(context);
  add(context, bytes.data(), bytes.size());
  return end(context);
}

Digest128 md5(std::string_view bytes) {
  // A context of its own: one that changes its algorithm allocates anew each time.
  thread_local const Context context = new_context();
  begin(context.get(), md5_algorithm());
  add(context.get(), bytes.data(), bytes.size());
  return end<Digest128>(context.get());
}

struct Sha256::Impl {
  Context context = new_context();
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) { begin(impl_->context.get()); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  add(impl_->context.get(), bytes.data(), bytes.size());
}

Digest256 Sha256::finish() { return end(impl_->context.get()); }

namespace {

// RFC 2104 over the context of the thread: EVP_MAC would look the hash up again at every new key.
template <class Digest, std::size_t block_size>
Digest mac_of(EVP_MD_CTX* context, const EVP_MD* algorithm, std::string_view key,
              std::span<const std::string_view> parts) {
  std::array<std::uint8_t, block_size> block{};
  if (key.size() > block.size()) {
    begin(context, algorithm);
    add(context, key.data(), key.size());
    const auto shorter = end<Digest>(context);
    std::memcpy(block.data(), shorter.data(), shorter.size());
  } else if (!key.empty()) {
    std::memcpy(block.data(), key.data(), key.size());
  }

  for (auto& byte : block) {
    byte ^= 0x36U;
  }
  begin(context, algorithm);
  add(context, block.data(), block.size());
  for (const std::string_view part : parts) {
    add(context, part.data(), part.size());
  }
  const auto inner = end<Digest>(context);

  for (auto& byte : block) {
    byte ^= 0x36U ^ 0x5cU;
  }
  begin(context, algorithm);
  add(context, block.data(), block.size());
  add(context, inner.data(), inner.size());
  OPENSSL_cleanse(block.data(), block.size());
  return end<Digest>(context);
}

template <class Digest, std::size_t block_size>
std::string mac_text(const char* name, std::string_view key,
                     std::span<const std::string_view> parts) {
  static const EVP_MD* const algorithm = fetch(name, nullptr);
  // A context of its own: one that changes its algorithm allocates anew each time.
  thread_local const Context context = new_context();
  const auto digest = mac_of<Digest, block_size>(context.get(), algorithm, key, parts);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Digest256 hmac_sha256(std::string_view key, std::string_view bytes) {
  return hmac_sha256(key, std::span(&bytes, 1));
}

Digest256 hmac_sha256(std::string_view key, std::span<const std::string_view> parts) {
  return mac_of<Digest256, block_bytes>(thread_context(), sha256_algorithm(), key, parts);
}

std::string hmac(Hash hash, std::string_view key, std::span<const std::string_view> parts) {
  switch (hash) {
    case Hash::sha1: return mac_text<std::array<std::uint8_t, 20>, block_bytes>("SHA1", key, parts);
    case Hash::sha256: break;
    case Hash::sha512:
      return mac_text<std::array<std::uint8_t, 64>, 2 * block_bytes>("SHA512", key, parts);
  }
  const Digest256 digest = hmac_sha256(key, parts);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hk::security
