/// Signatures (RFC 8032) that everybody can check who knows the public half. Pure functions of
/// their arguments: no randomness, no clock. Callable from any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"

namespace hk::security {

/// 32 bytes. REQUIRES: the seed has 32 bytes.
std::string ed25519_public_key(const Secret& seed);
/// 64 bytes. REQUIRES: the seed has 32 bytes.
std::string ed25519_sign(const Secret& seed, std::string_view text);
/// False also for a key or a signature that is none.
bool ed25519_verify(std::string_view public_key, std::string_view text, std::string_view signature);

}  // namespace hk::security
