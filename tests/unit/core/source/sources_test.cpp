#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis day{86'400'000};

Source source_named(std::string name, Millis window = Millis{3'600'000}) {
  return {.tenant = tenant_one,
          .id = "src_" + name,
          .name = std::move(name),
          .secrets = {{.id = "sec_1", .sealed = "sealed", .hint = "…LaSw"}},
          .dedup_window = window,
          .settings = "{}"};
}

PutSource putting(Source source, std::uint64_t if_version = 0) {
  return {.source = std::move(source), .if_version = if_version};
}

InboundEvent event(std::string id, std::string host = "http://a.example:80") {
  InboundEvent made{.id = std::move(id), .type = "t", .bytes = 5};
  made.publish.message = std::make_unique<Message>(message_to(std::move(host)));
  return made;
}

ReceiveInbound receiving(std::string id, std::string source = "src_s") {
  return {.tenant = tenant_one, .source = std::move(source), .event = event(std::move(id))};
}

QuarantineInbound rejecting(std::string body, std::string source = "src_s") {
  QuarantineInbound command{.tenant = tenant_one, .source = std::move(source)};
  command.request = Quarantined{.method = "POST",
                                .target = "/in/s",
                                .headers = {{"a", "b"}},
                                .body = std::move(body),
                                .code = "signature_mismatch",
                                .details = "{}"};
  command.request->received_at = never;  // no later than now
  return command;
}

ReleaseQuarantined releasing(std::vector<std::pair<std::uint64_t, std::string>> requests) {
  ReleaseQuarantined command{.tenant = tenant_one, .source = "src_s"};
  for (auto& [number, id] : requests) {
    command.requests.push_back({number, event(std::move(id))});
  }
  return command;
}

struct WithSource : Rig {
  explicit WithSource(const Limits& given = {}, Millis window = Millis{3'600'000}) : Rig(given) {
    run(putting(source_named("s", window)));
  }
  Source stored(const std::string& id = "src_s") {
    const auto found = reader.get<Source>({tenant_one, id});
    EXPECT_TRUE(found.has_value());
    return found.value_or(Source{});
  }
  ErrorKind refused(const Ran& ran) {
    EXPECT_FALSE(ran.replies.at(0).has_value());
    return ran.replies[0] ? ErrorKind::internal : ran.replies[0].error().kind;
  }
};

TEST(Sources, AreFoundByNameAndIdAndReplacedByComparison) {
  WithSource rig;
  EXPECT_EQ(rig.reader.get<SourceName>("s")->id, "src_s");
  EXPECT_EQ(rig.reader.get<SourceName>("src_s")->version, 1U);

  Source renamed = source_named("s");
  renamed.name = "other";
  const auto put = rig.run(putting(renamed, 1)).only<SourceStored>();
  EXPECT_EQ(put.source.version, 2U);
  EXPECT_FALSE(rig.reader.get<SourceName>("s").has_value());
  EXPECT_EQ(rig.reader.get<SourceName>("other")->version, 2U);
  EXPECT_EQ(rig.reader.get<SourceName>("src_s")->version, 2U);

  EXPECT_EQ(rig.refused(rig.run(putting(renamed, 1))), ErrorKind::unavailable);
  EXPECT_EQ(rig.stored().version, 2U);
}

TEST(Sources, AreRefusedForWhatIsWrongInTheOrderOfTheChecks) {
  Limits limits;
  limits.sources_max = 2;
  WithSource rig(limits);
  Source nobody = source_named("n");
  nobody.tenant = TenantId{9};
  Source same_name = source_named("x");
  same_name.name = "s";
  EXPECT_EQ(rig.refused(rig.run(putting(nobody))), ErrorKind::not_found);
  EXPECT_EQ(rig.refused(rig.run(putting(source_named("new"), 3))), ErrorKind::not_found);
  EXPECT_EQ(rig.refused(rig.run(putting(same_name))), ErrorKind::conflict);
  rig.run(putting(source_named("second")));
  EXPECT_EQ(rig.refused(rig.run(putting(source_named("third")))), ErrorKind::quota_reached);

  PutSource to_queue = putting(source_named("s"), 1);
  to_queue.queue = "q";
  EXPECT_EQ(rig.run(std::move(to_queue)).only<SourceStored>().outcome,
            SourceStored::Outcome::no_queue);
  PutSource to_group = putting(source_named("s"), 1);
  to_group.url_group = "g";
  EXPECT_EQ(rig.run(std::move(to_group)).only<SourceStored>().outcome,
            SourceStored::Outcome::no_url_group);
  EXPECT_EQ(rig.stored().version, 1U);
}

TEST(Sources, AnEventBecomesOneMessageHoweverOftenItComes) {
  WithSource rig;
  const auto first = rig.run(receiving("e1")).only<InboundReceived>();
  EXPECT_FALSE(first.duplicate);
  const auto again = rig.run(receiving("e1")).only<InboundReceived>();
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.message, first.message);
  const Ran both = rig.run(receiving("e2"), receiving("e2"));
  EXPECT_FALSE(both.replies.at(0)->get_if<InboundReceived>()->duplicate);
  EXPECT_TRUE(both.replies.at(1)->get_if<InboundReceived>()->duplicate);

  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);
  const Source source = rig.stored();
  EXPECT_EQ(source.stats.accepted, 2U);
  EXPECT_EQ(source.stats.duplicates, 2U);
  const auto row = rig.reader.get<SourceEvent>({tenant_one, "src_s", first.message.seq});
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->event_id, "e1");
  EXPECT_EQ(row->duplicates, 1U);
  EXPECT_EQ(row->received_at, rig.now);
}

TEST(Sources, TheSameEventOfAnotherSourceIsAnotherOne) {
  WithSource rig;
  rig.run(putting(source_named("t")));
  EXPECT_FALSE(rig.run(receiving("e1")).only<InboundReceived>().duplicate);
  EXPECT_FALSE(rig.run(receiving("e1", "src_t")).only<InboundReceived>().duplicate);
}

TEST(Sources, ARepeatIsKnownForTheWindowAlsoAfterARestart) {
  WithSource rig({}, Millis{10'000});
  const auto first = rig.run(receiving("e1")).only<InboundReceived>();
  rig.restart();
  rig.pass(Millis{9'999});
  EXPECT_EQ(rig.run(receiving("e1")).only<InboundReceived>().message, first.message);
  rig.pass(Millis{1});
  EXPECT_FALSE(rig.run(receiving("e1")).only<InboundReceived>().duplicate);
}

TEST(Sources, AWindowMayBeOffOrWithoutEnd) {
  WithSource off({}, Millis{0});
  EXPECT_FALSE(off.run(receiving("e1")).only<InboundReceived>().duplicate);
  EXPECT_FALSE(off.run(receiving("e1")).only<InboundReceived>().duplicate);
  EXPECT_TRUE(off.reader.rows<Dedup>().empty());

  WithSource for_ever({}, dedup_for_ever);
  for_ever.run(receiving("e1"));
  for_ever.pass(400 * day);
  EXPECT_TRUE(for_ever.run(receiving("e1")).only<InboundReceived>().duplicate);
}

TEST(Sources, WithoutAnIdNothingIsARepeat) {
  WithSource rig;
  EXPECT_FALSE(rig.run(receiving("")).only<InboundReceived>().duplicate);
  EXPECT_FALSE(rig.run(receiving("")).only<InboundReceived>().duplicate);
}

TEST(Sources, TakeNothingWhenDisabledOrUnknown) {
  WithSource rig;
  Source disabled = source_named("s");
  disabled.enabled = false;
  rig.run(putting(disabled, 1));
  EXPECT_EQ(rig.refused(rig.run(receiving("e1"))), ErrorKind::not_found);
  EXPECT_EQ(rig.refused(rig.run(receiving("e1", "src_x"))), ErrorKind::not_found);
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
}

TEST(Sources, SaySoIfTheirTargetIsGoneButKnowRepeats) {
  WithSource rig;
  const auto to_group = [] {
    ReceiveInbound command = receiving("e1");
    command.event.publish.message->url.clear();
    command.event.publish.message->topic = "g";
    return command;
  };
  EXPECT_EQ(rig.refused(rig.run(to_group())), ErrorKind::unavailable);
  EXPECT_EQ(rig.stored().stats.accepted, 0U);

  UpsertEndpoints group{.tenant = tenant_one, .group = "g"};
  group.endpoints = {{.url = "http://a.example/1", .host = "http://a.example:80"},
                     {.url = "http://b.example/2", .host = "http://b.example:80"}};
  rig.run(std::move(group));
  const auto first = rig.run(to_group()).only<InboundReceived>();
  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);
  RemoveEndpoints none{.tenant = tenant_one, .group = "g"};
  none.endpoints = {{.url = "http://a.example/1"}, {.url = "http://b.example/2"}};
  rig.run(std::move(none));
  const auto again = rig.run(to_group()).only<InboundReceived>();
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.message, first.message);
}

TEST(Quarantine, HoldsNoMoreThanItsBoundsAndDropsTheOldest) {
  Limits limits;
  limits.quarantine_items_max = 3;
  limits.quarantined_per_second = 100;
  WithSource rig(limits);
  for (int i = 0; i < 4; ++i) {
    rig.run(rejecting("body" + std::to_string(i)));
  }
  // Several in one batch: what it has put is not in the store yet.
  rig.run(rejecting("a"), rejecting("b"), rejecting("c"), rejecting("d"));
  const auto& rows = rig.reader.rows<Quarantined>();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.begin()->second.body, "b");
  const Source source = rig.stored();
  EXPECT_EQ(source.quarantine.items, 3U);
  EXPECT_EQ(source.stats.invalid, 8U);
  EXPECT_EQ(source.stats.quarantined, 8U);
  EXPECT_EQ(source.stats.dropped, 5U);
  std::uint64_t bytes = 0;
  for (const auto& [key, row] : rows) {
    bytes += row.bytes();
  }
  EXPECT_EQ(source.quarantine.bytes, bytes);
}

TEST(Quarantine, HasRoomForSoManyBytes) {
  Limits limits;
  limits.quarantine_bytes_max = 100;
  WithSource rig(limits);
  rig.run(rejecting(std::string(60, 'x')));
  rig.run(rejecting(std::string(60, 'y')));
  ASSERT_EQ(rig.reader.rows<Quarantined>().size(), 1U);
  EXPECT_EQ(rig.reader.rows<Quarantined>().begin()->second.body, std::string(60, 'y'));
  EXPECT_FALSE(rig.run(rejecting(std::string(101, 'z'))).only<InboundRejected>().kept);
  EXPECT_EQ(rig.stored().stats.invalid, 3U);
}

TEST(Quarantine, KeepsOnlySomeOfASecond) {
  Limits limits;
  limits.quarantined_per_second = 2;
  WithSource rig(limits);
  const Ran ran = rig.run(rejecting("a"), rejecting("b"), rejecting("c"));
  EXPECT_TRUE(ran.replies.at(1)->get_if<InboundRejected>()->kept);
  EXPECT_FALSE(ran.replies.at(2)->get_if<InboundRejected>()->kept);
  EXPECT_EQ(rig.stored().stats.invalid, 3U);
  rig.pass(Millis{1000});
  EXPECT_TRUE(rig.run(rejecting("d")).only<InboundRejected>().kept);
}

TEST(Quarantine, ReleasesInOneBatchAndKnowsRepeats) {
  WithSource rig;
  const auto before = rig.run(receiving("e1")).only<InboundReceived>();
  rig.run(rejecting("1"), rejecting("2"), rejecting("3"));
  const auto released =
      rig.run(releasing({{1, "e1"}, {2, "e2"}, {3, "e2"}, {7, "e3"}})).only<QuarantineReleased>();
  using Outcome = QuarantineReleased::Outcome;
  ASSERT_EQ(released.requests.size(), 4U);
  EXPECT_EQ(released.requests[0].outcome, Outcome::duplicate);
  EXPECT_EQ(released.requests[0].message, before.message);
  EXPECT_EQ(released.requests[1].outcome, Outcome::released);
  EXPECT_EQ(released.requests[2].outcome, Outcome::duplicate);
  EXPECT_EQ(released.requests[2].message, released.requests[1].message);
  EXPECT_EQ(released.requests[3].outcome, Outcome::gone);
  EXPECT_TRUE(rig.reader.rows<Quarantined>().empty());
  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);
  EXPECT_EQ(rig.stored().quarantine.items, 0U);
  EXPECT_EQ(rig.stored().quarantine.bytes, 0U);

  const auto again = rig.run(releasing({{2, "e9"}})).only<QuarantineReleased>();
  EXPECT_EQ(again.requests.at(0).outcome, Outcome::gone);
}

TEST(Quarantine, ReleasesNothingIfOneOfThemHasNoPlace) {
  WithSource rig;
  rig.run(rejecting("1"), rejecting("2"));
  ReleaseQuarantined command = releasing({{1, "e1"}, {2, "e2"}});
  command.requests[1].event.publish.message->url.clear();
  command.requests[1].event.publish.message->topic = "g";
  EXPECT_EQ(rig.refused(rig.run(std::move(command))), ErrorKind::unavailable);
  EXPECT_EQ(rig.reader.rows<Quarantined>().size(), 2U);
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
}

TEST(Quarantine, SaysWhatWasReleasedByHand) {
  WithSource rig;
  rig.run(rejecting("1"));
  ReleaseQuarantined command = releasing({{1, "e1"}});
  command.unverified = true;
  rig.run(std::move(command));
  ASSERT_EQ(rig.reader.rows<SourceEvent>().size(), 1U);
  EXPECT_TRUE(rig.reader.rows<SourceEvent>().begin()->second.unverified);
}

TEST(Quarantine, ThrowsAwayOnceOrNotAtAll) {
  WithSource rig;
  rig.run(rejecting("1"));
  rig.run(DropQuarantined{tenant_one, "src_s", 1}).only<Done>();
  rig.run(DropQuarantined{tenant_one, "src_s", 1}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Quarantined>().empty());
  EXPECT_EQ(rig.refused(rig.run(DropQuarantined{tenant_one, "src_x", 1})), ErrorKind::not_found);
}

TEST(SourceUpkeep, ForgetsEventsAndRejectedRequestsInTheirTime) {
  Limits limits;
  limits.source_rows_per_batch = 2;
  limits.quarantined_per_batch = 2;
  WithSource rig(limits);
  for (int i = 0; i < 5; ++i) {
    rig.run(receiving("e" + std::to_string(i)), rejecting("r"));
  }
  const auto run_timers = [&rig] {
    for (int i = 0; i < 10; ++i) {
      rig.pass(Millis{10});
      rig.run();
    }
  };
  rig.restart();
  rig.pass(7 * day - Millis{1000});
  run_timers();
  EXPECT_EQ(rig.reader.rows<Quarantined>().size(), 5U);
  rig.pass(Millis{3'600'000});
  run_timers();
  EXPECT_EQ(rig.reader.rows<Quarantined>().size(), 0U);
  EXPECT_EQ(rig.stored().quarantine.items, 0U);
  EXPECT_EQ(rig.reader.rows<SourceEvent>().size(), 5U);
  rig.pass(23 * day + Millis{3'600'000});
  run_timers();
  EXPECT_EQ(rig.reader.rows<SourceEvent>().size(), 0U);
  EXPECT_EQ(rig.stored().upkeep_at, Moment{});
  const auto timers = rig.reader.rows<Timer>().size();
  EXPECT_EQ(timers, 0U) << "a source that has nothing has no timer";
}

TEST(Sources, ADeletedOneLeavesNothingBehind) {
  Limits limits;
  limits.source_rows_per_batch = 2;
  limits.quarantined_per_batch = 2;
  WithSource rig(limits, dedup_for_ever);
  rig.run(putting(source_named("s2", dedup_for_ever)));
  rig.run(receiving("kept", "src_s2"));
  for (int i = 0; i < 5; ++i) {
    rig.run(receiving("e" + std::to_string(i)), rejecting("r"));
  }
  rig.run(DeleteSource{tenant_one, "src_s"}).only<Done>();
  rig.run(DeleteSource{tenant_one, "src_s"}).only<Done>();
  rig.restart();
  for (int i = 0; i < 10; ++i) {
    rig.pass(Millis{10});
    rig.run();
  }
  EXPECT_EQ(rig.reader.rows<Source>().size(), 1U);
  EXPECT_EQ(rig.reader.rows<SourceName>().size(), 2U);
  EXPECT_EQ(rig.reader.rows<SourceEvent>().size(), 1U);
  EXPECT_EQ(rig.reader.rows<Quarantined>().size(), 0U);
  EXPECT_EQ(rig.reader.rows<Dedup>().size(), 1U);
  EXPECT_EQ(rig.refused(rig.run(receiving("e1"))), ErrorKind::not_found);
  // The name is free.
  EXPECT_EQ(rig.run(putting(source_named("s"))).only<SourceStored>().source.version, 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
