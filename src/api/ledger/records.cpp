// The log of a book: its records, with a wait for new ones, and its checkpoints.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "api/ledger/handlers.h"
#include "api/ledger/reading.h"
#include "base/encoding.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis wait_max{30'000};
/// How often a waiting client's book is looked at: one look-up of the log's end.
constexpr std::chrono::milliseconds look_again{100};

http::Response show_records(const BookReading& reading, std::uint64_t after, std::size_t limit) {
  const auto records =
      core::ledger::records_after(reading.reader, reading.tenant, reading.number(), after, limit);
  core::ledger::Hash prev{};
  if (!records.empty() && records.front().seq > 1) {
    const auto before = core::ledger::find_record(reading.reader, reading.tenant, reading.number(),
                                                  records.front().seq - 1);
    prev = before ? before->record.hash : prev;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("records");
  json.begin_array();
  for (const core::ledger::Record& one : records) {
    json.begin_object();
    core::ledger::write_record_members(json, one, prev);
    json.end_object();
    prev = one.hash;
  }
  json.end_array();
  json.field("last_seq",
             core::ledger::head_of(reading.reader, reading.tenant, reading.number()).seq);
  json.end_object();
  return response;
}

/// A client that waits for a record behind `after`. Held by the I/O thread until its next look.
struct Wait {
  const Services& services;
  http::IoThread& io;
  core::TenantId tenant{};
  std::string book{};
  std::uint64_t after = 0;
  std::size_t limit = 0;
  Steady::time_point until{};
  Answer answer;
};

void look(const std::shared_ptr<Wait>& wait) {
  answering(wait->answer, [&] {
    const auto reader = wait->services.submitter.durable_view(wait->tenant);
    auto book = core::ledger::find_book(*reader, wait->tenant, wait->book);
    const std::uint64_t last =
        book ? core::ledger::head_of(*reader, wait->tenant, book->number).seq : 0;
    const auto& ready = wait->services.options.ready;
    const bool over = Steady::now() >= wait->until || (ready && !ready());
    if (last <= wait->after && !over) {
      wait->io.after(look_again, [wait] { look(wait); });
      return;
    }
    if (!book) {
      wait->answer({.body = R"({"records":[],"last_seq":0})"});
      return;
    }
    const BookReading reading{
        *reader, wait->tenant, std::make_shared<const core::ledger::Book>(std::move(*book)), {}};
    wait->answer(show_records(reading, wait->after, wait->limit));
  });
}

/// Newest first. One checkpoint says where the one before it is, so nothing between is read.
http::Response show_checkpoints(const BookReading& reading, std::size_t limit,
                                const std::optional<std::string>& cursor) {
  std::uint64_t before =
      core::ledger::head_of(reading.reader, reading.tenant, reading.number()).seq + 1;
  if (cursor) {
    const auto place = read_cursor(Listing::ledger_checkpoints, reading, *cursor);
    if (!place) {
      return reading.invalid_parameter("cursor",
                                       "must be the cursor of an answer to the same list");
    }
    before = place->place;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("checkpoints");
  json.begin_array();
  std::size_t shown = 0;
  while (before > 1 && shown < limit) {
    const auto at =
        core::ledger::find_record(reading.reader, reading.tenant, reading.number(), before - 1);
    if (!at || at->record.kind != "checkpoint") {
      --before;  // behind the last one: at most as many records as a checkpoint has
      continue;
    }
    const auto payload = core::ledger::decode(at->record.kind, at->record.payload);
    if (!payload) {
      throw core::CorruptRecord(payload.error().message);
    }
    const auto& one = std::get<core::ledger::Checkpoint>(*payload);
    json.begin_object();
    core::ledger::write_checkpoint_members(json, at->record.seq, one);
    json.end_object();
    ++shown;
    before = one.first_seq;
  }
  json.end_array();
  if (before > 1) {
    json.field("cursor", cursor_text(Listing::ledger_checkpoints, reading, before));
  }
  json.end_object();
  return response;
}

}  // namespace

void list_records(const Services& services, Call& call) {
  Query query(call.request.query(), {"after_seq", "limit", "wait"});
  const std::uint64_t after = query.number("after_seq").value_or(0);
  const std::size_t limit = query.limit();
  const Millis wait = query.duration("wait", wait_max).value_or(Millis{0});
  const core::TenantId tenant = call.tenant->id;
  const bool main = call.param == "main";
  if (query.wrong() || wait == Millis{0} ||
      (!main &&
       !core::ledger::find_book(*services.submitter.durable_view(tenant), tenant, call.param))) {
    show(services, call, query.wrong(), [after, limit](const BookReading& reading) {
      return show_records(reading, after, limit);
    });
    return;
  }
  auto waiting = std::make_shared<Wait>(Wait{.services = services,
                                             .io = call.batcher.io(),
                                             .tenant = tenant,
                                             .book = call.param,
                                             .after = after,
                                             .limit = limit,
                                             .until = Steady::now() + wait,
                                             .answer = std::move(call.answer)});
  // Nobody is there any more: the next look is the last.
  waiting->answer.when_gone([weak = std::weak_ptr(waiting)] {
    if (const auto gone = weak.lock()) {
      gone->until = Steady::now();
    }
  });
  look(waiting);
}

void list_checkpoints(const Services& services, Call& call) {
  Query query(call.request.query(), {"limit", "cursor"});
  const std::size_t limit = query.limit();
  auto cursor = query.text("cursor");
  show(services, call, query.wrong(),
       [limit, cursor = std::move(cursor)](const BookReading& reading) {
         return show_checkpoints(reading, limit, cursor);
       });
}

}  // namespace hk::api::ledger
