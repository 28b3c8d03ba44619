/// What the encodings of the ledger share: amounts, instants and hashes as fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/wire.h"
#include "core/ledger/record.h"

namespace hk::core::ledger {

/// Two fields: the lower 64 bits, and the upper ones if there are any.
inline void write_amount(WireWriter& out, std::uint32_t field, Amount amount) {
  out.number(field, static_cast<std::uint64_t>(amount));
  out.number(field + 1, static_cast<std::uint64_t>(amount >> 64U));
}
inline void add_low(Amount& amount, std::uint64_t number) { amount |= number; }
inline void add_high(Amount& amount, std::uint64_t number) { amount |= Amount{number} << 64U; }

inline void write_instant(WireWriter& out, std::uint32_t field, Instant at) {
  out.fixed_item(field, static_cast<std::uint64_t>(to_ns(at)));
}
inline Instant read_instant(const WireReader& in) {
  return instant_from_ns(static_cast<std::int64_t>(in.number()));
}

inline std::string_view bytes_of(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}
inline std::optional<Hash> hash_from(std::string_view bytes) {
  Hash hash{};
  if (bytes.size() != hash.size()) {
    return std::nullopt;
  }
  std::ranges::transform(bytes, hash.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return hash;
}

/// Eight fields from `field` on.
inline void write_counters(WireWriter& out, std::uint32_t field, const Counters128& counters) {
  write_amount(out, field, counters.debits_posted);
  write_amount(out, field + 2, counters.credits_posted);
  write_amount(out, field + 4, counters.debits_pending);
  write_amount(out, field + 6, counters.credits_pending);
}
/// False: the field is none of those.
inline bool read_counters(const WireReader& in, std::uint32_t field, Counters128& counters) {
  if (in.field() < field || in.field() >= field + 8) {
    return false;
  }
  Amount* const all[] = {&counters.debits_posted, &counters.credits_posted,
                         &counters.debits_pending, &counters.credits_pending};
  const std::uint32_t which = in.field() - field;
  if (which % 2 == 0) {
    add_low(*all[which / 2], in.number());
  } else {
    add_high(*all[which / 2], in.number());
  }
  return true;
}

/// Three fields: 1 = negative, and the magnitude; there also if all are zero (it is in a record()).
inline void write_signed(WireWriter& out, std::uint32_t field, const Signed& amount) {
  out.record(field, [&] {
    out.number(1, amount.negative ? 1 : 0);
    write_amount(out, 2, amount.magnitude);
  });
}
inline std::optional<Signed> read_signed(std::string_view bytes) {
  Signed amount;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case 1: amount.negative = in.number() != 0; break;
      case 2: add_low(amount.magnitude, in.number()); break;
      case 3: add_high(amount.magnitude, in.number()); break;
      default: break;
    }
  }
  return in.ok() ? std::optional(amount) : std::nullopt;
}

}  // namespace hk::core::ledger
