#include "cli/outbox.h"

#include <fmt/core.h>

#include <csignal>
#include <memory>
#include <optional>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "edge/http/server.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "outbox/database.h"
#include "outbox/relay.h"

namespace hk::cli {
namespace {

http::Response answer(int status, std::string body) {
  return {.status = status, .body = std::move(body), .content_type = "text/plain; version=0.0.4"};
}

/// /metrics for Prometheus, /health for whoever restarts processes.
Result<std::unique_ptr<http::Server>> serve_metrics(const config::HostPort& address,
                                                    observe::Metrics& metrics,
                                                    const outbox::RelayMetrics& relay) {
  http::ServerOptions options;
  options.address = address.host;
  options.port = address.port;
  options.limits.body_bytes_max = 1024;
  auto server = http::make_server(std::move(options));
  auto started =
      server->start([&](http::Request&& request, http::Responder respond, http::IoThread&) {
        if (request.target == "/metrics") {
          respond(answer(200, metrics.render()));
        } else if (request.target == "/health") {
          // A restart would not bring the broker back.
          respond(answer(200, relay.brokers_away() == 0
                                  ? "ok\n"
                                  : "ok\nthe broker is unavailable: rows wait for it\n"));
        } else {
          respond(answer(404, "not found; there are /metrics and /health\n"));
        }
      });
  if (!started) {
    return std::unexpected(started.error());
  }
  return server;
}

/// A database that is away is waited for; one that is there and has no such tables is said so at
/// once.
Result<void> check_tables(const outbox::Settings& settings) {
  auto database = outbox::Database::connect(settings.database, "hikyaku outbox", Millis{5'000});
  if (!database) {
    return database.error().error.kind == ErrorKind::unavailable
               ? Result<void>{}
               : std::unexpected(database.error().error);
  }
  const auto shape = outbox::check_schema(*database, settings.table);
  if (!shape && shape.error().error.kind != ErrorKind::unavailable) {
    return std::unexpected(shape.error().error);
  }
  return {};
}

}  // namespace

int outbox_run(const outbox::Settings& settings) {
  harden_process();
  const sigset_t signals = block_stop_signals();
  observe::set_log_level(observe::parse_level(settings.log_level).value_or(observe::Level::info));
  if (auto checked = check_tables(settings); !checked) {
    return refuse(checked.error());
  }
  observe::Metrics metrics;
  outbox::RelayMetrics relay_metrics(metrics);
  std::unique_ptr<observe::SpanExporter> spans;
  if (!settings.otlp_endpoint.empty()) {
    auto exporter = observe::make_otlp_exporter(settings.otlp_endpoint);
    if (!exporter) {
      return refuse(exporter.error());
    }
    spans = std::move(*exporter);
  }
  std::unique_ptr<http::Server> server;
  if (settings.metrics_listen) {
    auto made = serve_metrics(*settings.metrics_listen, metrics, relay_metrics);
    if (!made) {
      return refuse(made.error());
    }
    server = std::move(*made);
  }
  outbox::Settings own = settings;
  if (server) {
    own.own_ports = {server->port()};
  }
  auto relay = outbox::Relay::make(own, relay_metrics, spans.get());
  if (!relay) {
    return refuse(relay.error());
  }
  (*relay)->start();
  int signal = 0;
  do {
    sigwait(&signals, &signal);
  } while (signal != SIGTERM && signal != SIGINT);
  (*relay)->stop(settings.drain);
  if (server) {
    server->stop(Millis{1'000});
  }
  return exit_ok;
}

}  // namespace hk::cli
