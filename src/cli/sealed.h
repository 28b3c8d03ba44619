/// Everything in a store that the master key has sealed, directly or by a key derived from it. What
/// is added to it is resealed by a rotation, and checked by `hikyaku verify`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  /// Of webhooks: what signs them. Only if asked for.
  std::vector<core::webhook::Endpoint> endpoints{};
  std::vector<core::Source> sources{};  ///< what services sign webhooks with

  [[nodiscard]] bool empty() const { return !pepper && tenants.empty(); }
};

/// "": there is no such tenant.
std::string_view name_of_tenant(const Sealed& sealed, core::TenantId id);

/// A start needs no endpoints, and there may be very many.
enum class Endpoints : bool { left_out, included };

/// As read_stored() says: internal or corruption.
Result<Sealed> read_sealed(store::Store& store, Endpoints endpoints);

}  // namespace hk::cli
