#include "net/client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "base/ascii.h"
#include "net/look_up.h"
#include "net/url.h"
#include "net/wire.h"

namespace hk::net {

namespace {

namespace beast_http = boost::beast::http;
using ContextPtr = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

Result<std::string> serialise(const Request& request, const Url& url) {
  if (!is_token(request.method)) {
    return fail(ErrorKind::invalid_argument, "the method must be one word like GET or POST");
  }
  std::string out = request.method + " " + url.target + " HTTP/1.1\r\nHost: " + url.host_header() +
                    "\r\nConnection: close\r\n";
  for (const Field& field : request.fields) {
    if (!safe_header(field.name, field.value)) {
      return fail(ErrorKind::invalid_argument,
                  "the header field \"" + field.name + "\" holds bytes that cannot be sent");
    }
    for (const std::string_view own :
         {"host", "connection", "content-length", "transfer-encoding"}) {
      if (equals_ignoring_case(field.name, own)) {
        return fail(ErrorKind::invalid_argument, "the client sets " + field.name + " itself");
      }
    }
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body)
    out.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  return out.append("\r\n").append(request.body);
}

using Parser = beast_http::response_parser<beast_http::string_body>;

/// Feeds the parser until the response is whole.
Result<void> receive(Wire& wire, Parser& parser) {
  std::string unused;
  std::array<char, std::size_t{16} * 1024> piece{};
  boost::beast::error_code failure;
  while (!parser.is_done()) {
    const Result<std::size_t> got = wire.read_some(piece.data(), piece.size());
    if (!got) return std::unexpected(got.error());
    if (*got == 0) {
      if (parser.got_some()) parser.put_eof(failure);
      if (failure || !parser.is_done()) {
        return fail(ErrorKind::unknown_outcome, "the server closed before its answer was whole");
      }
      return {};
    }
    unused.append(piece.data(), *got);
    while (!unused.empty() && !parser.is_done()) {
      const std::size_t used =
          parser.put(boost::asio::const_buffer(unused.data(), unused.size()), failure);
      unused.erase(0, used);
      if (failure == beast_http::error::need_more) break;
      if (failure)
        return fail(ErrorKind::unknown_outcome, "the answer is not HTTP: " + failure.message());
      if (used == 0) break;
    }
  }
  return {};
}

Response to_response(Parser::value_type message) {
  Response response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    response.fields.push_back(
        {std::string(name.data(), name.size()), std::string(value.data(), value.size())});
  }
  response.body = std::move(message.body());
  return response;
}

Result<Url> parse(const std::string& text) {
  auto url = parse_url(text);
  if (!url) {
    url.error().message = "\"" + text + "\" is not a usable URL (" + url.error().message +
                          "); one like http://127.0.0.1:8080/path is needed";
  }
  return url;
}

}  // namespace

struct Client::Impl {
  explicit Impl(std::string trusted) : ca_file(std::move(trusted)) {}

  const std::string ca_file;
  std::atomic<Deadline::Clock::time_point> latest{Deadline::Clock::time_point::max()};
  LookUp look_up;
  ContextPtr context{nullptr, SSL_CTX_free};  ///< made for the first https request

  Result<SSL_CTX*> trusted() {
    if (context) return context.get();
    ERR_clear_error();
    ContextPtr made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!made) return fail(ErrorKind::unavailable, "OpenSSL cannot set up TLS");
    SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
    const int read = ca_file.empty()
                         ? SSL_CTX_set_default_verify_paths(made.get())
                         : SSL_CTX_load_verify_locations(made.get(), ca_file.c_str(), nullptr);
    if (read != 1) {
      return fail(ErrorKind::invalid_argument, "cannot read the authorities of " + ca_file);
    }
    context = std::move(made);
    return context.get();
  }
};

Client::Client(std::string ca_file) : impl_(std::make_unique<Impl>(std::move(ca_file))) {}
Client::~Client() = default;

Result<Response> Client::send(const Request& request) {
  const Result<Url> url = parse(request.url);
  if (!url) return std::unexpected(url.error());
  const Result<std::string> bytes = serialise(request, *url);
  if (!bytes) return std::unexpected(bytes.error());

  const Deadline deadline(Deadline::Clock::now() + request.timeout, impl_->latest);
  const auto endpoints = impl_->look_up.find(*url, deadline);
  if (!endpoints) return std::unexpected(endpoints.error());
  Wire wire(deadline);
  if (Result<void> ok = wire.connect(*url, *endpoints); !ok) return std::unexpected(ok.error());
  if (url->scheme == Scheme::https) {
    const Result<SSL_CTX*> context = impl_->trusted();
    if (!context) return std::unexpected(context.error());
    if (Result<void> ok = wire.start_tls(*url, *context); !ok) return std::unexpected(ok.error());
  }
  // A server that refuses early closes while the body is still going out; its answer counts.
  const Result<void> sent = wire.write_all(*bytes);
  Parser parser;
  parser.eager(true);
  parser.skip(request.method == "HEAD");
  parser.body_limit(request.response_bytes_max);
  if (Result<void> ok = receive(wire, parser); !ok) {
    return std::unexpected(sent ? ok.error() : sent.error());
  }
  return to_response(parser.release());
}

void Client::hasten(Deadline::Clock::time_point latest) {
  impl_->latest.store(latest, std::memory_order_relaxed);
}

Result<Response> fetch(const Request& request, const std::string& ca_file) {
  return Client(ca_file).send(request);
}

}  // namespace hk::net
