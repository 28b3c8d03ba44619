/// A running server: store, engine, edge, adapters and delivery wired together, and taken down
/// again in the order in which nothing is lost. Used by serve(), on the main thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/intake.h"
#include "api/service.h"
#include "cli/bootstrap.h"
#include "cli/disk_watch.h"
#include "cli/worker.h"
#include "config/options.h"
#include "delivery/deliveries.h"
#include "delivery/threads.h"
#include "edge/http/server.h"
#include "engine/engines.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "outbox/relay.h"
#include "security/credentials.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::cli {

/// Members are in the order in which they are built; destroyed in reverse.
class Daemon {
 public:
  explicit Daemon(const config::Options& options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Everything is ready; who connects waits until accept().
  Result<void> start();
  void print_welcome() const;
  /// Answers from now on. After print_welcome(): who is answered finds what was printed.
  void accept() { server_->accept(); }
  void stop();
  void reload() {
    if (options_.tls_cert.empty()) {
      return;
    }
    if (auto reloaded = server_->reload_tls(); reloaded) {
      observe::log(observe::Level::info, "tls.reloaded");
    } else {
      observe::log(observe::Level::error, "tls.reload_failed",
                   {{"error", reloaded.error().message}});
    }
  }
  void look_around();
  /// The exit code of a store that failed while serving; 0: it did not.
  [[nodiscard]] int failed_with() const { return failed_with_; }
  /// Whether it was the data directory that start() failed at.
  [[nodiscard]] bool failed_at_disk() const { return failed_at_disk_; }

 private:
  Result<void> at_disk(Result<void> done);
  Result<void> open_store();
  Result<void> open_keys();
  Result<void> look_at_tenants();
  Result<void> listen();
  Result<void> start_engine();
  Result<void> start_delivery();
  core::Sealing sealing();
  void make_service();
  void register_metrics();
  std::uint64_t busiest();
  std::vector<std::shared_ptr<core::Reader>> open_views();
  Result<void> start_outbox();
  outbox::MakeCarrier way_into_this_server(const outbox::Settings& settings);
  void serve(http::Request&& request, http::Responder respond, http::IoThread& io,
             std::shared_ptr<const engine::TenantDirectory::Entry> caller = nullptr);
  void run_effects(std::vector<core::Effect> effects);
  [[nodiscard]] Result<delivery::EgressPolicy> make_egress() const;
  [[nodiscard]] Result<std::string> check_destination(std::string_view text) const;
  [[nodiscard]] std::string url() const;

  const config::Options& options_;
  DiskWatch disk_;
  std::chrono::steady_clock::time_point busy_asked_at_{};
  std::chrono::nanoseconds busy_before_{};  ///< what the core had worked when it was last asked
  delivery::EgressPolicy egress_;  ///< made by start(), constant before the first request is served
  std::atomic<api::Intake> intake_{api::Intake::nothing};
  std::atomic<int> failed_with_{0};
  bool failed_at_disk_ = false;
  bool wrote_admin_file_ = false;  ///< what another server wrote there is not ours to remove
  std::atomic<std::uint64_t> called_back_{0};
  std::atomic<std::uint64_t> schedules_run_{0};
  std::atomic<std::uint64_t> schedule_run_errors_{0};
  observe::Metrics metrics_;
  std::unique_ptr<observe::SpanExporter> spans_;
  std::unique_ptr<store::DurableStore> store_;
  std::optional<security::MasterKey> master_key_;
  std::unique_ptr<engine::TenantDirectory> tenants_;
  security::SystemRng rng_;
  engine::SlewedClock clock_;
  std::unique_ptr<engine::Engines> engines_;
  Worker worker_;
  Secret admin_token_ = security::make_token("admin");
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<http::Server> server_;
  std::vector<http::IoThread*> io_threads_;
  delivery::Threads couriers_;
  std::unique_ptr<delivery::Deliveries> deliveries_;
  Welcome welcome_;
  std::optional<outbox::RelayMetrics> relay_metrics_;
  std::unique_ptr<outbox::Relay> relay_;
};

}  // namespace hk::cli
