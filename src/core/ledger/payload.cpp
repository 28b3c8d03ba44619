#include "core/ledger/payload.h"

#include "core/ledger/wire.h"

namespace hk::core::ledger {

namespace {

// Numbers of fields are hashed with the bytes: never change or reuse one.

void write_metadata(WireWriter& out, std::uint32_t field, const std::vector<MetadataHash>& all) {
  for (const MetadataHash& one : all) {
    out.record(field, [&] {
      out.number(1, one.entry);
      out.text(2, one.key);
      if (one.hash) {
        out.item(3, bytes_of(*one.hash));
      }
    });
  }
}

bool read_metadata(std::string_view bytes, std::vector<MetadataHash>& all) {
  MetadataHash one;
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.entry = static_cast<std::uint32_t>(in.number()); break;
      case 2: one.key = in.text(); break;
      case 3:
        one.hash = hash_from(in.text());
        whole = whole && one.hash;
        break;
      default: whole = false;
    }
  }
  all.push_back(std::move(one));
  return whole && in.ok();
}

void write_limits(WireWriter& out, std::uint32_t field, const std::vector<LimitsOf>& all) {
  for (const LimitsOf& one : all) {
    out.record(field, [&] {
      out.text(1, one.currency);
      if (one.min_available) {
        write_signed(out, 2, *one.min_available);
      }
      if (one.max_balance) {
        write_signed(out, 3, *one.max_balance);
      }
    });
  }
}

bool read_limits(std::string_view bytes, std::vector<LimitsOf>& all) {
  LimitsOf one;
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.currency = in.text(); break;
      case 2:
        one.min_available = read_signed(in.text());
        whole = whole && one.min_available;
        break;
      case 3:
        one.max_balance = read_signed(in.text());
        whole = whole && one.max_balance;
        break;
      default: whole = false;
    }
  }
  all.push_back(std::move(one));
  return whole && in.ok();
}

void write_released(WireWriter& out, std::uint32_t field, const std::vector<Released>& all) {
  for (const Released& one : all) {
    out.record(field, [&] {
      out.number(1, one.index);
      write_amount(out, 2, one.amount);
    });
  }
}

bool read_released(std::string_view bytes, std::vector<Released>& all) {
  Released one;
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.index = static_cast<std::uint32_t>(in.number()); break;
      case 2: add_low(one.amount, in.number()); break;
      case 3: add_high(one.amount, in.number()); break;
      default: whole = false;
    }
  }
  all.push_back(one);
  return whole && in.ok();
}

bool read_entry(std::string_view bytes, std::vector<Entry>& all) {
  Entry one{.side = Side::debit};
  if (!all.empty()) {
    one.currency = all.back().currency;
  }
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.account = in.text(); break;
      case 2: one.side = in.number() != 0 ? Side::credit : Side::debit; break;
      case 3: add_low(one.amount, in.number()); break;
      case 4: add_high(one.amount, in.number()); break;
      case 5: one.currency = in.text(); break;
      default: whole = false;
    }
  }
  all.push_back(std::move(one));
  return whole && in.ok();
}

std::uint64_t bits_of(const TransactionMade::Given& given) {
  const bool all[] = {given.id,         given.kind,    given.effective_at,
                      given.expires_at, given.timeout, given.check_history,
                      given.amounts,    given.final,   given.conditions};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < std::size(all); ++i) {
    bits |= std::uint64_t{all[i]} << i;
  }
  return bits;
}
TransactionMade::Given given_from(std::uint64_t bits) {
  const auto bit = [bits](unsigned at) { return ((bits >> at) & 1U) != 0; };
  return {bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6), bit(7), bit(8)};
}

void write(const BookCreated& one, WireWriter& out) {
  out.text(2, one.id);
  out.text(3, one.name);
  out.text(4, one.public_key);
  out.items(5, one.indexed);
  write_metadata(out, 6, one.metadata);
}
bool read(WireReader& in, BookCreated& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3: one.name = in.text(); return true;
    case 4: one.public_key = in.text(); return true;
    case 5: one.indexed.emplace_back(in.text()); return true;
    case 6: return read_metadata(in.text(), one.metadata);
    default: return false;
  }
}

void write(const BookChanged& one, WireWriter& out) {
  if (one.name) {
    out.item(2, *one.name);
  }
  if (one.indexed) {
    out.record(3, [&] { out.items(1, *one.indexed); });
  }
  write_metadata(out, 4, one.metadata);
}
bool read(WireReader& in, BookChanged& one) {
  switch (in.field()) {
    case 2: one.name = in.text(); return true;
    case 3: {
      one.indexed.emplace();
      WireReader list(in.text());
      while (list.next()) {
        one.indexed->emplace_back(list.text());
      }
      return list.ok();
    }
    case 4: return read_metadata(in.text(), one.metadata);
    default: return false;
  }
}

void write(const CurrencyAdded& one, WireWriter& out) {
  out.text(2, one.code);
  out.number(3, one.exponent);
}
bool read(WireReader& in, CurrencyAdded& one) {
  switch (in.field()) {
    case 2: one.code = in.text(); return true;
    case 3: one.exponent = static_cast<std::uint32_t>(in.number()); return true;
    default: return false;
  }
}

void write(const BookClosed& one, WireWriter& out) {
  if (one.through) {
    write_instant(out, 2, *one.through);
  }
  out.text(3, one.reason);
}
bool read(WireReader& in, BookClosed& one) {
  switch (in.field()) {
    case 2: one.through = read_instant(in); return true;
    case 3: one.reason = in.text(); return true;
    default: return false;
  }
}

void write(const AccountCreated& one, WireWriter& out) {
  out.text(2, one.id);
  out.text(3, one.path);
  out.number(4, static_cast<std::uint64_t>(one.type));
  out.text(5, one.currency);
  write_limits(out, 6, one.limits);
  write_metadata(out, 7, one.metadata);
  out.number(8, one.number);
}
bool read(WireReader& in, AccountCreated& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3: one.path = in.text(); return true;
    case 4:
      one.type = static_cast<AccountType>(in.number());
      return in.number() >= static_cast<std::uint64_t>(AccountType::asset) &&
             in.number() <= static_cast<std::uint64_t>(AccountType::revenue);
    case 5: one.currency = in.text(); return true;
    case 6: return read_limits(in.text(), one.limits);
    case 7: return read_metadata(in.text(), one.metadata);
    case 8: one.number = in.number(); return true;
    default: return false;
  }
}

void write(const AccountChanged& one, WireWriter& out) {
  out.text(2, one.id);
  if (one.state) {
    out.number(3, static_cast<std::uint64_t>(*one.state));
  }
  write_metadata(out, 4, one.metadata);
}
bool read(WireReader& in, AccountChanged& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3:
      one.state = static_cast<Account::State>(in.number());
      return in.number() >= static_cast<std::uint64_t>(Account::State::open) &&
             in.number() <= static_cast<std::uint64_t>(Account::State::closed);
    case 4: return read_metadata(in.text(), one.metadata);
    default: return false;
  }
}

void write(const LimitsChanged& one, WireWriter& out) {
  out.text(2, one.id);
  write_limits(out, 3, one.limits);
}
bool read(WireReader& in, LimitsChanged& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3: return read_limits(in.text(), one.limits);
    default: return false;
  }
}

void write(const TransactionMade& one, WireWriter& out) {
  out.text(2, one.id);
  if (one.kind != TransactionMade::Kind::posted) {
    out.number(3, static_cast<std::uint64_t>(one.kind));
  }
  const auto optional_text = [&](std::uint32_t field, const std::optional<std::string>& text) {
    if (text) {
      out.item(field, *text);
    }
  };
  optional_text(4, one.idempotency_key);
  if (one.effective_at != one.recorded_at) {
    write_instant(out, 5, one.effective_at);
  }
  if (one.expires_at) {
    write_instant(out, 6, *one.expires_at);
  }
  optional_text(7, one.description);
  optional_text(8, one.reference);
  optional_text(9, one.parent);
  optional_text(10, one.resolves);
  optional_text(11, one.reverses);
  const std::string* currency = nullptr;
  for (const Entry& entry : one.entries) {
    out.record(12, [&] {
      out.text(1, entry.account);
      out.number(2, entry.side == Side::credit ? 1 : 0);
      write_amount(out, 3, entry.amount);
      if (currency == nullptr || *currency != entry.currency) {
        out.text(5, entry.currency);
      }
    });
    currency = &entry.currency;
  }
  if (!one.of.empty()) {
    out.record(13, [&] {
      for (const std::uint32_t index : one.of) {
        out.packed(index);
      }
    });
  }
  write_released(out, 14, one.released);
  out.number(15, one.final ? 0 : 1);
  out.number(16, one.force ? 1 : 0);
  out.number(17, one.check_history ? 1 : 0);
  write_metadata(out, 18, one.metadata);
  out.number(19, bits_of(one.given));
  out.number(20, one.timeout_s);
  out.text(21, one.request_entries);
  out.text(22, one.request_conditions);
  out.number(23, one.asked_final ? 0 : 1);
}
bool read(WireReader& in, TransactionMade& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3:
      one.kind = static_cast<TransactionMade::Kind>(in.number());
      return in.number() == static_cast<std::uint64_t>(TransactionMade::Kind::pending) ||
             in.number() == static_cast<std::uint64_t>(TransactionMade::Kind::voided);
    case 4: one.idempotency_key = in.text(); return true;
    case 5: one.effective_at = read_instant(in); return true;
    case 6: one.expires_at = read_instant(in); return true;
    case 7: one.description = in.text(); return true;
    case 8: one.reference = in.text(); return true;
    case 9: one.parent = in.text(); return true;
    case 10: one.resolves = in.text(); return true;
    case 11: one.reverses = in.text(); return true;
    case 12: return read_entry(in.text(), one.entries);
    case 13: {
      WireReader list(in.text());
      while (list.more()) {
        one.of.push_back(static_cast<std::uint32_t>(list.varint()));
      }
      return list.ok();
    }
    case 14: return read_released(in.text(), one.released);
    case 15: one.final = in.number() == 0; return true;
    case 16: one.force = in.number() != 0; return true;
    case 17: one.check_history = in.number() != 0; return true;
    case 18: return read_metadata(in.text(), one.metadata);
    case 19: one.given = given_from(in.number()); return true;
    case 20: one.timeout_s = in.number(); return true;
    case 21: one.request_entries = in.text(); return true;
    case 22: one.request_conditions = in.text(); return true;
    case 23: one.asked_final = in.number() == 0; return true;
    default: return false;
  }
}

void write(const HoldExpired& one, WireWriter& out) {
  out.text(2, one.transaction);
  write_released(out, 3, one.released);
}
bool read(WireReader& in, HoldExpired& one) {
  switch (in.field()) {
    case 2: one.transaction = in.text(); return true;
    case 3: return read_released(in.text(), one.released);
    default: return false;
  }
}

void write(const MetadataSet& one, WireWriter& out) {
  out.text(2, one.transaction);
  write_metadata(out, 3, one.metadata);
}
bool read(WireReader& in, MetadataSet& one) {
  switch (in.field()) {
    case 2: one.transaction = in.text(); return true;
    case 3: return read_metadata(in.text(), one.metadata);
    default: return false;
  }
}

void write(const MetadataErased& one, WireWriter& out) {
  out.text(2, one.account);
  out.text(3, one.transaction);
  out.items(4, one.keys);
}
bool read(WireReader& in, MetadataErased& one) {
  switch (in.field()) {
    case 2: one.account = in.text(); return true;
    case 3: one.transaction = in.text(); return true;
    case 4: one.keys.emplace_back(in.text()); return true;
    default: return false;
  }
}

void write(const Checkpoint& one, WireWriter& out) {
  out.number(2, one.first_seq);
  out.number(3, one.last_seq);
  out.item(4, bytes_of(one.root));
  out.item(5, bytes_of(one.last_hash));
  out.text(6, one.signature);
}
bool read(WireReader& in, Checkpoint& one) {
  switch (in.field()) {
    case 2: one.first_seq = in.number(); return true;
    case 3: one.last_seq = in.number(); return true;
    case 4:
    case 5: {
      const auto hash = hash_from(in.text());
      (in.field() == 4 ? one.root : one.last_hash) = hash.value_or(Hash{});
      return hash.has_value();
    }
    case 6: one.signature = in.text(); return true;
    default: return false;
  }
}

void write(const KeyChanged& one, WireWriter& out) { out.text(2, one.public_key); }
bool read(WireReader& in, KeyChanged& one) {
  if (in.field() == 2) {
    one.public_key = in.text();
    return true;
  }
  return false;
}

void write(const ReconSourceSet& one, WireWriter& out) {
  out.text(2, one.id);
  out.text(3, one.account);
  out.text(4, one.currency);
  out.number(5, one.window_days);
  out.number(6, one.automatic ? 0 : 1);
}
bool read(WireReader& in, ReconSourceSet& one) {
  switch (in.field()) {
    case 2: one.id = in.text(); return true;
    case 3: one.account = in.text(); return true;
    case 4: one.currency = in.text(); return true;
    case 5: one.window_days = static_cast<std::uint32_t>(in.number()); return true;
    case 6: one.automatic = in.number() == 0; return true;
    default: return false;
  }
}

bool read_entry_name(std::string_view bytes, std::vector<EntryName>& all) {
  EntryName& one = all.emplace_back();
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.transaction = in.text(); break;
      case 2: one.index = static_cast<std::uint32_t>(in.number()); break;
      default: whole = false;
    }
  }
  return whole && in.ok();
}

bool read_decision(std::string_view bytes, std::vector<ReconDecision>& all) {
  ReconDecision& one = all.emplace_back();
  WireReader in(bytes);
  bool whole = true;
  while (in.next()) {
    switch (in.field()) {
      case 1: one.external_id = in.text(); break;
      case 2: {
        const auto hash = hash_from(in.text());
        whole = whole && hash;
        one.line = hash.value_or(Hash{});
        break;
      }
      case 3:
        one.action = static_cast<ReconDecision::Action>(in.number());
        whole = whole && in.number() >= 1 && in.number() <= 3;
        break;
      case 4:
        one.rule = static_cast<ReconRule>(in.number());
        whole = whole && in.number() <= static_cast<std::uint64_t>(ReconRule::several);
        break;
      case 5: whole = read_entry_name(in.text(), one.entries) && whole; break;
      default: whole = false;
    }
  }
  return whole && in.ok();
}

void write(const Reconciled& one, WireWriter& out) {
  out.text(2, one.source);
  for (const ReconDecision& decision : one.decisions) {
    out.record(3, [&] {
      out.text(1, decision.external_id);
      if (!decision.external_id.empty()) {
        out.item(2, bytes_of(decision.line));
      }
      out.number(3, static_cast<std::uint64_t>(decision.action));
      out.number(4, static_cast<std::uint64_t>(decision.rule));
      for (const EntryName& entry : decision.entries) {
        out.record(5, [&] {
          out.text(1, entry.transaction);
          out.number(2, entry.index);
        });
      }
    });
  }
}
bool read(WireReader& in, Reconciled& one) {
  switch (in.field()) {
    case 2: one.source = in.text(); return true;
    case 3: return read_decision(in.text(), one.decisions);
    default: return false;
  }
}

constexpr std::string_view payload_kinds[] = {
    "book",   "book_changed", "currency",      "close",    "account", "account_changed",
    "limits", "transaction",  "expiry",        "metadata", "erasure", "checkpoint",
    "key",    "recon_source", "reconciliation"};
static_assert(std::size(payload_kinds) == std::variant_size_v<Payload>);

template <class One>
void encode_one(const One& one, std::string& bytes) {
  WireWriter out(bytes);
  write_instant(out, 1, one.recorded_at);  // at the same place in all of them
  write(one, out);
}

template <class One>
Result<Payload> decode_one(std::string_view bytes) {
  One one;
  WireReader in(bytes);
  bool whole = true;
  bool dated = false;
  while (whole && in.next()) {
    if (in.field() == 1) {
      one.recorded_at = read_instant(in);
      dated = true;
      if constexpr (std::is_same_v<One, TransactionMade>) {
        one.effective_at = one.recorded_at;
      }
    } else {
      whole = read(in, one);
    }
  }
  if (!whole || !in.ok() || !dated) {
    return fail(ErrorKind::corruption, "a record of the ledger cannot be read");
  }
  return Payload{std::move(one)};
}

template <std::size_t At = 0>
Result<Payload> decode_from(std::string_view kind, std::string_view bytes) {
  if constexpr (At == std::size(payload_kinds)) {
    return fail(ErrorKind::corruption,
                "a record of the ledger has the unknown kind " + std::string(kind));
  } else {
    return kind == payload_kinds[At] ? decode_one<std::variant_alternative_t<At, Payload>>(bytes)
                                     : decode_from<At + 1>(kind, bytes);
  }
}

}  // namespace

std::string_view kind_of(const Payload& payload) { return payload_kinds[payload.index()]; }

void encode(const Payload& payload, std::string& out) {
  std::visit([&out](const auto& one) { encode_one(one, out); }, payload);
}
void encode(const TransactionMade& payload, std::string& out) { encode_one(payload, out); }

Result<Payload> decode(std::string_view kind, std::string_view bytes) {
  return decode_from(kind, bytes);
}

}  // namespace hk::core::ledger
