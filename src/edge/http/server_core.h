/// What all threads of a server share.
#pragma once

#include <algorithm>
#include <memory>

#include "edge/http/body_budget.h"
#include "edge/http/connection_caps.h"
#include "edge/http/server.h"
#include "edge/http/tls.h"

namespace hk::http {

struct ServerCore {
  explicit ServerCore(ServerLimits bounds)
      : limits(bounds),
        caps(bounds.connections_max, bounds.connections_per_peer_max),
        bodies(std::max(bounds.request_bytes_max, bounds.body_bytes_max)) {}

  const ServerLimits limits;
  ConnectionCaps caps;
  BodyBudget bodies;
  RefusalWriter write_refusal{};     ///< may be empty; constant once the threads run
  Handler handler{};                 ///< constant once the threads run
  std::unique_ptr<TlsKeeper> tls{};  ///< null: plain HTTP; constant once the threads run
};

}  // namespace hk::http
