#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using Claim = KeyClaimed::Outcome;

constexpr Millis lease{60'000};
constexpr Millis kept{3'600'000};
constexpr Millis wait{20'000};

ClaimKey claiming(std::uint64_t receiver = 0, Millis wait_for = wait, std::string key = "k") {
  return {.tenant = tenant_one,
          .space = "default",
          .key = std::move(key),
          .lease = lease,
          .kept_for = kept,
          .wait = receiver == 0 ? Millis{0} : wait_for,
          .receiver = ReceiverId{receiver}};
}

struct KeyWaitTest : ::testing::Test {
  explicit KeyWaitTest(const Limits& limits = {}) : rig(limits) {}

  std::uint64_t hold() { return rig.run(claiming()).only<KeyClaimed>().record.token; }
  void begin_waiting(std::uint64_t receiver, Millis wait_for = wait) {
    EXPECT_EQ(rig.run(claiming(receiver, wait_for)).only<Later>().receiver, ReceiverId{receiver});
  }
  EndKey ending(std::uint64_t token) {
    return {{tenant_one, "default", "k", token}, false, "7", {}};
  }
  ReleaseKey releasing(std::uint64_t token) { return {{tenant_one, "default", "k", token}}; }
  /// The only late answer, to that receiver.
  KeyClaimed late(const Ran& ran, std::uint64_t receiver) {
    EXPECT_EQ(ran.late.size(), 1U);
    if (ran.late.size() != 1 || !ran.late[0].second) {
      return {};
    }
    EXPECT_EQ(ran.late[0].first, ReceiverId{receiver});
    return ran.late[0].second->get<KeyClaimed>();
  }

  Rig rig;
};

TEST_F(KeyWaitTest, WhoFindsTheKeyFreeDoesNotWait) {
  EXPECT_EQ(rig.run(claiming(1)).only<KeyClaimed>().outcome, Claim::started);
}

TEST_F(KeyWaitTest, EveryWaiterGetsTheAnswerWhenItIsThere) {
  const std::uint64_t token = hold();
  begin_waiting(1);
  begin_waiting(2);

  const Ran ran = rig.run(ending(token));

  ASSERT_EQ(ran.late.size(), 2U);
  for (const auto& [receiver, reply] : ran.late) {
    EXPECT_EQ(reply->get<KeyClaimed>().outcome, Claim::ended);
    EXPECT_EQ(reply->get<KeyClaimed>().record.answer, "7");
  }
}

TEST_F(KeyWaitTest, AReleaseGivesTheWorkToTheFirstAndTheOthersWaitForIt) {
  const std::uint64_t token = hold();
  begin_waiting(1);
  begin_waiting(2);

  const KeyClaimed first = late(rig.run(releasing(token)), 1);
  EXPECT_EQ(first.outcome, Claim::started);
  EXPECT_GT(first.record.token, token);
  EXPECT_FALSE(first.taken_over);
  EXPECT_EQ(late(rig.run(ending(first.record.token)), 2).outcome, Claim::ended);
}

TEST_F(KeyWaitTest, AWaitEndsInTime) {
  hold();
  begin_waiting(1);
  EXPECT_LE(rig.machine->wake_at(), rig.now + wait);
  rig.pass(wait - Millis{1});
  EXPECT_TRUE(rig.run().late.empty());
  rig.pass(Millis{1});
  EXPECT_EQ(late(rig.run(), 1).outcome, Claim::held);
  EXPECT_TRUE(rig.run().late.empty());
}

TEST_F(KeyWaitTest, ALeaseThatEndsIsTakenOverByAWaiter) {
  hold();
  begin_waiting(1, 3 * lease);
  begin_waiting(2, 3 * lease);
  rig.pass(lease);

  const KeyClaimed taken = late(rig.run(), 1);
  EXPECT_EQ(taken.outcome, Claim::started);
  EXPECT_TRUE(taken.taken_over);
  rig.pass(lease - Millis{1});
  EXPECT_TRUE(rig.run().late.empty()) << "the second waits for the first now";
  rig.pass(Millis{1});
  EXPECT_TRUE(late(rig.run(), 2).taken_over);
}

TEST_F(KeyWaitTest, ARenewedLeaseIsWaitedForAgain) {
  const std::uint64_t token = hold();
  begin_waiting(1, 2 * lease);
  rig.pass(lease / 2);
  rig.run(RenewKey{{tenant_one, "default", "k", token}, lease});
  rig.pass(lease / 2);
  EXPECT_TRUE(rig.run().late.empty());
  rig.pass(lease / 2);
  EXPECT_TRUE(late(rig.run(), 1).taken_over);
}

TEST_F(KeyWaitTest, ADeletedKeyIsClaimedByAWaiter) {
  hold();
  begin_waiting(1);
  EXPECT_EQ(late(rig.run(DeleteKey{tenant_one, "default", "k"}), 1).outcome, Claim::started);
}

TEST_F(KeyWaitTest, WhoIsGoneClaimsNothing) {
  const std::uint64_t token = hold();
  begin_waiting(1);
  begin_waiting(2);
  rig.run(StopClaiming{TenantId{2}, ReceiverId{1}});  // not its own
  const Ran gone = rig.run(StopClaiming{tenant_one, ReceiverId{1}});
  ASSERT_EQ(gone.late.size(), 1U);
  EXPECT_FALSE(gone.late[0].second.has_value());

  EXPECT_EQ(late(rig.run(releasing(token)), 2).outcome, Claim::started);
  EXPECT_TRUE(rig.run(StopClaiming{tenant_one, ReceiverId{1}}).late.empty());
}

TEST_F(KeyWaitTest, ADrainEndsEveryWait) {
  hold();
  begin_waiting(1);
  rig.machine->stop_starting();
  EXPECT_LE(rig.machine->wake_at(), rig.now);
  EXPECT_EQ(late(rig.run(), 1).outcome, Claim::held);
  EXPECT_EQ(rig.run(claiming(2)).only<KeyClaimed>().outcome, Claim::held) << "and begins none";
}

struct FewWaitsTest : KeyWaitTest {
  static Limits few() {
    Limits limits;
    limits.key_waits = 4;
    limits.key_waits_of_tenant = 3;
    limits.key_waits_of_key = 2;
    limits.key_wakes_per_batch = 2;
    return limits;
  }
  FewWaitsTest() : KeyWaitTest(few()) {}
  ErrorKind refused(ClaimKey claim) {
    const Ran ran = rig.run(std::move(claim));
    EXPECT_FALSE(ran.replies.at(0).has_value());
    return ran.replies.at(0) ? ErrorKind::internal : ran.replies.at(0).error().kind;
  }
};

TEST_F(FewWaitsTest, OnlySoManyWait) {
  hold();
  rig.run(claiming(0, wait, "other"));
  begin_waiting(1);
  begin_waiting(2);
  EXPECT_EQ(refused(claiming(3)), ErrorKind::limit_exceeded) << "of one key";
  EXPECT_TRUE(rig.run(claiming(3, wait, "other")).replies.at(0)->is<Later>());
  EXPECT_EQ(refused(claiming(4, wait, "other")), ErrorKind::limit_exceeded) << "of one tenant";
}

TEST_F(FewWaitsTest, ManyAreAnsweredInSeveralBatches) {
  const std::uint64_t token = hold();
  const std::uint64_t other = rig.run(claiming(0, wait, "other")).only<KeyClaimed>().record.token;
  begin_waiting(1);
  begin_waiting(2);
  rig.run(claiming(3, wait, "other"));

  const Ran first =
      rig.run(ending(token), EndKey{{tenant_one, "default", "other", other}, false, "8", {}});
  EXPECT_EQ(first.late.size(), 2U);
  EXPECT_LE(rig.machine->wake_at(), rig.now);
  EXPECT_EQ(rig.run().late.size(), 1U);
}

/// Keeps every success but those that are held.
struct Teller final : Answers {
  std::optional<KeptAnswer> keep(const Reply& reply) override {
    if (!reply || reply->get<KeyClaimed>().outcome == Claim::held) {
      return std::nullopt;
    }
    return KeptAnswer{.answer = {.head = {.status = 200},
                                 .body = std::to_string(reply->get<KeyClaimed>().record.token)}};
  }
};

TEST_F(KeyWaitTest, AClaimThatWaitsCanBeAskedOnce) {
  const std::uint64_t token = hold();
  const auto once = [](std::uint64_t receiver) {
    return Once{.tenant = tenant_one,
                .space = api_space,
                .key = "o",
                .hash = "h",
                .kept_for = kept,
                .command = boxed(claiming(receiver)),
                .answers = std::make_shared<Teller>()};
  };
  EXPECT_TRUE(rig.run(once(1)).replies.at(0)->is<Later>());
  EXPECT_TRUE(rig.run(once(2)).replies.at(0)->is<Later>()) << "nothing is known yet";

  const Ran ran = rig.run(releasing(token));

  ASSERT_EQ(ran.late.size(), 2U);
  const auto& first = ran.late[0].second->get<OnceAnswered>();
  const auto& second = ran.late[1].second->get<OnceAnswered>();
  EXPECT_FALSE(first.replayed);
  EXPECT_TRUE(second.replayed) << "of two who ask for the same one is executed";
  EXPECT_EQ(first.answer.body, second.answer.body);
  EXPECT_TRUE(rig.run(once(3)).only<OnceAnswered>().replayed);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
