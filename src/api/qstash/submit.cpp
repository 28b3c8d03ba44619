#include "api/qstash/submit.h"

#include <utility>

#include "api/submit.h"

namespace hk::api::qstash {

void submit_for_done(Call& call, core::Command command) {
  submit_then(call, std::move(command), [](const core::Reply& /*reply*/) {
    http::Response response;
    response.body = "{}";
    return response;
  });
}

}  // namespace hk::api::qstash
