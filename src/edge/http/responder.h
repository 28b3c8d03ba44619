/// What a Responder talks to: a connection that waits for the answer of one of its slots.
#pragma once

#include <cstdint>
#include <functional>

#include "edge/http/server.h"

namespace hk::http {

class Responder::Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;
  /// Once per slot. Does nothing when the connection has ended meanwhile.
  virtual void respond(std::uint64_t slot, Response response) = 0;
  /// See Responder::when_gone.
  virtual void watch(std::uint64_t slot, std::move_only_function<void()> told) = 0;
  /// See Responder::belongs_to.
  virtual void belongs_to(std::uint64_t /*party*/) {}
};

}  // namespace hk::http
