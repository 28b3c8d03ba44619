#include "api/json.h"

#include <array>
#include <charconv>

namespace hk::api {

namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool continues(std::string_view text, std::size_t i, unsigned char low = 0x80,
               unsigned char high = 0xBF) {
  return i < text.size() && byte_at(text, i) >= low && byte_at(text, i) <= high;
}

bool plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out += digits[c >> 4U];
  out += digits[c & 0xFU];
}

}  // namespace

std::size_t utf8_sequence(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80) {
    return 1;
  }
  // The tighter second-byte ranges exclude overlong forms, surrogates and what is above U+10FFFF.
  if (lead >= 0xC2 && lead <= 0xDF) {
    return continues(text, 1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return continues(text, 1, low, high) && continues(text, 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    return continues(text, 1, low, high) && continues(text, 2) && continues(text, 3) ? 4 : 0;
  }
  return 0;
}

bool valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (byte_at(text, i) < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = utf8_sequence(text.substr(i));
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t run = i;
    while (run < text.size() && plain(byte_at(text, run))) {
      ++run;
    }
    out.append(text, i, run - i);
    i = run;
    if (i == text.size()) {
      break;
    }
    const unsigned char c = byte_at(text, i);
    if (c < 0x80) {
      append_escape(out, c);
      ++i;
      continue;
    }
    const std::size_t length = utf8_sequence(text.substr(i));
    if (length == 0) {
      out += "\\ufffd";
      ++i;
      continue;
    }
    out.append(text, i, length);
    i += length;
  }
  out += '"';
}

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

void JsonWriter::null() {
  separate();
  out_ += "null";
}

}  // namespace hk::api
