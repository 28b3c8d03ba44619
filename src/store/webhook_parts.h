/// Pieces that several records of webhooks have: written and read without generated objects.
#pragma once

#include <string_view>
#include <vector>

#include "core/webhook/record.h"
#include "store/wire.h"

namespace hk::store {

inline Moment read_moment(const WireReader& in) {
  return moment_from_ms(static_cast<std::int64_t>(in.number()));
}
inline Millis read_millis(const WireReader& in) {
  return Millis{static_cast<std::int64_t>(in.number())};
}
inline bool read_flag(const WireReader& in) { return in.number() != 0; }

/// A list of integers in one field.
template <class Number>
bool read_numbers(const WireReader& in, std::vector<Number>& numbers) {
  WireReader list(in.text());
  while (list.more()) {
    numbers.push_back(static_cast<Number>(list.varint()));
  }
  return list.ok();
}

void write_made(Wire& wire, std::uint32_t field, const core::webhook::Made& made);
bool read_made(const WireReader& in, core::webhook::Made& made);
bool read_header(const WireReader& in, std::vector<core::Header>& headers);

}  // namespace hk::store
