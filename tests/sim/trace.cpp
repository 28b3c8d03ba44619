#include "sim/trace.h"

#include <algorithm>
#include <cstdio>

namespace hk::sim {

std::string Trace::text(const Event& event) {
  return std::to_string(to_ms(event.at)) + " ms  " + event.what + " " + std::to_string(event.a) +
         " " + std::to_string(event.b) + " " + std::to_string(event.c);
}

void Trace::add(Moment at, const char* what, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const Event event{at, what, a, b, c};
  ring_[count_ % kept] = event;
  ++count_;
  if (echo_) {
    std::puts(text(event).c_str());
  }
}

std::vector<std::string> Trace::last() const {
  std::vector<std::string> out;
  for (std::uint64_t i = count_ - std::min<std::uint64_t>(count_, kept); i < count_; ++i) {
    out.push_back(text(ring_[i % kept]));
  }
  return out;
}

}  // namespace hk::sim
