#include "engine/message_cache.h"

#include <gtest/gtest.h>

namespace hk::engine {
namespace HK_TEST_FILE {

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

TEST(MessageCache, CountsEveryPartThatASenderCanMakeLong) {
  constexpr std::size_t length = 10'000;
  const std::string text(length, 'x');
  const auto with = [](auto change) {
    core::Message message;
    change(message);
    return bytes_of(message);
  };
  const std::pair<std::string_view, std::size_t> rows[] = {
      {"queue", with([&](core::Message& m) { m.queue = text; })},
      {"group", with([&](core::Message& m) { m.group = text; })},
      {"flow key", with([&](core::Message& m) { m.flow_key = text; })},
      {"url", with([&](core::Message& m) { m.url = text; })},
      {"host", with([&](core::Message& m) { m.host = text; })},
      {"header's name", with([&](core::Message& m) {
         m.headers = {{text, ""}};
       })},
      {"header's value", with([&](core::Message& m) {
         m.headers = {{"", text}};
       })},
      {"body", with([&](core::Message& m) { m.body = text; })},
      {"expression", with([&](core::Message& m) { m.retry.delay = core::ExpressionDelay{text}; })},
      {"label", with([&](core::Message& m) { m.labels = {text}; })},
      {"dedup id", with([&](core::Message& m) { m.dedup_id = text; })},
      {"trace state", with([&](core::Message& m) { m.trace.state = text; })},
      {"redact", with([&](core::Message& m) { m.redact = {text}; })},
      {"topic", with([&](core::Message& m) { m.topic = text; })},
      {"endpoint", with([&](core::Message& m) { m.endpoint = text; })},
      {"schedule", with([&](core::Message& m) { m.schedule = text; })},
      {"callback", with([&](core::Message& m) { m.callback = core::Callback{.url = text}; })},
      {"callback's header", with([&](core::Message& m) {
         m.failure_callback = core::Callback{.headers = {{"", text}}};
       })},
      {"attribute", with([&](core::Message& m) {
         m.pull = core::PullPart{.attributes = {{"", "", text}}};
       })},
      {"system attribute", with([&](core::Message& m) {
         m.pull = core::PullPart{.system = {{"", text}}};
       })},
  };
  for (const auto& [part, bytes] : rows) {
    EXPECT_GE(bytes, with([](core::Message&) {}) + length) << part;
  }
}

TEST(MessageCache, CountsWhatManySmallPartsOccupy) {
  core::Message message;
  message.labels.resize(1000, "l");
  EXPECT_GE(bytes_of(message), 1000 * sizeof(std::string));
}

TEST(MessageCache, ErasingGivesTheBytesBack) {
  MessageCache cache(1 << 20);
  cache.put(message(1, 10));
  cache.erase(core::Seq{1});
  cache.erase(core::Seq{1});

  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
