"""Damage to a data directory: one file of a copy is flipped, cut, blanked, swapped, deleted, lengthened or taken from an older
copy. What must hold: the start is refused, with a documented code and a reason; or every answer is right; or an answer is an
error. Wrong data, less data, or a message that is "not found" is a breach.

Used by test_disk_faults.py (some cases) and by torture.py --corrupt N."""
import collections
import contextlib
import hashlib
import http.client
import json
import os
import random
import shutil
import time

from disk import FAR, Ledger, body_of_row, fast_folder
from harness import Receiver, Server, run_binary, wait_for

FLAGS = ("--write-buffer-bytes", "1MiB", "--cache-bytes", "1MiB", "--block-cache-bytes", "1MiB", "--min-free-disk", "0",
         "--log-level", "error", "--dedup-window", "7d")  # a long run must not outlive what it asks for
# A start that is refused: what was written is not there (4); FORMAT or master.key is gone or says something else (2, 3).
REFUSALS = {4: None, 2: ("FORMAT", "master.key"), 3: ("FORMAT",)}
NOT_OURS = ("LOCK", "LOG", "LOG.old", "admin.json", "IDENTITY")
KINDS = ("flip", "flip", "flip", "cut", "blank", "delete", "swap", "older", "longer")


class Image:
    """A directory with something of everything in tables, blob files and the log, and what a client knows of it."""

    def __init__(self, binary=None):
        self.folder = fast_folder()
        self.binary = binary
        self.sound, self.older = os.path.join(self.folder, "sound"), os.path.join(self.folder, "older")
        self.ledger, self.dead, self.dedup = Ledger(17), set(), {}
        with Receiver() as receiver:
            receiver.script("/dead", 500)
            server = Server(*FLAGS, data=self.sound, binary=binary)
            try:
                for part in range(3):
                    server.start()
                    self.fill(server, receiver, part)
                    self.settled(server)
                    server.kill()
                    if part == 1:
                        shutil.copytree(self.sound, self.older)
                self.files = sorted(name for name in os.listdir(self.sound) if os.path.getsize(os.path.join(self.sound, name)))
            finally:
                server.close()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self, server, receiver, part):
        for number in range(12):
            answer = self.ledger.publish(server, Upstash_Deduplication_Id=f"d-{part}-{number}", Upstash_Delay="7d")
            assert answer.status == 201, answer.body
            self.dedup[f"d-{part}-{number}"] = answer.json()["messageId"]
        dead = server.publish_id(receiver.url("/dead"), b"dead %d" % part, Upstash_Retries=0)
        server.wait_dead_letter(dead)
        self.dead.add(dead)
        queue = server.make_queue(f"q{part}")
        for number in range(3):
            assert server.sqs("SendMessage", QueueUrl=queue, MessageBody=f"m {part} {number}").status == 200
        # Some in tables that were compacted, some canceled.
        gone = next(iter(self.ledger.acknowledged))
        assert server.request("DELETE", "/v2/messages/" + gone).status == 200
        del self.ledger.acknowledged[gone]
        self.dedup = {key: message for key, message in self.dedup.items() if message != gone}

    @staticmethod
    def settled(server):
        """The last batches are witnessed: a kill before that may lose what nobody could have noticed missing."""
        marks = ("hikyaku_store_last_written", "hikyaku_store_witnessed")
        with contextlib.suppress(KeyError):
            wait_for(lambda: len({server.metrics()[mark] for mark in marks}) == 1, "the witness")
            return
        time.sleep(1)

    # ---- damage ----

    def damage(self, seed, copy):
        """Makes the copy and damages it; what was done, or None where that changes nothing."""
        rng = random.Random(seed)
        kind = rng.choice(KINDS)
        # Each kind of file as often as any other, however many there are of it.
        endings = collections.defaultdict(list)
        for name in self.files:
            endings[name.rsplit(".", 1)[-1].split("-")[0]].append(name)
        name = rng.choice(endings[rng.choice(sorted(endings))])
        shutil.copytree(self.sound, copy)
        path = os.path.join(copy, name)
        with open(path, "rb") as f:
            content = bytearray(f.read())
        before = bytes(content)
        what = f"{kind} {name}"
        if kind == "flip":
            at, bit = rng.randrange(len(content)), rng.randrange(8)
            content[at] ^= 1 << bit
            what += f" byte {at} bit {bit}"
        elif kind == "cut":
            at = rng.randrange(len(content))
            del content[at:]
            what += f" to {at} of {len(before)}"
        elif kind == "blank":
            at = rng.randrange(len(content)) // 512 * 512
            content[at:at + 512] = bytes(len(content[at:at + 512]))
            what += f" 512 bytes at {at}"
        elif kind == "longer":
            content += rng.randbytes(rng.randrange(1, 5000))
        elif kind == "swap":
            other = rng.choice(self.files)
            what += f" with {other}"
            with open(os.path.join(copy, other), "rb") as f:
                content = bytearray(f.read())
            with open(os.path.join(copy, other), "wb") as f:
                f.write(before)
        elif kind == "older":
            old = os.path.join(self.older, name)
            if not os.path.exists(old):
                return None
            with open(old, "rb") as f:
                content = bytearray(f.read())
        if kind == "delete":
            os.remove(path)
        elif bytes(content) == before:
            return None
        else:
            with open(path, "wb") as f:
                f.write(content)
        return what

    # ---- judgement ----

    def judge(self, seed, copy):
        """(what was done, outcome, breaches); outcome: "same" (nothing changed), "refused", "error" or "right"."""
        what = self.damage(seed, copy)
        if what is None:
            return what, "same", []
        breaches = []
        name = what.split()[1]
        verified = copy + ".verify"
        shutil.copytree(copy, verified)
        done = run_binary("verify", "--data", verified, binary=self.binary, timeout=120)
        shutil.rmtree(verified)
        if done.returncode not in (0, 1, 3, 4) or (done.returncode != 0 and not (done.stderr + done.stdout).strip()):
            breaches.append(f"verify exits {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
        server = Server(*FLAGS, data=copy, binary=self.binary)
        try:
            server.spawn()
            ended = wait_for(lambda: server.process.poll() is not None and "ended" or answers(server), "the server", 60)
            if ended == "ended":
                code, told = server.process.returncode, server.output()
                files = REFUSALS.get(code, ())
                if code not in REFUSALS or (files is not None and not any(one in what for one in files)):
                    breaches.append(f"the start ends with {code}: {told[-600:]}")
                if "hikyaku: " not in told:
                    breaches.append(f"the start is refused without a reason: {told[-600:]}")
                return what, "refused", breaches
            wrong, errors = self.read(server)
            breaches += wrong
            if errors and done.returncode == 0:
                breaches.append(f"verify finds nothing, and yet: {errors[0]}")
            if not errors and not wrong and done.returncode not in (0, 4):
                breaches.append(f"verify exits {done.returncode} and all is right: {done.stderr[-300:]}")
            if server.process.poll() is not None and server.process.returncode != 4:
                breaches.append(f"the server ended with {server.process.returncode}: {server.output()[-600:]}")
            return what, "error" if errors else "right", breaches
        except AssertionError as error:
            return what, "stuck", [*breaches, f"{name}: {error}"]
        finally:
            server.close()

    def read(self, server):
        """What is wrong, and what was answered as an error."""
        wrong, errors = [], []

        def ask(method, target, *rest, **options):
            try:
                answer = server.request(method, target, *rest, **options)
            except (OSError, http.client.HTTPException) as error:
                if server.process.poll() is None and not stops(server):
                    wrong.append(f"{method} {target} is not answered: {error}")
                errors.append(f"{method} {target}: the server has stopped")
                return None
            if answer.status >= 500:
                errors.append(f"{method} {target}: {answer.status} {answer.body[:200]!r}")
                return None
            return answer

        for message_id, body in self.ledger.acknowledged.items():
            answer = ask("GET", "/v2/messages/" + message_id)
            if answer is None:
                continue
            if answer.status != 200:
                wrong.append(f"{message_id} was acknowledged and answers {answer.status} {answer.body[:200]!r}")
            elif hashlib.sha256(body_of_row(answer.json())).digest() != hashlib.sha256(body).digest():
                wrong.append(f"{message_id} has another body")
        answer = ask("GET", "/v2/dlq")
        if answer is not None and {one["messageId"] for one in answer.json()["messages"]} != self.dead:
            wrong.append(f"the dead letters are {answer.body[:300]!r}")
        for key, message_id in random.Random(0).sample(sorted(self.dedup.items()), 6):
            answer = ask("POST", "/v2/publish/" + FAR, b"again", {"Upstash-Deduplication-Id": key, "Upstash-Delay": "1h"})
            if answer is not None and (answer.status, answer.json().get("messageId")) != (202, message_id):
                wrong.append(f"{key} was taken again: {answer.status} {answer.body[:200]!r}")
        for part in range(3):
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = server.sqs("ReceiveMessage", QueueUrl=f"http://127.0.0.1:{server.port}/000000000000/q{part}",
                                    MaxNumberOfMessages=10)
                got = sorted(one["Body"] for one in json.loads(answer.body).get("Messages", ())) if answer.status == 200 else None
                if answer.status < 500 and got != [f"m {part} {number}" for number in range(3)]:
                    wrong.append(f"of queue q{part} came {answer.status} {got or answer.body[:200]!r}")
                elif answer.status >= 500:
                    errors.append(f"q{part}: {answer.status}")
        return wrong, errors


def answers(server):
    try:
        return server.request("GET", "/readyz", token=None, timeout=2).status == 200
    except (OSError, http.client.HTTPException):
        return False


def stops(server):
    """Whether it ends by itself, as it does when its core has read what is not what was written."""
    with contextlib.suppress(Exception):
        server.process.wait(5)
    return server.process.poll() is not None


def say(line):
    print(line, flush=True)


def run(cases, seed, binary=None, log=say):
    """The breaches of this many cases."""
    image, counts, breaches, begun = Image(binary), collections.Counter(), [], time.monotonic()
    copy, number = os.path.join(image.folder, "copy"), 0
    try:
        while sum(counts.values()) < cases:
            number += 1
            what, outcome, found = image.judge(f"{seed}/{number}", copy)
            shutil.rmtree(copy, ignore_errors=True)
            if outcome == "same":
                continue
            counts[outcome] += 1
            for one in found:
                breaches.append(f"{what} (seed {seed}/{number}): {one}")
                log(f"BREACH {breaches[-1]}")
            if sum(counts.values()) % 100 == 0:
                log(f"  {sum(counts.values())} cases, {dict(counts)}, {time.monotonic() - begun:.0f} s")
    finally:
        image.close()
    log(f"seed {seed}: {sum(counts.values())} damaged directories: {counts['refused']} refused to start, {counts['error']} answered with "
        f"an error, {counts['right']} served everything right; {len(breaches)} breaches")
    return breaches
