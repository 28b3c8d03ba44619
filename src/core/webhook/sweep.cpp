// What waits for an endpoint is cancelled, a bounded part per batch: because the endpoint is gone,
// because somebody asked, or because it has waited for too long. The record says what is left to
// do: a restart begins again and finds less.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/queue/in_turn.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(webhook_sweep_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(webhook_sweep_recovered)
HK_SOMETIMES_DECLARE(webhook_sweep_leaves_alone_what_it_does_not_mean)
HK_SOMETIMES_DECLARE(deliveries_canceled_with_their_endpoint)
HK_SOMETIMES_DECLARE(held_for_too_long)

namespace hk::core::webhook {

namespace {

/// Of one endpoint, in the order of the index.
constexpr GateOf lanes_by_flow_key[] = {GateOf::endpoint, GateOf::manual, GateOf::replay};

bool has(const std::vector<std::string>& texts, const std::string& wanted) {
  return wanted.empty() || std::ranges::find(texts, wanted) != texts.end();
}

}  // namespace

/// The next lane of the endpoint that has something. False: there is none.
bool Webhooks::next_lane(SweepRun& run) {
  constexpr std::size_t sections = std::size(lanes_by_flow_key) + 1;
  const Sweep& sweep = run.sweep;
  for (; run.section < sections; ++run.section, run.lane.reset()) {
    const bool in_order = run.section == std::size(lanes_by_flow_key);
    const std::string name = gate_name(in_order ? GateOf::endpoint : lanes_by_flow_key[run.section],
                                       sweep.application, sweep.endpoint);
    const LaneKey before = in_order ? LaneKey{.tenant = sweep.tenant, .queue = name}
                                    : LaneKey{.tenant = sweep.tenant, .flow_key = name};
    auto next = batch_.reader().next_lane(run.lane ? *run.lane : before);
    if (next && next->tenant == sweep.tenant &&
        (in_order ? next->queue == name : next->queue.empty() && next->flow_key == name)) {
      run.lane = std::move(*next);
      run.after.reset();
      return true;
    }
  }
  return false;
}

void Webhooks::begin_sweep(Sweep sweep) {
  const bool by_time = sweep.reason == CancelReason::hold_expired;
  const auto first = sweeps_.lower_bound({sweep.tenant, sweep.endpoint, 0});
  for (auto at = first; at != sweeps_.end() && at->second.sweep.endpoint == sweep.endpoint &&
                        at->second.sweep.tenant == sweep.tenant;
       ++at) {
    if (by_time && at->second.sweep.reason == CancelReason::hold_expired) {
      return;  // one is under way
    }
  }
  sweep.number = context_.progress.next_number();
  lanes_.index_soon(sweep.up_to);
  batch_.put(Put<Sweep>{sweep});
  const KeyOf<Sweep> key = own_key(sweep);
  sweeps_.insert_or_assign(key, SweepRun{.sweep = std::move(sweep)});
}

/// While it is, nothing of what it means may go.
bool Webhooks::is_swept(TenantId tenant, Number endpoint) const {
  for (auto at = sweeps_.lower_bound({tenant, endpoint, 0}); at != sweeps_.end(); ++at) {
    const Sweep& sweep = at->second.sweep;
    if (sweep.tenant != tenant || sweep.endpoint != endpoint) {
      return false;
    }
    if (sweep.replay == 0 && sweep.reason != CancelReason::hold_expired) {
      return true;
    }
  }
  return false;
}

void Webhooks::recover(Reader& reader) {
  for (Sweep& sweep : reader.scan<Sweep>()) {
    HK_SOMETIMES(webhook_sweep_recovered);
    const KeyOf<Sweep> key = own_key(sweep);
    sweeps_.insert_or_assign(key, SweepRun{.sweep = std::move(sweep)});
  }
}

Moment Webhooks::wake_at() const { return sweeps_.empty() ? never : context_.progress.time(); }

void Webhooks::advance() {
  in_turn(sweeps_, swept_last_, limits_.sweeps_per_batch,
          [this](const KeyOf<Sweep>& key, SweepRun& run, std::size_t& budget) {
            // Without an index entry a message cannot be found. Lanes hurry to write it.
            if (context_.progress.indexed_up_to() < run.sweep.up_to) {
              return false;
            }
            if (!go_on(run, budget)) {
              HK_SOMETIMES(webhook_sweep_goes_on_in_the_next_batch);
              return false;
            }
            batch_.erase<Sweep>(key);
            ended_sweeps_.push_back(run.sweep);
            if (run.sweep.reason == CancelReason::hold_expired) {
              hold_swept(run);
            }
            return true;
          });
  for (const Sweep& sweep : std::exchange(ended_sweeps_, {})) {
    set_gates(sweep.tenant, sweep.application, sweep.endpoint);
  }
}

/// True: that was all.
bool Webhooks::go_on(SweepRun& run, std::size_t& budget) {
  if (!run.lane && !next_lane(run)) {
    return true;
  }
  while (budget > 0) {
    const std::size_t limit = budget;
    const auto entries = batch_.reader().lane_entries(*run.lane, run.after, limit);
    bool lane_done = entries.size() < limit;
    for (const LaneEntry& entry : entries) {
      --budget;
      run.after = entry.place;
      const Moment due = run.lane->ordered() ? entry.not_before : entry.place.due;
      if (run.sweep.due_before != Moment{} && due > run.sweep.due_before) {
        run.oldest = std::min(run.oldest, due);
        lane_done = true;  // those behind it came later
        break;
      }
      if (entry.place.seq <= run.sweep.up_to) {
        cancel_if_meant(run, entry.place.seq);
      }
    }
    if (lane_done) {
      budget -= std::min<std::size_t>(budget, 1);  // the step to another lane costs a read, too
      if (!next_lane(run)) {
        return true;
      }
    }
  }
  return false;
}

void Webhooks::cancel_if_meant(SweepRun& run, Seq seq) {
  const Sweep& sweep = run.sweep;
  const bool by_time = sweep.reason == CancelReason::hold_expired;
  if (by_time && lanes_.leased(seq)) {
    return;  // it is on its way
  }
  const auto message = batch_.get<Message>(seq);
  if (message == nullptr) {
    return;
  }
  const WebhookPart& part = *message->webhook;
  bool is_meant = sweep.replay == 0 || part.replay == sweep.replay;
  if (is_meant && !(sweep.event_type.empty() && sweep.channel.empty() && sweep.tag.empty())) {
    const auto event = batch_.get<Event>({sweep.tenant, part.application, part.event});
    is_meant = event && (sweep.event_type.empty() || sweep.event_type == event->event_type) &&
               has(event->channels, sweep.channel) && has(event->tags, sweep.tag);
  }
  if (!is_meant) {
    HK_SOMETIMES(webhook_sweep_leaves_alone_what_it_does_not_mean);
    return;
  }
  if (sweep.reason == CancelReason::none) {
    messages_.give_up_halted(seq);
    return;
  }
  if (by_time) {
    HK_SOMETIMES(held_for_too_long);
  }
  ++run.canceled;
  messages_.cancel_delivery(seq, sweep.reason);
}

void Webhooks::cancel_deliveries(const Endpoint& endpoint, CancelReason reason) {
  slowed_.erase({endpoint.tenant, endpoint.number});
  if (look_at(endpoint.tenant, endpoint.number).waiting == 0) {
    forget_health(endpoint.tenant, endpoint.number);
    return;
  }
  HK_SOMETIMES(deliveries_canceled_with_their_endpoint);
  begin_sweep({.tenant = endpoint.tenant,
               .endpoint = endpoint.number,
               .application = endpoint.application,
               .up_to = context_.progress.last_message(),
               .reason = reason});
  set_gates(endpoint.tenant, endpoint.application, endpoint.number);
}

void Webhooks::cancel_replayed(TenantId tenant, Number application, Number endpoint,
                               std::uint64_t replay) {
  begin_sweep({.tenant = tenant,
               .endpoint = endpoint,
               .application = application,
               .up_to = context_.progress.last_message(),
               .reason = CancelReason::canceled,
               .replay = replay});
}

}  // namespace hk::core::webhook
