#include "api/ledger/export_page.h"

#include <algorithm>

#include "api/text.h"
#include "base/date.h"
#include "base/encoding.h"
#include "base/exact_json.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Book;
using core::ledger::Hash;
using core::ledger::Metadata;
using core::ledger::MetadataValue;
using core::ledger::Record;
using core::ledger::TransactionMade;

constexpr std::string_view record_columns =
    "seq,kind,recorded_at,prev_hash,hash,payload_base64,payload\n";
constexpr std::string_view entry_columns =
    "seq,transaction,index,kind,effective_at,recorded_at,account,side,amount,currency,reference,"
    "description,hash\n";

/// A cell as in RFC 4180.
void append_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    out += c;
    if (c == '"') {
      out += '"';
    }
  }
  out += '"';
}

void append_row(std::string& out, std::initializer_list<std::string_view> cells) {
  bool first = true;
  for (const std::string_view cell : cells) {
    if (!first) {
      out += ',';
    }
    first = false;
    append_cell(out, cell);
  }
  out += '\n';
}

/// What a record has set and nobody has erased since.
std::vector<MetadataValue> values_of(core::Reader& reader, const Book& book, const Record& record) {
  const auto payload = core::ledger::decode(record.kind, record.payload);
  if (!payload) {
    throw core::CorruptRecord(payload.error().message);
  }
  const auto place = [&]() -> std::optional<std::pair<Metadata::Of, std::uint64_t>> {
    if (std::holds_alternative<core::ledger::BookCreated>(*payload) ||
        std::holds_alternative<core::ledger::BookChanged>(*payload)) {
      return std::pair{Metadata::Of::book, std::uint64_t{0}};
    }
    if (std::holds_alternative<TransactionMade>(*payload)) {
      return std::pair{Metadata::Of::transaction, record.seq};
    }
    if (const auto* const set = std::get_if<core::ledger::MetadataSet>(&*payload)) {
      const auto of =
          core::ledger::find_transaction(reader, book.tenant, book.number, set->transaction);
      return of ? std::optional(std::pair{Metadata::Of::transaction, of->seq}) : std::nullopt;
    }
    const std::string* account = nullptr;
    if (const auto* const made = std::get_if<core::ledger::AccountCreated>(&*payload)) {
      account = &made->id;
    } else if (const auto* const changed = std::get_if<core::ledger::AccountChanged>(&*payload)) {
      account = &changed->id;
    }
    const auto of = account == nullptr
                        ? std::nullopt
                        : core::ledger::find_account(reader, book.tenant, book.number, *account);
    return of ? std::optional(std::pair{Metadata::Of::account, of->number}) : std::nullopt;
  }();
  if (!place) {
    return {};
  }
  auto row =
      reader.get<Metadata>({book.tenant, book.number, static_cast<std::uint32_t>(place->first),
                            place->second, record.seq});
  if (!row) {
    return {};
  }
  std::erase_if(row->values, [](const MetadataValue& one) { return one.removed || one.erased; });
  return std::move(row->values);
}

void write_values(JsonWriter& json, const std::vector<MetadataValue>& values) {
  if (values.empty()) {
    return;
  }
  json.key("metadata");
  json.begin_array();
  for (const MetadataValue& one : values) {
    json.begin_object();
    json.field("entry", one.entry);
    json.field("key", one.key);
    json.field("value", one.value);
    json.field("salt", base64(one.salt));
    json.end_object();
  }
  json.end_array();
}

void append_record(std::string& out, const Record& record, const Hash& prev_hash,
                   ExportQuery::Format format, const std::vector<MetadataValue>& values) {
  if (format == ExportQuery::Format::jsonl) {
    JsonWriter json(out);
    json.begin_object();
    core::ledger::write_record_members(json, record, prev_hash);
    write_values(json, values);
    json.end_object();
    out += '\n';
    return;
  }
  std::string words;
  if (const auto payload = core::ledger::decode(record.kind, record.payload)) {
    JsonWriter json(words);
    core::ledger::write_payload(json, *payload);
  }
  append_row(out,
             {std::to_string(record.seq), record.kind, core::ledger::to_text(record.recorded_at),
              hex(prev_hash), hex(record.hash), base64(record.payload), words});
}

void append_entries(std::string& out, const Record& record, const TransactionMade& made,
                    ExportQuery::Format format) {
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const core::ledger::Entry& entry = made.entries[i];
    if (format == ExportQuery::Format::csv) {
      append_row(out, {std::to_string(record.seq), made.id, std::to_string(i),
                       core::ledger::name_of(made.kind), core::ledger::to_text(made.effective_at),
                       core::ledger::to_text(made.recorded_at), entry.account,
                       core::ledger::name_of(entry.side), core::ledger::to_text(entry.amount),
                       entry.currency, made.reference.value_or(""), made.description.value_or(""),
                       hex(record.hash)});
      continue;
    }
    JsonWriter json(out);
    json.begin_object();
    json.field("seq", record.seq);
    json.field("transaction", made.id);
    json.field("index", i);
    json.field("kind", core::ledger::name_of(made.kind));
    core::ledger::write_time(json, "effective_at", made.effective_at);
    core::ledger::write_time(json, "recorded_at", made.recorded_at);
    json.field("account", entry.account);
    json.field("side", core::ledger::name_of(entry.side));
    core::ledger::write_amount(json, "amount", entry.amount);
    json.field("currency", entry.currency);
    core::ledger::write_text(json, "reference", made.reference);
    core::ledger::write_text(json, "description", made.description);
    json.field("hash", hex(record.hash));
    json.end_object();
    out += '\n';
  }
}

void append_exported(std::string& out, core::Reader& reader, const Book& book, const Record& record,
                     const Hash& prev_hash, const ExportQuery& query) {
  if (query.kind == ExportQuery::Kind::records) {
    append_record(out, record, prev_hash, query.format,
                  query.values ? values_of(reader, book, record) : std::vector<MetadataValue>{});
    return;
  }
  const auto payload = core::ledger::decode(record.kind, record.payload);
  if (!payload) {
    throw core::CorruptRecord(payload.error().message);
  }
  const auto* const made = std::get_if<TransactionMade>(&*payload);
  if (made != nullptr && made->effective_at >= query.effective_from &&
      made->effective_at < query.effective_to) {
    append_entries(out, record, *made, query.format);
  }
}

std::unexpected<Error> broken_line(std::string what) {
  return fail(ErrorKind::corruption, std::move(what));
}

std::string_view text_in(const ExactJson& object, std::string_view name) {
  const ExactJson* const member = object.member(name);
  return member != nullptr && member->kind == ExactJson::Kind::string
             ? std::string_view(member->text)
             : std::string_view{};
}

bool read_hash(std::string_view text, Hash& into) {
  const auto bytes = unhex(text);
  if (!bytes || bytes->size() != into.size()) {
    return false;
  }
  std::ranges::copy(*bytes, into.begin());
  return true;
}

/// The member `metadata` of a line, which is beside the record: it is taken out.
bool take_values(ExactJson& line, std::vector<MetadataValue>& into) {
  const auto at =
      std::ranges::find(line.members, "metadata", [](const auto& member) { return member.first; });
  if (at == line.members.end()) {
    return true;
  }
  const ExactJson list = std::move(at->second);
  line.members.erase(at);
  if (list.kind != ExactJson::Kind::array) {
    return false;
  }
  for (const ExactJson& one : list.items) {
    if (one.kind != ExactJson::Kind::object || one.members.size() != 4) {
      return false;
    }
    const ExactJson* const entry = one.member("entry");
    const ExactJson* const value = one.member("value");
    const auto number = entry != nullptr && entry->kind == ExactJson::Kind::number
                            ? parse_unsigned(entry->text)
                            : std::nullopt;
    const auto salt = unbase64(text_in(one, "salt"));
    if (!number || *number > UINT32_MAX || !salt || value == nullptr ||
        value->kind != ExactJson::Kind::string) {
      return false;
    }
    into.push_back({.entry = static_cast<std::uint32_t>(*number),
                    .key = std::string(text_in(one, "key")),
                    .value = value->text,
                    .salt = *salt});
  }
  return true;
}

}  // namespace

ExportPage export_page(core::Reader& reader, const Book& book, const ExportQuery& query) {
  constexpr std::size_t records_in_piece = 256;
  ExportPage page;
  if (query.format == ExportQuery::Format::csv) {
    page.text = query.kind == ExportQuery::Kind::records ? record_columns : entry_columns;
  }
  const std::uint64_t head = core::ledger::head_of(reader, book.tenant, book.number).seq;
  const std::uint64_t last = query.to_seq == 0 ? head : std::min(head, query.to_seq);
  if (query.from_seq > last) {
    return page;
  }
  Hash prev{};
  if (const auto first =
          core::ledger::find_record(reader, book.tenant, book.number, query.from_seq)) {
    prev = first->prev_hash;
  }
  std::size_t taken = 0;
  for (std::uint64_t after = query.from_seq - 1; after < last;) {
    const auto records = core::ledger::records_after(
        reader, book.tenant, book.number, after,
        static_cast<std::size_t>(std::min<std::uint64_t>(records_in_piece, last - after)));
    if (records.empty()) {
      throw core::CorruptRecord("the record " + std::to_string(after + 1) + " of the ledger " +
                                book.id + " is missing");
    }
    for (const Record& record : records) {
      if (taken == query.records_max || (taken > 0 && page.text.size() >= query.bytes_max)) {
        page.next_seq = record.seq;
        return page;
      }
      append_exported(page.text, reader, book, record, prev, query);
      prev = record.hash;
      ++taken;
    }
    after = records.back().seq;
  }
  return page;
}

Result<ExportedRecord> read_exported(std::string_view line) {
  constexpr std::size_t depth = 16;
  auto object = ExactJson::parse(line, depth);
  if (!object || object->kind != ExactJson::Kind::object) {
    return broken_line("it is no JSON object");
  }
  ExportedRecord out;
  const ExactJson* const seq = object->member("seq");
  const auto number = seq != nullptr && seq->kind == ExactJson::Kind::number
                          ? parse_unsigned(seq->text)
                          : std::nullopt;
  const auto payload = unbase64(text_in(*object, "payload_base64"));
  const auto recorded_at = parse_rfc3339(text_in(*object, "recorded_at"));
  if (!number || !payload || !recorded_at ||
      !read_hash(text_in(*object, "hash"), out.record.hash) ||
      !read_hash(text_in(*object, "prev_hash"), out.prev_hash)) {
    return broken_line("it is no record: seq, recorded_at, prev_hash, hash or payload_base64");
  }
  if (!take_values(*object, out.values)) {
    return broken_line("metadata must be a list of entry, key, value and salt");
  }
  out.record.seq = *number;
  out.record.kind = text_in(*object, "kind");
  out.record.payload = *payload;
  out.record.recorded_at = *recorded_at;
  // People read `payload`; the chain covers payload_base64. They must say the same.
  std::string written;
  JsonWriter json(written);
  json.begin_object();
  core::ledger::write_record_members(json, out.record, out.prev_hash);
  json.end_object();
  const auto again = ExactJson::parse(written, depth);
  if (!again || again->canonical() != object->canonical()) {
    return broken_line("payload is not what payload_base64 says");
  }
  return out;
}

}  // namespace hk::api::ledger
