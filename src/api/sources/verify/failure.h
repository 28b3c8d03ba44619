/// Why a request of a source was rejected: for the people of the source, who read it in the
/// quarantine. To the sender only the kind of it is told (answer_to). Pure, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/problem.h"

namespace hk {
class JsonWriter;
}

namespace hk::api::sources {

enum class Fault : std::uint8_t {
  header_missing,
  header_malformed,
  timestamp_missing,
  timestamp_too_old,
  timestamp_too_new,
  scheme_unknown,
  signature_mismatch,
  credentials_mismatch,
  token_expired,
  token_body_mismatch,
  token_subject_mismatch,
  body_not_json,
};
std::string_view name_of(Fault fault);

struct Failure {
  Fault fault{};
  std::string message{};
  std::string details{};  ///< a JSON object
};

/// `write` writes the members of the details.
Failure failure(Fault fault, std::string message, const std::function<void(JsonWriter&)>& write);

/// What the sender is told. It never says which part differed.
struct Rejection {
  Problem what{};
  int status = 401;
  std::string_view detail{};
};
Rejection answer_to(Fault fault);

}  // namespace hk::api::sources
