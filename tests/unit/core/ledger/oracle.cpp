#include "unit/core/ledger/oracle.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace hk::core::testing {

using namespace ledger;

namespace {

std::string text_of(const CreateTransaction& create) {
  std::string text = create.kind ? std::to_string(static_cast<int>(*create.kind)) : "-";
  text += create.effective_at ? std::to_string(to_ns(*create.effective_at)) : "-";
  text += ' ' + (create.timeout_s ? std::to_string(*create.timeout_s) : "-");
  for (const EntryIn& entry : create.entries) {
    text += ' ' + entry.account + '/' + entry.currency + '/' + to_text(entry.amount) + '/' +
            std::to_string(static_cast<int>(entry.side));
  }
  return text;
}

int counter_of(Side side, bool pending) {
  return (side == Side::debit ? 0 : 1) + (pending ? 2 : 0);
}

bool normal_debit(AccountType type) {
  return type == AccountType::asset || type == AccountType::expense;
}

Signed sum_of(Signed a, Signed b) {
  if (a.negative == b.negative) {
    return {a.negative, a.magnitude + b.magnitude};
  }
  const Signed& large = a.magnitude >= b.magnitude ? a : b;
  const Signed& small = a.magnitude >= b.magnitude ? b : a;
  const Amount rest = large.magnitude - small.magnitude;
  return {rest != 0 && large.negative, rest};
}

Signed difference(Amount plus, Amount minus) {
  return plus >= minus ? Signed{false, plus - minus} : Signed{true, minus - plus};
}

Signed available_of(const std::vector<Amount>& c, bool debit) {
  return sum_of(debit ? difference(c[0], c[1]) : difference(c[1], c[0]),
                difference(0, debit ? c[3] : c[2]));
}
Signed pending_of(const std::vector<Amount>& c, bool debit) {
  return sum_of(debit ? difference(c[0], c[1]) : difference(c[1], c[0]),
                debit ? difference(c[2], c[3]) : difference(c[3], c[2]));
}

}  // namespace

std::vector<Amount> Oracle::counters(const std::string& account, const std::string& currency,
                                     std::optional<std::int64_t> effective,
                                     std::optional<std::uint64_t> seq) const {
  std::vector<Amount> sums(4, 0);
  for (const Move& move : world.moves) {
    if (move.account == account && move.currency == currency &&
        (!effective || move.effective <= *effective) && (!seq || move.seq <= *seq)) {
      Amount& sum = sums[static_cast<std::size_t>(move.counter)];
      sum = move.less ? sum - move.amount : sum + move.amount;
    }
  }
  return sums;
}

std::uint64_t Oracle::version(const std::string& account, const std::string& currency,
                              std::optional<std::uint64_t> seq) const {
  std::set<std::uint64_t> seqs;
  for (const Move& move : world.moves) {
    if (move.account == account && move.currency == currency && (!seq || move.seq <= *seq)) {
      seqs.insert(move.seq);
    }
  }
  return seqs.size();
}

std::int64_t Oracle::record(std::int64_t now) {
  ++world.seq;
  world.recorded = std::max(now, world.recorded + 1);
  if (world.uncovered++ == 0) {
    world.uncovered_since = world.recorded;
  }
  return world.recorded;
}

void Oracle::cover(std::int64_t now) {
  if (world.uncovered >= 1024 ||
      (world.uncovered > 0 && world.uncovered_since + 60'000'000'000 <= now)) {
    ++world.seq;
    world.recorded = std::max(now, world.recorded + 1);
    world.uncovered = 0;
  }
}

void Oracle::expire(std::int64_t now) {
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::size_t>> due;
  for (std::size_t i = 0; i < world.transactions.size(); ++i) {
    const Transaction& one = world.transactions[i];
    if (one.state == "pending" && one.expires != 0 && one.expires <= now) {
      due.emplace_back(one.expires, one.seq, i);
    }
  }
  std::ranges::sort(due);
  for (const auto& [expires, seq, at] : due) {
    Transaction& one = world.transactions[at];
    const std::int64_t recorded = record(now);
    for (std::size_t i = 0; i < one.entries.size(); ++i) {
      if (one.left[i] != 0) {
        world.moves.push_back({world.seq, one.entries[i].account, one.entries[i].currency,
                               counter_of(one.entries[i].side, true), true, one.left[i],
                               std::max(recorded, one.effective)});
        one.left[i] = 0;
      }
    }
    one.state = "expired";
  }
}

void Oracle::advance(std::int64_t now) {
  expire(now);
  cover(now);
}

Oracle::Transaction* Oracle::find(const std::string& id) {
  const auto found = std::ranges::find(world.transactions, id, &Transaction::id);
  return found == world.transactions.end() ? nullptr : &*found;
}

std::string Oracle::limits(const std::vector<Move>& moves) const {
  // In the order in which the accounts are first moved.
  std::vector<std::pair<std::string, std::string>> order;
  for (const Move& move : moves) {
    if (std::ranges::find(order, std::pair{move.account, move.currency}) == order.end()) {
      order.emplace_back(move.account, move.currency);
    }
  }
  for (const auto& [account, currency] : order) {
    const Account& row = world.accounts.at(account);
    const bool debit = normal_debit(row.type);
    const std::vector<Amount> before = counters(account, currency);
    std::vector<Amount> after = before;
    for (const Move& move : moves) {
      if (move.account == account && move.currency == currency) {
        after[static_cast<std::size_t>(move.counter)] += move.amount;
      }
    }
    const auto min = row.min.find(currency);
    if (min != row.min.end() && min->second &&
        available_of(after, debit) < available_of(before, debit) &&
        available_of(after, debit) < *min->second) {
      return "insufficient_funds";
    }
    const auto max = row.max.find(currency);
    if (max != row.max.end() && max->second &&
        pending_of(after, debit) > pending_of(before, debit) &&
        pending_of(after, debit) > *max->second) {
      return "limit_exceeded";
    }
  }
  return "";
}

std::string Oracle::repeated(const std::optional<std::string>& id, const std::string& body,
                             Transaction*& found) {
  found = id ? find(*id) : nullptr;
  if (found == nullptr) {
    return "";
  }
  return found->body == body ? "" : "exists";
}

std::string Oracle::decide(std::int64_t now, const CreateAccount& create) {
  if (world.accounts.contains(*create.id)) {
    const Account& row = world.accounts.at(*create.id);
    // Compared with how it was created, whatever became of its limits.
    return row.type == create.type && row.plain && create.limits.empty() && !create.currency
               ? ""
               : "exists";
  }
  Account row{.type = create.type,
              .currency = create.currency.value_or(""),
              .plain = create.limits.empty() && !create.currency};
  for (const LimitsIn& limit : create.limits) {
    if (limit.min_available) {
      row.min[limit.currency] = *limit.min_available;
    }
    if (limit.max_balance) {
      row.max[limit.currency] = *limit.max_balance;
    }
  }
  record(now);
  world.accounts[*create.id] = row;
  return "";
}

std::string Oracle::decide(std::int64_t now, const ChangeAccount& change) {
  if (!world.accounts.contains(change.account)) {
    return "account_not_found";
  }
  Account& row = world.accounts.at(change.account);
  const std::string wanted = !change.state                                     ? row.state
                             : *change.state == ledger::Account::State::open   ? "open"
                             : *change.state == ledger::Account::State::frozen ? "frozen"
                                                                               : "closed";
  if (wanted == "closed" && row.state != "closed") {
    for (const std::string currency : {"USD", "EUR"}) {
      const auto c = counters(change.account, currency);
      if (c[0] != c[1] || c[2] != 0 || c[3] != 0) {
        return "account_not_empty";
      }
    }
  }
  const auto before_min = row.min;
  const auto before_max = row.max;
  for (const LimitsIn& limit : change.limits) {
    if (limit.min_available) {
      row.min[limit.currency] = *limit.min_available;
    }
    if (limit.max_balance) {
      row.max[limit.currency] = *limit.max_balance;
    }
  }
  const auto real = [](auto limits) {
    std::erase_if(limits, [](const auto& one) { return !one.second; });
    return limits;
  };
  if (real(before_min) != real(row.min) || real(before_max) != real(row.max)) {
    record(now);
  }
  if (wanted != row.state) {
    row.state = wanted;
    record(now);
  }
  return "";
}

std::string Oracle::decide(std::int64_t now, const CreateTransaction& create) {
  Transaction* found = nullptr;
  const std::string body = text_of(create);
  if (const std::string code = repeated(create.id, body, found); found != nullptr) {
    return code;
  }
  const bool hold = create.kind == TransactionMade::Kind::pending;
  std::vector<std::tuple<std::string, Amount, Amount>> sums;
  for (const EntryIn& entry : create.entries) {
    if (!world.accounts.contains(entry.account)) {
      return "account_not_found";
    }
    if (entry.amount == 0) {
      return "amount_invalid";
    }
    const std::string& locked = world.accounts.at(entry.account).currency;
    if (!locked.empty() && locked != entry.currency) {
      return "currency_mismatch";
    }
    auto sum = std::ranges::find_if(
        sums, [&](const auto& one) { return std::get<0>(one) == entry.currency; });
    if (sum == sums.end()) {
      sums.emplace_back(entry.currency, 0, 0);
      sum = sums.end() - 1;
    }
    (entry.side == Side::debit ? std::get<1>(*sum) : std::get<2>(*sum)) += entry.amount;
  }
  for (const auto& [currency, debits, credits] : sums) {
    if (debits != credits) {
      return "unbalanced";
    }
  }
  const std::int64_t recorded = std::max(now, world.recorded + 1);
  const std::int64_t effective = create.effective_at ? to_ns(*create.effective_at) : recorded;
  if (create.effective_at) {
    if (effective > now + 300'000'000'000) {
      return "effective_at_invalid";
    }
    if (world.closed && effective <= *world.closed) {
      return "period_closed";
    }
  }
  std::vector<Move> moves;
  for (const EntryIn& entry : create.entries) {
    const std::string& state = world.accounts.at(entry.account).state;
    if (state != "open") {
      return "account_" + state;
    }
    moves.push_back({world.seq + 1, entry.account, entry.currency, counter_of(entry.side, hold),
                     false, entry.amount, effective});
  }
  if (const std::string code = limits(moves); !code.empty()) {
    return code;
  }
  record(now);
  Transaction made{.seq = world.seq,
                   .id = create.id.value_or("#" + std::to_string(world.seq)),
                   .body = body,
                   .kind = hold ? 2 : 1,
                   .effective = effective,
                   .state = hold ? "pending" : "posted"};
  if (create.timeout_s) {
    made.expires = recorded + static_cast<std::int64_t>(*create.timeout_s) * 1'000'000'000;
  }
  for (const EntryIn& entry : create.entries) {
    made.entries.push_back({entry.account, entry.side, entry.amount, entry.currency});
    made.left.push_back(hold ? entry.amount : 0);
  }
  made.reversed.assign(made.entries.size(), 0);
  world.transactions.push_back(std::move(made));
  world.moves.insert(world.moves.end(), moves.begin(), moves.end());
  return "";
}

namespace {

std::string check_amounts(const Oracle::Transaction& target, const std::vector<Amount>& amounts,
                          const std::vector<Amount>& most, const std::string& beyond) {
  std::map<std::string, std::pair<Amount, Amount>> sums;
  Amount all = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] > most[i]) {
      return beyond;
    }
    auto& sum = sums[target.entries[i].currency];
    (target.entries[i].side == Side::debit ? sum.first : sum.second) += amounts[i];
    all += amounts[i];
  }
  for (const auto& [currency, sum] : sums) {
    if (sum.first != sum.second) {
      return "unbalanced";
    }
  }
  return all == 0 ? "amount_invalid" : "";
}

}  // namespace

std::string Oracle::decide(std::int64_t now, const PostHold& post) {
  std::string body = "post " + post.of + (post.final ? (*post.final ? " f" : " n") : " -");
  for (const Amount amount : post.amounts.value_or(std::vector<Amount>{})) {
    body += ' ' + to_text(amount);
  }
  Transaction* found = nullptr;
  if (const std::string code = repeated(post.id, body, found); found != nullptr) {
    return code;
  }
  Transaction* const hold = find(post.of);
  if (hold == nullptr) {
    return "transaction_not_found";
  }
  if (hold->kind != 2) {
    return "not_pending";
  }
  if (hold->state != "pending") {
    return hold->state == "expired" ? "expired" : "already_" + hold->state;
  }
  const std::vector<Amount> amounts = post.amounts.value_or(hold->left);
  if (post.amounts) {
    if (const std::string code = check_amounts(*hold, amounts, hold->left, "exceeds_hold");
        !code.empty()) {
      return code;
    }
  }
  const bool final = post.final.value_or(true) || amounts == hold->left;
  const std::int64_t recorded = record(now);
  Transaction made{.seq = world.seq,
                   .id = post.id.value_or("#" + std::to_string(world.seq)),
                   .body = body,
                   .effective = std::max(recorded, hold->effective)};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Entry& entry = hold->entries[i];
    const Amount released = final ? hold->left[i] : amounts[i];
    world.moves.push_back({world.seq, entry.account, entry.currency, counter_of(entry.side, true),
                           true, released, made.effective});
    world.moves.push_back({world.seq, entry.account, entry.currency, counter_of(entry.side, false),
                           false, amounts[i], made.effective});
    if (released == 0) {
      world.moves.pop_back();
      world.moves.pop_back();
    } else if (amounts[i] == 0) {
      world.moves.pop_back();
    }
    hold->left[i] -= released;
    if (amounts[i] != 0) {
      made.entries.push_back(entry);
      made.entries.back().amount = amounts[i];
      made.reversed.push_back(0);
    }
  }
  if (final) {
    hold->state = "posted";
  }
  world.transactions.push_back(std::move(made));
  return "";
}

std::string Oracle::decide(std::int64_t now, const VoidHold& release) {
  Transaction* found = nullptr;
  const std::string body = "void " + release.of;
  if (const std::string code = repeated(release.id, body, found); found != nullptr) {
    return code;
  }
  Transaction* const hold = find(release.of);
  if (hold == nullptr) {
    return "transaction_not_found";
  }
  if (hold->kind != 2) {
    return "not_pending";
  }
  if (hold->state != "pending") {
    return hold->state == "expired" ? "expired" : "already_" + hold->state;
  }
  const std::int64_t recorded = record(now);
  Transaction made{.seq = world.seq,
                   .id = release.id.value_or("#" + std::to_string(world.seq)),
                   .body = body,
                   .kind = 3,
                   .effective = std::max(recorded, hold->effective),
                   .state = "voided"};
  for (std::size_t i = 0; i < hold->left.size(); ++i) {
    if (hold->left[i] != 0) {
      world.moves.push_back({world.seq, hold->entries[i].account, hold->entries[i].currency,
                             counter_of(hold->entries[i].side, true), true, hold->left[i],
                             made.effective});
      hold->left[i] = 0;
    }
  }
  hold->state = "voided";
  world.transactions.push_back(std::move(made));
  return "";
}

std::string Oracle::decide(std::int64_t now, const ReverseTransaction& reverse) {
  std::string body = "reverse " + reverse.of + (reverse.effective_original ? " o" : "");
  for (const Amount amount : reverse.amounts.value_or(std::vector<Amount>{})) {
    body += ' ' + to_text(amount);
  }
  Transaction* found = nullptr;
  if (const std::string code = repeated(reverse.id, body, found); found != nullptr) {
    return code;
  }
  Transaction* const target = find(reverse.of);
  if (target == nullptr) {
    return "transaction_not_found";
  }
  if (target->kind != 1) {
    return "not_reversible";
  }
  std::vector<Amount> most;
  bool touched = false;
  for (std::size_t i = 0; i < target->entries.size(); ++i) {
    most.push_back(target->entries[i].amount - target->reversed[i]);
    touched = touched || target->reversed[i] != 0;
  }
  if (!reverse.amounts && touched) {
    return "already_reversed";
  }
  const std::vector<Amount> amounts = reverse.amounts.value_or(most);
  if (reverse.amounts) {
    if (const std::string code = check_amounts(*target, amounts, most, "already_reversed");
        !code.empty()) {
      return code;
    }
  }
  const std::int64_t recorded = std::max(now, world.recorded + 1);
  const std::int64_t effective = reverse.effective_original ? target->effective : recorded;
  if (reverse.effective_original) {
    if (effective > now + 300'000'000'000) {
      return "effective_at_invalid";
    }
    if (world.closed && effective <= *world.closed) {
      return "period_closed";
    }
  }
  std::vector<Move> moves;
  Transaction made{.seq = world.seq + 1,
                   .id = reverse.id.value_or("#" + std::to_string(world.seq + 1)),
                   .body = body,
                   .reversal = true,
                   .effective = effective};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] == 0) {
      continue;
    }
    const Entry& entry = target->entries[i];
    const Side side = entry.side == Side::debit ? Side::credit : Side::debit;
    if (world.accounts.at(entry.account).state != "open") {
      return "account_" + world.accounts.at(entry.account).state;
    }
    moves.push_back({world.seq + 1, entry.account, entry.currency, counter_of(side, false), false,
                     amounts[i], effective});
    made.entries.push_back({entry.account, side, amounts[i], entry.currency});
    made.reversed.push_back(0);
  }
  if (const std::string code = limits(moves); !code.empty()) {
    return code;
  }
  record(now);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    target->reversed[i] += amounts[i];
  }
  world.moves.insert(world.moves.end(), moves.begin(), moves.end());
  world.transactions.push_back(std::move(made));
  return "";
}

std::string Oracle::decide(std::int64_t now, const CloseBook& close) {
  const std::optional<std::int64_t> through =
      close.through ? std::optional(to_ns(*close.through)) : std::nullopt;
  if (through == world.closed) {
    return "";
  }
  const bool reopens = world.closed && (!through || *through < *world.closed);
  if (through && *through > now) {
    return "invalid through";
  }
  if (!reopens) {
    for (const Transaction& one : world.transactions) {
      if (one.state == "pending" && one.effective <= *through) {
        return "open_holds";
      }
    }
  }
  world.closed = through;
  record(now);
  return "";
}

std::string Oracle::one(std::int64_t now, const Operation& operation) {
  expire(now);
  return std::visit([&](const auto& asked) { return decide(now, asked); }, operation);
}

std::vector<std::string> Oracle::apply(std::int64_t now, const std::vector<Operation>& operations,
                                       bool atomic) {
  std::vector<std::string> codes;
  // What is over is over, whatever comes of the request.
  const auto seq = world.seq;
  expire(now);
  if (world.seq != seq) {
    cover(now);
  }
  const World before = world;
  for (const Operation& operation : operations) {
    codes.push_back(one(now, operation));
    if (!atomic) {
      cover(now);
    } else if (!codes.back().empty()) {
      world = before;
      const std::string why = codes.back();
      codes.assign(operations.size(), "linked_failed");
      codes[static_cast<std::size_t>(&operation - operations.data())] = why;
      break;
    }
  }
  if (atomic && world.seq != before.seq) {
    cover(now);
  }
  return codes;
}

}  // namespace hk::core::testing
