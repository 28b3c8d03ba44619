/// The core's reader over any store's snapshot: keys and bytes become records. Made by the engine
/// for the core and for edge threads (the durable view). As safe for concurrent use as the snapshot
/// below it. A record that cannot be read or decoded is thrown as core::CorruptRecord, with table
/// and key in the text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.h"
#include "store/store.h"

namespace hk::store {

struct KeyRange;

/// A record that the disk did not give out: whether it is what was written, nobody knows.
struct UnreadableRecord : core::CorruptRecord {
  using CorruptRecord::CorruptRecord;
};

class TypedReader : public core::Reader {
 public:
  /// Shared: the engine may keep the snapshot for other readers. REQUIRES: snapshot is not null.
  explicit TypedReader(std::shared_ptr<store::Reader> snapshot);
  ~TypedReader() override;

 protected:
  /// For a reader that decides itself what it shows.
  TypedReader();
  /// What is read from. Asked for at each read.
  virtual store::Reader& snapshot() { return *snapshot_; }

 private:
  template <class R>
  class Stored;
  struct Tables;

  std::optional<std::string> value(Table table, std::string_view key);
  std::vector<std::optional<std::string>> values(Table table, const std::vector<std::string>& keys);
  std::vector<Entry> entries(Table table, const KeyRange& range, std::size_t limit, bool reverse);

  std::shared_ptr<store::Reader> snapshot_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace hk::store
