/// The envelope of QStash: of everything that was published, enqueued or scheduled.
#pragma once

#include <string>
#include <string_view>

#include "delivery/envelope/identity.h"

namespace hk::delivery {

class QstashEnvelope : public Envelope {
 public:
  /// `identity` outlives it.
  explicit QstashEnvelope(Identity& identity) : identity_(identity) {}
  [[nodiscard]] std::string_view user_agent() const override { return "Upstash-QStash"; }
  Result<void> append_fields(std::string& out, const Addressed& addressed) override;

 private:
  Identity& identity_;
};

}  // namespace hk::delivery
