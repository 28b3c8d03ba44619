/// Reads PostgreSQL's wire integers and texts from bytes that may end too early. After the first
/// read that does not fit every further one yields zeros and nothing; ok() says so at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace hk::outbox {

class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  /// Everything was there and nothing is left.
  [[nodiscard]] bool ended() const { return ok_ && rest_.empty(); }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::string_view bytes(std::size_t count) {
    if (!ok_ || count > rest_.size()) {
      refuse();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  template <class UInt>
  UInt number() {
    const std::string_view taken = bytes(sizeof(UInt));
    return taken.empty() ? UInt{0} : read_be<UInt>(taken);
  }

  std::int64_t signed64() { return static_cast<std::int64_t>(number<std::uint64_t>()); }
  std::int32_t signed32() { return static_cast<std::int32_t>(number<std::uint32_t>()); }

  char letter() {
    const std::string_view taken = bytes(1);
    return taken.empty() ? '\0' : taken.front();
  }

  /// Ends at a zero byte, which is not part of it.
  std::string_view text() {
    const std::size_t length = rest_.find('\0');
    if (length == std::string_view::npos) {
      refuse();
      return {};
    }
    const std::string_view taken = bytes(length);
    bytes(1);
    return taken;
  }

  std::string_view all() { return bytes(rest_.size()); }

  void refuse() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace hk::outbox
