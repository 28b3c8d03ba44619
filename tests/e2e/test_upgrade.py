"""Data directories that releases have written (golden/, made by golden/make.py) are opened by this build: what they say was
acknowledged is there, and goes on from where it was. Newer formats are refused and left as they are. What this build has
written in a format, the release before opens as well: HIKYAKU_E2E_PREVIOUS names its binary, or several, separated by colons.

The server's wall clock is set to ten minutes after a directory was made, so that windows, leases and retentions are what they
were, however old it is."""
import hashlib
import json
import os
import re
import shutil
import signal
import tarfile
import time
import unittest

from disk import body_of_row, fast_folder, faulty, late_clock, refused
from harness import ROOT, Receiver, Server, run_binary, wait_for

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
FORMAT = 6  # of what this build writes
NAMES = sorted(name.removesuffix(".json") for name in os.listdir(GOLDEN) if name.endswith(".json"))


def digests(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def schema():
    """Tables and record fields of this build, a line each."""
    with open(os.path.join(ROOT, "src/core/tables.def")) as f:
        rows = re.findall(r"^HK_TABLE\( *(\d+), +(\w+),", f.read(), re.M)
    lines = [f"table {name}" for number, name in sorted(rows, key=lambda row: int(row[0]))]
    where = []
    with open(os.path.join(ROOT, "src/store/records.proto")) as f:
        for line in f:
            line = line.partition("//")[0].strip()
            if opened := re.fullmatch(r"(message|oneof) (\w+) \{", line):
                where.append(opened[2] if opened[1] == "message" else "")
            elif line == "}":
                where.pop()
            elif field := re.fullmatch(r"((?:repeated |optional )?[\w.]+|map<[\w, ]+>) (\w+) = (\d+);", line):
                lines.append(f"{'.'.join(filter(None, where))} {field[3]} {field[1]} {field[2]}")
            elif line and where:
                raise AssertionError(f"records.proto has a line that this test cannot read: {line}")
    return lines


def format_of(data):
    with open(os.path.join(data, "FORMAT")) as f:
        return f.read()


def receiver_at(port):
    """Its port is written in the directory; another run of these tests may have it for a while."""
    def bind():
        try:
            return Receiver(port)
        except OSError:
            return None

    return wait_for(bind, f"port {port}", 120)


class Golden(unittest.TestCase):
    maxDiff = None

    def open(self, name):
        """A server on a copy, not started yet, and what must be in it."""
        with open(os.path.join(GOLDEN, name + ".json")) as f:
            self.manifest = json.load(f)
        folder = fast_folder()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        data = os.path.join(folder, "data")
        os.mkdir(data, 0o700)
        with tarfile.open(os.path.join(GOLDEN, name + ".tar.xz")) as tar:
            tar.extractall(data)
        late = time.time() - self.manifest["made_at"] - 600
        self.server = Server(*self.manifest["flags"], data=data, env=late_clock(late))
        self.server.clock_back = late
        self.addCleanup(self.server.close)
        return self.server

    def verify(self):
        done = run_binary("verify", "--data", self.server.data, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check_messages(self):
        server, told = self.server, self.manifest
        for message_id, digest in told["waiting"].items():
            row = server.get("/v2/messages/" + message_id).json()
            self.assertEqual(hashlib.sha256(body_of_row(row)).hexdigest(), digest, row)
            self.assertEqual(server.job(message_id)["status"], "PENDING")
        for message_id, status in told["finished"].items():
            self.assertEqual(server.job(message_id)["status"], status)
        entry = server.get("/v2/dlq/" + told["dead"]["dlqId"]).json()
        self.assertEqual((entry["messageId"], entry["responseStatus"], hashlib.sha256(body_of_row(entry)).hexdigest()),
                         (told["dead"]["messageId"], told["dead"]["responseStatus"], told["dead"]["body"]))
        again = server.publish(f"http://127.0.0.1:{told['port']}/far", b"once", Upstash_Deduplication_Id=told["dedup"]["id"])
        self.assertEqual((again.status, again.json()["messageId"]), (202, told["dedup"]["messageId"]))
        second = server.request("GET", "/v2/messages/" + told["second"]["message"], token=told["second"]["token"])
        self.assertEqual(hashlib.sha256(body_of_row(second.json())).hexdigest(), told["second"]["body"])
        self.assertEqual(server.get("/v2/messages/" + told["second"]["message"]).status, 404)
        key = told["second"]["key"]
        listed = server.sqs("ListQueues", key=(key["access_key_id"], key["secret_access_key"]))
        self.assertEqual((listed.status, listed.json().get("QueueUrls", [])), (200, []), listed.body)

    def check_settings(self, receiver):
        server, told = self.server, self.manifest
        queue = server.get("/v2/queues/ordered").json()
        self.assertEqual((queue["parallelism"], queue["paused"], queue["lag"]), (1, True, 3), queue)
        self.assertEqual(receiver.at("/ordered"), [])
        self.assertEqual(server.request("POST", "/v2/queues/ordered/resume").status, 200)
        self.assertEqual([got.message_id for got in receiver.wait("/ordered", 3)], told["ordered"])
        flow = server.get("/v2/flowControl/key").json()
        self.assertEqual((flow["parallelismMax"], flow["rateMax"], flow["ratePeriod"]), (2, 10, 60), flow)
        group = server.get("/v2/topics/group").json()
        self.assertEqual([one["name"] for one in group["endpoints"]], ["one", "two"])
        schedules = {one["scheduleId"]: one for one in server.get("/v2/schedules").json()}
        self.assertEqual(set(schedules), {"yearly", "paused"})
        self.assertEqual((schedules["paused"]["isPaused"], schedules["yearly"]["cron"]), (True, "0 0 1 1 *"))

    def check_deliveries(self, receiver):
        for message_id, (path, digest) in self.manifest["due"].items():
            got = receiver.wait(path)[0]
            self.assertEqual((got.message_id, hashlib.sha256(got.body).hexdigest()), (message_id, digest))
            self.server.wait_job(message_id, "SUCCEEDED")
        for path in ("/group/1", "/group/2", "/calls", "/callback"):
            receiver.wait(path)
        self.assertEqual(receiver.at("/far") + receiver.at("/retried") + receiver.at("/yearly"), [])

    def queue_url(self, name):
        return f"http://127.0.0.1:{self.server.port}/000000000000/{name}"

    def bodies(self, name, count):
        """What a queue has, when it has so many."""
        seen = []

        def all_there():
            seen.extend(one["Body"] for one in self.server.receive(self.queue_url(name), VisibilityTimeout=3600))
            return len(seen) >= count

        wait_for(all_there, lambda: f"{count} messages of {name}; there were {seen}")
        return seen

    def check_pulled(self):
        server, told = self.server, self.manifest["sqs"]
        self.assertEqual(sorted(self.bodies("plain", len(told["plain"]))), told["plain"])
        # What was with a receiver is with it still: its receipt is good, and nobody else gets it.
        self.assertEqual(self.bodies("groups.fifo", 2), ["b0", "b1"])
        for name, (_, receipt) in (("plain", told["leased"]), ("groups.fifo", told["held"])):
            answer = server.sqs("DeleteMessage", QueueUrl=self.queue_url(name), ReceiptHandle=receipt)
            self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(self.bodies("groups.fifo", 1), ["a1"])
        answer = server.sns("Publish", TopicArn=self.manifest["sns"]["topic"], Message="after")
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(sorted(json.loads(one)["Message"] for one in self.bodies("heard", 2)), ["after", *self.manifest["sns"]["heard"]])

    def publish(self, topic, message, **members):
        answer = self.server.sns("Publish", TopicArn=topic, Message=message, **members)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body.decode()

    def check_topics(self, receiver):
        """Filters, tokens and sequence numbers go on where they were."""
        server, told = self.server, self.manifest["topics"]
        k = {"MessageAttributes.entry.1.Name": "k", "MessageAttributes.entry.1.Value.DataType": "String"}
        self.publish(told["hooks"], '{"n":1}', **k, **{"MessageAttributes.entry.1.Value.StringValue": "no"})
        self.publish(told["hooks"], '{"n":9}', **k, **{"MessageAttributes.entry.1.Value.StringValue": "yes"})
        self.assertEqual([got.body for got in receiver.wait("/hooked")], [b'{"n":9}'])
        self.assertEqual([json.loads(one)["Message"] for one in self.bodies("filtered", 1)], ['{"n":9}'])
        self.assertEqual(receiver.at("/asked"), [])
        self.assertEqual(server.sns("ConfirmSubscription", TopicArn=told["hooks"], Token=told["waiting"]).status, 200)
        self.publish(told["hooks"], "x")
        self.assertEqual(json.loads(receiver.wait("/asked")[0].body)["Message"], "x")
        link = "/?Action=Unsubscribe&SubscriptionArn=" + told["confirmed"]
        self.assertEqual(server.request("GET", link, token=None).status, 403, "only who signs ends it")
        published = self.publish(told["fifo"], "second", MessageGroupId="g", MessageDeduplicationId="1")
        number = re.search("<SequenceNumber>(.*?)<", published)[1]
        self.assertGreater(int(number), int(told["number"]))
        self.assertEqual([json.loads(one)["Message"] for one in self.bodies("first.fifo", 2)], ["first", "second"])

    def check_unfinished(self):
        moved = self.manifest["unfinished"]["moved"]
        self.assertEqual(sorted(self.bodies("moved-to", len(moved))), sorted(moved))

        def waiting():
            answer = self.server.sqs("GetQueueAttributes", QueueUrl=self.queue_url("short"), AttributeNames=["All"])
            return int(answer.json()["Attributes"]["ApproximateNumberOfMessages"])

        wait_for(lambda: waiting() == 0, lambda: f"the end of what is too old; {waiting()} are there")

    def check(self):
        with receiver_at(self.manifest["port"]) as receiver:
            self.server.start()
            self.check_messages()
            self.check_deliveries(receiver)
            self.check_settings(receiver)
            self.check_pulled()
            if "topics" in self.manifest:
                self.check_topics(receiver)
                self.check_unfinished()
            self.assertEqual(self.server.metrics()["hikyaku_conservation_gap"], 0)
            self.assertEqual(self.server.terminate(), 0)
        self.verify()

    def test_there_is_one_of_this_format(self):
        self.assertTrue(NAMES)

    def test_what_was_acknowledged_is_there_and_goes_on(self):
        for name in NAMES:
            with self.subTest(name):
                self.open(name)
                self.verify()
                self.check()

    def test_a_first_start_that_is_killed_is_finished_by_the_next(self):
        for name in NAMES:
            self.open(name)
            rows = [("write", 1), ("write", 12), ("sync", 2), ("sync", 5), ("sync", 9), ("rename", 1), ("rename", 2), ("pwrite", 1)]
            for call, n in rows:
                with faulty(self.server, call, at=n, error=-signal.SIGKILL) as faults:
                    self.server.spawn()
                    wait_for(lambda: self.server.process.poll() is not None, "the kill", 60)
                    self.assertEqual(self.server.process.returncode, -signal.SIGKILL, f"{call} {n}: {self.server.output()[-1000:]}")
                    self.assertTrue(faults.fired())
            with self.subTest(name):
                self.check()

    def test_what_this_build_has_written_can_be_opened_by_the_release_before(self):
        """A step back. The format's number is the promise: whoever knows it opens the directory. So opening and writing must not
        change it once it is that of this build, and each release of the same format that can be had is tried."""
        before = [binary for binary in os.environ.get("HIKYAKU_E2E_PREVIOUS", "").split(":") if binary]
        for name in NAMES:
            with self.subTest(name):
                server = self.open(name)
                server.start()
                was = format_of(server.data)
                self.assertEqual(was, f"hikyaku-data {FORMAT}\n")
                told = f"http://127.0.0.1:{self.manifest['port']}/far"
                body = bytes(range(256)) * 30  # a blob file's
                new = server.publish_id(told, body, Upstash_Not_Before=4102444800, Upstash_Retries=3, Upstash_Deduplication_Id="step back")
                self.assertEqual(server.terminate(), 0)
                self.assertEqual(format_of(server.data), was)
                self.verify()
                for binary in [*before, server.binary]:
                    server.binary = binary
                    server.start()
                    self.assertEqual(body_of_row(server.get("/v2/messages/" + new).json()), body)
                    again = server.publish(told, b"", Upstash_Deduplication_Id="step back")
                    self.assertEqual((again.status, again.json()["messageId"]), (202, new))
                    self.check_messages()
                    self.assertEqual(server.metrics()["hikyaku_conservation_gap"], 0)
                    self.assertEqual(server.terminate(), 0)
                    self.assertEqual(format_of(server.data), was)
                    self.verify()

    def test_a_format_keeps_its_tables_and_the_meaning_of_its_fields(self):
        """An older server skips fields that it does not know, but RocksDB opens no directory that has a table too many."""
        now = schema()
        self.assertGreater(len(now), 150)
        for number in (1, 3, 4, 5, FORMAT):
            with open(os.path.join(GOLDEN, f"format-{number}.txt")) as f:
                released = f.read().split("\n")[:-1]
            self.assertEqual([line for line in released if line not in now], [], "changed or gone: that needs another format")
        tables = [line for line in now if line.startswith("table ")]
        self.assertEqual([line for line in tables if line not in released], [], "a new table needs another format")

    def test_a_newer_format_is_refused_and_left_as_it_is(self):
        server = self.open(NAMES[-1])
        path = os.path.join(server.data, "FORMAT")
        with open(path) as f:
            word, _ = f.read().split()
        with open(path, "w") as f:
            f.write(f"{word} {FORMAT + 1}\n")
        before = digests(server.data)
        refused(self, server, 3, f"has data format {FORMAT + 1}", "Start the newer version again")
        done = run_binary("verify", "--data", server.data)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Start the newer version again", done.stderr)
        self.assertEqual(digests(server.data), before)


if __name__ == "__main__":
    unittest.main()
