/// Text inside XML elements. Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hk::api::aws {

/// Appends `text` escaped. A carriage return becomes "&#xD;" in exactly that spelling: a bare one
/// would be read as a line feed, and the JavaScript SDKs decode no other. What XML cannot hold
/// (other control characters, U+FFFE, U+FFFF, broken UTF-8) becomes U+FFFD, so that the answer can
/// be read whatever it repeats.
void append_xml_text(std::string& out, std::string_view text);

/// <name>text</name>
void append_xml_element(std::string& out, std::string_view name, std::string_view text);

}  // namespace hk::api::aws
