// Who keeps books: several clients on a few accounts with limits, who ask again, concurrently and
// after crashes, with the same ids and sometimes with another content.
#include <algorithm>

#include "sim/simulation.h"

namespace hk::sim {

namespace {

using Side = ledger::Side;

constexpr std::size_t ledger_remembered_max = 60;
constexpr std::size_t subscriptions_of_a_book = 2;

std::string account_id(std::uint64_t number) { return "a" + std::to_string(number); }
bool has_path(std::uint64_t number) { return number % 3 == 0; }
std::string account_path(std::uint64_t number) {
  return (number % 2 == 0 ? "even:" : "odd:") + account_id(number);
}

ledger::EntryIn entry_of(std::string account, Side side, ledger::Amount amount,
                         std::string currency) {
  return {.account = std::move(account),
          .currency = std::move(currency),
          .amount = amount,
          .side = side};
}

/// The same request but for one member.
void change_a_member(ledger::Operation& operation, std::uint64_t dice) {
  if (auto* const create = std::get_if<ledger::CreateTransaction>(&operation)) {
    switch (dice % 6) {
      case 0: create->entries.front().amount += 1; break;
      case 1: create->description = "another"; break;
      case 2: create->check_history = !create->check_history.value_or(false); break;
      case 3: create->metadata.push_back({"other", "1"}); break;
      case 4:
        create->conditions.push_back({.account = create->entries.front().account,
                                      .currency = "USD",
                                      .expect_version = dice});
        break;
      default: create->idempotency_key = "another " + std::to_string(dice); break;
    }
  } else if (auto* const post = std::get_if<ledger::PostHold>(&operation)) {
    post->final = !post->final.value_or(true);
  } else if (auto* const release = std::get_if<ledger::VoidHold>(&operation)) {
    release->description = "another";
  } else if (auto* const reverse = std::get_if<ledger::ReverseTransaction>(&operation)) {
    if (dice % 2 == 0) {
      reverse->effective_original = !reverse->effective_original;
      reverse->effective_at.reset();
    } else {
      reverse->description = "another";
    }
  }
}

}  // namespace

ledger::Instant Simulation::ledger_now() {
  return ledger::Instant{std::max(model_.time(), partition_now())};
}

/// Before now, as a rule.
ledger::Instant Simulation::some_effective() {
  const std::chrono::nanoseconds fraction{static_cast<std::int64_t>(rng_.below(1'000'000))};
  if (chance(50)) {
    return ledger_now() + up_to(Millis{330'000}) + fraction;
  }
  return ledger_now() - up_to(config_.gap * 100) - fraction;
}

std::string Simulation::some_account() {
  if (chance(10)) {
    return "nobody";
  }
  const std::uint64_t number = std::min(rng_.below(config_.ledger_accounts),
                                        rng_.below(config_.ledger_accounts));  // some are hot
  return has_path(number) && chance(300) ? account_path(number) : account_id(number);
}

std::string Simulation::some_currency() {
  const std::uint64_t what = rng_.below(100);
  return what < 70 ? "USD" : what < 90 ? "EUR" : what < 98 ? "PTS" : "XYZ";
}

/// One of the last ones, as the model knows them; "nothing" if there is none.
std::string Simulation::some_transaction(const Named& book, bool hold) {
  const auto& all = model_.ledger().transactions();
  auto at = all.upper_bound({book, ~std::uint64_t{0}});
  std::vector<const LedgerTransaction*> found;
  for (std::size_t looked = 0; at != all.begin() && found.size() < 8 && looked < 40; ++looked) {
    --at;
    if (at->first.first != book) {
      break;
    }
    const bool pending = at->second.kind == ledger::TransactionMade::Kind::pending;
    const bool open = at->second.state == LedgerTransaction::State::pending;
    if (pending == hold && (!hold || open || chance(200))) {
      found.push_back(&at->second);
    }
  }
  return found.empty() || chance(20) ? "nothing" : found[rng_.below(found.size())]->id;
}

/// Balanced if the entries are of equal amounts, as they often are.
std::optional<std::vector<ledger::Amount>> Simulation::some_amounts(const Named& book,
                                                                    const std::string& of) {
  const auto seq = model_.ledger().find_transaction(book, of);
  if (!seq || chance(400)) {
    return std::nullopt;
  }
  const LedgerTransaction& target = model_.ledger().transactions().at({book, *seq});
  std::vector<ledger::Amount> amounts;
  const std::uint64_t same = rng_.below(60);
  for (std::size_t i = 0; i < target.entries.size(); ++i) {
    const ledger::Amount most = i < target.left.size() ? target.left[i] : target.entries[i].amount;
    amounts.push_back(chance(50) ? ledger::Amount{rng_.below(150)}
                                 : std::min<ledger::Amount>(same, most));
  }
  return amounts;
}

std::vector<ledger::MetadataIn> Simulation::some_metadata() {
  std::vector<ledger::MetadataIn> metadata;
  for (std::uint64_t i = rng_.below(3); i > 0; --i) {
    metadata.push_back({"m" + std::to_string(i), "v" + std::to_string(rng_.below(3))});
  }
  return metadata;
}

ledger::Condition Simulation::some_condition(const Named& book) {
  ledger::Condition condition{.account = some_account(), .currency = some_currency()};
  if (chance(400)) {
    const auto found = model_.ledger().accounts().find({book, condition.account});
    std::uint64_t version = 0;
    if (found != model_.ledger().accounts().end()) {
      const auto standing = found->second.standings.find(condition.currency);
      version = standing == found->second.standings.end() ? 0 : standing->second.version;
    }
    condition.expect_version = version;
    return condition;
  }
  condition.reading = static_cast<ledger::Reading>(1 + rng_.below(3));
  condition.at = static_cast<ledger::Condition::At>(1 + rng_.below(2));
  condition.compare = static_cast<ledger::Compare>(1 + rng_.below(4));
  condition.value = {chance(500), 1 + rng_.below(300)};
  return condition;
}

std::optional<std::string> Simulation::some_new_id(const Named& book) {
  if (chance(30)) {
    const std::string again = some_transaction(book, chance(300));
    if (again != "nothing") {
      return again;
    }
  }
  return chance(800) ? std::optional("t" + std::to_string(next_op_) + "." +
                                     std::to_string(rng_.below(1000)))
                     : std::nullopt;
}

std::optional<std::string> Simulation::some_new_key() {
  return chance(250)
             ? std::optional("key " + std::to_string(chance(100)
                                                         ? rng_.below(20)
                                                         : next_op_ * 1000 + rng_.below(1000)))
             : std::nullopt;
}

ledger::CreateTransaction Simulation::some_create(const Named& book) {
  ledger::CreateTransaction create{.id = some_new_id(book), .idempotency_key = some_new_key()};
  if (chance(15)) {  // as much as there can be
    create.entries = {entry_of("big0", Side::debit, ledger::amount_max / 2, "USD"),
                      entry_of("big1", Side::credit, ledger::amount_max / 2, "USD")};
    return create;
  }
  const std::string currency = some_currency();
  const ledger::Amount amount = chance(15) ? 0 : 1 + rng_.below(120);
  create.entries = {entry_of(some_account(), Side::debit, amount, currency),
                    entry_of(some_account(), Side::credit, amount, currency)};
  if (chance(250)) {
    const ledger::Amount more = 1 + rng_.below(60);
    const std::string other = some_currency();
    create.entries.push_back(entry_of(some_account(), Side::debit, more, other));
    create.entries.push_back(
        entry_of(some_account(), Side::credit, more + (chance(50) ? 1 : 0), other));
  }
  if (chance(60)) {  // the whole of one account to another
    create.entries.resize(2);
    create.entries[0].given = create.entries[1].given = ledger::EntryIn::Given::rest;
    create.entries[rng_.below(2)].given = ledger::EntryIn::Given::all;
  } else if (chance(60)) {
    auto more = std::make_shared<ledger::EntryIn::More>();
    const bool ratios = chance(500);
    for (std::uint64_t i = 1 + rng_.below(3); i > 0; --i) {
      more->split.push_back(
          {.account = some_account(),
           .how = ratios ? ledger::SplitPart::How::ratio : ledger::SplitPart::How::percent,
           .ratio = 1 + rng_.below(5),
           .percent = 1 + rng_.below(300),
           .percent_decimals = 1});
    }
    if (!ratios) {
      more->split.push_back({.account = some_account(), .how = ledger::SplitPart::How::remainder});
    }
    create.entries[0].account = "";
    create.entries[0].more = std::move(more);
  } else if (chance(80)) {
    auto more = std::make_shared<ledger::EntryIn::More>();
    more->metadata = some_metadata();
    if (chance(500)) {
      more->when.push_back(some_condition(book));
    }
    create.entries[0].more = std::move(more);
  }
  if (chance(350)) {
    create.kind = ledger::TransactionMade::Kind::pending;
    if (chance(350)) {
      create.timeout_s = 1 + rng_.below(static_cast<std::uint64_t>(config_.gap.count()) / 40 + 2);
    } else if (chance(500)) {
      create.expires_at = ledger_now() + up_to(std::min(config_.gap * 40, ledger_timeout_max)) +
                          std::chrono::nanoseconds{static_cast<std::int64_t>(rng_.below(1000))};
    }
  } else if (chance(100)) {
    create.kind = ledger::TransactionMade::Kind::posted;
  }
  if (chance(300)) {
    create.effective_at = some_effective();
    if (chance(400)) {
      create.check_history = true;
    }
  }
  if (chance(100)) {
    create.conditions.push_back(some_condition(book));
  }
  if (chance(100)) {
    create.metadata = some_metadata();
  }
  if (chance(50)) {
    create.description = "what it is for";
    create.reference = "r" + std::to_string(rng_.below(5));
  }
  if (chance(30)) {
    create.parent = some_transaction(book, false);
  }
  return create;
}

ledger::CreateAccount Simulation::some_new_account() {
  const std::uint64_t number = rng_.below(config_.ledger_accounts + 2);
  if (number >= config_.ledger_accounts) {
    return {.id = "big" + std::to_string(number - config_.ledger_accounts),
            .type = ledger::AccountType::asset};
  }
  if (chance(30)) {
    return {.path = chance(500) ? std::optional("made:" + std::to_string(next_op_)) : std::nullopt,
            .type = ledger::AccountType::equity};
  }
  ledger::CreateAccount create{.id = account_id(number),
                               .type = static_cast<ledger::AccountType>(1 + number % 5)};
  if (has_path(number)) {
    create.path = account_path(number);
  }
  if (number % 4 == 1) {
    create.limits = {{.currency = "USD", .min_available = ledger::Signed{}}};
  } else if (number % 4 == 2) {
    create.limits = {{.currency = "USD",
                      .min_available = ledger::Signed{true, 200},
                      .max_balance = ledger::Signed{false, 600}}};
  }
  if (number == 5) {
    create.currency = "USD";
  }
  if (number % 2 == 0) {
    create.metadata = {{"m1", "v" + std::to_string(number)}};
  }
  if (chance(100)) {
    create.type = ledger::AccountType::revenue;
  } else if (chance(50)) {
    create.metadata.push_back({"m2", "other"});
  }
  return create;
}

ledger::ChangeAccount Simulation::some_account_change() {
  ledger::ChangeAccount change{.account = some_account()};
  switch (rng_.below(3)) {
    case 0:
      change.state = chance(600) ? ledger::Account::State::open
                                 : static_cast<ledger::Account::State>(2 + rng_.below(2));
      break;
    case 1: {
      ledger::LimitsIn limits{.currency = some_currency()};
      if (chance(700)) {
        limits.min_available = chance(300) ? std::optional<ledger::Signed>{}
                                           : ledger::Signed{true, 1 + rng_.below(300)};
      }
      if (chance(300)) {
        limits.max_balance = chance(500) ? std::optional<ledger::Signed>{}
                                         : ledger::Signed{false, 1 + rng_.below(900)};
      }
      change.limits.push_back(std::move(limits));
      if (chance(100)) {
        change.limits_removed.push_back(some_currency());
      }
      break;
    }
    default:
      change.metadata = some_metadata();
      if (chance(200)) {
        change.metadata.push_back({"m3", std::nullopt});
      }
  }
  return change;
}

void Simulation::fill_following(ledger::Following& following, const Named& book, bool hold) {
  following.of = some_transaction(book, chance(50) != hold);
  following.id = some_new_id(book);
  following.idempotency_key = some_new_key();
  if (chance(50)) {
    following.description = "why";
  }
  if (chance(50)) {
    following.metadata = some_metadata();
  }
}

/// One that may stand in a batch.
ledger::Operation Simulation::some_ledger_item(const Named& book) {
  const std::uint64_t what = rng_.below(1000);
  if (what < 560) {
    return some_create(book);
  }
  if (what < 680) {
    ledger::PostHold post;
    fill_following(post, book, true);
    post.amounts = some_amounts(book, post.of);
    if (chance(500)) {
      post.final = chance(400);
    }
    if (chance(80)) {
      post.effective_at = some_effective();
    }
    return post;
  }
  if (what < 740) {
    ledger::VoidHold release;
    fill_following(release, book, true);
    return release;
  }
  if (what < 840) {
    ledger::ReverseTransaction reverse;
    fill_following(reverse, book, false);
    reverse.amounts = some_amounts(book, reverse.of);
    reverse.effective_original = chance(250);
    if (!reverse.effective_original && chance(100)) {
      reverse.effective_at = some_effective();
    }
    reverse.force = chance(80);
    return reverse;
  }
  if (what < 890) {
    return some_new_account();
  }
  if (what < 950) {
    return some_account_change();
  }
  if (what < 980) {
    const bool account = chance(400);
    return ledger::SetTransactionMetadata{
        .transaction = account ? some_account() : some_transaction(book, chance(300)),
        .or_account = account,
        .metadata = some_metadata()};
  }
  return ledger::AssertConditions{{some_condition(book)}};
}

/// One that comes alone.
ledger::Operation Simulation::some_ledger_setting(const Named& book) {
  const auto known = model_.ledger().books().find(book);
  switch (rng_.below(10)) {
    case 0: return ledger::AddCurrency{"PTS", chance(100) ? 3U : 2U};
    case 1:
      return ledger::ChangeBook{
          .name = chance(500) ? std::optional("name " + book.second) : std::nullopt,
          .metadata = some_metadata()};
    case 2: {
      ledger::EraseMetadata erase;
      if (chance(400)) {
        erase.account = some_account();
      } else if (chance(700)) {
        erase.transaction = some_transaction(book, chance(300));
      }
      if (chance(500)) {
        erase.keys = {"m1"};
      }
      return erase;
    }
    case 3:
    case 4: {
      ledger::CloseBook close{.reason = chance(900) ? "because" : ""};
      if (chance(850)) {
        close.through =
            ledger_now() - up_to(config_.gap * 60) + (chance(50) ? Millis{90'000} : Millis{0});
      }
      return close;
    }
    case 5: {
      if (known != model_.ledger().books().end() && !known->second.monitors.empty() &&
          chance(400)) {
        return ledger::RemoveMonitor{chance(100) ? "lmon_nothing"
                                                 : known->second.monitors.front().id};
      }
      ledger::AddMonitor monitor{.currency = some_currency(),
                                 .reading = static_cast<ledger::Reading>(1 + rng_.below(3)),
                                 .compare = static_cast<ledger::Compare>(1 + rng_.below(4)),
                                 .value = {chance(500), 1 + rng_.below(200)}};
      (chance(500) ? monitor.account : monitor.prefix) = chance(500) ? "even" : some_account();
      return monitor;
    }
    case 6:
    case 7: {
      const bool full = known != model_.ledger().books().end() &&
                        known->second.subscriptions.size() >= subscriptions_of_a_book;
      if (config_.ledger_bulk > 0 || full || chance(100)) {
        return ledger::RemoveSubscription{
            full && chance(700) ? known->second.subscriptions.front().id : "lsub_nothing"};
      }
      ledger::AddSubscription add;
      if (config_.pull_queues > 0 && chance(500)) {
        add.queue = pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
      } else if (config_.url_groups > 0 && chance(300)) {
        add.url_group = "g" + std::to_string(rng_.below(config_.url_groups));
      } else {
        const HostConfig& host = config_.hosts[rng_.below(config_.hosts.size())];
        add.url = host.name + "/ledger";
        add.host = host.name;
      }
      if (chance(300)) {
        add.types = {"ledger.transaction.created", "ledger.transaction.expired"};
      }
      return add;
    }
    default: {
      ledger::CreateBook create{.indexed = {"m1"}};
      if (chance(100)) {
        create.name = "another";
      }
      return create;
    }
  }
}

/// So much at once that checkpoints come by count, and histories have blocks and trees.
Op Simulation::make_ledger_bulk(const Named& book) {
  ledger::Apply apply{.tenant = book.first, .book = book.second};
  for (const char* const id : {"bulk0", "bulk1"}) {
    apply.items.push_back(
        {.operation = ledger::CreateAccount{.id = id, .type = ledger::AccountType::asset}});
  }
  for (std::uint64_t left = 1050 + rng_.below(200); left > 0; --left) {
    ledger::CreateTransaction create;
    const std::uint64_t from = rng_.below(2);
    create.entries = {entry_of(from == 0 ? "bulk0" : "bulk1", Side::debit, 1 + left % 50, "USD"),
                      entry_of(from == 0 ? "bulk1" : "bulk0", Side::credit, 1 + left % 50, "USD")};
    if (chance(400)) {
      create.effective_at = some_effective();
    }
    apply.items.push_back({.operation = std::move(create)});
  }
  // More than there can be: of these the last is refused at the latest.
  for (const char* const id : {"big0", "big1"}) {
    apply.items.push_back(
        {.operation = ledger::CreateAccount{.id = id, .type = ledger::AccountType::asset}});
  }
  for (int i = 0; i < 3; ++i) {
    ledger::CreateTransaction create;
    create.entries = {entry_of("big0", Side::debit, ledger::amount_max / 2, "USD"),
                      entry_of("big1", Side::credit, ledger::amount_max / 2, "USD")};
    apply.items.push_back({.operation = std::move(create)});
  }
  return {.kind = Op::Kind::ledger,
          .tenant = book.first,
          .ledger = std::make_shared<const ledger::Apply>(std::move(apply))};
}

Op Simulation::make_ledger_op() {
  const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  const Named book{tenant, rng_.below(config_.ledger_books) == 0 ? "main" : "other"};
  if (config_.ledger_bulk > 0 && !bulk_made_ && chance(20)) {
    bulk_made_ = true;
    return make_ledger_bulk(book);
  }
  ledger::Apply apply{.tenant = tenant, .book = book.second};
  apply.tenant = chance(config_.bad_requests) ? core::TenantId{99} : tenant;
  apply.may_force = chance(500);
  apply.details = chance(300);
  const auto known = model_.ledger().books().find(book);
  const bool fresh =
      known == model_.ledger().books().end() || known->second.accounts < config_.ledger_accounts;
  if (fresh && chance(300)) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      apply.items.push_back({.operation = some_new_account()});
    }
  } else if (chance(120)) {
    apply.items.push_back({.operation = some_ledger_setting(book)});
  } else if (chance(250)) {
    apply.mode = static_cast<ledger::Apply::Mode>(rng_.below(3));
    apply.limits_at_end = chance(400);
    for (std::uint64_t left = 2 + rng_.below(6); left > 0; --left) {
      apply.items.push_back({.operation = some_ledger_item(book),
                             .group = chance(700) ? std::to_string(rng_.below(3)) : ""});
    }
  } else {
    apply.items.push_back({.operation = some_ledger_item(book)});
  }
  const bool of_transactions = std::ranges::all_of(apply.items, [](const ledger::Item& item) {
    return std::holds_alternative<ledger::CreateTransaction>(item.operation) ||
           std::holds_alternative<ledger::ReverseTransaction>(item.operation);
  });
  apply.preview = of_transactions && chance(60);
  return {.kind = Op::Kind::ledger,
          .tenant = apply.tenant,
          .ledger = std::make_shared<const ledger::Apply>(std::move(apply))};
}

void Simulation::ledger_acts() {
  if (!ledger_ops_.empty() && chance(150)) {
    Op again = ledger_ops_[rng_.below(ledger_ops_.size())];
    if (chance(400)) {
      auto other = std::make_shared<ledger::Apply>(*again.ledger);
      change_a_member(other->items[rng_.below(other->items.size())].operation, rng_.next());
      again.ledger = std::move(other);
    }
    submit(std::move(again));
    return;
  }
  Op op = make_ledger_op();
  if (op.ledger->items.size() < 50) {
    if (ledger_ops_.size() < ledger_remembered_max) {
      ledger_ops_.push_back(op);
    } else {
      ledger_ops_[rng_.below(ledger_ops_.size())] = op;
    }
    // Together: of what has an id one is done, whichever comes first.
    for (std::uint64_t more = chance(150) ? 1 + rng_.below(2) : 0; more > 0; --more) {
      submit(op);
    }
  }
  submit(std::move(op));
}

/// Seen from outside: what was acknowledged stays, under its id, as the same record.
void Simulation::ledger_answered(const Op& op, const core::ledger::LedgerApplied& told) {
  for (const core::ledger::ItemResult& result : told.results) {
    if (!result) {
      continue;
    }
    digest(result->id);
    if (result->seq != 0 && (result->created || result->replayed) && !op.ledger->preview) {
      const auto [known, fresh] = ledger_acked_.try_emplace(
          {{op.ledger->tenant, op.ledger->book}, result->id}, result->seq);
      require(known->second == result->seq, "ledger unique",
              result->id + " was acknowledged as two records");
    }
  }
}

void Simulation::check_ledger_acked() const {
  for (const auto& [key, seq] : ledger_acked_) {
    const auto transaction = model_.ledger().find_transaction(key.first, key.second);
    const auto account = model_.ledger().accounts().find(key);
    require((transaction && *transaction == seq) ||
                (account != model_.ledger().accounts().end() && account->second.seq == seq) ||
                (seq == 1 && key.second == key.first.second &&
                 model_.ledger().books().contains(key.first)) ||
                key.second == "PTS",
            "I2 present", key.second + " was acknowledged and is gone");
  }
}

}  // namespace hk::sim
