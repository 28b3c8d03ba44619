/// The two kinds of byte streams a connection runs on, with one interface: plain TCP, and TLS by
/// OpenSSL, both in the loop's set of sockets. Neither has buffers of its own, so that an idle
/// connection stays small. Completion handlers are never called from inside the call that starts an
/// operation. One read and one wait for writing may be under way at a time; the stream must outlive
/// them.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "net/polled_socket.h"
#include "net/tls.h"

namespace hk::http {

using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using Failure = boost::system::error_code;

class PlainStream {
 public:
  static constexpr bool has_handshake = false;
  static constexpr bool lends_room = true;  ///< to read into, until the handler returns

  PlainStream(net::PollSet& sockets, Socket socket) : socket_(sockets, std::move(socket)) {}

  template <class Done>
  void async_read_some(char* data, std::size_t size, Done done) {
    socket_.async_read_some(data, size, std::move(done));
  }
  template <class Done>
  void async_read_to_room(std::size_t size, Done done) {
    socket_.async_read_to_room(size, std::move(done));
  }
  [[nodiscard]] const char* room() const { return socket_.room(); }
  template <class Done>
  void async_wait_writable(Done done) {
    socket_.async_wait_writable(std::move(done));
  }
  /// What the kernel takes now; would_block when that is nothing.
  std::size_t write_some(const char* data, std::size_t size, Failure& failure) {
    return socket_.write_some(data, size, failure);
  }
  void shutdown_send() { socket_.shutdown_send(); }
  void set_party(std::uint64_t party) { socket_.set_party(party); }
  /// Pending operations end with operation_aborted.
  void close() { socket_.close(); }

 private:
  net::PolledSocket socket_;
};

class TlsStream {
 public:
  static constexpr bool has_handshake = true;
  static constexpr bool lends_room = false;

  /// REQUIRES: `ssl` is in accept state.
  TlsStream(net::PollSet& sockets, Socket socket, net::SslPtr ssl);

  template <class Done>
  void async_handshake(Done done) {
    step([this] { return handshake(); },
         [done = std::move(done)](const Failure& failure, std::size_t) mutable { done(failure); },
         true);
  }
  template <class Done>
  void async_read_some(char* data, std::size_t size, Done done) {
    step([this, data, size] { return read(data, size); }, std::move(done), true);
  }
  template <class Done>
  void async_wait_writable(Done done) {
    socket_.async_wait_writable(std::move(done));
  }
  std::size_t write_some(const char* data, std::size_t size, Failure& failure);
  void shutdown_send();
  void set_party(std::uint64_t party) { socket_.set_party(party); }
  void close() { socket_.close(); }

 private:
  enum class Want : unsigned char { nothing, read, write };
  struct Outcome {
    Want want = Want::nothing;
    Failure failure{};
    std::size_t bytes = 0;
  };

  /// Tries, and waits for the socket as often as OpenSSL asks for it.
  template <class Try, class Done>
  void step(Try attempt, Done done, bool first) {
    const Outcome outcome = attempt();
    if (outcome.want == Want::nothing) {
      if (!first) return done(outcome.failure, outcome.bytes);
      boost::asio::post(sockets_.io(), [done = std::move(done), outcome]() mutable {
        done(outcome.failure, outcome.bytes);
      });
      return;
    }
    auto again = [this, attempt, done = std::move(done)](const Failure& failure) mutable {
      // Whoever was told before this one may have closed: the descriptor is somebody else's then.
      if (failure || socket_.descriptor() < 0) {
        return done(failure ? failure : boost::asio::error::operation_aborted, std::size_t{0});
      }
      step(attempt, std::move(done), false);
    };
    if (outcome.want == Want::read) {
      socket_.async_wait_readable(std::move(again));
    } else {
      socket_.async_wait_writable(std::move(again));
    }
  }

  Outcome handshake();
  Outcome read(char* data, std::size_t size);
  Outcome outcome_of(int result);

  net::PollSet& sockets_;
  net::PolledSocket socket_;
  net::SslPtr ssl_;
};

}  // namespace hk::http
