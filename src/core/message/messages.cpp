#include "core/message/messages.h"

namespace hk::core {

void Messages::recover() { next_expiry_check_ = batch_.now(); }

Reply Messages::execute(MessageCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Moment Messages::wake_at() const {
  return context_.starting && scheduler_.has_runnable() ? context_.progress.time()
                                                        : next_expiry_check_;
}

std::shared_ptr<const Message> Messages::find(TenantId tenant, MessageId id) {
  auto message = batch_.get<Message>(id.seq);
  if (message == nullptr || message->tenant != tenant || message->id != id) {
    return nullptr;
  }
  return message;
}

}  // namespace hk::core
