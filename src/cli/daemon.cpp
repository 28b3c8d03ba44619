#include "cli/daemon.h"

#include <fmt/core.h>
#include <unistd.h>
#include <algorithm>

#include <chrono>
#include <future>
#include <thread>

#include "api/sns/signing_key.h"
#include "cli/admin_file.h"
#include "cli/edge_threads.h"
#include "cli/exit_code.h"
#include "cli/master_key.h"
#include "cli/process.h"
#include "cli/version.h"
#include "delivery/destination.h"
#include "delivery/headers.h"
#include "observe/log.h"
#include "store/crash_point.h"

namespace hk::cli {

namespace {

using observe::Level;

/// A burst of 0 is the rate.
core::CallLimit rate_of(std::uint64_t rate, std::uint64_t burst) {
  return {.rate = rate, .burst = burst != 0 ? burst : rate};
}

core::Limits core_limits(const config::Options& options) {
  core::Limits limits;
  limits.global_parallelism = static_cast<std::uint32_t>(options.global_parallelism);
  limits.tenant_parallelism = static_cast<std::uint32_t>(options.tenant_parallelism);
  limits.destination_parallelism = static_cast<std::uint32_t>(options.destination_parallelism);
  limits.retention_finished = options.retention_finished;
  limits.retention_dlq = options.retention_dlq;
  limits.retention_webhooks = options.retention_webhooks;
  limits.response_bytes_kept = options.response_bytes_kept;
  limits.callback_bytes_max = options.body_bytes_max;
  return limits;
}

}  // namespace

Daemon::Daemon(const config::Options& options)
    : options_(options), disk_(options.data, options.min_free_disk) {}

Daemon::~Daemon() = default;

Result<void> Daemon::start() {
  auto egress = make_egress();
  if (!egress) return std::unexpected(egress.error());
  egress_ = *std::move(egress);
  if (auto done = at_disk(open_store()); !done) return done;
  if (auto done = at_disk(open_keys()); !done) return done;
  if (auto done = at_disk(look_at_tenants()); !done) return done;
  if (options_.otlp_endpoint.empty()) {
    spans_ = observe::make_null_exporter();
  } else {
    auto exporter = observe::make_otlp_exporter(options_.otlp_endpoint);
    if (!exporter) return std::unexpected(exporter.error());
    spans_ = std::move(*exporter);
  }

  engine::EngineOptions engine_options{.limits = core_limits(options_),
                                       .inbox_max = options_.inbox_max,
                                       .inbox_bytes_max = options_.inbox_bytes,
                                       .cache_bytes = options_.cache_bytes};
  engine_options.run_effects = [this](std::vector<core::Effect> effects) {
    run_effects(std::move(effects));
  };
  engine_options.push_hosts = [this](const core::Queue& queue) {
    auto host = check_destination(queue.pull->push.url);
    if (!host) {
      observe::log(Level::error, "queue.push_refused",
                   {{"queue", queue.name}, {"error", host.error().message}});
    }
    return host;
  };
  engine_options.sealing = sealing();
  engine_options.on_commit = [this](double seconds, std::uint64_t batches, std::uint64_t bytes) {
    metrics_.commit(seconds, batches, bytes);
  };
  engine::EnginesOptions engines;
  engines.on_fatal = [this](core::PartitionId /*the only one*/, const Error& error) {
    intake_ = api::Intake::nothing;
    const bool damaged = error.kind == ErrorKind::corruption;
    failed_with_ = damaged ? exit_corruption : exit_store;
    observe::log(Level::error, "store.failed", {{"error", error.message}});
    tell("hikyaku: the store failed and the server stops: " + error.message + "\n" +
         (damaged ? "The data is not what was written: keep a copy of the directory, check the "
                    "disk, and restore the last backup."
                  : "Nothing acknowledged is lost. Check the disk (space, errors in the kernel "
                    "log) and start again: the start recovers what the log holds."));
    // A moment for the answers that say so; then out, without touching the store again.
    std::thread([code = failed_with_.load()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ::_exit(code);
    }).detach();
  };
  engine_options.on_outcomes = [this](const engine::Outcomes& outcomes) {
    for (const Millis after : outcomes.delivered_after) {
      metrics_.delivered(std::chrono::duration<double>(after).count());
    }
    for (std::uint64_t i = 0; i < outcomes.retried; ++i) metrics_.retried();
    for (std::uint64_t i = 0; i < outcomes.dead_lettered; ++i) metrics_.dead_lettered();
    called_back_ += outcomes.called_back;
    schedules_run_ += outcomes.schedules_run;
    schedule_run_errors_ += outcomes.schedule_run_errors;
  };
  engines.engine = std::move(engine_options);
  engines_ = std::make_unique<engine::Engines>(std::move(engines));
  make_service();
  if (auto done = listen(); !done) return done;
  if (auto done = start_delivery(); !done) return done;
  if (auto done = at_disk(start_engine()); !done) return done;
  register_metrics();
  wrote_admin_file_ = true;  // or a part of it, or it removed the one of a server that was killed
  if (auto done = at_disk(write_admin_file(options_.data, {url(), admin_token_})); !done)
    return done;
  intake_ = api::Intake::everything;
  if (auto done = start_outbox(); !done) return done;
  observe::log(Level::info, "server.started",
               {{"url", url()}, {"data", options_.data}, {"version", version}});
  return {};
}

Result<void> Daemon::at_disk(Result<void> done) {
  failed_at_disk_ = !done;
  return done;
}

Result<void> Daemon::open_store() {
  if (!options_.crash_at.empty()) {
    if (auto armed = store::arm_crash(options_.crash_at); !armed) return armed;
  }
  store::RocksDbOptions rocks;
  rocks.path = options_.data;
  rocks.block_cache_bytes = options_.block_cache_bytes;
  rocks.write_buffer_bytes = options_.write_buffer_bytes;
  if (options_.accept_loss_after != 0) {
    rocks.accept_loss_after = options_.accept_loss_after;
  }
  rocks.hold_unsynced = options_.storage_fault == "hold-unsynced";
  auto store = store::open_rocksdb(rocks);
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  disk_.look();
  return {};
}

Result<void> Daemon::open_keys() {
  auto key = open_master_key({options_.data, options_.master_key}, *store_, IfMissing::make);
  if (!key) return std::unexpected(key.error());
  master_key_.emplace(std::move(*key));
  tenants_ = std::make_unique<engine::TenantDirectory>(*master_key_);
  return {};
}

Result<void> Daemon::look_at_tenants() {
  const auto tenants = stored_tenants(*store_);
  if (!tenants) return std::unexpected(tenants.error());
  return load_tenants(options_, *master_key_, *tenants, *tenants_);
}

core::Sealing Daemon::sealing() {
  return {
      .seal = [this](const Secret& plain,
                     const std::string& place) { return master_key_->seal(plain, place); },
      .open = [this](const std::string& sealed, const std::string& place) -> std::optional<Secret> {
        auto opened = master_key_->open(sealed, place);
        return opened ? std::optional(std::move(*opened)) : std::nullopt;
      }};
}

void Daemon::make_service() {
  api::Options api;
  api.body_bytes_max = options_.body_bytes_max;
  api.batch_bytes_max = options_.batch_bytes_max;
  api.answer_bytes_max = options_.answer_bytes;
  api.dedup_window = options_.dedup_window;
  api.idempotency_ttl = options_.idempotency_ttl;
  api.retries_default = static_cast<std::uint32_t>(options_.retries_default);
  api.retries_max = static_cast<std::uint32_t>(options_.retries_max);
  api.timeout_default = options_.timeout_default;
  api.timeout_max = options_.timeout_max;
  if (options_.delay_max.count() > 0) {
    api.delay_max = options_.delay_max;
  }
  api.overload_delay = options_.overload_delay;
  api.rates = {.global = rate_of(options_.rate_global, options_.rate_global_burst),
               .tenant = rate_of(options_.rate_tenant, options_.rate_tenant_burst)};
  api.load = [this] { return busiest(); };
  api.global_parallelism = static_cast<std::uint32_t>(options_.global_parallelism);
  api.in_flight = [this] { return engines_->stats().in_flight; };
  api.refuse_publishes = [this] { return disk_.refuse(); };
  api.check_destination = [this](std::string_view text) { return check_destination(text); };
  api.check_header = [](std::string_view name, std::string_view value) {
    return delivery::may_forward(name, value);
  };
  api.check_received = [](std::string_view name, std::string_view value) {
    return delivery::may_send(name, value);
  };
  api.sealing = sealing();
  api.check_zone = [this](std::string_view name) -> Result<void> {
    const auto zone = engines_->zones().load(name);
    return zone ? Result<void>{} : std::unexpected(zone.error());
  };
  api.now = [this] { return clock_.now(); };
  api.ready = [this] { return intake_.load() == api::Intake::everything; };
  api.settings_tenant = default_tenant;
  api.settings_token = options_.dev || !options_.token.empty();
  api.settings_keys =
      options_.dev || !options_.current_signing_key.empty() || !options_.next_signing_key.empty();
  api.settings_access_key = options_.aws_access_key_id;
  api.receipt_key = Secret(master_key_->token_digest("hikyaku/receipts"));
  api.sns_sealing_key = master_key_->derived_for(api::sns::sealing_place);
  api.admin_token = admin_token_;
  api.metrics_token = options_.metrics_token;
  api.allow_token_in_query = options_.allow_token_in_query;
  api.public_url = options_.public_url;
  api.portal_frame_ancestors = options_.portal_frame_ancestors;
  api.backup = [this](const std::string& directory) -> Result<void> {
    if (!options_.master_key.empty()) return store_->checkpoint(directory);
    return store_->checkpoint(directory, [this](const std::string& unfinished) {
      return master_key_->write_file(KeyPlace{unfinished}.file());
    });
  };
  api.run_blocking = [this](std::move_only_function<void()> work) {
    worker_.post(std::move(work));
  };
  service_ = std::make_unique<api::Service>(*engines_, *tenants_, metrics_, std::move(api));
}

Result<void> Daemon::listen() {
  http::ServerOptions server;
  server.address = options_.listen.host;
  server.port = options_.listen.port;
  server.threads = edge_threads(options_.edge_threads, std::thread::hardware_concurrency());
  server.limits.body_bytes_max = options_.body_bytes_max;
  server.limits.body_bytes_max_of = [this](std::string_view target) {
    return service_->body_bytes_max(target);
  };
  server.limits.request_bytes_max = std::max(options_.request_bytes, options_.batch_bytes_max);
  server.limits.connections_max = options_.connections_max;
  server.limits.connections_per_peer_max = options_.connections_max;
  if (!options_.tls_cert.empty()) {
    server.tls =
        std::make_unique<http::TlsFiles>(http::TlsFiles{options_.tls_cert, options_.tls_key});
    server.hsts_subdomains = options_.hsts_subdomains;
  }
  server.write_refusal = api::Service::refusal;
  // The port is taken first, so that a clash is told at once. Whoever connects waits in the
  // kernel's queue until all is ready: a refusal would be an answer, which clients do not repeat.
  server.accept_later = true;
  server_ = http::make_server(std::move(server));
  auto started =
      server_->start([this](http::Request&& request, http::Responder respond, http::IoThread& io) {
        serve(std::move(request), std::move(respond), io);
      });
  if (!started) return started;
  io_threads_ = server_->threads();
  egress_.own_ports = {server_->port()};  // nobody asks the policy before all is ready
  return {};
}

/// From the network; or from the relay in this process, which need not prove who it is.
void Daemon::serve(http::Request&& request, http::Responder respond, http::IoThread& io,
                   std::shared_ptr<const engine::TenantDirectory::Entry> caller) {
  if (const api::Intake intake = intake_.load(std::memory_order_acquire);
      !api::takes(intake, request)) {
    http::Response busy = api::Service::refusal(request, 503, api::reason_to_refuse(intake));
    busy.fields.push_back({"Retry-After", "1"});
    respond(std::move(busy));
    return;
  }
  service_->handle(std::move(request), std::move(respond), io, std::move(caller));
}

Result<delivery::EgressPolicy> Daemon::make_egress() const {
  delivery::EgressPolicy policy;
  auto hosts = delivery::AllowedHosts::parse(options_.allowed_hosts);
  if (!hosts) return fail(hosts.error().kind, "allowed_hosts: " + hosts.error().message);
  policy.hosts = *std::move(hosts);
  policy.allow_http = options_.allow_http_destinations;
  policy.allow_loopback =
      options_.allow_loopback_destinations || options_.allow_private_destinations;
  policy.allow_private = options_.allow_private_destinations;
  return policy;
}

Result<void> Daemon::start_delivery() {
  delivery::DispatcherOptions out;
  out.egress = egress_;
  out.resolver = delivery::make_resolver();
  out.answer_room = std::make_shared<engine::TenantRoom>(delivery::long_answers_max);
  out.extra_ca_file = options_.egress_ca_file;
  out.allow_cbc = options_.allow_cbc_ciphers;
  out.response_bytes_kept = options_.response_bytes_kept;
  out.in_flight_max = options_.global_parallelism;
  couriers_.start(io_threads_.size());
  auto made =
      delivery::Deliveries::make(out, couriers_.contexts(),
                                 {.submitter = *engines_,
                                  .keys = delivery::signing_keys_of(*tenants_),
                                  .metrics = metrics_,
                                  .spans = *spans_,
                                  .record_spans = !options_.otlp_endpoint.empty(),
                                  .webhook_secrets = delivery::webhook_secrets_of(*tenants_),
                                  .version = version});
  if (!made) return std::unexpected(made.error());
  deliveries_ = std::move(*made);
  return {};
}

/// The host of a URL that this server may send to. Any thread, once all is ready.
Result<std::string> Daemon::check_destination(std::string_view text) const {
  const auto parsed = delivery::parse_destination(text);
  if (!parsed) return std::unexpected(parsed.error());
  if (auto allowed = delivery::check_literal(*parsed, egress_); !allowed) {
    return std::unexpected(std::move(allowed.error()));
  }
  return parsed->authority_key();
}

/// Every second, on the main thread.
void Daemon::look_around() {
  disk_.look();
  service_->measure();
}

/// How full the fullest part of the way of a request is, in millionths: the inbox, the time of the
/// core thread since it was last asked, or what waits to be durable. Main thread.
std::uint64_t Daemon::busiest() {
  constexpr std::int64_t all = 1'000'000;
  constexpr std::chrono::nanoseconds unsynced_long = std::chrono::milliseconds{100};
  const auto now = std::chrono::steady_clock::now();
  const engine::EngineStats stats = engines_->stats();
  const std::chrono::nanoseconds passed = now - std::exchange(busy_asked_at_, now);
  const std::chrono::nanoseconds worked =
      stats.core_busy - std::exchange(busy_before_, stats.core_busy);
  const std::int64_t busy =
      passed.count() > 0 ? worked.count() / std::max<std::int64_t>(1, passed.count() / all) : 0;
  return static_cast<std::uint64_t>(
      std::max({static_cast<std::int64_t>(stats.inbox_fill), busy,
                stats.unsynced_age / (unsynced_long / all), std::int64_t{0}}));
}

Result<void> Daemon::start_engine() {
  if (auto done = engines_->open(core::PartitionId{}, *store_, clock_, rng_); !done) return done;
  auto welcome = settle_credentials(options_, *master_key_, *engines_, *tenants_);
  if (!welcome) return std::unexpected(welcome.error());
  welcome_ = std::move(*welcome);
  return {};
}

/// On the sync thread.
void Daemon::run_effects(std::vector<core::Effect> effects) {
  std::vector<core::StartAttempt> attempts;
  for (core::Effect& effect : effects) {
    if (auto* start = std::get_if<core::StartAttempt>(&effect)) {
      attempts.push_back(std::move(*start));
    } else {
      const auto& changed = std::get<core::TenantChanged>(effect);
      if (auto put = tenants_->put(changed.tenant, changed.partition); !put) {
        observe::log(Level::error, "tenant.unreadable", {{"error", put.error().message}});
      }
    }
  }
  if (!attempts.empty()) {
    deliveries_->start(std::move(attempts));
  }
}

/// Nothing new starts or is handed out, and waiting receives end with an empty answer.
/// What runs may end and what is out be settled, the outcomes are recorded, then everything closes.
void Daemon::stop() {
  const auto deadline = std::chrono::steady_clock::now() + options_.drain;
  auto serving = api::Intake::everything;
  const bool was_ready = intake_.compare_exchange_strong(serving, api::Intake::no_receives);
  if (was_ready) {
    observe::log(Level::info, "server.draining");
  }
  if (engines_) {
    engines_->stop_starting();
  }
  if (relay_) {  // what it publishes into this server is still taken
    relay_->stop(options_.drain);
    relay_.reset();
  }
  auto stopping = api::Intake::no_receives;  // a store that fails meanwhile takes nothing
  intake_.compare_exchange_strong(stopping, api::Intake::settlements);
  if (deliveries_) {
    std::promise<void> promise;
    const std::future<void> stopped = promise.get_future();
    deliveries_->stop(deadline, [promise = std::move(promise)]() mutable { promise.set_value(); });
    stopped.wait();
  }
  if (server_) {
    server_->stop(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(
                               deadline - std::chrono::steady_clock::now()),
                           std::chrono::milliseconds(500)));
  }
  worker_.stop([] { observe::log(Level::info, "server.waiting_for_a_backup"); });
  if (engines_) {
    engines_->stop();
  }
  couriers_.stop();
  deliveries_.reset();
  // Requests that were cut off live on in what their threads would have run next, with the views of
  // the store that they read from: it may not be closed before those end.
  server_.reset();
  service_.reset();
  if (wrote_admin_file_) {  // before the store lets go of the directory
    remove_admin_file(options_.data);
  }
  if (store_) {
    if (auto closed = store_->close(); !closed) {
      observe::log(Level::error, "store.close_failed", {{"error", closed.error().message}});
    }
  }
  if (was_ready) {
    observe::log(Level::info, "server.stopped");
  }
}

std::string Daemon::url() const {
  const bool v6 = options_.listen.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", options_.tls_cert.empty() ? "http" : "https", v6 ? "[" : "",
                     options_.listen.host, v6 ? "]" : "", server_->port());
}

}  // namespace hk::cli
