#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class FlowControl : public ApiTest {
 protected:
  FlowControl() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      if (command.is<core::InspectFlowKeys>()) {
        return views;
      }
      return core::Done{};
    };
  }

  template <class T>
  T only_command() {
    EXPECT_EQ(submitter.taken.size(), 1U);
    const T* const command =
        submitter.taken.empty() ? nullptr : submitter.taken.front().get_if<T>();
    EXPECT_NE(command, nullptr);
    return command == nullptr ? T{} : *command;
  }

  core::FlowKeysInspected views;
};

TEST_F(FlowControl, AKeyIsShownWithAllItsFields) {
  core::FlowKeyView view{.flow = {.tenant = core::TenantId{1}, .key = "k"}};
  view.flow.parallelism = 2;
  view.flow.rate = 10;
  view.flow.period = Millis{60'000};
  view.flow.window_start = now + Millis{999};
  view.flow.window_count = 4;
  view.flow.pinned_rate = true;
  view.waiting = 5;
  view.running = 1;
  views.keys = {view};
  const std::string expected = R"({"flowControlKey": "k", "waitListSize": 5,
    "parallelismMax": 2, "parallelismCount": 1, "rateMax": 10, "rateCount": 4, "ratePeriod": 60,
    "ratePeriodStart": 1700000000, "isPaused": false, "isPinnedParallelism": false,
    "isPinnedRate": true})";

  EXPECT_EQ(json(call("GET", "/v2/flowControl/k")), boost::json::parse(expected));
  EXPECT_EQ(json(call("GET", "/v2/flowControl")), boost::json::parse("[" + expected + "]"));
}

TEST_F(FlowControl, ALimitThatIsNotSetIsZero) {
  views.keys = {{.flow = {.tenant = core::TenantId{1}, .key = "k"}}};
  const auto shown = json(call("GET", "/v2/flowControl/k"));
  for (const char* name : {"parallelismMax", "rateMax", "rateCount", "ratePeriod"}) {
    EXPECT_EQ(shown.at(name), 0) << name;
  }
}

TEST_F(FlowControl, ListsAreSearched) {
  for (const auto& [target, search] :
       {std::pair{"/v2/flowControl", ""}, std::pair{"/v2/flowControl/", ""},
        std::pair{"/v2/flowControl?search=a%2Fb", "a/b"}}) {
    SCOPED_TRACE(target);
    submitter.taken.clear();
    EXPECT_EQ(call("GET", target).body, "[]");
    const auto command = only_command<core::InspectFlowKeys>();
    EXPECT_FALSE(command.key.has_value());
    EXPECT_EQ(command.search, search);
  }
}

TEST_F(FlowControl, TheKeyIsEverythingBetweenThePrefixAndTheVerb) {
  struct Row {
    const char* path;
    const char* key;
  };
  const Row rows[] = {
      {"plain", "plain"},     {"team/a/b", "team/a/b"},
      {"team%2Fa", "team/a"}, {"with%20space", "with space"},
      {"a/pause", "a/pause"}, {"ends%2F", "ends/"},
      {"q%3Fx", "q?x"},
  };
  views.keys = {{}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.path);
    const std::string base = "/v2/flowControl/" + std::string(row.path);
    for (const char* end : {"", "/", "?qstash_token=token-1"}) {
      submitter.taken.clear();
      EXPECT_EQ(call("GET", base + end).status, 200);
      EXPECT_EQ(only_command<core::InspectFlowKeys>().key, row.key);
    }
    for (const char* verb : {"/pause", "/PAUSE/", "/resume"}) {
      submitter.taken.clear();
      EXPECT_EQ(call("POST", base + verb).status, 200);
      const auto command = only_command<core::SetFlowKeyPaused>();
      EXPECT_EQ(command.key, row.key);
      EXPECT_EQ(command.paused, std::string_view(verb) != "/resume");
    }
  }
}

TEST_F(FlowControl, APinFixesTheGivenParts) {
  EXPECT_EQ(call("POST", "/v2/flowControl/k/pin?parallelism=3").status, 200);
  const auto slots = only_command<core::PinFlowKey>();
  EXPECT_EQ(slots.key, "k");
  EXPECT_EQ(slots.parallelism, 3U);
  EXPECT_FALSE(slots.rate.has_value());

  submitter.taken.clear();
  EXPECT_EQ(call("POST", "/v2/flowControl/k/pin?rate=5&period=120").status, 200);
  const auto rate = only_command<core::PinFlowKey>();
  EXPECT_FALSE(rate.parallelism.has_value());
  EXPECT_EQ(rate.rate, 5U);
  EXPECT_EQ(rate.period, Millis{120'000});
}

TEST_F(FlowControl, AnUnpinReleasesTheNamedParts) {
  EXPECT_EQ(call("POST", "/v2/flowControl/k/unpin?rate=true&parallelism=false").status, 200);
  const auto command = only_command<core::UnpinFlowKey>();
  EXPECT_TRUE(command.rate);
  EXPECT_FALSE(command.parallelism);
}

TEST_F(FlowControl, BothResetsBeginANewWindow) {
  for (const char* verb : {"resetRate", "reset"}) {
    submitter.taken.clear();
    EXPECT_EQ(call("POST", "/v2/flowControl/a/b/" + std::string(verb)).status, 200);
    EXPECT_EQ(only_command<core::ResetFlowRate>().key, "a/b");
  }
}

TEST_F(FlowControl, NonsenseIsRefusedAndNotSubmitted) {
  struct Row {
    const char* method;
    std::string target;
    int status;
  };
  const Row rows[] = {
      {"POST", "k/pin", 400},
      {"POST", "k/pin?parallelism=0", 400},
      {"POST", "k/pin?parallelism=-1", 400},
      {"POST", "k/pin?parallelism=many", 400},
      {"POST", "k/pin?parallelism=99999999999999999999", 400},
      {"POST", "k/pin?parallelism=4294967296", 400},
      {"POST", "k/pin?parallelism=1&parallelism=2", 400},
      {"POST", "k/pin?rate=0", 400},
      {"POST", "k/pin?rate=1&period=0", 400},
      {"POST", "k/pin?rate=1&period=604801", 400},
      {"POST", "k/pin?rate=1&perod=1", 400},
      {"POST", "k/unpin?parallelism=perhaps", 400},
      {"POST", "k%zz/pause", 400},
      {"POST", "/pause", 400},
      {"GET", std::string(257, 'k'), 400},
      {"POST", std::string(257, 'k') + "/pause", 400},
      {"POST", "k", 404},
      {"POST", "k/explode", 404},
      {"POST", "", 404},
      {"PUT", "k", 405},
      {"GET", "?serch=x", 400},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.target);
    const http::Response response = call(row.method, "/v2/flowControl/" + row.target);
    EXPECT_EQ(response.status, row.status);
    EXPECT_FALSE(error_of(response).empty());
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(FlowControl, AnUnknownKeyIsNotFound) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "flow-control key k not found");
  };
  EXPECT_EQ(call("GET", "/v2/flowControl/k").status, 404);
}

TEST_F(FlowControl, AListIsAskedForInPartsAndAnsweredWhole) {
  std::vector<std::string> asked;
  submitter.answer = [&](core::Command& command) -> core::Reply {
    const auto& question = command.get<core::InspectFlowKeys>();
    asked.push_back(question.search + ":" + question.after);
    core::FlowKeysInspected part;
    part.keys.push_back({.flow = {.key = "k" + std::to_string(asked.size())}});
    part.next = asked.size() < 3 ? part.keys[0].flow.key : "";
    return part;
  };
  const http::Response response = call("GET", "/v2/flowControl?search=k");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(asked, (std::vector<std::string>{"k:", "k:k1", "k:k2"}));
  const auto all = boost::json::parse(response.body).as_array();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].at("flowControlKey"), "k3");
}

TEST_F(FlowControl, AListThatIsTooLongIsRefusedAndNotCut) {
  int asked = 0;
  submitter.answer = [&](core::Command&) -> core::Reply {
    core::FlowKeysInspected part;
    part.keys.resize(60'000);
    part.next = std::to_string(++asked);
    return part;
  };
  const http::Response response = call("GET", "/v2/flowControl");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(asked, 2);
}

TEST_F(FlowControl, TheParallelismOfTheServerIsShown) {
  options.global_parallelism = 100;
  options.in_flight = [] { return 3; };
  EXPECT_EQ(json(call("GET", "/v2/globalParallelism")),
            boost::json::parse(R"({"parallelismMax": 100, "parallelismCount": 3})"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
