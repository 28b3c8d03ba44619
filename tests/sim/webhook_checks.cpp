// What must hold of webhooks. The numbers are those of the promises that they check.
#include <algorithm>

#include "core/webhook/gate_name.h"
#include "core/webhook/read.h"
#include "core/webhook/replay.h"
#include "sim/webhooks.h"
#include "store/codec.h"
#include "store/key.h"

namespace hk::sim {

namespace {

using namespace core::webhook;

constexpr core::TenantId checked_tenant{1};

core::MessageState state_in(core::Reader& reader, const core::Message& message) {
  return reader.get<core::MessageState>(message.id.seq)
      .value_or(core::MessageState{.due = message.not_before});
}

bool by_hand(const core::WebhookPart& part) { return part.manual && part.replay == 0; }

std::string name_of_delivery(const core::Message& message) {
  return "delivery " + std::to_string(message.id.seq.value()) + " of event " +
         std::to_string(message.webhook->event) + " to endpoint " +
         std::to_string(message.webhook->endpoint);
}

}  // namespace

void WebhookSimulation::forget_ended(core::Reader& reader) {
  std::erase_if(on_the_way_, [&](const auto& one) {
    const auto state = reader.get<core::MessageState>(one.first);
    return (state && (state->attempts >= one.second.fence.attempt || is_final(state->status))) ||
           reader.get<core::Message>(one.first) == nullptr;
  });
}

void WebhookSimulation::check_start(core::Reader& after, const core::StartAttempt& start) {
  const auto stored = after.get<core::Message>(start.id.seq);
  require(stored != nullptr && stored->webhook.has_value(), "webhooks start", "of nothing");
  const core::WebhookPart& part = *stored->webhook;
  const std::string name = name_of_delivery(*stored);
  const auto endpoint = after.get<Endpoint>({checked_tenant, part.application, part.endpoint});
  require(endpoint.has_value(), "webhooks 6: nothing starts behind a shut gate",
          name + " has started, and its endpoint is gone");
  require(endpoint->disabled == Endpoint::Disabled::no && !endpoint->paused,
          "webhooks 6: nothing starts behind a shut gate",
          name + " has started while its endpoint is disabled or paused");
  const auto event = after.get<Event>({checked_tenant, part.application, part.event});
  require(event && !event->expunged && event->payload == start.message->body,
          "webhooks 15: what is expunged is sent no more",
          name + " carries what its event has not");
  require(!expunged_.contains(part.event), "webhooks 15: what is expunged is sent no more", name);
  require(event->payload_expires_at > start.started_at || event->payload_expires_at == Moment{} ||
              start.started_at - event->payload_expires_at < Millis{120'000},
          "webhooks 15: an expired payload is sent no more", name);
  const core::MessageState state = state_in(after, *stored);
  require(state.due <= start.started_at, "webhooks 6: nothing starts before it is due", name);
  require(!is_final(state.status), "webhooks 5: what is over does not start", name);
  if (part.generation == 0 && !by_hand(part)) {
    require(event->deliver_at <= start.started_at, "webhooks 6: nothing starts before deliverAt",
            name);
  }
  const Delivery options = effective(*endpoint, settings_of(after, checked_tenant));
  require(
      start.fence.attempt == state.attempts + 1 &&
          (part.manual ? start.fence.attempt == 1 : start.fence.attempt <= options.delays.size()),
      "webhooks 4: attempts keep to the schedule",
      name + " makes attempt " + std::to_string(start.fence.attempt));
  const Health health = health_of(after, checked_tenant, part.endpoint);
  if (!by_hand(part) || !health.by_circuit) {
    require(health.shut_until <= start.started_at, "webhooks 6: nothing starts behind a shut gate",
            name + ": circuit or Retry-After");
  }
  if (health.circuit_for > Millis{0} && !by_hand(part)) {
    require(std::ranges::none_of(on_the_way_,
                                 [&](const auto& one) {
                                   return one.second.endpoint == part.endpoint &&
                                          !one.second.by_hand;
                                 }),
            "webhooks 6: one probe at a time", name);
  }
  const std::string key =
      by_hand(part) ? std::string() : order_group(options.order, event->channels, event->tags);
  if (!key.empty()) {
    for (const DeliveryRow& row :
         after.scan<DeliveryRow>(core::Range<DeliveryRow>::of(checked_tenant, part.endpoint), 150,
                                 core::Order::descending)) {
      const auto other =
          row.delivery < start.id.seq ? after.get<core::Message>(row.delivery) : nullptr;
      if (other == nullptr || by_hand(*other->webhook) ||
          is_final(state_in(after, *other).status)) {
        continue;
      }
      const auto before =
          after.get<Event>({checked_tenant, part.application, other->webhook->event});
      require(before && order_group(options.order, before->channels, before->tags) != key,
              "webhooks 7: order", name + " has started before " + name_of_delivery(*other));
    }
  }
  std::vector<SigningSecret> live;
  std::ranges::copy_if(endpoint->secrets, std::back_inserter(live),
                       [&](const auto& one) { return one.expires_at > start.started_at; });
  require(start.webhook != nullptr && start.webhook->secrets == live,
          "webhooks 9: signed by the keys that are live", name);
  require(start.webhook->id == id_of(*event), "webhooks 9: the id is constant", name);
  const bool alone = on_the_way_
                         .emplace(start.id.seq, OnTheWay{.fence = start.fence,
                                                         .endpoint = part.endpoint,
                                                         .by_hand = by_hand(part)})
                         .second;
  require(alone, "webhooks 5: one lease at a time", name);
}

void WebhookSimulation::check_outcome(core::Reader& after, const core::CompleteAttempt& end) {
  const auto message = after.get<core::Message>(end.id.seq);
  if (message == nullptr) {
    return;
  }
  const core::WebhookPart& part = *message->webhook;
  const core::MessageState state = state_in(after, *message);
  const std::string name = name_of_delivery(*message);
  if (state.attempts != end.fence.attempt) {
    return;
  }
  const auto endpoint = after.get<Endpoint>({checked_tenant, part.application, part.endpoint});
  if (!endpoint) {
    return;
  }
  const Delivery options = effective(*endpoint, settings_of(after, checked_tenant));
  if (state.status == core::Status::failed) {
    const bool gives_up =
        end.give_up || std::ranges::find(options.give_up_statuses,
                                         static_cast<std::uint32_t>(end.attempt.response_status)) !=
                           options.give_up_statuses.end();
    require(gives_up || part.manual || state.attempts >= options.delays.size(),
            "webhooks 4: FAILED is earned", name);
  }
  if (state.status == core::Status::pending && end.retry_after && !end.delivered) {
    require(state.due >= now_ + std::min(*end.retry_after, options.retry_after_max),
            "webhooks 6: never earlier than Retry-After", name);
  }
  if (end.delivered) {
    require(state.status == core::Status::succeeded, "webhooks 4: SUCCEEDED", name);
  }
}

void WebhookSimulation::check_published(core::Reader& before, core::Reader& after,
                                        const Event& event) {
  const auto stored = after.get<Event>({checked_tenant, event.application, event.number});
  require(stored.has_value(), "webhooks 2: the event and its deliveries are one commit", "");
  for (const auto& [number, delivery] : event.addressed) {
    const auto message = after.get<core::Message>(delivery);
    require(message != nullptr && message->webhook && message->webhook->endpoint == number &&
                after.get<DeliveryRow>({checked_tenant, number, event.number, 0}),
            "webhooks 2: the event and its deliveries are one commit",
            "event " + std::to_string(event.number));
  }
  // Endpoints that are the same before and after the batch were so when it was published.
  for (const Endpoint& one :
       after.scan<Endpoint>(core::Range<Endpoint>::of(checked_tenant, event.application))) {
    const auto was = before.get<Endpoint>(core::own_key(one));
    if (!was || *was != one) {
      continue;
    }
    const bool holds = effective(one, settings_of(after, checked_tenant)).hold.enabled ||
                       one.disabled == Endpoint::Disabled::no;
    const bool is_addressed = std::ranges::any_of(
        event.addressed, [&](const auto& to) { return to.endpoint == one.number; });
    const bool wants = matches(one, event.event_type, event.channels) && holds;
    require(is_addressed == wants || (event.addressed.size() == 1 && is_addressed) ||
                (event.addressed.size() == 1 && wants),
            "webhooks 2: exactly those that match", "event " + std::to_string(event.number));
  }
}

void WebhookSimulation::check_batch(core::Reader& before, core::Reader& after) {
  // 10: disabled by the rule, with its event in the same commit.
  std::size_t disabled = 0;
  for (const Endpoint& one : after.scan<Endpoint>()) {
    const bool by_rule = one.disabled == Endpoint::Disabled::failing;
    const bool is_gone = one.disabled == Endpoint::Disabled::gone;
    const auto was = before.get<Endpoint>(core::own_key(one));
    const bool is_new = was && was->disabled == Endpoint::Disabled::no && (by_rule || is_gone);
    const Health health = health_of(after, checked_tenant, one.number);
    const Delivery options = effective(one, settings_of(after, checked_tenant));
    bool holds = false;
    if (options.disable && health.failures > 0) {
      const auto& rule = *options.disable;
      holds = (now_ - health.failing_since >= rule.after && health.failures >= rule.attempts_min) ||
              (rule.failures != 0 && health.failures >= rule.failures);
    }
    const Health past = health_of(before, checked_tenant, one.number);
    if (is_new && by_rule) {
      require(holds, "webhooks 10: disabled by the rule", std::to_string(one.number));
    }
    if (holds && health.failures > past.failures && was && was->delivery == one.delivery) {
      require(one.disabled != Endpoint::Disabled::no, "webhooks 10: disabled by the rule",
              std::to_string(one.number) + " has failed for long enough, and is not");
    }
    disabled += is_new && one.application != operational ? 1 : 0;
  }
  if (disabled == 0) {
    return;
  }
  const auto listeners =
      before.scan<Endpoint>(core::Range<Endpoint>::of(checked_tenant, operational));
  const bool listens = std::ranges::any_of(listeners, [&](const Endpoint& one) {
    return after.get<Endpoint>(core::own_key(one)).has_value();
  });
  std::size_t told = 0;
  for (const Event& event :
       after.scan<Event>(core::Range<Event>::of(checked_tenant, operational))) {
    const bool is_new = !before.get<Event>(core::own_key(event));
    told += is_new && event.event_type == "endpoint.disabled" &&
                    event.payload.find("automatic") != std::string::npos
                ? 1
                : 0;
  }
  require(!listens || told >= disabled, "webhooks 10: told in the same commit", "");
}

void WebhookSimulation::check_rate(Number gate, std::uint32_t rate, Moment at) {
  if (rate == 0) {
    return;
  }
  auto& starts = rated_[{gate, rate}];
  starts.push_back(at);
  constexpr std::uint64_t second = 1000;
  const std::uint64_t burst = std::max(rate / 10, 1U);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto passed = static_cast<std::uint64_t>((at - starts[i]).count());
    require(starts.size() - i <= passed * rate / second + burst + 1, "webhooks 6: rate",
            std::to_string(starts.size() - i) + " starts in " + std::to_string(passed) + " ms at " +
                std::to_string(rate) + " a second");
  }
}

void WebhookSimulation::check_records(core::Reader& reader) {
  struct Seen {
    std::uint64_t waiting = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
    std::uint64_t settled = 0;
    std::uint64_t canceled = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint32_t failures = 0;
    Moment failing_since{};
    Moment ended_at{};    ///< of the last attempt
    bool is_tie = false;  ///< which of two ended first, nobody can tell
  };
  std::map<Number, Seen> seen;
  for (const DeliveryRow& row : reader.scan<DeliveryRow>()) {
    const auto message = reader.get<core::Message>(row.delivery);
    require(message != nullptr && message->webhook->event == row.event &&
                message->webhook->generation == row.generation,
            "webhooks 2: a delivery is what its row says", std::to_string(row.delivery.value()));
    const core::MessageState state = state_in(reader, *message);
    Seen& one = seen[row.endpoint];
    ++one.rows;
    if (is_final(state.status)) {
      ++one.settled;
      one.canceled += state.status == core::Status::canceled ? 1 : 0;
      require((state.status == core::Status::canceled) ==
                  (state.cancel_reason != core::CancelReason::none),
              "webhooks 3: CANCELED has a reason", name_of_delivery(*message));
      const core::WebhookPart& part = *message->webhook;
      require(state.cancel_reason != core::CancelReason::endpoint_deleted ||
                  !reader.get<Endpoint>({checked_tenant, part.application, part.endpoint}),
              "webhooks 3: CANCELED has a reason", name_of_delivery(*message) + " has a wrong one");
    } else {
      ++one.waiting;
      one.bytes += message->webhook->bytes;
    }
  }
  std::map<core::Seq, std::uint32_t> attempts;
  for (const AttemptRow& row : reader.scan<AttemptRow>()) {
    Seen& one = seen[row.endpoint];
    ++attempts[row.delivery];
    ++(row.succeeded ? one.succeeded : one.failed);
    const auto message = reader.get<core::Message>(row.delivery);
    one.is_tie = row.ended_at == one.ended_at || (one.is_tie && !row.succeeded);
    one.ended_at = row.ended_at;
    if (row.succeeded) {
      one.failures = 0;
      one.failing_since = Moment{};
    } else if (message != nullptr && !by_hand(*message->webhook)) {
      one.failing_since = one.failures == 0 ? row.ended_at : one.failing_since;
      ++one.failures;
    }
  }
  for (const auto& [seq, count] : attempts) {
    const auto state = reader.get<core::MessageState>(seq);
    require(state && state->attempts == count, "webhooks 5: no attempt is counted twice",
            std::to_string(seq.value()));
  }
  for (const auto& [number, one] : seen) {
    const Health health = health_of(reader, checked_tenant, number);
    require(health.waiting == one.waiting && health.waiting_bytes == one.bytes,
            "webhooks health: what waits is counted", std::to_string(number));
    bool is_there = false;
    for (const Endpoint& endpoint : reader.scan<Endpoint>()) {
      is_there = is_there || endpoint.number == number;
    }
    if (is_there && !one.is_tie && !cleared_.contains(number) && !purges_) {
      require(health.failures == one.failures &&
                  (one.failures == 0 || health.failing_since == one.failing_since),
              "webhooks 10: health is what the attempts say",
              std::to_string(number) + ": " + std::to_string(health.failures) + " failures, not " +
                  std::to_string(one.failures));
    }
    Stats sum;
    for (const Stats& stats : list_stats(reader, checked_tenant, number, 0, UINT64_MAX)) {
      sum.succeeded += stats.succeeded;
      sum.failed += stats.failed;
      sum.created += stats.created;
      sum.settled += stats.settled;
      sum.canceled += stats.canceled;
    }
    require(
        purges_ ||
            (sum.succeeded == one.succeeded && sum.failed == one.failed &&
             sum.created == one.rows && sum.settled == one.settled && sum.canceled == one.canceled),
        "webhooks stats",
        "of endpoint " + std::to_string(number) + ": succeeded " + std::to_string(sum.succeeded) +
            " of " + std::to_string(one.succeeded) + ", failed " + std::to_string(sum.failed) +
            " of " + std::to_string(one.failed) + ", made " + std::to_string(sum.created) + " of " +
            std::to_string(one.rows) + ", settled " + std::to_string(sum.settled) + " of " +
            std::to_string(one.settled) + ", canceled " + std::to_string(sum.canceled) + " of " +
            std::to_string(one.canceled));
  }
  std::set<std::pair<Number, std::string>> ids;
  for (const Event& event : reader.scan<Event>()) {
    require(event.event_id.empty() || ids.insert({event.application, event.event_id}).second,
            "webhooks 12: one event for an eventId", event.event_id);
    const auto acked = acked_.find(event.number);
    require(acked == acked_.end() || event.payload == acked->second || event.expunged,
            "webhooks 1: acknowledged is durable", std::to_string(event.number));
    require(!event.expunged || event.payload.empty(), "webhooks 15: expunged", "");
  }
  check_replays(reader);
}

void WebhookSimulation::check_replays(core::Reader& reader) {
  std::map<std::uint64_t, std::uint64_t> made;
  std::set<std::tuple<std::uint64_t, Number, Number>> places;
  for (const auto& message : reader.scan<core::Message>()) {
    const core::WebhookPart& part = *message->webhook;
    if (part.replay != 0) {
      ++made[part.replay];
      require(places.insert({part.replay, part.event, part.endpoint}).second,
              "webhooks 11: a replay repeats nothing", name_of_delivery(*message));
    }
  }
  for (const core::Task& task : reader.scan<core::Task>()) {
    const auto* const replay = std::get_if<ReplayEvents>(&task.work);
    if (replay == nullptr || purges_) {
      continue;
    }
    const std::string name = "replay " + std::to_string(task.number);
    require(made[task.number] == task.processed, "webhooks 11: a replay forgets nothing",
            name + " has made " + std::to_string(made[task.number]) + ", and says " +
                std::to_string(task.processed));
    const bool counts = replay->phase != ReplayEvents::Phase::counting;
    require(!counts || task.processed + replay->skipped <= task.total,
            "webhooks 11: queued and skipped are of what matched", name);
    if (task.status == core::Task::Status::completed) {
      require(task.processed + replay->skipped == task.total &&
                  replay->succeeded + replay->failed + replay->canceled == task.processed,
              "webhooks 11: a replay ends when all of it has", name);
    }
  }
}

/// Their bytes are in no record at all.
void WebhookSimulation::check_gone(const std::set<Number>& events) {
  std::vector<std::string> texts;
  for (const Number event : events) {
    if (const auto acked = acked_.find(event); acked != acked_.end()) {
      texts.push_back(acked->second);
    }
  }
  const auto snapshot = store_.snapshot();
  constexpr std::size_t all = 1'000'000;
  for (const store::Table table : store::all_tables) {
    const auto entries = snapshot->scan(table, "", "", all, false);
    require(entries.has_value(), "webhooks readable", "");
    for (const store::Entry& entry : *entries) {
      for (const std::string& text : texts) {
        require(entry.value.find(text) == std::string::npos, "webhooks 15: expunged is gone", text);
      }
    }
  }
}

}  // namespace hk::sim
