/// Options that a message and its callbacks have alike, and the callbacks themselves (§3.1 and §8
/// of the wire specification). invalid_argument names the header at fault. Called on I/O threads by
/// publish_options.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/options.h"
#include "api/qstash/given_options.h"
#include "base/error.h"
#include "core/message.h"

namespace hk::api::qstash {

/// Appends the forwarded headers, and checks all that are there then.
Result<void> read_forwards(const Options& options, Section& given,
                           std::vector<core::Header>& headers);
Result<void> read_method(const Section& given, std::string& method);
Result<void> read_retry(const Options& options, const Section& given, std::uint32_t retries_default,
                        core::RetryPolicy& retry);
Result<void> read_timeout(const Options& options, const Section& given, Millis& timeout);

/// REQUIRES: queue and retries of the message are set. Options of a callback that has no URL are
/// ignored.
Result<void> read_callbacks(const Options& options, Given& given, core::Message& message);

}  // namespace hk::api::qstash
