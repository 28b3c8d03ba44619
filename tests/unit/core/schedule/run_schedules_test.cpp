#include <gtest/gtest.h>

#include "unit/core/rig.h"
#include "unit/core/schedule/zones.h"

namespace hk::core {
namespace HK_TEST_FILE {

using testing::message_to;
using testing::Ran;
using testing::Rig;
using testing::tenant_one;

constexpr Millis minute{60'000};

/// A rig in which a schedule called "s" runs every minute, to host a.
struct ScheduleRig : Rig {
  explicit ScheduleRig(const Limits& given = {}) : Rig(given) { now = utc("2024-05-01T12:00:30"); }

  static UpsertSchedule every_minute(std::string id = "s", std::string cron = "* * * * *") {
    Schedule schedule{.tenant = tenant_one, .id = std::move(id), .cron = std::move(cron)};
    schedule.prototype = message_to("http://a.example:80");
    return {std::move(schedule)};
  }
  static SetSchedulePaused pause(bool paused, std::string id = "s") {
    return {tenant_one, std::move(id), paused};
  }
  ScheduleState& state(const std::string& id = "s") {
    return reader.rows<ScheduleState>().at({tenant_one, id});
  }
  /// Messages that schedules have made, in the order of acceptance.
  [[nodiscard]] std::vector<std::shared_ptr<const Message>> made() const {
    std::vector<std::shared_ptr<const Message>> out;
    for (const auto& [seq, message] : reader.rows<Message>()) {
      if (!message->schedule.empty()) {
        out.push_back(message);
      }
    }
    return out;
  }
};

TEST(Schedules, ARunMakesOneMessageAndTheNextRunInOneBatch) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T12:01"));

  rig.now = utc("2024-05-01T12:00:59");
  rig.run();
  EXPECT_TRUE(rig.made().empty());

  rig.now = utc("2024-05-01T12:01:00");
  const Ran ran = rig.run();
  const auto made = rig.made();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0]->schedule, "s");
  EXPECT_EQ(made[0]->url, "http://a.example:80/hook");
  EXPECT_EQ(made[0]->created_at, rig.now);
  EXPECT_EQ(ran.started().size(), 1U);  // and it starts in the same batch
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T12:02"));
  EXPECT_EQ(rig.state().last_at, rig.now);
  EXPECT_EQ(rig.state().last_messages, std::vector{made[0]->id});
  EXPECT_EQ(rig.reader.rows<ScheduleDue>().size(), 1U);

  rig.run();
  EXPECT_EQ(rig.made().size(), 1U);
}

TEST(Schedules, WakesForTheEarliestRunAlsoAfterARestart) {
  ScheduleRig rig;
  rig.limits.expiry_poll = Millis{100LL * 86'400'000};
  rig.limits.event_purge_every = Millis{100LL * 86'400'000};
  rig.restart();
  rig.run(ScheduleRig::every_minute("late", "0 15 * * *"),
          ScheduleRig::every_minute("soon", "5 12 * * *"));
  EXPECT_EQ(rig.machine->wake_at(), utc("2024-05-01T12:05"));
  rig.restart();
  rig.run();
  EXPECT_EQ(rig.machine->wake_at(), utc("2024-05-01T12:05"));
  rig.now = utc("2024-05-01T12:05");
  const Ran ran = rig.run();
  ASSERT_EQ(ran.starts.size(), 1U);
  rig.run(Rig::outcome(ran.starts[0], true));
  rig.pass(Millis{1000});
  rig.run();
  EXPECT_EQ(rig.machine->wake_at(), utc("2024-05-01T15:00"));
}

TEST(Schedules, RunsMissedWhileDownAreMadeUpForOnce) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  rig.now = utc("2024-05-03T08:17:12");
  rig.restart();
  EXPECT_LE(*rig.machine->wake_at(), rig.now);
  rig.run();
  rig.run();
  ASSERT_EQ(rig.made().size(), 1U);
  EXPECT_EQ(rig.made()[0]->created_at, rig.now);
  EXPECT_EQ(rig.state().next_at, utc("2024-05-03T08:18"));
}

TEST(Schedules, ACrashBeforeTheBatchIsStoredRepeatsTheRunAsOne) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  rig.now = utc("2024-05-01T12:01");
  rig.machine->begin(rig.now, rig.reader);  // decided, never written
  rig.machine->advance();
  rig.machine->take();
  rig.restart();
  rig.run();
  EXPECT_EQ(rig.made().size(), 1U);
}

TEST(Schedules, APausedOneSkipsItsRunsAndGoesOnCounting) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  rig.run(ScheduleRig::pause(true));
  EXPECT_TRUE(rig.run(ScheduleRig::pause(true)).mutations.empty());
  rig.now = utc("2024-05-01T12:01:10");
  rig.run();
  EXPECT_TRUE(rig.made().empty());
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T12:02"));
  EXPECT_EQ(rig.state().last_at, Moment{});

  rig.restart();
  rig.run();
  EXPECT_TRUE(rig.state().paused);
  rig.run(ScheduleRig::pause(false));
  rig.run(ScheduleRig::pause(false));
  rig.run();
  EXPECT_TRUE(rig.made().empty());
  rig.now = utc("2024-05-01T12:02");
  rig.run();
  EXPECT_EQ(rig.made().size(), 1U);
}

TEST(Schedules, ARunThatCameDueWhilePausedIsNotMadeByResuming) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  rig.run(ScheduleRig::pause(true));
  rig.now = utc("2024-05-01T13:00:10");  // down for an hour
  rig.restart();
  rig.run(ScheduleRig::pause(false));
  EXPECT_TRUE(rig.made().empty());
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T13:01"));
  EXPECT_EQ(rig.reader.rows<ScheduleDue>().size(), 1U);
}

TEST(Schedules, WhatABatchDecidesCountsForTheRunsOfThatBatch) {
  struct Case {
    const char* what;
    Command command;
    bool runs;
  };
  Case cases[] = {
      {"deleted", DeleteScheduleCommand{tenant_one, "s"}, false},
      {"paused", ScheduleRig::pause(true), false},
      {"replaced", ScheduleRig::every_minute(), false},  // its next run is after now
      {"another one deleted", DeleteScheduleCommand{tenant_one, "t"}, true},
  };
  for (Case& one : cases) {
    SCOPED_TRACE(one.what);
    ScheduleRig rig;
    rig.run(ScheduleRig::every_minute(), ScheduleRig::every_minute("t", "0 0 1 1 *"));
    rig.now = utc("2024-05-01T12:01");
    rig.machine->begin(rig.now, rig.reader);
    ASSERT_TRUE(rig.machine->execute(std::move(one.command)));
    rig.machine->advance();
    for (const Mutation& mutation : rig.machine->take().mutations) {
      rig.reader.apply(mutation);
    }
    EXPECT_EQ(rig.made().size(), one.runs ? 1U : 0U);
    EXPECT_EQ(rig.reader.rows<ScheduleDue>().size(), rig.reader.rows<ScheduleState>().size());
    for (const ScheduleDue& due : rig.reader.scan<ScheduleDue>()) {
      EXPECT_EQ(due.at, rig.state(due.id).next_at);
    }
  }
}

TEST(Schedules, ReplacingKeepsWhenItWasMadeAndItsPauseAndNothingElse) {
  ScheduleRig rig;
  rig.run(ScheduleRig::every_minute());
  const Moment created = rig.now;
  rig.now = utc("2024-05-01T12:01");
  rig.run();
  rig.run(ScheduleRig::pause(true));

  UpsertSchedule next = ScheduleRig::every_minute("s", " @hourly ");
  next.schedule.prototype.url = "http://a.example:80/other";
  next.schedule.prototype.dedup_id = "ignored";
  EXPECT_EQ(rig.run(std::move(next)).only<ScheduleStored>().id, "s");
  const Schedule& stored = rig.reader.rows<Schedule>().at({tenant_one, "s"});
  EXPECT_EQ(stored.cron, "@hourly");
  EXPECT_EQ(stored.prototype.url, "http://a.example:80/other");
  EXPECT_EQ(stored.prototype.dedup_id, "");
  EXPECT_EQ(stored.created_at, created);
  EXPECT_EQ(rig.state(), (ScheduleState{.paused = true, .next_at = utc("2024-05-01T13:00")}));
  EXPECT_EQ(rig.reader.rows<ScheduleDue>().size(), 1U);
}

TEST(Schedules, WithoutAnIdGetOneOfTheirOwn) {
  ScheduleRig rig;
  const auto one = rig.run(ScheduleRig::every_minute("")).only<ScheduleStored>().id;
  const auto two = rig.run(ScheduleRig::every_minute("")).only<ScheduleStored>().id;
  EXPECT_TRUE(one.starts_with("scd_"));
  EXPECT_EQ(one.size(), 28U);
  EXPECT_NE(one, two);
}

TEST(Schedules, AreRefusedWithTheReason) {
  const struct {
    const char* part;
    ErrorKind kind;
    void (*spoil)(Schedule&);
  } cases[] = {
      {"no such tenant", ErrorKind::not_found, [](Schedule& s) { s.tenant = TenantId{9}; }},
      {"minute", ErrorKind::invalid_argument, [](Schedule& s) { s.cron = "61 * * * *"; }},
      {"Mars/Olympus", ErrorKind::invalid_argument,
       [](Schedule& s) { s.cron = "CRON_TZ=Mars/Olympus * * * * *"; }},
      {"topic crew not found", ErrorKind::not_found,
       [](Schedule& s) { s.prototype.url = "", s.prototype.topic = "crew"; }},
      {"", ErrorKind::invalid_argument,
       [](Schedule& s) { s.prototype.retry.delay = ExpressionDelay{"x("}; }},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.part);
    ScheduleRig rig;
    UpsertSchedule command = ScheduleRig::every_minute();
    one.spoil(command.schedule);
    const Ran ran = rig.run(std::move(command));
    ASSERT_FALSE(ran.replies[0]);
    EXPECT_EQ(ran.replies[0].error().kind, one.kind);
    EXPECT_NE(ran.replies[0].error().message.find(one.part), std::string::npos)
        << ran.replies[0].error().message;
    EXPECT_TRUE(rig.reader.rows<ScheduleState>().empty());
  }
}

TEST(Schedules, ThatAreNotThereCannotBeDeletedOrPaused) {
  ScheduleRig rig;
  const Ran ran = rig.run(DeleteScheduleCommand{tenant_one, "s"}, ScheduleRig::pause(true),
                          ScheduleRig::every_minute(), DeleteScheduleCommand{tenant_one, "s"},
                          ScheduleRig::pause(true));
  const std::vector<bool> done{false, false, true, true, false};
  for (std::size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(ran.replies[i].has_value(), done[i]) << i;
  }
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::not_found);
  EXPECT_TRUE(rig.reader.rows<Schedule>().empty());
  EXPECT_TRUE(rig.reader.rows<ScheduleDue>().empty());
}

TEST(Schedules, FanOutToTheGroupAsItIsThen) {
  ScheduleRig rig;
  const auto endpoint = [](std::string name) {
    return Endpoint{.name = name, .url = "http://" + name + "/", .host = "http://" + name + ":80"};
  };
  UpsertSchedule command = ScheduleRig::every_minute();
  command.schedule.prototype.url = command.schedule.prototype.host = "";
  command.schedule.prototype.topic = "crew";
  rig.run(UpsertEndpoints{tenant_one, "crew", {endpoint("a")}});
  rig.run(std::move(command));
  rig.run(UpsertEndpoints{tenant_one, "crew", {endpoint("b")}});

  rig.now = utc("2024-05-01T12:01");
  rig.run();
  ASSERT_EQ(rig.made().size(), 2U);
  EXPECT_EQ(rig.made()[1]->url, "http://b/");
  EXPECT_EQ(rig.state().last_messages.size(), 2U);

  rig.run(DeleteTopic{tenant_one, TopicKind::url_group, "crew"});
  rig.now = utc("2024-05-01T12:02");
  rig.run();
  EXPECT_EQ(rig.made().size(), 2U);
  EXPECT_EQ(rig.state().error, "topic crew not found");
  EXPECT_TRUE(rig.state().last_messages.empty());
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T12:03"));

  rig.run(UpsertEndpoints{tenant_one, "crew", {endpoint("c")}});
  rig.now = utc("2024-05-01T12:03");
  rig.run();
  EXPECT_EQ(rig.made().size(), 3U);
  EXPECT_EQ(rig.state().error, "");
}

TEST(Schedules, DelayCountsFromTheRunInAQueueToo) {
  ScheduleRig rig;
  UpsertSchedule command = ScheduleRig::every_minute();
  command.schedule.delay = Millis{5000};
  command.schedule.prototype.queue = "q";
  rig.run(std::move(command));
  rig.now = utc("2024-05-01T12:01");
  EXPECT_TRUE(rig.run().starts.empty());
  ASSERT_EQ(rig.made().size(), 1U);
  EXPECT_EQ(rig.made()[0]->not_before, rig.now + Millis{5000});
  EXPECT_EQ(rig.made()[0]->queue, "q");
  rig.pass(Millis{5000});
  EXPECT_EQ(rig.run().started().size(), 1U);
}

TEST(Schedules, AZoneThatIsGoneIsToldAndItsRunMadeUpForWhenItIsBack) {
  ScheduleRig rig;
  const Zone berlin =
      *Zone::make(std::chrono::hours{1}, {}, *parse_zone_rule("CET-1CEST,M3.5.0,M10.5.0/3"));
  rig.zones.known["Europe/Berlin"] = berlin;
  rig.run(ScheduleRig::every_minute("s", "CRON_TZ=Europe/Berlin 30 14 * * *"));
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T12:30"));

  rig.zones.known.erase("Europe/Berlin");
  rig.now = utc("2024-05-01T12:30:05");
  rig.run();
  EXPECT_TRUE(rig.made().empty());
  EXPECT_NE(rig.state().error.find("Europe/Berlin"), std::string::npos);
  EXPECT_EQ(rig.state().next_at, utc("2024-05-01T13:00"));

  rig.zones.known["Europe/Berlin"] = berlin;
  rig.now = utc("2024-05-01T13:00");
  rig.run();
  EXPECT_EQ(rig.made().size(), 1U);
  EXPECT_EQ(rig.state().error, "");
  EXPECT_EQ(rig.state().next_at, utc("2024-05-02T12:30"));
}

TEST(Schedules, ManyThatAreDueAtOnceRunAFewPerBatchAndEachOnce) {
  ScheduleRig rig({.schedules_per_batch = 3});
  for (int i = 0; i < 10; ++i) {
    rig.run(ScheduleRig::every_minute("s" + std::to_string(i)));
  }
  rig.now = utc("2024-05-01T12:01");
  const std::size_t after[] = {3, 6, 9, 10, 10};
  for (const std::size_t count : after) {
    if (count < 10) {
      EXPECT_LE(*rig.machine->wake_at(), rig.now);
    }
    rig.run();
    EXPECT_EQ(rig.made().size(), count);
  }
}

TEST(Schedules, OneCreatedInABatchThatRunsOthersIsNotForgotten) {
  ScheduleRig rig;
  rig.limits.expiry_poll = rig.limits.event_purge_every = Millis{100LL * 86'400'000};
  rig.restart();
  rig.run(ScheduleRig::every_minute("first", "1 12 1 5 *"));
  rig.now = utc("2024-05-01T12:01");
  const Ran ran = rig.run(ScheduleRig::every_minute("second", "9 12 1 5 *"));
  ASSERT_EQ(ran.starts.size(), 1U);
  rig.run(Rig::outcome(ran.starts[0], true));
  rig.pass(minute);
  rig.run();
  EXPECT_EQ(rig.machine->wake_at(), utc("2024-05-01T12:09"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
