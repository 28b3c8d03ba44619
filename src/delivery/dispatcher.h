/// Runs attempts: takes core::StartAttempt effects, sends each as one HTTP request and reports how
/// it ended as core::CompleteAttempt. One per I/O thread; everything except stop() and the counters
/// is called on that thread. Boost stays behind this header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "core/effect.h"
#include "delivery/egress_guard.h"
#include "delivery/resolver.h"
#include "engine/submitter.h"

namespace hk::engine {
class TenantDirectory;
class TenantRoom;
}  // namespace hk::engine
namespace hk::observe {
enum class AttemptResult : std::uint8_t;
class Metrics;
class SpanExporter;
}  // namespace hk::observe

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
  std::string user_agent{"Upstash-QStash"};
  bool system_roots = true;
  std::string extra_ca_file{};  ///< PEM; "" = none
  bool allow_cbc = true;        ///< TLS without authenticated encryption, as the last choice
  std::size_t response_bytes_kept = 1000;
  std::size_t response_header_bytes_kept = std::size_t{8} * 1024;
  std::size_t response_bytes_read = std::size_t{1024} * 1024;
  std::size_t in_flight_max = 8'192;  ///< further attempts wait their turn
  std::size_t idle_max = 2'048;
  std::size_t idle_per_destination_max = 512;  ///< as many as are under way to it at most
  std::chrono::milliseconds idle_age_max{60'000};
  std::chrono::milliseconds connect_timeout{10'000};  ///< to one address, TLS included
  std::chrono::milliseconds timeout_default{30'000};  ///< for a message without one
  /// A peer that acknowledges nothing for so long has vanished.
  std::chrono::milliseconds silent_max{60'000};
  bool record_spans = true;  ///< false: no exporter is set, so do not build them
};

/// The current signing key of a tenant; null when the tenant is unknown. Called on the I/O thread.
using SigningKeys = std::function<std::shared_ptr<const Secret>(core::TenantId)>;

/// Takes the end of an attempt, on the I/O thread. May not start or stop anything in the call.
using TakeEnd =
    std::function<void(const core::StartAttempt&, observe::AttemptResult, core::CompleteAttempt)>;

class Dispatcher {
 public:
  /// `io_context` is a boost::asio::io_context* run by one thread; it, and every reference,
  /// outlives the dispatcher, which must be destroyed on that thread or after it has ended.
  /// invalid_argument: the CA file cannot be used.
  static Result<std::unique_ptr<Dispatcher>> make(DispatcherOptions options, void* io_context,
                                                  engine::Submitter& submitter,
                                                  const engine::TenantDirectory& tenants,
                                                  observe::Metrics& metrics,
                                                  observe::SpanExporter& spans);
  static Result<std::unique_ptr<Dispatcher>> make(DispatcherOptions options, void* io_context,
                                                  engine::Submitter& submitter, SigningKeys keys,
                                                  observe::Metrics& metrics,
                                                  observe::SpanExporter& spans);
  /// For whoever sends without an engine: requests carry the message's own fields and nothing of
  /// ours (RequestOptions::identity), and what counts, traces or logs them is up to `take_end`.
  static Result<std::unique_ptr<Dispatcher>> make_plain(DispatcherOptions options, void* io_context,
                                                        TakeEnd take_end);
  /// Attempts still running are cut off without a report, as by a crash: their leases run out.
  virtual ~Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Every attempt is reported once. After stop() nothing is started and nothing reported: the
  /// message is sent by whoever owns it next.
  virtual void start(std::vector<core::StartAttempt> attempts) = 0;

  /// From any thread. Takes nothing new; calls `stopped` on the I/O thread once everything that
  /// runs has been reported and taken by the engine, or at the deadline. What still runs then is
  /// cut off without a report: a shutdown must not use up somebody's last retry.
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
