"""Limits of API calls by the real server: set while requests run, kept across a kill, fair between tenants, and told in the
words of each protocol. What is counted is never how fast somebody is: buckets are asked until they refuse, and the most that
they may have let in is reckoned with the time that has really passed."""
import json
import math
import os
import threading
import time
import unittest

from harness import Case, Server, run_binary

ASKED_MOST = 5000  # before a bucket of a few tokens a second has refused, even on a machine that stands still now and then


class Admin(Case):
    def admin(self, method, target, body=None):
        with open(os.path.join(self.server.data, "admin.json")) as f:
            token = json.load(f)["token"]
        return self.server.request(method, target, body, token=token)

    def create(self, name):
        return self.admin("POST", "/api/v1/tenants", json.dumps({"name": name})).json()

    def limit(self, tenant, **limits):
        answer = self.admin("PUT", f"/api/v1/tenants/{tenant['id']}/limits", json.dumps(limits))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def shown(self, tenant):
        return self.admin("GET", f"/api/v1/tenants/{tenant['id']}/limits").json()

    def ask(self, tenant, method, target, body=None):
        return self.server.request(method, target, body, {"Upstash-Delay": "1h"}, token=tenant["token"])

    def until_refused(self, ask, status=429):
        """The answers before the refusal, and the refusal."""
        before = []
        for _ in range(ASKED_MOST):
            got = ask()
            if got.status == status:
                return before, got
            before.append(got)
        self.fail(f"{ASKED_MOST} requests, and none was refused")


class Limits(Admin):
    flags = ("--edge-threads", "2")

    def publish(self, tenant):
        return self.ask(tenant, "POST", "/v2/publish/http://127.0.0.1:9/x", b"x")

    def test_are_set_while_requests_run_and_outlive_a_kill(self):
        tenant = self.create("limited")
        over, lock, statuses = threading.Event(), threading.Lock(), []

        def work():
            while not over.is_set():
                status = self.publish(tenant).status
                with lock:
                    statuses.append(status)

        def accepted():
            with lock:
                return statuses.count(201)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            while accepted() < 20:
                time.sleep(0.01)
            self.assertNotIn(429, statuses)
            begun = time.monotonic()
            self.limit(tenant, classes={"publish": {"rate": 2, "burst": 5}})
            # Those that were on their way when it was set are not counted by it: one of each client at most.
            already = accepted() + len(threads)
            deadline = time.monotonic() + 120
            while statuses.count(429) < 50 and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertGreaterEqual(statuses.count(429), 50)
        self.assertEqual(set(statuses), {201, 429})
        self.assertLessEqual(accepted() - already, 5 + math.ceil(2 * (time.monotonic() - begun)))

        self.server.kill()
        self.server.start()
        self.assertEqual(self.shown(tenant)["classes"], {"publish": {"rate": 2, "burst": 5, "in_flight": None}})
        begun = time.monotonic()
        before, refused = self.until_refused(lambda: self.publish(tenant))
        self.assertLessEqual(len(before), 5 + math.ceil(2 * (time.monotonic() - begun)))
        self.assertEqual({got.status for got in before}, {201})
        self.assertIn("of class publish of this tenant", refused.json()["error"])

        # Without a limit everything is taken at once.
        self.limit(tenant)
        self.assertEqual({self.publish(tenant).status for _ in range(30)}, {201})
        metrics = self.server.metrics()
        self.assertGreaterEqual(metrics['hikyaku_rate_limit_refused_total{class="publish"}'], 1)
        self.assertGreaterEqual(metrics['hikyaku_rate_limit_refused_by_level_total{level="endpoint"}'], 1)
        self.assertGreaterEqual(metrics['hikyaku_rate_limit_allowed_total{class="publish"}'], len(before))
        self.assertTrue(0.1 <= metrics["hikyaku_rate_limit_factor"] <= 1)

    def test_qstash_is_told_in_its_words(self):
        tenant = self.create("qstash")
        self.limit(tenant, rate=1)
        _, refused = self.until_refused(lambda: self.ask(tenant, "GET", "/v2/queues"))
        self.assertGreaterEqual(int(refused.headers["Retry-After"]), 1)
        self.assertEqual((refused.headers["Burst-RateLimit-Limit"], refused.headers["Burst-RateLimit-Remaining"]), ("1", "0"))
        self.assertGreater(int(refused.headers["Burst-RateLimit-Reset"]), 1_700_000_000)
        self.assertEqual(refused.headers["RateLimit-Policy"], '"tenant";q=1;w=1')
        self.assertNotIn("RateLimit-Limit", refused.headers)
        self.assertIn("nothing was done", refused.json()["error"])

    def test_the_own_api_is_told_by_a_problem_and_always_how_much_is_left(self):
        tenant = self.create("own")
        self.limit(tenant, rate=1, burst=2)
        before, refused = self.until_refused(lambda: self.ask(tenant, "GET", "/api/v1/jobs/msg_0000000000000000000000"))
        for got in before:
            self.assertEqual(got.headers["RateLimit-Policy"], '"tenant";q=1;w=1')
            self.assertRegex(got.headers["RateLimit"], r'^"tenant";r=\d+;t=\d+$')
        self.assertEqual(refused.headers["Content-Type"], "application/problem+json")
        told = refused.json()
        self.assertEqual((told["code"], told["status"], told["level"], told["limit"]), ("rate_limited", 429, "tenant", 1))
        # A machine that is busy tightens the limit by itself, by up to ten times.
        self.assertIn(told["retry_after_ms"], range(1, 10_001))
        self.assertEqual(refused.headers["Retry-After"], str(math.ceil(told["retry_after_ms"] / 1000)))
        self.assertRegex(refused.headers["RateLimit"], r'^"tenant";r=0;t=\d+$')
        # What ends work is not refused.
        for verb in ("renew", "complete", "fail"):
            for _ in range(5):
                self.assertEqual(self.ask(tenant, "POST", f"/api/v1/idempotency/{verb}", b"{}").status, 400)

    def test_aws_clients_are_told_in_theirs(self):
        queue = self.server.make_queue("limited")
        self.limit({"id": 1}, classes={"publish": {"rate": 1, "burst": 8}, "manage": {"rate": 1}, "receive": {"rate": 1}})
        try:
            entries = [{"Id": str(i), "MessageBody": "x"} for i in range(10)]
            too_many = self.server.sqs("SendMessageBatch", QueueUrl=queue, Entries=entries)
            self.assertEqual((too_many.status, too_many.json()["__type"].split("#")[-1]), (413, "RequestEntityTooLargeException"), too_many.body)
            # A batch costs its messages.
            begun = time.monotonic()
            before, refused = self.until_refused(lambda: self.server.sqs("SendMessageBatch", QueueUrl=queue, Entries=entries[:8]), 403)
            self.assertLessEqual(8 * len(before), 8 + math.ceil(time.monotonic() - begun))
            self.assertEqual(refused.json()["__type"].split("#")[-1], "RequestThrottled")
            self.assertIn(int(refused.headers["Retry-After"]), range(1, 9))
            _, refused = self.until_refused(lambda: self.server.sqs("ReceiveMessage", QueueUrl=queue), 403)
            self.assertEqual(refused.json()["__type"].split("#")[-1], "RequestThrottled")
            _, refused = self.until_refused(lambda: self.server.sns("CreateTopic", Name="t"))
            self.assertIn(b"<Code>Throttled</Code>", refused.body)
            # Acknowledgements are taken, however many there are: the handle is what is wrong with these.
            for _ in range(10):
                self.assertEqual(self.server.sqs("DeleteMessage", QueueUrl=queue, ReceiptHandle="x").status, 404)
        finally:
            self.limit({"id": 1})

    def test_what_costs_more_than_the_burst_is_never_taken(self):
        tenant = self.create("batches")
        self.limit(tenant, rate=5, burst=10)

        def batch(count):
            return self.ask(tenant, "POST", "/v2/batch", json.dumps([{"destination": "http://127.0.0.1:9/x"}] * count))
        refused = batch(11)
        self.assertEqual((refused.status, "Retry-After" in refused.headers), (413, False))
        self.assertIn("which is 10", refused.json()["error"])
        self.assertEqual(batch(10).status, 200)

    def test_requests_under_way_are_bounded(self):
        queue = self.server.make_queue("waiting")
        self.limit({"id": 1}, classes={"receive": {"in_flight": 2}})

        def take():
            # Again if it was refused beside a request from below, or if its wait is over.
            while not self.server.sqs("ReceiveMessage", QueueUrl=queue, WaitTimeSeconds=20).json().get("Messages"):
                pass

        try:
            waiting = [threading.Thread(target=take, daemon=True) for _ in range(2)]
            for thread in waiting:
                thread.start()
            _, refused = self.until_refused(lambda: self.server.sqs("ReceiveMessage", QueueUrl=queue), 403)
            self.assertIn("at the same time", refused.json()["message"])
            # Each takes one: then there is room again.
            for _ in waiting:
                self.assertEqual(self.server.sqs("SendMessage", QueueUrl=queue, MessageBody="x").status, 200)
            for thread in waiting:
                thread.join()
            self.assertEqual(self.server.sqs("ReceiveMessage", QueueUrl=queue).status, 200)
        finally:
            self.limit({"id": 1})

    def test_bad_limits_are_refused_and_nothing_changes(self):
        tenant = self.create("bad-input")
        self.limit(tenant, rate=7, weight=3)
        rows = (("", "JSON"), ("{", "JSON"), ("[]", "object"), ('{"rate": 1, "rate": 2}', "rate"), ('{"speed": 1}', "speed"),
                ('{"rate": "1"}', "rate"), ('{"rate": 1.5}', "rate"), ('{"rate": -1}', "rate"), ('{"rate": 10000001}', "rate"),
                ('{"rate": 99999999999999999999}', "rate"), ('{"rate": 10, "burst": 9}', "at least the rate"),
                ('{"burst": 9}', "needs a rate"), ('{"rate": 1, "burst": 1000000001}', "burst"), ('{"weight": 0}', "weight"),
                ('{"weight": 1001}', "weight"), ('{"weight": 99999999999}', "weight"), ('{"in_flight": 1000001}', "in_flight"),
                ('{"in_flight": true}', "in_flight"), ('{"classes": 1}', "classes"), ('{"classes": {"dance": {}}}', "classes.dance"),
                ('{"classes": {"publish": 1}}', "classes.publish"), ('{"classes": {"publish": {"rate": 5, "burst": 1}}}', "classes.publish.burst"),
                ('{"classes": {"publish": {"weight": 5}}}', "classes.publish.weight"), ('{"rate": ' + "[" * 50, "JSON"))
        for body, error in rows:
            with self.subTest(body=body):
                answer = self.admin("PUT", f"/api/v1/tenants/{tenant['id']}/limits", body)
                self.assertEqual((answer.status, answer.json()["code"]), (400, "invalid"), answer.body)
                self.assertIn(error, answer.json()["detail"])
        for method in ("GET", "PUT"):
            for number in ("999", "x", "-1", "99999999999"):
                self.assertEqual(self.admin(method, f"/api/v1/tenants/{number}/limits", b"{}").status, 404)
            self.assertEqual(self.ask(tenant, method, f"/api/v1/tenants/{tenant['id']}/limits", b"{}").status, 401)
        shown = self.shown(tenant)
        self.assertEqual((shown["rate"], shown["burst"], shown["weight"]), (7, 7, 3))

    def test_the_command(self):
        tenant = self.create("by-command")

        def limits(*arguments):
            return run_binary("tenants", "limits", str(tenant["id"]), *arguments, "--data", self.server.data)
        self.assertIn("no limit of its own", limits().stdout)
        done = limits("--rate", "100", "--burst", "200", "--weight", "2", "--in-flight", "9", "--class", "publish=50:60", "--class", "read=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tenant     100 a second, burst 200, 9 at the same time\n", done.stdout)
        self.assertIn("publish    50 a second, burst 60\n", done.stdout)
        self.assertIn("read       5 a second, burst 5\n", done.stdout)
        shown = json.loads(limits("--json").stdout)
        self.assertEqual((shown["rate"], shown["weight"], shown["classes"]["publish"]["burst"]), (100, 2, 60))
        for wrong, says in ((("--class", "publish"), "must be NAME=RATE"), (("--class", "publish=x"), "must be NAME=RATE"),
                            (("--none", "--rate", "1"), "give no other with it"), (("--rate", "x"), "--rate")):
            got = limits(*wrong)
            self.assertEqual(got.returncode, 2, got.stdout)
            self.assertIn(says, got.stderr)
        self.assertEqual(limits("--class", "dance=1").returncode, 1)
        self.assertEqual(limits("--none").returncode, 0)
        self.assertIsNone(self.shown(tenant)["rate"])


class Fairness(Admin):
    flags = ("--rate-global", "200")

    def test_a_tenant_within_its_share_is_not_refused_because_of_another(self):
        greedy, polite = self.create("greedy"), self.create("polite")
        self.server.restart()  # it knows from the start that there are two beside its own
        over, refused, served = threading.Event(), [], []

        def flood():
            while not over.is_set():
                got = self.ask(greedy, "GET", "/v2/queues")
                (refused if got.status == 429 else served).append(got.status)

        threads = [threading.Thread(target=flood) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            deadline = time.monotonic() + 120
            while len(refused) < 100 and time.monotonic() < deadline:
                time.sleep(0.01)
            # One second of its share: a third of 200, since one more could come. It need not be quick or slow.
            self.assertEqual([self.ask(polite, "GET", "/v2/queues").status for _ in range(60)], [200] * 60)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertGreaterEqual(len(refused), 100)
        self.assertEqual(set(served), {200})
        self.assertGreater(self.server.metrics()['hikyaku_rate_limit_refused_by_level_total{level="global"}'], 0)
        # The operator is not limited.
        self.assertEqual({self.admin("GET", "/api/v1/tenants").status for _ in range(300)}, {200})


class Settings(unittest.TestCase):
    def test_every_tenant_has_the_rate_of_the_settings_or_its_own(self):
        with Server("--rate-tenant", "1", "--rate-tenant-burst", "3") as server:
            case = Admin()
            case.server = server
            begun = time.monotonic()
            before, refused = case.until_refused(lambda: server.get("/v2/queues"))
            self.assertLessEqual(len(before), 3 + math.ceil(time.monotonic() - begun))
            case.limit({"id": 1}, rate=0)
            self.assertEqual({server.get("/v2/queues").status for _ in range(50)}, {200})

    def test_a_burst_below_its_rate_is_refused(self):
        for flags, says in ((("--rate-global", "10", "--rate-global-burst", "9"), "rate_global_burst (9) must not be below rate_global (10)"),
                            (("--rate-tenant-burst", "9"), "rate_tenant_burst needs rate_tenant"),
                            (("--rate-tenant", "10000001"), "must be from 0 to 10000000")):
            got = run_binary("serve", "--dev", "--data", "/nowhere", *flags)
            self.assertEqual(got.returncode, 2, got.stderr)
            self.assertIn(says, got.stderr)


if __name__ == "__main__":
    unittest.main()
