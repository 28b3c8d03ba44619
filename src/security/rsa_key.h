/// An RSA key that signs, and a certificate by which anybody can verify what it signed. For
/// protocols whose clients expect both; what we sign by our own choice is signed with HMACs.
/// Callable from any thread; a key may be used by several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace hk::security {

enum class RsaHash : std::uint8_t {
  sha1,  ///< broken for signatures; only where a protocol has nothing else
  sha256,
};

class RsaKey {
 public:
  struct Made {
    Secret private_pem{};
    std::string certificate_pem{};
  };
  /// 2048 bits, and a certificate signed by itself for `common_name`. Takes a tenth of a second or
  /// more: not for I/O threads.
  static Made make(const std::string& common_name);
  /// corruption: not the private key of make().
  static Result<RsaKey> from_pem(const Secret& private_pem);

  /// PKCS #1 v1.5; 256 bytes.
  [[nodiscard]] std::string sign(RsaHash hash, std::string_view text) const;

 private:
  struct Impl;
  explicit RsaKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// Does the signature belong to the text, for the key in this certificate? False also for a
/// certificate that is none.
bool rsa_verify(std::string_view certificate_pem, RsaHash hash, std::string_view text,
                std::string_view signature);

}  // namespace hk::security
