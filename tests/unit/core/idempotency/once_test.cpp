#include <gtest/gtest.h>

#include <memory>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis kept_for{3'600'000};

/// Answers with 201 and a text, with 4xx what is refused, and keeps nothing of `unavailable`.
struct Clerk final : Answers {
  std::string text{"told"};
  std::optional<std::string> reference{};
  bool of_the_moment = false;
  int asked = 0;

  std::optional<KeptAnswer> keep(const Reply& reply) override {
    ++asked;
    if (of_the_moment || (!reply && reply.error().kind == ErrorKind::unavailable)) {
      return std::nullopt;
    }
    return KeptAnswer{.answer = {.head = {.status = reply ? 201U : 404U,
                                          .content_type = "text/plain",
                                          .location = "/there",
                                          .etag = "\"1\""},
                                 .body = reply ? text : reply.error().message},
                      .reference = reference};
  }
};

struct OnceTest : ::testing::Test {
  Once once(BoxedCommand command, std::string key = "k", std::string hash = "h",
            TenantId tenant = tenant_one) {
    return {.tenant = tenant,
            .space = api_space,
            .key = std::move(key),
            .hash = std::move(hash),
            .kept_for = kept_for,
            .command = std::move(command),
            .answers = clerk};
  }
  static BoxedCommand publishing() { return boxed(Rig::publishing(message_to("http://a:80"))); }
  static BoxedCommand canceling() { return boxed(CancelMessage{tenant_one, {Seq{99}, 1}}); }
  [[nodiscard]] std::size_t messages() const { return rig.reader.rows<Message>().size(); }
  [[nodiscard]] std::size_t stored() const { return rig.reader.rows<IdempotencyKey>().size(); }

  Rig rig;
  std::shared_ptr<Clerk> clerk = std::make_shared<Clerk>();
};

TEST_F(OnceTest, WhatIsAskedAgainIsAnsweredAgainAndNotDoneAgain) {
  const auto first = rig.run(once(publishing())).only<OnceAnswered>();
  clerk->text = "another text";
  const auto second = rig.run(once(publishing())).only<OnceAnswered>();
  rig.restart();
  const auto third = rig.run(once(publishing())).only<OnceAnswered>();

  EXPECT_FALSE(first.replayed);
  EXPECT_EQ(first.answer.body, "told");
  for (const OnceAnswered& again : {second, third}) {
    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.answer.head, first.answer.head);
    EXPECT_EQ(again.answer.body, "told");
  }
  EXPECT_EQ(messages(), 1U);
  EXPECT_EQ(clerk->asked, 1);
}

TEST_F(OnceTest, OfTwoInOneBatchOneIsExecuted) {
  const Ran ran = rig.run(once(publishing()), once(publishing()), once(publishing(), "other"));

  EXPECT_FALSE(ran.replies.at(0)->get<OnceAnswered>().replayed);
  EXPECT_TRUE(ran.replies.at(1)->get<OnceAnswered>().replayed);
  EXPECT_FALSE(ran.replies.at(2)->get<OnceAnswered>().replayed);
  EXPECT_EQ(messages(), 2U);
}

TEST_F(OnceTest, TheEffectAndItsRecordAreInOneBatch) {
  const Ran ran = rig.run(once(publishing()));

  const auto has = [&ran]<class R>(std::type_identity<R>) {
    return std::ranges::any_of(
        ran.mutations, [](const Mutation& one) { return std::holds_alternative<Put<R>>(one); });
  };
  EXPECT_TRUE(has(std::type_identity<Message>{}));
  EXPECT_TRUE(has(std::type_identity<IdempotencyKey>{}));
}

TEST_F(OnceTest, AKeyIsForOneRequestOfOneTenant) {
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  rig.run(once(publishing()));

  rig.run(once(publishing(), "k", "g")).only<OnceReused>();
  Message message = message_to("http://a:80");
  message.tenant = TenantId{2};
  const auto of_two =
      rig.run(once(boxed(Rig::publishing(message)), "k", "h", TenantId{2})).only<OnceAnswered>();

  EXPECT_FALSE(of_two.replayed);
  EXPECT_EQ(messages(), 2U);
}

TEST_F(OnceTest, ARefusalIsTheAnswerForGood) {
  const auto refused = rig.run(once(canceling())).only<OnceAnswered>();
  const auto again = rig.run(once(canceling())).only<OnceAnswered>();

  EXPECT_EQ(refused.answer.head.status, 404U);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.answer.body, refused.answer.body);
}

TEST_F(OnceTest, WhatIsOfTheMomentIsNotKept) {
  clerk->of_the_moment = true;
  const Ran busy = rig.run(once(canceling()));
  EXPECT_EQ(busy.replies.at(0).error().kind, ErrorKind::not_found) << "the reply of the command";
  EXPECT_EQ(stored(), 0U);

  clerk->of_the_moment = false;
  EXPECT_FALSE(rig.run(once(publishing())).only<OnceAnswered>().replayed);
}

TEST_F(OnceTest, AnAnswerThatIsKnownAlreadyIsKeptToo) {
  EXPECT_FALSE(rig.run(once(nullptr)).only<OnceAnswered>().replayed);
  EXPECT_TRUE(rig.run(once(publishing())).only<OnceAnswered>().replayed);
  EXPECT_EQ(messages(), 0U);
}

TEST_F(OnceTest, ALargeAnswerIsKeptByReference) {
  clerk->reference = "made of this";
  const auto first = rig.run(once(publishing())).only<OnceAnswered>();
  const auto again = rig.run(once(publishing())).only<OnceAnswered>();

  EXPECT_EQ(first.answer.body, "told");
  EXPECT_TRUE(again.answer.head.by_reference);
  EXPECT_EQ(again.answer.body, "made of this");
}

TEST_F(OnceTest, NobodyKnowsItAfterItsTime) {
  rig.run(once(publishing()));
  rig.pass(kept_for - Millis{1});
  EXPECT_TRUE(rig.run(once(publishing())).only<OnceAnswered>().replayed);
  rig.pass(Millis{1});
  EXPECT_FALSE(rig.run(once(publishing())).only<OnceAnswered>().replayed);
  EXPECT_EQ(messages(), 2U);
}

TEST_F(OnceTest, ItIsForgottenAfterItsTimeUnlessItWasUsedAgain) {
  rig.run(once(publishing(), "used again"), once(publishing(), "left"));
  rig.pass(kept_for);
  rig.run(once(publishing(), "used again"));
  for (int i = 0; i < 10; ++i) {
    rig.pass(Millis{1000});
    rig.run();
  }

  ASSERT_EQ(stored(), 1U);
  EXPECT_EQ(rig.reader.rows<IdempotencyKey>().begin()->second.key, "used again");
  rig.pass(kept_for + Millis{10'000});
  rig.run();
  EXPECT_EQ(stored(), 0U);
  EXPECT_TRUE(rig.reader.rows<Timer>().empty());
}

TEST_F(OnceTest, WhoIsNoTenantHasNoKeys) {
  const Ran ran = rig.run(once(nullptr, "k", "h", TenantId{99}));
  EXPECT_EQ(ran.replies.at(0).error().kind, ErrorKind::not_found);
  EXPECT_EQ(stored(), 0U);
}

TEST_F(OnceTest, ACommandOfAHandlerCanBeAskedOnceToo) {
  const ClaimKey claim{tenant_one, "default", "work", "", "", Millis{1000}, kept_for};
  EXPECT_FALSE(rig.run(once(boxed(claim))).only<OnceAnswered>().replayed);
  EXPECT_TRUE(rig.run(once(boxed(claim))).only<OnceAnswered>().replayed);
  EXPECT_EQ(rig.run(claim).only<KeyClaimed>().outcome, KeyClaimed::Outcome::held);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
