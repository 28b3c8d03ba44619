/// One request on its way: resolve, judge, connect or reuse, send, read, answer. Owned by the
/// dispatcher; one I/O thread. Its deadline covers all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/deadline_wheel.h"
#include "delivery/connection.h"
#include "delivery/connection_pool.h"
#include "delivery/dispatcher.h"
#include "delivery/outcome.h"
#include "delivery/request.h"
#include "engine/tenant_room.h"
#include "net/poll_set.h"
#include "observe/metrics.h"

namespace hk::delivery {

class Attempt;

/// What attempts share: the dispatcher's means, and the two things it does for them.
struct AttemptMeans {
  net::PollSet& sockets;
  const DispatcherOptions& options;
  const ResponseLimits response_limits;
  Resolver& resolver;
  const std::shared_ptr<engine::TenantRoom>& answer_room;
  TlsClient& tls;
  ConnectionPool& pool;
  DeadlineWheel& wheel;
  std::uint64_t connections_opened = 0;
};

class AttemptOwner {
 public:
  /// Answers later with attempt.on_resolved(), unless the attempt has ended by then.
  virtual void look_up(Attempt& attempt, const std::string& host) = 0;
  /// Calls attempt.try_read_on() until it says true, unless the attempt has ended by then.
  virtual void wait_for_seat(Attempt& attempt) = 0;
  /// The attempt is over and may be destroyed in the call.
  virtual void on_end(Attempt& attempt, Answer answer) = 0;

 protected:
  ~AttemptOwner() = default;
};

class Attempt final : public DeadlineWheel::Node, public ConnectionUser {
 public:
  using Clock = std::chrono::steady_clock;

  Attempt(AttemptMeans& means, AttemptOwner& owner, Request request);
  ~Attempt() override;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// May end the attempt before it returns.
  void begin();
  void on_resolved(const Result<Addresses>& answers);
  void on_deadline(Clock::time_point now) override;
  /// REQUIRES: it waits for a seat. False: there is none yet.
  bool try_read_on();

  [[nodiscard]] const Request& request() const { return request_; }

  std::uint64_t ticket = 0;  ///< the owner's name for it
  std::size_t slot = 0;      ///< the owner's place for it

 private:
  void set_deadline(Clock::time_point deadline);
  void go_to(Addresses answers);
  void connect();
  void send(ConnectionPtr connection);
  void end(observe::AttemptResult result, Outcome outcome, Response response,
           Clock::time_point now);
  void end_failed(observe::AttemptResult result, std::string error);
  /// Of our own trouble: nothing was sent.
  void end_not_made(observe::AttemptResult result, std::string error);

  void on_open() override;
  void on_long_answer() override;
  void on_response() override;
  void on_fault(Fault fault, std::string text) override;

  AttemptMeans& means_;
  AttemptOwner& owner_;
  Request request_;
  net::Url url_;
  Addresses addresses_;  ///< all of them judged
  std::size_t next_address_ = 0;
  ConnectionPtr connection_;          ///< opening or in use
  std::shared_ptr<const void> seat_;  ///< of its answer in the answer room; null: it needs none
  Clock::time_point began_;
  Clock::time_point last_;      ///< the attempt's own deadline
  Clock::time_point deadline_;  ///< of what it does now; not after last_
  std::chrono::milliseconds timeout_{};
  bool not_made_ = false;
};

}  // namespace hk::delivery
