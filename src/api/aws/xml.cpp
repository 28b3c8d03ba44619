#include "api/aws/xml.h"

#include "base/byte_run.h"
#include "base/json_string.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

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
  const bool broken = !is_ascii(text) && !valid_utf8(text);
  const auto special = [broken](EightBytes bytes) {
    return bytes.below(0x20) | bytes.equal('&') | bytes.equal('<') | bytes.equal('>') |
           bytes.equal('"') | (broken ? bytes.not_ascii() : 0);
  };
  while (true) {
    const std::size_t run = bytes_before(text, special);
    out += text.substr(0, run);
    if (run == text.size()) {
      return;
    }
    out += escape_of(text[run]);
    text.remove_prefix(run + 1);
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
