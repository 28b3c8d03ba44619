/// What a write of the own API comes to. Its handler translates and returns one of these; it
/// neither submits nor answers. So every write can be asked again under an Idempotency-Key without
/// a line for it in the handler: once.h carries it out. Plain data; handlers make it on I/O
/// threads.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/problem.h"
#include "api/surface.h"
#include "base/error.h"
#include "core/command.h"
#include "edge/http/message.h"

namespace hk::api {

/// A refusal with a name of its own.
struct Refusal {
  Problem what{};  ///< {}: the one that belongs to the status
  int status = 400;
  std::string detail{};
  std::vector<net::Field> fields{};
};

/// An answer. An Error is told as everywhere (problem.h).
using Said = std::variant<http::Response, Refusal, Error>;

struct Planned {
  core::Command command{};
  /// What the core's success is told as. Pure, and holds nothing of the call or of Services: under
  /// a key the core calls it in the batch of the command, on its own thread.
  std::move_only_function<Said(const core::Reply&)> tell{};
  /// With the status of the answer, on the I/O thread, when it is durable; not if an earlier one is
  /// told again. For the log and for metrics.
  std::move_only_function<void(int status)> done{};
  /// Pure, as `tell`. What Keys::show (route.h) makes the answer of again; asked for a body that is
  /// too large to be stored beside every key (once.h).
  std::move_only_function<std::string(const core::Reply&)> refer{};
};

using Write = std::variant<Planned, http::Response, Refusal, Error>;

/// Planned::done, if it is about a success.
template <class Work>
auto when_done(Work work) {
  return [work = std::move(work)](int status) mutable {
    if (status < 400) {
      work();
    }
  };
}

/// In the words of the surface.
http::Response to_response(Said said, Surface surface, std::string_view request_id);

}  // namespace hk::api
