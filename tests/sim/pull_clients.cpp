// Who sends to queues that are pulled from, and who receives: receivers that work, work slowly,
// crash, hang up, come late, say it twice, or say it of what another one has by now.
#include "sim/push.h"
#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::size_t old_receipts_max = 200;
constexpr std::size_t attempt_ids_max = 20;

}  // namespace

/// The name says which kind it is: what is deleted and made again is of the same kind.
std::string Simulation::pull_name(std::uint32_t number) const {
  return "p" + std::to_string(number) + (((config_.pull_fifo >> number) & 1U) != 0 ? ".fifo" : "");
}

core::PullSettings Simulation::draw_pull_settings(std::uint32_t number) {
  core::PullSettings settings;
  settings.fifo = ((config_.pull_fifo >> number) & 1U) != 0;
  settings.visibility = up_to(config_.pull_visibility_max);
  settings.delay = chance(200) ? up_to(Millis{5000}) : Millis{0};
  settings.wait = chance(300) ? up_to(Millis{5000}) : Millis{0};
  settings.retention = chance(500)
                           ? config_.pull_retention_max
                           : Millis{1000} + up_to(config_.pull_retention_max - Millis{1000});
  settings.dedup_by_group = chance(300);
  if (chance(config_.pull_redrive)) {
    // Perhaps itself, perhaps one that is not there.
    std::uint32_t target = static_cast<std::uint32_t>(rng_.below(config_.pull_queues));
    while (((config_.pull_fifo >> target) & 1U) != (settings.fifo ? 1U : 0U)) {
      target = static_cast<std::uint32_t>(rng_.below(config_.pull_queues));
    }
    settings.dead_letters_to = pull_name(target);
    settings.receives_max = static_cast<std::uint32_t>(1 + rng_.below(3));
  }
  if (!settings.fifo && chance(config_.pull_brief)) {
    // A message counts from its first sending: after a lease or two it is too old for that queue.
    if (number == 0) {
      settings.retention =
          Millis{1} + up_to(std::min(config_.pull_visibility_max, config_.pull_retention_max) / 4);
    } else {
      settings.retention = config_.pull_retention_max;
      settings.dead_letters_to = pull_name(0);
      settings.receives_max = 1;
    }
  }
  if (settings.fifo && chance(config_.pull_halt)) {
    settings.halt = true;
    if (chance(500)) {
      settings.dead_letters_to = pull_name(number == 0 ? 1 : 0);
    }
    settings.receives_max = static_cast<std::uint32_t>(1 + rng_.below(3));
    if (settings.dead_letters_to.empty() && settings.visibility.count() % 2 == 0) {
      settings.receives_max = 0;  // not drawn: seeds stay what they were
    }
  }
  if (config_.pull_push > 0 && chance(config_.pull_push)) {
    settings.push.url = push_url_of(config_.hosts[rng_.below(config_.hosts.size())].name);
    settings.push.parallelism = static_cast<std::uint32_t>(rng_.below(4));  // 0: not said
  }
  return settings;
}

void Simulation::pull_acts() {
  if (chance(config_.pull_moves)) {
    move_acts();
    return;
  }
  if (chance(config_.pull_pauses)) {
    pause_acts();
    return;
  }
  if (chance(config_.pull_halt / 8)) {
    halt_acts();
    return;
  }
  const std::uint64_t skewed = std::min(rng_.below(config_.tenants), rng_.below(config_.tenants));
  const auto number = static_cast<std::uint32_t>(rng_.below(config_.pull_queues));
  const Named key{core::TenantId{static_cast<std::uint32_t>(1 + skewed)}, pull_name(number)};
  const bool fifo = ((config_.pull_fifo >> number) & 1U) != 0;
  const auto known = model_.queues().find(key);
  const bool there = known != model_.queues().end() && known->second.pull && !known->second.deleted;
  Op op{.tenant = key.first, .name = key.second};
  if (!there && known != model_.queues().end() && !known->second.deleted && chance(500)) {
    // Somebody published to it with a URL when it was deleted: now it is of the other kind.
    op.kind = Op::Kind::delete_queue;
    submit(std::move(op));
    return;
  }
  const std::uint64_t drawn = there || chance(150) ? rng_.below(100) : 99;
  if (drawn < 42) {
    send_some(key, fifo);
    return;
  }
  if (drawn < 86) {
    // What nobody asks for goes by itself when it is too old.
    const bool asks_elsewhere = number == 0 && chance(config_.pull_brief);
    ask(asks_elsewhere ? Named{key.first, pull_name(1)} : key);
    return;
  }
  if (drawn < 90 && !old_receipts_.empty()) {
    const auto& [queue, receipt] = old_receipts_[rng_.below(old_receipts_.size())];
    if (!chance(700)) {
      hide(queue, receipt,
           chance(900) ? up_to(config_.pull_visibility_max) : Millis{13 * 3'600'000});
      return;
    }
    op.kind = Op::Kind::delete_received;
    op.tenant = queue.first;
    op.name = queue.second;
    op.receipts = {receipt};
  } else if (drawn < 93) {
    op.kind = Op::Kind::set_pull_queue;
    op.pull = draw_pull_settings(number);
    if (there) {
      op.pull->purged_at = known->second.pull->purged_at;
      op.pull->purges = known->second.pull->purges;
      op.pull->version = known->second.pull->version + (chance(100) ? 1 : 0);
    }
  } else if (drawn < 95) {
    op.kind = Op::Kind::purge_queue;
  } else if (drawn < 96) {
    op.kind = Op::Kind::delete_queue;
  } else if (drawn < 98) {
    op.kind = Op::Kind::count_queue;
  } else {
    op.kind = Op::Kind::make_pull_queue;
    op.pull = draw_pull_settings(number);
    if (chance(config_.bad_requests)) {
      op.tenant = core::TenantId{99};
    }
  }
  submit(std::move(op));
}

Op Simulation::make_send(const Named& queue, bool fifo) {
  auto message = std::make_shared<core::Message>();
  message->tenant = queue.first;
  message->queue = queue.second;
  message->body = "pulled " + std::to_string(next_op_) + ' ' + std::to_string(rng_.below(1000));
  message->pull.emplace();
  message->pull->attributes = {{"kind", "String", std::to_string(rng_.below(10))}};
  if (fifo || chance(300)) {
    message->group = "g" + std::to_string(rng_.below(1 + config_.groups));
  }
  if (chance(config_.dedup)) {
    message->dedup_id = "d" + std::to_string(rng_.below(config_.dedup_ids));
  }
  Op op{.kind = Op::Kind::publish, .tenant = queue.first};
  op.dedup_window = Millis{1} + up_to(config_.dedup_window_max);
  if (!fifo && chance(config_.delayed)) {
    op.delay = Millis{1} + up_to(chance(100) ? Millis{60'000} : Millis{5000});
  }
  if (chance(config_.bad_requests)) {
    if (chance(500)) {
      message->queue = chance(500) ? "q0" : "nobody";  // one that is pushed, or none
    } else {
      message->pull.reset();
      message->host = config_.hosts.front().name;
      message->url = message->host + "/hook";
      op.delay = Millis{0};
    }
  }
  op.message = std::move(message);
  return op;
}

void Simulation::send_some(const Named& queue, bool fifo) {
  std::uint64_t count = chance(300) ? 1 + rng_.below(10) : 1;
  if (config_.burst > 0 && chance(30)) {
    count = 1 + rng_.below(config_.burst);
  }
  if (count > 1 && chance(600)) {
    Op batch{.kind = Op::Kind::batch};
    for (std::uint64_t i = 0; i < count; ++i) {
      batch.items.push_back(make_send(queue, fifo));
    }
    submit(std::move(batch));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(make_send(queue, fifo));
  }
}

/// Its own, or one that somebody used before.
std::string Simulation::draw_attempt_id() {
  if (!chance(config_.pull_attempts)) {
    return {};
  }
  if (!attempt_ids_.empty() && chance(200)) {
    return attempt_ids_[rng_.below(attempt_ids_.size())];
  }
  std::string id = "attempt " + std::to_string(next_receiver_);
  if (attempt_ids_.size() >= attempt_ids_max) {
    attempt_ids_.erase(attempt_ids_.begin());
  }
  attempt_ids_.push_back(id);
  return id;
}

void Simulation::ask(const Named& queue, const std::string& attempt_id) {
  if (!partition_) {
    return;
  }
  const core::ReceiverId receiver{next_receiver_++};
  Op op{.kind = Op::Kind::receive,
        .tenant = queue.first,
        .name = queue.second,
        .receiver = receiver,
        .max = static_cast<std::uint32_t>(chance(300) ? 1 : 1 + rng_.below(10))};
  if (chance(500)) {
    op.visibility = chance(200) ? Millis{0} : up_to(config_.pull_visibility_max);
  }
  if (chance(600)) {
    op.wait = chance(300) ? Millis{0} : up_to(Millis{20'000});
  }
  op.attempt_id = attempt_id.empty() ? draw_attempt_id() : attempt_id;
  // What it has under this id is hidden anew, perhaps for less time, and perhaps the answer is
  // lost.
  if (!op.attempt_id.empty() && op.visibility != Millis{0}) {
    for (auto& [key, held] : held_) {
      if (held.attempt_id == op.attempt_id) {
        held.until = std::min(held.until, partition_now() + op.visibility.value_or(Millis{0}));
      }
    }
  }
  receivers_[receiver] = {.queue = queue, .attempt_id = op.attempt_id};
  if (chance(150)) {
    const Millis patience = up_to(op.wait.value_or(Millis{0}) + Millis{200});
    heap_.after(patience, [this, receiver] { hang_up(receiver); });
  }
  submit(std::move(op));
}

/// Its adapter tells the core, and gives back what was on its way.
void Simulation::hang_up(core::ReceiverId receiver) {
  const auto found = receivers_.find(receiver);
  if (found == receivers_.end()) {
    return;
  }
  found->second.hung_up = true;
  const Named& queue = found->second.queue;
  submit({.kind = Op::Kind::stop_receiving,
          .tenant = queue.first,
          .name = queue.second,
          .receiver = receiver});
}

/// Seen from outside: what one has nobody else gets, and the number of a receive only grows.
void Simulation::hand_over(const core::Received& out, const Pending& of) {
  const auto found = receivers_.find(out.receiver);
  require(found != receivers_.end(), "receivers", "one was answered twice");
  Receiver receiver = found->second;
  receivers_.erase(found);
  if (faults_ && chance(40)) {
    receiver.hung_up = true;  // as is found out by writing the answer
  }
  Op all{.tenant = receiver.queue.first, .name = receiver.queue.second};
  for (const core::Received::One& one : out.messages) {
    const core::MessageId id = one.message->id;
    trace_.add(heap_.now(), "handed out: message, receive, receiver", id.seq.value(), one.receive,
               out.receiver.value());
    digest(core::to_text(id));
    ++outcome_.attempts;
    Held& held = held_[{id.seq, id.nonce}];
    const bool again = !receiver.attempt_id.empty() && held.attempt_id == receiver.attempt_id &&
                       held.receive == one.receive;
    require(again || held.until <= of.time, "one receiver at a time",
            name_of(id.seq) + " was handed out at " + std::to_string(to_ms(of.time)) +
                " while another one had it until " + std::to_string(to_ms(held.until)));
    require(again || held.receive < one.receive, "receives",
            name_of(id.seq) + " was received with a number that is not higher");
    held = {one.visible_at, one.receive, receiver.attempt_id};
    all.receipts.push_back({id, one.receive});
    if (receiver.hung_up) {
      held = {Moment{}, one.receive - 1, {}};
    } else if (chance(200)) {
      old_receipts_.resize(std::min(old_receipts_.size(), old_receipts_max - 1));
      old_receipts_.insert(old_receipts_.begin(), {receiver.queue, {id, one.receive}});
    }
  }
  if (faults_ && !receiver.hung_up && !receiver.attempt_id.empty() && !out.messages.empty() &&
      chance(config_.pull_attempts / 2)) {
    // It never got the answer. One that asks again late may find that another receiver has it.
    const Millis lease = out.messages.front().visible_at - of.time;
    heap_.after(up_to(chance(400) ? 3 * lease : lease),
                [this, receiver] { ask(receiver.queue, receiver.attempt_id); });
    return;
  }
  if (receiver.hung_up) {
    all.kind = Op::Kind::give_back;
    all.receiver = out.receiver;
  } else if (receiver.drains || !faults_ || chance(400)) {
    all.kind = Op::Kind::delete_received;
  } else {
    for (const core::Received::One& one : out.messages) {
      work_on(receiver.queue, one);
    }
    all.receipts.clear();
  }
  if (!all.receipts.empty()) {
    outcome_.deliveries += all.receipts.size();
    Millis wait = up_to(Millis{20});
    if (receiver.hung_up && chance(200)) {
      // A busy adapter gives back what another receiver may have by then.
      wait += up_to((out.messages.front().visible_at - of.time) * 2);
    }
    heap_.after(wait, [this, all = std::move(all)] { submit(all); });
  }
  if (receiver.drains) {
    heap_.after(Millis{25}, [this, queue = receiver.queue] { drain(queue); });
  }
}

void Simulation::work_on(const Named& queue, const core::Received::One& one) {
  const core::Receipt receipt{one.message->id, one.receive};
  const Millis lease = std::max(one.visible_at - partition_now(), Millis{1});
  if (config_.endings + config_.transacts > 0) {
    Op held{.tenant = queue.first, .id = receipt.id, .receipts = {receipt}};
    hold_lease(held);
    if (chance(config_.endings)) {
      end_by_call(std::move(held), chance(800) ? lease : lease * 2);
      return;
    }
  }
  const Op removal{.kind = Op::Kind::delete_received,
                   .tenant = queue.first,
                   .name = queue.second,
                   .receipts = {receipt}};
  const auto remove_after = [&](Millis wait) {
    heap_.after(wait, [this, removal] { submit(removal); });
  };
  switch (rng_.below(10)) {
    case 0:
    case 1: return;  // it crashed
    case 2:
    case 3: remove_after(up_to(lease)); return;
    case 4: remove_after(lease + up_to(lease)); return;  // late
    case 5:
      remove_after(up_to(lease));
      remove_after(up_to(lease * 2));
      return;
    case 6: hide(queue, receipt, Millis{0}); return;
    case 7: {
      const Millis later = up_to(lease);
      heap_.after(later, [this, queue, receipt] {
        hide(queue, receipt, Millis{1} + up_to(config_.pull_visibility_max));
      });
      remove_after(later + up_to(config_.pull_visibility_max));
      return;
    }
    case 8:  // after its time: it hides what it had
      heap_.after(lease + up_to(lease), [this, queue, receipt] {
        hide(queue, receipt, up_to(config_.pull_visibility_max));
      });
      return;
    default: remove_after(up_to(Millis{5}));
  }
}

void Simulation::hide(const Named& queue, const core::Receipt& receipt, Millis time) {
  Held& held = held_[{receipt.id.seq, receipt.id.nonce}];
  if (held.receive == receipt.receive) {
    held.until = std::min(held.until, partition_now() + time);  // or later, if it comes in time
  }
  submit({.kind = Op::Kind::change_visibility,
          .tenant = queue.first,
          .name = queue.second,
          .visibility = time,
          .receipts = {receipt}});
}

/// One receiver that does its work, until nothing is left anywhere: what is taken out of one queue
/// may go to another.
void Simulation::drain(const Named& queue) {
  if (model_.pending() == 0) {
    return;
  }
  resolve_all(queue);
  const core::ReceiverId receiver{next_receiver_++};
  receivers_[receiver] = {.queue = queue, .drains = true};
  submit({.kind = Op::Kind::receive,
          .tenant = queue.first,
          .name = queue.second,
          .receiver = receiver,
          .max = 10,
          .visibility = Millis{30'000},
          .wait = Millis{20'000}});
}

void Simulation::drain_everything() {
  for (std::uint32_t tenant = 1; tenant <= config_.tenants; ++tenant) {
    for (std::uint32_t i = 0; i < config_.pull_queues; ++i) {
      drain({core::TenantId{tenant}, pull_name(i)});
    }
  }
}

}  // namespace hk::sim
