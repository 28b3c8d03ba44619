/// The webhooks of an OpenAPI document, as event types. Pure, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/webhook/record.h"

namespace hk::api::svix {

/// JSON or YAML. References within the document are put in where they stand; invalid_argument: it
/// is neither, a reference leads nowhere, round in a circle or too deep, a name is no legal name of
/// an event type, or it is larger than what is kept.
Result<std::vector<core::webhook::EventType>> read_openapi(std::string_view text,
                                                           core::TenantId tenant);

}  // namespace hk::api::svix
