#include <algorithm>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};
using Status = Task::Status;

Limits small_windows() {
  Limits small;
  small.lane_window_max = 2;
  small.lane_window_min = 2;
  small.moves_per_batch = 3;
  return small;
}

/// A queue and its dead letters: `dead` has what was received once from `q`.
struct Moves : ::testing::Test {
  explicit Moves(bool fifo = false) {
    rig.make("dead", {.fifo = fifo});
    rig.make("q", {.fifo = fifo, .dead_letters_to = "dead", .receives_max = 1});
    rig.make("other", {.fifo = fifo});
  }
  void die(std::initializer_list<const char*> bodies, bool grouped = false) {
    for (const std::string body : bodies) {
      rig.send("q", body, grouped ? body.substr(0, 1) : "");
    }
    for (int i = 0; i < 100 && rig.count("dead").visible < bodies.size(); ++i) {
      rig.receive("q", 10, second);
      rig.pass(second);
    }
    EXPECT_EQ(rig.count("dead").visible, bodies.size());
  }
  std::uint64_t start(const std::string& to = {}, std::uint32_t rate = 0) {
    return rig.run(StartMoveTask{tenant_one, "dead", to, rate}).only<TaskStarted>().number;
  }
  std::vector<Task> list() {
    return rig.run(ListMoveTasks{tenant_one, "dead"}).only<MoveTasksListed>().tasks;
  }
  void settle() {
    for (int i = 0; i < 30; ++i) {
      rig.run();
    }
  }
  Bodies drain(const std::string& queue) {
    Bodies all;
    for (int i = 0; i < 20; ++i) {
      for (const std::string& body : rig.receive(queue)) {
        all.push_back(body);
        rig.remove(queue, body);
      }
    }
    return all;
  }
  PullRig rig{small_windows()};
};
struct FifoMoves : Moves {
  FifoMoves() : Moves(true) {}
};

TEST_F(Moves, EachGoesBackToWhereItCameFromAsANewMessage) {
  die({"a", "b", "c", "d", "e", "f", "g"});
  const Moment now = rig.now;
  EXPECT_EQ(start(), 1U);
  settle();

  const auto tasks = list();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].status, Status::completed);
  EXPECT_EQ(tasks[0].processed, 7U);
  EXPECT_EQ(tasks[0].total, 7U);
  EXPECT_EQ(rig.count("dead").visible, 0U);
  EXPECT_EQ(drain("q"), (Bodies{"a", "b", "c", "d", "e", "f", "g"}));
  const Received::One& one = rig.last["a"];
  EXPECT_EQ(one.receive, 1U);
  EXPECT_EQ(one.message->pull->first_id, MessageId{});
  EXPECT_EQ(one.message->pull->moved_from, "");
  EXPECT_EQ(one.message->pull->receives_before, 0U);
  EXPECT_EQ(one.message->pull->sent_at, now);
  EXPECT_TRUE(rig.counts().conserved());
}

TEST_F(Moves, AreMadeOnceHoweverOftenItRestarts) {
  die({"a", "b", "c", "d", "e", "f", "g"});
  start("other");
  for (int i = 0; i < 20; ++i) {
    rig.restart();
    rig.run();
  }
  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(list().at(0).processed, 7U);
  EXPECT_EQ(rig.count("other").visible, 7U);
  EXPECT_EQ(rig.count("dead").visible, 0U);
}

TEST_F(Moves, LeaveWhatIsOutAndWhatComesLater) {
  die({"a", "b", "c"});
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a"}));
  start("other");
  rig.send("dead", "later");
  settle();

  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(list().at(0).total, 2U);
  EXPECT_EQ(drain("other"), (Bodies{"b", "c"}));
  EXPECT_EQ(drain("dead"), (Bodies{"later"}));
  EXPECT_TRUE(rig.remove("dead", "a").has_value());
}

TEST_F(Moves, AreSpreadEvenlyWithARate) {
  die({"a", "b", "c", "d", "e", "f"});
  start("other", 4);
  const Moment begun = rig.now;
  std::vector<std::int64_t> times;
  std::uint64_t seen = 1;
  EXPECT_EQ(rig.count("other").visible, seen);
  for (int i = 0; i < 40 && rig.machine->wake_at() && list().at(0).status == Status::running; ++i) {
    rig.now = std::max(rig.now, *rig.machine->wake_at());
    rig.run();
    if (const std::uint64_t there = rig.count("other").visible; there != seen) {
      EXPECT_EQ(there, seen + 1);
      seen = there;
      times.push_back((rig.now - begun).count());
    }
  }
  EXPECT_EQ(times, (std::vector<std::int64_t>{250, 500, 750, 1000, 1250}));
  rig.pass(3600 * second);
}

TEST_F(Moves, ARateIsNotMadeUpForAfterARest) {
  die({"a", "b", "c", "d", "e", "f"});
  start("other", 4);
  rig.pass(3600 * second);
  rig.run();
  EXPECT_EQ(rig.count("other").visible, 2U);
}

TEST_F(Moves, StopWhenTheyAreCancelled) {
  die({"a", "b", "c", "d", "e", "f"});
  const std::uint64_t number = start("other", 1);
  EXPECT_EQ(rig.run(StartMoveTask{tenant_one, "dead", "other", 0}).replies[0].error().kind,
            ErrorKind::conflict);
  EXPECT_EQ(rig.run(CancelMoveTask{tenant_one, "dead", number + 1}).replies[0].error().kind,
            ErrorKind::not_found);
  rig.restart();
  EXPECT_EQ(rig.run(CancelMoveTask{tenant_one, "dead", number}).only<MoveTaskCanceled>().moved, 1U);
  rig.restart();
  rig.pass(10 * second);
  settle();
  EXPECT_EQ(list().at(0).status, Status::canceled);
  EXPECT_EQ(rig.count("other").visible, 1U);
  EXPECT_EQ(start("other"), number + 1);
  settle();
  EXPECT_EQ(list().at(0).number, number + 1);
  EXPECT_EQ(rig.count("other").visible, 6U);
}

TEST_F(Moves, FailWithoutAPlaceToGo) {
  die({"a", "b"});
  start("other", 1);
  rig.run(DeleteQueueCommand{tenant_one, "other"});
  rig.pass(second);
  rig.run();
  EXPECT_EQ(list().at(0).status, Status::failed);
  EXPECT_EQ(list().at(0).reason, Task::destination_gone);

  start();
  settle();
  rig.send("dead", "x");
  start();
  settle();
  EXPECT_EQ(list().at(0).reason, Task::came_from_nowhere);
  EXPECT_EQ(drain("dead"), (Bodies{"x"}));
}

TEST_F(Moves, AreRefusedWhereTheyMakeNoSense) {
  rig.make("f", {.fifo = true});
  const struct {
    const char* from;
    const char* to;
    ErrorKind kind;
  } rows[] = {{"none", "", ErrorKind::not_found},
              {"dead", "none", ErrorKind::not_found},
              {"dead", "dead", ErrorKind::invalid_argument},
              {"dead", "f", ErrorKind::invalid_argument}};
  for (const auto& row : rows) {
    EXPECT_EQ(rig.run(StartMoveTask{tenant_one, row.from, row.to, 0}).replies[0].error().kind,
              row.kind);
  }
}

TEST_F(Moves, OnlyTheLastOnesAreRemembered) {
  for (int i = 0; i < 12; ++i) {
    start("other");
    settle();
  }
  EXPECT_EQ(list().size(), 10U);
  rig.restart();
  EXPECT_EQ(list().size(), 10U);
  EXPECT_EQ(list().front().number, 12U);
  rig.run(DeleteQueueCommand{tenant_one, "dead"});
  EXPECT_TRUE(rig.reader.rows<Task>().empty());
}

TEST_F(Moves, GiveNoNewLifeToWhatIsTooOld) {
  rig.make("brief", {.retention = 10 * second});
  rig.send("brief", "a");
  rig.pass(10 * second - Millis{1});
  rig.run();  // what is too old is looked for now, and then not for a while
  rig.pass(Millis{1});
  rig.run(StartMoveTask{tenant_one, "brief", "other"});
  settle();
  const auto tasks = rig.run(ListMoveTasks{tenant_one, "brief"}).only<MoveTasksListed>().tasks;
  EXPECT_EQ(tasks.at(0).status, Status::completed);
  EXPECT_EQ(tasks.at(0).processed, 0U);
  EXPECT_EQ(rig.count("other").visible, 0U);
  EXPECT_EQ(rig.count("brief").visible, 0U);
  EXPECT_TRUE(rig.counts().conserved());
}

TEST_F(FifoMoves, KeepTheOrderOfGroupsAndGoByAge) {
  die({"a1", "b1", "a2", "a3", "b2", "c1", "b3", "a4", "a5"}, true);
  start("other");
  settle();
  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(list().at(0).processed, 9U);
  const Bodies all = drain("other");
  EXPECT_EQ(all.size(), 9U);
  for (const char group : {'a', 'b', 'c'}) {
    Bodies of;
    std::ranges::copy_if(all, std::back_inserter(of),
                         [&](const std::string& body) { return body[0] == group; });
    EXPECT_TRUE(std::ranges::is_sorted(of));
  }
}

TEST_F(FifoMoves, StopBehindWhatIsOut) {
  die({"a1", "b1", "a2", "b2"}, true);
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a1"}));
  start("other");
  settle();
  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(drain("other"), (Bodies{"b1", "b2"}));
}

/// More messages than a task looks at in three batches.
constexpr int many = 100;

void send_many(PullRig& rig, const std::string& queue) {
  for (int i = 0; i < many; ++i) {
    const std::string name = "m" + std::to_string(i);
    rig.send(queue, name, name);
  }
}

void receive_many(PullRig& rig, const std::string& queue) {
  for (int i = 0; i < many; ++i) {
    EXPECT_EQ(rig.receive(queue, 1).size(), 1U);
  }
}

TEST_F(FifoMoves, TakeWhatComesFreeBehindThem) {
  rig.send("dead", "a1", "a");
  rig.send("dead", "a2", "a");
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a1"}));
  send_many(rig, "dead");
  receive_many(rig, "dead");
  start("other");
  ASSERT_EQ(list().at(0).status, Status::running);

  EXPECT_TRUE(rig.remove("dead", "a1").has_value());
  settle();
  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(drain("other"), (Bodies{"a2"}));
}

TEST_F(FifoMoves, AreNotHeldUpByWhatIsFinishedAfterTheirStart) {
  rig.send("dead", "a1", "a");
  EXPECT_EQ(rig.receive("dead", 1), (Bodies{"a1"}));
  start("other", 1);
  for (int i = 0; i < 20; ++i) {
    rig.send("dead", "later", "b");
    rig.receive("dead", 1);
    rig.remove("dead", "later");
  }
  EXPECT_EQ(list().at(0).status, Status::completed);
}

TEST_F(Moves, TakeWhatIsReadBehindThem) {
  Publish delayed = PullRig::sending("dead", "delayed");
  delayed.delay = second;
  rig.run(std::move(delayed));
  send_many(rig, "dead");
  rig.send("dead", "x");
  rig.send("dead", "y");  // with x it fills the window: the oldest, due later, is not in memory
  receive_many(rig, "dead");
  rig.pass(second);
  start("other");
  ASSERT_EQ(list().at(0).status, Status::running);

  EXPECT_EQ(rig.receive("dead", 10), (Bodies{"x", "y"}));
  settle();
  EXPECT_EQ(list().at(0).status, Status::completed);
  EXPECT_EQ(drain("other"), (Bodies{"delayed"}));
}

TEST(MovesBesideAPurge, WaitForItsEnd) {
  Limits slow = small_windows();
  slow.sweeps_per_batch = 2;
  PullRig rig{slow};
  rig.make("dead");
  rig.make("other");
  for (int i = 0; i < 20; ++i) {
    rig.send("dead", std::to_string(i));
  }
  rig.run(PurgeQueue{tenant_one, "dead"});
  rig.send("dead", "new");
  rig.run(StartMoveTask{tenant_one, "dead", "other"});
  for (int i = 0; i < 60; ++i) {
    rig.run();
  }
  const auto tasks = rig.run(ListMoveTasks{tenant_one, "dead"}).only<MoveTasksListed>().tasks;
  EXPECT_EQ(tasks.at(0).status, Status::completed);
  EXPECT_EQ(rig.receive("other"), (Bodies{"new"}));
}

TEST(MovesInOneBatch, AreBoundedInBytesAttributesIncluded) {
  Limits limits;
  limits.moved_bytes_per_batch = 1000;
  PullRig rig(limits);
  rig.make("from");
  rig.make("to");
  for (int i = 0; i < 10; ++i) {
    Publish sent = PullRig::sending("from", std::string(100, 'x'));
    sent.message->pull->attributes = {
        {.name = "a", .type = "String", .value = std::string(200, 'y')}};
    rig.run(std::move(sent));
  }
  rig.run(StartMoveTask{tenant_one, "from", "to", 0});
  EXPECT_EQ(rig.count("to").visible, 4U) << "one batch of four, and another one that asks";
  for (int i = 0; i < 10; ++i) {
    rig.run();
  }
  EXPECT_EQ(rig.count("to").visible, 10U);
  EXPECT_EQ(rig.count("from").visible, 0U);
}

TEST(MovesInOneBatch, AreBoundedHoweverManyTasksRun) {
  PullRig rig(small_windows());
  constexpr int tasks = 40;
  rig.make("to");
  for (int i = 0; i < tasks; ++i) {
    const std::string name = "from-" + std::to_string(i);
    rig.make(name);
    rig.send(name, "m");
    rig.send(name, "m");
  }
  rig.machine->stop_starting();
  for (int i = 0; i < tasks; ++i) {
    rig.run(StartMoveTask{tenant_one, "from-" + std::to_string(i), "to", 0});
  }
  rig.restart();
  const auto moved = [&] { return rig.reader.rows<Queue>().at({tenant_one, "to"}).lag; };
  for (std::uint64_t last = moved(); last < 2 * tasks; last = moved()) {
    rig.run();
    ASSERT_GT(moved(), last);
    ASSERT_LE(moved(), last + 3);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
