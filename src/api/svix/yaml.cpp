#include "api/svix/yaml.h"

#include <yaml.h>

#include <charconv>
#include <string>
#include <vector>

#include "base/ascii.h"

namespace hk::api::svix {

namespace {

namespace js = boost::json;

constexpr std::size_t yaml_depth_max = 128;
constexpr std::size_t yaml_copies_max = 1000;
constexpr std::size_t yaml_nodes_max = 200'000;

std::unexpected<Error> refuse_yaml(std::string why) {
  return fail(ErrorKind::invalid_argument, std::move(why));
}

/// The parser and its document, which libyaml wants given back.
class YamlDocument {
 public:
  explicit YamlDocument(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) {
      return;
    }
    made_ = true;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    loaded_ = yaml_parser_load(&parser_, &document_) != 0;
  }
  ~YamlDocument() {
    if (loaded_) {
      yaml_document_delete(&document_);
    }
    if (made_) {
      yaml_parser_delete(&parser_);
    }
  }
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  [[nodiscard]] bool loaded() const { return loaded_; }
  [[nodiscard]] std::string error() const {
    const char* const problem = parser_.problem != nullptr ? parser_.problem : "it cannot be read";
    return std::string("is not valid YAML: ") + problem + " in line " +
           std::to_string(parser_.problem_mark.line + 1);
  }
  yaml_node_t* root() { return yaml_document_get_root_node(&document_); }
  yaml_node_t* node(int index) { return yaml_document_get_node(&document_, index); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(document_.nodes.top - document_.nodes.start);
  }
  std::size_t index_of(const yaml_node_t* node) {
    return static_cast<std::size_t>(node - document_.nodes.start);
  }

 private:
  yaml_parser_t parser_{};
  yaml_document_t document_{};
  bool made_ = false;
  bool loaded_ = false;
};

/// A scalar that stands without quotes.
js::value plain_value(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") {
    return true;
  }
  if (text == "false" || text == "False" || text == "FALSE") {
    return false;
  }
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const char* const end = digits.data() + digits.size();
  if (digits.starts_with("0x") || digits.starts_with("0o")) {
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data() + 2, end, number, digits[1] == 'x' ? 16 : 8);
    if (read.ec == std::errc{} && read.ptr == end && digits.size() > 2) {
      return number;
    }
    return js::string(text.data(), text.size());
  }
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  if (digits.size() > first && (is_digit(digits[first]) || digits[first] == '.')) {
    std::int64_t whole = 0;
    const auto read = std::from_chars(digits.data(), end, whole);
    if (read.ec == std::errc{} && read.ptr == end) {
      return whole;
    }
    double number = 0;
    const auto fraction = std::from_chars(digits.data(), end, number);
    if (fraction.ec == std::errc{} && fraction.ptr == end) {
      return number;
    }
  }
  return js::string(text.data(), text.size());
}

class YamlReader {
 public:
  explicit YamlReader(YamlDocument& document)
      : document_(document), seen_(document.size(), false) {}

  Result<js::value> value(const yaml_node_t* node, std::size_t depth, bool in_copy) {
    if (node == nullptr) {
      return js::value(nullptr);
    }
    const std::size_t index = document_.index_of(node);
    const bool copied = seen_[index];
    seen_[index] = true;
    if (copied && !in_copy && ++copies_ > yaml_copies_max) {
      return refuse_yaml("has more than 1000 copies by aliases");
    }
    if (depth > yaml_depth_max || ++nodes_ > yaml_nodes_max) {
      return refuse_yaml("is too deep, or too large once its aliases are put in");
    }
    switch (node->type) {
      case YAML_SCALAR_NODE: return js::value(scalar(*node));
      case YAML_SEQUENCE_NODE: return sequence(*node, depth, copied || in_copy);
      case YAML_MAPPING_NODE: return mapping(*node, depth, copied || in_copy);
      case YAML_NO_NODE: break;
    }
    return js::value(nullptr);
  }

 private:
  static std::string_view text_of_scalar(const yaml_node_t& node) {
    return {reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length};
  }
  static js::value scalar(const yaml_node_t& node) {
    const std::string_view text = text_of_scalar(node);
    const bool plain = node.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return plain ? plain_value(text) : js::value(js::string(text.data(), text.size()));
  }
  Result<js::value> sequence(const yaml_node_t& node, std::size_t depth, bool in_copy) {
    js::array array;
    for (const yaml_node_item_t* item = node.data.sequence.items.start;
         item < node.data.sequence.items.top; ++item) {
      Result<js::value> one = value(document_.node(*item), depth + 1, in_copy);
      if (!one) {
        return one;
      }
      array.push_back(std::move(*one));
    }
    return js::value(std::move(array));
  }
  Result<js::value> mapping(const yaml_node_t& node, std::size_t depth, bool in_copy) {
    js::object object;
    for (const yaml_node_pair_t* pair = node.data.mapping.pairs.start;
         pair < node.data.mapping.pairs.top; ++pair) {
      const yaml_node_t* const key = document_.node(pair->key);
      if (key == nullptr || key->type != YAML_SCALAR_NODE) {
        return refuse_yaml("has a key that is no text");
      }
      Result<js::value> one = value(document_.node(pair->value), depth + 1, in_copy);
      if (!one) {
        return one;
      }
      const std::string_view name = text_of_scalar(*key);
      object.insert_or_assign({name.data(), name.size()}, std::move(*one));
    }
    return js::value(std::move(object));
  }

  YamlDocument& document_;
  std::vector<bool> seen_;
  std::size_t copies_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<js::value> parse_yaml(std::string_view text) {
  YamlDocument document(text);
  if (!document.loaded()) {
    return refuse_yaml(document.error());
  }
  return YamlReader(document).value(document.root(), 0, false);
}

}  // namespace hk::api::svix
