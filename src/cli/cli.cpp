#include "cli/cli.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "cli/add_value.h"
#include "cli/client.h"
#include "cli/convert.h"
#include "cli/exit_code.h"
#include "cli/idempotency.h"
#include "cli/keys.h"
#include "cli/ledger_flags.h"
#include "cli/listen.h"
#include "cli/master_key.h"
#include "cli/offline.h"
#include "cli/option_flags.h"
#include "cli/outbox_flags.h"
#include "cli/process.h"
#include "cli/remote.h"
#include "cli/remote_flags.h"
#include "cli/serve.h"
#include "cli/sources_flags.h"
#include "cli/tenants.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "cli/webhooks.h"
#include "config/options.h"
#include "outbox/settings.h"

namespace hk::cli {

namespace {

/// Everything that the parser fills in and that the chosen command reads.
struct Arguments {
  int code = exit_ok;
  RemoteFlags remote{};
  OptionTexts serve_texts{};
  PublishArguments publish{};
  std::string id{};
  std::vector<std::string> ids{};
  bool all = false;
  std::uint32_t count = 100;
  std::string cursor{};
  std::vector<std::string> filters{};
  double rate = 0;
  RetryArguments retry{};
  AdminArguments admin{};
  LimitArguments limits{};
  SourceArguments sources{};
  std::string tenant{};
  std::string name{};
  std::string space{"default"};
  bool once = false;
  std::string data{"./data"};
  std::string directory{};
  std::string body_file{};
  bool json = false;
  bool of_outbox = false;
  ListenArguments listen{};
  WebhookArguments webhooks{};
  std::string listen_on{"127.0.0.1:9000"};
};

void add_serve(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("serve", "Run the server");
  command->footer(
      "Each setting can also be given as HIKYAKU_<NAME> in the environment, or as `name = value` "
      "in the file named by --config.");
  add_option_flags(*command, config::server_table(), arguments.serve_texts);
  command->callback([&arguments, command] {
    config::Surroundings around{
        .environment_names = config::environment_names(),
        .environment_known = {"HIKYAKU_URL", "HIKYAKU_CLIENT_TOKEN", "HIKYAKU_NEW_MASTER_KEY"}};
    auto options = config::load(flags_given(*command, arguments.serve_texts), environment, around);
    if (!options) {
      tell("hikyaku: " + options.error().message);
      arguments.code = exit_usage;
      return;
    }
    arguments.code = serve(*options);
  });
}

void add_publish(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("publish", "Publish a message");
  command->footer(
      "Example: hikyaku publish https://example.com/hook --body '{\"id\":1}' --delay 10m");
  PublishArguments& publish_arguments = arguments.publish;
  add_value(*command, "destination", publish_arguments.destination, "URL", "URL to deliver to")
      ->required();
  CLI::Option* body = add_value(*command, "--body", publish_arguments.body, "TEXT",
                                "Body of the message. Default: standard input");
  add_value(*command, "--method", publish_arguments.method, "METHOD",
            "HTTP method of the delivery: GET, POST, PUT, PATCH or DELETE [POST]");
  add_value(*command, "--delay", publish_arguments.delay, "DURATION",
            "Delay the delivery, for example 30s or 1d2h");
  add_value(*command, "--retries", publish_arguments.retries, "N",
            "Retries after the first attempt [3]");
  add_value(*command, "--timeout", publish_arguments.timeout, "DURATION", "Timeout of an attempt");
  add_value(*command, "--dedup-id", publish_arguments.dedup_id, "ID", "Deduplication id");
  add_value(*command, "--queue", publish_arguments.queue, "NAME", "Queue to put the message into");
  add_value(*command, "--label", publish_arguments.labels, "TEXT",
            "Label of the message (repeatable)");
  add_value(*command, "--header", publish_arguments.headers, "'Name: value'",
            "Header to forward (repeatable)");
  add_value(*command, "--content-type", publish_arguments.content_type, "TYPE",
            "Content-Type of the message");
  arguments.remote.add_to(*command);
  command->callback([&arguments, body] {
    arguments.publish.body_given = body->count() > 0;
    arguments.code = publish(arguments.remote.connection(), arguments.publish);
  });
}

void add_messages(CLI::App& app, Arguments& arguments) {
  CLI::App* messages = app.add_subcommand("messages", "Show or cancel a message");
  messages->require_subcommand(1);
  const auto add = [&arguments, messages](const char* name, const char* text, auto action) {
    CLI::App* command = messages->add_subcommand(name, text);
    add_value(*command, "id", arguments.id, "ID", "msg_…")->required();
    arguments.remote.add_to(*command);
    command->callback([&arguments, action] {
      arguments.code = action(arguments.remote.connection(), arguments.id);
    });
  };
  add("get", "Show status, attempts and what the message waits for", get_message);
  add("why", "Explain why a message is not delivered yet, and what would change that",
      explain_message);
  add("cancel", "Cancel a message: no further attempt starts", cancel_message);
}

void add_dlq(CLI::App& app, Arguments& arguments) {
  CLI::App* dlq =
      app.add_subcommand("dlq", "List, retry or delete messages in the dead-letter queue");
  dlq->require_subcommand(1);
  CLI::App* list = dlq->add_subcommand("list", "List dead letters, oldest first");
  add_value(*list, "--count", arguments.count, "N", "Page size [100]")->check(CLI::Range(1, 100));
  add_value(*list, "--cursor", arguments.cursor, "CURSOR", "Cursor of the page before");
  add_value(*list, "--filter", arguments.filters, "NAME=VALUE",
            "Filter, such as url, label, queueName, responseStatus or fromDate (repeatable)");
  arguments.remote.add_to(*list);
  list->callback([&arguments] {
    arguments.code = list_dead_letters(arguments.remote.connection(), arguments.count,
                                       arguments.cursor, arguments.filters);
  });
  const auto add_selection = [&arguments](CLI::App* command) {
    CLI::Option* ids =
        add_value(*command, "ids", arguments.ids, "ID...", "Ids of dead letters (see dlq list)");
    CLI::Option* all = command->add_flag("--all", arguments.all, "All dead letters");
    all->excludes(ids);
    arguments.remote.add_to(*command);
  };
  const auto chosen = [&arguments] {
    if (arguments.ids.empty() && !arguments.all) {
      tell("hikyaku: give the ids of the dead letters, or --all");
      arguments.code = exit_usage;
      return false;
    }
    return true;
  };
  CLI::App* retry = dlq->add_subcommand("retry", "Publish dead letters again, as new messages");
  add_selection(retry);
  CLI::Option* of_all = retry->get_option("--all");
  add_value(*retry, "--filter", arguments.filters, "NAME=VALUE",
            "With --all: only those that match, as in dlq list (repeatable)")
      ->needs(of_all);
  add_value(*retry, "--rate", arguments.rate, "N", "With --all: at most N per second")
      ->needs(of_all)
      ->check(CLI::Range(0.001, 1e6));
  RetryArguments& edit = arguments.retry;
  add_value(*retry, "--body", edit.body_file, "PATH",
            "For one id: file with the new body; -: standard input");
  add_value(*retry, "--destination", edit.destination, "URL", "For one id: new URL to deliver to");
  add_value(*retry, "--header", edit.headers, "'Name: value'",
            "For one id: header to replace (repeatable)");
  add_value(*retry, "--content-type", edit.content_type, "TYPE", "For one id: new Content-Type");
  retry->callback([&arguments, chosen] {
    if (chosen()) {
      arguments.retry.ids = arguments.ids;
      arguments.retry.all = arguments.all;
      arguments.retry.filters = arguments.filters;
      arguments.retry.rate = arguments.rate;
      arguments.code = retry_dead_letters(arguments.remote.connection(), arguments.retry);
    }
  });
  CLI::App* remove = dlq->add_subcommand("delete", "Delete dead letters");
  add_selection(remove);
  remove->callback([&arguments, chosen] {
    if (chosen()) {
      arguments.code =
          delete_dead_letters(arguments.remote.connection(), arguments.ids, arguments.all);
    }
  });
}

void add_admin_flags(CLI::App& command, AdminArguments& admin) {
  add_value(command, "--data", admin.data, "PATH", "Data directory of the server [./data]");
  add_ca_file(command, admin.ca_file);
  command.add_flag("--json", admin.json, "Print the JSON of the server");
}

void add_tenants(CLI::App& app, Arguments& arguments) {
  CLI::App* tenants =
      app.add_subcommand("tenants", "Manage tenants (needs the data directory of the server)");
  tenants->require_subcommand(1);
  CLI::App* create =
      tenants->add_subcommand("create", "Create a tenant; prints its token and signing keys once");
  add_value(*create, "name", arguments.name, "NAME", "Name: letters, digits, '.', '_' and '-'")
      ->required();
  add_admin_flags(*create, arguments.admin);
  create->callback(
      [&arguments] { arguments.code = create_tenant(arguments.admin, arguments.name); });
  CLI::App* list = tenants->add_subcommand("list", "List tenants: id, creation time and name");
  add_admin_flags(*list, arguments.admin);
  list->callback([&arguments] { arguments.code = list_tenants(arguments.admin); });
  CLI::App* rotate = tenants->add_subcommand(
      "rotate-token", "Give a tenant a new token; the old one stops working");
  add_value(*rotate, "id", arguments.id, "ID", "Id of the tenant (see tenants list)")->required();
  add_admin_flags(*rotate, arguments.admin);
  rotate->callback(
      [&arguments] { arguments.code = rotate_tenant_token(arguments.admin, arguments.id); });
  CLI::App* limits = tenants->add_subcommand(
      "limits", "Show how often a tenant may call the API; with any of the options: set it");
  limits->footer(
      "What is set replaces all limits of the tenant. Example: hikyaku tenants limits 1 --rate 100 "
      "--burst 200 --class publish=50");
  add_value(*limits, "id", arguments.id, "ID", "Id of the tenant (see tenants list)")->required();
  LimitArguments& given = arguments.limits;
  add_value(*limits, "--rate", given.rate, "N", "Requests a second; 0: no limit [rate_tenant]");
  add_value(*limits, "--burst", given.burst, "N", "Requests at once [the rate]");
  add_value(*limits, "--in-flight", given.in_flight, "N", "Requests at the same time [no limit]");
  add_value(*limits, "--weight", given.weight, "N",
            "Weight of its share of rate_global, 1 to 1000 [1]");
  add_value(*limits, "--class", given.classes, "NAME=RATE[:BURST]",
            "Limit of a class of requests: publish, receive, read or manage (repeatable)");
  limits->add_flag("--none", given.none, "Remove all limits of the tenant");
  add_admin_flags(*limits, arguments.admin);
  limits->callback([&arguments] {
    arguments.code = tenant_limits(arguments.admin, arguments.id, arguments.limits);
  });
}

void add_keys(CLI::App& app, Arguments& arguments) {
  CLI::App* keys = app.add_subcommand(
      "keys", "Manage access keys for AWS clients, and the master key (needs the data directory)");
  keys->require_subcommand(1);
  const auto add = [&arguments, keys](const char* name, const char* text) {
    CLI::App* command = keys->add_subcommand(name, text);
    add_value(*command, "--tenant", arguments.tenant, "NAME", "Tenant [the first one]");
    add_admin_flags(*command, arguments.admin);
    return command;
  };
  add("create", "Create an access key; prints its id, and its secret once")->callback([&arguments] {
    arguments.code = create_access_key(arguments.admin, arguments.tenant);
  });
  add("list", "List access keys: id and creation time")->callback([&arguments] {
    arguments.code = list_access_keys(arguments.admin, arguments.tenant);
  });
  CLI::App* revoke = add("revoke", "Revoke an access key");
  add_value(*revoke, "id", arguments.id, "ID", "Id of the access key (see keys list)")->required();
  revoke->callback([&arguments] {
    arguments.code = revoke_access_key(arguments.admin, arguments.tenant, arguments.id);
  });
  CLI::App* rotate = keys->add_subcommand(
      "rotate-master", "Encrypt all stored secrets with a new master key (stop the server first)");
  rotate->footer(
      "If the key is in the file master.key, a new one is made. If it comes from "
      "HIKYAKU_MASTER_KEY, give the new one as HIKYAKU_NEW_MASTER_KEY.");
  add_value(*rotate, "--data", arguments.data, "PATH", "Data directory [./data]");
  add_value(*rotate, "--new-key-file", arguments.body_file, "PATH", "File that holds the new key");
  rotate->add_flag("--json", arguments.json, "Print JSON");
  rotate->callback([&arguments] {
    arguments.code = rotate_master_key(arguments.data, arguments.body_file, arguments.json);
  });
}

/// Groups of queues that have stopped at a message.
void add_idempotency(CLI::App& app, Arguments& arguments) {
  CLI::App* keys =
      app.add_subcommand("idempotency", "Show or delete a key by which work takes effect once");
  keys->require_subcommand(1);
  const auto add = [&arguments, keys](const char* name, const char* text) {
    CLI::App* command = keys->add_subcommand(name, text);
    add_value(*command, "key", arguments.id, "KEY", "Key, as the handler claims it")->required();
    add_value(*command, "--namespace", arguments.space, "NAME", "Namespace of the key");
    return command;
  };
  CLI::App* get = add("get", "Show a key: its state, its outcome, who holds it and until when");
  arguments.remote.add_to(*get);
  get->callback([&arguments] {
    arguments.code = get_key(arguments.remote.connection(), arguments.id, arguments.space);
  });
  CLI::App* remove =
      add("delete", "Forget a key: its work can be done again (needs the data directory)");
  add_value(*remove, "--tenant", arguments.tenant, "ID", "Tenant whose key it is (id)")->required();
  add_admin_flags(*remove, arguments.admin);
  remove->callback([&arguments] {
    arguments.code = delete_key(arguments.admin, arguments.tenant, arguments.id, arguments.space);
  });
}

void add_halted(CLI::App& queues, Arguments& arguments) {
  const auto add = [&arguments, &queues](const char* name, const char* text) {
    CLI::App* command = queues.add_subcommand(name, text);
    add_value(*command, "name", arguments.id, "NAME", "Queue")->required();
    arguments.remote.add_to(*command);
    return command;
  };
  add("halted", "List halted groups and the message each has stopped at")->callback([&arguments] {
    arguments.code = list_halted(arguments.remote.connection(), arguments.id);
  });
  CLI::App* retry = add("retry", "Let the message that halted a group be received once more");
  add_value(*retry, "group", arguments.name, "GROUP", "Group")->required();
  add_value(*retry, "--body", arguments.body_file, "PATH",
            "File with a new body for the message; -: standard input");
  retry->callback([&arguments] {
    arguments.code = retry_halted(arguments.remote.connection(), arguments.id, arguments.name,
                                  arguments.body_file);
  });
  CLI::App* skip =
      add("skip", "Move the message that halted a group to the dead letters; the group continues");
  add_value(*skip, "group", arguments.name, "GROUP", "Group")->required();
  skip->callback([&arguments] {
    arguments.code = skip_halted(arguments.remote.connection(), arguments.id, arguments.name);
  });
}

void add_queues(CLI::App& app, Arguments& arguments) {
  CLI::App* queues = app.add_subcommand("queues", "List, pause, resume or delete queues");
  queues->require_subcommand(1);
  CLI::App* list = queues->add_subcommand("list", "List queues and their unfinished messages");
  arguments.remote.add_to(*list);
  list->callback([&arguments] { arguments.code = list_queues(arguments.remote.connection()); });
  const auto add = [&arguments, queues](const char* name, const char* text, QueueChange change) {
    CLI::App* command = queues->add_subcommand(name, text);
    add_value(*command, "name", arguments.id, "NAME", "Queue")->required();
    arguments.remote.add_to(*command);
    command->callback([&arguments, change] {
      arguments.code = change_queue(arguments.remote.connection(), change, arguments.id);
    });
  };
  add("pause", "Pause a queue: no new attempt starts", QueueChange::pause);
  add("resume", "Resume a queue", QueueChange::resume);
  add("delete", "Delete a queue and cancel its waiting messages", QueueChange::remove);
  add_halted(*queues, arguments);
}

void add_tail(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("tail", "Follow the events of messages");
  command->add_flag("--once", arguments.once, "Print the events so far and exit");
  add_value(*command, "--message", arguments.id, "ID", "Only events of this message");
  arguments.remote.add_to(*command);
  command->callback([&arguments] {
    arguments.code = tail(arguments.remote.connection(), arguments.once, arguments.id);
  });
}

void add_listen(CLI::App& app, Arguments& arguments) {
  CLI::App* command =
      app.add_subcommand("listen", "Receive deliveries and print them, for testing");
  add_value(*command, "--listen", arguments.listen_on, "HOST:PORT",
            "Address to listen on [127.0.0.1:9000]");
  add_value(*command, "--status", arguments.listen.status, "N", "Status to answer with [200]")
      ->check(CLI::Range(200, 599));
  add_value(*command, "--body", arguments.listen.body, "TEXT", "Body to answer with");
  command->add_flag("--json", arguments.listen.json, "Print one JSON object per request");
  command->callback([&arguments] {
    const std::size_t colon = arguments.listen_on.rfind(':');
    const int port =
        colon == std::string::npos ? 0 : std::atoi(arguments.listen_on.c_str() + colon + 1);
    if (port <= 0 || port > 65535) {
      tell("hikyaku: --listen must be HOST:PORT, for example 127.0.0.1:9000");
      arguments.code = exit_usage;
      return;
    }
    arguments.listen.address = arguments.listen_on.substr(0, colon);
    arguments.listen.port = static_cast<std::uint16_t>(port);
    arguments.code = listen(arguments.listen);
  });
}

void add_offline(CLI::App& app, Arguments& arguments) {
  CLI::App* check = app.add_subcommand("verify", "Check the data directory of a stopped server");
  add_value(*check, "--data", arguments.data, "PATH", "Data directory [./data]");
  check->add_flag("--json", arguments.json, "Print JSON");
  check->callback([&arguments] { arguments.code = verify(arguments.data, arguments.json); });
  CLI::App* save =
      app.add_subcommand("backup", "Back up a data directory, also while the server runs");
  add_value(*save, "--data", arguments.data, "PATH", "Data directory [./data]");
  add_value(*save, "--to", arguments.directory, "PATH", "Directory to create")->required();
  // Not HIKYAKU_URL: the token of admin.json goes only where that file or the user says.
  arguments.remote.add_address_to(*save, "URL of the running server [where it listens]");
  save->add_flag("--json", arguments.json, "Print JSON");
  save->callback([&arguments] {
    arguments.code =
        backup(arguments.data, arguments.directory, without_slash(arguments.remote.url),
               arguments.remote.ca_file, arguments.json);
  });
  CLI::App* bring_back = app.add_subcommand("restore", "Restore a data directory from a backup");
  add_value(*bring_back, "--from", arguments.directory, "PATH", "Directory of the backup")
      ->required();
  add_value(*bring_back, "--data", arguments.data, "PATH", "Data directory to create [./data]");
  bring_back->add_flag("--json", arguments.json, "Print JSON");
  bring_back->callback([&arguments] {
    arguments.code = restore(arguments.directory, arguments.data, arguments.json);
  });
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{
      "Hikyaku: a message server with the APIs of QStash, SQS and SNS. Durable, at least once."};
  app.name("hikyaku");
  app.require_subcommand(1);
  app.set_version_flag("--version", version);
  app.footer(
      "Start with:  hikyaku serve --dev\nExit codes: 0 success, 1 failed, 2 wrong usage, 3 server "
      "not reachable or data directory in use, 4 damaged data, 70 the store failed.");
  Arguments arguments;
  add_serve(app, arguments);
  add_publish(app, arguments);
  add_messages(app, arguments);
  add_dlq(app, arguments);
  add_tenants(app, arguments);
  add_keys(app, arguments);
  add_queues(app, arguments);
  add_idempotency(app, arguments);
  add_sources(app, arguments.remote, arguments.sources, arguments.code);
  add_tail(app, arguments);
  add_listen(app, arguments);
  add_outbox(app, arguments.code);
  add_ledger(app, arguments.code);
  add_webhooks(app, arguments.webhooks, arguments.code);
  add_offline(app, arguments);
  add_convert(app, arguments.code);
  CLI::App* print_version = app.add_subcommand("version", "Print the version");
  print_version->add_flag("--json", arguments.json, "Print JSON");
  print_version->callback([&arguments] {
    if (arguments.json) {
      fmt::print("{{\"name\":\"hikyaku\",\"version\":\"{}\"}}\n", version);
    } else {
      fmt::print("hikyaku {}\n", version);
    }
  });
  CLI::App* reference =
      app.add_subcommand("reference", "Print the reference of settings as Markdown")->group("");
  reference->add_flag("--outbox", arguments.of_outbox, "Those of the outbox relay");
  reference->callback([&arguments] {
    fmt::print("{}", arguments.of_outbox ? config::reference_rows(outbox::settings_table())
                                         : config::reference_markdown());
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return refuse_usage(app, error);
  }
  return arguments.code;
}

}  // namespace hk::cli
