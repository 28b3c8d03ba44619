#include "base/sometimes.h"
#include "core/tenant/tenants.h"
#include "core/webhook/id.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(webhook_application_there_already)
HK_SOMETIMES_DECLARE(webhook_application_deleted_with_endpoints)

namespace hk::core::webhook {

namespace {

Refused uid_taken(const std::string& uid) { return {Refused::Why::uid_taken, uid}; }

}  // namespace

auto Webhooks::make_application(TenantId tenant, ApplicationFields fields)
    -> std::expected<std::shared_ptr<const Known>, Refused> {
  if (!fields.uid.empty() && named(tenant, Name::Kind::application_uid, 0, fields.uid)) {
    return std::unexpected(uid_taken(fields.uid));
  }
  Totals now = totals(tenant);
  if (now.applications >= limits_.webhook_applications_max) {
    return std::unexpected(Refused{Refused::Why::limit_reached, "applications"});
  }
  ++now.applications;
  batch_.put(Put<Totals>{now});
  const Number number = context_.progress.next_number();
  put(Application{.tenant = tenant,
                  .number = number,
                  .made = made_now(),
                  .name = std::move(fields.name),
                  .uid = std::move(fields.uid),
                  .rate = fields.rate,
                  .metadata = std::move(fields.metadata),
                  .updated_at = batch_.now()});
  return known(tenant, number);
}

Reply Webhooks::decide(CreateApplication command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (command.get_if_exists && !command.fields.uid.empty()) {
    if (const auto number =
            named(command.tenant, Name::Kind::application_uid, 0, command.fields.uid)) {
      HK_SOMETIMES(webhook_application_there_already);
      return ApplicationStored{known(command.tenant, *number)->application};
    }
  }
  auto made = make_application(command.tenant, std::move(command.fields));
  if (!made) {
    return std::move(made.error());
  }
  return ApplicationStored{(*made)->application, true};
}

Reply Webhooks::decide(ChangeApplication command) {
  ApplicationChanges& changes = command.changes;
  const auto found = find(command.tenant, command.application_ref);
  if (!found && !command.create) {
    return found.error();
  }
  if (!found) {
    if (!tenants_.contains(command.tenant)) {
      return fail(ErrorKind::not_found, "no such tenant");
    }
    std::string uid = std::move(changes.uid).value_or("");
    if (uid.empty()) {
      if (!may_be_uid(command.application_ref, application_prefix)) {
        return Refused{Refused::Why::ref_is_no_uid, command.application_ref};
      }
      uid = command.application_ref;
    }
    auto made = make_application(command.tenant,
                                 {.name = std::move(changes.name).value_or(""),
                                  .uid = std::move(uid),
                                  .rate = changes.rate.value_or(0),
                                  .metadata = std::move(changes.metadata).value_or(Metadata{})});
    if (!made) {
      return std::move(made.error());
    }
    return ApplicationStored{(*made)->application, true};
  }
  Application now = (*found)->application;
  if (changes.uid && !changes.uid->empty()) {
    const auto owner = named(command.tenant, Name::Kind::application_uid, 0, *changes.uid);
    if (owner && *owner != now.number) {
      return uid_taken(*changes.uid);
    }
  }
  now.name = std::move(changes.name).value_or(now.name);
  now.uid = std::move(changes.uid).value_or(now.uid);
  now.rate = changes.rate.value_or(now.rate);
  now.metadata = std::move(changes.metadata).value_or(now.metadata);
  now.updated_at = batch_.now();
  put(now);
  application_changed(now);
  return ApplicationStored{std::move(now)};
}

/// It is gone at once, with all that is its own; what waits for its endpoints is cancelled over
/// several batches. Events and attempts stay for their time, and nothing leads to them.
Reply Webhooks::decide(const DeleteApplication& command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  for (const auto& endpoint : (*found)->endpoints) {
    HK_SOMETIMES(webhook_application_deleted_with_endpoints);
    erase(*endpoint);
    cancel_deliveries(*endpoint, CancelReason::application_deleted);
  }
  drop_all_tokens((*found)->application);
  forget_health(command.tenant, (*found)->application.number);
  erase((*found)->application);
  return Done{};
}

}  // namespace hk::core::webhook
