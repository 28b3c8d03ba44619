#include "outbox/source/slot.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/encoding.h"

namespace hk::outbox {
namespace {

constexpr std::size_t name_bytes_max = 63;

bool allowed_in_slot(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// FNV-1a: the same for the same table for ever.
std::string fingerprint(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  std::string bytes;
  append_be(bytes, hash);
  return hex(bytes);
}

std::string slot_in_use(std::string_view slot, std::int64_t pid) {
  return "the replication slot \"" + std::string(slot) + "\" is in use by the process " +
         std::to_string(pid) + " of the server";
}

}  // namespace

Result<void> check_slot_name(std::string_view name) {
  if (name.size() > name_bytes_max || !std::ranges::all_of(name, allowed_in_slot)) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_SLOT is \"" + std::string(name) +
                    "\": the name of a replication slot has 1 to 63 characters of a-z, 0-9 and _");
  }
  return {};
}

std::string slot_name(const Settings& settings, std::string_view database) {
  if (!settings.slot.empty()) {
    return settings.slot;
  }
  const std::string& schema = settings.table.schema;
  const std::string wanted = settings.table.channel() +
                             (schema.empty() ? "_" : "_" + schema + "_") + std::string(database);
  if (wanted.size() <= name_bytes_max && std::ranges::all_of(wanted, allowed_in_slot)) {
    return wanted;
  }
  // Names that differ in what a slot's name cannot hold must not become the same.
  const std::string tail = "_" + fingerprint(wanted);
  std::string name = wanted.substr(0, name_bytes_max - tail.size());
  std::ranges::replace_if(
      name, [](char c) { return !allowed_in_slot(c); }, '_');
  return name + tail;
}

Result<SlotState> read_slot(Database& database, std::string_view slot, const Table& table) {
  auto rows = database.run(
      "SELECT current_setting('wal_level'),"
      " EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = $2),"
      " s.slot_name IS NOT NULL,"
      " s.slot_type = 'logical' AND s.plugin = 'pgoutput' AND s.database = current_database(),"
      " s.active, s.active_pid, s.wal_status = 'lost',"
      " (s.confirmed_flush_lsn - '0/0'::pg_lsn)::bigint,"
      " (pg_current_wal_lsn() - s.restart_lsn)::bigint"
      " FROM (VALUES (1)) one LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = $1",
      {slot, table.channel()});
  if (!rows) {
    return std::unexpected(std::move(rows).error().error);
  }
  SlotState state;
  state.wal_level = rows->text(0, 0);
  state.publication = rows->flag(0, 1);
  state.exists = rows->flag(0, 2);
  state.ours = rows->flag(0, 3);
  state.active = rows->flag(0, 4);
  state.active_pid = rows->number(0, 5);
  state.lost = rows->flag(0, 6);
  state.confirmed = static_cast<Lsn>(rows->number(0, 7));
  state.retained_wal = static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows->number(0, 8)));
  return state;
}

Result<void> check_slot(const SlotState& state, std::string_view slot, const Table& table) {
  if (state.wal_level != "logical") {
    return fail(ErrorKind::invalid_argument,
                "the server cannot replicate logically (wal_level is " + state.wal_level +
                    "): set wal_level = logical and restart it, or set OUTBOX_SOURCE=notify");
  }
  if (!state.publication) {
    return fail(ErrorKind::not_found,
                "there is no publication " + quoted_identifier(table.channel()) + " for " +
                    table.outbox_name() +
                    ": run `hikyaku outbox init --publication`, which creates it");
  }
  if (state.exists && !state.ours) {
    return fail(ErrorKind::conflict,
                "the replication slot \"" + std::string(slot) +
                    "\" belongs to another database or is not one of pgoutput: name another by "
                    "OUTBOX_SLOT");
  }
  return {};
}

Result<void> drop_slot(Database& database, const Settings& settings) {
  auto name = database.run("SELECT current_database()");
  if (!name) {
    return std::unexpected(std::move(name).error().error);
  }
  const std::string slot = slot_name(settings, name->text(0, 0));
  auto found = database.run(
      "SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1", {slot});
  if (!found) {
    return std::unexpected(std::move(found).error().error);
  }
  if (found->size() == 0) {
    return fail(ErrorKind::not_found, "there is no replication slot \"" + slot + "\"");
  }
  if (!found->is_null(0, 0)) {
    return fail(ErrorKind::conflict,
                slot_in_use(slot, found->number(0, 0)) + ": stop the relay that has it first");
  }
  auto dropped = database.run("SELECT pg_drop_replication_slot($1)", {slot});
  if (!dropped) {
    return std::unexpected(std::move(dropped).error().error);
  }
  return {};
}

}  // namespace hk::outbox
