#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class UrlGroups : public ApiTest {
 protected:
  UrlGroups() {
    submitter.reader->put<core::Topic>(
        {.tenant = core::TenantId{1},
         .name = "g",
         .subscriptions = {{.id = "one", .url = "https://a"}, {.url = "https://b"}},
         .options = {{"Upstash-Retries", "7"},
                     {"Upstash-Method", "PUT"},
                     {"Upstash-Forward-X-A", "default"}},
         .created_at = moment_from_ms(5),
         .updated_at = moment_from_ms(6)});
  }
  template <class Command>
  [[nodiscard]] const Command& last() const {
    return submitter.taken.back().get<Command>();
  }
};

constexpr std::string_view shown = R"({"createdAt":5,"updatedAt":6,"name":"g","endpoints":)"
                                   R"([{"name":"one","url":"https://a"},{"url":"https://b"}]})";

TEST_F(UrlGroups, AreShownAndListed) {
  EXPECT_EQ(call("GET", "/v2/topics/g").body, shown);
  EXPECT_EQ(call("GET", "/v2/topics").body, "[" + std::string(shown) + "]");
  submitter.reader->rows<core::Topic>().clear();
  EXPECT_EQ(call("GET", "/v2/topics/").body, "[]");
  const http::Response unknown = call("GET", "/v2/topics/g");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(error_of(unknown), "topic g not found");
}

TEST_F(UrlGroups, TakeEndpointsThatAPublishCouldGoTo) {
  const http::Response response =
      call("POST", "/v2/topics/g/endpoints", {},
           R"({"endpoints":[{"url":"https://A/x","name":"n"},{"url":"http:/b","name":null}]})");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{}");
  const auto& command = last<core::UpsertEndpoints>();
  EXPECT_EQ(command.tenant, core::TenantId{1});
  EXPECT_EQ(command.group, "g");
  EXPECT_EQ(command.endpoints,
            (std::vector<core::Endpoint>{{"n", "https://A/x", "https://host:443"},
                                         {"", "http://b", "https://host:443"}}));
}

TEST_F(UrlGroups, LetEndpointsGoByNameOrUrl) {
  const http::Response response = call("DELETE", "/v2/topics/g/endpoints", {},
                                       R"({"endpoints":[{"name":"one"},{"url":"https://b"}]})");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(last<core::RemoveEndpoints>().endpoints,
            (std::vector<core::Endpoint>{{.name = "one"}, {.url = "https://b"}}));
}

TEST_F(UrlGroups, AreDeleted) {
  EXPECT_EQ(call("DELETE", "/v2/topics/g").status, 200);
  EXPECT_EQ(last<core::DeleteTopic>().name, "g");
}

TEST_F(UrlGroups, TakeDefaultOptions) {
  const http::Response response = call(
      "PATCH", "/v2/topics/g", {},
      R"({"headers":{"Upstash-Retries":"3","Upstash-Forward-A":["x","y"],"Content-Type":"a/b"}})");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(last<core::SetGroupOptions>().options,
            (std::vector<core::Header>{{"Upstash-Retries", "3"},
                                       {"Upstash-Forward-A", "x"},
                                       {"Upstash-Forward-A", "y"},
                                       {"Content-Type", "a/b"}}));
  EXPECT_EQ(call("PATCH", "/v2/topics/g", {}, R"({"headers":{}})").status, 200);
  EXPECT_TRUE(last<core::SetGroupOptions>().options.empty());
}

TEST_F(UrlGroups, RefuseWhatMakesNoSense) {
  struct Row {
    std::string method;
    std::string target;
    std::string body;
    std::string_view error;
  };
  const std::string one = R"({"endpoints":[{"url":"https://h"}]})";
  const std::string add = "/v2/topics/g/endpoints";
  const Row rows[] = {
      {"POST", "/v2/topics/a%20b/endpoints", one, "invalid URL group name"},
      {"DELETE", "/v2/topics/a%20b/endpoints", one, "invalid URL group name"},
      {"GET", "/v2/topics/a%20b", "", "invalid URL group name"},
      {"DELETE", "/v2/topics/a%20b", "", "invalid URL group name"},
      {"PATCH", "/v2/topics/a%20b", R"({"headers":{}})", "invalid URL group name"},
      {"POST", add, "", "the body is not valid JSON"},
      {"POST", add, "[]", "the body must be a JSON object"},
      {"POST", add, "{}", "endpoints must be an array"},
      {"POST", add, R"({"endpoints":"x"})", "endpoints must be an array"},
      {"POST", add, R"({"endpoints":[]})", "endpoints must be an array"},
      {"POST", add, R"({"endpoints":["https://h"]})", "endpoints: each must be an object"},
      {"POST", add, R"({"endpoints":[{"name":"n"}]})", "a non-empty destination"},
      {"POST", add, R"({"endpoints":[{"url":1}]})", "endpoints: url must be a string"},
      {"POST", add, R"({"endpoints":[{"url":"https://h","name":1}]})",
       "endpoints: name must be a string"},
      {"POST", add,
       R"({"endpoints":[{"url":"https://h","name":")" + std::string(257, 'n') + "\"}]}",
       "endpoints: a name has at most"},
      {"POST", add, R"({"endpoints":[{"url":"another-group"}]})", "invalid destination url"},
      {"POST", add, R"({"endpoints":[{"url":"https://h"},{"url":"ftp://h"}]})",
       "invalid destination url"},
      {"POST", add, R"({"endpoints":[{"url":"https://forbidden"}]})",
       "invalid destination url: forbidden"},
      {"DELETE", add, "", "the body is not valid JSON"},
      {"DELETE", add, R"({"endpoints":[{}]})", "endpoints: each needs a name or a url"},
      {"PATCH", "/v2/topics/g", "x", "the body is not valid JSON"},
      {"PATCH", "/v2/topics/g", "{}", "headers must be an object"},
      {"PATCH", "/v2/topics/g", R"({"headers":"x"})", "headers must be an object"},
      {"PATCH", "/v2/topics/g", R"({"headers":{"Upstash-Retries":3}})", "headers: "},
      {"PATCH", "/v2/topics/g", R"({"headers":{"Upstash-Retries":"many"}})", "Upstash-Retries"},
      {"PATCH", "/v2/topics/g", R"({"headers":{"X-A":"1"}})", "headers: \"X-A\" is not an option"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.method + " " + row.target + " " + row.body);

    const http::Response response = call(row.method, row.target, {}, row.body);

    EXPECT_EQ(response.status, 400);
    EXPECT_TRUE(error_of(response).starts_with(row.error)) << response.body;
    EXPECT_TRUE(submitter.taken.empty());
  }
  EXPECT_EQ(call("PUT", "/v2/topics/g").status, 405);
}

TEST_F(UrlGroups, TellWhatTheCoreSays) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::quota_reached, "too many");
  };

  const http::Response response =
      call("POST", "/v2/topics/g/endpoints", {}, R"({"endpoints":[{"url":"https://h"}]})");

  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(error_of(response), "too many");
}

TEST_F(UrlGroups, ArePublishedToUnderTheirDefaults) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return core::FannedOut{{{{id_of(core::Seq{1}), false}, "https://a"},
                            {{id_of(core::Seq{2}), true}, "https://b?\""}}};
  };

  const http::Response response =
      call("POST", "/v2/publish/g?x=1&upstash-retries=2", {{"upstash-forward-x-a", "own"}}, "body");

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, R"([{"messageId":")" + core::to_text(id_of(core::Seq{1})) +
                               R"(","url":"https://a"},{"messageId":")" +
                               core::to_text(id_of(core::Seq{2})) +
                               R"(","url":"https://b?\"","deduplicated":true}])");
  const core::Message& message = *last<core::Publish>().message;
  EXPECT_EQ(message.topic, "g");
  EXPECT_TRUE(message.url.empty());
  EXPECT_TRUE(message.host.empty());
  EXPECT_EQ(message.body, "body");
  EXPECT_EQ(message.retry.retries_max, 2U) << "the query is the publish's own";
  EXPECT_EQ(message.method, "PUT");
  EXPECT_EQ(message.headers, (std::vector<core::Header>{{"x-a", "own"}}));
}

TEST_F(UrlGroups, AreEnqueuedTo) {
  call("POST", "/v2/enqueue/q/g");

  EXPECT_EQ(last<core::Publish>().message->queue, "q");
  EXPECT_EQ(last<core::Publish>().message->topic, "g");
}

TEST_F(UrlGroups, AnswerADuplicateOnlyIfEveryMessageIsOne) {
  bool first = true;
  submitter.answer = [&first](core::Command&) -> core::Reply {
    return core::FannedOut{
        {{{id_of(core::Seq{1}), first}, "https://a"}, {{id_of(core::Seq{2}), true}, "https://b"}}};
  };

  EXPECT_EQ(call("POST", "/v2/publish/g").status, 202);
  first = false;
  EXPECT_EQ(call("POST", "/v2/publish/g").status, 201);
}

TEST_F(UrlGroups, ThatAreNotThereAreTold) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "topic nobody not found");
  };

  const http::Response response = call("POST", "/v2/publish/nobody");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(error_of(response), "topic nobody not found");
}

TEST_F(UrlGroups, AreNamedWhereTheirMessagesAreShown) {
  core::Message message;
  message.topic = "g";
  message.endpoint = "one";
  const std::string id = store(core::Seq{1}, message);
  const std::string plain = store(core::Seq{2});

  const boost::json::value seen = json(call("GET", "/v2/messages/" + id));
  const boost::json::value other = json(call("GET", "/v2/messages/" + plain));

  EXPECT_EQ(seen.at("topicName").get_string(), "g");
  EXPECT_EQ(seen.at("endpointName").get_string(), "one");
  EXPECT_FALSE(other.get_object().contains("topicName"));
  EXPECT_FALSE(other.get_object().contains("endpointName"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
