/// Text forms of bytes. The decoders are strict, so that one value has one text: no white space,
/// exact padding, no stray bits in the last character (hex may be of either case). Callable from
/// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hk {

std::string hex(std::string_view bytes);
inline std::string hex(std::span<const std::uint8_t> bytes) {
  return hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}
std::optional<std::string> unhex(std::string_view text);
void append_hex(std::string& out, std::string_view bytes);
std::string base64(std::string_view bytes);  ///< standard alphabet, padded
void append_base64(std::string& out, std::string_view bytes);
std::optional<std::string> unbase64(std::string_view text);
std::string base64url(std::string_view bytes);  ///< RFC 4648 §5, not padded
void append_base64url(std::string& out, std::string_view bytes);
std::optional<std::string> unbase64url(std::string_view text);

}  // namespace hk
