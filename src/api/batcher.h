/// One I/O thread's way to the core: collects the commands of a poll round and submits them a few
/// at a time, and brings the replies back to its thread with one wake-up. Owned by the Service, one
/// per I/O thread; must outlive the engine, which hands replies to it. Thread safety: submit() on
/// its I/O thread only; deliver() from any thread.
#pragma once

#include <vector>

#include "base/random.h"
#include "edge/http/server.h"
#include "engine/submitter.h"

namespace hk::api {

class Batcher final : public engine::Mailbox {
 public:
  Batcher(engine::Submitter& submitter, http::IoThread& io, std::unique_ptr<Rng> rng);

  /// `done` is called on this thread with the reply, exactly once; `unavailable` if the engine's
  /// inbox had no room (then nothing was done).
  void submit(core::Command command, engine::Done done);
  void deliver(std::vector<engine::Finished> finished) override;

  [[nodiscard]] http::IoThread& io() { return io_; }
  [[nodiscard]] Rng& rng() { return *rng_; }

 private:
  void flush();

  engine::Submitter& submitter_;
  http::IoThread& io_;
  std::unique_ptr<Rng> rng_;
  std::vector<engine::Submission> batch_;
  bool scheduled_ = false;
};

}  // namespace hk::api
