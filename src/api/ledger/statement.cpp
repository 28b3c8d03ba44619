// GET …/accounts/{account}/statement.
#include "api/ledger/statement_page.h"

#include "api/ledger/handlers.h"
#include "api/ledger/question.h"
#include "api/text.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::long_ago;
using core::ledger::no_end;

constexpr std::string_view statement_listing = "statement";
constexpr std::size_t statement_fields = 4;

std::vector<std::string> fields_of(const StatementPlace& place, std::uint64_t up_to_seq) {
  return {std::to_string(core::ledger::ordered(place.at)), std::to_string(place.same),
          core::ledger::to_text(place.balance), std::to_string(up_to_seq)};
}

/// Fills in where the page begins. False: the cursor is none of ours.
bool read_place(const std::vector<std::string>& fields, StatementQuery& query) {
  const auto at = parse_unsigned(fields[0]);
  const auto same = parse_unsigned(fields[1]);
  const auto balance = core::ledger::parse_signed(fields[2]);
  const auto up_to = parse_unsigned(fields[3]);
  if (!at || !same || !balance || !up_to) {
    return false;
  }
  query.after = StatementPlace{core::ledger::instant_from_ordered(*at), *same, *balance};
  query.up_to_seq = *up_to;
  return true;
}

void write_line(JsonWriter& json, const StatementLine& line, const std::string& currency,
                const std::string& transaction) {
  const core::ledger::Movement& movement = line.movement;
  json.begin_object();
  json.field("transaction", transaction);
  json.field("index", movement.index);
  json.field("seq", movement.seq);
  json.field("side", core::ledger::name_of(movement.side));
  core::ledger::write_amount(json, "amount", movement.amount);
  json.field("currency", currency);
  core::ledger::write_time(json, "effective_at", movement.effective_at);
  core::ledger::write_time(json, "recorded_at", movement.recorded_at);
  core::ledger::write_amount(json, "balance", line.balance);
  json.end_object();
}

}  // namespace

void statement(const Services& services, Call& call) {
  constexpr std::array<std::string_view, 2> axes = {"effective", "recorded"};
  Query query_in(call.request.query(), {"currency", "from", "to", "by", "limit", "cursor"});
  const auto currency = query_in.text("currency");
  StatementQuery query{.from = query_in.time("from").value_or(long_ago),
                       .to = query_in.time("to").value_or(no_end),
                       .axis = static_cast<TimeAxis>(query_in.one_of("by", axes).value_or(0)),
                       .limit = query_in.limit()};
  const auto cursor = read_place_text(query_in, statement_listing, statement_fields);
  if (query.from > query.to) {
    query_in.refuse("to", "must not be before from");
  }
  const auto question = question_of(services, call, query_in);
  if (!question) {
    return;
  }
  const BookReading reading{*question->reader, question->book->tenant, question->book,
                            call.answer.request_id()};
  const auto account = reading.find_account(call.more_params.front());
  if (!account) {
    call.answer(reading.no_account(call.more_params.front()));
    return;
  }
  query.currency = account->currency;
  if (currency) {
    const auto found = core::ledger::find_currency(*question->book, *currency);
    if (!found) {
      call.answer(reading.no_currency(*currency));
      return;
    }
    query.currency = found->number;
  }
  if (query.currency == 0) {
    call.answer(reading.invalid_parameter(
        "currency", "must be given: the account is not locked to one currency"));
    return;
  }
  query.up_to_seq = core::ledger::head_of(reading.reader, account->tenant, account->book).seq;
  if (cursor && !read_place(*cursor, query)) {
    call.answer(
        reading.invalid_parameter("cursor", "must be one that this call was answered with"));
    return;
  }
  const StatementPage page = statement_of(reading.reader, *account, query);

  http::Response response;
  JsonWriter json(response.body);
  const std::string code = currency_code(*question->book, query.currency);
  json.begin_object();
  json.field("account", account->id);
  json.field("currency", code);
  core::ledger::write_amount(json, "opening", page.opening);
  core::ledger::write_amount(json, "closing", page.closing);
  json.key("lines");
  json.begin_array();
  std::pair<std::uint64_t, std::string> last;  // lines of a transaction often stand together
  for (const StatementLine& line : page.lines) {
    if (last.first != line.movement.seq) {
      const auto found = core::ledger::transaction_at(reading.reader, account->tenant,
                                                      account->book, line.movement.seq);
      last = {line.movement.seq, found ? found->made.id : ""};
    }
    write_line(json, line, code, last.second);
  }
  json.end_array();
  if (page.next) {
    json.field("cursor", place_text(statement_listing, fields_of(*page.next, query.up_to_seq)));
  }
  json.end_object();
  call.answer(std::move(response));
}

}  // namespace hk::api::ledger
