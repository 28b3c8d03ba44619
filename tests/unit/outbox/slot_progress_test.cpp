#include "outbox/source/slot_progress.h"

#include <gtest/gtest.h>

using namespace hk;
using namespace hk::outbox;

namespace {

constexpr Lsn at_start = 1000;

class Stream {
 public:
  Stream() {
    progress.restart(at_start);
    EXPECT_TRUE(progress.take_due());
    EXPECT_FALSE(progress.looked_through());
  }
  void begin() { progress.on_change(pgoutput::Begin{}); }
  void insert() { progress.on_change(pgoutput::Insert{}); }
  void message(bool transactional, std::string_view prefix) {
    progress.on_change(pgoutput::Message{transactional, 0, prefix, {}});
  }
  void commit(Lsn end) { progress.on_change(pgoutput::Commit{end - 48, end, 0}); }
  void row(Lsn end) {
    begin();
    insert();
    commit(end);
  }

  SlotProgress progress{"ours"};
};

}  // namespace

TEST(SlotProgress, AStreamThatBeginsIsDueOnce) {
  SlotProgress progress{"ours"};
  EXPECT_FALSE(progress.take_due());

  progress.restart(at_start);

  EXPECT_TRUE(progress.take_due());
  EXPECT_FALSE(progress.take_due());
  EXPECT_EQ(progress.confirmed(), at_start);
}

TEST(SlotProgress, ARowIsDueWhenItsTransactionCommits) {
  Stream stream;
  stream.begin();
  stream.insert();
  EXPECT_FALSE(stream.progress.take_due());

  stream.commit(2000);

  EXPECT_TRUE(stream.progress.take_due());
}

TEST(SlotProgress, ACommitIsConfirmedAfterTheLookThatBeganBehindIt) {
  Stream stream;
  stream.row(2000);
  EXPECT_EQ(stream.progress.confirmed(), at_start);
  EXPECT_EQ(stream.progress.received(), 2000U);
  EXPECT_TRUE(stream.progress.take_due());
  stream.row(3000);  // while the table is looked through

  EXPECT_TRUE(stream.progress.looked_through());

  EXPECT_EQ(stream.progress.confirmed(), 2000U);
  EXPECT_TRUE(stream.progress.take_due());
  EXPECT_TRUE(stream.progress.looked_through());
  EXPECT_EQ(stream.progress.confirmed(), 3000U);
  EXPECT_FALSE(stream.progress.looked_through());
}

TEST(SlotProgress, ALookThatWasNotTheSourcesDoingConfirmsNothingThatItHasNotTold) {
  Stream stream;
  stream.row(2000);

  EXPECT_FALSE(stream.progress.looked_through());

  EXPECT_EQ(stream.progress.confirmed(), at_start);
}

TEST(SlotProgress, FollowsTheServerWhileNothingIsOwed) {
  Stream stream;
  stream.progress.on_keepalive(5000);
  EXPECT_EQ(stream.progress.confirmed(), 5000U);

  stream.begin();
  stream.commit(6000);  // a transaction without rows of ours

  EXPECT_EQ(stream.progress.confirmed(), 6000U);
  EXPECT_FALSE(stream.progress.take_due());
}

TEST(SlotProgress, DoesNotFollowPastWhatIsOwed) {
  Stream stream;
  stream.row(2000);
  stream.progress.on_keepalive(5000);
  stream.begin();
  stream.commit(6000);
  EXPECT_EQ(stream.progress.confirmed(), at_start);

  EXPECT_TRUE(stream.progress.take_due());
  EXPECT_TRUE(stream.progress.looked_through());

  EXPECT_EQ(stream.progress.confirmed(), 6000U);  // and then the whole way
}

TEST(SlotProgress, AKeepaliveWithinATransactionMovesNothing) {
  Stream stream;
  stream.begin();
  stream.insert();

  stream.progress.on_keepalive(9000);

  EXPECT_EQ(stream.progress.confirmed(), at_start);
}

TEST(SlotProgress, NeverGoesBack) {
  Stream stream;

  stream.progress.on_keepalive(10);  // a server that reads its log again from before the position

  EXPECT_EQ(stream.progress.confirmed(), at_start);
}

TEST(SlotProgress, OnlyMessagesWithOurPrefixAskForALook) {
  Stream stream;
  stream.begin();
  stream.message(true, "theirs");
  stream.commit(2000);
  EXPECT_FALSE(stream.progress.take_due());
  stream.message(false, "theirs");
  EXPECT_FALSE(stream.progress.take_due());

  stream.message(false, "ours");
  EXPECT_TRUE(stream.progress.take_due());
  stream.begin();
  stream.message(true, "ours");
  EXPECT_FALSE(stream.progress.take_due());
  stream.commit(3000);

  EXPECT_TRUE(stream.progress.take_due());
  EXPECT_EQ(stream.progress.confirmed(), 2000U);
}

TEST(SlotProgress, WhatAnEarlierStreamToldIsForgotten) {
  Stream stream;
  stream.row(2000);
  EXPECT_TRUE(stream.progress.take_due());

  stream.progress.restart(at_start);

  EXPECT_FALSE(stream.progress.looked_through());
  EXPECT_EQ(stream.progress.confirmed(), at_start);
  EXPECT_TRUE(stream.progress.take_due());
}
