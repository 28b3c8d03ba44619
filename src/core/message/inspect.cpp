#include "core/message/inspect.h"

#include "base/assert.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/webhook/webhooks.h"

namespace hk::core {

namespace {

constexpr std::size_t held_named_max = 4;

}  // namespace

void explain_gate(const Gate& gate, Moment now, std::vector<Hold>& holds) {
  const char* what = gate.kind == Gate::Kind::destination ? "destination"
                     : gate.kind == Gate::Kind::flow      ? "flow_control"
                                                          : "queue";
  const std::string prefix = what;
  if (gate.sweeping) {
    holds.push_back({prefix + "_deleted",
                     gate.name + ": what waited when it was deleted is being cancelled",
                     std::nullopt});
  }
  if (gate.paused) {
    holds.push_back({prefix + "_paused", gate.name, std::nullopt});
  }
  if (!gate.rate_free(now)) {
    holds.push_back({prefix + "_rate",
                     gate.name + ": " + std::to_string(gate.window_count) + " of " +
                         std::to_string(gate.rate) + " starts used in this period",
                     gate.window_start + gate.period});
  }
  if (!gate.slot_free()) {
    holds.push_back({prefix + "_parallelism",
                     gate.name + ": " + std::to_string(gate.in_use) + " of " +
                         std::to_string(gate.parallelism) + " in flight",
                     std::nullopt});
  }
}

/// Not told beside a limit that is reached: then that is what holds it.
void Messages::explain_shares(const Message& message, const TenantLanes& owner,
                              std::vector<Hold>& holds) const {
  const Gate* host = scheduler_.find_gate(Gate::Kind::destination, message.tenant, message.host);
  if (owner.places >= limits_.tenant_parallelism) {
    return;
  }
  if (host != nullptr && host->slot_free() && !scheduler_.has_share(*host, owner)) {
    holds.push_back({"destination_share",
                     host->name + ": " + std::to_string(host->in_use) + " in flight, and only " +
                         std::to_string(limits_.tenant_parallelism - owner.places) +
                         " left for all of the tenant's destinations",
                     std::nullopt});
  }
  if (scheduler_.places() < scheduler_.places_max() && !scheduler_.has_share(owner)) {
    holds.push_back({"tenant_share",
                     std::to_string(owner.places) + " places of this tenant in use, and only " +
                         std::to_string(scheduler_.places_max() - scheduler_.places()) +
                         " left for all tenants",
                     std::nullopt});
  }
}

/// "Why is this message not running?" always has an answer: every gate that is shut for it now.
Reply Messages::decide(const Inspect& command) {
  const auto message = find(command.tenant, command.id);
  if (message == nullptr) {
    return fail(ErrorKind::not_found, "no message " + to_text(command.id));
  }
  Inspected answer;
  const Seq seq = command.id.seq;
  const Moment now = batch_.now();
  const MessageState state =
      batch_.get<MessageState>(seq).value_or(MessageState{.due = message->not_before});
  if (is_final(state.status)) {
    return answer;
  }
  if (message->pull) {
    pulls_.inspect(*message, answer);
    return answer;
  }
  const Live* live = lanes_.find(seq);
  if (live != nullptr && live->leased) {
    answer.running = true;
    answer.fence = live->fence;
    answer.started_at = live->started_at;
    answer.lease_until = live->lease_until;
    return answer;
  }

  const Moment due = live != nullptr      ? live->not_before
                     : state.attempts > 0 ? state.due
                                          : message->not_before;
  if (due == never) {
    answer.holds.push_back({"halted",
                            "its attempts are used up; a resend, a cancel or the resume of its "
                            "endpoint lets its order go on",
                            std::nullopt});
  } else if (due > now) {
    answer.holds.push_back({state.attempts > 0 ? "retry" : "delay", "", due});
  }
  const Lane* lane = scheduler_.find_lane(lane_of(*message));
  if (lane == nullptr) {
    return answer;
  }
  if (message->webhook) {
    webhooks_.explain(*message, *lane, answer.holds);
  } else {
    for (const Gate* gate : lane->gates) {
      explain_gate(*gate, now, answer.holds);
    }
  }
  if (lane->ordered()) {
    // By name: what waits beyond the window has no live record.
    for (const Gate* own :
         {scheduler_.find_gate(Gate::Kind::destination, command.tenant, message->host),
          scheduler_.find_gate(Gate::Kind::flow, command.tenant, message->flow_key)}) {
      if (own != nullptr) {
        explain_gate(*own, now, answer.holds);
      }
    }
  }
  if (lane->ordered() && lane->slots_used >= lane->slots_max &&
      (live == nullptr || !live->started)) {
    const std::string whose =
        message->webhook ? "its endpoint's order" : "queue " + lane->key.queue;
    answer.holds.push_back({"order",
                            std::to_string(lane->slots_used) + " of " +
                                std::to_string(lane->slots_max) + " slots of " + whose +
                                " are taken by earlier messages",
                            std::nullopt});
    std::size_t named = 0;
    for (const Seq held : lane->held) {
      if (++named > held_named_max) {
        break;
      }
      const auto source = batch_.get<Message>(held);
      HK_ASSERT(source != nullptr);
      answer.holds.push_back(
          {"callbacks", "callbacks of message " + to_text(source->id), std::nullopt});
    }
  } else if (live == nullptr ||
             (!lane->window.empty() && lane->window.begin()->second != live && due <= now)) {
    answer.holds.push_back({"order", "other messages of its lane are ahead of it", std::nullopt});
  }
  const TenantLanes* owner = scheduler_.find_tenant(command.tenant);
  if (owner != nullptr) {
    explain_shares(*message, *owner, answer.holds);
  }
  if (owner != nullptr && owner->places >= limits_.tenant_parallelism) {
    answer.holds.push_back({"tenant_parallelism",
                            std::to_string(owner->places) + " places of this tenant are in use",
                            std::nullopt});
  }
  if (scheduler_.places() >= scheduler_.places_max()) {
    answer.holds.push_back({"global_parallelism",
                            std::to_string(scheduler_.places()) + " places are in use",
                            std::nullopt});
  }
  return answer;
}

}  // namespace hk::core
