// DELETE /v2/dlq, DELETE /v2/dlq/{dlqId}, POST /v2/dlq/retry and POST /v2/dlq/retry/{dlqId}.
#include <algorithm>

#include "api/gather.h"
#include "api/qstash/dlq_select.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish_options.h"
#include "api/qstash/view.h"
#include "api/reply.h"

namespace hk::api::qstash {

namespace {

/// What a bulk call is about: ids win over filters.
struct Selected {
  std::vector<core::DeadLetterKey> keys{};
  std::optional<std::string> cursor{};
};
Result<Selected> select(const Services& services, const Call& call, bool all_must_exist) {
  const Result<DeadLetterQuery> query = read_dead_letter_query(call, true);
  if (!query) {
    return std::unexpected(query.error());
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view();
  Selected selected;
  if (!query->ids.empty()) {
    Result<std::vector<core::DeadLetterKey>> keys = select_by_ids(*view, *query, all_must_exist);
    if (!keys) {
      return std::unexpected(keys.error());
    }
    selected.keys = std::move(*keys);
    return selected;
  }
  Result<DeadLetterPage> page = select_by_filter(*view, *query, services.options);
  if (!page) {
    return std::unexpected(page.error());
  }
  for (const DeadLetter& letter : page->letters) {
    selected.keys.push_back(letter.key);
  }
  selected.cursor = std::move(page->cursor);
  return selected;
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

/// A command about the one entry that the path names; `done` makes the answer to its success.
template <class Command>
void command_one(Call& call, http::Response (*done)(const core::Reply&)) {
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  if (!key) {
    call.answer(error_response(404, "dead letter " + call.param + " not found"));
    return;
  }
  call.batcher.submit(Command{call.tenant->id, *key},
                      [done, answer = std::move(call.answer)](core::Reply reply) mutable {
                        answer(reply ? done(reply) : error_response(reply.error()));
                      });
}

/// The same about every entry that the query selects.
template <class Command>
void command_many(const Services& services, Call& call, bool all_must_exist,
                  http::Response (*done)(const std::vector<core::Reply>&,
                                         const std::optional<std::string>& cursor)) {
  const Result<Selected> selected = select(services, call, all_must_exist);
  if (!selected) {
    call.answer(error_response(selected.error()));
    return;
  }
  std::vector<core::Command> commands;
  for (const core::DeadLetterKey& key : selected->keys) {
    commands.emplace_back(Command{call.tenant->id, key});
  }
  submit_all(call.batcher, std::move(commands),
             [done, answer = std::move(call.answer),
              cursor = selected->cursor](const std::vector<core::Reply>& replies) mutable {
               const Error* const failure = first_failure(replies);
               answer(failure != nullptr ? partly_done(*failure, replies) : done(replies, cursor));
             });
}

void write_message_id(JsonWriter& json, const core::Reply& reply) {
  json.begin_object();
  json.field("messageId", core::to_text(answer_of<core::Published>(reply).id));
  json.end_object();
}

http::Response deleted_one(const core::Reply& /*reply*/) {
  http::Response response;
  response.body = R"({"deleted":1})";
  return response;
}

http::Response deleted_many(const std::vector<core::Reply>& replies,
                            const std::optional<std::string>& cursor) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("deleted", std::ranges::count_if(
                            replies, [](const core::Reply& one) { return one.has_value(); }));
  write_cursor(json, cursor);
  json.end_object();
  return response;
}

http::Response retried_one(const core::Reply& reply) {
  http::Response response;
  response.status = 201;
  JsonWriter json(response.body);
  write_message_id(json, reply);
  return response;
}

http::Response retried_many(const std::vector<core::Reply>& replies,
                            const std::optional<std::string>& cursor) {
  http::Response response;
  response.status = 201;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("responses");
  json.begin_array();
  for (const core::Reply& reply : replies) {
    if (reply) {
      write_message_id(json, reply);
    }
  }
  json.end_array();
  write_cursor(json, cursor);
  json.end_object();
  return response;
}

}  // namespace

void delete_dead_letter(const Services& /*services*/, Call& call) {
  command_one<core::DeleteDeadLetterCommand>(call, deleted_one);
}

/// Ids that are not there are skipped.
void delete_dead_letters(const Services& services, Call& call) {
  command_many<core::DeleteDeadLetterCommand>(services, call, false, deleted_many);
}

void retry_dead_letter(const Services& /*services*/, Call& call) {
  if (has_overrides(call.request)) {
    call.answer(overrides_refused());
    return;
  }
  command_one<core::RetryDeadLetter>(call, retried_one);
}

/// One id that is not there: nothing is retried.
void retry_dead_letters(const Services& services, Call& call) {
  if (has_overrides(call.request)) {
    call.answer(overrides_refused());
    return;
  }
  command_many<core::RetryDeadLetter>(services, call, true, retried_many);
}

}  // namespace hk::api::qstash
