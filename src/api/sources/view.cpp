#include "api/sources/view.h"

#include <array>

#include "api/parameters.h"
#include "api/problem.h"
#include "base/date.h"
#include "base/json.h"
#include "base/json_input.h"
#include "base/sortable_id.h"

namespace hk::api::sources {

namespace {

constexpr Problem wrong_fields_problem{"invalid", "Invalid request"};

void write_moment(JsonWriter& json, std::string_view name, Moment at, bool given) {
  json.key(name);
  if (given) {
    json.string(rfc3339(at));
  } else {
    json.null();
  }
}

}  // namespace

http::Response refuse_fields(const WrongFields& wrong, std::string_view request_id) {
  const WrongField& first = wrong.front();
  return problem(wrong_fields_problem, 422,
                 (first.pointer.empty() ? "" : first.pointer + ": ") + first.detail, request_id,
                 [&wrong](JsonWriter& json) {
                   json.key("errors");
                   json.begin_array();
                   for (const WrongField& one : wrong) {
                     json.begin_object();
                     json.field("pointer", one.pointer);
                     json.field("detail", one.detail);
                     json.end_object();
                   }
                   json.end_array();
                 });
}

std::string public_base(const http::Request& request) {
  const std::string host(request.header("Host").value_or("localhost"));
  return (request.secure ? "https://" : "http://") + host;
}

void write_secret(JsonWriter& json, const core::SourceSecret& secret) {
  json.begin_object();
  json.field("id", secret.id);
  json.field("hint", secret.hint);
  json.field("createdAt", rfc3339(secret.created_at));
  write_moment(json, "expiresAt", secret.expires_at, secret.expires_at != never);
  json.end_object();
}

void write_source(JsonWriter& json, const core::Source& source, std::string_view base) {
  json.begin_object();
  json.field("id", source.id);
  std::string preset;
  if (const auto document = ExactJson::parse(source.settings, json_depth_max)) {
    for (const auto& [name, value] : document->members) {
      json.key(name);
      json.whole(value.to_text());
      if (name == "preset") {
        preset = value.text;
      }
    }
  }
  json.field("url", std::string(base) + "/in/" +
                        (preset == name_of(Preset::none) ? source.id : source.name));
  json.key("secrets");
  json.begin_array();
  for (const core::SourceSecret& one : source.secrets) {
    write_secret(json, one);
  }
  json.end_array();
  const core::SourceStats& stats = source.stats;
  json.key("stats");
  json.begin_object();
  json.field("accepted", stats.accepted);
  json.field("duplicates", stats.duplicates);
  json.field("invalid", stats.invalid);
  json.field("quarantined", source.quarantine.items);
  json.field("dropped", stats.dropped);
  write_moment(json, "lastAcceptedAt", stats.last_accepted_at, stats.accepted != 0);
  json.end_object();
  json.field("createdAt", rfc3339(source.created_at));
  json.field("updatedAt", rfc3339(source.updated_at));
  json.end_object();
}

std::optional<core::Source> find_source(const Services& services, core::TenantId tenant,
                                        const std::string& name) {
  const auto view = services.submitter.durable_view(tenant);
  const auto named = view->get<core::SourceName>(name);
  if (!named || named->tenant != tenant) {
    return std::nullopt;
  }
  return view->get<core::Source>({tenant, named->id});
}

Error no_such_source(std::string_view name) {
  return {ErrorKind::not_found, "there is no source " + std::string(name)};
}

std::string quarantine_id(const core::Quarantined& request) {
  return sortable_id("qrn_", request.received_at, request.number, request.nonce);
}

std::expected<PageQuery, WrongFields> read_page(const http::Request& request) {
  constexpr std::array<std::string_view, 2> names = {"limit", "cursor"};
  const auto parameters = Parameters::from_query(request.query());
  if (!parameters) {
    return std::unexpected(WrongFields{{"", parameters.error().message}});
  }
  if (auto known = parameters->only(names); !known) {
    return std::unexpected(WrongFields{{"", known.error().message}});
  }
  const auto limit = parameters->number("limit");
  const auto cursor = parameters->one("cursor");
  if (!limit || (*limit && (**limit == 0 || **limit > PageQuery::limit_max))) {
    return std::unexpected(WrongFields{{"/limit", "must be a whole number from 1 to 250"}});
  }
  if (!cursor) {
    return std::unexpected(wrong_cursor());
  }
  PageQuery page;
  page.limit = static_cast<std::size_t>(limit->value_or(page.limit));
  page.cursor = cursor->value_or("");
  return page;
}

WrongFields wrong_cursor() {
  return {{"/cursor", "must be the cursor of an earlier answer of this list"}};
}

}  // namespace hk::api::sources
