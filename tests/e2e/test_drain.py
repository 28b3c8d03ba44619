"""SIGTERM to a server whose queues are pulled from: nothing more is handed out, what is out may be settled until the end."""
import http.client
import json
import signal
import threading

from harness import Answer, Case, sign_aws, wait_for


class Poll:
    """A ReceiveMessage that the server has and has not answered yet."""

    def __init__(self, server, url, wait=20):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.connection.request("GET", "/healthz")
        self.connection.getresponse().read()
        body = json.dumps({"QueueUrl": url, "WaitTimeSeconds": wait, "MaxNumberOfMessages": 10}).encode()
        fields = sign_aws("test", "test", f"127.0.0.1:{server.port}", "AmazonSQS.ReceiveMessage", body)
        del fields["host"]
        self.connection.request("POST", "/", body, fields)
        server.get("/healthz")  # one thread reads both: it has read the poll when it answers this

    def answer(self):
        """(status, messages)"""
        got = self.connection.getresponse()
        body = json.loads(got.read() or b"{}")
        self.connection.close()
        return got.status, body.get("Messages", [])


class Drain(Case):
    # Far below the 20 s of a poll: one that is not ended is cut off without an answer.
    flags = ("--drain", "10s")

    def setUp(self):
        if self.server.process.poll() is not None:
            self.server.start()

    def tearDown(self):
        if self.server.process.poll() is None:  # it may still drain
            self.server.kill()

    def stop(self):
        self.server.process.send_signal(signal.SIGTERM)

    def begin_drain_with_a_delivery_under_way(self):
        """What lets it end. The drain lasts until then."""
        may_end = threading.Event()
        self.addCleanup(may_end.set)
        path, hook = self.hook(Answer(after=may_end))
        self.server.publish_id(hook)
        self.receiver.wait(path)
        self.stop()
        wait_for(lambda: self.server.get("/readyz").status == 503, "the drain")
        return may_end

    def send(self, url, *bodies):
        for body in bodies:
            self.assertEqual(self.server.sqs("SendMessage", QueueUrl=url, MessageBody=body).status, 200)

    def test_waiting_polls_end_empty_and_the_server_stops(self):
        polls = [Poll(self.server, self.server.make_queue(f"quiet-{i % 3}")) for i in range(30)]
        self.stop()
        self.assertEqual([poll.answer() for poll in polls], [(200, [])] * len(polls))
        self.assertEqual(self.server.process.wait(60), 0, self.server.output()[-2000:])

    def test_a_poll_ends_while_a_delivery_is_still_under_way(self):
        poll = Poll(self.server, self.server.make_queue("quiet-beside"))
        may_end = self.begin_drain_with_a_delivery_under_way()
        self.assertEqual(poll.answer(), (200, []))
        self.assertIsNone(self.server.process.poll())
        may_end.set()
        self.assertEqual(self.server.process.wait(60), 0, self.server.output()[-2000:])

    def test_nothing_more_is_handed_out_and_what_is_out_can_be_settled(self):
        url = self.server.make_queue("settled", VisibilityTimeout="3600")
        self.send(url, *"abcdefg")
        held = {one["Body"]: one["ReceiptHandle"] for _ in range(6)
                for one in self.server.receive(url, MaxNumberOfMessages=1)}
        self.assertEqual(sorted(held), list("abcdef"))
        may_end = self.begin_drain_with_a_delivery_under_way()

        for action, members in (("ReceiveMessage", {"WaitTimeSeconds": 20}), ("SendMessage", {"MessageBody": "no"}),
                                ("GetQueueAttributes", {}), ("PurgeQueue", {})):
            refused = self.server.sqs(action, QueueUrl=url, **members)
            self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "1"), action)
            self.assertIn("the server is stopping", refused.json()["message"])
        refused = self.server.publish(self.receiver.url("/refused"))
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "1"))
        self.assertIn("the server is stopping", refused.json()["error"])

        taken = [self.server.sqs("DeleteMessage", QueueUrl=url, ReceiptHandle=held["a"]),
                 self.server.sqs("DeleteMessageBatch", QueueUrl=url,
                                 Entries=[{"Id": body, "ReceiptHandle": held[body]} for body in "bc"]),
                 self.server.sqs("ChangeMessageVisibility", QueueUrl=url, ReceiptHandle=held["d"], VisibilityTimeout=0),
                 self.server.sqs("ChangeMessageVisibilityBatch", QueueUrl=url,
                                 Entries=[{"Id": "e", "ReceiptHandle": held["e"], "VisibilityTimeout": 0}])]
        self.assertEqual([one.status for one in taken], [200] * 4, [one.body for one in taken])
        self.assertEqual([len(one.json().get("Failed", [])) for one in taken if one.body], [0] * len([t for t in taken if t.body]))

        self.assertIsNone(self.server.process.poll())
        may_end.set()
        self.assertEqual(self.server.process.wait(60), 0, self.server.output()[-2000:])
        self.server.start()
        bodies = []
        wait_for(lambda: bodies.extend(one["Body"] for one in self.server.receive(url)) or len(bodies) >= 3, "three messages")
        self.assertEqual(sorted(bodies), ["d", "e", "g"])
        counts = self.server.sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"]).json()["Attributes"]
        self.assertEqual(counts["ApproximateNumberOfMessagesNotVisible"], "4", "f is still out")

    def test_a_queue_that_pushes_sends_no_more_and_settles_what_is_on_the_wire(self):
        may_end = threading.Event()
        self.addCleanup(may_end.set)
        path, hook = self.hook(Answer(after=may_end), 200)
        url = self.server.make_queue("pushed", HikyakuPushUrl=hook, HikyakuPushParallelism="1")
        self.send(url, "one", "two", "three")
        self.receiver.wait(path)
        self.stop()
        wait_for(lambda: self.server.get("/readyz").status == 503, "the drain")
        may_end.set()
        self.assertEqual(self.server.process.wait(60), 0, self.server.output()[-2000:])
        self.assertEqual([one.body for one in self.receiver.at(path)], [b"one"])
        self.server.start()
        self.assertEqual([one.body for one in self.receiver.wait(path, 3)], [b"one", b"two", b"three"])
