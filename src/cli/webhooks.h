/// hikyaku webhooks: applications, endpoints, event types and messages of a running server.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/remote_flags.h"

namespace hk::cli {

/// What the flags of its commands are parsed into; outlives the parsing.
struct WebhookArguments {
  RemoteFlags remote{};
  std::string app{};
  std::string id{};
  std::string other{};
  std::string name{};
  std::string uid{};
  std::string text{};
  std::string since{};
  std::string until{};
  std::vector<std::string> names{};
  std::vector<std::string> channels{};
  std::string event_id{};
  double rate = 0;
  std::uint32_t limit = 50;
  std::string iterator{};
  bool flag = false;
  int* code = nullptr;  ///< set by add_webhooks()
};

/// `code` is set to the exit code of the command that is run.
void add_webhooks(CLI::App& app, WebhookArguments& arguments, int& code);

}  // namespace hk::cli
