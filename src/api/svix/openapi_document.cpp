#include "api/svix/openapi_document.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <utility>

#include "api/svix/event_type_fields.h"
#include "api/svix/rules.h"
#include "api/svix/yaml.h"
#include "base/ascii.h"

namespace hk::api::svix {

namespace {

namespace js = boost::json;
using core::webhook::EventType;

constexpr std::size_t nested_refs_max = 32;
constexpr std::size_t spec_depth_max = 128;
constexpr std::size_t imported_max = 1000;

std::unexpected<Error> refuse_document(std::string why) {
  return fail(ErrorKind::invalid_argument, std::move(why));
}

Result<js::value> parse_document(std::string_view text) {
  js::parse_options options;
  options.max_depth = spec_depth_max;
  boost::system::error_code error;
  js::value value = js::parse({text.data(), text.size()}, error, {}, options);
  return error ? parse_yaml(text) : Result<js::value>(std::move(value));
}

const js::value* member_of(const js::value& value, std::string_view name) {
  const js::object* const object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains({name.data(), name.size()});
}

std::string text_of_member(const js::value& value, std::string_view name) {
  const js::value* const found = member_of(value, name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// Values of a document without its references.
class Inliner {
 public:
  explicit Inliner(const js::value& document) : document_(document) {}

  /// What a value is, where it may be a reference itself.
  Result<js::value> inlined(const js::value& value, std::size_t depth = 0) {
    if (depth > spec_depth_max || ++values_ > values_max) {
      return refuse_document("what the references lead to is too large");
    }
    if (const js::value* const ref = member_of(value, "$ref")) {
      return followed(*ref, depth);
    }
    if (const js::object* const object = value.if_object()) {
      js::object copy;
      for (const auto& member : *object) {
        Result<js::value> one = inlined(member.value(), depth + 1);
        if (!one) {
          return one;
        }
        copy.emplace(member.key(), std::move(*one));
      }
      return js::value(std::move(copy));
    }
    if (const js::array* const array = value.if_array()) {
      js::array copy;
      for (const js::value& item : *array) {
        Result<js::value> one = inlined(item, depth + 1);
        if (!one) {
          return one;
        }
        copy.push_back(std::move(*one));
      }
      return js::value(std::move(copy));
    }
    return value;
  }

 private:
  static constexpr std::size_t values_max = 100'000;

  Result<js::value> followed(const js::value& ref, std::size_t depth) {
    const std::string path = ref.is_string() ? std::string(ref.get_string()) : std::string();
    if (!path.starts_with("#/")) {
      return refuse_document("$ref must lead into the same document: " + path);
    }
    if (std::ranges::find(open_, path) != open_.end()) {
      return refuse_document("references lead round in a circle: " + path);
    }
    if (open_.size() == nested_refs_max) {
      return refuse_document("references are nested too deeply: " + path);
    }
    boost::system::error_code error;
    const js::value* const target =
        document_.find_pointer({path.data() + 1, path.size() - 1}, error);
    if (target == nullptr || error) {
      return refuse_document("$ref leads nowhere: " + path);
    }
    open_.push_back(path);
    Result<js::value> value = inlined(*target, depth + 1);
    open_.pop_back();
    return value;
  }

  const js::value& document_;
  std::vector<std::string> open_;
  std::size_t values_ = 0;
};

/// The operation of a webhook: `post`, else the first that is one.
const js::value* operation_of(const js::value& item) {
  for (const std::string_view method : {"post", "put", "get", "patch", "delete"}) {
    if (const js::value* const found = member_of(item, method); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

/// A text as an event type may have it.
std::string as_description(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  text = std::string(trim(text));
  constexpr std::size_t described_bytes_max = 4096;
  std::size_t end = std::min(text.size(), described_bytes_max);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;  // not within a character
  }
  text.resize(end);
  return text;
}

Result<EventType> type_of(std::string name, const js::value& given, Inliner& inliner) {
  if (std::string wrong = check_name(name); !wrong.empty()) {
    return refuse_document("webhooks: the name \"" + name + "\" " + wrong);
  }
  Result<js::value> item = inliner.inlined(given);
  if (!item) {
    return std::unexpected(item.error());
  }
  EventType type{.name = std::move(name)};
  const js::value* const operation = operation_of(*item);
  if (operation == nullptr) {
    return type;
  }
  const js::value* const body = member_of(*operation, "requestBody");
  type.description = text_of_member(*operation, "description");
  if (type.description.empty()) {
    type.description = text_of_member(*operation, "summary");
  }
  if (type.description.empty() && body != nullptr) {
    type.description = text_of_member(*body, "description");
  }
  type.description = as_description(std::move(type.description));
  if (const js::value* const flag = member_of(*operation, "deprecated")) {
    type.deprecated = flag->is_bool() && flag->get_bool();
  }
  if (const js::value* const tags = member_of(*operation, "tags");
      tags != nullptr && tags->is_array() && !tags->get_array().empty() &&
      tags->get_array().front().is_string()) {
    const std::string first(tags->get_array().front().get_string());
    type.group = check_name(first).empty() ? first : "";
  }
  const js::value* const content = body == nullptr ? nullptr : member_of(*body, "content");
  const js::value* const json =
      content == nullptr ? nullptr : member_of(*content, "application/json");
  const js::value* const schema = json == nullptr ? nullptr : member_of(*json, "schema");
  if (schema != nullptr && schema->is_object()) {
    type.schemas = js::serialize(js::object{{"1", *schema}});
    if (type.schemas.size() > schemas_bytes_max) {
      return refuse_document("the schema of " + type.name + " has more than 256 KiB");
    }
  }
  return type;
}

}  // namespace

Result<std::vector<EventType>> read_openapi(std::string_view text, core::TenantId tenant) {
  Result<js::value> document = parse_document(text);
  if (!document) {
    return std::unexpected(document.error());
  }
  if (!document->is_object()) {
    return refuse_document("must be an OpenAPI document: an object");
  }
  const js::value* webhooks = member_of(*document, "webhooks");
  webhooks = webhooks == nullptr ? member_of(*document, "x-webhooks") : webhooks;
  if (webhooks == nullptr || !webhooks->is_object()) {
    return refuse_document("must have webhooks (or x-webhooks): an object with one for each name");
  }
  if (webhooks->get_object().size() > imported_max) {
    return refuse_document("must have at most 1000 webhooks");
  }
  std::vector<EventType> types;
  Inliner inliner(*document);
  for (const auto& one : webhooks->get_object()) {
    Result<EventType> type = type_of(std::string(one.key()), one.value(), inliner);
    if (!type) {
      return std::unexpected(type.error());
    }
    type->tenant = tenant;
    types.push_back(std::move(*type));
  }
  return types;
}

}  // namespace hk::api::svix
