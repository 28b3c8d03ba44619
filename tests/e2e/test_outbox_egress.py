"""Where rows may not go: the table of egress.py against the destinations of rows and the setting for all of them."""
import json

import egress
from harness import Answer, Server, free_port
from outbox import PATIENT, OutboxCase, clean_environment

CLOSED = {"OUTBOX_ALLOW_LOOPBACK_DESTINATIONS": "false", "OUTBOX_DESTINATION": "", "OUTBOX_BATCH": "100", "OUTBOX_CONCURRENCY": "16"}
CODES = {egress.TEXT: "DESTINATION_INVALID", egress.ADDRESS: "BROKER_BLOCKED", egress.CONNECT: "BROKER_BLOCKED"}


class Rows(OutboxCase):
    def insert(self, rows):
        """Rows of the table that can stand in a column; U+0000 cannot."""
        rows = [row for row in rows if "\0" not in row.url]
        for number, row in enumerate(rows):
            self.session.run("SELECT hikyaku_enqueue($1, '{}'::jsonb, destination => $2)", f"row-{number}", row.url)
        return rows

    def judged(self, rows):
        """What became of each, when all have ended."""
        self.wait_all({"aborted": len(rows)}, timeout=120)
        for number, row in enumerate(rows):
            with self.subTest(row=row.name, url=row.url):
                yield row, self.row(f"row-{number}")

    def forbidden(self):
        return [row for row in egress.table(self.broker.port) if row.outcome != egress.PUBLIC]

    def test_a_row_cannot_name_what_is_not_public(self):
        rows = self.insert(self.forbidden())
        self.assertGreaterEqual(len(rows), 220)
        self.relay(**PATIENT | CLOSED)
        for row, became in self.judged(rows):
            self.assertEqual((became["last_error_code"], became["attempts"]), (CODES[row.outcome], "1"), became["last_error_msg"])
        self.assertEqual(self.broker.requests, [])

    def test_a_row_cannot_make_a_server_publish_there_either(self):
        """By way of the adapter `hikyaku`: names and ports are judged when the server delivers, so they are left out."""
        token = "t" * 40
        server = Server(dev=False, token=token, env=clean_environment() | {"HIKYAKU_TOKEN": token})
        self.addCleanup(server.close)
        server.start()
        rows = self.insert([row for row in self.forbidden() if row.outcome != egress.CONNECT])
        self.relay(**PATIENT | CLOSED | {"OUTBOX_ADAPTER": "hikyaku", "OUTBOX_MAX_ATTEMPTS": "1",
                                         "OUTBOX_BROKER_URL": f"http://127.0.0.1:{server.port}", "OUTBOX_BROKER_TOKEN": token})
        for row, became in self.judged(rows):
            self.assertIn(became["last_error_code"], ("DESTINATION_INVALID", "BROKER_REJECTED"), became["last_error_msg"])
        self.assertEqual(server.metrics()["hikyaku_messages_accepted_total"], 0)
        self.assertEqual(self.broker.requests, [])

    def test_the_setting_is_refused_as_a_destination_is(self):
        addresses = [row for row in self.forbidden() if row.outcome != egress.CONNECT and "\0" not in row.url]
        for row in addresses[::7]:  # each is a process
            with self.subTest(row=row.name, url=row.url):
                done = self.command(env=CLOSED | {"OUTBOX_DESTINATION": row.url})
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn("OUTBOX_DESTINATION", done.stderr)

    def test_redirects_are_not_followed(self):
        for status in (301, 302, 303, 307, 308):
            self.broker.script(f"/moved/{status}", Answer(status, {"Location": self.broker.url("/landed")}))
            self.session.run("SELECT hikyaku_enqueue($1, '{}'::jsonb, destination => $2)", f"moved-{status}",
                             self.broker.url(f"/moved/{status}"))
        self.relay(**PATIENT | {"OUTBOX_MAX_ATTEMPTS": "1"})
        self.wait_all({"aborted": 5})
        for status in (301, 302, 303, 307, 308):
            self.assertEqual(len(self.broker.at(f"/moved/{status}")), 1)
            self.assertIn("redirects are not followed", self.row(f"moved-{status}")["last_error_msg"])
        self.assertEqual(self.broker.at("/landed"), [])

    def test_headers_of_a_row_cannot_add_lines_or_change_the_framing(self):
        rows = ({"X-A": "1\r\nX-Injected: 1"}, {"X-A": "1\nX-Injected: 1"}, {"X-A\r\nX-Injected": "1"}, {"X-A:": "1"}, {"X A": "1"},
                {"Content-Length": "0"}, {"Transfer-Encoding": "chunked"}, {"Host": "other"}, {"Connection": "close"},
                {"Expect": "100-continue"}, {"X-A": "\u0001"}, {"X-A": "\u0085"})
        for number, headers in enumerate(rows):
            self.session.run("SELECT hikyaku_enqueue($1, '{}'::jsonb, destination => $2, headers => $3::jsonb)", f"row-{number}",
                             self.hook, json.dumps(headers))
        self.relay(**PATIENT)
        self.wait_all({"aborted": len(rows)})
        for number, headers in enumerate(rows):
            with self.subTest(headers=headers):
                self.assertEqual(self.row(f"row-{number}")["last_error_code"], "HEADERS_INVALID")
        self.assertEqual(self.received(), [])


class OwnPorts(OutboxCase):
    """What this process itself listens on stays closed to rows, although this machine is open to them."""

    def blocked(self, port):
        for number, host in enumerate(("127.0.0.1", "localhost", "127.0.0.2")):
            self.session.run("SELECT hikyaku_enqueue($1, '{}'::jsonb, destination => $2)", f"own-{number}",
                             f"http://{host}:{port}/metrics")
        self.enqueue("other")
        self.wait_all({"aborted": 3, "succeeded": 1})
        for number in range(3):
            self.assertEqual(self.row(f"own-{number}")["last_error_code"], "BROKER_BLOCKED")

    def test_the_port_of_the_metrics(self):
        port = free_port()
        self.relay("--metrics-listen", f"127.0.0.1:{port}", **PATIENT)
        self.blocked(port)

    def test_the_port_of_the_server_around_it(self):
        server = Server(env=clean_environment() | self.env(
            **PATIENT | {"OUTBOX_ENABLED": "true", "OUTBOX_ADAPTER": "http", "OUTBOX_DATABASE": self.url}))
        self.addCleanup(server.close)
        server.start()
        self.blocked(server.port)
