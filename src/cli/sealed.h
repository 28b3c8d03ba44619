/// Everything in a store that the master key has sealed, directly or by a key derived from it. What
/// is added to it is resealed by a rotation, and checked by `hikyaku verify`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/record.h"
#include "store/store.h"

namespace hk::cli {

struct Sealed {
  std::optional<std::string> pepper{};         ///< from the first rotation on
  std::vector<core::Tenant> tenants{};         ///< signing keys, secrets of access keys
  std::vector<core::Document> signing_keys{};  ///< of SNS
  std::vector<core::ledger::Book> books{};     ///< the keys that sign their checkpoints

  [[nodiscard]] bool empty() const { return !pepper && tenants.empty(); }
};

/// As read_stored() says: internal or corruption.
Result<Sealed> read_sealed(store::Store& store);

}  // namespace hk::cli
