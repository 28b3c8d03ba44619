"""The rows of the outbox relay: how fast it drains a table, how soon a committed row is at its receiver, what a claim
costs among many finished rows, and what waiting costs. Beside it stand two job queues on the same PostgreSQL (peers/)."""
import contextlib
import os
import shutil
import statistics
import subprocess
import time

from postgres import Postgres, programs
from processes import Floor, Process, free_port, get
from sqs import PEERS, peer_node

CONCURRENCY = 64
BATCH = 1000
CLAIM = 256
RATE = 100


class Relay(Process):
    def __init__(self, binary, postgres, database, destination, log, **settings):
        self.port = free_port()
        environment = {**os.environ, "OUTBOX_DATABASE": postgres.address(database), "OUTBOX_DESTINATION": destination,
                       "OUTBOX_ALLOW_LOOPBACK_DESTINATIONS": "true",
                       "OUTBOX_CONCURRENCY": str(CONCURRENCY), "OUTBOX_BATCH": str(BATCH), **settings}
        with open(log, "ab") as output:
            super().__init__([binary, "outbox", "--metrics-listen", f"127.0.0.1:{self.port}", "--log-level", "warn"],
                             env=environment, stdout=output, stderr=subprocess.STDOUT)

    def metrics(self):
        """Values by name and labels, as they stand in the text."""
        lines = get(self.port, "/metrics")[1].decode().splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line and line[0] != "#"}

    def wait_until_ready(self):
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError):
                if self.metrics().get("outbox_database_connected") == 1:
                    break
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the relay did not become ready")
            time.sleep(0.05)
        time.sleep(1)  # its source, too


class OutboxBench:
    def __init__(self, bench):
        self.bench = bench
        self.backlog = 5_000 if bench.quick else 20_000
        self.finished = 1_000_000 if bench.quick else 10_000_000
        self.raw = bench.raw.setdefault("outbox", {})

    def init(self, database, *flags, **settings):
        subprocess.run([self.bench.binary, "outbox", "init", *flags], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "OUTBOX_DATABASE": self.postgres.address(database), **settings})

    def relay(self, database, destination, **settings):
        return Relay(self.bench.binary, self.postgres, database, destination,
                     os.path.join(self.postgres.folder, "relay.log"), **settings)

    def enqueue(self, database, count, prefix, function="hikyaku_enqueue"):
        with self.postgres.connect(database) as connection:
            connection.run(f"SELECT count({function}(md5('{prefix}' || i), "
                           "jsonb_build_object('number', i, 'text', repeat('.', 220)))) "
                           f"FROM generate_series(1, {count}) i")

    # ---- a backlog, drained by each in turn ----
    def run_hikyaku(self, database, hook):
        return self.relay(database, hook)

    def peer(self, script, *arguments):
        return [self.node, script, *arguments], {"cwd": PEERS, "env": self.postgres.environment("drain")}

    def fill_peer(self, script):
        command, options = self.peer(script, "fill", str(self.backlog))
        subprocess.run(command, check=True, **options)

    def run_peer(self, script, hook):
        command, options = self.peer(script, "run", hook)
        return Process(command, stdout=subprocess.DEVNULL, **options)

    def drain(self, fill, run, left):
        """From the first arrival until the table knows of every row that it is done."""
        self.postgres.fresh("drain")
        fill()
        self.postgres.checkpoint("drain")
        with Floor(self.bench.tools, "--receiver") as receiver, self.postgres.connect("drain") as connection:
            before = self.postgres.cpu_ns()
            with run(f"http://127.0.0.1:{receiver.port}/hook"):
                stats, _ = self.bench.drain(receiver, self.backlog, 0)
                deadline = time.monotonic() + 30
                while connection.run(left) != "f" and time.monotonic() < deadline:
                    time.sleep(0.005)
                seconds = (time.monotonic_ns() - stats["first_ns"]) / 1e9
                cpu = self.postgres.cpu_ns() - before
            stats = receiver.json("/stats")
        return {"rate": self.backlog / seconds, "seconds": seconds, "repeats": stats["repeats"],
                "lost": self.backlog - stats["unique_ids"], "postgres_us": cpu / 1000 / self.backlog}

    def throughput(self, bar):
        ours = {"hikyaku": {}, "hikyaku, rows leave": {"OUTBOX_DELETE_SUCCEEDED": "true"}}

        def fill(settings):
            self.init("drain", **settings)
            self.enqueue("drain", self.backlog, "row-")
        runners = {name: (lambda settings=settings: fill(settings),
                          lambda hook, settings=settings: self.relay("drain", hook, **settings),
                          "SELECT EXISTS (SELECT 1 FROM hikyaku_outbox WHERE status <> 'succeeded')")
                   for name, settings in ours.items()}
        self.node, why = peer_node("pg-boss")
        if self.node is None:
            print(f"  graphile-worker and pg-boss are left out: {why}", flush=True)
        else:
            for name, script, left in (
                    ("graphile-worker", "graphile_worker.mjs", "SELECT EXISTS (SELECT 1 FROM graphile_worker._private_jobs)"),
                    ("pg-boss", "pg_boss.mjs", "SELECT EXISTS (SELECT 1 FROM pgboss.job WHERE state < 'completed')")):
                runners[name] = (lambda script=script: self.fill_peer(script),
                                 lambda hook, script=script: self.run_peer(script, hook), left)
        runs = [{name: self.drain(*runner) for name, runner in runners.items()} for _ in range(self.bench.rounds)]
        self.raw["throughput"] = runs
        rates = {name: statistics.median(r[name]["rate"] for r in runs) for name in runners}
        lost = sum(side["lost"] for r in runs for side in r.values())
        repeats = sum(side["repeats"] for r in runs for side in r.values())
        cpu = {name: statistics.median(r[name]["postgres_us"] for r in runs) for name in runners}
        said = ", ".join(f"{name} {rate:,.0f}/s ({cpu[name]:.0f} us of PostgreSQL)" for name, rate in rates.items())
        said += (f", {lost} LOST" if lost else "") + (f", {repeats} REPEATS" if repeats else "")
        if len(rates) == len(ours):
            self.bench.row(f"relay of {self.backlog:,} rows", f"{rates['hikyaku']:,.0f} rows/s", "none lost", lost == 0)
            return
        for ours_is in ours:
            ratio = statistics.median(r[ours_is]["rate"] / max(side["rate"] for name, side in r.items() if name not in ours)
                                      for r in runs)
            self.bench.row(f"relay of {self.backlog:,} rows" + ours_is.removeprefix("hikyaku"), f"{ratio:.1f} x the better peer",
                           f">= {bar}", ratio >= bar and lost == 0, said)

    # ---- from the commit to the receiver ----
    def insert_at_a_rate(self, database, seconds):
        """One row a transaction. The stamp in it is from before its BEGIN: the insert counts as latency, too."""
        inserts, commits = [], []
        with self.postgres.connect(database) as connection:
            start = time.monotonic()
            for number in range(int(seconds * RATE)):
                time.sleep(max(0.0, start + number / RATE - time.monotonic()))
                stamp = time.monotonic_ns()
                body = f"#{number:018d}@{stamp:019d};" + "." * 216
                connection.run(f"BEGIN; SELECT hikyaku_enqueue('{number}-{stamp}', '{body}', "
                               """headers => '{"Content-Type": "text/plain"}')""")
                inserted = time.monotonic_ns()
                connection.run("COMMIT")
                commits.append((time.monotonic_ns() - inserted) / 1000)
                inserts.append((inserted - stamp) / 1000)
        return {"insert_p50_us": statistics.median(inserts), "commit_p50_us": statistics.median(commits),
                "commit_p99_us": sorted(commits)[int(len(commits) * 0.99)], "rows": len(commits)}

    def latency_run(self, source, number):
        database = f"latency_{source}_{number}"
        self.postgres.fresh(database)
        self.init(database, "--payload-type", "text", *(["--publication"] if source == "replication" else []))
        with Floor(self.bench.tools, "--receiver") as receiver:
            with self.relay(database, f"http://127.0.0.1:{receiver.port}/hook", OUTBOX_SOURCE=source) as relay:
                relay.wait_until_ready()
                self.insert_at_a_rate(database, 1)
                time.sleep(0.5)
                receiver.json("/reset")
                told = self.insert_at_a_rate(database, self.bench.latency_seconds)
                self.bench.drain(receiver, told["rows"], 0)
                seen = {**receiver.json("/latencies"), "unique_ids": receiver.json("/stats")["unique_ids"]}
        with self.postgres.connect("postgres") as connection:
            connection.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        return {**told, "seen": seen, "lost": told["rows"] - seen["unique_ids"]}

    def latency(self):
        for source in ("notify", "replication"):
            runs = [self.latency_run(source, number) for number in range(self.bench.rounds)]
            self.raw.setdefault("latency", {})[source] = runs
            median = lambda value: statistics.median(value(r) for r in runs) / 1000
            excess = median(lambda r: r["seen"]["p50_us"] - 3 * r["commit_p50_us"] - 2000)
            lost = sum(r["lost"] for r in runs)
            self.bench.row(f"insert to receiver at {RATE}/s, {source}, p50", f"{median(lambda r: r['seen']['p50_us']):.2f} ms",
                           f"<= {median(lambda r: 3 * r['commit_p50_us'] + 2000):.2f} ms", excess <= 0 and lost == 0,
                           f"3 x COMMIT ({median(lambda r: r['commit_p50_us']):.2f} ms, p99 "
                           f"{median(lambda r: r['commit_p99_us']):.1f} ms) + 2 ms; the insert itself "
                           f"{median(lambda r: r['insert_p50_us']):.2f} ms; p99 {median(lambda r: r['seen']['p99_us']):.1f} ms"
                           + (f", {lost} LOST" if lost else ""))

    # ---- what is done does not slow down what is to do ----
    def fill_finished(self, database, table, count):
        with self.postgres.connect(database) as connection:
            connection.run("SET synchronous_commit = off")
            for target, columns, values in (
                    (table, "idempotency_key, request_digest, payload, status, attempts",
                     "md5('done-' || i), 'sha256:' || md5(i::text), '{}', 'succeeded', 1"),
                    (table + "_ledger", "idempotency_key, request_digest, status, http_status, response_payload_json",
                     "md5('done-' || i), 'sha256:' || md5(i::text), 'succeeded', 200, '{\"ok\": true}'")):
                connection.run(f"INSERT INTO {target} ({columns}) SELECT {values} FROM generate_series(1, {count}) i "
                               "ORDER BY 1")  # the order of the keys: an index is filled from left to right

    def claim_run(self, table, number):
        """Time of claiming and of writing, for each 256 rows, by the relay's own metrics."""
        settings = {"OUTBOX_TABLE": table, "OUTBOX_LEDGER_TABLE": table + "_ledger", "OUTBOX_BATCH": str(CLAIM)}
        count = CLAIM * 20
        with self.postgres.connect("claims") as connection:
            connection.run("CHECKPOINT")
            self.enqueue("claims", count, f"row-{number}-", f"{table}_enqueue")
            with Floor(self.bench.tools, "--receiver") as receiver:
                with self.relay("claims", f"http://127.0.0.1:{receiver.port}/hook", **settings) as relay:
                    self.bench.drain(receiver, count, 0)
                    deadline = time.monotonic() + 30
                    succeeded = 'outbox_processed_total{outcome="succeeded"}'
                    while relay.metrics().get(succeeded, 0) < count and time.monotonic() < deadline:
                        time.sleep(0.05)
                    metrics = relay.metrics()
        share = CLAIM / count
        return {phase: metrics[f'outbox_latency_ms_sum{{phase="{phase}"}}'] * share for phase in ("claim", "commit")}

    def claims(self, bar):
        few, many = 10_000, self.finished
        self.postgres.fresh("claims")
        for table, count in (("few", few), ("many", many)):
            self.init("claims", "--enqueue-function", f"{table}_enqueue", OUTBOX_TABLE=table,
                      OUTBOX_LEDGER_TABLE=table + "_ledger")
            self.fill_finished("claims", table, count)
        self.postgres.checkpoint("claims")
        runs = [{table: self.claim_run(table, number) for table in ("few", "many")}
                for number in range(self.bench.rounds)]
        self.raw["claims"] = {"few": few, "many": many, "runs": runs}
        both = lambda side: side["claim"] + side["commit"]
        ratio = statistics.median(both(r["many"]) / both(r["few"]) for r in runs)
        median = lambda table, phase: statistics.median(r[table][phase] for r in runs)
        self.bench.row(f"claim and writing of {CLAIM} rows, {many:,} finished", f"{ratio:.2f} of {few:,}", f"<= {bar}",
                       ratio <= bar, f"claim {median('many', 'claim'):.1f} ms and {median('few', 'claim'):.1f} ms, writing "
                       f"{median('many', 'commit'):.1f} ms and {median('few', 'commit'):.1f} ms")
        with self.postgres.connect("postgres") as connection:
            connection.run("DROP DATABASE claims WITH (FORCE)")

    # ---- waiting ----
    def idle(self):
        self.postgres.fresh("idle")
        self.init("idle")
        with self.relay("idle", "http://127.0.0.1:9/hook") as relay:
            relay.wait_until_ready()
            before, since = relay.cpu_seconds(), time.monotonic()
            time.sleep(10)
            cpu = 100 * (relay.cpu_seconds() - before) / (time.monotonic() - since)
            rss = relay.rss_mib()
        self.raw["idle"] = {"cpu_percent": cpu, "rss_mib": rss}
        self.bench.row("idle relay, CPU", f"{cpu:.2f} %", "< 1 %", cpu < 1)
        self.bench.row("idle relay, memory", f"{rss:.1f} MiB", "< 64 MiB", rss < 64)

    def run(self):
        if programs() is None:
            print("  the outbox relay is left out: PostgreSQL is not installed", flush=True)
            return
        folder = self.bench.data()
        try:
            with Postgres(folder) as self.postgres:
                self.idle()
                self.throughput(2.5)
                self.latency()
                self.claims(1.5)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
