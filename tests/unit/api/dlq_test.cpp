#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

Moment at(std::int64_t ms) { return now + Millis{ms}; }

class DeadLetters : public ApiTest {
 protected:
  /// The seqs of a listing, in its order.
  std::vector<std::uint64_t> listed(const std::string& query) {
    const http::Response response = call("GET", "/v2/dlq" + query);
    EXPECT_EQ(response.status, 200) << query << response.body;
    cursor.reset();
    std::vector<std::uint64_t> seqs;
    if (response.status != 200) {
      return seqs;
    }
    const boost::json::value page = json(response);
    for (const boost::json::value& one : page.at("messages").as_array()) {
      const std::string id(one.at("dlqId").as_string());
      seqs.push_back(std::stoull(id.substr(id.find('-') + 1)));
    }
    if (const auto* const more = page.get_object().if_contains("cursor")) {
      cursor = std::string(more->as_string());
    }
    return seqs;
  }
  std::optional<std::string> cursor;  ///< of the last listing
};

using Seqs = std::vector<std::uint64_t>;

TEST_F(DeadLetters, AnEntryIsTheMessageWithItsLastAnswer) {
  core::Message message;
  message.body = "payload";
  core::Attempt last;
  last.response_status = 500;
  last.response_headers = {{"content-type", "text/plain"}};
  last.response_body = "went wrong";
  const std::string id = store_dead(core::Seq{3}, at(5), message, last);

  const http::Response response = call("GET", "/v2/dlq/" + id);

  EXPECT_EQ(response.status, 200);
  const boost::json::value entry = json(response);
  EXPECT_EQ(entry.at("dlqId").get_string(), "1700000000005-3");
  EXPECT_EQ(entry.at("messageId").get_string(), core::to_text(id_of(core::Seq{3})));
  EXPECT_EQ(entry.at("body"), "payload");
  EXPECT_EQ(entry.at("responseStatus"), 500);
  EXPECT_EQ(entry.at("responseBody"), "went wrong");
  EXPECT_EQ(entry.at("responseHeader"), boost::json::parse(R"({"Content-Type":["text/plain"]})"));
  EXPECT_EQ(json(call("GET", "/v2/dlq")).at("messages").at(0), entry);
}

TEST_F(DeadLetters, WithoutAnAnswerTheErrorIsTold) {
  core::Attempt last;
  last.error = "connection refused";
  const boost::json::value entry =
      json(call("GET", "/v2/dlq/" + store_dead(core::Seq{3}, at(5), {}, last)));

  EXPECT_EQ(entry.at("responseStatus"), 0);
  EXPECT_EQ(entry.at("responseBody"), "connection refused");
}

TEST_F(DeadLetters, AnAnswerThatIsNotTextIsBase64) {
  core::Attempt last;
  last.response_status = 502;
  last.response_body = "\xff";
  const boost::json::value entry =
      json(call("GET", "/v2/dlq/" + store_dead(core::Seq{3}, at(5), {}, last)));

  EXPECT_EQ(entry.at("responseBodyBase64"), "/w==");
  EXPECT_FALSE(entry.get_object().contains("responseBody"));
}

TEST_F(DeadLetters, WhatIsNotThereIs404) {
  core::Message foreign;
  foreign.tenant = core::TenantId{2};
  const std::string other = store_dead(core::Seq{1}, at(1), foreign);

  for (const std::string& id : {other, std::string("1-1"), std::string("nonsense")}) {
    EXPECT_EQ(call("GET", "/v2/dlq/" + id).status, 404) << id;
  }
  EXPECT_EQ(call_as("token-2", "GET", "/v2/dlq/" + other).status, 200);
  EXPECT_TRUE(listed("").empty());
}

TEST_F(DeadLetters, TheEmptyListingHasAnArrayAndNoCursor) {
  EXPECT_EQ(call("GET", "/v2/dlq").body, R"({"messages":[]})");
}

TEST_F(DeadLetters, EveryFilterSelects) {
  core::Message one;
  one.url = "https://a.example/x,y?z";
  one.queue = "orders";
  one.labels = {"red", "blue"};
  one.flow_key = "f,1";
  one.caller_ip = "192.0.2.1";
  one.topic = "group";
  core::Message two;
  two.url = "https://b.example/x";
  two.labels = {"green"};
  two.schedule = "scd_1";
  core::Attempt failed500;
  failed500.response_status = 500;
  core::Attempt failed404;
  failed404.response_status = 404;
  store_dead(core::Seq{1}, at(10), one, failed500);
  store_dead(core::Seq{2}, at(20), two, failed404);
  store_dead(core::Seq{3}, at(30));
  const std::string id2 = core::to_text(id_of(core::Seq{2}));

  const std::pair<std::string, Seqs> rows[] = {
      {"", {1, 2, 3}},
      {"?messageId=" + id2, {2}},
      {"?messageId=" + id2 + "&label=red", {}},
      {"?messageId=nonsense", {}},
      {"?url=https://a.example/x,y?z", {1}},
      {"?url=https://a.example/x%2Cy%3Fz,https://b.example/x", {1, 2}},
      {"?url=https://b.example/x&url=https://example.com/hook", {2, 3}},
      {"?url=https://b.example", {}},
      {"?queueName=orders", {1}},
      {"?queueName=orders,other", {1}},
      {"?label=blue", {1}},
      {"?label=blue&label=green", {1, 2}},
      {"?label=blue,green", {1, 2}},
      {"?label=blue&queueName=other", {}},
      {"?flowControlKey=f,1", {1}},
      {"?flowControlKey=f", {}},
      {"?callerIp=192.0.2.1", {1}},
      {"?callerIP=192.0.2.1", {1}},
      {"?responseStatus=500", {1}},
      {"?responseStatus=500&responseStatus=404", {1, 2}},
      {"?responseStatus=500,404", {1, 2}},
      {"?responseStatus=0", {3}},
      {"?topicName=group", {1}},
      {"?topicName=group,none&topicName=other", {1}},
      {"?topicName=other", {}},
      {"?scheduleId=scd_1", {2}},
      {"?scheduleId=scd_1&topicName=group", {}},
      {"?fromDate=1700000000020", {2, 3}},
      {"?toDate=1700000000020", {1, 2}},
      {"?fromDate=1700000000011&toDate=1700000000029", {2}},
      {"?fromDate=1700000000020&order=latestFirst", {3, 2}},
      {"?toDate=1700000000020&order=latestFirst", {2, 1}},
      {"?dlqIds=1700000000010-1,1700000000030-3", {1, 3}},
      {"?dlqIds=1700000000010-1&dlqIds=9-9", {1}},
      {"?dlqIds=1700000000010-1&label=green", {}},
      {"?order=latestFirst", {3, 2, 1}},
      {"?order=earliestFirst&count=2", {1, 2}},
      {"?count=5000", {1, 2, 3}},
      {"?trimBody=0", {1, 2, 3}},
      {"?qstash_token=x", {1, 2, 3}},
  };
  for (const auto& [query, seqs] : rows) {
    EXPECT_EQ(listed(query), seqs) << query;
  }
}

TEST_F(DeadLetters, WhatIsNotUnderstoodIsRefused) {
  store_dead(core::Seq{1}, at(1));
  for (const std::string query :
       {"?unknown=1", "?host=a", "?path=/x", "?count=0", "?count=x", "?count=-1", "?order=up",
        "?cursor=x", "?cursor=1-2-3", "?fromDate=today", "?toDate=-1", "?responseStatus=ok",
        "?messageId=a&messageId=b", "?label=%zz"}) {
    for (const std::string method : {"GET", "DELETE"}) {
      const http::Response response = call(method, "/v2/dlq" + query);
      EXPECT_EQ(response.status, 400) << method << query << response.body;
      EXPECT_FALSE(error_of(response).empty());
    }
    EXPECT_EQ(call("POST", "/v2/dlq/retry" + query).status, 400) << query;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, TrimBodyLeavesBodiesOut) {
  core::Message message;
  message.body = "payload";
  core::Attempt last;
  last.response_status = 500;
  last.response_body = "answer";
  store_dead(core::Seq{1}, at(1), message, last);

  const boost::json::value entry = json(call("GET", "/v2/dlq?trimBody=0")).at("messages").at(0);

  EXPECT_FALSE(entry.get_object().contains("body"));
  EXPECT_FALSE(entry.get_object().contains("responseBody"));
}

TEST_F(DeadLetters, PagesFollowEachOtherAndTheLastHasNoCursor) {
  for (std::uint64_t i = 1; i <= 6; ++i) {
    store_dead(core::Seq{i}, at(static_cast<std::int64_t>(i / 2)));
  }
  for (const auto& [order, all] :
       {std::pair<std::string, Seqs>{"earliestFirst", {1, 2, 3, 4, 5, 6}},
        std::pair<std::string, Seqs>{"latestFirst", {6, 5, 4, 3, 2, 1}}}) {
    Seqs seen;
    std::string query = "?count=2&order=" + order;
    for (int pages = 0; pages < 3; ++pages) {
      const Seqs page = listed(query + (cursor && pages > 0 ? "&cursor=" + *cursor : ""));
      EXPECT_EQ(page.size(), 2U);
      EXPECT_EQ(cursor.has_value(), pages < 2);
      seen.insert(seen.end(), page.begin(), page.end());
    }
    EXPECT_EQ(seen, all);
  }
}

TEST_F(DeadLetters, ALongScanEndsWithACursorThatLeadsOn) {
  options.scanned_per_listing_max = 10;
  core::Message wanted;
  wanted.labels = {"wanted"};
  for (std::uint64_t i = 1; i <= 25; ++i) {
    store_dead(core::Seq{i}, at(static_cast<std::int64_t>(i)), i == 24 ? wanted : core::Message{});
  }

  EXPECT_EQ(listed("?label=wanted"), Seqs{});
  ASSERT_TRUE(cursor);
  EXPECT_EQ(listed("?label=wanted&cursor=" + *cursor), Seqs{});
  ASSERT_TRUE(cursor);
  EXPECT_EQ(listed("?label=wanted&cursor=" + *cursor), Seqs{24});
  EXPECT_FALSE(cursor);
}

TEST_F(DeadLetters, APageIsBoundedInBytesToo) {
  options.listing_bytes_max = 100;
  core::Message large;
  large.body = std::string(80, 'x');
  for (std::uint64_t i = 1; i <= 3; ++i) {
    store_dead(core::Seq{i}, at(static_cast<std::int64_t>(i)), large);
  }

  EXPECT_EQ(listed(""), Seqs{1});
  ASSERT_TRUE(cursor);
  EXPECT_EQ(listed("?cursor=" + *cursor), Seqs{2});
  EXPECT_EQ(call("GET", "/v2/dlq?dlqIds=1700000000001-1,1700000000002-2").status, 400);
}

TEST_F(DeadLetters, WhatIsReadAndDoesNotFitCountsAgainstTheBytesOfAPage) {
  options.listing_bytes_max = 100;
  core::Message large;
  large.body = std::string(80, 'x');
  core::Message wanted = large;
  wanted.labels = {"wanted"};
  for (std::uint64_t i = 1; i <= 6; ++i) {
    store_dead(core::Seq{i}, at(static_cast<std::int64_t>(i)), i >= 5 ? wanted : large);
  }

  for (const std::string order : {"earliestFirst", "latestFirst"}) {
    const std::string query = "?label=wanted&order=" + order;
    Seqs seen = listed(query);
    std::size_t pages = 1;
    while (cursor && pages < 10) {
      const Seqs more = listed(query + "&cursor=" + *cursor);
      seen.insert(seen.end(), more.begin(), more.end());
      ++pages;
    }
    EXPECT_EQ(seen, order == "earliestFirst" ? (Seqs{5, 6}) : (Seqs{6, 5}));
    EXPECT_GE(pages, 3U) << order;
    EXPECT_LT(pages, 10U) << order;
  }
}

TEST_F(DeadLetters, AParameterHasAtMostAHundredValues) {
  core::Message message;
  message.labels = {"x"};
  store_dead(core::Seq{1}, at(1), message);
  const auto values = [](const std::string& one, int count) {
    std::string list = one;
    for (int i = 1; i < count; ++i) {
      list += "," + one;
    }
    return list;
  };
  EXPECT_EQ(listed("?label=" + values("x", 100)), Seqs{1});
  for (const std::string name : {"label", "queueName", "topicName", "scheduleId", "flowControlKey",
                                 "callerIp", "responseStatus"}) {
    const http::Response response = call("GET", "/v2/dlq?" + name + "=" + values("1", 101));
    EXPECT_EQ(response.status, 400) << name;
    EXPECT_EQ(error_of(response), name + ": at most 100 values in one call, got 101");
  }
  const http::Response urls = call("GET", "/v2/dlq?url=" + values("http://h", 101));
  EXPECT_EQ(error_of(urls), "url: at most 100 values in one call, got 101");
  EXPECT_EQ(call("DELETE", "/v2/dlq?label=" + values("x", 101)).status, 400);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, OneIsDeletedByItsId) {
  const std::string id = store_dead(core::Seq{1}, at(1));

  EXPECT_EQ(call("DELETE", "/v2/dlq/" + id).status, 200);
  const auto& command = submitter.taken.back().get<core::DeleteDeadLetterCommand>();
  EXPECT_EQ(command.tenant, core::TenantId{1});
  EXPECT_EQ(command.key, (core::DeadLetterKey{core::TenantId{1}, at(1), core::Seq{1}}));

  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "gone");
  };
  EXPECT_EQ(call("DELETE", "/v2/dlq/" + id).status, 404);
  EXPECT_EQ(call("DELETE", "/v2/dlq/nonsense").status, 404);
}

TEST_F(DeadLetters, ManyAreDeletedByIdsInQueryOrBodyOrByFilter) {
  core::Message red;
  red.labels = {"red"};
  const std::string a = store_dead(core::Seq{1}, at(1), red);
  const std::string b = store_dead(core::Seq{2}, at(2), red);
  store_dead(core::Seq{3}, at(3));
  struct Row {
    std::string query;
    std::string body;
    std::string answer;
    std::size_t commands;
  };
  const Row rows[] = {
      {"?dlqIds=" + a + "," + b, "", R"({"deleted":2})", 2},
      {"?dlqIds=" + a + "&dlqIds=" + a + "&dlqIds=9-9", "", R"({"deleted":1})", 1},
      {"?dlqIds=" + a + "&label=nobody", "", R"({"deleted":1})", 1},
      {"", R"({"dlqIds":[")" + a + R"("]})", R"({"deleted":1})", 1},
      {"", R"({"dlqIds":null,"label":"red"})", R"({"deleted":2})", 2},
      {"?label=red", "", R"({"deleted":2})", 2},
      {"?label=nobody", "", R"({"deleted":0})", 0},
      {"", "", R"({"deleted":3})", 3},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.query + row.body);
    submitter.taken.clear();

    const http::Response response = call("DELETE", "/v2/dlq" + row.query, {}, row.body);

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, row.answer);
    EXPECT_EQ(submitter.taken.size(), row.commands);
  }
  const http::Response limited = call("DELETE", "/v2/dlq?count=2");
  EXPECT_EQ(json(limited).at("deleted"), 2);
  EXPECT_TRUE(json(limited).get_object().contains("cursor"));
  for (const char* const body :
       {"[]", "{", R"({"other":1})", R"({"dlqIds":[{}]})", R"({"dlqIds":1.5})", R"({"dlqIds":5})",
        R"({"dlqIds":[5]})", R"({"dlqIds":true})"}) {
    EXPECT_EQ(call("DELETE", "/v2/dlq", {}, body).status, 400) << body;
  }
}

TEST_F(DeadLetters, EntriesThatVanishMeanwhileDoNotCount) {
  store_dead(core::Seq{1}, at(1));
  store_dead(core::Seq{2}, at(2));
  submitter.answer = [](core::Command& command) -> core::Reply {
    if (command.get<core::DeleteDeadLetterCommand>().key.seq == core::Seq{1}) {
      return fail(ErrorKind::not_found, "gone");
    }
    return core::Done{};
  };

  EXPECT_EQ(call("DELETE", "/v2/dlq").body, R"({"deleted":1})");
}

TEST_F(DeadLetters, ABulkCallThatWasDoneInPartSaysSo) {
  store_dead(core::Seq{1}, at(1));
  store_dead(core::Seq{2}, at(2));
  submitter.room = 1;

  const http::Response deleted = call("DELETE", "/v2/dlq");
  EXPECT_EQ(deleted.status, 503);
  EXPECT_TRUE(error_of(deleted).starts_with("1 of 2 entries")) << deleted.body;
  const http::Response retried = call("POST", "/v2/dlq/retry");
  EXPECT_EQ(retried.status, 503);
  EXPECT_TRUE(error_of(retried).starts_with("1 of 2 entries")) << retried.body;
}

TEST_F(DeadLetters, OneIsRetriedUnderANewId) {
  const std::string id = store_dead(core::Seq{1}, at(1));

  const http::Response response = call("POST", "/v2/dlq/retry/" + id);

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "{\"messageId\":\"" + core::to_text(id_of(core::Seq{900})) + "\"}");
  EXPECT_EQ(submitter.taken.back().get<core::RetryDeadLetter>().key.seq, core::Seq{1});
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "gone");
  };
  EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id).status, 404);
  EXPECT_EQ(call("POST", "/v2/dlq/retry/nonsense").status, 404);
}

TEST_F(DeadLetters, ManyAreRetriedTogether) {
  const std::string a = store_dead(core::Seq{1}, at(1));
  const std::string b = store_dead(core::Seq{2}, at(2));
  store_dead(core::Seq{3}, at(3));

  EXPECT_EQ(
      json(call("POST", "/v2/dlq/retry?dlqIds=" + a + "," + b)).at("responses").as_array().size(),
      2U);
  const http::Response page = call("POST", "/v2/dlq/retry?count=2");
  EXPECT_EQ(page.status, 201);
  EXPECT_EQ(json(page).at("responses").as_array().size(), 2U);
  EXPECT_TRUE(json(page).get_object().contains("cursor"));
  EXPECT_EQ(call("POST", "/v2/dlq/retry?label=nobody").body, R"({"responses":[]})");
}

TEST_F(DeadLetters, OneUnknownIdAmongSeveralRetriesNone) {
  const std::string a = store_dead(core::Seq{1}, at(1));

  EXPECT_EQ(call("POST", "/v2/dlq/retry?dlqIds=" + a + ",9-9").status, 404);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, OptionsOfTheCallGoWithTheRetry) {
  const std::string id = store_dead(core::Seq{1}, at(1));
  const std::vector<net::Field> fields = {{"Upstash-Retries", "7"},
                                          {"Upstash-Method", "put"},
                                          {"Upstash-Label", "a, b"},
                                          {"Upstash-Timeout", "9s"},
                                          {"Upstash-Retry-Delay", "1000"},
                                          {"Upstash-Forward-X-A", "new"},
                                          {"Upstash-Delay", "1m"},
                                          {"Upstash-Flow-Control-Key", "k"},
                                          {"Upstash-Flow-Control-Value", "parallelism=2"},
                                          {"Content-Type", "of the call"}};
  for (const std::string& target : {"/v2/dlq/retry/" + id, "/v2/dlq/retry?dlqIds=" + id}) {
    SCOPED_TRACE(target);

    EXPECT_EQ(call("POST", target, fields).status, 201);

    const auto& changes = submitter.taken.back().get<core::RetryDeadLetter>().changes;
    ASSERT_NE(changes, nullptr);
    EXPECT_EQ(changes->retries_max, 7U);
    EXPECT_EQ(changes->method, "PUT");
    EXPECT_EQ(changes->labels, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(changes->timeout, Millis{9000});
    EXPECT_EQ(changes->retry_delay, core::RetryDelay{core::ExpressionDelay{"1000"}});
    EXPECT_EQ(changes->headers, (std::vector<core::Header>{{"X-A", "new"}}));
    EXPECT_EQ(changes->delay, Millis{60'000});
    ASSERT_TRUE(changes->flow);
    EXPECT_EQ(changes->flow->key, "k");
    EXPECT_EQ(changes->flow->parallelism, 2U);
  }
}

TEST_F(DeadLetters, OneIsRetriedWithAnotherBodyAndUrl) {
  const std::string id = store_dead(core::Seq{1}, at(1));
  const std::string body("{\"big\":12345678901234567890}\0\xff", 30);

  const http::Response response = call("POST", "/v2/dlq/retry/" + id,
                                       {{"Hikyaku-Replace-Body", "true"},
                                        {"hikyaku-replace-url", "https://b.example/new?x=1"},
                                        {"Upstash-Forward-Content-Type", "application/json"},
                                        {"Content-Type", "of the call"}},
                                       body);

  EXPECT_EQ(response.status, 201) << response.body;
  const auto& changes = submitter.taken.back().get<core::RetryDeadLetter>().changes;
  ASSERT_NE(changes, nullptr);
  EXPECT_EQ(changes->body, body);
  ASSERT_TRUE(changes->to);
  EXPECT_EQ(changes->to->url, "https://b.example/new?x=1");
  EXPECT_EQ(changes->to->host, *options.check_destination("https://b.example/new?x=1"));
  EXPECT_EQ(changes->headers, (std::vector<core::Header>{{"Content-Type", "application/json"}}));
  EXPECT_FALSE(changes->method || changes->retries_max || changes->labels);
}

TEST_F(DeadLetters, AnEmptyBodyIsOneToo) {
  const std::string id = store_dead(core::Seq{1}, at(1));

  EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {{"Hikyaku-Replace-Body", "true"}}).status, 201);

  const auto& changes = submitter.taken.back().get<core::RetryDeadLetter>().changes;
  ASSERT_NE(changes, nullptr);
  EXPECT_EQ(changes->body, "");
  EXPECT_FALSE(changes->to);
}

TEST_F(DeadLetters, ABodyThatSaysNothingChangesNothing) {
  const std::string id = store_dead(core::Seq{1}, at(1));
  for (const char* body : {"", "{}", " {} "}) {
    EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {}, body).status, 201) << body;
    EXPECT_EQ(submitter.taken.back().get<core::RetryDeadLetter>().changes, nullptr) << body;
  }
}

TEST_F(DeadLetters, AnEditThatMakesNoSenseRetriesNothing) {
  options.body_bytes_max = 1000;
  const std::string id = store_dead(core::Seq{1}, at(1));
  const std::string one = "/v2/dlq/retry/" + id;
  const std::string many = "/v2/dlq/retry?dlqIds=" + id;
  struct Row {
    std::string_view name;
    std::string target;
    std::vector<net::Field> fields;
    std::string body;
    int status;
    std::string_view says;
  };
  const Row rows[] = {
      {"a body alone", one, {}, "new", 400, "Hikyaku-Replace-Body: the request has a body"},
      {"not a flag", one, {{"Hikyaku-Replace-Body", "yes"}}, "new", 400, "must be true or false"},
      {"false", one, {{"Hikyaku-Replace-Body", "false"}}, "new", 400, "the request has a body"},
      {"twice",
       one,
       {{"Hikyaku-Replace-Body", "true"}, {"Hikyaku-Replace-Body", "true"}},
       "new",
       400,
       "given twice"},
      {"no URL", one, {{"Hikyaku-Replace-Url", "example.com"}}, "", 400, "is not a URL"},
      {"empty URL", one, {{"Hikyaku-Replace-Url", ""}}, "", 400, "is not a URL"},
      {"forbidden",
       one,
       {{"Hikyaku-Replace-Url", "http://forbidden.example/"}},
       "",
       400,
       "Hikyaku-Replace-Url: "},
      {"too large",
       one,
       {{"Hikyaku-Replace-Body", "true"}},
       std::string(1001, 'x'),
       413,
       "larger than 1000"},
      {"many bodies", many, {{"Hikyaku-Replace-Body", "true"}}, "", 400, "one dead letter"},
      {"many URLs", many, {{"Hikyaku-Replace-Url", "http://a/"}}, "", 400, "one dead letter"},
      {"a bad header beside it",
       one,
       {{"Hikyaku-Replace-Body", "true"}, {"Upstash-Forward-X-Bad", "1"}},
       "new",
       400,
       ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);

    const http::Response response = call("POST", row.target, row.fields, row.body);

    EXPECT_EQ(response.status, row.status) << response.body;
    EXPECT_NE(error_of(response).find(row.says), std::string::npos) << response.body;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, AnotherBodyIsNotTakenWhileNothingIsAccepted) {
  options.refuse_publishes = [] { return std::optional<std::string>("the disk is nearly full"); };
  const std::string id = store_dead(core::Seq{1}, at(1));

  EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {{"Hikyaku-Replace-Body", "true"}}, "x").status,
            503);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, WhatTheCallDoesNotNameStays) {
  const std::string id = store_dead(core::Seq{1}, at(1));

  EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {{"Upstash-Telemetry-Sdk", "js"}}).status, 201);
  EXPECT_EQ(submitter.taken.back().get<core::RetryDeadLetter>().changes, nullptr);

  EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {{"Upstash-Label", "only"}}).status, 201);
  const auto& changes = submitter.taken.back().get<core::RetryDeadLetter>().changes;
  ASSERT_NE(changes, nullptr);
  EXPECT_TRUE(changes->labels);
  EXPECT_FALSE(changes->method || changes->headers || changes->retries_max ||
               changes->retry_delay || changes->timeout || changes->callback ||
               changes->failure_callback || changes->flow);
  EXPECT_EQ(changes->delay, Millis{0});
  EXPECT_EQ(changes->not_before, Moment{});
}

TEST_F(DeadLetters, ARetryWithOptionsThatMakeNoSenseIsRefusedAsAWhole) {
  const std::string id = store_dead(core::Seq{1}, at(1));
  const net::Field rows[] = {
      {"Upstash-Retries", "x"},
      {"Upstash-Method", "BREW"},
      {"Upstash-Delay", "soon"},
      {"Upstash-Timeout", "x"},
      {"Upstash-Flow-Control-Key", "k"},
      {"Upstash-Retry-Delay", "("},
      {"Upstash-Forward-X-Bad", "1"},
      {"Upstash-Deduplication-Id", "d"},
      {"Upstash-Queue-Name", "q"},
      {"Upstash-Redact-Fields", "body"},
      {"Upstash-Cron", "* * * * *"},
      {"Upstash-Header-Forward", "true"},
      {"Upstash-Content-Based-Deduplication", "true"},
  };
  for (const net::Field& field : rows) {
    EXPECT_EQ(call("POST", "/v2/dlq/retry/" + id, {field}).status, 400) << field.name;
    EXPECT_EQ(call("POST", "/v2/dlq/retry", {field}).status, 400) << field.name;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(DeadLetters, ADelayIsRefusedIfOneOfThemIsOfAQueue) {
  core::Message queued;
  queued.queue = "orders";
  store_dead(core::Seq{1}, at(1));
  store_dead(core::Seq{2}, at(2), queued);

  const http::Response refused = call("POST", "/v2/dlq/retry", {{"Upstash-Delay", "1m"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(error_of(refused).find("orders"), std::string::npos) << refused.body;
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(call("POST", "/v2/dlq/retry", {{"Upstash-Delay", "0s"}}).status, 201);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
