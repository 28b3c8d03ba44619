#include "cli/option_flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "config/options.h"

namespace hk::cli {
namespace {

using config::Kind;
using config::OptionRow;

constexpr OptionRow rows[] = {
    {"APP_DEV", Kind::flag, "false", "", "", "0.1", "Help of `dev`."},
    {"APP_DRAIN", Kind::duration, "20s", "", "", "0.1", "Help of drain."},
    {"APP_LEVEL", Kind::choice, "info", "", "debug|info", "0.1", "Help of level."},
    {"APP_TOKEN", Kind::secret, "", "", "", "0.1", "Help of token."},
    {"BROKER_URL", Kind::url, "", "", "", "0.1", "Help of the broker."},
};

config::OptionTable table(bool secret_flags) {
  return {.prefix = "APP_", .secret_flags = secret_flags, .rows = rows};
}

std::string help_of(bool secret_flags) {
  CLI::App app;
  OptionTexts texts;
  add_option_flags(app, table(secret_flags), texts);
  return app.help();
}

TEST(OptionFlags, GiveWhatStoodOnTheCommandLineAndNothingElse) {
  CLI::App app;
  OptionTexts texts;
  add_option_flags(app, table(true), texts);

  app.parse("--drain 3s --dev --token-file here --broker-url http://h");

  EXPECT_EQ(flags_given(app, texts),
            (config::Flags{
                {"dev", ""}, {"drain", "3s"}, {"token_file", "here"}, {"broker_url", "http://h"}}));
}

TEST(OptionFlags, ShowWhatEachTakesAndItsDefault) {
  const std::string help = help_of(true);
  for (const char* const words :
       {"--drain DURATION", "Help of drain. [20s]", "--level debug|info", "Help of level. [info]",
        "--token SECRET", "--token-file PATH", "--broker-url URL", "Help of dev.\n"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << " is not in\n" << help;
  }
  EXPECT_EQ(help.find("--dev="), std::string::npos) << help;
}

TEST(OptionFlags, LeaveSecretsOutWhereTheTableSaysSo) {
  const std::string help = help_of(false);
  EXPECT_EQ(help.find("--token"), std::string::npos) << help;
  EXPECT_NE(help.find("--drain"), std::string::npos);
}

}  // namespace
}  // namespace hk::cli
