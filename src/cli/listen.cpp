#include "cli/listen.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "edge/http/server.h"

namespace hk::cli {

namespace {

std::string printable_body(std::string_view body) {
  std::string out;
  for (const char c : body.substr(0, 2000)) {
    const auto byte = static_cast<unsigned char>(c);
    out +=
        byte >= 0x20 || c == '\n' || c == '\t' ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return body.size() > 2000 ? out + "…" : out;
}

void print(const http::Request& request, bool json) {
  if (json) {
    boost::json::object headers;
    for (const net::Field& field : request.fields) {
      headers[field.name] = field.value;
    }
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"method", request.method},
                                                                  {"target", request.target},
                                                                  {"headers", std::move(headers)},
                                                                  {"body", request.body}}));
  } else {
    fmt::print("{} {}\n", request.method, request.target);
    for (const char* name :
         {"Upstash-Message-Id", "Upstash-Retried", "Hikyaku-Attempt", "Content-Type"}) {
      if (const auto value = request.header(name)) {
        fmt::print("  {}: {}\n", name, *value);
      }
    }
    fmt::print("  {}\n", printable_body(request.body));
  }
  std::fflush(stdout);
}

}  // namespace

int listen(const ListenArguments& arguments) {
  const sigset_t signals = block_stop_signals();
  http::ServerOptions options;
  options.address = arguments.address;
  options.port = arguments.port;
  const auto server = http::make_server(std::move(options));
  const auto started =
      server->start([&](http::Request&& request, http::Responder respond, http::IoThread&) {
        print(request, arguments.json);
        respond({.status = arguments.status, .body = arguments.body, .content_type = "text/plain"});
      });
  if (!started) {
    return refuse(started.error());
  }
  tell(fmt::format("Receiving on http://{}:{} and answering {}. Stop with Ctrl-C.",
                   arguments.address, server->port(), arguments.status));
  int signal = 0;
  sigwait(&signals, &signal);
  server->stop(std::chrono::milliseconds(500));
  return exit_ok;
}

}  // namespace hk::cli
