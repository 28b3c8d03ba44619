/// How errors are told where Svix is spoken: {"code", "detail"}, and of a request whose fields are
/// wrong {"detail": [{"loc", "msg", "type"}]} with all of them. Pure but for the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/webhook/commands.h"
#include "edge/http/message.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

http::Response error_response(int status, std::string_view code, std::string_view detail);
/// With the code that belongs to the status.
http::Response error_response(int status, std::string_view detail);
/// What is our own fault is logged with its details and told without them.
http::Response error_response(const Error& error, std::string_view request_id);
http::Response refused_response(const webhook::Refused& refused);

http::Response not_found();

inline constexpr std::string_view value_error = "value_error";
inline constexpr std::string_view decode_error = "value_error.jsondecode";

/// A field that is wrong.
struct FieldError {
  std::vector<std::string> loc{};  ///< "body", "channels", "[2]"
  std::string msg{};
  std::string type{value_error};
};

/// What is wrong with a request, in the order in which its fields are read.
class FieldErrors {
 public:
  void add(FieldError error) { errors_.push_back(std::move(error)); }
  [[nodiscard]] bool any() const { return !errors_.empty(); }
  [[nodiscard]] const std::vector<FieldError>& all() const { return errors_; }
  /// 422. REQUIRES: any().
  [[nodiscard]] http::Response response() const;

 private:
  std::vector<FieldError> errors_;
};

http::Response unprocessable(FieldError error);

}  // namespace hk::api::svix
