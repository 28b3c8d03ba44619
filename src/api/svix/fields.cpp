#include "api/svix/fields.h"

#include <algorithm>
#include <utility>

#include "api/svix/rules.h"
#include "base/ascii.h"
#include "base/json.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t channels_max = 10;
constexpr std::size_t event_types_max = 10'000;
constexpr std::size_t metadata_members_max = 2048;

/// A text that may be unset: absent stays as it is in a PATCH, and is none otherwise.
std::optional<std::string> read_text_change(Input& in, std::string_view name, Method method,
                                            Rule rule) {
  if (method == Method::patch && !in.given(name)) {
    return std::nullopt;
  }
  return in.text(name, rule).value_or("");
}

/// The same of a text that every thing has.
std::optional<std::string> read_needed_change(Input& in, std::string_view name, Method method,
                                              Rule rule) {
  if (method != Method::patch) {
    return in.required_text(name, rule);
  }
  in.not_null(name);
  return in.text(name, rule);
}

std::optional<std::string> read_uid_change(Input& in, Method method, bool by_id, Rule rule) {
  if (method == Method::put && !in.raw("uid") && !by_id) {
    return std::nullopt;
  }
  return read_text_change(in, "uid", method, rule);
}

/// The member that says which event types; `eventTypes` goes before its older name.
std::string_view event_types_name(const Input& in) {
  return in.given("eventTypes") || !in.given("filterTypes") ? "eventTypes" : "filterTypes";
}

std::vector<std::string> read_event_types(Input& in) {
  return in.texts(event_types_name(in), {check_name, 1, event_types_max})
      .value_or(std::vector<std::string>{});
}

std::vector<std::string> read_channels(Input& in) {
  return in.texts("channels", {check_channel, 1, channels_max})
      .value_or(std::vector<std::string>{});
}

/// By its destination gate: "http://localhost:80".
bool is_this_machine(std::string_view host) {
  host.remove_prefix(std::min(host.find("://") + 3, host.size()));
  host = host.substr(0, host.rfind(':'));
  return host == "localhost" || host.ends_with(".localhost");
}

/// The URL and its host. nullopt: absent, or wrong.
std::optional<std::pair<std::string, std::string>> read_url(const Services& services, Input& in) {
  auto url = in.text("url");
  if (!url) {
    return std::nullopt;
  }
  auto host = services.options.check_destination(*url);
  if (host && is_this_machine(*host)) {
    // The one name whose address is known; others are judged when they are dialled.
    if (auto address = services.options.check_destination("http://127.0.0.1/"); !address) {
      host = std::unexpected(std::move(address.error()));
    }
  }
  if (!host) {
    in.refuse("url", host.error().message);
    return std::nullopt;
  }
  return std::pair{std::move(*url), std::move(*host)};
}

/// In the order of the fields, so that what is wrong is told in it.
struct EndpointIn {
  std::optional<std::pair<std::string, std::string>> url{};
  std::optional<std::string> description{};
  std::optional<std::string> uid{};
  std::optional<bool> disabled{};
  std::optional<std::vector<std::string>> event_types{};
  std::optional<std::vector<std::string>> channels{};
  std::optional<std::uint32_t> rate{};
};

EndpointIn read_endpoint_in(const Services& services, Input& in, Method method, bool by_id,
                            bool operational) {
  const bool patch = method == Method::patch;
  EndpointIn read;
  if (patch) {
    in.not_null("url");
  } else if (!in.raw("url")) {
    in.refuse("url", "must be given", decode_error);
  }
  read.url = read_url(services, in);
  if (patch) {
    in.not_null("description");
  }
  read.description = in.text("description", check_description);
  if (!patch && !read.description) {
    read.description.emplace();
  }
  read.uid = read_uid_change(in, method, by_id, check_endpoint_uid);
  if (patch) {
    in.not_null("disabled");
  }
  read.disabled = in.boolean("disabled");
  if (!patch && !read.disabled) {
    read.disabled = false;
  }
  if (!patch || in.given(event_types_name(in))) {
    read.event_types = read_event_types(in);
  }
  if (!operational && (!patch || in.given("channels"))) {
    read.channels = read_channels(in);
  }
  read.rate = read_rate(in);
  if (!patch && !read.rate) {
    read.rate = 0;
  }
  return read;
}

/// Has it a header of that name in any case?
bool has_header(const std::vector<core::Header>& headers, std::string_view name) {
  return std::ranges::any_of(
      headers, [name](const core::Header& one) { return equals_ignoring_case(one.name, name); });
}

HeaderChanges read_header_map(Input& in, std::string_view name, bool nulls, bool of_message) {
  HeaderChanges changes;
  const auto pairs = in.pairs(name, nulls, headers_max);
  if (!pairs) {
    return changes;
  }
  for (const auto& [header, value] : *pairs) {
    std::string wrong = check_header_name(header, of_message);
    if (wrong.empty() && value) {
      wrong = check_header_value(*value);
    }
    if (wrong.empty() && has_header(changes.set, header)) {
      wrong = "is given twice";
    }
    if (!wrong.empty()) {
      in.refuse_item(name, header, std::move(wrong));
    } else if (value) {
      changes.set.push_back({header, *value});
    } else {
      changes.remove.push_back(header);
    }
  }
  return changes;
}

}  // namespace

std::optional<webhook::Metadata> read_metadata(Input& in) {
  const auto pairs = in.pairs("metadata", false, metadata_members_max);
  if (!pairs) {
    return std::nullopt;
  }
  webhook::Metadata metadata;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (const auto& [name, value] : *pairs) {
    metadata[name] = *value;
    json.field(name, *value);
  }
  json.end_object();
  if (text.size() > metadata_bytes_max) {
    in.refuse("metadata",
              "must have at most " + std::to_string(metadata_bytes_max) + " bytes as JSON");
    return std::nullopt;
  }
  return metadata;
}

std::optional<std::uint32_t> read_rate(Input& in) {
  const std::string_view name =
      in.given("throttleRate") || !in.given("rateLimit") ? "throttleRate" : "rateLimit";
  if (!in.given(name)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(in.integer(name, 1, rate_max).value_or(0));
}

webhook::ApplicationFields read_application(Input& in) {
  webhook::ApplicationFields fields;
  fields.name = in.required_text("name", check_application_name);
  fields.uid = in.text("uid", check_application_uid).value_or("");
  fields.rate = read_rate(in).value_or(0);
  fields.metadata = read_metadata(in).value_or(webhook::Metadata{});
  return fields;
}

webhook::ApplicationChanges read_application_changes(Input& in, Method method, bool by_id) {
  webhook::ApplicationChanges changes;
  changes.name = read_needed_change(in, "name", method, check_application_name);
  changes.uid = read_uid_change(in, method, by_id, check_application_uid);
  changes.rate = read_rate(in);
  changes.metadata = read_metadata(in);
  if (method == Method::put) {
    changes.rate = changes.rate.value_or(0);
  }
  if (!changes.metadata && (method == Method::put || in.is_null("metadata"))) {
    changes.metadata.emplace();
  }
  return changes;
}

std::optional<webhook::ApplicationFields> read_inner_application(Input& in, std::string_view ref) {
  auto inner = in.object("application");
  if (!inner) {
    return std::nullopt;
  }
  webhook::ApplicationFields fields = read_application(*inner);
  if (!inner->raw("uid")) {
    inner->refuse("uid", "The application must have a uid, and the path must be that uid.",
                  "application_uid_missing");
  } else if (!fields.uid.empty() && fields.uid != ref) {
    inner->refuse("uid", "The uid of the application must be that of the path.",
                  "application_uid_mismatch");
  }
  return fields;
}

webhook::EndpointFields read_endpoint(const Services& services, Input& in, bool operational) {
  EndpointIn read = read_endpoint_in(services, in, Method::post, true, operational);
  webhook::EndpointFields fields;
  if (read.url) {
    fields.url = std::move(read.url->first);
    fields.host = std::move(read.url->second);
  }
  fields.description = read.description.value_or("");
  fields.uid = read.uid.value_or("");
  fields.disabled = read.disabled.value_or(false);
  fields.event_types = std::move(read.event_types).value_or(std::vector<std::string>{});
  fields.channels = std::move(read.channels).value_or(std::vector<std::string>{});
  fields.rate = read.rate.value_or(0);
  fields.headers = read_headers(in, "headers", false);
  fields.metadata = read_metadata(in).value_or(webhook::Metadata{});
  return fields;
}

webhook::EndpointChanges read_endpoint_changes(const Services& services, Input& in, Method method,
                                               bool by_id, bool operational) {
  EndpointIn read = read_endpoint_in(services, in, method, by_id, operational);
  webhook::EndpointChanges changes;
  changes.url = std::move(read.url);
  changes.description = std::move(read.description);
  changes.uid = std::move(read.uid);
  changes.disabled = read.disabled;
  changes.event_types = std::move(read.event_types);
  changes.channels = std::move(read.channels);
  changes.rate = read.rate;
  changes.metadata = read_metadata(in);
  if (!changes.metadata && (method == Method::put || in.is_null("metadata"))) {
    changes.metadata.emplace();
  }
  return changes;
}

std::vector<core::Header> read_headers(Input& in, std::string_view name, bool of_message) {
  return read_header_map(in, name, false, of_message).set;
}

HeaderChanges read_header_changes(Input& in) {
  HeaderChanges changes = read_header_map(in, "headers", true, false);
  if (auto more = in.texts("deleteHeaders", {.most = headers_max * 2})) {
    changes.remove.insert(changes.remove.end(), more->begin(), more->end());
  }
  return changes;
}

}  // namespace hk::api::svix
