// GET …/export. An answer is a page of bounded size; a header says where the next one begins.
#include "api/ledger/aside.h"
#include "api/ledger/export_page.h"
#include "api/ledger/handlers.h"
#include "api/ledger/question.h"

namespace hk::api::ledger {

void export_log(const Services& services, Call& call) {
  constexpr std::array<std::string_view, 2> kinds = {"records", "entries"};
  constexpr std::array<std::string_view, 2> formats = {"jsonl", "csv"};
  Query query_in(call.request.query(), {"kind", "format", "from_seq", "to_seq", "effective_from",
                                        "effective_to", "values"});
  const auto from = query_in.time("effective_from");
  const auto to = query_in.time("effective_to");
  ExportQuery query{
      .kind = static_cast<ExportQuery::Kind>(query_in.one_of("kind", kinds).value_or(0)),
      .format = static_cast<ExportQuery::Format>(query_in.one_of("format", formats).value_or(0)),
      .from_seq = query_in.number("from_seq", 1).value_or(1),
      .to_seq = query_in.number("to_seq", 1).value_or(0),
      .effective_from = from.value_or(core::ledger::long_ago),
      .effective_to = to.value_or(core::ledger::no_end)};
  query.values = query_in.flag("values");
  if (query.values &&
      (query.kind != ExportQuery::Kind::records || query.format != ExportQuery::Format::jsonl)) {
    query_in.refuse("values", "is for kind=records and format=jsonl");
  }
  if (query.to_seq != 0 && query.to_seq < query.from_seq) {
    query_in.refuse("to_seq", "must not be below from_seq");
  }
  if (query.kind == ExportQuery::Kind::records && (from || to)) {
    query_in.refuse(from ? "effective_from" : "effective_to", "is for kind=entries");
  }
  const auto question = question_of(services, call, query_in);
  if (!question) {
    return;
  }
  answer_aside(services, call, [question = *question, query]() -> Result<Made> {
    ExportPage page = export_page(*question.reader, *question.book, query);
    Made made;
    made.response.body = std::move(page.text);
    made.response.content_type = query.format == ExportQuery::Format::csv
                                     ? "text/csv; charset=utf-8"
                                     : "application/x-ndjson";
    if (page.next_seq != 0) {
      made.response.fields.push_back({"Hikyaku-Next-Seq", std::to_string(page.next_seq)});
    }
    return made;
  });
}

}  // namespace hk::api::ledger
