#include "edge/http/listener.h"

#include <sys/socket.h>

#include <string>
#include <utility>

namespace hk::http {

namespace {

using boost::asio::ip::tcp;
using ReusePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr int accepts_per_round = 1024;

std::unexpected<Error> cannot_listen(const tcp::endpoint& endpoint, const Failure& failure) {
  const std::string where =
      endpoint.address().to_string() + " port " + std::to_string(endpoint.port());
  if (failure == boost::asio::error::address_in_use) {
    return fail(ErrorKind::unavailable,
                where + " is in use by another program: stop it, or choose another port");
  }
  if (failure == boost::asio::error::access_denied) {
    return fail(ErrorKind::permission_denied,
                "not allowed to listen on " + where +
                    ": ports below 1024 need the right CAP_NET_BIND_SERVICE; choose a higher port");
  }
  if (failure == boost::system::errc::address_not_available) {
    return fail(ErrorKind::invalid_argument,
                where + " is not an address of this machine: use 127.0.0.1, 0.0.0.0 or ::");
  }
  return fail(ErrorKind::unavailable, "cannot listen on " + where + ": " + failure.message());
}

}  // namespace

Result<void> check_free(boost::asio::io_context& context, const Listener::Endpoint& endpoint) {
  boost::asio::basic_socket_acceptor<tcp, boost::asio::io_context::executor_type> probe(context);
  Failure failure;
  probe.open(endpoint.protocol(), failure);
  if (!failure) probe.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) probe.bind(endpoint, failure);
  if (failure) return cannot_listen(endpoint, failure);
  return {};
}

Listener::Listener(IoLoop& loop, ServerCore& core)
    : loop_(loop), core_(core), acceptor_(loop.context()) {}

void Listener::start() {
  loop_.post([this] { accept(); });
}

Result<void> Listener::listen(const Endpoint& endpoint, bool shared) {
  constexpr int backlog = 4096;  // the kernel cuts it to net.core.somaxconn
  Failure failure;
  acceptor_.open(endpoint.protocol(), failure);
  if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure && shared) acceptor_.set_option(ReusePort(true), failure);
  if (!failure) acceptor_.bind(endpoint, failure);
  if (!failure) acceptor_.listen(backlog, failure);
  if (!failure) acceptor_.non_blocking(true, failure);
  if (!failure) return {};
  Failure ignored;
  acceptor_.close(ignored);
  return cannot_listen(endpoint, failure);
}

std::uint16_t Listener::port() const {
  Failure failure;
  const Endpoint endpoint = acceptor_.local_endpoint(failure);
  return failure ? std::uint16_t{0} : endpoint.port();
}

void Listener::accept() {
  acceptor_.async_wait(Acceptor::wait_read, [this](const Failure& failure) {
    if (failure || !acceptor_.is_open()) return;
    // One at a time would be one for each round over all sockets that are ready: with thousands of
    // them, whoever connects last would wait for seconds.
    for (int i = 0; i < accepts_per_round; ++i) {
      Socket socket(loop_.context());
      Failure none;
      acceptor_.accept(socket, peer_, none);
      if (none == boost::asio::error::would_block) break;
      if (none) {
        paused_ = true;  // out of descriptors or memory: on_tick() tries again
        return;
      }
      on_accept(std::move(socket));
    }
    accept();
  });
}

void Listener::on_tick() {
  if (!paused_ || !acceptor_.is_open()) return;
  paused_ = false;
  accept();
}

void Listener::on_accept(Socket socket) {
  Failure failure;
  socket.non_blocking(true, failure);
  if (!failure) socket.set_option(tcp::no_delay(true), failure);
  if (!failure) socket.set_option(boost::asio::socket_base::keep_alive(true), failure);
  if (failure) return;  // the peer is gone already
  Peer peer{peer_key(peer_.address()), peer_.address().to_string()};
  if (!core_.caps.acquire(peer.key)) return turn_away(socket);
  serve_connection(loop_, core_, std::move(socket), std::move(peer));
}

void Listener::turn_away(Socket& socket) {
  loop_.counters().connections_refused.add();
  if (core_.tls != nullptr) return;  // it has not spoken TLS yet: there is no way to say why
  Response response = error_response(503, "too many connections: try again later");
  response.fields.push_back({"Retry-After", "1"});
  std::string bytes;
  append_response(bytes, response, {.close = true}, loop_.common_lines());
  Failure ignored;
  socket.write_some(boost::asio::buffer(bytes), ignored);
  socket.shutdown(Socket::shutdown_send, ignored);
}

void Listener::close() {
  Failure ignored;
  acceptor_.close(ignored);
}

}  // namespace hk::http
