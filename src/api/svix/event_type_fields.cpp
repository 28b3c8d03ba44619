#include "api/svix/event_type_fields.h"

#include <algorithm>
#include <utility>

#include "api/svix/rules.h"
#include "base/ascii.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t flags_max = 25;

bool is_version(std::string_view text) {
  return !text.empty() && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

/// JSON as given: versions and their schemas. "" = none.
std::string read_schemas(Input& in) {
  auto inner = in.object("schemas");
  if (!inner) {
    return {};
  }
  const std::string_view whole = *in.raw("schemas");
  for (const Input::Member& one : inner->members()) {
    if (!is_version(one.name)) {
      inner->refuse(one.name, "must be the number of a version: 1, 2, …");
    } else if (!one.value.starts_with('{')) {
      inner->refuse(one.name, "must be an object: a JSON Schema", decode_error);
    }
  }
  if (whole.size() > schemas_bytes_max) {
    in.refuse("schemas", "must have at most 256 KiB together");
    return {};
  }
  return std::string(whole);
}

/// `featureFlags`, else the older single one.
std::vector<std::string> read_flags(Input& in) {
  if (in.raw("featureFlags")) {
    return in.texts("featureFlags", {check_name, 1, flags_max})
        .value_or(std::vector<std::string>{});
  }
  const auto one = in.text("featureFlag", check_name);
  return one ? std::vector{*one} : std::vector<std::string>{};
}

void read_description(Input& in, std::optional<std::string>& out, Method method) {
  if (method != Method::patch) {
    out = in.required_text("description", check_description);
    return;
  }
  in.not_null("description");
  out = in.text("description", check_description);
}

std::optional<bool> read_flag(Input& in, std::string_view name, Method method) {
  if (method == Method::patch) {
    in.not_null(name);
    return in.boolean(name);
  }
  return in.boolean(name).value_or(false);
}

}  // namespace

webhook::EventTypeChanges read_event_type_changes(Input& in, Method method) {
  const bool all = method != Method::patch;
  webhook::EventTypeChanges changes;
  read_description(in, changes.description, method);
  changes.archived = read_flag(in, "archived", method);
  changes.deprecated = read_flag(in, "deprecated", method);
  if (all || in.given("schemas")) {
    changes.schemas = read_schemas(in);
  }
  if (all || in.given("groupName")) {
    changes.group = in.text("groupName", check_name).value_or("");
  }
  if (all || in.given("featureFlags") || in.given("featureFlag")) {
    changes.feature_flags = read_flags(in);
  }
  return changes;
}

webhook::EventType read_event_type(Input& in) {
  webhook::EventType type;
  type.name = in.required_text("name", check_name);
  webhook::EventTypeChanges read = read_event_type_changes(in, Method::post);
  type.description = std::move(read.description).value_or("");
  type.archived = read.archived.value_or(false);
  type.deprecated = read.deprecated.value_or(false);
  type.schemas = std::move(read.schemas).value_or("");
  type.group = std::move(read.group).value_or("");
  type.feature_flags = std::move(read.feature_flags).value_or(std::vector<std::string>{});
  return type;
}

}  // namespace hk::api::svix
