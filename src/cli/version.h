#pragma once

namespace hk::cli {
inline constexpr const char* version = "0.1.0";
}
