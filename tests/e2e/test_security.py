"""Who may ask, where requests may go, what must not be told."""
import os
import stat
import unittest

from harness import DEV_CURRENT_KEY, DEV_TOKEN, Answer, Case, Receiver, Server


class Tokens(Case):
    def test_without_a_valid_token_nothing_is_answered(self):
        targets = [
            ("POST", "/v2/publish/http://127.0.0.1:1/x"), ("GET", "/v2/messages/msg_x"), ("DELETE", "/v2/messages/msg_x"),
            ("GET", "/v2/dlq"), ("DELETE", "/v2/dlq/1-1"), ("POST", "/v2/dlq/retry/1-1"), ("GET", "/v2/events"),
            ("GET", "/v2/keys"), ("GET", "/api/v1/jobs/msg_x"),
        ]
        tokens = [("missing", None), ("wrong", "nonsense"), ("empty", ""), ("longer", DEV_TOKEN + "x"), ("shorter", DEV_TOKEN[:-1])]
        for method, target in targets:
            for name, token in tokens:
                with self.subTest(f"{method} {target}, {name}"):
                    answer = self.server.request(method, target, token=token)
                    self.assertEqual(answer.status, 401, answer.body)
                    self.assertNotIn(DEV_TOKEN.encode(), answer.body)

    def test_the_scheme_is_case_insensitive_and_must_be_bearer(self):
        self.assertEqual(self.server.request("GET", "/v2/dlq", headers={"Authorization": "bEaReR " + DEV_TOKEN}).status, 200)
        self.assertEqual(self.server.request("GET", "/v2/dlq", headers={"Authorization": "Basic " + DEV_TOKEN}).status, 401)
        self.assertEqual(self.server.request("GET", "/v2/dlq", headers={"Authorization": DEV_TOKEN}).status, 401)

    def test_health_is_open(self):
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.server.request("GET", path, token=None).status, 200)

    def test_the_development_keys_are_the_public_ones(self):
        self.assertEqual(self.server.get("/v2/keys").json()["current"], DEV_CURRENT_KEY)


class Logs(unittest.TestCase):
    def test_no_secret_reaches_the_logs_or_metrics(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        receiver.script("/fail", Answer(status=500, body=b"RESPONSE-SECRET"))
        token, key = "TOKEN-" + "s" * 40, "sig_" + "K" * 28
        server = Server("--allow-private-destinations", "--allow-loopback-destinations", dev=False, token=token,
                        env={"HIKYAKU_TOKEN": token, "HIKYAKU_CURRENT_SIGNING_KEY": key, "HIKYAKU_NEXT_SIGNING_KEY": key + "N"})
        self.addCleanup(server.close)
        server.start()
        message_id = server.publish_id(receiver.url("/fail?q=QUERY-SECRET"), b"BODY-SECRET", Upstash_Retries=0,
                                       Upstash_Forward_Authorization="Bearer FORWARD-SECRET")
        server.wait_dead_letter(message_id)
        server.request("GET", "/v2/dlq", token="WRONG-SECRET")
        server.publish("ftp://DESTINATION", b"BODY-SECRET")
        metrics = server.request("GET", "/metrics").body.decode()
        self.assertEqual(server.terminate(), 0)
        for secret in (token, key, "BODY-SECRET", "QUERY-SECRET", "FORWARD-SECRET", "RESPONSE-SECRET", "WRONG-SECRET"):
            self.assertNotIn(secret, server.output(), secret)
            self.assertNotIn(secret, metrics, secret)
        signature = receiver.at("/fail")[0].headers["Upstash-Signature"]
        self.assertNotIn(signature, server.output())
        for folder, _, names in os.walk(server.data):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    content = f.read()
                self.assertNotIn(token.encode(), content, f"the token stands in {name}")
                self.assertNotIn(key.encode(), content, f"the signing key stands in {name}")

    def test_the_data_directory_is_for_its_owner_only(self):
        with Server() as server:
            self.assertEqual(stat.S_IMODE(os.stat(server.data).st_mode) & 0o077, 0)


class Egress(unittest.TestCase):
    def start(self, *flags, **env):
        token = "t" * 40
        server = Server(*flags, dev=False, token=token, env={"HIKYAKU_TOKEN": token} | env)
        self.addCleanup(server.close)
        return server.start()

    def test_private_destinations_are_refused_by_default(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        server = self.start()
        port = receiver.port
        hosts = [
            "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
            "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]",
            "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "168.63.129.16",
        ]
        for host in hosts:
            with self.subTest(host):
                answer = server.publish(f"http://{host}:{port}/x", b"x", Upstash_Retries=0)
                if host == "localhost":  # A name is judged when it is resolved …
                    self.assertEqual(answer.status, 201)
                    entry = server.wait_dead_letter(answer.json()["messageId"])
                    self.assertEqual(entry["responseStatus"], 0)
                    self.assertNotIn("refused", entry["responseBody"], "tells whether the port was open")
                else:  # … an address when it is published.
                    self.assertEqual(answer.status, 400)
                    self.assertTrue(answer.json()["error"])
        self.assertEqual(receiver.requests, [])

    def test_they_can_be_allowed_by_flag_or_environment(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        for name, server in (("flag", self.start("--allow-private-destinations")),
                             ("environment", self.start(HIKYAKU_ALLOW_PRIVATE_DESTINATIONS="true"))):
            with self.subTest(name):
                server.publish_id(receiver.url("/" + name), b"x")
                receiver.wait("/" + name)

    def test_the_metadata_address_stays_closed_even_then(self):
        server = self.start("--allow-private-destinations")
        answer = server.publish("http://169.254.169.254/latest", b"x", Upstash_Retries=0, Upstash_Timeout="2s")
        self.assertEqual(answer.status, 400)

    def test_the_first_start_makes_credentials_and_shows_them_once(self):
        server = Server(dev=False)
        self.addCleanup(server.close)
        server.start()
        first = server.output()
        self.assertNotIn(DEV_TOKEN, first)
        self.assertEqual(server.request("GET", "/v2/dlq", token=DEV_TOKEN).status, 401)
        self.assertIn("curl", first)
        candidates = [word.strip("\"',") for word in first.split() if len(word.strip("\"',")) >= 20]
        token = next((word for word in candidates if server.request("GET", "/v2/dlq", token=word).status == 200), None)
        self.assertTrue(token, f"no word of the output is a token that works:\n{first}")
        server.restart()
        self.assertEqual(server.request("GET", "/v2/dlq", token=token).status, 200)
        self.assertNotIn(token, server.output()[len(first):], "shown again at the second start")


if __name__ == "__main__":
    unittest.main()
