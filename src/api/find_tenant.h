/// Changing what is stored of a tenant: its record is read, another one made of it and stored. Two
/// such changes at once would undo each other, so there is one at a time in the whole process. Used
/// by handlers on I/O threads.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "core/reader.h"

namespace hk::api {

/// Held from before the record is read until the reply has come. Move-only.
class TenantChange {
 public:
  /// unavailable: another one is under way; nothing was done.
  static Result<TenantChange> begin();
  TenantChange(TenantChange&& other) noexcept : held_(std::exchange(other.held_, false)) {}
  TenantChange& operator=(TenantChange&&) = delete;
  TenantChange(const TenantChange&) = delete;
  TenantChange& operator=(const TenantChange&) = delete;
  ~TenantChange() { end(); }

  /// Before the reply is answered: whoever has read the answer may begin the next one.
  void end();

 private:
  TenantChange() = default;
  bool held_ = true;
};

std::optional<core::Tenant> find_tenant(core::Reader& reader, core::TenantId id);
/// By its id as it stands in a path.
std::optional<core::Tenant> find_tenant(core::Reader& reader, std::string_view id);

}  // namespace hk::api
