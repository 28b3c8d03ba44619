#include "delivery/attempt.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "delivery/destination.h"
#include "delivery/envelope/envelope.h"
#include "delivery/request_head.h"

namespace hk::delivery {
namespace {

using observe::AttemptResult;

constexpr std::size_t addresses_tried_max = 4;
/// Up to here a body is copied behind the head, so that it leaves in one piece under TLS too.
constexpr std::size_t body_bytes_copied = std::size_t{16} * 1024;

}  // namespace

Attempt::Attempt(AttemptMeans& means, AttemptOwner& owner, Request request)
    : means_(means),
      owner_(owner),
      request_(std::move(request)),
      began_(Clock::now()),
      last_(began_) {
  HK_ASSERT(request_.message != nullptr && request_.envelope != nullptr);
}

Attempt::~Attempt() {
  if (connection_ != nullptr) {
    connection_->close();
  }
}

void Attempt::begin() {
  timeout_ = request_.timeout > Millis{0} ? request_.timeout : means_.options.timeout_default;
  if (request_.lease) {
    timeout_ = std::min(timeout_, *request_.lease);
    if (timeout_ <= Millis{0}) {
      end_failed(AttemptResult::timeout, "not sent: the lease had run out");
      return;
    }
  }
  last_ = began_ + timeout_;
  set_deadline(last_);

  auto url = parse_destination(request_.url());
  if (!url) {
    end_failed(AttemptResult::blocked, url.error().message);
    return;
  }
  url_ = *std::move(url);
  if (const auto written = check_written(url_, means_.options.egress); !written) {
    end_failed(AttemptResult::blocked, "blocked_by_policy: " + written.error().message);
    return;
  }
  if (auto known = means_.resolver.known(url_.host)) {
    go_to(*std::move(known));
    return;
  }
  owner_.look_up(*this, url_.host);
}

void Attempt::on_resolved(const Result<Addresses>& answers) {
  if (!answers) {
    if (answers.error().kind == ErrorKind::unavailable) {
      end_failed(AttemptResult::network_error, answers.error().message);
    } else {
      end_not_made(AttemptResult::network_error, answers.error().message);
    }
    return;
  }
  go_to(*answers);
}

void Attempt::go_to(Addresses answers) {
  if (judge_all(answers, url_.port, means_.options.egress) != Verdict::allowed) {
    end_failed(AttemptResult::blocked, "blocked_by_policy");
    return;
  }
  addresses_ = std::move(answers);
  for (const Address& address : addresses_) {
    if (auto kept = means_.pool.take(pool_key(request_.tenant, url_, address))) {
      send(std::move(kept));
      return;
    }
  }
  connect();
}

void Attempt::connect() {
  const Address& address = addresses_[next_address_++];
  connection_ = ConnectionPtr(new Connection(means_.sockets, means_.response_limits));
  connection_->pool_key = pool_key(request_.tenant, url_, address);
  ++means_.connections_opened;
  set_deadline(std::min(last_, Clock::now() + means_.options.connect_timeout));
  connection_->open(url_, address, means_.tls, means_.options.silent_max, *this);
}

void Attempt::on_open() {
  set_deadline(last_);
  send(std::move(connection_));
}

void Attempt::send(ConnectionPtr connection) {
  connection_ = std::move(connection);
  const core::Message& message = *request_.message;
  std::string& out = connection_->out_buffer();
  out.clear();
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (const auto built = append_request_head(out, request_, url_, now); !built) {
    std::string text = "not sent: " + built.error().message;
    if (built.error().kind == ErrorKind::unavailable) {
      end_not_made(AttemptResult::blocked, std::move(text));
    } else {
      end_failed(AttemptResult::blocked, std::move(text));
    }
    return;
  }
  const ResponseLimits& limits = means_.response_limits;
  const AnswerBounds bounds = request_.envelope->answer_bounds().value_or(
      AnswerBounds{.kept = request_.whole_answer ? limits.body_bytes_read : limits.body_bytes_kept,
                   .read = limits.body_bytes_read});
  std::string_view tail = message.body;
  if (tail.size() <= body_bytes_copied) {
    out.append(tail);
    tail = {};
  }
  connection_->send(tail, tail.empty() ? nullptr : request_.message, request_.method() == "HEAD",
                    bounds, *this);
}

void Attempt::on_long_answer() {
  if (!try_read_on()) {
    owner_.wait_for_seat(*this);
  }
}

bool Attempt::try_read_on() {
  seat_ = engine::TenantRoom::take(means_.answer_room, request_.tenant);
  if (seat_ == nullptr) {
    return false;
  }
  connection_->read_on();
  return true;
}

void Attempt::on_response() {
  Response response = std::move(connection_->response());
  Outcome outcome = request_.envelope->judge(request_, response);
  const auto now = Clock::now();
  means_.pool.give_back(std::move(connection_), now);
  const auto result = outcome.delivered ? AttemptResult::delivered : AttemptResult::http_error;
  end(result, std::move(outcome), std::move(response), now);
}

void Attempt::on_fault(Fault fault, std::string text) {
  connection_.reset();
  if (fault == Fault::not_pinned) {
    end_failed(AttemptResult::blocked, "blocked_by_policy");
    return;
  }
  if (fault == Fault::no_means) {
    end_not_made(AttemptResult::network_error, std::move(text));
    return;
  }
  // Nothing was sent, so another address of the same name is not a second delivery.
  if (fault == Fault::not_connected && next_address_ < addresses_.size() &&
      next_address_ < addresses_tried_max) {
    connect();
    return;
  }
  end_failed(AttemptResult::network_error, std::move(text));
}

void Attempt::set_deadline(Clock::time_point deadline) {
  deadline_ = deadline;
  means_.wheel.schedule(*this, deadline);
}

void Attempt::on_deadline(Clock::time_point now) {
  if (now < deadline_) {
    means_.wheel.schedule(*this, deadline_);
    return;
  }
  if (connection_ != nullptr) {
    connection_->close();
    connection_.reset();
  }
  if (now < last_) {  // only this address took too long
    on_fault(Fault::not_connected, "not connected: no answer within " +
                                       std::to_string(means_.options.connect_timeout.count()) +
                                       " ms");
    return;
  }
  end_failed(AttemptResult::timeout,
             "timeout: no complete answer within " + std::to_string(timeout_.count()) + " ms");
}

void Attempt::end_failed(AttemptResult result, std::string error) {
  end(result, Outcome{.error = request_.envelope->explained(std::move(error))}, {}, Clock::now());
}

void Attempt::end_not_made(AttemptResult result, std::string error) {
  not_made_ = true;
  end_failed(result, std::move(error));
}

void Attempt::end(AttemptResult result, Outcome outcome, Response response, Clock::time_point now) {
  owner_.on_end(*this, {.result = result,
                        .delivered = outcome.delivered,
                        .give_up = outcome.give_up,
                        .not_made = not_made_,
                        .retry_after = outcome.retry_after,
                        .error = std::move(outcome.error),
                        .status = response.status,
                        .headers = std::move(response.headers),
                        .body = std::move(response.body),
                        .took = now - began_,
                        .host = std::move(url_.host),
                        .seat = std::move(seat_)});
}

}  // namespace hk::delivery
