#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Message to_somebody() {
  Message message;
  message.tenant = tenant_one;
  message.url = "http://receiver/";
  message.host = "http://receiver:80";
  return message;
}

TEST(Origin, IsTheUpperPartOfANumber) {
  const Seq seq = make_seq(Origin{65'535}, counter_max);
  EXPECT_EQ(seq, Seq{~std::uint64_t{0}});
  EXPECT_EQ(origin_of(seq), Origin{65'535});
  EXPECT_EQ(counter_of(seq), counter_max);
  EXPECT_EQ(make_seq(Origin{}, 7), Seq{7});  // what is stored from before there were origins
  const MessageId id{make_seq(Origin{300}, 1), 42};
  EXPECT_EQ(parse_message_id(to_text(id)), id);
}

TEST(Origin, IsKeptFromTheFirstTermOn) {
  Rig rig;
  rig.reader.rows<Meta>().clear();  // as if it were new
  ASSERT_TRUE(rig.open({.origin = Origin{5}}).has_value());
  EXPECT_EQ(rig.publish(to_somebody()).seq, make_seq(Origin{5}, 1));

  rig.restart();

  EXPECT_EQ(rig.publish(to_somebody()).seq, make_seq(Origin{5}, 2));
  EXPECT_EQ(rig.reader.get<Meta>({})->origin, Origin{5});
  EXPECT_EQ(rig.reader.last_seq(), make_seq(Origin{5}, 2));
  EXPECT_EQ(rig.reader.messages_after(Seq{}, 10).size(), 0U);  // of origin 0
  EXPECT_EQ(rig.reader.messages_after(make_seq(Origin{5}, 0), 10).size(), 2U);
}

TEST(Origin, OfAnotherStoreIsRefusedUnlessItIsTakenOver) {
  struct Row {
    std::string_view name;
    Term term;
    bool begins;
  };
  const Row rows[] = {
      {"the same", {.origin = Origin{5}}, true},
      {"whatever is stored", {}, true},
      {"another", {.origin = Origin{6}}, false},
      {"a copy that goes on under a number of its own",
       {.origin = Origin{6}, .take_over = true},
       true},
      {"a lower one, whose messages would overtake",
       {.origin = Origin{4}, .take_over = true},
       false},
      {"a later epoch", {.epoch = 9}, true},
      {"the last epoch again", {.epoch = 1}, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.reader.rows<Meta>().clear();
    ASSERT_TRUE(rig.open({.origin = Origin{5}}).has_value());

    const Result<void> opened = rig.open(row.term);

    ASSERT_EQ(opened.has_value(), row.begins);
    if (!row.begins) {
      EXPECT_EQ(opened.error().kind, ErrorKind::conflict);
    } else if (row.term.epoch) {
      EXPECT_EQ(rig.reader.get<Meta>({})->epoch, *row.term.epoch);
    }
  }
}

TEST(Origin, ACopyGoesOnWithWhatItHasAndNumbersNothingTwice) {
  Rig rig;
  const MessageId old = rig.publish(to_somebody());

  ASSERT_TRUE(rig.open({.origin = Origin{7}, .take_over = true}).has_value());

  const MessageId young = rig.publish(to_somebody());
  EXPECT_EQ(young.seq, make_seq(Origin{7}, counter_of(old.seq) + 1));
  EXPECT_EQ(rig.machine->in_flight(), 2U);  // the old one was sent again
  rig.restart();
  EXPECT_EQ(rig.publish(to_somebody()).seq, make_seq(Origin{7}, counter_of(old.seq) + 2));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
