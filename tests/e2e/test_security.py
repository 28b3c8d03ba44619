"""Who may ask, where requests may go, what must not be told."""
import json
import os
import re
import stat
import unittest

from harness import DEV_CURRENT_KEY, DEV_TOKEN, Answer, Case, Receiver, Server, raw_exchange


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


class Routes(unittest.TestCase):
    """Made from the route table that the server shows of itself, so that a new route is covered by itself."""
    OPEN = {"/healthz", "/readyz", "/metrics", "/api/openapi.json", "/sns/certificate.pem", "/api/v1/health", "/api/v1/health/ping"}
    # The files of pages; what a service sends to a source is let in by its signature.
    OPEN_BELOW = ("/portal/", "/in/")
    ADMIN = ("/api/v1/admin/", "/api/v1/tenants")

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.token = "t" * 40
        cls.server = Server("--allow-loopback-destinations", dev=False, token=cls.token, env={"HIKYAKU_TOKEN": cls.token})
        cls.addClassCleanup(cls.server.close)
        cls.server.start()
        document = cls.server.request("GET", "/api/openapi.json").json()
        cls.routes = sorted((method.upper(), path) for path, methods in document["paths"].items() for method in methods)

    def call(self, method, path, token, **values):
        target = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "x"), path)
        return self.server.request(method, target, b"" if method in ("GET", "HEAD") else b"{}", {"X-Request-Id": "one"}, token=token)

    def test_every_route_wants_its_own_token(self):
        self.assertGreater(len(self.routes), 50)
        for method, path in self.routes:
            if path in self.OPEN or path.startswith(self.OPEN_BELOW):
                continue
            for name, token in (("none", None), ("wrong", "nonsense"), ("empty", ""), ("longer", self.token + "x"), ("shorter", self.token[:-1])):
                with self.subTest(f"{method} {path}, {name}"):
                    answer = self.call(method, path, token)
                    self.assertEqual(answer.status, 401, answer.body)
            if path.startswith(self.ADMIN):
                with self.subTest(f"{method} {path}, that of a tenant"):
                    self.assertIn(self.call(method, path, self.token).status, (401, 403))

    def test_what_is_anothers_is_as_if_it_were_nobodys(self):
        with open(os.path.join(self.server.data, "admin.json")) as f:
            admin = json.load(f)["token"]
        other = self.server.request("POST", "/api/v1/tenants", json.dumps({"name": "other"}), token=admin).json()["token"]
        self.receiver.script("/fails", 500)
        message = self.server.publish_id(self.receiver.url("/x"), b"x", Upstash_Delay="1h", Upstash_Flow_Control_Key="mine",
                                         Upstash_Flow_Control_Value="parallelism=1")
        letter = self.server.wait_dead_letter(self.server.publish_id(self.receiver.url("/fails"), b"x", Upstash_Retries=0))["dlqId"]
        schedule = self.server.request("POST", "/v2/schedules/" + self.receiver.url("/x"), b"x", {"Upstash-Cron": "0 0 1 1 *"}).json()["scheduleId"]
        self.server.request("POST", "/v2/topics/mine/endpoints", json.dumps({"endpoints": [{"url": self.receiver.url("/x")}]}))
        self.server.request("POST", "/v2/queues", json.dumps({"queueName": "mine"}))
        mine = {"messageId": message, "id": message, "dlqId": letter, "scheduleId": schedule, "name": "mine", "key": "mine"}
        nobodys = {"messageId": "msg_" + "0" * 21 + "1", "id": "msg_" + "0" * 21 + "1", "dlqId": "1700000000000-7",
                   "scheduleId": "scd_" + "0" * (len(schedule) - 4), "name": "nobodys", "key": "nobodys"}
        targets = [f"/v2/messages/{message}", f"/v2/dlq/{letter}", f"/v2/schedules/{schedule}", "/v2/topics/mine", "/v2/queues/mine",
                   "/v2/flowControl/mine", f"/api/v1/jobs/{message}"]
        before = [self.server.get(target) for target in targets]
        self.assertEqual([answer.status for answer in before], [200] * len(targets))
        tried = 0
        for method, path in self.routes:
            names = set(re.findall(r"\{(\w+)\}", path))
            if not names or not names <= set(mine) or path.startswith(self.ADMIN):
                continue
            tried += 1
            with self.subTest(f"{method} {path}"):
                answers = []
                for values in (mine, nobodys):
                    answer = self.call(method, path, other, **values)
                    text = answer.body.decode()
                    for value in sorted(values.values(), key=len, reverse=True):
                        text = text.replace(value, "…")
                    answers.append((answer.status, text))
                self.assertEqual(*answers)
                self.assertNotEqual(answers[0][0], 401)
        self.assertGreaterEqual(tried, 18)
        for target, was in zip(targets, before, strict=True):
            self.assertEqual(self.server.get(target).json(), was.json(), target)


class Closed(Case):
    """Doors that are open by default, and can be closed."""
    flags = ("--allow-token-in-query=false", "--log-level", "info")
    options = {"env": {"HIKYAKU_METRICS_TOKEN": "metrics-secret"}}

    def test_metrics_and_the_description_of_the_api_can_be_closed(self):
        with open(os.path.join(self.server.data, "admin.json")) as f:
            admin = json.load(f)["token"]
        for target in ("/metrics", "/api/openapi.json"):
            for token, status in ((None, 401), ("wrong", 401), (self.server.token, 401), ("metrics-secret", 200), (admin, 200)):
                with self.subTest(target=target, status=status):
                    answer = self.server.request("GET", target, token=token)
                    self.assertEqual(answer.status, status, answer.body)
                    self.assertEqual(answer.headers.get("WWW-Authenticate"), "Bearer" if status == 401 else None)
        for target in ("/healthz", "/readyz"):
            self.assertEqual(self.server.request("GET", target, token=None).status, 200)
        self.assertEqual(self.server.request("GET", "/v2/dlq", token="metrics-secret").status, 401)
        self.assertIn('"metrics_token"', self.server.output())
        self.assertNotIn("metrics-secret", self.server.output())

    def test_a_token_in_the_query_can_be_refused(self):
        for method, target in (("GET", "/v2/dlq"), ("POST", "/v2/publish/" + self.receiver.url("/query"))):
            answer = self.server.request(method, f"{target}?qstash_token={self.server.token}", token=None)
            self.assertIn("Authorization: Bearer", self.refused(answer, 401))
        self.assertEqual(self.server.request("GET", "/v2/dlq").status, 200)
        self.assertEqual(self.receiver.at("/query"), [])


class Browsers(Case):
    """There are no pages, and browsers are told so."""

    def test_no_other_origin_is_let_in(self):
        origin = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST",
                  "Access-Control-Request-Headers": "authorization"}
        for method, target in (("OPTIONS", "/v2/publish/https://example.com"), ("OPTIONS", "/v2/dlq"), ("GET", "/v2/dlq"),
                               ("GET", "/metrics"), ("GET", "/nothing"), ("POST", "/?Action=ListQueues")):
            with self.subTest(f"{method} {target}"):
                answer = self.server.request(method, target, headers=origin)
                self.assertEqual([name for name in answer.headers if name.lower().startswith("access-control-")], [])
                if method == "OPTIONS":
                    self.assertEqual(answer.status, 405)
                self.assertEqual(answer.headers["Cache-Control"], "no-store")
                self.assertEqual(answer.headers["Cross-Origin-Resource-Policy"], "same-origin")
                self.assertIn("frame-ancestors 'none'", answer.headers["Content-Security-Policy"])

    def test_trace_is_not_spoken_and_no_version_is_told(self):
        answer = self.server.request("TRACE", "/v2/dlq", headers={"X-Echo": "echo-secret"})
        self.assertEqual(answer.status, 501)
        self.assertNotIn(b"echo-secret", answer.body)
        for target in ("/healthz", "/nothing", "/metrics", "/api/openapi.json"):
            with self.subTest(target):
                answer = self.server.get(target)
                self.assertEqual(answer.headers["Server"], "hikyaku")
                self.assertIsNone(re.search(rb"(?i)openssl|rocksdb|boost", answer.body))

    def test_every_answer_says_what_it_is(self):
        document = self.server.get("/api/openapi.json").json()
        targets = [(method.upper(), re.sub(r"\{\w+\}", "x", path)) for path, methods in document["paths"].items() for method in methods]
        self.assertGreater(len(targets), 50)
        for method, target in [*targets, ("GET", "/nothing"), ("POST", "/?Action=ListQueues"), ("TRACE", "/")]:
            with self.subTest(f"{method} {target}"):
                answer = self.server.request(method, target, token=None)
                if answer.body:
                    kind = answer.headers["Content-Type"]
                    page = r"|^text/(html|css|javascript);.*charset=utf-8$|^image/svg\+xml$" if target.startswith("/portal/") else ""
                    self.assertRegex(kind, r"^application/(problem\+)?json$|^application/x-|^text/(plain|xml);.*charset=utf-8$" + page)
                    if kind.endswith("json"):
                        answer.json()


class Logs(unittest.TestCase):
    def test_what_is_refused_is_in_the_log(self):
        """Who guesses, who forges and who sends what is no HTTP; each once, so that the bound on lines is not reached."""
        server = Server("--log-level", "info")
        self.addCleanup(server.close)
        server.start()
        server.request("GET", "/v2/messages/msg_path-secret", token="guessed-secret")
        server.request("POST", "/api/v1/tenants", b"{}", token=DEV_TOKEN)
        server.sqs("ListQueues", key=("HKNOBODY", "signing-secret"))
        raw_exchange(server.port, b"GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
        self.assertEqual(server.get("/v2/dlq").status, 200)
        self.assertEqual(server.terminate(), 0)
        lines = [json.loads(line) for line in server.output().splitlines() if line.startswith("{")]
        told = [(line["event"], line.get("way"), line["peer"]) for line in lines if line["event"].endswith(".refused")]
        self.assertEqual(told, [("auth.refused", "token", "127.0.0.1"), ("auth.refused", "admin_token", "127.0.0.1"),
                                ("auth.refused", "signature", "127.0.0.1"), ("http.refused", None, "127.0.0.1")])
        self.assertIn("HKNOBODY", [line.get("access_key") for line in lines])
        self.assertNotIn("auth.accepted", [line["event"] for line in lines])
        for secret in ("secret", DEV_TOKEN):
            self.assertNotIn(secret, json.dumps(lines))
        self.assertTrue(all(line["time"].endswith("Z") for line in lines))

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
