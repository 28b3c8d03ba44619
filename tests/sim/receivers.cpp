// The receivers behind the hosts, and the wire to them.
#include "sim/simulation.h"

namespace hk::sim {

namespace {

Millis timeout_of(const core::StartAttempt& start) {
  return start.to ? start.to->timeout : start.message->timeout;
}

}  // namespace

void Simulation::send(const core::StartAttempt& start, const Pending& of) {
  check_left(of.batch, name_of(start.id.seq));
  trace_.add(heap_.now(), "sent: message, epoch, attempt", start.id.seq.value(), start.fence.epoch,
             start.fence.attempt);
  digest(core::to_text(start.id));
  ++outcome_.attempts;
  Wire& wire = wire_[{start.id.seq, start.id.nonce}];
  if (wire.count == 0) {
    wire.crashes_before = outcome_.crashes;
  }
  ++wire.count;
  require(start.fence > wire.last, "I7 fences rise",
          name_of(start.id.seq) + " was sent with a fence that is not higher");
  wire.last = start.fence;
  require(wire.life != life_ || wire.open_until <= of.ran_at, "one attempt at a time",
          name_of(start.id.seq) + " was started again while its attempt could still succeed");
  wire.life = life_;
  wire.open_until = of.ran_at + timeout_of(start);
  if (start.to) {
    hold_pushed(start, of);
  } else {
    require(
        wire.count <= start.message->retry.retries_max + 1 + outcome_.crashes - wire.crashes_before,
        "I8 attempts", name_of(start.id.seq) + " was sent too often");
  }

  for (const HostConfig& host : config_.hosts) {
    if (host.name == (start.to ? start.to->host : start.message->host)) {
      receive(start, host);
      return;
    }
  }
  throw Violation("I4 known", "sent to a host that nobody named");
}

/// What is pushed no receiver may have meanwhile.
void Simulation::hold_pushed(const core::StartAttempt& start, const Pending& of) {
  Held& held = held_[{start.id.seq, start.id.nonce}];
  require(held.until <= of.time, "one receiver at a time",
          name_of(start.id.seq) + " was pushed while a receiver had it");
  require(held.receive < start.fence.attempt, "receives",
          name_of(start.id.seq) + " was pushed with a number that is not higher");
  held = {start.lease_until, start.fence.attempt, {}};
}

void Simulation::receive(const core::StartAttempt& start, const HostConfig& host) {
  decided();
  const Millis timeout = timeout_of(start);
  const Millis quick = up_to(std::min(timeout, Millis{40}));
  const Millis lease = timeout + timeout / 10 + config_.limits.lease_grace;
  if (!faults_) {
    if (!host.always_bad || start.to) {
      report(start, true, false, std::nullopt, quick);
    } else if (!host.bad_by_hang) {
      report(start, false, false, std::nullopt, quick);
    }
    return;
  }
  if (config_.endings + config_.transacts > 0) {
    Op held{
        .tenant = start.tenant, .id = start.id, .fence = start.fence, .partition = start.partition};
    hold_lease(held);
    if (chance(config_.endings)) {
      end_by_call(std::move(held), chance(800) ? quick : 2 * lease);
      if (chance(500)) {
        return;  // it hangs: its caller hears nothing
      }
    }
  }
  const bool down = host.flaps && (to_ms(heap_.now()) / (config_.gap.count() * 50)) % 2 == 1;
  if (down) {
    report(start, false, false, std::nullopt, quick);
    return;
  }
  std::uint64_t drawn = rng_.below(host.ok + host.slow + host.error + host.give_up +
                                   host.retry_after + host.hang + host.late);
  const auto falls_on = [&drawn](std::uint32_t weight) {
    if (drawn < weight) {
      return true;
    }
    drawn -= weight;
    return false;
  };
  if (falls_on(host.ok)) {
    report(start, true, false, std::nullopt, quick);
  } else if (falls_on(host.slow)) {
    report(start, chance(800), false, std::nullopt, up_to(timeout));
  } else if (falls_on(host.error)) {
    report(start, false, false, std::nullopt, quick);
  } else if (falls_on(host.give_up)) {
    report(start, false, true, std::nullopt, quick);
  } else if (falls_on(host.retry_after)) {
    report(start, false, false, up_to(config_.retry_delay_max), quick);
  } else if (falls_on(host.late)) {
    report(start, true, false, std::nullopt, lease + Millis{1} + up_to(lease));
  }
  // else it hangs: nobody will ever report
}

void Simulation::report(const core::StartAttempt& start, bool delivered, bool give_up,
                        std::optional<Millis> retry_after, Millis after) {
  Op op{.kind = Op::Kind::complete,
        .tenant = start.tenant,
        .id = start.id,
        .fence = start.fence,
        .delivered = delivered,
        .give_up = give_up,
        .retry_after = retry_after,
        .response_status = delivered ? 200
                           : give_up ? 489
                                     : 503};
  // The receiver has acted, whatever becomes of its answer.
  if (delivered) {
    wire_[{start.id.seq, start.id.nonce}].delivered = true;
    ++outcome_.deliveries;
  }
  heap_.after(after, [this, op = std::move(op), life = life_, partition = start.partition] {
    // The server that sent it is gone; its successor must not take the outcome for its own.
    if (life == life_ || chance(config_.late_outcomes)) {
      Wire& wire = wire_[{op.id.seq, op.id.nonce}];
      if (life == life_ && wire.last == op.fence) {
        wire.open_until = Moment{};
        const auto held = held_.find({op.id.seq, op.id.nonce});
        if (held != held_.end() && held->second.receive == op.fence.attempt) {
          held->second.until = std::min(held->second.until, partition_now());
        }
      }
      const auto tell = [&] {
        if (options_.report_to) {
          options_.report_to(partition, op);
        } else {
          submit(op);
        }
      };
      tell();
      if (chance(20)) {
        tell();  // twice: only one may count
      }
    }
  });
}

}  // namespace hk::sim
