// GET and DELETE /v2/messages/{messageId}.
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/view.h"

namespace hk::api::qstash {

namespace {

http::Response no_such_message(std::string_view id) {
  return error_response(404, "message " + std::string(id) + " not found");
}

}  // namespace

void get_message(const Services& services, Call& call) {
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  const std::optional<Story> story = find_story(*view, call.tenant->id, call.param, false);
  if (!story) {
    call.answer(no_such_message(call.param));
    return;
  }
  FlowLimits flows(*view);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_message_fields(json, *story, flows, true);
  json.end_object();
  call.answer(std::move(response));
}

void cancel_message(const Services& /*services*/, Call& call) {
  const std::optional<core::MessageId> id = core::parse_message_id(call.param);
  if (!id) {
    call.answer(no_such_message(call.param));
    return;
  }
  core::CancelMessage command{call.tenant->id, *id};
  call.batcher.submit(command, [answer = std::move(call.answer),
                                text = std::move(call.param)](core::Reply reply) mutable {
    if (reply) {
      http::Response response;
      response.body = R"({"cancelled":1})";
      answer(std::move(response));
      return;
    }
    // A message that is finished cannot be cancelled: to this API it is not there any more.
    const ErrorKind kind = reply.error().kind;
    const bool gone = kind == ErrorKind::not_found || kind == ErrorKind::conflict;
    answer(gone ? no_such_message(text) : error_response(reply.error()));
  });
}

}  // namespace hk::api::qstash
