/// Hashes, MACs and comparisons. Thin and allocation-free over OpenSSL; algorithms are fetched
/// once. Callable from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hk::security {

using Digest256 = std::array<std::uint8_t, 32>;
using Digest128 = std::array<std::uint8_t, 16>;

Digest256 sha256(std::string_view bytes);

/// Incremental; finish() may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view bytes);
  Digest256 finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A checksum that some protocols ask for. Broken: protects nothing.
Digest128 md5(std::string_view bytes);

Digest256 hmac_sha256(std::string_view key, std::string_view bytes);
/// Of the parts one after the other.
Digest256 hmac_sha256(std::string_view key, std::span<const std::string_view> parts);

/// What other services sign with. SHA-1 only because some of them still do: as a MAC it holds.
enum class Hash : std::uint8_t { sha1, sha256, sha512 };
/// Of the parts one after the other; 20, 32 or 64 bytes.
std::string hmac(Hash hash, std::string_view key, std::span<const std::string_view> parts);

/// True when equal; the time taken depends on the sizes only.
bool constant_time_equal(std::string_view a, std::string_view b);

/// crc32c(b, crc32c(a)) is the checksum of a followed by b.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

namespace detail {
/// What crc32c() does where the processor has no instruction for it.
std::uint32_t crc32c_portable(std::string_view bytes, std::uint32_t seed = 0);
}  // namespace detail

}  // namespace hk::security
