/// Stand-ins for everything around the adapters: a submitter that answers as told, one I/O thread
/// that runs when asked to, and a connection that keeps its answer.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edge/http/responder.h"
#include "edge/http/server.h"
#include "engine/submitter.h"
#include "support/memory_reader.h"

namespace hk::api::testing {

using core::testing::MemoryReader;

/// Answers each command with `answer`, at once and in one delivery per submit().
class FakeSubmitter final : public engine::Submitter {
 public:
  std::shared_ptr<MemoryReader> reader = std::make_shared<MemoryReader>();
  std::function<core::Reply(core::Command&)> answer;
  std::vector<core::Command> taken;
  std::vector<std::size_t> batches;  ///< how many came with each submit()
  std::size_t room = SIZE_MAX;
  std::vector<engine::Submission> waiting;  ///< answered with Later

  /// The first of them gets its reply.
  void answer_late(core::Received received) {
    engine::Submission first = std::move(waiting.front());
    waiting.erase(waiting.begin());
    std::vector<engine::Finished> finished;
    finished.push_back({std::move(first.done), std::move(received)});
    first.mailbox->deliver(std::move(finished));
  }
  void submit(std::vector<engine::Submission>& batch) override {
    batches.push_back(batch.size());
    const std::size_t count = std::min(room, batch.size());
    std::vector<engine::Finished> finished;
    engine::Mailbox* mailbox = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      core::Reply reply = answer(batch[i].command);
      taken.push_back(std::move(batch[i].command));
      if (reply && reply->is<core::Later>()) {
        waiting.push_back(std::move(batch[i]));
        continue;
      }
      finished.push_back({std::move(batch[i].done), std::move(reply)});
      mailbox = batch[i].mailbox;
    }
    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
    if (mailbox != nullptr) {
      mailbox->deliver(std::move(finished));
    }
  }
  /// The tenant's partition is not open.
  std::string unavailable{};
  std::shared_ptr<core::Reader> durable_view(core::TenantId /*tenant*/) override {
    if (!unavailable.empty()) {
      throw engine::PartitionUnavailable(unavailable);
    }
    return reader;
  }
  std::vector<std::shared_ptr<core::Reader>> durable_views() override {
    return {durable_view(core::TenantId{})};
  }
};

class FakeIoThread final : public http::IoThread {
 public:
  void post(std::move_only_function<void()> work) override { work_.push_back(std::move(work)); }
  void defer(std::move_only_function<void()> work) override { work_.push_back(std::move(work)); }
  /// As soon as it is asked to run: time is what the test says it is.
  void after(std::chrono::milliseconds /*delay*/, std::move_only_function<void()> work) override {
    work_.push_back(std::move(work));
  }
  void watch_lag(http::LagWatcher told) override { lag_watcher = std::move(told); }
  [[nodiscard]] std::size_t index() const override { return 0; }
  [[nodiscard]] void* io_context() override { return nullptr; }

  void run() {
    while (!work_.empty()) {
      auto next = std::move(work_.front());
      work_.erase(work_.begin());
      next();
    }
  }

  http::LagWatcher lag_watcher{};

 private:
  std::vector<std::move_only_function<void()>> work_;
};

class FakeConnection final : public http::Responder::Target {
 public:
  std::vector<std::optional<http::Response>> responses;
  void respond(std::uint64_t slot, http::Response response) override {
    responses.resize(std::max(responses.size(), static_cast<std::size_t>(slot) + 1));
    responses[slot] = std::move(response);
  }
  void watch(std::uint64_t /*slot*/, std::move_only_function<void()> /*told*/) override {}
};

}  // namespace hk::api::testing
