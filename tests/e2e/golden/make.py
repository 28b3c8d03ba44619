#!/usr/bin/env python3
"""Makes a golden data directory: what this build writes, with something of everything in it, as later builds must read it.

    python3 tests/e2e/golden/make.py --binary build/release/hikyaku --name 0.1.0

Writes NAME.tar.xz (the directory, as kill -9 left it) and NAME.json (what was acknowledged) beside itself. Once a release is
out, its files are never made again; test_upgrade.py opens all of them."""
import argparse
import hashlib
import io
import json
import lzma
import os
import re
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from harness import Receiver, Server, run_binary, wait_for  # noqa: E402

# Destinations are part of the data, so the receiver has a port of its own, below those that others get.
PORT = 14917
FLAGS = ("--retention-finished", "3650d", "--retention-dlq", "3650d", "--dedup-window", "90d", "--retries-default", "0")
FAR = {"Upstash-Not-Before": "4102444800"}  # 2100
SOON = {"Upstash-Delay": "5m"}  # when the test opens it, that has passed


def url(path):
    return f"http://127.0.0.1:{PORT}{path}"


def sha(body):
    return hashlib.sha256(body).hexdigest()


class Maker:
    def __init__(self, server, receiver):
        self.server, self.receiver = server, receiver
        self.manifest = {"waiting": {}, "due": {}, "finished": {}}

    def call(self, method, target, body=None, headers=None, token=None, status=(200, 201)):
        answer = self.server.request(method, target, body, headers, token=token or self.server.token)
        assert answer.status in status, f"{method} {target}: {answer.status} {answer.body!r}"
        return answer.json() if answer.body.startswith((b"{", b"[")) else {}

    def publish(self, path, body, headers, token=None, queue=None):
        return self.call("POST", (f"/v2/enqueue/{queue}/" if queue else "/v2/publish/") + url(path), body, headers, token)["messageId"]

    def messages(self):
        """Pending, due, retried, dead, delivered, cancelled."""
        waiting, finished = self.manifest["waiting"], self.manifest["finished"]
        for name, body in (("text", b"hello"), ("empty", b""), ("binary", bytes(range(256))), ("large", bytes(range(256)) * 40)):
            waiting[self.publish("/far", body, FAR | {"Upstash-Label": name, "Upstash-Forward-X-Name": name})] = sha(body)
        self.receiver.script("/retried", 500)
        retried = self.publish("/retried", b"again", {"Upstash-Retries": "5", "Upstash-Retry-Delay": "86400000"})
        wait_for(lambda: self.server.states(retried)[-1:] == ["RETRY"], "a retry")
        waiting[retried] = sha(b"again")
        self.receiver.script("/dead", 500)
        dead = self.publish("/dead", b"dead", {"Upstash-Retries": "0"})
        entry = self.server.wait_dead_letter(dead)
        self.manifest["dead"] = {"messageId": dead, "dlqId": entry["dlqId"], "responseStatus": 500, "body": sha(b"dead")}
        done = self.publish("/done", b"done", {})
        self.server.wait_job(done, "SUCCEEDED")
        canceled = self.publish("/far", b"no", FAR)
        self.call("DELETE", f"/v2/messages/{canceled}")
        finished |= {done: "SUCCEEDED", canceled: "CANCELED", dead: "FAILED"}
        for number in range(3):
            body = b"due %d" % number * (1 + 1000 * number)
            self.manifest["due"][self.publish(f"/due/{number}", body, SOON)] = [f"/due/{number}", sha(body)]
        self.publish("/calls", b"calls", SOON | {"Upstash-Callback": url("/callback")})
        once = {"Upstash-Deduplication-Id": "once"} | FAR
        self.manifest["dedup"] = {"id": "once", "messageId": self.publish("/far", b"once", once)}
        waiting[self.manifest["dedup"]["messageId"]] = sha(b"once")

    def settings(self):
        """Queues, flow-control keys, URL groups, schedules."""
        self.call("POST", "/v2/queues", json.dumps({"queueName": "ordered", "parallelism": 1, "paused": True}))
        self.manifest["ordered"] = [self.publish("/ordered", b"%d" % n, {}, queue="ordered") for n in range(3)]
        flow = {"Upstash-Flow-Control-Key": "key", "Upstash-Flow-Control-Value": "parallelism=2, rate=10, period=1m"}
        self.manifest["waiting"][self.publish("/far", b"flow", FAR | flow)] = sha(b"flow")
        self.call("POST", "/v2/topics/group/endpoints", json.dumps({"endpoints": [
            {"name": "one", "url": url("/group/1")}, {"name": "two", "url": url("/group/2")}]}))
        self.call("POST", "/v2/publish/group", b"to all", SOON)
        cron = {"Upstash-Cron": "0 0 1 1 *", "Upstash-Schedule-Id": "yearly"}
        self.call("POST", "/v2/schedules/" + url("/yearly"), b"yearly", cron)
        self.call("POST", "/v2/schedules/" + url("/paused"), b"paused", {"Upstash-Cron": "* * * * *", "Upstash-Schedule-Id": "paused"})
        self.call("PATCH", "/v2/schedules/paused/pause")

    def pulled(self):
        """SQS and SNS."""
        server = self.server
        dead = server.make_queue("dead.fifo", FifoQueue="true")
        arn = server.sqs("GetQueueAttributes", QueueUrl=dead, AttributeNames=["QueueArn"]).json()["Attributes"]["QueueArn"]
        redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 3})
        plain = server.make_queue("plain", MessageRetentionPeriod="1209600")
        fifo = server.make_queue("groups.fifo", FifoQueue="true", RedrivePolicy=redrive, VisibilityTimeout="43200")
        for number in range(3):
            sent = server.sqs("SendMessage", QueueUrl=plain, MessageBody=f"plain {number}",
                              MessageAttributes={"n": {"DataType": "Number", "StringValue": str(number)}})
            assert sent.status == 200, sent.body
        server.sqs("SendMessage", QueueUrl=plain, MessageBody="plain later", DelaySeconds=300)
        leased = server.receive(plain, MaxNumberOfMessages=1, VisibilityTimeout=43200)[0]
        for group in ("a", "b"):
            for number in range(2):
                sent = server.sqs("SendMessage", QueueUrl=fifo, MessageBody=f"{group}{number}", MessageGroupId=group,
                                  MessageDeduplicationId=f"{group}{number}")
                assert sent.status == 200, sent.body
        first = server.receive(fifo, MaxNumberOfMessages=1)[0]
        self.manifest["sqs"] = {
            "plain": sorted({"plain 0", "plain 1", "plain 2", "plain later"} - {leased["Body"]}),
            "leased": [leased["Body"], leased["ReceiptHandle"]], "held": [first["Body"], first["ReceiptHandle"]]}
        topic = re.search(r"<TopicArn>(.*?)</TopicArn>", server.sns("CreateTopic", Name="topic").body.decode())[1]
        arn = server.sqs("GetQueueAttributes", QueueUrl=server.make_queue("heard"), AttributeNames=["QueueArn"])
        answer = server.sns("Subscribe", TopicArn=topic, Protocol="sqs", Endpoint=arn.json()["Attributes"]["QueueArn"])
        assert answer.status == 200, answer.body
        assert server.sns("Publish", TopicArn=topic, Message="before").status == 200
        self.manifest["sns"] = {"topic": topic, "heard": ["before"]}

    def arn(self, queue_url):
        answer = self.server.sqs("GetQueueAttributes", QueueUrl=queue_url, AttributeNames=["QueueArn"])
        return answer.json()["Attributes"]["QueueArn"]

    def sns(self, action, find=None, **members):
        answer = self.server.sns(action, **members)
        assert answer.status == 200, answer.body
        return re.search(f"<{find}>(.*?)</{find}>", answer.body.decode())[1] if find else None

    def hook(self, topic, path, **attributes):
        """Subscribes a URL; its token."""
        named = {f"Attributes.entry.{n}.{part}": text for n, pair in enumerate(attributes.items(), 1)
                 for part, text in zip(("key", "value"), pair)}
        self.sns("Subscribe", TopicArn=topic, Protocol="http", Endpoint=url(path), **named)
        return json.loads(self.receiver.wait(path)[0].body)["Token"]

    def topics(self):
        """Of SNS: filters, URLs that are confirmed and that are not, FIFO."""
        topic = self.sns("CreateTopic", "TopicArn", Name="hooks")
        token = self.hook(topic, "/hooked", RawMessageDelivery="true", FilterPolicy='{"k":["yes"]}')
        confirmed = self.sns("ConfirmSubscription", "SubscriptionArn", TopicArn=topic, Token=token, AuthenticateOnUnsubscribe="true")
        waiting = self.hook(topic, "/asked")
        filtered = {"Attributes.entry.1.key": "FilterPolicy", "Attributes.entry.1.value": '{"n":[{"numeric":[">",5]}]}',
                    "Attributes.entry.2.key": "FilterPolicyScope", "Attributes.entry.2.value": "MessageBody"}
        self.sns("Subscribe", TopicArn=topic, Protocol="sqs", Endpoint=self.arn(self.server.make_queue("filtered")), **filtered)
        fifo = self.sns("CreateTopic", "TopicArn", **{"Name": "first.fifo", "Attributes.entry.1.key": "FifoTopic",
                                                     "Attributes.entry.1.value": "true"})
        queue = self.server.make_queue("first.fifo", FifoQueue="true", VisibilityTimeout="43200")
        self.sns("Subscribe", TopicArn=fifo, Protocol="sqs", Endpoint=self.arn(queue))
        number = self.sns("Publish", "SequenceNumber", TopicArn=fifo, Message="first", MessageGroupId="g", MessageDeduplicationId="1")
        self.manifest["topics"] = {"hooks": topic, "confirmed": confirmed, "waiting": waiting, "fifo": fifo, "number": number}

    def unfinished(self):
        """A move that has not ended, and a shorter retention that has not reached all that waits."""
        server = self.server
        dead, to, short = server.make_queue("moved-from"), server.make_queue("moved-to"), server.make_queue("short")
        server.make_queue("moved", RedrivePolicy=json.dumps({"deadLetterTargetArn": self.arn(dead), "maxReceiveCount": 3}))
        bodies = [f"moved {n}" for n in range(10)]
        for queue, sent in ((dead, bodies), (short, ["old"] * 4000)):
            for at in range(0, len(sent), 10):
                answer = server.sqs("SendMessageBatch", QueueUrl=queue,
                                    Entries=[{"Id": str(n), "MessageBody": body} for n, body in enumerate(sent[at:at + 10])])
                assert answer.status == 200 and len(answer.json()["Successful"]) == 10, answer.body
        started = server.sqs("StartMessageMoveTask", SourceArn=self.arn(dead), DestinationArn=self.arn(to), MaxNumberOfMessagesPerSecond=1)
        assert started.status == 200, started.body
        wait_for(lambda: server.receive(to, MaxNumberOfMessages=1, VisibilityTimeout=0), "the first that is moved")
        time.sleep(1)  # the witness follows within milliseconds
        set_to = server.sqs("SetQueueAttributes", QueueUrl=short, Attributes={"MessageRetentionPeriod": "60"})
        assert set_to.status == 200, set_to.body
        self.manifest["unfinished"] = {"moved": bodies}

    def second_tenant(self):
        made = run_binary("tenants", "create", "second", "--data", self.server.data, "--json", binary=self.server.binary)
        assert made.returncode == 0, made.stderr
        token = json.loads(made.stdout)["token"]
        key = run_binary("keys", "create", "--tenant", "second", "--data", self.server.data, "--json", binary=self.server.binary)
        assert key.returncode == 0, key.stderr
        self.manifest["second"] = {"token": token, "key": json.loads(key.stdout),
                                   "message": self.publish("/far", b"second", FAR, token), "body": sha(b"second")}


def archive(data, path):
    """Only what the server needs; the same bytes for the same directory."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name in sorted(os.listdir(data)):
            if name not in ("LOCK", "admin.json") and not name.startswith("LOG"):
                info = tar.gettarinfo(os.path.join(data, name), name)
                info.uid = info.gid = 0
                info.uname = info.gname = ""
                with open(os.path.join(data, name), "rb") as f:
                    tar.addfile(info, f)
    with open(path, "wb") as f:
        f.write(lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default="build/release/hikyaku")
    parser.add_argument("--name", required=True)
    parser.add_argument("--to", default=HERE)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="hikyaku-golden-")
    with Receiver(PORT) as receiver, Server(*FLAGS, binary=os.path.abspath(arguments.binary), data=os.path.join(folder, "data")) as server:
        maker = Maker(server, receiver)
        maker.messages()
        maker.settings()
        server.restart()  # what was is in tables now; what follows in the log
        maker.pulled()
        maker.topics()
        maker.second_tenant()
        maker.unfinished()
        server.kill()
        manifest = {"made_at": int(time.time()), "flags": FLAGS, "port": PORT} | maker.manifest
        archive(server.data, os.path.join(arguments.to, arguments.name + ".tar.xz"))
    with open(os.path.join(arguments.to, arguments.name + ".json"), "w") as f:
        json.dump(manifest, f, indent=1, sort_keys=True)
        f.write("\n")
    print(f"{arguments.name}: {os.path.getsize(os.path.join(arguments.to, arguments.name + '.tar.xz'))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
