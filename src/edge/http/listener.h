/// Accepts connections on one I/O thread, some at a time. Errors of accept(2) pause it for a tick,
/// so that a process out of descriptors does not spin; at a cap a connection is answered with 503
/// and closed.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/error.h"
#include "edge/http/connection.h"
#include "edge/http/io_loop.h"
#include "edge/http/server_core.h"

namespace hk::http {

class Listener {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;

  Listener(IoLoop& loop, ServerCore& core);

  /// Binds and listens. `shared`: other threads listen on the same port (SO_REUSEPORT).
  /// unavailable: in use; permission_denied: a port that needs a right; invalid_argument: an
  /// address that is not of this machine.
  Result<void> listen(const Endpoint& endpoint, bool shared);
  [[nodiscard]] std::uint16_t port() const;

  /// Until then connections wait in the kernel's queue. From any thread.
  void start();
  /// The rest belongs to the loop's thread.
  void on_tick();
  void close();

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp,
                                                      boost::asio::io_context::executor_type>;
  void accept();
  void on_accept(Socket socket);
  void turn_away(Socket& socket);

  IoLoop& loop_;
  ServerCore& core_;
  Acceptor acceptor_;
  Endpoint peer_{};
  bool paused_ = false;
};

/// True if somebody listens there already; SO_REUSEPORT alone would let two servers share a port
/// without noticing.
Result<void> check_free(boost::asio::io_context& context, const Listener::Endpoint& endpoint);

}  // namespace hk::http
