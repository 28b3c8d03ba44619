/// Room for long answers. Whoever asked to be called back gets the answer whole, so it is held from
/// its first byte until the core has made it durable. The first bytes of each are within the room
/// that its attempt has; an answer that is longer takes a seat, or is not read on until one is
/// free: the receiver feels that as a slow reader. From any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "core/message.h"

namespace hk::delivery {

class AnswerRoom {
 public:
  static constexpr std::size_t short_bytes = std::size_t{32} * 1024;  ///< need no seat

  explicit AnswerRoom(std::size_t seats = 64) : seats_(seats) {}

  /// A seat for as long as it is held; null: none is free for this tenant. One tenant may hold so
  /// many times what is left, as with attempts, so that others find one at once.
  static std::shared_ptr<const void> take_seat(const std::shared_ptr<AnswerRoom>& room,
                                               core::TenantId tenant);

 private:
  struct Seat;
  void leave(core::TenantId tenant);

  const std::size_t seats_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::map<core::TenantId, std::size_t> by_tenant_;
};

}  // namespace hk::delivery
