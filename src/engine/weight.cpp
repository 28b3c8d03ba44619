#include "engine/weight.h"

#include <algorithm>
#include <vector>

#include "core/topic/read_topic.h"
#include "core/visit.h"
#include "engine/message_cache.h"

namespace hk::engine {

namespace {

constexpr std::size_t record_bytes = 1024;       // what a message needs beside its content
constexpr std::size_t endpoints_expected = 100;  // of a URL group; only the core knows how many

Weight weight_of(const core::Publish& publish) {
  const core::Message& message = *publish.message;
  const std::size_t carried = engine::bytes_of(message);
  const std::size_t copies = message.url.empty() && !message.topic.empty() ? endpoints_expected : 1;
  return {.carried = carried, .written = (record_bytes + carried) * copies};
}

std::size_t bytes_of(const std::vector<core::Endpoint>& endpoints) {
  std::size_t bytes = 0;
  for (const core::Endpoint& one : endpoints) {
    bytes += sizeof(core::Endpoint) + one.name.size() + one.url.size() + one.host.size();
  }
  return bytes;
}

std::size_t bytes_of(const core::PullSettings& settings) {
  return settings.push.url.size() + engine::bytes_of(settings.extra) +
         engine::bytes_of(settings.tags);
}

// What a command carries that is no message to publish. Names, and lists of receipts, are as short
// as a request of 10 entries lets them be.
std::size_t text_of(const core::UpsertSchedule& upsert) {
  return engine::bytes_of(upsert.schedule.prototype);
}
std::size_t text_of(const core::PutDocumentCommand& put) {
  return put.document.name.size() + engine::bytes_of(put.document.fields);
}
std::size_t text_of(const core::ResolveHalted& resolve) {
  return resolve.body ? resolve.body->size() : 0;
}
std::size_t text_of(const core::RetryDeadLetter& retry) {
  const auto* const changes = retry.changes.get();
  if (changes == nullptr) {
    return 0;
  }
  return (changes->body ? changes->body->size() : 0) +
         (changes->headers ? engine::bytes_of(*changes->headers) : 0);
}
std::size_t text_of(const core::CreatePullQueue& create) { return bytes_of(create.settings); }
std::size_t text_of(const core::SetPullSettings& set) { return bytes_of(set.settings); }
std::size_t text_of(const core::UpsertEndpoints& upsert) { return bytes_of(upsert.endpoints); }
std::size_t text_of(const core::RemoveEndpoints& remove) { return bytes_of(remove.endpoints); }
std::size_t text_of(const core::PublishToTopic& publish) {
  std::size_t bytes = 0;
  for (const core::Wording& one : publish.wordings) {
    bytes += one.text.size() + (one.envelope ? one.envelope->text.size() : 0);
  }
  for (const core::Attribute& one : publish.attributes) {
    bytes += one.name.size() + one.type.size() + one.value.size();
  }
  return bytes;
}
std::size_t text_of(const core::CreateTopic& create) { return core::bytes_of(create.topic); }
std::size_t text_of(const core::SetTopic& set) { return core::bytes_of(set.topic); }
std::size_t text_of(const core::Subscribe& subscribe) {
  return core::bytes_of(subscribe.subscription) +
         (subscribe.invitation ? engine::bytes_of(*subscribe.invitation) : 0);
}
std::size_t text_of(const core::SetSubscription& set) { return core::bytes_of(set.subscription); }
std::size_t text_of(const core::EndJob& end) { return end.result.size() + end.error.size(); }
std::size_t text_of(const core::EndKey& end) { return end.answer.size(); }
/// An estimate: a batch has thousands of items with short names.
std::size_t text_of(const core::ledger::Operation& operation) {
  constexpr std::size_t name_bytes = 32;
  const auto* const made = std::get_if<core::ledger::CreateTransaction>(&operation);
  return made == nullptr ? 0 : made->entries.size() * (sizeof(core::ledger::EntryIn) + name_bytes);
}
std::size_t text_of(const core::Transact& transact) {
  std::size_t bytes = 0;
  for (const core::TransactOperation& one : transact.operations) {
    if (const auto* const job = std::get_if<core::EndJob>(&one)) {
      bytes += record_bytes + text_of(*job);
    } else if (const auto* const key = std::get_if<core::EndKey>(&one)) {
      bytes += record_bytes + text_of(*key);
    } else if (const auto* const ledger = std::get_if<core::LedgerOperation>(&one)) {
      bytes += record_bytes + text_of(ledger->operation);
    }
  }
  return bytes;
}
std::size_t text_of(const core::ledger::Apply& apply) {
  std::size_t bytes = 0;
  for (const core::ledger::Item& item : apply.items) {
    bytes += sizeof(item) + text_of(item.operation);
  }
  return bytes;
}
std::size_t text_of(const core::PutSource& put) {
  std::size_t bytes = put.source.settings.size();
  for (const core::SourceSecret& one : put.source.secrets) {
    bytes += sizeof(one) + one.sealed.size();
  }
  return bytes;
}
std::size_t text_of(const core::QuarantineInbound& quarantine) {
  return quarantine.request ? static_cast<std::size_t>(quarantine.request->bytes()) : 0;
}
std::size_t text_of(const core::webhook::PublishEvent& publish) {
  const core::webhook::Event& event = publish.event;
  return event.payload.size() + event.shown.size() + event.other.size() +
         engine::bytes_of(event.headers);
}
std::size_t text_of(const core::webhook::ImportEventTypes& import) {
  std::size_t bytes = 0;
  for (const core::webhook::EventType& type : import.types) {
    bytes += sizeof(type) + type.schemas.size() + type.description.size();
  }
  return bytes;
}
std::size_t text_of(const core::SetGroupOptions& set) { return engine::bytes_of(set.options); }
template <class Short>
std::size_t text_of(const Short& /*command*/) {
  return 0;
}

std::size_t other_bytes_of(const core::Command& command) {
  return core::visit([](const auto& one) { return text_of(one); }, command);
}

}  // namespace

Weight weight_of(const core::Command& command) {
  if (const auto* once = command.get_if<core::Once>()) {
    Weight weight = once->command ? weight_of(*once->command) : Weight{};
    weight.written += record_bytes;
    return weight;
  }
  if (const auto* publish = command.get_if<core::Publish>()) {
    return weight_of(*publish);
  }
  const std::size_t other = other_bytes_of(command);
  Weight weight{.carried = other, .written = record_bytes + other};
  if (const auto* publish = command.get_if<core::PublishToTopic>()) {
    weight.written *= std::max<std::size_t>(publish->copies, 1);
  }
  if (const auto* transact = command.get_if<core::Transact>()) {
    for (const core::TransactOperation& one : transact->operations) {
      if (const auto* publish = std::get_if<core::Publish>(&one)) {
        const auto [carried, written] = weight_of(*publish);
        weight.carried += carried;
        weight.written += written;
      }
    }
  }
  const auto add = [&weight](const core::InboundEvent& event) {
    const auto [carried, written] = weight_of(event.publish);
    weight.carried += carried;
    weight.written += written;
  };
  if (const auto* received = command.get_if<core::ReceiveInbound>()) {
    add(received->event);
  }
  if (const auto* release = command.get_if<core::ReleaseQuarantined>()) {
    for (const core::ReleaseQuarantined::One& one : release->requests) {
      add(one.event);
    }
  }
  if (const auto* batch = command.get_if<core::PublishBatch>()) {
    for (const core::Publish& item : batch->items) {
      const auto [carried, written] = weight_of(item);
      weight.carried += carried;
      weight.written += written;
    }
  }
  return weight;
}

}  // namespace hk::engine
