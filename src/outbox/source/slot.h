/// The replication slot of a relay as the database sees it: its name, its state, what is missing
/// for one, and the operator's way to be rid of it. Blocking calls on an ordinary connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outbox/database.h"
#include "outbox/settings.h"
#include "outbox/source/pgoutput.h"

namespace hk::outbox {

/// "" is allowed: the name is made then. invalid_argument: not [a-z0-9_]{1,63}.
Result<void> check_slot_name(std::string_view name);

/// settings.slot, or one made from the table, its schema and the database: slots of all databases
/// of a server share their names.
std::string slot_name(const Settings& settings, std::string_view database);

struct SlotState {
  std::string wal_level{};
  bool publication = false;
  bool exists = false;
  bool ours = false;  ///< logical, by pgoutput, of this database
  bool active = false;
  std::int64_t active_pid = 0;
  bool lost = false;  ///< the server has removed what it had kept for it (max_slot_wal_keep_size)
  Lsn confirmed = 0;
  std::uint64_t retained_wal = 0;  ///< bytes of log that the server keeps because of it
};

/// unavailable also when the server is a standby.
Result<SlotState> read_slot(Database& database, std::string_view slot, const Table& table);

/// What a relay needs before it can stream. invalid_argument: wal_level; not_found: the
/// publication; conflict: the slot is somebody else's.
Result<void> check_slot(const SlotState& state, std::string_view slot, const Table& table);

/// For `hikyaku outbox drop-slot`: the server stops keeping its log for a relay that is gone for
/// good. No row is lost, the table has them all. not_found: there is none; conflict: it is in use.
Result<void> drop_slot(Database& database, const Settings& settings);

}  // namespace hk::outbox
