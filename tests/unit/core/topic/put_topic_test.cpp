#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

PutTopic putting(std::uint64_t version, std::vector<Subscription> subscriptions = {}) {
  return {.topic = {.tenant = tenant_one,
                    .kind = TopicKind::sns,
                    .name = "t",
                    .subscriptions = std::move(subscriptions),
                    .version = version}};
}

const Topic& stored(const Rig& rig) { return rig.reader.rows<Topic>().at({tenant_one, "!t"}); }

TEST(PutTopic, CreatesItAndReplacesTheVersionThatItKnows) {
  Rig rig;
  rig.run(putting(0)).only<Done>();
  const Moment made = stored(rig).created_at;
  rig.pass(Millis{5});
  rig.run(putting(1, {{.id = "one", .queue = "q"}})).only<Done>();

  EXPECT_EQ(stored(rig).version, 2U);
  EXPECT_EQ(stored(rig).created_at, made);
  EXPECT_EQ(stored(rig).updated_at, made + Millis{5});
  EXPECT_EQ(stored(rig).subscriptions.size(), 1U);
}

TEST(PutTopic, IsRefusedAndChangesNothing) {
  PutTopic stranger = putting(0);
  stranger.topic.tenant = TenantId{9};
  PutTopic large = putting(1);
  large.topic.tags = {{"k", std::string(200, 'x')}};
  struct Row {
    std::string_view name;
    PutTopic command;
    ErrorKind refused;
  };
  const Row rows[] = {
      {"it is there", putting(0), ErrorKind::conflict},
      {"of another version", putting(2), ErrorKind::conflict},
      {"of no tenant", stranger, ErrorKind::not_found},
      {"too many subscriptions", putting(1, {{.id = "a"}, {.id = "b"}, {.id = "c"}}),
       ErrorKind::quota_reached},
      {"too much text", large, ErrorKind::quota_reached},
      {"a filter that is none", putting(1, {{.id = "a", .filter = "nonsense"}}),
       ErrorKind::invalid_argument},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Limits limits;
    limits.subscriptions_max = 2;
    limits.topic_bytes_max = 100;
    Rig rig(limits);
    rig.run(putting(0)).only<Done>();
    const Topic before = stored(rig);

    const Ran ran = rig.run(PutTopic(row.command));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_EQ(stored(rig), before);
  }
}

TEST(PutTopic, ATopicAndAUrlGroupOfOneNameAreTwo) {
  Rig rig;
  rig.run(putting(0)).only<Done>();
  rig.run(UpsertEndpoints{tenant_one, "t", {{.url = "a", .host = "http://a"}}}).only<Done>();
  EXPECT_EQ(rig.reader.rows<Topic>().size(), 2U);

  rig.run(DeleteTopic{tenant_one, TopicKind::url_group, "t"}).only<Done>();
  EXPECT_EQ(rig.reader.rows<Topic>().size(), 1U);
  rig.run(DeleteTopic{tenant_one, TopicKind::sns, "t"}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Topic>().empty());
}

TEST(PutTopic, TopicsBeyondMemoryAreReadAgain) {
  Limits limits;
  limits.topic_memory_bytes = 1;
  Rig rig(limits);
  UpsertEndpoints other{tenant_one, "g", {{.url = "a", .host = "http://a"}}};

  // The second forgets the first, which is not in the store yet.
  const Ran ran = rig.run(putting(0), UpsertEndpoints(other), putting(1), putting(1));

  EXPECT_TRUE(ran.replies.at(2).has_value());
  EXPECT_FALSE(ran.replies.at(3).has_value());
  EXPECT_EQ(stored(rig).version, 2U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
