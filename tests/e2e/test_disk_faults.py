"""Disks that are full, fail, or are not what the server needs: each has one outcome, which the documents name
(docs/how-to/run-in-production.md), and nothing that was acknowledged is lost by any.

    HIKYAKU_E2E_FAULTS=all     fail the n-th call for every n, instead of some
"""
import contextlib
import errno
import http.client
import json
import os
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile
import unittest

import corrupt
from disk import FAR, Ledger, ballast, fast_folder, faulty, refused, small_disk
from harness import BINARY, Receiver, Server, run_binary, wait_for

SMALL = ("--write-buffer-bytes", "1MiB", "--cache-bytes", "1MiB")
NO_RESERVE = (*SMALL, "--min-free-disk", "0")
EVERY_CALL = os.environ.get("HIKYAKU_E2E_FAULTS") == "all"
CORRUPT_CASES = int(os.environ.get("HIKYAKU_E2E_CORRUPT", "16"))
MIB = 1 << 20


class Full(unittest.TestCase):
    def test_a_disk_that_is_nearly_full_takes_nothing_new_and_delivers_what_it_has(self):
        with small_disk("40m") as folder, Receiver() as receiver:
            server = Server(*SMALL, "--min-free-disk", "12MiB", data=os.path.join(folder, "data"))
            self.addCleanup(server.close)
            server.start()
            queue, ledger = server.make_queue("q"), Ledger()
            receiver.script("/again", 500, 200)
            waits = server.publish_id(receiver.url("/again"), b"x", Upstash_Retry_Delay="2000")
            later = server.publish_id(FAR, b"x", Upstash_Delay="1h")
            receiver.wait("/again")
            # By publishing alone: however fast that is, the reserve is left.
            while (answer := ledger.publish(server, 200_000)).status == 201:
                pass
            self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "1"), answer.body)
            self.assertIn("nearly full", answer.json()["error"])
            self.assertNotIn("Hikyaku-Outcome", answer.headers)
            space = os.statvfs(folder)
            self.assertGreater(space.f_bavail * space.f_frsize, 6 * MIB)
            # Compaction may have freed a little: from here on it stays so.
            extra = ballast(folder, leave=8 * MIB)
            sent = wait_for(lambda: (one := server.sqs("SendMessage", QueueUrl=queue, MessageBody="x")).status != 200 and one, "a refusal")
            self.assertEqual((sent.status, sent.json()["__type"].split("#")[-1]), (503, "ServiceUnavailable"))
            # What it has is delivered, settled, cancelled; it is ready all the while, and starts again after a kill.
            server.wait_job(waits, "SUCCEEDED")
            self.assertEqual(server.request("DELETE", "/v2/messages/" + later).status, 200)
            self.assertEqual(server.get("/readyz").status, 200)
            server.restart()
            ledger.check(self, server)
            # Room again: it takes messages without a restart.
            os.remove(extra)
            subprocess.run(["mount", "-o", "remount,size=80m", folder], check=True)
            wait_for(lambda: ledger.publish(server, 10).status == 201, "a publish to be taken again")
            self.assertIn("disk.has_room_again", server.output())
            self.assertEqual(server.terminate(), 0)

    def test_a_disk_that_is_full_stops_the_server_and_loses_nothing(self):
        with small_disk("24m") as folder:
            server = Server(*NO_RESERVE, data=os.path.join(folder, "data"))
            self.addCleanup(server.close)
            server.start()
            ledger = Ledger(1)
            for _ in range(20):
                self.assertEqual(ledger.publish(server).status, 201)
            extra = ballast(folder, leave=MIB)
            while (answer := ledger.publish(server, 100_000)) is not None and answer.status == 201:
                pass
            self.assertEqual(server.process.wait(60), 70, server.output()[-2000:])
            self.assertIn("the store failed and the server stops", server.output())
            self.assertIn("make room on it and start again", server.output())
            os.remove(extra)
            extra = ballast(folder)  # what the server freed when it died is gone, too
            for _ in range(3):  # by whatever starts it again and again
                refused(self, server, 70, "No space left on device", "make room on it and start again")
                done = run_binary("verify", "--data", server.data, timeout=60)
                self.assertEqual(done.returncode, 70, done.stderr)
                self.assertIn("make room", done.stderr)
            os.remove(extra)
            self.assertEqual(run_binary("verify", "--data", server.data, timeout=60).returncode, 0)
            server.start()
            ledger.check(self, server)
            self.assertEqual(ledger.publish(server).status, 201)

    def test_a_backup_that_finds_no_room_harms_nobody(self):
        with small_disk("2m") as folder:
            server = Server(*NO_RESERVE)
            self.addCleanup(server.close)
            server.start()
            ledger = Ledger(2)
            for _ in range(3):
                ledger.publish(server, 900_000)
            done = run_binary("backup", "--data", server.data, "--to", os.path.join(folder, "backup"), timeout=120)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "backup")))
            self.assertEqual(ledger.publish(server).status, 201)
            server.kill()
            done = run_binary("backup", "--data", server.data, "--to", os.path.join(folder, "backup"), timeout=120)
            self.assertEqual(done.returncode, 70, done.stderr)
            self.assertIn("make room", done.stderr)
            server.start()
            ledger.check(self, server)


class NthCall(unittest.TestCase):
    """The n-th call of a kind fails: with EIO, or as told. The server ends with 70 and says what failed, or goes on; the next
    start has all that was acknowledged, and verifies."""
    # call, errno, which n are tried unless all are
    ROWS = [("open", errno.EIO, (3,)), ("open", errno.EMFILE, (9, 47)), ("read", errno.EIO, (2,)),
            ("write", errno.EIO, (9, 73)), ("write", errno.ENOSPC, (14,)), ("pwrite", errno.EIO, (1, 3)),
            ("sync", errno.EIO, (1, 20, 24)), ("rename", errno.EIO, (1, 3)), ("fallocate", errno.ENOSPC, (2,)),
            ("truncate", errno.EIO, (1,)), ("link", errno.EIO, (1,))]

    @classmethod
    def setUpClass(cls):
        cls.folder = fast_folder()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.image, cls.ledger = os.path.join(cls.folder, "image"), Ledger(3)
        server = Server(*NO_RESERVE, data=cls.image)
        cls.addClassCleanup(server.close)
        server.start()
        for half in range(2):  # one in tables, one in the log
            for _ in range(8):
                assert cls.ledger.publish(server).status == 201
            server.restart() if half == 0 else server.kill()

    def row(self, call, number, n, fresh):
        """Whether a call failed: then there may be an (n+1)-th."""
        server, ledger = Server(*NO_RESERVE, data=os.path.join(self.folder, "data")), Ledger(n)
        try:
            if not fresh:
                shutil.copytree(self.image, server.data)
                ledger.acknowledged.update(self.ledger.acknowledged)
            with faulty(server, call, at=n, error=number) as faults:
                server.spawn()
                ready = wait_for(lambda: server.process.poll() is not None and "ended" or self.answers(server), "the server", 60)
                if ready != "ended":
                    for _ in range(8):
                        ledger.publish(server)
                    if "store.failed" in server.output():
                        server.process.wait(60)
                ended = server.process.poll()
                if ended is None:
                    server.kill()
                else:
                    self.assertEqual(ended, 70, server.output()[-2000:])
                    # (RocksDB tries out one open() only to learn whether it could bypass the page cache.)
                    self.assertRegex(server.output(), os.strerror(number) + "|Direct I/O is not supported")
                fired = faults.fired()
            self.assertEqual(fired != "" or ended is None, True, server.output()[-2000:])
            server.start()
            ledger.check(self, server)
            self.assertEqual(ledger.publish(server).status, 201)
            server.kill()
            done = run_binary("verify", "--data", server.data, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return fired
        finally:
            server.close()
            shutil.rmtree(server.data, ignore_errors=True)

    @staticmethod
    def answers(server):
        try:
            return server.request("GET", "/readyz", token=None, timeout=2).status == 200
        except OSError:
            return False

    def test_ends_with_70_or_goes_on_and_loses_nothing(self):
        fired = 0
        for call, number, some in self.ROWS:
            for n in range(1, 200) if EVERY_CALL else some:
                with self.subTest(f"{call} number {n} fails with {errno.errorcode[number]}"):
                    more = self.row(call, number, n, fresh=False)
                    fired += more != ""
                if EVERY_CALL and not more:
                    break
        self.assertGreater(fired, 10)

    def test_of_a_first_start_leaves_what_the_next_one_can_finish(self):
        rows = (("write", 2), ("sync", 5), ("rename", 2), ("rename", 5), ("link", 1), ("pwrite", 1))
        for call, n in rows:
            with self.subTest(f"{call} number {n} fails"):
                self.row(call, errno.EIO, n, fresh=True)

    def test_every_sync_that_fails_answers_unknown_or_nothing_and_stops(self):
        server, ledger = Server(*NO_RESERVE, data=os.path.join(self.folder, "syncs")), Ledger(4)
        self.addCleanup(server.close)
        with faulty(server, "sync", times=0, armed=False) as faults:
            server.start()
            self.assertEqual(ledger.publish(server).status, 201)
            faults.arm()
            answer = ledger.publish(server)
            self.assertEqual((answer.status, answer.headers["Hikyaku-Outcome"]), (503, "unknown"))
            self.assertEqual(server.process.wait(60), 70)
            refused(self, server, 70, "Input/output error", "the kernel's log tells more")
        server.start()
        ledger.check(self, server)


class Damaged(unittest.TestCase):
    def test_a_damaged_directory_serves_nothing_wrong(self):
        lines = []
        self.assertEqual(corrupt.run(CORRUPT_CASES, "default", log=lines.append), [])
        self.assertIn(f"{CORRUPT_CASES} damaged directories", lines[-1])


class Unsuitable(unittest.TestCase):
    """What the data directory may be instead, before the first message: refused, and nothing in it is touched."""

    def setUp(self):
        self.server = Server(*NO_RESERVE)
        self.addCleanup(self.server.close)

    def make(self):
        """A directory with messages in it."""
        ledger = Ledger(5)
        self.server.start()
        for _ in range(4):
            ledger.publish(self.server)
        self.server.kill()
        return ledger

    def test_a_file(self):
        open(self.server.data, "w").close()
        refused(self, self.server, 2, "cannot open the data directory", "Not a directory", "Name a directory")

    def test_missing_parents_are_made(self):
        self.server.data = os.path.join(self.server.home, "a", "b", "data")
        self.server.start()
        self.assertEqual(stat.S_IMODE(os.stat(self.server.data).st_mode), 0o700)

    def test_in_use(self):
        ledger = Ledger(6)
        self.server.start()
        ledger.publish(self.server)
        second = Server(*NO_RESERVE, data=self.server.data)
        self.addCleanup(second.close)
        refused(self, second, 3, "is in use by another process", "stop that one first")
        done = run_binary("verify", "--data", self.server.data)
        self.assertEqual(done.returncode, 3, done.stderr)
        ledger.check(self, self.server)
        self.assertEqual(ledger.publish(self.server).status, 201)

    def test_read_only(self):
        with small_disk("16m") as folder:
            self.server.data = os.path.join(folder, "data")
            ledger = self.make()
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
            refused(self, self.server, 2, "not readable and writable", "Read-only file system", "mounted read-only")
            subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
            self.server.start()
            ledger.check(self, self.server)

    def test_a_file_system_that_turns_read_only_while_it_serves(self):
        # As a kernel does after an error of the disk.
        with faulty(self.server, "write,open,pwrite,sync", times=0, error=errno.EROFS, armed=False) as faults:
            ledger = Ledger(7)
            self.server.start()
            ledger.publish(self.server)
            faults.arm()
            ledger.publish(self.server)
            self.assertEqual(self.server.process.wait(60), 70)
            self.assertIn("mounted read-only", self.server.output())
        self.server.start()
        ledger.check(self, self.server)

    def test_of_another_user(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can become somebody else")
        ledger = self.make()
        user = pwd.getpwnam("nobody")
        folder = tempfile.mkdtemp(prefix="hikyaku-user-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        os.chmod(self.server.home, 0o755)
        binary = shutil.copy(BINARY, folder)
        command = self.server.command
        self.server.command = lambda: ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", binary, *command()[1:]]
        self.server.env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        refused(self, self.server, 2, "cannot open the data directory", "Permission denied", "Give it to the user that the server runs as")
        # The directory, but not what is in it: as after a restore by root.
        os.chown(self.server.data, user.pw_uid, user.pw_gid)
        refused(self, self.server, 2, "Permission denied", "Give it to the user that the server runs as")
        del self.server.command
        self.server.start()
        ledger.check(self, self.server)

    def test_too_few_descriptors(self):
        self.limited(40)
        refused(self, self.server, 2, "the limit of open files is 40", "Raise the limit of open files")

    def limited(self, files):
        command = self.server.command
        self.server.command = lambda: ["prlimit", f"--nofile={files}:{files}", *command()]

    def test_clients_cannot_take_the_descriptors_that_the_store_needs(self):
        self.limited(1024)
        self.server.start()
        self.assertIn("the limit of open files (1024) allows", self.server.output())
        ledger = Ledger(8)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.connect()
        crowd = []
        try:
            for _ in range(1200):
                with contextlib.suppress(OSError):
                    crowd.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=10))
            # The one who was there first goes on, and the store opens files for each flush.
            for _ in range(6):
                body = ledger.body(200_000)
                connection.request("POST", "/v2/publish/" + FAR, body, {"Authorization": "Bearer " + self.server.token, "Upstash-Delay": "1h"})
                answer = connection.getresponse()
                told = json.loads(answer.read())
                self.assertEqual(answer.status, 201, told)
                ledger.acknowledged[told["messageId"]] = body
        finally:
            for one in (connection, *crowd):
                one.close()
        wait_for(lambda: NthCall.answers(self.server), "room for a connection")
        ledger.check(self, self.server)

    def test_what_is_made_is_for_the_owner_alone(self):
        self.make()
        self.assertEqual(run_binary("verify", "--data", self.server.data).returncode, 0)
        backup = os.path.join(self.server.home, "backup")
        self.assertEqual(run_binary("backup", "--data", self.server.data, "--to", backup).returncode, 0)
        for folder in (self.server.data, backup):
            for name in os.listdir(folder):
                with self.subTest(name):
                    self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) & 0o077, 0)


if __name__ == "__main__":
    unittest.main()
