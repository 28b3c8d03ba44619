/// The families of paths that tell errors in the same words. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "edge/http/message.h"

namespace hk::api {

enum class Surface : std::uint8_t {
  qstash,  ///< {"error": "<text>"}
  own,     ///< problem.h
  svix,    ///< svix/errors.h
};

/// A path that no row has still belongs to somebody.
Surface surface_of(std::string_view target);
/// What is said of a path that no row has: parts of the hosted service that are not here say so.
std::string_view nothing_at(std::string_view target);

/// What the client calls the request (X-Request-Id), or a new name. "" where requests have none.
std::string request_id_of(Surface surface, const http::Request& request, Rng& rng);

http::Response error_for(Surface surface, const Error& error, std::string_view request_id);
http::Response error_for(Surface surface, int status, std::string_view text,
                         std::string_view request_id);

}  // namespace hk::api
