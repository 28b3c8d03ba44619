#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Publishing = ApiTest;

const core::Message& published(const FakeSubmitter& submitter) {
  return *submitter.taken.back().get<core::Publish>().message;
}

TEST_F(Publishing, AnAcceptedMessageIsAnswered201WithItsIdAndUrl) {
  const http::Response response = call("POST", "/v2/publish/https://example.com/a?x=\"1",
                                       {{"Content-Type", "text/plain"}}, "hello");

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "{\"messageId\":\"" + core::to_text(id_of(core::Seq{900})) +
                               "\",\"url\":\"https://example.com/a?x=\\\"1\"}");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(field(response, "Hikyaku-Durability"), "local");
  const core::Message& message = published(submitter);
  EXPECT_EQ(message.tenant, core::TenantId{1});
  EXPECT_EQ(message.url, "https://example.com/a?x=\"1");
  EXPECT_EQ(message.host, "https://host:443");
  EXPECT_EQ(message.body, "hello");
  EXPECT_EQ(message.caller_ip, "192.0.2.7");
  EXPECT_EQ(message.headers, (std::vector<core::Header>{{"Content-Type", "text/plain"}}));
}

TEST_F(Publishing, ADuplicateIsAnswered202) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return core::Published{id_of(core::Seq{5}), true};
  };

  const http::Response response = call("POST", "/v2/publish/https://example.com");

  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(json(response).at("deduplicated"), true);
  EXPECT_EQ(json(response).at("messageId").get_string(), core::to_text(id_of(core::Seq{5})));
}

TEST_F(Publishing, WhatIsWrongIsToldAndNothingIsSubmitted) {
  struct Row {
    std::string_view name;
    std::string target;
    std::vector<net::Field> fields;
    int status;
    std::string_view error;
  };
  const Row rows[] = {
      {"no destination", "/v2/publish/", {}, 400, "a non-empty destination must be provided"},
      {"no destination at all", "/v2/publish", {}, 400, "a non-empty destination must be provided"},
      {"no scheme", "/v2/publish/example.com/x", {}, 400, "invalid destination url"},
      {"refused host",
       "/v2/publish/https://forbidden",
       {},
       400,
       "invalid destination url: forbidden"},
      {"bad option", "/v2/publish/https://h", {{"Upstash-Retries", "x"}}, 400, "Upstash-Retries"},
      {"bad option in query", "/v2/publish/https://h?upstash-delay=x", {}, 400, "Upstash-Delay"},
      {"refused callback",
       "/v2/publish/https://h",
       {{"Upstash-Callback", "https://forbidden"}},
       400,
       "Upstash-Callback: invalid destination url: forbidden"},
      {"bad header",
       "/v2/publish/https://h",
       {{"Upstash-Forward-X-Bad", "1"}},
       400,
       "header X-Bad"},
      {"bad queue", "/v2/enqueue/a%20b/https://h", {}, 400, "invalid queue name"},
      {"broken queue", "/v2/enqueue/a%2/https://h", {}, 400, "the percent-encoding of the path"},
      {"delayed in queue",
       "/v2/enqueue/q/https://h",
       {{"Upstash-Delay", "1s"}},
       400,
       "Upstash-Delay"},
      {"queue only", "/v2/enqueue/q", {}, 400, "a non-empty destination must be provided"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);

    const http::Response response = call("POST", row.target, row.fields);

    EXPECT_EQ(response.status, row.status);
    EXPECT_TRUE(error_of(response).starts_with(row.error)) << response.body;
    EXPECT_TRUE(submitter.taken.empty());
  }
}

TEST_F(Publishing, ABodyAboveTheLimitIsRefusedWith413) {
  options.body_bytes_max = 4;

  EXPECT_EQ(call("POST", "/v2/publish/https://h", {}, "1234").status, 201);
  const http::Response response = call("POST", "/v2/publish/https://h", {}, "12345");

  EXPECT_EQ(response.status, 413);
  EXPECT_FALSE(error_of(response).empty());
  EXPECT_EQ(submitter.taken.size(), 1U);
}

TEST_F(Publishing, WhileAdmissionIsClosedTheAnswerIs503AndLater) {
  std::optional<std::string> why = "the disk is nearly full";
  options.refuse_publishes = [&why] { return why; };

  const http::Response response = call("POST", "/v2/publish/https://h");
  why.reset();

  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(error_of(response), "the disk is nearly full");
  EXPECT_EQ(field(response, "Retry-After"), "1");
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(call("POST", "/v2/publish/https://h").status, 201);
}

TEST_F(Publishing, EnqueuePutsTheMessageInItsQueue) {
  EXPECT_EQ(call("POST", "/v2/enqueue/my%2Dqueue/https://example.com/x?a=1").status, 201);
  EXPECT_EQ(published(submitter).queue, "my-queue");
  EXPECT_EQ(published(submitter).url, "https://example.com/x?a=1");
  EXPECT_EQ(published(submitter).not_before, Moment{});
}

TEST_F(Publishing, EveryErrorOfTheCoreHasItsStatus) {
  const std::pair<ErrorKind, int> rows[] = {
      {ErrorKind::invalid_argument, 400},  {ErrorKind::unauthenticated, 401},
      {ErrorKind::permission_denied, 403}, {ErrorKind::not_found, 404},
      {ErrorKind::conflict, 409},          {ErrorKind::limit_exceeded, 429},
      {ErrorKind::unavailable, 503},       {ErrorKind::unknown_outcome, 503},
      {ErrorKind::corruption, 500},        {ErrorKind::internal, 500},
  };
  for (const auto& [kind, status] : rows) {
    submitter.answer = [kind = kind](core::Command&) -> core::Reply {
      return fail(kind, "details");
    };

    const http::Response response = call("POST", "/v2/publish/https://h");

    EXPECT_EQ(response.status, status);
    EXPECT_FALSE(error_of(response).empty());
    EXPECT_EQ(error_of(response) == "details", status != 500) << "our insides stay ours";
    EXPECT_EQ(field(response, "Hikyaku-Outcome").has_value(), kind == ErrorKind::unknown_outcome);
    EXPECT_EQ(field(response, "Retry-After").has_value(),
              status == 429 || kind == ErrorKind::unavailable);
  }
}

TEST_F(Publishing, TheRequestsTraceGoesWithTheMessage) {
  call("POST", "/v2/publish/https://h",
       {{"traceparent", "00-0102030405060708090a0b0c0d0e0f10-1112131415161718-00"},
        {"tracestate", "a=b"}});

  const core::Trace& trace = published(submitter).trace;
  EXPECT_EQ(trace.trace_id[0], 1);
  EXPECT_EQ(trace.trace_id[15], 16);
  EXPECT_EQ(trace.parent_span[7], 0x18);
  EXPECT_EQ(trace.flags, 0);
  EXPECT_EQ(trace.state, "a=b");
}

TEST_F(Publishing, WithoutATraceEachMessageGetsItsOwn) {
  call("POST", "/v2/publish/https://h", {{"traceparent", "nonsense"}, {"tracestate", "a=b"}});
  const core::Trace first = published(submitter).trace;
  call("POST", "/v2/publish/https://h");
  const core::Trace second = published(submitter).trace;

  EXPECT_NE(first.trace_id, second.trace_id);
  EXPECT_EQ(first.parent_span, core::Trace{}.parent_span);
  EXPECT_TRUE(first.state.empty());
}

TEST_F(Publishing, TheTokenNeverReachesTheMessage) {
  const http::Response response =
      call_as("", "POST", "/v2/publish/https://example.com/x?a=1&qstash_token=token-1",
              {{"Upstash-Header-Forward", "true"}});

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(published(submitter).url, "https://example.com/x?a=1");
  call("POST", "/v2/publish/https://example.com", {{"Upstash-Header-Forward", "true"}});
  EXPECT_TRUE(published(submitter).headers.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
