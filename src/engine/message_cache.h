/// Messages that will be needed soon, bounded in bytes: a message that is delivered at once is
/// never read back from the store. Used by the core's thread only.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/message.h"

namespace hk::engine {

/// Roughly what it occupies in memory.
std::size_t bytes_of(const core::Message& message);
std::size_t bytes_of(const std::vector<core::Header>& headers);

class MessageCache {
 public:
  explicit MessageCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void put(std::shared_ptr<const core::Message> message);
  std::shared_ptr<const core::Message> get(core::Seq seq);
  void erase(core::Seq seq);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Slot {
    std::shared_ptr<const core::Message> message{};
    std::size_t bytes = 0;
    std::list<core::Seq>::iterator age{};
  };
  void drop(std::unordered_map<core::Seq, Slot>::iterator at);

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<core::Seq> oldest_first_;
  std::unordered_map<core::Seq, Slot> slots_;
};

}  // namespace hk::engine
