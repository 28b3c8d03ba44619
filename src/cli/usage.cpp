#include "cli/usage.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>

#include "cli/exit_code.h"
#include "cli/process.h"

namespace hk::cli {

int refuse_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return exit_ok;
  }
  const bool of_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const CLI::App* reached = &app;
  std::string name = app.get_name();
  while (!reached->get_subcommands().empty() && !(of_extras && !reached->remaining().empty())) {
    reached = reached->get_subcommands().front();
    name += ' ' + reached->get_name();
  }
  const auto extras = reached->remaining();
  std::string what = error.what();
  if (of_extras) {
    what = fmt::format("unexpected: {}", fmt::join(extras, " "));
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
             reached->get_require_subcommand_min() > 0) {
    what = extras.empty() ? "a command is missing" : "unknown command " + extras.front();
  }
  tell(fmt::format("{}: {}\nRun {} --help for usage.", name, what, name));
  return exit_usage;
}

}  // namespace hk::cli
