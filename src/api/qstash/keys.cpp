// GET /v2/keys: what receivers verify signatures with.
#include "api/json.h"
#include "api/qstash/handlers.h"

namespace hk::api::qstash {

void get_keys(const Services& /*services*/, Call& call) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("current", call.tenant->current_key.reveal());
  json.field("next", call.tenant->next_key.reveal());
  json.end_object();
  call.answer(std::move(response));
}

}  // namespace hk::api::qstash
