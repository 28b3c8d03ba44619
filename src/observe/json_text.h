/// Texts of log lines and exported spans: bounded, so that one hostile input cannot fill a disk.
/// Callable from any thread.
#pragma once

#include "base/json_string.h"

namespace hk::observe {

/// The most a value may hold; a longer one ends with an ellipsis.
constexpr std::size_t text_bytes_max = 2048;

inline void append_json_text(std::string& out, std::string_view text) {
  append_json_string(out, text, text_bytes_max);
}

}  // namespace hk::observe
