/// How errors are told on the own API of webhooks: problem details; fields that are wrong with 422
/// and a JSON pointer each. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/problem.h"
#include "api/svix/errors.h"
#include "api/write.h"
#include "core/webhook/commands.h"

namespace hk::api::webhooks {

namespace webhook = core::webhook;

/// 422 with all of them. REQUIRES: there is one.
http::Response wrong_fields(const svix::FieldErrors& errors, std::string_view request_id);
Said refused_problem(const webhook::Refused& refused);
Refusal not_found(std::string_view what);

}  // namespace hk::api::webhooks
