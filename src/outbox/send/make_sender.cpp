#include "outbox/send/make_sender.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "delivery/destination.h"
#include "delivery/egress_guard.h"
#include "delivery/headers.h"
#include "outbox/send/hikyaku_builder.h"
#include "outbox/send/http_builder.h"
#include "outbox/send/http_carrier.h"
#include "outbox/send/request_sender.h"
#include "outbox/send/sqs_builder.h"

namespace hk::outbox {
namespace {

constexpr std::size_t idle_connections_min = 256;

using Builder = Result<std::unique_ptr<RequestBuilder>>;

std::unexpected<Error> wrong_setting(std::string_view setting, std::string_view why) {
  return fail(ErrorKind::invalid_argument, std::string(setting) + ": " + std::string(why));
}

/// The server that the operator has named: no row chooses it, so it may be anywhere.
Result<net::Url> open_to_broker(delivery::EgressPolicy& egress, const std::string& url) {
  auto parsed = delivery::parse_destination(url);
  if (parsed) {
    egress.allow_loopback = true;
    egress.allow_private = true;
    egress.extra_ports.push_back(parsed->port);
  }
  return parsed;
}

Builder make_http(const Settings& settings, delivery::EgressPolicy& egress) {
  egress.allow_loopback = settings.allow_loopback_destinations;
  egress.allow_private = settings.allow_private_destinations;
  egress.allow_http = settings.allow_http_destinations;
  egress.own_ports = settings.own_ports;
  auto hosts = delivery::AllowedHosts::parse(settings.allowed_hosts);
  if (!hosts) {
    return wrong_setting("OUTBOX_ALLOWED_HOSTS", hosts.error().message);
  }
  egress.hosts = *std::move(hosts);
  if (!settings.destination.empty()) {
    const auto url = delivery::parse_destination(settings.destination);
    if (!url) {
      return wrong_setting("OUTBOX_DESTINATION", url.error().message);
    }
    if (const auto allowed = delivery::check_literal(*url, egress); !allowed) {
      return wrong_setting(
          "OUTBOX_DESTINATION",
          allowed.error().message +
              " (OUTBOX_ALLOW_LOOPBACK_DESTINATIONS, OUTBOX_ALLOW_PRIVATE_DESTINATIONS, "
              "OUTBOX_ALLOW_HTTP_DESTINATIONS, OUTBOX_ALLOWED_HOSTS)");
    }
  }
  return std::make_unique<HttpBuilder>(settings.destination, settings.idempotency_header,
                                       settings.wait_for_hosts);
}

Builder make_hikyaku(const Settings& settings, delivery::EgressPolicy& egress) {
  std::string broker = settings.broker_url;
  while (broker.ends_with('/')) {
    broker.pop_back();
  }
  if (broker.empty()) {
    return wrong_setting(
        "OUTBOX_BROKER_URL",
        "it must name the server to publish to, such as https://hikyaku.example.com");
  }
  const auto url = open_to_broker(egress, broker);
  if (!url) {
    return wrong_setting("OUTBOX_BROKER_URL", url.error().message);
  }
  if (url->target.contains('?')) {
    return wrong_setting("OUTBOX_BROKER_URL", "it may not have a query");
  }
  return std::make_unique<HikyakuBuilder>(
      HikyakuSettings{.broker_url = std::move(broker),
                      .token = settings.broker_token,
                      .destination = settings.destination,
                      .idempotency_header = settings.idempotency_header});
}

Builder make_sqs(const Settings& settings, delivery::EgressPolicy& egress) {
  if (settings.aws_access_key_id.empty() || settings.aws_secret_access_key.empty()) {
    return wrong_setting("AWS_ACCESS_KEY_ID",
                         "it and AWS_SECRET_ACCESS_KEY are needed to sign requests");
  }
  if (settings.aws_region.empty()) {
    return wrong_setting("AWS_REGION", "it must not be empty");
  }
  if (const auto url = open_to_broker(egress, settings.sqs_queue_url); !url) {
    return wrong_setting("OUTBOX_SQS_QUEUE_URL", url.error().message);
  }
  auto made =
      SqsBuilder::make(settings.sqs_queue_url, {.access_key_id = settings.aws_access_key_id,
                                                .secret_access_key = settings.aws_secret_access_key,
                                                .session_token = settings.aws_session_token,
                                                .region = settings.aws_region,
                                                .service = "sqs"});
  if (!made) {
    return wrong_setting("OUTBOX_SQS_QUEUE_URL", made.error().message);
  }
  return *std::move(made);
}

Builder make_builder(const Settings& settings, delivery::EgressPolicy& egress) {
  switch (settings.adapter) {
    case Adapter::http: return make_http(settings, egress);
    case Adapter::hikyaku: return make_hikyaku(settings, egress);
    case Adapter::sqs: return make_sqs(settings, egress);
  }
  std::unreachable();
}

/// A row with which nothing is wrong: if it cannot be built, no row can.
Result<void> try_out(RequestBuilder& builder, const Settings& settings) {
  Row row;
  row.idempotency_key = "try-out";
  row.payload = "{}";
  row.is_json = true;
  row.destination = settings.destination.empty() ? "https://example.com/" : settings.destination;
  const Built built =
      builder.build(std::move(row), std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  if (!built) {
    return fail(ErrorKind::invalid_argument,
                "with these settings no row can be sent by the adapter " +
                    std::string(builder.name()) + ": " + built.error().message);
  }
  delivery::ForwardedHeaders headers;
  for (const core::Header& header : built->headers) {
    if (auto safe = headers.add(header.name, header.value); !safe) {
      return safe;
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Sender>> make_sender(const Settings& settings, observe::SpanExporter& spans,
                                            const MakeCarrier& own_server) {
  delivery::DispatcherOptions options;
  Builder builder = make_builder(settings, options.egress);
  if (!builder) {
    return std::unexpected(builder.error());
  }
  if (const auto good = try_out(**builder, settings); !good) {
    return std::unexpected(good.error());
  }
  options.extra_ca_file = settings.egress_ca_file;
  options.allow_cbc = settings.allow_cbc_ciphers;
  options.response_bytes_kept = answer_bytes_kept;
  options.response_header_bytes_kept = 0;
  options.in_flight_max = std::max<std::size_t>(settings.concurrency, 1);
  options.idle_per_destination_max = std::max(idle_connections_min, settings.concurrency);
  options.idle_max = std::max(options.idle_max, settings.concurrency);
  // A name whose first address is dead must leave time for its second one.
  options.connect_timeout = std::max(settings.broker_timeout / 2, Millis{1});
  const std::size_t places = options.in_flight_max;
  return make_request_sender(*std::move(builder),
                             own_server ? own_server : over_http(std::move(options)), places,
                             settings.broker_timeout, spans);
}

}  // namespace hk::outbox
