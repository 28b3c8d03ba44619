#include "cli/outbox_flags.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

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
  OutboxProcess process{};
  outbox::InitOptions init{};
  outbox::ListQuery list{};
  outbox::Selection selection{};
  std::string row{};
  std::string message{"aborted by a person"};
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
  CLI::Option* ids = command.add_option("ids", arguments.selection.ids, "Ids of rows");
  if (all_help != nullptr) {
    command.add_flag("--all", arguments.selection.all, all_help)->excludes(ids);
  }
  command.add_flag("--force", arguments.selection.force,
                   "Also rows that a relay holds by a live lease: they may be sent twice");
  command.add_flag("--json", arguments.json, "Print JSON, for scripts");
}

}  // namespace

void add_outbox(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<OutboxArguments>();
  OutboxArguments& given = *arguments;
  CLI::App* relay = app.add_subcommand(
      "outbox", "Send on what applications commit to an outbox table of PostgreSQL");
  relay->require_subcommand(0, 1);
  relay->fallthrough();
  relay->footer(
      "Each setting can also be given by its variable: --batch is OUTBOX_BATCH. Secrets are given "
      "only by\nvariables, or by files that <VARIABLE>_FILE names.\n"
      "Example: hikyaku outbox init --database postgres://app@127.0.0.1/shop && hikyaku outbox "
      "--database postgres://app@127.0.0.1/shop");
  add_option_flags(*relay, outbox::settings_table(), given.texts);
  relay->add_option("--metrics-listen", given.process.metrics_listen,
                    "Address for /metrics and /health, such as 127.0.0.1:9464 [none]");
  relay
      ->add_option("--log-level", given.process.log_level, "debug, info, warn, error or off [info]")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  relay->add_option("--otlp-endpoint", given.process.otlp_endpoint,
                    "Collector for traces (OTLP over HTTP) [none]");
  relay
      ->add_option("--drain", given.process.drain_seconds,
                   "Seconds that sendings under way get to end when asked to stop [20]")
      ->check(CLI::Range(0.0, 3600.0));

  CLI::App* init = relay->add_subcommand(
      "init", "Make the tables, or adopt existing ones: adds what is missing, any number of times");
  init->add_flag("--print", given.init.print, "Print the SQL and change nothing");
  init->add_flag("--no-notify", given.no_notify, "Without the trigger that wakes relays");
  init->add_flag("--publication", given.init.publication,
                 "With the publication that the source replication reads");
  init->add_option("--enqueue-function", given.init.enqueue_function,
                   "Name of the function that applications call [hikyaku_enqueue]");
  init->add_option("--payload-type", given.init.payload_type,
                   "Of a table that is made: jsonb, json, text or bytea [jsonb]")
      ->check(CLI::IsMember({"jsonb", "json", "text", "bytea"}));
  on_call(*init, arguments, code, [arguments](const outbox::Settings& settings) {
    outbox::InitOptions options = arguments->init;
    options.notify = !arguments->no_notify;
    return outbox_init(settings, options);
  });

  CLI::App* status = relay->add_subcommand("status", "Rows by status, and who holds them");
  status->add_flag("--json", given.json, "Print JSON, for scripts");
  on_call(*status, arguments, code, [arguments](const outbox::Settings& settings) {
    return outbox_status(settings, arguments->json);
  });

  CLI::App* list = relay->add_subcommand("list", "List rows by id");
  list->add_option("--status", given.list.status,
                   "pending, sending, succeeded, failed, aborted, or other (none of these)")
      ->check(CLI::IsMember({"pending", "sending", "succeeded", "failed", "aborted", "other"}));
  list->add_option("--after", given.list.after, "Continue after this id");
  list->add_option("--count", given.list.limit, "At most this many [100]")
      ->check(CLI::Range(1, 1000));
  list->add_flag("--json", given.json, "Print JSON, for scripts");
  on_call(*list, arguments, code, [arguments](const outbox::Settings& settings) {
    return outbox_list(settings, arguments->list, arguments->json);
  });

  CLI::App* show = relay->add_subcommand("show", "All about one row, and what the ledger says");
  show->add_option("row", given.row, "Its id, or key:<idempotency key>")->required();
  show->add_flag("--payload", given.payload, "The payload, too, which is masked otherwise");
  show->add_flag("--json", given.json, "Print JSON, for scripts");
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
  change("requeue", "Start aborted or failed rows again from the first attempt, at once",
         "Every aborted row", RowChange::requeue)
      ->add_option("--reason", given.selection.reason_code,
                   "With --all: only of this code, such as BROKER_TIMEOUT");
  change("release", "Give rows back whose relay is gone, without waiting for a takeover",
         "Every row with an expired lease", RowChange::release);
  change("abort", "Give rows up: the ledger says failed", nullptr, RowChange::abort)
      ->add_option("--message", given.message, "Why, for the next person who looks");

  CLI::App* drop = relay->add_subcommand(
      "drop-slot", "Remove the replication slot of a relay that is gone for good");
  on_call(*drop, arguments, code,
          [](const outbox::Settings& settings) { return outbox_drop_slot(settings); });

  relay->callback([relay, arguments, &code] {
    if (!relay->get_subcommands().empty()) {
      return;
    }
    call(*relay, *arguments, code, [&arguments](const outbox::Settings& settings) {
      return outbox_run(settings, arguments->process);
    });
  });
}

}  // namespace hk::cli
