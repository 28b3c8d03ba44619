"""Name servers that fail, flap, lie and fall silent, as the system's own resolver sees them. The server and its name server
run in namespaces of their own: port 53 is free there, and /etc/resolv.conf is ours."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

from harness import BINARY, Receiver, Server, wait_for
from names import AAAA, CNAME, NXDOMAIN, SERVFAIL, NameServer, addresses, labels, record

INSIDE = "HIKYAKU_E2E_OWN_NETWORK"
HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACES = ["unshare", "--map-root-user", "--mount", "--net"]
PRIVATE = "10.99.0.1"
NOT_RESOLVED = "host name not resolved: "


def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(Names if os.environ.get(INSIDE) else Outside)


class Outside(unittest.TestCase):
    def test_names_in_a_network_of_its_own(self):
        if subprocess.run([*NAMESPACES, "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces of one's own are allowed here")
        done = subprocess.run([*NAMESPACES, sys.executable, os.path.join(HERE, "run.py"), "--binary", BINARY, "--files",
                               "test_names.py", "-v"], env=os.environ | {INSIDE: "1"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)


def only_v4(*said):
    """The n-th answer to the n-th question, the last one ever after; there are no IPv6 addresses."""
    return lambda asked, kind: [] if kind == AAAA else said[min(asked, len(said) - 1)]


class Names(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        file = tempfile.NamedTemporaryFile("w", prefix="hikyaku-resolv-")
        cls.addClassCleanup(file.close)
        file.write("nameserver 127.0.0.1\n")
        file.flush()
        os.chmod(file.name, 0o644)
        for command in (["ip", "link", "set", "lo", "up"], ["ip", "address", "add", PRIVATE + "/32", "dev", "lo"],
                        ["mount", "--bind", file.name, "/etc/resolv.conf"]):
            subprocess.run(command, check=True)
        here = "127.0.0.1"
        flip = addresses("flips.test", here)
        script = {
            "good.test": only_v4(addresses("good.test", here)),
            "neighbour.test": only_v4(addresses("neighbour.test", here)),
            "broken.test": lambda *_: SERVFAIL,
            "silent.test": lambda *_: None,
            "empty.test": lambda *_: [],
            "late.test": only_v4(NXDOMAIN, addresses("late.test", here)),
            # The system asks again by itself when it is told "not now".
            "flaps.test": only_v4(SERVFAIL, SERVFAIL, SERVFAIL, SERVFAIL, addresses("flaps.test", here)),
            "many.test": only_v4(addresses("many.test", *[f"127.{i // 250}.0.{i % 250 + 1}" for i in range(1000)])),
            "circle.test": lambda *_: [record("circle.test", CNAME, labels("round.test")),
                                       record("round.test", CNAME, labels("circle.test"))],
            "round.test": lambda *_: [record("round.test", CNAME, labels("circle.test"))],
            "garbage.test": lambda *_: b"\x81\x80" + b"\xff" * 40,
            "short.test": lambda *_: b"\x81",
            "alias.test": lambda asked, kind: [record("alias.test", CNAME, labels("good.test"))]
                                              + ([] if kind == AAAA else addresses("good.test", here)),
            "inside.test": only_v4(addresses("inside.test", PRIVATE)),
            "mixed.test": only_v4(addresses("mixed.test", here, PRIVATE)),
            "flips.test": only_v4(flip, addresses("flips.test", PRIVATE)),
            "other.test": only_v4(addresses("another.test", here)),
        } | {f"hangs{i}.test": lambda *_: None for i in range(24)}
        cls.names = NameServer(script)
        cls.addClassCleanup(cls.names.close)
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def publish(self, name, retries=0):
        return self.server.publish_id(f"http://{name}:{self.receiver.port}/{name}", Upstash_Retries=retries,
                                      Upstash_Retry_Delay="100", Upstash_Timeout="30s")

    def end(self, message_id):
        """(status, the errors of its attempts)"""
        job = wait_for(lambda: next((j for j in [self.server.job(message_id)] if j["status"] in ("SUCCEEDED", "FAILED")), None),
                       lambda: f"the end of {self.server.job(message_id)}", 60)
        return job["status"], [one.get("error") or "" for one in job["attempts"]]

    def test_every_answer_gives_its_outcome(self):
        blocked = "blocked_by_policy"
        rows = {  # name -> (retries, status, what each error begins with)
            "good.test": (0, "SUCCEEDED", [""]),
            "alias.test": (0, "SUCCEEDED", [""]),
            "nowhere.test": (0, "FAILED", [NOT_RESOLVED + "Name or service not known"]),
            "broken.test": (0, "FAILED", [NOT_RESOLVED + "Temporary failure"]),
            "silent.test": (0, "FAILED", [NOT_RESOLVED]),
            "empty.test": (0, "FAILED", [NOT_RESOLVED + "No address associated with hostname"]),
            "late.test": (1, "SUCCEEDED", [NOT_RESOLVED, ""]),
            "many.test": (0, "SUCCEEDED", [""]),
            "circle.test": (0, "FAILED", [NOT_RESOLVED]),
            "garbage.test": (0, "FAILED", [NOT_RESOLVED]),
            "short.test": (0, "FAILED", [NOT_RESOLVED]),
            "inside.test": (0, "FAILED", [blocked]),
            "mixed.test": (0, "FAILED", [blocked]),
            "other.test": (0, "FAILED", [NOT_RESOLVED]),
        }
        sent = {name: self.publish(name, retries) for name, (retries, _, _) in rows.items()}
        for name, (_, status, errors) in rows.items():
            with self.subTest(name):
                got_status, got_errors = self.end(sent[name])
                self.assertEqual((got_status, len(got_errors)), (status, len(errors)), got_errors)
                for got, expected in zip(got_errors, errors):
                    self.assertTrue(got.startswith(expected) if expected else got == "", got_errors)
                self.assertEqual(len(self.receiver.at("/" + name)), 1 if status == "SUCCEEDED" else 0)

    def test_names_that_flap_cost_retries_and_nothing_else(self):
        status, errors = self.end(self.publish("flaps.test", 20))
        self.assertEqual(status, "SUCCEEDED", errors)
        self.assertEqual(len(self.receiver.at("/flaps.test")), 1)

    def test_a_name_that_moves_into_private_space_is_not_followed(self):
        self.assertEqual(self.end(self.publish("flips.test"))[0], "SUCCEEDED")

        def moved():
            return self.end(self.publish("flips.test"))[1] == ["blocked_by_policy"]

        wait_for(moved, "the old answer to be forgotten", 60)

    def test_names_that_hang_hold_up_nobody_else(self):
        hanging = [self.publish(f"hangs{i}.test") for i in range(24)]
        began = time.monotonic()
        # A machine that is slow beyond measure may need more than one try; behind the others all of them would fail.
        self.assertEqual(self.end(self.publish("neighbour.test", 2))[0], "SUCCEEDED")
        took = time.monotonic() - began
        for one in hanging:
            status, errors = self.end(one)
            self.assertEqual((status, errors[0].startswith(NOT_RESOLVED)), ("FAILED", True), errors)
        print(f"a neighbour of 24 names that hang was delivered to after {took * 1000:.0f} ms")


if __name__ == "__main__":
    unittest.main()
