#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Pulled : public ApiTest {
 protected:
  Pulled() {
    add("plain", {});
    add("orders.fifo", {.fifo = true});
    add("by-content.fifo", {.fifo = true, .content_dedup = true});
    add("small", {.bytes_max = 1024});
    add("patient", {.extra = {{"HikyakuExtendedLimits", "true"}}});
    submitter.reader->put<core::Queue>({.tenant = core::TenantId{1}, .name = "pushed"});
    add("gone", {}).deleted = true;
  }
  core::Queue& add(std::string name, core::PullSettings settings) {
    return submitter.reader->put<core::Queue>(
        {.tenant = core::TenantId{1}, .name = std::move(name), .pull = std::move(settings)});
  }
  http::Response enqueue(const std::string& target, std::vector<net::Field> fields = {},
                         std::string body = "hello") {
    return call("POST", "/v2/enqueue/" + target, std::move(fields), std::move(body));
  }
  const core::Publish& published() { return submitter.taken.back().get<core::Publish>(); }
};

std::string noted(const core::Message& message, std::string_view name) {
  for (const core::Header& one : message.pull->system) {
    if (one.name == name) {
      return one.value;
    }
  }
  return {};
}

TEST_F(Pulled, AMessageIsWhatSqsWouldHaveSent) {
  const http::Response response = enqueue(
      "plain", {{"Upstash-Forward-Kind", "order"},
                {"Upstash-Delay", "90s"},
                {"Upstash-Message-Group-Id", "g"},
                {"Upstash-Label", "a,b"},
                {"Content-Type", "text/plain"},
                {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});

  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(response.body, R"({"messageId":")" + core::to_text(id_of(core::Seq{900})) + R"("})");
  const core::Publish& publish = published();
  EXPECT_EQ(publish.delay, Millis{90'000});
  EXPECT_TRUE(publish.own_delay);
  EXPECT_EQ(publish.dedup_window, Millis{300'000});
  const core::Message& message = *publish.message;
  EXPECT_EQ(message.tenant, core::TenantId{1});
  EXPECT_EQ(message.queue, "plain");
  EXPECT_EQ(message.group, "g");
  EXPECT_EQ(message.body, "hello");
  EXPECT_EQ(message.caller_ip, "192.0.2.7");
  EXPECT_EQ(message.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(message.trace.trace_id[0], 0x0a);
  EXPECT_TRUE(message.url.empty() && message.method.empty() && message.headers.empty());
  EXPECT_TRUE(message.dedup_id.empty());
  EXPECT_EQ(message.pull->attributes, (std::vector<core::Attribute>{{"Kind", "String", "order"}}));
  EXPECT_EQ(noted(message, "SenderId"), "000000000000");
}

TEST_F(Pulled, ADelayIsTheQueuesUnlessItIsGiven) {
  struct Row {
    std::string name;
    std::string target;
    std::vector<net::Field> fields;
    bool own;
    Millis delay;
  };
  const Row rows[] = {
      {"none", "plain", {}, false, Millis{0}},
      {"zero", "plain", {{"Upstash-Delay", "0s"}}, true, Millis{0}},
      {"in the query", "plain?upstash-delay=7s", {}, true, Millis{7000}},
      {"a slash behind it", "plain/?upstash-delay=7s", {}, true, Millis{7000}},
      {"a time", "plain", {{"Upstash-Not-Before", "1700000060"}}, true, Millis{60'000}},
      {"a time that is over", "plain", {{"Upstash-Not-Before", "1600000000"}}, true, Millis{0}},
      {"the longest", "plain", {{"Upstash-Delay", "15m"}}, true, Millis{900'000}},
      {"with extended limits", "patient", {{"Upstash-Delay", "30d"}}, true, Millis{2'592'000'000}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_EQ(enqueue(row.target, row.fields).status, 201);
    EXPECT_EQ(published().own_delay, row.own);
    EXPECT_EQ(published().delay, row.delay);
  }
}

TEST_F(Pulled, DeduplicationIsThatOfFifoQueues) {
  const std::string digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  const net::Field group{"Upstash-Message-Group-Id", "g"};
  const net::Field id{"Upstash-Deduplication-Id", "d"};
  const net::Field content{"Upstash-Content-Based-Deduplication", "true"};
  const struct {
    std::string queue;
    std::vector<net::Field> fields;
    std::string dedup_id;
  } rows[] = {{"orders.fifo", {group, id}, "d"},
              {"orders.fifo", {group, content}, digest},
              {"orders.fifo", {group, content, id}, "d"},
              {"by-content.fifo", {group}, digest},
              {"by-content.fifo", {group, id}, "d"}};
  for (const auto& row : rows) {
    ASSERT_EQ(enqueue(row.queue, row.fields).status, 201);
    EXPECT_EQ(published().message->dedup_id, row.dedup_id);
    EXPECT_EQ(noted(*published().message, "MessageDeduplicationId"), row.dedup_id);
  }
}

TEST_F(Pulled, WhatIsWrongIsToldAndNothingIsSubmitted) {
  const net::Field group{"Upstash-Message-Group-Id", "g"};
  struct Row {
    std::string target;
    std::vector<net::Field> fields;
    std::string body;
    std::string_view error;
  };
  std::vector<Row> rows = {
      {"nobody", {}, "x", "a non-empty destination must be provided"},
      {"pushed", {}, "x", "pushed is not such a queue"},
      {"gone", {}, "x", "gone is not such a queue"},
      {"plain", {}, "", "empty"},
      {"plain", {}, "a\x01", "characters"},
      {"small", {}, std::string(1025, 'x'), "1024 bytes"},
      {"plain", {{"Upstash-Forward-A", ""}}, "x", "\"A\""},
      {"plain", {{"Upstash-Forward-AWS.x", "1"}}, "x", "AWS.x"},
      {"plain", {{"Upstash-Forward-A", "1"}, {"Upstash-Forward-A", "2"}}, "x", "Upstash-Forward-A"},
      {"plain", {{"Upstash-Delay", "901s"}}, "x", "Upstash-Delay"},
      {"plain", {{"Upstash-Not-Before", "1700001000"}}, "x", "Upstash-Not-Before"},
      {"plain", {{"Upstash-Delay", "1s"}, {"Upstash-Delay", "1s"}}, "x", "given twice"},
      {"plain", {{"Upstash-Deduplication-Id", "d"}}, "x", "Upstash-Deduplication-Id"},
      {"plain", {{"Upstash-Content-Based-Deduplication", "true"}}, "x", "Upstash-Deduplication-Id"},
      {"plain", {{"Upstash-Content-Based-Deduplication", "x"}}, "x", "must be true or false"},
      {"plain", {{"Upstash-Message-Group-Id", ""}}, "x", "Upstash-Message-Group-Id"},
      {"plain", {{"Upstash-Redact-Fields", "all"}}, "x", "Upstash-Redact-Fields"},
      {"orders.fifo", {}, "x", "Upstash-Message-Group-Id"},
      {"orders.fifo", {group}, "x", "Upstash-Deduplication-Id"},
      {"by-content.fifo", {group, {"Upstash-Delay", "1s"}}, "x", "Upstash-Delay"},
  };
  for (const char* const option :
       {"Method", "Retries", "Retry-Delay", "Timeout", "Callback", "Failure-Callback",
        "Flow-Control-Key", "Flow-Control-Value", "Cron", "Schedule-Id", "Header-Forward",
        "Callback-Method", "Failure-Callback-Retries", "Callback-Forward-X"}) {
    const std::string name = "Upstash-" + std::string(option);
    rows.push_back(
        {"plain", {{name, "1"}}, "x", "not allowed for a message without a destination"});
  }
  for (const Row& row : rows) {
    SCOPED_TRACE(row.target + (row.fields.empty() ? "" : " " + row.fields.back().name));

    const http::Response response = enqueue(row.target, row.fields, row.body);

    EXPECT_EQ(response.status, 400);
    EXPECT_NE(error_of(response).find(row.error), std::string::npos) << response.body;
    EXPECT_TRUE(submitter.taken.empty());
  }
}

TEST_F(Pulled, AQueueOfTheOtherKindIsTheRequestsMistake) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::conflict, "queue plain is pulled from: a message for it has no URL");
  };
  const http::Response response = enqueue("plain/https://h");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(error_of(response), "queue plain is pulled from: a message for it has no URL");
}

TEST_F(Pulled, AGroupIsForThemAlone) {
  const http::Response response = enqueue("pushed/https://h", {{"Upstash-Message-Group-Id", "g"}});
  EXPECT_EQ(response.status, 400);
  EXPECT_TRUE(error_of(response).starts_with("Upstash-Message-Group-Id:"));
}

TEST_F(Pulled, AnItemOfABatchMayBeOne) {
  submitter.answer = [](core::Command& command) -> core::Reply {
    core::BatchPublished all;
    for (std::size_t i = 0; i < command.get<core::PublishBatch>().items.size(); ++i) {
      all.items.emplace_back(core::Published{id_of(core::Seq{i + 1}), false});
    }
    return all;
  };
  const http::Response response = call("POST", "/v2/batch", {}, R"([
    {"queue":"plain","body":"a","headers":{"Upstash-Forward-K":"v"}},
    {"queue":"pushed","body":"b"}, {"destination":"https://h","queue":"pushed"}])");
  const auto told = json(response).as_array();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0], (boost::json::value{{"messageId", core::to_text(id_of(core::Seq{1}))}}));
  EXPECT_TRUE(told[1].as_object().contains("error"));
  EXPECT_EQ(told[2].at("url"), "https://h");
  const auto& items = submitter.taken.back().get<core::PublishBatch>().items;
  ASSERT_EQ(items.size(), 2U);
  EXPECT_TRUE(items[0].message->pull && items[0].message->body == "a");
  EXPECT_EQ(items[0].message->pull->attributes.at(0).name, "K");
  EXPECT_FALSE(items[1].message->pull);
}

TEST_F(Pulled, QueuesSaySoAndHaveNoParallelism) {
  EXPECT_EQ(json(call("GET", "/v2/queues/plain")).at("pulled"), true);
  EXPECT_FALSE(json(call("GET", "/v2/queues/pushed")).as_object().contains("pulled"));
  EXPECT_EQ(call("POST", "/v2/queues", {}, R"({"queueName":"plain","parallelism":2})").status, 400);
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(call("POST", "/v2/queues", {}, R"({"queueName":"plain","paused":true})").status, 200);
  EXPECT_EQ(call("POST", "/v2/queues", {}, R"({"queueName":"gone","parallelism":2})").status, 200);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
