#include "core/ledger/json.h"

#include "base/date.h"
#include "base/encoding.h"
#include "core/ledger/read.h"

namespace hk::core::ledger {

namespace {

std::string hex_of(const Hash& hash) { return hex(std::span<const std::uint8_t>(hash)); }

/// Every number that is stored was found in this book.
std::string code_of(const Book& book, CurrencyNumber number) {
  const auto currency = find_currency(book, number);
  return currency ? currency->code : std::to_string(number);
}

void write_texts(JsonWriter& json, std::string_view name, std::span<const std::string> texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& one : texts) {
    json.string(one);
  }
  json.end_array();
}

void write_limit(JsonWriter& json, std::string_view name, const std::optional<Signed>& limit) {
  json.key(name);
  if (limit) {
    json.string(to_text(*limit));
  } else {
    json.null();
  }
}

void write_limits(JsonWriter& json, std::string_view currency, const std::optional<Signed>& least,
                  const std::optional<Signed>& most) {
  json.key(currency);
  json.begin_object();
  write_limit(json, "min_available", least);
  write_limit(json, "max_balance", most);
  json.end_object();
}

void write_entry_members(JsonWriter& json, std::size_t index, const Entry& entry) {
  json.field("index", index);
  json.field("account", entry.account);
  json.field("side", name_of(entry.side));
  write_amount(json, "amount", entry.amount);
  json.field("currency", entry.currency);
}

/// What a transaction says, whoever tells of it.
void write_made(JsonWriter& json, const TransactionMade& made) {
  json.key("id");
  made.id.empty() ? json.null() : json.string(made.id);  // a preview has none yet
  write_text(json, "idempotency_key", made.idempotency_key);
  json.field("kind", name_of(made.kind));
  write_time(json, "effective_at", made.effective_at);
  write_time(json, "expires_at", made.expires_at);
  write_text(json, "description", made.description);
  write_text(json, "reference", made.reference);
  write_text(json, "parent", made.parent);
  write_text(json, "resolves", made.resolves);
  write_text(json, "reverses", made.reverses);
  if (made.resolves) {
    json.field("final", made.final);
  }
  if (made.force) {
    json.field("force", true);
  }
  if (made.check_history) {
    json.field("check_history", true);
  }
}

// ---- what records say ----

void write_hashes(JsonWriter& json, std::span<const MetadataHash> hashes) {
  json.key("metadata_hashes");
  json.begin_array();
  for (const MetadataHash& one : hashes) {
    json.begin_object();
    if (one.entry != 0) {
      json.field("entry", one.entry - 1);
    }
    json.field("key", one.key);
    json.key("hash");
    if (one.hash) {
      json.string(hex_of(*one.hash));
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
}

void write_all_limits(JsonWriter& json, std::span<const LimitsOf> limits) {
  json.key("limits");
  json.begin_object();
  for (const LimitsOf& one : limits) {
    write_limits(json, one.currency, one.min_available, one.max_balance);
  }
  json.end_object();
}

void write_released(JsonWriter& json, std::span<const Released> released) {
  json.key("released");
  json.begin_array();
  for (const Released& one : released) {
    json.begin_object();
    json.field("index", one.index);
    write_amount(json, "amount", one.amount);
    json.end_object();
  }
  json.end_array();
}

void write_entry_names(JsonWriter& json, std::span<const EntryName> entries) {
  json.key("entries");
  json.begin_array();
  for (const EntryName& one : entries) {
    json.begin_object();
    json.field("transaction", one.transaction);
    json.field("index", one.index);
    json.end_object();
  }
  json.end_array();
}

struct PayloadMembers {
  JsonWriter& json;

  void operator()(const BookCreated& one) const {
    json.field("id", one.id);
    json.field("name", one.name);
    json.field("public_key", base64(one.public_key));
    write_texts(json, "indexed", one.indexed);
    write_hashes(json, one.metadata);
  }
  void operator()(const BookChanged& one) const {
    if (one.name) {
      json.field("name", *one.name);
    }
    if (one.indexed) {
      write_texts(json, "indexed", *one.indexed);
    }
    write_hashes(json, one.metadata);
  }
  void operator()(const CurrencyAdded& one) const {
    json.field("code", one.code);
    json.field("exponent", one.exponent);
  }
  void operator()(const BookClosed& one) const {
    write_time(json, "through", one.through);
    json.field("reason", one.reason);
  }
  void operator()(const AccountCreated& one) const {
    json.field("id", one.id);
    json.field("path", one.path);
    json.field("type", name_of(one.type));
    json.key("currency");
    one.currency.empty() ? json.null() : json.string(one.currency);
    write_all_limits(json, one.limits);
    write_hashes(json, one.metadata);
  }
  void operator()(const AccountChanged& one) const {
    json.field("id", one.id);
    if (one.state) {
      json.field("state", name_of(*one.state));
    }
    write_hashes(json, one.metadata);
  }
  void operator()(const LimitsChanged& one) const {
    json.field("id", one.id);
    write_all_limits(json, one.limits);
  }
  void operator()(const TransactionMade& one) const {
    write_made(json, one);
    json.key("entries");
    json.begin_array();
    for (std::size_t i = 0; i < one.entries.size(); ++i) {
      json.begin_object();
      write_entry_members(json, i, one.entries[i]);
      json.end_object();
    }
    json.end_array();
    write_released(json, one.released);
    write_hashes(json, one.metadata);
  }
  void operator()(const HoldExpired& one) const {
    json.field("transaction", one.transaction);
    write_released(json, one.released);
  }
  void operator()(const MetadataSet& one) const {
    json.field("transaction", one.transaction);
    write_hashes(json, one.metadata);
  }
  void operator()(const MetadataErased& one) const {
    if (!one.account.empty()) {
      json.field("account", one.account);
    }
    if (!one.transaction.empty()) {
      json.field("transaction", one.transaction);
    }
    write_texts(json, "keys", one.keys);
  }
  void operator()(const Checkpoint& one) const {
    json.field("first_seq", one.first_seq);
    json.field("last_seq", one.last_seq);
    json.field("root", hex_of(one.root));
    json.field("last_hash", hex_of(one.last_hash));
    json.field("signature", base64(one.signature));
  }
  void operator()(const ReconSourceSet& one) const {
    json.field("source", one.id);
    json.field("account", one.account);
    json.field("currency", one.currency);
    json.field("window_days", one.window_days);
    json.field("auto", one.automatic);
  }
  void operator()(const Reconciled& one) const {
    json.field("source", one.source);
    json.key("decisions");
    json.begin_array();
    for (const ReconDecision& decision : one.decisions) {
      json.begin_object();
      if (!decision.external_id.empty()) {
        json.field("external_id", decision.external_id);
        json.field("line", hex_of(decision.line));
      }
      json.field("action", name_of(decision.action));
      json.field("rule", name_of(decision.rule));
      write_entry_names(json, decision.entries);
      json.end_object();
    }
    json.end_array();
  }
  void operator()(const KeyChanged& one) const { json.field("public_key", base64(one.public_key)); }
};

}  // namespace

// ---- values ----

void write_time(JsonWriter& json, std::string_view name, Instant instant) {
  json.field(name, to_text(instant));
}

void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& instant) {
  if (instant) {
    write_time(json, name, *instant);
    return;
  }
  json.key(name);
  json.null();
}

void write_text(JsonWriter& json, std::string_view name, const std::optional<std::string>& text) {
  json.key(name);
  if (text) {
    json.string(*text);
  } else {
    json.null();
  }
}

void write_amount(JsonWriter& json, std::string_view name, Amount amount) {
  json.field(name, to_text(amount));
}

void write_amount(JsonWriter& json, std::string_view name, const Signed& amount) {
  json.field(name, to_text(amount));
}

void write_metadata(JsonWriter& json, std::span<const MetadataValue> values, std::uint32_t entry) {
  json.key("metadata");
  json.begin_object();
  for (const MetadataValue& one : values) {
    if (one.entry == entry && !one.removed && !one.erased) {
      json.field(one.key, one.value);
    }
  }
  json.end_object();
}

// ---- objects ----

void write_book_members(JsonWriter& json, const BookView& view) {
  json.field("object", "ledger_book");
  json.field("id", view.book.id);
  json.field("name", view.book.name);
  write_time(json, "closed_through", view.book.closed_through);
  json.field("public_key", base64(view.book.public_key));
  json.field("last_seq", view.head.seq);
  json.field("last_hash", hex_of(view.head.hash));
  write_time(json, "created_at", view.book.created_at);
  write_metadata(json, view.metadata);
  write_texts(json, "indexed", view.book.indexed);
  if (view.book.importing) {
    json.field("importing", true);
  }
}

void write_account_members(JsonWriter& json, const AccountView& view) {
  const Account& account = view.account;
  json.field("object", "ledger_account");
  json.field("id", account.id);
  json.field("path", account.path);
  json.field("type", name_of(account.type));
  json.field("normal_side", name_of(normal_side(account.type)));
  json.key("currency");
  account.currency == 0 ? json.null() : json.string(code_of(*view.book, account.currency));
  json.key("limits");
  json.begin_object();
  for (const AccountLimits& one : account.limits) {
    write_limits(json, code_of(*view.book, one.currency), one.min_available, one.max_balance);
  }
  json.end_object();
  json.field("state", name_of(account.state));
  write_metadata(json, view.metadata);
  write_time(json, "created_at", account.created_at);
  json.field("seq", account.seq);
}

void write_transaction_members(JsonWriter& json, const TransactionView& view) {
  json.field("object", "ledger_transaction");
  write_made(json, view.made);
  write_metadata(json, view.metadata);
  json.key("entries");
  json.begin_array();
  for (std::size_t i = 0; i < view.made.entries.size(); ++i) {
    json.begin_object();
    write_entry_members(json, i, view.made.entries[i]);
    write_metadata(json, view.metadata, static_cast<std::uint32_t>(i + 1));
    json.end_object();
  }
  json.end_array();
  if (view.seq != 0) {
    json.field("seq", view.seq);
  }
  write_time(json, "recorded_at", view.made.recorded_at);
  json.field("state", name_of(view.state));
  write_texts(json, "resolved_by", view.resolved_by);
  write_texts(json, "reversed_by", view.reversed_by);
  if (view.seq != 0) {
    json.field("hash", hex_of(view.hash));
  }
}

void write_subscription_members(JsonWriter& json, const Subscription& subscription) {
  json.field("object", "ledger_subscription");
  json.field("id", subscription.id);
  if (subscription.queue.empty()) {
    json.field("destination", subscription.url.empty() ? subscription.url_group : subscription.url);
  } else {
    json.field("queue", subscription.queue);
  }
  if (subscription.types.empty()) {
    json.key("types");
    json.null();
  } else {
    write_texts(json, "types", subscription.types);
  }
  write_time(json, "created_at", subscription.created_at);
}

void write_monitor_members(JsonWriter& json, const MonitorView& view) {
  const Monitor& monitor = view.monitor;
  json.field("object", "ledger_monitor");
  json.field("id", monitor.id);
  monitor.account.empty() ? json.field("prefix", monitor.prefix)
                          : json.field("account", monitor.account);
  json.field("currency", code_of(*view.book, monitor.currency));
  json.field("balance", name_of(monitor.reading));
  write_amount(json, name_of(monitor.compare), monitor.value);
  write_time(json, "created_at", monitor.created_at);
}

void write_recon_source_members(JsonWriter& json, const ReconSourceView& view) {
  json.field("object", "ledger_recon_source");
  json.field("id", view.source.id);
  json.field("account", view.source.account);
  json.field("currency", view.currency);
  json.field("window_days", view.source.window_days);
  json.field("auto", view.source.automatic);
  write_time(json, "created_at", view.source.created_at);
}

void write_recon_line_members(JsonWriter& json, const ReconLineView& view) {
  const ReconLine& line = view.line;
  json.field("object", "ledger_recon_line");
  json.field("source", view.source);
  json.field("external_id", line.external_id);
  constexpr std::size_t date_characters = 10;
  json.field("date", to_text(line.date).substr(0, date_characters));
  write_amount(json, "amount", line.amount);
  json.field("currency", view.currency);
  json.field("reference", line.reference);
  json.field("text", line.text);
  json.field("state", name_of(line.state));
  json.key("rule");
  line.rule == ReconRule::none ? json.null() : json.string(name_of(line.rule));
  write_entry_names(json, view.entries);
}

void write_rollup_members(JsonWriter& json, const RollupView& view) {
  json.field("object", "ledger_rollup");
  json.field("prefix", view.prefix);
  json.field("rollup", view.kept);
  json.field("complete", view.complete);
}

void write_currency_members(JsonWriter& json, const Currency& currency) {
  json.field("object", "ledger_currency");
  json.field("code", currency.code);
  json.field("exponent", currency.exponent);
}

void write_checkpoint_members(JsonWriter& json, std::uint64_t seq, const Checkpoint& checkpoint) {
  json.field("seq", seq);
  json.field("first_seq", checkpoint.first_seq);
  json.field("last_seq", checkpoint.last_seq);
  json.field("root", hex_of(checkpoint.root));
  json.field("signature", base64(checkpoint.signature));
  write_time(json, "created_at", checkpoint.recorded_at);
}

void write_counters(JsonWriter& json, const Counters128& counters, std::optional<Side> normal) {
  write_amount(json, "debits_posted", counters.debits_posted);
  write_amount(json, "credits_posted", counters.credits_posted);
  write_amount(json, "debits_pending", counters.debits_pending);
  write_amount(json, "credits_pending", counters.credits_pending);
  if (!normal) {
    for (const std::string_view name : reading_names) {
      json.key(name);
      json.null();
    }
    return;
  }
  write_amount(json, "posted", posted(counters, *normal));
  write_amount(json, "pending", pending(counters, *normal));
  write_amount(json, "available", available(counters, *normal));
}

void write_balance_after(JsonWriter& json, const BalanceAfter& row) {
  json.begin_object();
  json.field("account", row.account);
  json.field("currency", row.currency);
  write_counters(json, row.counters, row.normal);
  json.field("version", row.version);
  json.end_object();
}

void write_record_members(JsonWriter& json, const Record& record, const Hash& prev_hash) {
  json.field("seq", record.seq);
  json.field("kind", record.kind);
  write_time(json, "recorded_at", record.recorded_at);
  json.field("prev_hash", hex_of(prev_hash));
  json.field("hash", hex_of(record.hash));
  json.field("payload_base64", base64(record.payload));
  json.key("payload");
  const auto payload = decode(record.kind, record.payload);
  if (payload) {
    write_payload(json, *payload);
  } else {
    json.null();
  }
}

void write_payload(JsonWriter& json, const Payload& payload) {
  json.begin_object();
  std::visit([&json](const auto& one) { write_time(json, "recorded_at", one.recorded_at); },
             payload);
  std::visit(PayloadMembers{json}, payload);
  json.end_object();
}

}  // namespace hk::core::ledger
