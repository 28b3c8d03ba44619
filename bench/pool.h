/// Keep-alive connections to one server on this machine, one request at a time on each. One thread;
/// whoever owns it calls poll() until it has what it wants.
#pragma once

#include <sys/epoll.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "wire.h"

namespace hk::bench {

struct Connection {
  int fd = -1;
  bool busy = false;
  bool wants_write = false;
  std::string request{};
  std::size_t written = 0;
  std::string in{};
  std::int64_t sent_ns = 0;
  std::int64_t meant_ns = 0;  ///< the owner's: when it was to be sent
  int stage = 0;              ///< the owner's
};

class Pool {
 public:
  /// status 0: the connection broke before its answer, and is there again.
  using OnAnswer = std::function<void(Connection&, int status, const Frame& response)>;

  Pool(std::uint16_t port, std::size_t count, OnAnswer on_answer)
      : port_(port),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        on_answer_(std::move(on_answer)),
        connections_(count) {
    for (Connection& connection : connections_) {
      open(connection);
    }
  }
  ~Pool() {
    for (const Connection& connection : connections_) {
      close(connection.fd);
    }
    close(epoll_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::vector<Connection>& connections() { return connections_; }
  [[nodiscard]] std::size_t size() const { return connections_.size(); }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }
  /// Requests of which some bytes have not left yet.
  [[nodiscard]] std::size_t unsent() const { return unsent_; }

  /// REQUIRES: not busy.
  void send(Connection& connection, std::string request) {
    connection.request = std::move(request);
    send_prepared(connection);
  }
  /// The same with what is in connection.request.
  void send_prepared(Connection& connection) {
    connection.written = 0;
    connection.busy = true;
    connection.sent_ns = now_ns();
    ++in_flight_;
    ++unsent_;
    push(connection);
  }

  /// poll() also calls `on_readable` when this one is, a timer for example. One at most.
  void watch(int fd, std::function<void()> on_readable) {
    on_readable_ = std::move(on_readable);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void poll(int timeout_ms) {
    epoll_event events[512];
    const int count = epoll_wait(epoll_, events, 512, timeout_ms);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) {
        on_readable_();
      } else {
        on_ready(*static_cast<Connection*>(events[i].data.ptr));
      }
    }
  }

 private:
  void open(Connection& connection) {
    connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port_);
    // A blocking connect: on loopback it is the listener's queue. It happens before the clock runs,
    // and again when the server ends a connection after its last allowed request.
    if (connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      die("cannot connect to 127.0.0.1:" + std::to_string(port_) + ": " + std::strerror(errno));
    }
    no_delay(connection.fd);
    fcntl(connection.fd, F_SETFL, O_NONBLOCK);
    connection.wants_write = false;
    connection.in.clear();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
  }

  void push(Connection& connection) {
    const std::string& request = connection.request;
    const ssize_t sent = ::send(connection.fd, request.data() + connection.written,
                                request.size() - connection.written, MSG_NOSIGNAL);
    if (sent > 0) {
      connection.written += static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno != EAGAIN) {
      return;  // The read side sees the same.
    }
    const bool wants_write = connection.written < request.size();
    unsent_ -= wants_write ? 0 : 1;
    if (wants_write != connection.wants_write) {
      connection.wants_write = wants_write;
      epoll_event event{.events = EPOLLIN | (wants_write ? EPOLLOUT : 0U),
                        .data = {.ptr = &connection}};
      epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
    }
  }

  void on_ready(Connection& connection) {
    if (connection.wants_write) {
      push(connection);
    }
    char chunk[64 * 1024];
    const ssize_t got = read(connection.fd, chunk, sizeof chunk);
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    if (got <= 0) {
      reopen(connection);
      if (connection.busy) {
        unsent_ -= connection.written < connection.request.size() ? 1 : 0;
        answered(connection, 0, {});
      }
      return;
    }
    connection.in.append(chunk, static_cast<std::size_t>(got));
    const auto response = parse_frame(connection.in);
    if (!response) {
      return;
    }
    const int status = response->head.size() > 12 ? std::atoi(response->head.data() + 9) : 0;
    const bool last = field(response->head, "connection") == "close";
    answer_.swap(connection.in);  // the response points into it
    connection.in.clear();        // one request at a time, so nothing follows
    if (last) {
      reopen(connection);
    }
    answered(connection, status, *response);
  }

  void answered(Connection& connection, int status, const Frame& response) {
    connection.busy = false;
    --in_flight_;
    on_answer_(connection, status, response);
  }

  void reopen(Connection& connection) {
    close(connection.fd);
    open(connection);
  }

  const std::uint16_t port_;
  const int epoll_;
  const OnAnswer on_answer_;
  std::function<void()> on_readable_{};
  std::vector<Connection> connections_;
  std::string answer_{};  ///< the last one
  std::size_t in_flight_ = 0;
  std::size_t unsent_ = 0;
};

}  // namespace hk::bench
