#include "core/source/sources.h"

#include "base/sometimes.h"
#include "core/queue/queues.h"
#include "core/tenant/tenants.h"
#include "core/timer/timers.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(source_changed)
HK_SOMETIMES_DECLARE(source_changed_meanwhile)
HK_SOMETIMES_DECLARE(source_name_taken)
HK_SOMETIMES_DECLARE(source_without_target)

namespace hk::core {

void Sources::recover(Reader& reader) {
  for (Source& source : reader.scan<Source>()) {
    Key key{source.tenant, source.id};
    names_[source.name] = key;
    ++count_of_[source.tenant];
    sources_[std::move(key)].source = std::move(source);
  }
}

Reply Sources::execute(SourceCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

void Sources::flush() {
  for (const Key& key : dirty_) {
    if (const auto found = sources_.find(key); found != sources_.end()) {
      batch_.put(Put<Source>{found->second.source});
    }
  }
  dirty_.clear();
}

Sources::Records::iterator Sources::find(TenantId tenant, const std::string& id) {
  return sources_.find({tenant, id});
}

Source& Sources::change(Records::iterator at) {
  dirty_.insert(at->first);
  return at->second.source;
}

void Sources::put_name(const Source& source, const std::string& name) {
  batch_.put(Put<SourceName>{{name, source.tenant, source.id, source.version}});
}

/// Checks in this order: tenant, version, name, how many there are, where its events go.
Reply Sources::decide(PutSource command) {
  using Outcome = SourceStored::Outcome;
  Source& given = command.source;
  if (!tenants_.contains(given.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto found = find(given.tenant, given.id);
  const Source* const before = found == sources_.end() ? nullptr : &found->second.source;
  if (before == nullptr && command.if_version != 0) {
    return fail(ErrorKind::not_found, "there is no source " + given.id);
  }
  if (before != nullptr && before->version != command.if_version) {
    HK_SOMETIMES(source_changed_meanwhile);
    return fail(ErrorKind::unavailable,
                "another change of this source is under way: nothing was done, try again shortly");
  }
  const Key key{given.tenant, given.id};
  if (const auto named = names_.find(given.name); named != names_.end() && named->second != key) {
    HK_SOMETIMES(source_name_taken);
    return fail(ErrorKind::conflict, "a source named " + given.name +
                                         " exists already: names are unique on a server, choose "
                                         "another one");
  }
  if (before == nullptr) {
    const auto count = count_of_.find(given.tenant);
    if (count != count_of_.end() && count->second >= limits_.sources_max) {
      return fail(ErrorKind::quota_reached,
                  "there are " + std::to_string(limits_.sources_max) + " sources already");
    }
  }
  if (!command.queue.empty()) {
    const Queue* const queue = queues_.find_pulled(given.tenant, command.queue);
    if (queue == nullptr || queue->deleted || queue->pull->fifo) {
      HK_SOMETIMES(source_without_target);
      return SourceStored{.outcome = Outcome::no_queue};
    }
  }
  if (!command.url_group.empty() && !topics_.contains(given.tenant, command.url_group)) {
    HK_SOMETIMES(source_without_target);
    return SourceStored{.outcome = Outcome::no_url_group};
  }

  given.created_at = batch_.now();
  given.updated_at = batch_.now();
  given.version = command.if_version + 1;
  given.stats = {};
  given.quarantine = {};
  given.upkeep_at = {};
  if (before != nullptr) {
    HK_SOMETIMES(source_changed);
    given.created_at = before->created_at;
    given.stats = before->stats;
    given.quarantine = before->quarantine;
    given.upkeep_at = before->upkeep_at;
    if (before->name != given.name) {
      names_.erase(before->name);
      batch_.erase<SourceName>(before->name);
    }
  } else {
    ++count_of_[given.tenant];
  }
  names_[given.name] = key;
  put_name(given, given.name);
  put_name(given, given.id);
  sources_[key].source = std::move(given);
  return SourceStored{.source = change(sources_.find(key))};
}

/// Its rows are many, perhaps: they go a few at a time. Nobody finds them any more, since ids are
/// not given out twice.
Reply Sources::decide(const DeleteSource& command) {
  const auto found = find(command.tenant, command.id);
  if (found == sources_.end()) {
    return Done{};
  }
  const Source& source = found->second.source;
  names_.erase(source.name);
  batch_.erase<SourceName>(source.name);
  batch_.erase<SourceName>(source.id);
  batch_.erase<Source>(source.tenant, source.id);
  if (const auto count = count_of_.find(source.tenant); --count->second == 0) {
    count_of_.erase(count);
  }
  timers_.set(batch_.now(), Timer::Kind::source_sweep, command.tenant, command.id);
  dirty_.erase(found->first);
  sources_.erase(found);
  return Done{};
}

}  // namespace hk::core
