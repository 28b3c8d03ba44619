/// How the history of an account is looked through: blocks and late movements that are stored, and
/// for the component itself those that the batch has made and no reader shows yet.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/read.h"

namespace hk::core::ledger {

class Sight {
 public:
  explicit Sight(Reader& reader) : reader_(reader) {}
  Sight(const Sight&) = delete;
  Sight& operator=(const Sight&) = delete;
  virtual ~Sight() = default;

  BalanceAt balance_at(const Account& account, CurrencyNumber currency, const AsOf& as_of);
  void by_effective(const Account& account, CurrencyNumber currency, Instant from, Instant to,
                    const std::function<bool(const Movement&)>& each);

  /// The last run that begins at or before it.
  std::optional<Run> run_by_seq(const Account& account, const Standing& standing,
                                std::uint64_t seq);
  /// The last run before which nothing was effective later.
  std::optional<Run> run_by_effective(const Account& account, const Standing& standing,
                                      Instant effective);
  /// The first run that begins after it.
  std::optional<Run> run_after(const Account& account, const Standing& standing, std::uint64_t seq);

  virtual std::optional<Late> late(const KeyOf<Late>& key);

 protected:
  /// Those that are not stored yet, the last one first.
  virtual std::vector<Block> fresh_blocks(const Account& /*account*/, CurrencyNumber /*currency*/) {
    return {};
  }

 private:
  Reader& reader_;
};

const Standing* find_standing(const Account& account, CurrencyNumber currency);
/// The fold of rows in the order of their seq, up to a record.
std::vector<MetadataValue> folded(const std::vector<Metadata>& rows,
                                  std::optional<std::uint64_t> as_of);
/// How the name of an index entry begins; the number follows.
std::string index_name(IndexEntry::Kind kind, std::string_view key, std::string_view value);

}  // namespace hk::core::ledger
