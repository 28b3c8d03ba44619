// What an event is called: by it repeats are known, and receivers choose what to do.
#include <algorithm>

#include "api/sources/verify/verify.h"
#include "base/encoding.h"
#include "base/json_reader.h"

namespace hk::api::sources {

namespace {

/// A longer id is known by its digest.
constexpr std::size_t event_id_bytes_max = 256;
constexpr std::size_t event_type_bytes_max = 256;

std::string content_id(const Received& request) { return hex(security::sha256(request.body)); }

std::string first_header(const Received& request, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto value = request.header(name); value && !value->empty()) {
      return std::string(*value);
    }
  }
  return {};
}

std::string first_member(const Received& request,
                         std::initializer_list<std::string_view> pointers) {
  for (const std::string_view pointer : pointers) {
    if (auto found = find_text(request.body, *parse_pointer(pointer)); found.text) {
      return std::move(*found.text);
    }
  }
  return {};
}

std::expected<std::string, Failure> id_in_body(const Received& request, std::string_view pointer) {
  auto found = find_text(request.body, *parse_pointer(pointer));
  if (!found.is_json) {
    return not_json(pointer);
  }
  return found.text.value_or("");
}

/// "": it has none.
std::expected<std::string, Failure> preset_id(const Scheme& scheme, const Received& request) {
  switch (scheme.preset) {
    case Preset::stripe: return id_in_body(request, "/id");
    case Preset::github: return first_header(request, {"X-GitHub-Delivery"});
    case Preset::shopify: {
      std::string id = first_header(request, {"X-Shopify-Webhook-Id", "Shopify-Webhook-Id"});
      if (!id.empty()) {
        return id;
      }
      // The id of the event alone is that of all webhooks that tell of it.
      id = first_header(request, {"X-Shopify-Event-Id", "Shopify-Event-Id"});
      return id.empty() ? id
                        : id + '.' + first_header(request, {"X-Shopify-Topic", "Shopify-Topic"});
    }
    case Preset::slack: return id_in_body(request, "/event_id");
    case Preset::standard: return first_header(request, {"webhook-id", "svix-id"});
    case Preset::qstash: {
      std::string id = first_header(request, {"Upstash-Message-Id"});
      if (!id.empty()) {
        return id;
      }
      const std::string_view token = request.header("Upstash-Signature").value_or("");
      const std::size_t dot = std::min(token.find('.'), token.size());
      const std::string_view rest = token.substr(std::min(dot + 1, token.size()));
      const auto claims = unbase64url(rest.substr(0, rest.find('.')));
      return claims ? find_text(*claims, Pointer{"jti"}).text.value_or("") : "";
    }
    case Preset::twitter:
    case Preset::meta:
    case Preset::msgraph:
    case Preset::hmac:
    case Preset::basic:
    case Preset::apikey:
    case Preset::none: return std::string{};
  }
  std::unreachable();
}

/// X: the first top-level name that ends so.
std::string events_member(const Received& request) {
  JsonReader reader(request.body, 128);
  if (reader.kind() != JsonReader::Kind::object) {
    return {};
  }
  reader.begin_object();
  std::string_view name;
  while (reader.next_member(name)) {
    if (name.ends_with("_events")) {
      return std::string(name);
    }
    reader.skip();
  }
  return {};
}

std::string preset_type(const Scheme& scheme, const Received& request) {
  switch (scheme.preset) {
    case Preset::stripe: return first_member(request, {"/type"});
    case Preset::github: {
      std::string type = first_header(request, {"X-GitHub-Event"});
      const std::string action = first_member(request, {"/action"});
      return action.empty() ? type : type + '.' + action;
    }
    case Preset::shopify: {
      std::string type = first_header(request, {"X-Shopify-Topic", "Shopify-Topic"});
      std::ranges::replace(type, '/', '.');
      return type;
    }
    case Preset::slack: return first_member(request, {"/event/type", "/type"});
    case Preset::standard: return first_member(request, {"/type", "/eventType"});
    case Preset::twitter: return events_member(request);
    case Preset::meta: return first_member(request, {"/object"});
    case Preset::msgraph:
      return first_member(request, {"/value/0/changeType", "/value/0/lifecycleEvent"});
    case Preset::qstash:
    case Preset::hmac:
    case Preset::basic:
    case Preset::apikey:
    case Preset::none: return {};
  }
  std::unreachable();
}

std::expected<std::string, Failure> located(const Locator& where, const Received& request) {
  switch (where.kind) {
    case Locator::Kind::header: return first_header(request, {where.text});
    case Locator::Kind::body: return id_in_body(request, where.text);
    case Locator::Kind::content: return content_id(request);
    case Locator::Kind::fixed: return where.text;
    case Locator::Kind::preset:
    case Locator::Kind::none: break;
  }
  return std::string{};
}

}  // namespace

std::expected<EventNames, Failure> name_event(const Scheme& scheme, const Received& request) {
  EventNames names;
  if (scheme.event_id.kind != Locator::Kind::none) {
    auto id = scheme.event_id.kind == Locator::Kind::preset ? preset_id(scheme, request)
                                                            : located(scheme.event_id, request);
    if (!id) {
      return std::unexpected(std::move(id.error()));
    }
    if (id->empty()) {
      *id = content_id(request);
    } else if (id->size() > event_id_bytes_max) {
      *id = hex(security::sha256(*id));
    }
    names.id = std::move(*id);
  }
  if (scheme.event_type.kind == Locator::Kind::preset) {
    names.type = preset_type(scheme, request);
  } else {
    auto type = located(scheme.event_type, request);
    if (!type) {
      return std::unexpected(std::move(type.error()));
    }
    names.type = std::move(*type);
  }
  if (names.type.size() > event_type_bytes_max) {
    names.type.resize(event_type_bytes_max);
  }
  return names;
}

}  // namespace hk::api::sources
