"""The HTTP surface itself: framing, bounds, methods, health, metrics."""
import json
import re
import socket
import unittest

from harness import DEV_TOKEN, Case, raw_exchange

AUTH = f"Authorization: Bearer {DEV_TOKEN}\r\n".encode()


class Framing(Case):
    def publish_head(self, *lines, path=None):
        target = f"/v2/publish/{self.receiver.url(path or self.path())}"
        return (f"POST {target} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH + b"".join(line + b"\r\n" for line in lines) + b"\r\n")

    def test_chunked_bodies_are_accepted(self):
        data = self.publish_head(b"Transfer-Encoding: chunked", b"Connection: close") + b"5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\n\r\n"
        self.assertIn(b" 201 ", raw_exchange(self.server.port, data).split(b"\r\n")[0])
        self.assertEqual(self.receiver.wait(self.path())[0].body, b"hello world")

    def test_expect_100_continue_is_answered(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
            s.sendall(self.publish_head(b"Content-Length: 5", b"Expect: 100-continue", b"Connection: close"))
            self.assertIn(b"100", s.recv(4096).split(b"\r\n")[0])
            s.sendall(b"hello")
            self.assertIn(b" 201 ", s.recv(4096).split(b"\r\n")[0])
        self.assertEqual(self.receiver.wait(self.path())[0].body, b"hello")

    def test_pipelined_requests_are_answered_in_order(self):
        one = self.publish_head(b"Content-Length: 1") + b"a"
        two = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        three = b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + AUTH + b"\r\n"
        answer = raw_exchange(self.server.port, one + two + three)
        statuses = [int(s) for s in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]
        self.assertEqual(statuses, [201, 200, 404])

    def test_requests_that_come_byte_by_byte_are_understood(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in self.publish_head(b"Content-Length: 3", b"Connection: close") + b"abc":
                s.sendall(bytes([byte]))
            self.assertIn(b" 201 ", s.recv(4096).split(b"\r\n")[0])
        self.assertEqual(self.receiver.wait(self.path())[0].body, b"abc")

    def test_ambiguous_framing_is_refused_and_the_connection_closed(self):
        follow_up = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        rows = [
            ("both lengths", [b"Content-Length: 5", b"Transfer-Encoding: chunked"], b"0\r\n\r\n"),
            ("both, other order", [b"Transfer-Encoding: chunked", b"Content-Length: 5"], b"0\r\n\r\n"),
            ("two equal lengths", [b"Content-Length: 5", b"Content-Length: 5"], b"hello"),
            ("length list", [b"Content-Length: 5, 5"], b"hello"),
            ("plus sign", [b"Content-Length: +5"], b"hello"),
            ("hexadecimal", [b"Content-Length: 0x5"], b"hello"),
            ("negative", [b"Content-Length: -1"], b""),
            ("overflow", [b"Content-Length: 99999999999999999999999"], b""),
            ("xchunked", [b"Transfer-Encoding: xchunked"], b"0\r\n\r\n"),
            ("chunked, gzip", [b"Transfer-Encoding: chunked, gzip"], b"0\r\n\r\n"),
            ("gzip, chunked", [b"Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n"),
            ("identity with length", [b"Transfer-Encoding: identity", b"Content-Length: 5"], b"hello"),
            ("chunked twice", [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"], b"0\r\n\r\n"),
            ("folded line", [b"X-A: 1", b" 2", b"Content-Length: 5"], b"hello"),
            ("folded encoding", [b"Transfer-Encoding:", b" chunked"], b"0\r\n\r\n"),
            ("space before colon", [b"Content-Length : 5"], b"hello"),
            ("second host", [b"Host: y", b"Content-Length: 5"], b"hello"),
            ("NUL in a value", [b"X-A: \x00", b"Content-Length: 5"], b"hello"),
            ("bare CR in a value", [b"X-A: 1\rX-B: 2", b"Content-Length: 5"], b"hello"),
            ("chunk size with space", [b"Transfer-Encoding: chunked"], b"5 \r\nhello\r\n0\r\n\r\n"),
            ("chunk size too long", [b"Transfer-Encoding: chunked"], b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
            ("chunk without its end", [b"Transfer-Encoding: chunked"], b"5\r\nhelloXX0\r\n\r\n"),
        ]
        for name, lines, body in rows:
            with self.subTest(name):
                answer = raw_exchange(self.server.port, self.publish_head(*lines) + body + follow_up)
                statuses = [int(s) for s in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]
                self.assertLessEqual(len(statuses), 1, f"the bytes behind it were taken for a request: {answer!r}")
                for status in statuses:
                    self.assertIn(status, (400, 413, 501), answer)
        self.assertEqual(self.receiver.at(self.path()), [])

    def test_malformed_request_lines_are_refused(self):
        rows = [
            ("no host", b"GET /healthz HTTP/1.1\r\n\r\n"), ("HTTP/1.0 chunked", b"POST /healthz HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("bare LF", b"GET /healthz HTTP/1.1\nHost: x\n\n"), ("no version", b"GET /healthz\r\n\r\n"),
            ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ("control byte in target", b"GET /heal\x01thz HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        ]
        for name, data in rows:
            with self.subTest(name):
                answer = raw_exchange(self.server.port, data, half_close=True)
                self.assertNotRegex(answer, rb"HTTP/1\.1 2\d\d")
        self.assertEqual(self.server.request("GET", "/healthz").status, 200)


class Bounds(Case):
    flags = ("--body-bytes-max", "100000")

    def test_an_oversized_body_is_413(self):
        answer = self.server.publish(self.receiver.url("/big"), b"x" * 100_001)
        self.refused(answer, 413)
        self.assertEqual(self.server.publish(self.receiver.url("/big"), b"x" * 100_000).status, 201)
        self.assertEqual(len(self.receiver.wait("/big")[0].body), 100_000)

    def test_an_oversized_chunked_body_is_413(self):
        data = (f"POST /v2/publish/{self.receiver.url('/chunky')} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH
                + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1000\r\n" + b"x" * 0x1000 + b"\r\n") * 40 + b"0\r\n\r\n")
        answer = raw_exchange(self.server.port, data)
        if answer:  # The connection may be broken before the answer can be read.
            self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        self.assertEqual(self.receiver.at("/chunky"), [])

    def test_too_many_or_too_long_headers_are_431(self):
        rows = [("fields", b"".join(b"X-%d: 1\r\n" % i for i in range(200))), ("line", b"X-A: " + b"a" * 20_000 + b"\r\n"),
                ("block", b"".join(b"X-%d: " % i + b"a" * 4000 + b"\r\n" for i in range(50)))]
        for name, lines in rows:
            with self.subTest(name):
                answer = raw_exchange(self.server.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n")
                self.assertRegex(answer.split(b"\r\n")[0], rb"^$| 431 | 400 ")

    def test_too_long_a_target_is_refused(self):
        answer = raw_exchange(self.server.port, b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertRegex(answer.split(b"\r\n")[0], rb"^$| 414 | 431 | 400 ")


class Routes(Case):
    def test_unknown_paths_are_404_with_the_error_body(self):
        for target in ("/", "/v2", "/v2/nothing", "/v2/workflows/runs/x", "/v3/publish/x"):
            with self.subTest(target):
                answer = self.server.get(target)
                self.assertEqual(answer.status, 404)
                json.loads(answer.body)

    def test_a_wrong_method_is_405_and_says_which_are_right(self):
        answer = self.server.request("PUT", "/v2/dlq")
        self.refused(answer, 405)
        self.assertIn("GET", answer.headers["Allow"])

    def test_head_has_the_length_of_the_get_and_no_body(self):
        for target in ("/v2/keys", "/healthz", "/v2/dlq"):
            with self.subTest(target):
                whole, head = self.server.get(target), self.server.request("HEAD", target)
                self.assertEqual((head.status, head.body), (200, b""))
                self.assertEqual(head.headers["Content-Length"], str(len(whole.body)))

    def test_segments_match_in_any_case_and_with_a_trailing_slash(self):
        self.assertEqual(self.server.get("/v2/DLQ").status, 200)
        self.assertEqual(self.server.get("/v2/dlq/").status, 200)

    def test_malformed_json_is_400(self):
        for body in ("{", "[]", '{"dlqIds": {}}', "nonsense", "[" * 100_000):
            with self.subTest(body[:20]):
                self.refused(self.server.request("DELETE", "/v2/dlq", body, {"Content-Type": "application/json"}), 400)

    def test_malformed_queries_are_400(self):
        for query in ("cursor=%zz", "count=0", "count=-1", "fromDate=yesterday", "order=sideways"):
            with self.subTest(query):
                self.refused(self.server.get("/v2/dlq?" + query), 400)

    def test_one_missing_slash_of_a_scheme_is_repaired(self):
        path, url = self.hook()
        self.assertEqual(self.server.publish(url.replace("http://", "http:/"), b"x").json()["url"], url)
        self.receiver.wait(path)


class Operations(Case):
    def test_health_readiness_and_metrics(self):
        path, url = self.hook()
        self.assertEqual(self.server.request("GET", "/healthz", token=None).status, 200)
        self.assertEqual(self.server.request("GET", "/readyz", token=None).status, 200)
        message_id = self.server.publish_id(url, b"x")
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        answer = self.server.request("GET", "/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        metrics = self.server.metrics()
        families = {name.split("{")[0] for name in metrics}
        for family in ("hikyaku_http_requests_total", "hikyaku_messages_published_total", "hikyaku_delivery_attempts_total"):
            self.assertIn(family, families)
        self.assertGreaterEqual(sum(v for k, v in metrics.items() if k.startswith("hikyaku_messages_published_total")), 1)

    def test_the_conservation_gap_is_zero(self):
        _, url = self.hook(500)
        dead = self.server.publish_id(url, b"x", Upstash_Retries=0)
        self.server.wait_dead_letter(dead)
        gaps = {k: v for k, v in self.server.metrics().items() if "conservation" in k}
        self.assertTrue(gaps)
        self.assertEqual(set(gaps.values()), {0.0})

    def test_many_idle_connections_do_not_keep_others_out(self):
        held = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(300)]
        try:
            self.assertEqual(self.server.request("GET", "/healthz").status, 200)
        finally:
            for s in held:
                s.close()


if __name__ == "__main__":
    unittest.main()
