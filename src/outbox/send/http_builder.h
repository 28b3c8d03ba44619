/// The adapter `http`: the payload is posted as it is to the row's own destination, with the row's
/// headers and its idempotency key. I/O thread.
#pragma once

#include <string>

#include "outbox/send/request_builder.h"

namespace hk::outbox {

class HttpBuilder final : public RequestBuilder {
 public:
  /// `destination`: for rows that name none; "" = there is none. `waits`: rows to a host that
  /// cannot be reached wait for it.
  HttpBuilder(std::string destination, std::string idempotency_header, bool waits = false)
      : destination_(std::move(destination)),
        idempotency_header_(std::move(idempotency_header)),
        waits_(waits) {}

  [[nodiscard]] std::string_view name() const override { return "http"; }
  [[nodiscard]] std::string target_of(const Row& row) const override;
  [[nodiscard]] Faults faults() const override {
    return waits_ ? Faults::of_hosts : Faults::of_rows;
  }
  Built build(Row row, Moment now) override;

 private:
  const std::string destination_;
  const std::string idempotency_header_;
  const bool waits_;
};

}  // namespace hk::outbox
