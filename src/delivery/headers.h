/// What may be put on the wire on a publisher's behalf. The same functions refuse it at publish
/// time, with a text for the publisher, and check it again when the request is built. Pure; any
/// thread. Depends on base alone.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace hk::delivery {

constexpr std::size_t forwarded_fields_max = 64;
constexpr std::size_t forwarded_bytes_max = std::size_t{16} * 1024;  ///< names and values together

/// invalid_argument: the name is not a token, or it is one that only we may set (framing,
/// connection control, our own identity fields), or the value is not one that safe_value() takes.
Result<void> may_forward(std::string_view name, std::string_view value);

/// It is one that only we may set, in any case.
bool is_reserved(std::string_view name);
/// The same of what a stored message has: beside that, what a service has sent to an inbound
/// source, and what the source says of it (Hikyaku-Source and the like). No publisher can give
/// those.
Result<void> may_send(std::string_view name, std::string_view value);

/// UTF-8 without control characters (C0 but the tab, DEL, C1): cannot end a field or begin another
/// one, and every view of it is what was sent.
bool safe_value(std::string_view value);

/// invalid_argument: not one of the methods a delivery may use.
Result<void> safe_method(std::string_view method);

/// Origin form, visible ASCII, no fragment: what parse_destination() makes of any URL it accepts.
bool safe_target(std::string_view target);

/// The forwarded fields of one message: each one safe, and all of them together within bounds.
class ForwardedHeaders {
 public:
  explicit ForwardedHeaders(std::size_t fields_max = forwarded_fields_max,
                            std::size_t bytes_max = forwarded_bytes_max)
      : fields_max_(fields_max), bytes_max_(bytes_max) {}
  /// invalid_argument as may_send(); limit_exceeded: too many, or too large together.
  Result<void> add(std::string_view name, std::string_view value);

 private:
  std::size_t fields_max_;
  std::size_t bytes_max_;
  std::size_t fields_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace hk::delivery
