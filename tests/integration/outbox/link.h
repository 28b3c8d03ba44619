/// A link to a PostgreSQL of the tests that is not what it should be: slow, or open and silent. A
/// socket of its own that passes the first connections on and leaves all others unanswered.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/secret.h"

namespace hk::outbox::test {

class Link {
 public:
  /// `server`: the socket of the server. `answered`: how many connections it passes on, one after
  /// the other. `bytes_per_ms` back from the server; 0: at once.
  Link(std::string server, int answered, std::size_t bytes_per_ms = 0)
      : server_(std::move(server)), answered_(answered), bytes_per_ms_(bytes_per_ms) {
    std::array<char, 32> folder{"/tmp/hk-link-XXXXXX"};
    if (::mkdtemp(folder.data()) == nullptr) {
      throw std::runtime_error("no folder for a link");
    }
    folder_ = folder.data();
    listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un where = address(folder_ + "/.s.PGSQL.5432");
    if (::bind(listening_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
        ::listen(listening_, 16) != 0) {
      throw std::runtime_error("a link cannot listen");
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~Link() { close(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Whoever waits for an answer is told that there will be none.
  void close() {
    if (thread_.joinable()) {
      ended_.store(true);
      thread_.join();
      ::close(listening_);
      std::filesystem::remove_all(folder_);
    }
  }

 private:
  static sockaddr_un address(const std::string& path) {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    path.copy(where.sun_path, sizeof where.sun_path - 1);
    return where;
  }
  static bool readable(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 10) == 1;
  }

  void serve() {
    for (int i = 0; i < answered_ && !ended_.load();) {
      if (readable(listening_)) {
        const int client = ::accept(listening_, nullptr, nullptr);
        const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un where = address(server_);
        if (::connect(server, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) {
          pass_on(client, server);
        }
        ::close(client);
        ::close(server);
        ++i;
      }
    }
    while (!ended_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }

  void pass_on(int client, int server) {
    std::array<char, 65'536> bytes{};
    while (!ended_.load()) {
      std::array<pollfd, 2> waiting = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), 10) <= 0) {
        continue;
      }
      for (const auto& [from, to] : {std::pair{0U, server}, std::pair{1U, client}}) {
        if (waiting[from].revents == 0) {
          continue;
        }
        const ssize_t got = ::recv(waiting[from].fd, bytes.data(), bytes.size(), 0);
        if (got <= 0 ||
            ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) {
          return;
        }
        if (from == 1 && bytes_per_ms_ != 0) {
          std::this_thread::sleep_for(
              std::chrono::milliseconds{static_cast<std::size_t>(got) / bytes_per_ms_});
        }
      }
    }
  }

  const std::string server_;
  const int answered_;
  const std::size_t bytes_per_ms_;
  std::string folder_{};
  int listening_ = -1;
  std::atomic<bool> ended_{false};
  std::thread thread_{};
};

}  // namespace hk::outbox::test
