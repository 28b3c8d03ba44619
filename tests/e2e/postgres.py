"""A private PostgreSQL for tests: in a temporary folder, on a port of its own, as the user postgres where we are root
(which PostgreSQL refuses to run as). Sessions go through libpq, which the binary under test needs anyway."""
import atexit
import ctypes
import glob
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from harness import free_port

# Nothing here outlives the machine: what a killed server wrote is in the files of the system even without fsync.
SETTINGS = {"fsync": "off", "shared_buffers": "32MB", "wal_level": "logical", "max_wal_senders": "5",
            "max_replication_slots": "5", "max_connections": "60", "unix_socket_directories": "",
            "listen_addresses": "127.0.0.1", "log_min_messages": "fatal", "timezone": "UTC"}


def binary(name):
    folders = [os.environ["HK_POSTGRES_BIN"]] if "HK_POSTGRES_BIN" in os.environ else sorted(
        glob.glob("/usr/lib/postgresql/*/bin"), key=lambda f: float(f.split("/")[-2]), reverse=True)
    for folder in folders:
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise AssertionError("no PostgreSQL server found: install it, or set HK_POSTGRES_BIN")


def as_server(*command):
    """The command as PostgreSQL's user; it ends with the thread that starts it."""
    user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *user, "--pdeathsig=QUIT", *command]


def private_folder():
    folder = tempfile.mkdtemp(prefix="hikyaku-pg-")
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
    return folder


_template = None


def template():
    """A data directory to copy, made once in a process: initdb takes longer than most tests."""
    global _template
    if _template is None:
        home = private_folder()
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        subprocess.run(as_server(binary("initdb"), "-D", os.path.join(home, "data"), "-A", "trust", "-U", "postgres",
                                 "-E", "UTF8", "--locale=C", "--no-sync"),
                       check=True, cwd=home, stdout=subprocess.DEVNULL)
        _template = os.path.join(home, "data")
    return _template


class Postgres:
    """Started and ended by the main thread, with which it ends, too."""

    def __init__(self, **settings):
        self.home = private_folder()
        self.data = os.path.join(self.home, "data")
        subprocess.run(["cp", "-a", template(), self.data], check=True)
        self.port = free_port()
        self.settings = SETTINGS | settings
        self.process = None
        self.names = itertools.count(1)
        self.start()

    def start(self):
        flags = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with open(os.path.join(self.home, "log"), "ab") as log:
            self.process = subprocess.Popen(as_server(binary("postgres"), "-D", self.data, "-p", str(self.port), *flags),
                                            cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            try:
                Session(self.url("postgres")).close()
                return self
            except DatabaseError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    with open(os.path.join(self.home, "log"), errors="replace") as log:
                        raise AssertionError(f"PostgreSQL did not start: {error}\n{log.read()[-3000:]}") from None
            time.sleep(0.02)

    def stop(self, immediate=True):
        """As `pg_ctl stop`: immediate is a crash, from which the next start recovers; fast ends every session first."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT if immediate else signal.SIGINT)
            self.process.wait(120)

    def restart(self, immediate=True):
        self.stop(immediate)
        return self.start()

    def close(self):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def url(self, database, user="postgres"):
        return f"postgres://{user}@127.0.0.1:{self.port}/{database}"

    def make_database(self, like=None):
        """A new one, empty or a copy of that at the URL `like`, which nobody uses meanwhile; its URL."""
        name = f"shop_{next(self.names)}"
        with Session(self.url("postgres")) as session:
            session.run(f"CREATE DATABASE {name}" + (f" TEMPLATE {like.rsplit('/', 1)[1]}" if like else ""))
        return self.url(name)

    def psql(self, url, sql):
        """By the program that people use; a script of any number of statements."""
        return subprocess.run([binary("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-At", url], input=sql, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def script(self, url, sql):
        done = self.psql(url, sql)
        assert done.returncode == 0, done.stderr
        return done.stdout


# ---- Sessions ----

class DatabaseError(Exception):
    def __init__(self, message, sqlstate=""):
        super().__init__(message.strip())
        self.sqlstate = sqlstate


def _libpq():
    library = ctypes.CDLL("libpq.so.5")
    for name, result in (("PQconnectdb", ctypes.c_void_p), ("PQexecParams", ctypes.c_void_p), ("PQstatus", ctypes.c_int),
                         ("PQresultStatus", ctypes.c_int), ("PQerrorMessage", ctypes.c_char_p),
                         ("PQresultErrorMessage", ctypes.c_char_p), ("PQresultErrorField", ctypes.c_char_p),
                         ("PQntuples", ctypes.c_int), ("PQnfields", ctypes.c_int), ("PQfname", ctypes.c_char_p),
                         ("PQgetisnull", ctypes.c_int), ("PQgetvalue", ctypes.c_char_p), ("PQfinish", None),
                         ("PQclear", None), ("PQsetNoticeProcessor", ctypes.c_void_p)):
        getattr(library, name).restype = result
    return library


pq = _libpq()
silence = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda *_: None)
COMMAND_OK, TUPLES_OK = 1, 2


class Session:
    """One connection, for one thread. Values are texts, or None."""

    def __init__(self, url):
        self.connection = ctypes.c_void_p(pq.PQconnectdb((url + "?connect_timeout=10").encode()))
        if pq.PQstatus(self.connection) != 0:
            message = pq.PQerrorMessage(self.connection).decode(errors="replace")
            self.close()
            raise DatabaseError(message)
        pq.PQsetNoticeProcessor(self.connection, silence, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.connection is not None:
            pq.PQfinish(self.connection)
            self.connection = None

    def run(self, sql, *parameters):
        """Rows as dicts by column name."""
        values = (ctypes.c_char_p * len(parameters))(*(None if p is None else str(p).encode() for p in parameters))
        result = ctypes.c_void_p(pq.PQexecParams(self.connection, sql.encode(), len(parameters), None, values, None, None, 0))
        try:
            if pq.PQresultStatus(result) not in (COMMAND_OK, TUPLES_OK):
                message = pq.PQresultErrorMessage(result) or pq.PQerrorMessage(self.connection)
                sqlstate = pq.PQresultErrorField(result, ord("C")) or b""
                raise DatabaseError(message.decode(errors="replace"), sqlstate.decode())
            names = [pq.PQfname(result, c).decode() for c in range(pq.PQnfields(result))]
            return [{name: None if pq.PQgetisnull(result, row, column) else pq.PQgetvalue(result, row, column).decode()
                     for column, name in enumerate(names)} for row in range(pq.PQntuples(result))]
        finally:
            pq.PQclear(result)

    def value(self, sql, *parameters):
        """The first column of the first row; None without one."""
        rows = self.run(sql, *parameters)
        return next(iter(rows[0].values())) if rows else None
