// From the first event to the last: safety, liveness, and the end of every retention.
#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "sim/scan.h"
#include "sim/simulation.h"
#include "store/verify.h"

namespace hk::sim {

namespace {

constexpr Millis settled_within{7 * 86'400'000LL};

}  // namespace

bool switch_on(Plants& plants, const std::string& name) {
  bool* const plant = name == "effects_before_durable"       ? &plants.effects_before_durable
                      : name == "ack_before_sync"            ? &plants.ack_before_sync
                      : name == "unsynced_batches_forgotten" ? &plants.unsynced_batches_forgotten
                                                             : nullptr;
  if (plant != nullptr) {
    *plant = true;
  }
  return plant != nullptr;
}

Simulation::Simulation(const Options& options)
    : options_(options),
      rng_(options.seed),
      core_rng_(options.seed ^ 0x5eed'c04eULL),
      places_rng_(options.seed ^ 0x91ace5ULL),
      config_(turned(draw_config(rng_, options.seed), options.settings)),
      heap_(options.seed ^ 0x7157'b4ea'4ULL),
      model_(config_.limits, core::Origin{static_cast<std::uint16_t>(config_.origin)}) {
  for (std::uint32_t i = 0; i < config_.dice; ++i) {
    rng_.next();
  }
  trace_.set_echo(options.trace);
}

Simulation::~Simulation() = default;

void Simulation::digest(std::string_view bytes) {
  std::uint64_t hash = outcome_.digest ^ 0xcbf29ce484222325ULL;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  outcome_.digest = hash;
}

void Simulation::decided(std::uint64_t count) {
  decisions_ += under_way_ && faults_ ? count : 0;
  require(options_.decisions_max == 0 || decisions_ <= options_.decisions_max, "decisions",
          "more than were asked for");
}

void Simulation::run_until(Moment end, const std::function<bool()>& done) {
  while (!done()) {
    if (heap_.empty() || heap_.next() > end) {
      return;
    }
    if (options_.turn) {
      options_.turn();
    }
    heap_.step();
    ++outcome_.steps;
  }
}

Outcome Simulation::run() {
  const Moment begin = heap_.now();
  faults_ = false;  // a tenant that is not stored has no clients
  start_server();
  for (std::uint32_t i = 0; i < config_.tenants; ++i) {
    submit({.kind = Op::Kind::tenant, .name = "tenant" + std::to_string(i)});
  }
  run_until(begin + Millis{60'000},
            [this] { return model_.tenants().size() == config_.tenants && unsynced_.empty(); });
  HK_ASSERT(model_.tenants().size() == config_.tenants && durable_ > 0);
  faults_ = true;
  under_way_ = true;

  plan_clients();
  plan_faults();
  plan_failed_read();
  plan_full_disk();
  plan_leaning();
  plan_pauses();
  const auto at_least = Millis{static_cast<std::int64_t>(options_.hours * 3'600'000)};
  run_until(never, [&] { return ops_made_ >= config_.ops && heap_.now() >= begin + at_least; });
  settle_everything();
  forget_everything();
  outcome_.virtual_hours = static_cast<double>((heap_.now() - begin).count()) / 3'600'000.0;
  return outcome_;
}

/// Liveness: faults are over and everything paused goes on; then every message settles in bounded
/// time.
void Simulation::settle_everything() {
  if (partition_) {
    full_scan("when the faults end");
  }
  trace_.add(heap_.now(), "the faults are over");
  faults_ = false;
  publishing_ = false;
  lean(0);
  plan_failed_read();
  store_.set_disk_full(false);
  const Moment begin = heap_.now();
  run_until(begin + Millis{3'600'000}, [this] { return partition_ != nullptr; });
  require(partition_ != nullptr, "liveness", "the server does not come up");
  // What clients had planned to repeat still arrives, and may pause something once more.
  run_until(heap_.now() + config_.gap * 40, [] { return false; });
  // A stop that was planned may still come; nobody answers what is asked meanwhile.
  run_until(begin + settled_within,
            [this] { return partition_ != nullptr && inbox_.empty() && unsynced_.empty(); });
  delete_schedules();
  for (std::uint32_t tenant = 1; tenant <= config_.tenants; ++tenant) {
    for (std::uint32_t i = 0; i < config_.queues; ++i) {
      submit({.kind = Op::Kind::queue,
              .tenant = core::TenantId{tenant},
              .name = "q" + std::to_string(i),
              .paused = false});
    }
    for (std::uint32_t i = 0; i < config_.flows; ++i) {
      submit({.kind = Op::Kind::pause_flow,
              .tenant = core::TenantId{tenant},
              .name = "f" + std::to_string(i),
              .paused = false});
    }
  }
  resume_everything();
  drain_everything();
  run_until(begin + settled_within, [this] {
    return model_.pending() == 0 && model_.schedules().empty() && unsynced_.empty() &&
           model_.ledger().quiet();
  });
  require(model_.ledger().quiet(), "liveness", "a hold does not expire, or records stay uncovered");
  require(
      model_.pending() == 0, "liveness",
      std::to_string(model_.pending()) + " messages are not settled after a week, first " + [this] {
        for (const auto& [seq, message] : model_.messages()) {
          if (!core::is_final(message.status)) {
            return describe(message);
          }
        }
        return std::string("none");
      }());
  const auto nothing_moves = [this] {
    return std::ranges::none_of(model_.moves(),
                                [](const auto& one) { return one.second.running(); }) &&
           std::ranges::none_of(model_.cancels(), [](const auto& one) {
             return one.second.status == core::Task::Status::running;
           });
  };
  run_until(begin + settled_within, nothing_moves);
  require(nothing_moves(), "moves", "a task never ends");
  const auto nobody_waits = [this] {
    return std::ranges::all_of(receivers_, [](const auto& one) { return one.second.hung_up; });
  };
  run_until(begin + settled_within, nobody_waits);
  require(nobody_waits(), "receivers", "one waits for ever");
  full_scan("when all is settled");
}

/// After every retention nothing is left behind but settings and counters.
void Simulation::forget_everything() {
  const core::Limits& limits = config_.limits;
  const Millis keep =
      std::max({limits.retention_finished, limits.retention_dlq, config_.dedup_window_max,
                config_.pull_queues > 0 ? config_.pull_retention_max : Millis{0},
                config_.topics > 0 ? topic_window : Millis{0},
                config_.once > 0 ? key_kept_max : Millis{0},
                config_.ledger > 0 ? ledger_timeout_max : Millis{0},
                config_.sources > 0
                    ? std::max(limits.source_events_kept_for, limits.quarantine_kept_for) +
                          2 * limits.source_upkeep_every
                    : Millis{0},
                config_.keys > 0 ? key_lease_max + key_kept_max : Millis{0},
                config_.cancel_tasks > 0 ? limits.cancel_tasks_kept_for : Millis{0}}) +
      4 * limits.expiry_poll + 2 * limits.event_purge_every + Millis{10'000} + limits.index_after;
  const std::int64_t wakes = keep / std::min(limits.expiry_poll, limits.event_purge_every);
  if (wakes > 3000 || (limits.retention_dlq.count() == 0 && !model_.dead_letters().empty())) {
    return;
  }
  run_until(heap_.now() + keep, [] { return false; });
  require(model_.messages().empty(), "retention",
          std::to_string(model_.messages().size()) + " messages outlive their retention");
  require(model_.cancels().empty(), "retention", "bulk actions outlive their time");
  require(model_.keys().empty(), "retention", "idempotency keys outlive their time");
  require(model_.once().empty(), "retention", "answers to writes outlive their time");
  require(model_.nothing_of_sources(), "retention", "events of sources outlive their time");
  full_scan("when all is forgotten");
  const auto reader = store_.snapshot();
  require(model_.schedules().empty(), "retention", "schedules that nobody deleted");
  scan_for_leftovers(*reader);
}

void Simulation::full_scan(const char* when) {
  trace_.add(heap_.now(), when);
  ++outcome_.scans;
  scanned_at_ = outcome_.batches;
  const auto reader = store_.snapshot();
  scan_store(*reader, model_);
  SeededRng moments(outcome_.steps);
  scan_ledger(store_.snapshot(), model_.ledger(), moments);
  const auto report = store::verify(*reader);  // what `hikyaku verify` would say
  require(report.has_value(), "verify", report ? "" : report.error().message);
  require(report->ok(), "verify", report->problems.empty() ? "" : report->problems.front());
  const auto there = [this](core::Seq seq, std::uint64_t nonce) {
    return purged_.contains(seq) || !model_.lost({seq, nonce});
  };
  for (const auto& [seq, id] : acked_) {
    require(there(seq, id.nonce), "I2 present", name_of(seq) + " was acknowledged and is gone");
  }
  check_ledger_acked();
  for (const auto& [key, wire] : wire_) {
    require(there(key.first, key.second), "I4 known", name_of(key.first) + " was sent and is gone");
    const auto found = model_.messages().find(key.first);
    require(found == model_.messages().end() || wire.delivered || found->second.pulled() ||
                found->second.status != core::Status::succeeded,
            "I4 delivered", name_of(key.first) + " counts as delivered, no receiver has it");
  }
  for (const auto& [key, held] : held_) {
    require(there(key.first, key.second), "I4 known",
            name_of(key.first) + " was received and is gone");
  }
  for (const auto& [seq, message] : model_.messages()) {
    require(!message.pulled() || message.status != core::Status::succeeded ||
                held_.contains({seq, message.content->id.nonce}),
            "I4 delivered", name_of(seq) + " counts as received, no receiver has it");
  }
}

/// I14: what is in memory depends on windows and attempts, not on the backlog.
void Simulation::check_bounds() {
  const core::Limits& limits = config_.limits;
  const core::Machine& machine = partition_->machine();
  const auto lanes = static_cast<double>(std::max<std::size_t>(machine.lanes(), 1));
  // A lane's window was sized when it was filled; lanes that came later had less to share.
  const double windows =
      std::min(lanes * static_cast<double>(limits.lane_window_max),
               lanes * static_cast<double>(limits.lane_window_min) +
                   static_cast<double>(limits.window_budget) * (1 + std::log(lanes)));
  const std::uint64_t slots = 8U * (1 + config_.groups) * model_.queues().size();
  require(
      static_cast<double>(machine.in_memory()) <=
          1.25 * windows + 4 + static_cast<double>(model_.in_flight() + model_.received() + slots),
      "I14 memory", std::to_string(machine.in_memory()) + " messages in memory");
  const auto wake_at = machine.wake_at();
  const bool idle = !wake_at || *wake_at > model_.time();  // else it may have to look at one more
  require(!idle || machine.pull_queues() <= model_.queues().size(), "I14 memory",
          std::to_string(machine.pull_queues()) + " queues in memory, of " +
              std::to_string(model_.queues().size()));
  require(
      machine.in_flight() == model_.in_flight(), "I14 in flight",
      std::to_string(machine.in_flight()) + " attempts, not " + std::to_string(model_.in_flight()));
}

/// I14: a tenant that could start something is not passed over for long while others start.
void Simulation::check_fairness(const std::vector<core::Effect>& effects) {
  std::map<core::TenantId, std::uint64_t> started;
  std::uint64_t total = 0;
  for (const core::Effect& effect : effects) {
    if (const auto* start = std::get_if<core::StartAttempt>(&effect)) {
      ++started[start->tenant];
      ++total;
    }
  }
  if (config_.tenants < 2 || (total == 0 && hungry_.empty())) {
    return;
  }
  const core::Limits& limits = config_.limits;
  const std::uint64_t lanes = partition_->machine().lanes();
  const std::uint64_t starts_max = 4 * config_.tenants * limits.quantum + limits.starts_per_batch;
  const std::uint64_t batches_max = 4 + 2 * lanes / limits.refills_per_batch;
  const std::set<core::TenantId> with_work = model_.tenants_with_work(model_.time());
  for (std::uint32_t i = 1; i <= config_.tenants; ++i) {
    const core::TenantId tenant{i};
    if (!with_work.contains(tenant) || started.contains(tenant)) {
      hungry_.erase(tenant);
      continue;
    }
    Hunger& hunger = hungry_[tenant];
    hunger.others_started += total;
    ++hunger.batches;
    require(hunger.others_started <= starts_max || hunger.batches <= batches_max, "I14 fairness",
            "tenant " + std::to_string(i) + " waits while others started " +
                std::to_string(hunger.others_started) + " attempts in " +
                std::to_string(hunger.batches) + " batches");
  }
}

}  // namespace hk::sim
