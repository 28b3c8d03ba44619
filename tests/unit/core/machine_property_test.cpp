/// Programs of arbitrary steps, run by the machine and by a reference that is simpler than it. A
/// program that goes wrong is shrunk and printed as the list of its steps.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <algorithm>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <variant>

#include "unit/core/program.h"
#include "unit/core/reference.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

class Run {
 public:
  explicit Run(const Limits& limits) : rig_(limits), reference_(rig_.limits) {}

  void all(const std::vector<Step>& program) {
    for (const Step& step : program) {
      if (!step.same_batch || step.what == Do::pass_time || step.what == Do::restart) {
        end_batch();
      }
      make(step);
    }
    end_batch();
    drain();
  }

 private:
  Reply execute(Command command) {
    if (!batch_open_) {
      rig_.machine->begin(rig_.now, rig_.reader);
      batch_open_ = true;
    }
    return rig_.machine->execute(std::move(command));
  }

  void make(const Step& step) {
    switch (step.what) {
      case Do::publish: publish(step, {}, {}); return;
      case Do::enqueue:
        publish(step, "q" + std::to_string(step.which % 2),
                step.which % 3 == 0 ? "" : "g" + std::to_string(step.which % 3));
        return;
      case Do::succeed: report(current(step), Reference::Outcome::delivered); return;
      case Do::fail: report(current(step), Reference::Outcome::failed); return;
      case Do::give_up: report(current(step), Reference::Outcome::given_up); return;
      case Do::report_again:
        report(starts_.empty() ? nullptr : &starts_[step.which % starts_.size()],
               Reference::Outcome::failed);
        return;
      case Do::cancel: cancel(step); return;
      case Do::retry_letter: letter(step, true); return;
      case Do::delete_letter: letter(step, false); return;
      case Do::pause:
      case Do::resume: pause("q" + std::to_string(step.which % 2), step.what == Do::pause); return;
      case Do::parallelism: {
        const std::string queue = "q" + std::to_string(step.which % 2);
        const std::uint32_t slots = 1 + step.which % 3;
        demand(execute(UpsertQueue{tenant_one, queue, slots, {}}).has_value(), "settings refused");
        reference_.parallelism[queue] = slots;
        return;
      }
      case Do::pass_time: {
        constexpr std::int64_t waits[] = {1, 50, 100, 700, 2500, 6001};
        rig_.pass(Millis{waits[step.which % std::size(waits)]});
        end_batch();
        return;
      }
      case Do::restart:
        rig_.restart();
        reference_.restarted();
        end_batch();
        return;
    }
  }

  void publish(const Step& step, std::string queue, std::string group) {
    Message message = message_to("http://host" + std::to_string(step.host),
                                 std::vector<Millis>(step.which % 3, Millis{100}));
    message.queue = std::move(queue);
    message.group = std::move(group);
    message.dedup_id = step.dedup == 0 ? "" : "d" + std::to_string(step.dedup);
    if (message.queue.empty() && step.which % 5 == 4) {
      message.not_before = rig_.now + Millis{60};
    }
    constexpr Millis window{3000};
    const Reply reply = execute(Rig::publishing(message, window));
    demand(reply.has_value(), "a publish was refused");
    reference_.published(message, reply->get<Published>(), window, rig_.now);
  }

  const StartAttempt* current(const Step& step) {
    std::vector<const StartAttempt*> running;
    for (const StartAttempt& start : starts_) {
      const auto& item = reference_.items.at(start.id.seq);
      if (item.leased && item.fence == start.fence) {
        running.push_back(&start);
      }
    }
    return running.empty() ? nullptr : running[step.which % running.size()];
  }

  void report(const StartAttempt* start, Reference::Outcome outcome) {
    if (start == nullptr) {
      return;
    }
    CompleteAttempt command = Rig::outcome(*start, outcome == Reference::Outcome::delivered);
    command.give_up = outcome == Reference::Outcome::given_up;
    const bool counted = execute(std::move(command)).has_value();
    demand(reference_.completed(start->id.seq, start->fence, outcome, rig_.now) == counted,
           "an outcome was taken from the wrong lease, or not from the right one");
  }

  void cancel(const Step& step) {
    if (reference_.items.empty()) {
      return;
    }
    const auto at = std::next(reference_.items.begin(),
                              static_cast<std::ptrdiff_t>(step.which % reference_.items.size()));
    const Reply reply = execute(CancelMessage{tenant_one, at->second.id});
    const auto running = reference_.canceled(at->first, rig_.now);
    demand(reply.has_value() == running.has_value() &&
               (!reply || reply->get<Canceled>().running == *running),
           "a cancel was answered wrongly");
  }

  void letter(const Step& step, bool again) {
    if (reference_.letters.empty()) {
      return;
    }
    const auto at = std::next(reference_.letters.begin(),
                              static_cast<std::ptrdiff_t>(step.which % reference_.letters.size()));
    const DeadLetterKey key = *at;
    reference_.letters.erase(at);
    const Reply reply = again ? execute(RetryDeadLetter{tenant_one, key})
                              : execute(DeleteDeadLetterCommand{tenant_one, key});
    demand(reply.has_value(), "a dead letter was not found");
    demand(!execute(RetryDeadLetter{tenant_one, key}).has_value(), "a dead letter was found twice");
    if (again) {
      Message sent = reference_.items.at(key.seq).sent;
      sent.not_before = Moment{};
      reference_.accepted(std::move(sent), reply->get<Published>().id, rig_.now);
    }
  }

  void pause(const std::string& queue, bool paused) {
    demand(execute(UpsertQueue{tenant_one, queue, {}, paused}).has_value(), "settings refused");
    if (paused) {
      reference_.paused.insert(queue);
    } else {
      reference_.paused.erase(queue);
    }
  }

  /// Ends the batch, and makes further ones for as long as the machine has something to do.
  void end_batch() {
    for (int rounds = 0;; ++rounds) {
      demand(rounds < 200, "the machine never comes to rest");
      if (!batch_open_) {
        rig_.machine->begin(rig_.now, rig_.reader);
      }
      batch_open_ = false;
      rig_.machine->advance();
      const auto output = rig_.machine->take();
      for (const Mutation& mutation : output.mutations) {
        rig_.reader.apply(mutation);
      }
      absorb(output.effects);
      if (const auto wake = rig_.machine->wake_at(); !wake || *wake > rig_.now) {
        break;
      }
    }
    reference_.nothing_is_stranded(rig_.now);
    compare();
  }

  void absorb(const std::vector<Effect>& effects) {
    for (auto& [seq, item] : reference_.items) {
      // Its attempt was cut short by a restart: it ends when the machine next reads it.
      const auto stored = rig_.reader.get<MessageState>(seq);
      if (item.open() && item.cancel && !item.leased && stored &&
          stored->status == Status::canceled) {
        item.status = Status::canceled;
      }
    }
    reference_.expire(rig_.now);
    for (const Effect& effect : effects) {
      if (const auto* start = std::get_if<StartAttempt>(&effect)) {
        reference_.started(*start, rig_.now);
        starts_.push_back(*start);
      }
    }
  }

  void compare() {
    Counters want;
    for (const auto& [seq, item] : reference_.items) {
      const std::string name = "message " + std::to_string(seq.value());
      const auto message = rig_.reader.get<Message>(seq);
      demand(message != nullptr && message->id == item.id, name + " is lost");
      const MessageState state = rig_.reader.get<MessageState>(seq).value_or(MessageState{});
      demand(state.status == item.status, name + " is stored in another state");
      demand(state.attempts == item.attempts, name + " has another number of attempts");
      demand(rig_.machine->leased(seq) == item.leased, name + " is leased, or is not");
      ++want.accepted;
      want.pending += item.open() ? 1U : 0U;
      want.succeeded += item.status == Status::succeeded ? 1U : 0U;
      want.failed += item.status == Status::failed ? 1U : 0U;
      want.canceled += item.status == Status::canceled ? 1U : 0U;
    }
    demand(rig_.reader.rows<Message>().size() == reference_.items.size(),
           "a message nobody published");
    demand(std::ranges::equal(rig_.reader.scan<DeadLetterKey>(), reference_.letters),
           "the dead letters are others");
    if (want.accepted > 0) {
      const Counters got = rig_.counts();
      demand(got.accepted == want.accepted && got.pending == want.pending &&
                 got.succeeded == want.succeeded && got.failed == want.failed &&
                 got.canceled == want.canceled && got.dead_letters == reference_.letters.size(),
             "the counters are wrong");
    }
  }

  /// Whatever happened: when nothing holds them, all messages come to an end.
  void drain() {
    pause("q0", false);
    pause("q1", false);
    end_batch();
    const auto open = [](const auto& one) { return one.second.open(); };
    for (int rounds = 0; std::ranges::any_of(reference_.items, open); ++rounds) {
      demand(rounds < 2000, "a message never comes to its end");
      if (const StartAttempt* start = current({})) {
        report(start, Reference::Outcome::delivered);
      } else {
        rig_.pass(Millis{100});
      }
      end_batch();
    }
  }

  Rig rig_;
  Reference reference_;
  std::vector<StartAttempt> starts_;
  bool batch_open_ = false;
};

/// An assertion of the core ends the process; the program that led there is told first.
const std::vector<Step>* running = nullptr;

void tell_program(int) {
  std::signal(SIGABRT, SIG_DFL);
  std::ostringstream text;
  for (const Step& step : *running) {
    text << step;
  }
  std::fprintf(stderr, "the program was:%s\n", text.str().c_str());
  std::abort();
}

bool right_for(const Limits& limits) {
  const auto before = std::signal(SIGABRT, tell_program);
  const bool right = rc::check([&limits] {
    const auto program = *rc::gen::scale(2.0, rc::gen::container<std::vector<Step>>(any_step()));
    running = &program;
    Run run(limits);
    try {
      run.all(program);
    } catch (const Wrong& wrong) {
      RC_FAIL(wrong.what());
    }
  });
  std::signal(SIGABRT, before);
  return right;
}

TEST(MachineProperty, AgreesWithTheReferenceWhenLimitsAreRoomy) {
  EXPECT_TRUE(right_for(Limits{}));
}

TEST(MachineProperty, AgreesWithTheReferenceWhenHostsAreCrowded) {
  Limits limits;
  limits.destination_parallelism = 2;
  EXPECT_TRUE(right_for(limits));
}

TEST(MachineProperty, AgreesWithTheReferenceWhenEverythingIsTiny) {
  Limits limits;
  limits.destination_parallelism = 1;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  limits.starts_per_batch = 1;
  limits.refills_per_batch = 1;
  limits.quantum = 1;
  limits.index_after = Millis{50};
  limits.index_per_batch = 1;
  EXPECT_TRUE(right_for(limits));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
