"""What one atomic request saves: a worker that ends its job, publishes two messages and completes its key, by one transact
or by the four calls one after another, in turns on one connection. The same with a payment in the ledger."""
import http.client
import json
import shutil
import statistics
import time

from processes import DEV_TOKEN, Server
from sqs import call

BAR = 2.5


class TransactBench:
    def __init__(self, bench):
        self.bench = bench
        self.units = 100 if bench.quick else 400
        self.rounds = bench.rounds

    def ask(self, path, body, **headers):
        self.connection.request("POST", path, json.dumps(body), {"Authorization": "Bearer " + DEV_TOKEN,
                                                                "Content-Type": "application/json", **headers})
        response = self.connection.getresponse()
        answer = response.read()
        if response.status not in (200, 201):
            raise SystemExit(f"{path} was answered {response.status}: {answer.decode(errors='replace')}")
        return json.loads(answer)

    def work(self, port, url, round_name):
        """Messages that a worker has received, each with a key that it has claimed."""
        leases = []
        for _ in range(self.units // 10):
            call(port, "SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": str(i), "MessageBody": "x"} for i in range(10)]})
        while len(leases) < self.units:
            got = call(port, "ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 3600})
            leases += [(one["MessageId"], one["ReceiptHandle"]) for one in got.get("Messages", [])]
        keys = [f"{round_name}-{i}" for i in range(self.units)]
        tokens = [self.ask("/api/v1/idempotency/claim", {"key": key})["token"] for key in keys]
        return list(zip(leases, keys, tokens))

    @staticmethod
    def payment(key):
        return {"id": key, "entries": [{"account": "processor", "side": "debit", "amount": "100", "currency": "USD"},
                                       {"account": "merchant", "side": "credit", "amount": "100", "currency": "USD"}]}

    def one_after_another(self, work, money):
        for (job, receipt), key, token in work:
            self.ask(f"/api/v1/jobs/{job}/complete", {"receipt": receipt, "result": {"ok": True}})
            if money:
                self.ask("/api/v1/ledger/-/transactions", self.payment(key))
            self.ask("/v2/enqueue/next", "first")
            self.ask("/v2/enqueue/next", "second")
            self.ask("/api/v1/idempotency/complete", {"key": key, "token": token, "response": {"ok": True}})

    def at_once(self, work, money):
        for (job, receipt), key, token in work:
            operations = [{"op": "ack", "job": job, "receipt": receipt, "result": {"ok": True}},
                          {"op": "publish", "queue": "next", "body": "first"},
                          {"op": "publish", "queue": "next", "body": "second"},
                          {"op": "idempotency.complete", "key": key, "token": token, "response": {"ok": True}}]
            if money:
                operations.append({"op": "ledger.transaction", "transaction": self.payment(key)})
            self.ask("/api/v1/transact", {"operations": operations}, **{"Idempotency-Key": "t-" + key})

    def compare(self, port, url, name, money):
        ratios, times = [], []
        for number in range(self.rounds):
            taken = []
            for way in (self.one_after_another, self.at_once):
                work = self.work(port, url, f"{number}-{way.__name__}-{money}")
                begun = time.monotonic()
                way(work, money)
                taken.append((time.monotonic() - begun) / self.units)
            ratios.append(taken[0] / taken[1])
            times.append(taken)
        self.bench.raw["transact_ledger" if money else "transact"] = times
        ratio = statistics.median(ratios)
        apart, together = (1000 * statistics.median(one[i] for one in times) for i in (0, 1))
        self.bench.row(f"{name}, at once against one by one", f"{ratio:.2f} times faster", f">= {BAR}", ratio >= BAR,
                       f"{together:.2f} ms against {apart:.2f} ms, one connection")

    def run(self):
        print("one atomic request", flush=True)
        data = self.bench.data()
        try:
            with Server(self.bench.binary, data) as server:
                self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                url = call(server.port, "CreateQueue", {"QueueName": "work"})["QueueUrl"]
                call(server.port, "CreateQueue", {"QueueName": "next"})
                for account, kind in (("processor", "asset"), ("merchant", "liability")):
                    self.ask("/api/v1/ledger/-/accounts", {"id": account, "type": kind})
                self.compare(server.port, url, "ack + 2 publishes + key", money=False)
                self.compare(server.port, url, "ack + ledger + 2 publishes + key", money=True)
        finally:
            shutil.rmtree(data, ignore_errors=True)
