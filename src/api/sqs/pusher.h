/// Queues that push: what comes into a queue with a push URL is posted there. To the queue the
/// server is then a receiver like any other, so that receive counts, dead letters, order and halts
/// are those of every receiver, and a crash is one more lease that runs out. Main makes one after
/// the engine has started. Everything is called on the I/O thread of its batcher.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/batcher.h"
#include "api/options.h"
#include "core/command.h"
#include "core/effect.h"

namespace hk::api::sqs {

class Pusher {
 public:
  /// Sends them, as deliveries are sent. Each ends with attempt_ended().
  using Start = std::function<void(std::vector<core::StartAttempt>)>;

  /// The references outlive it; `options` is the service's.
  Pusher(engine::Submitter& submitter, const Options& options, Batcher& batcher, Start start);
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  /// Begins with all queues that have a push URL.
  void begin();
  /// It was made or changed, and that is durable.
  void queue_changed(core::TenantId tenant, const std::string& name);
  void attempt_ended(const core::CompleteAttempt& report);
  /// Every second or so: what the engine had no room for is tried again.
  void tick();
  /// Receives nothing more. What is on the wire may still end.
  void stop();

 private:
  using Key = std::pair<core::TenantId, std::string>;
  struct Subscription {
    std::string url{};  ///< "" = it pushes no longer; some of it may still be on the wire
    std::string host{};
    std::uint32_t parallelism = 1;
    bool fifo = false;
    Millis timeout{};
    std::uint32_t in_flight = 0;  ///< handed out and not settled
    std::optional<core::ReceiverId> receiver{};
  };
  struct Settlement {
    Key queue{};
    core::Receipt receipt{};
    std::optional<Millis> again_after{};  ///< nullopt: it is done
  };

  void use(const core::Queue& queue);
  void close(const Key& key);
  void fill(const Key& key, Subscription& subscription);
  void on_handed_out(const Key& key, Result<core::HandOut> handed);
  core::StartAttempt attempt_of(const Subscription& subscription,
                                const core::HandOut::One& one) const;
  void settle(Settlement settlement);
  void settled(const Key& key);

  engine::Submitter& submitter_;
  const Options& options_;
  Batcher& batcher_;
  const Start start_;
  bool stopping_ = false;
  std::map<Key, Subscription> queues_;
  std::map<std::pair<core::Seq, std::uint32_t>, Key> on_the_wire_;  ///< by message and receive
  std::vector<Settlement> unsent_;  ///< bounded by the parallelism of the queues
};

}  // namespace hk::api::sqs
