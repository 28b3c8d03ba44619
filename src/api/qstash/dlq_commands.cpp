// DELETE /v2/dlq, DELETE /v2/dlq/{dlqId}, POST /v2/dlq/retry and POST /v2/dlq/retry/{dlqId}.
#include <algorithm>

#include "api/gather.h"
#include "api/qstash/dlq_edit.h"
#include "api/qstash/dlq_overrides.h"
#include "api/qstash/dlq_select.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish.h"
#include "api/qstash/view.h"
#include "api/reply.h"
#include "api/submit.h"

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
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
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
                            " entries were handled; call again for the rest: " + error.message});
}

/// A delay is refused for messages of queues, before the first entry is touched: all or none.
Result<void> check_delay(const Services& services, const DeadLetterChanges& changes,
                         const std::vector<core::DeadLetterKey>& keys) {
  const bool delayed =
      changes != nullptr && (changes->delay > Millis{0} || changes->not_before > services.now());
  if (!delayed || keys.empty()) {
    return {};
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(keys.front().tenant);
  for (const core::DeadLetterKey& key : keys) {
    const auto message = view->get<core::Message>(key.seq);
    if (message != nullptr && !message->queue.empty()) {
      return fail(ErrorKind::invalid_argument,
                  "dead letter " + dead_letter_id(key) + " belongs to queue " + message->queue +
                      ": a message in a queue cannot be delayed; nothing was retried");
    }
  }
  return {};
}

/// A command about the one entry that the path names; `done` makes the answer to its success.
template <class Make>
void command_one(Call& call, Make make, http::Response (*done)(const core::Reply&)) {
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  if (!key) {
    call.answer(error_response(404, "dead letter " + call.param + " not found"));
    return;
  }
  submit_then(call, make(*key), done);
}

/// The same about every entry that the query selects.
template <class Make>
void command_many(Call& call, const Selected& selected, Make make,
                  http::Response (*done)(const std::vector<core::Reply>&,
                                         const std::optional<std::string>& cursor)) {
  std::vector<core::Command> commands;
  for (const core::DeadLetterKey& key : selected.keys) {
    commands.emplace_back(make(key));
  }
  submit_all(call.batcher, std::move(commands),
             [done, answer = std::move(call.answer),
              cursor = selected.cursor](const std::vector<core::Reply>& replies) mutable {
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
  const auto make = [tenant = call.tenant->id](const core::DeadLetterKey& key) {
    return core::DeleteDeadLetterCommand{tenant, key};
  };
  command_one(call, make, deleted_one);
}

/// Ids that are not there are skipped.
void delete_dead_letters(const Services& services, Call& call) {
  const Result<Selected> selected = select(services, call, false);
  if (!selected) {
    call.answer(error_response(selected.error()));
    return;
  }
  const auto make = [tenant = call.tenant->id](const core::DeadLetterKey& key) {
    return core::DeleteDeadLetterCommand{tenant, key};
  };
  command_many(call, *selected, make, deleted_many);
}

/// With the headers for it the new message has another URL or body: one commit takes the old one
/// out and accepts the new one, as for every retry.
void retry_dead_letter(const Services& services, Call& call) {
  Result<DeadLetterEdit> edit = read_edit(services.options, call.request);
  if (!edit) {
    call.answer(error_response(edit.error()));
    return;
  }
  if (edit->body && refused_for_now(services, call)) {
    return;
  }
  if (edit->body && call.request.body.size() > services.options.body_bytes_max) {
    call.answer(error_response(413, body_too_large(services).message));
    return;
  }
  Result<DeadLetterChanges> changes =
      read_overrides(services.options, services.now(), call.tenant->id, call.request.fields);
  if (!changes) {
    call.answer(error_response(changes.error()));
    return;
  }
  if (edit->any() && *changes == nullptr) {
    *changes = std::make_shared<core::RetryDeadLetter::Changes>();
  }
  if (edit->to) (*changes)->to = std::move(edit->to);
  if (edit->body) (*changes)->body = std::move(call.request.body);
  const auto make = [tenant = call.tenant->id, &changes](const core::DeadLetterKey& key) {
    return core::RetryDeadLetter{tenant, key, *changes};
  };
  command_one(call, make, retried_one);
}

/// One id that is not there, or that the options of the call do not suit: nothing is retried.
void retry_dead_letters(const Services& services, Call& call) {
  if (const auto suits = refuse_edit(call.request); !suits) {
    call.answer(error_response(suits.error()));
    return;
  }
  const Result<Selected> selected = select(services, call, true);
  if (!selected) {
    call.answer(error_response(selected.error()));
    return;
  }
  const Result<DeadLetterChanges> changes =
      read_overrides(services.options, services.now(), call.tenant->id, call.request.fields);
  if (!changes) {
    call.answer(error_response(changes.error()));
    return;
  }
  if (const auto suits = check_delay(services, *changes, selected->keys); !suits) {
    call.answer(error_response(suits.error()));
    return;
  }
  const auto make = [tenant = call.tenant->id, &changes](const core::DeadLetterKey& key) {
    return core::RetryDeadLetter{tenant, key, *changes};
  };
  command_many(call, *selected, make, retried_many);
}

}  // namespace hk::api::qstash
