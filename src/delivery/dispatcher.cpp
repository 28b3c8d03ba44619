#include "delivery/dispatcher.h"

#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "delivery/attempt.h"
#include "delivery/connection_pool.h"
#include "delivery/tls.h"
#include "engine/tenant_room.h"
#include "net/poll_set.h"

namespace hk::delivery {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds wheel_tick{20};

class RunningDispatcher;

/// The way back to the I/O thread for those who may still call when the dispatcher is gone.
struct Door {
  std::mutex mutex;
  asio::io_context* io = nullptr;           ///< guarded; null once the dispatcher is gone
  RunningDispatcher* dispatcher = nullptr;  ///< touched on the I/O thread only

  template <class Work>
  static void post(const std::shared_ptr<Door>& door, Work work) {
    const std::lock_guard lock(door->mutex);
    if (door->io != nullptr) {
      asio::post(*door->io, [door, work = std::move(work)]() mutable {
        if (door->dispatcher != nullptr) {
          work(*door->dispatcher);
        }
      });
    }
  }
};

class RunningDispatcher final : public Dispatcher, public AttemptOwner {
 public:
  RunningDispatcher(DispatcherOptions options, asio::io_context& io, AnswerTaker& taker,
                    std::unique_ptr<TlsClient> tls)
      : options_(std::move(options)),
        tls_(std::move(tls)),
        taker_(taker),
        sockets_(io),
        pool_({options_.idle_max, options_.idle_per_destination_max, options_.idle_age_max}),
        wheel_(Clock::now(), wheel_tick),
        means_{.sockets = sockets_,
               .options = options_,
               .response_limits = {.header_bytes_kept = options_.response_header_bytes_kept,
                                   .body_bytes_kept = options_.response_bytes_kept,
                                   .body_bytes_read = options_.response_bytes_read},
               .resolver = *options_.resolver,
               .answer_room = options_.answer_room,
               .tls = *tls_,
               .pool = pool_,
               .wheel = wheel_},
        timer_(io.get_executor()),
        door_(std::make_shared<Door>()) {
    door_->io = &io;
    door_->dispatcher = this;
  }

  ~RunningDispatcher() override {
    const std::lock_guard lock(door_->mutex);
    door_->io = nullptr;
    door_->dispatcher = nullptr;
  }

  void start(std::vector<Request> requests) override;
  void stop(Clock::time_point deadline, std::move_only_function<void()> stopped) override;
  std::size_t in_flight() const override { return in_flight_.load(std::memory_order_relaxed); }
  std::size_t idle_connections() const override { return idle_.load(std::memory_order_relaxed); }
  std::uint64_t connections_opened() const override {
    return opened_.load(std::memory_order_relaxed);
  }

  void look_up(Attempt& attempt, const std::string& host) override;
  void wait_for_seat(Attempt& attempt) override { seekers_.push_back(&attempt); }
  void on_end(Attempt& attempt, Answer answer) override;

 private:
  void run(Request request);
  void run_waiting();
  void on_answer(std::uint64_t ticket, const Result<Addresses>& answers);
  void begin_stop(Clock::time_point deadline, std::move_only_function<void()> stopped);
  void finish_stop_if_due(Clock::time_point now);
  void arm();
  void on_tick();
  void publish_counts();

  const DispatcherOptions options_;
  const std::unique_ptr<TlsClient> tls_;
  AnswerTaker& taker_;
  net::PollSet sockets_;
  ConnectionPool pool_;
  DeadlineWheel wheel_;
  AttemptMeans means_;

  std::vector<std::unique_ptr<Attempt>> running_;  ///< Attempt::slot is the place
  std::deque<Request> waiting_;                    ///< for one of in_flight_max places
  bool starting_ = false;                          ///< run_waiting() is on the stack
  std::unordered_map<std::uint64_t, Attempt*> resolving_;
  std::uint64_t last_ticket_ = 0;
  std::vector<Attempt*> seekers_;  ///< for a seat in the answer room, first come first

  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>
      timer_;
  bool armed_ = false;
  Clock::time_point next_sweep_{};

  bool stopping_ = false;
  Clock::time_point stop_deadline_{};
  std::vector<std::move_only_function<void()>> stopped_;

  std::atomic<std::size_t> in_flight_{0};
  std::atomic<std::size_t> idle_{0};
  std::atomic<std::uint64_t> opened_{0};
  std::shared_ptr<Door> door_;  ///< second owners: look-ups and stops under way
};

void RunningDispatcher::start(std::vector<Request> requests) {
  if (stopping_) {
    return;
  }
  // A kept connection that its receiver has closed, or on which it spoke unasked, is not used
  // again: this finds out about all of them at once.
  sockets_.poll();
  for (Request& request : requests) {
    if (waiting_.empty() && running_.size() < options_.in_flight_max) {
      run(std::move(request));
    } else {
      waiting_.push_back(std::move(request));
    }
  }
  run_waiting();
  arm();
}

void RunningDispatcher::run_waiting() {
  if (starting_) {  // an attempt that ended at once: the loop below goes on
    return;
  }
  starting_ = true;
  while (!waiting_.empty() && running_.size() < options_.in_flight_max) {
    Request next = std::move(waiting_.front());
    waiting_.pop_front();
    run(std::move(next));
  }
  starting_ = false;
  publish_counts();
}

void RunningDispatcher::run(Request request) {
  auto attempt = std::make_unique<Attempt>(means_, *this, std::move(request));
  Attempt& begun = *attempt;
  begun.slot = running_.size();
  running_.push_back(std::move(attempt));
  begun.begin();
}

void RunningDispatcher::look_up(Attempt& attempt, const std::string& host) {
  attempt.ticket = ++last_ticket_;
  resolving_.emplace(attempt.ticket, &attempt);
  options_.resolver->look_up(
      host, [door = door_, ticket = attempt.ticket](const Result<Addresses>& answers) {
        Door::post(door,
                   [ticket, answers](RunningDispatcher& self) { self.on_answer(ticket, answers); });
      });
}

void RunningDispatcher::on_answer(std::uint64_t ticket, const Result<Addresses>& answers) {
  const auto found = resolving_.find(ticket);
  if (found == resolving_.end()) {
    return;  // its deadline came first
  }
  Attempt& attempt = *found->second;
  resolving_.erase(found);
  attempt.ticket = 0;
  attempt.on_resolved(answers);
}

void RunningDispatcher::on_end(Attempt& attempt, Answer answer) {
  if (attempt.ticket != 0) {
    resolving_.erase(attempt.ticket);
  }
  std::erase(seekers_, &attempt);
  taker_.take(attempt.request(), std::move(answer));

  const std::size_t slot = attempt.slot;
  HK_ASSERT(running_[slot].get() == &attempt);
  const std::unique_ptr<Attempt> ended = std::move(running_[slot]);
  if (slot + 1 != running_.size()) {
    running_[slot] = std::move(running_.back());
    running_[slot]->slot = slot;
  }
  running_.pop_back();
  if (waiting_.empty()) {
    publish_counts();
  } else {
    run_waiting();
  }
}

void RunningDispatcher::publish_counts() {
  in_flight_.store(running_.size() + waiting_.size(), std::memory_order_relaxed);
  idle_.store(pool_.idle(), std::memory_order_relaxed);
  opened_.store(means_.connections_opened, std::memory_order_relaxed);
}

// ---- Time ----

void RunningDispatcher::arm() {
  if (armed_ || (running_.empty() && pool_.idle() == 0 && taker_.unsent() == 0 && !stopping_)) {
    return;
  }
  armed_ = true;
  timer_.expires_after(wheel_.tick());
  timer_.async_wait([door = door_](const boost::system::error_code& error) {
    if (!error && door->dispatcher != nullptr) {
      door->dispatcher->on_tick();
    }
  });
}

void RunningDispatcher::on_tick() {
  armed_ = false;
  const auto now = Clock::now();
  wheel_.advance(now);
  std::erase_if(seekers_, [](Attempt* seeker) { return seeker->try_read_on(); });
  taker_.flush();  // the engine may have had no room
  if (now >= next_sweep_) {
    next_sweep_ = now + std::chrono::seconds(1);
    pool_.sweep(now);
  }
  publish_counts();
  finish_stop_if_due(now);
  arm();
}

// ---- The end ----

void RunningDispatcher::stop(Clock::time_point deadline, std::move_only_function<void()> stopped) {
  Door::post(door_, [deadline, stopped = std::move(stopped)](RunningDispatcher& self) mutable {
    self.begin_stop(deadline, std::move(stopped));
  });
}

void RunningDispatcher::begin_stop(Clock::time_point deadline,
                                   std::move_only_function<void()> stopped) {
  stopping_ = true;
  stop_deadline_ = deadline;
  waiting_.clear();
  stopped_.push_back(std::move(stopped));
  publish_counts();
  arm();
}

void RunningDispatcher::finish_stop_if_due(Clock::time_point now) {
  if (!stopping_ || stopped_.empty() ||
      (now < stop_deadline_ && (!running_.empty() || taker_.unsent() != 0))) {
    return;
  }
  resolving_.clear();
  seekers_.clear();
  running_.clear();
  pool_.clear();
  publish_counts();
  for (auto& stopped : std::exchange(stopped_, {})) {
    if (stopped) {
      stopped();
    }
  }
}

}  // namespace

Result<std::unique_ptr<Dispatcher>> Dispatcher::make(DispatcherOptions options, void* io_context,
                                                     AnswerTaker& taker) {
  auto tls = TlsClient::make({options.system_roots, options.extra_ca_file, options.allow_cbc});
  if (!tls) {
    return std::unexpected(tls.error());
  }
  if (options.resolver == nullptr) {
    options.resolver = make_resolver();
  }
  if (options.answer_room == nullptr) {
    options.answer_room = std::make_shared<engine::TenantRoom>(long_answers_max);
  }
  return std::make_unique<RunningDispatcher>(
      std::move(options), *static_cast<asio::io_context*>(io_context), taker, *std::move(tls));
}

}  // namespace hk::delivery
