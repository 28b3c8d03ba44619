/// What bodies say of an event type. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/svix/fields.h"
#include "api/svix/input.h"
#include "core/webhook/commands.h"

namespace hk::api::svix {

/// Without its tenant.
webhook::EventType read_event_type(Input& in);
webhook::EventTypeChanges read_event_type_changes(Input& in, Method method);

inline constexpr std::size_t schemas_bytes_max = std::size_t{256} * 1024;

}  // namespace hk::api::svix
