/// Words for a gate that is shut. Used by whatever answers Inspect, on the core's thread.
#pragma once

#include <vector>

#include "core/lane/gate.h"
#include "core/message/commands.h"

namespace hk::core {

void explain_gate(const Gate& gate, Moment now, std::vector<Hold>& holds);

}  // namespace hk::core
