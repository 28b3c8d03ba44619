/// The parameters of a GET of the ledger. Each is asked for by its kind; the first that is wrong is
/// kept (wrong()), so that a handler asks for all of them and then looks once. A parameter that
/// nobody knows is wrong, too. Pure, any thread.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/ledger/amount.h"

namespace hk::api::ledger {

class Query {
 public:
  /// "metadata" among the names stands for every metadata[key].
  Query(std::string_view query, std::initializer_list<std::string_view> names);

  std::optional<std::string> text(std::string_view name);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t least = 0,
                                      std::uint64_t most = UINT64_MAX);
  std::optional<core::ledger::Amount> amount(std::string_view name);
  std::optional<core::ledger::Signed> signed_amount(std::string_view name);
  std::optional<core::ledger::Instant> time(std::string_view name);
  /// A length such as "5s", at most that long.
  std::optional<Millis> duration(std::string_view name, Millis most);
  /// The place of its value among these.
  std::optional<std::size_t> one_of(std::string_view name,
                                    std::span<const std::string_view> values);
  /// "1" or "true".
  bool flag(std::string_view name);
  /// `limit`: 1 to 1,000; 100 if it is not given.
  std::size_t limit();
  /// Of metadata[key].
  std::vector<std::pair<std::string, std::string>> metadata();

  void refuse(std::string_view name, std::string_view right);
  [[nodiscard]] const std::optional<Error>& wrong() const { return wrong_; }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_{};
  std::optional<Error> wrong_{};
};

}  // namespace hk::api::ledger
