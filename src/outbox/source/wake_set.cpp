#include "outbox/source/wake_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/assert.h"

namespace hk::outbox {
namespace {

std::unexpected<Error> no_descriptor() {
  return fail(ErrorKind::unavailable,
              "cannot wait for the database: " + std::generic_category().message(errno));
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<void> WakeSet::open() {
  if (fd() >= 0) {
    return {};
  }
  OwnedFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  OwnedFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (epoll.get() < 0 || timer.get() < 0) {
    return no_descriptor();
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = timer.get();
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, timer.get(), &event) != 0) {
    return no_descriptor();
  }
  epoll_ = std::move(epoll);
  timer_ = std::move(timer);
  return {};
}

Result<void> WakeSet::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0 && errno != EEXIST) {
    return no_descriptor();
  }
  return {};
}

void WakeSet::wake_after(Millis delay) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(delay);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::chrono::nanoseconds(delay - seconds).count();
  if (delay <= Millis{0}) {
    when.it_value = {0, 1};  // zero would disarm it
  }
  const int set = ::timerfd_settime(timer_.get(), 0, &when, nullptr);
  HK_ASSERT(set == 0);
}

bool WakeSet::Ready::has(int fd) const { return std::ranges::find(fds, fd) != fds.end(); }

WakeSet::Ready WakeSet::take() {
  std::array<epoll_event, 8> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  Ready ready;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd != timer_.get()) {
      ready.fds.push_back(fd);
      continue;
    }
    std::uint64_t expirations = 0;
    ready.timer = ::read(fd, &expirations, sizeof expirations) == sizeof expirations;
  }
  return ready;
}

}  // namespace hk::outbox
