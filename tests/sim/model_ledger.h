/// The reference of the ledger: accounts, transactions and the list of everything that moved, kept
/// as one would on paper. It is given the same operations in the same order, says what each must be
/// answered, and compares every record and every row that a batch writes with its own. Nothing of
/// core/ledger decides for it: it uses that module's types and the readings of bytes alone.
///
/// What it does can be taken back: to the begin of a group that was refused, and to the batch that
/// survived a crash.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ledger/commands.h"
#include "sim/history.h"
#include "store/store.h"

namespace hk::sim {

namespace ledger = core::ledger;

/// An integer of 192 bits: no sum of amounts here goes beyond it.
struct Wide {
  std::int64_t high = 0;
  ledger::Amount low = 0;

  static Wide of(const ledger::Signed& value);
  friend Wide operator+(Wide a, Wide b);
  friend Wide operator-(Wide a, Wide b);
  friend auto operator<=>(const Wide&, const Wide&) = default;
  /// As far as a balance can be told.
  [[nodiscard]] ledger::Signed told() const;
};

/// debits posted, credits posted, debits pending, credits pending
using LedgerCounters = std::array<ledger::Amount, 4>;
constexpr std::size_t counter_of(ledger::Side side, bool pending) {
  return (pending ? 2 : 0) + (side == ledger::Side::credit ? 1 : 0);
}
Wide reading_of(const LedgerCounters& counters, ledger::AccountType type, ledger::Reading which);

/// One thing that moved one counter.
struct LedgerMove {
  std::uint64_t seq = 0;
  std::string account{};
  std::string currency{};
  std::size_t counter = 0;
  bool less = false;
  ledger::Amount amount = 0;
  std::int64_t effective = 0;
};

struct LedgerStanding {
  LedgerCounters now{};
  std::uint64_t version = 0;
  std::uint64_t last_seq = 0;  ///< the transaction that raised it last
};

struct LedgerLimits {
  std::optional<ledger::Signed> min{};
  std::optional<ledger::Signed> max{};
};

struct LedgerAccount {
  std::string id{};  ///< "": generated, and not known before it is written
  std::string path{};
  ledger::AccountType type{};
  std::string currency{};
  ledger::Account::State state = ledger::Account::State::open;
  std::uint64_t seq = 0;
  std::uint64_t number = 0;
  std::map<std::string, LedgerLimits> limits{};
  std::map<std::string, LedgerStanding> standings{};
  std::shared_ptr<const ledger::CreateAccount> asked{};
};

struct LedgerTransaction {
  enum class State : std::uint8_t { posted, pending, voided, expired };
  std::uint64_t seq = 0;
  std::string id{};
  ledger::TransactionMade::Kind kind{};
  std::int64_t effective = 0;
  std::optional<std::int64_t> expires{};
  std::vector<ledger::Entry> entries{};
  std::optional<std::uint64_t> resolves{};
  std::optional<std::uint64_t> reverses{};
  std::vector<ledger::Amount> left{};
  std::vector<ledger::Amount> reversed{};
  State state = State::posted;
  bool part_posted = false;
  std::vector<std::uint64_t> resolved_by{};
  std::vector<std::uint64_t> reversed_by{};
  std::shared_ptr<const ledger::Operation> asked{};
};

struct LedgerMonitor {
  ledger::AddMonitor asked{};
  std::string account{};
  std::uint64_t number = 0;
  std::string id{};
};

/// One key of metadata as one record has set it.
struct LedgerFact {
  std::uint64_t seq = 0;
  std::uint32_t entry = 0;
  std::string key{};
  std::optional<std::string> value{};
  bool erased = false;
};

struct LedgerBook {
  ledger::BookNumber number = 0;
  std::string name{};
  std::vector<std::string> indexed{};
  std::optional<std::int64_t> closed{};
  std::vector<std::pair<std::string, std::uint32_t>> currencies{};  ///< its own, and exponents
  std::uint64_t seq = 0;
  std::int64_t recorded = 0;
  std::uint64_t accounts = 0;
  std::uint64_t covered = 0;  ///< the last checkpoint's seq
  std::string public_key{};
  std::vector<ledger::Subscription> subscriptions{};
  std::vector<LedgerMonitor> monitors{};
  std::shared_ptr<const ledger::CreateBook> asked{};
};

/// What an item of an Apply must be answered.
struct LedgerItem {
  bool accepted = false;
  bool created = false;
  bool replayed = false;
  std::uint64_t seq = 0;
  std::string id{};
  /// Rows that a reply with details must have, as texts.
  std::vector<std::string> balances{};
  ledger::Code code{};
  std::vector<std::string> members{};  ///< one of them; none: not compared
  std::string account{};               ///< "" and below: not compared
  std::optional<ledger::Signed> limit{};
  std::optional<ledger::Signed> value{};
  std::vector<ledger::Amount> amounts{};
};
struct LedgerAnswer {
  std::vector<LedgerItem> items{};
  std::optional<std::size_t> failed{};
};

/// What a subscription is told of one record.
struct LedgerEvent {
  Named book{};
  std::string type{};
  std::uint64_t seq = 0;
  std::int64_t recorded = 0;
  std::vector<std::string> parts{};      ///< each is in the text
  std::optional<std::uint64_t> about{};  ///< the transaction whose id is in it
};

class LedgerModel {
 public:
  /// What it asks of the rest of the model.
  struct Ties {
    /// A message to the subscription is written, and is this event.
    std::function<void(const ledger::Subscription&, const LedgerEvent&)> send{};
    std::function<bool(const Named& queue)> pulled{};
  };
  using AccountKey = std::pair<Named, std::string>;         ///< book, id
  using TransactionKey = std::pair<Named, std::uint64_t>;   ///< book, seq
  using ObjectKey = std::tuple<Named, int, std::uint64_t>;  ///< book, Metadata::Of, number

  LedgerModel(const core::Limits& limits, Ties ties) : limits_(limits), ties_(std::move(ties)) {}
  LedgerModel(const LedgerModel&) = delete;
  LedgerModel& operator=(const LedgerModel&) = delete;

  void begin(store::BatchSeq batch, Moment time, const Decoded& written);
  LedgerAnswer apply(const ledger::Apply& command);
  /// What timers that have gone in this batch were for.
  void timers();
  /// All that was written is as it must be.
  void compare() const;
  void crashed(store::BatchSeq survivor);
  void synced(store::BatchSeq batch);

  /// No time is over that was not looked at. REQUIRES: the core says that it has nothing to do.
  void check_nothing_due(Moment time) const;
  /// No hold expires any more, and all records are covered by checkpoints.
  [[nodiscard]] bool quiet() const;

  [[nodiscard]] const std::map<Named, LedgerBook>& books() const { return books_; }
  [[nodiscard]] const std::map<AccountKey, LedgerAccount>& accounts() const { return accounts_; }
  [[nodiscard]] const std::map<TransactionKey, LedgerTransaction>& transactions() const {
    return transactions_;
  }
  [[nodiscard]] const std::map<Named, std::vector<LedgerMove>>& moves() const { return moves_; }
  [[nodiscard]] const std::map<Named, std::vector<ledger::Hash>>& hashes() const { return hashes_; }
  [[nodiscard]] const std::map<ObjectKey, std::vector<LedgerFact>>& facts() const { return facts_; }
  [[nodiscard]] std::optional<std::uint64_t> find_transaction(const Named& book,
                                                              const std::string& id) const;
  [[nodiscard]] std::vector<const LedgerTransaction*> open_holds(const Named& book) const;
  /// The sum of what moved, on both axes.
  [[nodiscard]] LedgerCounters sum_of(const Named& book, const std::string& account,
                                      const std::string& currency,
                                      std::optional<std::int64_t> effective,
                                      std::optional<std::uint64_t> seq) const;

 private:
  using Refusal = LedgerItem;
  struct Touch {
    std::string account{};
    std::string currency{};
    LedgerCounters before{};
    LedgerCounters after{};
    std::uint64_t version = 0;
  };
  struct Draft {
    Named book{};
    std::uint64_t seq = 0;
    std::int64_t recorded = 0;
    ledger::Payload want{};
    std::string account{};  ///< under which an account with a generated id is known until then
  };
  /// Where a group began.
  struct Mark {
    std::size_t undo = 0;
    std::size_t books = 0;
    std::size_t accounts = 0;
    std::size_t transactions = 0;
  };
  struct Options {
    bool limits_at_end = false;
    bool details = false;
    bool preview = false;
    bool may_force = false;
  };

  // model_ledger.cpp
  template <class Map>
  void save(Map& map, const typename Map::key_type& key);
  void apply_alone(const ledger::Apply& command, std::size_t at, LedgerAnswer& answer);
  void apply_together(const ledger::Apply& command, const std::vector<std::size_t>& items,
                      LedgerAnswer& answer);
  LedgerItem one(const Named& key, const ledger::Operation& operation);
  [[nodiscard]] Mark here() const;
  void take_back(const Mark& mark);
  void settle();
  void settle(const Draft& draft);
  void check_point(const Named& key);
  void check_point_written(const Named& key, const ledger::Record& record);
  void expire_due(const Named& key);
  [[nodiscard]] std::int64_t now() const;
  [[nodiscard]] std::int64_t next_recorded(const Named& key) const;
  std::uint64_t record(const Named& key, ledger::Payload want, const std::string& account = {});
  LedgerBook& change(const Named& key);
  LedgerAccount& change(const AccountKey& key);
  LedgerTransaction& change(const TransactionKey& key);
  void put_open(const TransactionKey& key, bool open);
  void tell(const Named& key, std::string type, std::vector<std::string> parts,
            std::optional<std::uint64_t> about = {});
  void tell_monitors(const Named& key);
  void send_events();

  // model_ledger_objects.cpp
  LedgerItem make_book(const Named& key, const ledger::CreateBook& create);
  LedgerItem decide(const Named& key, const ledger::CreateBook& create);
  LedgerItem decide(const Named& key, const ledger::ChangeBook& change);
  LedgerItem decide(const Named& key, const ledger::AddCurrency& add);
  LedgerItem decide(const Named& key, const ledger::CloseBook& close);
  LedgerItem decide(const Named& key, const ledger::AddSubscription& add);
  LedgerItem decide(const Named& key, const ledger::RemoveSubscription& remove);
  LedgerItem decide(const Named& key, const ledger::AddMonitor& add);
  LedgerItem decide(const Named& key, const ledger::RemoveMonitor& remove);
  LedgerItem decide(const Named& key, const ledger::CreateAccount& create);
  LedgerItem decide(const Named& key, const ledger::ChangeAccount& change);
  LedgerItem decide(const Named& key, const ledger::SetTransactionMetadata& set);
  LedgerItem decide(const Named& key, const ledger::EraseMetadata& erase);
  LedgerItem decide(const Named& /*key*/, const ledger::Unreadable& /*bad*/) { return {}; }
  std::vector<ledger::MetadataHash> set_facts(const ObjectKey& key, std::uint64_t seq,
                                              std::uint32_t entry,
                                              const std::vector<ledger::MetadataIn>& metadata);
  [[nodiscard]] bool same_facts(const ObjectKey& key, std::uint64_t seq, std::uint32_t entry,
                                const std::vector<ledger::MetadataIn>& metadata) const;
  [[nodiscard]] std::optional<std::string> find_account(const Named& key,
                                                        const std::string& name) const;
  [[nodiscard]] bool knows_currency(const Named& key, const std::string& code) const;
  std::optional<Refusal> merge_limits(const Named& key, LedgerAccount& account,
                                      const std::vector<ledger::LimitsIn>& limits,
                                      const std::vector<std::string>& removed) const;

  // model_ledger_transactions.cpp
  LedgerItem decide(const Named& key, const ledger::CreateTransaction& create);
  LedgerItem decide(const Named& key, const ledger::PostHold& post);
  LedgerItem decide(const Named& key, const ledger::VoidHold& release);
  LedgerItem decide(const Named& key, const ledger::ReverseTransaction& reverse);
  LedgerItem decide(const Named& key, const ledger::AssertConditions& assert);
  std::optional<LedgerItem> repeated(const Named& key, const std::optional<std::string>& id,
                                     const std::optional<std::string>& idempotency_key,
                                     const ledger::Operation& asked);
  [[nodiscard]] std::vector<std::string> different(const Named& key, const LedgerTransaction& known,
                                                   const ledger::Operation& asked) const;
  [[nodiscard]] bool same_entries(const Named& key, const ledger::CreateTransaction& a,
                                  const ledger::CreateTransaction& b,
                                  const LedgerTransaction& known) const;
  [[nodiscard]] bool same_conditions(const Named& key, const std::vector<ledger::Condition>& a,
                                     const std::vector<ledger::Condition>& b) const;
  std::optional<Refusal> resolve(const Named& key, const ledger::CreateTransaction& create,
                                 std::vector<ledger::Entry>& entries) const;
  std::optional<Refusal> move(const Named& key, const ledger::Entry& entry, bool pending,
                              bool resolving);
  void release(const Named& key, const ledger::Entry& entry, ledger::Amount amount);
  Touch& touch(const Named& key, const std::string& account, const std::string& currency);
  std::optional<Refusal> beyond(const Named& key, const std::string& account,
                                const std::string& currency,
                                const std::optional<LedgerCounters>& unforced,
                                const LedgerCounters& before, const LedgerCounters& after) const;
  std::optional<Refusal> check_limits(const Named& key, bool force);
  std::optional<Refusal> check_end(std::size_t& operation) const;
  std::optional<Refusal> check(const Named& key, const ledger::Condition& condition,
                               ledger::Condition::At at) const;
  std::optional<Refusal> check_all(const Named& key, const ledger::CreateTransaction& create,
                                   ledger::Condition::At at) const;
  std::optional<Refusal> check_history(const Named& key, std::int64_t effective) const;
  std::optional<Refusal> check_effective(const Named& key, ledger::Instant effective) const;
  LedgerItem make(const Named& key, LedgerTransaction made, ledger::TransactionMade want,
                  const ledger::Operation& asked, const std::vector<ledger::MetadataIn>& metadata);
  void commit_moves(const Named& key, std::uint64_t seq, std::int64_t effective);
  [[nodiscard]] std::vector<std::string> balance_rows(const Named& key) const;
  std::optional<Refusal> open_hold(const Named& key, const std::string& of,
                                   std::uint64_t& seq) const;
  std::optional<Refusal> amounts_of(const LedgerTransaction& target,
                                    const std::optional<std::vector<ledger::Amount>>& asked,
                                    const std::vector<ledger::Amount>& most, ledger::Code beyond,
                                    std::vector<ledger::Amount>& amounts) const;

  const core::Limits& limits_;
  const Ties ties_;

  std::map<Named, LedgerBook> books_;
  std::map<AccountKey, LedgerAccount> accounts_;
  std::map<std::pair<Named, std::string>, std::string> names_;  ///< ids and paths
  std::map<TransactionKey, LedgerTransaction> transactions_;
  std::map<std::pair<Named, std::string>, std::uint64_t> ids_;   ///< of transactions
  std::map<std::pair<Named, std::string>, std::uint64_t> keys_;  ///< idempotency keys
  std::map<ObjectKey, std::vector<LedgerFact>> facts_;
  std::map<Named, std::set<std::uint64_t>> open_;  ///< holds
  std::map<Named, std::vector<LedgerMove>> moves_;
  std::map<Named, std::vector<ledger::Hash>> hashes_;  ///< of the records, the first at 0
  std::map<Named, std::vector<std::int64_t>> recorded_;

  // Of the batch.
  const Decoded* written_ = nullptr;
  store::BatchSeq batch_ = 0;
  Moment time_{};
  std::size_t matched_ = 0;  ///< records that are as they must be
  std::vector<Named> changed_books_;
  std::vector<AccountKey> changed_accounts_;
  std::vector<TransactionKey> changed_transactions_;
  std::set<std::string> taken_ids_;  ///< of subscriptions

  // Of the group.
  Options options_{};
  std::size_t operation_ = 0;
  std::vector<Draft> drafts_;
  std::vector<LedgerEvent> events_;
  struct AtEnd {
    Named book{};
    std::string account{};
    std::string currency{};
    LedgerCounters before{};
    std::optional<LedgerCounters> unforced{};  ///< before the first that was not forced
    std::size_t operation = 0;
  };
  std::vector<AtEnd> at_end_;

  // Of the operation.
  std::vector<Touch> touched_;
  std::vector<LedgerMove> moved_;  ///< their seq is not set

  struct Undo {
    store::BatchSeq batch = 0;
    std::function<void()> back{};
  };
  std::vector<Undo> undo_;
};

/// The formula of the specification.
ledger::Hash chain_hash(const std::string& book, std::uint64_t seq, const ledger::Hash& before,
                        const std::string& kind, const std::string& payload);
/// Throws Violation.
void check_ledger_answer(const ledger::LedgerApplied& got, const LedgerAnswer& want);
// Is the row what it must be?
bool same_book(const ledger::Book& got, const LedgerBook& want);
bool same_account(const ledger::Account& got, const LedgerAccount& want,
                  const std::function<std::string(ledger::CurrencyNumber)>& code_of);
bool same_outcome(const ledger::Outcome& got, const LedgerTransaction& want);
std::string currency_code(const ledger::Book& book, ledger::CurrencyNumber number);

}  // namespace hk::sim
