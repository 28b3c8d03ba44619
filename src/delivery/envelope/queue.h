/// The envelope of queues that push: that of QStash, and what a receiver would be told of the
/// message as header fields. Those of its attributes that can be fields are.
#pragma once

#include <span>
#include <vector>

#include "delivery/envelope/qstash.h"

namespace hk::delivery {

class QueueEnvelope final : public QstashEnvelope {
 public:
  using QstashEnvelope::QstashEnvelope;
  /// REQUIRES: request.message->pull.
  [[nodiscard]] std::span<const core::Header> forwarded(const Request& request) override;

 private:
  std::vector<core::Header> fields_;  ///< reused
};

}  // namespace hk::delivery
