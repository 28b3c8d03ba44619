#include <algorithm>

#include "base/assert.h"
#include "core/flow/flow_keys.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"
#include "core/tenant/tenants.h"

namespace hk::core {

MessageId Messages::accept(std::shared_ptr<Message> message) {
  HK_ASSERT(message->tenant.value() != 0);
  const Seq seq = context_.progress.next_message();
  message->id = MessageId{seq, context_.rng.next()};
  message->created_at = batch_.now();
  message->not_before = std::max(message->not_before, batch_.now());
  if (message->pull) {
    pulls_.accepted(*message);
  }
  // What an endpoint has is not shown as a queue or a flow key.
  const bool is_webhook = message->webhook.has_value();
  if (!message->queue.empty() && !is_webhook) {
    queues_.join(message->tenant, message->queue);
  }
  if (!message->flow_key.empty() && !is_webhook) {
    flow_keys_.use(message->tenant, message->flow_key);  // it may have been forgotten meanwhile
  }
  Live& live = lanes_.add(*message);

  Counters& counts = tenants_.counters(message->tenant);
  ++counts.accepted;
  ++counts.pending;
  batch_.event(message->tenant, seq, EventKind::created);
  const MessageId id = message->id;
  batch_.put_message(std::move(message));
  lanes_.wait(live);
  return id;
}

}  // namespace hk::core
