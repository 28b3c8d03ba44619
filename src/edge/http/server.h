/// The HTTP/1.1 server: N threads, one io_context each, SO_REUSEPORT. It parses strictly, bounds
/// everything, and knows nothing of queues. Boost stays behind this header.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::http {

/// Bounds and deadlines; the defaults are the documented ones.
struct ServerLimits {
  std::size_t header_bytes_max = std::size_t{32} * 1024;
  std::size_t line_bytes_max = std::size_t{8} * 1024;  ///< one header line, and the target
  std::size_t fields_max = 100;
  std::size_t body_bytes_max = std::size_t{10} * 1024 * 1024;
  /// The same for one target, called on I/O threads for bodies that are larger than body_bytes_max
  /// or of unknown length: never less than that. Empty: body_bytes_max for all.
  std::function<std::size_t(std::string_view target)> body_bytes_max_of{};
  /// Of all bodies that are being read or wait for their answers; at least body_bytes_max.
  std::size_t request_bytes_max = std::size_t{256} << 20U;
  std::size_t connections_max = 16'000;
  std::size_t connections_per_peer_max = 16'000;
  std::size_t pipelined_max =
      64;  ///< requests of one connection being answered; then reading pauses
  /// The answer to the last one says that the connection ends: so that clients spread over the
  /// threads, and no connection lives for ever. 0 = no limit.
  std::size_t requests_per_connection_max = 1'000;
  std::chrono::milliseconds handshake_deadline{5'000};
  std::chrono::milliseconds header_deadline{10'000};
  std::chrono::milliseconds body_grace{5'000};  ///< after it a body must come at body_rate_min
  std::size_t body_rate_min = 1024;             ///< bytes per second
  std::chrono::milliseconds idle_deadline{60'000};
  std::chrono::milliseconds write_deadline{15'000};
};

struct TlsFiles {
  std::string certificate_chain{};  ///< PEM
  std::string private_key{};        ///< PEM
};

/// The answer to a request that the server refuses before its handler sees it: too large, too slow,
/// no room for its body. `request` has its head; of its body there may be a part. Called on I/O
/// threads, must not throw. What the connection needs (Retry-After, its end) the server adds.
using RefusalWriter =
    std::function<Response(const Request& request, int status, std::string_view reason)>;

struct ServerOptions {
  std::string address{"127.0.0.1"};
  std::uint16_t port = 8080;  ///< 0: any free one, see port()
  std::size_t threads = 1;
  ServerLimits limits{};
  std::unique_ptr<TlsFiles> tls{};  ///< null: plain HTTP
  bool hsts_subdomains = false;     ///< Strict-Transport-Security speaks for them, too
  bool accept_later = false;        ///< not before accept() is called
  RefusalWriter write_refusal{};    ///< empty: {"error":"<reason>"}, as for what is not HTTP
};

/// Answers one request; move-only. Calling it twice is a bug; dropping it unanswered sends a 500.
/// Thread safety: must be called on the I/O thread that handed out the request: use Executor::post
/// from elsewhere.
class Responder {
 public:
  class Target;  // the connection
  Responder() = default;
  Responder(std::shared_ptr<Target> target, std::uint64_t slot);
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  ~Responder();
  void operator()(Response response);
  /// Calls `told` on the I/O thread if the peer stops sending or hangs up before the answer: it is
  /// not likely to read one. At most once, and not after the answer. On the I/O thread only.
  void when_gone(std::move_only_function<void()> told);

 private:
  std::shared_ptr<Target> target_;
  std::uint64_t slot_ = 0;
};

/// Told when a lag was measured, and how long what had just become ready then waited for its turn.
using LagWatcher =
    std::function<void(std::chrono::steady_clock::time_point, std::chrono::nanoseconds)>;

/// One I/O thread. Work posted runs on it, in order.
class IoThread {
 public:
  IoThread() = default;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
  virtual ~IoThread() = default;
  virtual void post(std::move_only_function<void()> work) = 0;
  /// Runs `work` once, after the handlers that are ready now: what batches wants to hook on to.
  virtual void defer(std::move_only_function<void()> work) = 0;
  /// Runs `work` once, when so long has passed, to some 50 ms; never if the thread ends before. On
  /// this thread.
  virtual void after(std::chrono::milliseconds delay, std::move_only_function<void()> work) = 0;
  /// From now on `told` is called on this thread: some times a second, and as long as the thread is
  /// behind once for every round that it makes over the sockets that are ready. On this thread.
  virtual void watch_lag(LagWatcher told) = 0;
  [[nodiscard]] virtual std::size_t index() const = 0;
  /// boost::asio::io_context*, for modules that bring their own sockets (delivery/).
  [[nodiscard]] virtual void* io_context() = 0;
};

/// Called on the I/O thread. Must not block and must not throw.
using Handler = std::function<void(Request&&, Responder, IoThread&)>;

struct ServerStats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_total = 0;
  std::uint64_t connections_refused = 0;  ///< at a cap
  std::uint64_t requests_total = 0;
  std::uint64_t requests_malformed = 0;  ///< refused by the strict layer
  std::uint64_t timeouts_total = 0;
  std::uint64_t request_bytes = 0;   ///< of bodies that are being read or wait for their answers
  std::uint64_t bodies_refused = 0;  ///< requests for whose bodies there was no room
  double lag_seconds = 0;            ///< of the thread that is furthest behind, a moment ago
};

class Server {
 public:
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  virtual ~Server() = default;

  /// Binds, starts the threads and serves. unavailable: the address is in use (the message says by
  /// what to do); invalid_argument: bad address, unreadable or mismatched certificate.
  virtual Result<void> start(Handler handler) = 0;
  /// With accept_later: connections have waited in the kernel's queue until now.
  virtual void accept() = 0;
  /// Stops accepting, answers what is under way (until the deadline), closes everything, joins.
  virtual void stop(std::chrono::milliseconds drain) = 0;
  /// Reads the TLS files again; on error the old certificate stays in use.
  virtual Result<void> reload_tls() = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual ServerStats stats() const = 0;
  [[nodiscard]] virtual std::vector<IoThread*> threads() = 0;
};

std::unique_ptr<Server> make_server(ServerOptions options);

}  // namespace hk::http
