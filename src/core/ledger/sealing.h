/// How the private keys of books are sealed before they are stored. Handed to the machine like its
/// limits.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/secret.h"
#include "core/message.h"

namespace hk::core {

/// `place` binds what is sealed to where it stands: it opens nowhere else. Empty functions: nothing
/// is sealed, which is for tests.
struct Sealing {
  std::function<std::string(const Secret& plain, const std::string& place)> seal{};
  /// nullopt: another master key has sealed it.
  std::function<std::optional<Secret>(const std::string& sealed, const std::string& place)> open{};
};

namespace ledger {

/// What the private key of a book is sealed for.
std::string sealing_place(TenantId tenant, const std::string& book);

}  // namespace ledger
}  // namespace hk::core
