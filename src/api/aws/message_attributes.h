/// Message attributes and bodies as SQS and SNS know them: the model, what is allowed, how large it
/// is, and the MD5s that clients check. Pure, any thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/aws/errors.h"

namespace hk::api::aws {

/// As it was sent; checked by check_attributes().
struct MessageAttribute {
  std::string data_type{};  ///< "String", "Number" or "Binary", perhaps with ".label"
  std::optional<std::string> string_value{};
  std::optional<std::string> binary_value{};  ///< decoded
  bool has_list = false;                      ///< came with StringListValues or BinaryListValues

  [[nodiscard]] bool is_binary() const;
  [[nodiscard]] bool is_number() const;
  /// The bytes of the value that counts for its type; "" if there is none.
  [[nodiscard]] std::string_view value() const;

  friend bool operator==(const MessageAttribute&, const MessageAttribute&) = default;
};

/// Sorted by name in byte order, which is the order of the MD5.
using MessageAttributes = std::map<std::string, MessageAttribute, std::less<>>;

inline constexpr std::size_t message_attributes_max = 10;

/// Well-formed UTF-8 of the characters that SQS lets through: those of XML 1.0.
bool allowed_text(std::string_view text);
/// A decimal number, perhaps with an exponent, of at most 38 digits between 10^-128 and 10^126.
bool allowed_number(std::string_view text);

/// missing_parameter: empty; invalid_message_contents: characters.
Checked<void> check_body(std::string_view body);
/// invalid_parameter_value: count (SQS has a limit, SNS none), name, type, value;
/// unsupported_operation: a list of values.
Checked<void> check_attributes(const MessageAttributes& attributes,
                               std::size_t count_max = message_attributes_max);
/// Only AWSTraceHeader, a String. Same refusals.
Checked<void> check_system_attributes(const MessageAttributes& attributes);

/// What counts against the maximum: the body and the names, types and values of its attributes.
std::size_t message_bytes(std::string_view body, const MessageAttributes& attributes);

/// 32 hexadecimal digits.
std::string md5_of_body(std::string_view body);
/// nullopt without attributes: the field is then left out. REQUIRES: checked.
std::optional<std::string> md5_of_attributes(const MessageAttributes& attributes);

/// Is it asked for? All, .* and * mean every one, "prefix.*" those that begin with "prefix" (the
/// dot belongs to the pattern), anything else is a name.
bool attribute_asked_for(std::string_view name, std::span<const std::string> patterns);

}  // namespace hk::api::aws
