/// Builds what a PostgreSQL server sends over a replication connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hk::outbox::test {

class Bytes {
 public:
  explicit Bytes(char kind) : text_(1, kind) {}
  Bytes& letter(char c) {
    text_.push_back(c);
    return *this;
  }
  Bytes& u16(std::uint16_t value) { return add(value); }
  Bytes& u32(std::uint32_t value) { return add(value); }
  Bytes& u64(std::uint64_t value) { return add(value); }
  Bytes& text(std::string_view value) {
    text_.append(value).push_back('\0');
    return *this;
  }
  /// A row of a null, an unchanged, a text and a binary value.
  Bytes& row() {
    u16(4).letter('n').letter('u');
    letter('t').u32(2).letter('4').letter('2');
    return letter('b').u32(3).letter('\0').letter('\1').letter('\2');
  }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  template <class UInt>
  Bytes& add(UInt value) {
    append_be(text_, value);
    return *this;
  }
  std::string text_;
};

inline std::string begin_bytes(std::uint64_t commit_lsn) {
  return Bytes('B').u64(commit_lsn).u64(700'000'000'000'000).u32(731).str();
}
inline std::string commit_bytes(std::uint64_t end_lsn) {
  return Bytes('C').letter('\0').u64(end_lsn - 48).u64(end_lsn).u64(700'000'000'000'000).str();
}
inline std::string insert_bytes() { return Bytes('I').u32(16'385).letter('N').row().str(); }
inline std::string message_bytes(bool transactional, std::string_view prefix) {
  return Bytes('M')
      .letter(transactional ? '\1' : '\0')
      .u64(0x16b3748)
      .text(prefix)
      .u32(2)
      .letter('h')
      .letter('i')
      .str();
}
inline std::string relation_bytes() {
  return Bytes('R')
      .u32(16'385)
      .text("public")
      .text("hikyaku_outbox")
      .letter('d')
      .u16(2)
      .letter('\1')
      .text("id")
      .u32(20)
      .u32(0xffffffff)
      .letter('\0')
      .text("payload")
      .u32(3802)
      .u32(0xffffffff)
      .str();
}

}  // namespace hk::outbox::test
