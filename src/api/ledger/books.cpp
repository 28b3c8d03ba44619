// Books, their currencies, closing and erasing.
#include <algorithm>
#include <utility>

#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

/// Reads the body, then plans it as one operation.
template <class Operation>
Write planned(const Services& services, Call& call, Parsed<Operation> read) {
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

}  // namespace

Write create_book(const Services& services, Call& call) {
  auto book = read_new_book(call.request.body);
  if (!book) {
    return refuse(call, book.error());
  }
  call.param = std::move(book->id);
  return plan(services, call, {.operation = std::move(book->book)});
}

/// Of a tenant: `main` is among them once it was named.
void list_books(const Services& services, Call& call) {
  Query query(call.request.query(), {"limit", "cursor"});
  const std::size_t limit = query.limit();
  const auto cursor = query.text("cursor");
  if (query.wrong()) {
    call.answer.refuse(*query.wrong());
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const CursorScope scope{Listing::ledger_books, tenant};
  std::uint64_t after = 0;
  if (cursor) {
    const auto place = decode_cursor(scope, *cursor);
    if (!place) {
      call.answer.refuse(400, "cursor: must be the cursor of an answer to the same list");
      return;
    }
    after = (*place)[0];
  }
  const auto reader = services.submitter.durable_view(tenant);
  auto books = reader->scan<core::ledger::Book>(core::Range<core::ledger::Book>::of(tenant));
  std::erase_if(books, [after](const auto& one) { return one.number <= after; });
  std::ranges::sort(books, {}, &core::ledger::Book::number);

  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("books");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(limit, books.size()); ++i) {
    const BookReading reading{*reader, tenant,
                              std::make_shared<const core::ledger::Book>(books[i])};
    json.begin_object();
    core::ledger::write_book_members(json, reading.view());
    json.end_object();
  }
  json.end_array();
  if (books.size() > limit) {
    json.field("cursor", encode_cursor(scope, {books[limit - 1].number, 0, 0}));
  }
  json.end_object();
  call.answer(std::move(response));
}

void get_book(const Services& services, Call& call) {
  Query query(call.request.query(), {"as_of_seq"});
  const auto as_of = query.number("as_of_seq");
  show(services, call, query.wrong(), [as_of](const BookReading& reading) {
    core::ledger::BookView view = reading.view();
    if (as_of) {
      view.metadata = core::ledger::metadata_of(reading.reader, reading.tenant, reading.number(),
                                                core::ledger::Metadata::Of::book, 0, as_of);
    }
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    core::ledger::write_book_members(json, view);
    json.end_object();
    return response;
  });
}

Write change_book(const Services& services, Call& call) {
  return planned(services, call, read_book_change(call.request.body));
}

Write close_book(const Services& services, Call& call) {
  return planned(services, call, read_close(call.request.body));
}

Write add_currency(const Services& services, Call& call) {
  return planned(services, call, read_currency(call.request.body));
}

Write erase_metadata(const Services& services, Call& call) {
  return planned(services, call, read_erasure(call.request.body));
}

/// All of them: there are a few hundred, and those of the book are bounded.
void list_currencies(const Services& services, Call& call) {
  Query query(call.request.query(), {});
  show(services, call, query.wrong(), [](const BookReading& reading) {
    std::vector<core::ledger::Currency> all = core::ledger::iso_currencies();
    all.insert(all.end(), reading.book->currencies.begin(), reading.book->currencies.end());
    std::ranges::sort(all, {}, &core::ledger::Currency::code);
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("currencies");
    json.begin_array();
    for (const core::ledger::Currency& one : all) {
      json.begin_object();
      core::ledger::write_currency_members(json, one);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return response;
  });
}

}  // namespace hk::api::ledger
