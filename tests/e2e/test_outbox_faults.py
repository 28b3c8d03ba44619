"""Relays against everything that can go wrong around them: processes killed and frozen, PostgreSQL crashing and refusing,
receivers failing, rows that cannot be sent. What holds at the end is the promise: each committed row is confirmed exactly
once, none is lost, what was rolled back never arrives."""
import collections
import contextlib
import dataclasses
import json
import os
import random
import threading
import time

from harness import Answer, wait_for
from outbox import PATIENT, OutboxCase
from postgres import DatabaseError, Session

RELAYS = int(os.environ.get("HIKYAKU_E2E_RELAYS", "100"))
GIVE_UP = Answer(status=489, headers={"Upstash-NonRetryable-Error": "true"})


class Writer(threading.Thread):
    """An application: inserts in transactions that commit, roll back or commit late, until it is told to stop."""

    def __init__(self, case, name, seed):
        super().__init__(daemon=True)
        self.case, self.label, self.random = case, name, random.Random(seed)
        self.ended = threading.Event()
        self.committed, self.rolled_back, self.unknown = set(), set(), set()
        self.number = 0
        self.failure = None

    def run(self):
        session = None
        while not self.ended.is_set():
            try:
                session = session or Session(self.case.url)
                self.transaction(session)
            except DatabaseError:  # it is away: a new connection when it is back
                if session is not None:
                    session.close()
                session = None
                self.ended.wait(0.05)
            except Exception as error:  # shown by the test
                self.failure = error
                return
        if session is not None:
            session.close()

    def transaction(self, session):
        keys = [f"{self.label}-{self.number + i}" for i in range(self.random.randint(1, 3))]
        self.number += len(keys)
        how = self.random.choice(["commit", "commit", "late", "rollback"])
        self.rolled_back.update(keys)  # until a commit is begun nothing can have come of it
        session.run("BEGIN")
        for key in keys:
            self.case.enqueue(key, json.dumps({"key": key}), session)
        if how == "rollback":
            session.run("ROLLBACK")
            return
        if how == "late":  # younger rows are committed, sent and forgotten meanwhile
            self.ended.wait(self.random.uniform(0.1, 0.6))
        self.rolled_back.difference_update(keys)
        self.unknown.update(keys)
        session.run("COMMIT")
        self.unknown.difference_update(keys)
        self.committed.update(keys)
        self.ended.wait(self.random.uniform(0, 0.05))


class KilledAtRandom(OutboxCase):
    statuses_at_the_end = {"succeeded"}
    table_at_the_end = OutboxCase.table.outbox

    def misbehave(self, seed):
        """Sometimes 500, sometimes no answer at all, mostly well."""
        chance = random.Random(seed)

        def decide(_):
            roll = chance.random()
            return Answer(status=500) if roll < 0.1 else Answer(action="hang") if roll < 0.13 else Answer()

        self.broker.decide, usual = decide, self.broker.decide
        self.addCleanup(setattr, self.broker, "decide", usual)

    def assert_all_confirmed(self, writers):
        """In the end every row of the table is succeeded, once, and the table holds what was committed."""
        self.connect()
        wait_for(lambda: set(self.counts()) == self.statuses_at_the_end, lambda: f"all to succeed: {self.counts()}", 120)
        there = {r["idempotency_key"] for r in self.session.run(f"SELECT idempotency_key FROM {self.table_at_the_end}")}
        committed = set().union(*(w.committed for w in writers))
        rolled_back = set().union(*(w.rolled_back for w in writers))
        unknown = set().union(*(w.unknown for w in writers))
        self.assertLessEqual(committed, there)
        self.assertLessEqual(there, committed | unknown)
        self.assertGreater(len(committed), 20)
        self.assertTrue(rolled_back)
        self.assertEqual(self.confirmed(), {key: 1 for key in there})
        ledger = {r["idempotency_key"]: r["status"] for r in self.session.run(f"SELECT * FROM {self.table.ledger}")}
        self.assertEqual(ledger, {key: "succeeded" for key in there})
        received = set(self.keys_received())
        self.assertEqual(received, there)
        self.assertFalse(received & rolled_back)
        for got in self.received():
            self.assertEqual(json.loads(got.body), {"key": got.headers["Idempotency-Key"]})

    def kill_at_random(self):
        seed = int(time.time())
        with self.subTest(seed=seed):
            chance = random.Random(seed)
            self.misbehave(seed)
            settings = {"OUTBOX_MAX_ATTEMPTS": "100000", "OUTBOX_CONCURRENCY": "8"}
            relays = [self.relay(**settings, OUTBOX_SOURCE=source) for source in ("notify", "poll")]
            writers = [Writer(self, f"w{n}", seed + n) for n in range(3)]
            for writer in writers:
                writer.start()
            for step in range(12):
                time.sleep(chance.uniform(0.1, 0.7))
                if step in (4, 9):
                    self.postgres.restart(immediate=True)
                else:
                    relay = chance.choice(relays)
                    relay.kill()
                    relay.start()
            # Up to nine keys are in rolled_back because their transactions are still open.
            wait_for(lambda: sum(len(w.committed) for w in writers) > 20 and sum(len(w.rolled_back) for w in writers) > 9,
                     "some transactions of each kind")
            for writer in writers:
                writer.ended.set()
            for writer in writers:
                writer.join(60)
                self.assertFalse(writer.is_alive())
                self.assertIsNone(writer.failure)
            self.assert_all_confirmed(writers)


class Killed(KilledAtRandom):
    def test_relays_and_the_database_are_killed_at_random_and_each_row_is_confirmed_once(self):
        self.kill_at_random()

    def test_a_frozen_relay_loses_its_row_and_its_late_result_harms_nothing(self):
        self.script_answers(self.gated(500), 200)
        frozen = self.relay(**PATIENT, OUTBOX_WORKER_NAME="frozen")
        self.enqueue("order-1")
        self.wait_received()
        frozen.pause()
        self.relay(OUTBOX_WORKER_NAME="other")
        self.wait_row("order-1", "succeeded")
        self.broker.open(self.path)  # the answer to the frozen one: a failure that came too late
        before = self.row("order-1"), self.ledger("order-1")
        frozen.go_on()
        (late,) = frozen.wait_event("outbox.processed")
        self.assertEqual((late["status"], late["reason_code"]), ("refused", "BROKER_ERROR"))
        self.assertEqual((self.row("order-1"), self.ledger("order-1")), before)
        self.assertEqual(self.confirmed(), {"order-1": 1})
        # It has not lost its mind either.
        self.enqueue("order-2")
        self.wait_row("order-2", "succeeded")

    def test_a_frozen_relay_does_not_begin_what_another_has_taken_meanwhile(self):
        lease = {"OUTBOX_LOCK_LEASE_SEC": "4", "BROKER_TIMEOUT_MS": "2000", "OUTBOX_CONCURRENCY": "1"}
        self.script_answers(self.gated(), 200)
        self.session.run("BEGIN")
        for n in range(6):
            self.enqueue(f"order-{n}")
        self.session.run("COMMIT")
        frozen = self.relay(**lease, OUTBOX_WORKER_NAME="frozen")
        self.wait_received()
        frozen.pause()  # with one on the wire and the others waiting for their turn
        self.relay(**lease, OUTBOX_WORKER_NAME="other")
        self.wait_all({"succeeded": 6}, 60)
        before = self.keys_received(), self.session.run(f"SELECT * FROM {self.table.outbox} ORDER BY id")
        frozen.go_on()
        frozen.wait_event("outbox.not_begun")
        self.assertEqual(frozen.terminate(), 0)  # after all that it had still in mind to send
        self.broker.open(self.path)
        self.assertEqual((self.keys_received(), self.session.run(f"SELECT * FROM {self.table.outbox} ORDER BY id")), before)

    def test_a_late_success_is_confirmed_and_not_sent_again(self):
        self.script_answers(self.gated(200, body=b'"first"'), 500)
        frozen = self.relay(**PATIENT, OUTBOX_WORKER_NAME="frozen")
        self.enqueue("order-1")
        self.wait_received()
        frozen.pause()
        other = self.relay(OUTBOX_WORKER_NAME="other", OUTBOX_MAX_ATTEMPTS="100000")
        self.wait_received(2)
        self.broker.open(self.path)
        frozen.go_on()
        self.wait_row("order-1", "succeeded")
        self.assertEqual(json.loads(self.ledger("order-1")["response_payload_json"]), "first")
        self.assertEqual(self.confirmed(), {"order-1": 1})
        self.assertEqual(other.terminate(), 0)

    def test_a_graceful_stop_finishes_what_was_claimed(self):
        self.script_answers(self.gated())
        relay = self.relay(**PATIENT, OUTBOX_CONCURRENCY="4", OUTBOX_BATCH="4")
        self.session.run("BEGIN")
        for n in range(40):
            self.enqueue(f"order-{n}")
        self.session.run("COMMIT")
        self.wait_received(4)
        relay.process.terminate()
        self.broker.open(self.path)
        self.assertEqual(relay.process.wait(60), 0)
        counts = self.counts()
        self.assertEqual(set(counts) - {"succeeded", "pending"}, set())
        self.assertEqual(set(self.keys_received().values()), {1})
        self.assertEqual(len(self.received()), counts["succeeded"])
        self.assertEqual(relay.events("outbox.cut_off"), [])
        self.assertTrue(relay.events("outbox.stopped"))
        self.relay()
        self.wait_all({"succeeded": 40})

    def test_a_stop_that_may_not_wait_gives_rows_back_uncounted(self):
        self.script_answers(Answer(action="hang"), Answer(action="hang"), 200)
        relay = self.relay("--drain", "0", **PATIENT, OUTBOX_CONCURRENCY="2")
        self.session.run("BEGIN")
        for n in range(6):
            self.enqueue(f"order-{n}")
        self.session.run("COMMIT")
        self.wait_received(2)
        self.assertEqual(relay.terminate(), 0)
        self.assertEqual(self.counts(), {"pending": 6})
        self.assertEqual(self.session.value(f"SELECT max(attempts) FROM {self.table.outbox}"), "0")
        self.assertEqual(relay.events("outbox.cut_off")[0]["rows"], 6)
        self.relay(**PATIENT)
        self.wait_all({"succeeded": 6})  # at once: nobody waits for a lease of ten minutes


class Leaving(KilledAtRandom):
    settings = {"OUTBOX_DELETE_SUCCEEDED": "true"}
    statuses_at_the_end = set()
    table_at_the_end = OutboxCase.table.ledger

    def test_rows_that_leave_are_confirmed_once_although_relays_and_the_database_are_killed_at_random(self):
        self.kill_at_random()

    def test_a_key_that_has_left_is_not_sent_again(self):
        self.relay()
        for again in range(2):
            with self.subTest(again=again):
                self.enqueue("order-1")
                wait_for(lambda: self.counts() == {} and self.ledger("order-1"), "the row to leave")
        self.assertEqual(self.ledger("order-1")["status"], "succeeded")
        self.assertEqual(self.keys_received(), {"order-1": 1})


class Replicated(OutboxCase):
    """With pauses of an hour between looks: what arrives was told by the replication slot, or by a new start."""
    init_flags = ("--publication",)
    settings = {"OUTBOX_SOURCE": "replication", "OUTBOX_POLL_INTERVAL_SEC": "3600"}

    def wait_streaming(self):
        wait_for(lambda: self.session.value("SELECT active FROM pg_replication_slots WHERE database = current_database()")
                 == "t", "a slot that is read", 60)

    def arrives(self, *keys):
        for key in keys:
            self.wait_row(key, "succeeded", 60)
        self.assertEqual({k: n for k, n in self.keys_received().items() if k in keys}, {k: 1 for k in keys})

    def test_the_replication_source_survives_a_restart_of_both_ends(self):
        relay = self.relay(**PATIENT)
        self.wait_streaming()
        self.enqueue("told")
        self.arrives("told")
        relay.kill()
        self.enqueue("while-the-relay-is-away")
        relay.start()
        self.arrives("while-the-relay-is-away")

        self.postgres.restart(immediate=True)
        self.connect()
        self.enqueue("after-a-crash")
        self.arrives("after-a-crash")
        self.wait_streaming()
        self.session.run("BEGIN")
        self.enqueue("late")
        with Session(self.url) as other:
            self.enqueue("early", session=other)
            self.arrives("early")
        self.session.run("COMMIT")
        self.arrives("late")
        # The server need not keep the log of what was handed on.
        end = self.session.value("SELECT pg_current_wal_lsn()")
        self.enqueue("last")
        self.arrives("last")
        wait_for(lambda: self.session.value("SELECT confirmed_flush_lsn >= $1::pg_lsn FROM pg_replication_slots"
                                            " WHERE database = current_database()", end) == "t",
                 "the slot to be confirmed", 60)
        self.assertEqual(self.confirmed(), {k: 1 for k in ("told", "while-the-relay-is-away", "after-a-crash", "early",
                                                           "late", "last")})
        self.assertEqual(relay.terminate(), 0)
        self.assertIn("slot is dropped", self.ok("drop-slot"))
        self.assertEqual(self.session.run("SELECT 1 FROM pg_replication_slots WHERE database = current_database()"), [])

    def test_a_commit_that_is_streamed_before_it_is_seen_is_looked_for_again(self):
        """Its log is written, and streamed, before other sessions see it: with a standby to wait for, long before."""
        relay = self.relay(**PATIENT)
        self.wait_streaming()
        self.enqueue("before")
        self.arrives("before")
        self.session.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        self.session.run("SELECT pg_reload_conf()")
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        try:
            # The backend that commits must have read the new setting: a new one has.
            wait_for(lambda: self.session.value("SHOW synchronous_standby_names") == "nobody", "the setting")
            start = self.session.value("SELECT pg_current_wal_lsn()")
            writer = threading.Thread(target=self.commit_elsewhere, args=("unseen",), daemon=True)
            writer.start()
            wait_for(lambda: int(self.session.value(waits)), "a commit that waits for its standby")
            wait_for(lambda: self.session.value(
                "SELECT confirmed_flush_lsn > $1::pg_lsn FROM pg_replication_slots WHERE database = current_database()",
                start) == "t", "the relay to be told of it, and to look")
            self.assertIsNone(self.row("unseen"))
        finally:
            self.session.run("ALTER SYSTEM RESET synchronous_standby_names")
            self.session.run("SELECT pg_reload_conf()")
        writer.join(60)
        self.arrives("unseen")
        self.assertEqual(relay.terminate(), 0)

    def commit_elsewhere(self, key):
        with Session(self.url) as session:
            self.enqueue(key, session=session)


class Crowded(OutboxCase):
    CONNECTIONS = 2 * RELAYS  # one to claim by and one to write by
    postgres_settings = {"max_connections": str(CONNECTIONS + 30)}

    def test_of_a_hundred_relays_no_two_send_a_row(self):
        relays = [self.relay(**PATIENT, OUTBOX_SOURCE="poll", OUTBOX_BATCH="5", OUTBOX_POLL_INTERVAL_SEC="0.5")
                  for _ in range(RELAYS)]
        wait_for(lambda: int(self.session.value("SELECT count(*) FROM pg_stat_activity WHERE application_name ="
                                                " 'hikyaku outbox' AND datname = current_database()")) >= self.CONNECTIONS,
                 "the connections of all", 120)
        self.session.run("SELECT hikyaku_enqueue('order-' || n, to_jsonb(n)) FROM generate_series(1, 2000) n")
        self.wait_all({"succeeded": 2000}, 120)
        self.assertEqual(self.keys_received(), collections.Counter(f"order-{n}" for n in range(1, 2001)))
        self.assertEqual(self.confirmed(), {f"order-{n}": 1 for n in range(1, 2001)})
        claims = self.session.run("SELECT count(*) AS n, count(DISTINCT key) AS keys, count(DISTINCT"
                                  " regexp_replace(row->>'locked_by', '[^:]*$', '')) AS workers FROM watched_rows"
                                  " WHERE status = 'sending'")[0]
        self.assertEqual((claims["n"], claims["keys"]), ("2000", "2000"))
        self.assertGreater(int(claims["workers"]), 1)
        for relay in relays:
            relay.process.terminate()
        self.assertEqual({relay.process.wait(60) for relay in relays}, {0})


class Refusing(OutboxCase):
    """PostgreSQL away, read-only, full, blocked: the relay waits, says so once, and goes on."""

    def assert_said_once(self, relay):
        """However often it is tried meanwhile."""
        (said,) = relay.wait_event("outbox.database_unavailable")
        time.sleep(1)
        self.assertEqual(relay.events("outbox.database_unavailable"), [said])
        return said

    def goes_on(self, relay, key):
        self.wait_row(key, "succeeded", 60)
        relay.wait_event("outbox.database_back")
        self.assertEqual(self.confirmed()[key], 1)

    def test_the_database_is_away_at_the_start_and_goes_away_later(self):
        self.session.close()
        self.session = None
        self.postgres.stop()
        try:
            relay = self.relay()
            said = self.assert_said_once(relay)
            self.assertEqual(said["level"], "warn")
            self.assertIn(str(self.postgres.port), said["error"])
        finally:
            self.postgres.start()
        self.connect()
        self.enqueue("at-the-start")
        self.goes_on(relay, "at-the-start")

        self.session.close()
        self.session = None
        self.postgres.stop(immediate=False)
        try:
            wait_for(lambda: len(relay.events("outbox.database_unavailable")) > 1, "it to be said")
            self.assertIsNone(relay.process.poll())
        finally:
            self.postgres.start()
        self.connect()
        self.enqueue("later")
        self.goes_on(relay, "later")

    def test_an_outcome_that_cannot_be_written_is_kept_until_it_can(self):
        self.script_answers(self.gated(), 500)
        relay = self.relay(**PATIENT)
        self.enqueue("order-1")
        self.wait_received()
        self.session.close()
        self.session = None
        self.postgres.stop(immediate=False)  # a crash may forget the claim: claims do not wait for the disk
        try:
            relay.wait_event("outbox.database_unavailable")
            self.broker.open(self.path)
        finally:
            self.postgres.start()
        self.connect()
        self.goes_on(relay, "order-1")
        self.assertEqual(len(self.received()), 1)

    def test_what_waits_is_not_begun_when_its_lease_may_be_over(self):
        self.script_answers(Answer(action="hang"))
        self.session.run("BEGIN")
        for n in range(10):
            self.enqueue(f"order-{n}")
        self.session.run("COMMIT")
        relay = self.relay(OUTBOX_LOCK_LEASE_SEC="2", BROKER_TIMEOUT_MS="1000", OUTBOX_CONCURRENCY="1",
                           OUTBOX_MAX_ATTEMPTS="100000")
        self.wait_received()
        self.session.close()
        self.session = None
        self.postgres.stop(immediate=False)
        try:
            begun = len(self.received())
            time.sleep(6)  # one after the other would have its second on the wire
            self.assertLessEqual(len(self.received()), begun + 2)
            self.script_answers(200)
        finally:
            self.postgres.start()
        self.connect()
        self.goes_on(relay, "order-9")
        self.wait_all({"succeeded": 10})

    def test_the_database_is_read_only_for_a_while(self):
        relay = self.relay()
        self.enqueue("before")
        self.wait_row("before", "succeeded")
        self.session.run("SET default_transaction_read_only = off")
        self.session.run("ALTER SYSTEM SET default_transaction_read_only = on")
        self.session.run("SELECT pg_reload_conf()")
        try:
            said = self.assert_said_once(relay)  # it looks for leases to take over, at the least
            self.assertEqual((said["sqlstate"], said["level"]), ("25006", "warn"), said)
            self.enqueue("order-1")
            self.assertEqual(self.row("order-1")["status"], "pending")
        finally:
            self.session.run("ALTER SYSTEM RESET default_transaction_read_only")
            self.session.run("SELECT pg_reload_conf()")
        self.goes_on(relay, "order-1")

    def test_a_lock_on_the_table_is_waited_for(self):
        relay = self.relay()
        self.enqueue("before")
        self.wait_row("before", "succeeded")
        self.session.run("BEGIN")
        self.session.run(f"LOCK TABLE {self.table.outbox} IN ACCESS EXCLUSIVE MODE")
        self.enqueue("order-1")
        with Session(self.url) as other:
            wait_for(lambda: int(other.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                             " AND application_name = 'hikyaku outbox'")), "the relay to wait")
        said = relay.wait_event("outbox.database_unavailable", timeout=60)
        self.assertIn("no answer to a statement", said[0]["error"])
        self.session.run("COMMIT")
        self.goes_on(relay, "order-1")


class Locked(OutboxCase):
    def test_a_row_that_somebody_has_locked_holds_up_no_other(self):
        self.script_answers(self.gated(), 200)
        relay = self.relay(**PATIENT)
        self.enqueue("locked")
        self.wait_received()
        with Session(self.url) as somebody:
            somebody.run("BEGIN")
            somebody.run("SELECT 1 FROM hikyaku_outbox WHERE idempotency_key = 'locked' FOR UPDATE")
            self.broker.open(self.path)
            relay.wait_event("outbox.rows_locked")
            for n in range(5):
                self.enqueue(f"order-{n}")
                self.wait_row(f"order-{n}", "succeeded", 5)
            self.assertEqual(self.row("locked")["status"], "sending")
            self.assertEqual(self.ledger("locked")["status"], "succeeded")
            somebody.run("COMMIT")
        self.wait_row("locked", "succeeded")
        self.assertEqual(self.keys_received()["locked"], 1)
        self.assertEqual(len(relay.events("outbox.rows_locked")), 1)
        self.assertEqual(relay.events("outbox.database_unavailable"), [])
        self.assertEqual(relay.terminate(), 0)


class Untidy(OutboxCase):
    """What goes wrong with counting and deleting is no reason to give up the database."""

    def test_rows_that_cannot_be_deleted_do_not_keep_others_from_being_sent(self):
        self.enqueue("old")
        self.session.run("UPDATE hikyaku_outbox SET status = 'succeeded', updated_at = now() - interval '1 day'")
        self.session.run("CREATE TABLE notes (row_id bigint REFERENCES hikyaku_outbox (id))")
        self.session.run("INSERT INTO notes SELECT id FROM hikyaku_outbox")
        relay = self.relay(**PATIENT, OUTBOX_RETENTION_FINISHED_SEC="3600")
        (said,) = relay.wait_event("outbox.housekeeping_failed")
        self.assertEqual((said["sqlstate"], said["level"], said["doing"]), ("23503", "error", "deleting finished rows"))
        backends = "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = " \
                   "'hikyaku outbox' AND datname = current_database()"
        before = self.session.value(backends)
        self.enqueue("order-1")
        self.wait_row("order-1", "succeeded")
        time.sleep(1)
        self.assertEqual(self.session.value(backends), before)  # the same connections
        self.assertEqual(relay.events("outbox.housekeeping_failed"), [said])
        self.assertEqual(relay.events("outbox.database_refused") + relay.events("outbox.database_back"), [])


class Full(OutboxCase):
    postgres_settings = {"max_connections": "12", "superuser_reserved_connections": "3", "max_wal_senders": "0",
                         "wal_level": "replica"}

    def test_a_server_without_free_connections_is_waited_for(self):
        self.session.run("CREATE ROLE app LOGIN")
        self.session.run("GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
        self.session.run("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app")
        mine = self.postgres.url(self.url.rsplit("/", 1)[1], "app")
        taken = []

        def full():  # but for what is kept for superusers, as which the tests connect
            with contextlib.suppress(DatabaseError):
                while True:
                    taken.append(Session(mine))
            return int(self.session.value("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
                       ) == len(taken) + 1

        wait_for(full, "all connections to be taken")
        relay = self.relay(OUTBOX_DATABASE=mine, OUTBOX_SOURCE="poll")
        try:
            said = relay.wait_event("outbox.database_unavailable")
            self.assertIn("connection", said[0]["error"])
            time.sleep(1)
            self.assertEqual(len(relay.events("outbox.database_unavailable")), 1, relay.output())
            self.enqueue("order-1")
        finally:
            for session in taken:
                session.close()
        self.wait_row("order-1", "succeeded", 60)
        relay.wait_event("outbox.database_back")


class Poisoned(OutboxCase):
    """Rows that cannot be sent end by themselves, at once; their neighbours do not notice."""
    init_flags = ("--payload-type", "text")

    JSON = '{"Content-Type": "application/json"}'
    POISON = (  # key, payload, headers, destination; the reason
        ("broken-json", '{"n": ', JSON, None, "PAYLOAD_INVALID"),
        ("two-values", "{} {}", None, None, "PAYLOAD_INVALID"),  # sent as JSON, if nothing else is said
        ("empty", "", JSON, None, "PAYLOAD_INVALID"),
        ("too-deep", "[" * 300 + "]" * 300, JSON, None, "PAYLOAD_INVALID"),
        ("oversized", '"' + "x" * 2000 + '"', None, None, "PAYLOAD_TOO_LARGE"),
        ("headers-array", "{}", '["X-Kind"]', None, "HEADERS_INVALID"),
        ("headers-number", "{}", '{"X-Kind": 1}', None, "HEADERS_INVALID"),
        ("headers-smuggled", "{}", '{"X-Kind": "a\\r\\nX-Other: b"}', None, "HEADERS_INVALID"),
        ("headers-length", "{}", '{"Content-Length": "1"}', None, "HEADERS_INVALID"),
        ("header-name", "{}", '{"X Kind": "a"}', None, "HEADERS_INVALID"),
        ("not-a-url", "{}", None, "somewhere", "DESTINATION_INVALID"),
        ("other-scheme", "{}", None, "ftp://example.com/", "DESTINATION_INVALID"),
        ("private-address", "{}", None, "http://10.0.0.1/", "BROKER_BLOCKED"),
        ("key\nof two lines", "{}", None, None, "HEADERS_INVALID"),
    )

    def insert(self, key, payload, headers=None, destination=None):
        self.session.run("INSERT INTO hikyaku_outbox (idempotency_key, payload, headers, destination)"
                         " VALUES ($1, $2, $3::jsonb, $4)", key, payload, headers, destination)

    def test_poison_rows_harm_only_themselves(self):
        self.session.run("BEGIN")
        for n, (key, payload, headers, destination, _) in enumerate(self.POISON):
            self.insert(key, payload, headers, destination)
            self.insert(f"good-{n}", json.dumps({"n": n}), '{"X-Kind": "good"}')
        # Good in text, though jsonb would not take it.
        self.insert("u0000", '{"a": "\\u0000"}')
        self.session.run("COMMIT")
        relay = self.relay(**PATIENT, OUTBOX_PAYLOAD_MAX_BYTES="1500")
        self.wait_all({"succeeded": len(self.POISON) + 1, "aborted": len(self.POISON)}, 60)
        for key, _, _, _, reason in self.POISON:
            with self.subTest(key):
                row = self.row(key)
                self.assertEqual((row["status"], row["attempts"], row["last_error_code"]), ("aborted", "1", reason))
                self.assertTrue(row["last_error_msg"])
                ledger = self.ledger(key)
                self.assertEqual((ledger["status"], ledger["reason_code"]), ("failed", reason))
        received = self.keys_received()
        self.assertEqual(set(received), {f"good-{n}" for n in range(len(self.POISON))} | {"u0000"})
        self.assertEqual(self.received("u0000")[0].body, b'{"a": "\\u0000"}')
        self.assertEqual(self.received("good-0")[0].headers["X-Kind"], "good")
        self.assertEqual(relay.events("outbox.database_refused") + relay.events("outbox.database_unavailable"), [])

    def test_an_answer_that_the_database_cannot_hold_is_written_as_text(self):
        answers = (b'{"a": "\\u0000"}', b"\x00\xff\xfe", b"<html>", b"[" * 500, b'{"big": "' + b"x" * 100_000 + b'"}')
        self.script_answers(*(Answer(body=body) for body in answers), dataclasses.replace(GIVE_UP, body=b"\xff\x00"))
        self.relay(**PATIENT, OUTBOX_CONCURRENCY="1")
        for n in range(len(answers)):
            self.insert(f"order-{n}", "{}")
        self.wait_all({"succeeded": len(answers)})
        self.insert("refused", "{}")
        self.assertEqual(self.wait_row("refused", "aborted")["last_error_code"], "BROKER_NON_RETRYABLE")


class InOrder(OutboxCase):
    settings = {"OUTBOX_STRICT_ORDER": "true", "OUTBOX_MAX_ATTEMPTS": "100000", "OUTBOX_BACKOFF_SEC": "0.05"}

    def test_rows_of_a_key_arrive_in_order_whatever_fails_between(self):
        lanes, rows = 4, 10
        failures = collections.Counter()
        ended = []  # as the receiver saw it: what can not come again

        def decide(got):
            key = got.headers["Idempotency-Key"]
            lane, number = (int(part) for part in key.split("-"))
            failures[key] += 1
            if number == 5:
                ended.append(key)
                return GIVE_UP  # aborted: those behind it go on
            if failures[key] <= (lane + number) % 3:
                return Answer(status=500)
            ended.append(key)
            return Answer()

        self.broker.decide, usual = decide, self.broker.decide
        self.addCleanup(setattr, self.broker, "decide", usual)
        for _ in range(2):
            self.relay(**{**PATIENT, "OUTBOX_CONCURRENCY": "8"})
        for number in range(rows):
            self.session.run("BEGIN")
            for lane in range(lanes):
                self.session.run("SELECT hikyaku_enqueue($1, '{}'::jsonb, order_key => $2)", f"{lane}-{number}",
                                 f"lane {lane}")
            self.session.run("COMMIT")
        self.wait_all({"succeeded": lanes * (rows - 1), "aborted": lanes}, 60)
        for lane in range(lanes):
            arrived = [int(r.headers["Idempotency-Key"].split("-")[1]) for r in self.received()
                       if r.headers["Idempotency-Key"].startswith(f"{lane}-")]
            self.assertEqual(arrived, sorted(arrived))  # repeats of a row included
            self.assertEqual([k for k in ended if k.startswith(f"{lane}-")], [f"{lane}-{n}" for n in range(rows)])
