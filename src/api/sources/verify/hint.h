/// Why a signature may not match: the usual mistakes, tried one after the other. Slow beside
/// verify(): for people who look into the quarantine. Pure, any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/sources/verify/received.h"
#include "api/sources/verify/scheme.h"

namespace hk::api::sources {

/// Another source, and what it has.
struct OtherSource {
  std::string name{};
  std::vector<Key> keys{};
};

/// The first mistake with which the request would be good; nullopt: none of them.
/// REQUIRES: verify() rejects it.
std::optional<std::string> find_hint(const Scheme& scheme, std::span<const Key> keys,
                                     const Received& request, std::span<const OtherSource> others);

}  // namespace hk::api::sources
