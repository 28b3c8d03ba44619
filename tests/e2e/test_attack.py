"""Hostile clients against the real binary: bytes that two parsers could read differently, floods, slowness in every phase,
and what a publisher might smuggle into the requests that are sent for it. The strict layer has a larger table of its own
(tests/unit/edge/request_vectors.h); here is what must hold with everything behind it."""
import contextlib
import json
import re
import socket
import threading
import time
import unittest

from harness import DEV_TOKEN, Case, Receiver, Server, raw_exchange, wait_for

AUTH = b"Authorization: Bearer " + DEV_TOKEN.encode() + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked"


def statuses(answer):
    """Of all answers; a body has no line end behind it."""
    return [int(one) for one in re.findall(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n", answer)]


def fields(*lines):
    """Behind the first lines of a good publish."""
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"


# (name, fields of a publish, body). Each is refused, and what stands behind it is never read as a request.
FRAMING = [
    ("both lengths", fields(b"Content-Length: 5", CHUNKED), b"0\r\n\r\n"),
    ("both lengths, other order", fields(CHUNKED, b"Content-Length: 5"), b"0\r\n\r\n"),
    ("both lengths, the other is zero", fields(b"Content-Length: 0", CHUNKED), b"0\r\n\r\n"),
    ("two lengths", fields(b"Content-Length: 5", b"Content-Length: 0"), b"hello"),
    ("two equal lengths", fields(b"Content-Length: 5", b"Content-Length: 5"), b"hello"),
    ("lengths in a list", fields(b"Content-Length: 5, 5"), b"hello"),
    *((f"length {value!r}", fields(b"Content-Length: " + value), b"hello") for value in (
        b"+5", b"-5", b"-0", b"0x5", b"5.0", b"5e0", b"5 5", b"5;", b'"5"', b"", b"five", b"18446744073709551621", b"\xef\xbc\x95")),
    *((f"coding {value!r}", fields(b"Transfer-Encoding: " + value), b"0\r\n\r\n") for value in (
        b"xchunked", b"chunkedx", b"chunked, identity", b"identity, chunked", b"chunked, chunked", b"chunked, gzip", b"gzip, chunked",
        b"gzip", b"identity", b"chunked;q=1", b'"chunked"', b"chunked,", b",chunked", b"chunked\x0b", b"chunked\x0c", b"chunked\x00",
        b"\x0bchunked", b"chun ked", b"cow", b"", b"chunked\xc2\xa0")),
    ("two codings", fields(CHUNKED, CHUNKED), b"0\r\n\r\n"),
    ("two codings, one hidden", fields(CHUNKED, b"Transfer-Encoding: cow"), b"0\r\n\r\n"),
    ("space before the colon of a coding", fields(b"Transfer-Encoding : chunked"), b"0\r\n\r\n"),
    ("tab before the colon of a coding", fields(b"Transfer-Encoding\t: chunked"), b"0\r\n\r\n"),
    ("space before a coding", fields(b" Transfer-Encoding: chunked"), b"0\r\n\r\n"),
    ("line feed before a coding", fields(b"X: x\nTransfer-Encoding: chunked"), b"0\r\n\r\n"),
    ("carriage return before a coding", fields(b"X: x\rTransfer-Encoding: chunked"), b"0\r\n\r\n"),
    ("carriage return behind a name", fields(b"Transfer-Encoding\r: chunked"), b"0\r\n\r\n"),
    ("NUL in a name", fields(b"Transfer-Encoding\0: chunked"), b"0\r\n\r\n"),
    ("folded coding", fields(b"Transfer-Encoding:", b" chunked"), b"0\r\n\r\n"),
    ("folded length", fields(b"Content-Length:", b"\t5"), b"hello"),
    ("folded value", fields(b"X: a", b" b", b"Content-Length: 5"), b"hello"),
    ("space before the colon of a length", fields(b"Content-Length : 5"), b"hello"),
    ("no colon", fields(b"Content-Length 5"), b"hello"),
    ("no name", fields(b": x", b"Content-Length: 5"), b"hello"),
    ("second host", fields(b"Host: other", b"Content-Length: 5"), b"hello"),
    ("second host, the same", fields(b"Host: x", b"Content-Length: 5"), b"hello"),
    ("bare LF ends the head", b"Content-Length: 5\n\n", b"hello"),
    ("bare CR ends the head", b"Content-Length: 5\r\r", b"hello\r\n\r\n"),
    *((f"chunks {body[:24]!r}", fields(CHUNKED), body) for body in (
        b"5 \r\nhello\r\n0\r\n\r\n", b" 5\r\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n", b"5\nhello\n0\n\n", b"5\rhello\r\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n", b"5\r\nhelloXX0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n", b"6\r\nhello\r\n0\r\n\r\n", b"\r\n0\r\n\r\n", b"g\r\n\r\n0\r\n\r\n", b"10000000000000005\r\nhello\r\n0\r\n\r\n",
        b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"5;" + b"x" * 5000 + b"\r\nhello\r\n0\r\n\r\n", b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n", b"0\r\nContent-Length: 5\r\n\r\n", b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"0\r\nX : x\r\n\r\n", b"0\r\n X: x\r\n\r\n", b"0\r\nX: x\n\r\n")),
    ("another expectation", fields(b"Expect: 200-ok", b"Content-Length: 5"), b"hello"),
]

# (name, whole head). The request is refused whatever follows.
HEADS = [
    ("no host", b"GET /v2/dlq HTTP/1.1\r\n" + AUTH + b"\r\n"),
    *((f"host {value!r}", b"GET /v2/dlq HTTP/1.1\r\nHost: " + value + b"\r\n" + AUTH + b"\r\n") for value in (
        b"", b"a, b", b"a b", b"a/b", b"a@b", b"a:b", b"a:", b":80", b"a:65536", b"a:80:80", b"[::1", b"::1", b"a\\b", b"a?b", b"a#b",
        b"a\x00b", b"%61", b"\xc3\xbc")),
    *((f"line {line!r}", line + b"\r\nHost: x\r\n" + AUTH + b"\r\n") for line in (
        b"GET http://other/v2/dlq HTTP/1.1", b"GET http://x@other/v2/dlq HTTP/1.1", b"GET http://other@x/v2/dlq HTTP/1.1",
        b"GET http://x:81/v2/dlq HTTP/1.1", b"GET http://x.other/v2/dlq HTTP/1.1", b"GET ftp://x/v2/dlq HTTP/1.1",
        b"GET //x/v2/dlq#a HTTP/1.1", b"GET x/v2/dlq HTTP/1.1", b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1", b"CONNECT x:80 HTTP/1.1",
        b"TRACE /v2/dlq HTTP/1.1", b"GET /v2/dlq HTTP/1.1 ", b"GET  /v2/dlq HTTP/1.1", b"GET\t/v2/dlq HTTP/1.1", b" GET /v2/dlq HTTP/1.1",
        b"GET /v2/dlq HTTP/1.10", b"GET /v2/dlq HTTP/01.1", b"GET /v2/dlq HTTP/2.0", b"GET /v2/dlq http/1.1", b"GET /v2/dlq",
        b"GET /v2/d\x00lq HTTP/1.1", b"GET /v2/dlq\x0b HTTP/1.1", b"GET /v2/\xc3\xbc HTTP/1.1", b"GET /v2/a b HTTP/1.1",
        b"GET /v2/dlq\rX: x HTTP/1.1", b"G\x00ET /v2/dlq HTTP/1.1", b"GET/v2/dlq HTTP/1.1")),
    ("empty line in front", b"\r\nGET /v2/dlq HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n"),
    ("folded first field", b"GET /v2/dlq HTTP/1.1\r\n Host: x\r\n" + AUTH + b"\r\n"),
    ("chunks in 1.0", b"POST /v2/publish/http://127.0.0.1:1/ HTTP/1.0\r\nHost: x\r\n" + AUTH + CHUNKED + b"\r\n\r\n0\r\n\r\n"),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n"),
    ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("PROXY protocol", b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET /v2/dlq HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n"),
]


class Smuggling(Case):
    def setUp(self):
        self.follow_up = f"POST /v2/publish/{self.receiver.url('/smuggled')} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH + b"Content-Length: 1\r\n\r\nx"
        self.accepted = self.server.metrics()["hikyaku_messages_accepted_total"]

    def tearDown(self):
        self.assertEqual(self.receiver.at("/smuggled"), [])

    def refused_alone(self, data):
        """One answer at most, a refusal, and the end of the connection; the request behind it is not seen."""
        answer = raw_exchange(self.server.port, data + self.follow_up)
        found = statuses(answer)
        self.assertEqual(len(found), 1, answer)
        self.assertTrue(400 <= found[0] < 600 and found[0] not in (401, 404, 405), answer)
        self.assertIn(b"\r\nConnection: close\r\n", answer)

    def test_framing_that_two_parsers_could_read_differently_ends_the_connection(self):
        head = f"POST /v2/publish/{self.receiver.url('/first')} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH
        for name, lines, body in FRAMING:
            with self.subTest(name):
                self.refused_alone(head + lines + body)
        self.assertEqual(self.receiver.at("/first"), [])
        self.assertEqual(self.server.metrics()["hikyaku_messages_accepted_total"], self.accepted)

    def test_heads_that_are_not_well_formed_end_the_connection(self):
        for name, head in HEADS:
            with self.subTest(name):
                self.refused_alone(head)
        self.assertEqual(self.server.metrics()["hikyaku_messages_accepted_total"], self.accepted)

    def test_a_body_is_never_read_as_a_request(self):
        """Wherever a client may be told no before its body was read."""
        inner = self.follow_up
        rows = [
            ("unknown path", b"POST /nothing HTTP/1.1\r\nHost: x\r\n" + AUTH, 404),
            ("wrong method", b"PUT /v2/dlq HTTP/1.1\r\nHost: x\r\n" + AUTH, 405),
            ("no token", b"POST /v2/publish/http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n", 401),
            ("a get", b"GET /healthz HTTP/1.1\r\nHost: x\r\n", 200),
            ("wrong destination", b"POST /v2/publish/nowhere/ HTTP/1.1\r\nHost: x\r\n" + AUTH, 400),
        ]
        for name, head, status in rows:
            for framed in (b"Content-Length: %d\r\n\r\n" % len(inner) + inner, CHUNKED + b"\r\n\r\n%x\r\n" % len(inner) + inner + b"\r\n0\r\n\r\n"):
                with self.subTest(name, framed=framed[:20]):
                    answer = raw_exchange(self.server.port, head + framed + b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    self.assertIn(statuses(answer), ([status, 200], [status]), answer)
        self.assertEqual(self.server.metrics()["hikyaku_messages_accepted_total"], self.accepted)

    def test_what_is_in_a_trailer_is_not_obeyed(self):
        path = self.path()
        head = f"POST /v2/publish/{self.receiver.url(path)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode()
        answer = raw_exchange(self.server.port, head + CHUNKED + b"\r\n\r\n1\r\nx\r\n0\r\n" + AUTH + b"\r\n")
        self.assertEqual(statuses(answer), [401], answer)
        answer = raw_exchange(self.server.port, head + AUTH + CHUNKED + b"\r\n\r\n1\r\nx\r\n0\r\nUpstash-Forward-X-Late: 1\r\n\r\n")
        self.assertEqual(statuses(answer), [201], answer)
        self.assertIsNone(self.receiver.wait(path)[0].headers.get("X-Late"))

    def test_the_path_is_matched_as_it_is_written(self):
        """No segment is decoded or resolved into another route: what asks for a token cannot be reached around it."""
        for target in ("/healthz/../v2/dlq", "/v2/../v2/dlq", "/./v2/dlq", "/%76%32/dlq", "/v2%2fdlq", "//v2/dlq", "/healthz/..%2fv2/dlq",
                       "/v2/dlq;x", "/healthz;/../v2/dlq", "/v2/dlq%00", "/metrics/../v2/keys", "/api/v1/../../v2/keys",
                       "/v2/dlq/%2e%2e/keys", "/v2\\dlq"):
            with self.subTest(target):
                self.assertIn(self.server.request("GET", target, token=None).status, (401, 404))

    def test_fields_of_proxies_change_nothing(self):
        for name, value in (("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-For", ",,,"), ("Forwarded", "for=127.0.0.1"), ("X-Real-IP", "::1"),
                            ("X-Original-URL", "/healthz"), ("X-Rewrite-URL", "/healthz"), ("X-HTTP-Method-Override", "GET"),
                            ("X-Forwarded-Host", "localhost")):
            with self.subTest(name):
                self.assertEqual(self.server.request("GET", "/v2/dlq", token=None, headers={name: value}).status, 401)


class Floods(Case):
    def still_serves(self):
        self.assertEqual(self.server.request("GET", "/healthz", token=None).status, 200)

    # (name, what comes first, what comes behind it without end)
    ENDLESS = [
        ("fields", b"GET / HTTP/1.1\r\nHost: x\r\n", b"".join(b"X-%d: 1\r\n" % i for i in range(1000))),
        ("equal fields", b"GET / HTTP/1.1\r\nHost: x\r\n", b"X: 1\r\n" * 5000),
        ("one line", b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"x" * 65536),
        ("target", b"GET /", b"x" * 65536),
        ("method", b"", b"X" * 65536),
        ("empty lines", b"", b"\r\n" * 10000),
        ("trailers", b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: 1\r\n" * 5000),
        ("chunk extension", b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536),
        ("chunk size", b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"0" * 65536),
    ]

    def test_endless_heads_are_refused_and_cut_off(self):
        """The answer comes first; for a moment the rest is read and thrown away, so that it can arrive."""
        for name, first, piece in self.ENDLESS:
            with self.subTest(name), socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
                s.sendall(first + piece * 4)  # more than the largest head
                with contextlib.suppress(ConnectionError):
                    s.sendall(piece)
                    self.assertIn(statuses(s.recv(4096))[0], (400, 414, 431, 501))

                def cut_off(s=s, piece=piece):
                    try:
                        s.sendall(piece)
                        return False
                    except ConnectionError:
                        return True

                wait_for(cut_off, "the connection to end", timeout=60)
        self.still_serves()

    def test_one_byte_chunks_have_their_end(self):
        """Twelve megabytes on the wire for two of body: bounded by the size of the body, and answered."""
        body = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
        path, url = self.hook()
        head = f"POST /v2/publish/{url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n".encode() + AUTH + b"\r\n"
        self.assertEqual(statuses(raw_exchange(self.server.port, head + body)), [201])
        self.assertEqual(self.receiver.wait(path)[0].body, b"x" * 20_000)

    def test_a_long_pipeline_is_answered_in_order_up_to_the_bound_of_a_connection(self):
        paths = ["/healthz", "/nothing", "/readyz"]
        data = b"".join(f"GET {paths[i % 3]} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH + b"\r\n" for i in range(3000))
        found = statuses(raw_exchange(self.server.port, data))
        self.assertEqual(found, [(200, 404, 200)[i % 3] for i in range(len(found))])
        self.assertEqual(len(found), 1000)  # then the connection ends
        self.still_serves()

    def test_a_pipeline_that_is_not_read_stops_being_served(self):
        """Requests of a client that takes no answers are not read any further: nothing piles up."""
        request = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
        before = self.requests()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(3)
            with contextlib.suppress(OSError):
                for _ in range(20_000):
                    s.sendall(request)
            self.still_serves()
            self.assertLess(self.requests() - before, 1100)

    def requests(self):
        return sum(value for name, value in self.server.metrics().items() if name.startswith("hikyaku_http_requests_total"))

    def test_connections_that_come_and_go_leave_nothing(self):
        for _ in range(500):
            with socket.create_connection(("127.0.0.1", self.server.port)) as s:
                s.send(b"GET /heal")
        wait_for(lambda: self.server.metrics()["hikyaku_connections"] <= 2, "the connections to be gone")


class Slow(unittest.TestCase):
    """Clients that are slow in each phase, all at once, on a server with its ordinary deadlines (10 s for a head, 1 KiB/s for
    a body after 5 s, 15 s for an answer that is not taken)."""

    def test_every_phase_has_a_deadline_and_nobody_else_notices(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        server = Server()
        self.addCleanup(server.close)
        server.start()
        post = f"POST /v2/publish/{receiver.url('/slow')} HTTP/1.1\r\nHost: x\r\n".encode() + AUTH
        rows = {
            "request line": (b"", b"G" * 30),
            "between lines": (b"GET / HTTP/1.1\r\n", b""),
            "fields": (b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"x" * 300),
            "last line of the head": (b"GET / HTTP/1.1\r\nHost: x\r\n\r", b""),
            "body": (post + b"Content-Length: 1000\r\n\r\n", b"x" * 300),
            "body that never begins": (post + b"Content-Length: 1000\r\n\r\n", b""),
            "last byte of a body": (post + b"Content-Length: 10\r\n\r\n" + b"x" * 9, b""),
            "body that was announced": (post + b"Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n", b""),
            "chunk size": (post + CHUNKED + b"\r\n\r\n", b"0" * 60),
            "chunk": (post + CHUNKED + b"\r\n\r\n400\r\n", b"x" * 300),
            "between chunks": (post + CHUNKED + b"\r\n\r\n1\r\nx\r\n", b""),
            "chunk extension": (post + CHUNKED + b"\r\n\r\n1;", b"x" * 60),
            "trailer": (post + CHUNKED + b"\r\n\r\n0\r\nX: ", b"x" * 300),
            "last line of the trailers": (post + CHUNKED + b"\r\n\r\n0\r\n", b""),
        }
        ended = {}

        def crawl(name, first, rest):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
                s.sendall(first)
                s.settimeout(0.5)
                answer, at = b"", 0
                deadline = time.monotonic() + 90
                while time.monotonic() < deadline:
                    try:
                        if at < len(rest):
                            s.send(rest[at:at + 1])
                            at += 1
                        chunk = s.recv(4096)
                        if not chunk:
                            break
                        answer += chunk
                    except TimeoutError:
                        continue
                    except OSError:
                        break
                else:
                    return
                ended[name] = answer

        def never_reads():
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.connect(("127.0.0.1", server.port))
                s.settimeout(90)
                with contextlib.suppress(ConnectionError):
                    while True:  # until it is cut off
                        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
                ended["answer"] = b""

        threads = [threading.Thread(target=crawl, args=(name, *row), daemon=True) for name, row in rows.items() for _ in range(5)]
        threads.append(threading.Thread(target=never_reads, daemon=True))
        for thread in threads:
            thread.start()
        served = 0
        while any(thread.is_alive() for thread in threads):  # they all have deadlines
            self.assertEqual(server.publish(receiver.url("/quick"), b"x").status, 201)
            served += 1
            threads[0].join(0.2)
            time.sleep(0.05)
        self.assertEqual(set(ended), {*rows, "answer"}, "not cut off")
        for name, answer in ended.items():
            with self.subTest(name):
                self.assertIn([one for one in statuses(answer) if one != 100], ([], [408], [400]), answer)
        receiver.wait("/quick", served)
        self.assertEqual(receiver.at("/slow"), [])
        wait_for(lambda: server.metrics()["hikyaku_connections"] <= 2, "the connections to be gone")


class Outgoing(Case):
    """What a publisher may not smuggle into the requests that are made for it."""

    def test_paths_are_sent_as_they_were_written(self):
        for tail in ("/a/../b", "/a/./b", "/a//b", "/%2e%2e/b", "/a%2fb", "/a%00b", "/a%0d%0aX-Injected:%201", "/a%250d%250ab", "/;a=b", "/a?b=%26c&d=%3d",
                     "/?%0d%0aX:1", "/a%20b", "/%c3%bc", "/a?/../b", "/a:80@b", "/@b", "/.", "/..", "/%", "/%zz", "/{}|^`\"<>", "/*", "//b"):
            with self.subTest(tail):
                mark = f"/{self._testMethodName}{len(self.receiver.requests)}"
                self.server.publish_id(self.receiver.url(mark + tail), b"x")
                got = wait_for(lambda: [r for r in self.receiver.requests if r.path.startswith(mark)], "the delivery")[0]
                self.assertEqual(got.path, mark + tail)
                self.assertIsNone(got.headers.get("X-Injected"))

    def test_an_escaped_destination_cannot_add_lines(self):
        for url in ("http%3A%2F%2F127.0.0.1:{}%2F%0d%0aX-Injected:%201", "http%3A%2F%2F127.0.0.1:{}%2F%0aX", "http%3A%2F%2F127.0.0.1:{}%2F%00",
                    "http%3A%2F%2F127.0.0.1:{}%0d%0a%2F", "http%3A%2F%2F127.0.0.1:{}%2Fa%20HTTP/1.1%0d%0aHost:%20b", "http%3A%2F%2F127.0.0.1:{}%2F%C3%BC",
                    "http%3A%2F%2F127.0.0.1:{}%2F%09", "http%3A%2F%2F127.0.0.1:{}%2F%7f", "http%3A%2F%2F127.0.0.1:{}%2F%5c", "http%3A%2F%2F127.0.0.1:{}%2F%23"):
            with self.subTest(url):
                self.refused(self.server.publish(url.format(self.receiver.port), b"x"), 400)

    # Names and values that would end a line, change the framing, or speak for the server.
    BAD = [("X-A", "1\r\nX-Injected: 1"), ("X-A", "1\nX-Injected: 1"), ("X-A", "1\rX-Injected: 1"), ("X-A", "1\0"), ("X-A", "\x01"), ("X-A", "\x7f"),
           ("X-A", "1\u0085X-Injected: 1"), ("X-A", "\u009b"), ("X-A\r\nX-Injected", "1"), ("X-A\nX-B", "1"), ("X-A:", "1"), ("X A", "1"),
           ("X\0A", "1"), ("X-\u00fc", "1"), ("", "1"), ("HTTP2-Settings", "x"), ("Proxy-Authorization", "x"), ("Upstash-Signature", "x"),
           ("Upstash-Message-Id", "x"), ("Upstash-Retried", "0"), ("Hikyaku-Fence", "1"), ("Webhook-Id", "x"), ("Webhook-Signature", "x")]
    # Those of the connection, which clients send along without a thought: not refused, and not sent.
    LEFT_OUT = [("Host", "other"), ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("TE", "trailers"), ("Trailer", "X"),
                ("Connection", "close"), ("Connection", "Content-Length"), ("Keep-Alive", "1"), ("Upgrade", "h2c"), ("Expect", "100-continue"),
                ("Proxy-Connection", "close")]

    def test_headers_by_json_cannot_add_lines_or_change_the_framing(self):
        """The way in which any text can be said: the items of a batch and the options of a URL group."""
        path, url = self.hook()
        for prefix in ("Upstash-Forward-", "Upstash-Callback-Forward-", "Upstash-Failure-Callback-Forward-"):
            items = [{"destination": url, "headers": {"Upstash-Callback": url, "Upstash-Failure-Callback": url, prefix + name: value}}
                     for name, value in self.BAD]
            told = self.server.request("POST", "/v2/batch", json.dumps(items)).json()
            for (name, value), one in zip(self.BAD, told, strict=True):
                with self.subTest(prefix=prefix, name=name, value=value):
                    self.assertIn("error", one)
                    self.assertNotIn("\n", one["error"])
        group = "bad-headers"
        self.server.request("POST", f"/v2/topics/{group}/endpoints", json.dumps({"endpoints": [{"url": url}]}))
        for name, value in self.BAD:
            with self.subTest("option of a group", name=name, value=value):
                body = json.dumps({"headers": {"Upstash-Forward-" + name: value}})
                self.refused(self.server.request("PATCH", f"/v2/topics/{group}", body), 400)
        self.assertEqual(self.receiver.at(path), [])

    def test_characters_that_a_byte_cannot_hold_are_not_cut_to_line_ends(self):
        """The low byte of U+010A is a line feed, that of U+010D a carriage return."""
        path, url = self.hook()
        value = "1\u010d\u010aX-Injected: 1"
        [told] = self.server.request("POST", "/v2/batch", json.dumps([{"destination": url, "headers": {"Upstash-Forward-X-A": value}}])).json()
        self.assertIn("messageId", told)
        [got] = self.receiver.wait(path)
        self.assertEqual(got.headers["X-A"].encode("latin-1"), value.encode())
        self.assertIsNone(got.headers.get("X-Injected"))

    def test_fields_of_the_connection_are_left_out(self):
        ordinary = self.server.publish_id(self.receiver.url(self.path() + "-ordinary"), b"body")
        self.server.wait_states(ordinary, "CREATED", "ACTIVE", "DELIVERED")
        expected = self.receiver.at(self.path() + "-ordinary")[0].headers
        for number, (name, value) in enumerate(self.LEFT_OUT):
            with self.subTest(name=name, value=value):
                path = f"{self.path()}-{number}"
                self.server.publish_id(self.receiver.url(path), b"body", **{"Upstash-Forward-" + name: value})
                [got] = self.receiver.wait(path)
                self.assertEqual((got.body, got.headers.get_all(name)), (b"body", expected.get_all(name)))

    def test_other_options_cannot_add_lines(self):
        path, url = self.hook()
        for option, value in (("Upstash-Method", "GET / HTTP/1.1\r\nX: "), ("Upstash-Method", "POST\r\n"), ("Upstash-Callback", url + "\r\nX: 1"),
                              ("Upstash-Callback-Method", "GET\n"), ("Content-Type", "a\r\nX-Injected: 1")):
            with self.subTest(option=option):
                [told] = self.server.request("POST", "/v2/batch", json.dumps([{"destination": url, "headers": {option: value}}])).json()
                if "error" not in told:  # What is left out harms nobody.
                    self.assertIsNone(self.receiver.wait(path)[0].headers.get("X-Injected"))

    def test_attributes_of_a_queue_that_pushes_cannot_add_lines(self):
        path, hook = self.hook()
        url = self.server.make_queue("push-attributes", HikyakuPushUrl=hook)
        sent = self.server.sqs("SendMessage", QueueUrl=url, MessageBody="x", MessageAttributes={
            "X-A": {"DataType": "String", "StringValue": "1\r\nX-Injected: 1"}, "Content-Length": {"DataType": "Number", "StringValue": "0"},
            "Host": {"DataType": "String", "StringValue": "other"}, "X-B": {"DataType": "String", "StringValue": "kept"}})
        self.assertEqual(sent.status, 200, sent.body)
        [got] = self.receiver.wait(path)
        self.assertEqual((got.body, got.headers["X-B"], got.headers["Host"]), (b"x", "kept", f"127.0.0.1:{self.receiver.port}"))
        self.assertEqual([got.headers.get(name) for name in ("X-A", "X-Injected")], [None, None])


if __name__ == "__main__":
    unittest.main()
