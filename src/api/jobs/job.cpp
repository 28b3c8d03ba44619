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
#include "core/webhook/read.h"
#include "observe/trace.h"

namespace hk::api::jobs {

namespace {

using core::Status;
namespace webhook = core::webhook;

std::string_view shown_status(Status status, bool running) {
  return status_name(core::is_final(status) ? status : running ? Status::running : Status::pending);
}

/// A user name and password in a URL are for the receiver, not for those who read a job.
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

void write_time(JsonWriter& json, std::string_view name, Moment moment) {
  json.field(name, rfc3339(moment));
}

void write_attempt(JsonWriter& json, const core::Attempt& attempt, core::PartitionId partition) {
  json.begin_object();
  json.field("number", attempt.fence.attempt);
  json.field("fence", fence_text(partition, attempt.fence));
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

void write_attempts(JsonWriter& json, const Story& story, const core::Inspected& now, bool running,
                    core::PartitionId partition) {
  json.key("attempts");
  json.begin_array();
  for (const core::Attempt& attempt : story.attempts) {
    write_attempt(json, attempt, partition);
  }
  if (running) {
    json.begin_object();
    json.field("number", now.fence.attempt);
    json.field("fence", fence_text(partition, now.fence));
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

/// A message, and what it is known by.
struct Job {
  Story story{};
  std::string id{};
  std::string url{};
};

/// "<message id>.<endpoint id>": a delivery of a webhook, the newest of that message to that
/// endpoint.
std::optional<Job> find_delivery(core::Reader& reader, core::TenantId tenant,
                                 std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::string_view event_id = text.substr(0, dot);
  const std::string_view endpoint_id = text.substr(dot + 1);
  const auto event_number = webhook::number_in(event_id, webhook::event_prefix);
  const auto endpoint_number = webhook::number_in(endpoint_id, webhook::endpoint_prefix);
  if (!event_number || !endpoint_number) {
    return std::nullopt;
  }
  const auto rows =
      reader.scan(core::Range<webhook::DeliveryRow>::of(tenant, *endpoint_number, *event_number), 1,
                  core::Order::descending);
  Job job{.id = std::string(text)};
  if (!rows.empty()) {
    job.story = read_story(reader, rows.front().delivery, true);
  }
  if (!job.story.message || !job.story.message->webhook) {
    return std::nullopt;
  }
  const core::WebhookPart& part = *job.story.message->webhook;
  const auto event = reader.get<webhook::Event>({tenant, part.application, part.event});
  if (!event || webhook::id_of(*event) != event_id) {
    return std::nullopt;
  }
  const auto endpoint = reader.get<webhook::Endpoint>({tenant, part.application, part.endpoint});
  if (endpoint && webhook::id_of(*endpoint) != endpoint_id) {
    return std::nullopt;
  }
  job.url = endpoint ? endpoint->url : std::string();  // it was deleted
  return job;
}

std::optional<Job> find_job(core::Reader& reader, core::TenantId tenant, const std::string& id) {
  if (id.contains('.')) {
    return find_delivery(reader, tenant, id);
  }
  auto story = find_story(reader, tenant, id, true);
  if (!story) {
    return std::nullopt;
  }
  Job job{.story = std::move(*story), .id = id};
  job.url = job.story.message->url;
  return job;
}

std::string_view reason_of(core::CancelReason reason) {
  switch (reason) {
    case core::CancelReason::none: return "";
    case core::CancelReason::application_deleted: return "application_deleted";
    case core::CancelReason::endpoint_deleted: return "endpoint_deleted";
    case core::CancelReason::payload_expunged: return "payload_expunged";
    case core::CancelReason::hold_expired: return "hold_expired";
    case core::CancelReason::hold_overflow: return "hold_overflow";
    case core::CancelReason::skipped: return "skipped";
    case core::CancelReason::canceled: return "canceled";
  }
  std::unreachable();
}

http::Response job_response(const Job& job, const core::Inspected& now,
                            core::PartitionId partition) {
  const Story& story = job.story;
  const core::Message& message = *story.message;
  const bool finished = core::is_final(story.state.status);
  // The records are younger than the core's word: an attempt that has ended since is not running.
  const bool running = !finished && now.running && story.state.attempts < now.fence.attempt;
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("id", job.id);
  json.field("status", shown_status(story.state.status, running));
  json.field("url", without_credentials(job.url));
  json.field("method", message.method);
  if (!message.queue.empty() && !message.webhook) {
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
    if (story.state.cancel_reason != core::CancelReason::none) {
      json.field("cancel_reason", reason_of(story.state.cancel_reason));
    }
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
  write_attempts(json, story, now, running, partition);
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
  const std::optional<Job> job =
      find_job(*services.submitter.durable_view(call.tenant->id), call.tenant->id, call.param);
  if (!job) {
    call.answer.refuse(no_such_job(call.param));
    return;
  }
  if (core::is_final(job->story.state.status)) {
    call.answer(job_response(*job, {}, call.tenant->partition));
    return;
  }
  core::Inspect question{call.tenant->id, job->story.message->id};
  call.batcher.submit(question, [&services, tenant = call.tenant, id = std::move(call.param),
                                 answer = std::move(call.answer)](core::Reply reply) mutable {
    answering(answer, [&] {
      // Not found: it was finished and purged meanwhile.
      if (!reply && reply.error().kind != ErrorKind::not_found) {
        answer.refuse(reply.error());
        return;
      }
      const core::Inspected now = reply ? answer_of<core::Inspected>(reply) : core::Inspected{};
      const std::optional<Job> again =
          find_job(*services.submitter.durable_view(tenant->id), tenant->id, id);
      if (!again) {
        answer.refuse(no_such_job(id));
        return;
      }
      answer(job_response(*again, now, tenant->partition));
    });
  });
}

}  // namespace hk::api::jobs
