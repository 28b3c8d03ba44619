// What each operation must mean.
#include <algorithm>
#include <cmath>

#include "sim/expressions.h"
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

/// The shortest and the longest wait that the policy allows before retry number n.
std::pair<Millis, Millis> waits(const core::RetryPolicy& policy, std::uint32_t n,
                                std::optional<Millis> retry_after) {
  if (retry_after) {
    return {*retry_after, *retry_after};
  }
  if (const auto* table = std::get_if<core::TableDelay>(&policy.delay)) {
    const Millis wait = table->delays.empty()
                            ? Millis{0}
                            : table->delays[std::min<std::size_t>(n, table->delays.size()) - 1];
    return {wait, wait};
  }
  if (const auto* expression = std::get_if<core::ExpressionDelay>(&policy.delay)) {
    const Millis wait = expression_value(expression->text, n - 1);
    return {wait, wait};
  }
  const auto& exponential = std::get<core::ExponentialDelay>(policy.delay);
  double wait = static_cast<double>(exponential.first.count());
  for (std::uint32_t i = 1; i < n; ++i) {
    wait *= exponential.factor;
  }
  wait = std::min(wait, static_cast<double>(exponential.cap.count()));
  const auto low = static_cast<std::int64_t>(std::ceil(wait));
  return {Millis{low}, Millis{low + low * exponential.jitter_percent / 100}};
}

}  // namespace

/// Two who have seen the same tenant cannot both change it: the second would undo the first.
Expected Model::change_tenant(const Op& op) {
  core::Tenant& known = tenants_.at(op.tenant);
  if (op.if_still != known) {
    return refused(ErrorKind::unavailable);
  }
  const auto stored = written_->tenants.find(op.tenant);
  // Limits may have been set behind it, in the same batch.
  require(stored != written_->tenants.end() &&
              stored->second.token_digests == op.credentials.token_digests,
          "I2 present", "a change of tenant " + known.name + " was not stored");
  undo_.push_back({batch_, [this, before = known] { tenants_[before.id] = before; }});
  known = op.credentials;
  return {.kind = Expected::Kind::tenant};
}

/// As a whole, whatever its credentials are.
Expected Model::set_limits(const Op& op) {
  core::Tenant& known = tenants_.at(op.tenant);
  for (const core::CallLimit& limit : op.limits.classes) {
    if (limit.burst < limit.rate) {
      return refused(ErrorKind::invalid_argument);
    }
  }
  // Which ones is seen by the scan: they may have been set again in the same batch.
  require(op.limits == known.limits || written_->tenants.contains(op.tenant), "I2 present",
          "the limits of tenant " + known.name + " were not stored");
  undo_.push_back(
      {batch_, [this, id = known.id, before = known.limits] { tenants_[id].limits = before; }});
  known.limits = op.limits;
  return {.kind = Expected::Kind::tenant};
}

void Model::event(core::TenantId tenant, core::Seq seq, core::EventKind kind,
                  std::uint32_t attempt) {
  events_.insert({tenant, seq, kind, attempt});
}

Expected Model::decide(const Op& op) {
  if (op.once) {
    return once(op);
  }
  switch (op.kind) {
    case Op::Kind::publish: return publish(op);
    case Op::Kind::complete: {
      const auto found = messages_.find(op.id.seq);
      if (found == messages_.end() || found->second.fence != op.fence ||
          !(found->second.leased || found->second.pushed)) {
        return refused(ErrorKind::conflict);
      }
      if (found->second.pushed) {
        return push_ended(op);
      }
      end_attempt(op.id.seq, op.delivered, op.give_up, op.retry_after, op.response_status);
      return {.kind = Expected::Kind::done};
    }
    case Op::Kind::end_job: return end_job(op);
    case Op::Kind::cancel: return cancel(op);
    case Op::Kind::start_cancel: return start_cancel(op);
    case Op::Kind::retry_dead_letter: return dead_letter(op, true);
    case Op::Kind::delete_dead_letter: return dead_letter(op, false);
    case Op::Kind::queue: return queue(op);
    case Op::Kind::pause_flow: return pause_flow(op);
    case Op::Kind::delete_queue: return delete_queue(op);
    case Op::Kind::pin_flow: return pin_flow(op);
    case Op::Kind::unpin_flow: return unpin_flow(op);
    case Op::Kind::reset_flow: return reset_flow(op);
    case Op::Kind::inspect_flows: return inspect_flows(op);
    case Op::Kind::tenant: {
      const core::TenantId id{static_cast<std::uint32_t>(tenants_.size() + 1)};
      require(written_->tenants.contains(id), "I2 present", "a tenant was not stored");
      tenants_[id] = written_->tenants.at(id);
      undo_.push_back({batch_, [this, id] { tenants_.erase(id); }});
      return {.kind = Expected::Kind::tenant};
    }
    case Op::Kind::change_tenant: return change_tenant(op);
    case Op::Kind::set_limits: return set_limits(op);
    case Op::Kind::inspect: return inspect(op);
    case Op::Kind::batch: return publish_batch(op);
    case Op::Kind::add_endpoints:
    case Op::Kind::remove_endpoints:
    case Op::Kind::delete_group: return change_group(op);
    case Op::Kind::schedule: return schedule(op);
    case Op::Kind::delete_schedule: return delete_schedule(op);
    case Op::Kind::pause_schedule: return pause_schedule(op);
    case Op::Kind::make_pull_queue: return make_pull_queue(op);
    case Op::Kind::set_pull_queue: return set_pull_queue(op);
    case Op::Kind::purge_queue: return purge_queue(op);
    case Op::Kind::count_queue: return count_queue(op);
    case Op::Kind::receive: return receive(op);
    case Op::Kind::stop_receiving: return stop_receiving(op);
    case Op::Kind::delete_received: return delete_received(op);
    case Op::Kind::change_visibility: return change_visibility(op);
    case Op::Kind::give_back: return give_back(op);
    case Op::Kind::start_move: return start_move(op);
    case Op::Kind::cancel_move: return cancel_move(op);
    case Op::Kind::list_moves: return list_moves(op);
    case Op::Kind::list_halted: return list_halted(op);
    case Op::Kind::resolve_halted: return resolve_halted(op);
    case Op::Kind::create_topic: return create_topic(op);
    case Op::Kind::set_topic: return set_topic(op);
    case Op::Kind::subscribe: return subscribe(op);
    case Op::Kind::confirm_subscription: return confirm_subscription(op);
    case Op::Kind::unsubscribe: return unsubscribe(op);
    case Op::Kind::set_subscription: return set_subscription(op);
    case Op::Kind::delete_topic: return delete_topic(op);
    case Op::Kind::publish_to_topic: return publish_to_topic(op);
    case Op::Kind::claim_key: return claim_or_wait(op);
    case Op::Kind::stop_claiming: return stop_claiming(op);
    case Op::Kind::renew_key:
    case Op::Kind::end_key:
    case Op::Kind::release_key: return change_key(op);
    case Op::Kind::delete_key: return delete_key(op);
    case Op::Kind::transact: return transact(op);
    case Op::Kind::ledger: return apply_to_ledger(op);
    case Op::Kind::put_source: return put_source(op);
    case Op::Kind::delete_source: return delete_source(op);
    case Op::Kind::receive_inbound: return receive_inbound(op);
    case Op::Kind::quarantine: return quarantine(op);
    case Op::Kind::release: return release(op);
    case Op::Kind::drop_quarantined: return drop_quarantined(op);
  }
  std::unreachable();
}

Expected Model::publish(const Op& op, core::Message message) {
  if (!tenants_.contains(message.tenant)) {
    return refused(ErrorKind::not_found);
  }
  if (op.bad_policy) {
    return refused(ErrorKind::invalid_argument);
  }
  if (const auto misfit = fit_queue(op, message)) {
    return refused(*misfit);
  }
  // An id counts once per tenant and destination.
  std::vector<std::string> scopes{message.url};
  if (message.pull && !message.dedup_id.empty()) {
    scopes = dedup_scopes(message, op.dedup_window);
  }
  const std::string given = message.dedup_id;
  if (!given.empty()) {
    message.dedup_id += " " + scopes.front();
  }
  const Named dedup{message.tenant, message.dedup_id};
  for (const std::string& scope : scopes) {
    const auto known = dedups_.find({message.tenant, given + " " + scope});
    if (!given.empty() && known != dedups_.end() && known->second.expires_at > time_) {
      ++counts(message.tenant).deduplicated;
      return {.kind = Expected::Kind::published, .id = known->second.first, .flag = true};
    }
  }
  use_flow(message, op.flow);
  const core::MessageId id = accept(message);
  if (!message.dedup_id.empty()) {
    save(dedups_, dedup);
    dedups_[dedup] = {id, time_ + op.dedup_window};
    dedup_ends_.insert({time_ + op.dedup_window, dedup});
    changed_dedups_.insert(dedup);
  }
  return {.kind = Expected::Kind::published, .id = id};
}

void Model::use_flow(const core::Message& message, const std::optional<core::FlowKey>& given) {
  if (message.flow_key.empty()) {
    return;
  }
  const Named key{message.tenant, message.flow_key};
  save(flows_, key);
  ModelFlow& flow = flows_[key];
  if (given && !flow.pinned_parallelism) {
    flow.parallelism = given->parallelism;
  }
  if (given && !flow.pinned_rate) {
    flow.rate = given->rate;
    flow.period = given->period;
  }
  changed_flows_.insert(key);
}

core::MessageId Model::accept(core::Message want) {
  require(next_message_ < written_->messages.size(), "I2 present",
          "an accepted message was not written in its batch");
  const auto& got = written_->messages[next_message_++];
  require(got->id.seq > last_seq_, "I7 numbers", name_of(got->id.seq) + " reuses a number");
  return take_in(got, std::move(want));
}

core::MessageId Model::take_in(const std::shared_ptr<const core::Message>& got,
                               core::Message want) {
  want.id = got->id;
  want.created_at = time_;
  want.not_before = std::max(want.not_before, time_);
  if (want.pull && want.pull->sent_at == Moment{}) {
    want.pull->sent_at = time_;
  }
  require(*got == want, "I2 present", name_of(got->id.seq) + " is not what was published");

  const core::Seq before = last_seq_;
  const core::Seq seq = got->id.seq;
  last_seq_ = std::max(last_seq_, seq);
  ModelMessage message;
  message.content = got;
  message.due = want.not_before;
  add_to_views(message);
  messages_[seq] = std::move(message);
  undo_.push_back({batch_, [this, seq, before] {
                     take_from_views(messages_.at(seq));
                     messages_.erase(seq);
                     last_seq_ = before;
                   }});
  if (!want.queue.empty()) {
    const Named key{want.tenant, want.queue};
    use_queue(key);
    changed_queues_.insert(key);
  }
  if (!want.flow_key.empty()) {
    const Named key{want.tenant, want.flow_key};
    save(flows_, key);
    flows_[key].last_use = time_;
  }
  core::Counters& count = counts(want.tenant);
  ++count.accepted;
  ++count.pending;
  event(want.tenant, seq, core::EventKind::created);
  return got->id;
}

void Model::end_attempt(core::Seq seq, bool delivered, bool give_up,
                        std::optional<Millis> retry_after, int status,
                        std::optional<std::string> told) {
  const core::Message& content = *messages_.at(seq).content;
  ++counts(content.tenant).attempts;
  if (!content.flow_key.empty()) {
    const Named key{content.tenant, content.flow_key};
    save(flows_, key);
    flows_.at(key).last_use = time_;
  }
  update(seq, [&told](ModelMessage& message) {
    message.leased = false;
    message.attempts = message.fence.attempt;
    message.told = std::move(told);
  });
  changed_.insert(seq);
  const ModelMessage& message = messages_.at(seq);
  const std::string result = "{\"status\":" + std::to_string(status) +
                             ",\"header\":{},\"retried\":" + std::to_string(message.attempts - 1) +
                             ",\"maxRetries\":" + std::to_string(content.retry.retries_max) + ",";
  call_back(seq, content.callback, result + "\"sourceMessageId\"");
  if (delivered) {
    event(content.tenant, seq, core::EventKind::delivered, message.attempts);
    finish(seq, core::Status::succeeded);
    return;
  }
  event(content.tenant, seq, core::EventKind::error, message.attempts);
  if (message.cancel_requested) {
    finish(seq, core::Status::canceled);
  } else if (give_up || message.attempts > content.retry.retries_max) {
    finish(seq, core::Status::failed);
    call_back(seq, content.failure_callback,
              result + "\"dlqId\":\"" + std::to_string(to_ms(time_)) + "-" +
                  std::to_string(seq.value()) + "\"");
  } else {
    const auto stored = written_->states.find(seq);
    require(stored != written_->states.end(), "P4 retries are stored",
            name_of(seq) + " failed an attempt and nothing was written");
    Moment due = stored->second.due;
    const auto [low, high] = waits(content.retry, message.attempts, retry_after);
    if (!core::is_final(stored->second.status)) {  // else it was cancelled in the same batch
      require(due >= time_ + low && due <= time_ + high, "P4 retry policy",
              name_of(seq) + " waits " + std::to_string((due - time_).count()) +
                  " ms for its retry, not " + std::to_string(low.count()) + "…" +
                  std::to_string(high.count()));
    } else {
      due = time_ + low;
    }
    update(seq, [due](ModelMessage& one) { one.due = due; });
    event(content.tenant, seq, core::EventKind::retry, message.attempts);
  }
}

void Model::finish(core::Seq seq, core::Status status) {
  const core::Message& content = *messages_.at(seq).content;
  // What is pulled and fails goes on in another queue.
  const bool failed = status == core::Status::failed && !content.pull;
  const Millis keep = failed ? limits_.retention_dlq : limits_.retention_finished;
  update(seq, [&](ModelMessage& message) {
    message.status = status;
    message.finished_at = time_;
    message.in_dlq = failed;
    message.pushed = false;
    message.expires_at = failed && keep.count() == 0 ? never : time_ + keep;
    if (status == core::Status::canceled) {
      message.callbacks_open = 0;
    }
  });
  changed_.insert(seq);
  if (!content.queue.empty()) {
    changed_queues_.insert({content.tenant, content.queue});
  }
  core::Counters& count = counts(content.tenant);
  --count.pending;
  if (status == core::Status::succeeded) {
    ++count.succeeded;
  } else if (status == core::Status::canceled) {
    ++count.canceled;
    event(content.tenant, seq, core::EventKind::canceled);
  } else if (content.pull) {
    ++count.failed;
    event(content.tenant, seq, core::EventKind::failed, messages_.at(seq).attempts);
  } else {
    ++count.failed;
    ++count.dead_letters;
    const core::DeadLetterKey key{content.tenant, time_, seq};
    require(dead_letters_.insert(key).second, "dead letters once", name_of(seq));
    undo_.push_back({batch_, [this, key] { dead_letters_.erase(key); }});
    changed_dead_letters_[key] = true;
    event(content.tenant, seq, core::EventKind::failed, messages_.at(seq).attempts);
  }
  callback_ended(content);
}

Expected Model::cancel(const Op& op) {
  const ModelMessage* message = find(op.tenant, op.id);
  if (message == nullptr || core::is_final(message->status) || message->cancel_requested) {
    return refused(ErrorKind::not_found);
  }
  // Who wants to cancel everything means neither queues that are pulled from nor notifications.
  if (op.unnamed && (message->pulled() || message->content->notification)) {
    return refused(ErrorKind::not_found);
  }
  const core::Seq seq = op.id.seq;
  if (message->pulled()) {
    finish_canceled(seq);
    return {.kind = Expected::Kind::canceled};
  }
  event(op.tenant, seq, core::EventKind::cancel_requested);
  update(seq, [](ModelMessage& one) { one.cancel_requested = true; });
  changed_.insert(seq);
  const bool running = message->leased;
  if (!running) {
    finish(seq, core::Status::canceled);
  }
  return {.kind = Expected::Kind::canceled, .flag = running};
}

Expected Model::dead_letter(const Op& op, bool again) {
  const core::DeadLetterKey key = op.dead_letter;
  if (key.tenant != op.tenant || !dead_letters_.contains(key)) {
    return refused(ErrorKind::not_found);
  }
  core::Message want = *messages_.at(key.seq).content;
  want.replay_of = want.id;
  want.not_before = Moment{};
  want.dedup_id.clear();
  want.edited = false;
  if (again && op.changes != nullptr) {
    want.edited = op.changes->to || op.changes->body || op.changes->headers;
    want.body = op.changes->body.value_or(want.body);
    if (op.changes->to) {
      want.url = op.changes->to->url;
      want.host = op.changes->to->host;
      want.topic.clear();
      want.endpoint.clear();
    }
    want.retry.retries_max = op.changes->retries_max.value_or(want.retry.retries_max);
    want.labels = op.changes->labels.value_or(want.labels);
    for (const core::Header& header : op.changes->headers.value_or(std::vector<core::Header>{})) {
      std::erase_if(want.headers, [&](const core::Header& old) { return old.name == header.name; });
      want.headers.push_back(header);
    }
    want.not_before = op.changes->not_before;
    if (!want.queue.empty() && want.schedule.empty() && want.not_before > time_) {
      return refused(ErrorKind::invalid_argument);
    }
  }
  dead_letters_.erase(key);
  undo_.push_back({batch_, [this, key] { dead_letters_.insert(key); }});
  changed_dead_letters_[key] = false;
  update(key.seq, [this](ModelMessage& message) {
    message.in_dlq = false;
    message.expires_at = time_ + limits_.retention_finished;
  });
  changed_.insert(key.seq);
  --counts(op.tenant).dead_letters;
  if (!again) {
    return {.kind = Expected::Kind::done};
  }
  return {.kind = Expected::Kind::published, .id = accept(std::move(want))};
}

Expected Model::queue(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  if (op.parallelism == 0U) {
    return refused(ErrorKind::invalid_argument);
  }
  const Named key{op.tenant, op.name};
  ModelQueue& queue = use_queue(key);
  if (op.parallelism.value_or(queue.parallelism) != queue.parallelism ||
      op.paused.value_or(queue.paused) != queue.paused) {
    changed_queues_.insert(key);
    queue.changed_at = time_;
  }
  queue.parallelism = op.parallelism.value_or(queue.parallelism);
  queue.paused = op.paused.value_or(queue.paused);
  return {.kind = Expected::Kind::done};
}

Expected Model::pause_flow(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const Named key{op.tenant, op.name};
  const bool fresh = !flows_.contains(key);
  save(flows_, key);
  ModelFlow& flow = flows_[key];
  if (fresh || flow.paused != op.paused.value_or(false)) {
    changed_flows_.insert(key);
  }
  flow.paused = op.paused.value_or(false);
  return {.kind = Expected::Kind::done};
}

Expected Model::inspect(const Op& op) {
  const ModelMessage* message = find(op.tenant, op.id);
  if (message == nullptr) {
    return refused(ErrorKind::not_found);
  }
  Expected expected{.kind = Expected::Kind::inspected};
  expected.pulled = message->pulled();
  expected.flag = message->leased;
  expected.fence = message->leased ? message->fence : core::Fence{};
  expected.pending = !core::is_final(message->status) && !message->leased;
  const auto queue = queues_.find({op.tenant, message->content->queue});
  const bool paused = queue != queues_.end() &&
                      ((queue->second.paused && !message->started) || queue->second.sweeping);
  expected.may_start = message->due <= time_ && !paused &&
                       host_open(message->content->tenant, message->content->host) &&
                       flow_open(*message, time_);
  return expected;
}

/// A cancelled message whose running attempt a crash cut short: nobody will report, so it ends when
/// the core next reads it.
void Model::finish_leftover_cancels() {
  for (const auto& [seq, state] : written_->states) {
    const auto found = messages_.find(seq);
    if (state.status == core::Status::canceled && found != messages_.end() &&
        found->second.status == core::Status::pending && found->second.cancel_requested &&
        !found->second.leased) {
      finish(seq, core::Status::canceled);
    }
  }
}

void Model::expire_leases() {
  while (!leases_.empty() && leases_.begin()->first <= time_) {
    end_attempt(leases_.begin()->second, false, false, std::nullopt, 0);
  }
}

void Model::purge() {
  for (const core::Seq seq : written_->purged) {
    const auto found = messages_.find(seq);
    require(found != messages_.end(), "purge", name_of(seq) + " was purged but is not there");
    const ModelMessage message = found->second;
    require(core::is_final(message.status), "purge", name_of(seq) + " was purged unfinished");
    require(message.expires_at <= time_, "purge", name_of(seq) + " was purged before its time");
    require(message.callbacks_open == 0, "purge", name_of(seq) + " was purged with its slot");
    core::Counters& count = counts(message.content->tenant);
    ++count.purged;
    if (message.in_dlq) {
      --count.dead_letters;
      const core::DeadLetterKey key{message.content->tenant, message.finished_at, seq};
      dead_letters_.erase(key);
      undo_.push_back({batch_, [this, key] { dead_letters_.insert(key); }});
      changed_dead_letters_[key] = false;
    }
    messages_.erase(found);
    undo_.push_back({batch_, [this, seq, message] { messages_[seq] = message; }});
    changed_.erase(seq);
  }
  for (const auto& [key, dedup] : written_->dedups) {
    if (dedup || changed_dedups_.contains(key)) {
      continue;
    }
    const auto known = dedups_.find(key);
    if (known == dedups_.end() && of_deleted_source(key)) {
      continue;  // both the sweep of its source and the end of its time have taken it
    }
    require(known != dedups_.end() && (known->second.expires_at <= time_ || of_deleted_source(key)),
            "I6 dedup", "dedup id " + key.second + " was forgotten before its window was over");
    save(dedups_, key);
    dedups_.erase(key);
  }
}

}  // namespace hk::sim
