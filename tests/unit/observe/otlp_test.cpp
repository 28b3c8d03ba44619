#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "observe/log.h"
#include "observe/otlp_endpoint.h"
#include "observe/otlp_json.h"
#include "observe/trace.h"

namespace hk::observe {
namespace HK_TEST_FILE {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;
using Tcp = asio::ip::tcp;
using namespace std::chrono_literals;

struct Received {
  std::string target;
  std::string host;
  std::string content_type;
  json::value body;
};

/// A collector on loopback: answers every export with one status, or accepts and never answers.
class Collector {
 public:
  explicit Collector(unsigned status, bool mute = false)
      : status_(status), mute_(mute), thread_([this] { run(); }) {}
  ~Collector() {
    stopping_ = true;
    boost::system::error_code ignored;
    Tcp::socket knock(context_);
    knock.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }

  [[nodiscard]] std::string address() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  std::vector<Received> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, 30s, [&] { return received_.size() >= count; });
    return received_;
  }

 private:
  void run() {
    std::vector<Tcp::socket> held;
    while (true) {
      boost::system::error_code failed;
      Tcp::socket socket = acceptor_.accept(failed);
      if (stopping_ || failed) {
        return;
      }
      if (mute_) {
        held.push_back(std::move(socket));
        const std::lock_guard lock(mutex_);
        received_.emplace_back();
        arrived_.notify_all();
        continue;
      }
      answer(socket);
    }
  }

  void answer(Tcp::socket& socket) {
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> request;
    request.body_limit(64U << 20U);
    boost::system::error_code failed;
    http::read(socket, buffer, request, failed);
    if (failed) {
      return;
    }
    const auto& got = request.get();
    http::response<http::string_body> response{http::int_to_status(status_), 11};
    response.body() = "{}";
    response.prepare_payload();
    http::write(socket, response, failed);
    const std::lock_guard lock(mutex_);
    received_.push_back({std::string(got.target()), std::string(got[http::field::host]),
                         std::string(got[http::field::content_type]), json::parse(got.body())});
    arrived_.notify_all();
  }

  asio::io_context context_;
  Tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  unsigned status_;
  bool mute_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Received> received_;
  std::thread thread_;
};

Span attempt() {
  Span span;
  span.trace_id.fill(0xab);
  span.span_id.fill(0xcd);
  span.parent_span_id.fill(0xef);
  span.name = "deliver";
  span.start_ms = 1'700'000'000'123;
  span.end_ms = 1'700'000'000'456;
  span.attributes = {{"http.response.status_code", "503"}, {"url", "https://a.example/\"\n\xff"}};
  span.error = true;
  span.error_text = "answered 503";
  return span;
}

const json::array& spans_of(const json::value& body) {
  return body.at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array();
}

TEST(OtlpExporter, SendsSpansAsOtlpJsonToTheCollector) {
  Collector collector(200);
  auto exporter = make_otlp_exporter(collector.address()).value();

  exporter->record(attempt());
  Span root;
  root.trace_id.fill(1);
  root.span_id.fill(2);
  root.name = "publish";
  root.kind = SpanKind::server;
  exporter->record(root);
  exporter.reset();  // sends what is left

  const auto received = collector.wait_for(1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].target, "/v1/traces");
  EXPECT_EQ("http://" + received[0].host, collector.address());
  EXPECT_EQ(received[0].content_type, "application/json");
  const json::value& body = received[0].body;
  EXPECT_EQ(body.at_pointer("/resourceSpans/0/resource/attributes/0/key"), "service.name");
  EXPECT_EQ(body.at_pointer("/resourceSpans/0/resource/attributes/0/value/stringValue"), "hikyaku");
  ASSERT_EQ(spans_of(body).size(), 2U);

  const json::object& failed = spans_of(body)[0].as_object();
  EXPECT_EQ(failed.at("traceId"), "abababababababababababababababab");
  EXPECT_EQ(failed.at("spanId"), "cdcdcdcdcdcdcdcd");
  EXPECT_EQ(failed.at("parentSpanId"), "efefefefefefefef");
  EXPECT_EQ(failed.at("name"), "deliver");
  EXPECT_EQ(failed.at("kind"), 3);
  EXPECT_EQ(failed.at("startTimeUnixNano"), "1700000000123000000");
  EXPECT_EQ(failed.at("endTimeUnixNano"), "1700000000456000000");
  EXPECT_EQ(failed.at("status").at("code"), 2);
  EXPECT_EQ(failed.at("status").at("message"), "answered 503");
  const json::array& attributes = failed.at("attributes").as_array();
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(attributes[0].at("key"), "http.response.status_code");
  EXPECT_EQ(attributes[0].at("value").at("stringValue"), "503");
  EXPECT_EQ(attributes[1].at("value").at("stringValue"), "https://a.example/\"\n\xef\xbf\xbd");

  const json::object& fine = spans_of(body)[1].as_object();
  EXPECT_EQ(fine.at("kind"), 2);
  EXPECT_FALSE(fine.contains("parentSpanId"));
  EXPECT_FALSE(fine.contains("status"));
}

TEST(OtlpExporter, SendsAFullBatchWithoutBeingAskedAndMoreInBatches) {
  Collector collector(200);
  auto exporter = make_otlp_exporter(collector.address()).value();

  for (int i = 0; i < 1200; ++i) {
    exporter->record(attempt());
  }

  // Three requests if this thread is fast, more if batches are sent before they are full.
  std::size_t spans = 0;
  for (std::size_t requests = 3; spans < 1200; ++requests) {
    const auto received = collector.wait_for(requests);
    ASSERT_GE(received.size(), requests);
    spans = 0;
    for (const Received& one : received) {
      EXPECT_LE(spans_of(one.body).size(), 512U);
      spans += spans_of(one.body).size();
    }
  }
  EXPECT_EQ(spans, 1200U);
  EXPECT_EQ(exporter->dropped(), 0U);
}

TEST(OtlpExporter, SendsAFewSpansAfterAWhile) {
  Collector collector(200);
  const auto exporter = make_otlp_exporter(collector.address()).value();

  exporter->record(attempt());

  EXPECT_EQ(collector.wait_for(1).size(), 1U);
  EXPECT_EQ(exporter->dropped(), 0U);
}

TEST(OtlpExporter, CountsTheSpansThatTheCollectorRefuses) {
  Collector collector(503);
  auto exporter = make_otlp_exporter(collector.address() + "/custom/path").value();
  set_log_level(Level::off);

  exporter->record(attempt());

  ASSERT_EQ(collector.wait_for(1).size(), 1U);
  EXPECT_EQ(collector.wait_for(1)[0].target, "/custom/path");
  const auto patience = std::chrono::steady_clock::now() + 30s;
  while (exporter->dropped() == 0 && std::chrono::steady_clock::now() < patience) {
    std::this_thread::yield();
  }
  EXPECT_EQ(exporter->dropped(), 1U);
  set_log_level(Level::info);
}

TEST(OtlpExporter, NeitherBlocksNorGrowsWhenTheCollectorNeverAnswers) {
  Collector collector(200, true);
  auto exporter = make_otlp_exporter(collector.address()).value();
  set_log_level(Level::off);

  for (int i = 0; i < 512; ++i) {
    exporter->record(attempt());
  }
  ASSERT_EQ(collector.wait_for(1).size(), 1U);  // the exporter is now stuck with its batch
  for (int i = 0; i < 8192 + 100; ++i) {
    exporter->record(attempt());
  }
  EXPECT_GE(exporter->dropped(), 100U);
  const auto start = std::chrono::steady_clock::now();
  exporter.reset();

  // Two seconds are promised; waiting for seventeen answers of a mute collector takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, 60s);
  set_log_level(Level::info);
}

TEST(OtlpExporter, OutlivesACollectorThatIsNotThereAndComplainsOnce) {
  // Bound and never listening: nobody else can have the port meanwhile.
  asio::io_context context;
  Tcp::acceptor gone(context, Tcp::v4());
  gone.bind({asio::ip::address_v4::loopback(), 0});
  const std::string address = "http://127.0.0.1:" + std::to_string(gone.local_endpoint().port());
  std::string log_path = (std::filesystem::temp_directory_path() / "hikyaku-otlp-XXXXXX").string();
  const int created = ::mkstemp(log_path.data());
  ASSERT_GE(created, 0);
  ::close(created);
  ASSERT_TRUE(set_log_file(log_path));
  auto exporter = make_otlp_exporter(address).value();

  for (const std::uint64_t batches : {1U, 2U, 3U}) {
    for (int i = 0; i < 512; ++i) {
      exporter->record(attempt());
    }
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (exporter->dropped() < batches * 512 && std::chrono::steady_clock::now() < patience) {
      std::this_thread::yield();
    }
    EXPECT_EQ(exporter->dropped(), batches * 512);
  }
  exporter.reset();

  set_log_file("");
  std::ifstream file(log_path);
  std::string line;
  std::size_t lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    EXPECT_EQ(json::parse(line).at("event"), "trace.export_failed");
  }
  EXPECT_EQ(lines, 1U);
  std::filesystem::remove(log_path);
}

TEST(OtlpEndpoint, IsReadFromItsAddress) {
  struct Row {
    std::string text;
    net::Scheme scheme;
    std::string host;
    std::uint16_t port;
    std::string path;
  };
  const Row rows[] = {
      {"http://localhost:4318", net::Scheme::http, "localhost", 4318, "/v1/traces"},
      {"http://localhost:4318/", net::Scheme::http, "localhost", 4318, "/v1/traces"},
      {"http://localhost:4318/otlp/v1/traces", net::Scheme::http, "localhost", 4318,
       "/otlp/v1/traces"},
      {"http://127.0.0.1", net::Scheme::http, "127.0.0.1", 80, "/v1/traces"},
      {"http://[::1]:4318", net::Scheme::http, "::1", 4318, "/v1/traces"},
      {"https://collector.example", net::Scheme::https, "collector.example", 443, "/v1/traces"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto endpoint = parse_otlp_endpoint(row.text);
    ASSERT_TRUE(endpoint);
    EXPECT_EQ(endpoint->scheme, row.scheme);
    EXPECT_EQ(endpoint->host, row.host);
    EXPECT_EQ(endpoint->port, row.port);
    EXPECT_EQ(endpoint->target, row.path);
  }
}

TEST(OtlpEndpoint, IsRefusedWithItsTextWhenItIsNotAnAddress) {
  for (const std::string text :
       {"", "localhost:4318", "ftp://localhost", "http://", "http://:4318",
        "http://host:", "http://host:0", "http://host:65536", "http://host:43x", "http://user@host",
        "http://host/?q", "http://host/#f", "http://ho st", "http://[::1", "http://host\r\nX: y",
        "http://::1:4318"}) {
    SCOPED_TRACE(text);
    const auto made = make_otlp_exporter(text);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(made.error().message.find("http://127.0.0.1:4318"), std::string::npos);
  }
}

TEST(NullExporter, TakesEverythingAndDropsNothing) {
  const auto exporter = make_null_exporter();
  exporter->record(attempt());
  EXPECT_EQ(exporter->dropped(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::observe
