#include "config/options.h"

namespace hk::config {
namespace {

/// A cell may not end itself.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : std::string(1, c);
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string or_bare(const OptionRow& row) {
  return row.unit == "s" ? " or seconds" : row.unit == "ms" ? " or milliseconds" : "";
}

std::string value_of(const OptionRow& row) {
  switch (row.kind) {
    case Kind::flag: return "boolean";
    case Kind::count: return row.unit.empty() ? "number" : "number of " + std::string(row.unit);
    case Kind::bytes: return "size";
    case Kind::duration: return "duration" + or_bare(row);
    case Kind::durations: return "durations" + or_bare(row) + ", with commas between them";
    case Kind::text: return "text";
    case Kind::url:
    case Kind::database: return "URL";
    case Kind::path: return "path";
    case Kind::choice: return "choice";
    case Kind::address: return "host:port";
    case Kind::secret: return "secret";
    case Kind::id: return "id";
  }
  return "";
}

std::string allowed_of(const OptionRow& row) {
  std::string allowed(row.allowed);
  if (const auto dots = allowed.find(".."); dots != std::string::npos) {
    if (allowed.ends_with("..")) {
      return "from " + allowed.substr(0, dots);
    }
    allowed.replace(dots, 2, " to ");
    return allowed;
  }
  return code(allowed);
}

}  // namespace

std::string reference_rows(const OptionTable& table) {
  std::string out = table.config_file ? "| Option " : "";
  out += "| Flag | Environment | Value | Default | Allowed | Since | Meaning |\n";
  out += table.config_file ? "|---" : "";
  out += "|---|---|---|---|---|---|---|\n";
  for (const OptionRow& row : table.rows) {
    out += table.config_file ? "| " + code(table.name_of(row)) + " " : "";
    out += "| " + code(table.flag_of(row)) + " | " + code(row.variable) + " | " + value_of(row) +
           " | " + code(row.default_text) + " | " + allowed_of(row) + " | " + cell(row.since) +
           " | " + cell(row.help) + " |\n";
  }
  return out;
}

std::string reference_markdown() {
  const std::string intro =
      "# Configuration\n"
      "\n"
      "Made from `src/config/options.def`; change it there. The relay `hikyaku outbox` has "
      "[settings "
      "of its\n"
      "own](outbox.md#settings).\n"
      "\n"
      "Each option can be given as a flag of `hikyaku serve`, as an environment variable, or as a "
      "line\n"
      "`name = value` in the file named by `--config`. A flag wins over the environment, the "
      "environment over\n"
      "the file, the file over the default. An empty variable counts as not set. An unknown name "
      "is "
      "an error.\n"
      "\n"
      "- **duration**: `250ms`, `10s`, `1.5h`, `1d10h30m`: numbers with the units `ms s m h d`, "
      "added up; at most\n"
      "  100 years. A number without a unit is refused, except `0`. (In headers of the HTTP API it "
      "means seconds;\n"
      "  in the settings of the outbox the name says what it means: `_SEC` or `_MS`.)\n"
      "- **size**: `1000` (bytes), `512KiB`, `64MiB`, `2GiB`; `kB`, `MB` and `GB` are powers of "
      "1000.\n"
      "- **boolean**: `true` or `false` (also `yes no on off 1 0`). A flag without a value means "
      "`true`.\n"
      "- **host:port**: `127.0.0.1:8080`, `[::1]:8080`.\n"
      "- **secret**: never printed. `<name>_file` names a file that holds it (mode 0600). Other "
      "users of the\n"
      "  machine can see a secret that is given as a flag; a warning says so.\n"
      "- **id**: belongs to a secret, but is not secret itself. `<name>_file` works for it, too.\n"
      "\n";
  return intro + reference_rows(server_table());
}

}  // namespace hk::config
