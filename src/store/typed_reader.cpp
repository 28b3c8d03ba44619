#include "store/typed_reader.h"

#include <algorithm>

#include "base/assert.h"
#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"

namespace hk::store {
namespace {

/// Rows fetched at once when all of a range are asked for.
constexpr std::size_t piece = 256;

[[noreturn]] void corrupt(Table table, std::string_view key, std::string_view why) {
  throw core::CorruptRecord(describe_key(table, key) + ": " + std::string(why));
}

/// What a snapshot has read.
template <class T>
T given(Result<T> read, Table table, std::string_view key) {
  if (!read && read.error().kind != ErrorKind::corruption) {
    throw UnreadableRecord(describe_key(table, key) + ": " + read.error().message);
  }
  if (!read) {
    corrupt(table, key, read.error().message);
  }
  return std::move(*read);
}

template <class R>
R decoded(core::KeyOf<R> key, const std::string& key_bytes, std::string_view value) {
  auto record = Codec<R>::decode(std::move(key), value);
  if (!record) {
    corrupt(table_of<R>, key_bytes, record.error().message);
  }
  return std::move(*record);
}

template <class R>
core::Row<R> row_of(const Entry& entry) {
  auto key = decode_key<R>(entry.key);
  if (!key) {
    corrupt(table_of<R>, entry.key, "stored key cannot be read");
  }
  if constexpr (std::is_same_v<core::Row<R>, core::Keyed<R>>) {
    auto record = decoded<R>(*key, entry.key, entry.value);
    return {std::move(*key), std::move(record)};
  } else if constexpr (std::is_same_v<core::Row<R>, R>) {
    return decoded<R>(std::move(*key), entry.key, entry.value);
  } else {
    return std::make_shared<const R>(decoded<R>(std::move(*key), entry.key, entry.value));
  }
}

}  // namespace

std::optional<std::string> TypedReader::value(Table table, std::string_view key) {
  return given(snapshot().get(table, key), table, key);
}

std::vector<std::optional<std::string>> TypedReader::values(Table table,
                                                            const std::vector<std::string>& keys) {
  return given(snapshot().get_many(table, keys), table, keys.empty() ? "" : keys.front());
}

std::vector<Entry> TypedReader::entries(Table table, const KeyRange& range, std::size_t limit,
                                        bool reverse) {
  return given(snapshot().scan(table, range.from, range.to, limit, reverse), table, range.from);
}

/// One table of the store.
template <class R>
class TypedReader::Stored : public core::TableView<R> {
 public:
  explicit Stored(TypedReader& reader) : reader_(reader) { reader.read_from<R>(*this); }

  core::Maybe<R> get(const core::KeyOf<R>& key) override {
    const std::string bytes = encode_key<R>(key);
    return maybe(key, bytes, reader_.value(table_of<R>, bytes));
  }

  std::vector<core::Maybe<R>> get_many(const std::vector<core::KeyOf<R>>& keys) override {
    std::vector<std::string> bytes;
    bytes.reserve(keys.size());
    for (const core::KeyOf<R>& key : keys) {
      bytes.push_back(encode_key<R>(key));
    }
    const auto values = reader_.values(table_of<R>, bytes);
    std::vector<core::Maybe<R>> rows;
    rows.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      rows.push_back(maybe(keys[i], bytes[i], values[i]));
    }
    return rows;
  }

  std::vector<core::Row<R>> scan(const core::Range<R>& range, std::size_t limit,
                                 core::Order order) override {
    std::vector<core::Row<R>> rows;
    KeyRange keys = encode_range(range);
    const bool reverse = order == core::Order::descending;
    const std::size_t step = limit == core::all_rows ? piece : limit;
    while (!keys.empty && rows.size() < limit) {
      const auto entries = reader_.entries(table_of<R>, keys, step, reverse);
      for (const Entry& entry : entries) {
        rows.push_back(row_of<R>(entry));
      }
      if (entries.size() < step) {
        break;
      }
      (reverse ? keys.to : keys.from) =
          reverse ? entries.back().key : after_key(entries.back().key);
    }
    return rows;
  }

 private:
  static core::Maybe<R> maybe(const core::KeyOf<R>& key, const std::string& bytes,
                              const std::optional<std::string>& value) {
    if (!value) {
      return {};
    }
    if constexpr (std::is_same_v<core::Maybe<R>, std::optional<R>>) {
      return decoded<R>(key, bytes, *value);
    } else {
      return std::make_shared<const R>(decoded<R>(key, bytes, *value));
    }
  }

  TypedReader& reader_;
};

struct TypedReader::Tables {
  template <class... Each>
  struct All : Each... {
    explicit All(TypedReader& reader) : Each(reader)... {}
  };
  core::AllRecords<All, Stored> all;
};

TypedReader::TypedReader() : tables_(new Tables{core::AllRecords<Tables::All, Stored>(*this)}) {}

TypedReader::TypedReader(std::shared_ptr<store::Reader> snapshot) : TypedReader() {
  HK_ASSERT(snapshot != nullptr);
  snapshot_ = std::move(snapshot);
}

TypedReader::~TypedReader() = default;

}  // namespace hk::store
