"""The crash matrix of the real binary: it ends itself as kill -9 does (--crash-at POINT:N) at each point where it touches
the store, src/store/crash_points.def, with and without what was not synced (--storage-fault hold-unsynced), and again while
it recovers from that. Run by torture.py --matrix; what must hold is said there.

Beside the publishers a thread sends, receives and deletes (SQS), one makes and deletes schedules, one moves money
(torture_transfers.py), and one sends webhooks (torture_webhooks.py).
"""
import http.client
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import harness
from torture import READY_WITHIN, Caller, Torture

# How long a point may take to be passed for the N-th time; and one that is passed when files change, again.
PASSED_WITHIN = 90.0
PASSED_AGAIN_WITHIN = 20.0
# Small buffers: files of the store come and go.
FLAGS = ["--write-buffer-bytes", "1MiB"]
HOLD = ["--storage-fault", "hold-unsynced"]
VISIBLE_AFTER = 2


def declared_points():
    """[(name, when)] in the order of the file."""
    with open(os.path.join(harness.ROOT, "src", "store", "crash_points.def")) as f:
        return re.findall(r"^HK_CRASH_POINT\((\w+), (\w+),", f.read(), re.M)


class Queues(Caller):
    """Sends to a queue, receives from it, deletes; makes schedules and deletes every other one."""

    def __init__(self, server, ledger, stop):
        super().__init__("queues", server, ledger, stop)
        self.url = None
        self.sent = {}  # body -> True: acknowledged
        self.counts = {}  # message id -> receive counts, in the order of the receives
        self.bodies = {}  # message id -> body
        self.deleted = set()  # message ids whose deletion was acknowledged
        self.schedules = {}  # id -> True: acknowledged, False: its deletion was; None: unknown

    def run(self):
        for number in itertools.count():
            if self.stop.is_set():
                return
            self.send(f"m-{number}")
            if number % 2:
                self.take()
            if number % 5 == 0:
                self.schedule(f"s-{number}", number % 10 == 0)
            self.stop.wait(self.random.uniform(0, 0.01))

    def sqs(self, action, **members):
        """The JSON of the answer; None: unknown, or the queue is not there yet."""
        body = json.dumps(members).encode()
        fields = harness.sign_aws("test", "test", f"127.0.0.1:{self.server.port}", f"AmazonSQS.{action}", body)
        fields.pop("host")
        answer = self.call("POST", "/", body, fields)
        if answer is None:
            return None
        if answer.status != 200:
            self.ledger.breach(f"{action} answered {answer.status} {answer.body[:200]!r}")
            return None
        return answer.json() if answer.body else {}

    def send(self, body):
        if self.url is None:
            made = self.sqs("CreateQueue", QueueName="tortured", Attributes={"VisibilityTimeout": str(VISIBLE_AFTER)})
            self.url = made and made["QueueUrl"]
        if self.url is not None:
            self.sent[body] = False
            self.sent[body] = self.sqs("SendMessage", QueueUrl=self.url, MessageBody=body) is not None

    def take(self, **members):
        """Receives once and deletes what came; how many came, None: unknown."""
        if self.url is None:
            return None
        got = self.sqs("ReceiveMessage", QueueUrl=self.url, MaxNumberOfMessages=10,
                       MessageSystemAttributeNames=["ApproximateReceiveCount"], **members)
        if got is None:
            return None
        messages = got.get("Messages", [])
        for one in messages:
            message_id, count = one["MessageId"], int(one["Attributes"]["ApproximateReceiveCount"])
            earlier = self.counts.setdefault(message_id, [])
            if message_id in self.deleted:
                self.ledger.breach(f"pull: {message_id} was deleted and is received again")
            if earlier and count <= earlier[-1]:
                self.ledger.breach(f"pull: {message_id} was received with counts {earlier + [count]}")
            if one["Body"] not in self.sent or self.bodies.setdefault(message_id, one["Body"]) != one["Body"]:
                self.ledger.breach(f"phantom: {message_id} was received with {one['Body'][:60]!r}")
            earlier.append(count)
            if self.sqs("DeleteMessage", QueueUrl=self.url, ReceiptHandle=one["ReceiptHandle"]) is not None:
                self.deleted.add(message_id)
        return len(messages)

    def schedule(self, name, leave):
        target = "/v2/schedules/" + "http://127.0.0.1:9/never"
        answer = self.call("POST", target, b"x", {"Upstash-Cron": "0 0 1 1 *", "Upstash-Schedule-Id": name})
        self.schedules[name] = True if answer is not None and answer.status == 201 else None
        if self.schedules[name] and not leave:
            answer = self.call("DELETE", "/v2/schedules/" + name)
            self.schedules[name] = False if answer is not None and answer.status in (200, 202, 204) else None

    def check(self):
        """After the last start: everything that was sent comes, and the schedules are what was acknowledged."""
        empty_since = time.monotonic()
        while time.monotonic() - empty_since < 2 * VISIBLE_AFTER:
            if self.take(WaitTimeSeconds=1) != 0:
                empty_since = time.monotonic()
        received = set(self.bodies.values())
        for body, acknowledged in self.sent.items():
            if acknowledged and body not in received:
                self.ledger.breach(f"loss: {body} was sent to the queue and never came")
        if len(received) != len(self.bodies):
            self.ledger.breach(f"dedup: {len(self.bodies)} messages were received for {len(received)} bodies")
        there = {one["scheduleId"] for one in self.server.get("/v2/schedules").json()}
        for name, state in self.schedules.items():
            if state is not None and state != (name in there):
                self.ledger.breach(f"loss: schedule {name} was {'made' if state else 'deleted'} and is {'there' if name in there else 'gone'}")


class Matrix(Torture):
    patience = 4  # its deaths are seen a little after they happened

    def __init__(self, arguments):
        super().__init__(arguments)
        self.base = [*FLAGS, *arguments.flag]
        self.points = declared_points()
        self.hits = {name: [0, 0] for name, _ in self.points}  # plain, hold-unsynced
        self.late = []
        self.backups = 0

    def crash_at(self, name, when, passage, hold):
        """One life that ends at the point; False: it was not passed that often in time."""
        if when == "rotate":
            return self.rotate_until(name, hold)
        self.server.flags = [*self.base, *(HOLD if hold else []), "--crash-at", f"{name}:{passage}"]
        self.spawn()
        if when == "backup":
            self.server.wait_ready(READY_WITHIN)
            self.back_up()
        try:
            code = self.server.process.wait(patience := PASSED_AGAIN_WITHIN if when == "file" and passage > 1 else PASSED_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
            if passage == 1 or when == "run":
                self.ledger.breach(f"start: {name} was not passed {passage} times in {patience:.0f} s")
            self.late.append(f"{name}:{passage}")
            return False
        if code != -signal.SIGKILL:
            self.ledger.breach(f"the server ended with {code} at {name}: {self.server.output()[-800:]}")
            return False
        self.count_kill()
        self.hits[name][hold] += 1
        self.verify()
        return True

    def rotate_until(self, name, hold):
        """A rotation of the master key that ends at the point, of the server that was killed before. Its batch is synced then: a
        power cut takes nothing more than a kill does."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")} | {"HIKYAKU_CRASH_AT": f"{name}:1"}
        done = harness.run_binary("keys", "rotate-master", "--data", self.server.data, env=env, binary=self.server.binary, timeout=300)
        if done.returncode != -signal.SIGKILL:
            self.ledger.breach(f"the rotation ended with {done.returncode} at {name}: {done.stderr[-800:]}")
            return False
        self.hits[name][hold] += 1
        self.verify()
        return True

    def back_up(self):
        """Asks for a backup, and after the crash looks at what is there of it."""
        self.backups += 1
        target = os.path.join(self.server.home, f"backup-{self.backups}")
        with open(os.path.join(self.server.data, "admin.json")) as f:
            admin = json.load(f)

        try:
            answer = self.server.request("POST", "/api/v1/admin/backup", json.dumps({"directory": target}), token=admin["token"],
                                         headers={"Content-Type": "application/json"}, timeout=PASSED_WITHIN)
            self.ledger.breach(f"backup: the server did not die, it answered {answer.status} {answer.body[:300]!r}")
            self.kill()
        except (OSError, http.client.HTTPException):
            pass  # it died
        if os.path.exists(target):
            done = harness.run_binary("verify", "--data", target, binary=self.server.binary, timeout=300)
            if done.returncode != 0:
                self.ledger.breach(f"backup: one that has its name does not verify: {(done.stdout + done.stderr)[-400:]}")
        partial = target + ".partial"
        if os.path.exists(partial) and not os.path.exists(os.path.join(partial, "FORMAT")):
            done = harness.run_binary("verify", "--data", partial, binary=self.server.binary, timeout=300)
            if done.returncode == 0:
                self.ledger.breach("backup: an unfinished one is taken for a data directory")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)

    def recover(self):
        """A life without a crash, in which what was acknowledged is looked for."""
        self.server.flags = self.base
        self.start()
        self.sample()

    def cells(self):
        """(point, when, N, hold): every point once; all of it with each N, in both ways."""
        if not self.arguments.all:
            for number, (name, when) in enumerate(self.points):
                yield name, when, 5 + 3 * number if when == "run" else 1, number % 2 == 1
            return
        for hold in (False, True):
            for passage in (1, 2, 7, 60):
                for name, when in self.points:
                    if passage == 1 or when == "run" or (when == "file" and passage == 2):
                        yield name, when, passage, hold

    def run(self):
        stop = threading.Event()
        self.recover()
        traffic = self.make_publishers(stop)
        queues = Queues(self.server, self.ledger, stop)
        transfers, hooks = self.make_transfers(stop), self.make_webhooks(stop)
        for thread in (*traffic, queues, transfers, hooks):
            thread.start()
        starts = [(name, when) for name, when in self.points if when == "start"]
        begun = time.monotonic()
        for number, (name, when, passage, hold) in enumerate(self.cells()):
            self.kill()
            reached = self.crash_at(name, when, passage, hold)
            if reached and self.arguments.all and when != "start":  # … and while it recovers from that
                again, _ = starts[number % len(starts)]
                self.crash_at(again, "start", 1, hold)
            self.recover()
            if self.ledger.breaches:
                break
            if number % 10 == 9:
                print(f"  {number + 1} cells, {len(self.ledger.publications)} published, {time.monotonic() - begun:.0f} s", flush=True)
        stop.set()
        for thread in (*traffic, queues, transfers, hooks):
            thread.join(60)
        queues.check()
        transfers.check()
        hooks.check()
        self.check()
        for name, hits in self.hits.items():
            if sum(hits) == 0:
                self.ledger.breach(f"matrix: {name} was never reached")
        if (code := self.server.terminate()) != 0:
            self.ledger.breach(f"SIGTERM ends it with {code}: {self.server.output()[-800:]}")
        self.verify()
        for name, when in self.points:
            print(f"  {name:20} {when:7} kills {self.hits[name][0]:3}  power cuts {self.hits[name][1]:3}")
        print(f"crash matrix: {len(self.points)} points, {sum(map(sum, self.hits.values()))} deaths at them, "
              f"{len(queues.sent)} sent to a queue, {len(queues.schedules)} schedules"
              + (f"; not passed that often: {', '.join(self.late)}" if self.late else ""))
