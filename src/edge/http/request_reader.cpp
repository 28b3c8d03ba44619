#include "edge/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "base/ascii.h"

namespace hk::http {

namespace beast_http = boost::beast::http;

namespace {

constexpr std::size_t extension_bytes_max = 64;  ///< of all chunks of one request together
/// CR LF of the chunk before, 16 digits, the extensions, CR LF.
constexpr std::size_t chunk_line_bytes_max = 2 + 16 + extension_bytes_max + 2;
/// A length that was only announced buys no more memory than this.
constexpr std::uint64_t body_reserve_max = std::uint64_t{64} * 1024;

/// The shortest end of a chunked body. Beast 1.81 asserts that it sees at least these bytes when it
/// looks at a last chunk again, which a body that arrives byte by byte would violate.
constexpr std::size_t last_chunk_bytes_min = 5;

constexpr Refusal too_large{413, "the body is too large"};
constexpr Refusal bad_chunks{400, "the chunked body is malformed"};

HeadLimits head_limits(const ServerLimits& limits) {
  return {limits.header_bytes_max, limits.line_bytes_max, limits.fields_max};
}

}  // namespace

void RequestReader::Parser::on_request_impl(beast_http::verb, Text method, Text target, int,
                                            Failure&) {
  request_.method.assign(method.data(), method.size());
  request_.target.assign(target.data(), target.size());
}

void RequestReader::Parser::on_field_impl(beast_http::field, Text name, Text value, Failure&) {
  if (head_done_) return;  // a trailer: nobody may mistake it for a header
  request_.fields.push_back(
      net::Field{std::string(name.data(), name.size()), std::string(value.data(), value.size())});
}

void RequestReader::Parser::on_body_init_impl(const boost::optional<std::uint64_t>& length,
                                              Failure&) {
  if (length) request_.body.reserve(std::min(*length, body_reserve_max));
}

std::size_t RequestReader::Parser::on_body_impl(Text body, Failure&) {
  request_.body.append(body.data(), body.size());
  return body.size();
}

void RequestReader::Parser::on_chunk_header_impl(std::uint64_t size, Text extensions,
                                                 Failure& failure) {
  saw_chunk_header_ = true;
  saw_last_chunk_ = size == 0;
  chunk_left_ = size;
  extension_bytes_ += extensions.size();
  // Beast takes any byte in quotes. At a bare LF others end the line, and read what follows as
  // data.
  const bool control = !std::ranges::all_of(extensions, is_value_char);
  if (control || extension_bytes_ > extension_bytes_max) {
    failure = beast_http::error::bad_chunk_extension;
  }
}

std::size_t RequestReader::Parser::on_chunk_body_impl(std::uint64_t remain, Text body, Failure&) {
  request_.body.append(body.data(), body.size());
  chunk_left_ = remain - body.size();
  return body.size();
}

RequestReader::Progress RequestReader::refuse(Refusal refusal) {
  refusal_ = refusal;
  phase_ = Phase::refused;
  parser_.reset();
  std::string().swap(request_.body);
  share_.release();
  return {0, Step::refused};
}

void RequestReader::abandon() {
  phase_ = Phase::refused;
  head_accepted_ = false;
  parser_.reset();
  request_ = Request{};
  share_.release();
}

RequestReader::Progress RequestReader::feed(std::string_view bytes) {
  const Progress progress = feed_phase(bytes);
  return share_.grow_to(request_.body.size()) ? progress : refuse(no_room);
}

RequestReader::Progress RequestReader::feed_phase(std::string_view bytes) {
  switch (phase_) {
    case Phase::start:
      if (bytes.empty()) return {};
      phase_ = Phase::head;
      [[fallthrough]];
    case Phase::head: return feed_head(bytes);
    case Phase::body: return feed_body(bytes);
    case Phase::complete: return {0, Step::complete};
    case Phase::refused: return {0, Step::refused};
  }
  std::unreachable();
}

RequestReader::Progress RequestReader::feed_head(std::string_view bytes) {
  const HeadLimits limits = head_limits(limits_);
  switch (scanner_.scan(bytes, limits)) {
    case HeadScanner::State::incomplete: return {};
    case HeadScanner::State::refused: return refuse(scanner_.refusal());
    case HeadScanner::State::complete: break;
  }
  const std::string_view block = bytes.substr(0, scanner_.size());
  const std::expected<Head, Refusal> head = check_head(block, limits);
  if (!head) return refuse(head.error());

  request_.fields.reserve(head->fields);
  Parser& parser = parser_.emplace(request_);
  parser.header_limit(static_cast<std::uint32_t>(block.size() + 1));
  parser.body_limit(boost::none);  // judged below, when it is known whose request it is
  boost::beast::error_code failure;
  const std::size_t consumed =
      parser.put(boost::asio::const_buffer(block.data(), block.size()), failure);
  // Two readings of the same bytes that differ are how requests are smuggled.
  const bool agree = !failure && consumed == block.size() && parser.chunked() == head->chunked &&
                     parser.content_length().has_value() == head->has_length &&
                     (!head->has_length || *parser.content_length() == head->content_length);
  if (!agree) return refuse({400, "the header block is malformed"});

  if (head->absolute_form) {
    request_.target.assign(head->target);
    if (!request_.target.starts_with('/')) request_.target.insert(0, 1, '/');
  }
  head_accepted_ = true;
  // Finding out whose request it is costs a walk through all routes: not for the common body.
  const bool depends = head->chunked || head->content_length > limits_.body_bytes_max;
  const std::size_t body_bytes_max = depends && limits_.body_bytes_max_of
                                         ? limits_.body_bytes_max_of(head->target)
                                         : limits_.body_bytes_max;
  if (head->content_length > body_bytes_max) return refuse(too_large);
  if (head->content_length != 0 && !bodies_.has_room_for(head->content_length)) {
    return refuse(no_room);
  }
  parser.body_limit(body_bytes_max);
  keep_alive_ = head->keep_alive;
  minor_version_ = head->minor_version;
  expects_continue_ = head->expects_continue;
  phase_ = parser.is_done() ? Phase::complete : Phase::body;
  return {consumed, parser.is_done() ? Step::complete : Step::head};
}

RequestReader::Progress RequestReader::feed_body(std::string_view bytes) {
  Progress total;
  while (total.consumed < bytes.size() && total.step == Step::need_more) {
    const Progress part = feed_parser(bytes.substr(total.consumed));
    total.consumed += part.consumed;
    total.step = part.step;
    if (part.consumed == 0) break;
  }
  const std::size_t left = bytes.size() - total.consumed;
  if (total.step == Step::need_more && left > limits_.header_bytes_max) return refuse(bad_chunks);
  return total;
}

RequestReader::Progress RequestReader::feed_parser(std::string_view bytes) {
  Parser& parser = *parser_;
  const bool chunk_header_next = parser.chunked() && parser.between_chunks();
  if (chunk_header_next && bytes.size() < last_chunk_bytes_min) return {};
  parser.forget_chunk_header();
  boost::beast::error_code failure;
  const std::size_t consumed =
      parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), failure);
  if (failure == beast_http::error::body_limit) return refuse(too_large);
  if (failure && failure != beast_http::error::need_more) return refuse(bad_chunks);
  if (parser.saw_chunk_header()) {  // not eager: this call took exactly one chunk header
    const std::size_t line_max =
        parser.saw_last_chunk() ? limits_.header_bytes_max : chunk_line_bytes_max;
    if (consumed > line_max) return refuse(bad_chunks);
  }
  if (!parser.is_done()) return {consumed, Step::need_more};
  phase_ = Phase::complete;
  return {consumed, Step::complete};
}

Request RequestReader::take() {
  parser_.reset();
  scanner_ = HeadScanner{};
  phase_ = Phase::start;
  head_accepted_ = false;
  request_.keep_alive = keep_alive_;
  return std::exchange(request_, Request{});
}

}  // namespace hk::http
