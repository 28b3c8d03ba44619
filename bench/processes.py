"""What is measured: the server, the floor, and a child process in general."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

# The credentials of --dev, public by design.
DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0="


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path, timeout=30):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Authorization": "Bearer " + DEV_TOKEN})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


class Process:
    """A child that is always ended, whatever happens to us."""

    def __init__(self, command, **options):
        self.child = subprocess.Popen(command, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(15)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()

    def cpu_seconds(self):
        with open(f"/proc/{self.child.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_ns(self):
        """Of all threads that are there, finer than the clock ticks of cpu_seconds()."""
        total = 0
        for thread in os.listdir(f"/proc/{self.child.pid}/task"):
            try:
                with open(f"/proc/{self.child.pid}/task/{thread}/schedstat") as f:
                    total += int(f.read().split()[0])
            except OSError:
                pass  # it has ended
        return total

    def rss_mib(self, field="VmRSS"):
        """VmHWM: the most that it ever was."""
        with open(f"/proc/{self.child.pid}/status") as f:
            for line in f:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) / 1024
        return 0.0

    def kill(self):
        self.child.kill()
        self.child.wait()


class Floor(Process):
    def __init__(self, tools, *flags, port=0):
        super().__init__([os.path.join(tools, "floor"), "--port", str(port), *flags],
                         stdout=subprocess.PIPE, text=True)
        self.port = int(self.child.stdout.readline().split()[1])

    def json(self, path):
        return json.loads(get(self.port, path)[1])


class Server(Process):
    def __init__(self, binary, data, *flags):
        self.data = os.path.join(data, "db")
        self.port = free_port()
        self.log = open(os.path.join(data, "log"), "wb")
        super().__init__([binary, "serve", "--dev", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *flags],
                         stdout=self.log, stderr=subprocess.STDOUT)
        self.started = time.monotonic()
        while True:
            try:
                if get(self.port, "/readyz", 2)[0] < 300:
                    break
            except OSError:
                pass
            if self.child.poll() is not None or time.monotonic() - self.started > 120:
                self.stop()
                with open(self.log.name, errors="replace") as log:
                    raise SystemExit(f"the server did not become ready:\n{log.read()[-3000:]}")
            time.sleep(0.02)
        self.ready_seconds = time.monotonic() - self.started

    def tenant(self, name):
        """The token of a new tenant."""
        with open(os.path.join(self.data, "admin.json")) as f:
            token = json.load(f)["token"]
        return self.post("/api/v1/tenants", json.dumps({"name": name}), token)["token"]

    def metric(self, name):
        """The sum over its labels."""
        lines = get(self.port, "/metrics")[1].decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.split(r"[ {]", line, 1)[0] == name)

    def post(self, path, body=None, token=DEV_TOKEN):
        """What was made, as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request("POST", path, body, {"Authorization": "Bearer " + token})
            response = connection.getresponse()
            answer = response.read()
            if response.status != 201:
                raise SystemExit(f"POST {path}: {response.status} {answer.decode(errors='replace')}")
            return json.loads(answer)
        finally:
            connection.close()

    def publish_url(self, destination):
        return f"http://127.0.0.1:{self.port}/v2/publish/{destination}"
