/// What the database has of an outbox table: read from the system catalogs by `init` and by a relay
/// at its start. The caller's thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "outbox/database.h"
#include "outbox/table.h"

namespace hk::outbox {

struct Relation {
  bool exists = false;
  std::string kind{};                          ///< pg_class.relkind: r is an ordinary table
  std::map<std::string, std::string> types{};  ///< by column: jsonb, text, bigint …
  std::set<std::string> words{};               ///< columns that are text, varchar or an enum
  std::map<std::string, bool> indexes{};       ///< by name: whether it is valid
  std::set<std::string> required{};            ///< columns that are NOT NULL
  bool key_is_unique = false;  ///< a valid unique index on exactly the idempotency key
  bool id_is_unique = false;   ///< the same on the id; of the outbox
};

struct Catalog {
  std::string schema{};  ///< where the table is, or would be made
  Relation outbox{};
  Relation ledger{};
  bool has_trigger = false;
  bool has_publication = false;
  bool has_column_lists = false;   ///< a publication can name columns
  int version = 0;                 ///< of our additions to this table; 0: none yet
  std::string enqueue_function{};  ///< of this table, "" unknown
  std::map<std::string, std::string>
      functions{};  ///< enqueue functions of the schema: by name, the table
};

DatabaseResult<Catalog> read_catalog(Database& database, const Table& table);

}  // namespace hk::outbox
