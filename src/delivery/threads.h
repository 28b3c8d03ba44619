/// The threads that deliveries run on: of their own, so that attempts do not wait behind thousands
/// of clients whose requests are ready to be read. Boost stays behind this header.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hk::delivery {

class Threads {
 public:
  Threads();
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// REQUIRES: not started yet, and at least one.
  void start(std::size_t count);
  /// Ends them, whatever is queued. Idempotent.
  void stop();
  /// A boost::asio::io_context* of each.
  [[nodiscard]] std::vector<void*> contexts() const;

 private:
  class Loop;
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace hk::delivery
