/// A running server and clients that speak raw bytes to it, over loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "edge/http/server.h"

namespace hk::http::test {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock;

/// Long enough that only a hang reaches it.
constexpr std::chrono::seconds patience{60};

struct Answer {
  int status = 0;
  std::string head{};
  std::string body{};

  [[nodiscard]] bool has(std::string_view line) const {
    return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
  }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer != 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(socket_); }

  [[nodiscard]] bool connected() const { return connected_; }

  /// False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void half_close() { ::shutdown(socket_, SHUT_WR); }
  /// Until the server's kernel has everything.
  void wait_sent() const {
    for (int left = 1; ::ioctl(socket_, SIOCOUTQ, &left) == 0 && left > 0;) {
      std::this_thread::sleep_for(1ms);
    }
  }

  /// The next response (a 1xx is one too), or nullopt at the end of the stream.
  std::optional<Answer> read_answer(bool head_only = false) {
    while (buffer_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return std::nullopt;
    }
    Answer answer;
    const std::size_t end = buffer_.find("\r\n\r\n") + 4;
    answer.head = buffer_.substr(0, end - 2);
    buffer_.erase(0, end);
    answer.status = std::stoi(answer.head.substr(9, 3));
    const std::size_t at = answer.head.find("Content-Length: ");
    if (at == std::string::npos || head_only) return answer;
    const std::size_t size = std::stoul(answer.head.substr(at + 16));
    while (buffer_.size() < size) {
      if (!receive()) return std::nullopt;
    }
    answer.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return answer;
  }

  /// Everything until the server closes. Fails the test when it does not.
  std::string read_all() {
    while (receive()) {
    }
    EXPECT_TRUE(ended_) << "the server did not close";
    return std::exchange(buffer_, {});
  }

  /// True when nothing arrives for that long.
  bool stays_silent(std::chrono::milliseconds time) {
    pollfd watched{socket_, POLLIN, 0};
    return buffer_.empty() && ::poll(&watched, 1, static_cast<int>(time.count())) == 0;
  }

 private:
  bool receive() {
    pollfd watched{socket_, POLLIN, 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    if (::poll(&watched, 1, static_cast<int>(ms)) <= 0) return false;
    char piece[65536];
    const ssize_t got = ::recv(socket_, piece, sizeof piece, 0);
    ended_ = got <= 0;
    if (got > 0) buffer_.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }

  int socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string buffer_{};
};

/// Requests whose answers the test gives itself.
class Held {
 public:
  struct Entry {
    Request request{};
    Responder responder{};
    IoThread* thread = nullptr;
  };

  void put(Entry entry) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back(std::move(entry));
    arrived_.notify_all();
  }
  Entry take() {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, patience, [this] { return !entries_.empty(); })) {
      ADD_FAILURE() << "no request arrived";
      return {};
    }
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    return entry;
  }

 private:
  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::deque<Entry> entries_{};
};

inline void answer_with(Held::Entry entry, std::string body) {
  IoThread& thread = *entry.thread;
  thread.post([responder = std::move(entry.responder), text = std::move(body)]() mutable {
    responder({.body = std::move(text)});
  });
}

/// Echoes; "/hold" waits for the test, "/drop" is never answered, "/throw" throws, "/big" answers
/// with 32 MiB, "/close" ends the connection, "/of/<number>" is a request of that party.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}) {
    options.port = 0;
    server_ = make_server(std::move(options));
    const Result<void> started =
        server_->start([this](Request&& request, Responder responder, IoThread& thread) {
          handle(std::move(request), std::move(responder), thread);
        });
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  Server& server() { return *server_; }
  Held& held() { return held_; }
  [[nodiscard]] std::vector<std::string> targets() {
    const std::scoped_lock lock(mutex_);
    return targets_;
  }

  /// Waits until the statistics satisfy it; false when they never do.
  template <class Condition>
  bool eventually(Condition condition) {
    const auto deadline = Time::now() + patience;
    while (!condition(server_->stats())) {
      if (Time::now() > deadline) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

 private:
  void handle(Request&& request, Responder responder, IoThread& thread) {
    {
      const std::scoped_lock lock(mutex_);
      targets_.push_back(request.target);
    }
    if (request.path().starts_with("/of/")) {
      responder.belongs_to(std::stoul(std::string(request.path().substr(4))));
    }
    if (request.path() == "/hold") {
      held_.put({std::move(request), std::move(responder), &thread});
    } else if (request.path() == "/throw") {
      throw std::runtime_error("a handler that breaks its promise");
    } else if (request.path() == "/big") {
      responder({.body = std::string(32U << 20U, 'x')});
    } else if (request.path() != "/drop") {
      const bool close = request.path() == "/close";
      responder({.body = request.method + " " + request.target + " " + request.body,
                 .content_type = "text/plain",
                 .close = close});
    }
  }

  Held held_{};
  std::mutex mutex_{};
  std::vector<std::string> targets_{};
  std::unique_ptr<Server> server_{};  ///< last: its threads use the members above
};

inline std::string get(std::string_view target, std::string_view fields = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

inline std::string post(std::string_view target, std::string_view body,
                        std::string_view fields = "") {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body);
}

}  // namespace hk::http::test
