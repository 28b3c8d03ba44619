/// A machine with queues that are pulled from. Messages are known by their bodies.
#pragma once

#include <string>
#include <vector>

#include "unit/core/rig.h"

namespace hk::core::testing {

using Bodies = std::vector<std::string>;

struct PullRig : Rig {
  using Rig::Rig;

  void make(const std::string& name, PullSettings settings = {}) {
    const auto made = run(CreatePullQueue{tenant_one, name, std::move(settings)}).only<QueueMade>();
    EXPECT_FALSE(made.existed);
  }

  static Publish sending(const std::string& queue, const std::string& body,
                         const std::string& group = {}) {
    Message message;
    message.tenant = tenant_one;
    message.queue = queue;
    message.group = group;
    message.body = body;
    message.pull.emplace();
    return publishing(std::move(message));
  }
  MessageId send(const std::string& queue, const std::string& body, const std::string& group = {}) {
    return run(sending(queue, body, group)).only<Published>().id;
  }

  /// One receive; what it was given stays with the rig under the bodies.
  Bodies receive(const std::string& queue, std::uint32_t max = 10,
                 std::optional<Millis> visibility = {}) {
    return take(run(asking(queue, max, visibility)));
  }
  Receive asking(const std::string& queue, std::uint32_t max = 10,
                 std::optional<Millis> visibility = {}, Millis wait = {}) {
    return {tenant_one, queue, ReceiverId{++receivers}, max, visibility, wait, {}};
  }
  Bodies take(const Ran& ran) {
    EXPECT_EQ(ran.handed_out.size(), 1U);
    Bodies bodies;
    for (const Received& handed : ran.handed_out) {
      for (const Received::One& one : handed.messages) {
        bodies.push_back(one.message->body);
        receipts[one.message->body] = {one.message->id, one.receive};
        last[one.message->body] = one;
      }
    }
    return bodies;
  }

  Result<void> remove(const std::string& queue, const std::string& body) {
    return run(DeleteReceived{tenant_one, queue, {receipts.at(body)}}).only<Settled>().items.at(0);
  }
  Result<void> hide(const std::string& queue, const std::string& body, Millis time) {
    return run(ChangeVisibility{tenant_one, queue, {{receipts.at(body), time}}})
        .only<Settled>()
        .items.at(0);
  }
  QueueCounted count(const std::string& queue) {
    return run(CountQueue{tenant_one, queue}).only<QueueCounted>();
  }

  std::uint64_t receivers = 0;
  std::map<std::string, Receipt> receipts;
  std::map<std::string, Received::One> last;
};

}  // namespace hk::core::testing
