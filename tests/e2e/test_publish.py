"""Publish: what is accepted, what the destination gets, what is remembered of it."""
import base64
import json
import re
import threading
import time
import unittest

from harness import DEV_CURRENT_KEY, Answer, Case, Receiver, verify_signature

SPAN = re.compile(r"^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$")


class Delivery(Case):
    def test_a_published_message_is_delivered_signed(self):
        path, url = self.hook(query="?a=1&b=%20x")
        answer = self.server.publish(url, b'{"hello":1}', Content_Type="application/json")
        self.assertEqual(answer.status, 201)
        self.assertEqual(set(answer.json()), {"messageId", "url"})
        self.assertEqual(answer.json()["url"], url)
        message_id = answer.json()["messageId"]
        self.assertRegex(message_id, r"^msg_[A-Za-z0-9_-]{16,}$")
        self.assertEqual(answer.headers["Hikyaku-Durability"], "local")

        got = self.receiver.wait(path)[0]
        self.assertEqual(got.method, "POST")
        self.assertEqual(got.path, path + "?a=1&b=%20x")
        self.assertEqual(got.body, b'{"hello":1}')
        self.assertEqual(got.headers["Content-Type"], "application/json")
        self.assertEqual(got.headers["User-Agent"], "Upstash-QStash")
        self.assertEqual(got.headers["Upstash-Message-Id"], message_id)
        self.assertEqual(got.headers["Upstash-Retried"], "0")
        self.assertEqual(got.headers["Upstash-Caller-Ip"], "127.0.0.1")
        self.assertEqual(got.headers["Host"], f"127.0.0.1:{self.receiver.port}")
        verify_signature(got.headers["Upstash-Signature"], DEV_CURRENT_KEY, url, got.body)
        self.assertIsNone(got.headers["Authorization"])
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.at(path)), 1)

    def test_every_method_carries_the_body(self):
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            with self.subTest(method):
                url = self.receiver.url(f"{self.path()}/{method}")
                self.server.publish_id(url, b"body", Upstash_Method=method)
                got = self.receiver.wait(f"{self.path()}/{method}")[0]
                self.assertEqual((got.method, got.body), (method, b"body"))

    def test_an_empty_body_is_delivered_empty(self):
        path, url = self.hook()
        self.server.publish_id(url)
        got = self.receiver.wait(path)[0]
        self.assertEqual(got.body, b"")
        self.assertIsNone(got.headers["Content-Type"])
        verify_signature(got.headers["Upstash-Signature"], DEV_CURRENT_KEY, url, b"")

    def test_bytes_arrive_as_they_were(self):
        path, url = self.hook()
        body = bytes(range(256)) * 300
        message_id = self.server.publish_id(url, body, Content_Type="application/octet-stream")
        self.assertEqual(self.receiver.wait(path)[0].body, body)
        shown = self.server.get(f"/v2/messages/{message_id}").json()
        self.assertNotIn("body", shown)
        self.assertEqual(base64.b64decode(shown["bodyBase64"]), body)

    def test_forwarded_headers_arrive_without_their_prefix(self):
        path, url = self.hook()
        self.server.publish_id(url, b"x", **{"Upstash-Forward-X-Tenant": "blue", "upstash-forward-authorization": "Basic abc",
                                             "X-Not-Forwarded": "1"})
        got = self.receiver.wait(path)[0]
        self.assertEqual(got.headers["X-Tenant"], "blue")
        self.assertEqual(got.headers["Authorization"], "Basic abc")
        self.assertIsNone(got.headers["X-Not-Forwarded"])

    def test_header_forward_passes_the_others_on_but_not_the_token(self):
        path, url = self.hook()
        self.server.publish_id(url, b"x", **{"Upstash-Header-Forward": "true", "X-Plain": "yes"})
        got = self.receiver.wait(path)[0]
        self.assertEqual(got.headers["X-Plain"], "yes")
        self.assertIsNone(got.headers["Authorization"])
        self.assertIsNone(got.headers["Upstash-Header-Forward"])
        self.assertEqual(got.headers["Host"], f"127.0.0.1:{self.receiver.port}")

    def test_options_may_be_query_parameters_and_do_not_reach_the_destination(self):
        path, url = self.hook(query="?keep=1&upstash-retries=7&upstash-forward-x-a=b&qstash_token=nonsense&end=2")
        answer = self.server.publish(url, b"x")
        self.assertEqual(answer.status, 201, answer.body)
        got = self.receiver.wait(path)[0]
        self.assertEqual(got.path, path + "?keep=1&end=2")
        self.assertEqual(got.headers["X-A"], "b")
        shown = self.server.get("/v2/messages/" + answer.json()["messageId"]).json()
        self.assertEqual(shown["maxRetries"], 7)

    def test_the_token_may_be_a_query_parameter(self):
        path, _ = self.hook()
        answer = self.server.request("POST", f"/v2/publish/{self.receiver.url(path)}?qstash_token={self.server.token}", b"x",
                                     token=None)
        self.assertEqual(answer.status, 201, answer.body)
        self.assertEqual(self.receiver.wait(path)[0].path, path)

    def test_the_trace_is_passed_on(self):
        path, url = self.hook()
        trace = "0af7651916cd43dd8448eb211c80319c"
        message_id = self.server.publish_id(url, b"x", traceparent=f"00-{trace}-b7ad6b7169203331-01", tracestate="a=1")
        got = self.receiver.wait(path)[0]
        seen = SPAN.match(got.headers["traceparent"])
        self.assertTrue(seen, got.headers["traceparent"])
        self.assertEqual(seen[1], trace)
        self.assertNotEqual(seen[2], "b7ad6b7169203331")
        self.assertEqual(got.headers["tracestate"], "a=1")
        self.assertIn(trace, json.dumps(self.server.job(message_id)))

    def test_a_trace_is_made_when_none_is_given_or_it_is_malformed(self):
        for name, given in (("none", {}), ("malformed", {"traceparent": "00-zz-zz-01"})):
            with self.subTest(name):
                path = f"{self.path()}/{name}"
                self.server.publish_id(self.receiver.url(path), b"x", **given)
                seen = SPAN.match(self.receiver.wait(path)[0].headers["traceparent"])
                self.assertTrue(seen)
                self.assertNotEqual(int(seen[1], 16), 0)


class Callbacks(Case):
    def test_they_are_counted(self):
        before = self.server.metrics()["hikyaku_callbacks_total"]
        path, url = self.hook()
        told, callback = path + "/told", self.receiver.url(path + "/told")
        message_id = self.server.publish_id(url, b"x", Upstash_Callback=callback)
        got = json.loads(self.receiver.wait(told)[0].body)
        self.assertEqual((got["sourceMessageId"], got["status"]), (message_id, 200))
        self.assertEqual(self.server.metrics()["hikyaku_callbacks_total"], before + 1)


class Timing(Case):
    def test_a_delayed_message_is_not_early(self):
        path, url = self.hook()
        before = time.time()
        message_id = self.server.publish_id(url, b"x", Upstash_Delay="2s")
        shown = self.server.get(f"/v2/messages/{message_id}").json()
        self.assertGreaterEqual(shown["notBefore"], shown["createdAt"] + 2000)
        self.assert_not_early(self.receiver.wait(path)[0].at, before + 2)
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertGreaterEqual(self.server.events(message_id)[1]["time"], shown["notBefore"])

    def test_not_before_is_in_seconds_and_wins_over_the_delay(self):
        path, url = self.hook()
        due = int(time.time()) + 2
        self.server.publish_id(url, b"x", Upstash_Not_Before=due, Upstash_Delay="1h")
        self.assert_not_early(self.receiver.wait(path)[0].at, due)

    def test_a_moment_in_the_past_means_now(self):
        path, url = self.hook()
        self.server.publish_id(url, b"x", Upstash_Not_Before=1000)
        self.receiver.wait(path)

    def test_a_slow_destination_holds_up_nobody_else(self):
        # More than one destination may have in flight, so that some of them wait.
        slow = Receiver()
        self.addCleanup(slow.close)
        slow.script("/hook", Answer(action="hang"))
        for _ in range(200):
            self.server.publish_id(slow.url(), b"x", Upstash_Timeout="600s", Upstash_Retries=0)
        slow.wait("/hook", 100)
        path = self.path() + "/quick"
        self.server.publish_id(self.receiver.url(path), b"x")
        self.receiver.wait(path)


class Refusals(Case):
    def test_bad_destinations(self):
        rows = [
            ("empty", ""), ("no scheme", "example.com/x y"[:13]), ("ftp", "ftp://example.com/x"), ("no host", "http:///x"),
            ("userinfo", "http://user:secret@127.0.0.1:1/x"), ("bad port", "http://127.0.0.1:99999/x"),
        ]
        for name, destination in rows:
            with self.subTest(name):
                self.refused(self.server.publish(destination, b"x"), 400)

    def test_an_unknown_group_is_not_found(self):
        self.assertIn("no-such-group", self.refused(self.server.publish("no-such-group", b"x"), 404))

    def test_bad_options_name_the_field(self):
        rows = [
            ("Upstash-Delay", "soon"), ("Upstash-Delay", "-5s"), ("Upstash-Delay", "5x"), ("Upstash-Delay", ""),
            ("Upstash-Not-Before", "tomorrow"), ("Upstash-Retries", "many"), ("Upstash-Retries", "-1"),
            ("Upstash-Retry-Delay", "retried +"), ("Upstash-Retry-Delay", "system(1)"), ("Upstash-Retry-Delay", "pow(1)"),
            ("Upstash-Timeout", "1 fortnight"), ("Upstash-Method", "BREW"), ("Upstash-Method", "TRACE"),
            ("Upstash-Forward-Upstash-Signature", "x"), ("Upstash-Forward-Hikyaku-Fence", "1"),
            ("Upstash-Redact-Fields", "everything"),
        ]
        path, url = self.hook()
        for name, value in rows:
            with self.subTest(f"{name}: {value}"):
                text = self.refused(self.server.publish(url, b"x", **{name: value}), 400)
                self.assertIn(name.removeprefix("Upstash-").split("-")[0].lower(), text.lower())
        self.assertEqual(self.receiver.at(path), [])

    def test_headers_of_a_connection_are_not_forwarded(self):
        path, url = self.hook()
        headers = {"Upstash-Forward-" + name: value for name, value in (
            ("Host", "evil"), ("Content-Length", "3"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
            ("Keep-Alive", "x"), ("Expect", "100-continue"), ("TE", "trailers"), ("X-Mine", "1"))}
        self.server.publish_id(url, b"hello", **headers)
        got = self.receiver.wait(path)[0]
        self.assertEqual((got.body, got.headers["X-Mine"]), (b"hello", "1"))
        self.assertNotEqual(got.headers["Host"], "evil")
        for name in ("Transfer-Encoding", "Expect", "TE", "Keep-Alive"):
            self.assertIsNone(got.headers[name], name)


class Deduplication(Case):
    def test_the_same_id_is_accepted_once(self):
        path, url = self.hook()
        first = self.server.publish(url, b"one", Upstash_Deduplication_Id="order-1")
        self.assertEqual(first.status, 201)
        self.assertNotIn("deduplicated", first.json())
        self.receiver.wait(path)
        again = self.server.publish(url, b"two", Upstash_Deduplication_Id="order-1")
        self.assertEqual(again.status, 202)
        self.assertEqual(again.json(), {"messageId": first.json()["messageId"], "url": url, "deduplicated": True})
        other = self.server.publish(url, b"three", Upstash_Deduplication_Id="order-2")
        self.assertEqual(other.status, 201)
        bodies = [r.body for r in self.receiver.wait(path, 2)]
        self.assertEqual(bodies, [b"one", b"three"])

    def test_the_id_counts_per_destination(self):
        _, url = self.hook()
        first = self.server.publish(url + "/a", b"x", Upstash_Deduplication_Id="same")
        second = self.server.publish(url + "/b", b"x", Upstash_Deduplication_Id="same")
        self.assertEqual((first.status, second.status), (201, 201))

    def test_by_content_compares_destination_body_type_and_forwarded_headers(self):
        _, url = self.hook()

        def publish(destination=url, body=b"same", **more):
            return self.server.publish(destination, body, Upstash_Content_Based_Deduplication="true", **more).status

        self.assertEqual(publish(), 201)
        self.assertEqual(publish(), 202)
        self.assertEqual(publish(body=b"other"), 201)
        self.assertEqual(publish(destination=url + "/b"), 201)
        self.assertEqual(publish(Content_Type="text/plain"), 201)
        self.assertEqual(publish(Upstash_Forward_X="1"), 201)
        self.assertEqual(publish(Upstash_Forward_X="1"), 202)

    def test_a_canceled_message_still_blocks(self):
        _, url = self.hook()
        message_id = self.server.publish_id(url, b"x", Upstash_Delay="1h", Upstash_Deduplication_Id="gone")
        self.assertEqual(self.server.request("DELETE", f"/v2/messages/{message_id}").status, 200)
        self.assertEqual(self.server.publish(url, b"x", Upstash_Deduplication_Id="gone").status, 202)


class Messages(Case):
    def test_a_message_is_shown_as_it_was_published(self):
        _, url = self.hook()
        message_id = self.server.publish_id(
            url, "grüße", Upstash_Delay="1h", Upstash_Retries=5, Upstash_Retry_Delay="1000 * (1 + retried)",
            Upstash_Label="a, b", Upstash_Forward_X_Api_Key="k", Content_Type="text/plain")
        shown = self.server.get(f"/v2/messages/{message_id}").json()
        self.assertEqual(shown["messageId"], message_id)
        self.assertEqual(shown["url"], url)
        self.assertEqual(shown["method"], "POST")
        self.assertEqual(shown["header"], {"Content-Type": ["text/plain"], "X-Api-Key": ["k"]})
        self.assertEqual(shown["body"], "grüße")
        self.assertEqual(shown["maxRetries"], 5)
        self.assertEqual(shown["retryDelayExpression"], "1000 * (1 + retried)")
        self.assertEqual((shown["label"], shown["labels"]), ("a", ["a", "b"]))
        self.assertEqual((shown["callerIP"], shown["callerIp"]), ("127.0.0.1", "127.0.0.1"))
        self.assertAlmostEqual(shown["createdAt"] / 1000, time.time(), delta=60)

    def test_canceling_before_the_first_attempt(self):
        message_id, url, seconds = self.server.publish_canceled(lambda n: self.receiver.url(f"{self.path()}/{n}"))
        self.server.wait_states(message_id, "CREATED", "CANCEL_REQUESTED", "CANCELED")
        self.assertEqual(self.server.wait_job(message_id, "CANCELED")["status"], "CANCELED")
        self.refused(self.server.request("DELETE", f"/v2/messages/{message_id}"), 404)
        later = self.server.publish_id(self.receiver.url(self.path() + "/later"), b"x", Upstash_Delay=f"{seconds + 1}s")
        self.server.wait_job(later, "SUCCEEDED", timeout=120)
        self.assertEqual(self.receiver.at(f"{self.path()}/{seconds}"), [], url)

    def test_canceling_between_attempts_ends_the_retries(self):
        path, url = self.hook(500)
        message_id = self.server.publish_id(url, b"x", Upstash_Retry_Delay="60000")
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "ERROR", "RETRY")
        self.assertEqual(self.server.request("DELETE", f"/v2/messages/{message_id}").status, 200)
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "ERROR", "RETRY", "CANCEL_REQUESTED", "CANCELED")
        self.assertEqual(len(self.receiver.at(path)), 1)

    def test_canceling_a_running_attempt_lets_it_end(self):
        canceled = threading.Event()
        path, url = self.hook(Answer(status=500, after=canceled))
        message_id = self.server.publish_id(url, b"x", Upstash_Retry_Delay="100")
        self.receiver.wait(path)
        self.assertEqual(self.server.request("DELETE", f"/v2/messages/{message_id}").status, 200)
        canceled.set()
        self.server.wait_job(message_id, "CANCELED")
        self.assertEqual(len(self.receiver.at(path)), 1)

    def test_unknown_ids_are_not_found(self):
        for method in ("GET", "DELETE"):
            for message_id in ("msg_0000000000000000000000", "msg_x", "nonsense"):
                with self.subTest(f"{method} {message_id}"):
                    self.refused(self.server.request(method, f"/v2/messages/{message_id}"), 404)

    def test_redacted_fields_are_shown_as_digests_and_delivered_as_they_were(self):
        path, url = self.hook()
        message_id = self.server.publish_id(url, b"secret body", **{
            "Upstash-Redact-Fields": "body,header[X-Key]", "Upstash-Forward-X-Key": "secret header",
            "Upstash-Forward-X-Other": "plain"})
        got = self.receiver.wait(path)[0]
        self.assertEqual((got.body, got.headers["X-Key"]), (b"secret body", "secret header"))
        shown = self.server.get(f"/v2/messages/{message_id}")
        self.assertNotIn(b"secret", shown.body)
        self.assertRegex(shown.json()["body"], "^REDACTED:[0-9a-f]{64}$")
        self.assertEqual(shown.json()["header"]["X-Other"], ["plain"])
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        log = self.server.get(f"/v2/events?messageId={message_id}").body
        self.assertNotIn(base64.b64encode(b"secret body"), log)
        self.assertNotIn(b"secret header", log)


class Jobs(Case):
    def test_a_delivered_job_tells_its_whole_story(self):
        path, url = self.hook(503, Answer(body=b"done", delay=0.2))
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        message_id = self.server.publish_id(url, b"x", Upstash_Retry_Delay="100", Upstash_Label="told",
                                            traceparent=f"00-{trace}-00f067aa0ba902b7-01")
        job = self.server.wait_job(message_id, "SUCCEEDED")
        self.assertEqual((job["id"], job["url"], job["method"], job["labels"]), (message_id, url, "POST", ["told"]))
        self.assertEqual(job["trace"], {"trace_id": trace, "parent_span_id": "00f067aa0ba902b7"})
        self.assertLessEqual(job["created_at"], job["finished_at"])
        self.assertNotIn("dlq_id", job)
        self.assertEqual(job["holds"], [])

        first, second = job["attempts"]
        self.assertEqual((first["number"], first["status_code"]), (1, 503))
        self.assertTrue(first["error"])
        self.assertEqual((second["number"], second["status_code"]), (2, 200))
        self.assertNotIn("error", second)
        self.assert_not_early(second["latency_ms"] / 1000, 0.2)
        self.assertGreaterEqual(second["started_at"], first["ended_at"])
        sent = [SPAN.match(r.headers["traceparent"]) for r in self.receiver.at(path)]
        self.assertEqual([s[1] for s in sent], [trace, trace])
        self.assertEqual([s[2] for s in sent], [first["span_id"], second["span_id"]])

    def test_a_failed_job_names_its_dead_letter(self):
        _, url = self.hook(500)
        message_id = self.server.publish_id(url, b"x", Upstash_Retries=0)
        job = self.server.wait_job(message_id, "FAILED")
        self.assertEqual(job["dlq_id"], self.server.wait_dead_letter(message_id)["dlqId"])

    def test_states_before_the_end(self):
        _, url = self.hook()
        waiting = self.server.publish_id(url, b"x", Upstash_Delay="1h")
        job = self.server.job(waiting)
        self.assertEqual((job["status"], job["attempts"]), ("PENDING", []))
        self.assertEqual([hold["gate"] for hold in job["holds"]], ["delay"])
        self.assertEqual(job["holds"][0]["opens_at"], job["due_at"])
        path = self.path() + "/hang"
        self.receiver.script(path, Answer(delay=2))
        running = self.server.publish_id(self.receiver.url(path), b"x")
        self.receiver.wait(path)
        job = self.server.wait_job(running, "RUNNING")
        self.assertEqual([a["number"] for a in job["attempts"]], [1])
        self.server.wait_job(running, "SUCCEEDED")

    def test_an_unknown_job_is_a_problem(self):
        answer = self.server.get("/api/v1/jobs/msg_0000000000000000000000")
        self.assertEqual(answer.status, 404)
        self.assertIn("application/problem+json", answer.headers["Content-Type"])
        self.assertEqual(answer.json()["status"], 404)


class Events(Case):
    def test_the_log_is_filtered_paged_and_ordered(self):
        _, url = self.hook()
        ids = [self.server.publish_id(url, b"%d" % i, Upstash_Label="mine") for i in range(5)]
        for message_id in ids:
            self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        query = "/v2/events?label=mine&count=4"
        events, cursor, pages = [], None, 0
        while True:
            page = self.server.get(query + (f"&cursor={cursor}" if cursor else "")).json()
            self.assertLessEqual(len(page["events"]), 4)
            events += page["events"]
            pages += 1
            cursor = page.get("cursor")
            if cursor is None:
                break
            self.assertLess(pages, 100)
        self.assertEqual(len(events), 15)
        self.assertEqual({e["messageId"] for e in events}, set(ids))
        times = [e["time"] for e in events]
        self.assertEqual(times, sorted(times, reverse=True))
        delivered = self.server.get("/v2/events?label=mine&state=DELIVERED").json()["events"]
        self.assertEqual(len(delivered), 5)
        self.assertEqual(self.server.get("/v2/events?label=nobody").json()["events"], [])
        event = delivered[0]
        self.assertEqual((event["url"], event["method"], event["maxRetries"]), (url, "POST", 3))
        self.assertIn(base64.b64decode(event["body"]), [b"%d" % i for i in range(5)])

    def test_an_unknown_parameter_is_refused(self):
        self.refused(self.server.get("/v2/events?colour=red"), 400)

    def test_logs_is_the_newer_name(self):
        page = self.server.get("/v2/logs").json()
        self.assertEqual(page["logs"], page["events"])


if __name__ == "__main__":
    unittest.main()
