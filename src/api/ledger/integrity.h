/// What a verification found, as it is told and as it is kept for the report `integrity`. Pure, any
/// thread.
#pragma once

#include <optional>
#include <string>

#include "api/ledger/audit.h"
#include "base/json.h"
#include "core/command.h"

namespace hk::api::ledger {

/// ok, from_seq, to_seq, records, head, faults, fault_count.
void write_audit_members(JsonWriter& json, const AuditReport& report);

/// Keeps it as the last one of its book.
core::Command keep_report(const core::ledger::Book& book, const AuditReport& report,
                          core::ledger::Instant verified_at);
/// The last one that was kept, as JSON.
std::optional<std::string> kept_report(core::Reader& reader, const core::ledger::Book& book);

}  // namespace hk::api::ledger
