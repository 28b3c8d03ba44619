#include "api/intake.h"

#include <utility>

#include "api/aws/action.h"
#include "api/aws/route.h"
#include "api/sqs/gateway.h"

namespace hk::api {

namespace {

aws::Work work_of(const http::Request& request) {
  if (!sqs::is_for_aws(request)) {
    return aws::Work::ordinary;
  }
  const aws::Checked<aws::Routed> routed = aws::route(request);
  return routed && routed->row != nullptr ? routed->row->traits.work : aws::Work::ordinary;
}

}  // namespace

bool takes(Intake intake, const http::Request& request) {
  if (intake == Intake::everything || request.path() == "/healthz" || request.path() == "/readyz") {
    return true;
  }
  switch (intake) {
    case Intake::nothing: return false;
    case Intake::everything: return true;
    case Intake::no_receives: return work_of(request) != aws::Work::receive;
    case Intake::settlements: return work_of(request) == aws::Work::settle;
  }
  std::unreachable();
}

std::string_view reason_to_refuse(Intake intake) {
  return intake == Intake::nothing
             ? "the server is starting or stopping"
             : "the server is stopping: it accepts only DeleteMessage and ChangeMessageVisibility";
}

}  // namespace hk::api
