/// Errors that the Service tells itself, in the words of the surface that was asked. Pure.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "api/route.h"
#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api {

/// A path that no row has still belongs to somebody.
Surface surface_of(std::string_view target);
/// What is said of a path that no row has: parts of the hosted service that are not here say so.
std::string_view nothing_at(std::string_view target);
http::Response error_for(Surface surface, const Error& error);
http::Response error_for(Surface surface, int status, std::string_view text);

/// Runs a piece of a handler on the I/O thread. What a store or a library throws (a broken record,
/// no memory) ends here: it is logged and, if the request is still unanswered, told as our fault.
template <class Work>
void answering(Answer& answer, Surface surface, Work&& work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    const Error error{ErrorKind::internal, thrown.what()};
    http::Response response = error_for(surface, error);
    if (answer.pending()) {
      answer(std::move(response));
    }
  }
}

}  // namespace hk::api
