/// Every kind of record that is stored: each in its component, and what a partition keeps of itself
/// here. A struct with a key_of() holds its key; all kinds are rows of tables.def.
#pragma once

#include <cstdint>
#include <tuple>

#include "core/document/record.h"
#include "core/flow/record.h"
#include "core/idempotency/record.h"
#include "core/lane/record.h"
#include "core/ledger/recon.h"
#include "core/ledger/record.h"
#include "core/message/record.h"
#include "core/pull/record.h"
#include "core/queue/record.h"
#include "core/schedule/record.h"
#include "core/source/record.h"
#include "core/task/record.h"
#include "core/tenant/record.h"
#include "core/timer/record.h"
#include "core/topic/record.h"
#include "core/webhook/record.h"

namespace hk::core {

struct Meta {
  std::uint32_t format = 6;  ///< of the records
  std::uint32_t epoch = 0;
  /// Every unfinished message with seq <= indexed_up_to has an index entry in its lane.
  Seq indexed_up_to{};
  Moment time{};    ///< partition time never runs backwards, not across restarts either
  Origin origin{};  ///< of the messages that it accepts; those of lower ones came with a copy
  std::uint64_t last_number = 0;  ///< of what was published to FIFO topics (next_number())
  std::uint64_t last_token = 0;   ///< of a claim of an idempotency key (next_token())
  friend bool operator==(const Meta&, const Meta&) = default;
};
inline std::tuple<> key_of(const Meta& /*the only one*/) { return {}; }

}  // namespace hk::core
