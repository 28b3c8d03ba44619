// The life of the ledger's reference: operations alone and in groups, records, expiry, checkpoints,
// events, and how all of it is taken back.
#include "sim/model_ledger.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "core/ledger/chain.h"
#include "security/digest.h"
#include "security/ed25519.h"
#include "sim/ledger_text.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

constexpr std::uint64_t covered_max = 1024;
constexpr std::int64_t covered_within = 60'000'000'000;  ///< ns

LedgerItem linked() { return {.code = ledger::Code::linked_failed}; }

}  // namespace

// ---- integers ----

Wide operator+(Wide a, Wide b) {
  Wide sum{.high = a.high + b.high, .low = a.low + b.low};
  sum.high += sum.low < a.low ? 1 : 0;
  return sum;
}
Wide operator-(Wide a, Wide b) {
  Wide rest{.high = a.high - b.high, .low = a.low - b.low};
  rest.high -= a.low < b.low ? 1 : 0;
  return rest;
}
Wide Wide::of(const ledger::Signed& value) {
  const Wide magnitude{.low = value.magnitude};
  return value.negative ? Wide{} - magnitude : magnitude;
}
ledger::Signed Wide::told() const {
  if (high >= 0) {
    return {false, high == 0 ? low : ledger::amount_max};
  }
  const Wide magnitude = Wide{} - *this;
  return {true, magnitude.high == 0 ? magnitude.low : ledger::amount_max};
}

Wide reading_of(const LedgerCounters& counters, ledger::AccountType type, ledger::Reading which) {
  const bool debit = type == ledger::AccountType::asset || type == ledger::AccountType::expense;
  const auto wide = [&](std::size_t of) { return Wide{.low = counters[of]}; };
  const Wide posted = debit ? wide(0) - wide(1) : wide(1) - wide(0);
  const Wide in = debit ? wide(2) : wide(3);
  const Wide out = debit ? wide(3) : wide(2);
  switch (which) {
    case ledger::Reading::posted: return posted;
    case ledger::Reading::pending: return posted + in - out;
    case ledger::Reading::available: return posted - out;
  }
  return {};
}

ledger::Hash chain_hash(const std::string& book, std::uint64_t seq, const ledger::Hash& before,
                        const std::string& kind, const std::string& payload) {
  std::string bytes(1, '\1');
  append_be(bytes, static_cast<std::uint16_t>(book.size()));
  bytes += book;
  append_be(bytes, seq);
  bytes.append(reinterpret_cast<const char*>(before.data()), before.size());
  append_be(bytes, static_cast<std::uint16_t>(kind.size()));
  bytes += kind;
  append_be(bytes, static_cast<std::uint32_t>(payload.size()));
  bytes += payload;
  return security::sha256(bytes);
}

// ---- what changes, and how it is taken back ----

template <class Map>
void LedgerModel::save(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) {
    undo_.push_back({batch_, [&map, key] { map.erase(key); }});
    return;
  }
  undo_.push_back({batch_, [&map, key, before = found->second] { map[key] = before; }});
}
template void LedgerModel::save(std::map<std::pair<Named, std::string>, std::string>&,
                                const std::pair<Named, std::string>&);
template void LedgerModel::save(std::map<std::pair<Named, std::string>, std::uint64_t>&,
                                const std::pair<Named, std::string>&);
template void LedgerModel::save(std::map<LedgerModel::ObjectKey, std::vector<LedgerFact>>&,
                                const LedgerModel::ObjectKey&);

void LedgerModel::crashed(store::BatchSeq survivor) {
  while (!undo_.empty() && undo_.back().batch > survivor) {
    undo_.back().back();
    undo_.pop_back();
  }
}

void LedgerModel::synced(store::BatchSeq batch) {
  const auto keep = std::find_if(undo_.begin(), undo_.end(),
                                 [batch](const Undo& undo) { return undo.batch > batch; });
  undo_.erase(undo_.begin(), keep);
}

LedgerBook& LedgerModel::change(const Named& key) {
  save(books_, key);
  changed_books_.push_back(key);
  return books_[key];
}
LedgerAccount& LedgerModel::change(const AccountKey& key) {
  save(accounts_, key);
  changed_accounts_.push_back(key);
  return accounts_[key];
}
LedgerTransaction& LedgerModel::change(const TransactionKey& key) {
  save(transactions_, key);
  changed_transactions_.push_back(key);
  return transactions_[key];
}

void LedgerModel::begin(store::BatchSeq batch, Moment time, const Decoded& written) {
  batch_ = batch;
  time_ = time;
  written_ = &written;
  matched_ = 0;
  changed_books_.clear();
  changed_accounts_.clear();
  changed_transactions_.clear();
  taken_ids_.clear();
}

std::int64_t LedgerModel::now() const { return ledger::to_ns(ledger::Instant{time_}); }

// ---- records ----

/// Strictly after the one before.
std::int64_t LedgerModel::next_recorded(const Named& key) const {
  const LedgerBook& book = books_.at(key);
  return book.seq == 0 ? now() : std::max(now(), book.recorded + 1);
}

std::uint64_t LedgerModel::record(const Named& key, ledger::Payload want,
                                  const std::string& account) {
  const std::int64_t recorded = next_recorded(key);
  LedgerBook& book = change(key);
  book.recorded = recorded;
  std::visit([&](auto& one) { one.recorded_at = ledger::instant_from_ns(recorded); }, want);
  drafts_.push_back({key, ++book.seq, recorded, std::move(want), account});
  return book.seq;
}

/// What was decided is written, in its order.
void LedgerModel::settle() {
  for (const Draft& draft : std::exchange(drafts_, {})) {
    settle(draft);
  }
}

namespace {

std::string name_of_record(const Named& book, std::uint64_t seq) {
  return "record " + std::to_string(seq) + " of the book " + book.second;
}

ledger::Hash tree_of(const ledger::Hash* hashes, std::size_t count) {
  std::string bytes;
  const auto add = [&bytes](const ledger::Hash& hash) {
    bytes.append(reinterpret_cast<const char*>(hash.data()), hash.size());
  };
  if (count == 1) {
    bytes.push_back('\0');
    add(hashes[0]);
    return security::sha256(bytes);
  }
  std::size_t left = 1;
  while (left * 2 < count) {
    left *= 2;
  }
  bytes.push_back('\1');
  add(tree_of(hashes, left));
  add(tree_of(hashes + left, count - left));
  return security::sha256(bytes);
}

/// Hashes are salted: only of which keys there is one is known before.
void take_hashes(std::vector<ledger::MetadataHash>& want,
                 const std::vector<ledger::MetadataHash>& got) {
  for (std::size_t i = 0; i < std::min(want.size(), got.size()); ++i) {
    if (want[i].hash && got[i].hash) {
      want[i].hash = got[i].hash;
    }
  }
}

/// What a record has that nobody can know before: salts, generated ids, keys, digests.
void take_over(ledger::Payload& want, const ledger::Payload& got) {
  if (auto* const made = std::get_if<ledger::TransactionMade>(&want)) {
    const auto& there = std::get<ledger::TransactionMade>(got);
    made->id = made->id.empty() && there.id.starts_with("ltx_") ? there.id : made->id;
    made->given = there.given;
    made->request_entries = there.request_entries;
    made->request_conditions = there.request_conditions;
    take_hashes(made->metadata, there.metadata);
  } else if (auto* const account = std::get_if<ledger::AccountCreated>(&want)) {
    const auto& there = std::get<ledger::AccountCreated>(got);
    if (account->id.empty() && there.id.starts_with("lac_")) {
      account->id = there.id;
      account->path = account->path.empty() ? there.id : account->path;
    }
    take_hashes(account->metadata, there.metadata);
  } else if (auto* const book = std::get_if<ledger::BookCreated>(&want)) {
    book->public_key = std::get<ledger::BookCreated>(got).public_key;
    take_hashes(book->metadata, std::get<ledger::BookCreated>(got).metadata);
  } else if (auto* const changed = std::get_if<ledger::BookChanged>(&want)) {
    take_hashes(changed->metadata, std::get<ledger::BookChanged>(got).metadata);
  } else if (auto* const other = std::get_if<ledger::AccountChanged>(&want)) {
    take_hashes(other->metadata, std::get<ledger::AccountChanged>(got).metadata);
  } else if (auto* const set = std::get_if<ledger::MetadataSet>(&want)) {
    take_hashes(set->metadata, std::get<ledger::MetadataSet>(got).metadata);
  }
}

}  // namespace

void LedgerModel::settle(const Draft& draft) {
  const std::string which = name_of_record(draft.book, draft.seq);
  if (draft.seq == 1) {
    const auto row = written_->ledger_books.find(draft.book);
    require(row != written_->ledger_books.end(), "ledger book",
            draft.book.second + " is not written");
    books_[draft.book].number = row->second.number;
    for (const auto& [key, other] : books_) {
      require(
          key == draft.book || key.first != draft.book.first || other.number != row->second.number,
          "ledger book", "two books have one number");
    }
  }
  LedgerBook& book = books_[draft.book];
  const auto found = written_->ledger_records.find({draft.book.first, book.number, draft.seq});
  require(found != written_->ledger_records.end(), "ledger log", which + " is not written");
  const ledger::Record& got = found->second;
  require(ledger::to_ns(got.recorded_at) == draft.recorded, "ledger log",
          which + " has another time than it must have");
  auto payload = ledger::decode(got.kind, got.payload);
  require(payload.has_value() && payload->index() == draft.want.index(), "ledger log",
          which + " is of the kind " + got.kind);
  ledger::Payload want = draft.want;
  take_over(want, *payload);
  require(*payload == want, "ledger log", which + " (" + got.kind + ") says something else");
  std::vector<ledger::Hash>& hashes = hashes_[draft.book];
  require(hashes.size() + 1 == draft.seq, "ledger log", which + " comes out of turn");
  const ledger::Hash before = hashes.empty() ? ledger::Hash{} : hashes.back();
  require(got.hash == chain_hash(draft.book.second, draft.seq, before, got.kind, got.payload),
          "ledger chain", which + " has a wrong hash");
  hashes.push_back(got.hash);
  recorded_[draft.book].push_back(draft.recorded);
  undo_.push_back({batch_, [this, key = draft.book] {
                     hashes_[key].pop_back();
                     recorded_[key].pop_back();
                   }});
  ++matched_;
  if (const auto* const made = std::get_if<ledger::TransactionMade>(&want)) {
    const auto known = transactions_.find({draft.book, draft.seq});
    if (known != transactions_.end() && known->second.id.empty()) {
      known->second.id = made->id;
      save(ids_, {draft.book, made->id});
      ids_[{draft.book, made->id}] = draft.seq;
    }
  } else if (const auto* const account = std::get_if<ledger::AccountCreated>(&want);
             account != nullptr && !draft.account.empty()) {
    // From now on it is known by the id that it was given.
    LedgerAccount row = accounts_.at({draft.book, draft.account});
    save(accounts_, {draft.book, draft.account});
    accounts_.erase({draft.book, draft.account});
    row.id = account->id;
    row.path = account->path;
    change(AccountKey{draft.book, account->id}) = std::move(row);
    for (const std::string& name : {account->id, account->path}) {
      save(names_, {draft.book, name});
      names_[{draft.book, name}] = account->id;
    }
  } else if (const auto* const made_book = std::get_if<ledger::BookCreated>(&want)) {
    book.public_key = made_book->public_key;
  }
}

// ---- checkpoints ----

/// Where one may come: not within a group.
void LedgerModel::check_point(const Named& key) {
  const auto found = books_.find(key);
  if (found == books_.end()) {
    return;
  }
  const auto next =
      written_->ledger_records.find({key.first, found->second.number, found->second.seq + 1});
  if (next != written_->ledger_records.end() && next->second.kind == "checkpoint") {
    check_point_written(key, next->second);
    send_events();
  }
}

void LedgerModel::check_point_written(const Named& key, const ledger::Record& got) {
  const std::int64_t recorded = next_recorded(key);
  LedgerBook& book = change(key);
  const std::string which = name_of_record(key, got.seq);
  const auto payload = ledger::decode(got.kind, got.payload);
  const auto* const checkpoint = payload ? std::get_if<ledger::Checkpoint>(&*payload) : nullptr;
  require(checkpoint != nullptr, "ledger checkpoint", which + " cannot be read");
  require(book.seq > book.covered, "ledger checkpoint", which + " covers nothing");
  const std::int64_t since = recorded_[key][book.covered];
  require(book.seq - book.covered >= covered_max || since + covered_within <= now(),
          "ledger checkpoint", which + " comes too early");
  std::vector<ledger::Hash>& hashes = hashes_[key];
  require(ledger::to_ns(got.recorded_at) == recorded &&
              checkpoint->recorded_at == got.recorded_at &&
              checkpoint->first_seq == book.covered + 1 && checkpoint->last_seq == book.seq &&
              checkpoint->last_hash == hashes.back() &&
              checkpoint->root == tree_of(&hashes[book.covered], book.seq - book.covered),
          "ledger checkpoint", which + " does not say what is in the log");
  const std::string text = "hikyaku-checkpoint-v1\n" + key.second + '\n' +
                           std::to_string(checkpoint->first_seq) + '\n' +
                           std::to_string(checkpoint->last_seq) + '\n' + hex(checkpoint->root) +
                           '\n' + hex(checkpoint->last_hash) + '\n';
  require(security::ed25519_verify(book.public_key, text, checkpoint->signature),
          "ledger checkpoint", which + " is not signed by its book");
  require(got.hash == chain_hash(key.second, got.seq, hashes.back(), got.kind, got.payload),
          "ledger chain", which + " has a wrong hash");
  hashes.push_back(got.hash);
  recorded_[key].push_back(recorded);
  undo_.push_back({batch_, [this, key] {
                     hashes_[key].pop_back();
                     recorded_[key].pop_back();
                   }});
  ++matched_;
  book.seq = got.seq;
  book.covered = got.seq;
  book.recorded = recorded;
  tell(key, "ledger.checkpoint.created",
       {"\"first_seq\":" + std::to_string(checkpoint->first_seq) + ",\"last_seq\":" +
        std::to_string(checkpoint->last_seq) + ",\"root\":\"" + hex(checkpoint->root) + "\""});
}

// ---- holds whose time is over ----

std::vector<const LedgerTransaction*> LedgerModel::open_holds(const Named& book) const {
  std::vector<const LedgerTransaction*> open;
  if (const auto found = open_.find(book); found != open_.end()) {
    for (const std::uint64_t seq : found->second) {
      open.push_back(&transactions_.at({book, seq}));
    }
  }
  return open;
}

void LedgerModel::put_open(const TransactionKey& key, bool open) {
  std::set<std::uint64_t>& all = open_[key.first];
  if (open) {
    all.insert(key.second);
  } else {
    all.erase(key.second);
  }
  undo_.push_back({batch_, [this, key, open] {
                     std::set<std::uint64_t>& now = open_[key.first];
                     if (open) {
                       now.erase(key.second);
                     } else {
                       now.insert(key.second);
                     }
                   }});
}

/// Before anything else of the book: the first to expire first.
void LedgerModel::expire_due(const Named& key) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> due;
  for (const LedgerTransaction* hold : open_holds(key)) {
    if (hold->expires && *hold->expires <= now()) {
      due.emplace_back(*hold->expires, hold->seq);
    }
  }
  std::ranges::sort(due);
  for (const auto& [expires, seq] : due) {
    touched_.clear();
    moved_.clear();
    LedgerTransaction& hold = change(TransactionKey{key, seq});
    ledger::HoldExpired want{.transaction = hold.id};
    for (std::size_t i = 0; i < hold.left.size(); ++i) {
      if (hold.left[i] != 0) {
        want.released.push_back({static_cast<std::uint32_t>(i), hold.left[i]});
        release(key, hold.entries[i], hold.left[i]);
      }
      hold.left[i] = 0;
    }
    const std::int64_t effective = std::max(next_recorded(key), hold.effective);
    const std::uint64_t record_seq = record(key, std::move(want));
    commit_moves(key, record_seq, effective);
    hold.state = LedgerTransaction::State::expired;
    put_open({key, seq}, false);
    hold.resolved_by.push_back(record_seq);
    std::vector<std::string> parts = balance_rows(key);
    parts.push_back("\"state\":\"expired\"");
    tell(key, "ledger.transaction.expired", std::move(parts), seq);
    tell_monitors(key);
    touched_.clear();
    moved_.clear();
  }
}

void LedgerModel::timers() {
  for (const core::Timer& timer : written_->timers_gone) {
    const Named key{timer.tenant, timer.key};
    if (timer.kind == core::Timer::Kind::idempotency_key || !books_.contains(key)) {
      continue;
    }
    expire_due(key);
    settle();
    send_events();
    check_point(key);
  }
}

// ---- operations ----

LedgerAnswer LedgerModel::apply(const ledger::Apply& command) {
  LedgerAnswer answer;
  answer.items.assign(command.items.size(), linked());
  const Named key{command.tenant, command.book};
  if (books_.contains(key)) {
    // What is over is over, whatever comes of the request.
    const std::uint64_t before = books_.at(key).seq;
    expire_due(key);
    if (books_.at(key).seq != before) {
      settle();
      send_events();
      check_point(key);
    }
  }
  if (command.preview && command.mode == ledger::Apply::Mode::independent) {
    const Mark mark = here();
    options_ = {.details = true, .preview = true, .may_force = command.may_force};
    for (std::size_t i = 0; i < command.items.size(); ++i) {
      answer.items[i] = one(key, command.items[i].operation);
    }
    take_back(mark);
    return answer;
  }
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < command.items.size(); ++i) {
    const std::string& name = command.items[i].group;
    if (command.mode == ledger::Apply::Mode::independent) {
      apply_alone(command, i, answer);
    } else if (command.mode == ledger::Apply::Mode::atomic) {
      groups.resize(1);
      groups.front().push_back(i);
    } else if (!name.empty() && known.contains(name)) {
      groups[known.at(name)].push_back(i);
    } else {
      known.emplace(name, groups.size());
      groups.push_back({i});
    }
  }
  for (const std::vector<std::size_t>& group : groups) {
    apply_together(command, group, answer);
  }
  for (LedgerItem& item : answer.items) {
    const auto made = transactions_.find({key, item.seq});
    if (item.accepted && item.id.empty() && made != transactions_.end()) {
      item.id = made->second.id;
    }
  }
  return answer;
}

void LedgerModel::apply_alone(const ledger::Apply& command, std::size_t at, LedgerAnswer& answer) {
  const Named key{command.tenant, command.book};
  if (!books_.contains(key)) {
    apply_together(command, {at}, answer);
    return;
  }
  options_ = {.details = command.details, .may_force = command.may_force};
  answer.items[at] = one(key, command.items[at].operation);
  settle();
  send_events();
  check_point(key);
}

void LedgerModel::apply_together(const ledger::Apply& command,
                                 const std::vector<std::size_t>& items, LedgerAnswer& answer) {
  const Named key{command.tenant, command.book};
  const Mark mark = here();
  options_ = {.limits_at_end = command.limits_at_end,
              .details = command.details || command.preview,
              .preview = command.preview,
              .may_force = command.may_force};
  operation_ = 0;
  at_end_.clear();
  std::optional<std::size_t> failed;
  LedgerItem why;
  for (const std::size_t i : items) {
    LedgerItem item = one(key, command.items[i].operation);
    if (!item.accepted) {
      failed = i;
      why = std::move(item);
      break;
    }
    ++operation_;
    answer.items[i] = std::move(item);
  }
  std::size_t last = 0;
  if (auto refusal = failed ? std::nullopt : check_end(last)) {
    failed = items[std::min(last, items.size() - 1)];
    why = std::move(*refusal);
  }
  at_end_.clear();
  if (!failed && !command.preview) {
    settle();
    send_events();
    check_point(key);
    return;
  }
  take_back(mark);
  if (!failed) {
    return;
  }
  for (const std::size_t i : items) {
    answer.items[i] = linked();
  }
  answer.items[*failed] = std::move(why);
  if (command.mode == ledger::Apply::Mode::atomic) {
    answer.failed = failed;
  }
}

LedgerModel::Mark LedgerModel::here() const {
  return {undo_.size(), changed_books_.size(), changed_accounts_.size(),
          changed_transactions_.size()};
}

void LedgerModel::take_back(const Mark& mark) {
  for (; undo_.size() > mark.undo; undo_.pop_back()) {
    undo_.back().back();
  }
  changed_books_.resize(mark.books);
  changed_accounts_.resize(mark.accounts);
  changed_transactions_.resize(mark.transactions);
  drafts_.clear();
  events_.clear();
}

LedgerItem LedgerModel::one(const Named& key, const ledger::Operation& operation) {
  touched_.clear();
  moved_.clear();
  if (!books_.contains(key)) {
    if (const auto* const create = std::get_if<ledger::CreateBook>(&operation)) {
      return make_book(key, *create);
    }
    if (key.second != "main") {
      return {.code = ledger::Code::book_not_found};
    }
    make_book(key, {});
  }
  expire_due(key);
  touched_.clear();
  moved_.clear();
  return std::visit(
      [&](const auto& what) -> LedgerItem {
        if constexpr (requires { decide(key, what); }) {
          return decide(key, what);
        } else {
          HK_ASSERT(false);  // imports, sums and reconciliation have no clients here
          return {};
        }
      },
      operation);
}

// ---- events ----

void LedgerModel::tell(const Named& key, std::string type, std::vector<std::string> parts,
                       std::optional<std::uint64_t> about) {
  const LedgerBook& book = books_.at(key);
  if (!book.subscriptions.empty()) {
    events_.push_back({key, std::move(type), book.seq, book.recorded, std::move(parts), about});
  }
}

/// An edge: it was not so before the operation, and is so after it.
void LedgerModel::tell_monitors(const Named& key) {
  const std::vector<LedgerMonitor> monitors = books_.at(key).monitors;
  for (const Touch& touch : touched_) {
    const LedgerAccount& account = accounts_.at({key, touch.account});
    for (const LedgerMonitor& monitor : monitors) {
      const std::string& prefix = monitor.asked.prefix;
      const bool below = account.path == prefix || account.path.starts_with(prefix + ":");
      if (monitor.asked.currency != touch.currency ||
          !(monitor.account.empty() ? below : monitor.account == account.id)) {
        continue;
      }
      const auto so = [&](const LedgerCounters& counters) {
        return compares(reading_of(counters, account.type, monitor.asked.reading),
                        monitor.asked.compare, Wide::of(monitor.asked.value));
      };
      if (!so(touch.before) && so(touch.after)) {
        tell(key, "ledger.monitor.triggered",
             {"\"monitor\":\"" + monitor.id + "\",\"account\":\"" + account.id +
              "\",\"currency\":\"" + touch.currency + "\""});
      }
    }
  }
}

void LedgerModel::send_events() {
  for (LedgerEvent& event : std::exchange(events_, {})) {
    if (event.about) {
      event.parts.push_back("\"id\":\"" + transactions_.at({event.book, *event.about}).id + "\"");
    }
    for (const ledger::Subscription& to : books_.at(event.book).subscriptions) {
      if (to.types.empty() || std::ranges::find(to.types, event.type) != to.types.end()) {
        ties_.send(to, event);
      }
    }
  }
}

}  // namespace hk::sim
