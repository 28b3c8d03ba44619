#include "api/ledger/errors.h"

#include <gtest/gtest.h>

#include "api/ledger/short_path.h"

namespace hk::api::ledger {
namespace HK_TEST_FILE {

using core::ledger::Code;

std::string told(const core::ledger::Refusal& refusal) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  write_refusal_members(json, refusal);
  json.end_object();
  return out;
}

TEST(LedgerRefusals, HaveTheMembersOfTheirCode) {
  EXPECT_EQ(
      told({.code = Code::unbalanced, .currency = "USD", .debits = 7, .credits = 5, .detail = "d"}),
      R"({"code":"unbalanced","detail":"d","currency":"USD","debits":"7","credits":"5"})");
  EXPECT_EQ(
      told({.code = Code::insufficient_funds,
            .account = "a",
            .currency = "USD",
            .limit = {true, 5},
            .value = {true, 9},
            .detail = "d"}),
      R"({"code":"insufficient_funds","detail":"d","account":"a","currency":"USD","limit":"-5","value":"-9"})");
  EXPECT_EQ(
      told({.code = Code::version_conflict,
            .account = "a",
            .currency = "USD",
            .value = {false, 3},
            .detail = "d"}),
      R"({"code":"version_conflict","detail":"d","account":"a","currency":"USD","actual":3})");
  EXPECT_EQ(told({.code = Code::exceeds_hold, .amounts = {1, 0}, .detail = "d"}),
            R"({"code":"exceeds_hold","detail":"d","left":["1","0"]})");
  EXPECT_EQ(told({.code = Code::already_reversed, .amounts = {4}, .detail = "d"}),
            R"({"code":"already_reversed","detail":"d","reversible":["4"]})");
  EXPECT_EQ(told({.code = Code::record_invalid, .seq = 7, .detail = "d"}),
            R"({"code":"record_invalid","detail":"d","seq":7})");
  EXPECT_EQ(
      told({.code = Code::match_differs, .limit = {true, 5}, .value = {false, 4}, .detail = "d"}),
      R"({"code":"match_differs","detail":"d","limit":"-5","value":"4"})");
  EXPECT_EQ(told({.code = Code::line_exists_with_different, .member = "date", .detail = "d"}),
            R"({"code":"line_exists_with_different_date","detail":"d","member":"date"})");
  EXPECT_EQ(told({.code = Code::exists_with_different, .member = "entries", .detail = "d"}),
            R"({"code":"exists_with_different_entries","detail":"d","member":"entries"})");
}

TEST(LedgerRefusals, AreProblemsWithAStatus) {
  const http::Response response =
      problem_of({.code = Code::account_not_found, .account = "a", .detail = "no account a"}, "r1",
                 [](JsonWriter& json) { json.field("item", 3); });
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(
      response.body,
      R"({"type":"urn:hikyaku:problem:account_not_found","title":"Account not found","status":404,)"
      R"("detail":"no account a","code":"account_not_found","request_id":"r1","account":"a","item":3})");
  EXPECT_EQ(status_of(Code::permission_denied), 403);
  EXPECT_EQ(status_of(Code::too_many), 409);
  EXPECT_EQ(status_of(Code::currency_mismatch), 400);
}

TEST(LedgerPaths, TheShortOneIsTheBookMain) {
  const auto spelled = [](std::string target) {
    spell_out(target);
    return target;
  };
  EXPECT_EQ(spelled("/api/v1/ledger/-"), "/api/v1/ledger/books/main");
  EXPECT_EQ(spelled("/api/v1/ledger/-/accounts?limit=1"),
            "/api/v1/ledger/books/main/accounts?limit=1");
  EXPECT_EQ(spelled("/api/v1/ledger/-x"), "/api/v1/ledger/-x");
  EXPECT_EQ(spelled("/api/v1/ledger/books/-"), "/api/v1/ledger/books/-");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::ledger
