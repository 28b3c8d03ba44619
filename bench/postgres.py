"""A PostgreSQL of the benchmark's own, in a temporary folder on the same disk as everything else, with a socket and no
port; and a client for it on libpq, which every build of the server needs anyway."""
import ctypes
import ctypes.util
import glob
import os
import pwd
import signal
import subprocess
import time

from processes import Process

SETTINGS = {"listen_addresses": "", "wal_level": "logical", "max_wal_size": "16GB", "checkpoint_timeout": "1h",
            "max_connections": "100", "client_min_messages": "warning"}


def programs():
    """The folder of initdb and postgres, the newest version; None: not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None


class Postgres(Process):
    """Durable as it comes: fsync, full pages and synchronous commits are on. The log is large enough that no checkpoint
    falls into a measurement; checkpoint() makes one before it."""

    def __init__(self, folder):
        self.folder, self.user, bin_folder = folder, pwd.getpwuid(os.getuid()).pw_name, programs()
        lower = []
        if os.getuid() == 0:  # which it refuses to run as
            self.user = "postgres"
            who = pwd.getpwnam(self.user)
            os.chown(folder, who.pw_uid, who.pw_gid)
            lower = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
        data = os.path.join(folder, "data")
        subprocess.run([*lower, os.path.join(bin_folder, "initdb"), "-D", data, "-A", "trust", "-U", self.user],
                       check=True, cwd=folder, stdout=subprocess.DEVNULL)
        self.log = open(os.path.join(folder, "log"), "wb")
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        super().__init__([*lower, os.path.join(bin_folder, "postgres"), "-D", data, "-k", folder, *settings], cwd=folder,
                         stdout=self.log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect("postgres").close()
                return
            except ConnectionError as error:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise SystemExit(f"PostgreSQL did not start: {error}; see {self.log.name}") from None
                time.sleep(0.1)

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)  # without waiting for clients
        super().stop()

    def cpu_ns(self):
        """Of the server and of every backend that is there; one that has ended takes its share with it."""
        total = super().cpu_ns()
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                with open(folder + "/stat") as f:
                    parent = int(f.read().rsplit(")", 1)[1].split()[1])
                if parent == self.child.pid:
                    with open(folder + "/schedstat") as f:
                        total += int(f.read().split()[0])
            except OSError:
                pass  # it has ended
        return total

    def environment(self, database):
        return {**os.environ, "PGHOST": self.folder, "PGPORT": "5432", "PGUSER": self.user, "PGDATABASE": database}

    def address(self, database):
        return f"host={self.folder} port=5432 user={self.user} dbname={database}"

    def connect(self, database):
        return Connection(self.address(database))

    def fresh(self, database):
        with self.connect("postgres") as connection:
            connection.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            connection.run(f"CREATE DATABASE {database}")

    def checkpoint(self, database):
        with self.connect(database) as connection:
            connection.run("VACUUM ANALYZE")
            connection.run("CHECKPOINT")


def libpq():
    library = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
    for name in ("PQconnectdb", "PQexec"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("PQerrorMessage", "PQresultErrorMessage", "PQgetvalue"):
        getattr(library, name).restype = ctypes.c_char_p
    library.PQconnectdb.argtypes = [ctypes.c_char_p]
    library.PQexec.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.PQgetvalue.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    for name in ("PQstatus", "PQfinish", "PQerrorMessage", "PQresultStatus", "PQresultErrorMessage", "PQntuples",
                 "PQclear"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    return library


class Connection:
    library = None

    def __init__(self, address):
        Connection.library = Connection.library or libpq()
        self.raw = self.library.PQconnectdb(address.encode())
        if self.library.PQstatus(self.raw) != 0:
            text = self.library.PQerrorMessage(self.raw).decode().strip()
            self.close()
            raise ConnectionError(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.library.PQfinish(self.raw)

    def run(self, sql):
        """The first value of the first row, or None."""
        result = self.library.PQexec(self.raw, sql.encode())
        try:
            if self.library.PQresultStatus(result) not in (0, 1, 2):
                raise SystemExit(f"PostgreSQL: {self.library.PQresultErrorMessage(result).decode()}in {sql[:200]}")
            return self.library.PQgetvalue(result, 0, 0).decode() if self.library.PQntuples(result) > 0 else None
        finally:
            self.library.PQclear(result)
