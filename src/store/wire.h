/// Writes the fields of a record as Protocol Buffers does, without making its object first: the
/// records that every message writes are translated here, and the copies into such an object were
/// most of what that took. The bytes are the same, which the tests compare: fields in the order of
/// their numbers, what is zero or empty left out.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/message.h"

namespace hk::store {

class Wire {
 public:
  /// Appends. REQUIRES: fields are written in the order of their numbers.
  explicit Wire(std::string& out) : out_(out) {}

  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      tag(field, 0);
      varint(value);
    }
  }
  void integer(std::uint32_t field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void moment(std::uint32_t field, Moment value) { integer(field, to_ms(value)); }
  void fixed(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      tag(field, 1);
      for (unsigned shift = 0; shift < 64; shift += 8) {
        out_.push_back(static_cast<char>(static_cast<unsigned char>(value >> shift)));
      }
    }
  }
  void real(std::uint32_t field, double value) {
    fixed(field, std::bit_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) {
      item(field, value);
    }
  }
  /// An all-zero array is stored as nothing.
  template <std::size_t N>
  void array(std::uint32_t field, const std::array<std::uint8_t, N>& value) {
    if (std::ranges::any_of(value, [](std::uint8_t byte) { return byte != 0; })) {
      item(field, {reinterpret_cast<const char*>(value.data()), N});
    }
  }
  /// Of a list: written also if it is empty.
  void item(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    out_.append(value);
  }
  void items(std::uint32_t field, const std::vector<std::string>& values) {
    for (const std::string& one : values) {
      item(field, one);
    }
  }
  void headers(std::uint32_t field, const std::vector<core::Header>& headers) {
    for (const auto& [name, value] : headers) {
      record(field, [&] {
        text(1, name);
        text(2, value);
      });
    }
  }
  /// One of a list of integers, within the record() that is the list.
  void packed(std::int64_t value) { varint(static_cast<std::uint64_t>(value)); }
  /// A record within this one: `fields` writes it. It is there also if it has none.
  template <class Fields>
  void record(std::uint32_t field, const Fields& fields) {
    tag(field, 2);
    const std::size_t length_at = out_.size();
    out_.push_back('\0');  // most are shorter than 128 bytes
    fields();
    std::size_t length = out_.size() - length_at - 1;
    std::array<char, 10> more{};
    std::size_t count = 0;
    for (; length >= 0x80; length >>= 7U) {
      more[count++] = static_cast<char>((length & 0x7fU) | 0x80U);
    }
    more[count] = static_cast<char>(length);
    out_[length_at] = more[0];
    if (count > 0) {
      out_.insert(length_at + 1, &more[1], count);
    }
  }

 private:
  void tag(std::uint32_t field, std::uint32_t kind) { varint((field << 3U) | kind); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      out_.push_back(static_cast<char>(static_cast<unsigned char>(value | 0x80U)));
    }
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
};

}  // namespace hk::store
