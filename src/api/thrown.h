/// What an exception in a handler means for the client, in one place. Pure.
#pragma once

#include <exception>

#include "base/error.h"
#include "engine/submitter.h"

namespace hk::api {

/// A partition that is not open may be again later; anything else (a broken record, no memory) is
/// our fault.
inline Error error_of_thrown(const std::exception& thrown) {
  const bool closed = dynamic_cast<const engine::PartitionUnavailable*>(&thrown) != nullptr;
  return {closed ? ErrorKind::unavailable : ErrorKind::internal, thrown.what()};
}

}  // namespace hk::api
