#include <gtest/gtest.h>

#include "integration/edge/harness.h"
#include "net/client.h"

namespace hk::http::test {

TEST(Exchange, AResponseCarriesWhatEveryResponseMust) {
  TestServer server;
  RawClient client(server.port());

  client.send(get("/x"));
  const auto answer = client.read_answer();

  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(answer->has("Server: hikyaku"));
  EXPECT_TRUE(answer->has("X-Content-Type-Options: nosniff"));
  EXPECT_TRUE(answer->has("Cache-Control: no-store"));
  EXPECT_TRUE(answer->has("Referrer-Policy: no-referrer"));
  EXPECT_EQ(answer->head.find("Strict-Transport-Security"), std::string::npos);  // not over TLS
  EXPECT_TRUE(answer->has("Content-Type: text/plain; charset=utf-8"));
  EXPECT_TRUE(answer->has("Content-Length: 7"));
  EXPECT_NE(answer->head.find("\r\nDate: "), std::string::npos);
  EXPECT_EQ(answer->head.find("Connection:"), std::string::npos);
  EXPECT_EQ(answer->body, "GET /x ");
}

TEST(Exchange, AConnectionIsKeptForMoreRequests) {
  TestServer server;
  RawClient client(server.port());

  for (int i = 0; i < 50; ++i) {
    client.send(post("/n" + std::to_string(i), "body" + std::to_string(i)));
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "POST /n" + std::to_string(i) + " body" + std::to_string(i));
  }

  EXPECT_EQ(server.server().stats().connections_total, 1U);
  EXPECT_EQ(server.server().stats().requests_total, 50U);
}

TEST(Exchange, TheTargetReachesTheHandlerRaw) {
  TestServer server;
  RawClient client(server.port());

  client.send(get("/v2/publish/https://example.com//hook/../%2e?x=1&y=//"));

  EXPECT_EQ(client.read_answer()->body,
            "GET /v2/publish/https://example.com//hook/../%2e?x=1&y=// ");
}

TEST(Exchange, PipelinedRequestsAreAnsweredInOrder) {
  TestServer server;
  RawClient client(server.port());
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += get("/" + std::to_string(i));

  std::jthread sender([&] { client.send(bytes); });
  for (int i = 0; i < 1'000; ++i) {
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->body, "GET /" + std::to_string(i) + " ");
  }
  sender.join();
}

TEST(Exchange, AnswersOutOfOrderLeaveInOrder) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold?0") + get("/hold?1") + get("/now") + get("/hold?2"));
  auto first = server.held().take();
  auto second = server.held().take();
  auto third = server.held().take();

  answer_with(std::move(third), "2");
  answer_with(std::move(second), "1");
  EXPECT_TRUE(client.stays_silent(50ms));
  answer_with(std::move(first), "0");

  EXPECT_EQ(client.read_answer()->body, "0");
  EXPECT_EQ(client.read_answer()->body, "1");
  EXPECT_EQ(client.read_answer()->body, "GET /now ");
  EXPECT_EQ(client.read_answer()->body, "2");
}

TEST(Exchange, ReadingPausesWhenTooManyRequestsWait) {
  ServerOptions options;
  options.limits.pipelined_max = 4;
  TestServer server(std::move(options));
  RawClient client(server.port());
  std::string bytes;
  for (int i = 0; i < 20; ++i) bytes += get("/hold?" + std::to_string(i));
  client.send(bytes);

  std::deque<Held::Entry> waiting;
  for (int i = 0; i < 20; ++i) {
    if (i < 4) waiting.push_back(server.held().take());
    if (i >= 4) {
      EXPECT_LE(server.targets().size(), static_cast<std::size_t>(i));
      answer_with(std::move(waiting.front()), std::to_string(i - 4));
      waiting.pop_front();
      EXPECT_EQ(client.read_answer()->body, std::to_string(i - 4));
      waiting.push_back(server.held().take());
    }
  }
  EXPECT_EQ(server.targets().size(), 20U);
  for (auto& entry : waiting) answer_with(std::move(entry), "rest");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(client.read_answer()->body, "rest");
}

TEST(Exchange, AByteAtATimeIsReadAsWell) {
  TestServer server;
  RawClient client(server.port());
  const std::string bytes = post("/slow", "hello") +
                            "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n";
  for (const char byte : bytes) ASSERT_TRUE(client.send(std::string_view(&byte, 1)));

  EXPECT_EQ(client.read_answer()->body, "POST /slow hello");
  EXPECT_EQ(client.read_answer()->body, "POST /c abcde");
}

TEST(Exchange, ALargeBodyArrivesWhole) {
  TestServer server;
  RawClient client(server.port());
  std::string body;
  for (int i = 0; body.size() < 9'000'000; ++i) body += std::to_string(i) + ",";

  std::jthread sender([&] { client.send(post("/large", body) + get("/after")); });
  const auto answer = client.read_answer();
  sender.join();

  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->body == "POST /large " + body);
  EXPECT_EQ(client.read_answer()->body, "GET /after ");
}

TEST(Exchange, ALargeChunkedBodyArrivesWhole) {
  TestServer server;
  RawClient client(server.port());
  std::string chunks;
  std::string body;
  for (int i = 0; i < 20'000; ++i) {
    const std::string part = std::to_string(i) + std::string(static_cast<std::size_t>(i % 40), 'x');
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    chunks += size + part + "\r\n";
    body += part;
  }

  std::jthread sender([&] {
    client.send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks +
                "0\r\n\r\n");
  });
  const auto answer = client.read_answer();
  sender.join();

  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->body == "POST /c " + body);
}

TEST(Exchange, HeadHasALengthButNoBody) {
  TestServer server;
  RawClient client(server.port());

  client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + get("/y"));

  const auto head = client.read_answer(true);
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->has("Content-Length: 8"));
  EXPECT_EQ(client.read_answer()->body, "GET /y ");
}

TEST(Exchange, AConnectionEndsWhenEitherSideAsks) {
  TestServer server;
  const std::string closing[] = {get("/x", "Connection: close\r\n"),
                                 "GET /x HTTP/1.0\r\nHost: a\r\n\r\n", get("/close")};
  for (const std::string& bytes : closing) {
    SCOPED_TRACE(bytes);
    RawClient client(server.port());
    client.send(bytes + get("/never"));

    const std::string all = client.read_all();

    EXPECT_NE(all.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(all.find("/never"), std::string::npos);
  }
}

TEST(Exchange, Http10IsKeptAliveOnRequest) {
  TestServer server;
  RawClient client(server.port());

  client.send("GET /x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  const auto first = client.read_answer();
  client.send(get("/y"));

  ASSERT_TRUE(first);
  EXPECT_TRUE(first->has("Connection: keep-alive"));
  EXPECT_EQ(client.read_answer()->body, "GET /y ");
}

TEST(Exchange, AHalfClosedClientStillGetsItsAnswers) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold") + get("/x"));
  client.half_close();
  auto entry = server.held().take();

  answer_with(std::move(entry), "late");

  const std::string all = client.read_all();
  EXPECT_NE(all.find("late"), std::string::npos);
  EXPECT_NE(all.find("GET /x "), std::string::npos);
}

TEST(Exchange, ContinueIsSentWhenTheBodyWillBeRead) {
  TestServer server;
  RawClient client(server.port());

  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  const auto interim = client.read_answer();
  client.send("hello");

  ASSERT_TRUE(interim);
  EXPECT_EQ(interim->head, "HTTP/1.1 100 Continue\r\n");
  EXPECT_EQ(client.read_answer()->body, "POST /x hello");
}

TEST(Exchange, ContinueWaitsForTheAnswersBeforeIt) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold") +
              "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  auto entry = server.held().take();
  EXPECT_TRUE(client.stays_silent(50ms));

  answer_with(std::move(entry), "first");

  EXPECT_EQ(client.read_answer()->body, "first");
  EXPECT_EQ(client.read_answer()->status, 100);
  client.send("hello");
  EXPECT_EQ(client.read_answer()->body, "POST /x hello");
}

TEST(Exchange, ContinueIsNotSentForABodyThatIsTooLarge) {
  TestServer server;
  RawClient client(server.port());

  client.send(
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n");

  const std::string all = client.read_all();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 413 ")) << all;
}

TEST(Exchange, ARefusalIsToldInTheWordsOfWhomTheRequestIsFor) {
  ServerOptions options;
  options.limits.body_bytes_max = 100;
  options.limits.body_grace = 20ms;
  options.limits.body_rate_min = 1'000'000;
  options.write_refusal = [](const Request& request, int status, std::string_view reason) {
    return Response{.status = status,
                    .body = request.target + ": " + std::string(reason),
                    .content_type = "text/plain",
                    .fields = {{"X-Who", std::string(request.header("X-Who").value_or(""))}}};
  };
  TestServer server(std::move(options));
  const auto answer_to = [&server](std::string_view rest) {
    RawClient client(server.port());
    client.send("POST /x HTTP/1.1\r\nX-Who: me\r\n" + std::string(rest));
    Answer answer = client.read_answer().value_or(Answer{});
    EXPECT_EQ(client.read_all(), "");
    EXPECT_TRUE(answer.has("Connection: close")) << answer.head;
    return answer;
  };

  const Answer large = answer_to("Host: a\r\nContent-Length: 101\r\n\r\n");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.body, "/x: the body is too large");
  EXPECT_TRUE(large.has("X-Who: me"));
  const Answer late = answer_to("Host: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(late.body, "/x: the request did not arrive in time");
  const Answer malformed = answer_to("Content-Length: 101\r\n\r\n");
  EXPECT_EQ(malformed.status, 400);
  EXPECT_TRUE(malformed.body.starts_with(R"({"error":")")) << malformed.body;
}

TEST(Exchange, AConnectionEndsAfterItsLastAllowedRequest) {
  ServerOptions options;
  options.limits.requests_per_connection_max = 3;
  TestServer server(std::move(options));
  RawClient client(server.port());

  client.send(get("/1") + get("/2") + get("/3") + get("/4"));

  EXPECT_EQ(client.read_answer()->head.find("Connection: close"), std::string::npos);
  EXPECT_EQ(client.read_answer()->head.find("Connection: close"), std::string::npos);
  EXPECT_NE(client.read_all().find("Connection: close"), std::string::npos);
  EXPECT_EQ(server.targets(), (std::vector<std::string>{"/1", "/2", "/3"}));
}

TEST(Exchange, ByDefaultAConnectionServesAThousandRequests) {
  constexpr int allowed = 1'000;
  TestServer server;
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 1 + allowed; ++i) all += get("/x");

  std::thread sender([&] { client.send(all); });

  for (int i = 1; i < allowed; ++i) {
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer);
    ASSERT_FALSE(answer->has("Connection: close")) << i;
  }
  EXPECT_TRUE(client.read_answer()->has("Connection: close"));
  EXPECT_EQ(client.read_all(), "");
  sender.join();
  EXPECT_EQ(server.targets().size(), std::size_t{allowed});
  RawClient next(server.port());
  next.send(get("/y"));
  EXPECT_EQ(next.read_answer()->status, 200);
}

TEST(Exchange, ADroppedResponderAnswers500) {
  TestServer server;
  RawClient client(server.port());

  client.send(get("/drop") + get("/throw") + get("/x"));

  const auto dropped = client.read_answer();
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->status, 500);
  EXPECT_EQ(dropped->body, "{\"error\":\"the request was dropped without an answer\"}");
  EXPECT_EQ(client.read_answer()->status, 500);
  EXPECT_EQ(client.read_answer()->body, "GET /x ");
}

TEST(Exchange, AnAnswerFromAnyThreadArrives) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold") + get("/hold"));
  auto posted = server.held().take();
  auto direct = server.held().take();

  std::thread([entry = std::move(direct)]() mutable {
    entry.responder({.body = "direct"});
  }).join();
  answer_with(std::move(posted), "posted");

  EXPECT_EQ(client.read_answer()->body, "posted");
  EXPECT_EQ(client.read_answer()->body, "direct");
}

TEST(Exchange, AnAnswerToAConnectionThatIsGoneIsDropped) {
  TestServer server;
  Held::Entry entry;
  {
    RawClient client(server.port());
    client.send(get("/hold"));
    entry = server.held().take();
  }
  // The half-closed socket of the client is only known to be gone once it resets.
  answer_with(std::move(entry), std::string(1U << 20U, 'x'));

  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.connections_open == 0; }));
}

TEST(Exchange, DeferredWorkRunsAfterTheHandlersThatAreReady) {
  TestServer server;
  IoThread& thread = *server.server().threads().front();
  std::mutex mutex;
  std::condition_variable changed;
  std::string order;
  const auto note = [&](char what) {
    const std::scoped_lock lock(mutex);
    order += what;
    changed.notify_all();
  };

  thread.post([&] {
    thread.post([&] { note('b'); });
    thread.post([&] { note('c'); });
    thread.defer([&] { note('d'); });
    note('a');
  });

  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, patience, [&] { return order.size() == 4; }));
  EXPECT_EQ(order, "abcd");
}

TEST(Exchange, TheClientSpeaksToTheServer) {
  TestServer server;
  const std::string base = "http://127.0.0.1:" + std::to_string(server.port());

  const auto answer = net::fetch({.method = "POST", .url = base + "/x?y", .body = "hello"});
  const auto head = net::fetch({.method = "HEAD", .url = base + "/x"});
  const auto big = net::fetch({.url = base + "/big"});

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /x?y hello");
  EXPECT_EQ(answer->header("server"), "hikyaku");
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->body, "");
  ASSERT_TRUE(big) << big.error().message;
  EXPECT_EQ(big->body.size(), 32U << 20U);
}

TEST(Exchange, TheClientGivesUpAtItsTimeout) {
  TestServer server;

  const auto answer = net::fetch(
      {.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/hold", .timeout = 2s});

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::unknown_outcome);
}

}  // namespace hk::http::test
