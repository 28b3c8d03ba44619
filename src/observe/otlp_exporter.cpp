#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "net/client.h"
#include "observe/log.h"
#include "observe/otlp_endpoint.h"
#include "observe/otlp_json.h"
#include "observe/trace.h"

namespace hk::observe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t buffer_spans_max = 8192;
constexpr std::size_t batch_spans_max = 512;
constexpr std::chrono::seconds batch_wait{1};
constexpr std::chrono::seconds post_timeout{5};
constexpr std::size_t answer_bytes_max = std::size_t{64} * 1024;
constexpr std::chrono::seconds last_words{2};
constexpr std::chrono::minutes complaint_interval{1};

class OtlpExporter final : public SpanExporter {
 public:
  explicit OtlpExporter(const net::Url& endpoint)
      : collector_(endpoint.host_header()),
        url_(endpoint.authority_key() + endpoint.target),
        thread_([this] { run(); }) {}

  ~OtlpExporter() override {
    client_.hasten(Clock::now() + last_words);
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

  /// "" when the collector took it, or why not.
  std::string post(std::span<const Span> batch) {
    const auto answer =
        client_.send({.method = "POST",
                      .url = url_,
                      .fields = {{"User-Agent", "hikyaku"}, {"Content-Type", "application/json"}},
                      .body = otlp_json(batch),
                      .timeout = post_timeout,
                      .response_bytes_max = answer_bytes_max});
    if (!answer) {
      return answer.error().message;
    }
    return answer->status / 100 == 2 ? "" : "it answered " + std::to_string(answer->status);
  }

  void send(std::span<const Span> batch) {
    const std::string reason = post(batch);
    if (reason.empty()) {
      return;
    }
    dropped_.fetch_add(batch.size(), std::memory_order_relaxed);
    const auto now = Clock::now();
    if (now >= quiet_until_) {
      quiet_until_ = now + complaint_interval;
      log(Level::warn, "trace.export_failed",
          {{"collector", collector_}, {"reason", reason}, {"dropped_spans", dropped()}});
    }
  }

  const std::string collector_;  ///< for logs
  const std::string url_;
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Span> waiting_;  // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_

  net::Client client_;               // the thread's, but for hasten()
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
