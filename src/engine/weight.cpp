#include "engine/weight.h"

#include <variant>

#include "engine/message_cache.h"

namespace hk::engine {

namespace {

constexpr std::size_t record_bytes = 1024;       // what a message needs beside its content
constexpr std::size_t endpoints_expected = 100;  // of a URL group; only the core knows how many

std::size_t bytes_of(const core::Publish& publish) {
  const core::Message& message = *publish.message;
  const std::size_t one = record_bytes + engine::bytes_of(message);
  return message.url.empty() && !message.topic.empty() ? one * endpoints_expected : one;
}

std::size_t bytes_of(const core::Document& document) {
  std::size_t bytes = document.kind.size() + document.name.size();
  for (const core::Header& field : document.fields) {
    bytes += field.name.size() + field.value.size();
  }
  return bytes;
}

/// What a command carries that is no message to publish.
std::size_t other_bytes_of(const core::Command& command) {
  if (const auto* upsert = std::get_if<core::UpsertSchedule>(&command)) {
    return engine::bytes_of(upsert->schedule.prototype);
  }
  if (const auto* put = std::get_if<core::PutDocumentCommand>(&command)) {
    return bytes_of(put->document);
  }
  if (const auto* resolve = std::get_if<core::ResolveHalted>(&command)) {
    return resolve->body ? resolve->body->size() : 0;
  }
  return 0;
}

}  // namespace

std::size_t weight_of(const core::Command& command) {
  if (const auto* publish = std::get_if<core::Publish>(&command)) {
    return bytes_of(*publish->message);
  }
  std::size_t bytes = other_bytes_of(command);
  if (const auto* batch = std::get_if<core::PublishBatch>(&command)) {
    for (const core::Publish& item : batch->items) {
      bytes += bytes_of(*item.message);
    }
  }
  return bytes;
}

std::size_t written_for(const core::Command& command) {
  if (const auto* publish = std::get_if<core::Publish>(&command)) {
    return bytes_of(*publish);
  }
  std::size_t bytes = record_bytes + other_bytes_of(command);
  if (const auto* batch = std::get_if<core::PublishBatch>(&command)) {
    for (const core::Publish& item : batch->items) {
      bytes += bytes_of(item);
    }
  }
  return bytes;
}

}  // namespace hk::engine
