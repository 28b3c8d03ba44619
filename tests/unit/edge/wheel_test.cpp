#include <gtest/gtest.h>

#include "edge/http/connection_caps.h"
#include "edge/http/deadline_wheel.h"
#include "edge/http/read_buffer.h"

namespace hk::http {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Clock::time_point start{seconds(1'000)};

struct Probe : DeadlineWheel::Node {
  void on_deadline(Clock::time_point now) override {
    ++calls;
    called_at = now;
    if (wheel != nullptr) wheel->schedule(*this, again);
  }
  int calls = 0;
  Clock::time_point called_at{};
  DeadlineWheel* wheel = nullptr;
  Clock::time_point again{};
};

void run(DeadlineWheel& wheel, milliseconds from, milliseconds to) {
  for (milliseconds at = from; at <= to; at += milliseconds(10)) wheel.advance(start + at);
}

}  // namespace

TEST(DeadlineWheel, ADeadlineIsNeverEarlyAndAtMostTwoTicksLate) {
  for (int ms = 0; ms < 400; ms += 7) {
    DeadlineWheel wheel(start);
    Probe probe;
    wheel.schedule(probe, start + milliseconds(ms));
    run(wheel, milliseconds(0), milliseconds(600));
    ASSERT_EQ(probe.calls, 1);
    EXPECT_GE(probe.called_at, start + milliseconds(ms));
    EXPECT_LE(probe.called_at, start + milliseconds(ms) + 2 * DeadlineWheel::tick);
  }
}

TEST(DeadlineWheel, AnEarlierDeadlineMovesTheNodeAndALaterOneDoesNot) {
  DeadlineWheel wheel(start);
  Probe probe;
  wheel.schedule(probe, start + seconds(10));
  wheel.schedule(probe, start + seconds(1));
  wheel.schedule(probe, start + seconds(20));

  run(wheel, milliseconds(0), milliseconds(1'200));

  EXPECT_EQ(probe.calls, 1);
}

TEST(DeadlineWheel, ADeadlineBeyondTheHorizonIsLookedAtOnTheWay) {
  DeadlineWheel wheel(start);
  Probe probe;
  probe.wheel = &wheel;
  probe.again = Clock::time_point::max();
  wheel.schedule(probe, Clock::time_point::max());

  run(wheel, milliseconds(0), milliseconds(200'000));

  EXPECT_GE(probe.calls, 2);
  EXPECT_LE(probe.calls, 5);
}

TEST(DeadlineWheel, ADestroyedOrCancelledNodeIsForgotten) {
  DeadlineWheel wheel(start);
  Probe cancelled;
  {
    Probe destroyed;
    wheel.schedule(destroyed, start + milliseconds(100));
    wheel.schedule(cancelled, start + milliseconds(100));
  }
  wheel.cancel(cancelled);

  run(wheel, milliseconds(0), milliseconds(1'000));

  EXPECT_EQ(cancelled.calls, 0);
}

TEST(DeadlineWheel, DrainingVisitsEveryNodeOnce) {
  DeadlineWheel wheel(start);
  Probe probes[20];
  for (int i = 0; i < 20; ++i) wheel.schedule(probes[i], start + seconds(i * 4));
  int visits = 0;

  wheel.drain_each([&](DeadlineWheel::Node& node) {
    ++visits;
    wheel.schedule(node, start + seconds(30));
  });

  EXPECT_EQ(visits, 20);
  run(wheel, milliseconds(0), milliseconds(30'200));
  for (const Probe& probe : probes) EXPECT_EQ(probe.calls, 1);
}

TEST(ConnectionCaps, TheTotalAndEachPeerAreBounded) {
  const auto key = [](const char* text) { return peer_key(boost::asio::ip::make_address(text)); };
  ConnectionCaps caps(3, 2);

  EXPECT_TRUE(caps.acquire(key("10.0.0.1")));
  EXPECT_TRUE(caps.acquire(key("10.0.0.1")));
  EXPECT_FALSE(caps.acquire(key("10.0.0.1")));
  EXPECT_TRUE(caps.acquire(key("10.0.0.2")));
  EXPECT_FALSE(caps.acquire(key("10.0.0.3")));
  caps.release(key("10.0.0.1"));
  EXPECT_TRUE(caps.acquire(key("10.0.0.3")));
}

TEST(ConnectionCaps, AnIpv6PeerIsItsNetwork) {
  const auto key = [](const char* text) { return peer_key(boost::asio::ip::make_address(text)); };

  EXPECT_EQ(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
  EXPECT_NE(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
  EXPECT_EQ(key("::ffff:10.0.0.1"), key("10.0.0.1"));
  EXPECT_NE(key("10.0.0.2"), key("10.0.0.1"));
  EXPECT_NE(key("::1"), key("10.0.0.1"));
}

TEST(ReadBuffer, GrowsForWhatIsUnusedAndShrinksWhenIdle) {
  ReadBuffer buffer;
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    buffer.make_room(false, 40'000);
    ASSERT_GT(buffer.free_size(), 0U);
    const std::size_t size = std::min<std::size_t>(buffer.free_size(), 2'000);
    std::memset(buffer.free_data(), 'a' + i, size);
    expected.append(size, static_cast<char>('a' + i));
    buffer.add(size);
    buffer.consume(100);
    expected.erase(0, 100);
    ASSERT_EQ(buffer.view(), expected);
  }
  buffer.consume(expected.size());
  EXPECT_TRUE(buffer.empty());

  buffer.shrink();
  buffer.make_room(false, 40'000);
  EXPECT_EQ(buffer.free_size(), ReadBuffer::small_bytes);
}

}  // namespace hk::http
