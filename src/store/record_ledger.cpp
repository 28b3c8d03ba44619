/// The ledger: its rows are written with every transfer, so they are translated without objects of
/// Protocol Buffers. What they look like is in records.proto all the same.
#include <utility>

#include "core/ledger/wire.h"
#include "store/codec.h"
#include "store/record_parts.h"
#include "store/wire.h"

namespace hk::store {
namespace {

namespace ledger = core::ledger;
using ledger::read_counters;
using ledger::read_instant;
using ledger::write_amount;
using ledger::write_counters;
using ledger::write_instant;

void write_run(WireWriter& out, const ledger::Run& run, bool with_first) {
  const auto& [first_seq, first_recorded, before, late_before, version_before, effective_before,
               count, last_seq, last_recorded, movements] = run;
  if (with_first) {
    out.number(1, first_seq);
  }
  write_instant(out, 2, first_recorded);
  out.number(3, version_before);
  write_instant(out, 4, effective_before);
  out.number(5, count);
  out.number(6, last_seq);
  write_instant(out, 7, last_recorded);
  out.text(8, movements);
  write_counters(out, 9, before);
  write_counters(out, 17, late_before);
}
bool read_run(std::string_view bytes, ledger::Run& run) {
  return read_fields(bytes, [&run](const WireReader& in) {
    if (read_counters(in, 9, run.before) || read_counters(in, 17, run.late_before)) {
      return true;
    }
    switch (in.field()) {
      case 1: run.first_seq = in.number(); break;
      case 2: run.first_recorded = read_instant(in); break;
      case 3: run.version_before = in.number(); break;
      case 4: run.effective_before = read_instant(in); break;
      case 5: run.count = number32(in); break;
      case 6: run.last_seq = in.number(); break;
      case 7: run.last_recorded = read_instant(in); break;
      case 8: run.movements = in.text(); break;
      default: break;
    }
    return true;
  });
}

void write_standing(WireWriter& out, const ledger::Standing& standing) {
  const auto& [currency, now, late, version, effective_max, late_root, late_last_node, last] =
      standing;
  out.number(1, currency);
  out.number(2, version);
  write_instant(out, 3, effective_max);
  out.number(4, late_root);
  out.number(5, late_last_node);
  out.record(6, [&] { write_run(out, last, true); });
  write_counters(out, 7, now);
  write_counters(out, 15, late);
}
bool read_standing(std::string_view bytes, ledger::Standing& standing) {
  return read_fields(bytes, [&standing](const WireReader& in) {
    if (read_counters(in, 7, standing.now) || read_counters(in, 15, standing.late)) {
      return true;
    }
    switch (in.field()) {
      case 1: standing.currency = number32(in); break;
      case 2: standing.version = in.number(); break;
      case 3: standing.effective_max = read_instant(in); break;
      case 4: standing.late_root = in.number(); break;
      case 5: standing.late_last_node = in.number(); break;
      case 6: return read_run(in.text(), standing.last);
      default: break;
    }
    return true;
  });
}

bool read_limit(std::string_view bytes, std::optional<ledger::Signed>& limit) {
  limit = ledger::read_signed(bytes);
  return limit.has_value();
}

bool read_account_limits(std::string_view bytes, ledger::AccountLimits& limits) {
  return read_fields(bytes, [&limits](const WireReader& in) {
    switch (in.field()) {
      case 1: limits.currency = number32(in); return true;
      case 2: return read_limit(in.text(), limits.min_available);
      case 3: return read_limit(in.text(), limits.max_balance);
      default: return true;
    }
  });
}

bool read_currency(std::string_view bytes, ledger::Currency& currency) {
  return read_fields(bytes, [&currency](const WireReader& in) {
    switch (in.field()) {
      case 1: currency.number = number32(in); break;
      case 2: currency.code = in.text(); break;
      case 3: currency.exponent = number32(in); break;
      default: break;
    }
    return true;
  });
}

bool read_subscription(std::string_view bytes, ledger::Subscription& one) {
  return read_fields(bytes, [&one](const WireReader& in) {
    switch (in.field()) {
      case 1: one.id = in.text(); break;
      case 2: one.url = in.text(); break;
      case 3: one.host = in.text(); break;
      case 4: one.url_group = in.text(); break;
      case 5: one.queue = in.text(); break;
      case 6: one.types.emplace_back(in.text()); break;
      case 7: one.created_at = read_instant(in); break;
      default: break;
    }
    return true;
  });
}

bool read_former_key(std::string_view bytes, ledger::FormerKey& one) {
  return read_fields(bytes, [&one](const WireReader& in) {
    switch (in.field()) {
      case 1: one.through_seq = in.number(); break;
      case 2: one.public_key = in.text(); break;
      default: break;
    }
    return true;
  });
}

bool read_record(std::string_view bytes, ledger::Record& record) {
  constexpr std::size_t dated_bytes = 9;  // of every payload: the tag of recorded_at, and itself
  bool hashed = false;
  const bool whole = read_fields(bytes, [&](const WireReader& in) {
    switch (in.field()) {
      case 1: record.kind = in.text(); break;
      case 2: record.payload = in.text(); break;
      case 3: hashed = get_array(record.hash, in.text()); break;
      default: break;
    }
    return true;
  });
  return whole && hashed && record.payload.size() >= dated_bytes &&
         read_fields(std::string_view(record.payload).substr(0, dated_bytes),
                     [&](const WireReader& in) {
                       record.recorded_at = read_instant(in);
                       return in.field() == 1;
                     });
}

bool read_movement(std::string_view bytes, ledger::Movement& movement) {
  using ledger::Movement;
  movement.late = true;
  bool sided = false;
  return read_fields(bytes,
                     [&](const WireReader& in) {
                       switch (in.field()) {
                         case 1: movement.seq = in.number(); break;
                         case 2: movement.index = number32(in); break;
                         case 3:
                           sided = true;
                           return read_enum(in, movement.side, ledger::Side::debit,
                                            ledger::Side::credit);
                         case 4:
                           return read_enum(in, movement.phase, Movement::Phase::posted,
                                            Movement::Phase::released);
                         case 5: ledger::add_low(movement.amount, in.number()); break;
                         case 6: ledger::add_high(movement.amount, in.number()); break;
                         case 7: movement.effective_at = read_instant(in); break;
                         case 8: movement.recorded_at = read_instant(in); break;
                         default: break;
                       }
                       return true;
                     }) &&
         sided;
}

bool read_child(std::string_view bytes, ledger::Late::Child& child) {
  return read_fields(bytes, [&child](const WireReader& in) {
    if (read_counters(in, 6, child.sum)) {
      return true;
    }
    switch (in.field()) {
      case 1: child.node = in.number(); break;
      case 2: child.effective_at = read_instant(in); break;
      case 3: child.seq = in.number(); break;
      case 4: child.seq_min = in.number(); break;
      case 5: child.seq_max = in.number(); break;
      default: break;
    }
    return true;
  });
}

bool read_one_amount(std::string_view bytes, std::vector<ledger::Amount>& amounts) {
  ledger::Amount& amount = amounts.emplace_back(0);
  return read_fields(bytes, [&amount](const WireReader& in) {
    if (in.field() == 1) {
      ledger::add_low(amount, in.number());
    } else if (in.field() == 2) {
      ledger::add_high(amount, in.number());
    }
    return true;
  });
}

bool read_seqs(std::string_view bytes, std::vector<std::uint64_t>& seqs) {
  WireReader list(bytes);
  while (list.more()) {
    seqs.push_back(list.varint());
  }
  return list.ok();
}

void write_seqs(WireWriter& out, std::uint32_t field, const std::vector<std::uint64_t>& seqs) {
  if (!seqs.empty()) {
    out.record(field, [&] {
      for (const std::uint64_t seq : seqs) {
        out.packed(static_cast<std::int64_t>(seq));
      }
    });
  }
}

void write_amounts(WireWriter& out, std::uint32_t field,
                   const std::vector<ledger::Amount>& amounts) {
  for (const ledger::Amount amount : amounts) {
    out.record(field, [&] { write_amount(out, 1, amount); });
  }
}

/// Three fields.
void write_total(WireWriter& out, std::uint32_t field, const ledger::Total& total) {
  write_amount(out, field, total.low);
  out.number(field + 2, total.high);
}

bool read_rollup_sum(std::string_view bytes, ledger::Rollup::Sum& sum) {
  return read_fields(bytes, [&sum](const WireReader& in) {
    constexpr std::uint32_t first = 4;
    constexpr std::uint32_t each = 3;
    ledger::Total* const totals[] = {&sum.debits_posted, &sum.credits_posted, &sum.debits_pending,
                                     &sum.credits_pending};
    if (in.field() >= first && in.field() < first + each * std::size(totals)) {
      ledger::Total& total = *totals[(in.field() - first) / each];
      switch ((in.field() - first) % each) {
        case 0: ledger::add_low(total.low, in.number()); break;
        case 1: ledger::add_high(total.low, in.number()); break;
        default: total.high = in.number(); break;
      }
      return true;
    }
    switch (in.field()) {
      case 1: sum.currency = number32(in); break;
      case 2: sum.debit_accounts = in.number(); break;
      case 3: sum.credit_accounts = in.number(); break;
      default: break;
    }
    return true;
  });
}

bool read_value(std::string_view bytes, ledger::MetadataValue& value) {
  return read_fields(bytes, [&value](const WireReader& in) {
    switch (in.field()) {
      case 1: value.entry = number32(in); break;
      case 2: value.key = in.text(); break;
      case 3: value.removed = in.number() != 0; break;
      case 4: value.erased = in.number() != 0; break;
      case 5: value.value = in.text(); break;
      case 6: value.salt = in.text(); break;
      default: break;
    }
    return true;
  });
}

}  // namespace

template <>
std::string Codec<ledger::Book>::encode(const ledger::Book& one) {
  const auto& [tenant, id, number, name, created_at, closed_through, public_key, sealed_key,
               currencies, indexed, subscriptions, importing, imported_through, next_public_key,
               former_keys] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.number(1, number);
  out.text(2, name);
  write_instant(out, 3, created_at);
  if (closed_through) {
    write_instant(out, 4, *closed_through);
  }
  out.text(5, public_key);
  out.text(6, sealed_key);
  for (const auto& [currency, code, exponent] : currencies) {
    out.record(7, [&, &currency = currency, &code = code, &exponent = exponent] {
      out.number(1, currency);
      out.text(2, code);
      out.number(3, exponent);
    });
  }
  out.items(8, indexed);
  for (const ledger::Subscription& subscription : subscriptions) {
    out.record(9, [&] {
      const auto& [sub_id, url, host, url_group, queue, types, sub_created_at] = subscription;
      out.text(1, sub_id);
      out.text(2, url);
      out.text(3, host);
      out.text(4, url_group);
      out.text(5, queue);
      out.items(6, types);
      write_instant(out, 7, sub_created_at);
    });
  }
  out.number(10, importing ? 1 : 0);
  out.number(11, imported_through);
  out.text(12, next_public_key);
  for (const auto& [through_seq, former_key] : former_keys) {
    out.record(13, [&, &through_seq = through_seq, &former_key = former_key] {
      out.number(1, through_seq);
      out.text(2, former_key);
    });
  }
  return bytes;
}

template <>
Result<ledger::Book> Codec<ledger::Book>::decode(core::KeyOf<ledger::Book> key,
                                                 std::string_view value) {
  ledger::Book book{.tenant = std::get<0>(key), .id = std::move(std::get<1>(key))};
  const bool whole = read_fields(value, [&book](const WireReader& in) {
    switch (in.field()) {
      case 1: book.number = number32(in); break;
      case 2: book.name = in.text(); break;
      case 3: book.created_at = read_instant(in); break;
      case 4: book.closed_through = read_instant(in); break;
      case 5: book.public_key = in.text(); break;
      case 6: book.sealed_key = in.text(); break;
      case 7: return read_currency(in.text(), book.currencies.emplace_back());
      case 8: book.indexed.emplace_back(in.text()); break;
      case 9: return read_subscription(in.text(), book.subscriptions.emplace_back());
      case 10: book.importing = in.number() != 0; break;
      case 11: book.imported_through = in.number(); break;
      case 12: book.next_public_key = in.text(); break;
      case 13: return read_former_key(in.text(), book.former_keys.emplace_back());
      default: break;
    }
    return true;
  });
  if (!whole || book.number == 0) {
    return broken_record("ledger book");
  }
  return book;
}

template <>
std::string Codec<ledger::Account>::encode(const ledger::Account& one) {
  const auto& [tenant, book, id, number, path, type, currency, state, created_at, seq, limits,
               standings] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.number(1, number);
  out.text(2, path == id ? std::string_view() : std::string_view(path));
  out.number(3, static_cast<std::uint64_t>(type));
  out.number(4, currency);
  out.number(5, static_cast<std::uint64_t>(state));
  write_instant(out, 6, created_at);
  out.number(7, seq);
  for (const auto& [of, min_available, max_balance] : limits) {
    out.record(8, [&, &of = of, &min = min_available, &max = max_balance] {
      out.number(1, of);
      if (min) {
        write_signed(out, 2, *min);
      }
      if (max) {
        write_signed(out, 3, *max);
      }
    });
  }
  for (const ledger::Standing& standing : standings) {
    out.record(9, [&] { write_standing(out, standing); });
  }
  return bytes;
}

template <>
Result<ledger::Account> Codec<ledger::Account>::decode(core::KeyOf<ledger::Account> key,
                                                       std::string_view value) {
  using ledger::Account;
  Account account{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .id = std::move(std::get<2>(key))};
  const bool whole = read_fields(value, [&account](const WireReader& in) {
    switch (in.field()) {
      case 1: account.number = in.number(); break;
      case 2: account.path = in.text(); break;
      case 3:
        return read_enum(in, account.type, ledger::AccountType::asset,
                         ledger::AccountType::revenue);
      case 4: account.currency = number32(in); break;
      case 5: return read_enum(in, account.state, Account::State::open, Account::State::closed);
      case 6: account.created_at = read_instant(in); break;
      case 7: account.seq = in.number(); break;
      case 8: return read_account_limits(in.text(), account.limits.emplace_back());
      case 9: return read_standing(in.text(), account.standings.emplace_back());
      default: break;
    }
    return true;
  });
  if (!whole || account.number == 0 || account.type == ledger::AccountType{}) {
    return broken_record("ledger account");
  }
  if (account.path.empty()) {
    account.path = account.id;
  }
  return account;
}

template <>
std::string Codec<ledger::Name>::encode(const ledger::Name& one) {
  const auto& [tenant, book, kind, name, account, seq] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.text(1, account);
  out.number(2, seq);
  return bytes;
}

template <>
Result<ledger::Name> Codec<ledger::Name>::decode(core::KeyOf<ledger::Name> key,
                                                 std::string_view value) {
  using Kind = ledger::Name::Kind;
  ledger::Name name{.tenant = std::get<0>(key),
                    .book = std::get<1>(key),
                    .kind = static_cast<Kind>(std::get<2>(key)),
                    .name = std::move(std::get<3>(key))};
  const bool whole = read_fields(value, [&name](const WireReader& in) {
    if (in.field() == 1) {
      name.account = in.text();
    } else if (in.field() == 2) {
      name.seq = in.number();
    }
    return true;
  });
  const bool of_account = name.kind == Kind::path || name.kind == Kind::number;
  if (!whole || name.kind < Kind::path || name.kind > Kind::key ||
      (of_account ? name.account.empty() : name.seq == 0)) {
    return broken_record("ledger name");
  }
  return name;
}

template <>
std::string Codec<ledger::Segment>::encode(const ledger::Segment& one) {
  const auto& [tenant, book, first_seq, prev_hash, records] = one;
  std::string bytes;
  std::size_t size = 64;
  for (const ledger::Record& record : records) {
    size += record.payload.size() + record.kind.size() + 48;
  }
  bytes.reserve(size);
  WireWriter out(bytes);
  out.array(1, prev_hash);
  for (const ledger::Record& record : records) {
    out.record(2, [&] {
      const auto& [seq, recorded_at, kind, payload, hash] = record;
      out.text(1, kind);
      out.text(2, payload);
      out.array(3, hash);
    });
  }
  return bytes;
}

template <>
Result<ledger::Segment> Codec<ledger::Segment>::decode(core::KeyOf<ledger::Segment> key,
                                                       std::string_view value) {
  ledger::Segment segment{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .first_seq = std::get<2>(key)};
  const bool whole = read_fields(value, [&segment](const WireReader& in) {
    if (in.field() == 1) {
      return get_array(segment.prev_hash, in.text());
    }
    if (in.field() == 2) {
      const std::uint64_t seq = segment.first_seq + segment.records.size();
      ledger::Record& record = segment.records.emplace_back();
      record.seq = seq;
      return read_record(in.text(), record);
    }
    return true;
  });
  if (!whole || segment.records.empty() || segment.first_seq == 0) {
    return broken_record("ledger segment");
  }
  return segment;
}

template <>
std::string Codec<ledger::SegmentTime>::encode(const ledger::SegmentTime& /*time*/) {
  return {};  // the key says everything
}

template <>
Result<ledger::SegmentTime> Codec<ledger::SegmentTime>::decode(core::KeyOf<ledger::SegmentTime> key,
                                                               std::string_view /*value*/) {
  return std::make_from_tuple<ledger::SegmentTime>(key);
}

template <>
std::string Codec<ledger::Block>::encode(const ledger::Block& one) {
  const auto& [tenant, book, account, currency, run] = one;
  std::string bytes;
  bytes.reserve(run.movements.size() + 160);
  WireWriter out(bytes);
  write_run(out, run, false);
  return bytes;
}

template <>
Result<ledger::Block> Codec<ledger::Block>::decode(core::KeyOf<ledger::Block> key,
                                                   std::string_view value) {
  ledger::Block block{.tenant = std::get<0>(key),
                      .book = std::get<1>(key),
                      .account = std::get<2>(key),
                      .currency = std::get<3>(key)};
  const bool whole = read_run(value, block.run);
  block.run.first_seq = std::get<4>(key);
  if (!whole || block.run.count == 0) {
    return broken_record("ledger block");
  }
  return block;
}

template <>
std::string Codec<ledger::BlockTime>::encode(const ledger::BlockTime& /*time*/) {
  return {};  // the key says everything
}

template <>
Result<ledger::BlockTime> Codec<ledger::BlockTime>::decode(core::KeyOf<ledger::BlockTime> key,
                                                           std::string_view /*value*/) {
  return std::make_from_tuple<ledger::BlockTime>(key);
}

template <>
std::string Codec<ledger::Late>::encode(const ledger::Late& one) {
  const auto& [tenant, book, account, currency, node, movements, children] = one;
  std::string bytes;
  WireWriter out(bytes);
  for (const ledger::Movement& movement : movements) {
    out.record(1, [&] {
      const auto& [seq, index, side, phase, late, amount, effective_at, recorded_at] = movement;
      out.number(1, seq);
      out.number(2, index);
      out.number(3, static_cast<std::uint64_t>(side));
      out.number(4, static_cast<std::uint64_t>(phase));
      write_amount(out, 5, amount);
      write_instant(out, 7, effective_at);
      write_instant(out, 8, recorded_at);
    });
  }
  for (const ledger::Late::Child& child : children) {
    out.record(2, [&] {
      const auto& [below, effective_at, seq, sum, seq_min, seq_max] = child;
      out.number(1, below);
      write_instant(out, 2, effective_at);
      out.number(3, seq);
      out.number(4, seq_min);
      out.number(5, seq_max);
      write_counters(out, 6, sum);
    });
  }
  return bytes;
}

template <>
Result<ledger::Late> Codec<ledger::Late>::decode(core::KeyOf<ledger::Late> key,
                                                 std::string_view value) {
  ledger::Late late{.tenant = std::get<0>(key),
                    .book = std::get<1>(key),
                    .account = std::get<2>(key),
                    .currency = std::get<3>(key),
                    .node = std::get<4>(key)};
  const bool whole = read_fields(value, [&late](const WireReader& in) {
    if (in.field() == 1) {
      return read_movement(in.text(), late.movements.emplace_back());
    }
    return in.field() != 2 || read_child(in.text(), late.children.emplace_back());
  });
  if (!whole || late.movements.empty() == late.children.empty()) {
    return broken_record("late movements of a ledger account");
  }
  return late;
}

template <>
std::string Codec<ledger::Outcome>::encode(const ledger::Outcome& one) {
  const auto& [tenant, book, seq, state, part_posted, expires_at, left, reversed, resolved_by,
               reversed_by] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.number(1, static_cast<std::uint64_t>(state));
  out.number(2, part_posted ? 1 : 0);
  if (expires_at != ledger::no_end) {
    write_instant(out, 3, expires_at);
  }
  write_amounts(out, 4, left);
  write_amounts(out, 5, reversed);
  write_seqs(out, 6, resolved_by);
  write_seqs(out, 7, reversed_by);
  return bytes;
}

template <>
Result<ledger::Outcome> Codec<ledger::Outcome>::decode(core::KeyOf<ledger::Outcome> key,
                                                       std::string_view value) {
  using State = ledger::Outcome::State;
  ledger::Outcome outcome{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .seq = std::get<2>(key)};
  bool stated = false;
  const bool whole = read_fields(value, [&](const WireReader& in) {
    switch (in.field()) {
      case 1: stated = true; return read_enum(in, outcome.state, State::posted, State::expired);
      case 2: outcome.part_posted = in.number() != 0; return true;
      case 3: outcome.expires_at = read_instant(in); return true;
      case 4: return read_one_amount(in.text(), outcome.left);
      case 5: return read_one_amount(in.text(), outcome.reversed);
      case 6: return read_seqs(in.text(), outcome.resolved_by);
      case 7: return read_seqs(in.text(), outcome.reversed_by);
      default: return true;
    }
  });
  if (!whole || !stated) {
    return broken_record("outcome of a ledger transaction");
  }
  return outcome;
}

template <>
std::string Codec<ledger::OpenHold>::encode(const ledger::OpenHold& one) {
  std::string bytes;
  WireWriter out(bytes);
  write_instant(out, 1, one.effective_at);
  return bytes;
}

template <>
Result<ledger::OpenHold> Codec<ledger::OpenHold>::decode(core::KeyOf<ledger::OpenHold> key,
                                                         std::string_view value) {
  ledger::OpenHold hold{.tenant = std::get<0>(key),
                        .book = std::get<1>(key),
                        .expires = std::get<2>(key),
                        .seq = std::get<3>(key)};
  bool dated = false;
  const bool whole = read_fields(value, [&](const WireReader& in) {
    if (in.field() == 1) {
      hold.effective_at = read_instant(in);
      dated = true;
    }
    return true;
  });
  if (!whole || !dated) {
    return broken_record("open hold of a ledger");
  }
  return hold;
}

template <>
std::string Codec<ledger::Metadata>::encode(const ledger::Metadata& one) {
  std::string bytes;
  WireWriter out(bytes);
  for (const ledger::MetadataValue& value : one.values) {
    out.record(1, [&] {
      const auto& [entry, key, removed, erased, text, salt] = value;
      out.number(1, entry);
      out.text(2, key);
      out.number(3, removed ? 1 : 0);
      out.number(4, erased ? 1 : 0);
      out.text(5, text);
      out.text(6, salt);
    });
  }
  return bytes;
}

template <>
Result<ledger::Metadata> Codec<ledger::Metadata>::decode(core::KeyOf<ledger::Metadata> key,
                                                         std::string_view value) {
  using Of = ledger::Metadata::Of;
  ledger::Metadata metadata{.tenant = std::get<0>(key),
                            .book = std::get<1>(key),
                            .of = static_cast<Of>(std::get<2>(key)),
                            .number = std::get<3>(key),
                            .seq = std::get<4>(key)};
  const bool whole = read_fields(value, [&metadata](const WireReader& in) {
    return in.field() != 1 || read_value(in.text(), metadata.values.emplace_back());
  });
  if (!whole || metadata.of < Of::book || metadata.of > Of::transaction) {
    return broken_record("metadata of a ledger");
  }
  return metadata;
}

template <>
std::string Codec<ledger::IndexEntry>::encode(const ledger::IndexEntry& /*entry*/) {
  return {};  // the key says everything
}

template <>
Result<ledger::IndexEntry> Codec<ledger::IndexEntry>::decode(core::KeyOf<ledger::IndexEntry> key,
                                                             std::string_view /*value*/) {
  using Kind = ledger::IndexEntry::Kind;
  ledger::IndexEntry entry{.tenant = std::get<0>(key),
                           .book = std::get<1>(key),
                           .kind = static_cast<Kind>(std::get<2>(key)),
                           .name = std::move(std::get<3>(key))};
  if (entry.kind < Kind::account_metadata || entry.kind > Kind::reference) {
    return broken_record("index of a ledger");
  }
  return entry;
}

template <>
std::string Codec<ledger::Monitor>::encode(const ledger::Monitor& one) {
  const auto& [tenant, book, number, id, account, prefix, currency, reading, compare, value,
               created_at] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.text(1, id);
  out.text(2, account);
  out.text(3, prefix);
  out.number(4, currency);
  out.number(5, static_cast<std::uint64_t>(reading));
  out.number(6, static_cast<std::uint64_t>(compare));
  write_signed(out, 7, value);
  write_instant(out, 8, created_at);
  return bytes;
}

template <>
Result<ledger::Monitor> Codec<ledger::Monitor>::decode(core::KeyOf<ledger::Monitor> key,
                                                       std::string_view value) {
  using ledger::Compare;
  using ledger::Reading;
  ledger::Monitor monitor{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .number = std::get<2>(key)};
  std::optional<ledger::Signed> bound;
  const bool whole = read_fields(value, [&](const WireReader& in) {
    switch (in.field()) {
      case 1: monitor.id = in.text(); return true;
      case 2: monitor.account = in.text(); return true;
      case 3: monitor.prefix = in.text(); return true;
      case 4: monitor.currency = number32(in); return true;
      case 5: return read_enum(in, monitor.reading, Reading::posted, Reading::available);
      case 6: return read_enum(in, monitor.compare, Compare::gte, Compare::eq);
      case 7: return read_limit(in.text(), bound);
      case 8: monitor.created_at = read_instant(in); return true;
      default: return true;
    }
  });
  if (!whole || !bound || monitor.reading == Reading{} || monitor.compare == Compare{}) {
    return broken_record("monitor of a ledger");
  }
  monitor.value = *bound;
  return monitor;
}

template <>
std::string Codec<ledger::Rollup>::encode(const ledger::Rollup& one) {
  const auto& [tenant, book, prefix, created_at, complete, reached, sums] = one;
  std::string bytes;
  WireWriter out(bytes);
  write_instant(out, 1, created_at);
  out.number(2, complete ? 1 : 0);
  out.text(3, reached);
  for (const ledger::Rollup::Sum& sum : sums) {
    out.record(4, [&] {
      const auto& [currency, debits_posted, credits_posted, debits_pending, credits_pending,
                   debit_accounts, credit_accounts] = sum;
      out.number(1, currency);
      out.number(2, debit_accounts);
      out.number(3, credit_accounts);
      write_total(out, 4, debits_posted);
      write_total(out, 7, credits_posted);
      write_total(out, 10, debits_pending);
      write_total(out, 13, credits_pending);
    });
  }
  return bytes;
}

template <>
Result<ledger::Rollup> Codec<ledger::Rollup>::decode(core::KeyOf<ledger::Rollup> key,
                                                     std::string_view value) {
  ledger::Rollup rollup{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .prefix = std::move(std::get<2>(key))};
  const bool whole = read_fields(value, [&rollup](const WireReader& in) {
    switch (in.field()) {
      case 1: rollup.created_at = read_instant(in); return true;
      case 2: rollup.complete = in.number() != 0; return true;
      case 3: rollup.reached = in.text(); return true;
      case 4: return read_rollup_sum(in.text(), rollup.sums.emplace_back());
      default: return true;
    }
  });
  if (!whole || rollup.prefix.empty()) {
    return broken_record("sum of a ledger");
  }
  return rollup;
}

template <>
std::string Codec<ledger::ReconSource>::encode(const ledger::ReconSource& one) {
  const auto& [tenant, book, id, number, account, account_number, currency, window_days, automatic,
               used, created_at] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.text(1, account);
  out.number(2, account_number);
  out.number(3, currency);
  out.number(4, window_days);
  out.number(5, automatic ? 0 : 1);
  out.number(6, used ? 1 : 0);
  write_instant(out, 7, created_at);
  out.number(8, number);
  return bytes;
}

template <>
Result<ledger::ReconSource> Codec<ledger::ReconSource>::decode(core::KeyOf<ledger::ReconSource> key,
                                                               std::string_view value) {
  ledger::ReconSource source{
      .tenant = std::get<0>(key), .book = std::get<1>(key), .id = std::move(std::get<2>(key))};
  const bool whole = read_fields(value, [&source](const WireReader& in) {
    switch (in.field()) {
      case 1: source.account = in.text(); break;
      case 2: source.account_number = in.number(); break;
      case 3: source.currency = number32(in); break;
      case 4: source.window_days = number32(in); break;
      case 5: source.automatic = in.number() == 0; break;
      case 6: source.used = in.number() != 0; break;
      case 7: source.created_at = read_instant(in); break;
      case 8: source.number = number32(in); break;
      default: break;
    }
    return true;
  });
  if (!whole || source.account.empty() || source.number == 0) {
    return broken_record("source of a ledger's reconciliation");
  }
  return source;
}

template <>
std::string Codec<ledger::ReconLine>::encode(const ledger::ReconLine& one) {
  const auto& [tenant, book, source, external_id, known, date, amount, reference, said, state, rule,
               entries, hash] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.number(1, known ? 0 : 1);
  write_instant(out, 2, date);
  ledger::write_signed(out, 3, amount);
  out.text(4, reference);
  out.text(5, said);
  out.number(6, static_cast<std::uint64_t>(state));
  out.number(7, static_cast<std::uint64_t>(rule));
  for (const auto& [seq, index] : entries) {
    out.record(8, [&, &seq = seq, &index = index] {
      out.number(1, seq);
      out.number(2, index);
    });
  }
  out.item(9, ledger::bytes_of(hash));
  return bytes;
}

template <>
Result<ledger::ReconLine> Codec<ledger::ReconLine>::decode(core::KeyOf<ledger::ReconLine> key,
                                                           std::string_view value) {
  using ledger::ReconRule;
  using ledger::ReconState;
  ledger::ReconLine line{.tenant = std::get<0>(key),
                         .book = std::get<1>(key),
                         .source = std::get<2>(key),
                         .external_id = std::move(std::get<3>(key)),
                         .state = ReconState{}};
  std::optional<ledger::Signed> amount;
  bool hashed = false;
  const bool whole = read_fields(value, [&](const WireReader& in) {
    switch (in.field()) {
      case 1: line.known = in.number() == 0; return true;
      case 2: line.date = read_instant(in); return true;
      case 3: return read_limit(in.text(), amount);
      case 4: line.reference = in.text(); return true;
      case 5: line.text = in.text(); return true;
      case 6: return read_enum(in, line.state, ReconState::unmatched, ReconState::ignored);
      case 7: return read_enum(in, line.rule, ReconRule::none, ReconRule::several);
      case 8: {
        ledger::EntryPlace& place = line.entries.emplace_back();
        return read_fields(in.text(), [&place](const WireReader& part) {
          if (part.field() == 1) {
            place.seq = part.number();
          } else if (part.field() == 2) {
            place.index = number32(part);
          }
          return true;
        });
      }
      case 9: hashed = get_array(line.hash, in.text()); return hashed;
      default: return true;
    }
  });
  if (!whole || !amount || !hashed || line.state == ReconState{}) {
    return broken_record("line of a ledger's reconciliation");
  }
  line.amount = *amount;
  return line;
}

template <>
std::string Codec<ledger::ReconDay>::encode(const ledger::ReconDay& /*day*/) {
  return {};
}
template <>
Result<ledger::ReconDay> Codec<ledger::ReconDay>::decode(core::KeyOf<ledger::ReconDay> key,
                                                         std::string_view /*value*/) {
  return ledger::ReconDay{.tenant = std::get<0>(key),
                          .book = std::get<1>(key),
                          .source = std::get<2>(key),
                          .day = std::get<3>(key),
                          .external_id = std::move(std::get<4>(key))};
}

template <>
std::string Codec<ledger::ReconEntry>::encode(const ledger::ReconEntry& one) {
  const auto& [tenant, book, account, seq, index, source, external_id] = one;
  std::string bytes;
  WireWriter out(bytes);
  out.text(1, source);
  out.text(2, external_id);
  return bytes;
}
template <>
Result<ledger::ReconEntry> Codec<ledger::ReconEntry>::decode(core::KeyOf<ledger::ReconEntry> key,
                                                             std::string_view value) {
  ledger::ReconEntry entry{.tenant = std::get<0>(key),
                           .book = std::get<1>(key),
                           .account = std::get<2>(key),
                           .seq = std::get<3>(key),
                           .index = std::get<4>(key)};
  const bool whole = read_fields(value, [&entry](const WireReader& in) {
    if (in.field() == 1) {
      entry.source = in.text();
    } else if (in.field() == 2) {
      entry.external_id = in.text();
    }
    return true;
  });
  if (!whole || entry.source.empty()) {
    return broken_record("entry of a ledger's reconciliation");
  }
  return entry;
}

}  // namespace hk::store
