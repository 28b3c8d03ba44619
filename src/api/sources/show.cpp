// What there is of sources: themselves, and the events that were accepted.
#include "api/sources/handlers.h"
#include "api/sources/view.h"
#include "base/date.h"
#include "base/json.h"
#include "base/sortable_id.h"
#include "core/reader.h"

namespace hk::api::sources {

namespace {

void end_page(JsonWriter& json, const std::string& cursor) {
  json.end_array();
  if (!cursor.empty()) {
    json.field("cursor", cursor);
  }
  json.end_object();
}

void write_event(JsonWriter& json, const core::SourceEvent& event) {
  json.begin_object();
  json.field("messageId", core::to_text(event.message));
  json.field("eventId", event.event_id);
  json.field("eventType", event.event_type);
  json.field("receivedAt", rfc3339(event.received_at));
  json.field("bytes", event.bytes);
  json.field("duplicates", event.duplicates);
  if (event.unverified) {
    json.field("unverified", true);
  }
  json.end_object();
}

}  // namespace

void list_sources(const Services& services, Call& call) {
  const auto page = read_page(call.request);
  if (!page) {
    call.answer(refuse_fields(page.error(), call.answer.request_id()));
    return;
  }
  if (!page->cursor.empty() && !number_in_id(page->cursor, "src_")) {
    call.answer(refuse_fields(wrong_cursor(), call.answer.request_id()));
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  auto range = core::Range<core::Source>::of(tenant);
  if (!page->cursor.empty()) {
    range.after(tenant, page->cursor);
  }
  const auto found =
      services.submitter.durable_view(tenant)->scan<core::Source>(range, page->limit + 1);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("sources");
  json.begin_array();
  const std::string base = public_base(call.request);
  std::string cursor;
  for (std::size_t i = 0; i < found.size() && i < page->limit; ++i) {
    write_source(json, found[i], base);
    cursor = found[i].id;
  }
  end_page(json, found.size() > page->limit ? cursor : "");
  call.answer(std::move(response));
}

void get_source(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    call.answer.refuse(no_such_source(call.param));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_source(json, *source, public_base(call.request));
  call.answer(std::move(response));
}

void list_source_events(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    call.answer.refuse(no_such_source(call.param));
    return;
  }
  const auto page = read_page(call.request);
  if (!page) {
    call.answer(refuse_fields(page.error(), call.answer.request_id()));
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const core::Folder folder(source->id);
  auto range = core::Range<core::SourceEvent>::of(tenant, folder);
  if (!page->cursor.empty()) {
    const auto before = core::parse_message_id(page->cursor);
    if (!before) {
      call.answer(refuse_fields(wrong_cursor(), call.answer.request_id()));
      return;
    }
    range.before(tenant, folder, before->seq);
  }
  const auto found = services.submitter.durable_view(tenant)->scan<core::SourceEvent>(
      range, page->limit + 1, core::Order::descending);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("events");
  json.begin_array();
  std::string cursor;
  for (std::size_t i = 0; i < found.size() && i < page->limit; ++i) {
    write_event(json, found[i]);
    cursor = core::to_text(found[i].message);
  }
  end_page(json, found.size() > page->limit ? cursor : "");
  call.answer(std::move(response));
}

}  // namespace hk::api::sources
