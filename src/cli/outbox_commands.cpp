#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <functional>

#include "base/json.h"
#include "cli/exit_code.h"
#include "cli/outbox.h"
#include "cli/process.h"
#include "outbox/database.h"
#include "outbox/source/slot.h"

namespace hk::cli {
namespace {

using outbox::Database;
using outbox::DatabaseResult;

DatabaseResult<Database> connect(const outbox::Settings& settings) {
  auto database = Database::connect(settings.database, "hikyaku outbox", Millis{5'000});
  if (database) {
    database->set_timeout(Millis{60'000});
  }
  return database;
}

/// Runs `action` with the table's operator.
int with_operator(const outbox::Settings& settings,
                  const std::function<int(outbox::Operator&)>& action) {
  auto database = connect(settings);
  if (!database) {
    return refuse(database.error().error);
  }
  const auto shape = outbox::check_schema(*database, settings.table);
  if (!shape) {
    return refuse(shape.error().error);
  }
  outbox::Operator person(*database, settings, *shape);
  return action(person);
}

std::string time_text(Moment moment) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(moment);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// "unknown" for a time that the row does not have.
std::string time_text(const std::optional<Moment>& moment) {
  return moment ? time_text(*moment) : "unknown";
}

std::string age_text(Millis age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7'200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86'400);
}

void write(JsonWriter& out, const outbox::Summary& row) {
  out.field("id", row.id);
  out.field("idempotency_key", row.idempotency_key);
  out.field("status", row.status);
  out.field("attempts", row.attempts);
  out.field("destination", row.destination);
  out.field("order_key", row.order_key);
  if (row.created_at) out.field("created_at", time_text(*row.created_at));
  if (row.updated_at) out.field("updated_at", time_text(*row.updated_at));
  if (row.next_run_at) out.field("next_run_at", time_text(*row.next_run_at));
  out.field("locked_by", row.locked_by);
  if (row.locked_at) out.field("locked_at", time_text(*row.locked_at));
  out.field("last_error_code", row.last_error_code);
  out.field("last_error_msg", row.last_error_msg);
}

/// One object on a line of its own.
void print_json(const std::function<void(JsonWriter&)>& fill) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  fill(out);
  out.end_object();
  fmt::print("{}\n", text);
}

/// What stands in a table or an answer may hold anything, also what a terminal would obey: control
/// characters are escaped. Quotes are left as they are, so that JSON can be read and copied.
std::string printable(std::string_view text, std::size_t bytes_max = 4'096) {
  std::string quoted;
  append_json_string(quoted, text, bytes_max);
  std::string plain;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && (quoted[i + 1] == '"' || quoted[i + 1] == '\\')) {
      ++i;
    }
    plain.push_back(quoted[i]);
  }
  return plain;
}

void print_line(std::string_view name, std::string_view value, std::size_t bytes_max = 4'096) {
  if (!value.empty()) {
    fmt::print("{:<16} {}\n", name, printable(value, bytes_max));
  }
}

std::string key_text(const outbox::Summary& row) {
  return row.idempotency_key.empty() ? "(no key)" : row.idempotency_key;
}

std::string payload_text(const outbox::Detail& detail) {
  if (!detail.payload_bytes) {
    return "NULL";
  }
  return detail.payload ? *detail.payload
                        : fmt::format("{} bytes (shown by --payload)", *detail.payload_bytes);
}

void print_detail(const outbox::Detail& detail) {
  const outbox::Summary& row = detail.row;
  print_line("id", std::to_string(row.id));
  print_line("status", row.status);
  print_line("idempotency key", key_text(row));
  print_line("digest", detail.request_digest);
  print_line("destination", row.destination);
  print_line("order key", row.order_key);
  print_line("headers", detail.headers);
  print_line("payload", payload_text(detail), std::string::npos);
  print_line("attempts", std::to_string(row.attempts));
  print_line("last error",
             row.last_error_code + (row.last_error_msg.empty() ? "" : ": " + row.last_error_msg));
  print_line("created", time_text(row.created_at));
  print_line("updated", time_text(row.updated_at));
  print_line("next run", row.next_run_at ? time_text(*row.next_run_at) : "");
  print_line("held by", row.locked_by);
  print_line("heartbeat", row.locked_at ? time_text(*row.locked_at) : "");
  if (!detail.ledger) {
    print_line("ledger", "nothing yet");
    return;
  }
  print_line("ledger",
             detail.ledger->status +
                 (detail.ledger->http_status ? fmt::format(", HTTP {}", *detail.ledger->http_status)
                                             : "") +
                 (detail.ledger->reason_code.empty() ? "" : ", " + detail.ledger->reason_code) +
                 ", " + time_text(detail.ledger->updated_at));
  print_line("answer", detail.ledger->response);
}

/// Relays put their name and the time into each row that they take.
void print_holder(const outbox::Holder& holder) {
  const std::string rows = fmt::format("{} {}", holder.rows, holder.rows == 1 ? "row" : "rows");
  const std::string since =
      holder.oldest_heartbeat
          ? fmt::format("oldest heartbeat {} ago", age_text(*holder.oldest_heartbeat))
          : "no heartbeat";
  if (holder.worker.empty()) {
    fmt::print("{} sending without the name of a relay (locked_by is empty); {}.\n",
               rows + (holder.rows == 1 ? " is" : " are"), since);
    return;
  }
  fmt::print("{} holds {}; {}.\n", printable(holder.worker), rows, since);
}

}  // namespace

int outbox_init(const outbox::Settings& settings, const outbox::InitOptions& options) {
  auto database = connect(settings);
  if (!database) {
    return refuse(database.error().error);
  }
  const auto report = outbox::init_schema(*database, settings.table, options);
  if (!report) {
    return refuse(report.error());
  }
  if (options.print) {
    fmt::print("{}", report->sql);
    return exit_ok;
  }
  for (const std::string& line : report->done) {
    fmt::print("{}\n", line);
  }
  if (report->done.empty()) {
    fmt::print("Nothing to do: everything exists.\n");
  }
  return exit_ok;
}

int outbox_status(const outbox::Settings& settings, bool json) {
  return with_operator(settings, [json](outbox::Operator& person) -> int {
    const auto status = person.status();
    if (!status) {
      return refuse(status.error().error);
    }
    const outbox::Counts& counts = status->counts;
    if (json) {
      print_json([&](JsonWriter& out) {
        out.field("pending", counts.pending);
        out.field("failed", counts.failed);
        out.field("sending", counts.sending);
        out.field("succeeded", status->succeeded);
        out.field("aborted", counts.aborted);
        out.field("other", status->other);
        out.field("leases_expired", status->leases_expired);
        if (counts.oldest_due) out.field("oldest_due_ms", counts.oldest_due->count());
        if (status->postponed.rows > 0) {
          out.key("postponed");
          out.begin_object();
          out.field("rows", status->postponed.rows);
          out.field("last_error_code", status->postponed.reason_code);
          out.field("last_error_msg", status->postponed.message);
          out.field("ago_ms", status->postponed.ago.count());
          out.end_object();
        }
        out.key("holders");
        out.begin_array();
        for (const outbox::Holder& holder : status->holders) {
          out.begin_object();
          if (holder.worker.empty()) {
            out.key("worker");
            out.null();
          } else {
            out.field("worker", holder.worker);
          }
          out.field("rows", holder.rows);
          if (holder.oldest_heartbeat) {
            out.field("oldest_heartbeat_ms", holder.oldest_heartbeat->count());
          }
          out.end_object();
        }
        out.end_array();
      });
      return exit_ok;
    }
    for (const auto& [name, count] :
         {std::pair{"pending", counts.pending}, std::pair{"sending", counts.sending},
          std::pair{"failed", counts.failed}, std::pair{"succeeded", status->succeeded},
          std::pair{"aborted", counts.aborted}}) {
      fmt::print("{:<10} {}\n", name, count);
    }
    if (status->other > 0) {
      fmt::print(
          "other: {} (rows with an unknown status are never sent: hikyaku outbox list --status "
          "other)\n",
          status->other);
    }
    if (counts.oldest_due) {
      fmt::print("The oldest due row has been waiting for {}.\n", age_text(*counts.oldest_due));
    }
    if (const outbox::PostponedRows& waits = status->postponed; waits.rows > 0) {
      fmt::print("Postponed because of the broker, no attempt counted: {} {}; {} ago: {}: {}\n",
                 waits.rows, waits.rows == 1 ? "row" : "rows", age_text(waits.ago),
                 printable(waits.reason_code), printable(waits.message));
    }
    for (const outbox::Holder& holder : status->holders) {
      print_holder(holder);
    }
    if (status->leases_expired > 0) {
      fmt::print("{} leases have expired: a running relay takes these rows over.\n",
                 status->leases_expired);
    }
    if (counts.aborted > 0) {
      fmt::print("Look at the aborted rows: hikyaku outbox list --status aborted\n");
    }
    return exit_ok;
  });
}

int outbox_list(const outbox::Settings& settings, const outbox::ListQuery& query, bool json) {
  return with_operator(settings, [&](outbox::Operator& person) -> int {
    const auto rows = person.list(query);
    if (!rows) {
      return refuse(rows.error().error);
    }
    for (const outbox::Summary& row : *rows) {
      if (json) {
        print_json([&row](JsonWriter& out) { write(out, row); });
      } else {
        fmt::print("{:>10}  {:<9}  {:>2}  {:<20}  {}{}\n", row.id, printable(row.status, 32),
                   row.attempts, time_text(row.created_at), printable(key_text(row)),
                   row.last_error_code.empty() ? "" : "  " + printable(row.last_error_code));
      }
    }
    if (rows->size() == query.limit && !json) {
      tell(fmt::format("There may be more rows: --after {}", rows->back().id));
    }
    return exit_ok;
  });
}

int outbox_show(const outbox::Settings& settings, const std::string& row, bool payload, bool json) {
  constexpr std::string_view by_key = "key:";
  std::int64_t id = 0;
  const bool is_key = row.starts_with(by_key);
  if (!is_key) {
    const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), id);
    if (error != std::errc{} || end != row.data() + row.size()) {
      tell("hikyaku: name the row by its id, or by key:IDEMPOTENCY_KEY");
      return exit_usage;
    }
  }
  return with_operator(settings, [&](outbox::Operator& person) -> int {
    const auto found =
        is_key ? person.show(row.substr(by_key.size()), payload) : person.show(id, payload);
    if (!found) {
      return refuse(found.error().error);
    }
    if (!*found) {
      tell(fmt::format("hikyaku: row not found: {}", printable(row)));
      return exit_failed;
    }
    const outbox::Detail& detail = **found;
    if (!json) {
      print_detail(detail);
      return exit_ok;
    }
    print_json([&](JsonWriter& out) {
      write(out, detail.row);
      out.field("request_digest", detail.request_digest);
      out.field("headers", detail.headers);
      if (detail.payload_bytes) out.field("payload_bytes", *detail.payload_bytes);
      if (detail.payload) out.field("payload", *detail.payload);
      if (detail.ledger) {
        out.key("ledger");
        out.begin_object();
        out.field("status", detail.ledger->status);
        if (detail.ledger->http_status) out.field("http_status", *detail.ledger->http_status);
        out.field("reason_code", detail.ledger->reason_code);
        out.field("response", detail.ledger->response);
        if (detail.ledger->updated_at) {
          out.field("updated_at", time_text(*detail.ledger->updated_at));
        }
        out.end_object();
      }
    });
    return exit_ok;
  });
}

int outbox_change(const outbox::Settings& settings, RowChange change,
                  const outbox::Selection& selection, const std::string& message, bool json) {
  if (selection.ids.empty() && !selection.all) {
    tell(fmt::format("hikyaku: give the rows by id{}",
                     change == RowChange::abort ? "" : ", or --all"));
    return exit_usage;
  }
  return with_operator(settings, [&](outbox::Operator& person) -> int {
    const auto changed = change == RowChange::requeue   ? person.requeue(selection)
                         : change == RowChange::release ? person.release(selection)
                                                        : person.abort(selection, message);
    if (!changed) {
      return refuse(changed.error().error);
    }
    if (json) {
      print_json([&](JsonWriter& out) {
        out.field("changed", changed->count);
        out.key("refused");
        out.begin_array();
        for (const outbox::Refusal& one : changed->refused) {
          out.begin_object();
          out.field("id", one.id);
          out.field("why", one.why);
          out.end_object();
        }
        out.end_array();
      });
    } else {
      const char* word = change == RowChange::requeue   ? "requeued"
                         : change == RowChange::release ? "released"
                                                        : "aborted";
      fmt::print("{} {} {}\n", changed->count, changed->count == 1 ? "row" : "rows", word);
      for (const outbox::Refusal& one : changed->refused) {
        tell(fmt::format("{}: {}", one.id, one.why));
      }
    }
    return changed->refused.empty() ? exit_ok : exit_failed;
  });
}

int outbox_drop_slot(const outbox::Settings& settings) {
  auto database = connect(settings);
  if (!database) {
    return refuse(database.error().error);
  }
  if (const auto dropped = outbox::drop_slot(*database, settings); !dropped) {
    return refuse(dropped.error());
  }
  fmt::print("The replication slot is dropped; PostgreSQL no longer keeps WAL for it.\n");
  return exit_ok;
}

}  // namespace hk::cli
