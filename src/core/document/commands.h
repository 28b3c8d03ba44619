/// Commands about documents, which adapters keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/document/record.h"

namespace hk::core {

/// Creates or replaces. conflict: the stored version is not `if_version` (0: there is none).
struct PutDocumentCommand {
  Document document{};
  std::optional<std::uint64_t> if_version{};
};

/// Done, also if there is none.
struct DeleteDocumentCommand {
  TenantId tenant{};
  std::string kind{};
  std::string name{};
};

using DocumentCommand = std::variant<PutDocumentCommand, DeleteDocumentCommand>;

}  // namespace hk::core
