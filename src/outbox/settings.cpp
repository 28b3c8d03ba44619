#include "outbox/settings.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "base/assert.h"
#include "config/values.h"

namespace hk::outbox {
namespace {

using config::assign;
using config::OptionRow;

/// OUTBOX_COLUMNS, whose field is the whole table.
Result<void> assign(Table& table, const OptionRow& /*row*/, std::string_view text) {
  while (!trim(text, white_space).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (auto mapped = map_column(table, trim(text.substr(0, comma), white_space)); !mapped) {
      return fail(ErrorKind::invalid_argument, "does not fit: " + mapped.error().message);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

constexpr OptionRow setting_rows[] = {
#define HK_OPTION HK_OPTION_ROW
#include "outbox/settings.def"
#undef HK_OPTION
};
constexpr config::Assign<Settings> setting_assigners[] = {
#define HK_OPTION HK_OPTION_ASSIGN
#include "outbox/settings.def"
#undef HK_OPTION
};

/// Settings that are right alone and wrong together.
Result<void> check_together(const Settings& settings) {
  if (settings.lock_lease < settings.broker_timeout * 2) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_LOCK_LEASE_SEC must be at least twice BROKER_TIMEOUT_MS: another relay "
                "could take a row over while it is being sent");
  }
  if (settings.table.strict_order && settings.table.outbox_columns.order_key.empty()) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_STRICT_ORDER needs an order key: name its column with "
                "OUTBOX_COLUMNS=order_key=…");
  }
  return {};
}

}  // namespace

const config::OptionTable& settings_table() {
  static constexpr config::OptionTable table{
      .prefix = "OUTBOX_", .secret_flags = false, .config_file = false, .rows = setting_rows};
  return table;
}

Settings::Settings() {
  for (std::size_t i = 0; i < std::size(setting_rows); ++i) {
    const bool fits =
        setting_assigners[i](*this, setting_rows[i], setting_rows[i].default_text).has_value();
    HK_ASSERT(fits);
  }
}

Result<Settings> load_settings(const config::Flags& flags, const config::GetEnv& getenv) {
  Settings settings;
  auto loaded = config::load_table(
      settings_table(), flags, getenv, {}, [&settings](std::size_t row, std::string_view text) {
        return setting_assigners[row](settings, setting_rows[row], text);
      });
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  settings.warnings = std::move(loaded->warnings);
  if (auto fits = check_together(settings); !fits) {
    return std::unexpected(fits.error());
  }
  return settings;
}

}  // namespace hk::outbox
