/// Commands about webhooks, and their replies. Applications, endpoints and events are named by
/// their id or by the text that their owner chose (uid, eventId): `…_ref`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/webhook/record.h"

namespace hk::core::webhook {

// ---- applications ----

struct ApplicationFields {
  std::string name{};
  std::string uid{};
  std::uint32_t rate = 0;
  Metadata metadata{};
};
/// What is absent stays as it is.
struct ApplicationChanges {
  std::optional<std::string> name{};
  std::optional<std::string> uid{};  ///< "" = none from now on
  std::optional<std::uint32_t> rate{};
  std::optional<Metadata> metadata{};
};

struct CreateApplication {
  TenantId tenant{};
  ApplicationFields fields{};
  bool get_if_exists = false;  ///< one with that uid is the answer, unchanged
};
struct ChangeApplication {
  TenantId tenant{};
  std::string application_ref{};
  ApplicationChanges changes{};
  /// Made if there is none: with the ref as its uid if `changes` has none and it may be one.
  bool create = false;
};
struct DeleteApplication {
  TenantId tenant{};
  std::string application_ref{};
};

// ---- event types ----

struct EventTypeChanges {
  std::optional<std::string> description{};
  std::optional<std::string> schemas{};
  std::optional<std::string> group{};
  std::optional<std::vector<std::string>> feature_flags{};
  std::optional<bool> archived{};
  std::optional<bool> deprecated{};
};
/// One that is archived is written over.
struct CreateEventType {
  EventType type{};  ///< without its times
};
struct ChangeEventType {
  TenantId tenant{};
  std::string name{};
  EventTypeChanges changes{};
  bool create = false;
};
struct DeleteEventType {
  TenantId tenant{};
  std::string name{};
  bool expunge = false;  ///< false: it is archived
};
/// All of them are made or written over, in one batch.
struct ImportEventTypes {
  TenantId tenant{};
  std::vector<EventType> types{};
  bool archive_others = false;
};

// ---- endpoints ----

struct EndpointFields {
  std::string uid{};
  std::string url{};
  std::string host{};
  std::string description{};
  std::vector<std::string> event_types{};
  std::vector<std::string> channels{};
  std::uint32_t rate = 0;
  std::vector<Header> headers{};
  Metadata metadata{};
  bool disabled = false;
};
struct EndpointChanges {
  std::optional<std::string> uid{};
  std::optional<std::pair<std::string, std::string>> url{};  ///< and its host
  std::optional<std::string> description{};
  std::optional<std::vector<std::string>> event_types{};
  std::optional<std::vector<std::string>> channels{};
  std::optional<std::uint32_t> rate{};
  std::optional<Metadata> metadata{};
  std::optional<bool> disabled{};
};
/// With application_ref "" all of these are about the hidden application of operational webhooks.
struct CreateEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  EndpointFields fields{};
  SigningSecret secret{};
};
struct ChangeEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  EndpointChanges changes{};
  bool create = false;
  SigningSecret secret{};  ///< of one that is made
};
struct DeleteEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
};
struct RotateSecret {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  SigningSecret secret{};
  Millis grace{};  ///< the one before signs as well, for so long
};
/// One map of header fields to another: names in any case.
struct ChangeHeaders {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  bool replace = false;  ///< all that it has go first
  std::vector<Header> set{};
  std::vector<std::string> remove{};
};
/// Parts in `change` are set, those in `inherit` are the tenant's default from now on.
struct ChangeDelivery {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  OwnDelivery change{};
  std::uint32_t inherit = 0;
};
struct PauseEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
};
struct ResumeEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  bool skip = false;  ///< what is held is cancelled, not delivered
};
struct CancelWaiting {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
  std::string event_type{};  ///< "" = any; so the others
  std::string channel{};
  std::string tag{};
};

/// What is known of it only in memory.
struct InspectEndpoint {
  TenantId tenant{};
  std::string application_ref{};
  std::string endpoint_ref{};
};

struct PutSettings {
  Settings settings{};
};

// ---- tokens ----

/// An application that is not there is made, if the caller says how.
struct CreateToken {
  TenantId tenant{};
  std::string application_ref{};
  std::optional<ApplicationFields> application{};
  AppToken token{};  ///< without its application and times
  Millis kept_for{};
};
struct ExpireTokens {
  TenantId tenant{};
  std::string application_ref{};
  Millis in{};
  std::vector<std::string> sessions{};  ///< empty = all
};
struct DropToken {
  TenantId tenant{};
  std::string digest{};
};
struct CreateIntegration {
  TenantId tenant{};
  std::string application_ref{};
  std::string name{};
  std::vector<std::string> feature_flags{};
};
struct ChangeIntegration {
  TenantId tenant{};
  std::string application_ref{};
  std::string integration{};  ///< its id
  std::string name{};
  std::vector<std::string> feature_flags{};
};
struct DeleteIntegration {
  TenantId tenant{};
  std::string application_ref{};
  std::string integration{};
};
/// The key before, if any, is dead.
struct RotateIntegrationKey {
  TenantId tenant{};
  std::string application_ref{};
  std::string integration{};
  std::string digest{};
};

// ---- events and deliveries ----

/// Stores it, and makes a delivery for every endpoint that it matches. The event is without its
/// application, number and what it was addressed to.
struct PublishEvent {
  std::string application_ref{};
  std::optional<ApplicationFields> application{};  ///< made if it is not there
  Event event{};
  /// Only to this one, whatever it filters; it must not be disabled. "" = to all that match.
  std::string only_endpoint_ref{};
};
/// One attempt, now, of an event to an endpoint.
struct Resend {
  TenantId tenant{};
  std::string application_ref{};
  std::string event_ref{};
  std::string endpoint_ref{};
};
/// Their payloads are gone; what waits of them is cancelled.
struct ExpungeEvents {
  TenantId tenant{};
  std::string application_ref{};
  std::vector<std::string> event_refs{};
};
struct ExpungeAttempt {
  TenantId tenant{};
  std::string application_ref{};
  Number event = 0;
  Seq delivery{};
  std::uint32_t attempt = 0;
};

using WebhookCommand =
    std::variant<CreateApplication, ChangeApplication, DeleteApplication, CreateEventType,
                 ChangeEventType, DeleteEventType, ImportEventTypes, CreateEndpoint, ChangeEndpoint,
                 DeleteEndpoint, RotateSecret, ChangeHeaders, ChangeDelivery, PauseEndpoint,
                 ResumeEndpoint, CancelWaiting, InspectEndpoint, PutSettings, CreateToken,
                 ExpireTokens, DropToken, CreateIntegration, ChangeIntegration, DeleteIntegration,
                 RotateIntegrationKey, PublishEvent, Resend, ExpungeEvents, ExpungeAttempt>;

// ---- replies ----

/// Why nothing was done. What every protocol has a word for is an Error instead: not_found (of the
/// tenant), invalid_argument.
struct Refused {
  enum class Why : std::uint8_t {
    application_not_found,
    endpoint_not_found,
    event_type_not_found,
    event_not_found,
    attempt_not_found,
    integration_not_found,
    token_not_found,
    uid_taken,      ///< of an application or an endpoint
    ref_is_no_uid,  ///< of what PUT would make
    event_type_exists,
    event_id_taken,
    event_types_unknown,  ///< detail: their names, separated by ", "
    event_type_unknown,   ///< of an event, where the settings want it known
    limit_reached,        ///< detail says of what
    endpoint_disabled,
    payload_gone,
    needs_symmetric_secret,  ///< the Stripe layout with an ed25519 key
    payload_too_large,
    https_only,
  };
  Why why{};
  std::string detail{};
};

struct ApplicationStored {
  Application application{};
  bool created = false;
};
struct EventTypeStored {
  EventType type{};
  bool created = false;
};
/// In the order of their names: those that are not as they were.
struct EventTypesImported {
  std::vector<std::string> changed{};
};
struct EndpointStored {
  Endpoint endpoint{};
  bool created = false;
};
/// How many deliveries were released or cancelled.
struct DeliveriesChanged {
  std::uint64_t count = 0;
};
struct EndpointInspected {
  std::uint32_t running = 0;  ///< attempts under way
};
struct TokenStored {
  Application application{};
};
struct IntegrationStored {
  Integration integration{};
};
struct EventStored {
  std::shared_ptr<const Event> event{};
};
/// In the order of the command: was there such an event?
struct EventsExpunged {
  std::vector<bool> found{};
};

using WebhookReply = std::variant<Refused, ApplicationStored, EventTypeStored, EventTypesImported,
                                  EndpointStored, DeliveriesChanged, EndpointInspected, TokenStored,
                                  IntegrationStored, EventStored, EventsExpunged>;

}  // namespace hk::core::webhook
