"""Who suffers when others misbehave: destinations that hang, a tenant that floods, thousands of connections that do
nothing. Everything is a ratio of two phases of one run, in turns."""
import concurrent.futures
import contextlib
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import time
import urllib.request

from processes import DEV_TOKEN, Floor, Server, get
from sqs import call

DESTINATIONS = 1000
HANGING = 10
POLITE = 50
FIRST_HOST = "127.1.100.100"  # of wire.h
# The machine gives a process 20,000 descriptors, and the server takes 16,000 connections.
IDLE, POLLS = 10_000, 5_000


class Contention:
    def __init__(self, bench):
        self.bench = bench
        self.rounds = 2 if bench.quick else 3
        self.seconds = 2 if bench.quick else 5
        self.raw = bench.raw.setdefault("contention", {})

    # ---- what all of them use ----

    @contextlib.contextmanager
    def server(self, *flags):
        data = self.bench.data()
        try:
            # What hangs is not waited for at the end.
            with Server(self.bench.binary, data, "--drain", "0s", *flags) as server:
                yield server
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def start_load(self, url, connections, seconds, *flags, warmup=0, tokens=None, nice=0):
        command = [os.path.join(self.bench.tools, "load"), "--url", url, "--connections", str(connections),
                   "--seconds", str(seconds), "--warmup", str(warmup), *flags]
        if tokens is None:
            command += ["--header", "Authorization: Bearer " + DEV_TOKEN]
        else:
            command += ["--tokens", tokens]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.nice(nice))

    @staticmethod
    def result(load):
        out, _ = load.communicate(timeout=300)
        if load.returncode != 0:
            raise SystemExit(f"load ended with {load.returncode}")
        return json.loads(out)

    def load(self, *arguments, **options):
        return self.result(self.start_load(*arguments, **options))

    def tokens(self, server, count):
        """A file with the tokens of so many new tenants."""
        path = os.path.join(os.path.dirname(server.data), f"tokens-{time.monotonic_ns()}")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda i: server.tenant(f"{os.path.basename(path)}-{i}"), range(count)))
        with open(path, "w") as f:
            f.write("".join(token + "\n" for token in made))
        return path

    def row(self, *arguments):
        self.bench.row(*arguments)

    # ---- destinations that hang ----

    def hanging(self):
        """1 % of the destinations never answer, and more waits for them than may be sent at once. The lag is that of the
        others: from the moment a publish was meant to be sent until the receiver has it."""
        cases = (("none", None), ("same tenant", (HANGING, False)), ("a tenant of their own", (HANGING, True)),
                 ("on one host", (0, False)))
        runs = {name: [] for name, _ in cases}
        for _ in range(self.rounds):
            for name, hang in cases:
                runs[name].append(self.hanging_phase(hang))
        self.raw["hanging"] = runs
        base = statistics.median(r["lag"]["p99_us"] for r in runs["none"])
        for name, _ in cases[1:]:
            p99 = statistics.median(r["lag"]["p99_us"] for r in runs[name])
            lost = sum(r["missing"] for r in runs[name])
            ratio = p99 / max(1, base)
            self.row(f"1 % of {DESTINATIONS:,} destinations hang, {name}: p99 of the others", f"{ratio:.2f} of none",
                     "<= 1.1", ratio <= 1.1 and lost == 0,
                     f"{p99 / 1000:.2f} ms and {base / 1000:.2f} ms, with "
                     f"{statistics.median(r['hanging'] for r in runs[name]):,.0f} attempts hanging"
                     + (f", {lost} NOT DELIVERED in time" if lost else ""))

    def hanging_phase(self, hang):
        healthy = DESTINATIONS - HANGING
        with Floor(self.bench.tools, "--receiver", "--hosts", str(healthy)) as receiver, \
                Floor(self.bench.tools, "--hang", "--hosts", str(HANGING)) as stuck, self.server() as server:
            hook = server.publish_url(f"http://{FIRST_HOST}:{receiver.port}/hook")
            self.load(hook, 16, 1, "--rate", "1000", "--hosts", str(healthy))  # connections are there
            trickle = None
            if hang:
                hosts, own = hang
                url = server.publish_url(f"http://{FIRST_HOST if hosts else '127.0.0.1'}:{stuck.port}/hook")
                flags = ["--hosts", str(hosts)] if hosts else []
                tokens = self.tokens(server, 1) if own else None
                # As many as would wait there after a while, and then as many as their share of the rate.
                self.load(url, 64, 60, "--count", str(HANGING * 600), *flags, tokens=tokens)
                time.sleep(1)
                trickle = self.start_load(url, 4, self.seconds + 1, "--rate", "10", *flags, tokens=tokens)
            in_flight = stuck.json("/stats")["requests"]
            receiver.json("/reset")
            publish = self.load(hook, 16, self.seconds, "--rate", "1000", "--hosts", str(healthy))
            stats, _ = self.bench.drain(receiver, publish["created_total"], publish["until_ns"])
            lag = receiver.json("/latencies")
            if trickle:
                self.result(trickle)
        return {"lag": lag, "publish": publish, "hanging": in_flight,
                "missing": max(0, publish["created_total"] - stats["unique_ids"])}

    # ---- one tenant floods ----

    def flood(self, connections):
        """50 polite tenants, and one that sends its next publish as soon as the last is answered. Beside it stands the
        same flood at a server of its own (the floor): what a busy machine does to the polite ones anyway."""
        runs = []
        with Floor(self.bench.tools) as floor, self.server() as server:
            polite, greedy = self.tokens(server, POLITE), self.tokens(server, 1)
            url = server.publish_url("http://127.0.0.1:9/hook")
            elsewhere = f"http://127.0.0.1:{floor.port}/v2/publish/http://127.0.0.1:9/hook"
            later = ("--header", "Upstash-Delay: 1h")

            def phase(flooded):
                flood = None
                if flooded:
                    flood = self.start_load(flooded, connections, self.seconds + 1, *later, tokens=greedy, nice=5)
                    time.sleep(0.5)
                got = self.load(url, POLITE, self.seconds, "--rate", "500", *later, tokens=polite)
                return {"polite": got, "flood": self.result(flood) if flood else None}

            phase(None)
            for _ in range(self.rounds + 1):
                runs.append({"alone": phase(None), "elsewhere": phase(elsewhere), "flooded": phase(url)})
        self.raw.setdefault("flood", {})[connections] = runs
        median = lambda name, key="p99_us": statistics.median(r[name]["polite"][key] for r in runs)
        bad = sum(r[name]["polite"]["errors"] + r[name]["polite"]["non_2xx"] for r in runs for name in r)
        ratio = median("flooded") / max(1, median("alone"))
        busy = median("flooded") / max(1, median("elsewhere"))
        flood = statistics.median(r["flooded"]["flood"]["rps"] for r in runs)
        self.row(f"one tenant floods ({connections} connections), p99 of {POLITE} polite ones", f"{ratio:.2f} of alone",
                 "<= 1.2", ratio <= 1.2 and bad == 0,
                 f"{busy:.2f} of the same flood elsewhere; p99 {median('alone') / 1000:.2f}, "
                 f"{median('elsewhere') / 1000:.2f}, {median('flooded') / 1000:.2f} ms, medians "
                 f"{median('alone', 'p50_us') / 1000:.2f}, {median('elsewhere', 'p50_us') / 1000:.2f}, "
                 f"{median('flooded', 'p50_us') / 1000:.2f} ms; the flood: {flood:,.0f}/s"
                 + (f", {bad} polite publishes REFUSED" if bad else ""))

    # ---- connections that do nothing ----

    def connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        idle, polls = (2_000, 1_000) if self.bench.quick else (IDLE, POLLS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        try:
            with self.server() as server:
                self.connections_of(server, min(idle, hard - 2_000), min(polls, hard - 2_000))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def connections_of(self, server, idle, polls):
        url, later = server.publish_url("http://127.0.0.1:9/hook"), ("--header", "Upstash-Delay: 1h")
        traffic = lambda: self.load(url, 16, self.seconds, "--rate", "500", *later)
        traffic()
        queue = call(server.port, "CreateQueue", {"QueueName": "bench"})["QueueUrl"]
        before = [traffic() for _ in range(self.rounds)]
        rss = server.rss_mib()
        request = f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        with contextlib.ExitStack() as stack:
            for _ in range(idle):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                connection.sendall(request)
                connection.recv(4096)
            idle_rss = server.rss_mib()
            command = [os.path.join(self.bench.tools, "sqs_load"), "wait", "--port", str(server.port), "--queue-url",
                       queue, "--connections", str(polls)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiters:
                waiters.stdout.readline()
                time.sleep(1)
                polls_rss = server.rss_mib()
                cpu, since = server.cpu_seconds(), time.monotonic()
                time.sleep(min(5, self.bench.idle_seconds))
                cpu = 100 * (server.cpu_seconds() - cpu) / (time.monotonic() - since)
                # Polls end after 20 s: as much traffic as fits before.
                beside = [traffic() for _ in range(min(self.rounds, int(10 // self.seconds)))]
                done = json.loads(waiters.stdout.read())
        answered = done["messages"] == polls and done["shortest_ms"] >= 19_900
        each = lambda grown, count: grown * 1024 / count
        self.raw["connections"] = {"idle": idle, "polls": polls, "cpu_percent": cpu, "rss_mib": [rss, idle_rss, polls_rss],
                                   "before": before, "beside": beside, "waiters": done}
        self.row(f"{idle:,} idle connections and {polls:,} long polls, CPU", f"{cpu:.2f} %", "< 1 %",
                 cpu < 1 and answered, "" if answered else f"only {done['messages']} polls were answered in time")
        self.row("… memory of each", f"{each(polls_rss - rss, idle + polls):.1f} KiB", "<= 20 KiB",
                 each(polls_rss - rss, idle + polls) <= 20,
                 f"idle {each(idle_rss - rss, idle):.1f}, polls {each(polls_rss - idle_rss, polls):.1f} KiB; "
                 f"{polls_rss:.0f} MiB in all")
        p99 = lambda runs: statistics.median(r["p99_us"] for r in runs)
        bad = sum(r["errors"] + r["non_2xx"] for r in before + beside)
        ratio = p99(beside) / max(1, p99(before))
        self.row("… p99 of publishes beside them", f"{ratio:.2f} of none", "<= 2", ratio <= 2 and bad == 0,
                 f"{p99(beside) / 1000:.2f} ms and {p99(before) / 1000:.2f} ms")

    # ---- large bodies ----

    def large(self):
        """What is under way is in memory: a receiver that hangs with large bodies must not fill it."""
        count, bytes_each = (50 if self.bench.quick else 250), 4_000_000
        with Floor(self.bench.tools, "--hang") as stuck, self.server() as server:
            before = server.rss_mib()
            sent = self.load(server.publish_url(f"http://127.0.0.1:{stuck.port}/hook"), 8, 120, "--count", str(count),
                             "--body-bytes", str(bytes_each))
            time.sleep(3)
            rss, most = server.rss_mib(), server.rss_mib("VmHWM")
            hanging = stuck.json("/stats")["requests"]
        self.raw["large"] = {"sent": sent, "rss_mib": [before, rss, most], "hanging": hanging}
        self.row(f"{count} bodies of {bytes_each // 1_000_000} MB to a receiver that hangs: memory", f"{most:.0f} MiB",
                 "<= 512 MiB", most <= 512 and sent["created_total"] == count and hanging > 0,
                 f"{rss:.0f} MiB in the end, {before:.0f} MiB before; {hanging} on their way")

    def large_dead_letters(self):
        """The bodies of dead letters are not in the request that retries them."""
        count, bytes_each = (50 if self.bench.quick else 100), 4_000_000
        with self.server() as server:
            self.load(server.publish_url("http://127.0.0.1:9/hook"), 8, 120, "--count", str(count), "--body-bytes",
                      str(bytes_each), "--header", "Upstash-Retries: 0")
            deadline = time.monotonic() + 60
            while server.metric("hikyaku_dead_letters") < count and time.monotonic() < deadline:
                time.sleep(0.1)
            ids, cursor = [], ""
            while cursor is not None:
                page = json.loads(get(server.port, "/v2/dlq?cursor=" + cursor)[1])
                ids += [one["dlqId"] for one in page["messages"]]
                cursor = page.get("cursor")
            before = server.rss_mib()
            with open(f"/proc/{server.child.pid}/clear_refs", "w") as f:
                f.write("5")  # the most of it begins again
            since = time.monotonic()
            retried = len(server.post("/v2/dlq/retry?" + "&".join("dlqIds=" + one for one in ids))["responses"])
            took, most = time.monotonic() - since, server.rss_mib("VmHWM")
        self.raw["large_dead_letters"] = {"rss_mib": [before, most], "seconds": took}
        self.row(f"{count} dead letters of {bytes_each // 1_000_000} MB retried at once: memory", f"{most:.0f} MiB",
                 "<= 512 MiB", most <= 512 and retried == count, f"{before:.0f} MiB before; in {took:.1f} s")

    def large_answers(self):
        """Clients that ask for much and read nothing of it."""
        clients, bytes_each = 100, 8_000_000
        with self.server() as server, contextlib.ExitStack() as stack:
            self.load(server.publish_url("http://127.0.0.1:9/hook"), 1, 60, "--count", "1", "--body-bytes", str(bytes_each),
                      "--header", "Upstash-Delay: 1h", "--header", "Upstash-Deduplication-Id: large")
            [event] = json.loads(get(server.port, "/v2/events?count=1")[1])["events"]
            ask = (f"GET /v2/messages/{event['messageId']} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {DEV_TOKEN}\r\n"
                   "\r\n").encode()
            before = server.rss_mib()
            for _ in range(clients):
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", server.port))
                client.sendall(ask)
            time.sleep(5)
            most, refused = server.rss_mib("VmHWM"), server.metric("hikyaku_answers_without_room_total")
        self.raw["large_answers"] = {"rss_mib": [before, most], "refused": refused}
        self.row(f"{clients} clients that read nothing of an answer of {bytes_each // 1_000_000} MB: memory", f"{most:.0f} MiB",
                 "<= 512 MiB", most <= 512, f"{before:.0f} MiB before; {refused:.0f} were told to come back")

    # ---- rates that are kept up ----

    def sustained(self):
        seconds = 10 if self.bench.quick else 60
        data = self.bench.data()
        try:
            with Floor(self.bench.tools, "--receiver") as receiver, Server(self.bench.binary, data) as server:
                sync = self.bench.probe(data)
                got = self.load(server.publish_url("http://127.0.0.1:9/hook"), 64, seconds, "--body-bytes", "1024",
                                "--header", "Upstash-Delay: 1h", warmup=1)
                per_sync = got["rps"] / max(1, 1e6 / sync["p50_us"])
                self.row(f"durable publishes, 1 KiB, 64 connections, {seconds} s", f"{got['rps']:,.0f}/s", ">= 5,000/s",
                         got["rps"] >= 5000 and got["p99_us"] <= 20_000 and got["non_2xx"] == 0,
                         f"p99 {got['p99_us'] / 1000:.1f} ms (<= 20 ms), {per_sync:.1f} x the syncs/s of the disk (>= 3)")
                hook = server.publish_url(f"http://127.0.0.1:{receiver.port}/hook")
                self.load(hook, 32, 1, "--rate", "2000")
                receiver.json("/reset")
                sent = self.load(hook, 32, min(20, seconds), "--rate", "2000")
                stats, _ = self.bench.drain(receiver, sent["created_total"], sent["until_ns"])
                lag = receiver.json("/latencies")
                lost = max(0, sent["created_total"] - stats["unique_ids"])
                self.raw["sustained"] = {"publish": got, "sync": sync, "lag": lag, "sent": sent}
                self.row("publish to receiver at 2,000/s, p99", f"{lag['p99_us'] / 1000:.1f} ms", "<= 50 ms",
                         lag["p99_us"] <= 50_000 and lost == 0, f"median {lag['p50_us'] / 1000:.2f} ms"
                         + (f", {lost} LOST" if lost else ""))
        finally:
            shutil.rmtree(data, ignore_errors=True)

    # ---- limits of API calls ----

    def limits(self, bar=0.97, connections=64):
        """What it costs to count every request, on all three levels, when none is refused: publishes, and reads, which are
        cheaper. Servers with and without limits stand beside each other, and are loaded in turns."""
        with self.server() as free, self.server("--rate-global", "10000000", "--rate-global-burst", "1000000000") as counted:
            self.limit(counted, {"rate": 10_000_000, "burst": 1_000_000_000, "in_flight": 1_000_000, "classes": {
                one: {"rate": 10_000_000, "burst": 1_000_000_000} for one in ("publish", "read")}})
            for name, path, flags in (("publishes", None, ("--header", "Upstash-Delay: 1h")), ("reads", "/v2/keys", ("--method", "GET"))):
                runs = []
                for _ in range(2 * self.rounds):
                    runs.append([self.load(server.publish_url("http://127.0.0.1:9/hook") if path is None else f"http://127.0.0.1:{server.port}{path}",
                                           connections, self.seconds, *flags, warmup=0.5) for server in (free, counted)])
                bad = sum(one["non_2xx"] + one["errors"] for run in runs for one in run)
                ratio = statistics.median(on["rps"] / off["rps"] for off, on in runs)
                self.raw[f"limits, {name}"] = runs
                self.row(f"limits on three levels, {connections} connections: {name}", f"{ratio:.3f} of none", f">= {bar}",
                         ratio >= bar and bad == 0,
                         f"{statistics.median(on['rps'] for _, on in runs):,.0f}/s and {statistics.median(off['rps'] for off, _ in runs):,.0f}/s; "
                         f"{bad} refused or failed")

    @staticmethod
    def limit(server, limits):
        with open(os.path.join(server.data, "admin.json")) as f:
            token = json.load(f)["token"]
        asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/v1/tenants/1/limits", json.dumps(limits).encode(),
                                       {"Authorization": "Bearer " + token}, method="PUT")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            answer.read()

    def run(self, only=None):
        if only in (None, "fairness"):
            self.hanging()
            self.flood(64)
        if only in (None, "limits"):
            self.limits()
        if only in (None, "connections"):
            self.connections()
        if only in (None, "large"):
            self.large()
            self.large_dead_letters()
            self.large_answers()
        if only in (None, "sustained"):
            self.sustained()
