/// One outbound connection, plain or TLS, pinned to the address that was judged. It carries one
/// request at a time and reads all the while, so that a peer that closes or speaks unasked is
/// noticed before the connection is used again. Lives on one I/O thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "delivery/address.h"
#include "delivery/response.h"
#include "delivery/tls.h"
#include "net/poll_set.h"
#include "net/polled_socket.h"
#include "net/url.h"

namespace hk::delivery {

enum class Fault : std::uint8_t {
  no_means,       ///< nothing was sent: this process has no room for one more connection
  not_connected,  ///< nothing was sent: another address may be tried
  not_pinned,     ///< the peer is not the address that was judged
  broken,         ///< the request may have been received
};

/// Whoever uses a connection at the moment. After on_response() and on_fault() the connection no
/// longer knows its user; both may end the user's life.
class ConnectionUser {
 public:
  virtual void on_open() = 0;
  /// The answer is longer than may be kept without asking: it is read on by read_on() alone.
  virtual void on_long_answer() = 0;
  virtual void on_response() = 0;
  virtual void on_fault(Fault fault, std::string text) = 0;

 protected:
  ~ConnectionUser() = default;
};

class Connection;
/// Told when a connection that nobody uses has come to its end.
class IdleWatcher {
 public:
  virtual void on_idle_end(Connection& connection) = 0;

 protected:
  ~IdleWatcher() = default;
};

using ConnectionPtr = boost::intrusive_ptr<Connection>;

class Connection final
    : public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter>,
      public boost::intrusive::list_base_hook<> {  // the pool's order of idleness
 public:
  /// The set outlives it; so does its io_context.
  Connection(net::PollSet& sockets, const ResponseLimits& limits);
  ~Connection() = default;

  /// Connects and, for https, shakes hands; then on_open() or on_fault(), not with `broken`.
  /// `silent_max`: a peer that acknowledges nothing for so long has vanished.
  void open(const net::Url& url, const Address& judged, TlsClient& tls,
            std::chrono::milliseconds silent_max, ConnectionUser& user);

  /// Sends out_buffer() and then `tail` (kept alive by `owner`); then on_response() or
  /// on_fault(broken). `no_body`, `bounds`: of the answer (ResponseReader::begin). REQUIRES: open,
  /// and no request under way.
  void send(std::string_view tail, std::shared_ptr<const void> owner, bool no_body,
            const AnswerBounds& bounds, ConnectionUser& user);
  std::string& out_buffer() { return out_; }
  /// After on_long_answer().
  void read_on();

  /// Nothing has come and the peer has not closed, as far as can be known without waiting. Of a
  /// plain connection that was opened: as far as its set has told.
  [[nodiscard]] bool is_quiet() const;
  /// After on_response(): may it carry another request?
  [[nodiscard]] bool is_reusable() const;
  Response& response() { return reader_.response(); }

  /// Ends it at once. Its user and its watcher hear nothing more.
  void close();

  // The pool's notes.
  std::string pool_key{};
  std::chrono::steady_clock::time_point idle_since{};
  IdleWatcher* idle_watcher = nullptr;  ///< set while it is idle

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
  using ErrorCode = boost::system::error_code;

  void on_connected(const ErrorCode& error, const std::string& host, net::HostKind kind);
  void on_shaken_hands(const ErrorCode& error);
  void opened();
  void tell_later(void (Connection::*tell)());
  void tell_open();
  void tell_response();
  void read();
  void on_read(const ErrorCode& error, std::size_t bytes);
  void write_tls();
  void write_plain(std::size_t sent);
  void on_written(const ErrorCode& error);
  void progress(ResponseReader::Progress progress);
  void fault(Fault kind, std::string text);

  net::PollSet& sockets_;
  Socket socket_;                                              ///< until connected, and for https
  std::optional<net::PolledSocket> plain_{};                   ///< for http, from then on
  std::unique_ptr<boost::asio::ssl::stream<Socket&>> stream_;  ///< null for http
  TlsClient* tls_ = nullptr;                                   ///< null for http
  boost::asio::ip::tcp::endpoint pinned_;
  ConnectionUser* user_ = nullptr;
  ResponseReader reader_;
  std::string out_;
  std::string_view tail_;
  std::shared_ptr<const void> tail_owner_;  ///< the message: a write may outlive the attempt
  bool requested_ = false;                  ///< a request is under way
  bool answered_ = false;                   ///< the last one was answered
  bool spoke_unasked_ = false;              ///< more came behind that answer, or the end
  bool may_be_long_ = false;                ///< read_on() was called for this answer
  bool writing_ = false;
  ErrorCode write_error_;
  bool closed_ = false;
};

}  // namespace hk::delivery
