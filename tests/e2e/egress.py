"""Where requests may not go: one table for every way in which somebody can name a destination. Written from the registry
of special-purpose addresses, not from the code; test_egress.py and test_outbox_egress.py go through it."""
import collections
import ipaddress

# What becomes of a destination, on a server that allows nothing more than the default.
TEXT = "text"        # it could be read in two ways, or is no URL of HTTP: refused when it is named
ADDRESS = "address"  # an address that is not public: refused when it is named
CONNECT = "connect"  # a name or a port: named, and refused when it is connected to
PUBLIC = "public"    # accepted

Row = collections.namedtuple("Row", "name url outcome")

# All that is not public of IPv4.
RANGES = ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
          "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
          "224.0.0.0/4", "240.0.0.0/4")
METADATA = ("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192")
METADATA_V6 = ("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")

# How an IPv6 address holds an IPv4 address. Teredo holds that of its server, and that of its client inverted.
WRAPPERS = {
    "mapped": lambda v4: (0xffff << 32) | v4,
    "compatible": lambda v4: v4,
    "translated": lambda v4: (0xffff << 48) | v4,
    "NAT64": lambda v4: (0x64ff9b << 96) | v4,
    "NAT64 of a site": lambda v4: (0x64ff9b0001 << 80) | v4,
    "6to4": lambda v4: (0x2002 << 112) | (v4 << 80) | 1,
    "Teredo server": lambda v4: (0x20010000 << 96) | (v4 << 64) | (~0x08080808 & 0xffffffff),
    "Teredo client": lambda v4: (0x20010000 << 96) | (0x08080808 << 64) | (~v4 & 0xffffffff),
}

# Spellings of an IPv4 address that some parser or resolver understands and that ours does not.
SPELLINGS = {
    "decimal": lambda a, b, c, d: str((a << 24) | (b << 16) | (c << 8) | d),
    "hexadecimal": lambda a, b, c, d: f"0x{a:02x}{b:02x}{c:02x}{d:02x}",
    "octal": lambda a, b, c, d: f"0{(a << 24) | (b << 16) | (c << 8) | d:o}",
    "hexadecimal parts": lambda *p: ".".join(f"0x{x:x}" for x in p),
    "octal parts": lambda *p: ".".join(f"0{x:03o}" for x in p),
    "mixed parts": lambda a, b, c, d: f"0x{a:x}.{b}.0{c:o}.{d}",
    "three parts": lambda a, b, c, d: f"{a}.{b}.{(c << 8) | d}",
    "two parts": lambda a, b, c, d: f"{a}.{(b << 16) | (c << 8) | d}",
    "too large a part": lambda a, b, c, d: f"{a}.{b}.{c}.{d + 256}",
    "leading zeros": lambda *p: ".".join(f"{x:04d}" for x in p),
    "escaped dots": lambda *p: "%2e".join(map(str, p)),
    "escaped digit": lambda a, b, c, d: f"%3{str(a)[0]}{str(a)[1:]}.{b}.{c}.{d}",
    "wide digits": lambda *p: ".".join("".join(chr(0xff10 + int(x)) for x in str(y)) for y in p),
    "wide dots": lambda *p: "\u3002".join(map(str, p)),
    "in brackets": lambda *p: "[" + ".".join(map(str, p)) + "]",
}


def forbidden_v4():
    """The first, the last and one more address of each range, and the metadata addresses."""
    for text in RANGES:
        network = ipaddress.ip_network(text)
        yield from (str(network[0]), str(network[1]), str(network[-1]))
    yield from METADATA


def public_v4():
    """The neighbours of every range that are in none."""
    networks = [ipaddress.ip_network(text) for text in RANGES]
    for network in networks:
        for number in (int(network[0]) - 1, int(network[-1]) + 1):
            if 0 <= number < 2 ** 32 and not any(ipaddress.ip_address(number) in one for one in networks):
                yield str(ipaddress.ip_address(number))
    yield from ("1.1.1.1", "8.8.8.8", "168.63.129.15", "168.63.129.17")


FORBIDDEN_V6 = (
    *METADATA_V6, "::", "::1", "::2", "100::1", "1fff::1", "2001::1", "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1",
    "2001:db8:ffff::1", "2002::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "8000::1", "fbff::1", "fc00::1", "fd00::1",
    "fdff:ffff::1", "fe00::1", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1", "ff05::1:3",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
PUBLIC_V6 = ("2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700:4700::1111", "3ffe::1", "3fff:1000::1")

# What confuses parsers, not addresses. {port} is that of a receiver which must never hear of it.
CONFUSING = (
    ("user", "http://user@127.0.0.1:{port}/"), ("user and password", "http://a:b@127.0.0.1:{port}/"),
    ("public user", "http://example.com@127.0.0.1:{port}/"), ("public user and port", "http://example.com:80@127.0.0.1:{port}/"),
    ("two users", "http://a@b@127.0.0.1:{port}/"), ("empty user", "http://@127.0.0.1:{port}/"),
    ("backslash for slash", "http://example.com\\@127.0.0.1:{port}/"), ("backslashes", "http:\\\\127.0.0.1:{port}/"),
    ("fragment before user", "http://example.com#@127.0.0.1:{port}/"), ("fragment", "http://127.0.0.1:{port}/#x"),
    ("three slashes", "http:///127.0.0.1:{port}/"), ("no slash", "http:127.0.0.1:{port}/"),
    ("escaped slash in the host", "http://127.0.0.1:{port}%2f@example.com/"), ("escaped NUL", "http://127.0.0.1%00.example.com/"),
    ("zone of an address", "http://[fe80::1%25eth0]/"), ("zone of loopback", "http://[::1%250]:{port}/"),
    ("two dots at the end", "http://127.0.0.1..:{port}/"), ("part too many", "http://127.0.0.1.1:{port}/"),
    ("IPv6 without brackets", "http://::1:{port}/"), ("IPv6 with a tail", "http://[::1].example.com/"),
    ("IPv6 with hexadecimal IPv4", "http://[::ffff:0x7f.0.0.1]:{port}/"), ("brackets in brackets", "http://[[::1]]:{port}/"),
    ("number as the last label", "http://example.127/"), ("zero", "http://0:{port}/"), ("zero with a dot", "http://0.:{port}/"),
    ("port zero", "http://127.0.0.1:0/"), ("port too large", "http://127.0.0.1:65536/"), ("port that wraps", "http://example.com:{wrapped}/"),
    ("port in hexadecimal", "http://example.com:0x50/"), ("empty port", "http://127.0.0.1:/"), ("two ports", "http://127.0.0.1:80:{port}/"),
    ("space", "http://127.0.0.1 :{port}/"), ("space in front", "http:// 127.0.0.1:{port}/"), ("tab", "http://127.0.0.1\t:{port}/"),
    ("line feed in the host", "http://exam\nple.com/"), ("line end and a field", "http://example.com/\r\nX-Injected: 1"),
    ("NUL", "http://127.0.0.1\0.example.com/"), ("delete byte", "http://127.0.0.1\x7f:{port}/"),
    ("circled digits", "http://\u2460\u2461\u2466.0.0.1:{port}/"), ("wide letters", "http://\uff4cocalhost:{port}/"),
    ("soft hyphen", "http://local\u00adhost:{port}/"), ("letters beyond ASCII", "http://b\u00fccher.example/"),
    ("file", "file:///etc/passwd"), ("gopher", "gopher://127.0.0.1:{port}/_GET"), ("dict", "dict://127.0.0.1:{port}/x"),
    ("ftp", "ftp://127.0.0.1:{port}/"), ("ldap", "ldap://127.0.0.1:{port}/"), ("ws", "ws://127.0.0.1:{port}/"),
    ("unix socket", "unix:///run/hikyaku.sock"), ("http over a unix socket", "http+unix://%2frun%2fx/"), ("jar", "jar:http://127.0.0.1!/"),
    ("data", "data:text/plain,x"), ("javascript", "javascript:alert(1)"), ("scheme-relative", "//127.0.0.1:{port}/"),
)

# Names that mean this machine by themselves; the ports of services that nobody outside should reach.
NAMES = ("localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost.")
PORTS = (1, 7, 19, 22, 23, 25, 53, 111, 135, 139, 445, 465, 587, 1023, 2375, 2379, 3306, 5432, 5672, 6379, 6443, 9092, 9200, 10250,
         11211, 27017)


def table(port):
    """Every row of the specification once: small enough for every door."""
    rows = [Row(f"{text} in {spelt}", f"http://{spell(*map(int, text.split('.')))}:{port}/", TEXT)
            for spelt, spell in SPELLINGS.items() for text in ("127.0.0.1", "169.254.169.254")]
    rows += [Row(name, url.format(port=port, wrapped=port + 65536), TEXT) for name, url in CONFUSING]
    rows += [Row(text, f"http://{text}:{port}/", ADDRESS) for text in forbidden_v4()]
    rows += [Row(text, f"http://[{text}]:{port}/", ADDRESS) for text in FORBIDDEN_V6]
    rows += [wrapped(text, wrapper, port) for wrapper in WRAPPERS for text in ("127.0.0.1", "10.0.0.1", "169.254.169.254")]
    rows += [Row("dot at the end", f"http://127.0.0.1.:{port}/", ADDRESS), Row("capitals", f"HTTP://[::FFFF:7F00:1]:{port}/", ADDRESS),
             Row("zeros", f"https://[0:0:0:0:0:0:0:1]:{port}/", ADDRESS), Row("port of nobody", "http://127.0.0.1:25/", ADDRESS)]
    rows += [Row(name, f"http://{name}:{port}/", CONNECT) for name in NAMES]
    rows += [Row(f"port {number}", f"http://8.8.8.8:{number}/", CONNECT) for number in PORTS]
    rows += [Row(text, f"http://{text}/", PUBLIC) for text in public_v4()]
    rows += [Row(text, f"https://[{text}]/", PUBLIC) for text in PUBLIC_V6]
    return rows


def corpus(port):
    """Every forbidden address in every spelling and every wrapper: for the doors that take many at once."""
    for text in forbidden_v4():
        for spelt, spell in SPELLINGS.items():
            url = f"http://{spell(*map(int, text.split('.')))}:{port}/"
            if spelt == "octal parts" or not canonical(url, text):
                yield Row(f"{text} in {spelt}", url, TEXT)
        for wrapper in WRAPPERS:
            yield wrapped(text, wrapper, port)


def wrapped(text, wrapper, port):
    inner = int(ipaddress.ip_address(text))
    return Row(f"{wrapper} {text}", f"http://[{ipaddress.IPv6Address(WRAPPERS[wrapper](inner))}]:{port}/", ADDRESS)


def canonical(url, text):
    """Whether the spelling came out as the ordinary one."""
    return f"//{text}:" in url
