#include "core/webhook/read.h"

#include <gtest/gtest.h>

#include "support/memory_reader.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using webhook::Application;
using webhook::Endpoint;
using webhook::Name;

constexpr TenantId tenant{1};
constexpr auto up = ListOrder::ascending;
constexpr auto down = ListOrder::descending;

/// What is made in the n-th millisecond has this number, as Progress::next_number() gives it.
constexpr Number at_ms(std::uint64_t n, std::uint64_t more = 0) { return n * 1'000'000 + more; }

template <class R>
std::vector<Number> numbers(const std::vector<R>& rows) {
  std::vector<Number> all;
  for (const R& row : rows) {
    all.push_back(row.number);
  }
  return all;
}
std::vector<Number> list(std::initializer_list<Number> all) { return all; }

TEST(WebhookRead, ListsGoOnBehindAPlaceInEitherDirection) {
  MemoryReader reader;
  for (const Number number : {10, 20, 30, 40}) {
    reader.put<Application>({.tenant = tenant, .number = number});
    reader.put<Endpoint>({.tenant = tenant, .application = 20, .number = number});
    reader.put<Integration>({.tenant = tenant, .application = 20, .number = number});
  }
  reader.put<Application>({.tenant = TenantId{2}, .number = 15});
  reader.put<Endpoint>({.tenant = tenant, .application = 21, .number = 15});
  const struct {
    std::optional<Number> after;
    ListOrder order;
    std::size_t limit;
    std::vector<Number> got;
  } rows[] = {{{}, up, 9, {10, 20, 30, 40}},
              {{}, down, 9, {40, 30, 20, 10}},
              {{}, up, 2, {10, 20}},
              {20, up, 9, {30, 40}},
              {25, up, 1, {30}},
              {20, down, 9, {10}},
              {25, down, 9, {20, 10}},
              {40, up, 9, {}},
              {10, down, 9, {}},
              {~Number{0}, down, 1, {40}}};
  for (const auto& row : rows) {
    EXPECT_EQ(numbers(list_applications(reader, tenant, row.after, row.order, row.limit)), row.got);
    EXPECT_EQ(numbers(list_endpoints(reader, tenant, 20, row.after, row.order, row.limit)),
              row.got);
    EXPECT_EQ(numbers(list_integrations(reader, tenant, 20, row.after, row.order, row.limit)),
              row.got);
  }
}

TEST(WebhookRead, EventTypesAreListedByName) {
  MemoryReader reader;
  for (const char* const name : {"a", "b.c", "b", "Z"}) {
    reader.put<EventType>({.tenant = tenant, .name = name});
  }
  const auto names = [&](const std::string& after, ListOrder order) {
    std::string all;
    for (const EventType& one : list_event_types(reader, tenant, after, order, 9)) {
      all += one.name + " ";
    }
    return all;
  };
  EXPECT_EQ(names("", up), "Z a b b.c ");
  EXPECT_EQ(names("", down), "b.c b a Z ");
  EXPECT_EQ(names("b", up), "b.c ");
  EXPECT_EQ(names("aa", down), "a Z ");
}

TEST(WebhookRead, EventsAreThoseOfAWindow) {
  MemoryReader reader;
  for (const Number number : {at_ms(1), at_ms(2), at_ms(2, 1), at_ms(3)}) {
    reader.put<Event>({.tenant = tenant, .application = 7, .number = number});
  }
  const auto in = [&](const Window& window, std::optional<Number> after = {},
                      ListOrder order = down) {
    return numbers(list_events(reader, tenant, 7, window, after, order, 9));
  };
  const Moment one = moment_from_ms(1);
  const Moment two = moment_from_ms(2);
  EXPECT_EQ(in({}), list({at_ms(3), at_ms(2, 1), at_ms(2), at_ms(1)}));
  EXPECT_EQ(in({.after = one}), list({at_ms(3), at_ms(2, 1), at_ms(2)}));
  EXPECT_EQ(in({.after = two}), list({at_ms(3)}));
  EXPECT_EQ(in({.before = two}), list({at_ms(1)}));
  EXPECT_EQ(in({.after = one, .before = moment_from_ms(3)}), list({at_ms(2, 1), at_ms(2)}));
  EXPECT_EQ(in({.after = two, .before = two}), list({}));
  EXPECT_EQ(in({.after = one}, at_ms(2, 1)), list({at_ms(2)}));
  EXPECT_EQ(in({.after = one}, at_ms(2), up), list({at_ms(2, 1), at_ms(3)}));
  EXPECT_EQ(in({.after = never, .before = never}), list({}));
  EXPECT_EQ(in({.before = moment_from_ms(-5)}), list({}));
}

TEST(WebhookRead, AnEventIsFoundByItsIdAndItsEventId) {
  MemoryReader reader;
  const Event event{.tenant = tenant,
                    .application = 7,
                    .number = 9,
                    .made = {moment_from_ms(1'700'000'000'000), 5},
                    .event_id = "e"};
  reader.put<Event>(event);
  reader.put<Name>(
      {.tenant = tenant, .kind = Name::Kind::event_id, .scope = 7, .name = "e", .number = 9});
  EXPECT_EQ(find_event(reader, tenant, 7, "e"), event);
  EXPECT_EQ(find_event(reader, tenant, 7, id_of(event)), event);
  EXPECT_FALSE(find_event(reader, tenant, 8, "e"));
  EXPECT_FALSE(find_event(reader, tenant, 8, id_of(event)));
  EXPECT_FALSE(find_event(reader, tenant, 7, "f"));
  EXPECT_FALSE(find_event(reader, tenant, 7, ""));
}

/// "event.generation" of each, in their order.
std::string shown(const std::vector<DeliveryRow>& rows) {
  std::string all;
  for (const DeliveryRow& row : rows) {
    all += std::to_string(row.event / at_ms(1)) + "." + std::to_string(row.generation) + " ";
  }
  return all;
}

TEST(WebhookRead, OfEachEventTheNewestDeliveryIsListed) {
  MemoryReader reader;
  const auto put = [&](Number event, std::uint32_t generations) {
    for (std::uint32_t i = 0; i < generations; ++i) {
      reader.put<DeliveryRow>({.tenant = tenant,
                               .endpoint = 8,
                               .event = at_ms(event),
                               .generation = i,
                               .delivery = Seq{event * 10 + i}});
    }
  };
  put(1, 1);
  put(2, 5);
  put(3, 2);
  put(4, 1);
  const auto in = [&](ListOrder order, std::size_t limit, const Window& window = {},
                      std::optional<Number> after = {}) {
    return shown(list_deliveries(reader, tenant, 8, window, after, order, limit));
  };
  EXPECT_EQ(in(up, 9), "1.0 2.4 3.1 4.0 ");
  EXPECT_EQ(in(down, 9), "4.0 3.1 2.4 1.0 ");
  const std::string rising[] = {"", "1.0 ", "1.0 2.4 ", "1.0 2.4 3.1 ", "1.0 2.4 3.1 4.0 "};
  const std::string falling[] = {"", "4.0 ", "4.0 3.1 ", "4.0 3.1 2.4 ", "4.0 3.1 2.4 1.0 "};
  for (std::size_t limit = 1; limit <= 4; ++limit) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(in(up, limit), rising[limit]);
    EXPECT_EQ(in(down, limit), falling[limit]);
  }
  EXPECT_EQ(in(up, 9, {}, at_ms(2)), "3.1 4.0 ");
  EXPECT_EQ(in(down, 9, {}, at_ms(3)), "2.4 1.0 ");
  EXPECT_EQ(in(down, 9, {.after = moment_from_ms(1), .before = moment_from_ms(4)}), "3.1 2.4 ");
  EXPECT_EQ(shown(deliveries_of(reader, tenant, 8, at_ms(2), 3)), "2.0 2.1 2.2 ");

  const Event event{.tenant = tenant,
                    .application = 7,
                    .number = at_ms(2),
                    .addressed = {{9, Seq{5}}, {8, Seq{20}}}};
  const auto rows = destinations_of(reader, event);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].delivery, Seq{24});
  EXPECT_EQ(rows[1].endpoint, 9U);
  EXPECT_EQ(rows[1].delivery, Seq{5});  // that endpoint's row is gone
}

TEST(WebhookRead, AttemptsAreFoundByTheirPlace) {
  MemoryReader reader;
  const Moment base = moment_from_ms(1'700'000'000'000);
  auto message = std::make_shared<Message>();
  message->id.seq = Seq{20};
  message->tenant = tenant;
  message->webhook = WebhookPart{.application = 7, .endpoint = 8, .event = 9};
  reader.put<Message>(message);
  MessageState state{.attempts = 3};
  std::vector<AttemptRow> rows;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    Attempt attempt{.fence = {1, i}, .ended_at = base + Millis{i}, .response_status = 500};
    rows.push_back({.tenant = tenant,
                    .endpoint = 8,
                    .ended_at = attempt.ended_at,
                    .delivery = Seq{20},
                    .attempt = i,
                    .event = 9,
                    .status_code = 500});
    reader.put<AttemptRow>(rows.back());
    if (i < 3) {
      reader.rows<Attempt>()[{Seq{20}, i}] = attempt;
    } else {
      state.last = attempt;
    }
  }
  reader.rows<MessageState>()[Seq{20}] = state;
  reader.put<DeliveryRow>({.tenant = tenant, .endpoint = 8, .event = 9, .delivery = Seq{20}});

  for (const AttemptRow& row : rows) {
    EXPECT_EQ(find_attempt(reader, tenant, id_of(row)), row);
    EXPECT_FALSE(find_attempt(reader, TenantId{2}, id_of(row)));
    ASSERT_TRUE(attempt_of(reader, row));
    EXPECT_EQ(attempt_of(reader, row)->fence.attempt, row.attempt);
  }
  AttemptRow later = rows[0];
  later.attempt = 4;
  EXPECT_FALSE(find_attempt(reader, tenant, id_of(later)));
  EXPECT_FALSE(attempt_of(reader, later));

  const std::vector<AttemptRow> newest_first{rows[2], rows[1], rows[0]};
  EXPECT_EQ(list_attempts(reader, tenant, 8, {}, {}, down, 9), newest_first);
  EXPECT_EQ(list_attempts(reader, tenant, 8, {.after = base + Millis{1}}, {}, up, 9),
            (std::vector{rows[1], rows[2]}));
  EXPECT_EQ(list_attempts(reader, tenant, 8, {.before = base + Millis{2}}, {}, up, 9),
            std::vector{rows[0]});
  EXPECT_EQ(list_attempts(reader, tenant, 8, {}, parse_attempt_id(id_of(rows[1])), up, 9),
            std::vector{rows[2]});
  EXPECT_EQ(list_attempts(reader, tenant, 8, {}, parse_attempt_id(id_of(rows[1])), down, 9),
            std::vector{rows[0]});

  const Event event{.tenant = tenant, .application = 7, .number = 9, .addressed = {{8, Seq{20}}}};
  EXPECT_EQ(attempts_of(reader, event, {}, 9), newest_first);
  EXPECT_EQ(attempts_of(reader, event, 8, 2), (std::vector{rows[2], rows[1]}));
  EXPECT_TRUE(attempts_of(reader, event, 10, 9).empty());

  const auto found =
      state_of(reader, {.tenant = tenant, .endpoint = 8, .event = 9, .delivery = Seq{20}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, state);
  EXPECT_FALSE(
      state_of(reader, {.tenant = tenant, .endpoint = 8, .event = 9, .delivery = Seq{21}}));
}

TEST(WebhookRead, WhatWasNeverSetIsAsForEverybody) {
  MemoryReader reader;
  EXPECT_EQ(settings_of(reader, tenant), Settings{.tenant = tenant});
  EXPECT_EQ(health_of(reader, tenant, 8), (Health{.tenant = tenant, .endpoint = 8}));
  for (const std::uint64_t hour : {1, 2, 3, 4}) {
    reader.put<Stats>({.tenant = tenant, .endpoint = 8, .hour = hour});
  }
  const auto stats = list_stats(reader, tenant, 8, 2, 3);
  ASSERT_EQ(stats.size(), 2U);
  EXPECT_EQ(stats[0].hour, 2U);
  EXPECT_EQ(stats[1].hour, 3U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
