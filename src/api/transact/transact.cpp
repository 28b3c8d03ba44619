#include "api/reply.h"
#include "api/transact/answer.h"
#include "api/transact/handlers.h"
#include "api/transact/read.h"
#include "observe/metrics.h"

namespace hk::api::transact {

namespace {

http::Response told(const Refused& refused, std::string_view request_id) {
  return problem(refused.what, refused.status, refused.detail, request_id, refused.more);
}

}  // namespace

Write transact(const Services& services, Call& call) {
  if (services.options.refuse_publishes) {
    if (const auto why = services.options.refuse_publishes()) {
      return Error{ErrorKind::unavailable, *why};
    }
  }
  if (call.request.body.size() > transact_bytes_max) {
    return Refusal{.status = 413, .detail = "the body is larger than 10 MiB"};
  }
  Read read = read_transact(services, call);
  if (auto* const error = std::get_if<Error>(&read)) {
    return std::move(*error);
  }
  const std::string request_id(call.answer.request_id());
  if (auto* const faults = std::get_if<std::vector<Fault>>(&read)) {
    return told(told_of_faults(std::move(*faults)), request_id);
  }
  auto& asked = std::get<Asked>(read);
  return Planned{
      .command = std::move(asked.command),
      .tell = [operations = std::move(asked.told), request_id](const core::Reply& reply) -> Said {
        const auto& done = answer_of<core::Transacted>(reply);
        return done.refused ? told(told_of_refusal(*done.refused, operations), request_id)
                            : told_of(done, operations);
      },
      .done =
          [&metrics = services.metrics](int status) {
            if (status < 500) {
              metrics.transacted(status < 400);
            }
          }};
}

}  // namespace hk::api::transact
