/// The way of a publish that has an Upstash-Cron: shared by publish.cpp, which reads it, and
/// schedules.cpp. Called on I/O threads.
#pragma once

#include "api/call.h"
#include "api/qstash/publish_options.h"
#include "core/command.h"

namespace hk::api::qstash {

/// Checks the cron and its zone, and stores the schedule. Answers the call.
/// REQUIRES: schedule.cron is there.
void submit_schedule(const Services& services, Call& call, core::Publish command,
                     CronOptions schedule);

}  // namespace hk::api::qstash
