"""The customers' portal in a real Chromium: what customers see and do, in both languages, themes and sizes."""
import contextlib
import gzip
import http.server
import json
import os
import re
import threading
import unittest
import urllib.parse

import harness
from browser import Browser
from harness import Answer, wait_for

BYTES_MAX = 200 * 1024
PICTURES = os.environ.get("HIKYAKU_PORTAL_PICTURES")  # a folder: every view is drawn into it

# Every text that is seen, its contrast with what is behind it, and what must be at least (WCAG AA).
CONTRAST = """
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const linear = (one) => (one /= 255) <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const [r, g, b, a] = parse(getComputedStyle(one).backgroundColor);
    if (a === undefined || a > 0) return [r, g, b];
  }
  return [255, 255, 255];
};
const poor = [];
for (const one of document.querySelectorAll("body *")) {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !one.getClientRects().length || one.closest(":disabled")) continue;
  const style = getComputedStyle(one);
  const [low, high] = [luminance(parse(style.color)), luminance(ground(one))].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) poor.push(`${one.tagName}.${one.className} "${one.textContent.trim().slice(0, 30)}": ${ratio.toFixed(2)}`);
}
return poor;
"""

# What a screen reader would stumble over.
STUMBLES = """
const wrong = [];
const seen = (one) => one.getClientRects().length > 0;
const name = (one) => (one.getAttribute("aria-label") || one.textContent || "").trim()
  || (one.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join("");
for (const one of document.querySelectorAll("input, select, textarea"))
  if (seen(one) && !one.labels.length && !one.getAttribute("aria-label")) wrong.push("no label: " + one.outerHTML);
for (const one of document.querySelectorAll("button, a, summary, dialog[open], nav, section[aria-labelledby], svg[role=img]"))
  if (seen(one) && !name(one)) wrong.push("no name: " + one.outerHTML.slice(0, 120));
const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) wrong.push("twice: #" + id);
for (const one of document.querySelectorAll("[aria-describedby]"))
  for (const id of one.getAttribute("aria-describedby").split(" ")) if (!document.getElementById(id)) wrong.push("describes nothing: " + id);
if (document.querySelectorAll("h1").length !== 1) wrong.push(document.querySelectorAll("h1").length + " h1");
if (document.querySelectorAll("main").length !== 1) wrong.push("no main");
if (!document.documentElement.lang || !document.title) wrong.push("no language or title");
let level = 1;
for (const one of document.querySelectorAll("main h1, main h2, main h3")) {
  if (Number(one.tagName[1]) > level + 1) wrong.push("a heading skips a level: " + one.textContent);
  level = Number(one.tagName[1]);
}
for (const one of document.querySelectorAll("button, .top a, input, select, summary"))
  if (seen(one)) { const box = one.getBoundingClientRect(); if (box.height < 17.9 || (box.height < 24 && one.tagName !== "INPUT"))
    wrong.push("a small target: " + one.outerHTML.slice(0, 100) + " " + box.height); }
return wrong;
"""


class PortalCase(unittest.TestCase):
    """A server, a receiver and a browser for the class; every test has an application of its own."""
    flags = ()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.receiver = harness.Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.server = harness.Server(*cls.flags)
        cls.addClassCleanup(cls.server.close)
        cls.server.start()
        cls.port, cls.token = cls.server.port, cls.server.token
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.size(1200, 900)
        self.browser.prefers(color_scheme="light")
        self.browser.complaints()
        self.app = self.api("POST", "/app", {"name": "Acme"}, 201)["id"]
        self.refusals = 0  # answers of 4xx that the test wants

    def tearDown(self):
        """No page that a test opened may have complained: neither scripts nor the security policy."""
        complaints = self.browser.complaints()
        failed = [one for one in complaints if "Failed to load resource" in one]
        self.assertEqual([one for one in complaints if one not in failed], [])
        self.assertLessEqual(len(failed), self.refusals, failed)

    # ---- Our user's side ----

    def call(self, method, path, body=None, token=None):
        return harness.request(self.port, method, "/api/v1" + path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"}, token=token or self.token)

    def api(self, method, path, body=None, status=200):
        answer = self.call(method, path, body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json() if answer.body else None

    def name(self, text):
        """Event types belong to the whole tenant: each test has its own."""
        return f"{self.id().rsplit('.', 1)[1][-40:]}.{text}"

    def event_type(self, text, example=None, **more):
        name = self.name(text)
        schema = {"type": "object", "properties": {"id": {"type": "string"}}} | ({} if example is None else {"examples": [example]})
        self.api("POST", "/event-type", {"name": name, "description": f"About {text}", "schemas": {"1": schema}} | more, 201)
        return name

    def endpoint(self, path=None, answers=(), **more):
        path = path or "/" + self.id().rsplit(".", 1)[1]
        if answers:
            self.receiver.script(path, *answers)
        return self.api("POST", f"/app/{self.app}/endpoint", {"url": self.receiver.url(path)} | more, 201)

    def publish(self, event_type, payload=None, **more):
        return self.api("POST", f"/app/{self.app}/msg", {"eventType": event_type, "payload": payload or {"id": "1"}} | more, 202)["id"]

    def state(self, endpoint):
        return self.api("GET", f"/webhooks/app/{self.app}/endpoint/{endpoint['id']}/state")

    def attempts(self, endpoint, **query):
        return self.api("GET", f"/app/{self.app}/attempt/endpoint/{endpoint['id']}?" + urllib.parse.urlencode(query))["data"]

    def tried(self, endpoint, count):
        return wait_for(lambda: len(self.attempts(endpoint)) >= count, f"{count} attempts")

    def link(self, query="", fragment="", **body):
        token = self.api("POST", f"/auth/app-portal-access/{self.app}", body)["token"]
        return f"http://127.0.0.1:{self.port}/portal/{query}#key={token}{fragment}"

    # ---- The customer's side ----

    def open(self, query="?lang=en&theme=light", view="", **body):
        if view:
            query += ("&" if query else "?") + urllib.parse.urlencode({"next": view})
        self.browser.open(self.link(query, **body))

    def audit(self, name=""):
        """What holds of every view: readable, named, and as wide as the window."""
        b = self.browser
        self.assertEqual(b.script(CONTRAST), [])
        self.assertEqual(b.script(STUMBLES), [])
        self.assertEqual(b.script("return [document.documentElement.scrollWidth, innerWidth]")[0],
                         b.script("return document.documentElement.clientWidth"), "it scrolls sideways")
        if PICTURES and name:
            os.makedirs(PICTURES, exist_ok=True)
            b.screenshot(os.path.join(PICTURES, name + ".png"))


class Served(unittest.TestCase):
    """What the server sends, without a browser."""

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server("--portal-frame-ancestors", "'self' https://app.example.com")
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def get(self, target, **headers):
        return self.server.request("GET", target, headers=headers, token=None)

    def assets(self):
        page = self.get("/portal/").body.decode()
        return page, re.findall(r'(?:src|href)="([^"]+)"', page)

    def test_the_page_comes_with_the_headers_of_a_page(self):
        answer = self.get("/portal/")

        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
        self.assertEqual(policy["default-src"], "'self'")
        self.assertEqual(policy["frame-ancestors"], "'self' https://app.example.com")
        self.assertEqual(policy["require-trusted-types-for"], "'script'")
        self.assertNotIn("unsafe", str(policy))
        self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(answer.headers["Cache-Control"], "no-cache")
        self.assertIsNone(answer.headers["X-Frame-Options"])
        self.assertEqual(len(answer.headers.get_all("Content-Security-Policy")), 1)

    def test_everything_comes_from_this_server_and_nothing_is_inline(self):
        page, assets = self.assets()

        self.assertEqual({one.split("?")[0] for one in assets}, {"icon.svg", "portal.css", "portal.js"})
        self.assertNotRegex(page, r"<style|style=|onload|javascript:|<script[^>]*>[^<]")
        for one in assets:
            code = self.get("/portal/" + one).body.decode()
            self.assertNotRegex(code, r"\beval\(|new Function\(")
            self.assertNotRegex(code, r"@import|url\(" if ".css" in one else r"https?://(?!reactjs\.org|www\.w3\.org)\w+\.")

    def test_all_of_it_is_small_on_the_wire(self):
        _, assets = self.assets()
        total = 0
        for one in ["", *assets]:
            answer = self.get("/portal/" + one, **{"Accept-Encoding": "br, gzip"})
            self.assertEqual(answer.headers["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(answer.body), self.get("/portal/" + one).body)
            total += len(answer.body)
        self.assertLess(total, BYTES_MAX)

    def test_a_browser_that_has_it_is_told_so(self):
        _, assets = self.assets()
        for one in ["", *assets]:
            with self.subTest(one):
                first = self.get("/portal/" + one)
                again = self.get("/portal/" + one, **{"If-None-Match": first.headers["ETag"]})
                packed = self.get("/portal/" + one, **{"Accept-Encoding": "gzip"})
                self.assertEqual((again.status, again.body), (304, b""))
                self.assertEqual(again.headers["ETag"], first.headers["ETag"])
                self.assertNotEqual(packed.headers["ETag"], first.headers["ETag"])
                self.assertEqual(first.headers["Vary"], "Accept-Encoding")

    def test_what_is_asked_for_by_version_is_kept_for_ever(self):
        _, assets = self.assets()
        for one in assets:
            self.assertIn("immutable", self.get("/portal/" + one).headers["Cache-Control"])
            for other in (one.split("?")[0], one.split("?")[0] + "?v=0"):
                self.assertEqual(self.get("/portal/" + other).headers["Cache-Control"], "no-cache")

    def test_without_the_slash_it_is_asked_for_again(self):
        answer = self.get("/portal?lang=ja")
        self.assertEqual((answer.status, answer.headers["Location"]), (308, "portal/?lang=ja"))

    def test_other_answers_are_still_no_pages(self):
        for target in ("/healthz", "/portal/nothing"):
            self.assertIn("sandbox", self.get(target).headers["Content-Security-Policy"])
            self.assertEqual(self.get(target).headers["Cache-Control"], "no-store")
        self.assertEqual(self.get("/portal/nothing").status, 404)

    def test_who_may_frame_it_is_checked_at_the_start(self):
        rows = (("self", '"self" is not an origin'), ("'self'; script-src *", "is not an origin"),
                ("'none' https://a.example", "write 'none' alone"), ("javascript:x", "is not an origin"))
        for value, said in rows:
            with self.subTest(value):
                got = harness.run_binary("serve", "--data", os.path.join(self.server.home, "other"), "--listen", "127.0.0.1:0",
                                         "--portal-frame-ancestors", value, timeout=60)
                self.assertEqual(got.returncode, 2)
                self.assertIn("portal_frame_ancestors: ", got.stderr)
                self.assertIn(said, got.stderr)


class Links(PortalCase):
    def test_the_key_leaves_the_address_bar_and_survives_a_reload(self):
        self.open()
        self.browser.sees("No endpoint yet")
        self.assertNotIn("appsk_", self.browser.url)
        self.browser.reload()
        self.browser.sees("No endpoint yet")
        self.assertNotIn("appsk_", self.browser.script("return document.documentElement.outerHTML + JSON.stringify(localStorage)"))

    def test_a_link_leads_to_a_view_of_this_page_alone(self):
        self.open(view="/events")
        self.browser.sees("Event types", "What can be sent to you.")
        for evil in ("//evil.example/", "https://evil.example/", "javascript:alert(1)"):
            self.open(view=evil)
            self.browser.sees("No endpoint yet")
            self.assertTrue(self.browser.url.endswith("#/"), self.browser.url)

    def test_a_link_that_is_over_says_so_and_shows_nothing_else(self):
        self.refusals = 20
        endpoint = self.endpoint()
        self.open()
        self.browser.sees(endpoint["url"])
        self.api("POST", f"/auth/app/{self.app}/expire-all", {"expiry": 0}, 204)
        self.browser.follow("Event types")
        self.browser.sees("This link has expired")
        self.browser.sees_no("Event types")
        self.audit("expired")
        self.browser.reload()
        self.browser.sees("This page needs a link")

    def test_a_wrong_key_and_no_key_are_told_apart(self):
        self.refusals = 2
        self.browser.open(f"http://127.0.0.1:{self.port}/portal/?lang=en#key=appsk_{'x' * 32}")
        self.browser.sees("This link has expired")
        self.browser.open(f"http://127.0.0.1:{self.port}/portal/?lang=en")
        self.browser.sees("This page needs a link")
        self.audit()

    def test_another_link_in_the_same_tab_takes_over(self):
        self.open()
        self.browser.sees("No endpoint yet")
        self.app = self.api("POST", "/app", {"name": "Other"}, 201)["id"]
        endpoint = self.endpoint()
        self.browser.script("location.hash = arguments[0]", self.link().split("#")[1])
        self.browser.sees(endpoint["url"])
        self.assertNotIn("appsk_", self.browser.url)


class Endpoints(PortalCase):
    def test_the_first_endpoint_is_added_by_keyboard_alone(self):
        b = self.browser
        name = self.event_type("paid")
        self.open()
        b.sees("No endpoint yet", "2xx")
        self.audit("empty")
        b.button("Add endpoint")
        wait_for(lambda: b.keys("Tab") or b.focused() == "Add endpoint", "the button to have the focus")
        b.keys("Enter")
        b.sees("Only these")
        self.audit("add")
        wait_for(lambda: b.keys("Tab") or b.focused() == "url", "the URL to have the focus")
        b.field("url").set("not a url")
        b.keys("Enter")
        self.refusals = 1
        b.sees("invalid destination url")
        self.assertEqual(b.field("url").attribute("aria-invalid"), "true")
        self.audit("add-wrong")
        b.field("url").set(self.receiver.url("/added"))
        b.keys("Tab")
        b.keys(*"orders")
        b.keys("Enter")
        b.sees("Signing secret", self.receiver.url("/added"), "orders", "active", "all event types")
        made = self.api("GET", f"/app/{self.app}/endpoint")["data"]
        self.assertEqual([(one["description"], one["eventTypes"]) for one in made], [("orders", None)])
        self.publish(name)
        self.receiver.wait("/added")

    def test_all_of_an_endpoint_can_be_changed(self):
        b = self.browser
        paid, sent = self.event_type("paid", groupName="billing"), self.event_type("sent", groupName="parcels")
        endpoint = self.endpoint(description="before", headers={"X-Open": "one", "Authorization": "hush", "X-Gone": "bye"})
        self.open(view="/endpoints/" + endpoint["id"])
        b.press("Edit")
        b.field("header-name-2")
        self.assertNotIn("hush", b.script("return document.documentElement.outerHTML"))
        b.field("description").set("after")
        b.named("label", "Only these").click()
        b.sees("billing", "parcels")
        b.field(f"type:{paid}").click()
        self.audit("edit")
        b.field("channels").set("eu, us")
        b.field("rate").set("many")
        b.press("Save")
        self.refusals = 2
        b.sees("must be an integer")
        b.field("rate").set("20")
        b.press("Add a header")
        b.field("header-name-3").set("svix-id")
        b.press("Save")
        b.sees("svix-id: is a header that cannot be set")
        b.press("Remove the header svix-id")
        names = [b.field(f"header-name-{i}").attribute("value") for i in range(3)]
        b.field(f"header-value-{names.index('X-Open')}").set("two")
        b.press("Remove the header X-Gone")
        b.press("Save")
        b.sees("after", paid, "#eu")
        now = self.api("GET", f"/app/{self.app}/endpoint/{endpoint['id']}")
        self.assertEqual((now["description"], now["eventTypes"], now["channels"], now["throttleRate"]),
                         ("after", [paid], ["eu", "us"], 20))
        self.publish(sent, channels=["eu"])
        self.publish(paid, channels=["eu"])
        got = self.receiver.wait(urllib.parse.urlsplit(endpoint["url"]).path)[0]
        self.assertEqual((got.headers["X-Open"], got.headers["Authorization"], got.headers["X-Gone"]), ("two", "hush", None))

    def test_what_was_held_is_delivered_or_skipped(self):
        b = self.browser
        name = self.event_type("paid")
        endpoint = self.endpoint()
        path = urllib.parse.urlsplit(endpoint["url"]).path
        self.open(view="/endpoints/" + endpoint["id"])
        b.press("Pause")
        b.sees("paused", "The endpoint is paused. Resume it")
        self.publish(name)
        self.publish(name)
        b.follow("Endpoints")
        b.wait(lambda: b.script("return document.querySelector('tbody tr td:last-child')?.innerText") == "2", "2 held")
        b.sees("paused")
        self.audit("endpoints")
        b.follow(endpoint["url"])
        b.find('[name="filter-status"]').choose("waiting")
        b.wait(lambda: len(b.all("tbody tr")) == 2, "two that wait")
        b.press("Resume")
        b.sees("held meanwhile: 2")
        self.audit("resume")
        b.press("Resume")
        b.sees("active")
        self.receiver.wait(path, 2)

        b.press("Pause")
        b.sees("paused")
        self.publish(name)
        wait_for(lambda: self.state(endpoint)["held"]["messages"] == 1, "one held")
        b.press("Resume")
        b.named("label", "Skip it").click()
        b.press("Resume")
        b.sees("active")
        self.assertEqual(self.state(endpoint)["held"]["messages"], 0)
        self.assertEqual(len(self.receiver.at(path)), 2)

    def test_states_are_said_in_words(self):
        b = self.browser
        name = self.event_type("paid")
        gone, failing, off = (self.endpoint("/gone", [410]), self.endpoint("/failing", [503]), self.endpoint("/off", disabled=True))
        self.publish(name)
        self.tried(gone, 1)
        self.tried(failing, 1)
        self.open()
        b.sees("disabled: it answered 410 Gone", "failing since", "disabled by you")
        b.follow(gone["url"])
        b.sees("410 Gone", "Resume it to deliver what waits")
        self.receiver.script("/gone", 200)
        b.press("Resume")
        b.press("Resume")
        b.sees("active")
        self.tried(gone, 2)

    def test_an_endpoint_is_deleted_once_that_is_confirmed(self):
        b = self.browser
        endpoint = self.endpoint()
        self.open(view="/endpoints/" + endpoint["id"])
        b.press("Delete")
        b.sees("What waits for it is canceled")
        b.keys("Escape")
        b.sees_no("What waits for it is canceled")
        self.assertEqual(b.focused(), "Delete")
        b.press("Delete")
        b.press("Delete")
        b.sees("No endpoint yet")
        self.assertEqual(self.api("GET", f"/app/{self.app}/endpoint")["data"], [])

    def test_the_secret_is_shown_on_demand_and_replaced_with_an_overlap(self):
        b = self.browser
        name = self.event_type("paid")
        endpoint = self.endpoint()
        secret = lambda: self.api("GET", f"/app/{self.app}/endpoint/{endpoint['id']}/secret")["key"]
        first = secret()
        self.open(view="/endpoints/" + endpoint["id"])
        b.sees("Show the secret")
        self.assertNotIn(first, b.text())
        b.press("Show the secret")
        b.sees(first)
        b.press("Replace the secret")
        b.sees("24 hours")
        self.audit("rotate")
        b.press("Replace the secret")
        b.sees_no(first)
        b.sees(secret())
        self.assertNotEqual(secret(), first)
        self.publish(name)
        got = self.receiver.wait(urllib.parse.urlsplit(endpoint["url"]).path)[0]
        self.assertEqual(len(got.headers["webhook-signature"].split()), 2, "both sign")
        b.named("summary", "How to verify").click()
        b.field("language").choose("Python")
        b.sees("from standardwebhooks import Webhook")

    def test_many_endpoints_come_in_pages(self):
        for i in range(21):
            self.endpoint(f"/many/{i}")
        self.open()
        self.browser.wait(lambda: len(self.browser.all("tbody tr")) == 20, "the first page")
        self.browser.press("Show more")
        self.browser.wait(lambda: len(self.browser.all("tbody tr")) == 21, "all")


class Messages(PortalCase):
    def test_an_example_is_sent_and_looked_at(self):
        b = self.browser
        name = self.event_type("paid", example={"id": "ch_1"})
        endpoint = self.endpoint(answers=[Answer(202, body=b"thanks")])
        self.open(view="/endpoints/" + endpoint["id"])
        b.sees("Send an example to see the first one")
        b.press("Send an example")
        b.field("example").choose(name)
        self.audit("example")
        b.press("Send an example")
        b.sees_no("Sends one message to this endpoint only")
        self.tried(endpoint, 1)
        b.press("Refresh")
        b.sees(name, "202", "delivered", "The latest 1 attempts: 100% delivered")
        self.audit("endpoint")
        b.follow(name)
        b.sees("ch_1", "webhook-id: msg_", endpoint["url"])
        b.named("summary", "✓ delivered").click()
        b.sees("thanks")
        self.audit("message")

    def test_bodies_and_answers_are_text_to_the_last_digit(self):
        b = self.browser
        evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
        endpoint = self.endpoint(answers=[Answer(489, {"Upstash-NonRetryable-Error": "true"}, evil.encode())])
        message = self.publish(self.event_type("big"), {"html": evil},
                               transformationsParams={"rawPayload": '{"amount":9007199254740993.10,"html":' + json.dumps(evil) + "}"})
        self.tried(endpoint, 1)
        self.open(view="/messages/" + message)
        b.sees('"amount": 9007199254740993.10', "<script>", "failed", "489")
        b.named("summary", "✕ failed").click()
        b.sees('onerror="document.title=1"')
        self.assertEqual(b.all("main img, main script"), [])
        self.assertEqual(b.script("return document.title"), "Webhooks")

    def test_a_failed_message_is_sent_again(self):
        b = self.browser
        endpoint = self.endpoint(answers=[Answer(489, {"Upstash-NonRetryable-Error": "true"}), 200])
        message = self.publish(self.event_type("paid"))
        self.tried(endpoint, 1)
        self.open(view="/messages/" + message)
        b.sees("failed")
        b.press("Send again")
        self.tried(endpoint, 2)
        b.press("Refresh")
        b.sees("delivered", "sent again")
        ids = {got.headers["webhook-id"] for got in self.receiver.at(urllib.parse.urlsplit(endpoint["url"]).path)}
        self.assertEqual(ids, {message})

    def test_a_body_that_is_gone_and_a_refusal_are_said_in_words(self):
        b = self.browser
        self.refusals = 3
        self.endpoint()
        message = self.publish(self.event_type("paid"))
        self.api("DELETE", f"/app/{self.app}/msg/{message}/content", status=204)
        self.open(view="/messages/" + message)
        b.sees("The body is not kept any more.")
        b.press("Send again")
        b.sees("payload", "Request ")
        self.audit("refused")

    def test_a_message_that_nobody_wanted_says_why(self):
        message = self.publish(self.event_type("paid"))
        self.open(view="/messages/" + message)
        self.browser.sees("No endpoint wanted it", "There was no attempt yet.")

    def test_attempts_are_filtered_and_the_filter_is_in_the_address(self):
        b = self.browser
        paid, sent = self.event_type("paid"), self.event_type("sent")
        endpoint = self.endpoint(answers=[200, Answer(489, {"Upstash-NonRetryable-Error": "true"}), 200])
        self.publish(paid)
        self.tried(endpoint, 1)
        self.publish(sent)
        self.tried(endpoint, 2)
        self.publish(paid)
        self.tried(endpoint, 3)
        self.open(view="/endpoints/" + endpoint["id"])
        rows = lambda count: b.wait(lambda: len(b.all("section > div table tbody tr[data-id^=atmpt]")) == count, f"{count} rows")
        rows(3)
        b.find('[name="filter-status"]').choose("2")
        rows(1)
        b.sees("489")
        b.find('[name="filter-status"]').choose("")
        b.find('[name="filter-type"]').choose(paid)
        rows(2)
        self.assertIn("type=", b.url)
        b.reload()
        rows(2)
        b.find('[name="filter-status"]').choose("2")
        b.sees("None fits this filter.")

    def test_new_attempts_wait_until_somebody_wants_to_see_them(self):
        b = self.browser
        name = self.event_type("paid")
        endpoint = self.endpoint()
        self.publish(name)
        self.tried(endpoint, 1)
        self.open(view="/endpoints/" + endpoint["id"])
        b.find("tr[data-id^=atmpt]")
        self.publish(name)
        self.tried(endpoint, 2)
        b.sees("1 new")
        self.assertEqual(len(b.all("tr[data-id^=atmpt]")), 1)
        b.press("▲ 1 new")
        b.wait(lambda: len(b.all("tr[data-id^=atmpt]")) == 2, "both")

    def test_a_view_of_something_that_is_not_there_says_so_and_can_be_left(self):
        self.refusals = 10
        self.open(view="/endpoints/ep_nothing")
        self.browser.sees("This did not work", "Entity not found", "Try again")
        self.browser.follow("Endpoints")
        self.browser.sees("No endpoint yet")

    def test_a_server_that_is_away_is_named_and_asked_again(self):
        b = self.browser
        self.refusals = 10
        self.open()
        b.sees("No endpoint yet")
        b.cdp("Network.enable")
        b.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        try:
            b.follow("Event types")
            b.sees("The server cannot be reached.")
        finally:
            b.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        b.press("Try again")
        b.sees_no("The server cannot be reached.")


class Replays(PortalCase):
    def failed(self, count):
        name = self.event_type("paid")
        endpoint = self.endpoint(answers=[Answer(489, {"Upstash-NonRetryable-Error": "true"})] * count + [200])
        for i in range(count):
            self.publish(name)
            self.tried(endpoint, i + 1)
        self.open(view="/endpoints/" + endpoint["id"])
        self.browser.press("Replay")
        self.browser.sees("Count first")
        return endpoint

    def test_what_failed_is_counted_and_sent_once_more(self):
        b = self.browser
        endpoint = self.failed(3)
        b.press("Count first")
        b.sees("Messages: 3.")
        self.audit("replay")
        b.field("what").choose("missing")
        b.sees_no("Messages: 3.")
        b.press("Count first")
        b.sees("Messages: 0.")
        b.field("what").choose("failed")
        b.press("Count first")
        b.press("Send 3")
        b.sees("finished")
        self.audit("replayed")
        self.assertEqual(len(self.receiver.at(urllib.parse.urlsplit(endpoint["url"]).path)), 6)
        b.press("Dismiss")
        b.sees_no("finished")

    def test_a_slow_one_is_paused_and_stopped_also_from_another_visit(self):
        b = self.browser
        endpoint = self.failed(3)
        b.field("rate").set("0.1")
        b.press("Start")
        b.sees("Stop the replay")
        b.press("Pause the replay")
        b.sees("Continue the replay")
        self.open(view="/endpoints/" + endpoint["id"])
        b.press("Stop the replay")
        b.sees("stopped")
        self.assertLess(len(self.receiver.at(urllib.parse.urlsplit(endpoint["url"]).path)), 6)

    def test_a_wrong_speed_is_refused_at_its_field(self):
        self.refusals = 1
        self.failed(1)
        self.browser.field("rate").set("quickly")
        self.browser.press("Start")
        self.browser.sees("must be a number")
        self.assertEqual(self.browser.field("rate").attribute("aria-invalid"), "true")


class Rights(PortalCase):
    def buttons(self):
        return {one.text for one in self.browser.all("main button")} - {"Refresh", "Copy", ""}

    def test_what_a_link_does_not_allow_is_not_there(self):
        name = self.event_type("paid")
        endpoint = self.endpoint()
        message = self.publish(name)
        self.tried(endpoint, 1)
        rows = (
            ([], set()),
            (["ViewEndpointSecret"], {"Show the secret"}),
            (["ManageEndpointSecret"], {"Show the secret", "Replace the secret"}),
            (["CreateAttempts"], {"Send an example", "Replay"}),
            (["ManageEndpoint"], {"Edit", "Pause", "Delete", "Show the secret", "Replace the secret"}),
        )
        for capabilities, expected in rows:
            with self.subTest(capabilities):
                self.open(view="/endpoints/" + endpoint["id"], capabilities=["ViewBase", *capabilities])
                self.browser.sees(name, "Signing secret")
                self.browser.wait(lambda: self.browser.has("tr[data-id^=atmpt]"), "the attempt")
                self.assertEqual(self.buttons(), expected)
                self.browser.script("location.hash = '#/messages/' + arguments[0]", message)
                self.browser.sees("Where it goes", endpoint["url"])
                self.assertEqual("Send again" in self.buttons(), "CreateAttempts" in capabilities)
                self.browser.follow("Endpoints")
                self.browser.sees("Addresses of yours")
                self.browser.find("tbody tr")
                self.assertEqual("Add endpoint" in self.buttons(), "ManageEndpoint" in capabilities)

    def test_a_link_that_only_looks_makes_only_calls_that_look(self):
        endpoint = self.endpoint()
        self.publish(self.event_type("paid"))
        self.tried(endpoint, 1)
        added = self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
            const fetched = window.fetch;
            window.called = [];
            window.fetch = (url, how) => { window.called.push(how.method); return fetched(url, how); };""")
        try:
            self.open(view="/endpoints/" + endpoint["id"], capabilities=["ViewBase"])
            self.browser.wait(lambda: self.browser.has("tr[data-id^=atmpt]"), "the attempt")
            methods = self.browser.script("return window.called")
        finally:
            self.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **added)
        self.assertGreater(len(methods), 5)
        self.assertEqual(set(methods), {"GET"})

    def test_another_customer_is_nowhere_to_be_seen(self):
        self.refusals = 10
        other = self.endpoint("/other")
        self.app = self.api("POST", "/app", {"name": "Mallory"}, 201)["id"]
        self.open()
        self.browser.sees("No endpoint yet")
        self.open(view="/endpoints/" + other["id"])
        self.browser.sees("Entity not found")
        self.assertNotIn("/other", self.browser.text())


class Looks(PortalCase):
    """Both languages, both themes, a phone, a frame."""

    def world(self):
        self.event_type("paid", example={"id": "ch_1", "amount": 4200}, groupName="billing")
        self.event_type("refunded", deprecated=True, groupName="billing")
        name = self.event_type("sent")
        endpoint = self.endpoint(description="Orders of the shop in the west, for the warehouse",
                                 answers=[200, 200, Answer(489, {"Upstash-NonRetryable-Error": "true"}, b'{"error":"no such order"}'), 200])
        message = ""
        for i in range(4):
            message = self.publish(name, {"id": f"order_{i}", "a_rather_long_name_of_a_member": "x" * 200}, tags=["west"])
            self.tried(endpoint, i + 1)
        self.endpoint("/" + "a-very-long-path/" * 8, disabled=True)
        return {"endpoints": "/", "endpoint": "/endpoints/" + endpoint["id"], "message": "/messages/" + message, "events": "/events"}

    def test_every_view_is_readable_in_every_look(self):
        b = self.browser
        views = self.world()
        ready = {"en": {"endpoints": "disabled by you", "endpoint": "The latest 4 attempts", "message": "order_3",
                        "events": "billing"},
                 "ja": {"endpoints": "無効 (お客様の操作)", "endpoint": "最新の 4 件", "message": "order_3", "events": "billing"}}
        for width in (1200, 360):
            for lang in ("en", "ja"):
                for theme in ("light", "dark"):
                    b.size(width, 900)
                    self.browser.open(self.link(f"?lang={lang}&theme={theme}"))
                    for view, place in views.items():
                        with self.subTest(view=view, width=width, lang=lang, theme=theme):
                            b.script("location.hash = '#' + arguments[0]", place)
                            b.sees(ready[lang][view])
                            b.wait(lambda: not b.has('[aria-busy="true"]'), "the page to rest")
                            for summary in b.all("main details:not([open]) > summary"):
                                summary.click()
                            self.audit(f"{view}-{width}-{lang}-{theme}")

    def test_the_browsers_language_and_theme_are_taken_until_somebody_switches(self):
        with Browser(languages="ja,en") as b:
            b.prefers(color_scheme="dark")
            b.open(self.link())
            b.sees("エンドポイントはまだありません")
            self.assertEqual(b.script("return [document.documentElement.lang, document.documentElement.dataset.theme]"), ["ja", "dark"])
            b.press("明るい配色")
            b.press("English")
            b.sees("No endpoint yet")
            self.assertEqual(b.script("return [document.documentElement.lang, document.documentElement.dataset.theme]"), ["en", "light"])
            self.assertEqual(b.complaints(), [])

    def test_a_brand_colour_is_taken_and_kept_readable(self):
        b = self.browser
        for colour in ("ffe45e", "28bb93", "1a1a2e", "ffffff"):
            for theme in ("light", "dark"):
                with self.subTest(colour=colour, theme=theme):
                    self.open(f"?lang=en&theme={theme}&primaryColor={colour}")
                    b.sees("No endpoint yet")
                    shown = b.script("return getComputedStyle(arguments[0]).backgroundColor", b.button("Add endpoint"))
                    self.assertEqual([int(one) for one in re.findall(r"\d+", shown)], list(bytes.fromhex(colour)))
                    self.assertEqual(b.script(CONTRAST), [])
        self.open("?lang=en&theme=light&primaryColor=red;}*{display:none")
        b.sees("No endpoint yet")

    def test_the_catalogue_shows_what_can_be_received(self):
        b = self.browser
        name = self.event_type("paid", example={"id": "ch_1"}, groupName="billing")
        self.open(view="/events")
        b.sees("billing", name, "About paid")
        b.find(f'[data-type="{name}"] > summary').click()
        b.sees('"id": "ch_1"', '"type": "object"')

    def test_a_dialog_keeps_the_focus_and_gives_it_back(self):
        b = self.browser
        self.open()
        b.press("Add endpoint")
        b.field("url")
        for _ in range(25):
            b.keys("Tab")
            self.assertTrue(b.script("const one = document.activeElement; return one === document.body || !!one.closest('dialog')"))
        b.keys("Escape")
        b.wait(lambda: not b.has("dialog"), "the dialog to go")
        self.assertEqual(b.focused(), "Add endpoint")

    def test_the_first_thing_that_the_keyboard_reaches_skips_to_the_content(self):
        b = self.browser
        self.open()
        b.sees("No endpoint yet")
        b.keys("Tab")
        self.assertEqual(b.focused(), "Skip to the content")
        b.keys("Enter")
        b.wait(lambda: b.script("return document.activeElement.id") == "main", "the content to have the focus")
        self.audit()


class Frames(PortalCase):
    """Our user's page shows the portal in a frame: another origin, since its port is another one."""
    flags = ("--portal-frame-ancestors", "'self' http://localhost:*")

    def host(self, link):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = f'<!doctype html><title>host</title><iframe src="{link.replace("&", "&amp;")}" width="600" height="600"></iframe>'.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    @contextlib.contextmanager
    def inside(self):
        self.browser.call("POST", "/frame", {"id": 0})
        try:
            yield
        finally:
            self.browser.call("POST", "/frame", {"id": None})

    def test_an_origin_that_may_shows_it_and_another_one_does_not(self):
        b = self.browser
        port = self.host(self.link("?lang=en"))
        b.open(f"http://localhost:{port}/")
        with self.inside():
            b.sees("No endpoint yet")
            b.press("Add endpoint")
            b.field("url")
        b.open(f"http://127.0.0.1:{port}/")
        refusal = wait_for(lambda: [one for one in b.complaints() if "frame-ancestors" in one], "the browser to refuse")
        self.assertTrue(refusal)
        with self.inside():
            self.assertNotIn("No endpoint yet", b.text())
        b.complaints()


if __name__ == "__main__":
    unittest.main()
