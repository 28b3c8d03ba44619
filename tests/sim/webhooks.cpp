#include "sim/webhooks.h"

#include <algorithm>

#include "store/verify.h"

namespace hk::sim {

namespace {

using namespace core::webhook;

constexpr core::TenantId webhook_tenant{1};
constexpr int webhook_steps = 500;
constexpr std::size_t webhook_cache_bytes = std::size_t{1} << 20U;

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  return (digest ^ value) * 0x100000001b3ULL;
}

}  // namespace

WebhookSimulation::WebhookSimulation(std::uint64_t seed)
    : rng_(seed * 77 + 5), core_rng_(seed * 31 + 3), purges_(seed % 4 == 0) {
  limits_.index_after = Millis{50};
  limits_.lane_window_min = 2 + rng_.below(4);
  limits_.lane_window_max = limits_.lane_window_min + rng_.below(16);
  limits_.sweeps_per_batch = 1 + rng_.below(8);
  limits_.moves_per_batch = 1 + rng_.below(8);
  limits_.starts_per_batch = 4 + rng_.below(32);
  limits_.timers_per_batch = 1 + rng_.below(8);
  limits_.lease_grace = Millis{1000};
  if (purges_) {
    limits_.retention_webhooks = Millis{60'000};
  }
}

WebhookSimulation::~WebhookSimulation() = default;

std::unique_ptr<store::TypedReader> WebhookSimulation::view() {
  return std::make_unique<store::TypedReader>(std::shared_ptr<store::Reader>(store_.snapshot()));
}

void WebhookSimulation::open() {
  partition_ =
      std::make_unique<engine::Partition>(limits_, store_, core_rng_, zones_, webhook_cache_bytes);
  const auto opened = partition_->open(now_);
  require(opened.has_value(), "webhooks open", opened ? "" : opened.error().message);
  on_the_way_.clear();
  unsynced_.clear();
  sync();
}

void WebhookSimulation::crash() {
  partition_->forget_view();
  partition_.reset();
  if (chance(700)) {
    store_.crash(rng_);
  }
  store_.reopen();
  now_ += up_to(chance(300) ? 60'000 : 500);
  open();
  const auto reader = view();
  check_records(*reader);
}

/// What the server decided leaves it.
void WebhookSimulation::sync() {
  const auto synced = store_.sync();
  require(synced.has_value(), "webhooks sync", "");
  for (Batch& batch : std::exchange(unsynced_, {})) {
    for (const auto& event : batch.stored) {
      acked_[event->number] = event->payload;
    }
    expunged_.insert(batch.expunged.begin(), batch.expunged.end());
    for (const Started& one : batch.starts) {
      answer(one);
    }
  }
}

WebhookSimulation::Started WebhookSimulation::started(core::Reader& reader,
                                                      core::StartAttempt start) {
  const core::WebhookPart& part = *start.message->webhook;
  const auto endpoint = reader.get<Endpoint>({webhook_tenant, part.application, part.endpoint});
  const auto application = reader.get<Application>({webhook_tenant, part.application});
  return {.start = std::move(start),
          .endpoint_rate = endpoint ? endpoint->rate : 0,
          .application_rate = application ? application->rate : 0};
}

void WebhookSimulation::answer(const Started& started) {
  const core::StartAttempt& start = started.start;
  const core::WebhookPart& part = *start.message->webhook;
  check_rate(part.endpoint, started.endpoint_rate, start.started_at);
  check_rate(part.application, started.application_rate, start.started_at);
  int& mode = modes_[start.message->host];
  if (chance(20)) {
    mode = static_cast<int>(rng_.below(9));
  }
  const int way = !faults_ ? 0 : mode == 8 ? static_cast<int>(rng_.below(8)) : mode;
  core::CompleteAttempt end{.id = start.id, .fence = start.fence};
  const auto failed = [&](int status) { end.attempt.response_status = status; };
  switch (way) {
    case 3: failed(500); break;
    case 4:
      failed(chance(500) ? 429 : 503);
      if (chance(700)) {
        end.retry_after = up_to(chance(100) ? 200'000 : 5000);
      }
      break;
    case 5:
      failed(chance(100) ? 410 : 404);
      end.give_up = chance(100);
      break;
    case 6: end.timed_out = true; break;
    case 7:
      if (chance(300)) {
        return;  // nobody will say how it ended
      }
      failed(502);
      break;
    default:
      failed(200);
      end.delivered = true;
      break;
  }
  end.attempt.response_body = "answer";
  answers_.emplace(now_ + up_to(1000), std::move(end));
}

void WebhookSimulation::step() {
  std::vector<Asked> asked;
  if (faults_) {
    const auto wake = partition_->wake_at();
    if (chance(300) && wake && *wake > now_) {
      now_ = std::min(*wake, now_ + Millis{30'000});
    } else if (chance(500)) {
      now_ += up_to(chance(50) ? 20'000 : 300);
    }
    now_ += Millis{1};
    if (chance(500)) {
      end_due_attempts();  // or the next one, in a batch with what else is asked for
    }
    if (!answers_.empty() && answers_.begin()->first <= now_) {
      asked.push_back({.command = core::CompleteAttempt(answers_.begin()->second)});
      answers_.erase(answers_.begin());
    }
    for (std::uint64_t left = rng_.below(4); left > 0; --left) {
      Asked one = act();
      // How an endpoint is delivered to changes before anything of this batch is sent to it.
      const bool is_first = one.command.get_if<ChangeDelivery>() != nullptr;
      asked.insert(is_first ? asked.begin() : asked.end(), std::move(one));
    }
  } else {
    end_due_attempts();
    now_ += Millis{1};
  }
  run_batch(std::move(asked));
  if (unsynced_.size() > 2 || chance(600)) {
    sync();
  }
  if (faults_ && chance(15)) {
    crash();
  }
}

/// One after another: what ends is in an order that the records show.
void WebhookSimulation::end_due_attempts() {
  while (!answers_.empty() && answers_.begin()->first <= now_) {
    std::vector<Asked> asked;
    asked.push_back({.command = core::CompleteAttempt(answers_.begin()->second)});
    answers_.erase(answers_.begin());
    now_ += Millis{1};
    run_batch(std::move(asked));
  }
}

void WebhookSimulation::run_batch(std::vector<Asked> asked) {
  const auto before = view();
  std::vector<core::CompleteAttempt> ends;
  std::vector<engine::Submission> commands;
  std::vector<std::shared_ptr<const Asked>> held;
  for (Asked& one : asked) {
    auto kept = std::make_shared<Asked>();
    kept->application = one.application;
    kept->expunges = one.expunges;
    kept->clears = one.clears;
    if (const auto* const end = one.command.get_if<core::CompleteAttempt>()) {
      kept->command = core::CompleteAttempt(*end);
    }
    expunges_asked_.insert(one.expunges.begin(), one.expunges.end());
    commands.push_back({.command = std::move(one.command), .held = kept});
    held.push_back(std::move(kept));
  }
  auto written = partition_->run(now_, commands);
  require(written.has_value(), "webhooks run", written ? "" : written.error().message);
  require(commands.empty() || partition_->executed() > 0, "webhooks run", "nothing was executed");
  const auto after = view();
  Batch batch;
  forget_ended(*after);
  for (std::size_t i = 0; i < written->answered.size(); ++i) {
    const auto& one = *static_cast<const Asked*>(written->answered[i].held.get());
    const core::Reply& reply = written->replies[i];
    if (!reply) {
      continue;
    }
    if (const auto* const stored = reply->get_if<EventStored>()) {
      check_published(*before, *after, *stored->event);
      batch.stored.push_back(stored->event);
    }
    if (const auto* const end = one.command.get_if<core::CompleteAttempt>()) {
      check_outcome(*after, *end);
    }
    if (reply->is<EventsExpunged>()) {
      batch.expunged.insert(one.expunges.begin(), one.expunges.end());
    }
  }
  check_batch(*before, *after);
  for (core::Effect& effect : written->effects) {
    if (auto* const start = std::get_if<core::StartAttempt>(&effect)) {
      check_start(*after, *start);
      digest_ = mixed(digest_, start->id.seq.value() * 64 + start->fence.attempt);
      batch.starts.push_back(started(*after, std::move(*start)));
    }
  }
  unsynced_.push_back(std::move(batch));
  if (chance(15)) {
    check_records(*after);
  }
}

std::uint64_t WebhookSimulation::run() {
  open();
  std::vector<Asked> first;
  first.push_back({.command = core::UpsertTenant{.tenant = {.name = "one"}}});
  run_batch(std::move(first));
  for (int i = 0; i < webhook_steps; ++i) {
    step();
  }
  settle();
  return digest_;
}

/// What holds the first of them.
std::string WebhookSimulation::why_waiting(Number endpoint) {
  const auto reader = view();
  for (const DeliveryRow& row :
       reader->scan<DeliveryRow>(core::Range<DeliveryRow>::of(webhook_tenant, endpoint))) {
    const auto state = reader->get<core::MessageState>(row.delivery);
    const auto message = reader->get<core::Message>(row.delivery);
    if (message == nullptr || (state && is_final(state->status))) {
      continue;
    }
    std::vector<engine::Submission> commands;
    commands.push_back({.command = core::Inspect{webhook_tenant, message->id}});
    const auto written = partition_->run(now_, commands);
    std::string why = std::to_string(row.delivery.value());
    if (written && !written->replies.empty() && written->replies[0]) {
      const auto& seen = written->replies[0]->get<core::Inspected>();
      why += seen.running ? " runs" : "";
      for (const core::Hold& hold : seen.holds) {
        why += " " + hold.gate;
      }
    }
    return why;
  }
  return "nobody knows which";
}

/// Everybody works and answers in time, everything is open: then everything ends.
void WebhookSimulation::settle() {
  faults_ = false;
  sync();
  constexpr int steps_max = 6000;
  constexpr int heal_every = 200;
  for (int i = 0; i < steps_max; ++i) {
    const auto reader = view();
    if (i % heal_every == 0) {
      std::vector<Asked> asked;
      for (const Endpoint& endpoint : reader->scan<Endpoint>()) {
        if (endpoint.disabled != Endpoint::Disabled::no) {
          asked.push_back(heal(endpoint, false));
        }
        asked.push_back(heal(endpoint, true));
      }
      for (const core::Task& task : reader->scan<core::Task>()) {
        if (task.status == core::Task::Status::paused) {
          asked.push_back(
              {.command = core::ChangeReplay{.tenant = webhook_tenant,
                                             .number = task.number,
                                             .change = core::ChangeReplay::Change::resume}});
        }
      }
      run_batch(std::move(asked));
      sync();
      const bool all_over = std::ranges::all_of(reader->scan<Health>(),
                                                [](const Health& one) { return one.waiting == 0; });
      const bool nothing_runs = std::ranges::none_of(
          reader->scan<core::Task>(),
          [](const core::Task& one) { return one.status == core::Task::Status::running; });
      if (all_over && nothing_runs && answers_.empty() && unsynced_.empty() &&
          reader->scan<Sweep>().empty() && partition_->machine().in_memory() == 0) {
        break;
      }
    }
    if (const auto wake = partition_->wake_at(); wake && *wake > now_ && answers_.empty()) {
      now_ = std::min(*wake, now_ + Millis{30'000});
    } else if (!answers_.empty()) {
      now_ = std::max(now_, answers_.begin()->first);
    }
    step();
    sync();
  }
  sync();
  const auto reader = view();
  for (const Health& health : reader->scan<Health>()) {
    require(health.waiting == 0, "webhooks 3: nothing is lost",
            std::to_string(health.waiting) + " deliveries of endpoint " +
                std::to_string(health.endpoint) +
                " wait although everything is open: " + why_waiting(health.endpoint));
  }
  for (const core::Task& task : reader->scan<core::Task>()) {
    require(task.status != core::Task::Status::running,
            "webhooks 11: a replay ends when all of it has",
            "task " + std::to_string(task.number) + " runs although all that it made is over");
  }
  require(partition_->machine().in_memory() == 0 && partition_->machine().lanes() == 0,
          "webhooks 3: nothing is lost", "something is in memory at the end");
  check_records(*reader);
  check_gone(expunged_);
  const auto snapshot = store_.snapshot();
  const auto report = store::verify(*snapshot);
  require(report && report->ok(), "webhooks verify",
          report && !report->problems.empty() ? report->problems.front() : "cannot be read");
  std::set<Number> there;
  for (const Event& event : reader->scan<Event>()) {
    there.insert(event.number);
  }
  for (const auto& [number, payload] : acked_) {
    require(purges_ || there.contains(number), "webhooks 1: acknowledged is durable",
            "event " + std::to_string(number) + " is gone");
  }
}

}  // namespace hk::sim
