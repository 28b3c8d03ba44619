"""An account compared with a bank's statement, by the real server."""
import json
import os
import tempfile
import unittest

from harness import Server

LINES = "/recon/sources/bank/lines"


def line(name, amount, day, **more):
    return {"external_id": name, "date": f"2026-01-{day:02}", "amount": str(amount), "currency": "USD", **more}


class Recon(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()
        for name, kind in (("cash", "asset"), ("sales", "revenue"), ("fees", "expense")):
            self.made("/accounts", {"id": name, "type": kind})
        self.moved("t1", "cash", "sales", 100, 3, reference="INV-1")
        self.moved("t2", "cash", "sales", 50, 4)
        self.moved("t3", "cash", "sales", 7, 6)
        self.moved("t4", "cash", "sales", 8, 7)
        self.moved("t5", "fees", "cash", 9, 8)

    def call(self, method, path, body=None):
        return self.server.request(method, f"/api/v1/ledger/-{path}", None if body is None else json.dumps(body))

    def made(self, path, body, method="POST"):
        answer = self.call(method, path, body)
        self.assertIn(answer.status, (200, 201), answer.body)
        return answer.json()

    def moved(self, name, debit, credit, amount, day, **more):
        self.made("/transactions", {"id": name, "effective_at": f"2026-01-{day:02}T10:00:00Z", "entries": [
            {"account": debit, "side": "debit", "amount": amount, "currency": "USD"},
            {"account": credit, "side": "credit", "amount": amount, "currency": "USD"}], **more})

    def source(self, **more):
        return self.made("/recon/sources/bank", {"account": "cash", "currency": "USD", **more}, "PUT")

    def imported(self, *lines):
        answer = self.made(LINES, {"lines": lines})
        return tuple(answer[name] for name in ("imported", "duplicates", "matched", "proposed"))

    def states(self):
        return {one["external_id"]: (one["state"], one["rule"], [(entry["transaction"], entry["index"]) for entry in one["entries"]])
                for one in self.call("GET", LINES).json()["lines"]}

    def decide(self, name, action, *entries):
        body = {"source": "bank", "external_id": name, "action": action}
        if entries:
            body["entries"] = [{"transaction": transaction, "index": index} for transaction, index in entries]
        answer = self.call("POST", "/recon/matches", body)
        return answer.status, answer.json().get("code", answer.json().get("state"))

    def test_a_statement_is_matched_by_rules_and_by_hand(self):
        self.assertEqual(self.source()["window_days"], 3)
        balance = self.call("GET", "/accounts/cash/balances").json()
        lines = (line("a", 100, 20, reference="INV-1"), line("b", 50, 5), line("c", 15, 6), line("d", -2, 9, text="fee"))
        self.assertEqual(self.imported(*lines), (4, 0, 2, 1))
        self.assertEqual(self.states(), {"a": ("matched", "reference", [("t1", 0)]), "b": ("matched", "amount_date", [("t2", 0)]),
                                         "c": ("proposed", "several", [("t3", 0), ("t4", 0)]), "d": ("unmatched", None, [])})
        self.server.kill()
        self.server.start()
        self.assertEqual(self.imported(*lines), (0, 4, 0, 1))
        self.assertEqual(self.decide("c", "match"), (200, "matched"))
        self.assertEqual(self.decide("c", "match", ("t3", 0)), (409, "already_matched"))
        self.assertEqual(self.decide("d", "match", ("t5", 1)), (409, "match_differs"))
        self.assertEqual(self.decide("d", "ignore"), (200, "ignored"))
        self.assertEqual(self.decide("d", "unmatch"), (200, "unmatched"))
        self.moved("t6", "fees", "cash", 2, 9)
        self.assertEqual(self.imported(lines[3]), (0, 1, 1, 0))
        self.assertEqual(self.decide("b", "unmatch"), (200, "unmatched"))
        report = self.call("GET", "/recon/report?source=bank&from=2026-01-01&to=2026-01-31").json()["days"]
        self.assertEqual({day["date"][8:]: (day["matched"], day["unmatched_lines"], day["unmatched_entries"], day["lines_total"],
                                            day["ledger_total"], day["difference"]) for day in report},
                         {"03": (0, 0, 0, "0", "100", "-100"), "04": (0, 0, 1, "0", "50", "-50"), "05": (0, 1, 0, "50", "0", "50"),
                          "06": (1, 0, 0, "15", "7", "8"), "07": (0, 0, 0, "0", "8", "-8"), "08": (0, 0, 1, "0", "-9", "9"),
                          "09": (1, 0, 0, "-2", "-2", "0"), "20": (1, 0, 0, "100", "0", "100")})
        pages, query = [], "source=bank&limit=2&to=2026-01-31"
        while query:
            page = self.call("GET", "/recon/report?from=2026-01-01&" + query).json()
            pages += page["days"]
            query = f"source=bank&limit=2&to=2026-01-31&cursor={page['cursor']}" if "cursor" in page else None
        self.assertEqual(pages, report)
        listed, query = [], "limit=1"
        while query:
            page = self.call("GET", f"{LINES}?{query}").json()
            listed += [one["external_id"] for one in page["lines"]]
            query = f"limit=1&cursor={page['cursor']}" if "cursor" in page else None
        self.assertEqual(listed, ["b", "c", "d", "a"])
        self.assertEqual([one["external_id"] for one in self.call("GET", LINES + "?state=unmatched").json()["lines"]], ["b"])
        self.assertEqual([one["external_id"] for one in self.call("GET", LINES + "?from=2026-01-06&to=2026-01-09").json()["lines"]], ["c", "d"])
        kinds = [one["kind"] for one in self.call("GET", "/records?limit=1000").json()["records"]]
        self.assertEqual((kinds.count("recon_source"), kinds.count("reconciliation")), (1, 6))
        self.assertNotEqual(self.call("GET", "/accounts/cash/balances").json(), balance)
        self.assertTrue(self.call("POST", "/verify", {}).json()["ok"])

    def test_what_is_wrong_is_said(self):
        self.source()
        self.assertEqual(self.imported(line("a", 5, 3)), (1, 0, 0, 0))
        good = line("b", 5, 3)
        without = {name: value for name, value in good.items() if name != "date"}
        rows = (
            ("PUT", "/recon/sources/x", {"account": "cash"}, 400, "invalid"),
            ("PUT", "/recon/sources/x", {"account": "none", "currency": "USD"}, 404, "account_not_found"),
            ("PUT", "/recon/sources/x", {"account": "cash", "currency": "ZZZ"}, 400, "currency_unknown"),
            ("PUT", "/recon/sources/x", {"account": "cash", "currency": "USD", "window_days": 61}, 400, "invalid"),
            ("PUT", "/recon/sources/x", {"account": "cash", "currency": "USD", "window_days": -1}, 400, "invalid"),
            ("PUT", "/recon/sources/x", {"account": "cash", "currency": "USD", "auto": 1}, 400, "invalid"),
            ("PUT", "/recon/sources/x", {"account": "cash", "currency": "USD", "color": 1}, 400, "invalid"),
            ("PUT", "/recon/sources/bank", {"account": "fees", "currency": "USD"}, 409, "exists_with_different_account"),
            ("POST", "/recon/sources/none/lines", {"lines": [good]}, 404, "source_not_found"),
            ("POST", LINES, {}, 400, "invalid"),
            ("POST", LINES, {"lines": []}, 400, "invalid"),
            ("POST", LINES, {"lines": {}}, 400, "invalid"),
            ("POST", LINES, {"lines": [without]}, 400, "invalid"),
            ("POST", LINES, {"lines": [{**good, "date": "2026-02-30"}]}, 400, "invalid"),
            ("POST", LINES, {"lines": [{**good, "date": "2026-01-03T00:00:00Z"}]}, 400, "invalid"),
            ("POST", LINES, {"lines": [{**good, "amount": "1.5"}]}, 400, "amount_invalid"),
            ("POST", LINES, {"lines": [{**good, "amount": "0"}]}, 400, "amount_invalid"),
            ("POST", LINES, {"lines": [{**good, "currency": "EUR"}]}, 400, "currency_mismatch"),
            ("POST", LINES, {"lines": [{**good, "color": 1}]}, 400, "invalid"),
            ("POST", LINES, {"lines": [good] * 501}, 400, "invalid"),
            ("POST", LINES, {"lines": [good] * 600}, 400, "invalid"),
            ("POST", LINES, {"lines": [good, line("a", 6, 3)]}, 409, "line_exists_with_different_amount"),
            ("POST", "/recon/matches", {"source": "bank"}, 400, "invalid"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "a", "action": "marry"}, 400, "invalid"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "z", "action": "ignore"}, 404, "line_not_found"),
            ("POST", "/recon/matches", {"source": "none", "external_id": "a", "action": "ignore"}, 404, "source_not_found"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "a", "action": "match"}, 400, "invalid"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "a", "action": "match", "entries": [{"transaction": "t1"}]},
             400, "invalid"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "a", "action": "match",
                                        "entries": [{"transaction": "t9", "index": 0}]}, 404, "transaction_not_found"),
            ("POST", "/recon/matches", {"source": "bank", "external_id": "a", "action": "match",
                                        "entries": [{"transaction": "t1", "index": 1}]}, 400, "invalid"),
            ("GET", "/recon/sources/none/lines", None, 404, "source_not_found"),
            ("GET", LINES + "?state=lost", None, 400, "invalid"),
            ("GET", LINES + "?from=yesterday", None, 400, "invalid"),
            ("GET", LINES + "?cursor=x", None, 400, "invalid"),
            ("GET", "/recon/report", None, 400, "invalid"),
            ("GET", "/recon/report?source=none", None, 404, "source_not_found"),
            ("GET", "/recon/report?source=bank&from=2026-02-01&to=2026-01-01", None, 400, "invalid"),
            ("GET", "/recon/report?source=bank&cursor=x", None, 400, "invalid"),
        )
        for method, path, body, status, code in rows:
            with self.subTest(path=path, body=str(body)[:100]):
                answer = self.call(method, path, body)
                self.assertEqual((answer.status, answer.json().get("code")), (status, code), answer.body)
        self.assertEqual(list(self.states()), ["a"])

    def test_the_command_line(self):
        def run(*words):
            return self.server.cli("ledger", "recon", *words)

        with tempfile.TemporaryDirectory() as home:
            path = os.path.join(home, "lines.jsonl")
            with open(path, "w") as out:
                for one in (line("a", 100, 20, reference="INV-1"), line("b", 50, 5), line("c", 15, 6)):
                    out.write(json.dumps(one) + "\n")
            self.assertEqual(run("source", "bank", "--account", "cash", "--currency", "USD").stdout, "bank  cash USD\n")
            self.assertEqual(run("import", "bank", "--file", path).stdout, "imported 3  duplicates 0  matched 2  proposed 1\n")
            self.assertIn("proposed  several t3/0 t4/0", run("lines", "bank", "--state", "proposed").stdout)
            self.assertEqual(run("decide", "bank", "match", "c").stdout, "c  matched\n")
            self.assertEqual(run("decide", "bank", "unmatch", "b").stdout, "b  unmatched\n")
            self.assertEqual(run("decide", "bank", "match", "b", "--entry", "t2/0").stdout, "b  matched\n")
            self.assertIn("2026-01-05  matched 1", run("report", "bank").stdout)
            self.assertEqual(run("decide", "bank", "match", "z").returncode, 1)
            self.assertEqual(run("import", "bank", "--file", os.path.join(home, "none")).returncode, 2)
            with open(path, "w") as out:
                out.write("no json\n")
            self.assertEqual(run("import", "bank", "--file", path).returncode, 2)


if __name__ == "__main__":
    unittest.main()
