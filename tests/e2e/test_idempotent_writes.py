"""Idempotency-Key on the writes of the own API: done once, answered each time, whatever dies in between.

The routes are those that the server says it has: a new write needs a row here, or must refuse keys and say why."""
import http.client
import json
import os
import threading
import unittest

import webhooks
from harness import Server

CLAIM = "/api/v1/idempotency/claim"
REFUSES = {("post", "/api/v1/admin/backup"), ("post", "/api/v1/tenants"), ("post", "/api/v1/tenants/{id}/rotate-token"),
           ("post", "/api/v1/tenants/{id}/access-keys"), ("post", "/api/v1/ledger/books/{book}/verify")}
BOOK = "/api/v1/ledger/books/main"


def moving(amount, **more):
    return {"entries": [{"account": "a", "side": "debit", "amount": amount, "currency": "USD"},
                        {"account": "b", "side": "credit", "amount": amount, "currency": "USD"}], **more}


def problem(answer):
    return answer.status, answer.json()["code"]


class IdempotentWrites(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()
        with open(os.path.join(self.server.data, "admin.json")) as f:
            self.admin = json.load(f)["token"]
        self.tenant = str(self.server.request("GET", "/api/v1/tenants", token=self.admin).json()["tenants"][0]["id"])

    def send(self, method, target, body=None, key=None, headers=(), **options):
        headers = {"Content-Type": "application/json", **dict(headers)}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.server.request(method, target, None if body is None else json.dumps(body), headers, **options)

    def claimed(self, key):
        return self.send("POST", CLAIM, {"key": key}).json()["token"]

    def access_key(self):
        return self.send("POST", f"/api/v1/tenants/{self.tenant}/access-keys", token=self.admin).json()["access_key_id"]

    def ledger_rows(self):
        for account in ("a", "b"):
            self.send("POST", BOOK + "/accounts", {"id": account, "type": "asset"})
        for name, kind in (("t", "posted"), ("h1", "pending"), ("h2", "pending")):
            self.assertEqual(self.send("POST", BOOK + "/transactions", moving(1, id=name, kind=kind)).status, 201)
        subscription = {"destination": "http://127.0.0.1:9/x"}
        monitor = {"account": "a", "currency": "USD", "lt": 1}
        made = [[self.send("POST", f"{BOOK}/{what}", body).json()["id"] for _ in range(2)]
                for what, body in (("subscriptions", subscription), ("monitors", monitor))]
        books, book = "/api/v1/ledger/books", "/api/v1/ledger/books/{book}"
        one = lambda target, first, other, status: ((target, first), (target, other), status, {})  # noqa: E731
        return {
            ("post", books): one(books, {"id": "x"}, {"id": "y"}, 201),
            ("patch", book): one(BOOK, {"name": "x"}, {"name": "y"}, 200),
            ("post", book + "/erase"): one(BOOK + "/erase", {"account": "a"}, {"account": "b"}, 200),
            ("post", book + "/currencies"): one(BOOK + "/currencies", {"code": "P1", "exponent": 0}, {"code": "P2", "exponent": 0}, 201),
            ("post", book + "/accounts"): one(BOOK + "/accounts", {"id": "c", "type": "asset"}, {"id": "d", "type": "asset"}, 201),
            ("patch", book + "/accounts/{account}"): one(BOOK + "/accounts/a", {"metadata": {"k": "v"}}, {"metadata": {"k": "w"}}, 200),
            ("post", book + "/transactions"): one(BOOK + "/transactions", moving(1), moving(2), 201),
            ("post", book + "/transactions/preview"): one(BOOK + "/transactions/preview", moving(1), moving(2), 200),
            ("post", book + "/transactions/{transaction}/post"): one(BOOK + "/transactions/h1/post", {}, {"description": "x"}, 201),
            ("post", book + "/transactions/{transaction}/void"): one(BOOK + "/transactions/h2/void", {}, {"description": "x"}, 201),
            ("post", book + "/transactions/{transaction}/reverse"): one(BOOK + "/transactions/t/reverse", {}, {"description": "x"}, 201),
            ("patch", book + "/transactions/{transaction}/metadata"): one(BOOK + "/transactions/t/metadata", {"metadata": {"k": "v"}},
                                                                          {"metadata": {"k": "w"}}, 200),
            ("post", book + "/batches"): one(BOOK + "/batches", {"items": [{"op": "account", "account": {"id": "e", "type": "asset"}}]},
                                             {"items": [{"op": "account", "account": {"id": "f", "type": "asset"}}]}, 200),
            ("post", book + "/subscriptions"): one(BOOK + "/subscriptions", subscription, {**subscription, "types": []}, 201),
            ("delete", book + "/subscriptions/{subscription}"): (*((f"{BOOK}/subscriptions/{id}", None) for id in made[0]), 200, {}),
            ("post", book + "/monitors"): one(BOOK + "/monitors", monitor, {**monitor, "lt": 2}, 201),
            ("delete", book + "/monitors/{monitor}"): (*((f"{BOOK}/monitors/{id}", None) for id in made[1]), 200, {}),
            ("put", book + "/recon/sources/{source}"): one(BOOK + "/recon/sources/s", {"account": "a", "currency": "USD"},
                                                           {"account": "a", "currency": "USD", "auto": False}, 201),
            ("post", book + "/recon/sources/{source}/lines"): one(BOOK + "/recon/sources/none/lines", {"lines": []}, {}, 404),
            ("post", book + "/recon/matches"): one(BOOK + "/recon/matches", {"source": "none", "action": "match"},
                                                   {"source": "none", "action": "ignore"}, 404),
            ("post", book + "/import"): one(BOOK + "/import", {}, {"seq": 2}, 400),
            ("put", book + "/rollups/{prefix}"): one(BOOK + "/rollups/a", {"rollup": True}, {"rollup": False}, 201),
            ("post", book + "/close"): one(BOOK + "/close", {"through": "2020-01-01T00:00:00Z"}, {"through": "2020-01-02T00:00:00Z"}, 200),
        }

    def source_rows(self):
        source = lambda name: {"name": name, "preset": "github", "secrets": ["s"], "deliverTo": {"url": "http://127.0.0.1:9/x"}}  # noqa: E731
        for name in ("a", "b", "c"):
            self.assertEqual(self.send("POST", "/api/v1/sources", source(name)).status, 201)
        secrets = [self.send("POST", "/api/v1/sources/a/secrets", {"value": value}).json()["id"] for value in ("x", "y")]
        base, one = "/api/v1/sources", "/api/v1/sources/{source}"
        none = "/quarantine/qrn_none"
        return {
            ("post", base): ((base, source("d")), (base, source("e")), 201, {}),
            ("patch", one): ((base + "/a", {"enabled": False}), (base + "/a", {"enabled": True}), 200, {}),
            ("delete", one): ((base + "/b", None), (base + "/c", None), 204, {}),
            ("post", one + "/secrets"): ((base + "/a/secrets", {"value": "v"}), (base + "/a/secrets", {"value": "w"}), 201, {}),
            ("delete", one + "/secrets/{secret}"): (*((f"{base}/a/secrets/{id}", None) for id in secrets), 204, {}),
            ("post", one + "/quarantine/reverify"): ((base + "/a/quarantine/reverify", {}), (base + "/a/quarantine/reverify", {"x": 1}), 200, {}),
            ("delete", one + "/quarantine/{request}"): ((base + "/a" + none, None), (base + "/a" + none + "2", None), 404, {}),
            ("post", one + "/quarantine/{request}/release"): ((base + "/a" + none + "/release", {}), (base + "/a" + none + "/release", {"x": 1}), 404, {}),
        }

    def rows(self):
        """A request for each write that takes keys, one that asks for something else, and the status of the first."""
        ended = lambda verb, **more: ((f"/api/v1/idempotency/{verb}", {"key": verb, "token": self.claimed(verb), **more}),  # noqa: E731
                                      (f"/api/v1/idempotency/{verb}", {"key": verb, "token": 99, **more}), 200, {})
        operator = {"token": self.admin}
        return {
            ("post", "/api/v1/queues/{name}/halted"): (("/api/v1/queues/q/halted", {"group": "g", "action": "skip"}),
                                                       ("/api/v1/queues/q/halted", {"group": "g", "action": "retry"}), 404, {}),
            ("post", "/api/v1/idempotency/claim"): ((CLAIM, {"key": "c"}), (CLAIM, {"key": "d"}), 201, {}),
            ("post", "/api/v1/idempotency/renew"): ended("renew", lease="1h"),
            ("post", "/api/v1/idempotency/complete"): ended("complete", response=1),
            ("post", "/api/v1/idempotency/fail"): ended("fail", error={}, final=True),
            ("delete", "/api/v1/idempotency"): (("/api/v1/idempotency?key=c", None), ("/api/v1/idempotency?key=d", None), 200,
                                                {"headers": {"Hikyaku-Tenant": self.tenant}, **operator}),
            ("delete", "/api/v1/tenants/{id}/access-keys/{key}"): (
                (f"/api/v1/tenants/{self.tenant}/access-keys/{self.access_key()}", None),
                (f"/api/v1/tenants/{self.tenant}/access-keys/{self.access_key()}", None), 200, operator),
            ("put", "/api/v1/tenants/{id}/limits"): ((f"/api/v1/tenants/{self.tenant}/limits", {"rate": 5000}),
                                                     (f"/api/v1/tenants/{self.tenant}/limits", {"rate": 6000}), 200, operator),
            ("post", "/api/v1/jobs/{id}/complete"): (("/api/v1/jobs/none/complete", {"fence": "0.1.1", "result": 1}),
                                                     ("/api/v1/jobs/none/complete", {"fence": "0.1.1", "result": 2}), 404, {}),
            ("post", "/api/v1/jobs/{id}/fail"): (("/api/v1/jobs/none/fail", {"fence": "0.1.1", "error": {"message": "x"}}),
                                                 ("/api/v1/jobs/none/fail", {"fence": "0.1.1", "error": {"message": "y"}}), 404, {}),
            ("post", "/api/v1/transact"): (
                ("/api/v1/transact", {"operations": [{"op": "publish", "destination": "http://127.0.0.1:9/x", "body": "x"}]}),
                ("/api/v1/transact", {"operations": [{"op": "publish", "destination": "http://127.0.0.1:9/x", "body": "y"}]}), 200, {}),
            **self.ledger_rows(),
            **self.source_rows(),
        }

    def test_every_write_is_done_once_under_a_key_or_says_why_it_takes_none(self):
        document = self.server.request("GET", "/api/openapi.json").json()
        writes = {(method, path): operation for path, operations in document["paths"].items() if path.startswith("/api/v1/")
                  for method, operation in operations.items() if method != "get" and operation["tags"] != ["webhooks"]}
        rows = self.rows()
        self.assertEqual(set(rows) | REFUSES, set(writes), "a row for each")
        for (method, path), operation in writes.items():
            with self.subTest(method=method, path=path):
                told = any(one["name"] == "Idempotency-Key" and one["in"] == "header" for one in operation["parameters"])
                self.assertEqual(told, (method, path) not in REFUSES)
                if (method, path) in REFUSES:
                    answer = self.send(method.upper(), path.replace("{id}", self.tenant).replace("{book}", "main"), {}, key="k",
                                       token=self.server.token if "ledger" in path else self.admin)
                    self.assertEqual(problem(answer), (400, "idempotency_key_not_taken"))
                    continue
                (target, body), (other_target, other_body), status, more = rows[(method, path)]
                name = f"{method} {path}".replace(" ", "-")
                first = self.send(method.upper(), target, body, name, **more)
                self.assertEqual((first.status, first.headers["Idempotent-Replayed"]), (status, None), first.body)
                for _ in range(2):
                    again = self.send(method.upper(), target, body, name, **more)
                    self.assertEqual((again.status, again.headers["Idempotent-Replayed"], again.body), (status, "true", first.body))
                    self.assertEqual(again.headers["Content-Type"], first.headers["Content-Type"])
                used = self.send(method.upper(), other_target, other_body, name, **more)
                self.assertEqual(problem(used), (422, "idempotency_key_reused"))

    def test_every_write_of_webhooks_is_done_once_under_a_key(self):
        document = self.server.request("GET", "/api/openapi.json").json()
        writes = {(method, path) for path, operations in document["paths"].items() if path.startswith("/api/v1/")
                  for method, operation in operations.items() if method != "get" and operation["tags"] == ["webhooks"]}
        rows, _ = webhooks.writes(webhooks.Webhooks(self.server))
        self.assertEqual(set(rows), writes, "a row for each")
        for (method, path), (target, body, other, status) in rows.items():
            with self.subTest(method=method, path=path):
                name = f"{method} {path}".replace(" ", "-")
                # Clients of Svix read their own header, and know 409.
                own = path.startswith("/api/v1/webhooks/")
                replayed = "Idempotent-Replayed" if own else "Idempotency-Replayed"
                first = self.send(method.upper(), "/api/v1" + target, body, name)
                self.assertEqual((first.status, first.headers[replayed]), (status, None), first.body)
                again = self.send(method.upper(), "/api/v1" + target, body, name)
                kept = "true" if status < 300 else None  # refusals are not
                self.assertEqual((again.status, again.headers[replayed]), (status, kept), again.body)
                if kept:
                    self.assertEqual(again.body, first.body)
                if other is not None:
                    used = self.send(method.upper(), "/api/v1" + target, other, name)
                    self.assertEqual(problem(used), (422, "idempotency_key_reused") if own else (409, "idempotency_key_reuse"), used.body)

    def test_a_refusal_on_content_stays_the_answer(self):
        wrong = self.send("POST", CLAIM, {"key": "work", "lease": "0s"}, "k")
        self.assertEqual(wrong.status, 400)
        again = self.send("POST", CLAIM, {"key": "work", "lease": "0s"}, "k")
        self.assertEqual((again.status, again.headers["Idempotent-Replayed"], again.body), (400, "true", wrong.body))
        self.assertEqual(self.send("POST", CLAIM, {"key": "work"}, "k").status, 422)
        self.assertEqual(self.server.get("/api/v1/idempotency?key=work").status, 404)

    def test_what_is_of_the_moment_is_not_kept(self):
        token = self.claimed("work")
        self.assertEqual(self.send("POST", CLAIM, {"key": "work"}, "k").status, 409)
        self.send("POST", "/api/v1/idempotency/complete", {"key": "work", "token": token, "response": 7})
        after = self.send("POST", CLAIM, {"key": "work"}, "k")
        self.assertEqual((after.status, after.json()["response"], after.headers["Idempotent-Replayed"]), (200, 7, None))

    def test_a_large_answer_is_given_again(self):
        token = self.claimed("work")
        self.send("POST", "/api/v1/idempotency/complete", {"key": "work", "token": token, "response": "x" * 200_000}, "end")
        first = self.send("POST", CLAIM, {"key": "work"}, "k")
        again = self.send("POST", CLAIM, {"key": "work"}, "k")
        self.assertEqual((again.status, again.body, again.headers["Idempotent-Replayed"]), (200, first.body, "true"))
        self.assertGreater(len(first.body), 200_000)

    def test_keys_of_tenants_and_of_handlers_are_apart(self):
        other = self.send("POST", "/api/v1/tenants", {"name": "other"}, token=self.admin).json()
        self.send("POST", CLAIM, {"key": "work"}, "k")
        theirs = self.send("POST", CLAIM, {"key": "work"}, "k", token=other["token"])
        self.assertEqual((theirs.status, theirs.headers["Idempotent-Replayed"]), (201, None))
        self.assertEqual(self.server.get("/api/v1/idempotency?key=k&namespace=api").status, 400)
        self.assertEqual(self.server.get("/api/v1/idempotency?key=k").status, 404)

    def test_keys_that_are_none(self):
        for key in ("", "a b", "x" * 256, "\u00e9"):
            answer = self.send("POST", CLAIM, {"key": "work"}, key)
            self.assertEqual(problem(answer), (400, "invalid"), key)
        answer = self.server.request("POST", CLAIM, "{", {"Idempotency-Key": "k", "Content-Type": "application/json"})
        self.assertEqual(answer.status, 400)
        self.assertEqual(self.send("POST", CLAIM, {"key": "work"}, "k").status, 201, "what is no JSON is not kept")

    def test_duplicates_at_once_and_kills_in_between_have_one_effect(self):
        """Each key is a claim of its own: done twice, the second would find the work held, or have another token."""
        keys, threads_of_each, kills = 60, 3, 4
        answers = {number: [] for number in range(keys)}
        done = threading.Semaphore(0)

        def ask(number):
            try:
                answer = self.send("POST", CLAIM, {"key": f"work-{number}"}, f"k-{number}")
            except (OSError, http.client.HTTPException):
                return False  # it died: nobody knows what came of it
            if answer.status in (200, 201):
                answers[number].append((answer.body, answer.headers["Idempotent-Replayed"]))
                return True
            self.assertEqual(answer.status, 503, answer.body)
            return False

        def client():
            for number in range(keys):
                while not ask(number):
                    alive.wait()
                done.release()

        alive = threading.Event()
        alive.set()
        clients = [threading.Thread(target=client) for _ in range(threads_of_each)]
        for one in clients:
            one.start()
        for _ in range(kills):
            for _ in range(keys * threads_of_each // (kills + 2)):
                done.acquire()
            alive.clear()
            self.server.kill()
            self.server.start()
            alive.set()
        for one in clients:
            one.join()
        for number, told in answers.items():
            self.assertEqual(len({body for body, _ in told}), 1, told)
            self.assertLessEqual([replayed for _, replayed in told].count(None), 1, told)
            record = self.server.get(f"/api/v1/idempotency?key=work-{number}").json()
            self.assertEqual((record["attempt"], record["token"]), (1, json.loads(told[0][0])["token"]))

    def test_replays_are_counted(self):
        for _ in range(3):
            self.send("POST", CLAIM, {"key": "work"}, "k")
        self.send("POST", CLAIM, {"key": "other"}, "k")
        metrics = self.server.request("GET", "/metrics").body.decode()
        for result, count in (("executed", 1), ("replayed", 2), ("reused", 1), ("not_kept", 0)):
            self.assertIn(f'hikyaku_idempotent_requests_total{{result="{result}"}} {count}\n', metrics)
        self.assertIn('hikyaku_idempotency_claims_total{result="started"} 1\n', metrics)


if __name__ == "__main__":
    unittest.main()
