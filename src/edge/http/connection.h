/// One accepted connection: reads requests, hands them to the handler, writes the responses in
/// order, keeps the deadlines. It lives on the I/O thread that accepted it and owns itself until it
/// closes.
#pragma once

#include <string>

#include "base/deadline_wheel.h"
#include "edge/http/connection_caps.h"
#include "edge/http/io_loop.h"
#include "edge/http/server_core.h"
#include "edge/http/stream.h"

namespace hk::http {

struct Peer {
  PeerKey key{};
  std::string address{};
};

/// What the loop does with every connection when the server stops.
class ConnectionBase : public DeadlineWheel::Node {
 public:
  /// Ends when what is under way is answered; at once if nothing is.
  virtual void drain() = 0;
  /// Ends now.
  virtual void abort() = 0;
};

/// Serves the socket from now on. REQUIRES: the loop's thread; a slot of core.caps is held for the
/// peer, and is given back when the connection ends.
void serve_connection(IoLoop& loop, ServerCore& core, Socket socket, Peer peer);

}  // namespace hk::http
