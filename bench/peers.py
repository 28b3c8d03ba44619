"""The rows of the peers: what one would otherwise use, on the same machine, in the same run, in turns with ours.

Each is durable before it answers: RabbitMQ with a quorum queue and confirms, BullMQ on a Redis with appendfsync always,
Restate as it comes. They are started here on free ports of 127.0.0.1 with data of their own, and ended here. One that is
not installed or does not start is left out, and the reason is said.
"""
import contextlib
import json
import os
import select
import shutil
import signal
import statistics
import subprocess
import time
import urllib.error
import urllib.request

from against import Rates
from processes import Process, free_port
from sqs import PEERS, peer_node

CLIENTS, MANY = 64, 256
RATE = 500
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"

ONE, ONE_MANY, BATCH = "accept, 64 clients", "accept, 256 clients", "accept in batches of 10, 64 clients"
RECEIVE, DELIVERED = "receive and delete, 64 clients", "accept to delivered, 256 clients"
P50, P99 = "latency at 500/s, p50", "latency at 500/s, p99"
ROWS = (ONE, ONE_MANY, BATCH, RECEIVE, DELIVERED, P50, P99)
LATENCIES = (P50, P99)  # in milliseconds, less is better; the others are messages per second
BARS = {("Restate", ONE_MANY): 10, ("Restate", DELIVERED): 20, ("RabbitMQ", RECEIVE): 2}


class PeerFailed(Exception):
    """Why it is left out."""


class Peer(Process):
    """A child with a session of its own, of which nothing is left in the end; its data is thrown away anyway."""

    def __init__(self, command, log, **options):
        self.log = log
        with open(log, "wb") as out:
            super().__init__(command, start_new_session=True, **{"stdout": out, "stderr": out} | options)

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)  # its own session: nobody else is in it
        self.child.wait()

    def wait_for(self, ready, seconds=60):
        deadline = time.monotonic() + seconds
        while not ready():
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise PeerFailed("it did not start: " + " ".join(self.said()[-300:].split()))
            time.sleep(0.05)

    def said(self):
        with open(self.log, errors="replace") as f:
            return f.read()


class Talker(Peer):
    """A script of bench/peers that answers lines with lines of JSON."""

    def __init__(self, node, log, *arguments):
        super().__init__([node, *arguments], log, cwd=PEERS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""
        self.line()  # "ready"

    def line(self):
        deadline = time.monotonic() + 60
        while b"\n" not in self.buffer:
            readable, _, _ = select.select([self.child.stdout], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.child.stdout.fileno(), 1 << 20) if readable else b""
            if not chunk:
                raise PeerFailed("its script ended: " + " ".join(self.said()[-300:].split()))
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def ask(self, word):
        self.child.stdin.write(word.encode() + b"\n")
        self.child.stdin.flush()
        return json.loads(self.line())

    def until(self, count):
        """What it has seen, when it has seen so many or nothing new for ten seconds."""
        seen, moved = -1, time.monotonic()
        while True:
            stats = self.ask("stats")
            if stats["unique_ids"] != seen:
                seen, moved = stats["unique_ids"], time.monotonic()
            if seen >= count or time.monotonic() - moved > 10:
                return stats
            time.sleep(0.1)


def debian_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.split("-")[0].split(":")[-1]


def npm_version(package):
    with open(os.path.join(PEERS, "node_modules", package, "package.json")) as f:
        return json.load(f)["version"]


def lost(sent, seen):
    if seen < sent:
        raise PeerFailed(f"{sent - seen} of {sent} messages did not arrive")


class Hikyaku:
    name = "Hikyaku"

    def __init__(self, peers):
        self.bench = peers.bench
        self.rates = Rates(peers.bench)
        self.rates.sqs.backlog = peers.backlog
        self.about = "publish over HTTP; batches and receiving with the SQS protocol; delivered to an HTTP receiver"

    def measure(self, _):
        latency = self.bench.latency_once()
        measured = {ONE: self.rates.publish(CLIENTS), ONE_MANY: self.rates.publish(MANY), BATCH: self.rates.send(10),
                    RECEIVE: self.rates.drain(), DELIVERED: self.rates.delivered(MANY)}
        bad = sum(one["bad"] for one in measured.values())
        if bad:
            raise SystemExit(f"{bad} bad answers of the server: {measured}")
        return {row: one["rate"] for row, one in measured.items()} | {
            P50: latency["seen"]["p50_us"] / 1000, P99: latency["seen"]["p99_us"] / 1000, "raw": measured,
            "sync_ms": latency["sync_p50_us"] / 1000}


class RabbitMq:
    name = "RabbitMQ"

    def __init__(self, peers):
        self.bench, self.peers = peers.bench, peers
        if not os.path.exists(RABBITMQ):
            raise PeerFailed("rabbitmq-server is not installed")
        self.about = (f"{debian_version('rabbitmq-server')}, quorum queue on one node, confirms, manual acknowledgements "
                      "of ten at a time, prefetch 10 or 100, the better one; an AMQP client as lean as our own load programs")

    @contextlib.contextmanager
    def server(self, folder):
        epmd_port, self.port = free_port(), free_port()
        # The files that it would look for elsewhere.
        for name, text in (("plugins", "[]."), ("env", ""), ("rabbitmq.conf", "")):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        env = {key: value for key, value in os.environ.items() if not key.startswith("RABBITMQ_")} | {
            "HOME": folder, "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "bench@localhost", "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port), "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": os.path.join(folder, "mnesia"), "RABBITMQ_LOG_BASE": os.path.join(folder, "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": os.path.join(folder, "plugins"),
            "RABBITMQ_CONF_ENV_FILE": os.path.join(folder, "env"),
            "RABBITMQ_CONFIG_FILE": os.path.join(folder, "rabbitmq.conf"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}"}
        # Erlang would start its name server itself, and leave it behind.
        with Peer(["epmd"], os.path.join(folder, "epmd"), env=env):
            with Peer([RABBITMQ], os.path.join(folder, "out"), env=env) as rabbit:
                rabbit.wait_for(lambda: "completed with" in rabbit.said())
                yield

    def load(self, queue, **flags):
        command = [os.path.join(self.bench.tools, "amqp_load"), "--port", str(self.port), "--queue", queue]
        for name, value in flags.items():
            command += ["--" + name, str(value)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        if done.returncode != 0:
            raise PeerFailed(done.stderr.strip())
        result = json.loads(done.stdout)
        if result["refused"]:
            raise PeerFailed(f"{result['refused']} messages were refused")
        return result

    def measure(self, folder):
        timed = {"seconds": self.bench.seconds, "warmup": self.bench.warmup, "delete": 1}
        with self.server(folder):
            raw = {ONE: self.load("one", publishers=CLIENTS, **timed),
                   ONE_MANY: self.load("many", publishers=MANY, **timed),
                   BATCH: self.load("batch", publishers=CLIENTS, batch=10, **timed)}
            for prefetch in (10, 100):
                queue = f"backlog-{prefetch}"
                self.load(queue, publishers=CLIENTS, batch=10, count=self.peers.backlog, seconds=60)
                raw[f"consume, prefetch {prefetch}"] = self.load(
                    queue, consumers=CLIENTS, prefetch=prefetch, count=self.peers.backlog, seconds=60, delete=1)
            raw[DELIVERED] = self.load("delivered", publishers=MANY, consumers=16,
                                       **timed | {"seconds": self.bench.sustained_seconds})
            lost(raw[DELIVERED]["published"], raw[DELIVERED]["consumed"])
            raw["latency"] = self.load("latency", publishers=16, consumers=8, rate=RATE,
                                       **timed | {"seconds": self.bench.latency_seconds, "warmup": 1})
        return {row: raw[row]["publish_rate"] for row in (ONE, ONE_MANY, BATCH)} | {
            RECEIVE: max(raw[f"consume, prefetch {prefetch}"]["whole_rate"] for prefetch in (10, 100)),
            DELIVERED: min(raw[DELIVERED]["publish_rate"], raw[DELIVERED]["consume_rate"]),
            P50: raw["latency"]["seen"]["p50_us"] / 1000, P99: raw["latency"]["seen"]["p99_us"] / 1000, "raw": raw}


class BullMq:
    name = "BullMQ"

    def __init__(self, peers):
        self.bench, self.peers = peers.bench, peers
        self.node, why = peer_node("bullmq")
        if self.node is None:
            raise PeerFailed(why)
        if shutil.which("redis-server") is None:
            raise PeerFailed("redis-server is not installed")
        self.about = (f"{npm_version('bullmq')} on Redis {debian_version('redis-server')} with appendfsync always; one process "
                      f"adds, one works with a concurrency of {CLIENTS}, finished jobs are removed")

    @contextlib.contextmanager
    def server(self, folder):
        self.port = free_port()
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
                   "--appendfsync", "always", "--save", "", "--daemonize", "no"]
        with Peer(command, os.path.join(folder, "out")) as redis:
            redis.wait_for(lambda: "Ready to accept connections" in redis.said())
            yield

    def add(self, queue, **options):
        done = subprocess.run([self.node, "bullmq.mjs", "add", str(self.port), queue, json.dumps(options)], cwd=PEERS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180)
        if done.returncode != 0:
            raise PeerFailed(" ".join(done.stderr[:300].split()))
        return json.loads(done.stdout)

    def worker(self, folder, queue):
        return Talker(self.node, os.path.join(folder, "worker"), "bullmq.mjs", "work", str(self.port), queue, str(CLIENTS))

    def measure(self, folder):
        timed = {"seconds": self.bench.seconds, "warmup": self.bench.warmup}
        with self.server(folder):
            raw = {ONE: self.add("one", clients=CLIENTS, **timed), ONE_MANY: self.add("many", clients=MANY, **timed),
                   BATCH: self.add("batch", clients=CLIENTS, batch=10, **timed)}
            filled = self.add("backlog", clients=CLIENTS, batch=10, count=self.peers.backlog, seconds=60)["ok_total"]
            with self.worker(folder, "backlog") as worker:
                seen = raw[RECEIVE] = worker.until(filled)
                lost(filled, seen["unique_ids"])
            with self.worker(folder, "delivered") as worker:
                added = self.add("delivered", clients=MANY, **timed | {"seconds": self.bench.sustained_seconds})
                raw[DELIVERED] = {"added": added, "seen": worker.until(added["ok_total"])}
            with self.worker(folder, "latency") as worker:
                self.add("latency", clients=1, rate=RATE, seconds=1)
                worker.ask("reset")
                added = self.add("latency", clients=1, rate=RATE, seconds=self.bench.latency_seconds)
                raw["latency"] = worker.until(added["ok_total"])
        return {row: raw[row]["rps"] for row in (ONE, ONE_MANY, BATCH)} | {
            RECEIVE: seen["unique_ids"] * 1e9 / max(1, seen["last_ns"] - seen["first_ns"]),
            DELIVERED: self.peers.delivered_rate(**raw[DELIVERED]),
            P50: raw["latency"]["p50_us"] / 1000, P99: raw["latency"]["p99_us"] / 1000, "raw": raw}


class Restate:
    name = "Restate"

    def __init__(self, peers):
        self.bench, self.peers = peers.bench, peers
        self.node, why = peer_node("@restatedev/restate-sdk")
        if self.node is None:
            raise PeerFailed(why)
        package = f"@restatedev/restate-server-linux-{'arm64' if os.uname().machine == 'aarch64' else 'x64'}"
        self.program = os.path.join(PEERS, "node_modules", package, "bin", "restate-server")
        if not os.path.exists(self.program):
            raise PeerFailed("its server is not installed")
        self.about = (f"{npm_version('@restatedev/restate-server')} with its defaults on one node, a handler in Node.js with SDK "
                      f"{npm_version('@restatedev/restate-sdk')}; sent over HTTP")

    @staticmethod
    def answers(url, body=None):
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status < 300
        except urllib.error.HTTPError as error:
            if body is not None:
                raise PeerFailed(f"{url}: {error.read()[:200].decode(errors='replace')}") from None
        except OSError:
            pass
        return False

    @contextlib.contextmanager
    def server(self, folder):
        fabric, ingress, admin, service = (free_port() for _ in range(4))
        env = os.environ | {
            "RESTATE_DISABLE_TELEMETRY": "true", "RESTATE_LISTEN_MODE": "tcp", "RUST_LOG": "warn",
            "RESTATE_BIND_ADDRESS": f"127.0.0.1:{fabric}", "RESTATE_ADVERTISED_ADDRESS": f"http://127.0.0.1:{fabric}",
            "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}", "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}"}
        self.send_url = f"http://127.0.0.1:{ingress}/bench/take/send"
        with Talker(self.node, os.path.join(folder, "service"), "restate_service.mjs", str(service)) as handler:
            command = [self.program, "--no-logo", "--node-name", "bench", "--base-dir", os.path.join(folder, "data")]
            with Peer(command, os.path.join(folder, "out"), env=env) as server:
                server.wait_for(lambda: self.answers(f"http://127.0.0.1:{admin}/health")
                                and self.answers(f"http://127.0.0.1:{ingress}/restate/health"))
                deployment = json.dumps({"uri": f"http://127.0.0.1:{service}"}).encode()
                server.wait_for(lambda: self.answers(f"http://127.0.0.1:{admin}/deployments", deployment))
                yield handler

    def load(self, url, *arguments, **options):
        done = self.bench.load(url, *arguments, **options)
        if done["non_2xx"] or done["errors"]:
            raise PeerFailed(f"{done['non_2xx'] + done['errors']} bad answers, the first {done['first_bad_answer']}")
        return done

    def measure(self, folder):
        later = self.send_later
        with self.server(folder) as handler:
            # Its first seconds are much slower.
            handler.until(self.load(self.send_url, 16, 2, "--rate", str(RATE), warmup=0)["ok_total"])
            raw = {ONE: self.load(later(), CLIENTS, self.bench.seconds), ONE_MANY: self.load(later(), MANY, self.bench.seconds)}
            handler.ask("reset")
            sent = self.load(self.send_url, 16, self.bench.latency_seconds, "--rate", str(RATE), warmup=0)
            raw["latency"] = handler.until(sent["ok_total"])
            handler.ask("reset")
            sent = self.load(self.send_url, MANY, self.bench.sustained_seconds)
            raw[DELIVERED] = {"added": sent, "seen": handler.until(sent["ok_total"])}
        return {row: raw[row]["rps"] for row in (ONE, ONE_MANY)} | {
            DELIVERED: self.peers.delivered_rate(**raw[DELIVERED]),
            P50: raw["latency"]["p50_us"] / 1000, P99: raw["latency"]["p99_us"] / 1000, "raw": raw}

    def send_later(self):
        return self.send_url + "?delay=1h"  # as ours: only accepted


class PeersBench:
    def __init__(self, bench):
        self.bench = bench
        self.backlog = 40_000 if bench.quick else 100_000
        self.rounds = 2 if bench.quick else bench.rounds
        self.raw = bench.raw.setdefault("peers", {})

    def delivered_rate(self, added, seen):
        """While messages came in, or with the time that the rest took: the better of the two."""
        lost(added["ok_total"], seen["unique_ids"])
        during = min(added["rps"], self.bench.received_between(seen, added["from_ns"], added["until_ns"]))
        return max(during, seen["unique_ids"] * 1e9 / max(1, seen["last_ns"] - seen["first_ns"]))

    def left_out(self, name, why):
        self.raw.setdefault("left_out", {})[name] = str(why)
        print(f"  {name} is left out: {why}", flush=True)

    def once(self, system):
        folder = self.bench.data()
        try:
            return system.measure(folder)
        except (PeerFailed, OSError, ValueError, KeyError, subprocess.SubprocessError) as why:
            if isinstance(system, Hikyaku):
                raise
            self.left_out(system.name, why)
            return None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self):
        seconds = self.bench.seconds, self.bench.warmup, self.bench.latency_seconds, self.bench.sustained_seconds
        if self.bench.quick:
            self.bench.seconds, self.bench.warmup, self.bench.latency_seconds, self.bench.sustained_seconds = 1, 0.3, 3, 2
        systems = [Hikyaku(self)]
        for kind in (RabbitMq, BullMq, Restate):
            try:
                systems.append(kind(self))
            except PeerFailed as why:
                self.left_out(kind.name, why)
        rounds = []
        for number in range(self.rounds):
            order = systems if number % 2 == 0 else list(reversed(systems))
            one = {}
            for system in order:
                if system in systems and (measured := self.once(system)) is not None:
                    one[system.name] = measured
                elif system in systems:
                    systems = [other for other in systems if other is not system]
            rounds.append(one)
        (self.bench.seconds, self.bench.warmup, self.bench.latency_seconds, self.bench.sustained_seconds) = seconds
        self.raw |= {"systems": {system.name: system.about for system in systems}, "rounds": rounds,
                     "sync_ms": statistics.median(one["Hikyaku"]["sync_ms"] for one in rounds),
                     "medians": {system.name: {row: statistics.median(one[system.name][row] for one in rounds)
                                               for row in ROWS if row in rounds[0][system.name]} for system in systems}}
        for row in ROWS:
            for system in systems[1:]:
                if row in rounds[0][system.name]:
                    self.compare(rounds, row, system.name)

    def compare(self, rounds, row, name):
        less = row in LATENCIES
        ratio = statistics.median((one[name][row] / one["Hikyaku"][row] if less else one["Hikyaku"][row] / one[name][row])
                                  for one in rounds)
        bar = BARS.get((name, row), 1)
        median = lambda who: statistics.median(one[who][row] for one in rounds)
        said = (lambda value: f"{value:.2f} ms") if less else (lambda value: f"{value:,.0f}/s")
        self.bench.row(f"{row}, beside {name}", f"{ratio:.1f} x", f">= {bar}", ratio >= bar,
                       f"{said(median('Hikyaku'))}, it: {said(median(name))}")
