/// A book imported into a server of its own, and compared with where it comes from.
#pragma once

#include <string>
#include <vector>

#include "unit/core/ledger/book_rig.h"

namespace hk::core::testing {

/// Every record of the book as it would be exported, with values of metadata.
std::vector<ledger::ImportRecords::One> exported_records(BookRig& source);
/// In pieces of that many records; "" or the code of the first that is refused.
std::string import_into(BookRig& target, const std::vector<ledger::ImportRecords::One>& records,
                        std::size_t piece, bool complete = true);
/// A book that was imported says the same as its source, at any moment.
void expect_same_book(BookRig& source, BookRig& copy);

}  // namespace hk::core::testing
