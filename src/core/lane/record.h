/// Lanes as they are stored: where messages wait.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "core/message.h"

namespace hk::core {

/// Lanes are what messages wait in. Messages with a queue keep the order of acceptance within
/// (queue, group), whatever their host and flow key: those parts of the key are empty, but for a
/// flow key of `pulled` in queues that are pulled from. All others wait by due time, in a lane per
/// flow key and host, so that a host that hangs holds up nobody else; those of a queue that is
/// pulled from without order in a lane per group, whose host is `pulled`.
struct LaneKey {
  TenantId tenant{};
  std::string queue{};
  std::string group{};
  std::string flow_key{};
  std::string host{};
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
  [[nodiscard]] bool ordered() const { return !queue.empty() && host.empty(); }
  static constexpr const char* pulled = "*";  ///< in place of a host or flow key
  [[nodiscard]] bool is_pulled() const {
    return !queue.empty() && (host == pulled || flow_key == pulled);
  }
};
LaneKey lane_of(const Message& message);

/// The same key in the texts of somebody else, to look a lane up by without copying them.
struct LaneName {
  TenantId tenant{};
  std::string_view queue{};
  std::string_view group{};
  std::string_view flow_key{};
  std::string_view host{};

  LaneName() = default;
  LaneName(const LaneKey& key)  // NOLINT(google-explicit-constructor): it is one
      : tenant(key.tenant),
        queue(key.queue),
        group(key.group),
        flow_key(key.flow_key),
        host(key.host) {}
  friend bool operator==(const LaneName&, const LaneName&) = default;
};
/// Of the message's texts.
LaneName lane_name(const Message& message);

/// Where a message stands in its lane: due time first (always 0 in an ordered lane), then
/// acceptance.
struct LanePlace {
  Moment due{};
  Seq seq{};
  friend auto operator<=>(const LanePlace&, const LanePlace&) = default;
};
/// The index entry at a LanePlace: what a lane must know of a message without reading it.
struct LaneEntry {
  LanePlace place{};
  Moment not_before{};
  std::uint32_t attempts = 0;
  std::string flow_key{};  ///< ordered lanes only: others have it in their key
  std::string host{};      ///< ordered lanes only, as flow_key
  bool started = false;    ///< ordered lanes only: it holds one of the lane's slots
  bool cancel_requested = false;
  bool finished = false;       ///< ordered lanes only: final, but its callbacks are not all
  Moment first_received_at{};  ///< pulled ones: when somebody first got it; 0 = nobody did
  std::uint32_t forgiven = 0;  ///< pulled ones: receives, in this queue, that do not count any more
  friend bool operator==(const LaneEntry&, const LaneEntry&) = default;
};
/// The entry with the lane that it stands in, as it is stored.
struct LaneRow {
  LaneKey lane{};
  LaneEntry entry{};
  friend bool operator==(const LaneRow&, const LaneRow&) = default;
};
inline std::tuple<const LaneKey&, const LanePlace&> key_of(const LaneRow& row) {
  return {row.lane, row.entry.place};
}

}  // namespace hk::core
