/// The log of a book as text, page by page: what GET …/export answers and `hikyaku ledger export`
/// writes. Pure functions over any reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/ledger/read.h"

namespace hk::api::ledger {

struct ExportQuery {
  enum class Kind : std::uint8_t { records, entries };
  enum class Format : std::uint8_t { jsonl, csv };

  Kind kind = Kind::records;
  Format format = Format::jsonl;
  std::uint64_t from_seq = 1;
  std::uint64_t to_seq = 0;  ///< 0: to the last
  /// Of entries: from <= effective_at < to.
  core::ledger::Instant effective_from = core::ledger::long_ago;
  core::ledger::Instant effective_to = core::ledger::no_end;
  /// Of records as JSON: with the values of metadata, which are not in the chain.
  bool values = false;

  // Whichever is reached first ends the page; it has one record at least.
  std::size_t bytes_max = std::size_t{4} << 20U;
  std::size_t records_max = 10'000;
};

struct ExportPage {
  std::string text{};          ///< lines; of CSV the first has the names of the columns
  std::uint64_t next_seq = 0;  ///< with which the next page begins; 0: that was the last
};

ExportPage export_page(core::Reader& reader, const core::ledger::Book& book,
                       const ExportQuery& query);

/// A record as it was exported (JSON).
struct ExportedRecord {
  core::ledger::Record record{};
  core::ledger::Hash prev_hash{};
  std::vector<core::ledger::MetadataValue> values{};  ///< none: they were not exported
};
/// One line of it. corruption: it is none, or what it says in words is not what its bytes say.
Result<ExportedRecord> read_exported(std::string_view line);

}  // namespace hk::api::ledger
