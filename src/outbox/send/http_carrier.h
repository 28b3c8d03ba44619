/// Requests over HTTP: a delivery::Dispatcher, which brings the connections, TLS, names, the egress
/// guard and the deadlines.
#pragma once

#include "delivery/dispatcher.h"
#include "outbox/send/carrier.h"

namespace hk::outbox {

/// Its carriers are refused with invalid_argument if the CA file cannot be used.
MakeCarrier over_http(delivery::DispatcherOptions options);

}  // namespace hk::outbox
