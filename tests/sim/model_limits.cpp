// What queues and flow keys must do: deletion, lag, pins, and what may be forgotten.
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

constexpr Millis kept_idle{3'600'000};

}  // namespace

std::uint64_t Model::lag(const Named& queue) const {
  const auto found = lags_.find(queue);
  return found == lags_.end() ? 0 : found->second;
}

bool Model::swept(const core::Message& message) const {
  const auto found = deleted_up_to_.find({message.tenant, message.queue});
  return !message.queue.empty() && found != deleted_up_to_.end() && message.id.seq <= found->second;
}

Expected Model::delete_queue(const Op& op) {
  const Named key{op.tenant, op.name};
  const auto found = queues_.find(key);
  if (found == queues_.end() || found->second.deleted) {
    return {.kind = Expected::Kind::done};
  }
  save(queues_, key);
  found->second.deleted = true;
  found->second.sweeping = true;
  changed_queues_.insert(key);
  save(deleted_up_to_, key);
  deleted_up_to_[key] = last_seq_;
  end_waits(key);
  end_moves_of(key);
  return {.kind = Expected::Kind::done};
}

/// The queue as it is used now: made if need be, anew if it was deleted.
ModelQueue& Model::use_queue(const Named& key) {
  save(queues_, key);
  const auto [at, fresh] = queues_.try_emplace(key);
  if (fresh || at->second.deleted) {
    at->second.parallelism = limits_.queue_parallelism_default;
    at->second.paused = false;
    at->second.deleted = false;
    at->second.created_at = time_;
    at->second.pull.reset();
    changed_queues_.insert(key);
  }
  return at->second;
}

/// Messages of deleted queues are cancelled a few per batch: which ones, the core decides.
void Model::sweep() {
  std::size_t count = 0;
  for (const auto& [seq, state] : written_->states) {
    const auto found = messages_.find(seq);
    if (!state.cancel_requested || found == messages_.end() ||
        core::is_final(found->second.status) || found->second.cancel_requested ||
        !swept(*found->second.content) || found->second.pulled()) {
      continue;
    }
    if (selected_by_a_task(seq)) {
      perhaps_by_tasks_.push_back(seq);
    } else {
      ++count;
    }
    event(found->second.content->tenant, seq, core::EventKind::cancel_requested);
    update(seq, [](ModelMessage& one) { one.cancel_requested = true; });
    changed_.insert(seq);
    if (!found->second.leased) {
      finish(seq, core::Status::canceled);
    }
  }
  require(count <= limits_.sweeps_per_batch, "bounded",
          std::to_string(count) + " messages of deleted queues cancelled in one batch");
}

Expected Model::pin_flow(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  if (op.parallelism == 0U || op.rate == 0U) {
    return refused(ErrorKind::invalid_argument);
  }
  const Named key{op.tenant, op.name};
  save(flows_, key);
  ModelFlow& flow = flows_[key];
  if (op.parallelism) {
    flow.parallelism = *op.parallelism;
    flow.pinned_parallelism = true;
  }
  if (op.rate) {
    flow.rate = *op.rate;
    flow.period = op.period;
    flow.pinned_rate = true;
    flow.window_start = time_;
    flow.window_count = 0;
  }
  return {.kind = Expected::Kind::done};
}

Expected Model::unpin_flow(const Op& op) {
  const Named key{op.tenant, op.name};
  if (flows_.contains(key)) {
    save(flows_, key);
    ModelFlow& flow = flows_[key];
    flow.pinned_parallelism = flow.pinned_parallelism && !op.unpin_parallelism;
    flow.pinned_rate = flow.pinned_rate && !op.unpin_rate;
  }
  return {.kind = Expected::Kind::done};
}

Expected Model::reset_flow(const Op& op) {
  const Named key{op.tenant, op.name};
  if (flows_.contains(key)) {
    save(flows_, key);
    flows_[key].window_start = time_;
    flows_[key].window_count = 0;
  }
  return {.kind = Expected::Kind::done};
}

Expected Model::inspect_flows(const Op& op) {
  Expected expected{.kind = Expected::Kind::flows};
  for (const auto& [key, flow] : flows_) {
    if (key.first == op.tenant) {
      const auto running = flow_in_flight_.find(key);
      expected.flows[key.second] = {flow, running == flow_in_flight_.end() ? 0 : running->second,
                                    0};
    }
  }
  for (const auto& [seq, message] : messages_) {
    const core::Message& content = *message.content;
    // Those that ended in this batch may still be in the index that the core counts.
    const bool waits = !message.leased && message.due <= time_ &&
                       (!core::is_final(message.status) || message.finished_at == time_);
    if (content.tenant == op.tenant && !content.flow_key.empty() && waits) {
      ++expected.flows[content.flow_key].waiting_max;
    }
  }
  return expected;
}

void Model::compare_queues() {
  for (const Named& key : changed_queues_) {
    require(written_->queues.contains(key), "settings", "queue " + key.second + " not stored");
  }
  for (const auto& [key, queue] : written_->queues) {
    const auto found = queues_.find(key);
    require(found != queues_.end(), "settings", "queue " + key.second + " is nobody's");
    ModelQueue& want = found->second;
    if (!queue) {
      require(want.deleted, "settings", "queue " + key.second + " is gone and was not deleted");
      require(lag(key) == 0, "settings", "queue " + key.second + " is gone before its messages");
      save(queues_, key);
      queues_.erase(key);
      continue;
    }
    require(queue->parallelism == want.parallelism && queue->paused == want.paused &&
                queue->deleted == want.deleted && queue->pull == want.pull,
            "settings", "queue " + key.second + " is stored differently");
    require(queue->lag == lag(key), "lag",
            "of queue " + key.second + " is stored as " + std::to_string(queue->lag) + ", it is " +
                std::to_string(lag(key)));
    const bool sweeping = queue->sweep_up_to != core::Seq{};
    require(!sweeping || queue->sweep_up_to == deleted_up_to_[key], "sweep",
            "of queue " + key.second + " goes to another message");
    require(want.sweeping || !sweeping, "sweep", "of queue " + key.second + " begins by itself");
    if (want.sweeping && !sweeping) {
      for (const auto& [seq, message] : messages_) {
        require(Named(message.content->tenant, message.content->queue) != key ||
                    !swept(*message.content) || core::is_final(message.status) ||
                    message.cancel_requested,
                "sweep", "of queue " + key.second + " left " + describe(message));
      }
      save(queues_, key);
      want.sweeping = false;
    }
  }
}

void Model::compare_flows() {
  for (const auto& [key, flow] : written_->flow_keys) {
    const auto found = flows_.find(key);
    require(found != flows_.end(), "settings", "flow key " + key.second + " is nobody's");
    const ModelFlow& want = found->second;
    if (!flow) {
      const auto pending = flow_pending_.find(key);
      require(pending == flow_pending_.end() || pending->second == 0, "forgotten too early",
              "flow key " + key.second + " still has messages");
      require(!want.paused && !want.pinned_parallelism && !want.pinned_rate, "forgotten too early",
              "flow key " + key.second + " is paused or pinned");
      require(time_ >= want.window_start + want.period && time_ >= want.last_use + kept_idle,
              "forgotten too early", "flow key " + key.second + " was used a moment ago");
      save(flows_, key);
      flows_.erase(key);
      continue;
    }
    require(flow->parallelism == want.parallelism && flow->rate == want.rate &&
                flow->paused == want.paused &&
                flow->pinned_parallelism == want.pinned_parallelism &&
                flow->pinned_rate == want.pinned_rate,
            "settings", "flow key " + key.second + " is stored differently");
    require(want.rate == 0 || flow->window_count == want.window_count, "rate",
            "the window of flow key " + key.second + " is stored differently");
  }
}

void check_flows(const core::FlowKeysInspected& got, const Expected& expected) {
  std::size_t known = 0;
  for (const auto& [key, want] : expected.flows) {
    known += want.flow ? 1 : 0;
  }
  require(got.keys.size() == known, "flow keys", "another number of them is shown");
  for (const core::FlowKeyView& view : got.keys) {
    const auto found = expected.flows.find(view.flow.key);
    require(found != expected.flows.end() && found->second.flow, "flow keys",
            "one is shown that is not there");
    const ModelFlow& want = *found->second.flow;
    require(view.flow.parallelism == want.parallelism && view.flow.rate == want.rate &&
                view.flow.paused == want.paused && view.running == found->second.running,
            "flow keys", view.flow.key + " is shown differently");
    require(view.waiting <= found->second.waiting_max, "flow keys",
            view.flow.key + " shows more waiting messages than there are");
  }
}

}  // namespace hk::sim
