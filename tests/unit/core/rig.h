/// A machine with a store in memory and a clock that a test turns by hand. One tenant is there.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "core/machine.h"
#include "support/memory_reader.h"
#include "unit/core/named_zones.h"

namespace hk::core::testing {

inline const TenantId tenant_one{1};

struct Ran {
  std::vector<Reply> replies{};
  std::vector<StartAttempt> starts{};
  std::vector<Received> handed_out{};  ///< answers to receives, of this batch or earlier ones
  std::vector<Error> sent_away{};      ///< receives that waited, and were refused
  std::vector<std::pair<ReceiverId, Reply>> late{};  ///< other answers to what waited
  std::vector<Mutation> mutations{};

  // These and what is in rig.cpp are not inline: every test of the core includes this, and they are
  // most of what a compiler would have to do for it.
  Ran();
  Ran(Ran&&) noexcept;
  Ran& operator=(Ran&&) noexcept;
  ~Ran();

  /// The only reply, which must be a T.
  template <class T>
  T only() const {
    EXPECT_EQ(replies.size(), 1U);
    if (!replies.at(0)) {
      ADD_FAILURE() << "refused: " << replies[0].error().message;
      return T{};
    }
    const T* got = replies[0]->get_if<T>();
    EXPECT_NE(got, nullptr);
    return got == nullptr ? T{} : *got;
  }
  [[nodiscard]] std::vector<std::uint64_t> started() const;
};

class Rig {
 public:
  explicit Rig(const Limits& given = {});
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig();

  /// The process dies and starts again: what was taken so far is stored.
  void restart() { static_cast<void>(open()); }
  /// The same, with an epoch and origin from outside; an error: they do not fit what is stored.
  Result<void> open(const Term& term = {});

  void pass(Millis time) { now += time; }

  template <class... Commands>
  Ran run(Commands... commands) {
    begin();
    (execute(std::move(commands)), ...);
    return end();
  }

  /// What run() gives for a publish of this.
  MessageId publish(Message message);

  static Publish publishing(Message message, Millis window = Millis{600'000});
  static CompleteAttempt outcome(const StartAttempt& start, bool delivered);

  [[nodiscard]] Counters counts() const;

  Limits limits;
  Moment now{moment_from_ms(1'000'000)};
  MemoryReader reader;
  SeededRng rng{7};
  NamedZones zones;
  std::string forbidden_url{};  ///< for queues that push, since the last start
  std::unique_ptr<Machine> machine;

 private:
  void begin();
  void execute(Command command);
  Ran end();

  std::vector<Reply> replies_{};
};

/// A message to host `host`, tried again after the given waits.
Message message_to(std::string host, std::vector<Millis> waits = {});
Message queued(std::string queue, std::string group = {}, std::vector<Millis> waits = {});

inline std::vector<std::uint64_t> seqs(std::initializer_list<std::uint64_t> list) { return list; }

}  // namespace hk::core::testing
