/// The QStash-compatible endpoints: each parses its request, submits a command or reads a durable
/// view, and answers. Called by the Service on I/O threads, through the route table.
#pragma once

#include "api/call.h"

namespace hk::api::qstash {

void publish(const Services& services, Call& call);
void enqueue(const Services& services, Call& call);
void publish_batch(const Services& services, Call& call);

void list_url_groups(const Services& services, Call& call);
void get_url_group(const Services& services, Call& call);
void delete_url_group(const Services& services, Call& call);
void set_url_group_options(const Services& services, Call& call);
void add_endpoints(const Services& services, Call& call);
void remove_endpoints(const Services& services, Call& call);

void get_message(const Services& services, Call& call);
void cancel_message(const Services& services, Call& call);
void cancel_messages(const Services& services, Call& call);
void list_bulk_actions(const Services& services, Call& call);
void get_bulk_action(const Services& services, Call& call);

void list_dead_letters(const Services& services, Call& call);
void get_dead_letter(const Services& services, Call& call);
void delete_dead_letter(const Services& services, Call& call);
void delete_dead_letters(const Services& services, Call& call);
void retry_dead_letter(const Services& services, Call& call);
void retry_dead_letters(const Services& services, Call& call);

void list_events(const Services& services, Call& call);
void list_logs(const Services& services, Call& call);

void upsert_queue(const Services& services, Call& call);
void list_queues(const Services& services, Call& call);
void get_queue(const Services& services, Call& call);
void delete_queue(const Services& services, Call& call);
void pause_queue(const Services& services, Call& call);
void resume_queue(const Services& services, Call& call);

void list_flow_keys(const Services& services, Call& call);
void get_flow_key(const Services& services, Call& call);
void change_flow_key(const Services& services, Call& call);
void get_global_parallelism(const Services& services, Call& call);
void create_schedule(const Services& services, Call& call);
void list_schedules(const Services& services, Call& call);
void get_schedule(const Services& services, Call& call);
void delete_schedule(const Services& services, Call& call);
void pause_schedule(const Services& services, Call& call);
void resume_schedule(const Services& services, Call& call);

void get_keys(const Services& services, Call& call);
void rotate_keys(const Services& services, Call& call);

}  // namespace hk::api::qstash
