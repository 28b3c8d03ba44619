"""What people read of the ledger, by the real server: statements, sums and reports compared with a fold in Python,
exports checked by an outsider's own computation, verification with and without the server."""
import base64
import csv
import hashlib
import io
import json
import os
import random
import struct
import subprocess
import tempfile
import unittest
from urllib.parse import quote, urlencode

from harness import Server, run_binary

TYPES = {"bank": "asset", "costs": "expense", "sales": "revenue", "m:4": "liability", "m:4:pending": "liability",
         "m:42": "liability", "m-x": "liability", "own": "equity"}
DEBIT = ("asset", "expense")


def day(number, hour=0):
    return f"2026-01-{number:02}T{hour:02}:00:00Z"


class Books(unittest.TestCase):
    """A server, and calls of its book main."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    @classmethod
    def call(cls, method, path, body=None, **query):
        target = f"/api/v1/ledger/-{path}" + (f"?{urlencode(query)}" if query else "")
        return cls.server.request(method, target, None if body is None else json.dumps(body))

    @classmethod
    def get(cls, path, **query):
        answer = cls.call("GET", path, **query)
        assert answer.status == 200, (path, query, answer.status, answer.body)
        return answer.json()

    @classmethod
    def make(cls, path, body):
        answer = cls.call("POST", path, body)
        assert answer.status in (200, 201), (path, body, answer.status, answer.body)
        return answer.json()

    @classmethod
    def move(cls, debit, credit, amount, currency="USD", **more):
        return cls.make("/transactions", {"entries": [
            {"account": debit, "side": "debit", "amount": str(amount), "currency": currency},
            {"account": credit, "side": "credit", "amount": str(amount), "currency": currency}], **more})

    def refused(self, path, status, code, body=None, **query):
        answer = self.call("GET" if body is None else "POST", path, body, **query)
        self.assertEqual((answer.status, answer.json().get("code")), (status, code), answer.body)
        return answer.json()

    def pages(self, path, plural, **query):
        """All rows of a list, by its cursors."""
        rows, cursor = [], {}
        while True:
            page = self.get(path, **query, **cursor)
            rows += page[plural]
            if "cursor" not in page:
                return rows, page
            cursor = {"cursor": page["cursor"]}


class Reports(Books):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, kind in TYPES.items():
            cls.make("/accounts", {"id": name, "type": kind})
        rng = random.Random(7)
        cls.moves = []
        for number in range(120):
            debit, credit = rng.sample(sorted(TYPES), 2)
            amount, currency = rng.randrange(1, 10**6), rng.choice(("USD", "USD", "EUR"))
            at = day(rng.randrange(1, 29), rng.randrange(24))
            made = cls.move(debit, credit, amount, currency, effective_at=at, id=f"t{number}")
            cls.moves.append((at, made["seq"], debit, credit, amount, currency, made["recorded_at"]))
        cls.make("/transactions", {"id": "hold-1", "kind": "pending", "timeout": 3600, "entries": [
            {"account": "bank", "side": "debit", "amount": "5", "currency": "USD"},
            {"account": "m:4", "side": "credit", "amount": "5", "currency": "USD"}]})

    def sums(self, at=None, seq=None, since=None):
        """(account, currency) -> [debits, credits] of what was posted."""
        sums = {}
        for effective, made, debit, credit, amount, currency, _ in self.moves:
            if (at is None or effective <= at) and (seq is None or made <= seq) and (since is None or effective >= since):
                sums.setdefault((debit, currency), [0, 0])[0] += amount
                sums.setdefault((credit, currency), [0, 0])[1] += amount
        return sums

    def test_the_trial_balance_is_that_of_every_moment(self):
        middle = self.moves[60][1]
        for query, fold in (({}, self.sums()), ({"as_of_effective": day(14)}, self.sums(at=day(14))),
                            ({"as_of_seq": middle}, self.sums(seq=middle)),
                            ({"as_of_recorded": self.moves[60][6]}, self.sums(seq=middle)),
                            ({"as_of_effective": day(14), "as_of_seq": middle}, self.sums(at=day(14), seq=middle))):
            with self.subTest(query):
                told = self.get("/trial_balance", **query)["currencies"]
                self.assertEqual(told, self.get("/reports/trial_balance", **query)["currencies"])
                self.assertEqual([one["currency"] for one in told], sorted({currency for _, currency in fold}))
                for one in told:
                    self.assertEqual(one["debits"], one["credits"])
                    for row in one["types"]:
                        mine = [v for (account, currency), v in fold.items()
                                if currency == one["currency"] and TYPES[account] == row["type"]]
                        debits, credits = sum(v[0] for v in mine), sum(v[1] for v in mine)
                        balance = debits - credits if row["type"] in DEBIT else credits - debits
                        self.assertEqual((row["debits"], row["credits"], row["balance"]), (str(debits), str(credits), str(balance)))

    def test_the_balance_sheet_and_the_income_statement_add_up(self):
        for one in self.get("/reports/balance_sheet", as_of_effective=day(20))["currencies"]:
            assets, liabilities, equity, income = (int(one[n]) for n in ("assets", "liabilities", "equity", "net_income"))
            self.assertEqual(assets, liabilities + equity + income)
        fold = self.sums(since=day(10), at=day(20))
        for one in self.get("/reports/income_statement", **{"from": day(10)}, as_of_effective=day(20))["currencies"]:
            debits, credits = fold.get(("sales", one["currency"]), (0, 0))
            spent, back = fold.get(("costs", one["currency"]), (0, 0))
            self.assertEqual((one["revenue"], one["expense"], one["net_income"]),
                             (str(credits - debits), str(spent - back), str(credits - debits - spent + back)))

    def test_a_prefix_is_the_sum_of_its_accounts(self):
        fold = self.sums()
        for prefix, members in (("m:4", ("m:4", "m:4:pending")), ("m", ("m:4", "m:4:pending", "m:42")), ("bank", ("bank",)), ("none", ())):
            told = {one["currency"]: one for one in self.get("/balances", prefix=prefix)["balances"]}
            for currency in ("USD", "EUR") if members else ():
                mine = [fold.get((member, currency), (0, 0)) for member in members]
                debits, credits = sum(v[0] for v in mine), sum(v[1] for v in mine)
                one = told[currency]
                self.assertEqual((one["debits_posted"], one["credits_posted"]), (str(debits), str(credits)), prefix)
                self.assertEqual(one["posted"], str(debits - credits if prefix == "bank" else credits - debits))
            if not members:
                self.assertEqual(told, {})
        everything = self.get("/balances")["balances"][0]
        self.assertEqual((everything["posted"], everything["debits_posted"]), (None, everything["credits_posted"]))
        self.assertEqual(self.get("/balances", prefix="m:4")["balances"][-1]["pending"],
                         str(int(self.get("/balances", prefix="m:4")["balances"][-1]["posted"]) + 5))

    def test_groups_come_in_pages(self):
        whole, _ = self.pages("/balances", "balances", group_by="path:1")
        self.assertEqual({one["group"] for one in whole}, {"bank", "costs", "sales", "m", "m-x", "own"})
        for limit in (1, 2, 5):
            self.assertEqual(self.pages("/balances", "balances", group_by="path:1", limit=limit)[0], whole)
        of_m = {one["currency"]: one["credits_posted"] for one in whole if one["group"] == "m"}
        self.assertEqual(of_m, {one["currency"]: one["credits_posted"] for one in self.get("/balances", prefix="m")["balances"]})

    def statement(self, account, currency, key, begin=None, end=None):
        """[(time, side, amount, balance)], and where it stood before and after."""
        normal = "debit" if TYPES[account] in DEBIT else "credit"
        balance, lines, opening = 0, [], 0
        for move in sorted(self.moves, key=key):
            time = key(move)[0]
            for side, name in (("debit", move[2]), ("credit", move[3])):
                if name != account or move[5] != currency or (end and time >= end):
                    continue
                balance += move[4] if side == normal else -move[4]
                if begin and time < begin:
                    opening = balance
                else:
                    lines.append((side, str(move[4]), str(balance)))
        return str(opening), lines, str(balance)

    def test_statements_are_those_of_their_period_on_either_axis(self):
        def effective(move):
            return move[0], move[1]

        def recorded(move):
            return move[6], move[1]

        for account, currency, by, key, begin, end in (
                ("bank", "USD", "effective", effective, None, None), ("bank", "EUR", "effective", effective, day(5), day(20)),
                ("m:4", "USD", "effective", effective, day(9), day(9)), ("sales", "USD", "recorded", recorded, None, None),
                ("bank", "USD", "recorded", recorded, self.moves[30][6], self.moves[90][6])):
            for limit in (1, 7, 1000):
                with self.subTest(account=account, by=by, begin=begin, end=end, limit=limit):
                    query = {"currency": currency, "by": by, "limit": limit}
                    query |= {name: value for name, value in (("from", begin), ("to", end)) if value}
                    rows, page = self.pages(f"/accounts/{quote(account)}/statement", "lines", **query)
                    opening, lines, closing = self.statement(account, currency, key, begin, end)
                    self.assertEqual([(row["side"], row["amount"], row["balance"]) for row in rows], lines)
                    self.assertEqual((page["opening"], page["closing"]), (opening, closing))

    def test_days_are_summed_by_account(self):
        expected = {}
        for effective, _, debit, credit, amount, currency, _ in self.moves:
            if day(5) <= effective < day(12):
                expected.setdefault((effective[:10], debit, currency), [0, 0])[0] += amount
                expected.setdefault((effective[:10], credit, currency), [0, 0])[1] += amount
        for limit in (1, 10, 1000):
            rows, _ = self.pages("/reports/activity", "days", **{"from": day(5), "to": day(12), "limit": limit})
            told = {(row["date"], row["account"], row["currency"]): [int(row["debits"]), int(row["credits"])] for row in rows}
            self.assertEqual(len(told), len(rows))
            self.assertEqual(told, expected)

    def test_open_holds_are_listed_with_their_end(self):
        (hold,), _ = self.pages("/reports/open_holds", "holds")
        self.assertEqual(hold["id"], "hold-1")
        self.assertGreater(hold["expires_at"], hold["recorded_at"])
        self.assertGreaterEqual(hold["age_s"], 0)

    def test_what_is_wrong_is_said(self):
        self.refused("/reports/none", 404, "not_found")
        self.refused("/accounts/none/statement", 404, "account_not_found")
        self.refused("/accounts/bank/statement", 400, "invalid")
        self.refused("/accounts/bank/statement", 400, "currency_unknown", currency="ZZZ")
        self.refused("/accounts/bank/statement", 400, "invalid", currency="USD", **{"from": day(2), "to": day(1)})
        self.refused("/balances", 400, "invalid", group_by="color")
        self.refused("/balances", 400, "invalid", as_of_seq=1, as_of_recorded=day(1))
        self.refused("/trial_balance", 400, "invalid", as_of_effective="yesterday")
        cursor = self.get("/reports/activity", limit=1)["cursor"]
        self.refused("/balances", 400, "invalid", group_by="path:1", cursor=cursor)
        answer = self.server.request("GET", "/api/v1/ledger/books/none/trial_balance")
        self.assertEqual((answer.status, answer.json()["code"]), (404, "book_not_found"))


def hash_of(book, record):
    """As the reference says, without a line of the server's code."""
    kind, payload = record["kind"].encode(), base64.b64decode(record["payload_base64"])
    return hashlib.sha256(b"\1" + struct.pack(">H", len(book)) + book.encode() + struct.pack(">Q", record["seq"])
                          + bytes.fromhex(record["prev_hash"]) + struct.pack(">H", len(kind)) + kind
                          + struct.pack(">I", len(payload)) + payload).hexdigest()


class Audit(Books):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = tempfile.mkdtemp(prefix="hikyaku-ledger-")
        cls.make("/accounts", {"id": "bank", "type": "asset"})
        cls.make("/accounts", {"id": "shop", "type": "liability", "metadata": {"owner": "ada"}})
        entries = [{"account": "bank", "side": "debit", "amount": "3", "currency": "USD"},
                   {"account": "shop", "side": "credit", "amount": "3", "currency": "USD"}]
        # More than a checkpoint covers: so there is one, without a wait.
        cls.make("/batches", {"items": [{"op": "transaction", "transaction": {"id": f"t{i}", "entries": entries}} for i in range(1100)]})
        cls.move("bank", "shop", 7, id="last", description='a "good", long\nday')

    def export(self, **query):
        text, query = "", {"from_seq": 1} | query
        while True:
            answer = self.call("GET", "/export", **query)
            self.assertEqual(answer.status, 200, answer.body)
            text += answer.body.decode()
            if "Hikyaku-Next-Seq" not in answer.headers:
                return text
            self.assertGreater(int(answer.headers["Hikyaku-Next-Seq"]), query["from_seq"])
            query["from_seq"] = int(answer.headers["Hikyaku-Next-Seq"])

    def file(self, text):
        handle, path = tempfile.mkstemp(dir=self.home)
        with os.fdopen(handle, "w") as out:
            out.write(text)
        return path

    def test_an_outsider_can_check_the_export(self):
        records = [json.loads(line) for line in self.export().splitlines()]
        book = self.get("")
        self.assertEqual([one["seq"] for one in records], list(range(1, len(records) + 1)))
        prev = "0" * 64
        for one in records:
            self.assertEqual(one["prev_hash"], prev)
            self.assertEqual(one["hash"], hash_of("main", one))
            prev = one["hash"]
        self.assertEqual((len(records), prev), (book["last_seq"], book["last_hash"]))
        self.assertIn("checkpoint", {one["kind"] for one in records})

    def test_a_proof_is_checked_with_the_public_key_alone(self):
        proof = self.get("/proofs/t17")
        node = hashlib.sha256(b"\0" + bytes.fromhex(proof["hash"])).digest()
        for step in proof["path"]:
            sibling = bytes.fromhex(step["hash"])
            node = hashlib.sha256(b"\1" + (sibling + node if step["side"] == "left" else node + sibling)).digest()
        checkpoint = proof["checkpoint"]
        self.assertEqual(node.hex(), checkpoint["root"])
        self.assertEqual(proof["seq"], checkpoint["first_seq"] + proof["index"])
        text = "\n".join(("hikyaku-checkpoint-v1", "main", str(checkpoint["first_seq"]), str(checkpoint["last_seq"]),
                          checkpoint["root"], checkpoint["last_hash"], ""))
        key = bytes.fromhex("302a300506032b6570032100") + base64.b64decode(self.get("")["public_key"])
        names = {}
        for name, content in (("key", key), ("text", text.encode()), ("signature", base64.b64decode(checkpoint["signature"]))):
            names[name] = os.path.join(self.home, name)
            with open(names[name], "wb") as out:
                out.write(content)
        checked = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", names["key"], "-keyform", "DER", "-rawin",
                                  "-in", names["text"], "-sigfile", names["signature"]], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.refused("/proofs/none", 404, "transaction_not_found")
        self.refused("/proofs/last", 404, "not_found")

    def test_verify_finds_nothing_and_is_remembered(self):
        last = self.get("")["last_seq"]
        told = self.make("/verify", {})
        self.assertEqual((told["ok"], told["from_seq"], told["to_seq"], told["records"], told["faults"]), (True, 1, last, last, []))
        self.assertEqual(told["head"], self.get("")["last_hash"])
        kept = self.get("/reports/integrity")
        self.assertEqual({name: kept[name] for name in told}, told)
        part = self.make("/verify", {"from_seq": 5, "to_seq": 9})
        self.assertEqual((part["ok"], part["records"]), (True, 5))
        self.refused("/verify", 400, "invalid", {"from_seq": last + 1})
        self.refused("/verify", 400, "invalid", {"to_seq": last + 1})
        self.refused("/verify", 400, "invalid", {"from_seq": 9, "to_seq": 5})
        answer = self.server.request("POST", "/api/v1/ledger/-/verify", "{}", {"Idempotency-Key": "k"})
        self.assertEqual((answer.status, answer.json()["code"]), (400, "idempotency_key_not_taken"))

    def test_entries_are_exported_as_json_and_csv(self):
        lines = [json.loads(line) for line in self.export(kind="entries").splitlines()]
        self.assertEqual(len(lines), 2202)
        rows = list(csv.DictReader(io.StringIO(self.export(kind="entries", format="csv", from_seq=1))))
        self.assertEqual([(row["transaction"], row["amount"]) for row in rows], [(one["transaction"], one["amount"]) for one in lines])
        self.assertEqual(rows[-1]["description"], 'a "good", long\nday')
        self.assertEqual(self.export(kind="entries", effective_to="2020-01-01T00:00:00Z"), "")
        part = self.export(from_seq=10, to_seq=20).splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in part], list(range(10, 21)))

    def test_a_file_is_verified_without_a_server(self):
        text = self.export()
        good = run_binary("ledger", "verify", "--file", self.file(text))
        self.assertEqual((good.returncode, good.stdout), (0, f"main: {text.count(chr(10))} records, no fault\n"), good.stderr)
        lines = text.splitlines(keepends=True)
        one = json.loads(lines[700])
        payload = bytearray(base64.b64decode(one["payload_base64"]))
        payload[-1] ^= 1
        flipped = lines[:700] + [json.dumps(one | {"payload_base64": base64.b64encode(payload).decode()}) + "\n"] + lines[701:]
        swapped = lines[:500] + [lines[501], lines[500]] + lines[502:]
        said = lines[:700] + [lines[700].replace('"amount":"3"', '"amount":"4"')] + lines[701:]
        for name, bad in (("flipped", flipped), ("missing", lines[:30] + lines[31:]), ("swapped", swapped), ("said", said)):
            with self.subTest(name):
                got = run_binary("ledger", "verify", "--file", self.file("".join(bad)))
                self.assertEqual(got.returncode, 4, got.stdout + got.stderr)
        self.assertEqual(run_binary("ledger", "verify", "--file", self.file("")).returncode, 2)
        self.assertEqual(run_binary("ledger", "verify", "--file", self.file("not json\n")).returncode, 4)

    def test_the_command_line_and_a_stopped_directory(self):
        def run(*words):
            return self.server.cli("ledger", *words)

        out = os.path.join(self.home, "cli.jsonl")
        self.assertEqual(run("export", "--out", out).returncode, 0)
        with open(out) as written:
            text = written.read()
        self.assertEqual(text, self.export())
        rows = list(csv.reader(io.StringIO(run("export", "--kind", "entries", "--format", "csv").stdout)))
        self.assertEqual((len(rows), sum(row[0] == "seq" for row in rows)), (2203, 1))
        self.assertIn("no fault", run("verify").stdout)
        self.assertIn("bank", run("accounts").stdout)
        self.assertIn("USD  posted 3307", run("balances", "shop").stdout)
        self.assertIn("accounts 1", run("balances", "--prefix", "shop").stdout)
        self.assertIn("last", run("transactions", "--limit", "1").stdout)
        self.assertEqual(run("statement", "shop", "--currency", "USD").stdout.count("\n"), 1103)
        self.assertIn("USD  debits 3307  credits 3307", run("report", "trial_balance").stdout)
        self.assertEqual(run("report", "none").returncode, 1)

        other = Server()
        self.addCleanup(other.close)
        other.start()
        made = other.request("POST", "/api/v1/ledger/-/accounts", json.dumps({"id": "a", "type": "asset"}))
        self.assertEqual(made.status, 201)
        exported = other.get("/api/v1/ledger/-/export").body.decode()
        self.assertEqual(other.terminate(), 0)
        got = run("verify", "--data", other.data)
        self.assertEqual((got.returncode, got.stdout), (0, "default/main: 2 records, no fault\n"), got.stderr)
        self.assertEqual(run("export", "--data", other.data).stdout, exported)
        self.assertEqual(run("export", "--data", other.data, "--book", "none").returncode, 2)
        self.assertEqual(run("verify", "--data", os.path.join(self.home, "none")).returncode, 1)


if __name__ == "__main__":
    unittest.main()
