#include <algorithm>

#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class BulkCancel : public ApiTest {
 protected:
  /// Cancels with this call and returns the seqs that were asked for, in order.
  std::vector<std::uint64_t> cancelled(const std::string& query, const std::string& body = {}) {
    submitter.taken.clear();
    answered = call("DELETE", "/v2/messages" + query, {}, body);
    std::vector<std::uint64_t> seqs;
    for (const core::Command& command : submitter.taken) {
      const auto& cancel = command.get<core::CancelMessage>();
      EXPECT_EQ(cancel.tenant, core::TenantId{1});
      EXPECT_EQ(cancel.id, id_of(cancel.id.seq));
      seqs.push_back(cancel.id.seq.value());
    }
    std::ranges::sort(seqs);
    return seqs;
  }
  /// A message that waits in its lane.
  void store_waiting(std::uint64_t number, core::Message message = {}) {
    const core::Seq seq{number};
    message.host = "https://example.com:443";
    store(seq, message);
    const core::Message& stored = *submitter.reader->rows<core::Message>()[seq];
    submitter.reader->put<core::LaneRow>({core::lane_of(stored), {.place = {Moment{}, seq}}});
    submitter.reader->put<core::Meta>({.indexed_up_to = seq});
  }
  http::Response answered;
};

using Seqs = std::vector<std::uint64_t>;

TEST_F(BulkCancel, EveryFilterSelects) {
  core::Message one;
  one.url = "https://a.example/x?y";
  one.queue = "orders";
  one.labels = {"red", "blue"};
  one.caller_ip = "192.0.2.1";
  one.topic = "group";
  core::Message two;
  two.url = "https://b.example:8443/z";
  two.flow_key = "f,1";
  two.schedule = "scd_1";
  two.created_at = now + Millis{10};
  store_waiting(1, one);
  store_waiting(2, two);
  store(core::Seq{3});  // young: it has no place in a lane yet
  const std::string id2 = core::to_text(id_of(core::Seq{2}));

  const std::pair<std::string, Seqs> rows[] = {
      {"", {1, 2, 3}},
      {"?count=100", {1, 2, 3}},
      {"?cursor=ignored", {1, 2, 3}},
      {"?url=https://a.example/x%3Fy", {1}},
      {"?host=b.example", {2}},
      {"?host=b.example:8443", {2}},
      {"?path=/hook", {3}},
      {"?path=/hook&path=/z", {2, 3}},
      {"?label=blue", {1}},
      {"?label=green,blue", {1}},
      {"?callerIp=192.0.2.1", {1}},
      {"?callerIP=192.0.2.1", {1}},
      {"?topicName=group", {1}},
      {"?scheduleId=scd_1", {2}},
      {"?queueName=orders", {1}},
      {"?queueName=other", {}},
      {"?flowControlKey=f,1", {2}},
      {"?flowControlKey=f", {}},
      {"?fromDate=1700000000001", {2}},
      {"?toDate=1700000000009", {1, 3}},
      {"?label=blue&queueName=other", {}},
      {"?messageIds=" + id2, {2}},
      {"?messageIds=" + id2 + "&label=nobody", {2}},
      {"?messageIds=" + id2 + ",msg_nobody", {2}},
      {"?messageIds=", {}},
  };
  for (const auto& [query, seqs] : rows) {
    EXPECT_EQ(cancelled(query), seqs) << query;
    EXPECT_EQ(answered.body, "{\"cancelled\":" + std::to_string(seqs.size()) + "}") << query;
  }
}

TEST_F(BulkCancel, TheSelectionMayBeAJsonBody) {
  core::Message red;
  red.labels = {"red"};
  store_waiting(1, red);
  store_waiting(2);
  const std::string id = core::to_text(id_of(core::Seq{2}));

  EXPECT_EQ(cancelled("", R"({"messageIds":[")" + id + R"("]})"), Seqs{2});
  EXPECT_EQ(cancelled("", R"({"label":"red","messageIds":null})"), Seqs{1});
  EXPECT_EQ(cancelled("", R"({"messageIds":[]})"), Seqs{});
  EXPECT_EQ(cancelled("", "{}"), (Seqs{1, 2}));
}

TEST_F(BulkCancel, WhatIsNotUnderstoodCancelsNothing) {
  store_waiting(1);
  for (const std::string query :
       {"?nonsense=1", "?state=CREATED", "?fromDate=yesterday", "?toDate=x", "?count=0", "?count=x",
        "?count=-1", "?count=1&count=2", "?label=%zz"}) {
    EXPECT_EQ(cancelled(query), Seqs{}) << query;
    EXPECT_EQ(answered.status, 400) << query;
    EXPECT_FALSE(error_of(answered).empty());
  }
  for (const char* const body : {"{", "[]", R"({"messageIds":{}})", R"({"messageIds":[{}]})",
                                 R"({"messageIds":5})", R"({"nonsense":"1"})"}) {
    EXPECT_EQ(cancelled("", body), Seqs{}) << body;
    EXPECT_EQ(answered.status, 400) << body;
  }
}

TEST_F(BulkCancel, AFilterWithoutValuesIsNotTakenForNone) {
  store_waiting(1);
  EXPECT_EQ(cancelled("", R"({"label":[]})"), Seqs{});
  EXPECT_EQ(answered.status, 400);
  EXPECT_NE(error_of(answered).find("must not be empty; leave it out to select everything"),
            std::string::npos);
}

TEST_F(BulkCancel, AParameterHasAtMostAHundredValues) {
  core::Message message;
  message.url = "https://Host.example/x";
  store_waiting(1, message);
  std::string hosts = R"("HOST.example")";
  for (int i = 1; i < 100; ++i) {
    hosts += ",\"h" + std::to_string(i) + '"';
  }
  EXPECT_EQ(cancelled("", R"({"host":[)" + hosts + R"(,"one more"]})"), Seqs{});
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(error_of(answered), "host: at most 100 values in one call, got 101");
  EXPECT_EQ(cancelled("", R"({"path":[)" + hosts + R"(,"one more"]})"), Seqs{});

  EXPECT_EQ(cancelled("", R"({"host":[)" + hosts + "]}"), Seqs{1});
}

TEST_F(BulkCancel, AnEmptyIdIsNotEverything) {
  store_waiting(1);

  EXPECT_EQ(cancelled("/"), Seqs{});
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(cancelled("/?qstash_token=x"), Seqs{});
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(cancelled("/?count=100"), Seqs{1});
  EXPECT_EQ(cancelled("/", "{}"), Seqs{1});
}

TEST_F(BulkCancel, OnlyWhatThisCallCancelledCounts) {
  for (std::uint64_t i = 1; i <= 4; ++i) {
    store_waiting(i);
  }
  submitter.answer = [](core::Command& command) -> core::Reply {
    if (command.get<core::CancelMessage>().id.seq.value() % 2 == 0) {
      return fail(ErrorKind::not_found, "finished meanwhile");
    }
    return core::Canceled{};
  };

  EXPECT_EQ(cancelled("").size(), 4U);
  EXPECT_EQ(answered.body, R"({"cancelled":2})");
  EXPECT_EQ(cancelled("?count=2"), (Seqs{1, 2, 3}));  // the second one did not count
  EXPECT_EQ(answered.body, R"({"cancelled":2})");
}

TEST_F(BulkCancel, WhatIsOverOrBeingCancelledIsNotAskedFor) {
  store_waiting(1);
  store_waiting(2);
  core::MessageState over;
  over.status = core::Status::succeeded;
  core::MessageState wished;
  wished.cancel_requested = true;
  store(core::Seq{3}, {}, over);
  store(core::Seq{4}, {}, wished);
  store(core::Seq{5}, {}, core::MessageState{});
  submitter.reader->rows<core::LaneRow>().begin()->second.entry.cancel_requested = true;

  EXPECT_EQ(cancelled(""), (Seqs{2, 5}));
}

TEST_F(BulkCancel, ManyAreTakenInPieces) {
  constexpr std::uint64_t count = 1000;
  for (std::uint64_t i = 1; i <= count; ++i) {
    core::Message message;
    message.queue = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "";
    if (i <= 700) {
      store_waiting(i, message);
    } else {
      store(core::Seq{i}, message);
    }
  }
  const std::uint64_t slot = begin({.method = "DELETE",
                                    .target = "/v2/messages",
                                    .fields = {{"Authorization", "Bearer token-1"}}});
  EXPECT_LE(submitter.taken.size(), 300U);  // the first piece: the thread is free again
  EXPECT_EQ(end(slot).body, R"({"cancelled":1000})");
  EXPECT_EQ(submitter.taken.size(), count);

  EXPECT_EQ(cancelled("?count=500").size(), 500U);
  EXPECT_EQ(cancelled("?count=101").size(), 101U);
  EXPECT_EQ(cancelled("?queueName=a").size(), 333U);
}

TEST_F(BulkCancel, NobodyCancelsWhatIsNotTheirs) {
  core::Message foreign;
  foreign.tenant = core::TenantId{2};
  store_waiting(1, foreign);
  store_waiting(2);
  foreign.queue = "q";
  store_waiting(3, foreign);
  store(core::Seq{4}, foreign);

  EXPECT_EQ(cancelled(""), Seqs{2});
}

TEST_F(BulkCancel, LeavesQueuesOfSqsAndNotificationsOfSnsAloneUnlessTheyAreNamed) {
  core::Message pulled;
  pulled.queue = "of-sqs";
  pulled.labels = {"red"};
  pulled.pull.emplace();
  core::Message in_order = pulled;
  in_order.queue = "of-sqs.fifo";
  in_order.pull->fifo = true;
  core::Message notification;
  notification.notification = true;
  notification.labels = {"red"};
  core::Message pushed;
  pushed.queue = "of-qstash";
  pushed.labels = {"red"};
  store_waiting(1, pulled);
  store_waiting(2, in_order);
  store_waiting(3, notification);
  store_waiting(4, pushed);
  store(core::Seq{5}, pulled);  // young ones
  store(core::Seq{6}, notification);
  store(core::Seq{7}, pushed);
  const auto id = [](std::uint64_t seq) { return core::to_text(id_of(core::Seq{seq})); };

  const struct {
    std::string query;
    std::string body;
    Seqs seqs;
    bool unnamed;
  } rows[] = {
      {"", "", {4, 7}, true},
      {"", "{}", {4, 7}, true},
      {"/?count=100", "", {4, 7}, true},
      {"?label=red", "", {4, 7}, true},
      {"", R"({"label":"red","queueName":null})", {4, 7}, true},
      {"?fromDate=0", "", {4, 7}, true},
      {"?queueName=of-sqs", "", {1, 5}, false},
      {"", R"({"queueName":["of-sqs","of-qstash"]})", {1, 4, 5, 7}, false},
      {"?queueName=of-sqs.fifo&label=red", "", {2}, false},
      {"?queueName=of-qstash", "", {4, 7}, false},
      {"?messageIds=" + id(1) + "," + id(3) + "," + id(4), "", {1, 3, 4}, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(cancelled(row.query, row.body), row.seqs) << row.query << row.body;
    for (const core::Command& command : submitter.taken) {
      EXPECT_EQ(command.get<core::CancelMessage>().unnamed, row.unnamed) << row.query;
    }
  }
}

TEST_F(BulkCancel, AnEmptyValueIsNotEverything) {
  store_waiting(1);
  for (const std::string query :
       {"?queueName=", "?queueName=,", "?label=%20",
        "?url=", "?host=", "?path=", "?topicName=", "?scheduleId=", "?flowControlKey=",
        "?callerIp=", "?callerIP=", "?fromDate=", "?toDate=", "?count="}) {
    EXPECT_EQ(cancelled(query), Seqs{}) << query;
    EXPECT_EQ(answered.status, 400) << query;
    EXPECT_NE(error_of(answered).find("must not be empty; leave it out to select everything"),
              std::string::npos);
  }
  EXPECT_EQ(cancelled("", R"({"queueName":""})"), Seqs{});
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(cancelled("?cursor="), Seqs{1});
}

TEST_F(BulkCancel, WhatCouldNotBeDoneNowIsTold) {
  store_waiting(1);
  store_waiting(2);
  submitter.room = 1;

  EXPECT_EQ(cancelled(""), Seqs{1});
  EXPECT_EQ(answered.status, 503);
  EXPECT_TRUE(error_of(answered).starts_with("1 messages were cancelled")) << answered.body;
}

TEST_F(BulkCancel, ABrokenRecordIsOurFault) {
  store_waiting(1);
  submitter.reader->stored<core::Message>().broken = true;

  EXPECT_EQ(cancelled(""), Seqs{});
  EXPECT_EQ(answered.status, 500);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
