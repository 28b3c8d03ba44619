#include "store/verify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/codec.h"
#include "store/key.h"
#include "store/memory/sim_store.h"
#include "store/table_name.h"

namespace hk::store {
namespace HK_TEST_FILE {

using core::Seq;
using core::TenantId;

constexpr TenantId tenant{1};

std::shared_ptr<const core::Message> message(std::uint64_t seq, std::string dedup_id = "") {
  core::Message m;
  m.id = {Seq{seq}, seq * 7};
  m.tenant = tenant;
  m.created_at = moment_from_ms(1000);
  m.not_before = moment_from_ms(2000);
  m.url = "http://a/";
  m.host = "http://a:80";
  m.dedup_id = std::move(dedup_id);
  return std::make_shared<const core::Message>(m);
}

std::shared_ptr<const core::Message> queued(std::uint64_t seq) {
  core::Message m = *message(seq);
  m.queue = "nowhere";
  return std::make_shared<const core::Message>(m);
}

core::Put<core::Attempt> put_attempt(Seq seq, const core::Attempt& made) {
  return {{{seq, made.fence.attempt}, made}};
}

core::MessageState state(core::Status status, bool in_dlq = false) {
  core::MessageState s;
  s.status = status;
  s.attempts = 2;
  s.due = moment_from_ms(3000);
  s.finished_at = moment_from_ms(4000);
  s.in_dlq = in_dlq;
  return s;
}

core::Put<core::LaneRow> index_entry(std::uint64_t seq, std::int64_t due) {
  return {{core::lane_of(*message(seq)), {.place = {moment_from_ms(due), Seq{seq}}}}};
}

/// 1 delivered, 2 a dead letter, 3 waits for a retry, 4 waits in the index, 5 too young for one.
std::vector<core::Mutation> sound() {
  core::Attempt first;
  first.fence = {1, 1};
  return {
      core::Put<core::Meta>{{.format = 1, .epoch = 1, .indexed_up_to = Seq{4}, .time = {}}},
      core::Put<core::Tenant>{{.id = tenant, .name = "t"}},
      core::Put<core::Queue>{{.tenant = tenant, .name = "q"}},
      core::Put<core::FlowKey>{{.tenant = tenant, .key = "f"}},
      core::Put<core::Message>{message(1)},
      core::Put<core::MessageState>{{Seq{1}, state(core::Status::succeeded)}},
      put_attempt(Seq{1}, first),
      core::Put<core::Message>{message(2)},
      core::Put<core::MessageState>{{Seq{2}, state(core::Status::failed, true)}},
      core::Put<core::DeadLetterKey>{{tenant, moment_from_ms(4000), Seq{2}}},
      core::Put<core::Message>{message(3)},
      core::Put<core::MessageState>{{Seq{3}, state(core::Status::pending)}},
      index_entry(3, 3000),
      core::Put<core::Message>{message(4, "d")},
      core::Put<core::Dedup>{{{tenant, "d"}, {{Seq{4}, 28}, moment_from_ms(9000)}}},
      index_entry(4, 2000),
      core::Put<core::Message>{message(5)},
      core::Put<core::Events>{
          {tenant, moment_from_ms(1), 1, {{Seq{1}, core::EventKind::created, 0}}}},
      core::Put<core::Events>{
          {tenant, moment_from_ms(2), 2, {{Seq{5}, core::EventKind::created, 0}}}},
      core::Put<core::Expiry>{{moment_from_ms(9000), 1, {Seq{1}}, {{tenant, "d"}}}},
      core::Put<core::Schedule>({.tenant = tenant, .id = "s", .cron = "@daily"}),
      core::Put<core::ScheduleState>{{{tenant, "s"}, {.next_at = moment_from_ms(7000)}}},
      core::Put<core::ScheduleDue>{{moment_from_ms(7000), tenant, "s"}},
      core::Put<core::Schedule>({.tenant = tenant, .id = "ended", .cron = "@daily"}),
      core::Put<core::ScheduleState>{{{tenant, "ended"}, {}}},
      core::Put<core::Counters>{{tenant,
                                 {.accepted = 6,
                                  .pending = 3,
                                  .succeeded = 2,
                                  .failed = 1,
                                  .dead_letters = 1,
                                  .attempts = 8,
                                  .purged = 1}}},
  };
}

VerifyReport report_of(const std::vector<core::Mutation>& mutations,
                       const std::vector<Write>& raw = {}) {
  SimStore store;
  std::vector<Write> batch;
  for (const core::Mutation& mutation : mutations) {
    encode(mutation, batch);
  }
  batch.insert(batch.end(), raw.begin(), raw.end());
  EXPECT_TRUE(store.write(batch).has_value());
  const auto reader = store.snapshot();
  auto report = verify(*reader);
  EXPECT_TRUE(report.has_value());
  return *report;
}

TEST(Verify, FindsNothingWrongWithASoundStore) {
  const VerifyReport report = report_of(sound());
  for (const std::string& problem : report.problems) {
    ADD_FAILURE() << problem;
  }
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.rows[static_cast<std::size_t>(Table::message)], 5U);
  EXPECT_EQ(report.rows[static_cast<std::size_t>(Table::lane)], 2U);
  EXPECT_EQ(report.unfinished, 3U);
  EXPECT_EQ(report.without_index, 1U);
}

TEST(Verify, LooksForNoMessageBehindTheMarkOfABatch) {
  std::vector<core::Mutation> rows = sound();
  const std::string id = "batch topic x";
  rows.emplace_back(
      core::Put<core::Dedup>{{{tenant, id}, {{Seq{4'000'000}, 28}, moment_from_ms(9000)}}});

  EXPECT_EQ(report_of(rows).problems, std::vector<std::string>{});
}

TEST(Verify, FindsNothingWrongWithAnEmptyStore) {
  SimStore store;
  const auto reader = store.snapshot();
  const auto report = verify(*reader);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->ok());
}

TEST(Verify, FindsEachKindOfDamage) {
  struct Row {
    const char* name;
    core::Mutation damage;
    const char* says;
  };
  const auto counters = [](core::Counters changed) {
    return core::Put<core::Counters>{{tenant, changed}};
  };
  core::Attempt third;
  third.fence = {1, 3};
  const Row rows[] = {
      {"lost index entry",
       core::Erase<core::LaneRow>(core::lane_of(*message(4)),
                                  core::LanePlace{moment_from_ms(2000), Seq{4}}),
       "message 4 is unfinished but in no lane"},
      {"a state needs an index entry, however young",
       core::Put<core::MessageState>{{Seq{5}, state(core::Status::pending)}},
       "message 5 is unfinished but in no lane"},
      {"mark too far", core::Put<core::Meta>{{.format = 1, .epoch = 1, .indexed_up_to = Seq{5}}},
       "message 5 is unfinished but in no lane"},
      {"index entry of a final message", index_entry(1, 3000), "which is final"},
      {"index entry of nobody", index_entry(9, 3000), "message 9, which is not there"},
      {"two index entries", index_entry(4, 2500), "more than one index entry"},
      {"index entry at another time", index_entry(4, 2500), "not at the due time"},
      {"index entry in another lane",
       core::Put<core::LaneRow>{{{tenant, "q", "", "", ""}, {.place = {Moment{}, Seq{5}}}}},
       "not in the lane of message 5"},
      {"wrong lag", core::Put<core::Queue>{{.tenant = tenant, .name = "q", .lag = 2}},
       "the lag of queue q is 2, but 0 were counted"},
      {"message of no queue", core::Put<core::Message>{queued(6)},
       "message 6 waits in queue nowhere, which is not there"},
      {"lost dead letter", core::Erase<core::DeadLetterKey>(tenant, moment_from_ms(4000), Seq{2}),
       "message 2 should be in the dead-letter queue"},
      {"dead letter of a delivered message",
       core::Put<core::DeadLetterKey>{{tenant, moment_from_ms(4000), Seq{1}}},
       "of message 1 is not what"},
      {"state of nobody", core::Put<core::MessageState>{{Seq{8}, state(core::Status::pending)}},
       "a state of message 8, which is not there"},
      {"attempt that is none", put_attempt(Seq{1}, third), "Attempt 3 is not an earlier"},
      {"dedup of another message", core::Put<core::Dedup>{{{tenant, "x"}, {{Seq{4}, 28}, {}}}},
       "names message 4, which has another id"},
      {"dedup of the future", core::Put<core::Dedup>{{{tenant, "x"}, {{Seq{40}, 28}, {}}}},
       "never accepted"},
      {"events out of order",
       core::Put<core::Events>{
           {tenant, moment_from_ms(3), 1, {{Seq{1}, core::EventKind::active, 1}}}},
       "was written before"},
      {"event of the future",
       core::Put<core::Events>{
           {tenant, moment_from_ms(3), 3, {{Seq{99}, core::EventKind::active, 1}}}},
       "message 99, which was never accepted"},
      {"schedule without a state", core::Put<core::Schedule>({.tenant = tenant, .id = "t"}),
       "has no state: it would never run"},
      {"state of no schedule", core::Put<core::ScheduleState>{{{tenant, "t"}, {}}},
       "of a schedule that is not there"},
      {"run of nobody", core::Erase<core::ScheduleState>(tenant, "s"), "not the next run"},
      {"two places in the order of runs",
       core::Put<core::ScheduleDue>{{moment_from_ms(8000), tenant, "s"}}, "not the next run"},
      {"not conserved",
       counters({.accepted = 6,
                 .pending = 3,
                 .succeeded = 3,
                 .failed = 1,
                 .dead_letters = 1,
                 .attempts = 8,
                 .purged = 1}),
       "accepted is not pending"},
      {"wrong pending",
       counters({.accepted = 6,
                 .pending = 2,
                 .succeeded = 3,
                 .failed = 1,
                 .dead_letters = 1,
                 .attempts = 8,
                 .purged = 1}),
       "the counter pending is 2, but 3 were counted"},
      {"wrong dead letters",
       counters({.accepted = 6,
                 .pending = 3,
                 .succeeded = 2,
                 .failed = 1,
                 .dead_letters = 2,
                 .attempts = 8,
                 .purged = 1}),
       "the counter dead_letters is 2, but 1 were counted"},
      {"a message gone without a trace",
       counters({.accepted = 7,
                 .pending = 3,
                 .succeeded = 3,
                 .failed = 1,
                 .dead_letters = 1,
                 .attempts = 8,
                 .purged = 1}),
       "the counter accepted less purged is 6, but 5 were counted"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto mutations = sound();
    mutations.push_back(row.damage);
    const VerifyReport report = report_of(mutations);
    EXPECT_FALSE(report.ok());
    EXPECT_TRUE(std::ranges::any_of(report.problems, [&row](const std::string& problem) {
      return problem.find(row.says) != std::string::npos;
    })) << (report.problems.empty() ? "no problem" : report.problems.front());
  }
}

/// Message 1 of a queue was delivered and holds its slot for 2, the callback that tells of it.
std::vector<core::Mutation> waiting_for_a_callback() {
  core::Message source = *message(1);
  source.queue = "q";
  core::Message callback = *message(2);
  callback.callback_of = source.id;
  core::MessageState delivered = state(core::Status::succeeded);
  delivered.callbacks_open = 1;
  return {
      core::Put<core::Meta>{{.format = 1, .epoch = 1, .indexed_up_to = Seq{1}, .time = {}}},
      core::Put<core::Message>{std::make_shared<const core::Message>(source)},
      core::Put<core::MessageState>{{Seq{1}, delivered}},
      core::Put<core::LaneRow>{{core::lane_of(source),
                                {.place = {Moment{}, Seq{1}}, .started = true, .finished = true}}},
      core::Put<core::Message>{std::make_shared<const core::Message>(callback)},
      core::Put<core::Counters>{
          {tenant, {.accepted = 2, .pending = 1, .succeeded = 1, .attempts = 2}}},
  };
}

TEST(Verify, KnowsWhoHoldsAQueueForItsCallbacks) {
  const VerifyReport report = report_of(waiting_for_a_callback());
  EXPECT_TRUE(report.ok()) << report.problems.front();

  struct Row {
    const char* name;
    core::Mutation damage;
    const char* says;
  };
  const core::LaneKey lane{tenant, "q", "", "", ""};
  core::MessageState two = state(core::Status::succeeded);
  two.callbacks_open = 2;
  core::Message of_nobody = *message(2);
  of_nobody.callback_of = {Seq{9}, 9};
  const Row rows[] = {
      {"an entry that does not say so",
       core::Put<core::LaneRow>{{lane, {.place = {Moment{}, Seq{1}}, .started = true}}},
       "whether it holds its slot"},
      {"an entry without a slot",
       core::Put<core::LaneRow>{{lane, {.place = {Moment{}, Seq{1}}, .finished = true}}},
       "whether it holds its slot"},
      {"a lost entry", core::Erase<core::LaneRow>(lane, core::LanePlace{Moment{}, Seq{1}}),
       "message 1 waits for its callbacks, but the next start would not know"},
      {"it waits for too many", core::Put<core::MessageState>{{Seq{1}, two}},
       "waits for 2 callbacks, but 1 are"},
      {"it waits for nobody",
       core::Put<core::Message>{std::make_shared<const core::Message>(of_nobody)},
       "waits for 1 callbacks, but 0 are"},
      {"it has stopped waiting",
       core::Put<core::MessageState>{{Seq{1}, state(core::Status::succeeded)}},
       "message 1 does not wait for its callbacks"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto mutations = waiting_for_a_callback();
    mutations.push_back(row.damage);
    const VerifyReport found = report_of(mutations);
    EXPECT_TRUE(std::ranges::any_of(found.problems, [&row](const std::string& problem) {
      return problem.find(row.says) != std::string::npos;
    })) << (found.problems.empty() ? "no problem" : found.problems.front());
  }
}

/// Application 7 with two endpoints, a token and an integration; 0 with one endpoint.
std::vector<core::Mutation> webhooks() {
  using namespace core::webhook;
  using Kind = core::webhook::Name::Kind;
  using core::webhook::Application;
  using core::webhook::Endpoint;
  using core::webhook::Event;
  using core::webhook::Name;
  return {
      core::Put<Application>{
          {.tenant = tenant, .number = 7, .uid = "u", .endpoints = 2, .disabled = 1, .tokens = 1}},
      core::Put<Name>{{tenant, Kind::application_uid, 0, "u", 7}},
      core::Put<EventType>{{.tenant = tenant, .name = "a"}},
      core::Put<Endpoint>({.tenant = tenant, .application = 7, .number = 8, .uid = "e"}),
      core::Put<Name>{{tenant, Kind::endpoint_uid, 7, "e", 8}},
      core::Put<Endpoint>(
          {.tenant = tenant, .application = 7, .number = 9, .disabled = Endpoint::Disabled::gone}),
      core::Put<Endpoint>({.tenant = tenant, .application = 0, .number = 10}),
      core::Put<Event>({.tenant = tenant, .application = 7, .number = 11, .event_id = "i"}),
      core::Put<Name>{{tenant, Kind::event_id, 7, "i", 11}},
      core::Put<AppToken>{{.tenant = tenant, .digest = "d", .application = 7}},
      core::Put<Name>{{tenant, Kind::token, 7, "d", 0}},
      core::Put<AppToken>{{.tenant = tenant, .digest = "k", .application = 7, .integration = 3}},
      core::Put<Integration>{{.tenant = tenant, .application = 7, .number = 3, .digest = "k"}},
      core::Put<Totals>{{.tenant = tenant, .applications = 1, .event_types = 1}},
  };
}

TEST(Verify, KnowsWhatBelongsTogetherOfWebhooks) {
  using namespace core::webhook;
  using Kind = core::webhook::Name::Kind;
  using core::webhook::Application;
  using core::webhook::Endpoint;
  using core::webhook::Event;
  using core::webhook::Name;
  const VerifyReport report = report_of(webhooks());
  EXPECT_TRUE(report.ok()) << report.problems.front();

  struct Row {
    const char* name;
    core::Mutation damage;
    const char* says;
  };
  const auto kind = [](Kind one) { return static_cast<std::uint32_t>(one); };
  const Row rows[] = {
      {"a lost uid", core::Erase<Name>(tenant, kind(Kind::application_uid), 0U, "u"),
       "is not found by its uid u"},
      {"a lost uid of an endpoint", core::Erase<Name>(tenant, kind(Kind::endpoint_uid), 7U, "e"),
       "is not found by its uid e"},
      {"a uid of nobody", core::Put<Name>{{tenant, Kind::application_uid, 0, "v", 12}},
       "names what is not there"},
      {"a uid of another", core::Put<Name>{{tenant, Kind::endpoint_uid, 7, "f", 8}},
       "names what is not there"},
      {"an eventId of nothing", core::Erase<Event>(tenant, 7U, 11U), "names what is not there"},
      {"a listed token that is gone", core::Put<Name>{{tenant, Kind::token, 7, "gone", 0}},
       "names what is not there"},
      {"a token that is not listed", core::Erase<Name>(tenant, kind(Kind::token), 7U, "d"),
       "is not in the list of its application"},
      {"a token of nobody",
       core::Put<AppToken>{{.tenant = tenant, .digest = "k", .application = 8, .integration = 3}},
       "is of an application that is not there"},
      {"a key of another",
       core::Put<AppToken>{{.tenant = tenant, .digest = "x", .application = 7, .integration = 3}},
       "is not the key of its integration"},
      {"a lost key", core::Erase<AppToken>(tenant, "k"), "has a key that opens nothing"},
      {"an integration of nobody",
       core::Put<Integration>{{.tenant = tenant, .application = 8, .number = 3}},
       "is of an application that is not there"},
      {"an endpoint of nobody",
       core::Put<Endpoint>({.tenant = tenant, .application = 12, .number = 8}),
       "is of an application that is not there"},
      {"an endpoint too many",
       core::Put<Endpoint>({.tenant = tenant, .application = 7, .number = 12}),
       "has not as many endpoints"},
      {"an endpoint that is not disabled",
       core::Put<Endpoint>({.tenant = tenant, .application = 7, .number = 9}),
       "has not as many endpoints"},
      {"an application too many", core::Put<Application>{{.tenant = tenant, .number = 8}},
       "has not as many applications"},
      {"an event type too few", core::Erase<EventType>(tenant, "a"),
       "has not as many applications or event types"},
      {"lost totals", core::Erase<Totals>(tenant), "has not as many applications"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto mutations = webhooks();
    mutations.push_back(row.damage);
    const VerifyReport found = report_of(mutations);
    EXPECT_TRUE(std::ranges::any_of(found.problems, [&row](const std::string& problem) {
      return problem.find(row.says) != std::string::npos;
    })) << (found.problems.empty() ? "no problem" : found.problems.front());
  }
}

TEST(Verify, FindsBytesThatAreNoRecordInEveryTable) {
  for (const Table table : all_tables) {
    SCOPED_TRACE(table_name(table));
    const Write broken_key{Write::Kind::put, table, "x", "\xff\xff\xff"};
    EXPECT_FALSE(report_of(sound(), {broken_key}).ok());
  }
  const Write broken_value{Write::Kind::put, Table::message, encode_key<core::Message>(Seq{4}),
                           "\xff\xff\xff"};
  EXPECT_FALSE(report_of(sound(), {broken_value}).ok());
}

TEST(Verify, FindsAScheduleThatIsNotInTheOrderOfRuns) {
  const std::string due = encode_key<core::ScheduleDue>({moment_from_ms(7000), tenant, "s"});
  const VerifyReport report =
      report_of(sound(), {{Write::Kind::erase, Table::schedule_due, due, {}}});
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("not in the order of runs"), std::string::npos);
}

TEST(Verify, ListsABoundedNumberOfProblems) {
  std::vector<core::Mutation> mutations;
  for (std::uint64_t seq = 1; seq <= 300; ++seq) {
    mutations.push_back(core::Put<core::MessageState>{{Seq{seq}, state(core::Status::pending)}});
  }
  const VerifyReport report = report_of(mutations);
  EXPECT_EQ(report.problem_count, 300U);
  EXPECT_EQ(report.problems.size(), problems_listed_max);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
