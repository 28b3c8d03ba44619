// hikyaku ledger import.
#include <fmt/core.h>

#include <fstream>

#include "api/ledger/export_page.h"
#include "api/text.h"
#include "cli/exit_code.h"
#include "cli/ledger.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace {

constexpr std::uint64_t piece_records = 1000;
constexpr std::size_t piece_bytes = std::size_t{1} << 19U;
constexpr std::uint64_t told_every = 100 * piece_records;

/// The id of the book whose first record this is; "": it is none.
std::string book_of(const std::string& line) {
  const auto read = api::ledger::read_exported(line);
  const auto payload =
      read ? core::ledger::decode(read->record.kind, read->record.payload)
           : Result<core::ledger::Payload>(fail(ErrorKind::corruption, "no record"));
  const auto* const made = payload ? std::get_if<core::ledger::BookCreated>(&*payload) : nullptr;
  return made == nullptr ? "" : made->id;
}

}  // namespace

int import_ledger(const Connection& connection, const LedgerArguments& arguments) {
  std::ifstream file(arguments.file, std::ios::binary);
  std::string line;
  if (!file || !std::getline(file, line)) {
    tell("hikyaku: cannot read " + arguments.file);
    return exit_usage;
  }
  const std::string book = book_of(line);
  if (book.empty()) {
    tell("hikyaku: " + arguments.file +
         " does not begin with the first record of a book: export it with kind records, format "
         "jsonl, from record 1");
    return exit_usage;
  }
  const std::string path = "/api/v1/ledger/books/" + query_escape(book) + "/import";
  // The line of a record is its seq: what the server has already is not sent again.
  std::uint64_t seq = 1;
  std::uint64_t there = 0;
  std::uint64_t told = 0;
  std::string answered;
  for (bool more = true; more;) {
    std::string piece;
    for (std::uint64_t taken = 0; more && taken < piece_records && piece.size() < piece_bytes;
         ++seq) {
      if (seq > there) {
        piece += line + '\n';
        ++taken;
      }
      more = static_cast<bool>(std::getline(file, line));
    }
    int code = exit_ok;
    const auto answer = call(connection, "POST", more ? path : path + "?complete=true",
                             {{"Content-Type", "application/x-ndjson"}}, std::move(piece), code,
                             std::chrono::minutes(5));
    if (!answer) {
      if (code == exit_unavailable) {
        tell("The import is not complete. To go on, start it again.");
      }
      return code;
    }
    there = api::parse_unsigned(text_of(answer->value, "last_seq")).value_or(there);
    if (more && there >= told + told_every) {
      told = there;
      tell(fmt::format("{} records", there));
    }
    answered = answer->text;
    if (!more && !connection.json) {
      fmt::print("{}: {} records, last hash {}\n", book, there,
                 text_of(answer->value, "last_hash"));
    }
  }
  if (connection.json) {
    fmt::print("{}\n", answered);
  }
  return exit_ok;
}

}  // namespace hk::cli
