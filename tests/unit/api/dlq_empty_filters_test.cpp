#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class DeadLetterFilters : public ApiTest {};

TEST_F(DeadLetterFilters, AnEmptyValueIsNotEverything) {
  store_dead(core::Seq{1}, now);
  for (const std::string filter :
       {"queueName=", "queueName=,", "label=", "url=", "topicName=", "scheduleId=",
        "flowControlKey=", "callerIp=", "fromDate=", "toDate=", "messageId=", "responseStatus="}) {
    submitter.taken.clear();
    for (const http::Response& response :
         {call("DELETE", "/v2/dlq?" + filter), call("POST", "/v2/dlq/retry?" + filter)}) {
      EXPECT_EQ(response.status, 400) << filter;
      EXPECT_NE(error_of(response).find("must not be empty; leave it out to select everything"),
                std::string::npos);
    }
    EXPECT_TRUE(submitter.taken.empty()) << filter;
    EXPECT_EQ(call("GET", "/v2/dlq?" + filter).status, 200) << "who only looks may";
  }
  EXPECT_EQ(call("DELETE", "/v2/dlq", {}, R"({"queueName":""})").status, 400);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
