#include "unit/core/ledger/copy_book.h"

#include <algorithm>

namespace hk::core::testing {

using namespace ledger;

namespace {

/// What stands in a table, in the order of its keys.
template <class R>
std::vector<R> rows_of(BookRig& rig) {
  std::vector<R> rows;
  for (const auto& [key, row] : rig.rig.reader.rows<R>()) {
    rows.push_back(row);
  }
  return rows;
}

std::string counters_text(const BalanceAt& at) {
  return to_text(at.counters.debits_posted) + ' ' + to_text(at.counters.credits_posted) + ' ' +
         to_text(at.counters.debits_pending) + ' ' + to_text(at.counters.credits_pending) + " v" +
         std::to_string(at.version);
}

}  // namespace

std::vector<ImportRecords::One> exported_records(BookRig& source) {
  std::vector<ImportRecords::One> out;
  Hash prev{};
  for (Record& record : source.records()) {
    const Hash hash = record.hash;
    ImportRecords::One one{.record = std::move(record), .prev_hash = prev};
    for (const Metadata& row : rows_of<Metadata>(source)) {
      if (row.seq == one.record.seq) {
        one.values = row.values;
        std::erase_if(one.values, [](const MetadataValue& v) { return v.removed || v.erased; });
      }
    }
    out.push_back(std::move(one));
    prev = hash;
  }
  return out;
}

std::string import_into(BookRig& target, const std::vector<ImportRecords::One>& records,
                        std::size_t piece, bool complete) {
  for (std::size_t at = 0; at < records.size(); at += piece) {
    const std::size_t end = std::min(records.size(), at + piece);
    ImportRecords import{.complete = complete && end == records.size()};
    import.records.assign(records.begin() + static_cast<std::ptrdiff_t>(at),
                          records.begin() + static_cast<std::ptrdiff_t>(end));
    if (std::string code = target.code(std::move(import)); !code.empty()) {
      return code;
    }
  }
  return "";
}

void expect_same_book(BookRig& source, BookRig& copy) {
  const Head head = head_of(source.rig.reader, tenant_one, source.book().number);
  const Head copied = head_of(copy.rig.reader, tenant_one, copy.book().number);
  EXPECT_EQ(copied.seq, head.seq);
  EXPECT_EQ(copied.hash, head.hash);
  EXPECT_EQ(copied.recorded_at, head.recorded_at);
  EXPECT_EQ(copy.records(), source.records());
  EXPECT_EQ(rows_of<Name>(copy), rows_of<Name>(source));
  EXPECT_EQ(rows_of<Outcome>(copy), rows_of<Outcome>(source));
  EXPECT_EQ(rows_of<OpenHold>(copy), rows_of<OpenHold>(source));
  EXPECT_EQ(rows_of<Metadata>(copy), rows_of<Metadata>(source));
  EXPECT_EQ(rows_of<IndexEntry>(copy), rows_of<IndexEntry>(source));

  const std::vector<Account> accounts = rows_of<Account>(source);
  std::vector<Account> copies = rows_of<Account>(copy);
  ASSERT_EQ(copies.size(), accounts.size());
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const Account& account = accounts[i];
    SCOPED_TRACE(account.id);
    for (const ledger::Standing& standing : account.standings) {
      for (std::uint64_t seq = 0; seq <= head.seq; seq += 1 + head.seq / 50) {
        const AsOf moments[] = {
            {.seq = seq},
            {.effective = head.recorded_at - Millis{static_cast<int>(seq) * 400},
             .seq = head.seq - seq}};
        for (const AsOf& then : moments) {
          EXPECT_EQ(counters_text(balance_at(copy.rig.reader, copies[i], standing.currency, then)),
                    counters_text(balance_at(source.rig.reader, account, standing.currency, then)));
        }
      }
    }
    // How movements are cut into blocks depends on batches.
    Account plain = account;
    for (Account* const one : {&plain, &copies[i]}) {
      for (ledger::Standing& standing : one->standings) {
        standing.last = {};
      }
    }
    EXPECT_EQ(copies[i], plain);
  }
}

}  // namespace hk::core::testing
