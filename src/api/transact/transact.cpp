#include "api/reply.h"
#include "api/transact/answer.h"
#include "api/transact/handlers.h"
#include "api/transact/read.h"
#include "observe/metrics.h"

namespace hk::api::transact {

namespace {

constexpr Problem key_required{"idempotency_key_required", "Idempotency key required"};

void refuse(Answer& answer, const Refused& refused) {
  answer.refuse_with(refused.what, refused.status, refused.detail, refused.more);
}

}  // namespace

void transact(const Services& services, Call& call) {
  if (!call.request.header("idempotency-key")) {
    call.answer.refuse(key_required, 400,
                       "send an Idempotency-Key: with it the request can be repeated safely");
    return;
  }
  if (services.options.refuse_publishes) {
    if (const auto why = services.options.refuse_publishes()) {
      call.answer.refuse(Error{ErrorKind::unavailable, *why});
      return;
    }
  }
  if (call.request.body.size() > transact_bytes_max) {
    call.answer.refuse(413, "the body is larger than 10 MiB");
    return;
  }
  Read read = read_transact(services, call);
  if (const auto* const error = std::get_if<Error>(&read)) {
    call.answer.refuse(*error);
    return;
  }
  if (auto* const faults = std::get_if<std::vector<Fault>>(&read)) {
    refuse(call.answer, told_of_faults(std::move(*faults)));
    return;
  }
  auto& asked = std::get<Asked>(read);
  call.batcher.submit(std::move(asked.command),
                      [&services, told = std::move(asked.told),
                       answer = std::move(call.answer)](const core::Reply& reply) mutable {
                        if (!reply) {
                          answer.refuse(reply.error());
                          return;
                        }
                        const auto& done = answer_of<core::Transacted>(reply);
                        services.metrics.transacted(!done.refused);
                        if (done.refused) {
                          refuse(answer, told_of_refusal(*done.refused, told));
                          return;
                        }
                        answer(told_of(done, told));
                      });
}

}  // namespace hk::api::transact
