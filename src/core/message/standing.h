/// Who has a job, at one point of a batch. Plain data: whoever decides several things at once keeps
/// it from one check to the next, and each check leaves it as its command will.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/record.h"

namespace hk::core {

struct Standing {
  std::shared_ptr<const Message> message{};
  Status status = Status::pending;  ///< running: somebody has it
  std::optional<Fence> pushed{};    ///< it is on the wire under that
  std::uint32_t receive = 0;        ///< it is out under that receipt; 0: it is not
  std::uint32_t attempts = 0;       ///< pulled ones: receives
  bool cancel_requested = false;
  std::optional<Attempt> last{};  ///< of what is final
};

}  // namespace hk::core
