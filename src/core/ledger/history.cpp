#include "core/ledger/history.h"

#include "base/assert.h"
#include "base/wire.h"
#include "core/reader.h"

namespace hk::core::ledger {

namespace {

// The first byte of a movement.
constexpr unsigned credit_bit = 1;
constexpr unsigned phase_shift = 1;  // two bits
constexpr unsigned late_bit = 8;
constexpr unsigned own_effective_bit = 16;  // effective_at is not recorded_at
constexpr unsigned high_bit = 32;           // the amount has more than 64 bits
constexpr unsigned index_bit = 64;          // the index is not 0
constexpr unsigned byte_max = 128;

void append_varint(std::string& out, std::uint64_t value) {
  char bytes[10];
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7U) {
    bytes[count++] = static_cast<char>(static_cast<unsigned char>(value | 0x80U));
  }
  bytes[count++] = static_cast<char>(value);
  out.append(bytes, count);
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
}

}  // namespace

Signed posted(const Counters128& counters, Side normal) {
  return normal == Side::debit
             ? Signed::difference(counters.debits_posted, counters.credits_posted)
             : Signed::difference(counters.credits_posted, counters.debits_posted);
}

Signed pending(const Counters128& counters, Side normal) {
  const Signed now = posted(counters, normal);
  const Signed coming = normal == Side::debit
                            ? Signed::difference(counters.debits_pending, counters.credits_pending)
                            : Signed::difference(counters.credits_pending, counters.debits_pending);
  return saturating_sum(now, coming);
}

Signed available(const Counters128& counters, Side normal) {
  const Amount promised =
      normal == Side::debit ? counters.credits_pending : counters.debits_pending;
  return saturating_sum(posted(counters, normal), Signed{promised != 0, promised});
}

Counters128 counters_of(const Movement& movement) {
  Counters128 moved;
  const bool debit = movement.side == Side::debit;
  switch (movement.phase) {
    case Movement::Phase::posted:
      (debit ? moved.debits_posted : moved.credits_posted) = movement.amount;
      break;
    case Movement::Phase::held:
      (debit ? moved.debits_pending : moved.credits_pending) = movement.amount;
      break;
    case Movement::Phase::released:
      (debit ? moved.debits_pending : moved.credits_pending) = Amount{0} - movement.amount;
      break;
  }
  return moved;
}

bool holds(const Signed& value, Compare compare, const Signed& bound) {
  switch (compare) {
    case Compare::gte: return value >= bound;
    case Compare::gt: return value > bound;
    case Compare::lte: return value <= bound;
    case Compare::lt: return value < bound;
    case Compare::eq: return value == bound;
  }
  return false;
}

void append(Run& run, const Movement& movement) {
  if (run.count == 0) {
    run.first_seq = run.last_seq = movement.seq;
    run.first_recorded = run.last_recorded = movement.recorded_at;
  }
  HK_ASSERT(movement.seq >= run.last_seq && movement.recorded_at >= run.last_recorded);
  const auto high = static_cast<std::uint64_t>(movement.amount >> 64U);
  unsigned first = static_cast<unsigned>(movement.phase) << phase_shift;
  first |= movement.side == Side::credit ? credit_bit : 0;
  first |= movement.late ? late_bit : 0;
  first |= movement.effective_at != movement.recorded_at ? own_effective_bit : 0;
  first |= high != 0 ? high_bit : 0;
  first |= movement.index != 0 ? index_bit : 0;
  run.movements.push_back(static_cast<char>(first));
  append_varint(run.movements, movement.seq - run.last_seq);
  append_varint(run.movements,
                static_cast<std::uint64_t>((movement.recorded_at - run.last_recorded).count()));
  append_varint(run.movements, static_cast<std::uint64_t>(movement.amount));
  if (high != 0) {
    append_varint(run.movements, high);
  }
  if (movement.index != 0) {
    append_varint(run.movements, movement.index);
  }
  if (movement.effective_at != movement.recorded_at) {
    // Modulo 2^64: any two instants have a difference.
    append_varint(
        run.movements,
        zigzag(static_cast<std::int64_t>(static_cast<std::uint64_t>(to_ns(movement.effective_at)) -
                                         static_cast<std::uint64_t>(to_ns(movement.recorded_at)))));
  }
  ++run.count;
  run.last_seq = movement.seq;
  run.last_recorded = movement.recorded_at;
}

RunReader::RunReader(const Run& run)
    : rest_(run.movements),
      seq_(run.first_seq),
      recorded_(run.first_recorded),
      sum_(run.before),
      late_sum_(run.late_before),
      version_(run.version_before) {}

std::optional<Movement> RunReader::next() {
  if (rest_.empty()) {
    return std::nullopt;
  }
  const auto first = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  bool whole = first < byte_max;
  const auto number = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    whole = false;
    return std::uint64_t{0};
  };
  Movement movement;
  seq_ += number();
  recorded_ += std::chrono::nanoseconds{static_cast<std::int64_t>(number())};
  movement.seq = seq_;
  movement.recorded_at = recorded_;
  movement.side = (first & credit_bit) != 0 ? Side::credit : Side::debit;
  const unsigned phase = (first >> phase_shift) & 3U;
  whole = whole && phase <= static_cast<unsigned>(Movement::Phase::released);
  movement.phase = static_cast<Movement::Phase>(phase);
  movement.late = (first & late_bit) != 0;
  movement.amount = number();
  if ((first & high_bit) != 0) {
    movement.amount |= Amount{number()} << 64U;
  }
  if ((first & index_bit) != 0) {
    movement.index = static_cast<std::uint32_t>(number());
  }
  movement.effective_at = (first & own_effective_bit) == 0
                              ? recorded_
                              : instant_from_ns(static_cast<std::int64_t>(
                                    static_cast<std::uint64_t>(to_ns(recorded_)) +
                                    static_cast<std::uint64_t>(unzigzag(number()))));
  if (!whole) {
    throw CorruptRecord("movements of a ledger's account cannot be read");
  }
  const Counters128 moved = counters_of(movement);
  sum_ += moved;
  if (movement.late) {
    late_sum_ += moved;
  }
  if (seq_ != counted_seq_) {
    counted_seq_ = seq_;
    ++version_;
  }
  return movement;
}

}  // namespace hk::core::ledger
