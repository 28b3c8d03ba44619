/// Records in the wire format of Protocol Buffers, written and read field by field, without making
/// an object first. Written in the order of the fields' numbers, with what is zero or empty left
/// out, the bytes are those that Protocol Buffers writes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hk {

class WireWriter {
 public:
  /// Appends. REQUIRES: fields are written in the order of their numbers.
  explicit WireWriter(std::string& out) : out_(out) {}

  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      tag(field, 0);
      varint(value);
    }
  }
  void integer(std::uint32_t field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      fixed_item(field, value);
    }
  }
  /// Written also if it is zero.
  void fixed_item(std::uint32_t field, std::uint64_t value) {
    std::array<char, 8> bytes{};
    for (unsigned i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
    tag(field, 1);
    out_.append(bytes.data(), bytes.size());
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

/// Takes such a record apart: any bytes may be given to it. After a mistake next() is false and
/// ok() is, too.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// The next field, if there is one.
  bool next() {
    if (rest_.empty() || !ok_) {
      return false;
    }
    const std::uint64_t tag = varint();
    field_ = static_cast<std::uint32_t>(tag >> 3U);
    number_ = 0;
    text_ = {};
    switch (tag & 7U) {
      case 0: number_ = varint(); break;
      case 1:
        text_ = take(8);
        for (std::size_t i = text_.size(); i-- > 0;) {
          number_ = (number_ << 8U) | static_cast<unsigned char>(text_[i]);
        }
        text_ = {};
        break;
      case 2: text_ = take(varint()); break;
      default: ok_ = false;
    }
    ok_ = ok_ && field_ != 0 && tag <= 0xffffffffULL;
    return ok_;
  }
  [[nodiscard]] std::uint32_t field() const { return field_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Everything so far was such a record.
  [[nodiscard]] bool ok() const { return ok_; }
  /// Of a list of integers, which is the text() of another reader.
  [[nodiscard]] bool more() const { return ok_ && !rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return taken;
  }

  std::string_view rest_;
  std::uint32_t field_ = 0;
  std::uint64_t number_ = 0;
  std::string_view text_;
  bool ok_ = true;
};

}  // namespace hk
