"""Money under torture: a thread that moves it between accounts while the server is killed, as single transactions, as atomic
batches, and in atomic requests that also send a message to a queue. Run by torture.py, also at each named point.

What must hold:
  sums         what all accounts have together never changes, and debits equal credits, after every start
  loss         an acknowledged transaction is there, with the number and the hash that its answer had
  whole        of a batch or an atomic request all is there or nothing, the message included
  once         one transaction for each id, one message for each atomic request, however often it was asked for; who asks
               again with the same key gets the same answer, also lives later
  balance      each account has what its transactions say
  chain        the server finds no fault in the log and in the balances
"""
import collections
import itertools
import json

import harness
from torture import Caller

ACCOUNTS = 7
MONEY = 10**6  # of each, in the beginning
PATH = "/api/v1/ledger/-"
FOLLOW = "transferred"


class Transfer:
    """One request, and what is known of it."""

    def __init__(self, key, method, transactions, message):
        self.key, self.method, self.transactions, self.message = key, method, transactions, message
        self.sends = 0
        self.answer = None  # the body; None: unknown whether it was taken
        self.refused = False


class Transfers(Caller):
    def __init__(self, server, ledger, stop):
        super().__init__("transfers", server, ledger, stop)
        self.all = []
        self.url = None
        self.balanced = 0  # how often the sums were looked at

    # ---- asking ----

    def run(self):
        if not self.set_up():
            return
        for number in itertools.count():
            if self.stop.is_set():
                return
            self.ask(self.draw(number))
            if number % 7 == 0:
                self.ask_again()
            self.stop.wait(self.random.uniform(0, 0.01))

    def until_known(self, method, target, body, headers=None):
        while not self.stop.is_set():
            answer = self.call(method, target, body, {"Content-Type": "application/json", **(headers or {})})
            if answer is not None:
                return answer
            self.stop.wait(0.03)
        return None

    def set_up(self):
        items = [{"op": "account", "account": {"id": f"a-{n}", "type": "asset", "limits": {"USD": {"min_available": "0"}}}}
                 for n in range(ACCOUNTS)]
        items.append({"op": "account", "account": {"id": "world", "type": "asset"}})
        items += [{"op": "transaction", "transaction": transaction(f"begin-{n}", [(f"a-{n}", "world", MONEY)])} for n in range(ACCOUNTS)]
        made = self.until_known("POST", PATH + "/batches", json.dumps({"mode": "atomic", "items": items}))
        if made is not None and made.status != 200:
            self.ledger.breach(f"transfers: the accounts answer {made.status} {made.body[:300]!r}")
        body = json.dumps({"QueueName": FOLLOW})
        while made is not None and not self.stop.is_set():
            fields = harness.sign_aws("test", "test", f"127.0.0.1:{self.server.port}", "AmazonSQS.CreateQueue", body.encode())
            fields.pop("host")
            queue = self.call("POST", "/", body, fields)
            if queue is not None:
                self.url = queue.json()["QueueUrl"]
                return True
            self.stop.wait(0.03)
        return False

    def draw(self, number):
        method = self.random.choice(("single", "batch", "transact", "transact"))
        count = 1 if method == "single" else self.random.randint(1, 4)
        transactions = []
        for part in range(count):
            moves = []
            for _ in range(self.random.randint(1, 2)):
                to, source = self.random.sample(range(ACCOUNTS), 2)
                moves.append((f"a-{to}", f"a-{source}", self.random.choice((1, 5, 70, 900, MONEY))))
            transactions.append(transaction(f"t-{number}-{part}", moves))
        one = Transfer(f"key-{number}", method, transactions, f"m-{number}" if method == "transact" else None)
        self.all.append(one)
        return one

    def send(self, one):
        one.sends += 1
        headers = {"Content-Type": "application/json", "Idempotency-Key": one.key}
        if one.method == "single":
            return self.call("POST", PATH + "/transactions", json.dumps(one.transactions[0]), headers)
        if one.method == "batch":
            items = [{"op": "transaction", "transaction": each} for each in one.transactions]
            return self.call("POST", PATH + "/batches", json.dumps({"mode": "atomic", "items": items}), headers)
        operations = [{"op": "ledger.transaction", "transaction": each} for each in one.transactions]
        operations.insert(len(operations) // 2, {"op": "publish", "queue": FOLLOW, "body": one.message})
        return self.call("POST", "/api/v1/transact", json.dumps({"operations": operations}), headers)

    def ask(self, one):
        repeats = self.random.random() < 0.6
        while True:
            answer = self.send(one)
            if answer is not None and answer.status != 429:  # that one was not looked at
                break
            with self.ledger.lock:
                self.ledger.lost_answers += 1
            if not repeats or self.stop.is_set():
                return
            self.stop.wait(0.03)
        one.answer = answer.body
        one.refused = answer.status == 409
        if answer.status not in (200, 201, 409):
            self.ledger.breach(f"transfers: {one.key} ({one.method}) answered {answer.status} {answer.body[:300]!r}")
        if one.refused and answer.json()["code"] != "insufficient_funds":
            self.ledger.breach(f"transfers: {one.key} was refused with {answer.body[:300]!r}")

    def ask_again(self):
        """What was answered once is answered so for ever, for a key."""
        one = self.random.choice(self.all)
        before = one.answer
        if before is None:
            self.ask(one)
            return
        answer = self.send(one)
        if answer is not None and answer.status != 429 and (answer.body != before or answer.headers.get("Idempotent-Replayed") != "true"):
            self.ledger.breach(f"once: {one.key} was answered {before[:200]!r}, and again {answer.body[:200]!r}")

    # ---- looking ----

    def check_sums(self):
        """After a start, while this thread goes on: one answer is of one moment."""
        if self.url is None:
            return
        totals = self.server.get(PATH + "/trial_balance").json()["currencies"]
        below = {row["currency"]: int(row["posted"]) for row in self.server.get(PATH + "/balances").json()["balances"]}
        if any(row["debits"] != row["credits"] for row in totals) or below != {"USD": 0}:
            self.ledger.breach(f"sums: {totals} {below}")
        self.balanced += 1

    def recorded(self):
        found, cursor = {}, ""
        while True:
            page = self.server.get(f"{PATH}/transactions?limit=1000{cursor}").json()
            for one in page["transactions"]:
                if one["id"] in found:
                    self.ledger.breach(f"once: {one['id']} is there twice")
                found[one["id"]] = one
            if "cursor" not in page:
                return found
            cursor = "&cursor=" + page["cursor"]

    def followed(self):
        """Bodies of the queue; each is received once, since it stays hidden."""
        bodies = collections.Counter()
        while got := self.server.receive(self.url, VisibilityTimeout=3600, WaitTimeSeconds=2):
            bodies.update(one["Body"] for one in got)
        return bodies

    def told(self, one):
        """[(id, seq, hash)] of the answer."""
        answer = json.loads(one.answer)
        objects = [answer] if one.method == "single" else answer["results"]
        if one.method == "transact":
            objects = [result["object"] for result in objects if "object" in result]
        return [(each["id"], each["seq"], each["hash"]) for each in objects]

    def check(self):
        """After the last start."""
        if self.url is None:
            self.ledger.breach("transfers: nothing was ever set up")
            return
        self.check_sums()
        recorded, followed = self.recorded(), self.followed()
        acknowledged = 0
        for one in self.all:
            there = [each["id"] in recorded for each in one.transactions]
            if any(there) != all(there):
                self.ledger.breach(f"whole: of {one.key} ({one.method}) there is {there}")
            if one.answer is not None and not one.refused:
                acknowledged += 1
                for name, seq, digest in self.told(one):
                    now = recorded.get(name, {})
                    if (now.get("seq"), now.get("hash")) != (seq, digest):
                        self.ledger.breach(f"loss: {name} was acknowledged as {seq} {digest}; there is {now}")
            if one.refused and any(there):
                self.ledger.breach(f"whole: {one.key} was refused and is there")
            if one.message is not None and followed.pop(one.message, 0) != int(all(there)):
                self.ledger.breach(f"whole: of {one.key} the transactions are {there}, which its message does not say")
        if followed:
            self.ledger.breach(f"phantom: {followed} came through the queue")
        self.check_balances(recorded)
        verified = self.server.request("POST", PATH + "/verify", "{}").json()
        if not verified.get("ok"):
            self.ledger.breach(f"chain: {verified}")
        print(f"transfers: {len(self.all)} asked for, {acknowledged} acknowledged, "
              f"{sum(one.refused for one in self.all)} refused, {sum(one.sends - 1 for one in self.all)} asked again, "
              f"{len(recorded)} transactions, sums looked at {self.balanced} times", flush=True)

    def check_balances(self, recorded):
        wanted = collections.Counter()
        for one in recorded.values():
            for entry in one["entries"]:
                wanted[entry["account"]] += int(entry["amount"]) * (1 if entry["side"] == "debit" else -1)
        for account in ["world", *(f"a-{n}" for n in range(ACCOUNTS))]:
            row = self.server.get(f"{PATH}/accounts/{account}/balances?currency=USD").json()["balances"][0]
            if int(row["posted"]) != wanted[account]:
                self.ledger.breach(f"balance: {account} has {row['posted']}, its transactions say {wanted[account]}")
            if account != "world" and int(row["available"]) < 0:
                self.ledger.breach(f"balance: {account} has {row['available']}, below its limit")


def transaction(name, moves):
    """Of each (to, from, amount) two entries: of assets, a debit is what comes."""
    entries = []
    for to, source, amount in moves:
        entries.append({"account": to, "side": "debit", "amount": str(amount), "currency": "USD"})
        entries.append({"account": source, "side": "credit", "amount": str(amount), "currency": "USD"})
    return {"id": name, "entries": entries}
