// What a person reads when the server has started.
#include <fmt/core.h>

#include "cli/daemon.h"
#include "cli/version.h"

namespace hk::cli {

void Daemon::print_welcome() const {
  // What the operator gave us is not repeated: standard output often ends in a journal.
  const auto shown = [this](const Secret& setting, const Secret& value) -> std::string {
    if (!setting.empty()) return "(as configured)";
    if (!options_.dev && !welcome_.first_start) return "(as printed at the first start)";
    return std::string(value.reveal());
  };
  const std::string token = shown(options_.token, welcome_.token.value_or(Secret{}));
  fmt::print("Hikyaku {} is listening on {}\n", version, url());
  fmt::print("  data directory       {} (durability: local)\n", options_.data);
  fmt::print("  token                {}\n", token);
  fmt::print("  current signing key  {}\n",
             shown(options_.current_signing_key, welcome_.current_key));
  fmt::print("  next signing key     {}\n", shown(options_.next_signing_key, welcome_.next_key));
  fmt::print("  SQS and SNS          {}\n", options_.dev
                                                ? "access key \"test\", secret \"test\", any region"
                                                : "`hikyaku keys create` makes an access key");
  const bool made = welcome_.first_start && !options_.dev && options_.token.empty();
  if (made) {
    fmt::print("\nThe token is shown only now: keep it. The server stores a digest of it.\n");
  }
  if (options_.dev) {
    fmt::print(
        "\nDevelopment mode: these credentials are public. To try it, start a receiver in a second "
        "terminal\n\n  {} listen\n\nand publish a message to it from a third:\n",
        program_path());
  }
  fmt::print(
      "\n  curl -X POST {}/v2/publish/{} \\\n    -H 'Authorization: Bearer {}' \\\n    -d "
      "'hello'\n\n",
      url(), options_.dev ? "http://127.0.0.1:9000/hello" : "https://example.com/hello",
      options_.dev || made ? token : std::string("<token>"));
  std::fflush(stdout);
}

}  // namespace hk::cli
