/// The calls of the API of webhooks, by resource; routes.cpp says what each is.
#pragma once

#include <string_view>

#include "api/call.h"
#include "api/svix/errors.h"
#include "api/write.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

// applications.cpp
void list_applications(const Services& services, Call& call);
Write create_application(const Services& services, Call& call);
void get_application(const Services& services, Call& call);
Write put_application(const Services& services, Call& call);
Write patch_application(const Services& services, Call& call);
Write delete_application(const Services& services, Call& call);

// event_types.cpp
void list_event_types(const Services& services, Call& call);
Write create_event_type(const Services& services, Call& call);
void get_event_type(const Services& services, Call& call);
Write put_event_type(const Services& services, Call& call);
Write patch_event_type(const Services& services, Call& call);
Write delete_event_type(const Services& services, Call& call);

// openapi_import.cpp
Write import_openapi(const Services& services, Call& call);

// endpoints.cpp
void list_endpoints(const Services& services, Call& call);
Write create_endpoint(const Services& services, Call& call);
void get_endpoint(const Services& services, Call& call);
Write put_endpoint(const Services& services, Call& call);
Write patch_endpoint(const Services& services, Call& call);
Write delete_endpoint(const Services& services, Call& call);

// endpoint_secrets.cpp
void get_secret(const Services& services, Call& call);
Write rotate_secret(const Services& services, Call& call);

// endpoint_headers.cpp
void get_headers(const Services& services, Call& call);
Write put_headers(const Services& services, Call& call);
Write patch_headers(const Services& services, Call& call);

// endpoint_stats.cpp
void get_stats(const Services& services, Call& call);
void get_rate_limit_status(const Services& services, Call& call);

// endpoint_actions.cpp
Write send_example(const Services& services, Call& call);
Write cancel_waiting(const Services& services, Call& call);

// messages.cpp
void list_messages(const Services& services, Call& call);
Write create_message(const Services& services, Call& call);
void get_message(const Services& services, Call& call);
void get_raw_message(const Services& services, Call& call);
Write expunge_message(const Services& services, Call& call);
Write bulk_expunge(const Services& services, Call& call);
Write precheck(const Services& services, Call& call);
/// A large answer again: `reference` is the application and the event.
http::Response show_message(const Services& services, core::TenantId tenant,
                            std::string_view reference);

// attempts.cpp
void list_attempts_of_endpoint(const Services& services, Call& call);
void list_attempts_of_message(const Services& services, Call& call);
void list_attempted_messages(const Services& services, Call& call);
void list_destinations(const Services& services, Call& call);
void get_attempt(const Services& services, Call& call);
Write expunge_attempt(const Services& services, Call& call);
Write resend(const Services& services, Call& call);

// recover.cpp
Write recover(const Services& services, Call& call);
Write replay_missing(const Services& services, Call& call);
Write bulk_replay(const Services& services, Call& call);
Write expunge_all(const Services& services, Call& call);

// tokens.cpp
Write create_portal_token(const Services& services, Call& call);
Write expire_tokens(const Services& services, Call& call);
Write logout(const Services& services, Call& call);
void who_am_i(const Services& services, Call& call);

// background_tasks.cpp
void list_background_tasks(const Services& services, Call& call);
void get_background_task(const Services& services, Call& call);

// statistics.cpp
Write usage_by_application(const Services& services, Call& call);
Write usage_by_event_type(const Services& services, Call& call);

// environment.cpp
void get_health(const Services& services, Call& call);
Write export_environment(const Services& services, Call& call);
Write import_environment(const Services& services, Call& call);

// integrations.cpp
void list_integrations(const Services& services, Call& call);
Write create_integration(const Services& services, Call& call);
void get_integration(const Services& services, Call& call);
Write put_integration(const Services& services, Call& call);
Write delete_integration(const Services& services, Call& call);
void get_integration_key(const Services& services, Call& call);
Write rotate_integration_key(const Services& services, Call& call);

// operational.cpp: endpoints of operational webhooks
void list_operational(const Services& services, Call& call);
Write create_operational(const Services& services, Call& call);
void get_operational(const Services& services, Call& call);
Write put_operational(const Services& services, Call& call);
Write delete_operational(const Services& services, Call& call);
void get_operational_secret(const Services& services, Call& call);
Write rotate_operational_secret(const Services& services, Call& call);
void get_operational_headers(const Services& services, Call& call);
Write put_operational_headers(const Services& services, Call& call);

// out_of_scope.cpp
void get_transformation(const Services& services, Call& call);
Write patch_transformation(const Services& services, Call& call);
void list_nothing(const Services& services, Call& call);

}  // namespace hk::api::svix
