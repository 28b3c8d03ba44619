#include "cli/outbox_flags.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "cli/add_value.h"
#include "cli/exit_code.h"
#include "cli/option_flags.h"
#include "cli/outbox.h"
#include "cli/process.h"
#include "outbox/settings.h"

namespace hk::cli {
namespace {

/// Everything that the parser fills in.
struct OutboxArguments {
  OptionTexts texts{};
  outbox::InitOptions init{};
  outbox::ListQuery list{};
  outbox::Selection selection{};
  std::string row{};
  std::string message{"aborted by an operator"};
  bool payload = false;
  bool json = false;
  bool no_notify = false;
};

Result<outbox::Settings> settings_of(const CLI::App& relay, const OutboxArguments& arguments) {
  auto settings = outbox::load_settings(flags_given(relay, arguments.texts), environment);
  if (settings && settings->database.empty()) {
    return fail(ErrorKind::invalid_argument,
                "give the database as --database postgres://user@host:5432/name or in "
                "OUTBOX_DATABASE");
  }
  return settings;
}

using Action = std::function<int(const outbox::Settings&)>;

void call(const CLI::App& relay, const OutboxArguments& arguments, int& code,
          const Action& action) {
  const auto settings = settings_of(relay, arguments);
  if (!settings) {
    tell("hikyaku: " + settings.error().message);
    code = exit_usage;
    return;
  }
  for (const std::string& warning : settings->warnings) {
    tell("hikyaku: " + warning);
  }
  code = action(*settings);
}

/// REQUIRES: it is a command of the relay's.
void on_call(CLI::App& command, const std::shared_ptr<OutboxArguments>& arguments, int& code,
             Action action) {
  command.callback([&command, arguments, &code, action = std::move(action)] {
    call(*command.get_parent(), *arguments, code, action);
  });
}

void add_rows(CLI::App& command, OutboxArguments& arguments, const char* all_help) {
  CLI::Option* ids = add_value(command, "ids", arguments.selection.ids, "ID...", "Ids of rows");
  if (all_help != nullptr) {
    command.add_flag("--all", arguments.selection.all, all_help)->excludes(ids);
  }
  command.add_flag("--force", arguments.selection.force,
                   "Also rows that a relay has leased: they may be sent twice");
  command.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

void add_outbox(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<OutboxArguments>();
  OutboxArguments& given = *arguments;
  CLI::App* relay = app.add_subcommand("outbox", "Relay the rows of an outbox table in PostgreSQL");
  relay->require_subcommand(0, 1);
  relay->fallthrough();
  relay->footer(
      "Each setting is also an environment variable: --batch is OUTBOX_BATCH. Secrets are given "
      "only as\nvariables, or in files named by <VARIABLE>_FILE.\n"
      "Example: hikyaku outbox init --database postgres://app@127.0.0.1/shop && hikyaku outbox "
      "--database postgres://app@127.0.0.1/shop");
  add_option_flags(*relay, outbox::settings_table(), given.texts);

  CLI::App* init = relay->add_subcommand(
      "init", "Create the tables, or adopt existing ones: adds only what is missing");
  init->add_flag("--print", given.init.print, "Print the SQL and change nothing");
  init->add_flag("--no-notify", given.no_notify, "Do not create the trigger that notifies relays");
  init->add_flag("--publication", given.init.publication,
                 "Also create the publication for --source replication");
  add_value(*init, "--enqueue-function", given.init.enqueue_function, "NAME",
            "Name of the function that applications call [hikyaku_enqueue]");
  add_value(*init, "--payload-type", given.init.payload_type, "jsonb|json|text|bytea",
            "Type of the payload column of a new table [jsonb]")
      ->check(CLI::IsMember({"jsonb", "json", "text", "bytea"}));
  on_call(*init, arguments, code, [arguments](const outbox::Settings& settings) {
    outbox::InitOptions options = arguments->init;
    options.notify = !arguments->no_notify;
    return outbox_init(settings, options);
  });

  CLI::App* status = relay->add_subcommand(
      "status", "Show how many rows have each status, and which relays hold them");
  status->add_flag("--json", given.json, "Print JSON");
  on_call(*status, arguments, code, [arguments](const outbox::Settings& settings) {
    return outbox_status(settings, arguments->json);
  });

  CLI::App* list = relay->add_subcommand("list", "List rows by id");
  add_value(*list, "--status", given.list.status, "STATUS",
            "Only this status: pending, sending, succeeded, failed, aborted or other")
      ->check(CLI::IsMember({"pending", "sending", "succeeded", "failed", "aborted", "other"}));
  add_value(*list, "--after", given.list.after, "ID", "Only ids after this one");
  add_value(*list, "--count", given.list.limit, "N", "Most rows to list [100]")
      ->check(CLI::Range(1, 1000));
  list->add_flag("--json", given.json, "Print JSON");
  on_call(*list, arguments, code, [arguments](const outbox::Settings& settings) {
    return outbox_list(settings, arguments->list, arguments->json);
  });

  CLI::App* show = relay->add_subcommand("show", "Show a row and its ledger entry");
  add_value(*show, "row", given.row, "ROW", "Id of the row, or key:IDEMPOTENCY_KEY")->required();
  show->add_flag("--payload", given.payload, "Also show the payload");
  show->add_flag("--json", given.json, "Print JSON");
  on_call(*show, arguments, code, [arguments](const outbox::Settings& settings) {
    return outbox_show(settings, arguments->row, arguments->payload, arguments->json);
  });

  const auto change = [&](const char* name, const char* help, const char* all, RowChange which) {
    CLI::App* command = relay->add_subcommand(name, help);
    add_rows(*command, given, all);
    on_call(*command, arguments, code, [arguments, which](const outbox::Settings& settings) {
      return outbox_change(settings, which, arguments->selection, arguments->message,
                           arguments->json);
    });
    return command;
  };
  CLI::App* requeue = change("requeue", "Send aborted or failed rows again, from the first attempt",
                             "All aborted rows", RowChange::requeue);
  add_value(*requeue, "--reason", given.selection.reason_code, "CODE",
            "With --all: only rows with this error code, such as BROKER_TIMEOUT");
  change("release", "Release rows of a relay that is gone, without waiting for the lease to expire",
         "All rows with an expired lease", RowChange::release);
  CLI::App* abort =
      change("abort", "Abort rows: the ledger entry becomes failed", nullptr, RowChange::abort);
  add_value(*abort, "--message", given.message, "TEXT", "Reason, kept as the last error");

  CLI::App* drop = relay->add_subcommand(
      "drop-slot", "Drop the replication slot of a relay that is no longer used");
  on_call(*drop, arguments, code,
          [](const outbox::Settings& settings) { return outbox_drop_slot(settings); });

  relay->callback([relay, arguments, &code] {
    if (!relay->get_subcommands().empty()) {
      return;
    }
    call(*relay, *arguments, code, outbox_run);
  });
}

}  // namespace hk::cli
