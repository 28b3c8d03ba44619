/// The one gate for header names, values and targets that leave this process: what passes cannot
/// end a line, so it cannot add a header or a second message. Pure; any thread.
#pragma once

#include <string_view>

namespace hk::http {

/// The name is a token; the value holds no control byte but the tab and no space at its ends.
bool safe_header(std::string_view name, std::string_view value);

/// A target that may be written to a request line: it starts with '/' and is visible ASCII.
bool safe_target(std::string_view target);

}  // namespace hk::http
