/// Documents as they are stored.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/message.h"

namespace hk::core {

/// A text in the middle of a key that is a path: "/" stands behind it. REQUIRES: it has none.
struct Folder {
  std::string name{};
  Folder() = default;
  Folder(std::string folder) : name(std::move(folder)) {}  // NOLINT: {tenant, kind, name} is a key
  Folder(const char* folder) : name(folder) {}             // NOLINT: as above
  friend auto operator<=>(const Folder&, const Folder&) = default;
};

/// What an adapter keeps, by kind and name; the core stores it and reads nothing of it.
struct Document {
  TenantId tenant{};
  std::string kind{};
  std::string name{};
  std::vector<Header> fields{};
  std::uint64_t version = 1;
  Moment created_at{};
  friend bool operator==(const Document&, const Document&) = default;
};
inline std::tuple<const TenantId&, Folder, const std::string&> key_of(const Document& document) {
  return {document.tenant, document.kind, document.name};
}

}  // namespace hk::core
