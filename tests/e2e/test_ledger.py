"""The ledger by the real server: money that adds up, told in the same words after a kill and a restart."""
import base64
import hashlib
import json
import struct
import threading
import unittest

from harness import Receiver, Server, wait_for

PATH = "/api/v1/ledger/-"


def entry(account, side, amount, currency="USD", **more):
    return {"account": account, "side": side, "amount": amount, "currency": currency, **more}


def transfer(debit, credit, amount, currency="USD", **more):
    return {"entries": [entry(debit, "debit", amount, currency), entry(credit, "credit", amount, currency)], **more}


class LedgerCase(unittest.TestCase):
    FLAGS = ()

    def setUp(self):
        self.server = Server(*self.FLAGS)
        self.addCleanup(self.server.close)
        self.server.start()

    def call(self, method, path, body=None, status=200, headers=None, token=None):
        options = {} if token is None else {"token": token}
        answer = self.server.request(method, PATH + path if not path.startswith("/api/") else path,
                                     None if body is None else json.dumps(body), headers, **options)
        self.assertEqual(answer.status, status, answer.body[:2000])
        return answer.json()

    def refused(self, method, path, body, status, code, **members):
        told = self.call(method, path, body, status)
        self.assertEqual(told["code"], code, told)
        self.assertEqual({name: told.get(name) for name in members}, members, told)
        return told

    def account(self, name, kind="asset", **more):
        return self.call("POST", "/accounts", {"id": name, "type": kind, **more}, 201)

    def available(self, account, currency="USD", query=""):
        rows = self.call("GET", f"/accounts/{account}/balances?currency={currency}{query}")["balances"]
        return rows[0]["available"]

    def admin(self):
        return self.server.operator()


class Books(LedgerCase):
    def test_main_is_there_and_others_are_made(self):
        main = self.call("GET", "")
        self.assertEqual((main["object"], main["id"], main["closed_through"]), ("ledger_book", "main", None))
        self.assertEqual(len(base64.b64decode(main["public_key"])), 32)
        self.assertEqual(self.call("GET", "/api/v1/ledger/books/main"), main)
        body = {"id": "eu", "name": "Europe", "metadata": {"owner": "finance"}, "indexed": ["order"]}
        made = self.call("POST", "/api/v1/ledger/books", body, 201)
        self.assertEqual((made["name"], made["metadata"], made["indexed"], made["last_seq"]), ("Europe", {"owner": "finance"}, ["order"], 1))
        self.assertTrue(self.call("POST", "/api/v1/ledger/books", body, 200)["replayed"])
        self.refused("POST", "/api/v1/ledger/books", {**body, "name": "x"}, 409, "exists_with_different_name")
        changed = self.call("PATCH", "/api/v1/ledger/books/eu", {"name": "EU", "metadata": {"owner": None, "a": "b"}})
        self.assertEqual((changed["name"], changed["metadata"], changed["last_seq"]), ("EU", {"a": "b"}, 2))
        self.assertEqual(self.call("GET", "/api/v1/ledger/books/eu?as_of_seq=1")["metadata"], {"owner": "finance"})
        listed = self.call("GET", "/api/v1/ledger/books?limit=1")
        self.assertEqual([b["id"] for b in listed["books"]], ["main"])
        rest = self.call("GET", f"/api/v1/ledger/books?limit=1&cursor={listed['cursor']}")
        self.assertEqual(([b["id"] for b in rest["books"]], "cursor" in rest), (["eu"], False))
        self.refused("GET", "/api/v1/ledger/books/none", None, 404, "book_not_found")
        self.refused("POST", "/api/v1/ledger/books/none/accounts", {"type": "asset"}, 404, "book_not_found")

    def test_currencies(self):
        self.assertEqual(self.call("POST", "/currencies", {"code": "POINTS", "exponent": 0}, 201),
                         {"object": "ledger_currency", "code": "POINTS", "exponent": 0, "replayed": False})
        self.call("POST", "/currencies", {"code": "POINTS", "exponent": 0}, 200)
        self.refused("POST", "/currencies", {"code": "POINTS", "exponent": 2}, 409, "exists_with_different_exponent")
        known = {one["code"]: one["exponent"] for one in self.call("GET", "/currencies")["currencies"]}
        self.assertEqual((known["USD"], known["JPY"], known["BHD"], known["POINTS"]), (2, 0, 3, 0))

    def test_a_closed_period_stays_as_it_is(self):
        self.account("a"), self.account("b", "revenue")
        self.call("POST", "/transactions", transfer("a", "b", "5", effective_at="2026-01-15T00:00:00Z"), 201)
        closed = self.call("POST", "/close", {"through": "2026-01-31T23:59:59.999999999Z"})
        self.assertEqual(closed["closed_through"], "2026-01-31T23:59:59.999999999Z")
        late = transfer("a", "b", "5", effective_at="2026-01-31T00:00:00Z")
        self.refused("POST", "/transactions", late, 409, "period_closed", closed_through="2026-01-31T23:59:59.999999999Z")
        self.refused("POST", "/close", {"through": None}, 400, "invalid", member="reason")
        self.assertIsNone(self.call("POST", "/close", {"through": None, "reason": "found an invoice"})["closed_through"])
        self.call("POST", "/transactions", late, 201)


class Accounts(LedgerCase):
    def test_an_account_is_made_once_and_changed(self):
        body = {"id": "cash", "path": "bank:cash", "type": "asset", "currency": "USD", "limits": {"USD": {"min_available": "0"}}, "metadata": {"k": "v"}}
        made = self.call("POST", "/accounts", body, 201)
        self.assertEqual({name: made[name] for name in ("object", "id", "path", "type", "normal_side", "currency", "limits", "state", "metadata", "replayed")},
                         {"object": "ledger_account", "id": "cash", "path": "bank:cash", "type": "asset", "normal_side": "debit", "currency": "USD",
                          "limits": {"USD": {"min_available": "0", "max_balance": None}}, "state": "open", "metadata": {"k": "v"}, "replayed": False})
        self.assertRegex(made["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
        self.assertEqual(self.call("POST", "/accounts", body, 200), {**made, "replayed": True})
        self.refused("POST", "/accounts", {**body, "type": "liability"}, 409, "exists_with_different_type")
        self.refused("POST", "/accounts", {"id": "bank:cash", "type": "asset"}, 409, "exists_with_different_id")
        self.assertEqual(self.call("GET", "/accounts/bank:cash"), made)
        changed = self.call("PATCH", "/accounts/bank:cash", {"limits": {"USD": {"max_balance": 1000}}, "metadata": {"k": None, "l": "w"}})
        self.assertEqual((changed["limits"], changed["metadata"]), ({"USD": {"min_available": "0", "max_balance": "1000"}}, {"l": "w"}))
        self.assertEqual(self.call("PATCH", "/accounts/cash", {"limits": {"USD": None}})["limits"], {})
        self.assertEqual(self.call("GET", f"/accounts/cash?as_of_seq={made['seq']}")["metadata"], {"k": "v"})
        self.refused("GET", "/accounts/none", None, 404, "account_not_found", account="none")
        self.refused("PATCH", "/accounts/none", {"state": "frozen"}, 404, "account_not_found")
        self.assertTrue(self.call("POST", "/accounts", {"type": "equity"}, 201)["id"].startswith("lac_"))

    def test_states(self):
        self.account("a"), self.account("b", "liability")
        self.call("POST", "/transactions", transfer("a", "b", 5), 201)
        self.refused("PATCH", "/accounts/a", {"state": "closed"}, 409, "account_not_empty", account="a", currency="USD")
        self.assertEqual(self.call("PATCH", "/accounts/a", {"state": "frozen"})["state"], "frozen")
        self.refused("POST", "/transactions", transfer("a", "b", 5), 409, "account_frozen", account="a")
        self.call("PATCH", "/accounts/a", {"state": "open"})
        self.call("POST", "/transactions", transfer("b", "a", 5), 201)
        self.assertEqual(self.call("PATCH", "/accounts/a", {"state": "closed"})["state"], "closed")
        self.refused("POST", "/transactions", transfer("a", "b", 5), 409, "account_closed", account="a")

    def test_the_list_has_filters_and_pages(self):
        self.call("PATCH", "", {"indexed": ["tier"]})
        for i in range(7):
            self.account(f"m{i}", "liability", path=f"merchant:{i}:pending", metadata={"tier": "gold" if i % 2 else "tin"})
        self.account("merchant:1", "asset"), self.account("x", "revenue")
        self.call("POST", "/transactions", transfer("x", "m3", 70), 201)
        ids = lambda query: [a["id"] for a in self.call("GET", "/accounts?" + query)["accounts"]]  # noqa: E731
        self.assertEqual(ids(""), [f"m{i}" for i in range(7)] + ["merchant:1", "x"])
        self.assertEqual(ids("prefix=merchant:1"), ["m1", "merchant:1"])
        self.assertEqual(ids("type=asset"), ["merchant:1"])
        self.assertEqual(ids("metadata%5Btier%5D=gold"), ["m1", "m3", "m5"])
        self.assertEqual(ids("currency=USD&available_gte=70"), ["m3"])
        self.assertEqual(ids("currency=USD&available_lt=0"), ["x"])
        self.refused("GET", "/accounts?metadata%5Bother%5D=1", None, 400, "invalid")
        self.refused("GET", "/accounts?available_gte=1", None, 400, "invalid")
        seen, cursor = [], ""
        while cursor is not None:
            page = self.call("GET", f"/accounts?limit=2{cursor and '&cursor=' + cursor}")
            self.assertLessEqual(len(page["accounts"]), 2)
            seen += [a["id"] for a in page["accounts"]]
            cursor = page.get("cursor")
        self.assertEqual(seen, ids(""))


class Transactions(LedgerCase):
    def setUp(self):
        super().setUp()
        self.account("cash"), self.account("sales", "revenue"), self.account("due", "liability")

    def test_a_transaction_is_told_whole(self):
        body = {**transfer("cash", "sales", "340282366920938463463374607431768211455", description="d", reference="inv-7"),
                "id": "t1", "metadata": {"order": "7"}, "effective_at": "2026-01-02T03:04:05.123456789Z"}
        body["entries"][0]["metadata"] = {"line": "1"}
        told = self.call("POST", "/transactions?balances=1", body, 201)
        self.assertEqual(told["object"], "ledger_transaction")
        self.assertEqual([told[m] for m in ("id", "kind", "state", "effective_at", "description", "reference", "metadata", "replayed", "resolved_by", "reversed_by", "parent")],
                         ["t1", "posted", "posted", "2026-01-02T03:04:05.123456789Z", "d", "inv-7", {"order": "7"}, False, [], [], None])
        self.assertEqual(told["entries"][0], {"index": 0, "account": "cash", "side": "debit", "amount": "340282366920938463463374607431768211455",
                                              "currency": "USD", "metadata": {"line": "1"}})
        self.assertEqual([(r["account"], r["available"], r["version"]) for r in told["balances_after"]],
                         [("cash", "340282366920938463463374607431768211455", 1), ("sales", "340282366920938463463374607431768211455", 1)])
        again = self.call("POST", "/transactions", body, 200)
        del told["balances_after"]
        self.assertEqual(again, {**told, "replayed": True})
        self.assertEqual(self.call("GET", "/transactions/t1"), told)
        self.refused("POST", "/transactions", {**body, "description": "e"}, 409, "exists_with_different_description")
        self.refused("POST", "/transactions", transfer("cash", "sales", 1), 409, "limit_exceeded", account="cash",
                     limit="340282366920938463463374607431768211455")
        changed = self.call("PATCH", "/transactions/t1/metadata", {"metadata": {"order": None, "paid": "yes"}})
        self.assertEqual((changed["metadata"], changed["seq"]), ({"paid": "yes"}, told["seq"]))
        self.assertEqual(self.call("GET", f"/transactions/t1?as_of_seq={told['seq']}")["metadata"], {"order": "7"})
        self.refused("GET", "/transactions/none", None, 404, "transaction_not_found", transaction="none")

    def test_refusals_say_what_is_wrong(self):
        unbalanced = {"entries": [entry("cash", "debit", 5), entry("sales", "credit", "4")]}
        self.refused("POST", "/transactions", unbalanced, 400, "unbalanced", currency="USD", debits="5", credits="4")
        self.refused("POST", "/transactions", {"entries": [entry("cash", "debit", 5)]}, 400, "unbalanced")
        self.refused("POST", "/transactions", transfer("cash", "sales", "5.0"), 400, "amount_invalid", member="entries[0].amount")
        self.refused("POST", "/transactions", transfer("cash", "sales", 0), 400, "amount_invalid")
        self.refused("POST", "/transactions", transfer("cash", "sales", 1, "XYZW"), 400, "currency_unknown", currency="XYZW")
        self.refused("POST", "/transactions", transfer("cash", "none", 1), 404, "account_not_found", account="none")
        self.refused("POST", "/transactions", {**transfer("cash", "sales", 1), "effective_at": "soon"}, 400, "effective_at_invalid")
        self.refused("POST", "/transactions", {**transfer("cash", "sales", 1), "effective_at": "2099-01-01T00:00:00Z"}, 400, "effective_at_invalid")
        self.call("PATCH", "/accounts/cash", {"limits": {"USD": {"min_available": "-10"}}})
        self.refused("POST", "/transactions", transfer("sales", "cash", 11), 409, "insufficient_funds", account="cash", currency="USD", limit="-10", value="-11")
        condition = {"account": "cash", "currency": "USD", "balance": "posted", "at": "before", "gt": "0"}
        self.refused("POST", "/transactions", {**transfer("cash", "sales", 1), "conditions": [condition]}, 409, "condition_failed", account="cash", actual="0")
        version = {"account": "cash", "currency": "USD", "expect_version": 4}
        self.refused("POST", "/transactions", {**transfer("cash", "sales", 1), "conditions": [version]}, 409, "version_conflict", actual=0)
        self.account("euro", currency="EUR")
        self.refused("POST", "/transactions", transfer("euro", "sales", 1), 400, "currency_mismatch", account="euro")
        self.assertEqual(self.call("GET", "/transactions")["transactions"], [])

    def test_a_preview_writes_nothing(self):
        before = self.call("GET", "")["last_seq"]
        told = self.call("POST", "/transactions/preview", transfer("cash", "sales", 7))
        self.assertEqual((told["entries"][1]["amount"], told["state"]), ("7", "posted"))
        self.assertEqual([r["available"] for r in told["balances_after"]], ["7", "7"])
        self.assertEqual({"seq", "hash"} & set(told), set())
        self.refused("POST", "/transactions/preview", transfer("cash", "none", 7), 404, "account_not_found")
        self.assertEqual((self.call("GET", "")["last_seq"], self.available("cash")), (before, "0"))

    def test_a_hold_is_posted_in_parts_and_voided(self):
        hold = self.call("POST", "/transactions?balances=1", {**transfer("cash", "due", 100), "kind": "pending", "id": "h", "timeout": "1h"}, 201)
        self.assertEqual((hold["state"], hold["balances_after"][0]["posted"], hold["balances_after"][0]["pending"]), ("pending", "0", "100"))
        part = self.call("POST", "/transactions/h/post", {"amounts": ["30", "30"], "final": False, "id": "p1"}, 201)
        self.assertEqual((part["resolves"], part["kind"], part["entries"][0]["amount"]), ("h", "posted", "30"))
        self.assertEqual(self.call("GET", "/transactions/h")["state"], "partially_posted")
        self.refused("POST", "/transactions/h/post", {"amounts": ["71", "71"]}, 409, "exceeds_hold", left=["70", "70"])
        void = self.call("POST", "/transactions/h/void", {}, 201)
        self.assertEqual((void["kind"], void["resolves"]), ("void", "h"))
        told = self.call("GET", "/transactions/h")
        self.assertEqual((told["state"], told["resolved_by"]), ("voided", ["p1", void["id"]]))
        self.refused("POST", "/transactions/h/post", {}, 409, "already_voided")
        self.refused("POST", "/transactions/p1/post", {}, 409, "not_pending")
        self.assertTrue(self.call("POST", "/transactions/h/post", {"amounts": ["30", "30"], "final": False, "id": "p1"}, 200)["replayed"])
        self.assertEqual(self.available("cash"), "30")

    def test_a_hold_expires(self):
        self.call("POST", "/transactions", {**transfer("cash", "due", 100), "kind": "pending", "id": "h", "timeout": 1}, 201)
        wait_for(lambda: self.call("GET", "/transactions/h")["state"] == "expired", "the hold to expire")
        self.refused("POST", "/transactions/h/post", None, 409, "expired")

    def test_a_reversal_takes_back_at_most_once(self):
        self.call("POST", "/transactions", {**transfer("cash", "sales", 100), "id": "t"}, 201)
        part = self.call("POST", "/transactions/t/reverse", {"amounts": ["40", "40"]}, 201)
        self.assertEqual((part["reverses"], [e["side"] for e in part["entries"]]), ("t", ["credit", "debit"]))
        self.refused("POST", "/transactions/t/reverse", None, 409, "already_reversed", reversible=["60", "60"])
        self.call("POST", "/transactions/t/reverse", {"amounts": ["60", "60"], "effective_at": "original"}, 201)
        self.assertEqual(len(self.call("GET", "/transactions/t")["reversed_by"]), 2)
        self.assertEqual(self.available("cash"), "0")
        self.refused("POST", "/transactions/none/reverse", None, 404, "transaction_not_found")

    def test_force_needs_the_operators_token(self):
        self.call("POST", "/transactions", {**transfer("cash", "due", 100), "id": "t"}, 201)
        self.account("out", "expense")
        self.call("POST", "/transactions", transfer("out", "cash", 100), 201)
        self.call("PATCH", "/accounts/cash", {"limits": {"USD": {"min_available": "0"}}})
        self.refused("POST", "/transactions/t/reverse", {}, 409, "insufficient_funds")
        self.refused("POST", "/transactions/t/reverse", {"force": True}, 403, "permission_denied")
        batch = {"items": [{"op": "reverse", "of": "t", "force": True}]}
        self.assertEqual(self.call("POST", "/batches", batch)["results"][0]["status"], 403)
        token, tenant = self.admin()
        told = self.call("POST", "/transactions/t/reverse", {"force": True}, 201, headers=tenant, token=token)
        self.assertTrue(told["force"])
        self.assertEqual(self.available("cash"), "-100")

    def test_amounts_that_are_worked_out(self):
        self.call("POST", "/transactions", transfer("cash", "sales", 101), 201)
        for name in ("p", "q", "r"):
            self.account(name, "expense")
        told = self.call("POST", "/transactions", {"entries": [
            {"side": "debit", "currency": "USD", "amount": 101, "split": [
                {"account": "p", "percent": "12.5"}, {"account": "q", "percent": "50"}, {"account": "r", "remainder": True}]},
            {"account": "cash", "side": "credit", "amount": "all", "currency": "USD"}]}, 201)
        self.assertEqual(sum(int(e["amount"]) for e in told["entries"] if e["side"] == "debit"), 101)
        self.assertEqual([e["amount"] for e in told["entries"] if e["side"] == "credit"], ["101"])
        self.assertEqual(self.available("cash"), "0")


class Time(LedgerCase):
    def test_balances_on_both_axes(self):
        self.account("a"), self.account("b", "equity")
        first = self.call("POST", "/transactions", transfer("a", "b", 100, effective_at="2026-01-10T00:00:00Z"), 201)
        second = self.call("POST", "/transactions", transfer("a", "b", 10, effective_at="2026-01-05T00:00:00Z"), 201)
        at = lambda query: self.available("a", query="&" + query)  # noqa: E731
        self.assertEqual(at("as_of_effective=2026-01-04T23:59:59Z"), "0")
        self.assertEqual(at("as_of_effective=2026-01-05T00:00:00Z"), "10")
        self.assertEqual(at("as_of_effective=2026-01-10T00:00:00Z"), "110")
        self.assertEqual(at(f"as_of_seq={first['seq']}"), "100")
        self.assertEqual(at(f"as_of_recorded={first['recorded_at']}"), "100")
        self.assertEqual(at(f"as_of_recorded={second['recorded_at']}"), "110")
        self.assertEqual(at(f"as_of_seq={first['seq']}&as_of_effective=2026-01-07T00:00:00Z"), "0")
        self.refused("GET", f"/accounts/a/balances?as_of_seq=1&as_of_recorded={first['recorded_at']}", None, 400, "invalid")
        self.assertEqual(self.call("GET", "/accounts/a/balances?currency=EUR")["balances"],
                         [{"currency": "EUR", "debits_posted": "0", "credits_posted": "0", "debits_pending": "0", "credits_pending": "0",
                           "posted": "0", "pending": "0", "available": "0", "version": 0}])
        self.assertEqual(self.call("GET", "/accounts/b/balances")["balances"][0]["credits_posted"], "110")


class Batches(LedgerCase):
    def setUp(self):
        super().setUp()
        self.account("a"), self.account("b", "liability", limits={"USD": {"min_available": "0"}})

    def item(self, debit, credit, amount, **more):
        return {"op": "transaction", "transaction": transfer(debit, credit, amount), **more}

    def test_items_are_independent_unless_they_are_not(self):
        items = [self.item("a", "b", 5), self.item("b", "a", 9), {"op": "transaction", "transaction": transfer("a", "b", "x")},
                 {"op": "account", "account": {"id": "c", "type": "asset"}}, self.item("c", "b", 1), {"op": "fly"},
                 {"op": "metadata", "of": "c", "metadata": {"k": "v"}}, {"op": "limits", "of": "c", "limits": {"USD": {"max_balance": "7"}}},
                 {"op": "assert", "conditions": [{"account": "c", "currency": "USD", "balance": "posted", "eq": 1}]}]
        told = self.call("POST", "/batches", {"items": items})
        self.assertEqual((told["object"], told["mode"], told["applied"]), ("ledger_batch", "independent", 6))
        self.assertEqual([r["status"] for r in told["results"]], [201, 409, 400, 201, 201, 400, 200, 200, 200])
        self.assertEqual([r.get("code") for r in told["results"][1:3]], ["insufficient_funds", "amount_invalid"])
        self.assertEqual((told["results"][0]["object"], told["results"][3]["id"]), ("ledger_transaction", "c"))
        self.assertEqual(self.call("GET", "/accounts/c")["metadata"], {"k": "v"})

    def test_all_or_none(self):
        items = [self.item("a", "b", 5), self.item("b", "a", 9), self.item("a", "b", 1)]
        told = self.refused("POST", "/batches", {"mode": "atomic", "items": items}, 409, "insufficient_funds", item=1, applied=0)
        self.assertEqual([r["code"] for r in told["results"]], ["linked_failed", "insufficient_funds", "linked_failed"])
        self.assertEqual(self.available("a"), "0")
        swap = [self.item("b", "a", 9), self.item("a", "b", 9)]
        self.refused("POST", "/batches", {"mode": "atomic", "items": swap}, 409, "insufficient_funds", item=0)
        self.assertEqual(self.call("POST", "/batches", {"mode": "atomic", "limits": "end", "items": swap})["applied"], 2)

    def test_groups_fail_alone(self):
        items = [self.item("a", "b", 5, group="x"), self.item("b", "a", 9, group="y"), self.item("a", "b", 1, group="y"),
                 {"op": "transaction", "group": "z", "transaction": {"entries": 7}}, self.item("a", "b", 2, group="z")]
        told = self.call("POST", "/batches", {"mode": "groups", "items": items})
        self.assertEqual([r.get("code", r["status"]) for r in told["results"]], [201, "insufficient_funds", "linked_failed", "invalid", "linked_failed"])
        self.assertEqual((told["applied"], self.available("a")), (1, "5"))

    def test_a_large_batch_is_told_in_short(self):
        items = [{"op": "transaction", "transaction": transfer("a", "b", 1, id=f"t{i}")} for i in range(8192)]
        answer = self.server.request("POST", PATH + "/batches", json.dumps({"items": items}), {"Prefer": "return=minimal", "Idempotency-Key": "large"})
        self.assertEqual(answer.status, 200, answer.body[:500])
        told = answer.json()
        self.assertEqual(told["applied"], 8192)
        self.assertEqual(set(told["results"][0]), {"status", "id", "seq"})
        self.assertEqual([r["id"] for r in told["results"]], [f"t{i}" for i in range(8192)])
        again = self.server.request("POST", PATH + "/batches", json.dumps({"items": items}), {"Prefer": "return=minimal", "Idempotency-Key": "large"})
        self.assertEqual((again.json(), again.headers["Idempotent-Replayed"]), (told, "true"))
        replay = self.call("POST", "/batches", {"items": items}, headers={"Prefer": "return=minimal"})
        self.assertEqual({r["status"] for r in replay["results"]}, {200})
        self.assertEqual(self.available("a"), "8192")
        self.refused("POST", "/batches", {"items": items + items[:1]}, 413, "batch_too_large")

    def test_a_whole_answer_is_made_again(self):
        items = [{"op": "transaction", "transaction": transfer("a", "b", 1, id=f"t{i}")} for i in range(300)]
        items += [{"op": "account", "account": {"id": "n", "type": "asset"}}, self.item("a", "nobody", 1)]
        post = lambda: self.server.request("POST", PATH + "/batches", json.dumps({"items": items}), {"Idempotency-Key": "whole"})  # noqa: E731
        first = post()
        self.assertEqual(first.status, 200)
        self.server.kill()
        self.server.start()
        again = post()
        self.assertEqual(again.headers["Idempotent-Replayed"], "true")
        self.assertEqual(again.json(), first.json())


class History(LedgerCase):
    def setUp(self):
        super().setUp()
        self.call("PATCH", "", {"indexed": ["order"]})
        for name, kind in (("bank:a", "asset"), ("bank:b", "asset"), ("fees", "revenue")):
            self.account(name, kind)
        self.made = []
        for i in range(10):
            body = transfer("bank:a" if i % 2 else "bank:b", "fees", 10 + i, "EUR" if i == 7 else "USD", id=f"t{i}",
                            reference=f"r{i // 5}", metadata={"order": str(i % 3)}, effective_at=f"2026-01-{10 + i}T00:00:00Z")
            if i == 9:
                body["kind"] = "pending"
            self.made.append(self.call("POST", "/transactions", body, 201))

    def ids(self, query):
        return [t["id"] for t in self.call("GET", "/transactions?" + query)["transactions"]]

    def test_transactions_are_found(self):
        newest_first = [f"t{i}" for i in reversed(range(10))]
        self.assertEqual(self.ids(""), newest_first)
        self.assertEqual(self.call("GET", "/transactions/t3"), {**self.call("GET", "/transactions?reference=r0")["transactions"][1], "replayed": False})
        for query, expected in (("account=bank:a", "97531"), ("account=bank:a&currency=USD", "9531"), ("prefix=bank", "9876543210"),
                                ("account=fees&side=debit", ""), ("currency=EUR", "7"), ("kind=pending", "9"), ("state=pending", "9"),
                                ("state=posted&account=bank:a", "7531"), ("reference=r1", "98765"), ("amount_min=12&amount_max=14", "432"),
                                ("effective_from=2026-01-12T00:00:00Z&effective_to=2026-01-13T00:00:00Z", "32"),
                                (f"recorded_from={self.made[4]['recorded_at']}&recorded_to={self.made[6]['recorded_at']}", "654"),
                                ("metadata%5Border%5D=1", "741"), ("metadata%5Border%5D=1&account=bank:a", "71"),
                                ("reference=r1&amount_max=17&side=credit", "765")):
            with self.subTest(query):
                self.assertEqual(self.ids(query), ["t" + n for n in expected])
        self.refused("GET", "/transactions?metadata%5Bother%5D=1", None, 400, "invalid")
        self.refused("GET", "/transactions?account=none", None, 404, "account_not_found")
        seen, cursor = [], ""
        while cursor is not None:
            page = self.call("GET", f"/transactions?limit=3&account=fees{cursor and '&cursor=' + cursor}")
            seen += [t["id"] for t in page["transactions"]]
            cursor = page.get("cursor")
            self.call("POST", "/transactions", transfer("bank:a", "fees", 1), 201)  # a page is stable under writes
        self.assertEqual(seen, newest_first)

    def test_entries_of_an_account(self):
        told = self.call("GET", "/accounts/fees/entries")["entries"]
        self.assertEqual([e["transaction"] for e in told], [f"t{i}" for i in reversed(range(9))])
        self.assertEqual([e["balance"] for e in told if e["currency"] == "USD"][0], str(sum(10 + i for i in range(9) if i != 7)))
        self.assertEqual({name: told[0][name] for name in ("index", "side", "amount", "currency", "effective_at")},
                         {"index": 1, "side": "credit", "amount": "18", "currency": "USD", "effective_at": "2026-01-18T00:00:00.000000000Z"})
        self.assertEqual([e["transaction"] for e in self.call("GET", "/accounts/fees/entries?kind=pending")["entries"]], ["t9"])
        self.assertEqual([e["transaction"] for e in self.call("GET", "/accounts/fees/entries?currency=EUR")["entries"]], ["t7"])
        seen, cursor = [], ""
        while cursor is not None:
            page = self.call("GET", f"/accounts/fees/entries?limit=2{cursor and '&cursor=' + cursor}")
            seen += [e["transaction"] for e in page["entries"]]
            cursor = page.get("cursor")
        self.assertEqual(seen, [e["transaction"] for e in told])

    def test_the_log_is_a_chain(self):
        records, after = [], 0
        while True:
            page = self.call("GET", f"/records?after_seq={after}&limit=5")
            if not page["records"]:
                break
            records += page["records"]
            after = records[-1]["seq"]
        self.assertEqual([r["seq"] for r in records], list(range(1, page["last_seq"] + 1)))
        previous = "0" * 64
        for one in records:
            self.assertEqual(one["prev_hash"], previous)
            payload = base64.b64decode(one["payload_base64"])
            text = lambda t: struct.pack(">H", len(t)) + t.encode()  # noqa: E731
            hashed = b"\x01" + text("main") + struct.pack(">Q", one["seq"]) + bytes.fromhex(previous) + text(one["kind"])
            hashed += struct.pack(">I", len(payload)) + payload
            previous = hashlib.sha256(hashed).hexdigest()
            self.assertEqual(one["hash"], previous)
        self.assertEqual(self.call("GET", "")["last_hash"], previous)
        self.assertEqual([r["payload"]["id"] for r in records if r["kind"] == "transaction"], [f"t{i}" for i in range(10)])

    def test_a_reader_waits_for_a_record(self):
        last = self.call("GET", "/records")["last_seq"]
        got = []
        reader = threading.Thread(target=lambda: got.append(self.call("GET", f"/records?after_seq={last}&wait=30s")))
        reader.start()
        made = self.call("POST", "/transactions", transfer("bank:a", "fees", 1), 201)
        reader.join()
        self.assertEqual([r["seq"] for r in got[0]["records"]], [made["seq"]])
        self.assertEqual(self.call("GET", f"/records?after_seq={made['seq']}&wait=200ms")["records"], [])

    def test_checkpoints_come_with_the_records(self):
        items = [{"op": "transaction", "transaction": transfer("bank:a", "fees", 1)} for _ in range(2500)]
        self.call("POST", "/batches", {"items": items}, headers={"Prefer": "return=minimal"})
        told = self.call("GET", "/checkpoints")["checkpoints"]
        self.assertGreaterEqual(len(told), 2)
        self.assertEqual(told[-1]["first_seq"], 1)
        for newer, older in zip(told, told[1:]):
            self.assertEqual(newer["first_seq"], older["seq"] + 1)
        first = self.call("GET", "/checkpoints?limit=1")
        self.assertEqual(first["checkpoints"], told[:1])
        self.assertEqual(self.call("GET", f"/checkpoints?limit=1&cursor={first['cursor']}")["checkpoints"], told[1:2])


class Followers(LedgerCase):
    def test_subscriptions_and_monitors(self):
        self.account("a"), self.account("b", "revenue")
        with Receiver() as receiver:
            url = receiver.url("/ledger")
            made = self.call("POST", "/subscriptions", {"destination": url, "types": ["ledger.transaction.created", "ledger.monitor.triggered"]}, 201)
            self.assertTrue(made["id"].startswith("lsub_"))
            self.assertEqual((made["destination"], made["types"]), (url, ["ledger.transaction.created", "ledger.monitor.triggered"]))
            listed = self.call("GET", "/subscriptions")["subscriptions"]
            self.assertEqual([s["id"] for s in listed], [made["id"]])
            monitor = self.call("POST", "/monitors", {"account": "a", "currency": "USD", "balance": "available", "gte": "10"}, 201)
            self.assertEqual((monitor["account"], monitor["gte"]), ("a", "10"))
            self.assertEqual([m["id"] for m in self.call("GET", "/monitors")["monitors"]], [monitor["id"]])
            done = self.call("POST", "/transactions", transfer("a", "b", 12, id="t"), 201)
            receiver.wait("/ledger", 2)
            bodies = [json.loads(got.body) for got in receiver.at("/ledger")]
            told = {one["type"]: one for one in bodies}
            created = told["ledger.transaction.created"]
            self.assertEqual((created["book"], created["seq"], created["data"]["transaction"]["id"]), ("main", done["seq"], "t"))
            self.assertIn("ledger.monitor.triggered", told)
        self.assertTrue(self.call("DELETE", f"/subscriptions/{made['id']}")["deleted"])
        self.call("DELETE", f"/monitors/{monitor['id']}")
        self.assertEqual((self.call("GET", "/subscriptions")["subscriptions"], self.call("GET", "/monitors")["monitors"]), ([], []))
        self.refused("DELETE", "/subscriptions/lsub_none", None, 404, "subscription_not_found")
        self.refused("DELETE", "/monitors/lmon_none", None, 404, "monitor_not_found")


class Metadata(LedgerCase):
    def test_erased_values_are_gone_and_the_chain_is_as_it_was(self):
        self.account("a", metadata={"name": "Ann", "tier": "gold"})
        self.call("PATCH", "/accounts/a", {"metadata": {"name": "Anna"}})
        before = self.call("GET", "/records")["records"]
        told = self.call("POST", "/erase", {"account": "a", "keys": ["name"]})
        self.assertEqual((told["object"], told["metadata"]), ("ledger_account", {"tier": "gold"}))
        after = self.call("GET", "/records")["records"]
        self.assertEqual(after[:len(before)], before)
        self.assertNotIn("Ann", json.dumps(self.call("GET", "/accounts/a?as_of_seq=2")))


class Crashes(LedgerCase):
    def test_what_was_answered_outlives_a_kill(self):
        self.account("a"), self.account("b", "liability")
        acknowledged, stop = [], threading.Event()

        def pay(number):
            i = 0
            while not stop.is_set():
                i += 1
                try:
                    answer = self.server.request("POST", PATH + "/transactions", json.dumps(transfer("a", "b", 1, id=f"p{number}-{i}")))
                except OSError:
                    return
                if answer.status == 201:
                    acknowledged.append(answer.json())

        threads = [threading.Thread(target=pay, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(acknowledged) > 200, "some transactions")
        self.server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        self.server.start()
        for one in acknowledged:
            self.assertEqual(self.call("GET", f"/transactions/{one['id']}"), one)
        rows = {name: self.call("GET", f"/accounts/{name}/balances")["balances"][0] for name in "ab"}
        self.assertEqual(rows["a"]["debits_posted"], rows["b"]["credits_posted"])
        self.assertGreaterEqual(int(rows["a"]["debits_posted"]), len(acknowledged))
        again = self.call("POST", "/transactions", transfer("a", "b", 1, id=acknowledged[0]["id"]), 200)
        self.assertTrue(again["replayed"])

    def test_a_request_with_a_key_is_done_once_across_a_kill(self):
        self.account("a"), self.account("b", "liability")
        pay = lambda: self.server.request("POST", PATH + "/transactions", json.dumps(transfer("a", "b", 7)), {"Idempotency-Key": "pay-1"})  # noqa: E731
        first = pay()
        self.assertEqual(first.status, 201)
        self.server.kill()
        self.server.start()
        again = pay()
        self.assertEqual((again.status, again.body, again.headers["Idempotent-Replayed"]), (201, first.body, "true"))
        self.assertEqual(self.available("a"), "7")
        long = self.server.request("POST", "/api/v1/ledger/books/main/transactions", json.dumps(transfer("a", "b", 7)), {"Idempotency-Key": "pay-1"})
        self.assertEqual(long.body, first.body, "the short path names the same request")

    def test_the_metrics_count(self):
        self.account("a"), self.account("b", "liability")
        self.call("POST", "/transactions", transfer("a", "b", 7, id="t"), 201)
        self.call("POST", "/transactions", transfer("a", "b", 7, id="t"), 200)
        self.refused("POST", "/transactions", transfer("a", "none", 7), 404, "account_not_found")
        self.call("POST", "/batches", {"items": [{"op": "transaction", "transaction": transfer("a", "b", 1)}, {"op": "fly"}]})
        metrics = self.server.metrics()
        self.assertEqual([metrics[f'hikyaku_ledger_transactions_total{{result="{r}"}}'] for r in ("created", "replayed", "refused")], [2, 1, 1])
        self.assertEqual([metrics[f'hikyaku_ledger_batch_items_total{{result="{r}"}}'] for r in ("applied", "refused")], [1, 1])


if __name__ == "__main__":
    unittest.main()
