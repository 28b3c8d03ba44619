/// The metrics that are always there: one row each, in the order of the enum. The reference page is
/// made from it; what modules add with Metrics::gauge() and counter() carries its help text there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "observe/metrics.h"

namespace hk::observe {

enum class Metric : std::uint8_t {
  requests,
  request_seconds,
  published,
  publish_refused,
  idempotent,
  claims,
  ledger_transactions,
  ledger_batch_items,
  inbound,
  transacts,
  webhook_events,
  attempts,
  attempt_seconds,
  end_to_end_seconds,
  retries,
  dead_letters,
  commit_seconds,
  commit_batches,
  commit_bytes,
  resident_memory,
  open_fds,
  max_fds,
  start_time,
  cpu_seconds,
};

constexpr std::array<MetricRow, 24> metric_table = {{
    {"hikyaku_http_requests_total", "counter", "class",
     "HTTP requests answered, by the class of the status: 1xx to 5xx."},
    {"hikyaku_http_request_seconds", "histogram", "",
     "Time from the head of a request to the last byte of its answer."},
    {"hikyaku_messages_published_total", "counter", "result",
     "Messages acknowledged: accepted (stored and durable) or deduplicated (already there)."},
    {"hikyaku_publish_refused_total", "counter", "reason",
     "Messages refused; nothing was stored for them."},
    {"hikyaku_idempotent_requests_total", "counter", "result",
     "Writes with an Idempotency-Key: executed, replayed (answered as before), reused (the key was "
     "another request's), not_kept (nothing was done, and the key is free)."},
    {"hikyaku_idempotency_claims_total", "counter", "result",
     "Claims of idempotency keys: started (a lease that ended and was taken "
     "over included), replayed, held, reused."},
    {"hikyaku_ledger_transactions_total", "counter", "result",
     "Transactions asked of the ledger, alone and in batches: created, replayed (it was there), "
     "refused."},
    {"hikyaku_ledger_batch_items_total", "counter", "result",
     "Items of the ledger's batches: applied, refused."},
    {"hikyaku_inbound_requests_total", "counter", "result",
     "Requests to inbound sources: accepted, duplicate (it was there), invalid (not verified), "
     "refused (unknown source, limits, not now), handshake."},
    {"hikyaku_transacts_total", "counter", "outcome",
     "Transacts decided: applied, or refused, which changed nothing."},
    {"hikyaku_webhook_events_total", "counter", "result",
     "Messages of webhooks asked to be sent: accepted, or refused, which stored nothing."},
    {"hikyaku_delivery_attempts_total", "counter", "result",
     "Attempts to deliver, by how they ended: delivered, http_error, timeout, network_error, "
     "blocked."},
    {"hikyaku_delivery_attempt_seconds", "histogram", "",
     "Time of one attempt, from its start until its outcome was known."},
    {"hikyaku_end_to_end_seconds", "histogram", "",
     "Time from the acceptance of a message to its delivery, waits and retries included."},
    {"hikyaku_retries_total", "counter", "", "Attempts that failed and were planned again."},
    {"hikyaku_dead_letters_total", "counter", "",
     "Messages given up and kept for a person to look at."},
    {"hikyaku_commit_seconds", "histogram", "",
     "Time of one group commit: written and synced to disk."},
    {"hikyaku_commit_batches_total", "counter", "", "Batches made durable by the commits."},
    {"hikyaku_commit_bytes_total", "counter", "", "Bytes made durable by the commits."},
    {"process_resident_memory_bytes", "gauge", "", "Memory of the process that is in RAM."},
    {"process_open_fds", "gauge", "", "Open file descriptors."},
    {"process_max_fds", "gauge", "", "The most file descriptors that may be open."},
    {"process_start_time_seconds", "gauge", "", "When the process was started, in Unix seconds."},
    {"process_cpu_seconds_total", "counter", "", "User and system CPU time used."},
}};

static_assert(static_cast<std::size_t>(Metric::cpu_seconds) + 1 == metric_table.size());

constexpr const MetricRow& row_of(Metric metric) {
  return metric_table[static_cast<std::size_t>(metric)];
}

}  // namespace hk::observe
