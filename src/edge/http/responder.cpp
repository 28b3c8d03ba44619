#include "edge/http/responder.h"

#include <utility>

#include "base/assert.h"
#include "edge/http/response_writer.h"

namespace hk::http {

namespace {

Response unanswered() {
  Response response = error_response(500, "the request was dropped without an answer");
  response.close = false;  // the framing is intact
  return response;
}

}  // namespace

Responder::Responder(std::shared_ptr<Target> target, std::uint64_t slot)
    : target_(std::move(target)), slot_(slot) {}

Responder::Responder(Responder&& other) noexcept
    : target_(std::move(other.target_)), slot_(other.slot_) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    if (auto target = std::move(target_)) target->respond(slot_, unanswered());
    target_ = std::move(other.target_);
    slot_ = other.slot_;
  }
  return *this;
}

Responder::~Responder() {
  if (auto target = std::move(target_)) target->respond(slot_, unanswered());
}

void Responder::operator()(Response response) {
  HK_ASSERT(target_ != nullptr);  // answered twice
  const auto target = std::move(target_);
  target->respond(slot_, std::move(response));
}

void Responder::when_gone(std::move_only_function<void()> told) {
  HK_ASSERT(target_ != nullptr);  // answered already
  target_->watch(slot_, std::move(told));
}

void Responder::belongs_to(std::uint64_t party) {
  if (target_ != nullptr) target_->belongs_to(party);
}

}  // namespace hk::http
