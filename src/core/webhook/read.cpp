#include "core/webhook/read.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace hk::core::webhook {

namespace {

std::optional<Number> read_name(Reader& reader, TenantId tenant, Name::Kind kind, Number scope,
                                std::string_view text) {
  const auto name =
      reader.get<Name>({tenant, static_cast<std::uint32_t>(kind), scope, std::string(text)});
  return name ? std::optional(name->number) : std::nullopt;
}

/// One whose id is the ref, else one whose name it is.
template <class R, class Get>
std::optional<R> find_by_ref(std::string_view ref, std::string_view prefix, const Get& get,
                             const auto& name) {
  if (const auto number = number_in(ref, prefix)) {
    if (auto found = get(*number); found && id_of(*found) == ref) {
      return found;
    }
  }
  const std::optional<Number> number = name();
  return number ? get(*number) : std::nullopt;
}

/// Narrows the range to what is behind `after`, in the direction of the list.
template <class R, class... Parts>
void go_on(Range<R>& range, ListOrder order, const Parts&... after) {
  if (order == ListOrder::ascending) {
    range.after(after...);
  } else {
    range.before(after...);
  }
}

template <class R, class... Scope>
std::vector<R> list_numbered(Reader& reader, std::optional<Number> after, ListOrder order,
                             std::size_t limit, const Scope&... scope) {
  auto range = Range<R>::of(scope...);
  if (after) {
    go_on(range, order, scope..., *after);
  }
  return reader.scan(range, limit, order);
}

/// Of rows whose key is the scope and an event's number.
template <class R, class... Scope>
Range<R> events_in(const Window& window, const Scope&... scope) {
  auto range = Range<R>::of(scope...);
  if (window.after) {
    range.from(scope..., first_number_at(std::min(*window.after, never) + Millis{1}));
  }
  if (window.before) {
    range.before(scope..., first_number_at(std::min(*window.before, never)));
  }
  return range;
}

}  // namespace

std::optional<Application> find_application(Reader& reader, TenantId tenant, std::string_view ref) {
  return find_by_ref<Application>(
      ref, application_prefix,
      [&](Number number) {
        return reader.get<Application>({tenant, number});
      },
      [&] { return read_name(reader, tenant, Name::Kind::application_uid, 0, ref); });
}

std::optional<Endpoint> find_endpoint(Reader& reader, TenantId tenant, Number application,
                                      std::string_view ref) {
  return find_by_ref<Endpoint>(
      ref, endpoint_prefix,
      [&](Number number) {
        return reader.get<Endpoint>({tenant, application, number});
      },
      [&] { return read_name(reader, tenant, Name::Kind::endpoint_uid, application, ref); });
}

std::optional<Event> find_event(Reader& reader, TenantId tenant, Number application,
                                std::string_view ref) {
  return find_by_ref<Event>(
      ref, event_prefix,
      [&](Number number) {
        return reader.get<Event>({tenant, application, number});
      },
      [&] { return read_name(reader, tenant, Name::Kind::event_id, application, ref); });
}

std::optional<EventType> find_event_type(Reader& reader, TenantId tenant, const std::string& name) {
  return reader.get<EventType>({tenant, name});
}

std::optional<Integration> find_integration(Reader& reader, TenantId tenant, Number application,
                                            std::string_view id) {
  return find_by_ref<Integration>(
      id, integration_prefix,
      [&](Number number) {
        return reader.get<Integration>({tenant, application, number});
      },
      [] { return std::optional<Number>{}; });
}

std::optional<AppToken> find_token(Reader& reader, TenantId tenant, const std::string& digest,
                                   Moment now) {
  auto token = reader.get<AppToken>({tenant, digest});
  return token && now < token->expires_at ? std::move(token) : std::nullopt;
}

Settings settings_of(Reader& reader, TenantId tenant) {
  return reader.get<Settings>(tenant).value_or(Settings{.tenant = tenant});
}

Health health_of(Reader& reader, TenantId tenant, Number endpoint) {
  return reader.get<Health>({tenant, endpoint})
      .value_or(Health{.tenant = tenant, .endpoint = endpoint});
}

std::vector<Application> list_applications(Reader& reader, TenantId tenant,
                                           std::optional<Number> after, ListOrder order,
                                           std::size_t limit) {
  return list_numbered<Application>(reader, after, order, limit, tenant);
}

std::vector<Endpoint> list_endpoints(Reader& reader, TenantId tenant, Number application,
                                     std::optional<Number> after, ListOrder order,
                                     std::size_t limit) {
  return list_numbered<Endpoint>(reader, after, order, limit, tenant, application);
}

std::vector<Integration> list_integrations(Reader& reader, TenantId tenant, Number application,
                                           std::optional<Number> after, ListOrder order,
                                           std::size_t limit) {
  return list_numbered<Integration>(reader, after, order, limit, tenant, application);
}

std::vector<EventType> list_event_types(Reader& reader, TenantId tenant, const std::string& after,
                                        ListOrder order, std::size_t limit) {
  auto range = Range<EventType>::of(tenant);
  if (!after.empty()) {
    go_on(range, order, tenant, after);
  }
  return reader.scan(range, limit, order);
}

std::vector<Event> list_events(Reader& reader, TenantId tenant, Number application,
                               const Window& window, std::optional<Number> after, ListOrder order,
                               std::size_t limit) {
  auto range = events_in<Event>(window, tenant, application);
  if (after) {
    go_on(range, order, tenant, application, *after);
  }
  return reader.scan(range, limit, order);
}

std::vector<DeliveryRow> list_deliveries(Reader& reader, TenantId tenant, Number endpoint,
                                         const Window& window, std::optional<Number> after,
                                         ListOrder order, std::size_t limit) {
  auto range = events_in<DeliveryRow>(window, tenant, endpoint);
  if (after) {
    go_on(range, order, tenant, endpoint, *after);
  }
  // Most events have one delivery: a second scan is rare. What a piece ends with may go on in the
  // next one, so an event counts only when another one follows, or nothing.
  std::vector<DeliveryRow> newest;
  while (newest.size() < limit) {
    const std::size_t wanted = limit - newest.size() + 1;
    const std::vector<DeliveryRow> piece = reader.scan(range, wanted, order);
    for (const DeliveryRow& row : piece) {
      if (newest.empty() || newest.back().event != row.event) {
        newest.push_back(row);
      } else if (newest.back().generation < row.generation) {
        newest.back() = row;
      }
    }
    if (piece.size() < wanted) {
      break;
    }
    const DeliveryRow& last = piece.back();
    go_on(range, order, last.tenant, last.endpoint, last.event, last.generation);
  }
  if (newest.size() > limit) {
    newest.resize(limit);
  } else if (order == ListOrder::ascending && !newest.empty()) {
    // Its newest delivery may stand behind the piece.
    DeliveryRow& last = newest.back();
    const auto rest = reader.scan(Range<DeliveryRow>::of(last.tenant, last.endpoint, last.event), 1,
                                  ListOrder::descending);
    if (!rest.empty()) {
      last = rest.front();
    }
  }
  return newest;
}

std::vector<DeliveryRow> deliveries_of(Reader& reader, TenantId tenant, Number endpoint,
                                       Number event, std::size_t limit) {
  return reader.scan(Range<DeliveryRow>::of(tenant, endpoint, event), limit);
}

std::vector<DeliveryRow> destinations_of(Reader& reader, const Event& event) {
  std::vector<DeliveryRow> rows;
  for (const Event::Addressed& one : event.addressed) {
    const auto newest = reader.scan(
        Range<DeliveryRow>::of(event.tenant, one.endpoint, event.number), 1, ListOrder::descending);
    rows.push_back(newest.empty() ? DeliveryRow{.tenant = event.tenant,
                                                .endpoint = one.endpoint,
                                                .event = event.number,
                                                .delivery = one.delivery}
                                  : newest.front());
  }
  std::ranges::sort(rows, {}, &DeliveryRow::endpoint);
  return rows;
}

std::optional<DeliveryState> state_of(Reader& reader, const DeliveryRow& row) {
  auto message = reader.get<Message>(row.delivery);
  if (message == nullptr || !message->webhook || message->tenant != row.tenant ||
      message->webhook->event != row.event) {
    return std::nullopt;
  }
  auto state =
      reader.get<MessageState>(row.delivery).value_or(MessageState{.due = message->not_before});
  return DeliveryState{std::move(message), std::move(state)};
}

std::vector<AttemptRow> list_attempts(Reader& reader, TenantId tenant, Number endpoint,
                                      const Window& window,
                                      const std::optional<AttemptPlace>& after, ListOrder order,
                                      std::size_t limit) {
  auto range = Range<AttemptRow>::of(tenant, endpoint);
  if (window.after) {
    range.after(tenant, endpoint, *window.after);
  }
  if (window.before) {
    range.before(tenant, endpoint, *window.before);
  }
  if (after) {
    go_on(range, order, tenant, endpoint, after->ended_at, after->delivery, after->attempt);
  }
  return reader.scan(range, limit, order);
}

std::vector<AttemptRow> attempts_of(Reader& reader, const Event& event,
                                    std::optional<Number> endpoint, std::size_t limit) {
  std::vector<AttemptRow> rows;
  const auto add = [&](const DeliveryRow& delivery, const Attempt& attempt) {
    if (auto row = reader.get<AttemptRow>({delivery.tenant, delivery.endpoint, attempt.ended_at,
                                           delivery.delivery, attempt.fence.attempt})) {
      rows.push_back(std::move(*row));
    }
  };
  for (const Event::Addressed& one : event.addressed) {
    if (endpoint && *endpoint != one.endpoint) {
      continue;
    }
    for (const DeliveryRow& delivery :
         deliveries_of(reader, event.tenant, one.endpoint, event.number, limit)) {
      const auto state = reader.get<MessageState>(delivery.delivery);
      if (!state || !state->last) {
        continue;
      }
      add(delivery, *state->last);
      for (const Keyed<Attempt>& earlier :
           reader.scan(Range<Attempt>::of(delivery.delivery), limit)) {
        add(delivery, earlier.record);
      }
    }
  }
  std::ranges::sort(rows, std::ranges::greater{}, [](const AttemptRow& row) {
    return std::tuple(row.ended_at, row.delivery, row.attempt);
  });
  rows.resize(std::min(rows.size(), limit));
  return rows;
}

std::optional<AttemptRow> find_attempt(Reader& reader, TenantId tenant, std::string_view id) {
  const auto place = parse_attempt_id(id);
  if (!place) {
    return std::nullopt;
  }
  const auto message = reader.get<Message>(place->delivery);
  if (message == nullptr || message->tenant != tenant || !message->webhook) {
    return std::nullopt;
  }
  auto row = reader.get<AttemptRow>(
      {tenant, message->webhook->endpoint, place->ended_at, place->delivery, place->attempt});
  return row && id_of(*row) == id ? std::move(row) : std::nullopt;
}

std::optional<Attempt> attempt_of(Reader& reader, const AttemptRow& row) {
  if (auto earlier = reader.get<Attempt>({row.delivery, row.attempt})) {
    return earlier;
  }
  const auto state = reader.get<MessageState>(row.delivery);
  return state && state->last && state->last->fence.attempt == row.attempt ? state->last
                                                                           : std::nullopt;
}

std::vector<Stats> list_stats(Reader& reader, TenantId tenant, Number endpoint, std::uint64_t from,
                              std::uint64_t to) {
  return reader.scan(
      Range<Stats>::of(tenant, endpoint).from(tenant, endpoint, from).up_to(tenant, endpoint, to));
}

}  // namespace hk::core::webhook
