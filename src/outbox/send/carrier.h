/// What takes the request of a row to its broker and brings the answer back: over HTTP, or straight
/// into the server that the relay runs in. On the sender's I/O thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "delivery/request.h"

namespace hk::outbox {

/// How much of an answer the ledger keeps.
inline constexpr std::size_t answer_bytes_kept = std::size_t{8} * 1024;

class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  /// Each one is answered once, within its timeout.
  virtual void start(std::vector<delivery::Request> requests) = 0;
};

/// Makes the carrier of one sender. `io_context`: the boost::asio::io_context* that its thread
/// runs; `taker` is told how requests ended, on that thread. Both outlive the carrier, which is
/// destroyed after the thread has ended.
using MakeCarrier =
    std::function<Result<std::unique_ptr<Carrier>>(void* io_context, delivery::AnswerTaker& taker)>;

}  // namespace hk::outbox
