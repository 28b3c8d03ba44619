// The log checked from its records alone, its proofs, and its export.
#include "api/ledger/audit.h"

#include "api/ledger/export_page.h"
#include "api/ledger/proof.h"
#include "books_rig.h"

namespace hk::api::testing {

namespace {

using ledger::audit_book;
using ledger::AuditReport;

class LedgerAudit : public ::testing::Test {
 protected:
  LedgerAudit() {
    rig.account("bank", cl::AccountType::asset);
    rig.account("shop", cl::AccountType::liability);
    rig.move({.id = "one", .debit = "bank", .credit = "shop", .amount = 100});
    rig.move({.id = "held", .debit = "bank", .credit = "shop", .amount = 50, .hold = true});
    rig.move({.id = "open", .debit = "bank", .credit = "shop", .amount = 9, .hold = true});
    cl::PostHold post;
    post.of = "held";
    post.amounts = std::vector<cl::Amount>{20, 20};
    post.final = false;
    EXPECT_EQ(rig.apply(std::move(post)), "");
    cl::VoidHold release;
    release.of = "held";
    EXPECT_EQ(rig.apply(std::move(release)), "");
    cl::ReverseTransaction reverse;
    reverse.of = "one";
    EXPECT_EQ(rig.apply(std::move(reverse)), "");
    rig.move({.id = "late",
              .debit = "bank",
              .credit = "shop",
              .amount = 3,
              .currency = "EUR",
              .effective_at = january(1) - std::chrono::hours{1}});
  }

  AuditReport audit(std::uint64_t from = 1, std::uint64_t to = 0) {
    return audit_book(*rig.reader, rig.book(), from, to);
  }
  std::vector<cl::Record> records() {
    return cl::records_after(*rig.reader, BooksRig::tenant, rig.place().book, 0, 10'000);
  }
  /// The stored record, to be bent.
  cl::Record& stored(std::uint64_t seq) {
    for (auto& [key, segment] : rig.reader->rows<cl::Segment>()) {
      for (cl::Record& record : segment.records) {
        if (record.seq == seq) {
          return record;
        }
      }
    }
    throw std::out_of_range("no such record");
  }
  void until_checkpoint() {
    rig.now += Millis{61'000};
    rig.run(core::UpsertTenant{.tenant = {.name = "two"}});
  }

  BooksRig rig;
};

std::string all_faults(const AuditReport& report) {
  std::string text;
  for (const auto& fault : report.faults) {
    text += std::to_string(fault.seq) + ": " + fault.what + "\n";
  }
  return text;
}

TEST_F(LedgerAudit, FindsNothingInWhatTheLedgerWrote) {
  until_checkpoint();
  rig.move({.id = "after", .debit = "bank", .credit = "shop", .amount = 1});

  const AuditReport report = audit();
  EXPECT_TRUE(report.ok()) << all_faults(report);
  const cl::Head head = cl::head_of(*rig.reader, BooksRig::tenant, rig.place().book);
  EXPECT_EQ(report.to_seq, head.seq);
  EXPECT_EQ(report.records, head.seq);
  EXPECT_EQ(report.head, head.hash);
  for (std::uint64_t from = 1; from <= head.seq; ++from) {
    for (std::uint64_t to = from; to <= head.seq; ++to) {
      const AuditReport part = audit(from, to);
      EXPECT_TRUE(part.ok()) << from << " to " << to << "\n" << all_faults(part);
      EXPECT_EQ(part.records, to - from + 1);
    }
  }
}

TEST_F(LedgerAudit, AFlippedBitIsFoundWhereItIs) {
  until_checkpoint();
  for (const cl::Record& good : records()) {
    for (std::size_t byte = 0; byte < good.payload.size(); ++byte) {
      cl::Record& bent = stored(good.seq);
      bent.payload[byte] = static_cast<char>(bent.payload[byte] ^ 4);
      const AuditReport report = audit();
      ASSERT_FALSE(report.ok()) << "record " << good.seq << ", byte " << byte;
      EXPECT_EQ(report.faults.front().seq, good.seq);
      bent = good;
    }
    cl::Record& bent = stored(good.seq);
    bent.hash[7] ^= 1;
    EXPECT_EQ(audit().faults.at(0).seq, good.seq);
    bent = good;
  }
  EXPECT_TRUE(audit().ok());
}

TEST_F(LedgerAudit, WhatIsStoredBesideTheLogIsComparedWithIt) {
  auto& account = rig.reader->rows<cl::Account>().at({BooksRig::tenant, rig.place().book, "shop"});
  const cl::Account good = account;
  account.standings.at(0).now.credits_posted += 1;
  EXPECT_NE(all_faults(audit()).find("account shop"), std::string::npos);
  account = good;
  account.standings.at(0).now.debits_pending += 1;
  EXPECT_FALSE(audit().ok());
  account = good;
  account.standings.at(0).version += 1;
  EXPECT_FALSE(audit().ok());
  account = good;
  account.type = cl::AccountType::revenue;
  EXPECT_FALSE(audit().ok());
  account = good;
  ASSERT_TRUE(audit().ok());

  auto& holds = rig.reader->rows<cl::OpenHold>();
  ASSERT_EQ(holds.size(), 1U);
  const auto hold = *holds.begin();
  holds.clear();
  EXPECT_NE(all_faults(audit()).find("open hold"), std::string::npos);
  holds.insert(hold);
  cl::OpenHold other = hold.second;
  other.seq = 3;
  rig.reader->put<cl::OpenHold>(other);
  EXPECT_FALSE(audit().ok());
}

TEST_F(LedgerAudit, RecordsThatAreChainedButCannotBeAreFaults) {
  struct Row {
    const char* name;
    cl::Payload payload;
    const char* fault;
  };
  const cl::Instant at = january(25);
  const auto transaction = [&](std::vector<cl::Entry> entries) {
    cl::TransactionMade made{.recorded_at = at, .id = "x", .effective_at = at};
    made.entries = std::move(entries);
    return made;
  };
  cl::TransactionMade release = transaction({});
  release.kind = cl::TransactionMade::Kind::voided;
  release.resolves = "open";
  release.released = {{0, 10}};
  cl::TransactionMade again = release;
  again.resolves = "held";
  cl::TransactionMade greedy =
      transaction({{"bank", cl::Side::debit, 9, "USD"}, {"shop", cl::Side::credit, 9, "USD"}});
  greedy.resolves = "open";
  greedy.of = {0, 1};
  greedy.released = {{0, 9}, {1, 8}};
  greedy.final = false;
  const auto reversal = [&](const char* of, std::vector<std::uint32_t> indexes, cl::Side bank,
                            cl::Amount amount) {
    cl::TransactionMade made =
        transaction({{"bank", bank, amount, "EUR"}, {"shop", cl::other(bank), amount, "EUR"}});
    made.reverses = of;
    made.of = std::move(indexes);
    return made;
  };
  using cl::Side;
  const Row rows[] = {
      {"reverses again what is reversed",
       [&] {
         cl::TransactionMade made = reversal("one", {0, 1}, Side::credit, 100);
         made.entries[0].currency = made.entries[1].currency = "USD";
         return made;
       }(),
       "more of entry 0 of one"},
      {"reverses more than there was", reversal("late", {0, 1}, Side::credit, 4),
       "more of entry 1 of late"},
      {"reverses to the same side", reversal("late", {0, 1}, Side::debit, 3), "not the mirror"},
      {"reverses other entries", reversal("late", {1, 0}, Side::credit, 3), "not the mirror"},
      {"reverses no entry", reversal("late", {0}, Side::credit, 3), "which entry of late"},
      {"reverses an entry that is not there", reversal("late", {0, 2}, Side::credit, 3),
       "which entry of late"},
      {"reverses a hold", reversal("open", {0, 1}, Side::credit, 9), "no earlier posted"},
      {"reverses itself", reversal("x", {0, 1}, Side::credit, 3), "no earlier posted"},
      {"posts more than it takes", greedy, "posts more"},
      {"unbalanced",
       transaction({{"bank", cl::Side::debit, 5, "USD"}, {"shop", cl::Side::credit, 4, "USD"}}),
       "not balanced in USD"},
      {"one entry", transaction({{"bank", cl::Side::debit, 5, "USD"}}), "fewer than 2"},
      {"amount 0",
       transaction({{"bank", cl::Side::debit, 0, "USD"}, {"shop", cl::Side::credit, 0, "USD"}}),
       "cannot be"},
      {"no such account",
       transaction({{"bank", cl::Side::debit, 5, "USD"}, {"none", cl::Side::credit, 5, "USD"}}),
       "account none"},
      {"releases more than is held", release, "releases more"},
      {"resolves twice", again, "no open hold"},
      {"account twice",
       cl::AccountCreated{
           .recorded_at = at, .id = "bank", .path = "bank", .type = cl::AccountType::asset},
       "second time"},
      {"time goes back",
       cl::CurrencyAdded{.recorded_at = january(1) - std::chrono::hours{30}, .code = "PTS"},
       "not later"},
      {"checkpoint of something else",
       cl::Checkpoint{.recorded_at = at, .first_seq = 2, .last_seq = 3}, "does not cover"},
  };
  const auto good = records();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    ledger::Audit audit("main");
    for (const cl::Record& record : good) {
      audit.take(record);
    }
    ASSERT_TRUE(audit.report().ok());
    cl::Record bad{.seq = good.back().seq + 1};
    bad.recorded_at = std::visit([](const auto& one) { return one.recorded_at; }, row.payload);
    bad.kind = cl::kind_of(row.payload);
    cl::encode(row.payload, bad.payload);
    bad.hash = cl::record_hash("main", bad.seq, good.back().hash, bad.kind, bad.payload);
    audit.take(bad);
    const AuditReport report = audit.report();
    EXPECT_FALSE(report.ok());
    EXPECT_NE(all_faults(report).find(row.fault), std::string::npos) << all_faults(report);
  }
}

TEST_F(LedgerAudit, AProofLeadsToTheSignedRoot) {
  const auto covered = records();
  EXPECT_FALSE(ledger::proof_of(*rig.reader, rig.place(), 1)) << "no checkpoint yet";
  until_checkpoint();
  for (const cl::Record& record : covered) {
    const auto proof = ledger::proof_of(*rig.reader, rig.place(), record.seq);
    ASSERT_TRUE(proof) << record.seq;
    EXPECT_EQ(cl::merkle_root_of(record.hash, proof->path), proof->checkpoint.checkpoint.root);
    EXPECT_TRUE(cl::signature_holds(proof->checkpoint.checkpoint, "main", rig.book().public_key));
    EXPECT_EQ(proof->index + proof->checkpoint.checkpoint.first_seq, record.seq);
  }
  rig.move({.id = "after", .debit = "bank", .credit = "shop", .amount = 1});
  EXPECT_FALSE(ledger::proof_of(*rig.reader, rig.place(), records().back().seq));
}

std::vector<std::string> export_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_F(LedgerAudit, AnExportIsTheSameInAnyPagesAndVerifies) {
  until_checkpoint();
  std::string whole;
  for (const std::size_t records_max : {1U, 3U, 10'000U}) {
    for (const std::size_t bytes_max : {std::size_t{1}, std::size_t{1} << 20U}) {
      ledger::ExportQuery query{.bytes_max = bytes_max, .records_max = records_max};
      std::string text;
      do {
        const auto page = ledger::export_page(*rig.reader, rig.book(), query);
        text += page.text;
        query.from_seq = page.next_seq;
      } while (query.from_seq != 0);
      EXPECT_TRUE(whole.empty() || whole == text);
      whole = text;
    }
  }
  ledger::Audit audit("main");
  const auto lines = export_lines(whole);
  for (const std::string& line : lines) {
    const auto read = ledger::read_exported(line);
    ASSERT_TRUE(read) << line;
    audit.take(read->record, &read->prev_hash);
  }
  const AuditReport report = audit.report();
  EXPECT_TRUE(report.ok()) << all_faults(report);
  EXPECT_EQ(report.head, records().back().hash);

  // What people read is checked, too.
  std::string forged = lines.at(3);
  const std::size_t amount = forged.rfind("\"100\"");
  ASSERT_NE(amount, std::string::npos);
  forged.replace(amount, 5, "\"900\"");
  EXPECT_EQ(ledger::read_exported(forged).error().kind, ErrorKind::corruption);
  for (const char* const none : {"", "{", "{}", "[]", "{\"seq\":1}"}) {
    EXPECT_FALSE(ledger::read_exported(none));
  }
}

TEST_F(LedgerAudit, AnExportHasValuesOnlyIfItIsAskedForThem) {
  cl::CreateAccount named{.id = "named", .type = cl::AccountType::asset};
  named.metadata = {{"name", "Ada \"Countess\""}, {"email", "ada@example.com"}};
  ASSERT_EQ(rig.apply(std::move(named)), "");
  ASSERT_EQ(rig.apply(cl::EraseMetadata{.account = "named", .keys = {"email"}}), "");
  const std::uint64_t seq = records().size() - 1;

  const auto plain = ledger::export_page(*rig.reader, rig.book(), {.from_seq = seq, .to_seq = seq});
  const auto with = ledger::export_page(*rig.reader, rig.book(),
                                        {.from_seq = seq, .to_seq = seq, .values = true});
  EXPECT_EQ(plain.text.find("Countess"), std::string::npos);
  const auto read = ledger::read_exported(export_lines(with.text).at(0));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->values.size(), 1U) << "what is erased is gone";
  EXPECT_EQ(read->values[0].key, "name");
  EXPECT_EQ(read->values[0].value, "Ada \"Countess\"");
  EXPECT_EQ(read->values[0].salt.size(), 16U);
  EXPECT_EQ(read->record, ledger::read_exported(export_lines(plain.text).at(0))->record);

  for (const char* const bad : {R"("metadata":1)", R"("metadata":[1])", R"("metadata":[{}])",
                                R"("metadata":[{"entry":0,"key":"k","value":"v","salt":"?"}])",
                                R"("metadata":[{"entry":-1,"key":"k","value":"v","salt":""}])"}) {
    std::string line = export_lines(plain.text).at(0);
    line.insert(line.size() - 1, "," + std::string(bad));
    EXPECT_FALSE(ledger::read_exported(line)) << line;
  }
}

TEST_F(LedgerAudit, APartIsCheckedWithTheKeyOfItsTime) {
  const cl::Book book{.public_key = "third", .former_keys = {{5, "first"}, {9, "second"}}};
  EXPECT_EQ(ledger::key_at(book, 1), "first");
  EXPECT_EQ(ledger::key_at(book, 5), "first");
  EXPECT_EQ(ledger::key_at(book, 6), "second");
  EXPECT_EQ(ledger::key_at(book, 10), "third");
}

TEST_F(LedgerAudit, ASumThatIsKeptIsComparedWithItsAccounts) {
  ASSERT_EQ(rig.apply(cl::SetRollup{.prefix = "shop"}), "");
  rig.run(core::UpsertTenant{.tenant = {.name = "two"}});
  auto& rollup = rig.reader->rows<cl::Rollup>().at({BooksRig::tenant, rig.place().book, "shop"});
  ASSERT_TRUE(rollup.complete);
  EXPECT_TRUE(audit().ok()) << all_faults(audit());
  const auto kept = ledger::kept_sums(*rig.reader, rig.place(), "shop");
  const auto made = ledger::sums_under(*rig.reader, rig.place(), "shop", {});
  ASSERT_TRUE(kept && *kept && made);
  ASSERT_EQ((*kept)->size(), made->size());
  for (const auto& [currency, sum] : *made) {
    EXPECT_EQ((*kept)->at(currency).counters, sum.counters);
    EXPECT_EQ((*kept)->at(currency).accounts, sum.accounts);
    EXPECT_EQ((*kept)->at(currency).normal, sum.normal);
  }
  rollup.sums.at(0).credits_posted.add(1);
  EXPECT_NE(all_faults(audit()).find("sum kept for shop"), std::string::npos);
  rollup.sums.at(0).credits_posted.take(1);
  rollup.sums.at(0).debits_posted.high = 1;
  EXPECT_FALSE(*ledger::kept_sums(*rig.reader, rig.place(), "shop")) << "too much for an amount";
}

TEST_F(LedgerAudit, EntriesAreExportedAsCsvThatCanBeReadBack) {
  cl::CreateTransaction made{.id = "said", .description = "a \"good\", long\nday"};
  made.entries.push_back(
      {.account = "bank", .currency = "USD", .amount = 1, .side = cl::Side::debit});
  made.entries.push_back(
      {.account = "shop", .currency = "USD", .amount = 1, .side = cl::Side::credit});
  ASSERT_EQ(rig.apply(std::move(made)), "");

  using Query = ledger::ExportQuery;
  const auto all = ledger::export_page(
      *rig.reader, rig.book(), {.kind = Query::Kind::entries, .format = Query::Format::csv});
  EXPECT_TRUE(all.text.starts_with("seq,transaction,index,kind,effective_at,"));
  EXPECT_NE(all.text.find("\"a \"\"good\"\", long\nday\""), std::string::npos);

  const auto late = ledger::export_page(*rig.reader, rig.book(),
                                        {.kind = Query::Kind::entries, .effective_to = january(1)});
  EXPECT_EQ(export_lines(late.text).size(), 2U) << late.text;
}

}  // namespace

}  // namespace hk::api::testing
