#include "base/json_reader.h"

#include <array>

#include "base/ascii.h"
#include "base/json_string.h"

namespace hk {

namespace {

/// What ends the plain part of a string: a quote, a backslash, a control character; and what has
/// to be looked at again: a byte beyond ASCII.
constexpr std::array<std::uint8_t, 256> make_string_table() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 0x20; ++c) table[c] = 1;
  table['"'] = 1;
  table['\\'] = 1;
  for (unsigned c = 0x80; c <= 0xff; ++c) table[c] = 2;
  return table;
}
constexpr std::array<std::uint8_t, 256> string_table = make_string_table();

bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3FU));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

}  // namespace

void JsonReader::fail(const char* problem) {
  if (problem_ == nullptr) {
    problem_ = problem;
    problem_at_ = at_;
  }
  at_ = text_.size();  // whatever is asked for next is not there
}

std::string JsonReader::error() const {
  return std::string(problem_) + " at byte " + std::to_string(problem_at_);
}

void JsonReader::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

JsonReader::Kind JsonReader::kind() {
  skip_space();
  if (at_ == text_.size()) {
    fail("a value is missing");
    return Kind::none;
  }
  switch (text_[at_]) {
    case '"': return Kind::string;
    case '{': return Kind::object;
    case '[': return Kind::array;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return Kind::null;
    default:
      if (is_digit(text_[at_]) || text_[at_] == '-') {
        return Kind::number;
      }
      fail("a value is expected");
      return Kind::none;
  }
}

void JsonReader::word(std::string_view expected) {
  if (text_.substr(at_, expected.size()) != expected) {
    fail("a value is expected");
    return;
  }
  at_ += expected.size();
}

bool JsonReader::boolean() {
  skip_space();
  const bool value = at_ < text_.size() && text_[at_] == 't';
  word(value ? "true" : "false");
  return value && !failed();
}

void JsonReader::null() {
  skip_space();
  word("null");
}

std::string_view JsonReader::number() {
  skip_space();
  const std::size_t begin = at_;
  const auto digits = [this] {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      ++at_;
    }
    return at_ - first;
  };
  const auto take = [this](char c) {
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  };
  take('-');
  const bool zero = at_ < text_.size() && text_[at_] == '0';
  const std::size_t whole = digits();
  bool good = whole > 0 && (!zero || whole == 1);
  if (good && take('.')) {
    good = digits() > 0;
  }
  if (good && (take('e') || take('E'))) {
    if (!take('+')) {
      take('-');
    }
    good = digits() > 0;
  }
  if (!good) {
    fail("a number is not complete");
    return {};
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view JsonReader::read_string(std::string& unescaped) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != '"') {
    fail("a string is expected");
    return {};
  }
  ++at_;
  const std::size_t begin = at_;
  std::uint8_t beyond_ascii = 0;
  while (at_ < text_.size()) {
    const std::uint8_t what = string_table[static_cast<unsigned char>(text_[at_])];
    if (what == 1) {
      break;
    }
    beyond_ascii |= what;
    ++at_;
  }
  std::string_view value = text_.substr(begin, at_ - begin);
  if (at_ < text_.size() && text_[at_] == '\\') {
    unescaped.assign(value);
    unescape(unescaped);
    value = unescaped;
    beyond_ascii = 1;
  } else if (at_ == text_.size()) {
    fail("a string is not closed");
  } else if (text_[at_] != '"') {
    fail("a control character in a string is not escaped");
  } else {
    ++at_;
  }
  if (failed()) {
    return {};
  }
  if (beyond_ascii != 0 && !valid_utf8(value)) {
    fail("a string is not UTF-8");
    return {};
  }
  return value;
}

/// From the first backslash up to and with the closing quote.
void JsonReader::unescape(std::string& out) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      fail("a control character in a string is not escaped");
      return;
    }
    ++at_;
    if (c != '\\') {
      out.push_back(c);
      continue;
    }
    const char escaped = at_ < text_.size() ? text_[at_++] : '\0';
    switch (escaped) {
      case '"':
      case '\\':
      case '/': out.push_back(escaped); break;
      case 'b': out.push_back('\b'); break;
      case 'f': out.push_back('\f'); break;
      case 'n': out.push_back('\n'); break;
      case 'r': out.push_back('\r'); break;
      case 't': out.push_back('\t'); break;
      case 'u': {
        std::uint32_t code = four_digits();
        if (is_high_surrogate(code) && text_.substr(at_, 2) == "\\u") {
          at_ += 2;
          const std::uint32_t low = four_digits();
          code = is_low_surrogate(low) ? 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00) : code;
        }
        if (is_high_surrogate(code) || is_low_surrogate(code)) {
          fail("half of a surrogate pair stands alone");
        }
        if (failed()) {
          return;
        }
        append_utf8(out, code);
        break;
      }
      default: fail("an escape is not known"); return;
    }
  }
  fail("a string is not closed");
}

std::uint32_t JsonReader::four_digits() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (!is_hex_digit(c)) {
      fail("an escape is not known");
      return 0;
    }
    const char lower = to_lower(c);
    code = code * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    ++at_;
  }
  return code;
}

std::string_view JsonReader::string() { return read_string(value_); }

bool JsonReader::open(char bracket) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != bracket) {
    fail(bracket == '{' ? "an object is expected" : "an array is expected");
    return false;
  }
  if (depth_ == depth_max_) {
    fail("it is nested too deeply");
    return false;
  }
  ++depth_;
  ++at_;
  first_ = true;
  return true;
}

void JsonReader::begin_object() { open('{'); }
void JsonReader::begin_array() { open('['); }

/// Another one follows; what stands between it and the last one is read.
bool JsonReader::next(char closing) {
  skip_space();
  if (at_ < text_.size() && text_[at_] == closing) {
    ++at_;
    --depth_;
    first_ = false;
    return false;
  }
  if (first_) {
    first_ = false;
    return !failed();
  }
  if (at_ == text_.size() || text_[at_] != ',') {
    fail("a comma or a closing bracket is missing");
    return false;
  }
  ++at_;
  return true;
}

bool JsonReader::next_member(std::string_view& name) {
  if (failed() || !next('}')) {
    return false;
  }
  name = read_string(name_);
  skip_space();
  if (at_ == text_.size() || text_[at_] != ':') {
    fail("a colon is missing");
    return false;
  }
  ++at_;
  return true;
}

bool JsonReader::next_item() { return !failed() && next(']'); }

void JsonReader::skip() {
  // As deep as depth_max_: a bound for the recursion, too.
  switch (kind()) {
    case Kind::none: break;
    case Kind::null: null(); break;
    case Kind::boolean: boolean(); break;
    case Kind::number: number(); break;
    case Kind::string: string(); break;
    case Kind::array:
      begin_array();
      while (next_item()) {
        skip();
      }
      break;
    case Kind::object: {
      begin_object();
      std::string_view name;
      while (next_member(name)) {
        skip();
      }
      break;
    }
  }
}

void JsonReader::end() {
  skip_space();
  if (at_ != text_.size()) {
    fail("something follows the value");
  }
}

}  // namespace hk
