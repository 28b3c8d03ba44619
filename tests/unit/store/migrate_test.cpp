// Stores as format 1 left them: some of the core's records were documents.
#include "store/migrate.h"

#include <gtest/gtest.h>

#include <functional>

#include "store/codec.h"
#include "store/memory/sim_store.h"
#include "store/old_topic.h"
#include "store/typed_reader.h"
#include "store/verify.h"

namespace hk::store {
namespace HK_TEST_FILE {

constexpr core::TenantId tenant{1};

core::Document counts_of_delayed() {
  return {.tenant = tenant,
          .kind = "delayed",
          .name = "q/001700000007",
          .fields = {{"counts", "0:2 17:1 999:12"}}};
}

core::Document task() {
  return {.tenant = tenant,
          .kind = "move_task",
          .name = "dead/00000000000000000003",
          .fields = {{"source", "dead"},
                     {"number", "3"},
                     {"destination", "q"},
                     {"rate", "500"},
                     {"status", "1"},
                     {"moved", "4"},
                     {"to_move", "9"},
                     {"started_at", "1000"},
                     {"ended_at", "0"},
                     {"up_to", "0"},
                     {"reason", ""}}};
}

core::Document change() {
  return {.tenant = tenant, .kind = "retime", .name = "q", .fields = {{"up_to", "7"}}};
}

core::Document of_an_adapter() {
  return {.tenant = tenant, .kind = "sns_signing_key", .name = "1", .fields = {{"a", "b"}}};
}

core::Document topic() {
  return {.tenant = tenant,
          .kind = "sns_topic",
          .name = "t",
          .fields = {{"Region", "r"},
                     {"Incarnation", "i"},
                     {"subscription/one/Protocol", "sqs"},
                     {"subscription/one/Endpoint", "arn:aws:sqs:r:1:q"},
                     {"subscription/one/Confirmed", "true"}},
          .version = 2};
}

void write(Store& store, const std::vector<core::Mutation>& mutations) {
  std::vector<Write> writes;
  for (const core::Mutation& one : mutations) {
    encode(one, writes);
  }
  ASSERT_TRUE(store.write(writes).has_value());
}

void fill(Store& store, const std::vector<core::Document>& documents) {
  std::vector<core::Mutation> rows{
      core::Put<core::Meta>{{.format = 1, .epoch = 4, .time = moment_from_ms(5)}},
      core::Put<core::Tenant>{{.id = tenant, .name = "one"}},
      core::Put<core::Tenant>{{.id = core::TenantId{2}, .name = "two"}},
      core::Put<core::Queue>{{.tenant = tenant, .name = "q", .pull = core::PullSettings{}}},
      core::Put<core::Queue>{{.tenant = tenant, .name = "dead", .pull = core::PullSettings{}}}};
  for (const core::Document& document : documents) {
    rows.emplace_back(core::Put<core::Document>{document});
  }
  write(store, rows);
}

TEST(Migrate, DocumentsOfTheCoreBecomeRecords) {
  SimStore store;
  core::Document gone = change();
  gone.name = "gone";  // a queue that is not there any more
  core::Document of_another = counts_of_delayed();
  of_another.tenant = core::TenantId{2};
  fill(store, {counts_of_delayed(), task(), change(), gone, of_an_adapter(), of_another, topic()});
  ASSERT_TRUE(migrate(store).has_value());

  TypedReader reader(store.snapshot());
  EXPECT_EQ(reader.get<core::Meta>({}),
            (core::Meta{.format = 6, .epoch = 4, .time = moment_from_ms(5)}));
  EXPECT_EQ(reader.scan<core::Document>(), std::vector{of_an_adapter()});
  core::DelayedSecond delayed{.tenant = tenant,
                              .second = moment_from_ms(1'700'000'007'000),
                              .queue = "q",
                              .slots = {{0, 2}, {17, 1}, {999, 12}}};
  core::DelayedSecond other = delayed;
  other.tenant = core::TenantId{2};
  EXPECT_EQ(reader.scan<core::DelayedSecond>(), (std::vector{delayed, other}));
  EXPECT_EQ(reader.scan<core::Task>(),
            (std::vector<core::Task>{{.tenant = tenant,
                                      .number = 3,
                                      .work = core::MoveMessages{"dead", "q"},
                                      .rate = 500,
                                      .status = core::Task::Status::running,
                                      .total = 9,
                                      .processed = 4,
                                      .started_at = moment_from_ms(1000)}}));
  EXPECT_EQ(reader.scan<core::Topic>(), std::vector{old_topic(topic())});
  EXPECT_EQ(reader.get<core::Topic>({tenant, "!t"})->subscriptions.at(0).queue, "q");
  EXPECT_EQ(reader.get<core::Queue>({tenant, "q"})->retime_up_to, core::Seq{7});
  EXPECT_EQ(reader.get<core::Queue>({tenant, "dead"})->retime_up_to, core::Seq{});

  const BatchSeq last = store.last_written();
  ASSERT_TRUE(migrate(store).has_value());
  EXPECT_EQ(store.last_written(), last) << "once is enough";
}

TEST(Migrate, LeavesANewStoreAloneAndOneWhoseMetaCannotBeRead) {
  SimStore fresh;
  ASSERT_TRUE(migrate(fresh).has_value());
  EXPECT_EQ(fresh.last_written(), 0U);

  SimStore damaged;
  const std::vector<Write> broken{{Write::Kind::put, Table::meta, "meta", "\xff"}};
  ASSERT_TRUE(damaged.write(broken).has_value());
  ASSERT_TRUE(migrate(damaged).has_value());
  EXPECT_EQ(damaged.last_written(), 1U);
  EXPECT_FALSE(verify(*damaged.snapshot())->ok());
}

void set(core::Document& document, const std::string& name, const std::string& value) {
  for (core::Header& field : document.fields) {
    if (field.name == name) {
      field.value = value;
      return;
    }
  }
  ADD_FAILURE() << "no field " << name;
}

struct Damage {
  const char* what;
  std::function<void(core::Document&)> done;
};

void expect_refused(const core::Document& sound, const std::vector<Damage>& rows) {
  for (const Damage& row : rows) {
    SCOPED_TRACE(row.what);
    core::Document damaged = sound;
    row.done(damaged);
    SimStore store;
    fill(store, {damaged});
    const auto migrated = migrate(store);
    ASSERT_FALSE(migrated.has_value());
    EXPECT_EQ(migrated.error().kind, ErrorKind::corruption);
    EXPECT_EQ(store.last_written(), 1U);
  }
}

TEST(Migrate, DamagedCountsOfDelayedMessagesAreRefused) {
  const auto counts = [](const char* text) {
    return [text](core::Document& document) { document.fields.at(0).value = text; };
  };
  const auto named = [](const char* name) {
    return [name](core::Document& document) { document.name = name; };
  };
  expect_refused(counts_of_delayed(),
                 {{"a name without a second", named("q")},
                  {"no digits", named("q/")},
                  {"no number", named("q/00000000106x")},
                  {"too few digits", named("q/1060")},
                  {"more digits than there are times", named("q/9223372036854775807")},
                  {"more digits than a number has", named("q/99999999999999999999")},
                  {"a negative second", named("q/-00000001060")},
                  {"no counts", [](core::Document& document) { document.fields.clear(); }},
                  {"two fields",
                   [](core::Document& document) {
                     document.fields.push_back({"counts", "0:1"});
                   }},
                  {"not a number", counts("x")},
                  {"no count", counts("0")},
                  {"an empty count", counts("0:")},
                  {"another sign between", counts("0;1")},
                  {"another sign between two", counts("1:1,2:2")},
                  {"nothing counted", counts("0:0")},
                  {"a second of more than 1000 ms", counts("1000:1")},
                  {"the second of two", counts("0:1 x")}});
}

TEST(Migrate, DamagedMoveTasksAreRefused) {
  std::vector<Damage> rows{
      {"another name", [](core::Document& document) { document.name = "dead/1"; }},
      {"another source", [](core::Document& document) { set(document, "source", "alive"); }},
      {"a status before the first", [](core::Document& document) { set(document, "status", "0"); }},
      {"a status behind the last", [](core::Document& document) { set(document, "status", "5"); }},
      {"nothing in it", [](core::Document& document) { document.fields.clear(); }},
  };
  for (const char* name :
       {"number", "rate", "status", "moved", "to_move", "started_at", "ended_at", "up_to"}) {
    rows.push_back({name, [name](core::Document& document) { set(document, name, ""); }});
    rows.push_back({name, [name](core::Document& document) { set(document, name, "1x"); }});
  }
  expect_refused(task(), rows);
}

TEST(Migrate, DamagedChangesOfQueuesAreRefused) {
  const auto up_to = [](const char* text) {
    return [text](core::Document& document) { document.fields.at(0).value = text; };
  };
  expect_refused(change(), {{"no field", [](core::Document& document) { document.fields.clear(); }},
                            {"no number", up_to("x")},
                            {"something behind the number", up_to("1x")},
                            {"larger than a number", up_to("99999999999999999999")}});
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
