// Books, accounts, their limits and metadata, who is told: what each operation on them must mean.
#include <algorithm>
#include <map>

#include "sim/ledger_text.h"
#include "sim/model_ledger.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using Code = ledger::Code;

/// Those of ISO 4217 that clients use.
bool is_iso(const std::string& code) {
  return code == "USD" || code == "EUR" || code == "JPY" || code == "KWD";
}

LedgerItem differs(std::vector<std::string> members) {
  return {.code = Code::exists_with_different, .members = std::move(members)};
}

bool same_limits(const std::map<std::string, LedgerLimits>& a,
                 const std::map<std::string, LedgerLimits>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.min == other.second.min &&
           one.second.max == other.second.max;
  });
}

std::vector<ledger::LimitsOf> told_limits(const std::map<std::string, LedgerLimits>& limits) {
  std::vector<ledger::LimitsOf> out;
  for (const auto& [currency, one] : limits) {
    out.push_back({currency, one.min, one.max});
  }
  return out;
}

}  // namespace

// ---- metadata ----

/// What was set, for the record: that there is a hash.
std::vector<ledger::MetadataHash> LedgerModel::set_facts(
    const ObjectKey& key, std::uint64_t seq, std::uint32_t entry,
    const std::vector<ledger::MetadataIn>& metadata) {
  std::vector<ledger::MetadataHash> told;
  if (metadata.empty()) {
    return told;
  }
  save(facts_, key);
  for (const ledger::MetadataIn& one : metadata) {
    facts_[key].push_back({seq, entry, one.key, one.value, false});
    told.push_back({.entry = entry, .key = one.key});
    if (one.value) {
      told.back().hash.emplace();
    }
  }
  return told;
}

/// Did the record set exactly these? Of what was erased nobody knows what it was.
bool LedgerModel::same_facts(const ObjectKey& key, std::uint64_t seq, std::uint32_t entry,
                             const std::vector<ledger::MetadataIn>& metadata) const {
  std::size_t known = 0;
  if (const auto found = facts_.find(key); found != facts_.end()) {
    for (const LedgerFact& fact : found->second) {
      if (fact.seq != seq || fact.entry != entry) {
        continue;
      }
      ++known;
      const auto given = std::ranges::find(metadata, fact.key, &ledger::MetadataIn::key);
      if (given == metadata.end() ||
          (fact.erased ? !given->value.has_value() : given->value != fact.value)) {
        return false;
      }
    }
  }
  return known == metadata.size();
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::SetTransactionMetadata& set) {
  if (set.or_account) {
    if (const auto account = find_account(key, set.transaction)) {
      return decide(key,
                    ledger::ChangeAccount{.account = set.transaction, .metadata = set.metadata});
    }
  }
  const auto of = find_transaction(key, set.transaction);
  if (!of) {
    return refused_with(Code::transaction_not_found);
  }
  const std::string id = transactions_.at({key, *of}).id;
  LedgerItem item{.accepted = true, .id = id};
  if (set.metadata.empty()) {
    return item;
  }
  const std::uint64_t seq = books_.at(key).seq + 1;
  item.seq =
      record(key, ledger::MetadataSet{.transaction = id,
                                      .metadata = set_facts({key, 3, *of}, seq, 0, set.metadata)});
  tell(key, "ledger.transaction.updated", {}, *of);
  return item;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::EraseMetadata& erase) {
  ObjectKey object{key, 1, 0};
  ledger::MetadataErased want{.keys = erase.keys};
  LedgerItem item{.accepted = true, .id = key.second};
  std::optional<std::uint64_t> about;
  if (!erase.account.empty()) {
    const auto account = find_account(key, erase.account);
    if (!account) {
      return refused_with(Code::account_not_found);
    }
    object = {key, 2, accounts_.at({key, *account}).number};
    item.id = want.account = *account;
  } else if (!erase.transaction.empty()) {
    about = find_transaction(key, erase.transaction);
    if (!about) {
      return refused_with(Code::transaction_not_found);
    }
    object = {key, 3, *about};
    item.id = want.transaction = transactions_.at({key, *about}).id;
  }
  const auto found = facts_.find(object);
  const auto meant = [&](const LedgerFact& fact) {
    return fact.value && !fact.erased &&
           (erase.keys.empty() || std::ranges::find(erase.keys, fact.key) != erase.keys.end());
  };
  if (found == facts_.end() || std::ranges::none_of(found->second, meant)) {
    return item;
  }
  save(facts_, object);
  for (LedgerFact& fact : facts_[object]) {
    if (meant(fact)) {
      fact.erased = true;
      fact.value = "";
    }
  }
  const bool of_account = !want.account.empty();
  item.seq = record(key, std::move(want));
  tell(key,
       of_account ? "ledger.account.updated"
       : about    ? "ledger.transaction.updated"
                  : "ledger.book.updated",
       {}, about);
  return item;
}

// ---- books ----

LedgerItem LedgerModel::make_book(const Named& key, const ledger::CreateBook& create) {
  LedgerBook& book = change(key);
  book = {.name = create.name,
          .indexed = create.indexed,
          .asked = std::make_shared<const ledger::CreateBook>(create)};
  record(key, ledger::BookCreated{.id = key.second,
                                  .name = create.name,
                                  .indexed = create.indexed,
                                  .metadata = set_facts({key, 1, 0}, 1, 0, create.metadata)});
  return {.accepted = true, .created = true, .seq = 1, .id = key.second};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::CreateBook& create) {
  const ledger::CreateBook& before = *books_.at(key).asked;
  if (before.name != create.name) {
    return differs({"name"});
  }
  if (!same_facts({key, 1, 0}, 1, 0, create.metadata)) {
    return differs({"metadata"});
  }
  if (before.indexed != create.indexed) {
    return differs({"indexed"});
  }
  return {.accepted = true, .replayed = true, .seq = 1, .id = key.second};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::ChangeBook& changes) {
  LedgerItem item{.accepted = true, .id = key.second};
  if (!changes.name && !changes.indexed && changes.metadata.empty()) {
    return item;
  }
  LedgerBook& book = change(key);
  book.name = changes.name.value_or(book.name);
  book.indexed = changes.indexed.value_or(book.indexed);
  const std::uint64_t seq = book.seq + 1;
  item.seq = record(
      key, ledger::BookChanged{.name = changes.name,
                               .indexed = changes.indexed,
                               .metadata = set_facts({key, 1, 0}, seq, 0, changes.metadata)});
  tell(key, "ledger.book.updated", {});
  return item;
}

bool LedgerModel::knows_currency(const Named& key, const std::string& code) const {
  return is_iso(code) || std::ranges::any_of(books_.at(key).currencies,
                                             [&](const auto& own) { return own.first == code; });
}

/// Clients add none of ISO 4217.
LedgerItem LedgerModel::decide(const Named& key, const ledger::AddCurrency& add) {
  for (const auto& [code, exponent] : books_.at(key).currencies) {
    if (code == add.code) {
      return exponent == add.exponent
                 ? LedgerItem{.accepted = true, .replayed = true, .id = add.code}
                 : differs({"exponent"});
    }
  }
  change(key).currencies.emplace_back(add.code, add.exponent);
  const std::uint64_t seq =
      record(key, ledger::CurrencyAdded{.code = add.code, .exponent = add.exponent});
  tell(key, "ledger.book.updated", {});
  return {.accepted = true, .created = true, .seq = seq, .id = add.code};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::CloseBook& close) {
  LedgerItem item{.accepted = true, .id = key.second};
  const std::optional<std::int64_t> before = books_.at(key).closed;
  const std::optional<std::int64_t> through =
      close.through ? std::optional(ledger::to_ns(*close.through)) : std::nullopt;
  if (through == before) {
    return item;
  }
  const bool reopens = before && (!through || *through < *before);
  if (reopens && close.reason.empty()) {
    return refused_member("reason");
  }
  if (through && *through > now()) {
    return refused_member("through");
  }
  if (!reopens) {
    for (const LedgerTransaction* hold : open_holds(key)) {
      if (hold->effective <= *through) {
        return refused_with(Code::open_holds);
      }
    }
  }
  change(key).closed = through;
  item.seq = record(key, ledger::BookClosed{.through = close.through, .reason = close.reason});
  tell(key, "ledger.book.closed", {});
  return item;
}

// ---- who is told ----

LedgerItem LedgerModel::decide(const Named& key, const ledger::AddSubscription& add) {
  if (!add.queue.empty() && !ties_.pulled({key.first, add.queue})) {
    return refused_member("queue");
  }
  const LedgerBook& before = books_.at(key);
  if (before.subscriptions.size() >= limits_.ledger_subscriptions_max) {
    return {.code = Code::too_many, .members = {"subscriptions"}};
  }
  // Its id is drawn: it is the first in the row that nobody knows.
  const auto row = written_->ledger_books.find(key);
  require(row != written_->ledger_books.end(), "ledger book", "a subscription is not stored");
  const auto fresh = std::ranges::find_if(row->second.subscriptions, [&](const auto& one) {
    return !taken_ids_.contains(one.id) &&
           std::ranges::find(before.subscriptions, one.id, &ledger::Subscription::id) ==
               before.subscriptions.end();
  });
  require(fresh != row->second.subscriptions.end(), "ledger book", "a subscription is not stored");
  taken_ids_.insert(fresh->id);
  const ledger::Subscription made{.id = fresh->id,
                                  .url = add.url,
                                  .host = add.host,
                                  .url_group = add.url_group,
                                  .queue = add.queue,
                                  .types = add.types,
                                  .created_at = ledger::Instant{time_}};
  require(*fresh == made && made.id.starts_with("lsub_"), "ledger book",
          "a subscription is stored differently");
  change(key).subscriptions.push_back(made);
  return {.accepted = true, .created = true, .id = made.id};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::RemoveSubscription& remove) {
  const auto& all = books_.at(key).subscriptions;
  if (std::ranges::find(all, remove.id, &ledger::Subscription::id) == all.end()) {
    return refused_with(Code::subscription_not_found);
  }
  std::erase_if(change(key).subscriptions,
                [&](const ledger::Subscription& one) { return one.id == remove.id; });
  return {.accepted = true, .id = remove.id};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::AddMonitor& add) {
  LedgerMonitor monitor{.asked = add};
  if (!add.account.empty()) {
    const auto account = find_account(key, add.account);
    if (!account) {
      return refused_with(Code::account_not_found);
    }
    monitor.account = *account;
  }
  if (!knows_currency(key, add.currency)) {
    return refused_with(Code::currency_unknown);
  }
  const LedgerBook& before = books_.at(key);
  if (before.monitors.size() >= limits_.ledger_monitors_max) {
    return {.code = Code::too_many, .members = {"monitors"}};
  }
  // Its book may be as new as itself.
  const auto fresh_book = written_->ledger_books.find(key);
  const ledger::BookNumber number =
      fresh_book != written_->ledger_books.end() ? fresh_book->second.number : before.number;
  for (const auto& [row_key, row] : written_->ledger_monitors) {
    if (row && row->tenant == key.first && row->book == number && !taken_ids_.contains(row->id) &&
        std::ranges::find(before.monitors, row->id, &LedgerMonitor::id) == before.monitors.end()) {
      taken_ids_.insert(row->id);
      monitor.id = row->id;
      monitor.number = row->number;
      require(row->account == monitor.account && row->prefix == add.prefix &&
                  row->reading == add.reading && row->compare == add.compare &&
                  row->value == add.value &&
                  (before.monitors.empty() || monitor.number > before.monitors.back().number),
              "ledger monitor", "a monitor is stored differently");
      change(key).monitors.push_back(monitor);
      return {.accepted = true, .created = true, .id = monitor.id};
    }
  }
  require(false, "ledger monitor", "a monitor is not stored");
  return {};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::RemoveMonitor& remove) {
  const auto& all = books_.at(key).monitors;
  const auto found = std::ranges::find(all, remove.id, &LedgerMonitor::id);
  if (found == all.end()) {
    return refused_with(Code::monitor_not_found);
  }
  std::erase_if(change(key).monitors,
                [&](const LedgerMonitor& one) { return one.id == remove.id; });
  return {.accepted = true, .id = remove.id};
}

// ---- accounts ----

std::optional<std::string> LedgerModel::find_account(const Named& key,
                                                     const std::string& name) const {
  const auto found = names_.find({key, name});
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LedgerItem> LedgerModel::merge_limits(const Named& key, LedgerAccount& account,
                                                    const std::vector<ledger::LimitsIn>& limits,
                                                    const std::vector<std::string>& removed) const {
  for (const std::string& code : removed) {
    if (!knows_currency(key, code)) {
      return refused_with(Code::currency_unknown);
    }
    account.limits.erase(code);
  }
  for (const ledger::LimitsIn& given : limits) {
    if (!knows_currency(key, given.currency)) {
      return refused_with(Code::currency_unknown);
    }
    if (!account.currency.empty() && account.currency != given.currency) {
      return refused_with(Code::currency_mismatch);
    }
    LedgerLimits& one = account.limits[given.currency];
    if (given.min_available) {
      one.min = *given.min_available;
    }
    if (given.max_balance) {
      one.max = *given.max_balance;
    }
    if (!one.min && !one.max) {
      account.limits.erase(given.currency);
    }
  }
  return std::nullopt;
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::CreateAccount& create) {
  LedgerAccount account{.id = create.id.value_or(""),
                        .path = create.path.value_or(create.id.value_or("")),
                        .type = create.type,
                        .currency = create.currency.value_or(""),
                        .asked = std::make_shared<const ledger::CreateAccount>(create)};
  for (const std::optional<std::string>* name : {&create.id, &create.path}) {
    const auto found = *name ? find_account(key, **name) : std::nullopt;
    if (!found) {
      continue;
    }
    const LedgerAccount& known = accounts_.at({key, *found});
    LedgerAccount as_made{.currency = known.currency};
    LedgerAccount as_asked{.currency = known.currency};
    const bool limits_fit = !merge_limits(key, as_made, known.asked->limits, {}) &&
                            !merge_limits(key, as_asked, create.limits, {}) &&
                            same_limits(as_made.limits, as_asked.limits);
    if (create.id ? *create.id != known.id : known.asked->id.has_value()) {
      return differs({"id"});
    }
    if (create.path.value_or(known.id) != known.path) {
      return differs({"path"});
    }
    if (create.type != known.type) {
      return differs({"type"});
    }
    if (create.currency.value_or("") != known.currency) {
      return differs({"currency"});
    }
    if (!limits_fit) {
      return differs({"limits"});
    }
    if (!same_facts({key, 2, known.number}, known.seq, 0, create.metadata)) {
      return differs({"metadata"});
    }
    return {.accepted = true, .replayed = true, .seq = known.seq, .id = known.id};
  }
  if (!account.currency.empty() && !knows_currency(key, account.currency)) {
    return refused_with(Code::currency_unknown);
  }
  if (auto refusal = merge_limits(key, account, create.limits, {})) {
    return *refusal;
  }
  account.seq = books_.at(key).seq + 1;
  account.number = ++change(key).accounts;
  // One that gets its id from the server is known by a name that no client uses until then.
  const std::string known_as =
      account.id.empty() ? "?" + std::to_string(account.number) : account.id;
  const std::uint64_t seq =
      record(key,
             ledger::AccountCreated{
                 .id = account.id,
                 .path = account.path,
                 .type = account.type,
                 .currency = account.currency,
                 .limits = told_limits(account.limits),
                 .metadata = set_facts({key, 2, account.number}, account.seq, 0, create.metadata),
                 .number = account.number},
             account.id.empty() ? known_as : "");
  for (const std::string& name : {account.id, account.path}) {
    if (!name.empty()) {
      save(names_, {key, name});
      names_[{key, name}] = known_as;
    }
  }
  const std::string id = account.id;
  if (id.empty()) {
    save(accounts_, {key, known_as});
    accounts_[{key, known_as}] = std::move(account);
  } else {
    change(AccountKey{key, id}) = std::move(account);
  }
  tell(key, "ledger.account.created", {});
  return {.accepted = true, .created = true, .seq = seq, .id = id};
}

LedgerItem LedgerModel::decide(const Named& key, const ledger::ChangeAccount& changes) {
  const auto id = find_account(key, changes.account);
  if (!id) {
    return refused_with(Code::account_not_found);
  }
  const AccountKey at{key, *id};
  LedgerAccount account = accounts_.at(at);
  if (auto refusal = merge_limits(key, account, changes.limits, changes.limits_removed)) {
    return *refusal;
  }
  const bool other_state = changes.state && *changes.state != account.state;
  if (other_state && *changes.state == ledger::Account::State::closed) {
    for (const auto& [currency, standing] : account.standings) {
      const LedgerCounters& now = standing.now;
      if (now[0] != now[1] || now[2] != 0 || now[3] != 0) {
        return refused_with(Code::account_not_empty);
      }
    }
  }
  LedgerItem item{.accepted = true, .id = account.id};
  if (!same_limits(account.limits, accounts_.at(at).limits)) {
    change(at).limits = account.limits;
    item.seq =
        record(key, ledger::LimitsChanged{.id = account.id, .limits = told_limits(account.limits)});
    tell(key, "ledger.limit.changed", {"\"id\":\"" + account.id + "\""});
  }
  if (other_state || !changes.metadata.empty()) {
    if (other_state) {
      change(at).state = *changes.state;
    }
    const std::uint64_t seq = books_.at(key).seq + 1;
    ledger::AccountChanged want{.id = account.id};
    if (other_state) {
      want.state = changes.state;
    }
    want.metadata = set_facts({key, 2, account.number}, seq, 0, changes.metadata);
    item.seq = record(key, std::move(want));
    tell(key, "ledger.account.updated", {"\"id\":\"" + account.id + "\""});
  }
  return item;
}

}  // namespace hk::sim
