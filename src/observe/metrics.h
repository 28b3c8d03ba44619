/// What is counted, for /metrics in the Prometheus text format. Callable from any thread; the counting
/// calls are a few atomic operations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hk::observe {

enum class AttemptResult : std::uint8_t { delivered, http_error, timeout, network_error, blocked };

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void request(int status, double seconds);      ///< hikyaku_http_requests_total{class}, …_request_seconds
  void published(bool deduplicated);             ///< hikyaku_messages_published_total{result}
  void publish_refused(std::string_view reason); ///< hikyaku_publish_refused_total{reason}; few reasons
  void attempt(AttemptResult result, double seconds);  ///< hikyaku_delivery_attempts_total{result}, …_seconds
  void delivered(double seconds_since_created);  ///< hikyaku_end_to_end_seconds
  void retried();                                ///< hikyaku_retries_total
  void dead_lettered();                          ///< hikyaku_dead_letters_total
  void commit(double seconds, std::uint64_t batches, std::uint64_t bytes);  ///< hikyaku_commit_seconds, …

  /// Read when scraped: depth, in flight, oldest age, connections, the conservation gap.
  void gauge(const std::string& name, const std::string& help, std::function<double()> read);
  void counter(const std::string& name, const std::string& help, std::function<double()> read);

  [[nodiscard]] std::string render();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hk::observe
