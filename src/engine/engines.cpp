#include "engine/engines.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "engine/answer.h"

namespace hk::engine {

namespace {

Error closed_error(core::PartitionId id, std::string_view why) {
  return {ErrorKind::unavailable, "partition " + std::to_string(id.value()) + " is closed: " +
                                      std::string(why) + "; nothing was done, try again later"};
}

const Error nowhere{ErrorKind::unavailable,
                    "no partition of this server has the tenant; nothing was done"};

}  // namespace

/// A partition from its first open() on. One that is closed stays, so that nobody else is asked for
/// its tenants.
struct Engines::Slot {
  enum class State : std::uint8_t { opening, open, closed };

  explicit Slot(core::PartitionId partition) : id(partition) {}
  [[nodiscard]] State now() const { return state.load(std::memory_order_acquire); }

  /// Throws PartitionUnavailable.
  [[nodiscard]] std::shared_ptr<core::Reader> view() const {
    const State seen = now();
    auto view = seen == State::open ? engine->durable_view() : nullptr;
    if (view == nullptr) {
      throw PartitionUnavailable(
          seen == State::closed ? why.message : closed_error(id, "it is being opened").message);
    }
    return view;
  }

  const core::PartitionId id;
  std::unique_ptr<Engine> engine{};
  std::atomic<State> state{State::opening};
  // Constant once it is closed; written under changing_.
  Error why{};
  bool failed = false;  ///< nobody has closed it
};

struct Engines::Table {
  std::map<core::PartitionId, std::shared_ptr<Slot>> slots{};
  std::unordered_map<core::TenantId, core::PartitionId> tenants{};
  core::TenantId highest{};  ///< of `tenants`
  Slot* only = nullptr;      ///< there is one slot: this one

  [[nodiscard]] Slot* find(core::PartitionId id) const {
    const auto found = slots.find(id);
    return found == slots.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] Slot* find(core::TenantId tenant) const {
    const auto found = tenants.find(tenant);
    return found == tenants.end() ? nullptr : find(found->second);
  }
  /// The lowest one that is open; else the lowest one.
  [[nodiscard]] Slot* first() const {
    const auto open = std::find_if(slots.begin(), slots.end(), [](const auto& one) {
      return one.second->now() == Slot::State::open;
    });
    const auto found = open == slots.end() ? slots.begin() : open;
    return found == slots.end() ? nullptr : found->second.get();
  }
  void put(core::TenantId tenant, core::PartitionId partition) {
    tenants[tenant] = partition;
    highest = std::max(highest, tenant);
  }
};

Engines::Engines(EnginesOptions options)
    : options_(std::move(options)),
      table_(std::make_shared<const Table>()),
      places_(options_.engine.limits.global_parallelism) {
  HK_ASSERT(!options_.engine.on_fatal && !options_.engine.on_places);
}

Engines::~Engines() { stop(); }

std::shared_ptr<const Engines::Table> Engines::table() const { return std::atomic_load(&table_); }

void Engines::replace(std::shared_ptr<const Table> table) {
  std::atomic_store(&table_, std::move(table));
}

Result<void> Engines::open(core::PartitionId id, store::Store& store, Clock& clock, Rng& rng,
                           const core::Term& term) {
  if (Slot* const known = table()->find(id)) {
    if (known->now() != Slot::State::closed) {
      return hk::fail(ErrorKind::conflict,
                      "partition " + std::to_string(id.value()) + " is open already");
    }
    close(id);  // it may have failed, and its threads not have been waited for
  }
  auto slot = std::make_shared<Slot>(id);
  EngineOptions options = options_.engine;
  options.partition = id;
  options.on_fatal = [this, at = slot.get()](const Error& error) { fail(*at, error); };
  options.on_places = [this, id](const Places::Use& use) {
    if (sharing_.load(std::memory_order_relaxed)) {
      share(id, use);
    }
  };
  options.run_effects = [this, at = slot.get()](std::vector<core::Effect> effects) {
    for (const core::Effect& effect : effects) {
      if (const auto* changed = std::get_if<core::TenantChanged>(&effect)) {
        if (const auto learnt = learn(changed->tenant.id, at->id); !learnt) {
          fail(*at, learnt.error());
        }
      }
    }
    if (options_.engine.run_effects) {
      options_.engine.run_effects(std::move(effects));
    }
  };
  slot->engine = std::make_unique<Engine>(std::move(options), store, clock, rng);
  const auto tenants = slot->engine->stored_tenants();
  if (!tenants) {
    return std::unexpected(tenants.error());
  }
  {
    const std::lock_guard lock(changing_);
    auto next = std::make_shared<Table>(*table());
    for (const core::TenantId tenant : *tenants) {
      if (const Slot* const other = next->find(tenant); other != nullptr && other->id != id) {
        return hk::fail(ErrorKind::conflict, "tenant " + std::to_string(tenant.value()) +
                                                 " is in partition " +
                                                 std::to_string(other->id.value()) +
                                                 " and in partition " + std::to_string(id.value()));
      }
      next->put(tenant, id);
    }
    next->slots[id] = slot;
    next->only = next->slots.size() == 1 ? slot.get() : nullptr;
    {
      const std::lock_guard places_lock(places_mutex_);
      if (places_.partitions() >= options_.engine.limits.global_parallelism) {
        return hk::fail(ErrorKind::limit_exceeded,
                        "global_parallelism has no place for each of the open partitions");
      }
      places_.open(id);
      sharing_ = next->only == nullptr;
      slot->engine->set_places(places_.share(id));
    }
    replace(std::move(next));
  }
  if (auto started = slot->engine->start(term); !started) {
    refuse(*slot, closed_error(id, "it could not be opened"), true);
    return started;
  }
  auto opening = Slot::State::opening;  // or it has failed already
  slot->state.compare_exchange_strong(opening, Slot::State::open);
  return {};
}

void Engines::close(core::PartitionId id) {
  if (Slot* const slot = table()->find(id)) {
    refuse(*slot, closed_error(id, "it was taken out of service"), false);
    slot->engine->stop();
  }
}

Result<void> Engines::assign(core::TenantId tenant, core::PartitionId partition) {
  const Slot* const slot = table()->find(partition);
  if (slot == nullptr || slot->now() != Slot::State::open) {
    return hk::fail(ErrorKind::not_found,
                    "partition " + std::to_string(partition.value()) + " is not open");
  }
  return learn(tenant, partition);
}

Result<void> Engines::learn(core::TenantId tenant, core::PartitionId partition) {
  const std::lock_guard lock(changing_);
  const auto before = table();
  if (const auto known = before->tenants.find(tenant); known != before->tenants.end()) {
    if (known->second == partition) {
      return {};
    }
    return hk::fail(ErrorKind::conflict, "tenant " + std::to_string(tenant.value()) +
                                             " is in partition " +
                                             std::to_string(known->second.value()) + " already");
  }
  auto next = std::make_shared<Table>(*before);
  next->put(tenant, partition);
  replace(std::move(next));
  return {};
}

/// From now on nothing more is asked of it. The first reason counts.
void Engines::refuse(Slot& slot, const Error& why, bool failed) {
  {
    const std::lock_guard lock(changing_);
    if (slot.now() == Slot::State::closed) {
      return;
    }
    slot.why = why;
    slot.failed = failed;
    slot.state.store(Slot::State::closed, std::memory_order_release);
  }
  const std::lock_guard lock(places_mutex_);
  places_.close(slot.id);
}

void Engines::fail(Slot& slot, const Error& error) {
  refuse(slot, closed_error(slot.id, "its store has failed"), true);
  if (options_.on_fatal) {
    options_.on_fatal(slot.id, error);
  }
}

void Engines::share(core::PartitionId id, const Places::Use& use) {
  const auto known = table();
  // To the end of it: of two changes, the later one must be told later.
  const std::lock_guard lock(places_mutex_);
  for (const Places::Change& change : places_.report(id, use)) {
    if (const Slot* const slot = known->find(change.partition)) {
      slot->engine->set_places(change.share);
    }
  }
}

void Engines::submit(std::vector<Submission>& batch) {
  const auto known = table();
  if (known->only != nullptr && known->only->now() == Slot::State::open) {
    known->only->engine->submit(batch);
    return;
  }
  submit_to_several(*known, batch);
}

void Engines::submit_to_several(const Table& known, std::vector<Submission>& batch) {
  std::map<Slot*, std::vector<Submission>> to_open;
  std::map<Slot*, std::vector<Submission>> to_closed;
  std::vector<Submission> to_nobody;
  std::vector<Submission> left;
  for (Submission& one : batch) {
    Slot* slot = nullptr;
    if (const auto* report = one.command.get_if<core::CompleteAttempt>()) {
      slot = known.find(report->partition);
    } else if (auto* upsert = one.command.get_if<core::UpsertTenant>();
               upsert != nullptr && upsert->tenant.id == core::TenantId{}) {
      slot = known.first();
      if (slot != nullptr) {
        number(*upsert, slot->id);
      }
    } else {
      slot = known.find(core::tenant_of(one.command));
    }
    if (slot == nullptr) {
      to_nobody.push_back(std::move(one));
      continue;
    }
    switch (slot->now()) {
      case Slot::State::opening: left.push_back(std::move(one)); break;
      case Slot::State::open: to_open[slot].push_back(std::move(one)); break;
      case Slot::State::closed: to_closed[slot].push_back(std::move(one)); break;
    }
  }
  for (auto& [slot, some] : to_open) {
    slot->engine->submit(some);
    std::move(some.begin(), some.end(), std::back_inserter(left));
  }
  batch = std::move(left);
  for (auto& [slot, some] : to_closed) {
    answer_all(some, slot->why);
  }
  answer_all(to_nobody, nowhere);
}

/// Above all that are known: what one partition would choose may be another's.
void Engines::number(core::UpsertTenant& upsert, core::PartitionId partition) {
  const std::lock_guard lock(changing_);
  auto next = std::make_shared<Table>(*table());
  upsert.tenant.id = core::TenantId{next->highest.value() + 1};
  upsert.create_with_id = true;
  next->put(upsert.tenant.id, partition);
  replace(std::move(next));
}

std::shared_ptr<core::Reader> Engines::durable_view(core::TenantId tenant) {
  const auto known = table();
  const Slot* const slot = known->only != nullptr ? known->only : known->find(tenant);
  if (slot == nullptr) {
    throw PartitionUnavailable(nowhere.message);
  }
  return slot->view();
}

std::vector<std::shared_ptr<core::Reader>> Engines::durable_views() {
  std::vector<std::shared_ptr<core::Reader>> views;
  for (const auto& [id, slot] : table()->slots) {
    if (slot->now() != Slot::State::closed || slot->failed) {
      views.push_back(slot->view());
    }
  }
  return views;
}

EngineStats Engines::stats() const {
  EngineStats sum;
  for (const auto& [id, slot] : table()->slots) {
    sum += slot->engine->stats();
  }
  return sum;
}

void Engines::stop_starting() {
  for (const auto& [id, slot] : table()->slots) {
    slot->engine->stop_starting();
  }
}

void Engines::stop() {
  for (const auto& [id, slot] : table()->slots) {
    close(id);
  }
}

}  // namespace hk::engine
