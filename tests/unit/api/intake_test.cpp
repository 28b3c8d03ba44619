#include "api/intake.h"

#include <gtest/gtest.h>

namespace hk::api {
namespace HK_TEST_FILE {

http::Request plain(std::string method, std::string target, std::string body = {}) {
  http::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  return request;
}

http::Request json(const std::string& action) {
  http::Request request = plain("POST", "/", "{}");
  request.fields = {{"X-Amz-Target", "AmazonSQS." + action}};
  return request;
}

http::Request form(const std::string& action) {
  return plain("POST", "/000000000000/q", "Action=" + action + "&Version=2012-11-05");
}

TEST(Intake, SaysWhatIsTakenWhen) {
  struct Row {
    std::string_view name;
    http::Request request;
    bool while_serving;
    bool while_the_relay_ends;
    bool while_draining;
    bool while_starting;
  };
  const Row rows[] = {
      {"health", plain("GET", "/healthz"), true, true, true, true},
      {"readiness", plain("GET", "/readyz?verbose"), true, true, true, true},
      {"receive", json("ReceiveMessage"), true, false, false, false},
      {"receive by form", form("ReceiveMessage"), true, false, false, false},
      {"delete", json("DeleteMessage"), true, true, true, false},
      {"delete by form", form("DeleteMessage"), true, true, true, false},
      {"delete a batch", json("DeleteMessageBatch"), true, true, true, false},
      {"visibility", json("ChangeMessageVisibility"), true, true, true, false},
      {"visibility of a batch", json("ChangeMessageVisibilityBatch"), true, true, true, false},
      {"send", json("SendMessage"), true, true, false, false},
      {"attributes", json("GetQueueAttributes"), true, true, false, false},
      {"publish", plain("POST", "/v2/publish/https://h"), true, true, false, false},
      {"a body that looks like an action",
       plain("POST", "/v2/publish/https://h", "Action=DeleteMessage"), true, true, false, false},
      {"SNS", plain("POST", "/", "Action=DeleteMessage&Version=2010-03-31"), true, true, false,
       false},
      {"backup", plain("POST", "/api/v1/admin/backup"), true, true, false, false},
      {"nothing known", plain("GET", "/"), true, true, false, false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(takes(Intake::everything, row.request), row.while_serving);
    EXPECT_EQ(takes(Intake::no_receives, row.request), row.while_the_relay_ends);
    EXPECT_EQ(takes(Intake::settlements, row.request), row.while_draining);
    EXPECT_EQ(takes(Intake::nothing, row.request), row.while_starting);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api
