"""Money: transfers over HTTP beside PostgreSQL on the same disk, where a transfer is one function call, or a thousand of them
are one statement over sets. All in turns on the same machine; each is durable before it is answered."""
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess

from postgres import Postgres, programs
from processes import DEV_TOKEN, Server

BOOK = "/api/v1/ledger/books/main"
JSON = ("--header", "Content-Type: application/json")
ACCOUNTS = 1000
SINGLE_CLIENTS = 64
BATCH_CLIENTS = 4
BATCHES = ((1000, 25), (8192, 40))
PG_BATCH = 1000
ITEMS_MAX = 8192

SCHEMA = """
CREATE TABLE account (id int PRIMARY KEY, currency text NOT NULL, balance numeric(38) NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0);
CREATE TABLE transfer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, transfer bigint NOT NULL REFERENCES transfer,
  account int NOT NULL REFERENCES account, amount numeric(38) NOT NULL CHECK (amount <> 0));
CREATE INDEX ON entry (account, id);
INSERT INTO account (id, currency) SELECT n, 'USD' FROM generate_series(1, {accounts}) n;

CREATE FUNCTION transfer(source int, target int, amount bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint;
BEGIN
  PERFORM 1 FROM account WHERE id IN (source, target) ORDER BY id FOR UPDATE;
  UPDATE account SET balance = balance - transfer.amount, version = version + 1 WHERE id = source;
  UPDATE account SET balance = balance + transfer.amount, version = version + 1 WHERE id = target;
  INSERT INTO transfer DEFAULT VALUES RETURNING id INTO made;
  INSERT INTO entry (transfer, account, amount) VALUES (made, source, -transfer.amount), (made, target, transfer.amount);
  RETURN made;
END $$;

CREATE FUNCTION transfers(sources int[], targets int[], amounts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM account WHERE id = ANY (sources) OR id = ANY (targets) ORDER BY id FOR UPDATE;
  WITH asked AS (SELECT s, t, a, row_number() OVER () AS n FROM unnest(sources, targets, amounts) AS x (s, t, a)),
    made AS (INSERT INTO transfer (created_at) SELECT now() FROM asked RETURNING id),
    numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS n FROM made),
    both_sides AS (SELECT id AS transfer, s AS account, -a AS amount FROM asked JOIN numbered USING (n)
      UNION ALL SELECT id, t, a FROM asked JOIN numbered USING (n)),
    entries AS (INSERT INTO entry (transfer, account, amount) SELECT transfer, account, amount FROM both_sides),
    sums AS (SELECT account, sum(amount) AS amount, count(*) AS moved FROM both_sides GROUP BY account)
  UPDATE account SET balance = balance + sums.amount, version = version + sums.moved FROM sums WHERE id = sums.account;
END $$;
"""
ONE_CALL = """\\set a random(1, {accounts})
\\set b 1 + (:a + random(1, {accounts} - 1) - 1) % {accounts}
\\set m random(1, 10000)
SELECT transfer(:a, :b, :m);
"""
# The arrays are made inside the server, which spares it reading them.
SETS = """SELECT transfers(array_agg(a), array_agg(1 + a % {accounts}), array_agg(m))
FROM (SELECT 1 + (random() * ({accounts} - 1))::int AS a, 1 + (random() * 9999)::bigint AS m FROM generate_series(1, {batch})) x;
"""


def transfer(source, target, amount):
    """Of one length, whatever the numbers are."""
    entry = lambda account, side: {"account": f"a:{account:08}", "side": side, "amount": f"{amount}", "currency": "USD"}
    return {"entries": [entry(source, "debit"), entry(target, "credit")]}


class LedgerBench:
    def __init__(self, bench):
        self.bench = bench
        self.rng = random.Random(1)
        self.many = 200_000 if bench.quick else 10_000_000
        self.scratch, self.files = None, 0
        self.history = 100_000 if bench.quick else 5_000_000  # transfers: each moves the account twice

    def drawn(self, accounts, hot=False):
        source = 0 if hot else self.rng.randrange(accounts)
        return transfer(source, (source + 1 + self.rng.randrange(accounts - 1)) % accounts, self.rng.randrange(1000, 9999))

    def lines(self, bodies):
        self.files += 1
        path = os.path.join(self.scratch, f"bodies-{self.files}")
        with open(path, "w") as f:
            f.writelines(json.dumps(body, separators=(",", ":")) + "\n" for body in bodies)
        return path

    def singles(self, accounts=ACCOUNTS, hot=False):
        return self.lines([self.drawn(accounts, hot) for _ in range(5000)])

    def batches(self, size, accounts=ACCOUNTS, hot=False):
        return self.lines([{"items": [{"op": "transaction", "transaction": self.drawn(accounts, hot)} for _ in range(size)]}
                           for _ in range(8)])

    def load(self, server, path, connections, bodies, *flags):
        done = self.bench.load(f"http://127.0.0.1:{server.port}{BOOK}{path}", connections, self.bench.seconds, *JSON,
                               "--body-lines", bodies, *flags)
        if done["errors"] or done["non_2xx"] or done["first_bad_answer"]:
            raise SystemExit(f"{path}: {done['errors']} errors, {done['non_2xx']} refused, first {done['first_bad_answer']}")
        return done

    def single_rate(self, server, bodies, *flags):
        return self.load(server, "/transactions", SINGLE_CLIENTS, bodies, *flags)

    def batch_rate(self, server, bodies, size):
        done = self.load(server, "/batches", BATCH_CLIENTS, bodies, "--header", "Prefer: return=minimal")
        return done["rps"] * size

    def ask(self, server, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        try:
            connection.request("POST", BOOK + path, json.dumps(body), {"Authorization": "Bearer " + DEV_TOKEN,
                               "Content-Type": "application/json", "Prefer": "return=minimal"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status not in (200, 201):
                raise SystemExit(f"{path} was answered {response.status}: {answer}")
            return answer
        finally:
            connection.close()

    def make_accounts(self, server, count):
        for first in range(0, count, ITEMS_MAX):
            items = [{"op": "account", "account": {"id": f"a:{n:08}", "type": "liability"}}
                     for n in range(first, min(count, first + ITEMS_MAX))]
            answer = self.ask(server, "/batches", {"items": items})
            if answer["applied"] != len(items):
                raise SystemExit(f"{answer['applied']} of {len(items)} accounts were made: {answer['results'][:2]}")

    # ---- the peer ----
    def pgbench(self, postgres, script, clients):
        path = os.path.join(self.scratch, "script.sql")
        with open(path, "w") as f:
            f.write(script)
        done = subprocess.run([os.path.join(programs(), "pgbench"), "-n", "-M", "prepared", "-f", path, "-c", str(clients), "-j", "2",
                               "-T", str(max(2, round(self.bench.seconds)))], env=postgres.environment("ledger"),
                              stdout=subprocess.PIPE, text=True, check=True)
        return float(next(line for line in done.stdout.splitlines() if line.startswith("tps = ")).split()[2])

    def beside_postgres(self):
        bench = self.bench
        data, folder = bench.data(), bench.data()
        os.chmod(folder, 0o755)
        runs = []
        try:
            with Server(bench.binary, data) as server, Postgres(folder) as postgres:
                postgres.fresh("ledger")
                with postgres.connect("ledger") as connection:
                    connection.run(SCHEMA.format(accounts=ACCOUNTS))
                postgres.checkpoint("ledger")
                self.make_accounts(server, ACCOUNTS)
                one = self.singles()
                sets = {size: self.batches(size) for size, _ in BATCHES}
                for _ in range(bench.rounds):
                    run = {"postgres": self.pgbench(postgres, ONE_CALL.format(accounts=ACCOUNTS), SINGLE_CLIENTS)}
                    run["single"] = self.single_rate(server, one)
                    run["postgres_sets"] = PG_BATCH * max(
                        self.pgbench(postgres, SETS.format(accounts=ACCOUNTS, batch=PG_BATCH), clients) for clients in (1, 2))
                    for size in sets:
                        run[size] = self.batch_rate(server, sets[size], size)
                    runs.append(run)
        finally:
            for one in (data, folder):
                shutil.rmtree(one, ignore_errors=True)
        bench.raw["ledger_postgres"] = runs
        median = lambda value: statistics.median(value(run) for run in runs)
        ratio = median(lambda run: run["single"]["rps"] / run["postgres"])
        bench.row("single transfers, 64 connections", f"{ratio:.1f} x PostgreSQL", ">= 5", ratio >= 5,
                  f"{median(lambda r: r['single']['rps']):,.0f}/s, p99 {median(lambda r: r['single']['p99_us']) / 1000:.1f} ms; "
                  f"one function call each {median(lambda r: r['postgres']):,.0f}/s")
        for size, bar in BATCHES:
            ratio = median(lambda run: run[size] / run["postgres_sets"])
            bench.row(f"transfers in batches of {size:,}", f"{ratio:.1f} x PostgreSQL", f">= {bar}", ratio >= bar,
                      f"{median(lambda r: r[size]):,.0f}/s; sets of {PG_BATCH:,} {median(lambda r: r['postgres_sets']):,.0f}/s")

    # ---- what should not cost ----
    def pair(self, name, bar, kinds, detail=""):
        """Two ways in turns on one server; the ratio of the second to the first."""
        ratios, sides = [], []
        for _ in range(self.bench.rounds):
            first, second = (kind() for kind in kinds)
            sides.append((first, second))
            ratios.append(second / first)
        self.bench.raw["ledger " + name] = sides
        ratio = statistics.median(ratios)
        self.bench.row(name, f"{ratio:.2f} of spread", f">= {bar}", ratio >= bar,
                       f"{statistics.median(s[1] for s in sides):,.0f}/s of {statistics.median(s[0] for s in sides):,.0f}/s{detail}")

    def one_hot_account(self):
        data = self.bench.data()
        try:
            with Server(self.bench.binary, data) as server:
                self.make_accounts(server, ACCOUNTS)
                spread, hot = (self.singles(hot=hot) for hot in (False, True))
                self.pair("one hot account, single", 0.9, [lambda: self.single_rate(server, spread)["rps"],
                                                          lambda: self.single_rate(server, hot)["rps"]])
                spread, hot = (self.batches(1000, hot=hot) for hot in (False, True))
                self.pair("one hot account, batches of 1,000", 0.9, [lambda: self.batch_rate(server, spread, 1000),
                                                                     lambda: self.batch_rate(server, hot, 1000)])
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def under_a_key(self):
        """What an Idempotency-Key costs: CPU of the server for each transfer."""
        data = self.bench.data()
        runs = []
        try:
            with Server(self.bench.binary, data) as server:
                self.make_accounts(server, ACCOUNTS)
                bodies = self.singles()

                def cost(*flags):
                    before = server.cpu_ns()
                    done = self.single_rate(server, bodies, *flags)
                    return (server.cpu_ns() - before) / done["ok_total"] / 1000
                for number in range(self.bench.rounds):
                    runs.append((cost(), cost("--unique-header", f"Idempotency-Key: run-{number}-")))
        finally:
            shutil.rmtree(data, ignore_errors=True)
        self.bench.raw["ledger_key"] = runs
        ratio = statistics.median(with_key / plain for plain, with_key in runs)
        self.bench.row("a transfer under an Idempotency-Key", f"{ratio:.2f} of the CPU", "<= 1.15", ratio <= 1.15,
                       f"{statistics.median(r[1] for r in runs):.1f} us of {statistics.median(r[0] for r in runs):.1f} us")

    def many_accounts(self):
        few_data, data = self.bench.data(), self.bench.data()
        try:
            with Server(self.bench.binary, few_data) as few, Server(self.bench.binary, data) as many:
                self.make_accounts(few, ACCOUNTS)
                self.make_accounts(many, self.many)
                bodies = [self.singles(count) for count in (ACCOUNTS, self.many)]
                self.pair(f"{self.many:,} accounts, single", 0.8, [lambda: self.single_rate(few, bodies[0])["rps"],
                                                                   lambda: self.single_rate(many, bodies[1])["rps"]])
                bodies = [self.batches(1000, count) for count in (ACCOUNTS, self.many)]
                self.pair(f"{self.many:,} accounts, batches of 1,000", 0.8, [lambda: self.batch_rate(few, bodies[0], 1000),
                                                                             lambda: self.batch_rate(many, bodies[1], 1000)])
                rss = many.rss_mib("VmHWM")
                self.bench.row(f"memory with {self.many:,} accounts, at most", f"{rss:.0f} MiB", "<= 512 MiB", rss <= 512)
        finally:
            for one in (few_data, data):
                shutil.rmtree(one, ignore_errors=True)

    def past_moments(self):
        """The balance of one account at moments among all its entries, and now."""
        data = self.bench.data()
        try:
            with Server(self.bench.binary, data) as server:
                self.make_accounts(server, 2)
                items = [{"op": "transaction", "transaction": transfer(i % 2, 1 - i % 2, 1000 + i % 9000)} for i in range(ITEMS_MAX)]
                for _ in range(self.history // ITEMS_MAX + 1):
                    self.ask(server, "/batches", {"items": items})
                last = self.bench.call(server, "GET", BOOK, None)["last_seq"]
                url = f"http://127.0.0.1:{server.port}{BOOK}/accounts/a:00000000/balances?currency=USD"
                read = lambda more="": self.bench.load(url + more, 1, self.bench.seconds / 5, "--method", "GET", warmup=0.1)["p50_us"]
                runs = []
                for _ in range(5 * self.bench.rounds):
                    runs.append((read(), read(f"&as_of_seq={self.rng.randrange(3, last)}")))
        finally:
            shutil.rmtree(data, ignore_errors=True)
        self.bench.raw["ledger_past"] = runs
        ratio = statistics.median(past / now for now, past in runs)
        self.bench.row(f"balance at a past moment, {2 * (last - 2):,} entries", f"{ratio:.2f} point reads", "<= 3", ratio <= 3,
                       f"{statistics.median(r[1] for r in runs):.0f} us, now {statistics.median(r[0] for r in runs):.0f} us")

    def run(self):
        print("ledger", flush=True)
        self.scratch = self.bench.data()
        try:
            if programs():
                self.beside_postgres()
            else:
                print("  PostgreSQL is not installed: it is not measured beside", flush=True)
            self.one_hot_account()
            self.under_a_key()
            self.past_moments()
            self.many_accounts()
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)
