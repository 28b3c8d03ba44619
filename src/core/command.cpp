#include "core/command.h"

#include <concepts>

#include "core/visit.h"

namespace hk::core {

namespace {

/// The variant among them that has One.
template <class One, class Parts>
struct Found;
template <class One, class First, class... Rest>
struct Found<One, std::variant<First, Rest...>>
    : std::conditional_t<is_in<One, First>, std::type_identity<First>,
                         Found<One, std::variant<Rest...>>> {};
template <class One>
struct Found<One, std::variant<>> {};

TenantId named_by(const Publish& publish) { return publish.message->tenant; }
TenantId named_by(const PublishBatch& batch) {
  return batch.items.empty() ? TenantId{} : named_by(batch.items.front());
}
TenantId named_by(const CompleteAttempt& /*report*/) { return {}; }
TenantId named_by(const PutDocumentCommand& put) { return put.document.tenant; }
TenantId named_by(const CreateTopic& create) { return create.topic.tenant; }
TenantId named_by(const SetTopic& set) { return set.topic.tenant; }
TenantId named_by(const UpsertSchedule& upsert) { return upsert.schedule.tenant; }
TenantId named_by(const PutSource& put) { return put.source.tenant; }
TenantId named_by(const UpsertTenant& upsert) { return upsert.tenant.id; }
TenantId named_by(const webhook::CreateEventType& create) { return create.type.tenant; }
TenantId named_by(const webhook::PutSettings& put) { return put.settings.tenant; }
TenantId named_by(const webhook::PublishEvent& publish) { return publish.event.tenant; }
template <class One>
  requires std::same_as<decltype(One::tenant), TenantId>
TenantId named_by(const One& one) {
  return one.tenant;
}

}  // namespace

template <class Of>
OneOf<Of>::OneOf() = default;
template <class Of>
OneOf<Of>::OneOf(const OneOf&)
  requires std::is_copy_constructible_v<Parts>
= default;
template <class Of>
OneOf<Of>::OneOf(OneOf&&) noexcept = default;
template <class Of>
OneOf<Of>& OneOf<Of>::operator=(const OneOf&)
  requires std::is_copy_constructible_v<Parts>
= default;
template <class Of>
OneOf<Of>& OneOf<Of>::operator=(OneOf&&) noexcept = default;
template <class Of>
OneOf<Of>::~OneOf() = default;

template <class Of>
template <class One>
  requires is_in<One, typename OneOf<Of>::Parts>
OneOf<Of>::OneOf(One one)
    : parts_(std::in_place_type<typename Found<One, Parts>::type>, std::move(one)) {}

template <class Of>
template <class One>
const One* OneOf<Of>::get_if() const {
  const auto* const part = std::get_if<typename Found<One, Parts>::type>(&parts_);
  return part == nullptr ? nullptr : std::get_if<One>(part);
}

template class OneOf<Commands>;
template class OneOf<Replies>;

TenantId tenant_of(const Command& command) {
  return visit([](const auto& one) { return named_by(one); }, command);
}

void DropCommand::operator()(OneOf<Commands>* command) const { delete command; }
BoxedCommand boxed(Command command) { return BoxedCommand(new Command(std::move(command))); }

const Command& effect_of(const Command& command) {
  const auto* const once = command.get_if<Once>();
  return once != nullptr && once->command ? *once->command : command;
}

#define HK_COMMAND(One)             \
  template Command::OneOf(One one); \
  template const One* Command::get_if() const;
#define HK_REPLY(One)                      \
  template OneOf<Replies>::OneOf(One one); \
  template const One* OneOf<Replies>::get_if() const;

HK_COMMAND(Publish)
HK_COMMAND(PublishBatch)
HK_COMMAND(CompleteAttempt)
HK_COMMAND(EndJob)
HK_COMMAND(CancelMessage)
HK_COMMAND(RetryDeadLetter)
HK_COMMAND(DeleteDeadLetterCommand)
HK_COMMAND(Inspect)
HK_REPLY(Published)
HK_REPLY(FannedOut)
HK_REPLY(BatchPublished)
HK_REPLY(JobEnded)
HK_REPLY(Canceled)
HK_REPLY(Inspected)

HK_COMMAND(UpsertQueue)
HK_COMMAND(DeleteQueueCommand)
HK_COMMAND(CreatePullQueue)
HK_COMMAND(SetPullSettings)
HK_COMMAND(PurgeQueue)
HK_REPLY(QueueMade)

HK_COMMAND(Receive)
HK_COMMAND(StopReceiving)
HK_COMMAND(DeleteReceived)
HK_COMMAND(ChangeVisibility)
HK_COMMAND(GiveBack)
HK_COMMAND(CountQueue)
HK_COMMAND(ListHalted)
HK_COMMAND(ResolveHalted)
HK_REPLY(QueueCounted)
HK_REPLY(Settled)
HK_REPLY(HaltedListed)
HK_REPLY(Received)
HK_REPLY(Later)

HK_COMMAND(StartMoveTask)
HK_COMMAND(CancelMoveTask)
HK_COMMAND(ListMoveTasks)
HK_COMMAND(StartCancelTask)
HK_COMMAND(StartReplay)
HK_COMMAND(ChangeReplay)
HK_COMMAND(StartExpunge)
HK_REPLY(TaskStarted)
HK_REPLY(MoveTaskCanceled)
HK_REPLY(MoveTasksListed)
HK_REPLY(TaskStored)

HK_COMMAND(UpsertEndpoints)
HK_COMMAND(RemoveEndpoints)
HK_COMMAND(SetGroupOptions)
HK_COMMAND(CreateTopic)
HK_COMMAND(SetTopic)
HK_COMMAND(DeleteTopic)
HK_COMMAND(Subscribe)
HK_COMMAND(ConfirmSubscription)
HK_COMMAND(Unsubscribe)
HK_COMMAND(SetSubscription)
HK_COMMAND(PublishToTopic)
HK_REPLY(TopicMade)
HK_REPLY(Subscribed)
HK_REPLY(TopicPublished)

HK_COMMAND(ClaimKey)
HK_COMMAND(StopClaiming)
HK_COMMAND(RenewKey)
HK_COMMAND(EndKey)
HK_COMMAND(ReleaseKey)
HK_COMMAND(DeleteKey)
HK_COMMAND(Once)
HK_REPLY(KeyClaimed)
HK_REPLY(KeyChanged)
HK_REPLY(OnceAnswered)
HK_REPLY(OnceReused)

HK_COMMAND(UpsertSchedule)
HK_COMMAND(DeleteScheduleCommand)
HK_COMMAND(SetSchedulePaused)
HK_REPLY(ScheduleStored)

HK_COMMAND(PinFlowKey)
HK_COMMAND(UnpinFlowKey)
HK_COMMAND(ResetFlowRate)
HK_COMMAND(InspectFlowKeys)
HK_COMMAND(SetFlowKeyPaused)
HK_REPLY(FlowKeysInspected)

HK_COMMAND(PutDocumentCommand)
HK_COMMAND(DeleteDocumentCommand)

HK_COMMAND(UpsertTenant)
HK_COMMAND(SetTenantLimits)
HK_REPLY(TenantStored)

HK_COMMAND(ledger::Apply)
HK_REPLY(ledger::LedgerApplied)

HK_COMMAND(Transact)
HK_REPLY(Transacted)

HK_COMMAND(webhook::CreateApplication)
HK_COMMAND(webhook::ChangeApplication)
HK_COMMAND(webhook::DeleteApplication)
HK_COMMAND(webhook::CreateEventType)
HK_COMMAND(webhook::ChangeEventType)
HK_COMMAND(webhook::DeleteEventType)
HK_COMMAND(webhook::ImportEventTypes)
HK_COMMAND(webhook::CreateEndpoint)
HK_COMMAND(webhook::ChangeEndpoint)
HK_COMMAND(webhook::DeleteEndpoint)
HK_COMMAND(webhook::RotateSecret)
HK_COMMAND(webhook::ChangeHeaders)
HK_COMMAND(webhook::ChangeDelivery)
HK_COMMAND(webhook::PauseEndpoint)
HK_COMMAND(webhook::ResumeEndpoint)
HK_COMMAND(webhook::CancelWaiting)
HK_COMMAND(webhook::InspectEndpoint)
HK_COMMAND(webhook::PutSettings)
HK_COMMAND(webhook::CreateToken)
HK_COMMAND(webhook::ExpireTokens)
HK_COMMAND(webhook::DropToken)
HK_COMMAND(webhook::CreateIntegration)
HK_COMMAND(webhook::ChangeIntegration)
HK_COMMAND(webhook::DeleteIntegration)
HK_COMMAND(webhook::RotateIntegrationKey)
HK_COMMAND(webhook::PublishEvent)
HK_COMMAND(webhook::Resend)
HK_COMMAND(webhook::ExpungeEvents)
HK_COMMAND(webhook::ExpungeAttempt)
HK_REPLY(webhook::Refused)
HK_REPLY(webhook::ApplicationStored)
HK_REPLY(webhook::EventTypeStored)
HK_REPLY(webhook::EventTypesImported)
HK_REPLY(webhook::EndpointStored)
HK_REPLY(webhook::DeliveriesChanged)
HK_REPLY(webhook::EndpointInspected)
HK_REPLY(webhook::TokenStored)
HK_REPLY(webhook::IntegrationStored)
HK_REPLY(webhook::EventStored)
HK_REPLY(webhook::EventsExpunged)
HK_COMMAND(PutSource)
HK_COMMAND(DeleteSource)
HK_COMMAND(ReceiveInbound)
HK_COMMAND(QuarantineInbound)
HK_COMMAND(ReleaseQuarantined)
HK_COMMAND(DropQuarantined)
HK_REPLY(SourceStored)
HK_REPLY(InboundReceived)
HK_REPLY(QuarantineReleased)
HK_REPLY(InboundRejected)

HK_REPLY(Done)

#undef HK_COMMAND
#undef HK_REPLY

}  // namespace hk::core
