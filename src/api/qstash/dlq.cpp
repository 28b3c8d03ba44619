// GET, DELETE and POST below /v2/dlq.
#include <algorithm>

#include "api/gather.h"
#include "api/qstash/dlq_select.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish_options.h"
#include "api/qstash/view.h"

namespace hk::api::qstash {

namespace {

void write_dead_letter(JsonWriter& json, const DeadLetter& letter, FlowLimits& flows,
                       bool with_body) {
  json.begin_object();
  write_message_fields(json, letter.story, flows, with_body);
  json.field("dlqId", dead_letter_id(letter.key));
  const std::optional<core::Attempt>& last = letter.story.state.last;
  json.field("responseStatus", last ? last->response_status : 0);
  if (last) {
    write_header_map(json, "responseHeader", last->response_headers, nullptr);
    const bool answered = last->response_status != 0;
    if (with_body || !answered) {
      write_bytes(json, "responseBody", answered ? last->response_body : last->error);
    }
  }
  json.end_object();
}

Result<DeadLetterQuery> read_query(const Call& call, bool with_json_body) {
  Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (!parameters) {
    return std::unexpected(parameters.error());
  }
  if (with_json_body) {
    if (const Result<void> added = parameters->add_json(call.request.body); !added) {
      return std::unexpected(added.error());
    }
  }
  return read_dead_letter_query(call.tenant->id, *parameters);
}

/// Selection of the bulk calls: ids win over filters.
Result<DeadLetterPage> select(core::Reader& reader, const DeadLetterQuery& query,
                              const Options& options, bool all_must_exist) {
  if (query.ids.empty()) {
    return select_by_filter(reader, query, options);
  }
  Result<std::vector<DeadLetter>> letters = select_by_ids(reader, query, all_must_exist);
  if (!letters) {
    return std::unexpected(letters.error());
  }
  DeadLetterPage page;
  page.letters = std::move(*letters);
  return page;
}

http::Response no_such_entry(std::string_view id) {
  return error_response(404, "dead letter " + std::string(id) + " not found");
}

/// Something that could not be done now was not done; what is no longer there was done by another.
const Error* first_failure(const std::vector<core::Reply>& replies) {
  for (const core::Reply& reply : replies) {
    if (!reply && reply.error().kind != ErrorKind::not_found) {
      return &reply.error();
    }
  }
  return nullptr;
}

http::Response partly_done(const Error& error, const std::vector<core::Reply>& replies) {
  const auto done =
      std::ranges::count_if(replies, [](const core::Reply& one) { return one.has_value(); });
  return error_response(
      Error{error.kind, std::to_string(done) + " of " + std::to_string(replies.size()) +
                            " entries were handled; ask again for the rest: " + error.message});
}

void write_cursor(JsonWriter& json, const std::optional<std::string>& cursor) {
  if (cursor) {
    json.field("cursor", *cursor);
  }
}

/// Stored options are used as they are: a call that wants others is refused, not misunderstood.
bool has_overrides(const http::Request& request) {
  return std::ranges::any_of(request.fields,
                             [](const http::Field& field) { return is_option_header(field.name); });
}
http::Response overrides_refused() {
  return error_response(
      400,
      "option headers cannot change a dead letter on its retry yet; send the retry without them");
}

}  // namespace

void list_dead_letters(const Services& services, Call& call) {
  const Result<DeadLetterQuery> query = read_query(call, false);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view();
  Result<DeadLetterPage> page = select(*view, *query, services.options, false);
  if (!page) {
    call.answer(error_response(page.error()));
    return;
  }
  if (!query->ids.empty()) {
    std::erase_if(page->letters, [&](const DeadLetter& one) { return !matches(*query, one); });
  }
  FlowLimits flows(*view);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_cursor(json, page->cursor);
  json.key("messages");
  json.begin_array();
  for (const DeadLetter& letter : page->letters) {
    write_dead_letter(json, letter, flows, query->paging.with_bodies);
  }
  json.end_array();
  json.end_object();
  call.answer(std::move(response));
}

void get_dead_letter(const Services& services, Call& call) {
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view();
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  const std::optional<DeadLetter> letter = key ? read_dead_letter(*view, *key) : std::nullopt;
  if (!letter) {
    call.answer(no_such_entry(call.param));
    return;
  }
  FlowLimits flows(*view);
  http::Response response;
  JsonWriter json(response.body);
  write_dead_letter(json, *letter, flows, true);
  call.answer(std::move(response));
}

void delete_dead_letter(const Services& /*services*/, Call& call) {
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  if (!key) {
    call.answer(no_such_entry(call.param));
    return;
  }
  call.batcher.submit(core::DeleteDeadLetterCommand{call.tenant->id, *key},
                      [answer = std::move(call.answer)](core::Reply reply) mutable {
                        if (!reply) {
                          answer(error_response(reply.error()));
                          return;
                        }
                        http::Response response;
                        response.body = R"({"deleted":1})";
                        answer(std::move(response));
                      });
}

void delete_dead_letters(const Services& services, Call& call) {
  const Result<DeadLetterQuery> query = read_query(call, true);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  const Result<DeadLetterPage> page =
      select(*services.submitter.durable_view(), *query, services.options, false);
  if (!page) {
    call.answer(error_response(page.error()));
    return;
  }
  std::vector<core::Command> commands;
  for (const DeadLetter& letter : page->letters) {
    commands.emplace_back(core::DeleteDeadLetterCommand{call.tenant->id, letter.key});
  }
  submit_all(call.batcher, std::move(commands),
             [answer = std::move(call.answer),
              cursor = page->cursor](std::vector<core::Reply> replies) mutable {
               if (const Error* const failure = first_failure(replies)) {
                 answer(partly_done(*failure, replies));
                 return;
               }
               http::Response response;
               JsonWriter json(response.body);
               json.begin_object();
               json.field("deleted", std::ranges::count_if(replies, [](const core::Reply& one) {
                            return one.has_value();
                          }));
               write_cursor(json, cursor);
               json.end_object();
               answer(std::move(response));
             });
}

void retry_dead_letter(const Services& /*services*/, Call& call) {
  if (has_overrides(call.request)) {
    call.answer(overrides_refused());
    return;
  }
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  if (!key) {
    call.answer(no_such_entry(call.param));
    return;
  }
  call.batcher.submit(core::RetryDeadLetter{call.tenant->id, *key},
                      [answer = std::move(call.answer)](core::Reply reply) mutable {
                        if (!reply) {
                          answer(error_response(reply.error()));
                          return;
                        }
                        const auto* const published = std::get_if<core::Published>(&*reply);
                        http::Response response;
                        response.status = 201;
                        JsonWriter json(response.body);
                        json.begin_object();
                        json.field("messageId", core::to_text(published->id));
                        json.end_object();
                        answer(std::move(response));
                      });
}

void retry_dead_letters(const Services& services, Call& call) {
  if (has_overrides(call.request)) {
    call.answer(overrides_refused());
    return;
  }
  const Result<DeadLetterQuery> query = read_query(call, true);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  const Result<DeadLetterPage> page =
      select(*services.submitter.durable_view(), *query, services.options, true);
  if (!page) {
    call.answer(error_response(page.error()));
    return;
  }
  std::vector<core::Command> commands;
  for (const DeadLetter& letter : page->letters) {
    commands.emplace_back(core::RetryDeadLetter{call.tenant->id, letter.key});
  }
  submit_all(call.batcher, std::move(commands),
             [answer = std::move(call.answer),
              cursor = page->cursor](std::vector<core::Reply> replies) mutable {
               if (const Error* const failure = first_failure(replies)) {
                 answer(partly_done(*failure, replies));
                 return;
               }
               http::Response response;
               response.status = 201;
               JsonWriter json(response.body);
               json.begin_object();
               json.key("responses");
               json.begin_array();
               for (const core::Reply& reply : replies) {
                 if (!reply) {
                   continue;
                 }
                 json.begin_object();
                 json.field("messageId", core::to_text(std::get_if<core::Published>(&*reply)->id));
                 json.end_object();
               }
               json.end_array();
               write_cursor(json, cursor);
               json.end_object();
               answer(std::move(response));
             });
}

}  // namespace hk::api::qstash
