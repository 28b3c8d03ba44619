"""Webhooks where the official clients do not reach: the own API under /api/v1/webhooks, and the wire by hand. The rest of it is
in tests/conformance/svix."""
import concurrent.futures
import datetime
import http.client
import json
import threading
import time
import unittest

import webhooks
from harness import Answer, Case, Receiver, Server, raw_exchange, wait_for
from webhooks import NOWHERE, ZEROS, Webhooks, quick, verify

DEFAULTS = {
    "retry": {"preset": "standard", "delays": None, "jitter": 0.2, "retryAfterMaxSeconds": 86400, "giveUpStatuses": []},
    "timeout": 30, "headerSet": "both", "signing": {"standard": True, "stripe": False, "stripeHeader": "Stripe-Signature"},
    "order": "none", "onExhausted": "skip", "parallelism": 32, "circuit": {"failures": 20, "openSeconds": 30, "maxOpenSeconds": 300},
    "disable": {"afterSeconds": 432000, "minAttempts": 10, "failures": None, "warnAt": [50, 70, 90]},
    "hold": {"enabled": True, "ttlSeconds": 604800, "maxMessages": 100000, "maxBytes": 268435456}, "resumeRate": None}


class WebhookCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = Webhooks(cls.server)

    def customer(self, *answers, options=None, **more):
        """An application with one endpoint: (app, endpoint, path)."""
        path, url = self.hook(*answers)
        app = self.api.app()
        endpoint = self.api.endpoint(app, url, **more)
        if options:
            self.api.options(app, endpoint, **options)
        return app, endpoint, path


class DeliveryOptions(WebhookCase):
    def test_the_whole_object_and_its_defaults(self):
        app, endpoint, _ = self.customer()
        path = self.api.own(app, endpoint, "delivery")
        self.assertEqual(self.api.call("GET", path, status=200), DEFAULTS)

    def test_a_patch_merges_and_answers_with_the_whole(self):
        app, endpoint, _ = self.customer()
        told = self.api.options(app, endpoint, timeout=5, signing={"stripe": True}, circuit=None)
        self.assertEqual(told, DEFAULTS | {"timeout": 5, "signing": DEFAULTS["signing"] | {"stripe": True}, "circuit": None})
        self.assertEqual(self.api.call("GET", self.api.own(app, endpoint, "delivery")), told)
        again = self.api.options(app, endpoint, circuit={"failures": 5}, disable=None)
        self.assertEqual((again["circuit"]["failures"], again["disable"], again["timeout"]), (5, None, 5))

    def test_a_preset_and_delays_of_ones_own_exclude_each_other(self):
        app, endpoint, _ = self.customer()
        own = self.api.options(app, endpoint, retry={"delays": [0, 1.5, 60]})["retry"]
        self.assertEqual((own["preset"], own["delays"]), (None, [0, 1.5, 60]))
        preset = self.api.options(app, endpoint, retry={"preset": "svix"})["retry"]
        self.assertEqual((preset["preset"], preset["delays"]), ("svix", None))

    def test_what_it_cannot_be_is_pointed_at(self):
        app, endpoint, _ = self.customer()
        target = self.api.own(app, endpoint, "delivery")
        for body, pointer in webhooks.DELIVERY:
            with self.subTest(body=body):
                answer = self.api.send("PATCH", target, body)
                self.assertIsNone(webhooks.refusal_problem(answer, "/api/v1" + target, 422, pointer))
        self.assertEqual(self.api.call("GET", target), DEFAULTS)

    @unittest.expectedFailure  # the server ignores them; it is told here as soon as it does not
    def test_members_that_it_does_not_have_are_refused(self):
        app, endpoint, _ = self.customer()
        for body in ({"speed": 1}, {"retry": {"speed": 1}}):
            answer = self.api.send("PATCH", self.api.own(app, endpoint, "delivery"), body)
            self.assertIn(answer.status, (400, 422), answer.body)
            self.assertIn(b"speed", answer.body)

    def test_a_broken_document_is_a_problem(self):
        app, endpoint, _ = self.customer()
        for body in ("", "{", "[]", "7"):
            answer = self.api.send("PATCH", self.api.own(app, endpoint, "delivery"), body)
            self.assertIn(answer.status, (400, 422), answer.body)
            self.assertEqual(answer.headers["Content-Type"], "application/problem+json")

    def test_every_error_is_a_problem_document(self):
        app, endpoint, _ = self.customer()
        target = "/api/v1" + self.api.own(app, endpoint, "delivery")
        for token, method, status in ((None, "GET", 401), ("wrong", "PATCH", 401), (self.server.token, "DELETE", 405)):
            answer = self.server.request(method, target, token=token)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (status, "application/problem+json"), answer.body)
            self.assertEqual(answer.json()["status"], status)
        self.assertEqual(self.server.get("/api/v1/webhooks/nothing").headers["Content-Type"], "application/problem+json")

    def test_ids_and_uids_are_the_same(self):
        app = self.api.app(uid="options-app")
        endpoint = self.api.endpoint(app, NOWHERE, uid="theirs")
        self.api.options("options-app", "theirs", timeout=9)
        self.assertEqual(self.api.call("GET", self.api.own(app, endpoint, "delivery"))["timeout"], 9)

    def test_signing_needs_a_secret_that_can(self):
        app = self.api.app()
        ed25519 = self.api.endpoint(app, NOWHERE, secret="whsk_" + "A" * 43 + "=")
        answer = self.api.send("PATCH", self.api.own(app, ed25519, "delivery"), {"signing": {"stripe": True}})
        self.assertEqual(answer.status, 422, answer.body)


class Settings(WebhookCase):
    def tearDown(self):
        self.api.call("PATCH", "/webhooks/settings", {"delivery": DEFAULTS, "httpsOnly": False, "eventTypes": "open", "maxPayloadBytes": 1048576})

    def test_the_whole_object_and_its_defaults(self):
        told = self.api.call("GET", "/webhooks/settings", status=200)
        self.assertEqual(told, {"delivery": DEFAULTS, "eventTypes": "open", "schemaCheck": "off", "httpsOnly": False, "maxPayloadBytes": 1048576,
                                "maxEndpointsPerApp": 1000})

    def test_endpoints_keep_what_they_set_and_inherit_the_rest(self):
        app = self.api.app()
        before = self.api.endpoint(app, NOWHERE)
        self.api.options(app, before, timeout=3)
        self.api.call("PATCH", "/webhooks/settings", {"delivery": {"timeout": 11, "parallelism": 4}}, 200)
        after = self.api.endpoint(app, NOWHERE)
        of = lambda one: self.api.call("GET", self.api.own(app, one, "delivery"))
        self.assertEqual((of(before)["timeout"], of(before)["parallelism"]), (3, 4))
        self.assertEqual((of(after)["timeout"], of(after)["parallelism"]), (11, 4))

    def test_a_smaller_payload(self):
        app = self.api.app()
        self.api.call("PATCH", "/webhooks/settings", {"maxPayloadBytes": 1024}, 200)
        self.api.publish(app, {"a": "x" * 900})
        answer = self.api.send("POST", f"/app/{app}/msg", {"eventType": "x", "payload": {"a": "x" * 1100}})
        self.assertEqual((answer.status, answer.json()["code"]), (413, "payload_too_large"))

    def test_they_outlive_kill_9(self):
        self.api.call("PATCH", "/webhooks/settings", {"httpsOnly": True, "delivery": {"order": "endpoint"}}, 200)
        before = self.api.call("GET", "/webhooks/settings")
        self.server.restart()
        self.assertEqual(self.api.call("GET", "/webhooks/settings"), before)


class States(WebhookCase):
    def test_the_members_of_a_quiet_endpoint(self):
        app, endpoint, _ = self.customer()
        state = self.api.state(app, endpoint)
        self.assertEqual(set(state), {"disabled", "disabledReason", "paused", "failingSince", "consecutiveFailures", "circuit", "held", "waiting",
                                      "inFlight", "throttledUntil", "gates"})
        self.assertEqual((state["disabled"], state["disabledReason"], state["paused"], state["failingSince"], state["consecutiveFailures"]),
                         (False, None, False, None, 0))
        self.assertEqual((state["circuit"]["state"], state["held"], state["waiting"], state["inFlight"], state["gates"]),
                         ("closed", {"messages": 0, "bytes": 0, "oldest": None}, 0, 0, []))

    def test_gates_say_why_something_waits(self):
        app, endpoint, _ = self.customer(disabled=True)
        self.api.call("POST", self.api.own(app, endpoint, "pause"), status=204)
        self.api.publish(app)
        state = self.api.state(app, endpoint)
        self.assertTrue(state["disabled"] and state["paused"])
        self.assertEqual(state["held"]["messages"], 1)
        self.assertLess(abs(time.time() - self.stamp(state["held"]["oldest"])), 60)
        self.assertGreaterEqual(len(state["gates"]), 2)
        for gate in state["gates"]:
            self.assertEqual(set(gate), {"gate", "opens"})

    @staticmethod
    def stamp(text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def test_what_is_under_way(self):
        let_go = threading.Event()
        self.addCleanup(let_go.set)
        app, endpoint, path = self.customer(Answer(after=let_go), options={"parallelism": 1})
        for _ in range(3):
            self.api.publish(app)
        self.receiver.wait(path)
        state = wait_for(lambda: (one := self.api.state(app, endpoint)) and one["inFlight"] == 1 and one["waiting"] == 2 and one, "one under way")
        self.assertEqual(state["held"]["messages"], 0)
        let_go.set()
        self.receiver.wait(path, 3)

    def test_resume_wants_a_mode_that_it_has(self):
        app, endpoint, _ = self.customer()
        answer = self.api.send("POST", self.api.own(app, endpoint, "resume"), {"mode": "guess"})
        self.assertEqual((answer.status, answer.json()["errors"][0]["pointer"]), (422, "/mode"))

    def test_pause_outlives_kill_9_and_time_there_costs_nothing(self):
        app, endpoint, path = self.customer(500, 200, options=quick(3, 0.2))
        message = self.api.publish(app, {"n": 1})
        self.receiver.wait(path)
        self.api.call("POST", self.api.own(app, endpoint, "pause"), status=204)
        self.api.wait_status(app, message, endpoint, "sending")
        self.server.restart()
        self.assertTrue(self.api.state(app, endpoint)["paused"])
        time.sleep(0.5)
        self.assertLessEqual(len(self.receiver.at(path)), 2)
        before = len(self.receiver.at(path))
        self.api.call("POST", self.api.own(app, endpoint, "resume"), {"mode": "deliver"}, 200)
        self.api.wait_status(app, message, endpoint, "success")
        self.assertEqual(self.receiver.at(path)[before].headers["hikyaku-attempt"], "2")


class Wire(WebhookCase):
    """Requests as no client of ours would write them."""

    def test_the_older_forms(self):
        """Clients of the line 1.x: other names of members, no parameter for the content."""
        self.api.call("POST", "/event-type", {"name": "old.form", "description": "", "featureFlag": "beta"}, 201)
        app = self.api.call("POST", "/app", {"name": "x", "rateLimit": 100, "version": 1}, 201)
        self.assertEqual((app["rateLimit"], app["throttleRate"]), (100, 100))
        made = self.api.call("POST", f"/app/{app['id']}/endpoint", {"url": NOWHERE, "version": 1, "rateLimit": 9, "filterTypes": ["old.form"]}, 201)
        self.assertEqual((made["filterTypes"], made["eventTypes"], made["rateLimit"], made["version"]), (["old.form"], ["old.form"], 9, 1))
        sent = self.api.call("POST", f"/app/{app['id']}/msg", {"eventType": "old.form", "payload": {"a": 1}}, 202)
        self.assertEqual(sent["payload"], {"a": 1})

    def test_a_slash_at_the_end_of_every_path(self):
        app, endpoint, path = self.customer()
        message = self.api.publish(app)
        self.receiver.wait(path)
        for target in ("/app", f"/app/{app}", f"/app/{app}/endpoint", f"/app/{app}/endpoint/{endpoint}", f"/app/{app}/endpoint/{endpoint}/secret",
                       f"/app/{app}/endpoint/{endpoint}/headers", f"/app/{app}/endpoint/{endpoint}/stats", f"/app/{app}/msg", f"/app/{app}/msg/{message}",
                       f"/app/{app}/attempt/endpoint/{endpoint}", f"/app/{app}/attempt/msg/{message}", f"/app/{app}/msg/{message}/endpoint",
                       f"/app/{app}/endpoint/{endpoint}/msg", "/event-type", "/background-task", "/operational-webhook/endpoint", f"/app/{app}/integration"):
            with self.subTest(target):
                plain, slash = self.api.send("GET", target), self.api.send("GET", target + "/")
                self.assertEqual((slash.status, slash.body), (plain.status, plain.body))
        self.assertEqual(self.api.send("POST", f"/app/{app}/msg/", {"eventType": "x", "payload": {}}).status, 202)

    def test_unknown_members_and_parameters_are_ignored(self):
        """Newer clients send more."""
        app, _, path = self.customer()
        self.api.call("POST", f"/app/{app}/msg?later=1", {"eventType": "x", "payload": {"n": 1}, "later": {"payload": {"n": 2}}}, 202)
        self.assertEqual(self.receiver.wait(path)[0].body, b'{"n": 1}')
        self.api.call("GET", "/app?later=1", status=200)

    def test_a_payload_keeps_its_bytes(self):
        app, endpoint, path = self.customer()
        secret = self.api.call("GET", f"/app/{app}/endpoint/{endpoint}/secret")["key"]
        payloads = [b'{"z" :1.50, "a": "\\u00fc\xc3\xbc" , "n": 123456789012345678901234567890}', b'{\r\n\t"a":[ 1 ,2 ]\n}', b'{"payload":{"payload":{}}}']
        for number, payload in enumerate(payloads):
            answer = self.api.send("POST", f"/app/{app}/msg", b'{"x":[{"payload":7}],"payload":' + payload + b',"eventType":"x"}')
            self.assertEqual(answer.status, 202, answer.body)
            got = self.receiver.wait(path, number + 1)[number]
            self.assertEqual(got.body, payload)
            verify(got, secret)

    def test_a_name_may_be_encoded_once(self):
        app = self.api.app(uid="a.b")
        self.assertEqual(self.api.call("GET", "/app/a%2Eb")["id"], app)
        self.assertEqual(self.api.send("GET", "/app/a%252Eb").status, 404)
        self.assertEqual(self.api.send("GET", "/app/%00").status, 404)

    def test_a_payload_that_is_too_large_gets_its_answer(self):
        app = self.api.app()
        answer = self.api.send("POST", f"/app/{app}/msg", {"eventType": "x", "payload": {"a": "x" * 2_000_000}})
        self.assertEqual((answer.status, answer.json()["code"]), (413, "payload_too_large"))
        head = f"POST /api/v1/app/{app}/msg HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.server.token}\r\nContent-Length: 90000000\r\n\r\n"
        self.assertIn(b" 413 ", raw_exchange(self.server.port, head.encode() + b" " * 100_000, half_close=True))

    def test_dates_with_an_offset(self):
        app = self.api.app()
        self.api.publish(app)
        for text in ("2020-01-01T00:00:00%2B02:00", "2020-01-01T00:00:00.123456Z", "2020-01-01t00:00:00z"):
            self.assertEqual(len(self.api.call("GET", f"/app/{app}/msg?after={text}")["data"]), 1, text)

    def test_concurrent_duplicates_of_an_event_are_one_message(self):
        app, _, path = self.customer()
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda n: self.api.send("POST", f"/app/{app}/msg", {"eventType": "x", "payload": {"n": n}, "eventId": "one"}), range(24)))
        self.assertEqual(sorted(one.status for one in answers), [202] + [409] * 23)
        self.receiver.wait(path)
        self.assertEqual(len(self.api.call("GET", f"/app/{app}/msg")["data"]), 1)

    def test_concurrent_creations_are_one_application(self):
        def create(number):
            body = {"eventType": "x", "payload": {"n": number}, "application": {"name": "raced", "uid": "raced"}}
            return self.api.send("POST", "/app/raced/msg", body)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(create, range(16)))
        self.assertEqual({one.status for one in answers}, {202})
        self.assertEqual(len(self.api.call("GET", "/app/raced/msg")["data"]), 16)

    def test_other_spellings_of_the_task_of_a_replay(self):
        app, endpoint, path = self.customer()
        self.api.publish(app)
        self.receiver.wait(path)
        task = self.api.call("POST", f"/app/{app}/endpoint/{endpoint}/bulk-replay", {"since": "2026-01-01T00:00:00Z"}, 202)["id"]
        text = task.removeprefix("qtask_")
        done = wait_for(lambda: (one := self.api.call("GET", f"/webhooks/replays/rpl_{text}"))["status"] == "finished" and one, "the replay to finish")
        self.assertEqual((done["matched"], done["succeeded"]), (1, 1))
        self.assertEqual(self.server.get(f"/api/v1/tasks/tsk_{text}").status, 200)
        self.assertEqual(self.api.send("GET", f"/webhooks/replays/rpl_{ZEROS}").status, 404)


class Crashes(unittest.TestCase):
    """kill -9 under load: whatever was acknowledged arrives, at exactly the endpoints that matched."""

    def test_every_message_arrives_at_the_endpoints_that_matched(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        server = Server()
        self.addCleanup(server.close)
        server.start()
        api = Webhooks(server)
        for event_type in ("kind.a", "kind.b"):
            api.call("POST", "/event-type", {"name": event_type, "description": ""}, 201)
        app = api.app(uid="crashes")
        filters = {"all": {}, "a": {"eventTypes": ["kind.a"]}, "one": {"channels": ["one"]}, "b_one": {"eventTypes": ["kind.b"], "channels": ["one"]}}
        secrets = {}
        for name, more in filters.items():
            endpoint = api.endpoint(app, receiver.url("/" + name), **more)
            api.options(app, endpoint, **quick(20), circuit=None, disable=None)
            secrets[name] = api.call("GET", f"/app/{app}/endpoint/{endpoint}/secret")["key"]

        def matches(name, number):
            return ("eventTypes" not in filters[name] or filters[name]["eventTypes"] == [f"kind.{'ab'[number % 2]}"]) and (
                "channels" not in filters[name] or number % 3 == 0)

        acknowledged, wrong, lock, alive, over = {}, [], threading.Lock(), threading.Event(), threading.Event()
        alive.set()

        def ask(number):
            """True: it was taken."""
            body = {"eventType": f"kind.{'ab'[number % 2]}", "payload": {"number": number}, "eventId": f"event-{number}",
                    "channels": ["one"] if number % 3 == 0 else None}
            try:
                answer = api.send("POST", "/app/crashes/msg", body, key=f"key-{number}")
            except (OSError, http.client.HTTPException):
                alive.wait()
                return False  # it died: nobody knows what came of it
            if answer.status == 202:
                with lock:
                    acknowledged[answer.json()["id"]] = number
                return True
            if answer.status != 503:
                wrong.append((answer.status, answer.body))
            return answer.status != 503

        def client(who):
            number = who
            while not over.is_set():
                while not ask(number):
                    pass
                number += 4

        threads = [threading.Thread(target=client, args=(who,), daemon=True) for who in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(4):
            enough = len(acknowledged) + 60
            wait_for(lambda: len(acknowledged) >= enough, lambda: f"{enough} acknowledged; there are {len(acknowledged)}")
            alive.clear()
            server.kill()
            server.start()
            alive.set()
        over.set()
        for thread in threads:
            thread.join(60)
        self.assertEqual(wrong, [])

        def missing():
            left = []
            for name in filters:
                came = {one.headers["svix-id"] for one in receiver.at("/" + name)}
                left += [(name, number) for message, number in acknowledged.items() if matches(name, number) and message not in came]
            return left

        wait_for(lambda: not missing(), lambda: f"all of {len(acknowledged)}; missing are {missing()[:10]}")
        self.assertEqual(len(set(acknowledged.values())), len(acknowledged), "one message for each key")
        for name in filters:
            for one in receiver.at("/" + name):
                number = json.loads(one.body)["number"]
                self.assertTrue(matches(name, number), f"{number} came to {name}")
                # One whose answer was lost was asked for again, under the same key: there is no other.
                self.assertEqual(acknowledged.get(one.headers["svix-id"]), number)
                verify(one, secrets[name])
        listed, iterator = set(), ""
        while True:
            page = api.call("GET", f"/app/{app}/msg?limit=250{iterator}")
            listed |= {one["id"] for one in page["data"]}
            if page["done"]:
                break
            iterator = "&iterator=" + page["iterator"]
        self.assertEqual(listed, set(acknowledged))


if __name__ == "__main__":
    unittest.main()
