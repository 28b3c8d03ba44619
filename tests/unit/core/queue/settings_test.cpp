#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TEST(UpsertQueue, ChangesWhatIsGivenAndNothingElse) {
  Rig rig;
  struct Row {
    std::string_view name;
    std::optional<std::uint32_t> parallelism;
    std::optional<bool> paused;
    std::uint32_t parallelism_after;
    bool paused_after;
  };
  const Row rows[] = {
      {"made with nothing given", {}, {}, 1, false},
      {"parallelism", 4, {}, 4, false},
      {"pause", {}, true, 4, true},
      {"pausing twice", {}, true, 4, true},
      {"both", 2, false, 2, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    rig.run(UpsertQueue{tenant_one, "q", row.parallelism, row.paused}).only<Done>();
    const Queue& stored = rig.reader.rows<Queue>().at({tenant_one, "q"});
    EXPECT_EQ(stored.parallelism, row.parallelism_after);
    EXPECT_EQ(stored.paused, row.paused_after);
  }
}

TEST(UpsertQueue, RefusesNonsense) {
  Rig rig;
  EXPECT_EQ(rig.run(UpsertQueue{tenant_one, "q", 0, {}}).replies.at(0).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(rig.run(UpsertQueue{TenantId{9}, "q", 1, {}}).replies.at(0).error().kind,
            ErrorKind::not_found);
  EXPECT_TRUE(rig.reader.rows<Queue>().empty());
}

TEST(Queue, SendsOneAfterTheOther) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("q")), Rig::publishing(queued("q")));
  EXPECT_EQ(ran.started(), seqs({1}));

  EXPECT_EQ(rig.run(Rig::outcome(ran.starts.at(0), true)).started(), seqs({2}));
}

TEST(Queue, HoldsItsOrderWhileTheFirstIsBeingRetried) {
  Rig rig;
  Ran ran = rig.run(Rig::publishing(queued("q", "", {Millis{100}})), Rig::publishing(queued("q")));
  ran = rig.run(Rig::outcome(ran.starts.at(0), false));
  EXPECT_TRUE(ran.starts.empty());
  rig.pass(Millis{100});
  ran = rig.run();
  EXPECT_EQ(ran.started(), seqs({1}));

  EXPECT_EQ(rig.run(Rig::outcome(ran.starts.at(0), false)).started(), seqs({2}));
}

TEST(Queue, GroupsRunBesideEachOther) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("q", "a")), Rig::publishing(queued("q", "a")),
                          Rig::publishing(queued("q", "b")), Rig::publishing(queued("q")));
  EXPECT_EQ(ran.started(), seqs({1, 3, 4}));
}

TEST(Queue, ParallelismChangesTakeEffectAtOnce) {
  Rig rig;
  rig.run(Rig::publishing(queued("q")), Rig::publishing(queued("q")), Rig::publishing(queued("q")));

  EXPECT_EQ(rig.run(UpsertQueue{tenant_one, "q", 3, {}}).started(), seqs({2, 3}));
}

TEST(Queue, PausedStartsNothingNewButGoesOnWithWhatItBegan) {
  Rig rig;
  Ran ran = rig.run(Rig::publishing(queued("q", "", {Millis{0}})), Rig::publishing(queued("q")));
  rig.run(UpsertQueue{tenant_one, "q", {}, true});

  ran = rig.run(Rig::outcome(ran.starts.at(0), false));
  EXPECT_EQ(ran.started(), seqs({1}));
  EXPECT_TRUE(rig.run(Rig::outcome(ran.starts.at(0), true)).starts.empty());

  EXPECT_EQ(rig.run(UpsertQueue{tenant_one, "q", {}, false}).started(), seqs({2}));
}

TEST(Queue, PauseSurvivesARestart) {
  Rig rig;
  rig.run(UpsertQueue{tenant_one, "q", {}, true}, Rig::publishing(queued("q")));
  rig.restart();

  EXPECT_TRUE(rig.run().starts.empty());
  EXPECT_EQ(rig.run(UpsertQueue{tenant_one, "q", {}, false}).started(), seqs({1}));
}

TEST(FlowKey, PausedHoldsItsMessages) {
  Rig rig;
  rig.run(SetFlowKeyPaused{tenant_one, "f", true});
  Message message = message_to("http://a");
  message.flow_key = "f";
  EXPECT_TRUE(rig.run(Rig::publishing(message)).starts.empty());
  rig.restart();
  EXPECT_TRUE(rig.run().starts.empty());

  EXPECT_EQ(rig.run(SetFlowKeyPaused{tenant_one, "f", false}).started(), seqs({1}));
}

TEST(FlowKey, RefusesNonsense) {
  Rig rig;
  EXPECT_EQ(rig.run(SetFlowKeyPaused{tenant_one, "", true}).replies.at(0).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(rig.run(SetFlowKeyPaused{TenantId{9}, "f", true}).replies.at(0).error().kind,
            ErrorKind::not_found);
}

TEST(FlowKey, RateIsKeptAcrossARestart) {
  Rig rig;
  Message message = message_to("http://a");
  message.flow_key = "f";
  Publish publish = Rig::publishing(message);
  publish.flow = FlowKey{.rate = 1, .period = Millis{1000}};
  EXPECT_EQ(rig.run(std::move(publish)).started(), seqs({1}));
  EXPECT_TRUE(rig.run(Rig::publishing(message)).starts.empty());

  rig.restart();
  EXPECT_TRUE(rig.run().starts.empty());
  rig.pass(Millis{999});
  EXPECT_TRUE(rig.run().starts.empty());
  rig.pass(Millis{1});

  EXPECT_EQ(rig.run().starts.size(), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
