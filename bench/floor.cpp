/// The floor: the least that an HTTP server on this machine can do for a request. One thread,
/// epoll, keep-alive, a fixed small answer; nothing is stored. Publishing is measured as a share of
/// it.
///
///   floor --port 0                 answers 201 to everything
///   floor --port 0 --receiver      a destination: counts requests and message ids, answers 200
///   floor --port 0 --hang          a destination that takes requests and never answers
///
/// With --hosts N it listens on N further addresses, see first_host in wire.h.
///
/// Prints "listening PORT" when it is. A receiver answers GET /stats and GET /latencies with what
/// it has seen since its start or the last GET /reset.
#include <sys/epoll.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "wire.h"

namespace hk::bench {
namespace {

constexpr std::int64_t bucket_ns = 100'000'000;
constexpr std::size_t buckets_max = 36'000;  // an hour

/// What has arrived since the start or the last reset.
class Arrivals {
 public:
  void record(const Frame& request, std::int64_t at) {
    ++requests_;
    last_ns_ = at;
    if (first_ns_ == 0) {
      first_ns_ = at;
    }
    const auto bucket = static_cast<std::size_t>((at - first_ns_) / bucket_ns);
    if (bucket < buckets_max) {
      if (bucket >= buckets_.size()) {
        buckets_.resize(bucket + 1);
      }
      ++buckets_[bucket];
    }
    auto id = field(request.head, "upstash-message-id");
    if (!id) {
      id = field(request.head, "idempotency-key");  // of the outbox relay
    }
    if (!id) {
      id = field(request.head, "webhook-id");
    }
    if (id) {
      // 64 bits of a digest stand for the id: memory stays small over millions of them.
      if (!ids_.insert(std::hash<std::string_view>{}(*id)).second) {
        ++repeats_;
      }
    } else {
      ++without_id_;
    }
    if (const auto sent = read_stamp(request.body)) {
      latencies_.add(at - *sent);
    }
  }

  [[nodiscard]] std::string json() const {
    std::string text = "{\"requests\":" + std::to_string(requests_) +
                       ",\"unique_ids\":" + std::to_string(ids_.size()) +
                       ",\"repeats\":" + std::to_string(repeats_) +
                       ",\"without_id\":" + std::to_string(without_id_) +
                       ",\"first_ns\":" + std::to_string(first_ns_) +
                       ",\"last_ns\":" + std::to_string(last_ns_) +
                       ",\"bucket_ns\":" + std::to_string(bucket_ns) + ",\"buckets\":[";
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(buckets_[i]);
    }
    return text + "]}";
  }
  /// Sorting the samples stops the loop for a while: asked for once, at the end.
  [[nodiscard]] std::string latencies_json() const { return "{" + latencies_.json() + "}"; }

 private:
  std::uint64_t requests_ = 0;
  std::uint64_t repeats_ = 0;
  std::uint64_t without_id_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::vector<std::uint64_t> buckets_;
  std::unordered_set<std::size_t> ids_;
  Latencies latencies_;
};

enum class Mode { floor, receiver, hang };

std::string answer(std::string_view status, std::string_view body) {
  std::string text = "HTTP/1.1 ";
  text += status;
  text += "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n\r\n";
  text += body;
  return text;
}

struct Connection {
  int fd = -1;
  std::string in{};
  std::string out{};
  bool wants_write = false;
  bool listens = false;
};

class Loop {
 public:
  Loop(std::uint16_t port, std::uint64_t hosts, Mode mode)
      : mode_(mode), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    const std::uint16_t taken = listen_on("127.0.0.1", port);
    std::string host(first_host);
    for (std::uint64_t i = 0; i < hosts; ++i) {
      write_host(host.data(), i);
      listen_on(host, taken);
    }
    std::printf("listening %u\n", static_cast<unsigned>(taken));
    std::fflush(stdout);
  }

  [[noreturn]] void run() {
    epoll_event events[512];
    for (;;) {
      const int count = epoll_wait(epoll_, events, 512, -1);
      for (int i = 0; i < count; ++i) {
        Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
        if (connection.listens) {
          accept_all(connection.fd);
        } else {
          serve(connection);
        }
      }
    }
  }

 private:
  /// The port, which is chosen here if it is 0.
  std::uint16_t listen_on(const std::string& host, std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address = loopback(port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    socklen_t size = sizeof address;
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      die("cannot listen on " + host + ":" + std::to_string(port) + ": " + std::strerror(errno));
    }
    watch(std::make_unique<Connection>(Connection{.fd = fd, .listens = true}));
    return ntohs(address.sin_port);
  }

  void watch(std::unique_ptr<Connection> connection) {
    const int fd = connection->fd;
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.release()}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all(int listener) {
    for (;;) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        return;
      }
      no_delay(fd);
      watch(std::make_unique<Connection>(Connection{.fd = fd}));
    }
  }

  void serve(Connection& connection) {
    char chunk[64 * 1024];
    const ssize_t got = read(connection.fd, chunk, sizeof chunk);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
      close(connection.fd);
      delete &connection;
      return;
    }
    const std::int64_t at = now_ns();
    if (got > 0 && connection.in.empty()) {  // The usual case: whole requests, nothing left over.
      const std::string_view bytes(chunk, static_cast<std::size_t>(got));
      connection.in.assign(bytes.substr(take(connection, bytes, at)));
    } else if (got > 0) {
      connection.in.append(chunk, static_cast<std::size_t>(got));
      connection.in.erase(0, take(connection, connection.in, at));
    }
    flush(connection);
  }

  /// Answers the whole requests at the front; how many bytes they were.
  std::size_t take(Connection& connection, std::string_view bytes, std::int64_t at) {
    std::size_t taken = 0;
    while (const auto request = parse_frame(bytes.substr(taken))) {
      taken += request->bytes;
      if (mode_ != Mode::floor && request->head.starts_with("GET /stats ")) {
        connection.out += answer("200 OK", arrivals_.json());
      } else if (mode_ != Mode::floor && request->head.starts_with("GET /latencies ")) {
        connection.out += answer("200 OK", arrivals_.latencies_json());
      } else if (mode_ != Mode::floor && request->head.starts_with("GET /reset ")) {
        arrivals_ = Arrivals{};
        connection.out += ok_;
      } else if (mode_ == Mode::floor) {
        connection.out += created_;
      } else {
        arrivals_.record(*request, at);
        if (mode_ == Mode::receiver) {
          connection.out += ok_;
        }
      }
    }
    return taken;
  }

  void flush(Connection& connection) {
    if (!connection.out.empty()) {
      const ssize_t sent =
          send(connection.fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        connection.out.erase(0, static_cast<std::size_t>(sent));
      }
    }
    if (connection.out.empty() == connection.wants_write) {
      connection.wants_write = !connection.out.empty();
      epoll_event event{.events = EPOLLIN | (connection.wants_write ? EPOLLOUT : 0U),
                        .data = {.ptr = &connection}};
      epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
    }
  }

  const Mode mode_;
  const int epoll_;
  Arrivals arrivals_;
  // As long as a real publish answer, so that both cost the client the same.
  const std::string created_ =
      answer("201 Created",
             R"({"messageId":"msg_0000000000000000000000","url":"http://127.0.0.1:1/hook"})");
  const std::string ok_ = answer("200 OK", R"({"ok":true})");
};

}  // namespace
}  // namespace hk::bench

int main(int argc, char** argv) {
  using namespace hk::bench;
  std::signal(SIGPIPE, SIG_IGN);
  std::uint16_t port = 0;
  std::uint64_t hosts = 0;
  Mode mode = Mode::floor;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--port" && i + 1 < argc) {
      port = static_cast<std::uint16_t>(to_number(argv[++i], flag));
    } else if (flag == "--hosts" && i + 1 < argc) {
      hosts = std::min(hosts_max, static_cast<std::uint64_t>(to_number(argv[++i], flag)));
    } else if (flag == "--receiver") {
      mode = Mode::receiver;
    } else if (flag == "--hang") {
      mode = Mode::hang;
    } else {
      die("usage: floor [--port N] [--hosts N] [--receiver | --hang]");
    }
  }
  Loop(port, hosts, mode).run();
}
