"""What the tests of the outbox relay share: tables of both kinds, relays as processes, a receiver that knows rows by
their keys, and a record of every state that a row has had."""
import collections
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from harness import BINARY, Answer, Receiver, run_binary, wait_for
from postgres import Postgres, Session

# Short, so that what must wait for a lease or a pause does not wait for long.
QUICK = {"OUTBOX_LOCK_LEASE_SEC": "1", "BROKER_TIMEOUT_MS": "500", "OUTBOX_POLL_INTERVAL_SEC": "0.1",
         "OUTBOX_BACKOFF_SEC": "0.1", "OUTBOX_ALLOW_LOOPBACK_DESTINATIONS": "true"}

# Long, for what must not happen twice on a machine that is slow today.
PATIENT = {"OUTBOX_LOCK_LEASE_SEC": "600", "BROKER_TIMEOUT_MS": "120000"}


def clean_environment():
    return {k: v for k, v in os.environ.items()
            if not k.startswith(("HIKYAKU_", "OUTBOX_", "BROKER_", "AWS_", "PG", "OTEL_"))}


@dataclasses.dataclass
class Table:
    outbox: str
    ledger: str
    payload: str
    env: dict
    made_by_the_application: str  # SQL; "": init makes the tables
    insert: str                   # $1 key, $2 payload


DEFAULT = Table("hikyaku_outbox", "hikyaku_ledger", "payload", {}, "", "SELECT hikyaku_enqueue($1, $2::jsonb) AS id")

ADOPTED = Table(
    "outbox_orders", "idempo_ledger", "order_request_json",
    {"OUTBOX_TABLE": "outbox_orders", "OUTBOX_LEDGER_TABLE": "idempo_ledger",
     "OUTBOX_COLUMNS": "payload=order_request_json,destination=,headers=,order_key=,traceparent=,ledger.reason_code="},
    """
    CREATE TABLE outbox_orders (
      id bigserial PRIMARY KEY, idempotency_key text NOT NULL UNIQUE, order_request_json jsonb, request_digest text,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'sending', 'succeeded', 'failed', 'aborted')),
      attempts int NOT NULL DEFAULT 0, last_error_code text, last_error_msg text, locked_by text, locked_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz);
    CREATE TABLE idempo_ledger (
      idempotency_key text PRIMARY KEY, request_digest text, status text NOT NULL, http_status int,
      response_payload_json jsonb, created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now());
    """,
    "INSERT INTO outbox_orders (idempotency_key, order_request_json, request_digest)"
    " VALUES ($1, $2::text::jsonb, 'sha256:' || encode(sha256(convert_to($2::text, 'UTF8')), 'hex')) RETURNING id")

# What a row has been, in order, and what the ledger said at that time.
WATCH = """
CREATE TABLE watched_rows (n bigserial PRIMARY KEY, key text, status text, row jsonb, ledger text);
CREATE TABLE watched_ledger (n bigserial PRIMARY KEY, key text, status text);
CREATE FUNCTION watch_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO watched_rows (key, status, row, ledger) SELECT NEW.idempotency_key, NEW.status, to_jsonb(NEW),
    (SELECT status FROM {ledger} l WHERE l.idempotency_key = NEW.idempotency_key);
  RETURN NULL; END $$;
CREATE FUNCTION watch_ledger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO watched_ledger (key, status) VALUES (NEW.idempotency_key, NEW.status); RETURN NULL; END $$;
CREATE TRIGGER watch_row AFTER INSERT OR UPDATE ON {outbox} FOR EACH ROW EXECUTE FUNCTION watch_row();
CREATE TRIGGER watch_ledger AFTER INSERT OR UPDATE ON {ledger} FOR EACH ROW EXECUTE FUNCTION watch_ledger();
"""


class Broker(Receiver):
    """An Answer with the action "gate" is given when open() was called for its path."""

    def __init__(self, port=0):
        super().__init__(port)
        self.gates = collections.defaultdict(threading.Event)

    def open(self, path):
        self.gates[path].set()

    def record(self, got):
        answer = super().record(got)
        if answer.action == "gate":
            self.gates[got.path].wait(600)
            return dataclasses.replace(answer, action="")
        return answer

    def close(self):
        for gate in list(self.gates.values()):
            gate.set()
        super().close()


class Relay:
    """`hikyaku outbox` as a process."""

    def __init__(self, url, *flags, env=None):
        self.home = tempfile.mkdtemp(prefix="hikyaku-outbox-")
        self.flags = flags
        self.env = clean_environment() | {"OUTBOX_DATABASE": url} | (env or {})
        self.log_path = os.path.join(self.home, "log")
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([BINARY, "outbox", *self.flags], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.env, cwd=self.home)
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self, timeout=90):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def output(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def events(self, name=""):
        """Lines of the log as objects; those of one event. A line that is being written is left out."""
        lines = self.output().split("\n")[:-1]
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [event for event in found if name in ("", event["event"])]

    def wait_event(self, name, count=1, timeout=None):
        return wait_for(lambda: len(self.events(name)) >= count and self.events(name),
                        lambda: f"{count} {name} in the log:\n{self.output()[-3000:]}", timeout)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


class OutboxCase(unittest.TestCase):
    """A PostgreSQL and a receiver for the whole class; a database and a path of its own for each test."""
    table = DEFAULT
    init_flags = ()
    settings = {}
    postgres_settings = {}
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.close)
        cls.postgres = Postgres(**cls.postgres_settings)
        cls.addClassCleanup(cls.postgres.close)
        cls.prepared = cls.postgres.make_database()
        cls.prepare()

    @classmethod
    def prepare(cls):
        """The tables, once; each test gets a copy."""
        if cls.table.made_by_the_application:
            cls.postgres.script(cls.prepared, cls.table.made_by_the_application)
        made = run_binary("outbox", "init", *cls.init_flags,
                          env=clean_environment() | QUICK | cls.table.env | cls.settings | {"OUTBOX_DATABASE": cls.prepared})
        assert made.returncode == 0, made.stderr
        cls.postgres.script(cls.prepared, WATCH.replace("{outbox}", cls.table.outbox).replace("{ledger}", cls.table.ledger))

    def setUp(self):
        self.path = "/" + self.id().rsplit(".", 1)[1]
        self.hook = self.broker.url(self.path)
        self.url = self.postgres.make_database(self.prepared)
        self.session = None
        self.addCleanup(lambda: self.session and self.session.close())
        self.connect()

    def connect(self):
        """Anew, after the server was away."""
        if self.session is not None:
            self.session.close()
        self.session = Session(self.url)

    # ---- Rows ----

    def enqueue(self, key, payload='{"n": 1}', session=None):
        return int((session or self.session).value(self.table.insert, key, payload))

    def row(self, key):
        rows = self.session.run(f"SELECT * FROM {self.table.outbox} WHERE idempotency_key = $1", key)
        return rows[0] if rows else None

    def ledger(self, key):
        rows = self.session.run(f"SELECT * FROM {self.table.ledger} WHERE idempotency_key = $1", key)
        return rows[0] if rows else None

    def wait_row(self, key, status, timeout=None):
        def there():
            row = self.row(key)
            return row if row and row["status"] == status else None

        return wait_for(there, lambda: f"{key} to be {status}; it is {self.row(key)}", timeout)

    def counts(self):
        rows = self.session.run(f"SELECT status, count(*) AS n FROM {self.table.outbox} GROUP BY 1")
        return {row["status"]: int(row["n"]) for row in rows}

    def wait_all(self, expected, timeout=None):
        """Until the rows by status are these."""
        wait_for(lambda: self.counts() == expected, lambda: f"{expected}; there is {self.counts()}", timeout)

    def history(self, key):
        """The states of a row, one behind the other; a heartbeat is none of its own."""
        states = [(row["status"], row["ledger"]) for row in
                  self.session.run("SELECT status, ledger FROM watched_rows WHERE key = $1 ORDER BY n", key)]
        return [state for i, state in enumerate(states) if i == 0 or states[i - 1] != state]

    def was(self, key, status):
        """The row as it was when it first became so; waits for it."""
        found = wait_for(lambda: self.session.value("SELECT row FROM watched_rows WHERE key = $1 AND status = $2"
                                                    " ORDER BY n LIMIT 1", key, status),
                         lambda: f"{key} to become {status}; it is {self.row(key)}")
        return json.loads(found)

    def states(self, key):
        return [status for status, _ in self.history(key)]

    def confirmed(self):
        """How often each key became succeeded in the ledger."""
        return {row["key"]: int(row["n"]) for row in self.session.run(
            "SELECT key, count(*) AS n FROM watched_ledger WHERE status = 'succeeded' GROUP BY 1")}

    # ---- The receiver ----

    def script_answers(self, *answers):
        self.broker.script(self.path, *answers)

    def gated(self, status=200, **answer):
        return Answer(status=status, action="gate", **answer)

    def received(self, key=None):
        return [r for r in self.broker.at(self.path) if key is None or r.headers["Idempotency-Key"] == key]

    def keys_received(self):
        return collections.Counter(r.headers["Idempotency-Key"] for r in self.received())

    def wait_received(self, count=1, timeout=None):
        return self.broker.wait(self.path, count, timeout)

    # ---- Processes ----

    def env(self, **changes):
        return QUICK | self.table.env | self.settings | {"OUTBOX_DESTINATION": self.hook} | changes

    def relay(self, *flags, **env):
        relay = Relay(self.url, *flags, env=self.env(**env))
        self.addCleanup(relay.close)
        return relay.start()

    def command(self, *arguments, env=None, timeout=60):
        return run_binary("outbox", *arguments, timeout=timeout,
                          env=clean_environment() | {"OUTBOX_DATABASE": self.url} | self.env() | (env or {}))

    def ok(self, *arguments, **options):
        done = self.command(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout
