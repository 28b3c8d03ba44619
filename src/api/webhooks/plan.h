/// How the writes of this API are planned: a refusal of the core is told in its words. Header only.
#pragma once

#include <utility>

#include "api/reply.h"
#include "api/webhooks/errors.h"
#include "api/write.h"

namespace hk::api::webhooks {

/// `tell` is pure: it makes the answer of the reply to what was not refused.
template <class Tell>
Planned plan(core::Command command, Tell tell) {
  return Planned{.command = std::move(command),
                 .tell = [tell = std::move(tell)](const core::Reply& reply) -> Said {
                   if (const auto* const refused = reply->get_if<webhook::Refused>()) {
                     return refused_problem(*refused);
                   }
                   return tell(reply);
                 }};
}

}  // namespace hk::api::webhooks
