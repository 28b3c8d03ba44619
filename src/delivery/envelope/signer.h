/// The `Upstash-Signature` of an attempt: a JWT (HS256) over the URL and the body's hash that
/// receivers verify with the tenant's current or next signing key. Made anew for every attempt, on
/// its I/O thread; one Signer per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/secret.h"
#include "core/record.h"

namespace hk::delivery {

struct SignedContent {
  std::string_view url{};      ///< exactly as published
  std::string_view body{};     ///< raw
  std::int64_t issued_at = 0;  ///< seconds, rounded down
  core::Fence fence{};
  core::PartitionId partition{};
};

class Signer {
 public:
  /// The seed makes `jti` unique across threads and restarts; it protects nothing.
  explicit Signer(std::uint64_t seed) : random_(seed) {}

  /// Appends the three parts of the token. REQUIRES: the key is not empty.
  void append_token(std::string& out, const Secret& key, const SignedContent& content);

 private:
  SeededRng random_;
  std::string claims_;  ///< reused
};

}  // namespace hk::delivery
