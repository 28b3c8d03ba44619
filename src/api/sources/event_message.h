/// The message that an event becomes: what its service has sent, and what is said of it. Pure but
/// for the trace; I/O threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/sources/directory.h"
#include "api/sources/verify/verify.h"
#include "core/command.h"
#include "edge/http/message.h"

namespace hk::api::sources {

struct EventContent {
  EventNames names{};
  std::vector<net::Field> fields{};  ///< as they came
  std::string body{};
  std::string remote{};
  core::Trace trace{};
  Moment received_at{};
  bool unverified = false;  ///< released by hand
};

core::InboundEvent make_event(const Options& options, const OpenSource& source,
                              EventContent content);

/// An id or a type as the value of a header: what may not stand there is percent-encoded.
std::string header_text(std::string_view text);

}  // namespace hk::api::sources
