/// Writes the fields of a record as Protocol Buffers does, without making its object first: the
/// records that every message writes are translated here, and the copies into such an object were
/// most of what that took. The bytes are the same, which the tests compare: fields in the order of
/// their numbers, what is zero or empty left out.
#pragma once

#include <cstdint>
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
};

}  // namespace hk::store
