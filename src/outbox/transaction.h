/// Statements that may meet those of others on the same rows. The caller's thread.
#pragma once

#include <vector>

#include "outbox/database.h"

namespace hk::outbox {

/// PostgreSQL chose this transaction to give way in a deadlock or a serialization failure: nothing
/// of it was done.
bool gave_way(const DatabaseError& error);

/// Database::run_together(), again (a few times) when it gave way.
DatabaseResult<std::vector<Rows>> run_again(Database& database,
                                            const std::vector<Statement>& statements);

}  // namespace hk::outbox
