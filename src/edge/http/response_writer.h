/// Writes a response as bytes. The only place of the server that puts headers on the wire; every
/// field passes safe_header(). Called on I/O threads.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "edge/http/message.h"

namespace hk::http {

/// What Strict-Transport-Security says.
enum class Hsts : std::uint8_t {
  none,      ///< it is not sent: the connection is not TLS
  own_name,  ///< not the subdomains: what runs there is not ours to decide
  subdomains,
};

/// The header lines that every response carries, formatted once per second.
class CommonHeaders {
 public:
  explicit CommonHeaders(Hsts hsts) : hsts_(hsts) {}

  /// Server, Date and what browsers and caches must know of every answer, each with its line end.
  std::string_view lines(std::time_t now);

 private:
  Hsts hsts_;
  std::time_t second_ = -1;
  std::string lines_{};
};

struct WriteOptions {
  bool head_only = false;        ///< the request was HEAD: length, but no body
  bool close = false;            ///< say that the connection ends
  bool says_keep_alive = false;  ///< an HTTP/1.0 client that asked for it wants to be told
};

/// Appends the response to `out`. Fields that safe_header() refuses, and those that are the
/// server's own, are left out: the answer itself must not be lost, because the work it reports is
/// done.
void append_response(std::string& out, const Response& response, WriteOptions options,
                     std::string_view common_lines);

/// {"error":"…"} with that status, to be followed by the end of the connection.
Response error_response(int status, std::string_view reason);

}  // namespace hk::http
