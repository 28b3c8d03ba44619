#include <gtest/gtest.h>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using State = IdempotencyKey::State;

EndJob acking(const StartAttempt& start, std::string result = "1") {
  return {.tenant = tenant_one,
          .id = start.id,
          .lease = PushLease{start.partition, start.fence},
          .succeeded = true,
          .content_type = "application/json",
          .result = std::move(result)};
}
EndJob nacking(const StartAttempt& start, std::optional<Millis> retry_after = {}) {
  EndJob end{.tenant = tenant_one,
             .id = start.id,
             .lease = PushLease{start.partition, start.fence},
             .error = "no"};
  end.retry_after = retry_after;
  return end;
}
EndJob by_receipt(EndJob end, const Receipt& receipt) {
  end.id = receipt.id;
  end.lease = receipt;
  return end;
}
EndKey ending(const std::string& key, std::uint64_t token, const std::string& answer = "1") {
  return {HeldKey{tenant_one, "s", key, token}, false, answer, {}};
}

struct TransactRig : PullRig {
  using PullRig::PullRig;

  std::uint64_t claim(const std::string& key) {
    return run(ClaimKey{tenant_one, "s", key, "", "", Millis{60'000}, Millis{60'000}})
        .only<KeyClaimed>()
        .record.token;
  }
  StartAttempt started(std::vector<Millis> waits = {Millis{10}}) {
    return run(publishing(message_to("http://a", std::move(waits)))).starts.at(0);
  }
  State state_of(const std::string& key) {
    return reader.get<IdempotencyKey>({tenant_one, idempotency_id("s", key)})->state;
  }

  template <class... Operations>
  static Transact of(Operations... operations) {
    Transact transact{.tenant = tenant_one};
    (transact.operations.emplace_back(std::move(operations)), ...);
    return transact;
  }
  /// It must change nothing.
  TransactRefused refused(Transact transact) {
    const Ran ran = run(std::move(transact));
    const auto told = ran.only<Transacted>();
    EXPECT_TRUE(told.id.empty());
    EXPECT_TRUE(told.results.empty());
    EXPECT_TRUE(told.refused.has_value());
    for (const Mutation& one : ran.mutations) {
      EXPECT_FALSE(std::holds_alternative<Put<Message>>(one));
      EXPECT_FALSE(std::holds_alternative<Put<MessageState>>(one));
      EXPECT_FALSE(std::holds_alternative<Put<IdempotencyKey>>(one));
      EXPECT_FALSE(std::holds_alternative<Put<Events>>(one));
    }
    return told.refused.value_or(TransactRefused{});
  }
};

TEST(Transact, DoesAllOfItInOneBatch) {
  TransactRig rig;
  rig.make("work");
  const StartAttempt start = rig.started();
  const std::uint64_t token = rig.claim("k");
  Transact transact = TransactRig::of(acking(start), Rig::publishing(message_to("http://b")),
                                      PullRig::sending("work", "next"), ending("k", token));
  transact.preconditions = {JobIs{start.id, {Status::running}},
                            KeyIs{"s", "k", State::started, token}};

  const Ran ran = rig.run(std::move(transact));

  const auto done = ran.only<Transacted>();
  EXPECT_FALSE(done.refused);
  EXPECT_TRUE(done.id.starts_with("tx_"));
  EXPECT_EQ(done.id.size(), 30U);
  ASSERT_EQ(done.results.size(), 4U);
  EXPECT_EQ(std::get<JobEnded>(done.results[0]).status, Status::succeeded);
  EXPECT_FALSE(std::get<Published>(done.results[1]).deduplicated);
  EXPECT_EQ(std::get<KeyChanged>(done.results[3]).record.state, State::completed);
  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].id, std::get<Published>(done.results[1]).id);
  EXPECT_EQ(rig.reader.rows<MessageState>().at(start.id.seq).last->response_body, "1");
  EXPECT_EQ(rig.state_of("k"), State::completed);
  EXPECT_EQ(rig.receive("work"), (Bodies{"next"}));
  EXPECT_TRUE(rig.counts().conserved());
}

TEST(Transact, AFailedPreconditionEndsIt) {
  TransactRig rig;
  const StartAttempt start = rig.started();
  const std::uint64_t token = rig.claim("k");
  struct Row {
    std::string_view name;
    Precondition condition;
  };
  MessageId nobody = start.id;
  nobody.nonce ^= 1;
  const Row rows[] = {
      {"another status", JobIs{start.id, {Status::pending, Status::failed}}},
      {"no such job", JobIs{nobody, {Status::running}}},
      {"another state", KeyIs{"s", "k", State::completed, {}}},
      {"another token", KeyIs{"s", "k", {}, token + 1}},
      {"no such key", KeyIs{"s", "other", {}, {}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Transact transact = TransactRig::of(acking(start));
    transact.preconditions = {JobIs{start.id, {Status::running}}, row.condition};

    const TransactRefused why = rig.refused(std::move(transact));

    EXPECT_TRUE(why.of_precondition);
    EXPECT_EQ(why.index, 1U);
    EXPECT_TRUE(std::holds_alternative<Error>(why.why));
  }
}

TEST(Transact, TheFirstThatCannotBeDoneEndsIt) {
  TransactRig rig;
  rig.make("pulled");
  const StartAttempt start = rig.started();
  const std::uint64_t token = rig.claim("k");
  EndJob stale = acking(start);
  std::get<PushLease>(stale.lease).fence.attempt = 7;
  EndJob stranger = acking(start);
  stranger.id.nonce ^= 1;
  Message bad_retry = message_to("http://b");
  bad_retry.retry.delay = ExpressionDelay{"retried +"};
  Message of_other_kind = message_to("http://b");
  of_other_kind.queue = "pulled";
  Message no_group = message_to("");
  no_group.url.clear();
  no_group.topic = "nobody";
  struct Row {
    std::string_view name;
    std::function<TransactOperation()> operation;
    std::optional<ErrorKind> error;
    std::optional<JobEnded::Outcome> job;
    std::optional<KeyChanged::Outcome> key;
  };
  const Row rows[] = {
      {"old fence", [&] { return stale; }, {}, JobEnded::Outcome::lease_lost, {}},
      {"no such job", [&] { return stranger; }, ErrorKind::not_found, {}, {}},
      {"bad policy",
       [&] { return TransactOperation(Rig::publishing(bad_retry)); },
       ErrorKind::invalid_argument,
       {},
       {}},
      {"a pulled queue with a URL",
       [&] { return TransactOperation(Rig::publishing(of_other_kind)); },
       ErrorKind::conflict,
       {},
       {}},
      {"no such queue",
       [&] { return TransactOperation(PullRig::sending("none", "x")); },
       ErrorKind::not_found,
       {},
       {}},
      {"no such group",
       [&] { return TransactOperation(Rig::publishing(no_group)); },
       ErrorKind::not_found,
       {},
       {}},
      {"running",
       [&] {
         return CancelMessage{tenant_one, start.id};
       },
       ErrorKind::conflict,
       {},
       {}},
      {"another token",
       [&] { return ending("k", token + 1); },
       {},
       {},
       KeyChanged::Outcome::fenced},
      {"no such key", [&] { return ending("none", 1); }, ErrorKind::not_found, {}, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Transact transact =
        TransactRig::of(Rig::publishing(message_to("http://b")), ending("k", token));
    transact.operations.push_back(row.operation());
    if (row.name == "another token") {
      std::swap(transact.operations[1], transact.operations[2]);
    }

    const TransactRefused why = rig.refused(std::move(transact));

    EXPECT_FALSE(why.of_precondition);
    EXPECT_EQ(why.index, row.name == "another token" ? 1U : 2U);
    if (row.error) {
      ASSERT_TRUE(std::holds_alternative<Error>(why.why));
      EXPECT_EQ(std::get<Error>(why.why).kind, *row.error);
    } else if (row.job) {
      ASSERT_TRUE(std::holds_alternative<JobEnded>(why.why));
      EXPECT_EQ(std::get<JobEnded>(why.why).outcome, *row.job);
    } else {
      ASSERT_TRUE(std::holds_alternative<KeyChanged>(why.why));
      EXPECT_EQ(std::get<KeyChanged>(why.why).outcome, *row.key);
    }
    EXPECT_EQ(rig.state_of("k"), State::started);
    EXPECT_EQ(rig.counts().accepted, 1U);
  }
  EXPECT_EQ(rig.run(TransactRig::of(acking(start))).only<Transacted>().results.size(), 1U);
}

TEST(Transact, EachOperationSeesTheOnesBefore) {
  struct Row {
    std::string_view name;
    std::function<Transact(const StartAttempt&, const Receipt&, std::uint64_t)> make;
    std::optional<std::size_t> fails_at;
  };
  const auto cancel = [](MessageId id) { return CancelMessage{tenant_one, id}; };
  const Row rows[] = {
      {"two acks of one job",
       [](const auto& a, const auto&, auto) { return TransactRig::of(acking(a), acking(a)); }, 1},
      {"ack after nack",
       [](const auto& a, const auto&, auto) { return TransactRig::of(nacking(a), acking(a)); }, 1},
      {"cancel after nack",
       [&](const auto& a, const auto&, auto) { return TransactRig::of(nacking(a), cancel(a.id)); },
       {}},
      {"cancel twice after nack",
       [&](const auto& a, const auto&, auto) {
         return TransactRig::of(nacking(a), cancel(a.id), cancel(a.id));
       },
       2},
      {"a receipt that is still good",
       [](const auto& a, const auto& r, auto) {
         return TransactRig::of(by_receipt(nacking(a, Millis{50}), r), by_receipt(acking(a), r));
       },
       {}},
      {"a receipt that was given back",
       [](const auto& a, const auto& r, auto) {
         return TransactRig::of(by_receipt(nacking(a, Millis{0}), r), by_receipt(acking(a), r));
       },
       1},
      {"cancel of what was given back",
       [&](const auto& a, const auto& r, auto) {
         return TransactRig::of(by_receipt(nacking(a, Millis{0}), r), cancel(r.id));
       },
       {}},
      {"cancel of what is hidden",
       [&](const auto& a, const auto& r, auto) {
         return TransactRig::of(by_receipt(nacking(a, Millis{5}), r), cancel(r.id));
       },
       1},
      {"a key ended twice the same way",
       [](const auto&, const auto&, auto token) {
         return TransactRig::of(ending("k", token), ending("k", token));
       },
       {}},
      {"a key ended in two ways",
       [](const auto&, const auto&, auto token) {
         return TransactRig::of(ending("k", token), ending("k", token, "2"));
       },
       1},
      {"a key released and ended",
       [](const auto&, const auto&, auto token) {
         return TransactRig::of(ReleaseKey{HeldKey{tenant_one, "s", "k", token}},
                                ending("k", token));
       },
       1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    TransactRig rig;
    rig.make("q");
    rig.send("q", "m");
    rig.receive("q");
    const StartAttempt start = rig.started();
    const std::uint64_t token = rig.claim("k");
    Transact transact = row.make(start, rig.receipts["m"], token);

    if (row.fails_at) {
      EXPECT_EQ(rig.refused(std::move(transact)).index, *row.fails_at);
    } else {
      EXPECT_FALSE(rig.run(std::move(transact)).only<Transacted>().refused);
    }
    EXPECT_TRUE(rig.counts().conserved());
  }
}

TEST(Transact, PublishesKnowEachOther) {
  TransactRig rig;
  Message once = message_to("http://b");
  once.dedup_id = "d";

  const auto done =
      rig.run(TransactRig::of(Rig::publishing(once), Rig::publishing(once))).only<Transacted>();

  EXPECT_FALSE(std::get<Published>(done.results[0]).deduplicated);
  EXPECT_TRUE(std::get<Published>(done.results[1]).deduplicated);
  EXPECT_EQ(std::get<Published>(done.results[0]).id, std::get<Published>(done.results[1]).id);
}

TEST(Transact, AFanOutCountsAsItsMessages) {
  TransactRig rig;
  std::vector<Endpoint> endpoints;
  for (int i = 0; i < 3; ++i) {
    endpoints.push_back({.url = "http://e" + std::to_string(i) + "/", .host = "http://e"});
  }
  rig.run(UpsertEndpoints{tenant_one, "g", endpoints});
  Message message = message_to("");
  message.url.clear();
  message.topic = "g";
  message.body = std::string(std::size_t{30} << 20U, 'x');

  const auto done = rig.run(TransactRig::of(Rig::publishing(message))).only<Transacted>();
  EXPECT_EQ(std::get<FannedOut>(done.results[0]).messages.size(), 3U);

  const auto why = rig.refused(TransactRig::of(Rig::publishing(message), Rig::publishing(message)));
  EXPECT_EQ(why.index, 1U) << "together they are too much for one commit";
  EXPECT_EQ(std::get<Error>(why.why).kind, ErrorKind::invalid_argument);
}

TEST(Transact, AnAckThatWasMadeBeforeIsRefused) {
  TransactRig rig;
  const StartAttempt start = rig.started();
  rig.run(TransactRig::of(acking(start)));

  const auto why =
      rig.refused(TransactRig::of(acking(start), Rig::publishing(message_to("http://b"))));

  EXPECT_EQ(std::get<JobEnded>(why.why).outcome, JobEnded::Outcome::finished);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
