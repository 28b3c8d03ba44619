/// The strict layer: decides over the raw bytes of a header block whether a request may be read at
/// all, and how long its body is. Beast's parser reads the same bytes afterwards, but it is lenient
/// in ways that let one request be understood as two (equal double Content-Length, unknown transfer
/// codings, folded lines, no Host); nothing reaches it that this file has not accepted. Pure
/// functions of their arguments; called by RequestReader on an I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace hk::http {

/// Why a request is refused: the status to answer with and a sentence for its sender (plain ASCII
/// without quotes: it is put into JSON as it is). After it the connection closes, always.
struct Refusal {
  int status = 400;
  std::string_view reason{};

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct HeadLimits {
  std::size_t block_bytes_max = std::size_t{32} * 1024;
  std::size_t line_bytes_max = std::size_t{8} * 1024;  ///< one field line; the target alone
  std::size_t fields_max = 100;
};

/// Looks for the end of a header block that arrives in pieces, and refuses as soon as a line or the
/// block is too long or a line does not end in CR LF. The result does not depend on the pieces.
class HeadScanner {
 public:
  enum class State : std::uint8_t { incomplete, complete, refused };

  /// `bytes` starts at the first byte of the request and holds everything seen before.
  State scan(std::string_view bytes, const HeadLimits& limits);
  /// REQUIRES: complete. The length of the block with its empty line.
  [[nodiscard]] std::size_t size() const { return line_start_; }
  /// REQUIRES: refused.
  [[nodiscard]] Refusal refusal() const { return refusal_; }

 private:
  State refuse(int status, std::string_view reason);

  std::size_t line_start_ = 0;
  std::size_t searched_ = 0;
  Refusal refusal_{};
};

/// What was understood of an accepted block. The views point into it.
struct Head {
  std::string_view method{};
  /// The target for the handler: as on the wire, or of an absolute-form the part behind the
  /// authority (which may lack the leading '/').
  std::string_view target{};
  bool absolute_form = false;
  int minor_version = 1;
  bool chunked = false;
  bool has_length = false;
  std::uint64_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;
  std::size_t fields = 0;
};

/// REQUIRES: HeadScanner found `block` complete.
std::expected<Head, Refusal> check_head(std::string_view block, const HeadLimits& limits);

/// host [":" port]: a registered name, an IPv4 address or an IPv6 address in brackets.
bool valid_host(std::string_view host);

}  // namespace hk::http
