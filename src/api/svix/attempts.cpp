// What became of messages: attempts by endpoint and by message, messages of an endpoint,
// destinations of a message.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "api/svix/filter.h"
#include "api/svix/handlers.h"
#include "api/svix/page.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "base/date.h"
#include "base/encoding.h"

namespace hk::api::svix {

namespace {

using webhook::AttemptPlace;
using webhook::AttemptRow;
using webhook::Shown;

constexpr std::size_t response_bytes_max = 20'000;

/// What lists of attempts may be narrowed by, and how they are shown.
struct AttemptQuery {
  Page page{};
  std::optional<AttemptPlace> after{};
  EventFilter filter{};
  webhook::Window window{};
  std::optional<std::size_t> status{};
  std::optional<std::uint32_t> status_class{};
  bool with_content = true;
  bool with_msg = false;

  static AttemptQuery read(Query& query, Moment now) {
    AttemptQuery read;
    read.page = read_page(query, true, false);
    if (!read.page.iterator.empty()) {
      read.after = webhook::parse_attempt_id(read.page.iterator);
      if (!read.after) {
        query.refuse("iterator", "must be the iterator of an answer to the same list");
      }
    }
    read.status = read_status(query);
    read.status_class = read_status_class(query);
    read.filter = EventFilter::read(query);
    read.window = read_window(query, read.page, now);
    read.with_content = query.boolean("with_content", true);
    read.with_msg = query.boolean("with_msg", false);
    query.boolean("expanded_statuses", false);  // attempts have no others
    return read;
  }
  static std::optional<std::size_t> read_status(Query& query) {
    constexpr std::array<std::string_view, 5> statuses = {"0", "1", "2", "3", "4"};
    return query.one_of("status", statuses);
  }

  /// By what the row says.
  [[nodiscard]] bool takes(const AttemptRow& row) const {
    const Shown shown = row.succeeded ? Shown::succeeded : Shown::failed;
    return (!status || *status == static_cast<std::size_t>(shown)) &&
           (!status_class || is_of_class(row.status_code, *status_class));
  }
};

/// Events and endpoints that the rows of a page share.
class Around {
 public:
  explicit Around(const Reading& reading) : reading_(reading) {}

  const std::optional<webhook::Event>& event(webhook::Number number) {
    const auto [found, fresh] = events_.try_emplace(number);
    if (fresh) {
      found->second =
          reading_.reader().get<webhook::Event>({reading_.tenant, reading_.number, number});
    }
    return found->second;
  }
  const webhook::Endpoint& endpoint(webhook::Number number) {
    const auto [found, fresh] = endpoints_.try_emplace(number);
    if (fresh) {
      found->second = endpoint_or_gone(reading_, number);
    }
    return found->second;
  }

 private:
  const Reading& reading_;
  std::map<webhook::Number, std::optional<webhook::Event>> events_;
  std::map<webhook::Number, webhook::Endpoint> endpoints_;
};

/// What was answered, as text: "{}" where it is not asked for.
void write_answer(JsonWriter& json, const core::Attempt& attempt, bool with_content) {
  json.key("response");
  if (!with_content) {
    json.whole("{}");
    return;
  }
  std::string_view body = attempt.response_body;
  body = body.substr(0, response_bytes_max);
  if (attempt.response_status == 0 && body.empty()) {
    std::string line = attempt.error;
    std::ranges::replace(line, '\n', ' ');
    json.string(line);
  } else if (valid_utf8(body)) {
    json.string(body);
  } else {
    json.string(base64(body));
  }
}

void write_attempt(JsonWriter& json, const AttemptRow& row, const core::Attempt& attempt,
                   Around& around, const AttemptQuery& query, Moment now) {
  const webhook::Endpoint& endpoint = around.endpoint(row.endpoint);
  const auto& event = around.event(row.event);
  json.begin_object();
  json.field("id", webhook::id_of(row));
  text_or_null(json, "msgId", event ? webhook::id_of(*event) : std::string());
  json.field("endpointId", webhook::id_of(endpoint));
  json.field("url", endpoint.url);
  json.field("timestamp", rfc3339(attempt.started_at));
  write_answer(json, attempt, query.with_content);
  json.field("responseStatusCode", attempt.response_status);
  json.field("responseDurationMs", (attempt.ended_at - attempt.started_at).count());
  write_standing(json, row.succeeded ? Shown::succeeded : Shown::failed, true);
  json.field("triggerType", row.manual ? 1 : 0);
  if (query.with_msg && event) {
    json.key("msg");
    write_message(json, *event, query.with_content, now);
  }
  json.end_object();
}

/// An attempt with all that is shown of it.
struct FullAttempt {
  AttemptRow row{};
  core::Attempt attempt{};
};

http::Response attempts_response(const AttemptQuery& query, const Reading& reading, Around& around,
                                 const Paged<AttemptRow>& paged) {
  return page_response(
      query.page, paged, [](const AttemptRow& one) { return webhook::id_of(one); },
      [&](JsonWriter& json, const AttemptRow& one) {
        const auto attempt = webhook::attempt_of(reading.reader(), one);
        write_attempt(
            json, one,
            attempt.value_or(core::Attempt{.started_at = one.ended_at, .ended_at = one.ended_at}),
            around, query, reading.now);
      });
}

/// The page's part of all of them, which are in memory. `position(row)` orders them.
template <class Row, class Before>
Paged<Row> page_of(const Page& page, std::vector<Row> all, Before&& is_past) {
  if (page.order() == core::Order::ascending) {
    std::ranges::reverse(all);
  }
  std::erase_if(all, [&](const Row& row) { return !is_past(row); });
  Paged<Row> paged;
  paged.done = all.size() <= page.limit;
  all.resize(std::min(all.size(), page.limit));
  paged.rows = std::move(all);
  if (page.back) {
    std::ranges::reverse(paged.rows);
  }
  return paged;
}

void write_next_attempt(JsonWriter& json, const core::Message& message,
                        const core::MessageState& state) {
  if (core::is_final(state.status)) {
    json.key("nextAttempt");
    json.null();
    return;
  }
  json.field("nextAttempt", rfc3339(std::max({message.created_at, message.not_before, state.due})));
}

/// Deliveries by how they stand.
struct DeliveryQuery {
  std::optional<std::size_t> status{};
  bool expanded = false;

  static DeliveryQuery read(Query& query) {
    return {AttemptQuery::read_status(query), query.boolean("expanded_statuses", false)};
  }
};

/// One that was kept long enough has been done.
void write_delivery_standing(JsonWriter& json,
                             const std::optional<webhook::DeliveryState>& delivery, bool expanded) {
  write_standing(json, delivery ? webhook::shown(delivery->state) : Shown::succeeded, expanded);
  if (delivery) {
    write_next_attempt(json, *delivery->message, delivery->state);
  } else {
    json.key("nextAttempt");
    json.null();
  }
}

/// The attempt of the path, if it is one of the message of the path.
std::optional<FullAttempt> find_full_attempt(const Reading& reading, const webhook::Event& event,
                                             std::string_view id) {
  const auto row = webhook::find_attempt(reading.reader(), reading.tenant, id);
  if (!row || row->event != event.number) {
    return std::nullopt;
  }
  auto attempt = webhook::attempt_of(reading.reader(), *row);
  return attempt ? std::optional(FullAttempt{*row, std::move(*attempt)}) : std::nullopt;
}

}  // namespace

void list_attempts_of_endpoint(const Services& services, Call& call) {
  with_endpoint(services, call, [&](const Reading& reading, const webhook::Endpoint& endpoint) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    const AttemptQuery asked = AttemptQuery::read(query, reading.now);
    if (errors.any()) {
      return errors.response();
    }
    Around around(reading);
    const auto paged = gather_page<AttemptRow>(
        asked.page, services.options.scanned_per_listing_max, rows_at_once(asked.page),
        [&](const AttemptRow* last, std::size_t count) {
          return webhook::list_attempts(
              reading.reader(), reading.tenant, endpoint.number, asked.window,
              last != nullptr
                  ? std::optional(AttemptPlace{last->ended_at, last->delivery, last->attempt})
                  : asked.after,
              asked.page.order(), count);
        },
        [&](const AttemptRow& row) {
          if (!asked.takes(row)) {
            return Kept::no;
          }
          if (!asked.filter.any()) {
            return Kept::yes;
          }
          const auto& event = around.event(row.event);
          return event && asked.filter.takes(*event) ? Kept::yes : Kept::no;
        });
    return attempts_response(asked, reading, around, paged);
  });
}

void list_attempts_of_message(const Services& services, Call& call) {
  with_event(services, call, [&](const Reading& reading, const webhook::Event& event) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    const AttemptQuery asked = AttemptQuery::read(query, reading.now);
    const auto endpoint_ref = query.text("endpoint_id");
    if (errors.any()) {
      return errors.response();
    }
    std::optional<webhook::Number> only;
    if (endpoint_ref) {
      const auto endpoint = reading.endpoint(*endpoint_ref);
      if (!endpoint) {
        return not_found();
      }
      only = endpoint->number;
    }
    constexpr std::size_t attempts_at_most = 10'000;
    std::vector<AttemptRow> all =
        webhook::attempts_of(reading.reader(), event, only, attempts_at_most);
    std::erase_if(all, [&](const AttemptRow& row) {
      return !asked.takes(row) || !asked.filter.takes(event) ||
             (asked.window.after && row.ended_at <= *asked.window.after) ||
             (asked.window.before && row.ended_at >= *asked.window.before);
    });
    const bool descending = asked.page.order() == core::Order::descending;
    const auto paged = page_of(asked.page, std::move(all), [&](const AttemptRow& row) {
      if (!asked.after) {
        return true;
      }
      const auto place = std::tuple(row.ended_at, row.delivery, row.attempt);
      const auto from =
          std::tuple(asked.after->ended_at, asked.after->delivery, asked.after->attempt);
      return descending ? place < from : place > from;
    });
    Around around(reading);
    return attempts_response(asked, reading, around, paged);
  });
}

void list_attempted_messages(const Services& services, Call& call) {
  with_endpoint(services, call, [&](const Reading& reading, const webhook::Endpoint& endpoint) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    Page page = read_page(query, true, false);
    const auto after = read_number(query, page, webhook::event_prefix);
    const DeliveryQuery asked = DeliveryQuery::read(query);
    const EventFilter filter = EventFilter::read(query);
    const webhook::Window window = read_window(query, page, reading.now);
    const bool with_content = query.boolean("with_content", true);
    if (errors.any()) {
      return errors.response();
    }
    Around around(reading);
    const auto paged = gather_page<webhook::DeliveryRow>(
        page, services.options.scanned_per_listing_max, rows_at_once(page),
        [&](const webhook::DeliveryRow* last, std::size_t count) {
          return webhook::list_deliveries(reading.reader(), reading.tenant, endpoint.number, window,
                                          last != nullptr ? std::optional(last->event) : after,
                                          page.order(), count);
        },
        [&](const webhook::DeliveryRow& row) {
          if (asked.status) {
            const auto delivery = webhook::state_of(reading.reader(), row);
            const Shown shown = delivery ? webhook::shown(delivery->state) : Shown::succeeded;
            if (static_cast<std::size_t>(shown) != *asked.status) {
              return Kept::no;
            }
          }
          const auto& event = around.event(row.event);
          return event && filter.takes(*event) ? Kept::yes : Kept::no;
        });
    return page_response(
        page, paged,
        [&](const webhook::DeliveryRow& row) {
          const auto& event = around.event(row.event);
          return event ? webhook::id_of(*event) : std::string();
        },
        [&](JsonWriter& json, const webhook::DeliveryRow& row) {
          json.begin_object();
          write_message_members(json, *around.event(row.event), with_content, reading.now);
          write_delivery_standing(json, webhook::state_of(reading.reader(), row), asked.expanded);
          json.end_object();
        });
  });
}

void list_destinations(const Services& services, Call& call) {
  with_event(services, call, [&](const Reading& reading, const webhook::Event& event) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    const Page page = read_page(query, false, false);
    const auto after = read_number(query, page, webhook::endpoint_prefix);
    const DeliveryQuery asked = DeliveryQuery::read(query);
    if (errors.any()) {
      return errors.response();
    }
    Around around(reading);
    std::vector<webhook::DeliveryRow> all = webhook::destinations_of(reading.reader(), event);
    std::ranges::reverse(all);  // as page_of() has them
    const bool descending = page.order() == core::Order::descending;
    const auto paged = page_of(page, std::move(all), [&](const webhook::DeliveryRow& row) {
      return !after || (descending ? row.endpoint < *after : row.endpoint > *after);
    });
    return page_response(
        page, paged,
        [&](const webhook::DeliveryRow& row) {
          return webhook::id_of(around.endpoint(row.endpoint));
        },
        [&](JsonWriter& json, const webhook::DeliveryRow& row) {
          json.begin_object();
          write_endpoint_members(json, around.endpoint(row.endpoint), false);
          write_delivery_standing(json, webhook::state_of(reading.reader(), row), asked.expanded);
          json.end_object();
        });
  });
}

void get_attempt(const Services& services, Call& call) {
  with_event(services, call, [&](const Reading& reading, const webhook::Event& event) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    const AttemptQuery asked = AttemptQuery::read(query, reading.now);
    if (errors.any()) {
      return errors.response();
    }
    const auto found = find_full_attempt(reading, event, call.more_params.back());
    if (!found) {
      return not_found();
    }
    Around around(reading);
    http::Response response;
    JsonWriter json(response.body);
    write_attempt(json, found->row, found->attempt, around, asked, reading.now);
    return response;
  });
}

Write expunge_attempt(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    return no_application();
  }
  const auto event = reading.event(call.more_params.front());
  const auto found = event ? find_full_attempt(reading, *event, call.more_params.back())
                           : std::optional<FullAttempt>{};
  if (!found) {
    return not_found();
  }
  return plan_plainly(webhook::ExpungeAttempt{.tenant = reading.tenant,
                                              .application_ref = call.param,
                                              .event = event->number,
                                              .delivery = found->row.delivery,
                                              .attempt = found->row.attempt},
                      no_content);
}

Write resend(const Services& /*services*/, Call& call) {
  return plan_plainly(webhook::Resend{.tenant = call.tenant->id,
                                      .application_ref = call.param,
                                      .event_ref = call.more_params.front(),
                                      .endpoint_ref = call.more_params.back()},
                      [] { return empty_object(202); });
}

}  // namespace hk::api::svix
