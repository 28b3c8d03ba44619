"""Webhooks under torture: a thread that publishes to applications with endpoints of every kind while the server is killed. Run by
torture.py, also at each named point.

What must hold:
  loss         an acknowledged message is there with its bytes, and came to every endpoint that matched it
  exactly      nothing comes to an endpoint that did not match, and nothing that was not sent
  once         one message for each event id, however often it was asked for; who asks again with the same key gets the same
               id, also lives later
  signed       what comes carries the signature of its endpoint's secret, over its bytes
  order        what is ordered comes in the order in which it was accepted
  held         nothing comes to an endpoint that is paused, until it is resumed; then everything does, oldest first
"""
import collections
import itertools
import json
import time

import harness
import webhooks
from torture import Caller

TYPES = ("kind.a", "kind.b")
# What they get: event types, channels. The first one of each name is of the first application.
ENDPOINTS = {"all": {}, "a": {"eventTypes": ["kind.a"]}, "one": {"channels": ["one"]}, "b_one": {"eventTypes": ["kind.b"], "channels": ["one"]},
             "ordered": {}, "paused": {}}
APPS = ("w-0", "w-1")
ARRIVES_WITHIN = 60.0


class Deliveries(harness.Receiver):
    """Records what comes, by path; some of it is refused at first."""

    def __init__(self):
        self.came = collections.defaultdict(list)  # path -> [(message id, number, ok)]
        self.breaches = []
        self.secrets = {}
        super().__init__()

    def decide(self, got):
        number = json.loads(got.body)["number"]
        earlier = sum(1 for message, _, _ in self.came[got.path] if message == got.headers["svix-id"])
        ok = number % 11 != 0 or earlier > 1
        self.came[got.path].append((got.headers["svix-id"], number, ok))
        self.requests.clear()  # they are in `came`
        try:
            webhooks.verify(got, self.secrets[got.path])
        except (AssertionError, KeyError) as error:
            self.breaches.append(f"signed: {got.path} got {number}: {error!r}")
        return harness.Answer(status=200 if ok else 500)


class WebhookTraffic(Caller):
    def __init__(self, server, ledger, stop):
        super().__init__("webhooks", server, ledger, stop)
        self.receiver = Deliveries()
        self.sent = {}  # number -> (application, type, channels, id or None)
        self.endpoints = {}  # path -> (application, id)
        self.ready = False

    # ---- asking ----

    def api(self, method, path, body=None, key=None):
        """The answer; it is asked for until it is known, or the torture ends."""
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        while True:
            answer = self.call(method, "/api/v1" + path, b"" if body is None else json.dumps(body), headers)
            if answer is not None and answer.status != 429:
                return answer
            if self.stop.is_set():
                return None
            self.stop.wait(0.03)

    def run(self):
        if not self.set_up():
            return
        for number in itertools.count():
            if self.stop.is_set():
                return
            self.publish(number)
            if number % 9 == 0:
                self.ask_again()
            self.stop.wait(self.random.uniform(0, 0.02))

    def set_up(self):
        for name in TYPES:
            made = self.api("POST", "/event-type", {"name": name, "description": ""}, f"type-{name}")
            if made is None:
                return False
        for app in APPS:
            if self.api("POST", "/app", {"name": app, "uid": app}, f"app-{app}") is None:
                return False
            for name, filters in ENDPOINTS.items():
                path = f"/{app}/{name}"
                made = self.api("POST", f"/app/{app}/endpoint", {"url": self.receiver.url(path), **filters}, f"endpoint-{app}-{name}")
                options = webhooks.quick(20) | {"circuit": None, "disable": None, "order": "endpoint" if name == "ordered" else "none"}
                if made is None or made.status != 201:
                    return self.unexpected(made)
                endpoint = made.json()["id"]
                changed = self.api("PATCH", f"/webhooks/app/{app}/endpoint/{endpoint}/delivery", options)
                secret = self.api("GET", f"/app/{app}/endpoint/{endpoint}/secret")
                paused = name != "paused" or self.api("POST", f"/webhooks/app/{app}/endpoint/{endpoint}/pause")
                if changed is None or secret is None or not paused:
                    return False
                self.receiver.secrets[path] = secret.json()["key"]
                self.endpoints[path] = (app, endpoint)
        self.ready = True
        return True

    def unexpected(self, answer):
        if answer is not None:
            self.ledger.breach(f"webhooks: the set-up answers {answer.status} {answer.body[:300]!r}")
        return False

    def ask(self, number):
        app, event_type, channels, _ = self.sent[number]
        body = {"eventType": event_type, "payload": {"number": number}, "eventId": f"event-{number}", "channels": channels}
        return self.api("POST", f"/app/{app}/msg", body, f"key-{number}")

    def publish(self, number):
        channels = self.random.choice((None, ["one"], ["two", "one"], ["two"]))
        self.sent[number] = (self.random.choice(APPS), self.random.choice(TYPES), channels, None)
        answer = self.ask(number)
        if answer is None:
            return  # the torture is over, and nobody knows what came of it
        if answer.status != 202:
            self.ledger.breach(f"webhooks: publish {number} answered {answer.status} {answer.body[:300]!r}")
            return
        self.sent[number] = (*self.sent[number][:3], answer.json()["id"])

    def ask_again(self):
        number = self.random.choice(list(self.sent))
        before = self.sent[number][3]
        answer = self.ask(number)
        if before and answer is not None and (answer.status != 202 or answer.json()["id"] != before):
            self.ledger.breach(f"once: {number} was {before}, and asked again it is {answer.status} {answer.body[:200]!r}")

    # ---- looking ----

    @staticmethod
    def matches(name, event_type, channels):
        filters = ENDPOINTS[name]
        return event_type in filters.get("eventTypes", TYPES) and ("channels" not in filters or set(filters["channels"]) & set(channels or ()))

    def wanted(self):
        """path -> {id: number}, of what was acknowledged."""
        found = {path: {} for path in self.endpoints}
        for number, (app, event_type, channels, message) in self.sent.items():
            if message:
                for name in ENDPOINTS:
                    if self.matches(name, event_type, channels):
                        found[f"/{app}/{name}"][message] = number
        return found

    def check_held(self):
        for path in self.endpoints:
            if path.endswith("/paused") and self.receiver.came[path]:
                self.ledger.breach(f"held: {len(self.receiver.came[path])} requests came to {path}, which is paused")

    def missing(self, wanted):
        left = {}
        for path, messages in wanted.items():
            gone = set(messages) - {message for message, _, ok in list(self.receiver.came[path]) if ok}
            if gone:
                left[path] = gone
        return left

    def check(self):
        """After the last start."""
        ledger = self.ledger
        if not self.ready:
            ledger.breach("webhooks: nothing was ever set up")
            return
        self.check_held()
        api = webhooks.Webhooks(self.server)
        for path, (app, endpoint) in self.endpoints.items():
            if path.endswith("/paused"):
                api.call("POST", f"/webhooks/app/{app}/endpoint/{endpoint}/resume", {"mode": "deliver"}, 200)
        wanted, begun = self.wanted(), time.monotonic()
        while (left := self.missing(wanted)) and time.monotonic() - begun < ARRIVES_WITHIN + len(self.sent) / 50:
            time.sleep(0.2)
        for path, gone in left.items():
            ledger.breach(f"loss: {len(gone)} messages never came to {path}, for example {sorted(gone)[0]}")
        unknown = {number for number, one in self.sent.items() if one[3] is None}
        for path, came in self.receiver.came.items():
            app, name = path.strip("/").split("/")
            ids = collections.defaultdict(set)
            for message, number, _ in came:
                of, event_type, channels, _ = self.sent.get(number, (None, None, None, None))
                ids[number].add(message)
                if of != app or not self.matches(name, event_type, channels):
                    ledger.breach(f"exactly: {number} came to {path}, for which it was not")
                elif number not in unknown and wanted[path].get(message) != number:
                    ledger.breach(f"once: {number} came to {path} as {message}, which nobody was told of")
            for number, several in ids.items():
                if len(several) > 1:
                    ledger.breach(f"once: {number} came to {path} as {several}")
            if name in ("ordered", "paused"):
                # Oldest first; what is held is not ordered among retries.
                first = list(dict.fromkeys(number for _, number, _ in came))
                if name == "ordered" and first != sorted(first):
                    ledger.breach(f"order: at {path} {first}")
        for breach in self.receiver.breaches[:5]:
            ledger.breach(breach)
        self.check_messages(api)
        requests = sum(len(came) for came in self.receiver.came.values())
        print(f"webhooks: {len(self.sent)} published, {len(unknown)} of them with no answer, {requests} requests received", flush=True)
        self.receiver.close()

    def check_messages(self, api):
        """Each is found by its id and by its event id, with its bytes and its destinations."""
        for number, (app, event_type, channels, message) in self.sent.items():
            if not message:
                continue
            for name in (message, f"event-{number}"):
                answer = api.send("GET", f"/app/{app}/msg/{name}")
                if answer.status != 200 or answer.json()["id"] != message or answer.json()["payload"] != {"number": number}:
                    self.ledger.breach(f"loss: {number} ({name}) was acknowledged as {message}; it is {answer.status} {answer.body[:200]!r}")
            targets = {self.endpoints[f"/{app}/{one}"][1] for one in ENDPOINTS if self.matches(one, event_type, channels)}
            statuses = api.statuses(app, message)
            if set(statuses) != targets:
                self.ledger.breach(f"exactly: {number} ({message}) is for {sorted(statuses)}, and matched {sorted(targets)}")

