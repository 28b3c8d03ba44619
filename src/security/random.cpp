#include <sys/random.h>

#include <cerrno>

#include "base/assert.h"
#include "security/credentials.h"

namespace hk::security {

void fill_random(void* out, std::size_t count) {
  auto* next = static_cast<unsigned char*>(out);
  while (count != 0) {
    const ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    HK_ASSERT(got > 0);
    next += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  fill_random(&seed, sizeof seed);
  return seed;
}

std::uint64_t SystemRng::next() {
  if (used_ == buffer_.size()) {
    fill_random(buffer_.data(), sizeof buffer_);
    used_ = 0;
  }
  const std::uint64_t value = buffer_[used_];
  buffer_[used_] = 0;  // what was handed out is not kept
  ++used_;
  return value;
}

}  // namespace hk::security
