// GET …/trial_balance and …/reports/{name}.
#include "api/ledger/aside.h"
#include "api/ledger/handlers.h"
#include "api/ledger/integrity.h"
#include "api/ledger/question.h"
#include "api/ledger/statement_page.h"
#include "api/text.h"
#include "base/date.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::AccountType;
using core::ledger::Book;
using core::ledger::Instant;
using core::ledger::OpenHold;
using core::ledger::write_amount;

// ---- sums over all accounts ----

void write_trial_balance(JsonWriter& json, const TypeSums& sums) {
  write_amount(json, "debits", sums.debits);
  write_amount(json, "credits", sums.credits);
  json.key("types");
  json.begin_array();
  for (const AccountType type : account_types) {
    const TypeSum& sum = sums.of(type);
    if (!sum.moved) {
      continue;
    }
    json.begin_object();
    json.field("type", core::ledger::name_of(type));
    write_amount(json, "debits", sum.debits);
    write_amount(json, "credits", sum.credits);
    write_amount(json, "balance", sums.balance(type));
    json.end_object();
  }
  json.end_array();
}

void write_balance_sheet(JsonWriter& json, const TypeSums& sums) {
  write_amount(json, "assets", sums.balance(AccountType::asset));
  write_amount(json, "liabilities", sums.balance(AccountType::liability));
  write_amount(json, "equity", sums.balance(AccountType::equity));
  write_amount(json, "net_income", sums.net_income());
}

void write_income_statement(JsonWriter& json, const TypeSums& sums) {
  write_amount(json, "revenue", sums.balance(AccountType::revenue));
  write_amount(json, "expense", sums.balance(AccountType::expense));
  write_amount(json, "net_income", sums.net_income());
}

using WriteTypeSums = void (*)(JsonWriter&, const TypeSums&);

/// `has_from`: it may be about a period, from a moment on.
void answer_type_sums(const Services& services, Call& call, WriteTypeSums write, bool has_from) {
  Query query =
      has_from
          ? Query(call.request.query(), {"as_of_effective", "as_of_recorded", "as_of_seq", "from"})
          : Query(call.request.query(), {"as_of_effective", "as_of_recorded", "as_of_seq"});
  const AsOfIn as_of_in = AsOfIn::read(query);
  const auto from = query.time("from");
  const auto question = question_of(services, call, query);
  if (!question) {
    return;
  }
  const core::ledger::AsOf as_of = question->resolve(as_of_in);
  std::optional<core::ledger::AsOf> since;
  if (from) {
    since = {.effective = *from - std::chrono::nanoseconds{1}, .seq = as_of.seq};
  }
  answer_aside(services, call, [question = *question, as_of, since, write]() -> Result<Made> {
    const auto sums = trial_balance_of(*question.reader, question.place(), as_of, since);
    if (!sums) {
      return std::unexpected(sums.error());
    }
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("currencies");
    json.begin_array();
    for (const auto& [code, of_currency] : by_code(*question.book, *sums)) {
      json.begin_object();
      json.field("currency", code);
      write(json, *of_currency);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return Made{std::move(response)};
  });
}

void balance_sheet(const Services& services, Call& call) {
  answer_type_sums(services, call, write_balance_sheet, false);
}
void income_statement(const Services& services, Call& call) {
  answer_type_sums(services, call, write_income_statement, true);
}

// ---- sums by account and day ----

constexpr std::string_view activity_listing = "activity";

std::string date_text(std::chrono::sys_days day) {
  constexpr std::size_t date_chars = 10;
  return core::ledger::to_text(Instant{day}).substr(0, date_chars);
}

void activity(const Services& services, Call& call) {
  constexpr std::array<std::string_view, 2> axes = {"effective", "recorded"};
  Query query_in(call.request.query(), {"prefix", "from", "to", "by", "limit", "cursor"});
  ActivityQuery query{.prefix = query_in.text("prefix").value_or(""),
                      .from = query_in.time("from").value_or(core::ledger::long_ago),
                      .to = query_in.time("to").value_or(core::ledger::no_end),
                      .axis = static_cast<TimeAxis>(query_in.one_of("by", axes).value_or(0)),
                      .limit = query_in.limit()};
  const auto cursor = read_place_text(query_in, activity_listing, 3);
  if (query.from > query.to) {
    query_in.refuse("to", "must not be before from");
  }
  const auto question = question_of(services, call, query_in);
  if (!question) {
    return;
  }
  if (cursor) {
    const auto currency = parse_unsigned((*cursor)[1]);
    const auto day = parse_unsigned((*cursor)[2]);
    query.next = {
        (*cursor)[0], static_cast<core::ledger::CurrencyNumber>(currency.value_or(0)),
        std::chrono::floor<std::chrono::days>(core::ledger::instant_from_ordered(day.value_or(0)))};
  }
  answer_aside(services, call, [question = *question, query]() -> Result<Made> {
    const ActivityPage page = activity_of(*question.reader, question.place(), query);
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("days");
    json.begin_array();
    for (const ActivityDay& day : page.days) {
      json.begin_object();
      json.field("date", date_text(day.date));
      json.field("account", day.account);
      json.field("currency", currency_code(*question.book, day.currency));
      write_amount(json, "debits", day.debits);
      write_amount(json, "credits", day.credits);
      json.end_object();
    }
    json.end_array();
    if (page.next) {
      const std::array fields = {page.next->path, std::to_string(page.next->currency),
                                 std::to_string(core::ledger::ordered(Instant{page.next->day}))};
      json.field("cursor", place_text(activity_listing, fields));
    }
    json.end_object();
    return Made{std::move(response)};
  });
}

// ---- open holds ----

constexpr std::string_view holds_listing = "open_holds";

void open_holds_report(const Services& services, Call& call) {
  Query query(call.request.query(), {"limit", "cursor"});
  const std::size_t limit = query.limit();
  const auto cursor = read_place_text(query, holds_listing, 2);
  const auto question = question_of(services, call, query);
  if (!question) {
    return;
  }
  const auto [tenant, number] = question->place();
  std::optional<OpenHold> after;
  if (cursor) {
    after = OpenHold{.tenant = tenant,
                     .book = number,
                     .expires = parse_unsigned((*cursor)[0]).value_or(0),
                     .seq = parse_unsigned((*cursor)[1]).value_or(0)};
  }
  const Instant now{services.now()};
  if (!after) {
    // Those whose time is over are released already, whether or not that is recorded yet.
    after = OpenHold{.tenant = tenant,
                     .book = number,
                     .expires = core::ledger::ordered(now),
                     .seq = std::numeric_limits<std::uint64_t>::max()};
  }
  auto holds = core::ledger::open_holds(*question->reader, tenant, number, after, limit + 1);
  const bool more = holds.size() > limit;
  holds.resize(std::min(holds.size(), limit));

  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("holds");
  json.begin_array();
  for (const OpenHold& hold : holds) {
    const auto made = core::ledger::transaction_at(*question->reader, tenant, number, hold.seq);
    if (!made) {
      continue;
    }
    const auto age = std::chrono::floor<std::chrono::seconds>(now - made->made.recorded_at);
    json.begin_object();
    json.field("id", made->made.id);
    core::ledger::write_time(json, "recorded_at", made->made.recorded_at);
    core::ledger::write_time(json, "expires_at", made->made.expires_at);
    json.field("age_s", std::max<std::int64_t>(0, age.count()));
    json.end_object();
  }
  json.end_array();
  if (more) {
    json.field("cursor", place_text(holds_listing, std::array{std::to_string(holds.back().expires),
                                                              std::to_string(holds.back().seq)}));
  }
  json.end_object();
  call.answer(std::move(response));
}

// ---- the last verification ----

void integrity_report(const Services& services, Call& call) {
  const auto question = question_of(services, call, Query(call.request.query(), {}));
  if (!question) {
    return;
  }
  const auto kept = kept_report(*question->reader, *question->book);
  if (!kept) {
    call.answer.refuse(404, "the book was not verified yet: POST …/verify does it");
    return;
  }
  http::Response response;
  response.body = *kept;
  call.answer(std::move(response));
}

struct NamedReport {
  std::string_view name;
  void (*answer)(const Services&, Call&);
};
constexpr std::array named_reports = {
    NamedReport{"trial_balance", trial_balance},       NamedReport{"balance_sheet", balance_sheet},
    NamedReport{"income_statement", income_statement}, NamedReport{"activity", activity},
    NamedReport{"open_holds", open_holds_report},      NamedReport{"integrity", integrity_report}};

}  // namespace

void trial_balance(const Services& services, Call& call) {
  answer_type_sums(services, call, write_trial_balance, false);
}

void report(const Services& services, Call& call) {
  std::string known;
  for (const NamedReport& one : named_reports) {
    if (one.name == call.more_params.front()) {
      one.answer(services, call);
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  call.answer.refuse(404,
                     "there is no report " + call.more_params.front() + "; there are " + known);
}

}  // namespace hk::api::ledger
