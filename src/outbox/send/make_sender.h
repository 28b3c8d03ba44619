/// The adapter that the settings name, ready to send. Called by the relay when it starts.
#pragma once

#include <memory>

#include "base/error.h"
#include "outbox/send/carrier.h"
#include "outbox/sender.h"
#include "outbox/settings.h"

namespace hk::observe {
class SpanExporter;
}  // namespace hk::observe

namespace hk::outbox {

/// At most settings.concurrency rows are on the wire at once; more wait their turn, and their time
/// begins with it. `spans` outlives the sender. `own_server`: where requests go instead of over
/// HTTP, in a server that publishes into itself; it need not be given.
/// invalid_argument: a setting with which no row could be sent, named in the text: found here, so
/// that it cannot abort every row of the table. unavailable: no descriptor is left.
Result<std::unique_ptr<Sender>> make_sender(const Settings& settings, observe::SpanExporter& spans,
                                            const MakeCarrier& own_server = {});

}  // namespace hk::outbox
