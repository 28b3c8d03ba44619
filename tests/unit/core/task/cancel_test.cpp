#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis hour{3'600'000};

struct CancelTasks : ::testing::Test {
  static Limits few_per_batch() {
    Limits few;
    few.moves_per_batch = 2;
    few.lane_window_max = 2;
    few.lane_window_min = 2;
    few.cancel_tasks_running = 2;
    few.cancel_tasks_kept = 3;
    return few;
  }
  Message later(const std::string& label, const std::string& host = "http://a") {
    Message message = message_to(host);
    message.not_before = rig.now + hour;
    message.labels = {label};
    return message;
  }
  MessageId publish(const std::string& label, const std::string& host = "http://a") {
    return rig.publish(later(label, host));
  }
  static StartCancelTask cancelling(MessageFilter filter = {}, std::uint64_t count_max = 0) {
    return {tenant_one, {std::move(filter), count_max}};
  }
  std::uint64_t start(MessageFilter filter = {}, std::uint64_t count_max = 0) {
    return rig.run(cancelling(std::move(filter), count_max)).only<TaskStarted>().number;
  }
  std::optional<Task> find(std::uint64_t number) {
    return rig.reader.get<Task>({tenant_one, 2U, number, {}});
  }
  void settle(std::uint64_t number) {
    for (int i = 0; i < 100 && find(number)->status == Task::Status::running; ++i) {
      rig.run();
    }
    EXPECT_EQ(find(number)->status, Task::Status::completed);
  }
  bool canceled(MessageId id) {
    const auto state = rig.reader.get<MessageState>(id.seq);
    return state && state->status == Status::canceled;
  }
  PullRig rig{few_per_batch()};
};

TEST_F(CancelTasks, CancelsWhatTheFilterSelectsAFewPerBatch) {
  std::vector<MessageId> red;
  for (int i = 0; i < 7; ++i) {
    red.push_back(publish("red", i % 2 == 0 ? "http://a" : "http://b"));
  }
  const MessageId blue = publish("blue");
  const std::uint64_t number = start({.labels = {"red"}});
  std::uint64_t last = find(number)->processed;
  for (int i = 0; i < 100 && find(number)->status == Task::Status::running; ++i) {
    rig.run();
    EXPECT_LE(find(number)->processed, last + 2);
    last = find(number)->processed;
  }

  const auto done = find(number);
  EXPECT_EQ(done->status, Task::Status::completed);
  EXPECT_EQ(done->processed, 7U);
  EXPECT_EQ(done->total, 7U);
  EXPECT_EQ(done->ended_at, rig.now);
  for (const MessageId id : red) {
    EXPECT_TRUE(canceled(id));
  }
  EXPECT_FALSE(canceled(blue));
}

TEST_F(CancelTasks, LeavesAloneWhatCameLater) {
  const MessageId before = publish("red");
  const Ran ran =
      rig.run(Rig::publishing(later("red")), cancelling(), Rig::publishing(later("red")));
  const std::uint64_t number = ran.replies.at(1)->get_if<TaskStarted>()->number;
  const MessageId with = ran.replies.at(0)->get_if<Published>()->id;
  const MessageId behind = ran.replies.at(2)->get_if<Published>()->id;
  settle(number);

  EXPECT_TRUE(canceled(before));
  EXPECT_TRUE(canceled(with));
  EXPECT_FALSE(canceled(behind));
  EXPECT_EQ(find(number)->processed, 2U);
}

TEST_F(CancelTasks, GoesOnAfterARestartAndCountsEachOnce) {
  for (int i = 0; i < 9; ++i) {
    publish("red");
  }
  const std::uint64_t number = start();
  for (int i = 0; i < 40 && find(number)->status == Task::Status::running; ++i) {
    rig.run();
    rig.restart();
  }
  settle(number);
  EXPECT_EQ(find(number)->processed, 9U);
  EXPECT_EQ(rig.counts().canceled, 9U);
}

TEST_F(CancelTasks, WhatIsBeingCancelledAlreadyIsNotCounted) {
  const MessageId running = rig.publish(message_to("http://a"));
  const MessageId waiting = publish("red");
  rig.run(CancelMessage{tenant_one, running}).only<Canceled>();
  rig.run(CancelMessage{tenant_one, waiting}).only<Canceled>();
  const MessageId under_way = rig.publish(message_to("http://b"));
  const std::uint64_t number = start();
  settle(number);

  EXPECT_EQ(find(number)->processed, 1U);
  EXPECT_TRUE(rig.reader.get<MessageState>(under_way.seq)->cancel_requested);
}

TEST_F(CancelTasks, MeansWhatTheQStashApiMadeUnlessQueuesAreNamed) {
  rig.make("q");
  const MessageId pulled = rig.send("q", "body");
  Message notification = later("red");
  notification.notification = true;
  const MessageId note = rig.publish(notification);
  const std::uint64_t first = start();
  settle(first);
  EXPECT_EQ(find(first)->processed, 0U);
  const std::uint64_t second = start({.queues = {"q"}});
  settle(second);

  EXPECT_TRUE(canceled(pulled));
  EXPECT_FALSE(canceled(note));
  EXPECT_EQ(find(second)->processed, 1U);
  EXPECT_EQ(rig.count("q").visible, 0U);
}

TEST_F(CancelTasks, StopsAtItsCount) {
  for (int i = 0; i < 7; ++i) {
    publish("red");
  }
  const std::uint64_t number = start({}, 3);
  settle(number);
  EXPECT_EQ(find(number)->processed, 3U);
  EXPECT_EQ(rig.counts().canceled, 3U);
}

TEST_F(CancelTasks, AreFewAtATimeAndKeptForAWhile) {
  for (int i = 0; i < 7; ++i) {
    publish("red");
  }
  const Ran ran = rig.run(cancelling(), cancelling(), cancelling());
  const std::uint64_t first = ran.replies.at(0)->get_if<TaskStarted>()->number;
  const std::uint64_t second = ran.replies.at(1)->get_if<TaskStarted>()->number;
  EXPECT_LT(first, second);
  EXPECT_EQ(ran.replies.at(2).error().kind, ErrorKind::quota_reached);
  settle(first);
  settle(second);
  EXPECT_EQ(find(first)->processed + find(second)->processed, 7U);
  const std::uint64_t third = start();
  settle(third);
  const std::uint64_t fourth = start();
  EXPECT_FALSE(find(first).has_value()) << "too many later ones";
  settle(fourth);

  rig.restart();
  rig.pass(rig.limits.cancel_tasks_kept_for - Millis{1});
  rig.run();
  EXPECT_EQ(rig.reader.rows<Task>().size(), 3U);
  EXPECT_EQ(rig.machine->wake_at().value_or(never),
            find(second)->started_at + rig.limits.cancel_tasks_kept_for);
  rig.pass(Millis{1});
  rig.run();
  rig.run();
  EXPECT_TRUE(rig.reader.rows<Task>().empty());
  EXPECT_GT(start(), fourth);
}

TEST_F(CancelTasks, AreRefusedWithoutTheirTenantAndWithAHugeFilter) {
  StartCancelTask nobody = cancelling();
  nobody.tenant = TenantId{9};
  EXPECT_EQ(rig.run(std::move(nobody)).replies.at(0).error().kind, ErrorKind::not_found);
  EXPECT_EQ(rig.run(cancelling({.labels = {std::string(70'000, 'x')}})).replies.at(0).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_TRUE(rig.reader.rows<Task>().empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
