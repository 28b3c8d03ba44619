// Events: one for each record, an ordinary message to each subscription of the book, in the commit
// of the record. Monitors tell when a balance comes to be so.
#include <algorithm>

#include "base/date.h"
#include "base/encoding.h"
#include "base/json_string.h"
#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/ledger/id.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/message/messages.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(ledger_event_sent)
HK_SOMETIMES_DECLARE(ledger_event_without_place)
HK_SOMETIMES_DECLARE(ledger_monitor_tells)

namespace hk::core::ledger {

namespace {

constexpr Millis event_timeout{30'000};

/// Members of a JSON object, one after the other.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members() { out_ += '}'; }

  std::string& name(std::string_view name) {
    out_ += first_ ? "\"" : ",\"";
    first_ = false;
    out_ += name;
    out_ += "\":";
    return out_;
  }
  void text(std::string_view member, std::string_view value) {
    append_json_string(name(member), value);
  }
  void number(std::string_view member, std::uint64_t value) {
    name(member) += std::to_string(value);
  }
  void optional(std::string_view member, const std::optional<std::string>& value) {
    if (value) {
      text(member, *value);
    }
  }

 private:
  std::string& out_;
  bool first_ = true;
};

std::string_view side_text(Side side) { return side == Side::debit ? "debit" : "credit"; }

std::string_view type_text(AccountType type) {
  switch (type) {
    case AccountType::asset: return "asset";
    case AccountType::expense: return "expense";
    case AccountType::liability: return "liability";
    case AccountType::equity: return "equity";
    case AccountType::revenue: return "revenue";
  }
  return "";
}

std::string_view state_text(Account::State state) {
  switch (state) {
    case Account::State::open: return "open";
    case Account::State::frozen: return "frozen";
    case Account::State::closed: return "closed";
  }
  return "";
}

void transaction_json(std::string& out, const TransactionMade& made, std::uint64_t seq,
                      std::string_view state) {
  Members members(out);
  members.text("object", "ledger_transaction");
  members.text("id", made.id);
  members.text("kind", made.kind == TransactionMade::Kind::posted    ? "posted"
                       : made.kind == TransactionMade::Kind::pending ? "pending"
                                                                     : "void");
  members.text("state", state);
  members.number("seq", seq);
  members.text("recorded_at", to_text(made.recorded_at));
  members.text("effective_at", to_text(made.effective_at));
  members.optional("idempotency_key", made.idempotency_key);
  if (made.expires_at) {
    members.text("expires_at", to_text(*made.expires_at));
  }
  members.optional("description", made.description);
  members.optional("reference", made.reference);
  members.optional("parent", made.parent);
  members.optional("resolves", made.resolves);
  members.optional("reverses", made.reverses);
  std::string& list = members.name("entries");
  list += '[';
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const Entry& entry = made.entries[i];
    list += i == 0 ? "" : ",";
    Members one(list);
    one.number("index", i);
    one.text("account", entry.account);
    one.text("side", side_text(entry.side));
    one.text("amount", to_text(entry.amount));
    one.text("currency", entry.currency);
  }
  list += ']';
}

}  // namespace

std::string to_text(Instant instant) {
  std::string text;
  append_rfc3339(text, instant);
  return text;
}

/// Of everything that the operation has touched.
void Ledger::balances_json(HotBook& book, std::string& out) {
  out += '[';
  bool first = true;
  for (const Touch& one : touched_) {
    const Standing* const standing = find_standing(one.account->row, one.currency);
    if (standing == nullptr) {
      continue;
    }
    out += first ? "" : ",";
    first = false;
    const Side normal = normal_side(one.account->row.type);
    const Counters128& now = standing->now;
    Members members(out);
    members.text("account", one.account->row.id);
    members.text("currency", ledger::find_currency(book.row, one.currency)->code);
    members.text("debits_posted", to_text(now.debits_posted));
    members.text("credits_posted", to_text(now.credits_posted));
    members.text("debits_pending", to_text(now.debits_pending));
    members.text("credits_pending", to_text(now.credits_pending));
    members.text("posted", to_text(posted(now, normal)));
    members.text("pending", to_text(pending(now, normal)));
    members.text("available", to_text(available(now, normal)));
    members.number("version", standing->version);
  }
  out += ']';
}

void Ledger::tell(HotBook& book, std::string_view type, std::uint64_t seq, Instant recorded_at,
                  const std::string& data) {
  Event event{.tenant = book.row.tenant, .book = book.row.id, .type = std::string(type)};
  {
    Members members(event.body);
    members.text("id", make_id("evt_", recorded_at, seq, context_.rng.next()));
    members.text("type", type);
    members.text("book", book.row.id);
    members.number("seq", seq);
    members.text("recorded_at", to_text(recorded_at));
    members.name("data") += data;
  }
  events_.push_back(std::move(event));
}

void Ledger::tell_of_transaction(HotBook& book, const TransactionMade& made, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  using Kind = TransactionMade::Kind;
  const std::string_view type = made.reverses                ? "ledger.transaction.reversed"
                                : made.kind == Kind::voided  ? "ledger.transaction.voided"
                                : made.resolves              ? "ledger.transaction.posted"
                                : made.kind == Kind::pending ? "ledger.transaction.pending"
                                                             : "ledger.transaction.created";
  std::string data;
  {
    Members members(data);
    transaction_json(members.name("transaction"), made, seq,
                     made.kind == Kind::posted    ? "posted"
                     : made.kind == Kind::pending ? "pending"
                                                  : "voided");
    balances_json(book, members.name("balances"));
  }
  tell(book, type, seq, made.recorded_at, data);
}

void Ledger::tell_of_metadata(HotBook& book, const TransactionMade& made, std::uint64_t of,
                              Instant recorded_at, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  std::string data;
  {
    Members members(data);
    members.name("transaction");
    Members one(data);
    one.text("object", "ledger_transaction");
    one.text("id", made.id);
    one.number("seq", of);
  }
  tell(book, "ledger.transaction.updated", seq, recorded_at, data);
}

void Ledger::tell_of_expiry(HotBook& book, const HoldExpired& expired, const TransactionMade& hold,
                            std::uint64_t of, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  std::string data;
  {
    Members members(data);
    transaction_json(members.name("transaction"), hold, of, "expired");
    balances_json(book, members.name("balances"));
  }
  tell(book, "ledger.transaction.expired", seq, expired.recorded_at, data);
}

void Ledger::tell_of_account(HotBook& book, AccountAt account, std::string_view type,
                             std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  const Account& row = account->row;
  std::string data;
  {
    Members members(data);
    members.name("account");
    Members one(data);
    one.text("object", "ledger_account");
    one.text("id", row.id);
    one.text("path", row.path);
    one.text("type", type_text(row.type));
    one.text("normal_side", side_text(normal_side(row.type)));
    if (row.currency != 0) {
      one.text("currency", ledger::find_currency(book.row, row.currency)->code);
    } else {
      one.name("currency") += "null";
    }
    one.text("state", state_text(row.state));
    one.name("limits");
    Members limits(data);
    for (const AccountLimits& limit : row.limits) {
      limits.name(ledger::find_currency(book.row, limit.currency)->code);
      Members of(data);
      if (limit.min_available) {
        of.text("min_available", to_text(*limit.min_available));
      }
      if (limit.max_balance) {
        of.text("max_balance", to_text(*limit.max_balance));
      }
    }
  }
  tell(book, type, seq, book.recorded_at, data);
}

void Ledger::tell_of_book(HotBook& book, std::string_view type, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  std::string data;
  {
    Members members(data);
    members.name("book");
    Members one(data);
    one.text("object", "ledger_book");
    one.text("id", book.row.id);
    one.text("name", book.row.name);
    if (book.row.closed_through) {
      one.text("closed_through", to_text(*book.row.closed_through));
    } else {
      one.name("closed_through") += "null";
    }
  }
  tell(book, type, seq, book.recorded_at, data);
}

void Ledger::tell_of_checkpoint(HotBook& book, const Checkpoint& checkpoint, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  std::string data;
  {
    Members members(data);
    members.name("checkpoint");
    Members one(data);
    one.number("seq", seq);
    one.number("first_seq", checkpoint.first_seq);
    one.number("last_seq", checkpoint.last_seq);
    one.text("root", hex(checkpoint.root));
    one.text("signature", base64(checkpoint.signature));
  }
  tell(book, "ledger.checkpoint.created", seq, checkpoint.recorded_at, data);
}

/// An edge: what was not so before the operation and is so after it.
void Ledger::tell_monitors(HotBook& book, std::uint64_t seq, Instant recorded_at) {
  if (book.monitors.empty() || book.row.subscriptions.empty()) {
    return;
  }
  for (const Touch& one : touched_) {
    const Account& row = one.account->row;
    const Side normal = normal_side(row.type);
    const auto reading = [&](const Counters128& counters, Reading which) {
      return which == Reading::posted    ? posted(counters, normal)
             : which == Reading::pending ? pending(counters, normal)
                                         : available(counters, normal);
    };
    for (const Monitor& monitor : book.monitors) {
      const bool meant = monitor.currency == one.currency &&
                         (monitor.account.empty() ? path_within(row.path, monitor.prefix)
                                                  : monitor.account == row.id);
      if (!meant || holds(reading(one.before, monitor.reading), monitor.compare, monitor.value) ||
          !holds(reading(one.after, monitor.reading), monitor.compare, monitor.value)) {
        continue;
      }
      HK_SOMETIMES(ledger_monitor_tells);
      std::string data;
      {
        Members members(data);
        members.text("monitor", monitor.id);
        members.text("account", row.id);
        members.text("currency", ledger::find_currency(book.row, one.currency)->code);
        members.text("value", to_text(reading(one.after, monitor.reading)));
        balances_json(book, members.name("balances"));
      }
      tell(book, "ledger.monitor.triggered", seq, recorded_at, data);
    }
  }
}

void Ledger::send_events() {
  for (Event& event : std::exchange(events_, {})) {
    const HotBook& book = books_.at({event.tenant, event.book});
    for (const Subscription& to : book.row.subscriptions) {
      if (!to.types.empty() && std::ranges::find(to.types, event.type) == to.types.end()) {
        continue;
      }
      auto message = std::make_shared<Message>();
      message->tenant = event.tenant;
      message->group = event.book;
      message->body = event.body;
      message->timeout = event_timeout;
      message->trace = fresh_trace(context_.rng);
      if (!to.queue.empty()) {
        const Queue* const queue = queues_.find_pulled(event.tenant, to.queue);
        if (queue == nullptr || queue->deleted) {
          HK_SOMETIMES(ledger_event_without_place);
          continue;
        }
        message->queue = to.queue;
        message->method.clear();
        message->pull.emplace().fifo = queue->pull->fifo;
        HK_SOMETIMES(ledger_event_sent);
        messages_.accept(std::move(message));
        continue;
      }
      // A queue of the subscription keeps them in the order of the records.
      message->queue = to.id;
      message->headers = {{"Content-Type", "application/json"}};
      HK_SOMETIMES(ledger_event_sent);
      if (!to.url.empty()) {
        message->url = to.url;
        message->host = to.host;
        messages_.accept(std::move(message));
        continue;
      }
      message->topic = to.url_group;
      if (!messages_.send(Publish{.message = std::make_unique<Message>(std::move(*message))})) {
        HK_SOMETIMES(ledger_event_without_place);  // the URL group is gone
      }
    }
  }
}

}  // namespace hk::core::ledger
