/// The senders against receivers on loopback sockets that behave as each test says.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include "integration/delivery/harness.h"
#include "observe/metrics.h"
#include "outbox/send/make_sender.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
using delivery::testing::FakeSpans;
using delivery::testing::ok_answer;
using delivery::testing::patience;
using delivery::testing::Receiver;
using delivery::testing::refuse_on_loopback;
using delivery::testing::Socket;

Settings loopback_settings() {
  Settings settings;
  settings.allow_loopback_destinations = true;
  settings.concurrency = 32;
  settings.broker_timeout = patience;
  return settings;
}

class World {
 public:
  explicit World(const Settings& settings = loopback_settings()) {
    auto made = make_sender(settings, spans);
    if (!made) {
      ADD_FAILURE() << made.error().message;
      std::abort();
    }
    sender = *std::move(made);
  }

  /// As the relay does it: waits for the descriptor, takes what is there.
  std::vector<Sent> wait_for(std::size_t count) {
    std::vector<Sent> all;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (all.size() < count && std::chrono::steady_clock::now() < until) {
      pollfd ready{sender->ready_fd(), POLLIN, 0};
      if (::poll(&ready, 1, 100) > 0) {
        for (Sent& sent : sender->take_finished()) {
          all.push_back(std::move(sent));
        }
      }
    }
    return all;
  }

  Outcome send(Row row) {
    sender->send(std::move(row));
    const auto sent = wait_for(1);
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? Outcome{} : sent[0].outcome;
  }

  FakeSpans spans;
  std::unique_ptr<Sender> sender;
};

Row row_to(std::string destination, std::int64_t id = 1) {
  Row row;
  row.claim = {id, "relay:1", 2};
  row.idempotency_key = "key-" + std::to_string(id);
  row.destination = std::move(destination);
  row.payload = R"({"id":)" + std::to_string(id) + "}";
  row.is_json = true;
  return row;
}

/// A receiver that answers everything with these bytes.
std::unique_ptr<Receiver> answering(std::string bytes) {
  return std::make_unique<Receiver>([bytes = std::move(bytes)](Socket& socket) {
    while (!socket.read_request().empty() && socket.write(bytes)) {
    }
  });
}

std::string answer(std::string_view status, std::string_view fields = "") {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) +
         "Content-Length: 4\r\n\r\nbody";
}

TEST(Send, EndsARowAsTheAnswerSays) {
  struct Case {
    std::string bytes;
    Ending ending;
    std::string_view reason;
    int http_status;
    std::optional<Millis> retry_after{};
  };
  const Case cases[] = {
      {answer("200 OK"), Ending::succeeded, "", 200},
      {answer("201 Created"), Ending::succeeded, "", 200},
      {answer("301 Moved", "Location: http://127.0.0.1:1/\r\n"), Ending::failed, "BROKER_REJECTED",
       301},
      {answer("404 Not Found"), Ending::failed, "BROKER_REJECTED", 404},
      {answer("403 Forbidden"), Ending::failed, "BROKER_REJECTED", 403},
      {answer("429 Slow", "Retry-After: 7\r\n"), Ending::failed, "BROKER_REJECTED", 429, 7s},
      {answer("489 No", "Upstash-NonRetryable-Error: true\r\n"), Ending::aborted,
       "BROKER_NON_RETRYABLE", 489},
      {answer("489 No"), Ending::failed, "BROKER_REJECTED", 489},
      {answer("500 Oops"), Ending::failed, "BROKER_ERROR", 500},
      {answer("503 Later", "Retry-After: 30\r\n"), Ending::failed, "BROKER_ERROR", 503, 30s},
      {"SSH-2.0-OpenSSH_9.2\r\n", Ending::failed, "BROKER_UNREACHABLE", 502},
  };
  World world;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.bytes);
    const auto receiver = answering(one.bytes);

    const Outcome outcome = world.send(row_to(receiver->url()));

    EXPECT_EQ(outcome.ending, one.ending);
    EXPECT_EQ(outcome.reason_code, one.reason);
    EXPECT_EQ(outcome.http_status, one.http_status);
    EXPECT_EQ(outcome.retry_after, one.retry_after);
    EXPECT_EQ(outcome.response, one.http_status == 502 ? "" : "body");
  }
  EXPECT_EQ(world.sender->in_flight(), 0U);
}

TEST(Send, SaysWhenNobodyAnswersInTime) {
  Receiver silent([](Socket& socket) {
    socket.read_request();
    EXPECT_TRUE(socket.wait_for_close());
  });
  Receiver slow([](Socket& socket) {
    socket.read_request();
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    EXPECT_TRUE(socket.wait_for_close());
  });
  Settings settings = loopback_settings();
  settings.broker_timeout = 300ms;
  World world(settings);
  for (const Receiver* receiver : {&silent, &slow}) {
    const Outcome outcome = world.send(row_to(receiver->url()));

    EXPECT_EQ(outcome.ending, Ending::failed);
    EXPECT_EQ(outcome.reason_code, "BROKER_TIMEOUT");
    EXPECT_EQ(outcome.http_status, 504);
    EXPECT_GE(outcome.took, 300ms);
  }
}

TEST(Send, SaysWhenNobodyIsThere) {
  std::uint16_t closed = 0;
  const Socket refusing = refuse_on_loopback(closed);
  Receiver resets([](Socket& socket) {
    socket.read_request();
    socket.reset();
  });
  Receiver no_tls([](Socket& socket) { socket.write(ok_answer()); });
  World world;
  const std::string destinations[] = {
      "http://127.0.0.1:" + std::to_string(closed) + "/", resets.url(),
      "https://127.0.0.1:" + std::to_string(no_tls.port()) + "/", "http://no-such-name.invalid/"};
  for (const std::string& destination : destinations) {
    SCOPED_TRACE(destination);

    const Outcome outcome = world.send(row_to(destination));

    EXPECT_EQ(outcome.ending, Ending::failed);
    EXPECT_EQ(outcome.reason_code, "BROKER_UNREACHABLE");
    EXPECT_EQ(outcome.http_status, 502);
    EXPECT_FALSE(outcome.message.empty());
  }
}

TEST(Send, GoesNowhereThatTheSettingsDoNotOpen) {
  Receiver receiver([](Socket& socket) { socket.read_request(); });
  Settings settings = loopback_settings();
  settings.allow_loopback_destinations = false;
  World world(settings);
  for (const std::string& destination :
       {receiver.url(), std::string("http://localhost:") + std::to_string(receiver.port()),
        std::string("http://10.0.0.1/"), std::string("http://169.254.169.254/latest/")}) {
    SCOPED_TRACE(destination);

    const Outcome outcome = world.send(row_to(destination));

    EXPECT_EQ(outcome.ending, Ending::aborted);
    EXPECT_EQ(outcome.reason_code, "BROKER_BLOCKED");
    EXPECT_EQ(outcome.http_status, 403);
  }
  EXPECT_EQ(receiver.connections(), 0);
}

TEST(Send, CarriesTheRowAndNothingOfOurs) {
  std::mutex mutex;
  std::string request;
  Receiver receiver([&](Socket& socket) {
    const std::string got = socket.read_request();
    const std::lock_guard lock(mutex);
    request = got;
    socket.write(ok_answer());
  });
  World world;
  Row row = row_to(receiver.url("/in?x=1"), 42);
  row.headers = {{"X-Tenant", "7"}, {"tracestate", "vendor=1"}};
  row.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  ASSERT_EQ(world.send(std::move(row)).ending, Ending::succeeded);

  const std::lock_guard lock(mutex);
  EXPECT_TRUE(request.starts_with("POST /in?x=1 HTTP/1.1\r\n"));
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"id\":42}"));
  for (const char* there :
       {"\r\nContent-Type: application/json\r\n", "\r\nIdempotency-Key: key-42\r\n",
        "\r\nX-Tenant: 7\r\n", "\r\nUser-Agent: Hikyaku-Outbox/0.1\r\n",
        "\r\ntracestate: vendor=1\r\n", "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-"}) {
    EXPECT_NE(request.find(there), std::string::npos) << there;
  }
  for (const char* absent : {"Upstash-", "Hikyaku-Message", "Hikyaku-Fence", "b7ad6b7169203331"}) {
    EXPECT_EQ(request.find(absent), std::string::npos) << absent;
  }
  const auto spans = world.spans.taken();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "broker.send");
  EXPECT_EQ(observe::hex(spans[0].parent_span_id.data(), 8), "b7ad6b7169203331");
  EXPECT_NE(request.find(observe::hex(spans[0].span_id.data(), 8)), std::string::npos);
  for (const auto& [name, value] : spans[0].attributes) {
    EXPECT_EQ(value.find("key-42"), std::string::npos) << name;
  }
}

TEST(Send, KeepsEightKibibytesOfTheAnswer) {
  const auto receiver = answering(ok_answer(std::string(100'000, 'x')));
  World world;

  const Outcome outcome = world.send(row_to(receiver->url()));

  EXPECT_EQ(outcome.ending, Ending::succeeded);
  EXPECT_EQ(outcome.response, std::string(8 * 1024, 'x'));
}

TEST(Send, PoisonHarmsOnlyItself) {
  const auto receiver = answering(ok_answer());
  World world;
  constexpr std::int64_t count = 300;
  for (std::int64_t id = 1; id <= count; ++id) {
    Row row = row_to(receiver->url(), id);
    switch (id % 6) {
      case 1: row.payload = "{broken"; break;
      case 2: row.payload = std::string("\"\0\"", 3); break;
      case 3: row.payload.reset(); break;
      case 4: row.destination = "nowhere"; break;
      case 5: row.headers = {{"Content-Length", "1"}}; break;
      default: break;
    }
    world.sender->send(std::move(row));
  }

  const auto sent = world.wait_for(count);

  ASSERT_EQ(sent.size(), std::size_t{count});
  constexpr std::string_view expected[] = {"",
                                           "PAYLOAD_INVALID",
                                           "PAYLOAD_INVALID",
                                           "PAYLOAD_TOO_LARGE",
                                           "DESTINATION_INVALID",
                                           "HEADERS_INVALID"};
  for (const Sent& one : sent) {
    const std::string_view reason = expected[one.claim.id % 6];
    EXPECT_EQ(one.outcome.reason_code, reason);
    EXPECT_EQ(one.outcome.ending, reason.empty() ? Ending::succeeded : Ending::aborted);
  }
}

TEST(Send, FinishesEveryRowOnce) {
  constexpr std::size_t count = 10'000;
  const auto receiver = answering(ok_answer());
  World world;
  const auto began = std::chrono::steady_clock::now();
  std::multiset<std::int64_t> finished;
  const auto take = [&](std::size_t at_least) {
    for (const Sent& sent : world.wait_for(at_least)) {
      EXPECT_EQ(sent.outcome.ending, Ending::succeeded) << sent.outcome.message;
      EXPECT_EQ(sent.claim, (Claim{sent.claim.id, "relay:1", 2}));
      finished.insert(sent.claim.id);
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    world.sender->send(row_to(receiver->url(), static_cast<std::int64_t>(i)));
    if (world.sender->in_flight() >= 1'000) {
      take(100);
    }
  }
  take(count - finished.size());

  ASSERT_EQ(finished.size(), count);
  EXPECT_EQ(std::set(finished.begin(), finished.end()).size(), count);
  EXPECT_EQ(world.sender->in_flight(), 0U);
  EXPECT_TRUE(world.sender->take_finished().empty());
  pollfd ready{world.sender->ready_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  EXPECT_LE(receiver->connections(), 32);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  RecordProperty("rows_per_second", static_cast<int>(count / took.count()));
}

TEST(Send, CountsARowUntilItsEndIsTaken) {
  const auto receiver = answering(ok_answer());
  World world;
  world.sender->send(row_to(receiver->url()));
  pollfd ready{world.sender->ready_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 20'000), 1);

  EXPECT_EQ(world.sender->in_flight(), 1U);
  EXPECT_EQ(world.sender->take_finished().size(), 1U);
  EXPECT_EQ(world.sender->in_flight(), 0U);
}

TEST(Send, KeepsToTheConcurrencyOfTheSettings) {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  Receiver receiver([&](Socket& socket) {
    while (!socket.read_request().empty()) {
      const int running = ++now;
      int seen = most.load();
      while (running > seen && !most.compare_exchange_weak(seen, running)) {
      }
      std::this_thread::yield();
      --now;
      if (!socket.write(ok_answer())) {
        return;
      }
    }
  });
  Settings settings = loopback_settings();
  settings.concurrency = 3;
  World world(settings);
  for (int i = 0; i < 200; ++i) {
    world.sender->send(row_to(receiver.url(), i));
  }

  ASSERT_EQ(world.wait_for(200).size(), 200U);

  EXPECT_LE(most.load(), 3);
  EXPECT_LE(receiver.connections(), 3);
}

TEST(Send, BeginsARowOnlyWhileItsLeaseIsOurs) {
  std::promise<void> first_is_there;
  std::promise<void> gate;
  std::mutex mutex;
  std::vector<std::string> received;
  Receiver receiver([&](Socket& socket) {
    for (std::string request = socket.read_request(); !request.empty();
         request = socket.read_request()) {
      bool first = false;
      {
        const std::lock_guard lock(mutex);
        first = received.empty();
        received.push_back(request.substr(request.find("\r\n\r\n") + 4));
      }
      if (first) {
        first_is_there.set_value();
        gate.get_future().wait();
      }
      if (!socket.write(ok_answer())) {
        return;
      }
    }
  });
  const auto now = std::chrono::steady_clock::now();
  const auto for_an_hour = [&] { return std::make_shared<Lease>(now, 1h); };
  const auto run_out = [&] { return std::make_shared<Lease>(now - 1h, 1min); };
  const std::map<std::int64_t, std::shared_ptr<Lease>> leases = {
      {1, for_an_hour()}, {2, run_out()}, {3, for_an_hour()}, {4, run_out()}, {5, for_an_hour()}};
  Settings settings = loopback_settings();
  settings.concurrency = 1;
  World world(settings);
  const auto ends = [&](std::size_t count) {
    std::map<std::int64_t, bool> begun;
    for (const Sent& sent : world.wait_for(count)) {
      begun[sent.claim.id] = sent.begun && sent.outcome.ending == Ending::succeeded;
    }
    return begun;
  };
  for (const auto& [id, lease] : leases) {
    Row row = row_to(receiver.url(), id);
    row.lease = lease;
    world.sender->send(std::move(row));
  }
  first_is_there.get_future().wait();
  leases.at(3)->lose();  // while it waits for the place
  gate.set_value();

  EXPECT_EQ(ends(3), (std::map<std::int64_t, bool>{{1, true}, {3, false}, {5, true}}));
  EXPECT_EQ(world.sender->in_flight(), 2U) << "in doubt, until a heartbeat says more";
  leases.at(2)->renew(now, 1h);
  leases.at(4)->lose();
  world.sender->look_at_leases();
  EXPECT_EQ(ends(2), (std::map<std::int64_t, bool>{{2, true}, {4, false}}));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(received, (std::vector<std::string>{R"({"id":1})", R"({"id":5})", R"({"id":2})"}));
}

TEST(Send, RecallsWhatWaitsForOneTargetAndNothingElse) {
  std::promise<void> first_is_there;
  std::promise<void> gate;
  std::atomic<int> requests{0};
  Receiver receiver([&](Socket& socket) {
    while (!socket.read_request().empty()) {
      if (++requests == 1) {
        first_is_there.set_value();
        gate.get_future().wait();
      }
      if (!socket.write(ok_answer())) {
        return;
      }
    }
  });
  Settings settings = loopback_settings();
  settings.concurrency = 1;
  World world(settings);
  for (std::int64_t id = 1; id <= 5; ++id) {
    Row row = row_to(receiver.url(), id);
    row.target = id % 2 == 0 ? "other" : "this";
    world.sender->send(std::move(row));
  }
  first_is_there.get_future().wait();

  world.sender->recall("this");
  gate.set_value();

  std::map<std::int64_t, std::string> ends;
  for (const Sent& sent : world.wait_for(5)) {
    ends[sent.claim.id] = sent.recalled ? "recalled" : sent.begun ? "sent" : "lost";
  }
  EXPECT_EQ(ends, (std::map<std::int64_t, std::string>{
                      {1, "sent"}, {2, "sent"}, {3, "recalled"}, {4, "sent"}, {5, "recalled"}}));
  EXPECT_EQ(world.sender->in_flight(), 0U);
}

TEST(Send, SaysWhoseFaultItWas) {
  Settings hikyaku;
  hikyaku.adapter = Adapter::hikyaku;
  Settings http = loopback_settings();
  Settings waiting = http;
  waiting.wait_for_hosts = true;
  std::uint16_t closed = 0;
  const Socket held = refuse_on_loopback(closed);
  const auto at = [](std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); };
  const std::string nobody = at(closed);
  const auto busy = answering(answer("503 Later", "Retry-After: 30\r\n"));
  const auto refusing = answering(answer("400 Bad Request"));

  const auto publish = [&](const std::string& url) {
    hikyaku.broker_url = url;
    World world(hikyaku);
    EXPECT_EQ(world.sender->broker(), url);
    EXPECT_EQ(world.sender->target_of(row_to("https://example.com/")), url);
    return world.send(row_to("https://example.com/"));
  };
  EXPECT_EQ(publish(nobody).broker, Broker::at_fault);
  EXPECT_EQ(publish(at(busy->port())).broker, Broker::at_fault);
  EXPECT_EQ(publish(at(busy->port())).retry_after, 30s);
  EXPECT_EQ(publish(at(refusing->port())).broker, Broker::answered);

  const auto post = [&](const Settings& settings, const std::string& url) {
    World world(settings);
    EXPECT_EQ(world.sender->broker(), "");
    return world.send(row_to(url)).broker;
  };
  EXPECT_EQ(post(http, nobody), Broker::unknown);
  EXPECT_EQ(post(http, busy->url()), Broker::answered);
  EXPECT_EQ(post(waiting, nobody), Broker::at_fault);
  EXPECT_EQ(post(waiting, busy->url()), Broker::answered);
  World world(waiting);
  EXPECT_EQ(world.sender->target_of(row_to(nobody + "/a?b")), nobody);
  EXPECT_EQ(world.sender->target_of(row_to("nowhere")), "");
  EXPECT_EQ(World(http).sender->target_of(row_to(nobody)), "");
}

TEST(Send, CanBeDestroyedWithRowsOnTheirWay) {
  std::atomic<int> requests{0};
  Receiver receiver([&](Socket& socket) {
    while (!socket.read_request().empty()) {
      if (++requests % 2 == 0) {
        socket.write(ok_answer());
      }
    }
  });
  for (int round = 0; round < 20; ++round) {
    World world;
    for (int i = 0; i < 100; ++i) {
      world.sender->send(row_to(i % 3 == 0 ? "http://no-such-name.invalid/" : receiver.url(), i));
    }
    if (round % 2 == 0) {
      world.wait_for(1);
    }
    world.sender.reset();
  }
}

TEST(Send, PublishesIntoAHikyaku) {
  std::mutex mutex;
  std::vector<std::string> requests;
  Receiver broker([&](Socket& socket) {
    for (std::string got = socket.read_request(); !got.empty(); got = socket.read_request()) {
      std::size_t number = 0;
      {
        const std::lock_guard lock(mutex);
        requests.push_back(got);
        number = requests.size();
      }
      const char* const answers[] = {
          "HTTP/1.1 201 Created\r\nContent-Length: 21\r\n\r\n{\"messageId\":\"msg_1\"}",
          "HTTP/1.1 202 Accepted\r\nContent-Length: 41\r\n\r\n"
          "{\"messageId\":\"msg_1\",\"deduplicated\":true}",
          "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"};
      socket.write(answers[number - 1]);
    }
  });
  Settings settings;
  settings.adapter = Adapter::hikyaku;
  settings.broker_url = broker.url("/");
  settings.broker_token = Secret("the-token");
  World world(settings);

  const Outcome first = world.send(row_to("https://example.com/hook"));
  const Outcome second = world.send(row_to("https://example.com/hook"));
  const Outcome third = world.send(row_to("https://example.com/hook"));

  EXPECT_EQ(first.ending, Ending::succeeded);
  EXPECT_EQ(first.response, "{\"messageId\":\"msg_1\"}");
  EXPECT_EQ(second.ending, Ending::succeeded);
  EXPECT_EQ(third.ending, Ending::failed);
  EXPECT_EQ(third.reason_code, "BROKER_REJECTED");
  const std::lock_guard lock(mutex);
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0].starts_with(
      "POST /v2/publish/https%3A%2F%2Fexample.com%2Fhook HTTP/1.1\r\nHost: 127.0.0.1:"));
  for (const char* there :
       {"\r\nAuthorization: Bearer the-token\r\n", "\r\nUpstash-Deduplication-Id: key-1\r\n",
        "\r\nUpstash-Forward-Idempotency-Key: key-1\r\n"}) {
    EXPECT_NE(requests[0].find(there), std::string::npos) << there;
  }
}

TEST(Send, SendsSqsMessages) {
  std::mutex mutex;
  std::string request;
  Receiver queue([&](Socket& socket) {
    const std::string got = socket.read_request();
    const std::lock_guard lock(mutex);
    request = got;
    socket.write(ok_answer(R"({"MessageId":"1"})"));
  });
  Settings settings;
  settings.adapter = Adapter::sqs;
  settings.sqs_queue_url = queue.url("/000000000000/orders.fifo");
  settings.aws_access_key_id = "test";
  settings.aws_secret_access_key = Secret("test-secret");
  World world(settings);

  const Outcome outcome = world.send(row_to(""));

  EXPECT_EQ(outcome.ending, Ending::succeeded);
  EXPECT_EQ(outcome.response, R"({"MessageId":"1"})");
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(request.starts_with("POST / HTTP/1.1\r\n"));
  for (const char* there : {"\r\nX-Amz-Target: AmazonSQS.SendMessage\r\n", "\r\nX-Amz-Date: ",
                            "SignedHeaders=content-type;host;x-amz-date;x-amz-target",
                            R"("MessageGroupId":"key-1")", R"("MessageBody":"{\"id\":1}")"}) {
    EXPECT_NE(request.find(there), std::string::npos) << there;
  }
  EXPECT_EQ(request.find("test-secret"), std::string::npos);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
