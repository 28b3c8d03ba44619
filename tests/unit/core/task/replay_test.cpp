#include <gtest/gtest.h>

#include "unit/core/webhook/deliver.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using webhook::Application;
using webhook::Delivery;
using webhook::Endpoint;
using webhook::Event;
using webhook::Name;
using webhook::Stats;

constexpr Millis hour{3'600'000};

StartReplay replay(ReplayEvents what = {}, std::uint32_t rate = 0) {
  what.until = what.until == Moment{} ? never : what.until;
  return {.tenant = tenant_one,
          .application_ref = "shop",
          .endpoint_refs = {"a"},
          .what = std::move(what),
          .rate = rate};
}

Task stored(Shop& shop, std::uint64_t number) {
  return *shop.reader.get<Task>(
      {tenant_one, static_cast<std::uint32_t>(Task::Kind::webhook_replay), number, ""});
}
const ReplayEvents& work_of(const Task& task) { return std::get<ReplayEvents>(task.work); }

/// Runs until nothing more starts; what starts ends so.
std::size_t serve(Shop& shop, Ran ran, int status) {
  std::size_t count = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<StartAttempt> starts = std::move(ran.starts);
    for (const StartAttempt& start : starts) {
      shop.run(Shop::answer(start, status));
      ++count;
    }
    ran = shop.run();
    if (starts.empty() && ran.starts.empty() && i > 3) {
      break;
    }
  }
  return count;
}

/// Three that succeeded, two that failed, one that waits for its retry.
void fill(Shop& shop) {
  shop.set("a", DeliveryPart::circuit, {.circuit = std::nullopt});
  shop.set_delays("a", {Millis{0}});
  for (const int status : {200, 500, 200, 404, 200}) {
    serve(shop, shop.send(), status);
    shop.pass(Millis{1000});
  }
  shop.set_delays("a", {Millis{0}, 1000 * hour});
  serve(shop, shop.send(), 500);
  shop.pass(Millis{1000});
}

TEST(Replay, MakesAgainWhatMatches) {
  using Purpose = ReplayEvents::Purpose;
  struct Row {
    std::string_view name;
    ReplayEvents what;
    std::size_t count;
  };
  const auto bit = [](Shown one) { return 1U << static_cast<unsigned>(one); };
  const Moment began = moment_from_ms(1'000'000);
  const Row rows[] = {
      {"everything", {}, 6},
      {"what failed", {.purpose = Purpose::recover}, 2},
      {"what succeeded", {.filter = {.statuses = bit(Shown::succeeded)}}, 3},
      {"what is being sent", {.filter = {.statuses = bit(Shown::sending)}}, 1},
      {"by the class of the answer", {.filter = {.status_classes = {400}}}, 1},
      {"of another type", {.filter = {.event_types = {"open"}}}, 0},
      {"the first second", {.since = began, .until = began + Millis{1000}}, 1},
      {"missing: none is", {.purpose = Purpose::missing}, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    fill(shop);
    shop.listen();
    Ran ran = shop.run(replay(row.what));
    const Task task = ran.only<TaskStored>().task;
    EXPECT_EQ(task.status, Task::Status::running);

    std::size_t made = 0;
    for (int i = 0; i < 100; ++i) {
      for (const StartAttempt& start : ran.starts) {
        made += start.message->url == "https://a/in" ? 1 : 0;
        shop.run(Shop::answer(start, 200));
      }
      ran = shop.run();
    }

    EXPECT_EQ(made, row.count);
    const Task done = stored(shop, task.number);
    EXPECT_EQ(done.status, Task::Status::completed);
    EXPECT_EQ(done.total, row.count);
    EXPECT_EQ(done.processed, row.count);
    EXPECT_EQ(work_of(done).succeeded, row.count);
    EXPECT_EQ(work_of(done).skipped, 0U);
    EXPECT_EQ(shop.told(), (Hosts{"background_task.finished"}));
  }
}

TEST(Replay, OfWhatIsMissingGoesToANewEndpoint) {
  Shop shop;
  fill(shop);
  shop.add(to_host("b", "b"));
  StartReplay command = replay({.purpose = ReplayEvents::Purpose::missing});
  command.endpoint_refs = {"b"};

  EXPECT_EQ(serve(shop, shop.run(std::move(command)), 200), 6U);
  EXPECT_EQ(shop.health("b").waiting, 0U);
}

TEST(Replay, GoesToAnotherEndpointIfItIsAskedTo) {
  Shop shop;
  fill(shop);
  shop.add(to_host("b", "b"));
  StartReplay command = replay({.purpose = ReplayEvents::Purpose::recover});
  command.redirect_ref = "b";

  Ran ran = shop.run(std::move(command));
  std::size_t count = 0;
  for (int i = 0; i < 20; ++i) {
    for (const StartAttempt& start : ran.starts) {
      EXPECT_EQ(start.message->url, "https://b/in");
      ++count;
    }
    ran = shop.run();
  }
  EXPECT_EQ(count, 2U);
}

TEST(Replay, RepeatsAndForgetsNothingThroughRestarts) {
  Limits limits;
  limits.moves_per_batch = 1;
  Shop shop({"a", "b"}, limits);
  for (int i = 0; i < 7; ++i) {
    serve(shop, shop.send(), 200);
  }
  StartReplay command = replay();
  command.endpoint_refs.clear();
  const std::uint64_t number = shop.run(std::move(command)).only<TaskStored>().task.number;
  std::size_t rows = 0;
  for (int i = 0; i < 200 && rows < 28; ++i) {
    shop.restart();
    shop.run();
    rows = shop.reader.rows<DeliveryRow>().size();
    const Task task = stored(shop, number);
    EXPECT_EQ(rows, 14U + task.processed);
  }
  EXPECT_EQ(rows, 28U);
  shop.restart();
  serve(shop, shop.run(), 200);

  const Task done = stored(shop, number);

  EXPECT_EQ(done.status, Task::Status::completed);
  EXPECT_EQ(done.processed, 14U);
  EXPECT_EQ(shop.reader.rows<DeliveryRow>().size(), 28U);
}

TEST(Replay, CountsWhatEndsWhileTheServerStarts) {
  for (const int restarts : {1, 2}) {
    SCOPED_TRACE(restarts);
    Shop shop;
    serve(shop, shop.send(), 200);
    const auto number = shop.run(replay()).only<TaskStored>().task.number;
    const Ran ran = shop.wait_for_start();
    ASSERT_EQ(ran.starts.size(), 1U);
    shop.run(ResumeEndpoint{tenant_one, "shop", "a", true});
    shop.run();
    shop.run();
    ASSERT_TRUE(shop.state(ran.starts[0].id).cancel_requested);
    for (int i = 0; i < restarts; ++i) {
      shop.restart();  // the attempt is cut short: its delivery is cancelled
    }
    serve(shop, shop.run(), 200);

    const Task done = stored(shop, number);
    EXPECT_EQ(done.status, Task::Status::completed);
    EXPECT_EQ(done.processed, 1U);
    EXPECT_EQ(work_of(done).canceled, 1U);
  }
}

TEST(Replay, TwoOfTheSameQueueNothingTwice) {
  Shop shop;
  fill(shop);
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  const auto first = shop.run(replay()).only<TaskStored>().task.number;
  for (int i = 0; i < 10; ++i) {
    shop.run();
  }
  const auto second = shop.run(replay()).only<TaskStored>().task.number;
  for (int i = 0; i < 10; ++i) {
    shop.run();
  }
  EXPECT_EQ(stored(shop, first).processed, 6U);
  EXPECT_EQ(stored(shop, second).processed, 0U);
  EXPECT_EQ(work_of(stored(shop, second)).skipped, 6U);
  EXPECT_EQ(stored(shop, second).status, Task::Status::completed);
}

TEST(Replay, KeepsItsRateAndCanBePausedResumedAndCancelled) {
  Shop shop;
  fill(shop);
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  const auto number = shop.run(replay({}, 1000)).only<TaskStored>().task.number;  // one a second
  const auto processed = [&] { return stored(shop, number).processed; };
  const auto pass = [&](Millis time) {
    for (int i = 0; i < 10; ++i) {
      shop.pass(time / 10);
      shop.run();
    }
  };
  pass(Millis{2000});
  EXPECT_GE(processed(), 1U);
  EXPECT_LE(processed(), 3U);
  shop.run(ChangeReplay{tenant_one, number, ChangeReplay::Change::pause}).only<TaskStored>();
  const std::uint64_t before = processed();
  shop.restart();
  pass(Millis{5000});
  EXPECT_EQ(processed(), before);
  EXPECT_EQ(stored(shop, number).status, Task::Status::paused);
  shop.run(ChangeReplay{tenant_one, number, ChangeReplay::Change::resume}).only<TaskStored>();
  pass(Millis{1000});
  EXPECT_GT(processed(), before);
  EXPECT_LE(processed(), before + 2);

  const auto ended = shop.run(ChangeReplay{tenant_one, number, ChangeReplay::Change::cancel});

  EXPECT_EQ(ended.only<TaskStored>().task.status, Task::Status::canceled);
  const std::uint64_t queued = processed();
  pass(Millis{5000});
  EXPECT_EQ(processed(), queued);
  std::size_t canceled = 0;
  for (const auto& [seq, state] : shop.reader.rows<MessageState>()) {
    canceled += state.status == Status::canceled ? 1 : 0;
  }
  EXPECT_EQ(canceled, queued);
}

TEST(Replay, GivesThreeOfFourTurnsToWhatIsPublished) {
  Shop shop;
  for (int i = 0; i < 8; ++i) {
    serve(shop, shop.send(), 200);
  }
  shop.set("a", DeliveryPart::parallelism, {.parallelism = 1});
  StartAttempt running = shop.send().starts.at(0);  // it is taken
  shop.run(replay());
  for (int i = 0; i < 8; ++i) {
    shop.send();
  }
  std::size_t again = 0;
  for (int i = 0; i < 8; ++i) {
    const Ran ran = shop.run(Shop::answer(running, 200));
    ASSERT_EQ(ran.starts.size(), 1U);
    running = ran.starts[0];
    again += running.message->webhook->replay != 0 ? 1 : 0;
  }
  EXPECT_EQ(again, 2U);
}

TEST(Replay, WithoutRetriesMakesOneAttempt) {
  Shop shop;
  fill(shop);
  shop.set_delays("a", {Millis{0}, Millis{1000}});
  const auto number =
      shop.run(replay({.filter = {.statuses = 1U}, .retry = false})).only<TaskStored>().task.number;

  EXPECT_EQ(serve(shop, shop.run(), 500), 3U);
  EXPECT_EQ(work_of(stored(shop, number)).failed, 3U);
  EXPECT_EQ(stored(shop, number).status, Task::Status::completed);
}

TEST(Replay, SkipsWhatHasNoPayload) {
  Shop shop;
  fill(shop);
  const auto& first = shop.reader.rows<Event>().begin()->second;
  shop.run(ExpungeEvents{tenant_one, "shop", {id_of(first)}});

  const auto number = shop.run(replay()).only<TaskStored>().task.number;
  serve(shop, shop.run(), 200);

  EXPECT_EQ(work_of(stored(shop, number)).skipped, 1U);
  EXPECT_EQ(stored(shop, number).processed, 5U);
}

TEST(ExpungeTask, TakesThePayloadsOfAllThatWasThere) {
  Limits limits;
  limits.moves_per_batch = 2;
  Shop shop({"a"}, limits);
  for (int i = 0; i < 5; ++i) {
    serve(shop, shop.send(), 200);
  }
  const Task task = shop.run(StartExpunge{tenant_one, "shop"}).only<TaskStored>().task;
  shop.pass(Millis{1});
  serve(shop, shop.send(), 200);
  for (int i = 0; i < 10; ++i) {
    shop.restart();
    shop.run();
  }
  std::size_t expunged = 0;
  for (const auto& [key, event] : shop.reader.rows<Event>()) {
    expunged += event.expunged ? 1 : 0;
  }
  EXPECT_EQ(expunged, 5U);
  const auto done = shop.reader.get<Task>(
      {tenant_one, static_cast<std::uint32_t>(Task::Kind::webhook_expunge), task.number, ""});
  EXPECT_EQ(done->status, Task::Status::completed);
  EXPECT_EQ(done->processed, 5U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
