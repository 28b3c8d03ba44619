/// What a worker says of the end of its job, as calls of their own and as operations of a transact.
/// Read on I/O threads.
#pragma once

#include <optional>
#include <string_view>

#include "api/call.h"
#include "api/idempotency/body.h"
#include "api/problem.h"
#include "core/message/commands.h"

namespace hk::api::jobs {

inline constexpr std::size_t result_bytes_max = std::size_t{256} * 1024;

inline constexpr Problem lease_lost{"lease_lost", "Lease lost"};
inline constexpr Problem job_finished{"job_finished", "Job finished"};

/// "<partition>.<epoch>.<attempt>", as Hikyaku-Fence has it.
std::optional<core::PushLease> parse_fence(std::string_view text);

/// Which message a worker means: its job id, or the id that SQS gave it. not_found.
Result<core::MessageId> read_job_id(std::string_view text);

/// Of {"fence" or "receipt", "result" or "body" with "content_type"}: it succeeded. What else
/// `body` may have is the caller's to say. invalid_argument; limit_exceeded: the result is too
/// large.
Result<core::EndJob> read_completed(const Services& services, core::TenantId tenant,
                                    core::MessageId job, const idempotency::Body& body);
/// Of {"fence" or "receipt", "error": {"message", "code"}, "retry", "retry_after"}: it failed.
Result<core::EndJob> read_failed(const Services& services, core::TenantId tenant,
                                 core::MessageId job, const idempotency::Body& body);

/// application/json and its kin.
bool is_json_type(std::string_view content_type);

/// PENDING, RUNNING, SUCCEEDED, FAILED, CANCELED.
std::string_view status_name(core::Status status);

/// Why it was not ended. REQUIRES: it was not.
std::string told_of_lease(const core::JobEnded& ended);

}  // namespace hk::api::jobs
