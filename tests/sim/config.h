/// Swarm: every seed first decides which features and faults exist at all, then how much of each,
/// and whether the bounds of the core are tiny or roomy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/limits.h"

namespace hk::sim {

/// How the receivers behind one host answer; weights.
struct HostConfig {
  std::string name{};
  std::uint32_t ok = 1;
  std::uint32_t slow = 0;
  std::uint32_t error = 0;
  std::uint32_t give_up = 0;
  std::uint32_t retry_after = 0;
  std::uint32_t hang = 0;
  std::uint32_t late = 0;
  bool flaps = false;        ///< answers errors in every other stretch of time
  bool always_bad = false;   ///< also when the faults are over
  bool bad_by_hang = false;  ///< … by never answering
};

/// Probabilities are in permille; a time of 0 switches its fault off.
struct Config {
  core::Limits limits{};
  std::size_t commands_per_batch = 64;
  std::size_t cache_bytes = 1U << 20U;
  Millis sync_max{50};
  Millis cpu_max{2};

  std::uint32_t tenants = 1;
  std::uint32_t queues = 0;  ///< names per tenant
  std::uint32_t groups = 0;
  std::uint32_t schedules = 0;  ///< names per tenant
  std::uint32_t flows = 0;
  bool flow_rates = false;
  std::uint32_t url_groups = 0;       ///< names per tenant
  std::uint32_t keys = 0;             ///< of idempotency, names per tenant
  std::uint32_t once = 0;             ///< of what clients do: writes under a key of the server
  std::uint32_t sources = 0;          ///< of webhooks, names per tenant
  std::uint32_t source_acts = 0;      ///< of what clients do
  std::uint32_t ledger = 0;           ///< of what clients do: operations on books
  std::uint32_t ledger_books = 1;     ///< per tenant
  std::uint32_t ledger_accounts = 4;  ///< names per book
  std::uint32_t ledger_bulk = 0;      ///< one batch with more records than a checkpoint covers
  std::uint32_t topics = 0;           ///< of SNS, names per tenant
  std::uint32_t topic_fifo = 0;       ///< bit i: the i-th name is of a FIFO topic
  std::uint32_t pull_queues = 0;      ///< names per tenant
  std::uint32_t pull_fifo = 0;        ///< bit i: the i-th name is of a queue with order
  std::uint32_t pulls = 0;            ///< of what clients do
  Millis pull_visibility_max{1000};
  Millis pull_retention_max{60'000};
  std::uint32_t pull_redrive = 0;   ///< queues with a dead-letter queue
  std::uint32_t pull_halt = 0;      ///< queues with order whose groups stop
  std::uint32_t pull_attempts = 0;  ///< receives with an attempt id
  std::uint32_t pull_moves = 0;     ///< of what is done with queues: tasks that move messages
  std::uint32_t pull_pauses = 0;    ///< of what is done with queues: pauses, and their ends
  std::uint32_t pull_push = 0;      ///< queues that push
  std::uint32_t pull_brief = 0;  ///< dead letters that come to a queue that keeps nothing for long
  std::vector<HostConfig> hosts{};

  std::uint32_t dice = 0;    ///< draws that are passed over: another run of the same configuration
  std::uint32_t origin = 0;  ///< of the numbers of messages; most seeds have 0
  std::uint32_t places_every = 0;  ///< batches between two changes of the share of places; 0: none
  std::uint64_t ops = 400;
  Millis gap{100};  ///< between client operations, on average
  std::uint32_t burst = 0;
  std::uint32_t batch = 0;  ///< bursts that come as one request

  std::uint32_t delayed = 0;
  std::uint32_t dedup = 0;
  std::uint32_t dedup_ids = 8;
  Millis dedup_window_max{60'000};
  std::uint32_t cancel = 0;
  std::uint32_t cancel_again = 0;
  std::uint32_t cancel_tasks = 0;  ///< of the cancels: by a filter, as a bulk action
  std::uint32_t dead_letters = 0;
  std::uint32_t settings = 0;
  std::uint32_t inspect = 0;
  std::uint32_t bad_requests = 0;
  std::uint32_t lost_answers = 0;
  std::uint32_t callbacks = 0;
  std::uint32_t endings = 0;  ///< leases whose holder says by a call how its work ended
  std::uint32_t transacts = 0;
  std::uint32_t retries_max = 4;
  Millis retry_delay_max{10'000};
  Millis timeout_max{10'000};

  Millis crash_every{0};
  std::uint64_t crashes_max = 1'000'000;  ///< of those that come out of nowhere
  std::uint32_t crash_at_release = 0;
  std::uint32_t crash_in_recovery = 0;
  bool process_death_only = false;
  std::uint32_t fail_write = 0;
  std::uint32_t fail_sync = 0;
  /// Not in permille: each life meets a read that fails within its first 2^n reads, n up to this.
  std::uint32_t fail_read = 0;
  Millis disk_full_every{0};
  std::uint32_t late_outcomes = 0;
  Millis clock_step{0};          ///< of a clock that is set while the server is down
  std::uint32_t clock_lean = 0;  ///< permille by which partition time runs fast or slow, at most
  Millis pause_max{0};           ///< the server stands still for a while: its machine was suspended
  Millis down_max{1000};
};

Config draw_config(Rng& rng, std::uint64_t seed);

}  // namespace hk::sim
