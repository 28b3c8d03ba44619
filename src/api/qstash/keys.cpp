// GET /v2/keys and POST /v2/keys/rotate: what receivers verify signatures with.
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "base/json.h"
#include "observe/log.h"
#include "security/credentials.h"

namespace hk::api::qstash {

namespace {

http::Response keys_response(const Secret& current, const Secret& next) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("current", current.reveal());
  json.field("next", next.reveal());
  json.end_object();
  return response;
}

}  // namespace

void get_keys(const Services& /*services*/, Call& call) {
  call.answer(keys_response(call.tenant->current_key, call.tenant->next_key));
}

/// The next key becomes the current one, which receivers hold already; a new next one is made.
void rotate_keys(const Services& services, Call& call) {
  if (services.options.settings_keys && call.tenant->name == services.options.settings_tenant) {
    call.answer(error_response(
        409,
        "the signing keys of this tenant come from the server's settings or --dev: change them "
        "there, or start without them and rotate the keys"));
    return;
  }
  // Read now: what the request was let in with may be older than the last change.
  const std::optional<core::Tenant> stored =
      services.submitter.durable_view(call.tenant->id)->get<core::Tenant>(call.tenant->id);
  if (!stored) {
    call.answer(error_response(404, "no such tenant"));
    return;
  }
  Result<Secret> opened = services.tenants.next_key_of(*stored);
  if (!opened) {
    call.answer(error_response(opened.error()));
    return;
  }
  Secret current = std::move(*opened);
  Secret next = security::make_signing_key();
  core::UpsertTenant command{services.tenants.with_keys(*stored, current, next), stored};
  call.batcher.submit(
      std::move(command), [answer = std::move(call.answer), current = std::move(current),
                           next = std::move(next), name = stored->name](core::Reply reply) mutable {
        if (!reply) {
          answer(error_response(reply.error()));
          return;
        }
        observe::log(observe::Level::info, "tenant.keys_rotated", {{"tenant", name}});
        answer(keys_response(current, next));
      });
}

}  // namespace hk::api::qstash
