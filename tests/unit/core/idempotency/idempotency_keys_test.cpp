#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using Claim = KeyClaimed::Outcome;
using Change = KeyChanged::Outcome;
using State = IdempotencyKey::State;

constexpr Millis lease{60'000};
constexpr Millis kept{3'600'000};

ClaimKey claiming(std::string hash = "", std::string key = "k") {
  return {.tenant = tenant_one,
          .space = "default",
          .key = std::move(key),
          .hash = std::move(hash),
          .owner = "me",
          .lease = lease,
          .kept_for = kept};
}
HeldKey held(std::uint64_t token) { return {tenant_one, "default", "k", token}; }
RenewKey renewing(std::uint64_t token) { return {held(token), lease}; }
EndKey ending(std::uint64_t token, std::string answer = "{}", bool failed = false) {
  return {held(token), failed, std::move(answer), {}};
}
ReleaseKey releasing(std::uint64_t token) { return {held(token)}; }

struct IdempotencyKeysTest : ::testing::Test {
  KeyClaimed claim(std::string hash = "") {
    return rig.run(claiming(std::move(hash))).only<KeyClaimed>();
  }
  KeyChanged change(Command command) { return rig.run(std::move(command)).only<KeyChanged>(); }
  [[nodiscard]] Moment first_timer() const { return rig.reader.rows<Timer>().begin()->second.due; }
  [[nodiscard]] std::size_t stored() const { return rig.reader.rows<IdempotencyKey>().size(); }

  Rig rig;
};

TEST_F(IdempotencyKeysTest, OneClaimerDoesTheWorkAndTheOthersGetItsAnswer) {
  const KeyClaimed first = claim("h");
  EXPECT_EQ(first.outcome, Claim::started);
  EXPECT_EQ(first.record.attempt, 1U);
  EXPECT_EQ(first.record.lease_until, rig.now + lease);
  EXPECT_FALSE(first.taken_over);
  EXPECT_EQ(claim("h").outcome, Claim::held);
  EXPECT_EQ(claim("h").record, first.record);

  EXPECT_EQ(change(ending(first.record.token, R"({"ok":1})")).outcome, Change::done);

  const KeyClaimed later = claim("h");
  EXPECT_EQ(later.outcome, Claim::ended);
  EXPECT_EQ(later.record.state, State::completed);
  EXPECT_EQ(later.record.answer, R"({"ok":1})");
}

TEST_F(IdempotencyKeysTest, OfTwoClaimsInOneBatchOneIsFirst) {
  const Ran ran = rig.run(claiming(), claiming(), claiming("", "other"));

  EXPECT_EQ(ran.replies.at(0)->get<KeyClaimed>().outcome, Claim::started);
  EXPECT_EQ(ran.replies.at(1)->get<KeyClaimed>().outcome, Claim::held);
  EXPECT_EQ(ran.replies.at(2)->get<KeyClaimed>().outcome, Claim::started);
}

TEST_F(IdempotencyKeysTest, AKeyIsForOneRequest) {
  const std::uint64_t token = claim("h").record.token;
  EXPECT_EQ(claim("g").outcome, Claim::other_request);
  EXPECT_EQ(claim("").outcome, Claim::held) << "who names no request is not compared";
  change(ending(token));
  EXPECT_EQ(claim("g").outcome, Claim::other_request);
  EXPECT_EQ(claim("").outcome, Claim::ended);
}

TEST_F(IdempotencyKeysTest, WhoTakesOverFencesTheOneBefore) {
  const std::uint64_t old = claim().record.token;
  rig.pass(lease);

  const KeyClaimed second = claim();

  EXPECT_EQ(second.outcome, Claim::started);
  EXPECT_TRUE(second.taken_over);
  EXPECT_EQ(second.record.attempt, 2U);
  EXPECT_GT(second.record.token, old);
  const auto before = rig.reader.rows<IdempotencyKey>();
  for (Command& late : std::array<Command, 4>{renewing(old), ending(old), ending(old, "{}", true),
                                              releasing(old)}) {
    EXPECT_EQ(change(std::move(late)).outcome, Change::fenced);
  }
  EXPECT_EQ(rig.reader.rows<IdempotencyKey>(), before);
  change(ending(second.record.token, "{}", true));
  EXPECT_EQ(change(ending(old)).outcome, Change::fenced) << "even if the new holder has failed";
}

TEST_F(IdempotencyKeysTest, AnEndAfterTheLeaseCountsIfNobodyTookOver) {
  const std::uint64_t token = claim().record.token;
  rig.pass(lease + Millis{1});

  EXPECT_EQ(change(ending(token)).outcome, Change::done);
  EXPECT_EQ(claim().outcome, Claim::ended);
}

TEST_F(IdempotencyKeysTest, ARenewedLeaseLastsLonger) {
  const std::uint64_t token = claim().record.token;
  rig.pass(lease - Millis{1});
  EXPECT_EQ(change(renewing(token)).record.lease_until, rig.now + lease);
  rig.pass(lease - Millis{1});
  EXPECT_EQ(claim().outcome, Claim::held);
  rig.pass(Millis{1});
  EXPECT_TRUE(claim().taken_over);
}

TEST_F(IdempotencyKeysTest, AnEndIsSaidOnce) {
  const std::uint64_t token = claim().record.token;
  change(ending(token, "1"));

  EXPECT_EQ(change(ending(token, "1")).outcome, Change::again) << "the answer was lost";
  EXPECT_EQ(change(ending(token, "2")).outcome, Change::over);
  EXPECT_EQ(change(ending(token, "1", true)).outcome, Change::over);
  EXPECT_EQ(change(releasing(token)).outcome, Change::over);
  EXPECT_EQ(change(renewing(token)).outcome, Change::over);
  EXPECT_EQ(claim().record.answer, "1");
}

TEST_F(IdempotencyKeysTest, WhatIsReleasedIsBegunAgain) {
  const std::uint64_t token = claim("h").record.token;
  EXPECT_EQ(change(releasing(token)).outcome, Change::done);
  EXPECT_EQ(change(releasing(token)).outcome, Change::again);
  EXPECT_EQ(change(ending(token)).outcome, Change::over);
  EXPECT_EQ(claim("g").outcome, Claim::other_request);

  const KeyClaimed again = claim("h");

  EXPECT_EQ(again.outcome, Claim::started);
  EXPECT_FALSE(again.taken_over);
  EXPECT_EQ(again.record.attempt, 2U);
  EXPECT_GT(again.record.token, token);
}

TEST_F(IdempotencyKeysTest, AreForgottenAfterTheirTimeAndBegunAnew) {
  const std::uint64_t token = claim("h").record.token;
  change(ending(token));
  rig.pass(kept - Millis{1});
  EXPECT_EQ(claim("h").outcome, Claim::ended);
  rig.pass(Millis{1});

  EXPECT_FALSE(rig.run(ending(token)).replies.at(0).has_value());
  rig.run();
  EXPECT_EQ(stored(), 0U);
  const KeyClaimed anew = claim("g");
  EXPECT_EQ(anew.outcome, Claim::started);
  EXPECT_EQ(anew.record.attempt, 1U);
  EXPECT_GT(anew.record.token, token);
}

TEST_F(IdempotencyKeysTest, HaveOneTimerThatFollowsThem) {
  const std::uint64_t token = claim().record.token;
  ASSERT_EQ(first_timer(), rig.now + lease + kept);
  rig.pass(lease - Millis{1});
  change(renewing(token));
  EXPECT_EQ(rig.reader.rows<Timer>().size(), 1U) << "the early one looks and sets the next";
  EndKey end = ending(token);
  end.kept_for = Millis{1000};
  change(std::move(end));
  EXPECT_EQ(first_timer(), rig.now + Millis{1000});

  rig.pass(Millis{1000});
  rig.run();
  EXPECT_EQ(stored(), 0U);
  rig.pass(lease + kept);
  rig.run();
  EXPECT_TRUE(rig.reader.rows<Timer>().empty());
  EXPECT_EQ(stored(), 0U);
}

TEST_F(IdempotencyKeysTest, OutliveARestart) {
  const std::uint64_t token = claim().record.token;
  change(ending(token, "1"));
  rig.restart();

  EXPECT_EQ(claim().record.answer, "1");
  EXPECT_GT(rig.run(claiming("", "other")).only<KeyClaimed>().record.token, token);
}

TEST_F(IdempotencyKeysTest, AreForgottenAfterARestart) {
  change(ending(claim().record.token));
  rig.restart();
  rig.pass(kept);

  rig.run();

  EXPECT_EQ(stored(), 0U);
}

TEST_F(IdempotencyKeysTest, TokensRiseAlsoAfterADeletion) {
  const std::uint64_t token = claim().record.token;
  rig.run(DeleteKey{tenant_one, "default", "k"}).only<Done>();
  rig.run(DeleteKey{tenant_one, "default", "k"}).only<Done>();
  EXPECT_EQ(stored(), 0U);
  EXPECT_FALSE(rig.run(ending(token)).replies.at(0).has_value());
  EXPECT_GT(claim().record.token, token);
}

TEST_F(IdempotencyKeysTest, OfATenantThatIsNotThereAreRefused) {
  ClaimKey stranger = claiming();
  stranger.tenant = TenantId{9};
  EXPECT_EQ(rig.run(std::move(stranger)).replies.at(0).error().kind, ErrorKind::not_found);
}

TEST(Timers, AreHandledABoundedPartPerBatch) {
  Limits limits;
  limits.timers_per_batch = 2;
  Rig rig(limits);
  for (const char* const key : {"a", "b", "c", "d", "e"}) {
    rig.run(claiming("", key)).only<KeyClaimed>();
  }
  rig.pass(lease + kept);

  for (const std::size_t left : {3U, 1U, 0U}) {
    ASSERT_LE(*rig.machine->wake_at(), rig.now);
    rig.run();
    EXPECT_EQ(rig.reader.rows<IdempotencyKey>().size(), left);
    EXPECT_EQ(rig.reader.rows<Timer>().size(), left);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
