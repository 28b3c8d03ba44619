"""Webhooks: what a message costs with few and with very many endpoints, and who suffers when some of them hang. Every figure
is a ratio of two phases of one run, in turns; what is stored and must not grow is measured beside it."""
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from contention import Contention
from processes import DEV_TOKEN, Floor, Server

JSON = ("--header", "Content-Type: application/json")
LATER = ("--header", "Upstash-Delay: 1h")
PAYLOAD = "x" * 200  # with the rest of a body about 256 bytes
STAMP = "#" + "0" * 39  # room for one
APPS, EACH = 10_000, 10
DESTINATIONS, HANGING = 1000, 10


class Api:
    """Calls under /api/v1."""

    def __init__(self, server):
        self.server = server

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.server.port}/api/v1{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + DEV_TOKEN, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode(errors='replace')[:500]}") from None
        return json.loads(content) if content else None

    def app(self, uid, **more):
        return self.call("POST", "/app", {"name": uid, "uid": uid, **more})["id"]

    def endpoint(self, app, url, **more):
        return self.call("POST", f"/app/{app}/endpoint", {"url": url, **more})["id"]

    def event_type(self, name):
        self.call("POST", "/event-type", {"name": name, "description": ""})

    def options(self, app, endpoint, **patch):
        self.call("PATCH", f"/webhooks/app/{app}/endpoint/{endpoint}/delivery", patch)


class WebhookBench:
    def __init__(self, bench):
        self.bench = bench
        self.tools = Contention(bench)
        self.rounds = 2 if bench.quick else 3
        self.seconds = 1.5 if bench.quick else 5
        self.share = 100 if bench.quick else 1  # a --quick run has that part of what is stored
        self.files = tempfile.mkdtemp(prefix="hikyaku-bench-files-", dir=bench.data_root)
        self.raw = bench.raw.setdefault("webhooks", {})

    def run(self):
        try:
            self.signing()
            self.create()
            self.deliver()
            self.catalogue()
            self.hanging()
            self.greedy()
            self.beside_a_replay()
            self.held()
            self.attempts()
            self.idle()
        finally:
            shutil.rmtree(self.files, ignore_errors=True)

    # ---- what all of them use ----

    @contextlib.contextmanager
    def server(self, *flags):
        data = self.bench.data()
        try:
            with Server(self.bench.binary, data, "--drain", "0s", *flags) as server:
                yield server
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def file(self, lines):
        """A file with these lines, all of one length."""
        handle, path = tempfile.mkstemp(dir=self.files)
        with os.fdopen(handle, "w") as f:
            f.write("".join(line + "\n" for line in lines) if isinstance(lines, list) else lines)
        return path

    def message(self, **more):
        return json.dumps({"eventType": "bench.sent", "payload": {"text": PAYLOAD}, **more})

    def message_url(self, server, app):
        return f"http://127.0.0.1:{server.port}/api/v1/app/{app}/msg?with_content=false"

    def load(self, url, connections, seconds, *flags, warmup=None):
        return self.tools.load(url, connections, seconds, *flags, warmup=self.bench.warmup if warmup is None else warmup)

    def send(self, server, app, body, *flags, connections=64, seconds=None):
        return self.load(self.message_url(server, app), connections, seconds or self.seconds, *JSON, "--body-file", self.file(body), *flags)

    @staticmethod
    def bad(*runs):
        return sum(run["errors"] + run["non_2xx"] for run in runs)

    def ratio_row(self, name, ours, base, key, bar, detail="", at_least=True):
        """The median of the ratios of the rounds, against a bar."""
        ratios = [one[key] / max(1e-9, other[key]) for one, other in zip(ours, base)]
        ratio, bad = statistics.median(ratios), self.bad(*ours, *base)
        reached = (ratio >= bar if at_least else ratio <= bar) and bad == 0
        median = lambda runs: statistics.median(run[key] for run in runs)
        self.bench.row(name, f"{ratio:.2f}", f"{'>=' if at_least else '<='} {bar}", reached,
                       f"{median(ours):,.0f} and {median(base):,.0f} {'a second' if key == 'rps' else 'us'}" + detail
                       + (f", {bad} BAD ANSWERS (first {ours[0]['first_bad_answer'] or base[0]['first_bad_answer']})" if bad else ""))

    # ---- what a signature costs, without a server ----

    def signing(self):
        """The whole envelope of a body of 1 KiB, beside that of a publish."""
        command = [os.path.join(self.bench.tools, "webhook_signing"), "--samples", "20000" if self.bench.quick else "200000"]
        runs = []
        for _ in range(self.rounds):
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            runs.append({line[:16].strip(): float(line[16:].split()[0]) for line in out.splitlines()})
        self.raw["signing"] = runs
        cost = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        self.bench.row("signing a delivery (v1)", f"{cost['v1']:.2f} us", "<= 3 us", cost["v1"] <= 3,
                       ", ".join(f"{name} {value:.2f}" for name, value in cost.items() if name != "v1"))

    # ---- messages that are stored, and not yet delivered ----

    def create(self):
        """Due in an hour: nothing is delivered meanwhile."""
        later = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 3600))
        with self.server() as server:
            api = Api(server)
            for count in (1, 10, 100):
                api.app(f"fan-{count}")
                for _ in range(count):
                    api.endpoint(f"fan-{count}", "http://127.0.0.1:9/hook")
            plain = self.message(deliverAt=later)
            runs = {name: [] for name in ("qstash", "1", "10", "100", "keyed")}
            for number in range(self.rounds):
                runs["qstash"].append(self.load(server.publish_url("http://127.0.0.1:9/hook"), 64, self.seconds, *LATER))
                for count in ("1", "10", "100"):
                    runs[count].append(self.send(server, f"fan-{count}", plain))
                most = 20_000 if self.bench.quick else 200_000  # more than are sent in the time
                events = self.file([self.message(deliverAt=later, eventId=f"event-{number}-{i:08}") for i in range(most)])
                runs["keyed"].append(self.load(self.message_url(server, "fan-1"), 64, self.seconds, *JSON, "--body-lines", events,
                                               "--count", str(most), "--unique-header", f"Idempotency-Key: key-{number}-"))
        self.raw["create"] = runs
        self.ratio_row("a message to one endpoint ÷ a publish", runs["1"], runs["qstash"], "rps", 0.70)
        self.ratio_row("… with its event id and a key", runs["keyed"], runs["qstash"], "rps", 0.55)
        self.ratio_row("a message to 10 endpoints ÷ to one", runs["10"], runs["1"], "rps", 0.60)
        self.ratio_row("a message to 100 endpoints ÷ to one", runs["100"], runs["1"], "rps", 0.15)

    # ---- deliveries ----

    def delivered(self, prepare):
        """Deliveries a second to a receiver that is there: prepare(server, hook) says where to publish, and with which flags."""
        with Floor(self.bench.tools, "--receiver") as receiver, self.server() as server:
            url, *flags = prepare(server, f"http://127.0.0.1:{receiver.port}/hook")
            sent = self.load(url, 64, self.seconds, *flags)
            seen, moved = -1, time.monotonic()
            while True:
                stats = receiver.json("/stats")
                if stats["requests"] != seen:
                    seen, moved = stats["requests"], time.monotonic()
                if seen >= sent["ok_total"] or time.monotonic() - moved > 10:
                    break
                time.sleep(0.05)
            rate = self.bench.received_between(stats, stats["first_ns"], stats["last_ns"])
        return {"rps": rate, "errors": sent["errors"], "non_2xx": sent["non_2xx"] + max(0, sent["ok_total"] - stats["unique_ids"]),
                "first_bad_answer": sent["first_bad_answer"], "sent": sent}

    def deliver(self):
        def qstash(server, hook):
            return (server.publish_url(hook),)

        def signed(**secret):
            def prepare(server, hook):
                api = Api(server)
                api.app("deliver")
                endpoint = api.endpoint("deliver", hook, **secret)
                api.options("deliver", endpoint, parallelism=1000)
                return (self.message_url(server, "deliver"), *JSON, "--body-file", self.file(self.message()))
            return prepare

        runs = {"qstash": [], "hmac": [], "ed25519": []}
        for _ in range(self.rounds):
            runs["qstash"].append(self.delivered(qstash))
            runs["hmac"].append(self.delivered(signed()))
            runs["ed25519"].append(self.delivered(signed(secret="whsk_" + "A" * 43 + "=")))
        self.raw["deliver"] = runs
        self.ratio_row("signed deliveries ÷ deliveries of publishes", runs["hmac"], runs["qstash"], "rps", 0.85)
        self.ratio_row("deliveries of ed25519 ÷ of HMAC", runs["ed25519"], runs["hmac"], "rps", 0.50)

    # ---- very many endpoints ----

    def fill(self, server, apps):
        """Applications big-00000… with EACH endpoints: one takes everything, the others wait for a type that is never sent."""
        base, width = f"http://127.0.0.1:{server.port}/api/v1", len(str(APPS))
        names = [f"big-{i:0{width}}" for i in range(apps)]
        lines = self.file([json.dumps({"name": name, "uid": name}) for name in names])
        made = [self.load(base + "/app", 64, 600, *JSON, "--body-lines", lines, "--count", str(apps), warmup=0)]
        targets = self.file([f"/api/v1/app/{name}/endpoint" for name in names])
        for types, count in ((None, 1), (["bench.never"], EACH - 1)):
            body = self.file(json.dumps({"url": "http://127.0.0.1:9/hook", "eventTypes": types}))
            made.append(self.load(base + "/app", 64, 1200, *JSON, "--body-file", body, "--targets", targets, "--count", str(apps * count), warmup=0))
        if self.bad(*made):
            raise SystemExit(f"not all applications and endpoints were made: {made}")
        return self.file([f"/api/v1/app/{name}/msg?with_content=false" for name in names])

    def catalogue(self):
        """A message with one match costs the same whether there are 10 endpoints or 100,000."""
        apps = APPS // self.share
        later = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 3600))
        body = self.message(deliverAt=later)
        with self.server() as few, self.server() as many:
            for server in (few, many):
                Api(server).event_type("bench.never")
            targets = {few: self.fill(few, 1), many: self.fill(many, apps)}
            runs = {few: [], many: []}
            for _ in range(self.rounds):
                for server in (few, many):
                    runs[server].append(self.send(server, "none", body, "--targets", targets[server]))
            rss = many.rss_mib()
            data = many.data
            many.kill()
            begun = time.monotonic()
            with Server(self.bench.binary, os.path.dirname(data), "--drain", "0s") as again:
                start, after = again.ready_seconds, again.rss_mib()
                answered = self.send(again, "none", body, "--targets", targets[many], seconds=1)
            self.raw["catalogue"] = {"few": runs[few], "many": runs[many], "rss_mib": [rss, after], "start_seconds": start,
                                     "stopped_for": time.monotonic() - begun}
            endpoints = apps * EACH
            # Time of one message: the bar is on its cost.
            cost = lambda group: [{**run, "us": 64e6 / max(1, run["rps"])} for run in group]
            self.ratio_row(f"a message among {endpoints:,} endpoints of {apps:,} applications ÷ among {EACH}", cost(runs[many]), cost(runs[few]), "us",
                           1.3, at_least=False)
            self.bench.row("… start after kill -9", f"{start:.1f} s", "<= 5 s", start <= 5 and self.bad(answered) == 0)
            self.bench.row("… memory", f"{max(rss, after):.0f} MiB", "<= 512 MiB", max(rss, after) <= 512, f"{after:.0f} MiB after the start")

    # ---- endpoints that hang ----

    def hanging_phase(self, hang):
        """1 % of the endpoints, each on a host of its own, take requests and never answer."""
        healthy = DESTINATIONS - HANGING
        with Floor(self.bench.tools, "--receiver", "--hosts", str(healthy)) as receiver, \
                Floor(self.bench.tools, "--hang", "--hosts", str(HANGING)) as stuck, self.server() as server:
            api = Api(server)
            names = [f"app-{i:04}" for i in range(DESTINATIONS)]
            host = lambda i: f"127.1.{100 + i // 100}.{100 + i % 100}"
            for i, name in enumerate(names):
                api.app(name)
                port = receiver.port if i < healthy else stuck.port
                api.endpoint(name, f"http://{host(i if i < healthy else i - healthy)}:{port}/hook")
            # What arrives is a stamp: the lag is counted from when the message was meant to be sent.
            prefix = '{"eventType":"bench.sent","payload":{},"transformationsParams":{"rawPayload":"'
            body = self.file(prefix + STAMP + PAYLOAD + '"}}')
            url = self.message_url(server, names[0])
            path = lambda some: self.file([f"/api/v1/app/{name}/msg?with_content=false" for name in some])
            good = (*JSON, "--body-file", body, "--stamp-at", str(len(prefix)), "--targets", path(names[:healthy]))
            self.load(url, 16, 1, "--rate", "1000", *good, warmup=0)  # connections are there
            trickle = None
            if hang:
                bad = (*JSON, "--body-file", body, "--targets", path(names[healthy:]))
                self.load(url, 64, 60, *bad, "--count", str(HANGING * 600), warmup=0)
                time.sleep(1)
                trickle = self.tools.start_load(url, 4, self.seconds + 1, "--rate", "10", *bad)
            in_flight = stuck.json("/stats")["requests"]
            receiver.json("/reset")
            sent = self.load(url, 16, self.seconds, "--rate", "1000", *good, warmup=0)
            deadline = time.monotonic() + 30
            while receiver.json("/stats")["unique_ids"] < sent["ok_total"] and time.monotonic() < deadline:
                time.sleep(0.05)
            stats, lag = receiver.json("/stats"), receiver.json("/latencies")
            if trickle:
                self.tools.result(trickle)
        return {"lag": lag, "sent": sent, "hanging": in_flight, "missing": max(0, sent["ok_total"] - stats["unique_ids"])}

    def hanging(self):
        runs = {"none": [], "hang": []}
        for _ in range(self.rounds):
            for name in runs:
                runs[name].append(self.hanging_phase(name == "hang"))
        self.raw["hanging"] = runs
        median = lambda name: statistics.median(run["lag"]["p99_us"] for run in runs[name])
        lost = sum(run["missing"] for run in runs["hang"])
        ratio = median("hang") / max(1, median("none"))
        self.bench.row(f"1 % of {DESTINATIONS:,} endpoints hang: p99 of the rest", f"{ratio:.2f} of none", "<= 1.1",
                       ratio <= 1.1 and lost == 0 and all(run["hanging"] for run in runs["hang"]),
                       f"{median('hang') / 1000:.2f} ms and {median('none') / 1000:.2f} ms, with "
                       f"{statistics.median(run['hanging'] for run in runs['hang']):,.0f} attempts hanging" + (f", {lost} NOT DELIVERED in time" if lost else ""))

    # ---- one application sends much more than the others ----

    def greedy(self):
        with Floor(self.bench.tools, "--receiver") as receiver, Floor(self.bench.tools, "--receiver") as elsewhere, self.server() as server:
            api = Api(server)
            names = [f"polite-{i:02}" for i in range(50)]
            for name in names:
                api.app(name)
                api.endpoint(name, f"http://127.0.0.1:{receiver.port}/hook")
            api.app("greedy")
            api.endpoint("greedy", f"http://127.0.0.2:{elsewhere.port}/hook")
            prefix = '{"eventType":"bench.sent","payload":{},"transformationsParams":{"rawPayload":"'
            body = self.file(prefix + STAMP + PAYLOAD + '"}}')
            targets = self.file([f"/api/v1/app/{name}/msg?with_content=false" for name in names])

            def phase(flooded):
                flood = None
                if flooded:
                    # Each of the others sends 10 a second: 50 times that.
                    flood = self.tools.start_load(self.message_url(server, "greedy"), 16, self.seconds + 1, "--rate", "500", *JSON, "--body-file", body)
                    time.sleep(0.5)
                receiver.json("/reset")
                sent = self.load(self.message_url(server, names[0]), 16, self.seconds, "--rate", "500", *JSON, "--body-file", body,
                                 "--stamp-at", str(len(prefix)), "--targets", targets, warmup=0)
                time.sleep(0.5)
                lag = receiver.json("/latencies")
                if flood:
                    self.tools.result(flood)
                return {**sent, "lag_p99_us": lag["p99_us"]}

            phase(False)
            runs = {"alone": [], "beside": []}
            for _ in range(self.rounds + 1):
                runs["alone"].append(phase(False))
                runs["beside"].append(phase(True))
        self.raw["greedy"] = runs
        self.ratio_row("an application sends 50 × its share: p99 of the others ÷ alone", runs["beside"], runs["alone"], "lag_p99_us", 1.25, at_least=False)

    # ---- replays ----

    def beside_a_replay(self):
        count = 100_000 // self.share
        with Floor(self.bench.tools, "--receiver") as receiver, self.server() as server:
            api = Api(server)
            api.app("replayed")
            endpoint = api.endpoint("replayed", f"http://127.0.0.1:{receiver.port}/hook")
            api.app("other")
            api.endpoint("other", "http://127.0.0.1:9/hook", disabled=True)
            body = self.message()
            self.send(server, "replayed", body, "--count", str(count), seconds=600)
            deadline = time.monotonic() + 300
            while receiver.json("/stats")["unique_ids"] < count and time.monotonic() < deadline:
                time.sleep(0.2)
            runs = {"alone": [], "beside": []}
            for _ in range(self.rounds):
                runs["alone"].append(self.send(server, "other", body))
                replay = api.call("POST", "/webhooks/replays", {"app": "replayed", "since": "2020-01-01T00:00:00Z", "rate": 1000})
                runs["beside"].append(self.send(server, "other", body))
                api.call("POST", f"/webhooks/replays/{replay['id']}/cancel", {})
        self.raw["replay"] = {"runs": runs, "endpoint": endpoint}
        self.ratio_row(f"messages accepted while {count:,} are replayed ÷ without", runs["beside"], runs["alone"], "rps", 0.90)

    # ---- messages that wait ----

    def held(self):
        count = 1_000_000 // self.share
        with Floor(self.bench.tools, "--receiver") as receiver, self.server() as server:
            api = Api(server)
            api.app("held")
            endpoint = api.endpoint("held", f"http://127.0.0.1:{receiver.port}/hook")
            api.options("held", endpoint, hold={"maxMessages": count, "maxBytes": 1 << 40}, resumeRate=1000)
            body = self.message()
            self.send(server, "held", body, "--count", "1000", seconds=60)
            api.call("PATCH", f"/app/held/endpoint/{endpoint}", {"disabled": True})
            before = server.rss_mib()
            sent = self.send(server, "held", body, "--count", str(count), seconds=1200)
            grown = server.rss_mib() - before
            receiver.json("/reset")
            began = time.monotonic()
            api.call("PATCH", f"/app/held/endpoint/{endpoint}", {"disabled": False})
            while receiver.json("/stats")["requests"] == 0 and time.monotonic() - began < 60:
                time.sleep(0.01)
            first = time.monotonic() - began
        self.raw["held"] = {"count": sent["ok_total"], "grown_mib": grown, "first_seconds": first}
        whole = sent["ok_total"] == count
        self.bench.row(f"{count:,} held messages: memory grows by", f"{grown:.0f} MiB", "<= 64 MiB", grown <= 64 and whole,
                       "" if whole else f"only {sent['ok_total']:,} were taken")
        self.bench.row("… resumed: first delivery after", f"{first:.2f} s", "<= 1 s", first <= 1)

    # ---- pages of attempts ----

    def attempts(self):
        many = 1_000_000 // self.share
        took = {}
        with Floor(self.bench.tools, "--receiver") as receiver, self.server() as server:
            api = Api(server)
            for name, count in (("few", 1000), ("many", many)):
                api.app(name)
                endpoint = api.endpoint(name, f"http://127.0.0.1:{receiver.port}/hook")
                api.options(name, endpoint, parallelism=1000)
                receiver.json("/reset")
                self.send(server, name, self.message(), "--count", str(count), seconds=1200)
                deadline = time.monotonic() + 600
                while receiver.json("/stats")["unique_ids"] < count and time.monotonic() < deadline:
                    time.sleep(0.2)
                took[name] = endpoint
            time.sleep(1)
            for name, endpoint in list(took.items()):
                times = []
                for _ in range(100):
                    begun = time.perf_counter()
                    page = api.call("GET", f"/app/{name}/attempt/endpoint/{endpoint}?limit=50&with_content=false")
                    times.append(time.perf_counter() - begun)
                    assert len(page["data"]) == 50
                took[name] = statistics.median(times)
        self.raw["attempts"] = took
        ratio = took["many"] / took["few"]
        self.bench.row(f"a page of {many:,} attempts ÷ of 1,000", f"{ratio:.2f}", "<= 1.5", ratio <= 1.5,
                       f"{took['many'] * 1000:.2f} ms and {took['few'] * 1000:.2f} ms")

    # ---- nothing to do ----

    def idle(self):
        with self.server() as server:
            Api(server).event_type("bench.never")
            self.fill(server, max(1, 1000 // (10 if self.bench.quick else 1)))
            time.sleep(2)
            before, since = server.cpu_seconds(), time.monotonic()
            time.sleep(self.bench.idle_seconds)
            cpu = 100 * (server.cpu_seconds() - before) / (time.monotonic() - since)
        self.raw["idle"] = cpu
        self.bench.row("idle with 10,000 endpoints: CPU", f"{cpu:.2f} %", "< 0.2 %", cpu < 0.2)

