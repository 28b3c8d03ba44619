// One row of words per route: the list that GET /api/openapi.json is made from, with the route
// table. A test compares the two.
#include <array>

#include "api/openapi.h"

namespace hk::api {

namespace {

#define HK_FILTERS \
  "url topicName queueName scheduleId label flowControlKey callerIp fromDate toDate"
#define HK_DEAD_LETTERS HK_FILTERS " messageId responseStatus dlqIds count cursor order"
#define HK_EVENTS HK_FILTERS " messageId messageIds state host path count cursor order trimBody"

// clang-format off
constexpr std::array rows = {
    RouteWords{"POST", "/v2/publish/{destination...}", "publishing", "Accept a message for a destination",
               "", "bytes", 201, "Published"},
    RouteWords{"POST", "/v2/enqueue/{queue}/{destination...}", "publishing", "Accept a message into a queue",
               "", "bytes", 201, "Published"},
    RouteWords{"POST", "/v2/batch", "publishing", "Accept several messages in one durable write", "", "Batch", 200,
               "BatchPublished"},
    RouteWords{"GET", "/v2/topics", "URL groups", "List URL groups", "", "", 200, "UrlGroupList"},
    RouteWords{"GET", "/v2/topics/{name}", "URL groups", "Show a URL group", "", "", 200, "UrlGroup"},
    RouteWords{"DELETE", "/v2/topics/{name}", "URL groups", "Delete a URL group"},
    RouteWords{"PATCH", "/v2/topics/{name}", "URL groups", "Set the default options of a URL group", "",
               "UrlGroupOptions"},
    RouteWords{"POST", "/v2/topics/{name}/endpoints", "URL groups", "Add or change endpoints", "", "Endpoints"},
    RouteWords{"DELETE", "/v2/topics/{name}/endpoints", "URL groups", "Remove endpoints", "", "Endpoints"},
    RouteWords{"GET", "/v2/messages/{messageId}", "messages", "Show a message", "", "", 200, "Message"},
    RouteWords{"DELETE", "/v2/messages/{messageId}", "messages", "Cancel a message", "", "", 200, "Cancelled"},
    RouteWords{"DELETE", "/v2/messages", "messages", "Cancel the messages that ids or filters select",
               HK_FILTERS " host path messageIds count cursor", "Selection", 200, "Cancelled"},
    RouteWords{"GET", "/v2/dlq", "dead letters", "List dead letters", HK_DEAD_LETTERS " trimBody", "", 200,
               "DeadLetterPage"},
    RouteWords{"DELETE", "/v2/dlq", "dead letters", "Delete dead letters", HK_DEAD_LETTERS, "Selection", 200,
               "Deleted"},
    RouteWords{"POST", "/v2/dlq/retry", "dead letters", "Publish dead letters again as new messages",
               HK_DEAD_LETTERS, "Selection", 201, "Retried"},
    RouteWords{"POST", "/v2/dlq/retry/{dlqId}", "dead letters", "Publish a dead letter again as a new message; edited with Hikyaku-Replace-Body and Hikyaku-Replace-Url",
               "", "bytes", 201, "MessageId"},
    RouteWords{"GET", "/v2/dlq/{dlqId}", "dead letters", "Show a dead letter", "", "", 200, "DeadLetter"},
    RouteWords{"DELETE", "/v2/dlq/{dlqId}", "dead letters", "Delete a dead letter", "", "", 200, "Deleted"},
    RouteWords{"GET", "/v2/events", "events", "List what happened to messages", HK_EVENTS, "", 200, "EventPage"},
    RouteWords{"GET", "/v2/logs", "events", "The same under its newer name", HK_EVENTS, "", 200, "EventPage"},
    RouteWords{"POST", "/v2/queues", "queues", "Make or change a queue", "", "QueueSettings"},
    RouteWords{"GET", "/v2/queues", "queues", "List queues", "", "", 200, "QueueList"},
    RouteWords{"GET", "/v2/queues/{name}", "queues", "Show a queue", "", "", 200, "Queue"},
    RouteWords{"DELETE", "/v2/queues/{name}", "queues", "Delete a queue and cancel its messages"},
    RouteWords{"POST", "/v2/queues/{name}/pause", "queues", "Pause a queue"},
    RouteWords{"POST", "/v2/queues/{name}/resume", "queues", "Resume a queue"},
    RouteWords{"GET", "/v2/flowControl", "flow control", "List flow-control keys", "search", "", 200, "FlowKeyList"},
    RouteWords{"GET", "/v2/flowControl/{key...}", "flow control", "Show a flow-control key", "", "", 200, "FlowKey"},
    RouteWords{"POST", "/v2/flowControl/{key...}", "flow control",
               "Change a key; behind it in the path: /pause, /resume, /pin, /unpin or /resetRate",
               "parallelism rate period"},
    RouteWords{"GET", "/v2/globalParallelism", "flow control", "Show the parallelism of the server", "", "", 200,
               "GlobalParallelism"},
    RouteWords{"GET", "/v2/schedules", "schedules", "List schedules", "after count", "", 200, "ScheduleList"},
    RouteWords{"GET", "/v2/schedules/{scheduleId}", "schedules", "Show a schedule", "", "", 200, "Schedule"},
    RouteWords{"DELETE", "/v2/schedules/{scheduleId}", "schedules", "Delete a schedule"},
    RouteWords{"PATCH", "/v2/schedules/{scheduleId}/pause", "schedules", "Pause a schedule"},
    RouteWords{"PATCH", "/v2/schedules/{scheduleId}/resume", "schedules", "Resume a schedule"},
    RouteWords{"POST", "/v2/schedules/{scheduleId}/pause", "schedules", "The same"},
    RouteWords{"POST", "/v2/schedules/{scheduleId}/resume", "schedules", "The same"},
    RouteWords{"POST", "/v2/schedules/{destination...}", "schedules", "Make or replace a schedule", "", "bytes", 200,
               "ScheduleId"},
    RouteWords{"GET", "/v2/keys", "keys", "Show the keys that receivers verify signatures with", "", "", 200,
               "Keys"},
    RouteWords{"POST", "/v2/keys/rotate", "keys", "The next key becomes the current one, a new next one is made",
               "", "", 200, "Keys"},
    RouteWords{"GET", "/api/v1/jobs/{id}", "messages", "Show a message as a job, with its attempts and what holds it",
               "", "", 200, "Job"},
    RouteWords{"GET", "/api/v1/queues/{name}/halted", "queues", "List the messages at which groups of a queue have stopped",
               "", "", 200, "HaltedPage"},
    RouteWords{"POST", "/api/v1/queues/{name}/halted", "queues", "Retry, edit or skip the message at which a group has stopped",
               "", "ResolveHalted", 200},
    RouteWords{"POST", "/api/v1/admin/backup", "operations", "Copy the data directory", "", "Directory", 200,
               "Directory"},
    RouteWords{"GET", "/api/v1/tenants", "operations", "List tenants", "", "", 200, "TenantPage"},
    RouteWords{"POST", "/api/v1/tenants", "operations", "Make a tenant", "", "NewTenant", 201, "TenantCredentials"},
    RouteWords{"POST", "/api/v1/tenants/{id}/rotate-token", "operations", "Give a tenant a new token", "", "", 200,
               "TenantCredentials"},
    RouteWords{"GET", "/api/v1/tenants/{id}/access-keys", "operations",
               "List the access keys that sign requests of AWS clients", "", "", 200, "AccessKeyPage"},
    RouteWords{"POST", "/api/v1/tenants/{id}/access-keys", "operations", "Make an access key", "", "", 201,
               "AccessKeyMade"},
    RouteWords{"DELETE", "/api/v1/tenants/{id}/access-keys/{key...}", "operations", "Revoke an access key", "", "", 200,
               "AccessKeyRevoked"},
    RouteWords{"GET", "/sns/certificate.pem", "keys", "The certificate that verifies what SNS topics deliver"},
    RouteWords{"GET", "/api/openapi.json", "operations", "This document"},
    RouteWords{"GET", "/metrics", "operations", "Metrics in the text format of Prometheus"},
    RouteWords{"GET", "/healthz", "operations", "Does the process answer?", "", "", 200, "Health"},
    RouteWords{"GET", "/readyz", "operations", "Does it serve?", "", "", 200, "Health"},
};
// clang-format on

#undef HK_EVENTS
#undef HK_DEAD_LETTERS
#undef HK_FILTERS

}  // namespace

std::span<const RouteWords> route_words() { return rows; }

}  // namespace hk::api
