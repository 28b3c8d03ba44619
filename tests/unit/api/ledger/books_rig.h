/// The real ledger over a store in memory, with a clock that a test turns by hand: what reports
/// read is what the core has written. One tenant (1) and its book `main`.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/ledger/sums.h"
#include "base/random.h"
#include "core/ledger/commands.h"
#include "core/ledger/read.h"
#include "core/machine.h"
#include "support/memory_reader.h"
#include "unit/core/named_zones.h"

namespace hk::api::testing {

namespace cl = core::ledger;

class BooksRig {
 public:
  BooksRig() {
    machine_ = std::make_unique<core::Machine>(
        limits_, rng_, zones_, core::PartitionId{},
        [](const core::Queue&) -> Result<std::string> { return ""; });
    EXPECT_TRUE(machine_->recover(*reader, now, {}));
    keep();
    run(core::UpsertTenant{.tenant = {.name = "one"}});
  }

  core::Reply run(core::Command command) {
    machine_->begin(now, *reader);
    core::Reply reply = machine_->execute(std::move(command));
    machine_->advance();
    keep();
    return reply;
  }

  /// "": it was applied; otherwise why not.
  std::string apply(cl::Operation operation) {
    cl::Apply apply{.tenant = tenant, .book = "main"};
    apply.items.push_back({.operation = std::move(operation)});
    const core::Reply reply = run(std::move(apply));
    if (!reply) {
      return reply.error().message;
    }
    const auto& result = reply->get<cl::LedgerApplied>().results.at(0);
    return result ? "" : result.error()->detail;
  }

  void account(const std::string& id, cl::AccountType type) {
    EXPECT_EQ(apply(cl::CreateAccount{.id = id, .type = type}), "");
  }

  struct Move {
    std::string id{};
    std::string debit{};
    std::string credit{};
    std::uint64_t amount = 0;
    std::string currency{"USD"};
    std::optional<cl::Instant> effective_at{};
    bool hold = false;
  };
  void move(const Move& move) {
    cl::CreateTransaction made{.effective_at = move.effective_at};
    if (!move.id.empty()) {
      made.id = move.id;
    }
    if (move.hold) {
      made.kind = cl::TransactionMade::Kind::pending;
    }
    made.entries.push_back({.account = move.debit,
                            .currency = move.currency,
                            .amount = move.amount,
                            .side = cl::Side::debit});
    made.entries.push_back({.account = move.credit,
                            .currency = move.currency,
                            .amount = move.amount,
                            .side = cl::Side::credit});
    EXPECT_EQ(apply(std::move(made)), "");
    now += Millis{1000};
  }

  [[nodiscard]] cl::Book book() const { return *cl::find_book(*reader, tenant, "main"); }
  [[nodiscard]] ledger::BookPlace place() const { return {tenant, book().number}; }
  [[nodiscard]] cl::Account account_of(const std::string& id) const {
    return *cl::find_account(*reader, tenant, book().number, id);
  }

  static constexpr core::TenantId tenant{1};
  static constexpr cl::CurrencyNumber usd = 840;
  static constexpr cl::CurrencyNumber eur = 978;
  std::shared_ptr<core::testing::MemoryReader> reader =
      std::make_shared<core::testing::MemoryReader>();
  Moment now = moment_from_ms(1'768'867'200'000);  ///< 2026-01-20T00:00:00Z

 private:
  void keep() {
    for (const core::Mutation& mutation : machine_->take().mutations) {
      reader->apply(mutation);
    }
  }

  core::Limits limits_{};
  SeededRng rng_{1};
  core::testing::NamedZones zones_{};
  std::unique_ptr<core::Machine> machine_;
};

/// 2026-01-<day>T<hour>:00:00Z
inline cl::Instant january(int day, int hour = 0) {
  return cl::Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / day}} +
         std::chrono::hours{hour};
}

}  // namespace hk::api::testing
