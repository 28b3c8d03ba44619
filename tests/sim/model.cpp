#include "sim/model.h"

#include <algorithm>

#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

std::string name_of(core::Seq seq) { return "message " + std::to_string(seq.value()); }

std::string describe(const ModelMessage& message) {
  const core::Message& content = *message.content;
  return name_of(message.seq()) + " (tenant " + std::to_string(content.tenant.value()) +
         ", queue '" + content.queue + "', group '" + content.group + "', flow key '" +
         content.flow_key + "', attempts " + std::to_string(message.attempts) + ", due " +
         std::to_string(to_ms(message.due)) + (message.leased ? ", leased" : "") +
         (message.cancel_requested ? ", cancel requested" : "") + ")";
}

void Model::add_to_views(const ModelMessage& message) {
  const core::Message& content = *message.content;
  note_end(message);
  if (core::is_final(message.status)) {
    if (message.callbacks_open > 0) {
      ++lanes_[core::lane_of(content)].under_way;
    }
    return;
  }
  ++pending_;
  if (message.pulled()) {
    ++lags_[{content.tenant, content.queue}];
    received_ += message.started ? 1 : 0;
    PullLane& lane = pull_lanes_[core::lane_of(content)];
    lane.all.insert(message.seq());
    lane.by_due.insert({message.due, message.seq()});
    note_depth(core::lane_of(content), lane);
    count_push(message, true);
    return;
  }
  if (message.ordered()) {
    ++lags_[{content.tenant, content.queue}];
  }
  if (!content.flow_key.empty()) {
    ++flow_pending_[{content.tenant, content.flow_key}];
  }
  LaneView& lane = lanes_[core::lane_of(content)];
  if (message.ordered() && !message.started) {
    lane.fresh.insert(message.seq());
  } else if (!message.leased) {
    lane.waiting.insert({message.due, message.seq()});
  }
  if (message.ordered() && message.started) {
    ++lane.under_way;
  }
  if (message.leased) {
    leases_.insert({message.lease_until, message.seq()});
    ++in_flight_;
    places_ += places_of(content);
    tenant_places_[content.tenant] += places_of(content);
    host_places_[{content.tenant, content.host}] += places_of(content);
    if (!content.flow_key.empty()) {
      ++flow_in_flight_[{content.tenant, content.flow_key}];
    }
  }
}

void Model::take_from_views(const ModelMessage& message) {
  const core::Message& content = *message.content;
  if (core::is_final(message.status)) {
    if (message.callbacks_open > 0) {
      --lanes_[core::lane_of(content)].under_way;
    }
    return;
  }
  --pending_;
  if (message.pulled()) {
    --lags_[{content.tenant, content.queue}];
    received_ -= message.started ? 1 : 0;
    const auto lane = pull_lanes_.find(core::lane_of(content));
    lane->second.all.erase(message.seq());
    lane->second.by_due.erase({message.due, message.seq()});
    if (lane->second.all.empty()) {
      pull_lanes_.erase(lane);
    }
    count_push(message, false);
    return;
  }
  if (message.ordered()) {
    --lags_[{content.tenant, content.queue}];
  }
  if (!content.flow_key.empty()) {
    --flow_pending_[{content.tenant, content.flow_key}];
  }
  const auto lane = lanes_.find(core::lane_of(content));
  lane->second.fresh.erase(message.seq());
  lane->second.waiting.erase({message.due, message.seq()});
  if (message.ordered() && message.started) {
    --lane->second.under_way;
  }
  if (message.leased) {
    leases_.erase({message.lease_until, message.seq()});
    --in_flight_;
    places_ -= places_of(content);
    tenant_places_[content.tenant] -= places_of(content);
    host_places_[{content.tenant, content.host}] -= places_of(content);
    if (!content.flow_key.empty()) {
      --flow_in_flight_[{content.tenant, content.flow_key}];
    }
  }
}

core::Counters& Model::counts(core::TenantId tenant) {
  save(counters_, tenant);
  changed_counts_.insert(tenant);
  return counters_[tenant];
}

ModelMessage* Model::find(core::TenantId tenant, core::MessageId id) {
  const auto found = messages_.find(id.seq);
  if (found == messages_.end() || found->second.content->id != id ||
      found->second.content->tenant != tenant) {
    return nullptr;
  }
  return &found->second;
}

bool Model::lost(core::MessageId id) const {
  const auto found = messages_.find(id.seq);
  return found == messages_.end() || found->second.content->id != id;
}

void Model::begin(const Step& step) {
  require(step.time >= time_, "time", "partition time ran backwards");
  last_batch_ = time_;
  time_ = step.time;
  batch_ = step.batch;
  written_ = step.written;
  next_message_ = 0;
  changed_.clear();
  handed_out_.clear();
  pushes_now_.clear();
  for (const core::Effect& effect : step.effects) {
    const auto* const start = std::get_if<core::StartAttempt>(&effect);
    if (start != nullptr && start->to) {
      pushes_now_[{start->id.seq, start->fence.attempt}] = start;
    }
  }
  changed_queues_.clear();
  changed_flows_.clear();
  changed_groups_.clear();
  changed_topics_.clear();
  changed_keys_.clear();
  changed_once_.clear();
  changed_sources_.clear();
  changed_source_events_.clear();
  changed_quarantined_.clear();
  late_claims_.clear();
  changed_schedules_.clear();
  changed_dedups_.clear();
  changed_moves_.clear();
  changed_cancels_.clear();
  canceled_by_tasks_.clear();
  perhaps_by_tasks_.clear();
  last_moved_.clear();
  resolved_in_doubt_.clear();
  not_hidden_.clear();
  changed_counts_.clear();
  changed_dead_letters_.clear();
  events_.clear();
  ledger_.begin(batch_, time_, *written_);
}

std::vector<Expected> Model::apply(const Step& step) {
  begin(step);
  if (step.written->meta) {
    require(step.written->meta->epoch == epoch_, "I7 fences rise", "a batch changed the epoch");
  }
  finish_leftover_cancels();
  std::vector<Expected> expected;
  for (const Op& op : step.ops) {
    expected.push_back(decide(op));
  }
  expire_leases();
  expire_pushes();
  sweep();
  purge();
  ledger_.timers();
  forget_keys();
  forget_of_sources();
  answer_claims();
  run_schedules();
  move_and_end();
  end_moves();
  cancel_by_tasks();
  go_on_with_cancels();
  const std::uint64_t taken = places_;
  const auto held = tenant_places_;
  std::map<core::TenantId, std::uint32_t> last_places;
  std::uint32_t most_places = 0;
  absorb_other_delays();
  std::map<core::Seq, std::uint32_t> to_come;
  for (const core::Events& events : written_->events) {
    for (const core::EventRef& one : events.events) {
      to_come[one.seq] += one.kind == core::EventKind::active ? 1 : 0;
    }
  }
  // In the order of the log: what starts, what is received, and what goes elsewhere instead.
  for (const core::Events& events : written_->events) {
    require(events.time == time_, "events", "events carry another time than their batch");
    for (std::size_t at = 0; at < events.events.size(); ++at) {
      const core::EventRef& one = events.events[at];
      const auto found = messages_.find(one.seq);
      // What nobody knows yet is moved from another queue in this batch.
      const bool pulled = found == messages_.end() ? moved_now(one.seq) : found->second.pulled();
      if (pulled) {
        judge(events, at, to_come);
      } else if (one.kind == core::EventKind::active) {
        start(events.tenant, one);
      }
      if (one.kind == core::EventKind::active &&
          (!pulled || pushes_now_.contains({one.seq, one.attempt}))) {
        last_places[events.tenant] = places_of(*messages_.at(one.seq).content);
        most_places = std::max(most_places, last_places[events.tenant]);
      }
    }
  }
  require(most_places == 0 || places_ - most_places < limits_.global_parallelism, "parallelism",
          "of the server exceeded");
  // Events are by tenant, so who started before whom is not known: at a tenant's last start its own
  // ones were taken at least, beside what had been taken before.
  for (const auto& [tenant, now] : tenant_places_) {
    const auto found = held.find(tenant);
    const std::uint64_t before = found == held.end() ? 0 : found->second;
    const std::uint64_t last = last_places[tenant];
    require(now <= before ||
                within_share(now - last, limits_.global_parallelism, taken + (now - last - before)),
            "shares", "of a tenant exceeded");
  }
  if (!written_->events.empty()) {
    undo_.push_back({batch_, [this, before = last_event_] { last_event_ = before; }});
    last_event_ = time_;
  }
  compare_written();
  return expected;
}

void Model::recover(const Step& step) {
  require(step.written->meta.has_value(), "I7 fences rise", "recovery did not write its epoch");
  const Moment opened = step.written->meta->time;
  require(opened >= step.time && opened >= last_event_, "time",
          "a restart took time back to before what had happened");
  time_ = opened;
  begin({step.batch, opened, step.ops, step.written});
  require(step.written->meta->epoch > epoch_, "I7 fences rise", "recovery reused an epoch");
  const std::uint32_t before = epoch_;
  undo_.push_back({batch_, [this, before] { epoch_ = before; }});
  epoch_ = step.written->meta->epoch;
  finish_leftover_cancels();
  compare_written();
}

void Model::crashed(store::BatchSeq survivor) {
  while (!undo_.empty() && undo_.back().batch > survivor) {
    undo_.back().back();
    undo_.pop_back();
  }
  ledger_.crashed(survivor);
  batch_ = survivor;
  waiters_.clear();
  key_waiters_.clear();
  kept_in_second_.clear();
  draining_ = false;
  told_gone_.clear();
  went_away_.clear();
  given_.clear();
  again_.clear();
  holders_.clear();
  idle_.clear();
  ++life_;
  deep_.clear();
  for (const auto& [key, lane] : pull_lanes_) {
    note_depth(key, lane);
  }
  while (!leases_.empty()) {
    update(leases_.begin()->second, [](ModelMessage& message) { message.leased = false; });
  }
  while (!push_leases_.empty()) {
    update(push_leases_.begin()->second, [](ModelMessage& message) { message.pushed = false; });
  }
}

void Model::synced(store::BatchSeq batch) {
  ledger_.synced(batch);
  const auto keep = std::find_if(undo_.begin(), undo_.end(),
                                 [batch](const Undo& undo) { return undo.batch > batch; });
  undo_.erase(undo_.begin(), keep);
}

}  // namespace hk::sim
