// Reconciliation: sources, lines of statements, decisions, and the report by day.
#include <map>

#include "api/ledger/aside.h"
#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/question.h"
#include "api/ledger/render.h"
#include "base/date.h"
#include "base/encoding.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::Range;
using core::Reader;
using core::ledger::Instant;
using core::ledger::ReconDay;
using core::ledger::ReconLine;
using core::ledger::ReconSource;
using core::ledger::ReconState;
using core::ledger::Signed;

constexpr std::size_t date_characters = 10;
constexpr std::size_t days_at_once = 500;
constexpr std::chrono::days one_day{1};

std::string date_of(Instant day) { return core::ledger::to_text(day).substr(0, date_characters); }

std::optional<Instant> date_in(Query& query, std::string_view name) {
  const auto given = query.text(name);
  if (!given) {
    return std::nullopt;
  }
  const auto day = parse_date(*given);
  if (!day) {
    query.refuse(name, "must be a day, such as 2026-05-31");
  }
  return day;
}

/// nullopt: it was answered that there is none.
std::optional<ReconSource> source_of(const BookReading& reading, const std::string& id) {
  return reading.reader.get<ReconSource>({reading.tenant, reading.number(), id});
}

http::Response no_source(const BookReading& reading, const std::string& id) {
  return problem_of({.code = core::ledger::Code::source_not_found,
                     .member = "source",
                     .detail = "the book has no source " + id},
                    reading.request_id);
}

Range<ReconDay> days_of(const ReconSource& source, std::optional<Instant> from,
                        std::optional<Instant> to) {
  auto range = Range<ReconDay>::of(source.tenant, source.book, source.number);
  if (from) {
    range.from(source.tenant, source.book, source.number, core::ledger::ordered(*from));
  }
  if (to) {
    range.up_to(source.tenant, source.book, source.number, core::ledger::ordered(*to));
  }
  return range;
}

ReconLine line_at(Reader& reader, const ReconDay& day) {
  auto line = reader.get<ReconLine>({day.tenant, day.book, day.source, day.external_id});
  if (!line) {
    throw core::CorruptRecord("the line " + day.external_id + " of a ledger's source is missing");
  }
  return std::move(*line);
}

// ---- the list ----

struct LinesFilter {
  std::string source{};
  std::optional<ReconState> state{};
  std::optional<Instant> from{};
  std::optional<Instant> to{};
  std::optional<std::vector<std::string>> after{};
  std::size_t limit = 0;
  std::size_t scanned_max = 0;
};
constexpr std::string_view lines_listing = "recon_lines";

http::Response show_lines(const BookReading& reading, const LinesFilter& filter) {
  const auto source = source_of(reading, filter.source);
  if (!source) {
    return no_source(reading, filter.source);
  }
  auto range = days_of(*source, filter.from, filter.to);
  if (filter.after) {
    const auto day = parse_date(filter.after->at(0));
    const auto id = unhex(filter.after->at(1));
    if (!day || !id) {
      return reading.invalid_parameter("cursor",
                                       "must be the cursor of an answer to the same list");
    }
    range.after(source->tenant, source->book, source->number, core::ledger::ordered(*day), *id);
  }
  const std::string currency = currency_code(*reading.book, source->currency);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("lines");
  json.begin_array();
  std::size_t shown = 0;
  std::size_t looked = 0;
  std::string next;
  for (const ReconDay& day : reading.reader.scan(range, filter.scanned_max + 1)) {
    const ReconLine line = line_at(reading.reader, day);
    const bool wanted = !filter.state || line.state == *filter.state;
    if (looked == filter.scanned_max || (wanted && shown == filter.limit)) {
      json.end_array();
      json.field("cursor", next);
      json.end_object();
      return response;
    }
    ++looked;
    next = place_text(lines_listing, std::array{date_of(line.date), hex(line.external_id)});
    if (!wanted) {
      continue;
    }
    ++shown;
    core::ledger::ReconLineView view{.line = line, .source = source->id, .currency = currency};
    for (const core::ledger::EntryPlace& place : line.entries) {
      const auto at =
          core::ledger::transaction_at(reading.reader, reading.tenant, reading.number(), place.seq);
      view.entries.push_back({at ? at->made.id : "", place.index});
    }
    json.begin_object();
    core::ledger::write_recon_line_members(json, view);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return response;
}

// ---- the report ----

struct DayRow {
  std::uint64_t matched = 0;
  std::uint64_t unmatched_lines = 0;
  std::uint64_t unmatched_entries = 0;
  Signed lines_total{};
  Signed ledger_total{};
};

struct ReportFilter {
  std::string source{};
  std::optional<Instant> from{};
  std::optional<Instant> to{};
  std::size_t limit = 0;
};
constexpr std::string_view report_listing = "recon_report";

/// The lines of the days from `from` on, as many days as fit; their end (exclusive), if there are
/// more.
std::optional<Instant> add_lines(Reader& reader, const ReconSource& source,
                                 const ReportFilter& filter, std::map<Instant, DayRow>& days) {
  auto range = days_of(source, filter.from, filter.to);
  for (;;) {
    const auto rows = reader.scan(range, days_at_once);
    for (const ReconDay& row : rows) {
      const ReconLine line = line_at(reader, row);
      if (!days.contains(line.date) && days.size() == filter.limit) {
        return line.date;
      }
      DayRow& day = days[line.date];
      switch (line.state) {
        case ReconState::matched: ++day.matched; break;
        case ReconState::unmatched:
        case ReconState::proposed: ++day.unmatched_lines; break;
        case ReconState::ignored: break;
      }
      day.lines_total = core::ledger::saturating_sum(day.lines_total, line.amount);
    }
    if (rows.size() < days_at_once) {
      return std::nullopt;
    }
    const ReconDay& last = rows.back();
    range.after(last.tenant, last.book, last.source, last.day, last.external_id);
  }
}

void add_entries(Reader& reader, const ReconSource& source, Instant from, Instant to,
                 std::map<Instant, DayRow>& days) {
  const auto account =
      core::ledger::find_account(reader, source.tenant, source.book, source.account);
  if (!account) {
    throw core::CorruptRecord("the account of a ledger's source is missing");
  }
  core::ledger::movements_by_effective(
      reader, *account, source.currency, from, to, [&](const core::ledger::Movement& movement) {
        if (movement.phase != core::ledger::Movement::Phase::posted) {
          return true;
        }
        DayRow& day = days[core::ledger::day_of(movement.effective_at)];
        day.ledger_total = core::ledger::saturating_sum(
            day.ledger_total, {movement.side == core::ledger::Side::credit, movement.amount});
        const bool settled =
            reader
                .get<core::ledger::ReconEntry>({source.tenant, source.book, source.account_number,
                                                movement.seq, movement.index})
                .has_value();
        day.unmatched_entries += settled ? 0 : 1;
        return true;
      });
}

http::Response show_report(const BookReading& reading, const ReportFilter& filter, Instant now) {
  const auto source = source_of(reading, filter.source);
  if (!source) {
    return no_source(reading, filter.source);
  }
  std::map<Instant, DayRow> days;
  const auto lines_end = add_lines(reading.reader, *source, filter, days);
  // Without a beginning: the first day that has a line.
  if (filter.from || !days.empty()) {
    const Instant from = filter.from ? *filter.from : days.begin()->first;
    const Instant last = filter.to ? *filter.to : core::ledger::day_of(now);
    add_entries(reading.reader, *source, from, lines_end ? *lines_end : last + one_day, days);
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("days");
  json.begin_array();
  std::size_t shown = 0;
  std::optional<Instant> next = lines_end;
  for (const auto& [date, day] : days) {
    if (shown++ == filter.limit) {
      next = date;
      break;
    }
    Signed minus = day.ledger_total;
    minus.negative = minus.magnitude != 0 && !minus.negative;
    json.begin_object();
    json.field("date", date_of(date));
    json.field("matched", day.matched);
    json.field("unmatched_lines", day.unmatched_lines);
    json.field("unmatched_entries", day.unmatched_entries);
    core::ledger::write_amount(json, "lines_total", day.lines_total);
    core::ledger::write_amount(json, "ledger_total", day.ledger_total);
    core::ledger::write_amount(json, "difference",
                               core::ledger::saturating_sum(day.lines_total, minus));
    json.end_object();
  }
  json.end_array();
  if (next) {
    json.field("cursor", place_text(report_listing, std::array{date_of(*next)}));
  }
  json.end_object();
  return response;
}

}  // namespace

Write set_recon_source(const Services& services, Call& call) {
  auto read = read_recon_source(call.request.body, call.more_params.at(0));
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

Write import_recon_lines(const Services& services, Call& call) {
  auto read = read_recon_lines(call.request.body, call.more_params.at(0));
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

Write decide_recon(const Services& services, Call& call) {
  auto read = read_recon_decision(call.request.body);
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

void list_recon_lines(const Services& services, Call& call) {
  Query query(call.request.query(), {"state", "from", "to", "limit", "cursor"});
  LinesFilter filter{.source = call.more_params.at(0),
                     .from = date_in(query, "from"),
                     .to = date_in(query, "to"),
                     .after = read_place_text(query, lines_listing, 2),
                     .limit = query.limit(),
                     .scanned_max = services.options.scanned_per_listing_max};
  if (const auto place = query.one_of("state", core::ledger::recon_state_names)) {
    filter.state = static_cast<ReconState>(*place + 1);
  }
  show(services, call, query.wrong(), [filter = std::move(filter)](const BookReading& reading) {
    return show_lines(reading, filter);
  });
}

void recon_report(const Services& services, Call& call) {
  Query query(call.request.query(), {"source", "from", "to", "limit", "cursor"});
  ReportFilter filter{.source = query.text("source").value_or(""),
                      .from = date_in(query, "from"),
                      .to = date_in(query, "to"),
                      .limit = query.limit()};
  if (filter.source.empty()) {
    query.refuse("source", "must be given");
  }
  if (const auto cursor = read_place_text(query, report_listing, 1)) {
    filter.from = parse_date(cursor->front());
  }
  if (filter.from && filter.to && *filter.to < *filter.from) {
    query.refuse("to", "must not be before from");
  }
  show_aside(services, call, query,
             [filter = std::move(filter), now = Instant{services.now()}](
                 const BookReading& reading) { return show_report(reading, filter, now); });
}

}  // namespace hk::api::ledger
