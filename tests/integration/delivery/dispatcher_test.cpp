#include "delivery/dispatcher.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "delivery/envelope/plain.h"
#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

void answer_every_request(Socket& socket) {
  while (!socket.read_request().empty()) {
    if (!socket.write(ok_answer("thanks"))) {
      return;
    }
  }
}

TEST(Dispatcher, DeliversAndReportsTheAnswer) {
  std::mutex mutex;
  std::string request;
  Receiver receiver([&](Socket& socket) {
    const std::string got = socket.read_request();
    const std::lock_guard lock(mutex);
    request = got;
    socket.write(
        "HTTP/1.1 201 Created\r\nX-A: b\r\nX-Bad: \xff\r\nContent-Length: 6\r\n\r\nthanks");
  });
  World world;
  auto start = attempt_to(receiver.url("/hook?x=1"), R"({"a":1})");

  start.partition = core::PartitionId{3};
  const auto report = world.deliver(start);

  EXPECT_EQ(report.partition, core::PartitionId{3});

  EXPECT_TRUE(report.delivered);
  EXPECT_EQ(report.id, start.id);
  EXPECT_EQ(report.fence, start.fence);
  EXPECT_EQ(report.attempt.fence, start.fence);
  EXPECT_EQ(report.attempt.response_status, 201);
  EXPECT_EQ(report.attempt.response_body, "thanks");
  EXPECT_EQ(report.attempt.error, "");
  EXPECT_EQ(report.attempt.span_id, start.span_id);
  EXPECT_EQ(report.attempt.started_at, start.started_at);
  EXPECT_GE(report.attempt.ended_at, start.started_at);
  ASSERT_EQ(report.attempt.response_headers.size(), 3U);
  EXPECT_EQ(report.attempt.response_headers[0], (core::Header{"X-A", "b"}));
  EXPECT_EQ(report.attempt.response_headers[1], (core::Header{"X-Bad", "?"}));
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(request.starts_with("POST /hook?x=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_TRUE(request.ends_with("\r\nContent-Length: 7\r\n\r\n{\"a\":1}"));
}

TEST(Dispatcher, UsesOneConnectionForRequestsInARow) {
  Receiver receiver(answer_every_request);
  World world;

  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(world.deliver(receiver.url()).delivered);
  }

  EXPECT_EQ(receiver.connections(), 1);
  EXPECT_EQ(world.deliveries->idle_connections(), 1U);
}

TEST(Dispatcher, WhatComesBehindAnAnswerIsNotTheAnswerToTheNextRequest) {
  // The first answer fills the buffer of the reader, so what follows it is still to be read when it
  // is whole. The second attempt starts at that very moment.
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: ";
  const std::string answer = head + "4000\r\n\r\n" + std::string(4000, 'x');
  const std::string padded = "HTTP/1.1 200 OK\r\nX: " + std::string(4096 - answer.size() - 5, 'p') +
                             answer.substr(head.find("\r\n"));
  ASSERT_EQ(padded.size(), 4096U);
  std::atomic<int> requests{0};
  Receiver receiver([&](Socket& socket) {
    while (!socket.read_request().empty()) {
      if (++requests == 1) {
        socket.write(padded + ok_answer());
      } else {
        socket.write("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n");
      }
    }
  });
  DispatcherOptions options = loopback_options();
  options.in_flight_max = 1;
  World world(options);
  world.start({attempt_to(receiver.url("/1")), attempt_to(receiver.url("/2"))});
  const auto reports = world.submitter.wait_for(2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_TRUE(reports[0].delivered);
  EXPECT_FALSE(reports[1].delivered);
  EXPECT_EQ(reports[1].attempt.response_status, 500);
  EXPECT_EQ(receiver.connections(), 2);
}

TEST(Dispatcher, NeverSharesAConnectionBetweenTenants) {
  Receiver receiver(answer_every_request);
  World world;

  ASSERT_TRUE(world.deliver(receiver.url()).delivered);
  auto other = attempt_to(receiver.url());
  other.tenant = core::TenantId{2};
  ASSERT_TRUE(world.deliver(std::move(other)).delivered);

  EXPECT_EQ(receiver.connections(), 2);
}

TEST(Dispatcher, SendsLargeBodiesWhole) {
  constexpr std::size_t size = 8 * 1024 * 1024;
  std::atomic<std::size_t> received{0};
  Receiver receiver([&](Socket& socket) {
    const std::string request = socket.read_request();
    received = request.size() - request.find("\r\n\r\n") - 4;
    socket.write(ok_answer());
  });
  World world;

  EXPECT_TRUE(world.deliver(attempt_to(receiver.url(), std::string(size, 'x'))).delivered);
  EXPECT_EQ(received.load(), size);
}

TEST(Dispatcher, ReportsEveryAttemptOnceWhenThousandsRunAtOnce) {
  constexpr std::size_t count = 3'000;
  Receiver receiver(answer_every_request);
  auto options = loopback_options();
  options.in_flight_max = 100;
  World world(std::move(options));
  std::vector<core::StartAttempt> attempts;
  for (std::size_t i = 0; i < count; ++i) {
    attempts.push_back(attempt_to(receiver.url()));
  }

  world.start(std::move(attempts));
  const auto reports = world.submitter.wait_for(count);

  ASSERT_EQ(reports.size(), count);
  std::set<std::uint64_t> seen;
  for (const auto& report : reports) {
    EXPECT_TRUE(report.delivered) << report.attempt.error;
    seen.insert(report.id.seq.value());
  }
  EXPECT_EQ(seen.size(), count);
  EXPECT_LE(receiver.connections(), 100);
  EXPECT_LT(world.submitter.calls.load(), count);
  world.on_io_thread([] {});
  EXPECT_EQ(world.deliveries->in_flight(), 0U);
}

TEST(Dispatcher, GivesThePlaceOfEveryAttemptBackHoweverItEnds) {
  std::uint16_t port = 0;
  const Socket refusing = refuse_on_loopback(port);
  DispatcherOptions options = loopback_options();
  options.in_flight_max = 2;
  World world(std::move(options));
  const std::string nobody = "http://127.0.0.1:" + std::to_string(port) + "/";

  for (int i = 0; i < 6; ++i) {  // more of each kind than there are places
    EXPECT_EQ(world.deliver(nobody).attempt.error, "not connected: Connection refused");
    EXPECT_EQ(world.deliver("http://169.254.169.254/").attempt.error, "blocked_by_policy");
  }

  world.on_io_thread([] {});  // an end is told before it is counted
  EXPECT_EQ(world.deliveries->in_flight(), 0U);
}

TEST(Dispatcher, KeepsOutcomesWhileTheEngineHasNoRoom) {
  Receiver receiver(answer_every_request);
  World world;
  world.submitter.room = 0;
  std::vector<core::StartAttempt> attempts;
  for (int i = 0; i < 20; ++i) {
    attempts.push_back(attempt_to(receiver.url()));
  }
  world.start(std::move(attempts));
  const auto until = std::chrono::steady_clock::now() + patience;
  while (world.submitter.calls.load() < 5 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_EQ(world.submitter.count(), 0U);

  world.submitter.room = 3;

  EXPECT_EQ(world.submitter.wait_for(20).size(), 20U);
}

TEST(Dispatcher, DoesNotSendOnceTheLeaseHasRunOut) {
  Receiver receiver(answer_every_request);
  World world;
  auto late = attempt_to(receiver.url());
  late.lease_until = late.started_at - Millis{1};

  const auto report = world.deliver(std::move(late));

  EXPECT_FALSE(report.delivered);
  EXPECT_EQ(report.attempt.error, "not sent: the lease had run out");
  EXPECT_EQ(receiver.connections(), 0);
}

TEST(Dispatcher, AWallClockSetForwardDoesNotFailAttempts) {
  Receiver receiver(answer_every_request);
  World world;
  auto start = attempt_to(receiver.url());
  start.started_at -=
      std::chrono::hours(24);  // partition time, as the wall clock has left it behind
  start.lease_until = start.started_at + std::chrono::seconds(30);

  const auto report = world.deliver(std::move(start));

  EXPECT_TRUE(report.delivered) << report.attempt.error;
}

TEST(Dispatcher, AHungReceiverHoldsUpNobodyElse) {
  Receiver hung([](Socket& socket) { (void)socket.wait_for_close(); });
  Receiver good(answer_every_request);
  World world;
  std::vector<core::StartAttempt> attempts;
  for (int i = 0; i < 200; ++i) {
    attempts.push_back(attempt_to(hung.url(), "{}", 60s));
  }
  world.start(std::move(attempts));

  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(world.deliver(good.url()).delivered);
  }
  world.on_io_thread([] {});  // an end is told before it is counted
  EXPECT_EQ(world.deliveries->in_flight(), 200U);
}

TEST(Dispatcher, StopWaitsForWhatRunsAndTakesNothingNew) {
  std::promise<void> asked;
  std::promise<void> may_answer;
  auto permission = may_answer.get_future().share();
  Receiver receiver([&, permission](Socket& socket) {
    (void)socket.read_request();
    asked.set_value();
    permission.wait();
    socket.write(ok_answer());
  });
  World world;
  world.start([&] {
    std::vector<core::StartAttempt> one;
    one.push_back(attempt_to(receiver.url()));
    return one;
  }());
  asked.get_future().wait();

  std::promise<void> stopped;
  world.deliveries->stop(std::chrono::steady_clock::now() + patience, [&] { stopped.set_value(); });
  std::vector<core::StartAttempt> late;
  late.push_back(attempt_to(receiver.url()));
  world.start(std::move(late));
  world.on_io_thread([] {});  // it was refused
  EXPECT_EQ(world.deliveries->in_flight(), 1U);
  may_answer.set_value();
  stopped.get_future().wait();

  EXPECT_EQ(world.submitter.count(), 1U);
  EXPECT_EQ(receiver.connections(), 1);
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
}

TEST(Dispatcher, StopCutsOffAtItsDeadlineWithoutAReport) {
  std::promise<void> asked;
  std::promise<bool> closed;
  Receiver receiver([&](Socket& socket) {
    (void)socket.read_request();
    asked.set_value();
    closed.set_value(socket.wait_for_close());
  });
  World world;
  std::vector<core::StartAttempt> one;
  one.push_back(attempt_to(receiver.url(), "{}", 60s));
  world.start(std::move(one));
  asked.get_future().wait();

  std::promise<void> stopped;
  world.deliveries->stop(std::chrono::steady_clock::now(), [&] { stopped.set_value(); });
  stopped.get_future().wait();

  EXPECT_TRUE(closed.get_future().get());
  EXPECT_EQ(world.submitter.count(), 0U);
  EXPECT_EQ(world.deliveries->in_flight(), 0U);
}

TEST(Dispatcher, RecordsASpanThatNamesTheHostAndNotTheQuery) {
  Receiver receiver(answer_every_request);
  World world;

  (void)world.deliver(receiver.url("/hook?token=secret"));

  const auto spans = world.spans.taken();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "delivery.attempt");
  EXPECT_EQ(spans[0].span_id[7], 9);
  EXPECT_FALSE(spans[0].error);
  std::set<std::string> names;
  for (const auto& [name, value] : spans[0].attributes) {
    names.insert(name);
    EXPECT_EQ(value.find("secret"), std::string::npos);
  }
  EXPECT_TRUE(names.contains("qstash.attempt"));
  EXPECT_TRUE(names.contains("server.address"));
  EXPECT_TRUE(names.contains("http.response.status_code"));
}

TEST(Dispatcher, RefusesToSendUnsigned) {
  Receiver receiver(answer_every_request);
  FakeSubmitter submitter;
  FakeSpans spans;
  observe::Metrics metrics;
  boost::asio::io_context io{1};
  auto deliveries = Deliveries::make(
      loopback_options(), {&io},
      {submitter, [](core::TenantId) { return std::shared_ptr<const Secret>(); }, metrics, spans});
  ASSERT_TRUE(deliveries.has_value());
  std::vector<core::StartAttempt> one;
  one.push_back(attempt_to(receiver.url()));

  (*deliveries)->start(std::move(one));
  while (submitter.count() == 0) {
    io.run_one();
  }

  EXPECT_EQ(submitter.wait_for(1)[0].attempt.error, "not sent: the tenant has no signing key");
}

TEST(Dispatcher, GivesTheEndsOfPlainRequestsToWhoeverTakesThem) {
  std::mutex mutex;
  std::string request;
  Receiver receiver([&](Socket& socket) {
    const std::string got = socket.read_request();
    const std::lock_guard lock(mutex);
    request = got;
    socket.write(ok_answer("thanks"));
  });
  class Taker final : public AnswerTaker {
   public:
    void take(const Request& request, Answer answer) override {
      ends.emplace_back(request.id, std::move(answer));
    }
    std::vector<std::pair<core::MessageId, Answer>> ends;
  };
  boost::asio::io_context io{1};
  Taker taker;
  PlainEnvelope plain("Other/1");
  auto dispatcher = Dispatcher::make(loopback_options(), &io, taker);
  ASSERT_TRUE(dispatcher.has_value());
  std::vector<Request> two(2);
  two[0].message = attempt_to(receiver.url()).message;
  two[1].message = attempt_to("http://10.0.0.1/").message;
  for (Request& one : two) {
    one.id = one.message->id;
    one.envelope = &plain;
  }
  const core::MessageId delivered = two[0].id;
  const core::MessageId blocked = two[1].id;

  (*dispatcher)->start(std::move(two));
  while (taker.ends.size() < 2) {
    io.run_one();
  }

  EXPECT_EQ(taker.ends[0].first, blocked);
  EXPECT_EQ(taker.ends[0].second.result, observe::AttemptResult::blocked);
  EXPECT_EQ(taker.ends[1].first, delivered);
  EXPECT_EQ(taker.ends[1].second.result, observe::AttemptResult::delivered);
  EXPECT_EQ(taker.ends[1].second.body, "thanks");
  const std::lock_guard lock(mutex);
  EXPECT_NE(request.find("\r\nUser-Agent: Other/1\r\n"), std::string::npos);
  EXPECT_EQ(request.find("Upstash-"), std::string::npos);
  EXPECT_EQ(request.find("Hikyaku-"), std::string::npos);
}

TEST(Deliveries, SendWhatIsForOneDestinationFromOneThread) {
  Receiver first(answer_every_request);
  Receiver second(answer_every_request);
  FakeSubmitter submitter;
  FakeSpans spans;
  observe::Metrics metrics;
  std::array<boost::asio::io_context, 3> io;
  auto deliveries = Deliveries::make(
      loopback_options(), {&io[0], &io[1], &io[2]},
      {submitter, [](core::TenantId) { return std::make_shared<const Secret>("k"); }, metrics,
       spans});
  ASSERT_TRUE(deliveries.has_value());
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i < io.size(); ++i) {
    threads[i] = std::thread([&one = io[i]] {
      const auto work = boost::asio::make_work_guard(one);
      one.run();
    });
  }

  for (std::size_t i = 1; i <= 40; ++i) {
    std::vector<core::StartAttempt> one;
    const Receiver& receiver = i % 2 == 0 ? first : second;
    one.push_back(attempt_to(receiver.url()));
    auto message = std::make_shared<core::Message>(*one.back().message);
    message->host = receiver.url("");
    one.back().message = std::move(message);
    (*deliveries)->start(std::move(one));
    submitter.wait_for(i);
  }
  std::promise<void> stopped;
  (*deliveries)->stop(std::chrono::steady_clock::now() + patience, [&] { stopped.set_value(); });
  stopped.get_future().wait();

  EXPECT_EQ(submitter.count(), 40U);
  EXPECT_EQ(first.connections(), 1);
  EXPECT_EQ(second.connections(), 1);
  EXPECT_EQ((*deliveries)->connections_opened(), 2U);
  EXPECT_EQ((*deliveries)->in_flight(), 0U);
  for (std::size_t i = 0; i < io.size(); ++i) {
    io[i].stop();
    threads[i].join();
  }
}

TEST(Deliveries, SayWhatIsWrongWithACaFile) {
  FakeSubmitter submitter;
  FakeSpans spans;
  observe::Metrics metrics;
  boost::asio::io_context io{1};
  auto options = loopback_options();
  options.extra_ca_file = "no-such-file.pem";

  const auto made = Deliveries::make(
      std::move(options), {&io},
      {submitter, [](core::TenantId) { return std::shared_ptr<const Secret>(); }, metrics, spans});

  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
