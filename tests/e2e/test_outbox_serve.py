"""The relay inside a server: OUTBOX_ENABLED and the other variables in the environment of `hikyaku serve`."""
import json
import re
import subprocess
import tempfile

from harness import Server, make_certificate, wait_for
from outbox import PATIENT, OutboxCase, clean_environment


class InsideTheServer(OutboxCase):
    def server(self, *flags, dev=True, **env):
        server = Server(*flags, dev=dev, env=clean_environment() | self.env(
            **({"OUTBOX_ENABLED": "true", "OUTBOX_DATABASE": self.url} | PATIENT | env)))
        self.addCleanup(server.close)
        return server

    def test_rows_are_published_into_the_server_itself(self):
        server = self.server(OUTBOX_ADAPTER="hikyaku").start()
        self.enqueue("order-1", '{"n": 1}')
        self.wait_row("order-1", "succeeded")
        (got,) = self.wait_received()
        self.assertEqual(got.message_id, json.loads(self.ledger("order-1")["response_payload_json"])["messageId"])
        self.assertEqual(got.headers["Idempotency-Key"], "order-1")
        # Counted when the commit is answered, and the row can be seen before that.
        counted = re.compile(r'^outbox_processed_total\{outcome="succeeded"\} 1$', re.M)
        wait_for(lambda: counted.search(server.get("/metrics").body.decode()), "the success to be counted once")

    def test_it_needs_neither_a_token_nor_the_name_in_the_certificate(self):
        with tempfile.TemporaryDirectory() as home:
            certificate, key = make_certificate(home, "a.example")
            server = self.server("--tls-cert", certificate, "--tls-key", key, "--allow-loopback-destinations", dev=False,
                                 OUTBOX_ADAPTER="hikyaku").spawn()
            self.enqueue("order-1")
            self.wait_row("order-1", "succeeded")
            self.assertEqual(server.terminate(), 0)
            server.spawn()  # from now on it knows the token as a digest only
            self.enqueue("order-2")
            self.wait_row("order-2", "succeeded")
            self.wait_received(2)
            self.assertEqual(self.keys_received(), {"order-1": 1, "order-2": 1})
            self.assertEqual(server.terminate(), 0)

    def test_a_token_that_is_given_must_be_one(self):
        server = self.server(OUTBOX_ADAPTER="hikyaku", OUTBOX_BROKER_TOKEN="not-a-token").start()
        self.enqueue("order-1")
        wait_for(lambda: "outbox.broker_unavailable" in server.output(), "the log to say so")
        self.assertIn(self.row("order-1")["status"], ("pending", "sending"))

    def test_a_row_that_the_server_refuses_ends_as_over_http(self):
        self.server("--body-bytes-max", "1KiB", OUTBOX_ADAPTER="hikyaku").start()
        self.enqueue("order-1", json.dumps({"text": "x" * 2000}))
        self.wait_row("order-1", "aborted")
        self.assertIn("too large", json.dumps(self.ledger("order-1")["response_payload_json"]))

    def test_it_sends_by_itself_what_goes_to_receivers(self):
        self.server(OUTBOX_ADAPTER="http").start()
        self.enqueue("order-1")
        self.wait_row("order-1", "succeeded")
        (got,) = self.wait_received()
        self.assertEqual(got.headers["User-Agent"].split("/")[0], "Hikyaku-Outbox")

    def test_what_was_committed_while_the_server_was_away_is_published_when_it_is_back(self):
        server = self.server(OUTBOX_ADAPTER="hikyaku").start()
        self.enqueue("order-1")
        self.wait_row("order-1", "succeeded")
        self.wait_received()
        server.kill()
        self.enqueue("order-2")
        server.start()
        self.wait_row("order-2", "succeeded")
        self.wait_received(2)
        self.assertEqual(self.keys_received(), {"order-1": 1, "order-2": 1})
        self.assertEqual(server.terminate(), 0)

    def test_the_server_serves_while_the_database_is_away(self):
        self.session.close()
        self.session = None
        self.postgres.stop()
        try:
            server = self.server(OUTBOX_ADAPTER="hikyaku").start()
            wait_for(lambda: "outbox.database_unavailable" in server.output(), "the log to say so")
            server.publish_id(self.hook, b"directly")
            self.wait_received()
        finally:
            self.postgres.start()
        self.connect()
        self.enqueue("order-1")
        self.wait_row("order-1", "succeeded")
        self.assertEqual(server.terminate(), 0)

    def test_without_its_tables_the_server_serves_and_says_what_is_missing(self):
        server = self.server(OUTBOX_TABLE="not_there").start()
        wait_for(lambda: "outbox.database_refused" in server.output(), "the log to say so")
        self.assertEqual(server.publish(self.hook).status, 201)

    def test_settings_that_cannot_work_are_refused(self):
        for env, said in (({"OUTBOX_DATABASE": ""}, "OUTBOX_DATABASE is not"),
                          ({"OUTBOX_BATCH": "0"}, "OUTBOX_BATCH: \"0\" must be"),
                          ({"OUTBOX_ADAPTER": "sqs"}, "AWS_ACCESS_KEY_ID")):
            with self.subTest(env=env):
                server = self.server(**env)
                done = subprocess.run(server.command(), env=server.env, cwd=server.home, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(said, done.stdout)
