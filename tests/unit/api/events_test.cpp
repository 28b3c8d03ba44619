#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using core::EventKind;

Moment at(std::int64_t ms) { return now + Millis{ms}; }

class Events : public ApiTest {
 protected:
  void log(std::int64_t ms, std::uint64_t batch, std::vector<core::EventRef> refs,
           core::TenantId tenant = core::TenantId{1}) {
    submitter.reader->put<core::Events>({tenant, at(ms), batch, std::move(refs)});
  }

  /// Message 1 failed after one retry; its events are in the log as the core writes them.
  void store_failed_one() {
    core::Message message;
    message.body = "abc";
    message.labels = {"red"};
    core::Attempt first;
    first.fence = {1, 1};
    first.started_at = at(1);
    first.ended_at = at(2);
    first.response_status = 500;
    first.error = "status 500";
    first.response_body = "no";
    first.response_headers = {{"x-h", "1"}};
    core::Attempt second = first;
    second.fence = {1, 2};
    second.started_at = at(10);
    second.ended_at = at(11);
    second.response_status = 0;
    second.error = "timeout";
    core::MessageState state;
    state.status = core::Status::failed;
    state.attempts = 2;
    state.finished_at = at(11);
    state.in_dlq = true;
    state.last = second;
    store(core::Seq{1}, message, state);
    submitter.reader->rows<core::Attempt>()[{core::Seq{1}, 1}] = first;
    const core::Seq one{1};
    log(0, 1, {{one, EventKind::created, 0}});
    log(1, 2, {{one, EventKind::active, 1}});
    log(2, 3, {{one, EventKind::error, 1}, {one, EventKind::retry, 1}});
    log(10, 4, {{one, EventKind::active, 2}});
    log(11, 5, {{one, EventKind::error, 2}, {one, EventKind::failed, 2}});
  }

  boost::json::array page(const std::string& query, const std::string& path = "/v2/events") {
    const http::Response response = call("GET", path + query);
    EXPECT_EQ(response.status, 200) << query << response.body;
    cursor.reset();
    if (response.status != 200) {
      return {};
    }
    const boost::json::value body = json(response);
    if (const auto* const more = body.get_object().if_contains("cursor")) {
      cursor = std::string(more->as_string());
    }
    return body.at("events").as_array();
  }
  std::vector<std::string> states(const std::string& query) {
    std::vector<std::string> names;
    for (const boost::json::value& one : page(query)) {
      names.emplace_back(one.at("state").as_string());
    }
    return names;
  }
  std::optional<std::string> cursor;
};

using Names = std::vector<std::string>;
const Names whole_story = {"CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "FAILED"};

TEST_F(Events, TheLogAndTheMessageTellTheSameStory) {
  store_failed_one();
  const std::string id = core::to_text(id_of(core::Seq{1}));

  EXPECT_EQ(states("?order=earliestFirst"), whole_story);
  EXPECT_EQ(states("?order=earliestFirst&messageId=" + id), whole_story);
  EXPECT_EQ(page("?order=earliestFirst"), page("?order=earliestFirst&messageIds=" + id));
  EXPECT_EQ(page(""), page("?messageId=" + id));
  EXPECT_EQ(states(""), Names(whole_story.rbegin(), whole_story.rend()));
}

TEST_F(Events, AnErrorCarriesTheAnswerAndARetryItsTime) {
  store_failed_one();

  const boost::json::array events = page("?order=earliestFirst");

  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[0], boost::json::parse(R"({"time":1700000000000,"messageId":")" +
                                          core::to_text(id_of(core::Seq{1})) +
                                          R"(","state":"CREATED","url":"https://example.com/hook",
      "method":"POST","header":{},"body":"YWJj","nextDeliveryTime":1700000000000,"maxRetries":3,
      "label":"red","labels":["red"]})"));
  const boost::json::object& error = events[2].as_object();
  EXPECT_EQ(error.at("error"), "status 500");
  EXPECT_EQ(error.at("responseStatus"), 500);
  EXPECT_EQ(error.at("responseBody"), "bm8=");
  EXPECT_EQ(error.at("responseHeaders"), boost::json::parse(R"({"X-H":["1"]})"));
  EXPECT_EQ(error.at("responseHeader"), error.at("responseHeaders"));
  EXPECT_FALSE(error.contains("nextDeliveryTime"));
  EXPECT_EQ(events[3].as_object().at("nextDeliveryTime"), 1'700'000'000'010);
  EXPECT_EQ(events[5].as_object().at("error"), "timeout");
  EXPECT_FALSE(events[5].as_object().contains("responseStatus"));
  EXPECT_FALSE(events[6].as_object().contains("error"));
}

TEST_F(Events, SettingsOfTheMessageAreShownAndRedactionHolds) {
  core::Message message;
  message.body = "abc";
  message.redact = {"body"};
  message.timeout = Millis{30'000};
  message.retry.delay = core::ExpressionDelay{"1000"};
  message.queue = "orders";
  store(core::Seq{1}, message);
  log(0, 1, {{core::Seq{1}, EventKind::created, 0}});

  const boost::json::object event = page("").at(0).as_object();

  EXPECT_EQ(event.at("timeout"), 30'000);
  EXPECT_EQ(event.at("retryDelayExpr"), "1000");
  EXPECT_EQ(event.at("retryDelayExpression"), "1000");
  EXPECT_EQ(event.at("queueName"), "orders");
  EXPECT_TRUE(std::string(event.at("body").as_string()).starts_with("UkVEQUNURUQ6"))
      << "REDACTED: in base64";
  EXPECT_FALSE(page("?trimBody=0").at(0).as_object().contains("body"));
}

TEST_F(Events, ARunningAttemptIsTold) {
  const std::string id = store(core::Seq{1});
  submitter.answer = [](core::Command& command) -> core::Reply {
    EXPECT_TRUE(command.is<core::Inspect>());
    core::Inspected running;
    running.running = true;
    running.fence = {1, 1};
    running.started_at = at(3);
    return running;
  };

  EXPECT_EQ(states("?messageId=" + id), (Names{"ACTIVE", "CREATED"}));
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::unavailable, "busy");
  };
  EXPECT_EQ(states("?messageId=" + id), (Names{"CREATED"}));
}

TEST_F(Events, EveryFilterSelects) {
  store_failed_one();
  core::Message other;
  other.url = "http://b.example:8080/path/x?q=1";
  other.host = "http://b.example:8080";
  other.created_at = at(20);
  other.queue = "orders";
  other.caller_ip = "192.0.2.9";
  other.flow_key = "key";
  const std::string id2 = store(core::Seq{2}, other);
  log(20, 6, {{core::Seq{2}, EventKind::created, 0}});
  core::Message tls;
  tls.url = "https://c.example/";
  tls.host = "https://c.example:443";
  store(core::Seq{3}, tls);
  log(30, 7, {{core::Seq{3}, EventKind::created, 0}});
  const std::string id1 = core::to_text(id_of(core::Seq{1}));

  const std::pair<std::string, std::size_t> rows[] = {
      {"", 9},
      {"?state=CREATED", 3},
      {"?state=IN_PROGRESS", 5},
      {"?state=FAILED&label=red", 1},
      {"?state=CANCELLED", 0},
      {"?state=CANCELED", 0},
      {"?label=red", 7},
      {"?queueName=orders", 1},
      {"?url=http://b.example:8080/path/x?q=1", 1},
      {"?host=b.example", 1},
      {"?host=B.example:8080", 1},
      {"?host=b.example:80", 0},
      {"?host=c.example:443", 1},
      {"?host=c.example&host=b.example", 2},
      {"?path=/path/x", 1},
      {"?path=/", 1},
      {"?callerIp=192.0.2.9", 1},
      {"?flowControlKey=key", 1},
      {"?topicName=x", 0},
      {"?scheduleId=x", 0},
      {"?fromDate=1700000000010&toDate=1700000000020", 4},
      {"?fromDate=1700000000010&toDate=1700000000020&messageIds=" + id1 + "," + id2, 4},
      {"?messageIds=" + id1 + "&messageIds=" + id2, 8},
      {"?messageId=" + id1 + "&messageId=" + id1, 7},
      {"?messageId=" + id1 + "&state=ERROR", 2},
      {"?messageId=" + id1 + "&queueName=orders", 0},
      {"?messageId=nonsense", 0},
      {"?groupBy=messageId&trimBody=0", 9},
      {"?count=3", 3},
      {"?cursor=1700000000002", 4},
      {"?cursor=1700000000002&messageId=" + id1, 4},
      {"?cursor=1700000000002&toDate=1700000000001", 2},
  };
  for (const auto& [query, count] : rows) {
    EXPECT_EQ(page(query).size(), count) << query;
  }
}

TEST_F(Events, WhatIsNotUnderstoodIsRefused) {
  const std::string id = store(core::Seq{1});
  for (const std::string query :
       {"?unknown=1", "?state=LOST", "?state=ACTIVE&state=ERROR", "?count=0", "?order=up",
        "?cursor=x", "?cursor=1-2-3-4", "?fromDate=x"}) {
    EXPECT_EQ(call("GET", "/v2/events" + query).status, 400) << query;
    EXPECT_EQ(call("GET", "/v2/logs" + query).status, 400) << query;
    EXPECT_EQ(call("GET", "/v2/events" + query + "&messageId=" + id).status, 400) << query;
  }
  std::string many = "?messageIds=" + id;
  for (int i = 0; i < 100; ++i) {
    many += "," + id;
  }
  EXPECT_EQ(call("GET", "/v2/events" + many).status, 400);
}

TEST_F(Events, PagesEndAnywhereInABatchAndNothingIsToldTwice) {
  store_failed_one();
  const std::string id = core::to_text(id_of(core::Seq{1}));
  for (const std::string& which : {std::string(), "&messageId=" + id}) {
    for (const std::string order : {"earliestFirst", "latestFirst"}) {
      for (std::size_t count = 1; count <= 8; ++count) {
        SCOPED_TRACE(which + order + std::to_string(count));
        const std::string query = "?order=" + order + "&count=" + std::to_string(count) + which;
        Names seen = states(query);
        while (cursor) {
          const Names more = states(query + "&cursor=" + *cursor);
          ASSERT_FALSE(more.empty()) << "a cursor that leads nowhere";
          seen.insert(seen.end(), more.begin(), more.end());
          ASSERT_LE(seen.size(), whole_story.size());
        }
        EXPECT_EQ(seen, order == "earliestFirst" ? whole_story
                                                 : Names(whole_story.rbegin(), whole_story.rend()));
      }
    }
  }
}

TEST_F(Events, ALongScanEndsWithACursorThatLeadsOn) {
  store_failed_one();
  options.scanned_per_listing_max = 3;

  Names seen = states("?state=FAILED&order=earliestFirst");
  EXPECT_TRUE(seen.empty());
  int pages = 1;
  while (cursor) {
    seen = states("?state=FAILED&order=earliestFirst&cursor=" + *cursor);
    ++pages;
  }
  EXPECT_EQ(seen, Names{"FAILED"});
  EXPECT_EQ(pages, 3);
}

TEST_F(Events, WhatIsReadAndDoesNotFitCountsAgainstTheBytesOfAPage) {
  options.listing_bytes_max = 1000;
  core::Message large;
  large.body = std::string(800, 'x');
  for (std::uint64_t i = 1; i <= 6; ++i) {
    large.labels = {i == 6 ? "wanted" : "other"};
    store(core::Seq{i}, large);
    log(static_cast<std::int64_t>(i), i, {{core::Seq{i}, EventKind::created, 0}});
  }

  Names seen = states("?label=wanted&order=earliestFirst");
  EXPECT_TRUE(seen.empty());
  int pages = 1;
  while (cursor && pages < 10) {
    seen = states("?label=wanted&order=earliestFirst&cursor=" + *cursor);
    ++pages;
  }
  EXPECT_EQ(seen, Names{"CREATED"});
  EXPECT_EQ(pages, 3);
}

TEST_F(Events, ManyBatchesAreReadInPieces) {
  store(core::Seq{1});
  for (std::uint64_t i = 1; i <= 100; ++i) {
    log(static_cast<std::int64_t>(i), i, {{core::Seq{1}, EventKind::created, 0}});
  }

  EXPECT_EQ(page("?count=1000").size(), 100U);
  EXPECT_FALSE(cursor);
  EXPECT_EQ(page("").size(), 100U);
  EXPECT_EQ(page("?count=99").size(), 99U);
  EXPECT_TRUE(cursor);
}

TEST_F(Events, EventsOfPurgedMessagesAndOtherTenantsAreNotShown) {
  log(1, 1, {{core::Seq{77}, EventKind::created, 0}});
  core::Message foreign;
  foreign.tenant = core::TenantId{2};
  const std::string id = store(core::Seq{5}, foreign);
  log(2, 2, {{core::Seq{5}, EventKind::created, 0}}, core::TenantId{2});

  EXPECT_EQ(call("GET", "/v2/events").body, R"({"events":[]})");
  EXPECT_EQ(call("GET", "/v2/events?messageId=" + id).body, R"({"events":[]})");
}

TEST_F(Events, LogsCarryTheArrayUnderBothNames) {
  store_failed_one();

  const boost::json::value body = json(call("GET", "/v2/logs?count=2"));

  EXPECT_EQ(body.at("logs").as_array().size(), 2U);
  EXPECT_EQ(body.at("logs"), body.at("events"));
  EXPECT_TRUE(body.get_object().contains("cursor"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
