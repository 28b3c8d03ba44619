// Transactions, holds and what becomes of them, reversals: what each must mean, and why it must be
// refused.
#include <algorithm>
#include <numeric>

#include "sim/ledger_text.h"
#include "sim/model_ledger.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using Code = ledger::Code;
using Kind = ledger::TransactionMade::Kind;
using HeldState = LedgerTransaction::State;

constexpr std::int64_t ahead_max = 300'000'000'000;  ///< ns

bool add_to(ledger::Amount& sum, ledger::Amount more) {
  sum += more;
  return sum >= more;
}

/// One amount over parts: the largest remainders get what is left over, ties go to the earlier.
std::vector<ledger::Amount> shares_of(ledger::Amount amount,
                                      const std::vector<ledger::SplitPart>& parts) {
  using How = ledger::SplitPart::How;
  std::vector<ledger::Amount> weights;
  ledger::Amount given = 0;
  constexpr ledger::Amount whole = 100'000;  // percents of clients have three decimals at most
  for (const ledger::SplitPart& part : parts) {
    ledger::Amount weight = part.ratio;
    if (part.how == How::percent) {
      weight = part.percent;
      for (std::uint32_t i = part.percent_decimals; i < 3; ++i) {
        weight *= 10;
      }
    }
    given += weight;
    weights.push_back(part.how == How::remainder ? 0 : weight);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].how == How::remainder) {
      weights[i] = whole - given;
    }
  }
  const ledger::Amount sum = std::accumulate(weights.begin(), weights.end(), ledger::Amount{0});
  std::vector<ledger::Amount> shares;
  ledger::Amount left = amount;
  for (const ledger::Amount weight : weights) {
    shares.push_back(amount * weight / sum);  // clients split small amounts
    left -= shares.back();
  }
  std::vector<bool> raised(parts.size(), false);
  for (; left > 0; --left) {
    std::size_t best = parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!raised[i] &&
          (best == parts.size() || amount * weights[i] % sum > amount * weights[best] % sum)) {
        best = i;
      }
    }
    raised[best] = true;
    ++shares[best];
  }
  return shares;
}

const std::optional<std::string>* id_of(const ledger::Operation& asked) {
  return std::visit(
      [](const auto& one) -> const std::optional<std::string>* {
        if constexpr (requires { one.idempotency_key; }) {
          return &one.id;
        }
        return nullptr;
      },
      asked);
}
const std::optional<std::string>* key_of(const ledger::Operation& asked) {
  return std::visit(
      [](const auto& one) -> const std::optional<std::string>* {
        if constexpr (requires { one.idempotency_key; }) {
          return &one.idempotency_key;
        }
        return nullptr;
      },
      asked);
}

}  // namespace

std::optional<std::uint64_t> LedgerModel::find_transaction(const Named& book,
                                                           const std::string& id) const {
  const auto found = ids_.find({book, id});
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

// ---- the same again ----

bool LedgerModel::same_conditions(const Named& key, const std::vector<ledger::Condition>& a,
                                  const std::vector<ledger::Condition>& b) const {
  return std::ranges::equal(a, b, [&](const ledger::Condition& one, const ledger::Condition& two) {
    return find_account(key, one.account).value_or(one.account) ==
               find_account(key, two.account).value_or(two.account) &&
           one.currency == two.currency && one.expect_version == two.expect_version &&
           (one.expect_version || (one.reading == two.reading && one.at == two.at &&
                                   one.compare == two.compare && one.value == two.value));
  });
}

bool LedgerModel::same_entries(const Named& key, const ledger::CreateTransaction& a,
                               const ledger::CreateTransaction& b,
                               const LedgerTransaction& known) const {
  if (a.entries.size() != b.entries.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const ledger::EntryIn& one = a.entries[i];
    const ledger::EntryIn& two = b.entries[i];
    const ledger::EntryIn::More none;
    const ledger::EntryIn::More& more = one.more ? *one.more : none;
    const ledger::EntryIn::More& other = two.more ? *two.more : none;
    const bool same_split = std::ranges::equal(
        more.split, other.split, [](const ledger::SplitPart& x, const ledger::SplitPart& y) {
          return x.account == y.account && x.how == y.how && x.ratio == y.ratio &&
                 x.percent == y.percent && x.percent_decimals == y.percent_decimals;
        });
    if (find_account(key, one.account).value_or(one.account) !=
            find_account(key, two.account).value_or(two.account) ||
        one.currency != two.currency || one.side != two.side || one.given != two.given ||
        one.amount != two.amount || !same_split || !same_conditions(key, more.when, other.when) ||
        !same_facts({key, 3, known.seq}, known.seq, static_cast<std::uint32_t>(i + 1),
                    other.metadata)) {
      return false;
    }
  }
  return true;
}

/// Members of `asked` that are not as they were, in the order of the create body.
std::vector<std::string> LedgerModel::different(const Named& key, const LedgerTransaction& known,
                                                const ledger::Operation& asked) const {
  if (known.asked->index() != asked.index()) {
    return {"kind"};
  }
  std::vector<std::string> members;
  const auto note = [&members](bool same, const char* member) {
    if (!same) {
      members.emplace_back(member);
    }
  };
  note(*id_of(*known.asked) == *id_of(asked), "id");
  note(*key_of(*known.asked) == *key_of(asked), "idempotency_key");
  const ObjectKey facts{key, 3, known.seq};
  if (const auto* const now = std::get_if<ledger::CreateTransaction>(&asked)) {
    const auto& was = std::get<ledger::CreateTransaction>(*known.asked);
    note(was.kind == now->kind, "kind");
    note(was.effective_at == now->effective_at, "effective_at");
    note(was.expires_at == now->expires_at, "expires_at");
    note(was.timeout_s == now->timeout_s, "timeout");
    note(was.description == now->description, "description");
    note(was.reference == now->reference, "reference");
    note(was.parent == now->parent, "parent");
    note(same_facts(facts, known.seq, 0, now->metadata), "metadata");
    note(same_entries(key, was, *now, known), "entries");
    note(same_conditions(key, was.conditions, now->conditions), "conditions");
    note(was.check_history == now->check_history, "check_history");
    members.resize(std::min<std::size_t>(members.size(), 1));
    return members;
  }
  const auto following = [&](const ledger::Following& was, const ledger::Following& now) {
    note(was.of == now.of, "of");
    note(was.description == now.description, "description");
    note(same_facts(facts, known.seq, 0, now.metadata), "metadata");
  };
  if (const auto* const post = std::get_if<ledger::PostHold>(&asked)) {
    const auto& was = std::get<ledger::PostHold>(*known.asked);
    following(was, *post);
    note(was.amounts == post->amounts, "amounts");
    note(was.final == post->final, "final");
    note(was.effective_at == post->effective_at, "effective_at");
  } else if (const auto* const release = std::get_if<ledger::VoidHold>(&asked)) {
    following(std::get<ledger::VoidHold>(*known.asked), *release);
  } else {
    const auto& was = std::get<ledger::ReverseTransaction>(*known.asked);
    const auto& reverse = std::get<ledger::ReverseTransaction>(asked);
    following(was, reverse);
    note(was.amounts == reverse.amounts, "amounts");
    const auto meant = [&](const ledger::ReverseTransaction& one) {
      return one.effective_original
                 ? ledger::instant_from_ns(transactions_.at({key, *known.reverses}).effective)
                 : one.effective_at.value_or(ledger::no_end);
    };
    note(meant(was) == meant(reverse), "effective_at");
    note(was.force == reverse.force, "force");
  }
  return members;
}

std::optional<LedgerItem> LedgerModel::repeated(const Named& key,
                                                const std::optional<std::string>& id,
                                                const std::optional<std::string>& idempotency_key,
                                                const ledger::Operation& asked) {
  const auto by_id = id ? find_transaction(key, *id) : std::nullopt;
  std::optional<std::uint64_t> by_key;
  if (idempotency_key) {
    const auto found = keys_.find({key, *idempotency_key});
    by_key = found == keys_.end() ? std::nullopt : std::optional(found->second);
  }
  if (!by_id && !by_key) {
    return std::nullopt;
  }
  const auto differs = [](std::vector<std::string> members) {
    return LedgerItem{.code = Code::exists_with_different, .members = std::move(members)};
  };
  if (by_key && id && by_id != by_key) {
    return differs({"id"});
  }
  if (by_id && idempotency_key && by_id != by_key) {
    return differs({"idempotency_key"});
  }
  const LedgerTransaction& known = transactions_.at({key, by_id ? *by_id : *by_key});
  if (auto members = different(key, known, asked); !members.empty()) {
    return differs(std::move(members));
  }
  return LedgerItem{.accepted = true, .replayed = true, .seq = known.seq, .id = known.id};
}

// ---- what moves ----

LedgerModel::Touch& LedgerModel::touch(const Named& key, const std::string& account,
                                       const std::string& currency) {
  for (Touch& one : touched_) {
    if (one.account == account && one.currency == currency) {
      return one;
    }
  }
  const LedgerAccount& row = accounts_.at({key, account});
  Touch fresh{.account = account, .currency = currency};
  if (const auto standing = row.standings.find(currency); standing != row.standings.end()) {
    fresh.before = fresh.after = standing->second.now;
    fresh.version = standing->second.version;
  }
  touched_.push_back(std::move(fresh));
  return touched_.back();
}

std::optional<LedgerItem> LedgerModel::move(const Named& key, const ledger::Entry& entry,
                                            bool pending, bool resolving) {
  const LedgerAccount& account = accounts_.at({key, entry.account});
  if (!resolving && account.state != ledger::Account::State::open) {
    return refused_with(account.state == ledger::Account::State::frozen ? Code::account_frozen
                                                                        : Code::account_closed);
  }
  const std::size_t counter = counter_of(entry.side, pending);
  ledger::Amount& sum = touch(key, entry.account, entry.currency).after[counter];
  if (!add_to(sum, entry.amount)) {
    return refused_with(Code::limit_exceeded);
  }
  moved_.push_back({0, entry.account, entry.currency, counter, false, entry.amount, 0});
  return std::nullopt;
}

void LedgerModel::release(const Named& key, const ledger::Entry& entry, ledger::Amount amount) {
  const std::size_t counter = counter_of(entry.side, true);
  ledger::Amount& sum = touch(key, entry.account, entry.currency).after[counter];
  require(sum >= amount, "ledger reference", "more is released than was held");
  sum -= amount;
  moved_.push_back({0, entry.account, entry.currency, counter, true, amount, 0});
}

void LedgerModel::commit_moves(const Named& key, std::uint64_t seq, std::int64_t effective) {
  std::vector<LedgerMove>& all = moves_[key];
  undo_.push_back({batch_, [this, key, size = all.size()] { moves_[key].resize(size); }});
  for (LedgerMove& one : moved_) {
    one.seq = seq;
    one.effective = effective;
    all.push_back(one);
  }
  for (const Touch& one : touched_) {
    LedgerStanding& standing = change(AccountKey{key, one.account}).standings[one.currency];
    standing.now = one.after;
    standing.version += standing.last_seq == seq ? 0 : 1;
    standing.last_seq = seq;
  }
}

LedgerCounters LedgerModel::sum_of(const Named& book, const std::string& account,
                                   const std::string& currency,
                                   std::optional<std::int64_t> effective,
                                   std::optional<std::uint64_t> seq) const {
  LedgerCounters sum{};
  const auto all = moves_.find(book);
  if (all == moves_.end()) {
    return sum;
  }
  for (const LedgerMove& one : all->second) {
    if (one.account == account && one.currency == currency &&
        (!effective || one.effective <= *effective) && (!seq || one.seq <= *seq)) {
      sum[one.counter] += one.less ? ledger::Amount{0} - one.amount : one.amount;
    }
  }
  return sum;
}

std::vector<std::string> LedgerModel::balance_rows(const Named& key) const {
  std::vector<std::string> rows;
  for (const Touch& one : touched_) {
    const LedgerAccount& account = accounts_.at({key, one.account});
    const LedgerStanding& standing = account.standings.at(one.currency);
    const auto told = [&](ledger::Reading which) {
      return ledger::to_text(reading_of(standing.now, account.type, which).told());
    };
    rows.push_back("{\"account\":\"" + one.account + "\",\"currency\":\"" + one.currency +
                   "\",\"debits_posted\":\"" + ledger::to_text(standing.now[0]) +
                   "\",\"credits_posted\":\"" + ledger::to_text(standing.now[1]) +
                   "\",\"debits_pending\":\"" + ledger::to_text(standing.now[2]) +
                   "\",\"credits_pending\":\"" + ledger::to_text(standing.now[3]) +
                   "\",\"posted\":\"" + told(ledger::Reading::posted) + "\",\"pending\":\"" +
                   told(ledger::Reading::pending) + "\",\"available\":\"" +
                   told(ledger::Reading::available) +
                   "\",\"version\":" + std::to_string(standing.version) + '}');
  }
  return rows;
}

// ---- limits and conditions ----

std::optional<LedgerItem> LedgerModel::beyond(const Named& key, const std::string& account,
                                              const std::string& currency,
                                              const std::optional<LedgerCounters>& unforced,
                                              const LedgerCounters& before,
                                              const LedgerCounters& after) const {
  const LedgerAccount& row = accounts_.at({key, account});
  const auto limits = row.limits.find(currency);
  if (limits == row.limits.end()) {
    return std::nullopt;
  }
  const auto over = [&](Code code, const ledger::Signed& limit, const Wide& value) {
    return LedgerItem{.code = code, .account = account, .limit = limit, .value = value.told()};
  };
  const Wide available = reading_of(after, row.type, ledger::Reading::available);
  if (unforced && limits->second.min &&
      available < reading_of(*unforced, row.type, ledger::Reading::available) &&
      available < Wide::of(*limits->second.min)) {
    return over(Code::insufficient_funds, *limits->second.min, available);
  }
  const Wide pending = reading_of(after, row.type, ledger::Reading::pending);
  if (limits->second.max && pending > reading_of(before, row.type, ledger::Reading::pending) &&
      pending > Wide::of(*limits->second.max)) {
    return over(Code::limit_exceeded, *limits->second.max, pending);
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::check_limits(const Named& key, bool force) {
  for (const Touch& one : touched_) {
    const auto unforced = force ? std::nullopt : std::optional(one.before);
    if (!options_.limits_at_end) {
      if (auto refusal = beyond(key, one.account, one.currency, unforced, one.before, one.after)) {
        return refusal;
      }
      continue;
    }
    const auto known = std::ranges::find_if(at_end_, [&](const AtEnd& other) {
      return other.book == key && other.account == one.account && other.currency == one.currency;
    });
    if (known == at_end_.end()) {
      at_end_.push_back({key, one.account, one.currency, one.before, unforced, operation_});
    } else {
      known->operation = operation_;
      known->unforced = known->unforced ? known->unforced : unforced;
    }
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::check_end(std::size_t& operation) const {
  for (const AtEnd& one : at_end_) {
    const LedgerAccount& account = accounts_.at({one.book, one.account});
    if (auto refusal = beyond(one.book, one.account, one.currency, one.unforced, one.before,
                              account.standings.at(one.currency).now)) {
      operation = one.operation;
      return refusal;
    }
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::check(const Named& key, const ledger::Condition& condition,
                                             ledger::Condition::At at) const {
  const ledger::Condition::At when =
      condition.expect_version ? ledger::Condition::At::before : condition.at;
  if (when != at) {
    return std::nullopt;
  }
  const auto id = find_account(key, condition.account);
  if (!id) {
    return refused_with(Code::account_not_found);
  }
  if (!knows_currency(key, condition.currency)) {
    return refused_with(Code::currency_unknown);
  }
  const LedgerAccount& account = accounts_.at({key, *id});
  Touch one{};
  if (const auto standing = account.standings.find(condition.currency);
      standing != account.standings.end()) {
    one.before = one.after = standing->second.now;
    one.version = standing->second.version;
  }
  for (const Touch& touched : touched_) {
    if (touched.account == *id && touched.currency == condition.currency) {
      one = touched;
    }
  }
  if (condition.expect_version) {
    if (*condition.expect_version != one.version) {
      return LedgerItem{.code = Code::version_conflict,
                        .account = *id,
                        .value = ledger::Signed{false, one.version}};
    }
    return std::nullopt;
  }
  const Wide actual = reading_of(at == ledger::Condition::At::before ? one.before : one.after,
                                 account.type, condition.reading);
  if (!compares(actual, condition.compare, Wide::of(condition.value))) {
    return LedgerItem{.code = Code::condition_failed, .account = *id, .value = actual.told()};
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::check_all(const Named& key,
                                                 const ledger::CreateTransaction& create,
                                                 ledger::Condition::At at) const {
  std::vector<ledger::Condition> all = create.conditions;
  for (const ledger::EntryIn& entry : create.entries) {
    if (entry.more) {
      for (ledger::Condition one : entry.more->when) {
        one.account = entry.account;
        one.currency = entry.currency;
        all.push_back(std::move(one));
      }
    }
  }
  for (const ledger::Condition& one : all) {
    if (auto refusal = check(key, one, at)) {
      return refusal;
    }
  }
  return std::nullopt;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::AssertConditions& assert) {
  for (const ledger::Condition::At at :
       {ledger::Condition::At::before, ledger::Condition::At::after}) {
    for (const ledger::Condition& one : assert.conditions) {
      if (auto refusal = check(key, one, at)) {
        return *refusal;
      }
    }
  }
  return {.accepted = true};
}

/// By brute force: at every moment from then on at which something was effective.
std::optional<LedgerItem> LedgerModel::check_history(const Named& key,
                                                     std::int64_t effective) const {
  for (const Touch& one : touched_) {
    const LedgerAccount& account = accounts_.at({key, one.account});
    std::set<std::int64_t> moments;
    for (const LedgerMove& move :
         moves_.contains(key) ? moves_.at(key) : std::vector<LedgerMove>{}) {
      if (move.account == one.account && move.currency == one.currency &&
          move.effective > effective) {
        moments.insert(move.effective);
      }
    }
    if (moments.empty()) {
      continue;  // that it is within the limits now is known
    }
    moments.insert(effective);
    for (const std::int64_t moment : moments) {
      const LedgerCounters before = sum_of(key, one.account, one.currency, moment, std::nullopt);
      LedgerCounters after = before;
      for (std::size_t i = 0; i < after.size(); ++i) {
        after[i] += one.after[i] - one.before[i];
      }
      if (auto refusal = beyond(key, one.account, one.currency, before, before, after)) {
        return LedgerItem{
            .code = Code::would_break_history, .account = account.id, .value = refusal->value};
      }
    }
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::check_effective(const Named& key,
                                                       ledger::Instant effective) const {
  const std::int64_t at = ledger::to_ns(effective);
  if (at > now() + ahead_max) {
    return refused_with(Code::effective_at_invalid);
  }
  const auto& closed = books_.at(key).closed;
  if (closed && at <= *closed) {
    return refused_with(Code::period_closed);
  }
  return std::nullopt;
}

// ---- entries ----

std::optional<LedgerItem> LedgerModel::resolve(const Named& key,
                                               const ledger::CreateTransaction& create,
                                               std::vector<ledger::Entry>& entries) const {
  struct Sum {
    std::string currency{};
    ledger::Amount debits = 0;
    ledger::Amount credits = 0;
    std::optional<std::size_t> rest{};
  };
  std::vector<Sum> sums;
  const auto refused_amount = [] {
    return LedgerItem{.code = Code::amount_invalid, .members = {"amount"}};
  };
  const auto add = [&](const std::string& name, const ledger::EntryIn& entry,
                       ledger::Amount amount) -> std::optional<LedgerItem> {
    const auto id = find_account(key, name);
    if (!id) {
      return refused_with(Code::account_not_found);
    }
    const LedgerAccount& account = accounts_.at({key, *id});
    if (!account.currency.empty() && account.currency != entry.currency) {
      return refused_with(Code::currency_mismatch);
    }
    entries.push_back({*id, entry.side, amount, entry.currency});
    return std::nullopt;
  };
  for (const ledger::EntryIn& entry : create.entries) {
    if (!knows_currency(key, entry.currency)) {
      return refused_with(Code::currency_unknown);
    }
    auto sum = std::ranges::find(sums, entry.currency, &Sum::currency);
    if (sum == sums.end()) {
      sum = sums.insert(sum, Sum{.currency = entry.currency});
    }
    const bool split = entry.more && !entry.more->split.empty();
    const auto id = split ? std::nullopt : find_account(key, entry.account);
    if (!split && !id) {
      return refused_with(Code::account_not_found);
    }
    ledger::Amount amount = entry.amount;
    if (entry.given == ledger::EntryIn::Given::amount && amount == 0) {
      return refused_amount();
    }
    if (entry.given == ledger::EntryIn::Given::all) {
      const LedgerAccount& account = accounts_.at({key, *id});
      const auto standing = account.standings.find(entry.currency);
      const ledger::Signed available =
          standing == account.standings.end()
              ? ledger::Signed{}
              : reading_of(standing->second.now, account.type, ledger::Reading::available).told();
      if (available.negative || available.magnitude == 0) {
        return refused_amount();
      }
      amount = available.magnitude;
    }
    if (entry.given == ledger::EntryIn::Given::rest) {
      if (sum->rest) {
        return refused_amount();
      }
      sum->rest = entries.size();
    } else if (!add_to(entry.side == ledger::Side::debit ? sum->debits : sum->credits, amount)) {
      return refused_with(Code::limit_exceeded);
    }
    if (!split) {
      if (auto refusal = add(entry.account, entry, amount)) {
        return refusal;
      }
      continue;
    }
    const std::vector<ledger::Amount> shares = shares_of(amount, entry.more->split);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (!find_account(key, entry.more->split[i].account)) {
        return refused_with(Code::account_not_found);
      }
      if (shares[i] == 0) {
        continue;
      }
      if (auto refusal = add(entry.more->split[i].account, entry, shares[i])) {
        return refusal;
      }
    }
  }
  for (Sum& sum : sums) {
    if (sum.rest) {
      ledger::Entry& entry = entries[*sum.rest];
      ledger::Amount& own = entry.side == ledger::Side::debit ? sum.debits : sum.credits;
      const ledger::Amount other = entry.side == ledger::Side::debit ? sum.credits : sum.debits;
      if (other <= own) {
        return refused_with(Code::unbalanced);
      }
      entry.amount = other - own;
      own = other;
    }
    if (sum.debits != sum.credits) {
      return refused_with(Code::unbalanced);
    }
  }
  if (entries.size() < 2) {
    return refused_with(Code::too_few_entries);
  }
  return std::nullopt;
}

// ---- transactions ----

/// It is decided: nothing refuses it any more.
LedgerItem LedgerModel::make(const Named& key, LedgerTransaction made, ledger::TransactionMade want,
                             const ledger::Operation& asked,
                             const std::vector<ledger::MetadataIn>& metadata) {
  made.seq = books_.at(key).seq + 1;
  made.asked = std::make_shared<const ledger::Operation>(asked);
  made.id = id_of(asked)->value_or("");
  want.id = made.id;
  want.idempotency_key = *key_of(asked);
  want.kind = made.kind;
  want.effective_at = ledger::instant_from_ns(made.effective);
  want.entries = made.entries;
  want.metadata = set_facts({key, 3, made.seq}, made.seq, 0, metadata);
  if (const auto* const create = std::get_if<ledger::CreateTransaction>(&asked)) {
    for (std::size_t i = 0; i < create->entries.size(); ++i) {
      if (create->entries[i].more) {
        const auto more = set_facts({key, 3, made.seq}, made.seq, static_cast<std::uint32_t>(i + 1),
                                    create->entries[i].more->metadata);
        want.metadata.insert(want.metadata.end(), more.begin(), more.end());
      }
    }
  }
  if (!made.id.empty()) {
    save(ids_, {key, made.id});
    ids_[{key, made.id}] = made.seq;
  }
  if (want.idempotency_key) {
    save(keys_, {key, *want.idempotency_key});
    keys_[{key, *want.idempotency_key}] = made.seq;
  }
  const std::string type = made.reverses                ? "ledger.transaction.reversed"
                           : made.kind == Kind::voided  ? "ledger.transaction.voided"
                           : made.resolves              ? "ledger.transaction.posted"
                           : made.kind == Kind::pending ? "ledger.transaction.pending"
                                                        : "ledger.transaction.created";
  const std::uint64_t seq = made.seq;
  LedgerItem item{.accepted = true, .created = true, .seq = seq, .id = made.id};
  record(key, std::move(want));
  commit_moves(key, seq, made.effective);
  if (made.state == HeldState::pending) {
    put_open({key, seq}, true);
  }
  change(TransactionKey{key, seq}) = std::move(made);
  std::vector<std::string> rows = balance_rows(key);
  if (options_.details) {
    item.balances = rows;
  }
  if (options_.preview) {
    item.seq = 0;
    item.created = false;
  }
  tell(key, type, std::move(rows), seq);
  tell_monitors(key);
  return item;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::CreateTransaction& create) {
  if (auto known = repeated(key, create.id, create.idempotency_key, create)) {
    return *known;
  }
  const bool hold = create.kind == Kind::pending;
  if (!hold && (create.expires_at || create.timeout_s)) {
    return refused_member(create.expires_at ? "expires_at" : "timeout");
  }
  if (create.parent && !find_transaction(key, *create.parent)) {
    return refused_with(Code::transaction_not_found);
  }
  LedgerTransaction made{.kind = hold ? Kind::pending : Kind::posted};
  if (auto refusal = resolve(key, create, made.entries)) {
    return *refusal;
  }
  const std::int64_t recorded = next_recorded(key);
  made.effective = create.effective_at ? ledger::to_ns(*create.effective_at) : recorded;
  if (create.effective_at) {
    if (auto refusal = check_effective(key, *create.effective_at)) {
      return *refusal;
    }
  }
  if (create.expires_at) {
    made.expires = ledger::to_ns(*create.expires_at);
  } else if (create.timeout_s) {
    made.expires = recorded + static_cast<std::int64_t>(*create.timeout_s) * 1'000'000'000;
  }
  if (made.expires && *made.expires <= now()) {
    return refused_member(create.expires_at ? "expires_at" : "timeout");
  }
  for (const ledger::Entry& entry : made.entries) {
    if (auto refusal = move(key, entry, hold, false)) {
      return *refusal;
    }
  }
  if (auto refusal = check_all(key, create, ledger::Condition::At::before)) {
    return *refusal;
  }
  if (auto refusal = check_limits(key, false)) {
    return *refusal;
  }
  if (auto refusal = check_all(key, create, ledger::Condition::At::after)) {
    return *refusal;
  }
  if (create.check_history.value_or(false)) {
    if (auto refusal = check_history(key, made.effective)) {
      return *refusal;
    }
  }
  if (hold) {
    made.state = HeldState::pending;
    for (const ledger::Entry& entry : made.entries) {
      made.left.push_back(entry.amount);
    }
  }
  ledger::TransactionMade want{.description = create.description,
                               .reference = create.reference,
                               .parent = create.parent,
                               .check_history = create.check_history.value_or(false),
                               .timeout_s = create.timeout_s.value_or(0)};
  if (made.expires) {
    want.expires_at = ledger::instant_from_ns(*made.expires);
  }
  return make(key, std::move(made), std::move(want), create, create.metadata);
}

// ---- what becomes of a hold ----

std::optional<LedgerItem> LedgerModel::open_hold(const Named& key, const std::string& of,
                                                 std::uint64_t& seq) const {
  const auto found = find_transaction(key, of);
  if (!found) {
    return refused_with(Code::transaction_not_found);
  }
  seq = *found;
  const LedgerTransaction& hold = transactions_.at({key, seq});
  if (hold.kind != Kind::pending) {
    return refused_with(Code::not_pending);
  }
  switch (hold.state) {
    case HeldState::posted: return refused_with(Code::already_posted);
    case HeldState::voided: return refused_with(Code::already_voided);
    case HeldState::expired: return refused_with(Code::expired);
    case HeldState::pending: break;
  }
  return std::nullopt;
}

std::optional<LedgerItem> LedgerModel::amounts_of(
    const LedgerTransaction& target, const std::optional<std::vector<ledger::Amount>>& asked,
    const std::vector<ledger::Amount>& most, Code beyond,
    std::vector<ledger::Amount>& amounts) const {
  amounts = asked.value_or(most);
  if (!asked) {
    return std::nullopt;
  }
  if (amounts.size() != most.size()) {
    return refused_member("amounts");
  }
  std::map<std::string, Wide> sums;
  bool any = false;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (amounts[i] > most[i]) {
      return LedgerItem{.code = beyond, .amounts = most};
    }
    any = any || amounts[i] != 0;
    Wide& sum = sums[target.entries[i].currency];
    const Wide more{.low = amounts[i]};
    sum = target.entries[i].side == ledger::Side::debit ? sum + more : sum - more;
  }
  if (std::ranges::any_of(sums, [](const auto& one) { return one.second != Wide{}; })) {
    return refused_with(Code::unbalanced);
  }
  if (!any) {
    return LedgerItem{.code = Code::amount_invalid, .members = {"amounts"}};
  }
  return std::nullopt;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::PostHold& post) {
  if (auto known = repeated(key, post.id, post.idempotency_key, post)) {
    return *known;
  }
  std::uint64_t of = 0;
  if (auto refusal = open_hold(key, post.of, of)) {
    return *refusal;
  }
  const LedgerTransaction hold = transactions_.at({key, of});
  std::vector<ledger::Amount> amounts;
  if (auto refusal = amounts_of(hold, post.amounts, hold.left, Code::exceeds_hold, amounts)) {
    return *refusal;
  }
  LedgerTransaction made{.kind = Kind::posted, .resolves = of};
  made.effective = std::max(next_recorded(key), hold.effective);
  if (post.effective_at) {
    made.effective = ledger::to_ns(*post.effective_at);
    if (auto refusal = check_effective(key, *post.effective_at)) {
      return *refusal;
    }
    if (made.effective < hold.effective) {
      return refused_with(Code::effective_at_invalid);
    }
  }
  const bool final = post.final.value_or(true) || amounts == hold.left;
  ledger::TransactionMade want{.description = post.description,
                               .resolves = hold.id,
                               .final = final,
                               .asked_final = post.final.value_or(true)};
  LedgerTransaction after = hold;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const ledger::Amount released = final ? hold.left[i] : amounts[i];
    if (released != 0) {
      want.released.push_back({static_cast<std::uint32_t>(i), released});
      release(key, hold.entries[i], released);
      after.left[i] -= released;
    }
  }
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] != 0) {
      made.entries.push_back(hold.entries[i]);
      made.entries.back().amount = amounts[i];
      want.of.push_back(static_cast<std::uint32_t>(i));
      if (auto refusal = move(key, made.entries.back(), false, true)) {
        return *refusal;
      }
    }
  }
  LedgerItem item = make(key, std::move(made), std::move(want), post, post.metadata);
  after.part_posted = true;
  after.resolved_by.push_back(books_.at(key).seq);
  after.state = final ? HeldState::posted : HeldState::pending;
  if (final) {
    put_open({key, of}, false);
  }
  change(TransactionKey{key, of}) = std::move(after);
  return item;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::VoidHold& release_all) {
  if (auto known = repeated(key, release_all.id, release_all.idempotency_key, release_all)) {
    return *known;
  }
  std::uint64_t of = 0;
  if (auto refusal = open_hold(key, release_all.of, of)) {
    return *refusal;
  }
  LedgerTransaction hold = transactions_.at({key, of});
  LedgerTransaction made{.kind = Kind::voided, .resolves = of, .state = HeldState::voided};
  made.effective = std::max(next_recorded(key), hold.effective);
  ledger::TransactionMade want{.description = release_all.description, .resolves = hold.id};
  for (std::size_t i = 0; i < hold.left.size(); ++i) {
    if (hold.left[i] != 0) {
      want.released.push_back({static_cast<std::uint32_t>(i), hold.left[i]});
      want.of.push_back(static_cast<std::uint32_t>(i));
      made.entries.push_back(hold.entries[i]);
      made.entries.back().amount = hold.left[i];
      release(key, hold.entries[i], hold.left[i]);
      hold.left[i] = 0;
    }
  }
  LedgerItem item = make(key, std::move(made), std::move(want), release_all, release_all.metadata);
  hold.resolved_by.push_back(books_.at(key).seq);
  hold.state = HeldState::voided;
  put_open({key, of}, false);
  change(TransactionKey{key, of}) = std::move(hold);
  return item;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::ReverseTransaction& reverse) {
  if (auto known = repeated(key, reverse.id, reverse.idempotency_key, reverse)) {
    return *known;
  }
  if (reverse.force && !options_.may_force) {
    return refused_with(Code::permission_denied);
  }
  const auto of = find_transaction(key, reverse.of);
  if (!of) {
    return refused_with(Code::transaction_not_found);
  }
  LedgerTransaction original = transactions_.at({key, *of});
  if (original.kind != Kind::posted) {
    return refused_with(Code::not_reversible);
  }
  original.reversed.resize(original.entries.size(), 0);
  std::vector<ledger::Amount> most;
  bool whole = true;
  for (std::size_t i = 0; i < original.entries.size(); ++i) {
    most.push_back(original.entries[i].amount - original.reversed[i]);
    whole = whole && original.reversed[i] == 0;
  }
  if (!reverse.amounts && !whole) {
    return {.code = Code::already_reversed, .amounts = most};
  }
  std::vector<ledger::Amount> amounts;
  if (auto refusal = amounts_of(original, reverse.amounts, most, Code::already_reversed, amounts)) {
    return *refusal;
  }
  LedgerTransaction made{.kind = Kind::posted, .reverses = *of};
  made.effective = reverse.effective_original ? original.effective
                   : reverse.effective_at     ? ledger::to_ns(*reverse.effective_at)
                                              : next_recorded(key);
  if (reverse.effective_original || reverse.effective_at) {
    if (auto refusal = check_effective(key, ledger::instant_from_ns(made.effective))) {
      return *refusal;
    }
  }
  ledger::TransactionMade want{
      .description = reverse.description, .reverses = original.id, .force = reverse.force};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] == 0) {
      continue;
    }
    ledger::Entry mirror = original.entries[i];
    mirror.side = mirror.side == ledger::Side::debit ? ledger::Side::credit : ledger::Side::debit;
    mirror.amount = amounts[i];
    made.entries.push_back(mirror);
    want.of.push_back(static_cast<std::uint32_t>(i));
    if (auto refusal = move(key, mirror, false, false)) {
      return *refusal;
    }
    original.reversed[i] += amounts[i];
  }
  if (auto refusal = check_limits(key, reverse.force)) {
    return *refusal;
  }
  LedgerItem item = make(key, std::move(made), std::move(want), reverse, reverse.metadata);
  original.reversed_by.push_back(books_.at(key).seq);
  change(TransactionKey{key, *of}) = std::move(original);
  return item;
}

}  // namespace hk::sim
