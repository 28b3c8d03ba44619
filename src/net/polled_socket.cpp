#include "net/polled_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <new>
#include <utility>

#include "base/assert.h"

namespace hk::net {

namespace {

PolledSocket::Failure last_failure() {
  const int number = errno;
  if (number == EAGAIN || number == EWOULDBLOCK) return boost::asio::error::would_block;
  return {number, boost::system::system_category()};
}

}  // namespace

PolledSocket::PolledSocket(PollSet& set, Socket socket) : set_(set) {
  Failure failure;
  descriptor_ = socket.release(failure);
  if (failure) throw std::bad_alloc();
  if (!set_.add(descriptor_, *this)) {
    ::close(std::exchange(descriptor_, -1));
    throw std::bad_alloc();
  }
}

void PolledSocket::async_read_some(char* data, std::size_t size, ReadDone done) {
  HK_ASSERT(!read_done_ && size > 0);
  data_ = data;
  size_ = size;
  read_done_ = std::move(done);
  if (!readable_) return;
  // Later, and before anything that is posted after this. Whoever reads keeps us until it is told.
  queued_ = true;
  boost::asio::post(set_.io(), [this] {
    queued_ = false;
    if (read_done_) try_read();
  });
}

void PolledSocket::on_readable(bool last) {
  readable_ = true;
  last_ = last_ || last;
  if (read_done_ && !queued_)
    try_read();
  else if (readable_done_)
    std::exchange(readable_done_, nullptr)({});
}

/// One receive. If it did not fill the room there is nothing left, and the set tells of what comes
/// then; only the peer's end may stand behind it untold, which the set has told with it.
void PolledSocket::try_read() {
  ssize_t got = 0;
  do {
    got = ::recv(descriptor_, data_, size_, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  Failure failure;
  std::size_t bytes = 0;
  if (got > 0) {
    bytes = static_cast<std::size_t>(got);
    if (bytes < size_ && !last_) readable_ = false;
  } else if (got == 0) {
    failure = boost::asio::error::eof;
  } else {
    failure = last_failure();
    if (failure == boost::asio::error::would_block) {
      readable_ = false;
      return;
    }
  }
  ReadDone done = std::exchange(read_done_, nullptr);
  done(failure, bytes);  // the last line: it may end this
}

void PolledSocket::async_wait_writable(WaitDone done) {
  if (write_done_) {  // TLS may have to write in order to read
    done = [first = std::move(write_done_), second = std::move(done)](const Failure& why) mutable {
      first(why);
      second(why);
    };
  }
  write_done_ = std::move(done);
}

void PolledSocket::on_writable() {
  if (!write_done_) return;
  WaitDone done = std::exchange(write_done_, nullptr);
  done({});
}

std::size_t PolledSocket::write_some(const char* data, std::size_t size, Failure& failure) {
  ssize_t sent = 0;
  do {
    sent = ::send(descriptor_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    failure = {};
    return static_cast<std::size_t>(sent);
  }
  failure = last_failure();
  return 0;
}

void PolledSocket::shutdown_send() { ::shutdown(descriptor_, SHUT_WR); }

void PolledSocket::close() {
  if (descriptor_ < 0) return;
  set_.remove(descriptor_, *this);
  ::close(std::exchange(descriptor_, -1));
  if (read_done_) {
    boost::asio::post(set_.io(), [done = std::exchange(read_done_, nullptr)]() mutable {
      done(boost::asio::error::operation_aborted, 0);
    });
  }
  for (WaitDone* const wait : {&readable_done_, &write_done_}) {
    if (!*wait) continue;
    boost::asio::post(set_.io(), [done = std::exchange(*wait, nullptr)]() mutable {
      done(boost::asio::error::operation_aborted);
    });
  }
}

}  // namespace hk::net
