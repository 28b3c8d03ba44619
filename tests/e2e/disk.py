"""Disks that fail: a library that makes the server's calls fail, small file systems, damage to files; and a ledger
of what was acknowledged, which is compared with what the server knows afterwards."""
import base64
import contextlib
import hashlib
import http.client
import os
import random
import shutil
import subprocess
import tempfile
import unittest

from harness import ROOT

FAR = "http://127.0.0.1:9/far"  # nobody listens there; what goes there is due in an hour

_library = None


def fault_library():
    """faults.c, compiled once; skips the test where there is no compiler."""
    global _library
    if _library is None:
        if not shutil.which("cc"):
            raise unittest.SkipTest("cc is not here to build faults.c")
        folder = tempfile.TemporaryDirectory(prefix="hikyaku-faults-")
        path = os.path.join(folder.name, "faults.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path,
                        os.path.join(ROOT, "tests", "e2e", "faults.c"), "-ldl"], check=True)
        _library = (folder, path)
    return _library[1]


class Faults:
    """The environment of a server whose calls fail; arm() starts the counting, fired() tells what has failed."""

    def __init__(self, server, calls, at=1, times=1, error=5, armed=True, below=None):
        self.armed_path = os.path.join(server.home, "armed")
        self.fired_path = os.path.join(server.home, "fired")
        for path in (self.armed_path, self.fired_path):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        self.env = {"LD_PRELOAD": fault_library(), "HK_FAULT_PATH": below or server.data, "HK_FAULT_CALLS": calls,
                    "HK_FAULT_AT": str(at), "HK_FAULT_TIMES": str(times), "HK_FAULT_ERRNO": str(error),
                    "HK_FAULT_ARMED": self.armed_path, "HK_FAULT_FIRED": self.fired_path,
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        if armed:
            self.arm()

    def arm(self):
        open(self.armed_path, "w").close()

    def fired(self):
        with contextlib.suppress(FileNotFoundError), open(self.fired_path) as f:
            return f.read()
        return ""


def late_clock(seconds):
    """The environment of a server whose wall clock is late by this much."""
    return {"LD_PRELOAD": fault_library(), "HK_CLOCK_BACK": str(int(seconds)),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


class faulty:
    """with faulty(server, "sync", at=3) as faults: what is started inside has these faults."""

    def __init__(self, server, *arguments, **options):
        self.server, self.faults = server, Faults(server, *arguments, **options)

    def __enter__(self):
        self.clean = self.server.env
        self.server.env = self.clean | self.faults.env
        return self.faults

    def __exit__(self, *_):
        self.server.env = self.clean


@contextlib.contextmanager
def small_disk(size):
    """A file system of this size; skips the test where none can be mounted."""
    folder = tempfile.mkdtemp(prefix="hikyaku-disk-")
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"no file system can be mounted here: {done.stdout.strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ballast(folder, leave=0):
    """Fills the file system but for some bytes; the file that does."""
    path = os.path.join(folder, "ballast")
    with contextlib.suppress(OSError), open(path, "wb") as f:
        left = lambda: os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize - leave  # noqa: E731
        while left() > 0:
            f.write(bytes(max(min(left(), 1 << 20), 4096)))
            f.flush()
    return path


def fast_folder():
    """Where a sync costs nothing: these tests make hundreds, and what they look at is not the disk."""
    shared = "/dev/shm"
    return tempfile.mkdtemp(prefix="hikyaku-disk-", dir=shared if os.access(shared, os.W_OK) else None)


def body_of_row(row):
    return base64.b64decode(row["bodyBase64"]) if "bodyBase64" in row else row.get("body", "").encode()


class Ledger:
    """What a publisher knows: what it sent, and what of it was acknowledged."""

    def __init__(self, seed=0):
        self.random = random.Random(seed)
        self.acknowledged = {}  # id -> body
        self.unknown = []  # bodies whose outcome nobody was told

    def body(self, size=None):
        # Of every kind of place: in a table, and (from 4 KiB on) in a blob file.
        return self.random.randbytes(size if size is not None else self.random.choice((0, 30, 700, 6000)))

    def publish(self, server, size=None, **headers):
        """The answer; None when none came."""
        body = self.body(size)
        try:
            answer = server.publish(FAR, body, **({"Upstash_Delay": "1h"} | headers))
        except (OSError, http.client.HTTPException):
            self.unknown.append(body)
            return None
        if answer.status in (201, 202):
            self.acknowledged[answer.json()["messageId"]] = body
        elif answer.headers.get("Hikyaku-Outcome") == "unknown":
            self.unknown.append(body)
        return answer

    def check(self, test, server):
        """Everything acknowledged is there, with its bytes."""
        for message_id, body in self.acknowledged.items():
            answer = server.get("/v2/messages/" + message_id)
            test.assertEqual(answer.status, 200, f"{message_id} was acknowledged: {answer.body[:300]}")
            test.assertEqual(hashlib.sha256(body_of_row(answer.json())).hexdigest(), hashlib.sha256(body).hexdigest(), message_id)


def refused(test, server, code, *says):
    """Starts it; it must end with this code and say these things, each on standard error and for a person."""
    server.spawn()
    got = server.process.wait(60)
    told = server.output()
    with open(server.stderr_path, errors="replace") as f:
        last = f.read()
    test.assertEqual(got, code, told[-3000:])
    for text in says:
        test.assertIn(text, last)
    return last
