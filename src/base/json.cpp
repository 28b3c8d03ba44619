#include "base/json.h"

#include <array>
#include <charconv>

namespace hk {

void JsonWriter::separate() {
  if (need_comma_) {
    out_ += ',';
  }
  need_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  need_comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_ += bracket;
  need_comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  need_comma_ = false;
}

void JsonWriter::string(std::string_view text) {
  separate();
  append_json_string(out_, text);
}

void JsonWriter::number(std::int64_t value) {
  separate();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
}

void JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::whole(std::string_view json) {
  separate();
  out_ += json;
}

}  // namespace hk
