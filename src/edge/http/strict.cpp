#include "edge/http/strict.h"

#include <cstring>

#include "base/ascii.h"
#include "edge/http/message.h"

namespace hk::http {

namespace {

using Check = std::expected<void, Refusal>;

std::unexpected<Refusal> refuse(int status, std::string_view reason) {
  return std::unexpected(Refusal{status, reason});
}

/// What the fields said, before it is judged as a whole: their order must not matter.
struct Framing {
  std::size_t hosts = 0;
  std::string_view host{};
  std::size_t lengths = 0;
  std::string_view length{};
  std::size_t codings = 0;
  std::string_view coding{};
  std::size_t expectations = 0;
  std::string_view expectation{};
  bool asks_close = false;
  bool asks_keep_alive = false;
};

Check check_version(std::string_view version, Head& head) {
  constexpr std::string_view prefix = "HTTP/";
  if (version.size() != 8 || !version.starts_with(prefix) || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7])) {
    return refuse(400, "the request line must end in HTTP/1.1");
  }
  if (version[5] != '1' || version[7] > '1') {
    return refuse(505, "this server speaks HTTP/1.1 and HTTP/1.0 only");
  }
  head.minor_version = version[7] - '0';
  return {};
}

Check check_request_line(std::string_view line, const HeadLimits& limits, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refuse(400, "the request line must be: method SP target SP HTTP/1.1");
  }
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  if (!is_token(head.method)) return refuse(400, "the method is not a token");
  if (Check ok = check_version(line.substr(last + 1), head); !ok) return ok;
  if (head.method.size() > 32 || head.method == "TRACE" || head.method == "CONNECT") {
    return refuse(501, "this method is not implemented");
  }
  if (head.target.empty()) return refuse(400, "the target is empty");
  if (head.target.size() > limits.line_bytes_max) return refuse(414, "the target is too long");
  for (const char c : head.target) {
    if (!is_target_char(c))
      return refuse(400, "the target holds a byte that must be percent-encoded");
  }
  return {};
}

void note_connection_options(std::string_view value, Framing& framing) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    const std::string_view option = trim(value.substr(0, comma));
    framing.asks_close = framing.asks_close || equals_ignoring_case(option, "close");
    framing.asks_keep_alive = framing.asks_keep_alive || equals_ignoring_case(option, "keep-alive");
    value = comma == std::string_view::npos ? std::string_view() : value.substr(comma + 1);
  }
}

Check check_field(std::string_view line, Framing& framing) {
  if (line.front() == ' ' || line.front() == '\t') {
    return refuse(400, "folded header lines are not allowed");
  }
  std::size_t colon = 0;
  while (colon < line.size() && is_token_char(line[colon])) ++colon;
  if (colon == 0 || colon == line.size() || line[colon] != ':') {
    return refuse(400, "a header line must be a name, directly followed by a colon, and a value");
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  for (const char c : value) {
    if (!is_value_char(c)) return refuse(400, "a header value holds a control byte");
  }
  switch (name.size()) {  // only names of these lengths matter here
    case 4:
      if (equals_ignoring_case(name, "host")) {
        ++framing.hosts;
        framing.host = value;
      }
      break;
    case 6:
      if (equals_ignoring_case(name, "expect")) {
        ++framing.expectations;
        framing.expectation = value;
      }
      break;
    case 10:
      if (equals_ignoring_case(name, "connection")) note_connection_options(value, framing);
      break;
    case 14:
      if (equals_ignoring_case(name, "content-length")) {
        ++framing.lengths;
        framing.length = value;
      }
      break;
    case 17:
      if (equals_ignoring_case(name, "transfer-encoding")) {
        ++framing.codings;
        framing.coding = value;
      }
      break;
    default: break;
  }
  return {};
}

Check check_length(const Framing& framing, Head& head) {
  if (framing.lengths == 0) return {};
  constexpr std::size_t digits_max = 19;  // fits 64 bits without a check per digit
  if (framing.lengths > 1) return refuse(400, "Content-Length may be sent once only");
  if (framing.length.empty() || framing.length.size() > digits_max) {
    return refuse(400, "Content-Length must be one decimal number");
  }
  for (const char c : framing.length) {
    if (!is_digit(c)) return refuse(400, "Content-Length must be one decimal number");
    head.content_length = head.content_length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  head.has_length = true;
  return {};
}

/// A list of tokens in which `chunked` is not the last or comes twice cannot be framed at all
/// (400); any other list of tokens names a coding that is not implemented (501).
Refusal refusal_of_coding(std::string_view list) {
  constexpr Refusal malformed{400, "Transfer-Encoding must be: chunked"};
  bool chunked = false;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view coding = trim(list.substr(0, comma));
    if (chunked || !is_token(coding)) return malformed;
    chunked = equals_ignoring_case(coding, "chunked");
    if (comma == std::string_view::npos) break;
    list = list.substr(comma + 1);
  }
  return {501, "no transfer coding but chunked is implemented"};
}

Check check_coding(const Framing& framing, Head& head) {
  if (framing.codings == 0) return {};
  if (framing.lengths != 0) {
    return refuse(400, "Content-Length and Transfer-Encoding exclude each other");
  }
  if (head.minor_version == 0) return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
  if (framing.codings > 1) return refuse(400, "Transfer-Encoding may be sent once only");
  if (!equals_ignoring_case(framing.coding, "chunked")) {
    return std::unexpected(refusal_of_coding(framing.coding));
  }
  head.chunked = true;
  return {};
}

/// Origin-form, or absolute-form for the very host of the Host field.
Check check_target(const Framing& framing, Head& head) {
  if (framing.hosts != 1) return refuse(400, "exactly one Host header is required");
  if (!valid_host(framing.host))
    return refuse(400, "the Host header is not a host with an optional port");
  if (head.target.front() == '/') return {};
  const std::size_t colon = head.target.find("://");
  const std::string_view scheme = head.target.substr(0, colon);
  if (colon == std::string_view::npos ||
      (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https"))) {
    return refuse(400, "the target must be a path that starts with a slash");
  }
  const std::string_view rest = head.target.substr(colon + 3);
  const std::size_t end = rest.find_first_of("/?");
  if (!equals_ignoring_case(rest.substr(0, end), framing.host)) {
    return refuse(400, "the target names another host than the Host header");
  }
  head.target = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  head.absolute_form = true;
  return {};
}

Check check_expectation(const Framing& framing, Head& head) {
  if (framing.expectations == 0) return {};
  if (framing.expectations > 1 || !equals_ignoring_case(framing.expectation, "100-continue")) {
    return refuse(417, "the only expectation that can be met is 100-continue");
  }
  const bool has_body = head.chunked || head.content_length != 0;
  head.expects_continue = has_body && head.minor_version == 1;
  return {};
}

Check check_framing(const Framing& framing, Head& head) {
  if (Check ok = check_coding(framing, head); !ok) return ok;
  if (Check ok = check_length(framing, head); !ok) return ok;
  if (Check ok = check_target(framing, head); !ok) return ok;
  if (Check ok = check_expectation(framing, head); !ok) return ok;
  head.keep_alive = !framing.asks_close && (head.minor_version == 1 || framing.asks_keep_alive);
  return {};
}

}  // namespace

HeadScanner::State HeadScanner::refuse(int status, std::string_view reason) {
  refusal_ = Refusal{status, reason};
  return State::refused;
}

HeadScanner::State HeadScanner::scan(std::string_view bytes, const HeadLimits& limits) {
  // The request line may be longer than its target by the method and the version.
  constexpr std::size_t around_target_max = 64;
  if (bytes.empty()) return State::incomplete;
  if (line_start_ == 0 && !is_token_char(bytes.front())) {
    return refuse(400, "this is not an HTTP request");
  }
  while (true) {
    const bool first = line_start_ == 0;
    const std::size_t line_max = limits.line_bytes_max + (first ? around_target_max : 0);
    const void* found = searched_ < bytes.size()
                            ? std::memchr(bytes.data() + searched_, '\n', bytes.size() - searched_)
                            : nullptr;
    const std::size_t end =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data())
                         : bytes.size();
    // A CR is part of the line end: with it the line may be one byte longer.
    if (end - line_start_ > line_max + 1) {
      return first ? refuse(414, "the request line is too long")
                   : refuse(431, "a header line is too long");
    }
    if (end >= limits.block_bytes_max) return refuse(431, "the header block is too long");
    if (found == nullptr) {
      searched_ = end;
      return State::incomplete;
    }
    if (end == line_start_ || bytes[end - 1] != '\r') {
      return refuse(400, "header lines must end in CR LF");
    }
    const bool empty = end - line_start_ == 1;
    line_start_ = end + 1;
    searched_ = line_start_;
    if (empty) return State::complete;
  }
}

std::expected<Head, Refusal> check_head(std::string_view block, const HeadLimits& limits) {
  Head head;
  Framing framing;
  std::size_t end = block.find('\n');
  if (Check ok = check_request_line(block.substr(0, end - 1), limits, head); !ok) {
    return std::unexpected(ok.error());
  }
  for (std::size_t start = end + 1; start < block.size(); start = end + 1) {
    end = block.find('\n', start);
    const std::string_view line = block.substr(start, end - 1 - start);
    if (line.empty()) break;
    if (++head.fields > limits.fields_max) return refuse(431, "there are too many header fields");
    if (Check ok = check_field(line, framing); !ok) return std::unexpected(ok.error());
  }
  if (Check ok = check_framing(framing, head); !ok) return std::unexpected(ok.error());
  return head;
}

bool valid_host(std::string_view host) {
  constexpr std::size_t host_bytes_max = 261;  // 255 of a name, a colon and a port
  if (host.empty() || host.size() > host_bytes_max) return false;
  std::string_view port;
  if (host.front() == '[') {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    for (const char c : host.substr(1, close - 1)) {
      if (!is_hex_digit(c) && c != ':' && c != '.') return false;
    }
    port = host.substr(close + 1);
  } else {
    const std::size_t colon = host.find(':');
    if (colon == 0) return false;
    for (const char c : host.substr(0, colon)) {
      const bool letter = to_lower(c) >= 'a' && to_lower(c) <= 'z';
      if (!letter && !is_digit(c) && c != '-' && c != '.' && c != '_' && c != '~') return false;
    }
    port = colon == std::string_view::npos ? std::string_view() : host.substr(colon);
  }
  if (port.empty()) return true;
  if (port.size() < 2 || port.size() > 6 || port.front() != ':') return false;
  std::uint32_t number = 0;
  for (const char c : port.substr(1)) {
    if (!is_digit(c)) return false;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number <= 65'535;
}

}  // namespace hk::http
