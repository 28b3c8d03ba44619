#include "api/qstash/submit.h"

#include <utility>

#include "api/qstash/errors.h"

namespace hk::api::qstash {

void submit_for_done(Call& call, core::Command command) {
  call.batcher.submit(std::move(command),
                      [answer = std::move(call.answer)](const core::Reply& reply) mutable {
                        if (!reply) {
                          answer(error_response(reply.error()));
                          return;
                        }
                        http::Response response;
                        response.body = "{}";
                        answer(std::move(response));
                      });
}

}  // namespace hk::api::qstash
