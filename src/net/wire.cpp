#include "net/wire.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace hk::net {

namespace {

std::string system_message(int code) { return std::generic_category().message(code); }

std::unexpected<Error> no_answer(ErrorKind kind) {
  return fail(kind, "no answer within the timeout");
}

}  // namespace

Wire::~Wire() {
  ssl_.reset();
  if (socket_ >= 0) ::close(socket_);
}

bool Wire::wait(short events) const {
  while (!deadline_.passed()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_.next_look() -
                                                                   Deadline::Clock::now());
    pollfd watched{socket_, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

Result<void> Wire::connect_to(const Endpoint& endpoint) {
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return fail(ErrorKind::unavailable, system_message(errno));
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  int code = ::connect(socket_, address, endpoint.size) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    if (!wait(POLLOUT)) return no_answer(ErrorKind::unavailable);
    socklen_t size = sizeof code;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
  }
  if (code != 0) return fail(ErrorKind::unavailable, system_message(code));
  return {};
}

Result<void> Wire::connect(const Url& url, const std::vector<Endpoint>& endpoints) {
  std::string why;
  for (const Endpoint& endpoint : endpoints) {
    Result<void> connected = connect_to(endpoint);
    if (connected) return connected;
    why = connected.error().message;
  }
  return fail(ErrorKind::unavailable, "cannot connect to " + url.host_header() + ": " + why);
}

bool Wire::wait_for_tls(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return wait(POLLIN);
    case SSL_ERROR_WANT_WRITE: return wait(POLLOUT);
    default: return false;
  }
}

Result<void> Wire::start_tls(const Url& url, SSL_CTX* context) {
  const auto failed = [&url](const std::string& why) {
    return fail(ErrorKind::unavailable,
                "no trusted TLS connection to " + url.host_header() + ": " + why);
  };
  ERR_clear_error();
  ssl_.reset(SSL_new(context));
  if (!ssl_) return failed("OpenSSL cannot set up TLS");
  if (!expect_host(ssl_.get(), url.host, url.kind)) return failed("its name cannot be checked");
  attach_socket(ssl_.get(), socket_);
  while (true) {
    const int result = SSL_connect(ssl_.get());
    if (result == 1) return {};
    if (wait_for_tls(result)) continue;
    const std::string fault = certificate_fault(ssl_.get());
    return failed(fault.empty() ? "the handshake failed or timed out" : fault);
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
      if (!wait(POLLOUT)) return no_answer(ErrorKind::unknown_outcome);
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
      if (!wait(POLLIN)) return no_answer(ErrorKind::unknown_outcome);
    } else if (errno != EINTR) {
      return fail(ErrorKind::unknown_outcome, "receiving failed: " + system_message(errno));
    }
  }
}

}  // namespace hk::net
