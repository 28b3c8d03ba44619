#!/usr/bin/env python3
"""Runs fuzz targets that were linked with libFuzzer, several at a time, and adds up what they did.

    python3 tests/fuzz/run.py [--build build/fuzz] [--seconds 60] [--jobs N] [TARGET...]

Each target begins with its corpus and with what earlier runs have found to reach new code (found/NAME below the
build folder); with dictionary/NAME, if there is one. A finding ends its own target only. Prints a row per target
(executions, executions per second of processor time, covered edges) and the total. Exits 1 when there was a finding;
the input is in found/, the report of the sanitizer in found/NAME.log.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INPUT_BYTES_MAX = 16384
ROW = "{:<15} {:>12} {:>9} {:>9} {:>9}  {}"


class Outcome:
    """What one run of a target did, read from the report that libFuzzer leaves."""

    def __init__(self, target, code, seconds, log):
        self.target, self.code, self.seconds, self.log = target, code, seconds, log
        with open(log, errors="replace") as file:
            report = file.read()
        self.executions = int((re.findall(r"^stat::number_of_executed_units: (\d+)", report, re.M) or ["0"])[-1])
        self.edges = (re.findall(r"\bcov: (\d+)", report) or ["-"])[-1]
        self.artifacts = re.findall(r"Test unit written to (\S+)", report)

    def row(self):
        rate = self.executions / self.seconds if self.seconds > 0 else 0
        found = "-" if self.code == 0 else f"exit {self.code}: {', '.join(self.artifacts) or 'no input kept'}, {self.log}"
        return ROW.format(self.target, f"{self.executions:,}", f"{self.seconds:.0f}", f"{rate:,.0f}", self.edges, found)


def fuzz(target, build, seconds):
    found = os.path.join(build, "found")
    os.makedirs(os.path.join(found, target), exist_ok=True)
    command = [os.path.join(build, "tests/fuzz", f"hk_fuzz_{target}"), f"-max_total_time={seconds}",
               f"-max_len={INPUT_BYTES_MAX}", "-timeout=10", "-print_final_stats=1",
               f"-artifact_prefix={os.path.join(found, target)}-"]
    dictionary = os.path.join(HERE, "dictionary", target)
    if os.path.exists(dictionary):
        command.append(f"-dict={dictionary}")
    log = os.path.join(found, f"{target}.log")
    with open(log, "w") as file:
        process = subprocess.Popen(command + [os.path.join(found, target), os.path.join(HERE, "corpus", target)],
                                   stdout=file, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Outcome(target, process.returncode, used.ru_utime + used.ru_stime, log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/fuzz"))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--jobs", type=int, default=1, help="targets that run at the same time")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    args = parser.parse_args()
    targets = args.targets or sorted(os.listdir(os.path.join(HERE, "corpus")))

    began = time.monotonic()
    print(ROW.format("target", "executions", "CPU s", "per s", "edges", "finding"), flush=True)
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = [pool.submit(fuzz, target, args.build, args.seconds) for target in targets]
        for done in concurrent.futures.as_completed(running):
            outcomes.append(done.result())
            print(outcomes[-1].row(), flush=True)
    findings = sum(outcome.code != 0 for outcome in outcomes)
    print(f"{sum(outcome.executions for outcome in outcomes):,} executions of {len(outcomes)} targets in "
          f"{time.monotonic() - began:.0f} s, {findings} finding{'' if findings == 1 else 's'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
