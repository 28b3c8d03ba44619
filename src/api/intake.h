/// Which requests the server takes at which time of its life: the one place that says so. Main asks
/// it about every request, before anything is known of who sent it. Pure, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "edge/http/message.h"

namespace hk::api {

enum class Intake : std::uint8_t {
  nothing,      ///< it starts, or its store has failed
  everything,   ///< it serves
  no_receives,  ///< it has begun to stop, and the outbox relay inside it publishes its last rows
  settlements,  ///< it drains: only what ends the work that others hold, so that nobody does it
                ///< again
};

/// Those that ask for the health of the server are always taken.
bool takes(Intake intake, const http::Request& request);

/// Why a request is not taken, for its 503.
std::string_view reason_to_refuse(Intake intake);

}  // namespace hk::api
