/// HK_ASSERT states an invariant of ours. It is on in release builds and unreachable from input: a
/// violation means that going on could lose or double work, so the process says where and stops.
#pragma once

#include <source_location>
#include <string_view>

namespace hk {

[[noreturn]] void assertion_failed(std::string_view condition, std::source_location where);

}  // namespace hk

#define HK_ASSERT(condition)                                               \
  do {                                                                     \
    if (!(condition)) [[unlikely]] {                                       \
      ::hk::assertion_failed(#condition, std::source_location::current()); \
    }                                                                      \
  } while (false)
