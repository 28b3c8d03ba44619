// GET /v2/events and its newer name, GET /v2/logs.
#include <algorithm>

#include "api/gather.h"
#include "api/qstash/errors.h"
#include "api/qstash/event_query.h"
#include "api/qstash/handlers.h"
#include "api/reply.h"

namespace hk::api::qstash {

namespace {

/// The sources disagree on the array's name in /v2/logs, so it has both there.
http::Response page_response(const Result<EventPage>& page, bool as_logs) {
  if (!page) {
    return error_response(page.error());
  }
  http::Response response;
  std::string& body = response.body;
  body = "{";
  if (page->cursor) {
    body += "\"cursor\":";
    append_json_string(body, *page->cursor);
    body += ',';
  }
  body += "\"events\":" + page->events;
  if (as_logs) {
    body += ",\"logs\":" + page->events;
  }
  body += '}';
  return response;
}

/// Ids that name nothing, or something of another tenant, are skipped: they have no events.
Result<std::vector<Story>> read_stories(core::Reader& reader, const EventQuery& query,
                                        const Options& options) {
  std::vector<Story> stories;
  std::size_t bytes = 0;
  for (const std::string& id : query.message_ids) {
    std::optional<Story> story = find_story(reader, query.tenant, id, true);
    const bool twice = story && std::ranges::any_of(stories, [&](const Story& one) {
                         return one.message->id == story->message->id;
                       });
    if (!story || twice) {
      continue;
    }
    bytes += story->message->body.size();
    if (!stories.empty() && bytes > options.listing_bytes_max) {
      return fail(ErrorKind::invalid_argument,
                  "these messages are too large for one answer: use a smaller count");
    }
    stories.push_back(std::move(*story));
  }
  return stories;
}

/// Without an answer the records alone must do. They are younger than the core's word: an attempt
/// that has ended since is among them.
void add_running(std::vector<Story>& stories, core::MessageId asked, const core::Reply& reply) {
  if (!reply) {
    return;
  }
  const auto& inspected = answer_of<core::Inspected>(reply);
  const auto story =
      std::ranges::find_if(stories, [&](const Story& one) { return one.message->id == asked; });
  if (inspected.running && story != stories.end() &&
      story->state.attempts < inspected.fence.attempt) {
    story->running = {inspected.fence.attempt, inspected.started_at};
  }
}

/// Whether an attempt is on the wire is known to the core alone: unfinished messages are asked
/// about first, and the records are read after that, so that no event is missing between the two.
void tell_by_messages(const Services& services, Call& call, EventQuery query, bool as_logs) {
  const Result<std::vector<Story>> first =
      read_stories(*services.submitter.durable_view(query.tenant), query, services.options);
  if (!first) {
    call.answer(error_response(first.error()));
    return;
  }
  std::vector<core::Command> questions;
  std::vector<core::MessageId> asked;
  for (const Story& story : *first) {
    if (!core::is_final(story.state.status)) {
      questions.emplace_back(core::Inspect{query.tenant, story.message->id});
      asked.push_back(story.message->id);
    }
  }
  submit_all(
      call.batcher, std::move(questions),
      [&services, answer = std::move(call.answer), query = std::move(query),
       asked = std::move(asked), as_logs](std::vector<core::Reply> replies) mutable {
        answering(answer, [&] {
          const std::shared_ptr<core::Reader> view = services.submitter.durable_view(query.tenant);
          Result<std::vector<Story>> stories = read_stories(*view, query, services.options);
          if (!stories) {
            answer(error_response(stories.error()));
            return;
          }
          for (std::size_t i = 0; i < replies.size(); ++i) {
            add_running(*stories, asked[i], replies[i]);
          }
          answer(page_response(tell_events(*view, query, *stories, services.options), as_logs));
        });
      });
}

void list(const Services& services, Call& call, bool as_logs) {
  const Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (!parameters) {
    call.answer(error_response(parameters.error()));
    return;
  }
  Result<EventQuery> query = read_event_query(call.tenant->id, *parameters);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  if (!query->message_ids.empty()) {
    tell_by_messages(services, call, std::move(*query), as_logs);
    return;
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  call.answer(page_response(scan_events(*view, std::move(*query), services.options), as_logs));
}

}  // namespace

void list_events(const Services& services, Call& call) { list(services, call, false); }
void list_logs(const Services& services, Call& call) { list(services, call, true); }

}  // namespace hk::api::qstash
