#include "cli/client.h"

#include <filesystem>

#include "cli/development.h"
#include "cli/process.h"
#include "config/file.h"

namespace hk::cli {

namespace {

struct Profile {
  std::string url{Connection{}.url};
  Secret token{};
  std::string ca_file{};
};

/// A variable that is set to something.
std::string text_in(const Variable& variable, const std::string& name) {
  return variable(name).value_or("");
}

/// As the XDG base directories have it; "": there is no home to look in.
std::string profile_path(const Variable& variable) {
  std::string base = text_in(variable, "XDG_CONFIG_HOME");
  if (!base.starts_with('/')) {  // a relative one is to be ignored
    const std::string home = text_in(variable, "HOME");
    base = home.empty() ? "" : home + "/.config";
  }
  return base.empty() ? "" : base + "/hikyaku/client.conf";
}

/// Its own defaults if there is no such file.
Result<Profile> read_profile(const std::string& path) {
  Profile profile;
  std::error_code absent;
  if (path.empty() || !std::filesystem::exists(path, absent)) {
    return profile;
  }
  if (config::others_can_read(path)) {
    return fail(
        ErrorKind::invalid_argument,
        "others can read " + path + ", which holds a token: chmod 600 " + shell_quoted(path));
  }
  const auto text = config::read_file(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  const auto entries = config::parse_file(path, *text);
  if (!entries) {
    return std::unexpected(entries.error());
  }
  for (const auto& [name, entry] : *entries) {
    if (name == "url") {
      profile.url = without_slash(entry.value);
    } else if (name == "token") {
      profile.token = Secret(entry.value);
    } else if (name == "ca_file") {
      profile.ca_file = entry.value;
    } else {
      return fail(ErrorKind::invalid_argument, path + ", line " + std::to_string(entry.line) +
                                                   ": there is no \"" + name +
                                                   "\"; url, token and ca_file are known");
    }
  }
  return profile;
}

}  // namespace

std::string without_slash(std::string url) {
  while (url.ends_with('/')) {
    url.pop_back();
  }
  return url;
}

Connection make_connection(const ClientFlags& flags) { return make_connection(flags, environment); }

Connection make_connection(const ClientFlags& flags, const Variable& variable) {
  Connection made;
  made.json = flags.json;
  made.token = flags.token;
  made.ca_file = flags.ca_file;
  if (made.token.empty()) {
    made.token = flags.dev ? dev_token() : Secret(text_in(variable, "HIKYAKU_CLIENT_TOKEN"));
  }
  made.url = flags.url.empty() ? text_in(variable, "HIKYAKU_URL") : flags.url;
  made.url = without_slash(std::move(made.url));
  if (flags.dev || (!made.url.empty() && !made.token.empty())) {
    // All is said: a profile for another server is none of our business.
    made.url = made.url.empty() ? Connection{}.url : made.url;
    return made;
  }

  const auto profile = read_profile(profile_path(variable));
  if (!profile) {
    made.problem = profile.error().message;
    return made;
  }
  made.url = made.url.empty() ? profile->url : made.url;
  if (made.url == profile->url) {  // its token goes nowhere else
    made.token = made.token.empty() ? profile->token : made.token;
    made.ca_file = made.ca_file.empty() ? profile->ca_file : made.ca_file;
  }
  for (const char* name : {"HIKYAKU_TOKEN", "QSTASH_TOKEN"}) {
    if (made.token.empty()) {
      made.token = Secret(text_in(variable, name));
    }
  }
  return made;
}

}  // namespace hk::cli
