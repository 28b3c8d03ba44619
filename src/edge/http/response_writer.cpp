#include "edge/http/response_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "base/date.h"
#include "net/header.h"

namespace hk::http {

namespace {

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}

bool is_servers_own(std::string_view name) {
  constexpr std::array<std::string_view, 14> names{"content-length",
                                                   "transfer-encoding",
                                                   "connection",
                                                   "date",
                                                   "server",
                                                   "keep-alive",
                                                   "content-type",
                                                   "trailer",
                                                   "x-content-type-options",
                                                   "cache-control",
                                                   "content-security-policy",
                                                   "cross-origin-resource-policy",
                                                   "referrer-policy",
                                                   "strict-transport-security"};
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view own) { return equals_ignoring_case(name, own); });
}

/// For browsers and caches between: an answer may hold a tenant's data or keys, and is no page.
#define HK_NO_PAGE_LINES                                                                   \
  "Cache-Control: no-store\r\n"                                                            \
  "Content-Security-Policy: default-src 'none'; base-uri 'none'; frame-ancestors 'none'; " \
  "sandbox\r\n"
constexpr std::string_view no_page_lines = HK_NO_PAGE_LINES;
constexpr std::string_view constant_lines =
    "Server: hikyaku\r\n"
    "X-Content-Type-Options: nosniff\r\n" HK_NO_PAGE_LINES
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n";

std::string_view hsts_line(Hsts hsts) {
  switch (hsts) {
    case Hsts::none: return "";
    case Hsts::own_name: return "Strict-Transport-Security: max-age=31536000\r\n";
    case Hsts::subdomains:
      return "Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n";
  }
  std::unreachable();
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

/// The common lines, with what the page says in place of what is said of all others.
void append_page_lines(std::string& out, const PageHeaders& page, std::string_view common_lines) {
  const std::size_t at = common_lines.find(no_page_lines);
  if (at == std::string_view::npos || !net::safe_header("Cache-Control", page.cache_control) ||
      !net::safe_header("Content-Security-Policy", page.security_policy)) {
    out.append(common_lines);
    return;
  }
  out.append(common_lines.substr(0, at));
  append_field(out, "Cache-Control", page.cache_control);
  append_field(out, "Content-Security-Policy", page.security_policy);
  out.append(common_lines.substr(at + no_page_lines.size()));
}

void append_status_line(std::string& out, int status) {
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
    return;
  }
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<std::uint64_t>(status));
  out.append(" ").append(reason_phrase(status)).append("\r\n");
}

}  // namespace

std::string_view CommonHeaders::lines(std::time_t now) {
  if (now != second_) {
    second_ = now;
    lines_.assign(constant_lines);
    lines_.append(hsts_line(hsts_));
    lines_.append("Date: ");
    append_http_date(lines_, Moment(std::chrono::seconds(now)));
    lines_.append("\r\n");
  }
  return lines_;
}

void append_response(std::string& out, const Response& response, WriteOptions options,
                     std::string_view common_lines) {
  // An interim status would make the client read the next response as this one's.
  const int status = response.status >= 200 && response.status <= 599 ? response.status : 500;
  const bool has_body = status != 204 && status != 304;
  out.reserve(out.size() + 256 + common_lines.size() + response.body.size());
  append_status_line(out, status);
  if (response.page) {
    append_page_lines(out, *response.page, common_lines);
  } else {
    out.append(common_lines);
  }
  if (has_body) {
    if (!response.content_type.empty() && net::safe_header("Content-Type", response.content_type)) {
      const bool unsaid = response.content_type.starts_with("text/") &&
                          response.content_type.find("charset=") == std::string::npos;
      out.append("Content-Type: ").append(response.content_type);
      out.append(unsaid ? "; charset=utf-8\r\n" : "\r\n");  // every text of ours is
    }
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  }
  for (const net::Field& field : response.fields) {
    if (net::safe_header(field.name, field.value) && !is_servers_own(field.name)) {
      append_field(out, field.name, field.value);
    }
  }
  if (options.close) {
    out.append("Connection: close\r\n");
  } else if (options.says_keep_alive) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  if (has_body && !options.head_only) out.append(response.body);
}

Response error_response(int status, std::string_view reason) {
  Response response;
  response.status = status;
  response.body.append("{\"error\":\"").append(reason).append("\"}");
  response.close = true;
  return response;
}

}  // namespace hk::http
