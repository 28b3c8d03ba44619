"""More than one tenant: what each sees, and how its credentials change."""
import json
import os
import unittest

from harness import Answer, Case, run_binary, verify_signature, wait_for

UNAVAILABLE = 3


class Admin(Case):
    """With the token of the operator."""
    def admin(self, method, target, body=None):
        with open(os.path.join(self.server.data, "admin.json")) as f:
            token = json.load(f)["token"]
        return self.server.request(method, target, body, token=token)

    def create(self, name):
        answer = self.admin("POST", "/api/v1/tenants", json.dumps({"name": name}).encode())
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()

    def as_tenant(self, tenant, method, target, body=None, headers=None):
        return self.server.request(method, target, body, headers, token=tenant["token"])


class Tenants(Admin):
    def test_one_sees_nothing_of_another(self):
        first, second = self.create("seen-first"), self.create("seen-second")
        path, url = self.hook(Answer(status=500))

        def publish(**headers):
            got = self.as_tenant(first, "POST", "/v2/publish/" + url, b"secret", headers)
            self.assertEqual(got.status, 201, got.body)
            return got.json()["messageId"]

        waiting = publish(**{"Upstash-Delay": "1h", "Upstash-Label": "l", "Upstash-Flow-Control-Key": "k",
                             "Upstash-Flow-Control-Value": "parallelism=1"})
        queued = self.as_tenant(first, "POST", f"/v2/enqueue/q1/{url}", b"secret", {"Upstash-Retries": "0"}).json()["messageId"]
        self.receiver.wait(path)
        letters = self.wait_for_letters(first)
        # What the second one reads is as if the first one were not there.
        for target, name in (("/v2/dlq", "messages"), ("/v2/events", "events"), ("/v2/logs", "logs")):
            self.assertEqual(self.as_tenant(second, "GET", target).json()[name], [], target)
        for message_id in (waiting, queued):
            for target in (f"/v2/messages/{message_id}", f"/api/v1/jobs/{message_id}"):
                self.assertEqual(self.as_tenant(first, "GET", target).status, 200)
                self.assertEqual(self.as_tenant(second, "GET", target).status, 404)
            self.assertEqual(self.as_tenant(second, "GET", f"/v2/events?messageId={message_id}").json()["events"], [])
        for target in ("/v2/queues", "/v2/topics", "/v2/schedules"):
            got = self.as_tenant(second, "GET", target)
            self.assertTrue(got.status in (404, 405) or got.json() == [], f"{target}: {got.body}")
        self.assertIn(self.as_tenant(second, "GET", "/v2/queues/q1").status, (404, 405))
        # Nor does it change anything of it.
        self.assertEqual(self.as_tenant(second, "DELETE", f"/v2/messages/{waiting}").status, 404)
        self.assertEqual(self.as_tenant(second, "DELETE", "/v2/messages").json(), {"cancelled": 0})
        self.assertEqual(self.as_tenant(second, "DELETE", f"/v2/messages?messageIds={waiting}").json(), {"cancelled": 0})
        self.assertEqual(self.as_tenant(second, "DELETE", "/v2/messages?label=l").json(), {"cancelled": 0})
        self.assertEqual(self.as_tenant(second, "DELETE", "/v2/dlq").json()["deleted"], 0)
        self.assertEqual(self.as_tenant(second, "POST", "/v2/dlq/retry").json()["responses"], [])
        letter = letters[0]["dlqId"]
        for method, target in (("GET", f"/v2/dlq/{letter}"), ("DELETE", f"/v2/dlq/{letter}"),
                               ("POST", f"/v2/dlq/retry/{letter}"), ("POST", f"/v2/dlq/retry?dlqIds={letter}")):
            self.assertEqual(self.as_tenant(second, method, target).status, 404, target)
        self.assertEqual(self.as_tenant(first, "DELETE", "/v2/messages?label=l").json(), {"cancelled": 1})

    def wait_for_letters(self, tenant):
        return wait_for(lambda: self.as_tenant(tenant, "GET", "/v2/dlq").json()["messages"], "a dead letter")

    def test_each_signs_with_its_own_key_and_rotates_it_alone(self):
        first, second = self.create("keys-first"), self.create("keys-second")
        path, url = self.hook()
        for count, tenant in enumerate((first, second), 1):
            self.as_tenant(tenant, "POST", "/v2/publish/" + url, b"x")
            got = self.receiver.wait(path, count)[count - 1]
            verify_signature(got.headers["Upstash-Signature"], tenant["current_signing_key"], url, b"x")
        rotated = self.as_tenant(first, "POST", "/v2/keys/rotate").json()
        self.assertEqual(rotated["current"], first["next_signing_key"])
        self.assertEqual(self.as_tenant(second, "GET", "/v2/keys").json()["current"], second["current_signing_key"])
        self.as_tenant(first, "POST", "/v2/publish/" + url, b"x")
        verify_signature(self.receiver.wait(path, 3)[2].headers["Upstash-Signature"], rotated["current"], url, b"x")

    def test_a_new_token_ends_the_old_one_and_survives_a_kill(self):
        tenant = self.create("rotates")
        renewed = self.admin("POST", f"/api/v1/tenants/{tenant['id']}/rotate-token").json()
        self.assertEqual(self.as_tenant(tenant, "GET", "/v2/dlq").status, 401)
        self.assertEqual(self.as_tenant(renewed, "GET", "/v2/dlq").status, 200)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.as_tenant(tenant, "GET", "/v2/dlq").status, 401)
        self.assertEqual(self.as_tenant(renewed, "GET", "/v2/dlq").status, 200)
        self.assertEqual(self.as_tenant(renewed, "GET", "/v2/keys").json()["current"], tenant["current_signing_key"])

    def test_the_admin_api_is_not_for_tenants(self):
        for method, target in (("GET", "/api/v1/tenants"), ("POST", "/api/v1/tenants"),
                               ("POST", "/api/v1/tenants/1/rotate-token"), ("GET", "/api/v1/tenants/1/access-keys"),
                               ("POST", "/api/v1/tenants/1/access-keys"), ("DELETE", "/api/v1/tenants/1/access-keys/HK1"),
                               ("GET", "/api/v1/tenants/1/limits"), ("PUT", "/api/v1/tenants/1/limits")):
            self.assertEqual(self.server.request(method, target, b"{}").status, 401)

    def test_what_dev_fixes_cannot_be_rotated(self):
        self.assertEqual(self.server.request("POST", "/v2/keys/rotate").status, 409)
        self.assertEqual(self.admin("POST", "/api/v1/tenants/1/rotate-token").status, 409)

    def test_the_commands(self):
        def tenants(*arguments):
            got = run_binary("tenants", *arguments, "--data", self.server.data, "--json")
            self.assertEqual(got.returncode, 0, got.stderr)
            return json.loads(got.stdout)

        made = tenants("create", "by-command")
        self.assertEqual(self.as_tenant(made, "GET", "/v2/dlq").status, 200)
        self.assertIn({"id": made["id"], "name": "by-command"},
                      [{"id": t["id"], "name": t["name"]} for t in tenants("list")["tenants"]])
        renewed = tenants("rotate-token", str(made["id"]))
        self.assertEqual(self.as_tenant(renewed, "GET", "/v2/dlq").status, 200)
        again = run_binary("tenants", "create", "by-command", "--data", self.server.data)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists already", again.stderr)
        plain = run_binary("tenants", "list", "--data", self.server.data)
        self.assertIn("by-command", plain.stdout)
        self.assertNotIn(renewed["token"], plain.stdout)
        nobody = run_binary("tenants", "list", "--data", "/nowhere")
        self.assertEqual(nobody.returncode, UNAVAILABLE)


class AccessKeys(Admin):
    def keys(self, *arguments):
        return run_binary("keys", *arguments, "--data", self.server.data)

    def test_what_is_not_there_is_said_so(self):
        tenant = self.create("keyless")
        keys = f"/api/v1/tenants/{tenant['id']}/access-keys"
        self.assertEqual(self.admin("GET", keys).json(), {"tenant": "keyless", "access_keys": []})
        for method, target in (("GET", "/api/v1/tenants/999/access-keys"), ("POST", "/api/v1/tenants/x/access-keys"),
                               ("DELETE", "/api/v1/tenants/999/access-keys/HK1"), ("DELETE", keys + "/HK1"),
                               ("DELETE", keys + "/a/b?c=d")):
            answer = self.admin(method, target)
            self.assertEqual(answer.status, 404, target)
            self.assertIn("no ", answer.json()["detail"])
            self.assertEqual(answer.json()["code"], "not_found")
        self.assertEqual(self.admin("DELETE", keys + "/").json()["code"], "method_not_allowed")
        got = self.keys("revoke", "HK1", "--tenant", "keyless")
        self.assertEqual(got.returncode, 1)
        self.assertIn("has no access key HK1", got.stderr)
        got = self.keys("list", "--tenant", "nobody-here")
        self.assertEqual(got.returncode, 1)
        self.assertIn("there is no tenant nobody-here", got.stderr)
        self.assertEqual(self.keys("list", "--tenant", "keyless").stdout, "no access keys\n")
        self.assertEqual(run_binary("keys", "list", "--data", "/nowhere").returncode, UNAVAILABLE)

    def test_a_tenant_has_a_hundred_at_most_and_they_survive_a_kill(self):
        tenant = self.create("many-keys")
        keys = f"/api/v1/tenants/{tenant['id']}/access-keys"
        made = [self.admin("POST", keys).json() for _ in range(100)]
        self.assertEqual(len({one["access_key_id"] for one in made}), 100)
        for one in made:
            self.assertRegex(one["access_key_id"], "^HK[A-Z0-9]{18}$")
            self.assertRegex(one["secret_access_key"], "^[A-Za-z0-9]{40}$")
        refused = self.admin("POST", keys)
        self.assertEqual(refused.status, 409)
        self.assertIn("revoke one first", refused.json()["detail"])
        revoked = made.pop(7)
        self.assertEqual(self.admin("DELETE", f"{keys}/{revoked['access_key_id']}").json(),
                         {"tenant": "many-keys", "access_key_id": revoked["access_key_id"]})
        self.server.kill()
        self.server.start()
        listed = self.admin("GET", keys)
        self.assertEqual([one["access_key_id"] for one in listed.json()["access_keys"]], [one["access_key_id"] for one in made])
        self.assertNotIn(made[0]["secret_access_key"], listed.body.decode())
        self.assertEqual(self.admin("POST", keys).status, 201)
        self.assertEqual(self.as_tenant(tenant, "GET", "/v2/keys").json()["current"], tenant["current_signing_key"])


class Redrive(Case):
    def test_by_filter_and_rate_until_what_was_dead_is_done(self):
        path, url = self.hook(*[Answer(status=500)] * 100)
        ids = [self.server.publish_id(url, str(i).encode(), Upstash_Retries=0, Upstash_Label="mine") for i in range(7)]
        other = self.server.publish_id(url, b"other", Upstash_Retries=0)
        for message_id in [*ids, other]:
            self.server.wait_dead_letter(message_id)
        got = self.server.cli("dlq", "retry", "--all", "--filter", "label=mine", "--rate", "100")
        # They fail again, and are not taken a second time.
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(len(got.stdout.split()), 7)
        self.assertIn("retried 7", got.stderr)
        for message_id in got.stdout.split():
            self.server.wait_dead_letter(message_id)
        self.assertEqual(len(self.receiver.wait(path, 15)), 15)
        got = self.server.cli("dlq", "retry", "--all", "--filter", "label=nobody")
        self.assertIn("retried 0", got.stderr)

    def test_the_flags_go_with_all(self):
        for flags in (("1-1", "--rate", "5"), ("--filter", "label=x"), ("--all", "--rate", "0"), ("--all", "--filter", "x")):
            self.assertEqual(self.server.cli("dlq", "retry", *flags).returncode, 2, flags)


class Why(Case):
    def test_a_person_is_told_what_holds_a_message(self):
        waiting = self.server.publish_id("http://127.0.0.1:1/x", b"x", Upstash_Delay="1h")
        got = self.server.cli("messages", "why", waiting)
        self.assertIn("delay: it was published with a delay", got.stdout)
        self.assertIn("opens at ", got.stdout)
        path, url = self.hook()
        done = self.server.publish_id(url, b"x")
        self.server.wait_job(done, "SUCCEEDED")
        self.assertIn("finished: SUCCEEDED", self.server.cli("messages", "why", done).stdout)
        self.assertEqual(self.server.cli("messages", "why", "msg_nobody").returncode, 1)
        self.assertEqual(json.loads(self.server.cli("messages", "why", waiting, "--json").stdout)[0]["gate"], "delay")


if __name__ == "__main__":
    unittest.main()
