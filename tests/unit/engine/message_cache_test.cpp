#include "engine/message_cache.h"

#include <gtest/gtest.h>

namespace hk::engine {
namespace {

std::shared_ptr<const core::Message> message(std::uint64_t seq, std::size_t body_bytes) {
  auto made = std::make_shared<core::Message>();
  made->id.seq = core::Seq{seq};
  made->body.assign(body_bytes, 'x');
  return made;
}

TEST(MessageCache, ReturnsWhatWasPut) {
  MessageCache cache(1 << 20);
  cache.put(message(1, 10));

  EXPECT_NE(cache.get(core::Seq{1}), nullptr);
  EXPECT_EQ(cache.get(core::Seq{2}), nullptr);
}

TEST(MessageCache, DropsTheOldestToStayWithinItsBytes) {
  MessageCache cache(50'000);
  for (std::uint64_t seq = 1; seq <= 20; ++seq) {
    cache.put(message(seq, 10'000));
    EXPECT_LE(cache.bytes(), 50'000U);
  }

  EXPECT_EQ(cache.get(core::Seq{1}), nullptr);
  EXPECT_NE(cache.get(core::Seq{20}), nullptr);
}

TEST(MessageCache, DoesNotKeepWhatIsLargerThanAllOfIt) {
  MessageCache cache(1000);
  cache.put(message(1, 5000));

  EXPECT_EQ(cache.get(core::Seq{1}), nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(MessageCache, WhatIsPutAgainTakesThePlaceOfTheFirst) {
  MessageCache cache(50'000);
  cache.put(message(1, 10'000));
  const std::size_t bytes = cache.bytes();
  const auto edited = message(1, 20'000);
  cache.put(edited);
  EXPECT_EQ(cache.get(core::Seq{1}), edited);
  EXPECT_EQ(cache.bytes(), bytes + 10'000);

  cache.put(message(1, 60'000));  // too large: but the old one is not it, either
  EXPECT_EQ(cache.get(core::Seq{1}), nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(MessageCache, ErasingGivesTheBytesBack) {
  MessageCache cache(1 << 20);
  cache.put(message(1, 10));
  cache.erase(core::Seq{1});
  cache.erase(core::Seq{1});

  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace hk::engine
