#include "config/options.h"

#include "config/check.h"
#include "config/values.h"

namespace hk::config {
namespace {

constexpr OptionRow option_rows[] = {
#define HK_OPTION HK_OPTION_ROW
#include "config/options.def"
#undef HK_OPTION
};
constexpr Assign<Options> option_assigners[] = {
#define HK_OPTION HK_OPTION_ASSIGN
#include "config/options.def"
#undef HK_OPTION
};

}  // namespace

const OptionTable& server_table() {
  static constexpr OptionTable table{.prefix = "HIKYAKU_", .rows = option_rows};
  return table;
}

Result<Options> load(const Flags& flags, const GetEnv& getenv, const Surroundings& around) {
  Options options;
  auto loaded = load_table(server_table(), flags, getenv, around,
                           [&options](std::size_t row, std::string_view text) {
                             return option_assigners[row](options, option_rows[row], text);
                           });
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  options.warnings = std::move(loaded->warnings);
  options.given_by = std::move(loaded->given_by);
  if (options.dev && !options.given_by.contains("allow_loopback_destinations")) {
    options.allow_loopback_destinations = true;
  }
  if (auto fits = check_together(options); !fits) {
    return std::unexpected(fits.error());
  }
  return options;
}

}  // namespace hk::config
