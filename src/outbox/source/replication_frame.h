/// What travels over a replication connection around the changes themselves: data and keepalives
/// from the server, status updates to it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/time.h"
#include "outbox/source/pgoutput.h"

namespace hk::outbox {

struct WalData {
  Lsn start = 0;
  Lsn end = 0;
  std::string_view data{};  ///< a message of pgoutput
};

struct Keepalive {
  Lsn end = 0;  ///< everything that was committed before it has been sent
  bool reply_wanted = false;
};

using ReplicationFrame = std::variant<WalData, Keepalive>;

/// corruption: no frame.
Result<ReplicationFrame> decode_frame(std::string_view bytes);

struct StandbyStatus {
  Lsn received = 0;
  Lsn confirmed = 0;  ///< the server never sends again what was committed before it
  Moment now{};
  bool reply_wanted = false;
};

std::string encode_status(const StandbyStatus& status);

}  // namespace hk::outbox
