#include "core/ledger/read.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sortable_id.h"
#include "core/ledger/history.h"
#include "core/ledger/late.h"
#include "core/ledger/sight.h"

namespace hk::core::ledger {

namespace {

class StoredLateNodes : public LateNodes {
 public:
  StoredLateNodes(Sight& sight, const Account& account, CurrencyNumber currency)
      : sight_(sight), account_(account), currency_(currency) {}

  Late get(std::uint64_t node) override {
    auto found = sight_.late({account_.tenant, account_.book, account_.number, currency_, node});
    if (!found) {
      throw CorruptRecord("a node of late movements of the ledger account " + account_.id +
                          " is missing");
    }
    return std::move(*found);
  }
  void put(Late /*node*/) override { HK_ASSERT(false); }

 private:
  Sight& sight_;
  const Account& account_;
  CurrencyNumber currency_;
};

std::string number_name(std::uint64_t number) {
  std::string name;
  append_be(name, number);
  return name;
}

constexpr std::uint64_t seq_max = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t segments_at_once = 16;

}  // namespace

// ---- runs ----

const Standing* find_standing(const Account& account, CurrencyNumber currency) {
  const auto found = std::ranges::find(account.standings, currency, &Standing::currency);
  return found == account.standings.end() ? nullptr : &*found;
}

std::optional<Run> Sight::run_by_seq(const Account& account, const Standing& standing,
                                     std::uint64_t seq) {
  if (standing.last.count > 0 && standing.last.first_seq <= seq) {
    return standing.last;
  }
  for (const Block& block : fresh_blocks(account, standing.currency)) {
    if (block.run.first_seq <= seq) {
      return block.run;
    }
  }
  auto found =
      reader_.scan(Range<Block>::of(account.tenant, account.book, account.number, standing.currency)
                       .up_to(account.tenant, account.book, account.number, standing.currency, seq),
                   1, Order::descending);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front().run));
}

std::optional<Run> Sight::run_by_effective(const Account& account, const Standing& standing,
                                           Instant effective) {
  if (standing.last.count > 0 && standing.last.effective_before <= effective) {
    return standing.last;
  }
  for (const Block& block : fresh_blocks(account, standing.currency)) {
    if (block.run.effective_before <= effective) {
      return block.run;
    }
  }
  const auto found = reader_.scan(
      Range<BlockTime>::of(account.tenant, account.book, account.number, standing.currency)
          .up_to(account.tenant, account.book, account.number, standing.currency,
                 ordered(effective)),
      1, Order::descending);
  if (found.empty()) {
    return std::nullopt;
  }
  auto block = reader_.get<Block>(
      {account.tenant, account.book, account.number, standing.currency, found.front().first_seq});
  if (!block) {
    throw CorruptRecord("a block of the ledger account " + account.id + " is missing");
  }
  return std::move(block->run);
}

std::optional<Run> Sight::run_after(const Account& account, const Standing& standing,
                                    std::uint64_t seq) {
  auto found =
      reader_.scan(Range<Block>::of(account.tenant, account.book, account.number, standing.currency)
                       .after(account.tenant, account.book, account.number, standing.currency, seq),
                   1);
  if (!found.empty()) {
    return std::move(found.front().run);
  }
  const auto fresh = fresh_blocks(account, standing.currency);  // the last one first
  for (auto block = fresh.rbegin(); block != fresh.rend(); ++block) {
    if (block->run.first_seq > seq) {
      return block->run;
    }
  }
  if (standing.last.count > 0 && standing.last.first_seq > seq) {
    return standing.last;
  }
  return std::nullopt;
}

BalanceAt Sight::balance_at(const Account& account, CurrencyNumber currency, const AsOf& as_of) {
  const Standing* const standing = find_standing(account, currency);
  if (standing == nullptr) {
    return {};
  }
  if (!as_of.effective && !as_of.seq) {
    return {standing->now, standing->version};
  }
  const std::uint64_t seq = as_of.seq.value_or(seq_max);
  BalanceAt at;
  const auto recorded = run_by_seq(account, *standing, seq);
  if (!recorded) {
    return at;
  }
  RunReader all(*recorded);
  at.counters = recorded->before;
  at.version = recorded->version_before;
  for (auto one = all.next(); one && one->seq <= seq; one = all.next()) {
    at.counters = all.sum();
    at.version = all.version();
  }
  if (!as_of.effective) {
    return at;
  }
  // What came in order is sorted on both axes: it counts up to whichever comes first.
  at.counters = {};
  if (const auto effective = run_by_effective(account, *standing, *as_of.effective)) {
    const Run& run = effective->first_seq < recorded->first_seq ? *effective : *recorded;
    at.counters = run.before;
    at.counters -= run.late_before;
    RunReader movements(run);
    for (auto one = movements.next(); one && one->seq <= seq; one = movements.next()) {
      if (!one->late && one->effective_at <= *as_of.effective) {
        at.counters += counters_of(*one);
      }
    }
  }
  StoredLateNodes nodes(*this, account, currency);
  at.counters += late_sum(nodes, standing->late_root, *as_of.effective, seq);
  return at;
}

void Sight::by_effective(const Account& account, CurrencyNumber currency, Instant from, Instant to,
                         const std::function<bool(const Movement&)>& each) {
  const Standing* const standing = find_standing(account, currency);
  if (standing == nullptr) {
    return;
  }
  // Two sorted lists become one. The late ones are few: those of the period are read first.
  std::vector<Movement> late;
  StoredLateNodes nodes(*this, account, currency);
  each_late(nodes, standing->late_root, from, [&](const Movement& one) {
    if (one.effective_at < to) {
      late.push_back(one);
    }
    return one.effective_at < to;
  });
  auto next_late = late.begin();
  const auto comes_first = [](const Movement& a, const Movement& b) {
    return a.effective_at != b.effective_at ? a.effective_at < b.effective_at : a.seq < b.seq;
  };
  // The last run that began before `from` has its first movement of the period, or one after it.
  auto run = from == long_ago
                 ? std::nullopt
                 : run_by_effective(account, *standing, from - std::chrono::nanoseconds{1});
  if (!run) {
    run = run_after(account, *standing, 0);
  }
  while (run) {
    RunReader movements(*run);
    for (auto one = movements.next(); one; one = movements.next()) {
      if (one->late || one->effective_at < from) {
        continue;
      }
      if (one->effective_at >= to) {
        run.reset();
        break;
      }
      for (; next_late != late.end() && comes_first(*next_late, *one); ++next_late) {
        if (!each(*next_late)) {
          return;
        }
      }
      if (!each(*one)) {
        return;
      }
    }
    if (run) {
      run = run_after(account, *standing, run->first_seq);
    }
  }
  for (; next_late != late.end(); ++next_late) {
    if (!each(*next_late)) {
      return;
    }
  }
}

std::optional<Late> Sight::late(const KeyOf<Late>& key) { return reader_.get<Late>(key); }

BalanceAt balance_at(Reader& reader, const Account& account, CurrencyNumber currency,
                     const AsOf& as_of) {
  return Sight(reader).balance_at(account, currency, as_of);
}

std::vector<MovementAt> movements_before(Reader& reader, const Account& account,
                                         CurrencyNumber currency,
                                         const std::optional<MovementPlace>& before,
                                         std::size_t limit) {
  std::vector<MovementAt> out;
  const Standing* const standing = find_standing(account, currency);
  if (standing == nullptr) {
    return out;
  }
  Sight sight(reader);
  auto run = sight.run_by_seq(account, *standing, before ? before->seq : seq_max);
  bool found_place = !before;
  while (run && out.size() < limit) {
    std::vector<MovementAt> all;
    RunReader movements(*run);
    for (auto one = movements.next(); one; one = movements.next()) {
      all.push_back({*one, movements.sum()});
    }
    for (auto one = all.rbegin(); one != all.rend() && out.size() < limit; ++one) {
      const Movement& movement = one->movement;
      if (found_place) {
        out.push_back(*one);
      } else if (movement.seq < before->seq) {
        found_place = true;
        out.push_back(*one);
      } else {
        found_place = movement.seq == before->seq && movement.index == before->index &&
                      movement.phase == before->phase;
      }
    }
    if (run->first_seq <= 1) {
      break;
    }
    run = sight.run_by_seq(account, *standing, run->first_seq - 1);
  }
  return out;
}

void movements_by_effective(Reader& reader, const Account& account, CurrencyNumber currency,
                            Instant from, Instant to,
                            const std::function<bool(const Movement&)>& each) {
  Sight(reader).by_effective(account, currency, from, to, each);
}

void movements_by_recorded(Reader& reader, const Account& account, CurrencyNumber currency,
                           Instant from, Instant to,
                           const std::function<bool(const Movement&)>& each) {
  const Standing* const standing = find_standing(account, currency);
  if (standing == nullptr) {
    return;
  }
  Sight sight(reader);
  const std::uint64_t before = from == long_ago ? 0
                                                : seq_at(reader, account.tenant, account.book,
                                                         from - std::chrono::nanoseconds{1});
  auto run = before == 0 ? std::nullopt : sight.run_by_seq(account, *standing, before);
  if (!run) {
    run = sight.run_after(account, *standing, 0);
  }
  for (; run; run = sight.run_after(account, *standing, run->first_seq)) {
    RunReader movements(*run);
    for (auto one = movements.next(); one; one = movements.next()) {
      if (one->recorded_at >= to) {
        return;
      }
      if (one->recorded_at >= from && !each(*one)) {
        return;
      }
    }
  }
}

// ---- books and the log ----

std::optional<Book> find_book(Reader& reader, TenantId tenant, const std::string& id) {
  return reader.get<Book>({tenant, id});
}

Head head_of(Reader& reader, TenantId tenant, BookNumber book) {
  const auto last = reader.scan(Range<Segment>::of(tenant, book), 1, Order::descending);
  if (last.empty()) {
    return {};
  }
  const Record& record = last.front().records.back();
  return {record.seq, record.hash, record.recorded_at};
}

std::vector<Record> records_after(Reader& reader, TenantId tenant, BookNumber book,
                                  std::uint64_t after, std::size_t limit) {
  std::vector<Record> out;
  if (limit == 0 || after == seq_max) {
    return out;
  }
  // The segment that has after + 1 begins with it or before it.
  auto from = reader.scan(Range<Segment>::of(tenant, book).up_to(tenant, book, after + 1), 1,
                          Order::descending);
  std::uint64_t reached = after;
  const auto take = [&](std::vector<Segment>& segments) {
    for (Segment& segment : segments) {
      for (Record& record : segment.records) {
        if (record.seq > reached && out.size() < limit) {
          reached = record.seq;
          out.push_back(std::move(record));
        }
      }
    }
  };
  take(from);
  while (out.size() < limit) {
    auto more = reader.scan(Range<Segment>::of(tenant, book).after(tenant, book, reached),
                            segments_at_once);
    if (more.empty()) {
      break;
    }
    take(more);
  }
  return out;
}

std::optional<RecordAt> find_record(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t seq) {
  auto found =
      reader.scan(Range<Segment>::of(tenant, book).up_to(tenant, book, seq), 1, Order::descending);
  if (found.empty() || seq - found.front().first_seq >= found.front().records.size()) {
    return std::nullopt;
  }
  Segment& segment = found.front();
  const std::size_t at = static_cast<std::size_t>(seq - segment.first_seq);
  RecordAt out{.prev_hash = at == 0 ? segment.prev_hash : segment.records[at - 1].hash};
  out.record = std::move(segment.records[at]);
  return out;
}

std::uint64_t seq_at(Reader& reader, TenantId tenant, BookNumber book, Instant at) {
  const auto found = reader.scan(
      Range<SegmentTime>::of(tenant, book).up_to(tenant, book, ordered(at)), 1, Order::descending);
  if (found.empty()) {
    return 0;
  }
  const auto segment = reader.get<Segment>({tenant, book, found.front().first_seq});
  if (!segment) {
    throw CorruptRecord("a segment of a ledger is missing");
  }
  std::uint64_t seq = 0;
  for (const Record& record : segment->records) {
    if (record.recorded_at <= at) {
      seq = record.seq;
    }
  }
  return seq;
}

// ---- accounts ----

std::optional<Account> find_account(Reader& reader, TenantId tenant, BookNumber book,
                                    const std::string& name) {
  if (auto account = reader.get<Account>({tenant, book, name})) {
    return account;
  }
  const auto path =
      reader.get<Name>({tenant, book, static_cast<std::uint32_t>(Name::Kind::path), name});
  return path ? reader.get<Account>({tenant, book, path->account}) : std::nullopt;
}

std::optional<Account> find_account(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t number) {
  const auto name = reader.get<Name>(
      {tenant, book, static_cast<std::uint32_t>(Name::Kind::number), number_name(number)});
  return name ? reader.get<Account>({tenant, book, name->account}) : std::nullopt;
}

namespace {

std::vector<Account> accounts_of(Reader& reader, const std::vector<Name>& names) {
  std::vector<Account> out;
  for (const Name& name : names) {
    auto account = reader.get<Account>({name.tenant, name.book, name.account});
    if (!account) {
      throw CorruptRecord("the ledger account " + name.account + " is missing");
    }
    out.push_back(std::move(*account));
  }
  return out;
}

}  // namespace

std::vector<Account> accounts_after(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t after, std::size_t limit) {
  constexpr auto kind = static_cast<std::uint32_t>(Name::Kind::number);
  return accounts_of(
      reader,
      reader.scan(Range<Name>::of(tenant, book, kind).after(tenant, book, kind, number_name(after)),
                  limit));
}

std::vector<Account> accounts_under(Reader& reader, TenantId tenant, BookNumber book,
                                    const std::string& prefix, const std::string& after,
                                    std::size_t limit) {
  constexpr auto kind = static_cast<std::uint32_t>(Name::Kind::path);
  const auto within = [&](Range<Name> range) {
    if (!after.empty()) {
      range.after(tenant, book, kind, after);
    }
    return range;
  };
  if (prefix.empty()) {
    return accounts_of(reader, reader.scan(within(Range<Name>::of(tenant, book, kind)), limit));
  }
  // The account of that very path, then everything below it: "a:" up to, without, "a;".
  std::vector<Name> names = reader.scan(within(Range<Name>::of(tenant, book, kind, prefix)),
                                        std::min<std::size_t>(limit, 1));
  std::erase_if(names, [&](const Name& name) { return name.name != prefix; });
  if (names.size() < limit) {
    auto below = reader.scan(within(Range<Name>::of(tenant, book, kind)
                                        .from(tenant, book, kind, prefix + ':')
                                        .before(tenant, book, kind, prefix + ';')),
                             limit - names.size());
    names.insert(names.end(), std::make_move_iterator(below.begin()),
                 std::make_move_iterator(below.end()));
  }
  return accounts_of(reader, names);
}

bool path_within(std::string_view path, std::string_view prefix) {
  return prefix.empty() ||
         (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == ':'));
}

// ---- transactions ----

std::optional<TransactionAt> transaction_at(Reader& reader, TenantId tenant, BookNumber book,
                                            std::uint64_t seq) {
  auto found = find_record(reader, tenant, book, seq);
  if (!found) {
    return std::nullopt;
  }
  auto payload = decode(found->record.kind, found->record.payload);
  if (!payload) {
    throw CorruptRecord(payload.error().message);
  }
  auto* const made = std::get_if<TransactionMade>(&*payload);
  if (made == nullptr) {
    return std::nullopt;
  }
  return TransactionAt{.seq = seq,
                       .made = std::move(*made),
                       .hash = found->record.hash,
                       .outcome = reader.get<Outcome>({tenant, book, seq})};
}

std::optional<TransactionAt> find_transaction(Reader& reader, TenantId tenant, BookNumber book,
                                              const std::string& id) {
  if (const auto seq = number_in_id(id, "ltx_")) {
    auto found = transaction_at(reader, tenant, book, *seq);
    if (found && found->made.id == id) {
      return found;
    }
  }
  const auto name =
      reader.get<Name>({tenant, book, static_cast<std::uint32_t>(Name::Kind::transaction), id});
  return name ? transaction_at(reader, tenant, book, name->seq) : std::nullopt;
}

std::optional<TransactionAt> find_transaction_by_key(Reader& reader, TenantId tenant,
                                                     BookNumber book, const std::string& key) {
  const auto name =
      reader.get<Name>({tenant, book, static_cast<std::uint32_t>(Name::Kind::key), key});
  return name ? transaction_at(reader, tenant, book, name->seq) : std::nullopt;
}

TransactionState state_of(const TransactionAt& transaction) {
  if (transaction.made.kind == TransactionMade::Kind::voided) {
    return TransactionState::voided;
  }
  if (transaction.made.kind == TransactionMade::Kind::posted || !transaction.outcome) {
    return TransactionState::posted;
  }
  switch (transaction.outcome->state) {
    case Outcome::State::posted: return TransactionState::posted;
    case Outcome::State::pending:
      return transaction.outcome->part_posted ? TransactionState::partially_posted
                                              : TransactionState::pending;
    case Outcome::State::voided: return TransactionState::voided;
    case Outcome::State::expired: return TransactionState::expired;
  }
  return TransactionState::posted;
}

std::vector<OpenHold> open_holds(Reader& reader, TenantId tenant, BookNumber book,
                                 const std::optional<OpenHold>& after, std::size_t limit) {
  auto range = Range<OpenHold>::of(tenant, book);
  if (after) {
    range.after(tenant, book, after->expires, after->seq);
  }
  return reader.scan(range, limit);
}

// ---- metadata ----

std::vector<MetadataValue> folded(const std::vector<Metadata>& rows,
                                  std::optional<std::uint64_t> as_of) {
  std::vector<MetadataValue> now;
  for (const Metadata& row : rows) {
    if (as_of && row.seq > *as_of) {
      break;
    }
    for (const MetadataValue& value : row.values) {
      std::erase_if(now, [&](const MetadataValue& known) {
        return known.entry == value.entry && known.key == value.key;
      });
      if (!value.removed && !value.erased) {
        now.push_back(value);
      }
    }
  }
  std::ranges::sort(now, {},
                    [](const MetadataValue& value) { return std::tie(value.entry, value.key); });
  return now;
}

std::vector<MetadataValue> metadata_of(Reader& reader, TenantId tenant, BookNumber book,
                                       Metadata::Of of, std::uint64_t number,
                                       std::optional<std::uint64_t> as_of) {
  return folded(
      reader.scan(Range<Metadata>::of(tenant, book, static_cast<std::uint32_t>(of), number)),
      as_of);
}

std::string index_name(IndexEntry::Kind kind, std::string_view key, std::string_view value) {
  std::string name(key);
  name.push_back('\0');
  if (kind != IndexEntry::Kind::reference) {
    name += value;
    name.push_back('\0');
  }
  return name;
}

std::vector<std::uint64_t> indexed(Reader& reader, TenantId tenant, BookNumber book,
                                   IndexEntry::Kind kind, const std::string& key,
                                   const std::string& value, std::uint64_t before,
                                   std::size_t limit) {
  const std::string begin = index_name(kind, key, value);
  const auto number = static_cast<std::uint32_t>(kind);
  std::vector<std::uint64_t> out;
  for (const IndexEntry& entry :
       reader.scan(Range<IndexEntry>::of(tenant, book, number)
                       .from(tenant, book, number, begin)
                       .before(tenant, book, number, begin + number_name(before)),
                   limit, Order::descending)) {
    out.push_back(read_be<std::uint64_t>(std::string_view(entry.name).substr(begin.size())));
  }
  return out;
}

}  // namespace hk::core::ledger
