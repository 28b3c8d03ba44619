#!/usr/bin/env python3
"""Plants a defect, builds the test that must see it, and requires that it fails.

    python3 tests/planted/run.py [AREA | NAME...]      all of them, or some; "sim" is an area, too
    python3 tests/planted/run.py --sample N sim        some of them, drawn anew each time (--draw SEED: the same ones again)
    python3 tests/planted/run.py --check               only: does every patch still apply?
    python3 tests/planted/run.py --shrink [NAME...]    the defects of tests/sim/planted: how small does their first failure get?

Each tests/planted/AREA/NAME.patch says in its head what is wrong and which test sees it:

    Caught by: unit_core NextAfter.*         a GoogleTest binary (hk_unit_core) and a filter
    Caught by: sim 1..200                    seeds of the simulator, and more words for it
    Caught by: fuzz handle                   a fuzz target on its corpus
    Caught by: e2e test_x.py test_name       an end-to-end test of the real binary

The work is done in a copy of the tree, build/planted; the tree itself is not touched. The test must pass there without the
patch and fail with it.

tests/sim/planted/NAME.patch are the defects that the simulator must see among its first thousand seeds. Each changes one source
file, which is compiled and linked before the libraries: no copy of the tree, and nothing else is built again.
"""
import argparse
import glob
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TREE = os.path.join(ROOT, "build", "planted")
BUILD = os.path.join(TREE, "build", "release")
SWITCHES = ["ack_before_sync", "effects_before_durable", "unsynced_batches_forgotten"]


class Plant:
    def __init__(self, path):
        self.path = path
        self.area = os.path.basename(os.path.dirname(path))
        self.name = os.path.basename(path).removesuffix(".patch")
        with open(path) as f:
            head = f.read().split("\n--- a/")[0]
        self.caught_by = re.search(r"^Caught by: (\S+) (.+)$", head, re.M).groups()

    def apply(self, *flags, tree=TREE):
        return subprocess.run(["patch", "-p1", "--silent", "--force", "--reject-file=-", "--no-backup-if-mismatch", *flags, "-i", self.path],
                              cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def all_plants():
    return [Plant(path) for path in sorted(glob.glob(os.path.join(HERE, "*", "*.patch")))]


def copy_tree():
    """Only what has changed is written, so that only that is built again."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        source, target = os.path.join(ROOT, name), os.path.join(TREE, name)
        if not os.path.isfile(source):
            continue
        with open(source, "rb") as f:
            content = f.read()
        if os.path.exists(target):
            with open(target, "rb") as f:
                if f.read() == content:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(content)
        os.chmod(target, os.stat(source).st_mode)


def build(target, jobs):
    done = subprocess.run(["ninja", "-C", BUILD, "-j", str(jobs), target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else done.stdout[-3000:]


def target_of(kind, what):
    return {"sim": "hk_sim", "e2e": "hikyaku", "fuzz": "hk_fuzz_" + what}.get(kind, "hk_" + kind)


def find(name, build=BUILD):
    for folder, _, names in os.walk(build):
        if name in names and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise AssertionError(f"{name} was not built")


def run_test(kind, what):
    """(did it pass, how it ended)"""
    if kind == "sim":
        command = [find("hk_sim"), "--quiet", "--seeds", *what.split()]
    elif kind == "fuzz":
        command = [find("hk_fuzz_" + what), os.path.join(TREE, "tests", "fuzz", "corpus", what), "1000"]
    elif kind == "e2e":
        file, name = what.split()
        command = [sys.executable, os.path.join(TREE, "tests", "e2e", "run.py"), "--binary", find("hikyaku"), "--files", file, "-k", name]
    else:
        command = [find("hk_" + kind), "--gtest_brief=1", "--gtest_filter=" + what]
    try:
        done = subprocess.run(command, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return False, "it did not end in ten minutes"
    out = done.stdout
    if done.returncode == 0 and kind not in ("sim", "fuzz", "e2e") and not re.search(r"[1-9]\d* tests? (from|ran)|\[  PASSED  \] [1-9]", out):
        raise AssertionError(f"{kind} has no test {what}")
    told = re.search(r"FAILED seed.*|.*Failure\n.*|FAIL: .*|assert.*", out)
    return done.returncode == 0, told.group(0).replace("\n", " ")[:150] if told else f"exit code {done.returncode}"


def shrink(names, jobs):
    """The first failure of each defect that the simulator must see, made smaller: how many decisions are left of it?"""
    wanted = [name for name in sim_defects() if not names or name in names]
    if not wanted:
        print("there is no such defect", file=sys.stderr)
        return 2
    folder = os.path.join(ROOT, "build", "release")
    subprocess.run(["cmake", "--preset", "release", "-DHK_TESTS=ON"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    programs = {name: "hk_sim" if name in SWITCHES else "hk_sim_" + name for name in wanted}
    subprocess.run(["ninja", "-C", folder, "-j", str(jobs), *sorted(set(programs.values()))], stdout=subprocess.DEVNULL, check=True)
    left, failed = {}, []
    for name in wanted:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([find(programs[name], folder), "--seeds", "1..400", "--shrink", "--expect-caught",
                               *(["--plant", name] if name in SWITCHES else [])], stdout=subprocess.PIPE, text=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        told = re.search(r"shrunk: (.*): (\d+) decisions of (\d+)\nreplay: (.*)", done.stdout)
        if done.returncode != 0 or not told:
            print(f"FAILED      {name}: {done.stdout.strip()[-300:]}", flush=True)
            failed.append(name)
            continue
        left[name] = int(told[2])
        print(f"{told[2]:>5} of {told[3]:>6}  {name} ({told[1]}; {seconds:.0f} s)  {told[4]}", flush=True)
    if left:
        worst = max(left, key=left.get)
        print(f"{len(left)} of {len(wanted)} first failures shrunk: {statistics.median(left.values()):.0f} decisions in the median, "
              f"{left[worst]} at most ({worst})")
    return 1 if failed else 0


def sim_defects():
    patches = glob.glob(os.path.join(ROOT, "tests", "sim", "planted", "*.patch"))
    return SWITCHES + sorted(os.path.basename(path).removesuffix(".patch") for path in patches)


def stale_sim_patches():
    """Names and reasons of the simulator's patches that no longer apply."""
    stale = []
    for name in sim_defects():
        path = os.path.join(ROOT, "tests", "sim", "planted", name + ".patch")
        if name in SWITCHES:
            continue
        done = subprocess.run(["patch", "-p1", "--silent", "--force", "--reject-file=-", "--dry-run", "-i", path],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            stale.append((name, done.stdout))
    return stale


def try_sim(names, folder, jobs):
    """Builds and runs simulators with one defect each; returns the names of those whose defect was not seen."""
    targets = sorted({"hk_sim" if name in SWITCHES else "hk_sim_" + name for name in names})
    built = subprocess.run(["ninja", "-C", folder, "-j", str(jobs), *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        print(built.stdout[-3000:])
        return list(names)
    missed = []
    for name in names:
        begun = time.monotonic()
        program = find("hk_sim" if name in SWITCHES else "hk_sim_" + name, folder)
        done = subprocess.run([program, "--quiet", "--expect-caught", "--seeds", "1..1000", *(["--plant", name] if name in SWITCHES else [])],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            missed.append(name)
        print(f"{'NOT CAUGHT ' if done.returncode else 'caught     '} sim/{name} ({time.monotonic() - begun:.0f} s)", flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="only see whether each patch applies")
    parser.add_argument("--shrink", action="store_true", help="shrink the first failure of each defect of the simulator")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="where the simulators are built")
    parser.add_argument("--sample", type=int, help="try so many of them, drawn at random")
    parser.add_argument("--draw", type=int, default=random.randrange(1 << 31), help="the seed of the draw")
    arguments = parser.parse_args()
    if arguments.shrink:
        return shrink(arguments.names, arguments.jobs)
    sim_names = [name for name in sim_defects() if not arguments.names or {name, "sim", "sim/" + name} & set(arguments.names)]
    if arguments.sample and arguments.sample < len(sim_names):
        print(f"{arguments.sample} of {len(sim_names)}, as drawn by --draw {arguments.draw}")
        sim_names = sorted(random.Random(arguments.draw).sample(sim_names, arguments.sample))
    plants = [p for p in all_plants() if not arguments.names or {p.name, p.area, f"{p.area}/{p.name}"} & set(arguments.names)]
    if not plants and not sim_names:
        print("there is no such defect", file=sys.stderr)
        return 2
    if arguments.check:
        stale = [(p, done.stdout) for p in plants if (done := p.apply("--dry-run", tree=ROOT)).returncode != 0]
        for plant, told in stale:
            print(f"{plant.area}/{plant.name} does not apply any more; renew it:\n{told}")
        stale_sim = stale_sim_patches()
        for name, told in stale_sim:
            print(f"sim/{name} does not apply any more; renew it:\n{told}")
        print(f"{len(plants) - len(stale)} of {len(plants)} planted defects of areas apply; of the simulator's {len(stale_sim)} do not")
        return 1 if stale or stale_sim else 0

    missed_sim = []
    if sim_names:
        if not os.path.exists(os.path.join(arguments.build, "build.ninja")):
            subprocess.run(["cmake", "--preset", "release", "-DHK_TESTS=ON"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        missed_sim = try_sim(sim_names, arguments.build, arguments.jobs)
        print(f"{len(sim_names) - len(missed_sim)} of {len(sim_names)} planted defects were caught by the simulator")
    if not plants:
        return 1 if missed_sim else 0
    copy_tree()
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, stdout=subprocess.DEVNULL, check=True)
    sound, missed = set(), []
    # By target: what one needs is there for the next.
    for plant in sorted(plants, key=lambda p: (p.caught_by, p.name)):
        kind, what = plant.caught_by
        begun = time.monotonic()
        label = f"{plant.area}/{plant.name}"
        if plant.caught_by not in sound:
            if failure := build(target_of(kind, what), arguments.jobs):
                print(failure)
                return 1
            passed, how = run_test(kind, what)
            if not passed:
                print(f"{label}: {kind} {what} fails without the defect, too: {how}")
                return 1
            sound.add(plant.caught_by)
        if (done := plant.apply()).returncode != 0:
            print(f"{label} does not apply any more; renew it:\n{done.stdout}")
            missed.append(label)
            continue
        try:
            failure = build(target_of(kind, what), arguments.jobs)
            passed, how = (False, "") if failure else run_test(kind, what)
        finally:
            plant.apply("--reverse")
        if failure:
            print(f"{label}: a defect must compile:\n{failure}")
            missed.append(label)
        elif passed:
            print(f"NOT CAUGHT  {label}: {kind} {what} passes")
            missed.append(label)
        else:
            print(f"caught      {label}: {kind} {what} ({time.monotonic() - begun:.0f} s; {how})", flush=True)
    print(f"{len(plants) - len(missed)} of {len(plants)} planted defects were caught" + (": not " + ", ".join(missed) if missed else ""))
    return 1 if missed or missed_sim else 0


if __name__ == "__main__":
    sys.exit(main())
