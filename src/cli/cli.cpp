#include "cli/cli.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "cli/client.h"
#include "cli/convert.h"
#include "cli/exit_code.h"
#include "cli/keys.h"
#include "cli/listen.h"
#include "cli/master_key.h"
#include "cli/offline.h"
#include "cli/option_flags.h"
#include "cli/outbox_flags.h"
#include "cli/process.h"
#include "cli/remote.h"
#include "cli/serve.h"
#include "cli/tenants.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "config/options.h"
#include "outbox/settings.h"

namespace hk::cli {

namespace {

/// Where and as whom, for the commands that talk to a server.
struct RemoteFlags {
  std::string url{};
  std::string token{};
  std::string ca_file{};
  bool dev = false;
  bool json = false;

  void add_address_to(CLI::App& command, const std::string& url_help) {
    command.add_option("--url", url, url_help);
    command.add_option("--ca-file", ca_file, "Certificates (PEM) to trust instead of the system's");
  }

  void add_to(CLI::App& command) {
    add_address_to(command, "Server to talk to [HIKYAKU_URL, http://127.0.0.1:8080]");
    command.add_option("--token", token, "Token of the tenant [HIKYAKU_CLIENT_TOKEN, client.conf]");
    command.add_flag("--dev", dev, "Use the well-known token of `serve --dev`");
    command.add_flag("--json", json, "Print the server's JSON, for scripts");
  }

  [[nodiscard]] Connection connection() const {
    return make_connection(
        {.url = url, .token = Secret{token}, .ca_file = ca_file, .dev = dev, .json = json});
  }
};

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
  std::string tenant{};
  std::string name{};
  bool once = false;
  std::string data{"./data"};
  std::string directory{};
  std::string body_file{};
  bool json = false;
  bool of_outbox = false;
  ListenArguments listen{};
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
  CLI::App* command = app.add_subcommand("publish", "Hand a message over for delivery");
  command->footer(
      "Example: hikyaku publish https://example.com/hook --body '{\"id\":1}' --delay 10m");
  PublishArguments& publish_arguments = arguments.publish;
  command->add_option("destination", publish_arguments.destination, "URL to deliver to")
      ->required();
  CLI::Option* body = command->add_option("--body", publish_arguments.body,
                                          "The message; else standard input is read");
  command->add_option("--method", publish_arguments.method,
                      "GET, POST, PUT, PATCH or DELETE [POST]");
  command->add_option("--delay", publish_arguments.delay,
                      "Deliver no earlier than after this time, such as 30s or 1d2h");
  command->add_option("--retries", publish_arguments.retries,
                      "Retries after the first attempt [3]");
  command->add_option("--timeout", publish_arguments.timeout, "Time for one attempt");
  command->add_option("--dedup-id", publish_arguments.dedup_id, "Accept one message under this id");
  command->add_option("--queue", publish_arguments.queue, "Deliver in the order of this queue");
  command->add_option("--label", publish_arguments.labels, "Label to find it by (repeatable)");
  command->add_option("--header", publish_arguments.headers,
                      "'Name: value' for the destination (repeatable)");
  command->add_option("--content-type", publish_arguments.content_type,
                      "Content-Type of the message");
  arguments.remote.add_to(*command);
  command->callback([&arguments, body] {
    arguments.publish.body_given = body->count() > 0;
    arguments.code = publish(arguments.remote.connection(), arguments.publish);
  });
}

void add_messages(CLI::App& app, Arguments& arguments) {
  CLI::App* messages = app.add_subcommand("messages", "Look at or cancel a message");
  messages->require_subcommand(1);
  CLI::App* get = messages->add_subcommand("get", "State, attempts and what it waits for");
  get->add_option("id", arguments.id, "msg_…")->required();
  arguments.remote.add_to(*get);
  get->callback(
      [&arguments] { arguments.code = get_message(arguments.remote.connection(), arguments.id); });
  CLI::App* why =
      messages->add_subcommand("why", "Why it does not run, and what would change that");
  why->add_option("id", arguments.id, "msg_…")->required();
  arguments.remote.add_to(*why);
  why->callback([&arguments] {
    arguments.code = explain_message(arguments.remote.connection(), arguments.id);
  });
  CLI::App* cancel = messages->add_subcommand("cancel", "No attempt starts after this");
  cancel->add_option("id", arguments.id, "msg_…")->required();
  arguments.remote.add_to(*cancel);
  cancel->callback([&arguments] {
    arguments.code = cancel_message(arguments.remote.connection(), arguments.id);
  });
}

void add_dlq(CLI::App& app, Arguments& arguments) {
  CLI::App* dlq = app.add_subcommand("dlq", "Dead letters: messages that were given up");
  dlq->require_subcommand(1);
  CLI::App* list = dlq->add_subcommand("list", "List them, oldest first");
  list->add_option("--count", arguments.count, "At most this many [100]")
      ->check(CLI::Range(1, 100));
  list->add_option("--cursor", arguments.cursor, "Continue a list");
  list->add_option("--filter", arguments.filters,
                   "name=value: url, label, queueName, responseStatus, fromDate … (repeatable)");
  arguments.remote.add_to(*list);
  list->callback([&arguments] {
    arguments.code = list_dead_letters(arguments.remote.connection(), arguments.count,
                                       arguments.cursor, arguments.filters);
  });
  const auto add_selection = [&arguments](CLI::App* command) {
    CLI::Option* ids =
        command->add_option("ids", arguments.ids, "Dead-letter ids, as `dlq list` shows them");
    CLI::Option* all = command->add_flag("--all", arguments.all, "All of them");
    all->excludes(ids);
    arguments.remote.add_to(*command);
  };
  const auto chosen = [&arguments] {
    if (arguments.ids.empty() && !arguments.all) {
      tell("hikyaku: name the dead letters by id, or say --all");
      arguments.code = exit_usage;
      return false;
    }
    return true;
  };
  CLI::App* retry = dlq->add_subcommand("retry", "Publish them again as new messages");
  add_selection(retry);
  CLI::Option* of_all = retry->get_option("--all");
  retry
      ->add_option("--filter", arguments.filters,
                   "With --all: only those that fit, as for `dlq list` (repeatable)")
      ->needs(of_all);
  retry->add_option("--rate", arguments.rate, "With --all: at most this many a second")
      ->needs(of_all)
      ->check(CLI::Range(0.001, 1e6));
  RetryArguments& edit = arguments.retry;
  retry->add_option("--body", edit.body_file, "One id: file with another body; -: standard input");
  retry->add_option("--destination", edit.destination, "One id: another URL to deliver to");
  retry->add_option("--header", edit.headers, "One id: another 'Name: value' (repeatable)");
  retry->add_option("--content-type", edit.content_type, "One id: another Content-Type");
  retry->callback([&arguments, chosen] {
    if (chosen()) {
      arguments.retry.ids = arguments.ids;
      arguments.retry.all = arguments.all;
      arguments.retry.filters = arguments.filters;
      arguments.retry.rate = arguments.rate;
      arguments.code = retry_dead_letters(arguments.remote.connection(), arguments.retry);
    }
  });
  CLI::App* remove = dlq->add_subcommand("delete", "Delete them");
  add_selection(remove);
  remove->callback([&arguments, chosen] {
    if (chosen()) {
      arguments.code =
          delete_dead_letters(arguments.remote.connection(), arguments.ids, arguments.all);
    }
  });
}

void add_admin_flags(CLI::App& command, AdminArguments& admin) {
  command.add_option("--data", admin.data, "Data directory of the server [./data]");
  command.add_option("--ca-file", admin.ca_file,
                     "Certificates (PEM) to trust instead of the system's");
  command.add_flag("--json", admin.json, "Print the server's JSON, for scripts");
}

void add_tenants(CLI::App& app, Arguments& arguments) {
  CLI::App* tenants =
      app.add_subcommand("tenants", "Who may use the server: needs its data directory");
  tenants->require_subcommand(1);
  CLI::App* create = tenants->add_subcommand("create", "Make one; prints its token and keys once");
  create->add_option("name", arguments.name, "Letters, digits, '.', '_' and '-'")->required();
  add_admin_flags(*create, arguments.admin);
  create->callback(
      [&arguments] { arguments.code = create_tenant(arguments.admin, arguments.name); });
  CLI::App* list = tenants->add_subcommand("list", "Id, time of creation and name of each");
  add_admin_flags(*list, arguments.admin);
  list->callback([&arguments] { arguments.code = list_tenants(arguments.admin); });
  CLI::App* rotate = tenants->add_subcommand(
      "rotate-token", "Give it a new token; the old one is refused from then on");
  rotate->add_option("id", arguments.id, "Its id, as `tenants list` shows it")->required();
  add_admin_flags(*rotate, arguments.admin);
  rotate->callback(
      [&arguments] { arguments.code = rotate_tenant_token(arguments.admin, arguments.id); });
}

void add_keys(CLI::App& app, Arguments& arguments) {
  CLI::App* keys = app.add_subcommand(
      "keys", "What AWS clients sign with, and the master key: needs the server's data directory");
  keys->require_subcommand(1);
  const auto add = [&arguments, keys](const char* name, const char* text) {
    CLI::App* command = keys->add_subcommand(name, text);
    command->add_option("--tenant", arguments.tenant, "Name of the tenant [the first one]");
    add_admin_flags(*command, arguments.admin);
    return command;
  };
  add("create", "Make an access key; prints its id, and its secret once")->callback([&arguments] {
    arguments.code = create_access_key(arguments.admin, arguments.tenant);
  });
  add("list", "Id and time of creation of each")->callback([&arguments] {
    arguments.code = list_access_keys(arguments.admin, arguments.tenant);
  });
  CLI::App* revoke = add("revoke", "Refuse what it signs from then on");
  revoke->add_option("id", arguments.id, "Its id, as `keys list` shows it")->required();
  revoke->callback([&arguments] {
    arguments.code = revoke_access_key(arguments.admin, arguments.tenant, arguments.id);
  });
  CLI::App* rotate = keys->add_subcommand(
      "rotate-master", "Seal every stored secret with a new master key: of a stopped server");
  rotate->footer(
      "The key of the file master.key is replaced by one that is made. One that is given as "
      "HIKYAKU_MASTER_KEY is replaced by HIKYAKU_NEW_MASTER_KEY.");
  rotate->add_option("--data", arguments.data, "Data directory [./data]");
  rotate->add_option("--new-key-file", arguments.body_file, "File that holds the new key");
  rotate->add_flag("--json", arguments.json, "Print JSON, for scripts");
  rotate->callback([&arguments] {
    arguments.code = rotate_master_key(arguments.data, arguments.body_file, arguments.json);
  });
}

/// Groups of queues that have stopped at a message.
void add_halted(CLI::App& queues, Arguments& arguments) {
  const auto add = [&arguments, &queues](const char* name, const char* text) {
    CLI::App* command = queues.add_subcommand(name, text);
    command->add_option("name", arguments.id, "Queue")->required();
    arguments.remote.add_to(*command);
    return command;
  };
  add("halted", "List the messages at which groups have stopped")->callback([&arguments] {
    arguments.code = list_halted(arguments.remote.connection(), arguments.id);
  });
  CLI::App* retry = add("retry", "Hand out the message at which a group has stopped once more");
  retry->add_option("group", arguments.name, "Group")->required();
  retry->add_option("--body", arguments.body_file,
                    "File that holds another body for it; -: standard input");
  retry->callback([&arguments] {
    arguments.code = retry_halted(arguments.remote.connection(), arguments.id, arguments.name,
                                  arguments.body_file);
  });
  CLI::App* skip = add("skip", "Let it be a dead letter, and the group go on");
  skip->add_option("group", arguments.name, "Group")->required();
  skip->callback([&arguments] {
    arguments.code = skip_halted(arguments.remote.connection(), arguments.id, arguments.name);
  });
}

void add_queues(CLI::App& app, Arguments& arguments) {
  CLI::App* queues = app.add_subcommand("queues", "Queues: what waits in them, and whether it may");
  queues->require_subcommand(1);
  CLI::App* list = queues->add_subcommand("list", "List them with what is not finished");
  arguments.remote.add_to(*list);
  list->callback([&arguments] { arguments.code = list_queues(arguments.remote.connection()); });
  const auto add = [&arguments, queues](const char* name, const char* text, QueueChange change) {
    CLI::App* command = queues->add_subcommand(name, text);
    command->add_option("name", arguments.id, "Queue")->required();
    arguments.remote.add_to(*command);
    command->callback([&arguments, change] {
      arguments.code = change_queue(arguments.remote.connection(), change, arguments.id);
    });
  };
  add("pause", "Start nothing new", QueueChange::pause);
  add("resume", "Go on with the oldest message", QueueChange::resume);
  add("delete", "Delete it and cancel what waits", QueueChange::remove);
  add_halted(*queues, arguments);
}

void add_tail(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("tail", "Follow what happens to messages");
  command->add_flag("--once", arguments.once, "Print what is there and end");
  command->add_option("--message", arguments.id, "Of this message only");
  arguments.remote.add_to(*command);
  command->callback([&arguments] {
    arguments.code = tail(arguments.remote.connection(), arguments.once, arguments.id);
  });
}

void add_listen(CLI::App& app, Arguments& arguments) {
  CLI::App* command =
      app.add_subcommand("listen", "Receive deliveries and print them: for trying things out");
  command->add_option("--listen", arguments.listen_on, "Address to receive on [127.0.0.1:9000]");
  command->add_option("--status", arguments.listen.status, "Status to answer with [200]")
      ->check(CLI::Range(200, 599));
  command->add_option("--body", arguments.listen.body, "Body to answer with");
  command->add_flag("--json", arguments.listen.json, "Print one JSON object a request");
  command->callback([&arguments] {
    const std::size_t colon = arguments.listen_on.rfind(':');
    const int port =
        colon == std::string::npos ? 0 : std::atoi(arguments.listen_on.c_str() + colon + 1);
    if (port <= 0 || port > 65535) {
      tell("hikyaku: --listen wants address:port, such as 127.0.0.1:9000");
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
  check->add_option("--data", arguments.data, "Data directory [./data]");
  check->add_flag("--json", arguments.json, "Print JSON, for scripts");
  check->callback([&arguments] { arguments.code = verify(arguments.data, arguments.json); });
  CLI::App* save = app.add_subcommand("backup", "Copy a data directory, also of a running server");
  save->add_option("--data", arguments.data, "Data directory [./data]");
  save->add_option("--to", arguments.directory, "Directory to make")->required();
  // Not HIKYAKU_URL: the token of admin.json goes only where that file or the user says.
  arguments.remote.add_address_to(*save, "How to reach the running server [where it listens]");
  save->add_flag("--json", arguments.json, "Print JSON, for scripts");
  save->callback([&arguments] {
    arguments.code =
        backup(arguments.data, arguments.directory, without_slash(arguments.remote.url),
               arguments.remote.ca_file, arguments.json);
  });
  CLI::App* bring_back = app.add_subcommand("restore", "Make a data directory from a backup");
  bring_back->add_option("--from", arguments.directory, "Directory that `backup` made")->required();
  bring_back->add_option("--data", arguments.data, "Data directory to make [./data]");
  bring_back->add_flag("--json", arguments.json, "Print JSON, for scripts");
  bring_back->callback([&arguments] {
    arguments.code = restore(arguments.directory, arguments.data, arguments.json);
  });
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{
      "Hikyaku: hand it work, and it answers for it. Accepts durably, delivers at least once."};
  app.name("hikyaku");
  app.require_subcommand(1);
  app.set_version_flag("--version", version);
  app.footer(
      "Start with:  hikyaku serve --dev\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 not "
      "reachable or in "
      "use, 4 damaged data, 70 the store failed.");
  Arguments arguments;
  add_serve(app, arguments);
  add_publish(app, arguments);
  add_messages(app, arguments);
  add_dlq(app, arguments);
  add_tenants(app, arguments);
  add_keys(app, arguments);
  add_queues(app, arguments);
  add_tail(app, arguments);
  add_listen(app, arguments);
  add_outbox(app, arguments.code);
  add_offline(app, arguments);
  add_convert(app, arguments.code);
  CLI::App* print_version = app.add_subcommand("version", "Print the version");
  print_version->add_flag("--json", arguments.json, "Print JSON, for scripts");
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
