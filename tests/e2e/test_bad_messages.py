"""One bad message harms only itself. Whatever a message, its headers, its destination or its receiver's answer is made of: it is
refused in the form of its protocol, or stored and delivered byte for byte; the good ones that are sent at the same moment, by the
same and by another tenant, all arrive; and everything that is read back stays what it should be: JSON, and UTF-8."""
import base64
import contextlib
import json
import os
import threading
import unittest
import urllib.parse

from disk import body_of_row
from harness import Answer, Case, run_binary, wait_for

MAX = 256 << 10
FLAGS = ("--body-bytes-max", "256KiB", "--retries-default", "0")

BODIES = {
    "empty": b"", "one zero byte": b"\0", "zero bytes": b"a\0b\0\0", "not UTF-8": b"\xff\xfe\xfa", "overlong": b"\xc0\x80",
    "a surrogate": b"\xed\xa0\x80", "half a character": b"caf\xc3", "every byte": bytes(range(256)) * 3, "byte order mark": b"\xef\xbb\xbf{}",
    "an answer": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "line ends": b"\r\n\r\n.\r\n", "a lone escape": b'{"a":"\\ud800"}',
    "deep JSON": b"[" * 60_000 + b"]" * 60_000, "deep objects": b'{"a":' * 30_000 + b"1" + b"}" * 30_000, "not JSON": b'{"a":',
    "a large number": b"1" * 5000, "controls": bytes(range(1, 32)) + b"\x7f", "the largest": b"x" * MAX,
}

# name, value: as a header of the delivery
FORWARDED = [("X-Empty", b""), ("X-Tab", b"a\tb"), ("X-Latin", b"caf\xe9"), ("X-Not-UTF-8", b"\xff\xfe"), ("X-UTF-8", "zażółć ☕ 😀".encode()), ("X-C1", b"a\xc2\x85b"), ("X-Overlong", b"\xc0\x8a"),
             ("X-Quote", b'"\\\''), ("X-Long", b"v" * 4000), ("!#$%&'*+.^_`|~0", b"odd name"), ("X" * 200, b"long name"),
             ("X-Spaces", b"a   b"), ("X-Markup", b"<script>&amp;</script>")]

NOT_TEXT = ("X-Latin", "X-Not-UTF-8", "X-C1", "X-Overlong")

# options whose value is kept and shown
SHOWN = [("Upstash-Label", b"\xff\xfe"), ("Upstash-Label", "zażółć".encode()), ("Upstash-Label", b'"\\{'), ("Upstash-Deduplication-Id", b"\xff"),
         ("Upstash-Deduplication-Id", b"x" * 2000), ("Upstash-Failure-Callback", b"http://127.0.0.1:9/\xff"), ("Content-Type", b"\xff/\xff"),
         ("Upstash-Flow-Control-Key", b"\xff\xfe"), ("Upstash-Queue-Name", b"\xff"), ("Traceparent", b"\xff"), ("User-Agent", b"\xff\xfe")]

PATHS = ["/%00", "/%0d%0aX:%20y", "/%ff%fe", "/a%2fb", "/%zz", "/zażółć", "/a b", "//", "/..", "/../../x", "/?", "/?q=%00&r=%ff", "/#fragment",
         "/;p=1", "/" + "x" * 1500, "/" + "x" * 9000, "/?" + "q=1&" * 1000, "/\"<>\\^`{|}", "/%F0%9F%98%80"]

HOSTS = ["http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:/", "http://user:pass@127.0.0.1:9/", "http://[::1/", "http://[::1%25lo]/",
         "http://bücher.example/", "http://xn--/", "http://" + "a" * 300 + ".example/", "http://.example/", "http://a..b.example/",
         "http://0x7f.1:9/", "http://127.1:9/", "http:///x", "http://%31%32%37.0.0.1/", "https://exa\tmple.com/", "http://a.example:80:80/"]

# how a receiver may answer; kept in the dead letter
ANSWERS = [Answer(500, body=b"\xff\xfe\0"), Answer(500, {"X-Odd": "caf\u00e9"}, b"\0"), Answer(500, body=bytes(range(256)) * 8),
           Answer(500, {"Content-Type": "\u00ff"}, b'{"a":"\\ud800"}'), Answer(500, {f"X-{n}": "v" * 100 for n in range(80)}, b"x" * 100_000),
           Answer(action="garbage")]


class Good(threading.Thread):
    """Publishes one good message after another until it is told to stop."""

    def __init__(self, server, receiver, name, token):
        super().__init__(daemon=True)
        self.server, self.receiver, self.name_of_tenant, self.token = server, receiver, name, token
        self.sent, self.refused, self.ended = {}, [], threading.Event()

    def run(self):
        while not self.ended.is_set():
            path, body = f"/good/{self.name_of_tenant}/{len(self.sent)}", os.urandom(40)
            answer = self.server.request("POST", "/v2/publish/" + self.receiver.url(path), body, token=self.token)
            if answer.status != 201:
                self.refused.append((path, answer.status, answer.body))
            self.sent[path] = body
            self.ended.wait(0.01)


class BadMessages(Case):
    flags = FLAGS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = run_binary("tenants", "create", "other", "--data", cls.server.data, "--json")
        assert made.returncode == 0, made.stderr
        cls.other = json.loads(made.stdout)["token"]

    def setUp(self):
        self.stored = []
        self.good = [Good(self.server, self.receiver, f"{name}/{self._testMethodName}", token)
                     for name, token in (("same", self.server.token), ("other", self.other))]
        for one in self.good:
            one.start()

    def tearDown(self):
        """The good ones have arrived, and what can be read is readable."""
        for one in self.good:
            one.ended.set()
            one.join(60)
            self.assertEqual(one.refused, [])
            self.assertTrue(one.sent)
            for path, body in one.sent.items():
                self.assertEqual([got.body for got in self.receiver.wait(path)], [body], path)
        self.check_readable()

    def check_readable(self):
        server = self.server
        self.assertEqual(server.get("/healthz").status, 200)
        server.request("GET", "/metrics").body.decode("utf-8")
        for target in ("/v2/events?count=1000", "/v2/logs?count=1000", "/v2/dlq", "/v2/queues", "/v2/topics", "/v2/schedules", "/v2/flowControl",
                       *(f"/v2/messages/{one}" for one in self.stored), *(f"/api/v1/jobs/{one}" for one in self.stored)):
            answer = server.get(target)
            self.assertIn(answer.status, (200, 404), target)
            json.loads(answer.body.decode("utf-8"))
        for arguments in (["dlq", "list", "--json"], ["dlq", "list"], ["tail", "--once", "--json"], ["tail", "--once"], ["queues", "list", "--json"],
                          *(["messages", "get", one, "--json"] for one in self.stored[:5])):
            with self.subTest(arguments):
                done = server.cli(*arguments, timeout=60)  # it is read as UTF-8, strictly
                self.assertEqual(done.returncode, 0, done.stderr)
                if "--json" in arguments:
                    for line in done.stdout.splitlines():
                        json.loads(line)
        for number in range(1, server.starts + 1):
            with open(os.path.join(server.home, f"stderr.{number}"), "rb") as f:
                for line in f.read().decode("utf-8").splitlines():
                    if line.startswith("{"):
                        json.loads(line)

    def send(self, destination, body=b"x", headers=None, prefix="/v2/publish/"):
        """The id, or None: refused as the protocol says."""
        target = urllib.parse.quote(prefix + destination, safe="/:?&=#%+,;@[]!$'()*\"<>\\^`{|}~").replace(" ", "%20")
        answer = self.server.request("POST", target, body, headers)
        if answer.status in (201, 202):
            self.stored.append(answer.json()["messageId"])
            return self.stored[-1]
        self.assertIn(answer.status, (400, 413, 414, 431), answer.body)
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            self.assertTrue(json.loads(answer.body.decode("utf-8"))["error"])
        return None

    # ---- QStash ----

    def test_bodies_of_publishes_and_queues(self):
        for prefix in ("/v2/publish/", "/v2/enqueue/bodies/"):
            for number, (name, body) in enumerate(BODIES.items()):
                with self.subTest(f"{prefix} {name}"):
                    path = f"/body{prefix.count('/')}/{number}"
                    self.assertTrue(self.send(self.receiver.url(path), body, prefix=prefix))
                    self.assertEqual(self.receiver.wait(path)[0].body, body)
            self.assertEqual(self.server.request("POST", prefix + self.receiver.url("/over"), b"x" * (MAX + 1)).status, 413)
        self.assertEqual(self.receiver.at("/over"), [])

    def test_bodies_of_url_groups_and_schedules(self):
        endpoints = json.dumps({"endpoints": [{"name": "a", "url": self.receiver.url("/group/a")}, {"name": "b", "url": self.receiver.url("/group/b")}]})
        self.assertEqual(self.server.request("POST", "/v2/topics/bad/endpoints", endpoints).status, 200)
        for name, body in BODIES.items():
            with self.subTest(name):
                answer = self.server.request("POST", "/v2/publish/bad", body)
                self.assertEqual(answer.status, 201, answer.body)
                made = self.server.request("POST", "/v2/schedules/" + self.receiver.url("/never"), body,
                                           {"Upstash-Cron": "0 0 29 2 *", "Upstash-Schedule-Id": "bad"})
                self.assertIn(made.status, (200, 201), made.body)
                row = json.loads(self.server.get("/v2/schedules/bad").body.decode("utf-8"))
                self.assertEqual(body_of_row(row), body)
        for path in ("/group/a", "/group/b"):
            got = self.receiver.wait(path, len(BODIES))
            self.assertEqual(sorted(one.body for one in got), sorted(BODIES.values()))
        self.assertEqual(self.server.request("DELETE", "/v2/schedules/bad").status, 200)

    def test_headers(self):
        for number, (name, value) in enumerate(FORWARDED):
            with self.subTest(name):
                path = f"/header/{number}"
                message_id = self.send(self.receiver.url(path), b"x", {"Upstash-Forward-" + name: value})
                self.assertEqual(message_id is not None, name not in NOT_TEXT)
                if message_id:
                    got = self.receiver.wait(path)[0].headers
                    self.assertEqual(got[name].encode("latin-1"), value)
                    [shown] = self.server.get("/v2/messages/" + message_id).json()["header"].values()
                    self.assertEqual(shown, [value.decode()])
        for count, size in ((60, 100), (64, 1), (65, 1), (30, 4000)):
            with self.subTest(f"{count} headers of {size} bytes"):
                path = f"/headers/{count}"
                fields = {f"Upstash-Forward-X-{n}": "v" * size for n in range(count)}
                if self.send(self.receiver.url(path), b"x", fields):
                    got = self.receiver.wait(path)[0].headers
                    self.assertEqual({name: got[name] for name in got if name.lower().startswith("x-")},
                                     {name.removeprefix("Upstash-Forward-"): value for name, value in fields.items()})

    def test_options_that_are_shown(self):
        for number, (name, value) in enumerate(SHOWN):
            with self.subTest(f"{name}: {value[:20]}"):
                path = f"/shown/{number}"
                self.receiver.script(path, 500)
                fields = {name: value, "Upstash-Forward-X-Odd": b"\xff"}
                if name == "Upstash-Flow-Control-Key":
                    fields["Upstash-Flow-Control-Value"] = "parallelism=1"
                if message_id := self.send(self.receiver.url(path), b"\xff", fields):
                    self.receiver.wait(path)
                    self.assertEqual(body_of_row(self.server.wait_dead_letter(message_id)), b"\xff")

    def test_destinations(self):
        taken = 0
        for path in PATHS:
            with self.subTest(path[:60]):
                before = len(self.receiver.requests)
                if message_id := self.send(self.receiver.url(path)):
                    taken += 1
                    wait_for(lambda: any(one.message_id == message_id for one in self.receiver.requests[before:]), path)  # noqa: B023
        self.assertGreater(taken, 5)
        for host in HOSTS:
            with self.subTest(host[:60]):
                if message_id := self.send(host):
                    self.server.wait_dead_letter(message_id)

    def test_answers_of_receivers(self):
        for number, answer in enumerate(ANSWERS):
            with self.subTest(number):
                path = f"/answer/{number}"
                self.receiver.script(path, answer)
                message_id = self.send(self.receiver.url(path), b"x")
                entry = self.server.wait_dead_letter(message_id)
                self.assertEqual(entry["responseStatus"], 0 if answer.action else 500, entry)
                if not answer.action and "responseBodyBase64" in entry:
                    self.assertTrue(answer.body.startswith(base64.b64decode(entry["responseBodyBase64"])[:100]))

    def test_a_batch_with_bad_ones_among_good(self):
        url = self.receiver.url
        items = [{"destination": url("/batch/0"), "body": "first"}, {"destination": url("/batch/zero"), "body": "a\0b"},
                 {"destination": "http://[::1/"}, {"destination": url("/batch/1"), "body": "second"}, {"destination": url("/x"), "headers": {"Upstash-Forward-a\0b": "c"}},
                 {"destination": url("/x"), "headers": {"X": "a\r\nb"}}, {"destination": url("/x"), "body": "x" * (MAX + 1)}, 7, None, [], "text",
                 {"destination": url("/batch/deep"), "body": "[" * 50_000}, {"destination": url("/batch/2"), "body": "third"}]
        answer = self.server.request("POST", "/v2/batch", json.dumps(items))
        self.assertEqual(answer.status, 200, answer.body[:300])
        told = answer.json()
        self.assertEqual(["error" in one for one in told], [False, False, True, False, True, True, True, True, True, True, True, False, False], told)
        for path, body in (("/batch/0", b"first"), ("/batch/1", b"second"), ("/batch/2", b"third"), ("/batch/zero", b"a\0b"), ("/batch/deep", b"[" * 50_000)):
            self.assertEqual([got.body for got in self.receiver.wait(path)], [body])
        self.assertEqual(self.receiver.at("/x"), [])
        # Of a batch that cannot be read, nothing is taken.
        one = json.dumps({"destination": url("/none")}).encode()
        for body in (b"[" + one + b',{"destination":"' + b"\xff" + b'"}]', b"[" + one + b',{"body":"\\ud800"', b"[" + one + b"," + b"[" * 5000 + b"]" * 5000 + b"]"):
            answer = self.server.request("POST", "/v2/batch", body)
            if answer.status != 200:
                self.refused(answer, 400)
            else:
                self.assertIn("error", answer.json()[1])

    # ---- SQS and SNS ----

    TEXTS = [("x", True), ("zażółć \U0001f600", True), ("a\tb\r\nc", True), ("", False), ("a\0b", False), ("\x1f", False), ("\ufffe", False),
             ("\ud800", False), ("[" * 20_000, True), ("<&>\"'", True), ("\x7f\x80\x85", True)]

    def test_messages_of_sqs(self):
        url, good = self.server.make_queue("bad", MaximumMessageSize="100000"), []
        for text, taken in self.TEXTS:
            with self.subTest(repr(text[:20])):
                answer = self.server.sqs("SendMessage", QueueUrl=url, MessageBody=text)
                self.refused_by_aws(answer, taken)
                good += [text] if taken else []
        entries = [{"Id": f"n{n}", "MessageBody": text} for n, (text, _) in enumerate(self.TEXTS[:9]) if text != "\ud800"]
        answer = self.server.sqs("SendMessageBatch", QueueUrl=url, Entries=entries)
        if answer.status == 200:
            done = {one["Id"] for one in answer.json()["Successful"]}
            good += [one["MessageBody"] for one in entries if one["Id"] in done]
            self.assertEqual(done, {one["Id"] for one in entries if dict(self.TEXTS)[one["MessageBody"]]}, answer.body)
        else:
            self.refused_by_aws(answer, False)
        # The largest that the queue takes, and one byte more.
        most = 100_000
        for size, taken in ((most, True), (most + 1, False)):
            with self.subTest(f"{size} bytes"):
                self.refused_by_aws(self.server.sqs("SendMessage", QueueUrl=url, MessageBody="y" * size), taken)
        good.append("y" * most)
        attribute = lambda **value: {"MessageAttributes": {"a": value}}  # noqa: E731
        for members, taken in ((attribute(DataType="String", StringValue=""), False), (attribute(DataType="String", StringValue="\0"), False),
                               (attribute(DataType="Number", StringValue="x"), False), (attribute(DataType="Binary", BinaryValue="!"), False),
                               (attribute(DataType="Binary", BinaryValue="/wA="), True), ({"MessageAttributes": {"a\0": {"DataType": "String", "StringValue": "x"}}}, False),
                               ({"MessageAttributes": {"AWS.x": {"DataType": "String", "StringValue": "x"}}}, False)):
            with self.subTest(members):
                self.refused_by_aws(self.server.sqs("SendMessage", QueueUrl=url, MessageBody="with attribute", **members), taken)
                good += ["with attribute"] if taken else []
        got = []

        def all_there():
            got.extend(one["Body"] for one in self.server.receive(url, VisibilityTimeout=600))
            return len(got) >= len(good)

        wait_for(all_there, lambda: f"{len(good)} messages; there were {len(got)}")
        self.assertEqual(sorted(got), sorted(good))

    def test_messages_of_sns(self):
        made = self.server.sns("CreateTopic", Name="bad").body.decode()
        topic = made.split("<TopicArn>")[1].split("</TopicArn>")[0]
        url = self.server.make_queue("heard")
        arn = self.server.sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["QueueArn"]).json()["Attributes"]["QueueArn"]
        self.assertEqual(self.server.sns("Subscribe", TopicArn=topic, Protocol="sqs", Endpoint=arn).status, 200)
        good = []
        for text, _ in self.TEXTS:
            with self.subTest(repr(text[:20])), contextlib.suppress(UnicodeEncodeError):
                answer = self.server.sns("Publish", TopicArn=topic, Message=text)
                self.assertIn(answer.status, (200, 400), answer.body)
                answer.body.decode("utf-8")
                if answer.status == 200:
                    good.append(text)
                else:
                    self.assertIn(b"<Code>", answer.body)
        self.assertIn("x", good)
        got = []

        def all_there():
            got.extend(json.loads(one["Body"])["Message"] for one in self.server.receive(url, VisibilityTimeout=600))
            return len(got) >= len(good)

        wait_for(all_there, lambda: f"{len(good)} notifications; there were {len(got)}")
        self.assertEqual(sorted(got), sorted(good))

    def refused_by_aws(self, answer, taken):
        told = json.loads(answer.body.decode("utf-8"))
        if taken:
            self.assertEqual(answer.status, 200, answer.body)
        else:
            self.assertEqual(answer.status, 400, answer.body)
            self.assertTrue(told["__type"] and told["message"], told)

    def test_the_directory_verifies(self):
        backup = os.path.join(self.server.home, "backup")
        done = run_binary("backup", "--data", self.server.data, "--to", backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run_binary("verify", "--data", backup)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
