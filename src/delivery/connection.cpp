#include "delivery/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "net/tls.h"

namespace hk::delivery {
namespace {

namespace asio = boost::asio;

constexpr std::size_t short_answer_bytes = std::size_t{32} * 1024;  // see long_answers_max

asio::ip::tcp::endpoint endpoint_of(const Address& address, std::uint16_t port) {
  if (address.v6) {
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), address.bytes.data(), bytes.size());
    return {asio::ip::address_v6(bytes), port};
  }
  asio::ip::address_v4::bytes_type bytes;
  std::memcpy(bytes.data(), address.bytes.data(), bytes.size());
  return {asio::ip::address_v4(bytes), port};
}

bool is_our_shortage(const boost::system::error_code& error) {
  return error.category() == boost::system::system_category() &&
         (error.value() == EMFILE || error.value() == ENFILE || error.value() == ENOBUFS ||
          error.value() == ENOMEM);
}

/// Who has vanished says no goodbye: a machine that is off, a router that forgot the connection. An
/// attempt may have hours, so the kernel asks. What stays unacknowledged ends the connection, too;
/// a receiver that reads nothing of its request for so long cannot have acted on it.
void watch_peer(int socket, std::chrono::milliseconds silent_max) {
  const auto seconds = [](std::chrono::milliseconds time) {
    return std::max(1, static_cast<int>(std::chrono::ceil<std::chrono::seconds>(time).count()));
  };
  const int on = 1;
  const int idle = seconds(silent_max / 2);
  const int between = seconds(silent_max / 6);
  const auto unacknowledged = static_cast<unsigned>(silent_max.count());
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
}

}  // namespace

Connection::Connection(net::PollSet& sockets, const ResponseLimits& limits)
    : sockets_(sockets), socket_(sockets.io().get_executor()), reader_(limits) {}

void Connection::open(const net::Url& url, const Address& judged, TlsClient& tls,
                      std::chrono::milliseconds silent_max, ConnectionUser& user) {
  user_ = &user;
  pinned_ = endpoint_of(judged, url.port);
  tls_ = url.scheme == net::Scheme::https ? &tls : nullptr;
  ErrorCode error;
  socket_.open(pinned_.protocol(), error);
  if (!error) {
    socket_.non_blocking(true, error);
  }
  if (error) {
    // Told later, as every other failure is: the user is in the middle of starting.
    asio::post(socket_.get_executor(), [self = ConnectionPtr(this), error] {
      self->fault(is_our_shortage(error) ? Fault::no_means : Fault::not_connected,
                  "not connected: " + error.message());
    });
    return;
  }
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  watch_peer(socket_.native_handle(), silent_max);
  socket_.async_connect(pinned_,
                        [self = ConnectionPtr(this), host = url.host, kind = url.kind](
                            const ErrorCode& result) { self->on_connected(result, host, kind); });
}

void Connection::on_connected(const ErrorCode& error, const std::string& host, net::HostKind kind) {
  if (closed_) {
    return;
  }
  if (error) {
    fault(Fault::not_connected, "not connected: " + error.message());
    return;
  }
  ErrorCode unknown;
  if (socket_.remote_endpoint(unknown) != pinned_ || unknown) {
    fault(unknown ? Fault::not_connected : Fault::not_pinned, "not connected: the peer has gone");
    return;
  }
  if (tls_ == nullptr) {
    opened();
    return;
  }
  stream_ = std::make_unique<asio::ssl::stream<Socket&>>(socket_, tls_->context());
  if (!net::expect_host(stream_->native_handle(), host, kind)) {
    fault(Fault::not_connected, "TLS cannot be set up for this host name");
    return;
  }
  stream_->async_handshake(
      asio::ssl::stream_base::client,
      [self = ConnectionPtr(this)](const ErrorCode& result) { self->on_shaken_hands(result); });
}

void Connection::on_shaken_hands(const ErrorCode& error) {
  if (closed_) {
    return;
  }
  if (error) {
    fault(Fault::not_connected, TlsClient::describe_failure(stream_->native_handle(), error));
    return;
  }
  opened();
}

void Connection::opened() {
  // Under TLS the first bytes may be session tickets: there the reading side tells what they are.
  if (stream_ == nullptr && !is_quiet()) {
    fault(Fault::not_connected, "not connected: the receiver closed or spoke before it was asked");
    return;
  }
  if (stream_ == nullptr) {
    try {
      plain_.emplace(sockets_, std::move(socket_));
    } catch (const std::bad_alloc&) {
      fault(Fault::no_means, "not connected: the kernel can watch no more connections");
      return;
    }
  }
  read();
  tell_later(&Connection::tell_open);
}

void Connection::tell_open() { user_->on_open(); }

/// What the peer has said unasked may be read already, inside read(): its completion stands before
/// this one, so it is not taken for the answer to the request that the user sends next.
void Connection::tell_later(void (Connection::*tell)()) {
  asio::post(socket_.get_executor(), [self = ConnectionPtr(this), tell] {
    if (!self->closed_) {
      (self.get()->*tell)();
    }
  });
}

bool Connection::is_quiet() const {
  if (plain_) {
    return !plain_->may_have_more();
  }
  char byte = 0;
  const ssize_t got =
      ::recv(const_cast<Socket&>(socket_).native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool Connection::is_reusable() const {
  return !closed_ && !writing_ && !spoke_unasked_ &&
         const_cast<ResponseReader&>(reader_).response().reusable;
}

void Connection::send(std::string_view tail, std::shared_ptr<const void> owner, bool no_body,
                      const AnswerBounds& bounds, ConnectionUser& user) {
  HK_ASSERT(!requested_ && !writing_ && !closed_);
  user_ = &user;
  requested_ = true;
  answered_ = false;
  may_be_long_ = false;
  reader_.begin(no_body, bounds);
  tail_ = tail;
  tail_owner_ = std::move(owner);
  if (stream_ != nullptr) {
    write_tls();
    return;
  }

  write_plain(0);
}

void Connection::write_tls() {
  writing_ = true;
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(out_),
                                                   asio::buffer(tail_.data(), tail_.size())};
  asio::async_write(*stream_, parts,
                    [self = ConnectionPtr(this)](const ErrorCode& error, std::size_t) {
                      self->on_written(error);
                    });
}

/// Most requests fit into the socket's buffer, at once and whole.
void Connection::write_plain(std::size_t sent) {
  writing_ = true;
  while (sent < out_.size() + tail_.size()) {
    const std::size_t of_head = std::min(sent, out_.size());
    const std::string_view head = std::string_view(out_).substr(of_head);
    const std::string_view rest = tail_.substr(sent - of_head);
    std::array<iovec, 2> parts{};
    parts[0] = {const_cast<char*>(head.data()), head.size()};
    parts[1] = {const_cast<char*>(rest.data()), rest.size()};
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = parts.size();
    constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    const ssize_t took = rest.empty()
                             ? ::send(plain_->descriptor(), head.data(), head.size(), flags)
                             : ::sendmsg(plain_->descriptor(), &header, flags);
    if (took >= 0) {
      sent += static_cast<std::size_t>(took);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      plain_->async_wait_writable([self = ConnectionPtr(this), sent](const ErrorCode& error) {
        if (error) {
          self->on_written(error);
        } else {
          self->write_plain(sent);
        }
      });
      return;
    } else if (errno != EINTR) {
      on_written({errno, boost::system::system_category()});
      return;
    }
  }
  on_written({});
}

void Connection::on_written(const ErrorCode& error) {
  tail_owner_.reset();
  if (!error) {
    writing_ = false;
  }
  // After an error `writing_` stays: the connection is never used again. What the peer may have
  // said before it stopped listening is still read, and the reading side tells the end. The kernel
  // tells a reason once: to the reading side it may only say that this is the end.
  write_error_ = error;
}

void Connection::read() {
  const std::span<char> room = reader_.prepare();
  auto done = [self = ConnectionPtr(this)](const ErrorCode& error, std::size_t bytes) {
    self->on_read(error, bytes);
  };
  if (stream_ != nullptr) {
    stream_->async_read_some(asio::buffer(room.data(), room.size()), std::move(done));
  } else {
    plain_->async_read_some(room.data(), room.size(), std::move(done));
  }
}

void Connection::on_read(const ErrorCode& error, std::size_t bytes) {
  if (closed_) {
    return;
  }
  if (!requested_) {  // closed by the peer, or an answer to a question nobody asked
    if (idle_watcher != nullptr) {
      idle_watcher->on_idle_end(*this);
    } else if (answered_) {
      spoke_unasked_ = true;
    } else {
      fault(Fault::not_connected,
            error && error != asio::error::eof  // an alert, a reset: it says why
                ? "not connected: " + error.message()
                : "not connected: the receiver closed or spoke before it was asked");
    }
    return;
  }
  if (!error) {
    progress(reader_.commit(bytes));
  } else if (error == asio::error::eof) {
    const ResponseReader::Progress ended = reader_.end();
    if (ended == ResponseReader::Progress::malformed && write_error_) {
      fault(Fault::broken, "connection broken: " + write_error_.message());
    } else {
      progress(ended);
    }
  } else {
    fault(Fault::broken, "connection broken: " + error.message());
  }
}

void Connection::read_on() {
  HK_ASSERT(requested_ && !may_be_long_ && !closed_);
  may_be_long_ = true;
  read();
}

void Connection::progress(ResponseReader::Progress progress) {
  switch (progress) {
    case ResponseReader::Progress::more:
      if (may_be_long_ || reader_.kept() <= short_answer_bytes) {
        read();
      } else {
        user_->on_long_answer();
      }
      return;
    case ResponseReader::Progress::malformed: fault(Fault::broken, reader_.fault()); return;
    case ResponseReader::Progress::done: break;
  }
  requested_ = false;
  answered_ = true;
  if (!is_reusable()) {
    tell_response();
    return;
  }
  const bool more = stream_ != nullptr || plain_->may_have_more();
  read();
  if (more) {
    tell_later(&Connection::tell_response);
  } else {
    tell_response();
  }
}

void Connection::tell_response() { std::exchange(user_, nullptr)->on_response(); }

void Connection::fault(Fault kind, std::string text) {
  const ConnectionPtr alive(this);
  ConnectionUser* user = std::exchange(user_, nullptr);
  close();
  if (user != nullptr) {
    user->on_fault(kind, std::move(text));
  }
}

void Connection::close() {
  closed_ = true;
  user_ = nullptr;
  idle_watcher = nullptr;
  if (plain_) {
    plain_->close();
  }
  ErrorCode ignored;
  socket_.close(ignored);
}

}  // namespace hk::delivery
