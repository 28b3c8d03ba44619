#include "cli/ledger_flags.h"

#include <memory>

#include "cli/exit_code.h"
#include "cli/ledger.h"
#include "cli/process.h"
#include "cli/remote_flags.h"

namespace hk::cli {

namespace {

/// Everything that the parser fills in.
struct LedgerFlags {
  LedgerArguments arguments{};
  RemoteFlags remote{};
};

using LedgerAction = int (*)(const Connection&, const LedgerArguments&);

void add_page(CLI::App& command, LedgerArguments& arguments) {
  add_value(command, "--limit", arguments.limit, "N", "Rows of a page, 1 to 1000 [100]");
  add_value(command, "--cursor", arguments.cursor, "CURSOR", "Continue where a page ended");
}

void add_as_of(CLI::App& command, LedgerArguments& arguments) {
  add_value(command, "--as-of-effective", arguments.as_of_effective, "TIME",
            "As it was at that time, knowing what is known now");
  CLI::Option* recorded = add_value(command, "--as-of-recorded", arguments.as_of_recorded, "TIME",
                                    "As the books said at that time");
  add_value(command, "--as-of-seq", arguments.as_of_seq, "SEQ", "As the books said after a record")
      ->excludes(recorded);
}

void add_period(CLI::App& command, LedgerArguments& arguments) {
  add_value(command, "--from", arguments.from, "TIME", "Beginning of the period, inclusive");
  add_value(command, "--to", arguments.to, "TIME", "End of the period, exclusive");
  add_value(command, "--by", arguments.by, "AXIS", "Which time counts: effective or recorded")
      ->check(CLI::IsMember({"effective", "recorded"}));
}

void add_lists(CLI::App& ledger, const std::shared_ptr<LedgerFlags>& flags, const auto& add) {
  LedgerArguments& arguments = flags->arguments;
  CLI::App* accounts = add(ledger, "accounts", "List accounts", list_ledger_accounts);
  add_value(*accounts, "--prefix", arguments.prefix, "PATH", "Only accounts below this path");
  add_value(*accounts, "--type", arguments.type, "TYPE",
            "asset, expense, liability, equity or revenue");
  add_value(*accounts, "--state", arguments.state, "STATE", "open, frozen or closed");
  add_page(*accounts, arguments);

  CLI::App* balances = add(ledger, "balances", "Show balances of an account, or sums over a prefix",
                           show_ledger_balances);
  CLI::Option* account =
      add_value(*balances, "account", arguments.account, "ACCOUNT", "Id or path of an account");
  add_value(*balances, "--currency", arguments.currency, "CODE", "Only this currency")
      ->needs(account);
  add_value(*balances, "--prefix", arguments.prefix, "PATH",
            "Sum over the accounts below this path")
      ->excludes(account);
  add_value(*balances, "--group-by", arguments.group_by, "path:N",
            "One sum for each beginning of N segments")
      ->excludes(account);
  add_as_of(*balances, arguments);
  add_page(*balances, arguments);

  CLI::App* transactions =
      add(ledger, "transactions", "List transactions, newest first", list_ledger_transactions);
  add_value(*transactions, "--account", arguments.account, "ACCOUNT", "Only those of this account");
  add_value(*transactions, "--prefix", arguments.prefix, "PATH",
            "Only those of accounts below this path");
  add_value(*transactions, "--currency", arguments.currency, "CODE", "Only those in this currency");
  add_value(*transactions, "--state", arguments.state, "STATE",
            "posted, pending, partially_posted, voided or expired");
  add_value(*transactions, "--reference", arguments.reference, "TEXT",
            "Only those with this reference");
  add_value(*transactions, "--from", arguments.from, "TIME", "Effective at this time or later");
  add_value(*transactions, "--to", arguments.to, "TIME", "Effective at this time or earlier");
  add_page(*transactions, arguments);
}

void add_post(CLI::App& ledger, const std::shared_ptr<LedgerFlags>& flags, const auto& add) {
  LedgerArguments& arguments = flags->arguments;
  CLI::App* post =
      add(ledger, "post", "Move an amount from one account to another", post_to_ledger);
  post->footer(
      "Example: hikyaku ledger post --debit bank --credit wallet:ada --amount 5000 --currency USD "
      "--id deposit-1");
  add_value(*post, "--debit", arguments.debit, "ACCOUNT", "Account to debit")->required();
  add_value(*post, "--credit", arguments.credit, "ACCOUNT", "Account to credit")->required();
  add_value(*post, "--amount", arguments.amount, "N", "Amount in minor units")->required();
  add_value(*post, "--currency", arguments.currency, "CODE", "Currency")->required();
  add_value(*post, "--id", arguments.id, "ID",
            "Id of the transaction: posting it again changes nothing");
  add_value(*post, "--description", arguments.description, "TEXT", "Description");
  add_value(*post, "--reference", arguments.reference, "TEXT", "Reference");
  add_value(*post, "--effective-at", arguments.effective_at, "TIME", "When it happened [now]");
  CLI::Option* hold =
      post->add_flag("--hold", arguments.hold, "Hold the amount; post or void it later");
  add_value(*post, "--timeout", arguments.timeout, "SECONDS",
            "How long it is held [until resolved]")
      ->check(CLI::PositiveNumber)
      ->needs(hold);
}

void add_reports(CLI::App& ledger, const std::shared_ptr<LedgerFlags>& flags, const auto& add) {
  LedgerArguments& arguments = flags->arguments;
  CLI::App* statement =
      add(ledger, "statement", "Show what moved an account in a period", show_ledger_statement);
  add_value(*statement, "account", arguments.account, "ACCOUNT", "Id or path of the account")
      ->required();
  add_value(*statement, "--currency", arguments.currency, "CODE",
            "Currency [that of the account, if it has only one]");
  add_period(*statement, arguments);
  add_page(*statement, arguments);

  CLI::App* report = add(ledger, "report", "Show a report", show_ledger_report);
  add_value(*report, "name", arguments.report, "NAME",
            "trial_balance, balance_sheet, income_statement, activity, open_holds or integrity")
      ->required();
  add_value(*report, "--prefix", arguments.prefix, "PATH",
            "activity: only accounts below this path");
  add_period(*report, arguments);
  add_as_of(*report, arguments);
  add_page(*report, arguments);
}

void add_audit(CLI::App& ledger, const std::shared_ptr<LedgerFlags>& flags, int& code) {
  LedgerArguments& arguments = flags->arguments;
  const auto add = [&](const char* name, const char* text) {
    CLI::App* command = ledger.add_subcommand(name, text);
    add_value(*command, "--book", arguments.book, "ID", "Book [main]");
    add_value(*command, "--data", arguments.data, "PATH",
              "Read the data directory of a stopped server instead");
    add_value(*command, "--tenant", arguments.tenant, "NAME", "With --data: only of this tenant");
    add_value(*command, "--from-seq", arguments.from_seq, "SEQ", "First record [1]")
        ->check(CLI::PositiveNumber);
    add_value(*command, "--to-seq", arguments.to_seq, "SEQ", "Last record [the last]")
        ->check(CLI::PositiveNumber);
    flags->remote.add_to(*command);
    return command;
  };
  CLI::App* check = add("verify", "Check the chain of records, and balances against it");
  add_value(*check, "--file", arguments.file, "PATH", "Check an export (records, jsonl) instead");
  check->callback([flags, &code] {
    const LedgerArguments& given = flags->arguments;
    if (!given.file.empty()) {
      code = verify_ledger_file(given, flags->remote.json);
    } else if (!given.data.empty()) {
      code = verify_ledger_directory(given, flags->remote.json);
    } else {
      code = verify_ledger(flags->remote.connection(), given);
    }
  });
  CLI::App* save = add("export", "Write the log of a book");
  add_value(*save, "--kind", arguments.kind, "KIND", "records or entries [records]")
      ->check(CLI::IsMember({"records", "entries"}));
  add_value(*save, "--format", arguments.format, "FORMAT", "jsonl or csv [jsonl]")
      ->check(CLI::IsMember({"jsonl", "csv"}));
  save->add_flag("--values", arguments.values,
                 "With the values of metadata, which are not in the chain (records, jsonl)");
  add_value(*save, "--out", arguments.out, "PATH", "File to write [standard output]");
  save->callback([flags, &code] {
    code = flags->arguments.data.empty()
               ? export_ledger(flags->remote.connection(), flags->arguments)
               : export_ledger_directory(flags->arguments);
  });
  CLI::App* load = ledger.add_subcommand("import", "Make a book of an export (records, jsonl)");
  add_value(*load, "--file", arguments.file, "PATH", "The export")->required();
  flags->remote.add_to(*load);
  load->callback(
      [flags, &code] { code = import_ledger(flags->remote.connection(), flags->arguments); });
}

void add_recon(CLI::App& ledger, const std::shared_ptr<LedgerFlags>& flags, const auto& add) {
  LedgerArguments& arguments = flags->arguments;
  CLI::App* recon = ledger.add_subcommand("recon", "Compare an account with a statement");
  recon->require_subcommand(1);
  const auto of_source = [&](const char* name, const char* text, LedgerAction action) {
    CLI::App* command = add(*recon, name, text, action);
    add_value(*command, "source", arguments.source, "SOURCE", "Whose statement it is")->required();
    return command;
  };
  CLI::App* source = of_source("source", "Say whose statements lines are", set_recon_source);
  add_value(*source, "--account", arguments.account, "ACCOUNT", "Account that they are about")
      ->required();
  add_value(*source, "--currency", arguments.currency, "CODE", "Currency")->required();
  add_value(*source, "--window-days", arguments.window_days, "DAYS",
            "So far may a line be from its entries [3]");
  source->add_flag("--propose", arguments.propose, "Match nothing without being asked");
  CLI::App* lines = of_source("import", "Import lines of a statement", import_recon_lines);
  add_value(*lines, "--file", arguments.file, "PATH",
            "Its lines: external_id, date, amount, currency, reference, text")
      ->required();
  add_value(*lines, "--format", arguments.format, "FORMAT", "jsonl or csv [jsonl]")
      ->check(CLI::IsMember({"jsonl", "csv"}));
  lines
      ->add_option("--column", arguments.columns,
                   "Which column of CSV is what [the one of that name]; may be repeated")
      ->option_text("MEMBER=COLUMN")
      ->allow_extra_args(false);
  add_value(*lines, "--separator", arguments.separator, "CHARACTER", "Between columns [,]");
  add_value(*lines, "--decimals", arguments.decimals, "COUNT",
            "Amounts in CSV have a decimal point and so many digits behind it [minor units]")
      ->check(CLI::Range(0, 38));
  lines->add_flag("--decimal-comma", arguments.decimal_comma, "It is a comma: 1.234,50");
  add_value(*lines, "--date-form", arguments.date_form, "FORM",
            "Days in CSV, such as DD.MM.YYYY or M/D/YYYY [YYYY-MM-DD]");
  add_value(*lines, "--currency", arguments.currency, "CODE", "Of CSV without such a column");
  CLI::App* list = of_source("lines", "List lines by day", list_recon_lines);
  add_value(*list, "--state", arguments.state, "STATE",
            "unmatched, proposed, matched or ignored [all]");
  add_value(*list, "--from", arguments.from, "DAY", "First day");
  add_value(*list, "--to", arguments.to, "DAY", "Last day");
  add_page(*list, arguments);
  CLI::App* decide =
      of_source("decide", "Match a line, take that back, or ignore it", decide_recon);
  add_value(*decide, "action", arguments.action, "ACTION", "match, unmatch or ignore")->required();
  add_value(*decide, "line", arguments.line, "LINE", "external_id of the line")->required();
  decide->add_option("--entry", arguments.entries,
                     "TRANSACTION/INDEX that it is [what is proposed]; may be repeated");
  CLI::App* report = of_source("report", "Show by day what is matched", show_recon_report);
  add_value(*report, "--from", arguments.from, "DAY", "First day [the first with a line]");
  add_value(*report, "--to", arguments.to, "DAY", "Last day [today]");
  add_page(*report, arguments);
}

}  // namespace

void add_ledger(CLI::App& app, int& code) {
  CLI::App* ledger =
      app.add_subcommand("ledger", "Read the ledger, post to it, check, export and import it");
  ledger->require_subcommand(1);
  const auto flags = std::make_shared<LedgerFlags>();
  const auto add = [&flags, &code](CLI::App& parent, const char* name, const char* text,
                                   LedgerAction action) {
    CLI::App* command = parent.add_subcommand(name, text);
    add_value(*command, "--book", flags->arguments.book, "ID", "Book [main]");
    flags->remote.add_to(*command);
    command->callback(
        [flags, &code, action] { code = action(flags->remote.connection(), flags->arguments); });
    return command;
  };
  add_lists(*ledger, flags, add);
  add_post(*ledger, flags, add);
  add_reports(*ledger, flags, add);
  add_audit(*ledger, flags, code);
  add_recon(*ledger, flags, add);
}

}  // namespace hk::cli
