/// Keys, byte by byte. The order of the bytes is the order a scan must see; what a key says is not
/// repeated in its value. Pure functions, callable from any thread.
///
///   u32, u64   big-endian integer of 4 or 8 bytes
///   ms         a Moment as u64 of its milliseconds; ordered for times from 1970 on
///   text       the bytes with 00 written as 00 FF, then 00 01. Injective, ordered like the texts,
///   and
///              none is a prefix of another, so texts can follow each other
///   rest       the bytes as they are, up to the end of the key
///
// clang-format off
///   table           key
///   meta            "meta", "pepper"
///   message, state  u64 seq
///   attempt         u64 seq | u32 number
///   lane            u32 tenant | text queue | text group | text flow_key | text host | ms due | u64 seq
///   dead_letter     u32 tenant | ms failed_at | u64 seq
///   event           u32 tenant | ms time | u64 batch
///   expiry          ms at | u64 batch
///   schedule_due    ms next_at | u32 tenant | rest id
///   tenant          u32 id
///   counters        u32 tenant
///   all others      u32 tenant | rest name (dedup id, queue, flow key, URL group, schedule id)
// clang-format on
///
/// The parse functions take arbitrary bytes: nullopt means that no key of ours looks like that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/record.h"

namespace hk::store {

inline constexpr std::string_view meta_key = "meta";
inline constexpr std::string_view pepper_key = "pepper";

std::string seq_key(core::Seq seq);
std::string attempt_key(core::Seq seq, std::uint32_t number);
std::string lane_prefix(const core::LaneKey& lane);
std::string lane_entry_key(const core::LaneKey& lane, const core::LanePlace& place);
std::string dead_letter_key(const core::DeadLetterKey& key);
std::string event_key(core::TenantId tenant, Moment time, std::uint64_t batch);
std::string expiry_key(Moment at, std::uint64_t batch);
std::string tenant_key(core::TenantId tenant);
std::string schedule_due_key(const core::ScheduleDue& due);
/// tenant | rest: dedup, queue, flow_key, url_group, schedule and schedule_state.
std::string named_key(core::TenantId tenant, std::string_view name);

std::optional<core::Seq> parse_seq_key(std::string_view key);
std::optional<std::pair<core::Seq, std::uint32_t>> parse_attempt_key(std::string_view key);
std::optional<std::pair<core::LaneKey, core::LanePlace>> parse_lane_entry_key(std::string_view key);
std::optional<core::DeadLetterKey> parse_dead_letter_key(std::string_view key);
struct EventKey {
  core::TenantId tenant{};
  Moment time{};
  std::uint64_t batch = 0;
};
std::optional<EventKey> parse_event_key(std::string_view key);
std::optional<std::pair<Moment, std::uint64_t>> parse_expiry_key(std::string_view key);
std::optional<core::TenantId> parse_tenant_key(std::string_view key);
std::optional<core::ScheduleDue> parse_schedule_due_key(std::string_view key);
std::optional<std::pair<core::TenantId, std::string>> parse_named_key(std::string_view key);

/// The smallest key greater than every key that starts with the prefix; "" = there is none.
std::string prefix_end(std::string prefix);
/// The smallest key greater than this one.
std::string after_key(std::string key);

}  // namespace hk::store
