/// From mutations to bytes and back. encode() runs on the core's thread, once per mutation of every
/// batch; the decoders run on any thread. A decoder takes arbitrary bytes: what cannot have been
/// written by us is ErrorKind::corruption, never undefined behaviour.
///
/// To change the format:
///   1. Add the field to the struct in core/. The codec (record_*.cpp) no longer builds: it unpacks
///      records with structured bindings, so that nothing can be forgotten.
///   2. Give it the next free number in records.proto. A number keeps its meaning and its type for
///      ever; a field that is dropped is listed as `reserved`.
///   3. Old records do not have it: absent must decode to what the old code meant.
///   4. An older server skips fields it does not know and does not write them back. If that would
///      harm, if a key changes (key.h), or if absent cannot mean the old thing: raise the number of
///      the format in core::Meta and migrate at start; a newer format is refused by an older
///      server.
///   5. Add a golden record to tests/unit/store/codec_golden_test.cpp. The old ones must still
///   decode.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/mutation.h"
#include "store/store.h"

namespace hk::store {

/// Appends the writes of the mutation, in the order in which they must be applied.
void encode(const core::Mutation& mutation, std::vector<Write>& out);

// The arguments before `value` are what the key says.
Result<core::Message> decode_message(core::Seq seq, std::string_view value);
Result<core::MessageState> decode_state(std::string_view value);
Result<core::Attempt> decode_attempt(std::string_view value);
Result<core::LaneEntry> decode_lane_entry(core::LanePlace place, std::string_view value);
Result<core::Dedup> decode_dedup(std::string_view value);
Result<core::AppendEvents> decode_events(core::TenantId tenant, Moment time, std::uint64_t batch,
                                         std::string_view value);
Result<core::PutExpiry> decode_expiry(Moment at, std::uint64_t batch, std::string_view value);
Result<core::Queue> decode_queue(core::TenantId tenant, std::string name, std::string_view value);
Result<core::FlowKey> decode_flow_key(core::TenantId tenant, std::string key,
                                      std::string_view value);
Result<core::UrlGroup> decode_url_group(core::TenantId tenant, std::string name,
                                        std::string_view value);
Result<core::Schedule> decode_schedule(core::TenantId tenant, std::string id,
                                       std::string_view value);
Result<core::ScheduleState> decode_schedule_state(std::string_view value);
/// `name` is kind "/" name, as in the key.
Result<core::Document> decode_document(core::TenantId tenant, std::string name,
                                       std::string_view value);
Result<core::Tenant> decode_tenant(core::TenantId id, std::string_view value);
Result<core::Counters> decode_counters(std::string_view value);
Result<core::Meta> decode_meta(std::string_view value);

/// The pepper of token digests, sealed with the master key. Not the core's: written when that key
/// is rotated, read when it is opened.
Write put_pepper(std::string_view sealed);
Result<std::string> decode_pepper(std::string_view value);

}  // namespace hk::store
