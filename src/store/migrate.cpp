#include "store/migrate.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/codec.h"
#include "store/old_topic.h"
#include "store/typed_reader.h"

namespace hk::store {
namespace {

constexpr std::uint32_t format_now = core::Meta{}.format;

template <class Number>
bool read_whole(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end;
}

std::map<std::string, std::string> fields_of(const core::Document& document) {
  std::map<std::string, std::string> fields;
  for (const core::Header& field : document.fields) {
    fields[field.name] = field.value;
  }
  return fields;
}

/// "source/number" has the number in 20 digits, "queue/second" the second in 12.
struct NumberedName {
  std::string name{};
  std::uint64_t number = 0;
};
std::optional<NumberedName> read_name(const std::string& text, std::size_t digits) {
  NumberedName read;
  if (text.size() <= digits || text[text.size() - digits - 1] != '/' ||
      !read_whole(std::string_view(text).substr(text.size() - digits), read.number)) {
    return std::nullopt;
  }
  read.name = text.substr(0, text.size() - digits - 1);
  return read;
}

std::optional<core::Task> move_task(const core::Document& document) {
  constexpr std::size_t digits = 20;
  auto fields = fields_of(document);
  const auto name = read_name(document.name, digits);
  core::Task task{.tenant = document.tenant,
                  .work = core::MoveMessages{fields["source"], fields["destination"]},
                  .reason = fields["reason"]};
  int status = 0;
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;
  std::uint64_t up_to = 0;
  const bool whole =
      name && read_whole(fields["number"], task.number) && read_whole(fields["rate"], task.rate) &&
      read_whole(fields["status"], status) && read_whole(fields["moved"], task.processed) &&
      read_whole(fields["to_move"], task.total) && read_whole(fields["started_at"], started_at) &&
      read_whole(fields["ended_at"], ended_at) && read_whole(fields["up_to"], up_to);
  if (!whole || status < static_cast<int>(core::Task::Status::running) ||
      status > static_cast<int>(core::Task::Status::failed) || name->name != fields["source"] ||
      name->number != task.number) {
    return std::nullopt;
  }
  task.status = static_cast<core::Task::Status>(status);
  task.started_at = moment_from_ms(started_at);
  task.ended_at = moment_from_ms(ended_at);
  task.up_to = core::Seq{up_to};
  return task;
}

/// "17:3 900:1" are three messages at 17 ms of the second, and one at 900.
std::optional<core::DelayedSecond> delayed_second(const core::Document& document) {
  constexpr std::size_t digits = 12;
  constexpr std::uint32_t per_second = 1000;
  const auto name = read_name(document.name, digits);
  if (!name || document.fields.size() != 1) {
    return std::nullopt;
  }
  core::DelayedSecond delayed{
      .tenant = document.tenant,
      .second = Moment{std::chrono::seconds{static_cast<std::int64_t>(name->number)}},
      .queue = name->name};
  std::string_view rest = document.fields.front().value;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t colon = std::min(one.find(':'), one.size());
    core::DelayedSecond::Slot slot;
    if (colon == one.size() || !read_whole(one.substr(0, colon), slot.ms) ||
        !read_whole(one.substr(colon + 1), slot.count) || slot.ms >= per_second ||
        slot.count == 0) {
      return std::nullopt;
    }
    delayed.slots.push_back(slot);
  }
  return delayed.second > never || delayed.slots.empty() ? std::nullopt : std::optional(delayed);
}

class Migration {
 public:
  explicit Migration(core::Reader& reader) : reader_(reader) {}

  /// Throws what the reader throws, and CorruptRecord of its own.
  std::vector<Write> run(core::Meta meta) {
    for (const core::Tenant& tenant : reader_.scan<core::Tenant>()) {
      for (const core::Document& one : documents(tenant.id, "move_task")) {
        put(whole(move_task(one), one));
        erase(one);
      }
      for (const core::Document& one : documents(tenant.id, "delayed")) {
        put(whole(delayed_second(one), one));
        erase(one);
      }
      for (const core::Document& one : documents(tenant.id, "sns_topic")) {
        put(old_topic(one));
        erase(one);
      }
      for (const core::Document& one : documents(tenant.id, "retime")) {
        retime(one);
        erase(one);
      }
    }
    meta.format = format_now;
    put(meta);
    return std::move(writes_);
  }

 private:
  std::vector<core::Document> documents(core::TenantId tenant, const char* kind) {
    return reader_.scan(core::Range<core::Document>::of(tenant, kind));
  }
  template <class R>
  static R whole(std::optional<R> record, const core::Document& document) {
    if (!record) {
      throw core::CorruptRecord(document.kind + " " + document.name);
    }
    return std::move(*record);
  }
  /// The queue says itself now that its messages must be told of a change.
  void retime(const core::Document& document) {
    auto fields = fields_of(document);
    std::uint64_t up_to = 0;
    if (!read_whole(fields["up_to"], up_to)) {
      throw core::CorruptRecord(document.kind + " " + document.name);
    }
    if (auto queue = reader_.get<core::Queue>({document.tenant, document.name})) {
      queue->retime_up_to = core::Seq{up_to};
      put(std::move(*queue));
    }
  }
  template <class R>
  void put(R record) {
    encode(core::Put<R>{std::move(record)}, writes_);
  }
  void erase(const core::Document& one) {
    encode(core::Erase<core::Document>{one.tenant, one.kind, one.name}, writes_);
  }

  core::Reader& reader_;
  std::vector<Write> writes_;
};

}  // namespace

Result<void> migrate(Store& store) {
  TypedReader reader(store.snapshot());
  std::optional<core::Meta> meta;
  try {
    meta = reader.get<core::Meta>({});
  } catch (const core::CorruptRecord&) {
    return {};  // whoever reads it next says so
  }
  if (!meta || meta->format >= format_now) {
    return {};
  }
  std::vector<Write> writes;
  try {
    writes = Migration(reader).run(*meta);
  } catch (const UnreadableRecord& unread) {
    return fail(ErrorKind::internal, unread.what());
  } catch (const core::CorruptRecord& broken) {
    return fail(ErrorKind::corruption, broken.what());
  }
  if (auto written = store.write(writes); !written) {
    return std::unexpected(written.error());
  }
  return {};
}

}  // namespace hk::store
