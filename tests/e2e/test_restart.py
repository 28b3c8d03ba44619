"""What survives the end of the process, be it kill -9 or SIGTERM."""
import contextlib
import http.client
import json
import os
import signal
import threading
import time
import unittest

from harness import Answer, Receiver, Server, run_binary, wait_for


class Restart(unittest.TestCase):
    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()

    def test_a_backlog_survives_kill_9(self):
        # Nothing starts before the kill, however long the publishing takes.
        self.assertEqual(self.server.request("POST", "/v2/flowControl/backlog/pause").status, 200)
        held = {"Upstash_Flow_Control_Key": "backlog", "Upstash_Flow_Control_Value": "parallelism=50", "Upstash_Delay": "1s"}
        ids = [self.server.publish_id(self.receiver.url(f"/m{i}"), b"%d" % i, **held) for i in range(200)]
        self.server.restart()
        self.assertEqual(self.server.request("POST", "/v2/flowControl/backlog/resume").status, 200)
        for i, message_id in enumerate(ids):
            got = self.receiver.wait(f"/m{i}")[0]
            self.assertEqual((got.message_id, got.body), (message_id, b"%d" % i))
        for message_id in ids:
            self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.requests), 200)

    def test_an_attempt_cut_off_by_kill_9_is_made_again_with_a_higher_fence(self):
        self.receiver.script("/slow", Answer(action="hang"), 200)
        message_id = self.server.publish_id(self.receiver.url("/slow"), b"x")
        self.receiver.wait("/slow")
        self.server.restart()
        first, second = self.receiver.wait("/slow", 2)
        self.assertEqual(first.message_id, second.message_id)
        self.assertEqual(first.body, second.body)
        self.server.wait_job(message_id, "SUCCEEDED")
        fences = [tuple(int(n) for n in r.headers["Hikyaku-Fence"].split(".")) for r in (first, second)]
        self.assertLess(fences[0], fences[1])

    def test_retries_go_on_after_kill_9(self):
        self.receiver.script("/flaky", 500, 500, 200)
        message_id = self.server.publish_id(self.receiver.url("/flaky"), b"x", Upstash_Retry_Delay="1500")
        self.server.wait_state(message_id, "RETRY")
        self.server.restart()
        self.server.wait_job(message_id, "SUCCEEDED")
        retried = [int(r.headers["Upstash-Retried"]) for r in self.receiver.at("/flaky")]
        # [0, 1, 2], unless the kill came so late that it cut off an attempt, which was then made again.
        self.assertEqual(retried, sorted(retried))
        self.assertEqual((retried[0], retried.count(0), 1 in retried), (0, 1, True), retried)
        self.assertIn(len(retried), (3, 4), retried)

    def test_a_bulk_action_goes_on_after_kill_9_and_counts_each_message_once(self):
        far = {"Upstash-Not-Before": "4102444800", "Upstash-Label": "many"}
        ids = []
        for _ in range(4):
            batch = json.dumps([{"destination": self.receiver.url("/far"), "headers": far, "body": "x"}] * 1000)
            answer = self.server.request("POST", "/v2/batch", batch, {"Content-Type": "application/json"})
            ids += [one["messageId"] for one in answer.json()]
        answer = self.server.request("DELETE", "/v2/messages?label=many&async=true")
        self.assertEqual(answer.status, 200, answer.body)
        action = answer.json()["actionId"]
        later = self.server.publish_id(self.receiver.url("/far"), b"x", Upstash_Not_Before=4102444800, Upstash_Label="many")
        shown = lambda: self.server.get("/v2/bulkActions/" + action).json()  # noqa: E731
        for _ in range(3):
            self.server.restart()
            self.assertLessEqual(shown()["processed"], len(ids))
        wait_for(lambda: shown()["state"] == "FINISHED", lambda: f"the end of {shown()}")
        self.assertEqual((shown()["processed"], shown()["total"], shown()["filter"]), (len(ids), len(ids), {"label": ["many"]}))
        self.assertEqual({self.server.job(one)["status"] for one in ids[::97]}, {"CANCELED"})
        self.assertEqual(self.server.job(later)["status"], "PENDING")
        self.assertEqual(self.server.metrics()["hikyaku_conservation_gap"], 0)

    def test_dead_letters_dedup_and_cancels_survive(self):
        self.receiver.script("/dead", 500)
        dead = self.server.publish_id(self.receiver.url("/dead"), b"x", Upstash_Retries=0)
        entry = self.server.wait_dead_letter(dead)
        first = self.server.publish(self.receiver.url("/once"), b"x", Upstash_Deduplication_Id="d")
        canceled, _, seconds = self.server.publish_canceled(lambda n: self.receiver.url(f"/never{n}"))
        self.server.restart()
        self.assertEqual(self.server.get(f"/v2/dlq/{entry['dlqId']}").json(), entry)
        again = self.server.publish(self.receiver.url("/once"), b"x", Upstash_Deduplication_Id="d")
        self.assertEqual((again.status, again.json()["messageId"]), (202, first.json()["messageId"]))
        late = self.server.publish_id(self.receiver.url("/late"), b"x", Upstash_Delay=f"{seconds + 1}s")
        self.server.wait_job(late, "SUCCEEDED", timeout=120)
        self.assertEqual(self.receiver.at(f"/never{seconds}"), [])
        self.assertEqual(self.server.states(canceled), ["CREATED", "CANCEL_REQUESTED", "CANCELED"])

    def test_sigterm_lets_running_attempts_end_and_exits_0(self):
        self.receiver.script("/slow", Answer(delay=1.5))
        message_id = self.server.publish_id(self.receiver.url("/slow"), b"x")
        waiting = self.server.publish_id(self.receiver.url("/later"), b"x", Upstash_Delay="1h")
        self.receiver.wait("/slow")
        self.assertEqual(self.server.terminate(), 0, self.server.output()[-2000:])
        self.server.start()
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.at("/slow")), 1)
        self.assertEqual(self.server.job(waiting)["status"], "PENDING")

    def test_sigterm_under_load_loses_and_doubles_nothing(self):
        acknowledged, stop = [], threading.Event()

        def publisher(number):
            count = 0
            while not stop.is_set():
                try:
                    answer = self.server.publish(self.receiver.url("/load"), b"%d-%d" % (number, count))
                except OSError:
                    return
                if answer.status == 201:
                    acknowledged.append(answer.json()["messageId"])
                count += 1

        threads = [threading.Thread(target=publisher, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(acknowledged) > 200, "200 publishes")
        self.assertEqual(self.server.terminate(), 0, self.server.output()[-2000:])
        stop.set()
        for thread in threads:
            thread.join()
        self.server.start()
        seen = lambda: [r.message_id for r in self.receiver.at("/load")]
        wait_for(lambda: set(acknowledged) <= set(seen()), "every acknowledged message")
        self.assertEqual(len(seen()), len(set(seen())), "a drained stop makes no duplicates")

    def test_sigterm_in_the_middle_of_a_bulk_cancel_closes_the_store(self):
        server = Server("--drain", "0s")
        self.addCleanup(server.close)
        server.start()
        items = [{"destination": "http://127.0.0.1:9/hook", "headers": {"Upstash-Delay": "1h"}}] * 2000
        for _ in range(10):
            self.assertEqual(server.request("POST", "/v2/batch", json.dumps(items)).status, 200)

        def cancel():
            with contextlib.suppress(OSError, http.client.HTTPException):
                server.request("DELETE", "/v2/messages", timeout=60)

        canceling = threading.Thread(target=cancel)
        canceling.start()
        wait_for(lambda: server.metrics()["hikyaku_messages_canceled_total"] > 0, "the first to be canceled")
        self.assertEqual(server.terminate(), 0, server.output()[-2000:])
        canceling.join()

    def test_sigint_is_a_stop_too(self):
        self.server.process.send_signal(signal.SIGINT)
        self.assertEqual(self.server.process.wait(60), 0)

    def test_a_killed_store_verifies(self):
        for i in range(50):
            self.server.publish_id(self.receiver.url("/v"), b"%d" % i, Upstash_Delay="1h")
        self.server.kill()
        done = run_binary("verify", "--data", self.server.data)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_log_that_was_cut_off_is_refused(self):
        for i in range(50):
            self.server.publish_id(self.receiver.url("/v"), b"%d" % i, Upstash_Delay="1h")
        time.sleep(0.3)  # The witness lags the last group of a burst by some milliseconds.
        self.server.kill()
        logs = [os.path.join(folder, name) for folder, _, names in os.walk(self.server.data) for name in names
                if name.endswith(".log") and os.path.getsize(os.path.join(folder, name)) > 0]
        self.assertTrue(logs)
        for log in logs:
            os.truncate(log, 0)
        self.server.spawn()
        code = self.server.process.wait(60)
        self.assertEqual(code, 4, self.server.output()[-2000:])
        self.assertEqual(run_binary("verify", "--data", self.server.data).returncode, 4)


if __name__ == "__main__":
    unittest.main()
