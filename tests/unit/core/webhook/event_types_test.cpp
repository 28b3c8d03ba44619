#include "unit/core/webhook/support.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using Why = Refused::Why;

EventType type(std::string name) { return {.tenant = tenant_one, .name = std::move(name)}; }

std::vector<std::string> active(Rig& rig) {
  std::vector<std::string> names;
  for (const EventType& one :
       list_event_types(rig.reader, tenant_one, "", ListOrder::ascending, 100)) {
    if (!one.archived) {
      names.push_back(one.name);
    }
  }
  return names;
}

TEST(WebhookEventTypes, AreMadeOnceAndAgainWhenTheyAreArchived) {
  Rig rig;
  const Moment first = rig.now;
  const auto made = rig.run(CreateEventType{type("a")}).only<EventTypeStored>();
  EXPECT_TRUE(made.created);
  expect_refused(rig.run(CreateEventType{type("a")}), Why::event_type_exists, "a");
  rig.run(DeleteEventType{tenant_one, "a"}).only<Done>();
  EXPECT_TRUE(find_event_type(rig.reader, tenant_one, "a")->archived);
  rig.run(DeleteEventType{tenant_one, "a"}).only<Done>();  // as often as it is asked for
  rig.pass(Millis{1000});
  EventType again = type("a");
  again.description = "d";
  EXPECT_TRUE(rig.run(CreateEventType{again}).only<EventTypeStored>().created);
  again.created_at = first;
  again.updated_at = rig.now;
  EXPECT_EQ(find_event_type(rig.reader, tenant_one, "a"), again);
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->event_types, 1U);
}

TEST(WebhookEventTypes, AreChangedInWhatIsGiven) {
  Rig rig;
  expect_refused(rig.run(ChangeEventType{tenant_one, "a", {}}), Why::event_type_not_found, "a");
  EXPECT_TRUE(rig.run(ChangeEventType{tenant_one, "a", {.description = "d", .group = "g"}, true})
                  .only<EventTypeStored>()
                  .created);
  const auto changed = rig.run(ChangeEventType{tenant_one,
                                               "a",
                                               {.schemas = "{}",
                                                .feature_flags = std::vector<std::string>{"f"},
                                                .archived = true,
                                                .deprecated = true},
                                               true})
                           .only<EventTypeStored>();
  EXPECT_FALSE(changed.created);
  EXPECT_EQ(changed.type.description, "d");
  EXPECT_EQ(changed.type.group, "g");
  EXPECT_EQ(changed.type.schemas, "{}");
  EXPECT_EQ(changed.type.feature_flags, std::vector<std::string>{"f"});
  EXPECT_TRUE(changed.type.archived);
  EXPECT_TRUE(changed.type.deprecated);
}

TEST(WebhookEventTypes, AreGoneWhenTheyAreExpunged) {
  Rig rig;
  make_event_types(rig, {"a"});
  rig.run(DeleteEventType{tenant_one, "a", /*expunge=*/true}).only<Done>();
  EXPECT_EQ(find_event_type(rig.reader, tenant_one, "a"), std::nullopt);
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->event_types, 0U);
  expect_refused(rig.run(DeleteEventType{tenant_one, "a", true}), Why::event_type_not_found, "a");
}

TEST(WebhookEventTypes, AreImportedTogether) {
  Rig rig;
  make_event_types(rig, {"same", "other", "gone"});
  EventType changed = type("other");
  changed.description = "d";
  const auto done = rig.run(ImportEventTypes{tenant_one, {type("same"), changed, type("new")}})
                        .only<EventTypesImported>();
  EXPECT_EQ(done.changed, (std::vector<std::string>{"new", "other"}));
  EXPECT_EQ(active(rig), (std::vector<std::string>{"gone", "new", "other", "same"}));
  const auto all = rig.run(ImportEventTypes{tenant_one, {type("same"), type("new")}, true})
                       .only<EventTypesImported>();
  EXPECT_EQ(all.changed, (std::vector<std::string>{"gone", "other"}));
  EXPECT_EQ(active(rig), (std::vector<std::string>{"new", "same"}));
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->event_types, 4U);
  // What is as it was is not written.
  EXPECT_TRUE(rig.run(ImportEventTypes{tenant_one, {type("same")}}).mutations.empty());
}

TEST(WebhookEventTypes, ExpungedInTheSameBatchDoNotComeBackByAnImport) {
  Rig rig;
  make_event_types(rig, {"a", "b"});
  rig.run(DeleteEventType{tenant_one, "a", true},
          ImportEventTypes{tenant_one, {type("b")}, /*archive_others=*/true});
  EXPECT_EQ(find_event_type(rig.reader, tenant_one, "a"), std::nullopt);
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->event_types, 1U);
}

TEST(WebhookEventTypes, AreSoManyAtMost) {
  Limits limits;
  limits.webhook_event_types_max = 2;
  Rig rig(limits);
  make_event_types(rig, {"a", "b"});
  expect_refused(rig.run(CreateEventType{type("c")}), Why::limit_reached, "event types");
  expect_refused(rig.run(ChangeEventType{tenant_one, "c", {}, true}), Why::limit_reached,
                 "event types");
  expect_refused(rig.run(ImportEventTypes{tenant_one, {type("a"), type("c")}}), Why::limit_reached,
                 "event types");
  rig.run(DeleteEventType{tenant_one, "a"}).only<Done>();
  rig.run(CreateEventType{type("a")}).only<EventTypeStored>();  // an archived one counts already
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
