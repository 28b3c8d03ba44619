/// What the adapters differ in: the request that a row becomes. Built on the sender's I/O thread,
/// one row at a time; what an answer means is the same for all of them (judge.h).
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/message.h"
#include "outbox/row.h"
#include "outbox/send/faults.h"

namespace hk::outbox {

/// A request, or how the row ends without one.
using Built = std::expected<core::Message, Outcome>;

class RequestBuilder {
 public:
  RequestBuilder() = default;
  RequestBuilder(const RequestBuilder&) = delete;
  RequestBuilder& operator=(const RequestBuilder&) = delete;
  virtual ~RequestBuilder() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// As Sender has them. The relay's thread asks, too: constant.
  [[nodiscard]] virtual std::string broker() const { return ""; }
  [[nodiscard]] virtual std::string target_of(const Row&) const { return broker(); }
  [[nodiscard]] virtual Faults faults() const { return Faults::of_rows; }

  /// Method, url, headers and body; the sender adds the timeout and the trace.
  virtual Built build(Row row, Moment now) = 0;
};

}  // namespace hk::outbox
