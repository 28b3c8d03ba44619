#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/retry/expression.h"

HK_SOMETIMES_DECLARE(publish_deduplicated)
HK_SOMETIMES_DECLARE(dedup_window_over)

namespace hk::core {

/// Checks in this order: tenant, policy, duplicate. The message, its dedup entry and its event are
/// one batch: there is no moment at which one of them exists without the others.
Reply Machine::decide(Publish command) {
  HK_ASSERT(command.message != nullptr);
  Message& message = *command.message;
  if (!tenants_.contains(message.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (const auto* expression = std::get_if<ExpressionDelay>(&message.retry.delay)) {
    if (auto parsed = parse_expression(expression->text); !parsed) {
      return std::unexpected(parsed.error());
    }
  }
  if (command.delay > Millis{0}) {
    message.not_before = std::max(message.not_before, batch_.now() + command.delay);
  }
  if (!message.queue.empty() && message.not_before > batch_.now()) {
    return fail(
        ErrorKind::invalid_argument,
        "a message of a queue cannot be delayed: publish it without a queue, or without delay");
  }

  if (!message.dedup_id.empty()) {
    const auto known = batch_.dedup(message.tenant, message.dedup_id);
    if (known && known->expires_at > batch_.now()) {
      HK_SOMETIMES(publish_deduplicated);
      ++counters(message.tenant).deduplicated;
      return Published{known->first, true};
    }
    if (known) {
      HK_SOMETIMES(dedup_window_over);
    }
  }

  if (!message.flow_key.empty()) {
    FlowKey& flow = flow_key_for(message.tenant, message.flow_key);
    if (command.flow) {
      const FlowKey before = flow;
      if (!flow.pinned_parallelism) {
        flow.parallelism = command.flow->parallelism;
      }
      if (!flow.pinned_rate) {
        flow.rate = command.flow->rate;
        flow.period = command.flow->period;
      }
      if (flow != before) {
        store_flow_key(flow);
      }
    }
  }

  const TenantId tenant = message.tenant;
  const std::string dedup_id = message.dedup_id;
  const MessageId id = accept(std::shared_ptr<Message>(std::move(command.message)));
  if (!dedup_id.empty()) {
    const Moment expires_at = batch_.now() + command.dedup_window;
    batch_.put_dedup(tenant, dedup_id, Dedup{id, expires_at});
    batch_.expire_dedup(expires_at, tenant, dedup_id);
  }
  return Published{id, false};
}

}  // namespace hk::core
