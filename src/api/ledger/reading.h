/// How a GET below a book is answered: from the durable view, on the I/O thread. The book `main` is
/// there for everybody: what reads it first makes it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "api/cursor.h"
#include "api/ledger/query.h"
#include "core/ledger/read.h"
#include "core/ledger/view.h"

namespace hk::api::ledger {

/// What a GET reads in. Lives as long as the call to Show.
struct BookReading {
  core::Reader& reader;
  core::TenantId tenant{};
  std::shared_ptr<const core::ledger::Book> book{};
  std::string request_id{};

  [[nodiscard]] core::ledger::BookNumber number() const { return book->number; }

  [[nodiscard]] core::ledger::BookView view() const;
  [[nodiscard]] core::ledger::AccountView view_of(core::ledger::Account account,
                                                  std::optional<std::uint64_t> as_of = {}) const;
  [[nodiscard]] core::ledger::TransactionView view_of(
      core::ledger::TransactionAt at, std::optional<std::uint64_t> as_of = {}) const;

  /// By id or path.
  [[nodiscard]] std::optional<core::ledger::Account> find_account(const std::string& name) const;

  // 404 and 400 as problems.
  [[nodiscard]] http::Response no_account(const std::string& name) const;
  [[nodiscard]] http::Response no_transaction(const std::string& name) const;
  [[nodiscard]] http::Response no_currency(const std::string& code) const;
  [[nodiscard]] http::Response invalid_parameter(std::string_view name,
                                                 std::string_view right) const;
};

/// Makes the answer. Holds nothing of the call: it may be called later.
using Show = std::move_only_function<http::Response(const BookReading&)>;
/// Answers with what `show` makes of the book that the path names, or says that there is none.
/// `wrong`: what is wrong with the parameters, if something is; it is told instead.
void show(const Services& services, Call& call, const std::optional<Error>& wrong, Show show);

// ---- as_of_effective, as_of_recorded, as_of_seq ----

struct AsOfIn {
  std::optional<core::ledger::Instant> effective{};
  std::optional<core::ledger::Instant> recorded{};
  std::optional<std::uint64_t> seq{};

  static AsOfIn read(Query& query);
  [[nodiscard]] core::ledger::AsOf resolve(const BookReading& reading) const;
};
inline constexpr std::string_view as_of_names[] = {"as_of_effective", "as_of_recorded",
                                                   "as_of_seq"};

// ---- pages ----

/// Where a list of this book goes on: one number orders it.
std::string cursor_text(Listing listing, const BookReading& reading, std::uint64_t place,
                        std::uint64_t more = 0);
struct ListPlace {
  std::uint64_t place = 0;
  std::uint64_t more = 0;
};
/// nullopt: it is no cursor of this list.
std::optional<ListPlace> read_cursor(Listing listing, const BookReading& reading,
                                     std::string_view text);

}  // namespace hk::api::ledger
