"""Every way in which somebody can name a destination, against every destination that must not be reached (egress.py).
The doors of the outbox are in test_outbox_egress.py."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

import egress
from harness import BINARY, Answer, Receiver, Server, run_binary, wait_for

TOKEN = "t" * 40
ELSEWHERE = "http://localhost:1/elsewhere"  # a name, so that it is accepted; nothing is ever sent to it
LATER = {"Upstash-Delay": "1h", "Upstash-Retries": "0"}
NOW = {"Upstash-Retries": "0"}


def sayable(text):
    """As the value of a header, or in the target of a request."""
    return text.isascii() and text.isprintable()


class Doors:
    """The ways in. Each takes a URL and returns (accepted, what was said); `now` is false where nothing may be sent yet."""

    def __init__(self, server, key):
        self.server = server
        self.elsewhere = ELSEWHERE
        self.key = key
        self.count = 0
        self.topic = self.told(self.server.sns("CreateTopic", key, Name="egress")).split("<TopicArn>")[1].split("</TopicArn>")[0]

    @staticmethod
    def told(answer):
        return answer.body.decode()

    def post(self, target, body=b"x", headers=None, method="POST"):
        answer = self.server.request(method, target, body, headers or {})
        assert answer.status in (200, 201, 202, 400), (answer.status, answer.body)
        return answer.status != 400, self.told(answer)

    def fresh(self, word):
        self.count += 1
        return f"{word}-{self.count}"

    def publish(self, url, now):
        return self.post("/v2/publish/" + urllib.parse.quote(url, safe=""), headers=NOW if now else LATER)

    def publish_unescaped(self, url, now):
        """None where the bytes cannot stand in a target."""
        if not sayable(url) or " " in url or "#" in url:
            return None
        return self.post("/v2/publish/" + url, headers=NOW if now else LATER)

    def enqueue(self, url, now):
        queue = self.fresh("q")
        if not now:
            self.post("/v2/queues", json.dumps({"queueName": queue}))
            self.post(f"/v2/queues/{queue}/pause")
        return self.post(f"/v2/enqueue/{queue}/" + urllib.parse.quote(url, safe=""), headers=NOW)

    def batch(self, url, now):
        [told] = json.loads(self.post("/v2/batch", json.dumps([{"destination": url, "headers": NOW if now else LATER}]))[1])
        return "messageId" in told, str(told)

    def callback(self, url, now, header="Upstash-Callback"):
        if not sayable(url):
            return None
        return self.post("/v2/publish/" + self.elsewhere, headers=(NOW if now else LATER) | {header: url})

    def failure_callback(self, url, now):
        return self.callback(url, now, "Upstash-Failure-Callback")

    def callback_in_the_query(self, url, now):
        return self.post(f"/v2/publish/{self.elsewhere}?upstash-callback={urllib.parse.quote(url, safe='')}", headers=NOW if now else LATER)

    def endpoint(self, url, now):
        group = self.fresh("g")
        made = self.post(f"/v2/topics/{group}/endpoints", json.dumps({"endpoints": [{"url": url}]}))
        if made[0] and now:
            self.post(f"/v2/publish/{group}", headers=NOW)
        return made

    def options_of_a_group(self, url, now):
        group = self.fresh("o")
        self.post(f"/v2/topics/{group}/endpoints", json.dumps({"endpoints": [{"url": self.elsewhere}]}))
        made = self.post(f"/v2/topics/{group}", json.dumps({"headers": {"Upstash-Callback": url}}), method="PATCH")
        if made[0] and now:
            self.post(f"/v2/publish/{group}", headers=NOW)
        elif not made[0]:
            self.post(f"/v2/topics/{group}", None, method="DELETE")
        return made

    def schedule(self, url, now):
        return self.post("/v2/schedules/" + urllib.parse.quote(url, safe=""),
                         headers=NOW | {"Upstash-Cron": "* * * * *" if now else "0 0 1 1 *"})

    def schedule_callback(self, url, now):
        if not sayable(url):
            return None
        return self.post("/v2/schedules/" + self.elsewhere, headers=NOW | {"Upstash-Cron": "* * * * *" if now else "0 0 1 1 *",
                                                                           "Upstash-Failure-Callback": url})

    def subscription(self, url, now):
        """Subscribing sends a message at once: nothing public."""
        protocol = "https" if url.lower().startswith("https:") else "http"
        answer = self.server.sns("Subscribe", self.key, TopicArn=self.topic, Protocol=protocol, Endpoint=url)
        assert answer.status in (200, 400), (answer.status, answer.body)
        return answer.status == 200, self.told(answer)

    def push_url(self, url, now):
        name = self.fresh("p")
        answer = self.server.sqs("CreateQueue", self.key, QueueName=name, Attributes={"HikyakuPushUrl": url})
        assert answer.status in (200, 400), (answer.status, answer.body)
        if answer.status == 200 and now:
            self.server.sqs("SendMessage", self.key, QueueUrl=answer.json()["QueueUrl"], MessageBody="x")
        return answer.status == 200, self.told(answer)

    def changed_push_url(self, url, now):
        made = self.server.sqs("CreateQueue", self.key, QueueName=self.fresh("p")).json()["QueueUrl"]
        answer = self.server.sqs("SetQueueAttributes", self.key, QueueUrl=made, Attributes={"HikyakuPushUrl": url})
        assert answer.status in (200, 400), (answer.status, answer.body)
        if answer.status == 200 and now:
            self.server.sqs("SendMessage", self.key, QueueUrl=made, MessageBody="x")
        return answer.status == 200, self.told(answer)


DOORS = ("publish", "publish_unescaped", "enqueue", "batch", "callback", "failure_callback", "callback_in_the_query", "endpoint",
         "options_of_a_group", "schedule", "schedule_callback", "subscription", "push_url", "changed_push_url")
SCHEDULES = ("schedule", "schedule_callback")  # nothing comes of them before the next minute


def blocked(server):
    return server.metrics().get('hikyaku_delivery_attempts_total{result="blocked"}', 0)


class EgressCase(unittest.TestCase):
    flags = ()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.server = Server(*cls.flags, dev=False, token=TOKEN, env={"HIKYAKU_TOKEN": TOKEN})
        cls.addClassCleanup(cls.server.close)
        cls.server.start()
        made = json.loads(run_binary("keys", "create", "--json", "--data", cls.server.data).stdout)
        cls.doors = Doors(cls.server, (made["access_key_id"], made["secret_access_key"]))


class Closed(EgressCase):
    """A server as it is by default."""

    def test_every_door_refuses_every_destination_of_the_table(self):
        rows = [row for row in egress.table(self.receiver.port) if row.outcome in (egress.TEXT, egress.ADDRESS)]
        self.assertGreaterEqual(len(rows), 400)
        before = [self.server.get(one).json() for one in ("/v2/topics", "/v2/schedules")]
        for door in DOORS:
            tried = 0
            for row in rows:
                got = getattr(self.doors, door)(row.url, now=True)
                if got is None:
                    continue
                tried += 1
                with self.subTest(door=door, row=row.name, url=row.url):
                    self.assertFalse(got[0], got[1])
                    if row.outcome == egress.ADDRESS:
                        self.assertIn("private or reserved address", got[1])
            self.assertGreaterEqual(tried, 350, door)
        self.assertEqual([self.server.get(one).json() for one in ("/v2/topics", "/v2/schedules")], before)
        self.assertEqual(self.receiver.requests, [])

    def test_every_spelling_of_every_forbidden_address_is_refused(self):
        rows = list(egress.corpus(self.receiver.port))
        self.assertGreaterEqual(len(rows), 1000)
        answer = self.server.request("POST", "/v2/batch", json.dumps([{"destination": row.url, "headers": NOW} for row in rows]))
        self.assertEqual(answer.status, 200, answer.body)
        for row, told in zip(rows, answer.json(), strict=True):
            with self.subTest(row=row.name, url=row.url):
                self.assertIn("error", told)
        self.assertEqual(self.receiver.requests, [])

    def test_what_is_public_is_accepted(self):
        """Otherwise the tests above would pass for a server that refuses everything. Nothing is sent."""
        for row in egress.table(self.receiver.port):
            if row.outcome == egress.PUBLIC:
                for door in DOORS:
                    if door != "subscription":
                        with self.subTest(door=door, url=row.url):
                            accepted, said = getattr(self.doors, door)(row.url, now=False)
                            self.assertTrue(accepted, said)
        for schedule in self.server.get("/v2/schedules").json():
            self.server.request("DELETE", "/v2/schedules/" + schedule["scheduleId"])
        for group in self.server.get("/v2/topics").json():
            self.server.request("DELETE", "/v2/topics/" + group["name"])

    def test_names_and_ports_are_refused_when_they_are_connected_to(self):
        rows = [row for row in egress.table(self.receiver.port) if row.outcome == egress.CONNECT]
        for row in rows:
            with self.subTest(row.name):
                accepted, said = self.doors.publish(row.url, now=True)
                self.assertTrue(accepted, said)
                entry = self.server.wait_dead_letter(json.loads(said)["messageId"])
                self.assertEqual((entry["responseStatus"], entry["responseBody"]), (0, "blocked_by_policy"))
        self.assertEqual(self.receiver.requests, [])

    def test_every_door_leads_to_the_same_judgement_of_names(self):
        for door in DOORS:
            if door not in SCHEDULES:
                with self.subTest(door):
                    # ELSEWHERE is blocked, too: what is a callback's makes one more.
                    before = blocked(self.server) + ("callback" in door or door == "options_of_a_group")
                    accepted, said = getattr(self.doors, door)(f"http://a.localhost:{self.receiver.port}/{door}", now=True)
                    self.assertTrue(accepted, said)
                    wait_for(lambda: blocked(self.server) > before, "the attempt to be blocked")
        self.assertEqual(self.receiver.requests, [])


class Opened(EgressCase):
    """A server that may deliver to this machine: what stays closed then."""
    flags = ("--allow-private-destinations", "--allow-loopback-destinations")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Their minute passes while the other tests run.
        cls.receiver.script("/moved/schedule", Answer(307, {"Location": cls.receiver.url("/landed")}))
        for door in SCHEDULES:
            accepted, said = getattr(cls.doors, door)(cls.receiver.url("/moved/schedule"), now=True)
            assert accepted, said

    def test_redirects_are_not_followed(self):
        for door in DOORS:
            if door in SCHEDULES:
                continue
            for status in (301, 302, 303, 307, 308):
                with self.subTest(door=door, status=status):
                    path = f"/moved/{door}/{status}"
                    self.receiver.script(path, Answer(status, {"Location": self.receiver.url("/landed")}), 200)
                    accepted, said = getattr(self.doors, door)(self.receiver.url(path), now=True)
                    self.assertTrue(accepted, said)
                    self.receiver.wait(path)
        self.assertEqual(self.receiver.at("/landed"), [])

    def test_redirects_of_schedules_are_not_followed(self):
        self.receiver.wait("/moved/schedule", count=2, timeout=120)
        self.assertEqual(self.receiver.at("/landed"), [])

    def test_every_form_of_redirect_is_a_failed_attempt(self):
        rows = {
            "to metadata": "http://169.254.169.254/latest/meta-data/", "to this machine": self.receiver.url("/landed"),
            "to the server itself": f"http://127.0.0.1:{self.server.port}/v2/dlq", "relative": "/landed",
            "scheme-relative": f"//127.0.0.1:{self.receiver.port}/landed", "other scheme": "file:///etc/passwd",
            "to itself": self.receiver.url("/loop"),
        }
        for name, location in rows.items():
            with self.subTest(name):
                path = "/redirect/" + name.replace(" ", "-")
                self.receiver.script(path, Answer(302, {"Location": location, "Refresh": "0; url=" + location}))
                entry = self.server.wait_dead_letter(self.server.publish_id(self.receiver.url(path), b"x", Upstash_Retries=0))
                self.assertEqual(entry["responseStatus"], 302)
                self.assertEqual(len(self.receiver.at(path)), 1)
        self.assertEqual(self.receiver.at("/landed") + self.receiver.at("/loop"), [])

    def test_what_no_flag_opens_is_refused_at_every_door(self):
        stays = [*egress.METADATA, *(f"[{one}]" for one in egress.METADATA_V6), "0.0.0.0", "169.254.1.1", "224.0.0.1", "255.255.255.255",
                 "192.0.2.1", "198.18.0.1", "[::]", "[fe80::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
                 "[2001:db8::1]", "[::127.0.0.1]"]
        for door in DOORS:
            for host in stays:
                with self.subTest(door=door, host=host):
                    accepted, said = getattr(self.doors, door)(f"http://{host}:{self.receiver.port}/", now=True)
                    self.assertFalse(accepted, said)

    def test_the_servers_own_port_is_closed_to_every_door(self):
        for door in DOORS:
            for host in ("127.0.0.1", "localhost", "127.0.0.2", "[::1]", "LocalHost.", "a.localhost"):
                with self.subTest(door=door, host=host):
                    accepted, said = getattr(self.doors, door)(f"http://{host}:{self.server.port}/healthz", now=True)
                    self.assertFalse(accepted, said)
                    self.assertIn("the port of this server itself", said)


class Chosen(EgressCase):
    """A server whose operator has listed the hosts that may be delivered to."""
    HOSTS = "127.0.0.1, localhost, *.below.test"
    flags = ("--allow-loopback-destinations", "--allowed-hosts", HOSTS)

    def test_every_door_refuses_every_other_host(self):
        for door in DOORS:
            for host in ("127.0.0.2", "a.localhost", "below.test", "example.com", "[::1]"):
                with self.subTest(door=door, host=host):
                    accepted, said = getattr(self.doors, door)(f"http://{host}:{self.receiver.port}/", now=True)
                    self.assertFalse(accepted, said)
                    self.assertIn("is not one of the hosts that this server delivers to", said)
        self.assertEqual(self.receiver.requests, [])

    def test_every_door_takes_those_of_the_list(self):
        for door in DOORS:
            with self.subTest(door):
                accepted, said = getattr(self.doors, door)(self.receiver.url(f"/chosen/{door}"), now=door not in SCHEDULES)
                self.assertTrue(accepted, said)
                if door not in SCHEDULES:
                    self.receiver.wait(f"/chosen/{door}")
        accepted, said = self.doors.publish("http://a.below.test/", now=False)
        self.assertTrue(accepted, said)

    def test_a_list_that_is_none_is_refused_at_the_start(self):
        for flags, said in ((("--allowed-hosts", "https://example.com"), 'allowed_hosts: "https://example.com" is not a host'),
                            (("--allowed-hosts", "a.test,,b.test"), 'allowed_hosts: "" is not a host'),
                            (("--allow-http-destinations=perhaps",), "--allow-http-destinations:"),
                            (("--hsts-subdomains",), "hsts_subdomains needs tls_cert")):
            with self.subTest(flags), tempfile.TemporaryDirectory() as data:
                done = run_binary("serve", "--data", data, "--listen", "127.0.0.1:0", *flags)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)


class HttpsOnly(EgressCase):
    flags = ("--allow-loopback-destinations", "--allow-http-destinations=false")

    def test_every_door_refuses_http(self):
        self.doors.elsewhere = "https://localhost:1/elsewhere"
        for door in DOORS:
            with self.subTest(door):
                accepted, said = getattr(self.doors, door)(self.receiver.url("/x"), now=True)
                self.assertFalse(accepted, said)
                self.assertIn("this server delivers to https URLs only", said)
                if door not in SCHEDULES:
                    accepted, said = getattr(self.doors, door)("https://localhost:1/x", now=False)
                    self.assertTrue(accepted, said)
        self.assertEqual(self.receiver.requests, [])


class Tightened(unittest.TestCase):
    """What was accepted before the settings were changed."""

    def test_it_is_not_delivered_and_says_why(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        server = Server()
        self.addCleanup(server.close)
        server.start()
        url = receiver.url("/x")
        server.request("POST", "/v2/queues", json.dumps({"queueName": "q"}))
        server.request("POST", "/v2/queues/q/pause")
        waiting = server.request("POST", f"/v2/enqueue/q/{url}", b"x", NOW).json()["messageId"]
        told = server.request("POST", f"/v2/enqueue/q/{ELSEWHERE}", b"x", NOW | {"Upstash-Failure-Callback": url}).json()["messageId"]
        server.request("POST", "/v2/topics/g/endpoints", json.dumps({"endpoints": [{"url": url}]}))
        schedule = server.request("POST", f"/v2/schedules/{url}", b"x", NOW | {"Upstash-Cron": "* * * * *"}).json()["scheduleId"]
        server.request("PATCH", f"/v2/schedules/{schedule}/pause")
        topic = server.sns("CreateTopic", Name="t").body.decode().split("<TopicArn>")[1].split("</TopicArn>")[0]
        policy = json.dumps({"healthyRetryPolicy": {"numRetries": 0}})
        subscribed = server.sns("Subscribe", TopicArn=topic, Protocol="http", Endpoint=receiver.url("/confirm"),
                                **{"Attributes.entry.1.key": "DeliveryPolicy", "Attributes.entry.1.value": policy})
        self.assertEqual(subscribed.status, 200, subscribed.body)
        [confirmation] = receiver.wait("/confirm")
        link = urllib.parse.urlsplit(json.loads(confirmation.body)["SubscribeURL"])
        self.assertEqual(server.request("GET", f"{link.path}?{link.query}", token=None).status, 200)
        pushed = server.make_queue("pushed", HikyakuPushUrl=url)

        for flags, why in ((("--allowed-hosts", "localhost"), "127.0.0.1 is not one of the hosts that this server delivers to"),
                           (("--allow-http-destinations=false",), "this server delivers to https URLs only")):
            with self.subTest(flags):
                server.kill()
                server.flags = list(flags)
                server.start()
                text = "blocked_by_policy: " + why
                if waiting:
                    server.request("POST", "/v2/queues/q/resume")
                    self.assertEqual(server.wait_dead_letter(waiting)["responseBody"], text)
                    server.wait_dead_letter(told)
                    [callback] = wait_for(lambda: [one for one in server.dead_letters("url=" + url) if one["messageId"] != waiting],
                                          "the callback's dead letter")
                    self.assertEqual(callback["responseBody"], text)
                    waiting = None
                [one] = server.request("POST", "/v2/publish/g", b"x", NOW).json()
                self.assertEqual(server.wait_dead_letter(one["messageId"])["responseBody"], text)
                self.assertEqual(server.sns("Publish", TopicArn=topic, Message="x").status, 200)
                self.assertEqual(server.sqs("SendMessage", QueueUrl=pushed, MessageBody="x").status, 200)
                # The endpoint of the group and the subscriber were both stopped at their attempts.
                wait_for(lambda: blocked(server) >= 2, "the attempts to be blocked")
                wait_for(lambda: [one for one in server.dead_letters("url=" + receiver.url("/confirm")) if one["responseBody"] == text],
                         "the subscriber's dead letter")
                wait_for(lambda: "queue.push_refused" in server.output(), "the log to tell of the push URL")
        # What a queue would have pushed is still there for who pulls.
        self.assertEqual(len(server.receive(pushed)), 2)
        self.assertEqual((receiver.at("/x"), len(receiver.at("/confirm"))), ([], 1))


class Rebinding(unittest.TestCase):
    """Names that change their address, with a hosts file of the server's own: only where a mount namespace can be made."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="hikyaku-hosts-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.hosts = os.path.join(self.home, "hosts")
        self.point("127.0.0.1")
        # The server sees this file as /etc/hosts, and files alone are asked: no name leaves the machine.
        nsswitch = os.path.join(self.home, "nsswitch.conf")
        with open(nsswitch, "w") as f:
            f.write("hosts: files\n")
        self.wrapper = os.path.join(self.home, "hikyaku")
        with open(os.open(self.wrapper, os.O_WRONLY | os.O_CREAT, 0o700), "w") as f:
            f.write(f'#!/bin/sh\nset -e\nmount --bind {self.hosts} /etc/hosts\nmount --bind {nsswitch} /etc/nsswitch.conf\n'
                    f'exec {BINARY} "$@"\n')
        tried = None
        with contextlib.suppress(OSError):
            tried = subprocess.run(["unshare", "--mount", self.wrapper, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if tried is None or tried.returncode != 0:
            self.skipTest("no mount namespace can be made here")
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def point(self, *addresses):
        """Where victim.test leads from now on. Written in place: the server has the file itself, not its name."""
        with open(self.hosts, "w") as f:
            f.write("".join(f"{address} victim.test\n" for address in addresses))

    def start(self, *flags):
        server = Server(*flags, dev=False, token=TOKEN, env={"HIKYAKU_TOKEN": TOKEN})
        server.command = lambda: ["unshare", "--mount", self.wrapper, *Server.command(server)[1:]]
        self.addCleanup(server.close)
        return server.start()

    def fate(self, server, path):
        """"delivered", or why it was not."""
        message = server.publish_id(f"http://victim.test:{self.receiver.port}{path}", b"x", Upstash_Retries=0)
        ends = wait_for(lambda: server.dead_letters("messageId=" + message) or "DELIVERED" in server.states(message),
                        lambda: f"an end of {server.job(message)}")
        return "delivered" if ends is True else ends[0]["responseBody"]

    def test_a_name_is_judged_by_what_it_resolves_to(self):
        server = self.start()
        for address in ("127.0.0.1", "127.0.0.53", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16",
                        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "fe80::1", "fd00::1", "fd00:ec2::254", "::ffff:127.0.0.1",
                        "64:ff9b::7f00:1", "2002:7f00:1::1", "ff02::1"):
            with self.subTest(address):
                self.point(address)
                server.restart()  # answers are remembered for some seconds
                self.assertEqual(self.fate(server, "/inside"), "blocked_by_policy")
        self.assertEqual(self.receiver.requests, [])

    def test_a_name_that_moves_inside_is_not_followed_there_even_on_a_kept_connection(self):
        server = self.start("--allow-loopback-destinations")
        self.assertEqual(self.fate(server, "/before"), "delivered")
        self.point("10.0.0.1")
        wait_for(lambda: self.fate(server, "/moving") == "blocked_by_policy", "the new address to be seen", timeout=60)
        received = len(self.receiver.requests)
        self.assertEqual(self.fate(server, "/after"), "blocked_by_policy")
        self.assertEqual((len(self.receiver.requests), self.receiver.at("/after")), (received, []))


if __name__ == "__main__":
    unittest.main()
