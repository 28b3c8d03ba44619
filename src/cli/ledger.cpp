// hikyaku ledger, of a running server.
#include "cli/ledger.h"

#include <fmt/core.h>

#include <initializer_list>
#include <utility>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

using std::chrono::minutes;

std::string ledger_path(const LedgerArguments& arguments, const std::string& rest) {
  return "/api/v1/ledger/books/" + query_escape(arguments.book) + rest;
}

/// "?name=value&…" of those that are not empty.
std::string query_of(
    std::initializer_list<std::pair<std::string_view, const std::string&>> parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (!value.empty()) {
      query += (query.empty() ? "?" : "&") + std::string(name) + "=" + query_escape(value);
    }
  }
  return query;
}

const json::array& list_in(const json::value& value, const char* name) {
  static const json::array none;
  const json::value* const found =
      value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

/// The answer as it is, or what `print` makes of it.
template <class Print>
int show_ledger(const Connection& connection, const std::string& path, Print print) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", path, {}, {}, code, minutes(10));
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
  } else {
    print(answer->value);
  }
  return exit_ok;
}

void print_more(const json::value& value) {
  if (const std::string cursor = text_of(value, "cursor"); !cursor.empty()) {
    fmt::print("more: --cursor {}\n", cursor);
  }
}

/// "USD  posted 5  pending 5  available 5"
void print_balance(const json::value& row) {
  std::string line;
  if (const std::string group = text_of(row, "group"); !group.empty()) {
    line = fmt::format("{:<24} ", group);
  }
  line += text_of(row, "currency");
  for (const char* const name : {"posted", "pending", "available"}) {
    if (const std::string value = text_of(row, name); !value.empty()) {
      line += fmt::format("  {} {}", name, value);
    }
  }
  if (text_of(row, "posted").empty()) {  // accounts of both sides: there is no one direction
    line += fmt::format("  debits {}  credits {}", text_of(row, "debits_posted"),
                        text_of(row, "credits_posted"));
  }
  if (const std::string accounts = text_of(row, "accounts"); !accounts.empty()) {
    line += "  accounts " + accounts;
  }
  fmt::print("{}\n", line);
}

/// Each member but the first and lists, as "name value".
std::string members_of(const json::value& row, std::string_view without) {
  std::string line;
  for (const auto& [name, value] : row.as_object()) {
    const std::string_view key(name.data(), name.size());
    if (key != without && !value.is_array()) {
      line += fmt::format("  {} {}", key, text_of(row, key));
    }
  }
  return line;
}

void print_report(const json::value& value) {
  for (const json::value& currency : list_in(value, "currencies")) {
    fmt::print("{}{}\n", text_of(currency, "currency"), members_of(currency, "currency"));
    for (const json::value& type : list_in(currency, "types")) {
      fmt::print("  {:<10}{}\n", text_of(type, "type"), members_of(type, "type"));
    }
  }
  for (const json::value& day : list_in(value, "days")) {
    fmt::print("{}  {:<32} {}  debits {}  credits {}\n", text_of(day, "date"),
               text_of(day, "account"), text_of(day, "currency"), text_of(day, "debits"),
               text_of(day, "credits"));
  }
  if (value.as_object().contains("holds") && list_in(value, "holds").empty()) {
    fmt::print("no open holds\n");
  }
  for (const json::value& hold : list_in(value, "holds")) {
    const std::string expires = text_of(hold, "expires_at");
    fmt::print("{}  recorded {}  expires {}  age {}s\n", text_of(hold, "id"),
               text_of(hold, "recorded_at"), expires.empty() ? "never" : expires,
               text_of(hold, "age_s"));
  }
  print_more(value);
}

void print_verified(const std::string& book, const json::value& value) {
  for (const json::value& fault : list_in(value, "faults")) {
    fmt::print("record {}: {}\n", text_of(fault, "seq"), text_of(fault, "what"));
  }
  const std::string faults = text_of(value, "fault_count");
  fmt::print("{}: {} records, {}\n", book, text_of(value, "records"),
             faults == "0" ? "no fault" : faults + " faults");
}

}  // namespace

int list_ledger_accounts(const Connection& connection, const LedgerArguments& arguments) {
  return show_ledger(connection,
                     ledger_path(arguments, "/accounts") + query_of({{"prefix", arguments.prefix},
                                                                     {"type", arguments.type},
                                                                     {"state", arguments.state},
                                                                     {"limit", arguments.limit},
                                                                     {"cursor", arguments.cursor}}),
                     [](const json::value& value) {
                       for (const json::value& account : list_in(value, "accounts")) {
                         const std::string currency = text_of(account, "currency");
                         fmt::print("{:<32} {:<10} {:<6} {:<7} {}\n", text_of(account, "path"),
                                    text_of(account, "type"), currency.empty() ? "any" : currency,
                                    text_of(account, "state"), text_of(account, "id"));
                       }
                       print_more(value);
                     });
}

int show_ledger_balances(const Connection& connection, const LedgerArguments& arguments) {
  const std::string path = arguments.account.empty()
                               ? "/balances"
                               : "/accounts/" + query_escape(arguments.account) + "/balances";
  return show_ledger(
      connection,
      ledger_path(arguments, path) + query_of({{"prefix", arguments.prefix},
                                               {"group_by", arguments.group_by},
                                               {"currency", arguments.currency},
                                               {"limit", arguments.limit},
                                               {"cursor", arguments.cursor},
                                               {"as_of_effective", arguments.as_of_effective},
                                               {"as_of_recorded", arguments.as_of_recorded},
                                               {"as_of_seq", arguments.as_of_seq}}),
      [](const json::value& value) {
        for (const json::value& row : list_in(value, "balances")) {
          print_balance(row);
        }
        print_more(value);
      });
}

int post_to_ledger(const Connection& connection, const LedgerArguments& arguments) {
  json::object body;
  const auto add = [&body](const char* name, const std::string& value) {
    if (!value.empty()) {
      body[name] = value;
    }
  };
  add("id", arguments.id);
  add("description", arguments.description);
  add("reference", arguments.reference);
  add("effective_at", arguments.effective_at);
  if (arguments.hold) {
    body["kind"] = "pending";
  }
  if (!arguments.timeout.empty()) {
    body["timeout"] = std::strtoll(arguments.timeout.c_str(), nullptr, 10);
  }
  const auto entry = [&arguments](const char* side, const std::string& account) {
    return json::object{{"account", account},
                        {"side", side},
                        {"amount", arguments.amount},
                        {"currency", arguments.currency}};
  };
  body["entries"] = json::array{entry("debit", arguments.debit), entry("credit", arguments.credit)};
  int code = exit_ok;
  const auto answer = call(connection, "POST", ledger_path(arguments, "/transactions"),
                           {{"Content-Type", "application/json"}}, json::serialize(body), code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
  } else {
    fmt::print("{}  {}{}\n", text_of(answer->value, "id"), text_of(answer->value, "state"),
               text_of(answer->value, "replayed") == "true" ? "  (replayed)" : "");
  }
  return exit_ok;
}

int list_ledger_transactions(const Connection& connection, const LedgerArguments& arguments) {
  return show_ledger(
      connection,
      ledger_path(arguments, "/transactions") + query_of({{"account", arguments.account},
                                                          {"prefix", arguments.prefix},
                                                          {"currency", arguments.currency},
                                                          {"state", arguments.state},
                                                          {"reference", arguments.reference},
                                                          {"effective_from", arguments.from},
                                                          {"effective_to", arguments.to},
                                                          {"limit", arguments.limit},
                                                          {"cursor", arguments.cursor}}),
      [](const json::value& value) {
        for (const json::value& one : list_in(value, "transactions")) {
          fmt::print("{}  {:<32} {:<16} {}\n", text_of(one, "effective_at"), text_of(one, "id"),
                     text_of(one, "state"), text_of(one, "description"));
        }
        print_more(value);
      });
}

int show_ledger_statement(const Connection& connection, const LedgerArguments& arguments) {
  const std::string path =
      ledger_path(arguments, "/accounts/" + query_escape(arguments.account) + "/statement");
  constexpr const char* most = "1000";
  std::string cursor = arguments.cursor;
  for (bool first = true;; first = false) {
    std::string next;
    const int code = show_ledger(
        connection,
        path + query_of({{"currency", arguments.currency},
                         {"from", arguments.from},
                         {"to", arguments.to},
                         {"by", arguments.by},
                         {"limit", arguments.limit.empty() ? most : arguments.limit},
                         {"cursor", cursor}}),
        [&](const json::value& value) {
          if (first) {
            fmt::print("opening {:>55}\n", text_of(value, "opening"));
          }
          for (const json::value& line : list_in(value, "lines")) {
            fmt::print("{}  {:<6} {:>10} {:>13}  {}\n",
                       text_of(line, arguments.by == "recorded" ? "recorded_at" : "effective_at"),
                       text_of(line, "side"), text_of(line, "amount"), text_of(line, "balance"),
                       text_of(line, "transaction"));
          }
          next = text_of(value, "cursor");
          if (next.empty()) {
            fmt::print("closing {:>55}\n", text_of(value, "closing"));
          } else if (!arguments.limit.empty()) {
            print_more(value);
            next.clear();
          }
        });
    if (code != exit_ok || next.empty()) {
      return code;
    }
    cursor = next;
  }
}

int show_ledger_report(const Connection& connection, const LedgerArguments& arguments) {
  return show_ledger(connection,
                     ledger_path(arguments, "/reports/" + query_escape(arguments.report)) +
                         query_of({{"prefix", arguments.prefix},
                                   {"from", arguments.from},
                                   {"to", arguments.to},
                                   {"by", arguments.by},
                                   {"limit", arguments.limit},
                                   {"cursor", arguments.cursor},
                                   {"as_of_effective", arguments.as_of_effective},
                                   {"as_of_recorded", arguments.as_of_recorded},
                                   {"as_of_seq", arguments.as_of_seq}}),
                     [&](const json::value& value) {
                       arguments.report == "integrity" ? print_verified(arguments.book, value)
                                                       : print_report(value);
                     });
}

int verify_ledger(const Connection& connection, const LedgerArguments& arguments) {
  json::object body;
  for (const auto& [name, value] :
       {std::pair{"from_seq", &arguments.from_seq}, std::pair{"to_seq", &arguments.to_seq}}) {
    if (!value->empty()) {
      body[name] = std::strtoull(value->c_str(), nullptr, 10);
    }
  }
  int code = exit_ok;
  const auto answer =
      call(connection, "POST", ledger_path(arguments, "/verify"),
           {{"Content-Type", "application/json"}}, json::serialize(body), code, minutes(60));
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
  } else {
    print_verified(arguments.book, answer->value);
  }
  return text_of(answer->value, "ok") == "true" ? exit_ok : exit_corruption;
}

ExportFile::ExportFile(const std::string& path)
    : path_(path), file_(path.empty() ? stdout : std::fopen(path.c_str(), "wb")) {}

ExportFile::~ExportFile() {
  if (file_ != nullptr && file_ != stdout) {
    static_cast<void>(std::fclose(file_));
  }
}

bool ExportFile::write(std::string_view page, bool csv) {
  if (!first_ && csv) {
    page.remove_prefix(std::min(page.size(), page.find('\n') + 1));
  }
  first_ = false;
  good_ =
      good_ && file_ != nullptr && std::fwrite(page.data(), 1, page.size(), file_) == page.size();
  return good_;
}

bool ExportFile::close() {
  if (file_ != nullptr) {
    good_ = std::fflush(file_) == 0 && good_;
    if (file_ != stdout) {
      good_ = std::fclose(std::exchange(file_, nullptr)) == 0 && good_;
    }
  } else {
    good_ = false;
  }
  if (!good_) {
    tell("hikyaku: cannot write " + (path_.empty() ? "to standard output" : path_));
  }
  return good_;
}

int export_ledger(const Connection& connection, const LedgerArguments& arguments) {
  ExportFile file(arguments.out);
  std::string from_seq = arguments.from_seq;
  const std::string values = arguments.values ? "true" : "";
  bool written = true;
  do {
    int code = exit_ok;
    const auto answer =
        call(connection, "GET",
             ledger_path(arguments, "/export") + query_of({{"kind", arguments.kind},
                                                           {"format", arguments.format},
                                                           {"from_seq", from_seq},
                                                           {"to_seq", arguments.to_seq},
                                                           {"effective_from", arguments.from},
                                                           {"effective_to", arguments.to},
                                                           {"values", values}}),
             {}, {}, code, minutes(10));
    if (!answer) {
      if (!from_seq.empty()) {
        tell(
            fmt::format("The export ends before record {0}: go on with --from-seq {0}.", from_seq));
      }
      return code;
    }
    written = file.write(answer->text, arguments.format == "csv");
    from_seq = std::string(net::find_field(answer->fields, "Hikyaku-Next-Seq").value_or(""));
  } while (written && !from_seq.empty());
  return file.close() ? exit_ok : exit_failed;
}

}  // namespace hk::cli
