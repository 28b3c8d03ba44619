// The parameters of an action in AWS JSON 1.0: one object, absent and null the same, names nobody
// asks for ignored.
#include <cmath>
#include <utility>

#include "api/aws/input_source.h"
#include "base/encoding.h"
#include "base/json_input.h"

namespace hk::api::aws {

namespace {

namespace json = boost::json;

/// A message of 1 MiB as escaped text and Base64, in a batch, with its attributes.
constexpr std::size_t body_bytes_max = std::size_t{10} * 1024 * 1024;

std::unexpected<Refusal> wrong_type(std::string_view name, std::string_view wanted) {
  return refuse(ErrorCode::serialization,
                std::string(name) + " must be " + std::string(wanted) + ".");
}

Checked<std::optional<std::string_view>> text_of(const json::object& object,
                                                 std::string_view name) {
  const json::value* const value = member(object, name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (const json::string* const text = value->if_string()) {
    return std::string_view(text->data(), text->size());
  }
  return wrong_type(name, "a string");
}

Checked<std::optional<std::string>> blob_of(const json::object& object, std::string_view name) {
  const Checked<std::optional<std::string_view>> text = text_of(object, name);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (!*text) {
    return std::nullopt;
  }
  std::optional<std::string> bytes = unbase64(**text);
  if (!bytes) {
    return wrong_type(name, "Base64");
  }
  return bytes;
}

/// An object or array of that name; null when absent.
template <class T>
Checked<const T*> container_of(const json::object& object, std::string_view name) {
  const json::value* const value = member(object, name);
  if (value == nullptr) {
    return nullptr;
  }
  if constexpr (std::is_same_v<T, json::object>) {
    if (value->is_object()) return &value->get_object();
    return wrong_type(name, "an object");
  } else {
    if (value->is_array()) return &value->get_array();
    return wrong_type(name, "a list");
  }
}

Checked<MessageAttribute> attribute_of(const json::object& object) {
  MessageAttribute attribute;
  const auto type = text_of(object, "DataType");
  const auto text = text_of(object, "StringValue");
  auto bytes = blob_of(object, "BinaryValue");
  if (!type || !text) {
    return std::unexpected(type ? text.error() : type.error());
  }
  if (!bytes) {
    return std::unexpected(std::move(bytes.error()));
  }
  attribute.data_type = type->value_or("");
  if (*text) {
    attribute.string_value = std::string(**text);
  }
  attribute.binary_value = std::move(*bytes);
  for (const std::string_view name : {"StringListValues", "BinaryListValues"}) {
    const auto list = container_of<json::array>(object, name);
    if (!list) {
      return std::unexpected(list.error());
    }
    attribute.has_list |= *list != nullptr && !(*list)->empty();
  }
  return attribute;
}

class JsonSource final : public InputSource {
 public:
  /// `root` keeps alive what `object` is a part of; shared by the sources of all entries.
  JsonSource(std::shared_ptr<const json::object> root, const json::object& object)
      : root_(std::move(root)), object_(object) {}

  [[nodiscard]] bool given(std::string_view name) const override {
    return member(object_, name) != nullptr;
  }

  [[nodiscard]] Checked<std::optional<std::string_view>> text(
      std::string_view name) const override {
    return text_of(object_, name);
  }

  [[nodiscard]] Checked<std::optional<std::int64_t>> integer(std::string_view name) const override {
    const json::value* const value = member(object_, name);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->is_int64()) {
      return value->get_int64();
    }
    constexpr double exact_max = 9007199254740992.0;  // some languages write every number as 5.0
    if (value->is_double() && std::trunc(value->get_double()) == value->get_double() &&
        std::abs(value->get_double()) <= exact_max) {
      return static_cast<std::int64_t>(value->get_double());
    }
    return wrong_type(name, "an integer");
  }

  [[nodiscard]] Checked<std::optional<bool>> boolean(std::string_view name) const override {
    const json::value* const value = member(object_, name);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->is_bool()) {
      return value->get_bool();
    }
    return wrong_type(name, "a boolean");
  }

  [[nodiscard]] Checked<std::vector<std::string>> texts(std::string_view name) const override {
    const auto list = container_of<json::array>(object_, name);
    if (!list) {
      return std::unexpected(list.error());
    }
    std::vector<std::string> texts;
    if (*list == nullptr) {
      return texts;
    }
    for (const json::value& value : **list) {
      if (!value.is_string()) {
        return wrong_type(name, "a list of strings");
      }
      texts.emplace_back(view(value.get_string()));
    }
    return texts;
  }

  [[nodiscard]] Checked<TextMap> map(std::string_view name) const override {
    const auto object = container_of<json::object>(object_, name);
    if (!object) {
      return std::unexpected(object.error());
    }
    TextMap texts;
    if (*object == nullptr) {
      return texts;
    }
    for (const auto& one : **object) {
      if (one.value().is_string()) {
        texts.emplace(view(one.key()), view(one.value().get_string()));
      } else if (!one.value().is_null()) {
        return wrong_type(name, "an object with string values");
      }
    }
    return texts;
  }

  [[nodiscard]] Checked<MessageAttributes> attributes(std::string_view name) const override {
    const auto object = container_of<json::object>(object_, name);
    if (!object) {
      return std::unexpected(object.error());
    }
    MessageAttributes attributes;
    if (*object == nullptr) {
      return attributes;
    }
    for (const auto& one : **object) {
      if (one.value().is_null()) {
        continue;
      }
      if (!one.value().is_object()) {
        return wrong_type(name, "an object of objects");
      }
      Checked<MessageAttribute> attribute = attribute_of(one.value().get_object());
      if (!attribute) {
        return std::unexpected(std::move(attribute.error()));
      }
      attributes.emplace(view(one.key()), std::move(*attribute));
    }
    return attributes;
  }

  [[nodiscard]] Checked<std::vector<std::shared_ptr<const InputSource>>> entries(
      std::string_view name) const override {
    const auto list = container_of<json::array>(object_, name);
    if (!list) {
      return std::unexpected(list.error());
    }
    std::vector<std::shared_ptr<const InputSource>> sources;
    if (*list == nullptr) {
      return sources;
    }
    for (const json::value& value : **list) {
      if (!value.is_object()) {
        return wrong_type(name, "a list of objects");
      }
      sources.push_back(std::make_shared<JsonSource>(root_, value.get_object()));
    }
    return sources;
  }

 private:
  std::shared_ptr<const json::object> root_;
  const json::object& object_;
};

}  // namespace

Checked<std::shared_ptr<const InputSource>> make_json_source(std::string_view body) {
  Result<json::object> object = parse_json_object(body, body_bytes_max);
  if (!object) {
    return refuse(ErrorCode::serialization, std::move(object.error().message));
  }
  auto root = std::make_shared<const json::object>(std::move(*object));
  const json::object& outermost = *root;
  return std::make_shared<JsonSource>(std::move(root), outermost);
}

}  // namespace hk::api::aws
