#include "api/sqs/pusher.h"

#include <gtest/gtest.h>

#include "../fakes.h"
#include "api/batcher.h"
#include "security/credentials.h"

namespace hk::api::sqs {
namespace HK_TEST_FILE {

using testing::FakeIoThread;
using testing::FakeSubmitter;

constexpr core::TenantId tenant{1};

/// A pusher between a submitter that says Done to everything and a dispatcher that keeps what it is
/// given.
struct PusherTest : ::testing::Test {
  PusherTest() {
    options.check_destination = [this](std::string_view url) -> Result<std::string> {
      if (url == forbidden) {
        return fail(ErrorKind::invalid_argument, "forbidden");
      }
      return "https://host:443";
    };
    options.check_header = [](std::string_view name, std::string_view) -> Result<void> {
      return name == "Host" ? fail(ErrorKind::invalid_argument, "no") : Result<void>{};
    };
    submitter.answer = [](core::Command&) -> core::Reply { return core::Done{}; };
  }
  core::Queue& add(const std::string& name, const std::string& url, std::string parallelism = "") {
    core::Queue queue{.tenant = tenant, .name = name, .pull = core::PullSettings{}};
    queue.pull->extra.push_back({"HikyakuPushUrl", url});
    if (!parallelism.empty()) {
      queue.pull->extra.push_back({"HikyakuPushParallelism", std::move(parallelism)});
    }
    return submitter.reader->put<core::Queue>(std::move(queue));
  }
  void begin() {
    for (const core::Queue& queue : submitter.reader->scan<core::Queue>()) {
      pusher.queue_changed(queue.tenant, queue.name);
    }
    io.run();
  }
  void changed(const std::string& name) {
    pusher.queue_changed(tenant, name);
    io.run();
  }
  /// What was asked of the core since the last call.
  template <class Command>
  std::vector<Command> asked() {
    std::vector<Command> found;
    for (core::Command& one : submitter.taken) {
      if (auto* const command = one.get_if<Command>()) {
        found.push_back(std::move(*command));
      }
    }
    submitter.taken.clear();
    return found;
  }
  static core::HandOut::One handed(std::uint64_t seq, std::uint32_t receive = 1,
                                   core::PullPart part = {}) {
    auto message = std::make_shared<core::Message>();
    message->id = {core::Seq{seq}, 7};
    message->tenant = tenant;
    message->queue = "q";
    message->group = "g";
    message->body = "body " + std::to_string(seq);
    message->pull = std::move(part);
    return {.message = std::move(message), .receive = receive};
  }
  void hand_out(core::ReceiverId receiver, std::vector<core::HandOut::One> messages,
                bool gone = false) {
    batcher.hand_out({{receiver, std::move(messages), gone}});
    io.run();
  }
  void end(const core::StartAttempt& attempt, bool delivered,
           std::optional<Millis> retry_after = {}) {
    core::CompleteAttempt report{.id = attempt.id, .fence = attempt.fence};
    report.delivered = delivered;
    report.retry_after = retry_after;
    pusher.attempt_ended(report);
    io.run();
  }

  std::string forbidden;
  Options options;
  FakeSubmitter submitter;
  FakeIoThread io;
  Batcher batcher{submitter, io, std::make_unique<security::SystemRng>()};
  std::vector<core::StartAttempt> sent;
  Pusher pusher{submitter, options, batcher, [this](std::vector<core::StartAttempt> attempts) {
                  for (core::StartAttempt& one : attempts) {
                    sent.push_back(std::move(one));
                  }
                }};
};

TEST_F(PusherTest, AsksForWhatMayBeOnTheWire) {
  add("q", "https://h/x", "3").pull->visibility = Millis{60'000};
  core::Queue& fifo = add("r.fifo", "https://h/x", "3");
  fifo.pull->fifo = true;
  submitter.reader->put<core::Queue>({.tenant = tenant, .name = "pushed"});
  submitter.reader->put<core::Queue>(
      {.tenant = tenant, .name = "pulled", .pull = core::PullSettings{}});
  begin();

  const auto receives = asked<core::Receive>();
  ASSERT_EQ(receives.size(), 2U);
  EXPECT_EQ(receives[0].queue, "q");
  EXPECT_EQ(receives[0].max, 3U);
  EXPECT_EQ(receives[0].visibility, Millis{71'000});
  EXPECT_EQ(receives[1].max, 1U);

  hand_out(receives[0].receiver, {handed(1), handed(2)});
  const auto more = asked<core::Receive>();
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].max, 1U);
  hand_out(more[0].receiver, {handed(3)});
  EXPECT_TRUE(asked<core::Receive>().empty());
  ASSERT_EQ(sent.size(), 3U);
  end(sent[1], true);
  EXPECT_EQ(asked<core::Receive>().size(), 1U);
  pusher.tick();
  io.run();
  EXPECT_TRUE(asked<core::Receive>().empty());
}

TEST_F(PusherTest, AMessageIsSentAsADeliveryOfIt) {
  add("q", "https://h/x").pull->visibility = Millis{0};
  begin();
  hand_out(asked<core::Receive>().at(0).receiver,
           {handed(5, 3,
                   {.attributes = {{"Kind", "String", "order"},
                                   {"N", "Number.int", "7"},
                                   {"Raw", "Binary", "x"},
                                   {"Host", "String", "evil"},
                                   {"upstash-Label", "String", "evil"},
                                   {"Large", "String", std::string(20'000, 'x')}}})});

  ASSERT_EQ(sent.size(), 1U);
  const core::StartAttempt& attempt = sent[0];
  EXPECT_EQ(attempt.id.seq, core::Seq{5});
  EXPECT_EQ(attempt.fence.attempt, 3U);
  EXPECT_EQ(attempt.retried, 2U);
  const core::Message& message = *attempt.message;
  EXPECT_EQ(message.url, "https://h/x");
  EXPECT_EQ(message.host, "https://host:443");
  EXPECT_EQ(message.method, "POST");
  EXPECT_EQ(message.body, "body 5");
  EXPECT_EQ(message.timeout, Millis{1000});
  EXPECT_EQ(message.headers,
            (std::vector<core::Header>{{"Upstash-Queue-Name", "q"},
                                       {"Upstash-Message-Group-Id", "g"},
                                       {"Kind", "order"},
                                       {"N", "7"},
                                       {"Content-Type", "text/plain; charset=utf-8"}}));
}

TEST_F(PusherTest, WhatIsDeliveredIsDeletedAndTheRestComesAgainLater) {
  add("q", "https://h/x");
  begin();
  const std::pair<std::uint32_t, Millis> rows[] = {{1, Millis{1000}},
                                                   {2, Millis{2000}},
                                                   {5, Millis{16'000}},
                                                   {11, Millis{900'000}},
                                                   {4'000'000'000, Millis{900'000}}};
  core::ReceiverId receiver = asked<core::Receive>().at(0).receiver;
  for (const auto& [receive, delay] : rows) {
    hand_out(receiver, {handed(9, receive)});
    receiver = asked<core::Receive>().at(0).receiver;
    end(sent.back(), false);
    const auto changes = asked<core::ChangeVisibility>();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].queue, "q");
    EXPECT_EQ(changes[0].items.at(0).receipt.receive, receive);
    EXPECT_EQ(changes[0].items.at(0).visibility, delay);
  }
  hand_out(receiver, {handed(9, 6), handed(10, 1), handed(11, 1)});
  submitter.taken.clear();
  end(sent[5], false, Millis{7000});
  EXPECT_EQ(asked<core::ChangeVisibility>().at(0).items.at(0).visibility, Millis{7000});
  end(sent[6], false, Millis{std::chrono::hours{48}});
  EXPECT_EQ(asked<core::ChangeVisibility>().at(0).items.at(0).visibility,
            Millis{std::chrono::hours{1}});
  end(sent[7], true);
  const auto deleted = asked<core::DeleteReceived>();
  ASSERT_EQ(deleted.size(), 1U);
  EXPECT_EQ(deleted[0].receipts.at(0).id.seq, core::Seq{11});
}

TEST_F(PusherTest, WhatTheEngineHasNoRoomForIsTriedAgain) {
  add("q", "https://h/x");
  submitter.room = 0;
  begin();
  EXPECT_TRUE(submitter.taken.empty());
  submitter.room = SIZE_MAX;
  pusher.tick();
  io.run();
  hand_out(asked<core::Receive>().at(0).receiver, {handed(1)});
  submitter.room = 0;
  submitter.taken.clear();
  end(sent.at(0), true);
  EXPECT_TRUE(asked<core::DeleteReceived>().empty());
  submitter.room = SIZE_MAX;
  pusher.tick();
  io.run();
  EXPECT_EQ(asked<core::DeleteReceived>().size(), 1U);
}

TEST_F(PusherTest, ChangesOfAQueueAreObeyed) {
  core::Queue& queue = submitter.reader->put<core::Queue>(
      {.tenant = tenant, .name = "q", .pull = core::PullSettings{}});
  begin();
  EXPECT_TRUE(asked<core::Receive>().empty());

  queue.pull->extra = {{"HikyakuPushUrl", "https://h/1"}, {"HikyakuPushParallelism", "1"}};
  changed("q");
  auto receives = asked<core::Receive>();
  ASSERT_EQ(receives.size(), 1U);
  hand_out(receives[0].receiver, {handed(1)});
  EXPECT_TRUE(asked<core::Receive>().empty());

  queue.pull->extra = {{"HikyakuPushUrl", "https://h/2"}, {"HikyakuPushParallelism", "2"}};
  changed("q");
  receives = asked<core::Receive>();
  ASSERT_EQ(receives.size(), 1U);

  queue.pull->extra.clear();
  changed("q");
  const auto stopped = asked<core::StopReceiving>();
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].receiver, receives[0].receiver);
  end(sent.at(0), true);  // what was on the wire is settled all the same
  EXPECT_EQ(asked<core::DeleteReceived>().size(), 1U);

  queue.pull->extra = {{"HikyakuPushUrl", "https://h/3"}};
  changed("q");
  hand_out(asked<core::Receive>().at(0).receiver, {handed(2)});
  EXPECT_EQ(sent.at(1).message->url, "https://h/3");
}

TEST_F(PusherTest, ADeletedQueueIsForgottenAndOneOfItsNameBeginsAnew) {
  core::Queue& queue = add("q", "https://h/x");
  begin();
  const core::ReceiverId receiver = asked<core::Receive>().at(0).receiver;
  queue.deleted = true;
  hand_out(receiver, {}, true);
  EXPECT_TRUE(asked<core::Receive>().empty());
  pusher.tick();
  io.run();
  EXPECT_TRUE(asked<core::Receive>().empty());
  queue.deleted = false;
  changed("q");
  EXPECT_EQ(asked<core::Receive>().size(), 1U);
}

TEST_F(PusherTest, NothingIsReceivedForAUrlThatIsNotAllowed) {
  add("q", "https://h/x");
  forbidden = "https://h/x";
  begin();
  EXPECT_TRUE(asked<core::Receive>().empty());
  forbidden.clear();
  changed("q");
  EXPECT_EQ(asked<core::Receive>().size(), 1U);
}

TEST_F(PusherTest, AfterAStopNothingIsReceivedAndWhatIsOnTheWireIsSettled) {
  add("q", "https://h/x");
  begin();
  hand_out(asked<core::Receive>().at(0).receiver, {handed(1)});
  submitter.taken.clear();
  pusher.stop();
  io.run();
  EXPECT_EQ(asked<core::StopReceiving>().size(), 1U);
  end(sent.at(0), true);
  pusher.tick();
  io.run();
  ASSERT_EQ(submitter.taken.size(), 1U);
  EXPECT_EQ(asked<core::DeleteReceived>().size(), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sqs
