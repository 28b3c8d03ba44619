"""Retries: when, how often, when not; and what becomes of what could not be delivered."""
import email.utils
import json
import time
import unittest

from harness import Answer, Case

FAILED_AT_ONCE = ("CREATED", "ACTIVE", "ERROR", "FAILED")
GIVE_UP = Answer(status=489, headers={"Upstash-NonRetryable-Error": "true"}, body=b"never")


class Retries(Case):
    def waits(self, path, count):
        times = [r.at for r in self.receiver.wait(path, count)]
        return [b - a for a, b in zip(times, times[1:])]

    def test_retries_follow_the_expression_and_end_in_the_dlq(self):
        path, url = self.hook(500)
        message_id = self.server.publish_id(url, b"x", Upstash_Retries=2, Upstash_Retry_Delay="300 * (1 + retried)")
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR",
                                "FAILED")
        waits = self.waits(path, 3)
        self.assert_not_early(waits[0], 0.3)
        self.assert_not_early(waits[1], 0.6)
        requests = self.receiver.at(path)
        self.assertEqual([r.headers["Upstash-Retried"] for r in requests], ["0", "1", "2"])
        self.assertEqual({r.message_id for r in requests}, {message_id})
        self.assertEqual(len({r.headers["Upstash-Signature"] for r in requests}), 3)
        self.assertEqual(self.server.wait_dead_letter(message_id)["messageId"], message_id)

    def test_a_retry_that_succeeds_ends_it(self):
        path, url = self.hook(500, 200)
        message_id = self.server.publish_id(url, b"x", Upstash_Retry_Delay="100")
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED")
        self.assertEqual(self.server.dead_letters("messageId=" + message_id), [])
        self.assertEqual(len(self.receiver.at(path)), 2)

    def test_without_retries_it_fails_at_once(self):
        _, url = self.hook(404)
        message_id = self.server.publish_id(url, b"x", Upstash_Retries=0)
        self.server.wait_states(message_id, *FAILED_AT_ONCE)

    def test_the_default_backoff_waits_twelve_seconds(self):
        _, url = self.hook(500)
        message_id = self.server.publish_id(url, b"x")
        self.server.wait_state(message_id, "RETRY")
        event = next(one for one in self.server.events(message_id) if one["state"] == "RETRY")
        wait = event["nextDeliveryTime"] - event["time"]
        self.assertGreaterEqual(wait, 12_182)
        self.assertLess(wait, 20_000)
        # More only if the retry was made and failed meanwhile.
        self.assertGreaterEqual(self.server.get(f"/v2/messages/{message_id}").json()["notBefore"], event["nextDeliveryTime"])

    def test_retry_after_decides_instead_of_the_policy(self):
        in_two_seconds = email.utils.formatdate(time.time() + 3, usegmt=True)
        rows = [
            ("seconds", {"Retry-After": "1"}, 1.0), ("duration", {"Retry-After": "1s100ms"}, 1.1),
            ("date", {"Retry-After": in_two_seconds}, None), ("x-ratelimit-reset", {"X-RateLimit-Reset": "1"}, 1.0),
        ]
        for name, headers, _ in rows:
            path = f"{self.path()}/{name}"
            self.receiver.script(path, Answer(status=429, headers=headers), 200)
            self.server.publish_id(self.receiver.url(path), b"x", Upstash_Retry_Delay="0")
        for name, _, least in rows:
            with self.subTest(name):
                wait = self.waits(f"{self.path()}/{name}", 2)[0]
                if least is None:  # A date has whole seconds: it may lie up to one second before.
                    due = email.utils.parsedate_to_datetime(in_two_seconds).timestamp()
                    self.assert_not_early(self.receiver.at(f"{self.path()}/{name}")[1].at, due)
                else:
                    self.assert_not_early(wait, least)

    def test_a_retry_after_that_makes_no_sense_is_ignored(self):
        for name, value in (("garbage", "soon"), ("negative", "-5"), ("two days", "172800")):
            with self.subTest(name):
                path = f"{self.path()}/{name.replace(' ', '-')}"
                self.receiver.script(path, Answer(status=500, headers={"Retry-After": value}), 200)
                self.server.publish_id(self.receiver.url(path), b"x", Upstash_Retry_Delay="50")
                self.receiver.wait(path, 2)

    def test_489_with_its_header_gives_up_at_once(self):
        path, url = self.hook(GIVE_UP)
        message_id = self.server.publish_id(url, b"x", Upstash_Retries=5, Upstash_Retry_Delay="0")
        self.server.wait_states(message_id, *FAILED_AT_ONCE)
        entry = self.server.wait_dead_letter(message_id)
        self.assertEqual((entry["responseStatus"], entry["responseBody"]), (489, "never"))
        self.assertEqual(len(self.receiver.at(path)), 1)

    def test_489_without_its_header_is_an_ordinary_failure(self):
        path, url = self.hook(489, 200)
        self.server.publish_id(url, b"x", Upstash_Retry_Delay="0")
        self.receiver.wait(path, 2)

    def test_a_redirect_is_not_followed(self):
        path, url = self.hook(Answer(status=302, headers={"Location": self.receiver.url("/elsewhere")}))
        message_id = self.server.publish_id(url, b"x", Upstash_Retries=0)
        self.server.wait_states(message_id, *FAILED_AT_ONCE)
        self.assertEqual(self.receiver.at("/elsewhere"), [])
        self.assertEqual(self.server.wait_dead_letter(message_id)["responseStatus"], 302)

    def test_receivers_that_misbehave_count_as_failed_attempts(self):
        for action in ("hang", "reset", "close", "garbage"):
            with self.subTest(action):
                path = f"{self.path()}/{action}"
                self.receiver.script(path, Answer(action=action), 200)
                # On a slow machine an ordinary answer may take longer than the second, too.
                timeout = {"Upstash_Timeout": "1s", "Upstash_Retries": 50} if action == "hang" else {}
                message_id = self.server.publish_id(self.receiver.url(path), b"x", Upstash_Retry_Delay="0", **timeout)
                self.server.wait_job(message_id, "SUCCEEDED")
                states = self.server.states(message_id)
                self.assertEqual(states[:5], ["CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE"])
                self.assertTrue(action == "hang" or states[5:] == ["DELIVERED"], states)
                error = self.server.events(message_id)[2]
                self.assertTrue(error["error"], error)

    def test_a_callback_to_one_who_misbehaves_is_tried_again_and_the_message_is_not(self):
        path, url = self.hook(200)
        told = path + "/told"
        self.receiver.script(told, Answer(action="garbage"), Answer(action="reset"), Answer(action="close"), 307, 200)
        message_id = self.server.publish_id(url, b"x", Upstash_Callback=self.receiver.url(told), Upstash_Callback_Retries=9,
                                            Upstash_Callback_Retry_Delay="50")
        callbacks = self.receiver.wait(told, 5)
        self.assertEqual(len({one.message_id for one in callbacks}), 1)
        self.server.wait_job(callbacks[0].message_id, "SUCCEEDED")
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.at(path)), 1)

    def test_a_refused_connection_fails_with_its_reason(self):
        message_id = self.server.publish_id("http://127.0.0.1:1/nobody", b"x", Upstash_Retries=0)
        self.server.wait_states(message_id, *FAILED_AT_ONCE)
        entry = self.server.wait_dead_letter(message_id)
        self.assertEqual(entry["responseStatus"], 0)
        self.assertIn("refused", entry["responseBody"])
        job = self.server.wait_job(message_id, "FAILED")
        self.assertIn("refused", job["attempts"][0]["error"])
        self.assertNotIn("status_code", job["attempts"][0])


class DeadLetters(Case):
    def dead_letter(self, *, path=None, **options):
        url = self.receiver.url(path or self.path())
        message_id = self.server.publish_id(url, b"dead", Upstash_Retries=0, **options)
        return self.server.wait_dead_letter(message_id)

    def setUp(self):
        self.receiver.script(self.path(), Answer(status=500, headers={"X-Why": "because"}, body=b"broken"))

    def test_an_entry_keeps_everything(self):
        entry = self.dead_letter(Upstash_Label="keep", Content_Type="text/plain", Upstash_Forward_X_Order="7")
        self.assertTrue(entry["dlqId"])
        self.assertEqual(entry["url"], self.receiver.url(self.path()))
        self.assertEqual(entry["body"], "dead")
        self.assertEqual(entry["header"], {"Content-Type": ["text/plain"], "X-Order": ["7"]})
        self.assertEqual(entry["label"], "keep")
        self.assertEqual((entry["responseStatus"], entry["responseBody"]), (500, "broken"))
        self.assertEqual(entry["responseHeader"]["X-Why"], ["because"])
        self.assertEqual(entry["maxRetries"], 0)
        self.assertEqual(self.server.get(f"/v2/dlq/{entry['dlqId']}").json(), entry)

    def test_pages_hold_each_entry_once(self):
        wanted = {self.dead_letter(Upstash_Label="paged")["dlqId"] for _ in range(7)}
        for order in ("earliestFirst", "latestFirst"):
            with self.subTest(order):
                seen, cursor = [], None
                while True:
                    page = self.server.get(f"/v2/dlq?label=paged&count=3&order={order}"
                                           + (f"&cursor={cursor}" if cursor else "")).json()
                    self.assertLessEqual(len(page["messages"]), 3)
                    seen += [m["dlqId"] for m in page["messages"]]
                    cursor = page.get("cursor")
                    if cursor is None:
                        break
                    self.assertLess(len(seen), 50)
                self.assertEqual(len(seen), 7)
                self.assertEqual(set(seen), wanted)

    def test_filters(self):
        entry = self.dead_letter(Upstash_Label="filtered")
        mine = entry["dlqId"]
        url = entry["url"]
        rows = [
            (f"messageId={entry['messageId']}", True), (f"url={url}", True), ("label=filtered", True), ("label=other,filtered", True),
            ("responseStatus=500", True), ("callerIp=127.0.0.1", True), (f"dlqIds={mine}", True), ("fromDate=0", True),
            ("label=other", False), ("responseStatus=404", False), (f"url={url}x", False), ("toDate=1000", False),
            ("label=filtered&responseStatus=404", False), ("queueName=q", False),
        ]
        for query, found in rows:
            with self.subTest(query):
                ids = [m["dlqId"] for m in self.server.dead_letters(query)]
                self.assertEqual(mine in ids, found)
        self.refused(self.server.get("/v2/dlq?colour=red"), 400)
        self.refused(self.server.get("/v2/dlq?count=many"), 400)

    def test_a_retried_entry_becomes_a_new_message(self):
        entry = self.dead_letter(Upstash_Forward_X_Order="8")
        self.receiver.script(self.path(), 200)
        before = len(self.receiver.at(self.path()))
        answer = self.server.request("POST", f"/v2/dlq/retry/{entry['dlqId']}")
        self.assertEqual(answer.status, 201, answer.body)
        new_id = answer.json()["messageId"]
        self.assertNotEqual(new_id, entry["messageId"])
        got = self.receiver.wait(self.path(), before + 1)[-1]
        self.assertEqual((got.body, got.headers["X-Order"], got.headers["Upstash-Retried"]), (b"dead", "8", "0"))
        self.assertEqual(got.message_id, new_id)
        self.refused(self.server.get(f"/v2/dlq/{entry['dlqId']}"), 404)
        self.refused(self.server.request("POST", f"/v2/dlq/retry/{entry['dlqId']}"), 404)
        self.server.wait_states(new_id, "CREATED", "ACTIVE", "DELIVERED")

    def test_several_are_retried_by_their_ids(self):
        entries = [self.dead_letter(Upstash_Label="bulk") for _ in range(3)]
        self.receiver.script(self.path(), 200)
        query = "&".join("dlqIds=" + e["dlqId"] for e in entries[:2])
        answer = self.server.request("POST", f"/v2/dlq/retry?{query}")
        self.assertEqual(answer.status, 201, answer.body)
        new = [r["messageId"] for r in answer.json()["responses"]]
        self.assertEqual(len(set(new)), 2)
        for message_id in new:
            self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        left = [m["dlqId"] for m in self.server.dead_letters("label=bulk")]
        self.assertEqual(left, [entries[2]["dlqId"]])

    def test_a_retry_is_not_taken_for_a_duplicate(self):
        entry = self.dead_letter(Upstash_Deduplication_Id="dead-once")
        self.receiver.script(self.path(), 200)
        answer = self.server.request("POST", f"/v2/dlq/retry/{entry['dlqId']}")
        self.server.wait_states(answer.json()["messageId"], "CREATED", "ACTIVE", "DELIVERED")

    def test_one_is_edited_and_retried(self):
        """Another URL, body and header in one request; the story tells of it, also after a kill."""
        entry = self.dead_letter(Content_Type="text/plain", Upstash_Forward_X_Order="8", Upstash_Label="kept")
        elsewhere = self.path() + "/elsewhere"
        self.receiver.script(elsewhere, 200)
        body = '{"n": 12345678901234567890, "z": "zażółć"}'.encode() + b"\0\xff"
        answer = self.server.request("POST", f"/v2/dlq/retry/{entry['dlqId']}", body,
                                     {"Hikyaku-Replace-Body": "true", "Hikyaku-Replace-Url": self.receiver.url(elsewhere),
                                      "Upstash-Forward-X-Name": "zażółć ☕".encode(), "Upstash-Forward-Content-Type": "application/json"})
        self.assertEqual(answer.status, 201, answer.body)
        new_id = answer.json()["messageId"]
        got = self.receiver.wait(elsewhere)[0]
        self.assertEqual((got.message_id, got.body), (new_id, body))
        self.assertEqual((got.headers["Content-Type"], got.headers["X-Order"], got.headers["X-Name"].encode("latin-1").decode()),
                         ("application/json", "8", "zażółć ☕"))
        self.refused(self.server.get(f"/v2/dlq/{entry['dlqId']}"), 404)
        self.server.wait_states(new_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.at(self.path())), 1, "the old URL was called again")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.server.job(new_id)["edited_from"], entry["messageId"])
        shown = self.server.get(f"/v2/messages/{new_id}").json()
        self.assertEqual((shown["url"], shown["label"], shown["header"]["X-Name"]), (self.receiver.url(elsewhere), "kept", ["zażółć ☕"]))

    def test_an_edit_that_is_refused_leaves_the_entry(self):
        entry = self.dead_letter()
        one, many = f"/v2/dlq/retry/{entry['dlqId']}", f"/v2/dlq/retry?dlqIds={entry['dlqId']}"
        rows = [(one, b"new", {}), (one, b"", {"Hikyaku-Replace-Url": "http://169.254.169.254/"}), (one, b"", {"Hikyaku-Replace-Url": "x"}),
                (one, b"", {"Hikyaku-Replace-Url": f"http://127.0.0.1:{self.server.port}/healthz"}),
                (one, b"new", {"Hikyaku-Replace-Body": "perhaps"}), (many, b"", {"Hikyaku-Replace-Body": "true"}),
                (many, b"", {"Hikyaku-Replace-Url": self.receiver.url("/x")})]
        for target, body, headers in rows:
            with self.subTest(target=target, headers=headers):
                self.refused(self.server.request("POST", target, body, headers), 400)
        self.assertEqual(self.server.get(f"/v2/dlq/{entry['dlqId']}").json(), entry)

    def test_an_unknown_id_among_several_retries_none(self):
        entry = self.dead_letter()
        answer = self.server.request("POST", f"/v2/dlq/retry?dlqIds={entry['dlqId']}&dlqIds=1-999999")
        self.refused(answer, 404)
        self.assertEqual(self.server.get(f"/v2/dlq/{entry['dlqId']}").status, 200)

    def test_one_is_deleted(self):
        entry = self.dead_letter()
        self.assertEqual(self.server.request("DELETE", f"/v2/dlq/{entry['dlqId']}").status, 200)
        self.refused(self.server.get(f"/v2/dlq/{entry['dlqId']}"), 404)
        self.refused(self.server.request("DELETE", f"/v2/dlq/{entry['dlqId']}"), 404)
        self.assertEqual(self.server.dead_letters("messageId=" + entry["messageId"]), [])

    def test_several_are_deleted_by_query_or_body(self):
        first, second, third = (self.dead_letter(Upstash_Label="gone") for _ in range(3))
        answer = self.server.request("DELETE", f"/v2/dlq?dlqIds={first['dlqId']}&dlqIds=1-999999")
        self.assertEqual((answer.status, answer.json()["deleted"]), (200, 1))
        answer = self.server.request("DELETE", "/v2/dlq", json.dumps({"dlqIds": [second["dlqId"]]}),
                                     {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.json()["deleted"]), (200, 1))
        self.assertEqual([m["dlqId"] for m in self.server.dead_letters("label=gone")], [third["dlqId"]])
        answer = self.server.request("DELETE", "/v2/dlq?label=gone")
        self.assertEqual(answer.json()["deleted"], 1)

    def test_an_empty_selection_is_not_everything(self):
        for target, body in (("/v2/dlq", '{"dlqIds": []}'), ("/v2/dlq?dlqIds=", None)):
            with self.subTest(target):
                entry = self.dead_letter()
                self.server.request("DELETE", target, body, {"Content-Type": "application/json"})
                self.assertEqual(self.server.get(f"/v2/dlq/{entry['dlqId']}").status, 200, "a list of no ids deleted it")

    def test_nonsense_ids_are_not_found(self):
        for dlq_id in ("0-0", "x", "1-2-3", "99999999999999999999-1"):
            with self.subTest(dlq_id):
                self.refused(self.server.get(f"/v2/dlq/{dlq_id}"), 404)


if __name__ == "__main__":
    unittest.main()
