/// Who receives, and what for.
#pragma once

#include <cstdint>

#include "core/message.h"

namespace hk::core {

/// Who waits for messages. Chosen by the adapter, unique in the process.
using ReceiverId = Id<struct ReceiverTag, std::uint64_t>;

/// What a receiver has been given: a message, and the number of this receive of it.
struct Receipt {
  MessageId id{};
  std::uint32_t receive = 0;
};

}  // namespace hk::core
