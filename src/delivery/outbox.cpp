#include "delivery/outbox.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace hk::delivery {

Outbox::Outbox(boost::asio::io_context& io, engine::Submitter& submitter)
    : io_(io), submitter_(submitter), self_(std::make_shared<Outbox*>(this)) {}

Outbox::~Outbox() { *self_ = nullptr; }

void Outbox::add(core::CompleteAttempt outcome, std::size_t writes_more,
                 std::shared_ptr<const void> held) {
  batch_.push_back(engine::Submission{
      .command = std::move(outcome), .writes_more = writes_more, .held = std::move(held)});
  if (posted_) {
    return;
  }
  posted_ = true;
  boost::asio::post(io_, [self = self_] {
    if (*self != nullptr) {
      (*self)->posted_ = false;
      (*self)->flush();
    }
  });
}

void Outbox::flush() {
  if (!batch_.empty()) {
    submitter_.submit(batch_);
  }
}

}  // namespace hk::delivery
