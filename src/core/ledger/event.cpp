// Events: one for each record, an ordinary message to each subscription of the book, in the commit
// of the record. Monitors tell when a balance comes to be so.
#include <algorithm>

#include "base/date.h"
#include "base/json.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/fresh_trace.h"
#include "core/ledger/inside.h"
#include "core/ledger/json.h"
#include "core/ledger/ledger.h"
#include "core/message/messages.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(ledger_event_sent)
HK_SOMETIMES_DECLARE(ledger_event_without_place)
HK_SOMETIMES_DECLARE(ledger_monitor_tells)

namespace hk::core::ledger {

namespace {

constexpr Millis event_timeout{30'000};

}  // namespace

std::string to_text(Instant instant) {
  std::string text;
  append_rfc3339(text, instant);
  return text;
}

/// Of everything that the operation has touched.
void Ledger::write_balances(HotBook& book, JsonWriter& json) {
  json.key("balances");
  json.begin_array();
  for (const BalanceAfter& row : balances_of_touched(book)) {
    write_balance_after(json, row);
  }
  json.end_array();
}

/// `write` writes the members of `data`.
template <class Write>
void Ledger::tell(HotBook& book, std::string_view type, std::uint64_t seq, Instant recorded_at,
                  Write write) {
  Event event{.tenant = book.row.tenant, .book = book.row.id, .type = std::string(type)};
  JsonWriter json(event.body);
  json.begin_object();
  json.field("id", sortable_id("evt_", recorded_at, seq, context_.rng.next()));
  json.field("type", type);
  json.field("book", book.row.id);
  json.field("seq", seq);
  write_time(json, "recorded_at", recorded_at);
  json.key("data");
  json.begin_object();
  write(json);
  json.end_object();
  json.end_object();
  events_.push_back(std::move(event));
}

void Ledger::tell_of_transaction(HotBook& book, std::string_view type, const TransactionView& view,
                                 std::uint64_t seq, Instant recorded_at, bool balances) {
  tell(book, type, seq, recorded_at, [&](JsonWriter& json) {
    json.key("transaction");
    json.begin_object();
    write_transaction_members(json, view);
    json.end_object();
    if (balances) {
      write_balances(book, json);
    }
  });
}

/// REQUIRES: its record is the last of the book.
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
  const TransactionView view{.seq = seq,
                             .made = made,
                             .hash = book.hash,
                             .state = made.kind == Kind::posted    ? TransactionState::posted
                                      : made.kind == Kind::pending ? TransactionState::pending
                                                                   : TransactionState::voided,
                             .metadata = metadata_now(book, Metadata::Of::transaction, seq)};
  tell_of_transaction(book, type, view, seq, made.recorded_at, true);
}

void Ledger::tell_of_metadata(HotBook& book, std::uint64_t of, Instant recorded_at,
                              std::uint64_t seq) {
  if (!book.row.subscriptions.empty()) {
    tell_of_transaction(book, "ledger.transaction.updated", transaction_view(book, of), seq,
                        recorded_at, false);
  }
}

/// REQUIRES: what became of the hold is known already.
void Ledger::tell_of_expiry(HotBook& book, const HoldExpired& expired, std::uint64_t of,
                            std::uint64_t seq) {
  if (!book.row.subscriptions.empty()) {
    tell_of_transaction(book, "ledger.transaction.expired", transaction_view(book, of), seq,
                        expired.recorded_at, true);
  }
}

void Ledger::tell_of_account(HotBook& book, AccountAt account, std::string_view type,
                             std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  tell(book, type, seq, book.recorded_at, [&](JsonWriter& json) {
    json.key("account");
    json.begin_object();
    write_account_members(json, account_view(book, account));
    json.end_object();
  });
}

void Ledger::tell_of_book(HotBook& book, std::string_view type, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  tell(book, type, seq, book.recorded_at, [&](JsonWriter& json) {
    json.key("book");
    json.begin_object();
    write_book_members(json, book_view(book));
    json.end_object();
  });
}

void Ledger::tell_of_checkpoint(HotBook& book, const Checkpoint& checkpoint, std::uint64_t seq) {
  if (book.row.subscriptions.empty()) {
    return;
  }
  tell(book, "ledger.checkpoint.created", seq, checkpoint.recorded_at, [&](JsonWriter& json) {
    json.key("checkpoint");
    json.begin_object();
    write_checkpoint_members(json, seq, checkpoint);
    json.end_object();
  });
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
      tell(book, "ledger.monitor.triggered", seq, recorded_at, [&](JsonWriter& json) {
        json.field("monitor", monitor.id);
        json.field("account", row.id);
        json.field("currency", ledger::find_currency(book.row, one.currency)->code);
        write_amount(json, "value", reading(one.after, monitor.reading));
        write_balances(book, json);
      });
    }
  }
}

void Ledger::send_events() {
  for (Event& event : std::exchange(events_, {})) {
    const HotBook& book = *book_at_.at({event.tenant, event.book});
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
