/// What is stored of a tenant, whichever partition it is in. Used by handlers on I/O threads.
#pragma once

#include <optional>
#include <string_view>

#include "core/record.h"
#include "engine/submitter.h"

namespace hk::api {

/// By its id as it stands in a path. Throws PartitionUnavailable.
std::optional<core::Tenant> find_tenant(engine::Submitter& submitter, std::string_view id);

}  // namespace hk::api
