/// Whether bytes from outside are JSON, without building a tree of them. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace hk::outbox {

/// One JSON value in UTF-8, nested at most so many levels deep, and nothing after it.
bool is_json(std::string_view text, std::size_t depth_max);

}  // namespace hk::outbox
