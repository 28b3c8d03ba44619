#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include <functional>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

const KeyOf<Queue> f{tenant_one, "f"};
constexpr Millis hour{3'600'000};

Message keyed(std::string queue = {}) {
  Message message = message_to("http://a");
  message.queue = std::move(queue);
  message.flow_key = "f";
  return message;
}

Publish limited(std::uint32_t parallelism, std::uint32_t rate = 0, Millis period = Millis{1000}) {
  Publish publish = Rig::publishing(keyed());
  publish.flow = FlowKey{.parallelism = parallelism, .rate = rate, .period = period};
  return publish;
}

PinFlowKey pinning(std::optional<std::uint32_t> parallelism, std::optional<std::uint32_t> rate = {},
                   Millis period = Millis{1000}) {
  return {tenant_one, "f", parallelism, rate, period};
}

FlowKeyView shown(Rig& rig) {
  const auto all = rig.run(InspectFlowKeys{tenant_one, "f", {}}).only<FlowKeysInspected>();
  EXPECT_EQ(all.keys.size(), 1U);
  return all.keys.empty() ? FlowKeyView{} : all.keys[0];
}

TEST(PinFlowKey, RefusesNonsense) {
  struct Row {
    std::string_view name;
    PinFlowKey command;
    ErrorKind kind;
  };
  const Row rows[] = {
      {"no tenant", {TenantId{9}, "f", 1, {}, Millis{1000}}, ErrorKind::not_found},
      {"no key", {tenant_one, "", 1, {}, Millis{1000}}, ErrorKind::invalid_argument},
      {"parallelism 0", pinning(0), ErrorKind::invalid_argument},
      {"rate 0", pinning({}, 0), ErrorKind::invalid_argument},
      {"period 0", pinning({}, 1, Millis{0}), ErrorKind::invalid_argument},
      {"period too long", pinning({}, 1, 24 * 7 * hour + Millis{1}), ErrorKind::invalid_argument},
  };
  Rig rig;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(rig.run(PinFlowKey(row.command)).replies.at(0).error().kind, row.kind);
  }
  EXPECT_TRUE(rig.reader.rows<FlowKey>().empty());
}

TEST(PinFlowKey, HoldsAgainstWhatMessagesBringUntilItIsUnpinned) {
  Rig rig;
  rig.run(pinning(1)).only<Done>();
  EXPECT_EQ(rig.run(limited(3, 7), limited(3, 7)).started(), seqs({1}));
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).parallelism, 1U);
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).rate, 7U);
  rig.restart();
  EXPECT_EQ(rig.run().starts.size(), 1U);

  EXPECT_TRUE(rig.run(UnpinFlowKey{tenant_one, "f", true, false}).starts.empty());
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).parallelism, 1U);
  EXPECT_FALSE(rig.reader.rows<FlowKey>().at(f).pinned_parallelism);

  EXPECT_EQ(rig.run(limited(3)).started(), seqs({2, 3}));
}

TEST(PinFlowKey, PartsAreReleasedOnTheirOwn) {
  Rig rig;
  rig.run(pinning(2, 5, Millis{2000}));
  rig.run(UnpinFlowKey{tenant_one, "f", false, true});
  rig.run(limited(9, 8, Millis{3000}));

  const FlowKey& stored = rig.reader.rows<FlowKey>().at(f);
  EXPECT_EQ(stored.parallelism, 2U);
  EXPECT_EQ(stored.rate, 8U);
  EXPECT_EQ(stored.period, Millis{3000});
  EXPECT_TRUE(stored.pinned_parallelism);
  EXPECT_FALSE(stored.pinned_rate);
}

TEST(PinFlowKey, AWiderPinStartsWhatWaitsAndANarrowerOneStopsNothingThatRuns) {
  Rig rig;
  Ran ran = rig.run(limited(1), limited(1), limited(1));
  EXPECT_EQ(ran.started(), seqs({1}));

  EXPECT_EQ(rig.run(pinning(2)).started(), seqs({2}));
  EXPECT_TRUE(rig.run(pinning(1)).starts.empty());
  EXPECT_TRUE(rig.run(Rig::outcome(ran.starts.at(0), true)).starts.empty());
  EXPECT_EQ(shown(rig).running, 1U);
}

TEST(PinFlowKey, APinnedRateBeginsANewWindow) {
  Rig rig;
  EXPECT_EQ(rig.run(limited(0, 1), limited(0, 1), limited(0, 1), limited(0, 1)).started(),
            seqs({1}));
  rig.pass(Millis{500});

  EXPECT_EQ(rig.run(pinning({}, 2)).started(), seqs({2, 3}));

  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).window_start, rig.now);
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).window_count, 2U);
  rig.restart();
  rig.pass(Millis{999});
  EXPECT_TRUE(rig.run().starts.empty());
}

TEST(UnpinFlowKey, WhatIsNotThereIsNotPinned) {
  Rig rig;
  rig.run(UnpinFlowKey{tenant_one, "f", true, true}).only<Done>();
  rig.run(ResetFlowRate{tenant_one, "f"}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<FlowKey>().empty());
}

TEST(ResetFlowRate, StartsWhatWaitsAtOnceAndCountsAnew) {
  Rig rig;
  rig.run(limited(0, 1, hour), limited(0, 1, hour), limited(0, 1, hour));
  rig.pass(Millis{10});

  EXPECT_EQ(rig.run(ResetFlowRate{tenant_one, "f"}).started(), seqs({2}));

  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).window_count, 1U);
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).window_start, rig.now);
}

TEST(InspectFlowKeys, CountsWhatWaitsForTheKeyAndWhatRuns) {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  Rig rig(limits);
  for (int i = 0; i < 7; ++i) {
    Publish one = limited(2, 10, Millis{60'000});
    one.message->host = i % 2 == 0 ? "http://a" : "http://b";
    rig.run(std::move(one));
  }
  Publish later = limited(2, 10, Millis{60'000});
  later.delay = Millis{1000};
  rig.run(std::move(later));
  rig.run(Rig::publishing(keyed("q")), Rig::publishing(keyed("q")));

  const FlowKeyView view = shown(rig);

  EXPECT_EQ(view.running, 2U);
  EXPECT_EQ(view.waiting, 6U);  // five are due, and the first of the queue
  EXPECT_EQ(view.flow.parallelism, 2U);
  EXPECT_EQ(view.flow.window_count, 2U);
  rig.restart();
  rig.run();
  rig.pass(Millis{1000});
  rig.run();
  EXPECT_EQ(shown(rig).waiting + shown(rig).running, 9U);
}

TEST(InspectFlowKeys, FindsByPartOfTheKeyAndOnlyTheTenantsOwn) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  for (const char* key : {"alpha", "beta", "alphabet"}) {
    rig.run(SetFlowKeyPaused{tenant_one, key, true});
  }
  rig.run(SetFlowKeyPaused{TenantId{2}, "alpha", true});

  EXPECT_EQ(rig.run(InspectFlowKeys{tenant_one, {}, "alph"}).only<FlowKeysInspected>().keys.size(),
            2U);
  EXPECT_EQ(rig.run(InspectFlowKeys{tenant_one, {}, {}}).only<FlowKeysInspected>().keys.size(), 3U);
  EXPECT_EQ(rig.run(InspectFlowKeys{TenantId{2}, "beta", {}}).replies.at(0).error().kind,
            ErrorKind::not_found);
}

TEST(InspectFlowKeys, LooksAtSoManyAtATime) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  for (int i = 0; i < 2'500; ++i) {
    rig.run(SetFlowKeyPaused{tenant_one, std::to_string(i), true});
  }
  rig.run(SetFlowKeyPaused{TenantId{2}, "k", true});
  for (const auto& [search, expected] :
       {std::pair<std::string, std::size_t>{"", 2'500}, {"249", 13}, {"none", 0}}) {
    std::set<std::string> found;
    InspectFlowKeys question{tenant_one, {}, search};
    int asked = 0;
    do {
      const auto part = rig.run(question).only<FlowKeysInspected>();
      EXPECT_LE(part.keys.size(), 1'000U);
      for (const FlowKeyView& view : part.keys) {
        EXPECT_TRUE(found.insert(view.flow.key).second) << view.flow.key;
      }
      question.after = part.next;
      ++asked;
    } while (!question.after.empty());
    EXPECT_EQ(asked, 3) << search;
    EXPECT_EQ(found.size(), expected) << search;
  }
}

TEST(InspectFlowKeys, AWindowThatIsOverCountsNothing) {
  Rig rig;
  rig.run(limited(0, 3));
  EXPECT_EQ(shown(rig).flow.window_count, 1U);
  rig.pass(Millis{1000});
  EXPECT_EQ(shown(rig).flow.window_count, 0U);
}

TEST(ForgetFlowKeys, ForgetsOnlyWhatNobodyRefersTo) {
  struct Row {
    std::string_view name;
    std::function<void(Rig&)> prepare;
    bool forgotten;
  };
  const auto deliver = [](Rig& rig, Publish publish) {
    const Ran ran = rig.run(std::move(publish));
    rig.run(Rig::outcome(ran.starts.at(0), true));
  };
  const Row rows[] = {
      {"idle", [&](Rig& rig) { deliver(rig, limited(1)); }, true},
      {"paused",
       [&](Rig& rig) {
         deliver(rig, limited(1));
         rig.run(SetFlowKeyPaused{tenant_one, "f", true});
       },
       false},
      {"resumed",
       [](Rig& rig) {
         rig.run(SetFlowKeyPaused{tenant_one, "f", true});
         rig.run(SetFlowKeyPaused{tenant_one, "f", false});
       },
       true},
      {"pinned", [](Rig& rig) { rig.run(pinning(1)); }, false},
      {"unpinned",
       [](Rig& rig) {
         rig.run(pinning(1));
         rig.run(UnpinFlowKey{tenant_one, "f", true, true});
       },
       true},
      {"waiting for its time",
       [](Rig& rig) {
         Publish publish = limited(1);
         publish.delay = 5 * hour;
         rig.run(std::move(publish));
       },
       false},
      {"in a window that counts", [&](Rig& rig) { deliver(rig, limited(0, 1, 2 * hour)); }, false},
      {"beyond the window of a paused queue",
       [](Rig& rig) {
         rig.run(UpsertQueue{tenant_one, "q", {}, true});
         for (int i = 0; i < 8; ++i) {
           rig.publish(queued("q"));
         }
         rig.publish(keyed("q"));
       },
       false},
  };
  for (const bool restarted : {false, true}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(row.name) + (restarted ? ", restarted" : ""));
      Limits limits;
      limits.lane_window_min = 2;
      limits.lane_window_max = 2;
      Rig rig(limits);
      row.prepare(rig);
      if (restarted) {
        rig.restart();
      }
      rig.pass(hour - Millis{1});
      rig.run();
      EXPECT_TRUE(rig.reader.rows<FlowKey>().contains(f));

      rig.pass(Millis{1});
      rig.run();

      EXPECT_EQ(rig.reader.rows<FlowKey>().contains(f), !row.forgotten);
      EXPECT_GT(*rig.machine->wake_at(), rig.now);
    }
  }
}

TEST(ForgetFlowKeys, CountsTheHourFromTheLastUse) {
  Rig rig;
  Ran ran = rig.run(limited(1));
  rig.pass(Millis{1000});
  rig.run(Rig::outcome(ran.starts.at(0), true));
  rig.pass(hour - Millis{1000});
  rig.run();
  EXPECT_TRUE(rig.reader.rows<FlowKey>().contains(f));
  rig.pass(Millis{1000});
  rig.run();
  EXPECT_FALSE(rig.reader.rows<FlowKey>().contains(f));

  // It comes back with what the next message brings.
  EXPECT_EQ(rig.run(limited(1), limited(1)).starts.size(), 1U);
  EXPECT_EQ(rig.reader.rows<FlowKey>().at(f).parallelism, 1U);
}

TEST(FlowKey, NeverStartsMoreThanItsRateWhateverHappensAround) {
  Rig rig;
  for (int i = 0; i < 40; ++i) {
    rig.run(limited(0, 2, Millis{1000}));
  }
  std::vector<Moment> starts{rig.now, rig.now};
  const auto note = [&starts](const Ran& ran) {
    for (const StartAttempt& start : ran.starts) {
      starts.push_back(start.started_at);
    }
  };
  for (int step = 0; step < 60; ++step) {
    rig.pass(Millis{170});
    if (step % 7 == 3) {
      rig.restart();
    }
    if (step % 5 == 1) {
      note(rig.run(SetFlowKeyPaused{tenant_one, "f", step % 2 == 0}));
    }
    if (step % 11 == 4) {
      note(rig.run(UnpinFlowKey{tenant_one, "f", true, true}));
    }
    note(rig.run());
  }
  // Five starts reach into three windows: one of them lies wholly between the first and the last.
  for (std::size_t i = 4; i < starts.size(); ++i) {
    EXPECT_GE(starts[i] - starts[i - 4], Millis{1000}) << i;
  }
  EXPECT_GT(starts.size(), 4U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
