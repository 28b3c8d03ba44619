/// Where requests of AWS clients come in: recognised, routed, their signatures verified, and handed
/// to the action they ask for. Called by the Service on I/O threads.
#pragma once

#include <string_view>

#include "api/call.h"

namespace hk::api::sqs {

/// Is it for SQS or SNS? Cheap: asked of every request.
bool is_for_aws(const http::Request& request);

/// The answer to one that was refused before it came here, with what is known of it by then.
http::Response refusal(const http::Request& request, int status, std::string_view reason);

/// Answers it, now or later.
void handle(const Services& services, Call& call);

}  // namespace hk::api::sqs
