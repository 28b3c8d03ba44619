// What a person reads when the server has started.
#include <fmt/core.h>

#include "cli/daemon.h"
#include "cli/development.h"
#include "cli/process.h"
#include "cli/version.h"

namespace hk::cli {

namespace {

/// "(as configured by HIKYAKU_TOKEN)"
std::string as_configured(const config::Options& options, const std::string& name) {
  const auto source = options.given_by.find(name);
  return source == options.given_by.end() ? "(as configured)"
                                          : fmt::format("(as configured by {})", source->second);
}

std::string access_keys(const config::Options& options) {
  std::string text;
  if (options.dev) {
    text = fmt::format("access key \"{0}\", secret \"{0}\", any region", dev_access_key);
  }
  if (!options.aws_access_key_id.empty()) {
    text += fmt::format("{}access key {} {}", text.empty() ? "" : "; ", options.aws_access_key_id,
                        as_configured(options, "aws_access_key_id"));
  }
  return text.empty() ? "`hikyaku keys create` makes an access key" : text;
}

}  // namespace

void Daemon::print_welcome() const {
  if (welcome_.beside_production) {
    tell(fmt::format(
        "hikyaku: WARNING: {} has credentials of its own, and --dev opens it with public ones. "
        "While this server runs, the public token works in addition to its own, and deliveries are "
        "signed "
        "with the public keys. None of this is stored: the next start without --dev has its own "
        "token and keys as before.",
        options_.data));
    observe::log(observe::Level::warn, "server.public_credentials", {{"data", options_.data}});
  }
  // What the operator gave us is not repeated: standard output often ends in a journal.
  const auto shown = [this](const std::string& name, const Secret& value, const char* unchanged) {
    if (options_.given_by.contains(name)) return as_configured(options_, name);
    return options_.dev || welcome_.first_start ? std::string(value.reveal()) : unchanged;
  };
  constexpr const char* stored = "(unchanged: GET /v2/keys shows it)";
  const std::string token = shown("token", welcome_.token.value_or(Secret{}),
                                  "(unchanged: only a digest of it is stored)");
  fmt::print("Hikyaku {} is listening on {}\n", version, url());
  fmt::print("  data directory       {} (durability: local)\n", options_.data);
  fmt::print("  token                {}\n", token);
  fmt::print("  current signing key  {}\n",
             shown("current_signing_key", welcome_.current_key, stored));
  fmt::print("  next signing key     {}\n", shown("next_signing_key", welcome_.next_key, stored));
  fmt::print("  SQS and SNS          {}\n", access_keys(options_));
  if (welcome_.token_changed) {
    fmt::print(
        "\nThe token of the tenant {} was changed to the configured one; the old one "
        "no longer works.\n",
        default_tenant);
  }
  if (welcome_.keys_changed) {
    fmt::print("\nThe signing keys of the tenant {} were changed to the configured ones.\n",
               default_tenant);
  }
  const bool made = welcome_.first_start && !options_.dev && options_.token.empty();
  if (made) {
    fmt::print("\nThe token is not shown again: store it now. The server keeps only a digest.\n");
  }
  if (options_.dev) {
    fmt::print(
        "\nDevelopment mode: these credentials are public. To try it, start a receiver in a second "
        "terminal\n\n  {} listen\n\nand publish a message to it from a third:\n",
        program_path());
  }
  const bool known = made || (options_.dev && options_.token.empty());
  fmt::print(
      "\n  curl -X POST {}/v2/publish/{} \\\n    -H 'Authorization: Bearer {}' \\\n    -d "
      "'hello'\n\n",
      url(), options_.dev ? "http://127.0.0.1:9000/hello" : "https://example.com/hello",
      known ? token : std::string("<token>"));
  std::fflush(stdout);
}

}  // namespace hk::cli
