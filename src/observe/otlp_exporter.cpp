#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "observe/log.h"
#include "observe/otlp_json.h"
#include "observe/otlp_post.h"
#include "observe/trace.h"

namespace hk::observe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t buffer_spans_max = 8192;
constexpr std::size_t batch_spans_max = 512;
constexpr std::chrono::seconds batch_wait{1};
constexpr std::chrono::seconds post_timeout{5};
constexpr std::chrono::seconds last_words{2};
constexpr std::chrono::minutes complaint_interval{1};

class OtlpExporter final : public SpanExporter {
 public:
  explicit OtlpExporter(const OtlpEndpoint& endpoint)
      : collector_(endpoint.authority), post_(endpoint), thread_([this] { run(); }) {}

  ~OtlpExporter() override {
    post_.hasten(Clock::now() + last_words);
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void record(Span span) override {
    bool batch_is_full = false;
    {
      const std::lock_guard lock(mutex_);  // held for a swap or a push, never across the network
      if (waiting_.size() >= buffer_spans_max) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      waiting_.push_back(std::move(span));
      batch_is_full = waiting_.size() == batch_spans_max;
    }
    if (batch_is_full) {
      wake_.notify_one();
    }
  }

  [[nodiscard]] std::uint64_t dropped() const override {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  void run() {
    std::vector<Span> taken;
    bool last = false;
    while (!last) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, batch_wait,
                       [this] { return stopping_ || waiting_.size() >= batch_spans_max; });
        last = stopping_;
        taken.clear();
        taken.swap(waiting_);
      }
      for (std::size_t at = 0; at < taken.size(); at += batch_spans_max) {
        send(std::span(taken).subspan(at, std::min(batch_spans_max, taken.size() - at)));
      }
    }
  }

  void send(std::span<const Span> batch) {
    const auto sent = post_.send(otlp_json(batch), post_timeout);
    if (sent) {
      return;
    }
    dropped_.fetch_add(batch.size(), std::memory_order_relaxed);
    const auto now = Clock::now();
    if (now >= quiet_until_) {
      quiet_until_ = now + complaint_interval;
      log(Level::warn, "trace.export_failed",
          {{"collector", collector_},
           {"reason", sent.error().message},
           {"dropped_spans", dropped()}});
    }
  }

  const std::string collector_;
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Span> waiting_;  // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_

  OtlpPost post_;                    // the thread's, but for hasten()
  Clock::time_point quiet_until_{};  // the thread's
  std::thread thread_;
};

class NullExporter final : public SpanExporter {
 public:
  void record(Span) override {}
  [[nodiscard]] std::uint64_t dropped() const override { return 0; }
};

}  // namespace

Result<std::unique_ptr<SpanExporter>> make_otlp_exporter(const std::string& endpoint) {
  const auto parsed = parse_otlp_endpoint(endpoint);
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  try {
    return std::make_unique<OtlpExporter>(*parsed);
  } catch (const std::exception& problem) {
    return fail(ErrorKind::unavailable,
                std::string("the trace exporter cannot be started: ") + problem.what());
  }
}

std::unique_ptr<SpanExporter> make_null_exporter() { return std::make_unique<NullExporter>(); }

}  // namespace hk::observe
