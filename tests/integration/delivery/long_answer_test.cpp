#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "engine/tenant_room.h"
#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using engine::TenantRoom;

const std::string long_body(200'000, 'x');

core::StartAttempt with_callback(const std::string& url) {
  core::StartAttempt start = attempt_to(url);
  auto message = std::make_shared<core::Message>(*start.message);
  message->callback.emplace().url = "http://127.0.0.1/called";
  start.message = std::move(message);
  return start;
}

DispatcherOptions with_room(std::shared_ptr<TenantRoom> room) {
  DispatcherOptions options = loopback_options();
  options.answer_room = std::move(room);
  return options;
}

void answer_at_length(Socket& socket) {
  while (!socket.read_request().empty()) {
    socket.write(ok_answer(long_body));
  }
}

TEST(LongAnswer, IsReadOnWhenThereIsASeat) {
  const auto room = std::make_shared<TenantRoom>(1);
  World world(with_room(room));
  Receiver receiver(answer_at_length);
  auto seat = TenantRoom::take(room, core::TenantId{77});
  ASSERT_NE(seat, nullptr);
  world.start({with_callback(receiver.url())});

  // Who wants no callback keeps little and needs no seat, however long the answer is.
  core::StartAttempt plain = attempt_to(receiver.url());
  const auto first = world.deliver(plain);
  EXPECT_TRUE(first.delivered);
  EXPECT_LE(first.attempt.response_body.size(), 1000U);
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  EXPECT_EQ(world.submitter.count(), 1U) << "it is read on without a seat";

  seat.reset();
  const auto reports = world.submitter.wait_for(2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].attempt.response_body, long_body);
}

TEST(LongAnswer, WhoWaitsForASeatStillHasItsDeadline) {
  const auto room = std::make_shared<TenantRoom>(1);
  World world(with_room(room));
  Receiver receiver([](Socket& socket) {
    socket.read_request();
    socket.write(ok_answer(long_body));
    (void)socket.wait_for_close();
  });
  const auto seat = TenantRoom::take(room, core::TenantId{77});
  core::StartAttempt start = with_callback(receiver.url());
  auto message = std::make_shared<core::Message>(*start.message);
  message->timeout = Millis{300};
  start.message = std::move(message);
  const auto report = world.deliver(std::move(start));
  EXPECT_FALSE(report.delivered);
  EXPECT_TRUE(report.attempt.error.starts_with("timeout: ")) << report.attempt.error;
}

TEST(LongAnswer, TheSeatIsHeldUntilTheReportIsTaken) {
  const auto room = std::make_shared<TenantRoom>(1);
  World world(with_room(room));
  Receiver receiver(answer_at_length);
  world.submitter.room = 0;
  world.start({with_callback(receiver.url())});
  const auto end = std::chrono::steady_clock::now() + patience;
  while (world.submitter.calls == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(TenantRoom::take(room, core::TenantId{1}), nullptr);

  world.submitter.room = SIZE_MAX;
  ASSERT_EQ(world.submitter.wait_for(1).size(), 1U);
  while (TenantRoom::take(room, core::TenantId{1}) == nullptr &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_NE(TenantRoom::take(room, core::TenantId{1}), nullptr);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
