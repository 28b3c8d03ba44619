#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Batch : public ApiTest {
 protected:
  Batch() {
    submitter.answer = [](core::Command& command) -> core::Reply {
      core::BatchPublished all;
      std::uint64_t seq = 900;
      for (const core::Publish& item : command.get<core::PublishBatch>().items) {
        if (item.message->topic.empty()) {
          all.items.emplace_back(core::Published{id_of(core::Seq{seq++}), false});
        } else if (item.message->topic == "unknown") {
          all.items.emplace_back(fail(ErrorKind::not_found, "topic unknown not found"));
        } else {
          all.items.emplace_back(core::FannedOut{{{{id_of(core::Seq{1}), true}, "https://one"},
                                                  {{id_of(core::Seq{2}), false}, "https://two"}}});
        }
      }
      return all;
    };
  }

  http::Response post(std::string body, std::vector<net::Field> fields = {}) {
    return call("POST", "/v2/batch", std::move(fields), std::move(body));
  }
  [[nodiscard]] const core::PublishBatch& submitted() const {
    return submitter.taken.back().get<core::PublishBatch>();
  }
  [[nodiscard]] const core::Message& item(std::size_t i) const {
    return *submitted().items.at(i).message;
  }
};

std::string id_text(std::uint64_t seq) { return core::to_text(id_of(core::Seq{seq})); }

TEST_F(Batch, AnswersEachItemInItsPlace) {
  const http::Response response =
      post(R"([{"destination":"https://a"},{"destination":"no scheme"},{"destination":"group"},)"
           R"({"destination":"unknown"},{"destination":"https://b","body":"x"}])");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(
      response.body,
      R"([{"messageId":")" + id_text(900) + R"(","url":"https://a"},)" +
          R"({"error":"invalid destination url: endpoint has invalid scheme, add http:// or https://"},)" +
          R"([{"messageId":")" + id_text(1) + R"(","url":"https://one","deduplicated":true},)" +
          R"({"messageId":")" + id_text(2) + R"(","url":"https://two"}],)" +
          R"({"error":"topic unknown not found"},)" + R"({"messageId":")" + id_text(901) +
          R"(","url":"https://b"}])");
  EXPECT_EQ(field(response, "Hikyaku-Durability"), "local");
  ASSERT_EQ(submitter.taken.size(), 1U) << "one command, so that they are accepted together";
  EXPECT_EQ(submitted().items.size(), 4U);
}

TEST_F(Batch, GivesEachItemItsOwnOptions) {
  post(R"([{"destination":"https://a?upstash-retries=1","body":"ü","queue":"q",
            "headers":{"UPSTASH-METHOD":"put","upstash-forward-x-a":["1","2"],"content-type":" a/b "}},
           {"destination":"https://b","headers":null,"body":null,"queue":null},
           {"destination":"https://c","headers":{},"body":"","queue":"","more":1}])",
       {{"Upstash-Method", "DELETE"}, {"Content-Type", "application/json"}});

  ASSERT_EQ(submitted().items.size(), 3U);
  EXPECT_EQ(item(0).url, "https://a?upstash-retries=1");
  EXPECT_EQ(item(0).host, "https://host:443");
  EXPECT_EQ(item(0).body, "ü");
  EXPECT_EQ(item(0).queue, "q");
  EXPECT_EQ(item(0).method, "PUT");
  EXPECT_EQ(item(0).retry.retries_max, options.retries_default);
  EXPECT_EQ(item(0).headers,
            (std::vector<core::Header>{{"Content-Type", "a/b"}, {"x-a", "1"}, {"x-a", "2"}}));
  EXPECT_EQ(item(0).caller_ip, "192.0.2.7");
  EXPECT_EQ(item(0).tenant, core::TenantId{1});
  for (const std::size_t plain : {1U, 2U}) {
    EXPECT_EQ(item(plain).method, "POST") << "the request's own headers are not the items'";
    EXPECT_TRUE(item(plain).headers.empty());
    EXPECT_TRUE(item(plain).body.empty());
    EXPECT_TRUE(item(plain).queue.empty());
  }
  EXPECT_NE(item(1).trace.trace_id, item(2).trace.trace_id);
}

TEST_F(Batch, TellsWhatIsWrongWithAnItem) {
  options.body_bytes_max = 4;
  const std::pair<std::string, std::string_view> rows[] = {
      {"1", "an item must be an object"},
      {"null", "an item must be an object"},
      {"[]", "an item must be an object"},
      {"{}", "a non-empty destination must be provided"},
      {R"({"destination":1})", "destination must be a string"},
      {R"({"destination":"https://forbidden"})", "invalid destination url: forbidden"},
      {R"({"destination":"https://h","headers":"x"})", "headers must be an object"},
      {R"({"destination":"https://h","headers":{"a":1}})", "headers: \"a\" must be a string"},
      {R"({"destination":"https://h","headers":{"a":[1]}})", "headers: \"a\" must be a string"},
      {R"({"destination":"https://h","headers":{"upstash-label":"a\r\nb"}})",
       "headers: \"upstash-label\" has a control character"},
      {R"({"destination":"https://h","headers":{"upstash-forward-x-bad":"1"}})", "header X-Bad"},
      {R"({"destination":"https://h","headers":{"upstash-retries":"many"}})", "Upstash-Retries"},
      {R"({"destination":"https://h","headers":{"upstash-retries":["1","2"]}})",
       "Upstash-Retries: the header is given twice"},
      {R"({"destination":"https://h","headers":{"upstash-label":")" + std::string(8193, 'l') +
           R"("}})",
       "Upstash-Label: at most 64 of them"},
      {R"({"destination":"https://h","body":5})", "body must be a string"},
      {R"({"destination":"https://h","body":"12345"})", "the body is larger than 4 bytes"},
      {R"({"destination":"https://h","queue":7})", "queue must be a string"},
      {R"({"destination":"https://h","queue":"a b"})", "invalid queue name"},
      {R"({"destination":"https://h","queue":"q","headers":{"upstash-delay":"1s"}})",
       "Upstash-Delay"},
  };
  for (const auto& [text, error] : rows) {
    SCOPED_TRACE(text);

    const http::Response response = post("[" + text + "]");

    EXPECT_EQ(response.status, 200);
    const boost::json::value answer = json(response);
    ASSERT_TRUE(answer.is_array() && answer.get_array().size() == 1);
    const std::string told(answer.at(0).at("error").get_string());
    EXPECT_TRUE(told.starts_with(error)) << told;
    EXPECT_TRUE(submitter.taken.empty());
  }
}

TEST_F(Batch, RefusesWhatIsNoBatch) {
  options.batch_items_max = 2;
  for (const std::string_view body :
       {"", "hello", "{}", "null", "1", R"("x")", R"([{"destination":"https://h"})", "[1,2,3]"}) {
    SCOPED_TRACE(body);

    const http::Response response = post(std::string(body));

    EXPECT_EQ(response.status, 400);
    EXPECT_FALSE(error_of(response).empty());
  }
  EXPECT_EQ(post(std::string(10'000, '[')).status, 400);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Batch, OfNothingIsAnsweredWithNothing) {
  const http::Response response = post("[]");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "[]");
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Batch, MayBeLargerThanAMessage) {
  options.body_bytes_max = 10;
  options.batch_bytes_max = 100;
  const std::string item = R"({"destination":"https://h"})";

  EXPECT_EQ(post("[" + item + "," + item + "]").status, 200);
  EXPECT_EQ(post("[" + item + std::string(100, ' ') + "]").status, 413);
  EXPECT_EQ(service().body_bytes_max("/v2/batch"), 100U);
  EXPECT_EQ(service().body_bytes_max("/V2/Batch/?x=1"), 100U);
  EXPECT_EQ(service().body_bytes_max("/v2/publish/https://h/v2/batch"), 10U);
}

TEST_F(Batch, ThatTheCoreDidNotTakeIsAnErrorAsAWhole) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::unavailable, "busy");
  };

  const http::Response response = post(R"([{"destination":"https://h"},{"destination":""}])");

  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(error_of(response), "busy");
}

TEST_F(Batch, IsClosedWhilePublishingIs) {
  options.refuse_publishes = [] { return std::optional<std::string>("the disk is nearly full"); };

  EXPECT_EQ(post(R"([{"destination":"https://h"}])").status, 503);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Batch, TakesTheDefaultsOfAGroup) {
  submitter.reader->put<core::Topic>(
      {.tenant = core::TenantId{1},
       .name = "group",
       .options = {{"Upstash-Retries", "7"}, {"upstash-forward-x-d", "1"}}});

  post(R"([{"destination":"group"},{"destination":"group","headers":{"upstash-retries":"1"}},
           {"destination":"https://h"}])");

  EXPECT_EQ(item(0).topic, "group");
  EXPECT_TRUE(item(0).url.empty());
  EXPECT_EQ(item(0).retry.retries_max, 7U);
  EXPECT_EQ(item(0).headers, (std::vector<core::Header>{{"x-d", "1"}}));
  EXPECT_EQ(item(1).retry.retries_max, 1U);
  EXPECT_EQ(item(2).retry.retries_max, options.retries_default);
  EXPECT_TRUE(item(2).headers.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
