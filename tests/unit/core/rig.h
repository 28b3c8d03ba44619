/// A machine with a store in memory and a clock that a test turns by hand. One tenant is there.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/machine.h"
#include "unit/core/memory_reader.h"
#include "unit/core/named_zones.h"

namespace hk::core::testing {

inline const TenantId tenant_one{1};

struct Ran {
  std::vector<Reply> replies{};
  std::vector<StartAttempt> starts{};
  std::vector<HandOut> handed_out{};
  std::vector<Mutation> mutations{};

  /// The only reply, which must be a T.
  template <class T>
  T only() const {
    EXPECT_EQ(replies.size(), 1U);
    if (!replies.at(0)) {
      ADD_FAILURE() << "refused: " << replies[0].error().message;
      return T{};
    }
    const T* got = std::get_if<T>(&*replies[0]);
    EXPECT_NE(got, nullptr);
    return got == nullptr ? T{} : *got;
  }
  [[nodiscard]] std::vector<std::uint64_t> started() const {
    std::vector<std::uint64_t> seqs;
    for (const StartAttempt& start : starts) {
      seqs.push_back(start.id.seq.value());
    }
    return seqs;
  }
};

class Rig {
 public:
  explicit Rig(const Limits& given = {}) : limits(given) {
    open();
    run(UpsertTenant{.tenant = {.name = "one"}});
  }

  /// The process dies and starts again: what was taken so far is stored.
  void restart() { open(); }

  void pass(Millis time) { now += time; }

  template <class... Commands>
  Ran run(Commands... commands) {
    Ran ran;
    machine->begin(now, reader);
    (ran.replies.push_back(machine->execute(Command{std::move(commands)})), ...);
    machine->advance();
    auto output = machine->take();
    for (const Mutation& mutation : output.mutations) {
      reader.apply(mutation);
    }
    for (Effect& effect : output.effects) {
      if (auto* start = std::get_if<StartAttempt>(&effect)) {
        ran.starts.push_back(std::move(*start));
      } else if (auto* handed = std::get_if<HandOut>(&effect)) {
        ran.handed_out.push_back(std::move(*handed));
      }
    }
    ran.mutations = std::move(output.mutations);
    return ran;
  }

  /// What run() gives for a publish of this.
  MessageId publish(Message message) {
    return run(publishing(std::move(message))).only<Published>().id;
  }

  static Publish publishing(Message message, Millis window = Millis{600'000}) {
    return {.message = std::make_unique<Message>(std::move(message)), .dedup_window = window};
  }

  static CompleteAttempt outcome(const StartAttempt& start, bool delivered) {
    return {.id = start.id,
            .fence = start.fence,
            .attempt = {.response_status = delivered ? 200 : 500},
            .delivered = delivered};
  }

  [[nodiscard]] Counters counts() const { return machine->counters().at(tenant_one); }

  Limits limits;
  Moment now{moment_from_ms(1'000'000)};
  MemoryReader reader;
  SeededRng rng{7};
  NamedZones zones;
  std::unique_ptr<Machine> machine;

 private:
  void open() {
    machine = std::make_unique<Machine>(limits, rng, zones);
    machine->recover(reader, now);
    for (const Mutation& mutation : machine->take().mutations) {
      reader.apply(mutation);
    }
  }
};

/// A message to host `host`, tried again after the given waits.
inline Message message_to(std::string host, std::vector<Millis> waits = {}) {
  Message message;
  message.tenant = tenant_one;
  message.url = host + "/hook";
  message.host = std::move(host);
  message.body = "hello";
  message.timeout = Millis{1000};
  message.retry.retries_max = static_cast<std::uint32_t>(waits.size());
  message.retry.delay = TableDelay{std::move(waits)};
  return message;
}

inline Message queued(std::string queue, std::string group = {}, std::vector<Millis> waits = {}) {
  Message message = message_to("http://a.example:80", std::move(waits));
  message.queue = std::move(queue);
  message.group = std::move(group);
  return message;
}

inline std::vector<std::uint64_t> seqs(std::initializer_list<std::uint64_t> list) { return list; }

}  // namespace hk::core::testing
