"""A name server that misbehaves as it is told, on port 53 of a network namespace of its own."""
import contextlib
import socket
import struct
import threading

A, CNAME, AAAA = 1, 5, 28
SERVFAIL, NXDOMAIN = 2, 3


def labels(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def record(name, kind, data, ttl=0):
    return labels(name) + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def addresses(name, *texts):
    return [record(name, A, socket.inet_aton(text)) for text in texts]


class NameServer:
    """script[name](asked, kind): a list of records, an error code, raw bytes (the whole answer but its id), or None for
    silence. `asked` counts the questions for that name and kind before this one. Names that are not there do not exist."""

    def __init__(self, script):
        self.script = script
        self.asked = {}
        self.lock = threading.Lock()
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 53))
        self.streams = socket.create_server(("127.0.0.1", 53))
        for run in (self.run_datagrams, self.run_streams):
            threading.Thread(target=run, daemon=True).start()

    def close(self):
        self.datagrams.close()
        self.streams.close()

    def answer(self, question, whole):
        """To a question, at most 512 bytes of it unless `whole`."""
        number, at, parts = question[:2], 12, []
        while question[at]:
            parts.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        name, asked_for = ".".join(parts).lower(), question[12:at + 5]
        kind = struct.unpack("!H", question[at + 1:at + 3])[0]
        with self.lock:
            count = self.asked[(name, kind)] = self.asked.get((name, kind), -1) + 1
        behave = self.script.get(name, lambda *_: NXDOMAIN)
        said = behave(count, kind)
        if said is None:
            return None
        if isinstance(said, bytes):
            return number + said
        code, records = (said, []) if isinstance(said, int) else (0, said)
        body = b"".join(records)
        cut = not whole and len(body) > 400
        return number + struct.pack("!HHHHH", 0x8180 | (0x200 if cut else 0) | code, 1, 0 if cut else len(records), 0, 0) \
            + asked_for + (b"" if cut else body)

    def run_datagrams(self):
        with contextlib.suppress(OSError):
            while True:
                question, sender = self.datagrams.recvfrom(4096)
                if (answer := self.answer(question, False)) is not None:
                    self.datagrams.sendto(answer, sender)

    def run_streams(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.streams.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError, struct.error):
            reader = connection.makefile("rb")
            while True:
                question = reader.read(struct.unpack("!H", reader.read(2))[0])
                if (answer := self.answer(question, True)) is not None:
                    connection.sendall(struct.pack("!H", len(answer)) + answer)
