// The objects that requests and answers are made of, as JSON Schema.
#include "api/openapi.h"

namespace hk::api {

namespace {

constexpr std::string_view components = R"json({
"securitySchemes": {
  "token": {"type": "http", "scheme": "bearer", "description": "token of a tenant"},
  "metricsToken": {"type": "http", "scheme": "bearer", "description": "metrics_token, if it is set"},
  "adminToken": {"type": "http", "scheme": "bearer", "description": "token in admin.json of the data directory"}
},
"schemas": {
  "Bytes": {"type": "string", "format": "binary"},
  "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
  "Problem": {"type": "object", "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
      "type": {"type": "string", "description": "urn:hikyaku:problem:<code>"},
      "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
      "code": {"enum": ["invalid", "unauthenticated", "permission_denied", "not_found", "method_not_allowed",
        "request_timeout", "conflict", "quota_reached", "too_large", "rate_limited", "internal", "not_available",
        "unavailable", "unknown_outcome", "idempotency_in_progress", "idempotency_key_reused",
        "idempotency_key_required", "idempotency_key_not_taken", "fenced", "already_completed"]},
      "request_id": {"type": "string", "description": "X-Request-Id of the request, or one that was made"}}},
  "HeaderMap": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
  "MessageId": {"type": "object", "required": ["messageId"], "properties": {"messageId": {"type": "string"}}},
  "Published": {"allOf": [{"$ref": "#/components/schemas/MessageId"}], "properties": {
    "url": {"type": "string"}, "deduplicated": {"type": "boolean"}}},
  "Cancelled": {"type": "object", "required": ["cancelled"], "properties": {"cancelled": {"type": "integer"}}},
  "BulkCancelled": {"anyOf": [{"$ref": "#/components/schemas/Cancelled"},
    {"type": "object", "required": ["actionId"], "properties": {"actionId": {"type": "string", "description": "with async"}}}]},
  "BulkAction": {"type": "object",
    "required": ["actionId", "kind", "state", "total", "processed", "createdAt", "filter"],
    "properties": {
      "actionId": {"type": "string"}, "kind": {"enum": ["cancel"]}, "state": {"enum": ["IN_PROGRESS", "FINISHED"]},
      "total": {"type": "integer", "description": "messages found so far"},
      "processed": {"type": "integer", "description": "messages cancelled so far"},
      "createdAt": {"type": "integer", "description": "ms since 1970"},
      "completedAt": {"type": "integer", "description": "ms since 1970; absent while it is in progress"},
      "filter": {"$ref": "#/components/schemas/HeaderMap"}}},
  "BulkActionPage": {"type": "object", "required": ["bulkActions"], "properties": {
    "bulkActions": {"type": "array", "items": {"$ref": "#/components/schemas/BulkAction"}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "Deleted": {"type": "object", "required": ["deleted"], "properties": {
    "deleted": {"type": "integer"}, "cursor": {"type": "string"}}},
  "Retried": {"type": "object", "required": ["responses"], "properties": {
    "responses": {"type": "array", "items": {"$ref": "#/components/schemas/MessageId"}},
    "cursor": {"type": "string"}}},
  "Selection": {"type": "object", "description": "the query parameters as members; values are strings, numbers or arrays of them"},
  "Message": {"type": "object",
    "required": ["messageId", "url", "method", "header", "maxRetries", "notBefore", "createdAt", "callerIP"],
    "properties": {
      "messageId": {"type": "string"}, "url": {"type": "string"}, "method": {"type": "string"},
      "header": {"$ref": "#/components/schemas/HeaderMap"},
      "body": {"type": "string"}, "bodyBase64": {"type": "string"},
      "maxRetries": {"type": "integer"},
      "notBefore": {"type": "integer", "description": "ms since 1970"},
      "createdAt": {"type": "integer", "description": "ms since 1970"},
      "retryDelayExpression": {"type": "string"},
      "callback": {"type": "string"}, "failureCallback": {"type": "string"},
      "topicName": {"type": "string"}, "endpointName": {"type": "string"},
      "queueName": {"type": "string"}, "scheduleId": {"type": "string"},
      "callerIP": {"type": "string"}, "callerIp": {"type": "string"},
      "label": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}},
      "flowControlKey": {"type": "string"}, "parallelism": {"type": "integer"}, "rate": {"type": "integer"},
      "period": {"type": "integer", "description": "seconds"}}},
  "DeadLetter": {"allOf": [{"$ref": "#/components/schemas/Message"}], "required": ["dlqId", "responseStatus"],
    "properties": {
      "dlqId": {"type": "string"}, "responseStatus": {"type": "integer", "description": "0: no answer"},
      "responseHeader": {"$ref": "#/components/schemas/HeaderMap"},
      "responseBody": {"type": "string"}, "responseBodyBase64": {"type": "string"}}},
  "DeadLetterPage": {"type": "object", "required": ["messages"], "properties": {
    "messages": {"type": "array", "items": {"$ref": "#/components/schemas/DeadLetter"}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "Event": {"type": "object", "required": ["time", "messageId", "state", "url", "method"], "properties": {
    "time": {"type": "integer", "description": "ms since 1970"}, "messageId": {"type": "string"},
    "state": {"enum": ["CREATED", "ACTIVE", "ERROR", "RETRY", "DELIVERED", "FAILED", "CANCEL_REQUESTED", "CANCELED"]},
    "url": {"type": "string"}, "method": {"type": "string"},
    "header": {"$ref": "#/components/schemas/HeaderMap"},
    "body": {"type": "string", "description": "base64"},
    "maxRetries": {"type": "integer"}, "nextDeliveryTime": {"type": "integer"}, "error": {"type": "string"},
    "responseStatus": {"type": "integer"}, "responseBody": {"type": "string", "description": "base64"},
    "responseHeaders": {"$ref": "#/components/schemas/HeaderMap"}}},
  "EventPage": {"type": "object", "required": ["events"], "properties": {
    "events": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "Batch": {"type": "array", "items": {"type": "object", "properties": {
    "destination": {"type": "string", "description": "URL or URL group; none for a queue that workers pull from"},
    "headers": {"type": "object", "description": "values are strings or arrays of strings"},
    "body": {"type": "string"}, "queue": {"type": "string"}}}},
  "BatchPublished": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Published"},
    {"type": "array", "items": {"$ref": "#/components/schemas/Published"}}, {"$ref": "#/components/schemas/Error"}]}},
  "Endpoint": {"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}},
  "Endpoints": {"type": "object", "required": ["endpoints"], "properties": {
    "endpoints": {"type": "array", "items": {"$ref": "#/components/schemas/Endpoint"}}}},
  "UrlGroupOptions": {"type": "object", "required": ["headers"], "properties": {"headers": {"type": "object"}}},
  "UrlGroup": {"allOf": [{"$ref": "#/components/schemas/Endpoints"}], "required": ["name"], "properties": {
    "name": {"type": "string"}, "createdAt": {"type": "integer"}, "updatedAt": {"type": "integer"}}},
  "UrlGroupList": {"type": "array", "items": {"$ref": "#/components/schemas/UrlGroup"}},
  "QueueSettings": {"type": "object", "required": ["queueName"], "properties": {
    "queueName": {"type": "string"}, "parallelism": {"type": "integer"}, "paused": {"type": "boolean"}}},
  "Queue": {"type": "object", "required": ["name", "parallelism", "lag", "paused"], "properties": {
    "name": {"type": "string"}, "parallelism": {"type": "integer"}, "paused": {"type": "boolean"},
    "lag": {"type": "integer", "description": "unfinished messages"},
    "pulled": {"type": "boolean", "description": "workers pull its messages; they are not delivered"},
    "createdAt": {"type": "integer"}, "updatedAt": {"type": "integer"}}},
  "QueueList": {"type": "array", "items": {"$ref": "#/components/schemas/Queue"}},
  "FlowKey": {"type": "object", "required": ["flowControlKey"], "properties": {
    "flowControlKey": {"type": "string"}, "waitListSize": {"type": "integer"},
    "parallelismMax": {"type": "integer"}, "parallelismCount": {"type": "integer"}, "rateMax": {"type": "integer"},
    "rateCount": {"type": "integer"}, "ratePeriod": {"type": "integer", "description": "seconds"},
    "ratePeriodStart": {"type": "integer", "description": "seconds"}, "isPaused": {"type": "boolean"},
    "isPinnedParallelism": {"type": "boolean"}, "isPinnedRate": {"type": "boolean"}}},
  "FlowKeyList": {"type": "array", "items": {"$ref": "#/components/schemas/FlowKey"}},
  "GlobalParallelism": {"type": "object", "required": ["parallelismMax", "parallelismCount"], "properties": {
    "parallelismMax": {"type": "integer"}, "parallelismCount": {"type": "integer"}}},
  "ScheduleId": {"type": "object", "required": ["scheduleId"], "properties": {"scheduleId": {"type": "string"}}},
  "Schedule": {"allOf": [{"$ref": "#/components/schemas/ScheduleId"}],
    "required": ["cron", "destination", "method", "isPaused"], "properties": {
    "cron": {"type": "string"}, "destination": {"type": "string"}, "method": {"type": "string"},
    "header": {"$ref": "#/components/schemas/HeaderMap"}, "body": {"type": "string"},
    "retries": {"type": "integer"}, "createdAt": {"type": "integer"}, "isPaused": {"type": "boolean"},
    "nextScheduleTime": {"type": "integer"}, "lastScheduleTime": {"type": "integer"},
    "lastScheduleStates": {"type": "object", "additionalProperties": {"type": "string"}},
    "error": {"type": "string", "description": "why the last run created no message"}}},
  "ScheduleList": {"type": "array", "items": {"$ref": "#/components/schemas/Schedule"}},
  "Keys": {"type": "object", "required": ["current", "next"], "properties": {
    "current": {"type": "string"}, "next": {"type": "string"}}},
  "Attempt": {"type": "object", "required": ["number", "fence", "started_at"], "properties": {
    "number": {"type": "integer"}, "fence": {"type": "string"},
    "started_at": {"type": "string", "format": "date-time"}, "ended_at": {"type": "string", "format": "date-time"},
    "latency_ms": {"type": "integer"}, "status_code": {"type": "integer"}, "error": {"type": "string"},
    "span_id": {"type": "string"}}},
  "Hold": {"type": "object", "required": ["gate"], "properties": {
    "gate": {"type": "string"}, "detail": {"type": "string"},
    "opens_at": {"type": "string", "format": "date-time"}}},
  "Job": {"type": "object", "required": ["id", "status", "url", "method", "labels", "created_at", "attempts", "holds"],
    "properties": {
      "id": {"type": "string"},
      "status": {"enum": ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELED"]},
      "url": {"type": "string"}, "method": {"type": "string"}, "queue": {"type": "string"},
      "retry_of": {"type": "string", "description": "message of the dead letter"},
      "edited_from": {"type": "string", "description": "the same, if the retry was edited"},
      "labels": {"type": "array", "items": {"type": "string"}},
      "created_at": {"type": "string", "format": "date-time"}, "due_at": {"type": "string", "format": "date-time"},
      "finished_at": {"type": "string", "format": "date-time"}, "cancel_requested": {"type": "boolean"},
      "trace": {"type": "object"}, "dlq_id": {"type": "string"},
      "attempts": {"type": "array", "items": {"$ref": "#/components/schemas/Attempt"}},
      "holds": {"type": "array", "items": {"$ref": "#/components/schemas/Hold"}}}},
  "HaltedPage": {"type": "object", "required": ["halted"], "properties": {
    "halted": {"type": "array", "items": {"type": "object", "required": ["group", "message_id", "receives"],
      "properties": {"group": {"type": "string"}, "message_id": {"type": "string"}, "receives": {"type": "integer"}}}}}},
  "ResolveHalted": {"type": "object", "required": ["group", "action"], "properties": {
    "group": {"type": "string"}, "action": {"enum": ["retry", "skip"]},
    "body": {"type": "string", "description": "with retry: new body of the message"}}},
  "Directory": {"type": "object", "required": ["directory"], "properties": {"directory": {"type": "string"}}},
  "NewTenant": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
  "Tenant": {"type": "object", "required": ["id", "name"], "properties": {
    "id": {"type": "integer"}, "name": {"type": "string"},
    "created_at": {"type": "string", "format": "date-time"}}},
  "TenantPage": {"type": "object", "required": ["tenants"], "properties": {
    "tenants": {"type": "array", "items": {"$ref": "#/components/schemas/Tenant"}}}},
  "TenantCredentials": {"type": "object", "required": ["id", "name", "token"], "properties": {
    "id": {"type": "integer"}, "name": {"type": "string"},
    "token": {"type": "string", "description": "shown once"},
    "current_signing_key": {"type": "string"}, "next_signing_key": {"type": "string"}}},
  "AccessKeyPage": {"type": "object", "required": ["tenant", "access_keys"], "properties": {
    "tenant": {"type": "string"},
    "access_keys": {"type": "array", "items": {"type": "object", "required": ["access_key_id"],
      "properties": {"access_key_id": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"},
        "source": {"enum": ["configuration"], "description": "from the settings of the server; has no created_at"}}}}}},
  "AccessKeyMade": {"type": "object", "required": ["tenant", "access_key_id", "secret_access_key"], "properties": {
    "tenant": {"type": "string"}, "access_key_id": {"type": "string"},
    "secret_access_key": {"type": "string", "description": "shown once"}}},
  "AccessKeyRevoked": {"type": "object", "required": ["tenant", "access_key_id"], "properties": {
    "tenant": {"type": "string"}, "access_key_id": {"type": "string"}}},
  "ClaimKey": {"type": "object", "required": ["key"], "additionalProperties": false, "properties": {
    "key": {"type": "string", "minLength": 1, "maxLength": 255}, "namespace": {"type": "string", "default": "default"},
    "request": {"description": "what the work is about, any JSON: compared with that of earlier claims of the key"},
    "request_hash": {"type": "string", "description": "its SHA-256 in hexadecimal digits, instead of request"},
    "lease": {"type": "string", "default": "60s"}, "ttl": {"type": "string", "description": "default: idempotency_ttl"},
    "wait": {"type": "string", "default": "0s", "description": "up to 60s: wait for the holder instead of 409"},
    "owner": {"type": "string", "maxLength": 255}}},
  "KeyClaimed": {"type": "object", "required": ["state"], "properties": {
    "state": {"enum": ["started", "completed", "failed"]},
    "token": {"type": "integer", "description": "with 201: rises with every claim"},
    "lease_until": {"type": "string", "format": "date-time"}, "attempt": {"type": "integer"},
    "taken_over": {"type": "boolean", "description": "the lease of somebody else has ended"},
    "response": {"description": "with 200 and completed"}, "error": {"description": "with 200 and failed"},
    "replayed": {"type": "boolean"}}},
  "RenewKey": {"type": "object", "required": ["key", "token"], "additionalProperties": false, "properties": {
    "key": {"type": "string"}, "namespace": {"type": "string"}, "token": {"type": "integer"}, "lease": {"type": "string"}}},
  "KeyRenewed": {"type": "object", "required": ["lease_until"], "properties": {
    "lease_until": {"type": "string", "format": "date-time"}}},
  "CompleteKey": {"type": "object", "required": ["key", "token", "response"], "additionalProperties": false, "properties": {
    "key": {"type": "string"}, "namespace": {"type": "string"}, "token": {"type": "integer"},
    "response": {"description": "any JSON, at most 256 KiB"}, "ttl": {"type": "string"}}},
  "FailKey": {"type": "object", "required": ["key", "token", "error", "final"], "additionalProperties": false, "properties": {
    "key": {"type": "string"}, "namespace": {"type": "string"}, "token": {"type": "integer"},
    "error": {"type": "object"}, "final": {"type": "boolean", "description": "false: another claim may try again"}}},
  "KeyEnded": {"type": "object", "required": ["state", "replayed"], "properties": {
    "state": {"enum": ["completed", "failed", "released"]}, "replayed": {"type": "boolean"}}},
  "IdempotencyKey": {"type": "object", "required": ["key", "namespace", "state", "token", "attempt", "created_at", "lease_until", "expires_at"],
    "properties": {
      "key": {"type": "string"}, "namespace": {"type": "string"},
      "state": {"enum": ["started", "completed", "failed", "released"]},
      "response": {"description": "completed"}, "error": {"description": "failed"}, "request_hash": {"type": "string"},
      "token": {"type": "integer"}, "attempt": {"type": "integer"}, "owner": {"type": "string"},
      "created_at": {"type": "string", "format": "date-time"}, "lease_until": {"type": "string", "format": "date-time"},
      "ended_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"}}},
  "KeyDeleted": {"type": "object", "required": ["key", "namespace"], "properties": {
    "key": {"type": "string"}, "namespace": {"type": "string"}}},
  "Health": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
}})json";

}  // namespace

std::string_view openapi_components() { return components; }

}  // namespace hk::api
