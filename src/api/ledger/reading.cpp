#include "api/ledger/reading.h"

#include <utility>

#include "api/ledger/errors.h"
#include "api/problem.h"
#include "core/ledger/commands.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Book;
using core::ledger::Code;
using core::ledger::Metadata;

constexpr std::string_view main_book = "main";

/// False: there is no such book, and nothing was answered.
bool show_book(const Services& services, core::TenantId tenant, const std::string& id, Show& show,
               Answer& answer) {
  const std::shared_ptr<core::Reader> reader = services.submitter.durable_view(tenant);
  auto book = core::ledger::find_book(*reader, tenant, id);
  if (!book) {
    return false;
  }
  const BookReading reading{.reader = *reader,
                            .tenant = tenant,
                            .book = std::make_shared<const Book>(std::move(*book)),
                            .request_id = answer.request_id()};
  answer(show(reading));
  return true;
}

http::Response no_book(const std::string& id, std::string_view request_id) {
  return problem_of({.code = Code::book_not_found, .detail = "there is no book " + id}, request_id);
}

}  // namespace

core::ledger::BookView BookReading::view() const {
  return {.book = *book,
          .head = core::ledger::head_of(reader, tenant, number()),
          .metadata = core::ledger::metadata_of(reader, tenant, number(), Metadata::Of::book, 0)};
}

core::ledger::AccountView BookReading::view_of(core::ledger::Account account,
                                               std::optional<std::uint64_t> as_of) const {
  auto metadata = core::ledger::metadata_of(reader, tenant, number(), Metadata::Of::account,
                                            account.number, as_of);
  return {.book = book, .account = std::move(account), .metadata = std::move(metadata)};
}

core::ledger::TransactionView BookReading::view_of(core::ledger::TransactionAt at,
                                                   std::optional<std::uint64_t> as_of) const {
  core::ledger::TransactionView view{.seq = at.seq, .hash = at.hash};
  view.state = core::ledger::state_of(at);
  view.metadata =
      core::ledger::metadata_of(reader, tenant, number(), Metadata::Of::transaction, at.seq, as_of);
  if (at.outcome) {
    const auto add_ids = [this](const std::vector<std::uint64_t>& seqs,
                                std::vector<std::string>& ids) {
      for (const std::uint64_t seq : seqs) {
        // An expiry is no transaction.
        if (auto one = core::ledger::transaction_at(reader, tenant, number(), seq)) {
          ids.push_back(std::move(one->made.id));
        }
      }
    };
    add_ids(at.outcome->resolved_by, view.resolved_by);
    add_ids(at.outcome->reversed_by, view.reversed_by);
  }
  view.made = std::move(at.made);
  return view;
}

std::optional<core::ledger::Account> BookReading::find_account(const std::string& name) const {
  return core::ledger::find_account(reader, tenant, number(), name);
}

http::Response BookReading::no_account(const std::string& name) const {
  return problem_of({.code = Code::account_not_found,
                     .account = name,
                     .detail = "there is no account " + name + " in book " + book->id},
                    request_id);
}

http::Response BookReading::no_transaction(const std::string& name) const {
  return problem_of({.code = Code::transaction_not_found,
                     .transaction = name,
                     .detail = "there is no transaction " + name + " in book " + book->id},
                    request_id);
}

http::Response BookReading::no_currency(const std::string& code) const {
  return problem_of({.code = Code::currency_unknown,
                     .currency = code,
                     .detail = "the book " + book->id + " has no currency " + code +
                               ": register it, or use a code of ISO 4217"},
                    request_id);
}

http::Response BookReading::invalid_parameter(std::string_view name, std::string_view right) const {
  return problem_of(invalid(name, right), request_id);
}

void show(const Services& services, Call& call, const std::optional<Error>& wrong, Show show) {
  if (wrong) {
    call.answer.refuse(*wrong);
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  if (show_book(services, tenant, call.param, show, call.answer)) {
    return;
  }
  if (call.param != main_book) {
    call.answer(no_book(call.param, call.answer.request_id()));
    return;
  }
  core::ledger::Apply make{.tenant = tenant, .book = call.param};
  make.items.push_back({.operation = core::ledger::ChangeBook{}});
  call.batcher.submit(std::move(make),
                      [&services, tenant, show = std::move(show),
                       answer = std::move(call.answer)](const core::Reply& reply) mutable {
                        answering(answer, [&] {
                          const std::string id(main_book);
                          if (!reply) {
                            answer.refuse(reply.error());
                          } else if (!show_book(services, tenant, id, show, answer)) {
                            answer(no_book(id, answer.request_id()));
                          }
                        });
                      });
}

AsOfIn AsOfIn::read(Query& query) {
  AsOfIn as_of{query.time("as_of_effective"), query.time("as_of_recorded"),
               query.number("as_of_seq")};
  if (as_of.recorded && as_of.seq) {
    query.refuse("as_of_seq", "must not be given together with as_of_recorded");
  }
  return as_of;
}

core::ledger::AsOf AsOfIn::resolve(const BookReading& reading) const {
  core::ledger::AsOf as_of{.effective = effective, .seq = seq};
  if (recorded) {
    as_of.seq = core::ledger::seq_at(reading.reader, reading.tenant, reading.number(), *recorded);
  }
  return as_of;
}

std::string cursor_text(Listing listing, const BookReading& reading, std::uint64_t place,
                        std::uint64_t more) {
  return encode_cursor({listing, reading.tenant}, {place, more, reading.number()});
}

std::optional<ListPlace> read_cursor(Listing listing, const BookReading& reading,
                                     std::string_view text) {
  const auto place = decode_cursor({listing, reading.tenant}, text);
  if (!place || (*place)[2] != reading.number()) {
    return std::nullopt;
  }
  return ListPlace{(*place)[0], (*place)[1]};
}

}  // namespace hk::api::ledger
