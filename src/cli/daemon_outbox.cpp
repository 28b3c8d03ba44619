// The outbox relay inside a server: OUTBOX_ENABLED=true and the other variables of the relay.
#include <fmt/core.h>

#include "cli/daemon.h"
#include "cli/process.h"
#include "config/values.h"
#include "outbox/load_settings.h"

namespace hk::cli {
/// Publishing into this very server needs nothing but the token, which is stored as a digest only.
Result<void> Daemon::fill_in_own_broker(outbox::Settings& settings) const {
  if (settings.adapter != outbox::Adapter::hikyaku || !settings.broker_url.empty()) {
    return {};
  }
  if (!options_.tls_cert.empty()) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_BROKER_URL is needed: this server speaks TLS and is known by the name in "
                "its certificate, such as https://hikyaku.example.com");
  }
  settings.broker_url =
      fmt::format("http://{}:{}", config::own_host(options_.listen.host), server_->port());
  if (settings.broker_token.empty()) {
    if (!welcome_.token) {
      return fail(ErrorKind::invalid_argument,
                  "OUTBOX_BROKER_TOKEN is needed: the token of the tenant that the relay publishes "
                  "for is stored only as a digest");
    }
    settings.broker_token = *welcome_.token;
  }
  return {};
}

Result<void> Daemon::start_outbox() {
  auto settings = outbox::load_settings({}, environment);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  if (!settings->enabled) {
    return {};
  }
  if (settings->database.empty()) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_ENABLED is set, and OUTBOX_DATABASE is not: give it an address such as "
                "postgres://user@host:5432/name");
  }
  if (auto filled = fill_in_own_broker(*settings); !filled) {
    return filled;
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
  auto relay = outbox::Relay::make(*settings, *relay_metrics_,
                                   options_.otlp_endpoint.empty() ? nullptr : spans_.get());
  if (!relay) {
    return std::unexpected(relay.error());
  }
  relay_ = std::move(*relay);
  relay_->start();
  return {};
}

}  // namespace hk::cli
