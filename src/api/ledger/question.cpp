#include "api/ledger/question.h"

#include "api/ledger/aside.h"
#include "api/ledger/errors.h"
#include "base/encoding.h"
#include "security/digest.h"

namespace hk::api::ledger {

namespace {

constexpr char field_end = '\n';
constexpr std::size_t seal_bytes = 6;

std::string place_seal(std::string_view listing, std::string_view text) {
  const security::Digest256 digest = security::sha256(
      "hikyaku-ledger-place\n" + std::string(listing) + field_end + std::string(text));
  return {digest.begin(), digest.begin() + seal_bytes};
}

}  // namespace

core::ledger::AsOf Question::resolve(const AsOfIn& as_of) const {
  return as_of.resolve(BookReading{.reader = *reader, .tenant = book->tenant, .book = book});
}

std::optional<Question> question_of(const Services& services, Call& call, const Query& query) {
  if (query.wrong()) {
    call.answer.refuse(*query.wrong());
    return std::nullopt;
  }
  call.answer.may_be_refused();
  auto reader = services.submitter.durable_view(call.tenant->id);
  auto book = core::ledger::find_book(*reader, call.tenant->id, call.param);
  if (!book && call.param == "main") {
    // It is there for everybody; until something is written into it there is nothing to read.
    book = core::ledger::Book{.tenant = call.tenant->id, .id = call.param};
  }
  if (!book) {
    call.answer(problem_of(
        {.code = core::ledger::Code::book_not_found, .detail = "there is no book " + call.param},
        call.answer.request_id()));
    return std::nullopt;
  }
  return Question{std::move(reader), std::make_shared<const core::ledger::Book>(std::move(*book))};
}

void show_aside(const Services& services, Call& call, const Query& query, Show show) {
  const auto question = question_of(services, call, query);
  if (!question) {
    return;
  }
  answer_aside(services, call,
               [question = *question, show = std::move(show),
                request_id = std::string(call.answer.request_id())]() mutable -> Result<Made> {
                 return Made{show({.reader = *question.reader,
                                   .tenant = question.book->tenant,
                                   .book = question.book,
                                   .request_id = request_id})};
               });
}

std::string place_text(std::string_view listing, std::span<const std::string> fields) {
  std::string text;
  for (const std::string& field : fields) {
    text += field + field_end;
  }
  return base64url(place_seal(listing, text) + text);
}

std::optional<std::vector<std::string>> read_place_text(Query& query, std::string_view listing,
                                                        std::size_t fields) {
  const auto given = query.text("cursor");
  if (!given) {
    return std::nullopt;
  }
  const auto bytes = unbase64url(*given);
  std::vector<std::string> out;
  if (bytes && bytes->size() >= seal_bytes) {
    std::string_view rest = std::string_view(*bytes).substr(seal_bytes);
    if (place_seal(listing, rest) == bytes->substr(0, seal_bytes)) {
      for (std::size_t end = rest.find(field_end); end != std::string_view::npos;
           end = rest.find(field_end)) {
        out.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
      }
    }
  }
  if (out.size() != fields) {
    query.refuse("cursor", "must be one that this listing was answered with");
    return std::nullopt;
  }
  return out;
}

std::string currency_code(const core::ledger::Book& book, core::ledger::CurrencyNumber number) {
  const auto currency = core::ledger::find_currency(book, number);
  return currency ? currency->code : std::to_string(number);
}

}  // namespace hk::api::ledger
