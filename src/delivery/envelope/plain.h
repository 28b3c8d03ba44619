/// No envelope: the message's own fields and nothing of ours, unsigned. For whoever sends without
/// an engine, as the outbox relay does.
#pragma once

#include <string>
#include <string_view>

#include "delivery/envelope/envelope.h"

namespace hk::delivery {

class PlainEnvelope final : public Envelope {
 public:
  explicit PlainEnvelope(std::string_view user_agent) : user_agent_(user_agent) {}
  [[nodiscard]] std::string_view user_agent() const override { return user_agent_; }
  Result<void> append_fields(std::string&, const Addressed&) override { return {}; }

 private:
  const std::string user_agent_;
};

}  // namespace hk::delivery
