"""Inbound sources: what services send is verified, accepted once and delivered; what is not, is kept to be looked at."""
import base64
import hashlib
import hmac
import json
import os
import tempfile
import threading
import time
import unittest
import urllib.parse

from harness import Receiver, Server, run_binary, wait_for

WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
PAIR_SEED = bytes(range(32))
WHPK = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="


def mac(key, text, algorithm="sha256"):
    key, text = (one.encode() if isinstance(one, str) else one for one in (key, text))
    return hmac.new(key, text, algorithm).digest()


def b64(data):
    return base64.b64encode(data).decode()


def b64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(key, body, at, url="https://example.com/in/q"):
    claims = {"iss": "Upstash", "sub": url, "exp": at + 300, "nbf": at, "iat": at, "jti": f"jwt_{hashlib.md5(body).hexdigest()}",
              "body": b64url(hashlib.sha256(body).digest())}
    text = b64url(b'{"alg":"HS256","typ":"JWT"}') + "." + b64url(json.dumps(claims).encode())
    return text + "." + b64url(mac(key, text))


def sign_stripe(key, body, at):
    return {"Stripe-Signature": f"t={at},v1={mac(key, f'{at}.'.encode() + body).hex()}"}


def sign_standard(key, body, at, event="msg_1", family="webhook"):
    text = f"{event}.{at}.".encode() + body
    return {f"{family}-id": event, f"{family}-timestamp": str(at),
            f"{family}-signature": "v1," + b64(mac(base64.b64decode(key.removeprefix("whsec_")), text))}


class Preset:
    """How a service signs: headers of a body at a time with a key; what the source is made with."""

    def __init__(self, name, secret, sign, body=b'{"id": "evt_1", "type": "a.b"}', wrong="wrong-secret-of-a-stranger", stale=False,
                 code="signature_invalid", **settings):
        self.name, self.secret, self.sign, self.body, self.wrong = name, secret, sign, body, wrong
        self.stale, self.code, self.settings = stale, code, settings


PRESETS = [
    Preset("stripe", WHSEC, sign_stripe, wrong=OTHER, stale=True),
    Preset("github", "s3cret", lambda key, body, at: {"X-Hub-Signature-256": "sha256=" + mac(key, body).hex(), "X-GitHub-Delivery": "d-1",
                                                      "X-GitHub-Event": "push"}),
    Preset("shopify", "hush", lambda key, body, at: {"X-Shopify-Hmac-SHA256": b64(mac(key, body)), "X-Shopify-Webhook-Id": "w-1",
                                                     "X-Shopify-Topic": "orders/create"}),
    Preset("slack", "slack-secret", lambda key, body, at: {"X-Slack-Request-Timestamp": str(at),
                                                           "X-Slack-Signature": "v0=" + mac(key, f"v0:{at}:".encode() + body).hex()},
           body=b'{"event_id": "Ev1", "event": {"type": "message"}}', stale=True),
    Preset("standard", WHSEC, sign_standard, wrong=OTHER, stale=True),
    Preset("qstash", "sig_current", lambda key, body, at: {"Upstash-Signature": jwt(key, body, at)}, stale=True,
           verify={"url": "https://example.com/in/q"}),
    Preset("twitter", "consumer", lambda key, body, at: {"x-twitter-webhooks-signature": "sha256=" + b64(mac(key, body))},
           body=b'{"tweet_create_events": []}'),
    Preset("meta", "app", lambda key, body, at: {"X-Hub-Signature-256": "sha256=" + mac(key, body).hex()}, verify={"verifyToken": "vt"}),
    Preset("msgraph", "state", lambda key, body, at: {}, body=b'{"value": [{"clientState": "state", "changeType": "created"}]}',
           wrong=None, code="credentials_invalid"),
    Preset("hmac", "generic", lambda key, body, at: {"X-T": str(at * 1000), "X-S": "v=" + b64(mac(key, f"{at * 1000}.".encode() + body, "sha512"))},
           stale=True, dedup={"from": "body:/id"}, eventType={"from": "body:/type"},
           verify={"algorithm": "sha512", "encoding": "base64", "header": "X-S", "prefix": "v=", "template": "{timestamp}.{body}",
                   "timestampHeader": "X-T", "timestampUnit": "ms"}),
    Preset("basic", "pass:word", lambda key, body, at: {"Authorization": "Basic " + b64(f"user:{key}".encode())},
           code="credentials_invalid", verify={"username": "user"}),
    Preset("apikey", "key-1", lambda key, body, at: {"X-Api-Key": key}, code="credentials_invalid", verify={"header": "X-Api-Key"}),
]


class Sources(unittest.TestCase):
    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()

    def api(self, method, path, body=None, **headers):
        fields = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request(method, "/api/v1/sources" + path, None if body is None else json.dumps(body), fields)

    def create(self, name, preset, secrets=(), **settings):
        settings.setdefault("deliverTo", {"url": self.receiver.url("/" + name)})
        answer = self.api("POST", "", {"name": name, "preset": preset, "secrets": list(secrets), **settings})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()

    def send(self, name, body, headers, path="", method="POST"):
        return self.server.request(method, f"/in/{name}{path}", body, {"Content-Type": "application/json", **headers}, token=None)

    def refused(self, answer, status, code):
        self.assertEqual((answer.status, answer.json().get("code")), (status, code), answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        return answer.json()

    def quarantine(self, name):
        return self.api("GET", f"/{name}/quarantine").json()["quarantined"]

    def test_every_preset_takes_what_is_signed_once_and_nothing_else(self):
        for preset in PRESETS:
            with self.subTest(preset.name):
                self.create(preset.name, preset.name, [preset.secret], **preset.settings)
                now = int(time.time())
                good = preset.sign(preset.secret, preset.body, now)
                first = self.send(preset.name, preset.body, good)
                self.assertEqual((first.status, first.body), (204, b""), first.body)
                self.assertTrue(first.headers["Hikyaku-Message-Id"].startswith("msg_"))
                self.assertIsNone(first.headers["Hikyaku-Duplicate"])
                self.assertTrue(first.headers["X-Request-Id"])
                self.assertRegex(first.headers["traceparent"], "^00-[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$")

                again = self.send(preset.name, preset.body, good, path="/deeper?x=1")
                self.assertEqual((again.status, again.headers["Hikyaku-Duplicate"]), (204, "true"))
                self.assertEqual(again.headers["Hikyaku-Message-Id"], first.headers["Hikyaku-Message-Id"])
                self.assertEqual(again.headers["Hikyaku-Event-Id"], first.headers["Hikyaku-Event-Id"])

                [got] = self.receiver.wait("/" + preset.name)
                self.assertEqual(got.body, preset.body)
                self.assertEqual(got.headers["Content-Type"], "application/json")
                self.assertEqual(got.headers["Hikyaku-Source"], preset.name)
                self.assertEqual(got.headers["Hikyaku-Event-Id"], first.headers["Hikyaku-Event-Id"])
                self.assertTrue(got.headers["Hikyaku-Received-At"].endswith("Z"))
                self.assertIsNone(got.headers["Authorization"])
                self.assertIsNone(got.headers["X-Api-Key"])

                if preset.wrong:
                    forged = self.send(preset.name, preset.body, preset.sign(preset.wrong, preset.body, now))
                else:
                    forged = self.send(preset.name, preset.body.replace(b"state", b"stolen", 2), good)
                told = self.refused(forged, 401, preset.code)
                self.assertNotIn(preset.secret, json.dumps(told))
                self.assertEqual(forged.headers["WWW-Authenticate"] is not None, preset.name == "basic")
                if preset.stale:
                    for at in (now - 1000, now + 1000):
                        self.refused(self.send(preset.name, preset.body, preset.sign(preset.secret, preset.body, at)),
                                     401, "timestamp_outside_tolerance")
                source = wait_for(lambda: self.stats_when_told(preset), "the rejected requests")
                self.assertEqual((source["stats"]["accepted"], source["stats"]["duplicates"]), (1, 1))
                self.assertEqual(len(self.receiver.at("/" + preset.name)), 1)
                [event] = self.api("GET", f"/{preset.name}/events").json()["events"]
                self.assertEqual((event["messageId"], event["duplicates"]), (first.headers["Hikyaku-Message-Id"], 1))

    def stats_when_told(self, preset):
        source = self.api("GET", "/" + preset.name).json()
        return source if source["stats"]["quarantined"] == (3 if preset.stale else 1) else None

    def test_signatures_with_a_pair_of_keys(self):
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            self.skipTest("no library for ed25519; the unit tests have the vector")
        self.create("pair", "standard", [WHPK])
        now, body = int(time.time()), b'{"type": "x"}'
        signature = Ed25519PrivateKey.from_private_bytes(PAIR_SEED).sign(f"m.{now}.".encode() + body)
        headers = {"svix-id": "m", "svix-timestamp": str(now), "svix-signature": "v1,AAAA v1a," + b64(signature)}
        self.assertEqual(self.send("pair", body, headers).status, 204)
        self.refused(self.send("pair", body + b" ", headers), 401, "signature_invalid")

    def test_handshakes(self):
        self.create("x", "twitter", ["consumer-secret"])
        answer = self.send("x", None, {}, "?crc_token=MTYxNDI2NTMzMA", "GET")
        self.assertEqual(answer.json(), {"response_token": "sha256=gUDq9vtFecPQA8K0iDIAxpCCeUmjO0HTbV4FwyITcKM="})
        self.create("m", "meta", ["app"], verify={"verifyToken": "vt"})
        answer = self.send("m", None, {}, "?hub.mode=subscribe&hub.verify_token=vt&hub.challenge=1158201444", "GET")
        self.assertEqual((answer.status, answer.body), (200, b"1158201444"))
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        self.assertEqual(self.send("m", None, {}, "?hub.mode=subscribe&hub.verify_token=no&hub.challenge=1", "GET").status, 403)
        self.create("g", "msgraph", ["state"])
        answer = self.send("g", b"", {}, "?validationToken=" + urllib.parse.quote("<b>a b</b>"))
        self.assertEqual((answer.status, answer.body, answer.headers["X-Content-Type-Options"]), (200, b"<b>a b</b>", "nosniff"))
        self.assertEqual(self.send("g", b"", {}, "?validationToken=" + "x" * 4097).status, 400)
        self.create("s", "slack", ["k"])
        body, now = b'{"type": "url_verification", "challenge": "ch"}', int(time.time())
        answer = self.send("s", body, PRESETS[3].sign("k", body, now))
        self.assertEqual((answer.status, answer.body), (200, b"ch"))
        self.refused(self.send("s", body, PRESETS[3].sign("no", body, now)), 401, "signature_invalid")
        answer = self.send("s", None, {}, method="GET")
        self.refused(answer, 405, "method_not_allowed")
        self.assertEqual(answer.headers["Allow"], "POST")
        self.assertEqual(self.server.metrics()["hikyaku_messages_accepted_total"], 0)

    def test_strangers_learn_nothing(self):
        source = self.create("n", "none")
        self.create("d", "github", ["s"], enabled=False)
        answers = [self.send(name, b"x", {}) for name in ("unknown", "n", "d", "src_" + "0" * 27)]
        for answer in answers:
            self.refused(answer, 404, "source_not_found")
        self.assertEqual(len({answer.json()["detail"] for answer in answers}), 1)
        self.assertEqual(self.send(source["id"], b"x", {}).status, 204)
        self.assertTrue(source["url"].endswith("/in/" + source["id"]))
        self.api("DELETE", "/n")
        self.refused(self.send(source["id"], b"x", {}), 404, "source_not_found")

    def test_limits_of_a_source(self):
        self.create("small", "none", maxBodyBytes=10)
        source = self.create("slow", "github", ["s"], ratePerSecond=1)
        self.assertTrue(source["url"].startswith("http://127.0.0.1:"))
        self.create("big", "github", ["s"], maxBodyBytes=10)
        self.refused(self.send("big", b"x" * 11, {}), 413, "too_large")
        answers = [self.send("slow", b"x", {}) for _ in range(5)]
        limited = [one for one in answers if one.status == 429]
        self.assertTrue(limited)
        self.refused(limited[0], 429, "rate_limited")
        self.assertEqual(limited[0].headers["Retry-After"], "1")

    def test_correlation_goes_through(self):
        self.create("c", "none")
        source = self.api("GET", "/c").json()["id"]
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        answer = self.send(source, b"x", {"X-Request-Id": "my-id", "traceparent": trace, "X-Mine": "1", "Cookie": "c=1",
                                          "Hikyaku-Event-Id": "forged", "Connection": "X-Hop", "X-Hop": "1", "webhook-id": "w"})
        self.assertEqual(answer.headers["X-Request-Id"], "my-id")
        self.assertIn("0af7651916cd43dd8448eb211c80319c", answer.headers["traceparent"])
        [got] = self.receiver.wait("/c")
        self.assertIn("0af7651916cd43dd8448eb211c80319c", got.headers["traceparent"])
        self.assertEqual((got.headers["X-Mine"], got.headers["webhook-id"]), ("1", "w"))
        self.assertEqual((got.headers["Cookie"], got.headers["X-Hop"]), (None, None))
        self.assertEqual(got.headers["Hikyaku-Event-Id"], hashlib.sha256(b"x").hexdigest())
        answer = self.send(source, b"y", {"X-Request-Id": "x" * 129})
        self.assertNotEqual(answer.headers["X-Request-Id"], "x" * 129)

    def test_events_go_to_url_groups_and_queues(self):
        answer = self.api("POST", "", {"name": "q", "preset": "github", "secrets": ["s"], "deliverTo": {"queue": "none"}})
        self.assertEqual((answer.status, answer.json()["errors"][0]["pointer"]), (422, "/deliverTo/queue"))
        answer = self.api("POST", "", {"name": "q", "preset": "github", "secrets": ["s"], "deliverTo": {"urlGroup": "none"}})
        self.assertEqual((answer.status, answer.json()["errors"][0]["pointer"]), (422, "/deliverTo/urlGroup"))
        endpoints = [{"url": self.receiver.url("/g1")}, {"url": self.receiver.url("/g2")}]
        self.assertEqual(self.server.request("POST", "/v2/topics/g/endpoints", json.dumps({"endpoints": endpoints})).status, 200)
        self.create("group", "github", ["s"], deliverTo={"urlGroup": "g"})
        body = b'{"x": 1}'
        first = self.send("group", body, PRESETS[1].sign("s", body, 0))
        again = self.send("group", body, PRESETS[1].sign("s", body, 0))
        self.assertEqual((first.status, again.headers["Hikyaku-Duplicate"]), (204, "true"))
        self.assertEqual(self.receiver.wait("/g1")[0].body, body)
        self.assertEqual(self.receiver.wait("/g2")[0].body, body)
        self.assertEqual(len(self.receiver.at("/g1")) + len(self.receiver.at("/g2")), 2)
        self.server.request("DELETE", "/v2/topics/g")
        body = b'{"x": 2}'
        headers = PRESETS[1].sign("s", body, 0) | {"X-GitHub-Delivery": "d-2"}
        gone = self.send("group", body, headers)
        self.refused(gone, 503, "unavailable")
        self.assertTrue(gone.headers["Retry-After"])

    def test_secrets_rotate_at_once_and_are_never_shown(self):
        source = self.create("r", "stripe", [WHSEC])
        self.assertEqual([one["hint"] for one in source["secrets"]], ["…LaSw"])
        send = lambda key, event: self.send("r", *(lambda body: (body, sign_stripe(key, body, int(time.time()))))(  # noqa: E731
            json.dumps({"id": event}).encode()))
        self.refused(send(OTHER, "e1"), 401, "signature_invalid")
        added = self.api("POST", "/r/secrets", {"value": OTHER, "expiresInSeconds": 3600}).json()
        self.assertEqual((send(OTHER, "e1").status, send(WHSEC, "e2").status), (204, 204))
        old = source["secrets"][0]["id"]
        self.assertEqual(self.api("DELETE", f"/r/secrets/{old}").status, 204)
        self.refused(send(WHSEC, "e3"), 401, "signature_invalid")
        self.assertEqual(send(OTHER, "e3").status, 204)
        self.refused(self.api("DELETE", f"/r/secrets/{added['id']}"), 409, "conflict")
        self.assertEqual(self.api("DELETE", "/r/secrets/sec_none").status, 404)
        self.server.restart()
        self.assertEqual(send(OTHER, "e4").status, 204)
        shown = self.api("GET", "/r").body + self.api("GET", "").body
        self.assertNotIn(OTHER.encode(), shown)
        self.server.terminate()
        for folder, _, files in os.walk(self.server.data):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertNotIn(WHSEC.removeprefix("whsec_").encode(), f.read(), name)

    def test_a_request_that_was_rejected_is_let_in_when_the_secret_is_right(self):
        self.create("late", "stripe", [OTHER])
        now = int(time.time())
        bodies = [json.dumps({"id": event, "type": "t"}).encode() for event in ("e1", "e2", "e1")]
        for body in bodies:
            self.refused(self.send("late", body, sign_stripe(WHSEC, body, now)), 401, "signature_invalid")
        body = b'{"id": "e9"}'
        self.send("late", body, sign_stripe("neither", body, now))
        lines = wait_for(lambda: (self.quarantine("late") if len(self.quarantine("late")) == 4 else None), "four rejected requests")
        self.assertEqual([one["reason"]["code"] for one in lines], ["signature_mismatch"] * 4)
        self.create("neighbour", "stripe", [WHSEC])
        shown = self.api("GET", f"/late/quarantine/{lines[0]['id']}").json()
        self.assertEqual(shown["body"].encode(), bodies[0])
        self.assertIn("Stripe-Signature", shown["headers"])
        details = shown["reason"]["details"]
        self.assertEqual(details["bodySha256"], hashlib.sha256(bodies[0]).hexdigest())
        self.assertEqual(len(details["expectedPrefix"]), 8)
        self.assertIn("neighbour", details["hint"])
        self.assertEqual(self.receiver.at("/late"), [])

        self.api("POST", "/late/secrets", {"value": WHSEC})
        told = self.api("POST", "/late/quarantine/reverify", {}, Idempotency_Key="k1")
        self.assertEqual(told.json(), {"checked": 4, "released": 2, "duplicates": 1, "stillInvalid": 1})
        self.assertEqual(self.api("POST", "/late/quarantine/reverify", {}, Idempotency_Key="k1").json(), told.json())
        got = self.receiver.wait("/late", 2)
        self.assertEqual({one.headers["Hikyaku-Event-Id"] for one in got}, {"e1", "e2"})
        self.assertEqual([one.headers["Hikyaku-Unverified"] for one in got], [None, None])
        [left] = self.quarantine("late")
        self.server.restart()
        self.assertEqual([one["id"] for one in self.quarantine("late")], [left["id"]])

        released = self.api("POST", f"/late/quarantine/{left['id']}/release", {})
        self.assertEqual(released.status, 200, released.body)
        got = self.receiver.wait("/late", 3)[2]
        self.assertEqual((got.headers["Hikyaku-Event-Id"], got.headers["Hikyaku-Unverified"], got.body), ("e9", "true", body))
        self.assertEqual(self.api("POST", f"/late/quarantine/{left['id']}/release", {}).status, 404)
        self.assertEqual(self.quarantine("late"), [])
        self.assertIn("source.released_unverified", self.server.output())

    def test_what_is_thrown_away_or_not_kept(self):
        self.create("t", "github", ["s"])
        self.send("t", b"\xff\x00", {"X-Hub-Signature-256": "sha256=00"})
        [line] = wait_for(lambda: self.quarantine("t"), "a rejected request")
        self.assertEqual(base64.b64decode(self.api("GET", f"/t/quarantine/{line['id']}").json()["bodyBase64"]), b"\xff\x00")
        self.assertEqual(self.api("DELETE", f"/t/quarantine/{line['id']}").status, 204)
        self.assertEqual(self.api("DELETE", f"/t/quarantine/{line['id']}").status, 404)
        self.api("PATCH", "/t", {"onInvalid": "reject"})
        self.send("t", b"x", {"X-Hub-Signature-256": "sha256=00"})
        wait_for(lambda: self.api("GET", "/t").json()["stats"]["invalid"] == 2, "the count")
        self.assertEqual(self.quarantine("t"), [])
        self.create("j", "stripe", [WHSEC])
        body = b"not json"
        self.refused(self.send("j", body, sign_stripe(WHSEC, body, int(time.time()))), 400, "invalid")
        [line] = wait_for(lambda: self.quarantine("j"), "a request that is no JSON")
        self.assertEqual(line["reason"]["code"], "body_not_json")

    def test_strangers_cannot_fill_the_disk(self):
        self.create("f", "github", ["s"])
        for _ in range(60):
            self.send("f", b"x" * 1000, {"X-Hub-Signature-256": "sha256=00"})
        self.send("f", b"x", {"X-Hub-Signature-256": "sha256=00"})
        stats = wait_for(lambda: (lambda s: s if s["invalid"] >= 55 else None)(self.api("GET", "/f").json()["stats"]), "the counts")
        self.assertLess(stats["quarantined"], 61)

    def test_lists_have_pages(self):
        self.create("p", "none", dedup={"from": "content"})
        source = self.api("GET", "/p").json()["id"]
        for i in range(5):
            self.send(source, str(i).encode(), {})
        seen, cursor = [], ""
        while True:
            page = self.api("GET", f"/p/events?limit=2{cursor}").json()
            seen += [one["messageId"] for one in page["events"]]
            if "cursor" not in page:
                break
            cursor = "&cursor=" + page["cursor"]
        self.assertEqual((len(seen), len(set(seen)), seen), (5, 5, sorted(seen, reverse=True)))
        for i in range(3):
            self.create(f"s{i}", "none")
        names, cursor = [], ""
        while True:
            page = self.api("GET", f"?limit=3{cursor}").json()
            names += [one["name"] for one in page["sources"]]
            if "cursor" not in page:
                break
            cursor = "&cursor=" + page["cursor"]
        self.assertEqual(sorted(names), ["p", "s0", "s1", "s2"])

    def test_a_source_is_changed_by_a_merge_patch(self):
        self.create("m", "stripe", [WHSEC], toleranceSeconds=10)
        changed = self.api("PATCH", "/m", {"name": "renamed", "toleranceSeconds": None, "dedup": {"windowSeconds": 0}}).json()
        self.assertEqual((changed["name"], changed["toleranceSeconds"], changed["dedup"]), ("renamed", 300, {"from": None, "windowSeconds": 0}))
        self.assertEqual(self.api("GET", "/m").status, 404)
        self.assertEqual(self.api("GET", "/renamed").json()["id"], changed["id"])
        self.create("m", "github", ["s"])
        self.refused(self.api("PATCH", "/m", {"name": "renamed"}), 409, "conflict")
        self.assertEqual(self.api("PATCH", "/m", {"secrets": ["x"]}).json()["errors"][0]["pointer"], "/secrets")
        self.assertEqual(self.api("PATCH", "/m", {"preset": "standard"}).status, 422)

    def test_copies_that_race_a_kill_become_one_message(self):
        self.create("race", "stripe", [WHSEC])
        answers = []
        for round_number in range(3):
            stop = threading.Event()

            def sender(number):
                while not stop.is_set():
                    body = json.dumps({"id": f"evt_{round_number}_{number % 4}"}).encode()
                    try:
                        answer = self.send("race", body, sign_stripe(WHSEC, body, int(time.time())))
                    except OSError:
                        continue
                    if answer.status == 204:
                        answers.append((answer.headers["Hikyaku-Event-Id"], answer.headers["Hikyaku-Message-Id"]))

            threads = [threading.Thread(target=sender, args=(i,)) for i in range(8)]
            for one in threads:
                one.start()
            before = len(answers)
            wait_for(lambda: len(answers) > before + 20, "answers")
            self.server.kill()
            stop.set()
            for one in threads:
                one.join()
            self.server.start()
        by_event = {}
        for event, message in answers:
            by_event.setdefault(event, set()).add(message)
        self.assertEqual({event: len(messages) for event, messages in by_event.items()}, dict.fromkeys(by_event, 1))
        events = self.api("GET", "/race/events?limit=250").json()["events"]
        self.assertEqual(len(events), len({one["eventId"] for one in events}))
        stored = {one["eventId"]: one["messageId"] for one in events}
        for event, messages in by_event.items():
            self.assertEqual({stored[event]}, messages, "acknowledged and not there")
        self.server.terminate()
        checked = run_binary("verify", "--data", self.server.data)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_the_command_line(self):
        env = {"HIKYAKU_URL": f"http://127.0.0.1:{self.server.port}", "HIKYAKU_CLIENT_TOKEN": self.server.token}

        def run(*arguments, text=None):
            done = run_binary("sources", *arguments, env=env, input=text)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        made = run("create", "cli", "--preset", "stripe", "--to", self.receiver.url("/cli"), "--secret-file", "-", text=OTHER + "\n").split()
        self.assertTrue(made[0].startswith("src_"))
        self.assertTrue(made[1].endswith("/in/cli"))
        self.assertIn("cli", run("list"))
        body = b'{"id": "e1"}'
        self.refused(self.send("cli", body, sign_stripe(WHSEC, body, int(time.time()))), 401, "signature_invalid")
        wait_for(lambda: self.quarantine("cli"), "a rejected request")
        line = run("quarantine", "list", "cli")
        self.assertIn("signature_mismatch", line)
        self.assertIn("bodySha256", run("quarantine", "show", "cli", line.split()[1]))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write(WHSEC)
            f.flush()
            secret = run("secrets", "add", "cli", "--secret-file", f.name, "--expires-in", "60").strip()
        self.assertEqual(run("quarantine", "reverify", "cli").strip(), "checked 1, released 1, repeats 0, still invalid 0")
        self.assertIn("e1", run("events", "cli"))
        run("secrets", "remove", "cli", secret)
        self.assertIn("stripe", run("show", "cli"))
        body = b'{"id": "e2"}'
        self.send("cli", body, sign_stripe(WHSEC, body, int(time.time())))
        wait_for(lambda: self.quarantine("cli"), "a rejected request")
        self.assertTrue(run("quarantine", "release", "cli", run("quarantine", "list", "cli").split()[1]).startswith("msg_"))
        run("delete", "cli")
        self.assertEqual(run("list").strip(), "none")


if __name__ == "__main__":
    unittest.main()
