/// How webhooks are read: pure functions over any reader, for the API, the CLI and the tests. Each
/// reads by key or by one seek; what is a list has a limit. A reader of the durable view shows what
/// a crash cannot take back.
///
/// A list goes on in the direction of `order` behind `after`, which is a place: nothing has to be
/// there (any more). Numbers of things are in the order of their making (id.h: number_in()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.h"
#include "core/webhook/id.h"

namespace hk::core::webhook {

// In this namespace `Order` is that of deliveries.
using ListOrder = hk::core::Order;

// ---- one of them, by its id or the text that its owner chose ----

std::optional<Application> find_application(Reader& reader, TenantId tenant, std::string_view ref);
/// Of the application with that number; `operational` has endpoints, too.
std::optional<Endpoint> find_endpoint(Reader& reader, TenantId tenant, Number application,
                                      std::string_view ref);
std::optional<Event> find_event(Reader& reader, TenantId tenant, Number application,
                                std::string_view ref);
/// Also one that is archived.
std::optional<EventType> find_event_type(Reader& reader, TenantId tenant, const std::string& name);
/// By its id alone.
std::optional<Integration> find_integration(Reader& reader, TenantId tenant, Number application,
                                            std::string_view id);
/// One that has expired is none at `now`.
std::optional<AppToken> find_token(Reader& reader, TenantId tenant, const std::string& digest,
                                   Moment now);
/// As a tenant has them that has set none, if it has set none.
Settings settings_of(Reader& reader, TenantId tenant);
/// Healthy, if it has no record.
Health health_of(Reader& reader, TenantId tenant, Number endpoint);

// ---- lists ----

std::vector<Application> list_applications(Reader& reader, TenantId tenant,
                                           std::optional<Number> after, ListOrder order,
                                           std::size_t limit);
std::vector<Endpoint> list_endpoints(Reader& reader, TenantId tenant, Number application,
                                     std::optional<Number> after, ListOrder order,
                                     std::size_t limit);
std::vector<Integration> list_integrations(Reader& reader, TenantId tenant, Number application,
                                           std::optional<Number> after, ListOrder order,
                                           std::size_t limit);
/// By name, archived ones among them. `after` "": from the end of the list where it begins.
std::vector<EventType> list_event_types(Reader& reader, TenantId tenant, const std::string& after,
                                        ListOrder order, std::size_t limit);

/// Both exclusive, in time.
struct Window {
  std::optional<Moment> after{};
  std::optional<Moment> before{};
};

/// By when they were accepted.
std::vector<Event> list_events(Reader& reader, TenantId tenant, Number application,
                               const Window& window, std::optional<Number> after, ListOrder order,
                               std::size_t limit);

/// Deliveries to an endpoint, by when their events were accepted: of each event the newest one.
std::vector<DeliveryRow> list_deliveries(Reader& reader, TenantId tenant, Number endpoint,
                                         const Window& window, std::optional<Number> after,
                                         ListOrder order, std::size_t limit);
/// All deliveries of an event to an endpoint, the oldest first.
std::vector<DeliveryRow> deliveries_of(Reader& reader, TenantId tenant, Number endpoint,
                                       Number event, std::size_t limit);
/// The newest delivery of the event to each endpoint that it was addressed to, in the order of the
/// endpoints; also to those that are gone.
std::vector<DeliveryRow> destinations_of(Reader& reader, const Event& event);

/// What the message that is the delivery says of itself now. Nothing: it was kept long enough.
struct DeliveryState {
  std::shared_ptr<const Message> message{};
  MessageState state{};
};
std::optional<DeliveryState> state_of(Reader& reader, const DeliveryRow& row);

/// Attempts of an endpoint, by when they ended.
std::vector<AttemptRow> list_attempts(Reader& reader, TenantId tenant, Number endpoint,
                                      const Window& window,
                                      const std::optional<AttemptPlace>& after, ListOrder order,
                                      std::size_t limit);
/// Attempts of an event at all endpoints, or at the only one: all of them, the newest first, at
/// most `limit`.
std::vector<AttemptRow> attempts_of(Reader& reader, const Event& event,
                                    std::optional<Number> endpoint, std::size_t limit);
/// By its id; nothing: the tenant has none such, or it was kept long enough.
std::optional<AttemptRow> find_attempt(Reader& reader, TenantId tenant, std::string_view id);
/// What the attempt was, in full. Nothing: it was kept long enough.
std::optional<Attempt> attempt_of(Reader& reader, const AttemptRow& row);

/// By hour, those with from <= hour <= to.
std::vector<Stats> list_stats(Reader& reader, TenantId tenant, Number endpoint, std::uint64_t from,
                              std::uint64_t to);

}  // namespace hk::core::webhook
