/// A publish without a destination: into a queue that is pulled from, where it is a message like
/// those that SQS clients send. Called on I/O threads.
#pragma once

#include <string>
#include <vector>

#include "api/call.h"
#include "api/qstash/publish_options.h"
#include "core/command.h"

namespace hk::api::qstash {

struct PulledParts {
  std::string queue{};
  std::vector<net::Field>& fields;  ///< values are taken out of them
  QueryOptions query{};
  std::string body{};
};
/// The headers to forward become its attributes. invalid_argument: the queue is not one that is
/// pulled from, an option means nothing there, or what would be right.
Result<core::Publish> read_pulled(const Services& services, Call& call, PulledParts parts);

}  // namespace hk::api::qstash
