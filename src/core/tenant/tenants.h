/// Who the messages belong to, and what is counted for each of them. A component (component.h).
#pragma once

#include <map>
#include <set>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Tenants : Component {
 public:
  explicit Tenants(Context& context) : Component(context) {}

  void recover(Reader& reader);
  Reply execute(TenantCommand&& command);
  /// Old events go.
  void advance();
  [[nodiscard]] Moment wake_at() const { return next_event_purge_; }
  void flush();

  [[nodiscard]] bool contains(TenantId tenant) const { return tenants_.contains(tenant); }
  [[nodiscard]] const std::map<TenantId, Tenant>& all() const { return tenants_; }
  /// To be changed: they are written with this batch.
  Counters& counters(TenantId tenant);
  [[nodiscard]] const std::map<TenantId, Counters>& all_counters() const { return counters_; }

 private:
  Reply decide(const UpsertTenant& command);
  Reply decide(const SetTenantLimits& command);

  std::map<TenantId, Tenant> tenants_;
  std::map<TenantId, Counters> counters_;
  std::set<TenantId> dirty_counters_;
  Moment next_event_purge_{};
};

}  // namespace hk::core
