/// Answers of the ledger's writes, made of the core's reply alone. Pure, any thread: under an
/// Idempotency-Key they are made in the batch of the command.
#pragma once

#include <cstdint>
#include <string>

#include "api/call.h"
#include "api/write.h"
#include "base/json.h"
#include "core/ledger/commands.h"

namespace hk::api::ledger {

/// 201 if something has come into being, otherwise 200.
int status_of(const core::ledger::Applied& applied);
/// The members of the object that the operation was about, with `replayed` where it can be one, and
/// `balances_after` if they are asked for. REQUIRES: the Apply had details.
void write_applied_members(JsonWriter& json, const core::ledger::Applied& applied, bool balances);
/// The reply to one operation.
http::Response to_answer(const core::ledger::ItemResult& result, bool balances,
                         std::string_view request_id);

/// One operation on the book that the path names, told as above.
struct Single {
  core::ledger::Operation operation{};
  bool balances = false;
  bool preview = false;
  bool may_force = false;
};
Write plan(const Services& services, Call& call, Single single);
/// A body that could not be read.
http::Response refuse(const Call& call, const core::ledger::Refusal& refusal);

}  // namespace hk::api::ledger
