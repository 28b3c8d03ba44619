#include "edge/http/client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/ascii.h"
#include "edge/http/safe_header.h"
#include "edge/http/socket_bio.h"
#include "edge/http/stream.h"

namespace hk::http {

namespace {

using Time = std::chrono::steady_clock;
namespace beast_http = boost::beast::http;

constexpr std::size_t response_bytes_max = std::size_t{64} * 1024 * 1024;

/// A connected non-blocking socket, with TLS or without, and the deadline of everything done on it.
class Wire {
 public:
  explicit Wire(Time::time_point deadline) : deadline_(deadline) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() {
    ssl_.reset();
    if (socket_ >= 0) ::close(socket_);
  }

  Result<void> connect(const Url& url);
  Result<void> start_tls(const Url& url, const std::string& ca_file);
  Result<void> write_all(std::string_view bytes);
  /// 0 at the end of the stream.
  Result<std::size_t> read_some(char* data, std::size_t size);

 private:
  bool wait(short events) const;
  Result<void> connect_to(const addrinfo& address);
  /// Waits as OpenSSL asks; an error when it is not asking but failing.
  bool wait_for_tls(int result);
  std::unexpected<Error> timed_out(ErrorKind kind) const {
    return fail(kind, "no answer within the timeout");
  }

  const Time::time_point deadline_;
  int socket_ = -1;
  SslPtr ssl_{};
};

/// What the macro SSL_set_tlsext_host_name does, without its C cast.
bool set_server_name(SSL* ssl, std::string name) {
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

std::string system_message(int code) { return std::generic_category().message(code); }

bool Wire::wait(short events) const {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Time::now()).count();
    if (left <= 0) return false;
    pollfd watched{socket_, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Result<void> Wire::connect_to(const addrinfo& address) {
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return fail(ErrorKind::unavailable, system_message(errno));
  int code = ::connect(socket_, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    if (!wait(POLLOUT)) return timed_out(ErrorKind::unavailable);
    socklen_t size = sizeof code;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
  }
  if (code != 0) return fail(ErrorKind::unavailable, system_message(code));
  return {};
}

Result<void> Wire::connect(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (code != 0) {
    return fail(ErrorKind::unavailable, "cannot resolve " + url.host + ": " + ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  std::string why;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Result<void> connected = connect_to(*address);
    if (connected) return connected;
    why = connected.error().message;
  }
  return fail(ErrorKind::unavailable, "cannot connect to " + url.authority + ": " + why);
}

bool Wire::wait_for_tls(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return wait(POLLIN);
    case SSL_ERROR_WANT_WRITE: return wait(POLLOUT);
    default: return false;
  }
}

Result<void> Wire::start_tls(const Url& url, const std::string& ca_file) {
  const auto failed = [&url](const std::string& why) {
    return fail(ErrorKind::unavailable,
                "no trusted TLS connection to " + url.authority + ": " + why);
  };
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  if (!context) return failed("OpenSSL cannot set up TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const int trusted = ca_file.empty()
                          ? SSL_CTX_set_default_verify_paths(context.get())
                          : SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr);
  if (trusted != 1) {
    return fail(ErrorKind::invalid_argument, "cannot read the authorities of " + ca_file);
  }
  ssl_.reset(SSL_new(context.get()));
  if (!ssl_) return failed("OpenSSL cannot set up TLS");
  in6_addr parsed{};
  const bool is_address = ::inet_pton(AF_INET, url.host.c_str(), &parsed) == 1 ||
                          ::inet_pton(AF_INET6, url.host.c_str(), &parsed) == 1;
  const bool named =
      is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), url.host.c_str()) == 1
                 : SSL_set1_host(ssl_.get(), url.host.c_str()) == 1 &&
                       set_server_name(ssl_.get(), url.host);
  if (!named) return failed("its name cannot be checked");
  attach_socket(ssl_.get(), socket_);
  while (true) {
    const int result = SSL_connect(ssl_.get());
    if (result == 1) return {};
    if (wait_for_tls(result)) continue;
    const long verified = SSL_get_verify_result(ssl_.get());
    return failed(verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                        : "the handshake failed or timed out");
  }
}

Result<void> Wire::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    if (ssl_) {
      ERR_clear_error();
      const int result =
          SSL_write(ssl_.get(), bytes.data(),
                    static_cast<int>(std::min<std::size_t>(bytes.size(), 1U << 20U)));
      if (result > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(result));
      } else if (!wait_for_tls(result)) {
        return fail(ErrorKind::unknown_outcome, "the connection broke while sending");
      }
      continue;
    }
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait(POLLOUT)) return timed_out(ErrorKind::unknown_outcome);
    } else if (errno != EINTR) {
      return fail(ErrorKind::unknown_outcome, "sending failed: " + system_message(errno));
    }
  }
  return {};
}

Result<std::size_t> Wire::read_some(char* data, std::size_t size) {
  while (true) {
    if (ssl_) {
      ERR_clear_error();
      const int result = SSL_read(ssl_.get(), data, static_cast<int>(size));
      if (result > 0) return static_cast<std::size_t>(result);
      if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
      if (wait_for_tls(result)) continue;
      return fail(ErrorKind::unknown_outcome, "the connection broke, or no answer in time");
    }
    const ssize_t got = ::recv(socket_, data, size, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      if (!wait(POLLIN)) return timed_out(ErrorKind::unknown_outcome);
    } else if (errno != EINTR) {
      return fail(ErrorKind::unknown_outcome, "receiving failed: " + system_message(errno));
    }
  }
}

Result<std::string> serialise(const ClientRequest& request, const Url& url) {
  if (!is_token(request.method)) {
    return fail(ErrorKind::invalid_argument, "the method must be one word like GET or POST");
  }
  std::string out = request.method + " " + url.target + " HTTP/1.1\r\nHost: " + url.authority +
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

ClientResponse to_response(Parser::value_type message) {
  ClientResponse response;
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

}  // namespace

std::optional<std::string_view> ClientResponse::header(std::string_view name) const {
  for (const Field& field : fields) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

Result<ClientResponse> fetch(const ClientRequest& request) {
  const Result<Url> url = parse_url(request.url);
  if (!url) return std::unexpected(url.error());
  const Result<std::string> bytes = serialise(request, *url);
  if (!bytes) return std::unexpected(bytes.error());

  Wire wire(Time::now() + request.timeout);
  if (Result<void> ok = wire.connect(*url); !ok) return std::unexpected(ok.error());
  if (url->tls) {
    if (Result<void> ok = wire.start_tls(*url, request.ca_file); !ok) {
      return std::unexpected(ok.error());
    }
  }
  // A server that refuses early closes while the body is still going out; its answer counts.
  const Result<void> sent = wire.write_all(*bytes);
  Parser parser;
  parser.eager(true);
  parser.skip(request.method == "HEAD");
  parser.body_limit(response_bytes_max);
  if (Result<void> ok = receive(wire, parser); !ok) {
    return std::unexpected(sent ? ok.error() : sent.error());
  }
  return to_response(parser.release());
}

}  // namespace hk::http
