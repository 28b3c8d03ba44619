/// The QStash-compatible endpoints: each parses its request, submits a command or reads a durable
/// view, and answers. Called by the Service on I/O threads, through the route table.
#pragma once

#include "api/call.h"

namespace hk::api::qstash {

void publish(const Services& services, Call& call);
void enqueue(const Services& services, Call& call);

void get_message(const Services& services, Call& call);
void cancel_message(const Services& services, Call& call);

void list_dead_letters(const Services& services, Call& call);
void get_dead_letter(const Services& services, Call& call);
void delete_dead_letter(const Services& services, Call& call);
void delete_dead_letters(const Services& services, Call& call);
void retry_dead_letter(const Services& services, Call& call);
void retry_dead_letters(const Services& services, Call& call);

void list_events(const Services& services, Call& call);
void list_logs(const Services& services, Call& call);

void get_keys(const Services& services, Call& call);

}  // namespace hk::api::qstash
