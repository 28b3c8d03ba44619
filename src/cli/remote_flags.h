/// The flags of commands that talk to a server.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/add_value.h"
#include "cli/client.h"

namespace hk::cli {

inline void add_ca_file(CLI::App& command, std::string& into) {
  add_value(command, "--ca-file", into, "PATH",
            "Root certificates (PEM) to trust instead of those of the system");
}

/// Where and as whom, for the commands that talk to a server.
struct RemoteFlags {
  std::string url{};
  std::string token{};
  std::string ca_file{};
  bool dev = false;
  bool json = false;

  void add_address_to(CLI::App& command, const std::string& url_help) {
    add_value(command, "--url", url, "URL", url_help);
    add_ca_file(command, ca_file);
  }

  void add_to(CLI::App& command) {
    add_address_to(command, "URL of the server [HIKYAKU_URL, http://127.0.0.1:8080]");
    add_value(command, "--token", token, "TOKEN",
              "Token of the tenant [HIKYAKU_CLIENT_TOKEN, client.conf]");
    command.add_flag("--dev", dev, "Use the well-known token of serve --dev");
    command.add_flag("--json", json, "Print the JSON of the server");
  }

  [[nodiscard]] Connection connection() const {
    return make_connection(
        {.url = url, .token = Secret{token}, .ca_file = ca_file, .dev = dev, .json = json});
  }
};

}  // namespace hk::cli
