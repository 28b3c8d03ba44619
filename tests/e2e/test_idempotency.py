"""Idempotency keys by the real server: of many claimers one does the work, outcomes and tokens outlive a kill."""
import json
import os
import socket
import threading
import unittest

from harness import Server, run_binary, wait_for

PATH = "/api/v1/idempotency"


class Idempotency(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()

    def call(self, verb, **members):
        answer = self.server.request("POST", f"{PATH}/{verb}", json.dumps(members))
        return answer.status, answer.json(), answer

    def refused(self, told, status, code):
        self.assertEqual((told[0], told[1]["code"]), (status, code), told[1])

    def test_the_outcome_of_the_first_is_that_of_all(self):
        request = {"amount": 9007199254740993, "to": {"b": 1, "a": [1.0, None]}}
        status, claimed, _ = self.call("claim", key="pay-7", request=request, owner="one")
        self.assertEqual((status, claimed["state"], claimed["attempt"], claimed["taken_over"]), (201, "started", 1, False))
        held = self.call("claim", key="pay-7", request=request)
        self.refused(held, 409, "idempotency_in_progress")
        self.assertIn(int(held[2].headers["Retry-After"]), range(1, 61))
        same = {"to": {"a": [1, None], "b": 1e0}, "amount": 9007199254740993}
        self.refused(self.call("claim", key="pay-7", request=same), 409, "idempotency_in_progress")
        other = {"to": {"a": [1, None], "b": 1}, "amount": 9007199254740992}
        self.refused(self.call("claim", key="pay-7", request=other), 422, "idempotency_key_reused")
        token = claimed["token"]
        self.assertEqual(self.call("complete", key="pay-7", token=token, response={"charged": 5})[:2], (200, {"state": "completed", "replayed": False}))
        self.assertEqual(self.call("complete", key="pay-7", token=token, response={"charged": 5})[:2], (200, {"state": "completed", "replayed": True}))
        self.refused(self.call("complete", key="pay-7", token=token, response={"charged": 6}), 409, "already_completed")
        self.assertEqual(self.call("claim", key="pay-7", request=same)[:2], (200, {"state": "completed", "response": {"charged": 5}, "replayed": True}))
        self.assertEqual(self.call("claim", key="pay-7", namespace="mine")[0], 201, "another namespace")
        shown = self.server.get(f"{PATH}?key=pay-7").json()
        self.assertEqual((shown["state"], shown["response"], shown["token"], shown["owner"]), ("completed", {"charged": 5}, token, "one"))

    def test_a_failure_is_kept_or_tried_again(self):
        first = self.call("claim", key="k")[1]["token"]
        self.assertEqual(self.call("fail", key="k", token=first, error={"why": "busy"}, final=False)[:2], (200, {"state": "released", "replayed": False}))
        again = self.call("claim", key="k")
        self.assertEqual((again[0], again[1]["attempt"], again[1]["taken_over"]), (201, 2, False))
        self.assertGreater(again[1]["token"], first)
        self.refused(self.call("renew", key="k", token=first), 409, "fenced")
        self.refused(self.call("complete", key="k", token=first, response=1), 409, "fenced")
        self.assertEqual(self.call("renew", key="k", token=again[1]["token"], lease="1h")[0], 200)
        self.assertEqual(self.call("fail", key="k", token=again[1]["token"], error={"why": "no such card"}, final=True)[0], 200)
        self.assertEqual(self.call("claim", key="k")[:2], (200, {"state": "failed", "error": {"why": "no such card"}, "replayed": True}))

    def test_of_many_claimers_at_once_one_works(self):
        started, others = [], []

        def work(number):
            for key in range(20):
                status, told, _ = self.call("claim", key=f"race-{key}", request={"key": key})
                (started if status == 201 else others).append((key, status))
                if status == 201:
                    self.call("complete", key=f"race-{key}", token=told["token"], response=number)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(key for key, _ in started), list(range(20)))
        self.assertEqual({status for _, status in others} - {200, 409}, set())

    def test_outcomes_and_tokens_outlive_a_kill(self):
        token = self.call("claim", key="done")[1]["token"]
        self.call("complete", key="done", token=token, response=[1.10, "x"])
        open_token = self.call("claim", key="open")[1]["token"]
        self.server.kill()
        self.server.start()
        self.assertEqual(self.call("claim", key="done")[2].body, b'{"state":"completed","response":[1.1,"x"],"replayed":true}')
        self.refused(self.call("claim", key="open"), 409, "idempotency_in_progress")
        self.assertEqual(self.call("complete", key="open", token=open_token, response=None)[0], 200)
        self.assertGreater(self.call("claim", key="new")[1]["token"], open_token)

    def test_a_key_is_deleted_by_the_operator_alone(self):
        token = self.call("claim", key="k")[1]["token"]
        self.call("complete", key="k", token=token, response=1)
        with open(os.path.join(self.server.data, "admin.json")) as f:
            admin = json.load(f)["token"]
        tenant = self.server.request("GET", "/api/v1/tenants", token=admin).json()["tenants"][0]["id"]
        delete = lambda headers, token: self.server.request("DELETE", f"{PATH}?key=k", None, headers, token=token)  # noqa: E731
        self.assertEqual(delete({"Hikyaku-Tenant": str(tenant)}, self.server.token).status, 401)
        for wrong in ({}, {"Hikyaku-Tenant": "999"}, {"Hikyaku-Tenant": "x"}):
            self.assertEqual(delete(wrong, admin).status, 400)
        self.assertEqual(self.call("claim", key="k")[0], 200)
        self.assertEqual(delete({"Hikyaku-Tenant": str(tenant)}, admin).status, 200)
        again = self.call("claim", key="k")
        self.assertEqual(again[0], 201)
        self.assertGreater(again[1]["token"], token)

    def test_a_response_has_a_bound(self):
        token = self.call("claim", key="k")[1]["token"]
        self.assertEqual(self.call("complete", key="k", token=token, response="x" * 262_200)[0], 413)
        self.assertEqual(self.call("complete", key="k", token=token, response="x" * 262_000)[0], 200)
        self.assertEqual(self.call("claim", key="k")[1]["response"], "x" * 262_000)

    def test_a_claim_that_waits_gets_the_outcome(self):
        token = self.call("claim", key="k")[1]["token"]
        told = []
        waiting = [threading.Thread(target=lambda: told.append(self.call("claim", key="k", wait="60s"))) for _ in range(4)]
        for thread in waiting:
            thread.start()
        self.assertEqual(self.call("claim", key="k", wait="10ms")[0], 409, "its wait is over, and theirs are not")
        self.call("complete", key="k", token=token, response=7)
        for thread in waiting:
            thread.join()
        self.assertEqual([(status, answer["response"]) for status, answer, _ in told], [(200, 7)] * 4)

    def test_one_who_waits_does_the_work_that_was_released(self):
        token = self.call("claim", key="k")[1]["token"]
        told = []

        def work():
            status, answer, _ = self.call("claim", key="k", wait="60s")
            told.append(status)
            if status == 201:
                self.assertGreater(answer["token"], token)
                self.call("complete", key="k", token=answer["token"], response=8)

        waiting = [threading.Thread(target=work) for _ in range(3)]
        for thread in waiting:
            thread.start()
        self.call("fail", key="k", token=token, error={}, final=False)
        for thread in waiting:
            thread.join()
        self.assertEqual(sorted(told), [200, 200, 201])

    def test_waits_end_when_the_server_stops(self):
        self.call("claim", key="k", lease="1h")
        told = []
        waiting = threading.Thread(target=lambda: told.append(self.call("claim", key="k", wait="60s")[0]))
        waiting.start()
        wait_for(lambda: self.server.metrics()["hikyaku_connections"] >= 2, "the claim that waits")
        self.assertEqual(self.server.terminate(), 0)
        waiting.join()
        self.assertIn(told, ([409], [503]))

    def test_who_hangs_up_claims_nothing(self):
        token = self.call("claim", key="k", lease="1h")[1]["token"]
        body = json.dumps({"key": "k", "wait": "60s"})
        with socket.create_connection(("127.0.0.1", self.server.port)) as gone:
            gone.sendall((f"POST {PATH}/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.server.token}\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
            wait_for(lambda: self.server.metrics()["hikyaku_connections"] >= 2, "the claim that waits")
        wait_for(lambda: self.server.metrics()['hikyaku_http_requests_total{class="5xx"}'] >= 1, "the end of the claim, told to nobody")
        self.call("fail", key="k", token=token, error={}, final=False)
        self.assertEqual(self.call("claim", key="k")[0], 201)

    def test_the_command_line_shows_and_deletes_a_key(self):
        token = self.call("claim", key="k/1", owner="me")[1]["token"]
        shown = self.server.cli("idempotency", "get", "k/1")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"state +started\n(.*\n)*token +{token}\n")
        self.assertNotEqual(self.server.cli("idempotency", "get", "none").returncode, 0)
        deleted = run_binary("idempotency", "delete", "k/1", "--tenant", "1", "--data", self.server.data)
        self.assertEqual(deleted.returncode, 0, deleted.stderr)
        self.assertNotEqual(self.server.cli("idempotency", "get", "k/1").returncode, 0)
        self.assertIn("idempotency.key_deleted", self.server.output())


if __name__ == "__main__":
    unittest.main()
