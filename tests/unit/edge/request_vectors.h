/// Requests as bytes, with what must become of them: the table behind the tests of the strict
/// layer.
#pragma once

#include <string>
#include <vector>

namespace hk::http::test {

struct Vector {
  std::string name{};
  std::string bytes{};
  int status = 0;        ///< 0: accepted; else refused with it
  std::string target{};  ///< of an accepted one
  std::string body{};    ///< of an accepted one
};

namespace detail {

inline std::string with_fields(const std::string& fields) {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

inline std::string with_line(const std::string& line) { return line + "\r\nHost: a\r\n\r\n"; }

inline std::string with_host(const std::string& host) {
  return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

inline std::string chunked(const std::string& body) {
  return with_fields("Transfer-Encoding: chunked\r\n") + body;
}

inline std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

inline std::string nul() { return std::string(1, '\0'); }

}  // namespace detail

/// Limits the vectors are written for: line 200, block 1,000, fields 8, body 100 bytes.
inline std::vector<Vector> accepted_vectors() {
  using namespace detail;
  const std::string length5 = "Content-Length: 5\r\n";
  return {
      {"plain get", with_line("GET / HTTP/1.1"), 0, "/", ""},
      {"query", with_line("GET /a?b=c&d HTTP/1.1"), 0, "/a?b=c&d", ""},
      {"url inside the target", with_line("POST /v2/publish/https://example.com/hook?x=1 HTTP/1.1"),
       0, "/v2/publish/https://example.com/hook?x=1", ""},
      {"double slashes stay", with_line("GET //a///b HTTP/1.1"), 0, "//a///b", ""},
      {"dot segments stay", with_line("GET /a/../b/./c HTTP/1.1"), 0, "/a/../b/./c", ""},
      {"percent encoding stays", with_line("GET /%2e%2E/%00 HTTP/1.1"), 0, "/%2e%2E/%00", ""},
      {"unusual visible bytes", with_line("GET /{a}|^`\"<> HTTP/1.1"), 0, "/{a}|^`\"<>", ""},
      {"longest target", with_line("GET /" + repeat("x", 199) + " HTTP/1.1"), 0,
       "/" + repeat("x", 199), ""},
      {"http 1.0", with_line("GET / HTTP/1.0"), 0, "/", ""},
      {"unknown method", with_line("PURGE / HTTP/1.1"), 0, "/", ""},
      {"lower-case method", with_line("get / HTTP/1.1"), 0, "/", ""},
      {"every token byte in the method", with_line("!#$%&'*+-.^_`|~09AZaz / HTTP/1.1"), 0, "/", ""},
      {"delete", with_line("DELETE /x HTTP/1.1"), 0, "/x", ""},
      {"options of a path", with_line("OPTIONS /x HTTP/1.1"), 0, "/x", ""},
      {"head", with_line("HEAD /x HTTP/1.1"), 0, "/x", ""},
      {"absolute form", with_line("GET http://a/x?y HTTP/1.1"), 0, "/x?y", ""},
      {"absolute form, other case", with_line("GET HTTP://A/x HTTP/1.1"), 0, "/x", ""},
      {"absolute form of https", with_line("GET https://a/x HTTP/1.1"), 0, "/x", ""},
      {"absolute form without path", with_line("GET http://a HTTP/1.1"), 0, "/", ""},
      {"absolute form with query only", with_line("GET http://a?q=1 HTTP/1.1"), 0, "/?q=1", ""},
      {"absolute form with port", "GET http://a:80/ HTTP/1.1\r\nHost: a:80\r\n\r\n", 0, "/", ""},
      {"host with port", with_host("example.com:8080"), 0, "/", ""},
      {"host with dashes and dots", with_host("a-b.c_d.example"), 0, "/", ""},
      {"ipv4 host", with_host("127.0.0.1:80"), 0, "/", ""},
      {"ipv6 host", with_host("[::1]"), 0, "/", ""},
      {"ipv6 host with port", with_host("[2001:db8::1]:443"), 0, "/", ""},
      {"mapped ipv6 host", with_host("[::ffff:1.2.3.4]"), 0, "/", ""},
      {"highest port", with_host("a:65535"), 0, "/", ""},
      {"host name in any case", "GET / HTTP/1.1\r\nhOsT: a\r\n\r\n", 0, "/", ""},
      {"host without space", "GET / HTTP/1.1\r\nHost:a\r\n\r\n", 0, "/", ""},
      {"space around values", "GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n", 0, "/", ""},
      {"empty value", with_fields("X:\r\n"), 0, "/p", ""},
      {"tab inside a value", with_fields("X: a\tb\r\n"), 0, "/p", ""},
      {"obs-text in a value", with_fields("X: caf\xc3\xa9\r\n"), 0, "/p", ""},
      {"underscore in a name", with_fields("X_Y: 1\r\n"), 0, "/p", ""},
      {"every token byte in a name", with_fields("!#$%&'*+-.^_`|~09AZaz: 1\r\n"), 0, "/p", ""},
      {"colons in a value", with_fields("X: a:b:c\r\n"), 0, "/p", ""},
      {"most fields", with_fields(repeat("X: 1\r\n", 7)), 0, "/p", ""},
      {"longest line", with_fields("X: " + repeat("v", 197) + "\r\n"), 0, "/p", ""},
      {"longest block",
       with_fields(repeat("X: " + repeat("v", 197) + "\r\n", 4) + "Y: " + repeat("v", 158) +
                   "\r\n"),
       0, "/p", ""},
      {"connection close", with_fields("Connection: close\r\n"), 0, "/p", ""},
      {"connection with several options", with_fields("Connection: foo, close , bar\r\n"), 0, "/p",
       ""},
      {"body of known length", with_fields(length5) + "hello", 0, "/p", "hello"},
      {"length in any case", with_fields("CONTENT-LENGTH: 5\r\n") + "hello", 0, "/p", "hello"},
      {"length zero", with_fields("Content-Length: 0\r\n"), 0, "/p", ""},
      {"length with leading zeros", with_fields("Content-Length: 005\r\n") + "hello", 0, "/p",
       "hello"},
      {"longest body", with_fields("Content-Length: 100\r\n") + repeat("b", 100), 0, "/p",
       repeat("b", 100)},
      {"body that looks like a request",
       with_fields("Content-Length: 18\r\n") + "GET / HTTP/1.1\r\n\r\n", 0, "/p",
       "GET / HTTP/1.1\r\n\r\n"},
      {"body with every kind of byte", with_fields("Content-Length: 4\r\n") + nul() + "\r\n\xff", 0,
       "/p", nul() + "\r\n\xff"},
      {"get with a body", "GET /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 0, "/p",
       "hi"},
      {"http 1.0 with a body", "POST /p HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 0,
       "/p", "hi"},
      {"chunked, no data", chunked("0\r\n\r\n"), 0, "/p", ""},
      {"one chunk", chunked("5\r\nhello\r\n0\r\n\r\n"), 0, "/p", "hello"},
      {"several chunks", chunked("1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n"), 0, "/p", "abcdef"},
      {"hexadecimal size", chunked("1A\r\n" + repeat("z", 26) + "\r\n0\r\n\r\n"), 0, "/p",
       repeat("z", 26)},
      {"lower-case hexadecimal size", chunked("1a\r\n" + repeat("z", 26) + "\r\n0\r\n\r\n"), 0,
       "/p", repeat("z", 26)},
      {"zeros before a size", chunked("0005\r\nhello\r\n000\r\n\r\n"), 0, "/p", "hello"},
      {"chunk extension", chunked("5;a=b\r\nhello\r\n0\r\n\r\n"), 0, "/p", "hello"},
      {"chunk extension at the last chunk", chunked("5\r\nhello\r\n0;x\r\n\r\n"), 0, "/p", "hello"},
      {"quoted chunk extension", chunked("5;a=\"b\"\r\nhello\r\n0\r\n\r\n"), 0, "/p", "hello"},
      {"chunk extensions of 64 bytes",
       chunked("1;" + repeat("x", 31) + "\r\na\r\n1;" + repeat("y", 31) + "\r\nb\r\n0\r\n\r\n"), 0,
       "/p", "ab"},
      {"trailer", chunked("5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"), 0, "/p", "hello"},
      {"chunk data with line ends", chunked("4\r\n\r\n\r\n\r\n0\r\n\r\n"), 0, "/p", "\r\n\r\n"},
      {"chunked in any case", with_fields("transfer-encoding: CHUNKED\r\n") + "1\r\nx\r\n0\r\n\r\n",
       0, "/p", "x"},
      {"chunked with space around", with_fields("Transfer-Encoding:  chunked \r\n") + "0\r\n\r\n",
       0, "/p", ""},
      {"longest chunked body", chunked("64\r\n" + repeat("c", 100) + "\r\n0\r\n\r\n"), 0, "/p",
       repeat("c", 100)},
      {"expect continue", with_fields("Expect: 100-continue\r\n" + length5) + "hello", 0, "/p",
       "hello"},
      {"expect continue in any case", with_fields("expect: 100-Continue\r\n" + length5) + "hello",
       0, "/p", "hello"},
      {"expect continue without a body", with_fields("Expect: 100-continue\r\n"), 0, "/p", ""},
      {"te is not transfer-encoding", with_fields("TE: trailers\r\n"), 0, "/p", ""},
      {"upgrade is ignored", with_fields("Connection: Upgrade\r\nUpgrade: h2c\r\n"), 0, "/p", ""},
      {"content-encoding is not looked at",
       with_fields("Content-Encoding: gzip\r\n" + length5) + "hello", 0, "/p", "hello"},
  };
}

inline std::vector<Vector> refused_vectors() {
  using namespace detail;
  const std::string length5 = "Content-Length: 5\r\n";
  const std::string te = "Transfer-Encoding: chunked\r\n";
  const auto coding = [](const std::string& value) {
    return with_fields("Transfer-Encoding: " + value + "\r\n") + "0\r\n\r\n";
  };
  const auto length = [](const std::string& value) {
    return with_fields("Content-Length: " + value + "\r\n") + "hello";
  };
  return {
      // The request line.
      {"no version", with_line("GET /"), 400},
      {"one word", with_line("GET"), 400},
      {"no target", with_line("GET  HTTP/1.1"), 400},
      {"leading space", with_line(" GET / HTTP/1.1"), 400},
      {"leading empty line", "\r\n" + with_line("GET / HTTP/1.1"), 400},
      {"two spaces before the target", with_line("GET  / HTTP/1.1"), 400},
      {"two spaces before the version", with_line("GET /  HTTP/1.1"), 400},
      {"tab as separator", with_line("GET\t/ HTTP/1.1"), 400},
      {"space in the target", with_line("GET /a b HTTP/1.1"), 400},
      {"space behind the version", with_line("GET / HTTP/1.1 "), 400},
      {"method with a colon", with_line("GE:T / HTTP/1.1"), 400},
      {"method with brackets", with_line("(GET) / HTTP/1.1"), 400},
      {"method with a nul", with_line("G" + nul() + "T / HTTP/1.1"), 400},
      {"method too long", with_line(repeat("M", 33) + " / HTTP/1.1"), 501},
      {"trace", with_line("TRACE / HTTP/1.1"), 501},
      {"connect", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 501},
      {"connect with a path", with_line("CONNECT / HTTP/1.1"), 501},
      {"http 0.9", "GET /\r\n\r\n", 400},
      {"http 2.0", with_line("GET / HTTP/2.0"), 505},
      {"http 2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"http 1.2", with_line("GET / HTTP/1.2"), 505},
      {"http 0.9 spelt out", with_line("GET / HTTP/0.9"), 505},
      {"http 3.1", with_line("GET / HTTP/3.1"), 505},
      {"lower-case http", with_line("GET / http/1.1"), 400},
      {"version without minor", with_line("GET / HTTP/1"), 400},
      {"version with two digits", with_line("GET / HTTP/1.10"), 400},
      {"version with letters", with_line("GET / HTTP/1.x"), 400},
      {"another protocol", with_line("GET / ICAP/1.1"), 400},
      {"tls on a plain port", "\x16\x03\x01\x02" + nul() + "\x01\r\n\r\n", 400},
      // The target.
      {"asterisk form", with_line("OPTIONS * HTTP/1.1"), 400},
      {"authority form", with_line("GET a:80 HTTP/1.1"), 400},
      {"relative target", with_line("GET index.html HTTP/1.1"), 400},
      {"query only", with_line("GET ?x HTTP/1.1"), 400},
      {"absolute form of another host", with_line("GET http://b/ HTTP/1.1"), 400},
      {"absolute form of another port", with_line("GET http://a:81/ HTTP/1.1"), 400},
      {"absolute form with a user", with_line("GET http://u@a/ HTTP/1.1"), 400},
      {"absolute form of a host prefix", with_line("GET http://a.evil/ HTTP/1.1"), 400},
      {"absolute form of another scheme", with_line("GET ftp://a/ HTTP/1.1"), 400},
      {"absolute form without host", with_line("GET http:///x HTTP/1.1"), 400},
      {"fragment", with_line("GET /a#b HTTP/1.1"), 400},
      {"nul in the target", with_line("GET /a" + nul() + " HTTP/1.1"), 400},
      {"tab in the target", with_line("GET /a\tb HTTP/1.1"), 400},
      {"delete byte in the target", with_line("GET /a\x7f HTTP/1.1"), 400},
      {"raw utf-8 in the target", with_line("GET /caf\xc3\xa9 HTTP/1.1"), 400},
      {"bare cr in the target", with_line("GET /a\rb HTTP/1.1"), 400},
      {"target too long", with_line("GET /" + repeat("x", 200) + " HTTP/1.1"), 414},
      {"target much too long", with_line("GET /" + repeat("x", 900) + " HTTP/1.1"), 414},
      {"request line without an end", "GET /" + repeat("x", 400), 414},
      // Host.
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"no host in 1.0", "GET / HTTP/1.0\r\n\r\n", 400},
      {"two hosts", with_fields("Host: a\r\n"), 400},
      {"two hosts that differ", with_fields("Host: b\r\n"), 400},
      {"empty host", with_host(""), 400},
      {"list of hosts", with_host("a, b"), 400},
      {"host with a path", with_host("a/b"), 400},
      {"host with a user", with_host("u@a"), 400},
      {"host with a space", with_host("a b"), 400},
      {"host with a quote", with_host("a\"b"), 400},
      {"host without name", with_host(":80"), 400},
      {"host with an empty port", with_host("a:"), 400},
      {"host with a port of letters", with_host("a:http"), 400},
      {"host with two ports", with_host("a:80:80"), 400},
      {"port too large", with_host("a:65536"), 400},
      {"port with six digits", with_host("a:000080"), 400},
      {"unclosed ipv6", with_host("[::1"), 400},
      {"empty ipv6", with_host("[]"), 400},
      {"ipv6 with letters", with_host("[::g]"), 400},
      {"ipv6 with a tail", with_host("[::1]x"), 400},
      {"raw ipv6", with_host("::1"), 400},
      {"host of percent-encoding", with_host("%61"), 400},
      // Header lines.
      {"obs-fold", with_fields("X: a\r\n b\r\n"), 400},
      {"obs-fold with a tab", with_fields("X: a\r\n\tb\r\n"), 400},
      {"obs-fold in transfer-encoding",
       with_fields("Transfer-Encoding:\r\n chunked\r\n") + "0\r\n\r\n", 400},
      {"first header line folded", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"space before the colon", with_fields("X : a\r\n"), 400},
      {"tab before the colon", with_fields("X\t: a\r\n"), 400},
      {"space before the colon of a length", with_fields("Content-Length : 5\r\n") + "hello", 400},
      {"no colon", with_fields("X\r\n"), 400},
      {"no name", with_fields(": a\r\n"), 400},
      {"name with a space", with_fields("X Y: a\r\n"), 400},
      {"name with a slash", with_fields("X/Y: a\r\n"), 400},
      {"name with a bracket", with_fields("X[]: a\r\n"), 400},
      {"name with a nul", with_fields("X" + nul() + ": a\r\n"), 400},
      {"name with a high byte", with_fields("X\xe4: a\r\n"), 400},
      {"value with a nul", with_fields("X: a" + nul() + "b\r\n"), 400},
      {"value with a bell", with_fields("X: a\ab\r\n"), 400},
      {"value with a delete", with_fields("X: a\x7f\r\n"), 400},
      {"value with an escape", with_fields("X: \x1b[0m\r\n"), 400},
      {"bare cr in a value", with_fields("X: a\rb\r\n"), 400},
      {"cr cr lf", with_fields("X: a\r\r\n"), 400},
      {"bare lf in a value", with_fields("X: a\nb: c\r\n"), 400},
      {"bare lf lines", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare lf at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
      {"bare lf behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"cr at the end of a name", with_fields("X\r: a\r\n"), 400},
      {"line too long", with_fields("X: " + repeat("v", 198) + "\r\n"), 431},
      {"line without an end", "GET / HTTP/1.1\r\nX: " + repeat("v", 400), 431},
      {"block too long", with_fields(repeat("X: " + repeat("v", 190) + "\r\n", 6)), 431},
      {"block one byte too long",
       with_fields(repeat("X: " + repeat("v", 197) + "\r\n", 4) + "Y: " + repeat("v", 159) +
                   "\r\n"),
       431},
      {"too many fields", with_fields(repeat("X: 1\r\n", 8)), 431},
      // Content-Length.
      {"length twice", with_fields(length5 + length5) + "hello", 400},
      {"length twice that differs", with_fields(length5 + "Content-Length: 6\r\n") + "hello", 400},
      {"list of lengths", length("5, 5"), 400},
      {"length with a plus", length("+5"), 400},
      {"length with a minus", length("-5"), 400},
      {"length in hexadecimal", length("0x5"), 400},
      {"length with a space", length("5 5"), 400},
      {"length with a fraction", length("5.0"), 400},
      {"length with an exponent", length("5e0"), 400},
      {"length empty", length(""), 400},
      {"length quoted", length("\"5\""), 400},
      {"length overflowing", length("18446744073709551621"), 400},
      {"length of many zeros", length(repeat("0", 30) + "5"), 400},
      {"length of letters", length("five"), 400},
      {"length over the limit", with_fields("Content-Length: 101\r\n"), 413},
      {"length far over the limit", with_fields("Content-Length: 9999999999999999999\r\n"), 413},
      // Transfer-Encoding.
      {"length, then coding", with_fields(length5 + te) + "0\r\n\r\n", 400},
      {"coding, then length", with_fields(te + length5) + "0\r\n\r\n", 400},
      {"coding and length zero", with_fields(te + "Content-Length: 0\r\n") + "0\r\n\r\n", 400},
      {"coding twice", with_fields(te + te) + "0\r\n\r\n", 400},
      {"coding twice, once unknown", with_fields(te + "Transfer-Encoding: x\r\n"), 400},
      {"coding of 1.0", "POST / HTTP/1.0\r\nHost: a\r\n" + te + "\r\n0\r\n\r\n", 400},
      {"xchunked", coding("xchunked"), 501},
      {"identity", coding("identity"), 501},
      {"identity and length", with_fields("Transfer-Encoding: identity\r\n" + length5) + "hello",
       400},
      {"gzip", coding("gzip"), 501},
      {"gzip, chunked", coding("gzip, chunked"), 501},
      {"chunked, gzip", coding("chunked, gzip"), 400},
      {"chunked, chunked", coding("chunked, chunked"), 400},
      {"chunked with a comma", coding("chunked,"), 400},
      {"comma before chunked", coding(", chunked"), 400},
      {"chunked with a parameter", coding("chunked;q=1"), 400},
      {"quoted chunked", coding("\"chunked\""), 400},
      {"chunked with a vertical tab", coding("chunked\v"), 400},
      {"empty coding", coding(""), 400},
      {"chunked in two words", coding("chun ked"), 400},
      // Chunks.
      {"chunk size empty", chunked("\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size of letters", chunked("g\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a minus", chunked("-5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a plus", chunked("+5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a space", chunked("5 \r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size after a space", chunked(" 5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size overflowing", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size of many zeros", chunked(repeat("0", 90) + "5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size over the limit", chunked("65\r\nccc"), 413},
      {"chunks over the limit", chunked("60\r\n" + repeat("c", 96) + "\r\n5\r\n"), 413},
      {"chunk line of bare lf", chunked("5\nhello\r\n0\r\n\r\n"), 400},
      {"chunk line of bare cr", chunked("5\rhello\r\n0\r\n\r\n"), 400},
      {"chunk longer than its size", chunked("4\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk shorter than its size", chunked("6\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk without its line end", chunked("5\r\nhello0\r\n\r\n"), 400},
      {"chunk ended by bare lf", chunked("5\r\nhello\n0\r\n\r\n"), 400},
      {"chunk extension too long", chunked("5;" + repeat("x", 64) + "\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk extensions too long together",
       chunked("1;" + repeat("x", 40) + "\r\na\r\n1;" + repeat("y", 40) + "\r\nb\r\n0\r\n\r\n"),
       400},
      {"chunk extension far too long", chunked("5;" + repeat("x", 2000) + "\r\nhello\r\n0\r\n\r\n"),
       400},
      {"LF in a quoted chunk extension", chunked("5;a=\"\n\"\r\nhello\r\n0\r\n\r\n"), 400},
      {"LF in a quoted extension of the last chunk", chunked("5\r\nhello\r\n0;a=\"\n\"\r\n\r\n"),
       400},
      {"CR in a quoted chunk extension", chunked("5;a=\"\r\"\r\nhello\r\n0\r\n\r\n"), 400},
      {"NUL in a quoted chunk extension",
       chunked(std::string("5;a=\"\0\"\r\nhello\r\n0\r\n\r\n", 22)), 400},
      {"chunk extension without an end", chunked("5;" + repeat("x", 2000)), 400},
      {"trailer with a length", chunked("0\r\nContent-Length: 5\r\n\r\n"), 400},
      {"trailer with a coding", chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400},
      {"trailer without a colon", chunked("0\r\nX\r\n\r\n"), 400},
      {"trailers too long",
       chunked("0\r\n" + repeat("X: " + repeat("v", 190) + "\r\n", 6) + "\r\n"), 400},
      // Expect.
      {"another expectation", with_fields("Expect: 200-ok\r\n"), 417},
      {"empty expectation", with_fields("Expect:\r\n"), 417},
      {"two expectations", with_fields("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 417},
      {"expectation with a parameter", with_fields("Expect: 100-continue;x\r\n"), 417},
  };
}

}  // namespace hk::http::test
