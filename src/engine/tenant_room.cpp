#include "engine/tenant_room.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/limits.h"

namespace hk::engine {

struct TenantRoom::Part {
  std::shared_ptr<TenantRoom> room;
  core::TenantId tenant;
  std::size_t amount;

  Part(std::shared_ptr<TenantRoom> in, core::TenantId of, std::size_t much)
      : room(std::move(in)), tenant(of), amount(much) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() { room->leave(tenant, amount); }
};

std::shared_ptr<const void> TenantRoom::take(const std::shared_ptr<TenantRoom>& room,
                                             core::TenantId tenant, std::size_t amount) {
  HK_ASSERT(amount > 0);
  {
    const std::lock_guard lock(room->mutex_);
    const auto held = room->by_tenant_.find(tenant);
    const std::size_t own = held == room->by_tenant_.end() ? 0 : held->second;
    const std::size_t left = room->size_ - std::min(room->size_, room->taken_);
    if (room->taken_ != 0 && (amount > left || !core::within_share(own, left))) {
      ++room->refused_;
      return nullptr;
    }
    room->by_tenant_[tenant] += amount;
    room->taken_ += amount;
  }
  return std::make_shared<const Part>(room, tenant, amount);
}

std::size_t TenantRoom::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::uint64_t TenantRoom::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void TenantRoom::leave(core::TenantId tenant, std::size_t amount) {
  const std::lock_guard lock(mutex_);
  const auto held = by_tenant_.find(tenant);
  HK_ASSERT(held != by_tenant_.end() && held->second >= amount && taken_ >= amount);
  taken_ -= amount;
  held->second -= amount;
  if (held->second == 0) {
    by_tenant_.erase(held);
  }
}

}  // namespace hk::engine
