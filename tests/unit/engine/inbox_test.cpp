#include "engine/inbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hk::engine {
namespace HK_TEST_FILE {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

core::Publish publish(std::size_t body_kib, std::string topic = {}) {
  core::Publish command{.message = std::make_unique<core::Message>()};
  command.message->body.assign(body_kib * kib, 'x');
  command.message->url = topic.empty() ? "http://h" : "";
  command.message->topic = std::move(topic);
  return command;
}

core::PublishBatch batch(std::size_t items, std::size_t body_kib) {
  core::PublishBatch command;
  for (std::size_t i = 0; i < items; ++i) {
    command.items.push_back(publish(body_kib));
  }
  return command;
}

template <class... Commands>
std::vector<Submission> submissions(Commands... commands) {
  std::vector<Submission> all;
  (all.push_back({core::Command{std::move(commands)}, {}, nullptr}), ...);
  return all;
}

/// One that says whose it is and which.
core::Inspect ask(std::uint32_t tenant, std::uint64_t number = 0) {
  return {core::TenantId{tenant}, {.seq = core::Seq{number}}};
}

std::vector<std::uint64_t> numbers(const std::vector<Submission>& taken) {
  std::vector<std::uint64_t> all;
  for (const Submission& one : taken) {
    all.push_back(one.command.get<core::Inspect>().id.seq.value());
  }
  return all;
}

std::size_t first_batch(std::vector<Submission> waiting) {
  Inbox inbox(100, 100 * mib);
  inbox.put(waiting);
  return inbox.take(4, 100 * kib).size();
}

TEST(Inbox, ABatchEndsWhereItsNumberOrItsBytesEnd) {
  EXPECT_EQ(first_batch(submissions()), 0U);
  EXPECT_EQ(first_batch(submissions(publish(0), publish(0), publish(1), publish(1), publish(1))),
            4U);
  EXPECT_EQ(first_batch(submissions(publish(40), publish(40), publish(40))), 2U);
  EXPECT_EQ(first_batch(submissions(publish(200), publish(0))), 1U);
}

TEST(Inbox, CountsWhatABatchHoldsAndWhatAGroupMayBecome) {
  EXPECT_EQ(first_batch(submissions(batch(10, 2), batch(10, 2), batch(10, 2))), 2U);
  EXPECT_EQ(first_batch(submissions(batch(90, 0), publish(50))), 1U);
  EXPECT_EQ(first_batch(submissions(publish(0), publish(1, "group"))), 1U);
}

TEST(Inbox, AScheduleCountsWithTheMessageThatItHolds) {
  const auto schedule = [](std::size_t body_kib) {
    core::UpsertSchedule command;
    command.schedule.prototype = std::move(*publish(body_kib).message);
    return command;
  };
  EXPECT_EQ(first_batch(submissions(schedule(60), schedule(60))), 1U);

  Inbox inbox(10, 100 * kib);
  auto all = submissions(schedule(60), schedule(60));
  EXPECT_EQ(inbox.put(all), 1U);
  EXPECT_GE(inbox.bytes(), 60 * kib);
}

TEST(Inbox, AnOutcomeCountsWithTheCallbackThatItMakes) {
  auto all = submissions(core::CompleteAttempt{}, core::CompleteAttempt{}, core::CompleteAttempt{});
  for (Submission& one : all) {
    one.writes_more = 45 * kib;
  }
  EXPECT_EQ(first_batch(std::move(all)), 2U);
}

TEST(Inbox, DocumentsAndBodiesThatAreMendedCountWithTheirBytes) {
  core::PutDocumentCommand put;
  put.document.fields = {{"small", "x"}, {"large", std::string(60 * kib, 'x')}};
  core::ResolveHalted mended;
  mended.body = std::string(60 * kib, 'x');
  EXPECT_EQ(first_batch(submissions(put, put)), 1U);
  EXPECT_EQ(first_batch(submissions(mended, mended)), 1U);
  const auto changes = std::make_shared<core::RetryDeadLetter::Changes>();
  changes->body = std::string(60 * kib, 'x');
  const core::RetryDeadLetter edited{.changes = changes};
  EXPECT_EQ(first_batch(submissions(edited, edited)), 1U);

  Inbox inbox(10, 100 * kib);
  auto all = submissions(put, mended);
  EXPECT_EQ(inbox.put(all), 1U);
  EXPECT_GE(inbox.bytes(), 60 * kib);
  inbox.take(10, mib);
  inbox.written(inbox.bytes());
  EXPECT_EQ(inbox.put(all), 0U) << "there is room again";
  EXPECT_GE(inbox.bytes(), 60 * kib);

  Inbox full(10, kib);
  auto small = submissions(publish(1), core::ResolveHalted{});
  EXPECT_EQ(full.put(small), 0U) << "one without a body needs no room";
}

TEST(Inbox, SettingsCountWithTheirTexts) {
  const std::vector<core::Header> texts = {{"name", std::string(60 * kib, 'x')}};
  core::CreatePullQueue create;
  create.settings.tags = texts;
  core::SetPullSettings set;
  set.settings.extra = texts;
  core::UpsertEndpoints endpoints;
  endpoints.endpoints = {{.name = "a", .url = std::string(60 * kib, 'x'), .host = "b"}};
  core::SetGroupOptions options;
  options.options = texts;
  EXPECT_EQ(first_batch(submissions(create, create)), 1U);
  EXPECT_EQ(first_batch(submissions(set, set)), 1U);
  EXPECT_EQ(first_batch(submissions(endpoints, endpoints)), 1U);
  EXPECT_EQ(first_batch(submissions(options, options)), 1U);

  Inbox inbox(10, 100 * kib);
  auto all = submissions(create, set, endpoints, options);
  EXPECT_EQ(inbox.put(all), 3U);
  EXPECT_GE(inbox.bytes(), 60 * kib);
}

TEST(Inbox, NothingIsForgottenAtTheEndOfABatchByBytes) {
  Inbox inbox(100, 100 * mib);
  auto all = submissions(publish(60), publish(60), publish(60));
  inbox.put(all);
  for (const std::size_t left : {2U, 1U, 0U}) {
    EXPECT_EQ(inbox.take(4, 100 * kib).size(), 1U);
    EXPECT_EQ(inbox.size(), left);
  }
  EXPECT_TRUE(inbox.empty());
}

TEST(Inbox, TenantsTakeTurnsAndEachKeepsItsOrder) {
  Inbox inbox(1000, mib);
  std::vector<Submission> all;
  for (std::uint64_t i = 0; i < 100; ++i) {
    all.push_back({ask(1, i), {}, nullptr});
  }
  all.push_back({ask(2, 1000), {}, nullptr});
  all.push_back({ask(2, 1001), {}, nullptr});
  ASSERT_EQ(inbox.put(all), 0U);

  const auto first = numbers(inbox.take(20, mib));
  ASSERT_EQ(first.size(), 20U);
  EXPECT_EQ(first[15], 15U);
  EXPECT_EQ(first[16], 1000U);  // behind 16 of the other's, not behind 100
  EXPECT_EQ(first[17], 1001U);
  EXPECT_EQ(first[18], 16U);
  EXPECT_EQ(numbers(inbox.take(1000, mib)).front(), 18U);
  EXPECT_TRUE(inbox.empty());
}

TEST(Inbox, ATenantThatFloodsLeavesRoomForTheOthers) {
  Inbox inbox(1000, mib);
  std::vector<Submission> flood;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    flood.push_back({ask(1, i), {}, nullptr});
  }
  EXPECT_EQ(inbox.put(flood), 1200U);
  EXPECT_EQ(numbers(flood).front(), 800U);  // the first ones were taken

  auto polite = submissions(ask(2), ask(1), ask(3));
  EXPECT_EQ(inbox.put(polite), 1U);
  EXPECT_EQ(core::tenant_of(polite.front().command), core::TenantId{1});
}

TEST(Inbox, ATenantThatFloodsWithBytesLeavesRoomForTheOthers) {
  Inbox inbox(1000, 100 * kib);
  std::vector<Submission> flood;
  for (int i = 0; i < 100; ++i) {
    flood.push_back({publish(2), {}, nullptr});
    flood.back().command.get<core::Publish>().message->tenant = core::TenantId{1};
  }
  inbox.put(flood);
  EXPECT_LE(inbox.bytes(), 85 * kib);
  EXPECT_GE(inbox.bytes(), 75 * kib);

  auto polite = submissions(publish(2));
  polite.front().command.get<core::Publish>().message->tenant = core::TenantId{2};
  EXPECT_EQ(inbox.put(polite), 0U);
}

TEST(Inbox, OutcomesPassAsLongAsThereIsRoomAtAll) {
  Inbox inbox(10, mib);
  std::vector<Submission> outcomes;
  for (int i = 0; i < 12; ++i) {
    outcomes.push_back({core::CompleteAttempt{}, {}, nullptr});
  }
  EXPECT_EQ(inbox.put(outcomes), 2U);
}

TEST(Inbox, WhatFollowsARefusedCommandOfTheSameTenantIsRefusedToo) {
  Inbox inbox(10, 100 * kib);
  auto first = submissions(publish(60));
  ASSERT_EQ(inbox.put(first), 0U);
  auto more = submissions(publish(60), publish(0), core::CompleteAttempt{});
  more[0].command.get<core::Publish>().message->tenant = core::TenantId{7};
  more[1].command.get<core::Publish>().message->tenant = core::TenantId{7};
  EXPECT_EQ(inbox.put(more), 2U);
}

TEST(Inbox, BytesCountUntilTheyAreWritten) {
  Inbox inbox(10, 100 * kib);
  auto first = submissions(publish(60));
  ASSERT_EQ(inbox.put(first), 0U);
  const std::size_t bytes = inbox.bytes();
  inbox.take(10, mib);
  auto second = submissions(publish(60));
  EXPECT_EQ(inbox.put(second), 1U);
  inbox.written(bytes);
  EXPECT_EQ(inbox.put(second), 0U);
}

/// So many of one tenant.
std::vector<Submission> flood(std::uint32_t tenant, std::size_t count) {
  std::vector<Submission> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({core::Command{ask(tenant)}, {}, nullptr});
  }
  return all;
}

std::size_t count_of(const std::vector<Submission>& taken, std::uint32_t tenant) {
  return static_cast<std::size_t>(std::ranges::count_if(taken, [tenant](const Submission& one) {
    return core::tenant_of(one.command) == core::TenantId{tenant};
  }));
}

TEST(Inbox, BesideOthersATenantHasOnlySoMuchOfABatch) {
  Inbox inbox(10'000, mib);
  auto greedy = flood(1, 5'000);
  auto polite = flood(2, 3);
  inbox.put(greedy);
  inbox.put(polite);

  const auto first = inbox.take(512, mib, 64);
  EXPECT_EQ(count_of(first, 1), 64U);
  EXPECT_EQ(count_of(first, 2), 3U);
  EXPECT_EQ(inbox.take(512, mib, 64).size(), 64U) << "the next of theirs will not wait long either";

  std::size_t batches = 2;
  while (inbox.take(512, mib, 64).size() == 64) {
    ++batches;
  }
  EXPECT_LT(batches, 100U) << "after a while nobody else is expected";
}

TEST(Inbox, AloneATenantHasTheWholeBatch) {
  Inbox inbox(10'000, mib);
  auto all = flood(1, 600);
  inbox.put(all);
  EXPECT_EQ(inbox.take(512, mib, 64).size(), 512U);
}

TEST(Inbox, OutcomesOfAttemptsAreNobodyElse) {
  Inbox inbox(10'000, mib);
  auto outcomes = flood(0, 100);  // of tenant 0: they wait for no tenant's turn
  auto all = flood(1, 300);
  inbox.put(outcomes);
  inbox.put(all);
  EXPECT_EQ(inbox.take(512, mib, 64).size(), 400U);
}

TEST(Inbox, ManyTenantsFillABatchTogether) {
  Inbox inbox(10'000, mib);
  for (std::uint32_t tenant = 1; tenant <= 20; ++tenant) {
    auto some = flood(tenant, 40);
    inbox.put(some);
  }
  EXPECT_EQ(inbox.take(512, mib, 64).size(), 512U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
