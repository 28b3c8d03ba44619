"""Bad input: for each route what is wrong, and the answer that says so. Nothing may come of any of it.

A row is (method, target, headers, body, status, part of the error text). The last test compares the
rows with the routes that the server says it has, so that a new route needs rows, too."""
import json
import re
import unittest

import webhooks
from harness import Case, Server

HOOK = "/v2/publish/http://127.0.0.1:9/hook"
QUEUED = "/v2/enqueue/q/http://127.0.0.1:9/hook"
SCHEDULE = "/v2/schedules/http://127.0.0.1:9/hook"
TOKEN = "a-token-of-the-test"
LONG = "x" * 5000
BIG = "x" * (1 << 20) + "x"  # one byte above body_bytes_max of this server

DESTINATIONS = [
    ("", "a non-empty destination"),
    ("ftp://example.com/x", "invalid scheme"),
    ("https://", "destination"),
    ("https://user@:80/", "destination"),
    ("https://exa mple.com/".replace(" ", "%20"), "destination"),
    ("https://example.com:99999/", "destination"),
    ("https%3A%2F%2Fexample.com%2", "percent-encoding"),
    ("api/llm", "not supported"),
]

OPTIONS = [
    ("Upstash-Method", "BREW", "Upstash-Method"),
    ("Upstash-Delay", "soon", "Upstash-Delay"),
    ("Upstash-Delay", "-5s", "Upstash-Delay"),
    ("Upstash-Delay", "999999999999d", "Upstash-Delay"),
    ("Upstash-Not-Before", "tomorrow", "Upstash-Not-Before"),
    ("Upstash-Not-Before", "99999999999999999999", "Upstash-Not-Before"),
    ("Upstash-Retries", "many", "Upstash-Retries"),
    ("Upstash-Retries", "-1", "Upstash-Retries"),
    ("Upstash-Retries", "1000000", "Upstash-Retries"),
    ("Upstash-Retry-Delay", "pow(", "Upstash-Retry-Delay"),
    ("Upstash-Retry-Delay", "system(1)", "Upstash-Retry-Delay"),
    ("Upstash-Timeout", "0", "Upstash-Timeout"),
    ("Upstash-Timeout", "1y", "Upstash-Timeout"),
    ("Upstash-Timeout", "10000d", "Upstash-Timeout"),
    ("Upstash-Deduplication-Id", "", "Upstash-Deduplication-Id"),
    ("Upstash-Content-Based-Deduplication", "maybe", "Upstash-Content-Based-Deduplication"),
    ("Upstash-Header-Forward", "maybe", "Upstash-Header-Forward"),
    ("Upstash-Flow-Control-Key", "only-a-key", "Upstash-Flow-Control"),
    ("Upstash-Flow-Control-Value", "parallelism=1", "Upstash-Flow-Control"),
    ("Upstash-Redact-Fields", "everything", "Upstash-Redact-Fields"),
    ("Upstash-Callback", "not a url", "Upstash-Callback"),
    ("Upstash-Failure-Callback", "ftp://example.com/", "Upstash-Failure-Callback"),
    ("Upstash-Forward-Upstash-Signature", "mine", "Upstash-Signature"),
    ("Upstash-Cron", "* * *", "Upstash-Cron"),
    ("Upstash-Cron", "61 * * * *", "Upstash-Cron"),
    ("Upstash-Cron", "CRON_TZ=Mars/Olympus * * * * *", "Upstash-Cron"),
]

FLOWS = ["parallelism=0", "parallelism=x", "rate=-1", "period=1m", "rate=1, period=8d", "speed=3", ""]


def publishing_rows():
    for destination, error in DESTINATIONS:
        status = 404 if destination == "" else 400
        for prefix in ("/v2/publish/", "/v2/enqueue/q/"):
            yield "POST", prefix + destination, {}, "x", (status, 400), (error, "not found")
        yield "POST", "/v2/schedules/" + destination, {"Upstash-Cron": "* * * * *"}, "x", (status, 400, 405), None
    for name, value, error in OPTIONS:
        yield "POST", HOOK, {name: value}, "x", 400, error
        yield "POST", QUEUED, {name: value}, "x", 400, error
        if name != "Upstash-Cron":
            # A schedule ignores when its first message would be due, and deduplication.
            ignored = name in ("Upstash-Not-Before", "Upstash-Deduplication-Id", "Upstash-Content-Based-Deduplication")
            if not ignored:
                yield "POST", SCHEDULE, {"Upstash-Cron": "* * * * *", name: value}, "x", 400, error
    for value in FLOWS:
        yield "POST", HOOK, {"Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": value}, "x", 400, "Upstash-Flow-Control"
    yield "POST", HOOK + "?upstash-delay=soon", {}, "x", 400, "Upstash-Delay"
    yield "POST", HOOK, {"Upstash-Flow-Control-Key": LONG, "Upstash-Flow-Control-Value": "rate=1"}, "x", 400, "Upstash-Flow-Control-Key"
    yield "POST", HOOK, {f"Upstash-Forward-X{i}": "y" for i in range(70)}, "x", 400, "Forward"
    yield "POST", HOOK, {}, BIG, 413, "large"
    yield "POST", QUEUED, {}, BIG, 413, "large"
    yield "POST", SCHEDULE, {"Upstash-Cron": "* * * * *"}, BIG, 413, "large"
    yield "POST", HOOK, {"Upstash-Queue-Name": "a/b"}, "x", 400, "Upstash-Queue-Name"
    yield "POST", SCHEDULE, {"Upstash-Cron": "* * * * *", "Upstash-Queue-Name": "a/b"}, "x", 400, "Upstash-Queue-Name"
    yield "POST", QUEUED, {"Upstash-Delay": "10s"}, "x", 400, "delay"
    yield "POST", "/v2/enqueue/a%20b/http://127.0.0.1:9/", {}, "x", 400, "queue name"
    yield "POST", "/v2/publish/no-such-group", {}, "x", 404, "topic no-such-group not found"
    yield "POST", SCHEDULE, {}, "x", 400, "Upstash-Cron"
    yield "POST", SCHEDULE, {"Upstash-Cron": "* * * * *", "Upstash-Schedule-Id": "a/b"}, "x", 400, "Upstash-Schedule-Id"
    yield "POST", "/v2/schedules/no-such-group", {"Upstash-Cron": "* * * * *"}, "x", 404, "topic no-such-group not found"


def body_rows():
    """JSON bodies: not JSON, not of the right shape, with a member of the wrong kind."""
    wrong = {
        ("POST", "/v2/batch"): ["", "{", "{}", '"x"', "[" * 200, "[1" + ",1" * 10_000 + "]"],
        ("POST", "/v2/queues"): ["", "{", "[]", "{}", '{"queueName": 1}', '{"queueName": ""}', '{"queueName": "a/b"}',
                                 '{"queueName": "q", "parallelism": 0}', '{"queueName": "q", "parallelism": -1}',
                                 '{"queueName": "q", "parallelism": 1.5}', '{"queueName": "q", "parallelism": "2"}',
                                 '{"queueName": "q", "parallelism": 99999999999}', '{"queueName": "q", "paused": 1}'],
        ("POST", "/v2/topics/g/endpoints"): ["", "{", "[]", "{}", '{"endpoints": 1}', '{"endpoints": []}', '{"endpoints": [1]}',
                                             '{"endpoints": [{}]}', '{"endpoints": [{"name": "a"}]}',
                                             '{"endpoints": [{"url": 1}]}', '{"endpoints": [{"url": "nowhere"}]}',
                                             '{"endpoints": [{"url": "http://127.0.0.1:9/", "name": 1}]}',
                                             '{"endpoints": [{"url": "http://127.0.0.1:9/"}, {"url": "nowhere"}]}'],
        ("DELETE", "/v2/topics/g/endpoints"): ["", "{", "[]", "{}", '{"endpoints": []}', '{"endpoints": [{}]}',
                                               '{"endpoints": [{"name": 1}]}'],
        ("PATCH", "/v2/topics/g"): ["", "{", "[]", "{}", '{"headers": 1}', '{"headers": {"Upstash-Retries": {}}}',
                                    '{"headers": {"Upstash-Retries": "many"}}'],
        ("DELETE", "/v2/messages"): ["{", "[]", '{"messageIds": [1]}', '{"unknown": "x"}',
                                     '{"fromDate": "yesterday"}', '{"count": -1}', '{"async": "perhaps"}'],
        ("DELETE", "/v2/dlq"): ["{", "[]", '{"dlqIds": [{}]}', '{"unknown": "x"}', '{"toDate": "x"}'],
        ("POST", "/v2/dlq/retry"): ["{", "[]", '{"dlqIds": [{}]}', '{"unknown": "x"}', '{"count": "x"}'],
        ("POST", "/api/v1/queues/q/halted"): ["", "{", "[]", "{}", '{"group": "g"}', '{"action": "retry"}',
                                              '{"group": "g", "action": "dance"}', '{"group": 1, "action": "skip"}',
                                              '{"group": "", "action": "skip"}', '{"group": "g", "action": "skip", "more": "x"}',
                                              '{"group": "g", "action": "retry", "body": 1}',
                                              '{"group": "g", "action": "retry", "body": ""}',
                                              '{"group": "g", "action": "retry", "body": "\\u0000"}',
                                              '{"group": "g", "action": "retry"}'],
        ("POST", "/api/v1/jobs/msg_0000000000100000000000/complete"): [
            "", "{", "[]", "{}", '{"fence": 1}', '{"fence": ""}', '{"fence": "0.1"}', '{"fence": "0.1.1.1"}', '{"fence": "a.b.c"}',
            '{"fence": "-0.1.1"}', '{"fence": "70000.1.1"}', '{"fence": "0.1.99999999999"}', '{"fence": "0.1.1", "receipt": "x"}',
            '{"receipt": "x"}', '{"receipt": 1}', '{"receipt": ""}', '{"fence": "0.1.1", "more": 1}', '{"fence": "0.1.1", "fence": "0.1.1"}',
            '{"fence": "0.1.1", "result": 1, "body": "x"}', '{"fence": "0.1.1", "content_type": "text/plain"}',
            '{"fence": "0.1.1", "body": 1}', '{"fence": "0.1.1", "body": "x", "content_type": "nonsense"}',
            '{"fence": "0.1.1", "body": "{", "content_type": "application/json"}', '{"fence": "0.1.1", "error": {}}', '{"fence": "0.1.1"}'],
        ("POST", "/api/v1/jobs/nonsense/complete"): ['{"fence": "0.1.1"}', '{"receipt": "x"}'],
        ("POST", "/api/v1/jobs/msg_0000000000100000000000/fail"): [
            "", "{}", '{"fence": "0.1.1"}', '{"fence": "0.1.1", "error": "x"}', '{"fence": "0.1.1", "error": {}}',
            '{"fence": "0.1.1", "error": {"message": ""}}', '{"fence": "0.1.1", "error": {"message": 1}}',
            '{"fence": "0.1.1", "error": {"message": "x", "code": "a b"}}', '{"fence": "0.1.1", "error": {"message": "x", "more": 1}}',
            json.dumps({"fence": "0.1.1", "error": {"message": "x" * 4097}}), '{"fence": "0.1.1", "error": {"message": "x"}, "retry": 1}',
            '{"fence": "0.1.1", "error": {"message": "x"}, "retry_after": 5}', '{"fence": "0.1.1", "error": {"message": "x"}, "retry_after": "5"}',
            '{"fence": "0.1.1", "error": {"message": "x"}, "retry_after": "25h"}',
            '{"fence": "0.1.1", "error": {"message": "x"}, "retry": false, "retry_after": "5s"}', '{"fence": "0.1.1", "error": {"message": "x"}, "result": 1}'],
        ("POST", "/api/v1/transact"): [
            "", "{", "[]", "{}", '{"operations": 1}', '{"operations": []}', '{"operations": [1]}', '{"operations": [{}]}', '{"operations": [{"op": 1}]}',
            '{"operations": [{"op": "dance"}]}', '{"operations": [{"op": "ack"}]}', '{"operations": [{"op": "ack", "job": 1, "fence": "0.1.1"}]}',
            '{"operations": [{"op": "ack", "job": "nonsense", "fence": "0.1.1"}]}', '{"operations": [{"op": "cancel", "job": "msg_1", "more": 1}]}',
            '{"operations": [{"op": "publish"}]}', '{"operations": [{"op": "publish", "destination": "nowhere:"}]}',
            '{"operations": [{"op": "publish", "destination": 1}]}', '{"operations": [{"op": "publish", "queue": "a/b", "body": "x"}]}',
            '{"operations": [{"op": "publish", "queue": "none", "body": "x"}]}', '{"operations": [{"op": "publish", "destination": "http://127.0.0.1:9/", "retries": 1}]}',
            '{"operations": [{"op": "publish", "destination": "http://127.0.0.1:9/", "headers": {"Upstash-Retries": "many"}}]}',
            '{"operations": [{"op": "publish", "destination": "http://127.0.0.1:9/", "headers": {"Upstash-Cron": "* * * * *"}}]}',
            '{"operations": [{"op": "idempotency.complete", "key": "k", "token": 0, "response": 1}]}',
            '{"operations": [{"op": "idempotency.complete", "key": "k", "namespace": "api", "token": 1, "response": 1}]}',
            '{"operations": [{"op": "idempotency.fail", "key": "k", "token": 1, "error": {}}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": {}}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"job": "msg_0000000000100000000000"}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"job": "msg_0000000000100000000000", "status": []}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"idempotency": {"key": "k", "state": "x"}}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"idempotency": {"key": "k", "token": "1"}}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"ledger_account": {"account": "a"}}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"ledger_account": {"account": "a", "currency": "USD", "version": "1"}}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "preconditions": [{"ledger_account": {"account": "a", "currency": "USD", "available_gte": 1.5}}]}',
            '{"operations": [{"op": "ledger.dance"}]}', '{"operations": [{"op": "ledger.transaction"}]}', '{"operations": [{"op": "ledger.transaction", "transaction": {"entries": []}}]}',
            '{"operations": [{"op": "ledger.account", "account": {"type": "asset"}, "book": 1}]}', '{"operations": [{"op": "ledger.void", "of": "none", "book": "none"}]}',
            '{"operations": [{"op": "ledger.post", "of": "none"}]}', '{"operations": [{"op": "ledger.reverse", "of": "none", "amounts": [1.5]}]}',
            '{"operations": [{"op": "ledger.limits", "of": "none", "limits": {"USD": null}}]}', '{"operations": [{"op": "ledger.metadata", "of": "none", "metadata": {"k": 1}}]}',
            '{"operations": [{"op": "ledger.assert", "conditions": [{"account": "none", "currency": "USD", "gte": "0"}]}]}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "more": 1}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}], "operations": []}',
            '{"operations": [{"op": "cancel", "job": "msg_0000000000100000000000"}]}'],
        ("POST", "/api/v1/idempotency/claim"): ["", "{", "[]", "{}", '{"key": 1}', '{"key": ""}', '{"key": "a b"}', '{"key": "\u00e9"}',
                                                json.dumps({"key": "x" * 256}), '{"key": "k", "namespace": "api"}',
                                                '{"key": "k", "namespace": ""}', '{"key": "k", "namespace": "a/b"}',
                                                json.dumps({"key": "k", "namespace": "x" * 65}), '{"key": "k", "more": 1}',
                                                '{"key": "k", "key": "k"}', '{"key": "k", "request": {"a": 1, "a": 2}}',
                                                '{"key": "k", "request": 1, "request_hash": "' + "0" * 64 + '"}',
                                                '{"key": "k", "request_hash": "x"}', '{"key": "k", "request_hash": 1}',
                                                '{"key": "k", "lease": "0s"}', '{"key": "k", "lease": "2h"}', '{"key": "k", "lease": 60}',
                                                '{"key": "k", "lease": "60"}', '{"key": "k", "ttl": "1s"}', '{"key": "k", "ttl": "31d"}',
                                                '{"key": "k", "wait": 5}', '{"key": "k", "wait": "61s"}', '{"key": "k", "wait": "-1s"}',
                                                '{"key": "k", "owner": 1}', json.dumps({"key": "k", "owner": "x" * 256})],
        ("POST", "/api/v1/idempotency/renew"): ["", "{}", '{"key": "k"}', '{"key": "k", "token": 0}', '{"key": "k", "token": "1"}',
                                                '{"key": "k", "token": -1}', '{"key": "k", "token": 1.5}', '{"key": "k", "token": 1}',
                                                '{"key": "k", "token": 99999999999999999999}', '{"key": "k", "token": 1, "lease": "x"}'],
        ("POST", "/api/v1/idempotency/complete"): ["{}", '{"key": "k", "token": 1}', '{"key": "k", "token": 1, "response": 1}',
                                                   '{"key": "k", "token": 1, "response": 1, "ttl": "1ms"}',
                                                   '{"key": "k", "token": 1, "response": 1, "final": true}'],
        ("POST", "/api/v1/idempotency/fail"): ["{}", '{"key": "k", "token": 1}', '{"key": "k", "token": 1, "error": {}}',
                                               '{"key": "k", "token": 1, "final": true}', '{"key": "k", "token": 1, "error": 1, "final": true}',
                                               '{"key": "k", "token": 1, "error": {}, "final": 1}',
                                               '{"key": "k", "token": 1, "error": {}, "final": true}'],
    }
    for (method, target), bodies in wrong.items():
        for number, body in enumerate(bodies):
            headers = {"Content-Type": "application/json"}
            if target == "/api/v1/transact":
                headers["Idempotency-Key"] = f"bad-{number}"
            yield method, target, headers, body, (400, 404), None
    yield "POST", "/api/v1/transact", {"Content-Type": "application/json"}, '{"operations": [{"op": "cancel", "job": "msg_1"}]}', 400, "Idempotency-Key"


def query_rows():
    for target in ("/v2/dlq", "/v2/events", "/v2/logs"):
        for query in ("unknown=1", "count=x", "count=-1", "order=sideways", "fromDate=x", "toDate=x", "cursor=%00", "cursor=nonsense"):
            yield "GET", f"{target}?{query}", {}, None, 400, None
    for query in ("unknown=1", "count=x", "count=-1", "state=LOST", "cursor=%00", "cursor=nonsense"):
        yield "GET", f"/v2/bulkActions?{query}", {}, None, 400, query.split("=")[0]
    for query in ("", "key=", "key=a%20b", "key=k&namespace=api", "key=k&namespace=", "key=k&unknown=1", "key=k&key=l"):
        yield "GET", f"/api/v1/idempotency?{query}", {}, None, 400, None
    yield "GET", "/api/v1/idempotency?key=none", {}, None, 404, "none"
    yield "GET", "/v2/dlq?responseStatus=x", {}, None, 400, "responseStatus"
    yield "GET", "/v2/events?state=LOST", {}, None, 400, "state"
    yield "GET", "/v2/schedules?count=x", {}, None, 400, "count"
    yield "GET", "/v2/schedules?unknown=1", {}, None, 400, "unknown"
    yield "GET", "/v2/flowControl?unknown=1", {}, None, 400, "unknown"
    yield "DELETE", "/v2/messages?unknown=1", {}, None, 400, "unknown"
    yield "DELETE", "/v2/dlq?unknown=1", {}, None, 400, "unknown"
    yield "POST", "/v2/dlq/retry?unknown=1", {}, None, 400, "unknown"
    for query in ("", "parallelism=0", "parallelism=x", "rate=0", "rate=1&period=0", "rate=1&period=9999999", "unknown=1"):
        yield "POST", f"/v2/flowControl/k/pin?{query}", {}, None, 400, None
    yield "POST", "/v2/flowControl/k/unpin?parallelism=maybe", {}, None, 400, None
    yield "POST", "/v2/flowControl/k/dance", {}, None, 404, None


def unknown_rows():
    """Ids that are not there, and ids that cannot be."""
    message = "msg_" + "0" * 21 + "1"
    for bad in (message, "msg_1", "nonsense", "%00", "x" * 300):
        yield "GET", f"/v2/messages/{bad}", {}, None, 404, None
        yield "DELETE", f"/v2/messages/{bad}", {}, None, 404, None
        yield "GET", f"/api/v1/jobs/{bad}", {}, None, 404, None
    for bad in ("7", "nonsense", "%00", "x" * 300):
        yield "GET", f"/v2/bulkActions/{bad}", {}, None, 404, None
    for bad in ("1700000000000-7", "7", "nonsense", "-1-1", "x" * 300):
        yield "GET", f"/v2/dlq/{bad}", {}, None, 404, None
        yield "DELETE", f"/v2/dlq/{bad}", {}, None, 404, None
        yield "POST", f"/v2/dlq/retry/{bad}", {}, None, 404, None
    for method, target in (("GET", "/v2/queues/none"), ("GET", "/api/v1/queues/none/halted"), ("POST", "/v2/queues/none/pause"), ("POST", "/v2/queues/none/resume"),
                           ("GET", "/v2/topics/none"), ("GET", "/v2/flowControl/none"), ("GET", "/v2/schedules/none"),
                           ("DELETE", "/v2/schedules/none"), ("PATCH", "/v2/schedules/none/pause"),
                           ("PATCH", "/v2/schedules/none/resume"), ("POST", "/v2/schedules/none/pause"),
                           ("POST", "/v2/schedules/none/resume")):
        yield method, target, {}, None, 404, None
    yield "DELETE", "/v2/messages/", {}, None, 400, None


def ledger_report_rows():
    book = "/api/v1/ledger/books/main"
    as_of = ("as_of_effective=yesterday", "as_of_recorded=1", "as_of_seq=x", "as_of_seq=-1", "as_of_seq=1&as_of_seq=2",
             "as_of_seq=1&as_of_recorded=2026-01-01T00:00:00Z", "unknown=1")
    for target, queries in (
            ("/trial_balance", (*as_of, "from=2026-01-01T00:00:00Z")),
            ("/balances", (*as_of, "group_by=color", "group_by=path:0", "group_by=path:x", "group_by=path:999", "limit=0", "limit=1001",
                           "cursor=nonsense&group_by=path:1", "cursor=%00&group_by=path:1")),
            ("/reports/balance_sheet", (*as_of, "from=2026-01-01T00:00:00Z")),
            ("/reports/income_statement", (*as_of, "from=x")),
            ("/reports/activity", ("from=x", "to=x", "by=weight", "limit=x", "cursor=nonsense", "as_of_seq=1",
                                   "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z")),
            ("/reports/open_holds", ("limit=0", "cursor=nonsense", "unknown=1")),
            ("/reports/integrity", ("limit=1",)),
            ("/export", ("kind=everything", "format=xml", "from_seq=0", "from_seq=x", "to_seq=0", "from_seq=5&to_seq=4", "limit=5",
                         "effective_from=2026-01-01T00:00:00Z", "kind=entries&effective_to=x")),
            ("/proofs/t", ("unknown=1",)),
            ("/accounts/a/statement", ("unknown=1", "from=x", "to=x", "by=weight", "limit=0", "cursor=nonsense",
                                       "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"))):
        for query in queries:
            yield "GET", f"{book}{target}?{query}", {}, None, 400, None
    for target in ("/reports/none", "/reports/integrity", "/proofs/none", "/accounts/none/statement"):
        yield "GET", book + target, {}, None, 404, None
    for target in ("/trial_balance", "/balances", "/reports/activity", "/export", "/proofs/t", "/accounts/a/statement"):
        yield "GET", f"/api/v1/ledger/books/none{target}", {}, None, 404, "none"
    for body in ("{", "[]", "1", '{"from_seq": 0}', '{"from_seq": "1"}', '{"from_seq": 1.5}', '{"to_seq": -1}', '{"more": 1}',
                 '{"from_seq": 999999}', '{"to_seq": 999999}', '{"from_seq": 2, "to_seq": 1}'):
        yield "POST", f"{book}/verify", {"Content-Type": "application/json"}, body, 400, None
    yield "POST", "/api/v1/ledger/books/none/verify", {}, "{}", 404, "none"


def ledger_rows():
    """Calls of the ledger. The books are left as they are: `main`, which any of them makes, and no account."""
    base = "/api/v1/ledger/books"
    main = base + "/main"
    two = '[{"account": "a", "side": "debit", "amount": 1, "currency": "USD"}, {"account": "b", "side": "credit", "amount": 1, "currency": "USD"}]'
    bodies = {
        ("POST", base): ["", "{", "[]", "{}", '{"id": 1}', '{"id": ""}', '{"id": "a/b"}', '{"id": "x", "name": 1}', '{"id": "x", "more": 1}',
                         '{"id": "x", "id": "x"}', '{"id": "x", "metadata": {"a": 1}}', '{"id": "x", "indexed": "a"}'],
        ("PATCH", main): ["", "{", "[]", '{"name": 1}', '{"id": "x"}', '{"metadata": []}', '{"indexed": [1]}'],
        ("POST", main + "/close"): ["", "{}", '{"through": 1}', '{"through": "yesterday"}', '{"through": "2099-01-01T00:00:00Z"}', '{"through": null, "more": 1}'],
        ("POST", main + "/erase"): ["{", "[]", '{"account": 1}', '{"account": "a", "transaction": "t"}', '{"keys": "k"}', '{"all": true}'],
        ("POST", main + "/currencies"): ["", "{}", '{"code": "usd", "exponent": 2}', '{"code": "X", "exponent": 2}', '{"code": "XXXX"}',
                                         '{"code": "XXXX", "exponent": 39}', '{"code": "XXXX", "exponent": -1}', '{"code": "XXXX", "exponent": 1.5}'],
        ("POST", main + "/accounts"): ["", "{", "[]", "{}", '{"type": "bank"}', '{"type": "asset", "id": ""}', '{"type": "asset", "id": "a b"}',
                                       '{"type": "asset", "path": "a::b"}', '{"type": "asset", "path": ":a"}', '{"type": "asset", "currency": "XYZW"}',
                                       '{"type": "asset", "limits": {"USD": 1}}', '{"type": "asset", "limits": {"USD": {"min": 1}}}',
                                       '{"type": "asset", "limits": {"USD": {"min_available": 1.5}}}', '{"type": "asset", "limits": {"XYZW": {"min_available": 1}}}',
                                       '{"type": "asset", "metadata": {"k": null}}', json.dumps({"type": "asset", "metadata": {"k" * 41: "v"}}),
                                       json.dumps({"type": "asset", "metadata": {"k": "v" * 501}}),
                                       json.dumps({"type": "asset", "metadata": {str(i): "v" for i in range(51)}}), '{"type": "asset", "more": 1}'],
        ("POST", main + "/transactions"): ["", "{", "[]", "{}", '{"entries": []}', '{"entries": 1}', '{"entries": [1, 2]}', '{"entries": [{}, {}]}',
                                           '{"entries": %s, "id": ""}' % two, '{"entries": %s, "kind": "void"}' % two,
                                           '{"entries": %s, "effective_at": "soon"}' % two,
                                           '{"entries": %s, "kind": "pending", "expires_at": "soon"}' % two, '{"entries": %s, "check_history": 1}' % two,
                                           '{"entries": %s, "conditions": [{}]}' % two, '{"entries": %s, "more": 1}' % two,
                                           two.join(('{"entries": ', "}")).replace('"amount": 1', '"amount": -1'),
                                           two.join(('{"entries": ', "}")).replace('"amount": 1', '"amount": 1.0'),
                                           two.join(('{"entries": ', "}")).replace('"amount": 1', '"amount": "1e3"'),
                                           two.join(('{"entries": ', "}")).replace('"amount": 1', '"amount": 9007199254740992'),
                                           two.join(('{"entries": ', "}")).replace('"amount": 1', '"amount": "340282366920938463463374607431768211456"')],
        ("POST", main + "/transactions/none/post"): ["{", "[]", '{"amounts": 1}', '{"amounts": ["x"]}', '{"final": 1}', '{"force": true}', '{"effective_at": "original"}'],
        ("POST", main + "/transactions/none/void"): ["{", "[]", '{"amounts": []}', '{"final": true}', '{"id": 1}'],
        ("POST", main + "/transactions/none/reverse"): ["{", "[]", '{"final": true}', '{"force": 1}', '{"effective_at": "never"}'],
        ("PATCH", main + "/transactions/none/metadata"): ["", "{}", '{"metadata": 1}', '{"metadata": {"k": 1}}', '{"more": 1}'],
        ("PATCH", main + "/accounts/none"): ["", "{", "[]", '{"state": "gone"}', '{"limits": 1}', '{"type": "asset"}'],
        ("POST", main + "/batches"): ["", "{", "[]", "{}", '{"items": []}', '{"items": {}}', '{"items": [1], "mode": "all"}', '{"items": [1], "limits": "never"}',
                                      '{"items": [1], "more": 1}', '{"items": [{"op": "fly"}], "mode": "atomic"}'],
        ("POST", main + "/subscriptions"): ["", "{}", '{"destination": 1}', '{"destination": "ftp://example.com/"}', '{"queue": "none"}',
                                            '{"destination": "http://127.0.0.1:9/", "queue": "q"}', '{"destination": "http://127.0.0.1:9/", "types": "all"}'],
        ("POST", main + "/monitors"): ["", "{}", '{"currency": "USD", "lt": 1}', '{"account": "a", "currency": "USD"}', '{"account": "a", "prefix": "b", "currency": "USD", "lt": 1}',
                                       '{"prefix": "a:", "currency": "USD", "lt": 1}', '{"prefix": "a", "currency": "XYZW", "lt": 1}', '{"prefix": "a", "currency": "USD", "lt": "x"}'],
    }
    source = main + "/recon/sources/bank"
    bodies["PUT", main + "/rollups/shop"] = ["", "{", "[]", "{}", '{"rollup": 1}', '{"rollup": true, "more": 1}']
    bodies["PUT", source] = ["", "{", "[]", "{}", '{"account": 1, "currency": "USD"}', '{"account": "a"}', '{"account": "a", "currency": "USD", "more": 1}',
                             '{"account": "a", "currency": "USD", "window_days": -1}', '{"account": "a", "currency": "USD", "auto": 1}']
    bodies["POST", source + "/lines"] = ["", "{", "[]", "{}", '{"lines": 1}', '{"lines": [1]}', '{"lines": [{}]}',
                                         '{"lines": [{"external_id": "x", "date": "soon", "amount": "1", "currency": "USD"}]}',
                                         '{"lines": [{"external_id": "x", "date": "2026-01-01", "amount": 1.5, "currency": "USD"}]}']
    bodies["POST", main + "/recon/matches"] = ["", "{", "[]", "{}", '{"source": 1}', '{"source": "bank", "external_id": "x", "action": "dance"}',
                                               '{"source": "bank", "external_id": "x", "action": "match", "entries": [1]}', '{"more": 1}']
    bodies["POST", base + "/new/import"] = ["", "{", "[]", "{}", "nonsense", '{"seq": 1}', '{"seq": "1", "kind": "book"}']
    bodies["POST", main + "/transactions/preview"] = bodies["POST", main + "/transactions"]
    for (method, target), wrong in bodies.items():
        for body in wrong:
            yield method, target, {}, body, 400, None
    for target in (base, main, main + "/currencies", main + "/accounts", main + "/accounts/none", main + "/accounts/none/balances",
                   main + "/accounts/none/entries", main + "/transactions", main + "/transactions/none", main + "/records", main + "/checkpoints",
                   main + "/subscriptions", main + "/monitors", main + "/rollups", source + "/lines", main + "/recon/report"):
        yield "GET", target + "?unknown=1", {}, None, 400, "unknown"
    for target in (base, main + "/accounts", main + "/transactions", main + "/records", main + "/checkpoints"):
        for query in ("limit=0", "limit=1001", "limit=x", "limit=1&limit=2", "limit="):
            yield "GET", f"{target}?{query}", {}, None, 400, "limit"
    for target in (base, main + "/accounts", main + "/transactions", main + "/checkpoints"):
        for cursor in ("nonsense", "%00", "1-1-1-000000000000"):
            yield "GET", f"{target}?cursor={cursor}", {}, None, 400, "cursor"
    for query in ("type=bank", "state=gone", "metadata%5Bk%5D=v", "available_gte=1", "currency=USD&available_lt=x", "metadata=1"):
        yield "GET", f"{main}/accounts?{query}", {}, None, 400, query.split("%5B")[0].split("=")[0] if "available" not in query else None
    for query in ("side=up", "kind=x", "state=gone", "amount_min=-1", "amount_max=x", "effective_from=x", "recorded_to=2026-13-01T00:00:00Z", "metadata%5Bk%5D=v"):
        yield "GET", f"{main}/transactions?{query}", {}, None, 400, query.split("%5B")[0].split("=")[0]
    for query in ("as_of_effective=x", "as_of_recorded=x", "as_of_seq=x", "as_of_seq=1&as_of_recorded=2026-01-01T00:00:00Z", "currency="):
        yield "GET", f"{main}/accounts/none/balances?{query}", {}, None, 400, query.split("=")[0]
    for query in ("after_seq=x", "after_seq=-1", "wait=x", "wait=31s"):
        yield "GET", f"{main}/records?{query}", {}, None, 400, query.split("=")[0]
    yield "POST", f"{main}/transactions?balances=maybe", {}, "{}", 400, "balances"
    yield "POST", f"{main}/batches?balances=1", {}, "{}", 400, "balances"
    for method, target, body in (("GET", "/none", None), ("PATCH", "/none", "{}"), ("POST", "/none/accounts", '{"type": "asset"}'), ("GET", "/none/accounts", None),
                                 ("GET", "/none/records?wait=5s", None), ("GET", "/main/accounts/none", None), ("PATCH", "/main/accounts/none", "{}"),
                                 ("GET", "/main/accounts/none/balances", None), ("GET", "/main/accounts/none/entries", None), ("GET", "/main/transactions/none", None),
                                 ("GET", "/main/transactions?account=none", None), ("POST", "/main/transactions", '{"entries": %s}' % two),
                                 ("POST", "/main/transactions/preview", '{"entries": %s}' % two), ("POST", "/main/transactions/none/post", None),
                                 ("POST", "/main/transactions/none/void", None), ("POST", "/main/transactions/none/reverse", None),
                                 ("PATCH", "/main/transactions/none/metadata", '{"metadata": {"k": "v"}}'), ("DELETE", "/main/subscriptions/lsub_none", None),
                                 ("DELETE", "/main/monitors/lmon_none", None), ("POST", "/main/erase", '{"account": "none"}'),
                                 ("POST", "/main/monitors", '{"account": "none", "currency": "USD", "lt": 1}')):
        yield method, base + target, {}, body, 404, "none" if "entries" not in (body or "") else None
    for query in ("limit=0", "limit=x", "cursor=nonsense", "state=gone"):
        yield "GET", f"{source}/lines?{query}", {}, None, 400, query.split("=")[0]
    yield "GET", f"{main}/recon/report", {}, None, 400, "source"
    yield "GET", f"{main}/recon/report?source=none", {}, None, 404, "none"
    yield "PUT", source, {}, '{"account": "none", "currency": "USD"}', 404, "none"
    yield "POST", f"{base}/new/import?complete=maybe", {}, "{}", 400, "complete"
    yield "POST", f"{main}/transactions/none/reverse", {}, '{"force": true}', (403, 404), None
    yield "POST", f"{main}/accounts", {}, BIG, 413, "large"



def source_rows():
    base = "/api/v1/sources"
    good = '"deliverTo": {"url": "http://127.0.0.1:9/"}'
    secret = '"secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]'
    one = '{"name": "s", "preset": "%s", %s, %s%s}'
    wrong = [("{}", "name"), ('{"name": "S", "preset": "stripe", %s, %s}' % (good, secret), "/name"),
             ('{"name": "processors", "preset": "stripe", %s, %s}' % (good, secret), "reserved"),
             (one % ("paypal", good, secret, ""), "/preset"), (one % ("stripe", good, '"secrets": []', ""), "/secrets"),
             (one % ("stripe", good, '"secrets": [1]', ""), "/secrets/0"), (one % ("stripe", good, '"secrets": "x"', ""), "/secrets"),
             (one % ("stripe", good, '"secrets": [{"value": "x", "expiresInSeconds": 0}]', ""), "expiresInSeconds"),
             (one % ("stripe", good, '"secrets": ["1","2","3","4","5","6","7","8","9","10","11"]', ""), "at most 10"),
             (one % ("standard", good, '"secrets": ["whsec_short"]', ""), "/secrets/0"),
             (one % ("stripe", '"deliverTo": {}', secret, ""), "exactly one"), (one % ("stripe", '"deliverTo": {"app": "a"}', secret, ""), "/deliverTo/app"),
             (one % ("stripe", '"deliverTo": {"url": "ftp://x/"}', secret, ""), "/deliverTo/url"),
             (one % ("stripe", '"deliverTo": {"url": "http://127.0.0.1:9/", "queue": "q"}', secret, ""), "exactly one"),
             (one % ("stripe", '"deliverTo": {"queue": "none"}', secret, ""), "/deliverTo/queue"),
             (one % ("stripe", '"deliverTo": {"urlGroup": "none"}', secret, ""), "/deliverTo/urlGroup"),
             (one % ("stripe", '"deliverTo": {"url": "http://127.0.0.1:9/", "options": {"retries": "many"}}', secret, ""), "/deliverTo/options"),
             (one % ("hmac", good, secret, ""), "/verify/header"), (one % ("hmac", good, secret, ', "verify": {"header": "A", "template": "{x"}'), "/verify/template"),
             (one % ("basic", good, secret, ""), "/verify/username"), (one % ("apikey", good, secret, ""), "header or query"),
             (one % ("stripe", good, secret, ', "dedup": {"from": "body:id"}'), "/dedup/from"), (one % ("stripe", good, secret, ', "more": 1'), "/more"),
             (one % ("stripe", good, secret, ', "toleranceSeconds": 0'), "/toleranceSeconds"), (one % ("stripe", good, secret, ', "ratePerSecond": "x"'), "/ratePerSecond"),
             (one % ("stripe", good, secret, ', "maxBodyBytes": 0'), "/maxBodyBytes"), (one % ("stripe", good, secret, ', "onInvalid": "x"'), "/onInvalid"),
             (one % ("stripe", good, secret, ', "forwardHeaders": "x"'), "/forwardHeaders")]
    for body, error in wrong:
        yield "POST", base, {}, body, 422, error
    for body in ("", "{", "[]", '{"name": "s", "name": "s"}'):
        yield "POST", base, {}, body, 400, None
    for query in ("limit=0", "limit=251", "limit=x", "cursor=nonsense", "unknown=1"):
        yield "GET", f"{base}?{query}", {}, None, 422, query.split("=")[0]
    for method, rest, body in (("GET", "", None), ("PATCH", "", "{}"), ("DELETE", "", None), ("POST", "/secrets", '{"value": "x"}'),
                               ("DELETE", "/secrets/sec_x", None), ("GET", "/events", None), ("GET", "/quarantine", None),
                               ("GET", "/quarantine/qrn_x", None), ("DELETE", "/quarantine/qrn_x", None),
                               ("POST", "/quarantine/reverify", None), ("POST", "/quarantine/qrn_x/release", None)):
        yield method, f"{base}/none{rest}", {}, body, 404, "none"
    yield "POST", "/in/none", {}, "x", 404, "no such source"
    yield "POST", "/in/none/more?x=1", {}, "x", 404, "no such source"
    yield "GET", "/in/none", {}, None, 404, "no such source"
    yield "GET", "/in/none/more", {}, None, 404, "no such source"
    yield "PUT", "/in/none", {}, "x", 405, "POST"
    yield "POST", "/in/", {}, "x", 404, None


ROWS = [*source_rows(), *publishing_rows(), *body_rows(), *query_rows(), *unknown_rows(), *ledger_rows(), *ledger_report_rows()]

# What has nothing that could be wrong, or is tested with the token of the operator (test_tenants.py, test_limits.py).
WITHOUT_ROWS = {("GET", "/v2/topics"), ("DELETE", "/v2/topics/{name}"), ("GET", "/v2/queues"), ("DELETE", "/v2/queues/{name}"),
                ("GET", "/v2/globalParallelism"), ("GET", "/v2/keys"), ("POST", "/v2/keys/rotate"),
                ("POST", "/api/v1/admin/backup"), ("GET", "/api/v1/tenants"), ("POST", "/api/v1/tenants"),
                ("DELETE", "/api/v1/idempotency"), ("POST", "/api/v1/tenants/{id}/rotate-token"), ("GET", "/api/v1/tenants/{id}/access-keys"),
                ("GET", "/api/v1/tenants/{id}/limits"), ("PUT", "/api/v1/tenants/{id}/limits"),
                ("POST", "/api/v1/tenants/{id}/access-keys"), ("DELETE", "/api/v1/tenants/{id}/access-keys/{key}"),
                ("GET", "/api/openapi.json"), ("GET", "/metrics"),
                ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/sns/certificate.pem"), ("GET", "/api/v1/health"), ("GET", "/api/v1/health/ping"),
                ("GET", "/portal/"), ("GET", "/portal/icon.svg"), ("GET", "/portal/portal.css"), ("GET", "/portal/portal.js")}


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--body-bytes-max", "1MiB")
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def test_every_row_is_refused_in_the_form_of_its_protocol(self):
        for method, target, headers, body, status, error in ROWS:
            with self.subTest(f"{method} {target[:80]} {headers} {(body or '')[:60]}"):
                answer = self.server.request(method, target, body, headers)
                self.assertIn(answer.status, status if isinstance(status, tuple) else (status,), answer.body)
                told = answer.json()
                if target.startswith("/v2/"):
                    self.assertEqual(set(told), {"error"}, told)
                    text = told["error"]
                else:
                    self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
                    text = told["detail"]
                self.assertTrue(text and len(text) < 1000, text)
                errors = error if isinstance(error, tuple) else (error or "",)
                self.assertTrue(any(one in text for one in errors), text)

    def test_nothing_came_of_it(self):
        accepted = self.server.metrics()["hikyaku_messages_accepted_total"]
        self.test_every_row_is_refused_in_the_form_of_its_protocol()
        for target in ("/v2/schedules", "/v2/queues", "/v2/topics", "/v2/flowControl"):
            self.assertEqual(self.server.get(target).json(), [], target)
        self.assertEqual(self.server.metrics()["hikyaku_messages_accepted_total"], accepted)
        kinds = [one["kind"] for one in self.server.get("/api/v1/ledger/-/records").json()["records"]]
        self.assertEqual([kind for kind in kinds if kind != "checkpoint"], ["book"])
        self.assertEqual([one["id"] for one in self.server.get("/api/v1/ledger/books").json()["books"]], ["main"])
        self.assertEqual(self.server.get("/api/v1/sources").json(), {"sources": []})

    def test_an_item_of_a_batch_is_refused_alone(self):
        items = [{}, {"destination": 1}, {"destination": "nowhere/"}, "nowhere", 7,
                 {"destination": "http://127.0.0.1:9/", "queue": "a/b"}, {"destination": "http://127.0.0.1:9/", "body": 1},
                 {"destination": "http://127.0.0.1:9/", "headers": {"Upstash-Retries": "many"}},
                 {"destination": "http://127.0.0.1:9/", "headers": {"Upstash-Delay": "1h"}},
                 {"destination": "none"}]
        answer = self.server.request("POST", "/v2/batch", json.dumps(items))
        self.assertEqual(answer.status, 200)
        told = answer.json()
        self.assertEqual(["error" in one for one in told], [True] * 8 + [False, True], told)
        self.server.request("DELETE", f"/v2/messages/{told[8]['messageId']}")

    def test_webhooks_are_refused_in_their_form(self):
        for method, target, headers, body, status, part in webhooks.rows():
            with self.subTest(f"{method} {target[:80]} {headers} {(body or '')[:60]}"):
                answer = self.server.request(method, target, body, headers)
                self.assertIsNone(webhooks.refusal_problem(answer, target, status, part))
        for path, plural in (("app", "data"), ("event-type", "data"), ("operational-webhook/endpoint", "data"), ("webhooks/replays", "replays")):
            self.assertEqual(self.server.get(f"/api/v1/{path}").json()[plural], [], path)

    def test_every_route_has_rows(self):
        document = self.server.request("GET", "/api/openapi.json").json()
        routes = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
        without = set()
        for method, path in routes - WITHOUT_ROWS:
            pattern = re.compile("^" + re.sub(r"\\{[a-z_A-Z]+\\}", ".*", re.escape(path)) + r"(\?.*)?$")
            if not any(row[0] == method and pattern.match(row[1]) for row in [*ROWS, *webhooks.rows()]):
                without.add((method, path))
        self.assertEqual(without, set())
        self.assertEqual(WITHOUT_ROWS - routes, set())


class Forbidden(unittest.TestCase):
    """Where a server that is not for development does not deliver to, it accepts nothing for either."""
    ADDRESSES = ("http://127.0.0.1/", "http://10.0.0.1/", "http://192.168.1.1:8080/x", "http://169.254.169.254/latest/meta-data",
                 "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://[fd00::1]/", "http://0.0.0.0/")

    def test_every_way_to_name_a_destination(self):
        server = Server(dev=False, env={"HIKYAKU_TOKEN": TOKEN}, token=TOKEN)
        self.addCleanup(server.close)
        server.start()
        cron = {"Upstash-Cron": "* * * * *"}
        for address in self.ADDRESSES:
            endpoints = json.dumps({"endpoints": [{"url": address}]})
            for method, target, headers, body in (
                    ("POST", "/v2/publish/" + address, {}, "x"), ("POST", "/v2/enqueue/q/" + address, {}, "x"),
                    ("POST", "/v2/schedules/" + address, cron, "x"),
                    ("POST", "/v2/publish/https://example.com/", {"Upstash-Callback": address}, "x"),
                    ("POST", "/v2/publish/https://example.com/", {"Upstash-Failure-Callback": address}, "x"),
                    ("POST", "/v2/topics/g/endpoints", {}, endpoints)):
                with self.subTest(f"{method} {target} {headers}"):
                    answer = server.request(method, target, body, headers)
                    self.assertEqual(answer.status, 400, answer.body)
                    self.assertIn("private", answer.json()["error"])
            with self.subTest(f"batch {address}"):
                told = server.request("POST", "/v2/batch", json.dumps([{"destination": address}])).json()
                self.assertIn("private", told[0]["error"])
