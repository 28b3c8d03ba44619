/// Receivers that end their connections badly, lie about themselves or flood us, and that all of
/// them together cost nothing that is not given back. The table of their outcomes is in
/// docs/how-to/retries-and-dead-letters.md.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

using Behaviour = std::function<void(Socket&)>;

void hold(Socket& socket) { (void)socket.wait_for_close(); }

Behaviour answers(std::string answer) {
  return [answer = std::move(answer)](Socket& socket) {
    while (!socket.read_request().empty() && socket.write(answer)) {
    }
  };
}

/// Sends a reset now. (The harness keeps a copy of the descriptor: closing this one would not.)
void reset(const Socket& socket) {
  const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
  (void)::connect(socket.fd(), &none, sizeof none);
}

/// Says that much and resets the connection.
Behaviour resets_after(std::string answer) {
  return [answer = std::move(answer)](Socket& socket) {
    (void)socket.read_request();
    socket.write(answer);
    reset(socket);
  };
}

Behaviour floods(std::string head, std::string piece, std::atomic<std::size_t>& taken) {
  return [head = std::move(head), piece = std::move(piece), &taken](Socket& socket) {
    (void)socket.read_request();
    socket.write(head);
    while (socket.write(piece)) {
      taken.fetch_add(piece.size());
    }
  };
}

std::size_t descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(ZooFaults, AResetInTheMiddleIsANetworkError) {
  struct Row {
    const char* name;
    std::string answer;
  };
  const Row rows[] = {
      {"before an answer", ""},
      {"in the status line", "HTTP/1.1 2"},
      {"in the header", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"in the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"},
      {"in a body without a length", "HTTP/1.1 200 OK\r\n\r\nhalf"},
      {"in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"},
      {"after an interim answer", "HTTP/1.1 100 Continue\r\n\r\n"},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver(resets_after(row.answer));

    const auto report = world.deliver(receiver.url());

    EXPECT_FALSE(report.delivered);
    EXPECT_EQ(report.attempt.error, "connection broken: Connection reset by peer");
    EXPECT_EQ(report.attempt.response_status, 0);
    EXPECT_EQ(receiver.connections(), 1);
  }
}

TEST(ZooFaults, WhatAReceiverSaysOfItselfIsNotBelieved) {
  struct Row {
    const char* name;
    std::string answer;
    int status;
    bool delivered;
    std::string error{};
    std::optional<Millis> retry_after{};
  };
  const std::string end = "Content-Length: 0\r\n\r\n";
  std::vector<Row> rows = {
      {"a Date of 1970", "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n" + end, 200,
       true},
      {"another message's fence", "HTTP/1.1 200 OK\r\nHikyaku-Fence: 0.9999999.9\r\n" + end, 200,
       true},
      {"a length that is too short",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nmore than two bytes", 200, true},
      {"redirect to itself", "HTTP/1.1 307 X\r\nLocation: /hook\r\n" + end, 307, false,
       "redirect not followed"},
      {"redirect to a file", "HTTP/1.1 302 X\r\nLocation: file:///etc/passwd\r\n" + end, 302, false,
       "redirect not followed"},
      {"redirect to the metadata address",
       "HTTP/1.1 308 X\r\nLocation: http://169.254.169.254/latest/\r\n" + end, 308, false,
       "redirect not followed"},
      {"not modified", "HTTP/1.1 304 X\r\n\r\n", 304, false, "redirect not followed"},
      {"a status of its own", "HTTP/1.1 999 X\r\n" + end, 999, false, "status 999"},
  };
  for (const int status : {401, 410, 429, 503}) {
    const std::string text = std::to_string(status);
    const std::string begin = "HTTP/1.1 " + text + " X\r\nRetry-After: ";
    const auto add = [&](const char* name, const std::string& value, std::optional<Millis> wish) {
      rows.push_back({name, begin + value + "\r\n" + end, status, false, "status " + text, wish});
    };
    add("negative", "-5", std::nullopt);
    add("a thousand million", "1000000000", std::nullopt);
    add("more than fits", std::string(60, '9'), std::nullopt);
    add("1970", "Thu, 01 Jan 1970 00:00:00 GMT", Millis{0});
    add("9999", "Fri, 31 Dec 9999 23:59:59 GMT", std::nullopt);
    add("text", std::string(2000, 'x'), std::nullopt);
    add("not a number", "nan", std::nullopt);
    add("empty", "", std::nullopt);
    add("honest", "3", Millis{3000});
  }
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(std::to_string(row.status) + " " + row.name);
    Receiver receiver(answers(row.answer));
    auto start = attempt_to(receiver.url());
    const core::Fence fence = start.fence;

    const auto report = world.deliver(std::move(start));

    EXPECT_EQ(report.attempt.response_status, row.status);
    EXPECT_EQ(report.delivered, row.delivered);
    EXPECT_EQ(report.attempt.error, row.error);
    EXPECT_EQ(report.retry_after, row.retry_after);
    EXPECT_EQ(report.fence, fence);
    EXPECT_EQ(receiver.connections(), 1);
  }
}

TEST(ZooFaults, AFloodIsCutOffEarly) {
  struct Row {
    const char* name;
    std::string head;
    std::string piece;
    bool delivered;
    std::string error{};
  };
  const std::string block(64 * 1024, 'x');
  const std::string too_large = "the header of the answer is too large";
  const Row rows[] = {
      {"a status line without end", "HTTP/1.1 200 ", block, false, too_large},
      {"a header line without end", "HTTP/1.1 200 OK\r\nA: ", block, false, too_large},
      {"headers without end", "HTTP/1.1 200 OK\r\n", "A: b\r\n", false, too_large},
      {"interim answers without end", "", "HTTP/1.1 103 X\r\nA: b\r\n\r\n", false,
       "too many interim answers"},
      {"a chunk size without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       std::string(64 * 1024, '0'), false, "the answer is malformed"},
      {"trailers without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
       "A: b\r\n", false, "the answer is malformed"},
      {"a packed body without end", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", block,
       true},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::string piece = row.piece;
    while (piece.size() < 16 * 1024) {
      piece += row.piece;
    }
    std::atomic<std::size_t> taken{0};
    Receiver receiver(floods(row.head, piece, taken));

    const auto report = world.deliver(receiver.url());

    EXPECT_EQ(report.delivered, row.delivered);
    EXPECT_EQ(report.attempt.error, row.error);
    EXPECT_LE(report.attempt.response_body.size(), 1000U);
    // What is read, and what the buffers of two sockets take.
    EXPECT_LT(taken.load(), std::size_t{32} * 1024 * 1024);
  }
  world.on_io_thread([] {});
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
}

TEST(ZooFaults, APeerThatTakesNothingForTooLongHasVanished) {
  // As seen from here, who reads nothing and who is gone without a word are the same.
  std::promise<void> over;
  const auto end = over.get_future().share();
  Receiver receiver([end](Socket&) { end.wait(); });
  auto options = loopback_options();
  options.silent_max = 300ms;
  World world(std::move(options));

  const auto report =
      world.deliver(attempt_to(receiver.url(), std::string(32 * 1024 * 1024, 'x'), 1h));

  EXPECT_FALSE(report.delivered);
  EXPECT_EQ(report.attempt.error, "connection broken: Connection timed out");
  over.set_value();
}

TEST(ZooFaults, ManyOfThemGiveBackWhatTheyTakeAndHarmNoNeighbour) {
  std::atomic<std::size_t> taken{0};
  World world;
  Receiver healthy(answers(ok_answer()));
  ASSERT_TRUE(world.deliver(healthy.url()).delivered);
  const std::size_t before = descriptors();
  {
    std::vector<std::pair<std::unique_ptr<Receiver>, std::chrono::milliseconds>> zoo;
    const auto add = [&](Behaviour behave, std::chrono::milliseconds timeout = 1min) {
      zoo.emplace_back(std::make_unique<Receiver>(std::move(behave)), timeout);
    };
    add(hold, 500ms);
    add(
        [](Socket& socket) {
          (void)socket.read_request();
          hold(socket);
        },
        500ms);
    add([](Socket& socket) {
      (void)socket.read_request();
      while (socket.write("x")) {
        std::this_thread::sleep_for(10ms);
      }
    });
    add(resets_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"));
    add(answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n"));
    add(answers("garbage"));
    add(floods("HTTP/1.1 200 OK\r\n\r\n", std::string(64 * 1024, 'x'), taken));
    add([](Socket&) {});
    constexpr std::size_t rounds = 25;
    std::vector<core::StartAttempt> attempts;
    for (std::size_t i = 0; i < rounds; ++i) {
      for (const auto& [one, timeout] : zoo) {
        attempts.push_back(attempt_to(one->url(), "{}", timeout));
      }
      attempts.push_back(attempt_to(healthy.url()));
    }
    const std::size_t already = world.submitter.count();
    const std::size_t count = attempts.size();

    world.start(std::move(attempts));
    const auto reports = world.submitter.wait_for(already + count);

    ASSERT_EQ(reports.size(), already + count);
    std::size_t delivered = 0;
    for (std::size_t i = already; i < reports.size(); ++i) {
      delivered += reports[i].delivered ? 1 : 0;
    }
    // The healthy one; who says too much after an answer; who never stops, whose status counts.
    EXPECT_EQ(delivered, 3 * rounds);
    world.on_io_thread([] {});
    EXPECT_EQ(world.deliveries->in_flight(), 0U);
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  const std::size_t kept = world.deliveries->idle_connections() * 3;  // ours, theirs and its copy
  while (descriptors() > before + kept && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_LE(descriptors(), before + kept);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
