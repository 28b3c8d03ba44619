/// The statements of a relay, with the names of its table put in once. Pure.
#pragma once

#include <string>
#include <string_view>

#include "outbox/schema.h"
#include "outbox/table.h"

namespace hk::outbox {

/// $n are the parameters; what they are stands beside each statement in store_sql.cpp.
struct StoreSql {
  std::string claim{};
  std::string date_rows{};   ///< gives a time to those that have none: the claim goes by it
  std::string claim_bare{};  ///< without what may be unreadable
  std::string read{};        ///< the rest of one row
  std::string lock{};
  std::string write_quickly{};  ///< ledger and row of successes that are the first of their keys
  std::string write_ledger{};
  std::string write_outbox{};
  std::string leave{};   ///< deletes rows that have just succeeded
  std::string locked{};  ///< which are ours and locked by somebody
  std::string heartbeat{};
  std::string date_leases{};  ///< the same of leases
  std::string take_expired{};
  std::string release{};
  std::string postpone{};
  std::string release_unknown{};
  std::string next_due{};
  std::string clean_up{};
  std::string clean_ledger{};  ///< entries that have outlived their rows
  std::string counts{};
};
StoreSql store_sql(const Table& table, const Shape& shape);

/// Settings of one transaction. By the indexes alone: a plan that sorts a backlog, taken because
/// the statistics are from a time when there was none, would cost seconds. quick: without waiting
/// for the disk at the end; a claim or heartbeat that a crash of the server takes away is a row
/// that is pending again or a lease that ends earlier, and the fence holds in both cases.
constexpr std::string_view plan_settings =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', "
    "true), "
    "set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), "
    "set_config('jit', 'off', true)";
constexpr std::string_view quick_plan_settings =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', "
    "true), "
    "set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), "
    "set_config('jit', 'off', true), set_config('synchronous_commit', 'off', true)";

/// quick_plan_settings, for an index that only bitmap scans can use.
constexpr std::string_view summary_plan_settings =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'on', "
    "true), "
    "set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), "
    "set_config('jit', 'off', true), set_config('synchronous_commit', 'off', true)";

/// plan_settings, for outcomes: who has locked a row or its ledger entry is not waited for (55P03).
/// A relay or an operator lets go in milliseconds; an open session may never.
constexpr std::string_view finish_settings =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', "
    "true), "
    "set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), "
    "set_config('jit', 'off', true), set_config('lock_timeout', '250', true)";

/// Of one transaction, too. Other work waits meanwhile, and to be ended by the server costs less
/// than a connection that is given up.
constexpr std::string_view housekeeping_settings =
    "SELECT set_config('statement_timeout', '5000', true)";

/// SQL conditions, over `l` (the ledger) and a digest. may_be_same: the ledger has the same
/// content, or nothing is known of the content on one side; an entry that is not `succeeded` may
/// then be written. is_same: both have one digest, or neither has any; without that an entry that
/// is `succeeded` says nothing about the row.
std::string may_be_same(const Table& table, std::string_view digest);
std::string is_same(const Table& table, std::string_view digest);

}  // namespace hk::outbox
