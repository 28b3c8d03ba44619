"""A book exported from one server and imported into another: the same chain, or nothing. And what lists count, and sums
that are kept."""
import json
import os
import tempfile
import unittest

from harness import Server

SHOP = [{"account": "bank", "side": "debit", "currency": "USD"}, {"account": "shop:1", "side": "credit", "currency": "USD"}]


def entries(amount):
    return [{**one, "amount": str(amount)} for one in SHOP]


class Import(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.source = cls.new_server()
        cls.call(cls.source, "POST", "/accounts", {"id": "bank", "type": "asset"})
        for name in ("shop:1", "shop:2"):
            cls.call(cls.source, "POST", "/accounts", {"id": name, "type": "liability", "metadata": {"owner": "ada"}})
        cls.call(cls.source, "POST", "/batches", {"items": [
            {"op": "transaction", "transaction": {"id": f"t{i}", "reference": f"r{i % 7}", "entries": entries(3)}} for i in range(2400)]})
        cls.call(cls.source, "POST", "/transactions", {"id": "held", "kind": "pending", "entries": entries(9), "metadata": {"order": "7"}})
        cls.call(cls.source, "POST", "/transactions/t0/reverse", {"amounts": ["1", "1"]})
        cls.book = cls.call(cls.source, "GET", "").json()
        cls.text = cls.source.cli("ledger", "export", "--values").stdout
        cls.lines = cls.text.splitlines(keepends=True)
        cls.home = tempfile.mkdtemp(prefix="hikyaku-import-")

    @classmethod
    def new_server(cls):
        server = Server()
        cls.addClassCleanup(server.close)
        server.start()
        return server

    @staticmethod
    def call(server, method, path, body=None):
        return server.request(method, f"/api/v1/ledger/-{path}", None if body is None else json.dumps(body))

    def send(self, server, lines, complete=False, book="main"):
        return server.request("POST", f"/api/v1/ledger/books/{book}/import" + ("?complete=true" if complete else ""), "".join(lines),
                              {"Content-Type": "application/x-ndjson"})

    def file(self, text):
        handle, path = tempfile.mkstemp(dir=self.home)
        with os.fdopen(handle, "w") as out:
            out.write(text)
        return path

    def expect_the_same(self, server):
        copy = self.call(server, "GET", "").json()
        head = json.loads(self.lines[-1])
        self.assertEqual((copy["last_seq"], copy["last_hash"]), (len(self.lines), head["hash"]))
        self.assertEqual(server.cli("ledger", "export", "--values").stdout, self.text)
        for path in ("/balances", "/transactions/t0", "/transactions/held", "/accounts/shop:1", "/transactions?reference=r3&limit=1000",
                     "/accounts/bank/balances?as_of_seq=700", "/trial_balance", "/reports/activity"):
            self.assertEqual(self.call(server, "GET", path).json(), self.call(self.source, "GET", path).json(), path)
        self.assertTrue(self.call(server, "POST", "/verify", {}).json()["ok"])

    def test_the_command_line_copies_a_book(self):
        target = self.new_server()
        done = target.cli("ledger", "import", "--file", self.file(self.text))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"main: {len(self.lines)} records, last hash {json.loads(self.lines[-1])['hash']}\n")
        self.expect_the_same(target)
        again = target.cli("ledger", "import", "--file", self.file(self.text))
        self.assertEqual((again.returncode, again.stdout), (0, done.stdout), again.stderr)
        self.assertEqual(self.call(target, "POST", "/transactions", {"id": "t5", "reference": "r5", "entries": entries(3)}).json()["replayed"], True)
        self.assertEqual(self.call(target, "POST", "/transactions/held/post", {}).status, 201)
        self.assertEqual(self.call(target, "POST", "/transactions/t0/reverse", {"amounts": ["3", "3"]}).json()["code"], "already_reversed")
        self.assertTrue(self.call(target, "POST", "/verify", {}).json()["ok"])

    def test_a_killed_import_goes_on_and_the_book_waits_for_it(self):
        target = self.new_server()
        first = self.send(target, self.lines[:1000])
        self.assertEqual((first.status, first.json()["last_seq"], first.json()["importing"]), (200, 1000, True))
        target.kill()
        target.start()
        for path, body in (("/accounts", {"id": "x", "type": "asset"}), ("/transactions", {"entries": entries(1)}),
                           ("/transactions/preview", {"entries": entries(1)}), ("/close", {"through": "2020-01-01T00:00:00Z"}),
                           ("/subscriptions", {"destination": "http://127.0.0.1:9/x"})):
            answer = self.call(target, "POST", path, body)
            self.assertEqual((answer.status, answer.json()["code"]), (409, "book_importing"), path)
        self.assertEqual(self.call(target, "GET", "").json()["last_seq"], 1000)
        done = target.cli("ledger", "import", "--file", self.file(self.text))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_the_same(target)
        target.kill()
        target.start()
        self.expect_the_same(target)
        self.assertNotIn("importing", self.call(target, "GET", "").json())

    def test_what_does_not_fit_is_refused_with_its_record_and_nothing_is_taken(self):
        target = self.new_server()
        lines = self.lines[:40]
        record = json.loads(lines[20])
        hashed = [json.dumps({**record, "hash": "0" * 64}) + "\n"]
        chained = [json.dumps({**record, "prev_hash": "0" * 64}) + "\n"]
        said = [lines[20].replace('"amount":"3"', '"amount":"4"')]
        value = [lines[2].replace('"value":"ada"', '"value":"bob"')]
        rows = (("a gap", lines[:20] + lines[21:], 22), ("exchanged", lines[:20] + [lines[21], lines[20]], 22),
                ("another hash", lines[:20] + hashed + lines[21:], 21), ("another hash before", lines[:20] + chained + lines[21:], 21),
                ("other words", lines[:20] + said + lines[21:], 21), ("no JSON", lines[:20] + ["{\n"], 21), ("not from the beginning", lines[3:], 1),
                ("another value", lines[:2] + value + lines[3:], 3), ("nothing", [], 1), ("no record", ["{}\n"], 1))
        for name, body, seq in rows:
            with self.subTest(name):
                answer = self.send(target, body, True)
                self.assertEqual((answer.status, answer.json().get("code"), answer.json().get("seq")), (400, "record_invalid", seq), answer.body)
                self.assertEqual(target.get("/api/v1/ledger/books").json()["books"], [])
        other = self.send(target, lines, True, "other")
        self.assertEqual((other.status, other.json()["code"], other.json()["seq"]), (400, "record_invalid", 1))
        many = self.send(target, self.lines[:2001])
        self.assertEqual((many.status, many.json()["code"]), (413, "batch_too_large"))
        unknown = target.request("POST", "/api/v1/ledger/-/import?color=red", "")
        self.assertEqual(unknown.status, 400)
        own = self.send(self.source, lines)
        self.assertEqual((own.status, own.json()["code"]), (409, "book_exists"))
        bad = target.cli("ledger", "import", "--file", self.file("".join(self.lines[:1500] + self.lines[1501:])))
        self.assertEqual(bad.returncode, 1, bad.stdout)
        self.assertIn("record 1502", bad.stderr)
        for text in ("", "{}\n", self.lines[5]):
            self.assertEqual(target.cli("ledger", "import", "--file", self.file(text)).returncode, 2)

    def test_lists_count_what_they_could_show(self):
        def counted(path):
            answer = self.call(self.source, "GET", path)
            self.assertEqual(answer.status, 200, answer.body)
            return answer.json()["count"], answer.json()["count_exact"], len(answer.json()[path[1:].split("?")[0]])

        self.assertEqual(counted("/transactions?count=true&limit=3"), (2402, True, 3))
        self.assertEqual(counted("/transactions?count=1&account=bank&limit=1"), (2402, True, 1))
        self.assertEqual(counted("/transactions?count=1&reference=r3&limit=5"), (343, True, 5))
        self.assertEqual(counted("/transactions?count=1&kind=pending"), (1, True, 1))
        self.assertEqual(counted("/transactions?count=1&prefix=shop:2"), (0, True, 0))
        self.assertEqual(counted("/accounts?count=1&limit=1"), (3, True, 1))
        self.assertEqual(counted("/accounts?count=1&prefix=shop"), (2, True, 2))
        self.assertEqual(counted("/accounts?count=1&type=asset"), (1, True, 1))
        page = self.call(self.source, "GET", "/transactions?limit=2").json()
        self.assertNotIn("count", page)
        self.assertEqual(counted(f"/transactions?count=1&limit=2&cursor={page['cursor']}"), (2402, True, 2))


class Rollups(unittest.TestCase):
    def test_a_kept_sum_is_that_of_its_accounts(self):
        with Server() as server:
            def call(method, path, body=None):
                return server.request(method, f"/api/v1/ledger/-{path}", None if body is None else json.dumps(body))

            def sums():
                rows = call("GET", "/balances?prefix=shop").json()["balances"]
                members = call("GET", "/balances?group_by=path:2&prefix=shop&limit=1000").json()["balances"]
                for name in ("credits_posted", "debits_posted", "credits_pending", "debits_pending", "posted", "accounts"):
                    self.assertEqual([int(row[name]) for row in rows], [sum(int(row[name]) for row in members)], name)
                return int(rows[0]["posted"])

            call("POST", "/accounts", {"id": "bank", "type": "asset"})
            for i in range(600):
                call("POST", "/accounts", {"id": f"shop:{i}", "type": "liability"})
            items = [{"op": "transaction", "transaction": {"entries": [
                {"account": "bank", "side": "debit", "amount": 5, "currency": "USD"},
                {"account": f"shop:{i}", "side": "credit", "amount": 5, "currency": "USD"}]}} for i in range(600)]
            call("POST", "/batches", {"items": items})
            made = call("PUT", "/rollups/shop", {"rollup": True})
            self.assertEqual((made.status, made.json()["prefix"], made.json()["rollup"]), (201, "shop", True))
            self.assertEqual(call("PUT", "/rollups/shop", {"rollup": True}).status, 200)
            self.assertEqual(sums(), 3000)
            call("POST", "/batches", {"items": items[:100]})
            self.assertEqual(sums(), 3500)
            while not call("GET", "/rollups").json()["rollups"][0]["complete"]:
                pass
            self.assertEqual(sums(), 3500)
            call("POST", "/batches", {"items": items[:10]})
            self.assertEqual(sums(), 3550)
            server.kill()
            server.start()
            self.assertEqual(sums(), 3550)
            self.assertTrue(call("POST", "/verify", {}).json()["ok"])
            for body in (None, {}, {"rollup": 1}, {"rollup": True, "x": 1}):
                self.assertEqual(call("PUT", "/rollups/shop", body).status, 400, body)
            self.assertEqual(call("PUT", "/rollups/a::b", {"rollup": True}).json()["code"], "invalid")
            gone = call("PUT", "/rollups/shop", {"rollup": False})
            self.assertEqual((gone.status, gone.json()["rollup"]), (200, False))
            self.assertEqual(call("GET", "/rollups").json(), {"rollups": []})
            self.assertEqual(sums(), 3550)


if __name__ == "__main__":
    unittest.main()
