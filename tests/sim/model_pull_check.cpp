// What must hold of leases as they are written, and of what receivers are told.
#include <algorithm>

#include "base/sometimes.h"
#include "sim/model.h"
#include "sim/trace.h"

HK_SOMETIMES_DECLARE(paused_queue_holds_back_what_is_new)
HK_SOMETIMES_DECLARE(paused_queue_holds_back_what_was_received)

namespace hk::sim {

void Model::compare_lane_entries() const {
  for (const auto& [seq, entry] : written_->lane_entries) {
    const auto found = messages_.find(seq);
    if (!entry || found == messages_.end() || !found->second.pulled()) {
      continue;
    }
    const ModelMessage& want = found->second;
    require(!core::is_final(want.status), "index", describe(want) + " has an entry after its end");
    require(entry->not_before == want.due && entry->attempts == want.attempts &&
                entry->started == want.started && entry->forgiven == want.forgiven &&
                entry->first_received_at == want.first_received_at,
            "leases are stored", describe(want) + " is stored as something else");
  }
}

void Model::check_hand_outs(std::span<const Answer> answers, std::span<const core::Effect> effects,
                            Millis late_max) {
  std::set<std::pair<core::Seq, std::uint32_t>> received;
  for (const core::Events& events : written_->events) {
    for (const core::EventRef& one : events.events) {
      if (one.kind == core::EventKind::active && messages_.at(one.seq).pulled()) {
        received.insert({one.seq, one.attempt});
      }
    }
  }
  std::map<core::Seq, Moment> hidden_until;
  for (const Answer& answer : answers) {
    if (!*answer.reply) {
      require(told_gone_.erase(answer.receiver) == 1 &&
                  answer.reply->error().kind == ErrorKind::not_found,
              "receivers", "one was told that its queue is gone");
      continue;
    }
    const auto* const out = (*answer.reply)->get_if<core::Received>();
    require(out != nullptr && out->receiver == answer.receiver, "receivers",
            "one got the answer of another one");
    if (went_away_.erase(out->receiver) == 1) {
      require(out->messages.empty(), "receivers", "one was given something after it went away");
      continue;
    }
    if (check_handed_out_again(*out)) {
      continue;
    }
    const auto line = std::ranges::find_if(waiters_, [&](const auto& one) {
      return std::ranges::find(one.second, out->receiver, &Waiter::receiver) != one.second.end();
    });
    require(line != waiters_.end(), "receivers", "one was answered that does not wait");
    const auto place = std::ranges::find(line->second, out->receiver, &Waiter::receiver);
    const Waiter waiter = *place;
    if (out->messages.empty() && draining_) {
      line->second.erase(place);
      continue;
    }
    require(!draining_, "drain", "a message was handed out after it had begun");
    if (out->messages.empty()) {
      require(waiter.until <= time_, "receivers", "one was sent away before its wait was over");
      require(time_ <= waiter.until + late_max, "receivers",
              "one waited " + std::to_string((time_ - waiter.until).count()) + " ms too long");
      line->second.erase(place);
      continue;
    }
    require(place == line->second.begin(), "receivers", "one was passed over for a later one");
    require(out->messages.size() <= waiter.max, "receivers", "one got more than it asked for");
    line->second.erase(place);
    const core::PullSettings& settings = *queues_.at(line->first).pull;
    const Moment until = time_ + waiter.visibility.value_or(settings.visibility);
    std::set<core::Seq> mine;
    for (const core::Received::One& one : out->messages) {
      const core::Seq seq = one.message->id.seq;
      require(received.erase({seq, one.receive}) == 1, "I13 effects",
              name_of(seq) + " was handed out without its record");
      const ModelMessage& message = messages_.at(seq);
      const core::Message& content = *message.content;
      const Moment first = content.pull->first_received_at;
      require(*one.message == content && Named(content.tenant, content.queue) == line->first &&
                  one.visible_at == until &&
                  one.first_received_at == (first == Moment{} ? message.first_received_at : first),
              "I13 effects", describe(message) + " was handed out with wrong particulars");
      const auto again = hidden_until.find(seq);
      require(again == hidden_until.end() || again->second <= time_, "one receiver at a time",
              describe(message) + " went to two at once");
      hidden_until[seq] = one.visible_at;
      holders_[seq] = out->receiver;
      if (settings.fifo) {
        const auto lane = pull_lanes_.find(core::lane_of(content));
        for (const core::Seq earlier :
             lane == pull_lanes_.end() ? std::set<core::Seq>{} : lane->second.all) {
          require(earlier >= seq || mine.contains(earlier), "I5 order",
                  describe(message) + " went to another receiver than what is before it");
        }
      }
      require(mine.insert(seq).second, "one receiver at a time", describe(message) + " went twice");
    }
    if (settings.fifo && until > time_) {
      note_attempt(line->first, waiter, *out);
    }
  }
  for (const core::Effect& effect : effects) {
    if (const auto* const start = std::get_if<core::StartAttempt>(&effect); start && start->to) {
      require(received.erase({start->id.seq, start->fence.attempt}) == 1, "I13 effects",
              name_of(start->id.seq) + " was pushed without its record");
      check_pushed(*start);
      const auto before = hidden_until.find(start->id.seq);
      require(before == hidden_until.end() || before->second <= time_, "one receiver at a time",
              name_of(start->id.seq) + " was pushed while a receiver has it");
      hidden_until[start->id.seq] = start->lease_until;
    }
  }
  require(received.empty(), "I13 effects", "a recorded receive has no effect");
  require(again_.empty(), "receive again", "one did not get what it had got before");
  for (const auto& [seq, until] : hidden_until) {
    const ModelMessage& message = messages_.at(seq);
    require(core::is_final(message.status) ? until <= time_ : message.due == until,
            "leases are stored", describe(message) + " is with its receiver for another time");
  }
  require(told_gone_.empty(), "receivers", "one was not told that its queue is gone");
  require(went_away_.empty(), "receivers", "one went away and was not answered");
  for (const auto& [queue, line] : waiters_) {
    for (const Waiter& one : line) {
      require(one.until > time_, "receivers", "one waits for longer than it asked to");
      require(!draining_, "drain", "one waits although nothing is handed out any more");
    }
  }
}

void Model::check_nobody_waits_in_vain(Moment time) const {
  for (const auto& [queue, line] : waiters_) {
    if (line.empty() || queues_.at(queue).sweeping) {
      continue;
    }
    const bool paused = queues_.at(queue).paused;
    for (auto lane = pull_lanes_.lower_bound({queue.first, queue.second, {}, {}, {}});
         lane != pull_lanes_.end() && lane->first.tenant == queue.first &&
         lane->first.queue == queue.second;
         ++lane) {
      const core::Seq next =
          lane->first.ordered() ? *lane->second.all.begin() : lane->second.by_due.begin()->second;
      const ModelMessage& message = messages_.at(next);
      if (paused && message.due <= time && message.started) {
        HK_SOMETIMES(paused_queue_holds_back_what_was_received);
      } else if (paused && message.due <= time) {
        HK_SOMETIMES(paused_queue_holds_back_what_is_new);
      }
      require(message.due > time || stops(message) || paused, "I14 nothing stranded",
              describe(message) + " is visible, and a receiver waits");
    }
  }
}

}  // namespace hk::sim
