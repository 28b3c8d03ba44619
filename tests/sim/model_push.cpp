// What queues that push must mean: never more on the wire than allowed, one of each group in order,
// an outcome that counts once, and nothing that waits although it could go.
#include <algorithm>

#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/push.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

Millis push_timeout(const core::PullSettings& settings) {
  return std::clamp(settings.visibility, Millis{1000}, Millis{11 * 3'600'000});
}

}  // namespace

/// "": it does not push.
std::string Model::push_host(const Named& queue) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end() || found->second.deleted || !found->second.pull ||
      found->second.pull->push.url.empty()) {
    return {};
  }
  const std::string host = push_host_of(found->second.pull->push.url);
  return host == forbidden_ ? std::string{} : host;
}

void Model::count_push(const ModelMessage& message, bool on) {
  if (!message.pushed) {
    return;
  }
  const core::Message& content = *message.content;
  const auto add = [on](std::uint32_t& sum, std::uint32_t much) {
    sum = on ? sum + much : sum - much;
  };
  add(in_flight_, 1);
  add(pushed_[{content.tenant, content.queue}], 1);
  add(places_, places_of(content));
  add(tenant_places_[content.tenant], places_of(content));
  add(host_places_[{content.tenant, message.push_host}], places_of(content));
  if (on) {
    push_leases_.insert({message.due, message.seq()});
  } else {
    push_leases_.erase({message.due, message.seq()});
  }
}

/// It is about to be pushed, and hidden until then. What holds for every receive is judged already.
void Model::check_push(const ModelMessage& before, Moment until) const {
  const core::Message& content = *before.content;
  const Named key{content.tenant, content.queue};
  require(!draining_, "drain", describe(before) + " was pushed after it had begun");
  require(!push_host(key).empty(), "push",
          describe(before) + " was pushed, which nobody asked for");
  const core::PullSettings& settings = *queues_.at(key).pull;
  const Millis timeout = push_timeout(settings);
  require(until == time_ + timeout + timeout / 10 + limits_.lease_grace, "leases are stored",
          describe(before) + " is pushed with another lease");
  require(
      !content.pull->fifo || *pull_lanes_.at(core::lane_of(content)).all.begin() == content.id.seq,
      "I5 order", describe(before) + " was pushed beside what is before it");
  const auto out = pushed_.find(key);
  const std::uint32_t most = settings.push.parallelism == 0 ? 10 : settings.push.parallelism;
  require(out == pushed_.end() || out->second < most, "parallelism",
          "of a queue that pushes exceeded by " + describe(before));
}

void Model::put_on_the_wire(core::Seq seq) {
  const core::Message& content = *messages_.at(seq).content;
  update(seq, [&](ModelMessage& message) {
    message.pushed = true;
    message.fence = {epoch_, message.attempts};
    message.push_host = push_host({content.tenant, content.queue});
  });
  holders_[seq] = core::ReceiverId{};
  check_places(messages_.at(seq), messages_.at(seq).push_host);
}

Millis Model::again_after(std::uint32_t receives, std::optional<Millis> wanted) {
  Millis wait{1000};
  for (std::uint32_t i = 1; i < receives && wait < Millis{900'000}; ++i) {
    wait *= 2;
  }
  return wanted ? std::min(*wanted, Millis{3'600'000}) : std::min(wait, Millis{900'000});
}

Expected Model::push_ended(const Op& op) {
  const core::Seq seq = op.id.seq;
  const ModelMessage& message = messages_.at(seq);
  if (op.delivered) {
    event(message.content->tenant, seq, core::EventKind::delivered, message.attempts);
    finish(seq, core::Status::succeeded);
    return {.kind = Expected::Kind::done};
  }
  const Millis wait = again_after(message.attempts, op.retry_after);
  update(seq, [&](ModelMessage& one) {
    one.pushed = false;
    one.due = time_ + wait;
  });
  return {.kind = Expected::Kind::done};
}

/// Who would have reported is taken for dead. It is visible again.
void Model::expire_pushes() {
  while (!push_leases_.empty() && push_leases_.begin()->first <= time_) {
    update(push_leases_.begin()->second, [](ModelMessage& message) { message.pushed = false; });
  }
}

/// A message that the queue must push now; null: none that we are sure of.
const ModelMessage* Model::owed_push(const Named& queue, Moment time) const {
  const std::string host = push_host(queue);
  if (host.empty() || !host_open(queue.first, host)) {
    return nullptr;
  }
  const ModelQueue& record = queues_.at(queue);
  const auto out = pushed_.find(queue);
  const std::uint32_t most =
      record.pull->push.parallelism == 0 ? 10 : record.pull->push.parallelism;
  if (record.sweeping || record.paused || (out != pushed_.end() && out->second >= most)) {
    return nullptr;
  }
  for (auto lane = pull_lanes_.lower_bound({queue.first, queue.second, {}, {}, {}});
       lane != pull_lanes_.end() && lane->first.tenant == queue.first &&
       lane->first.queue == queue.second;
       ++lane) {
    const ModelMessage& first = messages_.at(
        lane->first.ordered() ? *lane->second.all.begin() : lane->second.by_due.begin()->second);
    if (first.due <= time && !stops(first)) {
      return &first;
    }
  }
  return nullptr;
}

void Model::check_pushed(const core::StartAttempt& start) const {
  const ModelMessage& message = messages_.at(start.id.seq);
  const core::Message& content = *message.content;
  const core::PullSettings& settings = *queues_.at({content.tenant, content.queue}).pull;
  require(message.pushed && start.id == content.id && start.tenant == content.tenant &&
              start.fence == message.fence && start.retried == message.attempts - 1 &&
              start.started_at == time_ && start.lease_until == message.due &&
              start.message != nullptr && *start.message == content &&
              start.to->url == settings.push.url && start.to->host == message.push_host &&
              start.to->timeout == push_timeout(settings),
          "I13 effects", describe(message) + " is pushed with wrong particulars");
}

}  // namespace hk::sim
