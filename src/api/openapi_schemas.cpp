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
      "code": {"anyOf": [{"pattern": "^(line_)?exists_with_different_"}, {"enum": ["invalid", "unauthenticated", "permission_denied", "not_found", "method_not_allowed",
        "request_timeout", "conflict", "quota_reached", "too_large", "rate_limited", "internal", "not_available",
        "unavailable", "unknown_outcome", "idempotency_in_progress", "idempotency_key_reused",
        "idempotency_key_required", "idempotency_key_not_taken", "fenced", "already_completed", "cost_over_burst",
        "unbalanced", "too_few_entries", "amount_invalid", "currency_unknown", "currency_mismatch", "effective_at_invalid",
        "book_not_found", "account_not_found", "transaction_not_found", "subscription_not_found", "monitor_not_found",
        "source_not_found", "line_not_found", "record_invalid", "book_exists", "book_importing", "already_matched", "match_differs",
        "insufficient_funds", "limit_exceeded", "condition_failed", "version_conflict", "account_frozen", "account_closed",
        "account_not_empty", "not_pending", "not_reversible", "open_holds", "already_posted", "already_voided",
        "already_reversed", "expired", "exceeds_hold", "period_closed", "would_break_history", "too_many", "linked_failed",
        "signature_invalid", "timestamp_outside_tolerance", "credentials_invalid", "batch_too_large", "lease_lost", "job_finished", "precondition_failed"]}]},
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
      "result": {"type": "object", "description": "what its holder completed it with", "properties": {
        "content_type": {"type": "string"}, "body": {}, "size": {"type": "integer"}, "truncated": {"type": "boolean"}}},
      "holds": {"type": "array", "items": {"$ref": "#/components/schemas/Hold"}}}},
  "CompleteJob": {"type": "object", "additionalProperties": false, "properties": {
    "fence": {"type": "string", "description": "the header Hikyaku-Fence of the delivery"},
    "receipt": {"type": "string", "description": "of a message that was pulled: the ReceiptHandle of its receive"},
    "result": {"description": "any JSON, at most 256 KiB"},
    "body": {"type": "string", "description": "in place of result: any text"},
    "content_type": {"type": "string", "default": "text/plain; charset=utf-8", "description": "of body"}}},
  "FailJob": {"type": "object", "required": ["error"], "additionalProperties": false, "properties": {
    "fence": {"type": "string"}, "receipt": {"type": "string"},
    "error": {"type": "object", "required": ["message"], "additionalProperties": false, "properties": {
      "message": {"type": "string", "maxLength": 4096}, "code": {"type": "string", "maxLength": 64}}},
    "retry": {"type": "boolean", "default": true, "description": "false: it has failed for good"},
    "retry_after": {"type": "string", "description": "in place of the delay that the retries have"}}},
  "JobEnded": {"type": "object", "required": ["id", "status", "status_url"], "properties": {
    "id": {"type": "string"}, "status": {"type": "string"}, "status_url": {"type": "string"}}},
  "Transact": {"type": "object", "required": ["operations"], "additionalProperties": false, "properties": {
    "preconditions": {"type": "array", "maxItems": 100, "items": {"type": "object", "properties": {
      "job": {"type": "string"},
      "status": {"type": "array", "items": {"enum": ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELED"]}},
      "idempotency": {"type": "object", "required": ["key"], "properties": {
        "key": {"type": "string"}, "namespace": {"type": "string", "default": "default"},
        "state": {"enum": ["started", "completed", "failed", "released"]}, "token": {"type": "integer"}}},
      "ledger_account": {"type": "object", "required": ["account", "currency"], "additionalProperties": false, "properties": {
        "book": {"type": "string", "default": "main"}, "account": {"type": "string"}, "currency": {"type": "string"},
        "available_gte": {"type": ["string", "integer"]}, "version": {"type": "integer"}}}}}},
    "operations": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "object", "required": ["op"],
      "properties": {"op": {"enum": ["ack", "nack", "publish", "cancel", "idempotency.complete", "idempotency.fail",
        "ledger.account", "ledger.transaction", "ledger.post", "ledger.void", "ledger.reverse", "ledger.limits",
        "ledger.metadata", "ledger.assert"]},
        "book": {"type": "string", "default": "main", "description": "of the ledger"}}}}}},
  "Transacted": {"type": "object", "required": ["id", "results"], "properties": {
    "id": {"type": "string"}, "results": {"type": "array", "items": {"type": "object", "required": ["op"], "properties": {
      "op": {"type": "string"}, "job": {"type": "string"}, "status": {"type": "string"},
      "messageId": {"type": "string"}, "url": {"type": "string"}, "deduplicated": {"type": "boolean"},
      "messages": {"type": "array", "items": {"type": "object"}},
      "object": {"type": "object", "description": "what the ledger has made or changed"}, "key": {"type": "string"},
      "namespace": {"type": "string"}, "state": {"type": "string"}, "replayed": {"type": "boolean"}}}}}},
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
  "CallLimit": {"type": "object", "additionalProperties": false, "properties": {
    "rate": {"type": ["integer", "null"], "minimum": 0, "maximum": 10000000, "description": "tokens a second"},
    "burst": {"type": ["integer", "null"], "maximum": 1000000000, "description": "tokens at once; default: the rate"},
    "in_flight": {"type": ["integer", "null"], "maximum": 1000000, "description": "requests at the same time"}}},
  "TenantLimits": {"type": "object", "additionalProperties": false, "properties": {
    "rate": {"type": ["integer", "null"], "minimum": 0, "maximum": 10000000,
      "description": "tokens a second; null: rate_tenant of the server; 0: no limit"},
    "burst": {"type": ["integer", "null"], "maximum": 1000000000, "description": "tokens at once; default: the rate"},
    "in_flight": {"type": ["integer", "null"], "maximum": 1000000, "description": "requests at the same time"},
    "weight": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1,
      "description": "of its share of rate_global"},
    "classes": {"type": "object", "properties": {
      "publish": {"$ref": "#/components/schemas/CallLimit"}, "receive": {"$ref": "#/components/schemas/CallLimit"},
      "read": {"$ref": "#/components/schemas/CallLimit"}, "manage": {"$ref": "#/components/schemas/CallLimit"},
      "ledger": {"$ref": "#/components/schemas/CallLimit"}, "payments": {"$ref": "#/components/schemas/CallLimit"},
      "source": {"$ref": "#/components/schemas/CallLimit"}}}}},
  "TenantLimitsNow": {"allOf": [{"$ref": "#/components/schemas/TenantLimits"}, {"type": "object",
    "required": ["factor", "load", "error_rate", "remaining"], "properties": {
      "factor": {"type": "number", "minimum": 0.1, "maximum": 1}, "load": {"type": "number"},
      "error_rate": {"type": "number"}, "remaining": {"type": "object", "properties": {
        "global": {"type": "integer"}, "tenant": {"type": "integer"},
        "classes": {"type": "object", "additionalProperties": {"type": "integer"}}}}}}]},
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
  "LedgerAmount": {"description": "minor units: a string of digits; in requests also an integer up to 2^53 - 1",
    "anyOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "integer", "minimum": 0}]},
  "LedgerSigned": {"description": "the same with a sign",
    "anyOf": [{"type": "string", "pattern": "^-?[0-9]+$"}, {"type": "integer"}]},
  "LedgerMetadataMap": {"type": "object", "maxProperties": 50, "additionalProperties": {"type": ["string", "null"]},
    "description": "null removes a key, where it is merged"},
  "LedgerLimits": {"type": "object", "description": "by currency; null removes",
    "additionalProperties": {"type": ["object", "null"], "additionalProperties": false, "properties": {
      "min_available": {"anyOf": [{"$ref": "#/components/schemas/LedgerSigned"}, {"type": "null"}]},
      "max_balance": {"anyOf": [{"$ref": "#/components/schemas/LedgerSigned"}, {"type": "null"}]}}}},
  "NewLedgerBook": {"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
    "id": {"type": "string"}, "name": {"type": "string"}, "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
    "indexed": {"type": "array", "items": {"type": "string"}}}},
  "LedgerBookChange": {"type": "object", "additionalProperties": false, "properties": {
    "name": {"type": "string"}, "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
    "indexed": {"type": "array", "items": {"type": "string"}}}},
  "LedgerBook": {"type": "object",
    "required": ["object", "id", "name", "closed_through", "public_key", "last_seq", "last_hash", "created_at", "metadata", "indexed"],
    "properties": {
      "object": {"const": "ledger_book"}, "id": {"type": "string"}, "name": {"type": "string"},
      "closed_through": {"type": ["string", "null"], "format": "date-time"},
      "public_key": {"type": "string", "description": "Ed25519, base64"}, "last_seq": {"type": "integer"},
      "last_hash": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"},
      "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
      "indexed": {"type": "array", "items": {"type": "string"}}, "replayed": {"type": "boolean"}}},
  "LedgerBookPage": {"type": "object", "required": ["books"], "properties": {
    "books": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerBook"}}, "cursor": {"type": "string"}}},
  "LedgerClose": {"type": "object", "required": ["through"], "additionalProperties": false, "properties": {
    "through": {"type": ["string", "null"], "format": "date-time"}, "reason": {"type": "string"}}},
  "LedgerErasure": {"type": "object", "additionalProperties": false, "properties": {
    "account": {"type": "string"}, "transaction": {"type": "string"}, "keys": {"type": "array", "items": {"type": "string"}}}},
  "LedgerErased": {"anyOf": [{"$ref": "#/components/schemas/LedgerAccount"},
    {"$ref": "#/components/schemas/LedgerTransaction"}, {"$ref": "#/components/schemas/LedgerBook"}]},
  "LedgerCurrency": {"type": "object", "required": ["code", "exponent"], "properties": {
    "object": {"const": "ledger_currency"}, "code": {"type": "string"}, "exponent": {"type": "integer"},
    "replayed": {"type": "boolean"}}},
  "LedgerCurrencyList": {"type": "object", "required": ["currencies"], "properties": {
    "currencies": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerCurrency"}}}},
  "NewLedgerAccount": {"type": "object", "required": ["type"], "additionalProperties": false, "properties": {
    "id": {"type": "string"}, "path": {"type": "string"},
    "type": {"enum": ["asset", "expense", "liability", "equity", "revenue"]}, "currency": {"type": "string"},
    "limits": {"$ref": "#/components/schemas/LedgerLimits"}, "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"}}},
  "LedgerAccountChange": {"type": "object", "additionalProperties": false, "properties": {
    "limits": {"$ref": "#/components/schemas/LedgerLimits"}, "state": {"enum": ["open", "frozen", "closed"]},
    "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"}}},
  "LedgerAccount": {"type": "object",
    "required": ["object", "id", "path", "type", "normal_side", "currency", "limits", "state", "metadata", "created_at", "seq"],
    "properties": {
      "object": {"const": "ledger_account"}, "id": {"type": "string"}, "path": {"type": "string"},
      "type": {"enum": ["asset", "expense", "liability", "equity", "revenue"]}, "normal_side": {"enum": ["debit", "credit"]},
      "currency": {"type": ["string", "null"]}, "limits": {"$ref": "#/components/schemas/LedgerLimits"},
      "state": {"enum": ["open", "frozen", "closed"]}, "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
      "created_at": {"type": "string", "format": "date-time"}, "seq": {"type": "integer"}, "replayed": {"type": "boolean"}}},
  "LedgerAccountPage": {"type": "object", "required": ["accounts"], "properties": {
    "accounts": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerAccount"}}, "cursor": {"type": "string"}}},
  "LedgerBalance": {"type": "object",
    "required": ["currency", "debits_posted", "credits_posted", "debits_pending", "credits_pending", "posted", "pending", "available", "version"],
    "properties": {
      "account": {"type": "string"}, "currency": {"type": "string"}, "debits_posted": {"type": "string"},
      "credits_posted": {"type": "string"}, "debits_pending": {"type": "string"}, "credits_pending": {"type": "string"},
      "posted": {"type": "string"}, "pending": {"type": "string"}, "available": {"type": "string"}, "version": {"type": "integer"}}},
  "LedgerBalances": {"type": "object", "required": ["account", "balances"], "properties": {
    "account": {"type": "string"}, "balances": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerBalance"}}}},
  "LedgerEntryPage": {"type": "object", "required": ["entries"], "properties": {
    "entries": {"type": "array", "items": {"type": "object", "properties": {
      "transaction": {"type": "string"}, "index": {"type": "integer"}, "seq": {"type": "integer"},
      "kind": {"enum": ["posted", "pending"]}, "side": {"enum": ["debit", "credit"]}, "amount": {"type": "string"},
      "currency": {"type": "string"}, "effective_at": {"type": "string", "format": "date-time"},
      "recorded_at": {"type": "string", "format": "date-time"}, "balance": {"type": "string"}}}},
    "cursor": {"type": "string"}}},
  "LedgerCondition": {"type": "object", "additionalProperties": false, "properties": {
    "account": {"type": "string"}, "currency": {"type": "string"}, "balance": {"enum": ["posted", "pending", "available"]},
    "at": {"enum": ["before", "after"]}, "expect_version": {"type": "integer"},
    "gte": {"$ref": "#/components/schemas/LedgerSigned"}, "gt": {"$ref": "#/components/schemas/LedgerSigned"},
    "lte": {"$ref": "#/components/schemas/LedgerSigned"}, "lt": {"$ref": "#/components/schemas/LedgerSigned"},
    "eq": {"$ref": "#/components/schemas/LedgerSigned"}}},
  "NewLedgerEntry": {"type": "object", "required": ["side", "currency"], "additionalProperties": false, "properties": {
    "account": {"type": "string", "description": "id or path"}, "side": {"enum": ["debit", "credit"]},
    "amount": {"anyOf": [{"$ref": "#/components/schemas/LedgerAmount"}, {"const": "all"}]}, "currency": {"type": "string"},
    "split": {"type": "array", "items": {"type": "object", "required": ["account"], "additionalProperties": false, "properties": {
      "account": {"type": "string"}, "ratio": {"type": "integer"}, "percent": {"type": "string"}, "remainder": {"const": true}}}},
    "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"}, "when": {"description": "a condition, or an array of them"}}},
  "NewLedgerTransaction": {"type": "object", "required": ["entries"], "additionalProperties": false, "properties": {
    "id": {"type": "string"}, "idempotency_key": {"type": "string"}, "kind": {"enum": ["posted", "pending"]},
    "effective_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"},
    "timeout": {"description": "seconds, or a text such as 7d"}, "description": {"type": "string"},
    "reference": {"type": "string"}, "parent": {"type": "string"}, "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
    "entries": {"type": "array", "minItems": 2, "maxItems": 1000, "items": {"$ref": "#/components/schemas/NewLedgerEntry"}},
    "conditions": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerCondition"}},
    "check_history": {"type": "boolean"}}},
  "LedgerTransaction": {"type": "object",
    "required": ["object", "id", "kind", "effective_at", "entries", "recorded_at", "state", "resolved_by", "reversed_by", "metadata"],
    "properties": {
      "object": {"const": "ledger_transaction"}, "id": {"type": ["string", "null"]}, "idempotency_key": {"type": ["string", "null"]},
      "kind": {"enum": ["posted", "pending", "void"]}, "effective_at": {"type": "string", "format": "date-time"},
      "expires_at": {"type": ["string", "null"], "format": "date-time"}, "description": {"type": ["string", "null"]},
      "reference": {"type": ["string", "null"]}, "parent": {"type": ["string", "null"]},
      "resolves": {"type": ["string", "null"]}, "reverses": {"type": ["string", "null"]}, "final": {"type": "boolean"},
      "force": {"type": "boolean"}, "check_history": {"type": "boolean"},
      "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
      "entries": {"type": "array", "items": {"type": "object", "properties": {
        "index": {"type": "integer"}, "account": {"type": "string"}, "side": {"enum": ["debit", "credit"]},
        "amount": {"type": "string"}, "currency": {"type": "string"},
        "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"}}}},
      "seq": {"type": "integer"}, "recorded_at": {"type": "string", "format": "date-time"},
      "state": {"enum": ["posted", "pending", "partially_posted", "voided", "expired"]},
      "resolved_by": {"type": "array", "items": {"type": "string"}}, "reversed_by": {"type": "array", "items": {"type": "string"}},
      "hash": {"type": "string"}, "replayed": {"type": "boolean"},
      "balances_after": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerBalance"}}}},
  "LedgerTransactionPage": {"type": "object", "required": ["transactions"], "properties": {
    "transactions": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerTransaction"}}, "cursor": {"type": "string"}}},
  "LedgerFollowing": {"type": "object", "additionalProperties": false, "properties": {
    "id": {"type": "string"}, "idempotency_key": {"type": "string"}, "description": {"type": "string"},
    "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"},
    "amounts": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerAmount"}, "description": "post, reverse"},
    "final": {"type": "boolean", "description": "post"},
    "effective_at": {"type": "string", "description": "post, reverse: a time; reverse: also original"},
    "force": {"type": "boolean", "description": "reverse: the admin token alone"}}},
  "LedgerMetadata": {"type": "object", "required": ["metadata"], "additionalProperties": false, "properties": {
    "metadata": {"$ref": "#/components/schemas/LedgerMetadataMap"}}},
  "LedgerBatch": {"type": "object", "required": ["items"], "additionalProperties": false, "properties": {
    "mode": {"enum": ["independent", "atomic", "groups"]}, "limits": {"enum": ["each", "end"]},
    "items": {"type": "array", "minItems": 1, "maxItems": 8192, "items": {"type": "object", "required": ["op"], "properties": {
      "op": {"enum": ["account", "transaction", "post", "void", "reverse", "limits", "metadata", "assert"]},
      "group": {"type": "string"}, "of": {"type": "string"}}}}}},
  "LedgerBatchApplied": {"type": "object", "required": ["object", "mode", "applied", "results"], "properties": {
    "object": {"const": "ledger_batch"}, "mode": {"enum": ["independent", "atomic", "groups"]}, "applied": {"type": "integer"},
    "results": {"type": "array", "items": {"type": "object", "required": ["status"], "properties": {
      "status": {"type": "integer"}, "id": {"type": "string"}, "seq": {"type": "integer"}, "code": {"type": "string"},
      "detail": {"type": "string"}}}}}},
  "LedgerRecordPage": {"type": "object", "required": ["records", "last_seq"], "properties": {
    "records": {"type": "array", "items": {"type": "object", "properties": {
      "seq": {"type": "integer"}, "kind": {"type": "string"}, "recorded_at": {"type": "string", "format": "date-time"},
      "prev_hash": {"type": "string"}, "hash": {"type": "string"}, "payload_base64": {"type": "string"}, "payload": {"type": "object"}}}},
    "last_seq": {"type": "integer"}}},
  "LedgerCheckpointPage": {"type": "object", "required": ["checkpoints"], "properties": {
    "checkpoints": {"type": "array", "items": {"type": "object", "properties": {
      "seq": {"type": "integer"}, "first_seq": {"type": "integer"}, "last_seq": {"type": "integer"}, "root": {"type": "string"},
      "signature": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}}}},
    "cursor": {"type": "string"}}},
  "NewLedgerSubscription": {"type": "object", "additionalProperties": false, "properties": {
    "destination": {"type": "string", "description": "URL or URL group"}, "queue": {"type": "string"},
    "types": {"type": "array", "items": {"type": "string"}}}},
  "LedgerSubscription": {"type": "object", "required": ["object", "id", "types", "created_at"], "properties": {
    "object": {"const": "ledger_subscription"}, "id": {"type": "string"}, "destination": {"type": "string"},
    "queue": {"type": "string"}, "types": {"type": ["array", "null"], "items": {"type": "string"}},
    "created_at": {"type": "string", "format": "date-time"}}},
  "LedgerSubscriptionList": {"type": "object", "required": ["subscriptions"], "properties": {
    "subscriptions": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerSubscription"}}}},
  "NewLedgerMonitor": {"type": "object", "required": ["currency"], "additionalProperties": false, "properties": {
    "account": {"type": "string"}, "prefix": {"type": "string"}, "currency": {"type": "string"},
    "balance": {"enum": ["posted", "pending", "available"]},
    "gte": {"$ref": "#/components/schemas/LedgerSigned"}, "gt": {"$ref": "#/components/schemas/LedgerSigned"},
    "lte": {"$ref": "#/components/schemas/LedgerSigned"}, "lt": {"$ref": "#/components/schemas/LedgerSigned"},
    "eq": {"$ref": "#/components/schemas/LedgerSigned"}}},
  "LedgerMonitor": {"type": "object", "required": ["object", "id", "currency", "balance", "created_at"], "properties": {
    "object": {"const": "ledger_monitor"}, "id": {"type": "string"}, "account": {"type": "string"}, "prefix": {"type": "string"},
    "currency": {"type": "string"}, "balance": {"enum": ["posted", "pending", "available"]},
    "created_at": {"type": "string", "format": "date-time"}}},
  "LedgerMonitorList": {"type": "object", "required": ["monitors"], "properties": {
    "monitors": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerMonitor"}}}},
  "LedgerReconSourceChange": {"type": "object", "required": ["account", "currency"], "additionalProperties": false, "properties": {
    "account": {"type": "string"}, "currency": {"type": "string"}, "window_days": {"type": "integer", "minimum": 0, "maximum": 60},
    "auto": {"type": "boolean"}}},
  "LedgerReconSource": {"type": "object", "required": ["object", "id", "account", "currency", "window_days", "auto", "created_at"], "properties": {
    "object": {"const": "ledger_recon_source"}, "id": {"type": "string"}, "account": {"type": "string"}, "currency": {"type": "string"},
    "window_days": {"type": "integer"}, "auto": {"type": "boolean"}, "created_at": {"type": "string", "format": "date-time"}}},
  "LedgerReconLines": {"type": "object", "required": ["lines"], "additionalProperties": false, "properties": {
    "lines": {"type": "array", "minItems": 1, "maxItems": 500, "items": {"type": "object",
      "required": ["external_id", "date", "amount", "currency"], "additionalProperties": false, "properties": {
        "external_id": {"type": "string"}, "date": {"type": "string", "format": "date"},
        "amount": {"$ref": "#/components/schemas/LedgerSigned"}, "currency": {"type": "string"}, "reference": {"type": "string"},
        "text": {"type": "string"}}}}}},
  "LedgerReconImported": {"type": "object", "required": ["imported", "duplicates", "matched", "proposed"], "properties": {
    "imported": {"type": "integer"}, "duplicates": {"type": "integer"}, "matched": {"type": "integer"}, "proposed": {"type": "integer"}}},
  "LedgerReconEntry": {"type": "object", "required": ["transaction", "index"], "additionalProperties": false, "properties": {
    "transaction": {"type": "string"}, "index": {"type": "integer", "minimum": 0}}},
  "LedgerReconMatch": {"type": "object", "required": ["source", "action"], "additionalProperties": false, "properties": {
    "source": {"type": "string"}, "external_id": {"type": "string"}, "action": {"enum": ["match", "unmatch", "ignore"]},
    "entries": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerReconEntry"}}}},
  "LedgerReconLine": {"type": "object", "properties": {
    "object": {"const": "ledger_recon_line"}, "source": {"type": "string"}, "external_id": {"type": "string"},
    "date": {"type": "string", "format": "date"}, "amount": {"type": "string"}, "currency": {"type": "string"},
    "reference": {"type": "string"}, "text": {"type": "string"}, "state": {"enum": ["unmatched", "proposed", "matched", "ignored"]},
    "rule": {"enum": ["manual", "reference", "amount_date", "several", null]},
    "entries": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerReconEntry"}}}},
  "LedgerReconLinePage": {"type": "object", "required": ["lines"], "properties": {
    "lines": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerReconLine"}}, "cursor": {"type": "string"}}},
  "LedgerReconReport": {"type": "object", "required": ["days"], "properties": {
    "days": {"type": "array", "items": {"type": "object", "properties": {
      "date": {"type": "string", "format": "date"}, "matched": {"type": "integer"}, "unmatched_lines": {"type": "integer"},
      "unmatched_entries": {"type": "integer"}, "lines_total": {"type": "string"}, "ledger_total": {"type": "string"},
      "difference": {"type": "string"}}}}, "cursor": {"type": "string"}}},
  "LedgerRollupChange": {"type": "object", "required": ["rollup"], "additionalProperties": false, "properties": {
    "rollup": {"type": "boolean"}}},
  "LedgerRollup": {"type": "object", "required": ["object", "prefix", "rollup", "complete"], "properties": {
    "object": {"const": "ledger_rollup"}, "prefix": {"type": "string"}, "rollup": {"type": "boolean"},
    "complete": {"type": "boolean", "description": "all accounts that were there before are in it"}}},
  "LedgerRollupList": {"type": "object", "required": ["rollups"], "properties": {
    "rollups": {"type": "array", "items": {"$ref": "#/components/schemas/LedgerRollup"}}}},
  "LedgerRemoved": {"type": "object", "required": ["object", "id", "deleted"], "properties": {
    "object": {"type": "string"}, "id": {"type": "string"}, "deleted": {"const": true}}},
  "LedgerStatement": {"type": "object", "required": ["account", "currency", "opening", "closing", "lines"], "properties": {
    "account": {"type": "string"}, "currency": {"type": "string"},
    "opening": {"type": "string", "description": "posted balance before the period"},
    "closing": {"type": "string", "description": "posted balance at its end"},
    "lines": {"type": "array", "items": {"type": "object", "properties": {
      "transaction": {"type": "string"}, "index": {"type": "integer"}, "seq": {"type": "integer"},
      "side": {"enum": ["debit", "credit"]}, "amount": {"type": "string"}, "currency": {"type": "string"},
      "effective_at": {"type": "string", "format": "date-time"}, "recorded_at": {"type": "string", "format": "date-time"},
      "balance": {"type": "string", "description": "posted balance after it, in the order of the lines"}}}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "LedgerSums": {"type": "object", "required": ["balances"], "properties": {
    "balances": {"type": "array", "items": {"type": "object", "properties": {
      "group": {"type": "string", "description": "with group_by"}, "currency": {"type": "string"},
      "debits_posted": {"type": "string"}, "credits_posted": {"type": "string"},
      "debits_pending": {"type": "string"}, "credits_pending": {"type": "string"},
      "posted": {"type": ["string", "null"], "description": "null: the accounts have different normal sides"},
      "pending": {"type": ["string", "null"]}, "available": {"type": ["string", "null"]},
      "accounts": {"type": "integer"}}}},
    "cursor": {"type": "string", "description": "with group_by; absent on the last page"}}},
  "LedgerTrialBalance": {"type": "object", "required": ["currencies"], "properties": {
    "currencies": {"type": "array", "items": {"type": "object", "required": ["currency", "debits", "credits", "types"], "properties": {
      "currency": {"type": "string"}, "debits": {"type": "string"}, "credits": {"type": "string"},
      "types": {"type": "array", "items": {"type": "object", "properties": {
        "type": {"enum": ["asset", "expense", "liability", "equity", "revenue"]},
        "debits": {"type": "string"}, "credits": {"type": "string"}, "balance": {"type": "string"}}}}}}}}},
  "LedgerReport": {"type": "object", "description": "currencies, days or holds, according to the report"},
  "LedgerProof": {"type": "object", "required": ["transaction", "seq", "hash", "checkpoint", "index", "path"], "properties": {
    "transaction": {"type": "string"}, "seq": {"type": "integer"}, "hash": {"type": "string"},
    "checkpoint": {"type": "object"}, "index": {"type": "integer"},
    "path": {"type": "array", "items": {"type": "object", "properties": {
      "side": {"enum": ["left", "right"]}, "hash": {"type": "string"}}}}}},
  "LedgerVerify": {"type": "object", "additionalProperties": false, "properties": {
    "from_seq": {"type": "integer", "minimum": 1}, "to_seq": {"type": "integer", "minimum": 1}}},
  "LedgerVerified": {"type": "object", "required": ["ok", "from_seq", "to_seq", "records", "head", "faults", "fault_count"], "properties": {
    "ok": {"type": "boolean"}, "from_seq": {"type": "integer"}, "to_seq": {"type": "integer"}, "records": {"type": "integer"},
    "head": {"type": "string", "description": "hash of the last record"},
    "faults": {"type": "array", "description": "the first 100", "items": {"type": "object", "properties": {
      "seq": {"type": "integer", "description": "0: what is stored beside the log"}, "what": {"type": "string"}}}},
    "fault_count": {"type": "integer"}}},
  "WebhookError": {"anyOf": [{"type": "object", "required": ["code", "detail"], "properties": {"code": {"type": "string"},
    "detail": {"type": "string"}}}, {"type": "object", "required": ["detail"], "properties": {"detail": {"type": "array",
    "items": {"type": "object", "required": ["loc", "msg", "type"], "properties": {"loc": {"type": "array", "items": {"type": "string"}},
    "msg": {"type": "string"}, "type": {"type": "string"}}}}}}]},
  "WebhookNothing": {"type": "object"},
  "WebhookApplicationIn": {"type": "object", "properties": {"name": {"type": "string"}, "uid": {"type": ["string", "null"]},
    "throttleRate": {"type": ["integer", "null"]}, "metadata": {"type": "object", "additionalProperties": {"type": "string"}}}},
  "WebhookApplication": {"type": "object", "required": ["id", "name", "metadata", "createdAt", "updatedAt"],
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": ["string", "null"]},
    "throttleRate": {"type": ["integer", "null"]}, "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    "rateLimit": {"type": ["integer", "null"]}, "createdAt": {"type": "string", "format": "date-time"}, "updatedAt": {"type": "string",
    "format": "date-time"}}},
  "WebhookApplicationPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookApplication"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookEventTypeIn": {"type": "object", "properties": {"name": {"type": "string"}, "description": {"type": "string"},
    "archived": {"type": "boolean"}, "deprecated": {"type": "boolean"}, "schemas": {"type": ["object", "null"]},
    "groupName": {"type": ["string", "null"]}, "featureFlags": {"type": ["array", "null"], "items": {"type": "string"}}}},
  "WebhookEventType": {"type": "object", "required": ["name", "description", "archived", "deprecated", "createdAt", "updatedAt"],
    "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "archived": {"type": "boolean"},
    "deprecated": {"type": "boolean"}, "schemas": {"type": ["object", "null"]}, "groupName": {"type": ["string", "null"]},
    "featureFlags": {"type": ["array", "null"], "items": {"type": "string"}}, "featureFlag": {"type": ["string", "null"]},
    "createdAt": {"type": "string", "format": "date-time"}, "updatedAt": {"type": "string", "format": "date-time"}}},
  "WebhookEventTypePage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookEventType"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookOpenapiImport": {"type": "object", "properties": {"spec": {"type": ["object", "null"]}, "specRaw": {"type": ["string", "null"]},
    "dryRun": {"type": "boolean"}, "replaceAll": {"type": "boolean"}}},
  "WebhookOpenapiImported": {"type": "object", "required": ["data"], "properties": {"data": {"type": "object", "required": ["modified",
    "to_modify"], "properties": {"modified": {"type": "array", "items": {"type": "string"}}, "to_modify": {"type": ["array", "null"],
    "items": {"$ref": "#/components/schemas/WebhookEventTypeIn"}}}}}},
  "WebhookEndpointIn": {"type": "object", "properties": {"url": {"type": "string"}, "description": {"type": "string"},
    "uid": {"type": ["string", "null"]}, "disabled": {"type": "boolean"}, "eventTypes": {"type": ["array", "null"],
    "items": {"type": "string"}}, "channels": {"type": ["array", "null"], "items": {"type": "string"}},
    "throttleRate": {"type": ["integer", "null"]}, "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    "secret": {"type": ["string", "null"]}, "headers": {"type": "object", "additionalProperties": {"type": "string"}}}},
  "WebhookEndpoint": {"type": "object", "required": ["id", "url", "disabled", "createdAt", "updatedAt"],
    "properties": {"id": {"type": "string"}, "url": {"type": "string"}, "description": {"type": "string"}, "uid": {"type": ["string",
    "null"]}, "disabled": {"type": "boolean"}, "eventTypes": {"type": ["array", "null"], "items": {"type": "string"}},
    "channels": {"type": ["array", "null"], "items": {"type": "string"}}, "throttleRate": {"type": ["integer", "null"]},
    "metadata": {"type": "object", "additionalProperties": {"type": "string"}}, "filterTypes": {"type": ["array", "null"],
    "items": {"type": "string"}}, "rateLimit": {"type": ["integer", "null"]}, "version": {"type": "integer"},
    "createdAt": {"type": "string", "format": "date-time"}, "updatedAt": {"type": "string", "format": "date-time"}}},
  "WebhookEndpointPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookEndpoint"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookKey": {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}},
  "WebhookRotation": {"type": "object", "properties": {"key": {"type": ["string", "null"]}, "gracePeriodSeconds": {"type": "integer"}}},
  "WebhookHeaders": {"type": "object", "properties": {"headers": {"type": "object"}, "sensitive": {"type": "array",
    "items": {"type": "string"}}, "deleteHeaders": {"type": "array", "items": {"type": "string"}}}},
  "WebhookStats": {"type": "object", "properties": {"success": {"type": "integer"}, "pending": {"type": "integer"},
    "sending": {"type": "integer"}, "fail": {"type": "integer"}, "canceled": {"type": "integer"}}},
  "WebhookThrottle": {"type": "object", "properties": {"status": {"enum": ["ok", "throttled"]}, "throttledSince": {"type": ["string",
    "null"], "format": "date-time"}}},
  "WebhookExample": {"type": "object", "required": ["eventType"], "properties": {"eventType": {"type": "string"},
    "exampleIndex": {"type": "integer"}}},
  "WebhookRange": {"type": "object", "required": ["since"], "properties": {"since": {"type": "string", "format": "date-time"},
    "until": {"type": ["string", "null"], "format": "date-time"}}},
  "WebhookBulkReplay": {"type": "object", "required": ["since"], "properties": {"since": {"type": "string", "format": "date-time"},
    "until": {"type": ["string", "null"], "format": "date-time"}, "eventTypes": {"type": ["array", "null"], "items": {"type": "string"}},
    "channel": {"type": ["string", "null"]}, "tag": {"type": ["string", "null"]}, "status": {"type": ["integer", "null"]},
    "statusCodeClass": {"type": ["integer", "null"]}}},
  "WebhookSelection": {"type": "object", "properties": {"eventTypes": {"type": ["array", "null"], "items": {"type": "string"}},
    "channel": {"type": ["string", "null"]}, "tag": {"type": ["string", "null"]}}},
  "WebhookTransformation": {"type": "object", "properties": {"code": {"type": ["string", "null"]}, "enabled": {"type": "boolean"},
    "variables": {"type": "null"}, "updatedAt": {"type": ["string", "null"], "format": "date-time"}}},
  "WebhookMessageIn": {"type": "object", "required": ["eventType", "payload"], "properties": {"eventType": {"type": "string"},
    "payload": {"type": "object"}, "eventId": {"type": ["string", "null"]}, "channels": {"type": ["array", "null"],
    "items": {"type": "string"}}, "tags": {"type": ["array", "null"], "items": {"type": "string"}}, "deliverAt": {"type": ["string",
    "null"], "format": "date-time"}, "payloadRetentionPeriod": {"type": "integer"}, "payloadRetentionHours": {"type": ["integer", "null"]},
    "application": {"anyOf": [{"$ref": "#/components/schemas/WebhookApplicationIn"}, {"type": "null"}]},
    "transformationsParams": {"type": ["object", "null"]}}},
  "WebhookMessage": {"type": "object", "required": ["id", "eventType", "payload", "timestamp"], "properties": {"id": {"type": "string"},
    "eventType": {"type": "string"}, "payload": {"type": "object"}, "eventId": {"type": ["string", "null"]}, "channels": {"type": ["array",
    "null"], "items": {"type": "string"}}, "tags": {"type": ["array", "null"], "items": {"type": "string"}},
    "deliverAt": {"type": ["string", "null"], "format": "date-time"}, "timestamp": {"type": "string", "format": "date-time"}}},
  "WebhookMessagePage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookMessage"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookPrecheck": {"type": "object", "required": ["eventType"], "properties": {"eventType": {"type": "string"},
    "channels": {"type": ["array", "null"], "items": {"type": "string"}}}},
  "WebhookActive": {"type": "object", "required": ["active"], "properties": {"active": {"type": "boolean"}}},
  "WebhookIds": {"type": "object", "required": ["ids"], "properties": {"ids": {"type": "array", "items": {"type": "string"}}}},
  "WebhookResults": {"type": "object", "required": ["results"], "properties": {"results": {"type": "object",
    "additionalProperties": {"type": "string"}}}},
  "WebhookEndpointMessage": {"type": "object", "required": ["id", "status", "statusText"], "properties": {"id": {"type": "string"},
    "eventType": {"type": "string"}, "payload": {"type": "object"}, "eventId": {"type": ["string", "null"]}, "channels": {"type": ["array",
    "null"], "items": {"type": "string"}}, "tags": {"type": ["array", "null"], "items": {"type": "string"}},
    "deliverAt": {"type": ["string", "null"], "format": "date-time"}, "timestamp": {"type": "string", "format": "date-time"},
    "status": {"type": "integer"}, "statusText": {"type": "string"}, "nextAttempt": {"type": ["string", "null"], "format": "date-time"}}},
  "WebhookEndpointMessagePage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookEndpointMessage"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookDestination": {"type": "object", "required": ["id", "url", "status", "statusText"], "properties": {"id": {"type": "string"},
    "url": {"type": "string"}, "description": {"type": "string"}, "uid": {"type": ["string", "null"]}, "disabled": {"type": "boolean"},
    "eventTypes": {"type": ["array", "null"], "items": {"type": "string"}}, "channels": {"type": ["array", "null"],
    "items": {"type": "string"}}, "throttleRate": {"type": ["integer", "null"]}, "filterTypes": {"type": ["array", "null"],
    "items": {"type": "string"}}, "rateLimit": {"type": ["integer", "null"]}, "version": {"type": "integer"},
    "createdAt": {"type": "string", "format": "date-time"}, "updatedAt": {"type": "string", "format": "date-time"},
    "status": {"type": "integer"}, "statusText": {"type": "string"}, "nextAttempt": {"type": ["string", "null"], "format": "date-time"}}},
  "WebhookDestinationPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookDestination"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookAttempt": {"type": "object", "required": ["id", "endpointId", "timestamp", "responseStatusCode", "status", "triggerType"],
    "properties": {"id": {"type": "string"}, "msgId": {"type": ["string", "null"]}, "endpointId": {"type": "string"},
    "url": {"type": "string"}, "timestamp": {"type": "string", "format": "date-time"}, "response": {"type": ["string", "object"]},
    "responseStatusCode": {"type": "integer"}, "responseDurationMs": {"type": "integer"}, "status": {"type": "integer"},
    "statusText": {"type": "string"}, "triggerType": {"type": "integer"}, "msg": {"$ref": "#/components/schemas/WebhookMessage"}}},
  "WebhookAttemptPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookAttempt"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookPortalIn": {"type": "object", "properties": {"application": {"$ref": "#/components/schemas/WebhookApplicationIn"},
    "capabilities": {"type": ["array", "null"], "items": {"type": "string"}}, "readOnly": {"type": "boolean"},
    "featureFlags": {"type": ["array", "null"], "items": {"type": "string"}}, "expiry": {"type": ["integer", "null"]},
    "sessionId": {"type": ["string", "null"]}}},
  "WebhookPortal": {"type": "object", "required": ["url", "token"], "properties": {"url": {"type": "string"}, "token": {"type": "string"}}},
  "WebhookExpiry": {"type": "object", "properties": {"expiry": {"type": ["integer", "null"]}, "sessionIds": {"type": "array",
    "items": {"type": "string"}}}},
  "WebhookCaller": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["environment", "app"]},
    "appId": {"type": ["string", "null"]}, "appUid": {"type": ["string", "null"]}, "capabilities": {"type": "array",
    "items": {"type": "string"}}, "expiresAt": {"type": ["string", "null"], "format": "date-time"}}},
  "WebhookTask": {"type": "object", "required": ["id", "status", "task", "updatedAt"], "properties": {"id": {"type": "string"},
    "status": {"enum": ["running", "finished", "failed"]}, "task": {"type": "string"}, "data": {"type": "object"},
    "updatedAt": {"type": "string", "format": "date-time"}, "unresolvedAppIds": {"type": "array", "items": {"type": "string"}}}},
  "WebhookTaskPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookTask"}}, "iterator": {"type": ["string", "null"]}, "prevIterator": {"type": "string"},
    "done": {"type": "boolean"}}},
  "WebhookUsageIn": {"type": "object", "required": ["since", "until"], "properties": {"since": {"type": "string", "format": "date-time"},
    "until": {"type": "string", "format": "date-time"}, "appIds": {"type": ["array", "null"], "items": {"type": "string"}}}},
  "WebhookEnvironment": {"type": "object", "properties": {"version": {"type": "integer"}, "createdAt": {"type": "string",
    "format": "date-time"}, "eventTypes": {"type": "array", "items": {"$ref": "#/components/schemas/WebhookEventType"}},
    "settings": {"type": ["object", "null"]}, "connectors": {"type": "array"}}},
  "WebhookIntegrationIn": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
    "featureFlags": {"type": "array", "items": {"type": "string"}}}},
  "WebhookIntegration": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "string"},
    "featureFlags": {"type": "array", "items": {"type": "string"}}, "createdAt": {"type": "string", "format": "date-time"},
    "updatedAt": {"type": "string", "format": "date-time"}}},
  "WebhookIntegrationPage": {"type": "object", "required": ["data", "iterator", "done"], "properties": {"data": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookIntegration"}}, "iterator": {"type": ["string", "null"]},
    "prevIterator": {"type": "string"}, "done": {"type": "boolean"}}},
  "WebhookDelivery": {"type": "object", "properties": {"retry": {"type": "object", "properties": {"preset": {"type": ["string", "null"]},
    "delays": {"type": ["array", "null"], "items": {"type": "number"}}, "jitter": {"type": "number"},
    "retryAfterMaxSeconds": {"type": "number"}, "giveUpStatuses": {"type": "array", "items": {"type": "integer"}}}},
    "timeout": {"type": "number"}, "headerSet": {"enum": ["both", "svix", "webhook"]}, "signing": {"type": "object",
    "properties": {"standard": {"type": "boolean"}, "stripe": {"type": "boolean"}, "stripeHeader": {"type": "string"}}},
    "order": {"enum": ["none", "endpoint", "channel", "tag"]}, "onExhausted": {"enum": ["skip", "halt"]},
    "parallelism": {"type": "integer"}, "circuit": {"type": ["object", "null"]}, "disable": {"type": ["object", "null"]},
    "hold": {"type": "object"}, "resumeRate": {"type": ["integer", "null"]}}},
  "WebhookState": {"type": "object", "properties": {"disabled": {"type": "boolean"}, "disabledReason": {"type": ["string", "null"]},
    "paused": {"type": "boolean"}, "failingSince": {"type": ["string", "null"], "format": "date-time"},
    "consecutiveFailures": {"type": "integer"}, "circuit": {"type": "object", "properties": {"state": {"enum": ["closed", "open",
    "half-open"]}, "until": {"type": ["string", "null"], "format": "date-time"}}}, "held": {"type": "object",
    "properties": {"messages": {"type": "integer"}, "bytes": {"type": "integer"}, "oldest": {"type": ["string", "null"],
    "format": "date-time"}}}, "waiting": {"type": "integer"}, "inFlight": {"type": "integer"}, "throttledUntil": {"type": ["string",
    "null"], "format": "date-time"}, "gates": {"type": "array", "items": {"type": "object", "properties": {"gate": {"type": "string"},
    "opens": {"type": ["string", "null"], "format": "date-time"}}}}}},
  "WebhookResume": {"type": "object", "properties": {"mode": {"enum": ["deliver", "skip"]}}},
  "WebhookResumed": {"type": "object", "properties": {"released": {"type": "integer"}, "canceled": {"type": "integer"}}},
  "WebhookSettings": {"type": "object", "properties": {"delivery": {"$ref": "#/components/schemas/WebhookDelivery"},
    "eventTypes": {"enum": ["open", "known"]}, "schemaCheck": {"enum": ["off", "warn", "refuse"]}, "httpsOnly": {"type": "boolean"},
    "maxPayloadBytes": {"type": "integer"}, "maxEndpointsPerApp": {"type": "integer"}}},
  "WebhookReplayIn": {"type": "object", "required": ["app", "since"], "properties": {"app": {"type": "string"},
    "endpoints": {"type": ["array", "null"], "items": {"type": "string"}}, "since": {"type": "string", "format": "date-time"},
    "until": {"type": ["string", "null"], "format": "date-time"}, "filter": {"type": "object"}, "missingOnly": {"type": "boolean"},
    "rate": {"type": "number"}, "order": {"enum": ["oldest", "newest"]}, "retry": {"type": "boolean"}, "dryRun": {"type": "boolean"},
    "redirectTo": {"type": ["string", "null"]}}},
  "WebhookReplay": {"type": "object", "required": ["id", "status"], "properties": {"id": {"type": "string"}, "status": {"enum": ["running",
    "paused", "finished", "canceled", "failed"]}, "matched": {"type": "integer"}, "queued": {"type": "integer"},
    "succeeded": {"type": "integer"}, "failed": {"type": "integer"}, "canceled": {"type": "integer"}, "skipped": {"type": "integer"},
    "position": {"type": "integer"}, "rate": {"type": ["number", "null"]}, "since": {"type": "string", "format": "date-time"},
    "until": {"type": "string", "format": "date-time"}, "createdAt": {"type": "string", "format": "date-time"},
    "updatedAt": {"type": "string", "format": "date-time"}, "finishedAt": {"type": ["string", "null"], "format": "date-time"},
    "eta": {"type": ["string", "null"], "format": "date-time"}, "reason": {"type": ["string", "null"]}}},
  "WebhookReplayPage": {"type": "object", "required": ["replays"], "properties": {"replays": {"type": "array",
    "items": {"$ref": "#/components/schemas/WebhookReplay"}}, "cursor": {"type": "string"}}},
  "WebhookReplayRate": {"type": "object", "required": ["rate"], "properties": {"rate": {"type": "number"}}},
  "WebhookTaskRecord": {"type": "object", "required": ["id", "status"], "properties": {"id": {"type": "string"},
    "kind": {"type": "string"}, "status": {"enum": ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELED"]},
    "total": {"type": "integer"}, "processed": {"type": "integer"}, "created_at": {"type": "string", "format": "date-time"},
    "finished_at": {"type": "string", "format": "date-time"}, "reason": {"type": "string"}}},
  "SourceSettings": {"type": "object", "properties": {
    "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
    "preset": {"enum": ["stripe", "github", "shopify", "slack", "standard", "qstash", "twitter", "meta", "msgraph", "hmac", "basic", "apikey", "none"]},
    "enabled": {"type": "boolean"}, "verify": {"type": "object", "description": "depends on the preset"},
    "toleranceSeconds": {"type": "integer", "minimum": 1, "maximum": 86400},
    "dedup": {"type": "object", "properties": {
      "from": {"type": ["string", "null"], "description": "header:Name, body:/json/pointer, content, fixed:text or none; null: as the preset"},
      "windowSeconds": {"type": "integer", "minimum": -1, "description": "0: off, -1: for ever"}}},
    "eventType": {"type": "object", "properties": {"from": {"type": ["string", "null"]}}},
    "deliverTo": {"type": "object", "description": "exactly one of url, urlGroup and queue", "properties": {
      "url": {"type": "string"}, "options": {"type": "object"}, "urlGroup": {"type": "string"}, "queue": {"type": "string"}}},
    "forwardHeaders": {"description": "\"*\" or a list of names", "anyOf": [{"enum": ["*"]}, {"type": "array", "items": {"type": "string"}}]},
    "onInvalid": {"enum": ["quarantine", "reject"]}, "maxBodyBytes": {"type": "integer"},
    "ratePerSecond": {"type": ["integer", "null"]}}},
  "NewSource": {"allOf": [{"$ref": "#/components/schemas/SourceSettings"}], "type": "object", "required": ["name", "preset", "deliverTo"],
    "properties": {"secrets": {"type": "array", "maxItems": 10, "items": {"anyOf": [{"type": "string"},
      {"$ref": "#/components/schemas/NewSourceSecret"}]}}}},
  "SourcePatch": {"allOf": [{"$ref": "#/components/schemas/SourceSettings"}], "description": "RFC 7396: what is left out stays, null is the default"},
  "NewSourceSecret": {"type": "object", "required": ["value"], "additionalProperties": false, "properties": {
    "value": {"type": "string"}, "expiresInSeconds": {"type": ["integer", "null"]}}},
  "SourceSecret": {"type": "object", "required": ["id", "hint", "createdAt", "expiresAt"], "properties": {
    "id": {"type": "string"}, "hint": {"type": "string", "description": "its last characters"},
    "createdAt": {"type": "string", "format": "date-time"}, "expiresAt": {"type": ["string", "null"], "format": "date-time"}}},
  "Source": {"allOf": [{"$ref": "#/components/schemas/SourceSettings"}], "type": "object", "required": ["id", "url", "secrets", "stats"],
    "properties": {"id": {"type": "string"}, "url": {"type": "string"},
      "secrets": {"type": "array", "items": {"$ref": "#/components/schemas/SourceSecret"}},
      "stats": {"type": "object", "properties": {"accepted": {"type": "integer"}, "duplicates": {"type": "integer"},
        "invalid": {"type": "integer"}, "quarantined": {"type": "integer", "description": "in the quarantine now"},
        "dropped": {"type": "integer", "description": "made room for others there"},
        "lastAcceptedAt": {"type": ["string", "null"], "format": "date-time"}}},
      "createdAt": {"type": "string", "format": "date-time"}, "updatedAt": {"type": "string", "format": "date-time"}}},
  "SourcePage": {"type": "object", "required": ["sources"], "properties": {
    "sources": {"type": "array", "items": {"$ref": "#/components/schemas/Source"}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "SourceEventPage": {"type": "object", "required": ["events"], "properties": {
    "events": {"type": "array", "items": {"type": "object", "properties": {
      "messageId": {"type": "string"}, "eventId": {"type": "string"}, "eventType": {"type": "string"},
      "receivedAt": {"type": "string", "format": "date-time"}, "bytes": {"type": "integer"}, "duplicates": {"type": "integer"},
      "unverified": {"type": "boolean", "description": "present if it was released by hand"}}}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "QuarantineLine": {"type": "object", "required": ["id", "receivedAt", "bytes", "remote", "reason"], "properties": {
    "id": {"type": "string"}, "receivedAt": {"type": "string", "format": "date-time"}, "bytes": {"type": "integer"},
    "remote": {"type": "string"}, "reason": {"type": "object", "properties": {
      "code": {"enum": ["header_missing", "header_malformed", "timestamp_missing", "timestamp_too_old", "timestamp_too_new",
        "scheme_unknown", "signature_mismatch", "credentials_mismatch", "token_expired", "token_body_mismatch",
        "token_subject_mismatch", "body_not_json"]},
      "message": {"type": "string"}, "details": {"type": "object", "description": "of one request alone; with a hint, or null"}}}}},
  "QuarantinePage": {"type": "object", "required": ["quarantined"], "properties": {
    "quarantined": {"type": "array", "items": {"$ref": "#/components/schemas/QuarantineLine"}},
    "cursor": {"type": "string", "description": "absent on the last page"}}},
  "QuarantinedRequest": {"allOf": [{"$ref": "#/components/schemas/QuarantineLine"}], "properties": {
    "method": {"type": "string"}, "target": {"type": "string"}, "headers": {"$ref": "#/components/schemas/HeaderMap"},
    "body": {"type": "string", "description": "if it is UTF-8"}, "bodyBase64": {"type": "string", "description": "if it is not"}}},
  "QuarantineReverified": {"type": "object", "required": ["checked", "released", "duplicates", "stillInvalid"], "properties": {
    "checked": {"type": "integer"}, "released": {"type": "integer"}, "duplicates": {"type": "integer"}, "stillInvalid": {"type": "integer"}}},
  "QuarantineRelease": {"type": "object", "required": ["messageId"], "properties": {
    "messageId": {"type": "string"}, "duplicate": {"type": "boolean", "description": "present if the event was there before"}}},
  "Health": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
}})json";

}  // namespace

std::string_view openapi_components() { return components; }

}  // namespace hk::api
