#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

CreateTopic creating(std::string incarnation = "i") {
  return {.topic = {.tenant = tenant_one, .name = "t", .incarnation = std::move(incarnation)}};
}

SetTopic setting(std::uint64_t version, std::vector<Header> tags = {}) {
  return {.topic = {.tenant = tenant_one,
                    .name = "t",
                    .tags = std::move(tags),
                    .incarnation = "i",
                    .version = version}};
}

const Topic& stored(const Rig& rig) { return rig.reader.rows<Topic>().at({tenant_one, "!t"}); }

TEST(CreateTopic, MakesOneAndLeavesTheOneThatIsThere) {
  Rig rig;
  const auto made = rig.run(creating()).only<TopicMade>();
  EXPECT_FALSE(made.existed);
  EXPECT_EQ(made.topic->topic, stored(rig));
  EXPECT_EQ(stored(rig).version, 1U);
  EXPECT_EQ(stored(rig).created_at, rig.now);

  const auto again = rig.run(creating("j")).only<TopicMade>();
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.topic->topic.incarnation, "i");
  EXPECT_EQ(stored(rig).version, 1U);
}

TEST(SetTopic, ReplacesWhatIsSetAndKeepsItsSubscriptions) {
  Rig rig;
  rig.run(creating(), Subscribe{tenant_one, "t", {.id = "one", .queue = "q", .protocol = "sqs"}});
  const Topic before = stored(rig);
  rig.pass(Millis{5});

  rig.run(setting(2, {{"k", "v"}})).only<Done>();

  EXPECT_EQ(stored(rig).tags, (std::vector<Header>{{"k", "v"}}));
  EXPECT_EQ(stored(rig).subscriptions, before.subscriptions);
  EXPECT_EQ(stored(rig).version, 3U);
  EXPECT_EQ(stored(rig).created_at, before.created_at);
  EXPECT_EQ(stored(rig).updated_at, before.created_at + Millis{5});
}

TEST(SetTopic, IsRefusedAndChangesNothing) {
  SetTopic other = setting(1);
  other.topic.name = "u";
  SetTopic made_again = setting(1);
  made_again.topic.incarnation = "j";
  struct Row {
    std::string_view name;
    SetTopic command;
    ErrorKind refused;
  };
  const Row rows[] = {
      {"no such topic", other, ErrorKind::not_found},
      {"of another version", setting(2), ErrorKind::conflict},
      {"made again", made_again, ErrorKind::conflict},
      {"too much text", setting(1, {{"k", std::string(200, 'x')}}), ErrorKind::quota_reached},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Limits limits;
    limits.topic_bytes_max = 100;
    Rig rig(limits);
    rig.run(creating()).only<TopicMade>();
    const Topic before = stored(rig);

    const Ran ran = rig.run(SetTopic(row.command));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_EQ(stored(rig), before);
  }
}

TEST(CreateTopic, OfATenantThatIsNotThereIsRefused) {
  Rig rig;
  CreateTopic stranger = creating();
  stranger.topic.tenant = TenantId{9};
  EXPECT_EQ(rig.run(std::move(stranger)).replies.at(0).error().kind, ErrorKind::not_found);
}

TEST(CreateTopic, ATopicAndAUrlGroupOfOneNameAreTwo) {
  Rig rig;
  rig.run(creating()).only<TopicMade>();
  rig.run(UpsertEndpoints{tenant_one, "t", {{.url = "a", .host = "http://a"}}}).only<Done>();
  EXPECT_EQ(rig.reader.rows<Topic>().size(), 2U);

  rig.run(DeleteTopic{tenant_one, TopicKind::url_group, "t"}).only<Done>();
  EXPECT_EQ(rig.reader.rows<Topic>().size(), 1U);
  rig.run(DeleteTopic{tenant_one, TopicKind::sns, "t"}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Topic>().empty());
}

TEST(SetTopic, TopicsBeyondMemoryAreReadAgain) {
  Limits limits;
  limits.topic_memory_bytes = 1;
  Rig rig(limits);
  UpsertEndpoints other{tenant_one, "g", {{.url = "a", .host = "http://a"}}};

  // The second forgets the first, which is not in the store yet.
  const Ran ran = rig.run(creating(), UpsertEndpoints(other), setting(1), setting(1));

  EXPECT_TRUE(ran.replies.at(2).has_value());
  EXPECT_FALSE(ran.replies.at(3).has_value());
  EXPECT_EQ(stored(rig).version, 2U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
