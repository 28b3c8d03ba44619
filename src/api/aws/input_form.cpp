// The parameters of an action as form fields: lists and maps are flattened into the names, under
// singular names in SQS, under "member" and "entry" in SNS.
#include <array>
#include <charconv>
#include <utility>

#include "api/aws/input_source.h"
#include "api/text.h"
#include "base/encoding.h"

namespace hk::api::aws {

namespace {

struct Renamed {
  std::string_view member;  ///< in JSON
  std::string_view field;   ///< in the Query protocol of SQS
};

constexpr auto sqs_names = std::to_array<Renamed>({
    {"Attributes", "Attribute"},
    {"tags", "Tag"},
    {"Tags", "Tag"},
    {"TagKeys", "TagKey"},
    {"AttributeNames", "AttributeName"},
    {"MessageSystemAttributeNames", "MessageSystemAttributeName"},
    {"MessageAttributeNames", "MessageAttributeName"},
    {"MessageAttributes", "MessageAttribute"},
    {"MessageSystemAttributes", "MessageSystemAttribute"},
    {"AWSAccountIds", "AWSAccountId"},
    {"Actions", "ActionName"},
});

enum class Shape : std::uint8_t { list, map };

class FormSource final : public InputSource {
 public:
  /// `form` is shared by the sources of all entries; `prefix` is "" or ends in '.'.
  FormSource(std::shared_ptr<const QueryForm> form, std::string prefix, Dialect dialect,
             std::string_view action)
      : form_(std::move(form)), prefix_(std::move(prefix)), dialect_(dialect), action_(action) {}

  [[nodiscard]] bool given(std::string_view name) const override {
    return form_->given(prefix_ + std::string(name)) || form_->given(field(name, Shape::list));
  }

  [[nodiscard]] Checked<std::optional<std::string_view>> text(
      std::string_view name) const override {
    return form_->value(prefix_ + std::string(name));
  }

  [[nodiscard]] Checked<std::optional<std::int64_t>> integer(std::string_view name) const override {
    const auto text = form_->value(prefix_ + std::string(name));
    if (!text || text->empty()) {
      return std::nullopt;
    }
    std::int64_t value = 0;
    const char* const end = text->data() + text->size();
    const auto [stop, failed] = std::from_chars(text->data(), end, value);
    if (failed != std::errc{} || stop != end) {
      return std::unexpected(invalid_value(name, *text, "Must be an integer."));
    }
    return value;
  }

  [[nodiscard]] Checked<std::optional<bool>> boolean(std::string_view name) const override {
    const auto text = form_->value(prefix_ + std::string(name));
    if (!text || text->empty()) {
      return std::nullopt;
    }
    const std::optional<bool> value = parse_bool(*text);
    if (!value) {
      return std::unexpected(invalid_value(name, *text, "Must be true or false."));
    }
    return value;
  }

  [[nodiscard]] Checked<std::vector<std::string>> texts(std::string_view name) const override {
    std::vector<std::string> texts;
    for (const std::string& item : form_->items(field(name, Shape::list))) {
      if (const auto text = form_->value(item)) {
        texts.emplace_back(*text);
      }
    }
    return texts;
  }

  [[nodiscard]] Checked<TextMap> map(std::string_view name) const override {
    // Tags of SNS are a list of pairs where other maps are maps.
    const bool tags = name == "Tags" || name == "tags";
    const Shape shape = is_sns(dialect_) && !tags ? Shape::map : Shape::list;
    std::string_view key = tags ? ".Key" : ".Name";
    std::string_view value = ".Value";
    if (shape == Shape::map) {
      key = ".key";
      value = ".value";
    }
    TextMap texts;
    for (const std::string& item : form_->items(field(name, shape))) {
      const auto name_text = required(item + std::string(key));
      const auto value_text = form_->value(item + std::string(value));
      if (!name_text) {
        return std::unexpected(name_text.error());
      }
      if (!value_text) {
        return std::unexpected(missing_parameter(item + std::string(value)));
      }
      texts.insert_or_assign(std::string(*name_text), std::string(*value_text));
    }
    return texts;
  }

  [[nodiscard]] Checked<MessageAttributes> attributes(std::string_view name) const override {
    MessageAttributes attributes;
    for (const std::string& item : form_->items(field(name, Shape::map))) {
      const Checked<std::string_view> attribute_name = required(item + ".Name");
      if (!attribute_name) {
        return std::unexpected(attribute_name.error());
      }
      Checked<MessageAttribute> attribute = attribute_at(item + ".Value");
      if (!attribute) {
        return std::unexpected(std::move(attribute.error()));
      }
      if (!attributes.emplace(*attribute_name, std::move(*attribute)).second) {
        return std::unexpected(invalid_value(item + ".Name", *attribute_name,
                                             "Another message attribute has the same name."));
      }
    }
    return attributes;
  }

  [[nodiscard]] Checked<std::vector<std::shared_ptr<const InputSource>>> entries(
      std::string_view name) const override {
    std::vector<std::shared_ptr<const InputSource>> sources;
    for (std::string& item : form_->items(field(name, Shape::list))) {
      sources.push_back(
          std::make_shared<FormSource>(form_, std::move(item) + ".", dialect_, action_));
    }
    return sources;
  }

 private:
  /// The name under which the items of a list or map are numbered.
  [[nodiscard]] std::string field(std::string_view member, Shape shape) const {
    std::string name = prefix_;
    if (is_sns(dialect_)) {
      name += member;
      name += shape == Shape::list ? ".member" : ".entry";
      return name;
    }
    if (member == "Entries") {
      return name + action_ + "RequestEntry";
    }
    for (const Renamed& one : sqs_names) {
      if (one.member == member) {
        member = one.field;
        break;
      }
    }
    name += member;
    return name;
  }

  [[nodiscard]] Checked<std::string_view> required(const std::string& field_name) const {
    const auto text = form_->value(field_name);
    if (!text || text->empty()) {
      return std::unexpected(missing_parameter(field_name));
    }
    return *text;
  }

  [[nodiscard]] Checked<MessageAttribute> attribute_at(const std::string& place) const {
    MessageAttribute attribute;
    attribute.data_type = form_->value(place + ".DataType").value_or("");
    if (const auto text = form_->value(place + ".StringValue")) {
      attribute.string_value = std::string(*text);
    }
    if (const auto text = form_->value(place + ".BinaryValue")) {
      attribute.binary_value = unbase64(*text);
      if (!attribute.binary_value) {
        return std::unexpected(
            invalid_value(place + ".BinaryValue", *text, "Must be Base64 with its padding."));
      }
    }
    attribute.has_list = !form_->items(place + ".StringListValue").empty() ||
                         !form_->items(place + ".BinaryListValue").empty();
    return attribute;
  }

  std::shared_ptr<const QueryForm> form_;
  std::string prefix_;
  Dialect dialect_;
  std::string action_;
};

}  // namespace

std::shared_ptr<const InputSource> make_form_source(QueryForm form, Dialect dialect,
                                                    std::string_view action) {
  return std::make_shared<FormSource>(std::make_shared<const QueryForm>(std::move(form)),
                                      std::string(), dialect, action);
}

}  // namespace hk::api::aws
