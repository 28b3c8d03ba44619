/// Everything that can be stored: the mutations of a batch are written atomically, in order.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/record.h"

namespace hk::core {

struct PutMessage {
  std::shared_ptr<const Message> message{};  ///< shared with the body cache and the delivery
};
struct PutState {
  Seq seq{};
  MessageState state{};
};
/// An attempt that is no longer the last one.
struct PutAttempt {
  Seq seq{};
  Attempt attempt{};
};
struct PutLaneEntry {
  LaneKey lane{};
  LaneEntry entry{};
};
struct DeleteLaneEntry {
  LaneKey lane{};
  LanePlace place{};
};
struct PutDedup {
  TenantId tenant{};
  std::string id{};
  Dedup dedup{};
};
struct DeleteDedup {
  TenantId tenant{};
  std::string id{};
};
struct PutDeadLetter {
  DeadLetterKey key{};
};
struct DeleteDeadLetter {
  DeadLetterKey key{};
};
/// The events of one tenant in one batch, in order; they share the batch's time.
struct AppendEvents {
  TenantId tenant{};
  Moment time{};
  std::uint64_t batch = 0;  ///< grows with every batch, also across restarts
  std::vector<EventRef> events{};
};
/// Things to look at again at a time: one record per batch and time, not one per message.
struct PutExpiry {
  Moment at{};
  std::uint64_t batch = 0;
  std::vector<Seq> messages{};
  std::vector<std::pair<TenantId, std::string>> dedups{};
};
struct DeleteExpiry {
  Moment at{};
  std::uint64_t batch = 0;
};
/// The message, its state and its attempts are gone.
struct PurgeMessage {
  Seq seq{};
  bool has_attempts = false;  ///< rows in the attempts table
};
/// Events of the tenant older than `before`.
struct PurgeEvents {
  TenantId tenant{};
  Moment before{};
};
struct PutQueue {
  Queue queue{};
};
struct DeleteQueue {
  TenantId tenant{};
  std::string name{};
};
struct PutFlowKey {
  FlowKey flow_key{};
};
struct DeleteFlowKey {
  TenantId tenant{};
  std::string key{};
};
struct PutUrlGroup {
  UrlGroup group{};
};
struct DeleteUrlGroup {
  TenantId tenant{};
  std::string name{};
};
struct PutSchedule {
  Schedule schedule{};
};
/// Also moves it in the order of runs.
struct PutScheduleState {
  TenantId tenant{};
  std::string id{};
  ScheduleState state{};
  Moment previous_next_at{never};  ///< what it replaces; never: nothing
};
/// The schedule and its state are gone.
struct DeleteSchedule {
  TenantId tenant{};
  std::string id{};
  Moment next_at{never};
};
struct PutDocument {
  Document document{};
};
struct DeleteDocument {
  TenantId tenant{};
  std::string kind{};
  std::string name{};
};
struct PutTenant {
  Tenant tenant{};
};
struct PutCounters {
  TenantId tenant{};
  Counters counters{};
};
struct PutMeta {
  Meta meta{};
};

using Mutation =
    std::variant<PutMessage, PutState, PutAttempt, PutLaneEntry, DeleteLaneEntry, PutDedup,
                 DeleteDedup, PutDeadLetter, DeleteDeadLetter, AppendEvents, PutExpiry,
                 DeleteExpiry, PurgeMessage, PurgeEvents, PutQueue, DeleteQueue, PutFlowKey,
                 DeleteFlowKey, PutUrlGroup, DeleteUrlGroup, PutSchedule, PutScheduleState,
                 DeleteSchedule, PutDocument, DeleteDocument, PutTenant, PutCounters, PutMeta>;

}  // namespace hk::core
