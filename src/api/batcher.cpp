#include "api/batcher.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "core/command.h"

namespace hk::api {
namespace {

bool is_new_work(const core::Command& given) {
  const core::Command& command = core::effect_of(given);
  return command.is<core::Publish>() || command.is<core::PublishBatch>() ||
         command.is<core::PublishToTopic>() || command.is<core::Transact>() ||
         command.is<core::ReceiveInbound>();
}

/// A receive waits for messages, and a claim for its holder, not for us: how long it takes says
/// nothing.
bool may_wait(const core::Command& given) {
  const core::Command& command = core::effect_of(given);
  const auto* const claim = command.get_if<core::ClaimKey>();
  return command.is<core::Receive>() || (claim != nullptr && claim->wait > Millis{0});
}

bool is_timed(const engine::Submission& one) { return !may_wait(one.command); }

/// The core begins with these while this thread reads the rest of its poll round: at 64 connections
/// that is worth 8 % of the rate. Smaller pieces cost more wake-ups than they save.
constexpr std::size_t batch_full = 16;

}  // namespace

Batcher::Batcher(engine::Submitter& submitter, http::IoThread& io, std::unique_ptr<Rng> rng,
                 Millis overload_delay)
    : submitter_(submitter), io_(io), rng_(std::move(rng)) {
  if (overload_delay > Millis{0}) {
    shedding_.emplace(overload_delay);
    io_.post([this] {
      io_.watch_lag(
          [this](Shedding::Time now, Shedding::Duration lag) { shedding_->on_lag(now, lag); });
    });
  }
}

void Batcher::submit(core::Command command, engine::Done done) {
  if (shedding_ && is_new_work(command) && !shedding_->takes(core::tenant_of(command))) {
    shed_.push_back(std::move(done));
    flush_later();
    return;
  }
  if (shedding_ && may_wait(command)) {
    done = [this, done = std::move(done)](core::Reply reply) mutable {
      ++waited_;
      done(std::move(reply));
    };
  }
  batch_.push_back(engine::Submission{std::move(command), std::move(done), this});
  // What was refused stays until the end of the round: it is not offered again with every request.
  if (batch_.size() % batch_full == 0) {
    hand_over();
  }
  flush_later();
}

void Batcher::hand_over() {
  if (!shedding_) {
    submitter_.submit(batch_);
    return;
  }
  begun_.clear();
  for (const engine::Submission& one : batch_) {
    if (is_timed(one)) {
      begun_.push_back(core::tenant_of(one.command));
    }
  }
  submitter_.submit(batch_);
  for (const engine::Submission& left : batch_) {
    if (is_timed(left)) {
      begun_.erase(std::ranges::find(begun_, core::tenant_of(left.command)));
    }
  }
  shedding_->begun(std::chrono::steady_clock::now(), begun_);
}

void Batcher::flush_later() {
  if (!scheduled_) {
    scheduled_ = true;
    io_.defer([this] { flush(); });
  }
}

void Batcher::flush() {
  for (core::GiveBack& back : std::exchange(refused_back_, {})) {
    give_back(std::move(back));
  }
  scheduled_ = false;
  hand_over();
  std::vector<engine::Submission> refused = std::exchange(batch_, {});
  std::vector<engine::Done> shed = std::exchange(shed_, {});
  for (engine::Submission& one : refused) {
    one.done(fail(ErrorKind::unavailable,
                  "the server has no room for more requests: nothing was done, try again shortly"));
  }
  for (engine::Done& done : shed) {
    done(fail(ErrorKind::limit_exceeded,
              "you publish more at once than the server can accept in time: nothing was done, try "
              "again shortly"));
  }
}

void Batcher::deliver(std::vector<engine::Finished> finished) {
  io_.post([this, all = std::move(finished)]() mutable {
    waited_ = 0;
    for (engine::Finished& one : all) {
      one.done(std::move(one.reply));
    }
    if (shedding_) {
      shedding_->answered(std::chrono::steady_clock::now(), all.size() - waited_);
    }
    if (!refused_back_.empty()) {
      flush_later();  // there may be room now
    }
  });
}

core::ReceiverId Batcher::receive(core::Receive command, Received done) {
  const core::ReceiverId id = next_receiver();
  command.receiver = id;
  waiting_.emplace(id, Waiting{command.tenant, command.queue, std::move(done)});
  submit(std::move(command), [this, id](core::Reply reply) { received(id, std::move(reply)); });
  return id;
}

void Batcher::received(core::ReceiverId receiver, core::Reply reply) {
  auto found = waiting_.extract(receiver);
  HK_ASSERT(!found.empty());
  Waiting& waiting = found.mapped();
  if (!waiting.done) {
    if (reply) {
      give_back(waiting.tenant, waiting.queue, reply->get<core::Received>());
    }
  } else if (reply) {
    waiting.done(std::move(reply->get<core::Received>()));
  } else {
    waiting.done(std::unexpected(std::move(reply.error())));
  }
}

/// Where the core cannot be told it goes on waiting, and may hand something out.
void Batcher::stop_receiving(core::ReceiverId receiver) {
  const auto found = waiting_.find(receiver);
  if (found == waiting_.end() || !found->second.done) {
    return;
  }
  found->second.done = nullptr;
  submit(core::StopReceiving{found->second.tenant, found->second.queue, receiver},
         [](const core::Reply&) {});
}

/// Until it is taken: a message that nobody has must not be hidden for its whole lease.
void Batcher::give_back(core::GiveBack back) {
  core::GiveBack again = back;
  submit(std::move(back), [this, again = std::move(again)](const core::Reply& reply) mutable {
    if (!reply && reply.error().kind == ErrorKind::unavailable) {
      refused_back_.push_back(std::move(again));
    }
  });
}

void Batcher::give_back(core::TenantId tenant, const std::string& queue,
                        const core::Received& handed) {
  core::GiveBack back{tenant, queue, handed.receiver, {}};
  for (const core::Received::One& message : handed.messages) {
    back.receipts.push_back({message.message->id, message.receive});
  }
  if (!back.receipts.empty()) {
    give_back(std::move(back));
  }
}

}  // namespace hk::api
