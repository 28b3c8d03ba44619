/// One command, and its answer in the form of a protocol. I/O threads.
#pragma once

#include <utility>

#include "api/call.h"

namespace hk::api {

/// Once it is durable, answers with what `done` makes of the core's reply, or with its error.
template <class Done>
void submit_then(Call& call, core::Command command, Done done) {
  call.batcher.submit(std::move(command), [done = std::move(done), answer = std::move(call.answer)](
                                              const core::Reply& reply) mutable {
    if (!reply) {
      answer.refuse(reply.error());
      return;
    }
    answer(done(reply));
  });
}

}  // namespace hk::api
