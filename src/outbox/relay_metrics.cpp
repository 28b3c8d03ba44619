#include "outbox/relay_metrics.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/metrics.h"

namespace hk::outbox {
namespace {

using Count = std::atomic<std::uint64_t>;
using Labelled = std::vector<std::pair<std::string, double>>;

constexpr std::array<std::string_view, 5> outcomes = {"succeeded", "failed", "aborted", "refused",
                                                      "unwritten"};
constexpr std::array<std::string_view, 3> phases = {"claim", "send", "commit"};
constexpr std::array<std::string_view, 4> states = {"pending", "failed", "sending", "aborted"};
constexpr std::size_t attempts_told_apart = 16;

double as_double(const Count& count) {
  return static_cast<double>(count.load(std::memory_order_relaxed));
}

void add(Count& count, std::size_t n = 1) { count.fetch_add(n, std::memory_order_relaxed); }

}  // namespace

struct RelayMetrics::Values {
  Count claimed{0};
  Count leases_expired{0};
  Count retained_wal{0};
  Count connected{0};
  Count postponed{0};
  Count brokers_away{0};
  std::array<Count, outcomes.size()> processed{};
  std::array<Count, attempts_told_apart> retries{};  ///< the last: as many, or more
  std::array<Count, states.size()> rows{};
  Count oldest_ms{0};
};

RelayMetrics::RelayMetrics(observe::Metrics& metrics) : values_(std::make_shared<Values>()) {
  const auto counter = [&](const char* name, const char* help, Count Values::*member) {
    metrics.counter(name, help,
                    [values = values_, member] { return as_double((*values).*member); });
  };
  counter("outbox_claimed_total", "Rows claimed from the outbox table.", &Values::claimed);
  counter("outbox_lock_lease_expired_total",
          "Rows taken over because whoever held them let the lease run out.",
          &Values::leases_expired);
  counter("outbox_postponed_total",
          "Rows given back to the table without an attempt counted: their broker was away.",
          &Values::postponed);
  metrics.counters("outbox_processed_total",
                   "Rows whose outcome was written: succeeded, failed (to be tried again) or "
                   "aborted; refused: another relay held the row by then; unwritten: the database "
                   "did not take it.",
                   "outcome", [values = values_] {
                     Labelled all;
                     for (std::size_t i = 0; i < outcomes.size(); ++i) {
                       all.emplace_back(outcomes[i], as_double(values->processed[i]));
                     }
                     return all;
                   });
  metrics.counters("outbox_retry_total", "Rows that will be tried again, by the attempts so far.",
                   "attempt", [values = values_] {
                     Labelled all;
                     for (std::size_t i = 1; i < attempts_told_apart; ++i) {
                       if (const double count = as_double(values->retries[i]); count != 0) {
                         all.emplace_back(
                             std::to_string(i) + (i + 1 == attempts_told_apart ? "+" : ""), count);
                       }
                     }
                     return all;
                   });
  metrics.gauges("outbox_rows",
                 "Rows that are not succeeded, by status; each counted up to a million.", "status",
                 [values = values_] {
                   Labelled all;
                   for (std::size_t i = 0; i < states.size(); ++i) {
                     all.emplace_back(states[i], as_double(values->rows[i]));
                   }
                   return all;
                 });
  metrics.gauge("outbox_oldest_due_seconds",
                "How long the row that is due longest has been waiting.",
                [values = values_] { return as_double(values->oldest_ms) / 1000; });
  metrics.gauge("outbox_slot_retained_wal_bytes",
                "Write-ahead log that PostgreSQL keeps for the replication slot.",
                [values = values_] { return as_double(values->retained_wal); });
  metrics.gauge("outbox_database_connected", "1 while the relay has its database.",
                [values = values_] { return as_double(values->connected); });
  metrics.gauge("outbox_brokers_away",
                "Brokers, or hosts with OUTBOX_WAIT_FOR_UNREACHABLE_HOSTS, that take no rows: they "
                "wait, and no attempt is counted.",
                [values = values_] { return as_double(values->brokers_away); });
  for (std::size_t i = 0; i < phases.size(); ++i) {
    latency_[i] = metrics.histogram_ms(
        "outbox_latency_ms", "Time of one claim, of one sending, of one writing of outcomes.",
        "phase", std::string(phases[i]));
  }
}

void RelayMetrics::claimed(std::size_t rows) { add(values_->claimed, rows); }

void RelayMetrics::processed(Written how) {
  add(values_->processed[static_cast<std::size_t>(how)]);
}

void RelayMetrics::retried(std::int32_t attempt) {
  const auto index = static_cast<std::size_t>(std::max(attempt, 1));
  add(values_->retries[std::min(index, attempts_told_apart - 1)]);
}

void RelayMetrics::leases_expired(std::size_t rows) { add(values_->leases_expired, rows); }

void RelayMetrics::took(Phase phase, Clock::duration time) {
  latency_[static_cast<std::size_t>(phase)](std::chrono::duration<double>(time).count());
}

void RelayMetrics::now(const Counts& counts) {
  const std::array all = {counts.pending, counts.failed, counts.sending, counts.aborted};
  for (std::size_t i = 0; i < all.size(); ++i) {
    values_->rows[i].store(static_cast<std::uint64_t>(all[i]), std::memory_order_relaxed);
  }
  values_->oldest_ms.store(static_cast<std::uint64_t>(std::max<std::int64_t>(
                               0, counts.oldest_due.value_or(Millis{0}).count())),
                           std::memory_order_relaxed);
}

void RelayMetrics::retained_wal(std::uint64_t bytes) {
  values_->retained_wal.store(bytes, std::memory_order_relaxed);
}

void RelayMetrics::postponed(std::size_t rows) { add(values_->postponed, rows); }

void RelayMetrics::brokers_away(std::size_t brokers) {
  values_->brokers_away.store(brokers, std::memory_order_relaxed);
}

std::size_t RelayMetrics::brokers_away() const {
  return values_->brokers_away.load(std::memory_order_relaxed);
}

void RelayMetrics::connected(bool yes) {
  values_->connected.store(yes ? 1 : 0, std::memory_order_relaxed);
}

}  // namespace hk::outbox
