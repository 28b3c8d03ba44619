#include <algorithm>
#include <map>

#include "core/tenant/tenants.h"
#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

namespace {

/// But for its times.
bool alike(EventType one, const EventType& other) {
  one.created_at = other.created_at;
  one.updated_at = other.updated_at;
  return one == other;
}

}  // namespace

Reply Webhooks::decide(CreateEventType command) {
  EventType& type = command.type;
  if (!tenants_.contains(type.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto before = batch_.get<EventType>(own_key(type));
  if (before && !before->archived) {
    return Refused{Refused::Why::event_type_exists, type.name};
  }
  if (!before) {
    Totals now = totals(type.tenant);
    if (now.event_types >= limits_.webhook_event_types_max) {
      return Refused{Refused::Why::limit_reached, "event types"};
    }
    ++now.event_types;
    batch_.put(Put<Totals>{now});
  }
  type.created_at = before ? before->created_at : batch_.now();
  type.updated_at = batch_.now();
  batch_.put(Put<EventType>{type});
  return EventTypeStored{std::move(type), true};
}

Reply Webhooks::decide(ChangeEventType command) {
  EventTypeChanges& changes = command.changes;
  auto type = batch_.get<EventType>({command.tenant, command.name});
  if (!type && !command.create) {
    return Refused{Refused::Why::event_type_not_found, command.name};
  }
  const bool created = !type;
  EventType now = std::move(type).value_or(
      EventType{.tenant = command.tenant, .name = command.name, .created_at = batch_.now()});
  now.description = std::move(changes.description).value_or(now.description);
  now.schemas = std::move(changes.schemas).value_or(now.schemas);
  now.group = std::move(changes.group).value_or(now.group);
  now.feature_flags = std::move(changes.feature_flags).value_or(now.feature_flags);
  now.archived = changes.archived.value_or(now.archived);
  now.deprecated = changes.deprecated.value_or(now.deprecated);
  if (created) {
    return decide(CreateEventType{std::move(now)});
  }
  now.updated_at = batch_.now();
  batch_.put(Put<EventType>{now});
  return EventTypeStored{std::move(now)};
}

Reply Webhooks::decide(const DeleteEventType& command) {
  auto type = batch_.get<EventType>({command.tenant, command.name});
  if (!type) {
    return Refused{Refused::Why::event_type_not_found, command.name};
  }
  if (command.expunge) {
    Totals now = totals(command.tenant);
    --now.event_types;
    batch_.put(Put<Totals>{now});
    batch_.erase<EventType>(own_key(*type));
  } else if (!type->archived) {
    type->archived = true;
    type->updated_at = batch_.now();
    batch_.put(Put<EventType>{std::move(*type)});
  }
  return Done{};
}

Reply Webhooks::decide(ImportEventTypes command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  std::map<std::string, EventType> given;
  for (EventType& type : command.types) {
    type.tenant = command.tenant;
    std::string name = type.name;
    given[std::move(name)] = std::move(type);
  }
  std::map<std::string, EventType> changed;
  Totals now = totals(command.tenant);
  for (auto& [name, type] : given) {
    const auto before = batch_.get<EventType>({command.tenant, name});
    if (before && alike(type, *before)) {
      continue;
    }
    now.event_types += before ? 0 : 1;
    type.created_at = before ? before->created_at : batch_.now();
    type.updated_at = batch_.now();
    changed[name] = type;
  }
  if (now.event_types > limits_.webhook_event_types_max) {
    return Refused{Refused::Why::limit_reached, "event types"};
  }
  if (command.archive_others) {
    for (const EventType& stored : batch_.reader().scan(Range<EventType>::of(command.tenant))) {
      auto type = batch_.get<EventType>(own_key(stored));  // this batch may have changed it
      if (type && !type->archived && !given.contains(type->name)) {
        type->archived = true;
        type->updated_at = batch_.now();
        changed[stored.name] = std::move(*type);
      }
    }
  }
  EventTypesImported done;
  for (auto& [name, type] : changed) {
    done.changed.push_back(name);
    batch_.put(Put<EventType>{std::move(type)});
  }
  if (!done.changed.empty()) {
    batch_.put(Put<Totals>{now});
  }
  return done;
}

}  // namespace hk::core::webhook
