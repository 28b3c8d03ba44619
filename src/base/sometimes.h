/// SOMETIMES(name) marks a rare state that the simulator must reach: the run fails if a declared
/// mark was never hit, so that a generator that has gone blind is seen. It costs one relaxed
/// increment; marks register themselves before main().
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace hk {

class SometimesMark {
 public:
  explicit SometimesMark(const char* name);
  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }

  /// Every mark of the linked code with its count, ordered by name.
  static std::map<std::string, std::uint64_t> all();

 private:
  const char* name_;
  std::atomic<std::uint64_t> hits_{0};
  SometimesMark* next_ = nullptr;
  static SometimesMark* first_;
};

}  // namespace hk

/// At namespace scope of a .cpp: HK_SOMETIMES_DECLARE(lane_refilled); in the code:
/// HK_SOMETIMES(lane_refilled);
#define HK_SOMETIMES_DECLARE(name)        \
  namespace {                             \
  ::hk::SometimesMark name##_mark{#name}; \
  }
#define HK_SOMETIMES(name) name##_mark.hit()
