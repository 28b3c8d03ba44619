#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

Reply Webhooks::execute(WebhookCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

void Webhooks::flush() {
  write_counts();
  fresh_tokens_.clear();
  fresh_integrations_.clear();
  // Between two batches: what this one has changed is in memory alone until its reader comes.
  if (known_bytes_ > limits_.webhook_memory_bytes) {
    known_.clear();
    refs_.clear();
    known_bytes_ = 0;
  }
}

}  // namespace hk::core::webhook
