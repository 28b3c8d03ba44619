// All of the ledger as it is stored: what must hold between its rows, and that whoever reads it is
// told what is true, now and of any moment.
#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "core/ledger/read.h"
#include "security/digest.h"
#include "sim/scan.h"
#include "sim/trace.h"
#include "store/typed_reader.h"

namespace hk::sim {

namespace {

LedgerCounters four(const ledger::Counters128& c) {
  return {c.debits_posted, c.credits_posted, c.debits_pending, c.credits_pending};
}

/// Of the transactions of a book, in each scan: the rows of all of them are compared.
constexpr std::uint64_t looked_up = 16;

class LedgerScan {
 public:
  LedgerScan(core::Reader& reader, const LedgerModel& model, Rng& rng, const Named& key)
      : reader_(reader), model_(model), rng_(rng), key_(key), want_(model.books().at(key)) {
    const auto row = reader.get<ledger::Book>({key.first, key.second});
    require(row.has_value() && same_book(*row, want_), "ledger book",
            "the book " + key.second + " is stored differently");
    book_ = *row;
  }

  void run() {
    scan_log();
    scan_accounts();
    scan_transactions();
    scan_metadata();
    scan_names();
    scan_timers();
    scan_monitors();
  }

 private:
  template <class R>
  std::vector<core::Row<R>> all() {
    return reader_.scan(core::Range<R>::of(key_.first, want_.number));
  }
  ledger::CurrencyNumber number_of(const std::string& code) {
    const auto currency = ledger::find_currency(book_, code);
    require(currency.has_value(), "ledger book", "the currency " + code + " is not known");
    return currency->number;
  }

  /// The chain from its first record on, and what the records come to.
  void scan_log() {
    const std::vector<ledger::Hash>& hashes = model_.hashes().at(key_);
    std::uint64_t seq = 0;
    ledger::Hash before{};
    ledger::Instant recorded = ledger::long_ago;
    std::size_t segments = 0;
    std::set<std::pair<std::uint64_t, std::uint64_t>> times;
    for (const auto& time : all<ledger::SegmentTime>()) {
      times.emplace(time.recorded, time.first_seq);
    }
    for (const auto& segment : all<ledger::Segment>()) {
      ++segments;
      require(
          segment.first_seq == seq + 1 && segment.prev_hash == before && !segment.records.empty(),
          "ledger log", "a segment does not follow the one before it");
      require(times.contains({ledger::ordered(segment.records.front().recorded_at), seq + 1}),
              "ledger log", "a segment is not found by its time");
      for (const ledger::Record& record : segment.records) {
        require(record.seq == ++seq && seq <= hashes.size(), "ledger log", "seqs have a gap");
        require(record.recorded_at > recorded, "ledger log", "recorded_at does not rise");
        recorded = record.recorded_at;
        before = chain_hash(key_.second, seq, before, record.kind, record.payload);
        require(record.hash == before && before == hashes[seq - 1], "ledger chain",
                "record " + std::to_string(seq) + " is not what was written");
        fold(record);
      }
    }
    require(seq == want_.seq && seq == hashes.size(), "ledger log", "records are missing");
    require(times.size() == segments, "ledger log", "a time of a segment is left over");
    const ledger::Head head = ledger::head_of(reader_, key_.first, want_.number);
    require(head.seq == seq && head.hash == before && head.recorded_at == recorded, "ledger log",
            "the head is another record");
  }

  void fold(const ledger::Record& record) {
    const auto payload = ledger::decode(record.kind, record.payload);
    require(payload.has_value(), "ledger log", "a payload cannot be read");
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.metadata; }) {
            told_[record.seq] = one.metadata;
          }
        },
        *payload);
    const auto release = [&](const std::string& hold, const std::vector<ledger::Released>& parts) {
      for (const ledger::Released& part : parts) {
        const ledger::Entry& entry = held_.at(hold).at(part.index);
        folded_[{entry.account, entry.currency}][counter_of(entry.side, true)] -= part.amount;
      }
    };
    if (const auto* const made = std::get_if<ledger::TransactionMade>(&*payload)) {
      if (made->resolves) {
        release(*made->resolves, made->released);
      }
      const bool pending = made->kind == ledger::TransactionMade::Kind::pending;
      if (pending) {
        held_[made->id] = made->entries;
      }
      std::map<std::string, Wide> sums;
      for (const ledger::Entry& entry : made->entries) {
        const Wide amount{.low = entry.amount};
        Wide& sum = sums[entry.currency];
        sum = entry.side == ledger::Side::debit ? sum + amount : sum - amount;
        require(entry.amount > 0, "ledger balanced", "an entry of nothing");
        if (made->kind != ledger::TransactionMade::Kind::voided) {
          folded_[{entry.account, entry.currency}][counter_of(entry.side, pending)] += entry.amount;
        }
      }
      require(made->entries.size() >= 2 &&
                  std::ranges::all_of(sums, [](const auto& one) { return one.second == Wide{}; }),
              "ledger balanced", "transaction " + made->id + " is not");
    } else if (const auto* const expired = std::get_if<ledger::HoldExpired>(&*payload)) {
      release(expired->transaction, expired->released);
    }
  }

  /// A moment of which something can be asked.
  std::int64_t some_moment() {
    const auto moves = model_.moves().find(key_);
    if (moves == model_.moves().end() || moves->second.empty()) {
      return want_.recorded;
    }
    return moves->second[rng_.below(moves->second.size())].effective +
           static_cast<std::int64_t>(rng_.below(3)) - 1;
  }

  void scan_accounts() {
    std::size_t rows = 0;
    std::map<std::string, LedgerCounters> totals;
    for (const auto& row : all<ledger::Account>()) {
      ++rows;
      const auto want = model_.accounts().find({key_, row.id});
      require(
          want != model_.accounts().end() && same_account(row, want->second,
                                                          [this](ledger::CurrencyNumber number) {
                                                            return currency_code(book_, number);
                                                          }),
          "ledger balances", "the account " + row.id + " is stored differently");
      for (const auto& [currency, standing] : want->second.standings) {
        check_standing(row, currency, standing);
        LedgerCounters& total = totals[currency];
        std::ranges::transform(total, standing.now, total.begin(), std::plus<>());
      }
    }
    std::size_t wanted = 0;
    std::map<std::string, std::set<std::string>> below;  // by the first segment of the path
    for (const auto& [key, account] : model_.accounts()) {
      if (key.first == key_) {
        ++wanted;
        below[account.path.substr(0, account.path.find(':'))].insert(account.id);
      }
    }
    require(rows == wanted, "ledger balances", "an account is missing");
    for (const auto& [currency, total] : totals) {
      require(total[0] == total[1], "ledger trial balance", currency + " does not add up");
      require(total[2] == total[3], "ledger trial balance",
              "held " + currency + " does not add up");
    }
    for (const auto& [prefix, ids] : below) {
      std::set<std::string> got;
      for (const auto& row :
           ledger::accounts_under(reader_, key_.first, want_.number, prefix, "", 100'000)) {
        got.insert(row.id);
      }
      require(got == ids, "ledger prefix", "below " + prefix + " are other accounts");
    }
  }

  void check_standing(const ledger::Account& row, const std::string& currency,
                      const LedgerStanding& standing) {
    const auto folded = folded_.find({row.id, currency});
    require((folded == folded_.end() ? LedgerCounters{} : folded->second) == standing.now,
            "ledger fold", "the balance of " + row.id + " is not what its records come to");
    const ledger::CurrencyNumber number = number_of(currency);
    const std::uint64_t seq = rng_.below(want_.seq + 2);
    const std::int64_t moment = some_moment();
    const auto check = [&](std::optional<std::int64_t> effective,
                           std::optional<std::uint64_t> up_to, const char* what) {
      ledger::AsOf as_of{.seq = up_to};
      if (effective) {
        as_of.effective = ledger::instant_from_ns(*effective);
      }
      require(four(ledger::balance_at(reader_, row, number, as_of).counters) ==
                  model_.sum_of(key_, row.id, currency, effective, up_to),
              "ledger as of", row.id + " in " + currency + ' ' + what + " is another sum");
    };
    check({}, {}, "now");
    check({}, seq, "as of a seq");
    check(moment, {}, "as of a time");
    check(moment, seq, "as of both");
  }

  void scan_transactions() {
    std::map<std::uint64_t, const LedgerTransaction*> outcomes;
    std::map<std::pair<std::string, std::string>, LedgerCounters> held;
    std::set<std::uint64_t> open;
    for (auto at = model_.transactions().lower_bound({key_, 0});
         at != model_.transactions().end() && at->first.first == key_; ++at) {
      const LedgerTransaction& one = at->second;
      if (rng_.below(want_.seq) < looked_up) {
        const auto found = ledger::find_transaction(reader_, key_.first, want_.number, one.id);
        require(found && found->seq == one.seq, "ledger unique",
                one.id + " is not found by its id");
      }
      const bool hold = one.kind == ledger::TransactionMade::Kind::pending;
      if (hold || !one.reversed_by.empty()) {
        outcomes[one.seq] = &one;
      }
      for (std::size_t i = 0; i < one.entries.size(); ++i) {
        require(one.reversed.empty() || one.reversed[i] <= one.entries[i].amount,
                "ledger reversals", "more of " + one.id + " is reversed than there is");
        if (hold && one.state == LedgerTransaction::State::pending) {
          open.insert(one.seq);
          held[{one.entries[i].account, one.entries[i].currency}]
              [counter_of(one.entries[i].side, true)] += one.left[i];
        }
      }
    }
    for (const auto& [key, account] : model_.accounts()) {
      for (const auto& [currency, standing] : account.standings) {
        if (key.first == key_) {
          const LedgerCounters& sum = held[{account.id, currency}];
          require(sum[2] == standing.now[2] && sum[3] == standing.now[3], "ledger pending",
                  "what is held of " + account.id + " is not what its open holds come to");
        }
      }
    }
    for (const auto& row : all<ledger::Outcome>()) {
      const auto want = outcomes.find(row.seq);
      require(want != outcomes.end() && same_outcome(row, *want->second), "ledger outcome",
              "what became of transaction " + std::to_string(row.seq) + " is stored differently");
      outcomes.erase(want);
    }
    require(outcomes.empty(), "ledger outcome", "what became of a transaction is not stored");
    for (const auto& row : all<ledger::OpenHold>()) {
      const auto hold = model_.transactions().find({key_, row.seq});
      require(hold != model_.transactions().end() && open.erase(row.seq) == 1 &&
                  row.effective_at == ledger::instant_from_ns(hold->second.effective),
              "ledger holds", "hold " + std::to_string(row.seq) + " is stored as open");
    }
    require(open.empty(), "ledger holds", "an open hold would not be found");
  }

  void scan_metadata() {
    std::map<std::string, std::set<std::string>> indexed;  // of accounts, of transactions: names
    std::size_t rows = 0;
    std::set<std::pair<LedgerModel::ObjectKey, std::uint64_t>> row_keys;
    for (auto at = model_.facts().lower_bound({key_, 0, 0});
         at != model_.facts().end() && std::get<0>(at->first) == key_; ++at) {
      const auto& [object, facts] = *at;
      const auto of = static_cast<ledger::Metadata::Of>(std::get<1>(object));
      const std::uint64_t seq = rng_.below(want_.seq + 1);
      for (const std::optional<std::uint64_t> as_of :
           {std::optional<std::uint64_t>(), std::optional(seq)}) {
        std::map<std::pair<std::uint32_t, std::string>, std::string> want;
        for (const LedgerFact& fact : facts) {
          row_keys.insert({object, fact.seq});
          if (as_of && fact.seq > *as_of) {
            continue;
          }
          if (fact.value && !fact.erased) {
            want[{fact.entry, fact.key}] = *fact.value;
          } else {
            want.erase({fact.entry, fact.key});
          }
        }
        std::map<std::pair<std::uint32_t, std::string>, std::string> got;
        for (const ledger::MetadataValue& value : ledger::metadata_of(
                 reader_, key_.first, want_.number, of, std::get<2>(object), as_of)) {
          got[{value.entry, value.key}] = value.value;
        }
        require(got == want, "ledger metadata", "an object has other metadata than was set");
        if (!as_of && of != ledger::Metadata::Of::book) {
          for (const auto& [name, value] : want) {
            if (name.first == 0 &&
                std::ranges::find(want_.indexed, name.second) != want_.indexed.end()) {
              std::string entry = name.second + '\0' + value + '\0';
              append_be(entry, std::get<2>(object));
              indexed[of == ledger::Metadata::Of::account ? "a" : "t"].insert(entry);
            }
          }
        }
      }
    }
    for (const auto& row : all<ledger::Metadata>()) {
      ++rows;
      for (const ledger::MetadataValue& value : row.values) {
        require(!value.erased || (value.value.empty() && value.salt.empty()), "ledger metadata",
                "something of an erased value is left");
        check_hash(row, value);
      }
    }
    require(rows == row_keys.size(), "ledger metadata", "a row is missing or too many");
    for (const auto& row : all<ledger::IndexEntry>()) {
      if (row.kind != ledger::IndexEntry::Kind::reference) {
        const char* const which =
            row.kind == ledger::IndexEntry::Kind::account_metadata ? "a" : "t";
        require(indexed[which].erase(row.name) == 1, "ledger index", "an entry too many");
      }
    }
    require(indexed["a"].empty() && indexed["t"].empty(), "ledger index", "an entry is missing");
  }

  /// What the chain says of a value that is still there.
  void check_hash(const ledger::Metadata& row, const ledger::MetadataValue& value) {
    if (value.erased || value.removed) {
      return;
    }
    const std::vector<ledger::MetadataHash>& told = told_[row.seq];
    const bool hashed = std::ranges::any_of(told, [&](const ledger::MetadataHash& hash) {
      return hash.entry == value.entry && hash.key == value.key &&
             hash.hash == security::sha256(value.salt + value.value);
    });
    require(hashed, "ledger metadata", "the chain says another value");
  }

  void scan_names() {
    using Kind = ledger::Name::Kind;
    std::map<std::pair<Kind, std::string>, std::pair<std::string, std::uint64_t>> want;
    for (const auto& [key, account] : model_.accounts()) {
      if (key.first == key_) {
        std::string number;
        append_be(number, account.number);
        want[{Kind::path, account.path}] = {account.id, 0};
        want[{Kind::number, number}] = {account.id, 0};
        for (const std::string& name : {account.id, account.path}) {
          const auto found = ledger::find_account(reader_, key_.first, want_.number, name);
          require(found && found->id == account.id, "ledger unique",
                  name + " does not name its account");
        }
      }
    }
    for (auto at = model_.transactions().lower_bound({key_, 0});
         at != model_.transactions().end() && at->first.first == key_; ++at) {
      std::visit(
          [&](const auto& asked) {
            if constexpr (requires { asked.idempotency_key; }) {
              if (asked.id) {
                want[{Kind::transaction, *asked.id}] = {"", at->second.seq};
              }
              if (asked.idempotency_key) {
                want[{Kind::key, *asked.idempotency_key}] = {"", at->second.seq};
              }
            }
          },
          *at->second.asked);
    }
    for (const auto& row : all<ledger::Name>()) {
      const auto found = want.find({row.kind, row.name});
      require(found != want.end() && found->second == std::pair(row.account, row.seq),
              "ledger unique", row.name + " names something else");
      want.erase(found);
    }
    require(want.empty(), "ledger unique", "a name is missing");
  }

  /// What will happen of itself happens after a restart, too.
  void scan_timers() {
    Moment expiry = never;
    Moment checkpoint = never;
    for (const auto& timer : reader_.scan<core::Timer>()) {
      if (timer.tenant == key_.first && timer.key == key_.second) {
        Moment& first = timer.kind == core::Timer::Kind::ledger_expiry ? expiry : checkpoint;
        if (timer.kind != core::Timer::Kind::idempotency_key) {
          first = std::min(first, timer.due);
        }
      }
    }
    for (const LedgerTransaction* hold : model_.open_holds(key_)) {
      require(!hold->expires ||
                  expiry <= std::chrono::ceil<Millis>(ledger::instant_from_ns(*hold->expires)),
              "ledger expiry", "the hold " + hold->id + " would stay open");
    }
    require(want_.seq == want_.covered || checkpoint != never, "ledger checkpoint",
            "records would never be covered");
  }

  void scan_monitors() {
    const auto rows = all<ledger::Monitor>();
    require(std::ranges::equal(rows, want_.monitors,
                               [](const ledger::Monitor& row, const LedgerMonitor& one) {
                                 return row.id == one.id && row.number == one.number;
                               }),
            "ledger monitor", "monitors are stored differently");
  }

  core::Reader& reader_;
  const LedgerModel& model_;
  Rng& rng_;
  const Named key_;
  const LedgerBook& want_;
  ledger::Book book_;
  std::map<std::string, std::vector<ledger::Entry>> held_;
  std::map<std::uint64_t, std::vector<ledger::MetadataHash>> told_;  ///< by seq
  std::map<std::pair<std::string, std::string>, LedgerCounters> folded_;
};

}  // namespace

void scan_ledger(std::shared_ptr<store::Reader> snapshot, const LedgerModel& model, Rng& rng) {
  store::TypedReader reader(std::move(snapshot));
  for (const auto& [key, book] : model.books()) {
    LedgerScan(reader, model, rng, key).run();
  }
  require(reader.scan<ledger::Book>().size() == model.books().size(), "ledger book",
          "a book is missing or too many");
}

}  // namespace hk::sim
