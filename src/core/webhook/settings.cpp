#include "core/tenant/tenants.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

Reply Webhooks::decide(PutSettings command) {
  Settings& given = command.settings;
  if (!tenants_.contains(given.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  OwnDelivery own;
  merge(own, given.delivery, 0);
  given.delivery = std::move(own);
  settings_[given.tenant] = given;
  batch_.put(Put<Settings>(given));
  settings_changed(given.tenant);
  return Done{};
}

}  // namespace hk::core::webhook
