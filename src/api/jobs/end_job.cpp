// POST /api/v1/jobs/{id}/complete and /fail: whoever holds the lease of a job says how it ended.
#include "api/jobs/ending.h"
#include "api/jobs/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/json_input.h"

namespace hk::api::jobs {

namespace {

using Read = Result<core::EndJob> (*)(const Services&, core::TenantId, core::MessageId,
                                      const idempotency::Body&);

constexpr std::size_t end_bytes_max = 8 * result_bytes_max;  // a result, escaped

Result<core::EndJob> read_end(const Services& services, const Call& call,
                              std::initializer_list<std::string_view> members, Read read) {
  if (call.request.body.size() > end_bytes_max) {
    return fail(ErrorKind::limit_exceeded,
                "the body is larger than " + std::to_string(end_bytes_max / 1024) + " KiB");
  }
  auto json = ExactJson::parse(call.request.body, json_depth_max);
  if (!json) {
    return std::unexpected(json.error());
  }
  const auto body = idempotency::Body::of(std::move(*json), members);
  if (!body) {
    return std::unexpected(body.error());
  }
  // What is wrong with the request is told first, whosever the job is.
  const auto id = read_job_id(call.param);
  auto command = read(services, call.tenant->id, id.value_or(core::MessageId{}), *body);
  if (command && !id) {
    return std::unexpected(id.error());
  }
  return command;
}

http::Response told_of_end(core::MessageId id, const core::JobEnded& ended) {
  http::Response response;
  JsonWriter json(response.body);
  const std::string text = core::to_text(id);
  json.begin_object();
  json.field("id", text);
  json.field("status", status_name(ended.status));
  json.field("status_url", "/api/v1/jobs/" + text);
  json.end_object();
  return response;
}

Write ending(const Call& call, Result<core::EndJob> command) {
  if (!command) {
    if (command.error().kind == ErrorKind::limit_exceeded) {
      return Refusal{.status = 413, .detail = command.error().message};
    }
    return command.error();
  }
  const core::MessageId id = command->id;
  return Planned{.command = std::move(*command),
                 .tell = [id, request_id = std::string(call.answer.request_id())](
                             const core::Reply& reply) -> Said {
                   const auto& ended = answer_of<core::JobEnded>(reply);
                   switch (ended.outcome) {
                     case core::JobEnded::Outcome::done:
                     case core::JobEnded::Outcome::again: return told_of_end(id, ended);
                     case core::JobEnded::Outcome::lease_lost:
                     case core::JobEnded::Outcome::finished: break;
                   }
                   const bool finished = ended.outcome == core::JobEnded::Outcome::finished;
                   return problem(finished ? job_finished : lease_lost, 409, told_of_lease(ended),
                                  request_id, [&ended](JsonWriter& json) {
                                    json.field("job_status", status_name(ended.status));
                                  });
                 }};
}

}  // namespace

Write complete_job(const Services& services, Call& call) {
  return ending(call,
                read_end(services, call, {"fence", "receipt", "result", "body", "content_type"},
                         read_completed));
}

Write fail_job(const Services& services, Call& call) {
  return ending(call, read_end(services, call,
                               {"fence", "receipt", "error", "retry", "retry_after"}, read_failed));
}

}  // namespace hk::api::jobs
