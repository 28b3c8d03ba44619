// What the core keeps as documents is read at start-up. One that it cannot have written stops it:
// nothing is decided on data that is not what was written.
#include <functional>

#include "core/move/document.h"
#include "core/pull/delayed.h"
#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Document& only_document(PullRig& rig, const std::string& kind) {
  Document* found = nullptr;
  for (auto& [key, document] : rig.reader.rows<Document>()) {
    if (document.kind == kind) {
      EXPECT_EQ(found, nullptr);
      found = &document;
    }
  }
  EXPECT_NE(found, nullptr);
  return *found;
}

void set(Document& document, const std::string& name, const std::string& value) {
  for (Header& field : document.fields) {
    if (field.name == name) {
      field.value = value;
      return;
    }
  }
  ADD_FAILURE() << "no field " << name;
}

struct Damage {
  const char* what;
  std::function<void(Document&)> done;
};

void expect_refused(PullRig& rig, const std::string& kind, const std::vector<Damage>& rows) {
  const Document sound = only_document(rig, kind);
  for (const Damage& row : rows) {
    SCOPED_TRACE(row.what);
    Document& stored = only_document(rig, kind);
    row.done(stored);
    EXPECT_THROW(rig.restart(), CorruptRecord);
    stored = sound;
  }
  rig.restart();  // the sound one is read
}

TEST(DamagedDocuments, CountsOfDelayedMessagesAreRefused) {
  PullRig rig;
  rig.make("q");
  Publish later = PullRig::sending("q", "later");
  later.delay = Millis{60'000};
  rig.run(std::move(later));

  const auto counts = [](const char* text) {
    return [text](Document& document) { document.fields.at(0).value = text; };
  };
  const auto named = [](const char* name) {
    return [name](Document& document) { document.name = name; };
  };
  expect_refused(rig, Delayed::kind,
                 {{"a name without a second", named("q")},
                  {"no digits", named("q/")},
                  {"no number", named("q/00000000106x")},
                  {"too few digits", named("q/1060")},
                  {"more digits than there are times", named("q/9223372036854775807")},
                  {"more digits than a number has", named("q/99999999999999999999")},
                  {"a negative second", named("q/-00000001060")},
                  {"no counts", [](Document& document) { document.fields.clear(); }},
                  {"two fields",
                   [](Document& document) {
                     document.fields.push_back({"counts", "0:1"});
                   }},
                  {"not a number", counts("x")},
                  {"no count", counts("0")},
                  {"an empty count", counts("0:")},
                  {"another sign between", counts("0;1")},
                  {"nothing counted", counts("0:0")},
                  {"a second of more than 1000 ms", counts("1000:1")},
                  {"the second of two", counts("0:1 x")}});
  EXPECT_EQ(rig.count("q").delayed, 1U);
}

TEST(DamagedDocuments, MoveTasksAreRefused) {
  PullRig rig;
  rig.make("dead");
  rig.make("q");
  rig.send("dead", "a");
  rig.send("dead", "b");
  rig.run(StartMoveTask{tenant_one, "dead", "q", 1});

  std::vector<Damage> rows{
      {"another name", [](Document& document) { document.name = "dead/1"; }},
      {"another source", [](Document& document) { set(document, "source", "alive"); }},
      {"a status before the first", [](Document& document) { set(document, "status", "0"); }},
      {"a status behind the last", [](Document& document) { set(document, "status", "5"); }},
      {"nothing in it", [](Document& document) { document.fields.clear(); }},
  };
  for (const char* name :
       {"number", "rate", "status", "moved", "to_move", "started_at", "ended_at", "up_to"}) {
    rows.push_back({name, [name](Document& document) { set(document, name, ""); }});
    rows.push_back({name, [name](Document& document) { set(document, name, "1x"); }});
  }
  expect_refused(rig, move_task_kind, rows);
  EXPECT_EQ(rig.run(ListMoveTasks{tenant_one, "dead"}).only<MoveTasksListed>().tasks.size(), 1U);
}

TEST(DamagedDocuments, QueuesThatAreBeingChangedAreRefused) {
  Limits limits;
  limits.sweeps_per_batch = 1;
  PullRig rig(limits);
  rig.make("q");
  for (const char* body : {"a", "b", "c"}) {
    rig.send("q", body);
  }
  PullSettings shorter = *rig.reader.get<Queue>({tenant_one, "q"})->pull;
  shorter.retention = Millis{60'000};
  rig.run(SetPullSettings{tenant_one, "q", shorter});

  const auto up_to = [](const char* text) {
    return [text](Document& document) { document.fields.at(0).value = text; };
  };
  expect_refused(rig, "retime",
                 {{"no field", [](Document& document) { document.fields.clear(); }},
                  {"no number", up_to("x")},
                  {"something behind the number", up_to("1x")},
                  {"larger than a number", up_to("99999999999999999999")}});
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
