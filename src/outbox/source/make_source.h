/// The source that the settings name. Used by the relay when it starts.
#pragma once

#include <memory>

#include "outbox/settings.h"
#include "outbox/source.h"

namespace hk::outbox {

/// Not yet connected. invalid_argument: OUTBOX_SLOT is no name for a slot.
Result<std::unique_ptr<Source>> make_source(const Settings& settings);

}  // namespace hk::outbox
