/// Webhooks on their way: what arrives is signed over the bytes that arrive, and every end of an
/// attempt is reported as an endpoint's owner reads it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "integration/delivery/harness.h"
#include "security/webhook_signature.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

void hold(Socket& socket) { (void)socket.wait_for_close(); }

std::function<void(Socket&)> answers(std::string answer) {
  return [answer = std::move(answer)](Socket& socket) {
    if (!socket.read_request().empty() && socket.write(answer)) {
      hold(socket);
    }
  };
}

std::string status_line(int status, const std::string& fields = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + fields + "Content-Length: 0\r\n\r\n";
}

/// "" when there is none.
std::string value_of(const std::string& request, const std::string& name) {
  const std::size_t at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos || at > request.find("\r\n\r\n")) {
    return "";
  }
  const std::size_t begin = at + name.size() + 4;
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

core::StartAttempt with_target(core::StartAttempt attempt,
                               const std::function<void(core::WebhookTarget&)>& change) {
  auto target = std::make_shared<core::WebhookTarget>(*attempt.webhook);
  change(*target);
  attempt.webhook = std::move(target);
  return attempt;
}

TEST(Webhook, ArrivesSignedOverTheBytesThatArrive) {
  std::mutex mutex;
  std::string got;
  Receiver receiver([&](Socket& socket) {
    while (true) {
      std::string request = socket.read_request();
      if (request.empty()) {
        return;
      }
      {
        const std::lock_guard lock(mutex);
        got = std::move(request);
      }
      if (!socket.write(ok_answer())) {
        return;
      }
    }
  });
  World world;
  const auto secret = security::parse_secret(webhook_secret);
  ASSERT_TRUE(secret);
  const std::string bodies[] = {"", "{}", R"({ "z":1.0,"a" : 1e2,"\u00fc":"ü" })",
                                std::string("\0\xff\r\n\r\n.", 7), std::string(100'000, '"')};
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body.substr(0, 40));

    const auto report = world.deliver(webhook_to(receiver.url(), body));

    ASSERT_TRUE(report.delivered) << report.attempt.error;
    const std::lock_guard lock(mutex);
    const std::string arrived = got.substr(got.find("\r\n\r\n") + 4);
    EXPECT_EQ(arrived, body);
    EXPECT_EQ(value_of(got, "User-Agent"), "Hikyaku-Webhooks/1.2.3");
    for (const std::string family : {"svix-", "webhook-"}) {
      const std::string id = value_of(got, family + "id");
      const std::string timestamp = value_of(got, family + "timestamp");
      const std::string signature = value_of(got, family + "signature");
      EXPECT_EQ(id, "msg_p5jXN8AQM9LWM0D4loKWxJek");
      ASSERT_TRUE(signature.starts_with("v1,")) << signature;
      EXPECT_TRUE(security::matches_v1(*secret, {.id = id, .timestamp = timestamp, .body = arrived},
                                       signature.substr(3)));
    }
  }
  EXPECT_EQ(receiver.connections(), 1);  // kept from one to the next
}

TEST(Webhook, EveryAnswerGivesItsOutcome) {
  struct Row {
    const char* name;
    std::string answer;
    int status = 0;
    bool delivered = false;
    std::string error{};
    bool give_up = false;
    std::optional<Millis> retry_after{};
  };
  const std::string malformed = "the answer is malformed";
  const Row rows[] = {
      {"200", ok_answer("thanks"), 200, true},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, true},
      {"301", status_line(301, "Location: http://169.254.169.254/latest?a=1\r\n"), 301, false,
       "status 301: redirect to http://169.254.169.254:80 not followed"},
      {"410", status_line(410), 410, false, "status 410"},
      {"418 gives up", status_line(418), 418, false, "status 418", true},
      {"489 marked", status_line(489, "Upstash-NonRetryable-Error: true\r\n"), 489, false,
       "the receiver marked the error as not retryable", true},
      {"489 bare", status_line(489), 489, false, "status 489"},
      {"500", status_line(500), 500, false, "status 500"},
      {"429 after", status_line(429, "Retry-After: 7\r\n"), 429, false, "status 429", false,
       Millis{7'000}},
      {"503 after a fraction", status_line(503, "Retry-After: 1.2\r\n"), 503, false, "status 503",
       false, Millis{2'000}},
      {"503 after two days", status_line(503, "Retry-After: 172800\r\n"), 503, false, "status 503",
       false, Millis{172'800'000}},
      {"503 in 1970", status_line(503, "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n"), 503,
       false, "status 503", false, Millis{0}},
      {"header of 32 KiB", "HTTP/1.1 200 OK\r\nX: " + std::string(33 * 1024, 'y') + "\r\n\r\n", 0,
       false, "the header of the answer is too large"},
      {"not HTTP", "SSH-2.0-OpenSSH_9\r\n", 0, false, "the answer is not HTTP/1.x"},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", 0, false,
       malformed},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver(answers(row.answer));

    const auto report =
        world.deliver(with_target(webhook_to(receiver.url()), [](core::WebhookTarget& target) {
          target.give_up_statuses = {418};
        }));

    EXPECT_EQ(report.attempt.response_status, row.status);
    EXPECT_EQ(report.delivered, row.delivered);
    EXPECT_EQ(report.attempt.error, row.error);
    EXPECT_EQ(report.give_up, row.give_up);
    EXPECT_EQ(report.retry_after, row.retry_after);
    EXPECT_FALSE(report.timed_out);
    EXPECT_FALSE(report.not_made);
  }
}

TEST(Webhook, ALongAnswerCountsByItsStatusAndItsFirstBytesAreKept) {
  struct Row {
    const char* name;
    std::string head;
  };
  const Row rows[] = {
      {"by length", "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"},
      {"until the end", "HTTP/1.1 200 OK\r\n\r\n"},
      {"of a failure", "HTTP/1.1 500 X\r\nContent-Length: 100000000\r\n\r\n"},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Receiver receiver([&row](Socket& socket) {
      if (socket.read_request().empty() || !socket.write(row.head)) {
        return;
      }
      const std::string piece(8 * 1024, 'b');
      while (socket.write(piece)) {  // until we hang up
      }
    });

    const auto report = world.deliver(webhook_to(receiver.url()));

    EXPECT_EQ(report.delivered, row.head.starts_with("HTTP/1.1 200")) << report.attempt.error;
    EXPECT_EQ(report.attempt.response_body, std::string(20'000, 'b'));
  }
}

TEST(Webhook, AnAnswerOf64KiBIsReadToItsEnd) {
  const std::string body(60'000, 'b');
  Receiver receiver([&body](Socket& socket) {
    while (!socket.read_request().empty() && socket.write(ok_answer(body))) {
    }
  });
  World world;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(world.deliver(webhook_to(receiver.url())).delivered);
  }
  EXPECT_EQ(receiver.connections(), 1);
}

TEST(Webhook, AnAnswerThatBreaksOffIsNoSuccess) {
  Receiver receiver([](Socket& socket) {
    (void)socket.read_request();
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  World world;

  const auto report = world.deliver(webhook_to(receiver.url()));

  EXPECT_FALSE(report.delivered);
  EXPECT_EQ(report.attempt.response_status, 0);
  EXPECT_EQ(report.attempt.error, "the connection was closed in the middle of the answer");
}

TEST(Webhook, SaysInPlainWordsWhyThereWasNoAnswer) {
  World world;
  std::uint16_t port = 0;
  const Socket closed = refuse_on_loopback(port);
  const auto refused = world.deliver(webhook_to("http://127.0.0.1:" + std::to_string(port) + "/"));
  EXPECT_EQ(refused.attempt.error, "connection refused");
  EXPECT_FALSE(refused.timed_out);
  EXPECT_FALSE(refused.not_made);

  const auto inside = world.deliver(webhook_to("http://169.254.169.254/"));
  EXPECT_EQ(inside.attempt.error, "address not allowed");
  EXPECT_FALSE(inside.not_made);

  Receiver silent(hold);
  const auto late = world.deliver(webhook_to(silent.url(), "{}", 300ms));
  EXPECT_EQ(late.attempt.error, "timed out after 300 ms");
  EXPECT_TRUE(late.timed_out);
  EXPECT_FALSE(late.not_made);

  Receiver hangs_up([](Socket& socket) { (void)socket.read_request(); });
  EXPECT_EQ(world.deliver(webhook_to(hangs_up.url())).attempt.error,
            "the connection was closed without an answer");
}

TEST(Webhook, IsNotSentWithoutItsSecretAndThatIsNoAttempt) {
  std::atomic<int> requests{0};
  Receiver receiver([&requests](Socket& socket) {
    if (!socket.read_request().empty()) {
      requests.fetch_add(1);
    }
  });
  World world;

  const auto report =
      world.deliver(with_target(webhook_to(receiver.url()), [](core::WebhookTarget& target) {
        target.secrets[0].sealed = "of another master key";
      }));

  EXPECT_TRUE(report.not_made);
  EXPECT_FALSE(report.delivered);
  EXPECT_FALSE(report.give_up);
  EXPECT_EQ(report.attempt.error,
            "not sent: no signing key: the endpoint's secret cannot be opened: another master key");
  EXPECT_EQ(requests.load(), 0);
}

/// As many as this process has open, and one more.
rlim_t next_descriptor() {
  const int fd = ::dup(0);
  ::close(fd);
  return static_cast<rlim_t>(fd);
}

TEST(Webhook, WithoutAFileDescriptorItIsNoAttempt) {
  Receiver receiver(answers(ok_answer()));
  World world;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = next_descriptor();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto starved = world.deliver(webhook_to(receiver.url()));
  const auto published = world.deliver(attempt_to(receiver.url()));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);

  EXPECT_TRUE(starved.not_made);
  EXPECT_EQ(starved.attempt.error, "too many open files");
  // What was published is a failed attempt, as it always was.
  EXPECT_FALSE(published.not_made);
  EXPECT_EQ(published.attempt.error, "not connected: Too many open files");

  // Another receiver: the one before could not accept without a descriptor either.
  Receiver after(answers(ok_answer()));
  EXPECT_TRUE(world.deliver(webhook_to(after.url())).delivered);
}

/// Cannot ask anybody.
class HelplessResolver final : public Resolver {
 public:
  std::optional<Addresses> known(const std::string&) override { return std::nullopt; }
  void look_up(const std::string& host, Done done) override {
    done(fail(host == "busy.example" ? ErrorKind::limit_exceeded : ErrorKind::unavailable, "no"));
  }
};

TEST(Webhook, ANameThatNobodyCouldAskForIsNoAttemptAndOneThatDoesNotExistIs) {
  DispatcherOptions options = loopback_options();
  options.resolver = std::make_shared<HelplessResolver>();
  World world(std::move(options));

  EXPECT_TRUE(world.deliver(webhook_to("http://busy.example/")).not_made);
  EXPECT_FALSE(world.deliver(webhook_to("http://gone.example/")).not_made);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
