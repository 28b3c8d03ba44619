// hikyaku ledger recon: sources, lines of statements from a file, and what came of them.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>

#include "base/ascii.h"
#include "cli/exit_code.h"
#include "cli/ledger.h"
#include "cli/process.h"
#include "cli/remote_call.h"
#include "cli/statement_csv.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t lines_at_once = 500;

std::string recon_path(const LedgerArguments& arguments, const std::string& rest) {
  return "/api/v1/ledger/books/" + query_escape(arguments.book) + "/recon" + rest;
}

std::string parameter(char before, const char* name, const std::string& value) {
  return value.empty() ? "" : before + std::string(name) + '=' + query_escape(value);
}

std::optional<Answer> send(const Connection& connection, const char* method,
                           const std::string& path, std::string body, int& code) {
  return call(connection, method, path, {{"Content-Type", "application/json"}}, std::move(body),
              code, std::chrono::minutes(2));
}

const json::array& rows_in(const json::value& value, const char* name) {
  static const json::array none;
  const json::value* const found =
      value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

/// The next line of a statement; nullopt: there is none.
using NextLine = std::function<Result<std::optional<json::value>>()>;

NextLine json_lines(std::istream& in) {
  return [&in, number = std::uint64_t{0}]() mutable -> Result<std::optional<json::value>> {
    std::string line;
    do {
      if (!std::getline(in, line)) {
        return std::nullopt;
      }
      ++number;
    } while (trim(line, white_space).empty());
    boost::system::error_code wrong;
    json::value one = json::parse(line, wrong);
    if (wrong) {
      return fail(ErrorKind::invalid_argument, fmt::format("line {}: it is no JSON", number));
    }
    return one;
  };
}

Result<NextLine> csv_lines(std::istream& in, const LedgerArguments& arguments) {
  StatementForm form{.decimal_comma = arguments.decimal_comma,
                     .date_form = arguments.date_form,
                     .currency = arguments.currency};
  for (const std::string& given : arguments.columns) {
    if (auto added = add_column(form.columns, given); !added) {
      return fail(ErrorKind::invalid_argument, "--column " + added.error().message);
    }
  }
  if (arguments.separator.size() != 1) {
    return fail(ErrorKind::invalid_argument, "--separator must be one character");
  }
  form.separator = arguments.separator.front();
  if (!arguments.decimals.empty()) {
    form.decimals = static_cast<unsigned>(std::strtoul(arguments.decimals.c_str(), nullptr, 10));
  }
  const auto csv = std::make_shared<StatementCsv>(in, std::move(form));
  if (auto opened = csv->open(); !opened) {
    return std::unexpected(std::move(opened.error()));
  }
  return [csv]() -> Result<std::optional<json::value>> {
    auto line = csv->next();
    if (!line) {
      return std::unexpected(std::move(line.error()));
    }
    return *line ? std::optional<json::value>(std::move(**line)) : std::nullopt;
  };
}

}  // namespace

int set_recon_source(const Connection& connection, const LedgerArguments& arguments) {
  json::object body{{"account", arguments.account}, {"currency", arguments.currency}};
  if (!arguments.window_days.empty()) {
    body["window_days"] = std::strtoull(arguments.window_days.c_str(), nullptr, 10);
  }
  if (arguments.propose) {
    body["auto"] = false;
  }
  int code = exit_ok;
  const auto answer =
      send(connection, "PUT", recon_path(arguments, "/sources/" + query_escape(arguments.source)),
           json::serialize(body), code);
  if (answer && connection.json) {
    fmt::print("{}\n", answer->text);
  } else if (answer) {
    fmt::print("{}  {} {}\n", text_of(answer->value, "id"), text_of(answer->value, "account"),
               text_of(answer->value, "currency"));
  }
  return code;
}

int import_recon_lines(const Connection& connection, const LedgerArguments& arguments) {
  std::ifstream file(arguments.file);
  if (!file) {
    tell("hikyaku: cannot read " + arguments.file);
    return exit_usage;
  }
  const auto next = arguments.format == "csv" ? csv_lines(file, arguments) : json_lines(file);
  if (!next) {
    tell("hikyaku: " + arguments.file + ": " + next.error().message);
    return exit_usage;
  }
  const std::string path =
      recon_path(arguments, "/sources/" + query_escape(arguments.source) + "/lines");
  constexpr std::array<const char*, 4> counted = {"imported", "duplicates", "matched", "proposed"};
  std::array<std::uint64_t, counted.size()> counts{};
  json::array lines;
  std::uint64_t sent = 0;
  const auto tell_sent = [&sent] {
    if (sent > 0) {
      tell(fmt::format("The first {} lines were sent before. To go on, start it again.", sent));
    }
  };
  for (bool more = true; more;) {
    auto line = (*next)();
    if (!line) {
      tell("hikyaku: " + arguments.file + ": " + line.error().message);
      tell_sent();
      return exit_usage;
    }
    more = line->has_value();
    if (more) {
      lines.push_back(std::move(**line));
    }
    if (lines.empty() || (more && lines.size() < lines_at_once)) {
      continue;
    }
    int code = exit_ok;
    const auto answer =
        send(connection, "POST", path, json::serialize(json::object{{"lines", lines}}), code);
    if (!answer) {
      tell_sent();
      return code;
    }
    for (std::size_t i = 0; i < counted.size(); ++i) {
      counts[i] += std::strtoull(text_of(answer->value, counted[i]).c_str(), nullptr, 10);
    }
    sent += lines.size();
    lines.clear();
  }
  if (connection.json) {
    json::object all;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      all[counted[i]] = counts[i];
    }
    fmt::print("{}\n", json::serialize(all));
  } else {
    fmt::print("imported {}  duplicates {}  matched {}  proposed {}\n", counts[0], counts[1],
               counts[2], counts[3]);
  }
  return exit_ok;
}

int list_recon_lines(const Connection& connection, const LedgerArguments& arguments) {
  int code = exit_ok;
  const auto answer = call(
      connection, "GET",
      recon_path(arguments, "/sources/" + query_escape(arguments.source) + "/lines?limit=" +
                                (arguments.limit.empty() ? "100" : query_escape(arguments.limit))) +
          parameter('&', "state", arguments.state) + parameter('&', "from", arguments.from) +
          parameter('&', "to", arguments.to) + parameter('&', "cursor", arguments.cursor),
      {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return code;
  }
  for (const json::value& line : rows_in(answer->value, "lines")) {
    const std::string rule = text_of(line, "rule");
    std::string entries;
    for (const json::value& entry : rows_in(line, "entries")) {
      entries += ' ' + text_of(entry, "transaction") + '/' + text_of(entry, "index");
    }
    fmt::print("{}  {:<20} {:>12} {}  {}{}{}\n", text_of(line, "date"),
               text_of(line, "external_id"), text_of(line, "amount"), text_of(line, "currency"),
               text_of(line, "state"), rule.empty() ? "" : "  " + rule, entries);
  }
  if (const std::string cursor = text_of(answer->value, "cursor"); !cursor.empty()) {
    fmt::print("more: --cursor {}\n", cursor);
  }
  return code;
}

int decide_recon(const Connection& connection, const LedgerArguments& arguments) {
  json::object body{{"source", arguments.source}, {"action", arguments.action}};
  body["external_id"] = arguments.line;
  if (!arguments.entries.empty()) {
    json::array entries;
    for (const std::string& entry : arguments.entries) {
      // An id has no slash.
      const std::size_t slash = entry.find('/');
      const std::string index = slash == std::string::npos ? "0" : entry.substr(slash + 1);
      entries.push_back(json::object{{"transaction", entry.substr(0, slash)},
                                     {"index", std::strtoull(index.c_str(), nullptr, 10)}});
    }
    body["entries"] = std::move(entries);
  }
  int code = exit_ok;
  const auto answer =
      send(connection, "POST", recon_path(arguments, "/matches"), json::serialize(body), code);
  if (answer && connection.json) {
    fmt::print("{}\n", answer->text);
  } else if (answer) {
    fmt::print("{}  {}\n", text_of(answer->value, "external_id"), text_of(answer->value, "state"));
  }
  return code;
}

int show_recon_report(const Connection& connection, const LedgerArguments& arguments) {
  int code = exit_ok;
  const auto answer =
      call(connection, "GET",
           recon_path(arguments, "/report" + parameter('?', "source", arguments.source) +
                                     parameter('&', "from", arguments.from) +
                                     parameter('&', "to", arguments.to) +
                                     parameter('&', "limit", arguments.limit) +
                                     parameter('&', "cursor", arguments.cursor)),
           {}, {}, code, std::chrono::minutes(10));
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return code;
  }
  for (const json::value& day : rows_in(answer->value, "days")) {
    fmt::print(
        "{}  matched {}  lines left {}  entries left {}  statement {}  book {}  "
        "difference {}\n",
        text_of(day, "date"), text_of(day, "matched"), text_of(day, "unmatched_lines"),
        text_of(day, "unmatched_entries"), text_of(day, "lines_total"),
        text_of(day, "ledger_total"), text_of(day, "difference"));
  }
  if (const std::string cursor = text_of(answer->value, "cursor"); !cursor.empty()) {
    fmt::print("more: --cursor {}\n", cursor);
  }
  return code;
}

}  // namespace hk::cli
