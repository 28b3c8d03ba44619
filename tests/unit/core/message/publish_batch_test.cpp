#include <gtest/gtest.h>

#include <variant>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

PublishBatch batch(std::vector<Message> messages) {
  PublishBatch command;
  for (Message& one : messages) {
    command.items.push_back(Rig::publishing(std::move(one)));
  }
  return command;
}

Message to_group(std::string name) {
  Message message = message_to("");
  message.url.clear();
  message.topic = std::move(name);
  return message;
}

UpsertEndpoints group(std::string name, std::size_t endpoints) {
  UpsertEndpoints command{.tenant = tenant_one, .group = std::move(name)};
  for (std::size_t i = 0; i < endpoints; ++i) {
    const std::string host = "http://" + std::to_string(i);
    command.endpoints.push_back({.url = host + "/hook", .host = host});
  }
  return command;
}

/// One word per item.
std::vector<std::string> told(const BatchPublished& all) {
  std::vector<std::string> out;
  for (const auto& item : all.items) {
    if (!item) {
      out.emplace_back("refused");
    } else if (const auto* many = std::get_if<FannedOut>(&*item)) {
      out.push_back(std::to_string(many->messages.size()) + " messages");
    } else {
      const auto& one = std::get<Published>(*item);
      out.push_back((one.deduplicated ? "again " : "") + std::to_string(one.id.seq.value()));
    }
  }
  return out;
}

TEST(PublishBatch, AcceptsTheOthersWhenAnItemIsWrong) {
  Rig rig;
  rig.run(group("g", 2));
  Message stranger = message_to("http://a");
  stranger.tenant = TenantId{9};
  Message unreadable = message_to("http://a");
  unreadable.retry.delay = ExpressionDelay{"retried +"};

  const Ran ran = rig.run(batch({message_to("http://a"), stranger, unreadable, to_group("g"),
                                 to_group("unknown"), message_to("http://b")}));

  EXPECT_EQ(told(ran.only<BatchPublished>()),
            (std::vector<std::string>{"1", "refused", "refused", "2 messages", "refused", "4"}));
  EXPECT_EQ(rig.reader.rows<Message>().size(), 4U);
  EXPECT_EQ(rig.counts().accepted, 4U);
  EXPECT_EQ(ran.starts.size(), 4U);
}

TEST(PublishBatch, IsOneWriteAndSurvivesARestartAsAWhole) {
  Rig rig;
  rig.run(group("g", 3));
  Message later = message_to("http://a");
  later.not_before = rig.now + Millis{50};

  const Ran ran = rig.run(batch({later, to_group("g"), later}));

  std::size_t messages = 0;
  for (const Mutation& mutation : ran.mutations) {
    messages += std::holds_alternative<Put<Message>>(mutation) ? 1U : 0U;
  }
  EXPECT_EQ(messages, 5U) << "all of them in the mutations of one batch";
  rig.restart();
  rig.pass(Millis{50});
  EXPECT_EQ(rig.run().starts.size(), 5U);
}

TEST(PublishBatch, RecognisesDuplicatesInsideAndBetweenBatches) {
  Rig rig;
  Message message = message_to("http://a");
  message.dedup_id = "same";
  Message elsewhere = message_to("http://b");
  elsewhere.dedup_id = "same";

  const auto first = rig.run(batch({message, message, elsewhere})).only<BatchPublished>();
  rig.restart();
  const auto second = rig.run(batch({elsewhere, message})).only<BatchPublished>();

  EXPECT_EQ(told(first), (std::vector<std::string>{"1", "again 1", "2"}));
  EXPECT_EQ(told(second), (std::vector<std::string>{"again 2", "again 1"}));
}

TEST(PublishBatch, EnqueuesInTheOrderOfItsItems) {
  Rig rig;

  Ran ran = rig.run(batch({queued("q"), queued("q"), queued("q")}));

  for (const std::uint64_t seq : {1U, 2U, 3U}) {
    ASSERT_EQ(ran.started(), seqs({seq}));
    ran = rig.run(Rig::outcome(ran.starts[0], true));
  }
}

TEST(PublishBatch, BoundsWhatItsFanOutsBecome) {
  Rig rig;
  rig.run(group("g", 1000));
  std::vector<Message> items(21, to_group("g"));
  items.push_back(message_to("http://plain"));

  const auto all = rig.run(batch(std::move(items))).only<BatchPublished>();

  ASSERT_EQ(all.items.size(), 22U);
  EXPECT_TRUE(all.items[19].has_value());
  ASSERT_FALSE(all.items[20].has_value());
  EXPECT_EQ(all.items[20].error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(all.items[21].has_value()) << "a plain one still goes through";
  EXPECT_EQ(rig.reader.rows<Message>().size(), 20'001U);
}

TEST(PublishBatch, OfNothingIsAnsweredWithNothing) {
  Rig rig;

  EXPECT_TRUE(rig.run(PublishBatch{}).only<BatchPublished>().items.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
