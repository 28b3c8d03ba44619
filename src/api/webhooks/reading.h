/// What the paths of the own API of webhooks name. On I/O threads.
#pragma once

#include <optional>

#include "api/svix/reading.h"
#include "api/webhooks/errors.h"

namespace hk::api::webhooks {

/// The endpoint that the path names as its second parameter, if there is one.
inline std::optional<webhook::Endpoint> find_endpoint_of(const svix::Reading& reading,
                                                         const Call& call) {
  return reading.application ? reading.endpoint(call.more_params.front()) : std::nullopt;
}

/// Answers with what `show` makes of it.
template <class Show>
void show_endpoint(const Services& services, Call& call, Show&& show) {
  const svix::Reading reading(services, call);
  const auto endpoint = find_endpoint_of(reading, call);
  if (endpoint) {
    call.answer(show(reading, *endpoint));
  } else {
    call.answer.refuse(
        404, reading.application ? "there is no such endpoint" : "there is no such application");
  }
}

}  // namespace hk::api::webhooks
