// Shares: what hangs takes all it can get and gives nothing back for minutes. A fixed limit for
// each does not help, since enough of them reach the limit of all; so what one may hold shrinks
// with what is left. Many at their share still leave a part, and who holds little gets it at once.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/scheduler.h"

HK_SOMETIMES_DECLARE(destination_at_its_share)
HK_SOMETIMES_DECLARE(destination_gets_its_share)
HK_SOMETIMES_DECLARE(tenant_at_its_share)
HK_SOMETIMES_DECLARE(large_body_takes_places)

namespace hk::core {

namespace {

std::uint32_t left_of(std::uint32_t limit, std::uint32_t taken) {
  return limit - std::min(limit, taken);
}

}  // namespace

bool Scheduler::has_share(const Gate& gate, const TenantLanes& owner) const {
  return gate.kind != Gate::Kind::destination ||
         within_share(gate.in_use, left_of(limits_.tenant_parallelism, owner.places),
                      limits_.share);
}

bool Scheduler::has_share(const TenantLanes& owner) const {
  return within_share(owner.places, left_of(places_max_, places_), limits_.share);
}

void Scheduler::crowd(Gate& gate) {
  HK_SOMETIMES(destination_at_its_share);
  uncrowd(gate);
  gate.crowded_at = gate.in_use;
  tenant(gate.tenant).crowded.emplace(gate.in_use, gate.serial);
}

void Scheduler::pass(Gate& gate, Moment now) {
  gate.take(now);
  if (gate.crowded_at) {
    crowd(gate);  // among those that hold more
  }
}

void Scheduler::uncrowd(Gate& gate) {
  if (gate.crowded_at) {
    tenant(gate.tenant).crowded.erase({*gate.crowded_at, gate.serial});
    gate.crowded_at.reset();
  }
}

void Scheduler::crowd(TenantLanes& owner) {
  HK_SOMETIMES(tenant_at_its_share);
  uncrowd(owner);
  owner.crowded_at = owner.places;
  crowded_.emplace(owner.places, owner.id);
}

void Scheduler::uncrowd(TenantLanes& owner) {
  if (owner.crowded_at) {
    crowded_.erase({*owner.crowded_at, owner.id});
    owner.crowded_at.reset();
  }
}

void Scheduler::take_places(Live& live, std::uint32_t places) {
  HK_ASSERT(live.leased && live.places == 1 && places > 0);
  HK_ASSERT(live.lane->pull == nullptr || live.push != nullptr);
  if (places == 1) {
    return;
  }
  HK_SOMETIMES(large_body_takes_places);
  live.places = places;
  live.lane->tenant->places += places - 1;
  places_ += places - 1;
  const auto widen = [&](Gate* passed) {
    if (passed != nullptr && passed->kind == Gate::Kind::destination) {
      passed->in_use += places - 1;
      if (passed->crowded_at) {
        crowd(*passed);  // among those that hold more
      }
    }
  };
  std::for_each(live.lane->gates.begin(), live.lane->gates.end(), widen);
  widen(live.destination);
}

void Scheduler::give_back(Gate& gate, const Live& live, Moment now) {
  gate.give_back(now, gate.kind == Gate::Kind::destination ? live.places : 1);
  wake_one(gate, now);
}

/// One lane at most: its turn ends with the next call (pass_turn).
void Scheduler::wake_crowded(TenantLanes& owner, Moment now) {
  while (!owner.crowded.empty()) {
    Gate& first = *gates_by_serial_.at(owner.crowded.begin()->second);
    if (!first.parked.empty() && !has_share(first, owner)) {
      return;  // nor has any that holds more
    }
    uncrowd(first);
    if (wake_one(first, now)) {
      HK_SOMETIMES(destination_gets_its_share);
      return;
    }
  }
}

/// Lets the tenant with the fewest attempts go on, if it may.
bool Scheduler::admit_crowded() {
  while (!crowded_.empty()) {
    TenantLanes& first = tenant(crowded_.begin()->second);
    if (first.runnable.empty()) {
      uncrowd(first);
      continue;
    }
    if (!has_share(first)) {
      return false;
    }
    enter_round(first);
    return true;
  }
  return false;
}

/// Who was at their share of fewer places may go on, all of them: no end of an attempt tells them.
void Scheduler::set_places_max(std::uint32_t places) {
  places_max_ = places;
  while (admit_crowded()) {
  }
}

void Scheduler::enter_round(TenantLanes& owner) {
  HK_ASSERT(!owner.in_round);
  uncrowd(owner);
  owner.in_round = true;
  round_.push_back(&owner);
}

}  // namespace hk::core
