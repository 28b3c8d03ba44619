#include "delivery/answer_room.h"

#include <utility>

#include "base/assert.h"
#include "core/limits.h"

namespace hk::delivery {

struct AnswerRoom::Seat {
  std::shared_ptr<AnswerRoom> room;
  core::TenantId tenant;

  Seat(std::shared_ptr<AnswerRoom> in, core::TenantId of) : room(std::move(in)), tenant(of) {}
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat() { room->leave(tenant); }
};

std::shared_ptr<const void> AnswerRoom::take_seat(const std::shared_ptr<AnswerRoom>& room,
                                                  core::TenantId tenant) {
  {
    const std::lock_guard lock(room->mutex_);
    const auto held = room->by_tenant_.find(tenant);
    const std::size_t own = held == room->by_tenant_.end() ? 0 : held->second;
    if (!core::within_share(own, room->seats_ - room->taken_)) {
      return nullptr;
    }
    ++room->by_tenant_[tenant];
    ++room->taken_;
  }
  return std::make_shared<const Seat>(room, tenant);
}

void AnswerRoom::leave(core::TenantId tenant) {
  const std::lock_guard lock(mutex_);
  const auto held = by_tenant_.find(tenant);
  HK_ASSERT(held != by_tenant_.end() && taken_ > 0);
  --taken_;
  if (--held->second == 0) {
    by_tenant_.erase(held);
  }
}

}  // namespace hk::delivery
