"""A broker that is away, busy, or does not know the relay any more is no fault of rows: they wait without an attempt
counted, however long it takes, and go on by themselves. What a broker says about one row is that row's."""
import collections
import json
import socket

from harness import DEV_TOKEN, Answer, Server, free_port, request, wait_for
from outbox import PATIENT, Broker, OutboxCase

# Two failures would be the end of a row, and come quickly.
STRICT = PATIENT | {"OUTBOX_MAX_ATTEMPTS": "2", "OUTBOX_BACKOFF_SEC": "0.1"}


class Moody(Broker):
    """Answers as mood() says: a status, or an Answer; keys are known by the header that the adapter gives them."""

    def __init__(self, port=0, header="Upstash-Deduplication-Id"):
        self.mood = lambda key, count: 201
        self.keys = []  # in the order of their arrival
        self.header = header
        super().__init__(port)

    def decide(self, got):
        key = got.headers.get(self.header, "")
        self.keys.append(key)
        answer = self.mood(key, self.keys.count(key))
        return Answer(status=answer) if isinstance(answer, int) else answer


class BrokerCase(OutboxCase):
    def moody(self, *arguments, **options):
        broker = Moody(*arguments, **options)
        self.addCleanup(broker.close)
        return broker

    def closed_port(self):
        """Where nobody listens, and nobody else will."""
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        self.addCleanup(held.close)
        return held.getsockname()[1]

    def relay_to(self, port, *flags, **settings):
        return self.relay(*flags, **STRICT | {
            "OUTBOX_ADAPTER": "hikyaku", "OUTBOX_BROKER_URL": f"http://127.0.0.1:{port}", "OUTBOX_BROKER_TOKEN": "token",
            "OUTBOX_DESTINATION": "https://example.com/hook"} | settings)

    def attempts(self):
        return collections.Counter(r["attempts"] for r in self.session.run(f"SELECT attempts FROM {self.table.outbox}"))

    def metric(self, port, name):
        for line in request(port, "GET", "/metrics", token=None).body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        return None

    def wait_postponed(self, port, count):
        wait_for(lambda: self.metric(port, "outbox_postponed_total") >= count, f"{count} rows to be given back")


class Away(BrokerCase):
    def test_rows_wait_for_a_broker_that_cannot_be_reached(self):
        port, metrics = self.closed_port(), free_port()
        for n in range(20):
            self.enqueue(f"order-{n}")
        relay = self.relay_to(port, "--metrics-listen", f"127.0.0.1:{metrics}")
        (told,) = relay.wait_event("outbox.broker_unavailable")
        self.assertEqual((told["level"], told["broker"], told["reason_code"]),
                         ("warn", f"http://127.0.0.1:{port}", "BROKER_UNREACHABLE"))
        self.wait_postponed(metrics, 30)
        self.assertEqual(self.attempts(), {"0": 20})
        self.assertLessEqual(set(self.counts()), {"pending", "sending"})
        self.assertEqual(self.metric(metrics, "outbox_brokers_away"), 1)
        health = request(metrics, "GET", "/health", token=None)
        self.assertEqual((health.status, health.body), (200, b"ok\nthe broker is unavailable: rows wait for it\n"))
        shown = wait_for(lambda: (now := self.ok("status")) and "because of the broker" in now and now, "the status to tell")
        self.assertRegex(shown, r"Postponed because of the broker, no attempt counted: \d+ rows?; \d+ s ago: BROKER_UNREACHABLE: ")
        self.assertEqual(json.loads(self.ok("status", "--json"))["postponed"]["last_error_code"], "BROKER_UNREACHABLE")

        broker = self.moody(port)
        self.wait_all({"succeeded": 20})
        self.assertEqual(self.attempts(), {"1": 20})
        self.assertEqual(collections.Counter(broker.keys), {f"order-{n}": 1 for n in range(20)})
        (back,) = relay.wait_event("outbox.broker_back")
        self.assertGreater(back["away_ms"], 0)
        self.assertEqual(len(relay.events("outbox.broker_unavailable")), 1)
        wait_for(lambda: self.metric(metrics, "outbox_brokers_away") == 0, "the broker to be back")
        self.assertEqual(request(metrics, "GET", "/health", token=None).body, b"ok\n")
        self.assertNotIn("because of the broker", self.ok("status"))
        self.assertEqual(self.session.value(f"SELECT count(*) FROM {self.table.outbox} WHERE last_error_code IS NOT NULL"), "0")

    def test_a_broker_that_is_down_busy_or_does_not_know_us_costs_no_attempt(self):
        for status in (401, 403, 429, 500, 502, 503, 504):
            with self.subTest(status=status):
                broker = self.moody()
                broker.mood = lambda key, count, status=status: status if count <= 5 else 201
                relay = self.relay_to(broker.port)
                self.enqueue(f"order-{status}")
                done = self.wait_row(f"order-{status}", "succeeded")
                self.assertEqual((done["attempts"], done["last_error_code"]), ("1", None))
                self.assertEqual(len(broker.keys), 6)
                (told,) = relay.wait_event("outbox.broker_unavailable")
                self.assertEqual(told["http_status"], status)
                relay.wait_event("outbox.broker_back")
                self.assertEqual(relay.terminate(), 0)

    def test_what_may_have_arrived_is_sent_again_under_the_same_key(self):
        broker = self.moody()
        broker.mood = lambda key, count: Answer(action="hang") if count <= 4 else Answer(status=202)
        relay = self.relay_to(broker.port, BROKER_TIMEOUT_MS="500")
        self.enqueue("order-1")
        self.assertEqual(self.wait_row("order-1", "succeeded")["attempts"], "1")
        self.assertEqual(broker.keys, ["order-1"] * 5)
        self.assertEqual(relay.wait_event("outbox.broker_unavailable")[0]["reason_code"], "BROKER_TIMEOUT")

    def test_what_it_says_about_a_row_is_the_rows(self):
        broker = self.moody()
        broker.mood = lambda key, count: int(key)
        relay = self.relay_to(broker.port)
        for status in (400, 404, 413, 201):
            self.enqueue(str(status))
        self.wait_all({"aborted": 3, "succeeded": 1})
        for status in ("400", "404", "413"):
            row = self.row(status)
            self.assertEqual((row["attempts"], row["last_error_code"]), ("2", "BROKER_REJECTED"))
        self.assertEqual(relay.events("outbox.broker_unavailable"), [])

    def test_a_relay_whose_broker_is_there_takes_the_rows_of_one_whose_is_not(self):
        first = self.relay_to(self.closed_port(), OUTBOX_WORKER_NAME="first")
        self.enqueue("order-1")
        first.wait_event("outbox.broker_unavailable")
        broker = self.moody()
        self.relay_to(broker.port, OUTBOX_WORKER_NAME="second")
        self.assertEqual(self.wait_row("order-1", "succeeded")["attempts"], "1")

    def test_a_relay_that_is_stopped_meanwhile_leaves_the_rows_as_they_were(self):
        relay = self.relay_to(self.closed_port())
        for n in range(5):
            self.enqueue(f"order-{n}")
        relay.wait_event("outbox.broker_unavailable")
        self.assertEqual(relay.terminate(), 0)
        self.assertEqual(self.counts(), {"pending": 5})
        self.assertEqual(self.attempts(), {"0": 5})


class RealServer(BrokerCase):
    def test_a_server_that_is_killed_is_waited_for_and_takes_each_row_once(self):
        server = Server()
        self.addCleanup(server.close)
        server.start()
        relay = self.relay_to(server.port, OUTBOX_BROKER_TOKEN=DEV_TOKEN, OUTBOX_DESTINATION=self.hook)
        for n in range(40):
            self.enqueue(f"order-{n}")
        wait_for(lambda: self.counts().get("succeeded"), "the first to be taken")
        server.kill()
        for n in range(40, 60):
            self.enqueue(f"order-{n}")
        relay.wait_event("outbox.broker_unavailable")
        server.start()
        self.wait_all({"succeeded": 60}, 120)
        self.assertEqual(self.attempts(), {"1": 60})
        wait_for(lambda: len(self.keys_received()) == 60, lambda: f"all to be delivered: {len(self.keys_received())}")
        # A delivery that the kill cut off is made again; the message is the same.
        messages = collections.defaultdict(set)
        for got in self.received():
            messages[got.headers["Idempotency-Key"]].add(got.message_id)
        self.assertEqual({len(ids) for ids in messages.values()}, {1})


class Poison(BrokerCase):
    """Rows that the broker cannot bear. They are the oldest, and the relay takes one at a time."""

    def start(self, poison, **settings):
        broker = self.moody()
        broker.mood = lambda key, count: 503 if key.startswith("poison") else 201
        for n in range(poison):
            self.enqueue(f"poison-{n}")
        self.relay_to(broker.port, OUTBOX_BATCH="1", OUTBOX_CONCURRENCY="1", **settings)
        return broker

    def test_it_holds_up_nobody_for_ever(self):
        self.start(3, OUTBOX_BACKOFF_SEC="600")
        for n in range(20):
            self.enqueue(f"order-{n}")
        wait_for(lambda: self.counts().get("succeeded") == 20, lambda: str(self.counts()))
        self.assertEqual(self.attempts(), {"0": 3, "1": 20})

    def test_it_is_given_up_while_others_are_taken(self):
        self.start(1)
        sent = 0

        def given_up():
            nonlocal sent
            waits = self.session.value("SELECT count(*) FROM hikyaku_outbox WHERE status <> 'aborted'"
                                       " AND idempotency_key LIKE 'order-%' AND status <> 'succeeded'")
            if int(waits) == 0:
                self.enqueue(f"order-{sent}")
                sent += 1
            return self.counts().get("aborted") == 1

        wait_for(given_up, lambda: f"the poison to be aborted: {self.counts()}", 240)
        row = self.row("poison-0")
        self.assertEqual((row["attempts"], row["last_error_code"]), ("2", "BROKER_ERROR"))
        self.wait_all({"aborted": 1, "succeeded": sent})


class Hosts(BrokerCase):
    """The adapter http: each destination is its own, unless the setting says that an unreachable host is not."""

    def test_rows_to_an_unreachable_host_wait_while_others_go(self):
        port = self.closed_port()
        relay = self.relay(**STRICT, OUTBOX_WAIT_FOR_UNREACHABLE_HOSTS="true")
        for n in range(10):
            self.session.run("SELECT hikyaku_enqueue($1, '1'::jsonb, $2)", f"away-{n}", f"http://127.0.0.1:{port}/hook")
            self.session.run("SELECT hikyaku_enqueue($1, '1'::jsonb, $2)", f"there-{n}", self.hook)
        (told,) = relay.wait_event("outbox.broker_unavailable")
        self.assertEqual(told["broker"], f"http://127.0.0.1:{port}")
        wait_for(lambda: self.counts().get("succeeded") == 10, lambda: str(self.counts()))
        self.assertEqual(set(self.keys_received()), {f"there-{n}" for n in range(10)})
        self.assertEqual(self.attempts(), {"0": 10, "1": 10})

        host = self.moody(port, header="Idempotency-Key")
        self.wait_all({"succeeded": 20}, 120)
        self.assertEqual(self.attempts(), {"1": 20})
        self.assertEqual(collections.Counter(host.keys), {f"away-{n}": 1 for n in range(10)})
        self.assertEqual(len(relay.wait_event("outbox.broker_back")), 1)

    def test_its_answers_are_those_of_rows_all_the_same(self):
        self.script_answers(503)
        self.relay(**STRICT, OUTBOX_WAIT_FOR_UNREACHABLE_HOSTS="true")
        self.enqueue("order-1")
        row = self.wait_row("order-1", "aborted")
        self.assertEqual((row["attempts"], row["last_error_code"]), ("2", "BROKER_ERROR"))

    def test_without_the_setting_it_is_a_failure_of_the_row(self):
        self.relay(**STRICT, OUTBOX_DESTINATION=f"http://127.0.0.1:{self.closed_port()}/")
        self.enqueue("order-1")
        row = self.wait_row("order-1", "aborted")
        self.assertEqual((row["attempts"], row["last_error_code"]), ("2", "BROKER_UNREACHABLE"))
