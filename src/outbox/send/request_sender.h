/// Sends rows as HTTP requests, whatever the adapter: an I/O thread of its own with the carrier
/// that takes them there. Rows go over to it, and outcomes come back, many at a time with one
/// wake-up.
#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "base/time.h"
#include "observe/trace.h"
#include "outbox/send/carrier.h"
#include "outbox/send/request_builder.h"
#include "outbox/sender.h"

namespace hk::outbox {

/// At most `places` rows are with the carrier at once. `timeout` is of one row, all of it. What
/// runs when the sender is destroyed is cut off: such rows have no outcome, as after a crash. A row
/// whose traceparent says that it is sampled becomes a span `broker.send`. unavailable: no
/// descriptor is left; or what the carrier cannot be made for.
Result<std::unique_ptr<Sender>> make_request_sender(std::unique_ptr<RequestBuilder> builder,
                                                    const MakeCarrier& make_carrier,
                                                    std::size_t places, Millis timeout,
                                                    observe::SpanExporter& spans);

}  // namespace hk::outbox
