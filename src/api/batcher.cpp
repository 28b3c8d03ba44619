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
  // What was refused stays until the end of the round: it is not offered again with every request.
  if (batch_.size() % batch_full == 0) {
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

core::ReceiverId Batcher::receive(core::Receive command, Received done) {
  const core::ReceiverId id{(static_cast<std::uint64_t>(io_.index()) << 48U) | ++receivers_};
  command.receiver = id;
  waiting_.emplace(id, Waiting{command.tenant, command.queue, std::move(done)});
  submit(std::move(command), [this, id](const core::Reply& reply) {
    if (reply) {
      return;  // what it gets comes by hand_out()
    }
    auto refused = waiting_.extract(id);
    if (!refused.empty() && refused.mapped().done) {
      refused.mapped().done(std::unexpected(reply.error()));
    }
  });
  return id;
}

void Batcher::stop_receiving(core::ReceiverId receiver) {
  const auto found = waiting_.find(receiver);
  if (found == waiting_.end() || !found->second.done) {
    return;
  }
  found->second.done = nullptr;
  submit(core::StopReceiving{found->second.tenant, found->second.queue, receiver},
         [this, receiver](const core::Reply&) { waiting_.erase(receiver); });
}

void Batcher::hand_out(std::vector<core::HandOut> all) {
  for (core::HandOut& one : all) {
    auto found = waiting_.extract(one.receiver);
    if (found.empty()) {
      continue;
    }
    Waiting& waiting = found.mapped();
    if (waiting.done) {
      waiting.done(std::move(one));
      continue;
    }
    core::GiveBack back{waiting.tenant, waiting.queue, {}};
    for (const core::HandOut::One& message : one.messages) {
      back.receipts.push_back({message.message->id, message.receive});
    }
    if (!back.receipts.empty()) {
      submit(std::move(back), [](const core::Reply&) {});
    }
  }
}

}  // namespace hk::api
