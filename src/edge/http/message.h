/// A request as an adapter sees it and the response it gives: plain data, checked by the strict
/// layer before anybody sees it (strict.h). Header names keep their spelling; look-ups ignore case.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/header.h"

namespace hk::http {

struct Request {
  std::string method{};
  std::string target{};  ///< raw, as on the wire: no decoding, no normalising
  std::vector<net::Field> fields{};
  std::string body{};
  std::string peer{};  ///< IP address of the client
  bool keep_alive = true;
  bool secure = false;  ///< came by TLS

  /// The first field of that name, or nullopt.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  /// The target up to '?'.
  [[nodiscard]] std::string_view path() const;
  /// Behind '?', or "".
  [[nodiscard]] std::string_view query() const;
};

/// What a browser is told about a page and what belongs to it, in place of what it is told about
/// every other answer: that it is no page, and not to be kept.
struct PageHeaders {
  std::string security_policy{};  ///< Content-Security-Policy
  std::string cache_control{};
};

struct Response {
  int status = 200;
  std::string body{};
  std::string content_type{"application/json"};
  std::vector<net::Field>
      fields{};        ///< further ones; Content-Length, Connection, Date are the server's
  bool close = false;  ///< end the connection after it
  std::shared_ptr<const PageHeaders> page{};  ///< null: it is none
  /// Let go when the last byte of it was sent, or nobody is there to send it to.
  std::shared_ptr<const void> held{};
};

/// REQUIRES: a status of RFC 9110. "" for an unknown one.
std::string_view reason_phrase(int status);

/// "%41" → "A"; nullopt when malformed. '+' is left alone.
std::optional<std::string> percent_decode(std::string_view text);
/// Pairs of a query string or form body in order, percent-decoded ('+' = space); nullopt when
/// malformed.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace hk::http
