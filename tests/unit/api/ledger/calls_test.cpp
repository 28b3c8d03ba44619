#include "unit/api/fixture.h"

#include "base/bytes.h"
#include "core/ledger/commands.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using namespace core::ledger;

class LedgerCalls : public ApiTest {
 protected:
  /// What the core answers to every Apply.
  void answer(LedgerApplied applied) {
    submitter.answer = [applied = std::move(applied)](core::Command&) -> core::Reply {
      return applied;
    };
  }
  static ItemResult refused(Refusal refusal) {
    return std::unexpected(std::make_shared<const Refusal>(std::move(refusal)));
  }
  const Apply& asked() { return submitter.taken.back().get<Apply>(); }
};

constexpr std::string_view some_entries =
    R"({"entries":[{"account":"a","side":"debit","amount":"7","currency":"USD"},)"
    R"({"account":"b","side":"credit","amount":7,"currency":"USD"}]})";

TransactionView some_transaction() {
  TransactionView view{.seq = 5};
  view.made.recorded_at = instant_from_ns(1);
  view.made.id = "t1";
  view.made.effective_at = instant_from_ns(2);
  view.made.entries = {{"a", Side::debit, 7, "USD"}, {"b", Side::credit, 7, "USD"}};
  view.metadata = {{.entry = 0, .key = "k", .value = "v"},
                   {.entry = 2, .key = "line", .value = "1"}};
  return view;
}

TEST_F(LedgerCalls, ATransactionIsTold) {
  auto detail = std::make_shared<Detail>();
  detail->object = some_transaction();
  detail->balances_after = {{.account = "a",
                             .currency = "USD",
                             .normal = Side::debit,
                             .counters = {.debits_posted = 7},
                             .version = 1}};
  answer({.results = {Applied{.id = "t1", .seq = 5, .created = true, .detail = detail}}});

  const auto response =
      call("POST", "/api/v1/ledger/-/transactions?balances=1", {}, std::string(some_entries));

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(
      response.body,
      R"({"object":"ledger_transaction","id":"t1","idempotency_key":null,"kind":"posted",)"
      R"("effective_at":"1970-01-01T00:00:00.000000002Z","expires_at":null,"description":null,)"
      R"("reference":null,"parent":null,"resolves":null,"reverses":null,"metadata":{"k":"v"},)"
      R"("entries":[{"index":0,"account":"a","side":"debit","amount":"7","currency":"USD","metadata":{}},)"
      R"({"index":1,"account":"b","side":"credit","amount":"7","currency":"USD","metadata":{"line":"1"}}],)"
      R"("seq":5,"recorded_at":"1970-01-01T00:00:00.000000001Z","state":"posted","resolved_by":[],)"
      R"("reversed_by":[],"hash":")" +
          std::string(64, '0') +
          R"(","replayed":false,"balances_after":[{"account":"a","currency":"USD","debits_posted":"7",)"
          R"("credits_posted":"0","debits_pending":"0","credits_pending":"0","posted":"7","pending":"7",)"
          R"("available":"7","version":1}]})");
  EXPECT_EQ(asked().book, "main");
  EXPECT_TRUE(asked().details);
  EXPECT_FALSE(asked().may_force);
  EXPECT_EQ(std::get<CreateTransaction>(asked().items.at(0).operation).entries.at(1).amount,
            Amount{7});
}

TEST_F(LedgerCalls, ARefusalHasItsMembers) {
  answer({.results = {refused({.code = Code::insufficient_funds,
                               .account = "a",
                               .currency = "USD",
                               .limit = {},
                               .value = {true, 7},
                               .detail = "no"})}});

  const auto response =
      call("POST", "/api/v1/ledger/books/eu/transactions", {}, std::string(some_entries));

  EXPECT_EQ(response.status, 409);
  const auto told = json(response).as_object();
  EXPECT_EQ(told.at("code").as_string(), "insufficient_funds");
  EXPECT_EQ(told.at("limit").as_string(), "0");
  EXPECT_EQ(told.at("value").as_string(), "-7");
  EXPECT_FALSE(told.at("request_id").as_string().empty());
  EXPECT_EQ(asked().book, "eu");
}

TEST_F(LedgerCalls, NonsenseIsNotSubmitted) {
  EXPECT_EQ(call("POST", "/api/v1/ledger/-/transactions", {}, R"({"entries":7})").status, 400);
  EXPECT_EQ(
      call("POST", "/api/v1/ledger/-/transactions?balance=1", {}, std::string(some_entries)).status,
      400);
  EXPECT_EQ(call("POST", "/api/v1/ledger/-/accounts", {}, "{}").status, 400);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(LedgerCalls, MinimalResultsAreShort) {
  answer({.results = {Applied{.id = "t1", .seq = 5, .created = true},
                      refused({.code = Code::account_not_found, .account = "x", .detail = "no"}),
                      Applied{.id = "t2", .seq = 2, .replayed = true}, Applied{}}});
  const std::string items =
      R"({"items":[{"op":"void","of":"t"},{"op":"void","of":"t"},{"op":"void","of":"t"},)"
      R"({"op":"assert","conditions":[]}]})";

  const auto response =
      call("POST", "/api/v1/ledger/-/batches", {{"Prefer", "wait=1, return=minimal"}}, items);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(
      response.body,
      R"({"object":"ledger_batch","mode":"independent","applied":3,"results":[)"
      R"({"status":201,"id":"t1","seq":5},{"status":404,"code":"account_not_found","detail":"no","account":"x"},)"
      R"({"status":200,"id":"t2","seq":2},{"status":200}]})");
  EXPECT_FALSE(asked().details);
}

TEST_F(LedgerCalls, AnAtomicBatchFailsAsItsItem) {
  answer({.results = {refused({.code = Code::linked_failed, .detail = "l"}),
                      refused({.code = Code::condition_failed, .account = "a", .detail = "c"})},
          .failed = 1});

  const auto response =
      call("POST", "/api/v1/ledger/-/batches", {},
           R"({"mode":"atomic","items":[{"op":"void","of":"t"},{"op":"void","of":"t"}]})");

  EXPECT_EQ(response.status, 409);
  const auto told = json(response).as_object();
  EXPECT_EQ(told.at("code").as_string(), "condition_failed");
  EXPECT_EQ(told.at("item").as_int64(), 1);
  EXPECT_EQ(told.at("applied").as_int64(), 0);
  EXPECT_EQ(told.at("results").as_array().size(), 2U);
}

TEST_F(LedgerCalls, ForceIsForTheOperator) {
  answer({.results = {Applied{.id = "r", .seq = 1, .created = true}}});
  const std::string batch = R"({"items":[{"op":"reverse","of":"t","force":true}]})";

  call("POST", "/api/v1/ledger/-/batches", {}, batch);

  const auto& operation = asked().items.at(0).operation;
  ASSERT_TRUE(std::holds_alternative<Unreadable>(operation));
  EXPECT_EQ(std::get<Unreadable>(operation).refusal->code, Code::permission_denied);
  submitter.taken.clear();
  EXPECT_EQ(call("POST", "/api/v1/ledger/-/batches", {},
                 R"({"mode":"atomic","items":[{"op":"reverse","of":"t","force":true}]})")
                .status,
            403);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(LedgerCalls, AReaderOfMainMakesItFirst) {
  submitter.answer = [this](core::Command&) -> core::Reply {
    submitter.reader->put<Book>({.tenant = core::TenantId{1}, .id = "main", .number = 1});
    return LedgerApplied{.results = {Applied{.id = "main"}}};
  };

  const auto response = call("GET", "/api/v1/ledger/-/subscriptions");

  EXPECT_EQ(response.body, R"({"subscriptions":[]})");
  EXPECT_TRUE(std::holds_alternative<ChangeBook>(asked().items.at(0).operation));
  EXPECT_EQ(call("GET", "/api/v1/ledger/books/eu/subscriptions").status, 404);
  EXPECT_EQ(submitter.taken.size(), 1U);
}

TEST_F(LedgerCalls, AccountsAreListedByFilters) {
  const core::TenantId tenant{1};
  submitter.reader->put<Book>({.tenant = tenant, .id = "main", .number = 1});
  const struct {
    std::string id;
    std::string path;
    AccountType type;
  } rows[] = {{"x", "merchant:4", AccountType::asset},
              {"y", "merchant:42", AccountType::asset},
              {"z", "merchant:4:usd", AccountType::revenue}};
  std::uint64_t number = 0;
  for (const auto& row : rows) {
    ++number;
    std::string bytes;
    append_be(bytes, number);
    submitter.reader->put<core::ledger::Account>({.tenant = tenant,
                                                  .book = 1,
                                                  .id = row.id,
                                                  .number = number,
                                                  .path = row.path,
                                                  .type = row.type});
    submitter.reader->put<Name>({.tenant = tenant,
                                 .book = 1,
                                 .kind = Name::Kind::path,
                                 .name = row.path,
                                 .account = row.id});
    submitter.reader->put<Name>({.tenant = tenant,
                                 .book = 1,
                                 .kind = Name::Kind::number,
                                 .name = bytes,
                                 .account = row.id});
  }
  const auto ids = [this](std::string query) {
    std::string all;
    const auto listed = json(call("GET", "/api/v1/ledger/-/accounts?" + query));
    for (const auto& one : listed.at("accounts").as_array()) {
      all += one.at("id").as_string().c_str();
    }
    return all;
  };

  EXPECT_EQ(ids(""), "xyz");
  EXPECT_EQ(ids("prefix=merchant:4"), "xz");
  EXPECT_EQ(ids("type=revenue"), "z");
  EXPECT_EQ(ids("state=closed"), "");
  const auto page = json(call("GET", "/api/v1/ledger/-/accounts?limit=2")).as_object();
  EXPECT_EQ(page.at("accounts").as_array().size(), 2U);
  EXPECT_EQ(ids("limit=2&cursor=" + std::string(page.at("cursor").as_string())), "z");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
