#include "edge/http/stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <limits>

#include "net/tls.h"

namespace hk::http {

namespace {

int bounded(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

TlsStream::TlsStream(net::PollSet& sockets, Socket socket, net::SslPtr ssl)
    : sockets_(sockets), socket_(sockets, std::move(socket)), ssl_(std::move(ssl)) {
  net::attach_socket(ssl_.get(), socket_.descriptor());
}

TlsStream::Outcome TlsStream::outcome_of(int result) {
  if (result > 0) return {Want::nothing, {}, static_cast<std::size_t>(result)};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return {Want::read, {}, 0};
    case SSL_ERROR_WANT_WRITE: return {Want::write, {}, 0};
    case SSL_ERROR_ZERO_RETURN: return {Want::nothing, boost::asio::error::eof, 0};
    default: return {Want::nothing, boost::asio::error::connection_reset, 0};
  }
}

TlsStream::Outcome TlsStream::handshake() {
  ERR_clear_error();
  return outcome_of(SSL_do_handshake(ssl_.get()));
}

TlsStream::Outcome TlsStream::read(char* data, std::size_t size) {
  ERR_clear_error();
  return outcome_of(SSL_read(ssl_.get(), data, bounded(size)));
}

std::size_t TlsStream::write_some(const char* data, std::size_t size, Failure& failure) {
  ERR_clear_error();
  const Outcome outcome = outcome_of(SSL_write(ssl_.get(), data, bounded(size)));
  switch (outcome.want) {
    case Want::nothing: failure = outcome.failure; break;
    case Want::write: failure = boost::asio::error::would_block; break;
    // Without renegotiation a write never waits for the peer to speak first.
    case Want::read: failure = boost::asio::error::connection_reset; break;
  }
  return outcome.bytes;
}

void TlsStream::shutdown_send() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  socket_.shutdown_send();
}

}  // namespace hk::http
