/// Makes requests, thousands at a time, and says how each one ended. It knows connections, names,
/// the egress guard and deadlines, and nothing of what it carries: that is in the request. One per
/// I/O thread; everything except stop() and the counters is called on that thread. Boost stays
/// behind this header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "delivery/egress_guard.h"
#include "delivery/request.h"
#include "delivery/resolver.h"

namespace hk::engine {
class TenantRoom;
}

namespace hk::delivery {

/// How many answers may be long at once. Whoever asked to be called back gets the answer whole, so
/// it is held from its first byte until the core has made it durable. The first bytes of each are
/// within the room that its attempt has; one that is longer takes a seat, or is not read on until
/// one is free: the receiver feels that as a slow reader.
constexpr std::size_t long_answers_max = 64;

struct DispatcherOptions {
  EgressPolicy egress{};
  std::shared_ptr<Resolver> resolver{};  ///< shared by all dispatchers; null: one of its own
  std::shared_ptr<engine::TenantRoom> answer_room{};  ///< likewise, of long_answers_max
  bool system_roots = true;
  std::string extra_ca_file{};  ///< PEM; "" = none
  bool allow_cbc = true;        ///< TLS without authenticated encryption, as the last choice
  std::size_t response_bytes_kept = 1000;
  std::size_t response_header_bytes_kept = std::size_t{8} * 1024;
  std::size_t response_bytes_read = std::size_t{1024} * 1024;
  std::size_t in_flight_max = 8'192;  ///< further requests wait their turn
  std::size_t idle_max = 2'048;
  std::size_t idle_per_destination_max = 512;  ///< as many as are under way to it at most
  std::chrono::milliseconds idle_age_max{60'000};
  std::chrono::milliseconds connect_timeout{10'000};  ///< to one address, TLS included
  std::chrono::milliseconds timeout_default{30'000};  ///< for a message without one
  /// A peer that acknowledges nothing for so long has vanished.
  std::chrono::milliseconds silent_max{60'000};
};

class Dispatcher {
 public:
  /// `io_context` is a boost::asio::io_context* run by one thread; it and `taker` outlive the
  /// dispatcher, which must be destroyed on that thread or after it has ended.
  /// invalid_argument: the CA file cannot be used.
  static Result<std::unique_ptr<Dispatcher>> make(DispatcherOptions options, void* io_context,
                                                  AnswerTaker& taker);
  /// Requests still running are cut off without an answer, as by a crash.
  virtual ~Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Every request is answered once. After stop() nothing is started and nothing answered: the
  /// message is sent by whoever owns it next.
  virtual void start(std::vector<Request> requests) = 0;

  /// From any thread. Takes nothing new; calls `stopped` on the I/O thread once everything that
  /// runs has been answered and handed on, or at the deadline. What still runs then is cut off
  /// without an answer: a shutdown must not use up somebody's last retry.
  virtual void stop(std::chrono::steady_clock::time_point deadline,
                    std::move_only_function<void()> stopped) = 0;

  // From any thread.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;  ///< waiting for their turn included
  [[nodiscard]] virtual std::size_t idle_connections() const = 0;
  [[nodiscard]] virtual std::uint64_t connections_opened() const = 0;

 protected:
  Dispatcher() = default;
};

}  // namespace hk::delivery
