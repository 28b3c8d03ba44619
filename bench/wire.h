/// What the benchmark programs share: the clock, non-blocking loopback sockets, the little of
/// HTTP/1.1 that they speak, percentiles, and the stamp that a body carries. They link nothing of
/// the server, so that a mistake there cannot hide itself here. Each program is one thread.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hk::bench {

[[noreturn]] inline void die(std::string_view what) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(2);
}

/// CLOCK_MONOTONIC: one clock for all processes of the machine.
inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline std::int64_t to_number(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    die(std::string(what) + " wants a number of 0 or more, not '" + std::string(text) + "'");
  }
  return value;
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Many hosts on this machine: 127.1.100.100 and on, all of the same width, so that a request is
/// prepared by overwriting one with another.
inline constexpr std::string_view first_host = "127.1.100.100";
inline constexpr std::uint64_t hosts_max = 10'000;

inline void no_delay(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/// A request or a response at the front of a buffer.
struct Frame {
  std::string_view head{};  ///< first line and fields, without the empty line
  std::string_view body{};
  std::size_t bytes = 0;  ///< of both, as on the wire
};

/// The value of a field, or nullopt. `name` in any case.
inline std::optional<std::string_view> field(std::string_view head, std::string_view name) {
  std::size_t at = head.find('\n');
  while (at != std::string_view::npos) {
    const std::string_view line = head.substr(at + 1);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      std::string_view value = line.substr(name.size() + 1);
      value = value.substr(0, value.find('\r'));
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      return value;
    }
    at = head.find('\n', at + 1);
  }
  return std::nullopt;
}

/// nullopt: more bytes are needed. Chunked bodies are not spoken here.
inline std::optional<Frame> parse_frame(std::string_view buffer) {
  const std::size_t end = buffer.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  Frame frame{.head = buffer.substr(0, end)};
  std::size_t length = 0;
  if (const auto text = field(frame.head, "content-length")) {
    length = static_cast<std::size_t>(to_number(*text, "Content-Length"));
  }
  if (buffer.size() < end + 4 + length) {
    return std::nullopt;
  }
  frame.body = buffer.substr(end + 4, length);
  frame.bytes = end + 4 + length;
  return frame;
}

/// The first bytes of a body: its number and when it was (to be) sent. Fixed width, so that a
/// request is prepared by overwriting 40 bytes.
inline constexpr std::size_t stamp_bytes = 40;

inline void write_digits(char* end, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) {
    *--end = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}
/// Turns the host at `at` into the one with this number. REQUIRES: number < hosts_max.
inline void write_host(char* at, std::uint64_t number) {
  write_digits(at + std::string_view("127.1.100").size(), number / 100, 2);
  write_digits(at + first_host.size(), number % 100, 2);
}
inline void write_stamp(char* at, std::uint64_t number, std::int64_t sent_ns) {
  std::memcpy(at, "#", 1);
  write_digits(at + 1 + 18, number, 18);
  std::memcpy(at + 19, "@", 1);
  write_digits(at + 20 + 19, static_cast<std::uint64_t>(sent_ns), 19);
  std::memcpy(at + 39, ";", 1);
}
inline std::optional<std::int64_t> read_stamp(std::string_view body) {
  if (body.size() < stamp_bytes || body[0] != '#' || body[19] != '@' || body[39] != ';') {
    return std::nullopt;
  }
  std::int64_t sent = 0;
  std::from_chars(body.data() + 20, body.data() + 39, sent);
  return sent;
}

/// Every sample is kept: an average of percentiles would not be one.
class Latencies {
 public:
  static constexpr std::size_t samples_max = std::size_t{1} << 25;

  void add(std::int64_t ns) {
    if (samples_.size() < samples_max) {
      const std::int64_t us = std::clamp<std::int64_t>(ns / 1000, 0, UINT32_MAX);
      samples_.push_back(static_cast<std::uint32_t>(us));
    }
  }
  /// "min_us":…,"p50_us":… — nearest rank; zeros when there is no sample.
  [[nodiscard]] std::string json() const {
    std::vector<std::uint32_t> sorted = samples_;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&sorted](double share) -> unsigned {
      if (sorted.empty()) {
        return 0;
      }
      const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
      return sorted[std::min(rank, sorted.size() - 1)];
    };
    char text[192];
    std::snprintf(text, sizeof text,
                  "\"min_us\":%u,\"p50_us\":%u,\"p90_us\":%u,\"p99_us\":%u,\"p999_us\":%u,"
                  "\"max_us\":%u",
                  at(0), at(0.5), at(0.9), at(0.99), at(0.999), at(1));
    return text;
  }

 private:
  std::vector<std::uint32_t> samples_;
};

}  // namespace hk::bench
