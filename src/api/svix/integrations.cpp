// /api/v1/app/{app}/integration: keys with a name, for programs of a customer.
#include <utility>

#include "api/app_token.h"
#include "api/svix/handlers.h"
#include "api/svix/input.h"
#include "api/svix/page.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t integration_flags_max = 25;

struct IntegrationIn {
  std::string name{};
  std::vector<std::string> flags{};
};

IntegrationIn read_integration(Input& in) {
  IntegrationIn read;
  read.name = in.required_text("name", check_integration_name);
  read.flags = in.texts("featureFlags", {check_name, 0, integration_flags_max})
                   .value_or(std::vector<std::string>{});
  return read;
}

http::Response integration_response(int status, const webhook::Integration& integration) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_integration(json, integration);
  return response;
}

std::optional<webhook::Integration> find_of_path(const Reading& reading, const Call& call) {
  return reading.application ? webhook::find_integration(reading.reader(), reading.tenant,
                                                         reading.number, call.more_params.front())
                             : std::nullopt;
}

}  // namespace

void list_integrations(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    call.answer(no_application());
    return;
  }
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const Page page = read_page(query, true, true);
  const auto after = read_number(query, page, webhook::integration_prefix);
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  const auto paged = gather_page<webhook::Integration>(
      page, services.options.scanned_per_listing_max, rows_at_once(page),
      [&](const webhook::Integration* last, std::size_t count) {
        return webhook::list_integrations(reading.reader(), reading.tenant, reading.number,
                                          last != nullptr ? std::optional(last->number) : after,
                                          page.order(), count);
      },
      [](const webhook::Integration&) { return Kept::yes; });
  call.answer(page_response(
      page, paged, [](const auto& one) { return webhook::id_of(one); }, write_integration));
}

Write create_integration(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  IntegrationIn read = read_integration(in);
  if (errors.any()) {
    return wrong_of_application(services, call, errors);
  }
  return plan<webhook::IntegrationStored>(
      webhook::CreateIntegration{call.tenant->id, call.param, std::move(read.name),
                                 std::move(read.flags)},
      [](const webhook::IntegrationStored& stored) {
        return integration_response(201, stored.integration);
      });
}

void get_integration(const Services& services, Call& call) {
  const Reading reading(services, call);
  const auto integration = find_of_path(reading, call);
  call.answer(integration ? integration_response(200, *integration) : not_found());
}

Write put_integration(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  IntegrationIn read = read_integration(in);
  if (errors.any()) {
    return wrong_of_application(services, call, errors);
  }
  return plan<webhook::IntegrationStored>(
      webhook::ChangeIntegration{call.tenant->id, call.param, call.more_params.front(),
                                 std::move(read.name), std::move(read.flags)},
      [](const webhook::IntegrationStored& stored) {
        return integration_response(200, stored.integration);
      });
}

Write delete_integration(const Services& /*services*/, Call& call) {
  return plan_plainly(
      webhook::DeleteIntegration{call.tenant->id, call.param, call.more_params.front()},
      no_content);
}

/// Only its digest is kept, so nobody is shown it again.
void get_integration_key(const Services& services, Call& call) {
  const Reading reading(services, call);
  call.answer(find_of_path(reading, call) ? error_response(403, "") : not_found());
}

Write rotate_integration_key(const Services& services, Call& call) {
  const std::string key = make_app_token(integration_token_prefix, call.tenant->id);
  return plan_plainly(
      webhook::RotateIntegrationKey{call.tenant->id, call.param, call.more_params.front(),
                                    services.tenants.token_digest(key)},
      [key] { return object_response(200, [&](JsonWriter& json) { json.field("key", key); }); });
}

}  // namespace hk::api::svix
