"""A real Chromium, driven by WebDriver from the standard library: what the tests of web pages use it for. Elements are named by
CSS selectors or by what people see; every look waits for what it looks for, and for nothing else."""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1")
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "Space": " ", "End": "\ue010", "Down": "\ue015", "Shift": "\ue008"}

# Finds what is visible by its role and name, as people and screen readers do.
FIND_BY_NAME = """
const [selector, name] = arguments;
const clean = (text) => (text || "").replace(/\\s+/g, " ").trim();
const named = (one) => {
  const by = one.getAttribute("aria-labelledby");
  if (by) return clean(by.split(" ").map((id) => document.getElementById(id)?.textContent).join(" "));
  return clean(one.getAttribute("aria-label") || (one.labels && one.labels[0]?.textContent) || one.textContent);
};
const seen = [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
return seen.find((one) => named(one) === name) || seen.find((one) => named(one).startsWith(name)) || null;
"""


class WebDriverError(Exception):
    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Element:
    def __init__(self, browser, reference):
        self.browser = browser
        self.reference = reference

    def _call(self, method, path, body=None):
        return self.browser.call(method, f"/element/{self.reference}{path}", body)

    def click(self):
        self._call("POST", "/click", {})

    def type(self, text):
        self._call("POST", "/value", {"text": text})

    def set(self, text):
        """In place of what is there, as somebody would who marks all of it first."""
        self.browser.script("arguments[0].focus(); arguments[0].select && arguments[0].select()", self)
        self.type(text if text else "\ue003")

    def choose(self, value):
        """An option of a <select>."""
        self.browser.script("""
            const [select, value] = arguments;
            Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(select, value);
            select.dispatchEvent(new Event("change", {bubbles: true}));""", self, value)

    @property
    def text(self):
        return self._call("GET", "/text")

    def attribute(self, name):
        return self._call("GET", f"/attribute/{name}")

    def screenshot(self):
        return base64.b64decode(self._call("GET", "/screenshot"))


class Browser:
    """One window of one fresh profile. with Browser() as browser: …"""

    def __init__(self, width=1200, height=900, languages="en-US,en"):
        self.home = tempfile.mkdtemp(prefix="hikyaku-browser-")
        self.session = None
        self.driver = None
        try:
            self._start(width, height, languages)
        except BaseException:
            self.close()
            raise

    def _start(self, width, height, languages):
        driver = shutil.which("chromedriver")
        browser = shutil.which("chromium")
        assert driver and browser, "these tests need Chromium: apt-get install chromium chromium-driver"
        self.driver = subprocess.Popen([driver, "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, env=os.environ | {"HOME": self.home})
        printed = ""
        for line in self.driver.stdout:
            printed += line
            if found := re.search(r"started successfully on port (\d+)", line):
                self.port = int(found[1])
                break
        else:
            raise AssertionError("chromedriver did not start:\n" + printed)
        options = {"binary": browser, "args": [*FLAGS, f"--user-data-dir={self.home}/profile", f"--window-size={width},{height}",
                                               f"--accept-lang={languages}", f"--lang={languages.split(',')[0]}"]}
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 60_000, "pageLoad": 60_000, "implicit": 0}}}})
        self.session = made["sessionId"]
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            with contextlib.suppress(OSError, WebDriverError, http.client.HTTPException):
                self.call("DELETE", "")
            self.session = None
        if self.driver:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.driver = None
        shutil.rmtree(self.home, ignore_errors=True)

    # ---- The wire ----

    def _send(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(value["error"], value.get("message", ""))
        return value

    def call(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _out(self, value):
        return {ELEMENT: value.reference} if isinstance(value, Element) else value

    def _in(self, value):
        if isinstance(value, dict) and ELEMENT in value:
            return Element(self, value[ELEMENT])
        return [self._in(one) for one in value] if isinstance(value, list) else value

    # ---- What tests do ----

    def open(self, url):
        """Another page, also if only its fragment differs."""
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.call("GET", "/url")

    def reload(self):
        self.call("POST", "/refresh", {})

    def back(self):
        self.call("POST", "/back", {})

    def script(self, code, *arguments):
        return self._in(self.call("POST", "/execute/sync", {"script": code, "args": [self._out(one) for one in arguments]}))

    def later(self, code, *arguments):
        """The last argument of the script is a function that ends it."""
        return self._in(self.call("POST", "/execute/async", {"script": code, "args": [self._out(one) for one in arguments]}))

    def all(self, css):
        return self._in(self.call("POST", "/elements", {"using": "css selector", "value": css}))

    def has(self, css):
        return bool(self.all(css))

    def wait(self, condition, what):
        """Its first true value. An element that went away while it was looked at is looked for again."""
        def look():
            try:
                return condition()
            except WebDriverError as error:
                if error.kind not in ("stale element reference", "no such element", "element not interactable",
                                      "element click intercepted"):
                    raise
                return None
        return harness.wait_for(look, lambda: f"{what if not callable(what) else what()}; the page says:\n{self.text()[:3000]}")

    def find(self, css):
        return self.wait(lambda: next(iter(self.all(css)), None), css)

    def named(self, selector, name):
        return self.wait(lambda: self.script(FIND_BY_NAME, selector, name), f"{selector} named {name!r}")

    def button(self, name):
        return self.named("dialog[open] button, button" if not self.has("dialog[open]") else "dialog[open] button", name)

    def press(self, name):
        """Clicks the button of that name; in the open dialog if there is one."""
        self.wait(lambda: self.button(name).click() or True, f"a button {name!r} that can be clicked")

    def follow(self, name):
        self.wait(lambda: self.named("a", name).click() or True, f"a link {name!r} that can be clicked")

    def field(self, name):
        return self.find(f'[name="{name}"]')

    def text(self):
        return self.script("return document.body ? document.body.innerText : ''")

    def sees(self, *texts):
        """Waits for all of them; what is on the page then."""
        def there():
            shown = self.text()
            return shown if all(one in shown for one in texts) else None
        return self.wait(there, " and ".join(map(repr, texts)))

    def sees_no(self, text):
        self.wait(lambda: text not in self.text(), f"{text!r} to go away")

    def keys(self, *names):
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def focused(self):
        return self.script("return document.activeElement && (document.activeElement.getAttribute('aria-label') || "
                           "document.activeElement.name || document.activeElement.textContent.trim().slice(0, 80))")

    def size(self, width, height):
        """Of the page, also where a window would not be that narrow."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefers(self, **features):
        """prefers(color_scheme="dark")"""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-" + name.replace("_", "-"), "value": value}
                                                         for name, value in features.items()])

    def screenshot(self, path=None):
        """The whole page, not only what fits into the window."""
        bytes_ = base64.b64decode(self.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"])
        if path:
            with open(path, "wb") as f:
                f.write(bytes_)
        return bytes_

    def complaints(self):
        """What the browser has logged since the last look: errors of scripts, refusals of the security policy, failed loads."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]
