// The end of a process and the start of the next.
#include "base/assert.h"
#include "sim/push.h"
#include "sim/simulation.h"

namespace hk::sim {

/// A planned death is due here. The first comes while clients are at work; the others whenever the
/// server starts again.
bool Simulation::dies_at(Point point) {
  const std::vector<CrashPlan::Step>& steps = options_.crash.steps;
  CrashProgress& progress = crash_progress_;
  if (steps.empty() || !under_way_) {
    return false;
  }
  ++progress.passages[static_cast<std::size_t>(point)];
  if (progress.done == steps.size() || steps[progress.done].point != point ||
      (progress.done == 0 && !faults_) || ++progress.passed < steps[progress.done].passage) {
    return false;
  }
  ++progress.done;
  progress.passed = 0;
  return true;
}

bool Simulation::power_cut(std::uint32_t permille) {
  return options_.crash.steps.empty() ? chance(permille) : options_.crash.power_cut;
}

void Simulation::die(const char* why, bool power_cut) {
  if (!partition_) {
    return;
  }
  trace_.add(heap_.now(), why, life_, power_cut ? 1 : 0, store_.last_written());
  ++outcome_.crashes;
  decided();
  ++life_;
  partition_.reset();
  std::vector<Op> waiting;
  for (Pending& one : unsynced_) {
    std::move(one.ops.begin(), one.ops.end(), std::back_inserter(waiting));
  }
  std::move(inbox_.begin(), inbox_.end(), std::back_inserter(waiting));
  unsynced_.clear();
  inbox_.clear();
  syncing_ = 0;
  busy_until_ = paused_until_ = Moment{};
  wake_planned_ = never;
  hungry_.clear();
  receivers_.clear();  // their connections are gone
  draining_ = false;

  if (power_cut && (!config_.process_death_only || !options_.crash.steps.empty())) {
    store_.crash(rng_);
  }
  store_.reopen();
  check_survival(store_.last_written());
  for (Op& op : waiting) {
    unanswered(std::move(op));
  }
  if (config_.clock_step.count() > 0 && chance(400)) {
    clock_offset_ += up_to(config_.clock_step * 2) - config_.clock_step;
  }
  heap_.after(config_.gap / 2 + up_to(std::min(config_.down_max, config_.gap * 60)),
              [this] { start_server(); });
}

/// I9: what is there now is a prefix of what was written, and no shorter than what somebody was
/// told of.
void Simulation::check_survival(store::BatchSeq survivor) {
  require(survivor >= released_, "I9 acknowledged survives",
          "batch " + std::to_string(released_) + " was acknowledged, " + std::to_string(survivor) +
              " is the last that is left");
  durable_ = std::min(durable_, store_.last_synced());
  model_.crashed(survivor);
}

void Simulation::start_server() {
  if (partition_) {
    return;
  }
  // With other settings than before: what was allowed may not be, and the other way round.
  const bool forbids = faults_ && config_.pull_push > 0 && chance(300);
  std::string forbidden =
      forbids ? config_.hosts[rng_.below(config_.hosts.size())].name : std::string{};
  model_.forbid(forbidden);
  partition_ = std::make_unique<engine::Partition>(
      config_.limits, recording_, core_rng_, zones_, config_.cache_bytes, options_.partition,
      [forbidden = std::move(forbidden)](const core::Queue& queue) -> Result<std::string> {
        std::string host = push_host_of(queue.pull->push.url);
        return host == forbidden ? fail(ErrorKind::invalid_argument, "forbidden")
                                 : Result<std::string>(std::move(host));
      });
  model_.set_places(config_.limits.global_parallelism);
  plan_failed_read();
  const auto stored = partition_->stored_time();
  if (stopped_by_a_read(stored ? nullptr : &stored.error())) {
    die("a read of the stored time failed", power_cut(500));
    return;
  }
  require(stored.has_value(), "readable", "the stored time");
  if (faults_ && chance(config_.crash_in_recovery / 2)) {
    store_.fail_next_write();
  }
  const store::BatchSeq before = store_.last_written();
  recording_.dies_before_write = [this] { return dies_at(Point::epoch_unwritten); };
  const core::Origin origin{static_cast<std::uint16_t>(config_.origin)};
  const auto opened = partition_->open(partition_now(), {.origin = origin});
  recording_.dies_before_write = {};
  if (stopped_by_a_read(opened ? nullptr : &opened.error())) {
    die("a read of a recovery failed", power_cut(500));
    return;
  }
  const std::vector<store::Write> writes = recording_.take();
  for (const store::Write& write : writes) {
    digest(write.key);
    digest(write.value);
  }
  const Decoded decoded = decode(writes);
  require(!writes.empty(), "I7 fences rise", "recovery wrote nothing");
  const Moment time = std::max(*stored, partition_now());
  trace_.add(heap_.now(), "recovered: batch, writes", before + 1, writes.size());
  model_.recover({before + 1, time, {}, &decoded});
  if (!opened) {
    count_failed_write(opened.error());
    die("the write of a recovery failed", power_cut(500));
    return;
  }
  // A scan reads everything: of many crashes with much in the store and little that is new only
  // some are followed by one.
  constexpr std::size_t rows_a_batch = 16;
  if (rows_a_batch * (outcome_.batches - scanned_at_) >= store_.keys() ||
      outcome_.crashes % 16 == 0) {
    full_scan("after a recovery");
  }
  if (dies_at(Point::epoch_written)) {
    die(name_of(Point::epoch_written), power_cut(0));
    return;
  }
  if (faults_ && chance(config_.crash_in_recovery)) {
    die("between recovery and its sync", chance(700));
    return;
  }
  if (faults_ && chance(config_.fail_sync)) {
    store_.fail_next_sync();
  }
  const auto synced = store_.sync();
  if (!synced) {
    ++outcome_.failed_syncs;
    die("the sync of a recovery failed", chance(500));
    return;
  }
  durable_ = *synced;
  model_.synced(durable_);
  if (dies_at(Point::epoch_synced)) {
    die(name_of(Point::epoch_synced), power_cut(0));
    return;
  }
  pump();
}

/// Many while the server starts, the others at any later time: the smaller the number the likelier.
void Simulation::plan_failed_read() {
  const bool fails = faults_ && config_.fail_read > 0;
  recording_.fail_read(fails ? 1 + rng_.below(1ULL << rng_.below(config_.fail_read)) : 0);
}

/// What the disk does not give out is neither absent nor damaged: whoever asked for it stops, and
/// has written nothing of what it was about to decide.
bool Simulation::stopped_by_a_read(const Error* error) {
  if (!recording_.take_failed_read()) {
    return false;
  }
  ++outcome_.failed_reads;
  require(error != nullptr && recording_.take().empty(), "unread",
          "the server went on after a read that failed");
  require(error->kind != ErrorKind::corruption, "unread", "a read that failed is called damage");
  return true;
}

void Simulation::count_failed_write(const Error& error) {
  if (!store_.refusing()) {
    return;  // the server died before it, as planned
  }
  ++(error.kind == ErrorKind::unavailable ? outcome_.full_disk : outcome_.failed_writes);
}

void Simulation::plan_faults() {
  if (config_.crash_every.count() > 0) {
    heap_.after(Millis{1} + up_to(config_.crash_every * 2), [this] {
      if (faults_ && outcome_.crashes < config_.crashes_max) {
        constexpr std::uint64_t one_in = 4;
        if (outcome_.crashes % one_in == one_in - 1) {
          begin_drain();
        } else {
          die("the server died", chance(700));
        }
        plan_faults();
      }
    });
  }
}

/// It was asked to stop: commands are still taken, and it ends a while later.
void Simulation::begin_drain() {
  if (!partition_ || draining_) {
    return;
  }
  trace_.add(heap_.now(), "the server drains");
  decided();
  draining_ = true;
  partition_->stop_starting();
  model_.drain();
  heap_.after(Millis{0}, [this] { pump(); });
  heap_.after(config_.gap * 4, [this, life = life_] {
    if (life == life_) {
      die("the server stopped", false);
    }
  });
}

/// As SlewedClock does after the wall clock was set: partition time runs fast or slow for a while.
void Simulation::plan_leaning() {
  if (config_.clock_lean == 0) {
    return;
  }
  heap_.after(Millis{1} + up_to(config_.gap * 60), [this] {
    if (!faults_) {
      return;
    }
    const auto most = static_cast<std::int64_t>(config_.clock_lean);
    const std::int64_t choices[] = {most, most, 0, -most};
    lean(choices[rng_.below(4)]);
    decided();
    plan_leaning();
  });
}

void Simulation::lean(std::int64_t permille) {
  clock_offset_ = partition_now() - heap_.now();
  leaning_since_ = heap_.now();
  clock_lean_ = permille;
  trace_.add(heap_.now(), "partition time leans", static_cast<std::uint64_t>(permille + 1000));
  heap_.after(Millis{0}, [this] { pump(); });  // what is due comes at another time now
}

/// Stopped by a signal, or its machine was suspended: time goes on, receivers answer, leases and
/// waits end, and nothing is decided meanwhile.
void Simulation::plan_pauses() {
  if (config_.pause_max.count() == 0) {
    return;
  }
  heap_.after(Millis{1} + up_to(config_.gap * 100), [this] {
    if (!faults_) {
      return;
    }
    trace_.add(heap_.now(), "the server stands still");
    decided();
    // One at a time: what must happen within a pause and a while happens between two of them.
    if (const Moment until = heap_.now() + up_to(config_.pause_max); paused_until_ <= heap_.now()) {
      paused_until_ = until;
      busy_until_ = std::max(busy_until_, until);
    }
    plan_pauses();
  });
}

void Simulation::plan_full_disk() {
  if (config_.disk_full_every.count() == 0) {
    return;
  }
  heap_.after(Millis{1} + up_to(config_.disk_full_every * 2), [this] {
    if (!faults_) {
      return;
    }
    trace_.add(heap_.now(), "the disk is full");
    decided();
    store_.set_disk_full(true);
    heap_.after(up_to(config_.gap * 30), [this] {
      trace_.add(heap_.now(), "the disk has room again");
      store_.set_disk_full(false);
      plan_full_disk();
    });
  });
}

}  // namespace hk::sim
