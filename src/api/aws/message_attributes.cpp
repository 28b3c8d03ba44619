#include "api/aws/message_attributes.h"

#include <algorithm>

#include "api/text.h"
#include "base/ascii.h"
#include "base/byte_run.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "base/json_string.h"
#include "security/digest.h"

namespace hk::api::aws {

namespace {

constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t type_bytes_max = 256;
constexpr std::size_t label_at = 6;  ///< String, Number and Binary are of one length

bool is_of_type(std::string_view data_type, std::string_view base) {
  return data_type == base || (data_type.starts_with(base) && data_type.size() > base.size() + 1 &&
                               data_type[base.size()] == '.');
}

std::string digest_text(std::string_view bytes) {
  const security::Digest128 digest = security::md5(bytes);
  return hex(digest);
}

std::unexpected<Refusal> bad_attribute(std::string_view name, std::string_view rule) {
  std::string message = "Message attribute \"";
  message += name.substr(0, name_bytes_max);
  message += "\" ";
  message += rule;
  return refuse(ErrorCode::invalid_parameter_value, std::move(message));
}

Checked<void> check_name(std::string_view name) {
  if (name.empty() || name.size() > name_bytes_max) {
    return bad_attribute(name, "must have a name of 1 to 256 characters.");
  }
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '-' || c == '.';
  };
  if (!std::ranges::all_of(name, allowed)) {
    return bad_attribute(name, "may be named with A-Z, a-z, 0-9, '_', '-' and '.' only.");
  }
  if (name.front() == '.' || name.back() == '.' || name.find("..") != std::string_view::npos) {
    return bad_attribute(name, "must not begin or end with '.', nor have two in a row.");
  }
  if (starts_with_ignoring_case(name, "AWS.") || starts_with_ignoring_case(name, "Amazon.")) {
    return bad_attribute(name, "must not begin with \"AWS.\" or \"Amazon.\": these are reserved.");
  }
  return {};
}

Checked<void> check_type(std::string_view name, std::string_view type) {
  if (type.empty()) {
    return bad_attribute(name, "must have a DataType.");
  }
  if (type.size() > type_bytes_max) {
    return bad_attribute(name, "has a DataType of more than 256 characters.");
  }
  if ((!is_of_type(type, "String") && !is_of_type(type, "Number") && !is_of_type(type, "Binary")) ||
      !allowed_text(type.substr(label_at))) {
    return bad_attribute(
        name, "must be of the DataType String, Number or Binary, perhaps with \".label\".");
  }
  return {};
}

Checked<void> check_value(std::string_view name, const MessageAttribute& attribute) {
  const auto given = [](const auto& value) { return value && !value->empty(); };
  if (attribute.value().empty()) {
    return bad_attribute(name, attribute.is_binary()
                                   ? "must have a BinaryValue that is not empty."
                                   : "must have a StringValue that is not empty.");
  }
  if (given(attribute.string_value) && given(attribute.binary_value)) {
    return bad_attribute(name, "has both a StringValue and a BinaryValue.");
  }
  if (attribute.is_binary()) {
    return {};
  }
  if (!allowed_text(attribute.value())) {
    return bad_attribute(name, "has a StringValue with characters that are not allowed.");
  }
  if (attribute.is_number() && !allowed_number(attribute.value())) {
    return bad_attribute(name, "must be a number of at most 38 digits between 10^-128 and 10^126.");
  }
  return {};
}

Checked<void> check_attribute(std::string_view name, const MessageAttribute& attribute) {
  if (auto good = check_name(name); !good) {
    return good;
  }
  if (attribute.has_list) {
    return refuse(ErrorCode::unsupported_operation,
                  "Message attribute \"" + std::string(name) +
                      "\": lists of values are not supported; use StringValue or BinaryValue.");
  }
  if (auto good = check_type(name, attribute.data_type); !good) {
    return good;
  }
  return check_value(name, attribute);
}

void append_sized(std::string& out, std::string_view text) {
  append_be(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

}  // namespace

bool MessageAttribute::is_binary() const { return is_of_type(data_type, "Binary"); }
bool MessageAttribute::is_number() const { return is_of_type(data_type, "Number"); }

std::string_view MessageAttribute::value() const {
  const std::optional<std::string>& counts = is_binary() ? binary_value : string_value;
  return counts ? std::string_view(*counts) : std::string_view();
}

bool allowed_text(std::string_view text) {
  const std::size_t plain =
      bytes_before(text, [](EightBytes bytes) { return bytes.below(0x20) | bytes.not_ascii(); });
  bool ascii = true;
  for (const char c : text.substr(plain)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      return false;
    }
    ascii = ascii && byte < 0x80;
  }
  if (ascii) {
    return true;
  }
  // Well-formed UTF-8 has no surrogates; U+FFFE and U+FFFF are what is left to exclude.
  return valid_utf8(text) && text.find("\xef\xbf\xbe") == std::string_view::npos &&
         text.find("\xef\xbf\xbf") == std::string_view::npos;
}

Checked<void> check_body(std::string_view body) {
  if (body.empty()) {
    return std::unexpected(missing_parameter("MessageBody"));
  }
  if (!allowed_text(body)) {
    return refuse(ErrorCode::invalid_message_contents,
                  "The message body has characters that are not allowed: only U+9, U+A, U+D, U+20 "
                  "to U+D7FF, U+E000 to U+FFFD and U+10000 to U+10FFFF are, in UTF-8.");
  }
  return {};
}

Checked<void> check_attributes(const MessageAttributes& attributes, std::size_t count_max) {
  if (attributes.size() > count_max) {
    return refuse(ErrorCode::invalid_parameter_value,
                  "Number of message attributes [" + std::to_string(attributes.size()) +
                      "] exceeds the allowed maximum [" + std::to_string(count_max) + "].");
  }
  for (const auto& [name, attribute] : attributes) {
    if (auto good = check_attribute(name, attribute); !good) {
      return good;
    }
  }
  return {};
}

Checked<void> check_system_attributes(const MessageAttributes& attributes) {
  for (const auto& [name, attribute] : attributes) {
    if (name != "AWSTraceHeader") {
      return bad_attribute(name, "is not a system attribute: AWSTraceHeader is the only one.");
    }
    if (auto good = check_attribute(name, attribute); !good) {
      return good;
    }
    if (attribute.data_type != "String") {
      return bad_attribute(name, "must be of the DataType String.");
    }
  }
  return {};
}

std::size_t message_bytes(std::string_view body, const MessageAttributes& attributes) {
  std::size_t bytes = body.size();
  for (const auto& [name, attribute] : attributes) {
    bytes += name.size() + attribute.data_type.size() + attribute.value().size();
  }
  return bytes;
}

std::string md5_of_body(std::string_view body) { return digest_text(body); }

std::optional<std::string> md5_of_attributes(const MessageAttributes& attributes) {
  if (attributes.empty()) {
    return std::nullopt;
  }
  std::string text;
  text.reserve(message_bytes({}, attributes) + attributes.size() * 13);
  for (const auto& [name, attribute] : attributes) {
    append_sized(text, name);
    append_sized(text, attribute.data_type);
    text += attribute.is_binary() ? '\x02' : '\x01';
    append_sized(text, attribute.value());
  }
  return digest_text(text);
}

bool attribute_asked_for(std::string_view name, std::span<const std::string> patterns) {
  return std::ranges::any_of(patterns, [name](std::string_view pattern) {
    if (pattern == "All" || pattern == "*" || pattern == ".*" || pattern == name) {
      return true;
    }
    return pattern.ends_with(".*") && name.starts_with(pattern.substr(0, pattern.size() - 2));
  });
}

}  // namespace hk::api::aws
