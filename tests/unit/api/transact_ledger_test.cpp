// Operations of the ledger in a transact, on the real core: what is read, what it costs, and how it
// is told, also when it is told again.
#include "unit/api/fixture.h"
#include "unit/api/ledger/books_rig.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class TransactLedgerApi : public ApiTest {
 protected:
  TransactLedgerApi() {
    options.admin_token = Secret("admin");
    known = submitter.reader->rows<core::Tenant>().at(core::TenantId{1});
    submitter.reader = books.reader;
    submitter.answer = [this](core::Command& command) { return books.run(std::move(command)); };
  }

  http::Response ask(const std::string& operations, const std::string& preconditions = "",
                     const std::string& key = "") {
    std::string body = R"({"operations": [)" + operations + "]";
    body += preconditions.empty() ? "}" : R"(, "preconditions": [)" + preconditions + "]}";
    return send(body, key.empty() ? "k" + std::to_string(++keys_) : key);
  }
  http::Response send(const std::string& body, const std::string& key) {
    return call("POST", "/api/v1/transact",
                {{"Idempotency-Key", key}, {"Content-Type", "application/json"}}, body);
  }
  static std::string account(const std::string& id, const std::string& more = "") {
    return R"({"op": "ledger.account", "account": {"id": ")" + id + R"(", "type": "asset")" + more +
           "}}";
  }
  static std::string pay(const std::string& id, const std::string& amount,
                         const std::string& more = "") {
    return R"({"op": "ledger.transaction", "transaction": {"id": ")" + id +
           R"(", "entries": [{"account": "bob", "side": "debit", "amount": ")" + amount +
           R"(", "currency": "USD"}, {"account": "alice", "side": "credit", "amount": ")" + amount +
           R"(", "currency": "USD"}])" + more + "}}";
  }
  /// Alice may go down to -100.
  void open_wallets() {
    const auto made = ask(account("alice", R"(, "limits": {"USD": {"min_available": "-100"}})") +
                          ", " + account("bob"));
    ASSERT_EQ(made.status, 200) << made.body;
  }
  static std::string text(const boost::json::value& value) { return boost::json::serialize(value); }

  BooksRig books;
  core::Tenant known;  ///< with its tokens

 private:
  int keys_ = 0;
};

TEST_F(TransactLedgerApi, EveryOperationOfTheLedgerIsReadAndTold) {
  open_wallets();

  const auto response = ask(
      pay("t-1", "10") + ", " + pay("h-1", "20", R"(, "kind": "pending", "timeout": "7d")") +
          R"(, {"op": "ledger.post", "book": "main", "of": "h-1", "id": "p-1", "amounts": ["5", "5"]},
      {"op": "ledger.reverse", "of": "t-1", "id": "r-1"},
      {"op": "ledger.metadata", "of": "t-1", "metadata": {"order": "7"}},
      {"op": "ledger.limits", "of": "bob", "limits": {"USD": {"max_balance": "1000"}}},
      {"op": "ledger.assert", "conditions": [{"account": "bob", "currency": "USD", "gte": "5"}]},)" +
          pay("h-2", "1", R"(, "kind": "pending")") +
          R"(, {"op": "ledger.void", "of": "h-2", "id": "v-2"})",
      R"({"ledger_account": {"account": "alice", "currency": "USD", "available_gte": "0"}},
         {"ledger_account": {"book": "main", "account": "alice", "currency": "USD", "version": 0}})");

  ASSERT_EQ(response.status, 200) << response.body;
  const boost::json::value told = json(response);
  const boost::json::array& results = told.at("results").as_array();
  ASSERT_EQ(results.size(), 9U);
  std::vector<std::string> seen;
  for (const boost::json::value& one : results) {
    const auto* const object = one.as_object().if_contains("object");
    seen.push_back(std::string(one.at("op").as_string()) + ' ' +
                   (object == nullptr ? ""
                                      : std::string(object->at("object").as_string()) + ' ' +
                                            std::string(object->at("id").as_string())));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "ledger.transaction ledger_transaction t-1",
                      "ledger.transaction ledger_transaction h-1",
                      "ledger.post ledger_transaction p-1", "ledger.reverse ledger_transaction r-1",
                      "ledger.metadata ledger_transaction t-1", "ledger.limits ledger_account bob",
                      "ledger.assert ", "ledger.transaction ledger_transaction h-2",
                      "ledger.void ledger_transaction v-2"}));
  EXPECT_EQ(text(results[2].at("object").at("resolves")), R"("h-1")");
  EXPECT_EQ(text(results[4].at("object").at("metadata")), R"({"order":"7"})");
  EXPECT_EQ(text(results[0].at("object").at("replayed")), "false");
  EXPECT_EQ(results[6].as_object().size(), 1U) << "an assert has no object";
}

TEST_F(TransactLedgerApi, ARefusalOfTheLedgerKeepsItsCodeAndMembers) {
  open_wallets();
  struct Row {
    std::string operation;
    int status;
    std::string code;
    std::string member;
    std::string value;
  };
  const Row rows[] = {
      {pay("t-1", "101"), 409, "insufficient_funds", "value", R"("-101")"},
      {pay("t-1", "101"), 409, "insufficient_funds", "limit", R"("-100")"},
      {pay("t-1", "101"), 409, "insufficient_funds", "account", R"("alice")"},
      {R"({"op": "ledger.post", "of": "nothing"})", 404, "transaction_not_found", "transaction",
       R"("nothing")"},
      {R"({"op": "ledger.void", "book": "none", "of": "x"})", 404, "book_not_found", "op",
       R"("ledger.void")"},
      {R"({"op": "ledger.assert", "conditions": [{"account": "bob", "currency": "USD", "gt": "0"}]})",
       409, "condition_failed", "actual", R"("0")"},
      {R"({"op": "ledger.assert", "conditions": [{"account": "bob", "currency": "USD", "expect_version": 3}]})",
       409, "version_conflict", "actual", "0"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.code + " " + row.member);

    const auto response = ask(account("carol") + ", " + row.operation);

    EXPECT_EQ(response.status, row.status) << response.body;
    const boost::json::value told = json(response);
    EXPECT_EQ(told.at("code").as_string(), row.code);
    EXPECT_EQ(text(told.at(row.member)), row.value);
    EXPECT_EQ(told.at("operation"), 1);
    EXPECT_EQ(told.at("applied"), false);
    EXPECT_FALSE(
        core::ledger::find_account(*books.reader, books.tenant, books.book().number, "carol"));
  }
}

TEST_F(TransactLedgerApi, AFailedPreconditionSaysWhatTheAccountHas) {
  open_wallets();

  const auto response =
      ask(pay("t-1", "1"),
          R"({"ledger_account": {"account": "alice", "currency": "USD", "available_gte": 1}})");

  EXPECT_EQ(response.status, 412);
  const boost::json::value told = json(response);
  EXPECT_EQ(told.at("code").as_string(), "precondition_failed");
  EXPECT_EQ(told.at("precondition"), 0);
  EXPECT_EQ(text(told.at("actual")), R"("0")");
  EXPECT_EQ(text(told.at("account")), R"("alice")");
  EXPECT_EQ(ask(pay("t-1", "1"),
                R"({"ledger_account": {"account": "nobody", "currency": "USD", "version": 1}})")
                .status,
            412);
}

TEST_F(TransactLedgerApi, WhatIsWrongIsNamed) {
  struct Row {
    std::string operation;
    std::string code;
    std::string detail;
  };
  const Row rows[] = {
      {R"({"op": "ledger.transaction"})", "invalid", "transaction: must be given"},
      {R"({"op": "ledger.transaction", "transaction": 7})", "invalid",
       "transaction: must be an object"},
      {R"({"op": "ledger.transaction", "transaction": {}})", "invalid",
       "transaction.entries: must be given"},
      {R"({"op": "ledger.transaction", "transaction": {"entries": [{"account": "a", "side": "debit", "currency": "USD", "amount": 1.5}]}})",
       "amount_invalid", "transaction.entries[0].amount: must be"},
      {R"({"op": "ledger.transaction", "transaction": {"entries": [{"account": "a", "side": "left", "currency": "USD"}]}})",
       "invalid", "transaction.entries[0].side: must be one of"},
      {R"({"op": "ledger.transaction", "transaction": {"entries": [], "effective_at": "soon"}})",
       "effective_at_invalid", "transaction.effective_at: must be"},
      {R"({"op": "ledger.account", "account": {"type": "money"}})", "invalid",
       "account.type: must be one of"},
      {R"({"op": "ledger.account", "book": 7, "account": {"type": "asset"}})", "invalid",
       "book: must be a string"},
      {R"({"op": "ledger.post"})", "invalid", "of: must be given"},
      {R"({"op": "ledger.void", "of": "t", "amounts": ["1"]})", "invalid", "amounts"},
      {R"({"op": "ledger.void", "of": "t", "group": "g"})", "invalid", "group: is for batches"},
      {R"({"op": "ledger.limits", "of": "a"})", "invalid", "limits: must be given"},
      {R"({"op": "ledger.metadata", "of": "a", "metadata": {"k": 1}})", "invalid", "metadata"},
      {R"({"op": "ledger.assert", "conditions": [{"account": "a", "currency": "USD"}]})", "invalid",
       "conditions[0]: must have exactly one of"},
      {R"({"op": "ledger.book"})", "invalid", "op: there is none of that name"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.operation);

    const auto response = ask(account("carol") + ", " + row.operation);

    EXPECT_EQ(response.status, 400) << response.body;
    const boost::json::value told = json(response);
    EXPECT_EQ(told.at("code").as_string(), row.code);
    EXPECT_EQ(told.at("operation"), 1);
    EXPECT_EQ(told.at("applied"), false);
    EXPECT_NE(told.at("detail").as_string().find(row.detail), std::string::npos) << response.body;
    EXPECT_EQ(told.at("errors").as_array().size(), 1U);
    EXPECT_EQ(told.at("errors").at(0).at("code").as_string(), row.code);
  }
  const Row conditions[] = {
      {R"({"ledger_account": {}})", "invalid", "account: must be given"},
      {R"({"ledger_account": []})", "invalid", "ledger_account: "},
      {R"({"ledger_account": {"account": "a", "currency": "USD"}})", "invalid", "exactly one of"},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "version": 1, "available_gte": "1"}})",
       "invalid", "exactly one of"},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "available_gte": "1.5"}})",
       "amount_invalid", "available_gte"},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "version": -1}})", "invalid",
       "version"},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "lt": "1"}})", "invalid", "lt"},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "version": 1}, "job": "x"})",
       "invalid", ""},
      {R"({"ledger_account": {"account": "a", "currency": "USD", "version": 1}, "at": "x"})",
       "invalid", "must stand alone"},
  };
  for (const Row& row : conditions) {
    SCOPED_TRACE(row.operation);

    const auto response = ask(account("carol"), row.operation);

    EXPECT_EQ(response.status, 400) << response.body;
    const boost::json::value told = json(response);
    EXPECT_EQ(told.at("code").as_string(), row.code);
    EXPECT_EQ(told.at("precondition"), 0);
    EXPECT_NE(told.at("detail").as_string().find(row.detail), std::string::npos) << response.body;
  }
}

TEST_F(TransactLedgerApi, WhatWasSentIsNotSentBackWhole) {
  const std::string long_name(100'000, 'x');
  for (const std::string& operation :
       {R"({"op": ")" + long_name + R"("})", R"({"op": "cancel", ")" + long_name + R"(": 1})",
        R"({"op": "ledger.void", "of": "t", ")" + long_name + R"(": 1})",
        R"({"op": "ledger.transaction", "transaction": {")" + long_name + R"(": 1}})"}) {
    const auto response = ask(operation);

    EXPECT_EQ(response.status, 400);
    EXPECT_LT(response.body.size(), 2'000U);
  }
}

TEST_F(TransactLedgerApi, ForceIsForTheOperator) {
  open_wallets();
  ASSERT_EQ(ask(pay("t-1", "60")).status, 200);
  const std::string force = R"({"op": "ledger.reverse", "of": "t-1", "id": "r-1", "force": true})";

  const auto refused = ask(account("carol") + ", " + force);
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(json(refused).at("code").as_string(), "permission_denied");
  EXPECT_EQ(json(refused).at("operation"), 1);

  const auto forced = call_as(
      "admin", "POST", "/api/v1/transact",
      {{"Idempotency-Key", "f"}, {"Content-Type", "application/json"}, {"Hikyaku-Tenant", "1"}},
      R"({"operations": [)" + force + "]}");
  EXPECT_EQ(forced.status, 200) << forced.body;
}

TEST_F(TransactLedgerApi, ALargeAnswerIsMadeAgain) {
  open_wallets();
  std::string operations =
      account("carol", R"(, "path": "people:carol")") + ", " +
      R"({"op": "ledger.assert", "conditions": [{"account": "bob", "currency": "USD", "gte": "0"}]})";
  for (int i = 0; i < 30; ++i) {
    operations += ", " + pay("t-" + std::to_string(i), "1",
                             R"(, "description": ")" + std::string(1900, 'd') +
                                 R"(", "metadata": {"a": ")" + std::string(400, 'v') + R"("})");
  }
  operations += ", " + pay("t-3", "1",
                           R"(, "description": ")" + std::string(1900, 'd') +
                               R"(", "metadata": {"a": ")" + std::string(400, 'v') + R"("})");
  const auto first = ask(operations, "", "large");
  ASSERT_EQ(first.status, 200) << first.body.substr(0, 1000);
  ASSERT_GT(first.body.size(), 64U * 1024);

  const auto again = ask(operations, "", "large");

  EXPECT_EQ(field(again, "Idempotent-Replayed"), "true");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(json(again), json(first));
  std::size_t kept = 0;
  for (const auto& [key, row] : books.reader->rows<core::IdempotencyKey>()) {
    kept = std::max(kept, row.answer.size());
  }
  EXPECT_LT(kept, 8'000U) << "names are stored, and not the objects";
}

TEST_F(TransactLedgerApi, TransactionsAreCounted) {
  open_wallets();
  ask(pay("t-1", "1") + ", " + pay("t-1", "1") + ", " + pay("t-2", "1"), "", "once");
  ask(pay("t-1", "1") + ", " + pay("t-1", "1") + ", " + pay("t-2", "1"), "", "once");
  ask(pay("t-3", "1000"));

  const std::string shown = call("GET", "/metrics").body;
  EXPECT_NE(shown.find("hikyaku_ledger_transactions_total{result=\"created\"} 2\n"),
            std::string::npos);
  EXPECT_NE(shown.find("hikyaku_ledger_transactions_total{result=\"replayed\"} 1\n"),
            std::string::npos);
  EXPECT_NE(shown.find("hikyaku_ledger_transactions_total{result=\"refused\"} 1\n"),
            std::string::npos);
}

// ---- what it costs ----

class TransactCosts : public TransactLedgerApi {
 protected:
  void limit(core::RateClass of, std::uint64_t burst) {
    limits_.classes[static_cast<std::size_t>(of)] = {.rate = 1, .burst = burst};
    change_limits();
  }
  void limit_all(std::uint64_t burst) {
    limits_.own_rate = true;
    limits_.all = {.rate = 1, .burst = burst};
    change_limits();
  }
  static std::string publish() {
    return R"({"op": "publish", "destination": "https://example.com/", "body": "b"})";
  }
  static std::string complete() {
    return R"({"op": "idempotency.complete", "key": "none", "token": 1, "response": 1})";
  }
  static std::string many(const std::string& operation, int count) {
    std::string all = operation;
    for (int i = 1; i < count; ++i) {
      all += ", " + operation;
    }
    return all;
  }

 private:
  void change_limits() {
    known.limits = limits_;
    change(known);
  }
  core::TenantLimits limits_{};
};

TEST_F(TransactCosts, EachOperationCostsInItsOwnClass) {
  open_wallets();
  limit(core::RateClass::publish, 1000);
  limit(core::RateClass::ledger, 99);

  EXPECT_EQ(ask(many(publish(), 100)).status, 200) << "publishes cost nothing of the ledger's";
  EXPECT_EQ(ask(many(account("carol"), 98)).status, 200);

  // As much does not come back for a minute and a half.
  const auto refused = ask(publish() + ", " + many(account("carol"), 98));

  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(json(refused).at("class").as_string(), "ledger");
  EXPECT_EQ(ask(publish()).status, 200);

  const auto never = ask(many(account("carol"), 100));
  EXPECT_EQ(never.status, 413);
  EXPECT_EQ(json(never).at("code").as_string(), "cost_over_burst");
}

TEST_F(TransactCosts, EndsOfWorkCostNothing) {
  limit_all(99);
  EXPECT_EQ(ask(many(account("carol"), 98)).status, 200);

  EXPECT_EQ(ask(many(complete(), 100)).status, 404) << "it is looked at, however little is left";
  const auto refused = ask(many(account("carol"), 98));
  EXPECT_EQ(refused.status, 429);
  std::size_t policies = 0;
  for (const net::Field& one : refused.fields) {
    policies += one.name == "RateLimit-Policy" ? 1U : 0U;
  }
  EXPECT_EQ(policies, 1U);
}

TEST_F(TransactCosts, WhatIsToldAgainCostsOneRead) {
  limit(core::RateClass::ledger, 1000);
  EXPECT_EQ(ask(many(account("carol"), 100), "", "again").status, 200);
  const auto left = [this] {
    return json(call_as("admin", "GET", "/api/v1/tenants/1/limits"))
        .at("remaining")
        .at("classes")
        .at("ledger")
        .to_number<std::int64_t>();
  };
  const std::int64_t before = left();

  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(field(ask(many(account("carol"), 100), "", "again"), "Idempotent-Replayed"), "true");
  }

  EXPECT_GE(left(), before);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
