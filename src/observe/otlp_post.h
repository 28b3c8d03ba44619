/// One HTTP POST at a time to the trace collector, with a deadline that can be brought forward.
/// Used by the exporter on its thread; hasten() alone may be called from another one.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "observe/otlp_endpoint.h"

namespace hk::observe {

class OtlpPost {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  explicit OtlpPost(OtlpEndpoint endpoint);
  ~OtlpPost();
  OtlpPost(const OtlpPost&) = delete;
  OtlpPost& operator=(const OtlpPost&) = delete;

  /// Connects, sends, and reads the answer; unavailable unless it is a 2xx in time.
  Result<void> send(const std::string& body, std::chrono::milliseconds timeout);

  /// No send, this one or a later one, lasts beyond the deadline.
  void hasten(Deadline deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hk::observe
