/// The way of the outbox relay into the server that it runs in: its requests are handed to the API
/// as they would have come over HTTP, without a socket. They become the same commands, and the
/// answers are read by the same rules.
#pragma once

#include <functional>
#include <vector>

#include "edge/http/server.h"
#include "outbox/send/carrier.h"

namespace hk::cli {

/// Takes requests on the server's I/O thread of its choice, each to be answered there, too. Called
/// from any thread, with everything that was ready at once.
struct HandIn {
  http::Request request{};
  http::Responder respond{};
};
using TakeRequests = std::function<void(std::vector<HandIn>)>;

/// What `take` uses outlives the carriers; an answer that comes after one is gone is dropped.
outbox::MakeCarrier into_own_server(TakeRequests take);

}  // namespace hk::cli
