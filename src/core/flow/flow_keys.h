/// Flow keys: how many messages with one key run at the same time, and how fast they start. What is
/// stored of one is its FlowKey; what holds messages back is its gate (lane/gate.h). A component
/// (component.h).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"

namespace hk::core {

class Lanes;
class Tenants;

class FlowKeys : Component {
 public:
  FlowKeys(Context& context, Scheduler& scheduler, Lanes& lanes, const Tenants& tenants)
      : Component(context), scheduler_(scheduler), lanes_(lanes), tenants_(tenants) {}

  void recover(Reader& reader);
  Reply execute(FlowCommand&& command);
  /// Keys that nobody uses go.
  void advance();
  [[nodiscard]] Moment wake_at() const { return checks_.empty() ? never : checks_.begin()->first; }
  void flush();

  /// A message of the key is accepted: it is there from now on.
  void use(TenantId tenant, const std::string& key) { make(tenant, key); }
  /// Such a message brings settings; pinned parts are left alone.
  void set(TenantId tenant, const std::string& key, const FlowKey& settings);
  /// A message of the key has started. The window of a rate must be durable before the start it
  /// counts: a restart must not grant it again.
  void started(TenantId tenant, const std::string& key);

 private:
  using Key = std::pair<TenantId, std::string>;

  Reply decide(const SetFlowKeyPaused& command);
  Reply decide(const PinFlowKey& command);
  Reply decide(const UnpinFlowKey& command);
  Reply decide(const ResetFlowRate& command);
  Reply decide(const InspectFlowKeys& command);

  [[nodiscard]] Result<void> check(TenantId tenant, const std::string& key) const;
  FlowKey& make(TenantId tenant, const std::string& key);
  /// What was changed holds from now on, and is written with this batch.
  void store(const FlowKey& flow_key);
  Gate& gate_of(const FlowKey& flow_key) {
    return scheduler_.flow_gate(flow_key.tenant, flow_key.key);
  }
  static void open_as(Gate& gate, const FlowKey& flow_key);
  void restart_window(const FlowKey& flow_key);
  FlowKeyView view_of(const FlowKey& flow_key, std::size_t& budget);
  [[nodiscard]] Moment forget_at(const FlowKey& flow_key);
  void check_later(const Key& key);

  Scheduler& scheduler_;
  Lanes& lanes_;
  const Tenants& tenants_;

  std::map<Key, FlowKey> flow_keys_;
  std::set<Key> dirty_;                      ///< those not in flow_keys_ are gone
  std::set<std::pair<Moment, Key>> checks_;  ///< when each is looked at again, to be forgotten
};

}  // namespace hk::core
