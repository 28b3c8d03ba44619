/// A reading call about a book whose answer takes more than one look: its reader and its book may
/// go to another thread, and its cursors hold more than numbers. What is short is answered by
/// reading.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/ledger/query.h"
#include "api/ledger/reading.h"
#include "api/ledger/sums.h"

namespace hk::api::ledger {

struct Question {
  std::shared_ptr<core::Reader> reader{};
  std::shared_ptr<const core::ledger::Book> book{};

  [[nodiscard]] BookPlace place() const { return {book->tenant, book->number}; }
  [[nodiscard]] core::ledger::AsOf resolve(const AsOfIn& as_of) const;
};
/// nullopt: it was answered, with what is wrong with its parameters or that there is no such book.
std::optional<Question> question_of(const Services& services, Call& call, const Query& query);

/// The same as show(), on the thread for long work (aside.h): for what may look at everything.
void show_aside(const Services& services, Call& call, const Query& query, Show show);
/// How far a listing counts what it could show.
inline constexpr std::size_t counted_max = 10'000;

/// Where a listing goes on, as texts without line feeds. It grants nothing: a listing never leaves
/// its book.
std::string place_text(std::string_view listing, std::span<const std::string> fields);
/// The fields of the parameter `cursor`; none: the listing begins. One that is none of this listing
/// is wrong.
std::optional<std::vector<std::string>> read_place_text(Query& query, std::string_view listing,
                                                        std::size_t fields);

/// The code of a currency that is stored.
std::string currency_code(const core::ledger::Book& book, core::ledger::CurrencyNumber number);

/// What is kept by the number of a currency, in the order of the codes.
template <class Value>
std::map<std::string, const Value*> by_code(
    const core::ledger::Book& book, const std::map<core::ledger::CurrencyNumber, Value>& values) {
  std::map<std::string, const Value*> out;
  for (const auto& [number, value] : values) {
    out.emplace(currency_code(book, number), &value);
  }
  return out;
}

}  // namespace hk::api::ledger
