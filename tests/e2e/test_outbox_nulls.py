"""Rows that say too little: no key, no payload, no time, a status that is none. Each means what the reference says or ends
with a reason, whatever tells the relay of it; none is taken for a success that it was not."""
import json

from harness import free_port, request, wait_for
from outbox import PATIENT, OutboxCase

# A table that was adopted by an earlier version: nothing of ours holds anybody back.
LOOSE = """
ALTER TABLE hikyaku_outbox DROP CONSTRAINT IF EXISTS hikyaku_outbox_idempotency_key_check,
  DROP CONSTRAINT IF EXISTS hikyaku_outbox_status_check,
  ALTER idempotency_key DROP NOT NULL, ALTER payload DROP NOT NULL, ALTER status DROP NOT NULL,
  ALTER attempts DROP NOT NULL, ALTER created_at DROP NOT NULL, ALTER updated_at DROP NOT NULL;
"""


class Nulls(OutboxCase):
    postgres_settings = {"wal_level": "logical"}
    init_flags = ("--publication",)

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.postgres.script(cls.prepared, LOOSE)

    def by_id(self):
        return {int(r["id"]): r for r in self.session.run("SELECT * FROM hikyaku_outbox ORDER BY id")}

    def sends_only_the_good(self, source):
        self.script_answers(500)
        port = free_port()
        relay = self.relay("--metrics-listen", f"127.0.0.1:{port}", **PATIENT, OUTBOX_SOURCE=source,
                           OUTBOX_MAX_ATTEMPTS="1", OUTBOX_SLOT="slot_" + source)
        relay.wait_event("outbox.started")
        self.session.run("INSERT INTO hikyaku_outbox (id, idempotency_key, payload, created_at, headers) VALUES"
                         " (1, NULL, '1', now(), NULL), (2, NULL, '2', now(), NULL), (3, '', '3', now(), NULL),"
                         " (4, 'no-payload', NULL, now(), '{\"Content-Type\": \"text/plain\"}'),"
                         " (5, 'no-time', '5', NULL, NULL)")
        self.wait_all({"aborted": 5})
        rows = self.by_id()
        self.assertEqual([(rows[n]["last_error_code"], rows[n]["attempts"]) for n in (1, 2, 3, 4, 5)],
                         [("INVALID_KEY", "1")] * 3 + [("PAYLOAD_INVALID", "1"), ("BROKER_ERROR", "1")])
        self.assertEqual([r.headers["Idempotency-Key"] for r in self.received()], ["no-time"])
        self.assertEqual(self.session.run("SELECT idempotency_key FROM hikyaku_ledger ORDER BY 1"),
                         [{"idempotency_key": "no-payload"}, {"idempotency_key": "no-time"}])
        told = relay.wait_event("outbox.processed", 5)
        self.assertEqual(sorted(event["reason_code"] for event in told),
                         ["BROKER_ERROR", "INVALID_KEY", "INVALID_KEY", "INVALID_KEY", "PAYLOAD_INVALID"])
        self.assertEqual({event["level"] for event in told}, {"error"})
        self.assertEqual({event["idempotency_key_hash"] == "" for event in told if event["reason_code"] == "INVALID_KEY"}, {True})
        body = request(port, "GET", "/metrics", token=None).body.decode()
        self.assertIn('outbox_processed_total{outcome="aborted"} 5\n', body)
        self.assertIn('outbox_processed_total{outcome="succeeded"} 0\n', body)

    def test_by_notifications(self):
        self.sends_only_the_good("notify")

    def test_by_polling(self):
        self.sends_only_the_good("poll")

    def test_by_replication(self):
        self.sends_only_the_good("replication")

    def test_a_key_that_is_given_later_is_sent(self):
        relay = self.relay(**PATIENT)
        self.session.run("INSERT INTO hikyaku_outbox (payload) VALUES ('{\"n\": 1}')")
        relay.wait_event("outbox.processed")
        (row_id,) = self.by_id()
        self.session.run("UPDATE hikyaku_outbox SET idempotency_key = 'now-it-has-one'")
        self.ok("requeue", str(row_id))
        self.wait_row("now-it-has-one", "succeeded")

    def test_status_counts_what_no_relay_looks_at(self):
        self.session.run("INSERT INTO hikyaku_outbox (id, idempotency_key, payload, status) VALUES (1, 'a', '1', 'Pending'),"
                         " (2, 'b', '1', 'done'), (3, 'c', '1', NULL), (4, 'd', '1', 'succeeded')")
        shown = self.ok("status")
        self.assertIn("succeeded  1\n", shown)
        self.assertIn("\nother: 3 (", shown)
        self.assertEqual(json.loads(self.ok("status", "--json"))["other"], 3)
        listed = [json.loads(line) for line in self.ok("list", "--status", "other", "--json").splitlines()]
        self.assertEqual([row["status"] for row in listed], ["Pending", "done", "NULL"])
        self.session.run("UPDATE hikyaku_outbox SET status = 'pending' WHERE id <= 3")
        self.assertNotIn("other", self.ok("status"))
        self.assertEqual(json.loads(self.ok("status", "--json"))["other"], 0)

    def test_status_says_that_nobody_has_put_a_name(self):
        self.session.run("INSERT INTO hikyaku_outbox (idempotency_key, payload, status, updated_at) VALUES"
                         " ('a', '1', 'sending', now())")
        self.assertIn("\n1 row is sending without the name of a relay (locked_by is empty); oldest heartbeat ", self.ok("status"))
        (holder,) = json.loads(self.ok("status", "--json"))["holders"]
        self.assertEqual((holder["worker"], holder["rows"]), (None, 1))
        self.session.run("UPDATE hikyaku_outbox SET updated_at = NULL")
        self.assertIn("; no heartbeat.\n", self.ok("status"))

    def test_rows_with_an_id_of_zero_and_below_are_shown(self):
        self.session.run("INSERT INTO hikyaku_outbox (id, idempotency_key, payload, created_at) VALUES (-5, 'a', '1', NULL),"
                         " (0, 'b', '1', now()), (7, NULL, '1', now())")
        lines = self.ok("list").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["-5", "0", "7"])
        self.assertIn("  unknown ", lines[0])
        self.assertIn("(no key)", lines[2])
        self.assertEqual(len(self.ok("list", "--after", "-5").splitlines()), 2)
        self.assertIn("created          unknown\n", self.ok("show", "-5"))
        self.assertEqual(self.ok("abort", "-5", "0"), "2 rows aborted\n")


class Adopted(OutboxCase):
    @classmethod
    def prepare(cls):
        pass  # it is what is tested here

    def test_a_table_whose_key_may_be_null_is_refused_with_the_way_out(self):
        self.session.run("CREATE TABLE hikyaku_outbox (id bigserial PRIMARY KEY, idempotency_key text UNIQUE, payload jsonb)")
        self.session.run("INSERT INTO hikyaku_outbox (payload) VALUES ('1'), ('2')")
        for flags in ((), ("--print",)):
            refused = self.command("init", *flags)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("2 rows have no key", refused.stderr)
        statements = [line for line in refused.stderr.splitlines() if line.startswith("  ")]
        self.assertEqual(statements[-1],
                         '  ALTER TABLE "public"."hikyaku_outbox" ALTER COLUMN "idempotency_key" SET NOT NULL;')
        self.postgres.script(self.url, "\n".join(statements))
        self.ok("init")
        self.relay(**PATIENT)
        wait_for(lambda: self.counts() == {"succeeded": 2}, lambda: self.counts())
        self.assertEqual(self.keys_received(), {"row-1": 1, "row-2": 1})
