"""What the tests of webhooks share: calls under /api/v1, what a receiver checks, and the ways to ask for something wrong."""
import base64
import hashlib
import hmac
import json
import time

from harness import wait_for

NOWHERE = "http://127.0.0.1:9/"
ZEROS = "0" * 27


def signature(secret, message_id, timestamp, body):
    """v1 of Standard Webhooks: the key is what the secret's base64 stands for."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


def verify(received, *secrets):
    """One signature for each secret, in this order, in both families of headers; a time of about now."""
    for family in ("svix", "webhook"):
        message_id, stamp = received.headers[f"{family}-id"], received.headers[f"{family}-timestamp"]
        wanted = [signature(secret, message_id, stamp, received.body) for secret in secrets]
        got = received.headers[f"{family}-signature"].split(" ")
        assert got == wanted, f"{family}: {got}, expected {wanted}"
        assert abs(time.time() - int(stamp)) < 300, stamp


class Webhooks:
    """Calls as a program makes them that has no SDK."""

    def __init__(self, server):
        self.server = server

    def send(self, method, path, body=None, key=None, **options):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        return self.server.request(method, "/api/v1" + path, content, headers, **options)

    def call(self, method, path, body=None, status=None, **options):
        """The answer's JSON, None where it has none. It must succeed, or have this status."""
        answer = self.send(method, path, body, **options)
        right = answer.status == status if status else answer.status < 300
        assert right, f"{method} {path}: {answer.status} {answer.body!r}"
        return answer.json() if answer.body else None

    def app(self, name="customer", **more):
        return self.call("POST", "/app", {"name": name, **more}, 201)["id"]

    def endpoint(self, app, url, **more):
        return self.call("POST", f"/app/{app}/endpoint", {"url": url, **more}, 201)["id"]

    def publish(self, app, payload=None, event_type="x", **more):
        body = {"eventType": event_type, "payload": {} if payload is None else payload, **more}
        return self.call("POST", f"/app/{app}/msg", body, 202)["id"]

    def own(self, app, endpoint, verb=""):
        """The path of a call of the own API."""
        return f"/webhooks/app/{app}/endpoint/{endpoint}/{verb}"

    def options(self, app, endpoint, **patch):
        return self.call("PATCH", self.own(app, endpoint, "delivery"), patch, 200)

    def state(self, app, endpoint):
        return self.call("GET", self.own(app, endpoint, "state"), status=200)

    def statuses(self, app, message):
        """{endpoint: status text} of a message."""
        found, iterator = {}, ""
        while True:
            page = self.call("GET", f"/app/{app}/msg/{message}/endpoint?limit=250&expanded_statuses=true{iterator}")
            found |= {one["id"]: one["statusText"] for one in page["data"]}
            if page["done"]:
                return found
            iterator = "&iterator=" + page["iterator"]

    def wait_status(self, app, message, endpoint, status):
        wait_for(lambda: self.statuses(app, message).get(endpoint) == status,
                 lambda: f"{message} at {endpoint} to be {status}; it is {self.statuses(app, message)}")


def quick(attempts, pause=0.05):
    """Delivery options: so many attempts, close behind each other."""
    return {"retry": {"delays": [0] + [pause] * (attempts - 1), "jitter": 0}}


# ---- What is refused, for each route: (method, target, headers, body, status, part of the text) ----

def rows():
    yield from compatible_rows()
    yield from own_rows()


def compatible_rows():
    """The errors of this protocol name each broken field: the text that is looked for is its place."""
    nobody = "/api/v1/app/nobody"
    for body in ("", "{", "[]", "7", '"x"', "[" * 200, b'{"name": "\xff"}'):
        for method, target in (("POST", "/app"), ("POST", "/event-type"), ("POST", "/operational-webhook/endpoint")):
            yield method, "/api/v1" + target, {}, body, 422, "body"
    for body, place in (({}, "name"), ({"name": ""}, "name"), ({"name": 7}, "name"), ({"name": "x" * 257}, "name"), ({"name": "a\0"}, "name"),
                        ({"name": "x", "uid": "app_x"}, "uid"), ({"name": "x", "uid": "a b"}, "uid"), ({"name": "x", "throttleRate": 0}, "throttleRate"),
                        ({"name": "x", "throttleRate": 65536}, "throttleRate"), ({"name": "x", "throttleRate": 1.5}, "throttleRate"),
                        ({"name": "x", "metadata": {"k": "v" * 4096}}, "metadata")):
        yield "POST", "/api/v1/app", {}, json.dumps(body), 422, place
        yield "PUT", "/api/v1/app/nobody", {}, json.dumps(body), 422, place
    for body, place in (({}, "name"), ({"name": "a b", "description": ""}, "name"), ({"name": "x"}, "description"),
                        ({"name": "x", "description": "", "schemas": {"v": {}}}, "schemas"), ({"name": "x", "description": "", "featureFlags": []}, "featureFlags")):
        yield "POST", "/api/v1/event-type", {}, json.dumps(body), 422, place
    yield "PUT", "/api/v1/event-type/a%20b", {}, '{"description": ""}', (404, 422), None
    yield "PUT", "/api/v1/event-type/x", {}, "{}", 422, "description"
    yield "POST", "/api/v1/event-type/import/openapi", {}, "{}", 400, None
    for query, place in (("limit=0", "limit"), ("limit=251", "limit"), ("limit=x", "limit"), ("order=up", "order"), ("iterator=%00", "iterator")):
        for target in ("/app", "/event-type", "/operational-webhook/endpoint", "/background-task"):
            yield "GET", f"/api/v1{target}?{query}", {}, None, 422, place
    yield "GET", "/api/v1/background-task?status=x", {}, None, 422, "status"
    yield "GET", "/api/v1/background-task?task=x", {}, None, 422, "task"
    for url in ("", "nowhere", "ftp://example.com/", "https://", "https://user@example.com/", "https://example.com/" + "x" * 8192):
        yield "POST", "/api/v1/operational-webhook/endpoint", {}, json.dumps({"url": url}), 422, "url"
    yield "POST", "/api/v1/operational-webhook/endpoint", {}, json.dumps({"url": NOWHERE, "eventTypes": ["user.created"]}), 422, "eventTypes"
    since = '{"since": "2026-01-01T00:00:00Z"}'
    message = '{"eventType": "x", "payload": {}}'
    endpoint = json.dumps({"url": NOWHERE})
    for method, target, body in (
            ("GET", "", None), ("PATCH", "", "{}"), ("DELETE", "", None), ("GET", "/endpoint", None), ("POST", "/endpoint", endpoint),
            ("GET", "/endpoint/e", None), ("PUT", "/endpoint/e", endpoint), ("PATCH", "/endpoint/e", "{}"), ("DELETE", "/endpoint/e", None),
            ("GET", "/endpoint/e/secret", None), ("POST", "/endpoint/e/secret/rotate", "{}"), ("GET", "/endpoint/e/headers", None),
            ("PUT", "/endpoint/e/headers", '{"headers": {}}'), ("PATCH", "/endpoint/e/headers", '{"headers": {}}'),
            ("GET", "/endpoint/e/stats", None), ("POST", "/endpoint/e/send-example", '{"eventType": "svix.ping"}'),
            ("POST", "/endpoint/e/recover", since), ("POST", "/endpoint/e/replay-missing", since), ("POST", "/endpoint/e/bulk-replay", since),
            ("GET", "/endpoint/e/rate-limit-status", None), ("POST", "/endpoint/e/cancel-msgs", None), ("GET", "/endpoint/e/transformation", None),
            ("PATCH", "/endpoint/e/transformation", '{"enabled": false}'), ("GET", "/endpoint/e/msg", None),
            ("GET", "/msg", None), ("POST", "/msg", message), ("GET", "/msg/m", None), ("DELETE", "/msg/m/content", None), ("GET", "/msg/m/raw", None),
            ("POST", "/msg/precheck/active", '{"eventType": "x"}'), ("POST", "/msg/bulk-expunge", '{"ids": []}'), ("POST", "/msg/expunge-all-contents", None),
            ("GET", "/msg/m/endpoint", None), ("GET", "/msg/m/attempt/a", None), ("DELETE", "/msg/m/attempt/a/content", None),
            ("POST", "/msg/m/endpoint/e/resend", None), ("GET", "/attempt/endpoint/e", None), ("GET", "/attempt/msg/m", None),
            ("GET", "/integration", None), ("POST", "/integration", '{"name": "x"}'), ("GET", "/integration/i", None), ("PUT", "/integration/i", '{"name": "x"}'),
            ("DELETE", "/integration/i", None), ("GET", "/integration/i/key", None), ("POST", "/integration/i/key/rotate", None)):
        yield method, nobody + target, {}, body, 404, None
    for method, target, body in (
            ("GET", "/event-type/nobody", None), ("PATCH", "/event-type/nobody", "{}"), ("DELETE", "/event-type/nobody", None),
            ("POST", "/auth/app-portal-access/nobody", "{}"), ("POST", "/auth/dashboard-access/nobody", None), ("POST", "/auth/app/nobody/expire-all", "{}"),
            ("GET", "/background-task/nobody", None), ("GET", f"/background-task/qtask_{ZEROS}", None),
            ("GET", "/operational-webhook/endpoint/nobody", None), ("PUT", "/operational-webhook/endpoint/nobody", endpoint),
            ("DELETE", "/operational-webhook/endpoint/nobody", None), ("GET", "/operational-webhook/endpoint/nobody/secret", None),
            ("POST", "/operational-webhook/endpoint/nobody/secret/rotate", "{}"), ("GET", "/operational-webhook/endpoint/nobody/headers", None),
            ("PUT", "/operational-webhook/endpoint/nobody/headers", '{"headers": {}}')):
        yield method, "/api/v1" + target, {}, body, 404, None
    yield "POST", "/api/v1/auth/logout", {}, None, 403, "nsufficient access"
    yield "GET", "/api/v1/auth/whoami", {"Authorization": "Bearer wrong"}, None, 401, "Invalid token"
    yield "POST", "/api/v1/stats/usage/app", {}, "{}", 422, "since"
    yield "POST", "/api/v1/stats/usage/app", {}, '{"since": "x", "until": "y"}', 422, "since"
    yield "PUT", "/api/v1/stats/usage/event-types", {"Authorization": "Bearer wrong"}, None, 401, "Invalid token"
    yield "POST", "/api/v1/environment/export", {"Authorization": "Bearer wrong"}, None, 401, "Invalid token"
    yield "POST", "/api/v1/environment/import", {}, '{"eventTypes": [{"name": "a b", "description": ""}]}', 422, "name"
    for method, target in (("POST", "connector"), ("GET", "connector/x"), ("PUT", "connector/x"), ("PATCH", "connector/x"), ("DELETE", "connector/x"),
                           ("GET", "stream/x"), ("POST", "stream/x"), ("GET", "management/x"), ("POST", "management/x"), ("GET", "events/x"),
                           ("POST", "events/x"), ("POST", "msg/x"), ("GET", "app/nobody/poller/x")):
        yield method, "/api/v1/" + target, {}, None if method == "GET" else "{}", 501, None
    for method in ("GET", "POST"):
        yield method, "/ingest/api/v1/source", {}, None if method == "GET" else "{}", 501, None
    yield "POST", nobody + "/endpoint/e/transformation/simulate", {}, "{}", (404, 501), None
    yield "GET", "/api/v1/connector", {"Authorization": "Bearer wrong"}, None, 401, "Invalid token"
    yield "POST", "/api/v1/app", {"Idempotency-Key": "x" * 256}, '{"name": "x"}', 422, "idempotency-key"


def own_rows():
    """Problem Details with the place of each wrong member as a JSON pointer."""
    since = "2026-01-01T00:00:00Z"
    for method, verb, body in (("GET", "delivery", None), ("PATCH", "delivery", "{}"), ("GET", "state", None), ("POST", "pause", None), ("POST", "resume", '{"mode": "deliver"}')):
        yield method, f"/api/v1/webhooks/app/nobody/endpoint/e/{verb}", {}, body, 404, None
    for body, pointer in (({"app": "x"}, "/since"), ({"since": since}, "/app"), ({"app": "x", "since": since, "rate": 0}, "/rate"),
                          ({"app": "x", "since": since, "rate": 10001}, "/rate"), ({"app": "x", "since": since, "order": "up"}, "/order"),
                          ({"app": "x", "since": "soon"}, "/since"), ({"app": "x", "since": since, "dryRun": 1}, "/dryRun")):
        yield "POST", "/api/v1/webhooks/replays", {}, json.dumps(body), 422, pointer
    yield "POST", "/api/v1/webhooks/replays", {}, json.dumps({"app": "nobody", "since": since}), 404, None
    for query in ("limit=0", "limit=251", "limit=x", "cursor=nonsense"):
        yield "GET", f"/api/v1/webhooks/replays?{query}", {}, None, (400, 422), query.split("=")[0]
    replay = f"/api/v1/webhooks/replays/rpl_{ZEROS}"
    for method, target, body in (("GET", "", None), ("PATCH", "", '{"rate": 5}'), ("POST", "/pause", None), ("POST", "/resume", None), ("POST", "/cancel", None)):
        yield method, replay + target, {}, body, 404, None
    for body, pointer in DELIVERY:
        yield "PATCH", "/api/v1/webhooks/settings", {}, json.dumps({"delivery": body}), 422, "/delivery" + pointer
    for body, pointer in (({"eventTypes": "shut"}, "/eventTypes"), ({"schemaCheck": "on"}, "/schemaCheck"), ({"httpsOnly": "yes"}, "/httpsOnly"),
                          ({"maxPayloadBytes": -1}, "/maxPayloadBytes"), ({"maxEndpointsPerApp": 0}, "/maxEndpointsPerApp")):
        yield "PATCH", "/api/v1/webhooks/settings", {}, json.dumps(body), 422, pointer
    yield "GET", "/api/v1/webhooks/settings", {"Authorization": "Bearer wrong"}, None, 401, None
    yield "GET", f"/api/v1/tasks/tsk_{ZEROS}", {}, None, 404, None


# What delivery options cannot be, and what the error points at.
DELIVERY = [
    ({"retry": {"preset": "often"}}, "/retry/preset"), ({"retry": {"delays": []}}, "/retry/delays"), ({"retry": {"delays": [0] * 51}}, "/retry/delays"),
    ({"retry": {"delays": [-1]}}, "/retry/delays"), ({"retry": {"delays": [604801]}}, "/retry/delays"), ({"retry": {"delays": ["5s"]}}, "/retry/delays"),
    ({"retry": {"jitter": 0.6}}, "/retry/jitter"), ({"retry": {"jitter": -0.1}}, "/retry/jitter"), ({"retry": {"giveUpStatuses": [99]}}, "/retry/giveUpStatuses"),
    ({"timeout": 0}, "/timeout"), ({"timeout": 121}, "/timeout"), ({"timeout": "30"}, "/timeout"), ({"headerSet": "all"}, "/headerSet"),
    ({"signing": {"stripeHeader": "a b"}}, "/signing/stripeHeader"), ({"signing": {"stripe": 1}}, "/signing/stripe"), ({"order": "strict"}, "/order"),
    ({"onExhausted": "explode"}, "/onExhausted"), ({"parallelism": 0}, "/parallelism"), ({"parallelism": 1001}, "/parallelism"),
    ({"circuit": {"failures": 0}}, "/circuit/failures"), ({"circuit": {"openSeconds": 0}}, "/circuit/openSeconds"),
    ({"circuit": {"openSeconds": 3601}}, "/circuit/openSeconds"), ({"hold": {"ttlSeconds": 59}}, "/hold/ttlSeconds"),
    ({"hold": {"ttlSeconds": 7776001}}, "/hold/ttlSeconds"), ({"resumeRate": 0}, "/resumeRate"),
]


def refusal_problem(answer, target, status, part):
    """What is wrong about a refusal in the form of its protocol; None if nothing is."""
    about = f"{answer.status} {answer.headers['Content-Type']} {answer.body[:300]!r}"
    if answer.status not in (status if isinstance(status, tuple) else (status,)):
        return f"{about}, expected {status}"
    told = answer.json()
    if target.startswith(("/api/v1/webhooks", "/api/v1/tasks")):
        if answer.headers["Content-Type"] != "application/problem+json" or not told.get("detail") or told.get("status") != answer.status:
            return f"{about}, expected a problem document"
        if answer.status == 422 and not (told.get("errors") and all({"pointer", "detail"} <= set(one) for one in told["errors"])):
            return f"{about}, expected errors with pointers"
        if answer.status == 422 and part and not any(one["pointer"].lstrip("/").startswith(part.lstrip("/")) for one in told["errors"]):
            return f"{about}, expected it to point at {part}"
    elif answer.status == 422:
        errors = told.get("detail")
        if "code" in told or not isinstance(errors, list) or not errors or not all({"loc", "msg", "type"} <= set(one) for one in errors):
            return f"{about}, expected a list of places"
        if part and not any(part in map(str, one["loc"]) for one in errors):
            return f"{about}, expected it to blame {part}"
        return None
    elif not isinstance(told.get("code"), str) or not isinstance(told.get("detail"), str):
        return f"{about}, expected code and detail"
    return None if not part or part in answer.body.decode() else f"{about}, expected it to say {part}"


# ---- Writes that are repeated under a key ----


def writes(api):
    """{(method, path): (target, body, another body or None, status)}, of what is new on this server."""
    since = "2026-01-01T00:00:00Z"
    app, other = api.app(uid="keys"), api.app(uid="other")
    endpoint = api.endpoint(app, NOWHERE)
    doomed = api.endpoint(app, NOWHERE)
    operational, gone = [api.call("POST", "/operational-webhook/endpoint", {"url": NOWHERE, "disabled": True}, 201)["id"] for _ in range(2)]
    for name in ("changed", "dropped"):
        api.call("POST", "/event-type", {"name": name, "description": ""}, 201)
    integration, ended = [api.call("POST", f"/app/{app}/integration", {"name": "x"}, 201)["id"] for _ in range(2)]
    message, expunged = api.publish(app), api.publish(app)
    attempts = lambda: api.call("GET", f"/app/{app}/attempt/msg/{message}")["data"]
    attempt = wait_for(attempts, "an attempt")[0]["id"]
    replays = [api.call("POST", "/webhooks/replays", {"app": "other", "since": since, "rate": 0.1}, 202)["id"] for _ in range(1)]
    of, ep, msg, ops = f"/app/{app}", f"/app/{app}/endpoint/{endpoint}", f"/app/{app}/msg/{message}", f"/operational-webhook/endpoint/{operational}"
    document = {"openapi": "3.1.0", "webhooks": {"imported": {"post": {"description": "x"}}}}
    url = {"url": NOWHERE}
    rows = {
        ("post", "/app"): ("/app", {"name": "a"}, {"name": "b"}, 201),
        ("put", "/app/{app}"): ("/app/made", {"name": "a"}, {"name": "b"}, 201),
        ("patch", "/app/{app}"): (of, {"name": "a"}, {"name": "b"}, 200),
        ("delete", "/app/{app}"): (f"/app/{api.app(uid='doomed')}", None, None, 204),
        ("post", "/event-type"): ("/event-type", {"name": "a", "description": ""}, {"name": "b", "description": ""}, 201),
        ("post", "/event-type/import/openapi"): ("/event-type/import/openapi", {"spec": document}, {"spec": document, "dryRun": True}, 200),
        ("put", "/event-type/{name}"): ("/event-type/made", {"description": ""}, {"description": "b"}, 201),
        ("patch", "/event-type/{name}"): ("/event-type/changed", {"description": "a"}, {"description": "b"}, 200),
        ("delete", "/event-type/{name}"): ("/event-type/dropped", None, None, 204),
        ("post", "/app/{app}/endpoint"): (of + "/endpoint", url, {**url, "uid": "b"}, 201),
        ("put", "/app/{app}/endpoint/{endpoint}"): (of + "/endpoint/made", url, {**url, "description": "b"}, 201),
        ("patch", "/app/{app}/endpoint/{endpoint}"): (ep, {"description": "a"}, {"description": "b"}, 200),
        ("delete", "/app/{app}/endpoint/{endpoint}"): (f"{of}/endpoint/{doomed}", None, None, 204),
        ("post", "/app/{app}/endpoint/{endpoint}/secret/rotate"): (ep + "/secret/rotate", {}, {"gracePeriodSeconds": 0}, 204),
        ("put", "/app/{app}/endpoint/{endpoint}/headers"): (ep + "/headers", {"headers": {"X-A": "1"}}, {"headers": {}}, 204),
        ("patch", "/app/{app}/endpoint/{endpoint}/headers"): (ep + "/headers", {"headers": {"X-B": "1"}}, {"headers": {}}, 204),
        ("post", "/app/{app}/endpoint/{endpoint}/send-example"): (ep + "/send-example", {"eventType": "svix.ping"}, {"eventType": "svix.ping", "exampleIndex": 1}, 202),
        ("post", "/app/{app}/endpoint/{endpoint}/cancel-msgs"): (ep + "/cancel-msgs", {"tag": "none"}, {"tag": "nobody"}, 204),
        ("patch", "/app/{app}/endpoint/{endpoint}/transformation"): (ep + "/transformation", {"enabled": False}, {"code": None}, 204),
        ("post", "/app/{app}/msg"): (of + "/msg", {"eventType": "x", "payload": {}}, {"eventType": "y", "payload": {}}, 202),
        ("delete", "/app/{app}/msg/{message}/content"): (f"{of}/msg/{expunged}/content", None, None, 204),
        ("post", "/app/{app}/msg/precheck/active"): (of + "/msg/precheck/active", {"eventType": "x"}, {"eventType": "y"}, 200),
        ("post", "/app/{app}/msg/bulk-expunge"): (of + "/msg/bulk-expunge", {"ids": ["none"]}, {"ids": ["nobody"]}, 200),
        ("post", "/app/{app}/msg/expunge-all-contents"): ("/app/other/msg/expunge-all-contents", None, None, 202),
        ("delete", "/app/{app}/msg/{message}/attempt/{attempt}/content"): (f"{msg}/attempt/{attempt}/content", None, None, 204),
        ("post", "/app/{app}/msg/{message}/endpoint/{endpoint}/resend"): (f"{msg}/endpoint/{endpoint}/resend", None, None, 202),
        ("post", "/auth/app/{app}/expire-all"): ("/auth/app/other/expire-all", {}, {"expiry": 5}, 204),
        ("post", "/auth/logout"): ("/auth/logout", None, None, 403),
        ("post", "/stats/usage/app"): ("/stats/usage/app", {"since": since, "until": "2026-01-02T00:00:00Z"}, {"since": since, "until": "2026-01-03T00:00:00Z"}, 202),
        ("put", "/stats/usage/event-types"): ("/stats/usage/event-types", None, None, 202),
        ("post", "/environment/export"): ("/environment/export", None, None, 200),
        ("post", "/environment/import"): ("/environment/import", {"eventTypes": []}, {}, 204),
        ("post", "/app/{app}/integration"): (of + "/integration", {"name": "a"}, {"name": "b"}, 201),
        ("put", "/app/{app}/integration/{integration}"): (f"{of}/integration/{integration}", {"name": "a"}, {"name": "b"}, 200),
        ("delete", "/app/{app}/integration/{integration}"): (f"{of}/integration/{ended}", None, None, 204),
        ("post", "/app/{app}/integration/{integration}/key/rotate"): (f"{of}/integration/{integration}/key/rotate", None, None, 200),
        ("post", "/operational-webhook/endpoint"): ("/operational-webhook/endpoint", {**url, "disabled": True}, url, 201),
        ("put", "/operational-webhook/endpoint/{endpoint}"): (ops, {**url, "disabled": True}, {**url, "disabled": True, "description": "b"}, 200),
        ("delete", "/operational-webhook/endpoint/{endpoint}"): (f"/operational-webhook/endpoint/{gone}", None, None, 204),
        ("post", "/operational-webhook/endpoint/{endpoint}/secret/rotate"): (ops + "/secret/rotate", {}, {"gracePeriodSeconds": 0}, 204),
        ("put", "/operational-webhook/endpoint/{endpoint}/headers"): (ops + "/headers", {"headers": {}}, {"headers": {"X-A": "1"}}, 204),
        ("patch", "/webhooks/app/{app}/endpoint/{endpoint}/delivery"): (f"/webhooks{ep}/delivery", {"timeout": 5}, {"timeout": 6}, 200),
        ("post", "/webhooks/app/{app}/endpoint/{endpoint}/pause"): (f"/webhooks{ep}/pause", None, None, 204),
        ("post", "/webhooks/app/{app}/endpoint/{endpoint}/resume"): (f"/webhooks{ep}/resume", {"mode": "deliver"}, {"mode": "skip"}, 200),
        ("patch", "/webhooks/settings"): ("/webhooks/settings", {"httpsOnly": False}, {"schemaCheck": "off"}, 200),
        ("post", "/webhooks/replays"): ("/webhooks/replays", {"app": "other", "since": since}, {"app": "other", "since": since, "rate": 5}, 202),
        ("patch", "/webhooks/replays/{replay}"): (f"/webhooks/replays/{replays[0]}", {"rate": 5}, {"rate": 6}, 200),
    }
    for name in ("app-portal-access", "dashboard-access"):
        rows["post", f"/auth/{name}/{{app}}"] = (f"/auth/{name}/keys", {}, {"expiry": 3600}, 200)
    for name in ("recover", "replay-missing", "bulk-replay"):
        rows["post", f"/app/{{app}}/endpoint/{{endpoint}}/{name}"] = (f"{ep}/{name}", {"since": since}, {"since": since, "until": "2026-02-01T00:00:00Z"}, 202)
    for verb in ("pause", "resume", "cancel"):
        rows["post", f"/webhooks/replays/{{replay}}/{verb}"] = (f"/webhooks/replays/{replays[0]}/{verb}", None, None, 200)
    return {(method, "/api/v1" + path): row for (method, path), row in rows.items()}, other
