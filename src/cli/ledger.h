/// hikyaku ledger: the ledger of a running server; verify and export also read the data directory
/// of a stopped one, and verify a file.
#pragma once

#include <string>
#include <vector>

#include "cli/remote.h"

namespace hk::cli {

/// What the flags say; "": nothing.
struct LedgerArguments {
  std::string book{"main"};
  std::string account{};
  std::string prefix{};
  std::string type{};
  std::string state{};
  std::string currency{};
  std::string group_by{};
  std::string reference{};
  std::string limit{};
  std::string cursor{};
  std::string as_of_effective{};
  std::string as_of_recorded{};
  std::string as_of_seq{};
  std::string from{};
  std::string to{};
  std::string by{};
  std::string report{};
  // post
  std::string debit{};
  std::string credit{};
  std::string amount{};
  std::string id{};
  std::string description{};
  std::string effective_at{};
  std::string timeout{};
  bool hold = false;
  // verify, export
  std::string kind{};
  std::string format{};
  std::string from_seq{};
  std::string to_seq{};
  std::string out{};
  std::string data{};
  std::string tenant{};
  std::string file{};
  bool values = false;
  // recon
  std::string source{};
  std::string line{};
  std::string action{};
  std::string window_days{};
  std::vector<std::string> entries{};
  bool propose = false;
  std::vector<std::string> columns{};
  std::string separator{","};
  std::string decimals{};
  bool decimal_comma = false;
  std::string date_form{"YYYY-MM-DD"};
};

int list_ledger_accounts(const Connection& connection, const LedgerArguments& arguments);
/// Of an account, or sums over a prefix.
int show_ledger_balances(const Connection& connection, const LedgerArguments& arguments);
int post_to_ledger(const Connection& connection, const LedgerArguments& arguments);
int list_ledger_transactions(const Connection& connection, const LedgerArguments& arguments);
int show_ledger_statement(const Connection& connection, const LedgerArguments& arguments);
int show_ledger_report(const Connection& connection, const LedgerArguments& arguments);
int verify_ledger(const Connection& connection, const LedgerArguments& arguments);
int export_ledger(const Connection& connection, const LedgerArguments& arguments);
/// An export of records in JSON, in pieces. Interrupted, it goes on when it is started again.
int import_ledger(const Connection& connection, const LedgerArguments& arguments);

// ---- reconciliation ----

int set_recon_source(const Connection& connection, const LedgerArguments& arguments);
/// A file of lines, each a JSON object, or CSV.
int import_recon_lines(const Connection& connection, const LedgerArguments& arguments);
int list_recon_lines(const Connection& connection, const LedgerArguments& arguments);
int decide_recon(const Connection& connection, const LedgerArguments& arguments);
int show_recon_report(const Connection& connection, const LedgerArguments& arguments);

// ---- without a server ----

/// The books of a data directory: those of all tenants, or of the one that is named.
int verify_ledger_directory(const LedgerArguments& arguments, bool json);
/// An export of records in JSON.
int verify_ledger_file(const LedgerArguments& arguments, bool json);
int export_ledger_directory(const LedgerArguments& arguments);

/// Where an export goes: the file of --out, or standard output.
class ExportFile {
 public:
  explicit ExportFile(const std::string& path);
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;
  ~ExportFile();
  /// The first page as it is; of the others of CSV not the line with the names of the columns.
  bool write(std::string_view page, bool csv);
  /// False, told why: something could not be written.
  bool close();

 private:
  std::string path_;
  std::FILE* file_;
  bool first_ = true;
  bool good_ = true;
};

}  // namespace hk::cli
