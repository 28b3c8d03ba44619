/// From names and texts to Settings: variables of the environment, files for secrets, flags. One
/// row for each setting; the flags, the help and the check of the reference page come from the
/// rows.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "outbox/settings.h"

namespace hk::outbox {

struct SettingRow {
  std::string_view name{};  ///< of the variable: OUTBOX_BATCH
  std::string_view
      kind{};  ///< number, seconds, milliseconds, bytes, text, flag, one of a|b, secret
  std::string_view default_text{};
  std::string_view help{};
};
std::span<const SettingRow> setting_rows();

/// OUTBOX_BATCH -> --batch, BROKER_TIMEOUT_MS -> --broker-timeout-ms; "" for a secret, which never
/// stands on a command line.
std::string flag_of(const SettingRow& row);

/// The table of docs/reference/outbox.md.
std::string settings_markdown();

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// `flags` by the names of the variables; they win over the environment. A secret may be in the
/// file named by <NAME>_FILE. invalid_argument names the setting and what would be right, never a
/// secret.
Result<Settings> load_settings(const std::map<std::string, std::string>& flags,
                               const Environment& environment);

}  // namespace hk::outbox
