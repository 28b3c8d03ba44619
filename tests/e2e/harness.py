"""What the end-to-end tests are made of: the real binary on a temporary data directory, receivers
that behave as they are told, and a small HTTP client. Standard library only; loopback only."""
import base64
import collections
import contextlib
import dataclasses
import hashlib
import hmac
import http.client
import http.server
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("HIKYAKU_BINARY", os.path.join(ROOT, "build", "release", "hikyaku"))

# The credentials of --dev are public by design.
DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0="
DEV_CURRENT_KEY = "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r"
DEV_NEXT_KEY = "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs"

# Deadlines are generous: a slow machine must not fail a test, only a missing event may.
PATIENCE = float(os.environ.get("HIKYAKU_E2E_PATIENCE", "60"))


def wait_for(condition, what, timeout=None):
    """The first true value of condition(); AssertionError when none comes in time. `what`: a text, or what makes one then."""
    deadline = time.monotonic() + (timeout or PATIENCE)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what() if callable(what) else what}")
        asleep = time.monotonic()
        time.sleep(0.01)
        woken = time.monotonic()
        if woken - asleep > 1:  # The machine stood still, and what is waited for did, too.
            deadline += woken - asleep


_ports = itertools.count(os.getpid() * 29)  # processes that run side by side look at different ones first
_reserved = []


def free_port():
    """Below the ports that the system gives to outgoing connections: none of those takes it before the server has it. No other
    process of the tests does, either, also while the server is down: until we end, the UDP port of the same number, for which
    there is no other use, says that it is ours (tests/conformance/lib/server.mjs does the same)."""
    for number in itertools.islice(_ports, 1000):
        port = 15000 + number % 17000
        with socket.socket() as probe, contextlib.suppress(OSError):
            mark = socket.socket(type=socket.SOCK_DGRAM)
            _reserved.append(mark)
            mark.bind(("127.0.0.1", port))
            probe.bind(("127.0.0.1", port))
            return port
        _reserved.pop().close()
    raise AssertionError("no free port")


def make_certificate(folder, host, certificate="cert.pem", key="key.pem"):
    """A certificate of its own for that host, and its key: their paths."""
    certificate, key = os.path.join(folder, certificate), os.path.join(folder, key)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}",
                    "-addext", f"subjectAltName=DNS:{host}", "-keyout", key, "-out", certificate],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return certificate, key


# ---- HTTP client ----

@dataclasses.dataclass
class Response:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"not JSON (status {self.status}): {self.body[:300]!r}") from None


def request(port, method, target, body=None, headers=None, token=DEV_TOKEN, timeout=60):
    """The target goes out as it is: destinations stand in it unencoded."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        fields = dict(headers or {})
        if token is not None and not any(name.lower() == "authorization" for name in fields):
            fields["Authorization"] = "Bearer " + token
        if isinstance(body, str):
            body = body.encode()
        if body is not None or method in ("POST", "PUT", "PATCH"):
            fields.setdefault("Content-Length", str(len(body or b"")))
        for name, value in fields.items():
            connection.putheader(name, value)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def raw_exchange(port, data, timeout=60, half_close=False):
    """Sends bytes and returns everything that comes back until the server closes or falls silent."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(data)
        if half_close:
            s.shutdown(socket.SHUT_WR)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while chunk := s.recv(65536):
                received += chunk
    return received


# ---- Signatures ----

def _unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify_signature(token, key, url, body, now=None):
    """Checks a delivery's JWT as a receiver would whose clock says `now`, and returns its claims."""
    now = time.time() if now is None else now
    head, payload, mac = token.split(".")
    expected = hmac.new(key.encode(), f"{head}.{payload}".encode(), hashlib.sha256).digest()
    assert hmac.compare_digest(expected, _unbase64(mac)), "signature does not match the key"
    assert "=" not in token, "JWT parts are not padded"
    assert json.loads(_unbase64(head)) == {"alg": "HS256", "typ": "JWT"}
    claims = json.loads(_unbase64(payload))
    assert claims["iss"] == "Upstash", claims
    assert claims["sub"] == url, claims
    assert _unbase64(claims["body"].rstrip("=")) == hashlib.sha256(body).digest(), "body digest differs"
    assert claims["exp"] == claims["iat"] + 300 and claims["nbf"] <= claims["iat"], claims
    assert claims["iat"] <= now < claims["exp"], claims
    assert claims["jti"].startswith("jwt_"), claims
    return claims


def sign_aws(key_id, secret, host, target, body, region="us-east-1", service="sqs", at=None):
    """The headers of a POST to / as a client of AWS signs it (Signature Version 4). No target: a form of the Query protocol.
    at: what the client's clock says."""
    def mac(key, text):
        return hmac.new(key, text.encode(), hashlib.sha256).digest()

    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at))
    scope = f"{now[:8]}/{region}/{service}/aws4_request"
    fields = {"host": host, "x-amz-date": now} | ({"x-amz-target": target} if target else {})
    names = ";".join(fields)  # in order already
    lines = "".join(f"{name}:{value}\n" for name, value in fields.items())
    canonical = f"POST\n/\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + secret).encode()
    for part in (now[:8], region, service, "aws4_request"):
        key = mac(key, part)
    return fields | {"Content-Type": "application/x-amz-json-1.0" if target else "application/x-www-form-urlencoded",
                     "Authorization": f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, "
                                      f"Signature={mac(key, text).hex()}"}


# ---- Receivers ----

@dataclasses.dataclass
class Answer:
    """How one request is answered. action: "hang" never answers, "reset" breaks the connection,
    "close" ends it without an answer, "garbage" answers something that is not HTTP. after: the answer waits for this event."""
    status: int = 200
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    delay: float = 0
    action: str = ""
    after: threading.Event | None = None


@dataclasses.dataclass
class Received:
    method: str
    path: str
    headers: http.client.HTTPMessage
    body: bytes
    at: float  # time.time()

    @property
    def message_id(self):
        return self.headers.get("Upstash-Message-Id")


class Receiver:
    """Records each request before answering it. script() says how a path behaves; 200 otherwise."""

    def __init__(self, port=0):
        self.lock = threading.Condition()
        self.requests = []
        self.scripts = {}
        self.used = collections.Counter()
        self.closing = threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) < length:  # The sender died in the middle of it: not a request.
                    self.close_connection = True
                    return
                got = Received(self.command, self.path, self.headers, body, time.time())
                answer = receiver.record(got)
                try:
                    receiver.respond(self, answer)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        class HttpServer(http.server.ThreadingHTTPServer):
            request_queue_size = 1024
            daemon_threads = True

            def handle_error(self, *_):
                pass  # The server under test is killed in the middle of requests.

        self.http = HttpServer(("127.0.0.1", port), Handler)
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def script(self, path, *answers):
        """The n-th request to the path gets the n-th answer; the last one repeats."""
        self.scripts[path] = [Answer(status=a) if isinstance(a, int) else a for a in answers]

    def decide(self, got):
        """Which answer a request gets. Called with the lock held; torture.py replaces it."""
        path = got.path.split("?")[0]
        answers = self.scripts.get(path, [Answer()])
        answer = answers[min(self.used[path], len(answers) - 1)]
        self.used[path] += 1
        return answer

    def record(self, got):
        with self.lock:
            self.requests.append(got)
            answer = self.decide(got)
            self.lock.notify_all()
            return answer

    def respond(self, handler, answer):
        if answer.delay:
            self.closing.wait(answer.delay)
        while answer.after and not answer.after.wait(0.1) and not self.closing.is_set():
            pass
        if answer.action == "hang":
            self.closing.wait(600)
            handler.close_connection = True
            return
        if answer.action == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
        if answer.action in ("reset", "close"):
            handler.close_connection = True
            return
        if answer.action == "garbage":
            handler.wfile.write(b"220 this is a mail server\r\n\r\n")
            handler.close_connection = True
            return
        lines = [f"HTTP/1.1 {answer.status} Some Reason", f"Content-Length: {len(answer.body)}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        handler.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" + answer.body)

    def at(self, path="/hook"):
        with self.lock:
            return [r for r in self.requests if r.path.split("?")[0] == path]

    def wait(self, path="/hook", count=1, timeout=None):
        """The first `count` requests of a path."""
        def enough():
            got = self.at(path)
            return got[:count] if len(got) >= count else None

        return wait_for(enough, lambda: f"{count} request(s) at {path}; there were {len(self.at(path))}", timeout)


# ---- The server ----

class Server:
    """The binary, started with `serve` on a data directory and a free port of its own."""

    def __init__(self, *flags, dev=True, data=None, env=None, token=DEV_TOKEN, binary=None, port=None):
        self.binary = binary or BINARY
        self.home = tempfile.mkdtemp(prefix="hikyaku-e2e-")
        self.data = data or os.path.join(self.home, "data")
        self.port = port or free_port()
        self.token = token
        self.flags = list(flags)
        self.dev = dev
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")} | (env or {})
        self.process = None
        self.clock_back = 0.0  # seconds by which its wall clock is late, if a test makes it so
        self.starts = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def command(self):
        return [self.binary, "serve", *(["--dev"] if self.dev else []), "--data", self.data,
                "--listen", f"127.0.0.1:{self.port}", *self.flags]

    def spawn(self):
        self.starts += 1
        self.stdout_path = os.path.join(self.home, f"stdout.{self.starts}")
        self.stderr_path = os.path.join(self.home, f"stderr.{self.starts}")
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=self.env, cwd=self.home)
        return self

    def start(self):
        self.spawn()
        self.wait_ready()
        return self

    def wait_ready(self, timeout=None):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(
                    f"the server ended with {self.process.returncode} before it was ready:\n{self.output()[-3000:]}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                return request(self.port, "GET", "/readyz", token=None, timeout=2).status == 200
            return False

        try:
            wait_for(ready, "the server to become ready", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()[-3000:]}") from None

    def output(self):
        """Everything printed since the first start."""
        text = ""
        for number in range(1, self.starts + 1):
            for stream in ("stdout", "stderr"):
                with open(os.path.join(self.home, f"{stream}.{number}"), errors="replace") as f:
                    text += f.read()
        return text

    def kill(self):
        """kill -9: nothing of the process survives, everything it wrote does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self, timeout=60):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def restart(self):
        self.kill()
        return self.start()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def request(self, method, target, body=None, headers=None, **options):
        return request(self.port, method, target, body, headers, **({"token": self.token} | options))

    def get(self, target):
        return self.request("GET", target)

    def publish(self, destination, body=b"", **headers):
        """Options as keywords: publish(url, b"…", Upstash_Delay="1h")."""
        fields = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        return self.request("POST", "/v2/publish/" + destination, body, fields)

    def publish_id(self, destination, body=b"", **headers):
        answer = self.publish(destination, body, **headers)
        assert answer.status == 201, f"{answer.status} {answer.body!r}"
        return answer.json()["messageId"]

    def events(self, message_id):
        """The message's log, oldest first."""
        page = self.get(f"/v2/events?messageId={message_id}&order=earliestFirst&count=1000").json()
        return page["events"]

    def states(self, message_id):
        return [event["state"] for event in self.events(message_id)]

    def wait_states(self, message_id, *expected, timeout=None):
        """Waits for exactly this sequence of states; shows the last one seen otherwise."""
        seen = []

        def same():
            seen[:] = self.states(message_id)
            return seen == list(expected)

        try:
            wait_for(same, "states", timeout)
        except AssertionError:
            raise AssertionError(f"states of {message_id}: {seen}, expected {list(expected)}") from None

    def wait_state(self, message_id, state):
        """Waits until the message has been in this state; its states so far."""
        def there():
            states = self.states(message_id)
            return states if state in states else None

        return wait_for(there, f"{message_id} to be {state}")

    def publish_canceled(self, url_of):
        """A message that would have become due some seconds later and was cancelled before its first attempt: its id, its
        URL and the seconds. Those are more when the machine is too slow for the first ones."""
        for seconds in (1, 4, 16, 64):
            url = url_of(seconds)
            message_id = self.publish_id(url, b"x", Upstash_Delay=f"{seconds}s")
            answer = self.request("DELETE", f"/v2/messages/{message_id}")
            if "ACTIVE" not in self.states(message_id):
                assert (answer.status, answer.json()) == (200, {"cancelled": 1}), f"{answer.status} {answer.body!r}"
                return message_id, url, seconds
        raise AssertionError("no message could be cancelled within a minute")

    def job(self, message_id):
        return self.get(f"/api/v1/jobs/{message_id}").json()

    def wait_job(self, message_id, status, timeout=None):
        def there():
            job = self.job(message_id)
            return job if job.get("status") == status else None

        return wait_for(there, lambda: f"job {message_id} to be {status}; it is {self.job(message_id)}", timeout)

    def dead_letters(self, query=""):
        return self.get("/v2/dlq" + ("?" + query if query else "")).json()["messages"]

    def wait_dead_letter(self, message_id, timeout=None):
        return wait_for(lambda: self.dead_letters("messageId=" + message_id),
                        f"{message_id} in the DLQ", timeout)[0]

    def metrics(self):
        """name{labels} -> value."""
        values = {}
        for line in self.request("GET", "/metrics").body.decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def operator(self):
        """The admin token, and the header with which it acts for the first tenant."""
        with open(os.path.join(self.data, "admin.json")) as f:
            token = json.load(f)["token"]
        tenant = self.request("GET", "/api/v1/tenants", token=token).json()["tenants"][0]["id"]
        return token, {"Hikyaku-Tenant": str(tenant)}

    def now(self):
        """What the clients' clocks say, in seconds."""
        return time.time() - self.clock_back

    def sqs(self, action, key=("test", "test"), **members):
        """A call of SQS as its clients make it; --dev knows that key."""
        body = json.dumps(members).encode()
        fields = sign_aws(*key, f"127.0.0.1:{self.port}", f"AmazonSQS.{action}", body, at=self.now())
        host = fields.pop("host")  # the client below writes it by itself
        assert host == f"127.0.0.1:{self.port}"
        return self.request("POST", "/", body, fields, token=None)

    def sns(self, action, key=("test", "test"), **members):
        """The same of SNS, whose clients send forms."""
        body = urllib.parse.urlencode({"Action": action, "Version": "2010-03-31"} | members).encode()
        fields = sign_aws(*key, f"127.0.0.1:{self.port}", None, body, service="sns", at=self.now())
        del fields["host"]
        return self.request("POST", "/", body, fields, token=None)

    def make_queue(self, name, **attributes):
        """A queue that is pulled from; its URL."""
        made = self.sqs("CreateQueue", QueueName=name, Attributes=attributes)
        assert made.status == 200, made.body
        return made.json()["QueueUrl"]

    def receive(self, url, **members):
        """The messages of one receive, with all that belongs to them."""
        got = self.sqs("ReceiveMessage", QueueUrl=url, **({"MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"],
                                                           "MessageSystemAttributeNames": ["All"]} | members))
        assert got.status == 200, got.body
        return got.json().get("Messages", [])

    def cli(self, *arguments, env=None, timeout=120):
        """Runs another command of the binary against this server."""
        fields = self.env | {"HIKYAKU_URL": f"http://127.0.0.1:{self.port}", "HIKYAKU_CLIENT_TOKEN": self.token} | (env or {})
        return run_binary(*arguments, env=fields, timeout=timeout)


def run_binary(*arguments, env=None, timeout=120, binary=None, input=None):
    """input: what it reads from standard input."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HIKYAKU_")}
    return subprocess.run([binary or BINARY, *arguments], input="" if input is None else input, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, env=clean if env is None else env)


class Case(unittest.TestCase):
    """A server and a receiver for the whole class; tests use paths and ids of their own."""
    flags = ()
    options = {}
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.server = Server(*cls.flags, **cls.options)
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def assert_not_early(self, at, due):
        """Both in seconds. The server counts in whole milliseconds by a clock that follows the wall clock slowly, so two
        clocks that measure one wait may differ by a little."""
        self.assertGreaterEqual(at, due - 0.02)

    def path(self):
        return "/" + self.id().rsplit(".", 1)[1]

    def hook(self, *answers, query=""):
        """(path, url) of this test's own destination."""
        if answers:
            self.receiver.script(self.path(), *answers)
        return self.path(), self.receiver.url(self.path() + query)

    def refused(self, answer, status):
        """A refusal of the QStash surface: its status, and a text that tells what was wrong."""
        self.assertEqual(answer.status, status, answer.body)
        self.assertTrue(answer.headers["Content-Type"].startswith("application/json"))
        text = answer.json()["error"]
        self.assertIsInstance(text, str)
        self.assertTrue(text)
        return text
