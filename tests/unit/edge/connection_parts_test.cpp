#include <gtest/gtest.h>

#include "edge/http/connection_caps.h"
#include "edge/http/read_buffer.h"

namespace hk::http {

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

TEST(ReadBuffer, KeepsOfWhatWasLentOnlyTheRest) {
  ReadBuffer buffer;
  std::string room = "whole";
  buffer.lend(room.data(), room.size(), ReadBuffer::small_bytes);
  EXPECT_EQ(buffer.view(), "whole");
  buffer.consume(5);
  buffer.keep();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.free_size(), 0U) << "it has needed no memory";

  room = "one and a half";
  buffer.lend(room.data(), room.size(), ReadBuffer::small_bytes);
  buffer.consume(8);
  buffer.keep();
  room.assign(room.size(), '#');  // somebody else's now
  EXPECT_EQ(buffer.view(), "a half");
  buffer.make_room(false, 1000);
  buffer.free_data()[0] = '!';
  buffer.add(1);
  EXPECT_EQ(buffer.view(), "a half!");
}

TEST(ReadBuffer, ABodyThatFillsItsRoomIsReadByMore) {
  ReadBuffer buffer;
  EXPECT_EQ(buffer.lent_size(true), ReadBuffer::small_bytes);
  const std::string room(ReadBuffer::small_bytes, 'x');
  buffer.lend(room.data(), room.size(), room.size());
  buffer.consume(room.size());
  buffer.keep();
  EXPECT_EQ(buffer.lent_size(true), ReadBuffer::large_bytes);
  EXPECT_EQ(buffer.lent_size(false), ReadBuffer::small_bytes);
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
