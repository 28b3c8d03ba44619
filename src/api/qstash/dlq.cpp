// GET /v2/dlq and GET /v2/dlq/{dlqId}.
#include "api/qstash/dlq_select.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
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

/// Here ids are one filter among the others.
Result<DeadLetterPage> list(core::Reader& reader, const DeadLetterQuery& query,
                            const Options& options) {
  if (query.ids.empty()) {
    return select_by_filter(reader, query, options);
  }
  const Result<std::vector<core::DeadLetterKey>> keys = select_by_ids(reader, query, false);
  if (!keys) {
    return std::unexpected(keys.error());
  }
  DeadLetterPage page;
  std::size_t bytes = 0;
  for (const core::DeadLetterKey& key : *keys) {
    std::optional<DeadLetter> letter = read_dead_letter(reader, key);
    if (!letter || !matches(query, *letter)) {
      continue;
    }
    bytes += letter->story.message->body.size();
    if (!page.letters.empty() && bytes > options.listing_bytes_max) {
      return fail(ErrorKind::invalid_argument,
                  "these entries are too large for one answer: use a smaller count");
    }
    page.letters.push_back(std::move(*letter));
  }
  return page;
}

}  // namespace

void list_dead_letters(const Services& services, Call& call) {
  const Result<DeadLetterQuery> query = read_dead_letter_query(call, false);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  const Result<DeadLetterPage> page = list(*view, *query, services.options);
  if (!page) {
    call.answer(error_response(page.error()));
    return;
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
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(call.tenant->id, call.param);
  const std::optional<DeadLetter> letter = key ? read_dead_letter(*view, *key) : std::nullopt;
  if (!letter) {
    call.answer(error_response(404, "dead letter " + call.param + " not found"));
    return;
  }
  FlowLimits flows(*view);
  http::Response response;
  JsonWriter json(response.body);
  write_dead_letter(json, *letter, flows, true);
  call.answer(std::move(response));
}

}  // namespace hk::api::qstash
