/// What publish, enqueue and the items of a batch have in common: how a command is made of them,
/// and how it is told what became of them. Called on I/O threads.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/qstash/destination.h"
#include "api/qstash/group_defaults.h"
#include "core/command.h"

namespace hk::api::qstash {

struct PublishParts {
  Destination destination{};
  std::string queue{};              ///< "" = none, or as an option says
  std::vector<net::Field>& fields;  ///< values are taken out of them
  std::string body{};
  CronOptions* cron = nullptr;  ///< filled if it is to be a schedule; null: it must not be one
};
/// The caller and the trace are those of the request. invalid_argument: what is wrong and what
/// would be right.
Result<core::Publish> read_publish(const Services& services, Call& call, GroupDefaults& defaults,
                                   PublishParts parts);

/// An item of a batch: an object with "destination", "queue", "headers" and "body". As above.
Result<core::Publish> read_item(const Services& services, Call& call, GroupDefaults& defaults,
                                const boost::json::value& given);

/// Of the request's traceparent, or a new one.
core::Trace read_trace(const http::Request& request, Rng& rng);

Error invalid_queue_name();
Error body_too_large(const Services& services);
/// Answers 503 if nothing is accepted at the moment.
bool refused_for_now(const Services& services, Call& call);

/// `url_json` is the destination as a JSON text, quotes included; "" = it is pulled.
void append_published(std::string& out, const core::Published& published,
                      std::string_view url_json);
/// A bare array, in the group's order.
void append_fanned_out(std::string& out, const core::FannedOut& all);
void count_published(const Services& services, const core::FannedOut& all);

}  // namespace hk::api::qstash
