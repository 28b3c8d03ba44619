/// Tokens, signing keys and the master key. The master key comes from the environment or a 0600
/// file and never from the store; from it are derived the pepper of token digests and the keys that
/// seal secrets.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"

namespace hk::security {

class MasterKey {
 public:
  /// 32 random bytes as 64 hex digits (anything else: invalid_argument, saying so).
  static Result<MasterKey> from_hex(const Secret& hex);
  /// Reads the file; creates it (0600, synced with its directory) when absent and `create`. Refuses
  /// a file that others can read. not_found, permission_denied, invalid_argument (not a key),
  /// unavailable.
  static Result<MasterKey> from_file(const std::string& path, bool create);

  /// Keyed digest under which a token is stored and looked up; 32 bytes.
  [[nodiscard]] std::string token_digest(std::string_view token) const;

  /// AES-256-GCM under a key derived for this record; `context` binds the ciphertext to its place
  /// (tenant, field), so that it cannot be moved to another one.
  [[nodiscard]] std::string seal(const Secret& plain, std::string_view context) const;
  /// corruption: another master key, another context, or altered bytes.
  [[nodiscard]] Result<Secret> open(std::string_view sealed, std::string_view context) const;

 private:
  explicit MasterKey(Secret key);
  Secret key_;
  Secret pepper_;
};

/// "hk_<kind>_" + 43 base64url characters of 32 random bytes + a 6-character checksum for secret
/// scanners.
Secret make_token(std::string_view kind);
/// True for a text of the shape that make_token() gives, with the right checksum: says nothing
/// about whether the token is known, only that it was not mistyped or cut.
bool looks_like_token(std::string_view text);
/// "sig_" + 28 letters and digits.
Secret make_signing_key();
/// What signs requests of AWS clients: "HK" + 18 upper-case letters and digits, and 40 letters and
/// digits that go with it.
std::string make_access_key_id();
Secret make_access_key_secret();

/// Bits from the operating system; aborts if it has none to give.
void fill_random(void* out, std::size_t count);
/// Buffered bits from the operating system. One per thread.
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;

 private:
  std::array<std::uint64_t, 64> buffer_{};
  std::size_t used_ = 64;
};

}  // namespace hk::security
