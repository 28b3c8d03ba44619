"""POST /api/v1/transact by the real server: all of it or nothing, also when the server is killed in the middle."""
import http.client
import itertools
import json
import os
import re
import threading
import unittest

import harness
from harness import Answer, Case, Receiver, Server, wait_for

PATH = "/api/v1/transact"


def transact(server, key, *operations, preconditions=None):
    body = {"operations": list(operations)} | ({"preconditions": preconditions} if preconditions else {})
    return server.request("POST", PATH, json.dumps(body), {"Idempotency-Key": key, "Content-Type": "application/json"})


def pay(name, to, source, amount, **more):
    """Of assets: a debit is what comes."""
    entries = [{"account": to, "side": "debit", "amount": str(amount), "currency": "USD"},
               {"account": source, "side": "credit", "amount": str(amount), "currency": "USD"}]
    return {"op": "ledger.transaction", "transaction": {"id": name, "entries": entries} | more}


def open_accounts(server, **least):
    """Assets, each with the least that must be available."""
    items = [{"op": "account", "account": {"id": name, "type": "asset"} | ({"limits": {"USD": {"min_available": str(value)}}} if value is not None else {})}
             for name, value in least.items()]
    answer = server.request("POST", "/api/v1/ledger/-/batches", json.dumps({"mode": "atomic", "items": items}))
    assert answer.status == 200, answer.body


def available(server, account):
    return server.get(f"/api/v1/ledger/-/accounts/{account}/balances?currency=USD").json()["balances"][0]["available"]


def claim(server, key):
    return server.request("POST", "/api/v1/idempotency/claim", json.dumps({"key": key})).json()["token"]


class Transact(Case):
    def ask(self, *operations, preconditions=None):
        return transact(self.server, f"{self.id()}-{next(self.numbers)}", *operations, preconditions=preconditions)

    def setUp(self):
        self.numbers = itertools.count()

    def refused(self, answer, status, code, **members):
        told = answer.json()
        self.assertEqual((answer.status, told["code"], told["applied"]), (status, code, False), told)
        for name, value in members.items():
            self.assertEqual(told.get(name), value, told)

    def held(self):
        let_go = threading.Event()
        self.addCleanup(let_go.set)
        path, url = self.hook(Answer(after=let_go))
        job = self.server.publish_id(url)
        return job, self.receiver.wait(path)[0].headers["Hikyaku-Fence"]

    def test_a_handler_ends_its_job_publishes_on_and_ends_its_key(self):
        job, fence = self.held()
        pulled = self.server.make_queue("transact-next")
        token = claim(self.server, "pay-1")
        answer = self.ask({"op": "ack", "job": job, "fence": fence, "result": {"ok": True}},
                          {"op": "publish", "destination": self.receiver.url("/mail"), "headers": {"Upstash-Retries": "5"}, "body": "mail"},
                          {"op": "publish", "queue": "transact-next", "body": "next"},
                          {"op": "idempotency.complete", "key": "pay-1", "token": token, "response": {"charged": True}},
                          preconditions=[{"job": job, "status": ["RUNNING"]}, {"idempotency": {"key": "pay-1", "token": token, "state": "started"}}])
        told = answer.json()
        self.assertEqual(answer.status, 200, told)
        self.assertRegex(told["id"], "^tx_[0-9A-Za-z]{27}$")
        self.assertEqual([one["op"] for one in told["results"]], ["ack", "publish", "publish", "idempotency.complete"])
        self.assertEqual(told["results"][0], {"op": "ack", "job": job, "status": "SUCCEEDED"})
        self.assertEqual(told["results"][1]["url"], self.receiver.url("/mail"))
        self.assertEqual(told["results"][3], {"op": "idempotency.complete", "key": "pay-1", "namespace": "default", "state": "completed", "replayed": False})
        self.assertEqual(self.server.job(job)["result"]["body"], {"ok": True})
        mail = self.receiver.wait("/mail")[0]
        self.assertEqual((mail.message_id, mail.body), (told["results"][1]["messageId"], b"mail"))
        self.assertEqual(wait_for(lambda: self.server.receive(pulled), "the next")[0]["Body"], "next")
        self.assertEqual(self.server.get("/api/v1/idempotency?key=pay-1").json()["response"], {"charged": True})

    def test_every_refusal_names_its_part_and_changes_nothing(self):
        job, fence = self.held()
        waiting = self.server.publish_id(self.receiver.url("/never"), **{"Upstash-Delay": "1h"})
        token = claim(self.server, "pay-2")
        open_accounts(self.server, a=None, b=0)
        self.assertEqual(self.ask(pay("money", "b", "a", 100)).status, 200)
        before = self.server.metrics()["hikyaku_messages_published_total{result=\"accepted\"}"]
        publish = {"op": "publish", "destination": self.receiver.url("/not-published"), "body": "x"}
        ack = {"op": "ack", "job": job, "fence": fence}
        complete = {"op": "idempotency.complete", "key": "pay-2", "token": token, "response": 1}
        nobody = "msg_" + "0" * 21 + "1"
        rows = [
            ([publish, ack | {"fence": "0.9.9"}], 409, "lease_lost", {"operation": 1, "op": "ack", "job_status": "RUNNING"}),
            ([publish, ack, ack], 409, "job_finished", {"operation": 2, "op": "ack", "job_status": "SUCCEEDED"}),
            ([publish, ack | {"job": nobody}], 404, "not_found", {"operation": 1}),
            ([publish, {"op": "cancel", "job": job}], 409, "conflict", {"operation": 1, "op": "cancel"}),
            ([publish, complete | {"token": token + 1}], 409, "fenced", {"operation": 1, "op": "idempotency.complete"}),
            ([complete, complete | {"response": 2}], 409, "already_completed", {"operation": 1}),
            ([complete | {"key": "nobody"}], 404, "not_found", {"operation": 0}),
            ([publish, publish | {"destination": "no-such-group"}], 404, "not_found", {"operation": 1, "op": "publish"}),
            ([publish, {"op": "ledger.transaction", "transaction": {}}], 400, "invalid", {"operation": 1, "op": "ledger.transaction"}),
            ([publish, ack, pay("refused-1", "a", "b", 101)], 409, "insufficient_funds",
             {"operation": 2, "op": "ledger.transaction", "account": "b", "currency": "USD", "limit": "0", "value": "-1"}),
            ([pay("refused-1", "a", "b", 60), pay("refused-2", "a", "b", 60)], 409, "insufficient_funds", {"operation": 1, "value": "-20"}),
            ([pay("refused-1", "a", "b", 60), complete | {"token": token + 1}], 409, "fenced", {"operation": 1}),
            ([pay("refused-1", "a", "b", 60), pay("refused-1", "a", "b", 61)], 409, "exists_with_different_entries", {"operation": 1}),
            ([publish, {"op": "ledger.void", "of": "nothing"}], 404, "transaction_not_found", {"operation": 1, "transaction": "nothing"}),
            ([publish, {"op": "ledger.void", "of": "x", "book": "nowhere"}], 404, "book_not_found", {"operation": 1}),
            ([publish, {"op": "ledger.reverse", "of": "money", "force": True}], 403, "permission_denied", {"operation": 1, "op": "ledger.reverse"}),
            ([{"op": "saga.start"}, {"op": "notify"}, {"op": "batch.close"}], 501, "not_available", {"operation": 0}),
            ([publish | {"batch": "bat_1"}], 501, "not_available", {"operation": 0}),
            ([publish, {"op": "dance"}, publish | {"destination": "nowhere:"}], 400, "invalid", {"operation": 1, "op": "dance"}),
            ([publish, ack | {"result": "x" * 262_200}], 413, "too_large", {"operation": 1}),
            ([publish | {"headers": {"Upstash-Workflow-RunId": "wfr_1"}}], 400, "invalid", {"operation": 0}),
        ]
        for operations, status, code, members in rows:
            with self.subTest(f"{status} {code} {members}"):
                self.refused(self.ask(*operations), status, code, **members)
        self.assertEqual(len(self.ask(publish, {"op": "dance"}, {"op": "ack"}).json()["errors"]), 2, "all faults at once")
        conditions = [({"job": job, "status": ["PENDING"]}, 412, "precondition_failed"), ({"job": nobody, "status": ["PENDING"]}, 412, "precondition_failed"),
                      ({"idempotency": {"key": "pay-2", "token": token + 1}}, 412, "precondition_failed"),
                      ({"idempotency": {"key": "pay-2", "state": "completed"}}, 412, "precondition_failed"),
                      ({"idempotency": {"key": "nobody"}}, 412, "precondition_failed"),
                      ({"ledger_account": {}}, 400, "invalid"),
                      ({"ledger_account": {"account": "b", "currency": "USD", "available_gte": "101"}}, 412, "precondition_failed"),
                      ({"ledger_account": {"account": "b", "currency": "USD", "version": 7}}, 412, "precondition_failed"),
                      ({"ledger_account": {"account": "nobody", "currency": "USD", "version": 7}}, 412, "precondition_failed"),
                      ({"batch": "bat_1", "status": []}, 501, "not_available"),
                      ({"job": job, "version": 1}, 501, "not_available"), ({"job": job, "status": ["DONE"]}, 400, "invalid")]
        for condition, status, code in conditions:
            with self.subTest(condition):
                good = {"job": job, "status": ["RUNNING", "PENDING"]}
                self.refused(self.ask(publish, ack, preconditions=[good, condition]), status, code, precondition=1)
        self.assertEqual(self.server.job(job)["status"], "RUNNING")
        self.assertEqual(available(self.server, "b"), "100")
        self.assertEqual([one["id"] for one in self.server.get("/api/v1/ledger/-/transactions?account=b").json()["transactions"]], ["money"])
        self.assertEqual(self.server.get("/api/v1/idempotency?key=pay-2").json()["state"], "started")
        self.assertEqual(self.server.metrics()["hikyaku_messages_published_total{result=\"accepted\"}"], before)
        self.assertEqual(self.receiver.at("/not-published"), [])
        done = self.ask({"op": "cancel", "job": waiting}, {"op": "nack", "job": job, "fence": fence, "error": {"message": "no"}, "retry": False},
                        {"op": "idempotency.fail", "key": "pay-2", "token": token, "error": {"why": "no"}, "final": False})
        self.assertEqual([one.get("status", one.get("state")) for one in done.json()["results"]], ["CANCELED", "FAILED", "released"])

    def test_a_fan_out_tells_all_its_messages(self):
        self.server.request("POST", "/v2/topics/transact-group/endpoints", json.dumps({"endpoints": [{"url": self.receiver.url("/g1")}, {"url": self.receiver.url("/g2")}]}))
        told = self.ask({"op": "publish", "destination": "transact-group", "body": "x"}).json()
        self.assertEqual([one["url"] for one in told["results"][0]["messages"]], [self.receiver.url("/g1"), self.receiver.url("/g2")])
        self.receiver.wait("/g1")
        self.receiver.wait("/g2")

    def test_money_moves_with_everything_else(self):
        open_accounts(self.server, bank=None, wallet=0)
        job, fence = self.held()
        token = claim(self.server, "pay-3")
        subscribed = self.server.request("POST", "/api/v1/ledger/-/subscriptions", json.dumps({"destination": self.receiver.url("/told")}))
        self.assertEqual(subscribed.status, 201, subscribed.body)
        answer = self.ask({"op": "ack", "job": job, "fence": fence, "result": 1},
                          {"op": "ledger.account", "account": {"id": "fees", "type": "revenue"}},
                          pay("in", "wallet", "bank", 1000), pay("hold", "bank", "wallet", 400, kind="pending", timeout="7d"),
                          {"op": "ledger.post", "of": "hold", "id": "taken", "amounts": ["300", "300"]},
                          {"op": "ledger.reverse", "of": "in", "id": "back", "amounts": ["50", "50"]},
                          {"op": "ledger.limits", "of": "wallet", "limits": {"USD": {"max_balance": "5000"}}},
                          {"op": "ledger.metadata", "of": "in", "metadata": {"order": "7"}},
                          {"op": "ledger.assert", "conditions": [{"account": "wallet", "currency": "USD", "eq": "650"}]},
                          {"op": "idempotency.complete", "key": "pay-3", "token": token, "response": 1},
                          {"op": "publish", "destination": self.receiver.url("/paid"), "body": "paid"},
                          preconditions=[{"ledger_account": {"account": "wallet", "currency": "USD", "version": 0}},
                                         {"ledger_account": {"book": "main", "account": "bank", "currency": "USD", "available_gte": 0}}])
        told = answer.json()
        self.assertEqual(answer.status, 200, told)
        objects = [(one["object"]["object"], one["object"]["id"]) for one in told["results"] if "object" in one]
        self.assertEqual(objects, [("ledger_account", "fees"), ("ledger_transaction", "in"), ("ledger_transaction", "hold"), ("ledger_transaction", "taken"),
                                   ("ledger_transaction", "back"), ("ledger_account", "wallet"), ("ledger_transaction", "in")])
        self.assertEqual(available(self.server, "wallet"), "650")
        self.assertEqual(self.server.job(job)["status"], "SUCCEEDED")
        self.receiver.wait("/paid")
        events = [json.loads(one.body) for one in self.receiver.wait("/told", 7)]
        self.assertEqual([one["type"] for one in events],
                         ["ledger.account.created", "ledger.transaction.created", "ledger.transaction.pending", "ledger.transaction.posted",
                          "ledger.transaction.reversed", "ledger.limit.changed", "ledger.transaction.updated"])
        self.assertEqual([one["seq"] for one in events], sorted(one["seq"] for one in events))

    def test_the_operator_may_force(self):
        open_accounts(self.server, vault=None, guest=0)
        self.assertEqual(self.ask(pay("gift", "guest", "vault", 100), pay("spent", "vault", "guest", 90)).status, 200)
        force = {"op": "ledger.reverse", "of": "gift", "id": "taken-back", "force": True}
        self.refused(self.ask(force), 403, "permission_denied", operation=0, op="ledger.reverse")
        token, headers = self.server.operator()
        body = json.dumps({"operations": [force]})
        forced = self.server.request("POST", PATH, body, {"Idempotency-Key": "forced", "Content-Type": "application/json"} | headers, token=token)
        self.assertEqual(forced.status, 200, forced.body)
        self.assertEqual(available(self.server, "guest"), "-90")

    def test_a_large_answer_is_told_again_after_a_restart(self):
        with Server() as server:
            open_accounts(server, one=None, two=None)
            operations = [pay(f"large-{n}", "one", "two", 1, description="d" * 2000, metadata={"k": "v" * 500}) for n in range(99)]
            operations.append({"op": "publish", "destination": self.receiver.url("/large"), "body": "x"})
            first = transact(server, "large", *operations)
            self.assertEqual(first.status, 200, first.body[:500])
            self.assertGreater(len(first.body), 200_000)
            server.restart()
            again = transact(server, "large", *operations)
            self.assertEqual((again.status, again.headers["Idempotent-Replayed"]), (200, "true"))
            self.assertEqual(again.json(), first.json())

    def test_a_key_is_required_and_counts_once(self):
        without = self.server.request("POST", PATH, json.dumps({"operations": []}))
        self.assertEqual((without.status, without.json()["code"]), (400, "idempotency_key_required"))
        operation = {"op": "publish", "destination": self.receiver.url("/once"), "body": "x"}
        first = transact(self.server, "once-1", operation)
        again = transact(self.server, "once-1", operation)
        self.assertEqual((again.status, again.body), (200, first.body))
        self.assertEqual(again.headers["Idempotent-Replayed"], "true")
        other = transact(self.server, "once-1", operation | {"body": "y"})
        self.assertEqual((other.status, other.json()["code"]), (422, "idempotency_key_reused"))
        wrong = {"op": "ack", "job": first.json()["results"][0]["messageId"], "fence": "0.9.9"}
        self.refused(transact(self.server, "once-2", wrong), 409, transact(self.server, "once-2", wrong).json()["code"])
        self.receiver.wait("/once")
        self.assertEqual(len(self.receiver.at("/once")), 1)

    def test_it_is_bounded(self):
        operation = {"op": "publish", "destination": self.receiver.url("/many"), "body": "x"}
        self.assertEqual(len(self.ask(*[operation] * 100).json()["results"]), 100)
        self.assertEqual(self.ask(*[operation] * 101).status, 400)
        self.assertEqual(self.ask().status, 400)
        large = self.ask(operation | {"body": "x" * (10 << 20)})
        self.assertEqual((large.status, large.json()["code"]), (413, "too_large"))
        counted = self.server.metrics()
        self.assertGreaterEqual(counted["hikyaku_transacts_total{outcome=\"applied\"}"], 1)


class Killed(unittest.TestCase):
    """At each point at which the server touches its store while it works, it dies: afterwards all of a transact is there or nothing."""

    def points(self):
        with open(os.path.join(harness.ROOT, "src", "store", "crash_points.def")) as f:
            return [name for name, when in re.findall(r"^HK_CRASH_POINT\((\w+), (\w+),", f.read(), re.M) if when == "run"]

    def test_all_or_nothing_at_every_crash_point(self):
        points = self.points()
        self.died = 0
        for point in points:
            with self.subTest(point):
                self.die_at(point)
        self.assertGreater(self.died, len(points) // 2, "it hardly ever died")

    def die_at(self, point):
        with Receiver() as receiver:
            server = Server()
            self.addCleanup(server.close)
            server.start()
            url = server.make_queue("in")
            server.make_queue("out")
            for number in range(12):
                server.sqs("SendMessage", QueueUrl=url, MessageBody=str(number))
            got = {}
            wait_for(lambda: got.update({one["Body"]: one for one in server.receive(url, VisibilityTimeout=3600)}) or len(got) == 12, "twelve")
            tokens = {body: claim(server, f"k-{body}") for body in got}
            open_accounts(server, bank=None, wallet=0)
            server.kill()
            server.flags = [*server.flags, "--crash-at", f"{point}:6"]
            server.start()
            asked, answers = [], {}

            def operations(body):
                return ({"op": "ack", "job": got[body]["MessageId"], "receipt": got[body]["ReceiptHandle"], "result": int(body)},
                        {"op": "publish", "queue": "out", "body": f"a-{body}"}, {"op": "publish", "queue": "out", "body": f"b-{body}"},
                        {"op": "idempotency.complete", "key": f"k-{body}", "token": tokens[body], "response": int(body)},
                        pay(f"p-{body}", "wallet", "bank", 100 + int(body)), pay(f"q-{body}", "bank", "wallet", 1))

            for body in got:
                asked.append(body)
                try:
                    answers[body] = transact(server, f"t-{body}", *operations(body))
                except (OSError, http.client.HTTPException):
                    self.died += 1
                    break
            server.kill()
            server.flags = server.flags[:-2]
            server.start()
            for body in asked:
                ended = server.job(got[body]["MessageId"])["status"] == "SUCCEEDED"
                completed = server.get(f"/api/v1/idempotency?key=k-{body}").json()["state"] == "completed"
                self.assertEqual(ended, completed, f"{point} {body}")
                paid = [server.get(f"/api/v1/ledger/-/transactions/{part}-{body}").status == 200 for part in "pq"]
                self.assertEqual(paid, [ended, ended], f"{point} {body}")
                if body in answers:
                    self.assertEqual((answers[body].status, ended), (200, True), f"{point} {body} was told so")
                again = transact(server, f"u-{body}", *operations(body))
                self.assertEqual((again.status, again.json().get("code")), (409, "job_finished") if ended else (200, None), again.body)
            out = []
            queue = server.sqs("GetQueueUrl", QueueName="out").json()["QueueUrl"]
            wait_for(lambda: out.extend(one["Body"] for one in server.receive(queue, VisibilityTimeout=3600)) or len(out) >= 2 * len(asked), "what was published")
            self.assertEqual(sorted(out), sorted(f"{part}-{body}" for body in asked for part in "ab"), point)
            self.assertEqual(available(server, "wallet"), str(sum(99 + int(body) for body in asked)), point)
            self.assertEqual(available(server, "bank"), str(-sum(99 + int(body) for body in asked)), point)
            verified = server.request("POST", "/api/v1/ledger/-/verify", "{}").json()
            self.assertTrue(verified["ok"], f"{point} {verified}")
            server.close()


if __name__ == "__main__":
    unittest.main()
