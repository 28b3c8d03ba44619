// The ledger's place in the model: an operation is given to its reference, and what it tells is a
// message of the very batch.
#include <algorithm>

#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

LedgerModel::Ties Model::ledger_ties() {
  return {.send = [this](const ledger::Subscription& to,
                         const LedgerEvent& event) { send_ledger_event(to, event); },
          .pulled = [this](const Named& queue) { return find_pull_queue(queue) != nullptr; }};
}

Expected Model::apply_to_ledger(const Op& op) {
  if (!tenants_.contains(op.ledger->tenant)) {
    return refused(ErrorKind::not_found);
  }
  Expected expected{.kind = Expected::Kind::ledger};
  expected.ledger = std::make_shared<const LedgerAnswer>(ledger_.apply(*op.ledger));
  return expected;
}

void Model::send_ledger_event(const ledger::Subscription& to, const LedgerEvent& event) {
  const core::TenantId tenant = event.book.first;
  core::Message message;
  message.tenant = tenant;
  message.group = event.book.second;
  message.timeout = Millis{30'000};
  if (!to.queue.empty()) {
    const ModelQueue* const queue = find_pull_queue({tenant, to.queue});
    if (queue == nullptr) {
      return;
    }
    message.queue = to.queue;
    message.method = "";
    message.pull.emplace().fifo = queue->pull->fifo;
  } else {
    message.queue = to.id;
    message.headers = {{"Content-Type", "application/json"}};
    message.url = to.url;
    message.host = to.host;
    message.topic = to.url_group;
    if (!to.url_group.empty()) {
      const auto group = groups_.find({tenant, to.url_group});
      if (group == groups_.end()) {
        return;
      }
    }
  }
  const std::string what =
      event.type + " of record " + std::to_string(event.seq) + " of " + event.book.second;
  require(next_message_ < written_->messages.size(), "ledger events", what + " is missing");
  const core::Message& got = *written_->messages[next_message_];
  const std::string head = ",\"type\":\"" + event.type + "\",\"book\":\"" + event.book.second +
                           "\",\"seq\":" + std::to_string(event.seq) + ",\"recorded_at\":\"" +
                           ledger::to_text(ledger::instant_from_ns(event.recorded)) +
                           "\",\"data\":{";
  require(got.body.starts_with("{\"id\":\"evt_") && got.body.find(head) < 60, "ledger events",
          what + " is told as " + got.body);
  for (const std::string& part : event.parts) {
    require(got.body.find(part) != std::string::npos, "ledger events",
            what + " has no " + part + ": " + got.body);
  }
  message.body = got.body;
  message.trace = got.trace;
  if (to.url_group.empty()) {
    accept(std::move(message));
    return;
  }
  auto shared = std::make_shared<core::Message>(std::move(message));
  publish(Op{.kind = Op::Kind::publish, .tenant = tenant, .message = std::move(shared)});
}

}  // namespace hk::sim
