#include "api/aws/xml.h"

#include "base/byte_run.h"
#include "base/json_string.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
/// U+FFFE and U+FFFF begin so, and much that is allowed.
constexpr unsigned char noncharacter_begin = 0xef;

bool is_ascii(std::string_view text) {
  return bytes_before(text, [](EightBytes bytes) { return bytes.not_ascii(); }) == text.size();
}

std::string_view escape_of(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\r': return "&#xD;";
    case '\n': return "\n";
    case '\t': return "\t";
    default: return replacement;
  }
}

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  const bool ascii = is_ascii(text);
  const bool broken = !ascii && !valid_utf8(text);
  const auto special = [=](EightBytes bytes) {
    return bytes.below(0x20) | bytes.equal('&') | bytes.equal('<') | bytes.equal('>') |
           bytes.equal('"') | (broken ? bytes.not_ascii() : 0) |
           (ascii ? 0 : bytes.equal(noncharacter_begin));
  };
  while (true) {
    const std::size_t run = bytes_before(text, special);
    out += text.substr(0, run);
    if (run == text.size()) {
      return;
    }
    text.remove_prefix(run);
    if (!broken && static_cast<unsigned char>(text.front()) == noncharacter_begin) {
      const bool allowed = !text.starts_with("\xef\xbf\xbe") && !text.starts_with("\xef\xbf\xbf");
      out += allowed ? text.substr(0, 3) : replacement;
      text.remove_prefix(3);
      continue;
    }
    out += escape_of(text.front());
    text.remove_prefix(1);
  }
}

void append_xml_element(std::string& out, std::string_view name, std::string_view text) {
  out += '<';
  out += name;
  out += '>';
  append_xml_text(out, text);
  out += "</";
  out += name;
  out += '>';
}

}  // namespace hk::api::aws
