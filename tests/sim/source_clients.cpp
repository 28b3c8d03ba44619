// Services that send webhooks, some of them twice; strangers who send what is not signed; and
// people who look after the sources.
#include <iterator>

#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::uint64_t released_max = 4;

}  // namespace

/// What may become of an event: a message without an id, a queue's order or a policy of its own.
Op Simulation::make_event(core::TenantId tenant) {
  Op op = make_publish();
  auto message = std::make_shared<core::Message>(*op.message);
  message->tenant = tenant;
  message->dedup_id.clear();
  message->queue.clear();
  message->group.clear();
  message->flow_key.clear();
  message->retry.delay = core::TableDelay{{Millis{100}}};
  op.message = std::move(message);
  op.tenant = tenant;
  op.flow.reset();
  op.bad_policy = false;
  op.dedup_window = Millis{0};
  op.delay = Millis{0};
  return op;
}

std::string Simulation::some_event_id() {
  return chance(50) ? "" : "e" + std::to_string(rng_.below(config_.dedup_ids));
}

Op Simulation::make_put_source(core::TenantId tenant, const std::string& id) {
  const auto known = model_.sources().find({tenant, id});
  SourceText text;
  text.if_version = known == model_.sources().end() ? 0 : known->second.version;
  text.if_version += chance(100) ? 1 : 0;  // somebody else was faster
  text.source = {.tenant = tenant,
                 .id = id,
                 .name = "n" + std::to_string(tenant.value()) + "-" +
                         std::to_string(rng_.below(config_.sources)),
                 .enabled = !chance(100),
                 .secrets = {{.id = "sec", .sealed = std::to_string(rng_.below(100))}},
                 .dedup_window = chance(100) ? Millis{0} : up_to(config_.dedup_window_max),
                 .settings = "{}"};
  if (config_.url_groups > 0 && chance(300)) {
    text.url_group = "u" + std::to_string(rng_.below(config_.url_groups));
  }
  return {.kind = Op::Kind::put_source,
          .tenant = tenant,
          .name = id,
          .source = std::make_shared<const SourceText>(std::move(text))};
}

Op Simulation::make_release(core::TenantId tenant, const std::string& id) {
  Op op{.kind = Op::Kind::release, .tenant = tenant, .name = id};
  SourceText text{.unverified = chance(300)};
  const auto known = model_.sources().find({tenant, id});
  const core::QuarantineState state =
      known == model_.sources().end() ? core::QuarantineState{} : known->second.quarantine;
  const std::uint64_t count = 1 + rng_.below(released_max);
  std::uint64_t number = state.next - std::min(state.next, 1 + rng_.below(released_max));
  for (std::uint64_t i = 0; i < count; ++i) {
    text.released.emplace_back(++number, some_event_id());
    op.items.push_back(make_event(tenant));
  }
  op.source = std::make_shared<const SourceText>(std::move(text));
  return op;
}

void Simulation::source_acts() {
  const core::TenantId tenant{chance(config_.bad_requests)
                                  ? 99U
                                  : static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  // Ids are not given out twice.
  std::vector<std::string> ids;
  for (const auto& [name, source] : model_.sources()) {
    if (name.first == tenant) {
      ids.push_back(name.second);
    }
  }
  const bool there = !ids.empty() && !chance(30);
  const std::string id = there ? ids[rng_.below(ids.size())] : "src" + std::to_string(next_op_);
  const std::uint64_t what = rng_.below(1000);
  if (!there ? what < 500 : what < 60) {
    submit(make_put_source(tenant, id));
    return;
  }
  if (what < 80) {
    submit({.kind = Op::Kind::delete_source, .tenant = tenant, .name = id});
    return;
  }
  SourceText text;
  if (what < 600) {
    Op op = make_event(tenant);
    op.kind = Op::Kind::receive_inbound;
    op.name = id;
    text.event_id = some_event_id();
    op.source = std::make_shared<const SourceText>(std::move(text));
    if (chance(300)) {  // both copies are on their way
      submit(op);
    }
    submit(std::move(op));
    return;
  }
  if (what < 850) {
    text.request = core::Quarantined{.received_at = partition_now() + Millis{5} - up_to(Millis{10}),
                                     .method = "POST",
                                     .target = "/in/" + id,
                                     .body = std::string(rng_.below(60), 'b'),
                                     .code = "signature_mismatch",
                                     .details = "{}"};
    submit({.kind = Op::Kind::quarantine,
            .tenant = tenant,
            .name = id,
            .source = std::make_shared<const SourceText>(std::move(text))});
    return;
  }
  if (what < 960) {
    submit(make_release(tenant, id));
    return;
  }
  const auto known = model_.sources().find({tenant, id});
  text.number =
      known == model_.sources().end()
          ? 1
          : known->second.quarantine.next - std::min(known->second.quarantine.next, rng_.below(4));
  submit({.kind = Op::Kind::drop_quarantined,
          .tenant = tenant,
          .name = id,
          .source = std::make_shared<const SourceText>(std::move(text))});
}

}  // namespace hk::sim
