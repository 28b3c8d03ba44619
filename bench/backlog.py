"""The rows of big backlogs: what waits must cost memory that is bounded, disk that is given back, and nobody's speed.

A server with a backlog stands beside an empty one in the same run. They are measured in turns, so that what the rest of
the machine does falls on both; the ratio of the medians counts. Three backlogs: messages that are pushed to a destination
which never answers, messages that are due much later, messages of a queue that nobody pulls from. A fourth case has all
messages due at one instant.
"""
import http.client
import json
import os
import random
import shutil
import statistics
import string
import time

from processes import DEV_TOKEN, Floor, Server
from sqs import SqsBench

CASES = ("push", "delayed", "pull", "instant")
BODY_BYTES = 256
BATCH = 100
CONNECTIONS = 64
PROBE_DELAY = 3  # seconds
PROBE_RATE = 200
CLOCK_MS = 1.5  # the server counts whole milliseconds from when it took a message, we from before
LOG_BYTES = 128 << 20  # twice write_buffer_bytes: is there with and without a backlog
# Finished messages go at once, on both servers: otherwise nothing would be given back for three days.
RETENTION = ("--retention-finished", "1s")


def disk_bytes(folder):
    total = 0
    for name in os.listdir(folder):
        try:
            total += os.path.getsize(os.path.join(folder, name))
        except OSError:
            pass  # gone since
    return total


class Side:
    """A server with its data directory and a receiver of its own."""

    def __init__(self, bench):
        self.bench = bench
        self.data = bench.data()
        self.receiver = Floor(bench.tools, "--receiver")
        self.server = Server(bench.binary, self.data, *RETENTION)
        self.queue = None
        self.pulled_more = 0
        self.peak_mib = 0.0

    def hook(self):
        return f"http://127.0.0.1:{self.receiver.port}/hook"

    def disk(self):
        return disk_bytes(os.path.join(self.data, "db"))

    def note_peak(self):
        self.peak_mib = max(self.peak_mib, self.server.rss_mib("VmHWM"))

    def crash(self):
        self.note_peak()
        self.server.kill()
        self.server = Server(self.bench.binary, self.data, *RETENTION)
        return self.server.ready_seconds

    def close(self):
        self.server.stop()
        self.receiver.stop()
        shutil.rmtree(self.data, ignore_errors=True)


class BacklogBench:
    def __init__(self, bench, messages, cases):
        self.bench = bench
        self.messages = messages or (200_000 if bench.quick else 5_000_000)
        self.cases = cases
        self.sqs = SqsBench(bench)
        self.rounds = 2 if bench.quick else bench.rounds
        self.seconds = 1.5 if bench.quick else 5
        self.pulled = 20_000 if bench.quick else 60_000
        self.probe_seconds = 2 if bench.quick else 10
        self.raw = bench.raw.setdefault("backlog", {})
        self.empty_delivery = []

    # ---- filling ----
    def publish_many(self, side, destination, count, headers):
        """In batches; headers(i) are the options of item i of each batch."""
        rng = random.Random(count)
        letters = string.ascii_letters + string.digits + "-_"
        items = [{"destination": destination, "headers": headers(i),
                  "body": "".join(rng.choices(letters, k=BODY_BYTES))} for i in range(BATCH)]
        path = os.path.join(side.data, "batch.json")
        with open(path, "w") as f:
            json.dump(items, f)
        taken = 0
        while taken < count:
            # In pieces, so that a server that stops taking them is noticed.
            piece = min(count - taken, 500_000)
            done = self.bench.load(f"http://127.0.0.1:{side.server.port}/v2/batch", 16, 300, "--body-file", path,
                                   "--count", str(piece // BATCH), warmup=0)
            if done["created_total"] == 0 or done["non_2xx"] or done["errors"]:
                raise SystemExit(f"filling stopped at {taken:,} messages: {done}")
            taken += done["created_total"] * BATCH
        return taken

    def fill(self, case, side, count):
        if case == "pull":
            return self.sqs.until(count, lambda left: self.sqs.load(
                "send", side.server.port, side.queue, connections=CONNECTIONS, seconds=100, count=min(left, 500_000),
                batch=10, noise=1))
        if case == "push":
            self.hang = Floor(self.bench.tools, "--hang")
            return self.publish_many(side, f"http://127.0.0.1:{self.hang.port}/hook", count, lambda _: {})
        # To the receiver of the probes, so that those wait in the same lane; due over a day, from ten hours on.
        return self.publish_many(side, side.hook(), count,
                                 lambda i: {"upstash-delay": f"{36_000 + 21_600 * (i % 4)}s"})

    # ---- measuring ----
    def delivered(self, side):
        side.receiver.json("/reset")
        cpu = side.server.cpu_ns()
        sent = self.bench.load(side.server.publish_url(side.hook()), CONNECTIONS, self.seconds)
        stats, _ = self.bench.drain(side.receiver, sent["created_total"], sent["until_ns"])
        cpu = (side.server.cpu_ns() - cpu) / 1000 / max(1, sent["created_total"])
        return {"publish": sent["rps"], "cpu_us": cpu,
                "deliver": self.bench.received_between(stats, sent["from_ns"], sent["until_ns"]),
                "bad": sent["errors"] + sent["non_2xx"] + max(0, sent["created_total"] - stats["unique_ids"])}

    def pulled_through(self, side):
        """As many in as out: in the case of pull the backlog itself is what is received from."""
        cpu = side.server.cpu_ns()
        sent = self.sqs.load("send", side.server.port, side.queue, connections=CONNECTIONS, seconds=60,
                             count=self.pulled, batch=10)
        got = self.sqs.load("drain", side.server.port, side.queue, connections=CONNECTIONS, seconds=60,
                            count=sent["messages"])
        side.pulled_more += got["messages"] - sent["messages"]  # what was on its way when it had enough
        cpu = (side.server.cpu_ns() - cpu) / 1000 / max(1, got["messages"])
        return {"send": sent["rate"], "receive + delete": got["rate"], "cpu_us": cpu, "bad": sent["bad"] + got["bad"]}

    def probe(self, side):
        """How late messages fire that are due in a moment."""
        side.receiver.json("/reset")
        sent = self.bench.load(side.server.publish_url(side.hook()), 16, self.probe_seconds, "--rate", str(PROBE_RATE),
                               "--header", f"Upstash-Delay: {PROBE_DELAY}s", warmup=0)
        stats, _ = self.bench.drain(side.receiver, sent["created_total"], sent["until_ns"])
        seen = side.receiver.json("/latencies")
        late = {name: seen[f"{name}_us"] / 1000 - PROBE_DELAY * 1000 for name in ("min", "p50", "p99", "max")}
        return late | {"lost": max(0, sent["created_total"] - stats["unique_ids"])}

    @staticmethod
    def settle(sides):
        """Until the compactions are over that filling or starting has left behind."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            before = [side.server.cpu_ns() for side in sides]
            time.sleep(2)
            if all(side.server.cpu_ns() - was < 20e6 for side, was in zip(sides, before)):
                return

    def idle(self, sides):
        """CPU in milliseconds a second, of all at once."""
        self.settle(sides)
        before, since = [side.server.cpu_ns() for side in sides], time.monotonic()
        time.sleep(self.bench.idle_seconds)
        took = time.monotonic() - since
        return [(side.server.cpu_ns() - was) / 1e6 / took for side, was in zip(sides, before)]

    # ---- one backlog ----
    def run_case(self, case):
        sides = []
        try:
            empty, full = (sides.append(Side(self.bench)) or sides[-1] for _ in range(2))
            for side in (empty, full):
                side.queue = self.sqs.queue(side.server.port)
            started = time.monotonic()
            count = self.fill(case, full, self.messages)
            raw = self.raw[case] = {"messages": count, "fill_seconds": time.monotonic() - started}
            self.name = f"{count:,} {case}"
            print(f"  {self.name}: filled at {count / raw['fill_seconds']:,.0f}/s", flush=True)
            self.beside(case, empty, full, raw)
            self.bench.row(f"{self.name}: memory, the most", f"{full.peak_mib:.0f} MiB", "<= 512 MiB",
                           full.peak_mib <= 512, f"beside it the empty one: {empty.peak_mib:.0f} MiB")
            empty.close()
            self.drain(case, full, count, raw)
        finally:
            for side in sides:
                side.close()
            if getattr(self, "hang", None):
                self.hang.stop()
                self.hang = None

    def beside(self, case, empty, full, raw):
        idle = self.idle((empty, full))
        raw["idle_ms"] = idle
        more = idle[1] - idle[0]
        self.bench.row(f"{self.name}: CPU when idle", f"{idle[1] / 10:.2f} %", "+ 0.5 %", more <= 5,
                       f"beside it the empty one: {idle[0] / 10:.2f} %")
        payload = raw["messages"] * BODY_BYTES
        raw["disk"] = full.disk()
        self.bench.row(f"{self.name}: disk", f"{full.disk() / payload:.2f} x payload", "<= 2.5 + log",
                       full.disk() <= 2.5 * payload + LOG_BYTES, f"{full.disk() / 2**20:,.0f} MiB")
        # Both start again, so that neither has writes of its filling before it that become files while it is measured.
        self.restart(full, raw)
        empty.crash()
        self.settle((empty, full))
        late = raw["late_ms"] = [self.probe(side) for side in (empty, full)]
        self.bench.row(f"{self.name}: a delayed one is late by, max", f"{late[1]['max']:.0f} ms", "<= 1000 ms",
                       late[1]["max"] <= 1000 and late[1]["min"] > -CLOCK_MS and late[1]["lost"] == 0,
                       f"min {late[1]['min']:.1f}, p50 {late[1]['p50']:.1f}, p99 {late[1]['p99']:.1f} ms; empty: "
                       f"p50 {late[0]['p50']:.1f}, p99 {late[0]['p99']:.1f}, max {late[0]['max']:.0f} ms"
                       + (f", {late[1]['lost']} LOST" if late[1]["lost"] else ""))
        rounds = raw["rounds"] = []
        for number in range(self.rounds):
            order = (empty, full) if number % 2 == 0 else (full, empty)
            one = {side: self.delivered(side) | {"pull": self.pulled_through(side)} for side in order}
            rounds.append([one[empty], one[full]])
        for what, value, cpu in (("publish", lambda r: r["publish"], lambda r: r["cpu_us"]),
                                 ("deliver", lambda r: r["deliver"], lambda r: r["cpu_us"]),
                                 ("send", lambda r: r["pull"]["send"], lambda r: r["pull"]["cpu_us"]),
                                 ("receive + delete", lambda r: r["pull"]["receive + delete"],
                                  lambda r: r["pull"]["cpu_us"])):
            rates = [statistics.median(value(r[side]) for r in rounds) for side in (0, 1)]
            # Of a message's whole way, compactions included: says more than rates where others use the machine.
            costs = [statistics.median(cpu(r[side]) for r in rounds) for side in (0, 1)]
            bad = sum(r[1]["bad"] + r[1]["pull"]["bad"] for r in rounds)
            ratio = rates[1] / max(1, rates[0])
            self.bench.row(f"{self.name}: {what}", f"{ratio:.2f} of empty", ">= 0.8", ratio >= 0.8 and bad == 0,
                           f"{rates[1]:,.0f}/s of {rates[0]:,.0f}/s; its way costs the server {costs[1]:.0f} us of CPU "
                           f"and {costs[0]:.0f} us" + (f", {bad} BAD" if bad else ""))
        self.empty_delivery += [r[0]["deliver"] for r in rounds]
        empty.note_peak()
        full.note_peak()

    def restart(self, side, raw):
        # The first comes with all that a crash leaves in the log, the others with little.
        raw["ready_seconds"] = [side.crash() for _ in range(3)]
        self.bench.row(f"{self.name}: kill -9 to ready", f"{raw['ready_seconds'][0]:.2f} s", "<= 5 s",
                       max(raw["ready_seconds"]) <= 5,
                       f"again: {raw['ready_seconds'][1]:.2f} and {raw['ready_seconds'][2]:.2f} s; "
                       f"{side.server.rss_mib():.0f} MiB then")

    # ---- away with it ----
    def drain(self, case, side, count, raw):
        started = time.monotonic()
        most = side.disk()
        if case == "pull":
            self.sqs.until(count - side.pulled_more, lambda left: self.sqs.load(
                "drain", side.server.port, side.queue, connections=CONNECTIONS, seconds=100, count=min(left, 500_000)))
            most = max(most, side.disk())
        elif case == "push":
            port = self.hang.port
            self.hang.stop()
            self.hang = Floor(self.bench.tools, "--receiver", port=port)
            most = max(most, self.wait_for(self.hang, count, side))
        else:
            cancelled = 0
            while cancelled < count:
                some = self.cancel(side, 250_000)
                if some == 0:
                    raise SystemExit(f"only {cancelled} of {count} messages could be cancelled")
                cancelled += some
        seconds = time.monotonic() - started
        side.note_peak()
        payload = count * BODY_BYTES
        # The purge and the compactions follow on their own time. What has not shrunk for half a minute will not.
        least, moved = side.disk(), time.monotonic()
        while least > payload / 20 and time.monotonic() - moved < 30:
            time.sleep(0.5)
            most = max(most, side.disk())
            if side.disk() < least * 0.99:
                least, moved = side.disk(), time.monotonic()
        waited = time.monotonic() - started - seconds
        raw["drain"] = {"seconds": seconds, "rate": count / seconds, "disk_most": most, "disk_after": least,
                        "given_back_after_seconds": waited, "rss_mib": side.server.rss_mib()}
        how = "cancelled" if case == "delayed" else "drained"
        self.bench.row(f"{self.name}: disk after it is {how}", f"{least / payload:.2f} x payload", "<= 0.25",
                       least / payload <= 0.25,
                       f"{least / 2**20:,.0f} MiB, {waited:.0f} s after the last; on the way at most "
                       f"{most / payload:.2f} x; {how} at {count / seconds:,.0f}/s; memory {side.peak_mib:.0f} MiB")

    @staticmethod
    def wait_for(receiver, count, side):
        """Until so many have arrived; the most disk that was used meanwhile."""
        seen, moved, most = -1, time.monotonic(), 0
        while seen < count:
            now = receiver.json("/stats")["unique_ids"]
            if now != seen:
                seen, moved = now, time.monotonic()
            if time.monotonic() - moved > 60:
                raise SystemExit(f"only {seen} of {count} messages were delivered")
            most = max(most, side.disk())
            time.sleep(0.5)
        return most

    @staticmethod
    def cancel(side, count):
        connection = http.client.HTTPConnection("127.0.0.1", side.server.port, timeout=600)
        try:
            connection.request("DELETE", f"/v2/messages?count={count}", headers={"Authorization": "Bearer " + DEV_TOKEN})
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status >= 300:
                raise SystemExit(f"DELETE /v2/messages was answered {response.status}: {answer}")
            return answer["cancelled"]
        finally:
            connection.close()

    # ---- all at one instant ----
    def instant(self):
        side = Side(self.bench)
        try:
            if not self.empty_delivery:
                self.empty_delivery = [self.delivered(side)["deliver"] for _ in range(self.rounds)]
            side.receiver.json("/reset")
            count = min(self.messages, 1_000_000)
            # Time for filling at a slow machine's pace. A message that is taken too late would fire at once.
            at = int(time.time() + 15 + count / 10_000)
            count = self.publish_many(side, side.hook(), count, lambda _: {"upstash-not-before": str(at)})
            in_time = time.time() < at
            due_ns = time.monotonic_ns() + int(at * 1e9) - time.time_ns()
            time.sleep(max(0.0, at - time.time()))
            self.wait_for(side.receiver, count, side)
            stats = side.receiver.json("/stats")
            side.note_peak()
        finally:
            side.close()
        first = (stats["first_ns"] - due_ns) / 1e6
        seconds = (stats["last_ns"] - due_ns) / 1e9
        cap = statistics.median(self.empty_delivery)
        self.raw["instant"] = {"messages": count, "first_ms": first, "seconds": seconds, "rate": count / seconds,
                               "empty_delivery": cap, "rss_mib": side.peak_mib, "repeats": stats["repeats"]}
        ratio = count / seconds / max(1, cap)
        self.bench.row(f"{count:,} due at one instant: deliver", f"{ratio:.2f} of empty", ">= 0.8",
                       ratio >= 0.8 and first > -CLOCK_MS and in_time,
                       f"{count / seconds:,.0f}/s; the first {first:.0f} ms after its time, the last {seconds:.1f} s; "
                       f"{stats['repeats']} repeats" + ("" if in_time else "; the filling took too long"))
        self.bench.row(f"{count:,} due at one instant: memory, the most", f"{side.peak_mib:.0f} MiB", "<= 512 MiB",
                       side.peak_mib <= 512)

    def run(self):
        for case in self.cases:
            if case == "instant":
                self.instant()
            else:
                self.run_case(case)
