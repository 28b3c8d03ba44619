#include "api/sqs/pusher.h"

#include <algorithm>

#include "api/sqs/queue_attributes.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/assert.h"
#include "base/clock_lean.h"
#include "observe/log.h"

namespace hk::api::sqs {

namespace {

constexpr std::uint32_t receive_max = 10;
constexpr Millis receive_wait{20'000};
/// A push that ends at its deadline is settled before its lease is over.
constexpr Millis lease_grace{5'000};
constexpr Millis timeout_min{1'000};
constexpr Millis timeout_max = std::chrono::hours{11};
constexpr Millis again_first{1'000};
constexpr Millis again_max = std::chrono::minutes{15};
constexpr Millis asked_for_max = std::chrono::hours{1};
constexpr std::size_t header_bytes_max = std::size_t{15} * 1024;  // a request has room for 16 KiB

/// Twice as long after each failure.
Millis again_after(std::uint32_t receive) {
  const std::uint32_t doublings = std::min(receive == 0 ? 0 : receive - 1, 10U);
  return std::min(again_first * (1U << doublings), again_max);
}

}  // namespace

Pusher::Pusher(engine::Submitter& submitter, const Options& options, Batcher& batcher, Start start)
    : submitter_(submitter), options_(options), batcher_(batcher), start_(std::move(start)) {}

void Pusher::begin() {
  for (const auto& view : submitter_.durable_views()) {
    for (const core::Queue& queue : view->scan<core::Queue>()) {
      use(queue);
    }
  }
}

void Pusher::queue_changed(core::TenantId tenant, const std::string& name) {
  try {
    if (const auto queue = submitter_.durable_view(tenant)->get<core::Queue>({tenant, name})) {
      use(*queue);
      return;
    }
  } catch (const core::CorruptRecord& broken) {
    observe::log(observe::Level::error, "api.internal_error", {{"error", broken.what()}});
  } catch (const engine::PartitionUnavailable&) {
    // It hands nothing out, and was logged when it failed.
  }
  close({tenant, name});
}

void Pusher::use(const core::Queue& queue) {
  const Key key{queue.tenant, queue.name};
  const auto push = queue.deleted || !queue.pull ? std::nullopt : push_settings_of(*queue.pull);
  if (!push) {
    close(key);
    return;
  }
  Result<std::string> host = options_.check_destination(push->url);
  if (!host) {
    // It was allowed when it was set. Nothing is received, so that no message fails for it.
    observe::log(observe::Level::error, "queue.push_refused",
                 {{"queue", queue.name}, {"error", host.error().message}});
    close(key);
    return;
  }
  Subscription& subscription = queues_[key];
  subscription.url = push->url;
  subscription.host = std::move(*host);
  subscription.parallelism = push->parallelism;
  subscription.fifo = queue.pull->fifo;
  subscription.timeout = std::clamp(queue.pull->visibility, timeout_min, timeout_max);
  fill(key, subscription);
}

void Pusher::close(const Key& key) {
  const auto found = queues_.find(key);
  if (found == queues_.end()) {
    return;
  }
  Subscription& subscription = found->second;
  subscription.url.clear();
  if (subscription.receiver) {
    batcher_.stop_receiving(*std::exchange(subscription.receiver, std::nullopt));
  }
  if (subscription.in_flight == 0) {
    queues_.erase(found);
  }
}

/// Asks for as much as may be on the wire. In order it asks for one at a time: the next one is then
/// of another group, since that of the first is held until it is settled.
void Pusher::fill(const Key& key, Subscription& subscription) {
  if (stopping_ || subscription.url.empty() || subscription.receiver ||
      subscription.in_flight >= subscription.parallelism) {
    return;
  }
  core::Receive command{.tenant = key.first, .queue = key.second};
  command.max = subscription.fifo
                    ? 1
                    : std::min(subscription.parallelism - subscription.in_flight, receive_max);
  command.visibility = outlasting(subscription.timeout) + lease_grace;
  command.wait = receive_wait;
  subscription.receiver = batcher_.receive(
      std::move(command),
      [this, key](Result<core::HandOut> handed) { on_handed_out(key, std::move(handed)); });
}

void Pusher::on_handed_out(const Key& key, Result<core::HandOut> handed) {
  const auto found = queues_.find(key);
  HK_ASSERT(found != queues_.end());  // it is not forgotten while it has a receiver
  Subscription& subscription = found->second;
  subscription.receiver.reset();
  if (!handed && handed.error().kind == ErrorKind::unavailable) {
    return;  // the next tick asks again
  }
  if (!handed || handed->queue_gone) {
    queue_changed(key.first, key.second);
    return;
  }
  std::vector<core::StartAttempt> attempts;
  for (const core::HandOut::One& one : handed->messages) {
    attempts.push_back(attempt_of(subscription, one));
    on_the_wire_.insert_or_assign({one.message->id.seq, one.receive}, key);
    ++subscription.in_flight;
  }
  fill(key, subscription);
  if (!attempts.empty()) {
    start_(std::move(attempts));
  }
}

/// The message as a delivery of it is sent. Attributes that can be headers are.
core::StartAttempt Pusher::attempt_of(const Subscription& subscription,
                                      const core::HandOut::One& one) const {
  auto message = std::make_shared<core::Message>(*one.message);
  message->url = subscription.url;
  message->host = subscription.host;
  message->method = "POST";
  message->timeout = subscription.timeout;
  message->headers = {{"Upstash-Queue-Name", message->queue}};
  if (!message->group.empty()) {
    message->headers.push_back({"Upstash-Message-Group-Id", message->group});
  }
  std::size_t bytes = 0;
  bool typed = false;
  for (const core::Attribute& attribute : message->pull->attributes) {
    const std::size_t more = attribute.name.size() + attribute.value.size();
    if (attribute.type.starts_with("Binary") || bytes + more > header_bytes_max ||
        starts_with_ignoring_case(attribute.name, "upstash-") ||
        !options_.check_header(attribute.name, attribute.value)) {
      continue;
    }
    bytes += more;
    typed = typed || equals_ignoring_case(attribute.name, "content-type");
    message->headers.push_back({attribute.name, attribute.value});
  }
  if (!typed) {
    message->headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  }
  return {.id = message->id,
          .tenant = message->tenant,
          .fence = {.epoch = 0, .attempt = one.receive},
          .retried = one.receive - 1,
          .message = std::move(message)};
}

void Pusher::attempt_ended(const core::CompleteAttempt& report) {
  auto ended = on_the_wire_.extract({report.id.seq, report.fence.attempt});
  HK_ASSERT(!ended.empty());
  Settlement settlement{std::move(ended.mapped()), {report.id, report.fence.attempt}, {}};
  if (!report.delivered) {
    settlement.again_after = report.retry_after ? std::min(*report.retry_after, asked_for_max)
                                                : again_after(report.fence.attempt);
  }
  settle(std::move(settlement));
}

void Pusher::settle(Settlement settlement) {
  const auto& [tenant, name] = settlement.queue;
  core::Command command;
  if (settlement.again_after) {
    command = core::ChangeVisibility{tenant, name, {{settlement.receipt, *settlement.again_after}}};
  } else {
    command = core::DeleteReceived{tenant, name, {settlement.receipt}};
  }
  batcher_.submit(std::move(command),
                  [this, settlement = std::move(settlement)](const core::Reply& reply) mutable {
                    if (!reply && reply.error().kind == ErrorKind::unavailable) {
                      unsent_.push_back(std::move(settlement));
                      return;
                    }
                    settled(settlement.queue);  // or the message, or its queue, is gone
                  });
}

void Pusher::settled(const Key& key) {
  const auto found = queues_.find(key);
  HK_ASSERT(found != queues_.end() && found->second.in_flight > 0);
  --found->second.in_flight;
  if (found->second.url.empty() && found->second.in_flight == 0) {
    queues_.erase(found);
    return;
  }
  fill(key, found->second);
}

void Pusher::tick() {
  for (Settlement& settlement : std::exchange(unsent_, {})) {
    settle(std::move(settlement));
  }
  for (auto& [key, subscription] : queues_) {
    fill(key, subscription);
  }
}

void Pusher::stop() {
  stopping_ = true;
  for (auto& [key, subscription] : queues_) {
    if (subscription.receiver) {
      batcher_.stop_receiving(*std::exchange(subscription.receiver, std::nullopt));
    }
  }
}

}  // namespace hk::api::sqs
