/// An account in a period: where it stood, what moved it, and where it stood then; and its sums by
/// day. Pure functions over any reader; each page reads a bounded part.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/ledger/sums.h"
#include "core/ledger/read.h"

namespace hk::api::ledger {

/// By which time a line counts, and stands where it stands.
enum class TimeAxis : std::uint8_t { effective, recorded };

/// How far a statement has come. Of one time there may be many movements: in their order nothing
/// new comes before what was recorded.
struct StatementPlace {
  core::ledger::Instant at{};
  std::uint64_t same = 0;  ///< so many of that time are behind it
  core::ledger::Signed balance{};
  friend bool operator==(const StatementPlace&, const StatementPlace&) = default;
};

struct StatementQuery {
  core::ledger::CurrencyNumber currency = 0;
  core::ledger::Instant from = core::ledger::long_ago;  ///< inclusive
  core::ledger::Instant to = core::ledger::no_end;      ///< exclusive
  TimeAxis axis = TimeAxis::effective;
  std::uint64_t up_to_seq = 0;  ///< what was recorded later does not count: pages fit together
  std::optional<StatementPlace> after{};
  std::size_t limit = 100;
  std::size_t looked_at_max = 10'000;  ///< also those that are no lines: then the page ends
};

struct StatementLine {
  core::ledger::Movement movement{};
  core::ledger::Signed balance{};  ///< posted, after it
};

struct StatementPage {
  core::ledger::Signed opening{};
  core::ledger::Signed closing{};
  std::vector<StatementLine> lines{};
  std::optional<StatementPlace> next{};  ///< none: that was the last page
};

StatementPage statement_of(core::Reader& reader, const core::ledger::Account& account,
                           const StatementQuery& query);

// ---- sums by day ----

struct ActivityPlace {
  std::string path{};  ///< of the account
  core::ledger::CurrencyNumber currency = 0;
  std::chrono::sys_days day{};  ///< the next one of it
  friend bool operator==(const ActivityPlace&, const ActivityPlace&) = default;
};

struct ActivityQuery {
  std::string prefix{};  ///< of paths
  core::ledger::Instant from{};
  core::ledger::Instant to{};
  TimeAxis axis = TimeAxis::effective;
  std::optional<ActivityPlace> next{};  ///< with which the page begins
  std::size_t limit = 100;
  std::size_t looked_at_max = 2'000;  ///< accounts
};

struct ActivityDay {
  std::string account{};  ///< id
  core::ledger::CurrencyNumber currency = 0;
  std::chrono::sys_days date{};
  core::ledger::Amount debits = 0;
  core::ledger::Amount credits = 0;
};

struct ActivityPage {
  std::vector<ActivityDay> days{};
  std::optional<ActivityPlace> next{};
};

/// Posted movements only, by path of the account, currency and day; days without one are left out.
ActivityPage activity_of(core::Reader& reader, const BookPlace& place, const ActivityQuery& query);

}  // namespace hk::api::ledger
