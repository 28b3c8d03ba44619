#include "cli/sources_flags.h"

namespace hk::cli {

namespace {

using SourceAction = int (*)(const Connection&, const SourceArguments&);

/// What all of its commands have.
struct SourceCommands {
  RemoteFlags& remote;
  SourceArguments& arguments;
  int& code;

  CLI::App* add(CLI::App& parent, const char* name, const char* text, SourceAction action) const {
    CLI::App* command = parent.add_subcommand(name, text);
    remote.add_to(*command);
    command->callback([this_remote = &remote, given = &arguments, result = &code, action] {
      *result = action(this_remote->connection(), *given);
    });
    return command;
  }
  CLI::App* add_of_source(CLI::App& parent, const char* name, const char* text,
                          SourceAction action) const {
    CLI::App* command = add(parent, name, text, action);
    add_value(*command, "source", arguments.name, "SOURCE", "Name or id of the source")->required();
    return command;
  }
  void add_page(CLI::App& command) const {
    add_value(command, "--limit", arguments.limit, "N", "Page size [50]")
        ->check(CLI::Range(1, 250));
    add_value(command, "--cursor", arguments.cursor, "CURSOR", "Cursor of the page before");
  }
};

void add_secrets(CLI::App& sources, const SourceCommands& commands) {
  SourceArguments& arguments = commands.arguments;
  CLI::App* secrets = sources.add_subcommand("secrets", "Add or remove a secret of a source");
  secrets->require_subcommand(1);
  CLI::App* add = commands.add_of_source(
      *secrets, "add", "Add a secret; requests signed with any of them pass", add_source_secret);
  add_value(*add, "--secret-file", arguments.secret_file, "PATH",
            "File that holds the secret; -: standard input")
      ->required();
  add_value(*add, "--expires-in", arguments.expires_in, "SECONDS",
            "The secret stops working then [never]");
  CLI::App* remove = commands.add_of_source(
      *secrets, "remove", "Remove a secret: at once, requests signed with it are rejected",
      remove_source_secret);
  add_value(*remove, "secret", arguments.secret, "ID", "sec_… (see sources show)")->required();
}

void add_quarantine(CLI::App& sources, const SourceCommands& commands) {
  SourceArguments& arguments = commands.arguments;
  CLI::App* quarantine =
      sources.add_subcommand("quarantine", "Look at rejected requests, or let them in after all");
  quarantine->require_subcommand(1);
  commands.add_page(*commands.add_of_source(
      *quarantine, "list", "List rejected requests, oldest first", list_quarantine));
  const auto add_of_request = [&](const char* name, const char* text, SourceAction action) {
    add_value(*commands.add_of_source(*quarantine, name, text, action), "request",
              arguments.request, "ID", "qrn_… (see sources quarantine list)")
        ->required();
  };
  add_of_request("show", "Show a rejected request, and why it was rejected", show_quarantined);
  add_of_request("release", "Accept a rejected request as it is, without a good signature",
                 release_quarantined);
  commands.add_of_source(*quarantine, "reverify",
                         "Verify all rejected requests again, and accept those that pass",
                         reverify_quarantine);
}

}  // namespace

void add_sources(CLI::App& app, RemoteFlags& remote, SourceArguments& arguments, int& code) {
  CLI::App* sources = app.add_subcommand("sources", "Manage sources of incoming webhooks");
  sources->require_subcommand(1);
  const SourceCommands commands{remote, arguments, code};
  commands.add_page(*commands.add(*sources, "list", "List sources", list_sources));
  CLI::App* create =
      commands.add(*sources, "create", "Create a source; prints its id and its URL", create_source);
  create->footer(
      "Example: hikyaku sources create stripe-prod --preset stripe --secret-file secret.txt --to "
      "https://app.example/handle");
  add_value(*create, "name", arguments.name, "NAME", "Name: lower-case letters, digits and '-'")
      ->required();
  add_value(*create, "--preset", arguments.preset, "PRESET",
            "Who signs the requests: stripe, github, shopify, slack, standard, qstash, twitter, "
            "meta, msgraph, hmac, basic, apikey or none")
      ->required();
  add_value(*create, "--to", arguments.url, "URL", "URL to deliver events to");
  add_value(*create, "--url-group", arguments.url_group, "NAME", "URL group to deliver events to");
  add_value(*create, "--queue", arguments.queue, "NAME", "Queue that workers receive events from");
  add_value(*create, "--secret-file", arguments.secret_file, "PATH",
            "File that holds the secret; -: standard input");
  add_value(*create, "--settings", arguments.settings_file, "PATH",
            "JSON file with further settings of the source");
  commands.add_of_source(*sources, "show", "Show a source: its settings, secrets and counts",
                         show_source);
  commands.add_of_source(*sources, "delete", "Delete a source, its events and rejected requests",
                         delete_source);
  commands.add_page(*commands.add_of_source(
      *sources, "events", "List accepted events, newest first", list_source_events));
  add_secrets(*sources, commands);
  add_quarantine(*sources, commands);
}

}  // namespace hk::cli
