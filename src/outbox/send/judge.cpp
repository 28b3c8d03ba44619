#include "outbox/send/judge.h"

#include <chrono>
#include <string>
#include <utility>

#include "observe/metrics.h"
#include "outbox/send/reason.h"

namespace hk::outbox {
namespace {

/// What the ledger shows where no answer came: the words of HTTP for the same thing.
constexpr int status_blocked = 403;
constexpr int status_unreachable = 502;
constexpr int status_timeout = 504;

void judge_status(Outcome& outcome, const delivery::Answer& answer) {
  const int status = answer.status;
  outcome.http_status = status;
  outcome.message = "the receiver answered with status " + std::to_string(status);
  if (answer.give_up) {
    outcome.ending = Ending::aborted;
    outcome.reason_code = reason::broker_non_retryable;
    outcome.message += " and said that no retry can help";
    return;
  }
  outcome.reason_code = status >= 500 ? reason::broker_error : reason::broker_rejected;
  if (status >= 300 && status <= 399) {
    outcome.message += ": redirects are not followed";
  }
  if (status == 429 || status == 503) {
    outcome.retry_after = answer.retry_after;
  }
}

}  // namespace

Outcome judge(delivery::Answer answer) {
  Outcome outcome;
  outcome.response = std::move(answer.body);
  outcome.took = std::chrono::ceil<Millis>(answer.took);
  switch (answer.result) {
    case observe::AttemptResult::delivered:
      outcome.ending = Ending::succeeded;
      outcome.http_status = 200;
      break;
    case observe::AttemptResult::http_error: judge_status(outcome, answer); break;
    case observe::AttemptResult::timeout:
      outcome.reason_code = reason::broker_timeout;
      outcome.http_status = status_timeout;
      outcome.message = std::move(answer.error);
      break;
    case observe::AttemptResult::network_error:
      outcome.reason_code = reason::broker_unreachable;
      outcome.http_status = status_unreachable;
      outcome.message = std::move(answer.error);
      break;
    case observe::AttemptResult::blocked:
      outcome.ending = Ending::aborted;
      outcome.reason_code = reason::broker_blocked;
      outcome.http_status = status_blocked;
      outcome.message = "not sent (" + answer.error +
                        "): rows go only where the settings allow it, and without those to public "
                        "addresses";
      break;
  }
  return outcome;
}

}  // namespace hk::outbox
