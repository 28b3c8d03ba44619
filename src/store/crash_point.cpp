#include "store/crash_point.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <string>

namespace hk::store {

namespace {

constexpr std::array names = {
#define HK_CRASH_POINT(name, when, meaning) std::string_view{#name},
#include "store/crash_points.def"
#undef HK_CRASH_POINT
};

struct Parsed {
  CrashPoint point{};
  std::uint64_t passage = 0;
};

Result<Parsed> parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* const found = std::find(names.begin(), names.end(), text.substr(0, colon));
  if (found == names.end()) {
    return fail(ErrorKind::invalid_argument, "there is no crash point \"" +
                                                 std::string(text.substr(0, colon)) +
                                                 "\": src/store/crash_points.def lists them");
  }
  Parsed parsed{static_cast<CrashPoint>(found - names.begin()), 0};
  const std::string_view digits =
      colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  const char* const end = digits.data() + digits.size();
  if (const auto [rest, error] = std::from_chars(digits.data(), end, parsed.passage);
      error != std::errc{} || rest != end || parsed.passage == 0) {
    return fail(ErrorKind::invalid_argument,
                "a crash is asked for as POINT:N, with N from 1 on, and not as \"" +
                    std::string(text) + "\"");
  }
  return parsed;
}

}  // namespace

namespace detail {

ArmedCrash* armed_crash = nullptr;

void pass(CrashPoint point) {
  if (armed_crash->point == point && armed_crash->left.fetch_sub(1) == 1) {
    ::kill(::getpid(), SIGKILL);
    ::pause();  // this thread does not go on until the signal is there
  }
}

}  // namespace detail

Result<void> arm_crash(std::string_view text) {
  const auto parsed = parse(text);
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  static detail::ArmedCrash armed;
  armed.point = parsed->point;
  armed.left = parsed->passage;
  detail::armed_crash = &armed;
  return {};
}

}  // namespace hk::store
