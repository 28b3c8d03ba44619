#include "api/batcher.h"

#include <utility>

namespace hk::api {
namespace {

/// The core begins with these while this thread reads the rest of its poll round: at 64 connections
/// that is worth 8 % of the rate. Smaller pieces cost more wake-ups than they save.
constexpr std::size_t batch_full = 16;

}  // namespace

Batcher::Batcher(engine::Submitter& submitter, http::IoThread& io, std::unique_ptr<Rng> rng)
    : submitter_(submitter), io_(io), rng_(std::move(rng)) {}

void Batcher::submit(core::Command command, engine::Done done) {
  batch_.push_back(engine::Submission{std::move(command), std::move(done), this});
  if (batch_.size() >= batch_full) {
    submitter_.submit(batch_);
  }
  if (!scheduled_) {
    scheduled_ = true;
    io_.defer([this] { flush(); });
  }
}

void Batcher::flush() {
  scheduled_ = false;
  submitter_.submit(batch_);
  if (batch_.empty()) {
    return;
  }
  std::vector<engine::Submission> refused = std::exchange(batch_, {});
  for (engine::Submission& one : refused) {
    one.done(fail(ErrorKind::unavailable,
                  "the server has more work than it can take at the moment: nothing was done, try "
                  "again shortly"));
  }
}

void Batcher::deliver(std::vector<engine::Finished> finished) {
  io_.post([all = std::move(finished)]() mutable {
    for (engine::Finished& one : all) {
      one.done(std::move(one.reply));
    }
  });
}

}  // namespace hk::api
