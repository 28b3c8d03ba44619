#include "api/shedding.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace hk::api {

Shedding::Tenant& Shedding::in_this_round(core::TenantId tenant) {
  Tenant& own = tenants_[tenant];
  if (own.round != round_) {
    own.there = {.carried = own.under_way, .read = 0};
    own.round = round_;
  }
  return own;
}

std::size_t Shedding::present(const Tenant& tenant) const {
  return tenant.round == round_ ? tenant.there.carried + tenant.there.read : tenant.under_way;
}

bool Shedding::takes(core::TenantId tenant) {
  Tenant& own = in_this_round(tenant);
  if (overload_ && there_.carried + there_.read >= kept_ && present(own) >= share_) {
    refused_ = true;
    return false;
  }
  ++own.there.read;
  ++there_.read;
  return true;
}

void Shedding::begun(Time now, std::span<const core::TenantId> tenants) {
  if (under_way_.empty()) {
    last_answer_ = now;
  }
  for (const core::TenantId tenant : tenants) {
    ++in_this_round(tenant).under_way;
    under_way_.push_back(tenant);
  }
}

void Shedding::answered(Time now, std::size_t commands) {
  HK_ASSERT(commands <= under_way_.size());
  turn_slots(now);
  slots_[slot_] += commands;
  last_answer_ = now;
  for (std::size_t i = 0; i < commands; ++i) {
    Tenant& own = in_this_round(under_way_.front());
    under_way_.pop_front();
    --own.under_way;
    own.there.carried -= own.there.carried > 0 ? 1 : 0;
  }
  there_.carried -= std::min(there_.carried, commands);
}

void Shedding::on_lag(Time now, Duration lag) {
  const std::size_t slot_before = slot_;
  turn_slots(now);
  if (refused_) {
    last_refusal_ = now;
  }
  const bool was_overload = overload_;
  look_for_overload(now, wait(now, lag));
  if (slot_ != slot_before || overload_ != was_overload) {
    share_out();
    std::erase_if(tenants_, [this](const auto& one) { return present(one.second) == 0; });
  }
  refused_ = false;
  there_ = {.carried = under_way_.size(), .read = 0};
  ++round_;
}

/// For what arrives now, by the best that was answered in a slot of the last second.
Shedding::Duration Shedding::wait(Time now, Duration lag) const {
  if (under_way_.empty()) {
    return lag;
  }
  const std::size_t best = best_slot();
  return lag + (best == 0 ? now - last_answer_
                          : Duration(slot) * static_cast<Duration::rep>(under_way_.size()) /
                                static_cast<Duration::rep>(best));
}

std::size_t Shedding::best_slot() const { return *std::ranges::max_element(slots_); }

void Shedding::turn_slots(Time now) {
  const auto turns = (now - slot_begun_) / slot;
  for (auto i = std::min<decltype(turns)>(turns, std::ssize(slots_)); i > 0; --i) {
    slot_ = (slot_ + 1) % slots_.size();
    slots_[slot_] = 0;
  }
  slot_begun_ += turns * slot;
}

void Shedding::look_for_overload(Time now, Duration wait) {
  if (overload_) {
    overload_ = now - last_refusal_ < calm;
    behind_since_.reset();
  } else if (wait <= delay_max_) {
    behind_since_.reset();
  } else if (!behind_since_) {
    behind_since_ = now;
  } else if (now - *behind_since_ >= interval) {
    overload_ = true;
    last_refusal_ = now;
  }
}

/// What can be served in time is shared out so that nobody gets more than they have there, and
/// what they leave goes to the others in equal shares.
void Shedding::share_out() {
  if (!overload_) {
    return;
  }
  kept_ = std::max(kept_min, static_cast<std::size_t>(best_slot() * delay_max_ / Duration(slot)));
  std::vector<std::size_t> there;
  for (const auto& [id, tenant] : tenants_) {
    there.push_back(present(tenant));
  }
  std::ranges::sort(there);
  std::size_t left = kept_;
  share_ = kept_;
  for (std::size_t i = 0; i < there.size(); ++i) {
    share_ = left / (there.size() - i);
    if (there[i] >= share_) {
      break;
    }
    left -= there[i];
  }
  share_ = std::max(share_, kept_min);
}

}  // namespace hk::api
