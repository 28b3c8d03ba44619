// The gauges that are read off the parts of a running server when /metrics is scraped.
#include <chrono>

#include "cli/daemon.h"

namespace hk::cli {

/// Of a partition that has failed nothing is known: the gauges show the rest.
std::vector<std::shared_ptr<core::Reader>> Daemon::open_views() {
  try {
    return engines_->durable_views();
  } catch (const engine::PartitionUnavailable&) {
    return {};
  }
}

void Daemon::register_metrics() {
  const auto sum = [this](auto member) {
    return [this, member] {
      std::uint64_t total = 0;
      for (const auto& view : open_views()) {
        for (const auto& [tenant, counts] : view->scan<core::Counters>()) {
          total += counts.*member;
        }
      }
      return static_cast<double>(total);
    };
  };
  metrics_.gauge("hikyaku_messages_pending", "Messages waiting or running.",
                 sum(&core::Counters::pending));
  metrics_.gauge("hikyaku_dead_letters", "Messages in the dead-letter queue.",
                 sum(&core::Counters::dead_letters));
  const auto count = [this](const char* name, const char* help,
                            const std::atomic<std::uint64_t>& total) {
    metrics_.counter(name, help, [&total] { return static_cast<double>(total.load()); });
  };
  count("hikyaku_callbacks_total", "Callbacks made.", called_back_);
  count("hikyaku_schedule_runs_total", "Runs of schedules that made their messages.",
        schedules_run_);
  count("hikyaku_schedule_run_errors_total", "Runs of schedules that made no message.",
        schedule_run_errors_);
  metrics_.counter("hikyaku_messages_accepted_total",
                   "Messages accepted since the data directory was made.",
                   sum(&core::Counters::accepted));
  metrics_.counter("hikyaku_messages_succeeded_total", "Messages delivered.",
                   sum(&core::Counters::succeeded));
  metrics_.counter("hikyaku_messages_failed_total", "Messages that ended in the dead-letter queue.",
                   sum(&core::Counters::failed));
  metrics_.counter("hikyaku_messages_canceled_total", "Messages cancelled.",
                   sum(&core::Counters::canceled));
  metrics_.gauge("hikyaku_conservation_gap",
                 "accepted - pending - succeeded - failed - canceled: anything but 0 is a bug.",
                 [this] {
                   double gap = 0;
                   for (const auto& view : open_views()) {
                     for (const auto& [tenant, counts] : view->scan<core::Counters>()) {
                       gap += static_cast<double>(counts.accepted) -
                              static_cast<double>(counts.pending + counts.succeeded +
                                                  counts.failed + counts.canceled);
                     }
                   }
                   return gap;
                 });
  metrics_.gauge(
      "hikyaku_oldest_due_seconds",
      "How long the message that is due longest has been waiting (over the first 256 lanes).",
      [this] {
        Moment oldest = never;
        for (const auto& view : open_views()) {
          std::optional<core::LaneKey> at;
          for (int lanes = 0; lanes < 256; ++lanes) {
            at = view->next_lane(at);
            if (!at) break;
            const auto first = view->lane_entries(*at, std::nullopt, 1);
            if (!first.empty()) oldest = std::min(oldest, first.front().not_before);
          }
        }
        const Moment now = clock_.now();
        return oldest >= now ? 0.0 : std::chrono::duration<double>(now - oldest).count();
      });
  metrics_.gauge("hikyaku_clock_offset_seconds",
                 "By how much the wall clock is ahead of partition time (behind it: negative).",
                 [this] {
                   const Moment wall = engine::read_system_clocks().wall;
                   return std::chrono::duration<double>(wall - clock_.now()).count();
                 });
  metrics_.gauge("hikyaku_attempts_in_flight", "Delivery attempts on the wire.",
                 [this] { return static_cast<double>(engines_->stats().in_flight); });
  metrics_.gauge("hikyaku_messages_in_memory", "Messages held in memory (windows and leases).",
                 [this] { return static_cast<double>(engines_->stats().in_memory); });
  metrics_.gauge("hikyaku_lanes", "Lanes with waiting messages.",
                 [this] { return static_cast<double>(engines_->stats().lanes); });
  metrics_.gauge("hikyaku_inbox_commands", "Commands that wait for the engine.",
                 [this] { return static_cast<double>(engines_->stats().inbox); });
  metrics_.gauge("hikyaku_inbox_bytes", "Bytes of messages that wait for the engine.",
                 [this] { return static_cast<double>(engines_->stats().inbox_bytes); });
  metrics_.counter("hikyaku_inbox_refused_total", "Commands that found the engine's inbox full.",
                   [this] { return static_cast<double>(engines_->stats().inbox_refused); });
  metrics_.counter("hikyaku_batches_total", "Batches written.",
                   [this] { return static_cast<double>(engines_->stats().batches); });
  metrics_.gauge("hikyaku_request_wait_seconds",
                 "How long requests wait to be read, of the slowest thread, measured just now.",
                 [this] { return server_->stats().lag_seconds; });
  metrics_.gauge("hikyaku_connections", "Open client connections.",
                 [this] { return static_cast<double>(server_->stats().connections_open); });
  metrics_.counter("hikyaku_connections_refused_total", "Connections refused at a cap.",
                   [this] { return static_cast<double>(server_->stats().connections_refused); });
  metrics_.counter("hikyaku_requests_malformed_total", "Requests refused as malformed HTTP.",
                   [this] { return static_cast<double>(server_->stats().requests_malformed); });
  metrics_.gauge("hikyaku_request_body_bytes",
                 "Bytes of request bodies that are being read or wait for their answers.",
                 [this] { return static_cast<double>(server_->stats().request_bytes); });
  metrics_.counter("hikyaku_request_bodies_refused_total",
                   "Requests for whose bodies there was no memory.",
                   [this] { return static_cast<double>(server_->stats().bodies_refused); });
  metrics_.gauge("hikyaku_answer_bytes", "Bytes of large answers that clients have not read yet.",
                 [this] { return static_cast<double>(service_->answer_room().taken()); });
  metrics_.counter("hikyaku_answers_without_room_total",
                   "Large answers for which there was no memory.",
                   [this] { return static_cast<double>(service_->answer_room().refused()); });
  const auto by = [](const auto& names, const auto& counts) {
    return [&names, &counts] {
      observe::Metrics::Labelled all;
      for (std::size_t i = 0; i < names.size(); ++i) {
        all.emplace_back(names[i], static_cast<double>(counts[i].load()));
      }
      return all;
    };
  };
  const auto& limited = service_->admissions().totals();
  metrics_.counters("hikyaku_rate_limit_allowed_total",
                    "Requests that were measured by a limit and taken.", "class",
                    by(core::rate_class_names, limited.allowed));
  metrics_.counters("hikyaku_rate_limit_refused_total", "Requests that a limit refused.", "class",
                    by(core::rate_class_names, limited.refused));
  metrics_.counters("hikyaku_rate_limit_refused_by_level_total",
                    "The same by the level that refused them.", "level",
                    by(api::limits::level_names, limited.refused_by));
  metrics_.gauge("hikyaku_rate_limit_factor",
                 "By what the rates are multiplied, as the server is busy or fails: 0.1 to 1.",
                 [this] { return service_->admissions().factor() / 1e6; });
  metrics_.gauge("hikyaku_store_disk_bytes", "Bytes of the store on disk.",
                 [this] { return static_cast<double>(store_->stats().disk_bytes); });
  metrics_.gauge("hikyaku_store_stalled", "1 while the store slows writes down.",
                 [this] { return store_->stats().stalled ? 1.0 : 0.0; });
  metrics_.gauge("hikyaku_disk_full", "1 while publishes are refused for lack of disk space.",
                 [this] { return disk_.full() ? 1.0 : 0.0; });
  metrics_.counter("hikyaku_spans_dropped_total", "Spans that the collector did not take in time.",
                   [this] { return static_cast<double>(spans_->dropped()); });
}

}  // namespace hk::cli
