#include "core/ledger/ledger.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sometimes.h"
#include "core/ledger/chain.h"
#include "core/ledger/history.h"
#include "core/ledger/inside.h"
#include "core/ledger/late.h"
#include "core/tenant/tenants.h"
#include "core/timer/timers.h"

HK_SOMETIMES_DECLARE(ledger_account_read_again)
HK_SOMETIMES_DECLARE(ledger_account_forgotten)
HK_SOMETIMES_DECLARE(ledger_accounts_read_ahead)
HK_SOMETIMES_DECLARE(ledger_found_by_path)
HK_SOMETIMES_DECLARE(ledger_book_read_again)
HK_SOMETIMES_DECLARE(ledger_book_forgotten)
HK_SOMETIMES_DECLARE(ledger_clock_behind)
HK_SOMETIMES_DECLARE(ledger_movement_late)
HK_SOMETIMES_DECLARE(ledger_block_written)

namespace hk::core::ledger {

namespace {

constexpr std::size_t segments_back = 64;
constexpr Millis checkpoint_every{60'000};

std::size_t memory_of(const Account& row) {
  // What an entry of the list and two of the map of names take, roughly.
  std::size_t bytes = sizeof(HotAccount) + 256 + 3 * row.id.size() + 2 * row.path.size() +
                      row.limits.capacity() * sizeof(AccountLimits);
  for (const Standing& standing : row.standings) {
    bytes += sizeof(Standing) + standing.last.movements.capacity();
  }
  return bytes;
}

Moment moment_after(Instant instant) { return std::chrono::ceil<Millis>(instant); }

}  // namespace

Ledger::Ledger(Context& context, const Tenants& tenants, Timers& timers, Messages& messages,
               Queues& queues)
    : Component(context),
      tenants_(tenants),
      timers_(timers),
      messages_(messages),
      queues_(queues),
      names_(context.batch),
      outcomes_(context.batch),
      holds_(context.batch),
      metadata_(context.batch),
      index_(context.batch),
      late_(context.batch),
      monitors_(context.batch),
      recon_sources_(context.batch),
      recon_lines_(context.batch),
      recon_days_(context.batch),
      recon_entries_(context.batch),
      rollups_(context.batch) {}

Ledger::~Ledger() = default;

Reply Ledger::execute(LedgerCommand&& command) {
  return decide(std::move(std::get<Apply>(command)));
}

Instant Ledger::now() const { return Instant{batch_.now()}; }

/// Strictly after the record before it, also when the clock stands or steps back.
Instant Ledger::next_instant(const HotBook& book) const {
  const Instant after = book.recorded_at + std::chrono::nanoseconds{1};
  if (book.seq != 0 && after > now()) {
    HK_SOMETIMES(ledger_clock_behind);
    return after;
  }
  return now();
}

// ---- books ----

HotBook* Ledger::find_book(TenantId tenant, const std::string& id) {
  const auto found = book_at_.find({tenant, id});
  if (found == book_at_.end()) {
    return load_book(tenant, id);
  }
  const HotBooks::iterator book = found->second;
  if (book->used_in != batch_count_) {
    book->used_in = batch_count_;
    books_.splice(books_.begin(), books_, book);
  }
  return &*book;
}

HotBook& Ledger::keep_book(TenantId tenant, const std::string& id) {
  HotBook& book = books_.emplace_front();
  book.used_in = batch_count_;
  book_at_[{tenant, id}] = books_.begin();
  return book;
}

HotBook* Ledger::load_book(TenantId tenant, const std::string& id) {
  auto row = batch_.reader().get<Book>({tenant, id});
  if (!row) {
    return nullptr;
  }
  HK_SOMETIMES(ledger_book_read_again);
  Reader& reader = batch_.reader();
  HotBook& book = keep_book(tenant, id);
  book.row = std::move(*row);
  const BookNumber number = book.row.number;
  const Head head = head_of(reader, tenant, number);
  book.seq = head.seq;
  book.hash = head.hash;
  book.recorded_at = head.recorded_at;

  const auto numbers = static_cast<std::uint32_t>(Name::Kind::number);
  const auto last = reader.scan(Range<Name>::of(tenant, number, numbers), 1, Order::descending);
  if (!last.empty()) {
    book.accounts = read_be<std::uint64_t>(last.front().name);
  }
  const auto first_hold = reader.scan(Range<OpenHold>::of(tenant, number), 1);
  if (!first_hold.empty()) {
    book.next_expiry = instant_from_ordered(first_hold.front().expires);
    if (book.next_expiry != no_end && !book.row.importing) {
      book.expiry_timer = moment_after(book.next_expiry);  // or an earlier one is set
    }
  }
  book.monitors = reader.scan(Range<Monitor>::of(tenant, number));
  for (Rollup& rollup : reader.scan(Range<Rollup>::of(tenant, number))) {
    if (!rollup.complete) {
      book.rollup_timer = batch_.now();  // it is set
    }
    book.rollups.push_back({std::move(rollup)});
  }
  book.monitors_made = book.monitors.empty() ? 0 : book.monitors.back().number;

  // Back to the last checkpoint.
  book.uncovered_from = 1;
  std::uint64_t below = book.seq + 1;
  std::vector<Hash> newest_first;
  for (bool found = false; !found && below > 1;) {
    const auto segments =
        reader.scan(Range<Segment>::of(tenant, number).before(tenant, number, below), segments_back,
                    Order::descending);
    HK_ASSERT(!segments.empty());
    for (const Segment& segment : segments) {
      for (auto one = segment.records.rbegin(); one != segment.records.rend() && !found; ++one) {
        found = one->kind == checkpoint_kind;
        if (found) {
          book.uncovered_from = one->seq + 1;
        } else {
          newest_first.push_back(one->hash);
          book.uncovered_since = one->recorded_at;
        }
      }
      below = segment.first_seq;
    }
  }
  book.uncovered.assign(newest_first.rbegin(), newest_first.rend());
  if (!book.uncovered.empty() && !at_rest(book)) {
    book.checkpoint_timer = moment_after(book.uncovered_since) + checkpoint_every;
  }

  const std::string place = sealing_place(tenant, id);
  if (context_.sealing.open) {
    auto opened = context_.sealing.open(book.row.sealed_key, place);
    if (!opened) {
      throw CorruptRecord("the key of the ledger book " + id + " does not open");
    }
    book.key = std::move(*opened);
  } else {
    book.key = Secret(book.row.sealed_key);
  }
  return &book;
}

Book& Ledger::change(HotBook& book) {
  save(book);
  book.dirty = true;
  return book.row;
}

const Currency* Ledger::currency_of(HotBook& book, std::string_view code) {
  const auto own = std::ranges::find(book.row.currencies, code, &Currency::code);
  return own != book.row.currencies.end() ? &*own : iso_currency(code);
}

// ---- accounts ----

std::optional<Ledger::AccountAt> Ledger::find_account(HotBook& book, std::string_view name) {
  const auto found = book.names.find(name);
  if (found != book.names.end()) {
    const AccountAt account = found->second;
    if (account->used_in != batch_count_) {
      account->used_in = batch_count_;
      accounts_.splice(accounts_.begin(), accounts_, account);
    }
    return account;
  }
  const std::string text(name);
  auto row = batch_.reader().get<Account>({book.row.tenant, book.row.number, text});
  if (!row) {
    const auto path = names_.get(
        {book.row.tenant, book.row.number, static_cast<std::uint32_t>(Name::Kind::path), text});
    if (!path) {
      return std::nullopt;
    }
    HK_SOMETIMES(ledger_found_by_path);
    if (const auto known = book.names.find(path->account); known != book.names.end()) {
      book.names.emplace(text, known->second);  // forgotten with it: it is its path
      return known->second;
    }
    row = batch_.reader().get<Account>({book.row.tenant, book.row.number, path->account});
    if (!row) {
      throw CorruptRecord("the ledger account " + path->account + " is missing");
    }
  }
  HK_SOMETIMES(ledger_account_read_again);
  return keep(book, std::move(*row));
}

/// One by one, reading is most of what a batch over many accounts takes.
void Ledger::read_ahead(const Apply& command) {
  constexpr std::size_t worth_it = 4;
  constexpr std::size_t piece = 1024;
  if (command.items.size() < worth_it / 2) {
    return;
  }
  HotBook* const book = find_book(command.tenant, command.book);
  if (book == nullptr) {
    return;
  }
  std::vector<std::string_view> names;
  for (const Item& item : command.items) {
    if (const auto* const create = std::get_if<CreateTransaction>(&item.operation)) {
      for (const EntryIn& entry : create->entries) {
        if (!entry.account.empty() && !book->names.contains(entry.account)) {
          names.push_back(entry.account);
        }
      }
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  if (names.size() < worth_it) {
    return;
  }
  HK_SOMETIMES(ledger_accounts_read_ahead);
  for (std::size_t at = 0; at < names.size(); at += piece) {
    std::vector<KeyOf<Account>> keys;
    for (std::size_t i = at; i < std::min(names.size(), at + piece); ++i) {
      keys.emplace_back(book->row.tenant, book->row.number, names[i]);
    }
    // One that is not found may be a path: find_account() asks for it when its turn comes.
    for (auto& row : batch_.reader().get_many<Account>(keys)) {
      if (row) {
        keep(*book, std::move(*row));
      }
    }
  }
}

Ledger::AccountAt Ledger::keep(HotBook& book, Account row) {
  accounts_.push_front(HotAccount{.book = &book, .row = std::move(row), .used_in = batch_count_});
  const AccountAt account = accounts_.begin();
  account->bytes = memory_of(account->row);
  account_bytes_ += account->bytes;
  book.names.emplace(account->row.id, account);
  if (account->row.path != account->row.id) {
    book.names.emplace(account->row.path, account);
  }
  return account;
}

Account& Ledger::change(AccountAt account) {
  save(account);
  if (!account->dirty) {
    account->dirty = true;
    dirty_accounts_.push_back(account);
  }
  return account->row;
}

Standing& Ledger::standing_of(Account& account, CurrencyNumber currency) {
  const auto at = std::ranges::lower_bound(account.standings, currency, {}, &Standing::currency);
  return at != account.standings.end() && at->currency == currency
             ? *at
             : *account.standings.insert(at, Standing{.currency = currency});
}

void Ledger::forget(AccountAt account) {
  account->book->names.erase(account->row.id);
  account->book->names.erase(account->row.path);
  account_bytes_ -= account->bytes;
  accounts_.erase(account);
}

/// Those that were used long ago go, when all are written.
void Ledger::forget_accounts() {
  while (account_bytes_ > limits_.ledger_account_bytes && !accounts_.empty()) {
    HK_SOMETIMES(ledger_account_forgotten);
    forget(std::prev(accounts_.end()));
  }
}

void Ledger::forget_books() {
  while (books_.size() > limits_.ledger_books) {
    HK_SOMETIMES(ledger_book_forgotten);
    HotBook& last = books_.back();
    while (!last.names.empty()) {
      forget(last.names.begin()->second);
    }
    book_at_.erase({last.row.tenant, last.row.id});
    books_.pop_back();
  }
}

// ---- movements ----

class Ledger::LateRows : public LateNodes {
 public:
  LateRows(Ledger& ledger, const Account& account, CurrencyNumber currency)
      : ledger_(ledger), account_(account), currency_(currency) {}
  Late get(std::uint64_t node) override {
    auto found =
        ledger_.late_.get({account_.tenant, account_.book, account_.number, currency_, node});
    if (!found) {
      throw CorruptRecord("a node of late movements of the ledger account " + account_.id +
                          " is missing");
    }
    return std::move(*found);
  }
  void put(Late node) override { ledger_.late_.put(std::move(node)); }

 private:
  Ledger& ledger_;
  const Account& account_;
  CurrencyNumber currency_;
};

void Ledger::seal_run(AccountAt account, Standing& standing) {
  HK_SOMETIMES(ledger_block_written);
  Block block{.tenant = account->row.tenant,
              .book = account->row.book,
              .account = account->row.number,
              .currency = standing.currency};
  std::swap(block.run, standing.last);
  sealed_.push_back(std::move(block));
}

void Ledger::move(AccountAt account, CurrencyNumber currency, Movement movement) {
  Account& row = change(account);
  Standing& standing = standing_of(row, currency);
  movement.late = movement.effective_at < standing.effective_max;
  const bool new_record = standing.last.count == 0 || standing.last.last_seq != movement.seq;
  if (new_record) {
    if (standing.last.count >= block_movements) {
      seal_run(account, standing);
    }
    if (standing.last.count == 0) {
      standing.last.before = standing.now;
      standing.last.late_before = standing.late;
      standing.last.version_before = standing.version;
      standing.last.effective_before = standing.effective_max;
    }
    ++standing.version;
  }
  append(standing.last, movement);
  if (!account->book->rollups.empty()) {
    add_to_rollups(account, movement, currency, new_record && standing.version == 1);
  }
  const Counters128 moved = counters_of(movement);
  standing.now += moved;
  if (movement.late) {
    HK_SOMETIMES(ledger_movement_late);
    standing.late += moved;
    LateRows nodes(*this, row, currency);
    insert_late(
        nodes,
        Late{.tenant = row.tenant, .book = row.book, .account = row.number, .currency = currency},
        standing.late_root, standing.late_last_node, movement);
  } else {
    standing.effective_max = movement.effective_at;
  }
}

// ---- the log ----

std::uint64_t Ledger::record(HotBook& book, std::string_view kind, std::string payload,
                             Instant recorded_at) {
  HK_ASSERT(book.seq == 0 || recorded_at > book.recorded_at);
  save(book);
  if (book.records.empty()) {
    book.hash_before_records = book.hash;
  }
  const std::uint64_t seq = ++book.seq;
  book.hash = record_hash(book.row.id, seq, book.hash, kind, payload);
  book.recorded_at = recorded_at;
  if (kind != checkpoint_kind) {
    if (book.uncovered.empty()) {
      book.uncovered_since = recorded_at;
    }
    book.uncovered.push_back(book.hash);
  }
  book.records.push_back({seq, recorded_at, std::string(kind), std::move(payload), book.hash});
  return seq;
}

Record Ledger::record_at(HotBook& book, std::uint64_t seq) {
  if (!book.records.empty() && seq >= book.records.front().seq) {
    HK_ASSERT(seq <= book.seq);
    return book.records[static_cast<std::size_t>(seq - book.records.front().seq)];
  }
  auto found = find_record(batch_.reader(), book.row.tenant, book.row.number, seq);
  if (!found) {
    throw CorruptRecord("record " + std::to_string(seq) + " of the ledger book " + book.row.id +
                        " is missing");
  }
  return std::move(found->record);
}

// ---- what a batch comes to ----

void Ledger::flush(HotBook& book) {
  Hash prev = book.hash_before_records;
  Segment segment;
  std::size_t bytes = 0;
  const auto write = [&] {
    if (segment.records.empty()) {
      return;
    }
    const Hash last = segment.records.back().hash;
    batch_.put(Put<SegmentTime>{{segment.tenant, segment.book,
                                 ordered(segment.records.front().recorded_at), segment.first_seq}});
    batch_.put(Put<Segment>{std::move(segment)});
    segment = {};
    prev = last;
    bytes = 0;
  };
  for (Record& record : book.records) {
    if (segment.records.empty()) {
      segment.tenant = book.row.tenant;
      segment.book = book.row.number;
      segment.first_seq = record.seq;
      segment.prev_hash = prev;
      segment.records.reserve(std::min(segment_records, book.records.size()));
    }
    bytes += record.payload.size();
    segment.records.push_back(std::move(record));
    if (segment.records.size() >= segment_records || bytes >= segment_bytes) {
      write();
    }
  }
  write();
  book.records.clear();
  if (book.dirty) {
    book.dirty = false;
    batch_.put(Put<Book>{book.row});
  }
}

/// There is a timer not after whatever comes next of the book: an earlier one looks and sets it
/// anew.
void Ledger::set_timers(HotBook& book) {
  if (!book.row.importing && book.next_expiry != no_end &&
      moment_after(book.next_expiry) < book.expiry_timer) {
    book.expiry_timer = moment_after(book.next_expiry);
    timers_.set(book.expiry_timer, Timer::Kind::ledger_expiry, book.row.tenant, book.row.id);
  }
  if (!book.uncovered.empty() && book.checkpoint_timer == never && !at_rest(book)) {
    book.checkpoint_timer = moment_after(book.uncovered_since) + checkpoint_every;
    timers_.set(book.checkpoint_timer, Timer::Kind::ledger_checkpoint, book.row.tenant,
                book.row.id);
  }
  const bool grows = std::ranges::any_of(
      book.rollups, [](const HotRollup& rollup) { return !rollup.row.complete; });
  if (grows && book.rollup_timer == never) {
    book.rollup_timer = batch_.now();
    timers_.set(book.rollup_timer, Timer::Kind::ledger_rollup, book.row.tenant, book.row.id);
  }
}

void Ledger::flush() {
  HK_ASSERT(!in_group_);
  for (HotBook& book : books_) {
    if (book.used_in != batch_count_) {
      break;  // nor are those behind it of this batch
    }
    if (!book.records.empty() || book.dirty) {
      set_timers(book);
      flush(book);
    }
  }
  // In the order of their keys: then the store finds the place of a row beside that of the last.
  std::ranges::sort(dirty_accounts_, {}, [](AccountAt account) { return key_of(account->row); });
  for (const AccountAt account : dirty_accounts_) {
    for (Standing& standing : account->row.standings) {
      if (standing.last.count >= run_movements) {
        seal_run(account, standing);
      }
    }
    account->dirty = false;
    account_bytes_ -= std::exchange(account->bytes, memory_of(account->row));
    account_bytes_ += account->bytes;
    batch_.put(Put<Account>{account->row});
  }
  dirty_accounts_.clear();
  for (Block& block : sealed_) {
    batch_.put(Put<BlockTime>{{block.tenant, block.book, block.account, block.currency,
                               ordered(block.run.effective_before), block.run.first_seq}});
    batch_.put(Put<Block>{std::move(block)});
  }
  sealed_.clear();
  expired_ = 0;
  names_.flush();
  outcomes_.flush();
  holds_.flush();
  metadata_.flush();
  index_.flush();
  late_.flush();
  monitors_.flush();
  recon_sources_.flush();
  recon_lines_.flush();
  recon_days_.flush();
  recon_entries_.flush();
  rollups_.flush();  // before those that were made anew
  for (HotBook& book : books_) {
    if (book.used_in != batch_count_) {
      break;
    }
    for (HotRollup& rollup : book.rollups) {
      if (std::exchange(rollup.dirty, false)) {
        batch_.put(Put<Rollup>{rollup.row});
      }
    }
  }
  ++batch_count_;
  forget_books();
  forget_accounts();
}

}  // namespace hk::core::ledger
