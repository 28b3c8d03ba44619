// GET /api/v1/jobs/{id}: what is stored about a message, and, while it is not finished, what the
// core knows of it in memory: whether it runs, or why it does not.
#include <algorithm>

#include "api/jobs/ending.h"
#include "api/jobs/handlers.h"
#include "api/reply.h"
#include "api/story.h"
#include "api/text.h"
#include "base/date.h"
#include "base/json.h"
#include "observe/trace.h"

namespace hk::api::jobs {

namespace {

using core::Status;

std::string_view shown_status(Status status, bool running) {
  return status_name(core::is_final(status) ? status : running ? Status::running : Status::pending);
}

/// A user name and password in a URL are for the receiver, not for whoever reads a job.
std::string without_credentials(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    return url;
  }
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.rfind('@', end == 0 ? 0 : end - 1);
  if (at == std::string::npos || at < begin) {
    return url;
  }
  return url.substr(0, begin) + url.substr(at + 1);
}

template <std::size_t Size>
std::string hex_of(const std::array<std::uint8_t, Size>& bytes) {
  return observe::hex(bytes.data(), bytes.size());
}

template <std::size_t Size>
bool is_zero(const std::array<std::uint8_t, Size>& bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t one) { return one == 0; });
}

std::string fence_text(const core::Fence& fence) {
  return std::to_string(fence.epoch) + "." + std::to_string(fence.attempt);
}

void write_time(JsonWriter& json, std::string_view name, Moment moment) {
  json.field(name, rfc3339(moment));
}

void write_attempt(JsonWriter& json, const core::Attempt& attempt) {
  json.begin_object();
  json.field("number", attempt.fence.attempt);
  json.field("fence", fence_text(attempt.fence));
  write_time(json, "started_at", attempt.started_at);
  write_time(json, "ended_at", attempt.ended_at);
  json.field("latency_ms", (attempt.ended_at - attempt.started_at).count());
  if (attempt.response_status != 0) {
    json.field("status_code", attempt.response_status);
  }
  if (!attempt.error.empty()) {
    json.field("error", attempt.error);
  }
  json.field("span_id", hex_of(attempt.span_id));
  json.end_object();
}

void write_attempts(JsonWriter& json, const Story& story, const core::Inspected& now,
                    bool running) {
  json.key("attempts");
  json.begin_array();
  for (const core::Attempt& attempt : story.attempts) {
    write_attempt(json, attempt);
  }
  if (running) {
    json.begin_object();
    json.field("number", now.fence.attempt);
    json.field("fence", fence_text(now.fence));
    if (now.started_at != Moment{}) {  // received before a restart
      write_time(json, "started_at", now.started_at);
    }
    json.end_object();
  }
  json.end_array();
}

void write_holds(JsonWriter& json, const std::vector<core::Hold>& holds) {
  json.key("holds");
  json.begin_array();
  for (const core::Hold& hold : holds) {
    json.begin_object();
    json.field("gate", hold.gate);
    if (!hold.detail.empty()) {
      json.field("detail", hold.detail);
    }
    if (hold.opens_at) {
      write_time(json, "opens_at", *hold.opens_at);
    }
    json.end_object();
  }
  json.end_array();
}

/// What its holder said that it came to. What is hidden of the message is hidden here, too.
void write_result(JsonWriter& json, const Story& story) {
  const core::MessageState& state = story.state;
  if (state.status != Status::succeeded || !state.last || !state.last->told ||
      state.last->response_headers.empty() ||
      std::ranges::find(story.message->redact, "body") != story.message->redact.end()) {
    return;
  }
  const core::Attempt& last = *state.last;
  const std::string& type = last.response_headers.front().value;
  json.key("result");
  json.begin_object();
  json.field("content_type", type);
  json.key("body");
  if (is_json_type(type)) {
    json.whole(last.response_body);
  } else {
    json.string(last.response_body);
  }
  json.field("size", last.response_body.size());
  json.field("truncated", false);
  json.end_object();
}

http::Response job_response(const Story& story, const core::Inspected& now) {
  const core::Message& message = *story.message;
  const bool finished = core::is_final(story.state.status);
  // The records are younger than the core's word: an attempt that has ended since is not running.
  const bool running = !finished && now.running && story.state.attempts < now.fence.attempt;
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("id", core::to_text(message.id));
  json.field("status", shown_status(story.state.status, running));
  json.field("url", without_credentials(message.url));
  json.field("method", message.method);
  if (!message.queue.empty()) {
    json.field("queue", message.queue);
  }
  if (message.callback_of.seq != core::Seq{}) {
    json.field("callback_of", core::to_text(message.callback_of));
  }
  if (message.replay_of.seq != core::Seq{}) {
    json.field(message.edited ? "edited_from" : "retry_of", core::to_text(message.replay_of));
  }
  json.key("labels");
  json.begin_array();
  for (const std::string& label : message.labels) {
    json.string(label);
  }
  json.end_array();
  write_time(json, "created_at", message.created_at);
  if (finished) {
    write_time(json, "finished_at", story.state.finished_at);
  } else {
    write_time(json, "due_at", story.not_before());
    json.field("cancel_requested", story.state.cancel_requested);
  }
  json.key("trace");
  json.begin_object();
  json.field("trace_id", hex_of(message.trace.trace_id));
  if (!is_zero(message.trace.parent_span)) {
    json.field("parent_span_id", hex_of(message.trace.parent_span));
  }
  json.end_object();
  write_attempts(json, story, now, running);
  write_result(json, story);
  if (story.state.in_dlq) {
    json.field("dlq_id", dead_letter_id(dead_letter_key(story)));
  }
  // One that a receiver has says so: there is nothing to be seen of its work.
  const bool held = !finished && (!running || message.pull);
  write_holds(json, held ? now.holds : std::vector<core::Hold>{});
  json.end_object();
  return response;
}

Error no_such_job(std::string_view id) {
  return {ErrorKind::not_found, "no job " + std::string(id)};
}

}  // namespace

void get_job(const Services& services, Call& call) {
  const std::optional<Story> story = find_story(*services.submitter.durable_view(call.tenant->id),
                                                call.tenant->id, call.param, true);
  if (!story) {
    call.answer.refuse(no_such_job(call.param));
    return;
  }
  if (core::is_final(story->state.status)) {
    call.answer(job_response(*story, {}));
    return;
  }
  core::Inspect question{call.tenant->id, story->message->id};
  call.batcher.submit(question, [&services, tenant = call.tenant->id, id = std::move(call.param),
                                 answer = std::move(call.answer)](core::Reply reply) mutable {
    answering(answer, [&] {
      // Not found: it was finished and purged meanwhile.
      if (!reply && reply.error().kind != ErrorKind::not_found) {
        answer.refuse(reply.error());
        return;
      }
      const core::Inspected now = reply ? answer_of<core::Inspected>(reply) : core::Inspected{};
      const std::optional<Story> again =
          find_story(*services.submitter.durable_view(tenant), tenant, id, true);
      if (!again) {
        answer.refuse(no_such_job(id));
        return;
      }
      answer(job_response(*again, now));
    });
  });
}

}  // namespace hk::api::jobs
