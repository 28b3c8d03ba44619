// Inbound sources: no message without a verified request or a release; one message for an event
// within the window; what was rejected takes no more room than it may.
#include <algorithm>

#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using ReleaseEnd = core::QuarantineReleased::Outcome;

/// But for what is the machine's own: its timer, and from where on it looks for the oldest.
bool same_source(core::Source got, const core::Source& want) {
  got.upkeep_at = want.upkeep_at;
  got.quarantine.first = want.quarantine.first;
  return got == want;
}

bool same_request(core::Quarantined got, const core::Quarantined& want) {
  got.nonce = want.nonce;
  return got == want;
}

}  // namespace

core::Source* Model::source_of(const Op& op) {
  const Named name{op.tenant, op.name};
  const auto found = sources_.find(name);
  if (found == sources_.end()) {
    return nullptr;
  }
  save(sources_, name);
  changed_sources_.insert(name);
  return &found->second;
}

Expected Model::put_source(const Op& op) {
  const SourceText& text = *op.source;
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const Named name{op.tenant, op.name};
  const auto known = sources_.find(name);
  const std::uint64_t version = known == sources_.end() ? 0 : known->second.version;
  if (text.if_version != version) {
    return refused(version == 0 ? ErrorKind::not_found : ErrorKind::unavailable);
  }
  for (const auto& [other, source] : sources_) {
    if (source.name == text.source.name && other != name) {
      return refused(ErrorKind::conflict);
    }
  }
  Expected expected{.kind = Expected::Kind::source_stored, .number = version + 1};
  if (!text.url_group.empty() && !groups_.contains({op.tenant, text.url_group})) {
    expected.flag = true;
    return expected;
  }
  core::Source stored = text.source;
  stored.version = version + 1;
  stored.created_at = time_;
  stored.updated_at = time_;
  if (version != 0) {
    stored.created_at = known->second.created_at;
    stored.stats = known->second.stats;
    stored.quarantine = known->second.quarantine;
  }
  save(sources_, name);
  sources_[name] = std::move(stored);
  changed_sources_.insert(name);
  return expected;
}

Expected Model::delete_source(const Op& op) {
  const Named name{op.tenant, op.name};
  if (sources_.contains(name)) {
    save(sources_, name);
    sources_.erase(name);
    changed_sources_.insert(name);
    kept_in_second_.erase(name);
  }
  return {.kind = Expected::Kind::done};
}

const core::Dedup* Model::first_of(const core::Source& source, const std::string& event_id) const {
  const auto known = dedups_.find({source.tenant, core::source_dedup_id(source.id, event_id)});
  const bool counts =
      !event_id.empty() && source.dedup_window != Millis{0} && known != dedups_.end();
  return counts && known->second.expires_at > time_ ? &known->second : nullptr;
}

/// REQUIRES: it is a repeat, or may be published.
Expected Model::take_event(core::Source& source, const Op& op, const std::string& event_id,
                           bool unverified) {
  Expected expected{.kind = Expected::Kind::inbound};
  if (const core::Dedup* const first = first_of(source, event_id)) {
    ++source.stats.duplicates;
    ++counts(source.tenant).deduplicated;
    expected.id = first->first;
    expected.flag = true;
    const core::KeyOf<core::SourceEvent> key{source.tenant, source.id, first->first.seq};
    if (const auto event = source_events_.find(key); event != source_events_.end()) {
      save(source_events_, key);
      ++event->second.duplicates;
      changed_source_events_.insert(key);
    }
    return expected;
  }
  const Expected sent = publish(op);
  expected.id = sent.parts.empty() ? sent.id : sent.parts.front().id;
  if (!event_id.empty() && source.dedup_window != Millis{0}) {
    const Named dedup{source.tenant, core::source_dedup_id(source.id, event_id)};
    save(dedups_, dedup);
    dedups_[dedup] = {expected.id, time_ + source.dedup_window};
    dedup_ends_.insert({time_ + source.dedup_window, dedup});
    changed_dedups_.insert(dedup);
  }
  core::SourceEvent event{.tenant = source.tenant,
                          .source = source.id,
                          .message = expected.id,
                          .event_id = event_id,
                          .event_type = "t",
                          .received_at = time_,
                          .bytes = op.message->body.size(),
                          .unverified = unverified};
  const core::KeyOf<core::SourceEvent> key{source.tenant, source.id, expected.id.seq};
  save(source_events_, key);
  source_events_[key] = std::move(event);
  changed_source_events_.insert(key);
  ++source.stats.accepted;
  source.stats.last_accepted_at = time_;
  return expected;
}

Expected Model::receive_inbound(const Op& op) {
  const auto known = sources_.find({op.tenant, op.name});
  if (known == sources_.end() || !known->second.enabled) {
    return refused(ErrorKind::not_found);
  }
  if (first_of(known->second, op.source->event_id) == nullptr && !may_publish(op)) {
    return refused(ErrorKind::unavailable);
  }
  return take_event(*source_of(op), op, op.source->event_id, false);
}

void Model::take_out(core::Source& source, core::KeyOf<core::Quarantined> key) {
  --source.quarantine.items;
  source.quarantine.bytes -= quarantined_.at(key).bytes();
  save(quarantined_, key);
  quarantined_.erase(key);
  changed_quarantined_.insert(key);
}

Expected Model::quarantine(const Op& op) {
  core::Source* const source = source_of(op);
  if (source == nullptr) {
    return refused(ErrorKind::not_found);
  }
  ++source->stats.invalid;
  Expected expected{.kind = Expected::Kind::rejected};
  core::Quarantined request = *op.source->request;
  if (request.bytes() > limits_.quarantine_bytes_max) {
    return expected;
  }
  auto& [second, kept] = kept_in_second_[{op.tenant, op.name}];
  const Moment now = std::chrono::floor<std::chrono::seconds>(time_);
  kept = second == now ? kept : 0;
  second = now;
  if (kept >= limits_.quarantined_per_second) {
    return expected;
  }
  ++kept;
  core::QuarantineState& state = source->quarantine;
  while (state.items > 0 && (state.items >= limits_.quarantine_items_max ||
                             state.bytes + request.bytes() > limits_.quarantine_bytes_max)) {
    const auto oldest = quarantined_.lower_bound({op.tenant, op.name, 0});
    take_out(*source, oldest->first);
    ++source->stats.dropped;
  }
  request.tenant = op.tenant;
  request.source = op.name;
  request.number = state.next++;
  request.received_at = std::min(request.received_at, time_);
  ++state.items;
  state.bytes += request.bytes();
  ++source->stats.quarantined;
  const core::KeyOf<core::Quarantined> key{op.tenant, op.name, request.number};
  save(quarantined_, key);
  quarantined_[key] = std::move(request);
  changed_quarantined_.insert(key);
  expected.flag = true;
  return expected;
}

Expected Model::release(const Op& op) {
  const auto known = sources_.find({op.tenant, op.name});
  if (known == sources_.end()) {
    return refused(ErrorKind::not_found);
  }
  const SourceText& text = *op.source;
  const auto key_of_request = [&](std::uint64_t number) {
    return core::KeyOf<core::Quarantined>{op.tenant, op.name, number};
  };
  for (std::size_t i = 0; i < text.released.size(); ++i) {
    const auto& [number, event_id] = text.released[i];
    if (quarantined_.contains(key_of_request(number)) &&
        first_of(known->second, event_id) == nullptr && !may_publish(op.items[i])) {
      return refused(ErrorKind::unavailable);
    }
  }
  core::Source& source = *source_of(op);
  Expected expected{.kind = Expected::Kind::released};
  for (std::size_t i = 0; i < text.released.size(); ++i) {
    const auto& [number, event_id] = text.released[i];
    if (!quarantined_.contains(key_of_request(number))) {
      expected.released.push_back({number, ReleaseEnd::gone, {}});
      continue;
    }
    take_out(source, key_of_request(number));
    const Expected one = take_event(source, op.items[i], event_id, text.unverified);
    expected.released.push_back(
        {number, one.flag ? ReleaseEnd::duplicate : ReleaseEnd::released, one.id});
  }
  return expected;
}

Expected Model::drop_quarantined(const Op& op) {
  if (!sources_.contains({op.tenant, op.name})) {
    return refused(ErrorKind::not_found);
  }
  const core::KeyOf<core::Quarantined> key{op.tenant, op.name, op.source->number};
  if (quarantined_.contains(key)) {
    take_out(*source_of(op), key);
  }
  return {.kind = Expected::Kind::done};
}

/// What the machine has taken out must be over, or of a source that is gone. When, is up to it.
void Model::forget_of_sources() {
  for (const auto& [key, stored] : written_->source_events) {
    if (stored || !source_events_.contains(key)) {
      continue;
    }
    const core::SourceEvent& event = source_events_.at(key);
    require(!sources_.contains({event.tenant, event.source}) ||
                event.received_at + limits_.source_events_kept_for < time_,
            "sources", "event " + event.event_id + " is forgotten too early");
    save(source_events_, key);
    source_events_.erase(key);
    changed_source_events_.erase(key);
  }
  for (const auto& [key, stored] : written_->quarantined) {
    const auto known = quarantined_.find(key);
    if (stored || known == quarantined_.end()) {
      continue;
    }
    const auto source = sources_.find({std::get<0>(key), std::get<1>(key).name});
    require(source == sources_.end() ||
                known->second.received_at + limits_.quarantine_kept_for <= time_,
            "sources", "a rejected request is forgotten too early");
    if (source != sources_.end()) {
      save(sources_, source->first);
      changed_sources_.insert(source->first);
      take_out(source->second, key);
    } else {
      save(quarantined_, key);
      quarantined_.erase(key);
    }
  }
}

bool Model::of_deleted_source(const Named& dedup) const {
  if (!dedup.second.starts_with(core::source_dedup_prefix)) {
    return false;
  }
  const std::string rest = dedup.second.substr(core::source_dedup_prefix.size());
  return !sources_.contains({dedup.first, rest.substr(0, rest.find(' '))});
}

void Model::compare_sources() const {
  for (const Named& name : changed_sources_) {
    require(written_->sources.contains(name), "sources",
            "source " + name.second + " is not stored");
  }
  for (const auto& [name, stored] : written_->sources) {
    const auto want = sources_.find(name);
    require(stored.has_value() == (want != sources_.end()) &&
                (!stored || same_source(*stored, want->second)),
            "sources", "source " + name.second + " is stored differently");
  }
  for (const auto& key : changed_source_events_) {
    require(written_->source_events.contains(key), "sources", "an event is not stored");
  }
  for (const auto& [key, stored] : written_->source_events) {
    const auto want = source_events_.find(key);
    require(stored.has_value() == (want != source_events_.end()) &&
                (!stored || *stored == want->second),
            "sources", "an event is stored differently");
  }
  for (const auto& key : changed_quarantined_) {
    require(written_->quarantined.contains(key), "sources", "a rejected request is not stored");
  }
  for (const auto& [key, stored] : written_->quarantined) {
    const auto want = quarantined_.find(key);
    require(stored.has_value() == (want != quarantined_.end()) &&
                (!stored || same_request(*stored, want->second)),
            "sources", "a rejected request is stored differently");
  }
  for (const auto& [name, source] : sources_) {
    require(source.quarantine.items <= limits_.quarantine_items_max &&
                source.quarantine.bytes <= limits_.quarantine_bytes_max,
            "sources", "the quarantine of " + name.second + " is larger than it may be");
  }
}

void Model::compare_sources_with(const std::vector<core::Source>& sources,
                                 const std::vector<core::SourceEvent>& events,
                                 const std::vector<core::Quarantined>& requests) const {
  require(std::ranges::equal(sources, sources_,
                             [](const core::Source& got, const auto& want) {
                               return same_source(got, want.second);
                             }),
          "sources", "sources are stored differently");
  require(std::ranges::equal(
              events, source_events_,
              [](const core::SourceEvent& got, const auto& want) { return got == want.second; }),
          "sources", "events are stored differently");
  require(std::ranges::equal(requests, quarantined_,
                             [](const core::Quarantined& got, const auto& want) {
                               return same_request(got, want.second);
                             }),
          "sources", "rejected requests are stored differently");
}

}  // namespace hk::sim
