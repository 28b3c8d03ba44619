/// The adapter `sqs`: SendMessage in the JSON protocol to one queue, of AWS or of a Hikyaku. Into a
/// FIFO queue the idempotency key is the deduplication id; the row's own destination has no say.
/// I/O thread.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "outbox/send/request_builder.h"
#include "outbox/send/sign_v4.h"

namespace hk::outbox {

class SqsBuilder final : public RequestBuilder {
 public:
  /// invalid_argument: not the URL of a queue.
  static Result<std::unique_ptr<SqsBuilder>> make(std::string queue_url,
                                                  AwsCredentials credentials);

  [[nodiscard]] std::string_view name() const override { return "sqs"; }
  [[nodiscard]] std::string broker() const override { return queue_url_; }
  [[nodiscard]] Faults faults() const override { return Faults::of_queue; }
  Built build(Row row, Moment now) override;

 private:
  SqsBuilder(std::string queue_url, std::string endpoint, std::string host,
             AwsCredentials credentials);
  [[nodiscard]] std::string make_body(const Row& row) const;

  const std::string queue_url_;
  const std::string endpoint_;  ///< the queue's server, path "/"
  const std::string host_;      ///< as the Host field
  const bool fifo_;
  V4Signer signer_;
};

}  // namespace hk::outbox
