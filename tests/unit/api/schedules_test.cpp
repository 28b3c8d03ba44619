#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Schedules = ApiTest;

const core::Schedule& stored(const FakeSubmitter& submitter) {
  return submitter.taken.back().get<core::UpsertSchedule>().schedule;
}

const net::Field hourly{"Upstash-Cron", " 0 * * * * "};

TEST_F(Schedules, ArePublishesWithACron) {
  const http::Response response = call("POST", "/v2/schedules/https://example.com/a?x=1",
                                       {hourly,
                                        {"Upstash-Schedule-Id", "mine"},
                                        {"Upstash-Method", "PUT"},
                                        {"Upstash-Delay", "1m"},
                                        {"Upstash-Not-Before", "99"},
                                        {"Upstash-Queue-Name", "q"},
                                        {"Upstash-Deduplication-Id", "d"},
                                        {"Upstash-Flow-Control-Key", "k"},
                                        {"Upstash-Flow-Control-Value", "rate=2"}},
                                       "hello");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"scheduleId":"mine"})");
  const core::Schedule& schedule = stored(submitter);
  EXPECT_EQ(schedule.tenant, core::TenantId{1});
  EXPECT_EQ(schedule.id, "mine");
  EXPECT_EQ(schedule.cron, "0 * * * *");
  EXPECT_EQ(schedule.delay, Millis{60'000});
  EXPECT_EQ(schedule.flow->rate, 2U);
  const core::Message& message = schedule.prototype;
  EXPECT_EQ(message.url, "https://example.com/a?x=1");
  EXPECT_EQ(message.host, "https://host:443");
  EXPECT_EQ(message.method, "PUT");
  EXPECT_EQ(message.queue, "q");
  EXPECT_EQ(message.body, "hello");
  EXPECT_EQ(message.caller_ip, "192.0.2.7");
  EXPECT_EQ(message.not_before, Moment{});
  EXPECT_EQ(message.dedup_id, "");
}

TEST_F(Schedules, AreMadeByEveryWayThatNamesACron) {
  struct Row {
    std::string target;
    std::vector<net::Field> fields;
    std::string_view url;
    std::string_view topic;
  };
  const Row rows[] = {
      {"/v2/schedules/https://h/x", {hourly}, "https://h/x", ""},
      {"/v2/Schedules/https://h/x", {hourly}, "https://h/x", ""},
      {"/v2/publish/https://h/x", {hourly}, "https://h/x", ""},
      {"/v2/schedules/https://h/x?upstash-cron=@daily", {}, "https://h/x", ""},
      {"/v2/schedules/https%3A%2F%2Fh/pause", {hourly}, "https://h/pause", ""},
      {"/v2/schedules/https:/h/resume", {hourly}, "https://h/resume", ""},
      {"/v2/schedules/crew", {hourly}, "", "crew"},
      {"/v2/schedules/crew?upstash-cron=@daily", {}, "", "crew"},
      {"/v2/publish/crew", {hourly}, "", "crew"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.target);
    const http::Response response = call("POST", row.target, row.fields);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, R"({"scheduleId":"scd_new"})");
    EXPECT_EQ(stored(submitter).prototype.url, row.url);
    EXPECT_EQ(stored(submitter).prototype.topic, row.topic);
  }
}

TEST_F(Schedules, AreRefusedWithTheReasonAndNothingIsSubmitted) {
  struct Row {
    std::string target;
    std::vector<net::Field> fields;
    int status;
    std::string_view error;
  };
  const Row rows[] = {
      {"/v2/schedules/https://h", {}, 400, "Upstash-Cron: required for a schedule"},
      {"/v2/schedules/crew", {}, 400, "Upstash-Cron: required for a schedule"},
      {"/v2/schedules/https://h", {{"Upstash-Cron", ""}}, 400, "Upstash-Cron: "},
      {"/v2/schedules/https://h", {{"Upstash-Cron", "* * *"}}, 400, "Upstash-Cron: "},
      {"/v2/schedules/https://h",
       {{"Upstash-Cron", "CRON_TZ=Mars/Olympus * * * * *"}},
       400,
       "Upstash-Cron: there is no such time zone"},
      {"/v2/schedules/https://h",
       {hourly, {"Upstash-Schedule-Id", "a b"}},
       400,
       "Upstash-Schedule-Id: "},
      {"/v2/schedules/", {hourly}, 400, "a non-empty destination"},
      {"/v2/schedules/example.com/x", {hourly}, 400, "invalid destination url"},
      {"/v2/schedules/https://forbidden", {hourly}, 400, "invalid destination url"},
      {"/v2/enqueue/q/https://h", {hourly}, 400, "Upstash-Cron: not allowed here"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.target + (row.fields.empty() ? "" : " " + row.fields.back().value));
    const http::Response response = call("POST", row.target, row.fields);
    EXPECT_EQ(response.status, row.status);
    EXPECT_TRUE(error_of(response).starts_with(row.error)) << response.body;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Schedules, ArePausedResumedAndDeleted) {
  struct Row {
    std::string method;
    std::string target;
    std::optional<bool> paused;  // none: deleted
  };
  const Row rows[] = {
      {"PATCH", "/v2/schedules/s.1/pause", true},   {"POST", "/v2/schedules/s.1/pause", true},
      {"PATCH", "/v2/schedules/s.1/resume", false}, {"POST", "/v2/schedules/s.1/resume/", false},
      {"DELETE", "/v2/schedules/s.1", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.method + row.target);
    EXPECT_EQ(call(row.method, row.target).status, 200);
    if (row.paused) {
      const auto& command = submitter.taken.back().get<core::SetSchedulePaused>();
      EXPECT_EQ(command.tenant, core::TenantId{1});
      EXPECT_EQ(command.id, "s.1");
      EXPECT_EQ(command.paused, *row.paused);
    } else {
      EXPECT_EQ(submitter.taken.back().get<core::DeleteScheduleCommand>().id, "s.1");
    }
  }
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "schedule s.1 not found");
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.method + row.target);
    EXPECT_EQ(call(row.method, row.target).status, 404);
  }
}

core::Schedule sample() {
  core::Schedule schedule{.tenant = core::TenantId{1}, .id = "s", .cron = "0 4 * * *"};
  schedule.prototype.url = "https://example.com/a";
  schedule.prototype.schedule = "s";
  schedule.prototype.timeout = Options{}.timeout_default;
  schedule.prototype.caller_ip = "192.0.2.7";
  schedule.created_at = now;
  return schedule;
}

TEST_F(Schedules, AreShownWithWhatIsSetAndNothingElse) {
  submitter.reader->put<core::Schedule>(sample());
  submitter.reader->rows<core::ScheduleState>()[{core::TenantId{1}, "s"}] = {
      .next_at = now + Millis{5000}};

  const http::Response response = call("GET", "/v2/schedules/s");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"scheduleId":"s","cron":"0 4 * * *","createdAt":1700000000000,)"
            R"("destination":"https://example.com/a","method":"POST","header":{},"retries":3,)"
            R"("callerIP":"192.0.2.7","callerIp":"192.0.2.7","isPaused":false,)"
            R"("nextScheduleTime":1700000005000})");
  EXPECT_EQ(call("GET", "/v2/schedules").body, "[" + response.body + "]");
  EXPECT_EQ(call("GET", "/v2/schedules/nobody").status, 404);
}

TEST_F(Schedules, ShowTheirOptionsAndTheirLastRun) {
  core::Schedule schedule = sample();
  schedule.delay = Millis{60'000};
  schedule.flow = core::FlowKey{.parallelism = 2, .rate = 3, .period = Millis{60'000}};
  core::Message& message = schedule.prototype;
  message.url = "";
  message.topic = "crew";
  message.body = "secret";
  message.headers = {{"X-A", "1"}};
  message.redact = {"body"};
  message.timeout = Millis{20'000};
  message.retry.delay = core::ExpressionDelay{"1000"};
  message.queue = "q";
  message.flow_key = "k";
  message.labels = {"one", "two"};
  message.callback = core::Callback{.url = "https://cb", .headers = {{"X-B", "2"}}};
  message.failure_callback = core::Callback{.url = "https://fcb"};
  submitter.reader->put<core::Schedule>(schedule);
  core::ScheduleState state{.paused = true, .last_at = now, .error = "topic crew not found"};
  for (const std::uint64_t seq : {1, 2, 3, 4, 5}) {
    state.last_messages.push_back(id_of(core::Seq{seq}));
  }
  submitter.reader->rows<core::ScheduleState>()[{core::TenantId{1}, "s"}] = state;
  store(core::Seq{1});
  store(core::Seq{2}, {}, core::MessageState{.status = core::Status::succeeded});
  store(core::Seq{3}, {}, core::MessageState{.status = core::Status::failed});
  store(core::Seq{4}, {}, core::MessageState{.status = core::Status::canceled});

  const boost::json::value shown = json(call("GET", "/v2/schedules/s"));

  EXPECT_EQ(shown.at("destination"), "crew");
  EXPECT_TRUE(shown.at("body").as_string().starts_with("REDACTED:"));
  EXPECT_EQ(shown.at("delay"), 60);
  EXPECT_EQ(shown.at("timeout"), 20);
  EXPECT_EQ(shown.at("retryDelayExpression"), "1000");
  EXPECT_EQ(shown.at("callback"), "https://cb");
  EXPECT_EQ(shown.at("callbackHeader").at("X-B").at(0), "2");
  EXPECT_EQ(shown.at("failureCallback"), "https://fcb");
  EXPECT_EQ(shown.at("queueName"), "q");
  EXPECT_EQ(shown.at("label"), "one");
  EXPECT_EQ(shown.at("labels").as_array().size(), 2U);
  EXPECT_EQ(shown.at("flowControlKey"), "k");
  EXPECT_EQ(shown.at("parallelism"), 2);
  EXPECT_EQ(shown.at("rate"), 3);
  EXPECT_EQ(shown.at("period"), 60);
  EXPECT_EQ(shown.at("isPaused"), true);
  EXPECT_EQ(shown.at("error"), "topic crew not found");
  EXPECT_EQ(shown.at("lastScheduleTime"), to_ms(now));
  const auto word = [&](std::uint64_t seq) -> const boost::json::value* {
    return shown.at("lastScheduleStates")
        .as_object()
        .if_contains(core::to_text(id_of(core::Seq{seq})));
  };
  EXPECT_EQ(*word(1), "IN_PROGRESS");
  EXPECT_EQ(*word(2), "SUCCESS");
  EXPECT_EQ(*word(3), "FAIL");
  EXPECT_EQ(*word(4), "FAIL");
  EXPECT_EQ(word(5), nullptr);
  EXPECT_FALSE(shown.as_object().contains("nextScheduleTime"));
}

TEST_F(Schedules, AListThatDoesNotFitIsRefusedAndNotCutOff) {
  options.listing_bytes_max = 100;
  submitter.reader->put<core::Schedule>(sample());
  EXPECT_EQ(call("GET", "/v2/schedules").status, 413);
  EXPECT_EQ(call("GET", "/v2/schedules?count=0").body, "[]");
  EXPECT_EQ(call("GET", "/v2/schedules?count=x").status, 400);
  EXPECT_EQ(call("GET", "/v2/schedules?state=paused").status, 400);
}

void add_a_hundred(MemoryReader& reader) {
  for (int i = 100; i < 200; ++i) {
    core::Schedule schedule = sample();
    schedule.id = "scd_" + std::to_string(i);
    schedule.prototype.body = std::string(1000, 'x');
    reader.put<core::Schedule>(schedule);
  }
}

TEST_F(Schedules, AreAllListedHoweverManyAreReadAtATime) {
  add_a_hundred(*submitter.reader);
  const auto listed = [&](const std::string& query) {
    return json(call("GET", "/v2/schedules" + query)).as_array();
  };
  EXPECT_EQ(listed("").size(), 100U);
  const boost::json::array page = listed("?count=7&after=scd_150");
  ASSERT_EQ(page.size(), 7U);
  EXPECT_EQ(page[0].at("scheduleId"), "scd_151");
  EXPECT_EQ(listed("?count=7&after=scd_196").size(), 3U);
}

TEST_F(Schedules, AreNotReadAnyFurtherWhenTheAnswerIsFull) {
  options.listing_bytes_max = 3000;
  add_a_hundred(*submitter.reader);

  EXPECT_EQ(call("GET", "/v2/schedules").status, 413);
  EXPECT_LE(submitter.reader->stored<core::Schedule>().scanned, 8U);
}

TEST_F(Schedules, TheirMessagesShowTheirIdAndAreFoundByIt) {
  core::Message message;
  message.schedule = "s";
  const std::string id = store(core::Seq{1}, message);
  EXPECT_EQ(json(call("GET", "/v2/messages/" + id)).at("scheduleId"), "s");

  store_dead(core::Seq{2}, now, message);
  store_dead(core::Seq{3}, now, {});
  const auto letters = [&](const std::string& query) {
    return json(call("GET", "/v2/dlq?scheduleId=" + query)).at("messages").as_array().size();
  };
  EXPECT_EQ(letters("s"), 1U);
  EXPECT_EQ(letters("t"), 0U);
  EXPECT_EQ(json(call("GET", "/v2/dlq?scheduleId=s")).at("messages").at(0).at("scheduleId"), "s");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
