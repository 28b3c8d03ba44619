#include "base/json_string.h"

#include <algorithm>
#include <cstdint>

#include "base/byte_run.h"

namespace hk {
namespace {

constexpr std::string_view replacement = "\\ufffd";
constexpr std::size_t replacement_bytes = 3;  ///< of U+FFFD as a reader gets it
constexpr std::string_view ellipsis = "\xe2\x80\xa6";

std::uint8_t at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
}

struct Piece {
  std::size_t bytes = 1;  ///< how many of the text it takes
  bool valid = true;
};

/// The well-formed character at the start of `text`, or the longest beginning of one that is not
/// completed (Unicode 15, table 3-7). REQUIRES: !text.empty().
Piece next_piece(std::string_view text) {
  const std::uint8_t first = at(text, 0);
  if (first < 0x80) {
    return {};
  }
  std::size_t bytes = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    bytes = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    bytes = 3;
    low = first == 0xe0 ? 0xa0 : 0x80;   // no overlong form
    high = first == 0xed ? 0x9f : 0xbf;  // no surrogate
  } else if (first >= 0xf0 && first <= 0xf4) {
    bytes = 4;
    low = first == 0xf0 ? 0x90 : 0x80;
    high = first == 0xf4 ? 0x8f : 0xbf;  // nothing above U+10FFFF
  } else {
    return {.bytes = 1, .valid = false};
  }
  for (std::size_t i = 1; i < bytes; ++i) {
    if (at(text, i) < low || at(text, i) > high) {
      return {.bytes = i, .valid = false};
    }
    low = 0x80;
    high = 0xbf;
  }
  return {.bytes = bytes, .valid = true};
}

void append_escape(std::string& out, std::uint8_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out.push_back(digits[code >> 4U]);
  out.push_back(digits[code & 15U]);
}

void append_ascii(std::string& out, char character) {
  const auto code = static_cast<std::uint8_t>(character);
  switch (character) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (code < 0x20 || code == 0x7f) {
    append_escape(out, code);
  } else {
    out.push_back(character);
  }
}

/// How many bytes at the start of `text` stand for themselves.
std::size_t plain_run(std::string_view text) {
  return bytes_before(text, [](EightBytes bytes) {
    return bytes.below(0x20) | bytes.equal('"') | bytes.equal('\\') | bytes.equal(0x7f) |
           bytes.not_ascii();
  });
}

}  // namespace

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Piece piece = next_piece(text);
    if (!piece.valid) {
      return false;
    }
    text.remove_prefix(piece.bytes);
  }
  return true;
}

void append_json_string(std::string& out, std::string_view text, std::size_t bytes_max) {
  out.push_back('"');
  std::size_t held = 0;  // bytes of the value as a reader gets it, not of its escaped form
  std::size_t room_for_ellipsis = out.size();
  const std::size_t full = bytes_max - ellipsis.size();
  while (!text.empty()) {
    const std::size_t room = full - std::min(held, full);
    if (const std::size_t run = plain_run(text.substr(0, room)); run != 0) {
      out += text.substr(0, run);
      held += run;
      room_for_ellipsis = out.size();
      text.remove_prefix(run);
      continue;
    }
    const Piece piece = next_piece(text);
    held += piece.valid ? piece.bytes : replacement_bytes;
    if (held > bytes_max) {
      out.resize(room_for_ellipsis);
      out += ellipsis;
      break;
    }
    const bool c1_control = piece.bytes == 2 && at(text, 0) == 0xc2 && at(text, 1) < 0xa0;
    if (!piece.valid) {
      out += replacement;
    } else if (piece.bytes == 1) {
      append_ascii(out, text[0]);
    } else if (c1_control) {  // some terminals obey them
      append_escape(out, at(text, 1));
    } else {
      out += text.substr(0, piece.bytes);
    }
    text.remove_prefix(piece.bytes);
    if (held <= full) {
      room_for_ellipsis = out.size();
    }
  }
  out.push_back('"');
}

}  // namespace hk
