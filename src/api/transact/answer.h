/// What a transact is told as. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/transact/read.h"
#include "core/transact/commands.h"

namespace hk::api::transact {

http::Response told_of(const core::Transacted& done, const std::vector<Told>& operations);
/// Nothing was done.
http::Response told_of_refusal(const core::TransactRefused& refused,
                               const std::vector<Told>& operations, std::string_view request_id);
/// All of them. REQUIRES: there is one.
http::Response told_of_faults(const std::vector<Fault>& faults, std::string_view request_id);

/// The answer that told_of() gives, with names in place of the ledger's objects: it is stored
/// where the answer would be too large.
std::string reference_of(const core::Transacted& done, const std::vector<Told>& operations);
/// That answer again, with the objects as they are now.
http::Response show_again(const Services& services, core::TenantId tenant,
                          std::string_view reference);

}  // namespace hk::api::transact
