/// The table of messages as the core's thread reads it: from memory when it can.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/table.h"
#include "engine/message_cache.h"

namespace hk::engine {

/// Messages that were read back have a small part of the room
/// for themselves: when more wait than fit, they would push out the ones that are read next, and
/// in the end every one would be read.
class CachedMessages final : public core::TableView<core::Message> {
 public:
  CachedMessages(core::TableView<core::Message>& stored, std::size_t cache_bytes)
      : written_(cache_bytes - cache_bytes / read_share),
        read_(cache_bytes / read_share),
        stored_(stored) {}

  std::shared_ptr<const core::Message> get(const core::Seq& seq) override {
    if (auto known = cached(seq)) {
      return known;
    }
    auto stored = stored_.get(seq);
    if (stored != nullptr) {
      read_.put(stored);
    }
    return stored;
  }
  std::vector<std::shared_ptr<const core::Message>> scan(const core::Range<core::Message>& range,
                                                         std::size_t limit,
                                                         core::Order order) override {
    return stored_.scan(range, limit, order);
  }

  /// Null: it is not in memory.
  std::shared_ptr<const core::Message> cached(core::Seq seq) {
    auto known = written_.get(seq);
    return known != nullptr ? known : read_.get(seq);
  }
  void written(std::shared_ptr<const core::Message> message) {
    read_.erase(message->id.seq);  // it may have been edited
    if (message->not_before - message->created_at > soon) {
      written_.erase(message->id.seq);
    } else {
      written_.put(std::move(message));
    }
  }
  void erase(core::Seq seq) {
    written_.erase(seq);
    read_.erase(seq);
  }

 private:
  static constexpr std::size_t read_share = 8;
  static constexpr Millis soon{60'000};  ///< what is due later will have been pushed out by then

  MessageCache written_;
  MessageCache read_;
  core::TableView<core::Message>& stored_;
};

}  // namespace hk::engine
