// Whoever holds a lease may end it with a call of its own: before its answer, or without one.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/message/standing.h"
#include "core/pull/pulls.h"

HK_SOMETIMES_DECLARE(job_completed_on_the_wire)
HK_SOMETIMES_DECLARE(job_failed_on_the_wire)
HK_SOMETIMES_DECLARE(job_completed_again)
HK_SOMETIMES_DECLARE(job_ended_before)
HK_SOMETIMES_DECLARE(job_lease_lost)

namespace hk::core {

namespace {

using Ended = JobEnded::Outcome;

std::vector<Header> result_fields(const EndJob& command) {
  return command.content_type.empty() ? std::vector<Header>{}
                                      : std::vector<Header>{{"Content-Type", command.content_type}};
}

bool is_under_lease(const EndJob& command, const Standing& job, PartitionId partition) {
  if (const auto* const receipt = std::get_if<Receipt>(&command.lease)) {
    return job.receive != 0 && job.receive == receipt->receive && receipt->id == job.message->id;
  }
  const auto& [of, fence] = std::get<PushLease>(command.lease);
  return job.pushed == fence && of == partition;
}

/// It is as this command would have left it, under the same lease: its answer was lost.
bool said_before(const EndJob& command, const Standing& job, PartitionId partition) {
  if (!command.succeeded || job.status != Status::succeeded || !job.last || !job.last->told) {
    return false;
  }
  const auto* const pushed = std::get_if<PushLease>(&command.lease);
  const bool same_lease = pushed != nullptr
                              ? pushed->fence == job.last->fence && pushed->partition == partition
                              : std::get<Receipt>(command.lease).receive == job.last->fence.attempt;
  return same_lease && job.last->response_body == command.result &&
         job.last->response_headers == result_fields(command);
}

}  // namespace

Attempt told_by(const EndJob& command) {
  constexpr int ok = 200;
  return {.response_status = command.succeeded ? ok : 0,
          .error = command.error,
          .response_headers = result_fields(command),
          .response_body = command.result,
          .told = true};
}

Result<Standing> Messages::standing(TenantId tenant, MessageId id) {
  Standing job{.message = find(tenant, id)};
  if (job.message == nullptr) {
    return fail(ErrorKind::not_found, "no job " + to_text(id));
  }
  if (auto state = batch_.get<MessageState>(id.seq)) {
    job.status = state->status;
    job.cancel_requested = state->cancel_requested;
    if (is_final(state->status)) {
      job.last = std::move(state->last);
      return job;
    }
  }
  job.status = Status::pending;
  if (job.message->pull) {
    pulls_.look_at(job);
    return job;
  }
  if (const Live* const live = lanes_.find(id.seq); live != nullptr && live->leased) {
    job.status = Status::running;
    job.pushed = live->fence;
  }
  return job;
}

/// Checks in this order: is it over, does the lease count, may it end so.
Result<JobEnded::Outcome> Messages::check(const EndJob& command, Standing& job) {
  if (is_final(job.status)) {
    const bool again = said_before(command, job, context_.partition);
    if (again) {
      HK_SOMETIMES(job_completed_again);
    } else {
      HK_SOMETIMES(job_ended_before);
    }
    return again ? Ended::again : Ended::finished;
  }
  if (job.message->webhook) {
    return fail(ErrorKind::conflict, "job " + to_text(job.message->id) +
                                         " is the delivery of a webhook: it ends by the answer of "
                                         "its endpoint");
  }
  if (!is_under_lease(command, job, context_.partition)) {
    HK_SOMETIMES(job_lease_lost);
    return Ended::lease_lost;
  }
  if (!command.succeeded && job.message->pull) {
    if (auto can = pulls_.check_failed(command, job); !can) {
      return std::unexpected(can.error());
    }
    return Ended::done;
  }
  if (command.succeeded) {
    job.status = Status::succeeded;
  } else if (job.cancel_requested) {
    job.status = Status::canceled;
  } else {
    const bool over = command.give_up || job.pushed->attempt > job.message->retry.retries_max;
    job.status = over ? Status::failed : Status::pending;
  }
  job.pushed.reset();
  job.receive = 0;
  return Ended::done;
}

/// An answer that comes later finds its lease gone, and changes nothing.
void Messages::end(EndJob command) {
  if (const auto* const receipt = std::get_if<Receipt>(&command.lease)) {
    const auto message = find(command.tenant, command.id);
    HK_ASSERT(message != nullptr);
    Live* const live = pulls_.find_received(*message, *receipt);
    HK_ASSERT(live != nullptr);
    pulls_.end(*live, std::move(command));
    return;
  }
  Live* const live = find_pushed(command.id.seq, std::get<PushLease>(command.lease).fence);
  HK_ASSERT(live != nullptr);
  if (command.succeeded) {
    HK_SOMETIMES(job_completed_on_the_wire);
  } else {
    HK_SOMETIMES(job_failed_on_the_wire);
  }
  if (live->push != nullptr) {
    pulls_.end(*live, std::move(command));
    return;
  }
  Attempt attempt = told_by(command);
  attempt.fence = live->fence;
  attempt.started_at = live->started_at;
  attempt.ended_at = batch_.now();
  end_attempt(*live, std::move(attempt), command.succeeded, command.give_up, command.retry_after);
}

Reply Messages::decide(EndJob command) {
  auto job = standing(command.tenant, command.id);
  if (!job) {
    return std::unexpected(job.error());
  }
  const auto outcome = check(command, *job);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  if (*outcome == Ended::done) {
    end(std::move(command));
  }
  return JobEnded{*outcome, job->status};
}

}  // namespace hk::core
