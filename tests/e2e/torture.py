#!/usr/bin/env python3
"""Crash torture of the real binary: it is killed at random moments, again and again, while messages are
published to it and delivered by it; what publishers and receivers saw must agree in the end.

    python3 tests/e2e/torture.py --binary build/release/hikyaku --cycles 100 --seed 7 [--power]
    python3 tests/e2e/torture.py --binary build/release/hikyaku --corrupt 2000
    python3 tests/e2e/torture.py --binary build/release/hikyaku --matrix [--all]

--power runs the server with --storage-fault hold-unsynced: appended bytes stay in its memory until they are
synced, so that kill -9 loses exactly what a power cut may lose. (kill -9 alone proves nothing about power:
the page cache survives it.)

--corrupt kills nothing: that many copies of one data directory are damaged, each in another way (corrupt.py).

--matrix kills it at named points instead (torture_matrix.py): at each of them once, with --all at each of them
with several counts, without and with what was not synced, and again while it recovers from that.

What must hold:
  loss        an acknowledged message was delivered, or is in the DLQ, or still waits
  phantom     nothing is delivered that was not sent, and its bytes are the bytes that were sent
  order       what one publisher puts into a queue first comes in the order in which it was accepted
  dedup       one message per dedup id, however often its publish was repeated
  duplicates  a message is delivered again only if the server was killed in between, with a fence not used
              before, and not more often than attempts were in flight at the kills
  dead        what the receivers refused for good is in the DLQ, and nothing else is
  cancel      what was canceled stays so and is never sent
  start       the store verifies after each kill, and the server is ready again in time
  transfers   money that moves meanwhile: torture_transfers.py
  webhooks    messages to endpoints of every kind: torture_webhooks.py
Exit code 1 on any breach; the data directory is then kept.
"""
import argparse
import base64
import collections
import dataclasses
import hashlib
import http.client
import os
import random
import signal
import sys
import threading
import time

import corrupt
import harness
from harness import Answer, Receiver, Server

# An answer sent this long before a kill may not have been recorded yet; longer when the server is slow to answer, too.
RECORDED_WITHIN = 0.25
READY_WITHIN = 60.0
DRAIN_STALLED = 60.0


@dataclasses.dataclass
class Publication:
    """One thing a publisher wants delivered, and all it knows of it."""
    name: str
    kind: str
    digest: str
    dedup: bool
    queue: str = ""
    sends: int = 0
    ids: set = dataclasses.field(default_factory=set)  # acknowledged
    cancel_sent: bool = False
    canceled: bool = False


@dataclasses.dataclass
class Seen:
    """One request as a receiver got it, written down before it was answered."""
    message_id: str
    fence: str
    retried: str
    digest: str
    life: int
    at: float
    status: int = 0
    answered_at: float = 0.0


class Ledger:
    """What happened, from the outside. Guarded by its lock."""

    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.publications = {}
        self.seen = collections.defaultdict(list)  # publication name -> [Seen]
        self.life = 0  # how often the server was started
        self.in_flight_at_kills = 0
        self.slowest_call = 0.0  # in this life
        self.lost_answers = 0
        self.refused = 0
        self.breaches = []

    def breach(self, what):
        with self.lock:
            self.breaches.append(what)
        print(f"BREACH {what}", flush=True)

    def kind_of(self, name):
        """How the receiver treats a publication: drawn from the seed and its name alone."""
        draw = random.Random(f"{self.seed}/{name}").random()
        for share, kind in ((0.70, "ok"), (0.10, "flaky"), (0.05, "slow"), (0.05, "reset"), (0.04, "dead"), (0.03, "489"),
                            (0.03, "cancel")):
            if draw < share:
                return kind
            draw -= share
        return "ok"


class Recorder(Receiver):
    def __init__(self, ledger):
        self.ledger = ledger
        super().__init__()

    def record(self, got):
        name = got.path.rsplit("/", 1)[1]
        ledger = self.ledger
        with ledger.lock:
            earlier = len(ledger.seen[name])
            one = Seen(got.message_id, got.headers.get("Hikyaku-Fence", ""), got.headers.get("Upstash-Retried", ""),
                       hashlib.sha256(got.body).hexdigest(), ledger.life, time.monotonic())
            ledger.seen[name].append(one)
        kind = ledger.kind_of(name)
        answer = Answer()
        if kind == "flaky" and earlier < 2:
            answer = Answer(status=500)
        elif kind == "slow" and earlier == 0:
            answer = Answer(delay=random.Random(f"{ledger.seed}/{name}/delay").uniform(0.05, 0.8))
        elif kind == "reset" and earlier == 0:
            answer = Answer(action="reset")
        elif kind == "dead":
            answer = Answer(status=503)
        elif kind == "489":
            answer = Answer(status=489, headers={"Upstash-NonRetryable-Error": "true"})
        answer.one = one
        return answer

    def respond(self, handler, answer):
        if answer.delay:
            self.closing.wait(answer.delay)
            answer.delay = 0
        # Before the bytes leave: an answer that the server may have seen must not look unanswered.
        answer.one.status = 0 if answer.action else answer.status
        answer.one.answered_at = time.monotonic()
        super().respond(handler, answer)


class Caller(threading.Thread):
    """A thread of calls over one connection, which is made again after each death of the server."""

    def __init__(self, name, server, ledger, stop):
        super().__init__(daemon=True)
        self.server, self.ledger, self.stop = server, ledger, stop
        self.random = random.Random(f"{ledger.seed}/{name}")
        self.connection = None
        self.calling_since = None

    def call(self, method, target, body=b"", headers=None):
        """The status and the JSON of the answer; None: whether it was taken is unknown."""
        self.calling_since = time.monotonic()
        try:
            return self.exchange(method, target, body, headers)
        finally:
            with self.ledger.lock:
                self.ledger.slowest_call = max(self.ledger.slowest_call, time.monotonic() - self.calling_since)
            self.calling_since = None

    def exchange(self, method, target, body, headers):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
            fields = {"Authorization": "Bearer " + self.server.token, **(headers or {})}
            self.connection.request(method, target, body, fields)
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return None
        if answer.status >= 500:
            return None
        return harness.Response(answer.status, answer.headers, content)


class Publisher(Caller):
    pause = 0.006  # seconds between two publications, at most
    dedup_share = 0.5
    delay_share = 0.2

    def __init__(self, number, server, receiver, ledger, stop):
        super().__init__(f"publisher/{number}", server, ledger, stop)
        self.number, self.receiver = number, receiver

    def run(self):
        count = 0
        while not self.stop.is_set():
            self.publish(f"p-{self.number}-{count}")
            count += 1
            self.stop.wait(self.random.uniform(0, self.pause))

    def queue_for(self, kind):
        return f"q-{self.number}" if kind == "ok" and self.random.random() < 0.15 else ""

    def target(self, one):
        return (f"/v2/enqueue/{one.queue}/" if one.queue else "/v2/publish/") + self.receiver.url("/t/" + one.name)

    def publish(self, name):
        kind = self.ledger.kind_of(name)
        body = f"{name}:{self.random.random()}:".encode() + self.random.randbytes(self.random.choice((0, 50, 300, 5000)))
        dedup = self.random.random() < self.dedup_share
        one = Publication(name, kind, hashlib.sha256(body).hexdigest(), dedup, self.queue_for(kind))
        with self.ledger.lock:
            self.ledger.publications[name] = one
        headers = {"Upstash-Retries": "3", "Upstash-Retry-Delay": "40"}
        if dedup:
            headers["Upstash-Deduplication-Id"] = "d-" + name
        if kind == "cancel":
            headers["Upstash-Delay"] = "1h"
        elif not one.queue and self.random.random() < self.delay_share:
            headers["Upstash-Delay"] = "1s"

        # Under a dedup id a lost answer is asked for again. Without one, half of them are given up and half sent again.
        repeats = dedup or self.random.random() < 0.5
        while True:
            with self.ledger.lock:
                one.sends += 1
            answer = self.call("POST", self.target(one), body, headers)
            if answer is not None:
                break
            with self.ledger.lock:
                self.ledger.lost_answers += 1
            if not repeats or self.stop.is_set():
                return
            self.stop.wait(0.03)
        if answer.status not in (201, 202):
            with self.ledger.lock:
                self.ledger.refused += 1
            if answer.status != 429:
                self.ledger.breach(f"publish of {name} answered {answer.status} {answer.body[:200]!r}")
            return
        if answer.status == 202 and one.sends == 1:
            self.ledger.breach(f"{name} was sent once and called a duplicate")
        message_id = answer.json()["messageId"]
        with self.ledger.lock:
            one.ids.add(message_id)
        if kind == "cancel":
            self.cancel(one, message_id)

    def cancel(self, one, message_id):
        while not self.stop.is_set():
            with self.ledger.lock:
                one.cancel_sent = True
            answer = self.call("DELETE", "/v2/messages/" + message_id)
            if answer is not None:
                # 404: an earlier try did it and its answer was lost.
                if answer.status == 200 or answer.status == 404:
                    one.canceled = True
                else:
                    self.ledger.breach(f"cancel of {message_id} answered {answer.status} {answer.body[:200]!r}")
                return
            self.stop.wait(0.03)


class Torture:
    recorder = Recorder
    canceled_is = ("CANCELED",)
    patience = 1

    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(f"{arguments.seed}/killer")
        self.ledger = Ledger(arguments.seed)
        self.receiver = self.recorder(self.ledger)
        flags = ["--storage-fault", "hold-unsynced"] if arguments.power else []
        self.server = Server(*flags, *arguments.flag, binary=os.path.abspath(arguments.binary))
        self.slowest_start = 0.0
        self.publishers = []
        self.transfers = None
        self.webhooks = None
        self.kills = self.kills_while_starting = 0

    # ---- kill, verify, start ----

    def spawn(self):
        with self.ledger.lock:
            self.ledger.life += 1
            self.ledger.slowest_call = 0.0
        self.server.spawn()

    def start(self):
        begun = time.monotonic()
        self.spawn()
        self.server.wait_ready(READY_WITHIN)
        self.slowest_start = max(self.slowest_start, time.monotonic() - begun)

    def kill(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.count_kill()

    def count_kill(self):
        """The server is dead: which attempts of this life may have no outcome?"""
        now = time.monotonic()
        with self.ledger.lock:
            waiting = [now - since for publisher in self.publishers if (since := publisher.calling_since)]
            recorded_within = self.patience * RECORDED_WITHIN + 2 * max([self.ledger.slowest_call, *waiting])
            for requests in self.ledger.seen.values():
                last = requests[-1] if requests else None
                if last and last.life == self.ledger.life and (not last.answered_at or now - last.answered_at < recorded_within):
                    self.ledger.in_flight_at_kills += 1
        self.kills += 1

    def verify(self):
        done = harness.run_binary("verify", "--data", self.server.data, binary=self.server.binary, timeout=300)
        if done.returncode != 0:
            self.ledger.breach(f"verify exits {done.returncode} after kill {self.kills}: {(done.stdout + done.stderr)[-600:]}")

    def cycle(self):
        time.sleep(self.random.uniform(0.02, 0.8))
        if self.server.process.poll() is not None:
            self.ledger.breach(f"the server ended by itself with {self.server.process.returncode}: {self.server.output()[-800:]}")
        self.kill()
        self.verify()
        while self.random.random() < 0.15:  # … and in the middle of recovery
            self.spawn()
            time.sleep(self.random.uniform(0.0, 0.12))
            self.kill()
            self.kills_while_starting += 1
            self.verify()
        self.start()
        self.sample()

    def sample(self):
        """Acknowledged messages are known at once after a restart."""
        with self.ledger.lock:
            # Newest first: those the kill could have taken.
            recent = list(self.ledger.publications.values())[-400:]
        known = [(p.name, message_id) for p in recent for message_id in list(p.ids)]
        for name, message_id in self.random.sample(known, min(5, len(known))):
            answer = self.server.get("/api/v1/jobs/" + message_id)
            if answer.status != 200:
                self.ledger.breach(f"{name} ({message_id}) was acknowledged; after a restart its job answers {answer.status}")
        if self.transfers is not None:
            self.transfers.check_sums()
        if self.webhooks is not None:
            self.webhooks.check_held()

    # ---- the end ----

    def dead_letters(self):
        found, cursor = {}, None
        while True:
            page = self.server.get("/v2/dlq?count=100" + (f"&cursor={cursor}" if cursor else "")).json()
            for entry in page["messages"]:
                found[entry["messageId"]] = entry
            cursor = page.get("cursor")
            if cursor is None:
                return found

    def delivered(self):
        with self.ledger.lock:
            return {one.message_id for requests in self.ledger.seen.values() for one in requests if 200 <= one.status < 300}

    def drain(self):
        """Waits until every acknowledged message is settled, or nothing moves any more."""
        unsettled, moved = None, time.monotonic()
        while True:
            done, dead = self.delivered(), self.dead_letters()
            left = {message_id for p in self.ledger.publications.values() if p.kind != "cancel"
                    for message_id in p.ids if message_id not in done and message_id not in dead}
            if len(left) != unsettled:
                unsettled, moved = len(left), time.monotonic()
            if not left or time.monotonic() - moved > DRAIN_STALLED:
                return left
            time.sleep(0.2)

    def quiet(self):
        """Waits until no request has arrived for two seconds: late duplicates count too."""
        count, since = -1, time.monotonic()
        while time.monotonic() - since < 2:
            with self.ledger.lock:
                now = sum(len(requests) for requests in self.ledger.seen.values())
            if now != count:
                count, since = now, time.monotonic()
            time.sleep(0.1)

    def job_status(self, message_id):
        answer = self.server.get("/api/v1/jobs/" + message_id)
        return answer.json().get("status") if answer.status == 200 else f"HTTP {answer.status}"

    def check(self):
        ledger = self.ledger
        left = self.drain()
        self.quiet()
        dead, delivered = self.dead_letters(), self.delivered()
        waiting = 0
        for message_id in left:
            status = self.job_status(message_id)
            if status in ("PENDING", "RUNNING"):
                waiting += 1
            else:
                ledger.breach(f"loss: {message_id} was acknowledged, is neither delivered nor dead, and its job is {status}")
        if waiting:
            ledger.breach(f"stuck: {waiting} messages still wait after {DRAIN_STALLED:.0f} s without progress")
        for name, requests in ledger.seen.items():
            self.check_requests(name, requests)
        self.check_order()
        for p in ledger.publications.values():
            ids = p.ids | {one.message_id for one in ledger.seen.get(p.name, [])}
            if len(ids) > (1 if p.dedup else p.sends):
                ledger.breach(f"dedup: {p.name} (dedup {p.dedup}, sent {p.sends} times) became {len(ids)} messages: {ids}")
            for message_id in p.ids:
                if p.kind in ("dead", "489") and message_id not in dead:
                    ledger.breach(f"dead: {message_id} ({p.kind}) is not in the DLQ; its job is {self.job_status(message_id)}")
                if p.kind == "cancel" and p.canceled and (status := self.job_status(message_id)) not in self.canceled_is:
                    ledger.breach(f"cancel: {message_id} was canceled; its job is {status}")
        for message_id, entry in dead.items():
            name = entry["url"].rsplit("/", 1)[1]
            if ledger.kind_of(name) not in ("dead", "489"):
                ledger.breach(f"dead: {message_id} ({ledger.kind_of(name)}) is in the DLQ: {entry.get('responseStatus')} "
                              f"{entry.get('responseBody', '')[:100]}")
            elif name in ledger.publications and hashlib.sha256(body_of(entry)).hexdigest() != ledger.publications[name].digest:
                ledger.breach(f"dead: the body of {message_id} in the DLQ is not what was sent")
        self.repeats = self.count_repeats()
        if self.repeats > ledger.in_flight_at_kills:
            ledger.breach(f"duplicates: {self.repeats} repeats, but only {ledger.in_flight_at_kills} attempts in flight at kills")
        gaps = {k: v for k, v in self.server.metrics().items() if "conservation" in k and v != 0}
        if gaps:
            ledger.breach(f"conservation: {gaps}")

    def check_requests(self, name, requests):
        ledger, p = self.ledger, self.ledger.publications.get(name)
        if p is None:
            ledger.breach(f"phantom: {name} was never sent")
            return
        if p.kind == "cancel":
            ledger.breach(f"cancel: {name} is due in an hour and was delivered")
        by_message = collections.defaultdict(list)
        for one in requests:
            by_message[one.message_id].append(one)
            if one.digest != p.digest:
                ledger.breach(f"phantom: {name} arrived with other bytes than were sent")
        for message_id, attempts in by_message.items():
            fences = [one.fence for one in attempts]
            if "" in fences or len(set(fences)) != len(fences):
                ledger.breach(f"duplicates: {message_id} was sent with fences {fences}")
            # Within one life of the server an attempt follows only one that failed. The epoch names the life: a request
            # of a dead one may be read late.
            lives = collections.Counter(epoch_of(one.fence) for one in attempts if 200 <= one.status < 300)
            for life, count in lives.items():
                if count > 1:
                    ledger.breach(f"duplicates: {message_id} was delivered {count} times in life {life} of the server")

    def check_order(self):
        first = collections.defaultdict(list)  # queue -> [(when it first came, number)]
        for name, requests in self.ledger.seen.items():
            p = self.ledger.publications.get(name)
            if p and p.queue and requests:
                first[p.queue].append((min(one.at for one in requests), int(name.rsplit("-", 1)[1])))
        for queue, deliveries in first.items():
            numbers = [number for _, number in sorted(deliveries)]
            for earlier, later in zip(numbers, numbers[1:]):
                if later < earlier:
                    self.ledger.breach(f"order: in {queue}, {later} came after {earlier}")

    def count_repeats(self):
        repeats = 0
        for requests in self.ledger.seen.values():
            good = collections.Counter(one.message_id for one in requests if 200 <= one.status < 300)
            repeats += sum(count - 1 for count in good.values())
        return repeats

    def make_publishers(self, stop):
        count = self.arguments.publishers
        self.publishers = [Publisher(n, self.server, self.receiver, self.ledger, stop) for n in range(count)]
        return self.publishers

    def make_transfers(self, stop):
        from torture_transfers import Transfers  # it is made of what is above
        self.transfers = Transfers(self.server, self.ledger, stop)
        return self.transfers

    def make_webhooks(self, stop):
        from torture_webhooks import WebhookTraffic  # it is made of what is above
        self.webhooks = WebhookTraffic(self.server, self.ledger, stop)
        return self.webhooks

    def run(self):
        stop = threading.Event()
        self.start()
        threads = [*self.make_publishers(stop), self.make_transfers(stop), self.make_webhooks(stop)]
        for thread in threads:
            thread.start()
        begun = time.monotonic()
        for number in range(1, self.arguments.cycles + 1):
            self.cycle()
            if self.ledger.breaches:
                break
            if number % 10 == 0:
                print(f"  {number} cycles, {len(self.ledger.publications)} published, {time.monotonic() - begun:.0f} s", flush=True)
        stop.set()
        for thread in threads:
            thread.join(60)
        self.check()
        self.transfers.check()
        self.webhooks.check()
        if (code := self.server.terminate()) != 0:
            self.ledger.breach(f"SIGTERM ends it with {code}: {self.server.output()[-800:]}")
        self.verify()


def epoch_of(fence):
    """A fence is "partition.epoch.attempt"."""
    return fence.rsplit(".", 1)[0]


def body_of(entry):
    return base64.b64decode(entry["bodyBase64"]) if "bodyBase64" in entry else entry.get("body", "").encode()


def run_to_the_end(torture):
    """Runs it, says what was seen, and keeps the data if something was wrong. The exit code."""
    arguments = torture.arguments
    ledger = torture.ledger
    try:
        torture.run()
    except AssertionError as error:
        ledger.breach(f"start: {error}")
    finally:
        if torture.server.process is not None and torture.server.process.poll() is None:
            torture.server.kill()
    requests = sum(len(r) for r in ledger.seen.values())
    print(f"seed {arguments.seed}: {torture.kills} kills ({torture.kills_while_starting} while starting), "
          f"{len(ledger.publications)} publications, {sum(len(p.ids) for p in ledger.publications.values())} acknowledged, "
          f"{ledger.lost_answers} answers lost, {requests} requests received, {len(torture.delivered())} messages delivered, "
          f"{getattr(torture, 'repeats', 0)} repeats of at most {ledger.in_flight_at_kills}, "
          f"slowest start {torture.slowest_start:.2f} s")
    if ledger.breaches:
        print(f"{len(ledger.breaches)} BREACHES; again with --seed {arguments.seed}; data kept in {torture.server.home}")
        return 1
    torture.server.close()
    torture.receiver.close()
    print("no breach")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Crash torture of the real binary.")
    parser.add_argument("--binary", default="build/release/hikyaku")
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one; it is printed")
    parser.add_argument("--power", action="store_true", help="lose what was not synced, as a power cut may")
    parser.add_argument("--matrix", action="store_true", help="kill it at each named point instead")
    parser.add_argument("--all", action="store_true", help="the whole matrix")
    parser.add_argument("--corrupt", type=int, default=0, metavar="N", help="damage N copies of a data directory instead")
    parser.add_argument("--publishers", type=int, default=4)
    parser.add_argument("--flag", action="append", default=[], help="a further flag of the server, as --flag=--x")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    if arguments.corrupt:
        return 1 if corrupt.run(arguments.corrupt, arguments.seed, os.path.abspath(arguments.binary)) else 0
    how = "crash matrix" if arguments.matrix else f"{arguments.cycles} cycles{', power' if arguments.power else ''}"
    print(f"torture: seed {arguments.seed}, {how}", flush=True)
    kind = Torture
    if arguments.matrix:
        from torture_matrix import Matrix as kind  # it is made of what is above
    return run_to_the_end(kind(arguments))


if __name__ == "__main__":
    sys.exit(main())
