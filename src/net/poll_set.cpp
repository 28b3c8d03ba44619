#include "net/poll_set.h"

#include <cerrno>
#include <new>

namespace hk::net {

namespace {

/// Writing never waits unless a write was refused, so asking for it costs no event of its own.
constexpr std::uint32_t wanted = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t broken = EPOLLHUP | EPOLLERR;

epoll_event event_of(PollSet::Watched& watched) {
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &watched;
  return event;
}

}  // namespace

PollSet::PollSet(boost::asio::io_context& io)
    : io_(io), epoll_(io.get_executor()), self_(std::make_shared<PollSet*>(this)) {
  const int made = ::epoll_create1(EPOLL_CLOEXEC);
  boost::system::error_code failure;
  if (made >= 0) epoll_.assign(made, failure);
  if (made < 0 || failure) throw std::bad_alloc();
  wait();
}

PollSet::~PollSet() {
  *self_ = nullptr;
  boost::system::error_code ignored;
  epoll_.close(ignored);
}

bool PollSet::add(int descriptor, Watched& watched) {
  epoll_event event = event_of(watched);
  return ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void PollSet::tell_again(int descriptor, Watched& watched) {
  epoll_event event = event_of(watched);
  ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_MOD, descriptor, &event);
}

void PollSet::remove(int descriptor, Watched& watched) {
  // Closing would do, unless a child process holds the descriptor just now.
  ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
  for (std::size_t i = next_; i < count_; ++i) {
    if (events_[i].data.ptr == &watched) events_[i].data.ptr = nullptr;
  }
}

void PollSet::wait() {
  epoll_.async_wait(epoll_.wait_read, [self = self_](const boost::system::error_code& failure) {
    if (failure || *self == nullptr) return;
    (*self)->tell();
    (*self)->wait();
  });
}

void PollSet::poll() {
  constexpr int rounds_max = 64;  // bounded, however fast the peers are
  for (int i = 0; i < rounds_max && !telling_; ++i) {
    if (tell()) return;
  }
}

bool PollSet::tell() {
  const int got = ::epoll_wait(epoll_.native_handle(), events_.data(), events_max, 0);
  if (got <= 0) return got == 0 || errno != EINTR;
  telling_ = true;
  count_ = static_cast<std::size_t>(got);
  for (next_ = 0; next_ < count_; ++next_) {
    // Through the array each time: what is told may remove this very entry.
    const epoll_event& event = events_[next_];
    const std::uint32_t what = event.events;
    const auto watched = [&event] { return static_cast<Watched*>(event.data.ptr); };
    if ((what & (EPOLLOUT | broken)) != 0 && watched() != nullptr) watched()->on_writable();
    if ((what & (EPOLLIN | EPOLLRDHUP | broken)) != 0 && watched() != nullptr) {
      watched()->on_readable((what & (EPOLLRDHUP | broken)) != 0);
    }
  }
  next_ = count_ = 0;
  telling_ = false;
  return static_cast<std::size_t>(got) < events_max;
}

}  // namespace hk::net
