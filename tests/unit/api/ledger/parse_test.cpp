#include "api/ledger/parse.h"

#include <gtest/gtest.h>

#include "core/ledger/json.h"

namespace hk::api::ledger {
namespace HK_TEST_FILE {

using namespace core::ledger;
using Given = EntryIn::Given;

template <class T>
std::string refused(const Parsed<T>& parsed) {
  return parsed ? "read" : parsed.error().member + " | " + parsed.error().detail;
}

constexpr std::string_view two_entries =
    R"("entries": [{"account": "a", "side": "debit", "amount": "5", "currency": "USD"},
                   {"account": "b", "side": "credit", "amount": 5, "currency": "USD"}])";

std::string with(std::string_view members) {
  return "{" + std::string(members) + (members.empty() ? "" : ",") + std::string(two_entries) + "}";
}

TEST(LedgerBodies, ATransactionIsReadWhole) {
  const auto read = read_transaction(R"({
      "id": "t1", "idempotency_key": "k", "kind": "pending", "effective_at": "2026-01-02T03:04:05Z",
      "timeout": 60, "description": "d", "reference": "r", "parent": "t0", "check_history": true,
      "metadata": {"order": "7"},
      "entries": [
        {"account": "a", "side": "debit", "amount": "all", "currency": "USD", "when": {"gte": "-5"}},
        {"side": "credit", "currency": "USD", "amount": 100, "split": [
          {"account": "b", "ratio": 2}, {"account": "c", "percent": "12.50"},
          {"account": "d", "remainder": true}]},
        {"account": "e", "side": "credit", "currency": "USD", "metadata": {"line": "1"}}],
      "conditions": [{"account": "a", "currency": "USD", "expect_version": 3},
                     {"account": "a", "currency": "USD", "balance": "posted", "at": "before", "lt": 9}]})");

  ASSERT_TRUE(read) << refused(read);
  EXPECT_EQ(read->id, "t1");
  EXPECT_EQ(read->idempotency_key, "k");
  EXPECT_EQ(read->kind, TransactionMade::Kind::pending);
  EXPECT_EQ(to_text(*read->effective_at), "2026-01-02T03:04:05.000000000Z");
  EXPECT_EQ(read->timeout_s, 60U);
  EXPECT_FALSE(read->expires_at);
  EXPECT_EQ(read->parent, "t0");
  EXPECT_EQ(read->check_history, true);
  EXPECT_EQ(read->metadata, (std::vector<MetadataIn>{{"order", "7"}}));
  ASSERT_EQ(read->entries.size(), 3U);
  EXPECT_EQ(read->entries[0].given, Given::all);
  EXPECT_EQ(to_text(read->entries[0].more->when.at(0).value), "-5");
  EXPECT_EQ(read->entries[1].account, "");
  EXPECT_EQ(read->entries[1].given, Given::amount);
  const auto& split = read->entries[1].more->split;
  ASSERT_EQ(split.size(), 3U);
  EXPECT_EQ(split[0].ratio, 2U);
  EXPECT_EQ(split[1].how, SplitPart::How::percent);
  EXPECT_EQ(split[1].percent, 1250U);
  EXPECT_EQ(split[1].percent_decimals, 2U);
  EXPECT_EQ(split[2].how, SplitPart::How::remainder);
  EXPECT_EQ(read->entries[2].given, Given::rest);
  ASSERT_EQ(read->conditions.size(), 2U);
  EXPECT_EQ(read->conditions[0].expect_version, 3U);
  EXPECT_EQ(read->conditions[1].reading, core::ledger::Reading::posted);
  EXPECT_EQ(read->conditions[1].at, Condition::At::before);
  EXPECT_EQ(read->conditions[1].compare, Compare::lt);
}

TEST(LedgerBodies, NullIsAbsent) {
  const auto read = read_transaction(with(R"("id": null, "timeout": null, "metadata": null)"));
  ASSERT_TRUE(read) << refused(read);
  EXPECT_FALSE(read->id);
  EXPECT_FALSE(read->timeout_s);
}

TEST(LedgerBodies, AmountsAreTextsOrExactIntegers) {
  struct Row {
    std::string_view given;
    std::string_view read;  ///< "": refused
  };
  const Row rows[] = {
      {"\"0\"", "0"},
      {"\"007\"", "7"},
      {"7", "7"},
      {"9007199254740991", "9007199254740991"},
      {"9007199254740992", ""},
      {"\"9007199254740992\"", "9007199254740992"},
      {"\"18446744073709551616\"", "18446744073709551616"},
      {"\"340282366920938463463374607431768211455\"", "340282366920938463463374607431768211455"},
      {"\"340282366920938463463374607431768211456\"", ""},
      {"\"-1\"", ""},
      {"-1", ""},
      {"1.0", ""},
      {"1e3", ""},
      {"\"1.0\"", ""},
      {"\" 1\"", ""},
      {"\"\"", ""},
      {"true", ""},
      {"[1]", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.given);
    const auto read = read_transaction(
        R"({"entries": [{"account": "a", "side": "debit", "currency": "USD", "amount": )" +
        std::string(row.given) + "}]}");
    ASSERT_EQ(read.has_value(), !row.read.empty()) << refused(read);
    if (read) {
      EXPECT_EQ(to_text(read->entries[0].amount), row.read);
    } else {
      EXPECT_EQ(read.error().code, Code::amount_invalid);
      EXPECT_EQ(read.error().member, "entries[0].amount");
    }
  }
}

TEST(LedgerBodies, WhatIsWrongIsNamed) {
  struct Row {
    std::string body;
    std::string_view told;
  };
  const Row rows[] = {
      {"", " | the body is not valid JSON: a value is missing at byte 0"},
      {"[]", " | the body must be an object"},
      {"{}", "entries | entries: must be given"},
      {with(R"("id": 7)"), "id | id: must be a string"},
      {with(R"("id": "a", "id": "a")"), "id | id: is given twice"},
      {with(R"("kind": "void")"), "kind | kind: must be one of posted, pending"},
      {with(R"("metadata": {"a": 1})"), "metadata | metadata: values must be strings"},
      {with(R"("metadata": {"a": "1", "a": "2"})"), "metadata | metadata: has the key \"a\" twice"},
      {with(R"("timeout": "soon")"),
       "timeout | timeout: must be a whole number of seconds, or a text such as \"90s\" or \"7d\""},
      {R"({"entries": {}})", "entries | entries: must be an array"},
      {R"({"entries": [{"side": "up"}]})",
       "entries[0].side | entries[0].side: must be one of debit, credit"},
      {R"({"entries": [{"account": "a", "currency": "USD", "amount": 1}]})",
       "entries[0].side | entries[0].side: must be given"},
      {R"({"entries": [{"account": "a", "side": "debit", "currency": "USD", "amount": 1, "split": [{"account": "b", "ratio": 1}]}]})",
       "entries[0] | entries[0]: must have account or split, not both"},
      {R"({"entries": [{"side": "debit", "currency": "USD", "amount": 1, "split": [{"account": "b"}]}]})",
       "entries[0].split[0] | entries[0].split[0]: must have exactly one of ratio, percent and "
       "remainder"},
      {R"({"entries": [{"side": "debit", "currency": "USD", "amount": 1, "split": [{"account": "b", "percent": "1.2.3"}]}]})",
       "entries[0].split[0].percent | entries[0].split[0].percent: must be a string with a decimal "
       "number, such as \"12.5\""},
      {with(R"("conditions": [{"account": "a", "currency": "USD", "gte": 1, "lt": 2}])"),
       "conditions[0] | conditions[0]: must have exactly one of gte, gt, lte, lt, eq and "
       "expect_version"},
      {with("") + "x", " | the body is not valid JSON: something follows the value at byte "},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    const std::string told = refused(read_transaction(row.body));
    EXPECT_EQ(told.substr(0, row.told.size()), row.told);
  }
  EXPECT_EQ(refused(read_transaction(with(R"("amuont": 1)"))).substr(0, 47),
            "amuont | amuont: is not a member here; known: i");
  EXPECT_EQ(read_transaction(with(R"("effective_at": "yesterday")")).error().code,
            Code::effective_at_invalid);
}

TEST(LedgerBodies, LimitsAreMergedOrRemoved) {
  const auto read = read_account_change(
      R"({"limits": {"USD": {"min_available": "-100", "max_balance": null}, "EUR": null},
          "state": "frozen", "metadata": {"a": null, "b": "x"}})",
      "acct");
  ASSERT_TRUE(read) << refused(read);
  EXPECT_EQ(read->account, "acct");
  ASSERT_EQ(read->limits.size(), 1U);
  EXPECT_EQ(to_text(**read->limits[0].min_available), "-100");
  ASSERT_TRUE(read->limits[0].max_balance);
  EXPECT_FALSE(*read->limits[0].max_balance);
  EXPECT_EQ(read->limits_removed, std::vector<std::string>{"EUR"});
  EXPECT_EQ(read->state, Account::State::frozen);
  EXPECT_EQ(read->metadata, (std::vector<MetadataIn>{{"a", std::nullopt}, {"b", "x"}}));
  EXPECT_FALSE(read_account(R"({"type": "asset", "limits": {"EUR": null}})"));
  EXPECT_FALSE(read_account_change(R"({"limits": {"USD": {}, "USD": {}}})", "a"));
}

TEST(LedgerBodies, AnEmptyBodyPostsAllOfAHold) {
  const auto read = read_post("", "hold");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->of, "hold");
  EXPECT_FALSE(read->amounts);
  const auto part = read_post(R"({"amounts": ["0", 7], "final": false})", "hold");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->amounts->size(), 2U);
  EXPECT_EQ(part->final, false);
  EXPECT_EQ(refused(read_void(R"({"amounts": []})", "h")).substr(0, 10), "amounts | ");
  const auto reverse = read_reverse(R"({"effective_at": "original", "force": true})", "t");
  ASSERT_TRUE(reverse);
  EXPECT_TRUE(reverse->effective_original && reverse->force);
}

TEST(LedgerBodies, ReopeningSaysNull) {
  const auto read = read_close(R"({"through": null, "reason": "audit"})");
  ASSERT_TRUE(read) << refused(read);
  EXPECT_FALSE(read->through);
  EXPECT_FALSE(read_close("{}"));
  EXPECT_TRUE(read_close(R"({"through": "2026-01-01T00:00:00Z"})"));
}

TEST(LedgerBatches, EveryKindOfItemIsRead) {
  const auto read = read_batch(R"({"mode": "groups", "limits": "end", "items": [
      {"op": "account", "group": "g", "account": {"id": "a", "type": "asset"}},
      {"transaction": {)" + std::string(two_entries) +
                               R"(}, "group": "g", "op": "transaction"},
      {"op": "post", "group": "h", "of": "t", "amounts": ["1"]},
      {"op": "void", "group": "h", "of": "t", "id": "v"},
      {"op": "reverse", "group": "h", "of": "t", "force": true},
      {"op": "limits", "group": "h", "of": "a", "limits": {"USD": null}},
      {"op": "metadata", "group": "h", "of": "a", "metadata": {"k": null}},
      {"op": "assert", "group": "h", "conditions": [{"account": "a", "currency": "USD", "eq": 0}]}]})");

  ASSERT_TRUE(read) << refused(read);
  EXPECT_EQ(read->mode, Apply::Mode::groups);
  EXPECT_TRUE(read->limits_at_end);
  ASSERT_EQ(read->items.size(), 8U);
  EXPECT_TRUE(std::holds_alternative<CreateAccount>(read->items[0].operation));
  EXPECT_TRUE(std::holds_alternative<CreateTransaction>(read->items[1].operation));
  EXPECT_TRUE(std::holds_alternative<PostHold>(read->items[2].operation));
  EXPECT_TRUE(std::holds_alternative<VoidHold>(read->items[3].operation));
  EXPECT_TRUE(std::get<ReverseTransaction>(read->items[4].operation).force);
  EXPECT_EQ(std::get<ChangeAccount>(read->items[5].operation).limits_removed.size(), 1U);
  EXPECT_TRUE(std::get<SetTransactionMetadata>(read->items[6].operation).or_account);
  EXPECT_EQ(std::get<AssertConditions>(read->items[7].operation).conditions.size(), 1U);
  EXPECT_EQ(read->items[1].group, "g");
}

TEST(LedgerBatches, AnItemThatIsWrongIsRefusedAlone) {
  const auto read = read_batch(R"({"items": [
      {"op": "transaction", "transaction": {"entries": [{"account": "a", "side": "debit",
        "currency": "USD", "amount": -5, "more": {"x": [1, 2]}}]}},
      7, {"op": "fly"}, {"of": "t"}, {"op": "post", "group": "g", "of": "t"},
      {"op": "post", "of": "t"}], "mode": "independent"})");

  ASSERT_TRUE(read) << refused(read);
  ASSERT_EQ(read->items.size(), 6U);
  const auto told = [&](std::size_t i) {
    const auto* const wrong = std::get_if<Unreadable>(&read->items[i].operation);
    return wrong == nullptr ? "" : wrong->refusal->detail;
  };
  EXPECT_EQ(told(0).substr(0, 40), "transaction.entries[0].amount: must be a");
  EXPECT_EQ(std::get<Unreadable>(read->items[0].operation).refusal->code, Code::amount_invalid);
  EXPECT_EQ(told(1), "the body must be an object");
  EXPECT_EQ(told(2).substr(0, 30), "op: must be one of transaction");
  EXPECT_EQ(told(3), "op: must be given");
  EXPECT_EQ(told(4), "group: is for batches of mode groups");
  EXPECT_EQ(told(5), "");
}

TEST(LedgerBatches, WhatIsNoBatchIsRefused) {
  EXPECT_EQ(refused(read_batch("{}")), "items | items: must be given");
  EXPECT_EQ(refused(read_batch(R"({"items": []})")), "items | items: must have at least one item");
  EXPECT_EQ(refused(read_batch(R"({"items": [{"op": "post"}, {])")),
            " | the body is not valid JSON: a string is expected at byte 28");
  EXPECT_EQ(refused(read_batch(R"({"items": [{"op": "void", "of": "t"}], "mode": "x"})")),
            "mode | mode: must be one of independent, atomic, groups");
  std::string many = R"({"items": [)";
  for (std::size_t i = 0; i <= batch_items_max; ++i) {
    many += i == 0 ? "1" : ",1";
  }
  const auto read = read_batch(many + "]}");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->too_large);
}

TEST(LedgerItems, ThoseOfAtomicRequestsMayNameTheirBook) {
  constexpr ItemForm form{.op_prefix = "ledger.", .has_book = true};
  const auto read = read_item(R"({"op": "ledger.void", "book": "fees", "of": "t"})", form);
  ASSERT_TRUE(read) << refused(read);
  EXPECT_EQ(read->book, "fees");
  EXPECT_EQ(std::get<VoidHold>(read->operation).of, "t");
  const auto plain = read_item(R"({"op": "ledger.void", "of": "t"})", form);
  ASSERT_TRUE(plain) << refused(plain);
  EXPECT_EQ(plain->book, "main");
  EXPECT_EQ(refused(read_item(R"({"op": "void", "book": "main", "of": "t"})", form)).substr(0, 28),
            "op | op: must be one of ledg");
  EXPECT_EQ(
      refused(read_item(R"({"op": "ledger.void", "book": "main", "of": "t", "group": "g"})", form)),
      "group | group: is for batches of mode groups");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::ledger
