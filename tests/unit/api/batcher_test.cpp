#include "api/batcher.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "fakes.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

constexpr core::TenantId tenant{1};

/// Somebody who asks for messages and goes away.
class WentAway : public ::testing::Test {
 protected:
  WentAway() {
    submitter.answer = [](core::Command& command) -> core::Reply {
      if (const auto* receive = command.get_if<core::Receive>()) {
        return core::Later{receive->receiver};
      }
      return core::Done{};
    };
    receiver =
        batcher.receive({.tenant = tenant, .queue = "q", .max = 1},
                        [](const Result<core::Received>&) { ADD_FAILURE() << "nobody waits"; });
    io.run();
  }
  void hand_out() {
    const auto message = std::make_shared<core::Message>();
    message->id = {core::Seq{7}, 9};
    submitter.answer_late({.receiver = receiver, .messages = {{message, 3, {}, {}}}});
    io.run();
  }
  std::size_t given_back() {
    std::size_t count = 0;
    for (const core::Command& one : submitter.taken) {
      if (const auto* back = one.get_if<core::GiveBack>()) {
        EXPECT_EQ(back->receiver, receiver);
        EXPECT_EQ(back->receipts.size(), 1U);
        EXPECT_EQ(back->receipts.at(0).id.seq, core::Seq{7});
        EXPECT_EQ(back->receipts.at(0).receive, 3U);
        ++count;
      }
    }
    return count;
  }

  FakeSubmitter submitter;
  FakeIoThread io;
  Batcher batcher{submitter, io, std::make_unique<SeededRng>(1)};
  core::ReceiverId receiver{};
};

TEST_F(WentAway, WhatWasOnItsWayIsGivenBack) {
  batcher.stop_receiving(receiver);
  hand_out();
  EXPECT_EQ(given_back(), 1U);
}

TEST_F(WentAway, WhatIsHandedOutBecauseTheCoreWasNotToldIsGivenBack) {
  submitter.room = 0;
  batcher.stop_receiving(receiver);
  io.run();
  submitter.room = SIZE_MAX;
  hand_out();
  EXPECT_EQ(given_back(), 1U);
}

TEST_F(WentAway, WhatCannotBeGivenBackNowIsOfferedAgain) {
  batcher.stop_receiving(receiver);
  submitter.room = 0;
  hand_out();
  EXPECT_EQ(given_back(), 0U);
  batcher.submit(core::CountQueue{tenant, "q"}, [](const core::Reply&) {});
  io.run();
  EXPECT_EQ(given_back(), 0U) << "there is no room yet";
  submitter.room = SIZE_MAX;
  batcher.submit(core::CountQueue{tenant, "q"}, [](const core::Reply&) {});
  io.run();
  EXPECT_EQ(given_back(), 1U);
  batcher.submit(core::CountQueue{tenant, "q"}, [](const core::Reply&) {});
  io.run();
  EXPECT_EQ(given_back(), 1U) << "once is enough";
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
