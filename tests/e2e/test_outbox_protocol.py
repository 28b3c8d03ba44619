"""The test plan of the outbox worker protocol, by its numbers: relays as processes, a real PostgreSQL, and a receiver
that misbehaves as each of them wants it. Each on the tables that init makes and on tables that were there before."""
import json

from harness import Answer
from outbox import ADOPTED, PATIENT, OutboxCase


class Protocol:
    """The plan itself; the classes below say on which tables."""

    def test_w101_a_row_goes_from_pending_to_sending_to_succeeded(self):
        """W-101: pending → sending → succeeded, the basic transition."""
        self.script_answers(self.gated(body=b'{"order": "accepted"}'))
        self.enqueue("order-101", '{"symbol": "7203", "quantity": 100}')
        self.assertEqual(self.row("order-101")["status"], "pending")
        self.relay(**PATIENT)
        (got,) = self.wait_received()
        held = self.row("order-101")
        self.assertEqual(held["status"], "sending")
        self.assertTrue(held["locked_by"])
        self.assertTrue(held["locked_at"])
        self.assertIsNone(self.ledger("order-101"))

        self.broker.open(self.path)
        done = self.wait_row("order-101", "succeeded")
        self.assertEqual((done["attempts"], done["locked_by"], done["locked_at"], done["last_error_code"]),
                         ("1", None, None, None))
        ledger = self.ledger("order-101")
        self.assertEqual((ledger["status"], ledger["http_status"]), ("succeeded", "200"))
        self.assertEqual(json.loads(ledger["response_payload_json"]), {"order": "accepted"})
        self.assertEqual(ledger["request_digest"], done["request_digest"])
        # The ledger is first: when the row became succeeded it had said so already.
        self.assertEqual(self.history("order-101"), [("pending", None), ("sending", None), ("succeeded", "succeeded")])
        self.assertEqual(got.headers["Idempotency-Key"], "order-101")
        self.assertEqual(got.headers["Content-Type"], "application/json")
        self.assertEqual(json.loads(got.body), {"symbol": "7203", "quantity": 100})
        self.assertEqual(len(self.received()), 1)

    def test_w102_after_a_timeout_the_second_attempt_succeeds(self):
        """W-102: by a timeout failed → pending, and the second attempt succeeds."""
        self.script_answers(Answer(action="hang"), 200)
        self.relay(OUTBOX_BACKOFF_SEC="0.5", OUTBOX_LOCK_LEASE_SEC="60", BROKER_TIMEOUT_MS="4000")
        self.enqueue("order-102")
        failed = self.was("order-102", "failed")
        self.assertEqual((failed["attempts"], failed["last_error_code"], failed["locked_by"], failed["locked_at"]),
                         (1, "BROKER_TIMEOUT", None, None))
        self.assertTrue(failed["last_error_msg"])
        due, waits = (float(v) for v in self.session.run(
            "SELECT extract(epoch FROM $1::timestamptz) AS due, extract(epoch FROM $1::timestamptz - $2::timestamptz) AS s",
            failed["next_run_at"], failed["updated_at"])[0].values())
        self.assertEqual(waits, 0.5)

        done = self.wait_row("order-102", "succeeded")
        self.assertEqual((done["attempts"], done["last_error_code"]), ("2", None))
        self.assertEqual(self.ledger("order-102")["status"], "succeeded")
        self.assertEqual(self.history("order-102"), [("pending", None), ("sending", None), ("failed", None),
                                                     ("sending", None), ("succeeded", "succeeded")])
        first, second = self.received("order-102")
        self.assertGreaterEqual(second.at, due - 0.02)
        self.assertEqual(first.body, second.body)

    def test_w103_when_a_worker_crashes_another_takes_the_row_after_the_lease(self):
        """W-103: a worker crashes (its heartbeat stops) → after the lease another worker takes the row and succeeds."""
        self.script_answers(Answer(action="hang"), 200)
        first = self.relay(**PATIENT, OUTBOX_WORKER_NAME="first")
        self.enqueue("order-103")
        self.wait_received()
        first.kill()
        held = self.row("order-103")
        self.assertEqual(held["status"], "sending")
        second = self.relay(BROKER_TIMEOUT_MS="2500", OUTBOX_LOCK_LEASE_SEC="5", OUTBOX_WORKER_NAME="second")
        done = self.wait_row("order-103", "succeeded")
        self.assertEqual(self.ledger("order-103")["status"], "succeeded")
        self.assertEqual(len(self.received("order-103")), 2)
        self.assertEqual(done["attempts"], "2")
        holders = [r["by"].split(":")[0] for r in self.session.run(
            "SELECT row->>'locked_by' AS by FROM watched_rows WHERE status = 'sending' ORDER BY n")]
        self.assertEqual(list(dict.fromkeys(holders)), ["first", "second"])
        expired = float(self.session.value("SELECT extract(epoch FROM $1::timestamptz) + 5", held["locked_at"]))
        self.assertGreaterEqual(self.received("order-103")[1].at, expired - 0.02)
        self.assertEqual(second.wait_event("outbox.leases_expired")[0]["rows"], 1)

    def test_w104_after_the_last_attempt_it_is_aborted_and_succeeds_when_requeued(self):
        """W-104: aborted beyond the maximum of attempts; requeued by hand it succeeds."""
        self.script_answers(500, 503, Answer(status=200))
        self.relay(**PATIENT, OUTBOX_MAX_ATTEMPTS="2")
        row_id = self.enqueue("order-104")
        aborted = self.wait_row("order-104", "aborted")
        self.assertEqual((aborted["attempts"], aborted["last_error_code"]), ("2", "BROKER_ERROR"))
        ledger = self.ledger("order-104")
        self.assertEqual((ledger["status"], ledger["http_status"]), ("failed", "503"))
        self.assertEqual(self.history("order-104")[-1], ("aborted", "failed"))
        self.assertEqual(len(self.received()), 2)

        self.assertEqual(self.ok("requeue", str(row_id)), "1 row requeued\n")
        done = self.wait_row("order-104", "succeeded")
        self.assertEqual((done["attempts"], done["last_error_code"], done["last_error_msg"]), ("1", None, None))
        ledger = self.ledger("order-104")
        self.assertEqual((ledger["status"], ledger["http_status"]), ("succeeded", "200"))
        self.assertEqual(self.states("order-104"), ["pending", "sending", "failed", "sending", "aborted", "pending",
                                                    "sending", "succeeded"])

    def test_w105_a_row_whose_ledger_is_succeeded_becomes_succeeded_unsent(self):
        """W-105: the ledger says succeeded for the key and the row remains → the row is made succeeded, late."""
        self.enqueue("order-105")
        self.session.run(f"INSERT INTO {self.table.ledger} (idempotency_key, request_digest, status, http_status)"
                         " VALUES ($1, $2, 'succeeded', 200)", "order-105", self.row("order-105")["request_digest"])
        before = self.ledger("order-105")
        self.relay()
        self.wait_row("order-105", "succeeded")
        self.assertEqual(self.ledger("order-105"), before)
        self.assertEqual(self.received(), [])

    def test_other_content_under_a_finished_key_is_a_conflict(self):
        """Section 6: aborted with IDEMPOTENCY_CONFLICT, and the ledger is not changed."""
        self.enqueue("order-6")
        self.session.run(f"INSERT INTO {self.table.ledger} (idempotency_key, request_digest, status, http_status)"
                         " VALUES ('order-6', 'sha256:of something else', 'succeeded', 200)")
        before = self.ledger("order-6")
        self.relay()
        aborted = self.wait_row("order-6", "aborted")
        self.assertEqual(aborted["last_error_code"], "IDEMPOTENCY_CONFLICT")
        self.assertEqual(self.ledger("order-6"), before)
        self.assertEqual(self.received(), [])

    def test_rows_that_wait_for_their_turn_get_heartbeats(self):
        """Section 3.2: while a worker has a row its locked_at is made new."""
        self.script_answers(Answer(delay=0.3))
        self.relay(OUTBOX_CONCURRENCY="1")
        self.session.run("BEGIN")
        for n in range(5):
            self.enqueue(f"order-{n}")
        self.session.run("COMMIT")
        self.wait_all({"succeeded": 5})
        beats = self.session.value(
            "SELECT count(*) FROM watched_rows b JOIN watched_rows a ON a.key = b.key AND a.status = 'sending'"
            " AND b.status = 'sending' AND a.row->'locked_by' = b.row->'locked_by'"
            " AND (a.row->>'locked_at')::timestamptz < (b.row->>'locked_at')::timestamptz")
        self.assertGreater(int(beats), 0)


class OnTheTablesThatInitMakes(Protocol, OutboxCase):
    pass


class OnAdoptedTables(Protocol, OutboxCase):
    table = ADOPTED
