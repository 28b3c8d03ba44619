#include "delivery/response.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <chrono>
#include <cstring>

#include "base/ascii.h"
#include "delivery/headers.h"

namespace hk::delivery {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t buffer_bytes_min = 4096;
constexpr std::size_t chunk_extension_bytes_max = 64;
/// The shortest end of a chunked body. Beast 1.81 asserts that it sees this many bytes when it
/// looks at a last chunk again; one that arrives byte by byte must be held back until then.
constexpr std::size_t last_chunk_bytes_min = 5;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// ---- What the parser sees ----

ResponseReader::Parser::Parser(ResponseReader& owner, bool no_body) : owner_(owner) {
  eager(true);
  skip(no_body);
  header_limit(static_cast<std::uint32_t>(owner.limits_.header_bytes_max));
  body_limit(boost::none);  // the reader cuts the body itself and lets the status count
}

void ResponseReader::Parser::on_response_impl(int code, string_view, int version,
                                              ErrorCode& error) {
  if (code < 100) {  // no status at all: an answer has one, and 0 stands for none
    error = http::error::bad_status;
  }
  owner_.response_.status = code;
  version_ = version;
}

void ResponseReader::Parser::on_field_impl(http::field name, string_view name_text,
                                           string_view value, ErrorCode& error) {
  if (name == http::field::content_length) {
    if (has_length_ || has_encoding_) {
      error = http::error::multiple_content_length;
    }
    has_length_ = true;
  } else if (name == http::field::transfer_encoding) {
    // Beast takes other codings for "no body": the body would then be read as the next answer.
    if (has_encoding_ || has_length_ || version_ < 11 ||
        !equals_ignoring_case(view(value), "chunked")) {
      error = http::error::bad_transfer_encoding;
    }
    has_encoding_ = true;
  }
  owner_.keep_header(view(name_text), view(value));
}

void ResponseReader::Parser::on_header_impl(ErrorCode&) {}
void ResponseReader::Parser::on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) {}

std::size_t ResponseReader::Parser::on_body_impl(string_view body, ErrorCode&) {
  owner_.keep_body(view(body));
  return body.size();
}

void ResponseReader::Parser::on_chunk_header_impl(std::uint64_t size, string_view extensions,
                                                  ErrorCode& error) {
  chunk_left_ = size;
  // As for requests: a bare LF in quotes is where others would end the line.
  const bool control = !std::ranges::all_of(extensions, is_value_char);
  if (control || extensions.size() > chunk_extension_bytes_max) {
    error = http::error::bad_chunk_extension;
  }
}

std::size_t ResponseReader::Parser::on_chunk_body_impl(std::uint64_t remain, string_view body,
                                                       ErrorCode&) {
  chunk_left_ = remain - body.size();
  owner_.keep_body(view(body));
  return body.size();
}

void ResponseReader::Parser::on_finish_impl(ErrorCode&) {}

// ---- The reader ----

void ResponseReader::begin(bool no_body, bool keep_all) {
  begin(no_body, AnswerBounds{.kept = keep_all ? limits_.body_bytes_read : limits_.body_bytes_kept,
                              .read = limits_.body_bytes_read});
}

void ResponseReader::begin(bool no_body, const AnswerBounds& bounds) {
  no_body_ = no_body;
  bounds_ = bounds;
  begin_ = end_ = 0;
  header_bytes_ = header_bytes_kept_ = body_bytes_ = interim_ = 0;
  response_ = Response{};
  fault_ = "";
  parser_.emplace(*this, no_body);
}

std::span<char> ResponseReader::prepare() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    } else {
      buffer_.resize(std::max(buffer_bytes_min, buffer_.size() * 2));
    }
  }
  return {buffer_.data() + end_, buffer_.size() - end_};
}

ResponseReader::Progress ResponseReader::commit(std::size_t bytes) {
  end_ += bytes;
  return parser_ ? parse() : Progress::more;
}

ResponseReader::Progress ResponseReader::parse() {
  constexpr std::string_view start = "HTTP/1.";
  while (true) {
    const std::size_t available = end_ - begin_;
    if (!parser_->is_header_done() && response_.status == 0) {
      // A peer that speaks something else is found out at once, not at the deadline. Until there is
      // a status nothing of the first line is used: it begins what is there.
      const std::size_t compared = std::min(available, start.size());
      if (std::memcmp(buffer_.data() + begin_, start.data(), compared) != 0) {
        return refuse("the answer is not HTTP/1.x");
      }
    }

    if (parser_->is_between_chunks() && available < last_chunk_bytes_min) {
      return Progress::more;
    }

    const bool in_header = !parser_->is_header_done();
    ErrorCode error;
    const std::size_t used =
        parser_->put(boost::asio::const_buffer(buffer_.data() + begin_, available), error);
    begin_ += used;
    (in_header ? header_bytes_ : body_bytes_) += used;
    if (error && error != http::error::need_more) {
      return refuse(error == http::error::header_limit ? "the header of the answer is too large"
                                                       : "the answer is malformed");
    }

    if (parser_->is_done()) {
      const int status = response_.status;
      if (status >= 200) {
        return finish(parser_->keep_alive() && begin_ == end_);
      }
      if (status == 101 || ++interim_ > limits_.interim_max) {
        return refuse(status == 101 ? "the receiver switched protocols unasked"
                                    : "too many interim answers");
      }
      response_ = Response{};
      header_bytes_kept_ = 0;
      parser_.emplace(*this, no_body_);
      if (begin_ == end_) {
        return Progress::more;
      }
      continue;
    }
    if (!parser_->is_header_done()) {
      if (header_bytes_ + (end_ - begin_) > limits_.header_bytes_max) {
        return refuse("the header of the answer is too large");
      }
      return Progress::more;
    }
    if (body_bytes_ > bounds_.read) {
      return finish(false);
    }
    // What is left is the beginning of a chunk's size line.
    if (end_ - begin_ > limits_.header_bytes_max) {
      return refuse("the answer is malformed");
    }
    return Progress::more;
  }
}

ResponseReader::Progress ResponseReader::end() {
  if (!parser_ || !parser_->got_some() || !parser_->is_header_done()) {
    return refuse(has_bytes() || (parser_ && parser_->got_some())
                      ? "the connection was closed in the middle of the answer"
                      : "the connection was closed without an answer");
  }
  ErrorCode error;
  parser_->put_eof(error);
  if (error) {
    return refuse("the connection was closed in the middle of the answer");
  }
  return finish(false);
}

ResponseReader::Progress ResponseReader::finish(bool reusable) {
  response_.reusable = reusable;
  parser_.reset();
  return Progress::done;
}

ResponseReader::Progress ResponseReader::refuse(const char* why) {
  fault_ = why;
  parser_.reset();
  return Progress::malformed;
}

void ResponseReader::keep_header(std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "Upstash-NonRetryable-Error")) {
    response_.non_retryable = equals_ignoring_case(value, "true");
  } else if (name.size() >= 11 &&
             (name[0] == 'R' || name[0] == 'r' || name[0] == 'X' || name[0] == 'x')) {
    response_.retry_after.field(name, value,
                                std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  }
  header_bytes_kept_ += name.size() + value.size();
  if (header_bytes_kept_ > limits_.header_bytes_kept) {
    return;
  }
  core::Header kept{std::string(name), std::string(value)};
  std::ranges::replace_if(
      kept.value, [](char c) { return c != '\t' && (c < 0x20 || c > 0x7e); }, '?');
  response_.headers.push_back(std::move(kept));
}

void ResponseReader::keep_body(std::string_view bytes) {
  const std::size_t room = bounds_.kept - response_.body.size();
  response_.body.append(bytes.substr(0, room));
}

}  // namespace hk::delivery
