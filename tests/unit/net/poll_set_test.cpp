#include "net/poll_set.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/polled_socket.h"

namespace hk::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A connection to itself: `near` is what is tested, `far` a blocking socket of the test.
struct Pair {
  asio::io_context io{1};
  asio::io_context far_io{};
  PollSet set{io};
  tcp::socket far{far_io};
  std::optional<PolledSocket> near{};
  std::array<char, 16> room{};
  int reads = 0;
  PolledSocket::Failure failure{};
  std::string got{};

  Pair() {
    asio::basic_socket_acceptor<tcp, asio::io_context::executor_type> acceptor(
        io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    far.connect(acceptor.local_endpoint());
    PolledSocket::Socket accepted(io);
    acceptor.accept(accepted);
    accepted.non_blocking(true);
    near.emplace(set, std::move(accepted));
    io.poll();  // that it can be written
  }

  void say(std::string_view text) { asio::write(far, asio::buffer(text)); }
  void read() {
    near->async_read_some(room.data(), room.size(),
                          [this](const PolledSocket::Failure& why, std::size_t bytes) {
                            ++reads;
                            failure = why;
                            got.append(room.data(), bytes);
                          });
  }
  /// Until the kernel has handed it over.
  void wait_for(int what) const {
    pollfd one{near->descriptor(), static_cast<short>(what), 0};
    while (::poll(&one, 1, -1) != 1) {
    }
  }
  /// Runs the loop until the next read ends.
  void finish_read() {
    const int before = reads;
    while (reads == before) io.run_one();
  }
};

TEST(PollSet, ReadsWhatComesAndTellsItLater) {
  Pair pair;
  pair.say("hello");
  pair.read();
  EXPECT_EQ(pair.reads, 0) << "not inside the call";
  pair.finish_read();
  EXPECT_EQ(pair.got, "hello");
  EXPECT_FALSE(pair.failure);
  EXPECT_FALSE(pair.near->may_have_more()) << "a short read is the end of what is there";
  pair.read();
  pair.say("again");
  pair.finish_read();
  EXPECT_EQ(pair.got, "helloagain");
}

TEST(PollSet, WhatDidNotFitIsReadWithoutANewArrival) {
  Pair pair;
  pair.say("0123456789abcdefghij");  // more than its room
  pair.wait_for(POLLIN);
  pair.read();
  pair.finish_read();
  EXPECT_EQ(pair.got, "0123456789abcdef");
  EXPECT_TRUE(pair.near->may_have_more());
  pair.read();
  EXPECT_EQ(pair.reads, 1) << "not inside the call";
  pair.finish_read();
  EXPECT_EQ(pair.got, "0123456789abcdefghij");
}

TEST(PollSet, LendsRoomToReadInto) {
  Pair pair;
  std::string got;
  pair.near->async_read_to_room(PollSet::room_bytes,
                                [&](const PolledSocket::Failure& failure, std::size_t bytes) {
                                  EXPECT_FALSE(failure);
                                  got.assign(pair.near->room(), bytes);
                                });
  pair.say("hello");
  while (got.empty()) pair.io.run_one();
  EXPECT_EQ(got, "hello");
}

TEST(PollSet, AnEndThatCameWithTheLastBytesIsNotMissed) {
  Pair pair;
  pair.say("bye");
  pair.far.shutdown(tcp::socket::shutdown_send);
  pair.wait_for(POLLRDHUP);
  pair.read();
  pair.finish_read();
  EXPECT_EQ(pair.got, "bye");
  EXPECT_TRUE(pair.near->may_have_more());
  pair.read();
  pair.finish_read();
  EXPECT_EQ(pair.failure, asio::error::eof);
}

TEST(PollSet, AnEndThatComesLaterIsTold) {
  Pair pair;
  pair.read();
  pair.say("bye");
  pair.finish_read();
  pair.read();
  pair.far.shutdown(tcp::socket::shutdown_send);
  pair.finish_read();
  EXPECT_EQ(pair.failure, asio::error::eof);
}

TEST(PollSet, WhatCameWhileNobodyReadWaits) {
  Pair pair;
  pair.say("early");
  pair.wait_for(POLLIN);
  pair.io.poll();
  EXPECT_TRUE(pair.near->may_have_more());
  EXPECT_EQ(pair.reads, 0);
  pair.read();
  pair.finish_read();
  EXPECT_EQ(pair.got, "early");
}

TEST(PollSet, PollTellsWithoutTheLoop) {
  Pair pair;
  pair.read();
  pair.say("now");
  pair.wait_for(POLLIN);
  pair.set.poll();
  EXPECT_EQ(pair.got, "now");
}

TEST(PollSet, ClosingEndsWhatIsUnderWayOnce) {
  Pair pair;
  int waits = 0;
  pair.read();
  pair.near->async_wait_writable([&](const PolledSocket::Failure& why) {
    ++waits;
    EXPECT_EQ(why, asio::error::operation_aborted);
  });
  pair.near->close();
  EXPECT_EQ(pair.reads, 0) << "not inside the call";
  pair.io.poll();
  EXPECT_EQ(pair.reads, 1);
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(pair.failure, asio::error::operation_aborted);
}

TEST(PollSet, WritingGoesOnWhenThePeerHasRead) {
  Pair pair;
  const std::string piece(65'536, 'x');
  PolledSocket::Failure failure;
  std::size_t sent = 0;
  while (!failure) sent += pair.near->write_some(piece.data(), piece.size(), failure);
  ASSERT_EQ(failure, asio::error::would_block);
  bool writable = false;
  pair.near->async_wait_writable([&](const PolledSocket::Failure& why) { writable = !why; });
  pair.io.poll();
  EXPECT_FALSE(writable);
  std::string sink(sent, '\0');
  asio::read(pair.far, asio::buffer(sink));
  while (!writable) pair.io.run_one();
  EXPECT_GT(pair.near->write_some(piece.data(), piece.size(), failure), 0U);
}

TEST(PollSet, WhoWasRemovedInTheSameRoundIsNotTold) {
  asio::io_context io(1);
  PollSet set(io);
  struct One final : PollSet::Watched {
    void on_readable(bool) override {
      ++told;
      set->remove(other->descriptor, *other);
    }
    PollSet* set = nullptr;
    One* other = nullptr;
    int descriptor = -1;
    int told = 0;
  };
  std::array<std::array<int, 2>, 2> pairs{};
  std::array<One, 2> both;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i].data()), 0);
    both[i].set = &set;
    both[i].other = &both[1 - i];
    both[i].descriptor = pairs[i][0];
    ASSERT_EQ(::send(pairs[i][1], "x", 1, 0), 1);
    ASSERT_TRUE(set.add(pairs[i][0], both[i]));
  }
  set.poll();
  EXPECT_EQ(both[0].told + both[1].told, 1);
  for (const auto& pair : pairs) {
    for (const int descriptor : pair) ::close(descriptor);
  }
}

/// Sockets of several parties that say in which order they are told.
struct Crowd {
  struct One final : PollSet::Watched {
    void on_readable(bool) override {
      crowd->told.push_back(party);
      if (crowd->on_told) crowd->on_told(*this);
    }
    Crowd* crowd = nullptr;
    PollSet::Party party = PollSet::unknown;
    std::array<int, 2> pair{-1, -1};
  };

  asio::io_context io{1};
  PollSet set{io};
  std::deque<One> all{};
  std::vector<PollSet::Party> told{};
  std::function<void(One&)> on_told{};

  ~Crowd() {
    for (One& one : all) {
      if (one.pair[0] < 0) continue;
      set.remove(one.pair[0], one);
      for (const int descriptor : one.pair) {
        if (descriptor >= 0) ::close(descriptor);
      }
    }
  }
  One& add(PollSet::Party party) {
    One& one = all.emplace_back();
    one.crowd = this;
    one.party = party;
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, one.pair.data()), 0);
    EXPECT_TRUE(set.add(one.pair[0], one));
    set.set_party(one, party);
    return one;
  }
  static void say(const One& one) { EXPECT_EQ(::send(one.pair[1], "x", 1, 0), 1); }
  /// How many were told before the first of that party.
  [[nodiscard]] std::size_t told_before(PollSet::Party party) const {
    return static_cast<std::size_t>(std::ranges::find(told, party) - told.begin());
  }
};

constexpr PollSet::Party greedy = 7;
constexpr PollSet::Party polite = 8;

TEST(PollSet, PartiesTakeTurns) {
  Crowd crowd;
  for (int i = 0; i < 300; ++i) Crowd::say(crowd.add(greedy));
  Crowd::say(crowd.add(polite));
  Crowd::say(crowd.add(polite));
  crowd.set.poll();
  ASSERT_EQ(crowd.told.size(), 302U);
  EXPECT_EQ(crowd.told_before(polite), 1U) << "it has its turn behind one of the others";
  EXPECT_EQ(crowd.told[3], polite) << "and its next behind one more";
}

TEST(PollSet, WhoComesLaterDoesNotWaitForEverybodyWhoIsReady) {
  Crowd crowd;
  for (int i = 0; i < 300; ++i) Crowd::say(crowd.add(greedy));
  Crowd::One& late = crowd.add(polite);
  crowd.on_told = [&](Crowd::One&) {
    if (crowd.told.size() == 1) Crowd::say(late);
  };
  crowd.set.poll();
  EXPECT_EQ(crowd.told.size(), 301U);
  EXPECT_LE(crowd.told_before(polite), 33U);
}

TEST(PollSet, ManyWhoLeaveAtOnceHoldUpNobodyNotEvenOfTheirOwn) {
  Crowd crowd;
  for (int i = 0; i < 300; ++i) crowd.add(greedy);
  Crowd::One& stays = crowd.add(greedy);
  crowd.set.poll();  // that they can be written
  for (Crowd::One& one : crowd.all) {
    if (&one == &stays) continue;
    one.party = PollSet::leaving;
    ::close(std::exchange(one.pair[1], -1));
  }
  Crowd::say(stays);
  crowd.set.poll();
  EXPECT_EQ(crowd.told.size(), 301U);
  EXPECT_LE(crowd.told_before(greedy), 1U);
}

TEST(PollSet, TheRestOfTheLoopHasItsTurnMeanwhile) {
  Crowd crowd;
  for (int i = 0; i < 300; ++i) Crowd::say(crowd.add(greedy));
  std::size_t told_before = 0;
  crowd.on_told = [&](Crowd::One&) {
    if (crowd.told.size() != 1) return;
    asio::post(crowd.io, [&] { told_before = crowd.told.size(); });
  };
  while (crowd.told.size() < 300) crowd.io.run_one();
  EXPECT_GT(told_before, 0U);
  EXPECT_LE(told_before, 64U);
}

TEST(PollSet, WhatIsReadyFollowsItsSocketToAnotherParty) {
  Crowd crowd;
  for (int i = 0; i < 3; ++i) crowd.add(greedy);
  Crowd::One& moves = crowd.add(polite);
  crowd.set.poll();  // that they can be written
  for (const Crowd::One& one : crowd.all) Crowd::say(one);
  crowd.on_told = [&](Crowd::One&) {
    if (crowd.told.size() != 1) return;
    crowd.set.set_party(moves, greedy);  // while it waits in the other line
    moves.party = greedy;
  };
  crowd.set.poll();
  EXPECT_EQ(crowd.told, (std::vector<PollSet::Party>{greedy, greedy, greedy, greedy}));
}

TEST(PollSet, WhoIsRemovedWhileItWaitsInLineIsNotTold) {
  Crowd crowd;
  Crowd::say(crowd.add(greedy));
  Crowd::One& gone = crowd.add(polite);
  Crowd::say(gone);
  crowd.on_told = [&](Crowd::One&) {
    crowd.set.remove(gone.pair[0], gone);
    for (const int descriptor : std::exchange(gone.pair, {-1, -1})) ::close(descriptor);
  };
  crowd.set.poll();
  crowd.io.poll();
  EXPECT_EQ(crowd.told, std::vector<PollSet::Party>{greedy});
}

TEST(PollSet, TellsBehindTheLongestLine) {
  Crowd crowd;
  Crowd::One last;
  last.crowd = &crowd;
  for (int i = 0; i < 200; ++i) Crowd::say(crowd.add(greedy));
  Crowd::say(crowd.add(polite));
  crowd.set.tell_behind_all(last);
  while (crowd.told_before(PollSet::unknown) == crowd.told.size()) crowd.io.run_one();
  EXPECT_EQ(crowd.told.size(), 202U);
  EXPECT_EQ(crowd.told.back(), PollSet::unknown);
  crowd.io.poll();
  EXPECT_EQ(crowd.told.size(), 202U) << "once";
}

TEST(PollSet, TellsBehindAllAlsoWhenNobodyIsReady) {
  Crowd crowd;
  Crowd::One last;
  last.crowd = &crowd;
  crowd.set.tell_behind_all(last);
  EXPECT_TRUE(crowd.told.empty()) << "not inside the call";
  while (crowd.told.empty()) crowd.io.run_one();
  crowd.set.tell_behind_all(last);
  crowd.set.forget(last);
  crowd.io.poll();
  EXPECT_EQ(crowd.told.size(), 1U);
}

}  // namespace
}  // namespace hk::net
