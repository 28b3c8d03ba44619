#include "config/option_row.h"

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

std::string value_of(const OptionRow& row) {
  switch (row.kind) {
    case Kind::flag: return "boolean";
    case Kind::count: return row.unit.empty() ? "number" : "number of " + std::string(row.unit);
    case Kind::bytes: return "size";
    case Kind::duration: return "duration";
    case Kind::text: return "text";
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
    allowed.replace(dots, 2, " to ");
    return allowed;
  }
  return code(allowed);
}

}  // namespace

std::string reference_markdown() {
  std::string out =
      "# Configuration\n"
      "\n"
      "Made from `src/config/options.def`; change it there.\n"
      "\n"
      "Each option can be given as a flag of `hikyaku serve`, as a variable of the environment or "
      "as a\n"
      "`name = value` line in the file named by `--config`. A flag wins over the environment, the\n"
      "environment over the file, the file over the default. An empty variable counts as not set. "
      "A name\n"
      "that is not in the table is an error.\n"
      "\n"
      "- **duration**: `250ms`, `10s`, `1.5h`, `1d10h30m`: numbers with the units `ms s m h d`, "
      "added up; up to\n"
      "  100 years. They mean the same in headers, settings and commands. Only what a number "
      "*without* a unit\n"
      "  means depends on the place: here it is refused, but for `0`; in headers of the HTTP API "
      "it "
      "is seconds;\n"
      "  in settings of the outbox it is what their name says (`_SEC`, `_MS`).\n"
      "- **size**: `1000` (bytes), `512KiB`, `64MiB`, `2GiB`; `kB`, `MB` and `GB` are powers of "
      "1000.\n"
      "- **boolean**: `true` or `false` (also `yes no on off 1 0`); a flag without a value is "
      "`true`.\n"
      "- **host:port**: `127.0.0.1:8080`, `[::1]:8080`.\n"
      "- **secret**: never printed. `<name>_file` names a file that holds it (mode 0600); given by "
      "flag, it\n"
      "  can be seen in the list of processes, and a warning says so.\n"
      "- **id**: goes with a secret and is none; `<name>_file` may name a file that holds it, "
      "too.\n"
      "\n"
      "| Option | Flag | Environment | Value | Default | Allowed | Since | Meaning |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const OptionRow& row : option_rows()) {
    out += "| " + code(row.name) + " | " + code(flag_of(row.name)) + " | " +
           code(environment_of(row.name)) + " | " + value_of(row) + " | " + code(row.default_text) +
           " | " + allowed_of(row) + " | " + cell(row.since) + " | " + cell(row.help) + " |\n";
  }
  return out;
}

}  // namespace hk::config
