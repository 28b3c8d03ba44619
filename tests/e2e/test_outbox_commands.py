"""`hikyaku outbox` as people meet it: its commands and what they print, what a relay tells (log, metrics, traces) and what
it keeps to itself, and the adapters against the real thing."""
import hashlib
import json
import threading
import unittest

from harness import DEV_TOKEN, Answer, Server, free_port, request, run_binary, wait_for
from outbox import ADOPTED, PATIENT, OutboxCase, clean_environment
from postgres import DatabaseError

FAILED, USAGE, UNAVAILABLE = 1, 2, 3


class Init(OutboxCase):
    @classmethod
    def prepare(cls):
        pass  # it is what is tested here

    def kinds(self):
        """What there is in the database of the kinds that init makes."""
        return self.session.run("SELECT relkind, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                                " UNION ALL SELECT 'f', proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
                                " UNION ALL SELECT 't', tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2")

    def test_it_says_what_it_made_and_the_second_time_makes_nothing(self):
        made = self.ok("init")
        for word in ('table "public"."hikyaku_outbox"', 'table "public"."hikyaku_ledger"', 'function "hikyaku_enqueue"',
                     'trigger "hikyaku_outbox_notify"', 'index "hikyaku_outbox_claim"'):
            self.assertIn(word + "\n", made)
        before = self.kinds()
        self.assertEqual(self.ok("init"), "Nothing to do: everything exists.\n")
        self.assertEqual(self.kinds(), before)

    def test_what_it_prints_runs_through_psql_and_is_the_same(self):
        printed = self.ok("init", "--print")
        self.assertEqual(self.kinds(), [])
        self.postgres.script(self.url, printed)
        by_psql = self.kinds()
        self.assertEqual(self.ok("init"), "Nothing to do: everything exists.\n")
        self.assertEqual(self.kinds(), by_psql)
        self.assertEqual(self.enqueue("order-1"), 1)

    def test_an_existing_table_is_adopted_with_its_rows(self):
        self.postgres.script(self.url, ADOPTED.made_by_the_application)
        self.session.run(ADOPTED.insert, "order-0", "{}")
        before = self.session.run("SELECT * FROM outbox_orders")
        printed = self.ok("init", "--print", env=ADOPTED.env)
        self.assertEqual(self.session.run("SELECT * FROM outbox_orders"), before)
        self.assertNotIn("CREATE TABLE \"public\".\"outbox_orders\"", printed)
        done = self.ok("init", env=ADOPTED.env)
        self.assertIn('column "next_run_at" of "public"."outbox_orders"\n', done)
        self.assertEqual(self.session.run("SELECT * FROM outbox_orders"), [{**before[0], "next_run_at": None}])
        self.assertEqual(self.ok("init", env=ADOPTED.env), "Nothing to do: everything exists.\n")

    def test_many_at_once_get_along(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.command("init"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([(r.returncode, r.stderr) for r in results], [(0, "")] * 4)
        self.assertEqual(sum("Nothing to do: everything exists." in r.stdout for r in results), 3)

    def test_a_table_that_cannot_be_adopted_is_left_alone_and_said_why(self):
        self.session.run("CREATE TABLE odd (id text, note int)")
        done = self.command("init", "--table", "odd")
        self.assertEqual(done.returncode, USAGE)
        for word in ('"public"."odd"', '"id" is of type text, which must be one of bigint', 'no column "idempotency_key"', "--columns"):
            self.assertIn(word, done.stderr)
        self.assertEqual([k["relname"] for k in self.kinds()], ["odd"])

    def test_the_function_takes_a_key_once_and_refuses_other_content_under_it(self):
        self.ok("init")
        first = self.enqueue("order-1", '{"n": 1}')
        self.assertEqual(self.enqueue("order-1", '{"n":1}'), first)
        with self.assertRaisesRegex(DatabaseError, "has been used with other content") as refused:
            self.enqueue("order-1", '{"n": 2}')
        self.assertEqual(refused.exception.sqlstate, "HK409")
        self.assertEqual(self.counts(), {"pending": 1})


class Commands(OutboxCase):
    """Operators' commands, without a relay; safe at any time."""

    def setUp(self):
        super().setUp()
        self.ids = {key: self.enqueue(key, '{"card": "4111-1111"}') for key in ("waits", "failed", "dead", "held", "lost")}
        for key, change in (
                ("failed", "status = 'failed', attempts = 1, last_error_code = 'BROKER_TIMEOUT', last_error_msg = 'no answer',"
                           " next_run_at = now() + interval '1 hour'"),
                ("dead", "status = 'aborted', attempts = 6, last_error_code = 'BROKER_ERROR', last_error_msg = 'status 500'"),
                ("held", "status = 'sending', locked_by = 'alive', locked_at = now() + interval '1 hour'"),
                ("lost", "status = 'sending', locked_by = 'gone', locked_at = now() - interval '1 hour'")):
            self.session.run(f"UPDATE hikyaku_outbox SET {change} WHERE idempotency_key = $1", key)

    def json(self, *arguments, code=0):
        done = self.command(*arguments, "--json")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def status_of(self, key):
        return self.row(key)["status"]

    def test_status(self):
        text = self.ok("status")
        for line in ("pending    1", "sending    2", "failed     1", "succeeded  0", "aborted    1"):
            self.assertIn(line + "\n", text)
        self.assertIn("gone holds 1 row;", text)
        self.assertIn("hikyaku outbox list --status aborted", text)
        (told,) = self.json("status")
        self.assertEqual({k: told[k] for k in ("pending", "sending", "failed", "succeeded", "aborted", "leases_expired")},
                         {"pending": 1, "sending": 2, "failed": 1, "succeeded": 0, "aborted": 1, "leases_expired": 1})
        self.assertEqual({holder["worker"] for holder in told["holders"]}, {"alive", "gone"})

    def test_list(self):
        self.assertEqual([row["idempotency_key"] for row in self.json("list")], list(self.ids))
        self.assertEqual([row["idempotency_key"] for row in self.json("list", "--status", "aborted")], ["dead"])
        self.assertEqual([row["id"] for row in self.json("list", "--after", str(self.ids["failed"]), "--count", "2")],
                         [self.ids["dead"], self.ids["held"]])
        (line,) = self.ok("list", "--status", "failed").splitlines()
        for word in (str(self.ids["failed"]), "failed", "BROKER_TIMEOUT"):
            self.assertIn(word, line)

    def test_show_masks_the_payload_unless_asked_for_it(self):
        for row in (str(self.ids["dead"]), "key:dead"):
            text = self.ok("show", row)
            for word in ("dead", "aborted", "BROKER_ERROR: status 500", "shown by --payload", "nothing yet"):
                self.assertIn(word, text)
            self.assertNotIn("4111", text)
        self.assertRegex(self.ok("show", "key:dead", "--payload"), r'(?m)^payload +{"card": "4111-1111"}$')
        (told,) = self.json("show", "key:dead")
        self.assertNotIn("payload", told)
        self.assertEqual((told["status"], told["attempts"], told["payload_bytes"]), ("aborted", 6, 21))
        (told,) = self.json("show", "key:dead", "--payload")
        self.assertEqual(json.loads(told["payload"]), {"card": "4111-1111"})

    def test_requeue(self):
        self.assertEqual(self.ok("requeue", str(self.ids["dead"])), "1 row requeued\n")
        self.assertEqual((self.status_of("dead"), self.row("dead")["attempts"], self.row("dead")["last_error_code"]),
                         ("pending", "0", None))
        done = self.command("requeue", str(self.ids["waits"]), str(self.ids["held"]), "99999")
        self.assertEqual(done.returncode, FAILED)
        self.assertEqual(done.stdout, "0 rows requeued\n")
        for word in ("it is pending", "lease has not expired", "row not found"):
            self.assertIn(word, done.stderr)
        self.assertEqual(self.status_of("held"), "sending")
        self.session.run("UPDATE hikyaku_outbox SET status = 'aborted', last_error_code = 'BROKER_ERROR'"
                         " WHERE idempotency_key = 'dead'")
        self.assertEqual(self.json("requeue", "--all", "--reason", "BROKER_TIMEOUT"), [{"changed": 0, "refused": []}])
        self.assertEqual(self.json("requeue", "--all", "--reason", "BROKER_ERROR"), [{"changed": 1, "refused": []}])

    def test_release(self):
        self.assertEqual(self.ok("release", "--all"), "1 row released\n")
        self.assertEqual((self.status_of("lost"), self.status_of("held")), ("pending", "sending"))
        (told,) = self.json("release", str(self.ids["held"]), code=FAILED)
        self.assertEqual(told["changed"], 0)
        self.assertIn("has not expired", told["refused"][0]["why"])
        self.assertEqual(self.ok("release", str(self.ids["held"]), "--force"), "1 row released\n")
        self.assertEqual(self.status_of("held"), "pending")

    def test_abort(self):
        self.assertEqual(self.ok("abort", str(self.ids["waits"]), str(self.ids["failed"]), "--message", "sold out"),
                         "2 rows aborted\n")
        for key in ("waits", "failed"):
            self.assertEqual((self.status_of(key), self.row(key)["last_error_msg"]), ("aborted", "sold out"))
            self.assertEqual(self.ledger(key)["status"], "failed")
        done = self.command("abort", str(self.ids["held"]))
        self.assertEqual((done.returncode, self.status_of("held")), (FAILED, "sending"))
        self.assertIsNone(self.ledger("held"))

    def test_what_is_not_there_is_said_so(self):
        for arguments, code, words in (
                (("show", "99999"), FAILED, ("row not found", "99999")),
                (("show", "order"), USAGE, ("key:",)),
                (("status", "--table", "nowhere"), FAILED, ('"nowhere"', "hikyaku outbox init")),
                (("drop-slot",), FAILED, ("no replication slot",))):
            with self.subTest(arguments):
                done = self.command(*arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                for word in words:
                    self.assertIn(word, done.stderr)


class Refusals(unittest.TestCase):
    """Wrong words end before anything is connected to; the text tells what was wrong and what would be right."""

    def refused(self, arguments, words, env=None, code=USAGE):
        done = run_binary("outbox", *arguments, env=clean_environment() | (env or {}))
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_wrong_flags_and_values_are_named(self):
        database = ("--database", f"postgres://app@127.0.0.1:{free_port()}/shop")
        for arguments, words in (
                (("--colour", "red"), ("--colour",)),
                (("fly",), ("fly",)),
                (("--batch", "0"), ("--batch:", "from 1 to")),
                (("--concurrency", "many"), ("--concurrency:", "whole number")),
                (("--backoff-sec", "soon"), ("--backoff-sec:", "5,10,20,40,80,160")),
                (("--lock-lease-sec", "1"), ("OUTBOX_LOCK_LEASE_SEC", "BROKER_TIMEOUT_MS")),
                (("--source", "magic"), ("--source:", "notify, poll, replication")),
                (("--adapter", "smoke"), ("--adapter:", "http, hikyaku, sqs")),
                (("--adapter", "hikyaku"), ("OUTBOX_BROKER_URL", "https://hikyaku.example.com")),
                (("--adapter", "sqs"), ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
                (("--destination", "nonsense"), ("OUTBOX_DESTINATION", "http://")),
                (("--destination", "http://127.0.0.1/"), ("OUTBOX_DESTINATION", "OUTBOX_ALLOW_LOOPBACK_DESTINATIONS")),
                (("--columns", "x=y"), ("--columns:", '"x=y"', "idempotency_key")),
                (("--columns", "payload="), ("--columns:", '"payload="')),
                (("--strict-order", "--columns", "order_key="), ("OUTBOX_STRICT_ORDER", "order_key")),
                (("--metrics-listen", "nonsense"), ("--metrics-listen:", "127.0.0.1:8080")),
                (("--otlp-endpoint", "nonsense"), ("nonsense", "http://127.0.0.1:4318")),
                (("--log-level", "loud"), ("--log-level", "debug")),
                (("list", "--status", "lost"), ("--status", "pending")),
                (("requeue",), ("by id", "--all")),
                (("abort",), ("by id",)),
                (("show",), ("row",))):
            with self.subTest(arguments):
                self.refused((*arguments, *database), words)

    def test_a_password_on_the_command_line_is_refused_and_not_repeated(self):
        for address in ("postgres://app:hunter2@127.0.0.1/shop", "host=127.0.0.1 password=hunter2",
                        "postgres://app@127.0.0.1/shop?password=hunter2"):
            with self.subTest(address):
                text = self.refused(("status", "--database", address), ("OUTBOX_DATABASE", "PGPASSWORD"))
                self.assertNotIn("hunter2", text)

    def test_without_a_database_it_asks_which(self):
        self.refused(("status",), ("--database", "OUTBOX_DATABASE"))

    def test_a_malformed_address_is_refused_without_repeating_it(self):
        text = self.refused(("status",), ("connection string",), {"OUTBOX_DATABASE": "postgres://app:hunter2%@h/shop"})
        self.assertNotIn("hunter2", text)

    def test_a_database_that_is_away_is_said_so(self):
        port = free_port()
        self.refused(("status", "--database", f"postgres://app@127.0.0.1:{port}/shop"), (str(port),), code=UNAVAILABLE)

    def test_secrets_come_from_files_as_well(self):
        named = {"OUTBOX_DATABASE_FILE": "/nonexistent"}
        self.refused(("status",), ("OUTBOX_DATABASE_FILE", "/nonexistent"), named)
        self.refused(("status",), ("OUTBOX_DATABASE_FILE", "/nonexistent"), named | {"OUTBOX_DATABASE": ""})
        self.refused(("status",), ("both set",), named | {"OUTBOX_DATABASE": "postgres://app@127.0.0.1/shop"})


class Telling(OutboxCase):
    """What a relay says of its work, by the names of the protocol."""

    def hash_of(self, key):
        return hashlib.sha256(key.encode()).hexdigest()[:16]

    def test_log_lines_have_the_fields_of_the_protocol_and_keep_secrets(self):
        self.script_answers(500, 200, 400, Answer(body=b'"the answer is private"'))
        url = self.url.replace("postgres@", "postgres:hunter2@")
        relay = self.relay("--log-level", "debug", **PATIENT, OUTBOX_DATABASE=url, OUTBOX_MAX_ATTEMPTS="2",
                           OUTBOX_CONCURRENCY="1", OUTBOX_BROKER_TOKEN="broker-token", AWS_SECRET_ACCESS_KEY="aws-secret")
        self.session.run("SELECT hikyaku_enqueue('customer-jane', '{\"card\": \"4111-1111\"}'::jsonb,"
                         " headers => '{\"X-Api-Key\": \"row-secret\"}')")
        self.wait_row("customer-jane", "succeeded")
        failed, done = relay.wait_event("outbox.processed", 2)
        for line, expected in ((failed, {"status": "failed", "attempts": 1, "reason_code": "BROKER_ERROR"}),
                               (done, {"status": "succeeded", "attempts": 2, "reason_code": ""})):
            expected |= {"idempotency_key_hash": self.hash_of("customer-jane"), "outbox_id": int(self.row("customer-jane")["id"]),
                         "adapter": "http"}
            self.assertEqual({name: line[name] for name in expected}, expected)
            self.assertGreaterEqual(line["latency_ms"], 0)
        self.postgres.restart()
        self.connect()
        relay.wait_event("outbox.database_back")
        self.session.run("SELECT hikyaku_enqueue('customer-joe', '{\"card\": \"4111-1111\"}'::jsonb)")
        self.wait_row("customer-joe", "succeeded")
        self.assertEqual(relay.terminate(), 0)
        self.assertTrue(relay.events("outbox.started") and relay.events("outbox.stopped"))
        for secret in ("hunter2", "4111", "row-secret", "customer", "broker-token", "aws-secret", "private"):
            self.assertNotIn(secret, relay.output())

    def test_metrics_have_the_names_of_the_protocol(self):
        self.script_answers(500, 200)
        port = free_port()
        self.relay("--metrics-listen", f"127.0.0.1:{port}", **PATIENT)
        self.enqueue("order-1")
        self.wait_row("order-1", "succeeded")

        def read():
            lines = request(port, "GET", "/metrics", token=None).body.decode().splitlines()
            return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}

        values = wait_for(lambda: read().get('outbox_processed_total{outcome="succeeded"}') and read(), "a success to count")
        expected = {"outbox_claimed_total": 2, 'outbox_processed_total{outcome="succeeded"}': 1,
                    'outbox_processed_total{outcome="failed"}': 1, 'outbox_processed_total{outcome="aborted"}': 0,
                    'outbox_retry_total{attempt="1"}': 1, "outbox_lock_lease_expired_total": 0,
                    'outbox_latency_ms_count{phase="send"}': 2, "outbox_database_connected": 1}
        self.assertEqual({name: values.get(name) for name in expected}, expected)
        for phase in ("claim", "commit"):
            self.assertGreater(values[f'outbox_latency_ms_count{{phase="{phase}"}}'], 0)
        self.assertEqual(request(port, "GET", "/health", token=None).status, 200)
        self.assertEqual(request(port, "GET", "/", token=None).status, 404)

    def test_a_collector_gets_both_spans_in_the_trace_of_the_row(self):
        trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
        self.relay("--otlp-endpoint", self.broker.url("").rstrip("/"), **PATIENT)
        self.session.run("SELECT hikyaku_enqueue('order-1', '{}'::jsonb, traceparent => $1)", f"00-{trace}-{parent}-01")

        def spans():
            found = {}
            for got in self.broker.at("/v1/traces"):
                for resource in json.loads(got.body)["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        found |= {span["name"]: span for span in scope["spans"] if span["traceId"] == trace}
            return found

        both = wait_for(lambda: len(spans()) == 2 and spans(), "two spans")
        process, send = both["outbox.process"], both["broker.send"]
        self.assertEqual(process["parentSpanId"], parent)
        self.assertEqual(send["parentSpanId"], process["spanId"])
        self.assertIn({"key": "outbox.adapter", "value": {"stringValue": "http"}}, send["attributes"])
        # The receiver goes on in the same trace.
        (got,) = self.wait_received()
        self.assertEqual(got.headers["traceparent"].split("-")[1:3], [trace, send["spanId"]])


class Adapters(OutboxCase):
    """Against a real server: over its QStash and its SQS surface."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def send_again(self, key):
        """As after a crash behind the sending: neither the row nor the ledger knows of it."""
        self.session.run(f"DELETE FROM {self.table.ledger} WHERE idempotency_key = $1", key)
        self.session.run(f"UPDATE {self.table.outbox} SET status = 'pending', attempts = 0 WHERE idempotency_key = $1", key)

    def relay_to_server(self, **settings):
        return self.relay(**PATIENT, **({"OUTBOX_ADAPTER": "hikyaku", "OUTBOX_BROKER_URL": f"http://127.0.0.1:{self.server.port}",
                                         "OUTBOX_BROKER_TOKEN": DEV_TOKEN} | settings))

    def relay_to_queue(self, url):
        return self.relay(**PATIENT, OUTBOX_ADAPTER="sqs", OUTBOX_SQS_QUEUE_URL=url, AWS_ACCESS_KEY_ID="test",
                          AWS_SECRET_ACCESS_KEY="test")

    def test_a_row_published_twice_is_accepted_once(self):
        self.relay_to_server()
        self.enqueue("order-1", '{"n": 1}')
        self.wait_row("order-1", "succeeded")
        first = json.loads(self.ledger("order-1")["response_payload_json"])
        (got,) = self.wait_received()
        self.assertEqual((got.headers["Idempotency-Key"], json.loads(got.body)), ("order-1", {"n": 1}))
        self.assertEqual(got.message_id, first["messageId"])

        self.send_again("order-1")
        self.wait_row("order-1", "succeeded")
        second = json.loads(self.ledger("order-1")["response_payload_json"])
        self.assertTrue(second["deduplicated"])
        self.enqueue("order-2")
        self.wait_received(2)
        self.assertEqual(self.keys_received(), {"order-1": 1, "order-2": 1})

    def test_rows_wait_until_the_token_is_right(self):
        wrong = self.relay_to_server(OUTBOX_BROKER_TOKEN="wrong", OUTBOX_MAX_ATTEMPTS="2")
        self.enqueue("order-1")
        (told,) = wrong.wait_event("outbox.broker_unavailable")
        self.assertEqual((told["http_status"], told["reason_code"]), (401, "BROKER_REJECTED"))
        self.assertEqual(wrong.terminate(), 0)
        row = self.row("order-1")
        self.assertEqual((row["status"], row["attempts"], row["last_error_code"]), ("pending", "0", "BROKER_REJECTED"))
        self.assertNotIn("wrong", row["last_error_msg"])
        self.assertIsNone(self.ledger("order-1"))
        self.relay_to_server()
        self.assertEqual(self.wait_row("order-1", "succeeded")["attempts"], "1")

    def test_a_row_for_a_fifo_queue_is_accepted_once(self):
        url = self.server.make_queue("orders.fifo", FifoQueue="true")
        self.relay_to_queue(url)
        self.enqueue("order-1", '{"n": 1}')
        self.wait_row("order-1", "succeeded")
        self.send_again("order-1")
        self.wait_row("order-1", "succeeded")
        (message,) = self.server.receive(url)
        self.assertEqual(json.loads(message["Body"]), {"n": 1})
        self.assertIn("order-1", json.dumps(message["MessageAttributes"]))
        self.assertEqual(message["Attributes"]["MessageDeduplicationId"], "order-1")
        self.assertEqual(self.server.receive(url, WaitTimeSeconds=0), [])

    def test_a_row_for_a_standard_queue_arrives_with_its_headers(self):
        url = self.server.make_queue("events")
        self.relay_to_queue(url)
        self.session.run("SELECT hikyaku_enqueue('order-1', '{\"n\": 1}'::jsonb, headers => '{\"X-Kind\": \"order\"}')")
        self.wait_row("order-1", "succeeded")
        (message,) = self.server.receive(url)
        self.assertEqual(json.loads(message["Body"]), {"n": 1})
        self.assertEqual(message["MessageAttributes"]["X-Kind"]["StringValue"], "order")

    def test_a_queue_that_is_not_there_is_waited_for(self):
        url = self.server.make_queue("there")
        relay = self.relay(**PATIENT, OUTBOX_ADAPTER="sqs", OUTBOX_SQS_QUEUE_URL=url + "-not", AWS_ACCESS_KEY_ID="test",
                           AWS_SECRET_ACCESS_KEY="test", OUTBOX_MAX_ATTEMPTS="2")
        self.enqueue("order-1")
        self.assertEqual(relay.wait_event("outbox.broker_unavailable")[0]["http_status"], 400)
        self.server.make_queue("there-not")
        self.assertEqual(self.wait_row("order-1", "succeeded")["attempts"], "1")

    def test_credentials_that_are_wrong_cost_no_attempt(self):
        url = self.server.make_queue("guarded")
        relay = self.relay(**PATIENT, OUTBOX_ADAPTER="sqs", OUTBOX_SQS_QUEUE_URL=url, AWS_ACCESS_KEY_ID="test",
                           AWS_SECRET_ACCESS_KEY="not-this-one", OUTBOX_MAX_ATTEMPTS="2")
        self.enqueue("order-1")
        relay.wait_event("outbox.broker_unavailable")
        self.assertEqual(relay.terminate(), 0)
        self.assertEqual((self.row("order-1")["status"], self.row("order-1")["attempts"]), ("pending", "0"))
        self.relay_to_queue(url)
        self.assertEqual(self.wait_row("order-1", "succeeded")["attempts"], "1")
