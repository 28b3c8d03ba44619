/// The ledger: books, accounts, balanced transactions, holds. Each operation is checked as a whole
/// before anything changes; a group of them changes memory alone until it is decided, and what it
/// comes to is written once per batch. A component (component.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/command.h"
#include "core/component.h"
#include "core/ledger/commands.h"
#include "core/ledger/overlay.h"
#include "core/ledger/sight.h"
#include "core/ledger/state.h"

namespace hk {
class JsonWriter;
}

namespace hk::core {

class Messages;
class Queues;
class Tenants;
class Timers;
class Topics;

namespace ledger {

/// How a group of operations is executed.
struct GroupOptions {
  bool limits_at_end = false;
  bool details = false;
  bool preview = false;
  bool may_force = false;
};

class Ledger : Component {
 public:
  Ledger(Context& context, const Tenants& tenants, Timers& timers, Messages& messages,
         Queues& queues);
  ~Ledger();

  Reply execute(LedgerCommand&& command);
  void flush();
  void on_expiry_timer(TenantId tenant, const std::string& book);
  void on_checkpoint_timer(TenantId tenant, const std::string& book);
  void on_rollup_timer(TenantId tenant, const std::string& book);

  // ---- for neighbours: operations that are one with what else they decide ----

  /// Expires what is due in the book, so that no limit counts it. unavailable: that is more than
  /// one batch takes; nothing of the book may be decided before the batches to come have done it.
  Result<void> settle(TenantId tenant, const std::string& book);
  /// A group begins: until commit() or rollback() it is all or nothing, and the batch has nothing
  /// of it. There is one group at a time.
  void begin(const GroupOptions& options);
  /// REQUIRES: begin() came before it, and in this batch settle(). After a refusal only rollback()
  /// may follow.
  ItemResult apply(TenantId tenant, const std::string& book, Operation&& operation);
  /// The limits that were to be checked at the end; a refusal: only rollback() may follow. The
  /// number is that of the operation (0, 1, …) that moved the account last.
  std::expected<void, std::pair<std::size_t, std::shared_ptr<const Refusal>>> check_end();
  void commit();
  void rollback();

  [[nodiscard]] std::size_t books_in_memory() const { return books_.size(); }

 private:
  using Refused = std::unexpected<std::shared_ptr<const Refusal>>;
  template <class T>
  using Or = std::expected<T, std::shared_ptr<const Refusal>>;
  using AccountAt = HotAccounts::iterator;

  /// An account and currency that an operation moves.
  struct Touch {
    AccountAt account{};
    CurrencyNumber currency = 0;
    Counters128 before{};
    Counters128 after{};
    std::uint64_t version = 0;
  };
  /// One entry that is about to be recorded.
  struct Leg {
    AccountAt account{};
    const Currency* currency = nullptr;
    Side side{};
    Amount amount = 0;
    Movement::Phase phase{};
    std::uint32_t index = 0;
    std::size_t touch = 0;
  };

  // apply.cpp
  Reply decide(Apply command);
  ItemResult apply_one(HotBook& book, Operation&& operation);
  void apply_alone(Apply& command, std::size_t at, LedgerApplied& reply);
  void apply_together(Apply& command, const std::vector<std::size_t>& items, LedgerApplied& reply);
  void save(HotBook& book);
  void save(AccountAt account);

  // ledger.cpp
  HotBook* find_book(TenantId tenant, const std::string& id);
  HotBook* book_or_main(TenantId tenant, const std::string& id);
  HotBook* load_book(TenantId tenant, const std::string& id);
  HotBook& keep_book(TenantId tenant, const std::string& id);
  std::optional<AccountAt> find_account(HotBook& book, std::string_view name);
  /// Accounts that the items move, as far as they are not in memory.
  void read_ahead(const Apply& command);
  AccountAt keep(HotBook& book, Account row);
  /// The only way to a row that is to be changed.
  Account& change(AccountAt account);
  Book& change(HotBook& book);
  Standing& standing_of(Account& account, CurrencyNumber currency);
  const Currency* currency_of(HotBook& book, std::string_view code);
  std::uint64_t record(HotBook& book, std::string_view kind, std::string payload,
                       Instant recorded_at);
  template <class One>
  std::uint64_t record(HotBook& book, const One& payload);
  Instant next_instant(const HotBook& book) const;
  Instant now() const;
  void flush(HotBook& book);
  void set_timers(HotBook& book);
  void seal_run(AccountAt account, Standing& standing);
  void forget_books();
  void forget_accounts();
  void forget(AccountAt account);
  Record record_at(HotBook& book, std::uint64_t seq);
  void move(AccountAt account, CurrencyNumber currency, Movement movement);

  // book.cpp
  HotBook& add_book(TenantId tenant, const std::string& id);
  HotBook& make_book(TenantId tenant, const std::string& id, const CreateBook& create);
  ItemResult decide(HotBook& book, const CreateBook& command);
  ItemResult decide(HotBook& book, const ChangeBook& command);
  ItemResult decide(HotBook& book, const AddCurrency& command);
  ItemResult decide(HotBook& book, const CloseBook& command);
  ItemResult decide(HotBook& book, AddSubscription& command);
  ItemResult decide(HotBook& book, const RemoveSubscription& command);
  ItemResult decide(HotBook& book, AddMonitor& command);
  ItemResult decide(HotBook& book, const RemoveMonitor& command);
  static bool at_rest(const HotBook& book);
  void check_point(HotBook& book);

  // account.cpp
  ItemResult decide(HotBook& book, CreateAccount& command);
  ItemResult decide(HotBook& book, const ChangeAccount& command);
  AccountAt add_account(HotBook& book, Account row);
  Or<std::vector<AccountLimits>> merged_limits(HotBook& book, const Account* account,
                                               const std::vector<LimitsIn>& limits,
                                               const std::vector<std::string>& removed);
  ItemResult same_account(HotBook& book, AccountAt account, const CreateAccount& command);

  // transaction.cpp
  ItemResult decide(HotBook& book, CreateTransaction& command);
  ItemResult decide(HotBook& book, const AssertConditions& command);
  Or<void> resolve_entries(HotBook& book, const CreateTransaction& command, TransactionMade& made);
  Or<void> check_effective(const HotBook& book, Instant effective_at) const;
  std::size_t touch(AccountAt account, CurrencyNumber currency);
  Or<void> move_touched(bool resolving);
  Or<void> check_touched(HotBook& book, bool force);
  Or<void> check_limits(HotBook& book, const Touch& touch,
                        const std::optional<Counters128>& unforced) const;
  Or<void> check_condition(HotBook& book, const Condition& condition, Condition::At at);
  Or<void> check_conditions(HotBook& book, const CreateTransaction& command, Condition::At at);
  Or<void> check_history(HotBook& book, Instant effective_at);
  void enter(HotBook& book, const TransactionMade& made);
  ItemResult make(HotBook& book, TransactionMade& made, const std::vector<MetadataIn>& metadata,
                  const std::vector<EntryIn>* entries);
  std::optional<std::uint64_t> seq_of_transaction(HotBook& book, const std::string& id);
  std::optional<std::uint64_t> seq_of_key(HotBook& book, const std::string& key);
  TransactionMade transaction_of(HotBook& book, std::uint64_t seq);
  /// nullopt: there is none of that id or key. A member's name: it differs there.
  Or<std::optional<std::uint64_t>> find_repeated(HotBook& book,
                                                 const std::optional<std::string>& id,
                                                 const std::optional<std::string>& key);
  ItemResult repeated(HotBook& book, std::uint64_t seq, const TransactionMade& made);
  std::string different_member(HotBook& book, std::uint64_t seq, const TransactionMade& made,
                               const CreateTransaction& command);
  std::string digest_of(HotBook& book, const std::vector<EntryIn>& entries);
  std::string digest_of(HotBook& book, const std::vector<Condition>& conditions);
  /// Did the record `seq` give the object exactly these?
  bool same_metadata(HotBook& book, Metadata::Of of, std::uint64_t number, std::uint64_t seq,
                     std::uint32_t entry, const std::vector<MetadataIn>& metadata);

  // detail.cpp
  ItemResult decide(HotBook& book, const Unreadable& command);
  /// Fills Applied::detail. REQUIRES: the operation was `operation`, and nothing came after it.
  void describe(HotBook& book, const Operation& operation, Applied& applied);
  TransactionView transaction_view(HotBook& book, std::uint64_t seq);
  AccountView account_view(HotBook& book, AccountAt account);
  BookView book_view(HotBook& book);
  /// Of everything that the operation has moved.
  std::vector<BalanceAfter> balances_of_touched(const HotBook& book) const;
  std::vector<BalanceAfter> balances_after(HotBook& book, const TransactionView& view,
                                           bool replayed);

  // hold.cpp
  ItemResult decide(HotBook& book, PostHold& command);
  ItemResult decide(HotBook& book, VoidHold& command);
  void open_hold(HotBook& book, std::uint64_t seq, const TransactionMade& made);
  bool expire_due(HotBook& book);
  bool release_due(HotBook& book);
  void expire(HotBook& book, const OpenHold& hold);
  void enter(HotBook& book, const HoldExpired& expired, const TransactionMade& hold,
             Outcome outcome);
  void resolve(Outcome outcome, const TransactionMade& made, std::uint64_t seq);
  Or<std::pair<std::uint64_t, TransactionMade>> find_target(HotBook& book, const std::string& of);
  Or<Outcome> open_outcome(HotBook& book, std::uint64_t seq, const TransactionMade& made);
  /// The first member of a post, void or reverse that is not as it was.
  std::string different_following(HotBook& book, std::uint64_t seq, const TransactionMade& made,
                                  const Following& command,
                                  const std::optional<std::string>& target);
  bool same_amounts(HotBook& book, const TransactionMade& made, const std::string& target,
                    const std::optional<std::vector<Amount>>& amounts);
  ItemResult differs(const TransactionMade& made, const std::string& member);
  /// What is asked of each entry of the target; REQUIRES: as many `most` as it has entries.
  Or<std::vector<Amount>> amounts_within(const TransactionMade& target,
                                         const std::optional<std::vector<Amount>>& asked,
                                         const std::vector<Amount>& most, Code beyond);
  void add_released(HotBook& book, const TransactionMade& hold,
                    const std::vector<Released>& released);

  // reverse.cpp
  ItemResult decide(HotBook& book, ReverseTransaction& command);
  void take_back(Outcome outcome, const TransactionMade& made, std::uint64_t seq);

  // import.cpp
  Or<HotBook*> begin_import(TenantId tenant, const std::string& id, const ImportRecords& command);
  ItemResult decide(HotBook& book, const ImportRecords& command);
  Or<void> import_record(HotBook& book, const ImportRecords::One& one);
  Or<void> take_in(HotBook& book, const BookCreated& made);
  Or<void> take_in(HotBook& book, const BookChanged& changed);
  Or<void> take_in(HotBook& book, const CurrencyAdded& added);
  Or<void> take_in(HotBook& book, const BookClosed& closed);
  Or<void> take_in(HotBook& book, const AccountCreated& made);
  Or<void> take_in(HotBook& book, const AccountChanged& changed);
  Or<void> take_in(HotBook& book, const LimitsChanged& changed);
  Or<void> take_in(HotBook& book, const TransactionMade& made);
  Or<void> take_in(HotBook& book, const HoldExpired& expired);
  Or<void> take_in(HotBook& book, const MetadataSet& set);
  Or<void> take_in(HotBook& book, const MetadataErased& erased);
  Or<void> take_in(HotBook& book, const Checkpoint& checkpoint);
  Or<void> take_in(HotBook& book, const KeyChanged& changed);
  Or<void> import_resolution(HotBook& book, const TransactionMade& made);
  Or<void> import_reversal(HotBook& book, const TransactionMade& made);
  Or<void> import_entries(HotBook& book, const TransactionMade& made);
  Or<std::vector<AccountLimits>> imported_limits(HotBook& book, const Account& account,
                                                 const std::vector<LimitsOf>& limits);
  Or<AccountAt> imported_account(HotBook& book, const std::string& id);
  Or<void> import_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                           const std::vector<MetadataHash>& hashes, std::size_t entries = 0);

  // metadata.cpp
  ItemResult decide(HotBook& book, const SetTransactionMetadata& command);
  ItemResult decide(HotBook& book, const EraseMetadata& command);
  /// Hashes for the record; the values are in the batch.
  std::vector<MetadataHash> set_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                                         std::uint64_t seq, const std::vector<MetadataIn>& metadata,
                                         const std::vector<EntryIn>* entries = nullptr);
  static Or<void> check_metadata_of_new(const std::vector<MetadataIn>& metadata);
  Or<void> check_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                          const std::vector<MetadataIn>& metadata);
  std::vector<MetadataValue> metadata_now(const HotBook& book, Metadata::Of of,
                                          std::uint64_t number);
  void index(HotBook& book, Metadata::Of of, std::uint64_t number, const std::string& key,
             const std::string* before, const std::string* after);
  bool erase_values(HotBook& book, Metadata::Of of, std::uint64_t number,
                    const std::vector<std::string>& keys);

  // rollup.cpp
  ItemResult decide(HotBook& book, const SetRollup& command);
  void add_to_rollups(AccountAt account, const Movement& movement, CurrencyNumber currency,
                      bool first);
  void take_accounts(HotBook& book, HotRollup& rollup);

  // recon.cpp
  ItemResult decide(HotBook& book, const SetReconSource& command);
  ItemResult decide(HotBook& book, const ImportReconLines& command);
  ItemResult decide(HotBook& book, const DecideRecon& command);
  Or<void> take_in(HotBook& book, const ReconSourceSet& set);
  Or<void> take_in(HotBook& book, const Reconciled& made);
  std::uint32_t next_source_number(HotBook& book);
  Or<ReconSource> recon_source(HotBook& book, const std::string& id);
  Or<ReconLine> read_line(HotBook& book, const ReconSource& source, const ReconLineIn& in);
  bool is_free(const ReconSource& source, const EntryPlace& place);
  Or<std::vector<FreeEntry>> free_entries(HotBook& book, const ReconSource& source, Instant from,
                                          Instant to);
  std::vector<FreeEntry> entries_of_reference(HotBook& book, const ReconSource& source,
                                              const std::string& reference);
  std::optional<ReconFound> find_match(HotBook& book, const ReconSource& source,
                                       const ReconLine& line, const std::vector<FreeEntry>& free,
                                       const Rivals& rivals);
  Or<std::vector<EntryPlace>> named_entries(HotBook& book, const ReconSource& source,
                                            const std::vector<EntryName>& names, Signed& sum);
  void settle(const ReconSource& source, std::optional<ReconLine> line,
              ReconDecision::Action action, ReconRule rule, const std::vector<EntryPlace>& entries);
  ReconDecision decision_of(HotBook& book, const ReconLine* line, ReconDecision::Action action,
                            ReconRule rule, const std::vector<EntryPlace>& entries);
  std::uint64_t record_decisions(HotBook& book, const std::string& source,
                                 std::vector<ReconDecision> decisions);

  // event.cpp
  template <class Write>
  void tell(HotBook& book, std::string_view type, std::uint64_t seq, Instant recorded_at,
            Write write);
  void tell_of_transaction(HotBook& book, std::string_view type, const TransactionView& view,
                           std::uint64_t seq, Instant recorded_at, bool balances);
  void tell_of_transaction(HotBook& book, const TransactionMade& made, std::uint64_t seq);
  void tell_of_metadata(HotBook& book, std::uint64_t of, Instant recorded_at, std::uint64_t seq);
  void tell_of_expiry(HotBook& book, const HoldExpired& expired, std::uint64_t of,
                      std::uint64_t seq);
  void tell_of_account(HotBook& book, AccountAt account, std::string_view type, std::uint64_t seq);
  void tell_of_book(HotBook& book, std::string_view type, std::uint64_t seq);
  void tell_of_checkpoint(HotBook& book, const Checkpoint& checkpoint, std::uint64_t seq);
  void tell_monitors(HotBook& book, std::uint64_t seq, Instant recorded_at);
  void send_events();
  void write_balances(HotBook& book, JsonWriter& json);

  class Fresh;
  class LateRows;

  const Tenants& tenants_;
  Timers& timers_;
  Messages& messages_;
  Queues& queues_;

  HotBooks books_;
  std::map<std::pair<TenantId, std::string>, HotBooks::iterator> book_at_;
  HotAccounts accounts_;
  std::size_t account_bytes_ = 0;
  std::uint64_t batch_count_ = 1;

  // Of this batch: what flush() writes.
  std::vector<AccountAt> dirty_accounts_;
  std::vector<Block> sealed_;
  std::size_t expired_ = 0;  ///< holds, at most
  Overlay<Name> names_;
  Overlay<Outcome> outcomes_;
  Overlay<OpenHold> holds_;
  Overlay<Metadata> metadata_;
  Overlay<IndexEntry> index_;
  Overlay<Late> late_;
  Overlay<Monitor> monitors_;
  Overlay<ReconSource> recon_sources_;
  Overlay<ReconLine> recon_lines_;
  Overlay<ReconDay> recon_days_;
  Overlay<ReconEntry> recon_entries_;
  Overlay<Rollup> rollups_;  ///< those that are removed; what is kept is in the books

  // Of the group.
  bool in_group_ = false;
  GroupOptions options_{};
  std::uint64_t group_count_ = 0;
  std::size_t operation_ = 0;  ///< of the group
  std::vector<SavedBook> saved_books_;
  std::vector<SavedAccount> saved_accounts_;
  std::size_t sealed_mark_ = 0;
  std::size_t dirty_mark_ = 0;  ///< of dirty_accounts_
  struct Event {
    TenantId tenant{};
    std::string book{};
    std::string type{};
    std::string body{};
  };
  std::vector<Event> events_;
  struct AtEnd {
    AccountAt account{};
    CurrencyNumber currency = 0;
    Counters128 before{};
    std::optional<Counters128> unforced{};  ///< before the first that was not forced
    std::size_t operation = 0;
  };
  std::vector<AtEnd> at_end_;
  std::map<std::tuple<BookNumber, std::uint64_t, CurrencyNumber>, std::size_t> at_end_place_;

  // Of the operation.
  std::vector<Touch> touched_;
  std::vector<Leg> legs_;
  const std::vector<MetadataValue>* imported_values_ = nullptr;  ///< of the record of an import
};

}  // namespace ledger
}  // namespace hk::core
