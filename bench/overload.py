"""More clients than can be served at once: how long they wait, who is refused, and whether it is over when they are gone."""
import json
import os
import statistics
import subprocess
import time

from contention import POLITE, Contention
from processes import Floor
from sqs import call

CONNECTIONS = (64, 256, 1024, 4096)
LATER = ("--header", "Upstash-Delay: 1h")


class OverloadBench:
    def __init__(self, bench):
        self.bench = bench
        self.tools = Contention(bench)  # servers, loads, tenants
        self.seconds = 3 if bench.quick else 10
        self.raw = bench.raw.setdefault("overload", {})

    def run(self):
        self.publish_and_deliver()
        self.sqs(1)
        self.sqs(10)
        self.open_loop()
        self.flood()

    # ---- closed loops: each connection sends its next request when the last is answered ----

    def publish_and_deliver(self):
        got = {}
        for connections in CONNECTIONS:
            with Floor(self.bench.tools, "--receiver") as receiver, self.tools.server() as server:
                url = server.publish_url(f"http://127.0.0.1:{receiver.port}/hook")
                load = self.tools.load(url, connections, self.seconds, warmup=1)
                stats = receiver.json("/stats")
                got[connections] = {**load, "delivered_rps": self.bench.received_between(stats, load["from_ns"], load["until_ns"])}
        self.raw["publish_and_deliver"] = got
        best = max(one["rps"] for one in got.values())
        for connections, one in got.items():
            even = connections / max(1, one["rps"]) * 1e6
            bad = one["non_2xx"] + one["errors"]
            self.bench.row(f"{connections:,} connections, publish and deliver: p99", f"{one['p99_us'] / even:.2f} x even", "<= 2",
                           one["p99_us"] <= 2 * even and bad == 0,
                           f"{one['p99_us'] / 1000:.1f} ms at {one['rps']:,.0f}/s, {one['delivered_rps']:,.0f}/s delivered meanwhile; "
                           f"{bad} refused; the slowest {one['slowest_us'] / 1000:.0f} ms")
        last = got[CONNECTIONS[-1]]["rps"]
        self.bench.row(f"… rate with {CONNECTIONS[-1]:,}", f"{last / best:.2f} of the best", ">= 0.9", last >= 0.9 * best)

    def sqs(self, batch):
        bad, rates = {}, {}
        for connections in CONNECTIONS:
            with self.tools.server() as server:
                queue = call(server.port, "CreateQueue", {"QueueName": "bench"})["QueueUrl"]
                done = subprocess.run([os.path.join(self.bench.tools, "sqs_load"), "send", "--port", str(server.port), "--queue-url",
                                       queue, "--connections", str(connections), "--seconds", str(self.seconds), "--warmup", "0.5",
                                       "--batch", str(batch)], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
                one = json.loads(done.stdout)
                bad[connections], rates[connections] = one["bad"], one["rate"]
        name = "SendMessage" if batch == 1 else f"SendMessageBatch of {batch}"
        self.raw[name] = {"bad": bad, "rates": rates}
        self.bench.row(f"{name}, {CONNECTIONS[0]} to {CONNECTIONS[-1]:,} connections", f"{sum(bad.values())} refused", "0",
                       sum(bad.values()) == 0, "messages/s: " + ", ".join(f"{rate:,.0f}" for rate in rates.values()))

    # ---- an open loop: more is sent than can be done, whatever is answered ----

    def open_loop(self, factor=3, connections=6000, *flags):
        seconds = 10 if self.bench.quick else 60
        with self.tools.server(*flags) as server:
            url = server.publish_url("http://127.0.0.1:9/hook")
            peak_now = lambda: self.tools.load(url, 256, self.seconds, *LATER, warmup=0.5)["rps"]
            peak = statistics.median(peak_now() for _ in range(3))
            calm = lambda: self.tools.load(url, 16, 1, "--rate", str(max(100, int(peak / 20))), *LATER)
            # A flush makes one second in a few slower: what is no slower than the slowest of them is as before.
            before = [calm()["p99_us"] for _ in range(5)]
            unloaded = max(1.5 * statistics.median(before), max(before))
            rss = [server.rss_mib()]
            # Two programs: one alone does not send fast enough. They do as Retry-After says.
            halves = [self.tools.start_load(url, connections, seconds, "--rate", str(int(factor * peak / 2)), "--back-off", "1", *LATER)
                      for _ in range(2)]
            while any(half.poll() is None for half in halves) and len(rss) < 10 * seconds + 600:
                rss.append(server.rss_mib())
                time.sleep(0.1)
            ended = time.monotonic()
            got = [self.tools.result(half) for half in halves]
            recovered = None
            while recovered is None and time.monotonic() - ended < 15:
                if calm()["p99_us"] <= unloaded:
                    recovered = time.monotonic() - ended
            peak = (peak + peak_now()) / 2  # the machine may have become faster or slower meanwhile
        accepted = sum(one["accepted"] for one in got) / seconds
        refused = sum(one["refused"] for one in got)
        silent = sum(one["refused_without_retry_after"] for one in got)
        other = sum(one["non_2xx"] - one["refused"] + one["errors"] for one in got)
        slowest = max(one["slowest_us"] for one in got)
        self.raw["open_loop"] = {"halves": got, "peak": peak, "unloaded_p99_us": before, "rss_mib": rss, "recovered": recovered}
        name = f"open loop, {factor} x the peak for {seconds} s: "
        self.bench.row(name + "accepted", f"{accepted / peak:.2f} of the peak", ">= 0.95",
                       accepted >= 0.95 * peak and silent == 0 and other == 0,
                       f"{accepted:,.0f}/s of {peak:,.0f}/s; {refused:,} refused, {silent} of them without Retry-After, {other} failed")
        self.bench.row(name + "slowest answer", f"{slowest / 1e6:.2f} s", "<= 2 s", slowest <= 2e6)
        self.bench.row(name + "memory", f"{max(rss):.0f} MiB", "<= 512 MiB", max(rss) <= 512, f"{rss[0]:.0f} MiB before")
        self.bench.row(name + "as before after", f"{recovered:.1f} s" if recovered else "never", "<= 2 s",
                       recovered is not None and recovered <= 2, "p99 of light traffic, in steps of a second")

    # ---- one tenant floods, beside others who ask for little ----

    def flood(self, connections=1024):
        runs = []
        with Floor(self.bench.tools) as floor, self.tools.server() as server:
            polite, greedy = self.tools.tokens(server, POLITE), self.tools.tokens(server, 1)
            url = server.publish_url("http://127.0.0.1:9/hook")
            elsewhere = f"http://127.0.0.1:{floor.port}/v2/publish/http://127.0.0.1:9/hook"

            def beside(flooded):
                flood = self.tools.start_load(flooded, connections, self.seconds + 1, *LATER, tokens=greedy)
                time.sleep(0.5)
                got = self.tools.load(url, POLITE, self.seconds, "--rate", "500", *LATER, tokens=polite)
                self.tools.result(flood)
                return got

            for _ in range(2 if self.bench.quick else 3):
                runs.append({"elsewhere": beside(elsewhere), "here": beside(url)})
        self.raw["flood"] = runs
        p99 = {name: statistics.median(run[name]["p99_us"] for run in runs) for name in ("elsewhere", "here")}
        bad = sum(one["errors"] + one["non_2xx"] for run in runs for one in run.values())
        ratio = p99["here"] / max(1, p99["elsewhere"])
        self.bench.row(f"one tenant floods ({connections:,} connections): p99 of {POLITE} polite ones", f"{ratio:.2f} of elsewhere",
                       "<= 1.2", ratio <= 1.2 and bad == 0,
                       f"{p99['here'] / 1000:.1f} and {p99['elsewhere'] / 1000:.1f} ms; {bad} of the polite ones refused")
