/// Errors as values. The kinds are a closed set chosen by what the caller should do next; nothing
/// branches on the message, which is written for the person who reads it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace hk {

enum class ErrorKind : std::uint8_t {
  invalid_argument,   ///< the request is wrong: mend it
  unauthenticated,    ///< who are you?
  permission_denied,  ///< known, but not allowed
  not_found,
  conflict,         ///< it clashes with what is there
  limit_exceeded,   ///< too much, too large, too often: later or less
  quota_reached,    ///< as many as are allowed are there: delete some, or raise the limit
  unavailable,      ///< not now: the same request may succeed later; nothing was done
  unknown_outcome,  ///< it may or may not have been done; look before repeating
  corruption,       ///< stored data is not what was written
  internal,         ///< our fault
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message{};

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}

}  // namespace hk
