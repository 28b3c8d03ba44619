#include "api/aws/names.h"

#include <gtest/gtest.h>

#include <set>

namespace hk::api::aws {
namespace HK_TEST_FILE {

TEST(AwsNames, QueuesTopicsAndIdsHaveTheirRules) {
  const std::string long80(80, 'a');
  const std::string fifo80 = std::string(75, 'a') + ".fifo";
  const std::string long128(128, '~');
  const std::string long256(256, 'a');
  struct Row {
    std::string text;
    bool queue;
    bool topic;
    bool batch;
    bool group;
  };
  const Row rows[] = {
      {"q", true, true, true, true},
      {"My-queue_1", true, true, true, true},
      {"q.fifo", true, true, false, true},
      {".fifo", false, false, false, true},
      {"q.FIFO", false, false, false, true},
      {"a.b", false, false, false, true},
      {"a.b.fifo", false, false, false, true},
      {"", false, false, false, false},
      {"a b", false, false, false, false},
      {"a/b", false, false, false, true},
      {"caf\xc3\xa9", false, false, false, false},
      {"a\n", false, false, false, false},
      {"\x7f", false, false, false, false},
      {"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", false, false, false, true},
      {long80, true, true, true, true},
      {long80 + "a", false, true, false, true},
      {fifo80, true, true, false, true},
      {"a" + fifo80, false, true, false, true},
      {long128, false, false, false, true},
      {long128 + "~", false, false, false, false},
      {long256, false, true, false, false},
      {long256 + "a", false, false, false, false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(valid_queue_name(row.text), row.queue);
    EXPECT_EQ(valid_topic_name(row.text), row.topic);
    EXPECT_EQ(valid_batch_id(row.text), row.batch);
    EXPECT_EQ(valid_group_id(row.text), row.group);
  }
  EXPECT_TRUE(is_fifo_name("a.fifo"));
  EXPECT_FALSE(is_fifo_name("afifo"));
}

TEST(AwsNames, AQueueUrlIsReadFromItsEnd) {
  struct Row {
    std::string_view url;
    std::optional<QueueRef> queue;
  };
  const Row rows[] = {
      {"http://localhost:8080/000000000000/q", QueueRef{"000000000000", "q"}},
      {"https://sqs.us-east-1.amazonaws.com/123456789012/q.fifo",
       QueueRef{"123456789012", "q.fifo"}},
      {"http://h/000000000000/q/", QueueRef{"000000000000", "q"}},
      {"http://h/some/prefix/1/q", QueueRef{"1", "q"}},
      {"/1/q", QueueRef{"1", "q"}},
      {"1/q", QueueRef{"1", "q"}},
      {"q", QueueRef{"", "q"}},
      {"/1/q?x=y", QueueRef{"1", "q"}},
      {"", {}},
      {"/", {}},
      {"//", {}},
      {"/q", {}},
      {"http://h", {}},
      {"http://h/", {}},
      {"http://h/q", {}},
      {"http://h/1//", {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.url);
    EXPECT_EQ(parse_queue_url(row.url), row.queue);
  }
}

TEST(AwsNames, AQueueUrlHasTheHostThatTheClientCalled) {
  http::Request request;
  request.fields = {{"Host", "queues.test:8080"},
                    {"X-Forwarded-Host", "public.test, inner.test"},
                    {"X-Forwarded-Proto", "https"}};
  struct Row {
    std::string_view name;
    BaseUrl setting;
    bool tls;
    std::string_view base;
  };
  const Row rows[] = {
      {"plain", {}, false, "http://queues.test:8080"},
      {"TLS", {}, true, "https://queues.test:8080"},
      {"pinned", {"https://pinned.test/sub/", false}, false, "https://pinned.test/sub"},
      {"forwarded and trusted", {"", true}, false, "https://public.test"},
      {"pinned before forwarded", {"https://pinned.test", true}, false, "https://pinned.test"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(base_url(row.setting, request, row.tls), row.base);
  }
  EXPECT_EQ(queue_url("http://h:1", "000000000000", "q.fifo"), "http://h:1/000000000000/q.fifo");
  EXPECT_EQ(parse_queue_url(queue_url("http://h:1", "2", "q")), (QueueRef{"2", "q"}));
}

TEST(AwsNames, ArnsAreReadAsTheyAreWritten) {
  const Arn queue{"sqs", "us-east-1", "000000000000", "q.fifo"};
  EXPECT_EQ(to_text(queue), "arn:aws:sqs:us-east-1:000000000000:q.fifo");
  EXPECT_EQ(parse_arn(to_text(queue)), queue);
  EXPECT_EQ(parse_arn("arn:aws-cn:sns:r:1:topic:0f0f"), (Arn{"sns", "r", "1", "topic:0f0f"}));
  for (const std::string_view text :
       {"", "arn", "arn:aws:sqs:r:1", "arn:aws:sqs:r:1:", "arn:aws:sqs::1:q", "arn:aws:sqs:r::q",
        "urn:aws:sqs:r:1:q", ":aws:sqs:r:1:q", "q"}) {
    EXPECT_FALSE(parse_arn(text)) << text;
  }
}

TEST(AwsNames, UuidsAreOfVersionFourAndDiffer) {
  SeededRng rng(1);
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::string uuid = make_uuid(rng);
    ASSERT_EQ(uuid.size(), 36U);
    for (std::size_t at = 0; at < uuid.size(); ++at) {
      const bool hyphen = at == 8 || at == 13 || at == 18 || at == 23;
      EXPECT_EQ(uuid[at] == '-', hyphen) << uuid;
      EXPECT_NE(std::string_view("0123456789abcdef-").find(uuid[at]), std::string_view::npos);
    }
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos);
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1'000U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
