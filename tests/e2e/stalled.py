#!/usr/bin/env python3
"""Runs a command as on a machine that has no time for it: its processes, and those that they start, are stopped for moments.

    python3 tests/e2e/stalled.py [--stall SECONDS] [--often N] COMMAND...

A test that depends on somebody being fast fails under it sooner or later, and one that is right does not. For example:

    python3 tests/e2e/stalled.py python3 tests/e2e/run.py --binary build/release/hikyaku --files test_restart.py
    python3 tests/e2e/stalled.py node tests/conformance/sqs/run.mjs --binary build/release/hikyaku restart
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

TICK = 0.1


def descendants(root):
    """A descriptor for each process below `root`, as {pid: descriptor}: a number alone could be somebody else's by then."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(name))
    found, left = {}, [root]
    while left:
        for pid in children.get(left.pop(), []):
            left.append(pid)
            try:
                found[pid] = os.pidfd_open(pid)
            except OSError:
                pass
    return found


def send(descriptor, number):
    try:
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stall", type=float, default=2.5, help="for how many seconds at most")
    parser.add_argument("--often", type=float, default=0.2, help="how many times in a second for each process")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("a command is needed")
    chance = random.Random(arguments.seed)
    # Under a shell, so that the command itself is a descendant, too.
    process = subprocess.Popen(["sh", "-c", '"$@"; exit $?', "sh", *arguments.command])
    stopped, stalls = {}, 0  # pid: (descriptor, until)
    try:
        while process.poll() is None:
            now = time.monotonic()
            for pid in [pid for pid, (_, until) in stopped.items() if now > until]:
                descriptor, _ = stopped.pop(pid)
                send(descriptor, signal.SIGCONT)
                os.close(descriptor)
            for pid, descriptor in descendants(process.pid).items():
                if pid in stopped or chance.random() > arguments.often * TICK:
                    os.close(descriptor)
                    continue
                send(descriptor, signal.SIGSTOP)
                stopped[pid] = descriptor, now + chance.uniform(0, arguments.stall)
                stalls += 1
            time.sleep(TICK)
    finally:
        for descriptor, _ in stopped.values():
            send(descriptor, signal.SIGCONT)
    print(f"{stalls} stalls", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
