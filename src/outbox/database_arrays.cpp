#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outbox/database.h"

namespace hk::outbox {
namespace {

// The numbers of the types in PostgreSQL's catalog, which never change.
constexpr std::uint32_t type_bigint = 20;
constexpr std::uint32_t type_integer = 23;
constexpr std::uint32_t type_text = 25;

template <class Number>
void put(std::string& out, Number number) {
  for (unsigned shift = sizeof(Number) * 8; shift > 0; shift -= 8) {
    out.push_back(static_cast<char>((number >> (shift - 8)) & 0xffU));
  }
}

/// One dimension from 1 on and no NULL among them; `put_element` appends one with its length.
template <class Values, class PutElement>
Parameter array_of(std::uint32_t type, const Values& values, std::size_t bytes,
                   const PutElement& put_element) {
  std::string out;
  out.reserve(20 + bytes);
  put(out, std::uint32_t{values.empty() ? 0U : 1U});
  put(out, std::uint32_t{0});
  put(out, type);
  if (!values.empty()) {
    put(out, static_cast<std::uint32_t>(values.size()));
    put(out, std::uint32_t{1});
  }
  for (const auto& value : values) {
    put_element(out, value);
  }
  Parameter parameter(std::move(out));
  parameter.binary = true;
  return parameter;
}

template <class Unsigned, class Number>
Parameter numbers(std::uint32_t type, const std::vector<Number>& values) {
  return array_of(type, values, values.size() * (4 + sizeof(Number)),
                  [](std::string& out, Number value) {
                    put(out, std::uint32_t{sizeof(Number)});
                    put(out, static_cast<Unsigned>(value));
                  });
}

}  // namespace

Parameter binary_array(const std::vector<std::int64_t>& values) {
  return numbers<std::uint64_t>(type_bigint, values);
}

Parameter binary_array(const std::vector<std::int32_t>& values) {
  return numbers<std::uint32_t>(type_integer, values);
}

Parameter binary_array(const std::vector<std::string_view>& values) {
  std::size_t bytes = 0;
  for (const std::string_view value : values) {
    bytes += 4 + value.size();
  }
  return array_of(type_text, values, bytes, [](std::string& out, std::string_view value) {
    if (value.find('\0') == std::string_view::npos) {
      put(out, static_cast<std::uint32_t>(value.size()));
      out += value;
      return;
    }
    std::string clean;
    for (const char c : value) {
      clean += c == '\0' ? std::string_view("\xef\xbf\xbd") : std::string_view(&c, 1);
    }
    put(out, static_cast<std::uint32_t>(clean.size()));
    out += clean;
  });
}

std::string text_array(const std::vector<std::string>& values) {
  std::string out = "{";
  for (const std::string& value : values) {
    out += out.size() == 1 ? "\"" : ",\"";
    for (const char c : value) {
      if (c == '\0') {
        out += "\xef\xbf\xbd";
        continue;
      }
      if (c == '"' || c == '\\') {
        out.push_back('\\');
      }
      out.push_back(c);
    }
    out.push_back('"');
  }
  return out + "}";
}

std::string number_array(const std::vector<std::int64_t>& values) {
  std::string out = "{";
  for (const std::int64_t value : values) {
    if (out.size() > 1) {
      out.push_back(',');
    }
    out += std::to_string(value);
  }
  return out + "}";
}

}  // namespace hk::outbox
