#include "outbox/relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "observe/trace.h"
#include "outbox/housekeeping.h"
#include "outbox/relay_broker.h"
#include "outbox/relay_database.h"
#include "outbox/relay_leases.h"
#include "outbox/relay_log.h"
#include "outbox/relay_outcomes.h"
#include "outbox/relay_source.h"
#include "outbox/rows_at_once.h"
#include "outbox/send/make_sender.h"
#include "outbox/sending.h"
#include "outbox/source/make_source.h"

namespace hk::outbox {
namespace {

using Clock = std::chrono::steady_clock;
using Phase = RelayMetrics::Phase;

constexpr Millis tell_every{1'000};
constexpr std::size_t locked_most = 10'000;  ///< somebody locks all that we claim: enough of it

class RunningRelay final : public Relay {
 public:
  RunningRelay(Settings settings, std::unique_ptr<Sender> sender, std::unique_ptr<Source> source,
               RelayMetrics& metrics, observe::SpanExporter* spans)
      : settings_(std::move(settings)),
        sender_(std::move(sender)),
        metrics_(metrics),
        log_(settings_, sender_->name(), spans),
        source_(std::move(source), log_),
        stop_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        database_(settings_),
        leases_(settings_, metrics_, log_),
        housekeeping_(settings_, metrics_, log_),
        claim_size_(settings_.batch),
        outcomes_(sending_, metrics_, log_),
        broker_(settings_, *sender_, metrics_, log_) {}

  ~RunningRelay() override {
    stop(Millis{0});
    ::close(stop_fd_);
  }

  void start() override {
    thread_ = std::thread([this] { run(); });
  }

  void stop(Millis drain) override {
    if (!thread_.joinable()) {
      return;
    }
    drain_.store(drain.count());
    ::eventfd_write(stop_fd_, 1);
    thread_.join();
  }

 private:
  void run();
  bool drained(Clock::time_point now);
  void take_sent();
  bool connect(Clock::time_point now);
  bool cope(const DatabaseError& error, std::string_view doing);
  template <class T>
  bool took(const DatabaseResult<T>& result, std::string_view doing) {
    return result.has_value() || cope(result.error(), doing);
  }

  // Each is false when the database was lost; the rest of the round is left out then.
  bool begin_writing();
  bool end_writing();
  bool write_outcomes();
  bool write_locked(Clock::time_point now);
  bool give_rows_back(Clock::time_point now);
  bool keep_leases(Clock::time_point now);
  bool take_over(Clock::time_point now);
  bool look(Clock::time_point now);

  [[nodiscard]] bool room() const;
  [[nodiscard]] Clock::time_point next_claim() const;
  bool claim_once(std::size_t count, std::size_t& claimed);
  bool nothing_more(std::size_t claimed, Clock::time_point now);
  void heed_outcomes();
  void attend_source(Clock::time_point now, bool readable);
  void tell_source(Clock::time_point now);
  void lose_source(Clock::time_point now);
  void wait();
  void give_back();

  const Settings settings_;
  std::unique_ptr<Sender> sender_;
  RelayMetrics& metrics_;
  RelayLog log_;
  RelaySource source_;
  const int stop_fd_;
  std::atomic<std::int64_t> drain_{0};
  std::thread thread_;

  // The relay's thread from here on.
  RelayDatabase database_;
  RelayLeases leases_;
  Housekeeping housekeeping_;
  RowsAtOnce claim_size_;
  SendingRows sending_;  ///< claimed and not yet written or given back
  RelayOutcomes outcomes_;
  RelayBroker broker_;
  /// A row that we hold may be to be claimed again (a crash of PostgreSQL took the claim away, a
  /// lease ran out). Outcomes are then written before the next claim, which finds them in the
  /// ledger and does not send again. Until none of those rows is held.
  bool careful_ = false;
  bool due_ = true;  ///< the table may have rows to claim
  std::size_t idle_looks_ = 0;
  std::optional<Clock::time_point> stop_at_;
  Clock::time_point next_look_{};
  Clock::time_point next_tell_{};
};

void RunningRelay::run() {
  log_.started();
  while (true) {
    take_sent();
    const Clock::time_point now = Clock::now();
    if (drained(now)) {
      break;
    }
    careful_ = careful_ && !sending_.empty();
    // Leases first: to touch rows that are being written would be to wait for them.
    if (connect(now) && keep_leases(now) && take_over(now) && write_locked(now) &&
        give_rows_back(now) && (careful_ ? write_outcomes() : begin_writing()) && look(now) &&
        end_writing()) {
      took(housekeeping_.run(database_.claims(), now, stop_at_.has_value()), "keeping house");
      metrics_.retained_wal(source_->retained_wal());
    }
    wait();
  }
  give_back();
  log_.stopped();
}

bool RunningRelay::drained(Clock::time_point now) {
  eventfd_t asked = 0;
  if (!stop_at_ && ::eventfd_read(stop_fd_, &asked) == 0) {
    stop_at_ = now + Millis{drain_.load()};
  }
  return stop_at_ && (sending_.empty() || now >= *stop_at_);
}

void RunningRelay::take_sent() {
  std::size_t not_begun = 0;
  const Clock::time_point now = Clock::now();
  for (Sent& sent : sender_->take_finished()) {
    const auto found = sending_.find(name_of(sent.claim));
    if (found == sending_.end()) {
      continue;
    }
    if (sent.begun) {
      metrics_.took(Phase::send, sent.outcome.took);
    }
    if (broker_.takes_back(sent, found->second, now)) {
      continue;
    }
    if (!sent.begun) {  // left to whoever has it now, or to its lease: there is nothing to write
      sending_.erase(found);
      ++not_begun;
      continue;
    }
    outcomes_.add({std::move(sent.claim), found->second.idempotency_key,
                   found->second.request_digest, std::move(sent.outcome), false,
                   found->second.in_ledger});
  }
  log_.not_begun(not_begun);
}

// ---- The database ----

bool RunningRelay::connect(Clock::time_point now) {
  if (database_.up()) {
    return true;
  }
  if (now < database_.next_try()) {
    return false;
  }
  std::string_view doing;
  if (const auto connected = database_.connect(doing); !took(connected, doing)) {
    return false;
  }
  // A claim whose answer never came may have been taken: nobody sends those rows, so nobody need
  // wait for their lease.
  if (const auto released = database_.claims().release_unknown(claims_of(sending_));
      !took(released, "claiming")) {
    return false;
  }
  database_.works();
  leases_.ask_at_once();
  due_ = true;
  metrics_.connected(true);
  log_.database_back();
  return true;
}

/// Whatever it was: the database is given up and tried again later, with everything looked at
/// anew. False, always.
bool RunningRelay::cope(const DatabaseError& error, std::string_view doing) {
  log_.database_away(error, doing);
  metrics_.connected(false);
  database_.lose();
  careful_ = true;
  outcomes_.lost();
  return false;
}

bool RunningRelay::begin_writing() {
  return took(outcomes_.begin(database_.outcomes()), "writing outcomes");
}

bool RunningRelay::end_writing() {
  const bool well = took(outcomes_.end(database_.outcomes()), "writing outcomes");
  heed_outcomes();
  return well;
}

bool RunningRelay::write_outcomes() {
  const bool well = took(outcomes_.write(database_.outcomes()), "writing outcomes");
  heed_outcomes();
  return well;
}

/// Those that could not be written because they were locked, now and then. The others do not wait.
bool RunningRelay::write_locked(Clock::time_point now) {
  const bool well = took(outcomes_.write_locked(database_.outcomes(), now), "writing outcomes");
  heed_outcomes();
  return well;
}

void RunningRelay::heed_outcomes() {
  const RelayOutcomes::News news = outcomes_.take_news();
  if (news.failed) {
    next_look_ = Clock::time_point{};  // its time may come before that of all others
  }
  if (news.written && settings_.table.strict_order) {
    due_ = true;  // whatever waited behind it
  }
}

/// Rows whose broker is away.
bool RunningRelay::give_rows_back(Clock::time_point now) {
  const auto given = broker_.give_back(database_.claims(), sending_, now);
  if (!took(given, "giving rows back")) {
    return false;
  }
  due_ = due_ || *given != 0;
  return true;
}

bool RunningRelay::keep_leases(Clock::time_point now) {
  const auto kept = leases_.keep(database_.claims(), sending_, now);
  if (!took(kept, "keeping leases")) {
    return false;
  }
  if (*kept) {
    sender_->look_at_leases();
  }
  return true;
}

bool RunningRelay::take_over(Clock::time_point now) {
  if (stop_at_) {
    return true;
  }
  const auto expired = leases_.take_over(database_.claims(), now);
  if (!took(expired, "taking over expired leases")) {
    return false;
  }
  careful_ = careful_ || *expired != 0;
  due_ = due_ || *expired != 0;
  return true;
}

// ---- Claiming ----

/// One batch is on the wire while the next is claimed; and no more is claimed than is written.
bool RunningRelay::room() const {
  const std::size_t ended = outcomes_.finished() + outcomes_.locked() + broker_.waiting();
  return sending_.size() - ended <= settings_.batch &&
         outcomes_.finished() <= settings_.batch * 2 && broker_.waiting() <= settings_.batch * 2 &&
         outcomes_.locked() <= locked_most;
}

bool RunningRelay::look(Clock::time_point now) {
  if (stop_at_) {
    return true;
  }
  // First, so that what is told of during the claim counts for the next one.
  due_ = source_->take_due() || now >= next_look_ || due_;
  while (due_ && room()) {
    const std::size_t asked = std::min(claim_size_.now(), broker_.claims(Clock::now()));
    if (asked == 0) {
      break;  // the broker is left in peace
    }
    std::size_t claimed = 0;
    if (!claim_once(asked, claimed)) {
      return false;
    }
    if (claimed < asked) {
      return nothing_more(claimed, now);
    }
    idle_looks_ = 0;
  }
  // While the backlog lasts, too: what is not yet claimed is in the table and will be looked for.
  if (now >= next_tell_) {
    tell_source(now);
  }
  return true;
}

void RunningRelay::tell_source(Clock::time_point now) {
  next_tell_ = now + tell_every;
  if (!source_.tell(now)) {
    lose_source(now);
  }
}

/// Until it is back the table is polled.
void RunningRelay::lose_source(Clock::time_point now) {
  next_look_ = std::min(next_look_, now + settings_.poll_interval);
}

bool RunningRelay::claim_once(std::size_t count, std::size_t& claimed) {
  const auto begin = Clock::now();
  auto rows = database_.claims().claim(count);
  if (!rows && rows.error().sqlstate.empty()) {
    claim_size_.failed();  // no answer came, or not all of it
  }
  if (!took(rows, "claiming")) {
    return false;
  }
  claim_size_.took(Clock::now() - begin);
  metrics_.took(Phase::claim, Clock::now() - begin);
  claimed = rows->size();
  metrics_.claimed(claimed);
  for (Claimed& one : *rows) {
    Row& row = one.row;
    Sending& sending = sending_[name_of(row.claim)];
    sending = {row.claim,
               row.idempotency_key,
               row.request_digest,
               log_.begin_span(row),
               begin,
               leases_.claimed(begin),
               "",
               row.in_ledger};
    row.lease = sending.lease;
    if (one.settled) {
      outcomes_.add({row.claim, row.idempotency_key, row.request_digest, std::move(*one.settled),
                     false, row.in_ledger});
    } else if (broker_.admit(row, begin)) {
      sending.target = row.target;
      sender_->send(std::move(row));
    }
  }
  return true;
}

bool RunningRelay::nothing_more(std::size_t claimed, Clock::time_point now) {
  due_ = false;
  idle_looks_ = claimed == 0 ? idle_looks_ + 1 : 0;
  tell_source(now);
  const auto next = database_.claims().next_due();
  if (!took(next, "looking for the next row")) {
    return false;
  }
  Millis pause = source_.up() ? source_->look_again_after(idle_looks_) : settings_.poll_interval;
  if (*next) {
    // Due and yet not claimed: another relay has it, or it waits for the one before it.
    pause = std::min(pause, **next > Millis{0} ? **next : settings_.poll_interval);
  }
  next_look_ = Clock::now() + pause;
  return true;
}

// ---- Now and then ----

void RunningRelay::attend_source(Clock::time_point now, bool readable) {
  due_ = source_.start(now) || due_;
  if (source_.up() && readable && !source_.read(now)) {
    lose_source(now);
  }
}

/// When there is something to claim and somebody to send it to.
Clock::time_point RunningRelay::next_claim() const {
  if (!due_) {
    return next_look_;
  }
  if (!room()) {
    return Clock::time_point::max();  // the sender wakes us
  }
  const Clock::time_point now = Clock::now();
  return broker_.claims(now) == 0 ? broker_.next_claims(now) : Clock::time_point{};
}

void RunningRelay::wait() {
  std::array<pollfd, 3> fds = {pollfd{sender_->ready_fd(), POLLIN, 0},
                               pollfd{source_.fd(), POLLIN, 0},
                               pollfd{stop_at_ ? -1 : stop_fd_, POLLIN, 0}};
  Clock::time_point until = source_.next_try();
  if (!database_.up()) {
    until = std::min(until, database_.next_try());
  } else {
    until = std::min({until, leases_.next_heartbeat(), housekeeping_.next(stop_at_.has_value())});
    if (!stop_at_) {
      until = std::min({until, leases_.next_take_over(), next_claim()});
    }
    if (outcomes_.locked() != 0) {
      until = std::min(until, outcomes_.next_locked());
    }
    if (broker_.waiting() != 0) {
      until = std::min(until, broker_.next_give_back());
    }
  }
  if (stop_at_) {
    until = std::min(until, *stop_at_);
  }
  if (database_.up() && outcomes_.finished() != 0) {
    until = Clock::time_point{};
  }
  const auto left = std::chrono::ceil<Millis>(until - Clock::now()).count();
  ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
  attend_source(Clock::now(), fds[1].revents != 0);
}

// ---- The end ----

/// What was cut off may have arrived: it is sent again, at once rather than when its lease is over.
void RunningRelay::give_back() {
  if (sending_.empty()) {
    return;
  }
  take_sent();
  sender_.reset();  // first, so that nothing arrives that was already given back
  const std::size_t cut =
      sending_.size() - outcomes_.finished() - outcomes_.locked() - broker_.waiting();
  database_.try_now();
  outcomes_.try_locked_now();
  if (connect(Clock::now()) && write_outcomes() && write_locked(Clock::now())) {
    for (const Finished& row : outcomes_.locked_rows()) {  // nobody is to send them at once
      sending_.erase(name_of(row.claim));
    }
    if (const auto released = database_.claims().release(claims_of(sending_)); !released) {
      cope(released.error(), "giving rows back");
    }
  }
  log_.cut_off(cut);
}

}  // namespace

Result<std::unique_ptr<Relay>> Relay::make(const Settings& settings, RelayMetrics& metrics,
                                           observe::SpanExporter* spans,
                                           const MakeCarrier& own_server) {
  Settings own = settings;
  own.worker_name = unique_worker_name(settings.worker_name);
  static const std::unique_ptr<observe::SpanExporter> nowhere = observe::make_null_exporter();
  auto sender = make_sender(own, spans != nullptr ? *spans : *nowhere, own_server);
  if (!sender) {
    return std::unexpected(sender.error());
  }
  auto source = make_source(own);
  if (!source) {
    return std::unexpected(source.error());
  }
  return std::make_unique<RunningRelay>(std::move(own), std::move(*sender), std::move(*source),
                                        metrics, spans);
}

}  // namespace hk::outbox
