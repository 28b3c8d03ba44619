#include "engine/cached_messages.h"

#include <gtest/gtest.h>

#include <map>

namespace hk::engine {
namespace HK_TEST_FILE {

class Stored final : public core::TableView<core::Message> {
 public:
  std::shared_ptr<const core::Message> get(const core::Seq& seq) override {
    ++reads;
    const auto found = rows.find(seq);
    return found == rows.end() ? nullptr : found->second;
  }
  std::vector<std::shared_ptr<const core::Message>> scan(const core::Range<core::Message>&,
                                                         std::size_t, core::Order) override {
    return {};
  }

  std::map<core::Seq, std::shared_ptr<const core::Message>> rows;
  std::size_t reads = 0;
};

std::shared_ptr<const core::Message> message(std::uint64_t seq, Millis delay = {}) {
  auto made = std::make_shared<core::Message>();
  made->id.seq = core::Seq{seq};
  made->created_at = moment_from_ms(1'700'000'000'000);
  made->not_before = made->created_at + delay;
  made->body.assign(10'000, 'x');
  return made;
}

/// As the core does it: stored, then kept.
void write(Stored& stored, CachedMessages& messages,
           const std::shared_ptr<const core::Message>& one) {
  stored.rows[one->id.seq] = one;
  messages.written(one);
}

TEST(CachedMessages, WhatIsReadBackDoesNotPushOutWhatIsReadNext) {
  Stored stored;
  CachedMessages messages(stored, 800'000);  // some 60 of them
  for (std::uint64_t seq = 1; seq <= 100; ++seq) {
    write(stored, messages, message(seq));
  }

  for (std::uint64_t seq = 1; seq <= 100; ++seq) {
    EXPECT_EQ(messages.get(core::Seq{seq}), stored.rows[core::Seq{seq}]);
    messages.erase(core::Seq{seq});
  }
  EXPECT_LT(stored.reads, 60U);
}

TEST(CachedMessages, WhatWasReadIsNotReadAgain) {
  Stored stored;
  CachedMessages messages(stored, 800'000);
  stored.rows[core::Seq{1}] = message(1);

  EXPECT_NE(messages.get(core::Seq{1}), nullptr);
  EXPECT_NE(messages.get(core::Seq{1}), nullptr);
  EXPECT_EQ(stored.reads, 1U);
  messages.erase(core::Seq{1});
  EXPECT_EQ(messages.cached(core::Seq{1}), nullptr);
}

TEST(CachedMessages, WhatIsDueMuchLaterTakesNoRoom) {
  Stored stored;
  CachedMessages messages(stored, 800'000);
  write(stored, messages, message(1));
  for (std::uint64_t seq = 2; seq <= 200; ++seq) {
    write(stored, messages, message(seq, std::chrono::hours{1}));
  }

  EXPECT_NE(messages.cached(core::Seq{1}), nullptr);
  EXPECT_EQ(messages.cached(core::Seq{2}), nullptr);
  EXPECT_NE(messages.get(core::Seq{2}), nullptr);
}

TEST(CachedMessages, AnEditedOneIsTheNewOneWhereverItWas) {
  for (const Millis delay : {Millis{0}, Millis{3'600'000}}) {
    Stored stored;
    CachedMessages messages(stored, 800'000);
    write(stored, messages, message(1));  // kept as written
    stored.rows[core::Seq{2}] = message(2);
    EXPECT_NE(messages.get(core::Seq{2}), nullptr);  // kept as read

    for (const std::uint64_t seq : {1U, 2U}) {
      const auto edited = message(seq, delay);
      write(stored, messages, edited);
      EXPECT_EQ(messages.get(core::Seq{seq}), edited);
    }
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
