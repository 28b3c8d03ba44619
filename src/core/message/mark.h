/// A batch that is accepted once. The first item of a PublishBatch may be a mark: a message without
/// any destination, which is not accepted itself. Its dedup id stands for the whole batch. If it is
/// known within its window, nothing of the batch is accepted, and the reply has one item: the id
/// that the first mark had, as that of a duplicate. If the queue of one of its messages is gone, or
/// of the other kind, the whole batch is refused with that error, and the mark is not remembered:
/// whoever sends it again, to what is there by then, is heard. Otherwise the mark is remembered in
/// the same commit as what follows it, and its own id is the first item of the reply. Used by
/// adapters whose messages have several destinations and one dedup id; and by whoever checks a
/// store. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/message/commands.h"

namespace hk::core {

/// `id` is the adapter's choice; no message has to have it.
inline Publish make_mark(TenantId tenant, MessageId id, std::string dedup_id, Millis window) {
  Publish mark;
  mark.message = std::make_unique<Message>();
  mark.message->tenant = tenant;
  mark.message->id = id;
  mark.message->dedup_id = std::move(dedup_id);
  mark.dedup_window = window;
  return mark;
}
inline bool is_mark(const Message& message) {
  return message.url.empty() && message.topic.empty() && message.queue.empty() && !message.pull;
}

inline constexpr std::string_view mark_prefix = "batch ";

/// What is stored. The dedup ids of messages end in their destinations: none is the same.
inline std::string mark_dedup_id(const std::string& given) {
  return std::string(mark_prefix) + given;
}
/// Of a stored dedup id: it is that of a mark, or of a message whose own is the word "batch".
inline bool may_be_mark(std::string_view dedup_id) { return dedup_id.starts_with(mark_prefix); }

}  // namespace hk::core
