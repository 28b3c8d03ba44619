#include "outbox/transaction.h"

namespace hk::outbox {

bool gave_way(const DatabaseError& error) {
  return error.sqlstate == "40P01" || error.sqlstate == "40001";
}

DatabaseResult<std::vector<Rows>> run_again(Database& database,
                                            const std::vector<Statement>& statements) {
  constexpr int tries_max = 5;
  for (int tries = 1;; ++tries) {
    auto results = database.run_together(statements);
    if (results || !gave_way(results.error()) || tries == tries_max) {
      return results;
    }
  }
}

}  // namespace hk::outbox
