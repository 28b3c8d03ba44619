// What must hold of starts, of what was written, and of what waits.
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

std::uint32_t count_of(const auto& map, const auto& key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

void Model::start(core::TenantId tenant, const core::EventRef& started) {
  const core::Seq seq = started.seq;
  const auto found = messages_.find(seq);
  require(found != messages_.end(), "I4 known", name_of(seq) + " was started but does not exist");
  const ModelMessage& before = found->second;
  const core::Message& content = *before.content;
  require(content.tenant == tenant, "I15 tenants", name_of(seq) + " started for another tenant");
  require(!core::is_final(before.status), "P4 settled", name_of(seq) + " started after its end");
  require(!before.leased, "I7 one lease", name_of(seq) + " has two leases");
  require(!before.cancel_requested, "P10 cancel", name_of(seq) + " started after its cancel");
  require(!swept(content), "deleted queue", name_of(seq) + " started after its queue's deletion");
  require(before.due <= time_, "I7 never early", name_of(seq) + " started before it was due");
  require(started.attempt == before.attempts + 1, "I7 numbers",
          name_of(seq) + " started with attempt " + std::to_string(started.attempt) + " after " +
              std::to_string(before.attempts));
  require(before.attempts <= content.retry.retries_max, "I8 attempts",
          name_of(seq) + " has more attempts than its policy allows");

  if (before.ordered() && !before.started) {
    const ModelQueue& queue = queues_.at({tenant, content.queue});
    const LaneView& lane = lanes_.at(core::lane_of(content));
    require(!queue.paused, "pause", name_of(seq) + " started although its queue is paused");
    require(*lane.fresh.begin() == seq, "I5 order",
            describe(before) + " overtook " + describe(messages_.at(*lane.fresh.begin())));
    const std::uint32_t slots = content.group.empty() ? queue.parallelism : 1;
    require(lane.under_way < slots, "I5 parallelism",
            name_of(seq) + " is one too many: " + std::to_string(lane.under_way) + " of " +
                std::to_string(slots) + " are under way");
  }
  update(seq, [this](ModelMessage& message) {
    message.leased = true;
    message.started = true;
    message.fence = {epoch_, message.attempts + 1};
    // A sender's clock may be slower than partition time by a tenth: it still gets its timeout.
    message.lease_until =
        time_ + message.content->timeout + message.content->timeout / 10 + limits_.lease_grace;
  });
  event(tenant, seq, core::EventKind::active, started.attempt);

  check_places(before, content.host);
  if (!content.flow_key.empty()) {
    const Named key{tenant, content.flow_key};
    save(flows_, key);
    ModelFlow& flow = flows_.at(key);
    flow.last_use = time_;
    require(!flow.paused, "pause", name_of(seq) + " started although its flow key is paused");
    require(flow.parallelism == 0 || flow_in_flight_[key] <= flow.parallelism, "parallelism",
            "of flow key " + key.second + " exceeded");
    if (flow.rate != 0) {
      if (flow.window_count == 0 || time_ >= flow.window_start + flow.period) {
        flow.window_start = time_;
        flow.window_count = 0;
      }
      ++flow.window_count;
      require(flow.window_count <= flow.rate, "rate", "of flow key " + key.second + " exceeded");
    }
  }
}

/// It has begun: it was allowed to.
void Model::check_places(const ModelMessage& message, const std::string& host) {
  const core::TenantId tenant = message.content->tenant;
  const std::uint32_t own = places_of(*message.content);
  require(tenant_places_[tenant] - own < limits_.tenant_parallelism, "parallelism",
          "of a tenant exceeded");
  if (!host.empty()) {
    require(within_share(host_places_[{tenant, host}] - own, limits_.tenant_parallelism,
                         tenant_places_[tenant] - own),
            "shares", "of destination " + host + " exceeded by " + describe(message));
    require(host_places_[{tenant, host}] - own < limits_.destination_parallelism, "parallelism",
            "of destination " + host + " exceeded by " + describe(message));
  }
}

void Model::compare_written() {
  const Decoded& written = *written_;
  require(next_message_ == written.messages.size(), "I2 present", "a message nobody published");

  for (const core::Seq seq : changed_) {
    require(written.states.contains(seq), "P4 stored", name_of(seq) + " changed, not its record");
  }
  for (const auto& [seq, state] : written.states) {
    const auto found = messages_.find(seq);
    require(found != messages_.end(), "P4 stored", name_of(seq) + " has a state but no message");
    const ModelMessage& want = found->second;
    const bool final = core::is_final(want.status);
    require(state.status == want.status && state.attempts == want.attempts &&
                state.cancel_requested == want.cancel_requested && state.in_dlq == want.in_dlq &&
                state.callbacks_open == want.callbacks_open && (final || state.due == want.due) &&
                (!final ||
                 (state.finished_at == want.finished_at && state.expires_at == want.expires_at)) &&
                state.last.has_value() == (want.attempts > 0),
            "P4 stored", name_of(seq) + " is stored in another state than it is in");
    require(!state.last || state.last->fence.attempt == want.attempts, "P4 stored",
            name_of(seq) + " has another last attempt");
    require(!state.last || (state.last->told == want.told.has_value() &&
                            (!want.told || state.last->response_body == *want.told)),
            "endings", name_of(seq) + " has not what its holder said");
  }
  for (const auto& [key, present] : changed_dead_letters_) {
    const auto put = written.dead_letters.find(key);
    require(put != written.dead_letters.end() && put->second == present, "dead letters once",
            name_of(key.seq) + (present ? " is missing" : " is still there"));
  }
  for (const auto& [key, present] : written.dead_letters) {
    require(dead_letters_.contains(key) == present, "dead letters once",
            name_of(key.seq) + " should not have changed");
  }
  for (const Named& key : changed_dedups_) {
    const auto put = written.dedups.find(key);
    require(put != written.dedups.end() && put->second == dedups_.at(key), "I6 dedup",
            "dedup id " + key.second + " is not stored with its message");
  }
  compare_lane_entries();
  compare_queues();
  compare_flows();
  for (const Named& key : changed_groups_) {
    require(written.url_groups.contains(key), "settings",
            "URL group " + key.second + " not stored");
  }
  for (const Named& key : changed_topics_) {
    require(written.url_groups.contains(key), "settings", "topic " + key.second + " not stored");
  }
  for (const auto& [key, group] : written.url_groups) {
    if (key.second.starts_with(core::sns_mark)) {
      const auto topic = topics_.find(key);
      require(group.has_value() == (topic != topics_.end()) && (!group || *group == topic->second),
              "settings", "topic " + key.second + " is stored differently");
      continue;
    }
    const auto want = groups_.find(key);
    require(group.has_value() == (want != groups_.end()) &&
                (!group || group->subscriptions == subscriptions_of(want->second)),
            "settings", "URL group " + key.second + " is stored differently");
  }
  compare_schedules();
  compare_keys();
  compare_once();
  compare_sources();
  ledger_.compare();
  compare_moves();
  for (const core::TenantId tenant : changed_counts_) {
    require(written.counters.contains(tenant), "I1 counters", "changed but not written");
  }
  for (const auto& [tenant, got] : written.counters) {
    require(got.conserved(), "I1 conservation", "of tenant " + std::to_string(tenant.value()));
    require(got == counters_[tenant], "I1 counters",
            "of tenant " + std::to_string(tenant.value()) + " are not what they count");
  }
  for (const core::Events& batch : written.events) {
    for (const core::EventRef& one : batch.events) {
      const auto expected = events_.find({batch.tenant, one.seq, one.kind, one.attempt});
      require(expected != events_.end(), "events", name_of(one.seq) + " has an event too many");
      events_.erase(expected);
    }
  }
  require(events_.empty(), "events", "an event is missing");
}

void Model::check_effects(const Decoded& written, std::span<const core::Effect> effects) const {
  std::map<core::Seq, std::uint32_t> active;
  for (const core::Events& batch : written.events) {
    for (const core::EventRef& one : batch.events) {
      if (one.kind == core::EventKind::active && !messages_.at(one.seq).pulled()) {
        active[one.seq] = one.attempt;
      }
    }
  }
  for (const core::Effect& effect : effects) {
    const auto* started = std::get_if<core::StartAttempt>(&effect);
    if (started == nullptr || started->to) {
      continue;  // check_hand_outs() judges what is pushed
    }
    const core::Seq seq = started->id.seq;
    require(active.erase(seq) == 1, "I13 effects", name_of(seq) + " starts without its record");
    const ModelMessage& message = messages_.at(seq);
    require(started->id == message.content->id && started->tenant == message.content->tenant &&
                started->fence == message.fence && started->retried == message.attempts &&
                started->started_at == time_ && started->lease_until == message.lease_until &&
                started->message != nullptr && *started->message == *message.content,
            "I13 effects", name_of(seq) + " starts with wrong particulars");
  }
  require(active.empty(), "I13 effects", "a recorded start has no effect");
}

/// A large body takes several places of every limit that is for memory's sake.
std::uint32_t Model::places_of(const core::Message& content) const {
  return static_cast<std::uint32_t>(1 + content.body.size() / limits_.bytes_per_place);
}

/// Whoever holds `held` of a limit of which `taken` are taken in all may have one more.
bool Model::within_share(std::uint64_t held, std::uint64_t limit, std::uint64_t taken) const {
  return taken < limit && held < limits_.share * (limit - taken);
}

bool Model::tenant_open(core::TenantId tenant) const {
  const std::uint32_t held = count_of(tenant_places_, tenant);
  return held < limits_.tenant_parallelism &&
         within_share(held, limits_.global_parallelism, places_);
}

bool Model::host_open(core::TenantId tenant, const std::string& host) const {
  if (host.empty()) {
    return true;
  }
  const std::uint32_t held = count_of(host_places_, Named{tenant, host});
  return held < limits_.destination_parallelism &&
         within_share(held, limits_.tenant_parallelism, count_of(tenant_places_, tenant));
}

bool Model::flow_open(const ModelMessage& message, Moment time) const {
  if (message.content->flow_key.empty()) {
    return true;
  }
  const Named key{message.content->tenant, message.content->flow_key};
  const auto found = flows_.find(key);
  if (found == flows_.end()) {
    return true;
  }
  const ModelFlow& flow = found->second;
  return !flow.paused &&
         (flow.parallelism == 0 || count_of(flow_in_flight_, key) < flow.parallelism) &&
         (flow.rate == 0 || flow.window_count < flow.rate ||
          time >= flow.window_start + flow.period);
}

/// A message of the lane that must be able to start now; null: none that we are sure of. In a queue
/// the first that is due may hold up the others: order before speed.
const ModelMessage* Model::owed(const core::LaneKey& key, const LaneView& lane, Moment time) const {
  if (!key.ordered()) {
    if (lane.waiting.empty() || lane.waiting.begin()->first > time) {
      return nullptr;
    }
    const ModelMessage& first = messages_.at(lane.waiting.begin()->second);
    return host_open(key.tenant, first.content->host) && flow_open(first, time) ? &first : nullptr;
  }
  const auto found = queues_.find({key.tenant, key.queue});
  if (found == queues_.end()) {
    return nullptr;
  }
  const ModelQueue& queue = found->second;
  if (queue.sweeping) {
    return nullptr;
  }
  const std::uint32_t slots = key.group.empty() ? queue.parallelism : 1;
  const ModelMessage* again = nullptr;
  for (const auto& [due, seq] : lane.waiting) {
    if (due > time) {
      break;
    }
    const ModelMessage& message = messages_.at(seq);
    if (!host_open(key.tenant, message.content->host) || !flow_open(message, time)) {
      return nullptr;
    }
    // Without a finished attempt a crash has made it a beginner: pauses and slots hold it.
    if (message.attempts > 0 || (!queue.paused && lane.under_way <= slots)) {
      again = &message;
    }
  }
  if (again != nullptr || lane.fresh.empty()) {
    return again;
  }
  const ModelMessage& head = messages_.at(*lane.fresh.begin());
  const bool may = !queue.paused && lane.under_way < slots && head.due <= time &&
                   host_open(key.tenant, head.content->host) && flow_open(head, time);
  return may ? &head : nullptr;
}

void Model::check_nothing_stranded(Moment time) const {
  if (places_ >= limits_.global_parallelism) {
    return;
  }
  for (const auto& [key, lane] : lanes_) {
    if (!tenant_open(key.tenant)) {
      continue;
    }
    const ModelMessage* message = owed(key, lane, time);
    require(message == nullptr, "I14 nothing stranded",
            message == nullptr ? "" : describe(*message) + " may start and nobody starts it");
  }
  for (const auto& [key, queue] : queues_) {
    const ModelMessage* message = tenant_open(key.first) ? owed_push(key, time) : nullptr;
    require(message == nullptr, "I14 nothing stranded",
            message == nullptr ? "" : describe(*message) + " is visible, and its queue pushes");
  }
}

std::set<core::TenantId> Model::tenants_with_work(Moment time) const {
  std::set<core::TenantId> out;
  for (const auto& [key, lane] : lanes_) {
    if (!out.contains(key.tenant) && tenant_open(key.tenant) && owed(key, lane, time) != nullptr) {
      out.insert(key.tenant);
    }
  }
  for (const auto& [key, queue] : queues_) {
    if (!out.contains(key.first) && tenant_open(key.first) && owed_push(key, time) != nullptr) {
      out.insert(key.first);
    }
  }
  return out;
}

}  // namespace hk::sim
