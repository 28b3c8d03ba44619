// The outbox relay inside a server: OUTBOX_ENABLED=true and the other variables of the relay.
#include <fmt/core.h>

#include <optional>
#include <utility>

#include "cli/daemon.h"
#include "cli/own_server.h"
#include "cli/process.h"
#include "config/values.h"
#include "outbox/settings.h"

namespace hk::cli {

/// Rows become requests to this very server. With a token they are of its tenant, without one of
/// the default tenant.
outbox::MakeCarrier Daemon::way_into_this_server(const outbox::Settings& settings) {
  std::optional<core::TenantId> tenant;
  if (settings.broker_token.empty()) {
    for (const auto& one : tenants_->all()) {
      if (one->name == default_tenant) {
        tenant = one->id;
      }
    }
  }
  return into_own_server([this, tenant, turn = std::size_t{0}](std::vector<HandIn> all) mutable {
    http::IoThread& io = *io_threads_[turn++ % io_threads_.size()];
    io.post([this, &io, tenant, all = std::move(all)]() mutable {
      for (HandIn& one : all) {
        if (one.request.body.size() > service_->body_bytes_max(one.request.target)) {
          one.respond(api::Service::refusal(one.request, 413, "the body is too large"));
          continue;
        }
        serve(std::move(one.request), std::move(one.respond), io,
              tenant ? tenants_->find(*tenant) : nullptr);
      }
    });
  });
}

Result<void> Daemon::start_outbox() {
  if (!options_.outbox_enabled) {
    return {};
  }
  auto settings = outbox::load_settings({}, environment);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  for (const std::string& warning : settings->warnings) {
    tell("hikyaku: " + warning);
  }
  if (settings->database.empty()) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_ENABLED is set, and OUTBOX_DATABASE is not: give it an address such as "
                "postgres://user@host:5432/name");
  }
  outbox::MakeCarrier own_server;
  if (settings->adapter == outbox::Adapter::hikyaku && settings->broker_url.empty()) {
    // Only a name, for the log: nothing connects to it.
    settings->broker_url = fmt::format("{}://{}:{}", options_.tls_cert.empty() ? "http" : "https",
                                       config::own_host(options_.listen.host), server_->port());
    own_server = way_into_this_server(*settings);
  }
  settings->allow_loopback_destinations |= options_.allow_loopback_destinations;
  settings->allow_private_destinations |= options_.allow_private_destinations;
  settings->allow_http_destinations &= options_.allow_http_destinations;
  settings->allow_cbc_ciphers &= options_.allow_cbc_ciphers;
  if (settings->allowed_hosts.empty()) {
    settings->allowed_hosts = options_.allowed_hosts;
  }
  settings->own_ports = {server_->port()};
  relay_metrics_.emplace(metrics_);
  auto relay =
      outbox::Relay::make(*settings, *relay_metrics_,
                          options_.otlp_endpoint.empty() ? nullptr : spans_.get(), own_server);
  if (!relay) {
    return std::unexpected(relay.error());
  }
  relay_ = std::move(*relay);
  relay_->start();
  return {};
}

}  // namespace hk::cli
