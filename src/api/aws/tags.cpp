#include "api/aws/tags.h"

#include <algorithm>

#include "base/json_string.h"

namespace hk::api::aws {

namespace {

constexpr std::size_t key_characters_max = 128;
constexpr std::size_t value_characters_max = 256;
constexpr std::size_t echoed_key_bytes_max = 100;

std::unexpected<Error> wrong(std::string_view key, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, "of the tag \"" +
                                               std::string(key.substr(0, echoed_key_bytes_max)) +
                                               "\": " + std::string(rule));
}

}  // namespace

std::size_t characters(std::string_view text) {
  if (!valid_utf8(text)) {
    return text.size();  // or nine megabytes of continuation bytes would be none
  }
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Result<void> check_tags(const TextMap& tags) {
  if (tags.size() > tags_max) {
    return fail(ErrorKind::invalid_argument, "there are at most 50 tags");
  }
  for (const auto& [key, value] : tags) {
    if (key.empty() || characters(key) > key_characters_max ||
        characters(value) > value_characters_max) {
      return wrong(key, "a key has 1 to 128 characters, a value at most 256");
    }
    if (!allowed_text(key) || !allowed_text(value)) {
      return wrong(key, "its key or its value has characters that are not allowed");
    }
  }
  return {};
}

}  // namespace hk::api::aws
