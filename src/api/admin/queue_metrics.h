/// What scales workers: how many messages wait in each queue that is pulled from, and for how long.
/// Called on I/O threads when /metrics is scraped.
#pragma once

#include "api/call.h"

namespace hk::api::admin {

/// `finish` gets the lines of these metrics, in the text format of Prometheus.
void render_queues(const Services& services, Batcher& batcher,
                   std::move_only_function<void(std::string)> finish);

}  // namespace hk::api::admin
