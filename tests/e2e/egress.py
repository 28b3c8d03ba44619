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
# Other services that clouds and clusters keep in link-local and shared space: clocks, name servers, hosts of containers.
NEARBY = ("169.254.169.123", "169.254.169.253", "169.254.169.249", "169.254.42.42", "169.254.0.23", "169.254.10.10", "169.254.20.10",
          "100.100.2.136", "172.17.0.1", "192.168.65.2", "10.96.0.1", "192.0.0.8", "192.0.0.170")

# How an IPv6 address holds an IPv4 address. Teredo holds that of its server, and that of its client inverted.
WRAPPERS = {
    "mapped": lambda v4: (0xffff << 32) | v4,
    "compatible": lambda v4: v4,
    "translated": lambda v4: (0xffff << 48) | v4,
    "NAT64": lambda v4: (0x64ff9b << 96) | v4,
    "NAT64 of a site": lambda v4: (0x64ff9b0001 << 80) | v4,
    "NAT64 of a site, split": lambda v4: (0x64ff9b0001 << 80) | ((v4 >> 16) << 64) | ((v4 & 0xffff) << 40),
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
    "part that wraps": lambda a, b, c, d: f"{a + 256}.{b}.{c}.{d}",
    "decimal that wraps": lambda a, b, c, d: str((1 << 32) | (a << 24) | (b << 16) | (c << 8) | d),
    "hexadecimal that wraps": lambda a, b, c, d: f"0x1{a:02x}{b:02x}{c:02x}{d:02x}",
    "long hexadecimal": lambda a, b, c, d: f"0x{0:012}{a:02x}{b:02x}{c:02x}{d:02x}",
    "hexadecimal in capitals": lambda a, b, c, d: f"0X{a:02X}{b:02X}{c:02X}{d:02X}",
    "hexadecimal parts in capitals": lambda *p: ".".join(f"0X{x:02X}" for x in p),
    "hexadecimal last part": lambda a, b, c, d: f"{a}.{b}.{c}.0x{d:x}",
    "octal last part": lambda a, b, c, d: f"{a}.{b}.{c}.0{d:o}",
    "octal first part": lambda a, b, c, d: f"0{a:o}.{b}.{c}.{d}",
    "long octal parts": lambda *p: ".".join(f"{0:08}{x:o}" for x in p),
    "decimal with a dot": lambda a, b, c, d: f"{(a << 24) | (b << 16) | (c << 8) | d}.",
    "hexadecimal with a dot": lambda a, b, c, d: f"0x{a:02x}{b:02x}{c:02x}{d:02x}.",
    "two parts with a dot": lambda a, b, c, d: f"{a}.{(b << 16) | (c << 8) | d}.",
    "exponent": lambda a, b, c, d: f"{a}e0.{b}.{c}.{d}",
    "leading zeros": lambda *p: ".".join(f"{x:04d}" for x in p),
    "escaped dots": lambda *p: "%2e".join(map(str, p)),
    "escaped digit": lambda a, b, c, d: f"%3{str(a)[0]}{str(a)[1:]}.{b}.{c}.{d}",
    "all escaped": lambda *p: "".join(f"%{ord(x):02x}" for x in ".".join(map(str, p))),
    "escaped twice": lambda *p: "%252e".join(map(str, p)),
    "wide digits": lambda *p: ".".join("".join(chr(0xff10 + int(x)) for x in str(y)) for y in p),
    "mathematical digits": lambda *p: ".".join("".join(chr(0x1d7ce + int(x)) for x in str(y)) for y in p),
    "Arabic digits": lambda *p: ".".join("".join(chr(0x660 + int(x)) for x in str(y)) for y in p),
    "wide dots": lambda *p: "\u3002".join(map(str, p)),
    "full-width dots": lambda *p: "\uff0e".join(map(str, p)),
    "half-width dots": lambda *p: "\uff61".join(map(str, p)),
    "dot leaders": lambda *p: "\u2024".join(map(str, p)),
    "a space of no width": lambda *p: "\u200b".join(".".join(map(str, p))),
    "a soft hyphen": lambda *p: ".".join(map(str, p)) + "\u00ad",
    "in brackets": lambda *p: "[" + ".".join(map(str, p)) + "]",
}


def forbidden_v4():
    """The first, the last and one more address of each range, and the metadata addresses."""
    for text in RANGES:
        network = ipaddress.ip_network(text)
        yield from (str(network[0]), str(network[1]), str(network[-1]))
    yield from METADATA
    yield from NEARBY


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
    ("user of escapes", "http://%65xample.com@127.0.0.1:{port}/"), ("user with a slash", "http://example.com%2f@127.0.0.1:{port}/"),
    ("user with brackets", "http://[::1]@127.0.0.1:{port}/"), ("user behind a port", "http://127.0.0.1:{port}@example.com/"),
    ("semicolon", "http://example.com;127.0.0.1:{port}/"), ("comma", "http://example.com,127.0.0.1:{port}/"),
    ("ampersand", "http://example.com&@127.0.0.1:{port}/"), ("blank before user", "http://example.com &@127.0.0.1:{port}/"),
    ("backslash behind the host", "http://127.0.0.1:{port}\\example.com/"), ("backslash and a dot", "http://127.0.0.1:{port}\\.example.com/"),
    ("asterisk", "http://*.127.0.0.1:{port}/"), ("dollar", "http://$127.0.0.1:{port}/"), ("braces", "http://{{127.0.0.1}}:{port}/"),
    ("quotes", "http://\"127.0.0.1\":{port}/"), ("angle brackets", "http://<127.0.0.1>:{port}/"), ("plus in front", "http://+127.0.0.1:{port}/"),
    ("tilde", "http://~127.0.0.1:{port}/"), ("caret", "http://127.0.0.1^:{port}/"), ("bar", "http://127.0.0.1|example.com:{port}/"),
    ("dot in front", "http://.127.0.0.1:{port}/"), ("only a dot", "http://./"), ("only dots", "http://../"), ("nothing", "http://"),
    ("only a port", "http://:{port}/"), ("only a path", "http:///path"), ("only a query", "http://?x"), ("empty brackets", "http://[]:{port}/"),
    ("bracket not closed", "http://[::1:{port}/"), ("bracket not opened", "http://::1]:{port}/"), ("behind the bracket", "http://[::1]{port}/"),
    ("dot behind the bracket", "http://[::1].:{port}/"), ("address of the future", "http://[v1.fe80::a]:{port}/"),
    ("three colons", "http://[:::1]:{port}/"), ("nine groups", "http://[0:0:0:0:0:0:0:0:1]:{port}/"), ("two gaps", "http://[::1::]:{port}/"),
    ("group of five digits", "http://[::00001]:{port}/"), ("short IPv4 inside", "http://[::ffff:127.1]:{port}/"),
    ("octal IPv4 inside", "http://[::ffff:0177.0.0.1]:{port}/"), ("IPv4 with a dot inside", "http://[::ffff:127.0.0.1.]:{port}/"),
    ("decimal IPv4 inside", "http://[::ffff:2130706433]:{port}/"), ("IPv4 in front", "http://[127.0.0.1::]:{port}/"),
    ("zone without escape", "http://[fe80::1%eth0]:{port}/"), ("zone of a mapped one", "http://[::ffff:127.0.0.1%25lo]:{port}/"),
    ("prefix inside", "http://[::1/128]:{port}/"), ("blank inside", "http://[::1 ]:{port}/"),
    ("wide brackets", "http://\uff3b::1\uff3d:{port}/"), ("wide colon", "http://127.0.0.1\uff1a{port}/"), ("wide slash", "http://127.0.0.1:{port}\uff0f"),
    ("fraction", "http://127.0.0.\u00bd:{port}/"), ("superscript", "http://127.0.0.\u00b9:{port}/"), ("Roman number", "http://\u2160.0.0.1:{port}/"),
    ("long s", "http://localho\u017ft:{port}/"), ("Kelvin sign", "http://\u212aubernetes:{port}/"), ("from right to left", "http://\u202e1.0.0.721:{port}/"),
    ("byte-order mark", "http://\ufeff127.0.0.1:{port}/"), ("joiner", "http://local\u200dhost:{port}/"), ("escaped wide dot", "http://127%E3%80%820.0.1:{port}/"),
    ("escaped at", "http://example.com%40127.0.0.1:{port}/"), ("escaped colon", "http://127.0.0.1%3a{port}/"), ("escaped bracket", "http://%5b::1%5d:{port}/"),
    ("escaped blank", "http://127.0.0.1%20:{port}/"), ("escaped line end", "http://127.0.0.1%0d%0a:{port}/"), ("escaped tab", "http://127.0.0.1%09:{port}/"),
    ("port with a sign", "http://127.0.0.1:+{port}/"), ("negative port", "http://example.com:-1/"), ("port with a blank", "http://example.com: {port}/"),
    ("port of letters", "http://example.com:http/"), ("port of wide digits", "http://example.com:\uff18\uff10/"), ("port far too large", "http://example.com:4294967376/"),
    ("vertical tab", "http://127.0.0.1\v:{port}/"), ("carriage return", "http://127.0.0.1\r:{port}/"), ("next line", "http://127.0.0.1\u0085:{port}/"),
    ("tab in the scheme", "ht\ttp://127.0.0.1:{port}/"), ("blank before the scheme", " http://127.0.0.1:{port}/"), ("scheme twice", "http://http://127.0.0.1:{port}/"),
    ("scheme in the scheme", "url:http://127.0.0.1:{port}/"), ("feed", "feed:http://127.0.0.1:{port}/"), ("sftp", "sftp://127.0.0.1:{port}/"),
    ("tftp", "tftp://127.0.0.1:{port}/x"), ("netdoc", "netdoc:///etc/passwd"), ("phar", "phar:///x"), ("expect", "expect://id"), ("smb", "smb://127.0.0.1/x"),
    ("rediss", "rediss://127.0.0.1:{port}/"), ("postgres", "postgres://127.0.0.1:{port}/"), ("wss", "wss://127.0.0.1:{port}/"),
    ("file", "file:///etc/passwd"), ("gopher", "gopher://127.0.0.1:{port}/_GET"), ("dict", "dict://127.0.0.1:{port}/x"),
    ("ftp", "ftp://127.0.0.1:{port}/"), ("ldap", "ldap://127.0.0.1:{port}/"), ("ws", "ws://127.0.0.1:{port}/"),
    ("unix socket", "unix:///run/hikyaku.sock"), ("http over a unix socket", "http+unix://%2frun%2fx/"), ("jar", "jar:http://127.0.0.1!/"),
    ("data", "data:text/plain,x"), ("javascript", "javascript:alert(1)"), ("scheme-relative", "//127.0.0.1:{port}/"),
)

# Names that mean this machine by themselves; the ports of services that nobody outside should reach.
NAMES = ("localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost.", "127.0.0.1.localhost", "example.com.LocalHost")
PORTS = (1, 7, 19, 21, 22, 23, 25, 43, 53, 69, 79, 88, 110, 111, 119, 135, 139, 143, 161, 389, 445, 465, 514, 515, 587, 631, 636, 873, 993,
         1023, 1433, 1521, 2049, 2181, 2375, 2379, 3306, 3389, 5432, 5672, 5900, 6379, 6443, 8500, 9092, 9200, 10250, 11211, 15672, 27017)
# In a wrapper: one of each kind of address.
INSIDE = ("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16", "100.100.100.200", "0.0.0.0",
          "224.0.0.1", "255.255.255.255")
# Other spellings of addresses that are read, and refused for what they are.
ALSO = (
    ("dot at the end", "http://127.0.0.1.:{port}/"), ("metadata with a dot", "http://169.254.169.254./latest/"), ("port of nobody", "http://127.0.0.1:25/"),
    ("capitals", "HTTP://[::FFFF:7F00:1]:{port}/"), ("zeros", "https://[0:0:0:0:0:0:0:1]:{port}/"), ("all zeros", "http://[0000:0000:0000:0000:0000:0000:0000:0001]/"),
    ("gap at the end", "http://[0:0:0:0:0:0:0::]:{port}/"), ("gap of one group", "http://[::0:0:0:0:0:0:1]:{port}/"),
    ("mapped in dots", "http://[::ffff:127.0.0.1]:{port}/"), ("mapped in long", "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/"),
    ("mapped in capitals", "http://[::FfFf:a9FE:A9fe]/"), ("mapped metadata in dots", "http://[::ffff:169.254.169.254]/"),
    ("compatible in dots", "http://[::127.0.0.1]:{port}/"), ("NAT64 in dots", "http://[64:ff9b::127.0.0.1]:{port}/"),
    ("NAT64 with zeros", "http://[0064:ff9b:0000::10.0.0.1]:{port}/"), ("6to4 with a subnet", "http://[2002:7f00:1:ffff::1]:{port}/"),
    ("no slash behind", "http://127.0.0.1:{port}"), ("only a query behind", "http://127.0.0.1:{port}?x"), ("at in the path", "http://127.0.0.1:{port}/@example.com"),
    ("at in the query", "http://10.0.0.1?@example.com/"), ("port with zeros", "http://127.0.0.1:00080/"), ("scheme in capitals", "HTTPS://10.0.0.1/"),
    ("link-local of a tunnel", "http://[fe80::5efe:127.0.0.1]:{port}/"), ("all nodes", "http://[ff01::1]:{port}/"), ("all routers", "http://[ff0e::2]:{port}/"),
)


def table(port):
    """Every row of the specification once: small enough for every door."""
    rows = [Row(f"{text} in {spelt}", f"http://{spell(*map(int, text.split('.')))}:{port}/", TEXT)
            for spelt, spell in SPELLINGS.items() for text in ("127.0.0.1", "169.254.169.254")]
    rows += [Row(name, url.format(port=port, wrapped=port + 65536), TEXT) for name, url in CONFUSING]
    rows += [Row(text, f"http://{text}:{port}/", ADDRESS) for text in forbidden_v4()]
    rows += [Row(text, f"http://[{text}]:{port}/", ADDRESS) for text in FORBIDDEN_V6]
    rows += [wrapped(text, wrapper, port) for wrapper in WRAPPERS for text in INSIDE]
    rows += [Row(name, url.format(port=port), ADDRESS) for name, url in ALSO]
    rows += [Row(name, f"http://{name}:{port}/", CONNECT) for name in NAMES]
    rows += [Row(f"port {number}", f"http://8.8.8.8:{number}/", CONNECT) for number in PORTS]
    rows += [Row(text, f"http://{text}/", PUBLIC) for text in public_v4()]
    rows += [Row(text, f"https://[{text}]/", PUBLIC) for text in PUBLIC_V6]
    return list({row.url: row for row in rows}.values())  # some wrappers of 0.0.0.0 are an address that is there already


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
