#include "net/poll_set.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <new>
#include <utility>

#include "base/assert.h"

namespace hk::net {

namespace {

/// Writing never waits unless a write was refused, so asking for it costs no event of its own.
constexpr std::uint32_t wanted = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t broken = EPOLLHUP | EPOLLERR;
constexpr std::uint32_t ended = EPOLLRDHUP | broken;

/// Sockets that are told of before the kernel is asked again: who comes meanwhile waits for these.
constexpr int turns_per_look = 32;
/// Looks before the rest of the loop, replies for example, has its turn.
constexpr int looks_per_round = 2;

}  // namespace

PollSet::PollSet(boost::asio::io_context& io)
    : io_(io), epoll_(io.get_executor()), self_(std::make_shared<PollSet*>(this)) {
  const int made = ::epoll_create1(EPOLL_CLOEXEC);
  boost::system::error_code failure;
  if (made >= 0) epoll_.assign(made, failure);
  if (made < 0 || failure) throw std::bad_alloc();
  // These two stay: nobody must need memory in order to be told.
  for (const Party always : {unknown, leaving}) line_of(always).members = 1;
  go_on();
}

PollSet::~PollSet() {
  *self_ = nullptr;
  boost::system::error_code ignored;
  epoll_.close(ignored);
}

bool PollSet::add(int descriptor, Watched& watched) {
  join(watched, line_of(unknown));
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &watched;
  if (::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0) return true;
  leave(watched);
  return false;
}

void PollSet::set_party(Watched& watched, Party party) {
  if (watched.line_ == nullptr || watched.line_->party == party) return;
  Line& line = line_of(party);  // first: without memory for it everything stays as it is
  const std::uint32_t events = watched.events_;
  leave(watched);
  join(watched, line);
  if (events != 0) line_up(watched, events);
}

void PollSet::remove(int descriptor, Watched& watched) {
  // Closing would do, unless a child process holds the descriptor just now.
  ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
  forget(watched);
}

void PollSet::forget(Watched& watched) {
  if (told_ == &watched) told_ = nullptr;
  if (behind_all_ == &watched) behind_all_ = nullptr;
  leave(watched);
}

PollSet::Line& PollSet::line_of(Party party) {
  Line& line = lines_[party];
  line.party = party;
  return line;
}

void PollSet::join(Watched& watched, Line& line) {
  ++line.members;
  watched.line_ = &line;
}

void PollSet::leave(Watched& watched) {
  if (watched.line_ == nullptr) return;
  Line& line = *std::exchange(watched.line_, nullptr);
  if (std::exchange(watched.events_, 0U) != 0) {
    line.ready.erase(line.ready.iterator_to(watched));
    if (line.ready.empty()) round_.erase(round_.iterator_to(line));
  }
  if (--line.members == 0) lines_.erase(Party{line.party});
}

/// The loop comes to go_round() again: behind everything that waits there now if somebody is ready,
/// otherwise when the kernel has something.
void PollSet::go_on() {
  if (!anything_ready()) {
    if (!std::exchange(waits_, true)) wait();
  } else if (!std::exchange(posted_, true)) {
    boost::asio::post(io_, [self = self_] {
      if (*self == nullptr) return;
      (*self)->posted_ = false;
      (*self)->go_round();
    });
  }
}

void PollSet::wait() {
  epoll_.async_wait(epoll_.wait_read, [self = self_](const boost::system::error_code& failure) {
    if (failure || *self == nullptr) return;
    (*self)->waits_ = false;
    (*self)->go_round();
  });
}

void PollSet::go_round() {
  look_and_tell(looks_per_round);
  go_on();
}

void PollSet::poll() {
  if (telling_) return;
  constexpr int looks_max = 256;  // bounded, however fast the peers are
  look_and_tell(looks_max);
  if (anything_ready()) go_on();
}

void PollSet::look_and_tell(int looks) {
  for (int i = 0; i < looks; ++i) {
    collect();
    telling_ = true;
    for (int turn = 0; turn < turns_per_look && !round_.empty(); ++turn) tell(round_.front());
    telling_ = false;
    if (!anything_ready()) return;
  }
}

/// Everything that the kernel has, without telling anybody.
void PollSet::collect() {
  constexpr int asks_max = 128;  // bounded, however fast the peers are
  for (int i = 0; i < asks_max; ++i) {
    const int got = ::epoll_wait(epoll_.native_handle(), events_.data(), events_max, 0);
    for (int j = 0; j < got; ++j) {
      const epoll_event& event = events_[static_cast<std::size_t>(j)];
      Watched& watched = *static_cast<Watched*>(event.data.ptr);
      if ((event.events & ended) != 0) set_party(watched, leaving);
      line_up(watched, event.events);
    }
    if (got < static_cast<int>(events_max) && (got >= 0 || errno != EINTR)) break;
  }
  if (behind_all_ == nullptr) return;
  Watched& last = *std::exchange(behind_all_, nullptr);
  const auto longest =
      std::ranges::max_element(round_, {}, [](const Line& line) { return line.ready.size(); });
  join(last, longest == round_.end() ? line_of(unknown) : *longest);
  line_up(last, EPOLLIN);
}

void PollSet::line_up(Watched& watched, std::uint32_t events) {
  const bool waits = watched.events_ != 0;
  watched.events_ |= events;
  if (waits) return;
  Line& line = *watched.line_;
  if (line.ready.empty()) round_.push_back(line);
  line.ready.push_back(watched);
}

void PollSet::tell(Line& line) {
  Watched& watched = line.ready.front();
  line.ready.pop_front();
  round_.pop_front();
  if (!line.ready.empty()) round_.push_back(line);
  const std::uint32_t what = std::exchange(watched.events_, 0U);
  told_ = &watched;
  if ((what & (EPOLLOUT | broken)) != 0) watched.on_writable();
  if (told_ != nullptr && (what & (EPOLLIN | ended)) != 0) {
    watched.on_readable((what & ended) != 0);
  }
  told_ = nullptr;
}

void PollSet::tell_behind_all(Watched& watched) {
  leave(watched);
  HK_ASSERT(behind_all_ == nullptr);
  behind_all_ = &watched;
  if (!telling_) go_on();
}

}  // namespace hk::net
