/// Receivers that misbehave. Whatever they do, the attempt is reported once, within its deadline,
/// and the next request is not answered with something that was said before it was sent.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <string>

#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

void hold(Socket& socket) { (void)socket.wait_for_close(); }

/// Reads the request, says `answer` and keeps the connection open until we close it.
std::function<void(Socket&)> answers(std::string answer) {
  return [answer = std::move(answer)](Socket& socket) {
    if (!socket.read_request().empty() && socket.write(answer)) {
      hold(socket);
    }
  };
}

TEST(Zoo, EveryAnswerGivesItsOutcome) {
  struct Row {
    const char* name;
    std::string answer;
    int status = 0;
    bool delivered = false;
    std::string error{};
    bool give_up = false;
    std::optional<Millis> retry_after{};
  };
  const std::string many_headers = [] {
    std::string text = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 100'000; ++i) {
      text += "a: b\r\n";
    }
    return text + "Content-Length: 0\r\n\r\n";
  }();
  const std::string interim_for_ever = [] {
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
      text += "HTTP/1.1 100 Continue\r\n\r\n";
    }
    return text;
  }();
  const std::string malformed = "the answer is malformed";
  const std::string too_large = "the header of the answer is too large";
  const std::string not_http = "the answer is not HTTP/1.x";
  const Row rows[] = {
      {"200", ok_answer(), 200, true},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, true},
      {"299", "HTTP/1.1 299 X\r\nContent-Length: 0\r\n\r\n", 299, true},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200,
       true},
      {"interim first",
       "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 X\r\nA: b\r\n\r\n" + ok_answer(), 200, true},
      {"301", "HTTP/1.1 301 X\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
       301, false, "redirect not followed"},
      {"404", "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", 404, false, "status 404"},
      {"500", "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", 500, false, "status 500"},
      {"489 marked",
       "HTTP/1.1 489 X\r\nUpstash-NonRetryable-Error: true\r\nContent-Length: 0\r\n\r\n", 489,
       false, "the receiver marked the error as not retryable", true},
      {"489 bare", "HTTP/1.1 489 X\r\nContent-Length: 0\r\n\r\n", 489, false, "status 489"},
      {"400 marked",
       "HTTP/1.1 400 X\r\nUpstash-NonRetryable-Error: true\r\nContent-Length: 0\r\n\r\n", 400,
       false, "status 400"},
      {"429 after", "HTTP/1.1 429 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 429, false,
       "status 429", false, Millis{7'000}},
      {"429 negative", "HTTP/1.1 429 X\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n", 429, false,
       "status 429"},
      {"429 huge", "HTTP/1.1 429 X\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n", 429,
       false, "status 429"},
      {"429 in 1970",
       "HTTP/1.1 429 X\r\nRetry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
       429, false, "status 429", false, Millis{0}},
      {"200 after", "HTTP/1.1 200 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 200, true},
      {"retry-after of 2 MB",
       "HTTP/1.1 429 X\r\nRetry-After: " + std::string(2'000'000, '9') + "\r\n\r\n", 0, false,
       too_large},
      {"giant header", "HTTP/1.1 200 OK\r\nX: " + std::string(64 * 1024, 'y') + "\r\n\r\n", 0,
       false, too_large},
      {"100,000 headers", many_headers, 0, false, too_large},
      {"1xx for ever", interim_for_ever, 0, false, "too many interim answers"},
      {"switching protocols", "HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n", 0, false,
       "the receiver switched protocols unasked"},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", 0, false,
       malformed},
      {"two equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", 0,
       false, malformed},
      {"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, false, malformed},
      {"length and chunked",
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
       false, malformed},
      {"unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0,
       false, malformed},
      {"chunked on 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, false,
       malformed},
      {"chunk garbage", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", 0,
       false, malformed},
      {"chunk without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcXX\r\n",
       0, false, malformed},
      {"chunk extension",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;" + std::string(500, 'x') +
           "\r\nabc\r\n0\r\n\r\n",
       0, false, malformed},
      {"LF in a chunk extension",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"\n\"\r\nabc\r\n0\r\n\r\n", 0,
       false, malformed},
      {"HTTP/0.9", "<html>hello</html>", 0, false, not_http},
      {"HTTP/2", "HTTP/2 200 OK\r\n\r\n", 0, false, not_http},
      {"SSH", "SSH-2.0-OpenSSH_9\r\n", 0, false, not_http},
      {"bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", 0, false, malformed},
      {"no status", "HTTP/1.1 OK\r\n\r\n", 0, false, malformed},
      {"NUL in header", std::string("HTTP/1.1 200 OK\r\nA: \0b\r\n\r\n", 26), 0, false, malformed},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver(answers(row.answer));

    const auto report = world.deliver(receiver.url());

    EXPECT_EQ(report.attempt.response_status, row.status);
    EXPECT_EQ(report.delivered, row.delivered);
    EXPECT_EQ(report.give_up, row.give_up);
    EXPECT_EQ(report.attempt.error, row.error);
    EXPECT_EQ(report.retry_after, row.retry_after);
    EXPECT_EQ(receiver.connections(), 1);
  }
}

TEST(Zoo, WhoeverDoesNotAnswerInTimeIsCutOff) {
  struct Row {
    const char* name;
    std::function<void(Socket&)> behave;
  };
  const Row rows[] = {
      {"never reads", hold},
      {"reads and never answers",
       [](Socket& socket) {
         (void)socket.read_request();
         hold(socket);
       }},
      {"half an answer", answers("HTTP/1.1 200 OK\r\nContent-Le")},
      {"half a body", answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")},
      {"a body without end that stalls", answers("HTTP/1.1 200 OK\r\n\r\nhalf")},
      {"one byte at a time",
       [](Socket& socket) {
         (void)socket.read_request();
         const std::string slow = "HTTP/1.1 200 OK\r\nX: " + std::string(1000, 'x');
         for (const char c : slow) {
           if (!socket.write(std::string_view(&c, 1))) {
             return;
           }
           std::this_thread::sleep_for(20ms);
         }
       }},
      {"interim answers, slowly",
       [](Socket& socket) {
         (void)socket.read_request();
         while (socket.write("HTTP/1.1 100 Continue\r\n\r\n")) {
           std::this_thread::sleep_for(100ms);
         }
       }},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver(row.behave);

    const auto report = world.deliver(attempt_to(receiver.url(), "{}", 400ms));

    EXPECT_FALSE(report.delivered);
    EXPECT_EQ(report.attempt.error, "timeout: no complete answer within 400 ms");
    EXPECT_EQ(report.attempt.response_status, 0);
    EXPECT_GE(report.attempt.ended_at - report.attempt.started_at, 400ms);
  }
}

TEST(Zoo, WhoeverNeverAcceptsIsCutOff) {
  std::uint16_t port = 0;
  const Socket listener = listen_on_loopback(port, 0);
  World world;
  std::vector<core::StartAttempt> attempts;
  for (int i = 0; i < 8; ++i) {  // the backlog takes some of them: those wait for an answer instead
    attempts.push_back(attempt_to("http://127.0.0.1:" + std::to_string(port) + "/", "{}", 300ms));
  }

  world.start(std::move(attempts));
  const auto reports = world.submitter.wait_for(8);

  ASSERT_EQ(reports.size(), 8U);
  for (const auto& report : reports) {
    EXPECT_FALSE(report.delivered);
    EXPECT_TRUE(report.attempt.error.starts_with("timeout:")) << report.attempt.error;
  }
}

TEST(Zoo, ALargeRequestToOneWhoNeverReadsIsCutOff) {
  Receiver receiver(hold);
  World world;

  const auto report =
      world.deliver(attempt_to(receiver.url(), std::string(32 * 1024 * 1024, 'x'), 400ms));

  EXPECT_FALSE(report.delivered);
  EXPECT_TRUE(report.attempt.error.starts_with("timeout:")) << report.attempt.error;
}

TEST(Zoo, AClosedPortIsANetworkError) {
  std::uint16_t port = 0;
  const Socket refusing = refuse_on_loopback(port);
  World world;

  const auto report = world.deliver("http://127.0.0.1:" + std::to_string(port) + "/");

  EXPECT_EQ(report.attempt.error, "not connected: Connection refused");
}

TEST(Zoo, AnAnswerBeforeTheBodyWasReadCountsAndEndsTheConnection) {
  // Nobody reads the rest: were it drained, all of it might be sent before the answer is looked at,
  // and then the connection is rightly kept.
  std::promise<void> looked_at;
  const auto end = looked_at.get_future().share();
  Receiver receiver([end](Socket& socket) {
    socket.write("HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n");
    end.wait();
  });
  World world;
  // The answer may even be there before the request: then nothing is sent at all.
  const auto report = world.deliver(attempt_to(receiver.url(), std::string(32 * 1024 * 1024, 'x')));

  EXPECT_FALSE(report.delivered);
  EXPECT_TRUE(report.attempt.response_status == 413 ||
              report.attempt.error.starts_with("not connected:"))
      << report.attempt.error;
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
  looked_at.set_value();
}

TEST(Zoo, AnEarlyAnswerToALargeRequestCounts) {
  // Nobody reads the rest: were it drained, all of it might be sent before the answer is looked at,
  // and then the connection is rightly kept.
  std::promise<void> looked_at;
  const auto end = looked_at.get_future().share();
  Receiver receiver([end](Socket& socket) {
    char byte = 0;
    (void)::recv(socket.fd(), &byte, 1, 0);  // the request has begun
    socket.write("HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n");
    end.wait();
  });
  World world;

  const auto report = world.deliver(attempt_to(receiver.url(), std::string(32 * 1024 * 1024, 'x')));

  EXPECT_EQ(report.attempt.response_status, 413);
  world.on_io_thread([] {});
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
  looked_at.set_value();
}

TEST(Zoo, ASuccessThatIsFollowedByAResetIsASuccess) {
  std::promise<void> may_reset;
  auto permission = may_reset.get_future().share();
  Receiver receiver([permission](Socket& socket) {
    (void)socket.read_request();
    socket.write(ok_answer("done"));
    permission.wait();
    socket.reset();
    (void)::shutdown(socket.fd(), SHUT_RDWR);
  });
  World world;

  EXPECT_TRUE(world.deliver(receiver.url()).delivered);
  may_reset.set_value();
  // The dead connection is not handed to the next one, however the two race.
  Receiver healthy(answers(ok_answer()));
  EXPECT_TRUE(world.deliver(healthy.url()).delivered);
}

TEST(Zoo, AnEndlessBodyIsCutAndTheStatusCounts) {
  struct Row {
    const char* name;
    std::string head;
    std::string piece;
  };
  const std::string block(16 * 1024, 'x');
  const Row rows[] = {
      {"until close", "HTTP/1.1 200 OK\r\n\r\n", block},
      {"length of an exabyte", "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n",
       block},
      {"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       "4000\r\n" + block + "\r\n"},
      {"tiny chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver([&row](Socket& socket) {
      (void)socket.read_request();
      std::string many = row.piece;
      while (many.size() < 16 * 1024) {
        many += row.piece;
      }
      socket.write(row.head);
      while (socket.write(many)) {
      }
    });

    const auto report = world.deliver(receiver.url());

    EXPECT_TRUE(report.delivered) << report.attempt.error;
    EXPECT_EQ(report.attempt.response_body, std::string(1000, 'x'));
  }
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
}

TEST(Zoo, ABodyThatEndsWithTheConnectionIsComplete) {
  Receiver receiver([](Socket& socket) {
    (void)socket.read_request();
    socket.write("HTTP/1.0 200 OK\r\n\r\nall of it");
  });
  World world;

  const auto report = world.deliver(receiver.url());

  EXPECT_TRUE(report.delivered) << report.attempt.error;
  EXPECT_EQ(report.attempt.response_body, "all of it");
}

TEST(Zoo, ACloseInTheMiddleIsANetworkError) {
  struct Row {
    const char* name;
    std::string answer;
    std::string error;
  };
  const Row rows[] = {
      {"nothing", "", "the connection was closed without an answer"},
      {"half a header", "HTTP/1.1 200 OK\r\nA",
       "the connection was closed in the middle of the answer"},
      {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
       "the connection was closed in the middle of the answer"},
      {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
       "the connection was closed in the middle of the answer"},
      {"interim only", "HTTP/1.1 100 Continue\r\n\r\n",
       "the connection was closed without an answer"},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver([&row](Socket& socket) {
      (void)socket.read_request();
      socket.write(row.answer);
    });

    const auto report = world.deliver(receiver.url());

    EXPECT_FALSE(report.delivered);
    EXPECT_EQ(report.attempt.error, row.error);
  }
}

TEST(Zoo, AGzipBodyIsKeptAsItCame) {
  const std::string packed("\x1f\x8b\x08\x00\x00", 5);
  Receiver receiver(
      answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n" + packed));
  World world;

  EXPECT_EQ(world.deliver(receiver.url()).attempt.response_body, packed);
}

TEST(Zoo, ExtraBytesAfterAnAnswerAreNeverTheNextAnswer) {
  std::atomic<int> requests{0};
  Receiver receiver([&](Socket& socket) {
    while (!socket.read_request().empty()) {
      requests.fetch_add(1);
      if (!socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                        "HTTP/1.1 299 Forged\r\nContent-Length: 0\r\n\r\n")) {
        return;
      }
    }
  });
  World world;

  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(world.deliver(receiver.url()).attempt.response_status, 200);
    EXPECT_EQ(requests.load(), i);
    EXPECT_EQ(receiver.connections(), i);
  }
}

TEST(Zoo, ALateForgedAnswerOnAKeptConnectionIsNeverTheNextAnswer) {
  std::promise<void> forged;
  std::atomic<int> connection{0};
  Receiver receiver([&](Socket& socket) {
    const bool first = connection.fetch_add(1) == 0;
    (void)socket.read_request();
    socket.write(ok_answer());
    if (first) {
      socket.write("HTTP/1.1 299 Forged\r\nContent-Length: 0\r\n\r\n");
      forged.set_value();
    }
    hold(socket);
  });
  World world;

  EXPECT_EQ(world.deliver(receiver.url()).attempt.response_status, 200);
  forged.get_future().wait();
  EXPECT_EQ(world.deliver(receiver.url()).attempt.response_status, 200);
  EXPECT_EQ(receiver.connections(), 2);
}

TEST(Zoo, AConnectionThatThePeerClosedWhileIdleIsNotUsedAgain) {
  std::atomic<int> served{0};
  Receiver receiver([&](Socket& socket) {
    (void)socket.read_request();
    socket.write(ok_answer());
    served.fetch_add(1);
  });  // closes without having said so
  World world;

  for (int i = 1; i <= 20; ++i) {
    const auto report = world.deliver(receiver.url());
    ASSERT_TRUE(report.delivered) << report.attempt.error;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (world.deliveries->idle_connections() != 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();  // the tick publishes the count once the close was seen
    }
  }
  EXPECT_EQ(served.load(), 20);
}

TEST(Zoo, ConnectionCloseIsObeyed) {
  Receiver receiver(answers("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
  World world;

  EXPECT_TRUE(world.deliver(receiver.url()).delivered);
  EXPECT_TRUE(world.deliver(receiver.url()).delivered);
  EXPECT_EQ(receiver.connections(), 2);
}

TEST(Zoo, AHeadAnswerHasNoBodyWhateverItsLengthSays) {
  Receiver receiver([](Socket& socket) {
    while (!socket.read_request().empty() &&
           socket.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")) {
    }
  });
  World world;
  for (int i = 0; i < 3; ++i) {
    auto start = attempt_to(receiver.url(), "");
    auto message = std::make_shared<core::Message>(*start.message);
    message->method = "HEAD";
    start.message = std::move(message);
    EXPECT_TRUE(world.deliver(std::move(start)).delivered);
  }
  EXPECT_EQ(receiver.connections(), 1);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
