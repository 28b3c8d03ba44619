#include "sim/config.h"

#include <algorithm>
#include <array>

namespace hk::sim {

namespace {

template <class T, std::size_t N>
T one_of(Rng& rng, const std::array<T, N>& choices) {
  return choices[rng.below(N)];
}

std::uint32_t between(Rng& rng, std::uint64_t low, std::uint64_t high) {
  return static_cast<std::uint32_t>(low + rng.below(high - low + 1));
}

bool chance(Rng& rng, std::uint32_t permille) { return rng.below(1000) < permille; }

Millis one_time(Rng& rng, const std::array<int, 4>& choices) {
  return Millis{one_of(rng, choices)};
}

core::Limits draw_limits(Rng& rng) {
  core::Limits limits;
  limits.global_parallelism = one_of(rng, std::array<std::uint32_t, 4>{2, 8, 64, 4096});
  limits.tenant_parallelism = one_of(rng, std::array<std::uint32_t, 4>{1, 4, 32, 2048});
  limits.destination_parallelism = one_of(rng, std::array<std::uint32_t, 4>{1, 2, 16, 128});
  limits.lane_window_min = between(rng, 2, 8);
  limits.lane_window_max = limits.lane_window_min + one_of(rng, std::array{0U, 2U, 16U, 512U});
  limits.window_budget = one_of(rng, std::array{4U, 24U, 128U, 65536U});
  limits.starts_per_batch = one_of(rng, std::array{1U, 3U, 16U, 256U});
  limits.refills_per_batch = one_of(rng, std::array{1U, 2U, 8U, 32U});
  limits.quantum = one_of(rng, std::array{1U, 2U, 4U, 16U});
  limits.share = limits.quantum <= 2 ? 1 : 4;  // not drawn: seeds stay what they were
  limits.bytes_per_place = limits.starts_per_batch <= 3 ? 16 : 65'536;                // nor is this
  limits.batch_bytes = limits.refills_per_batch <= 2 ? 100 : std::size_t{64} << 20U;  // nor this
  limits.halt_after = limits.refills_per_batch <= 2 ? 1 : 3;                          // nor this
  limits.index_after = one_time(rng, {5, 50, 500, 2000});
  limits.index_per_batch = one_of(rng, std::array{1U, 4U, 64U, 1024U});
  limits.meta_every = one_time(rng, {1, 100, 1000, 5000});
  limits.meta_every_messages = one_of(rng, std::array{1U, 10U, 100U, 8192U});
  limits.lease_grace = one_time(rng, {100, 500, 2000, 5000});
  limits.retention_finished = one_time(rng, {1000, 20'000, 120'000, 3'600'000});
  limits.retention_dlq = one_time(rng, {2000, 60'000, 600'000, 0});
  limits.expiries_per_batch = one_of(rng, std::array{1U, 2U, 8U, 32U});
  limits.expiry_poll = one_time(rng, {100, 500, 2000, 30'000});
  limits.event_purge_every = one_time(rng, {1000, 10'000, 60'000, 600'000});
  limits.queue_parallelism_default = between(rng, 1, 2);
  limits.sweeps_per_batch = one_of(rng, std::array{1U, 3U, 16U, 256U});
  return limits;
}

HostConfig draw_host(Rng& rng, std::uint32_t number) {
  HostConfig host;
  host.name = "http://host" + std::to_string(number) + ".example:80";
  host.ok = one_of(rng, std::array{0U, 2U, 10U, 40U});
  const auto maybe = [&rng] { return chance(rng, 400) ? between(rng, 1, 10) : 0U; };
  host.slow = maybe();
  host.error = maybe();
  host.give_up = chance(rng, 300) ? 1 : 0;
  host.retry_after = maybe() / 2;
  host.hang = chance(rng, 300) ? between(rng, 1, 3) : 0;
  host.late = chance(rng, 300) ? between(rng, 1, 3) : 0;
  host.flaps = chance(rng, 200);
  host.always_bad = chance(rng, 120);
  host.bad_by_hang = chance(rng, 300);
  if (host.ok + host.slow + host.error == 0) {
    host.ok = 1;
  }
  return host;
}

}  // namespace

Config draw_config(Rng& rng, std::uint64_t seed) {
  Config config;
  config.limits = draw_limits(rng);
  config.commands_per_batch = one_of(rng, std::array{1U, 4U, 32U, 512U});
  config.cache_bytes = one_of(rng, std::array{0U, 3000U, 30'000U, 1U << 20U});
  config.sync_max = one_time(rng, {0, 5, 50, 400});
  config.cpu_max = one_time(rng, {0, 1, 5, 20});

  config.tenants = between(rng, 1, 5);
  config.queues = chance(rng, 600) ? between(rng, 1, 3) : 0;
  config.groups = chance(rng, 500) ? between(rng, 1, 4) : 0;
  config.flows = chance(rng, 600) ? between(rng, 1, 3) : 0;
  config.flow_rates = chance(rng, 500);
  const std::uint32_t hosts = between(rng, 1, 5);
  for (std::uint32_t i = 0; i < hosts; ++i) {
    config.hosts.push_back(draw_host(rng, i));
  }

  config.ops = one_of(rng, std::array<std::uint64_t, 4>{100, 300, 600, 1200});
  config.gap = one_time(rng, {2, 30, 400, 6000});
  config.burst = chance(rng, 500) ? between(rng, 5, 120) : 0;

  const auto feature = [&rng](std::uint32_t most) {
    return chance(rng, 550) ? between(rng, 1, most) : 0U;
  };
  config.delayed = feature(500);
  config.dedup = feature(700);
  config.dedup_ids = between(rng, 2, 40);
  config.dedup_window_max = one_time(rng, {500, 5000, 60'000, 600'000});
  config.cancel = feature(200);
  config.cancel_again = feature(500);
  config.dead_letters = feature(150);
  config.settings = feature(100);
  config.inspect = feature(60);
  config.bad_requests = feature(30);
  config.lost_answers = feature(200);
  config.retries_max = between(rng, 0, 4);
  config.retry_delay_max = one_time(rng, {20, 1000, 10'000, 120'000});
  config.timeout_max = one_time(rng, {50, 1000, 10'000, 60'000});

  if (chance(rng, 750)) {
    config.crash_every = config.gap * one_of(rng, std::array{15, 60, 200, 500});
  }
  config.crash_at_release = chance(rng, 500) ? between(rng, 1, 30) : 0;
  config.crash_in_recovery = chance(rng, 500) ? between(rng, 50, 500) : 0;
  config.process_death_only = chance(rng, 250);
  config.fail_write = chance(rng, 300) ? between(rng, 1, 15) : 0;
  config.fail_sync = chance(rng, 300) ? between(rng, 1, 15) : 0;
  if (chance(rng, 200)) {
    config.disk_full_every = config.gap * one_of(rng, std::array{50, 200, 400, 600});
  }
  config.late_outcomes = chance(rng, 600) ? between(rng, 100, 1000) : 0;
  config.clock_step = chance(rng, 300) ? Millis{between(rng, 1, 3000)} : Millis{0};
  config.down_max = one_time(rng, {1, 100, 2000, 60'000});

  config.callbacks = feature(400);
  config.schedules = chance(rng, 400) ? between(rng, 1, 4) : 0;
  config.limits.schedules_per_batch = one_of(rng, std::array{1U, 2U, 16U, 256U});

  // Queues, groups and plain messages that get in each other's way at a host or two.
  if (chance(rng, 150)) {
    config.limits.destination_parallelism = between(rng, 1, 2);
    config.limits.tenant_parallelism = 2048;
    config.limits.global_parallelism = 4096;
    config.queues = 3;
    config.groups = between(rng, 0, 4);
    config.hosts.resize(std::min<std::size_t>(config.hosts.size(), 2));
  }
  config.url_groups = chance(rng, 500) ? between(rng, 1, 3) : 0;
  config.batch = feature(1000);

  config.pull_queues = chance(rng, 400) ? between(rng, 1, 3) : 0;
  if (config.pull_queues > 0) {
    config.pull_fifo = between(rng, 0, 7);
    config.pulls = between(rng, 200, 900);
    config.pull_visibility_max = one_time(rng, {50, 2000, 20'000, 120'000});
    config.pull_retention_max = one_time(rng, {3000, 30'000, 300'000, 600'000});
    config.pull_redrive = chance(rng, 700) ? between(rng, 200, 900) : 0;
    config.pull_moves = chance(rng, 600) ? between(rng, 10, 150) : 0;
    config.limits.moves_per_batch = one_of(rng, std::array{1U, 2U, 8U, 256U});
    config.limits.moved_bytes_per_batch = one_of(rng, std::array{1U, 300U, 16U << 20U});
    config.pull_attempts = chance(rng, 500) ? between(rng, 100, 900) : 0;
    config.limits.receive_attempts_max = one_of(rng, std::array{1U, 3U, 20U, 1024U});
    if (chance(rng, 500)) {
      config.pull_halt = between(rng, 100, 900);
      config.pull_queues = std::max(config.pull_queues, 2U);  // one for dead letters
      config.pull_fifo |= 3U;
    }
    config.limits.move_tasks_kept = one_of(rng, std::array{1U, 2U, 3U, 10U});
    config.pull_pauses = chance(rng, 400) ? between(rng, 10, 100) : 0;
    // The first queue is for dead letters, and keeps nothing for long.
    if (config.pull_halt == 0 && chance(rng, 500)) {
      config.pull_brief = between(rng, 500, 950);
      config.pull_queues = std::max(config.pull_queues, 2U);
      config.pull_fifo &= ~3U;
    }
  }
  config.clock_lean = chance(rng, 300) ? 100 : 0;
  config.pause_max = chance(rng, 200) ? config.timeout_max * 2 : Millis{0};
  config.fail_read = chance(rng, 400) ? between(rng, 8, 16) : 0;
  SeededRng more(seed ^ 0x0716'1a5eULL);  // not of `rng`: seeds stay what they were
  config.origin = chance(more, 250) ? between(more, 1, 65'535) : 0;
  config.places_every = chance(more, 250) ? between(more, 1, 40) : 0;
  config.pull_push = config.pull_queues > 0 && chance(more, 600) ? between(more, 200, 900) : 0;
  config.topics = chance(more, 400) ? between(more, 1, 3) : 0;
  config.topic_fifo = between(more, 0, 7);
  config.limits.topic_memory_bytes = chance(more, 300) ? 1 : config.limits.topic_memory_bytes;
  if (chance(more, 500)) {
    config.cancel_tasks = between(more, 50, 900);
    config.cancel = std::max(config.cancel, 30U);
    config.limits.cancel_tasks_running = one_of(more, std::array{1U, 2U, 100U});
    config.limits.cancel_tasks_kept = one_of(more, std::array{2U, 4U, 1000U});
    config.limits.cancel_tasks_kept_for = one_time(more, {2000, 60'000, 600'000});
    config.limits.moves_per_batch = one_of(more, std::array{1U, 2U, 8U, 256U});
  }
  config.limits.confirmation_time = one_time(more, {2000, 20'000, 120'000, 600'000});
  config.keys = chance(more, 400) ? between(more, 1, 6) : 0;
  config.limits.timers_per_batch = one_of(more, std::array{1U, 2U, 256U});
  config.once = chance(more, 400) ? between(more, 50, 600) : 0;
  config.endings = chance(more, 500) ? between(more, 50, 600) : 0;
  config.transacts = chance(more, 500) ? between(more, 20, 300) : 0;
  config.ledger = chance(more, 300) ? between(more, 50, 700) : 0;
  config.ledger_books = between(more, 1, 2);
  config.ledger_accounts = between(more, 2, 9);
  config.ledger_bulk = config.ledger > 0 && chance(more, 100) ? 1 : 0;
  config.limits.ledger_account_bytes = one_of(more, std::array{0U, 3000U, 128U << 20U});
  config.limits.ledger_books = config.limits.ledger_account_bytes == 0 ? 0 : 1000;
  config.limits.ledger_subscriptions_max = one_of(more, std::array{1U, 2U, 100U});
  config.limits.ledger_monitors_max = one_of(more, std::array{1U, 3U, 1000U});
  config.sources = chance(more, 400) ? between(more, 1, 4) : 0;
  config.source_acts = between(more, 50, 600);
  config.limits.quarantine_items_max = one_of(more, std::array{1U, 3U, 1000U});
  config.limits.quarantine_bytes_max = one_of(more, std::array{60U, 200U, 64U << 20U});
  config.limits.quarantine_kept_for = one_time(more, {2000, 10'000, 60'000, 600'000});
  config.limits.quarantined_per_second = one_of(more, std::array{1U, 3U, 10U});
  config.limits.quarantined_per_batch = one_of(more, std::array{1U, 2U, 16U});
  config.limits.source_events_kept_for = one_time(more, {2000, 10'000, 60'000, 600'000});
  config.limits.source_upkeep_every = one_time(more, {500, 5000, 20'000, 60'000});
  config.limits.source_rows_per_batch = one_of(more, std::array{1U, 2U, 256U});
  return config;
}

}  // namespace hk::sim
