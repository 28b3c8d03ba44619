#include "outbox/send/request_sender.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/random.h"
#include "delivery/envelope/plain.h"
#include "observe/metrics.h"
#include "outbox/send/broker_fault.h"
#include "outbox/send/judge.h"
#include "security/credentials.h"

namespace hk::outbox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

Moment wall_now() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

std::string_view header_of(const Row& row, std::string_view name) {
  const auto found = std::ranges::find_if(row.headers, [name](const Header& header) {
    return equals_ignoring_case(header.name, name);
  });
  return found == row.headers.end() ? std::string_view() : std::string_view(found->value);
}

/// All zero: the row belongs to no trace.
core::Trace trace_of(const Row& row) {
  core::Trace trace;
  const auto parent = observe::parse_traceparent(
      row.traceparent.empty() ? header_of(row, "traceparent") : std::string_view(row.traceparent));
  if (parent) {
    trace.trace_id = parent->trace_id;
    trace.parent_span = parent->span_id;
    trace.flags = parent->flags;
    trace.state = header_of(row, "tracestate");
  }
  return trace;
}

void note_broker(Outcome& outcome, observe::AttemptResult result, bool fault) {
  if (fault) {
    outcome.ending = Ending::failed;
    outcome.broker = Broker::at_fault;
  } else if (result == observe::AttemptResult::delivered ||
             result == observe::AttemptResult::http_error) {
    outcome.broker = Broker::answered;
  }
}

class RequestSender final : public Sender, private delivery::AnswerTaker {
 public:
  RequestSender(std::unique_ptr<RequestBuilder> builder, std::size_t places, Millis timeout,
                observe::SpanExporter& spans, int ready_fd)
      : builder_(std::move(builder)),
        places_(places),
        timeout_(timeout),
        spans_(spans),
        ready_fd_(ready_fd),
        random_(security::random_seed()),
        work_(io_.get_executor()) {}

  ~RequestSender() override {
    io_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    carrier_.reset();
    ::close(ready_fd_);
  }

  Result<void> start(const MakeCarrier& make_carrier);

  [[nodiscard]] std::string_view name() const override { return builder_->name(); }
  [[nodiscard]] std::string broker() const override { return builder_->broker(); }
  [[nodiscard]] std::string target_of(const Row& row) const override {
    return builder_->target_of(row);
  }
  void send(Row row) override;
  void recall(const std::string& target) override;
  void look_at_leases() override;
  [[nodiscard]] int ready_fd() const override { return ready_fd_; }
  std::vector<Sent> take_finished() override;
  [[nodiscard]] std::size_t in_flight() const override {
    return in_flight_.load(std::memory_order_relaxed);
  }

 private:
  // On the I/O thread.
  void take_incoming();
  void give_back(const std::string& target);
  void start_waiting();
  bool may_begin(Row& row);
  void begin(Row row, Moment now, std::vector<delivery::Request>& requests);
  void take(const delivery::Request& request, delivery::Answer answer) override;
  void record_span(const delivery::Request& request, const Sent& sent);
  void finish(Sent sent);
  void hand_over();

  // Constant after construction.
  const std::unique_ptr<RequestBuilder> builder_;
  const std::size_t places_;  ///< as many as the carrier has: in it nothing waits
  const Millis timeout_;
  observe::SpanExporter& spans_;
  const int ready_fd_;

  std::mutex mutex_;
  std::vector<Row> incoming_;   ///< guarded; as many as the relay has claimed at most
  std::vector<Sent> finished_;  ///< guarded; ready_fd_ is readable while it is not empty

  std::atomic<std::size_t> in_flight_{0};  ///< changed by the relay's thread alone

  // The I/O thread's.
  SeededRng random_;
  std::uint64_t last_number_ = 0;
  std::deque<Row> waiting_;    ///< for a place
  std::vector<Row> in_doubt_;  ///< whose turn has come; for a heartbeat
  std::unordered_map<std::uint64_t, Claim> running_;
  std::vector<Sent> ended_;  ///< on their way to finished_

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  delivery::PlainEnvelope envelope_{"Hikyaku-Outbox/0.1"};
  std::unique_ptr<Carrier> carrier_;
  std::thread thread_;
};

Result<void> RequestSender::start(const MakeCarrier& make_carrier) {
  auto made = make_carrier(&io_, *this);
  if (!made) {
    return std::unexpected(made.error());
  }
  carrier_ = *std::move(made);
  thread_ = std::thread([this] { io_.run(); });
  return {};
}

// ---- The relay's thread ----

void RequestSender::send(Row row) {
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = incoming_.empty();
    incoming_.push_back(std::move(row));
  }
  if (first) {  // whoever found it empty wakes the other side; the rest of the batch goes along
    asio::post(io_, [this] { take_incoming(); });
  }
}

void RequestSender::recall(const std::string& target) {
  asio::post(io_, [this, target] { give_back(target); });
}

void RequestSender::look_at_leases() {
  asio::post(io_, [this] {
    waiting_.insert(waiting_.begin(), std::move_iterator(in_doubt_.begin()),
                    std::move_iterator(in_doubt_.end()));
    in_doubt_.clear();
    start_waiting();
  });
}

std::vector<Sent> RequestSender::take_finished() {
  std::vector<Sent> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(finished_);
    if (!taken.empty()) {
      eventfd_t count = 0;
      ::eventfd_read(ready_fd_, &count);
    }
  }
  in_flight_.fetch_sub(taken.size(), std::memory_order_relaxed);
  return taken;
}

// ---- The I/O thread ----

void RequestSender::take_incoming() {
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(incoming_, std::back_inserter(waiting_));
    incoming_.clear();
  }
  start_waiting();
}

/// What is still on its way here was sent after the recall, knowing of the pause.
void RequestSender::give_back(const std::string& target) {
  const auto take = [&](auto& rows) {
    std::erase_if(rows, [&](Row& row) {
      if (row.target != target) {
        return false;
      }
      finish({.claim = std::move(row.claim), .outcome = {}, .begun = false, .recalled = true});
      return true;
    });
  };
  take(waiting_);
  take(in_doubt_);
}

void RequestSender::start_waiting() {
  const Moment now = wall_now();
  std::vector<delivery::Request> requests;
  while (!waiting_.empty() && running_.size() < places_) {
    Row row = std::move(waiting_.front());
    waiting_.pop_front();
    if (may_begin(row)) {
      begin(std::move(row), now, requests);
    }
  }
  if (!requests.empty()) {
    carrier_->start(std::move(requests));
  }
}

/// Asked for each row at the last moment: the process may have been paused at any. If not, the row
/// is taken from here.
bool RequestSender::may_begin(Row& row) {
  if (row.lease == nullptr) {
    return true;
  }
  switch (row.lease->at(Clock::now())) {
    case Lease::State::ours: return true;
    case Lease::State::in_doubt: in_doubt_.push_back(std::move(row)); return false;
    case Lease::State::lost:
      finish({.claim = std::move(row.claim), .outcome = {}, .begun = false});
      return false;
  }
  std::unreachable();
}

void RequestSender::begin(Row row, Moment now, std::vector<delivery::Request>& requests) {
  Claim claim = row.claim;
  core::Trace trace = trace_of(row);
  Built built = builder_->build(std::move(row), now);
  if (!built) {
    finish({std::move(claim), std::move(built).error()});
    return;
  }
  auto message = std::make_shared<core::Message>(*std::move(built));
  message->trace = std::move(trace);
  delivery::Request& request = requests.emplace_back();
  request.envelope = &envelope_;
  request.id = {core::Seq{++last_number_}, 0};
  request.started_at = now;
  request.timeout = timeout_;
  const std::uint64_t span = random_.next() | 1U;  // never all zero
  std::memcpy(request.span_id.data(), &span, request.span_id.size());
  request.message = std::move(message);
  running_.emplace(last_number_, std::move(claim));
}

void RequestSender::take(const delivery::Request& request, delivery::Answer answer) {
  const auto found = running_.find(request.id.seq.value());
  HK_ASSERT(found != running_.end());
  const observe::AttemptResult result = answer.result;
  const bool fault = is_broker_fault(builder_->faults(), answer);
  Sent sent{std::move(found->second), judge(std::move(answer))};
  note_broker(sent.outcome, result, fault);
  running_.erase(found);
  record_span(request, sent);
  finish(std::move(sent));
}

void RequestSender::record_span(const delivery::Request& request, const Sent& sent) {
  const core::Trace& trace = request.message->trace;
  if (trace.trace_id == std::array<std::uint8_t, 16>{} || (trace.flags & 1U) == 0) {
    return;
  }
  observe::Span span;
  span.trace_id = trace.trace_id;
  span.span_id = request.span_id;
  span.parent_span_id = trace.parent_span;
  span.name = "broker.send";
  span.start_ms = to_ms(request.started_at);
  span.end_ms = to_ms(request.started_at + sent.outcome.took);
  span.error = sent.outcome.ending != Ending::succeeded;
  span.error_text = sent.outcome.message;
  span.attributes.emplace_back("outbox.adapter", name());
  span.attributes.emplace_back("outbox.id", std::to_string(sent.claim.id));
  span.attributes.emplace_back("outbox.attempts", std::to_string(sent.claim.attempts));
  if (span.error) {
    span.attributes.emplace_back("outbox.reason_code", sent.outcome.reason_code);
  }
  spans_.record(std::move(span));
}

void RequestSender::finish(Sent sent) {
  ended_.push_back(std::move(sent));
  if (ended_.size() == 1) {
    asio::post(io_, [this] { hand_over(); });
  }
}

void RequestSender::hand_over() {
  {
    const std::lock_guard lock(mutex_);
    const bool first = finished_.empty();
    if (first) {
      finished_.swap(ended_);
    } else {
      std::ranges::move(ended_, std::back_inserter(finished_));
      ended_.clear();
    }
    if (first) {
      ::eventfd_write(ready_fd_, 1);
    }
  }
  start_waiting();  // places are free
}

}  // namespace

Result<std::unique_ptr<Sender>> make_request_sender(std::unique_ptr<RequestBuilder> builder,
                                                    const MakeCarrier& make_carrier,
                                                    std::size_t places, Millis timeout,
                                                    observe::SpanExporter& spans) {
  const int ready = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (ready < 0) {
    return fail(ErrorKind::unavailable,
                "no descriptor for the sender: " + std::system_category().message(errno));
  }
  auto sender = std::make_unique<RequestSender>(std::move(builder), places, timeout, spans, ready);
  if (const auto started = sender->start(make_carrier); !started) {
    return std::unexpected(started.error());
  }
  return sender;
}

}  // namespace hk::outbox
