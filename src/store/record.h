/// The values of codec.h as bytes, one function per record. Used by codec.cpp only.
#pragma once

#include <string>

#include "core/mutation.h"

namespace hk::store {

std::string encode_message(const core::Message& message);
std::string encode_attempt(const core::Attempt& attempt);
std::string encode_state(const core::MessageState& state);
std::string encode_lane_entry(const core::LaneEntry& entry);
std::string encode_dedup(const core::Dedup& dedup);
std::string encode_events(const core::AppendEvents& events);
std::string encode_expiry(const core::PutExpiry& expiry);
std::string encode_queue(const core::Queue& queue);
std::string encode_flow_key(const core::FlowKey& flow_key);
std::string encode_url_group(const core::UrlGroup& group);
std::string encode_schedule(const core::Schedule& schedule);
std::string encode_schedule_state(const core::ScheduleState& state);
std::string encode_document(const core::Document& document);
std::string encode_tenant(const core::Tenant& tenant);
std::string encode_counters(const core::Counters& counters);
std::string encode_meta(const core::Meta& meta);

}  // namespace hk::store
