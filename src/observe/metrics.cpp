#include "observe/metrics.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "observe/histogram.h"
#include "observe/metric_table.h"
#include "observe/process_metrics.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace hk::observe {
namespace {

using Count = std::atomic<std::uint64_t>;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void add(Count& count, std::uint64_t by = 1) { count.fetch_add(by, std::memory_order_relaxed); }

ClientMetric counter_value(double value) {
  ClientMetric metric;
  metric.counter.value = value;
  return metric;
}
ClientMetric counter_value(const Count& count) {
  return counter_value(static_cast<double>(count.load(std::memory_order_relaxed)));
}
ClientMetric gauge_value(double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return metric;
}

MetricType type_of(std::string_view kind) {
  if (kind == "counter") {
    return MetricType::Counter;
  }
  return kind == "gauge" ? MetricType::Gauge : MetricType::Histogram;
}

/// Counts under names that come while running. A known name is found without a lock; beyond the
/// room for names they share the last one, so that an input can never make the page grow.
class NamedCounts {
 public:
  void add_one(std::string_view name) {
    const std::size_t known = used_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < known; ++i) {
      if (entries_[i].name == name) {
        add(entries_[i].count);
        return;
      }
    }
    add_new(name);
  }

  template <class Visit>
  void each(Visit visit) const {
    const std::size_t known = used_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < known; ++i) {
      visit(entries_[i].name, entries_[i].count);
    }
  }

 private:
  struct Entry {
    std::string name;  // written before used_ covers it, and never again
    Count count{0};
  };

  void add_new(std::string_view name) {
    const std::lock_guard lock(adding_);
    std::size_t known = used_.load(std::memory_order_relaxed);
    const std::string_view wanted = known + 1 < entries_.size() ? name : "other";
    for (std::size_t i = 0; i < known; ++i) {
      if (entries_[i].name == wanted) {
        add(entries_[i].count);
        return;
      }
    }
    entries_[known].name = wanted;
    add(entries_[known].count);
    used_.store(known + 1, std::memory_order_release);
  }

  std::mutex adding_;
  std::array<Entry, 32> entries_{};
  std::atomic<std::size_t> used_{0};
};

struct Added {
  std::string help{};
  MetricType type{};
  std::function<std::vector<ClientMetric>()> read{};
};

ClientMetric value_of(MetricType type, double value) {
  return type == MetricType::Counter ? counter_value(value) : gauge_value(value);
}

Added one_value(MetricType type, const std::string& help, std::function<double()> read) {
  return {help, type, [type, read = std::move(read)] {
            return std::vector<ClientMetric>{value_of(type, read())};
          }};
}

Added by_label(MetricType type, const std::string& help, const std::string& label,
               std::function<Metrics::Labelled()> read) {
  return {help, type, [type, label, read = std::move(read)] {
            std::vector<ClientMetric> out;
            for (const auto& [value, count] : read()) {
              out.push_back(value_of(type, count));
              out.back().label = {{label, value}};
            }
            return out;
          }};
}

constexpr std::array<std::string_view, 5> status_classes = {"1xx", "2xx", "3xx", "4xx", "5xx"};
constexpr std::array<std::string_view, 2> publish_results = {"accepted", "deduplicated"};
constexpr std::array<std::string_view, 5> inbound_results = {"accepted", "duplicate", "invalid",
                                                             "refused", "handshake"};
constexpr std::array<std::string_view, 2> transact_outcomes = {"applied", "refused"};
constexpr std::array<std::string_view, 2> webhook_results = {"accepted", "refused"};
constexpr std::array<std::string_view, 5> attempt_results = {"delivered", "http_error", "timeout",
                                                             "network_error", "blocked"};
constexpr std::array<std::string_view, 4> idempotent_results = {"executed", "replayed", "reused",
                                                                "not_kept"};
constexpr std::array<std::string_view, 3> ledger_results = {"created", "replayed", "refused"};
constexpr std::array<std::string_view, 2> batch_item_results = {"applied", "refused"};
constexpr std::array<std::string_view, 4> claim_results = {"started", "replayed", "held", "reused"};

}  // namespace

struct Metrics::Impl {
  std::array<Count, status_classes.size()> requests{};
  std::array<Count, publish_results.size()> published{};
  std::array<Count, transact_outcomes.size()> transacts{};
  std::array<Count, webhook_results.size()> webhook_events{};
  std::array<Count, inbound_results.size()> inbound{};
  std::array<Count, attempt_results.size()> attempts{};
  std::array<Count, idempotent_results.size()> idempotent{};
  std::array<Count, claim_results.size()> claims{};
  std::array<Count, ledger_results.size()> ledger{};
  std::array<Count, batch_item_results.size()> ledger_items{};
  NamedCounts refused;
  Count retries{0};
  Count dead_letters{0};
  Count commit_batches{0};
  Count commit_bytes{0};
  Histogram request_seconds;
  Histogram attempt_seconds;
  Histogram end_to_end_seconds;
  Histogram commit_seconds;

  std::mutex adding;
  std::map<std::string, Added> added;  // guarded by adding

  void add_family(const std::string& name, Added family) {
    const std::lock_guard lock(adding);
    added.insert_or_assign(name, std::move(family));
  }
  [[nodiscard]] std::vector<ClientMetric> collect(Metric metric) const;
};

namespace {

template <std::size_t Size>
std::vector<ClientMetric> labelled(std::string_view label,
                                   const std::array<std::string_view, Size>& values,
                                   const std::array<Count, Size>& counts) {
  std::vector<ClientMetric> out;
  for (std::size_t i = 0; i < Size; ++i) {
    out.push_back(counter_value(counts[i]));
    out.back().label = {{std::string(label), std::string(values[i])}};
  }
  return out;
}

}  // namespace

std::vector<ClientMetric> Metrics::Impl::collect(Metric metric) const {
  switch (metric) {
    case Metric::requests: return labelled(row_of(metric).label, status_classes, requests);
    case Metric::request_seconds: return {request_seconds.collect()};
    case Metric::published: return labelled(row_of(metric).label, publish_results, published);
    case Metric::publish_refused: {
      std::vector<ClientMetric> out;
      refused.each([&out](const std::string& name, const Count& count) {
        out.push_back(counter_value(count));
        out.back().label = {{std::string(row_of(Metric::publish_refused).label), name}};
      });
      return out;
    }
    case Metric::idempotent: return labelled(row_of(metric).label, idempotent_results, idempotent);
    case Metric::claims: return labelled(row_of(metric).label, claim_results, claims);
    case Metric::ledger_transactions: return labelled(row_of(metric).label, ledger_results, ledger);
    case Metric::ledger_batch_items:
      return labelled(row_of(metric).label, batch_item_results, ledger_items);
    case Metric::inbound: return labelled(row_of(metric).label, inbound_results, inbound);
    case Metric::transacts: return labelled(row_of(metric).label, transact_outcomes, transacts);
    case Metric::webhook_events:
      return labelled(row_of(metric).label, webhook_results, webhook_events);
    case Metric::attempts: return labelled(row_of(metric).label, attempt_results, attempts);
    case Metric::attempt_seconds: return {attempt_seconds.collect()};
    case Metric::end_to_end_seconds: return {end_to_end_seconds.collect()};
    case Metric::retries: return {counter_value(retries)};
    case Metric::dead_letters: return {counter_value(dead_letters)};
    case Metric::commit_seconds: return {commit_seconds.collect()};
    case Metric::commit_batches: return {counter_value(commit_batches)};
    case Metric::commit_bytes: return {counter_value(commit_bytes)};
    case Metric::resident_memory: return {gauge_value(resident_memory_bytes())};
    case Metric::open_fds: return {gauge_value(open_descriptors())};
    case Metric::max_fds: return {gauge_value(descriptors_max())};
    case Metric::start_time: return {gauge_value(start_time_seconds())};
    case Metric::cpu_seconds: return {counter_value(cpu_seconds())};
  }
  return {};
}

std::span<const MetricRow> metric_rows() { return metric_table; }

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::request(int status, double seconds) {
  const int hundreds = status / 100;
  add(impl_->requests[hundreds >= 1 && hundreds <= 5 ? static_cast<std::size_t>(hundreds - 1) : 4]);
  impl_->request_seconds.observe(seconds);
}

Metrics::Answered Metrics::answered() const {
  Answered answered;
  answered.failed = impl_->requests.back().load(std::memory_order_relaxed);
  for (const Count& count : impl_->requests) {
    answered.all += count.load(std::memory_order_relaxed);
  }
  return answered;
}

void Metrics::published(bool deduplicated) { add(impl_->published[deduplicated ? 1 : 0]); }

void Metrics::publish_refused(std::string_view reason) { impl_->refused.add_one(reason); }

void Metrics::idempotent(IdempotentResult result) {
  add(impl_->idempotent[static_cast<std::size_t>(result)]);
}

void Metrics::claimed(ClaimResult result) { add(impl_->claims[static_cast<std::size_t>(result)]); }

void Metrics::ledger_transactions(LedgerTransaction result, std::uint64_t count) {
  add(impl_->ledger[static_cast<std::size_t>(result)], count);
}

void Metrics::ledger_batch_items(bool applied, std::uint64_t count) {
  add(impl_->ledger_items[applied ? 0 : 1], count);
}

void Metrics::inbound(InboundResult result) {
  add(impl_->inbound[static_cast<std::size_t>(result)]);
}
void Metrics::transacted(bool applied) { add(impl_->transacts[applied ? 0 : 1]); }

void Metrics::webhook_event(bool accepted) { add(impl_->webhook_events[accepted ? 0 : 1]); }

void Metrics::attempt(AttemptResult result, double seconds) {
  add(impl_->attempts[static_cast<std::size_t>(result)]);
  impl_->attempt_seconds.observe(seconds);
}

void Metrics::delivered(double seconds_since_created) {
  impl_->end_to_end_seconds.observe(seconds_since_created);
}

void Metrics::retried() { add(impl_->retries); }

void Metrics::dead_lettered() { add(impl_->dead_letters); }

void Metrics::commit(double seconds, std::uint64_t batches, std::uint64_t bytes) {
  impl_->commit_seconds.observe(seconds);
  add(impl_->commit_batches, batches);
  add(impl_->commit_bytes, bytes);
}

void Metrics::gauge(const std::string& name, const std::string& help,
                    std::function<double()> read) {
  impl_->add_family(name, one_value(MetricType::Gauge, help, std::move(read)));
}

void Metrics::counter(const std::string& name, const std::string& help,
                      std::function<double()> read) {
  impl_->add_family(name, one_value(MetricType::Counter, help, std::move(read)));
}

void Metrics::gauges(const std::string& name, const std::string& help, const std::string& label,
                     std::function<Labelled()> read) {
  impl_->add_family(name, by_label(MetricType::Gauge, help, label, std::move(read)));
}

void Metrics::counters(const std::string& name, const std::string& help, const std::string& label,
                       std::function<Labelled()> read) {
  impl_->add_family(name, by_label(MetricType::Counter, help, label, std::move(read)));
}

std::function<void(double)> Metrics::histogram_ms(const std::string& name, const std::string& help,
                                                  const std::string& label,
                                                  const std::string& value) {
  auto histogram = std::make_shared<Histogram>();
  const std::lock_guard lock(impl_->adding);
  Added& family = impl_->added[name];
  // The series of a family are added one by one: each reads those before it and then itself.
  family = {help, MetricType::Histogram,
            [before = std::move(family.read), histogram, label, value] {
              auto all = before ? before() : std::vector<ClientMetric>{};
              all.push_back(histogram->collect(1000));
              all.back().label = {{label, value}};
              return all;
            }};
  return [histogram](double seconds) { histogram->observe(seconds); };
}

std::string Metrics::render() {
  std::vector<MetricFamily> families;
  for (std::size_t i = 0; i < metric_table.size(); ++i) {
    const MetricRow& row = metric_table[i];
    families.push_back({std::string(row.name), std::string(row.help), type_of(row.kind),
                        impl_->collect(static_cast<Metric>(i))});
  }
  {
    const std::lock_guard lock(impl_->adding);
    for (const auto& [name, one] : impl_->added) {
      families.push_back({name, one.help, one.type, one.read()});
    }
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace hk::observe
