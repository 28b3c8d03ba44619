/// What clients of Svix know of and this server has not. Pure.
#pragma once

#include <string_view>

namespace hk::api::svix {

inline constexpr std::string_view ingest_path = "/ingest/api/v1/";

/// A path that no row has, for which 501 says more than 404.
bool is_out_of_scope(std::string_view target);

}  // namespace hk::api::svix
