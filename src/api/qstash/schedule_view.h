/// How a schedule looks on the QStash surface (§13.3 of the wire specification). For reads on I/O
/// threads.
#pragma once

#include "base/json.h"
#include "core/reader.h"

namespace hk::api::qstash {

/// One object. The states of its last messages are read from the same view. A timeout that was not
/// asked for is not shown.
void write_schedule(JsonWriter& json, core::Reader& view, const core::Schedule& schedule,
                    const core::ScheduleState& state, Millis timeout_default);

}  // namespace hk::api::qstash
