// One atomic request: all of its operations, each as it would be alone and in their order, or none.
#include <algorithm>

#include "core/visit.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using State = core::IdempotencyKey::State;

}  // namespace

/// Copies of what the operations so far would have changed.
struct Model::Planned {
  std::map<core::Seq, ModelMessage> jobs{};
  std::map<Named, core::IdempotencyKey> keys{};
};

bool Model::is_so(core::TenantId tenant, const core::Precondition& condition) {
  if (const auto* const job = std::get_if<core::JobIs>(&condition)) {
    const ModelMessage* const message = find(tenant, job->job);
    return message != nullptr &&
           std::ranges::find(job->any_of, shown_status(*message)) != job->any_of.end();
  }
  const auto& want = std::get<core::KeyIs>(condition);
  const auto known = keys_.find({tenant, want.key});
  return known != keys_.end() && known->second.expires_at > time_ &&
         (!want.token || *want.token == known->second.token) &&
         (!want.state || *want.state == known->second.state);
}

/// `job` becomes what it would be then.
bool Model::may_end(const Op& op, ModelMessage& job) {
  if (core::is_final(job.status) || !holds(op, job)) {
    return false;
  }
  if (op.delivered) {
    job.status = core::Status::succeeded;
    return true;
  }
  if (!job.pulled()) {
    job.leased = false;
    job.status = job.cancel_requested ? core::Status::canceled
                 : op.give_up || job.fence.attempt > job.content->retry.retries_max
                     ? core::Status::failed
                     : core::Status::pending;
    return true;
  }
  if (!op.give_up) {
    job.pushed = false;
    job.due = time_ + again_after(job.attempts, op.retry_after);
    return true;
  }
  const auto queue = queues_.find({job.content->tenant, job.content->queue});
  const bool halts = queue != queues_.end() && !queue->second.deleted && queue->second.pull &&
                     queue->second.pull->halt && job.content->pull->fifo;
  job.status = core::Status::failed;
  return !halts;
}

bool Model::may_publish(const Op& op) {
  core::Message message = *op.message;
  if (!message.topic.empty() && message.url.empty()) {
    const auto group = groups_.find({message.tenant, message.topic});
    if (group == groups_.end() || group->second.empty()) {
      return group != groups_.end();
    }
  }
  return tenants_.contains(message.tenant) && !op.bad_policy && !fit_queue(op, message);
}

bool Model::may_do(const Op& op, Planned& planned) {
  if (op.kind == Op::Kind::publish) {
    return may_publish(op);
  }
  if (op.kind == Op::Kind::end_job || op.kind == Op::Kind::cancel) {
    const ModelMessage* const message = find(op.tenant, op.id);
    if (message == nullptr) {
      return false;
    }
    ModelMessage& job = planned.jobs.try_emplace(op.id.seq, *message).first->second;
    if (op.kind == Op::Kind::end_job) {
      return may_end(op, job);
    }
    const bool waits = shown_status(job) == core::Status::pending && !job.cancel_requested;
    job.status = core::Status::canceled;
    return waits;
  }
  const auto known = keys_.find({op.tenant, op.name});
  if (known == keys_.end() || known->second.expires_at <= time_) {
    return false;
  }
  core::IdempotencyKey& key = planned.keys.try_emplace(known->first, known->second).first->second;
  const bool ends = op.kind == Op::Kind::end_key;
  const State wanted = !ends ? State::released : op.key.failed ? State::failed : State::completed;
  if (key.token != op.key.token) {
    return false;
  }
  if (key.state != State::started) {
    return key.state == wanted && (!ends || key.answer == op.key.answer);
  }
  key.state = wanted;
  key.answer = ends ? op.key.answer : key.answer;
  return true;
}

Expected Model::transact(const Op& op) {
  Expected expected{.kind = Expected::Kind::transacted};
  for (std::size_t i = 0; i < op.conditions.size(); ++i) {
    if (!is_so(op.tenant, op.conditions[i])) {
      expected.not_done = {i, true};
      return expected;
    }
  }
  Planned planned;
  for (std::size_t i = 0; i < op.items.size(); ++i) {
    if (!may_do(op.items[i], planned)) {
      expected.not_done = {i, false};
      return expected;
    }
  }
  for (const Op& item : op.items) {
    expected.parts.push_back(decide(item));
    require(expected.parts.back().kind != Expected::Kind::refused, "transact",
            "an operation was refused that the model took for possible");
  }
  return expected;
}

}  // namespace hk::sim
