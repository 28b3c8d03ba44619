/// How the writes of this API are planned: a refusal of the core is told in its words. Header only.
#pragma once

#include <functional>
#include <utility>

#include "api/reply.h"
#include "api/svix/errors.h"
#include "api/svix/render.h"
#include "api/write.h"

namespace hk::api::svix {

/// `tell` is pure: it makes the answer of what the core has stored.
template <class Stored, class Tell>
Planned plan(core::Command command, Tell tell) {
  return Planned{.command = std::move(command),
                 .tell = [tell = std::move(tell)](const core::Reply& reply) -> Said {
                   if (const auto* const refused = reply->get_if<webhook::Refused>()) {
                     return refused_response(*refused);
                   }
                   return tell(answer_of<Stored>(reply));
                 }};
}

/// Whatever the core has to say, there is one answer to its success.
template <class Make>
Planned plan_plainly(core::Command command, Make make) {
  return Planned{.command = std::move(command),
                 .tell = [make = std::move(make)](const core::Reply& reply) -> Said {
                   if (const auto* const refused = reply->get_if<webhook::Refused>()) {
                     return refused_response(*refused);
                   }
                   return make();
                 }};
}

}  // namespace hk::api::svix
