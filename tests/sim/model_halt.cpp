// What groups that stop rather than lose a message must mean. When the core takes notice that one
// has stopped is its own matter: after a change of settings or a restart not before it looks. That
// nothing of the group leaves holds at once.
#include <algorithm>

#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using Action = core::ResolveHalted::Action;

}  // namespace

bool Model::failed_for_good(const ModelMessage& message) const {
  const core::PullSettings& settings =
      *queues_.at({message.content->tenant, message.content->queue}).pull;
  const std::uint32_t receives_max =
      settings.receives_max == 0 && settings.halt ? limits_.halt_after : settings.receives_max;
  return receives_max != 0 && message.attempts > 0 &&
         message.attempts >= receives_max + message.forgiven;
}

/// If nobody has it: nothing of its group may leave.
bool Model::stops(const ModelMessage& message) const {
  const core::Message& content = *message.content;
  const auto queue = queues_.find({content.tenant, content.queue});
  return content.pull->fifo && queue != queues_.end() && !queue->second.deleted &&
         queue->second.pull && queue->second.pull->halt && failed_for_good(message);
}

/// The core knows it: it was in memory, under these settings, when its last receive ran out.
bool Model::surely_stopped(const ModelMessage& message) const {
  const ModelQueue& queue = queues_.at({message.content->tenant, message.content->queue});
  return stops(message) && message.due <= last_batch_ && message.received_in_life == life_ &&
         queue.changed_at < message.received_at;
}

std::vector<std::string> Model::stopped_groups(const Named& queue) const {
  std::vector<std::string> groups;
  for (auto lane = pull_lanes_.lower_bound({queue.first, queue.second, {}, {}, {}});
       lane != pull_lanes_.end() && lane->first.tenant == queue.first &&
       lane->first.queue == queue.second;
       ++lane) {
    const ModelMessage& head = messages_.at(*lane->second.all.begin());
    if (stops(head) && head.due <= time_) {
      groups.push_back(lane->first.group);
    }
  }
  return groups;
}

Expected Model::list_halted(const Op& op) {
  const Named key{op.tenant, op.name};
  if (find_pull_queue(key) == nullptr) {
    return refused(ErrorKind::not_found);
  }
  Expected listed{.kind = Expected::Kind::halted_listed};
  for (const auto& [seq, message] : messages_) {
    const core::Message& content = *message.content;
    if (message.pulled() && Named(content.tenant, content.queue) == key &&
        !core::is_final(message.status) && stops(message) && message.due <= time_ &&
        !swept(content)) {
      listed.halted.push_back(
          {{content.group, content.id, content.pull->receives_before + message.attempts},
           surely_stopped(message)});
    }
  }
  return listed;
}

Expected Model::resolve_halted(const Op& op) {
  if (find_pull_queue({op.tenant, op.name}) == nullptr) {
    return refused(ErrorKind::not_found);
  }
  Expected none = refused(ErrorKind::not_found);
  const core::LaneKey key{op.tenant, op.name, op.group, core::LaneKey::pulled, {}};
  none.either = resolved_in_doubt_.contains(key);
  const auto lane = pull_lanes_.find(key);
  if (lane == pull_lanes_.end()) {
    return none;
  }
  for (const core::Seq seq : lane->second.all) {
    const ModelMessage& message = messages_.at(seq);
    if (!stops(message) || message.due > time_ || swept(*message.content)) {
      continue;
    }
    const bool surely = surely_stopped(message);
    if (!surely && !resolved_now(message, op)) {
      none.either = true;
      continue;
    }
    if (!surely) {
      resolved_in_doubt_.insert(key);
    }
    if (op.action == Action::retry) {
      retry_halted(seq);
    } else {
      skip_halted(seq);
    }
    return {.kind = Expected::Kind::done, .either = !surely};
  }
  return none;
}

/// What was written looks as if it was.
bool Model::resolved_now(const ModelMessage& message, const Op& op) {
  if (op.action == Action::retry) {
    const auto entry = written_->lane_entries.find(message.seq());
    return entry != written_->lane_entries.end() && entry->second &&
           entry->second->forgiven > message.forgiven;
  }
  const auto state = written_->states.find(message.seq());
  if (state == written_->states.end()) {
    return false;
  }
  if (state->second.status == core::Status::failed) {
    return true;
  }
  return state->second.status == core::Status::canceled &&
         std::ranges::none_of(written_->events, [&](const core::Events& events) {
           return std::ranges::any_of(events.events, [&](const core::EventRef& one) {
             return one.seq == message.seq() && one.kind == core::EventKind::cancel_requested;
           });
         });
}

/// It goes out again, from the place that it has.
void Model::retry_halted(core::Seq seq) {
  update(seq, [](ModelMessage& message) {
    message.forgiven = message.attempts;
    message.due = Moment{};
  });
}

void Model::skip_halted(core::Seq seq) {
  const core::Message& content = *messages_.at(seq).content;
  const std::string& to = queues_.at({content.tenant, content.queue}).pull->dead_letters_to;
  if (to == content.queue || find_pull_queue({content.tenant, to}) == nullptr) {
    finish(seq, core::Status::canceled);
    return;
  }
  require(next_message_ < written_->messages.size() &&
              written_->messages[next_message_]->id.seq > last_seq_,
          "dead letters once", describe(messages_.at(seq)) + " was skipped and did not arrive");
  give_up(seq, written_->messages[next_message_++]);
}

}  // namespace hk::sim
