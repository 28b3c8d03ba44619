"""The documents are kept true: their commands are run against the binary, their links followed, and their
reference pages compared with the code.

In a runnable document every ```sh block is run, in order, in one shell. A ```text block behind it is what must be
printed, line after line; "…" stands for anything, and lines before the first one
are skipped; empty lines do not count. Blocks of commands
that only look are repeated until they match, since deliveries take a moment. A ```python file=NAME block is written
to that file. Other blocks (```console, ```ini …) are for reading.
"""
import os
import re
import select
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.request

import harness
import postgres

ROOT = harness.ROOT
MARK = "::end of block::"
LOOKING = ("cat ", "grep ", "hikyaku tail ", "hikyaku dlq list", "hikyaku messages ", "hikyaku verify", "curl -s http",
           "sort ", "ls ", "hikyaku outbox status", "hikyaku outbox list", "hikyaku outbox show", "psql -At shop -c 'SELECT")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def documents():
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in ("build", "data", "node_modules")]
        found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names if n.endswith(".md")]
    return sorted(found)


def sources(folder):
    """All C++ below a folder, as one text."""
    return "".join(read(os.path.join(where, name)) for where, _, names in sorted(os.walk(os.path.join(ROOT, folder)))
                   for name in sorted(names) if name.endswith((".h", ".cpp")))


def blocks(text):
    """(info string, content) of every fenced block."""
    return [(m[1].strip(), m[2]) for m in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S)]


def section(text, title):
    """The part below a heading, up to the next one of the same level."""
    begin = text.index(f"\n## {title}\n")
    end = text.find("\n## ", begin + 1)
    return text[begin:end if end > 0 else None]


def mismatch(expected, printed):
    """None when the lines of `expected` stand in `printed`, one behind the other; else the line that is missing."""
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    wanted = [line.rstrip() for line in expected.splitlines() if line.strip()]
    patterns = [re.compile(".*".join(re.escape(part) for part in line.split("…"))) for line in wanted]
    at, gap = 0, True
    for line, pattern in zip(wanted, patterns):
        if line == "…":
            gap = True
            continue
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            if not gap:
                return line
            at += 1
        if at == len(lines):
            return line
        at, gap = at + 1, False
    return None


class Shell:
    """A bash in a directory of its own; ends with everything it started."""

    def __init__(self, home, env):
        self.process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=home, env=env, start_new_session=True)

    def run(self, text, timeout):
        self.process.stdin.write(f"{text}\necho; echo '{MARK}'\n".encode())
        self.process.stdin.flush()
        printed, deadline = b"", time.monotonic() + timeout
        while MARK.encode() not in printed:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not chunk:
                raise AssertionError(f"did not end: {text}\n{printed.decode(errors='replace')}")
            printed += chunk
        return printed.decode(errors="replace").replace(MARK, "")

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # Its own session: nobody else is in it.
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Followed(unittest.TestCase):
    """Follows a document in a shell of its own."""
    more_env = {}

    def follow(self, text):
        home = tempfile.mkdtemp(prefix="hikyaku-docs-")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        tools = os.path.join(home, "build", "release")
        os.makedirs(tools)
        os.symlink(os.path.abspath(harness.BINARY), os.path.join(tools, "hikyaku"))
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", str(free), text)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HIKYAKU_", "QSTASH_", "OUTBOX_", "AWS_", "PG"))}
        listen = self.ports["8080"]
        env |= {"HIKYAKU_LISTEN": f"127.0.0.1:{listen}", "HIKYAKU_URL": f"http://127.0.0.1:{listen}",
                "PATH": tools + os.pathsep + env.get("PATH", "")} | self.more_env
        shell = Shell(home, env)
        self.addCleanup(shell.close)

        found = blocks(text)
        # The shell empties a log in the background: whoever waits for a line of it could still see the one before.
        logs = re.findall(r" 2>([^&\s]\S*) &", text)
        self.assertEqual(len(logs), len(set(logs)), f"two receivers with one log: {logs}")
        ran = 0
        for number, (info, content) in enumerate(found):
            if info.startswith("python file="):
                with open(os.path.join(home, info.partition("=")[2]), "w") as f:
                    f.write(content)
            if info != "sh":
                continue
            ran += 1
            for line in content.splitlines():  # Without -f the answers before "ready" are printed too, now and then.
                self.assertFalse("--retry" in line and "curl -sf" not in line, "it prints what it retries: " + line)
            expected = found[number + 1][1] if number + 1 < len(found) and found[number + 1][0] == "text" else ""
            self.step(shell, content, expected)
        self.assertGreater(ran, 0, "no command in it")

    def step(self, shell, content, expected):
        looking = all(line.startswith(LOOKING) for line in content.strip().splitlines())
        deadline = time.monotonic() + harness.PATIENCE + 10
        while True:
            printed = shell.run(content, 120)
            missing = mismatch(expected, printed)
            if missing is None:
                return
            if not looking or time.monotonic() > deadline:
                self.fail(f"after\n{content}\nthis line is missing or stands elsewhere:\n  {missing}\nprinted was:\n{printed}")
            time.sleep(0.1)

    def setUp(self):
        self.ports = {name: harness.free_port() for name in ("8080", "9000", "9001", "4318", "9464")}
        self.maxDiff = None


class Commands(Followed):
    """Every document that can be followed is followed."""

    def test_the_tour_of_the_readme(self):
        self.follow(section(read("README.md"), "A two-minute tour"))

    def test_first_message(self):
        self.follow(read("docs/tutorials/first-message.md"))

    def test_retries_and_dead_letters(self):
        self.follow(read("docs/how-to/retries-and-dead-letters.md"))

    def test_move_from_qstash(self):
        self.follow(read("docs/how-to/move-from-qstash.md"))

    def test_move_from_sqs(self):
        self.follow(read("docs/how-to/move-from-sqs.md"))

    def test_fifo(self):
        self.follow(read("docs/how-to/fifo.md"))

    def test_dead_letter_queues(self):
        self.follow(read("docs/how-to/dead-letter-queues.md"))

    def test_halt_a_group(self):
        self.follow(read("docs/how-to/halt-a-group.md"))

    def test_autoscale(self):
        self.follow(read("docs/how-to/autoscale.md"))

    def test_take_effect_once(self):
        self.follow(read("docs/how-to/take-effect-once.md"))

    def test_receive_stripe_webhooks(self):
        self.follow(read("docs/how-to/receive-stripe-webhooks.md"))

    def test_a_wallet_in_ten_minutes(self):
        self.follow(read("docs/tutorials/a-wallet-in-ten-minutes.md"))

    def test_send_webhooks_in_ten_minutes(self):
        self.follow(read("docs/tutorials/send-webhooks-in-ten-minutes.md"))

    def test_rotate_a_webhook_secret(self):
        self.follow(read("docs/how-to/rotate-a-webhook-secret.md"))

    def test_replay_webhooks(self):
        self.follow(read("docs/how-to/replay-webhooks.md"))

    def test_ordered_webhooks(self):
        self.follow(read("docs/how-to/ordered-webhooks.md"))

    def test_holds(self):
        self.follow(read("docs/how-to/holds.md"))

    def test_multi_currency(self):
        self.follow(read("docs/how-to/multi-currency.md"))

    def test_month_end(self):
        self.follow(read("docs/how-to/month-end.md"))

    def test_one_atomic_request(self):
        self.follow(read("docs/how-to/one-atomic-request.md"))

    def test_keep_a_ledger(self):
        self.follow(read("docs/how-to/keep-a-ledger.md"))

    def test_deduplicate(self):
        self.follow(read("docs/how-to/deduplicate.md"))

    def test_callbacks(self):
        self.follow(read("docs/how-to/callbacks.md"))

    def test_limit_the_rate(self):
        self.follow(read("docs/how-to/limit-the-rate.md"))

    def test_rate_limits(self):
        self.follow(read("docs/how-to/rate-limits.md"))

    def test_schedule(self):
        self.follow(read("docs/how-to/schedule.md"))

    def test_verify_signatures(self):
        self.follow(read("docs/how-to/verify-signatures.md"))

    def test_verify_webhook_signatures(self):
        self.follow(read("docs/how-to/verify-webhook-signatures.md"))

    def test_backup_and_restore(self):
        self.follow(read("docs/how-to/backup-and-restore.md"))

    def test_trace_and_monitor(self):
        self.follow(read("docs/how-to/trace-and-monitor.md"))

    def test_the_configuration_of_production_starts(self):
        page = read("docs/how-to/run-in-production.md")
        sample = next(content for info, content in blocks(page) if info == "ini" and "hikyaku.conf" in content)
        home = tempfile.mkdtemp(prefix="hikyaku-docs-")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        text = sample.replace("/etc/hikyaku", home).replace("/var/lib/hikyaku", home).replace("8443", str(self.ports["8080"]))
        text = text.replace("min_free_disk = 2GiB", "min_free_disk = 128MiB")  # The machine of a test may be small.
        os.mkdir(os.path.join(home, "tls"))
        certificate, key = harness.make_certificate(os.path.join(home, "tls"), "localhost", "fullchain.pem", "privkey.pem")
        for name, content in (("hikyaku.conf", text), ("token", "not-a-secret"), ("master.key", "0123456789abcdef" * 4)):
            with open(os.open(os.path.join(home, name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write(content)
        server = subprocess.Popen([harness.BINARY, "serve", "--config", os.path.join(home, "hikyaku.conf")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")})
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = f"https://localhost:{self.ports['8080']}"

        def ready():
            self.assertIsNone(server.poll(), server.stderr.read() if server.poll() is not None else "")
            context = ssl.create_default_context(cafile=certificate)
            try:
                with urllib.request.urlopen(url + "/readyz", context=context, timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                return False

        harness.wait_for(ready, "the server to be ready")
        got = harness.run_binary("dlq", "list", "--url", url, "--ca-file", certificate, "--token", "not-a-secret")
        self.assertEqual((got.returncode, got.stdout), (0, "no dead letters\n"), got.stderr)

    def test_a_wrong_output_is_noticed(self):
        rows = (("one\ntwo", "one\ntwo", None), ("two", "one\ntwo\nthree", None), ("one\n…\nthree", "one\ntwo\nthree", None),
                ("msg_…  x", "msg_7  x", None), ("one\nthree", "one\ntwo\nthree", "three"), ("four", "one", "four"),
                ("one…", "1 one", "one…"))
        for expected, printed, result in rows:
            with self.subTest(expected=expected):
                self.assertEqual(mismatch(expected, printed), result)


class OutboxCommands(Followed):
    """The same for those about the outbox, which need a PostgreSQL: each gets an empty one."""

    def setUp(self):
        super().setUp()
        database = postgres.Postgres()
        self.addCleanup(database.close)
        self.more_env = {"PGHOST": "127.0.0.1", "PGPORT": str(database.port), "PGUSER": "postgres"}

    def test_outbox(self):
        self.follow(read("docs/tutorials/outbox.md"))

    def test_adopt_an_outbox_table(self):
        self.follow(read("docs/how-to/adopt-an-outbox-table.md"))

    def test_enqueue(self):
        self.follow(read("docs/how-to/enqueue.md"))

    def test_run_the_relay(self):
        self.follow(read("docs/how-to/run-the-relay.md"))


class Pages(unittest.TestCase):
    """What is written agrees with the tree."""
    maxDiff = None

    def test_every_link_leads_somewhere(self):
        broken = []
        for page in documents():
            text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), path)) if path else os.path.join(ROOT, page)
                if not os.path.exists(full):
                    broken.append(f"{page}: {target}")
                elif anchor and anchor not in self.anchors(full):
                    broken.append(f"{page}: {target}: no such heading")
        self.assertEqual(broken, [])

    @staticmethod
    def anchors(path):
        with open(path, encoding="utf-8") as f:
            heads = re.findall(r"^#+ (.*)$", f.read(), re.M)
        return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

    def test_every_page_can_be_reached(self):
        linked = set()
        for page in documents():
            for target in re.findall(r"\]\(([^)\s#]+)", read(page)):
                linked.add(os.path.normpath(os.path.join(os.path.dirname(page), target)))
        self.assertEqual([p for p in documents() if p.startswith("docs/") and p not in linked], [])

    def test_every_route_is_described(self):
        rows = re.findall(r'Route\{"(\w+)",\s*"([^"]+)"', sources("src/api"))
        self.assertGreater(len(rows), 10)
        page = "".join(read(f"docs/reference/{name}.md") for name in ("http", "ledger", "webhooks", "sources"))
        described = set(re.findall(r"^### `(\w+) ([^`]+)`", page, re.M))
        self.assertEqual(described, set(rows))

    def test_every_option_header_is_described(self):
        names = re.search(r"option_names = \{(.*?)\};", sources("src/api/qstash"), re.S)[1]
        page = read("docs/reference/http.md")
        self.assertEqual([n for n in re.findall(r'"([\w-]+)"', names) if f"`Upstash-{n}`" not in page], [])

    def test_what_aws_clients_meet_is_described(self):
        page = read("docs/reference/sqs.md")
        actions = re.findall(r'ActionRow\{"(\w+)"', sources("src/api"))
        attributes = re.findall(r'Row\{"(\w+)"', read("src/api/sqs/queue_attributes.cpp"))
        errors = re.findall(r'\{[\w:]+, "\w*",\s*"(?:AWS\.SimpleQueueService\.)?(\w+)", ?\s*\d+', read("src/api/aws/errors.cpp"))
        for names, least in ((actions, 20), (attributes, 20), (errors, 35)):
            self.assertGreaterEqual(len(names), least)
            self.assertEqual([n for n in names if not re.search(rf"`(AWS\.SimpleQueueService\.)?{n}`", page)
                              and f"`{n}Exception`" not in page], [])

    def test_every_metric_is_described(self):
        code = read("src/observe/metric_table.h") + sources("src/cli")
        names = set(re.findall(r'"((?:hikyaku|process)_[a-z_]+)"', code))
        names |= set(re.findall(r"# TYPE (\w+) ", read("src/api/admin/queue_metrics.cpp")))
        self.assertGreater(len(names), 20)
        described = set(re.findall(r"^\| `((?:hikyaku|process)_[a-z_]+)`", read("docs/reference/metrics.md"), re.M))
        self.assertEqual(described, names)

    def test_the_server_shows_the_metrics_described(self):
        described = set(re.findall(r"^\| `((?:hikyaku|process)_[a-z_]+)`", read("docs/reference/metrics.md"), re.M))
        with harness.Server() as server:
            server.publish("not-a-url:")
            shown = set(re.findall(r"^# TYPE (\S+)", server.get("/metrics").body.decode(), re.M))
        self.assertEqual(shown, described)

    def test_every_metric_of_the_outbox_is_described(self):
        names = set(re.findall(r'"(outbox_[a-z_]+)"', read("src/outbox/relay_metrics.cpp")))
        self.assertGreater(len(names), 5)
        self.assertEqual(set(re.findall(r"^\| `(outbox_[a-z_]+)`", read("docs/reference/metrics.md"), re.M)), names)

    def test_every_exit_code_is_described(self):
        codes = re.findall(r"^\s+exit_\w+ = (\d+),", read("src/cli/exit_code.h"), re.M)
        self.assertGreater(len(codes), 4)
        described = re.findall(r"^\| (\d+) \|", section(read("docs/reference/cli.md"), "Exit codes"), re.M)
        self.assertEqual(sorted(described), sorted(codes))

    def test_every_command_and_flag_is_described(self):
        page = read("docs/reference/cli.md")
        top = harness.run_binary("--help").stdout
        commands = re.findall(r"^  ([a-z]+)\s{2,}\S", top[top.index("Subcommands:"):], re.M)
        groups = ("messages", "dlq", "tenants", "keys", "queues", "outbox", "ledger", "sources", "sources secrets", "sources quarantine")
        nested = [f"{c} {sub}" for c in groups for sub in re.findall(
            r"^  ([a-z-]+)\s{2,}\S", harness.run_binary(*c.split(), "--help").stdout.partition("Subcommands:")[2], re.M)]
        nested = [one for one in nested if one not in groups]
        missing = []
        for command in [c for c in commands if c not in groups] + nested + ["outbox"]:
            if f"\n### `hikyaku {command}" not in page:
                missing.append(command)
                continue
            if command == "serve":  # Its flags are in configuration.md, which the code writes.
                continue
            part = page[page.index(f"\n### `hikyaku {command}"):]
            part = part[:part.find("\n### ", 1)] + section(page, "Talking to a server")
            if command == "outbox":  # The same for most of its flags.
                part += section(read("docs/reference/outbox.md"), "Settings")
            flags = re.findall(r"^\s+(?:-h,)?(--[a-z-]+)", harness.run_binary(*command.split(), "--help").stdout, re.M)
            missing += [f"{command} {flag}" for flag in flags if flag != "--help" and f"`{flag}" not in part]
        self.assertEqual(missing, [])

    def test_every_error_kind_is_described(self):
        kinds = re.search(r"enum class ErrorKind.*?\{(.*?)\};", read("src/base/error.h"), re.S)[1]
        page = read("docs/reference/errors.md")
        self.assertEqual([k for k in re.findall(r"^\s+(\w+),", kinds, re.M) if f"`{k}`" not in page], [])

    def test_every_problem_code_is_described(self):
        codes = set(re.findall(r'constexpr Problem \w+\{"(\w+)"', sources("src/api")))
        self.assertGreater(len(codes), 10)
        page = read("docs/reference/errors.md")
        self.assertEqual([c for c in codes if f"| `{c}` |" not in page], [])
        listed = re.search(r'"code": \{"anyOf": .*?\{"enum": \[(.*?)\]', read("src/api/openapi_schemas.cpp"), re.S)[1]
        self.assertEqual(set(re.findall(r'"(\w+)"', listed)), codes)

    def test_every_log_event_is_described(self):
        calls = re.findall(r"\blog\(([^;{]*)", sources("src"))
        events = {event for call in calls for event in re.findall(r'"([a-z_]+\.[a-z_]+)"', call)}
        self.assertGreater(len(events), 5)
        described = set(re.findall(r"^\| `([a-z]+\.[a-z_]+)`", read("docs/reference/log-events.md"), re.M))
        self.assertEqual(described, events)

    def test_every_setting_of_the_outbox_is_described(self):
        table = harness.run_binary("reference", "--outbox").stdout
        self.assertGreater(table.count("\n"), 20)
        self.assertIn(table, read("docs/reference/outbox.md"), "./dev docs writes it")

    def test_every_reason_and_column_of_the_outbox_is_described(self):
        page = read("docs/reference/outbox.md")
        reasons = set(re.findall(r'"([A-Z]+_[A-Z_]+|EXPIRED)"', read("src/outbox/send/reason.h") + read("src/outbox/store.cpp")
                                 + read("src/outbox/operator.cpp")))
        self.assertGreater(len(reasons), 10)
        self.assertEqual(set(re.findall(r"^\| `([A-Z_]+)` \|", section(page, "Reason codes"), re.M)), reasons)
        columns = re.findall(r'ColumnPlan\{"([a-z_.]+)"', read("src/outbox/schema_sql.cpp"))
        self.assertGreater(len(columns), 20)
        described = re.findall(r"^\| `([a-z_.]+)` \|", section(page, "Tables and columns"), re.M)
        self.assertEqual(described, [re.sub(r"^l\.", "ledger.", c) for c in columns])

    def test_the_examples_of_other_languages_are_well_formed(self):
        examples = [(page, info, content) for page in documents() for info, content in blocks(read(page))]
        for page, info, content in examples:
            with self.subTest(page=page, language=info):
                if info == "python" or info.startswith("python "):
                    compile(content, page, "exec")
                elif info == "js" and shutil.which("node"):
                    with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
                        file.write(content)
                        file.flush()
                        got = subprocess.run(["node", "--check", file.name], stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True)
                    self.assertEqual((got.returncode, got.stdout), (0, ""))

    def test_every_table_is_described(self):
        rows = re.findall(r"^HK_TABLE\( *(\d+), +(\w+),", read("src/core/tables.def"), re.M)
        described = re.findall(r"^\| `(\w+)` \| (\d+) \|", section(read("docs/reference/data-format.md"), "Tables"), re.M)
        self.assertEqual(described, [(name, number) for number, name in sorted(rows, key=lambda row: int(row[0]))])

    def test_every_mutex_is_described(self):
        page = read("docs/explanation/threading.md")
        missing = []
        for folder, _, names in os.walk(os.path.join(ROOT, "src")):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if re.search(r"^\s*(mutable )?std::(shared_)?mutex \w+", read(path), re.M) and f"`{path}`" not in page:
                    missing.append(path)
        self.assertEqual(missing, [])

    def test_every_test_that_a_promise_names_exists(self):
        tests = set()
        for folder, _, names in os.walk(os.path.join(ROOT, "tests")):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if name.endswith(".cpp") or name.endswith(".h"):
                    tests |= {f"{a}.{b}" for a, b in re.findall(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)", read(path))}
                elif name.endswith(".py"):
                    tests |= set(re.findall(r"def (test_\w+)", read(path)))
                elif name.endswith(".patch"):
                    tests.add("planted/" + name[:-len(".patch")])
        named = set()
        for page in ("docs/explanation/guarantees.md", "docs/explanation/outbox.md", "docs/explanation/testing.md", "docs/explanation/asvs.md",
                     "SECURITY.md"):
            named |= set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+|test_\w+|planted/\w+)`", read(page)))
        self.assertGreater(len(named), 20)
        self.assertEqual(sorted(n for n in named - tests if not n.endswith(".py")), [])

    def test_the_figures_of_the_requirements_are_those_of_their_rows(self):
        page = read("docs/explanation/asvs.md")
        rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| ([123]) \| [^|]+ \| (\w+) \| ", page, re.M)
        self.assertGreater(len(rows), 100)
        self.assertEqual(len(rows), len({number for number, _, _ in rows}))
        self.assertEqual({state for _, _, state in rows}, {"met", "partly", "no"})
        for name, levels in (("1 and 2", "12"), ("3", "3")):
            of = [state for _, level, state in rows if level in levels]
            met = of.count("met")
            self.assertIn(f"| {name} | {met} ({100 * met // len(of)} %) | {len(of)} |", page)
        first_cells = re.findall(r"^\| ([\d., ]+) \|", section(page, "Not met"), re.M)
        left = set(re.findall(r"\d+\.\d+\.\d+", " ".join(first_cells)))
        self.assertEqual(left, {number for number, level, state in rows if state != "met" and level != "3"})

    def test_the_inventory_of_cryptography_is_that_of_the_code(self):
        listed = set(re.findall(r"`(src/[\w/.]+)`", section(read("docs/explanation/security.md"), "Cryptography")))
        using = set()
        for folder, _, names in os.walk(os.path.join(ROOT, "src")):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if name.endswith((".h", ".cpp")) and re.search(r"^#include <(openssl/|boost/asio/ssl)", read(path), re.M):
                    using.add(path)
        self.assertEqual(listed, using)

    def test_the_inventory_of_libraries_is_that_of_the_build(self):
        packages = set(re.search(r"packages_build=\((.*?)\)", read("dev"), re.S)[1].split())
        tools = {"g++", "cmake", "ninja-build", "ccache", "mold", "protobuf-compiler"}
        listed = re.findall(r"^\| (`[^|]*`) \|", section(read("docs/explanation/security.md"), "Other people's code"), re.M)
        self.assertEqual(set(re.findall(r"`([^`]+)`", " ".join(listed))), packages - tools)

    def test_no_code_starts_a_program(self):
        calls = r"\b(system|popen|fork|vfork|posix_spawnp?|execv?[lpe]*)\s*\("
        self.assertEqual(re.findall(r"(?:\s|::)" + calls, sources("src")), [])

    def test_nothing_tells_of_one_machine(self):
        for page in documents():
            with self.subTest(page=page):
                self.assertIsNone(re.search(r"(?<![\w.])/(root|work|home)/", read(page)))


if __name__ == "__main__":
    unittest.main()
