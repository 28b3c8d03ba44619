// What those do who use webhooks.
#include <algorithm>

#include "sim/webhooks.h"

namespace hk::sim {

namespace {

using namespace core::webhook;

constexpr core::TenantId acting_tenant{1};
const std::vector<std::string> known_types{"paid", "lost", "open"};
const std::vector<std::string> known_channels{"x", "y", "z"};

template <class One>
const One& one_of(const std::vector<One>& all, SeededRng& rng) {
  return all[rng.below(all.size())];
}

}  // namespace

std::string WebhookSimulation::some_application() {
  return chance(20) ? "nowhere" : "app" + std::to_string(rng_.below(3));
}

std::optional<Endpoint> WebhookSimulation::some_endpoint() {
  const auto all = view()->scan<Endpoint>(core::Range<Endpoint>::of(acting_tenant));
  return all.empty() ? std::nullopt : std::optional(all[rng_.below(all.size())]);
}

std::optional<Event> WebhookSimulation::some_event() {
  const auto all =
      view()->scan<Event>(core::Range<Event>::of(acting_tenant), 200, core::Order::descending);
  return all.empty() ? std::nullopt : std::optional(all[rng_.below(all.size())]);
}

EndpointFields WebhookSimulation::some_fields() {
  const std::string host = "https://h" + std::to_string(rng_.below(6));
  EndpointFields fields{.uid = chance(500) ? "ep" + std::to_string(rng_.below(4)) : "",
                        .url = host + "/in",
                        .host = host + ":443"};
  if (chance(300)) {
    fields.event_types = {one_of(known_types, rng_)};
  }
  if (chance(200)) {
    fields.channels = {one_of(known_channels, rng_)};
  }
  if (chance(200)) {
    fields.rate = 1 + static_cast<std::uint32_t>(rng_.below(chance(500) ? 3 : 60));
  }
  fields.disabled = chance(100);
  return fields;
}

OwnDelivery WebhookSimulation::some_options() {
  OwnDelivery own;
  const auto set = [&own](DeliveryPart part) { own.set |= bit_of(part); };
  set(DeliveryPart::schedule);
  own.values.preset = "";
  own.values.delays = {Millis{0}};
  for (std::uint64_t left = 1 + rng_.below(6); left > 0; --left) {
    own.values.delays.push_back(up_to(4000));
  }
  set(DeliveryPart::timeout);
  own.values.timeout = Millis{2000};
  if (chance(700)) {
    set(DeliveryPart::circuit);
    own.values.circuit.reset();
    if (chance(800)) {
      own.values.circuit =
          Delivery::Circuit{.failures = 1 + static_cast<std::uint32_t>(rng_.below(6)),
                            .open = Millis{1000},
                            .open_max = Millis{6000}};
    }
  }
  if (chance(700)) {
    set(DeliveryPart::disable);
    own.values.disable = Delivery::Disable{.after = Millis{15'000},
                                           .attempts_min = 3,
                                           .failures = chance(300) ? 8U : 0U,
                                           .warn_at = {30, 60}};
  }
  if (chance(300)) {
    set(DeliveryPart::order);
    own.values.order = static_cast<core::webhook::Order>(1 + rng_.below(3));
    set(DeliveryPart::halt);
    own.values.halt = chance(300);
  }
  if (chance(500)) {
    set(DeliveryPart::hold);
    own.values.hold = {.enabled = chance(900),
                       .ttl = Millis{40'000},
                       .messages_max = 3 + rng_.below(20),
                       .bytes_max = 1'000'000};
  }
  if (chance(300)) {
    set(DeliveryPart::parallelism);
    own.values.parallelism = 1 + static_cast<std::uint32_t>(rng_.below(3));
  }
  if (chance(200)) {
    set(DeliveryPart::give_up_statuses);
    own.values.give_up_statuses = {404};
  }
  if (chance(200)) {
    set(DeliveryPart::resume_rate);
    own.values.resume_rate = 1 + static_cast<std::uint32_t>(rng_.below(5));
  }
  return own;
}

WebhookSimulation::Asked WebhookSimulation::publish() {
  const std::string ref = some_application();
  PublishEvent publish{
      .application_ref = ref,
      .event = {.tenant = acting_tenant,
                .event_type = one_of(known_types, rng_),
                .payload = "{\"p\":\"payload-" + std::to_string(next_marker_++) + "-\"}"}};
  Event& event = publish.event;
  if (chance(300)) {
    publish.application = ApplicationFields{.name = "made", .uid = ref};
  }
  if (chance(200)) {
    event.event_id = "e" + std::to_string(rng_.below(40));
  }
  for (const std::string& channel : known_channels) {
    if (chance(300)) {
      event.channels.push_back(channel);
    }
  }
  if (chance(300)) {
    event.tags = {"t" + std::to_string(rng_.below(2))};
  }
  if (chance(100)) {
    event.deliver_at = now_ + up_to(10'000);
  }
  if (chance(50)) {
    event.payload_expires_at = now_ + up_to(30'000);
  }
  if (chance(50)) {
    publish.only_endpoint_ref = "ep" + std::to_string(rng_.below(4));
  }
  return {.command = std::move(publish)};
}

WebhookSimulation::Asked WebhookSimulation::heal(const Endpoint& endpoint, bool pause) {
  const auto reader = view();
  const auto application =
      reader->get<Application>({acting_tenant, endpoint.application}).value_or(Application{});
  const std::string ref = endpoint.application == operational ? "" : id_of(application);
  cleared_.insert(endpoint.number);
  if (pause) {
    return {.command = ResumeEndpoint{acting_tenant, ref, id_of(endpoint)}};
  }
  return {.command = ChangeEndpoint{.tenant = acting_tenant,
                                    .application_ref = ref,
                                    .endpoint_ref = id_of(endpoint),
                                    .changes = {.disabled = false}}};
}

WebhookSimulation::Asked WebhookSimulation::change_endpoint(const Endpoint& endpoint) {
  const auto reader = view();
  const auto application =
      reader->get<Application>({acting_tenant, endpoint.application}).value_or(Application{});
  const std::string ref = endpoint.application == operational ? "" : id_of(application);
  const std::string id = id_of(endpoint);
  const std::uint64_t what = rng_.below(1000);
  if (what < 200) {
    return heal(endpoint, false);
  }
  if (what < 350) {
    return heal(endpoint, true);
  }
  if (what < 450) {
    return {.command = PauseEndpoint{acting_tenant, ref, id}};
  }
  if (what < 500) {
    cleared_.insert(endpoint.number);
    return {.command = ResumeEndpoint{acting_tenant, ref, id, true}};
  }
  if (what < 560) {
    return {.command = CancelWaiting{acting_tenant, ref, id, chance(500) ? "paid" : "",
                                     chance(200) ? "x" : "", chance(200) ? "t1" : ""}};
  }
  if (what < 620) {
    return {.command = DeleteEndpoint{acting_tenant, ref, id}};
  }
  if (what < 720) {
    return {.command = RotateSecret{acting_tenant,
                                    ref,
                                    id,
                                    {.sealed = "s" + std::to_string(rng_.below(1000))},
                                    chance(700) ? up_to(20'000) : Millis{0}}};
  }
  rated_.clear();  // from now on it may be another one
  const EndpointFields fields = some_fields();
  ChangeEndpoint change{
      .tenant = acting_tenant, .application_ref = ref, .endpoint_ref = id, .changes = {}};
  if (chance(300)) {
    change.changes.url = std::pair{fields.url, fields.host};
  }
  if (chance(300)) {
    change.changes.rate = fields.rate;
  }
  if (chance(300) && endpoint.application != operational) {
    change.changes.event_types = fields.event_types;
  }
  if (chance(300)) {
    change.changes.disabled = true;
  }
  if (chance(100) && endpoint.application != operational) {
    change.endpoint_ref = "new" + std::to_string(rng_.below(3));
    change.create = true;
    change.changes.url = std::pair{fields.url, fields.host};
    change.changes.disabled.reset();
    change.secret = {.sealed = "s"};
  }
  return {.command = std::move(change)};
}

WebhookSimulation::Asked WebhookSimulation::act() {
  const std::uint64_t what = rng_.below(1000);
  if (what < 550) {
    return publish();
  }
  if (what < 600) {
    const bool hidden = chance(200);
    EndpointFields fields = some_fields();
    if (hidden) {
      fields.event_types.clear();
      fields.channels.clear();
    }
    return {.command = CreateEndpoint{acting_tenant,
                                      hidden ? "" : some_application(),
                                      std::move(fields),
                                      {.sealed = "first"}}};
  }
  if (what < 720) {
    if (const auto endpoint = some_endpoint()) {
      return change_endpoint(*endpoint);
    }
  }
  if (what < 760) {
    // Only of one that nothing was sent to yet: what it may do is judged by its options.
    const auto endpoint = some_endpoint();
    if (endpoint && endpoint->delivery.set == 0 && endpoint->application != operational &&
        view()
            ->scan<DeliveryRow>(core::Range<DeliveryRow>::of(acting_tenant, endpoint->number), 1)
            .empty()) {
      const auto application =
          view()->get<Application>({acting_tenant, endpoint->application}).value_or(Application{});
      cleared_.insert(endpoint->number);
      return {.command = ChangeDelivery{acting_tenant, id_of(application), id_of(*endpoint),
                                        some_options()}};
    }
  }
  const auto event = some_event();
  const auto application =
      event ? view()->get<Application>({acting_tenant, event->application}) : std::nullopt;
  const std::string ref = application ? id_of(*application) : some_application();
  if (what < 820 && event) {
    const auto endpoint = some_endpoint();
    return {.command =
                Resend{acting_tenant, ref, id_of(*event), endpoint ? id_of(*endpoint) : "none"}};
  }
  if (what < 850 && event && application) {
    return {.command = ExpungeEvents{acting_tenant, ref, {id_of(*event), "none"}},
            .expunges = {event->number}};
  }
  if (what < 870) {
    for (const AttemptRow& row : view()->scan<AttemptRow>({}, 1, core::Order::descending)) {
      return {.command = ExpungeAttempt{acting_tenant, ref, row.event, row.delivery, row.attempt}};
    }
  }
  if (what < 910) {
    core::StartReplay replay{.tenant = acting_tenant, .application_ref = some_application()};
    replay.what.since = now_ - up_to(60'000);
    replay.what.until = now_ + Millis{1};
    replay.what.purpose = static_cast<ReplayEvents::Purpose>(rng_.below(4));
    replay.what.newest_first = chance(300);
    replay.what.retry = chance(700);
    if (chance(300)) {
      replay.what.filter.statuses = 1U << rng_.below(5);
    }
    replay.rate = chance(500) ? 0 : 1000 * static_cast<std::uint32_t>(1 + rng_.below(20));
    return {.command = std::move(replay)};
  }
  if (what < 945) {
    const auto tasks = view()->scan<core::Task>({}, 50, core::Order::descending);
    if (!tasks.empty()) {
      return {.command = core::ChangeReplay{
                  .tenant = acting_tenant,
                  .number = one_of(tasks, rng_).number,
                  .change = static_cast<core::ChangeReplay::Change>(rng_.below(4)),
                  .rate = 1000 * static_cast<std::uint32_t>(rng_.below(20))}};
    }
  }
  if (what < 950 && application) {
    Asked asked{.command = core::StartExpunge{acting_tenant, ref}};
    for (const Event& one :
         view()->scan<Event>(core::Range<Event>::of(acting_tenant, application->number))) {
      expunges_asked_.insert(one.number);
    }
    return asked;
  }
  if (what < 953) {
    return {.command = DeleteApplication{acting_tenant, some_application()}};
  }
  if (what < 965) {
    rated_.clear();
    return {.command =
                ChangeApplication{.tenant = acting_tenant,
                                  .application_ref = some_application(),
                                  .changes = {.rate = static_cast<std::uint32_t>(rng_.below(30))}}};
  }
  if (what < 980) {
    const auto letters = view()->scan<core::DeadLetterKey>({}, 20);
    if (!letters.empty()) {
      return {.command =
                  core::RetryDeadLetter{.tenant = acting_tenant, .key = one_of(letters, rng_)}};
    }
  }
  if (what < 990) {
    const auto rows = view()->scan<DeliveryRow>({}, 20, core::Order::descending);
    if (!rows.empty()) {
      if (const auto message = view()->get<core::Message>(one_of(rows, rng_).delivery)) {
        return {.command = core::CancelMessage{.tenant = acting_tenant, .id = message->id}};
      }
    }
  }
  return {.command = CreateEventType{{.tenant = acting_tenant, .name = one_of(known_types, rng_)}}};
}

}  // namespace hk::sim
