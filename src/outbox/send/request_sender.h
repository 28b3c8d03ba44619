/// Sends rows as HTTP requests, whatever the adapter: an I/O thread of its own that runs a
/// delivery::Dispatcher, which brings the connections, TLS, names, the egress guard and the
/// deadlines. Rows go over to it, and outcomes come back, many at a time with one wake-up.
#pragma once

#include <memory>

#include "base/error.h"
#include "base/time.h"
#include "delivery/dispatcher.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "outbox/send/request_builder.h"
#include "outbox/sender.h"

namespace hk::outbox {

/// `timeout` is of one row, all of it. What runs when the sender is destroyed is cut off: such rows
/// have no outcome, as after a crash. A row whose traceparent says that it is sampled becomes a
/// span `broker.send`. invalid_argument: the CA file cannot be used; unavailable: no descriptor is
/// left.
Result<std::unique_ptr<Sender>> make_request_sender(std::unique_ptr<RequestBuilder> builder,
                                                    delivery::DispatcherOptions options,
                                                    Millis timeout, observe::SpanExporter& spans);

}  // namespace hk::outbox
