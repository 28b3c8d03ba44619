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

  /// The key of a row, or nullopt and a problem.
  template <class R>
  std::optional<core::KeyOf<R>> key_of_row(const Entry& entry) {
    auto key = decode_key<R>(entry.key);
    if (!key) {
      problem(describe_key(table_of<R>, entry.key) + " is not a key of that table.");
    }
    return key;
  }
  /// The record of a row, or nullopt and a problem.
  template <class R>
  std::optional<R> record_of_row(const core::KeyOf<R>& key, const Entry& entry) {
    auto record = Codec<R>::decode(key, entry.value);
    if (!record) {
      problem(describe_key(table_of<R>, entry.key) + " does not decode: " + record.error().message +
              ".");
      return std::nullopt;
    }
    return std::move(*record);
  }
  template <class R>
  std::optional<R> find(const core::KeyOf<R>& key) {
    auto value = reader_.get(table_of<R>, encode_key<R>(key));
    if (!value) {
      failed_read(table_of<R>, value.error());
      return std::nullopt;
    }
    if (!*value) {
      return std::nullopt;
    }
    auto record = Codec<R>::decode(key, **value);
    return record ? std::optional<R>(std::move(*record)) : std::nullopt;  // its own scan reports it
  }
  template <class R>
  bool exists(const core::KeyOf<R>& key) {
    auto value = reader_.get(table_of<R>, encode_key<R>(key));
    if (!value) {
      failed_read(table_of<R>, value.error());
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
