#include "sim/op.h"

#include <utility>

#include "base/assert.h"
#include "sim/crons.h"

namespace hk::sim {

namespace {

core::Publish to_publish(const Op& op) {
  return {.message = std::make_unique<core::Message>(*op.message),
          .dedup_window = op.dedup_window,
          .flow = op.flow,
          .delay = op.delay,
          .own_delay = op.delay > Millis{0}};
}

core::PublishBatch to_batch(const std::vector<Op>& items) {
  core::PublishBatch batch;
  for (const Op& item : items) {
    batch.items.push_back(to_publish(item));
  }
  return batch;
}

core::ChangeVisibility to_change(const Op& op) {
  core::ChangeVisibility change{.tenant = op.tenant, .queue = op.name};
  for (const core::Receipt& receipt : op.receipts) {
    change.items.push_back({receipt, op.visibility.value_or(Millis{0})});
  }
  return change;
}

core::Wording to_wording(const TopicText& text, const std::string& protocol) {
  core::Wording wording{.protocol = protocol, .text = text.body(protocol)};
  HK_ASSERT(wording.subject.read_attributes(text.attributes()));
  if (text.body_read) {
    HK_ASSERT(wording.subject.read_body(wording.text));
  }
  if (text.enveloped) {
    core::Form form{.text = "<" + wording.text + " for >"};
    form.places = {{form.text.size() - 1, core::Form::Hole::subscription}};
    wording.envelope = std::move(form);
  }
  return wording;
}

core::PublishToTopic to_publish_to_topic(const Op& op) {
  core::PublishToTopic command{
      .tenant = op.tenant,
      .topic = op.name,
      .attributes = op.text->attributes(),
      .group = op.text->group,
      .dedup_id = op.text->dedup_id,
      .sender = "sim",
      .headers = {{"X-Subscription", {.places = {{0, core::Form::Hole::subscription}}}}},
      .raw_headers = {{"X-Raw", {.text = "true"}}},
      .timeout = op.text->timeout};
  command.wordings.push_back(to_wording(*op.text, ""));
  command.wordings.push_back(to_wording(*op.text, "http"));
  return command;
}

core::Subscribe to_subscribe(const Op& op) {
  core::Subscribe command{.tenant = op.tenant, .topic = op.name, .subscription = *op.subscription};
  if (op.invited) {
    command.invitation = std::make_unique<core::Message>();
    command.invitation->body = invitation_body(*op.subscription);
    command.invitation->timeout = invitation_timeout;
  }
  return command;
}

/// Remembers what it was asked; answers with a text that tells one execution from another.
class Adapter final : public core::Answers {
 public:
  Adapter(std::uint64_t number, std::shared_ptr<OnceText::Seen> seen)
      : number_(number), seen_(std::move(seen)) {}

  std::optional<core::KeptAnswer> keep(const core::Reply& reply) override {
    HK_ASSERT(!seen_->reply);
    seen_->reply = reply;
    seen_->body = "answer " + std::to_string(number_);
    const std::uint32_t status = kept_status(reply);
    if (status == 0) {
      return std::nullopt;
    }
    return core::KeptAnswer{
        .answer = {.head = {.status = status, .content_type = "text/plain"}, .body = seen_->body}};
  }

 private:
  const std::uint64_t number_;
  const std::shared_ptr<OnceText::Seen> seen_;
};

core::EndJob to_end_job(const Op& op) {
  core::EndJob end{.tenant = op.tenant,
                   .id = op.id,
                   .succeeded = op.delivered,
                   .result = op.delivered ? op.result : "",
                   .error = op.delivered ? "" : "said so itself",
                   .give_up = op.give_up,
                   .retry_after = op.retry_after};
  if (op.receipts.empty()) {
    const auto named =
        static_cast<std::uint16_t>(op.partition.value() + (op.other_partition ? 1 : 0));
    end.lease = core::PushLease{core::PartitionId{named}, op.fence};
  } else {
    end.lease = op.receipts.front();
  }
  return end;
}

core::HeldKey held_key(const Op& op) { return {op.tenant, key_space, op.name, op.key.token}; }

core::EndKey to_end_key(const Op& op) {
  return {held_key(op), op.key.failed, op.key.answer,
          op.key.ends_sooner ? std::optional(op.key.kept_for) : std::nullopt};
}

core::InboundEvent to_event(const Op& op, const std::string& event_id) {
  return {.id = event_id, .type = "t", .bytes = op.message->body.size(), .publish = to_publish(op)};
}

core::ReleaseQuarantined to_release(const Op& op) {
  core::ReleaseQuarantined command{
      .tenant = op.tenant, .source = op.name, .unverified = op.source->unverified};
  for (std::size_t i = 0; i < op.items.size(); ++i) {
    const auto& [number, event_id] = op.source->released[i];
    command.requests.push_back({number, to_event(op.items[i], event_id)});
  }
  return command;
}

core::TransactOperation to_operation(const Op& op) {
  switch (op.kind) {
    case Op::Kind::publish: return to_publish(op);
    case Op::Kind::end_job: return to_end_job(op);
    case Op::Kind::cancel: return core::CancelMessage{op.tenant, op.id};
    case Op::Kind::end_key: return to_end_key(op);
    case Op::Kind::release_key: return core::ReleaseKey{held_key(op)};
    default: HK_ASSERT(false);
  }
  std::unreachable();
}

core::Transact to_transact(const Op& op) {
  core::Transact transact{.tenant = op.tenant, .preconditions = op.conditions};
  for (const Op& item : op.items) {
    transact.operations.push_back(to_operation(item));
  }
  return transact;
}

}  // namespace

std::string invitation_body(const core::Subscription& subscription) {
  return "confirm by " + subscription.token;
}

std::string TopicText::body(std::string_view protocol) const {
  return R"({"n":)" + std::to_string(looked_at.n) + R"(,"number":)" + std::to_string(number) +
         (protocol == "http" ? R"(,"http":true})" : "}");
}

std::vector<core::Attribute> TopicText::attributes() const {
  return looked_at.a.empty() ? std::vector<core::Attribute>{}
                             : std::vector<core::Attribute>{{"a", "String", looked_at.a}};
}

bool in_process(Op::Kind kind) {
  return kind == Op::Kind::receive || kind == Op::Kind::stop_receiving ||
         kind == Op::Kind::give_back || kind == Op::Kind::stop_claiming;
}

std::uint32_t kept_status(const core::Reply& reply) {
  if (reply) {
    const auto* const claimed = reply->get_if<core::KeyClaimed>();
    return claimed != nullptr && claimed->outcome == core::KeyClaimed::Outcome::held ? 0 : 200;
  }
  return reply.error().kind == ErrorKind::unavailable ? 0 : 404;
}

core::Command to_command(const Op& op) {
  if (op.once) {
    Op inner = op;
    inner.once.reset();
    return core::Once{.tenant = op.tenant,
                      .space = core::api_space,
                      .key = op.once->key,
                      .hash = op.once->hash,
                      .kept_for = op.once->kept_for,
                      .command = core::boxed(to_command(inner)),
                      .answers = std::make_shared<Adapter>(op.number, op.once->seen)};
  }
  switch (op.kind) {
    case Op::Kind::publish: return to_publish(op);
    case Op::Kind::complete:
      return core::CompleteAttempt{
          .id = op.id,
          .fence = op.fence,
          .attempt = {.response_status = op.response_status,
                      .error = op.delivered ? "" : "answered with an error",
                      .response_body = "r" + std::to_string(op.number)},
          .delivered = op.delivered,
          .give_up = op.give_up,
          .retry_after = op.retry_after};
    case Op::Kind::end_job: return to_end_job(op);
    case Op::Kind::cancel: return core::CancelMessage{op.tenant, op.id, op.unnamed};
    case Op::Kind::start_cancel: return core::StartCancelTask{op.tenant, op.selection};
    case Op::Kind::retry_dead_letter:
      return core::RetryDeadLetter{op.tenant, op.dead_letter, op.changes};
    case Op::Kind::delete_dead_letter:
      return core::DeleteDeadLetterCommand{op.tenant, op.dead_letter};
    case Op::Kind::queue: return core::UpsertQueue{op.tenant, op.name, op.parallelism, op.paused};
    case Op::Kind::pause_flow:
      return core::SetFlowKeyPaused{op.tenant, op.name, op.paused.value_or(false)};
    case Op::Kind::delete_queue: return core::DeleteQueueCommand{op.tenant, op.name};
    case Op::Kind::pin_flow:
      return core::PinFlowKey{op.tenant, op.name, op.parallelism, op.rate, op.period};
    case Op::Kind::unpin_flow:
      return core::UnpinFlowKey{op.tenant, op.name, op.unpin_parallelism, op.unpin_rate};
    case Op::Kind::reset_flow: return core::ResetFlowRate{op.tenant, op.name};
    case Op::Kind::inspect_flows: return core::InspectFlowKeys{.tenant = op.tenant};
    case Op::Kind::tenant: return core::UpsertTenant{.tenant = {.name = op.name}};
    case Op::Kind::change_tenant:
      return core::UpsertTenant{.tenant = op.credentials, .if_still = op.if_still};
    case Op::Kind::set_limits: return core::SetTenantLimits{op.tenant, op.limits};
    case Op::Kind::schedule: {
      core::UpsertSchedule upsert;
      upsert.schedule.tenant = op.tenant;
      upsert.schedule.id = op.name;
      upsert.schedule.cron = op.cron ? known_crons.at(*op.cron).text : "every now and then";
      upsert.schedule.prototype = *op.message;
      upsert.schedule.delay = op.delay;
      upsert.schedule.flow = op.flow;
      return upsert;
    }
    case Op::Kind::delete_schedule: return core::DeleteScheduleCommand{op.tenant, op.name};
    case Op::Kind::pause_schedule:
      return core::SetSchedulePaused{op.tenant, op.name, op.paused.value_or(false)};
    case Op::Kind::inspect: return core::Inspect{op.tenant, op.id};
    case Op::Kind::batch: return to_batch(op.items);
    case Op::Kind::add_endpoints: return core::UpsertEndpoints{op.tenant, op.name, op.endpoints};
    case Op::Kind::remove_endpoints: return core::RemoveEndpoints{op.tenant, op.name, op.endpoints};
    case Op::Kind::delete_group:
      return core::DeleteTopic{op.tenant, core::TopicKind::url_group, op.name};
    case Op::Kind::make_pull_queue: return core::CreatePullQueue{op.tenant, op.name, *op.pull};
    case Op::Kind::set_pull_queue: return core::SetPullSettings{op.tenant, op.name, *op.pull};
    case Op::Kind::purge_queue: return core::PurgeQueue{op.tenant, op.name};
    case Op::Kind::count_queue: return core::CountQueue{op.tenant, op.name};
    case Op::Kind::receive:
      return core::Receive{op.tenant,     op.name, op.receiver,  op.max,
                           op.visibility, op.wait, op.attempt_id};
    case Op::Kind::stop_receiving: return core::StopReceiving{op.tenant, op.name, op.receiver};
    case Op::Kind::delete_received: return core::DeleteReceived{op.tenant, op.name, op.receipts};
    case Op::Kind::change_visibility: return to_change(op);
    case Op::Kind::give_back: return core::GiveBack{op.tenant, op.name, op.receiver, op.receipts};
    case Op::Kind::start_move:
      return core::StartMoveTask{op.tenant, op.name, op.destination, op.rate.value_or(0)};
    case Op::Kind::cancel_move: return core::CancelMoveTask{op.tenant, op.name, op.move_number};
    case Op::Kind::list_moves: return core::ListMoveTasks{op.tenant, op.name};
    case Op::Kind::list_halted: return core::ListHalted{op.tenant, op.name};
    case Op::Kind::resolve_halted:
      return core::ResolveHalted{op.tenant, op.name, op.group, op.action};
    case Op::Kind::create_topic: return core::CreateTopic{*op.topic};
    case Op::Kind::set_topic: return core::SetTopic{*op.topic};
    case Op::Kind::subscribe: return to_subscribe(op);
    case Op::Kind::confirm_subscription:
      return core::ConfirmSubscription{op.tenant, op.name, op.subscription->token, op.by_owner,
                                       op.owner_ends_it};
    case Op::Kind::unsubscribe:
      return core::Unsubscribe{op.tenant, op.name, op.subscription->id, op.by_owner};
    case Op::Kind::set_subscription:
      return core::SetSubscription{op.tenant, op.name, op.topic->incarnation, op.topic->version,
                                   *op.subscription};
    case Op::Kind::delete_topic: return core::DeleteTopic{op.tenant, core::TopicKind::sns, op.name};
    case Op::Kind::publish_to_topic: return to_publish_to_topic(op);
    case Op::Kind::claim_key:
      return core::ClaimKey{op.tenant,    key_space,       op.name,     op.key.hash, "",
                            op.key.lease, op.key.kept_for, op.key.wait, op.receiver};
    case Op::Kind::stop_claiming: return core::StopClaiming{op.tenant, op.receiver};
    case Op::Kind::renew_key: return core::RenewKey{held_key(op), op.key.lease};
    case Op::Kind::end_key: return to_end_key(op);
    case Op::Kind::release_key: return core::ReleaseKey{held_key(op)};
    case Op::Kind::delete_key: return core::DeleteKey{op.tenant, key_space, op.name};
    case Op::Kind::transact: return to_transact(op);
    case Op::Kind::ledger: return core::ledger::Apply(*op.ledger);
    case Op::Kind::put_source:
      return core::PutSource{.source = op.source->source,
                             .if_version = op.source->if_version,
                             .url_group = op.source->url_group};
    case Op::Kind::delete_source: return core::DeleteSource{op.tenant, op.name};
    case Op::Kind::receive_inbound:
      return core::ReceiveInbound{op.tenant, op.name, to_event(op, op.source->event_id)};
    case Op::Kind::quarantine:
      return core::QuarantineInbound{
          .tenant = op.tenant, .source = op.name, .request = op.source->request};
    case Op::Kind::release: return to_release(op);
    case Op::Kind::drop_quarantined:
      return core::DropQuarantined{op.tenant, op.name, op.source->number};
  }
  std::unreachable();
}

}  // namespace hk::sim
