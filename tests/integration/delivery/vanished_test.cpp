// Receivers that vanish without a goodbye: a machine that is off, a router that has forgotten. The
// attempt may have hours, and ends when the kernel has heard nothing for `silent_max`.
#include <dirent.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <future>
#include <string>

#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

/// From now on nothing that is sent to it arrives, and nothing is acknowledged.
bool vanish(const Socket& socket) {
  sock_filter drop_all{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  const sock_fprog program{.len = 1, .filter = &drop_all};
  return ::setsockopt(socket.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);
/// The port of one end of a connection over IPv4; 0: it is none.
int port_by(NameOf name_of, int fd) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  const bool known = name_of(fd, reinterpret_cast<sockaddr*>(&name), &size) == 0;
  return known && name.sin_family == AF_INET ? ntohs(name.sin_port) : 0;
}

/// The dispatcher's end of this connection: it is in the same process. -1: not found.
int other_end_of(const Socket& socket) {
  const int ours = port_by(::getsockname, socket.fd());
  const int theirs = port_by(::getpeername, socket.fd());
  int found = -1;
  DIR* const open = ::opendir("/proc/self/fd");
  while (const dirent* entry = open != nullptr ? ::readdir(open) : nullptr) {
    const int fd = std::atoi(entry->d_name);  // 0 for "." and "..": no connection of ours
    if (port_by(::getsockname, fd) == theirs && port_by(::getpeername, fd) == ours) {
      found = fd;
    }
  }
  if (open != nullptr) {
    ::closedir(open);
  }
  return found;
}

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

TEST(Vanished, TheKernelIsToldToAskWhetherAReceiverIsThere) {
  struct Row {
    const char* name;
    std::chrono::milliseconds silent_max;
    int idle;
    int between;
  };
  const Row rows[] = {
      {"as it is by default", DispatcherOptions{}.silent_max, 30, 10},
      {"parts of seconds", 3'000ms, 2, 1},
      {"no less than a second", 100ms, 1, 1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::promise<std::array<int, 4>> seen;
    Receiver receiver([&seen](Socket& socket) {
      (void)socket.read_request();
      const int fd = other_end_of(socket);
      seen.set_value({option_of(fd, SOL_SOCKET, SO_KEEPALIVE),
                      option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE),
                      option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL),
                      option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT)});
      socket.write(ok_answer());
    });
    DispatcherOptions options = loopback_options();
    options.silent_max = row.silent_max;
    World world(std::move(options));

    EXPECT_TRUE(world.deliver(receiver.url()).delivered);

    const std::array<int, 4> expected = {1, row.idle, row.between,
                                         static_cast<int>(row.silent_max.count())};
    EXPECT_EQ(seen.get_future().get(), expected);
  }
}

TEST(Vanished, AnAttemptThatWaitsForItsAnswerEndsThoughItHasHoursLeft) {
  std::promise<void> over;
  const auto end = over.get_future().share();
  std::promise<bool> gone;
  Receiver receiver([&gone, end](Socket& socket) {
    (void)socket.read_request();
    gone.set_value(vanish(socket));
    end.wait();
  });
  DispatcherOptions options = loopback_options();
  options.silent_max = 2s;
  World world(std::move(options));

  const auto report = world.deliver(attempt_to(receiver.url(), "{}", 10h));
  over.set_value();

  EXPECT_TRUE(gone.get_future().get());
  EXPECT_FALSE(report.delivered);
  EXPECT_EQ(report.attempt.error, "connection broken: Connection timed out");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
