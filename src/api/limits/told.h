/// How a request that a limit refuses is answered, in the words of each protocol, and how a tenant
/// is told where it stands. Pure but for the clock of the header that names a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/aws/errors.h"
#include "api/limits/admissions.h"
#include "api/surface.h"

namespace hk::api::limits {

/// 429, or 413 for what can never be taken.
http::Response refusal(Surface surface, const Turned& turned, std::string_view request_id);
/// The same for SQS and SNS, with the header fields that go with it.
aws::Refusal refusal_for_aws(const Turned& turned);
void add_fields_for_aws(http::Response& response, const Turned& turned);
/// RateLimit-Policy and RateLimit.
void add_standing(http::Response& response, const Standing& standing);

}  // namespace hk::api::limits
