"""This server beside another build of it, in turns: whether a change costs anything, and what it gains."""
import statistics

from sqs import SqsBench

LATER = ["--header", "Upstash-Delay: 1h"]  # nothing is delivered meanwhile
NOWHERE = "http://127.0.0.1:9/hook"


class Rates:
    """One measurement each, on a fresh store: messages per second, CPU of the server for each, wrong answers."""

    def __init__(self, bench):
        self.bench = bench
        self.sqs = SqsBench(bench)

    @staticmethod
    def figures(rate, cpu_ns, messages, bad, **more):
        return {"rate": rate, "cpu_us": cpu_ns / 1000 / max(1, messages), "bad": bad, **more}

    def publish(self, connections):
        with self.sqs.server() as server:
            before = server.cpu_ns()
            done = self.bench.load(server.publish_url(NOWHERE), connections, self.bench.seconds, *LATER)
            return self.figures(done["rps"], server.cpu_ns() - before, done["created_total"],
                                done["errors"] + done["non_2xx"], p99_us=done["p99_us"])

    def delivered(self, connections):
        done = self.bench.delivered(connections)
        return self.figures(done["rps"], done["cpu_ns"], done["publish"]["created_total"],
                            done["publish"]["errors"] + done["publish"]["non_2xx"] + done["lost"],
                            p99_us=done["publish"]["p99_us"])

    def send(self, batch):
        with self.sqs.server() as server:
            queue = self.sqs.queue(server.port)
            before = server.cpu_ns()
            done = self.sqs.send(server.port, queue, batch=batch)
            # sqs_load counts what it measured; the warm-up used CPU, too.
            share = self.bench.seconds / (self.bench.seconds + self.bench.warmup)
            return self.figures(done["rate"], (server.cpu_ns() - before) * share, done["messages"], done["bad"],
                                p99_us=done["p99_us"])

    def drain(self):
        with self.sqs.server() as server:
            queue = self.sqs.queue(server.port)
            filled = self.sqs.fill(server.port, queue, self.sqs.backlog)["messages"]
            before = server.cpu_ns()
            done = self.sqs.drain(server.port, queue, filled)
            return self.figures(done["rate"], server.cpu_ns() - before, done["messages"], done["bad"],
                                p99_us=done["p99_us"])


class Against:
    """Each round runs both builds, each on a fresh store, one right after the other; who is first alternates."""

    def __init__(self, bench, other):
        self.bench = bench
        self.builds = {"this": bench.binary, "other": other}
        # Noise comes in bursts of seconds: many short rounds tell more than a few long ones.
        bench.rounds = max(bench.rounds, 5 if bench.quick else 9)
        bench.seconds, bench.warmup = (1, 0.3) if bench.quick else (3, 0.5)
        bench.sustained_seconds = 2 * bench.seconds
        self.rates = Rates(bench)
        self.raw = bench.raw.setdefault("against", {"other": other})

    def compare(self, name, measure, bar):
        rounds = []
        for number in range(self.bench.rounds):
            order = list(self.builds) if number % 2 == 0 else list(reversed(self.builds))
            one = {}
            for build in order:
                self.bench.binary = self.builds[build]
                one[build] = measure()
            rounds.append(one)
        self.bench.binary = self.builds["this"]
        self.raw[name] = rounds
        ratios = sorted(one["this"]["rate"] / max(1, one["other"]["rate"]) for one in rounds)
        ratio = statistics.median(ratios)
        cpu = statistics.median(one["this"]["cpu_us"] / max(0.001, one["other"]["cpu_us"]) for one in rounds)
        bad = {build: sum(one[build]["bad"] for one in rounds) for build in self.builds}
        median = lambda build, key: statistics.median(one[build][key] for one in rounds)
        self.bench.row(name, f"{ratio:.2f} of the other", f">= {bar}", ratio >= bar and bad["this"] == 0,
                       f"rounds {ratios[0]:.2f} to {ratios[-1]:.2f}; {median('this', 'rate'):,.0f}/s and "
                       f"{median('other', 'rate'):,.0f}/s; CPU of one {cpu:.2f} x ({median('this', 'cpu_us'):.1f} and "
                       f"{median('other', 'cpu_us'):.1f} us); p99 {median('this', 'p99_us') / 1000:.1f} and "
                       f"{median('other', 'p99_us') / 1000:.1f} ms"
                       + "".join(f", {count} BAD ANSWERS of {build}" for build, count in bad.items() if count))

    def run(self, only):
        bar = 0.9 if self.bench.quick else 0.95
        if only in (None, "publish"):
            for connections in (64, 256):
                self.compare(f"publish, {connections} connections", lambda: self.rates.publish(connections), bar)
            for connections in (64, 256):
                self.compare(f"publish to delivered, {connections} connections", lambda: self.rates.delivered(connections), bar)
        if only in (None, "sqs"):
            self.compare("SendMessage, 64 connections", lambda: self.rates.send(1), bar)
            self.compare("SendMessageBatch(10), 64 connections", lambda: self.rates.send(10), bar)
            self.compare("receive(10) + delete(10), 64 connections", self.rates.drain, bar)
