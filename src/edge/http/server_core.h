/// What all threads of a server share.
#pragma once

#include <memory>

#include "edge/http/connection_caps.h"
#include "edge/http/server.h"
#include "edge/http/tls.h"

namespace hk::http {

struct ServerCore {
  explicit ServerCore(ServerLimits bounds)
      : limits(bounds), caps(bounds.connections_max, bounds.connections_per_peer_max) {}

  const ServerLimits limits;
  ConnectionCaps caps;
  Handler handler{};                 ///< constant once the threads run
  std::unique_ptr<TlsKeeper> tls{};  ///< null: plain HTTP; constant once the threads run
};

}  // namespace hk::http
