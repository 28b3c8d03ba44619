"""More publishes at once than can be served in time: some are refused, in the form that says when to come back; who asks for
little is served as ever, and the counters know every one that was accepted."""
import base64
import json
import selectors
import socket
import threading
import time
import unittest

from harness import DEV_TOKEN, Answer, Case, Receiver, run_binary, wait_for

CONNECTIONS, AT_ONCE = 200, 5  # 1,000 requests are allowed on a connection
PATIENCE = 120


class Crowd(threading.Thread):
    """Connections of which each sends some publishes at once, and again when all are answered, until the end is called."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.accepted, self.refusals, self.other = 0, [], []
        self.over = threading.Event()
        self.requests = ("POST /v2/publish/http://127.0.0.1:9/x HTTP/1.1\r\nHost: a\r\nUpstash-Delay: 1h\r\n"
                         f"Authorization: Bearer {DEV_TOKEN}\r\nContent-Length: 1\r\n\r\nx").encode() * AT_ONCE

    def run(self):
        with selectors.DefaultSelector() as selector:
            for _ in range(CONNECTIONS):
                made = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                selector.register(made, selectors.EVENT_READ, Answers())
                made.sendall(self.requests)
            while selector.get_map():
                for key, _ in selector.select(1):
                    self.on_ready(selector, key.fileobj, key.data)

    def on_ready(self, selector, connection, answers):
        got = connection.recv(1 << 16)
        for status, fields, body in answers.add(got):
            if status == b"201":
                self.accepted += 1
            elif status == b"429":
                self.refusals.append((fields, body))
            else:
                self.other.append((status, body))
        if got and answers.count < AT_ONCE:
            return
        if not got:
            self.other.append(f"the connection ended after {answers.count} answers")
        if self.over.is_set() or not got:
            selector.unregister(connection)
            connection.close()
        else:
            answers.count = 0
            connection.sendall(self.requests)


class Answers:
    """Takes a stream of answers apart."""

    def __init__(self):
        self.left, self.count = b"", 0

    def add(self, more):
        self.left += more
        while b"\r\n\r\n" in self.left:
            head, _, rest = self.left.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = int(fields[b"content-length"])
            if len(rest) < length:
                return
            self.left = rest[length:]
            self.count += 1
            yield head.split(b" ")[1], fields, rest[:length]


class Overload(Case):
    flags = ("--overload-delay", "1ms")

    def test_publishes_are_refused_and_a_polite_tenant_is_not(self):
        made = run_binary("tenants", "create", "polite", "--data", self.server.data, "--json")
        polite = json.loads(made.stdout)["token"]
        queue = self.server.make_queue("crowded")
        before = self.server.metrics()["hikyaku_messages_accepted_total"]
        crowd = Crowd(self.server.port)
        crowd.start()
        mine, throttled = 0, []
        try:
            deadline = time.monotonic() + PATIENCE
            while (len(crowd.refusals) < 100 or not throttled) and time.monotonic() < deadline:
                sent = self.server.sqs("SendMessage", QueueUrl=queue, MessageBody="of the crowd's tenant")
                if sent.status == 200:
                    mine += 1
                else:
                    throttled.append((sent.status, sent.json()["__type"].split("#")[-1]))
                got = self.server.request("POST", "/v2/publish/http://127.0.0.1:9/polite", b"x", {"Upstash-Delay": "1h"}, token=polite)
                self.assertEqual(got.status, 201, got.body)
                mine += 1
        finally:
            crowd.over.set()
            crowd.join(PATIENCE)
        self.assertFalse(crowd.is_alive())
        self.assertEqual(crowd.other, [])
        self.assertGreaterEqual(len(crowd.refusals), 100)
        self.assertEqual(set(throttled), {(403, "RequestThrottled")})
        for fields, body in crowd.refusals:
            self.assertEqual(fields.get(b"retry-after"), b"1")
            self.assertEqual(fields.get(b"burst-ratelimit-limit"), b"128")
            self.assertEqual(fields.get(b"burst-ratelimit-remaining"), b"0")
            self.assertGreater(int(fields[b"burst-ratelimit-reset"]), 1_700_000_000)
            self.assertIn(b"nothing was done", body)
        self.assertGreater(mine, 0)
        metrics = self.server.metrics()
        self.assertEqual(metrics["hikyaku_messages_accepted_total"] - before, crowd.accepted + mine)
        self.assertEqual(metrics['hikyaku_publish_refused_total{reason="busy"}'], len(crowd.refusals) + len(throttled))
        self.assertIn("hikyaku_request_wait_seconds", metrics)

        # When the crowd is gone nothing is refused any more.
        def calm():
            return self.server.publish("http://127.0.0.1:9/after", b"x", **{"Upstash-Delay": "1h"}).status == 201
        wait_for(lambda: all(calm() for _ in range(20)), "publishes to be taken again")


class Patience(Case):
    """As it is by default: who could be served in a second is not refused."""

    def test_a_thousand_at_once_are_all_taken(self):
        crowd = Crowd(self.server.port)
        crowd.start()
        wait_for(lambda: crowd.accepted >= 5 * CONNECTIONS * AT_ONCE or crowd.refusals or crowd.other, "all of them to be taken", PATIENCE)
        crowd.over.set()
        crowd.join(PATIENCE)
        self.assertEqual((crowd.refusals, crowd.other), ([], []))

    def test_while_it_starts_clients_wait(self):
        self.server.publish_id("http://127.0.0.1:9/x", b"x", Upstash_Delay="1h")
        self.server.kill()
        self.server.spawn()
        statuses = []

        def served():
            try:
                statuses.append(self.server.get("/v2/queues").status)
            except OSError:
                return False  # nobody listens yet
            return True
        wait_for(served, "the server")
        self.assertEqual(statuses, [200])
        self.server.wait_ready()


class LargeBodies(Case):
    """What is under way is in memory: a body of 64 KiB or more takes the place of several."""
    flags = ("--destination-parallelism", "8")

    def test_a_receiver_that_hangs_holds_few_of_them(self):
        go = threading.Event()
        self.addCleanup(go.set)
        path, url = self.hook(Answer(after=go))
        bodies = {self.server.publish_id(url, body): body for body in (bytes([65 + i]) * 100_000 for i in range(10))}

        def in_flight():
            return self.server.metrics()["hikyaku_attempts_in_flight"]
        wait_for(lambda: in_flight() == 4, "four attempts of two places each")
        held = list(bodies)[-1]
        holds = wait_for(lambda: self.server.job(held).get("holds"), "what holds the last one")
        self.assertIn("destination_parallelism", [one["gate"] for one in holds])
        with Receiver() as other:
            self.server.publish_id(other.url(), b"small")
            other.wait()
        self.assertEqual(in_flight(), 4)
        go.set()
        got = self.receiver.wait(path, len(bodies))
        self.assertEqual({one.message_id: one.body for one in got}, bodies)

    def test_a_long_answer_is_called_back_with_whole(self):
        answer = bytes(range(256)) * 1024
        _, url = self.hook(Answer(body=answer))
        with Receiver() as told:
            self.server.publish_id(url, b"x", Upstash_Callback=told.url())
            got = json.loads(told.wait()[0].body)
        self.assertEqual(base64.b64decode(got["body"]), answer)


class SlowReaders(Case):
    """Answers that nobody reads are in memory: there is room for some."""
    flags = ("--answer-bytes", "16MiB")

    def read_nothing(self, message_id):
        reader = socket.socket()
        self.addCleanup(reader.close)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", self.server.port))
        reader.sendall(f"GET /v2/messages/{message_id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {DEV_TOKEN}\r\n\r\n".encode())
        return reader

    def test_large_answers_are_refused_until_others_are_read(self):
        large = self.server.publish_id("http://127.0.0.1:9/x", b"x" * 8_300_000, Upstash_Delay="1h")
        queue = self.server.make_queue("large")
        for _ in range(3):
            self.assertEqual(self.server.sqs("SendMessage", QueueUrl=queue, MessageBody="y" * 300_000).status, 200)
        self.assertEqual(self.server.get(f"/v2/messages/{large}").status, 200)

        readers = [self.read_nothing(large) for _ in range(4)]
        wait_for(lambda: self.server.metrics()["hikyaku_answers_without_room_total"] >= 2, "two have no room")
        refused = self.server.get(f"/v2/messages/{large}")
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "1"))
        self.assertIn("have not been read yet", refused.json()["error"])
        pulled = self.server.sqs("ReceiveMessage", QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=5)
        self.assertEqual((pulled.status, pulled.json()["__type"].split("#")[-1]), (503, "ServiceUnavailable"), pulled.body)
        self.assertEqual(self.server.get("/v2/queues").status, 200, "a small one needs none")
        self.assertLessEqual(self.server.metrics()["hikyaku_answer_bytes"], 16 << 20)

        for reader in readers:
            reader.close()
        wait_for(lambda: self.server.metrics()["hikyaku_answer_bytes"] == 0, "there is room again")
        self.assertEqual(len(self.server.get(f"/v2/messages/{large}").json()["body"]), 8_300_000)
        got = []
        while len(got) < 3:
            got += self.server.receive(queue, WaitTimeSeconds=10, AttributeNames=["All"])
        self.assertEqual([one["Attributes"]["ApproximateReceiveCount"] for one in got], ["1"] * 3, "it was given back")


if __name__ == "__main__":
    unittest.main()
