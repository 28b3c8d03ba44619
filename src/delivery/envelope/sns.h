/// The envelope of what a topic of SNS sends to a URL. The fields of SNS's own (x-amz-sns-…) and
/// its signed body are the same at every attempt: they were written when the message was published.
/// What is added here is what says which attempt this is.
#pragma once

#include <string>
#include <string_view>

#include "delivery/envelope/identity.h"

namespace hk::delivery {

class SnsEnvelope final : public Envelope {
 public:
  /// `identity` outlives it.
  explicit SnsEnvelope(Identity& identity) : identity_(identity) {}
  [[nodiscard]] std::string_view user_agent() const override {
    return "Amazon Simple Notification Service Agent";
  }
  Result<void> append_fields(std::string& out, const Addressed& addressed) override {
    auto done = identity_.append_signed(out, addressed);
    if (done) {
      Identity::append_own(out, addressed);
    }
    return done;
  }

 private:
  Identity& identity_;
};

}  // namespace hk::delivery
