#include "cli/serve.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "api/service.h"
#include "cli/admin_file.h"
#include "cli/bootstrap.h"
#include "cli/exit_code.h"
#include "cli/process.h"
#include "cli/version.h"
#include "delivery/dispatcher.h"
#include "delivery/headers.h"
#include "delivery/url.h"
#include "edge/http/server.h"
#include "engine/engine.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::cli {

namespace {

using observe::Level;

int refuse_to_start(const Error& error) {
  fmt::print(stderr, "hikyaku: {}\n", error.message);
  const int code = exit_code_of(error.kind);
  return code == exit_failed ? static_cast<int>(exit_usage) : code;
}

/// Runs long things (a backup) off the I/O threads, one after the other.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void post(std::move_only_function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      auto work = std::move(queue_.front());
      queue_.erase(queue_.begin());
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::move_only_function<void()>> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Whether the data directory still has the room that deliveries and settling need.
class DiskWatch {
 public:
  DiskWatch(std::string path, std::uint64_t min_free)
      : path_(std::move(path)), min_free_(min_free) {
    look();
  }
  void look() {
    const bool full = free_disk_bytes(path_) < min_free_;
    if (full != full_.exchange(full)) {
      if (full) {
        observe::log(Level::error, "disk.nearly_full", {{"min_free_bytes", min_free_}});
      } else {
        observe::log(Level::info, "disk.has_room_again");
      }
    }
  }
  [[nodiscard]] std::optional<std::string> refuse() const {
    if (!full_) {
      return std::nullopt;
    }
    return "the disk of the server is nearly full: nothing new is accepted until there is room";
  }
  [[nodiscard]] bool full() const { return full_; }

 private:
  const std::string path_;
  const std::uint64_t min_free_;
  std::atomic<bool> full_{false};
};

core::Limits core_limits(const config::Options& options) {
  core::Limits limits;
  limits.global_parallelism = static_cast<std::uint32_t>(options.global_parallelism);
  limits.tenant_parallelism = static_cast<std::uint32_t>(options.tenant_parallelism);
  limits.destination_parallelism = static_cast<std::uint32_t>(options.destination_parallelism);
  limits.retention_finished = options.retention_finished;
  limits.retention_dlq = options.retention_dlq;
  return limits;
}

/// Everything of a running server, in the order in which it is built; destroyed in reverse.
class Daemon {
 public:
  explicit Daemon(const config::Options& options)
      : options_(options), disk_(options.data, options.min_free_disk) {}

  Result<void> start();
  void stop();
  void print_welcome() const;
  void reload() {
    if (options_.tls_cert.empty()) {
      return;
    }
    if (auto reloaded = server_->reload_tls(); reloaded) {
      observe::log(Level::info, "tls.reloaded");
    } else {
      observe::log(Level::error, "tls.reload_failed", {{"error", reloaded.error().message}});
    }
  }
  void look_around() { disk_.look(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  Result<void> open_store();
  Result<void> open_keys();
  Result<void> listen();
  Result<void> start_engine();
  Result<void> start_delivery();
  void make_service();
  void register_metrics();
  void run_effects(std::vector<core::Effect> effects);
  [[nodiscard]] std::string url() const;

  const config::Options& options_;
  DiskWatch disk_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> failed_{false};
  observe::Metrics metrics_;
  std::unique_ptr<observe::SpanExporter> spans_;
  std::unique_ptr<store::DurableStore> store_;
  std::optional<security::MasterKey> master_key_;
  std::unique_ptr<engine::TenantDirectory> tenants_;
  security::SystemRng rng_;
  engine::SlewedClock clock_;
  std::unique_ptr<engine::Engine> engine_;
  Worker worker_;
  Secret admin_token_ = security::make_token("admin");
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<http::Server> server_;
  std::vector<http::IoThread*> io_threads_;
  std::vector<std::unique_ptr<delivery::Dispatcher>> dispatchers_;
  Welcome welcome_;
};

Result<void> Daemon::start() {
  if (auto done = open_store(); !done) return done;
  if (auto done = open_keys(); !done) return done;
  if (options_.otlp_endpoint.empty()) {
    spans_ = observe::make_null_exporter();
  } else {
    auto exporter = observe::make_otlp_exporter(options_.otlp_endpoint);
    if (!exporter) return std::unexpected(exporter.error());
    spans_ = std::move(*exporter);
  }

  engine::EngineOptions engine_options{.limits = core_limits(options_),
                                       .inbox_max = options_.inbox_max,
                                       .cache_bytes = options_.cache_bytes};
  engine_options.run_effects = [this](std::vector<core::Effect> effects) {
    run_effects(std::move(effects));
  };
  engine_options.on_idle = [this] { store_->idle(); };
  engine_options.on_commit = [this](double seconds, std::uint64_t batches, std::uint64_t bytes) {
    metrics_.commit(seconds, batches, bytes);
  };
  engine_options.on_fatal = [this](const Error& error) {
    ready_ = false;
    failed_ = true;
    observe::log(Level::error, "store.failed", {{"error", error.message}});
    fmt::print(
        stderr,
        "hikyaku: the store failed and the server stops: {}\nNothing acknowledged is lost. Check "
        "the "
        "disk (space, errors in the kernel log) and start again: the start recovers what the log "
        "holds.\n",
        error.message);
    // A moment for the answers that say so; then out, without touching the store again.
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ::_exit(exit_store);
    }).detach();
  };
  engine_ = std::make_unique<engine::Engine>(std::move(engine_options), *store_, clock_, rng_);
  make_service();
  if (auto done = listen(); !done) return done;
  if (auto done = start_delivery(); !done) return done;
  if (auto done = start_engine(); !done) return done;
  register_metrics();
  if (auto done = write_admin_file(options_.data, {url(), admin_token_}); !done) return done;
  ready_ = true;
  observe::log(Level::info, "server.started",
               {{"url", url()}, {"data", options_.data}, {"version", version}});
  return {};
}

Result<void> Daemon::open_store() {
  store::RocksDbOptions rocks;
  rocks.path = options_.data;
  rocks.block_cache_bytes = options_.block_cache_bytes;
  rocks.write_buffer_bytes = options_.write_buffer_bytes;
  rocks.hold_unsynced = options_.storage_fault == "hold-unsynced";
  auto store = store::open_rocksdb(rocks);
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  disk_.look();
  return {};
}

Result<void> Daemon::open_keys() {
  auto key = options_.master_key.empty()
                 ? security::MasterKey::from_file(options_.data + "/master.key", true)
                 : security::MasterKey::from_hex(options_.master_key);
  if (!key) return std::unexpected(key.error());
  master_key_.emplace(std::move(*key));
  tenants_ = std::make_unique<engine::TenantDirectory>(*master_key_);
  return {};
}

void Daemon::make_service() {
  api::Options api;
  api.body_bytes_max = options_.body_bytes_max;
  api.dedup_window = options_.dedup_window;
  api.retries_default = static_cast<std::uint32_t>(options_.retries_default);
  api.retries_max = static_cast<std::uint32_t>(options_.retries_max);
  api.timeout_default = options_.timeout_default;
  api.timeout_max = options_.timeout_max;
  if (options_.delay_max.count() > 0) {
    api.delay_max = options_.delay_max;
  }
  api.refuse_publishes = [this] { return disk_.refuse(); };
  api.check_destination = [](std::string_view text) -> Result<std::string> {
    const auto parsed = delivery::parse_destination(text);
    if (!parsed) return std::unexpected(parsed.error());
    return parsed->authority_key();
  };
  api.check_header = [](std::string_view name, std::string_view value) {
    return delivery::safe_header(name, value);
  };
  api.now = [this] { return clock_.now(); };
  api.ready = [this] { return ready_.load(); };
  api.admin_token = admin_token_;
  api.backup = [this](const std::string& directory) -> Result<void> {
    if (auto done = store_->checkpoint(directory); !done) return done;
    if (options_.master_key.empty()) {
      std::error_code error;
      std::filesystem::copy_file(options_.data + "/master.key", directory + "/master.key", error);
      if (error)
        return fail(ErrorKind::unavailable,
                    "cannot copy master.key into the backup: " + error.message());
    }
    return {};
  };
  api.run_blocking = [this](std::move_only_function<void()> work) {
    worker_.post(std::move(work));
  };
  service_ = std::make_unique<api::Service>(*engine_, *tenants_, metrics_, std::move(api));
}

Result<void> Daemon::listen() {
  http::ServerOptions server;
  server.address = options_.listen.host;
  server.port = options_.listen.port;
  server.threads = options_.edge_threads;
  server.limits.body_bytes_max = options_.body_bytes_max;
  server.limits.connections_max = options_.connections_max;
  server.limits.connections_per_peer_max = options_.connections_max;
  if (!options_.tls_cert.empty()) {
    server.tls =
        std::make_unique<http::TlsFiles>(http::TlsFiles{options_.tls_cert, options_.tls_key});
  }
  server_ = http::make_server(std::move(server));
  // The port is taken first, so that a clash is told at once; requests are served when all is
  // ready.
  auto started =
      server_->start([this](http::Request&& request, http::Responder respond, http::IoThread& io) {
        if (!ready_.load(std::memory_order_acquire) && request.path() != "/healthz" &&
            request.path() != "/readyz") {
          http::Response busy{.status = 503,
                              .body = R"({"error":"the server is starting or stopping"})"};
          busy.fields.push_back({"Retry-After", "1"});
          respond(std::move(busy));
          return;
        }
        service_->handle(std::move(request), std::move(respond), io);
      });
  if (!started) return started;
  io_threads_ = server_->threads();
  return {};
}

Result<void> Daemon::start_delivery() {
  delivery::DispatcherOptions out;
  out.egress.allow_loopback = options_.allow_loopback_destinations;
  out.egress.allow_private = options_.allow_private_destinations;
  out.egress.own_ports = {server_->port()};
  out.resolver = delivery::make_resolver();
  out.extra_ca_file = options_.egress_ca_file;
  out.response_bytes_kept = options_.response_bytes_kept;
  out.in_flight_max = options_.global_parallelism;
  out.record_spans = !options_.otlp_endpoint.empty();
  for (http::IoThread* io : io_threads_) {
    auto made =
        delivery::Dispatcher::make(out, io->io_context(), *engine_, *tenants_, metrics_, *spans_);
    if (!made) return std::unexpected(made.error());
    dispatchers_.push_back(std::move(*made));
  }
  return {};
}

Result<void> Daemon::start_engine() {
  const auto stored = engine_->stored_time();
  if (!stored) return std::unexpected(stored.error());
  clock_.start_at_least(*stored);
  if (auto done = engine_->start(); !done) return done;
  auto welcome = load_tenants(options_, *master_key_, *engine_, *tenants_);
  if (!welcome) return std::unexpected(welcome.error());
  welcome_ = std::move(*welcome);
  return {};
}

/// On the sync thread: one wake-up per I/O thread, however many attempts.
void Daemon::run_effects(std::vector<core::Effect> effects) {
  std::vector<std::vector<core::StartAttempt>> by_thread(dispatchers_.size());
  const std::hash<std::string> hash;
  for (core::Effect& effect : effects) {
    if (auto* start = std::get_if<core::StartAttempt>(&effect)) {
      // One destination, one thread: its connections are kept there.
      const std::size_t at =
          dispatchers_.size() == 1 ? 0 : hash(start->message->host) % dispatchers_.size();
      by_thread[at].push_back(std::move(*start));
    } else if (auto put = tenants_->put(std::get<core::TenantChanged>(effect).tenant); !put) {
      observe::log(Level::error, "tenant.unreadable", {{"error", put.error().message}});
    }
  }
  for (std::size_t i = 0; i < by_thread.size(); ++i) {
    if (!by_thread[i].empty()) {
      io_threads_[i]->post(
          [dispatcher = dispatchers_[i].get(), attempts = std::move(by_thread[i])]() mutable {
            dispatcher->start(std::move(attempts));
          });
    }
  }
}

void Daemon::register_metrics() {
  const auto sum = [this](auto member) {
    return [this, member] {
      std::uint64_t total = 0;
      if (const auto view = engine_->durable_view()) {
        for (const auto& [tenant, counts] : view->counters()) {
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
                   if (const auto view = engine_->durable_view()) {
                     for (const auto& [tenant, counts] : view->counters()) {
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
        const auto view = engine_->durable_view();
        std::optional<core::LaneKey> at;
        Moment oldest = never;
        for (int lanes = 0; view && lanes < 256; ++lanes) {
          at = view->next_lane(at);
          if (!at) break;
          const auto first = view->lane_entries(*at, std::nullopt, 1);
          if (!first.empty()) oldest = std::min(oldest, first.front().not_before);
        }
        const Moment now = clock_.now();
        return oldest >= now ? 0.0 : std::chrono::duration<double>(now - oldest).count();
      });
  metrics_.gauge("hikyaku_attempts_in_flight", "Delivery attempts on the wire.",
                 [this] { return static_cast<double>(engine_->stats().in_flight); });
  metrics_.gauge("hikyaku_messages_in_memory", "Messages held in memory (windows and leases).",
                 [this] { return static_cast<double>(engine_->stats().in_memory); });
  metrics_.gauge("hikyaku_lanes", "Lanes with waiting messages.",
                 [this] { return static_cast<double>(engine_->stats().lanes); });
  metrics_.counter("hikyaku_batches_total", "Batches written.",
                   [this] { return static_cast<double>(engine_->stats().batches); });
  metrics_.gauge("hikyaku_connections", "Open client connections.",
                 [this] { return static_cast<double>(server_->stats().connections_open); });
  metrics_.counter("hikyaku_connections_refused_total", "Connections refused at a cap.",
                   [this] { return static_cast<double>(server_->stats().connections_refused); });
  metrics_.counter("hikyaku_requests_malformed_total", "Requests refused as malformed HTTP.",
                   [this] { return static_cast<double>(server_->stats().requests_malformed); });
  metrics_.gauge("hikyaku_store_disk_bytes", "Bytes of the store on disk.",
                 [this] { return static_cast<double>(store_->stats().disk_bytes); });
  metrics_.gauge("hikyaku_store_stalled", "1 while the store slows writes down.",
                 [this] { return store_->stats().stalled ? 1.0 : 0.0; });
  metrics_.gauge("hikyaku_disk_full", "1 while publishes are refused for lack of disk space.",
                 [this] { return disk_.full() ? 1.0 : 0.0; });
  metrics_.counter("hikyaku_spans_dropped_total", "Spans that the collector did not take in time.",
                   [this] { return static_cast<double>(spans_->dropped()); });
}

std::string Daemon::url() const {
  const bool v6 = options_.listen.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", options_.tls_cert.empty() ? "http" : "https", v6 ? "[" : "",
                     options_.listen.host, v6 ? "]" : "", server_->port());
}

void Daemon::print_welcome() const {
  // What the operator gave us is not repeated: standard output often ends in a journal.
  const auto shown = [this](const Secret& setting, const Secret& value) -> std::string {
    if (!setting.empty()) return "(as configured)";
    if (!options_.dev && !welcome_.first_start) return "(as printed at the first start)";
    return std::string(value.reveal());
  };
  const std::string token = shown(options_.token, welcome_.token.value_or(Secret{}));
  fmt::print("Hikyaku {} is listening on {}\n", version, url());
  fmt::print("  data directory       {} (durability: local)\n", options_.data);
  fmt::print("  token                {}\n", token);
  fmt::print("  current signing key  {}\n",
             shown(options_.current_signing_key, welcome_.current_key));
  fmt::print("  next signing key     {}\n", shown(options_.next_signing_key, welcome_.next_key));
  const bool made = welcome_.first_start && !options_.dev && options_.token.empty();
  if (made) {
    fmt::print("\nThe token is shown only now: keep it. The server stores a digest of it.\n");
  }
  if (options_.dev) {
    fmt::print(
        "\nDevelopment mode: these credentials are public. To try it, start a receiver in a second "
        "terminal\n\n  {} listen\n\nand publish a message to it from a third:\n",
        program_path());
  }
  fmt::print(
      "\n  curl -X POST {}/v2/publish/{} \\\n    -H 'Authorization: Bearer {}' \\\n    -d "
      "'hello'\n\n",
      url(), options_.dev ? "http://127.0.0.1:9000/hello" : "https://example.com/hello",
      options_.dev || made ? token : std::string("<token>"));
  std::fflush(stdout);
}

/// Nothing new starts, what runs may end, its outcomes are recorded, then everything closes.
void Daemon::stop() {
  const bool was_ready = ready_.exchange(false);
  if (was_ready) {
    observe::log(Level::info, "server.draining");
  }
  const auto deadline = std::chrono::steady_clock::now() + options_.drain;
  if (engine_) {
    engine_->stop_starting();
  }
  std::mutex mutex;
  std::condition_variable all_stopped;
  std::size_t running = dispatchers_.size();
  for (const auto& dispatcher : dispatchers_) {
    dispatcher->stop(deadline, [&] {
      const std::lock_guard lock(mutex);
      --running;
      all_stopped.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    all_stopped.wait(lock, [&] { return running == 0; });
  }
  if (server_) {
    server_->stop(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(
                               deadline - std::chrono::steady_clock::now()),
                           std::chrono::milliseconds(500)));
  }
  if (engine_) {
    engine_->stop();
  }
  dispatchers_.clear();
  remove_admin_file(options_.data);
  if (store_) {
    if (auto closed = store_->close(); !closed) {
      observe::log(Level::error, "store.close_failed", {{"error", closed.error().message}});
    }
  }
  if (was_ready) {
    observe::log(Level::info, "server.stopped");
  }
}

std::optional<Level> parse_level(std::string_view text) {
  if (text == "debug") return Level::debug;
  if (text == "info") return Level::info;
  if (text == "warn") return Level::warn;
  if (text == "error") return Level::error;
  if (text == "off") return Level::off;
  return std::nullopt;
}

}  // namespace

int serve(const config::Options& options) {
  harden_process();
  const sigset_t signals = block_stop_signals();
  observe::set_log_level(parse_level(options.log_level).value_or(Level::info));
  if (!options.log_file.empty() && !observe::set_log_file(options.log_file)) {
    fmt::print(stderr, "hikyaku: cannot open the log file {}\n", options.log_file);
    return exit_usage;
  }
  for (const std::string& warning : options.warnings) {
    fmt::print(stderr, "hikyaku: {}\n", warning);
  }

  Daemon daemon(options);
  if (auto started = daemon.start(); !started) {
    const int code = refuse_to_start(started.error());
    daemon.stop();
    return code;
  }
  daemon.print_welcome();
  for (;;) {
    const timespec pause{1, 0};
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    daemon.look_around();
    if (signal == SIGHUP) {
      daemon.reload();
    } else if (signal == SIGTERM || signal == SIGINT) {
      break;
    }
  }
  daemon.stop();
  return daemon.failed() ? exit_store : exit_ok;
}

}  // namespace hk::cli
