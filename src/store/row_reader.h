/// How verify() reads: every row of a table, records by key, and a note of whatever is wrong with
/// them. Used by its rules only, on the thread that verifies.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"
#include "store/verify.h"

namespace hk::store {

class RowReader {
 protected:
  explicit RowReader(Reader& reader) : reader_(reader) {}

  void problem(std::string sentence) {
    if (++report_.problem_count <= problems_listed_max) {
      report_.problems.push_back(std::move(sentence));
    }
  }
  /// The sentence is a function: most things hold, and nobody reads what was not said.
  template <class Sentence>
  void check(bool holds, Sentence sentence) {
    if (!holds) {
      problem(sentence());
    }
  }

  /// Damage becomes a problem; any other reason ends the whole check.
  void failed_read(Table table, const Error& error) {
    if (error.kind != ErrorKind::corruption) {
      error_ = error;
      return;
    }
    problem("Table " + std::string(table_name(table)) + " cannot be read: " + error.message + ".");
  }

  template <class Each>
  void scan(Table table, Each each) {
    std::string from;
    while (!error_) {
      auto entries = reader_.scan(table, from, "", rows_per_read);
      if (!entries) {
        failed_read(table, entries.error());
        return;
      }
      for (const Entry& entry : *entries) {
        ++report_.rows[static_cast<std::size_t>(table)];
        each(entry);
      }
      if (entries->size() < rows_per_read) {
        return;
      }
      from = after_key(entries->back().key);
    }
  }

  /// The decoded record, or nullopt and a problem.
  template <class T>
  std::optional<T> decoded(Table table, const std::string& key, Result<T> record) {
    if (!record) {
      problem(describe_key(table, key) + " does not decode: " + record.error().message + ".");
      return std::nullopt;
    }
    return std::move(*record);
  }
  template <class T>
  std::optional<T> parsed(Table table, const std::string& key, std::optional<T> parts) {
    if (!parts) {
      problem(describe_key(table, key) + " is not a key of that table.");
    }
    return parts;
  }
  template <class T, class Decode>
  std::optional<T> find(Table table, const std::string& key, Decode decode) {
    auto value = reader_.get(table, key);
    if (!value) {
      failed_read(table, value.error());
      return std::nullopt;
    }
    if (!*value) {
      return std::nullopt;
    }
    auto record = decode(**value);
    return record ? std::optional<T>(std::move(*record)) : std::nullopt;  // its own scan reports it
  }
  std::optional<core::Message> find_message(core::Seq seq) {
    return find<core::Message>(Table::message, seq_key(seq), [seq](std::string_view value) {
      return decode_message(seq, value);
    });
  }
  std::optional<core::MessageState> find_state(core::Seq seq) {
    return find<core::MessageState>(Table::state, seq_key(seq), decode_state);
  }
  bool exists(Table table, const std::string& key) {
    auto value = reader_.get(table, key);
    if (!value) {
      failed_read(table, value.error());
    }
    return value && *value;
  }

  Reader& reader_;
  VerifyReport report_;
  std::optional<Error> error_;

 private:
  static constexpr std::size_t rows_per_read = 512;
};

}  // namespace hk::store
