/// What a message is recognised by when it comes again (§9 of the wire specification). The scope is
/// the destination: the same id sent to two URLs is two messages. The results are of fixed length,
/// and an id chosen by a client can never equal one computed from content. Pure, any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/message.h"

namespace hk::api::qstash {

std::string dedup_by_id(std::string_view id);
/// Over URL, body and headers (in any order).
std::string dedup_by_content(const core::Message& message);

}  // namespace hk::api::qstash
