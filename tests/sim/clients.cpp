// Publishers, operators and the people who ask.
#include <algorithm>
#include <variant>

#include "base/assert.h"
#include "sim/expressions.h"
#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::size_t remembered_max = 400;

}  // namespace

void Simulation::plan_clients() {
  heap_.after(up_to(config_.gap * 2), [this] {
    if (!publishing_) {
      return;
    }
    client_acts();
    plan_clients();
  });
}

void Simulation::client_acts() {
  ++ops_made_;
  if (chance(config_.cancel)) {
    cancel_something();
    return;
  }
  if (chance(config_.settings) || chance(config_.dead_letters)) {
    operator_acts();
    return;
  }
  if (config_.url_groups > 0 && chance(80)) {
    change_group();
    return;
  }
  if (config_.topics > 0 && chance(200)) {
    topic_acts();
    return;
  }
  if (config_.keys > 0 && chance(150)) {
    key_acts();
    return;
  }
  if (config_.sources > 0 && chance(config_.source_acts)) {
    source_acts();
    return;
  }
  if (config_.ledger > 0 && chance(config_.ledger)) {
    ledger_acts();
    return;
  }
  if (config_.once > 0 && chance(config_.once)) {
    once_acts();
    return;
  }
  if (config_.transacts > 0 && chance(config_.transacts)) {
    transact_acts();
    return;
  }
  if (config_.endings > 0 && chance(100)) {
    old_lease_acts();
    return;
  }
  if (config_.pull_queues > 0 && chance(config_.pulls)) {
    pull_acts();
    return;
  }
  if (config_.schedules > 0 && chance(60)) {
    schedule_acts();
    return;
  }
  if (chance(config_.inspect) && !known_.empty()) {
    const auto& [id, tenant] = known_[rng_.below(known_.size())];
    submit({.kind = Op::Kind::inspect, .tenant = tenant, .id = id});
    return;
  }
  if (config_.burst > 0 && chance(20)) {
    const std::uint64_t count = 1 + rng_.below(config_.burst);
    if (chance(config_.batch)) {
      Op batch{.kind = Op::Kind::batch};
      for (std::uint64_t i = 0; i < count; ++i) {
        batch.items.push_back(make_publish());
      }
      submit(std::move(batch));
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      Op op = make_publish();
      submit(std::move(op));
    }
    return;
  }
  if (!repeatable_.empty() && chance(config_.dedup / 2)) {
    Op again = repeatable_[rng_.below(repeatable_.size())];
    ++again.repeated;
    submit(std::move(again));
    return;
  }
  submit(make_publish());
}

Op Simulation::make_publish() {
  auto message = std::make_shared<core::Message>();
  // The first tenant has most of the load: the others must not feel it.
  const std::uint64_t skewed = std::min(rng_.below(config_.tenants), rng_.below(config_.tenants));
  message->tenant = core::TenantId{static_cast<std::uint32_t>(1 + skewed)};
  const HostConfig& host = config_.hosts[rng_.below(config_.hosts.size())];
  message->host = host.name;
  message->url = host.name + "/hook";
  if (config_.url_groups > 0 && chance(300)) {
    message->topic = "u" + std::to_string(rng_.below(config_.url_groups));
    message->url.clear();
    message->host.clear();
  }
  message->body = "body " + std::to_string(next_op_);
  if (next_op_ % 5 == 0) {  // not drawn: seeds stay what they were
    message->body.append(16 * (1 + next_op_ % 3), '.');
  }
  message->notification = next_op_ % 7 == 0;
  message->timeout = Millis{1} + up_to(config_.timeout_max);
  if (config_.queues > 0 && chance(500)) {
    message->queue = "q" + std::to_string(rng_.below(config_.queues));
    const std::uint64_t group = rng_.below(config_.groups + 1);
    message->group = group == 0 ? "" : "g" + std::to_string(group);
  } else if (chance(config_.delayed)) {
    message->not_before = partition_now() + up_to(chance(100) ? Millis{600'000} : Millis{5000});
  }
  Op op{.kind = Op::Kind::publish};
  if (config_.flows > 0 && chance(500)) {
    const std::uint64_t flow = rng_.below(config_.flows);
    message->flow_key = "f" + std::to_string(flow);
    core::FlowKey limits;
    limits.parallelism = static_cast<std::uint32_t>(flow + rng_.below(chance(50) ? 4 : 1));
    if (config_.flow_rates && flow % 2 == 0) {
      limits.rate = static_cast<std::uint32_t>(1 + flow + (chance(30) ? rng_.below(3) : 0));
      limits.period = Millis{1000 * static_cast<std::int64_t>(1 + 2 * flow)};
    }
    if (!chance(100)) {
      op.flow = limits;
    }
  }
  message->retry.retries_max = static_cast<std::uint32_t>(rng_.below(config_.retries_max + 1));
  switch (rng_.below(3)) {
    case 0:
      message->retry.delay = core::ExponentialDelay{
          .first = Millis{1} + up_to(config_.retry_delay_max / 8),
          .factor = static_cast<double>(1 + rng_.below(3)),
          .cap = Millis{1} + config_.retry_delay_max,
          .jitter_percent = static_cast<std::uint32_t>(chance(500) ? rng_.below(60) : 0)};
      break;
    case 1: {
      core::TableDelay table;
      for (std::uint64_t i = rng_.below(4); i > 0; --i) {
        table.delays.push_back(up_to(config_.retry_delay_max));
      }
      message->retry.delay = std::move(table);
      break;
    }
    default:
      message->retry.delay = core::ExpressionDelay{
          std::string(known_expressions[rng_.below(known_expressions.size())].text)};
  }
  if (chance(config_.dedup)) {
    message->dedup_id = "d" + std::to_string(rng_.below(config_.dedup_ids));
  }
  if (chance(config_.callbacks)) {
    message->callback = make_callback(!message->queue.empty());
  }
  if (chance(config_.callbacks)) {
    message->failure_callback = make_callback(!message->queue.empty());
  }
  if (chance(config_.bad_requests)) {
    switch (rng_.below(3)) {
      case 0: message->tenant = core::TenantId{99}; break;
      case 1:
        message->retry.delay = core::ExpressionDelay{"retried +"};
        op.bad_policy = true;
        break;
      default: message->queue = "q0"; message->not_before = partition_now() + Millis{600'000};
    }
  }
  op.tenant = message->tenant;
  op.dedup_window = Millis{1} + up_to(config_.dedup_window_max);
  op.message = std::move(message);
  if (!op.message->dedup_id.empty()) {
    if (repeatable_.size() < remembered_max) {
      repeatable_.push_back(op);
    } else {
      repeatable_[rng_.below(repeatable_.size())] = op;
    }
  }
  return op;
}

core::Callback Simulation::make_callback(bool queued) {
  core::Callback callback;
  callback.host = config_.hosts[rng_.below(config_.hosts.size())].name;
  callback.url = callback.host + "/callback";
  callback.timeout = Millis{1} + up_to(config_.timeout_max);
  callback.retry.retries_max = static_cast<std::uint32_t>(rng_.below(config_.retries_max + 1));
  callback.retry.delay = core::TableDelay{{up_to(config_.retry_delay_max)}};
  if (!queued && chance(config_.delayed)) {
    callback.delay = up_to(Millis{5000});
  }
  return callback;
}

/// Few urls and fewer names, so that the same ones meet again and again.
void Simulation::change_group() {
  Op op{.kind = chance(700)   ? Op::Kind::add_endpoints
                : chance(800) ? Op::Kind::remove_endpoints
                              : Op::Kind::delete_group,
        .tenant = core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))},
        .name = "u" + std::to_string(rng_.below(config_.url_groups))};
  if (chance(config_.bad_requests)) {
    op.tenant = core::TenantId{99};
  }
  for (std::uint64_t i = rng_.below(4); i > 0; --i) {
    const std::string& host = config_.hosts[rng_.below(config_.hosts.size())].name;
    core::Endpoint endpoint{.url = host + "/e" + std::to_string(rng_.below(3)), .host = host};
    if (chance(500)) {
      endpoint.name = "n" + std::to_string(rng_.below(4));
    }
    op.endpoints.push_back(std::move(endpoint));
  }
  submit(std::move(op));
}

/// By what some message has in common with others, now and then everything; of all times, or of
/// those before a while ago.
void Simulation::cancel_many() {
  if (model_.messages().empty()) {
    return;
  }
  auto like = model_.messages().begin();
  std::advance(like, rng_.below(model_.messages().size()));
  const core::Message& content = *like->second.content;
  Op op{.kind = Op::Kind::start_cancel, .tenant = content.tenant};
  core::MessageFilter& filter = op.selection.filter;
  if (!content.queue.empty() && chance(700)) {
    filter.queues = {content.queue};
  } else if (!content.flow_key.empty() && chance(700)) {
    filter.flow_keys = {content.flow_key};
  } else if (chance(850)) {
    filter.urls = {content.url};
  }
  if (chance(200)) {
    filter.to = content.created_at;
  }
  if (chance(200)) {
    op.selection.count_max = 1 + rng_.below(4);
  }
  submit(std::move(op));
}

void Simulation::cancel_something() {
  if (config_.cancel_tasks > 0 && chance(config_.cancel_tasks)) {
    cancel_many();
    return;
  }
  if (known_.empty()) {
    return;
  }
  if (chance(config_.callbacks)) {
    std::vector<const core::Message*> callbacks;
    for (const auto& [seq, message] : model_.messages()) {
      if (!core::is_final(message.status) && message.content->callback_of.seq != core::Seq{}) {
        callbacks.push_back(message.content.get());
      }
    }
    if (!callbacks.empty()) {
      const core::Message& one = *callbacks[rng_.below(callbacks.size())];
      Op op{.kind = Op::Kind::cancel, .tenant = one.tenant, .id = one.id};
      op.unnamed = next_op_ % 2 == 0;  // not drawn: seeds stay what they were
      submit(std::move(op));
      return;
    }
  }
  // Old ones and young ones; sometimes with a wrong id, sometimes by the wrong tenant.
  const std::uint64_t at =
      chance(500) ? rng_.below(known_.size()) : known_.size() - 1 - rng_.below(known_.size()) / 8;
  auto [id, tenant] = known_[at];
  if (chance(60)) {
    tenant = core::TenantId{1 + tenant.value() % config_.tenants};
  }
  if (chance(60)) {
    id.nonce ^= 1;
  }
  if (chance(30)) {
    id.seq = core::Seq{id.seq.value() + 5000};
  }
  Op op{.kind = Op::Kind::cancel, .tenant = tenant, .id = id};
  op.unnamed = next_op_ % 2 == 0;
  submit(op);
  if (chance(config_.cancel_again)) {
    heap_.after(up_to(config_.gap * 20), [this, op] { submit(op); });
  }
}

/// Reads the tenant now and changes it a little later: another one may have been there meanwhile.
void Simulation::change_credentials(core::TenantId tenant) {
  const core::Tenant& seen = model_.tenants().at(tenant);
  // Not drawn: seeds stay what they were.
  if (next_op_ % 3 == 0) {
    Op op{.kind = Op::Kind::set_limits, .tenant = tenant};
    op.limits.weight = static_cast<std::uint32_t>(1 + next_op_ % 7);
    // A burst that is below its rate must be refused.
    op.limits.classes[next_op_ % core::rate_classes] = {.rate = 10, .burst = 9 + next_op_ % 4};
    heap_.after(up_to(config_.gap * 20), [this, op = std::move(op)] { submit(op); });
    return;
  }
  Op op{.kind = Op::Kind::change_tenant, .tenant = tenant, .credentials = seen, .if_still = seen};
  op.credentials.token_digests = {seen.name + " " + std::to_string(next_op_)};
  heap_.after(up_to(config_.gap * 20), [this, op = std::move(op)] { submit(op); });
}

void Simulation::operator_acts() {
  const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  if (chance(100)) {
    change_credentials(tenant);
    return;
  }
  if (chance(config_.dead_letters * 4)) {
    const auto& letters = model_.dead_letters();
    if (letters.empty()) {
      return;
    }
    auto at = letters.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(letters.size())));
    Op op{.kind = chance(600) ? Op::Kind::retry_dead_letter : Op::Kind::delete_dead_letter,
          .tenant = at->tenant,
          .dead_letter = *at};
    if (op.kind == Op::Kind::retry_dead_letter && chance(400)) {
      const auto changes = std::make_shared<core::RetryDeadLetter::Changes>();
      changes->retries_max = static_cast<std::uint32_t>(rng_.below(4));
      changes->labels = {"changed"};
      changes->headers = {{"X-Changed", std::to_string(rng_.below(10))}};
      if (chance(500)) {
        changes->not_before = partition_now() + up_to(config_.gap * 50);
      }
      // Not drawn: seeds stay what they were.
      if (next_op_ % 3 != 0) {
        changes->body = "mended " + std::to_string(next_op_);
      }
      if (next_op_ % 2 != 0) {
        const std::string& host = config_.hosts[next_op_ % config_.hosts.size()].name;
        changes->to = {.url = host + "/elsewhere", .host = host};
      }
      op.changes = changes;
    }
    if (chance(50)) {
      op.dead_letter.failed_at += Millis{1};
    }
    if (chance(50)) {
      op.tenant = tenant;
    }
    submit(op);
    if (chance(100)) {
      submit(op);  // twice: the second finds nothing
    }
    return;
  }
  if (config_.queues > 0 && chance(500)) {
    Op op{.kind = Op::Kind::queue,
          .tenant = tenant,
          .name = "q" + std::to_string(rng_.below(config_.queues))};
    if (chance(500)) {
      op.parallelism = static_cast<std::uint32_t>(rng_.below(40) == 0 ? 0 : 1 + rng_.below(4));
    }
    if (chance(600)) {
      op.paused = chance(400);
    }
    if (chance(200)) {
      op.kind = Op::Kind::delete_queue;
    }
    submit(op);
    return;
  }
  if (config_.flows > 0) {
    submit(change_a_limit(tenant));
  }
}

Op Simulation::change_a_limit(core::TenantId tenant) {
  Op op{.kind = Op::Kind::pause_flow,
        .tenant = tenant,
        .name = "f" + std::to_string(rng_.below(config_.flows)),
        .paused = chance(400)};
  switch (rng_.below(8)) {
    case 0:
      op.kind = Op::Kind::pin_flow;
      if (chance(600)) {
        op.parallelism = static_cast<std::uint32_t>(rng_.below(40) == 0 ? 0 : 1 + rng_.below(4));
      }
      if (!op.parallelism || chance(500)) {
        op.rate = static_cast<std::uint32_t>(1 + rng_.below(4));
        op.period = Millis{1} + up_to(Millis{10'000});
      }
      return op;
    case 1:
      op.kind = Op::Kind::unpin_flow;
      op.unpin_parallelism = chance(700);
      op.unpin_rate = chance(700);
      return op;
    case 2: op.kind = Op::Kind::reset_flow; return op;
    case 3: op.kind = Op::Kind::inspect_flows; return op;
    default: return op;
  }
}

/// I13, seen from outside: nothing leaves the server before what justifies it is durable.
void Simulation::check_left(store::BatchSeq batch, const std::string& what) {
  require(batch <= store_.last_synced(), "I13 durable first",
          what + " left before batch " + std::to_string(batch) + " was durable");
  released_ = std::max(released_, batch);
}

void Simulation::answered(const Op& op, const core::Reply& reply, const Pending& of) {
  check_left(of.batch, "a reply");
  ++outcome_.acks;
  if (!reply) {
    digest(reply.error().message);
    if (op.kind == Op::Kind::receive) {
      receivers_.erase(op.receiver);
    }
    return;
  }
  const auto learn_all = [this](const core::FannedOut& all, core::TenantId tenant) {
    for (const core::FannedOut::One& one : all.messages) {
      learn(one.published, tenant, true);
    }
  };
  if (const auto* told = reply->get_if<core::OnceAnswered>()) {
    once_answered(op, *told, of);
  } else if (const auto* applied = reply->get_if<ledger::LedgerApplied>()) {
    ledger_answered(op, *applied);
  } else if (const auto* received = reply->get_if<core::Received>()) {
    hand_over(*received, of);
  } else if (const auto* published = reply->get_if<core::Published>()) {
    learn(*published, op.tenant, op.kind == Op::Kind::publish);
  } else if (const auto* inbound = reply->get_if<core::InboundReceived>()) {
    learn({inbound->message, inbound->duplicate}, op.tenant, true);
  } else if (const auto* released = reply->get_if<core::QuarantineReleased>()) {
    for (const core::QuarantineReleased::One& one : released->requests) {
      if (one.outcome != core::QuarantineReleased::Outcome::gone) {
        const bool before = one.outcome == core::QuarantineReleased::Outcome::duplicate;
        learn({one.message, before}, op.tenant, true);
      }
    }
  } else if (const auto* all = reply->get_if<core::FannedOut>()) {
    learn_all(*all, op.tenant);
  } else if (const auto* topic = reply->get_if<core::TopicPublished>()) {
    digest(core::uuid_text(topic->id));
  } else if (const auto* transacted = reply->get_if<core::Transacted>()) {
    digest(transacted->id);
    for (const core::Performed& one : transacted->results) {
      if (const auto* sent = std::get_if<core::Published>(&one)) {
        learn(*sent, op.tenant, true);
      } else if (const auto* fan = std::get_if<core::FannedOut>(&one)) {
        learn_all(*fan, op.tenant);
      }
    }
  } else if (const auto* many = reply->get_if<core::BatchPublished>()) {
    for (std::size_t i = 0; i < many->items.size(); ++i) {
      const auto& item = many->items[i];
      if (!item) {
        digest(item.error().message);
      } else if (const auto* one = std::get_if<core::Published>(&*item)) {
        learn(*one, op.items[i].tenant, true);
      } else {
        learn_all(std::get<core::FannedOut>(*item), op.items[i].tenant);
      }
    }
  }
}

void Simulation::learn(const core::Published& published, core::TenantId tenant, bool fresh) {
  digest(core::to_text(published.id));
  if (fresh) {
    require(published.deduplicated || !acked_.contains(published.id.seq) ||
                acked_.at(published.id.seq) == published.id,
            "I7 numbers", name_of(published.id.seq) + " was given out twice");
  }
  acked_[published.id.seq] = published.id;
  known_.emplace_back(published.id, tenant);
  if (known_.size() > 4 * remembered_max) {
    known_.erase(known_.begin(), known_.begin() + remembered_max);
  }
}

/// The answer was lost or never came: who does not know asks again.
void Simulation::unanswered(Op op) {
  if (op.kind == Op::Kind::complete || op.kind == Op::Kind::tenant ||
      op.kind == Op::Kind::put_source || in_process(op.kind) || !publishing_) {
    return;
  }
  if (op.repeated < 3 && chance(700)) {
    ++op.repeated;
    heap_.after(up_to(config_.gap * 10), [this, op = std::move(op)] { submit(op); });
  }
}

}  // namespace hk::sim
