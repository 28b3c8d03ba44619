/// What is counted, for /metrics in the Prometheus text format. Callable from any thread; the
/// counting calls are a few atomic operations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hk::observe {

enum class AttemptResult : std::uint8_t { delivered, http_error, timeout, network_error, blocked };

/// What came of a write with an Idempotency-Key.
enum class IdempotentResult : std::uint8_t { executed, replayed, reused, not_kept };
/// What came of a claim of an idempotency key.
enum class ClaimResult : std::uint8_t { started, replayed, held, reused };

/// What came of an operation that makes a transaction of the ledger.
enum class LedgerTransaction : std::uint8_t { created, replayed, refused };

/// What came of a request to an inbound source.
enum class InboundResult : std::uint8_t { accepted, duplicate, invalid, refused, handshake };

/// One row of the reference: kind is counter, gauge or histogram; label is empty for most.
struct MetricRow {
  std::string_view name{};
  std::string_view kind{};
  std::string_view label{};
  std::string_view help{};
};
std::span<const MetricRow> metric_rows();

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void request(int status,
               double seconds);       ///< hikyaku_http_requests_total{class}, …_request_seconds
  void published(bool deduplicated);  ///< hikyaku_messages_published_total{result}
  void publish_refused(
      std::string_view reason);              ///< hikyaku_publish_refused_total{reason}; few reasons
  void idempotent(IdempotentResult result);  ///< hikyaku_idempotent_requests_total{result}
  void claimed(ClaimResult result);          ///< hikyaku_idempotency_claims_total{result}
  void ledger_transactions(LedgerTransaction result,
                           std::uint64_t count);  ///< hikyaku_ledger_transactions_total{result}
  void ledger_batch_items(bool applied,
                          std::uint64_t count);  ///< hikyaku_ledger_batch_items_total{result}
  void inbound(InboundResult result);            ///< hikyaku_inbound_requests_total{result}
  void transacted(bool applied);                 ///< hikyaku_transacts_total{outcome}
  void webhook_event(bool accepted);             ///< hikyaku_webhook_events_total{result}
  void attempt(AttemptResult result,
               double seconds);  ///< hikyaku_delivery_attempts_total{result}, …_seconds
  void delivered(double seconds_since_created);  ///< hikyaku_end_to_end_seconds
  void retried();                                ///< hikyaku_retries_total
  void dead_lettered();                          ///< hikyaku_dead_letters_total
  void commit(double seconds, std::uint64_t batches,
              std::uint64_t bytes);  ///< hikyaku_commit_seconds, …

  /// Read when scraped: depth, in flight, oldest age, connections, the conservation gap. `read`
  /// must stay callable from any thread until the same name is given another one or the Metrics is
  /// gone.
  void gauge(const std::string& name, const std::string& help, std::function<double()> read);
  void counter(const std::string& name, const std::string& help, std::function<double()> read);
  /// The same for a family with one label: a value for each of the label's values.
  using Labelled = std::vector<std::pair<std::string, double>>;
  void gauges(const std::string& name, const std::string& help, const std::string& label,
              std::function<Labelled()> read);
  void counters(const std::string& name, const std::string& help, const std::string& label,
                std::function<Labelled()> read);
  /// One series of a histogram in milliseconds. Call the result with seconds, from any thread.
  std::function<void(double)> histogram_ms(const std::string& name, const std::string& help,
                                           const std::string& label, const std::string& value);

  /// Requests so far, and those of them that were answered 5xx.
  struct Answered {
    std::uint64_t all = 0;
    std::uint64_t failed = 0;
  };
  [[nodiscard]] Answered answered() const;

  /// Every metric in the text format, version 0.0.4.
  [[nodiscard]] std::string render();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hk::observe
