"""Queues that are pulled from, as the HTTP API sees them: what it publishes into them is what SQS clients receive."""
import hashlib
import json
import os
import time
import unittest

from harness import DEV_CURRENT_KEY, Answer, Case, Server, run_binary, verify_signature, wait_for


class Publish(Case):
    def enqueue(self, queue, body=b"x", **headers):
        fields = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        return self.server.request("POST", f"/v2/enqueue/{queue}", body, fields)

    def test_what_is_published_is_received(self):
        url = self.server.make_queue("plain")
        answer = self.enqueue("plain", "grüße".encode(), Upstash_Forward_Kind="order", Upstash_Forward_N="7",
                              Upstash_Message_Group_Id="g", Upstash_Label="l", Content_Type="text/plain")
        self.assertEqual(answer.status, 201, answer.body)
        self.assertEqual(set(answer.json()), {"messageId"})
        self.assertEqual(answer.headers["Hikyaku-Durability"], "local")
        message_id = answer.json()["messageId"]
        shown = self.server.get(f"/v2/messages/{message_id}").json()
        self.assertEqual((shown["queueName"], shown["body"], shown["url"], shown["label"]), ("plain", "grüße", "", "l"))
        self.assertEqual(self.server.get("/v2/queues/plain").json()["lag"], 1)
        self.assertIn("waits_for_receiver", self.server.cli("messages", "why", message_id).stdout)

        [got] = self.server.receive(url, WaitTimeSeconds=10)
        self.assertEqual(got["Body"], "grüße")
        self.assertEqual(got["MD5OfBody"], hashlib.md5("grüße".encode()).hexdigest())
        self.assertEqual(got["MessageAttributes"], {"Kind": {"DataType": "String", "StringValue": "order"},
                                                    "N": {"DataType": "String", "StringValue": "7"}})
        self.assertEqual(got["Attributes"]["MessageGroupId"], "g")
        why = self.server.cli("messages", "why", message_id).stdout
        self.assertIn("in_flight: a receiver has it", why)
        self.assertIn("opens at ", why)
        self.assertEqual(self.server.job(message_id)["status"], "RUNNING")

        self.assertEqual(self.server.sqs("DeleteMessage", QueueUrl=url, ReceiptHandle=got["ReceiptHandle"]).status, 200)
        self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
        self.assertIn("finished: SUCCEEDED", self.server.cli("messages", "why", message_id).stdout)
        self.assertEqual(self.server.get("/v2/queues/plain").json()["lag"], 0)

    def test_a_batch_may_hold_them_beside_others(self):
        url = self.server.make_queue("batched")
        path, hook = self.hook()
        items = [{"queue": "batched", "body": "one"}, {"destination": hook, "body": "two"},
                 {"queue": "batched", "body": "three", "headers": {"Upstash-Forward-A": "b"}},
                 {"queue": "batched", "body": ""}, {"queue": "nobody", "body": "x"}, {"body": "x"},
                 {"queue": "batched", "body": "x", "headers": {"Upstash-Retries": "1"}},
                 {"queue": "batched", "destination": hook, "body": "x"}]
        told = self.server.request("POST", "/v2/batch", json.dumps(items)).json()
        self.assertEqual([sorted(one) for one in told],
                         [["messageId"], ["messageId", "url"], ["messageId"]] + [["error"]] * 5, told)
        self.assertEqual(self.receiver.wait(path)[0].body, b"two")
        got = self.server.receive(url, WaitTimeSeconds=10)
        got += self.server.receive(url) if len(got) < 2 else []
        self.assertEqual(sorted(one["Body"] for one in got), ["one", "three"])

    def test_a_fifo_queue_keeps_order_and_knows_duplicates(self):
        url = self.server.make_queue("ordered.fifo", FifoQueue="true")
        first = self.enqueue("ordered.fifo", b"1", Upstash_Message_Group_Id="g", Upstash_Deduplication_Id="a")
        self.assertEqual(first.status, 201, first.body)
        again = self.enqueue("ordered.fifo", b"other", Upstash_Message_Group_Id="g", Upstash_Deduplication_Id="a")
        self.assertEqual(again.status, 202)
        self.assertEqual(again.json(), first.json() | {"deduplicated": True})
        # SQS knows the id, too.
        sent = self.server.sqs("SendMessage", QueueUrl=url, MessageBody="other", MessageGroupId="g", MessageDeduplicationId="a")
        self.assertEqual(sent.status, 200, sent.body)
        for body in (b"2", b"2", b"3"):
            got = self.enqueue("ordered.fifo", body, Upstash_Message_Group_Id="g", Upstash_Content_Based_Deduplication="true")
            self.assertIn(got.status, (201, 202), got.body)
        self.assertEqual([one["Body"] for one in self.server.receive(url, WaitTimeSeconds=10)], ["1", "2", "3"])

    def test_a_delay_is_kept(self):
        url = self.server.make_queue("later", DelaySeconds="600")
        before = time.time()
        self.assertEqual(self.enqueue("later", b"soon", Upstash_Delay="1s").status, 201)
        self.assertEqual(self.enqueue("later", b"by the queue").status, 201)
        [got] = self.server.receive(url) or self.server.receive(url, WaitTimeSeconds=20)
        self.assert_not_early(time.time(), before + 1)
        self.assertEqual(got["Body"], "soon")
        self.assertEqual(self.server.get("/v2/queues/later").json()["lag"], 2)

    def test_what_cannot_be_is_refused(self):
        self.server.make_queue("strict", MaximumMessageSize="1024")
        self.server.make_queue("strict.fifo", FifoQueue="true")
        path, hook = self.hook()
        self.assertEqual(self.server.request("POST", f"/v2/enqueue/pushed/{hook}", b"x").status, 201)
        rows = [("strict", b"", {}, "empty"), ("strict", b"\xff\x00", {}, "characters"), ("strict", b"x" * 1025, {}, "1024 bytes"),
                ("strict", b"x", {f"Upstash-Forward-A{i}": "v" for i in range(11)}, "Number of message attributes"),
                ("strict", b"x", {"Upstash-Forward-a!": "v"}, "a!"),
                ("strict", b"x", {"Upstash-Delay": "16m"}, "Upstash-Delay"), ("strict", b"x", {"Upstash-Delay": "soon"}, "Upstash-Delay"),
                ("strict", b"x", {"Upstash-Not-Before": "99999999999"}, "Upstash-Not-Before"),
                ("strict", b"x", {"Upstash-Deduplication-Id": "d"}, "Upstash-Deduplication-Id"),
                ("strict", b"x", {"Upstash-Message-Group-Id": "a b"}, "Upstash-Message-Group-Id"),
                ("strict.fifo", b"x", {}, "Upstash-Message-Group-Id"),
                ("strict.fifo", b"x", {"Upstash-Message-Group-Id": "g"}, "Upstash-Deduplication-Id"),
                ("strict.fifo", b"x", {"Upstash-Message-Group-Id": "g", "Upstash-Deduplication-Id": "d", "Upstash-Delay": "1s"}, "Upstash-Delay"),
                ("nobody", b"x", {}, "nobody is not such a queue"), ("pushed", b"x", {}, "pushed is not such a queue")]
        for name in ("Method", "Retries", "Retry-Delay", "Timeout", "Callback", "Failure-Callback", "Flow-Control-Key",
                     "Flow-Control-Value", "Cron", "Schedule-Id", "Header-Forward", "Callback-Retries", "Failure-Callback-Forward-X"):
            rows.append(("strict", b"x", {f"Upstash-{name}": "1"}, f"Upstash-{name}:"))
        for queue, body, headers, error in rows:
            with self.subTest(f"{queue} {body[:10]} {headers}"):
                text = self.refused(self.server.request("POST", f"/v2/enqueue/{queue}", body, headers), 400)
                self.assertIn(error, text)
        self.assertIn("strict is pulled from", self.refused(self.server.request("POST", f"/v2/enqueue/strict/{hook}", b"x"), 400))
        self.refused(self.server.publish(hook, b"x", Upstash_Message_Group_Id="g"), 400)
        self.assertEqual(self.server.get("/v2/queues/strict").json()["lag"], 0)
        # Nor does SQS know the other kind.
        for action, members in (("SendMessage", {"MessageBody": "x"}), ("ReceiveMessage", {}), ("GetQueueAttributes", {})):
            answer = self.server.sqs(action, QueueUrl=f"http://127.0.0.1:{self.server.port}/000000000000/pushed", **members)
            self.assertEqual((answer.status, answer.json()["__type"]), (400, "com.amazonaws.sqs#QueueDoesNotExist"), action)

    def test_queues_of_both_kinds_are_listed_and_can_be_paused(self):
        url = self.server.make_queue("shown")
        shown = {queue["name"]: queue for queue in self.server.get("/v2/queues").json()}["shown"]
        self.assertEqual((shown["pulled"], shown["paused"], shown["lag"]), (True, False, 0))
        answer = self.server.request("POST", "/v2/queues", json.dumps({"queueName": "shown", "parallelism": 3}))
        self.assertIn("workers pull from", self.refused(answer, 400))
        self.assertEqual(self.server.request("POST", "/v2/queues/shown/pause").status, 200)
        message_id = self.enqueue("shown").json()["messageId"]
        self.assertEqual(self.server.receive(url), [])
        self.assertIn("queue_paused", self.server.cli("messages", "why", message_id).stdout)
        self.assertEqual(self.server.request("POST", "/v2/queues/shown/resume").status, 200)
        self.assertEqual(len(self.server.receive(url, WaitTimeSeconds=10)), 1)

    def test_a_message_is_cancelled_by_its_id_and_survives_a_kill_otherwise(self):
        url = self.server.make_queue("kept")
        gone, kept = (self.enqueue("kept", body).json()["messageId"] for body in (b"gone", b"kept"))
        self.assertEqual(self.server.request("DELETE", f"/v2/messages/{gone}").json(), {"cancelled": 1})
        self.server.restart()
        self.assertEqual([one["Body"] for one in self.server.receive(url, WaitTimeSeconds=10)], ["kept"])
        wait_for(lambda: self.server.job(gone)["status"] == "CANCELED", "the cancelled one to be final")
        self.assertEqual(self.server.job(kept)["status"], "RUNNING")


    def test_a_bulk_cancel_reaches_only_what_is_named_or_of_qstash(self):
        url = self.server.make_queue("kept")
        fifo = self.server.make_queue("kept.fifo", FifoQueue="true", ContentBasedDeduplication="true")
        self.assertEqual(self.server.sqs("SendMessage", QueueUrl=fifo, MessageBody="in order", MessageGroupId="g").status, 200)
        for body in ("in flight", "waiting"):
            self.assertEqual(self.server.sqs("SendMessage", QueueUrl=url, MessageBody=body).status, 200)
        self.assertEqual(self.enqueue("kept", b"by qstash").status, 201)
        [held] = self.server.receive(url, MaxNumberOfMessages=1, WaitTimeSeconds=10)
        _, hook = self.hook()
        self.assertEqual(self.server.request("POST", f"/v2/publish/{hook}", b"x", {"Upstash-Delay": "1h"}).status, 201)

        self.assertEqual(self.server.request("DELETE", "/v2/messages").json(), {"cancelled": 1})
        self.assertEqual(self.server.request("DELETE", "/v2/messages", b"{}").json(), {"cancelled": 0})
        self.assertEqual(self.server.request("DELETE", "/v2/messages?fromDate=0&callerIp=127.0.0.1").json(), {"cancelled": 0})
        empty = self.server.request("DELETE", "/v2/messages?queueName=")
        self.assertEqual(empty.status, 400, empty.body)
        self.assertIn("must not be empty; leave it out to select everything", empty.json()["error"])

        self.server.restart()
        self.assertEqual(self.server.get("/v2/queues/kept").json()["lag"], 3)
        self.assertEqual(self.server.sqs("DeleteMessage", QueueUrl=url, ReceiptHandle=held["ReceiptHandle"]).status, 200)
        self.assertEqual([one["Body"] for one in self.server.receive(fifo, WaitTimeSeconds=10)], ["in order"])
        self.assertEqual(self.server.request("DELETE", "/v2/messages?queueName=kept,kept.fifo").json(), {"cancelled": 3})
        self.assertEqual(self.server.get("/v2/queues/kept").json()["lag"], 0)


class Halted(Case):
    """Groups that have stopped at a message, and what people do about it."""

    def stopped(self, name):
        """The URL of a FIFO queue whose group g has stopped at its first message; the ids of all three."""
        dead = self.server.make_queue(f"{name}-dead.fifo", FifoQueue="true")
        policy = {"deadLetterTargetArn": f"arn:aws:sqs:us-east-1:000000000000:{name}-dead.fifo", "maxReceiveCount": 1}
        url = self.server.make_queue(f"{name}.fifo", FifoQueue="true", ContentBasedDeduplication="true", HikyakuOnFailure="halt")
        got = self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})
        self.assertEqual(got.status, 200, got.body)
        ids = [self.server.request("POST", f"/v2/enqueue/{name}.fifo", body, {"Upstash-Message-Group-Id": "g"}).json()["messageId"]
               for body in (b"one", b"two", b"three")]
        [got] = self.server.receive(url, MaxNumberOfMessages=1, WaitTimeSeconds=10)
        self.assertEqual(got["Body"], "one")
        back = self.server.sqs("ChangeMessageVisibility", QueueUrl=url, ReceiptHandle=got["ReceiptHandle"], VisibilityTimeout=0)
        self.assertEqual(back.status, 200, back.body)
        self.assertEqual(self.server.receive(url), [])
        halted = self.server.get(f"/api/v1/queues/{name}.fifo/halted").json()
        self.assertEqual(halted, {"halted": [{"group": "g", "message_id": ids[0], "receives": 1}]})
        return url, dead, ids

    def bodies(self, url, **members):
        return [one["Body"] for one in self.server.receive(url, **members)]

    def test_a_retry_hands_it_out_again(self):
        url, _, ids = self.stopped("again")
        self.assertIn(ids[0], self.server.cli("queues", "halted", "again.fifo").stdout)
        self.assertIn("halted: ", self.server.cli("messages", "why", ids[0]).stdout)
        self.assertIn("order: ", self.server.cli("messages", "why", ids[1]).stdout)
        self.server.restart()
        self.assertEqual(self.server.cli("queues", "retry", "again.fifo", "g").returncode, 0)
        self.assertEqual(self.bodies(url, WaitTimeSeconds=10), ["one", "two", "three"])
        self.assertEqual(self.server.cli("queues", "halted", "again.fifo").stdout, "no halted groups\n")
        again = self.server.cli("queues", "retry", "again.fifo", "g")
        self.assertEqual(again.returncode, 1)
        self.assertIn("has not stopped", again.stderr)

    def test_an_edited_message_keeps_its_id_and_survives_a_kill(self):
        url, _, ids = self.stopped("edited")
        with open(os.path.join(self.server.home, "mended"), "w") as f:
            f.write("mended\n")
        got = self.server.cli("queues", "retry", "edited.fifo", "g", "--body", f.name)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.server.restart()
        self.assertEqual(self.server.get(f"/v2/messages/{ids[0]}").json()["body"], "mended\n")
        got = self.server.receive(url, WaitTimeSeconds=10)
        self.assertEqual([one["Body"] for one in got], ["mended\n", "two", "three"])
        self.assertEqual(got[0]["MD5OfBody"], hashlib.md5(b"mended\n").hexdigest())
        self.assertEqual(got[0]["Attributes"]["ApproximateReceiveCount"], "2")
        for one in got:
            self.server.sqs("DeleteMessage", QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
        for one in ids:
            self.server.wait_job(one, "SUCCEEDED")
        self.assertEqual(self.server.cli("queues", "retry", "edited.fifo", "g", "--body", "/no/such/file").returncode, 2)

    def test_one_that_is_skipped_is_a_dead_letter(self):
        url, dead, ids = self.stopped("skipped")
        answer = self.server.request("POST", "/api/v1/queues/skipped.fifo/halted",
                                     json.dumps({"group": "g", "action": "skip", "body": "x"}))
        self.assertEqual(answer.status, 400)
        self.assertEqual(self.server.cli("queues", "skip", "skipped.fifo", "g", "--json").stdout, "{}\n")
        self.assertEqual(self.bodies(url, WaitTimeSeconds=10), ["two", "three"])
        self.assertEqual(self.bodies(dead, WaitTimeSeconds=10), ["one"])
        self.assertEqual(self.server.job(ids[0])["status"], "FAILED")

    def test_without_a_dead_letter_queue_a_group_stops_after_its_own_number_of_receives(self):
        url = self.server.make_queue("alone.fifo", FifoQueue="true", ContentBasedDeduplication="true", VisibilityTimeout="0",
                                     HikyakuOnFailure="halt", HikyakuHaltAfter="2")
        for body in ("one", "two"):
            sent = self.server.sqs("SendMessage", QueueUrl=url, MessageBody=body, MessageGroupId="g")
            self.assertEqual(sent.status, 200, sent.body)
        self.assertEqual(self.bodies(url, MaxNumberOfMessages=1, WaitTimeSeconds=10), ["one"])
        self.assertEqual(self.bodies(url, MaxNumberOfMessages=1), ["one"])
        self.assertEqual(self.bodies(url), [])
        self.server.restart()
        self.assertEqual(self.bodies(url), [])
        [halted] = self.server.get("/api/v1/queues/alone.fifo/halted").json()["halted"]
        self.assertEqual((halted["group"], halted["receives"]), ("g", 2))
        self.assertEqual(self.server.cli("queues", "skip", "alone.fifo", "g").returncode, 0)
        self.assertEqual(self.bodies(url, MaxNumberOfMessages=1), ["two"])

        told = self.server.sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"]).json()["Attributes"]
        self.assertEqual((told["HikyakuOnFailure"], told["HikyakuHaltAfter"]), ("halt", "2"))
        self.assertNotIn("RedrivePolicy", told)

    def test_a_body_that_is_too_large_changes_nothing(self):
        url, _, ids = self.stopped("large")
        self.assertEqual(self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"MaximumMessageSize": "1024"}).status, 200)
        answer = self.server.request("POST", "/api/v1/queues/large.fifo/halted",
                                     json.dumps({"group": "g", "action": "retry", "body": "x" * 1025}))
        self.assertEqual((answer.status, "1024 bytes" in answer.json()["detail"]), (400, True), answer.body)
        self.assertEqual(self.server.get(f"/v2/messages/{ids[0]}").json()["body"], "one")
        self.assertEqual(self.bodies(url), [])


class Push(Case):
    """Queues that push what comes into them to a URL."""

    def queue(self, name, url, **attributes):
        return self.server.make_queue(name, HikyakuPushUrl=url, **attributes)

    def send(self, url, body, **members):
        sent = self.server.sqs("SendMessage", QueueUrl=url, MessageBody=body, **members)
        self.assertEqual(sent.status, 200, sent.body)

    def wait_empty(self, name):
        wait_for(lambda: self.server.get(f"/v2/queues/{name}").json()["lag"] == 0, f"{name} to be empty")

    def test_what_is_sent_is_pushed_once_and_signed(self):
        path, hook = self.hook()
        url = self.queue("push", hook)
        self.send(url, "hello", MessageAttributes={"Kind": {"DataType": "String", "StringValue": "order"}})
        [got] = self.receiver.wait(path)
        self.assertEqual((got.method, got.body, got.headers["Kind"]), ("POST", b"hello", "order"))
        self.assertEqual(got.headers["Upstash-Queue-Name"], "push")
        verify_signature(got.headers["Upstash-Signature"], DEV_CURRENT_KEY, hook, b"hello")
        self.wait_empty("push")
        self.server.wait_states(got.message_id, "CREATED", "ACTIVE", "DELIVERED")
        answer = self.server.request("POST", "/v2/enqueue/push", b"by http")
        self.assertEqual(answer.status, 201, answer.body)
        self.assertEqual(self.receiver.wait(path, 2)[1].body, b"by http")
        self.wait_empty("push")
        self.assertEqual(len(self.receiver.at(path)), 2)

    def test_what_fails_comes_again_and_then_is_a_dead_letter(self):
        path, hook = self.hook(500, 200, 500, Answer(action="reset"), Answer(action="garbage"))
        dead = self.server.make_queue("push-dead")
        policy = {"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:push-dead", "maxReceiveCount": 3}
        url = self.queue("push-fails", hook, RedrivePolicy=json.dumps(policy))
        self.send(url, "one")
        first, second = self.receiver.wait(path, 2)
        self.assert_not_early(second.at, first.at + 1)
        self.assertEqual([one.headers["Upstash-Retried"] for one in (first, second)], ["0", "1"])
        self.wait_empty("push-fails")
        self.send(url, "two")
        self.receiver.wait(path, 5)
        [letter] = self.server.receive(dead, WaitTimeSeconds=20)
        self.assertEqual((letter["Body"], letter["Attributes"]["ApproximateReceiveCount"]), ("two", "4"))
        self.assertEqual(len(self.receiver.at(path)), 5)

    def test_one_that_hangs_is_cut_off_and_holds_up_nobody(self):
        path, hook = self.hook(Answer(action="hang"), 200)
        url = self.queue("push-hangs", hook, VisibilityTimeout="900")
        self.send(url, "one")
        self.receiver.wait(path)
        self.send(url, "two")
        self.assertEqual([got.body for got in self.receiver.wait(path, 2)], [b"one", b"two"])
        path += "/cut"
        self.receiver.script(path, Answer(action="hang"), 200)
        url = self.queue("push-cut", hook + "/cut", VisibilityTimeout="1")
        self.send(url, "one")
        self.wait_empty("push-cut")
        self.assertGreaterEqual(len(self.receiver.at(path)), 2)

    def test_a_fifo_queue_pushes_each_group_in_order(self):
        path, hook = self.hook(200, Answer(status=503, headers={"Retry-After": "1"}), 200)
        url = self.queue("push.fifo", hook, FifoQueue="true", ContentBasedDeduplication="true")
        for n in range(6):
            self.send(url, f"a{n}", MessageGroupId="a")
            self.send(url, f"b{n}", MessageGroupId="b")
        self.wait_empty("push.fifo")
        bodies = [got.body.decode() for got in self.receiver.at(path)]
        self.assertEqual(len(bodies), 13)
        for group in "ab":
            order = [body for body in bodies if body[0] == group]
            again = [i for i in range(1, len(order)) if order[i] == order[i - 1]]
            for i in reversed(again):
                order.pop(i)
            self.assertEqual(order, [f"{group}{n}" for n in range(6)])
        self.assertEqual(self.receiver.at(path)[0].headers["Upstash-Message-Group-Id"][0] in "ab", True)

    def test_no_more_are_on_the_wire_than_allowed(self):
        path, hook = self.hook(Answer(action="hang"))
        url = self.queue("push-two", hook, HikyakuPushParallelism="2")
        for n in range(5):
            self.send(url, str(n))
        self.receiver.wait(path, 2)
        attributes = self.server.sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"]).json()["Attributes"]
        self.assertEqual((attributes["HikyakuPushUrl"], attributes["HikyakuPushParallelism"]), (hook, "2"))
        self.assertEqual(attributes["ApproximateNumberOfMessagesNotVisible"], "2")
        time.sleep(0.3)
        self.assertEqual(len(self.receiver.at(path)), 2)
        self.server.sqs("DeleteQueue", QueueUrl=url)

    def test_the_url_can_be_changed_and_taken_away(self):
        path, hook = self.hook()
        url = self.queue("push-moves", hook)
        self.send(url, "one")
        self.receiver.wait(path)
        for value, status in ((hook + "/other", 200), ("ftp://example.com/", 400), ("nonsense", 400)):
            got = self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"HikyakuPushUrl": value})
            self.assertEqual(got.status, status, got.body)
        self.assertEqual(self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"HikyakuPushParallelism": "0"}).status, 400)
        self.send(url, "two")
        self.assertEqual(self.receiver.wait(path + "/other")[0].body, b"two")
        self.wait_empty("push-moves")
        self.assertEqual(self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"HikyakuPushUrl": ""}).status, 200)
        self.send(url, "three")
        [got] = self.server.receive(url, WaitTimeSeconds=20)
        self.assertEqual(got["Body"], "three")
        self.assertEqual(len(self.receiver.at(path)), 1)
        # Made again as it was, it is the same queue; with another URL it is not.
        self.server.sqs("SetQueueAttributes", QueueUrl=url, Attributes={"HikyakuPushUrl": hook})
        self.assertEqual(self.server.sqs("CreateQueue", QueueName="push-moves", Attributes={"HikyakuPushUrl": hook}).status, 200)
        self.assertEqual(self.server.sqs("CreateQueue", QueueName="push-moves", Attributes={"HikyakuPushUrl": hook + "x"}).status, 400)

    def test_a_deleted_queue_pushes_nothing_and_a_new_one_of_its_name_does(self):
        path, hook = self.hook()
        url = self.queue("push-again", hook)
        self.assertEqual(self.server.sqs("DeleteQueue", QueueUrl=url).status, 200)
        url = self.queue("push-again", hook + "/new")
        self.send(url, "one")
        self.assertEqual(self.receiver.wait(path + "/new")[0].body, b"one")
        self.assertEqual(self.receiver.at(path), [])

    def test_a_kill_makes_a_push_again_at_most(self):
        path, hook = self.hook(Answer(action="hang"), 200)
        url = self.queue("push-killed", hook, VisibilityTimeout="5")
        self.send(url, "one")
        self.receiver.wait(path)
        self.server.kill()
        self.server.start()
        self.send(url, "two")
        got = self.receiver.wait(path, 3)  # the lease of the first one has to run out
        self.assertEqual(sorted(one.body for one in got), [b"one", b"one", b"two"])
        self.wait_empty("push-killed")

    def test_a_stop_lets_what_is_on_the_wire_end(self):
        path, hook = self.hook(Answer(delay=1))
        url = self.queue("push-drained", hook)
        self.send(url, "one")
        self.receiver.wait(path)
        self.assertEqual(self.server.terminate(), 0)
        self.server.start()
        self.wait_empty("push-drained")
        self.assertEqual(len(self.receiver.at(path)), 1)


class PushForbidden(unittest.TestCase):
    def test_a_private_address_is_refused(self):
        server = Server(dev=False, env={"HIKYAKU_TOKEN": "a-token"}, token="a-token")
        self.addCleanup(server.close)
        server.start()
        made = json.loads(run_binary("keys", "create", "--json", "--data", server.data).stdout)
        key = (made["access_key_id"], made["secret_access_key"])
        for address in ("http://127.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/"):
            answer = server.sqs("CreateQueue", key, QueueName="q", Attributes={"HikyakuPushUrl": address})
            self.assertEqual(answer.status, 400, answer.body)
            self.assertIn("private", answer.body.decode())
        self.assertEqual(server.sqs("CreateQueue", key, QueueName="q").status, 200)


if __name__ == "__main__":
    unittest.main()
