#include "engine/message_cache.h"

namespace hk::engine {

std::size_t bytes_of(const core::Message& message) {
  std::size_t bytes =
      sizeof(core::Message) + 256 + message.body.size() + message.url.size() + message.host.size();
  for (const core::Header& header : message.headers) {
    bytes += sizeof(core::Header) + header.name.size() + header.value.size();
  }
  return bytes;
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
