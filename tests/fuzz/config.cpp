// The text of a config file, as settings of the server and of a relay: they are loaded, or what is
// told names what is wrong and repeats no secret.
#include <string>
#include <utility>

#include "base/assert.h"
#include "config/file.h"
#include "config/options.h"
#include "fuzz/text.h"
#include "outbox/settings.h"

using namespace hk;

namespace {

/// Short ones stand in the text of many an error by chance.
constexpr std::size_t secret_bytes_min = 12;

void check_told(const std::string& message, const config::Flags& secrets) {
  HK_ASSERT(!message.empty());
  for (const auto& [name, value] : secrets) {
    HK_ASSERT(value.size() < secret_bytes_min || message.find(value) == std::string::npos);
  }
}

/// Nothing here may read files.
bool names_a_file(std::string_view name) {
  return name.ends_with("_file") || name.ends_with("_FILE") || name == "config";
}

void check_options(const std::map<std::string, config::FileEntry>& entries) {
  config::Flags flags;
  config::Flags secrets;
  bool unknown = false;
  for (const auto& [name, entry] : entries) {
    const config::OptionRow* const row = config::server_table().find(name);
    if (row == nullptr || names_a_file(name)) {
      // It is compared with every option there is: one of a text is enough, as for the server,
      // which stops there.
      if (!std::exchange(unknown, true)) {
        (void)config::server_table().nearest(name.substr(0, 64));
      }
      continue;
    }
    flags[name] = entry.value;
    if (row->kind == config::Kind::secret) {
      secrets[name] = entry.value;
    }
  }
  const auto options = config::load(flags, [](const std::string&) { return std::nullopt; });
  if (!options) {
    check_told(options.error().message, secrets);
    return;
  }
  for (const std::string& warning : options->warnings) {
    check_told(warning, secrets);
  }
}

void check_relay(const std::map<std::string, config::FileEntry>& entries) {
  std::map<std::string, std::string> settings;
  config::Flags secrets;
  for (const config::OptionRow& row : outbox::settings_table().rows) {
    const auto found = entries.find(std::string(row.variable));
    if (found != entries.end() && !names_a_file(row.variable)) {
      settings[found->first] = found->second.value;
      if (config::is_secret(row.kind)) {
        secrets[found->first] = found->second.value;
      }
    }
  }
  const auto loaded = outbox::load_settings({}, [&](const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::nullopt : std::optional(found->second);
  });
  if (!loaded) {
    check_told(loaded.error().message, secrets);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = config::parse_file("hikyaku.conf", fuzz::as_text(data, size));
  if (!entries) {
    HK_ASSERT(entries.error().message.starts_with("hikyaku.conf, line "));
    return 0;
  }
  check_options(*entries);
  check_relay(*entries);
  return 0;
}
