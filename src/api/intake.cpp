#include "api/intake.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "api/aws/route.h"
#include "api/sqs/gateway.h"

namespace hk::api {

namespace {

/// Hands messages out.
constexpr std::string_view receive = "ReceiveMessage";
/// Settle what was handed out. Deliveries need none: their outcomes come from inside.
constexpr std::array<std::string_view, 4> settlements = {
    "DeleteMessage",
    "DeleteMessageBatch",
    "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch",
};

/// The action of SQS that it asks for; "": none.
std::string action_of(const http::Request& request) {
  if (!sqs::is_for_aws(request)) {
    return {};
  }
  aws::Checked<aws::Routed> routed = aws::route(request);
  return routed && !aws::is_sns(routed->dialect) ? std::move(routed->action) : std::string();
}

}  // namespace

bool takes(Intake intake, const http::Request& request) {
  if (intake == Intake::everything || request.path() == "/healthz" || request.path() == "/readyz") {
    return true;
  }
  switch (intake) {
    case Intake::nothing: return false;
    case Intake::everything: return true;
    case Intake::no_receives: return action_of(request) != receive;
    case Intake::settlements:
      return std::ranges::find(settlements, action_of(request)) != settlements.end();
  }
  std::unreachable();
}

std::string_view reason_to_refuse(Intake intake) {
  return intake == Intake::nothing
             ? "the server is starting or stopping"
             : "the server is stopping: it takes only deletes and changes of visibility";
}

}  // namespace hk::api
