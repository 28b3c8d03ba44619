/// What a failing run says: the invariant that broke and the last events before it. Events are kept
/// as numbers and become text only when somebody reads them.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace hk::sim {

/// An invariant does not hold. Thrown by the checks, caught once per seed.
struct Violation : std::runtime_error {
  Violation(std::string name, const std::string& detail)
      : std::runtime_error(detail), invariant(std::move(name)) {}
  std::string invariant;
};

inline void require(bool holds, const char* invariant, const std::string& detail) {
  if (!holds) {
    throw Violation(invariant, detail);
  }
}

class Trace {
 public:
  struct Event {
    Moment at{};
    const char* what = "";
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
  };
  static std::string text(const Event& event);

  void set_echo(bool echo) { echo_ = echo; }
  void add(Moment at, const char* what, std::uint64_t a = 0, std::uint64_t b = 0,
           std::uint64_t c = 0);
  /// The last 50, oldest first.
  [[nodiscard]] std::vector<std::string> last() const;
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::size_t kept = 50;
  std::array<Event, kept> ring_{};
  std::uint64_t count_ = 0;
  bool echo_ = false;
};

}  // namespace hk::sim
