/// Deliveries on an I/O thread of its own, a submitter that collects their reports, and receivers
/// on loopback sockets that behave as each test says.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "delivery/deliveries.h"
#include "engine/submitter.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::delivery::testing {

constexpr std::chrono::seconds patience{60};  ///< for events that must come

/// A descriptor of a connected or listening socket.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  /// False when the peer is gone.
  bool write(std::string_view bytes) const;
  /// Reads until a whole request (head and Content-Length bytes) is there; "" at the end.
  std::string read_request();
  /// Waits until the peer closes; false when it still has not after a while.
  [[nodiscard]] bool wait_for_close() const;
  void reset() const;  ///< makes the close a RST

 private:
  int fd_ = -1;
  std::string rest_;
};

/// Accepts on 127.0.0.1 and runs `behave` for every connection, each on a thread of its own.
class Receiver {
 public:
  explicit Receiver(std::function<void(Socket&)> behave);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "/hook") const;
  [[nodiscard]] int connections() const { return connections_.load(); }

 private:
  std::function<void(Socket&)> behave_;
  std::uint16_t port_ = 0;  // before the listener, which fills it in
  Socket listener_;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<int> open_;  ///< shut down when the receiver ends
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// Listens and never accepts. REQUIRES: as Receiver.
Socket listen_on_loopback(std::uint16_t& port, int backlog = 128);
/// A port at which connections are refused for as long as the socket lives: nobody else gets it.
Socket refuse_on_loopback(std::uint16_t& port);

std::string ok_answer(std::string_view body = "");

class FakeSubmitter final : public engine::Submitter {
 public:
  void submit(std::vector<engine::Submission>& batch) override;
  std::shared_ptr<core::Reader> durable_view(core::TenantId /*tenant*/) override { return nullptr; }
  std::vector<std::shared_ptr<core::Reader>> durable_views() override { return {}; }

  /// Waits until that many reports have come, or patience ends.
  std::vector<core::CompleteAttempt> wait_for(std::size_t count);
  std::size_t count();
  std::atomic<std::size_t> room{SIZE_MAX};  ///< taken per call
  std::atomic<std::size_t> calls{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::CompleteAttempt> reports_;
};

class FakeSpans final : public observe::SpanExporter {
 public:
  void record(observe::Span span) override;
  [[nodiscard]] std::uint64_t dropped() const override { return 0; }
  std::vector<observe::Span> taken();

 private:
  std::mutex mutex_;
  std::vector<observe::Span> spans_;
};

/// Loopback opened, a signing key for every tenant.
DispatcherOptions loopback_options();

class World {
 public:
  explicit World(DispatcherOptions options = loopback_options());
  ~World();

  void start(std::vector<core::StartAttempt> attempts);
  /// One attempt, and how it ended.
  core::CompleteAttempt deliver(core::StartAttempt attempt);
  core::CompleteAttempt deliver(const std::string& url);
  void on_io_thread(std::function<void()> work);  ///< and waits for it

  FakeSubmitter submitter;
  FakeSpans spans;
  observe::Metrics metrics;
  boost::asio::io_context io{1};
  std::unique_ptr<Deliveries> deliveries;

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

core::StartAttempt attempt_to(const std::string& url, std::string body = "{}",
                              std::chrono::milliseconds timeout = patience);

/// Secrets of webhooks are sealed by standing behind this.
inline constexpr std::string_view sealed_with = "sealed:";
inline constexpr std::string_view webhook_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The delivery of a webhook, signed with that secret.
core::StartAttempt webhook_to(const std::string& url, std::string body = "{}",
                              std::chrono::milliseconds timeout = patience);

}  // namespace hk::delivery::testing
