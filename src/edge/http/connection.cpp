#include "edge/http/connection.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "edge/http/served_connection.h"
#include "observe/line_limit.h"
#include "observe/log.h"

namespace hk::http {

namespace {

using std::chrono::milliseconds;

/// Responses that the peer does not take are bounded by this: then reading pauses.
constexpr std::size_t unsent_bytes_max = std::size_t{256} * 1024;
/// What an idle connection may keep for the next response.
constexpr std::size_t kept_output_bytes = std::size_t{4} * 1024;
/// After the last response the peer gets this long to read it and to close.
constexpr milliseconds linger_time{2'000};

/// A request that is not well-formed is a broken client, or somebody who looks for a way in.
void log_refused(const std::string& peer, const Refusal& refusal) {
  thread_local observe::LineLimit limit(observe::refused_lines_per_second);
  const auto left_out = limit.take(std::chrono::steady_clock::now());
  if (!left_out) return;
  observe::log(observe::Level::warn, "http.refused",
               {{"peer", peer},
                {"status", refusal.status},
                {"reason", refusal.reason},
                {"left_out", *left_out}});
}

}  // namespace

template <class Stream>
void Connection<Stream>::start() {
  self_ = this->shared_from_this();
  loop_.connection_made();
  loop_.counters().connections_open.add();
  loop_.counters().connections_total.add();
  phase_since_ = Clock::now();
  if constexpr (Stream::has_handshake) {
    phase_ = Phase::handshake;
    loop_.wheel().schedule(*this, next_deadline());
    ++operations_;
    stream_->async_handshake([this](const Failure& failure) {
      if (!closed_ && failure) close();
      if (!closed_) {
        phase_ = Phase::idle;
        phase_since_ = Clock::now();
        settle();
      }
      finish_operation();
    });
  } else {
    settle();
  }
}

template <class Stream>
void Connection<Stream>::read() {
  reading_ = true;
  ++operations_;
  if constexpr (Stream::lends_room) {
    input_.keep();
    if (input_.empty()) {
      input_.release();
      const std::size_t size = input_.lent_size(reader_.in_body());
      stream_->async_read_to_room(size, [this, size](const Failure& failure, std::size_t bytes) {
        reading_ = false;
        if (!closed_) {
          input_.lend(stream_->room(), bytes, size);
          on_read(failure, bytes);
        }
        if (!closed_) input_.keep();
        finish_operation();
      });
      return;
    }
  } else if (reader_.at_start() && input_.empty()) {
    input_.shrink();
  }
  input_.make_room(reader_.in_body(), reader_.unconsumed_bytes_max());
  stream_->async_read_some(input_.free_data(), input_.free_size(),
                           [this](const Failure& failure, std::size_t bytes) {
                             reading_ = false;
                             if (!closed_) {
                               input_.add(bytes);
                               on_read(failure, bytes);
                             }
                             finish_operation();
                           });
}

template <class Stream>
void Connection<Stream>::on_read(const Failure& failure, std::size_t bytes) {
  if (failure && failure != boost::asio::error::eof) return close();
  if (phase_ == Phase::linger) {
    if (failure) return close();
    input_.clear();  // nobody wants it
    return read();
  }
  if (failure) {
    input_ended_ = true;  // the peer may still read what is owed to it
    peer_ended_ = true;
    for (auto& told : pipeline_.take_watchers()) told();
  } else if (input_ended_) {
    input_.clear();  // behind the last request; read only to see the peer leave
  } else {
    body_received_ += bytes;
    process();
  }
  settle();
}

/// Reads as many requests as there are and may be.
template <class Stream>
void Connection<Stream>::process() {
  processing_ = true;
  while (!closed_ && !input_ended_ && !input_.empty() && may_start_request()) {
    const RequestReader::Progress progress = reader_.feed(input_.view());
    input_.consume(progress.consumed);
    if (progress.step == RequestReader::Step::need_more) break;
    switch (progress.step) {
      case RequestReader::Step::need_more: break;
      case RequestReader::Step::head: continue_owed_ = reader_.expects_continue(); break;
      case RequestReader::Step::complete: dispatch(); break;
      case RequestReader::Step::refused: refuse(reader_.refusal()); break;
    }
  }
  if (!input_.empty()) continue_owed_ = false;  // the body comes without being asked for
  processing_ = false;
}

template <class Stream>
bool Connection<Stream>::may_start_request() const {
  if (!reader_.at_start()) return true;
  return pipeline_.waiting() < core_.limits.pipelined_max && !pipeline_.ended() &&
         out_.size() + (sending_.size() - sent_) < unsent_bytes_max;
}

template <class Stream>
void Connection<Stream>::dispatch() {
  Request request = reader_.take();
  ++requests_;
  continue_owed_ = false;
  loop_.counters().requests_total.add();
  const std::size_t requests_max = core_.limits.requests_per_connection_max;
  if (loop_.draining() || (requests_max != 0 && requests_ >= requests_max)) {
    request.keep_alive = false;
  }
  if (!request.keep_alive) input_ended_ = true;
  const std::uint64_t slot =
      pipeline_.open({.head_only = request.method == "HEAD",
                      .close = !request.keep_alive,
                      .says_keep_alive = reader_.http_1_0() && request.keep_alive},
                     reader_.take_share());
  request.peer = peer_.address;
  request.secure = Stream::has_handshake;
  Responder responder(this->shared_from_this(), slot);
  try {
    core_.handler(std::move(request), std::move(responder), loop_);
  } catch (...) {
    // A handler must not throw. If one does, its responder was dropped, which answers with a 500:
    // the other connections of this thread are not to suffer.
  }
}

/// In the words of whom the request is for, as soon as it is known.
template <class Stream>
Response Connection<Stream>::answer_to(const Refusal& refusal) const {
  const Request* const request = reader_.request();
  return request != nullptr && core_.write_refusal
             ? core_.write_refusal(*request, refusal.status, refusal.reason)
             : error_response(refusal.status, refusal.reason);
}

/// Answers in its turn and ends: behind a request that was not read whole there is no next one.
template <class Stream>
void Connection<Stream>::refuse(Refusal refusal) {
  input_ended_ = true;
  continue_owed_ = false;
  Response response = answer_to(refusal);
  if (refusal == no_room) {
    loop_.counters().bodies_refused.add();
    response.fields.push_back({"Retry-After", "1"});
  } else {
    loop_.counters().requests_malformed.add();
    log_refused(peer_.address, refusal);
  }
  pipeline_.answer(pipeline_.open({.close = true}), response, loop_.common_lines(), out_);
}

template <class Stream>
void Connection<Stream>::respond(std::uint64_t slot, Response response) {
  if (closed_.load(std::memory_order_acquire)) return;
  if (!loop_.on_thread()) {
    loop_.post([self = this->shared_from_this(), slot, answer = std::move(response)]() mutable {
      self->respond(slot, std::move(answer));
    });
    return;
  }
  if (loop_.draining() && pipeline_.waiting() == 1 && reader_.at_start() && input_.empty()) {
    pipeline_.close_after_next();
  }
  pipeline_.answer(slot, response, loop_.common_lines(), out_);
  if (processing_) return;  // process() is on the stack; what follows it flushes
  if (pipeline_.waiting() == 0 || pipeline_.ended()) {
    process();
    settle();
  } else {
    flush_soon();  // more answers of this connection may be ready now: one write for all
  }
}

template <class Stream>
void Connection<Stream>::watch(std::uint64_t slot, std::move_only_function<void()> told) {
  HK_ASSERT(loop_.on_thread());
  if (closed_ || peer_ended_) {
    loop_.post(std::move(told));  // not now: who watches is still on the stack
    return;
  }
  pipeline_.watch(slot, std::move(told));
  if (!processing_) settle();
}

template <class Stream>
void Connection<Stream>::flush_soon() {
  if (flush_queued_) return;
  flush_queued_ = true;
  ++operations_;
  loop_.post([this] {
    flush_queued_ = false;
    if (!closed_) {
      process();
      settle();
    }
    finish_operation();
  });
}

template <class Stream>
void Connection<Stream>::flush() {
  while (!closed_ && !writing_ && !all_sent()) {
    if (sent_ == sending_.size()) {
      sending_.clear();
      sending_.swap(out_);
      sent_ = 0;
    }
    Failure failure;
    const std::size_t bytes =
        stream_->write_some(sending_.data() + sent_, sending_.size() - sent_, failure);
    if (failure == boost::asio::error::would_block) return wait_writable();
    if (failure) return close();
    sent_ += bytes;
    sent_total_ += bytes;
  }
}

template <class Stream>
void Connection<Stream>::wait_writable() {
  writing_ = true;
  if (write_deadline_ == Clock::time_point{}) {
    write_deadline_ = Clock::now() + core_.limits.write_deadline;
    write_mark_ = sent_total_;
  }
  ++operations_;
  stream_->async_wait_writable([this](const Failure& failure) {
    writing_ = false;
    if (!closed_ && failure) close();
    if (!closed_) {
      flush();
      process();
      settle();
    }
    finish_operation();
  });
}

template <class Stream>
void Connection<Stream>::send_continue_if_owed() {
  if (!continue_owed_ || pipeline_.waiting() != 0 || input_ended_) return;
  continue_owed_ = false;
  out_.append("HTTP/1.1 100 Continue\r\n\r\n");
}

/// What follows from the state after any event: write, end, read on, and set the deadline.
template <class Stream>
void Connection<Stream>::settle() {
  if (closed_ || phase_ == Phase::linger) return;
  send_continue_if_owed();
  flush();
  // Sending may have made room for requests that are here already.
  while (!closed_ && !input_ended_ && reader_.at_start() && !input_.empty() &&
         may_start_request()) {
    process();
    flush();
  }
  if (closed_) return;
  if (all_sent()) {
    pipeline_.sent();
    write_deadline_ = {};
    sending_.clear();
    sent_ = 0;
    if (sending_.capacity() > kept_output_bytes) std::string().swap(sending_);
    if (out_.capacity() > kept_output_bytes) std::string().swap(out_);
    if (is_over()) return begin_linger();
  }
  enter_phase();
  const bool wants_input = input_ended_ ? pipeline_.watched() : may_start_request();
  if (!reading_ && !peer_ended_ && wants_input) read();
  loop_.wheel().schedule(*this, next_deadline());
}

template <class Stream>
bool Connection<Stream>::is_over() const {
  if (pipeline_.ended()) return true;
  if (pipeline_.waiting() != 0) return false;
  return input_ended_ || (loop_.draining() && reader_.at_start() && input_.empty());
}

template <class Stream>
typename Connection<Stream>::Phase Connection<Stream>::current_phase() const {
  if (continue_owed_) return Phase::busy;  // it waits for our word, which waits for other answers
  if (!input_ended_ && reader_.in_body()) return Phase::body;
  if (!input_ended_ && !reader_.at_start()) return Phase::head;
  return pipeline_.waiting() != 0 || !all_sent() || input_ended_ ? Phase::busy : Phase::idle;
}

template <class Stream>
void Connection<Stream>::enter_phase() {
  const Phase phase = current_phase();
  if (phase == phase_ && requests_ == phase_request_) return;
  phase_ = phase;
  phase_request_ = requests_;
  phase_since_ = Clock::now();
  body_received_ = 0;
}

template <class Stream>
Clock::time_point Connection<Stream>::body_deadline() const {
  const auto earned = milliseconds(static_cast<milliseconds::rep>(
      body_received_ * 1000 / std::max<std::size_t>(1, core_.limits.body_rate_min)));
  return phase_since_ + core_.limits.body_grace + earned;
}

template <class Stream>
Clock::time_point Connection<Stream>::next_deadline() const {
  const ServerLimits& limits = core_.limits;
  Clock::time_point due = Clock::time_point::max();
  switch (phase_) {
    case Phase::handshake: due = phase_since_ + limits.handshake_deadline; break;
    case Phase::idle: due = phase_since_ + limits.idle_deadline; break;
    case Phase::head: due = phase_since_ + limits.header_deadline; break;
    case Phase::body: due = body_deadline(); break;
    case Phase::busy: break;  // it is the handler's turn
    case Phase::linger: due = phase_since_ + linger_time; break;
  }
  if (write_deadline_ != Clock::time_point{}) due = std::min(due, write_deadline_);
  return due;
}

template <class Stream>
void Connection<Stream>::on_deadline(Clock::time_point now) {
  if (closed_) return;
  if (write_deadline_ != Clock::time_point{} && now >= write_deadline_) {
    // A trickle is a stall too: the same rate is asked of a peer that reads as of one that writes.
    const auto span = static_cast<std::uint64_t>(core_.limits.write_deadline.count());
    const std::uint64_t wanted =
        std::max<std::uint64_t>(1, core_.limits.body_rate_min * span / 1000);
    if (sent_total_ - write_mark_ < wanted) {
      loop_.counters().timeouts_total.add();
      return close();
    }
    write_mark_ = sent_total_;
    write_deadline_ = now + core_.limits.write_deadline;
  }
  if (now >= next_deadline()) return time_out();
  loop_.wheel().schedule(*this, next_deadline());
}

template <class Stream>
void Connection<Stream>::time_out() {
  if (phase_ != Phase::linger) loop_.counters().timeouts_total.add();
  if (phase_ != Phase::head && phase_ != Phase::body) return close();
  input_ended_ = true;
  continue_owed_ = false;
  const std::uint64_t slot = pipeline_.open({.close = true});
  pipeline_.answer(slot, answer_to({408, "the request did not arrive in time"}),
                   loop_.common_lines(), out_);
  settle();
}

template <class Stream>
void Connection<Stream>::drain() {
  switch (phase_) {
    case Phase::handshake:
    case Phase::idle: return close();
    case Phase::linger: return loop_.wheel().schedule(*this, next_deadline());
    case Phase::head:
    case Phase::body:
    case Phase::busy: return settle();
  }
}

/// Closing at once would reset the connection if unread bytes are left, and the peer might lose the
/// response: so the sending half closes first, and what still comes is read and thrown away.
template <class Stream>
void Connection<Stream>::begin_linger() {
  phase_ = Phase::linger;
  phase_since_ = Clock::now();
  input_ended_ = true;
  reader_.abandon();
  stream_->shutdown_send();
  input_.clear();
  if (!reading_) read();
  loop_.wheel().cancel(*this);
  loop_.wheel().schedule(*this, next_deadline());
}

template <class Stream>
void Connection<Stream>::close() {
  if (closed_) return;
  closed_.store(true, std::memory_order_release);
  stream_->close();
  loop_.wheel().cancel(*this);
  loop_.counters().connections_open.subtract();
  core_.caps.release(peer_.key);
  // Now: a responder may keep this object until after the server, and its budget of bodies, is
  // gone.
  reader_.abandon();
  Pipeline left = std::exchange(pipeline_, Pipeline{});
  for (auto& told : left.take_watchers()) told();
  // finish_operation() lets go of stream and self; if nothing is pending it must be called later,
  // when no member function is on the stack.
  if (operations_ == 0) {
    ++operations_;
    loop_.post([this] { finish_operation(); });
  }
}

template <class Stream>
void Connection<Stream>::finish_operation() {
  if (--operations_ != 0 || !closed_) return;
  stream_.reset();
  input_.release();
  std::string().swap(sending_);  // a responder may keep this object
  std::string().swap(out_);
  loop_.connection_gone();
  self_.reset();  // the last line that may touch this
}

void serve_connection(IoLoop& loop, ServerCore& core, Socket socket, Peer peer) {
  const PeerKey key = peer.key;
  try {
    if (core.tls == nullptr) {
      std::make_shared<Connection<PlainStream>>(loop, core, std::move(peer), loop.sockets(),
                                                std::move(socket))
          ->start();
      return;
    }
    if (net::SslPtr ssl = core.tls->new_connection()) {
      std::make_shared<Connection<TlsStream>>(loop, core, std::move(peer), loop.sockets(),
                                              std::move(socket), std::move(ssl))
          ->start();
      return;
    }
  } catch (const std::bad_alloc&) {
    // The socket was closed with the half-made connection.
  }
  core.caps.release(key);
}

}  // namespace hk::http
