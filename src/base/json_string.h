/// A text as a JSON string, safe whatever its bytes are: for answers, signed claims, log lines and
/// exported spans. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hk {

bool valid_utf8(std::string_view text);

/// Appends `text` in quotes. Control characters (C0, DEL, C1) are escaped, each malformed piece of
/// UTF-8 becomes U+FFFD, and a text that would hold more than `bytes_max` bytes ends with an
/// ellipsis within them. REQUIRES: bytes_max >= 3.
void append_json_string(std::string& out, std::string_view text,
                        std::size_t bytes_max = std::string::npos);

}  // namespace hk
