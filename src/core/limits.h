/// The bounds of the core. Everything that could grow with load has one here; what grows with the
/// backlog is in the store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace hk::core {

struct Limits {
  // An attempt holds its message while it lasts. So these limits are places, and a large body takes
  // several: memory is bounded with them.
  std::uint32_t global_parallelism = 4096;      ///< places of attempts in flight
  std::uint32_t tenant_parallelism = 2048;      ///< … of one tenant
  std::uint32_t destination_parallelism = 512;  ///< … of one tenant to one host
  /// A destination may hold this many times what its tenant has left, and a tenant what the server
  /// has left: so whoever hangs with all they can get leaves something for whoever holds little.
  std::uint32_t share = 4;
  std::size_t bytes_per_place = std::size_t{64} * 1024;  ///< of a body, beyond its first place
  std::size_t lane_window_max = 1024;                    ///< messages of one lane in memory
  std::size_t lane_window_min = 16;                      ///< … however many lanes there are
  std::size_t window_budget = 262'144;  ///< messages of all lanes in memory, roughly
  /// Bodies that commands may have written, or receivers been given, before the next one waits for
  /// another batch.
  std::size_t batch_bytes = std::size_t{64} << 20U;
  std::size_t starts_per_batch = 256;
  std::size_t refills_per_batch = 32;
  std::size_t quantum = 16;  ///< starts a tenant may make before the next one's turn
  Millis index_after{500};   ///< a message that waits longer gets its index entry
  std::size_t index_per_batch = 1024;
  Millis meta_every{1000};
  std::size_t meta_every_messages = 8192;
  Millis lease_grace{5000};  ///< beyond the attempt's timeout
  Millis retention_finished{3LL * 86'400'000};
  Millis retention_dlq{30LL * 86'400'000};       ///< 0 = for ever
  Millis retention_webhooks{90LL * 86'400'000};  ///< events, deliveries and their attempts
  std::size_t expiries_per_batch = 8;
  std::size_t timers_per_batch = 256;
  Millis expiry_poll{1000};
  Millis event_purge_every{600'000};
  std::uint32_t queue_parallelism_default = 1;
  std::size_t subscriptions_max = 1000;        ///< of a topic: endpoints of a URL group, too
  Millis confirmation_time{3LL * 86'400'000};  ///< a subscription that waits for it ends then
  std::size_t topic_bytes_max = std::size_t{4} << 20U;      ///< of its texts: a publish reads all
  std::size_t topic_memory_bytes = std::size_t{64} << 20U;  ///< of topics in memory, roughly
  std::size_t schedules_per_batch = 256;                    ///< runs
  std::size_t sweeps_per_batch = 256;       ///< messages of deleted queues, and of changed ones
  std::uint32_t halt_after = 10;            ///< receives, where the queue does not say
  std::size_t receive_attempts_max = 1024;  ///< attempt ids of one queue
  std::size_t moves_per_batch = 256;        ///< messages of tasks, and dead letters
  std::size_t moved_bytes_per_batch = std::size_t{16} << 20U;  ///< … they are copied
  std::size_t move_tasks_kept = 10;        ///< of one source, the running one included
  std::size_t cancel_tasks_running = 100;  ///< of one tenant
  std::size_t cancel_tasks_kept = 1000;    ///< of one tenant, the running ones included
  Millis cancel_tasks_kept_for{7LL * 86'400'000};
  Millis webhook_tasks_kept_for{30LL * 86'400'000};
  std::size_t key_waits = 10'000;  ///< claims that wait for the end of another
  std::size_t key_waits_of_tenant = 1000;
  std::size_t key_waits_of_key = 100;
  std::size_t key_wakes_per_batch = 256;   ///< an answer to each may have 256 KiB
  std::size_t response_bytes_kept = 1000;  ///< of an answer's body in the record of its attempt
  std::size_t ledger_books = 1000;         ///< in memory
  std::size_t ledger_expiries_per_batch = 10'000;
  std::size_t ledger_account_bytes = std::size_t{128} << 20U;  ///< of accounts in memory, roughly
  std::size_t ledger_subscriptions_max = 100;                  ///< of one book
  std::size_t ledger_monitors_max = 1000;                      ///< of one book
  std::size_t ledger_rollups_max = 100;                        ///< of one book
  std::size_t ledger_rollup_accounts_per_batch = 256;          ///< that a new one takes at once
  std::size_t webhook_applications_max = 1'000'000;            ///< of one tenant
  std::size_t webhook_event_types_max = 10'000;                ///< of one tenant
  std::size_t webhook_integrations_max = 1000;                 ///< of one application
  std::size_t webhook_tokens_max = 20'000;   ///< of one application: all of them end in a batch
  std::size_t webhook_old_secrets_max = 10;  ///< of one endpoint
  std::size_t webhook_headers_max = 50;      ///< of one endpoint
  std::size_t webhook_memory_bytes = std::size_t{64} << 20U;  ///< of endpoints in memory, roughly
  std::size_t sources_max = 1000;                             ///< of one tenant
  Millis source_events_kept_for{30LL * 86'400'000};
  Millis source_upkeep_every{3'600'000};
  std::size_t source_rows_per_batch = 256;  ///< of events that are forgotten
  std::size_t quarantine_items_max = 1000;  ///< rejected requests of one source
  std::size_t quarantine_bytes_max = std::size_t{64} << 20U;
  Millis quarantine_kept_for{7LL * 86'400'000};
  std::size_t quarantined_per_second = 10;  ///< of one source
  std::size_t quarantined_per_batch = 16;   ///< that are forgotten: a body may have a MiB
  std::size_t callback_bytes_max = std::size_t{10} * 1024 * 1024;  ///< of a callback's body
};

/// The rule of the shares: may whoever holds so much have more, of what all of them have left?
constexpr bool within_share(std::uint64_t held, std::uint64_t left,
                            std::uint64_t share = Limits{}.share) {
  return held < share * left;
}

}  // namespace hk::core
