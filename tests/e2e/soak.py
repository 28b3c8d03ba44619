#!/usr/bin/env python3
"""A long run of the real binary under mixed work, with random kills and restarts: what leaks, drifts or gets lost shows
only after a while.

    python3 tests/e2e/soak.py --binary build/release/hikyaku --minutes 60 [--seed S] [--life SECONDS]

Publishes, batches, queues and a schedule of QStash; a standard and a FIFO queue of SQS. Every while the server is killed
with SIGKILL or asked to stop. What must hold is what torture.py says, and:
  order     what is enqueued arrives in that order; so does what is received of a FIFO group
  pulled    what SQS took is received, and not again once its deletion was confirmed
  schedule  one message a minute, also across restarts
  gap       the counters of the server add up (hikyaku_conservation_gap)
  files     the number of open files does not grow
Memory, files, the store's size and the latency of a publish are sampled; their slopes are printed.
Exit code 1 on any breach; the data directory is then kept.
"""
import argparse
import json
import os
import random
import statistics
import sys
import threading
import time

import harness
import torture
from harness import Answer
from torture import Publisher, Recorder, Seen, Torture

SAMPLE_EVERY = 2.0
GROUPS = 5
VISIBILITY = 15
# Connections come and go with the load; a leak of one per request, poll or restart passes this in minutes.
FILES_MAX_GROWTH = 100


class SoakRecorder(Recorder):
    """Runs of the schedule go elsewhere: nobody published them."""

    def __init__(self, ledger):
        self.runs = {}
        super().__init__(ledger)

    def record(self, got):
        if not got.path.startswith("/schedule/"):
            return super().record(got)
        answer = Answer()
        answer.one = Seen(got.message_id, "", "", "", 0, time.monotonic())
        with self.ledger.lock:
            self.runs.setdefault(got.message_id, answer.one.at)
        return answer


class Paced(Publisher):
    """Notes how long an accepted publish took."""
    pause = 0.06

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.latencies = []  # (at, seconds)

    def call(self, method, target, body=b"", headers=None):
        begun = time.monotonic()
        answer = super().call(method, target, body, headers)
        if answer is not None and answer.status in (201, 202):
            self.latencies.append((begun, time.monotonic() - begun))
        return answer


class Enqueuer(Paced):
    """One queue, one after the other: so the order of acceptance is known."""
    pause = 0.15
    dedup_share = 1.0

    def run(self):
        count = 0
        while not self.stop.is_set():
            name = f"q{self.number}-{count}"
            count += 1
            if self.ledger.kind_of(name) != "cancel":  # due in an hour: the queue would wait for it
                self.publish(name)
                self.stop.wait(self.random.uniform(0, self.pause))

    def queue_for(self, kind):
        return f"soak-{self.number}"


class BatchPublisher(Paced):
    pause = 0.6
    dedup_share = 1.0

    def run(self):
        count = 0
        while not self.stop.is_set():
            names = [f"b{self.number}-{count + i}" for i in range(self.random.randint(1, 10))]
            count += len(names)
            self.publish_all([name for name in names if self.ledger.kind_of(name) != "cancel"])
            self.stop.wait(self.random.uniform(0, self.pause))

    def publish_all(self, names):
        items, ones = [], []
        for name in names:
            body = f"{name}:{self.random.random()}"
            one = torture.Publication(name, self.ledger.kind_of(name), torture.hashlib.sha256(body.encode()).hexdigest(), True)
            ones.append(one)
            items.append({"destination": self.receiver.url("/t/" + name), "body": body, "headers": {
                "Upstash-Retries": "3", "Upstash-Retry-Delay": "40", "Upstash-Deduplication-Id": "d-" + name}})
        with self.ledger.lock:
            self.ledger.publications.update({one.name: one for one in ones})
        if not ones:
            return
        while not self.stop.is_set():
            with self.ledger.lock:
                for one in ones:
                    one.sends += 1
            answer = self.call("POST", "/v2/batch", json.dumps(items).encode())
            if answer is not None and answer.status < 300:
                with self.ledger.lock:
                    for one, made in zip(ones, answer.json(), strict=True):
                        one.ids.add(made["messageId"])
                return
            if answer is not None:
                self.ledger.breach(f"a batch was answered {answer.status} {answer.body[:200]!r}")
                return
            with self.ledger.lock:
                self.ledger.lost_answers += 1
            self.stop.wait(0.05)


class PulledQueue:
    """A queue of SQS with one that sends and one that receives. Each field is written by one of them only."""

    def __init__(self, soak, name, fifo):
        self.soak, self.name, self.fifo = soak, name + (".fifo" if fifo else ""), fifo
        attributes = {"VisibilityTimeout": str(VISIBILITY)} | ({"FifoQueue": "true"} if fifo else {})
        self.url = soak.server.make_queue(self.name, **attributes)
        self.tried, self.taken = {}, set()  # body -> how often it was sent; what was taken
        self.received, self.deleted = set(), set()
        self.unsure = set()  # the answer to its deletion was lost: it comes again, or does not
        self.newest = {}  # group -> number
        self.done = threading.Event()
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.send, self.receive)]

    def call(self, action, **members):
        """None: nobody knows."""
        try:
            answer = self.soak.server.sqs(action, QueueUrl=self.url, **members)
        except (OSError, harness.http.client.HTTPException):
            return None
        if answer.status >= 500:
            return None
        if answer.status != 200:
            self.soak.ledger.breach(f"{action} at {self.name} answered {answer.status} {answer.body[:200]!r}")
            return None
        return answer.json()

    def send(self):
        number = 0
        while not self.soak.stop.is_set():
            body = f"{self.name}:{number % GROUPS}:{number}"
            members = {"MessageBody": body}
            if self.fifo:
                members |= {"MessageGroupId": str(number % GROUPS), "MessageDeduplicationId": body}
            self.tried[body] = 0
            while not self.soak.stop.is_set():
                self.tried[body] += 1
                if self.call("SendMessage", **members) is not None:
                    self.taken.add(body)
                    break
                self.soak.stop.wait(0.05)
            number += 1
            self.soak.stop.wait(0.05)

    def receive(self):
        while not self.done.is_set():
            got = self.call("ReceiveMessage", MaxNumberOfMessages=10, WaitTimeSeconds=1)
            if got is None:
                self.done.wait(0.05)
            for message in (got or {}).get("Messages", []):
                self.judge(message["Body"])
                gone = self.call("DeleteMessage", ReceiptHandle=message["ReceiptHandle"]) is not None
                (self.deleted if gone else self.unsure).add(message["Body"])

    def judge(self, body):
        breach = self.soak.ledger.breach
        if body not in self.tried:
            breach(f"phantom: {body!r} was received and never sent")
        if body in self.deleted:
            # Without a dedup id a send whose answer was lost may have made two of it.
            if self.fifo or self.tried.get(body) == 1:
                breach(f"pulled: {body} was received after its deletion was confirmed")
        elif body not in self.received and self.fifo:
            _, group, number = body.split(":")
            if int(number) < self.newest.get(group, -1):
                breach(f"order: {body} was received after number {self.newest[group]} of its group")
            self.newest[group] = int(number)
        self.received.add(body)

    def finish(self):
        """After the last send: waits for what is still there."""
        left, moved = None, time.monotonic()
        while time.monotonic() - moved < VISIBILITY + torture.DRAIN_STALLED:
            now = len(self.taken - self.deleted - self.unsure)
            if now == 0:
                break
            if now != left:
                left, moved = now, time.monotonic()
            time.sleep(0.1)
        self.done.set()
        self.threads[1].join(60)
        if missing := self.taken - self.received:
            self.soak.ledger.breach(f"pulled: {len(missing)} messages of {self.name} are lost, such as {min(missing)}")
        if kept := (self.taken & self.received) - self.deleted - self.unsure:
            self.soak.ledger.breach(f"pulled: {len(kept)} messages of {self.name} could not be deleted, such as {min(kept)}")


class Samples:
    """What the process looks like from the outside, life by life."""

    def __init__(self):
        self.rows = []  # (life, age, at, rss MiB, files, store MiB)

    def take(self, life, begun, pid, data):
        try:
            with open(f"/proc/{pid}/status") as f:
                rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:")) / 1024
            files = len(os.listdir(f"/proc/{pid}/fd"))
        except (OSError, StopIteration):
            return  # it is gone
        size = 0
        for name in os.listdir(data):
            try:
                size += os.path.getsize(os.path.join(data, name))
            except OSError:
                continue
        now = time.monotonic()
        self.rows.append((life, now - begun, now, rss, files, size / 2**20))

    def slope_per_hour(self, column):
        """Least squares over all lives, each with a level of its own, without the first third of each (it warms up)."""
        up = down = 0.0
        for life in {row[0] for row in self.rows}:
            rows = [row for row in self.rows if row[0] == life]
            rows = rows[len(rows) // 3:]
            if len(rows) < 3:
                continue
            at = statistics.fmean(row[1] for row in rows)
            level = statistics.fmean(row[column] for row in rows)
            up += sum((row[1] - at) * (row[column] - level) for row in rows)
            down += sum((row[1] - at) ** 2 for row in rows)
        return 3600 * up / down if down else 0.0

    def growth(self, column):
        """From the first to the last quarter of the whole run."""
        quarter = max(1, len(self.rows) // 4)
        middle = lambda rows: statistics.median(row[column] for row in rows)
        return middle(self.rows[-quarter:]) - middle(self.rows[:quarter])


class Soak(Torture):
    recorder = SoakRecorder
    canceled_is = ("CANCELED", "HTTP 404")  # which is forgotten after a while

    def __init__(self, arguments):
        super().__init__(arguments)
        self.stop = threading.Event()
        self.samples = Samples()
        self.life_begun = 0.0
        self.stops = 0

    def start(self):
        super().start()
        self.life_begun = time.monotonic()
        self.samples.take(self.ledger.life, self.life_begun, self.server.process.pid, self.server.data)

    def end_life(self):
        if self.random.random() < 0.5:
            self.kill()
        else:
            self.stops += 1
            if (code := self.server.terminate()) != 0:
                self.ledger.breach(f"SIGTERM ends it with {code}: {self.server.output()[-800:]}")
        self.verify()

    def live(self, until):
        while (now := time.monotonic()) < until:
            if self.server.process.poll() is not None:
                self.ledger.breach(f"the server ended by itself with {self.server.process.returncode}: "
                                   f"{self.server.output()[-800:]}")
                return
            self.samples.take(self.ledger.life, self.life_begun, self.server.process.pid, self.server.data)
            time.sleep(min(SAMPLE_EVERY, max(0.0, until - now)))

    def run(self):
        self.start()
        made = self.server.request("POST", "/v2/schedules/" + self.receiver.url("/schedule/run"), b"",
                                   {"Upstash-Cron": "* * * * *"})
        assert made.status < 300, made.body
        scheduled_at = time.time()
        make = lambda kind, number: kind(number, self.server, self.receiver, self.ledger, self.stop)
        workers = [*(make(Paced, n) for n in range(self.arguments.publishers)), *(make(Enqueuer, n) for n in range(2)),
                   make(BatchPublisher, 0)]
        self.publishers = workers
        queues = [PulledQueue(self, "standard", False), PulledQueue(self, "ordered", True)]
        for thread in [*workers, *(thread for queue in queues for thread in queue.threads)]:
            thread.start()
        begun = time.monotonic()
        end = begun + 60 * self.arguments.minutes
        while time.monotonic() < end and not self.ledger.breaches:
            life = self.random.uniform(0.3, 1.7) * self.arguments.life
            self.live(min(end, time.monotonic() + life))
            if time.monotonic() < end and not self.ledger.breaches:
                self.end_life()
                self.start()
                self.sample()
                last = self.samples.rows[-1]
                print(f"  {(time.monotonic() - begun) / 60:.1f} min: {len(self.ledger.publications)} published, "
                      f"{sum(len(queue.deleted) for queue in queues)} pulled, {self.kills} kills, {self.stops} stops, "
                      f"{last[3]:.0f} MiB, {last[4]} files, store {last[5]:.0f} MiB", flush=True)
        runs, minutes = len(self.receiver.runs), int(time.time() // 60) - int(scheduled_at // 60)
        self.stop.set()
        for worker in workers:
            worker.join(60)
        for queue in queues:
            queue.threads[0].join(60)
            queue.finish()
        self.check()
        # The run of this very minute may be on its way, or have come before it was counted.
        if not minutes - 1 <= runs <= minutes + 1:
            self.ledger.breach(f"schedule: {runs} runs in {minutes} minutes")
        # In a short run the first connections count as growth.
        if self.arguments.minutes >= 5 and (growth := self.samples.growth(4)) > FILES_MAX_GROWTH:
            self.ledger.breach(f"files: {growth:.0f} more are open at the end than at the beginning")
        if (code := self.server.terminate()) != 0:
            self.ledger.breach(f"SIGTERM ends it with {code}: {self.server.output()[-800:]}")
        self.verify()
        self.report(workers, queues, runs)

    def report(self, workers, queues, runs):
        latencies = sorted(pair for worker in workers for pair in worker.latencies)
        p99 = lambda part: 1000 * statistics.quantiles([took for _, took in part], n=100)[98] if len(part) > 1 else 0.0
        half = len(latencies) // 2
        rows = self.samples.rows
        print(f"memory {statistics.median(row[3] for row in rows):.0f} MiB, at most {max(row[3] for row in rows):.0f}, slope "
              f"{self.samples.slope_per_hour(3):+.1f} MiB/h; open files {statistics.median(row[4] for row in rows):.0f}, slope "
              f"{self.samples.slope_per_hour(4):+.1f}/h; store {rows[-1][5]:.0f} MiB; p99 of a publish "
              f"{p99(latencies[:half]):.1f} ms in the first half, {p99(latencies[half:]):.1f} ms in the second; "
              f"{sum(len(queue.deleted) for queue in queues)} pulled, {runs} runs of the schedule, {self.stops} stops")
        if self.arguments.samples:
            with open(self.arguments.samples, "w") as f:
                f.write("life,age,at,rss_mib,files,store_mib\n")
                f.writelines(",".join(f"{value:.3f}" for value in row) + "\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description="A long run under mixed work.")
    parser.add_argument("--binary", default="build/release/hikyaku")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--life", type=float, default=240, help="seconds between two restarts, on average")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one; it is printed")
    parser.add_argument("--power", action="store_true", help="lose what was not synced, as a power cut may")
    parser.add_argument("--publishers", type=int, default=3)
    parser.add_argument("--samples", help="a file for the samples, as CSV")
    parser.add_argument("--flag", action="append", default=[], help="a further flag of the server, as --flag=--x")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    # So that the store reaches the size that it keeps.
    arguments.flag = ["--retention-finished", "10m", *arguments.flag]
    print(f"soak: seed {arguments.seed}, {arguments.minutes:g} minutes", flush=True)
    return torture.run_to_the_end(Soak(arguments))


if __name__ == "__main__":
    sys.exit(main())
