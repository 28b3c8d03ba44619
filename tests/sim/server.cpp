// The simulated server: what engine.cpp does with two threads, as events.
#include "base/assert.h"
#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::size_t unsynced_max = 2;

/// The body of the one message that a command has made, if it has.
std::size_t bytes_written_for(const core::Reply& reply, const Decoded& decoded) {
  const auto* const one = reply ? reply->get_if<core::Published>() : nullptr;
  if (one == nullptr || one->deduplicated) {
    return 0;
  }
  const auto put =
      std::ranges::find(decoded.messages, one->id, [](const auto& message) { return message->id; });
  return put == decoded.messages.end() ? 0 : (*put)->body.size();
}

}  // namespace

void Simulation::submit(Op op) {
  op.number = next_op_++;
  if (op.once) {
    op.once->seen = std::make_shared<OnceText::Seen>();
  }
  if (op.kind != Op::Kind::complete) {  // its receiver has decided
    decided(std::max<std::size_t>(op.items.size(), 1));
  }
  if (!partition_) {
    unanswered(std::move(op));
    return;
  }
  inbox_.push_back(std::move(op));
  heap_.after(Millis{0}, [this] { pump(); });
}

void Simulation::wake_at(Moment at) {
  if (at >= wake_planned_ && wake_planned_ > heap_.now()) {
    return;
  }
  wake_planned_ = at;
  heap_.at(at, [this, life = life_, at] {
    if (life == life_) {
      if (wake_planned_ == at) {
        wake_planned_ = never;
      }
      pump();
    }
  });
}

void Simulation::pump() {
  if (!partition_ || unsynced_.size() >= unsynced_max) {
    return;  // start_server() or the end of the sync comes back here
  }
  if (heap_.now() < busy_until_) {
    wake_at(busy_until_);
    return;
  }
  const auto due = partition_->wake_at();
  if (!inbox_.empty() || (due && *due <= partition_now())) {
    run_batch();
    return;
  }
  if (due) {
    // The engine sleeps for a second at most, so it is not late where partition time runs fast.
    const Millis left = *due - partition_now();
    const std::int64_t speed = 1000 + std::max<std::int64_t>(clock_lean_, 0);
    wake_at(heap_.now() + (left * 1000 + Millis{speed - 1}) / speed);
  }
}

/// What other partitions of the process would take and give back. When the faults are over it has
/// them all.
void Simulation::change_places() {
  const std::uint32_t all = config_.limits.global_parallelism;
  if (config_.places_every == 0 || (faults_ && outcome_.batches % config_.places_every != 0)) {
    return;
  }
  const std::uint32_t places =
      faults_ ? 1 + static_cast<std::uint32_t>(places_rng_.below(std::min(all, 64U))) : all;
  partition_->set_places(places);
  model_.set_places(places);
}

void Simulation::run_batch() {
  change_places();
  std::vector<Op> ops;
  std::vector<engine::Submission> commands;
  while (!inbox_.empty() && ops.size() < config_.commands_per_batch) {
    // Its answer may come with a later batch: it carries what was asked.
    commands.push_back({.command = to_command(inbox_.front()),
                        .held = std::make_shared<const Op>(inbox_.front())});
    ops.push_back(std::move(inbox_.front()));
    inbox_.pop_front();
  }
  if (faults_ && chance(config_.fail_write)) {
    store_.fail_next_write();
  }
  ++outcome_.batches;
  const store::BatchSeq before = store_.last_written();
  const Moment time = std::max(model_.time(), partition_now());
  recording_.dies_before_write = [this] { return dies_at(Point::batch_unwritten); };
  auto written = partition_->run(partition_now(), commands);
  recording_.dies_before_write = {};
  // A batch that was full leaves the rest for the next one.
  if (partition_->executed() < ops.size()) {
    const auto rest = ops.begin() + static_cast<std::ptrdiff_t>(partition_->executed());
    inbox_.insert(inbox_.begin(), std::make_move_iterator(rest),
                  std::make_move_iterator(ops.end()));
    ops.erase(rest, ops.end());
  }
  if (stopped_by_a_read(written ? nullptr : &written.error())) {
    for (Op& op : ops) {
      unanswered(std::move(op));
    }
    die("a read failed", power_cut(500));
    return;
  }
  const std::vector<store::Write> writes = recording_.take();
  for (const store::Write& write : writes) {
    digest(write.key);
    digest(write.value);
  }
  const Decoded decoded = decode(writes);
  for (const auto& message : decoded.messages) {
    require(core::origin_of(message->id.seq).value() == config_.origin, "I7 numbers",
            name_of(message->id.seq) + " is of another origin");
  }
  trace_.add(heap_.now(), "batch: number, operations, writes", writes.empty() ? before : before + 1,
             ops.size(), writes.size());
  purged_.insert(decoded.purged.begin(), decoded.purged.end());
  const std::vector<Expected> expected =
      model_.apply({writes.empty() ? before : before + 1, time, ops, &decoded,
                    written ? std::span<const core::Effect>(written->effects)
                            : std::span<const core::Effect>()});
  if (!written) {
    count_failed_write(written.error());
    for (Op& op : ops) {
      unanswered(std::move(op));
    }
    die("a write failed", power_cut(500));
    return;
  }

  require(written->replies.size() == written->answered.size(), "replies", "one for each command");
  std::vector<Op> answered_ops;
  std::map<std::uint64_t, const core::Reply*> replies;  // by the number of the operation
  for (std::size_t i = 0; i < written->answered.size(); ++i) {
    answered_ops.push_back(*static_cast<const Op*>(written->answered[i].held.get()));
    require(replies.emplace(answered_ops.back().number, &written->replies[i]).second, "replies",
            "one was answered twice");
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    require(bytes < config_.limits.batch_bytes, "bounded", "a batch goes on although it is full");
    if (expected[i].kind != Expected::Kind::later) {
      const auto reply = replies.extract(ops[i].number);
      require(!reply.empty(), "replies", "one was not answered");
      check_reply(ops[i], *reply.mapped(), expected[i]);
      const auto& inner = ops[i].once ? ops[i].once->seen->reply : std::optional<core::Reply>();
      bytes += bytes_written_for(inner ? *inner : *reply.mapped(), decoded);
    }
  }
  std::vector<Model::Answer> received;
  std::size_t late_claims = 0;
  for (const Op& op : answered_ops) {
    if (const auto reply = replies.find(op.number); reply != replies.end()) {
      if (op.kind == Op::Kind::claim_key) {
        const auto late = model_.late_claims().find(op.receiver);
        require(late != model_.late_claims().end(), "replies", "a claim was answered too early");
        check_reply(op, *reply->second, late->second);
        ++late_claims;
        continue;
      }
      require(op.kind == Op::Kind::receive, "replies", "one was answered late");
      received.push_back({op.receiver, reply->second});
    }
  }
  require(late_claims == model_.late_claims().size(), "replies", "a claim waits in vain");
  if (const auto look = model_.next_look()) {
    const auto due = partition_->wake_at();
    require(due && *due <= *look, "replies", "a claim that waits is not looked at again in time");
  }
  model_.check_effects(decoded, written->effects);
  model_.check_hand_outs(
      received, written->effects,
      10 * config_.sync_max + 2 * config_.cpu_max + 2 * config_.pause_max + Millis{10});
  if (draining_) {
    require(std::ranges::none_of(
                written->effects,
                [](const auto& one) { return std::holds_alternative<core::StartAttempt>(one); }),
            "drain", "an attempt has started after it had begun");
  } else {
    check_fairness(written->effects);
  }
  check_bounds();
  busy_until_ = heap_.now() + up_to(config_.cpu_max);
  if (const auto due = partition_->wake_at(); !due || *due > time) {
    if (!draining_) {
      model_.check_nothing_stranded(time);
      model_.check_nobody_waits_in_vain(time);
    }
    model_.check_no_run_missed(time);
    model_.ledger().check_nothing_due(time);
    model_.check_nothing_outlives_its_retention(time);
  }

  if (!writes.empty() && dies_at(Point::batch_written)) {
    for (Op& op : ops) {
      unanswered(std::move(op));
    }
    die(name_of(Point::batch_written), power_cut(0));
    return;
  }
  Pending pending{written->batch,
                  time,
                  heap_.now(),
                  std::move(answered_ops),
                  std::move(written->replies),
                  std::move(written->effects)};
  if (under_way_ && options_.plants.effects_before_durable) {
    for (const core::Effect& effect : std::exchange(pending.effects, {})) {
      run_effect(effect, pending);
    }
  }
  if (under_way_ && options_.plants.ack_before_sync) {
    for (std::size_t i = 0; i < pending.ops.size(); ++i) {
      answered(pending.ops[i], pending.replies[i], pending);
    }
    pending.ops.clear();
  }
  if (!pending.ops.empty() || !pending.effects.empty() || !writes.empty()) {
    unsynced_.push_back(std::move(pending));
    start_sync();
  }
  heap_.at(busy_until_, [this] { pump(); });
}

void Simulation::start_sync() {
  if (syncing_ != 0 || unsynced_.empty()) {
    return;
  }
  if (unsynced_.back().batch > durable_ && dies_at(Point::sync_begins)) {
    die(name_of(Point::sync_begins), power_cut(0));
    return;
  }
  syncing_ = unsynced_.size();
  sync_done_early_ = false;
  sync_failed_ = false;
  Millis took = up_to(config_.sync_max);
  if (chance(10)) {
    took *= 10;  // the long tail of a disk
  }
  // A sync covers what was written before it began, and perhaps more.
  if (chance(500) && unsynced_.back().batch > durable_) {
    if (faults_ && chance(config_.fail_sync)) {
      store_.fail_next_sync();
    }
    sync_done_early_ = true;
    sync_failed_ = !store_.sync().has_value();
  }
  heap_.after(took, [this, life = life_] { finish_sync(life); });
}

void Simulation::finish_sync(std::uint64_t life) {
  if (life != life_) {
    return;
  }
  HK_ASSERT(syncing_ > 0 && syncing_ <= unsynced_.size());
  const store::BatchSeq covered = unsynced_[syncing_ - 1].batch;
  if (covered > durable_) {
    if (!sync_done_early_ && !(under_way_ && options_.plants.unsynced_batches_forgotten)) {
      if (faults_ && chance(config_.fail_sync)) {
        store_.fail_next_sync();
      }
      sync_failed_ = !store_.sync().has_value();
    }
    if (sync_failed_) {
      ++outcome_.failed_syncs;
      die("a sync failed", chance(500));
      return;
    }
    if (dies_at(Point::log_synced)) {
      die(name_of(Point::log_synced), power_cut(0));
      return;
    }
    durable_ = covered;
    model_.synced(std::min(durable_, store_.last_synced()));
    if (dies_at(Point::view_published)) {
      die(name_of(Point::view_published), power_cut(0));
      return;
    }
  }
  trace_.add(heap_.now(), "synced: up to batch", durable_);
  std::vector<Pending> done(
      std::make_move_iterator(unsynced_.begin()),
      std::make_move_iterator(unsynced_.begin() + static_cast<std::ptrdiff_t>(syncing_)));
  unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<std::ptrdiff_t>(syncing_));
  syncing_ = 0;
  release(std::move(done));
  if (partition_) {
    start_sync();
    pump();
  }
}

void Simulation::run_effect(const core::Effect& effect, const Pending& of) {
  if (const auto* start = std::get_if<core::StartAttempt>(&effect)) {
    send(*start, of);
  }
}

void Simulation::release(std::vector<Pending> done) {
  const bool dies = faults_ && chance(config_.crash_at_release);
  for (Pending& one : done) {
    for (std::size_t i = 0; i < one.ops.size(); ++i) {
      if (dies && chance(300)) {
        for (; i < one.ops.size(); ++i) {
          unanswered(std::move(one.ops[i]));
        }
        die("before a reply left", chance(700));
        return;
      }
      if (faults_ && !in_process(one.ops[i].kind) && chance(config_.lost_answers)) {
        unanswered(std::move(one.ops[i]));
      } else {
        answered(one.ops[i], one.replies[i], one);
      }
      if (dies_at(Point::reply_released)) {
        for (++i; i < one.ops.size(); ++i) {
          unanswered(std::move(one.ops[i]));
        }
        die(name_of(Point::reply_released), power_cut(0));
        return;
      }
    }
  }
  if (!done.empty() && dies_at(Point::replies_released)) {
    die(name_of(Point::replies_released), power_cut(0));
    return;
  }
  for (const Pending& one : done) {
    for (const core::Effect& effect : one.effects) {
      if (dies && chance(300)) {
        die("before an attempt left", chance(700));
        return;
      }
      run_effect(effect, one);
      if (dies_at(Point::effect_released)) {
        die(name_of(Point::effect_released), power_cut(0));
        return;
      }
    }
  }
  if (dies_at(Point::effects_released)) {
    die(name_of(Point::effects_released), power_cut(0));
    return;
  }
  if (dies) {
    die("after a release", chance(700));
  }
}

}  // namespace hk::sim
