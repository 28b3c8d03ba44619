#include <string>

#include "outbox/load_settings.h"

namespace hk::outbox {
namespace {

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

/// The one flag that stands for a secret: it takes an address without the password.
std::string shown_flag(const SettingRow& row) {
  if (row.name == "OUTBOX_DATABASE") {
    return "--database";
  }
  return row.name == "OUTBOX_ENABLED" ? "" : flag_of(row);
}

}  // namespace

std::string settings_markdown() {
  std::string page =
      "| Variable | Flag | Value | Default | Meaning |\n"
      "|---|---|---|---|---|\n";
  for (const SettingRow& row : setting_rows()) {
    page.append("| ").append(code(row.name)).append(" | ").append(code(shown_flag(row)));
    page.append(" | ").append(row.kind).append(" | ").append(code(row.default_text));
    page.append(" | ").append(row.help).append(" |\n");
  }
  return page;
}

}  // namespace hk::outbox
