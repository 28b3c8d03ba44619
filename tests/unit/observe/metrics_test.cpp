#include "observe/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace hk::observe {
namespace HK_TEST_FILE {

/// The page as a scraper reads it: the samples by name and labels, the kinds by name.
struct Page {
  std::map<std::string, double> samples;
  std::map<std::string, std::string> kinds;
  std::set<std::string> helped;
};

Page read(const std::string& text) {
  Page page;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# TYPE ")) {
      const auto space = line.find(' ', 7);
      EXPECT_TRUE(page.kinds.emplace(line.substr(7, space - 7), line.substr(space + 1)).second)
          << line << " comes twice";
    } else if (line.starts_with("# HELP ")) {
      page.helped.insert(line.substr(7, line.find(' ', 7) - 7));
    } else {
      const auto space = line.rfind(' ');
      EXPECT_NE(space, std::string::npos) << line;
      EXPECT_TRUE(
          page.samples.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second)
          << line << " comes twice";
    }
  }
  return page;
}

TEST(Metrics, ListEveryRowOfTheTableWithKindAndHelpFromTheStart) {
  Metrics metrics;
  const Page page = read(metrics.render());

  for (const MetricRow& row : metric_rows()) {
    SCOPED_TRACE(row.name);
    const std::string name(row.name);
    ASSERT_TRUE(page.kinds.contains(name));
    EXPECT_EQ(page.kinds.at(name), row.kind);
    EXPECT_TRUE(page.helped.contains(name));
    EXPECT_TRUE(row.help.ends_with('.'));
  }
  EXPECT_EQ(page.kinds.size(), metric_rows().size());
}

TEST(Metrics, CountWhatTheyAreTold) {
  Metrics metrics;
  metrics.request(200, 0.002);
  metrics.request(204, 0.002);
  metrics.request(429, 0.001);
  metrics.request(700, 0.001);
  metrics.published(false);
  metrics.published(false);
  metrics.published(true);
  metrics.publish_refused("disk_full");
  metrics.publish_refused("overloaded");
  metrics.publish_refused("disk_full");
  metrics.attempt(AttemptResult::delivered, 0.01);
  metrics.attempt(AttemptResult::blocked, 0);
  metrics.delivered(3);
  metrics.retried();
  metrics.dead_lettered();
  metrics.commit(0.004, 17, 4096);
  metrics.commit(0.004, 3, 1000);

  const Page page = read(metrics.render());

  const std::pair<std::string, double> rows[] = {
      {R"(hikyaku_http_requests_total{class="2xx"})", 2},
      {R"(hikyaku_http_requests_total{class="4xx"})", 1},
      {R"(hikyaku_http_requests_total{class="5xx"})", 1},
      {R"(hikyaku_http_requests_total{class="3xx"})", 0},
      {R"(hikyaku_messages_published_total{result="accepted"})", 2},
      {R"(hikyaku_messages_published_total{result="deduplicated"})", 1},
      {R"(hikyaku_publish_refused_total{reason="disk_full"})", 2},
      {R"(hikyaku_publish_refused_total{reason="overloaded"})", 1},
      {R"(hikyaku_delivery_attempts_total{result="delivered"})", 1},
      {R"(hikyaku_delivery_attempts_total{result="blocked"})", 1},
      {R"(hikyaku_delivery_attempts_total{result="timeout"})", 0},
      {"hikyaku_retries_total", 1},
      {"hikyaku_dead_letters_total", 1},
      {"hikyaku_commit_batches_total", 20},
      {"hikyaku_commit_bytes_total", 5096},
      {"hikyaku_commit_seconds_count", 2},
      {"hikyaku_commit_seconds_sum", 0.008},
      {R"(hikyaku_commit_seconds_bucket{le="0.0025"})", 0},
      {R"(hikyaku_commit_seconds_bucket{le="0.005"})", 2},
      {R"(hikyaku_commit_seconds_bucket{le="+Inf"})", 2},
      {"hikyaku_http_request_seconds_count", 4},
      {"hikyaku_delivery_attempt_seconds_count", 2},
      {"hikyaku_end_to_end_seconds_sum", 3},
  };
  for (const auto& [name, value] : rows) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(page.samples.contains(name));
    EXPECT_DOUBLE_EQ(page.samples.at(name), value);
  }
}

TEST(Metrics, PutAnObservationOnABoundIntoTheBucketThatNamesIt) {
  Metrics metrics;
  metrics.delivered(0.001);
  metrics.delivered(86401);
  metrics.delivered(-5);
  metrics.delivered(std::numeric_limits<double>::quiet_NaN());

  const Page page = read(metrics.render());

  EXPECT_EQ(page.samples.at(R"(hikyaku_end_to_end_seconds_bucket{le="0.0005"})"), 2);
  EXPECT_EQ(page.samples.at(R"(hikyaku_end_to_end_seconds_bucket{le="0.001"})"), 3);
  EXPECT_EQ(page.samples.at(R"(hikyaku_end_to_end_seconds_bucket{le="86400"})"), 3);
  EXPECT_EQ(page.samples.at(R"(hikyaku_end_to_end_seconds_bucket{le="+Inf"})"), 4);
  EXPECT_DOUBLE_EQ(page.samples.at("hikyaku_end_to_end_seconds_sum"), 86401.001);
}

TEST(Metrics, ReadGaugesAndCountersWhenScraped) {
  Metrics metrics;
  double depth = 1;
  metrics.gauge("hikyaku_depth", "Messages that wait.", [&depth] { return depth; });
  metrics.counter("hikyaku_reads_total", "Reads.", [] { return 7.0; });
  depth = 42;

  Page page = read(metrics.render());
  EXPECT_EQ(page.samples.at("hikyaku_depth"), 42);
  EXPECT_EQ(page.kinds.at("hikyaku_depth"), "gauge");
  EXPECT_EQ(page.samples.at("hikyaku_reads_total"), 7);
  EXPECT_EQ(page.kinds.at("hikyaku_reads_total"), "counter");

  metrics.gauge("hikyaku_depth", "Messages that wait.", [] { return 5.0; });
  page = read(metrics.render());
  EXPECT_EQ(page.samples.at("hikyaku_depth"), 5);
}

TEST(Metrics, ReadFamiliesWithALabel) {
  Metrics metrics;
  metrics.counters("done_total", "What was done.", "how", [] {
    return Metrics::Labelled{{"well", 3}, {"badly", 1}};
  });
  metrics.gauges("waiting", "What waits.", "where", [] { return Metrics::Labelled{{"here", 2}}; });

  const Page page = read(metrics.render());

  EXPECT_EQ(page.samples.at(R"(done_total{how="well"})"), 3);
  EXPECT_EQ(page.samples.at(R"(done_total{how="badly"})"), 1);
  EXPECT_EQ(page.samples.at(R"(waiting{where="here"})"), 2);
}

TEST(Metrics, HistogramsInMillisecondsHaveASeriesForEachValueOfTheirLabel) {
  Metrics metrics;
  const auto claim = metrics.histogram_ms("took_ms", "Time.", "phase", "claim");
  const auto send = metrics.histogram_ms("took_ms", "Time.", "phase", "send");
  claim(0.002);
  claim(0.003);
  send(1);

  const Page page = read(metrics.render());

  EXPECT_EQ(page.samples.at(R"(took_ms_count{phase="claim"})"), 2);
  EXPECT_DOUBLE_EQ(page.samples.at(R"(took_ms_sum{phase="claim"})"), 5);
  EXPECT_EQ(page.samples.at(R"(took_ms_bucket{phase="claim",le="2.5"})"), 1);
  EXPECT_EQ(page.samples.at(R"(took_ms_bucket{phase="claim",le="5"})"), 2);
  EXPECT_DOUBLE_EQ(page.samples.at(R"(took_ms_sum{phase="send"})"), 1000);
}

TEST(Metrics, DescribeTheProcess) {
  Metrics metrics;
  const Page page = read(metrics.render());

  EXPECT_GT(page.samples.at("process_resident_memory_bytes"), 500e3);
  EXPECT_GE(page.samples.at("process_open_fds"), 3);
  EXPECT_GE(page.samples.at("process_max_fds"), page.samples.at("process_open_fds"));
  EXPECT_GT(page.samples.at("process_cpu_seconds_total"), 0);
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(page.samples.at("process_start_time_seconds"), now + 2);
  EXPECT_GT(page.samples.at("process_start_time_seconds"), now - 24 * 3600);
}

TEST(Metrics, ShareOneNameWhenThereAreTooManyReasons) {
  Metrics metrics;
  for (int i = 0; i < 1000; ++i) {
    metrics.publish_refused("reason " + std::to_string(i));
  }

  double total = 0;
  std::size_t names = 0;
  for (const auto& [name, value] : read(metrics.render()).samples) {
    if (name.starts_with("hikyaku_publish_refused_total")) {
      ++names;
      total += value;
    }
  }
  EXPECT_EQ(names, 32U);
  EXPECT_EQ(total, 1000);
}

TEST(Metrics, LoseNoCountWhenManyThreadsCount) {
  Metrics metrics;
  constexpr int threads = 4;
  constexpr int each = 20000;
  {
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([&metrics] {
        for (int i = 0; i < each; ++i) {
          metrics.request(200, 1);
          metrics.publish_refused(i % 2 == 0 ? "even" : "odd");
          if (i % 5000 == 0) {
            EXPECT_FALSE(metrics.render().empty());
          }
        }
      });
    }
  }

  const Page page = read(metrics.render());
  EXPECT_EQ(page.samples.at(R"(hikyaku_http_requests_total{class="2xx"})"), threads * each);
  EXPECT_EQ(page.samples.at("hikyaku_http_request_seconds_count"), threads * each);
  EXPECT_EQ(page.samples.at("hikyaku_http_request_seconds_sum"), threads * each);
  EXPECT_EQ(page.samples.at(R"(hikyaku_publish_refused_total{reason="even"})"), threads * each / 2);
  EXPECT_EQ(page.samples.at(R"(hikyaku_publish_refused_total{reason="odd"})"), threads * each / 2);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::observe
