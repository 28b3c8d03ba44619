"""The master key: one that is missing or wrong is told and never replaced, and a rotation changes nothing but the key, wherever
it is interrupted."""
import json
import os
import re
import secrets
import shutil
import signal
import unittest
import urllib.parse

from harness import Receiver, Server, run_binary, verify_signature
from torture_matrix import declared_points

POINTS = [name for name, when in declared_points() if when == "rotate"]
# Passed by every batch: the one that seals everything anew is the only one of the command.
STORE_POINTS = ["batch_unwritten", "batch_written", "sync_begins", "log_synced"]


def content(folder):
    """Every file but those that each opening of the store changes."""
    found = {}
    for name in os.listdir(folder):
        if name.startswith("master.key") or name == "FORMAT":
            with open(os.path.join(folder, name), "rb") as f:
                found[name] = f.read()
    return found


class Secrets:
    """A server with everything that is sealed: keys of two tenants, an access key, the key that signs what SNS delivers."""

    def __init__(self, test, **options):
        self.test = test
        self.receiver = Receiver()
        test.addCleanup(self.receiver.close)
        self.server = Server("--allow-loopback-destinations", dev=False, token=None, **options)
        test.addCleanup(self.server.close)
        self.server.start()
        self.tenant = self.admin("tenants", "create", "customer")
        self.access = self.admin("keys", "create", "--tenant", "customer")
        self.key = (self.access["access_key_id"], self.access["secret_access_key"])
        self.signing = self.request("GET", "/v2/keys").json()
        self.topic = self.server.sns("CreateTopic", self.key, Name="t").body.decode().split("<TopicArn>")[1].split("</TopicArn>")[0]
        self.server.sns("Subscribe", self.key, TopicArn=self.topic, Protocol="http", Endpoint=self.receiver.url("/sns"))
        [confirmation] = self.receiver.wait("/sns")
        link = urllib.parse.urlsplit(json.loads(confirmation.body)["SubscribeURL"])
        test.assertEqual(self.server.request("GET", f"{link.path}?{link.query}").status, 200)
        self.certificate = self.server.get("/sns/certificate.pem").body
        made = self.server.sqs("CreateQueue", self.key, QueueName="q", Attributes={"VisibilityTimeout": "3600"})
        self.queue = made.json()["QueueUrl"]
        self.server.sqs("SendMessage", self.key, QueueUrl=self.queue, MessageBody="held")
        [held] = self.server.sqs("ReceiveMessage", self.key, QueueUrl=self.queue, WaitTimeSeconds=10).json()["Messages"]
        self.receipt = held["ReceiptHandle"]
        self.rounds = 0

    def admin(self, *arguments):
        done = run_binary(*arguments, "--data", self.server.data, "--json")
        self.test.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def request(self, method, target, body=None, headers=None):
        return self.server.request(method, target, body, headers, token=self.tenant["token"])

    def stop(self):
        self.test.assertEqual(self.server.terminate(), 0, self.server.output()[-2000:])

    def verify(self, code=0, env=None):
        done = run_binary("verify", "--data", self.server.data, env=env)
        self.test.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def rotate(self, *arguments, env=None):
        return run_binary("keys", "rotate-master", "--data", self.server.data, *arguments, env=env)

    def check(self):
        """Start, and everything is as it was. Stops again."""
        self.rounds += 1
        path = f"/signed-{self.rounds}"
        self.server.start()
        self.test.assertEqual(self.request("GET", "/v2/keys").json(), self.signing)
        self.test.assertEqual(self.request("POST", "/v2/publish/" + self.receiver.url(path), b"x").status, 201)
        [got] = self.receiver.wait(path)
        verify_signature(got.headers["Upstash-Signature"], self.signing["current"], self.receiver.url(path), got.body)
        seen = len(self.receiver.at("/sns"))
        self.test.assertEqual(self.server.sns("Publish", self.key, TopicArn=self.topic, Message="m").status, 200)
        self.test.assertTrue(json.loads(self.receiver.wait("/sns", seen + 1)[-1].body)["Signature"])
        self.test.assertEqual(self.server.get("/sns/certificate.pem").body, self.certificate)
        kept = self.server.sqs("ChangeMessageVisibility", self.key, QueueUrl=self.queue, ReceiptHandle=self.receipt,
                               VisibilityTimeout=3600)
        self.test.assertEqual(kept.status, 200, kept.body)
        self.stop()


def environment(**variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")}
    return clean | variables


class Missing(unittest.TestCase):
    def setUp(self):
        self.server = Server(dev=False, token=None)
        self.addCleanup(self.server.close)
        self.server.start()
        self.assertEqual(self.server.terminate(), 0)
        self.file = os.path.join(self.server.data, "master.key")
        with open(self.file) as f:
            self.key = f.read().strip()

    def refused(self, code, *words):
        self.server.spawn()
        self.assertEqual(self.server.process.wait(60), code, self.server.output())
        for word in words:
            self.assertIn(word, self.server.output())

    def test_a_missing_key_is_told_and_none_is_made(self):
        os.rename(self.file, self.file + ".away")
        self.refused(2, "the master key of " + self.server.data + " is missing", "there is no file " + self.file,
                     "HIKYAKU_MASTER_KEY", "backup")
        self.assertFalse(os.path.exists(self.file))
        done = run_binary("verify", "--data", self.server.data)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("is missing: there is no file", done.stdout)
        self.assertIn("1 problems", done.stdout)
        self.assertFalse(os.path.exists(self.file))
        told = json.loads(run_binary("verify", "--data", self.server.data, "--json").stdout)
        self.assertEqual((told["ok"], told["problem_count"], len(told["problems"])), (False, 1, 1))
        done = run_binary("keys", "rotate-master", "--data", self.server.data)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is missing", done.stderr)
        self.assertFalse(os.path.exists(self.file))
        os.rename(self.file + ".away", self.file)
        self.server.start()

    def test_the_key_may_be_given_by_the_environment_instead(self):
        os.remove(self.file)
        done = run_binary("verify", "--data", self.server.data, env=environment(HIKYAKU_MASTER_KEY=self.key))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.server.env["HIKYAKU_MASTER_KEY"] = self.key
        self.server.start()
        self.assertFalse(os.path.exists(self.file))

    def test_another_key_is_told(self):
        with open(self.file, "w") as f:
            f.write(secrets.token_hex(32))
        self.refused(4, "is not the master key that sealed the secrets in " + self.server.data)
        done = run_binary("verify", "--data", self.server.data)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("is not the master key that sealed", done.stdout)
        os.remove(self.file)
        self.server.env["HIKYAKU_MASTER_KEY"] = secrets.token_hex(32)
        self.refused(4, "HIKYAKU_MASTER_KEY", "is not the master key that sealed the secrets in " + self.server.data)

    def test_a_backup_brings_the_key_also_if_its_file_was_lost(self):
        backup = os.path.join(self.server.home, "backup")
        self.server.start()
        os.remove(self.file)
        done = run_binary("backup", "--data", self.server.data, "--to", backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.server.terminate(), 0)
        with open(os.path.join(backup, "master.key")) as f:
            self.assertEqual(f.read().strip(), self.key)
        self.assertEqual(os.stat(os.path.join(backup, "master.key")).st_mode & 0o777, 0o600)

    def test_a_backup_without_its_key_says_so(self):
        os.remove(self.file)
        backup = os.path.join(self.server.home, "backup")
        done = run_binary("backup", "--data", self.server.data, "--to", backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the backup is written without a master key", done.stderr)
        restored = run_binary("restore", "--from", backup, "--data", os.path.join(self.server.home, "restored"))
        self.assertEqual(restored.returncode, 4, restored.stdout)
        self.assertIn("is missing: there is no file", restored.stdout)


class Rotation(unittest.TestCase):
    maxDiff = None

    def test_everything_stays_as_it_was_and_the_old_key_opens_nothing(self):
        made = Secrets(self)
        server, file = made.server, os.path.join(made.server.data, "master.key")
        done = made.rotate()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("is in use by another process: stop that one first", done.stderr)
        made.stop()
        made.check()  # what was in the log is in files now
        before, old = self.sealed_in(server.data), content(server.data)
        self.assertGreaterEqual(len(before), 2)
        backup = os.path.join(server.home, "backup")
        self.assertEqual(run_binary("backup", "--data", server.data, "--to", backup).returncode, 0)

        done = made.rotate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the master key is rotated", done.stdout)

        new = content(server.data)
        self.assertEqual(sorted(new), ["FORMAT", "master.key"])
        self.assertNotEqual(new["master.key"], old["master.key"])
        self.assertEqual((old["FORMAT"], new["FORMAT"]), (b"hikyaku-data 6\n", b"hikyaku-data 6\n"))
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        self.assertNotIn(new["master.key"].decode().strip(), done.stdout + done.stderr)
        self.assertEqual(before & self.sealed_in(server.data), set(), "what the old key opens is in no file any more")
        made.verify()
        made.check()
        made.verify()
        # … and once more: now there is a pepper that has to be sealed anew.
        self.assertEqual(json.loads(made.rotate("--json").stdout), {"rotated": True, "tenants": 2})
        made.check()

        second = os.path.join(server.home, "second")
        self.assertEqual(run_binary("backup", "--data", server.data, "--to", second).returncode, 0)
        self.assertEqual(run_binary("verify", "--data", second).returncode, 0)
        with open(os.path.join(second, "FORMAT")) as f:
            self.assertEqual(f.read(), "hikyaku-data 6\n")
        for key in (old["master.key"], new["master.key"]):
            with open(os.path.join(second, "master.key"), "wb") as f:
                f.write(key)
            self.assertIn("is not the master key that sealed", run_binary("verify", "--data", second).stdout)
        # What was made before goes with the key of its time.
        self.assertEqual(run_binary("verify", "--data", backup).returncode, 0)
        shutil.copy(file, os.path.join(backup, "master.key"))
        self.assertEqual(run_binary("verify", "--data", backup).returncode, 4)

    @staticmethod
    def sealed_in(data):
        """Salt and nonce of each sealed signing key in the files of the store."""
        found = set()
        for name in os.listdir(data):
            if name.endswith((".sst", ".log", ".blob")):
                with open(os.path.join(data, name), "rb") as f:
                    found |= set(re.findall(rb"\x1a\x4d\x01(.{28})", f.read(), re.S))
        return found

    def test_a_crash_anywhere_leaves_the_old_key_or_the_new_one(self):
        made = Secrets(self)
        made.stop()
        for point in STORE_POINTS + POINTS:
            with self.subTest(point):
                before = content(made.server.data)["master.key"]
                done = made.rotate(env=environment(HIKYAKU_CRASH_AT=point + ":1"))
                self.assertEqual(done.returncode, -signal.SIGKILL, done.stdout + done.stderr)
                copies = [made.server.data + "-" + str(i) for i in range(2)]
                for copy in copies:
                    shutil.copytree(made.server.data, copy)
                made.verify()  # brings it to its end …
                done = run_binary("backup", "--data", copies[0], "--to", copies[0] + "-backup")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(run_binary("verify", "--data", copies[0] + "-backup").returncode, 0)
                # … as a start does.
                kept, made.server.data = made.server.data, copies[1]
                made.check()
                made.server.data = kept
                for folder in (kept, copies[0], copies[0] + "-backup", copies[1]):
                    self.assertEqual(sorted(content(folder)), ["FORMAT", "master.key"], folder)
                new = point in ("rotation_resealed", "rotation_named", "log_synced", "batch_written", "sync_begins")
                self.assertEqual(content(kept)["master.key"] != before, new)
                self.assertEqual(content(copies[1])["master.key"] != before, new)
                for copy in copies:
                    shutil.rmtree(copy)
                shutil.rmtree(copies[0] + "-backup")
        self.assertEqual(made.rotate().returncode, 0)
        made.check()

    def test_a_key_of_the_environment_is_replaced_by_another(self):
        old, new = secrets.token_hex(32), secrets.token_hex(32)
        made = Secrets(self, env={"HIKYAKU_MASTER_KEY": old})
        made.stop()
        for env, words in ((environment(HIKYAKU_MASTER_KEY=old), "HIKYAKU_NEW_MASTER_KEY"),
                           (environment(HIKYAKU_MASTER_KEY=old, HIKYAKU_NEW_MASTER_KEY="x"), "64 hexadecimal digits"),
                           (environment(HIKYAKU_MASTER_KEY=old, HIKYAKU_NEW_MASTER_KEY=old), "the current one")):
            done = made.rotate(env=env)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        both = environment(HIKYAKU_MASTER_KEY=old, HIKYAKU_NEW_MASTER_KEY=new)
        done = made.rotate(env=both)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = made.rotate(env=both)  # who did not see the end of it asks again
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was already rotated", done.stdout)
        self.assertEqual(sorted(content(made.server.data)), ["FORMAT"])
        made.verify(4, environment(HIKYAKU_MASTER_KEY=old))
        made.verify(0, environment(HIKYAKU_MASTER_KEY=new))
        made.server.env["HIKYAKU_MASTER_KEY"] = new
        made.check()

        file = os.path.join(made.server.home, "third")
        third = secrets.token_hex(32)
        with open(file, "w") as f:
            f.write(third + "\n")
        with open(file + ".now", "w") as f:
            f.write(new + "\n")
        done = made.rotate("--new-key-file", file, env=environment(HIKYAKU_MASTER_KEY_FILE=file + ".now"))
        self.assertEqual(done.returncode, 0, done.stderr)
        made.server.env["HIKYAKU_MASTER_KEY"] = third
        made.check()


if __name__ == "__main__":
    unittest.main()
