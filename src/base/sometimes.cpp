#include "base/sometimes.h"

namespace hk {

SometimesMark* SometimesMark::first_ = nullptr;

SometimesMark::SometimesMark(const char* name) : name_(name), next_(first_) { first_ = this; }

std::map<std::string, std::uint64_t> SometimesMark::all() {
  std::map<std::string, std::uint64_t> marks;
  for (const SometimesMark* mark = first_; mark != nullptr; mark = mark->next_) {
    marks[mark->name_] += mark->hits_.load(std::memory_order_relaxed);
  }
  return marks;
}

}  // namespace hk
