"""Credentials at a start: those of --dev live in memory only, one token opens one tenant, what the settings give is said so."""
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from disk import refused
from harness import (BINARY, DEV_CURRENT_KEY, DEV_NEXT_KEY, DEV_TOKEN, Receiver, Server, free_port, run_binary,
                     verify_signature, wait_for)

USAGE, UNAVAILABLE = 2, 3
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
KEY = ("HKOFTHECOMPOSEFILE1", "secret-of-the-compose-file-0123456789abc")


class Credentials(unittest.TestCase):
    maxDiff = None

    def server(self, *flags, **options):
        made = Server(*flags, **options)
        self.addCleanup(made.close)
        return made

    def receiver(self):
        made = Receiver()
        self.addCleanup(made.close)
        return made

    def may(self, server, token):
        return server.request("GET", "/v2/dlq", token=token).status == 200

    def stop(self, server):
        self.assertEqual(server.terminate(), 0)

    def printed(self, server, which="stdout"):
        with open(os.path.join(server.home, f"{which}.{server.starts}"), errors="replace") as f:
            return f.read()

    def events(self, server):
        return [json.loads(line) for line in self.printed(server, "stderr").splitlines() if line.startswith("{")]

    def production(self, *flags, **options):
        """Started once for production: the server, stopped, and what it printed."""
        server = self.server("--allow-loopback-destinations", *flags, dev=False, **options).start()
        shown = dict(re.findall(r"^  (token|current signing key|next signing key) +(\S+)$", self.printed(server), re.M))
        self.stop(server)
        return server, shown

    def convert(self, data, *flags, env=None):
        return run_binary("convert", "--data", data, *flags, env=env)

    def signed_with(self, server, receiver, key, path):
        """A message of the server's tenant is signed with this key."""
        server.publish_id(receiver.url(path), b"x")
        got = receiver.wait(path)[0]
        verify_signature(got.headers["Upstash-Signature"], key, receiver.url(path), b"x")

    def tenant(self, server, name):
        made = run_binary("tenants", "create", name, "--data", server.data, "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(made.stdout)


class Development(Credentials):
    def test_a_directory_of_development_is_refused_until_it_is_converted(self):
        receiver = self.receiver()
        server = self.server("--allow-loopback-destinations").start()
        other = self.tenant(server, "other")
        waiting = server.publish_id(receiver.url("/later"), b"kept", Upstash_Delay="1h")
        made = run_binary("keys", "create", "--data", server.data, "--json")
        key = json.loads(made.stdout)
        self.assertEqual(self.convert(server.data).returncode, UNAVAILABLE)  # it runs
        self.stop(server)

        server.dev = False
        said = refused(self, server, USAGE, "serve --dev", "public credentials", f"hikyaku convert --data {server.data}")
        self.assertNotIn("server.started", said)
        refused_with_token = self.server(dev=False, data=server.data, env={"HIKYAKU_TOKEN": "a-token-of-mine"})
        refused(self, refused_with_token, USAGE, "hikyaku convert")

        done = self.convert(server.data, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        new = json.loads(done.stdout)
        server.start()
        self.assertFalse(self.may(server, DEV_TOKEN))
        self.assertTrue(self.may(server, new["token"]))
        self.assertTrue(self.may(server, other["token"]))
        self.assertEqual(server.sqs("ListQueues").status, 403)
        self.assertEqual(server.sqs("ListQueues", key=(key["access_key_id"], key["secret_access_key"])).status, 200)
        server.token = new["token"]
        self.assertEqual(server.get("/v2/keys").json(), {"current": new["current_signing_key"], "next": new["next_signing_key"]})
        self.signed_with(server, receiver, new["current_signing_key"], "/signed")
        self.assertEqual(server.job(waiting)["status"], "PENDING")
        self.stop(server)
        again = self.convert(server.data)
        self.assertEqual(again.returncode, USAGE)
        self.assertIn("was not made by serve --dev", again.stderr)
        verified = run_binary("verify", "--data", server.data)
        self.assertEqual(verified.returncode, 0, verified.stdout)

    def test_what_convert_prints_is_for_a_person(self):
        server = self.server().start()
        self.stop(server)
        done = self.convert(server.data)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("has credentials of its own now", done.stdout)
        token = re.search(r"^  token +(hk_live_\S+)$", done.stdout, re.M)[1]
        self.assertEqual(len(re.findall(r"signing key +sig_\w{28}$", done.stdout, re.M)), 2)
        self.assertIn("not shown again", done.stdout)
        server.dev = False
        server.start()
        self.assertTrue(self.may(server, token))
        self.assertNotIn(token, self.printed(server))

    def test_a_directory_that_earlier_versions_made_is_refused_and_converted(self):
        folder = tempfile.mkdtemp(prefix="hikyaku-e2e-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with tarfile.open(os.path.join(GOLDEN, "0.1.0.tar.xz")) as tar:
            tar.extractall(folder)
        with open(os.path.join(GOLDEN, "0.1.0.json")) as f:
            second = json.load(f)["second"]["token"]
        server = self.server(dev=False, data=folder)
        refused(self, server, USAGE, "hikyaku convert")
        done = self.convert(folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        server.start()
        self.assertFalse(self.may(server, DEV_TOKEN))
        self.assertTrue(self.may(server, json.loads(done.stdout)["token"]))
        self.assertTrue(self.may(server, second))

    def test_development_on_a_directory_of_production_leaves_no_trace(self):
        receiver = self.receiver()
        server, own = self.production()
        server.dev = True
        server.start()
        for token in (DEV_TOKEN, own["token"]):
            self.assertTrue(self.may(server, token))
        self.assertEqual(server.sqs("ListQueues").status, 200)
        self.assertEqual(server.get("/v2/keys").json(), {"current": DEV_CURRENT_KEY, "next": DEV_NEXT_KEY})
        self.signed_with(server, receiver, DEV_CURRENT_KEY, "/in-development")
        self.assertIn("WARNING", self.printed(server, "stderr"))
        self.assertIn("server.public_credentials", [event["event"] for event in self.events(server)])
#Nothing that is changed meanwhile brings them into the store, or takes them from this server.
        self.assertEqual(server.request("POST", "/v2/keys/rotate").status, 409)
        made = run_binary("keys", "create", "--data", server.data, "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue(self.may(server, DEV_TOKEN))
        server.kill()

        server.dev = False
        server.start()
        self.assertFalse(self.may(server, DEV_TOKEN))
        server.token = own["token"]
        self.assertEqual(server.get("/v2/keys").json(),
                         {"current": own["current signing key"], "next": own["next signing key"]})
        self.signed_with(server, receiver, own["current signing key"], "/in-production")
        self.assertEqual(server.sqs("ListQueues").status, 403)
        self.assertEqual(self.printed(server, "stderr").count("WARNING"), 0)

    def test_a_crash_in_the_middle_leaves_the_one_or_the_other(self):
        for point in ("batch_unwritten", "batch_written", "sync_begins", "log_synced"):
            with self.subTest(point):
                server = self.server().start()
                self.stop(server)
                clean = {k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")}
                died = self.convert(server.data, env=clean | {"HIKYAKU_CRASH_AT": point + ":1"})
                self.assertEqual((died.returncode, died.stdout), (-9, ""), died.stderr)
                again = self.convert(server.data)
                server.dev = False
                server.start()  # all or nothing: it is converted now, by the first or the second
                self.assertFalse(self.may(server, DEV_TOKEN))
                if again.returncode == 0:
                    self.assertTrue(self.may(server, re.search(r"token +(\S+)", again.stdout)[1]))
                else:  # the first one was done, and nobody saw its token
                    self.assertIn("was not made by serve --dev", again.stderr)
                    renewed = run_binary("tenants", "rotate-token", "1", "--data", server.data, "--json")
                    self.assertTrue(self.may(server, json.loads(renewed.stdout)["token"]))

    def test_convert_says_what_it_cannot_do(self):
        server, _ = self.production()
        done = self.convert(server.data)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("tenants rotate-token", done.stderr)
        self.assertEqual(self.convert(os.path.join(server.home, "nowhere")).returncode, 1)

    def test_convert_uses_the_master_key_of_the_settings(self):
        key = os.path.join(tempfile.mkdtemp(prefix="hikyaku-e2e-"), "key")
        self.addCleanup(shutil.rmtree, os.path.dirname(key))
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write("5a" * 32)
        server = self.server("--master-key-file", key).start()
        self.stop(server)
        self.assertNotEqual(self.convert(server.data).returncode, 0)
        done = self.convert(server.data, "--master-key-file", key)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_public_credentials_are_refused_for_production(self):
        server = self.server(dev=False, env={"HIKYAKU_TOKEN": DEV_TOKEN})
        said = refused(self, server, USAGE, "HIKYAKU_TOKEN", "public")
        self.assertNotIn(DEV_TOKEN, said)
        refused(self, self.server(dev=False, env={"HIKYAKU_CURRENT_SIGNING_KEY": DEV_CURRENT_KEY}), USAGE, "HIKYAKU_CURRENT_SIGNING_KEY")

    def test_the_banner_works_from_any_directory(self):
        folder = tempfile.mkdtemp(prefix="hikyaku it's a test ")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        binary = shutil.copy(BINARY, os.path.join(folder, "hikyaku"))
        server = self.server(binary=binary).start()
        command = re.search(r"^  (\S.* listen)$", self.printed(server), re.M)[1]
        port = free_port()
        with open(os.path.join(folder, "out"), "w+") as out:
            receiver = subprocess.Popen(["sh", "-c", f"exec {command} --listen 127.0.0.1:{port}"], cwd="/", stdout=out, stderr=out)
            try:
                wait_for(lambda: "Receiving" in open(out.name).read(), "the receiver of the banner")
                curl = re.search(r"^  (curl .*?'hello')$", self.printed(server), re.M | re.S)[1]
                done = subprocess.run(["sh", "-c", curl.replace("127.0.0.1:9000", f"127.0.0.1:{port}")], cwd="/",
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
                self.assertIn("messageId", done.stdout)
                wait_for(lambda: "POST /hello" in open(out.name).read(), "the message of the banner")
            finally:
                receiver.terminate()
                receiver.wait(60)


class Tokens(Credentials):
    def test_a_token_of_another_tenant_is_refused(self):
        server, own = self.production()
        server.start()
        other = self.tenant(server, "other")
        self.stop(server)
        for dev in (False, True):
            wrong = self.server(dev=dev, data=server.data, env={"HIKYAKU_TOKEN": other["token"]})
            said = refused(self, wrong, USAGE, "HIKYAKU_TOKEN: this is the token of the tenant other",
                           "HIKYAKU_CLIENT_TOKEN")
            self.assertNotIn(other["token"], said)
        server.start()
        self.assertTrue(self.may(server, own["token"]))
        self.assertTrue(self.may(server, other["token"]))

    def test_a_changed_token_is_logged_and_printed(self):
        server, own = self.production()
        server.env["HIKYAKU_TOKEN"] = "another-token-of-mine"
        server.start()
        self.assertFalse(self.may(server, own["token"]))
        self.assertTrue(self.may(server, "another-token-of-mine"))
        changed = [event for event in self.events(server) if event["event"] == "tenant.token_changed"]
        self.assertEqual([(one["level"], one["tenant"], one["from"]) for one in changed], [("warn", "default", "HIKYAKU_TOKEN")])
        self.assertIn("The token of the tenant default was changed", self.printed(server))
        self.assertIn("(as configured by HIKYAKU_TOKEN)", self.printed(server))
        self.assertNotIn("another-token-of-mine", server.output())
        self.stop(server)
        server.start()
        self.assertNotIn("was changed", self.printed(server))
        self.assertNotIn("tenant.token_changed", [event["event"] for event in self.events(server)])

    def test_changed_signing_keys_are_logged_and_printed(self):
        server, own = self.production()
        server.env["HIKYAKU_CURRENT_SIGNING_KEY"] = own["next signing key"]
        server.start()
        self.assertIn("tenant.keys_changed", [event["event"] for event in self.events(server)])
        self.assertIn("The signing keys of the tenant default were changed", self.printed(server))

    def test_clients_have_a_variable_and_a_profile_of_their_own(self):
        server = self.server().start()
        other = self.tenant(server, "other")
        server.request("POST", "/v2/queues", b'{"queueName":"of-other"}', token=other["token"])
        home = os.path.join(server.home, "config")
        os.makedirs(os.path.join(home, "hikyaku"))
        profile = os.path.join(home, "hikyaku", "client.conf")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("HIKYAKU_", "QSTASH_"))} | {"XDG_CONFIG_HOME": home}
        url = f"http://127.0.0.1:{server.port}"

        def queues(*flags, **env):
            return run_binary("queues", "list", *flags, env=clean | env)

        with open(os.open(profile, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(f"# of this test\nurl = {url}\ntoken = {other['token']}\n")
        self.assertIn("of-other", queues().stdout)
        self.assertIn("of-other", queues(HIKYAKU_TOKEN=DEV_TOKEN).stdout)
        self.assertEqual(queues(HIKYAKU_CLIENT_TOKEN=DEV_TOKEN).stdout, "")
        self.assertIn("of-other", queues("--token", other["token"], HIKYAKU_CLIENT_TOKEN=DEV_TOKEN, HIKYAKU_URL=url).stdout)
#Its token goes to its own server only.
        elsewhere = queues("--url", f"http://localhost:{server.port}")
        self.assertEqual(elsewhere.returncode, USAGE)
        self.assertIn("a token is needed", elsewhere.stderr)
        os.chmod(profile, 0o644)
        open_to_others = queues()
        self.assertEqual(open_to_others.returncode, USAGE)
        self.assertIn("chmod 600", open_to_others.stderr)
        self.assertEqual(queues(HIKYAKU_CLIENT_TOKEN=DEV_TOKEN, HIKYAKU_URL=url).returncode, 0)

    def test_the_variable_of_clients_is_none_of_the_server(self):
        server = self.server(env={"HIKYAKU_CLIENT_TOKEN": "of-a-client"}).start()
        self.assertFalse(self.may(server, "of-a-client"))


class AccessKeysOfTheSettings(Credentials):
    def settings(self):
        return {"HIKYAKU_AWS_ACCESS_KEY_ID": KEY[0], "HIKYAKU_AWS_SECRET_ACCESS_KEY": KEY[1]}

    def keys(self, server, *arguments):
        return run_binary("keys", *arguments, "--data", server.data)

    def test_a_client_signs_with_it_at_the_first_start(self):
        server = self.server(dev=False, env=self.settings()).start()
        made = server.sqs("CreateQueue", key=KEY, QueueName="jobs")
        self.assertEqual(made.status, 200, made.body)
        sent = server.sqs("SendMessage", key=KEY, QueueUrl=made.json()["QueueUrl"], MessageBody="hello")
        self.assertEqual(sent.status, 200, sent.body)
        self.assertEqual(server.sns("ListTopics", key=KEY).status, 200)
        self.assertEqual(server.sqs("ListQueues", key=(KEY[0], "x" * 40)).status, 403)
        self.assertEqual(server.sqs("ListQueues").status, 403)
        self.assertIn(f"access key {KEY[0]} (as configured by HIKYAKU_AWS_ACCESS_KEY_ID)", self.printed(server))
        self.assertNotIn(KEY[1], server.output())

        self.assertEqual(self.keys(server, "list").stdout, f"{KEY[0]}  from configuration\n")
        revoked = self.keys(server, "revoke", KEY[0])
        self.assertEqual(revoked.returncode, 1)
        self.assertIn("aws_access_key_id", revoked.stderr)
#It stays when the tenant is stored anew, and goes with the setting.
        self.assertEqual(self.keys(server, "create").returncode, 0)
        self.assertEqual(server.sqs("ListQueues", key=KEY).status, 200)
        self.stop(server)
        server.env = {k: v for k, v in server.env.items() if not k.startswith("HIKYAKU_AWS")}
        server.start()
        self.assertEqual(server.sqs("ListQueues", key=KEY).status, 403)
        self.assertNotIn(KEY[0], self.keys(server, "list").stdout)

    def test_it_is_read_from_files(self):
        server = self.server(dev=False)
        for name, text in zip(("id", "secret"), KEY):
            with open(os.open(os.path.join(server.home, name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write(text + "\n")
        server.env |= {"HIKYAKU_AWS_ACCESS_KEY_ID_FILE": os.path.join(server.home, "id"),
                       "HIKYAKU_AWS_SECRET_ACCESS_KEY_FILE": os.path.join(server.home, "secret")}
        server.start()
        self.assertEqual(server.sqs("ListQueues", key=KEY).status, 200)

    def test_half_of_it_or_a_weak_one_is_refused(self):
        for settings, said in (({"HIKYAKU_AWS_ACCESS_KEY_ID": KEY[0]}, "aws_secret_access_key is missing"),
                               ({"HIKYAKU_AWS_SECRET_ACCESS_KEY": KEY[1]}, "aws_access_key_id is missing"),
                               (self.settings() | {"HIKYAKU_AWS_ACCESS_KEY_ID": "test"}, "16 to 128 letters"),
                               (self.settings() | {"HIKYAKU_AWS_SECRET_ACCESS_KEY": "short"}, "32 to 128")):
            with self.subTest(said):
                refused(self, self.server(dev=False, env=settings), USAGE, said)

    def test_a_key_of_another_tenant_is_refused(self):
        server, _ = self.production()
        server.start()
        self.tenant(server, "other")
        made = run_binary("keys", "create", "--tenant", "other", "--data", server.data, "--json")
        key = json.loads(made.stdout)
        own = json.loads(run_binary("keys", "create", "--data", server.data, "--json").stdout)
        self.stop(server)
        for one, said in ((key, "belongs to the tenant other"), (own, "is stored with another secret")):
            settings = self.settings() | {"HIKYAKU_AWS_ACCESS_KEY_ID": one["access_key_id"]}
            refused(self, self.server(dev=False, data=server.data, env=settings), USAGE, said)
        server.env |= {"HIKYAKU_AWS_ACCESS_KEY_ID": own["access_key_id"],
                       "HIKYAKU_AWS_SECRET_ACCESS_KEY": own["secret_access_key"]}
        server.start()
        self.assertEqual(self.keys(server, "list").stdout, f"{own['access_key_id']}  from configuration\n")


if __name__ == "__main__":
    unittest.main()
