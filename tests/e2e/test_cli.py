"""The commands of the binary: what they print, and the exit codes scripts rely on."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import Case, Receiver, Server, make_certificate, run_binary, wait_for


# Exit codes; never renumbered.
FAILED, USAGE, UNAVAILABLE, CORRUPTION = 1, 2, 3, 4


class Starting(unittest.TestCase):
    """A server that cannot start says why, on stderr, and exits with a code that is not 0."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="hikyaku-cli-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)

    def fails(self, server, expected, *words):
        self.addCleanup(server.close)
        server.spawn()
        try:
            code = server.process.wait(20)
        except subprocess.TimeoutExpired:
            self.fail("the server started although it should not")
        text = server.output()
        self.assertEqual(code, expected, text)
        for word in words:
            self.assertIn(word.lower(), text.lower())
        self.assertNotIn("terminate called", text)

    def test_the_port_is_in_use(self):
        with Server() as first:
            self.fails(Server(port=first.port), UNAVAILABLE, str(first.port), "in use")

    def test_the_data_directory_is_in_use(self):
        with Server() as first:
            self.fails(Server(data=first.data), UNAVAILABLE, first.data, "in use")
            self.assertEqual(first.request("GET", "/readyz").status, 200)
            # What lies in the directory is the first one's, and stays.
            for command in (("tenants", "list"), ("keys", "list"), ("backup", "--to", os.path.join(self.home, "backup"))):
                done = first.cli(*command, "--data", first.data)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_data_directory_is_a_file(self):
        path = os.path.join(self.home, "file")
        with open(path, "w") as f:
            f.write("not a directory")
        self.fails(Server(data=path), USAGE, path)
        with open(path) as f:
            self.assertEqual(f.read(), "not a directory")

    def test_the_exit_code_tells_also_when_nothing_can_be_said(self):
        file = os.path.join(self.home, "file")
        open(file, "w").close()
        server = Server(data=file)
        self.addCleanup(server.close)
        codes = []
        for where in ("/dev/null", "/dev/full"):
            with open(where, "w") as stderr:
                codes.append(subprocess.run(server.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=stderr, timeout=60).returncode)
        self.assertGreater(codes[0], 0)
        self.assertEqual(codes[1], codes[0])

    def test_the_data_directory_cannot_be_written(self):
        self.fails(Server(data="/proc/hikyaku"), USAGE, "/proc/hikyaku")
        if os.geteuid() != 0:  # root may write anywhere
            os.chmod(self.home, 0o500)
            self.fails(Server(data=os.path.join(self.home, "data")), USAGE, self.home)

    def test_a_wrong_flag_or_value_is_named(self):
        self.fails(Server("--colour", "red"), USAGE, "--colour")
        self.fails(Server("--listen", "nonsense"), USAGE, "listen")
        self.fails(Server("--listen", "127.0.0.1:99999"), USAGE, "listen")
        self.fails(Server(env={"HIKYAKU_COLOUR": "red"}), USAGE, "HIKYAKU_COLOUR")
        self.fails(Server(env={"HIKYAKU_DEDUP_WINDOW": "soon"}), USAGE, "dedup")

    def test_a_directory_of_something_else_is_left_alone(self):
        data = os.path.join(self.home, "photos")
        os.mkdir(data)
        with open(os.path.join(data, "holiday.jpg"), "w") as f:
            f.write("picture")
        server = Server(data=data)
        self.addCleanup(server.close)
        server.spawn()
        wait_for(lambda: server.process.poll() is not None or server.output(), "some output")
        with open(os.path.join(data, "holiday.jpg")) as f:
            self.assertEqual(f.read(), "picture")


class Words(unittest.TestCase):
    def test_version(self):
        done = run_binary("version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\d+\.\d+\.\d+")
        self.assertEqual(run_binary("--version").returncode, 0)
        told = json.loads(run_binary("version", "--json").stdout)
        self.assertEqual(told, {"name": "hikyaku", "version": done.stdout.split()[1]})

    def test_help_names_every_command(self):
        done = run_binary("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("serve", "publish", "messages", "dlq", "tail", "verify", "backup", "restore", "version"):
            self.assertIn(word, done.stdout)

    def test_unknown_or_missing_commands_are_an_error(self):
        for arguments, said in (((), "hikyaku: a command is missing"), (("fly",), "hikyaku: unknown command fly"),
                                (("messages",), "hikyaku messages: a command is missing"),
                                (("messages", "get"), "hikyaku messages get: id is required"),
                                (("dlq", "fly"), "hikyaku dlq: unknown command fly"),
                                (("dlq", "--count", "3", "list"), "hikyaku dlq: unexpected: --count 3"),
                                (("dlq", "list", "--count", "0"), "hikyaku dlq list: --count"),
                                (("version", "--now"), "hikyaku version: unexpected: --now")):
            with self.subTest(arguments):
                done = run_binary(*arguments)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(said, done.stderr)
                self.assertIn("--help for usage", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_missing_token_is_said_so(self):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("HIKYAKU_", "QSTASH_"))}
        env |= {"XDG_CONFIG_HOME": "/nowhere"}
        for arguments in (("dlq", "list"), ("publish", "http://127.0.0.1:9/x", "--body", "1"), ("tail", "--once")):
            with self.subTest(arguments):
                done = run_binary(*arguments, env=env)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn("HIKYAKU_CLIENT_TOKEN, client.conf or --token", done.stderr)

    def test_a_server_that_is_not_there_is_said_so(self):
        done = run_binary("dlq", "list", env=dict(os.environ, HIKYAKU_URL="http://127.0.0.1:1", HIKYAKU_CLIENT_TOKEN="x"))
        self.assertEqual(done.returncode, UNAVAILABLE)
        self.assertIn("127.0.0.1:1", done.stderr)


class Client(Case):
    def ok(self, *arguments):
        done = self.server.cli(*arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.ok(*arguments, "--json"))

    def test_publish_and_get(self):
        path, url = self.hook()
        answer = self.json("publish", url, "--body", "hello")
        self.assertEqual(answer["url"], url)
        self.assertEqual(self.receiver.wait(path)[0].body, b"hello")
        shown = self.json("messages", "get", answer["messageId"])
        self.assertEqual((shown["id"], shown["url"]), (answer["messageId"], url))
        self.assertIn(answer["messageId"], self.ok("messages", "get", answer["messageId"]))

    def test_cancel(self):
        path, url = self.hook()
        message_id = self.json("publish", url, "--body", "x", "--delay", "1h")["messageId"]
        self.ok("messages", "cancel", message_id)
        self.server.wait_states(message_id, "CREATED", "CANCEL_REQUESTED", "CANCELED")
        again = self.server.cli("messages", "cancel", message_id)
        self.assertEqual(again.returncode, FAILED)
        self.assertTrue(again.stderr)
        self.assertEqual(self.receiver.at(path), [])

    def test_the_dlq_is_listed_retried_and_deleted(self):
        path, url = self.hook(500)
        first = self.server.wait_dead_letter(self.server.publish_id(url, b"1", Upstash_Retries=0))["dlqId"]
        second = self.server.wait_dead_letter(self.server.publish_id(url, b"2", Upstash_Retries=0))["dlqId"]
        listed = {m["dlqId"] for m in self.json("dlq", "list")["messages"]}
        self.assertLessEqual({first, second}, listed)
        self.assertIn(first, self.ok("dlq", "list"))
        self.receiver.script(path, 200)
        self.ok("dlq", "retry", first)
        self.receiver.wait(path, 3)
        self.ok("dlq", "delete", second)
        self.assertEqual(self.server.dead_letters(), [])
        self.assertEqual(self.server.cli("dlq", "delete", second).returncode, FAILED)
        self.assertEqual(self.server.cli("dlq", "delete").returncode, USAGE)

    def test_a_dead_letter_is_edited_and_retried(self):
        path, url = self.hook(500)
        entry = self.server.wait_dead_letter(self.server.publish_id(url, b"broken", Upstash_Retries=0, Upstash_Forward_X_Kept="1"))
        other = self.server.wait_dead_letter(self.server.publish_id(url, b"other", Upstash_Retries=0))["dlqId"]
        elsewhere = path + "/elsewhere"
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"mended\0\xff")
            file.flush()
            for wrong in (["--all", "--body", file.name], [entry["dlqId"], other, "--destination", url], [entry["dlqId"], "--header", "none"],
                          [entry["dlqId"], "--body", file.name + ".none"]):
                with self.subTest(wrong):
                    self.assertEqual(self.server.cli("dlq", "retry", *wrong).returncode, USAGE)
            self.assertEqual({one["dlqId"] for one in self.server.dead_letters("url=" + url)}, {entry["dlqId"], other})
            message_id = self.ok("dlq", "retry", entry["dlqId"], "--body", file.name, "--destination", self.receiver.url(elsewhere),
                                 "--header", "X-New: zażółć", "--content-type", "a/b").strip()
        got = self.receiver.wait(elsewhere)[0]
        self.assertEqual((got.message_id, got.body), (message_id, b"mended\0\xff"))
        self.assertEqual((got.headers["X-Kept"], got.headers["X-New"].encode("latin-1").decode(), got.headers["Content-Type"]),
                         ("1", "zażółć", "a/b"))
        self.assertEqual(self.json("messages", "get", message_id)["edited_from"], entry["messageId"])
        self.assertEqual([one["dlqId"] for one in self.server.dead_letters("url=" + url)], [other])
        self.ok("dlq", "delete", other)

    def test_long_names_of_queues_are_cut_in_the_table_only(self):
        long, short = "q" * 200, "short-one"
        for name in (long, short):
            self.assertEqual(self.server.request("POST", "/v2/queues", json.dumps({"queueName": name})).status, 200)
        lines = self.ok("queues", "list").splitlines()
        [cut] = [line for line in lines if line.startswith("qqq")]
        [whole] = [line for line in lines if line.startswith(short)]
        self.assertTrue(cut.startswith("q" * 39 + "… "), cut)
        self.assertEqual(cut.index(" lag "), whole.index(" lag "))
        self.assertIn(long, [queue["name"] for queue in self.json("queues", "list")])
        for name in (long, short):
            self.ok("queues", "delete", name)

    def test_a_wrong_token_is_said_so(self):
        done = self.server.cli("dlq", "list", env={"HIKYAKU_CLIENT_TOKEN": "wrong"})
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("token", done.stderr.lower())

    def test_tail_shows_what_happens(self):
        path, url = self.hook()
        env = self.server.env | {"HIKYAKU_URL": f"http://127.0.0.1:{self.server.port}", "HIKYAKU_CLIENT_TOKEN": self.server.token}
        out = open(os.path.join(self.server.home, "tail"), "w+")
        self.addCleanup(out.close)
        tail = subprocess.Popen([self.server.binary, "tail"], stdout=out, stderr=subprocess.STDOUT, env=env)
        try:
            message_id = None

            def seen():
                nonlocal message_id
                message_id = self.server.publish_id(url, b"x")
                deadline = time.monotonic() + 2
                while time.monotonic() < deadline:
                    with open(out.name) as f:
                        text = f.read()
                    if message_id in text and "DELIVERED" in text:
                        return True
                    time.sleep(0.05)
                return False

            wait_for(seen, "the events of a message in the output of tail")
        finally:
            tail.terminate()
            tail.wait(60)


class Backups(unittest.TestCase):
    def test_a_backup_is_restored_into_a_new_directory(self):
        with Receiver() as receiver, Server() as server:
            receiver.script("/dead", 500)
            dead = server.publish_id(receiver.url("/dead"), b"kept", Upstash_Retries=0)
            entry = server.wait_dead_letter(dead)
            waiting = server.publish_id(receiver.url("/waiting"), b"kept too", Upstash_Delay="1h")
            copy = os.path.join(server.home, "copy")
            done = server.cli("backup", "--data", server.data, "--to", copy)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            lost = server.publish_id(receiver.url("/after"), b"after the backup", Upstash_Delay="1h")
            server.kill()

            fresh = os.path.join(server.home, "fresh")
            done = run_binary("restore", "--from", copy, "--data", fresh)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = run_binary("verify", "--data", fresh)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with Server(data=fresh) as restored:
                self.assertEqual(restored.get(f"/v2/dlq/{entry['dlqId']}").json()["body"], "kept")
                self.assertEqual(restored.job(waiting)["status"], "PENDING")
                self.assertEqual(restored.get(f"/v2/messages/{lost}").status, 404)

    def test_a_server_with_tls_is_backed_up_by_the_name_in_its_certificate(self):
        with tempfile.TemporaryDirectory() as home:
            certificate, key = make_certificate(home, "localhost")
            server = Server("--tls-cert", certificate, "--tls-key", key).spawn()
            self.addCleanup(server.close)
            url = f"https://localhost:{server.port}"

            def listed():
                return server.cli("dlq", "list", "--url", url, "--ca-file", certificate).returncode == 0
            wait_for(listed, server.output)
            copy = os.path.join(home, "copy")
            for flags in ([], ["--url", url], ["--ca-file", certificate]):  # No trust; no trust; not its name.
                done = server.cli("backup", "--data", server.data, "--to", copy, *flags)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn("--ca-file", done.stderr)
            done = server.cli("backup", "--data", server.data, "--to", copy, "--url", url + "/", "--ca-file", certificate)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            server.kill()
            done = run_binary("verify", "--data", copy)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_restore_does_not_overwrite(self):
        with Server() as server:
            copy = os.path.join(server.home, "copy")
            self.assertEqual(server.cli("backup", "--data", server.data, "--to", copy).returncode, 0)
            server.kill()
            done = run_binary("restore", "--from", copy, "--data", server.data)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(server.data, done.stderr)

    def test_verify_refuses_a_directory_without_a_store(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run_binary("verify", "--data", empty)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(os.listdir(empty), [], "verify wrote something")

    def test_verify_refuses_a_store_in_use(self):
        with Server() as server:
            self.assertEqual(run_binary("verify", "--data", server.data).returncode, UNAVAILABLE)


if __name__ == "__main__":
    unittest.main()
