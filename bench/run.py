#!/usr/bin/env python3
"""Measures the server against what this machine can do at most, and writes down both.

Machines differ and are noisy, so no figure stands alone: publishes are a share of a bare epoll loop
(floor.cpp), latencies a multiple of one fdatasync, all taken in the same run and in turns.
A benchmark is not a test: the exit code is 0 whether or not a bar was reached.

    python3 bench/run.py --build build/release [--quick] [--only sqs|peers]
    python3 bench/run.py --only backlog [--messages 20000000] [--cases delayed,pull]
    python3 bench/run.py --against OTHER_HIKYAKU [--quick] [--only publish|sqs]
"""
import argparse
import datetime
import http.client
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from against import Against
from backlog import CASES, BacklogBench
from contention import Contention
from ledger import LedgerBench
from outbox import OutboxBench
from overload import OverloadBench
from peers import PeersBench
from processes import DEV_TOKEN, Floor, Server
from sqs import SqsBench
from transact import TransactBench
from webhooks import WebhookBench

CONTENTION = ("fairness", "limits", "connections", "large", "sustained")  # each alone; "contention" is all of them
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Bench:
    def __init__(self, arguments):
        self.tools = os.path.join(arguments.build, "bench")
        self.binary = arguments.binary or os.path.join(arguments.build, "hikyaku")
        self.seconds = 1.5 if arguments.quick else 5
        self.warmup = 0.5 if arguments.quick else 1
        self.rounds = max(3, arguments.rounds)
        self.sustained_seconds = 3 if arguments.quick else 10
        self.latency_seconds = 4 if arguments.quick else 15
        self.idle_seconds = 3 if arguments.quick else 10
        self.data_root = arguments.data
        self.quick = arguments.quick
        self.messages = arguments.messages
        self.cases = arguments.cases.split(",")
        self.rows = []
        self.raw = {}

    def data(self):
        return tempfile.mkdtemp(prefix="hikyaku-bench-", dir=self.data_root)

    def load(self, url, connections, seconds, *flags, warmup=None):
        command = [os.path.join(self.tools, "load"), "--url", url, "--connections", str(connections),
                   "--seconds", str(seconds), "--warmup", str(self.warmup if warmup is None else warmup),
                   "--header", "Authorization: Bearer " + DEV_TOKEN, *flags]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                              timeout=seconds + 60)
        return json.loads(done.stdout)

    def row(self, name, value, bar, reached, detail=""):
        self.rows.append({"name": name, "value": value, "bar": bar, "reached": reached,
                          "detail": detail})
        print(f"  {name:<52} {value:<20} {bar:<12} {'reached' if reached else 'NOT reached':<12} {detail}",
              flush=True)

    # ---- (4) idle: first, while nothing has run ----
    def idle(self, server):
        time.sleep(1)
        before, since = server.cpu_seconds(), time.monotonic()
        time.sleep(self.idle_seconds)
        cpu = 100 * (server.cpu_seconds() - before) / (time.monotonic() - since)
        rss = server.rss_mib()
        self.raw["idle"] = {"cpu_percent": cpu, "rss_mib": rss, "ready_seconds": server.ready_seconds}
        self.row("idle CPU", f"{cpu:.2f} %", "< 1 %", cpu < 1)
        self.row("idle memory", f"{rss:.1f} MiB", "< 64 MiB", rss < 64)

    # ---- (1) durable publishes, in turns with the floor ----
    def publish(self, name, server, destination, flags, bars):
        with Floor(self.tools) as floor:
            for connections, bar in bars:
                runs = []
                for _ in range(self.rounds):
                    base = self.load(f"http://127.0.0.1:{floor.port}/v2/publish/{destination}",
                                     connections, self.seconds, *flags)
                    ours = self.load(server.publish_url(destination), connections, self.seconds, *flags)
                    runs.append({"floor": base, "server": ours})
                self.raw.setdefault("publish", {}).setdefault(name, {})[connections] = runs
                ratio = statistics.median(r["server"]["rps"] / max(1, r["floor"]["rps"]) for r in runs)
                rps = statistics.median(r["server"]["rps"] for r in runs)
                base = statistics.median(r["floor"]["rps"] for r in runs)
                p99 = statistics.median(r["server"]["p99_us"] for r in runs)
                bad = sum(r["server"]["errors"] + r["server"]["non_2xx"] for r in runs)
                self.row(f"publish 256 B, {name}, {connections} connections", f"{ratio:.2f} of the floor",
                         f">= {bar}", ratio >= bar and bad == 0,
                         f"{rps:,.0f}/s of {base:,.0f}/s, p99 {p99 / 1000:.1f} ms"
                         + (f", {bad} BAD ANSWERS (first {runs[0]['server']['first_bad_answer']})" if bad else ""))

    # ---- (2) publish -> delivered -> recorded ----
    def received_between(self, stats, start, end):
        """Arrivals per second in the whole buckets inside [start, end)."""
        width, first = stats["bucket_ns"], stats["first_ns"]
        inside = [count for i, count in enumerate(stats["buckets"])
                  if first + i * width >= start and first + (i + 1) * width <= end]
        return sum(inside) / (len(inside) * width / 1e9) if inside else 0.0

    def drain(self, receiver, expected, since):
        """Waits until every acknowledged message has arrived, or nothing has for ten seconds."""
        seen, moved = -1, time.monotonic()
        while True:
            stats = receiver.json("/stats")
            if stats["unique_ids"] != seen:
                seen, moved = stats["unique_ids"], time.monotonic()
            if seen >= expected or time.monotonic() - moved > 10:
                return stats, max(0.0, (stats["last_ns"] - since) / 1e9)
            time.sleep(0.05)

    def delivered(self, connections, *flags):
        """Publishes to a fresh server until the time is over, and waits for the deliveries."""
        data = self.data()
        try:
            with Floor(self.tools, "--receiver") as receiver, Server(self.binary, data) as server:
                hook = f"http://127.0.0.1:{receiver.port}/hook"
                before = server.cpu_ns()
                ours = self.load(server.publish_url(hook), connections, self.sustained_seconds, *flags)
                stats, drain = self.drain(receiver, ours["created_total"], ours["until_ns"])
                cpu = server.cpu_ns() - before
                received = self.received_between(stats, ours["from_ns"], ours["until_ns"])
                rss = server.rss_mib()
        finally:
            shutil.rmtree(data, ignore_errors=True)
        return {"publish": ours, "received_rps": received, "rps": min(ours["rps"], received),
                "drain_seconds": drain, "rss_mib": rss, "cpu_ns": cpu, "repeats": stats["repeats"],
                "lost": max(0, ours["created_total"] - stats["unique_ids"])}

    def sustained(self, connections, bar):
        runs = []
        for _ in range(self.rounds):
            with Floor(self.tools) as floor:
                base = self.load(f"http://127.0.0.1:{floor.port}/hook", connections, self.seconds)
            runs.append({"floor": base, **self.delivered(connections)})
        self.raw.setdefault("sustained", {})[connections] = runs
        ratio = statistics.median(r["rps"] / max(1, r["floor"]["rps"]) for r in runs)
        lost = sum(r["lost"] for r in runs)
        bad = sum(r["publish"]["errors"] + r["publish"]["non_2xx"] for r in runs)
        median = lambda key: statistics.median(r[key] for r in runs)
        self.row(f"publish to delivered, {connections} connections", f"{ratio:.2f} of the floor",
                 f">= {bar}", ratio >= bar and lost == 0 and bad == 0,
                 f"{median('rps'):,.0f}/s (acknowledged "
                 f"{statistics.median(r['publish']['rps'] for r in runs):,.0f}/s, received "
                 f"{median('received_rps'):,.0f}/s), drained in {median('drain_seconds'):.2f} s, "
                 f"{sum(r['repeats'] for r in runs)} repeats, {median('rss_mib'):.0f} MiB"
                 + (f", {lost} LOST" if lost else "") + (f", {bad} BAD ANSWERS" if bad else ""))

    # ---- many flow-control keys at once, none of them at its limit ----
    def flow_keys(self, connections, keys, bar):
        runs = [{"none": self.delivered(connections),
                 "keys": self.delivered(connections, "--flow-keys", str(keys))}
                for _ in range(self.rounds)]
        self.raw["flow_keys"] = runs
        ratio = statistics.median(r["keys"]["rps"] / max(1, r["none"]["rps"]) for r in runs)
        sides = [side for r in runs for side in r.values()]
        lost = sum(s["lost"] for s in sides)
        bad = sum(s["publish"]["errors"] + s["publish"]["non_2xx"] for s in sides)
        median = lambda side, key: statistics.median(r[side][key] for r in runs)
        self.row(f"publish to delivered, {keys:,} flow-control keys", f"{ratio:.2f} of without",
                 f">= {bar}", ratio >= bar and lost == 0 and bad == 0,
                 f"{median('keys', 'rps'):,.0f}/s of {median('none', 'rps'):,.0f}/s, "
                 f"{median('keys', 'rss_mib'):.0f} MiB of {median('none', 'rss_mib'):.0f} MiB"
                 + (f", {lost} LOST" if lost else "") + (f", {bad} BAD ANSWERS" if bad else ""))

    # ---- (3) latency at a rate well below capacity ----
    def probe(self, data):
        done = subprocess.run([os.path.join(self.tools, "sync_probe"), "--dir", data, "--count", "300"],
                              stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    def latency_once(self):
        data = self.data()
        try:
            with Floor(self.tools, "--receiver") as receiver, Server(self.binary, data) as server:
                url = server.publish_url(f"http://127.0.0.1:{receiver.port}/hook")
                self.load(url, 16, 1, "--rate", "500", warmup=0)
                time.sleep(0.5)
                before = self.probe(data)
                receiver.json("/reset")
                publish = self.load(url, 16, self.latency_seconds, "--rate", "500", warmup=0)
                self.drain(receiver, publish["created_total"], publish["until_ns"])
                seen = receiver.json("/latencies")
                after = self.probe(data)
        finally:
            shutil.rmtree(data, ignore_errors=True)
        return {"publish": publish, "seen": seen, "sync_p50_us": (before["p50_us"] + after["p50_us"]) / 2,
                "sync_p99_us": (before["p99_us"] + after["p99_us"]) / 2}

    def latency(self):
        runs = [self.latency_once() for _ in range(self.rounds)]
        self.raw["latency"] = runs
        sync = statistics.median(r["sync_p50_us"] for r in runs)
        for name, syncs, slack in (("p50", 1, 1000), ("p99", 3, 5000)):
            value = statistics.median(r["seen"][f"{name}_us"] for r in runs)
            bound = statistics.median(syncs * r["sync_p50_us"] + slack for r in runs)
            reached = statistics.median(
                r["seen"][f"{name}_us"] - syncs * r["sync_p50_us"] - slack for r in runs) <= 0
            self.row(f"publish to receiver at 500/s, {name}", f"{value / 1000:.2f} ms",
                     f"<= {bound / 1000:.2f} ms", reached,
                     f"{syncs} x fdatasync ({sync / 1000:.2f} ms) + {slack // 1000} ms; acknowledged in "
                     f"{statistics.median(r['publish'][f'{name}_us'] for r in runs) / 1000:.2f} ms")

    # ---- (5) one request, many messages ----
    def batch(self, connections, size, bar):
        runs = []
        for _ in range(self.rounds):
            data = self.data()
            try:
                items = os.path.join(data, "batch.json")
                with open(items, "w") as f:
                    json.dump([{"destination": "http://127.0.0.1:9/hook", "body": "." * 256,
                                "headers": {"upstash-delay": "1h"}}] * size, f)
                with Server(self.binary, data) as server:
                    one = self.load(server.publish_url("http://127.0.0.1:9/hook"), connections, self.seconds,
                                    "--header", "Upstash-Delay: 1h")
                    many = self.load(f"http://127.0.0.1:{server.port}/v2/batch", connections, self.seconds,
                                     "--body-file", items)
            finally:
                shutil.rmtree(data, ignore_errors=True)
            runs.append({"single": one, "batch": many, "messages_rps": many["rps"] * size})
        self.raw["batch"] = runs
        ratio = statistics.median(r["messages_rps"] / max(1, r["single"]["rps"]) for r in runs)
        bad = sum(r[key]["errors"] + r[key]["non_2xx"] for r in runs for key in ("single", "batch"))
        median = lambda value: statistics.median(value(r) for r in runs)
        self.row(f"batches of {size}, {connections} connections", f"{ratio:.2f} of single", f">= {bar}",
                 ratio >= bar and bad == 0,
                 f"{median(lambda r: r['messages_rps']):,.0f} messages/s, single publishes "
                 f"{median(lambda r: r['single']['rps']):,.0f}/s, p99 of a batch "
                 f"{median(lambda r: r['batch']['p99_us']) / 1000:.1f} ms"
                 + (f", {bad} BAD ANSWERS" if bad else ""))

    def call(self, server, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            connection.request(method, path, body, {"Authorization": "Bearer " + DEV_TOKEN})
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status >= 300:
                raise SystemExit(f"{method} {path} was answered {response.status}: {answer}")
            return answer
        finally:
            connection.close()

    def fan_out(self, endpoints, publishes):
        runs = []
        for _ in range(self.rounds):
            data = self.data()
            try:
                with Floor(self.tools, "--receiver") as receiver, Server(self.binary, data) as server:
                    hook = f"http://127.0.0.1:{receiver.port}/hook"
                    self.call(server, "POST", "/v2/topics/bench/endpoints", json.dumps(
                        {"endpoints": [{"url": f"{hook}?{i}"} for i in range(endpoints)]}))
                    start, acknowledged = time.monotonic_ns(), []
                    for _ in range(publishes):
                        before = time.monotonic()
                        made = self.call(server, "POST", "/v2/publish/bench", "." * 256)
                        acknowledged.append(time.monotonic() - before)
                        assert len(made) == endpoints
                    stats, _ = self.drain(receiver, endpoints * publishes, start)
            finally:
                shutil.rmtree(data, ignore_errors=True)
            runs.append({"ack_seconds": acknowledged, "seconds": (stats["last_ns"] - start) / 1e9,
                         "lost": max(0, endpoints * publishes - stats["unique_ids"]),
                         "repeats": stats["repeats"]})
        self.raw["fan_out"] = runs
        lost = sum(r["lost"] for r in runs)
        rate = statistics.median(endpoints * publishes / max(1e-9, r["seconds"]) for r in runs)
        self.row(f"fan-out to {endpoints:,} endpoints", f"{rate:,.0f} messages/s", "none lost", lost == 0,
                 f"{publishes} publishes, each acknowledged in "
                 f"{statistics.median(x for r in runs for x in r['ack_seconds']) * 1000:.0f} ms, "
                 f"{sum(r['repeats'] for r in runs)} repeats" + (f", {lost} LOST" if lost else ""))

    # ---- (6) what must not grow with what is there ----
    def schedules(self, bar):
        """A minute in which 100 of the schedules run: with 100,000 of them, and with 1,000."""
        data = self.data()
        try:
            done = subprocess.run([os.path.join(self.tools, "schedules"), os.path.join(data, "db")],
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=900)
        finally:
            shutil.rmtree(data, ignore_errors=True)
        rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines()[1:]]
        self.raw["schedules"] = rows
        few, many = rows[0], rows[-1]
        ratio = many[2] / max(1e-9, few[2])
        self.row(f"a minute's 100 runs among {many[0]:,.0f} schedules", f"{ratio:.2f} of {few[0]:,.0f}",
                 f"<= {bar}", ratio <= bar,
                 f"{many[2]:.2f} ms and {few[2]:.2f} ms; all of them in one minute: {many[4]:.1f} us a run")

    def listing(self, count, bar):
        """The first page of 100 dead letters and of 100 events, against the get of one message."""
        data = self.data()
        try:
            with Server(self.binary, data):
                pass  # makes the directory and its tenant
            done = subprocess.run([os.path.join(self.tools, "dead_letters"), os.path.join(data, "db"),
                                   str(count)], stdout=subprocess.PIPE, text=True, check=True, timeout=1800)
            message = done.stdout.strip()
            with Server(self.binary, data) as server:
                ready = server.ready_seconds
                took = {}
                for name, path in (("get", f"/v2/messages/{message}"), ("dlq", "/v2/dlq?count=100"),
                                   ("dlq newest", "/v2/dlq?count=100&order=latestFirst"),
                                   ("events", "/v2/events?count=100")):
                    self.call(server, "GET", path, None)
                    times = []
                    for _ in range(200):
                        before = time.perf_counter()
                        self.call(server, "GET", path, None)
                        times.append(time.perf_counter() - before)
                    took[name] = statistics.median(times)
        finally:
            shutil.rmtree(data, ignore_errors=True)
        self.raw["listing"] = {"count": count, "ready_seconds": ready, "seconds": took}
        for name in ("dlq", "dlq newest", "events"):
            ratio = took[name] / took["get"]
            self.row(f"first page, {name}, {count:,} dead letters", f"{ratio:.1f} gets", f"<= {bar}",
                     ratio <= bar, f"{took[name] * 1000:.2f} ms, a get {took['get'] * 1000:.2f} ms; "
                     f"started in {ready:.1f} s")

    def run(self, only):
        if only in (None, "publish"):
            self.run_publish()
        if only in (None, "sqs"):
            SqsBench(self).run()
        if only in (None, "transact"):
            TransactBench(self).run()
        if only in (None, "ledger"):
            LedgerBench(self).run()
        if only in (None, "outbox"):
            OutboxBench(self).run()
        if only in (None, "webhooks"):
            WebhookBench(self).run()
        if only in (None, "peers"):
            PeersBench(self).run()
        if only in (None, "contention"):
            Contention(self).run()
        elif only in CONTENTION:
            Contention(self).run(only)
        if only in (None, "overload"):
            OverloadBench(self).run()
        if only == "backlog":  # by itself: it takes half an hour
            BacklogBench(self, self.messages, self.cases).run()
        if only in (None, "secrets"):
            self.secrets(4.5)

    # ---- whether a comparison of secrets tells by its time how much was right ----
    def secrets(self, bar):
        samples = 200_000 if self.quick else 1_000_000
        runs = [json.loads(subprocess.run(
            [os.path.join(self.tools, "constant_time"), "--samples", str(samples), "--seed", str(seed)],
            stdout=subprocess.PIPE, text=True, check=True).stdout) for seed in range(1, 6)]
        t = statistics.median(run["t"] for run in runs)
        control = statistics.median(run["t_of_a_comparison_that_stops"] for run in runs)
        self.raw["secrets"] = runs
        self.row("comparing secrets, |t| of early and late mistakes", f"{t:.1f}", f"< {bar}", t < bar <= control,
                 f"{control:.0f} for a comparison that stops at the first difference")

    def run_publish(self):
        data = self.data()
        try:
            with Server(self.binary, data) as server:
                self.idle(server)
                # Due in an hour: nothing is delivered meanwhile.
                self.publish("delayed", server, "http://127.0.0.1:9/hook",
                             ["--header", "Upstash-Delay: 1h"], [(64, 0.4), (256, 0.55)])
        finally:
            shutil.rmtree(data, ignore_errors=True)
        data = self.data()
        try:
            # Due at once, to a destination that takes requests and never answers.
            with Floor(self.tools, "--hang") as hang, Server(self.binary, data) as server:
                self.publish("due, stuck receiver", server, f"http://127.0.0.1:{hang.port}/hook",
                             [], [(64, 0.4), (256, 0.55)])
        finally:
            shutil.rmtree(data, ignore_errors=True)
        self.sustained(64, 0.25)
        self.sustained(256, 0.25)
        self.flow_keys(64, 10_000, 0.8)
        self.latency()
        self.batch(64, 100, 5)
        self.fan_out(1000, 10)
        self.schedules(2)
        self.listing(200_000 if self.quick else 5_000_000, 10)


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    def git(*words):
        done = subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(),
            "load_average": os.getloadavg()[0], "commit": git("rev-parse", "HEAD"),
            "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--binary", help="another server binary than BUILD/hikyaku")
    parser.add_argument("--against", metavar="BINARY", help="only the usual rates, beside this other build of the server")
    parser.add_argument("--data", help="where data directories are made (default: the temp folder)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="shorter, noisier")
    parser.add_argument("--only", help="some of the rows",
                        choices=("publish", "sqs", "transact", "ledger", "outbox", "webhooks", "peers", "secrets", "contention", "overload", "backlog",
                                 *CONTENTION))
    parser.add_argument("--messages", type=int, help="of a backlog (default: 5 million, --quick: 200,000)")
    parser.add_argument("--cases", default=",".join(CASES), help="of the backlogs (default: %(default)s)")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases.split(",")) - set(CASES):
        parser.error(f"--cases: there is no {', '.join(sorted(unknown))}")
    if arguments.against and arguments.only not in (None, "publish", "sqs"):
        parser.error("--against compares --only publish or sqs, or both")
    bench = Bench(arguments)
    for needed in (os.path.join(bench.tools, "sqs_load"), bench.binary, *filter(None, [arguments.against])):
        if not os.path.exists(needed):
            raise SystemExit(f"{needed} is missing: build it first (cmake --build BUILD)")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended, too
    about = machine()
    print(f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, commit "
          f"{about['commit'][:12]}{' + changes' if about['changed_files'] else ''}\n", flush=True)
    # Ratios survive a slower machine, not one that others use in bursts.
    about["busy"] = about["load_average"] > about["cores"] / 2
    if about["busy"]:
        print(f"The machine is busy (load average {about['load_average']:.1f}): figures of this run are not "
              "to be quoted.\n", flush=True)
    if arguments.against:
        Against(bench, arguments.against).run(arguments.only)
    else:
        bench.run(arguments.only)
    reached = sum(row["reached"] for row in bench.rows)
    print(f"\n{reached} of {len(bench.rows)} bars reached")

    results = os.path.join(ROOT, "bench", "results")
    os.makedirs(results, exist_ok=True)
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    path = os.path.join(results, stamp + ".json")
    with open(path, "w") as f:
        json.dump({"at": stamp, "machine": about, "rows": bench.rows, "raw": bench.raw}, f, indent=1)
    print(f"written to {os.path.relpath(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
