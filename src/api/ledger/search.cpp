// The list of transactions, newest first. The search begins with what has an index (reference,
// metadata, account) and otherwise walks down the log; what it finds is compared with all filters.
// One page looks at a bounded number of records.
#include <algorithm>
#include <map>
#include <utility>

#include "api/ledger/handlers.h"
#include "api/ledger/question.h"
#include "api/ledger/reading.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Entry;
using core::ledger::IndexEntry;
using core::ledger::Instant;
using core::ledger::TransactionAt;

struct SearchFilter {
  // Of one and the same entry.
  std::optional<std::string> account{};
  std::optional<std::string> prefix{};
  std::optional<std::string> currency{};
  std::optional<core::ledger::Side> side{};
  std::optional<core::ledger::Amount> amount_min{};
  std::optional<core::ledger::Amount> amount_max{};
  // Of the transaction.
  std::optional<core::ledger::TransactionMade::Kind> kind{};
  std::optional<core::ledger::TransactionState> state{};
  std::optional<std::string> reference{};
  std::optional<Instant> effective_from{};
  std::optional<Instant> effective_to{};
  std::optional<Instant> recorded_from{};
  std::optional<Instant> recorded_to{};
  std::vector<std::pair<std::string, std::string>> metadata{};

  std::size_t limit = 0;
  std::optional<std::string> cursor{};
  std::size_t scanned_max = 0;
  bool count = false;  ///< of all that match, from the first page on
};

SearchFilter read_search(const Services& services, Query& query) {
  SearchFilter filter{.account = query.text("account"),
                      .prefix = query.text("prefix"),
                      .currency = query.text("currency"),
                      .amount_min = query.amount("amount_min"),
                      .amount_max = query.amount("amount_max"),
                      .reference = query.text("reference"),
                      .effective_from = query.time("effective_from"),
                      .effective_to = query.time("effective_to"),
                      .recorded_from = query.time("recorded_from"),
                      .recorded_to = query.time("recorded_to"),
                      .metadata = query.metadata(),
                      .limit = query.limit(),
                      .cursor = query.text("cursor"),
                      .scanned_max = services.options.scanned_per_listing_max,
                      .count = query.flag("count")};
  if (const auto place = query.one_of("side", core::ledger::side_names)) {
    filter.side = static_cast<core::ledger::Side>(*place + 1);
  }
  if (const auto place = query.one_of("kind", core::ledger::kind_names)) {
    filter.kind = static_cast<core::ledger::TransactionMade::Kind>(*place + 1);
  }
  if (const auto place = query.one_of("state", core::ledger::transaction_state_names)) {
    filter.state = static_cast<core::ledger::TransactionState>(*place);
  }
  return filter;
}

/// Compares transactions with a filter; remembers the paths of the accounts that it met.
class Matcher {
 public:
  /// `account`: the id of the one that the filter names.
  Matcher(const BookReading& reading, const SearchFilter& filter, std::string account)
      : reading_(reading),
        filter_(filter),
        account_(std::move(account)),
        by_entry_(filter.account || filter.prefix || filter.currency || filter.side ||
                  filter.amount_min || filter.amount_max) {}

  bool operator()(const TransactionAt& at) {
    const core::ledger::TransactionMade& made = at.made;
    if ((filter_.kind && made.kind != *filter_.kind) ||
        (filter_.reference && made.reference != filter_.reference) ||
        (filter_.effective_from && made.effective_at < *filter_.effective_from) ||
        (filter_.effective_to && made.effective_at > *filter_.effective_to) ||
        (filter_.recorded_from && made.recorded_at < *filter_.recorded_from) ||
        (filter_.recorded_to && made.recorded_at > *filter_.recorded_to) ||
        (filter_.state && core::ledger::state_of(at) != *filter_.state)) {
      return false;
    }
    if (by_entry_ && std::ranges::none_of(made.entries, [this](const Entry& entry) {
          return matches_entry(entry);
        })) {
      return false;
    }
    return has_metadata(at.seq);
  }

 private:
  bool matches_entry(const Entry& entry) {
    return (!filter_.account || entry.account == account_) &&
           (!filter_.currency || entry.currency == *filter_.currency) &&
           (!filter_.side || entry.side == *filter_.side) &&
           (!filter_.amount_min || entry.amount >= *filter_.amount_min) &&
           (!filter_.amount_max || entry.amount <= *filter_.amount_max) &&
           (!filter_.prefix || core::ledger::path_within(path_of(entry.account), *filter_.prefix));
  }
  const std::string& path_of(const std::string& id) {
    const auto [place, fresh] = paths_.try_emplace(id);
    if (fresh) {
      if (auto account = reading_.find_account(id)) {
        place->second = std::move(account->path);
      }
    }
    return place->second;
  }
  bool has_metadata(std::uint64_t seq) const {
    if (filter_.metadata.empty()) {
      return true;
    }
    const auto values =
        core::ledger::metadata_of(reading_.reader, reading_.tenant, reading_.number(),
                                  core::ledger::Metadata::Of::transaction, seq);
    return std::ranges::all_of(filter_.metadata, [&](const auto& wanted) {
      return std::ranges::any_of(values, [&](const core::ledger::MetadataValue& one) {
        return one.entry == 0 && one.key == wanted.first && one.value == wanted.second;
      });
    });
  }

  const BookReading& reading_;
  const SearchFilter& filter_;
  const std::string account_;
  const bool by_entry_;
  std::map<std::string, std::string> paths_;
};

/// Seqs, newest first: all of them down to the last.
struct Seqs {
  std::vector<std::uint64_t> seqs{};
  bool more = false;  ///< there may be others below the last
};

/// What an index or the account's history has below `before`, at most `count`. nullopt: the filter
/// names nothing of the kind.
std::optional<Seqs> indexed_seqs(const BookReading& reading, const SearchFilter& filter,
                                 const std::optional<core::ledger::Account>& account,
                                 std::uint64_t before, std::size_t count) {
  const auto look_up = [&](IndexEntry::Kind kind, const std::string& key,
                           const std::string& value) {
    Seqs found{.seqs = core::ledger::indexed(reading.reader, reading.tenant, reading.number(), kind,
                                             key, value, before, count)};
    found.more = found.seqs.size() == count;
    return found;
  };
  if (filter.reference) {
    return look_up(IndexEntry::Kind::reference, *filter.reference, "");
  }
  if (!filter.metadata.empty()) {
    return look_up(IndexEntry::Kind::transaction_metadata, filter.metadata.front().first,
                   filter.metadata.front().second);
  }
  if (!account) {
    return std::nullopt;
  }
  Seqs found;
  std::uint64_t least = 0;
  for (const core::ledger::Standing& standing : account->standings) {
    const core::ledger::MovementPlace from{.seq = before};
    const auto movements =
        core::ledger::movements_before(reading.reader, *account, standing.currency, from, count);
    for (const core::ledger::MovementAt& at : movements) {
      found.seqs.push_back(at.movement.seq);
    }
    if (movements.size() == count) {
      found.more = true;
      // Below it others of this currency are missing. Several movements may be of one record.
      least = std::max(least, movements.back().movement.seq);
    }
  }
  std::erase_if(found.seqs, [least](std::uint64_t seq) { return seq < least; });
  std::ranges::sort(found.seqs, std::greater{});
  found.seqs.erase(std::unique(found.seqs.begin(), found.seqs.end()), found.seqs.end());
  return found;
}

/// Calls each(seq, transaction) for the records from `before` down to `least`, until it says false.
/// Records that are no transaction come without one.
template <class Each>
void walk_log(const BookReading& reading, std::uint64_t before, std::uint64_t least, Each each) {
  constexpr std::uint64_t at_once = 256;
  while (before > least) {
    const std::uint64_t wanted = std::min(at_once, before - least);
    const auto records = core::ledger::records_after(reading.reader, reading.tenant,
                                                     reading.number(), before - wanted - 1, wanted);
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      std::optional<TransactionAt> at;
      auto payload = record->kind == "transaction"
                         ? core::ledger::decode(record->kind, record->payload)
                         : Result<core::ledger::Payload>(core::ledger::Payload{});
      if (!payload) {
        throw core::CorruptRecord(payload.error().message);
      }
      if (auto* const made = std::get_if<core::ledger::TransactionMade>(&*payload)) {
        at = TransactionAt{.seq = record->seq, .made = std::move(*made), .hash = record->hash};
        at->outcome = reading.reader.get<core::ledger::Outcome>(
            {reading.tenant, reading.number(), record->seq});
      }
      if (!each(record->seq, std::move(at))) {
        return;
      }
    }
    before -= wanted;
  }
}

/// The range of seqs that the cursor and the times leave: least <= seq < before.
struct SeqRange {
  std::uint64_t least = 1;
  std::uint64_t before = 1;
};
std::optional<SeqRange> range_of(const BookReading& reading, const SearchFilter& filter) {
  SeqRange range;
  range.before = core::ledger::head_of(reading.reader, reading.tenant, reading.number()).seq + 1;
  if (filter.recorded_to) {
    const std::uint64_t last =
        core::ledger::seq_at(reading.reader, reading.tenant, reading.number(), *filter.recorded_to);
    range.before = std::min(range.before, last + 1);
  }
  if (filter.recorded_from && *filter.recorded_from > core::ledger::long_ago) {
    range.least = 1 + core::ledger::seq_at(reading.reader, reading.tenant, reading.number(),
                                           *filter.recorded_from - std::chrono::nanoseconds(1));
  }
  if (filter.cursor) {
    const auto place = read_cursor(Listing::ledger_transactions, reading, *filter.cursor);
    if (!place) {
      return std::nullopt;
    }
    range.before = std::min(range.before, place->place);
  }
  return range;
}

/// Calls each(seq, transaction) for whatever may match, newest first, until it says false.
template <class Each>
void each_candidate(const BookReading& reading, const SearchFilter& filter,
                    const std::optional<core::ledger::Account>& account, const SeqRange& range,
                    Each each) {
  constexpr std::size_t at_once = 1000;
  for (std::uint64_t before = range.before; before > range.least;) {
    const auto found = indexed_seqs(reading, filter, account, before, at_once);
    if (!found) {
      walk_log(reading, before, range.least, each);
      return;
    }
    for (const std::uint64_t seq : found->seqs) {
      if (seq < range.least ||
          !each(seq, core::ledger::transaction_at(reading.reader, reading.tenant, reading.number(),
                                                  seq))) {
        return;
      }
    }
    if (!found->more) {
      return;
    }
    before = found->seqs.back();
  }
}

void write_count(JsonWriter& json, const BookReading& reading, SearchFilter filter,
                 const std::optional<core::ledger::Account>& account) {
  filter.cursor.reset();
  Matcher matches(reading, filter, account ? account->id : "");
  std::size_t count = 0;
  each_candidate(reading, filter, account, *range_of(reading, filter),
                 [&](std::uint64_t /*seq*/, std::optional<TransactionAt> at) {
                   count += at && matches(*at) ? 1 : 0;
                   return count <= counted_max;
                 });
  json.field("count", std::min(count, counted_max));
  json.field("count_exact", count <= counted_max);
}

http::Response show_transactions(const BookReading& reading, const SearchFilter& filter) {
  const auto range = range_of(reading, filter);
  if (!range) {
    return reading.invalid_parameter("cursor", "must be the cursor of an answer to the same list");
  }
  if (filter.currency && !core::ledger::find_currency(*reading.book, *filter.currency)) {
    return reading.no_currency(*filter.currency);
  }
  for (const auto& [key, value] : filter.metadata) {
    if (std::ranges::find(reading.book->indexed, key) == reading.book->indexed.end()) {
      return reading.invalid_parameter("metadata[" + key + "]",
                                       "is not one of the keys that the book declares as indexed");
    }
  }
  std::optional<core::ledger::Account> account;
  if (filter.account) {
    account = reading.find_account(*filter.account);
    if (!account) {
      return reading.no_account(*filter.account);
    }
  }

  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("transactions");
  json.begin_array();
  Matcher matches(reading, filter, account ? account->id : "");
  std::size_t shown = 0;
  std::size_t looked = 0;
  std::uint64_t last = range->before;  // everything from here up was looked at
  bool more = false;
  const auto take = [&](std::uint64_t seq, std::optional<TransactionAt> at) {
    const bool wanted = at && matches(*at);
    if (looked == filter.scanned_max || (wanted && shown == filter.limit)) {
      more = true;
      return false;
    }
    ++looked;
    last = seq;
    if (wanted) {
      ++shown;
      json.begin_object();
      core::ledger::write_transaction_members(json, reading.view_of(std::move(*at)));
      json.end_object();
    }
    return true;
  };
  each_candidate(reading, filter, account, *range, take);
  json.end_array();
  if (more) {
    json.field("cursor", cursor_text(Listing::ledger_transactions, reading, last));
  }
  if (filter.count) {
    write_count(json, reading, filter, account);
  }
  json.end_object();
  return response;
}

}  // namespace

void list_transactions(const Services& services, Call& call) {
  Query query(call.request.query(),
              {"account", "prefix", "currency", "side", "kind", "state", "reference", "amount_min",
               "amount_max", "effective_from", "effective_to", "recorded_from", "recorded_to",
               "metadata", "limit", "cursor", "count"});
  SearchFilter filter = read_search(services, query);
  if (filter.count) {
    show_aside(services, call, query, [filter = std::move(filter)](const BookReading& reading) {
      return show_transactions(reading, filter);
    });
    return;
  }
  show(services, call, query.wrong(), [filter = std::move(filter)](const BookReading& reading) {
    return show_transactions(reading, filter);
  });
}

}  // namespace hk::api::ledger
