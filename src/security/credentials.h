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
  static MasterKey make();
  /// 32 random bytes as 64 hex digits (anything else: invalid_argument, saying so).
  static Result<MasterKey> from_hex(const Secret& hex);
  /// Reads the file; creates it (0600, synced with its directory) when absent and `create`. Refuses
  /// a file that others can read. not_found, permission_denied, invalid_argument (not a key),
  /// unavailable.
  static Result<MasterKey> from_file(const std::string& path, bool create);
  /// Writes it to a file (0600) that replaces the one of that name, if any; the file and its name
  /// are durable when it returns. permission_denied, unavailable.
  [[nodiscard]] Result<void> write_file(const std::string& path) const;

  /// This key with the pepper of the one that it replaces: tokens keep their digests.
  [[nodiscard]] MasterKey taking_over_from(const MasterKey& before) const;
  /// The pepper, for the store: it outlives the key that it was derived from.
  [[nodiscard]] std::string sealed_pepper() const;
  /// This key with a pepper that was stored. corruption: another key has sealed it.
  [[nodiscard]] Result<MasterKey> with_pepper(std::string_view sealed) const;
  /// A key, for from_hex(), that seals the secrets of one place that are not a tenant's. As long as
  /// this is the first key of its directory it comes by way of the pepper, as format 1 has it; then
  /// from the key itself, so that an old key opens nothing.
  [[nodiscard]] Secret derived_for(std::string_view place) const;
  [[nodiscard]] bool same_as(const MasterKey& other) const;

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
  bool first_ = true;  ///< the pepper is its own
};

/// Gives a key file another name, in place of the file that had it; durable when it returns.
/// permission_denied, unavailable.
Result<void> rename_key_file(const std::string& from, const std::string& to);

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
/// For an Rng whose numbers nobody must be able to guess from outside.
std::uint64_t random_seed();
/// Buffered bits from the operating system. One per thread.
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;

 private:
  std::array<std::uint64_t, 64> buffer_{};
  std::size_t used_ = 64;
};

}  // namespace hk::security
