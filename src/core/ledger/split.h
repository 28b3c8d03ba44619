/// One amount divided over parts: exact, by the largest remainders, ties to the earlier part.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/ledger/commands.h"

namespace hk::core::ledger {

/// One share for each part, some of them 0; their sum is the amount. An error says what is wrong
/// with the parts.
std::expected<std::vector<Amount>, std::string> split_amount(Amount amount,
                                                             const std::vector<SplitPart>& parts);

}  // namespace hk::core::ledger
