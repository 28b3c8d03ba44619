/// The answer to a command for a queue that is not there, or is not pulled from. Any thread.
#pragma once

#include <string>

#include "base/error.h"

namespace hk::core {

inline std::unexpected<Error> no_queue(const std::string& name) {
  return fail(ErrorKind::not_found, "queue " + name + " not found");
}

}  // namespace hk::core
