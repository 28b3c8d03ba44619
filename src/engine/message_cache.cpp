#include "engine/message_cache.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hk::engine {

std::size_t bytes_of(const std::vector<core::Header>& headers) {
  std::size_t bytes = 0;
  for (const core::Header& one : headers) {
    bytes += sizeof(core::Header) + one.name.size() + one.value.size();
  }
  return bytes;
}

namespace {

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& one : texts) {
    bytes += sizeof(std::string) + one.size();
  }
  return bytes;
}

std::size_t bytes_of(const core::RetryPolicy& retry) {
  if (const auto* const table = std::get_if<core::TableDelay>(&retry.delay)) {
    return table->delays.size() * sizeof(Millis);
  }
  const auto* const expression = std::get_if<core::ExpressionDelay>(&retry.delay);
  return expression == nullptr ? 0 : expression->text.size();
}

std::size_t bytes_of(const std::optional<core::Callback>& callback) {
  return !callback ? 0
                   : callback->url.size() + callback->host.size() + callback->method.size() +
                         engine::bytes_of(callback->headers) + bytes_of(callback->retry);
}

std::size_t bytes_of(const core::PullPart& pull) {
  std::size_t bytes = pull.moved_from.size() + engine::bytes_of(pull.system);
  for (const core::Attribute& one : pull.attributes) {
    bytes += sizeof(core::Attribute) + one.name.size() + one.type.size() + one.value.size();
  }
  return bytes;
}

}  // namespace

/// Whatever a sender can make long: a part that is left out is memory without a bound.
std::size_t bytes_of(const core::Message& message) {
  std::size_t bytes = sizeof(core::Message) + 256;
  for (const std::string* const text :
       {&message.queue, &message.group, &message.flow_key, &message.method, &message.url,
        &message.host, &message.body, &message.caller_ip, &message.dedup_id, &message.trace.state,
        &message.topic, &message.endpoint, &message.schedule}) {
    bytes += text->size();
  }
  bytes += bytes_of(message.headers) + bytes_of(message.labels) + bytes_of(message.redact) +
           bytes_of(message.retry) + bytes_of(message.callback) +
           bytes_of(message.failure_callback);
  return message.pull ? bytes + bytes_of(*message.pull) : bytes;
}

void MessageCache::put(std::shared_ptr<const core::Message> message) {
  const core::Seq seq = message->id.seq;
  const std::size_t bytes = bytes_of(*message);
  if (const auto known = slots_.find(seq); known != slots_.end()) {
    drop(known);  // it may have been edited
  }
  if (bytes > bytes_max_) {
    return;
  }
  while (bytes_ + bytes > bytes_max_ && !oldest_first_.empty()) {
    drop(slots_.find(oldest_first_.front()));
  }
  const auto age = oldest_first_.insert(oldest_first_.end(), seq);
  slots_.emplace(seq, Slot{std::move(message), bytes, age});
  bytes_ += bytes;
}

std::shared_ptr<const core::Message> MessageCache::get(core::Seq seq) {
  const auto found = slots_.find(seq);
  return found == slots_.end() ? nullptr : found->second.message;
}

void MessageCache::erase(core::Seq seq) {
  if (const auto found = slots_.find(seq); found != slots_.end()) {
    drop(found);
  }
}

void MessageCache::drop(std::unordered_map<core::Seq, Slot>::iterator at) {
  bytes_ -= at->second.bytes;
  oldest_first_.erase(at->second.age);
  slots_.erase(at);
}

}  // namespace hk::engine
