#include "delivery/envelope/envelope.h"

#include "delivery/response.h"

namespace hk::delivery {

Outcome Envelope::judge(const Request& /*request*/, const Response& response) const {
  return judge_answer(response.status, response.non_retryable, response.retry_after.wish());
}

}  // namespace hk::delivery
