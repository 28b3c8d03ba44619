/// Outcomes on their way to the core: collected while the ready handlers run, then submitted in one
/// call. What the engine has no room for is kept and offered again; an outcome is never dropped
/// while the process lives. One per dispatcher, on its I/O thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/command.h"
#include "engine/submitter.h"

namespace hk::delivery {

class Outbox {
 public:
  Outbox(boost::asio::io_context& io, engine::Submitter& submitter);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// `writes_more`, `held`: as in engine::Submission.
  void add(core::CompleteAttempt outcome, std::size_t writes_more,
           std::shared_ptr<const void> held);
  /// Offers what is there. Called by itself after add(), and from the dispatcher's tick when the
  /// engine was full.
  void flush();
  [[nodiscard]] std::size_t unsent() const { return batch_.size(); }

 private:
  boost::asio::io_context& io_;
  engine::Submitter& submitter_;
  std::vector<engine::Submission> batch_;
  bool posted_ = false;
  std::shared_ptr<Outbox*> self_;  ///< second owner: the posted flush, which may come after our end
};

}  // namespace hk::delivery
