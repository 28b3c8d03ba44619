#include "api/qstash/publish_options.h"

#include <gtest/gtest.h>

#include "base/ascii.h"
#include "fixture.h"

namespace hk::api::qstash {
namespace HK_TEST_FILE {

using testing::now;

struct Read {
  Result<void> result;
  core::Message message{};
  std::optional<core::FlowKey> flow{};
};

Options test_options() {
  Options options;
  options.check_destination = [](std::string_view) -> Result<std::string> {
    return "https://h:443";
  };
  options.check_header = [](std::string_view name, std::string_view) -> Result<void> {
    if (equals_ignoring_case(name, "x-bad")) {
      return fail(ErrorKind::invalid_argument, "header X-Bad may not be forwarded");
    }
    return {};
  };
  return options;
}

Read read(std::vector<net::Field> fields, QueryOptions query = {}, std::string queue = {},
          const Options& options = test_options()) {
  Read out;
  core::Publish command{.message = std::make_unique<core::Message>()};
  command.message->tenant = core::TenantId{1};
  command.message->url = "https://h/x";
  command.message->body = "body";
  command.message->queue = std::move(queue);
  out.result = read_publish_options(options, now, fields, std::move(query), command);
  out.message = std::move(*command.message);
  out.flow = std::move(command.flow);
  if (command.delay > Millis{0}) {  // as the core does it
    out.message.not_before = std::max(out.message.not_before, now + command.delay);
  }
  return out;
}

TEST(PublishOptions, WithoutAnyTheDefaultsApply) {
  const Read got = read({{"User-Agent", "x"}, {"Host", "h"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.method, "POST");
  EXPECT_TRUE(got.message.headers.empty());
  EXPECT_EQ(got.message.retry, core::RetryPolicy{});
  EXPECT_EQ(got.message.timeout, Millis{7'200'000});
  EXPECT_EQ(got.message.not_before, Moment{});
  EXPECT_TRUE(got.message.dedup_id.empty());
  EXPECT_FALSE(got.flow);
}

TEST(PublishOptions, ABadValueNamesItsHeader) {
  const std::pair<std::string, std::string> rows[] = {
      {"Upstash-Method", "TRACE"},
      {"Upstash-Delay", "soon"},
      {"Upstash-Delay", ""},
      {"Upstash-Not-Before", "tomorrow"},
      {"Upstash-Not-Before", "-1"},
      {"Upstash-Not-Before", "99999999999999"},
      {"Upstash-Retries", "-1"},
      {"Upstash-Retries", "three"},
      {"Upstash-Retries", "1001"},
      {"Upstash-Retry-Delay", "1 +"},
      {"Upstash-Retry-Delay", "system(1)"},
      {"Upstash-Timeout", "0s"},
      {"Upstash-Timeout", "3h"},
      {"Upstash-Timeout", "x"},
      {"Upstash-Content-Based-Deduplication", "maybe"},
      {"Upstash-Deduplication-Id", ""},
      {"Upstash-Header-Forward", "yes"},
      {"Upstash-Redact-Fields", "url"},
      {"Upstash-Redact-Fields", "header[]"},
      {"Upstash-Redact-Fields", ""},
      {"Upstash-Flow-Control-Value", "rate=1"},
      {"Upstash-Flow-Control-Key", "key"},
      {"Upstash-Queue-Name", "a b"},
      {"Upstash-Callback", "nowhere"},
      {"Upstash-Callback", ""},
      {"Upstash-Failure-Callback", "ftp://h/cb"},
      {"Upstash-Cron", "* * * * *"},
  };
  for (const auto& [name, value] : rows) {
    SCOPED_TRACE(name + ": " + value);

    const Read got = read({{name, value}});

    ASSERT_FALSE(got.result);
    EXPECT_EQ(got.result.error().kind, ErrorKind::invalid_argument);
    EXPECT_TRUE(got.result.error().message.starts_with(name + ": ")) << got.result.error().message;
  }
}

TEST(PublishOptions, LabelsAndRedactedFieldsAreBoundedInNumberAndBytes) {
  const auto list = [](std::size_t count, const std::string& one) {
    std::string text = one;
    for (std::size_t i = 1; i < count; ++i) {
      text += "," + one;
    }
    return text;
  };
  EXPECT_EQ(read({{"Upstash-Label", list(64, "l")}}).message.labels.size(), 64U);
  EXPECT_EQ(read({{"Upstash-Redact-Fields", list(64, "header[x]")}}).message.redact.size(), 64U);
  EXPECT_TRUE(read({{"Upstash-Label", std::string(8192, 'l')}}).result);

  const std::pair<std::string, std::string> rows[] = {
      {"Upstash-Label", list(65, "l")},
      {"Upstash-Label", std::string(8193, 'l')},
      {"Upstash-Redact-Fields", list(65, "body")},
      {"Upstash-Redact-Fields", "header[" + std::string(8192, 'x') + "]"},
  };
  for (const auto& [name, value] : rows) {
    const Read got = read({{name, value}});

    ASSERT_FALSE(got.result) << name;
    EXPECT_EQ(got.result.error().kind, ErrorKind::invalid_argument);
    EXPECT_EQ(got.result.error().message, name + ": at most 64 of them and 8192 bytes together");
  }
}

TEST(PublishOptions, GoodValuesAreTaken) {
  struct Row {
    net::Field field;
    bool (*holds)(const core::Message&);
  };
  using core::Message;
  const Row rows[] = {
      {{"upstash-method", "get"}, [](const Message& m) { return m.method == "GET"; }},
      {{"UPSTASH-METHOD", "DELETE"}, [](const Message& m) { return m.method == "DELETE"; }},
      {{"Upstash-Delay", "1m"},
       [](const Message& m) { return m.not_before == now + Millis{60'000}; }},
      {{"Upstash-Not-Before", "1700000001"},
       [](const Message& m) { return m.not_before == now + Millis{1'000}; }},
      {{"Upstash-Not-Before", "1"},
       [](const Message& m) { return m.not_before == moment_from_ms(1000); }},
      {{"Upstash-Retries", "0"}, [](const Message& m) { return m.retry.retries_max == 0; }},
      {{"Upstash-Retries", "1000"}, [](const Message& m) { return m.retry.retries_max == 1000; }},
      {{"Upstash-Retry-Delay", "1000 * (1 + retried)"},
       [](const Message& m) {
         return m.retry.delay == core::RetryDelay(core::ExpressionDelay{"1000 * (1 + retried)"});
       }},
      {{"Upstash-Timeout", "1.5"}, [](const Message& m) { return m.timeout == Millis{1'500}; }},
      {{"Upstash-Timeout", "2h"}, [](const Message& m) { return m.timeout == Millis{7'200'000}; }},
      {{"Upstash-Label", "a, b,,c"},
       [](const Message& m) {
         return m.labels == std::vector<std::string>{"a", "b", "c"};
       }},
      {{"Upstash-Redact-Fields", "body, header[Authorization],headers"},
       [](const Message& m) {
         return m.redact == std::vector<std::string>{"body", "header:authorization", "header"};
       }},
      {{"Upstash-Queue-Name", "q.1"}, [](const Message& m) { return m.queue == "q.1"; }},
      {{"Upstash-Content-Based-Deduplication", "True"},
       [](const Message& m) { return m.dedup_id.starts_with("c:"); }},
      {{"Upstash-Content-Based-Deduplication", "false"},
       [](const Message& m) { return m.dedup_id.empty(); }},
      {{"Upstash-Deduplication-Id", "x"},
       [](const Message& m) { return m.dedup_id.starts_with("i:"); }},
      {{"Upstash-Telemetry-Sdk", "js"}, [](const Message& m) { return m.headers.empty(); }},
      {{"Upstash-Workflow-RunId", "x"}, [](const Message& m) { return m.headers.empty(); }},
      {{"Content-Type", "text/plain"},
       [](const Message& m) {
         return m.headers == std::vector<core::Header>{{"Content-Type", "text/plain"}};
       }},
      {{"Upstash-Forward-Authorization", "Bearer x"},
       [](const Message& m) {
         return m.headers == std::vector<core::Header>{{"Authorization", "Bearer x"}};
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.field.name + ": " + row.field.value);

    const Read got = read({row.field});

    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_TRUE(row.holds(got.message));
  }
}

TEST(PublishOptions, NotBeforeWinsOverDelay) {
  const Read got = read({{"Upstash-Delay", "1h"}, {"Upstash-Not-Before", "1700000005"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.not_before, now + Millis{5'000});
}

TEST(PublishOptions, ADelayBeyondTheMaximumIsRefused) {
  Options options = test_options();
  options.delay_max = Millis{60'000};

  EXPECT_TRUE(read({{"Upstash-Delay", "60s"}}, {}, "", options).result);
  EXPECT_FALSE(read({{"Upstash-Delay", "61s"}}, {}, "", options).result);
  EXPECT_FALSE(read({{"Upstash-Not-Before", "1700000061"}}, {}, "", options).result);
}

TEST(PublishOptions, AQueueAllowsNoDelay) {
  EXPECT_TRUE(read({}, {}, "orders").result);
  for (const std::string name : {"Upstash-Delay", "Upstash-Not-Before"}) {
    const Read got = read({{name, "1"}}, {}, "orders");
    ASSERT_FALSE(got.result);
    EXPECT_TRUE(got.result.error().message.starts_with(name));
  }
  EXPECT_FALSE(read({{"Upstash-Queue-Name", "orders"}, {"Upstash-Delay", "1s"}}).result);
}

TEST(PublishOptions, AnOptionGivenTwiceIsRefused) {
  EXPECT_FALSE(read({{"Upstash-Retries", "1"}, {"upstash-retries", "2"}}).result);
}

TEST(PublishOptions, TheQueryGivesOptionsAndAHeaderWins) {
  const Read got =
      read({{"Upstash-Retries", "1"}, {"Upstash-Forward-X-A", "header"}}, {{"retries", "7"},
                                                                           {"delay", "10s"},
                                                                           {"forward-x-a", "query"},
                                                                           {"forward-x-b", "query"},
                                                                           {"unknown", "x"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.retry.retries_max, 1U);
  EXPECT_EQ(got.message.not_before, now + Millis{10'000});
  const std::vector<core::Header> expected = {{"X-A", "header"}, {"x-b", "query"}};
  EXPECT_EQ(got.message.headers, expected);
}

TEST(PublishOptions, AForwardedContentTypeReplacesTheRequests) {
  const Read got = read({{"Content-Type", "text/plain"}, {"Upstash-Forward-content-type", "a/b"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.headers, (std::vector<core::Header>{{"content-type", "a/b"}}));
}

TEST(PublishOptions, HeaderForwardPassesOnTheRestButNothingOfOurs) {
  const Read got = read({{"Authorization", "Bearer secret"},
                         {"Host", "h"},
                         {"Content-Length", "4"},
                         {"Connection", "keep-alive, X-Hop"},
                         {"X-Hop", "1"},
                         {"Transfer-Encoding", "chunked"},
                         {"traceparent", "t"},
                         {"Upstash-Header-Forward", "true"},
                         {"Upstash-Retries", "1"},
                         {"X-Bad", "refused by the check"},
                         {"Content-Type", "text/plain"},
                         {"X-Mine", "1"},
                         {"User-Agent", "ua"}});

  ASSERT_TRUE(got.result);
  const std::vector<core::Header> expected = {
      {"Content-Type", "text/plain"}, {"X-Mine", "1"}, {"User-Agent", "ua"}};
  EXPECT_EQ(got.message.headers, expected);
}

TEST(PublishOptions, WhatBelongsToAConnectionIsLeftOutOfTheForwardedHeaders) {
  std::vector<net::Field> fields = {{"Upstash-Forward-X-A", "1"}};
  for (const char* const name : {"Host", "connection", "Content-Length", "Transfer-Encoding",
                                 "Keep-Alive", "Expect", "TE", "Upgrade", "Trailer"}) {
    fields.push_back({"Upstash-Forward-" + std::string(name), "v"});
  }

  const Read got = read(fields, {{"forward-host", "evil"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.headers, (std::vector<core::Header>{{"X-A", "1"}}));
}

TEST(PublishOptions, ForwardedHeadersAreCheckedAndBounded) {
  EXPECT_FALSE(read({{"Upstash-Forward-X-Bad", "1"}}).result);

  std::vector<net::Field> many;
  for (int i = 0; i < 65; ++i) {
    many.push_back({"Upstash-Forward-X-" + std::to_string(i), "v"});
  }
  EXPECT_FALSE(read(many).result);
  many.pop_back();
  EXPECT_TRUE(read(many).result);
  EXPECT_FALSE(read({{"Upstash-Forward-X-Large", std::string(16 * 1024, 'x')}}).result);
}

TEST(PublishOptions, ADedupIdLeavesTheDestinationToTheCore) {
  const auto id = [](std::string url, std::string name, std::string value) {
    core::Publish command{.message = std::make_unique<core::Message>()};
    command.message->url = std::move(url);
    std::vector<net::Field> fields = {{std::move(name), std::move(value)}};
    EXPECT_TRUE(read_publish_options(test_options(), now, fields, {}, command));
    return command.message->dedup_id;
  };

  for (const auto& [name, value] : {std::pair{"Upstash-Deduplication-Id", "x"},
                                    {"Upstash-Content-Based-Deduplication", "true"}}) {
    EXPECT_EQ(id("https://a", name, value), id("https://b", name, value));
    EXPECT_EQ(id("https://a", name, value).find(' '), std::string::npos) << "the core's separator";
  }
  EXPECT_NE(id("https://a", "Upstash-Deduplication-Id", "x"),
            id("https://a", "Upstash-Deduplication-Id", "y"));
}

TEST(PublishOptions, TheContentHashCoversBodyAndHeadersInAnyOrder) {
  const net::Field flag{"Upstash-Content-Based-Deduplication", "true"};
  const net::Field a{"Upstash-Forward-A", "1"};
  const net::Field b{"Upstash-Forward-B", "2"};
  const net::Field type{"Content-Type", "text/plain"};
  const std::string both = read({flag, a, b}).message.dedup_id;

  EXPECT_EQ(both, read({flag, b, a}).message.dedup_id);
  EXPECT_NE(both, read({flag, a}).message.dedup_id);
  EXPECT_NE(both, read({flag, a, b, type}).message.dedup_id);
  EXPECT_NE(both, read({flag, a, {"Upstash-Forward-B", "3"}}).message.dedup_id);
  EXPECT_EQ(both, read({flag, a, b, {"Upstash-Retries", "9"}}).message.dedup_id);
  EXPECT_TRUE(read({flag, {"Upstash-Deduplication-Id", "x"}}).message.dedup_id.starts_with("i:"));
}

TEST(FlowValue, ReadsPartsInAnyOrderAndRefusesTheRest) {
  struct Row {
    std::string_view text;
    bool good;
    std::uint32_t parallelism;
    std::uint32_t rate;
    std::int64_t period_ms;
  };
  const Row rows[] = {
      {"parallelism=3, rate=10, period=1m", true, 3, 10, 60'000},
      {"period=5,rate=2", true, 0, 2, 5'000},
      {" parallelism = 1 ", true, 1, 0, 1'000},
      {"rate=1,period=7d", true, 0, 1, 604'800'000},
      {"", false, 0, 0, 0},
      {"period=1m", false, 0, 0, 0},
      {"rate=0", false, 0, 0, 0},
      {"rate=1,rate=2", false, 0, 0, 0},
      {"rate=1,rate=1", false, 0, 0, 0},
      {"parallelism=1, rate=1, parallelism = 2", false, 0, 0, 0},
      {"rate=1,period=1s,period=1s", false, 0, 0, 0},
      {"rate=1,burst=2", false, 0, 0, 0},
      {"rate=1,Rate=2", false, 0, 0, 0},
      {"rate=2,period=500ms", true, 0, 2, 500},
      {"rate=-1", false, 0, 0, 0},
      {"rate=1,period=8d", false, 0, 0, 0},
      {"rate=1,period=0s", false, 0, 0, 0},
      {"rate", false, 0, 0, 0},
      {"speed=1", false, 0, 0, 0},
      {"parallelism=4294967296", false, 0, 0, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);

    const Result<core::FlowKey> flow = parse_flow_value(core::TenantId{1}, "k", row.text);

    ASSERT_EQ(flow.has_value(), row.good);
    if (row.good) {
      EXPECT_EQ(flow->parallelism, row.parallelism);
      EXPECT_EQ(flow->rate, row.rate);
      EXPECT_EQ(flow->period.count(), row.period_ms);
      EXPECT_EQ(flow->key, "k");
      EXPECT_EQ(flow->tenant, core::TenantId{1});
    }
  }
}

TEST(PublishOptions, FlowControlReachesMessageAndCommand) {
  const Read got = read(
      {{"Upstash-Flow-Control-Key", "a key"}, {"Upstash-Flow-Control-Value", "parallelism=2"}});

  ASSERT_TRUE(got.result);
  EXPECT_EQ(got.message.flow_key, "a key");
  ASSERT_TRUE(got.flow);
  EXPECT_EQ(got.flow->parallelism, 2U);
  EXPECT_FALSE(read({{"Upstash-Flow-Control-Key", std::string(257, 'k')},
                     {"Upstash-Flow-Control-Value", "rate=1"}})
                   .result);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::qstash
