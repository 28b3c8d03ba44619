#include "base/exact_json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>

namespace hk {

namespace {

using boost::json::error_code;
using Text = boost::json::string_view;

/// Builds the tree as the parser walks through the text.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  bool on_document_begin(error_code& /*failed*/) { return true; }
  bool on_document_end(error_code& /*failed*/) { return true; }
  bool on_object_begin(error_code& /*failed*/) {
    open_.push_back({.kind = ExactJson::Kind::object});
    keys_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t /*count*/, error_code& failed) {
    ExactJson object = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    std::vector<std::string_view> names;
    for (const auto& [name, value] : object.members) {
      names.push_back(name);
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) {
      twice_ = std::string(*twice);
      failed = boost::json::error::syntax;
      return false;
    }
    return add(std::move(object));
  }
  bool on_array_begin(error_code& /*failed*/) {
    open_.push_back({.kind = ExactJson::Kind::array});
    keys_.emplace_back();
    return true;
  }
  bool on_array_end(std::size_t /*count*/, error_code& /*failed*/) {
    ExactJson array = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(array));
  }
  bool on_key_part(Text part, std::size_t /*size*/, error_code& /*failed*/) { return take(part); }
  bool on_key(Text part, std::size_t /*size*/, error_code& /*failed*/) {
    take(part);
    keys_.back() = std::exchange(part_, {});
    return true;
  }
  bool on_string_part(Text part, std::size_t /*size*/, error_code& /*failed*/) {
    return take(part);
  }
  bool on_string(Text part, std::size_t /*size*/, error_code& /*failed*/) {
    take(part);
    return add({.kind = ExactJson::Kind::string, .text = std::exchange(part_, {})});
  }
  bool on_number_part(Text part, error_code& /*failed*/) { return take(part); }
  bool on_int64(std::int64_t /*value*/, Text part, error_code& /*failed*/) { return number(part); }
  bool on_uint64(std::uint64_t /*value*/, Text part, error_code& /*failed*/) {
    return number(part);
  }
  bool on_double(double /*value*/, Text part, error_code& /*failed*/) { return number(part); }
  bool on_bool(bool value, error_code& /*failed*/) {
    return add({.kind = ExactJson::Kind::boolean, .truth = value});
  }
  bool on_null(error_code& /*failed*/) { return add({}); }
  bool on_comment_part(Text /*part*/, error_code& /*failed*/) { return true; }
  bool on_comment(Text /*part*/, error_code& /*failed*/) { return true; }

  [[nodiscard]] const std::optional<std::string>& twice() const { return twice_; }
  ExactJson take_whole() { return std::move(whole_); }

 private:
  bool take(Text part) {
    part_.append(part.data(), part.size());
    return true;
  }
  bool number(Text part) {
    take(part);
    return add({.kind = ExactJson::Kind::number, .text = std::exchange(part_, {})});
  }
  bool add(ExactJson value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (open_.back().kind == ExactJson::Kind::array) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.emplace_back(std::move(keys_.back()), std::move(value));
    }
    return true;
  }

  ExactJson whole_{};
  std::vector<ExactJson> open_;
  std::vector<std::string> keys_;  ///< of each of open_, the name of the member that comes
  std::string part_{};
  std::optional<std::string> twice_{};
};

/// RFC 8785 3.2.2.2: what need not be escaped is not.
void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t plain = at;
    while (plain < text.size() && static_cast<unsigned char>(text[plain]) >= 0x20U &&
           text[plain] != '"' && text[plain] != '\\') {
      ++plain;
    }
    out.append(text, at, plain - at);
    at = plain;
    if (at == text.size()) {
      break;
    }
    const char c = text[at];
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\u00";
        out += hex[byte >> 4U];
        out += hex[byte & 15U];
      }
    }
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

/// As ECMAScript writes a number (Number::toString): the shortest digits that give it back.
std::string number_text(double value) {
  if (value == 0) {
    return "0";
  }
  char buffer[32];
  const auto [end, failed] = std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(value),
                                           std::chars_format::scientific);
  const std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = shortest.find('e');
  std::string digits(1, shortest[0]);
  if (e > 2) {
    digits += shortest.substr(2, e - 2);
  }
  int exponent = 0;
  const char* const from = shortest.data() + e + (shortest[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, shortest.data() + shortest.size(), exponent);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // of the digits, so many stand before the point
  std::string out = value < 0 ? "-" : "";
  if (count <= point && point <= 21) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(point)) + '.' +
           digits.substr(static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    out += digits.substr(0, 1) + (count > 1 ? '.' + digits.substr(1) : "") + 'e' +
           (exponent < 0 ? '-' : '+') + std::to_string(std::abs(exponent));
  }
  return out;
}

std::string canonical_number(const std::string& text) {
  constexpr std::size_t surely_exact = 15;  // so many digits a double holds
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && text.size() <= surely_exact) {
    return text;
  }
  constexpr double exact_max = 9007199254740991;  // 2^53 - 1
  const double value = std::strtod(text.c_str(), nullptr);
  const bool integer = text.find_first_of(".eE") == std::string::npos;
  return integer && std::fabs(value) > exact_max ? text : number_text(value);
}

/// UTF-16 puts what is beyond U+FFFF before U+E000 to U+FFFF; UTF-8 puts it last.
bool less_in_utf16(std::string_view a, std::string_view b) {
  const auto [left, right] = std::ranges::mismatch(a, b);
  if (left == a.end() || right == b.end()) {
    return left == a.end() && right != b.end();
  }
  const auto rank = [](char c) {
    constexpr unsigned first_of_surrogates = 0xED;
    const auto byte = static_cast<unsigned char>(c);
    return std::pair(byte >= 0xF0U ? 2 * first_of_surrogates + 1 : 2U * byte, byte);
  };
  return rank(*left) < rank(*right);
}

void append(std::string& out, const ExactJson& value, bool canonical) {
  switch (value.kind) {
    case ExactJson::Kind::null: out += "null"; break;
    case ExactJson::Kind::boolean: out += value.truth ? "true" : "false"; break;
    case ExactJson::Kind::number:
      out += canonical ? canonical_number(value.text) : value.text;
      break;
    case ExactJson::Kind::string: append_string(out, value.text); break;
    case ExactJson::Kind::array:
      out += '[';
      for (const ExactJson& item : value.items) {
        out += &item == value.items.data() ? "" : ",";
        append(out, item, canonical);
      }
      out += ']';
      break;
    case ExactJson::Kind::object: {
      std::vector<const std::pair<std::string, ExactJson>*> members;
      for (const auto& member : value.members) {
        members.push_back(&member);
      }
      if (canonical) {
        std::ranges::sort(members, less_in_utf16, [](const auto* one) { return one->first; });
      }
      out += '{';
      for (const auto* const member : members) {
        out += member == members.front() ? "" : ",";
        append_string(out, member->first);
        out += ':';
        append(out, member->second, canonical);
      }
      out += '}';
      break;
    }
  }
}

/// Writes the canonical form as the parser walks through the text. Members that come in their order
/// stay where they were written; those of an object that do not are put in order at its end.
class Canonical {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  bool on_document_begin(error_code& /*failed*/) { return true; }
  bool on_document_end(error_code& /*failed*/) { return true; }
  bool on_object_begin(error_code& /*failed*/) {
    before_value();
    out_ += '{';
    open_.push_back({.is_object = true, .members = members_.size(), .names = names_.size()});
    return true;
  }
  bool on_object_end(std::size_t /*count*/, error_code& failed) {
    const Open object = open_.back();
    open_.pop_back();
    const bool fine = sort_members(object.members);
    members_.resize(object.members);
    names_.resize(object.names);
    out_ += '}';
    if (!fine) {
      failed = boost::json::error::syntax;
    }
    return fine;
  }
  bool on_array_begin(error_code& /*failed*/) {
    before_value();
    out_ += '[';
    open_.push_back({});
    return true;
  }
  bool on_array_end(std::size_t /*count*/, error_code& /*failed*/) {
    open_.pop_back();
    out_ += ']';
    return true;
  }
  bool on_key_part(Text part, std::size_t /*size*/, error_code& /*failed*/) {
    key_bytes_ += part.size();
    names_.append(part.data(), part.size());
    return true;
  }
  bool on_key(Text part, std::size_t size, error_code& failed) {
    on_key_part(part, size, failed);
    if (members_.size() > open_.back().members) {
      members_.back().end = out_.size();
      out_ += ',';
    }
    members_.push_back({.name = names_.size() - key_bytes_,
                        .name_bytes = std::exchange(key_bytes_, 0),
                        .begin = out_.size()});
    append_string(out_, name_of(members_.back()));
    out_ += ':';
    return true;
  }
  bool on_string_part(Text part, std::size_t /*size*/, error_code& /*failed*/) {
    if (!in_string_) {
      in_string_ = true;
      before_value();
      out_ += '"';
    }
    append_escaped(out_, {part.data(), part.size()});
    return true;
  }
  bool on_string(Text part, std::size_t size, error_code& failed) {
    on_string_part(part, size, failed);
    in_string_ = false;
    out_ += '"';
    return true;
  }
  bool on_number_part(Text part, error_code& /*failed*/) {
    number_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t /*value*/, Text part, error_code& failed) {
    return number(part, failed);
  }
  bool on_uint64(std::uint64_t /*value*/, Text part, error_code& failed) {
    return number(part, failed);
  }
  bool on_double(double /*value*/, Text part, error_code& failed) { return number(part, failed); }
  bool on_bool(bool value, error_code& /*failed*/) { return literal(value ? "true" : "false"); }
  bool on_null(error_code& /*failed*/) { return literal("null"); }
  bool on_comment_part(Text /*part*/, error_code& /*failed*/) { return true; }
  bool on_comment(Text /*part*/, error_code& /*failed*/) { return true; }

  [[nodiscard]] const std::optional<std::string>& twice() const { return twice_; }
  std::string take_whole() { return std::move(out_); }

 private:
  struct Open {
    bool is_object = false;
    bool has_items = false;   ///< of an array
    std::size_t members = 0;  ///< where its own begin in members_
    std::size_t names = 0;
  };
  struct Member {
    std::size_t name = 0;  ///< in names_, as it is meant
    std::size_t name_bytes = 0;
    std::size_t begin = 0;  ///< in out_: its name, and its value
    std::size_t end = 0;
  };

  void before_value() {
    if (!open_.empty() && !open_.back().is_object && std::exchange(open_.back().has_items, true)) {
      out_ += ',';
    }
  }
  bool literal(std::string_view text) {
    before_value();
    out_ += text;
    return true;
  }
  bool number(Text part, error_code& failed) {
    on_number_part(part, failed);
    before_value();
    out_ += canonical_number(number_);
    number_.clear();
    return true;
  }
  [[nodiscard]] std::string_view name_of(const Member& one) const {
    return std::string_view(names_).substr(one.name, one.name_bytes);
  }
  /// False: two have one name.
  bool sort_members(std::size_t first) {
    const auto own = std::ranges::subrange(members_.begin() + static_cast<std::ptrdiff_t>(first),
                                           members_.end());
    if (own.empty()) {
      return true;
    }
    own.back().end = out_.size();
    const auto before = [this](const Member& a, const Member& b) {
      return less_in_utf16(name_of(a), name_of(b));
    };
    if (std::ranges::adjacent_find(own, std::not_fn(before)) == own.end()) {
      return true;
    }
    const std::size_t begin = own.front().begin;
    std::ranges::sort(own, before);
    std::string sorted;
    sorted.reserve(out_.size() - begin);
    const Member* last = nullptr;
    for (const Member& one : own) {
      if (last != nullptr && name_of(*last) == name_of(one)) {
        twice_ = std::string(name_of(one));
        return false;
      }
      sorted += last == nullptr ? "" : ",";
      sorted.append(out_, one.begin, one.end - one.begin);
      last = &one;
    }
    out_.replace(begin, sorted.size(), sorted);
    return true;
  }

  std::string out_;
  std::string names_;            ///< of the members of objects that are open
  std::vector<Member> members_;  ///< the same
  std::vector<Open> open_;
  std::string number_;
  std::size_t key_bytes_ = 0;  ///< of the name that is being read
  bool in_string_ = false;
  std::optional<std::string> twice_{};
};

/// What the handler makes of a text that is JSON as a whole.
template <class Handler>
auto walk(std::string_view text, std::size_t depth_max)
    -> Result<decltype(std::declval<Handler>().take_whole())> {
  boost::json::parse_options bounds;
  bounds.max_depth = depth_max;
  try {
    boost::json::basic_parser<Handler> parser(bounds);
    error_code failed;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), failed);
    if (const auto& twice = parser.handler().twice()) {
      return fail(ErrorKind::invalid_argument, "the body has the member \"" + *twice + "\" twice");
    }
    if (failed) {
      return fail(ErrorKind::invalid_argument, "the body is not valid JSON: " + failed.message());
    }
    if (text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) {
      return fail(ErrorKind::invalid_argument, "the body is not valid JSON: something follows it");
    }
    return parser.handler().take_whole();
  } catch (const std::exception& thrown) {
    return fail(ErrorKind::internal, thrown.what());
  }
}

}  // namespace

Result<ExactJson> ExactJson::parse(std::string_view text, std::size_t depth_max) {
  return walk<Builder>(text, depth_max);
}

Result<std::string> ExactJson::canonical_of(std::string_view text, std::size_t depth_max) {
  return walk<Canonical>(text, depth_max);
}

const ExactJson* ExactJson::member(std::string_view name) const {
  const auto found =
      std::ranges::find(members, name, [](const auto& one) { return std::string_view(one.first); });
  return found == members.end() ? nullptr : &found->second;
}

std::string ExactJson::to_text() const {
  std::string out;
  append(out, *this, false);
  return out;
}

std::string ExactJson::canonical() const {
  std::string out;
  append(out, *this, true);
  return out;
}

}  // namespace hk
