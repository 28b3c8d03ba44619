// What is served below /v2, in the words of QStash. The busiest path stands first.
#include <array>

#include "api/qstash/handlers.h"
#include "api/route.h"

namespace hk::api::qstash {

namespace {

#define HK_FILTERS \
  "url topicName queueName scheduleId label flowControlKey callerIp fromDate toDate"
#define HK_DEAD_LETTERS HK_FILTERS " messageId responseStatus dlqIds count cursor order"
#define HK_EVENTS HK_FILTERS " messageId messageIds state host path count cursor order trimBody"

// clang-format off
constexpr std::array qstash_routes = {
    Route{"POST", "/v2/publish/{destination...}", Access::tenant, publish,
          {.tag = "publishing", .summary = "Publish a message to a destination", .request = "bytes",
           .status = 201, .response = "Published"}, Body::message, {}, Rated::publish},
    Route{"POST", "/v2/enqueue/{queue}/{destination...}", Access::tenant, enqueue,
          {.tag = "publishing", .summary = "Enqueue a message", .request = "bytes",
           .status = 201, .response = "Published"}, Body::message, {}, Rated::publish},
    Route{"POST", "/v2/batch", Access::tenant, publish_batch,
          {.tag = "publishing", .summary = "Publish several messages in one durable write",
           .request = "Batch", .response = "BatchPublished"}, Body::batch, {}, Rated::publish},
    Route{"GET", "/v2/topics", Access::tenant, list_url_groups,
          {.tag = "URL groups", .summary = "List URL groups", .response = "UrlGroupList"}},
    Route{"GET", "/v2/topics/{name}", Access::tenant, get_url_group,
          {.tag = "URL groups", .summary = "Show a URL group", .response = "UrlGroup"}},
    Route{"DELETE", "/v2/topics/{name}", Access::tenant, delete_url_group,
          {.tag = "URL groups", .summary = "Delete a URL group"}},
    Route{"PATCH", "/v2/topics/{name}", Access::tenant, set_url_group_options,
          {.tag = "URL groups", .summary = "Set the default options of a URL group",
           .request = "UrlGroupOptions"}},
    Route{"POST", "/v2/topics/{name}/endpoints", Access::tenant, add_endpoints,
          {.tag = "URL groups", .summary = "Add or change endpoints", .request = "Endpoints"}},
    Route{"DELETE", "/v2/topics/{name}/endpoints", Access::tenant, remove_endpoints,
          {.tag = "URL groups", .summary = "Remove endpoints", .request = "Endpoints"}},
    Route{"GET", "/v2/messages/{messageId}", Access::tenant, get_message,
          {.tag = "messages", .summary = "Show a message", .response = "Message"}},
    Route{"DELETE", "/v2/messages/{messageId}", Access::tenant, cancel_message,
          {.tag = "messages", .summary = "Cancel a message", .response = "Cancelled"}},
    Route{"DELETE", "/v2/messages", Access::tenant, cancel_messages,
          {.tag = "messages", .summary = "Cancel the messages that ids or filters select",
           .query = HK_FILTERS " host path messageIds count cursor async", .request = "Selection",
           .response = "BulkCancelled"}},
    Route{"GET", "/v2/bulkActions", Access::tenant, list_bulk_actions,
          {.tag = "messages", .summary = "List the bulk actions of the last 7 days",
           .query = "state count cursor", .response = "BulkActionPage"}},
    Route{"GET", "/v2/bulkActions/{actionId}", Access::tenant, get_bulk_action,
          {.tag = "messages", .summary = "Show a bulk action", .response = "BulkAction"}},
    Route{"GET", "/v2/dlq", Access::tenant, list_dead_letters,
          {.tag = "dead letters", .summary = "List dead letters", .query = HK_DEAD_LETTERS " trimBody",
           .response = "DeadLetterPage"}},
    Route{"DELETE", "/v2/dlq", Access::tenant, delete_dead_letters,
          {.tag = "dead letters", .summary = "Delete dead letters", .query = HK_DEAD_LETTERS,
           .request = "Selection", .response = "Deleted"}},
    Route{"POST", "/v2/dlq/retry", Access::tenant, retry_dead_letters,
          {.tag = "dead letters", .summary = "Publish dead letters again as new messages",
           .query = HK_DEAD_LETTERS, .request = "Selection", .status = 201, .response = "Retried"}},
    Route{"POST", "/v2/dlq/retry/{dlqId}", Access::tenant, retry_dead_letter,
          {.tag = "dead letters",
           .summary = "Publish a dead letter again as a new message; edited with Hikyaku-Replace-Body and Hikyaku-Replace-Url",
           .request = "bytes", .status = 201, .response = "MessageId"}},
    Route{"GET", "/v2/dlq/{dlqId}", Access::tenant, get_dead_letter,
          {.tag = "dead letters", .summary = "Show a dead letter", .response = "DeadLetter"}},
    Route{"DELETE", "/v2/dlq/{dlqId}", Access::tenant, delete_dead_letter,
          {.tag = "dead letters", .summary = "Delete a dead letter", .response = "Deleted"}},
    Route{"GET", "/v2/events", Access::tenant, list_events,
          {.tag = "events", .summary = "List the events of messages", .query = HK_EVENTS,
           .response = "EventPage"}},
    Route{"GET", "/v2/logs", Access::tenant, list_logs,
          {.tag = "events", .summary = "List the events of messages (the newer name of /v2/events)", .query = HK_EVENTS,
           .response = "EventPage"}},
    Route{"POST", "/v2/queues", Access::tenant, upsert_queue,
          {.tag = "queues", .summary = "Create or change a queue", .request = "QueueSettings"}},
    Route{"GET", "/v2/queues", Access::tenant, list_queues,
          {.tag = "queues", .summary = "List queues", .response = "QueueList"}},
    Route{"GET", "/v2/queues/{name}", Access::tenant, get_queue,
          {.tag = "queues", .summary = "Show a queue", .response = "Queue"}},
    Route{"DELETE", "/v2/queues/{name}", Access::tenant, delete_queue,
          {.tag = "queues", .summary = "Delete a queue and cancel its messages"}},
    Route{"POST", "/v2/queues/{name}/pause", Access::tenant, pause_queue,
          {.tag = "queues", .summary = "Pause a queue"}},
    Route{"POST", "/v2/queues/{name}/resume", Access::tenant, resume_queue,
          {.tag = "queues", .summary = "Resume a queue"}},
    Route{"GET", "/v2/flowControl", Access::tenant, list_flow_keys,
          {.tag = "flow control", .summary = "List flow-control keys", .query = "search",
           .response = "FlowKeyList"}},
    Route{"GET", "/v2/flowControl/{key...}", Access::tenant, get_flow_key,
          {.tag = "flow control", .summary = "Show a flow-control key", .response = "FlowKey"}},
    Route{"POST", "/v2/flowControl/{key...}", Access::tenant, change_flow_key,
          {.tag = "flow control",
           .summary = "Change a flow-control key; after the key in the path: /pause, /resume, /pin, /unpin or /resetRate",
           .query = "parallelism rate period"}},
    Route{"GET", "/v2/globalParallelism", Access::tenant, get_global_parallelism,
          {.tag = "flow control", .summary = "Show the global parallelism",
           .response = "GlobalParallelism"}},
    Route{"GET", "/v2/schedules", Access::tenant, list_schedules,
          {.tag = "schedules", .summary = "List schedules", .query = "after count",
           .response = "ScheduleList"}},
    Route{"GET", "/v2/schedules/{scheduleId}", Access::tenant, get_schedule,
          {.tag = "schedules", .summary = "Show a schedule", .response = "Schedule"}},
    Route{"DELETE", "/v2/schedules/{scheduleId}", Access::tenant, delete_schedule,
          {.tag = "schedules", .summary = "Delete a schedule"}},
    Route{"PATCH", "/v2/schedules/{scheduleId}/pause", Access::tenant, pause_schedule,
          {.tag = "schedules", .summary = "Pause a schedule"}},
    Route{"PATCH", "/v2/schedules/{scheduleId}/resume", Access::tenant, resume_schedule,
          {.tag = "schedules", .summary = "Resume a schedule"}},
    Route{"POST", "/v2/schedules/{scheduleId}/pause", Access::tenant, pause_schedule,
          {.tag = "schedules", .summary = "Pause a schedule"}},
    Route{"POST", "/v2/schedules/{scheduleId}/resume", Access::tenant, resume_schedule,
          {.tag = "schedules", .summary = "Resume a schedule"}},
    Route{"POST", "/v2/schedules/{destination...}", Access::tenant, create_schedule,
          {.tag = "schedules", .summary = "Create or replace a schedule", .request = "bytes",
           .response = "ScheduleId"}},
    Route{"GET", "/v2/keys", Access::tenant, get_keys,
          {.tag = "keys", .summary = "Show the signing keys",
           .response = "Keys"}},
    Route{"POST", "/v2/keys/rotate", Access::tenant, rotate_keys,
          {.tag = "keys", .summary = "Rotate the signing keys: the next key becomes the current one",
           .response = "Keys"}},
};
// clang-format on

#undef HK_EVENTS
#undef HK_DEAD_LETTERS
#undef HK_FILTERS

}  // namespace

RouteTable routes() { return {Surface::qstash, qstash_routes}; }

}  // namespace hk::api::qstash
