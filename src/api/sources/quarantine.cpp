// Requests that were rejected: looked at, verified again, released or thrown away.
#include <algorithm>
#include <utility>

#include "api/qstash/publish.h"
#include "api/reply.h"
#include "api/sources/event_message.h"
#include "api/sources/handlers.h"
#include "api/sources/verify/hint.h"
#include "api/sources/view.h"
#include "base/date.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/json_input.h"
#include "base/sortable_id.h"
#include "core/header_map.h"
#include "core/limits.h"
#include "core/reader.h"
#include "observe/log.h"

namespace hk::api::sources {

namespace {

using core::Quarantined;

/// Their bodies are read with them.
constexpr std::size_t rows_at_once = 16;
constexpr std::size_t others_max = 100;  ///< sources whose secrets are tried for a hint

bool is_over(const Quarantined& request, Moment now) {
  return request.received_at + core::Limits{}.quarantine_kept_for <= now;
}

/// From that number on; `each` says whether to go on.
template <class Each>
void for_each_quarantined(core::Reader& reader, const core::Source& source, std::uint64_t first,
                          Each each) {
  for (;;) {
    const auto rows =
        reader.scan(core::Range<Quarantined>::of(source.tenant, core::Folder(source.id))
                        .from(source.tenant, core::Folder(source.id), first),
                    rows_at_once);
    for (const Quarantined& one : rows) {
      if (!each(one)) {
        return;
      }
      first = one.number + 1;
    }
    if (rows.size() < rows_at_once) {
      return;
    }
  }
}

/// What a request was when it came.
http::Request as_request(const Quarantined& kept) {
  http::Request request{.method = kept.method, .target = kept.target, .body = kept.body};
  for (const core::Header& one : kept.headers) {
    request.fields.push_back({one.name, one.value});
  }
  request.peer = kept.remote;
  return request;
}

Received as_received(const http::Request& request, Moment at) {
  return {.method = request.method,
          .target = request.target,
          .fields = request.fields,
          .body = request.body,
          .at = at};
}

core::ReleaseQuarantined::One to_release(const Services& services, Call& call,
                                         const OpenSource& source, const Quarantined& kept,
                                         http::Request request, EventNames names, bool unverified) {
  EventContent content{.names = std::move(names),
                       .remote = std::move(request.peer),
                       .received_at = kept.received_at,
                       .unverified = unverified};
  content.trace = qstash::read_trace(request, call.batcher.rng());
  content.fields = std::move(request.fields);
  content.body = std::move(request.body);
  return {.number = kept.number, .event = make_event(services.options, source, std::move(content))};
}

/// As the path names it.
std::optional<Quarantined> find_quarantined(const Services& services, const core::Source& source,
                                            const std::string& id, Moment now) {
  const auto number = number_in_id(id, "qrn_");
  if (!number) {
    return std::nullopt;
  }
  auto kept = services.submitter.durable_view(source.tenant)
                  ->get<Quarantined>({source.tenant, source.id, *number});
  return kept && quarantine_id(*kept) == id && !is_over(*kept, now) ? std::move(kept)
                                                                    : std::nullopt;
}

Error no_such_request(std::string_view id) {
  return {ErrorKind::not_found, "the quarantine of this source has no " + std::string(id)};
}

Result<OpenSourcePtr> open_for(const Services& services, const core::Source& source) {
  auto open =
      services.sources.find(services.submitter, services.options, services.now(), source.id);
  if (open && !*open) {
    return std::unexpected(no_such_source(source.name));
  }
  return open;
}

std::optional<std::string> hint_for(const Services& services, const core::Source& source,
                                    const Quarantined& kept) {
  if (kept.code != name_of(Fault::signature_mismatch) &&
      kept.code != name_of(Fault::credentials_mismatch)) {
    return std::nullopt;
  }
  const auto open = open_for(services, source);
  if (!open) {
    return std::nullopt;
  }
  const Scheme& scheme = (*open)->settings.scheme;
  std::vector<OtherSource> others;
  for (const core::Source& other :
       services.submitter.durable_view(source.tenant)
           ->scan(core::Range<core::Source>::of(source.tenant), others_max)) {
    const auto known = other.id == source.id ? Result<OpenSourcePtr>{} : open_for(services, other);
    if (!known || !*known) {
      continue;
    }
    OtherSource one{.name = other.name};
    for (const Key& key : (*known)->keys) {
      if (auto made = make_key(scheme, key.id, key.text, never)) {
        one.keys.push_back(std::move(*made));
      }
    }
    others.push_back(std::move(one));
  }
  const http::Request request = as_request(kept);
  const Received received = as_received(request, kept.received_at);
  if (verify(scheme, (*open)->keys, received)) {
    return "it would be accepted now: verify the quarantine again";
  }
  return find_hint(scheme, (*open)->keys, received, others);
}

void write_line(JsonWriter& json, const Quarantined& kept) {
  json.field("id", quarantine_id(kept));
  json.field("receivedAt", rfc3339(kept.received_at));
  json.field("bytes", kept.body.size());
  json.field("remote", kept.remote);
}

}  // namespace

void list_quarantine(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    call.answer.refuse(no_such_source(call.param));
    return;
  }
  const auto page = read_page(call.request);
  const auto after = page && !page->cursor.empty() ? number_in_id(page->cursor, "qrn_")
                                                   : std::optional<std::uint64_t>(0);
  if (!page || !after) {
    call.answer(refuse_fields(page ? wrong_cursor() : page.error(), call.answer.request_id()));
    return;
  }
  const Moment now = services.now();
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("quarantined");
  json.begin_array();
  std::string cursor;
  std::size_t shown = 0;
  std::size_t bytes = 0;
  bool more = false;
  const auto view = services.submitter.durable_view(call.tenant->id);
  for_each_quarantined(*view, *source, *after + 1, [&](const Quarantined& kept) {
    if (is_over(kept, now)) {
      return true;
    }
    if (shown == page->limit || bytes > services.options.listing_bytes_max) {
      more = true;
      return false;
    }
    ++shown;
    bytes += kept.bytes();
    json.begin_object();
    write_line(json, kept);
    json.key("reason");
    json.begin_object();
    json.field("code", kept.code);
    json.field("message", kept.message);
    json.end_object();
    json.end_object();
    cursor = quarantine_id(kept);
    return true;
  });
  json.end_array();
  if (more) {
    json.field("cursor", cursor);
  }
  json.end_object();
  call.answer(std::move(response));
}

void get_quarantined(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    call.answer.refuse(no_such_source(call.param));
    return;
  }
  const auto kept = find_quarantined(services, *source, call.more_params.front(), services.now());
  if (!kept) {
    call.answer.refuse(no_such_request(call.more_params.front()));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_line(json, *kept);
  json.field("method", kept->method);
  json.field("target", kept->target);
  core::write_header_map(json, "headers", kept->headers);
  if (valid_utf8(kept->body)) {
    json.field("body", kept->body);
  } else {
    json.field("bodyBase64", base64(kept->body));
  }
  json.key("reason");
  json.begin_object();
  json.field("code", kept->code);
  json.field("message", kept->message);
  json.key("details");
  json.begin_object();
  if (const auto details = ExactJson::parse(kept->details, json_depth_max)) {
    for (const auto& [name, value] : details->members) {
      json.key(name);
      json.whole(value.to_text());
    }
  }
  if (const auto hint = hint_for(services, *source, *kept)) {
    json.field("hint", *hint);
  } else {
    json.key("hint");
    json.null();
  }
  json.end_object();
  json.end_object();
  json.end_object();
  call.answer(std::move(response));
}

/// In the order in which they came: the first of several copies is the event, the others repeat it.
Write reverify_quarantine(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const auto open = open_for(services, *source);
  if (!open) {
    return open.error();
  }
  const OpenSource& now_open = **open;
  const Scheme& scheme = now_open.settings.scheme;
  const Moment now = services.now();
  core::ReleaseQuarantined command{.tenant = source->tenant, .source = source->id};
  std::size_t checked = 0;
  const auto view = services.submitter.durable_view(source->tenant);
  for_each_quarantined(*view, *source, 1, [&](const Quarantined& kept) {
    if (is_over(kept, now)) {
      return true;
    }
    ++checked;
    http::Request request = as_request(kept);
    const Received received = as_received(request, kept.received_at);
    if (!verify(scheme, now_open.keys, received) || verified_handshake(scheme, received)) {
      return true;
    }
    if (auto names = name_event(scheme, received)) {
      command.requests.push_back(
          to_release(services, call, now_open, kept, std::move(request), std::move(*names), false));
    }
    return true;
  });
  const std::size_t invalid = checked - command.requests.size();
  return Planned{.command = std::move(command), .tell = [invalid](const core::Reply& reply) {
                   using Outcome = core::QuarantineReleased::Outcome;
                   const auto& all = answer_of<core::QuarantineReleased>(reply).requests;
                   const auto count = [&all](Outcome outcome) {
                     return static_cast<std::size_t>(
                         std::ranges::count(all, outcome, &core::QuarantineReleased::One::outcome));
                   };
                   http::Response response;
                   JsonWriter json(response.body);
                   json.begin_object();
                   json.field("checked", invalid + all.size() - count(Outcome::gone));
                   json.field("released", count(Outcome::released));
                   json.field("duplicates", count(Outcome::duplicate));
                   json.field("stillInvalid", invalid);
                   json.end_object();
                   return response;
                 }};
}

Write release_quarantined(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const std::string& id = call.more_params.front();
  const auto kept = find_quarantined(services, *source, id, services.now());
  if (!kept) {
    return no_such_request(id);
  }
  const auto open = open_for(services, *source);
  if (!open) {
    return open.error();
  }
  http::Request request = as_request(*kept);
  const Received received = as_received(request, kept->received_at);
  auto names = name_event((*open)->settings.scheme, received);
  if (!names) {
    Scheme by_content;
    by_content.event_id.kind = Locator::Kind::content;
    names = name_event(by_content, received);
  }
  core::ReleaseQuarantined command{
      .tenant = source->tenant, .source = source->id, .unverified = true};
  command.requests.push_back(
      to_release(services, call, **open, *kept, std::move(request), std::move(*names), true));
  return Planned{.command = std::move(command),
                 .tell = [id](const core::Reply& reply) -> Said {
                   const auto& one = answer_of<core::QuarantineReleased>(reply).requests.front();
                   if (one.outcome == core::QuarantineReleased::Outcome::gone) {
                     return no_such_request(id);
                   }
                   http::Response response;
                   JsonWriter json(response.body);
                   json.begin_object();
                   json.field("messageId", core::to_text(one.message));
                   if (one.outcome == core::QuarantineReleased::Outcome::duplicate) {
                     json.field("duplicate", true);
                   }
                   json.end_object();
                   return response;
                 },
                 .done = when_done([id, name = source->name, tenant = source->tenant.value()] {
                   observe::log(observe::Level::warn, "source.released_unverified",
                                {{"tenant", tenant}, {"source", name}, {"request", id}});
                 })};
}

Write drop_quarantined(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const std::string& id = call.more_params.front();
  const auto kept = find_quarantined(services, *source, id, services.now());
  if (!kept) {
    return no_such_request(id);
  }
  return Planned{.command = core::DropQuarantined{source->tenant, source->id, kept->number},
                 .tell = [](const core::Reply& /*reply*/) {
                   http::Response response;
                   response.status = 204;
                   return response;
                 }};
}

}  // namespace hk::api::sources
