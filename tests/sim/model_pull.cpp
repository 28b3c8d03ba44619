// What queues that are pulled from must mean: one receiver at a time, in order where that was
// promised, never early, never after the end, and counted.
#include <algorithm>

#include "base/sometimes.h"
#include "core/pull/delayed.h"
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

HK_SOMETIMES_DECLARE(too_old_for_its_dead_letter_queue)

namespace hk::sim {

namespace {

constexpr Millis held_max = std::chrono::hours{12};

Expected done() { return {.kind = Expected::Kind::done}; }

}  // namespace

ModelQueue* Model::find_pull_queue(const Named& key) {
  const auto found = queues_.find(key);
  return found == queues_.end() || found->second.deleted || !found->second.pull ? nullptr
                                                                                : &found->second;
}

bool Model::has_pull_queue(const Named& queue) const {
  const auto found = queues_.find(queue);
  return found != queues_.end() && !found->second.deleted && found->second.pull.has_value();
}

// ---- the queue ----

Expected Model::make_pull_queue(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const Named key{op.tenant, op.name};
  const auto known = queues_.find(key);
  if (known != queues_.end() && !known->second.deleted) {
    return {.kind = Expected::Kind::queue_made, .flag = true, .pull = known->second.pull};
  }
  ModelQueue& queue = use_queue(key);
  queue.pull = op.pull;
  queue.pull->version = 1;
  queue.changed_at = time_;
  return {.kind = Expected::Kind::queue_made, .pull = queue.pull};
}

Expected Model::set_pull_queue(const Op& op) {
  const Named key{op.tenant, op.name};
  ModelQueue* const queue = find_pull_queue(key);
  if (queue == nullptr) {
    return refused(ErrorKind::not_found);
  }
  if (queue->pull->version != op.pull->version) {
    return refused(ErrorKind::conflict);
  }
  save(queues_, key);
  const bool fifo = queue->pull->fifo;
  queue->pull = op.pull;
  queue->pull->fifo = fifo;
  ++queue->pull->version;
  queue->changed_at = time_;
  changed_queues_.insert(key);
  return done();
}

/// From this point of the order on nothing that it held may be handed out, and its dedup ids are
/// new.
Expected Model::purge_queue(const Op& op) {
  const Named key{op.tenant, op.name};
  ModelQueue* const queue = find_pull_queue(key);
  if (queue == nullptr) {
    return refused(ErrorKind::not_found);
  }
  save(queues_, key);
  queue->pull->purged_at = time_;
  ++queue->pull->purges;
  ++queue->pull->version;
  queue->sweeping = true;
  changed_queues_.insert(key);
  save(deleted_up_to_, key);
  deleted_up_to_[key] = last_seq_;
  given_.erase(key);
  return done();
}

Expected Model::count_queue(const Op& op) {
  const Named key{op.tenant, op.name};
  if (find_pull_queue(key) == nullptr) {
    return refused(ErrorKind::not_found);
  }
  const auto left = std::ranges::count_if(messages_, [&](const auto& one) {
    const core::Message& content = *one.second.content;
    return one.second.pulled() && Named(content.tenant, content.queue) == key &&
           !core::is_final(one.second.status) && !swept(content);
  });
  return {.kind = Expected::Kind::counted, .lag = static_cast<std::uint64_t>(left)};
}

/// A message and its queue are of one kind. What is pulled takes the queue's delay if it has none
/// of its own.
std::optional<ErrorKind> Model::fit_queue(const Op& op, core::Message& message) {
  const Named key{message.tenant, message.queue};
  const auto found = queues_.find(key);
  const bool there = !message.queue.empty() && found != queues_.end() && !found->second.deleted;
  const bool pulled = there && found->second.pull.has_value();
  if (!message.pull) {
    if (pulled) {
      return ErrorKind::conflict;
    }
    return !message.queue.empty() && message.not_before > time_
               ? std::optional(ErrorKind::invalid_argument)
               : std::nullopt;
  }
  if (!pulled) {
    return there ? ErrorKind::conflict : ErrorKind::not_found;
  }
  const core::PullSettings& settings = *found->second.pull;
  message.pull->fifo = settings.fifo;
  const bool own = op.delay > Millis{0};
  message.not_before = time_ + (own ? op.delay : Millis{0});
  if (!own || settings.fifo) {
    message.not_before = std::max(message.not_before, time_ + settings.delay);
  }
  message.not_before = core::Delayed::rounded(message.not_before, time_);
  return std::nullopt;
}

/// A queue that is made again, or purged, knows no ids of before.
/// What was accepted before the scope was changed counts in its own.
std::vector<std::string> Model::dedup_scopes(const core::Message& message, Millis window) {
  const ModelQueue& queue = *find_pull_queue({message.tenant, message.queue});
  const std::string whole = "queue " + message.queue + ' ' +
                            std::to_string(to_ms(queue.created_at)) + ' ' +
                            std::to_string(queue.pull->purges);
  std::vector<std::string> scopes{whole, whole + ' ' + message.group};
  if (queue.pull->dedup_by_group) {
    std::swap(scopes[0], scopes[1]);
  }
  if (queue.changed_at + window <= time_) {
    scopes.pop_back();
  }
  return scopes;
}

/// When one that nobody has received yet is due, by the queue's delay as it is now.
Moment Model::due_by_queue(const ModelQueue& queue, const core::Message& message) {
  return message.pull->sent_at + queue.pull->delay;
}

/// Messages of a FIFO queue that wait for their delay get the one that the queue has now, sooner or
/// later.
void Model::absorb_other_delays() {
  for (const auto& [seq, entry] : written_->lane_entries) {
    const auto found = messages_.find(seq);
    if (!entry || found == messages_.end() || !found->second.pulled() || entry->attempts > 0 ||
        found->second.attempts > 0) {
      continue;
    }
    const core::Message& content = *found->second.content;
    if (entry->started && found->second.due <= time_ && entry->not_before <= time_ &&
        taken_in_vain_.contains({content.tenant, content.queue})) {
      update(seq, [&](ModelMessage& message) {
        message.started = true;
        message.due = entry->not_before;
      });
    }
    if (entry->not_before == found->second.due) {
      continue;
    }
    const ModelQueue* const queue = find_pull_queue({content.tenant, content.queue});
    if (queue != nullptr && content.pull->fifo && found->second.due > time_ &&
        entry->not_before == due_by_queue(*queue, content)) {
      update(seq, [&](ModelMessage& message) { message.due = entry->not_before; });
    }
  }
}

// ---- receivers ----

Expected Model::receive(const Op& op) {
  const Named key{op.tenant, op.name};
  const ModelQueue* const queue = find_pull_queue(key);
  if (queue == nullptr) {
    return refused(ErrorKind::not_found);
  }
  if (!hand_out_again(key, *queue->pull, op)) {
    waiters_[key].push_back({op.receiver, op.max, op.visibility,
                             time_ + op.wait.value_or(queue->pull->wait), op.attempt_id});
  }
  return {.kind = Expected::Kind::later};
}

Expected Model::stop_receiving(const Op& op) {
  if (std::erase_if(waiters_[{op.tenant, op.name}],
                    [&](const Waiter& one) { return one.receiver == op.receiver; }) > 0) {
    went_away_.insert(op.receiver);
  }
  return done();
}

void Model::end_waits(const Named& queue) {
  for (const Waiter& one : waiters_[queue]) {
    told_gone_.insert(one.receiver);
  }
  waiters_.erase(queue);
  given_.erase(queue);
}

/// The message, if the receipt is of its last receive. Null: it is gone, or was received since.
const ModelMessage* Model::held(const Named& queue, const core::Receipt& receipt) {
  const ModelMessage* message = find(queue.first, receipt.id);
  return message == nullptr || !message->pulled() || message->content->queue != queue.second ||
                 core::is_final(message->status) || message->attempts != receipt.receive
             ? nullptr
             : message;
}

Expected Model::delete_received(const Op& op) {
  const Named key{op.tenant, op.name};
  const ModelQueue* const queue = find_pull_queue(key);
  if (queue == nullptr) {
    return refused(ErrorKind::not_found);
  }
  Expected all{.kind = Expected::Kind::settled};
  for (const core::Receipt& receipt : op.receipts) {
    const ModelMessage* const message = held(key, receipt);
    if (message == nullptr) {
      all.parts.push_back(done());
      continue;
    }
    if (message->due <= time_ && queue->pull->fifo) {
      all.parts.push_back(refused(ErrorKind::invalid_argument));
      continue;
    }
    event(op.tenant, receipt.id.seq, core::EventKind::delivered, message->attempts);
    finish(receipt.id.seq, core::Status::succeeded);
    all.parts.push_back(done());
  }
  return all;
}

Expected Model::change_visibility(const Op& op) {
  const Named key{op.tenant, op.name};
  const ModelQueue* const queue = find_pull_queue(key);
  if (queue == nullptr) {
    return refused(ErrorKind::not_found);
  }
  const Millis visibility = op.visibility.value_or(Millis{0});
  Expected all{.kind = Expected::Kind::settled};
  for (const core::Receipt& receipt : op.receipts) {
    const ModelMessage* const message = held(key, receipt);
    const ModelMessage* const any = find(op.tenant, receipt.id);
    if (any != nullptr && any->pulled() && any->content->queue == op.name &&
        core::is_final(any->status) && any->cancel_requested) {
      all.parts.push_back(refused(ErrorKind::conflict));  // so its receiver can stop
      continue;
    }
    const bool visible = message != nullptr && message->due <= time_;
    if (message == nullptr || (visible && queue->pull->fifo) || visibility > held_max) {
      all.parts.push_back(refused(ErrorKind::invalid_argument));
      continue;
    }
    if (!visible || visibility > Millis{0}) {
      update(receipt.id.seq, [&](ModelMessage& one) { one.due = time_ + visibility; });
    }
    all.parts.push_back(done());
  }
  return all;
}

Expected Model::give_back(const Op& op) {
  const Named key{op.tenant, op.name};
  Expected all{.kind = Expected::Kind::settled};
  for (const core::Receipt& receipt : op.receipts) {
    all.parts.push_back(done());
    const ModelMessage* const message =
        find_pull_queue(key) == nullptr ? nullptr : held(key, receipt);
    if (message == nullptr || message->due <= time_ || holders_[receipt.id.seq] != op.receiver) {
      continue;
    }
    update(receipt.id.seq, [this](ModelMessage& one) {
      one.due = time_;
      if (--one.attempts == 0) {
        one.first_received_at = Moment{};
      }
    });
  }
  return all;
}

// ---- what happens by itself ----

/// How much of its life a cancelled one remembers is the core's choice.
void Model::finish_canceled(core::Seq seq) {
  const auto stored = written_->states.find(seq);
  require(stored != written_->states.end(), "P4 stored", name_of(seq) + " ended unwritten");
  const core::MessageState& state = stored->second;
  const ModelMessage& message = messages_.at(seq);
  require(state.attempts == 0 || state.attempts == message.attempts, "receives",
          name_of(seq) + " ended with another number of receives");
  const core::TenantId tenant = message.content->tenant;
  for (const core::Events& events : written_->events) {
    for (const core::EventRef& one : events.events) {
      if (one.seq == seq && one.kind == core::EventKind::cancel_requested) {
        event(tenant, seq, one.kind);
      }
    }
  }
  update(seq, [&state](ModelMessage& one) {
    one.attempts = state.attempts;
    one.cancel_requested = state.cancel_requested;
  });
  finish(seq, core::Status::canceled);
}

/// Cancelled by a task, purged, deleted with its queue, or too old: when, the core decides; but not
/// what is neither.
void Model::end_pulled(core::Seq seq) {
  const auto found = messages_.find(seq);
  if (found == messages_.end() || !found->second.pulled() || core::is_final(found->second.status)) {
    return;
  }
  const core::Message& content = *found->second.content;
  const auto stored = written_->states.find(seq);
  if (stored != written_->states.end() && stored->second.cancel_requested) {
    require(selected_by_a_task(seq), "cancels", describe(found->second) + " nobody has cancelled");
    canceled_by_tasks_.push_back(seq);
    finish_canceled(seq);
    return;
  }
  const ModelQueue* const queue = find_pull_queue({content.tenant, content.queue});
  require(
      swept(content) || queue == nullptr || content.pull->sent_at + queue->pull->retention <= time_,
      "retention", describe(found->second) + " was thrown away");
  finish_canceled(seq);
}

bool Model::moved_now(core::Seq seq) const {
  return std::ranges::any_of(written_->messages, [seq](const auto& one) {
    return one->id.seq == seq && one->pull && !one->pull->moved_from.empty();
  });
}

/// What is received, and what goes to a dead-letter queue instead.
void Model::judge(const core::Events& events, std::size_t at,
                  std::map<core::Seq, std::uint32_t>& to_come) {
  const core::EventRef& one = events.events[at];
  const auto found = messages_.find(one.seq);
  if (found == messages_.end()) {
    return;
  }
  if (one.kind == core::EventKind::active) {
    hand_out_one(events.tenant, one, --to_come[one.seq] == 0);
  } else if (one.kind == core::EventKind::failed && !core::is_final(found->second.status)) {
    require(at + 1 < events.events.size() && events.events[at + 1].kind == core::EventKind::created,
            "dead letters once", name_of(one.seq) + " left its queue for none");
    move_one(events.tenant, one.seq, events.events[at + 1].seq);
  } else if (one.kind == core::EventKind::canceled) {
    end_pulled(one.seq);  // moved in this batch, and too old for where it is now
  }
}

/// By its own time, or by the delay that its queue has now.
bool Model::may_be_visible(const ModelMessage& message, const ModelQueue& queue) const {
  const core::Message& content = *message.content;
  return message.due <= time_ ||
         (content.pull->fifo && message.attempts == 0 && due_by_queue(queue, content) <= time_);
}

void Model::check_may_go(core::TenantId tenant, core::Seq seq) {
  const ModelMessage& message = messages_.at(seq);
  const core::Message& content = *message.content;
  require(content.tenant == tenant, "I15 tenants", name_of(seq) + " went to another tenant");
  require(!core::is_final(message.status), "P4 settled",
          describe(message) + " was received after its end");
  require(!swept(content), "purge", describe(message) + " was received after the purge");
  const ModelQueue* const queue = find_pull_queue({tenant, content.queue});
  require(queue != nullptr, "purge", describe(message) + " was received from a deleted queue");
  require(!queue->paused, "pause", describe(message) + " left its queue, which is paused");
  require(may_be_visible(message, *queue),
          message.started ? "one receiver at a time" : "I7 never early",
          describe(message) + " was received before it was visible");
  require(content.pull->sent_at + queue->pull->retention > time_, "retention",
          describe(message) + " was received after its retention");
  require(!stops(message), "halt", describe(message) + " left although its group has stopped");
  if (content.pull->fifo) {
    for (const core::Seq earlier : pull_lanes_.at(core::lane_of(content)).all) {
      if (earlier >= seq) {
        break;
      }
      require(handed_out_.contains(earlier), "I5 order",
              describe(message) + " overtook " + describe(messages_.at(earlier)));
    }
  }
}

/// Where it must go instead of to a receiver; null: nowhere.
const ModelQueue* Model::dead_letter_queue(const ModelMessage& message) {
  const core::Message& content = *message.content;
  const core::PullSettings& settings = *queues_.at({content.tenant, content.queue}).pull;
  return failed_for_good(message) ? find_pull_queue({content.tenant, settings.dead_letters_to})
                                  : nullptr;
}

void Model::hand_out_one(core::TenantId tenant, const core::EventRef& received, bool last) {
  const core::Seq seq = received.seq;
  check_may_go(tenant, seq);
  const ModelMessage& before = messages_.at(seq);
  check_fair(before);
  require(received.attempt == before.attempts + 1, "receives",
          describe(before) + " was received with number " + std::to_string(received.attempt));
  require(dead_letter_queue(before) == nullptr, "dead letters once",
          describe(before) + " was received once too often");
  const auto entry = written_->lane_entries.find(seq);
  require(entry != written_->lane_entries.end(), "leases are stored",
          describe(before) + " was received and that is not stored");
  // Received again in this very batch: it was not hidden.
  const Moment due = last && entry->second ? entry->second->not_before : time_;
  require(due >= time_, "leases are stored", describe(before) + " has a lease that is over");
  const bool pushed = pushes_now_.contains({seq, received.attempt});
  if (pushed) {
    check_push(before, due);
  }
  ++counts(tenant).attempts;
  update(seq, [&](ModelMessage& message) {
    ++message.attempts;
    message.started = true;
    message.due = due;
    message.received_at = time_;
    message.received_in_life = life_;
    if (message.first_received_at == Moment{}) {
      message.first_received_at = time_;
    }
  });
  handed_out_.insert(seq);
  if (due <= time_) {
    not_hidden_.insert({tenant, messages_.at(seq).content->queue});
  }
  event(tenant, seq, core::EventKind::active, received.attempt);
  if (pushed) {
    put_on_the_wire(seq);
  }
}

void Model::move_one(core::TenantId tenant, core::Seq from, core::Seq to) {
  check_may_go(tenant, from);
  const ModelMessage& message = messages_.at(from);
  require(dead_letter_queue(message) != nullptr, "dead letters once",
          describe(message) + " left its queue and has not been received too often");
  const auto got =
      std::ranges::find(written_->messages, to, [](const auto& one) { return one->id.seq; });
  require(got != written_->messages.end() && !messages_.contains(to), "dead letters once",
          describe(message) + " left its queue and did not arrive");
  give_up(from, *got);
  ++next_message_;
}

/// Into the dead-letter queue. REQUIRES: there is one.
void Model::give_up(core::Seq from, const std::shared_ptr<const core::Message>& got) {
  const ModelMessage& message = messages_.at(from);
  core::Message want = *message.content;
  const std::string source = want.queue;
  want.queue = queues_.at({want.tenant, source}).pull->dead_letters_to;
  want.dedup_id.clear();
  want.not_before = Moment{};
  core::PullPart& part = *want.pull;
  part.fifo = find_pull_queue({want.tenant, want.queue})->pull->fifo;
  part.moved_from = source;
  part.receives_before += message.attempts;
  if (part.first_id.seq == core::Seq{}) {
    part.first_id = want.id;
  }
  if (part.first_received_at == Moment{}) {
    part.first_received_at = message.first_received_at;
  }
  if (part.fifo) {
    part.sent_at = time_;
  }
  if (part.sent_at + find_pull_queue({want.tenant, want.queue})->pull->retention <= time_) {
    HK_SOMETIMES(too_old_for_its_dead_letter_queue);
  }
  finish(from, core::Status::failed);
  take_in(got, std::move(want));
}

}  // namespace hk::sim
