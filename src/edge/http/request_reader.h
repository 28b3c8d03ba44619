/// Reads requests out of a stream of bytes: the strict layer judges the header block, Beast's
/// parser then takes it and the body apart, and both must agree on the framing. Knows no socket;
/// owned by a connection and used on its I/O thread only.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "edge/http/body_budget.h"
#include "edge/http/message.h"
#include "edge/http/server.h"
#include "edge/http/strict.h"

namespace hk::http {

/// There is no memory for the body; nothing is wrong with the request.
inline constexpr Refusal no_room{503,
                                 "the server holds too many request bodies: try again shortly"};

class RequestReader {
 public:
  enum class Step : std::uint8_t {
    need_more,  ///< everything usable is consumed; call again with the rest and what came after it
    head,       ///< the header block was accepted and a body follows; call again
    complete,   ///< take() the request; bytes behind it belong to the next one
    refused,    ///< see refusal(); the stream must not be read any further
  };
  struct Progress {
    std::size_t consumed = 0;
    Step step = Step::need_more;
  };

  /// REQUIRES: both outlive the reader, the budget only until the last take() or abandon().
  RequestReader(const ServerLimits& limits, BodyBudget& bodies)
      : limits_(limits), bodies_(bodies), share_(bodies) {}

  /// `bytes` starts at the first byte that was not consumed before.
  Progress feed(std::string_view bytes);

  /// REQUIRES: complete. The reader is then ready for the next request; the properties of this one
  /// (below) stay readable until the next call of feed().
  Request take();
  /// What the request just taken holds of the budget.
  BodyShare take_share() { return std::exchange(share_, BodyShare(bodies_)); }
  /// Lets go of a request that will not be read to its end. Nothing may be fed after it.
  void abandon();

  [[nodiscard]] Refusal refusal() const { return refusal_; }
  /// What is being read or was refused, from when its head was accepted until take() or abandon();
  /// nullptr otherwise. Of its body there is a part, or none.
  [[nodiscard]] const Request* request() const { return head_accepted_ ? &request_ : nullptr; }
  /// No byte of the next request was seen.
  [[nodiscard]] bool at_start() const { return phase_ == Phase::start; }
  [[nodiscard]] bool in_body() const { return phase_ == Phase::body; }
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] bool http_1_0() const { return minor_version_ == 0; }
  /// The largest number of bytes that can be left unconsumed while more are needed.
  [[nodiscard]] std::size_t unconsumed_bytes_max() const { return limits_.header_bytes_max + 512; }

 private:
  enum class Phase : std::uint8_t { start, head, body, complete, refused };

  /// Beast's callbacks, turned into a Request.
  class Parser final : public boost::beast::http::basic_parser<true> {
   public:
    explicit Parser(Request& request) : request_(request) {}
    [[nodiscard]] bool saw_chunk_header() const { return saw_chunk_header_; }
    [[nodiscard]] bool saw_last_chunk() const { return saw_last_chunk_; }
    void forget_chunk_header() { saw_chunk_header_ = false; }
    /// No byte of chunk data is due: a chunk header comes next.
    [[nodiscard]] bool between_chunks() const { return chunk_left_ == 0; }

   private:
    using Text = boost::beast::string_view;
    using Failure = boost::beast::error_code;
    void on_request_impl(boost::beast::http::verb verb, Text method, Text target, int version,
                         Failure& failure) override;
    void on_response_impl(int, Text, int, Failure&) override {}
    void on_field_impl(boost::beast::http::field id, Text name, Text value,
                       Failure& failure) override;
    void on_header_impl(Failure&) override { head_done_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, Failure& failure) override;
    std::size_t on_body_impl(Text body, Failure& failure) override;
    void on_chunk_header_impl(std::uint64_t size, Text extensions, Failure& failure) override;
    std::size_t on_chunk_body_impl(std::uint64_t remain, Text body, Failure& failure) override;
    void on_finish_impl(Failure&) override {}

    Request& request_;
    bool head_done_ = false;
    bool saw_chunk_header_ = false;
    bool saw_last_chunk_ = false;
    std::size_t extension_bytes_ = 0;
    std::uint64_t chunk_left_ = 0;
  };

  Progress refuse(Refusal refusal);
  Progress feed_phase(std::string_view bytes);
  Progress feed_head(std::string_view bytes);
  Progress feed_body(std::string_view bytes);
  Progress feed_parser(std::string_view bytes);

  const ServerLimits& limits_;
  BodyBudget& bodies_;
  BodyShare share_;  ///< for the body of request_
  Phase phase_ = Phase::start;
  bool head_accepted_ = false;
  bool keep_alive_ = true;
  bool expects_continue_ = false;
  int minor_version_ = 1;
  HeadScanner scanner_{};
  Refusal refusal_{};
  Request request_{};
  std::optional<Parser> parser_{};
};

}  // namespace hk::http
