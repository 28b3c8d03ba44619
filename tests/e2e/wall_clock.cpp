/// Loaded into the server with LD_PRELOAD by test_clock.py: a wall clock that a test can set while
/// the server runs. The file that WALL_CLOCK_FILE names holds one std::int64_t: by how many
/// milliseconds the wall clock is ahead of the real one. The clocks that only count are left alone,
/// as they are when a real wall clock is set. It allocates nothing and asks the kernel itself: the
/// allocator asks for the time before anything else is ready.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr long nanoseconds = 1'000'000'000;

std::int64_t ahead_by() {
  static std::atomic<const std::atomic<std::int64_t>*> shared{nullptr};
  const auto* known = shared.load();
  if (known == nullptr) {
    const char* path = std::getenv("WALL_CLOCK_FILE");
    const int fd = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      return 0;
    }
    void* mapped = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    if (mapped == MAP_FAILED) {
      return 0;
    }
    known = static_cast<const std::atomic<std::int64_t>*>(mapped);
    shared.store(known);
  }
  return known->load();
}

/// `to` is `from` and so many milliseconds more, which may be negative.
void add(const timespec& from, std::int64_t milliseconds, timespec& to) {
  to.tv_sec = from.tv_sec + milliseconds / 1000;
  to.tv_nsec = from.tv_nsec + milliseconds % 1000 * 1'000'000;
  if (to.tv_nsec < 0) {
    to.tv_nsec += nanoseconds;
    --to.tv_sec;
  } else if (to.tv_nsec >= nanoseconds) {
    to.tv_nsec -= nanoseconds;
    ++to.tv_sec;
  }
}

timespec wall() {
  timespec real{};
  (void)::syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
  timespec shown{};
  add(real, ahead_by(), shown);
  return shown;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t id, timespec* to) noexcept {
  if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE) {
    return static_cast<int>(::syscall(SYS_clock_gettime, id, to));
  }
  *to = wall();
  return 0;
}

int gettimeofday(timeval* to, void*) noexcept {
  const timespec now = wall();
  *to = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

std::time_t time(std::time_t* to) noexcept {
  const timespec now = wall();
  if (to != nullptr) {
    *to = now.tv_sec;
  }
  return now.tv_sec;
}

/// Waits until a time of the wall clock (RocksDB does) must not sleep through a jump's years. One
/// that is far from the wall clock is meant by the clock that only counts.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  constexpr std::time_t near = 86'400;
  const std::time_t away = until->tv_sec - wall().tv_sec;
  if (away > near || away < -near) {
    return ::pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
  }
  timespec real{};
  add(*until, -ahead_by(), real);
  return ::pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &real);
}

}  // extern "C"
