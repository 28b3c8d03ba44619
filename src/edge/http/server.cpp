#include "edge/http/server.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "edge/http/connection.h"
#include "edge/http/io_loop.h"
#include "edge/http/listener.h"
#include "edge/http/server_core.h"

namespace hk::http {

namespace {

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(ServerOptions options);
  ~ServerImpl() override { stop(std::chrono::milliseconds{0}); }

  Result<void> start(Handler handler) override;
  void accept() override {
    for (const auto& listener : listeners_) listener->start();
  }
  void stop(std::chrono::milliseconds drain) override;
  Result<void> reload_tls() override;
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] ServerStats stats() const override;
  [[nodiscard]] std::vector<IoThread*> threads() override;

 private:
  Result<void> listen();
  /// Runs `work` for each loop on its thread and waits until all are done.
  void on_every_loop(const std::function<void(std::size_t)>& work);
  [[nodiscard]] std::uint64_t live_connections() const;

  const ServerOptions options_;
  ServerCore core_;
  std::vector<std::unique_ptr<IoLoop>> loops_{};
  std::vector<std::unique_ptr<Listener>> listeners_{};  ///< of the loop with the same index
  std::uint16_t port_ = 0;
  bool running_ = false;
};

ServerImpl::ServerImpl(ServerOptions options)
    : options_(std::move(options)), core_(options_.limits) {
  const std::size_t threads = std::max<std::size_t>(1, options_.threads);
  const bool tls = options_.tls != nullptr;
  const Hsts over_tls = options_.hsts_subdomains ? Hsts::subdomains : Hsts::own_name;
  for (std::size_t i = 0; i < threads; ++i) {
    loops_.push_back(std::make_unique<IoLoop>(i, tls ? over_tls : Hsts::none));
  }
  if (tls) core_.tls = std::make_unique<TlsKeeper>(*options_.tls);
  core_.write_refusal = options_.write_refusal;
}

Result<void> ServerImpl::listen() {
  boost::system::error_code failure;
  const auto address = boost::asio::ip::make_address(options_.address, failure);
  if (failure) {
    return fail(
        ErrorKind::invalid_argument,
        "\"" + options_.address + "\" is not an IP address: use one like 127.0.0.1, 0.0.0.0 or ::");
  }
  const bool shared = loops_.size() > 1;
  Listener::Endpoint endpoint(address, options_.port);
  if (shared && options_.port != 0) {
    if (Result<void> free = check_free(loops_.front()->context(), endpoint); !free) return free;
  }
  for (const auto& loop : loops_) {
    auto listener = std::make_unique<Listener>(*loop, core_);
    if (Result<void> bound = listener->listen(endpoint, shared); !bound) return bound;
    endpoint.port(listener->port());
    listeners_.push_back(std::move(listener));
  }
  port_ = endpoint.port();
  return {};
}

Result<void> ServerImpl::start(Handler handler) {
  HK_ASSERT(!running_ && listeners_.empty());
  if (core_.tls != nullptr) {
    if (Result<void> loaded = core_.tls->reload(); !loaded) return loaded;
  }
  if (Result<void> bound = listen(); !bound) {
    listeners_.clear();
    return bound;
  }
  core_.handler = std::move(handler);
  running_ = true;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    Listener& listener = *listeners_[i];
    loops_[i]->start([&listener] { listener.on_tick(); });
  }
  if (!options_.accept_later) accept();
  return {};
}

void ServerImpl::on_every_loop(const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::condition_variable done;
  std::size_t left = loops_.size();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->post([&, i] {
      work(i);
      const std::scoped_lock lock(mutex);
      --left;
      done.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return left == 0; });
}

std::uint64_t ServerImpl::live_connections() const {
  std::uint64_t live = 0;
  for (const auto& loop : loops_) live += loop->live_connections();
  return live;
}

void ServerImpl::stop(std::chrono::milliseconds drain) {
  constexpr std::chrono::milliseconds look_again{2};
  if (!std::exchange(running_, false)) return;
  on_every_loop([this](std::size_t i) {
    listeners_[i]->close();
    loops_[i]->set_draining();
    loops_[i]->wheel().drain_each(
        [](DeadlineWheel::Node& node) { static_cast<ConnectionBase&>(node).drain(); });
  });
  const auto deadline = Clock::now() + drain;
  while (live_connections() != 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(look_again);
  }
  on_every_loop([this](std::size_t i) {
    loops_[i]->wheel().drain_each(
        [](DeadlineWheel::Node& node) { static_cast<ConnectionBase&>(node).abort(); });
  });
  // Every socket is closed; their pending operations end as soon as the loops come round to them.
  while (live_connections() != 0) std::this_thread::sleep_for(look_again);
  for (const auto& loop : loops_) loop->stop();
}

Result<void> ServerImpl::reload_tls() {
  if (core_.tls == nullptr) {
    return fail(ErrorKind::invalid_argument,
                "this server does not use TLS: no certificate to reload");
  }
  return core_.tls->reload();
}

ServerStats ServerImpl::stats() const {
  ServerStats stats;
  for (const auto& loop : loops_) {
    const LoopCounters& counters = loop->counters();
    stats.connections_open += counters.connections_open.get();
    stats.connections_total += counters.connections_total.get();
    stats.connections_refused += counters.connections_refused.get();
    stats.requests_total += counters.requests_total.get();
    stats.requests_malformed += counters.requests_malformed.get();
    stats.timeouts_total += counters.timeouts_total.get();
    stats.bodies_refused += counters.bodies_refused.get();
    stats.lag_seconds = std::max(stats.lag_seconds, static_cast<double>(loop->lag().count()) / 1e9);
  }
  stats.request_bytes = core_.bodies.held();
  return stats;
}

std::vector<IoThread*> ServerImpl::threads() {
  std::vector<IoThread*> threads;
  threads.reserve(loops_.size());
  for (const auto& loop : loops_) threads.push_back(loop.get());
  return threads;
}

}  // namespace

std::unique_ptr<Server> make_server(ServerOptions options) {
  return std::make_unique<ServerImpl>(std::move(options));
}

}  // namespace hk::http
