/// Commands about inbound sources: their settings, what comes from them, and what was rejected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/message/commands.h"
#include "core/source/record.h"

namespace hk::core {

/// Creates a source (if_version 0) or replaces what is set of it. not_found: no such tenant or
/// source. unavailable: its version is another one by now; nothing was done. conflict: another
/// source has the name. quota_reached: the tenant has too many.
struct PutSource {
  Source source{};  ///< version, times, counts and quarantine are the core's
  std::uint64_t if_version = 0;
  // Where its events go must be there. "": that is no queue, no URL group.
  std::string queue{};
  std::string url_group{};
};

/// What it had of events and rejected requests goes, too. Done, also if there is none.
struct DeleteSource {
  TenantId tenant{};
  std::string id{};
};

/// One event of a source, and the message that it becomes.
struct InboundEvent {
  std::string id{};    ///< "": nobody can tell a repeat of it
  std::string type{};  ///< "": not known
  std::uint64_t bytes = 0;
  /// Without a dedup id of its own.
  Publish publish{};
};

/// A verified request: an event that is new, or a repeat. not_found: no such source, or it is
/// disabled. unavailable: where its events go is not there any more.
struct ReceiveInbound {
  TenantId tenant{};
  std::string source{};
  InboundEvent event{};
};

/// Counts requests that failed verification, and keeps one of them if there is room for another one
/// in this second. not_found: no such source.
struct QuarantineInbound {
  TenantId tenant{};
  std::string source{};
  std::uint64_t invalid = 1;
  /// Its number is the core's.
  std::optional<Quarantined> request{};
};

/// Rejected requests are events after all: they leave the quarantine and become messages (or
/// repeats) in one batch. One that is not there any more is left out. not_found: no such source.
/// unavailable: where its events go is not there any more.
struct ReleaseQuarantined {
  struct One {
    std::uint64_t number = 0;
    InboundEvent event{};
  };
  TenantId tenant{};
  std::string source{};
  std::vector<One> requests{};  ///< in the order in which they came
  bool unverified = false;      ///< somebody says so, not their signatures
};

/// Done, also if there is none of that number. not_found: no such source.
struct DropQuarantined {
  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;
};

using SourceCommand = std::variant<PutSource, DeleteSource, ReceiveInbound, QuarantineInbound,
                                   ReleaseQuarantined, DropQuarantined>;

// ---- replies ----

struct SourceStored {
  enum class Outcome : std::uint8_t {
    stored,
    no_queue,      ///< none that is pulled from, or a FIFO queue; nothing was stored
    no_url_group,  ///< nothing was stored
  };
  Outcome outcome{};
  Source source{};  ///< as it is now
};

/// The reply to a ReceiveInbound.
struct InboundReceived {
  MessageId message{};     ///< of a repeat, that of the first
  bool duplicate = false;  ///< nothing was made of it now
};

/// The reply to a ReleaseQuarantined.
struct QuarantineReleased {
  enum class Outcome : std::uint8_t { released, duplicate, gone };
  struct One {
    std::uint64_t number = 0;
    Outcome outcome{};
    MessageId message{};
  };
  std::vector<One> requests{};
};

/// The reply to a QuarantineInbound.
struct InboundRejected {
  bool kept = false;
};

using SourceReply =
    std::variant<SourceStored, InboundReceived, QuarantineReleased, InboundRejected>;

}  // namespace hk::core
