/// The answer that belongs to a command. Header only.
#pragma once

#include <variant>

#include "base/assert.h"
#include "core/command.h"

namespace hk::api {

/// REQUIRES: the command succeeded, and this is the kind of answer it has.
template <class Answered>
const Answered& answer_of(const core::Reply& reply) {
  HK_ASSERT(reply.has_value());
  const auto* const answered = reply->get_if<Answered>();
  HK_ASSERT(answered != nullptr);
  return *answered;
}

}  // namespace hk::api
