/// Reads one answer from the bytes of a connection, with Beast's parser fed directly, and keeps
/// little of it. The peer is not trusted: every size is bounded, interim answers are counted, and
/// framing that two readers could understand differently is an error. One per connection, on its
/// I/O thread.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/message.h"
#include "delivery/request.h"
#include "delivery/retry_after.h"

namespace hk::delivery {

struct ResponseLimits {
  std::size_t header_bytes_max = std::size_t{32} * 1024;
  std::size_t header_bytes_kept = std::size_t{8} * 1024;
  std::size_t body_bytes_kept = 1000;
  /// Then the connection is closed; the status counts.
  std::size_t body_bytes_read = std::size_t{1024} * 1024;
  std::size_t interim_max = 16;  ///< 1xx answers before the final one
};

struct Response {
  int status = 0;
  std::vector<core::Header> headers{};  ///< bytes that are not visible ASCII are shown as '?'
  std::string body{};                   ///< never decoded
  bool non_retryable = false;           ///< Upstash-NonRetryable-Error: true
  RetryAfter retry_after{};
  bool reusable = false;  ///< complete, keep-alive, and not a byte too many
};

class ResponseReader {
 public:
  enum class Progress : std::uint8_t { more, done, malformed };

  explicit ResponseReader(const ResponseLimits& limits) : limits_(limits) {}

  /// Forgets the last answer. `no_body`: the request was a HEAD. `keep_all`: of the body as much as
  /// is read, not only body_bytes_kept.
  void begin(bool no_body, bool keep_all = false);
  void begin(bool no_body, const AnswerBounds& bounds);
  /// Room for the next bytes; valid until commit().
  std::span<char> prepare();
  Progress commit(std::size_t bytes);
  /// The peer has closed its side: the end of an answer without a length.
  Progress end();

  /// True when bytes have come that no answer has used.
  [[nodiscard]] bool has_bytes() const { return begin_ != end_; }
  /// Bytes of the body so far.
  [[nodiscard]] std::size_t kept() const { return response_.body.size(); }
  /// After `done`.
  Response& response() { return response_; }
  /// After `malformed`: what was wrong.
  [[nodiscard]] const char* fault() const { return fault_; }

 private:
  class Parser;
  using ErrorCode = boost::beast::error_code;

  class Parser final : public boost::beast::http::basic_parser<false> {
   public:
    Parser(ResponseReader& owner, bool no_body);
    /// The next bytes are the size line of a chunk.
    [[nodiscard]] bool is_between_chunks() const {
      return is_header_done() && chunked() && chunk_left_ == 0;
    }

   private:
    using string_view = boost::beast::string_view;
    void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                         ErrorCode&) override {}
    void on_response_impl(int code, string_view reason, int version, ErrorCode& error) override;
    void on_field_impl(boost::beast::http::field name, string_view name_text, string_view value,
                       ErrorCode& error) override;
    void on_header_impl(ErrorCode& error) override;
    void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode& error) override;
    std::size_t on_body_impl(string_view body, ErrorCode& error) override;
    void on_chunk_header_impl(std::uint64_t size, string_view extensions,
                              ErrorCode& error) override;
    std::size_t on_chunk_body_impl(std::uint64_t remain, string_view body,
                                   ErrorCode& error) override;
    void on_finish_impl(ErrorCode& error) override;

    ResponseReader& owner_;
    int version_ = 11;
    bool has_length_ = false;
    bool has_encoding_ = false;
    std::uint64_t chunk_left_ = 0;
  };

  Progress parse();
  Progress finish(bool reusable);
  Progress refuse(const char* why);
  void keep_header(std::string_view name, std::string_view value);
  void keep_body(std::string_view bytes);

  const ResponseLimits limits_;
  std::optional<Parser> parser_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t header_bytes_kept_ = 0;
  std::size_t body_bytes_ = 0;  ///< on the wire, framing of chunks included
  AnswerBounds bounds_{};
  std::size_t interim_ = 0;
  bool no_body_ = false;
  Response response_;
  const char* fault_ = "";
};

}  // namespace hk::delivery
