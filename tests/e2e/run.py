#!/usr/bin/env python3
"""Runs the end-to-end tests against a binary.

    python3 tests/e2e/run.py --binary build/release/hikyaku [-k pattern] [-v]
"""
import argparse
import fnmatch
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default="build/release/hikyaku")
    parser.add_argument("--files", action="append", help="only files whose name matches this, or another --files")
    parser.add_argument("--without", action="append", default=[], help="no files whose name matches this")
    parser.add_argument("-k", dest="patterns", action="append", help="only tests whose name contains this")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--failfast", action="store_true")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    if not os.access(binary, os.X_OK):
        print(f"{binary} is missing or cannot be executed: build it first", file=sys.stderr)
        return 2
    os.environ["HIKYAKU_BINARY"] = binary
    sys.path.insert(0, HERE)

    loader = unittest.TestLoader()
    if arguments.patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in arguments.patterns]
    matches = lambda name, patterns: any(fnmatch.fnmatch(name, one) for one in patterns)
    names = [name for name in sorted(os.listdir(HERE)) if fnmatch.fnmatch(name, "test_*.py")
             and matches(name, arguments.files or ["*"]) and not matches(name, arguments.without)]
    suite = loader.loadTestsFromNames([name.removesuffix(".py") for name in names])
    runner = unittest.TextTestRunner(verbosity=2 if arguments.verbose else 1, failfast=arguments.failfast)
    result = runner.run(suite)
    # A test with several failing rows failed once; an error in a setUpClass stands for the tests of its class, which
    # were then not run.
    broken = {getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors}
    failed = len(broken) + len(result.unexpectedSuccesses)
    not_run = sum(not isinstance(test, unittest.TestCase) for test, _ in result.errors)
    passed = result.testsRun - (failed - not_run) - len(result.skipped)
    print(f"{passed} passed, {failed} failed" + (f", {len(result.skipped)} skipped" if result.skipped else ""))
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
