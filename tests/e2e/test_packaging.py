"""The units of packaging/: how much they leave open, and that the server lives with what they leave."""
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BINARY, ROOT, Receiver, Server

UNITS = ("hikyaku.service", "hikyaku-outbox.service")
EXPOSURE_MAX = 1.5  # of systemd-analyze security; docs/how-to/run-in-production.md tells the figure


def unit(name):
    with open(os.path.join(ROOT, "packaging", name)) as f:
        return f.read()


def settings(name):
    """key -> values, in order."""
    found = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", unit(name), re.M):
        found.setdefault(key, []).append(value)
    return found


def exposure(name):
    told = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", os.path.join(ROOT, "packaging", name)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return float(re.search(r"Overall exposure level.*: ([\d.]+)", told)[1])


def system_calls(group):
    """The names in a group of systemd, those of its parts included."""
    told = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", group], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = set()
    for word in re.findall(r"^\s+([@\w-]+)$", told, re.M):
        names |= system_calls(word) if word.startswith("@") else {word}
    return names


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class Exposure(unittest.TestCase):
    def test_the_units_leave_little_open(self):
        for name in UNITS:
            with self.subTest(name):
                self.assertLessEqual(exposure(name), EXPOSURE_MAX)

    def test_the_documents_tell_the_figure(self):
        for name, page in (("hikyaku.service", "run-in-production.md"), ("hikyaku-outbox.service", "run-the-relay.md")):
            with open(os.path.join(ROOT, "docs", "how-to", page)) as f:
                told = re.search(r"`systemd-analyze security` rates it ([\d.]+)", f.read())
            self.assertTrue(told, page)
            # Versions of systemd weigh the same settings a little differently.
            self.assertAlmostEqual(float(told[1]), exposure(name), delta=0.3)


class Units(unittest.TestCase):
    def test_they_run_as_nobody_in_particular(self):
        self.assertEqual(settings("hikyaku.service")["User"], ["hikyaku"])
        self.assertEqual(settings("hikyaku-outbox.service")["DynamicUser"], ["yes"])
        for name in UNITS:
            self.assertEqual((settings(name)["CapabilityBoundingSet"], settings(name)["NoNewPrivileges"]), ([""], ["yes"]), name)

    def test_they_leave_time_to_stop(self):
        for name in UNITS:
            self.assertGreaterEqual(int(settings(name)["TimeoutStopSec"][0]), 40, name)  # twice the default of `drain`


class Unprivileged(unittest.TestCase):
    """The server with what the unit leaves it, as far as that can be had without systemd as the first process."""

    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can take rights away")
        self.home = tempfile.mkdtemp(prefix="hikyaku-unprivileged-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        os.chmod(self.home, 0o755)
        self.binary = os.path.join(self.home, "hikyaku")
        shutil.copy(BINARY, self.binary)
        self.user = pwd.getpwnam("nobody")
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def start(self, *wrapper):
        server = Server("--log-level", "debug")
        # Its leak check traces the process, which takes rights and cannot be done twice at once.
        server.env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        self.addCleanup(server.close)
        os.chmod(server.home, 0o755)
        os.mkdir(server.data, 0o700)
        os.chown(server.data, self.user.pw_uid, self.user.pw_gid)
        server.command = lambda: [*wrapper, "setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups",
                                  "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", self.binary, *Server.command(server)[1:]]
        return server.start()

    def use(self, server):
        """A bit of everything that touches the system in its own way."""
        server.publish_id(self.receiver.url("/hook"), b"x" * 100_000)
        server.publish_id(f"http://localhost:{self.receiver.port}/name", b"x")
        queue = server.make_queue("q")
        server.sqs("SendMessage", QueueUrl=queue, MessageBody="x")
        self.assertEqual(len(server.receive(queue, WaitTimeSeconds=5)), 1)
        self.receiver.wait("/hook")
        self.receiver.wait("/name")
        server.metrics()

    def test_it_needs_no_rights_and_leaves_no_core(self):
        server = self.start()
        self.use(server)
        with open(f"/proc/{server.process.pid}/status") as f:
            status = dict(re.findall(r"^(\w+):\s*(.*)$", f.read(), re.M))
        with open(f"/proc/{server.process.pid}/limits") as f:
            self.assertRegex(f.read(), r"Max core file size\s+0\s+0")
        self.assertEqual({int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")}, {0})
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(server.terminate(), 0)
        for folder, _, names in os.walk(server.data):
            for name in names:
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o077, 0, name)

    @unittest.skipUnless(shutil.which("strace") and shutil.which("systemd-analyze"), "strace or systemd-analyze is not installed")
    def test_it_makes_no_system_call_that_the_unit_forbids(self):
        with open(self.binary, "rb") as f:
            if b"__asan_init" in f.read():
                self.skipTest("a sanitizer makes system calls of its own")
        allowed = system_calls("@default") | system_calls("@system-service")
        for value in settings("hikyaku.service")["SystemCallFilter"]:
            if value.startswith("~"):
                for group in value[1:].split():
                    allowed -= system_calls(group)
        self.assertIn("fdatasync", allowed)
        self.assertNotIn("ptrace", allowed)
        trace = os.path.join(self.home, "trace")
        server = self.start("strace", "-f", "-qq", "-c", "-o", trace)
        self.use(server)
        with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children") as f:
            pid = int(f.read().split()[0])
        os.kill(pid, signal.SIGHUP)
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(server.process.wait(60), 0)
        with open(trace) as f:
            used = {name for name in re.findall(r" ([a-z]\w+)$", f.read(), re.M)} - {"total", "syscall"}
        self.assertIn("fdatasync", used)
        # setpriv's own, before the server begins.
        before = {"setresuid", "setresgid", "setgroups", "prctl", "capset", "capget", "execve"}
        self.assertEqual(used - allowed - before, set())


if __name__ == "__main__":
    unittest.main()
