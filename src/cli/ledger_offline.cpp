// hikyaku ledger verify and export without a server: on a data directory, on an exported file.
#include <fmt/core.h>

#include <fstream>

#include "api/ledger/audit.h"
#include "api/ledger/export_page.h"
#include "api/ledger/integrity.h"
#include "api/text.h"
#include "cli/exit_code.h"
#include "cli/ledger.h"
#include "cli/process.h"
#include "cli/read_stored.h"
#include "core/tenant/record.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::cli {

namespace {

using api::ledger::AuditReport;
using core::ledger::Book;

/// A book, and the name of its tenant.
struct FoundBook {
  std::string tenant{};
  Book book{};
};

/// Those that the flags name: `all` of them if they name none.
std::vector<FoundBook> books_of(core::Reader& reader, const LedgerArguments& arguments,
                                bool one_book) {
  std::vector<FoundBook> books;
  for (const core::Tenant& tenant : reader.scan<core::Tenant>()) {
    if (!arguments.tenant.empty() && tenant.name != arguments.tenant) {
      continue;
    }
    for (Book& book : reader.scan(core::Range<Book>::of(tenant.id))) {
      if (!one_book || book.id == arguments.book) {
        books.push_back({tenant.name, std::move(book)});
      }
    }
  }
  return books;
}

void print_audit(const std::string& name, const AuditReport& report, bool json) {
  if (json) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object();
    writer.field("book", name);
    api::ledger::write_audit_members(writer, report);
    writer.end_object();
    fmt::print("{}\n", text);
    return;
  }
  for (const auto& fault : report.faults) {
    fmt::print("record {}: {}\n", fault.seq, fault.what);
  }
  fmt::print("{}: {} records, {}\n", name, report.records,
             report.ok() ? "no fault" : fmt::format("{} faults", report.fault_count));
}

/// Opens the directory, calls `work` with a reader of it, and closes it again.
template <class Work>
int with_directory(const std::string& data, Work work) {
  harden_process();
  store::RocksDbOptions options;
  options.path = data;
  options.create = false;
  auto store = store::open_rocksdb(options);
  if (!store) {
    return report_disk_error(store.error());
  }
  const Result<int> code = read_stored(**store, work);
  if (auto closed = (*store)->close(); !closed) {
    return report_disk_error(closed.error());
  }
  return code ? *code : report_disk_error(code.error());
}

}  // namespace

int verify_ledger_directory(const LedgerArguments& arguments, bool json) {
  return with_directory(arguments.data, [&](core::Reader& reader) {
    const auto books = books_of(reader, arguments, !arguments.tenant.empty());
    if (books.empty()) {
      fmt::print("{}: no books\n", arguments.data);
    }
    int code = exit_ok;
    for (const FoundBook& found : books) {
      const AuditReport report = api::ledger::audit_book(reader, found.book, 1, 0);
      print_audit(found.tenant + "/" + found.book.id, report, json);
      code = report.ok() ? code : exit_corruption;
    }
    return code;
  });
}

int export_ledger_directory(const LedgerArguments& arguments) {
  using Query = api::ledger::ExportQuery;
  Query query{.kind = arguments.kind == "entries" ? Query::Kind::entries : Query::Kind::records,
              .format = arguments.format == "csv" ? Query::Format::csv : Query::Format::jsonl,
              .from_seq = api::parse_unsigned(arguments.from_seq).value_or(1),
              .to_seq = api::parse_unsigned(arguments.to_seq).value_or(0),
              .values = arguments.values};
  return with_directory(arguments.data, [&](core::Reader& reader) -> int {
    const auto books = books_of(reader, arguments, true);
    if (books.size() != 1) {
      tell(
          fmt::format("hikyaku: {} has {} books {}: name the tenant with --tenant, the book with "
                      "--book",
                      arguments.data, books.empty() ? "no" : "several", arguments.book));
      return exit_usage;
    }
    ExportFile file(arguments.out);
    for (bool more = true; more;) {
      const auto page = api::ledger::export_page(reader, books.front().book, query);
      more = file.write(page.text, query.format == Query::Format::csv) && page.next_seq != 0;
      query.from_seq = page.next_seq;
    }
    return file.close() ? exit_ok : exit_failed;
  });
}

int verify_ledger_file(const LedgerArguments& arguments, bool json) {
  std::ifstream file(arguments.file, std::ios::binary);
  if (!file) {
    tell("hikyaku: cannot read " + arguments.file);
    return exit_usage;
  }
  std::optional<api::ledger::Audit> audit;
  std::string book = arguments.book;
  std::uint64_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    ++lines;
    const auto read = api::ledger::read_exported(line);
    if (!read) {
      tell(fmt::format("hikyaku: line {} of {}: {}", lines, arguments.file, read.error().message));
      return exit_corruption;
    }
    if (!audit) {
      const auto payload = core::ledger::decode(read->record.kind, read->record.payload);
      const auto* const created =
          payload ? std::get_if<core::ledger::BookCreated>(&*payload) : nullptr;
      book = created != nullptr ? created->id : book;
      audit.emplace(book, read->record.seq,
                    read->record.seq == 1 ? core::ledger::Hash{} : read->prev_hash, "");
    }
    audit->take(read->record, &read->prev_hash);
  }
  if (!audit) {
    tell("hikyaku: " + arguments.file + " has no records");
    return exit_usage;
  }
  const AuditReport report = audit->report();
  print_audit(book, report, json);
  return report.ok() ? exit_ok : exit_corruption;
}

}  // namespace hk::cli
