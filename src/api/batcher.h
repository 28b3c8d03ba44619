/// One I/O thread's way to the core: collects the commands of a poll round and submits them a few
/// at a time, and brings the replies back to its thread with one wake-up. Owned by the Service, one
/// per I/O thread; must outlive the engine, which hands replies to it. Thread safety: submit() on
/// its I/O thread only; deliver() from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/shedding.h"
#include "base/random.h"
#include "core/command.h"
#include "edge/http/server.h"
#include "engine/submitter.h"

namespace hk::api {

/// The label of a publish that the core did not take: there was too much to do, or it did not want
/// this one.
inline std::string_view refused_as(const Error& error) {
  const bool busy = error.kind == ErrorKind::unavailable || error.kind == ErrorKind::limit_exceeded;
  return busy ? "busy" : "by_core";
}

class Batcher final : public engine::Mailbox {
 public:
  /// While publishes would wait for longer than `overload_delay` (for the thread, and then for the
  /// engine), some of them are refused; 0: never.
  Batcher(engine::Submitter& submitter, http::IoThread& io, std::unique_ptr<Rng> rng,
          Millis overload_delay = Millis{0});

  /// `done` is called on this thread with the reply, exactly once. Nothing was done: `unavailable`
  /// if the engine's inbox had no room, `limit_exceeded` if the tenant has more than its share of
  /// what the thread can serve in time.
  void submit(core::Command command, engine::Done done);
  void deliver(std::vector<engine::Finished> finished) override;

  using Received = std::move_only_function<void(Result<core::Received>)>;
  /// Asks for messages: `done` is called on this thread with what is handed out, exactly once,
  /// unless the returned receiver is stopped before. command.receiver is chosen here.
  core::ReceiverId receive(core::Receive command, Received done);
  /// Nobody waits for it any more. What is on its way to it is given back.
  void stop_receiving(core::ReceiverId receiver);
  /// What was handed out does not reach its receiver.
  void give_back(core::TenantId tenant, const std::string& queue, const core::Received& handed);

  /// A name for who is answered later, such as a claim that waits.
  [[nodiscard]] core::ReceiverId next_receiver() {
    return core::ReceiverId{(static_cast<std::uint64_t>(io_.index()) << 48U) | ++receivers_};
  }

  [[nodiscard]] http::IoThread& io() { return io_; }
  [[nodiscard]] Rng& rng() { return *rng_; }

 private:
  void flush();
  void flush_later();
  void hand_over();
  void received(core::ReceiverId receiver, core::Reply reply);
  void give_back(core::GiveBack back);

  engine::Submitter& submitter_;
  http::IoThread& io_;
  std::unique_ptr<Rng> rng_;
  std::optional<Shedding> shedding_;  ///< none: everything is taken, and no clock is read
  std::vector<engine::Submission> batch_;
  std::vector<core::TenantId> begun_;         ///< of hand_over(), kept for its memory
  std::vector<engine::Done> shed_;            ///< to be told so when the round ends
  std::vector<core::GiveBack> refused_back_;  ///< to be offered again when the next round ends
  bool scheduled_ = false;
  struct Waiting {
    core::TenantId tenant{};
    std::string queue{};
    Received done{};  ///< empty: stopped
  };
  std::map<core::ReceiverId, Waiting> waiting_;
  std::uint64_t receivers_ = 0;
  std::size_t waited_ = 0;  ///< of the replies that are being delivered: of what may wait
};

}  // namespace hk::api
