/// Writes the fields of a record as Protocol Buffers does, without making its object first: the
/// records that every message writes are translated here, and the copies into such an object were
/// most of what that took. The bytes are the same, which the tests compare: fields in the order of
/// their numbers, what is zero or empty left out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wire.h"
#include "core/message.h"

namespace hk::store {

class Wire : public WireWriter {
 public:
  using WireWriter::WireWriter;

  void moment(std::uint32_t field, Moment value) { integer(field, to_ms(value)); }
  void headers(std::uint32_t field, const std::vector<core::Header>& headers) {
    for (const auto& [name, value] : headers) {
      record(field, [&] {
        text(1, name);
        text(2, value);
      });
    }
  }
  void trace(std::uint32_t field, const core::Trace& trace) {
    const auto& [trace_id, parent_span, flags, state] = trace;
    record(field, [&] {
      array(1, trace_id);
      array(2, parent_span);
      number(3, flags);
      text(4, state);
    });
  }
};

/// Takes a record apart: `each` gets every field; false: it cannot be.
template <class Each>
bool read_fields(std::string_view bytes, const Each& each) {
  WireReader in(bytes);
  while (in.next()) {
    if (!each(in)) {
      return false;
    }
  }
  return in.ok();
}

template <class Enum>
bool read_enum(const WireReader& in, Enum& value, Enum first, Enum last) {
  value = static_cast<Enum>(in.number());
  return in.number() >= static_cast<std::uint64_t>(first) &&
         in.number() <= static_cast<std::uint64_t>(last);
}

inline std::uint32_t number32(const WireReader& in) {
  return static_cast<std::uint32_t>(in.number());
}

}  // namespace hk::store
